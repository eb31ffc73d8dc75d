"""A report on forecasts as plain values, for JSON."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from driftwise.forecasting.forecast_report import ForecastReport

__all__ = ["report_record"]

_MOST_SERIES = 10_000  # in the table by series


def report_record(report: ForecastReport) -> dict[str, Any]:
    """Return a report as plain values; a number that is not known or infinite is None.

    Means stand beside the totals. The table by series has at most the first 10,000: `series_table` has all.
    """
    counts = ("n_series", "n_rounds", "n_scored", "n_without_truth", "n_without_forecast", "n_without_loss")
    record: dict[str, Any] = {"loss": report.loss, "names": list(report.names)}
    record |= {name: getattr(report, name) for name in counts}
    record["comparators"] = [{**one._asdict(), "mean": one.mean, "ratio": one.ratio} for one in report.comparators]
    record["experts"] = [{**one._asdict(), "mean": one.mean, "ratio": one.ratio} for one in report.experts]
    record["combination"] = report.combination
    record["sequence_losses"] = report.sequence_losses
    record["best_sequence"] = [one._asdict() for one in report.best_sequence()]
    record["periods"] = report.periods._asdict()
    record["series"] = {name: column[:_MOST_SERIES] for name, column in report.series_table().items()}
    record["cuts"] = None if report.cuts is None else report.cuts._asdict()
    plain: dict[str, Any] = _plain(record)
    return plain


def _plain(value: Any) -> Any:
    if isinstance(value, dict):
        return {key: _plain(one) for key, one in value.items()}
    if isinstance(value, np.ndarray):
        return _plain(value.tolist())
    if isinstance(value, (list, tuple)):
        return [_plain(one) for one in value]
    return None if isinstance(value, float) and not math.isfinite(value) else value
