"""Write into hostile folders, and combine tables with hostile names: `make fuzz`.

    python tests/helpers/fuzz_outputs.py --cases 2000

A case of the first kind fills a folder with links, files, folders and pipes under the names that `driftwise combine` or
`driftwise examples --copy` uses, and runs the command: it must write exactly the files of a run in an empty folder, or
print one line, exit with 1 or 2, and change no file of an earlier run. A case of the second kind has names of experts
and series that look like paths, markup or control sequences: they must not appear as such in a terminal or on the page.
In both, whatever else is in the folder stays, and so does everything outside of it.
"""

from __future__ import annotations

import argparse
import html.parser
import json
import os
import shutil
import stat
import sys
import tempfile
import time
from collections import Counter
from pathlib import Path

import numpy as np
import pyarrow as pa
from pyarrow import csv, parquet

from combine_examples import FIXED_SHARE, example, write
from command_line import run_here

FINALS = ("forecasts.csv", "forecasts.parquet", "summary.json", "report.html")
EXAMPLES = ("sweep.toml", "cluster.py", "switching.toml")
OTHERS = (".driftwise-partial", "lock", "notes.txt", "forecasts.csv.tmp", ".driftwise-0123456789abcdeg")
TEMPORARY = (".driftwise-0123456789abcdef", ".driftwise-fedcba9876543210.csv")  # as those of a killed process
COMMANDS = {
    "csv": ("combine", "{table}", "--target", "y", "--out", "{out}", *FIXED_SHARE),
    "parquet": ("combine", "{table}", "--target", "y", "--out", "{out}", "--format", "parquet", *FIXED_SHARE),
    "no page": ("combine", "{table}", "--target", "y", "--out", "{out}", "--no-page", *FIXED_SHARE),
    "examples": ("examples", "--copy", "{out}", *EXAMPLES),
}
TEXTS = [
    "../x", "../../outside/file", "/etc/passwd", "CON", "nul.txt", "a" * 900, "line\nbreak", "\r", "\r\n", "nul\0l",
    "\x1b[31mred\x1b[0m", "\x1b]0;title\x07", "\x9b31m", "\u202egpj.exe", "<script>alert(1)</script>", "</title>",
    '"><img src=x onerror=alert(1)>', "&lt;", "</script><b>", "-->", "気" * 60, "e\u0301" * 40, "👩\u200d👧" * 9,
    "'\"`$(id)", "=cmd|' /C calc'!A0", "\t\t", " ", "best expert", "mixture", "last truth repeated", "$x$", "{}", "%s",
    "\u2028",
    "\ufeff", "a,b", '"', '""', "\\", "None", "nan", "1", "last-truth", "\u200b", "\x7f", "\x85", "a;b", "#", "'", "\v",
]  # fmt: skip


def snapshot(folder):
    """Return what is in a folder: kinds, modes, and the content of files and links; links are not followed."""
    content = {}
    for place, folders, files in os.walk(folder):
        for name in [*folders, *files]:
            path = Path(place, name)
            about = path.lstat()
            held = b""
            if stat.S_ISREG(about.st_mode):
                held = path.read_bytes()
            elif stat.S_ISLNK(about.st_mode):
                held = os.fsencode(path.readlink())
            content[str(path.relative_to(folder))] = (about.st_mode, held)
    return content


def outside_of(folder):
    """Make the files that nobody may change."""
    outside = folder / "outside"
    (outside / "inner").mkdir(parents=True)
    for name in ("file", "inner/file", *FINALS, *EXAMPLES, TEMPORARY[0]):
        (outside / name).write_text(f"precious {name}")
    (outside / "file").chmod(0o640)
    return outside


