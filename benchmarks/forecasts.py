"""The mixture's default beside other rules that combine forecasts, with truths in time and late.

The score of a rule on a set is its mean loss over that of the better of two: the best expert in hindsight (where it has
no forecast, it has the loss of equal weights), and equal weights. The table has the geometric mean over the sets, and
the worst. The sets are those of `held_out_forecasts.py` whose packages are installed, or .npz files of `--sets FOLDER`,
with the arrays X (rounds x experts, NaN: no forecast), y, names, about and horizon. An expert forecasts `horizon`
rounds ahead, so in use its truths are late by horizon - 1 rounds, the natural delay. Forecasts in [0, 1] of truths that
are all 0 or 1 are probabilities; their loss is the log loss unless `--loss` names one.

Rules that learn from regrets are played twice: a late round is learned at the weights of now, and at those of then. The
table has the one with the lesser geometric mean and names it.

With OMP_NUM_THREADS=1 it is faster: the regressions are small.
"""

from __future__ import annotations

import argparse
import importlib
import json
import math
import sys
import textwrap
import time
import zipfile
import zlib
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from forecast_rivals import (
    ERROR_RULES,
    REGRET_RULES,
    ErrorRule,
    ForecastSet,
    Lane,
    RegretRule,
    at_weights_then,
    equal_weights,
    play_errors,
    play_regrets,
)

from driftwise import Mixture
from driftwise.core.errors import DriftwiseError
from driftwise.core.types import Matrix, Vector
from driftwise.forecasting import ForecastLoss
from driftwise.forecasting.losses import forecast_loss
from driftwise.learners import (
    BOA,
    AdaHedge,
    ExpertLearner,
    MLPoly,
    Tracker,
)
from driftwise.report.tables import text_table

DEFAULTS: dict[str, ExpertLearner | None] = {
    "Mixture()": None,
    "Mixture, Tracker()": Tracker(both_guesses=True),  # the default before
}
LEARNERS: dict[str, ExpertLearner] = {"ML-Poly": MLPoly(), "BOA": BOA(), "AdaHedge": AdaHedge()}
NATURAL = "natural"
NOW, THEN, ONLY = "now", "then", ""  # the weights at which a late round is learned; a rule without a choice
NOTED = 1.05  # higher scores of a default are named
WIDTH = 100


# ------------------------------------------------------------------------------------------------------------ the sets


class Source(NamedTuple):
    """A set that is not read or made yet."""

    name: str
    make: Callable[[ForecastLoss | None], ForecastSet]


class BadSet(Exception):
    """A file is no forecast set; the message says why."""


def checked_set(
    name: str, about: str, horizon: int, forecasts: Matrix, truths: Vector, loss: ForecastLoss | None
) -> ForecastSet:
    """Return a set with the loss that was chosen, or that of its kind; only rounds with truth, forecast and loss."""
    if forecasts.ndim != 2 or forecasts.dtype != np.float64 or not forecasts.size:
        raise BadSet(f"{name}: `X` must be an array of rounds x experts of float64, got {_kind(forecasts)}.")
    if truths.shape != forecasts.shape[:1] or truths.dtype != np.float64:
        raise BadSet(f"{name}: `y` must be an array of {len(forecasts)} float64, got {_kind(truths)}.")
    if np.isinf(forecasts).any() or np.isinf(truths).any():
        raise BadSet(f"{name}: `X` and `y` must be finite or NaN.")
    if not 1 <= horizon <= len(truths):
        raise BadSet(f"{name}: `horizon` must be in [1, {len(truths)}], got {horizon}.")
    kept = ~np.isnan(truths) & ~np.isnan(forecasts).all(axis=1)
    if not kept.any():
        raise BadSet(f"{name}: no round has both a truth and a forecast.")
    forecasts, truths = forecasts[kept], truths[kept]
    log_loss = forecast_loss("log")
    loss = loss or (log_loss if _fault(log_loss, forecasts, truths) == "" else forecast_loss("square"))
    if fault := _fault(loss, forecasts, truths):
        raise BadSet(f"{name}: {fault}.")
    kept = np.isfinite(loss.values(forecasts, truths[:, None])).any(axis=1)  # not if a percentage is that of 0
    return ForecastSet(name, about, horizon, forecasts[kept], truths[kept], loss)


def _kind(array: np.ndarray[Any, Any]) -> str:
    return f"{array.dtype} of the shape {array.shape}"


def _fault(loss: ForecastLoss, forecasts: Matrix, truths: Vector) -> str:
    """Return the rule of a loss that forecasts or truths break, or ''."""
    for what, fault in (("forecasts", loss.forecast_fault(forecasts)), ("truths", loss.truth_fault(truths))):
        if fault:
            return f"{what} must be {fault}"
    return ""


