r"""What Fixed Share and its optimistic form have in common: exponential weights with sharing, kept as logarithms.

A weight $w_k$ is kept as the total $L_k = -\ln w_k$, up to a constant common to all actions. A round updates it by

$$ L_k \leftarrow L_k + \eta \ell_k, \qquad v_k \propto e^{-L_k}, \qquad w_k = (1-\alpha)\,v_k + \alpha/K, \qquad
   L_k \leftarrow -\ln w_k . $$

A weight kept as a number underflows after 745 units of $\eta \ell$ and then stays 0; its logarithm does not. With
$\alpha > 0$ every total is at most $\ln(K/\alpha) < 800$ after a round, so $\eta$ can be as large as a double.
With $\alpha = 0$ they are not bounded: the totals are then the total losses, without $\eta$, as in Hedge.
"""

from __future__ import annotations

import math
from abc import abstractmethod
from dataclasses import dataclass, replace
from typing import NamedTuple

import numpy as np

from driftwise.core.corners import LARGEST, SMALLEST, TOO_SLOW, Corners, NoLearning
from driftwise.core.kernel import kernel
from driftwise.core.measures import Measures
from driftwise.core.types import Vector
from driftwise.core.validation import require_number
from driftwise.core.vectors import largest, least
from driftwise.learners.contract import Beliefs, ExpertLearner, State
from driftwise.learners.contract.type_variables import M
from driftwise.learners.parts.effective_memory import faded_rounds
from driftwise.learners.parts.exponential_weights import exponential_weights, share
from driftwise.theory import vacuous

__all__ = ["FixedShareLearner", "Rates", "absorb", "look_ahead"]

_SMALL = 1e-290  # with a larger share no weight underflows


class Rates(NamedTuple):
    """Parameters passed to the kernels."""

    scale: float  # factor of a loss in the totals
    rate: float  # factor of the totals in the exponent
    switch_rate: float


@kernel
def _share_logarithms(totals: Vector, switch_rate: float, weights: Vector) -> None:
    """Write the totals after sharing from the weights before it, for a share too small to add to the weights."""
    offset = least(totals) + np.log(largest(weights))  # ln v_k is the offset minus the total
    shared = np.log(switch_rate) - np.log(float(weights.size))
    for k in range(weights.size):
        kept = offset - totals[k]  # ln(1 - alpha) is 0 to rounding
        larger = max(kept, shared)
        totals[k] = -larger - np.log1p(np.exp(min(kept, shared) - larger))


@kernel
def absorb(totals: Vector, rates: Rates, losses: Vector, weights: Vector) -> None:
    """Add a round of losses to the totals, share, and write the weights of the next round."""
    lowest = least(losses)  # a loss common to all changes no weight, but at a large rate its rounding would
    for k in range(losses.size):
        totals[k] += rates.scale * (losses[k] - lowest)
    exponential_weights(totals, rates.rate, weights)
    if rates.switch_rate == 0.0:
        return
    if rates.switch_rate / weights.size < _SMALL:
        _share_logarithms(totals, rates.switch_rate, weights)
        share(weights, rates.switch_rate)
    else:
        share(weights, rates.switch_rate)
        for k in range(losses.size):
            totals[k] = -np.log(weights[k])


@kernel
def look_ahead(totals: Vector, rates: Rates, guess: Vector, ahead: Vector, weights: Vector) -> None:
    """Write the weights for the totals plus the guess, without sharing; `ahead` is scratch."""
    lowest = least(guess)
    for k in range(guess.size):
        ahead[k] = totals[k] + rates.scale * (guess[k] - lowest)
    exponential_weights(ahead, rates.rate, weights)


@dataclass(frozen=True)
class FixedShareLearner(ExpertLearner[M, Rates]):
    """Parameters and common methods of Fixed Share and its optimistic form."""

    learning_rate: float
    switch_rate: float

    corners = Corners(
        learning_rate=(TOO_SLOW, LARGEST),
        # 0 is last, so that it is tried with the largest rate: without sharing, weights vanish.
        switch_rate=(NoLearning(1.0, "all weight is shared out in every round"), SMALLEST, 0.0),
    )

    def __post_init__(self) -> None:
        require_number(self, "learning_rate", lambda x: 0 < x < math.inf, "a finite number > 0")
        require_number(self, "switch_rate", lambda x: 0 <= x <= 1, "in [0, 1]")

    @abstractmethod
    def bound(self, measures: Measures) -> float:
        """Return the bound against sequences with as many switches as the means."""

    def tuning_caveat(self, measures: Measures) -> str:
        """Return a reason where the bound is no better than that of uniform weights."""
        return vacuous.bound(measures, self.bound(measures))

    def beliefs(self, state: State[M, Rates]) -> Beliefs:
        """Return the effective memory, of which a round forgets the share `switch_rate`."""
        return replace(super().beliefs(state), memory=faded_rounds(self.switch_rate, state.rounds))

    def memory_limits(self, n_actions: int, rounds: int) -> dict[str, float]:
        """Return the largest possible total after `rounds` rounds."""
        shared = self.switch_rate > 0
        return {"most_total": math.log(n_actions) - math.log(self.switch_rate) if shared else float(rounds)}

    def rates(self, n_actions: int) -> Rates:
        """Return the rates for totals kept as logarithms, or as losses where nothing is shared."""
        if self.switch_rate:
            return Rates(scale=self.learning_rate, rate=1.0, switch_rate=self.switch_rate)
        return Rates(scale=1.0, rate=self.learning_rate, switch_rate=0.0)
