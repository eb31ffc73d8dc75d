r"""MASTER: upper confidence bounds on many time scales, its tests, and why they rarely fail.

A block has $2^n$ rounds. After $\tau$ of them, for each $m \le n$ such that $2^m$ divides $\tau$, an instance of order
$m$ starts with probability $\rho(2^n) / \rho(2^m)$ and covers the next $2^m$ rounds, $\rho(x) = \sqrt{K / x} + K / x$.
So the one of order $n$ starts with the block. A round is played by the shortest instance that covers it; the others do
not observe it. From its own plays $n_i$ and mean losses $\hat\mu_i$ the instance computes its action (of equal ones the
first) and an optimistic estimate $h$ of the loss,

$$ \arg\min_i \hat\mu_i - \sqrt{L / n_i}, \qquad h = \max\{0, \min_i \hat\mu_i - \sqrt{L / n_i}\} , $$

where an action without a play has $-\infty$.

Blocks of $2^n$ rounds follow each other, $n = 0, 1, 2, \dots$, each played as above
with $L = \ln(T / \delta)$. Let $h_t$ be the lower confidence bound, at least 0, of the action played in round $t$. A
test fails, and the learner restarts at $n = 0$ with the next round, if

1. the $2^m$ rounds of an instance are over and their mean loss, over the plays of all instances, is at most
   $\max h_t - 9 \hat\rho(2^m)$, with the maximum over the block so far: the losses are lower than the bounds allow; or
2. the mean of $\ell_t - h_t$ over the $\tau$ rounds of the block so far is at least $3 \hat\rho(\tau)$: the losses
   exceed the bounds by more than chance explains.

**As published, the tests cannot fail in runs of usual length.** No mean exceeds 1, so neither test can fail in a block
of $x$ rounds while $3 \hat\rho(x) = 18 c\, (\log_2 T + 1) \ln(T / \delta)\, (\sqrt{K / x} + K / x) > 1$: with $K = 2$,
$T = 1 / \delta = 10^5$, while $x < 1.06 \cdot 10^8$ (`earliest_test`). Then the learner adapts only because instances
begin and end at random. A smaller $c$ is not covered by the proof and did not help: in runs of about $10^5$ rounds no
test failed with $c \ge 0.01$, with or without changes; with $c \le 0.005$ some failed without a change and the regret
grew.

The source is in rewards, $1 - \ell$. The radius $\sqrt{L / n_i}$ is ours: in an environment that does not change, all
radii of all instances hold with a probability of at least $1 - K \delta^2$.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from typing import Annotated, NamedTuple, Self

import numpy as np

from driftwise.core.corners import BELOW_ONE, LARGEST, LONGEST, SMALLEST, Corners, NoLearning
from driftwise.core.divergence import log_ratio
from driftwise.core.kernel import kernel
from driftwise.core.measures import Measures
from driftwise.core.memory_fields import between, exactly, generator, packed
from driftwise.core.random import next_uniform
from driftwise.core.types import Actions, Matrix, Vector, Words
from driftwise.core.validation import COUNT, POSITIVE, Domains, count, interval
from driftwise.learners.base import BanditLearner, Beliefs, State, bandit
from driftwise.learners.shared.alarm_log import alarm_log, alarms, record_alarm

ORDERS = 48  # enough for 2^48 rounds, which at a microsecond each take nine years


class Memory(NamedTuple):
    """State of the learner between rounds."""

    plays: Annotated[Matrix, between(0, "rounds", ORDERS, "actions")]  # of the instance of each order
    totals: Annotated[Matrix, between(0, "rounds", ORDERS, "actions")]
    loss_before: Annotated[Vector, between(0, "rounds", ORDERS)]  # the loss of the block before the instance
    ends: Annotated[Actions, between(0, 1 << ORDERS, ORDERS)]  # the rounds of the block after which the instance ends
    block: Annotated[Actions, between(0, "rounds", 2)]  # the order n of the block and its rounds so far
    block_loss: Annotated[Vector, between(0, "rounds", 1)]
    excess: Annotated[Vector, between("least_excess", "rounds", 1)]  # the loss of the block less its estimates h
    largest_estimate: Annotated[Vector, between(0, 1, 1)]  # the largest h of the block
    action: Annotated[Actions, packed(2)]  # the next action, and the order of the instance that chose it
    estimate: Annotated[Vector, between(0, 1, 1)]  # h of the next round
    rounds: Annotated[Actions, exactly("rounds", 1)]
    alarms: Annotated[Actions, alarm_log()]  # rounds after which a test failed
    generator: Annotated[Words, generator()]


@kernel
def rho(n_actions: int, n_rounds: float) -> float:
    """Return the regret per round that upper confidence bounds have after `n_rounds` rounds, up to logarithms."""
    share = n_actions / n_rounds
    return float(np.sqrt(share)) + share


@kernel
def _begin(memory: Memory, order: int) -> None:
    memory.plays[order, :] = 0.0
    memory.totals[order, :] = 0.0
    memory.loss_before[order] = memory.block_loss[0]
    memory.ends[order] = memory.block[1] + (1 << order)


@kernel
def begin_block(memory: Memory, order: int) -> None:
    """Start a new block of 2^order rounds, with one instance."""
    memory.block[0] = order
    memory.block[1] = 0
    memory.block_loss[0] = 0.0
    memory.excess[0] = 0.0
    memory.largest_estimate[0] = 0.0
    memory.ends[:] = 0
    _begin(memory, order)


@kernel
def begin_instances(memory: Memory) -> None:
    """Draw which of the shorter instances start with the next round."""
    order, rounds, n_actions = memory.block[0], memory.block[1], memory.plays.shape[1]
    for m in range(order):
        if rounds % (1 << m) > 0:
            break
        if next_uniform(memory.generator) < rho(n_actions, 2.0**order) / rho(n_actions, 2.0**m):
            _begin(memory, m)


@kernel
def next_action(memory: Memory, log_term: float) -> None:
    """Write the next action and its estimate, as the shortest instance computes them."""
    order = 0
    while memory.ends[order] <= memory.block[1]:
        order += 1
    best, lowest = 0, np.inf
    for k in range(memory.plays.shape[1]):
        n = memory.plays[order, k]
        index = memory.totals[order, k] / n - np.sqrt(log_term / n) if n > 0.0 else -np.inf
        if index < lowest:
            best, lowest = k, index
    memory.action[0] = best
    memory.action[1] = order
    memory.estimate[0] = max(0.0, lowest)


@kernel
def record(memory: Memory, action: int, loss: float) -> None:
    """Update the block and the instance that chose the action with the loss of the round."""
    order, estimate = memory.action[1], memory.estimate[0]
    memory.rounds[0] += 1
    memory.plays[order, action] += 1.0
    memory.totals[order, action] += loss
    memory.block[1] += 1
    memory.block_loss[0] += loss
    memory.excess[0] += loss - estimate
    memory.largest_estimate[0] = max(memory.largest_estimate[0], estimate)


class Rates(NamedTuple):
    """Parameters as the kernels take them."""

    log_term: float  # L
    tolerance: float  # the factor of rho in rho-hat


@kernel
def _fails(memory: Memory, tolerance: float) -> bool:
    rounds, n_actions = memory.block[1], memory.plays.shape[1]
    fails = memory.excess[0] >= rounds * 3.0 * tolerance * rho(n_actions, rounds)
    for m in range(memory.block[0] + 1):
        length = 1 << m
        if rounds % length > 0:
            break
        if memory.ends[m] == rounds:
            least = length * (memory.largest_estimate[0] - 9.0 * tolerance * rho(n_actions, length))
            fails |= memory.block_loss[0] - memory.loss_before[m] <= least
    return bool(fails)


@kernel
def _choose(memory: Memory, rates: Rates) -> tuple[int, float]:  # noqa: ARG001
    return int(memory.action[0]), 1.0


@kernel
def _update(memory: Memory, rates: Rates, action: int, loss: float, probability: float) -> None:  # noqa: ARG001
    record(memory, action, loss)
    order, rounds = memory.block[0], memory.block[1]
    if _fails(memory, rates.tolerance):
        record_alarm(memory.alarms, memory.rounds[0] - 1)
        begin_block(memory, 0)
    elif rounds == 1 << order:
        begin_block(memory, min(order + 1, ORDERS - 1))
    begin_instances(memory)
    next_action(memory, rates.log_term)


@bandit("master", choose=_choose, update=_update)
@dataclass(frozen=True)
class Master(BanditLearner[Memory, Rates]):
    r"""MASTER (Wei and Luo, 2021): UCB on many time scales at once, restarted when a test detects a change.

    Needs neither the number of changes nor the drift. As published, its tests cannot fail in runs of usual length: see
    `earliest_test`.

    Parameters
    ----------
    n_rounds : int, default 1000000
        Number of rounds ($T$), a whole number >= 1. It matters only through logarithms.
    failure_probability : float, default 0.001
        Probability that a test fails without a change ($\delta$), in (0, 1).
    threshold_scale : float, default 1.0
        Factor on the size of a change that the tests detect ($c$), a finite number > 0. The proof needs 1.

    Notes
    -----
    Blocks of 1, 2, 4, ... rounds follow each other. In a block, instances of UCB with $2^m$ rounds begin at random, and
    the shortest one that is active plays. Two tests compare the losses with the lower confidence bounds of the actions
    played, with a multiple of this tolerance for a stretch of $x$ rounds; if one fails, the blocks restart at 1 round:

    $$ \hat\rho(x) = 6 c\, (\log_2 T + 1) \ln(T / \delta)\, \rho(x), \qquad \rho(x) = \sqrt{K / x} + K / x . $$

    Regret: $\sqrt{K \Gamma T}$, or $(K V)^{1/3} T^{2/3} + \sqrt{K T}$, up to logarithms. But no test can fail in a
    block of $n$ rounds while $18 (\log_2 T + 1) \ln(T/\delta) (\sqrt{K/n} + K/n) > 1$.

    Must know: the number of rounds, in a logarithm.

    Time per round: O(K + log t).

    References
    ----------
    C.-Y. Wei, H. Luo, "Non-stationary reinforcement learning without prior knowledge: an optimal black-box approach",
    COLT 2021.

    A. Gerogiannis, Y.-H. Huang, V. Veeravalli, "Is prior-free black-box non-stationary reinforcement learning
    feasible?", AISTATS 2025 (why the tests do not fail).

    Examples
    --------
    >>> Master(n_rounds=10**5, failure_probability=1e-5).earliest_test(n_actions=2)
    106...
    """

    n_rounds: int = 1_000_000
    failure_probability: float = 0.001
    threshold_scale: float = 1.0

    corners = Corners(
        n_rounds=(1, LONGEST),
        failure_probability=(SMALLEST, BELOW_ONE),
        threshold_scale=(NoLearning(SMALLEST, "every test fails"), LARGEST),
    )
    _domains = Domains(n_rounds=COUNT, failure_probability=interval("(0, 1)"), threshold_scale=POSITIVE)

    @classmethod
    def tuned(cls, measures: Measures) -> Self:
        """Set the number of rounds, and one over it as the failure probability."""
        return cls(n_rounds=measures.n_rounds, failure_probability=1.0 / max(2, measures.n_rounds))

    def earliest_test(self, n_actions: int) -> int:
        """Return the number of rounds of a block from which on a test can fail."""
        factor = 3.0 * self.rates(n_actions).tolerance
        root = 2.0 / factor / (1.0 + math.sqrt(1.0 + 4.0 / factor))  # of factor (x + x^2) = 1 with x^2 = K / n
        return math.ceil(count(self, "n_actions", n_actions) / root**2)

    def first_memory(self, n_actions: int, generator: Words) -> Memory:
        """Return a block of one round with one instance, which plays action 0."""
        return super().first_memory(n_actions, generator)._replace(ends=np.eye(1, ORDERS, dtype=np.int64)[0])

    def beliefs(self, state: State[Memory, Rates]) -> Beliefs:
        """Return the rounds of failed tests, and the plays of the instance that chooses the next action."""
        beliefs, memory = super().beliefs(state), state.memory
        return replace(beliefs, memory=float(memory.plays[memory.action[1]].sum()), **alarms(memory.alarms))

    def memory_limits(self, n_actions: int, rounds: int) -> dict[str, float]:
        """Return the least sum of losses less their lower confidence bounds."""
        return {"least_excess": -rounds}

    def memory_contradiction(self, memory: Memory, rounds: int) -> str:
        """Return what is wrong with the block, the action or the totals."""
        (order, played), (action, instance) = memory.block.tolist(), memory.action.tolist()
        if not (order < ORDERS and played < memory.ends[order] == 1 << order):
            return "`block` must be within a block that has not ended"
        if not (0 <= instance <= order and 0 <= action < memory.plays.shape[1]):
            return f"`action` must be an action and the order of an instance, at most {order}"
        return "" if (memory.totals <= memory.plays).all() else "`totals` must be at most `plays`"

    def rates(self, n_actions: int) -> Rates:
        """Return $L$ and the tolerance of the tests."""
        log_term = log_ratio(self.n_rounds, self.failure_probability)
        return Rates(log_term, 6.0 * self.threshold_scale * (math.log2(self.n_rounds) + 1.0) * log_term)
