"""Figures of regret over rounds, drawn without a screen."""

from __future__ import annotations

import math
import os
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from driftwise.core.errors import InvalidInput, MissingDependency
from driftwise.core.files import write_atomically
from driftwise.core.tuning_caveats import MARK, SAYS_NOTHING, marked
from driftwise.core.types import Actions, Vector
from driftwise.report.label_text import add_legend, literal, no_glyph_is_fine
from driftwise.report.palette import COLOURS

if TYPE_CHECKING:
    from matplotlib.artist import Artist
    from matplotlib.figure import Figure

__all__ = ["Curve", "canvas", "figure_format", "regret_figure", "save_figure"]

_FORMATS = (".png", ".svg", ".pdf")
_TITLE, _LABEL, _HALF_LABEL = 100, 90, 46  # letters across a figure, of a label, of a label beside another
_ROWS, _ROW_HEIGHT = 8, 0.24  # rows of labels that a figure has room for, and the inches that one more takes


class Curve(NamedTuple):
    """One learner's regret: its mean over runs, the interval's ends, and the theorem's bound if there is one."""

    label: str
    mean: Vector
    low: Vector
    high: Vector
    bound: Vector  # at `bound_rounds`; NaN where nothing is proved
    doubtful: bool = False  # its tuning says nothing here


def canvas() -> type[Figure]:
    """Return what figures are drawn on, or say how to get it."""
    try:
        from matplotlib.figure import Figure
    except ImportError:
        raise MissingDependency("Drawing a figure", "matplotlib", "figures") from None
    return Figure


def regret_figure(rounds: Actions, curves: Sequence[Curve], bound_rounds: Actions, title: str, ylabel: str) -> Figure:
    """Draw mean curves with their bands, and bounds as dashed lines of the same colour."""
    labels = [marked(literal(curve.label, _LABEL), curve.doubtful) for curve in curves]
    columns = 2 if all(len(label) <= _HALF_LABEL for label in labels) else 1
    n_rows = math.ceil((len(curves) + 2) / columns)
    height = 5.0 + _ROW_HEIGHT * max(0, n_rows - _ROWS)
    figure = canvas()(figsize=(8.0, height), layout="constrained")
    axes = figure.add_subplot()
    signed = any(curve.mean.min() < 0 for curve in curves)  # a weaker comparator can be beaten
    floor = -np.inf if signed else _floor(curves)
    keys: list[tuple[Artist, str]] = []
    for i, curve in enumerate(curves):
        colour = COLOURS[i % len(COLOURS)]
        style = ":" if curve.doubtful else "-" if i < len(COLOURS) else "-."
        mean = np.maximum(curve.mean, floor)
        line = axes.plot(rounds, mean, style, color=colour, label=curve.label, linewidth=1.6)[0]
        keys.append((line, labels[i]))
        if np.isfinite(curve.low).all():
            low, high = np.maximum(curve.low, floor), np.maximum(curve.high, floor)
            axes.fill_between(rounds, low, high, color=colour, alpha=0.2, linewidth=0)
        if (curve.bound < bound_rounds).any():  # at most a loss of 1 a round: a bound above that says nothing
            # Regret only grows, so between two marks the bound of the later one holds: a step, not a slope.
            axes.step(bound_rounds, curve.bound, "--", where="pre", color=colour, linewidth=1.0, alpha=0.8)
    axes.set_title("\n".join(literal(line, _TITLE) for line in title.splitlines()), fontsize="medium")
    axes.set(xlabel="round", ylabel=literal(ylabel, _HALF_LABEL), xlim=(int(rounds[0]) - 1, int(rounds[-1])))
    if not signed:
        axes.set(yscale="log", ylim=(floor, None))
    axes.grid(alpha=0.25, linewidth=0.6)
    axes.spines[["top", "right"]].set_visible(False)
    if any(np.isfinite(curve.bound).any() for curve in curves):
        sample = axes.plot([], [], "--", color="0.4", linewidth=1.0)[0]
        keys.append((sample, "theorem's bound (same colour)"))
    if any(curve.doubtful for curve in curves):
        sample = axes.plot([], [], ":", color="0.4", linewidth=1.6)[0]
        keys.append((sample, f"{MARK} {SAYS_NOTHING}"))
    add_legend(figure, keys, columns)
    return figure


def save_figure(figure: Figure, path: str | os.PathLike[str]) -> None:
    """Write a figure as PNG, SVG or PDF, without a date, so that equal results give equal files."""
    from matplotlib import rc_context

    dates = {".png": {}, ".svg": {"Date": None}, ".pdf": {"CreationDate": None}}[figure_format(path)]
    # Without a salt, the names inside an SVG are random.
    with no_glyph_is_fine(), rc_context({"svg.hashsalt": "driftwise"}):
        write_atomically(path, lambda file: figure.savefig(file, dpi=150, metadata=dates))


def figure_format(path: str | os.PathLike[str]) -> str:
    """Return the suffix of a figure's file, or reject it."""
    suffix = Path(path).suffix.lower()
    if suffix not in _FORMATS:
        raise InvalidInput(f"figure: `path` must end in {', '.join(_FORMATS)}, got {str(path)!r}.")
    return suffix


def _floor(curves: Sequence[Curve]) -> float:
    """Return where a logarithmic axis starts: three decades below the largest regret, at most 1."""
    top = max((float(curve.mean.max()) for curve in curves), default=1.0)
    return min(1.0, max(top, 1e-6) / 1000.0)
