r"""Optimistic-Adapt-ML-Prod over sleeping experts.

A sleeping expert is assigned the loss of the weights played, so its regret is 0, its weight does not change, and it
need not be stored.

Bound of exact memory, for every loss sequence, every action and every interval (Lemma F.2, R_I): the regret on
$[t_1, t_2]$ is at most
$4 g + \sum \eta (r-m)^2 + \eta^{-1} \ln(1 + \tfrac{1}{e} \sum_{s \le t_2, k'} \text{ratio}_{(s,k')})$,
$g = \ln KT$, where the ratio of an expert is $\sum_t (\eta_{t-1}/\eta_t - 1)$. With `n_rounds` the paper's guarantee is
for that many rounds; the learner can play more.

Merged memory is an addition of driftwise. A new row has size 1; where more than $c$ rows have the same size, the two
oldest of them become one row of twice the size: the weights of their experts are added, their deviations averaged by
weight, and the rates follow. Rows that started at about the same time have almost the same statistics, so little is
lost: regrets were within 1 % of those of exact memory in `tests/test_merged_memory.py` and within 2.3 % in the noisiest
environment of `make compare` (0.9 % with $c = 32$). That is measured, not proved, so there is no bound for it.

The paper's rates have $\ln K$; on $KT$ experts they need $\ln KT$, as in its Lemma F.2.
"""

from __future__ import annotations

import functools
import math
from dataclasses import dataclass, replace
from typing import NamedTuple, Self

import numpy as np

from driftwise.core.corners import LONGEST, Corners
from driftwise.core.exponential_histograms import bucket_sizes
from driftwise.core.kernel import kernel
from driftwise.core.machine_memory import check_memory
from driftwise.core.measures import Measures
from driftwise.core.types import Vector, Words
from driftwise.core.validation import require_choice, require_count
from driftwise.learners.contract import Beliefs, ExpertLearner, State, expert
from driftwise.learners.parts.effective_memory import mean_age, shares_by_age
from driftwise.learners.parts.prod_experts import (
    RATE_CAP,
    ProdExperts,
    absorb,
    experts_contradiction,
    new_experts,
    row_shares,
    solve,
    wake,
)
from driftwise.learners.parts.prod_merging import merge
from driftwise.theory import expected

__all__ = ["SleepingOptimisticAdaptMLProd"]

_FIRST_ROWS = 64  # of a new exact memory
_SIZES = 48  # sizes are powers of two below 2^48, the most rounds of a memory


class Rates(NamedTuple):
    """Parameters passed to the kernel."""

    log_experts: float  # ln(K T); 0 for the flat, anytime prior
    resolution: int  # 0 merges nothing


@kernel
def _wake_next(memory: ProdExperts, rates: Rates) -> None:
    if rates.log_experts > 0.0:
        wake(memory, rates.log_experts, -rates.log_experts / RATE_CAP)
    else:
        # The weight 1/K outside the product is common to all experts, so it is left out. Rows count from 1.
        wake(memory, np.log(memory.weights.size * (memory.awake[1] + 2.0)), 0.0)
    if rates.resolution > 0:
        merge(memory, rates.resolution)


@kernel
def _update(memory: ProdExperts, rates: Rates, losses: Vector) -> None:
    absorb(memory, losses)
    _wake_next(memory, rates)
    for k in range(losses.size):  # a slice assignment would make a copy first
        memory.guess[k] = losses[k]
    solve(memory)


