"""The outcome of a simulation: regrets, their intervals and bounds, as numbers, tables, figures and files.

A file has a cell for each learner and run; what cells do not hold is in its header.
"""

from __future__ import annotations

import csv
import dataclasses
import itertools
import json
import math
import os
import re
import textwrap
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple, TextIO

import numpy as np
import numpy.typing as npt

from driftwise.core.errors import BadFile, DriftwiseError, InvalidInput, UnknownName, rejection, shown
from driftwise.core.files import shown_path, write_atomically
from driftwise.core.measures import MARK, SAYS_NOTHING, Measures, collected
from driftwise.core.types import Actions, Vector
from driftwise.core.validation import LOSS_KINDS
from driftwise.learners import AnyPlayer, Player
from driftwise.registry import spec_text, to_spec
from driftwise.regret.blocks import LEAST_VALUES, block_interval
from driftwise.regret.comparators import make_comparator
from driftwise.regret.realised import Realised, with_best_loss
from driftwise.regret.statistics import Estimate, estimate, half_width
from driftwise.report.figures import drawn_figure
from driftwise.report.regret_figures import SCALES, Curve, CurvePanel, check_look, curves_figure
from driftwise.report.tables import number, text_table
from driftwise.results.cell_files import arrow, read_cells, write_cells
from driftwise.results.cells import MEASURES, REALISED, CellRecord, CellTable, cell_texts, measured_fields
from driftwise.results.columns import (
    OVER_DRAWS,
    SIMULATION,
    MeanRegret,
    Place,
    interval_notes,
    is_recording,
    plain_rows,
    reason_without_interval,
)
from driftwise.results.latex_tables import write_latex

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure


_WIDTH = 80  # of a terminal
INTERVALS = ("runs", "blocks")  # what is resampled, or varies, in a confidence interval
_OVER_BLOCKS = "Intervals are by a bootstrap over blocks of rounds of the recording."


class Caveat(NamedTuple):
    """Why a tuning rule is meaningless in an environment, and in how many runs; it is applied in each run."""

    n_runs: int
    reason: str  # in the first of these runs

    @classmethod
    def of(cls, reasons: Sequence[str]) -> Caveat | None:
        """Return the caveat of runs, of which those without a caveat have the reason ""; None if no run has one."""
        told = [reason for reason in reasons if reason]
        return cls(len(told), told[0]) if told else None

    def text(self, of: int) -> str:
        """Return the reason, and in how many of all `of` runs it applies.

        >>> Caveat(3, "99 changes in 100 rounds, its rule asks to explore in 100 % of them").text(10)
        '99 changes in 100 rounds, its rule asks to explore in 100 % of them (in 3 of 10 runs)'
        """
        if of == 1:
            return self.reason
        return f"{self.reason} (in {'all' if self.n_runs == of else f'{self.n_runs} of'} {of} runs)"


def footnote(reasons: Mapping[str, str]) -> str:
    """Return the lines below a table that give the reason of each mark, by label; learners share a line with a reason.

    >>> print(footnote({"exp3-s (tuned)": "99 changes in 100 rounds"}))
    * tuning says nothing here:
      exp3-s (tuned): 99 changes in 100 rounds
    """
    labels: dict[str, list[str]] = {}
    for label, reason in reasons.items():
        labels.setdefault(reason, []).append(label)
    lines = [f"{MARK} {SAYS_NOTHING}:"] if reasons else []
    for reason, sharing in labels.items():
        text = f"{', '.join(sharing)}: {reason}"
        lines += textwrap.wrap(text, _WIDTH, initial_indent="  ", subsequent_indent="    ", break_on_hyphens=False)
    return "\n".join(lines)


_COMMON = (
    "environment", "comparator", "play", "kind", "n_actions", "n_rounds", "n_runs", "seed", "rounds", "measures",
    "realised", "bound_rounds",
)  # fmt: skip


_FORMATS = (".parquet", ".csv")
_FORMULA = re.compile(r"\s*(?:[=@]|[+-][\s+-]*[^\s+-])")  # the start of a formula, for spreadsheets


