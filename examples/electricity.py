"""Electricity demand, hour by hour: seven models forecast the next hour, a mixture weighs them.

The demand of Victoria, Australia, comes with statsmodels, which also has the models. They are fitted to the first five
weeks; then each forecasts one hour ahead from the hours before. Run: python examples/electricity.py [FOLDER]
"""

import sys
import warnings
from pathlib import Path

import numpy as np
import pandas as pd
import statsmodels
from statsmodels.tsa.api import ARIMA, AutoReg, ExponentialSmoothing

from driftwise.forecasting import combine
from driftwise.forecasting.running_report import report_of

DAY, WEEK = 24, 168  # hours
N_FIT = 5 * WEEK
FILE = Path(statsmodels.__file__).parent / "tsa/stl/tests/results/mstl_elec_vic.csv"


def demand() -> pd.Series:
    """Return the demand in megawatts, by hour."""
    return pd.read_csv(FILE, parse_dates=["ds"], index_col="ds")["y"].asfreq("h")


def holt_winters(y: pd.Series) -> np.ndarray:
    """Return exponential smoothing of the level and of the 24 hours of the day."""
    season = {"seasonal": "add", "seasonal_periods": DAY}
    fitted = ExponentialSmoothing(y[:N_FIT], **season).fit().params
    start = {"initial_level": fitted["initial_level"], "initial_seasonal": fitted["initial_seasons"]}
    model = ExponentialSmoothing(y, initialization_method="known", **start, **season)
    weights = {name: fitted[name] for name in ("smoothing_level", "smoothing_seasonal")}
    return model.fit(**weights, optimized=False).fittedvalues


def autoregression(y: pd.Series) -> np.ndarray:
    """Return a linear function of the last two hours and of the same hours of the day before."""
    lags = [1, 2, DAY, DAY + 1]
    fitted = AutoReg(y[:N_FIT], lags).fit().params.to_numpy()
    return fitted[0] + np.column_stack([y.shift(lag) for lag in lags]) @ fitted[1:]


def arima(y: pd.Series) -> pd.Series:
    """Return an ARIMA model of the last hours, which does not know the day."""
    return ARIMA(y[:N_FIT], order=(2, 1, 1)).fit().apply(y).predict()


def recent_regression(y: pd.Series, n_hours: int = 3 * DAY) -> np.ndarray:
    """Return a line through the last hour and the same hour of yesterday, fitted anew to the last three days."""
    inputs = np.column_stack([np.ones(len(y)), y.shift(1), y.shift(DAY)])
    forecasts = np.full(len(y), np.nan)
    for t in range(DAY + n_hours, len(y)):
        past = slice(t - n_hours, t)
        forecasts[t] = inputs[t] @ np.linalg.lstsq(inputs[past], y.to_numpy()[past], rcond=None)[0]
    return forecasts


def forecasts(y: pd.Series) -> pd.DataFrame:
    """Return the forecasts of all models after the weeks of the fit; that of an hour knows the hours before it."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # the fits of statsmodels warn about their starting values
        table = {
            "yesterday": y.shift(DAY),
            "last week": y.shift(WEEK),
            "mean of 3 hours": y.rolling(3).mean().shift(1),
            "Holt-Winters": holt_winters(y),
            "autoregression": autoregression(y),
            "ARIMA": arima(y),
            "recent regression": recent_regression(y),
        }
    return pd.DataFrame(table, index=y.index)[N_FIT:]


def main(folder: Path) -> None:
    y = demand()
    models = forecasts(y)
    result = combine(models.assign(demand=y), "demand", experts=list(models))
    weights = result[[f"weight_{name}" for name in models]]
    report = report_of(
        list(models), "square", models, result["demand"], result["forecast"], weights, times=models.index.astype(str)
    )
    print(report.text())
    folder.mkdir(parents=True, exist_ok=True)
    report.plot(folder / "electricity.png")
    print(f"\nThe picture is in {folder / 'electricity.png'}.")


if __name__ == "__main__":
    main(Path(sys.argv[1] if len(sys.argv) > 1 else "out"))
