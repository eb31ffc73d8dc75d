"""One run in some hundred stretches of rounds: of an environment alone (`preview`), or with a learner (`record`)."""

from __future__ import annotations

import os
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np

from driftwise.core.errors import InvalidInput, rejection
from driftwise.core.measures import SAYS_NOTHING, Measures, collected, marked, report
from driftwise.core.progress_bar import Progress, progress_shown
from driftwise.core.types import Actions, Matrix, Vector
from driftwise.core.validation import check_memory, check_seed, count
from driftwise.engine.run import default_block, rounds_to_play
from driftwise.environments import LossSource, Stream
from driftwise.learners import AnyPlayer, Beliefs, Learner, Player, State
from driftwise.report.figures import EnvironmentCurves, HistoryCurves, environment_figure, history_figure, save_figure
from driftwise.report.tables import number

if TYPE_CHECKING:
    from matplotlib.figure import Figure

_SHARES = 125  # the most stretches in which shares of plays are drawn
ESTIMATES = ("segments", "drift", "variance", "n_alarms")


def _start_single_run(
    owner: str, source: LossSource, n_rounds: int | None, points: int, seed: int
) -> tuple[int, int, int, Measures | None, Stream]:
    """Check the arguments of the function `owner` and start a run of an environment.

    Return the rounds, the most stretches of equal length, the seed, the measures (None if the means are unknown) and
    the stream.
    """
    if not isinstance(source, LossSource):
        raise InvalidInput(f"{owner}: `source` must be an environment, got {type(source).__name__}.")
    n_rounds, points = rounds_to_play(owner, source, n_rounds), count(owner, "points", points)
    seed, points = check_seed(owner, seed), min(points, n_rounds)
    check_memory(owner, "points", points, 16 * points * source.n_actions)
    measures = source.measures(n_rounds, seed) if source.has_means else None
    return n_rounds, points, seed, measures, source.start(n_rounds, seed)


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
            changes, measures = self.measures.change_points, self.measures
            title += f": segments Γ = {number(measures.segments)}, drift V = {number(measures.drift)}"
            title += f", variance Λ = {number(measures.variance)}"
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
    n_rounds, points, _, measures, stream = _start_single_run("preview", source, n_rounds, points, seed)
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


