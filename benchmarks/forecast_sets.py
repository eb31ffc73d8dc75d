"""How each data set becomes forecasts and truths: the columns of its file, and the models that are its experts."""

from __future__ import annotations

import io
import re
import zipfile
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import NamedTuple

import numpy as np
import pandas as pd
from forecasters import (
    arima,
    autoregression,
    average,
    exponential,
    filled,
    holt_winters,
    lagged,
    regression,
    same_season,
    theta,
)

from driftwise.core.types import Matrix, Vector

__all__ = [
    "ForecastData",
    "beijing",
    "car_parks",
    "electricity",
    "half_hours",
    "petroleum",
    "pollsters",
    "seattle",
    "water",
    "wind",
]


class ForecastData(NamedTuple):
    """Forecasts of several experts, and the truths, of one or more series; rows in order of time."""

    names: tuple[str, ...]  # the experts
    forecasts: Matrix  # (T, K), NaN = missing
    truths: Vector  # (T,), NaN = missing
    series: np.ndarray  # (T,) int64, which series each row belongs to
    n_series: int


Models = Mapping[str, Vector]


def _one(truths: Vector, models: Models, first: int) -> ForecastData:
    """Return one series from round `first` on; before it, models are fitted."""
    forecasts = np.column_stack(list(models.values()))[first:]
    return ForecastData(tuple(models), forecasts, truths[first:], np.zeros(len(forecasts), dtype=np.int64), 1)


def _panel(tables: Iterator[tuple[Vector, Vector, Models]], first: int) -> ForecastData:
    """Return several series: the times, truths and models of each, from its round `first` on."""
    times, series, truths, forecasts, names = [], [], [], [], ()
    for when, values, models in tables:
        times.append(when[first:])
        truths.append(values[first:])
        forecasts.append(np.column_stack(list(models.values()))[first:])
        series.append(np.full(len(truths[-1]), len(series), dtype=np.int64))
        names = tuple(models)
    order = np.argsort(np.concatenate(times), kind="stable")
    rows = (np.concatenate(parts)[order] for parts in (forecasts, truths, series))
    return ForecastData(names, *rows, len(series))


def _hourly(truths: Vector, n_fit: int) -> dict[str, Vector]:
    """Return models of an hourly series."""
    past = filled(truths)
    return {
        "same hour yesterday": lagged(past, 24),
        "same hour last week": lagged(past, 168),
        "mean of the hour, 7 days": same_season(past, 24, 7),
        "mean of 3 hours": average(past, 3),
        "exponential 0.3": exponential(past, 0.3),
        "Holt-Winters, day": holt_winters(past, 24, n_fit),
        "AR(1, 2, 24, 25)": autoregression(past, (1, 2, 24, 25), n_fit),
        "ARIMA(2, 1, 1)": arima(past, (2, 1, 1), n_fit),
        "regression, 4 weeks": regression(past, (1, 2, 24, 25), 672),
        "regression, 3 days": regression(past, (1, 24), 72),
    }


def pollsters(file: Path) -> ForecastData:
    """Return five pollsters; all forecasts are theirs."""
    table = pd.read_csv(file)
    names = ("gallup", "ipsos", "morning_consult", "rasmussen", "you_gov")
    return _one(table["five_thirty_eight"].to_numpy(float), {name: table[name].to_numpy(float) for name in names}, 0)


def electricity(file: Path) -> ForecastData:
    """Return models of the demand."""
    truths = pd.read_csv(file)["y"].to_numpy(float)
    return _one(truths, _hourly(truths, n_fit=840), first=840)


def water(file: Path) -> ForecastData:
    """Return models of the flow; hours that the file leaves out are missing truths."""
    table = pd.read_csv(file)
    times = pd.to_datetime(table["Time"], utc=True)
    hours = pd.Series(table["Water flow [l/s]"].to_numpy(float), times).asfreq("h")
    truths = hours.to_numpy()
    past = filled(truths)
    models = {
        "same hour yesterday": lagged(past, 24),
        "mean of the hour, 3 days": same_season(past, 24, 3),
        "mean of 3 hours": average(past, 3),
        "exponential 0.5": exponential(past, 0.5),
        "Holt-Winters, day": holt_winters(past, 24, 240),
        "AR(1, 2, 24, 25)": autoregression(past, (1, 2, 24, 25), 240),
        "ARIMA(2, 0, 1)": arima(past, (2, 0, 1), 240),
        "regression, 1 week": regression(past, (1, 2, 24, 25), 168),
    }
    return _one(truths, models, first=240)


