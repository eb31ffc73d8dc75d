"""The results of sweeps: cells of several environments, learners and numbers of rounds, their tables and files."""

from __future__ import annotations

import functools
import json
import math
import os
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import groupby
from operator import attrgetter
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from driftwise.core.errors import BadFile, InvalidInput, one_line, rejection
from driftwise.core.files import shown_path
from driftwise.core.types import Actions, Flags, Vector
from driftwise.registry import is_unicode
from driftwise.regret.statistics import Estimate, estimate, has_interval, of_any_numbers
from driftwise.report.figures import drawn_figure
from driftwise.report.regret_figures import (
    SCALES,
    CurvePanel,
    check_look,
    curves_figure,
    dots_figure,
    heat_map_figure,
)
from driftwise.report.tables import TableGroup, grouped_table, text_table
from driftwise.results import summaries
from driftwise.results.cell_files import read_cells, write_cells
from driftwise.results.cells import COUNTS, REALS, TEXTS, CellTable, cell_texts, final_bounds
from driftwise.results.columns import (
    DIFFERENCES,
    LISTING,
    OVER_DRAWS,
    Place,
    Row,
    TableColumn,
    interval_notes,
    is_recording,
    needed_columns,
    plain_rows,
    reason_without_interval,
)
from driftwise.results.labels import CellLabels, environment_labels, learner_labels
from driftwise.results.latex_tables import write_latex
from driftwise.results.results import Caveat, Results, footnote, parse_results, regret_name, results_of_cells, write_csv
from driftwise.results.store import DamagedFile, Snapshot, read_store
from driftwise.results.summaries import (
    Comparison,
    Summary,
    UnknownLabel,
    Unpaired,
    by_number,
    in_order,
    level_note,
    place_order,
    varied_columns,
)
from driftwise.results.sweep_figures import parameter_map, sweep_panels

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure


def _read(path: str | os.PathLike[str]) -> Snapshot:
    if os.path.isdir(path):  # noqa: PTH112 (a Path raises where the name is too long)
        return read_store(path)
    if not os.path.lexists(path):
        raise BadFile(f"There is no file or folder {shown_path(path)}.")
    table, extra = read_cells(path)
    labels = {name: _texts(extra.get("labels"), name) for name in ("environments", "learners")}
    if "results" in extra:
        table, labels["learners"] = _labelled(table, parse_results(path, table, extra))
    return Snapshot(table, labels)


def _texts(sections: object, name: str) -> dict[str, str]:
    """Return the labels of a section that are texts."""
    section = sections.get(name) if isinstance(sections, dict) else None
    entries = section.items() if isinstance(section, dict) else ()
    return {spec: label for spec, label in entries if isinstance(label, str) and is_unicode(spec + label)}


def _labelled(table: CellTable, results: Results) -> tuple[CellTable, dict[str, str]]:
    """Return the cells of one simulation with the labels of its learners, by spec as text.

    The same learner may be there several times, with other random numbers: spaces after its spec distinguish these. A
    file has the number of runs to which a caveat applies, and not which runs: the first ones have it.
    """
    cells = table.cells.copy().reshape(len(results.labels), results.n_runs)
    texts, reasons = list(table.texts["learner"]), list(table.texts["caveat"])
    labels: dict[str, str] = {}
    for label, row in zip(results.labels, cells, strict=True):
        text = texts[row["learner"][0]]
        while text in labels:
            text += " "
        if text not in texts:
            texts.append(text)
        row["learner"] = texts.index(text)
        labels[text] = label
        if label in results.caveats:
            reasons += [] if "" in reasons else [""]
            row["caveat"][results.caveats[label].n_runs :] = reasons.index("")
    changed = {**table.texts, "learner": tuple(texts), "caveat": tuple(reasons)}
    return replace(table, cells=np.ravel(cells), texts=changed), labels


