"""The rows from which the best convex combination is computed, for losses whose sums do not suffice."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, ClassVar

import numpy as np

from driftwise.core.errors import rejection
from driftwise.core.types import Matrix, Vector
from driftwise.forecasting.report_sums import SCORED, Losses, Rows, Sums

__all__ = ["KeptRows"]

_MOST_ROWS, _MOST_NUMBERS = 100_000, 10_000_000
_FIRST_SPACE = 64  # rows


class KeptRows:
    """All scored rows, a missing forecast replaced by that of the mixture; none at all once they are too many."""

    FIELDS: ClassVar[tuple[str, str]] = ("kept_forecasts", "kept_truths")

    def __init__(self, n_experts: int, wanted: bool) -> None:
        self.most = min(_MOST_ROWS, _MOST_NUMBERS // n_experts) if wanted else 0
        self.n_scored = 0
        self._forecasts = np.empty((0, n_experts))
        self._truths = np.empty(0)

    @property
    def complete(self) -> bool:
        """Whether all scored rows are kept."""
        return self.n_scored <= self.most

    @property
    def forecasts(self) -> Matrix:
        """The forecasts of the scored rows; empty if they are not complete."""
        return self._forecasts[: self.n_scored if self.complete else 0]

    @property
    def truths(self) -> Vector:
        """Their truths."""
        return self._truths[: self.n_scored if self.complete else 0]

    def add(self, rows: Rows, losses: Losses) -> None:
        """Add the scored rows of a block."""
        if not self.complete or not self.most:
            return
        scored = np.isfinite(losses.mixture) & ~np.isnan(losses.uniform)
        first, self.n_scored = self.n_scored, self.n_scored + int(scored.sum())
        if not self.complete:
            self._forecasts, self._truths = self._forecasts[:0].copy(), self._truths[:0].copy()
            return
        space = len(self._truths)
        if self.n_scored > space:
            more = min(self.most, max(self.n_scored, 2 * space, _FIRST_SPACE)) - space
            self._forecasts = np.concatenate([self._forecasts, np.empty((more, self._forecasts.shape[1]))])
            self._truths = np.concatenate([self._truths, np.empty(more)])
        given = rows.forecasts[scored]
        self._forecasts[first : self.n_scored] = np.where(np.isnan(given), rows.combined[scored, None], given)
        self._truths[first : self.n_scored] = rows.truths[scored]

    def arrays(self) -> dict[str, Any]:
        """Return copies of the arrays, for a checkpoint."""
        return dict(zip(self.FIELDS, (self.forecasts.copy(), self.truths.copy()), strict=True))

    def restored(self, owner: object, arrays: Mapping[str, Any], sums: Sums) -> KeptRows:
        """Return the rows of a checkpoint whose sums are checked; raise if these arrays break a rule."""
        found = KeptRows(self._forecasts.shape[1], wanted=self.most > 0)
        found.n_scored = int(sums.series_counts[:, SCORED].sum()) if self.most else 0
        n_rows = found.n_scored if found.complete else 0
        shapes = ((n_rows, self._forecasts.shape[1]), (n_rows,))
        for name, shape in zip(self.FIELDS, shapes, strict=True):
            array = arrays[name]
            fits = isinstance(array, np.ndarray) and array.dtype == np.float64 and array.shape == shape
            if not fits or not np.isfinite(array).all():
                raise rejection(owner, name, f"finite float64 of shape {shape}", array)
        found._forecasts, found._truths = (np.array(arrays[name], order="C") for name in self.FIELDS)
        return found
