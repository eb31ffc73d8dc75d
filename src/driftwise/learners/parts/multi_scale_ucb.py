r"""Upper confidence bounds on many time scales at once: a block of MASTER (its procedure MALG).

A block has $2^n$ rounds. After $\tau$ of them, for each $m \le n$ such that $2^m$ divides $\tau$, an instance of order
$m$ begins with probability $\rho(2^n) / \rho(2^m)$ and has the next $2^m$ rounds, $\rho(x) = \sqrt{K / x} + K / x$. So
the one of order $n$ begins with the block. A round is played by the shortest instance that has it; the others do not
learn of it. From its own plays $n_i$ and mean losses $\hat\mu_i$ it plays (if tied, the first), and hopes to lose,

$$ \arg\min_i \hat\mu_i - \sqrt{L / n_i}, \qquad h = \max\{0, \min_i \hat\mu_i - \sqrt{L / n_i}\} , $$

where an action without a play has $-\infty$.
"""

from __future__ import annotations

from typing import Annotated, NamedTuple

import numpy as np

from driftwise.core.kernel import kernel
from driftwise.core.memory_fields import between, generator, packed
from driftwise.core.random import next_uniform
from driftwise.core.types import Actions, Matrix, Vector, Words

__all__ = ["ORDERS", "Memory", "begin_block", "begin_instances", "plan", "record", "rho"]

ORDERS = 48  # 2^48 rounds take a year


class Memory(NamedTuple):
    """What the learner carries from round to round."""

    plays: Annotated[Matrix, between(0, "rounds", ORDERS, "actions")]  # of the instance of each order
    totals: Annotated[Matrix, between(0, "rounds", ORDERS, "actions")]
    lost_before: Annotated[Vector, between(0, "rounds", ORDERS)]  # what the block had lost when the instance began
    ends: Annotated[Actions, between(0, 1 << ORDERS, ORDERS)]  # the rounds of the block after which it ends
    block: Annotated[Actions, between(0, "rounds", 2)]  # its order n and its rounds so far
    lost: Annotated[Vector, between(0, "rounds", 1)]  # the losses of the block
    beyond: Annotated[Vector, between("least_beyond", "rounds", 1)]  # the losses of the block beyond what was hoped for
    most_hoped: Annotated[Vector, between(0, 1, 1)]  # the largest h of the block
    action: Annotated[Actions, packed(2)]  # the next play, and the order of the instance whose it is
    hope: Annotated[Vector, between(0, 1, 1)]  # its h
    generator: Annotated[Words, generator()]


@kernel
def rho(n_actions: int, n_rounds: float) -> float:
    """Return how far from the best action `n_rounds` rounds may leave a learner, per round, up to logarithms."""
    share = n_actions / n_rounds
    return float(np.sqrt(share)) + share


@kernel
def _begin(memory: Memory, order: int) -> None:
    memory.plays[order, :] = 0.0
    memory.totals[order, :] = 0.0
    memory.lost_before[order] = memory.lost[0]
    memory.ends[order] = memory.block[1] + (1 << order)


@kernel
def begin_block(memory: Memory, order: int) -> None:
    """Forget the block and begin one of 2^order rounds, with one instance."""
    memory.block[0] = order
    memory.block[1] = 0
    memory.lost[0] = 0.0
    memory.beyond[0] = 0.0
    memory.most_hoped[0] = 0.0
    memory.ends[:] = 0
    _begin(memory, order)


@kernel
def begin_instances(memory: Memory) -> None:
    """Draw which of the shorter instances begin with the coming round."""
    order, rounds, n_actions = memory.block[0], memory.block[1], memory.plays.shape[1]
    for m in range(order):
        if rounds % (1 << m) > 0:
            break
        if next_uniform(memory.generator) < rho(n_actions, 2.0**order) / rho(n_actions, 2.0**m):
            _begin(memory, m)


@kernel
def plan(memory: Memory, log_term: float) -> None:
    """Let the shortest instance choose the coming play."""
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
    memory.hope[0] = max(0.0, lowest)


@kernel
def record(memory: Memory, action: int, loss: float) -> None:
    """Take in the loss of the round that was planned."""
    order, hope = memory.action[1], memory.hope[0]
    memory.plays[order, action] += 1.0
    memory.totals[order, action] += loss
    memory.block[1] += 1
    memory.lost[0] += loss
    memory.beyond[0] += loss - hope
    memory.most_hoped[0] = max(memory.most_hoped[0], hope)
