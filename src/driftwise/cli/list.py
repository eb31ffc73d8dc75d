"""`driftwise list`: the members of the registries."""

from __future__ import annotations

from typing import Any

import click

__all__ = ["command"]


@click.command("list")
@click.argument(
    "kind", type=click.Choice(["learners", "detectors", "paths", "noises", "adversaries"]), default="learners"
)
@click.option(
    "--feedback", type=click.Choice(["full", "bandit"]), help="Only learners with, or adversaries for, this feedback."
)
@click.option("--json", "as_json", is_flag=True, help="Print JSON instead of a table.")
def command(kind: str, feedback: str | None, as_json: bool) -> None:
    """List the learners, change detectors, adversaries, or the paths and noises of environments."""
    import shutil

    from driftwise.cli.catalogue import describe, registries
    from driftwise.report.tables import text_table

    registry = registries()[kind]
    records: list[dict[str, Any]] = [describe(registry.get(name)) for name in registry]
    if feedback is not None:
        records = [record for record in records if feedback in record.get("feedback", "").split(" or ")]
    if as_json:
        import json

        click.echo(json.dumps(records, indent=2))
        return
    columns = ["name", "feedback", "summary"] if kind in ("learners", "adversaries") else ["name", "summary"]
    rows = [[record[c] for c in columns] for record in records]
    click.echo(text_table(columns, rows, left=len(columns), width=shutil.get_terminal_size().columns))
    click.echo(f"\n{len(records)} {kind}. `driftwise show NAME` describes one.")
