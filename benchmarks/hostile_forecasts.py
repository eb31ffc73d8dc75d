"""The loss of a mixture with absurd forecasts or truths, over its loss without them.

    python benchmarks/hostile_forecasts.py --sets FOLDER                       # the default
    python benchmarks/hostile_forecasts.py --sets FOLDER --learner ada-hedge   # a learner in its place

Each line of the table disturbs the sets of forecasts in one way. The mixture plays each set with the disturbance and
without it, and the line has the ratio of its mean square losses in the other rounds. These are the rounds whose truth
is not made absurd, less those that the line leaves out: the first, or all before a number of rounds after a change of
unit. They are the same in both plays, and losses are in the unit of the set. The table has the geometric mean over the
sets and the worst, and their bars: the default is meant to be below them. The last line has the loss over that of equal
weights. A distance is the largest one of a truth from the median forecast in the first 50 rounds.

The sets are those of `forecasts.py`, played with square loss. A set that is too short for a line, or without a loss, is
left out of the line and named.
"""

from __future__ import annotations

import argparse
import math
import sys
import textwrap
import time
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import NamedTuple

import numpy as np
from forecast_rivals import ForecastSet, equal_weights
from forecasts import WIDTH, BadSet, folder_sources, package_sources, play_mixture

from driftwise.core.types import Flags, Matrix, Vector
from driftwise.forecasting.losses import forecast_loss
from driftwise.report.tables import text_table

FIRST, FEWEST = 20, 20  # the first rounds that are counted apart; a line counts at least so many rounds
SPIKES = (50, 60)  # rounds with a wild truth
N_FOR_DISTANCE = 50
SEED = 1  # of the rounds with outliers
PATIENCE = 2.0  # seconds without a line about progress
HEADERS = ["disturbance", "mean", "worst", "set", "bar of mean", "of worst", "holds"]


class Disturbed(NamedTuple):
    """What the default gets, and the rounds that are counted."""

    forecasts: Matrix
    truths: Vector
    counted: Flags | slice = slice(None)
    units: Vector | float = 1.0  # what forecasts and truths of each round are multiplied by


def huge_expert(late: bool, data: ForecastSet) -> Disturbed:
    """Add an expert that is always 1e9; the first rounds are counted, or those after them."""
    rounds = np.arange(len(data.truths))
    forecasts = np.column_stack([data.forecasts, np.full(len(rounds), 1e9)])
    return Disturbed(forecasts, data.truths, (rounds >= FIRST) == late)


def far_expert(data: ForecastSet) -> Disturbed:
    """Add an expert that is 20 times the largest distance above the median."""
    forecasts = np.column_stack([data.forecasts, medians(data) + 20 * largest_distance(data)])
    return Disturbed(forecasts, data.truths)


def tied_start(data: ForecastSet) -> Disturbed:
    """Let the forecasts of the first round differ by rounding only."""
    forecasts, n_experts = data.forecasts.copy(), data.forecasts.shape[1]
    middle = medians(data)[0]
    tied = middle + np.spacing(middle) * np.arange(n_experts)
    forecasts[0] = np.where(np.isnan(forecasts[0]), np.nan, tied)
    return Disturbed(forecasts, data.truths, np.arange(len(forecasts)) > 0)


def spikes(data: ForecastSet) -> Disturbed:
    """Let two truths be 12 times the largest distance above the median."""
    wild = np.isin(np.arange(len(data.truths)), SPIKES)
    return Disturbed(data.forecasts, np.where(wild, medians(data) + 12 * largest_distance(data), data.truths), ~wild)


def other_unit(unit: float, after: int, data: ForecastSet) -> Disturbed:
    """Multiply all numbers from the middle on; so many rounds after it and those before it are not counted."""
    rounds, middle = np.arange(len(data.truths)), len(data.truths) // 2
    units = np.where(rounds >= middle, unit, 1.0)
    return Disturbed(data.forecasts * units[:, None], data.truths * units, rounds >= middle + after, units)


