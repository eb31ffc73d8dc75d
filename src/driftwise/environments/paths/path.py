r"""What all paths share: their base classes and registry, a preview of the means of a run, and an exact drift.

A path gives the means of each round, before noise is added. `PathPreview` computes them in advance, block by block, to
measure them or to solve for a parameter.

`WithDrift` scales a path. The jump from $\mu_0 = 0$ is the largest entry of $\mu'_1$, because means are not negative.
So $V$ is linear in the scale $a$, and a preview of the same path gives $a$ before the first round.
"""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections import deque
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any, TypeVar

import numpy as np

from driftwise.core.errors import InvalidInput, rejection
from driftwise.core.measures import Measures
from driftwise.core.types import Actions, Matrix
from driftwise.core.validation import require_number
from driftwise.environments.measures_accumulator import MeasuresAccumulator, add_all, summed
from driftwise.environments.noises.noise import Deterministic, Noise
from driftwise.registry import Registered, Registry, to_spec


class MeanStream(ABC):
    """The means of one run, returned in order."""

    @abstractmethod
    def fill(self, means: Matrix) -> None:
        """Write the means of the next `len(means)` rounds into a contiguous block."""

    def constant_stretches(self, n: int) -> tuple[Matrix, Actions] | None:  # noqa: ARG002
        """Return the means of the next `n` rounds as rows, and the number of rounds of each row.

        Return None, without advancing the stream, if the path is not piecewise constant.
        """
        return None


class FunctionStream(MeanStream):
    """Means that a function writes, block by block; it is also given the number of the first round of a block."""

    def __init__(self, write: Callable[[Matrix, int], None]) -> None:
        self._write = write
        self._round = 0

    def fill(self, means: Matrix) -> None:
        """Write the means of the next `len(means)` rounds."""
        self._write(means, self._round)
        self._round += len(means)


class Path(Registered, ABC):
    """Base class of paths: the parameters of a sequence of means. Nothing is drawn before `start`."""

    n_actions: int

    @abstractmethod
    def start(self, n_rounds: int, generator: np.random.Generator) -> MeanStream:
        """Return the means of a run of `n_rounds`; all random numbers come from `generator`."""

    def with_drift(self, drift: float, around: float = 0.5) -> WithDrift:
        """Return this path, scaled around the level `around` so that its drift V is exactly `drift`."""
        return WithDrift(self, drift, around)

    def to_spec(self) -> dict[str, Any]:
        """Return the plain values that `paths.build` turns back into an equal path."""
        return to_spec(self)


paths: Registry[Path] = Registry("path")
P = TypeVar("P", bound=type[Path])


def path(name: str) -> Callable[[P], P]:
    """Register a path under `name`."""
    return lambda member: paths.add(name, member)


def as_path(owner: object, value: object) -> Path:
    """Return a path, given as itself or as its spec."""
    if isinstance(value, Mapping):
        return paths.build(value)
    if not isinstance(value, Path):
        raise rejection(owner, "path", "a path or its spec", value)
    return value


def as_means(owner: object, name: str, values: object) -> tuple[float, ...]:
    """Check the means of one round and return them as a tuple of floats."""
    return tuple(_in_unit(owner, name, values, 1, "one number in [0, 1] per action").tolist())


def as_means_table(owner: object, name: str, values: object) -> tuple[tuple[float, ...], ...]:
    """Check a table of means and return it as tuples of floats."""
    rule = "rows of equal length, one number in [0, 1] per action"
    return tuple(map(tuple, _in_unit(owner, name, values, 2, rule).tolist()))


def _in_unit(owner: object, name: str, values: object, n_axes: int, rule: str) -> Matrix:
    try:
        array = np.asarray(values)
    except ValueError:
        raise rejection(owner, name, rule, values, "Are its rows of one length?") from None
    if array.ndim != n_axes or array.size == 0 or array.dtype.kind not in "fiu":
        raise rejection(owner, name, rule, values)
    outside = np.argwhere(~((array >= 0) & (array <= 1)))
    if len(outside):
        where = ", ".join(f"{axis} {i}" for axis, i in zip(("row", "action")[-n_axes:], outside[0], strict=True))
        got = float(array[tuple(outside[0])])
        raise InvalidInput(f"{type(owner).__name__}: `{name}` must be in [0, 1], got {got} at {where}.")
    return array.astype(np.float64)


