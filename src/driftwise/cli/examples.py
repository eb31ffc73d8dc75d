"""`driftwise examples`: the files of examples that are installed with the package."""

from __future__ import annotations

import contextlib
import os
from collections.abc import Iterable
from pathlib import Path

import click

from driftwise.cli.specs import PATH
from driftwise.core.errors import BadFile, InvalidInput, UnknownName
from driftwise.core.files import check_writable, shown_path, write_bytes_atomically

COPY_EXAMPLES = "`driftwise examples --copy examples` copies the examples."


@click.command("examples")
@click.argument("names", nargs=-1, metavar="[NAME]...")
@click.option("--copy", "folder", type=PATH, metavar="FOLDER", help="Copy the files there.")
def command(names: tuple[str, ...], folder: Path | None) -> None:
    """List the examples, or copy them into a folder, which is made if it does not exist.

    Without a NAME, all of them. A file that exists with another content is not overwritten: nothing is copied then.

    \b
    driftwise examples
    driftwise examples --copy examples
    driftwise examples --copy . switching.toml
    """
    import shutil

    from driftwise.report.tables import text_table

    chosen = _chosen(names)
    if folder is not None:
        _copy(chosen, folder)
        return
    counted = f"{len(chosen)} example{'s' if len(chosen) != 1 else ''}"
    columns = ["name", "summary"]
    rows = [[path.name, _summary(path)] for path in chosen]
    click.echo(text_table(columns, rows, left=len(columns), width=shutil.get_terminal_size().columns))
    click.echo(f"\n{counted}. `driftwise examples --copy FOLDER` copies them.")


def names_missing_example(message: str) -> bool:
    """Return whether a message names a file below `examples` that is installed with the package, but not there."""
    return any(
        f"examples{mark}{name}" in message and not Path("examples", name).exists()
        for name in _examples()
        for mark in "/\\"
    )


def _chosen(names: tuple[str, ...]) -> list[Path]:
    examples = _examples()
    if not examples:
        raise BadFile("The examples are not installed: install driftwise again.")
    for name in names:
        if name not in examples:
            raise UnknownName("example", name, examples)
    return [examples[name] for name in dict.fromkeys(names or examples)]


def _examples() -> dict[str, Path]:
    """Return the examples by name: in the package, or in the repository if the package is used from there."""
    package = Path(__file__).parents[1]
    for home in (package / "examples", package.parents[1] / "examples"):
        if home.is_dir():
            return {path.name: path for path in sorted(home.iterdir()) if path.is_file()}
    return {}


def _summary(path: Path) -> str:
    """Return the first sentence of a file: of its docstring, or of the comment in its first line."""
    text = path.read_text(encoding="utf-8")
    if path.suffix == ".csv":
        header, *rows = text.splitlines()
        return f"A table of {len(rows)} rows, with the columns {header.replace(',', ', ')}."
    return text.partition("\n")[0].strip('"# ')


def _copy(paths: list[Path], folder: Path) -> None:
    """Copy the files that the folder does not have; nothing is copied if one of them cannot be."""
    present = [path for path in paths if _is_there(folder / path.name, path.read_bytes())]
    missing = [path for path in paths if path not in present]
    for path in missing:
        check_writable(folder / path.name, follow_link=False)
    for path in missing:
        write_bytes_atomically(folder / path.name, path.read_bytes(), follow_link=False)
    if missing:
        click.echo(f"Copied to {shown_path(folder)}: {_names(missing)}.")
    if present:
        click.echo(f"Already in {shown_path(folder)}, with the same content: {_names(present)}.")


def _is_there(target: Path, content: bytes) -> bool:
    """Return whether a file is there with this content; another content must not be overwritten."""
    if not os.path.lexists(target):
        return False
    with contextlib.suppress(OSError):  # it cannot be read, or is a link to nothing
        if target.is_file() and target.read_bytes() == content:
            return True
    raise InvalidInput(
        f"examples: {shown_path(target)} exists with another content and is not overwritten;"
        " delete it, or copy to another folder."
    )


def _names(paths: Iterable[Path]) -> str:
    return ", ".join(path.name for path in paths)