@expert("sleeping-optimistic-adapt-ml-prod", update=_update)
@dataclass(frozen=True)
class SleepingOptimisticAdaptMLProd(ExpertLearner[ProdExperts, Rates]):
    r"""Sleeping Optimistic-Adapt-ML-Prod (Wei, Hong and Lu, 2016): one copy of every action per starting round.

    Tracks switches and drift without tuned parameters. This is Algorithm 4 of the paper.

    Parameters
    ----------
    memory : {"exact", "merged"}, default "exact"
        Which rows of copies are kept: "exact" keeps every row, $O(K t)$ a round; "merged" merges old rows,
        $O(K c \log t)$ a round.
    n_rounds : int or None, default None
        Number of rounds ($T$), >= 1: each expert has the prior $1/(KT)$, with $\ln(KT)$ in the rates, as in the paper.
        None is anytime: each expert has the weight $1/K$ outside the product, with $\ln(K(s+1))$ in the rates of row
        $s$.
    resolution : int, default 2
        Most rows of the same size that are kept when merging ($c$), >= 1; not used with exact memory.

    Notes
    -----
    Expert $(s, k)$ is asleep before round $s$ and then always advises action $k$. Round $t$ plays

    $$ p_{t,k} \propto \sum_{s \le t} \tilde p_{t,(s,k)} , $$

    where $\tilde p_t$ are the weights of OptimisticAdaptMLProd over all experts, with $\ell_{t-1}$ as the guess of
    $\ell_t$.

    Regret: sqrt(Gamma Lambda ln K) + Gamma ln K, and (Lambda V T ln K)^(1/3) + sqrt(V T ln K), times log T.

    Must know: nothing (the number of rounds, if given, as in the paper).

    Time per round: O(K t). With merged memory it is $O(K c \log t)$.

    References
    ----------
    C.-Y. Wei, Y.-T. Hong, C.-J. Lu, "Tracking the best expert in non-stationary stochastic environments", NIPS 2016,
    Algorithm 4 and Theorem 3.5 (dynamic_upper_full-into).

    Examples
    --------
    >>> learner = SleepingOptimisticAdaptMLProd()
    >>> state = learner.start(n_actions=2)
    >>> learner.update(state, [0.0, 1.0])
    >>> learner.predict(state)
    array([0.592..., 0.407...])
    """

    memory: str = "exact"
    n_rounds: int | None = None
    resolution: int = 2

    corners = Corners(memory=("exact", "merged"), n_rounds=(1, LONGEST, None), resolution=(1, 8))

    def __post_init__(self) -> None:
        require_choice(self, "memory", ("exact", "merged"))
        require_count(self, "resolution")
        if self.n_rounds is not None:
            require_count(self, "n_rounds")

    @property
    def skipped_checks(self) -> dict[str, str]:
        """Return why exact memory skips the check of a million rounds."""
        if self.memory == "merged":
            return {}
        why = "exact memory keeps one row per round: a million rounds would take 10^12 operations"
        return {"weights_survive_a_million_constant_rounds": why}

    @classmethod
    def tuned(cls, measures: Measures, memory: str = "exact") -> Self:
        """Set the prior of the paper for the number of rounds."""
        return cls(memory, measures.n_rounds)

    def bound(self, measures: Measures) -> float | None:
        """Return the bound of Theorem 3.5 (dynamic_upper_full-into), with constants; None for merged memory."""
        if self.memory == "merged":
            return None
        return expected.sleeping_adapt_ml_prod(measures, self.n_rounds)

    def first_memory(self, n_actions: int, generator: Words) -> ProdExperts:
        """Return uniform weights and the row of round 1."""
        n_rows = _FIRST_ROWS if self.memory == "exact" else self._merged_rows
        check_memory(self, "resolution", self.resolution, 8 * n_rows * (4 * n_actions + 2))
        experts = new_experts(n_rows, n_actions)
        _wake_next(experts, self.rates(n_actions))
        return experts

    def rates(self, n_actions: int) -> Rates:
        """Return ln(KT), 0 for the anytime prior, and the resolution, 0 for exact memory."""
        log_experts = math.log(n_actions * self.n_rounds) if self.n_rounds else 0.0
        return Rates(log_experts, self.resolution if self.memory == "merged" else 0)

    def beliefs(self, state: State[ProdExperts, Rates]) -> Beliefs:
        """Return the share of the weights that rows of each age have, and their mean age."""
        found, memory = super().beliefs(state), state.memory
        sizes = memory.size[: memory.awake[0]]
        # Row s started before round s + 1; one that was merged from several has their mean age.
        ages, shares = state.rounds - (np.cumsum(sizes) - 0.5 * (sizes + 1)), row_shares(memory)
        return replace(found, memory=mean_age(ages, shares), bases=shares_by_age(ages, shares))

    def memory_limits(self, n_actions: int, rounds: int) -> dict[str, float]:
        """Return the number of rows started, the largest constant in their rates, and the room for merged rows."""
        scale = self.rates(n_actions).log_experts or math.log(n_actions * (rounds + 2))
        rows = {"rows": self._merged_rows} if self.memory == "merged" else {}
        return {"woken": rounds + 1, "most_scale": scale, **rows}

    def memory_contradiction(self, memory: ProdExperts, rounds: int) -> str:
        """Return a rule that the rows break after `rounds` rounds, '' where there is none."""
        sizes = bucket_sizes(rounds + 1, self.resolution) if self.memory == "merged" else None
        n_rows = rounds + 1 if sizes is None else len(sizes)
        if not (memory.awake.tolist() == [n_rows, rounds + 1] and n_rows < len(memory.scale)):
            return f"`awake` must be [{n_rows}, {rounds + 1}], with room for one more row"
        if memory.size[:n_rows].tolist() != (sizes or [1] * n_rows):
            return f"`size` must be that of rows which woke in {rounds + 1} rounds"
        return experts_contradiction(memory, rounds)

    @property
    def _merged_rows(self) -> int:
        return (self.resolution + 1) * _SIZES

    @functools.cached_property
    def grows(self) -> bool:
        """Whether every row is kept."""
        return self.memory == "exact"

    def make_room(self, memory: ProdExperts, n_rounds: int) -> ProdExperts:
        """Return a memory with room for `n_rounds` more rows, by doubling; merged memory never grows."""
        if self.memory == "merged":
            return memory
        n_rows, n_actions = memory.potential.shape
        needed = int(memory.awake[0]) + n_rounds
        if needed <= n_rows:
            return memory
        while n_rows < needed:
            n_rows *= 2
        larger = new_experts(n_rows, n_actions)
        for old, new in zip(memory, larger, strict=True):
            if old.shape == new.shape:
                new[:] = old
            else:
                new[: len(old)] = old
        return larger