def wrong_unit(data: ForecastSet) -> Disturbed:
    """Multiply the truth in the middle by 1,000."""
    wild = np.arange(len(data.truths)) == len(data.truths) // 2
    return Disturbed(data.forecasts, np.where(wild, 1000 * data.truths, data.truths), ~wild)


def outliers(part: float, data: ForecastSet) -> Disturbed:
    """Move some truths by 20 times the largest distance, up or down."""
    generator, n_rounds = np.random.default_rng(SEED), len(data.truths)
    moves, n_wild = np.zeros(n_rounds), max(1, round(part * n_rounds))
    wild = generator.choice(n_rounds, n_wild, replace=False)
    moves[wild] = generator.choice([-20.0, 20.0], n_wild) * largest_distance(data)
    return Disturbed(data.forecasts, data.truths + moves, moves == 0)


def equal_experts(data: ForecastSet) -> Disturbed:
    """Replace the experts by ten that forecast their mean."""
    return Disturbed(np.tile(equal_weights(data)[:, None], 10), data.truths)


def medians(data: ForecastSet) -> Vector:
    """Return the median forecast of each round."""
    return np.nanmedian(data.forecasts, axis=1)


def largest_distance(data: ForecastSet) -> float:
    """Return the largest distance of a truth from the median forecast in the first rounds."""
    return float(np.abs(data.truths - medians(data))[:N_FOR_DISTANCE].max())


class Line(NamedTuple):
    """A row of the table."""

    about: str
    disturb: Callable[[ForecastSet], Disturbed]
    n_rounds: int  # shorter sets are left out
    mean_bar: float = math.inf
    worst_bar: float = math.inf
    late_bar: float | None = None  # the worst, if truths are late and it is another one
    bars_of_sets: Mapping[str, float] = {}

    def bar(self, delay: int, name: str = "") -> float:
        """Return the bar of a set."""
        bar = self.worst_bar if self.late_bar is None or delay == 0 else self.late_bar
        return self.bars_of_sets.get(name, bar)


LINES = (
    Line(f"expert 1e9, after {FIRST} rounds", partial(huge_expert, True), FIRST + FEWEST, 1.02, 1.05),
    Line(f"expert 1e9, first {FIRST} rounds", partial(huge_expert, False), FEWEST, worst_bar=1.5),
    Line("expert at median + 20 distances", far_expert, N_FOR_DISTANCE, 1.1, 1.5),
    Line("first forecasts tied up to rounding", tied_start, 1 + FEWEST, 1.02, 1.05, bars_of_sets={"water": 1.2}),
    Line(f"truths {SPIKES[0]}, {SPIKES[1]} 12 distances off", spikes, SPIKES[1] + FEWEST, 1.05, 1.15),
    Line("unit times 1e6, 30 rounds later", partial(other_unit, 1e6, 30), 2 * (30 + FEWEST), 1.06, 1.25),
    Line("unit times 1e-6, 230 rounds later", partial(other_unit, 1e-6, 230), 2 * (230 + FEWEST), 1.05, 1.25, 1.4),
    Line("one truth times 1,000", wrong_unit, 1 + FEWEST, 1.02),
    Line(".3 % of truths 20 distances off", partial(outliers, 0.003), N_FOR_DISTANCE, 1.2),
    Line("1 % of truths 20 distances off", partial(outliers, 0.01), N_FOR_DISTANCE),
    Line("ten equal experts", equal_experts, FEWEST, 1.02),
)


def ratio(line: Line, data: ForecastSet, delay: int, undisturbed: Vector, learner: str | None) -> float:
    """Return the ratio of a set, NaN if it is left out; `undisturbed` are the forecasts without a disturbance."""
    if len(data.truths) < line.n_rounds:
        return math.nan
    forecasts, truths, counted, units = line.disturb(data)
    disturbed = play_mixture(learner, data._replace(forecasts=forecasts, truths=truths), delay) / units
    other = equal_weights(data) if line.disturb is equal_experts else undisturbed
    loss, other_loss = (data.loss.values(combined, data.truths)[counted].mean() for combined in (disturbed, other))
    return float(loss / other_loss) if other_loss > 0 else math.nan


