"""The figure of an environment: how the means of its losses move, and averages of the losses."""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from typing import TYPE_CHECKING, NamedTuple

import numpy as np

from driftwise.core.types import Actions, Matrix
from driftwise.report.figures import canvas
from driftwise.report.label_text import literal
from driftwise.report.palette import COLOURS, GREY

if TYPE_CHECKING:
    from matplotlib.artist import Artist
    from matplotlib.figure import Figure

__all__ = ["EnvironmentCurves", "environment_figure"]

_MOST_CHANGES = 40  # that can be distinguished
_MOST_DOTS = 60  # of one action
_TITLE = 110  # the most characters
_SIZE = (8.0, 3.5)  # inches


class EnvironmentCurves(NamedTuple):
    """The numbers of one run; stretches of rounds begin with `starts`, and the last one ends before `n_rounds`."""

    title: str
    starts: Actions
    n_rounds: int
    losses: Matrix  # (stretches, actions): averages
    means: Matrix | None
    change_points: Sequence[int]


def environment_figure(curves: EnvironmentCurves) -> Figure:
    """Return a figure of the means as steps, of averages of the losses as dots, and of change points."""
    figure = canvas()(figsize=_SIZE, layout="constrained")
    axes = figure.add_subplot()
    keys: list[tuple[Artist, str]] = []
    centers, losses = _dots(curves)
    changes = curves.change_points if len(curves.change_points) <= _MOST_CHANGES else ()
    edges, pieces = np.append(curves.starts, curves.n_rounds), _pieces(curves.starts, changes)
    n_actions = losses.shape[1]
    for k in range(n_actions):
        colour = COLOURS[k] if k < len(COLOURS) else GREY
        artist: Artist = axes.plot(centers, losses[:, k], ".", color=colour, markersize=4.5, alpha=0.55)[0]
        if curves.means is not None:
            for first, end in pieces:
                heights = np.append(curves.means[first:end, k], curves.means[end - 1, k])
                artist = axes.step(edges[first : end + 1], heights, where="post", color=colour, linewidth=1.8)[0]
        if k <= len(COLOURS):
            keys.append((artist, f"action {k + 1}" if k < len(COLOURS) else f"{n_actions - k} other actions"))
    if curves.means is not None:
        keys.append((axes.plot([], [], ".", color="0.4", markersize=4.5)[0], "average of losses"))
    marks = [axes.axvline(t, color="0.6", linewidth=0.8, zorder=1) for t in changes]
    keys += [(mark, "change point") for mark in marks[:1]]
    axes.set(xlabel="round", ylabel="mean loss", xlim=(0, curves.n_rounds), ylim=(-0.03, 1.03))
    axes.set_title(literal(curves.title, _TITLE), fontsize="medium")
    axes.grid(alpha=0.25, linewidth=0.6)
    axes.spines[["top", "right"]].set_visible(False)
    artists, labels = zip(*keys, strict=True)
    axes.legend(artists, labels, fontsize="small", frameon=False, loc="upper left", bbox_to_anchor=(1.01, 1.03))
    return figure


def _pieces(starts: Actions, changes: Sequence[int]) -> list[tuple[int, int]]:
    """Return the first stretch of each segment and the one after its last, so that no line joins two segments.

    >>> _pieces(np.array([0, 10, 20, 30]), [20])
    [(0, 2), (2, 4)]
    """
    firsts = np.unique([0, *np.searchsorted(starts, changes), len(starts)]).tolist()
    return list(itertools.pairwise(firsts))


def _dots(curves: EnvironmentCurves) -> tuple[Matrix, Matrix]:
    """Return the middles of longer stretches and the averages of the losses in them."""
    n = len(curves.starts)
    firsts = np.arange(0, n, -(-n // _MOST_DOTS))
    lengths = np.diff(curves.starts, append=curves.n_rounds)
    sums = np.add.reduceat(curves.losses * lengths[:, None], firsts, axis=0)
    edges = np.append(curves.starts[firsts], curves.n_rounds)
    return (edges[:-1] + edges[1:]) / 2, sums / np.diff(edges)[:, None]
