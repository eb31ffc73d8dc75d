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

An expert that was awake in no scored round is none of these; the best expert of a series was awake in one of its
scored rounds.

A comparator's mean loss is its total divided by its number of rounds, and its ratio is its total divided by that of the
mixture over the same rounds: above 1, the mixture was better.
"""

from __future__ import annotations

import math
import os
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, NamedTuple, Protocol

import numpy as np

from driftwise.core.types import Actions, Matrix, Vector
from driftwise.core.validation import count
from driftwise.forecasting.hindsight import best_path

if TYPE_CHECKING:
    from matplotlib.figure import Figure


class ComparatorLoss(NamedTuple):
    """The loss of a comparator, and that of the mixture over the same rounds."""

    name: str
    detail: str  # which expert, or which weights; "" if there is nothing to say
    hindsight: bool  # whether it was chosen with knowledge of all truths
    n_rounds: int
    loss: float  # total; NaN if it is not known
    mixture_loss: float  # total, over the same rounds
    note: str = ""  # why it is not known or not exact

    @property
    def mean(self) -> float:
        """The mean loss."""
        return self.loss / self.n_rounds if self.n_rounds else math.nan

    @property
    def ratio(self) -> float:
        """The loss as a multiple of that of the mixture; NaN if that one is not positive."""
        return self.loss / self.mixture_loss if self.mixture_loss > 0 else math.nan


class ExpertSummary(NamedTuple):
    """One expert. Losses are totals over scored rounds."""

    name: str
    n_given: int  # forecasts given, also in rounds that were not scored
    n_awake: int  # scored rounds in which it was awake
    loss: float  # over those rounds
    mixture_loss: float  # of the mixture, over the same rounds
    filled_loss: float  # over all scored rounds, where the loss of the mixture stands for that of a missing forecast
    weight: float  # mean over the rounds in which somebody was awake
    share: float  # of the sum of all weights
    n_best: int  # periods in which it was the best

    @property
    def mean(self) -> float:
        """The mean loss over the rounds in which it was awake."""
        return self.loss / self.n_awake if self.n_awake else math.nan

    @property
    def ratio(self) -> float:
        """The loss as a multiple of that of the mixture over the same rounds."""
        return self.loss / self.mixture_loss if self.mixture_loss > 0 else math.nan


class Periods(NamedTuple):
    """Means by period: each has `length` rounds of every series, the last one possibly fewer; NaN where none counts."""

    length: int
    starts: Actions  # (P,): the first round of each
    n_scored: Actions  # (P,): scored rounds, of all series
    mixture: Vector  # (P,): mean loss
    uniform: Vector  # (P,)
    truth: Vector  # (P,): mean truth
    forecast: Vector  # (P,): mean forecast of the mixture
    experts: Matrix  # (P, K): mean of the losses, where the loss of the mixture stands for that of a missing forecast
    weights: Matrix  # (P, K): mean over the rounds in which somebody was awake
    best: Actions  # (P,): the expert with the least loss, -1 if nothing was scored
    times: tuple[str, ...] = ()  # of the first rounds; empty if they were not given


class SeriesTotals(NamedTuple):
    """Total losses of each series."""

    n_rounds: Actions  # (S,)
    n_scored: Actions  # (S,)
    mixture: Vector  # (S,)
    uniform: Vector  # (S,)
    n_after_truth: Actions  # (S,): scored rounds with an earlier truth
    last_truth: Vector  # (S,): of the last truth, over those rounds
    mixture_after_truth: Vector  # (S,): of the mixture, over those rounds
    experts: Matrix  # (S, K): where the loss of the mixture stands for that of a missing forecast
    n_awake: Actions  # (S, K): scored rounds in which an expert was awake

    @property
    def of_awake(self) -> Matrix:
        """The losses of the experts, infinite for those that were never awake in a scored round of the series."""
        never = (self.n_awake == 0) & (self.n_scored > 0)[:, None]
        return np.where(never, np.inf, self.experts)


class Cuts(NamedTuple):
    """Losses that were cut because they were beyond the scale known in their round, and the total that was cut."""

    n_cuts: int
    total: float


class Stretch(NamedTuple):
    """A stretch of rounds with one expert: from `first` up to, not including, `end`."""

    expert: str
    first: int
    end: int


SHOWN_SWITCHES = 3  # of the sequence whose changes are shown
_MOST_SERIES = 10_000  # in the record
_SMALL_WEIGHT = 0.005  # not shown of a combination


class Printer(Protocol):
    """What IPython prints to."""

    def text(self, text: str) -> None:
        """Print a text."""


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
    comparators : tuple of ComparatorLoss
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
    timing : str, default ""
        When truths were taken as known, a sentence; empty if they came live.

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
    comparators: tuple[ComparatorLoss, ...]
    experts: tuple[ExpertSummary, ...]
    periods: Periods
    series: SeriesTotals
    sequence_losses: tuple[float, ...]
    combination: tuple[float, ...] | None = None
    cuts: Cuts | None = None
    series_names: tuple[str | int, ...] = ()
    timing: str = ""

    def __repr__(self) -> str:
        series, means = f", series={self.n_series}" if self.n_series != 1 else "", ""
        if self.n_scored:
            mixture, best = self.comparators[:2]
            means = f", mixture={mixture.mean:.4g}, best_expert={best.detail!r} {best.mean:.4g}"
        counts = f"experts={len(self.names)}{series}, rounds={self.n_rounds}, scored={self.n_scored}"
        return f"ForecastReport(loss={self.loss!r}, {counts}{means})"

    def _repr_pretty_(self, printer: Printer, cycle: bool) -> None:
        printer.text(repr(self) if cycle else self.text())

    def best_sequence(self, n_switches: int = SHOWN_SWITCHES) -> list[Stretch]:
        r"""Return the best sequence of experts in hindsight whose at most `n_switches` switches are between periods.

        It minimises $\sum_p \sum_{t \in p} \tilde\ell_{t,k_p}$, over all series together. Periods of one round give the
        sequence of the comparator of that name.
        """
        n_switches = count(self, "n_switches", n_switches, at_least=0)
        scored = np.flatnonzero(self.periods.n_scored)
        if not len(scored):
            return []
        losses = self.periods.experts[scored] * self.periods.n_scored[scored, None]
        awake = np.flatnonzero([expert.n_awake for expert in self.experts])
        path = awake[best_path(losses[:, awake], min(n_switches, len(scored)))]
        changes = 1 + np.flatnonzero(np.diff(path))
        edges = [0, *self.periods.starts[scored[changes]].tolist(), self.longest]
        experts = [self.names[k] for k in path[[0, *changes]]]
        return [Stretch(*parts) for parts in zip(experts, edges, edges[1:], strict=False)]

    @property
    def longest(self) -> int:
        """The number of rounds of the longest series."""
        return int(self.series.n_rounds.max(initial=0))

    def series_table(self) -> dict[str, Any]:
        """Return the columns of a table with a row for each series: rounds, mean losses, and the best expert.

        The mean loss of the last truth is over the rounds that have an earlier truth, the others over scored rounds.
        """
        of = self.series
        best = [self.names[k] if n else "" for k, n in zip(of.of_awake.argmin(axis=1), of.n_scored, strict=True)]
        with np.errstate(invalid="ignore", divide="ignore"):
            return {
                "series": list(self.series_names) or np.arange(self.n_series),
                "rounds": of.n_rounds,
                "scored": of.n_scored,
                "mixture": of.mixture / of.n_scored,
                "best_expert": best,
                "best_expert_loss": of.of_awake.min(axis=1) / of.n_scored,
                "uniform": of.uniform / of.n_scored,
                "last_truth": of.last_truth / of.n_after_truth,
            }

    def without(self, comparator: str) -> ForecastReport:
        """Return the report without one of its comparators."""
        return replace(self, comparators=tuple(row for row in self.comparators if row.name != comparator))

    def text(self) -> str:
        """Return the report as tables of at most 80 columns."""
        from driftwise.forecasting.forecast_views import report_text

        return report_text(self)

    def record(self) -> dict[str, Any]:
        """Return the report as plain values for JSON; a number that is not known or infinite is None.

        Means stand beside the totals. The table by series has at most the first 10,000: `series_table` has all.
        """
        counts = ("n_series", "n_rounds", "n_scored", "n_without_truth", "n_without_forecast", "n_without_loss")
        record = {
            "timing": self.timing,
            "loss": self.loss,
            "names": self.names,
            **{name: getattr(self, name) for name in counts},
            "comparators": [{**row._asdict(), "mean": row.mean, "ratio": row.ratio} for row in self.comparators],
            "experts": [{**row._asdict(), "mean": row.mean, "ratio": row.ratio} for row in self.experts],
            "combination": self.combination,
            "sequence_losses": self.sequence_losses,
            "best_sequence": [stretch._asdict() for stretch in self.best_sequence()],
            "periods": self.periods._asdict(),
            "series": {name: column[:_MOST_SERIES] for name, column in self.series_table().items()},
            "cuts": None if self.cuts is None else self.cuts._asdict(),
        }
        return {name: plain_values(value) for name, value in record.items()}

    def plot(self, path: str | os.PathLike[str] | None = None) -> Figure:
        """Return a Matplotlib figure: weights over time, the best expert, and losses by period; write it to `path`."""
        from driftwise.forecasting.forecast_views import report_figure
        from driftwise.report.figures import save_figure

        figure = report_figure(self)
        if path is not None:
            save_figure(figure, path)
        return figure


def largest_weights(weights: Sequence[float]) -> list[int]:
    """Return the experts with the largest weights of a combination, from the largest on, without the smallest."""
    order = sorted(range(len(weights)), key=lambda k: -weights[k])
    return [k for i, k in enumerate(order) if i == 0 or weights[k] >= _SMALL_WEIGHT]


def plain_values(value: object) -> object:
    """Return a value as JSON has it: lists, and None for a number that is not finite."""
    if isinstance(value, dict):
        return {key: plain_values(item) for key, item in value.items()}
    if isinstance(value, np.ndarray):
        return plain_values(value.tolist())
    if isinstance(value, (list, tuple)):
        return [plain_values(item) for item in value]
    return None if isinstance(value, float) and not math.isfinite(value) else value