def plant(rng, path, earlier, may_be_pipe):
    """Put something hostile at a path; `earlier` is the content of a file of an earlier run."""
    kinds = ["old", "mutated", "garbage", "empty", "folder", "full folder", "hard link", "link", "link", "link", "link"]
    kind = str(rng.choice([*kinds, "pipe"] if may_be_pipe else kinds))
    if kind == "link":
        targets = ["outside/file", "outside", "outside/inner", "outside/new", "outside/deep/new", "outside/report.html"]
        targets += [f"outside/{path.name}", str(path), "out", "/dev/null/x"]
        target = str(rng.choice(targets))
        path.symlink_to(target if target.startswith("/") else Path("..") / target)
    elif kind == "hard link":
        os.link(path.parent.parent / "outside" / "inner" / "file", path)
    elif kind == "pipe":
        os.mkfifo(path)
    elif "folder" in kind:
        path.mkdir()
        if kind == "full folder":
            (path / "file").write_text("kept")
    else:
        content = bytearray({"old": earlier, "mutated": earlier, "garbage": rng.bytes(200), "empty": b""}[kind])
        if kind == "mutated" and content:
            for place in rng.integers(len(content), size=int(rng.choice([1, 5, 50]))):
                content[place] = int(rng.integers(256))
        path.write_bytes(bytes(content))
    return kind


def hostile_folder(rng, folder, earlier):
    """Make the folder `out`, or something in its place; return it."""
    out = folder / "out"
    kind = rng.choice(["folder", "link", "file", "dangling", "loop", "missing"], p=[0.8, 0.08, 0.03, 0.03, 0.03, 0.03])
    if kind == "file":
        out.write_text("a file")
    elif kind in ("dangling", "loop"):
        out.symlink_to("out" if kind == "loop" else "outside/none/deep")
    if kind not in ("folder", "link"):
        return out
    real = folder / ("real" if kind == "link" else "out")
    real.mkdir()
    if kind == "link":
        out.symlink_to("real")
    names = [name for name in (*FINALS, *EXAMPLES, *OTHERS, *TEMPORARY) if rng.random() < 0.25]
    for name in names:
        plant(rng, real / name, earlier.get(name, b"earlier"), may_be_pipe=name not in FINALS)
    return out


def check_folder(rng, folder, table, clean):
    """Run a command in a hostile folder; return "written" or "refused", raise if it is neither."""
    what = str(rng.choice([*COMMANDS]))
    outside, out = outside_of(folder), hostile_folder(rng, folder, clean["csv"])
    before, around = snapshot(out), snapshot(folder)
    code, printed, err = run_here(*(word.format(table=table, out=out) for word in COMMANDS[what]))
    now = snapshot(out)
    left = {name: held for name, held in snapshot(folder).items() if name.split("/")[0] not in ("out", "real")}
    assert left == {name: held for name, held in around.items() if name.split("/")[0] not in ("out", "real")}
    assert (outside / "file").read_text() == "precious file"
    expected, removable = clean[what], {*TEMPORARY}
    for name in before.keys() - expected.keys():  # a page of an earlier run may be deleted without a page
        is_temporary = name in removable and stat.S_ISREG(before[name][0])
        is_page = (
            what == "no page" and name == "report.html" and b"<title>Mixture of forecasts</title>" in before[name][1]
        )
        assert now.get(name) == before[name] or (name not in now and (is_temporary or is_page)), name
    assert now.keys() <= before.keys() | expected.keys(), now.keys() - before.keys()
    if code == 0:
        assert {name: now[name][1] for name in expected} == expected
        assert all(stat.S_ISREG(now[name][0]) or what == "examples" for name in expected)
        return f"{what} written"
    assert code in (1, 2), code
    assert printed == ""
    assert err.startswith(("driftwise: Cannot write ", "driftwise: examples: ")), err
    assert err.count("\n") == 1
    assert err[:-1].isprintable()
    assert {name: now.get(name) for name in expected} == {name: before.get(name) for name in expected}
    return f"{what} refused"


class Page(html.parser.HTMLParser):
    """The tags of a page, and the attributes that could run code."""

    def __init__(self, text):
        super().__init__()
        self.tags, self.handlers = Counter(), []
        self.feed(text)

    def handle_starttag(self, tag, attributes):
        self.tags[tag] += 1
        self.handlers += [name for name, value in attributes if name.startswith("on") or name == "src"]
        self.handlers += [value for _, value in attributes if value and value.strip().lower().startswith("javascript")]


def hostile_text(rng):
    texts = [TEXTS[k] for k in rng.integers(len(TEXTS), size=int(rng.choice([1, 1, 1, 2])))]
    return "".join(texts)[:900]