_CELLS = 40960  # one block: 4096 rounds of ten actions, a third of a megabyte
TOLERANCE = 1e-12  # a drift or variance may exceed what is possible by this share, because of rounding


class PathPreview:
    """The means of a path in one run."""

    def __init__(self, path: Path, n_rounds: int, generator: np.random.Generator) -> None:
        self.n_rounds = n_rounds
        self.n_actions = path.n_actions
        self._path = path
        self._generator = generator
        self._length = min(max(1, _CELLS // self.n_actions), n_rounds)  # rounds of a block

    def start(self) -> MeanStream:
        """Return the stream of means from the first round; every call gives the same means."""
        return self._path.start(self.n_rounds, _copied(self._generator))

    def blocks(self) -> Iterator[Matrix]:
        """Yield the means in blocks; each block overwrites the last."""
        stream, room = self.start(), np.empty((self._length, self.n_actions))
        for n in self._lengths():
            stream.fill(room[:n])
            yield room[:n]

    def span(self) -> tuple[float, float]:
        """Return the lowest and the highest mean of the path."""
        extremes = [(block.min(), block.max()) for block in self.blocks()]
        return float(min(low for low, _ in extremes)), float(max(high for _, high in extremes))

    def variance(self, noise: Noise) -> float:
        """Return the total variance of this path with a noise."""
        total = np.zeros(2)
        for block in self.blocks():
            add_all(total, noise.moments(block)[1])
        return summed(total)

    def measures(self, noise: Noise) -> Measures:
        """Return the measures of this path with a noise."""
        return self.measured(noise, room=0)[0]

    def measured(self, noise: Noise, room: int) -> tuple[Measures, MeanStream | None]:
        """Return the measures, and the means as a stream, or None if they take more than `room` bytes."""
        accumulator, stored = MeasuresAccumulator(self.n_actions), _StoredMeans()
        for means, lengths in self._walk(room):
            if lengths is None:
                accumulator.update(*noise.moments(means))
            else:
                accumulator.repeat(*noise.moments(means), lengths)
            room -= means.nbytes
            if room >= 0:
                stored.append(means, lengths)
            else:
                stored = _StoredMeans()
        return accumulator.measures(), stored if room >= 0 else None

    def _walk(self, room: int) -> Iterator[tuple[Matrix, Actions | None]]:
        """Yield constant stretches, or blocks of means if there are none; an array is reused unless all fit `room`."""
        stream = self.start()
        reused = None if 8 * self.n_rounds * self.n_actions <= room else np.empty((self._length, self.n_actions))
        for n in self._lengths():
            stretches = stream.constant_stretches(n)
            if stretches is not None:
                yield stretches
                continue
            block = np.empty((n, self.n_actions)) if reused is None else reused[:n]
            stream.fill(block)
            yield block, None

    def _lengths(self) -> Iterator[int]:
        for first in range(0, self.n_rounds, self._length):
            yield min(self._length, self.n_rounds - first)


class _StoredMeans(MeanStream):
    """Means computed before; each block is released after it was read."""

    def __init__(self) -> None:
        self._blocks: deque[tuple[Matrix, Actions | None]] = deque()
        self._rows = np.empty((0, 0))  # the unread rows of the current block

    def append(self, means: Matrix, lengths: Actions | None) -> None:
        self._blocks.append((means, lengths))

    def fill(self, means: Matrix) -> None:
        done = 0
        while done < len(means):
            if not len(self._rows):
                rows, lengths = self._blocks.popleft()
                self._rows = rows if lengths is None else np.repeat(rows, lengths, axis=0)
            n = min(len(self._rows), len(means) - done)
            means[done : done + n] = self._rows[:n]
            self._rows = self._rows[n:]
            done += n


def _copied(generator: np.random.Generator) -> np.random.Generator:
    """Return a generator in the same state; `copy.deepcopy` takes three times as long."""
    bits = type(generator.bit_generator)(0)
    bits.state = generator.bit_generator.state
    return np.random.Generator(bits)


class _ScaledStream(MeanStream):
    def __init__(self, stream: MeanStream, around: float, scale: float) -> None:
        self._stream = stream
        self._around = around
        self._scale = scale

    def fill(self, means: Matrix) -> None:
        self._stream.fill(means)
        self._rescale(means)

    def constant_stretches(self, n: int) -> tuple[Matrix, Actions] | None:
        stretches = self._stream.constant_stretches(n)
        if stretches is None:
            return None
        rows = stretches[0].copy()
        self._rescale(rows)
        return rows, stretches[1]

    def _rescale(self, means: Matrix) -> None:
        means -= self._around
        means *= self._scale
        means += self._around
        np.clip(means, 0.0, 1.0, out=means)  # rounding may leave a mean slightly outside


@path("with-drift")
@dataclass(frozen=True)
class WithDrift(Path):
    r"""Path scaled around a level so that its drift has an exact value.

    Parameters
    ----------
    path : Path
        The path to scale ($\mu$), or its spec.
    drift : float
        Drift to reach ($V$), with the jump from $\mu_0 = 0$ to the first means; a finite number >= 0.
    around : float, default 0.5
        Level that scaling leaves unchanged ($c$), in [0, 1].

    Notes
    -----
    $$ \mu'_t = c + a\,(\mu_t - c), \qquad V(a) = c + a\,\Bigl(\max_k \mu_{1,k} - c + S\Bigr), \qquad
       S = \sum_{t \ge 2} \|\mu_t - \mu_{t-1}\|_\infty . $$

    Each run solves $V(a) =$ `drift` for its own path. A drift that needs $a < 0$ or means outside [0, 1] is rejected.

    `drift` refers to the means of the path. A noise that shifts the means (clipped or truncated Gaussian) changes $V$.

    Examples
    --------
    >>> from driftwise.environments import Bernoulli, Environment, RandomWalk
    >>> environment = Environment(RandomWalk(n_actions=3).with_drift(2.0), Bernoulli())
    >>> round(environment.measures(n_rounds=1000, seed=5).drift, 9)
    2.0
    """

    path: Path
    drift: float
    around: float = 0.5
    n_actions: int = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "path", as_path(self, self.path))
        object.__setattr__(self, "n_actions", self.path.n_actions)
        require_number(self, "drift", lambda x: 0 <= x < math.inf, "a finite number >= 0")
        require_number(self, "around", lambda x: 0 <= x <= 1, "in [0, 1]")

    def start(self, n_rounds: int, generator: np.random.Generator) -> MeanStream:
        """Return the means of a run, scaled; reject a drift that its path cannot have."""
        scale = self._solve(PathPreview(self.path, n_rounds, generator))
        return _ScaledStream(self.path.start(n_rounds, generator), self.around, scale)

    def _solve(self, preview: PathPreview) -> float:
        drift = preview.measures(Deterministic()).drift
        lowest, highest = preview.span()
        below, above = self.around - lowest, highest - self.around
        widest = min(
            self.around / below if below > 0 else math.inf, (1 - self.around) / above if above > 0 else math.inf
        )
        if self.drift == drift:
            return 1.0
        slope = drift - self.around  # V(1) - V(0)
        scale = (self.drift - self.around) / slope if slope else math.nan
        if not 0 <= scale <= widest * (1 + TOLERANCE):
            reach = self.around + widest * slope if slope else self.around
            least, most = sorted((self.around, reach))
            raise rejection(self, "drift", f"in [{least}, {most}] on this path", self.drift)
        return min(scale, widest)
