"""Time `combine` on a million rows, and the reading of the forecasts of one live round.

    python benchmarks/forecast_frames.py

Times of `combine` are of the processor, so that other programs on the machine hardly matter.
"""

from __future__ import annotations

import time
import timeit
from typing import Any

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa

from driftwise.forecasting import combine
from driftwise.forecasting.labelled_values import as_forecasts

N_SERIES, N_ROUNDS, N_EXPERTS = 1000, 1000, 10
NAMES = tuple(f"expert {k}" for k in range(N_EXPERTS))


def columns(n_series: int) -> dict[str, Any]:
    """Return the columns of a wide frame in Nixtla's layout."""
    random = np.random.default_rng(0)
    truths = random.normal(size=n_series * N_ROUNDS).cumsum()
    days = np.datetime64("2020-01-01", "us") + np.arange(N_ROUNDS) * np.timedelta64(1, "D")
    return {
        "unique_id": [f"series {i}" for i in range(n_series) for _ in range(N_ROUNDS)],
        "ds": np.tile(days, n_series),
        "y": truths,
        **{name: truths + random.normal(size=truths.size) for name in NAMES},
    }


def seconds(frame: Any, **arguments: Any) -> float:
    """Return the time of the processor that `combine` takes."""
    start = time.process_time()
    combine(frame, **arguments)
    return time.process_time() - start


def main() -> None:
    combine(pl.DataFrame(columns(1)))  # compiles
    data = columns(N_SERIES)
    print(f"combine, {N_SERIES * N_ROUNDS:,} rows of {N_EXPERTS} experts")
    for library, make in {"pandas": pd.DataFrame, "polars": pl.DataFrame, "pyarrow": pa.table}.items():
        print(f"  {library}, {N_SERIES} series: {seconds(make(data)):.1f} s")
    wide = pl.DataFrame(data)
    print(f"  polars, one series: {seconds(wide.drop('unique_id', 'ds')):.1f} s")
    long = wide.head(N_SERIES * N_ROUNDS // 10).unpivot(
        index=["unique_id", "ds", "y"], variable_name="model", value_name="value"
    )
    took = seconds(long, time="ds", expert="model", forecast="value")
    print(f"  polars, long, {len(long):,} rows: {took:.1f} s")
    print(f"the forecasts of one round, {N_EXPERTS} experts")
    values = dict(zip(NAMES, range(N_EXPERTS), strict=True))
    forms = {"array": np.arange(10.0), "dict": values, "pandas Series": pd.Series(values, dtype=float)}
    for form, value in forms.items():
        took = (
            min(timeit.repeat(lambda value=value: as_forecasts("Mixture", value, NAMES), number=2000, repeat=5)) / 2000
        )
        print(f"  {form}: {took * 1e6:.1f} us")


if __name__ == "__main__":
    main()
