r"""What a mixture of forecasts gained and lost: `ForecastReport`, plain numbers with a text, a figure and a page.

Definitions. Rounds are counted within each series, from 0. A round is scored if its truth is known, at least one expert
is awake, and the loss of the mixture is finite; all sums run over scored rounds, of all series. With the loss $\phi$,
the truth $y_t$, the forecasts $x_{t,k}$ of the experts and $f_t$ of the mixture: $m_t = \phi(f_t, y_t)$,
$\ell_{t,k} = \phi(x_{t,k}, y_t)$, and $\tilde\ell_{t,k}$ is $\ell_{t,k}$ if expert $k$ is awake in round $t$, else
$m_t$.

===========================  ==========================================================================  =============
comparator                   total loss                                                                  in hindsight
===========================  ==========================================================================  =============
mixture                      $\sum_t m_t$                                                                no
best expert                  $\min_k \sum_t \tilde\ell_{t,k}$: one expert for all series                 yes
best expert of each series   $\sum_s \min_k \sum_{t \in s} \tilde\ell_{t,k}$                             yes
best convex combination      $\min_u \sum_t \phi(\langle u, \tilde x_t\rangle, y_t)$, one distribution   yes
                             $u$ for all rounds and series; $\tilde x_{t,k} = f_t$ where $k$ is asleep
best sequence, n switches    $\sum_s \min \sum_{t \in s} \tilde\ell_{t,k_t}$ over sequences $k_t$ with   yes
                             at most $n$ changes in each series
uniform mean                 $\sum_t \phi(\bar x_t, y_t)$, $\bar x_t$ the mean of the awake experts       no
last truth repeated          $\sum_t \phi(y_{t'}, y_t)$, $t'$ the last round of the series with a truth;  no
                             only rounds that have one
===========================  ==========================================================================  =============

A comparator's mean loss is its total divided by its number of rounds, and its ratio is its total divided by that of the
mixture over the same rounds: above 1, the mixture was better.
"""

from __future__ import annotations

import math
import os
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np

from driftwise.core.validation import count
from driftwise.forecasting.hindsight import best_path
from driftwise.forecasting.report_parts import Comparison, Cuts, ExpertSummary, Periods, SeriesTotals, Stretch

if TYPE_CHECKING:
    from matplotlib.figure import Figure

__all__ = ["SHOWN_SWITCHES", "ForecastReport"]

SHOWN_SWITCHES = 3  # of the sequence whose changes are shown
_MOST_SERIES = 10_000  # in the record


