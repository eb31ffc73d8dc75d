"""The outcome of a simulation: regrets, their intervals and bounds, as numbers, tables, figures and files."""

from __future__ import annotations

import dataclasses
import os
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt

from driftwise.core.measures import Measures
from driftwise.core.tuning_caveats import SAYS_NOTHING
from driftwise.core.types import Actions, Vector
from driftwise.learners import AnyPlayer
from driftwise.report.figures import save_figure
from driftwise.results import results_file
from driftwise.results.combinable import check_combinable
from driftwise.results.confidence_intervals import Estimate, estimate
from driftwise.results.footnotes import Caveat
from driftwise.results.formats import check_format, write_csv
from driftwise.results.label_search import find_label
from driftwise.results.realised import Realised, with_best_loss
from driftwise.results.results_figure import results_figure
from driftwise.results.results_text import summary_text, table_text

if TYPE_CHECKING:
    from matplotlib.figure import Figure

__all__ = ["Results"]

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
        By label: the time that the learner took, in all runs. Not saved.

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

    def regret(self, learner: str | AnyPlayer, confidence: float = 0.95) -> Estimate:
        """Return a learner's mean regret at the end, with its confidence interval over runs."""
        return estimate(self.final(learner), confidence)

    def bound(self, learner: str | AnyPlayer) -> float:
        """Return the bound of a learner's theorem on its expected regret at the end, NaN if there is none."""
        return float(self.bounds[self._index(learner), :, -1].mean())

    def caveat(self, learner: str | AnyPlayer) -> str:
        """Return why a learner's tuning rule is meaningless in this environment, "" if there is no caveat."""
        label = self.labels[self._index(learner)]
        return f"{SAYS_NOTHING}: {self.caveats[label].text(self.n_runs)}" if label in self.caveats else ""

    def difference(self, learner: str | AnyPlayer, baseline: str | AnyPlayer, confidence: float = 0.95) -> Estimate:
        """Return the mean regret of a learner minus that of another, with its confidence interval over runs.

        The difference is taken run by run, where both got the same losses: the interval is narrower than those of the
        two regrets.
        """
        return estimate(self.final(learner) - self.final(baseline), confidence)

    def rows(self, confidence: float = 0.95) -> list[dict[str, Any]]:
        """Return one dictionary of plain values per learner: the rows of `table`.

        The keys are `learner`, `spec`, `played`, `regret`, `low`, `high`, `bound` and `caveat`.
        """
        records = []
        for label, spec, played in zip(self.labels, self.learners, self.played, strict=True):
            mean, low, high = self.regret(label, confidence)
            record: dict[str, Any] = {"learner": label, "spec": dict(spec), "played": dict(played)}
            record |= {"regret": mean, "low": low, "high": high}
            records.append({**record, "bound": self.bound(label), "caveat": self.caveat(label)})
        return records

    def summary(self) -> str:
        """Return some lines about the environment and its measures, with the best loss L* if every run has one."""
        return summary_text(self)

    def record(self, confidence: float = 0.95) -> dict[str, Any]:
        """Return everything but the curves as plain values, as `driftwise simulate --json` prints it.

        `behind` is the regret of a learner minus that of the learner with the least regret, as in `difference`.
        """
        best = min(self.labels, key=lambda label: self.regret(label).mean)
        names = ("comparator", "play", "kind", "n_actions", "n_rounds", "n_runs", "seed", "environment")
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
        """Return a text table of final regrets, their intervals, the bounds, and regret / bound.

        A bound of T means that the theorem's value is at least the number of rounds, which is trivial.
        """
        return table_text(self, confidence)

    def figure(self, confidence: float = 0.95, scale: str = "log", lines: _Lines = None) -> Figure:
        """Return a Matplotlib figure of regret over rounds, with intervals as bands and bounds as dashed lines.

        `scale` is "log" (of the axis of regret), "linear", or "log-log" (of both axes). `lines` are further lines, in
        grey, by label: a number, for example the guarantee of an adversary, or one number for each of `rounds`.
        """
        return results_figure(self, confidence, scale, lines)

    def plot(
        self, path: str | os.PathLike[str], confidence: float = 0.95, scale: str = "log", lines: _Lines = None
    ) -> None:
        """Write the figure, drawn as by `figure`, to a file whose name ends in .png, .svg or .pdf."""
        save_figure(self.figure(confidence, scale, lines), path)

    def combine(self, other: Results) -> Results:
        """Return results with the learners of both; both must come from the same losses and have different labels.

        >>> from driftwise import Bernoulli, Environment, OptimisticGD, Switching, simulate
        >>> from driftwise.learners import Hedge
        >>> environment = Environment(Switching(3, 4), Bernoulli())
        >>> one, two = (simulate(environment, learner, 100, seed=1) for learner in (OptimisticGD(), Hedge()))
        >>> one.combine(two).labels
        ('optimistic-gd', 'hedge')
        """
        check_combinable(self, other)
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
        write_csv(self, path)

    def to_parquet(self, path: str | os.PathLike[str]) -> None:
        """Write everything but `seconds` to a Parquet file; equal results give equal bytes."""
        results_file.write(self, path)

    @classmethod
    def from_parquet(cls, path: str | os.PathLike[str]) -> Results:
        """Return the results that `to_parquet` wrote; `seconds` is empty."""
        return cls(**results_file.read(path))

    def _index(self, learner: str | AnyPlayer) -> int:
        return self.labels.index(find_label(learner, self.labels, self.learners))
