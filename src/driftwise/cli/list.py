"""`driftwise list`: the members of the registries, the statements of the paper, and the glossary."""

from __future__ import annotations

from typing import Any

import click

__all__ = ["command"]

_KINDS = ["learners", "detectors", "paths", "noises", "adversaries", "comparators", "theorems", "words"]
_COLUMNS = {
    "learners": ["name", "feedback", "summary"],
    "adversaries": ["name", "feedback", "summary"],
    "theorems": ["number", "label", "title"],
    "words": ["word", "meaning"],
}


@click.command("list")
@click.argument("kind", type=click.Choice(_KINDS), default="learners")
@click.option(
    "--feedback", type=click.Choice(["full", "bandit"]), help="Only learners with, or adversaries for, this feedback."
)
@click.option("--json", "as_json", is_flag=True, help="Print JSON instead of a table.")
def command(kind: str, feedback: str | None, as_json: bool) -> None:
    """List learners, change detectors, paths, noises, adversaries or comparators.

    Also the theorems, lemmas and algorithms of the paper (theorems), and the glossary (words).
    """
    import shutil

    from driftwise.cli.catalogue import records
    from driftwise.report.maths_text import readable
    from driftwise.report.tables import text_table

    found: list[dict[str, Any]] = records(kind)
    if feedback is not None:
        found = [record for record in found if feedback in record.get("feedback", "").split(" or ")]
    if as_json:
        import json

        click.echo(json.dumps(found, indent=2))
        return
    columns = _COLUMNS.get(kind, ["name", "summary"])
    rows = [[readable(record[c]) for c in columns] for record in found]
    click.echo(text_table(columns, rows, left=len(columns), width=shutil.get_terminal_size().columns))
    what = "statements of the paper" if kind == "theorems" else kind
    click.echo(f"\n{len(found)} {what}. `driftwise show {columns[0].upper()}` describes one.")
