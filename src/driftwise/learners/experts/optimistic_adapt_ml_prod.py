r"""Optimistic-Adapt-ML-Prod.

Bound for every loss sequence, every action $k$ and all guesses in $[0, 1]^K$ (Lemma E.1, lemma_regret):

$$ R_k \le \ln(K)/\eta_0 + \sum_t \eta_{t-1,k} (r_{t,k} - m_{t,k})^2
   + \eta_{T,k}^{-1} \ln(1 + \tfrac{1}{e} \sum_{k'} \sum_t (\eta_{t-1,k'}/\eta_{t,k'} - 1)) . $$

This file stores $\ln w / \eta$, and solves for $\langle p_t, h_t \rangle$ by Newton's method where the paper uses
bisection.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import NamedTuple

from driftwise.core.corners import Corners
from driftwise.core.kernel import kernel
from driftwise.core.measures import Measures
from driftwise.core.types import Vector, Words
from driftwise.core.validation import require_choice
from driftwise.learners.contract import HintedLearner, expert
from driftwise.learners.parts.prod_experts import (
    RATE_CAP,
    ProdExperts,
    absorb,
    experts_contradiction,
    new_experts,
    solve,
    wake,
)
from driftwise.theory import expected

__all__ = ["OptimisticAdaptMLProd"]


class Rates(NamedTuple):
    """Parameters passed to the kernels."""

    log_actions: float  # ln K; not read by the kernels, which use the constant of the row


@kernel
def _hint(memory: ProdExperts, rates: Rates, guess: Vector) -> None:  # noqa: ARG001
    for k in range(guess.size):  # a slice assignment would make a copy first
        memory.guess[k] = guess[k]
    solve(memory)


@kernel
def _update(memory: ProdExperts, rates: Rates, losses: Vector) -> None:
    absorb(memory, losses)
    _hint(memory, rates, losses)


@expert("optimistic-adapt-ml-prod", update=_update, hint=_hint)
@dataclass(frozen=True)
class OptimisticAdaptMLProd(HintedLearner[ProdExperts, Rates]):
    r"""Optimistic-Adapt-ML-Prod (Wei, Hong and Lu, 2016): Adapt-ML-Prod with a guess of the coming losses.

    Competes with the best fixed action; the regret is small where losses repeat or `hint` gives good guesses. Each
    action has its own learning rate, which decreases with the squared errors of its guessed regret. This is Algorithm 3
    of the paper.

    Parameters
    ----------
    prior : {"inside", "outside"}, default "inside"
        Where the uniform prior enters: "inside" starts from $w_0 = 1/K$, as in the paper; "outside" starts from
        $w_0 = 1$ and multiplies $p$ by $1/K$, with an overhead of $\ln \ln T$.

    Notes
    -----
    With $r_{t,k} = \langle p_t, \ell_t \rangle - \ell_{t,k}$ and the guess
    $m_{t,k} = \langle p_t, h_t \rangle - h_{t,k}$, where $h_t$ is the hint or else $\ell_{t-1}$ as in the paper
    ($\ell_0 = 0$):

    $$ p_{t,k} \propto \eta_{t-1,k}\, w_{t-1,k}\, e^{\eta_{t-1,k} m_{t,k}}, \qquad
       w_{t,k} = \left( w_{t-1,k}\, e^{\eta_{t-1,k} r_{t,k} - \eta_{t-1,k}^2 (r_{t,k} - m_{t,k})^2}
       \right)^{\eta_{t,k} / \eta_{t-1,k}}, $$
    $$ \eta_{t,k} = \min\{1/4, \sqrt{\ln K / (1 + \textstyle\sum_{s \le t} (r_{s,k} - m_{s,k})^2)}\} . $$

    Regret: sqrt(sum |l_t - l_(t-1)|^2 ln K) + ln K against every fixed action, up to ln ln T.

    Must know: nothing.

    Time per round: O(K).

    References
    ----------
    C.-Y. Wei, Y.-T. Hong, C.-J. Lu, "Tracking the best expert in non-stationary stochastic environments", NIPS 2016,
    Algorithm 3 and Theorem 3.4 (RTk_bound).

    P. Gaillard, G. Stoltz, T. van Erven, "A second-order bound with excess losses", COLT 2014.

    Examples
    --------
    >>> learner = OptimisticAdaptMLProd()
    >>> state = learner.start(n_actions=2)
    >>> learner.update(state, [0.0, 1.0])
    >>> learner.predict(state)
    array([0.622..., 0.377...])
    >>> learner.hint(state, [1.0, 0.0])  # a better guess of the coming losses
    >>> learner.predict(state)
    array([0.5, 0.5])
    """

    prior: str = "inside"

    corners = Corners(prior=("inside", "outside"))

    def __post_init__(self) -> None:
        require_choice(self, "prior", ("inside", "outside"))

    def static_bound(self, measures: Measures) -> float | None:
        """Return the closed form of Theorem 3.4 (RTk_bound); None if the prior is outside."""
        return expected.adapt_ml_prod(measures) if self.prior == "inside" else None

    def first_memory(self, n_actions: int, generator: Words) -> ProdExperts:
        """Return uniform weights, one row of experts and a guess of zero losses."""
        experts = new_experts(1, n_actions)
        log_actions = math.log(n_actions)
        wake(experts, log_actions, -log_actions / RATE_CAP if self.prior == "inside" else 0.0)
        return experts

    def memory_limits(self, n_actions: int, rounds: int) -> dict[str, float]:
        """Return the number of rows, which is one, and the constant in its learning rates."""
        return {"rows": 1, "woken": 1, "most_scale": math.log(n_actions)}

    def memory_contradiction(self, memory: ProdExperts, rounds: int) -> str:
        """Return a rule that the row of experts breaks, '' where there is none."""
        return experts_contradiction(memory, rounds)

    def rates(self, n_actions: int) -> Rates:
        """Return the logarithm of the number of actions."""
        return Rates(log_actions=math.log(n_actions))
