"""Literal text in figures: Matplotlib must not interpret a label as a formula or as an instruction."""

from __future__ import annotations

import contextlib
import warnings
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any

from driftwise.core.errors import one_line

if TYPE_CHECKING:
    from matplotlib.artist import Artist
    from matplotlib.figure import Figure

__all__ = ["add_legend", "ignore_missing_glyphs", "literal"]


def literal(text: str, most: int) -> str:
    """Return text in one line, cut to `most` characters, with dollars escaped so that they do not start a formula.

    >>> literal("cost in $", 20), literal("a name of many words", 10)
    ('cost in \\\\$', 'a name of…')
    """
    shown = one_line(text)
    return (shown if len(shown) <= most else f"{shown[: most - 1]}…").replace("$", r"\$")


def add_legend(figure: Figure, keys: Sequence[tuple[Artist, str]], columns: int, **look: Any) -> None:
    """Put a legend below a figure: artists and their labels, as `literal` returns them.

    The text is set afterwards, because Matplotlib omits labels that start with an underscore.
    """
    if not keys:
        return
    artists, labels = zip(*keys, strict=True)
    numbers = [str(i) for i in range(len(keys))]
    legend = figure.legend(artists, numbers, loc="outside lower center", ncols=columns, frameon=False, **look)
    for text, label in zip(legend.get_texts(), labels, strict=True):
        text.set_text(label)


@contextlib.contextmanager
def ignore_missing_glyphs() -> Iterator[None]:
    """Suppress the warning about a character that the font does not have; a box is drawn for it."""
    with warnings.catch_warnings():
        warnings.filterwarnings("ignore", message="Glyph .* missing")
        yield
