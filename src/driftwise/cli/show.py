"""`driftwise show`: one learner, theorem, comparator or other entry, in full."""

from __future__ import annotations

import sys

import click

__all__ = ["command"]


@click.command("show")
@click.argument("name")
@click.option("--json", "as_json", is_flag=True, help="Print JSON instead of text.")
def command(name: str, as_json: bool) -> None:
    """Describe NAME: a learner or another class, a statement of the paper, or a word or column of a table.

    Classes are those of `driftwise list`: learners, detectors, paths, noises, adversaries and comparators. A statement
    of the paper is named by its number or its label.

    \b
    driftwise show optimistic-gd
    driftwise show "Theorem 3.2"
    driftwise show dynamic
    driftwise show "best loss"
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
    if others and others[0].name == name:  # a word that is the name of a class too
        click.echo(f"\nAs a word:\n\n{others.pop(0).text(plain=text != first.text())}")
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