@dataclass(frozen=True, eq=False)
class History:
    """History of one run: plays, means and beliefs in a few hundred stretches of rounds.

    `record` returns it. Stretch `i` has the rounds from `starts[i]` up to, not including, `ends[i]`.

    Parameters
    ----------
    learner : Learner
        The learner that played.
    label : str
        Its name in figures.
    n_rounds : int
        Number of rounds.
    starts : array of int
        First round of each stretch, counted from 0.
    weights : array of float
        Mean weights of the actions in each stretch, one row per stretch. With bandit feedback, the share of its rounds
        in which each action was chosen.
    beliefs : tuple of Beliefs
        Beliefs of the learner at the end of each stretch.
    means : array of float or None, default None
        Means of the losses in the middle of each stretch. None if they are unknown.
    change_points : tuple of int or None, default None
        Rounds, counted from 0, in which the means changed. None if they are unknown or too many.
    caveat : str, default ""
        Why the tuning rule of the learner is meaningless in this run; empty if there is no caveat.

    Examples
    --------
    >>> from driftwise import GLRKLUCB, Bernoulli, Environment, Segments, record
    >>> environment = Environment(Segments([[0.1, 0.9], [0.9, 0.1]]), Bernoulli())
    >>> history = record(GLRKLUCB(), environment, n_rounds=2000, seed=1)
    >>> history
    History(label='glr-kl-ucb', n_rounds=2000)
    >>> history.change_points, history.alarms
    ((1000,), (1016, 1031))
    """

    learner: Learner = field(repr=False)
    label: str
    n_rounds: int
    starts: Actions = field(repr=False)
    weights: Matrix = field(repr=False)
    beliefs: tuple[Beliefs, ...] = field(repr=False)
    means: Matrix | None = field(default=None, repr=False)
    change_points: tuple[int, ...] | None = field(default=None, repr=False)
    caveat: str = field(default="", repr=False)

    @property
    def ends(self) -> Actions:
        """The round after the last one of each stretch."""
        return np.append(self.starts[1:], self.n_rounds)

    @property
    def best(self) -> Actions | None:
        """The action with the lowest mean in the middle of each stretch; None if means are unknown."""
        return None if self.means is None else self.means.argmin(axis=1)

    @property
    def memory(self) -> Matrix:
        """The effective memories at the ends of the stretches: one column, one for each action, or none."""
        return np.array([beliefs.memories for beliefs in self.beliefs], float)

    @property
    def bases(self) -> dict[str, Vector]:
        """The weights of the bases at the ends of the stretches, by label, in the order in which they appear."""
        weights: dict[str, Vector] = {}
        for i, beliefs in enumerate(self.beliefs):
            for label, weight in beliefs.bases.items():
                weights.setdefault(label, np.zeros(len(self.beliefs)))[i] = weight
        return weights

    @property
    def alarms(self) -> tuple[int, ...]:
        """The rounds of all alarms, but at most the latest 64 of each stretch."""
        return tuple(sorted({t for beliefs in self.beliefs for t in beliefs.alarms or ()}))

    def estimates(self, name: str) -> Vector:
        """Return `segments`, `drift`, `variance` or `n_alarms` at the ends of the stretches, NaN if there is none."""
        if name not in ESTIMATES:
            raise rejection("History", "name", f"one of {', '.join(ESTIMATES)}", name)
        values = (getattr(beliefs, name) for beliefs in self.beliefs)
        return np.array([np.nan if value is None else float(value) for value in values])

    def figure(self) -> Figure:
        """Return a Matplotlib figure: the weights, the effective memory, and the weights of the bases, over rounds."""
        full = self.learner.feedback == "full"
        return history_figure(
            HistoryCurves(
                title=self._title(),
                starts=self.starts,
                n_rounds=self.n_rounds,
                what="weight" if full else "share of plays",
                weights=self.weights,
                best=self.best,
                change_points=self.change_points or (),
                alarms=self.alarms,
                memory=self.memory,
                bases=self.bases,
                together=1 if full else -(-len(self.starts) // _SHARES),
            )
        )

    def plot(self, path: str | os.PathLike[str]) -> None:
        """Write the figure to a file (.png, .svg, .pdf)."""
        save_figure(self.figure(), path)

    def _title(self) -> str:
        n_actions = self.weights.shape[1]
        about = [f"{n_actions} action{'s' * (n_actions != 1)}, {self.n_rounds:,} round{'s' * (self.n_rounds != 1)}"]
        if self.change_points is not None:
            n = len(self.change_points) + 1
            about.append(f"{n} segment{'s' * (n != 1)}")
        n_alarms = self.beliefs[-1].n_alarms
        if n_alarms is not None:
            about.append(f"{n_alarms} alarm{'s' * (n_alarms != 1)}")
        caveat = f"\n{SAYS_NOTHING}: {self.caveat}" if self.caveat else ""
        return f"{marked(self.label, self.caveat)}: {', '.join(about)}{caveat}"


def record(
    learner: AnyPlayer,
    source: LossSource,
    n_rounds: int | None = None,
    seed: int = 0,
    points: int = 500,
    progress: bool | Progress | None = None,
) -> History:
    """Play one run and keep what was played and what the learner believed, at up to `points` evenly spaced rounds.

    Parameters
    ----------
    learner : learner, rule or Player
        The learner; a rule such as `OptimisticGD.tuned` makes one from the measures of the run.
    source : Environment, Replay or adversarial environment
        Where the losses come from.
    n_rounds : int, default None
        Rounds, >= 1. Required, except for replayed losses: None plays all of them.
    seed : int, default 0
        Seed of the losses and of the learner's random numbers, >= 0.
    points : int, default 500
        The most stretches of rounds, >= 1.
    progress : bool or callable, default None
        As in `simulate`.

    Returns
    -------
    History
        Weights or shares of plays, means and beliefs.

    Examples
    --------
    >>> from driftwise import Bernoulli, Environment, FixedShare, Switching
    >>> environment = Environment(Switching(n_segments=3, n_actions=2), Bernoulli())
    >>> record(FixedShare.tuned, environment, n_rounds=300, points=10).beliefs[-1]
    Beliefs(rounds=300, memory=129.5)
    """
    n_rounds, points, seed, measures, stream = _start_single_run("record", source, n_rounds, points, seed)
    n_actions = source.n_actions
    player = Player.of(learner)
    with collected() as reasons:
        made = player.learner(n_actions, n_rounds, measures, source.budget(n_rounds))
    caveat = "; ".join(dict.fromkeys(reasons))
    if caveat:
        report(player.label, caveat)
    state = made.start(n_actions, seed)
    starts = np.unique(np.linspace(0, n_rounds, points, endpoint=False).astype(np.int64))
    weights, means, beliefs = np.empty((len(starts), n_actions)), np.empty((len(starts), n_actions)), []
    with progress_shown("record", progress, "rounds") as show:
        for i, (start, end) in enumerate(zip(starts, np.append(starts[1:], n_rounds), strict=True)):
            weights[i], means[i] = _play_stretch(state, stream, int(start), int(end))
            beliefs.append(made.beliefs(state))
            if show is not None:
                show(int(end), n_rounds)
    return History(
        learner=made,
        label=player.label,
        n_rounds=n_rounds,
        starts=starts,
        weights=weights,
        beliefs=tuple(beliefs),
        means=means if source.has_means else None,
        change_points=None if measures is None else measures.change_points,
        caveat=caveat,
    )


def _play_stretch(state: State, stream: Stream, start: int, end: int) -> tuple[Vector, Vector]:
    """Play rounds; return the mean weights, or the shares of the actions, and the means in the middle round."""
    n_actions, middle = state.n_actions, (start + end) // 2
    total, means = np.zeros(n_actions), np.full(n_actions, np.nan)
    for first in range(start, end, default_block(n_actions)):
        block = stream.draw(min(end - first, default_block(n_actions)))
        played: Any = state.learner.run(state, block.losses)  # type: ignore[attr-defined]
        if played.ndim == 1:
            total += np.bincount(played, minlength=n_actions)
        else:
            total += np.add.reduceat(played, [0], axis=0)[0]
        if block.means is not None and first <= middle < first + len(block.losses):
            means = block.means[middle - first]
    return total / (end - start), means