def seattle(file: Path) -> ForecastData:
    """Return models of the temperature."""
    truths = pd.read_csv(file)["temp_max"].to_numpy(float)
    models = {
        "same day last year": lagged(truths, 365),
        "mean of 3 days": average(truths, 3),
        "mean of 7 days": average(truths, 7),
        "exponential 0.2": exponential(truths, 0.2),
        "exponential 0.5": exponential(truths, 0.5),
        "theta 0.3": theta(truths, 0.3),
        "AR(1, 2, 3)": autoregression(truths, (1, 2, 3), 200),
        "ARIMA(1, 1, 1)": arima(truths, (1, 1, 1), 200),
        "regression, 60 days": regression(truths, (1, 2), 60),
    }
    return _one(truths, models, first=200)


def _weekly(truths: Vector, n_fit: int) -> dict[str, Vector]:
    """Return models of a weekly series."""
    return {
        "same week last year": lagged(truths, 52),
        "mean of 4 weeks": average(truths, 4),
        "mean of 13 weeks": average(truths, 13),
        "exponential 0.2": exponential(truths, 0.2),
        "exponential 0.6": exponential(truths, 0.6),
        "theta 0.5": theta(truths, 0.5),
        "Holt": holt_winters(truths, 1, n_fit, trend=True),
        "AR(1, 2, 52)": autoregression(truths, (1, 2, 52), n_fit),
        "regression, 1 year": regression(truths, (1, 2), 52),
    }


def petroleum(file: Path) -> ForecastData:
    """Return models of each weekly series."""
    with zipfile.ZipFile(file) as archive:
        table = pd.read_csv(io.BytesIO(archive.read(archive.namelist()[0])))
    days = pd.to_datetime(table["datetime"]).to_numpy()
    table = table.assign(day=(days - days.min()) / np.timedelta64(1, "D"))

    def tables() -> Iterator[tuple[Vector, Vector, Models]]:
        for _, rows in table.groupby("series_id"):
            ordered = rows.sort_values("day")
            truths = ordered["value"].to_numpy(float)
            yield ordered["day"].to_numpy(float), truths, _weekly(filled(truths), n_fit=156)

    return _panel(tables(), first=156)


def car_parks(file: Path) -> ForecastData:
    """Return models of each car park."""
    table = pd.read_csv(file).drop_duplicates(["SystemCodeNumber", "LastUpdated"])
    times = pd.to_datetime(table["LastUpdated"])
    table = table.assign(when=(times - times.min()).dt.total_seconds())
    a_day = 18  # records, every half hour from 8:00 to 16:30

    def tables() -> Iterator[tuple[Vector, Vector, Models]]:
        for _, rows in table.groupby("SystemCodeNumber"):
            ordered = rows.sort_values("when")
            truths = ordered["Occupancy"].to_numpy(float)
            if len(truths) < 10 * a_day:  # two car parks with records of a few days
                continue
            n_fit = 5 * a_day
            yield (
                ordered["when"].to_numpy(float),
                truths,
                {
                    "same time yesterday": lagged(truths, a_day),
                    "same time a week ago": lagged(truths, 7 * a_day),
                    "mean of the time, 5 days": same_season(truths, a_day, 5),
                    "mean of 2": average(truths, 2),
                    "exponential 0.7": exponential(truths, 0.7),
                    "Holt-Winters, day": holt_winters(truths, a_day, n_fit),
                    "AR(1, 2, day)": autoregression(truths, (1, 2, a_day), n_fit),
                    "regression, 5 days": regression(truths, (1, 2, a_day, a_day + 1), 5 * a_day),
                },
            )

    return _panel(tables(), first=5 * a_day)


def half_hours(file: Path) -> ForecastData:
    """Return models of the demand."""
    # The module holds the numbers as text of a NumPy array; it is read, not imported, as pmdarima needs scikit-learn.
    numbers = re.search(r"np\.array\(\[(.*?)\]", file.read_text(), re.DOTALL)
    assert numbers is not None
    truths = np.array([float(value) for value in numbers[1].replace("\n", " ").split(",") if value.strip()])
    models = {
        "same time yesterday": lagged(truths, 48),
        "same time last week": lagged(truths, 336),
        "mean of the time, 2 weeks": same_season(truths, 336, 2),
        "mean of 2": average(truths, 2),
        "Holt-Winters, day": holt_winters(truths, 48, 672),
        "Holt-Winters, week": holt_winters(truths, 336, 672),
        "AR(1, 2, 48, 336)": autoregression(truths, (1, 2, 48, 336), 672),
        "ARIMA(3, 1, 2)": arima(truths, (3, 1, 2), 672),
        "regression, 1 week": regression(truths, (1, 2, 48, 49), 336),
    }
    return _one(truths, models, first=672)


def beijing(file: Path) -> ForecastData:
    """Return models of the dust."""
    truths = pd.read_csv(file)["pm2.5"].to_numpy(float)
    return _one(truths, _hourly(truths, n_fit=1000), first=1000)


def wind(file: Path) -> ForecastData:
    """Return models of the power."""
    truths = pd.read_csv(file)["y"].to_numpy(float)
    return _one(truths, _hourly(truths, n_fit=840), first=840)
