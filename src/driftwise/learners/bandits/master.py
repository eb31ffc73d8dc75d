r"""MASTER: upper confidence bounds on many time scales, and two tests that start them again after a change.

Blocks of $2^n$ rounds follow each other, $n = 0, 1, 2, \dots$, each played as `bandits/multi_scale.py` says with
$L = \ln(T / \delta)$; let $h_t$ be what the play of round $t$ hopes to lose. A test fails, and everything starts again
at $n = 0$ with the next round, if

1. the $2^m$ rounds of an instance are over and their mean loss, whoever played them, is at most
   $\max h_t - 9 \hat\rho(2^m)$, the maximum over the block so far: to lose so little was not hoped for; or
2. the mean of $\ell_t - h_t$ over the $\tau$ rounds of the block so far is at least $3 \hat\rho(\tau)$: to lose so much
   more than hoped for is no accident, where

$$ \hat\rho(x) = 6 c\, (\log_2 T + 1) \ln(T / \delta)\, \rho(x), \qquad \rho(x) = \sqrt{K / x} + K / x . $$

=========  =======================  ========================================================
symbol     name in the code         meaning
=========  =======================  ========================================================
$T$        `n_rounds`               rounds to come; they matter through logarithms only
$\delta$   `failure_probability`    the chance that a test fails without a change
$c$        `test_scale`                  how large a change the tests wait for; the proof needs 1
=========  =======================  ========================================================

**As published, the tests are idle in runs of a usual length.** No mean exceeds 1, so neither test can fail in a block
of $x$ rounds while $3 \hat\rho(x) = 18 c\, (\log_2 T + 1) \ln(T / \delta)\, (\sqrt{K / x} + K / x) > 1$: with $K = 2$,
$T = 1 / \delta = 10^5$, while $x < 1.06 \cdot 10^8$ (`earliest_test`). What remains is a learner that forgets at random
and adapts by that. A smaller $c$ is not covered by the proof and did not help: in runs of $10^5$ rounds or so no test
failed with $c \ge 0.01$, changes or not; with $c \le 0.005$ some failed without a change and the regret grew.

Reference: C.-Y. Wei and H. Luo, "Non-stationary reinforcement learning without prior knowledge: an optimal black-box
approach", COLT 2021 (in rewards, $1 - \ell$); the idle tests: A. Gerogiannis, Y.-H. Huang and V. Veeravalli, "Is
prior-free black-box non-stationary reinforcement learning feasible?", 2024. The radius $\sqrt{L / n_i}$ is ours: in a
world that does not change, all of them in all instances hold but for a chance of $K \delta^2$.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import NamedTuple, Self

import numpy as np

from driftwise.core.corners import BELOW_ONE, LARGEST, LONGEST, SMALLEST, Corners, NoLearning
from driftwise.core.kernel import kernel
from driftwise.core.log_ratio import log_ratio
from driftwise.core.measures import Measures
from driftwise.core.types import Words
from driftwise.core.validation import count, require_count, require_number
from driftwise.learners.contract import BanditLearner, Card, bandit
from driftwise.learners.parts.multi_scale_ucb import ORDERS, Memory, begin_block, begin_instances, plan, record, rho

__all__ = ["Master"]


class Rates(NamedTuple):
    """The parameters, as the kernels read them."""

    log_term: float  # L
    tolerance: float  # the factor between rho and its hatted version


@kernel
def _fails(memory: Memory, tolerance: float) -> bool:
    rounds, n_actions = memory.block[1], memory.plays.shape[1]
    fails = memory.beyond[0] >= rounds * 3.0 * tolerance * rho(n_actions, rounds)
    for m in range(memory.block[0] + 1):
        length = 1 << m
        if rounds % length > 0:
            break
        if memory.ends[m] == rounds:
            least = length * (memory.most_hoped[0] - 9.0 * tolerance * rho(n_actions, length))
            fails |= memory.lost[0] - memory.lost_before[m] <= least
    return bool(fails)


@kernel
def _choose(memory: Memory, rates: Rates) -> tuple[int, float]:  # noqa: ARG001
    return int(memory.action[0]), 1.0


@kernel
def _update(memory: Memory, rates: Rates, action: int, loss: float, probability: float) -> None:  # noqa: ARG001
    record(memory, action, loss)
    order, rounds = memory.block[0], memory.block[1]
    if _fails(memory, rates.tolerance):
        begin_block(memory, 0)
    elif rounds == 1 << order:
        begin_block(memory, min(order + 1, ORDERS - 1))
    begin_instances(memory)
    plan(memory, rates.log_term)


@bandit(
    "master",
    Card(
        title="MASTER over upper confidence bounds",
        in_words="Run upper confidence bounds on many time scales at once; start again when a test fails.",
        knows="the number of rounds, in a logarithm",
        cost="O(K + log t)",
        bound="sqrt(K Gamma T), or (K V)^(1/3) T^(2/3) + sqrt(K T), up to logarithms; but no test can fail in a block"
        " of n rounds while 18 (log2 T + 1) ln(T/delta) (sqrt(K/n) + K/n) > 1",
        reference="Wei, Luo (2021); Gerogiannis, Huang, Veeravalli (2024)",
    ),
    choose=_choose,
    update=_update,
)
@dataclass(frozen=True)
class Master(BanditLearner[Memory, Rates]):
    """Track the best action without being told how often or how far the means move.

    >>> Master(n_rounds=10**5, failure_probability=1e-5).earliest_test(n_actions=2)
    106...
    """

    n_rounds: int = 1_000_000
    failure_probability: float = 0.001
    test_scale: float = 1.0

    corners = Corners(
        n_rounds=(1, LONGEST),
        failure_probability=(SMALLEST, BELOW_ONE),
        test_scale=(NoLearning(SMALLEST, "every test fails"), LARGEST),
    )

    def __post_init__(self) -> None:
        require_count(self, "n_rounds")
        require_number(self, "failure_probability", lambda x: 0 < x < 1, "in (0, 1)")
        require_number(self, "test_scale", lambda x: 0 < x < math.inf, "a finite number > 0")

    @classmethod
    def tuned(cls, measures: Measures) -> Self:
        """Take the number of rounds, and one over it for the failure probability."""
        return cls(n_rounds=measures.n_rounds, failure_probability=1.0 / max(2, measures.n_rounds))

    def earliest_test(self, n_actions: int) -> int:
        """Return how many rounds a block must have before a test can fail."""
        factor = 3.0 * self.rates(n_actions).tolerance
        root = 2.0 / factor / (1.0 + math.sqrt(1.0 + 4.0 / factor))  # of factor (x + x^2) = 1 with x^2 = K / n
        return math.ceil(count(self, "n_actions", n_actions) / root**2)

    def first_memory(self, n_actions: int, generator: Words) -> Memory:
        """Start with a block of one round and its instance, which plays action 0."""
        plays, totals = np.zeros((2, ORDERS, n_actions))
        ends = np.eye(1, ORDERS, dtype=np.int64)[0]
        block, action = np.zeros((2, 2), np.int64)
        lost, beyond, most_hoped, hope = np.zeros((4, 1))
        return Memory(plays, totals, np.zeros(ORDERS), ends, block, lost, beyond, most_hoped, action, hope, generator)

    def memory_limits(self, n_actions: int, rounds: int) -> dict[str, float]:
        """Return how far below the hopes losses can have stayed."""
        return {"least_beyond": -rounds}

    def memory_contradiction(self, memory: Memory, rounds: int) -> str:
        """Check whatever addresses something."""
        (order, played), (action, instance) = memory.block.tolist(), memory.action.tolist()
        if not (order < ORDERS and played < memory.ends[order] == 1 << order):
            return "`block` must be within a block that has not ended"
        if not (0 <= instance <= order and 0 <= action < memory.plays.shape[1]):
            return f"`action` must be an action and the order of an instance, at most {order}"
        return "" if (memory.totals <= memory.plays).all() else "`totals` must be at most `plays`"

    def rates(self, n_actions: int) -> Rates:
        """Return the logarithm and the tolerance of the tests."""
        log_term = log_ratio(self.n_rounds, self.failure_probability)
        return Rates(log_term, 6.0 * self.test_scale * (math.log2(self.n_rounds) + 1.0) * log_term)