@dataclass(frozen=True, eq=False)
class ForecastReport:
    r"""Report of a mixture of forecasts: its losses, those of comparators and of every expert, and weights over time.

    `RunningReport.report` and `report_of` return it; the module has the definitions of all quantities.

    Parameters
    ----------
    names : tuple of str
        The names of the $K$ experts.
    loss : str
        The name of the loss.
    n_series : int
        Number of series.
    n_rounds : int
        Number of rounds, over all series.
    n_scored : int
        Number of scored rounds, $\sum_s T_s$.
    n_without_truth : int
        Rounds that were not scored, because their truth is missing.
    n_without_forecast : int
        Rounds with a truth that were not scored, because nobody was awake.
    n_without_loss : int
        Other rounds that were not scored, because the loss of the mixture is not finite or its forecast is missing.
    comparators : tuple of Comparison
        The mixture, and what it is compared with.
    experts : tuple of ExpertSummary
        The experts, in the order of `names`.
    periods : Periods
        Mean losses and weights over time, in at most 240 periods of equal length.
    series : SeriesTotals
        Total losses of each series.
    sequence_losses : tuple of float
        Total losses of the best sequences with at most 0, 1, ..., 10 switches in each series, in hindsight.
    combination : tuple of float or None, default None
        Weights of the best convex combination in hindsight, None if it is not known.
    cuts : Cuts or None, default None
        Losses that the mixture cut, None if they were not given.
    series_names : tuple, default ()
        Names of the series, texts or whole numbers; empty if they have none.

    Examples
    --------
    >>> from driftwise.forecasting.running_report import report_of
    >>> forecasts = [[1.0, 3.0], [1.0, 3.0], [1.0, 3.0]]
    >>> report = report_of(["low", "high"], "square", forecasts, [1.5, 1.5, 2.5], [2.0, 1.8, 1.6], [[0.5, 0.5]] * 3)
    >>> report
    ForecastReport(loss='square', experts=2, rounds=3, scored=3, mixture=0.3833, best_expert='low' 0.9167)
    >>> print(report.text().splitlines()[0])
    Mixture of 2 experts, square loss.
    """

    names: tuple[str, ...]
    loss: str
    n_series: int
    n_rounds: int
    n_scored: int
    n_without_truth: int
    n_without_forecast: int
    n_without_loss: int
    comparators: tuple[Comparison, ...]
    experts: tuple[ExpertSummary, ...]
    periods: Periods
    series: SeriesTotals
    sequence_losses: tuple[float, ...]
    combination: tuple[float, ...] | None = None
    cuts: Cuts | None = None
    series_names: tuple[str | int, ...] = ()

    def __repr__(self) -> str:
        parts = [f"loss={self.loss!r}", f"experts={len(self.names)}"]
        if self.n_series != 1:
            parts.append(f"series={self.n_series}")
        parts += [f"rounds={self.n_rounds}", f"scored={self.n_scored}"]
        if self.n_scored:
            mixture, best = self.comparators[0], self.comparators[1]
            parts += [f"mixture={mixture.mean:.4g}", f"best_expert={best.detail!r} {best.mean:.4g}"]
        return f"ForecastReport({', '.join(parts)})"

    def _repr_pretty_(self, printer: Any, cycle: bool) -> None:
        printer.text(repr(self) if cycle else self.text())

    def best_sequence(self, n_switches: int = SHOWN_SWITCHES) -> list[Stretch]:
        r"""Return the best sequence of experts in hindsight whose at most `n_switches` switches are between periods.

        It minimises $\sum_p \sum_{t \in p} \tilde\ell_{t,k_p}$, over all series together. Periods of one round give the
        sequence of the comparator of that name.
        """
        n_switches = count(self, "n_switches", n_switches, at_least=0)
        scored = np.flatnonzero(self.periods.n_scored)
        losses = self.periods.experts[scored] * self.periods.n_scored[scored, None]
        path = best_path(losses, min(n_switches, len(scored))) if len(scored) else np.empty(0, np.int64)
        changes = [i for i in range(len(path)) if i == 0 or path[i] != path[i - 1]]
        edges = [*(int(self.periods.starts[scored[i]]) for i in changes), self.longest]
        edges[0] = 0
        return [
            Stretch(self.names[path[i]], first, end) for i, first, end in zip(changes, edges, edges[1:], strict=False)
        ]

    @property
    def longest(self) -> int:
        """The number of rounds of the longest series."""
        return int(self.series.n_rounds.max(initial=0))

    def series_table(self) -> dict[str, Any]:
        """Return the columns of a table with a row for each series: rounds, mean losses, and the best expert.

        The mean loss of the last truth is over the rounds that have an earlier truth, the others over scored rounds.
        """
        of = self.series
        with np.errstate(invalid="ignore", divide="ignore"):
            means = [total / of.n_scored for total in (of.mixture, of.experts.min(axis=1), of.uniform)]
            last = of.last_truth / of.n_after_truth
        best = [self.names[k] if n else "" for k, n in zip(of.experts.argmin(axis=1), of.n_scored, strict=True)]
        return {
            "series": list(self.series_names) or np.arange(self.n_series),
            "rounds": of.n_rounds,
            "scored": of.n_scored,
            "mixture": means[0],
            "best_expert": best,
            "best_expert_loss": means[1],
            "uniform": means[2],
            "last_truth": last,
        }

    def without(self, comparator: str) -> ForecastReport:
        """Return the report without one of its comparators."""
        return replace(self, comparators=tuple(one for one in self.comparators if one.name != comparator))

    def text(self) -> str:
        """Return the report as tables of at most 80 columns."""
        from driftwise.forecasting.forecast_text import report_text

        return report_text(self)

    def record(self) -> dict[str, Any]:
        """Return the report as plain values for JSON; a number that is not known or infinite is None.

        Means stand beside the totals. The table by series has at most the first 10,000: `series_table` has all.
        """
        counts = ("n_series", "n_rounds", "n_scored", "n_without_truth", "n_without_forecast", "n_without_loss")
        record: dict[str, Any] = {"loss": self.loss, "names": list(self.names)}
        record |= {name: getattr(self, name) for name in counts}
        record["comparators"] = [{**one._asdict(), "mean": one.mean, "ratio": one.ratio} for one in self.comparators]
        record["experts"] = [{**one._asdict(), "mean": one.mean, "ratio": one.ratio} for one in self.experts]
        record["combination"] = self.combination
        record["sequence_losses"] = self.sequence_losses
        record["best_sequence"] = [one._asdict() for one in self.best_sequence()]
        record["periods"] = self.periods._asdict()
        record["series"] = {name: column[:_MOST_SERIES] for name, column in self.series_table().items()}
        record["cuts"] = None if self.cuts is None else self.cuts._asdict()
        plain: dict[str, Any] = _plain(record)
        return plain

    def plot(self, path: str | os.PathLike[str] | None = None) -> Figure:
        """Return a Matplotlib figure: weights over time, the best expert, and losses by period; write it to `path`."""
        from driftwise.forecasting.forecast_figure import report_figure
        from driftwise.report.figures import save_figure

        figure = report_figure(self)
        if path is not None:
            save_figure(figure, path)
        return figure


def _plain(value: Any) -> Any:
    if isinstance(value, dict):
        return {key: _plain(one) for key, one in value.items()}
    if isinstance(value, np.ndarray):
        return _plain(value.tolist())
    if isinstance(value, (list, tuple)):
        return [_plain(one) for one in value]
    return None if isinstance(value, float) and not math.isfinite(value) else value