def read_set(file: Path, loss: ForecastLoss | None) -> ForecastSet:
    """Return the set of an .npz file."""
    try:
        with np.load(file, allow_pickle=False) as stored:
            arrays = {name: stored[name] for name in ("X", "y", "names", "about", "horizon")}
    except (OSError, ValueError, TypeError, KeyError, EOFError, zipfile.BadZipFile, zlib.error) as error:
        raise BadSet(f"{file.stem}: no set can be read from {file.name}: {error}") from None
    names, about, horizon = arrays["names"], arrays["about"], arrays["horizon"]
    if names.dtype.kind != "U" or names.shape != arrays["X"].shape[1:] or len({*names.tolist()}) < names.size:
        raise BadSet(f"{file.stem}: `names` must be a different text for each column of `X`, got {_kind(names)}.")
    if about.dtype.kind != "U" or about.shape:
        raise BadSet(f"{file.stem}: `about` must be a text, got {_kind(about)}.")
    if horizon.dtype.kind not in "iu" or horizon.shape:
        raise BadSet(f"{file.stem}: `horizon` must be a whole number, got {_kind(horizon)}.")
    return checked_set(file.stem, str(about), int(horizon), arrays["X"], arrays["y"], loss)


def folder_sources(folder: Path) -> list[Source]:
    """Return the sets of a folder."""
    return [Source(file.stem, partial(read_set, file)) for file in sorted(folder.glob("*.npz"))]


def package_sources() -> list[Source]:
    """Return the sets of `held_out_forecasts.py`; making one ends with `SystemExit` if its package is not installed."""
    made = importlib.import_module("held_out_forecasts")
    if not hasattr(made, "NUMBER_SETS"):
        return []

    def numbers(place: int, loss: ForecastLoss | None) -> ForecastSet:
        name, _, about, read, horizon, season, n_first, gaps = made.NUMBER_SETS[place]
        series = read()[-(made.LONGEST + n_first) :]
        forecasts, truths, _ = made.number_forecasts(series, horizon, season, n_first, gaps, place)
        return checked_set(name, about, horizon, forecasts, truths, loss)

    def probabilities(place: int, loss: ForecastLoss | None) -> ForecastSet:
        name, _, about, read = made.PROBABILITY_SETS[place]
        features, labels = (part[-made.LONGEST :] for part in read())
        forecasts, truths, _ = made.probability_forecasts(features, labels)
        return checked_set(name, about, 1, forecasts, np.asarray(truths, np.float64), loss)

    kinds = ((numbers, made.NUMBER_SETS), (probabilities, made.PROBABILITY_SETS))
    return [Source(row[0], partial(make, place)) for make, rows in kinds for place, row in enumerate(rows)]


# ----------------------------------------------------------------------------------------------------------- the plays

Played = dict[str, dict[int, Vector]]  # the forecasts, by the weights at which late rounds are learned, and by delay


def play_mixture(learner: ExpertLearner | str | None, data: ForecastSet, delay: int) -> Vector:
    """Return the forecasts of a mixture, whose truths come `delay` rounds late."""
    mix = Mixture(data.forecasts.shape[1], learner=learner, loss=data.loss, history=0)
    combined = np.empty(len(data.truths))
    for t, forecasts in enumerate(data.forecasts):
        combined[t] = mix.predict(forecasts, key=t)
        if t >= delay:
            mix.update(data.truths[t - delay], key=t - delay)
    return combined


def rules() -> dict[str, Callable[[ForecastSet, Sequence[int]], Played]]:
    """Return the functions that play a set with some delays, by what they play."""
    return {
        **{name: partial(_default, learner) for name, learner in DEFAULTS.items()},
        "equal weights": lambda data, delays: {ONLY: dict.fromkeys(delays, equal_weights(data))},
        **{name: partial(_error_rule, rule) for name, rule in ERROR_RULES.items()},
        **{name: partial(_learner, learner) for name, learner in LEARNERS.items()},
        **{name: partial(_regret_rule, kind) for name, kind in REGRET_RULES.items()},
    }


def _error_rule(rule: ErrorRule, data: ForecastSet, delays: Sequence[int]) -> Played:
    return {ONLY: dict(zip(delays, play_errors(rule, data, delays).T, strict=True))}


def _default(learner: ExpertLearner | None, data: ForecastSet, delays: Sequence[int]) -> Played:
    return {ONLY: {delay: play_mixture(learner, data, delay) for delay in delays}}


