r"""Upper confidence bounds on many time scales: a block of MASTER (its procedure MALG).

A block has $2^n$ rounds. After $\tau$ of them, for each $m \le n$ such that $2^m$ divides $\tau$, an instance of order
$m$ starts with probability $\rho(2^n) / \rho(2^m)$ and covers the next $2^m$ rounds, $\rho(x) = \sqrt{K / x} + K / x$.
So the one of order $n$ starts with the block. A round is played by the shortest instance that covers it; the others do
not observe it. From its own plays $n_i$ and mean losses $\hat\mu_i$ the instance computes its action (of equal ones the
first) and an optimistic estimate $h$ of the loss,

$$ \arg\min_i \hat\mu_i - \sqrt{L / n_i}, \qquad h = \max\{0, \min_i \hat\mu_i - \sqrt{L / n_i}\} , $$

where an action without a play has $-\infty$.
"""

from __future__ import annotations

from typing import Annotated, NamedTuple

import numpy as np

from driftwise.core.kernel import kernel
from driftwise.core.memory_fields import between, exactly, generator, packed
from driftwise.core.random import next_uniform
from driftwise.core.types import Actions, Matrix, Vector, Words
from driftwise.learners.parts.alarm_log import alarm_log

__all__ = ["ORDERS", "Memory", "begin_block", "begin_instances", "next_action", "record", "rho"]

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
