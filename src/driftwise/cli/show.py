"""`driftwise show`: one learner, theorem, comparator or other entry, in full."""

from __future__ import annotations

import sys

import click

__all__ = ["command"]


@click.command("show")
@click.argument("name")
@click.option("--json", "as_json", is_flag=True, help="Print JSON instead of text.")
def command(name: str, as_json: bool) -> None:
    """Describe NAME: a learner, detector, path, noise, adversary or comparator, or a statement of the paper.

    A statement of the paper is named by its number or its label.

    \b
    driftwise show optimistic-gd
    driftwise show "Theorem 3.2"
    driftwise show dynamic
    """
    from driftwise.cli.catalogue import entries

    first, *others = entries(name)
    if as_json:
        import json

        click.echo(json.dumps(first.record, indent=2))
        return
    text = first.text()
    if not _can_print(text):
        text = first.text(plain=True)
    click.echo(text)
    others = [other for other in others if other.name not in first.record.get("statements", ())]  # named above
    if others:
        named = " or ".join(f'`driftwise show "{other.name}"`' for other in others)
        click.echo(f"\nAlso of this name: {named}.")


def _can_print(text: str) -> bool:
    """Return whether standard output has all characters of a text."""
    try:
        text.encode(sys.stdout.encoding or "utf-8")
    except UnicodeEncodeError:
        return False
    return True
