"""A report on a stream of rounds, in memory that does not grow with the rounds: `RunningReport`."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from driftwise.core.errors import InvalidInput, rejection
from driftwise.core.validation import as_losses, count
from driftwise.forecasting.forecast_report import ForecastReport
from driftwise.forecasting.losses import ForecastLoss, forecast_loss
from driftwise.forecasting.real_values import LARGEST
from driftwise.forecasting.report_numbers import MOST_COMBINED, report_of_sums
from driftwise.forecasting.report_parts import Cuts
from driftwise.forecasting.report_sums import (
    N_FAULTS,
    PER_SERIES,
    ROUNDS,
    KeptRows,
    Losses,
    PeriodTimes,
    Rows,
    Sums,
    add_rows,
    empty_sums,
    first_fault,
    prepare_rows,
)

__all__ = ["RunningReport", "report_of"]

_BLOCK = 4096  # rows that are added at once: their losses stay in the processor's cache
_NUMBERS = f"in [-{LARGEST:g}, {LARGEST:g}] or NaN (missing)"
_FAULTS = (
    ("forecasts", _NUMBERS),
    ("truths", _NUMBERS),
    ("combined", _NUMBERS),
    ("weights", f"in [0, {LARGEST:g}]"),
    ("series", "from 0 to the number of series - 1"),
)


class RunningReport:
    """Running sums of a mixture of forecasts, from which a `ForecastReport` is made at any time.

    Memory is proportional to the series and the experts, not to the rounds. For the best convex combination, the square
    of the experts is added for the square loss, and up to 100,000 rows for other losses; with more than 1,000 experts
    it is not computed. The report does not depend on how the rows are
    divided into blocks, bit for bit.

    Parameters
    ----------
    names : sequence of str
        Names of the experts, one for each column of the forecasts and weights.
    loss : str or ForecastLoss
        The loss, such as "square".
    n_series : int, default 1
        Number of series.

    Examples
    --------
    >>> running = RunningReport(["low", "high"], "absolute")
    >>> running.add([[1.0, 3.0], [1.0, float("nan")]], [1.5, 1.5], [2.0, 1.0], [[0.5, 0.5], [1.0, 0.0]])
    >>> running.report()
    ForecastReport(loss='absolute', experts=2, rounds=2, scored=2, mixture=0.5, best_expert='low' 0.5)
    """

    def __init__(self, names: Sequence[str], loss: str | ForecastLoss, n_series: int = 1) -> None:
        self.names = _checked_names(names)
        self.loss = forecast_loss(loss)
        self.n_series = count(self, "n_series", n_series, at_least=0)
        is_square, few = self.loss.name == "square", len(self.names) <= MOST_COMBINED
        self._sums = empty_sums(len(self.names), self.n_series, with_gram=is_square and few)
        self._leasts = self._sums.sequences.min(axis=2)
        self._space = np.empty((2, len(self.names)))
        self._rows = KeptRows(len(self.names), wanted=not is_square and few)
        self._times = PeriodTimes()

    def __repr__(self) -> str:
        n_rounds = int(self._sums.series_counts[:, ROUNDS].sum())
        return f"RunningReport(loss={str(self.loss)!r}, experts={len(self.names)}, rounds={n_rounds})"

    def add(
        self,
        forecasts: Any,
        truths: Any,
        combined: Any,
        weights: Any,
        series: Any = None,
        times: Sequence[Any] | None = None,
    ) -> None:
        """Add a block of rows, one per round of a series.

        Parameters
        ----------
        forecasts : array of shape (n_rows, n_experts)
            Forecasts of the experts, NaN where missing.
        truths : array of shape (n_rows,)
            Truths, NaN where missing.
        combined : array of shape (n_rows,)
            Forecasts of the mixture, NaN where missing.
        weights : array of shape (n_rows, n_experts)
            Weights of the experts, 0 where they are asleep.
        series : array of int64 of shape (n_rows,) or None, default None
            The series of each row, None if all are of the first.
        times : sequence or None, default None
            The time of each row, for the axes of figures: anything with a text. Give it in all blocks or in none.
        """
        rows = self._checked_rows(forecasts, truths, combined, weights, series)
        if times is not None and len(times) != len(rows.truths):
            raise rejection(self, "times", f"as long as the {len(rows.truths)} rows", len(times))
        for first in range(0, len(rows.truths), _BLOCK):
            parts: Any = (part[first : first + _BLOCK] for part in rows)
            block = Rows(*parts)
            prepare_rows(self._sums, block)
            losses = self._losses(block)
            add_rows(self._sums, self._leasts, self._space[0], self._space[1], block, losses)
            self._rows.add(block, losses)
            if times is not None:
                self._times.add(block.rounds, times[first : first + _BLOCK], int(self._sums.exponent[0]))

    def add_series(self, n: int) -> None:
        """Add `n` series at the end."""
        self.n_series += count(self, "n", n, at_least=0)
        space = len(self._leasts)
        if self.n_series <= space:
            return
        more = max(self.n_series, 2 * space) - space  # doubled, so that adding one by one takes constant time each
        empty = empty_sums(len(self.names), more, with_gram=False)
        grown = {name: np.concatenate([getattr(self._sums, name), getattr(empty, name)]) for name in PER_SERIES}
        self._sums = self._sums._replace(**grown)
        self._leasts = self._sums.sequences.min(axis=2)

    def report(self, cuts: tuple[Any, Any] | None = None) -> ForecastReport:
        """Return the report on all rows so far.

        Parameters
        ----------
        cuts : pair or None, default None
            How many losses the mixture cut and their total, as numbers or as arrays of one number per series.
        """
        of_mixture = None if cuts is None else Cuts(int(np.sum(cuts[0])), float(np.sum(cuts[1])))
        return report_of_sums(self.names, self.loss, self._in_use(), self._rows, self._times, of_mixture)

    def _in_use(self) -> Sums:
        """Return the sums without the space for further series."""
        return self._sums._replace(**{name: getattr(self._sums, name)[: self.n_series] for name in PER_SERIES})

    def _losses(self, rows: Rows) -> Losses:
        with np.errstate(all="ignore"):
            values = self.loss.values
            return Losses(
                values(rows.forecasts, rows.truths[:, None]),
                values(rows.combined, rows.truths),
                values(rows.means, rows.truths),
                values(rows.lasts, rows.truths),
            )

    def _checked_rows(self, forecasts: Any, truths: Any, combined: Any, weights: Any, series: Any) -> Rows:
        """Return the rows of a block as arrays; raise if they break a rule."""
        forecasts = as_losses(self, forecasts, (None, len(self.names)), "forecasts")
        n_rows = len(forecasts)
        truths = as_losses(self, truths, (n_rows,), "truths")
        combined = as_losses(self, combined, (n_rows,), "combined")
        weights = as_losses(self, weights, forecasts.shape, "weights")
        if series is None:
            series = np.zeros(n_rows, np.int64)
        series = np.asarray(series)
        if series.shape != (n_rows,) or series.dtype.kind not in "iu":
            rule = f"an array of {n_rows} whole numbers"
            raise rejection(self, "series", rule, f"{series.dtype.name} of shape {series.shape}")
        series = np.require(series, np.int64, ["C", "W", "A"])
        rows = Rows(
            forecasts, truths, combined, weights, series, np.empty(n_rows, np.int64), np.empty(n_rows), np.empty(n_rows)
        )
        fault = first_fault(rows, self.n_series)
        if fault >= 0:
            t, (name, rule) = fault // N_FAULTS, _FAULTS[fault % N_FAULTS]
            raise rejection(self, name, rule, rows[Rows._fields.index(name)][t].tolist(), f"In row {t} of the block.")
        for name, rule in (
            ("forecasts", self.loss.forecast_fault(forecasts)),
            ("truths", self.loss.truth_fault(truths)),
        ):
            if rule:
                raise InvalidInput(f"{type(self).__name__}: `{name}` must be {rule}.")
        return rows


def report_of(
    names: Sequence[str],
    loss: str | ForecastLoss,
    forecasts: Any,
    truths: Any,
    combined: Any,
    weights: Any,
    series: Any = None,
    times: Sequence[Any] | None = None,
    cuts: tuple[Any, Any] | None = None,
) -> ForecastReport:
    """Return the report on some rows; the arguments are those of `RunningReport` and its methods.

    Without series there is one; else there are as many as the largest of them says.
    """
    n_series = 1 if series is None or len(series) == 0 else int(np.max(series)) + 1
    running = RunningReport(names, loss, max(1, n_series))
    running.add(forecasts, truths, combined, weights, series, times)
    return running.report(cuts)


def _checked_names(names: Sequence[str]) -> tuple[str, ...]:
    found = tuple(names)
    if not found or not all(isinstance(name, str) for name in found) or len(set(found)) < len(found):
        raise rejection("RunningReport", "names", "distinct texts, at least one", names)
    return found