def write_csv(path: str | os.PathLike[str], header: Sequence[str], rows: Iterable[Sequence[object]]) -> None:
    """Write rows as text below a header; numbers have enough digits to be read back equal.

    A text that a spreadsheet would compute as a formula has an apostrophe before it.
    """

    def fill(file: Path) -> None:
        with file.open("w", newline="", encoding="utf-8") as stream:
            lines = ([_csv_field(value) for value in row] for row in itertools.chain([header], rows))
            csv.writer(_CsvLines(stream), lineterminator="\r\n").writerows(lines)

    write_atomically(path, fill)


class _CsvLines(NamedTuple):
    """Ends rows with a line feed. Their writer is told another end, so that it quotes carriage returns in texts."""

    stream: TextIO

    def write(self, row: str) -> None:
        self.stream.write(row.removesuffix("\r\n") + "\n")


def _csv_field(value: object) -> object:
    return f"'{value}" if isinstance(value, str) and _FORMULA.match(value) else value


def check_format(path: str | os.PathLike[str]) -> str:
    """Return the suffix of a results file; raise if it is unknown, or if a library to write it is missing."""
    suffix = Path(path).suffix.lower()
    if suffix not in _FORMATS:
        raise InvalidInput(f"results: `path` must end in {', '.join(_FORMATS)}, got {str(path)!r}.")
    if suffix == ".parquet":
        arrow("Writing a Parquet file")
    return suffix


@dataclass(frozen=True)
class _LearnerRow(MeanRegret):
    """A row of the table of a simulation."""

    spec: Mapping[str, Any]
    played: Mapping[str, Any]


def _learner_rows(results: Results, confidence: float, interval: str) -> list[_LearnerRow]:
    rows = []
    for label, spec, played in zip(results.labels, results.learners, results.played, strict=True):
        regret = results.regret(label, confidence, interval)
        rows.append(
            _LearnerRow(
                Place("", label, results.n_rounds, results.comparator, results.play),
                regret,
                results.bound(label),
                results.caveats[label].text(results.n_runs) if label in results.caveats else "",
                results._reason_without_interval(regret, interval),
                is_recording(results.environment),
                dict(spec),
                dict(played),
            )
        )
    return rows


def regret_name(kind: str) -> str:
    """Return the name of a kind of regret."""
    return "pseudo-regret" if kind == "pseudo" else "realised regret"


def _describe(environment: Mapping[str, object]) -> str:
    """Return the names of an environment's parts, such as ``switching x bernoulli``."""
    if "replay" in environment:
        return "replay"
    parts = (environment.get("path"), environment.get("noise"))
    names = [_inner_name(part) for part in parts if isinstance(part, Mapping)]
    return " x ".join(names) if names else str(environment.get("name", "environment"))


def _inner_name(part: Mapping[str, object]) -> str:
    inner = part.get("path") or part.get("noise")  # budgets wrap a path or a noise
    return _inner_name(inner) if isinstance(inner, Mapping) else str(part.get("name"))


def _at_rounds(label: str, values: npt.ArrayLike, n: int) -> Vector:
    """Return the values of a line at the `n` rounds of a curve; one number is the same at all of them."""
    try:
        line = np.broadcast_to(np.asarray(values), (n,))
    except ValueError:  # of another shape
        line = np.empty(0, object)
    if line.dtype.kind not in LOSS_KINDS:
        rule = f"must hold a number, or one for each of the {n} `rounds`, for '{label}'"
        raise InvalidInput(f"Results: `lines` {rule}, got {shown(values)}.")
    return line.astype(np.float64)


_Lines = Mapping[str, npt.ArrayLike] | None


