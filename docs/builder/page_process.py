"""The process of one page: reads blocks as JSON from standard input, prints one line of JSON for each that ran."""

from __future__ import annotations

import contextlib
import io
import json
import os
import re
import subprocess
import sys
import types
from pathlib import Path

PICTURES = (".png", ".svg")
_COMMAND = re.compile(r"^\$ ((?:.*\\\n)*.*)", re.MULTILINE)
_WIDTH = "88"  # columns of the tables that commands print; wider lines do not fit beside the menu


def main() -> None:
    """Run the blocks; the first that fails ends the process with its traceback."""
    blocks = json.load(sys.stdin)
    os.environ["COLUMNS"] = _WIDTH
    results, sys.stdout = sys.stdout, sys.stderr
    page = _page_module([block["text"] if block["language"] == "python" else "" for block in blocks])
    first = 1
    for block in blocks:
        before = _pictures(block["text"])
        printed = _run(block["language"], block["text"], page, first)
        if block["language"] == "python":
            first += block["text"].count("\n") + 1
        after = _pictures(block["text"])
        written = [name for name in sorted(after, key=after.__getitem__) if after[name] != before.get(name)]
        print(json.dumps({"printed": printed, "pictures": written}), file=results, flush=True)


def _page_module(texts: list[str]) -> types.ModuleType:
    """Return the main module, with the page's code as its file: compilers and tracebacks read their source there."""
    file = Path("page.py").resolve()
    file.write_text("\n".join(text for text in texts if text), encoding="utf-8")
    module = types.ModuleType("__main__")
    module.__file__ = str(file)
    sys.modules["__main__"] = module
    sys.path[0] = str(file.parent)  # modules that the page writes can be imported
    return module


def _run(language: str, text: str, page: types.ModuleType, first: int) -> list[str]:
    if language == "python":
        printed = io.StringIO()
        with contextlib.redirect_stdout(printed):
            exec(compile("\n" * (first - 1) + text, page.__file__ or "page.py", "exec"), page.__dict__)
        return [printed.getvalue()]
    if language == "py":
        Path("script.py").write_text(text, encoding="utf-8")
        return [_process([sys.executable, "-W", "error", "script.py"])]
    return [_process(_with_this_python(command)) for command in commands(text)]


def commands(text: str) -> list[str]:
    """Return the commands of a block, each without its prompt."""
    found = _COMMAND.findall(text)
    if not found or not all(command.startswith("driftwise ") for command in found):
        raise SystemExit("Every command of a `console` block must start with `$ driftwise `; others go into `text`.")
    return found


def _with_this_python(command: str) -> str:
    return f"'{sys.executable}' -m {command}"


def _process(command: list[str] | str) -> str:
    done = subprocess.run(command, shell=isinstance(command, str), capture_output=True, text=True, check=False)
    if done.returncode:
        raise SystemExit(f"{command}\n{done.stdout}{done.stderr}")
    return done.stdout


def _pictures(text: str) -> dict[str, int]:
    """Return the time of change of every picture in the page's folder, or below it if the block names the file."""
    found = (path for path in Path().rglob("*") if path.suffix in PICTURES)
    shown = (path for path in found if len(path.parts) == 1 or path.name in text)
    return {str(path): path.stat().st_mtime_ns for path in shown}


if __name__ == "__main__":
    main()
