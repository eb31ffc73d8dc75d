r"""Tsallis-INF: how the weights are computed.

The minimiser is $w_i = 4 (\eta (\hat L_i - x))^{-2}$, where $x < \min_j \hat L_j$ makes the sum 1. This file writes it
$(c + g_i)^{-2}$ with $g_i = \eta (\hat L_i - \min_j \hat L_j) / 2$ and $1 \le c \le \sqrt K$, which loses no digits.
The paper finds $x$ by Newton's method on the sum; this file finds $c$ by Newton's method on its inverse root,
$(\sum_i (c + g_i)^{-2})^{-1/2} = 1$. That is a power mean, nearly linear in $c$, and exactly so if all $g_i$ are equal.
It is increasing and concave, so the first step ends at the root or below it, and the later steps rise to the root.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated, NamedTuple

import numpy as np

from driftwise.core.corners import Corners
from driftwise.core.kernel import kernel
from driftwise.core.measures import Measures
from driftwise.core.memory_fields import HUGE, between, chances, exactly, generator
from driftwise.core.types import Vector, Words
from driftwise.core.validation import Domains, one_of
from driftwise.core.vectors import largest, least
from driftwise.learners.base import BanditLearner, bandit
from driftwise.learners.shared.distributions import RAREST, chance, draw_action
from driftwise.theory import adversarial

_CLOSE = 1e-8  # a step squares the error of the sum, so this is the last one
_MOST_STEPS = 30  # at most 7 were observed; a damaged memory must not loop forever


class Memory(NamedTuple):
    """State of the learner between rounds."""

    probabilities: Annotated[Vector, chances("actions")]  # of the next action
    totals: Annotated[Vector, between(-HUGE, HUGE, "actions")]  # sums of the estimated losses
    rounds: Annotated[Vector, exactly("rounds", 1)]
    generator: Annotated[Words, generator()]


class Rates(NamedTuple):
    """Parameters as the kernels take them."""

    scale: float  # eta is this divided by the root of t
    baseline: float  # 0 or 1/2


@kernel
def _weigh(totals: Vector, half_rate: float, weights: Vector) -> None:
    """Write the weights for half_rate = eta / 2; the search begins at the constant of the last weights."""
    lowest = least(totals)
    c = 1.0 / np.sqrt(largest(weights))
    for k in range(totals.size):
        weights[k] = half_rate * (totals[k] - lowest)
    for _ in range(_MOST_STEPS):
        squares, cubes = 0.0, 0.0
        for k in range(totals.size):
            inverse = 1.0 / (c + weights[k])
            squares += inverse * inverse
            cubes += inverse * inverse * inverse
        c = max(c + squares * (np.sqrt(squares) - 1.0) / cubes, 1.0)
        if abs(squares - 1.0) < _CLOSE:
            break
    mass = 0.0
    for k in range(totals.size):
        weights[k] = (c + weights[k]) ** -2
        mass += weights[k]
    for k in range(totals.size):
        weights[k] /= mass  # corrects rounding


@kernel
def _update(memory: Memory, rates: Rates, action: int, loss: float, probability: float) -> None:
    probabilities, totals = memory.probabilities, memory.totals
    weight = chance(probability, probabilities[action], RAREST)
    memory.rounds[0] += 1.0
    rate_squared = rates.scale**2 / memory.rounds[0]
    for k in range(totals.size):
        baseline = rates.baseline if probabilities[k] >= rate_squared else 0.0
        totals[k] += baseline
        if k == action:
            totals[k] += (loss - baseline) / weight
    _weigh(totals, 0.5 * rates.scale / np.sqrt(memory.rounds[0] + 1.0), probabilities)


@bandit("tsallis-inf", choose=draw_action, update=_update)
@dataclass(frozen=True)
class TsallisINF(BanditLearner[Memory, Rates]):
    r"""Tsallis-INF (Zimmert and Seldin, 2021): regularised by Tsallis entropy, for random and adversarial losses.

    Competes with the best fixed action.

    Parameters
    ----------
    estimator : {"reduced-variance", "importance-weighted"}, default "reduced-variance"
        How losses are estimated, which sets the baseline ($b$) and the learning rate ($\eta_t$).

    Notes
    -----
    Round $t$ draws $a_t$ from $w_t$, with $\hat L_{t-1}$ the sum of the estimated losses of the rounds before:

    $$ w_t = \arg\min_{w} \langle w, \hat L_{t-1} \rangle - \frac{4}{\eta_t} \sum_i \sqrt{w_i}, \qquad
       \hat\ell_{t,i} = \frac{\ell_{t,i} - b_{t,i}}{w_{t,i}} 1[a_t = i] + b_{t,i} . $$

    Reduced variance has $\eta_t = 4/\sqrt t$ and $b_{t,i} = \frac12 1[w_{t,i} \ge \eta_t^2]$; importance weighting has
    $\eta_t = 2/\sqrt t$ and $b = 0$.

    Regret: $\sqrt{K T}$ against every fixed action; $\sum_i \ln(T) / \Delta_i$ over the gaps for random losses with
    fixed means. Against every fixed action it is at most $2 (2 \sqrt K - 1) \sqrt T - \sqrt K$ with importance
    weighting, and has half the leading term with reduced variance (`driftwise.theory.adversarial`). There is no
    guarantee after a change.

    Must know: nothing.

    Time per round: O(K).

    References
    ----------
    J. Zimmert, Y. Seldin, "Tsallis-INF: an optimal algorithm for stochastic and adversarial bandits", JMLR 22(28)
    (2021), Algorithms 1 and 2, Theorem 1.

    Examples
    --------
    >>> learner = TsallisINF()
    >>> state = learner.start(n_actions=2, seed=1)
    >>> learner.choose(state)
    (1, 0.5)
    >>> learner.update(state, action=1, loss=1.0, probability=0.5)
    >>> state.memory.probabilities
    array([0.933..., 0.066...])
    """

    estimator: str = "reduced-variance"

    corners = Corners(estimator=("reduced-variance", "importance-weighted"))
    _domains = Domains(estimator=one_of("reduced-variance", "importance-weighted"))

    def static_bound(self, measures: Measures) -> float:
        """Return the bound for adversarial losses, against the best fixed action."""
        return adversarial.tsallis_inf(measures, self._reduces_variance)

    def rates(self, n_actions: int) -> Rates:
        """Return the scale of the learning rate and the baseline of the estimator."""
        return Rates(scale=4.0, baseline=0.5) if self._reduces_variance else Rates(scale=2.0, baseline=0.0)

    @property
    def _reduces_variance(self) -> bool:
        return self.estimator == "reduced-variance"
