"""Births per woman in 200 countries, year by year: five simple models, and one mixture for each country.

The numbers of the World Bank come with statsmodels. Some countries have years without a number: in those years the
mixture of the country forecasts and learns nothing. Run: python examples/fertility.py [FOLDER]
"""

import sys
from pathlib import Path

import numpy as np
import pandas as pd
from statsmodels.datasets import fertility

from driftwise.forecasting import combine
from driftwise.forecasting.running_report import report_of


def births() -> pd.DataFrame:
    """Return the births per woman: a row for each year, a column for each country with at least 20 years."""
    table = fertility.load_pandas().data.set_index("Country Name")
    years = table.loc[:, "1960":"2011"].T.astype(float)
    return years.loc[:, years.notna().sum() >= 20].rename_axis(index="year", columns="country")


def line(past: np.ndarray) -> float:
    """Return the next point of the line through some points."""
    t = np.arange(len(past)) - len(past)
    slope = np.cov(t, past)[0, 1] / t.var(ddof=1)
    return past.mean() - slope * t.mean()


def forecasts(truths: pd.DataFrame) -> dict[str, pd.DataFrame]:
    """Return the forecasts of each model; that of a year knows the years before it."""
    past = truths.ffill().shift(1)  # the last known number of each country
    step = past.diff()
    return {
        "no change": past,
        "same change again": past + step,
        "half the change": past + step / 2,
        "mean change of 10 years": past + step.rolling(10, min_periods=3).mean(),
        "line through 5 years": past.rolling(5).apply(line, raw=True),
    }


def long(tables: dict[str, pd.DataFrame]) -> pd.DataFrame:
    """Return tables of years and countries as the columns of one frame, a row for each country and year."""
    return pd.DataFrame({name: table.T.stack(future_stack=True) for name, table in tables.items()}).reset_index()


def main(folder: Path) -> None:
    truths = births()
    models = forecasts(truths)
    frame = long({"births": truths, **models})
    frame = frame[frame["year"] >= "1965"]  # from then on, most models have enough years
    result = combine(frame, "births", experts=list(models), time="year", by="country")
    weights = result[[f"weight_{name}" for name in models]]
    series = pd.factorize(frame["country"])[0]
    report = report_of(
        *(list(models), "square", frame[list(models)], frame["births"], result["forecast"], weights),
        series=series,
        times=frame["year"].tolist(),
    )
    print(report.text())
    folder.mkdir(parents=True, exist_ok=True)
    report.plot(folder / "fertility.png")
    print(f"\nThe picture is in {folder / 'fertility.png'}.")


if __name__ == "__main__":
    main(Path(sys.argv[1] if len(sys.argv) > 1 else "out"))