def _headings(rows: Sequence[Summary]) -> Callable[[Summary], str]:
    """Return what gives the heading above a row: its environment and its kind of regret."""
    differing = "comparator" in varied_columns(row.place for row in rows)

    def heading(row: Summary) -> str:
        comparator = "" if differing else f"{row.place.comparator} "
        return f"{row.place.environment}: {comparator}{regret_name(row.kind or 'pseudo')}"

    return heading


def _grouped_text(
    columns: Sequence[TableColumn[Row]],
    rows: Sequence[Row],
    confidence: float,
    heading: Callable[[Row], str],
    notes: Callable[[Sequence[Row]], Sequence[str]],
) -> str:
    shown = [column for column in needed_columns(columns, rows) if column.heading]
    groups = []
    for name, members in groupby(rows, key=heading):
        some = list(members)
        groups.append(TableGroup(name, [[column.text(row) for column in shown] for row in some], notes(some)))
    headers = [column.title(confidence) for column in shown]
    return grouped_table(headers, groups, left=sum(column.is_left for column in shown))


def _footnotes(rows: Sequence[Summary]) -> list[str]:
    several = len({row.place.n_rounds for row in rows}) > 1
    reasons = {}
    for row in rows:
        if row.caveat:
            rounds = f" ({row.place.n_rounds} rounds)" if several else ""
            reasons[one_line(f"{row.place.learner}{rounds}")] = one_line(row.caveat)
    return [f"  {line}" for line in footnote(reasons).splitlines()]


def _counted(n: int, noun: str, rest: str = "") -> str:
    return f"{n} {noun}{'' if n == 1 else 's'}{rest}"


def _ranges(numbers: Sequence[int]) -> str:
    """Return numbers as text, consecutive ones as a range.

    >>> _ranges([0, 1, 2, 5])
    '0-2, 5'
    """
    consecutive = groupby(enumerate(numbers), key=lambda place: place[1] - place[0])
    parts = [[number for _, number in places] for _, places in consecutive]
    return ", ".join(f"{part[0]}-{part[-1]}" if len(part) > 1 else str(part[0]) for part in parts)


_FIRST = ("environment", "learner", "n_rounds", "seed", "run", "regret", "bound", "error")
_LATER = ("comparator", "play", "kind", "n_actions", "segments", *REALS, "caveat", "machine")
CSV_COLUMNS = (*_FIRST, *_LATER, "environment_spec", "learner_spec")
_CURVE_COLUMNS = (
    "environment", "learner", "n_rounds", "seed", "run", "comparator", "play", "round", "regret", "bound",
)  # fmt: skip


def _numbers(values: Vector) -> list[object]:
    return ["" if math.isnan(value) else value for value in values.tolist()]


Labels = npt.NDArray[np.object_]


