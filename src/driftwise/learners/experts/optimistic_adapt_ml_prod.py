r"""Optimistic-Adapt-ML-Prod: one learning rate per action, set by how well its regret was guessed (Algorithm 3).

With $r_{t,k} = \langle p_t, \ell_t \rangle - \ell_{t,k}$ and the guess
$m_{t,k} = \langle p_t, h_t \rangle - h_{t,k}$ (the paper's $h_t$ is $\ell_{t-1}$, with $\ell_0 = 0$):

$$ p_{t,k} \propto \eta_{t-1,k}\, w_{t-1,k}\, e^{\eta_{t-1,k} m_{t,k}}, \qquad
   w_{t,k} = \left( w_{t-1,k}\, e^{\eta_{t-1,k} r_{t,k} - \eta_{t-1,k}^2 (r_{t,k} - m_{t,k})^2}
   \right)^{\eta_{t,k} / \eta_{t-1,k}}, $$
$$ \eta_{t,k} = \min\{1/4, \sqrt{\ln K / (1 + \textstyle\sum_{s \le t} (r_{s,k} - m_{s,k})^2)}\} . $$

=========  ==================  ==========================================================================
symbol     name in the code    meaning
=========  ==================  ==========================================================================
$w_0$      `prior`             where the uniform prior stands: "inside" $w_0 = 1/K$ as in the paper, or
                               "outside", $w_0 = 1$ with $p$ weighed by $1/K$, whose overhead is $\ln\ln T$
=========  ==================  ==========================================================================

Pathwise, for every action $k$ (Lemma lemma_regret): $R_k \le \ln(K)/\eta_0 + \sum_t \eta_{t-1,k}
(r_{t,k} - m_{t,k})^2 + \eta_{T,k}^{-1} \ln(1 + \tfrac{1}{e} \sum_{k'} \sum_t (\eta_{t-1,k'}/\eta_{t,k'} - 1))$,
for any guesses in $[0, 1]^K$: see `hint`.

Reference: Wei, Hong, Lu (2016), Algorithm 3 and Theorem RTk_bound. We store $\ln w / \eta$ and solve for
$\langle p_t, h_t \rangle$ by Newton's method where the paper halves an interval.
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
from driftwise.learners.contract import Card, HintedLearner, expert
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
    """The parameters, as the kernels read them."""

    log_actions: float  # ln K; only the first round needs it, the rows remember it


@kernel
def _hint(memory: ProdExperts, rates: Rates, guess: Vector) -> None:  # noqa: ARG001
    for k in range(guess.size):  # a slice would be copied first, lest it overlap
        memory.guess[k] = guess[k]
    solve(memory)


@kernel
def _update(memory: ProdExperts, rates: Rates, losses: Vector) -> None:
    absorb(memory, losses)
    _hint(memory, rates, losses)


@expert(
    "optimistic-adapt-ml-prod",
    Card(
        title="Optimistic-Adapt-ML-Prod (Algorithm 3)",
        in_words="Multiplicative weights with a learning rate per action that falls with its own surprises.",
        knows="nothing",
        cost="O(K)",
        bound="sqrt(sum |l_t - l_(t-1)|^2 ln K) + ln K against every fixed action, up to ln ln T",
        reference="Wei, Hong, Lu (2016), Algorithm 3 and Theorem RTk_bound; Gaillard, Stoltz, van Erven (2014)",
    ),
    update=_update,
    hint=_hint,
)
@dataclass(frozen=True)
class OptimisticAdaptMLProd(HintedLearner[ProdExperts, Rates]):
    """Follow the best fixed action; losses that repeat cost next to nothing.

    >>> learner = OptimisticAdaptMLProd()
    >>> state = learner.start(n_actions=2)
    >>> learner.update(state, [0.0, 1.0])
    >>> learner.predict(state)
    array([0.622..., 0.377...])
    >>> learner.hint(state, [1.0, 0.0])  # someone knows better what comes next
    >>> learner.predict(state)
    array([0.5, 0.5])
    """

    prior: str = "inside"

    corners = Corners(prior=("inside", "outside"))

    def __post_init__(self) -> None:
        require_choice(self, "prior", ("inside", "outside"))

    def bound(self, measures: Measures) -> float | None:
        """Return Theorem RTk_bound's closed form where the best action never changes."""
        return expected.adapt_ml_prod(measures) if self.prior == "inside" else None

    def first_memory(self, n_actions: int, generator: Words) -> ProdExperts:
        """Start uniform, guessing no losses."""
        experts = new_experts(1, n_actions)
        log_actions = math.log(n_actions)
        wake(experts, log_actions, -log_actions / RATE_CAP if self.prior == "inside" else 0.0)
        return experts

    def memory_limits(self, n_actions: int, rounds: int) -> dict[str, float]:
        """Return the size of the one row, and its constant."""
        return {"rows": 1, "woken": 1, "most_scale": math.log(n_actions)}

    def memory_contradiction(self, memory: ProdExperts, rounds: int) -> str:
        """Check the learning rates."""
        return experts_contradiction(memory, rounds)

    def rates(self, n_actions: int) -> Rates:
        """Return the logarithm of the number of actions."""
        return Rates(log_actions=math.log(n_actions))
