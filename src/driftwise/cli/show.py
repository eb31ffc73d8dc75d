"""`driftwise show`: one member of a registry, in full."""

from __future__ import annotations

import click

__all__ = ["command"]


@click.command("show")
@click.argument("name")
@click.option("--json", "as_json", is_flag=True, help="Print JSON instead of text.")
def command(name: str, as_json: bool) -> None:
    """Tell what NAME does: formula in words, parameters, bound, reference."""
    import textwrap

    from driftwise.cli.catalogue import describe, find

    record = describe(find(name))
    if as_json:
        import json

        click.echo(json.dumps(record, indent=2))
        return
    click.echo(f"{record['name']}: {record['title']}\n")
    for heading in ("in_words", "feedback", "knows", "cost", "bound", "reference"):
        if heading in record:
            label = f"  {heading.replace('_', ' '):<10}"
            click.echo(textwrap.fill(record[heading], 100, initial_indent=label, subsequent_indent=" " * 12))
    if record["parameters"]:
        click.echo("\n  parameters")
        for parameter in record["parameters"]:
            label = f"    {parameter['name']} = {parameter['default']}"
            text = textwrap.fill(parameter["meaning"], 100, initial_indent=" " * 8, subsequent_indent=" " * 8)
            click.echo(f"{label}\n{text}" if parameter["meaning"] else label)
    click.echo(f"\n  in Python: from {record['module']} import {record['class']}")
