"""The mixture's default on forecasts that are issued once a day for all steps ahead, beside rules that are used for it.

    python benchmarks/day_ahead.py                 # days made from series in packages: held_out_forecasts.py names them
    python benchmarks/day_ahead.py --sets FOLDER   # .npz files with X, y and horizon h > 1, issued every h rounds

A day has as many rounds as the season of a series (24 hours, 7 days, 12 months, or the horizon of a set of --sets). All
its forecasts are issued before its first round, and its truths are known before the next day is issued. The score of a
rule is its mean square loss over that of the better of two: the best expert in hindsight, and equal weights.

The default and AdaHedge have weights for each step ahead, as `combine(frame, issued=...)` has, and once more one set of
weights for all steps. Inverse errors are those of the last 28 days, by step. Ridge stacking fits deviations from the
mean of the experts on the last 28 days, by step, with a penalty that was chosen on other sets (`forecast_rivals.py`).

The last lines compare days with truths that come one by one: all rounds in one mixture, whose truths are known together
at the end of each block of 24 rounds, or each 24 rounds after its forecast. A ratio above 1: blocks are worse.
"""

from __future__ import annotations

import argparse
import importlib
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import NamedTuple

import numpy as np
from forecasts import folder_sources

from driftwise.core.types import Actions, Matrix, Vector
from driftwise.forecasting import MixtureOptions, MixtureStack
from driftwise.forecasting.round_order import Times, round_order
from driftwise.learners import AdaHedge
from driftwise.report.tables import text_table

DAYS = 28  # of errors that inverse errors and stacking use
FEWEST = 40  # days of a set
LONGEST, LONGEST_DAY = 10_000, 24  # rounds of a series, and of a season that is a day here
PENALTY = 1.0  # of stacking, times the mean square of the deviations
BLOCK = 24


class DayAhead(NamedTuple):
    """Rounds of several steps, issued together; row r is step `r % n_steps` of day `r // n_steps`."""

    name: str
    forecasts: Matrix
    truths: Vector
    n_steps: int


def daily_models(y: Vector, season: int) -> Matrix:
    """Return forecasts of eleven usual models for all days after the first week, issued before each day."""
    step = np.arange(1, season + 1)
    rows = []
    for first in range(7 * season, len(y) - season + 1, season):
        past = y[:first]
        days = past.reshape(-1, season)
        profile, lately = days[-28:].mean(axis=0), days[-7:].mean(axis=0)
        error = past[-1] - profile[-1]
        level = (days[-1] - profile).mean()
        rows.append(
            np.column_stack(
                [
                    days[-1], days[-7], (days[-1] + days[-7]) / 2, profile, lately, profile + error,
                    profile + error * 0.9**step, profile + level, (profile + days[-1]) / 2,
                    np.full(season, past[-1]), np.full(season, days[-1].mean()),
                ]
            )
        )  # fmt: skip
    return np.concatenate(rows)