def _learner(learner: ExpertLearner, data: ForecastSet, delays: Sequence[int]) -> Played:
    now = {delay: play_mixture(learner, data, delay) for delay in delays}
    return {NOW: now, THEN: {delay: at_weights_then(learner, data, delay) if delay else now[0] for delay in delays}}


def _regret_rule(kind: type[RegretRule], data: ForecastSet, delays: Sequence[int]) -> Played:
    lanes = [Lane(delay, now) for delay in delays for now in ((True, False) if delay else (True,))]
    columns = dict(zip(lanes, play_regrets(kind, data, lanes).T, strict=True))
    return {
        NOW: {delay: columns[Lane(delay, True)] for delay in delays},
        THEN: {delay: columns[Lane(delay, delay == 0)] for delay in delays},
    }


# ---------------------------------------------------------------------------------------------------------- the scores


class Column(NamedTuple):
    """A column of the tables: how late truths are, and how many of the first rounds are scored; 0: all."""

    delay: str
    first: int = 0

    def __str__(self) -> str:
        return f"{self.delay}, {self.first}" if self.first else self.delay

    def rounds_late(self, data: ForecastSet) -> int:
        return data.natural_delay if self.delay == NATURAL else int(self.delay)


class Score(NamedTuple):
    """The score of a rule on a set."""

    rule: str
    weights: str  # at which late rounds are learned
    column: str
    value: float  # NaN if the best loss is 0


Scored = dict[str, dict[str, dict[str, dict[str, float]]]]  # by rule, weights, column and set


def scores_of(data: ForecastSet, columns: Sequence[Column], tell: Callable[[str], None]) -> Iterator[Score]:
    """Yield the scores of all rules on a set."""
    delays = sorted({column.rounds_late(data) for column in columns})
    equal = data.loss.values(equal_weights(data), data.truths)
    experts = data.loss.values(data.forecasts, data.truths[:, None])
    experts = np.where(np.isnan(experts), equal[:, None], experts)
    for rule, play in rules().items():
        tell(rule)
        for weights, forecasts in play(data, delays).items():
            losses = {delay: data.loss.values(values, data.truths) for delay, values in forecasts.items()}
            for column in columns:
                kept = slice(column.first or None)
                best = min(equal[kept].mean(), experts[kept].mean(axis=0).min())
                loss = losses[column.rounds_late(data)][kept].mean()
                yield Score(rule, weights, str(column), float(loss / best) if best > 0 else math.nan)


class Summary(NamedTuple):
    """The scores of a rule in a column."""

    mean: float  # geometric
    worst: float
    weights: str  # at which late rounds are learned


def summary(by_weights: Mapping[str, Mapping[str, Mapping[str, float]]], column: str) -> Summary:
    """Return the better of the plays of a rule; sets on which the best loss is 0 have no score."""
    found = []
    for weights, scores in by_weights.items():
        values = np.array([score for score in scores[column].values() if not math.isnan(score)])
        mean, worst = (float(np.exp(np.log(values).mean())), float(values.max())) if len(values) else (math.nan,) * 2
        found.append(Summary(mean, worst, weights))
    if len({one.mean for one in found}) == 1:  # no truth was late
        return found[0]._replace(weights=ONLY)
    return min(found, key=lambda one: one.mean)


def _short(value: float) -> str:
    """Return three significant digits, without a leading 0.

    >>> [_short(x) for x in (0.8231, 1.0498, 63.71, 1234.0)]
    ['.823', '1.05', '63.7', '1234']
    """
    digits = max(0, 2 - math.floor(math.log10(value))) if value > 0 and math.isfinite(value) else 0
    return f"{value:.{min(digits, 3)}f}".removeprefix("0" if value else "")


def _cell(found: Summary) -> str:
    return f"{_short(found.mean)} {_short(found.worst):>4}{found.weights[:1] or ' '}"


def tables(scored: Scored, columns: Sequence[Column]) -> str:
    """Return a table of all rounds and one of the first rounds, and the sets on which a default has a high score."""
    parts = []
    for some in ([one for one in columns if not one.first], [one for one in columns if one.first]):
        rows = [[rule, *(_cell(summary(plays, str(one))) for one in some)] for rule, plays in scored.items()]
        if some:
            parts.append(text_table(["", *(f"{one} " for one in some)], rows))
    parts.append("\n".join(note for rule in DEFAULTS for note in _high_scores(rule, scored[rule][ONLY])))
    return "\n\n".join(parts)


