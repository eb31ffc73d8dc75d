"""The outcome of a simulation: look at it, draw it, keep it."""

from __future__ import annotations

import dataclasses
import math
import os
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from driftwise.core.errors import InvalidInput, UnknownName
from driftwise.core.measures import Measures
from driftwise.core.tuning_caveats import SAYS_NOTHING, marked
from driftwise.core.types import Actions, Matrix, Vector
from driftwise.report.figures import Curve, regret_figure, save_figure
from driftwise.report.tables import number, text_table
from driftwise.results import results_file
from driftwise.results.confidence_intervals import Estimate, estimate, half_width
from driftwise.results.footnotes import Caveat, footnote
from driftwise.results.formats import check_format, write_csv
from driftwise.results.realised import Realised, completed

if TYPE_CHECKING:
    from matplotlib.figure import Figure

__all__ = ["Results"]

_SHARED = (
    "environment", "comparator", "kind", "n_actions", "n_rounds", "n_runs", "seed", "rounds", "measures", "realised",
    "bound_rounds",
)  # fmt: skip


@dataclass(frozen=True, eq=False)
class Results:
    """Regrets of several learners over common runs.

    `regrets[i, j, p]` is the regret of learner `i` in run `j` after round `rounds[p]`.
    """

    labels: tuple[str, ...]
    learners: tuple[Mapping[str, Any], ...]  # specs; a tuned learner's is that of run 0
    environment: Mapping[str, Any]  # its spec
    comparator: str
    kind: str  # "pseudo" against the means, "realised" against the losses
    n_actions: int
    n_rounds: int
    n_runs: int
    seed: int
    rounds: Actions
    regrets: npt.NDArray[np.float64]
    measures: tuple[Measures, ...]  # one per run; empty where the means are unknown
    realised: tuple[Realised, ...]  # one per run; the best loss L* is NaN unless `simulate` was asked for it
    bound_rounds: Actions
    bounds: Matrix  # (learners, bound_rounds), mean over runs, NaN where nothing is proved
    caveats: Mapping[str, Caveat] = field(default_factory=dict)  # by label: those whose tuning says nothing
    seconds: Mapping[str, float] = field(default_factory=dict)  # not part of the file

    def final(self, label: str) -> Vector:
        """Return a learner's regret at the end of each run."""
        regrets: Vector = self.regrets[self._index(label), :, -1]
        return regrets

    def regret(self, label: str, confidence: float = 0.95) -> Estimate:
        """Return a learner's mean regret at the end, with its interval over runs."""
        return estimate(self.final(label), confidence)

    def bound(self, label: str) -> float:
        """Return its theorem's bound on a learner's expected regret at the end, NaN where there is none."""
        return float(self.bounds[self._index(label), -1])

    def caveat(self, label: str) -> str:
        """Return why a learner's tuning says nothing here, "" where it was not tuned or its rule says something."""
        self._index(label)
        return f"{SAYS_NOTHING}: {self.caveats[label].told(self.n_runs)}" if label in self.caveats else ""

    def difference(self, label: str, baseline: str, confidence: float = 0.95) -> Estimate:
        """Return how much more a learner regrets than another, paired: both saw the same losses."""
        return estimate(self.final(label) - self.final(baseline), confidence)

    def rows(self, confidence: float = 0.95) -> list[dict[str, Any]]:
        """Return one plain record per learner: what the table shows and `--json` prints.

        `caveat` says why its tuning says nothing, "" where it was not tuned or its rule says something.
        """
        records = []
        for label, spec in zip(self.labels, self.learners, strict=True):
            mean, low, high = self.regret(label, confidence)
            record = {"learner": label, "spec": dict(spec), "regret": mean, "low": low, "high": high}
            records.append({**record, "bound": self.bound(label), "caveat": self.caveat(label)})
        return records

    def summary(self) -> str:
        """Return a paragraph about the environment; the best loss L* is in it if every run has one."""
        lines = [
            f"{_describe(self.environment)}: K = {self.n_actions}, T = {self.n_rounds}, "
            f"{self.n_runs} run{'s' if self.n_runs != 1 else ''}, seed {self.seed}"
        ]
        if self.measures:
            gamma, drift, variance = (
                number(float(np.mean([getattr(m, name) for m in self.measures])))
                for name in ("segments", "drift", "variance")
            )
            lines.append(f"segments Gamma = {gamma}, drift V = {drift}, variance Lambda = {variance}")
        D, _, _, movement, best = (float(np.mean(values)) for values in zip(*self.realised, strict=True))
        line = f"realised: deviation D = {number(D)}, movement V~ = {number(movement)}"
        lines.append(line if math.isnan(best) else f"{line}, best loss L* = {number(best)}")
        return "\n".join(lines)

    def record(self, confidence: float = 0.95) -> dict[str, Any]:
        """Return everything but the curves as plain values: what `--json` prints.

        `behind` is how much more a learner regrets than the one that regrets least, paired over the runs.
        """
        best = min(self.labels, key=lambda label: self.regret(label).mean)
        names = ("comparator", "kind", "n_actions", "n_rounds", "n_runs", "seed", "environment")
        return {
            **{name: getattr(self, name) for name in names},
            "measures": [dataclasses.asdict(m) for m in self.measures],
            "realised": [r._asdict() for r in self.realised],
            "learners": [
                {**row, "behind": self.difference(row["learner"], best, confidence)._asdict()}
                for row in self.rows(confidence)
            ],
        }

    def table(self, confidence: float = 0.95) -> str:
        """Return the table of final regrets, their intervals, the theorems' values, and regret / bound."""
        headers = ["learner", "regret", f"{100 * confidence:g}% interval", "bound", "ratio"]
        rows = [
            [
                marked(row["learner"], row["caveat"]),
                number(row["regret"]),
                f"{number(row['low'])} .. {number(row['high'])}" if self.n_runs > 1 else "-",
                *self._against(row["regret"], row["bound"]),
            ]
            for row in self.rows(confidence)
        ]
        title = f"{self.comparator} {'pseudo-regret' if self.kind == 'pseudo' else 'realised regret'}"
        marks = [label for label in self.labels if label in self.caveats]
        below = footnote({label: self.caveats[label].told(self.n_runs) for label in marks})
        return "\n".join([self.summary(), "", title, text_table(headers, rows), *below.splitlines()])

    def _against(self, regret: float, bound: float) -> tuple[str, str]:
        """Return a bound and the share of it that was used; the number of rounds bounds everyone and says nothing."""
        if bound >= self.n_rounds:
            return "T", "-"
        return number(bound), number(regret / bound, 2) if bound else "-"

    def figure(self, confidence: float = 0.95) -> Figure:
        """Draw regret over rounds."""
        curves = []
        for i, label in enumerate(self.labels):
            mean, half = self.regrets[i].mean(axis=0), half_width(self.regrets[i], confidence)
            curves.append(Curve(label, mean, mean - half, mean + half, self.bounds[i], label in self.caveats))
        ylabel = f"{self.comparator} {self.kind}{'-' if self.kind == 'pseudo' else ' '}regret"
        return regret_figure(self.rounds, curves, self.bound_rounds, self.summary(), ylabel)

    def plot(self, path: str | os.PathLike[str], confidence: float = 0.95) -> None:
        """Write the figure as PNG, SVG or PDF."""
        save_figure(self.figure(confidence), path)

    def beside(self, other: Results) -> Results:
        """Return these learners and those of `other`, which must have faced the very same losses.

        >>> from driftwise import Bernoulli, Environment, OptimisticGD, Switching, simulate
        >>> from driftwise.learners import Hedge
        >>> world = Environment(Switching(3, 4), Bernoulli())
        >>> one, two = (simulate(world, learner, 100, seed=1) for learner in (OptimisticGD(), Hedge()))
        >>> one.beside(two).labels
        ('optimistic-gd', 'hedge')
        """
        for name in _SHARED:
            mine, theirs = getattr(self, name), getattr(other, name)
            if name == "realised":  # one may have a best loss that the other was not asked for
                mine, theirs = ([one._replace(best_loss=math.nan) for one in some] for some in (mine, theirs))
            if not np.array_equal(mine, theirs) if isinstance(mine, np.ndarray) else repr(mine) != repr(theirs):
                raise InvalidInput(f"Results: both must have the same `{name}` to stand side by side.")
        if twice := sorted({*self.labels} & {*other.labels}):
            raise InvalidInput(f"Results: both have a learner '{twice[0]}'.")
        return dataclasses.replace(
            self,
            labels=(*self.labels, *other.labels),
            learners=(*self.learners, *other.learners),
            regrets=np.concatenate([self.regrets, other.regrets]),
            bounds=np.concatenate([self.bounds, other.bounds]),
            realised=tuple(map(completed, self.realised, other.realised)),
            caveats={**self.caveats, **other.caveats},
            seconds={**self.seconds, **other.seconds},
        )

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write the results as the end of the file's name says: all in .parquet, the curves alone in .csv."""
        (self.to_csv if check_format(path) == ".csv" else self.to_parquet)(path)

    def to_csv(self, path: str | os.PathLike[str]) -> None:
        """Write the curves as text, for other programs: a line per learner, run and round, with the regret."""
        write_csv(self, path)

    def to_parquet(self, path: str | os.PathLike[str]) -> None:
        """Write everything but the timings; equal results give equal bytes."""
        results_file.write(self, path)

    @classmethod
    def from_parquet(cls, path: str | os.PathLike[str]) -> Results:
        """Read what `to_parquet` wrote."""
        return cls(**results_file.read(path))

    def _index(self, label: str) -> int:
        if label not in self.labels:
            raise UnknownName("learner", label, self.labels, "in these results")
        return self.labels.index(label)


def _describe(environment: Mapping[str, Any]) -> str:
    """Name an environment by its parts, such as ``switching x bernoulli``."""
    if "replay" in environment:
        return "replay"
    parts: Sequence[Any] = [environment.get("path"), environment.get("noise")]
    names = [_inner_name(part) for part in parts if isinstance(part, Mapping)]
    return " x ".join(names) if names else str(environment.get("name", "environment"))


def _inner_name(part: Mapping[str, Any]) -> str:
    inner = part.get("path") or part.get("noise")  # budgets wrap a path or a noise
    return _inner_name(inner) if isinstance(inner, Mapping) else str(part.get("name"))
