r"""Algorithm 3 over experts that wake one after another: parameter-free tracking (Algorithm 4).

Expert $(s, k)$ sleeps before round $s$ and then always advises action $k$. Round $t$ plays
$p_{t,k} \propto \sum_{s \le t} \tilde p_{t,(s,k)}$, where $\tilde p_t$ is Algorithm 3's play over all experts; a
sleeping expert is told that it lost exactly what the play lost, so it does not move, and need not be stored.

=========  ==================  ==========================================================================
symbol     name in the code    meaning
=========  ==================  ==========================================================================
$T$        `n_rounds`          the paper's prior $1/(KT)$ for each expert and $\ln(KT)$ in the rates; None is
                               anytime: each row weighs $1/K$ outside, with $\ln(K(s+1))$ in its rates
$(s, k)$   `memory`            "exact" keeps every row, $O(K t)$ a round; "merged" merges old ones, $O(K c \log t)$
$c$        `resolution`        the most rows of a size that are kept when merging
=========  ==================  ==========================================================================

Pathwise, for every action and every interval (Lemma R_I, exact): the regret on $[t_1, t_2]$ is at most
$4 g + \sum \eta (r-m)^2 + \eta^{-1} \ln(1 + \tfrac{1}{e} \sum_{s \le t_2, k'} \text{ratio}_{(s,k')})$, $g = \ln KT$.
The guarantee with `n_rounds` speaks of that many rounds; the learner itself may go on.

Merged memory is ours. Rows have sizes, 1 when they wake; where more than $c$ have one size, the two oldest of them
become one of twice the size: the weights of their experts are added, their deviations averaged by weight, and the
rates follow. Rows of like age have seen almost the same, so little is lost: regrets were within 1 % of those of exact
memory in `tests/test_merged_memory.py` and within 2.3 % in the noisiest world of `make compare` (0.9 % with $c = 32$).
That is measured, not proved, so no bound is claimed for it.

Reference: Wei, Hong, Lu (2016), Algorithm 4 and Theorem dynamic_upper_full-into. The paper's rates say
$\ln K$; run on $KT$ experts it is $\ln KT$, as its Lemma R_I uses.
"""

from __future__ import annotations

import functools
import math
from dataclasses import dataclass
from typing import NamedTuple, Self

import numpy as np

from driftwise.core.corners import LONGEST, Corners
from driftwise.core.exponential_histograms import bucket_sizes
from driftwise.core.kernel import kernel
from driftwise.core.machine_memory import check_memory
from driftwise.core.measures import Measures
from driftwise.core.types import Vector, Words
from driftwise.core.validation import require_choice, require_count
from driftwise.learners.contract import Card, ExpertLearner, expert
from driftwise.learners.parts.prod_experts import (
    RATE_CAP,
    ProdExperts,
    absorb,
    experts_contradiction,
    new_experts,
    solve,
    wake,
)
from driftwise.learners.parts.prod_merging import merge
from driftwise.theory import expected

__all__ = ["SleepingOptimisticAdaptMLProd"]

_FIRST_ROWS = 64
_SIZES = 48  # 2^48 rounds are more than anyone will play


class Rates(NamedTuple):
    """The parameters, as the kernel reads them."""

    log_experts: float  # ln(K T); 0 stands for the flat, anytime prior
    resolution: int  # 0 merges nothing


@kernel
def _wake_next(memory: ProdExperts, rates: Rates) -> None:
    if rates.log_experts > 0.0:
        wake(memory, rates.log_experts, -rates.log_experts / RATE_CAP)
    else:
        # Row s, counted from 1, weighs 1/K outside: a factor common to all, so no term of its own.
        wake(memory, np.log(memory.weights.size * (memory.awake[1] + 2.0)), 0.0)
    if rates.resolution > 0:
        merge(memory, rates.resolution)


@kernel
def _update(memory: ProdExperts, rates: Rates, losses: Vector) -> None:
    absorb(memory, losses)
    _wake_next(memory, rates)
    for k in range(losses.size):  # a slice would be copied first, lest it overlap
        memory.guess[k] = losses[k]
    solve(memory)


@expert(
    "sleeping-optimistic-adapt-ml-prod",
    Card(
        title="Optimistic-Adapt-ML-Prod on sleeping experts (Algorithm 4)",
        in_words="One copy of every action starts in every round; the play is what the awake copies agree on.",
        knows="nothing (the number of rounds, if given, as in the paper)",
        cost="O(K t)",
        bound="sqrt(Gamma Lambda ln K) + Gamma ln K, and (Lambda V T ln K)^(1/3) + sqrt(V T ln K), times log T",
        reference="Wei, Hong, Lu (2016), Algorithm 4 and Theorem dynamic_upper_full-into",
    ),
    update=_update,
)
@dataclass(frozen=True)
class SleepingOptimisticAdaptMLProd(ExpertLearner[ProdExperts, Rates]):
    """Track switches and drift with nothing to tune.

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
        """Say why a million rounds are too many."""
        if self.memory == "merged":
            return {}
        why = "exact memory keeps one row per round: a million rounds would take 10^12 operations"
        return {"weights_survive_a_million_constant_rounds": why}

    @classmethod
    def tuned(cls, measures: Measures, memory: str = "exact") -> Self:
        """Take the paper's prior, which knows the number of rounds."""
        return cls(memory, measures.n_rounds)

    def bound(self, measures: Measures) -> float | None:
        """Return Theorem dynamic_upper_full-into's bound, with constants; it is about exact memory."""
        if self.memory == "merged":
            return None
        return expected.sleeping_adapt_ml_prod(measures, self.n_rounds)

    def first_memory(self, n_actions: int, generator: Words) -> ProdExperts:
        """Wake the first row."""
        n_rows = _FIRST_ROWS if self.memory == "exact" else self._merged_rows
        check_memory(self, "resolution", self.resolution, 8 * n_rows * (4 * n_actions + 2))
        experts = new_experts(n_rows, n_actions)
        _wake_next(experts, self.rates(n_actions))
        return experts

    def rates(self, n_actions: int) -> Rates:
        """Return the logarithm of the number of experts, 0 for the anytime prior."""
        log_experts = math.log(n_actions * self.n_rounds) if self.n_rounds else 0.0
        return Rates(log_experts, self.resolution if self.memory == "merged" else 0)

    def memory_limits(self, n_actions: int, rounds: int) -> dict[str, float]:
        """Return how many rows have woken, the largest constant of one, and the room that merged rows have."""
        scale = self.rates(n_actions).log_experts or math.log(n_actions * (rounds + 2))
        rows = {"rows": self._merged_rows} if self.memory == "merged" else {}
        return {"woken": rounds + 1, "most_scale": scale, **rows}

    def memory_contradiction(self, memory: ProdExperts, rounds: int) -> str:
        """Check that the rows are those that wake in so many rounds, with room for one more."""
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
        """Double the rows until they hold `n_rounds` more; merged rows never outgrow their room."""
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