def _high_scores(rule: str, scores: Mapping[str, Mapping[str, float]]) -> Iterator[str]:
    """Yield the sets on which a default has a high score, by column."""
    others = []
    for column, by_set in scores.items():
        high = sorted((name for name in by_set if by_set[name] > NOTED), key=by_set.__getitem__, reverse=True)
        if high:
            named = ", ".join(f"{name} {_short(by_set[name])}" for name in high)
            yield textwrap.fill(f"{rule} above {NOTED}, {column}: {named}", WIDTH, subsequent_indent="    ")
        else:
            others.append(column)
    if others:
        yield textwrap.fill(f"{rule} above {NOTED}, {'; '.join(others)}: none", WIDTH, subsequent_indent="    ")


# ----------------------------------------------------------------------------------------------------------- the script


def _losses(text: str) -> ForecastLoss:
    try:
        return forecast_loss(text)
    except DriftwiseError as error:
        raise argparse.ArgumentTypeError(str(error)) from None


def _delays(text: str) -> list[str]:
    parts = text.split(",")
    if not all(part == NATURAL or part.isdecimal() for part in parts):
        raise argparse.ArgumentTypeError(f"must be whole numbers and '{NATURAL}', with commas, got {text!r}")
    return list(dict.fromkeys(part if part == NATURAL else str(int(part)) for part in parts))


def _whole(text: str) -> int:
    if not text.isdecimal() or int(text) < 1:
        raise argparse.ArgumentTypeError(f"must be a whole number >= 1, got {text!r}")
    return int(text)


def _wholes(text: str) -> list[int]:
    return [_whole(part) for part in text.split(",")]


def arguments() -> argparse.Namespace:
    """Return the arguments of the script."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--sets", type=Path, metavar="FOLDER", help="a folder of .npz files, in place of packages")
    parser.add_argument("--loss", type=_losses, help="square, absolute, pinball:.1 ...; without it square, or log")
    parser.add_argument("--delays", type=_delays, default=_delays("natural,0,1,2,7,24"), help="such as natural,0,1")
    parser.add_argument("--first", type=_wholes, default=[30, 60, 100], help="the first rounds too, such as 30,60,100")
    parser.add_argument("--only", metavar="NAME", help="one set")
    parser.add_argument("--most-rounds", type=_whole, metavar="N", help="the first N rounds of each set")
    parser.add_argument("--json", type=Path, metavar="FILE", help="write all scores to a file")
    return parser.parse_args()


def shortened(data: ForecastSet, most_rounds: int | None) -> ForecastSet:
    """Return the first rounds of a set."""
    return data._replace(forecasts=data.forecasts[:most_rounds], truths=data.truths[:most_rounds])


def main() -> None:
    given = arguments()
    sources = folder_sources(given.sets) if given.sets else package_sources()
    if given.only:
        sources = [source for source in sources if source.name == given.only]
    if not sources:
        raise SystemExit("There is no such set; `--sets FOLDER` names a folder of .npz files.")
    columns = [*map(Column, given.delays), *(Column(given.delays[0], first) for first in given.first)]
    by_loss: dict[str, Scored] = {}
    absent = []
    for i, source in enumerate(sources):
        started = time.perf_counter()
        try:
            data = shortened(source.make(given.loss), given.most_rounds)
        except (SystemExit, BadSet) as error:
            absent.append(str(error))
            continue
        where = f"{source.name}, {i + 1} of {len(sources)}"
        scored = by_loss.setdefault(str(data.loss), {})
        for score in scores_of(data, columns, partial(_tell, where)):
            plays = scored.setdefault(score.rule, {})
            plays.setdefault(score.weights, {}).setdefault(score.column, {})[source.name] = score.value
        if given.json:  # after every set, so that a run can be stopped
            given.json.write_text(json.dumps(_without_nan(by_loss), indent=1), encoding="utf-8")
        n_rounds, n_experts = data.forecasts.shape
        _tell(where, f"{n_rounds} rounds, {n_experts} experts, {time.perf_counter() - started:.0f} s")
    for loss, scored in by_loss.items():
        n_sets = len(next(iter(next(iter(scored["equal weights"].values())).values())))
        print(f"{n_sets} sets, {loss} loss: geometric mean and worst; n, t: learned at the weights of now, of then\n")
        print(f"{tables(scored, columns)}\n")
    for why in dict.fromkeys(absent):
        print(why)


def _without_nan(values: Any) -> Any:
    """Return nested dictionaries with None in place of NaN, which JSON does not have."""
    if isinstance(values, dict):
        return {name: _without_nan(value) for name, value in values.items()}
    return None if math.isnan(values) else values


def _tell(where: str, what: str) -> None:
    print(f"{where}: {what}", file=sys.stderr, flush=True)


if __name__ == "__main__":
    main()
