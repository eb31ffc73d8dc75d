"""The mixtures of the series of a table: weights, running sums of the report, and the order of times."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import numpy as np

from driftwise.core.types import Actions
from driftwise.forecasting.mixture_stack import Combined, MixtureStack
from driftwise.forecasting.options import MixtureOptions
from driftwise.forecasting.running_report import RunningReport
from driftwise.forecasting.tables.checkpoints import part
from driftwise.forecasting.tables.row_blocks import Block
from driftwise.forecasting.tables.series_names import SeriesNames
from driftwise.forecasting.tables.table_columns import ColumnChoice
from driftwise.forecasting.tables.time_order import TimeOrder

__all__ = ["TableMixtures"]

Array = np.ndarray[Any, Any]


class TableMixtures:
    """What is carried from block to block of a table; without a column of series there is one."""

    def __init__(self, options: MixtureOptions, choice: ColumnChoice) -> None:
        self._options, self._choice = options, choice
        self._series = None if choice.by is None else SeriesNames(choice.by)
        self._order = None if choice.time is None else TimeOrder(choice.time)
        n_series = 1 if choice.by is None else 0
        self._stack = MixtureStack(options, len(choice.experts), n_series)
        self._names = options.names(choice.experts)
        self._report = RunningReport(self._names, options.forecast_loss, n_series)
        self._awake = np.zeros(len(choice.experts), bool)

    @property
    def n_series(self) -> int:
        """The number of series so far."""
        return 1 if self._series is None else len(self._series)

    @property
    def time_kind(self) -> str:
        """How times are compared, '' before the first."""
        return "" if self._order is None else self._order.kind

    @property
    def sleepers(self) -> list[str]:
        """The experts without any forecast so far."""
        return [name for name, awake in zip(self._choice.experts, self._awake, strict=True) if not awake]

    def run(self, block: Block, n_threads: int) -> tuple[Combined, Actions | None]:
        """Play the rows of a block; return the forecasts and weights, and the series of each row."""
        series = None if self._series is None else self._series.numbers(block)
        if self._order is not None:
            self._order.check(block, series, self.n_series)
        missing = self.n_series - self._stack.n_series
        if missing > 0:  # room for more, so that series that appear one by one do not cost a copy of all each
            self._stack.add_series(max(missing, self._stack.n_series // 2))
        self._awake |= ~np.isnan(block.forecasts).all(axis=0)
        return self._stack.run(block.forecasts, block.truths, series, n_threads), series

    def score(self, block: Block, combined: Combined, series: Actions | None) -> None:
        """Add the rows of a block to the report; blocks must come in order, but may come later than they are run."""
        if series is not None and (n_series := int(series.max()) + 1) > self._report.n_series:
            self._report.add_series(n_series - self._report.n_series)
        self._report.add(combined.inputs, block.truths, combined.combined, combined.weights, series, block.time)

    def report(self) -> Any:
        """Return the report on all rows so far."""
        found = self._report.report(self._stack.cuts)
        return found if self._series is None else replace(found, series_names=self._series.names)

    def arrays(self) -> dict[str, Array]:
        """Return all arrays, for a checkpoint."""
        parts: dict[str, Mapping[str, Array]] = {"stack": self._stack.arrays(), "report": self._report.arrays()}
        if self._series is not None:
            parts["series"] = self._series.arrays()
        if self._order is not None:
            parts["times"] = self._order.arrays()
        named = {f"{name}.{inner}": array for name, arrays in parts.items() for inner, array in arrays.items()}
        return {**named, "awake": self._awake}

    def set_arrays(self, arrays: Mapping[str, Array], time_kind: str) -> None:
        """Continue from what `arrays` returned; raise `ValueError` or `KeyError` for anything else."""
        if self._series is not None:
            self._series.set_arrays(part(arrays, "series"))
        if self._order is not None:
            self._order.set_arrays(time_kind, part(arrays, "times"), self.n_series)
        self._stack.set_arrays(part(arrays, "stack"))
        if self._stack.n_series < self.n_series:
            raise ValueError("there are fewer mixtures than series")
        self._report = RunningReport(self._names, self._options.forecast_loss, self.n_series)
        self._report.set_arrays(part(arrays, "report"))
        if arrays["awake"].dtype != bool or arrays["awake"].shape != self._awake.shape:
            raise ValueError("the flags of the experts have another shape")
        self._awake = arrays["awake"].copy()
