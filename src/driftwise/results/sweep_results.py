"""The results of sweeps: cells of several environments, learners and numbers of rounds, and where they are read."""

from __future__ import annotations

import functools
import json
import os
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from driftwise.core.errors import BadFile, DriftwiseError, InvalidInput
from driftwise.core.files import shown_path
from driftwise.core.measures import Measures, collected
from driftwise.core.types import Actions, Flags
from driftwise.learners import Player
from driftwise.registry import is_unicode, to_spec
from driftwise.results import summaries, sweep_tables
from driftwise.results.cell_files import read_cells, write_cells
from driftwise.results.cells import CellTable, cell_texts
from driftwise.results.columns import Place, plain_rows
from driftwise.results.labels import CellLabels, environment_labels, learner_labels
from driftwise.results.results import Caveat, Results, measures_of_cell, parse_results, results_of_table
from driftwise.results.store import DamagedFile, Snapshot, read_store
from driftwise.results.summaries import Comparison, Summary, UnknownLabel, Unpaired


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


_SHARED = ("environment", "n_actions", "n_rounds", "seed", "comparator", "play", "kind")


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
    if (table.lengths != table.lengths[0]).any():
        raise InvalidInput("SweepResults: results need curves with the same rounds for all learners.")
    cells, first = table.cells.reshape(len(order), len(runs)), table.record(0)
    measures = [measures_of_cell(cell) for cell in cells[0] if cell["segments"] > 0]
    bounded = np.flatnonzero(~np.isnan(table.bound.reshape(len(table), -1)).all(axis=0))
    players = [Player.from_spec(json.loads(table.texts["learner"][row["learner"][0]])) for row in cells]
    reasons = cell_texts(table, "caveat").reshape(cells.shape).tolist()
    return results_of_table(
        table,
        labels=order,
        learners=[player.spec for player in players],
        played=[_played(player, measures, first.n_actions, first.n_rounds) for player in players],
        seed=first.seed,
        measures=measures,
        bound_rounds=first.rounds[bounded if len(bounded) else [-1]],
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
        """Yield each environment, learner and number of rounds with the positions of its cells in the table."""
        return summaries.places_of(self.cells, self.environment_labels, self.learner_labels)

    def summaries(self, confidence: float = 0.95) -> list[Summary]:
        """Return the mean regret of each learner in each environment with each number of rounds, in order of cells."""
        return summaries.summaries_of(self.cells, self.places(), confidence)

    def rows(self, confidence: float = 0.95) -> list[dict[str, Any]]:
        """Return one dictionary of plain values per learner, environment and number of rounds: the rows of the table.

        They are sorted by environment and rounds, the least regret first. `bound` is the mean over cells. `ratio` is
        `regret / bound`, NaN where the bound is trivial: 0, or at least the number of rounds.
        """
        return plain_rows(sweep_tables.LISTING, summaries.in_order(self.summaries(confidence)))

    def counts(self) -> str:
        """Return how many cells, environments, learners, numbers of rounds and seeds there are, in one line."""
        return sweep_tables.counts_text(self.cells, len(self.environment_labels.names), len(self.learner_labels.names))

    def table(self, confidence: float = 0.95) -> str:
        """Return a text table: for each environment, the mean regret of each learner with its interval and its bound.

        A star marks a learner whose tuning rule is meaningless there; the reason is below. A bound of T means that the
        theorem's value is at least the number of rounds, which is trivial.
        """
        return sweep_tables.listing_text(summaries.in_order(self.summaries(confidence)), confidence)

    def compare(self, baseline: str, confidence: float = 0.95) -> list[Comparison]:
        """Return how much more regret each learner has than a baseline, over pairs of cells with the same losses.

        Learners without such pairs are left out; `unpaired` returns them with the reason.
        """
        return self._compared(baseline, confidence)[0]

    def unpaired(self, baseline: str) -> list[Unpaired]:
        """Return the places that cannot be compared with a baseline, and why.

        One reason is an adversary that built its environment against each learner: the losses differ.
        """
        return self._compared(baseline, 0.95)[1]

    def comparison_text(self, baseline: str, confidence: float = 0.95) -> str:
        """Return a text table of `compare`, with the learners that cannot be compared below."""
        return sweep_tables.comparison_text(*self._compared(baseline, confidence), baseline, confidence)

    def failures(self) -> list[tuple[Place, int, int, str]]:
        """Return the place, seed, run and error of each cell that could not be played."""
        chosen = self._where(self.cells.failed)
        cells, errors = chosen.cells.cells, chosen.cells.texts["error"]
        found = {
            int(i): (place, int(cells["seed"][i]), int(cells["run"][i]), errors[cells["error"][i]])
            for place, members in chosen.places()
            for i in members
        }
        return [found[i] for i in range(len(cells))]

    def failures_text(self, width: int = 100) -> str:
        """Return a text table of the cells that could not be played; runs with the same error share a row."""
        return sweep_tables.failures_text(self.failures(), width)

    def results(self) -> Results:
        """Return the results of one simulation, if these cells have one environment, number of rounds and seed."""
        return results_of_cells(self.cells.select(~self.cells.failed), self.learners[~self.cells.failed].tolist())

    def to_csv(self, path: str | os.PathLike[str]) -> None:
        """Write one line per cell; numbers have enough digits to be read back equal, and NaN is an empty field."""
        sweep_tables.write_cells_csv(path, self.cells, self.environment_labels, self.learner_labels)

    def to_parquet(self, path: str | os.PathLike[str]) -> None:
        """Write one row per cell and marked round to a Parquet file, which `read` reads again."""
        labels = self._labels_by_spec()
        write_cells(path, self.cells, {"labels": labels}, labels)

    def to_latex(self, path: str | os.PathLike[str], confidence: float = 0.95) -> None:
        """Write the rows as a LaTeX table, which needs the package booktabs."""
        sweep_tables.write_latex(path, summaries.in_order(self.summaries(confidence)), confidence)

    def _where(self, chosen: Flags) -> SweepResults:
        """Return some of the cells; their labels stay the same."""
        return replace(self, cells=self.cells.select(chosen), labels=self._labels_by_spec())

    def _labels_by_spec(self) -> dict[str, Mapping[str, str]]:
        return {
            "environments": self.environment_labels.by_text(self.cells, "environment"),
            "learners": self.learner_labels.by_text(self.cells, "learner"),
        }

    def _compared(self, baseline: str, confidence: float) -> tuple[list[Comparison], list[Unpaired]]:
        if baseline not in self.learner_labels.names:
            raise UnknownLabel("learner", baseline, self.learner_labels.names)
        return summaries.comparisons_of(self.cells, self.places(), baseline, confidence)