def row_of(line: Line, ratios: Mapping[str, float], delay: int) -> list[str]:
    """Return the row of a line from the ratios of the sets that it has."""
    if not ratios:
        return [line.about, *["-"] * (len(HEADERS) - 1)]
    mean, worst = math.exp(np.log([*ratios.values()]).mean()), max(ratios, key=ratios.__getitem__)
    bars = line.mean_bar, line.bar(delay)
    holds = mean <= line.mean_bar and not above(line, ratios, delay)
    shown_bars = ("-" if bar == math.inf else f"{bar:.2f}" for bar in bars)
    verdict = "-" if min(bars) == math.inf else "yes" if holds else "no"
    return [line.about, f"{mean:#.4g}", f"{ratios[worst]:#.4g}", worst, *shown_bars, verdict]


def above(line: Line, ratios: Mapping[str, float], delay: int) -> list[str]:
    """Return the sets above their bar."""
    return [f"{name} {value:#.4g}" for name, value in ratios.items() if value > line.bar(delay, name)]


def table(by_set: Mapping[str, Sequence[float]], delay: int) -> str:
    """Return the table of a delay, from the ratios of the lines for each set."""
    rows, notes = [], []
    for i, line in enumerate(LINES):
        ratios = {name: values[i] for name, values in by_set.items() if not math.isnan(values[i])}
        rows.append(row_of(line, ratios, delay))
        left_out = [name for name in by_set if name not in ratios]
        for what, sets in (("above the bar", above(line, ratios, delay)), ("left out", left_out)):
            if sets:
                text = f"{line.about}, {what}: {', '.join(sets)}"
                notes.append(textwrap.fill(text, WIDTH, subsequent_indent="    "))
    title = f"loss over that without the disturbance; truths late by {delay} rounds; number of sets: {len(by_set)}"
    return "\n".join([title, "", text_table(HEADERS, rows), *notes])


def whole_numbers(text: str) -> list[int]:
    """Return whole numbers with commas between them."""
    if not all(part.isdecimal() for part in text.split(",")):
        raise argparse.ArgumentTypeError(f"must be whole numbers with commas, got {text!r}")
    return list(dict.fromkeys(map(int, text.split(","))))


def main() -> None:
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--sets", type=Path, metavar="FOLDER", help="a folder of .npz files, in place of packages")
    parser.add_argument("--delays", type=whole_numbers, default=[0, 7], help="how late truths are, such as 0,7")
    parser.add_argument("--only", metavar="NAME", help="one set")
    parser.add_argument("--learner", metavar="NAME", help="a learner in place of the default, such as ada-hedge")
    settings = parser.parse_args()
    sources = folder_sources(settings.sets) if settings.sets else package_sources()
    sources = [source for source in sources if settings.only in (None, source.name)]
    if not sources:
        raise SystemExit("There is no such set; `--sets FOLDER` names a folder of .npz files.")
    by_delay: dict[int, dict[str, list[float]]] = {delay: {} for delay in settings.delays}
    started, absent = time.perf_counter(), []
    for i, source in enumerate(sources):
        try:
            data = source.make(forecast_loss("square"))
        except (SystemExit, BadSet) as error:
            absent.append(str(error))
            continue
        for delay, by_set in by_delay.items():
            undisturbed = play_mixture(settings.learner, data, delay)
            by_set[source.name] = [ratio(line, data, delay, undisturbed, settings.learner) for line in LINES]
        if (seconds := time.perf_counter() - started) > PATIENCE:
            print(f"{source.name}, {i + 1} of {len(sources)}: {seconds:.0f} s", file=sys.stderr, flush=True)
    for delay, by_set in by_delay.items():
        if by_set:
            print(f"{table(by_set, delay)}\n")
    for why in dict.fromkeys(absent):
        print(why)


if __name__ == "__main__":
    main()