def package_days() -> Iterator[DayAhead]:
    """Yield days of the series of `held_out_forecasts.py` that have a season."""
    for set_name, _, _, read, _, season, *_ in importlib.import_module("held_out_forecasts").NUMBER_SETS:
        series = read()[-LONGEST:] if 1 < season <= LONGEST_DAY else np.empty(0)
        y = series[: len(series) // season * season] if len(series) else series
        if len(y) >= (FEWEST + 7) * season > 0:
            yield DayAhead(set_name.rstrip("0123456789"), daily_models(y, season), y[7 * season :], season)


def folder_days(folder: Path) -> Iterator[DayAhead]:
    """Yield the sets of a folder whose forecasts are for several rounds ahead, cut to whole days."""
    for source in folder_sources(folder):
        data = source.make(None)
        n = len(data.truths) // data.horizon * data.horizon
        if data.horizon > 1 and n >= FEWEST * data.horizon:
            yield DayAhead(data.name, data.forecasts[:n], data.truths[:n], data.horizon)


def ordered(place: Actions, step: Actions, issued: Actions, known: Actions, data: DayAhead, learner: object) -> Vector:
    """Return the forecasts of mixtures, one for each step, with the truths that are known when each is issued."""
    order = round_order(np.zeros(len(place), np.int64), Times(place, issued, known, step), data.truths, _no_fault)
    stack = MixtureStack(MixtureOptions(learner=learner), data.forecasts.shape[1], order.n_steps)  # type: ignore[arg-type]
    return stack.play(order.events, data.forecasts, data.truths, order.mixture)[0].combined


def _no_fault(row: int, option: str, rule: str) -> Exception:
    return AssertionError(f"row {row}, {option}: {rule}")


def mixture(learner: object, by_step: bool, data: DayAhead) -> Vector:
    """Return the forecasts of the mixtures of a learner."""
    place = np.arange(len(data.truths))
    step = 1 + place % data.n_steps if by_step else np.ones(len(place), np.int64)
    issued = place // data.n_steps * data.n_steps - 1
    return ordered(place, step, issued, place, data, learner)


def by_step(weigh: Callable[[Matrix, Vector], Callable[[Vector], float]], data: DayAhead) -> Vector:
    """Return the forecasts of a rule that is fitted on the last days of each step."""
    shape = (-1, data.n_steps, data.forecasts.shape[1])
    days, truths = data.forecasts.reshape(shape), data.truths.reshape(-1, data.n_steps)
    combined = np.empty(truths.shape)
    for d in range(len(days)):
        first = max(0, d - DAYS)
        for s in range(data.n_steps):
            past, known = days[first:d, s], truths[first:d, s]
            fine = ~np.isnan(past).any(axis=1) & ~np.isnan(known)
            awake = ~np.isnan(days[d, s])
            if fine.sum() < 2:
                combined[d, s] = days[d, s][awake].mean()
            else:
                combined[d, s] = weigh(past[fine][:, awake], known[fine])(days[d, s][awake])
    return combined.reshape(-1)


def inverse_errors(past: Matrix, known: Vector) -> Callable[[Vector], float]:
    errors = ((past - known[:, None]) ** 2).mean(axis=0)
    weights = 1 / (errors + 1e-12 * (errors.mean() or 1.0))
    return lambda now: float(weights @ now / weights.sum())


def ridge(past: Matrix, known: Vector) -> Callable[[Vector], float]:
    means = past.mean(axis=1)
    deviations = past - means[:, None]
    gram = deviations.T @ deviations
    penalty = PENALTY * np.trace(gram) / len(gram) + 1e-300
    slopes = np.linalg.solve(gram + penalty * np.eye(len(gram)), deviations.T @ (known - means))
    return lambda now: float(now.mean() + (now - now.mean()) @ slopes)


RULES: dict[str, Callable[[DayAhead], Vector]] = {
    "Mixture(steps=n)": lambda data: mixture(None, True, data),
    "one Mixture() for all steps": lambda data: mixture(None, False, data),
    "AdaHedge, by step": lambda data: mixture(AdaHedge(), True, data),
    "inverse errors, 28 days": lambda data: by_step(inverse_errors, data),
    "ridge stacking, 28 days": lambda data: by_step(ridge, data),
    "equal weights": lambda data: np.nanmean(data.forecasts, axis=1),
}


def score(combined: Vector, data: DayAhead) -> float:
    """Return the mean square loss over that of the better of the best expert and equal weights."""
    mean = np.nanmean(data.forecasts, axis=1)
    filled = np.where(np.isnan(data.forecasts), mean[:, None], data.forecasts)
    best = min(((filled - data.truths[:, None]) ** 2).mean(axis=0).min(), ((mean - data.truths) ** 2).mean())
    return float(((combined - data.truths) ** 2).mean() / best)


def blocks_over_single_truths(data: DayAhead) -> float:
    """Return the loss with truths in blocks over that with truths one by one."""
    place, step = np.arange(len(data.truths)), np.ones(len(data.truths), np.int64)
    together = ordered(place, step, place // BLOCK * BLOCK - 1, place, data, None)
    alone = ordered(place, step, place - 1 - BLOCK, place, data, None)
    return float(((together - data.truths) ** 2).mean() / ((alone - data.truths) ** 2).mean())


def geometric_mean(values: list[float]) -> float:
    return float(np.exp(np.log(values).mean()))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--sets", type=Path, metavar="FOLDER", help="a folder of .npz files, in place of packages")
    parser.add_argument("--only", metavar="NAME", help="one set")
    options = parser.parse_args()
    days = folder_days(options.sets) if options.sets else package_days()
    chosen = [data for data in days if options.only in (None, data.name)]
    scores: dict[str, list[float]] = {name: [] for name in RULES}
    ratios = {}
    for data in chosen:
        for name, rule in RULES.items():
            scores[name].append(score(rule(data), data))
        ratios[data.name] = blocks_over_single_truths(data)
        row = "  ".join(f"{scores[name][-1]:.3f}" for name in RULES)
        print(f"{data.name:14} {data.n_steps:>3} steps {len(data.truths):>7} rounds  {row}", flush=True)
    rows = []
    for name, values in scores.items():
        worst = int(np.argmax(values))
        rows.append([name, f"{geometric_mean(values):.3f}", f"{values[worst]:.3f}", chosen[worst].name])
    print(text_table(["rule", "mean", "worst", "set"], rows))
    most = max(ratios, key=lambda name: ratios[name])
    mean = geometric_mean([*ratios.values()])
    print(f"blocks of {BLOCK} over one by one: mean {mean:.3f}, worst {ratios[most]:.3f} ({most})")


if __name__ == "__main__":
    main()
