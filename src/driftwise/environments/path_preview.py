"""Computes the means of a run in advance, block by block, to measure them or to solve for a parameter."""

from __future__ import annotations

from collections import deque
from collections.abc import Iterator
from typing import TYPE_CHECKING

import numpy as np

from driftwise.core.measures import Measures
from driftwise.core.types import Actions, Matrix
from driftwise.environments.measures_accumulator import MeasuresAccumulator, add_all, summed
from driftwise.environments.paths.path import MeanStream

if TYPE_CHECKING:
    from driftwise.environments.noises.noise import Noise
    from driftwise.environments.paths.path import Path

__all__ = ["TOLERANCE", "PathPreview"]

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
