"""A path of means walked through before it is played, block by block, as often as a budget needs."""

from __future__ import annotations

import copy
from collections.abc import Iterator
from typing import TYPE_CHECKING

import numpy as np

from driftwise.core.measures import Measures
from driftwise.core.types import Matrix
from driftwise.environments.measuring import MeasureMeter, add_all, summed

if TYPE_CHECKING:
    from driftwise.environments.laws.base import Noise
    from driftwise.environments.means.base import MeanStream, Path

__all__ = ["SLACK", "Rehearsal"]

_CELLS = 40960  # one block: 4096 rounds of ten actions, a third of a megabyte
SLACK = 1e-12  # a budget may overshoot what is possible by this share: it is rounding, not a wish


class Rehearsal:
    """The means that a path will take in one run."""

    def __init__(self, path: Path, n_rounds: int, generator: np.random.Generator) -> None:
        self.n_rounds = n_rounds
        self.n_actions = path.n_actions
        self._path = path
        self._generator = generator

    def start(self) -> MeanStream:
        """Return the stream, each time from the beginning: every call starts from the same generator."""
        return self._path.start(self.n_rounds, copy.deepcopy(self._generator))

    def blocks(self) -> Iterator[Matrix]:
        """Walk through the path; each block overwrites the last."""
        stream = self.start()
        length = max(1, _CELLS // self.n_actions)
        room = np.empty((min(length, self.n_rounds), self.n_actions))
        for first in range(0, self.n_rounds, length):
            block = room[: self.n_rounds - first]
            stream.fill(block)
            yield block

    def span(self) -> tuple[float, float]:
        """Return the lowest and the highest mean of the path."""
        extremes = [(block.min(), block.max()) for block in self.blocks()]
        return float(min(low for low, _ in extremes)), float(max(high for _, high in extremes))

    def variance(self, noise: Noise) -> float:
        """Return the total variance that a noise would give this path."""
        total = np.zeros(2)
        for block in self.blocks():
            add_all(total, noise.moments(block)[1])
        return summed(total)

    def measures(self, noise: Noise) -> Measures:
        """Return the measures of this path under a noise."""
        meter = MeasureMeter(self.n_actions)
        for block in self.blocks():
            meter.update(*noise.moments(block))
        return meter.measures()