def combined(folder, experts, series, rng, table_format, output):
    """Combine a table with these names; return the exit code and what the command wrote."""
    n_rows = 12
    columns = {"y": rng.normal(size=n_rows), "by": [series[k % 2] for k in range(n_rows)]}
    columns |= {name: rng.normal(size=n_rows) for name in experts}
    file = folder / f"in.{table_format}"
    (parquet.write_table if table_format == "parquet" else csv.write_csv)(pa.table(columns), file)
    words = ["combine", str(file), "--target", "y", "--by", "by", "--learner", "fixed-share", "--format", output]
    return run_here(*words, "--out", folder / "out")


def check_names(rng, folder, plain_page):
    """Combine a table with hostile names; return "combined" or "refused", raise if it is neither."""
    outside = outside_of(folder)
    before = snapshot(outside)
    experts = [*dict.fromkeys(hostile_text(rng) for _ in range(3))]
    series = [hostile_text(rng) for _ in range(2)]
    table_format, output = (str(rng.choice(["csv", "parquet"])) for _ in range(2))
    code, printed, err = combined(folder, experts, series, rng, table_format, output)
    assert snapshot(outside) == before
    assert all(line.isprintable() for line in (printed + err).split("\n")), (printed, err)
    if code != 0:
        assert (code, printed) == (2, ""), (code, err)
        assert err.startswith("driftwise: ")
        assert not (folder / "out").exists()
        return "names refused"
    out, written = folder / "out", folder / "out" / f"forecasts.{output}"
    assert sorted(path.name for path in out.iterdir()) == [written.name, "report.html", "summary.json"]
    assert sorted(path.name for path in folder.iterdir()) == [f"in.{table_format}", "out", "outside"]
    names = json.loads((out / "summary.json").read_text())["report"]["names"]
    text = (out / "report.html").read_text()
    page = Page(text)
    assert page.tags.keys() <= plain_page.tags.keys(), page.tags.keys() - plain_page.tags.keys()
    assert all(page.tags[tag] == plain_page.tags[tag] for tag in ("script", "style", "h1"))
    assert page.handlers == plain_page.handlers
    assert not any(character in text for character in "\x1b\x07\x9b\0")
    if table_format == "parquet":  # its names and texts are exact; those of CSV are trimmed, or read as numbers
        assert names == experts
    if (table_format, output) == ("parquet", "parquet"):
        table = parquet.read_table(written)
        assert table.schema.names[3:] == [f"weight_{name}" for name in experts]
        assert [*dict.fromkeys(table.column(0).to_pylist())] == [*dict.fromkeys(series)]
    return "names combined"


def clean_runs(folder, table):
    """Return what each command writes into an empty folder."""
    clean = {}
    for what, words in COMMANDS.items():
        out = folder / "clean"
        code, _, err = run_here(*(word.format(table=table, out=out) for word in words))
        assert code == 0, err
        clean[what] = {path.name: path.read_bytes() for path in out.iterdir()}
        shutil.rmtree(out)
    return clean


def fuzz(n_cases, seed):
    """Run hostile cases; return how many were written, combined and refused."""
    counts: Counter[str] = Counter()
    with tempfile.TemporaryDirectory() as name:
        home = Path(name)
        table = write(example(60), home / "in.csv")
        clean = clean_runs(home, table)
        code, _, err = combined(home, ["a", "b", "c"], ["s", "t"], np.random.default_rng(1), "parquet", "csv")
        assert code == 0, err
        plain = Page((home / "out" / "report.html").read_text())
        for case in range(n_cases):
            rng = np.random.default_rng([seed, case])
            folder = home / "case"
            folder.mkdir()
            try:
                if rng.random() < 0.6:
                    counts[check_folder(rng, folder, table, clean)] += 1
                else:
                    counts[check_names(rng, folder, plain)] += 1
            except BaseException:
                print(f"case {case} of seed {seed}", file=sys.stderr)
                raise
            shutil.rmtree(folder)
    return counts


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--cases", type=int, default=2000)
    parser.add_argument("--seed", type=int, default=1)
    settings = parser.parse_args()
    began = time.monotonic()
    counts = fuzz(settings.cases, settings.seed)
    print(f"{settings.cases} cases in {time.monotonic() - began:.0f} s: {dict(sorted(counts.items()))}")


if __name__ == "__main__":
    main()
