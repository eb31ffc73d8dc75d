r"""Exponential weights with sharing, kept as logarithms: the arithmetic of Fixed Share and its optimistic form.

A weight $w_k$ is kept as the total $L_k = -\ln w_k$, up to a constant common to all actions. A round of losses makes it

$$ L_k \leftarrow L_k + \eta \ell_k, \qquad v_k \propto e^{-L_k}, \qquad w_k = (1-\alpha)\,v_k + \alpha/K, \qquad
   L_k \leftarrow -\ln w_k . $$

A weight kept as a number underflows after 745 units of $\eta \ell$ and then stays 0; its logarithm does not. With
$\alpha > 0$ every total is at most $\ln(K/\alpha) < 800$ after a round, so that $\eta$ may be as large as a double.
With $\alpha = 0$ nothing bounds them: the totals are then kept in units of loss, without $\eta$, as Hedge keeps them.
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np

from driftwise.core.kernel import kernel
from driftwise.core.types import Vector
from driftwise.core.vectors import largest, least
from driftwise.learners.parts.exponential_weights import exponential_weights, share

__all__ = ["Rates", "absorb", "look_ahead", "most_total"]

_SMALL = 1e-290  # a share above it keeps weights far from underflow


class Rates(NamedTuple):
    """The parameters, as the kernels read them."""

    scale: float  # of a loss in the totals
    rate: float  # of the totals in the exponent
    switch_rate: float

    @classmethod
    def of(cls, learning_rate: float, switch_rate: float) -> Rates:
        """Keep totals as logarithms if there is sharing, else as losses."""
        return cls(learning_rate, 1.0, switch_rate) if switch_rate else cls(1.0, learning_rate, 0.0)


def most_total(switch_rate: float, n_actions: int, rounds: int) -> float:
    """Return what a total can be after so many rounds."""
    return math.log(n_actions) - math.log(switch_rate) if switch_rate else float(rounds)


@kernel
def _share_logarithms(totals: Vector, switch_rate: float, weights: Vector) -> None:
    """Write the totals after sharing, from the weights before: so small a share is lost among numbers."""
    offset = least(totals) + np.log(largest(weights))  # ln v_k is the offset less the total
    given = np.log(switch_rate) - np.log(float(weights.size))
    for k in range(weights.size):
        kept = offset - totals[k]  # less ln(1 - alpha), which is 0
        larger = max(kept, given)
        totals[k] = -larger - np.log1p(np.exp(min(kept, given) - larger))


@kernel
def absorb(totals: Vector, rates: Rates, losses: Vector, weights: Vector) -> None:
    """Take a round of losses into the totals, share, and write the weights."""
    lowest = least(losses)  # what all lose alike changes no weight, and at a large rate would drown what does
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
    """Write the weights that the guess would lead to without sharing; `ahead` is scratch."""
    lowest = least(guess)
    for k in range(guess.size):
        ahead[k] = totals[k] + rates.scale * (guess[k] - lowest)
    exponential_weights(ahead, rates.rate, weights)
