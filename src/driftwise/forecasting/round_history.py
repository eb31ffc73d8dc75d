"""The latest rounds of a mixture: what was forecast, with which weights, and what came true."""

from __future__ import annotations

from typing import Any

import numpy as np

from driftwise.core.types import Matrix, Vector

__all__ = ["RoundHistory"]

_FIRST_SIZE = 64


class RoundHistory:
    """Arrays of the latest rounds, in the order in which their truths arrived."""

    def __init__(self, n_experts: int, most: int) -> None:
        self.most = most
        self.n_rounds = 0  # all, also those no longer kept
        self._kept = 0
        self._inputs, self._weights = (np.empty((_FIRST_SIZE, n_experts)) for _ in range(2))
        self._truths, self._combined = (np.empty(_FIRST_SIZE) for _ in range(2))

    def add(self, inputs: Vector, weights: Vector, truth: float, combined: float) -> None:
        """Add a round."""
        self.n_rounds += 1
        if self.most == 0:
            return
        if self._kept == len(self._truths):
            self._make_room()
        i = self._kept
        self._inputs[i], self._weights[i], self._truths[i], self._combined[i] = inputs, weights, truth, combined
        self._kept += 1

    def _make_room(self) -> None:
        """Drop what is older than the latest rounds, or double the arrays; they are at most twice as long."""
        first = max(0, self._kept - self.most)
        size = max(_FIRST_SIZE, 2 * (self._kept - first))
        for name in ("_inputs", "_weights", "_truths", "_combined"):
            old = getattr(self, name)
            new = np.empty((size, *old.shape[1:]))
            new[: self._kept - first] = old[first : self._kept]
            setattr(self, name, new)
        self._kept -= first

    @property
    def _first(self) -> int:
        return max(0, self._kept - self.most)

    @property
    def inputs(self) -> Matrix:
        """The forecasts of all experts, also of those added; NaN where one was missing."""
        return self._inputs[self._first : self._kept]

    @property
    def weights(self) -> Matrix:
        """The weights that were played."""
        return self._weights[self._first : self._kept]

    @property
    def truths(self) -> Vector:
        """The truths; NaN where one was missing."""
        return self._truths[self._first : self._kept]

    @property
    def combined(self) -> Vector:
        """The combined forecasts."""
        return self._combined[self._first : self._kept]

    def arrays(self) -> dict[str, np.ndarray[Any, Any]]:
        """Return the kept rounds by name."""
        return {name: getattr(self, name) for name in ("inputs", "weights", "truths", "combined")}

    def insert_expert(self, place: int) -> None:
        """Add an expert that was missing in all rounds."""
        self._inputs = np.insert(self._inputs, place, np.nan, axis=1)
        self._weights = np.insert(self._weights, place, 0.0, axis=1)