@dataclass(frozen=True, eq=False, repr=False)
class Results:
    """Regrets of several learners over common runs; `simulate` returns them.

    Methods that take a learner accept its label, the learner itself (`Hedge()`), or the rule that tuned it
    (`OptimisticGD.tuned`).

    Parameters
    ----------
    labels : tuple of str
        A label for each learner.
    learners : tuple of dict
        The spec of each player: `Player.from_spec` makes an equal one.
    played : tuple of dict
        The spec of each learner in run 0: for a tuned one, with the parameters that the rule set.
    environment : dict
        The spec of the environment.
    comparator : str
        What the regret is measured against: "dynamic", "static", "switching:N" or "interval:FIRST-LAST[@ACTION]".
    play : {"weights", "sample"}
        Whether a learner with full feedback incurs the mean loss under its weights or that of a sampled action.
    kind : {"pseudo", "realised"}
        Whether regret is in terms of the means or of the losses.
    n_actions : int
        Number of actions.
    n_rounds : int
        Rounds in a run.
    n_runs : int
        Number of runs.
    seed : int
        The seed of the simulation.
    rounds : array of int
        The rounds at which regret was recorded, counted from 1.
    regrets : array of float
        `regrets[i, j, p]` is the regret of learner `i` in run `j` after round `rounds[p]`.
    measures : tuple of Measures
        The measures of each run; empty if the means are unknown.
    realised : tuple of Realised
        The realised quantities of each run; the best loss L* is NaN unless `simulate` computed it.
    bound_rounds : array of int
        The rounds at which bounds were evaluated, counted from 1.
    bounds : array of float
        `bounds[i, j, p]` is the bound for learner `i` in run `j` after round `bound_rounds[p]`; NaN without one.
    caveats : dict, default {}
        By label: the caveat of each learner whose tuning rule is meaningless in this environment.
    seconds : dict, default {}
        By label: the time that the learner took for its rounds, in all runs, without compilation. Not saved.

    Examples
    --------
    >>> from driftwise import Bernoulli, Environment, OptimisticGD, Switching, simulate
    >>> from driftwise.learners import Hedge
    >>> environment = Environment(Switching(3, 4), Bernoulli())
    >>> results = simulate(environment, [OptimisticGD.tuned, Hedge()], 100, 2, seed=1)
    >>> results.labels
    ('optimistic-gd (tuned)', 'hedge')
    >>> results.final(Hedge()).shape
    (2,)
    >>> results.regret("hedge") == results.regret(Hedge())
    True
    """

    labels: tuple[str, ...]
    learners: tuple[Mapping[str, Any], ...]
    played: tuple[Mapping[str, Any], ...]
    environment: Mapping[str, Any]
    comparator: str
    play: str
    kind: str
    n_actions: int
    n_rounds: int
    n_runs: int
    seed: int
    rounds: Actions
    regrets: npt.NDArray[np.float64]
    measures: tuple[Measures, ...]
    realised: tuple[Realised, ...]
    bound_rounds: Actions
    bounds: npt.NDArray[np.float64]
    caveats: Mapping[str, Caveat] = field(default_factory=dict)
    seconds: Mapping[str, float] = field(default_factory=dict)

    def __repr__(self) -> str:
        sizes = f"n_actions={self.n_actions}, n_rounds={self.n_rounds}, n_runs={self.n_runs}, seed={self.seed}"
        return f"Results({', '.join(self.labels)}; {self.comparator}, {sizes})"

    def final(self, learner: str | AnyPlayer) -> Vector:
        """Return a learner's regret at the end of each run, an array of `n_runs` numbers."""
        regrets: Vector = self.regrets[self._index(learner), :, -1]
        return regrets

    def regret(self, learner: str | AnyPlayer, confidence: float = 0.95, interval: str = "runs") -> Estimate:
        """Return a learner's mean regret at the end, with its confidence interval.

        The `interval` is over "runs" (Student's), or over "blocks" of rounds of a recording, by a circular block
        bootstrap of the mean curve with the seed of the results. Without an interval its ends are NaN: for a single
        run, and for runs that are all equal, as those of a learner without random draws on a recording.

        Blocks are for recorded losses, and need at least 50 marked rounds. They take the recording as a stretch of a
        process whose rounds are alike, and do not choose the comparator anew: see `driftwise.regret.blocks`.
        """
        return self._estimate(self.regrets[self._index(learner)], confidence, interval)

    def bound(self, learner: str | AnyPlayer) -> float:
        """Return the bound of a learner's theorem on its expected regret at the end, NaN if there is none."""
        return float(self.bounds[self._index(learner), :, -1].mean())

    def caveat(self, learner: str | AnyPlayer) -> str:
        """Return why a learner's tuning rule is meaningless in this environment, "" if there is no caveat."""
        label = self.labels[self._index(learner)]
        return f"{SAYS_NOTHING}: {self.caveats[label].text(self.n_runs)}" if label in self.caveats else ""

    def difference(
        self, learner: str | AnyPlayer, baseline: str | AnyPlayer, confidence: float = 0.95, interval: str = "runs"
    ) -> Estimate:
        """Return the mean regret of a learner minus that of another, with its confidence interval as in `regret`.

        The difference is taken run by run, where both got the same losses: the interval is narrower than those of the
        two regrets. Its level is that of one difference; nothing is corrected for how many are looked at.
        """
        curves = self.regrets[self._index(learner)] - self.regrets[self._index(baseline)]
        return self._estimate(curves, confidence, interval)

    def _estimate(self, curves: npt.NDArray[np.float64], confidence: float, interval: str) -> Estimate:
        """Return the mean of some curves, one per run, at the end, with an interval."""
        if interval not in INTERVALS:
            raise rejection("Results", "interval", f"one of {', '.join(map(repr, INTERVALS))}", interval)
        if interval == "runs":
            return estimate(curves[:, -1], confidence)
        if not is_recording(self.environment):
            hint = "Runs of an environment have an interval over runs."
            raise rejection("Results", "interval", "'runs', unless losses are recorded", interval, hint)
        if len(self.rounds) < LEAST_VALUES:
            rule = f"have at least {LEAST_VALUES} marked rounds for blocks of them"
            raise InvalidInput(f"Results: the curves must {rule}, got {len(self.rounds)}.")
        first, _ = make_comparator(self.comparator).span(self.n_rounds)
        mean = curves.mean(axis=0)
        return block_interval(np.diff(mean, prepend=0.0), np.diff(self.rounds, prepend=first), confidence, self.seed)

    def _reason_without_interval(self, regret: Estimate, interval: str) -> str:
        if interval == "blocks":
            return "no interval: all rounds are equal" if math.isnan(regret.low) else ""
        return reason_without_interval(regret, self.n_runs, self.environment)

    def rows(self, confidence: float = 0.95, interval: str = "runs") -> list[dict[str, Any]]:
        """Return one dictionary of plain values per learner: the rows of `table`.

        The keys are `learner`, `spec`, `played`, `regret`, `low`, `high`, `bound`, `caveat` and `no_interval`, which
        says why `low` and `high` are NaN. The `interval` is that of `regret`.
        """
        return plain_rows(SIMULATION, _learner_rows(self, confidence, interval))

    def summary(self) -> str:
        """Return some lines about the environment and its measures, with the best loss L* if every run has one."""
        runs = f"{self.n_runs} run{'s' if self.n_runs != 1 else ''}"
        lines = [f"{_describe(self.environment)}: K = {self.n_actions}, T = {self.n_rounds}, {runs}, seed {self.seed}"]
        if self.measures:
            gamma, drift, variance = (
                number(float(np.mean([getattr(measures, name) for measures in self.measures])))
                for name in ("segments", "drift", "variance")
            )
            lines.append(f"segments Gamma = {gamma}, drift V = {drift}, variance Lambda = {variance}")
        D, _, _, movement, best = (float(np.mean(values)) for values in zip(*self.realised, strict=True))
        line = f"realised: deviation D = {number(D)}, movement V~ = {number(movement)}"
        lines.append(line if math.isnan(best) else f"{line}, best loss L* = {number(best)}")
        return "\n".join(lines)

    def record(self, confidence: float = 0.95, interval: str = "runs") -> dict[str, Any]:
        """Return everything but the curves as plain values, as `driftwise simulate --json` prints it.

        `behind` is the regret of a learner minus that of the learner with the least regret, as in `difference`.
        """
        rows = self.rows(confidence, interval)
        best = min(self.labels, key=lambda label: self.regret(label).mean)
        names = ("comparator", "play", "kind", "n_actions", "n_rounds", "n_runs", "seed", "environment")
        return {
            **{name: getattr(self, name) for name in names},
            "measures": [dataclasses.asdict(m) for m in self.measures],
            "realised": [r._asdict() for r in self.realised],
            "interval": interval,
            "learners": [
                {**row, "behind": self.difference(row["learner"], best, confidence, interval)._asdict()} for row in rows
            ],
        }

    def table(self, confidence: float = 0.95, interval: str = "runs") -> str:
        """Return a text table of final regrets, their intervals as in `regret`, the bounds, and regret / bound.

        A bound of T means that the theorem's value is at least the number of rounds, which is trivial.
        """
        rows = _learner_rows(self, confidence, interval)
        shown = [column for column in SIMULATION if column.heading]
        headers = [column.title(confidence) for column in shown]
        lines = [[column.text(row) for column in shown] for row in rows]
        reasons = footnote({row.place.learner: row.caveat for row in rows if row.caveat})
        title = f"{self.comparator} {regret_name(self.kind)}"
        notes = interval_notes(rows, OVER_DRAWS if interval == "runs" else _OVER_BLOCKS)
        return "\n".join([self.summary(), "", title, text_table(headers, lines), *reasons.splitlines(), *notes])

    def figure(
        self,
        confidence: float = 0.95,
        scale: str = "log",
        lines: _Lines = None,
        *,
        size: tuple[float, float] | None = None,
        title: str | None = None,
    ) -> Figure:
        """Return a Matplotlib figure of regret over rounds, with intervals as bands and bounds as dashed lines.

        `scale` is "log" (of the axis of regret), "linear", or "log-log" (of both axes). `lines` are further lines, in
        grey, by label: a number, for example the guarantee of an adversary, or one number for each of `rounds`. The
        `size` is the width and the height in inches; a `title` is, for example, `results.summary()`.

        Regret below 0 needs a linear axis, whose label says so. Labels are shown as they are, except that the name of a
        Greek letter before an equals sign, as in "eta=0.1", is shown as the letter.
        """
        return self.plot(None, confidence, scale, lines, size=size, title=title)

    def plot(
        self,
        path: str | os.PathLike[str] | None = None,
        confidence: float = 0.95,
        scale: str = "log",
        lines: _Lines = None,
        *,
        size: tuple[float, float] | None = None,
        title: str | None = None,
        ax: Axes | None = None,
    ) -> Figure:
        """Draw the figure as `figure` does, into the axes `ax` if they are given, and return it.

        With a `path`, whose name ends in .png, .svg or .pdf, the figure is written to a file. In axes of yours the
        legend is inside; `ax.get_legend().remove()` removes it.
        """
        check_look("Results", size, title, ax)
        if scale not in SCALES:
            raise rejection("Results", "scale", f"one of {', '.join(SCALES)}", scale)
        if not isinstance(lines, Mapping | None) or not all(isinstance(label, str) for label in lines or ()):
            raise rejection("Results", "lines", "a dictionary of numbers by label", lines)
        greys = {label: _at_rounds(label, values, len(self.rounds)) for label, values in (lines or {}).items()}
        curves = []
        for i, (label, regrets, bounds) in enumerate(zip(self.labels, self.regrets, self.bounds, strict=True)):
            mean, half = regrets.mean(axis=0), half_width(regrets, confidence)
            ends, has_caveat = (mean - half, mean + half), label in self.caveats
            bound = (self.bound_rounds, bounds.mean(axis=0))
            curves.append(Curve(label, self.rounds, mean, *ends, *bound, has_caveat, i))
        panel = CurvePanel(curves, f"{self.comparator} {regret_name(self.kind)}", lines=greys)
        return drawn_figure(path, lambda: curves_figure([panel], scale, size, title, ax))

    def combine(self, other: Results) -> Results:
        """Return results with the learners of both; both must come from the same losses and have different labels.

        >>> from driftwise import Bernoulli, Environment, OptimisticGD, Switching, simulate
        >>> from driftwise.learners import Hedge
        >>> environment = Environment(Switching(3, 4), Bernoulli())
        >>> one, two = (simulate(environment, learner, 100, seed=1) for learner in (OptimisticGD(), Hedge()))
        >>> one.combine(two).labels
        ('optimistic-gd', 'hedge')
        """
        for name in _COMMON:
            mine, theirs = getattr(self, name), getattr(other, name)
            if name == "realised":  # only one of them may have the best loss
                mine, theirs = ([run._replace(best_loss=math.nan) for run in runs] for runs in (mine, theirs))
            if not np.array_equal(mine, theirs) if isinstance(mine, np.ndarray) else repr(mine) != repr(theirs):
                raise InvalidInput(f"Results: both must have the same `{name}` to be combined.")
        if common := sorted({*self.labels} & {*other.labels}):
            raise InvalidInput(f"Results: both have a learner '{common[0]}'.")
        return dataclasses.replace(
            self,
            labels=(*self.labels, *other.labels),
            learners=(*self.learners, *other.learners),
            played=(*self.played, *other.played),
            regrets=np.concatenate([self.regrets, other.regrets]),
            bounds=np.concatenate([self.bounds, other.bounds]),
            realised=tuple(map(with_best_loss, self.realised, other.realised)),
            caveats={**self.caveats, **other.caveats},
            seconds={**self.seconds, **other.seconds},
        )

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write the results to a file: everything if its name ends in .parquet, the curves only if in .csv."""
        (self.to_csv if check_format(path) == ".csv" else self.to_parquet)(path)

    def to_csv(self, path: str | os.PathLike[str]) -> None:
        """Write the curves as text: a line per learner, run and round, with the regret."""
        rounds, points = self.rounds.tolist(), np.ndenumerate(self.regrets)
        rows = ((self.labels[i], run, rounds[p], float(regret)) for (i, run, p), regret in points)
        write_csv(path, ("learner", "run", "round", "regret"), rows)

    def to_parquet(self, path: str | os.PathLike[str]) -> None:
        """Write everything but `seconds` to a Parquet file; equal results give equal bytes."""
        bounds = np.full((*self.bounds.shape[:2], len(self.rounds)), np.nan)
        bounds[:, :, np.searchsorted(self.rounds, self.bound_rounds)] = self.bounds
        environment = spec_text(self.environment)
        records = [
            CellRecord(
                key="",
                environment=environment,
                learner=spec_text(self.learners[i]),
                n_actions=self.n_actions,
                n_rounds=self.n_rounds,
                seed=min(self.seed, _LARGEST_SEED),
                run=run,
                comparator=self.comparator,
                play=self.play,
                kind=self.kind,
                rounds=self.rounds,
                regrets=self.regrets[i, run],
                bounds=bounds[i, run],
                **measured_fields(self.measures[run] if self.measures else None),
                **self.realised[run]._asdict(),
                caveat=self.caveats[label].reason if label in self.caveats else "",
            )
            for i, label in enumerate(self.labels)
            for run in range(self.n_runs)
        ]
        extra = {
            "labels": self.labels,
            "played": [spec_text(spec) for spec in self.played],
            "seed": self.seed,
            "n_runs": self.n_runs,
            "bound_rounds": self.bound_rounds.tolist(),
            "change_points": [measures.change_points for measures in self.measures],
            "caveats": dict(self.caveats),
        }
        labels = [label for label in self.labels for _ in range(self.n_runs)]
        write_cells(path, CellTable.from_records(records), {"results": extra}, {"learners": labels})

    def to_latex(
        self,
        path: str | os.PathLike[str],
        confidence: float = 0.95,
        interval: str = "runs",
        *,
        caption: str | None = None,
        label: str | None = None,
        columns: Sequence[str] | None = None,
    ) -> None:
        """Write the rows of `table` as a LaTeX table, which needs the package booktabs.

        The least mean regret is in bold. With a `caption`, which is LaTeX, the table is a float, and may have a
        `label`. `columns` chooses and orders columns: "learner", "regret", "interval", "bound" and "ratio".
        """
        rows = _learner_rows(self, confidence, interval)
        title, over = f"{self.comparator} {regret_name(self.kind)}", OVER_DRAWS if interval == "runs" else _OVER_BLOCKS
        write_latex(path, "Results", SIMULATION, rows, lambda _: title, confidence, over, caption, label, columns)

    @classmethod
    def from_parquet(cls, path: str | os.PathLike[str]) -> Results:
        """Return the results that `to_parquet` wrote; `seconds` is empty."""
        return parse_results(path, *read_cells(path))

    def _index(self, learner: str | AnyPlayer) -> int:
        if isinstance(learner, str):
            if learner not in self.labels:
                raise UnknownName("learner", learner, self.labels, "in these results")
            return self.labels.index(learner)
        try:
            player = Player.of(learner)
        except InvalidInput:
            rule = "a label, or a learner such as Hedge() or Hedge.tuned"
            raise rejection("Results", "learner", rule, learner) from None
        places = [i for i, spec in enumerate(self.learners) if spec_text(spec) == player.text]
        if not places:
            raise UnknownName("learner", player.label, self.labels, "in these results")
        if len(places) > 1:
            names = " and ".join(f"'{self.labels[i]}'" for i in places)
            raise InvalidInput(f"Results: `learner` must be one label, but '{player.label}' is {names}.")
        return places[0]


_SHARED = ("environment", "n_actions", "n_rounds", "seed", "comparator", "play", "kind")  # equal in all cells
_LARGEST_SEED = 2**63 - 1  # of a cell; a larger one is in the header only


def parse_results(path: str | os.PathLike[str], table: CellTable, extra: Mapping[str, Any]) -> Results:
    """Return the results that `Results.to_parquet` wrote, from the cells and the dictionary of a file."""
    if "results" not in extra:
        raise BadFile(f"{shown_path(path)} holds cells of a sweep, not the results of one simulation.")
    try:
        return _parsed(table, extra["results"])
    except (KeyError, TypeError, ValueError, AttributeError, OverflowError, RecursionError, DriftwiseError) as error:
        reason = f"{error!r}".splitlines()[0][:200]
        raise BadFile(f"{shown_path(path)} holds damaged driftwise results: {reason}.") from None


def _parsed(table: CellTable, extra: Mapping[str, Any]) -> Results:
    labels, n_runs, seed = extra["labels"], extra["n_runs"], extra["seed"]
    if not isinstance(labels, list) or not all(isinstance(label, str) for label in labels):
        raise TypeError("labels must be texts")
    if not labels or len({*labels}) != len(labels) or type(n_runs) is not int or type(seed) is not int or seed < 0:
        raise ValueError("labels must be distinct, and the seed and the number of runs whole numbers")
    if n_runs < 1 or len(table) != len(labels) * n_runs:
        raise ValueError("there must be a cell for each label and run")
    rows = table.cells.reshape(len(labels), n_runs)
    same = all((rows[name] == rows[name][0, 0]).all() for name in _SHARED)
    if not same or (rows["run"] != np.arange(n_runs)).any() or (rows["learner"] != rows["learner"][:, :1]).any():
        raise ValueError("the cells must be those of one simulation")
    if rows["seed"][0, 0] != min(seed, _LARGEST_SEED):
        raise ValueError("the seed must be that of the cells")
    if (rows["segments"] != rows["segments"][0]).any() or (table.lengths != table.lengths[0]).any():
        raise ValueError("all learners must have the same runs")
    rounds = table.round.reshape(len(table), -1)
    if (rounds != rounds[0]).any():
        raise ValueError("all curves must have the same rounds")
    played = [json.loads(text) for text in extra["played"]]
    if len(played) != len(labels) or not all(isinstance(spec, dict) for spec in played):
        raise ValueError("each learner must have a spec")
    bound_rounds = extra["bound_rounds"]
    if not isinstance(bound_rounds, list) or not bound_rounds or not all(type(t) is int for t in bound_rounds):
        raise TypeError("bound rounds must be whole numbers")
    if not np.isin(bound_rounds, rounds[0]).all() or (np.diff(bound_rounds) <= 0).any():
        raise ValueError("bound rounds must be some of the rounds, increasing")
    return dataclasses.replace(
        _results_of_table(table, labels, np.array(bound_rounds, np.int64)),
        played=tuple(played),
        seed=seed,
        measures=tuple(_measures(rows[0], extra["change_points"])),
        caveats={label: _caveat(labels, label, *caveat) for label, caveat in extra["caveats"].items()},
    )


def results_of_cells(table: CellTable, labels: Sequence[str]) -> Results:
    """Return the results of cells with one environment, number of rounds and seed, and all runs of each learner."""
    cells = table.cells
    for name in _SHARED:
        if (n_values := len(np.unique(cells[name]))) != 1:
            raise InvalidInput(
                f"SweepResults: results need cells of one `{name}`, got {n_values}. `select` chooses one."
            )
    order = list(dict.fromkeys(labels))
    runs = np.unique(cells["run"])
    places = {(label, run): i for i, (label, run) in enumerate(zip(labels, cells["run"].tolist(), strict=True))}
    if len(places) != len(labels) or len(labels) != len(order) * len(runs) or (runs != np.arange(len(runs))).any():
        raise InvalidInput("SweepResults: results need every run of every learner, once.")
    table = table.take(np.array([places[label, int(run)] for label in order for run in runs], np.int64))
    rounds = table.record(0).rounds
    if (table.lengths != len(rounds)).any() or (table.round.reshape(len(table), -1) != rounds).any():
        raise InvalidInput("SweepResults: results need curves with the same rounds for all learners.")
    cells, first = table.cells.reshape(len(order), len(runs)), table.record(0)
    measures = [_measures_of_cell(cell) for cell in cells[0] if cell["segments"] > 0]
    bounded = np.flatnonzero(~np.isnan(table.bound.reshape(len(table), -1)).all(axis=0))
    results = _results_of_table(table, order, first.rounds[bounded if len(bounded) else [-1]])
    players = [Player.from_spec(spec) for spec in results.learners]
    reasons = cell_texts(table, "caveat").reshape(cells.shape).tolist()
    return dataclasses.replace(
        results,
        learners=tuple(player.spec for player in players),
        played=tuple(_played(player, measures, first.n_actions, first.n_rounds) for player in players),
        measures=tuple(measures),
        caveats={label: caveat for label, texts in zip(order, reasons, strict=True) if (caveat := Caveat.of(texts))},
    )


def _played(player: Player, measured: Sequence[Measures], n_actions: int, n_rounds: int) -> dict[str, Any]:
    """Return the spec of the learner in the first run; that of the player where cells do not tell what it was told."""
    if player.tuned == "budget":
        return player.spec
    try:
        with collected():
            return to_spec(player.learner(n_actions, n_rounds, measured[0] if measured else None))
    except DriftwiseError:  # the rule needs change points, which cells do not hold
        return player.spec


def _results_of_table(table: CellTable, labels: Sequence[str], bound_rounds: Actions) -> Results:
    """Return what the cells of one simulation tell; they are sorted by learner and run and have equal rounds."""
    first, shape = table.record(0), (len(labels), len(table) // len(labels), -1)
    learners = tuple(json.loads(table.texts["learner"][code]) for code in table.cells["learner"][:: shape[1]])
    return Results(
        labels=tuple(labels),
        learners=learners,
        played=learners,
        environment=json.loads(first.environment),
        **{name: getattr(first, name) for name in _SHARED[1:]},
        n_runs=shape[1],
        rounds=first.rounds,
        regrets=table.regret.reshape(shape),
        measures=(),
        realised=tuple(Realised(*(float(cell[name]) for name in REALISED)) for cell in table.cells[: shape[1]]),
        bound_rounds=bound_rounds,
        bounds=table.bound.reshape(shape)[:, :, np.searchsorted(first.rounds, bound_rounds)],
    )


def _measures(cells: npt.NDArray[np.void], change_points: Sequence[Sequence[int] | None]) -> list[Measures]:
    """Return the measures of each run; none if they are unknown."""
    if len(change_points) not in (0, len(cells)):
        raise ValueError("every run must have change points, or none")
    measures = []
    for cell, points in zip(cells, change_points, strict=bool(change_points)):
        if points is not None and not all(type(point) is int for point in points):
            raise TypeError("change points must be whole numbers")
        measures.append(_measures_of_cell(cell, None if points is None else tuple(points)))
        if any(math.isnan(cell[name]) for name in MEASURES):
            raise ValueError("measures must be numbers")
    return measures


def _measures_of_cell(cell: np.void, change_points: tuple[int, ...] | None = None) -> Measures:
    """Return the measures of the environment in a cell."""
    names = ("n_actions", "n_rounds", "segments", *MEASURES)
    return Measures(**{name: cell[name].item() for name in names}, change_points=change_points)


def _caveat(labels: list[str], label: str, n_runs: object, reason: object) -> Caveat:
    if label not in labels or type(n_runs) is not int or not isinstance(reason, str):
        raise ValueError("a caveat must have a label, a number of runs and a reason")
    return Caveat(n_runs, reason)
