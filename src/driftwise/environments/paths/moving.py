"""Paths whose means move in every round: on a line, in sine waves, in reflected random walks, or by coin flips."""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from functools import partial

import numpy as np

from driftwise.core.kernel import kernel
from driftwise.core.types import Matrix, Vector
from driftwise.core.validation import COUNT, Domains, below, interval, require, require_count, require_number
from driftwise.environments.paths.path import FunctionStream, MeanStream, Path, as_means, path

_MOST_PERIODS = 1e9  # with more, rounding errors of the phase exceed the seventh digit


@path("linear")
@dataclass(frozen=True)
class Linear(Path):
    r"""Path with means that move at constant speed from one vector to another.

    Parameters
    ----------
    first : sequence of float
        Means in the first round ($a$), each in [0, 1].
    last : sequence of float
        Means in the last round ($b$), each in [0, 1], as many as in `first`.

    Notes
    -----
    $$ \mu_t = a + \frac{t}{T-1}\,(b - a), \qquad t = 0, \dots, T-1 . $$

    $V = \|a\|_\infty + \|b - a\|_\infty$, which does not depend on the number of rounds.

    Examples
    --------
    >>> from driftwise.environments import Deterministic, Environment
    >>> environment = Environment(Linear(first=(0.0, 1.0), last=(1.0, 0.0)), Deterministic())
    >>> environment.start(n_rounds=5).draw(5).losses[:, 0]
    array([0.  , 0.25, 0.5 , 0.75, 1.  ])
    """

    first: tuple[float, ...]
    last: tuple[float, ...]
    n_actions: int = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        for name in ("first", "last"):
            object.__setattr__(self, name, as_means(self, name, getattr(self, name)))
        require(self, "last", len(self.last) == len(self.first), f"{len(self.first)} numbers, as `first` is")
        object.__setattr__(self, "n_actions", len(self.first))

    def start(self, n_rounds: int, generator: np.random.Generator) -> MeanStream:  # noqa: ARG002
        """Return the means of a run."""
        start, last_round = np.array(self.first), max(1, n_rounds - 1)
        difference = np.array(self.last) - start

        def write(means: Matrix, first: int) -> None:
            share = np.arange(first, first + len(means)) / last_round
            means[:] = start + share[:, np.newaxis] * difference

        return FunctionStream(write)


@kernel
def _fill(means: Matrix, first: int, turns: float, amplitude: float, center: float) -> None:
    for t in range(means.shape[0]):
        for k in range(means.shape[1]):
            turn = turns * (first + t) + k / means.shape[1]
            means[t, k] = center + amplitude * math.sin(2.0 * math.pi * turn)


@path("sinusoidal")
@dataclass(frozen=True)
class Sinusoidal(Path):
    r"""Path with one sine wave per action, with evenly spread phases: the means drift smoothly.

    The best action changes periodically, each action in turn.

    Parameters
    ----------
    n_actions : int
        Number of actions ($K$), at least 1.
    n_periods : float, default 1.0
        Number of periods in the whole run ($n$), in [0, 1e9]; it need not be an integer.
    amplitude : float, default 0.3
        Largest distance of a mean from `center` ($A$), at least 0; center - amplitude and center + amplitude in [0, 1].
    center : float, default 0.5
        Mean around which all means oscillate ($c$), in [0, 1].

    Notes
    -----
    $$ \mu_{t,k} = c + A \sin\bigl(2\pi\,(n\,t/T + k/K)\bigr), \qquad t = 0, \dots, T-1 . $$

    Examples
    --------
    >>> from driftwise.environments import Bernoulli, Environment
    >>> environment = Environment(Sinusoidal(n_actions=3, n_periods=2), Bernoulli())
    >>> environment.measures(n_rounds=1000).segments
    1000
    """

    n_actions: int
    n_periods: float = 1.0
    amplitude: float = 0.3
    center: float = 0.5

    def __post_init__(self) -> None:
        require_count(self, "n_actions")
        require_number(self, "n_periods", lambda x: 0 <= x <= _MOST_PERIODS, f"in [0, {_MOST_PERIODS:g}]")
        require_number(self, "center", lambda x: 0 <= x <= 1, "in [0, 1]")
        fits = f">= 0 and leave center +- amplitude in [0, 1] (center = {self.center})"
        require_number(self, "amplitude", lambda x: 0 <= x <= self.center and self.center + x <= 1, fits)

    def start(self, n_rounds: int, generator: np.random.Generator) -> MeanStream:  # noqa: ARG002
        """Return the means of a run."""

        def write(means: Matrix, first: int) -> None:
            _fill(means, first, self.n_periods / n_rounds, self.amplitude, self.center)

        return FunctionStream(write)


