"""The results of sweeps: cells of several environments, learners and numbers of rounds."""

from __future__ import annotations

import functools
import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from driftwise.core.errors import InvalidInput, UnknownName, rejection
from driftwise.core.types import Actions
from driftwise.results.cell_table import CellTable
from driftwise.results.confidence_intervals import Estimate, estimate
from driftwise.results.footnotes import Caveat
from driftwise.results.results import Results
from driftwise.results.results_of_cells import results_of_cells
from driftwise.results.spec_labels import environment_label, learner_label
from driftwise.results.stored_files import DamagedFile

__all__ = ["Comparison", "Place", "Summary", "SweepResults"]

Labels = npt.NDArray[np.str_]


class Place(NamedTuple):
    """What the cells of a row of a table have in common."""

    environment: str
    learner: str
    n_rounds: int
    comparator: str
    play: str


class Summary(NamedTuple):
    """The cells of one learner in one environment with one number of rounds."""

    place: Place
    n_cells: int  # that were played
    n_failed: int
    regret: Estimate  # NaN if none was played
    bound: float  # the mean over cells, NaN without one
    caveat: str  # why the tuning rule is meaningless there, "" if there is no caveat


class Comparison(NamedTuple):
    """The regret of a learner minus that of a baseline, over the seeds and runs that both have."""

    place: Place
    baseline: str
    n_pairs: int
    difference: Estimate