@dataclass(frozen=True, eq=False, repr=False)
class SweepResults:
    """Results of all cells of a sweep, or of a folder; `Sweep.run` returns them.

    Parameters
    ----------
    cells : CellTable
        The cells, column by column.
    labels : dict
        Labels by spec, as text, under "environments" and "learners"; others are made from the specs.
    damaged : sequence of DamagedFile, default ()
        Files that could not be read; their cells are missing.
    n_repeated : int, default 0
        Cells that were left out, because the same run of the same learner was stored again.

    Examples
    --------
    >>> import tempfile
    >>> from driftwise import Bernoulli, Environment, Hedge, OptimisticGD, Sweep, Switching
    >>> sweep = Sweep(Environment(Switching(3, 4), Bernoulli()), [OptimisticGD.tuned, Hedge()], 100, n_runs=5)
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     results = sweep.run(folder)
    ...     again = SweepResults.read(folder)
    >>> results
    SweepResults(10 cells: 1 environment, 2 learners, 1 number of rounds, 1 seed, none failed)
    >>> [(row.place.learner, row.n_cells) for row in results.summaries()]
    [('optimistic-gd (tuned)', 5), ('hedge', 5)]
    >>> again.table() == results.table()
    True
    """

    cells: CellTable
    labels: Mapping[str, Mapping[str, str]]
    damaged: Sequence[DamagedFile] = ()
    n_repeated: int = 0

    @classmethod
    def read(cls, *paths: str | os.PathLike[str]) -> SweepResults:
        """Return the results in folders of stored cells and in files that `Results.to_parquet` wrote.

        Nothing is changed there, so another process may be filling a folder, and a disk may be read-only.
        """
        if not paths:
            raise InvalidInput("SweepResults: `paths` must have at least one folder or file, got none.")
        snapshots = [_read(path) for path in paths]
        table = CellTable.concatenate([snapshot.table for snapshot in snapshots])
        labels: dict[str, dict[str, str]] = {"environments": {}, "learners": {}}
        for snapshot in reversed(snapshots):  # the first label of a spec is taken
            for name, texts in labels.items():
                texts.update(snapshot.labels[name])
        damaged = [
            DamagedFile(shown_path(Path(path) / file.name), file.reason)
            for path, snapshot in zip(paths, snapshots, strict=True)
            for file in snapshot.damaged
        ]
        distinct = summaries.distinct_cells(table)
        return cls(distinct, labels, tuple(damaged), len(table) - len(distinct))

    def __repr__(self) -> str:
        return f"SweepResults({self.counts()})"

    def of_keys(self, keys: Sequence[str]) -> SweepResults:
        """Return the cells with these keys, in this order."""
        if missing := [key for key in keys if key not in self._positions]:
            raise InvalidInput(f"SweepResults: {len(missing)} of {len(keys)} cells are not stored.")
        return replace(self, cells=self.cells.take(np.array([self._positions[key] for key in keys], np.int64)))

    @functools.cached_property
    def _positions(self) -> dict[str, int]:
        return {key: i for i, key in enumerate(self.cells.keys())}

    @property
    def environments(self) -> Labels:
        """The label of each cell's environment."""
        return self.environment_labels.texts

    @property
    def learners(self) -> Labels:
        """The label of each cell's learner."""
        return self.learner_labels.texts

    @functools.cached_property
    def environment_labels(self) -> CellLabels:
        """The labels of environments, and which of them each cell has."""
        return environment_labels(self.cells, self.labels.get("environments", {}))

    @functools.cached_property
    def learner_labels(self) -> CellLabels:
        """The labels of learners, and which of them each cell has."""
        return learner_labels(self.cells, self.labels.get("learners", {}))

    def select(
        self,
        environment: str | Sequence[str] | None = None,
        learner: str | Sequence[str] | None = None,
        n_rounds: int | Sequence[int] | None = None,
        seed: int | Sequence[int] | None = None,
        comparator: str | Sequence[str] | None = None,
    ) -> SweepResults:
        """Return the cells with one of these labels, numbers of rounds, seeds and comparators; None selects all.

        In a text that is no label, * stands for any text. The filters are applied one after the other, and one that
        matches no cell raises an error that names the nearest label.
        """
        chosen = self
        if environment is not None:
            chosen = chosen._where(summaries.cells_with_labels("environment", chosen.environment_labels, environment))
        if learner is not None:
            chosen = chosen._where(summaries.cells_with_labels("learner", chosen.learner_labels, learner))
        for name, numbers in (("n_rounds", n_rounds), ("seed", seed)):
            if numbers is not None:
                chosen = chosen._where(summaries.cells_with_numbers(name, chosen.cells.cells[name], numbers))
        if comparator is not None:
            labels = CellLabels(chosen.cells.texts["comparator"], chosen.cells.cells["comparator"])
            chosen = chosen._where(summaries.cells_with_labels("comparator", labels, comparator))
        return chosen

    def places(self) -> Iterator[tuple[Place, Actions]]:
        """Yield each environment, learner and number of rounds with the positions of its cells in the table.

        They are in order of their first cells, and the cells of each are sorted by run: the order of the cells of a
        folder is arbitrary, and sums depend on the order in the last digit.
        """
        labels, cells = (self.environment_labels, self.learner_labels), self.cells.cells
        rank = np.empty(len(cells), np.int64)
        rank[np.lexsort((cells["run"], cells["seed"]))] = np.arange(len(cells))
        columns = (*(label.codes for label in labels), cells["n_rounds"], cells["comparator"], cells["play"])
        for members in summaries.members_of(summaries.group_codes(columns, len(cells))):
            cell = self.cells.record(int(members[0]))
            environment, learner = (label.names[label.codes[members[0]]] for label in labels)
            place = Place(environment, learner, cell.n_rounds, cell.comparator, cell.play)
            yield place, members[np.argsort(rank[members])]

    @of_any_numbers
    def summaries(self, confidence: float = 0.95) -> list[Summary]:
        """Return the mean regret of each learner in each environment with each number of rounds, in order of cells."""
        table = self.cells
        final, failed, bounds = table.final, table.failed, final_bounds(table)
        kinds, caveats = cell_texts(table, "kind"), cell_texts(table, "caveat")
        rows = []
        for place, members in self.places():
            played = members[~failed[members]]
            regret, bound, caveat, kind = Estimate(math.nan, math.nan, math.nan), math.nan, "", ""
            environment = self._spec(members)
            if len(played):
                regret, bound = estimate(final[played], confidence), float(np.mean(bounds[played]))
                reason, kind = Caveat.of(caveats[played].tolist()), kinds[played[0]]
                caveat = reason.text(len(played)) if reason else ""
            no_interval = reason_without_interval(regret, len(played), environment)
            recorded, n_failed = len(played) > 0 and is_recording(environment), len(members) - len(played)
            rows.append(Summary(place, regret, bound, caveat, no_interval, recorded, n_failed, kind, table, played))
        return rows

    def rows(self, confidence: float = 0.95) -> list[dict[str, Any]]:
        """Return one dictionary of plain values per learner, environment and number of rounds: the rows of the table.

        They are sorted by environment and rounds, the least regret first. `bound` is the mean over cells. `ratio` is
        `regret / bound`, NaN where the bound is trivial: 0, or at least the number of rounds.
        """
        return plain_rows(LISTING, in_order(self.summaries(confidence)))

    def counts(self) -> str:
        """Return how many cells, environments, learners, numbers of rounds and seeds there are, in one line."""
        counts = [
            _counted(len(self.environment_labels.names), "environment"),
            _counted(len(self.learner_labels.names), "learner"),
            _counted(len(np.unique(self.cells.cells["n_rounds"])), "number", " of rounds"),
            _counted(len(np.unique(self.cells.cells["seed"])), "seed"),
            f"{int(self.cells.failed.sum()) or 'none'} failed",
        ]
        return f"{_counted(len(self.cells), 'cell')}: {', '.join(counts)}" if len(self.cells) else "no cells"

    def table(self, confidence: float = 0.95) -> str:
        """Return a text table: for each environment, the mean regret of each learner with its interval and its bound.

        A star marks a learner whose tuning rule is meaningless there; the reason is below. A bound of T means that the
        theorem's value is at least the number of rounds, which is trivial.
        """
        rows = in_order(self.summaries(confidence))
        if not rows:
            return ""
        text = _grouped_text(LISTING, rows, confidence, _headings(rows), _footnotes)
        return "\n".join([text, *interval_notes(rows)])

    def compare(self, baseline: str, confidence: float = 0.95, simultaneous: bool = False) -> list[Comparison]:
        """Return how much more regret each learner has than a baseline, over pairs of cells with the same losses.

        Learners without such pairs are left out; `unpaired` returns them with the reason. Each interval has the level
        `confidence` on its own; if `simultaneous`, all of them together have at least this level (Bonferroni: each of
        N intervals has the level `1 - (1 - confidence) / N`). Pairs that are all equal have no interval: NaN.
        """
        return self._compared(baseline, confidence, simultaneous)[0]

    def unpaired(self, baseline: str) -> list[Unpaired]:
        """Return the places that cannot be compared with a baseline, and why.

        One reason is an adversary that built its environment against each learner: the losses differ.
        """
        return self._compared(baseline)[1]

    def comparison_text(self, baseline: str, confidence: float = 0.95, simultaneous: bool = False) -> str:
        """Return a text table of `compare`, with the learners that cannot be compared below."""
        rows, unpaired = self._compared(baseline, confidence, simultaneous)
        rows.sort(key=lambda row: (*place_order(row.place), row.difference.mean))
        parts = [f"Regret minus that of '{one_line(baseline)}' on the same losses (same environment, seed and run)."]
        if rows:
            parts += ["", _grouped_text(DIFFERENCES, rows, confidence, attrgetter("place.environment"), lambda _: ())]
            parts += interval_notes(rows)
            parts.append(f"lower, higher: the interval excludes 0. {level_note(rows, confidence, simultaneous)}")
        else:
            parts.append("There are no such pairs.")
        reasons: dict[tuple[str, str], dict[str, None]] = {}
        for place, reason in sorted(unpaired, key=lambda absent: place_order(absent.place)):
            reasons.setdefault((place.environment, reason), {})[place.learner] = None
        parts += ["", "Not compared:"] if reasons else []
        for (environment, reason), learners in reasons.items():
            parts.append(f"  {one_line(', '.join(learners))} in {one_line(environment)}: {reason}.")
        return "\n".join(parts)

    def failures(self) -> list[tuple[Place, int, int, str]]:
        """Return the place, seed, run and error of each cell that could not be played."""
        chosen = self._where(self.cells.failed)
        places = {i: place for place, members in chosen.places() for i in members.tolist()}
        cells = map(chosen.cells.record, range(len(chosen.cells)))
        return [(places[i], cell.seed, cell.run, cell.error) for i, cell in enumerate(cells)]

    def failures_text(self, width: int = 100) -> str:
        """Return a text table of the cells that could not be played; runs with the same error share a row."""
        failures = self.failures()
        if not failures:
            return "No cell failed."
        varied = varied_columns(place for place, *_ in failures)
        runs: dict[tuple[Place, int, str], list[int]] = {}
        for place, seed, run, error in failures:
            runs.setdefault((place, seed, error), []).append(run)
        rows = sorted(runs.items(), key=lambda row: (*place_order(row[0][0]), by_number(row[0][0].learner), row[0][1:]))
        names = ("learner", *varied, "n_rounds")
        headers = ["learner", *varied, "rounds", "seed", "runs", "error"]
        parts = []
        for environment, members in groupby(rows, key=lambda row: row[0][0].environment):
            lines = [
                [*(str(getattr(place, name)) for name in names), str(seed), _ranges(sorted(numbers)), one_line(error)]
                for (place, seed, error), numbers in members
            ]
            parts.append(f"{one_line(environment)}\n{text_table(headers, lines, len(headers), width)}")
        return "\n\n".join(parts)

    def results(self) -> Results:
        """Return the results of one simulation, if these cells have one environment, number of rounds and seed."""
        return results_of_cells(self.cells.select(~self.cells.failed), self.learners[~self.cells.failed].tolist())

    def to_csv(self, path: str | os.PathLike[str]) -> None:
        """Write one line per cell; numbers have enough digits to be read back equal, and NaN is an empty field."""
        table = self.cells
        texts = {name: cell_texts(table, name).tolist() for name in TEXTS}
        columns: dict[str, list[object]] = {
            **{name: table.cells[name].tolist() for name in COUNTS},
            **{name: _numbers(table.cells[name]) for name in REALS},
            **texts,
            "environment": self.environments.tolist(),
            "learner": self.learners.tolist(),
            "regret": _numbers(table.final),
            "bound": _numbers(final_bounds(table)),
            "segments": [n or "" for n in table.cells["segments"].tolist()],
            **{f"{name}_spec": [text.rstrip(" ") for text in texts[name]] for name in ("environment", "learner")},
        }
        write_csv(path, CSV_COLUMNS, zip(*(columns[name] for name in CSV_COLUMNS), strict=True))

    def curves_to_csv(self, path: str | os.PathLike[str]) -> None:
        """Write one line per marked round of each cell that was played, with the regret and the bound up to there.

        A cell of a sweep without curves has one marked round, the last one.
        """
        table = self.cells.select(~self.cells.failed)
        played, cell = self._where(~self.cells.failed), np.repeat(np.arange(len(table)), table.lengths)
        of_cells = [
            played.environments, played.learners, *(table.cells[name] for name in ("n_rounds", "seed", "run")),
            cell_texts(table, "comparator"), cell_texts(table, "play"),
        ]  # fmt: skip
        columns = [*(column[cell].tolist() for column in of_cells), table.round.tolist()]
        columns += [_numbers(table.regret), _numbers(table.bound)]
        write_csv(path, _CURVE_COLUMNS, zip(*columns, strict=True))

    def to_parquet(self, path: str | os.PathLike[str]) -> None:
        """Write one row per cell and marked round to a Parquet file, which `read` reads again."""
        labels = self._labels_by_spec()
        write_cells(path, self.cells, {"labels": labels}, labels)

    def to_latex(
        self,
        path: str | os.PathLike[str],
        confidence: float = 0.95,
        *,
        caption: str | None = None,
        label: str | None = None,
        columns: Sequence[str] | None = None,
    ) -> None:
        """Write the rows as a LaTeX table, which needs the package booktabs.

        The least mean regret of each environment and number of rounds is in bold. With a `caption`, which is LaTeX, the
        table is a float, and may have a `label`. `columns` chooses and orders columns: "learner", "n_rounds",
        "comparator", "play", "n_cells", "n_failed", "regret", "interval", "bound" and "ratio".
        """
        rows = in_order(self.summaries(confidence))
        heading = _headings(rows)
        write_latex(path, "SweepResults", LISTING, rows, heading, confidence, OVER_DRAWS, caption, label, columns)

    def figure(
        self,
        confidence: float = 0.95,
        scale: str | None = None,
        *,
        size: tuple[float, float] | None = None,
        title: str | None = None,
    ) -> Figure:
        """Return a Matplotlib figure with a panel for each environment, all with the same axis of regret.

        A panel has regret over rounds if the cells have curves, else the mean regret over the numbers of rounds, with
        the bounds; for one number of rounds it has the learners one below the other. `scale` is "log", "linear" or
        "log-log"; None is "log" for curves, "log-log" over numbers of rounds, and "linear" for one number of rounds.
        """
        return self.plot(None, confidence, scale, size=size, title=title)

    def plot(
        self,
        path: str | os.PathLike[str] | None = None,
        confidence: float = 0.95,
        scale: str | None = None,
        *,
        size: tuple[float, float] | None = None,
        title: str | None = None,
        ax: Axes | None = None,
    ) -> Figure:
        """Draw the figure as `figure` does and return it; with a `path`, write it to a .png, .svg or .pdf file.

        The panel of one environment may be drawn into the axes `ax`; `select` chooses an environment.
        """
        check_look("SweepResults", size, title, ax)
        if scale is not None and scale not in SCALES:
            raise rejection("SweepResults", "scale", f"None or one of {', '.join(SCALES)}", scale)
        panels: Sequence[Any] = sweep_panels(self, confidence)
        if ax is not None and len(panels) > 1:
            hint = "`select` chooses an environment."
            raise InvalidInput(f"SweepResults: `ax` is for one panel, got {len(panels)} environments. {hint}")
        draw: Any = dots_figure
        usual = "linear"
        if isinstance(panels[0], CurvePanel):
            draw, usual = curves_figure, "log-log" if panels[0].over_lengths else "log"
        return drawn_figure(path, lambda: draw(panels, scale or usual, size, title, ax))

    def heat_map(
        self,
        x: str,
        y: str,
        path: str | os.PathLike[str] | None = None,
        *,
        size: tuple[float, float] | None = None,
        title: str | None = None,
        ax: Axes | None = None,
    ) -> Figure:
        """Draw the mean regret over the values of two parameters, and return the figure; the least one has a frame.

        `x` and `y` are parameters of the learners or the environments, such as "learning_rate" and "n_segments", or
        "n_rounds". If a learner and an environment have the same one, "learner." or "environment." is before it. Cells
        without one of them are left out. Where the others differ, as in several environments, `select` chooses some.
        """
        check_look("SweepResults", size, title, ax)
        values = parameter_map(self, x, y)
        return drawn_figure(path, lambda: heat_map_figure(values, size, title, ax))

    def _where(self, chosen: Flags) -> SweepResults:
        """Return some of the cells; their labels stay the same."""
        return replace(self, cells=self.cells.select(chosen), labels=self._labels_by_spec())

    def _labels_by_spec(self) -> dict[str, Mapping[str, str]]:
        return {
            "environments": self.environment_labels.by_text(self.cells, "environment"),
            "learners": self.learner_labels.by_text(self.cells, "learner"),
        }

    def _spec(self, members: Actions) -> Any:
        """Return the spec of the environment of some cells that share it."""
        return json.loads(self.cells.texts["environment"][self.cells.cells["environment"][members[0]]])

    @of_any_numbers
    def _compared(
        self, baseline: str, confidence: float = 0.95, simultaneous: bool = False
    ) -> tuple[list[Comparison], list[Unpaired]]:
        """Return the comparison at each place, and the places where there is none.

        A pair has the same spec of the environment, number of rounds, seed, run, comparator and play. Quantities of the
        losses must agree as well: an environment of an earlier version, or a recording that was replaced, has the same
        spec and other losses.
        """
        if baseline not in self.learner_labels.names:
            raise UnknownLabel("learner", baseline, self.learner_labels.names)
        table, places = self.cells, list(self.places())
        played = ~table.failed
        is_baseline = np.zeros(len(table), np.bool_)
        for place, members in places:
            is_baseline[members] = place.learner == baseline
        partner = summaries.partners(table, is_baseline & played)
        same = summaries.same_losses(table, partner)
        final, there = table.final, {place for place, members in places if played[members].any()}
        differences: list[tuple[Place, Actions, Vector]] = []
        unpaired = []
        for place, members in places:
            if place.learner == baseline or not played[members].any():
                continue
            with_partner = members[played[members] & (partner[members] >= 0)]
            pairs = with_partner[same[with_partner]]
            if len(pairs):
                differences.append((place, members, final[pairs] - final[partner[pairs]]))
            elif len(with_partner):
                unpaired.append(Unpaired(place, summaries.CHANGED))
            elif place._replace(learner=baseline) not in there:
                unpaired.append(Unpaired(place, summaries.ABSENT))
            else:
                reason = summaries.BUILT if "against" in self._spec(members) else summaries.APART
                unpaired.append(Unpaired(place, reason))
        n_intervals = sum(has_interval(values) for *_, values in differences)
        level = 1 - (1 - confidence) / n_intervals if simultaneous and n_intervals else confidence
        compared = []
        for place, members, values in differences:
            difference, environment = estimate(values, level), self._spec(members)
            no_interval = reason_without_interval(difference, len(values), environment)
            n_cells, recorded = int(played[members].sum()), is_recording(environment)
            compared.append(Comparison(place, baseline, len(values), difference, n_cells, no_interval, recorded))
        return compared, unpaired
