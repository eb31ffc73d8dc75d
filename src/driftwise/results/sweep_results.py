"""The results of sweeps: cells of several environments, learners and numbers of rounds."""

from __future__ import annotations

import functools
import os
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import numpy.typing as npt

from driftwise.core.errors import InvalidInput
from driftwise.core.tuning_caveats import SAYS_NOTHING
from driftwise.core.types import Actions, Flags
from driftwise.results.cell_files import write_cells
from driftwise.results.cell_filters import UnknownLabel, cells_with_labels, cells_with_numbers
from driftwise.results.cell_table import CellTable
from driftwise.results.cells_csv import write_cells_csv
from driftwise.results.comparisons import Comparison, Unpaired, comparisons_of
from driftwise.results.latex_tables import write_latex
from driftwise.results.result_paths import read_paths
from driftwise.results.results import Results
from driftwise.results.results_of_cells import results_of_cells
from driftwise.results.store import DamagedFile
from driftwise.results.summaries import Place, Summary, in_order, places_of, summaries_of
from driftwise.results.sweep_labels import CellLabels, environment_labels, learner_labels
from driftwise.results.sweep_text import comparison_text, counts_text, failures_text, listing_text

__all__ = ["Comparison", "Place", "Summary", "SweepResults"]

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
        return cls(*read_paths(paths))

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
            chosen = chosen._where(cells_with_labels("environment", chosen.environment_labels, environment))
        if learner is not None:
            chosen = chosen._where(cells_with_labels("learner", chosen.learner_labels, learner))
        if n_rounds is not None:
            chosen = chosen._where(cells_with_numbers("n_rounds", chosen.cells.cells["n_rounds"], n_rounds))
        if seed is not None:
            chosen = chosen._where(cells_with_numbers("seed", chosen.cells.cells["seed"], seed))
        if comparator is not None:
            names = CellLabels(chosen.cells.texts["comparator"], chosen.cells.cells["comparator"])
            chosen = chosen._where(cells_with_labels("comparator", names, comparator))
        return chosen

    def places(self) -> Iterator[tuple[Place, Actions]]:
        """Yield each environment, learner and number of rounds with the positions of its cells in the table."""
        return places_of(self.cells, self.environment_labels, self.learner_labels)

    def summaries(self, confidence: float = 0.95) -> list[Summary]:
        """Return the mean regret of each learner in each environment with each number of rounds, in order of cells."""
        return summaries_of(self.cells, self.places(), confidence)

    def rows(self, confidence: float = 0.95) -> list[dict[str, Any]]:
        """Return one dictionary of plain values per learner, environment and number of rounds: the rows of the table.

        They are sorted by environment and rounds, the least regret first. `bound` is the mean over cells. `ratio` is
        `regret / bound`, NaN where the bound is trivial: 0, or at least the number of rounds.
        """
        return [
            {
                **row.place._asdict(),
                "kind": row.kind,
                "n_cells": row.n_cells,
                "n_failed": row.n_failed,
                "regret": row.regret.mean,
                "low": row.regret.low,
                "high": row.regret.high,
                "bound": row.bound,
                "ratio": row.ratio,
                "caveat": f"{SAYS_NOTHING}: {row.caveat}" if row.caveat else "",
            }
            for row in in_order(self.summaries(confidence))
        ]

    def counts(self) -> str:
        """Return how many cells, environments, learners, numbers of rounds and seeds there are, in one line."""
        return counts_text(self.cells, len(self.environment_labels.names), len(self.learner_labels.names))

    def table(self, confidence: float = 0.95) -> str:
        """Return a text table: for each environment, the mean regret of each learner with its interval and its bound.

        A star marks a learner whose tuning rule is meaningless there; the reason is below. A bound of T means that the
        theorem's value is at least the number of rounds, which is trivial.
        """
        return listing_text(in_order(self.summaries(confidence)), confidence)

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
        return comparison_text(*self._compared(baseline, confidence), baseline, confidence)

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
        return failures_text(self.failures(), width)

    def results(self) -> Results:
        """Return the results of one simulation, if these cells have one environment, number of rounds and seed."""
        return results_of_cells(self.cells.select(~self.cells.failed), self.learners[~self.cells.failed].tolist())

    def to_csv(self, path: str | os.PathLike[str]) -> None:
        """Write one line per cell; numbers have enough digits to be read back equal, and NaN is an empty field."""
        write_cells_csv(path, self.cells, self.environment_labels, self.learner_labels)

    def to_parquet(self, path: str | os.PathLike[str]) -> None:
        """Write one row per cell and marked round to a Parquet file, which `read` reads again."""
        labels = self._labels_by_spec()
        write_cells(path, self.cells, {"labels": labels}, labels)

    def to_latex(self, path: str | os.PathLike[str], confidence: float = 0.95) -> None:
        """Write the rows as a LaTeX table, which needs the package booktabs."""
        write_latex(path, in_order(self.summaries(confidence)), confidence)

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
        return comparisons_of(self.cells, self.places(), baseline, confidence)
