"""Figures of regret over rounds."""

from __future__ import annotations

import math
import os
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from driftwise.core.errors import InvalidInput, MissingDependency
from driftwise.core.files import write_atomically
from driftwise.core.tuning_caveats import MARK, SAYS_NOTHING, marked
from driftwise.core.types import Actions, Vector
from driftwise.report.label_text import add_legend, ignore_missing_glyphs, literal
from driftwise.report.palette import COLOURS

if TYPE_CHECKING:
    from matplotlib.artist import Artist
    from matplotlib.figure import Figure

__all__ = ["SCALES", "Curve", "canvas", "figure_format", "regret_figure", "save_figure"]

SCALES = ("log", "linear", "log-log")  # of the axis of regret; "log-log" of both axes
_FORMATS = (".png", ".svg", ".pdf")
_LINE_STYLES = ("-.", ":", (0, (6, 2)), (0, (3, 1, 1, 1, 1, 1)))
_TITLE, _LABEL, _HALF_LABEL = 100, 90, 46  # the most characters: of a title, of a label, of a label in two columns
_ROWS, _ROW_HEIGHT = 8, 0.24  # rows of labels that fit, and inches for one more


class Curve(NamedTuple):
    """One learner's regret: its mean over runs, the ends of the interval, and the bound of its theorem."""

    label: str
    mean: Vector
    low: Vector
    high: Vector
    bound: Vector  # at `bound_rounds`; NaN if there is none
    has_caveat: bool = False  # its tuning says nothing here


def canvas() -> type[Figure]:
    """Return Matplotlib's `Figure`; raise with the command to install it if it is missing."""
    try:
        from matplotlib.figure import Figure
    except ImportError:
        raise MissingDependency("Drawing a figure", "matplotlib", "figures") from None
    return Figure


def regret_figure(
    rounds: Actions,
    curves: Sequence[Curve],
    bound_rounds: Actions,
    title: str,
    ylabel: str,
    scale: str = "log",
    lines: Mapping[str, Vector] | None = None,
) -> Figure:
    """Return a figure of mean curves with their bands, of bounds as dashed lines of the same colour, and of grey lines.

    `lines` are curves over `rounds` by label. Negative regret is drawn on a linear axis, whatever the `scale`.
    """
    lines = lines or {}
    labels = [marked(literal(curve.label, _LABEL), curve.has_caveat) for curve in curves]
    columns = 2 if all(len(label) <= _HALF_LABEL for label in [*labels, *lines]) else 1
    n_rows = math.ceil((len(curves) + len(lines) + 2) / columns)
    height = 5.0 + _ROW_HEIGHT * max(0, n_rows - _ROWS)
    figure = canvas()(figsize=(8.0, height), layout="constrained")
    axes = figure.add_subplot()
    signed = any(curve.mean.min() < 0 for curve in curves)  # regret can be negative against a weaker comparator
    floor = -np.inf if signed or scale == "linear" else _floor(curves)
    keys: list[tuple[Artist, str]] = []
    for i, curve in enumerate(curves):
        colour = COLOURS[i % len(COLOURS)]
        style = ":" if curve.has_caveat else "-" if i < len(COLOURS) else "-."
        mean = np.maximum(curve.mean, floor)
        marker = "o" if len(rounds) == 1 else ""  # a line needs two points
        line = axes.plot(rounds, mean, style, marker=marker, color=colour, label=curve.label, linewidth=1.6)[0]
        keys.append((line, labels[i]))
        if np.isfinite(curve.low).all():
            low, high = np.maximum(curve.low, floor), np.maximum(curve.high, floor)
            axes.fill_between(rounds, low, high, color=colour, alpha=0.2, linewidth=0)
        if (curve.bound < bound_rounds).any():  # losses are <= 1, so a larger bound is trivial
            # Regret does not decrease, so between two marks the bound of the later one holds: steps, not slopes.
            axes.step(bound_rounds, curve.bound, "--", where="pre", color=colour, linewidth=1.0, alpha=0.8)
    axes.set_title("\n".join(literal(line, _TITLE) for line in title.splitlines()), fontsize="medium")
    for i, (label, values) in enumerate(lines.items()):
        dashes, grey = _LINE_STYLES[i % len(_LINE_STYLES)], str(0.2 + 0.2 * (i % 2))
        line = axes.plot(rounds, values, linestyle=dashes, color=grey, linewidth=1.4)[0]
        keys.append((line, literal(label, _LABEL)))
    axes.set(xlabel="round", ylabel=literal(ylabel, _HALF_LABEL), xlim=(int(rounds[0]) - 1, int(rounds[-1])))
    if scale == "log-log":
        axes.set(xscale="log", xlim=(int(rounds[0]), int(rounds[-1])))
    if not signed:
        axes.set(ylim=(0.0, None)) if scale == "linear" else axes.set(yscale="log", ylim=(floor, None))
    axes.grid(alpha=0.25, linewidth=0.6)
    axes.spines[["top", "right"]].set_visible(False)
    if any((curve.bound < bound_rounds).any() for curve in curves):
        sample = axes.plot([], [], "--", color="0.4", linewidth=1.0)[0]
        keys.append((sample, "bound (same colour)"))
    if any(curve.has_caveat for curve in curves):
        sample = axes.plot([], [], ":", color="0.4", linewidth=1.6)[0]
        keys.append((sample, f"{MARK} {SAYS_NOTHING}"))
    add_legend(figure, keys, columns)
    return figure


def save_figure(figure: Figure, path: str | os.PathLike[str]) -> None:
    """Write a figure as PNG, SVG or PDF, without a date: equal results give equal files."""
    from matplotlib import rc_context

    dates = {".png": {}, ".svg": {"Date": None}, ".pdf": {"CreationDate": None}}[figure_format(path)]
    # Without a salt, identifiers in an SVG are random.
    with ignore_missing_glyphs(), rc_context({"svg.hashsalt": "driftwise"}):
        write_atomically(path, lambda file: figure.savefig(file, dpi=150, metadata=dates))


def figure_format(path: str | os.PathLike[str]) -> str:
    """Return the suffix of a figure's file; raise if it is unknown."""
    suffix = Path(path).suffix.lower()
    if suffix not in _FORMATS:
        raise InvalidInput(f"figure: `path` must end in {', '.join(_FORMATS)}, got {str(path)!r}.")
    return suffix


def _floor(curves: Sequence[Curve]) -> float:
    """Return the lower end of a logarithmic axis: three decades below the largest regret, at most 1."""
    top = max((float(curve.mean.max()) for curve in curves), default=1.0)
    return min(1.0, max(top, 1e-6) / 1000.0)
