"""`driftwise show`: one member of a registry, in full."""

from __future__ import annotations

import click

__all__ = ["command"]


@click.command("show")
@click.argument("name")
@click.option("--json", "as_json", is_flag=True, help="Print JSON instead of text.")
def command(name: str, as_json: bool) -> None:
    """Describe the learner, detector, path, noise or adversary NAME: formula, parameters, bound, reference."""
    import textwrap

    from driftwise.cli.catalogue import describe, find

    record = describe(find(name))
    if as_json:
        import json

        click.echo(json.dumps(record, indent=2))
        return

    def fill(text: str, first: str, indent: int) -> str:
        return textwrap.fill(text, 100, initial_indent=first, subsequent_indent=" " * indent, break_on_hyphens=False)

    facts = [
        fill(record[heading], f"  {heading.replace('_', ' '):<16}", 18)
        for heading in ("feedback", "must_know", "time_per_round", "regret", "in_practice")
        if record.get(heading)
    ]
    heads = ["references", *[""] * len(record["references"])]
    facts += [fill(text, f"  {head:<16}", 18) for head, text in zip(heads, record["references"], strict=False) if text]
    parameters = ["  parameters"] if record["parameters"] else []
    for parameter in record["parameters"]:
        parameters.append(f"    {parameter['name']} = {parameter['default']}")
        parameters.append(fill(parameter["meaning"], " " * 8, 8))
    notes = textwrap.indent(record["notes"], "  ").splitlines()
    sections = [
        [fill(f"{name}: {record['summary']}", "", 2)],
        facts,
        parameters,
        notes,
        [f"  in Python: from {record['module']} import {record['class']}"],
    ]
    click.echo("\n\n".join("\n".join(section) for section in sections if section))