@kernel
def _fold(point: float, low: float, high: float) -> float:
    width = high - low
    beyond = abs(point - low) % (2.0 * width)
    return min(high, low + min(beyond, 2.0 * width - beyond))


@kernel
def _walk(position: Vector, means: Matrix, step: float, low: float, high: float) -> None:
    """Turn the normal draws in `means` into the walk; `position` holds the means of the next round."""
    for t in range(means.shape[0]):
        for k in range(means.shape[1]):
            draw = means[t, k]
            means[t, k] = position[k]
            position[k] = _fold(position[k] + step * draw, low, high)


@path("random-walk")
@dataclass(frozen=True)
class RandomWalk(Path):
    r"""Path with an independent Gaussian random walk per action, reflected at two bounds.

    Parameters
    ----------
    n_actions : int
        Number of actions ($K$), at least 1.
    step : float, default 0.01
        Standard deviation of one step ($s$), in [0, 1].
    low : float, default 0.0
        Lower bound of the means ($a$), in [0, high).
    high : float, default 1.0
        Upper bound of the means ($b$), in (0, 1].

    Notes
    -----
    $$ \mu_{1,k} \sim U[a, b], \qquad \mu_{t+1,k} = \mathrm{fold}(\mu_{t,k} + s\,\xi_{t,k}), \quad \xi \sim N(0, 1), $$

    where $\mathrm{fold}$ reflects a point at the bounds until it is in $[a, b]$.

    Examples
    --------
    >>> from driftwise.environments import Bernoulli, Environment
    >>> environment = Environment(RandomWalk(n_actions=3, step=0.01), Bernoulli())
    >>> environment.measures(n_rounds=1000).segments
    1000
    """

    n_actions: int
    step: float = 0.01
    low: float = 0.0
    high: float = 1.0

    _domains = Domains(n_actions=COUNT, step=interval("[0, 1]"), high=interval("(0, 1]"), low=below("high"))

    def start(self, n_rounds: int, generator: np.random.Generator) -> MeanStream:  # noqa: ARG002
        """Return the means of a run, drawn as they are needed."""
        position = self.low + (self.high - self.low) * generator.random(self.n_actions)
        return FunctionStream(partial(self._write, position, generator))

    def _write(self, position: Vector, generator: np.random.Generator, means: Matrix, _: int) -> None:
        generator.standard_normal(out=means)
        _walk(position, means, self.step, self.low, self.high)


@path("coin-flips")
@dataclass(frozen=True)
class CoinFlips(Path):
    r"""Path with means 0 or 1, drawn by independent fair coins in every round.

    Without noise this is the adversarial extreme: $\Lambda = 0$, while $\Gamma$ and $V$ are of the order of $T$.

    Parameters
    ----------
    n_actions : int
        Number of actions ($K$), at least 1.

    Notes
    -----
    $$ P(\mu_{t,k} = 1) = P(\mu_{t,k} = 0) = 1/2, \quad \text{independently for all } t \text{ and } k . $$

    The means change in all but a share $2^{-K}$ of the rounds, each time by 1 in the maximum norm.

    Examples
    --------
    >>> from driftwise.environments import Deterministic, Environment
    >>> measures = Environment(CoinFlips(n_actions=10), Deterministic()).measures(n_rounds=1000)
    >>> measures.segments > 990, measures.drift > 990, measures.variance
    (True, True, 0.0)
    """

    n_actions: int

    _domains = Domains(n_actions=COUNT)

    def start(self, n_rounds: int, generator: np.random.Generator) -> MeanStream:  # noqa: ARG002
        """Return the means of a run, drawn as they are needed."""
        return FunctionStream(partial(_flip_coins, generator))


def _flip_coins(generator: np.random.Generator, means: Matrix, _: int) -> None:
    generator.random(out=means)
    np.less(means, 0.5, out=means)