@dataclass(frozen=True, eq=False, repr=False)
class SweepResults:
    """Results of all cells of a sweep, or of a folder; `Sweep.run` returns them.

    Parameters
    ----------
    table : CellTable
        The cells, column by column.
    labels : dict
        Labels by spec, as text, under "environments" and "learners".
    damaged : sequence of DamagedFile, default ()
        Files that were moved aside, since they could not be read.

    Examples
    --------
    >>> import tempfile
    >>> from driftwise import Bernoulli, Environment, Hedge, OptimisticGD, Sweep, Switching
    >>> sweep = Sweep(Environment(Switching(3, 4), Bernoulli()), [OptimisticGD.tuned, Hedge()], 100, n_runs=5)
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     results = sweep.run(folder)
    >>> [(row.place.learner, row.n_cells) for row in results.summaries()]
    [('optimistic-gd (tuned)', 5), ('hedge', 5)]
    """

    table: CellTable
    labels: Mapping[str, Mapping[str, str]]
    damaged: Sequence[DamagedFile] = ()

    def __repr__(self) -> str:
        return f"SweepResults({len(self.table)} cells, {int(self.table.failed.sum())} failed)"

    def of_keys(self, keys: Sequence[str]) -> SweepResults:
        """Return the cells with these keys, in this order."""
        places = {key: i for i, key in enumerate(self.table.keys())}
        if missing := [key for key in keys if key not in places]:
            raise InvalidInput(f"SweepResults: {len(missing)} of {len(keys)} cells are not stored.")
        return replace(self, table=self.table.take(np.array([places[key] for key in keys], np.int64)))

    @functools.cached_property
    def environments(self) -> Labels:
        """The label of each cell's environment."""
        return self._labels("environment", "environments", environment_label)

    @functools.cached_property
    def learners(self) -> Labels:
        """The label of each cell's learner."""
        return self._labels("learner", "learners", learner_label)

    def select(
        self,
        environment: str | None = None,
        learner: str | None = None,
        n_rounds: int | None = None,
        seed: int | None = None,
    ) -> SweepResults:
        """Return the cells with these labels, number of rounds and seed; None selects all."""
        chosen = np.ones(len(self.table), np.bool_)
        for kind, wanted, present in (
            ("environment", environment, self.environments),
            ("learner", learner, self.learners),
        ):
            if wanted is not None:
                if wanted not in present:
                    raise UnknownName(kind, wanted, {*present.tolist()}, "in these results")
                chosen &= present == wanted
        for name, value in (("n_rounds", n_rounds), ("seed", seed)):
            if value is not None:
                if value not in self.table.cells[name]:
                    known = ", ".join(map(str, np.unique(self.table.cells[name])))
                    raise rejection("SweepResults", name, f"one of {known}", value)
                chosen &= self.table.cells[name] == value
        return replace(self, table=self.table.select(chosen))

    def summaries(self, confidence: float = 0.95) -> list[Summary]:
        """Return the mean regret of each learner in each environment with each number of rounds, in order of cells."""
        final, failed = self.table.final, self.table.failed
        last_bounds, caveats = self.table.bound[self.table.offsets[1:] - 1], self.table.texts["caveat"]
        rows = []
        for place, members in self._places():
            played = members[~failed[members]]
            nothing = Estimate(np.nan, np.nan, np.nan)
            reasons = [caveats[code] for code in self.table.cells["caveat"][played] if caveats[code]]
            caveat = Caveat(len(reasons), reasons[0]).text(len(played)) if reasons else ""
            regret = estimate(final[played], confidence) if len(played) else nothing
            bound = float(last_bounds[played].mean()) if len(played) else np.nan
            rows.append(Summary(place, len(played), len(members) - len(played), regret, bound, caveat))
        return rows

    def compare(self, baseline: str, confidence: float = 0.95) -> list[Comparison]:
        """Return how much more regret each learner has than a baseline, paired by environment, seed and run."""
        if baseline not in self.learners:
            raise UnknownName("learner", baseline, {*self.learners.tolist()}, "in these results")
        regrets = {place: self._by_run(members) for place, members in self._places()}
        rows = []
        for place, mine in regrets.items():
            other = regrets.get(place._replace(learner=baseline), {})
            pairs = [mine[run] - other[run] for run in mine if run in other]
            if place.learner != baseline and pairs:
                rows.append(Comparison(place, baseline, len(pairs), estimate(np.array(pairs), confidence)))
        return rows

    def failures(self) -> list[tuple[Place, int, int, str]]:
        """Return the place, seed, run and error of each cell that could not be played."""
        places = {int(i): place for place, members in self._places() for i in members}
        cells, errors = self.table.cells, self.table.texts["error"]
        return [
            (places[i], int(cells["seed"][i]), int(cells["run"][i]), errors[cells["error"][i]])
            for i in np.flatnonzero(self.table.failed).tolist()
        ]

    def results(self) -> Results:
        """Return the results of one simulation, if these cells have one environment, number of rounds and seed."""
        return results_of_cells(self.table.select(~self.table.failed), self.learners[~self.table.failed].tolist())

    def _by_run(self, members: Actions) -> dict[tuple[int, int], float]:
        played = members[~self.table.failed[members]]
        cells = self.table.cells[played]
        runs = zip(cells["seed"].tolist(), cells["run"].tolist(), strict=True)
        return dict(zip(runs, self.table.final[played].tolist(), strict=True))

    def _places(self) -> Iterator[tuple[Place, Actions]]:
        """Yield each place with the positions of its cells, in order of its first cell."""
        cells, texts = self.table.cells, self.table.texts
        columns = (self.environments, self.learners, cells["n_rounds"], cells["comparator"], cells["play"])
        codes = [np.unique(column, return_inverse=True)[1].reshape(-1) for column in columns]
        _, first, inverse = np.unique(np.stack(codes), axis=1, return_index=True, return_inverse=True)
        order = np.argsort(inverse.reshape(-1), kind="stable")
        members = np.split(order, np.cumsum(np.bincount(inverse.reshape(-1)))[:-1]) if len(order) else []
        for one in np.argsort(first, kind="stable"):
            i = first[one]
            comparator, play = texts["comparator"][cells["comparator"][i]], texts["play"][cells["play"][i]]
            yield (
                Place(str(self.environments[i]), str(self.learners[i]), int(cells["n_rounds"][i]), comparator, play),
                members[one],
            )

    def _labels(self, column: str, section: str, make: Callable[[Mapping[str, Any]], str]) -> Labels:
        given = self.labels.get(section, {})
        named = [given.get(text) or make(json.loads(text)) for text in self.table.texts[column]]
        found: Labels = np.array(named or [""], np.str_)[self.table.cells[column]]
        return found
