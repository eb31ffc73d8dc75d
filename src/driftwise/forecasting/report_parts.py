"""The parts of a report on forecasts, as plain values; `driftwise.forecasting.forecast_report` has the definitions."""

from __future__ import annotations

import math
from typing import NamedTuple

from driftwise.core.types import Actions, Matrix, Vector

__all__ = ["Comparison", "Cuts", "ExpertSummary", "Periods", "SeriesTotals", "Stretch"]


class Comparison(NamedTuple):
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


class Cuts(NamedTuple):
    """Losses that were cut because they were beyond the scale known in their round, and the total that was cut."""

    n_cuts: int
    total: float


class Stretch(NamedTuple):
    """A stretch of rounds with one expert: from `first` up to, not including, `end`."""

    expert: str
    first: int
    end: int
