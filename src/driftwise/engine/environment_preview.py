"""One run of an environment before anyone plays in it: its losses, means and measures."""

from __future__ import annotations

import os
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import numpy as np

from driftwise.core.measures import Measures
from driftwise.core.types import Actions, Matrix
from driftwise.engine.plans import default_block, start_single_run
from driftwise.environments import LossSource
from driftwise.report.environment_figure import EnvironmentCurves, environment_figure
from driftwise.report.figures import save_figure
from driftwise.report.tables import number

if TYPE_CHECKING:
    from matplotlib.figure import Figure

__all__ = ["Preview", "preview"]


@dataclass(frozen=True, eq=False)
class Preview:
    """Preview of one run of an environment: losses and means in some hundred stretches of rounds, and the measures.

    `preview` returns it. Stretch `i` has the rounds from `starts[i]` up to, not including, `starts[i + 1]`.

    Parameters
    ----------
    n_rounds : int
        Number of rounds.
    starts : array of int
        First round of each stretch, counted from 0.
    losses : array of float
        Mean of the losses of each action in each stretch, one row per stretch.
    means : array of float or None, default None
        Expected losses, likewise. None if they are unknown.
    measures : Measures or None, default None
        Segments, drift and variance of the run. None if the means are unknown.

    Examples
    --------
    >>> from driftwise import Bernoulli, Environment, Segments
    >>> environment = Environment(Segments([[0.1, 0.9], [0.9, 0.1]]), Bernoulli())
    >>> seen = preview(environment, n_rounds=1000, seed=1)
    >>> seen.measures.segments, seen.means[[0, -1]].tolist()
    (2, [[0.1, 0.9], [0.9, 0.1]])
    """

    n_rounds: int
    starts: Actions = field(repr=False)
    losses: Matrix = field(repr=False)
    means: Matrix | None = field(default=None, repr=False)
    measures: Measures | None = None

    def figure(self) -> Figure:
        """Return a Matplotlib figure: the means as lines, and averages of the losses as dots, over rounds."""
        n_actions, changes = self.losses.shape[1], None
        title = f"{n_actions} action{'s' * (n_actions != 1)}, {self.n_rounds:,} round{'s' * (self.n_rounds != 1)}"
        if self.measures is not None:
            changes, known = self.measures.change_points, self.measures
            title += (
                f": segments Γ = {number(known.segments)}, drift V = {number(known.drift)},"
                f" variance Λ = {number(known.variance)}"
            )
        curves = EnvironmentCurves(title, self.starts, self.n_rounds, self.losses, self.means, changes or ())
        return environment_figure(curves)

    def plot(self, path: str | os.PathLike[str]) -> None:
        """Write the figure to a file (.png, .svg, .pdf)."""
        save_figure(self.figure(), path)


def preview(source: LossSource, n_rounds: int | None = None, seed: int = 0, points: int = 500) -> Preview:
    """Draw one run of an environment, without a learner, and keep averages over some hundred stretches of rounds.

    It is the run that `record` plays with the same seed. A stretch starts at each change point, unless there are more
    than `points`.

    Parameters
    ----------
    source : Environment, Replay or adversarial environment
        Where the losses come from.
    n_rounds : int, default None
        Rounds, >= 1. Required, except for replayed losses: None draws all of them.
    seed : int, default 0
        Seed of the losses, >= 0.
    points : int, default 500
        The most stretches of equal length, >= 1.

    Returns
    -------
    Preview
        Average losses and means, and the measures of the run.

    Examples
    --------
    >>> from driftwise import Environment, Sinusoidal, TwoPoint
    >>> preview(Environment(Sinusoidal(n_actions=3), TwoPoint()), n_rounds=300, points=10).losses.shape
    (10, 3)
    """
    n_rounds, points, _, measures, stream = start_single_run("preview", source, n_rounds, points, seed)
    n_actions = source.n_actions
    changes = measures.change_points or () if measures is not None else ()
    even = np.linspace(0, n_rounds, points, endpoint=False).astype(np.int64)
    starts = np.unique([*even, *(changes if len(changes) <= points else ())])  # no stretch has two means
    sums = np.zeros((2, len(starts), n_actions))
    for first in range(0, n_rounds, default_block(n_actions)):
        block = stream.draw(min(default_block(n_actions), n_rounds - first))
        stretches = np.searchsorted(starts, np.arange(first, first + len(block.losses)), side="right") - 1
        for i, values in enumerate((block.losses, block.means)):
            if values is not None:
                np.add.at(sums[i], stretches, values)
    losses, means = sums / np.diff(starts, append=n_rounds)[:, None]
    return Preview(n_rounds, starts, losses, means if source.has_means else None, measures)
