"""Combined quantiles of four usual models beside the best of them and their mean, on series from packages.

    python benchmarks/quantile_forecasts.py            # held_out_forecasts.py names the packages

Before each season (a day of hours, a week of days, a year of months) every model issues the quantiles .05, .25, .5, .75
and .95 for all steps of the season, from the truths up to then:

- climatology: the quantiles of the last 28 seasons at the same step;
- seasonal naive: the last season, plus the quantiles of the errors that it had in the last 28 seasons;
- profile: the mean of the last 7 seasons at the step, plus the quantiles of its own errors in the last 28;
- normal: the last season corrected by half its level, plus normal quantiles with the deviation of its errors.

`combine(..., quantiles=...)` weighs them; the mean of the models averages quantiles of the same level. The CRPS is
twice the mean pinball loss over the levels. Coverage and width are those of the interval from .05 to .95.
"""

from __future__ import annotations

import argparse
import importlib
from collections.abc import Iterator
from typing import NamedTuple

import numpy as np
import pandas as pd
from scipy.special import ndtri

from driftwise.core.types import Matrix, Vector
from driftwise.forecasting import combine
from driftwise.forecasting.losses import Array
from driftwise.report.tables import text_table

LEVELS = (0.05, 0.25, 0.5, 0.75, 0.95)
MODELS = ("climatology", "seasonal naive", "profile", "normal")
SEASONS, WARM_UP, LONGEST_SEASON, LONGEST = 28, 35, 24, 6_000


class Quantiles(NamedTuple):
    """Quantiles of all models: rounds x models x levels; round r is step `r % season` of season `r // season`."""

    name: str
    forecasts: Array
    truths: Vector
    season: int


def package_quantiles() -> Iterator[Quantiles]:
    """Yield the quantiles of series with a season."""
    for set_name, _, _, read, _, season, *_ in importlib.import_module("held_out_forecasts").NUMBER_SETS:
        series = read()[-LONGEST:] if 1 < season <= LONGEST_SEASON else np.empty(0)
        if season > 0 and len(series) >= 3 * WARM_UP * season:
            yield Quantiles(set_name.rstrip("0123456789"), *model_quantiles(series, season), season)


def model_quantiles(series: Vector, season: int) -> tuple[Array, Vector]:
    """Return the quantiles of all models after some seasons to warm up, and the truths."""
    days = series[: len(series) // season * season].reshape(-1, season)
    forecasts = np.empty((len(days) - WARM_UP, season, len(MODELS), len(LEVELS)))
    centres = {"seasonal naive": np.full_like(days, np.nan), "profile": np.full_like(days, np.nan)}
    centres["normal"] = np.full_like(days, np.nan)
    for d in range(7, len(days)):
        profile = days[d - 7 : d].mean(axis=0)
        centres["seasonal naive"][d], centres["profile"][d] = days[d - 1], profile
        centres["normal"][d] = profile + 0.5 * (days[d - 1] - profile).mean()
    for d in range(WARM_UP, len(days)):
        past = slice(d - SEASONS, d)
        of_model = [np.quantile(days[past], LEVELS, axis=0).T]
        for name in MODELS[1:]:
            errors = days[past] - centres[name][past]
            offsets = np.quantile(errors, LEVELS, axis=0).T
            if name == "normal":
                offsets = errors.mean(axis=0)[:, None] + errors.std(axis=0)[:, None] * ndtri(LEVELS)
            of_model.append(centres[name][d][:, None] + offsets)
        forecasts[d - WARM_UP] = np.stack(of_model, axis=1)
    return forecasts.reshape(-1, len(MODELS), len(LEVELS)), days[WARM_UP:].reshape(-1)


def combined(data: Quantiles) -> Matrix:
    """Return the combined quantiles."""
    place = np.arange(len(data.truths))
    columns = {"t": place, "cutoff": place // data.season * data.season - 1, "y": data.truths}
    for k, model in enumerate(MODELS):
        columns |= {f"{model}-q-{level:g}": data.forecasts[:, k, j] for j, level in enumerate(LEVELS)}
    result = combine(pd.DataFrame(columns), time="t", quantiles=LEVELS, weights=False)
    return result[[f"forecast-q-{level:g}" for level in LEVELS]].to_numpy()


def figures(quantiles: Matrix, truths: Vector) -> tuple[float, float, float]:
    """Return the CRPS by the levels, the coverage and the mean width of the widest interval."""
    errors = truths[:, None] - quantiles
    losses = np.maximum(np.array(LEVELS) * errors, (np.array(LEVELS) - 1) * errors)
    inside = (quantiles[:, 0] <= truths) & (truths <= quantiles[:, -1])
    return float(2 * losses.mean()), float(inside.mean()), float((quantiles[:, -1] - quantiles[:, 0]).mean())


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--only", metavar="NAME", help="one series")
    only = parser.parse_args().only
    rows, ratios = [], []
    for data in package_quantiles():
        if only not in (None, data.name):
            continue
        models = [figures(data.forecasts[:, k], data.truths) for k in range(len(MODELS))]
        best = int(np.argmin([crps for crps, *_ in models]))
        mean = figures(np.sort(data.forecasts.mean(axis=1), axis=1), data.truths)
        mixed = figures(combined(data), data.truths)
        unit = models[best][0]
        ratios.append([mixed[0] / unit, mean[0] / unit])
        cells = [f"{crps / unit:.3f} {cover:.3f} {width / models[best][2]:.2f}" for crps, cover, width in (mixed, mean)]
        rows.append([data.name, str(len(data.truths)), *cells, f"{models[best][1]:.3f} {MODELS[best]}"])
    print("CRPS over that of the best model, coverage of the 90 % interval, its width over that of the best model")
    print(text_table(["series", "rounds", "mixture", "mean of models", "best model"], rows))
    mixture, mean = np.exp(np.log(np.array(ratios)).mean(axis=0))
    print(f"CRPS, geometric mean: mixture {mixture:.3f}, mean of the models {mean:.3f}")


if __name__ == "__main__":
    main()
