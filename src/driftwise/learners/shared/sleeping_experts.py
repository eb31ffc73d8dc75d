r"""Sleeping experts: rows of experts that are awake on the intervals of a cover, with any rule for their weights.

Row $s$ has one expert $(s, k)$ per action $k$, awake from round $s$ until the last round that the cover gives it. The
weight of an expert is a function of its own regrets $r_{t,k} = \langle p_t, \ell_t \rangle - \ell_{t,k}$ while awake:

$$ p_{t,k} \propto \sum_{s \text{ awake}} w_{t,(s,k)} . $$

A rule is three kernels: `start` an expert, `absorb` a regret, and `log_weight`, the logarithm of the weight, which may
be $-\infty$. A learner with one row that is always awake competes with fixed actions, one with many rows with sequences
of actions.
"""

from __future__ import annotations

import functools
import math
from collections.abc import Callable
from dataclasses import replace
from typing import Annotated, ClassVar, NamedTuple

import numpy as np
import numpy.typing as npt

from driftwise.core.kernel import clone, kernel, unbound
from driftwise.core.memory_fields import between, distribution, exactly, packed, scratch, within
from driftwise.core.types import Actions, Matrix, Vector, Words
from driftwise.core.vectors import assign, least
from driftwise.learners.base import Beliefs, ExpertLearner, State
from driftwise.learners.base.beliefs import mean_age, shares_by_age
from driftwise.learners.base.learner import initial_memory, with_more_rows
from driftwise.learners.base.loops import AnyRates, Kernel
from driftwise.learners.shared.time_intervals import COVERS, Cover, last_round

Possible = Callable[[Matrix, int], bool]
START = ABSORB = LOG_WEIGHT = NEXT_WEIGHTS = unbound  # kernels that `clone` binds
_FIRST_ROWS = 64  # where the number of rows grows


class SleepingExperts(NamedTuple):
    """State of the learner between rounds; only the first `awake` rows are in use, oldest first."""

    weights: Annotated[Vector, distribution("actions")]  # of the next round
    rounds: Annotated[Actions, exactly("rounds", 1)]
    awake: Annotated[Actions, between(0, "awake", 1)]  # rows in use
    starts: Annotated[Actions, packed("rows")]  # the round in which a row started
    ends: Annotated[Actions, packed("rows")]  # the last round in which it is awake
    stats: Annotated[npt.NDArray[np.float64], packed("rows", "actions", "stats")]  # of each expert; the rule's numbers
    log_weights: Annotated[Matrix, packed("rows", "actions")]  # of the experts in the next round
    action_weights: Annotated[Vector, scratch("actions")]  # sums over the rows, before normalising


class Rates(NamedTuple):
    """The parameters, as the kernels read them."""

    cover: int
    log_experts: float  # the logarithm of the number of experts, for rules whose learning rates need it


class WeightRule(NamedTuple):
    """A rule for the weights of experts, bound to the templates."""

    n_stats: int  # numbers per expert
    possible: Possible
    next_weights: Kernel
    update: Kernel


def rule(name: str, n_stats: int, possible: Possible, start: Kernel, absorb: Kernel, log_weight: Kernel) -> WeightRule:
    """Bind a rule's kernels to the templates.

    `start(stats, s, n_actions, rates)`, `absorb(stats, regret, rates)`, `log_weight(stats, rates)`, where
    `stats` are the numbers of one expert. `possible(stats, rounds)` gets the numbers of many, (experts, n_stats), and
    returns whether each can be those of an expert after at most so many rounds.
    """
    next_weights = clone(_next_weights, name, (SleepingExperts,), START=start, LOG_WEIGHT=log_weight)
    update = clone(_update_rows, name, ABSORB=absorb, NEXT_WEIGHTS=next_weights)
    return WeightRule(n_stats, possible, next_weights, update)


def _next_weights(memory: SleepingExperts, rates: AnyRates) -> None:
    """Start the row of the next round, if the cover has one, and write the weights."""
    weights, log_weights, action_weights = memory.weights, memory.log_weights, memory.action_weights
    n_actions = weights.size
    if n_actions == 1:  # the weight is 1, and rates with ln K = 0 are not defined
        return
    start = memory.rounds[0] + 1
    last = last_round(rates.cover, start)
    if last >= start:
        row = memory.awake[0]
        memory.awake[0] = row + 1
        memory.starts[row], memory.ends[row] = start, last
        for k in range(n_actions):
            START(memory.stats[row, k], start, n_actions, rates)
    top = -np.inf
    for row in range(memory.awake[0]):
        for k in range(n_actions):
            log_weights[row, k] = LOG_WEIGHT(memory.stats[row, k], rates)
            top = max(top, log_weights[row, k])
    if top == -np.inf:  # all weights are 0
        weights[:] = 1.0 / n_actions
        return
    action_weights[:] = 0.0
    total = 0.0
    for row in range(memory.awake[0]):
        for k in range(n_actions):
            share = np.exp(log_weights[row, k] - top)
            action_weights[k] += share
            total += share
    for k in range(n_actions):
        weights[k] = action_weights[k] / total


def _update_rows(memory: SleepingExperts, rates: AnyRates, losses: Vector) -> None:
    weights, stats = memory.weights, memory.stats
    lowest = least(losses)  # subtracting it makes the regret of equal losses exactly 0, without rounding
    loss = 0.0
    for k in range(weights.size):
        loss += weights[k] * (losses[k] - lowest)
    for row in range(memory.awake[0]):
        for k in range(weights.size):
            ABSORB(stats[row, k], loss - (losses[k] - lowest), rates)
    memory.rounds[0] += 1
    _drop_ended_rows(memory)
    NEXT_WEIGHTS(memory, rates)


@kernel
def _drop_ended_rows(memory: SleepingExperts) -> None:
    """Remove the rows that are no longer awake; the others keep their order."""
    kept = 0
    for row in range(memory.awake[0]):
        if memory.ends[row] > memory.rounds[0]:
            if kept < row:
                memory.starts[kept], memory.ends[kept] = memory.starts[row], memory.ends[row]
                for k in range(memory.weights.size):
                    assign(memory.stats[kept, k], memory.stats[row, k])
            kept += 1
    memory.awake[0] = kept


class SleepingLearner(ExpertLearner[SleepingExperts, Rates]):
    """A learner whose experts have one rule for their weights and one cover."""

    rule: ClassVar[WeightRule]
    cover: str = "single"  # one row that is always awake, unless a learner has it as a parameter

    @property
    def skipped_checks(self) -> dict[str, str]:
        """Return why a check of a million rounds is skipped where every row is kept."""
        if self.cover != "every":
            return {}
        why = "the cover 'every' keeps one row per round: a million rounds would take 10^12 operations"
        return {"weights_survive_a_million_constant_rounds": why}

    def starts(self) -> Cover:
        """Return the cover."""
        return COVERS[self.cover]

    def log_experts(self, n_actions: int) -> float:
        """Return the logarithm of the number of experts, for rules whose learning rates use it."""
        return math.log(n_actions)

    def first_memory(self, n_actions: int, generator: Words) -> SleepingExperts:
        """Return the memory in which the row of round 1 has started, unless there is one action only."""
        sizes = {"rows": _FIRST_ROWS, **self.all_limits(n_actions, rounds=0)}
        memory = initial_memory(SleepingExperts, sizes)
        self.rule.next_weights(memory, self.rates(n_actions))
        return memory

    def rates(self, n_actions: int) -> Rates:
        """Return the cover and the logarithm of the number of experts."""
        return Rates(self.starts().code, self.log_experts(n_actions))

    def memory_limits(self, n_actions: int, rounds: int) -> dict[str, float]:
        """Return the number of rows awake, of numbers per expert, and of rows in all where it is fixed."""
        cover = self.starts()
        awake = 0 if n_actions == 1 else cover.awake_at(rounds + 1)  # a single action needs no row
        return {"awake": awake, "stats": self.rule.n_stats, **({"rows": cover.most_rows} if cover.most_rows else {})}

    def memory_contradiction(self, memory: SleepingExperts, rounds: int) -> str:
        """Check that the rows are those awake in the next round, with room for one more."""
        n_rows = int(self.memory_limits(memory.weights.size, rounds)["awake"])
        if memory.awake[0] != n_rows or (n_rows >= len(memory.starts) and not self.starts().most_rows):
            return f"`awake` must be {n_rows}, with room for one more row"
        starts = self.starts().starts_at(rounds + 1) if n_rows else []  # not longer than the arrays: checked above
        if memory.starts[:n_rows].tolist() != starts:
            return f"`starts` must have the rows awake in round {rounds + 1}"
        if memory.ends[:n_rows].tolist() != [last_round(self.starts().code, start) for start in starts]:
            return f"`ends` must have the last rounds of the rows awake in round {rounds + 1}"
        if not self.rule.possible(memory.stats[:n_rows].reshape(-1, self.rule.n_stats), rounds):
            return f"`stats` must be possible after {rounds} rounds"
        if n_rows and not _follows(memory.weights, memory.log_weights[:n_rows]):
            return "`weights` must follow from `log_weights`"
        return ""

    def beliefs(self, state: State[SleepingExperts, Rates]) -> Beliefs:
        """Return the share of the weights that rows of each age have, and their mean age, if there are rows."""
        beliefs, memory = super().beliefs(state), state.memory
        if self.cover == "single" or not memory.awake[0]:
            return beliefs
        rows = slice(int(memory.awake[0]))
        ages, shares = state.rounds + 1 - memory.starts[rows], _scaled(memory.log_weights[rows]).sum(axis=1)
        return replace(beliefs, memory=mean_age(ages, shares), bases=shares_by_age(ages, shares))

    @functools.cached_property
    def grows(self) -> bool:
        """Whether the number of rows grows with the rounds."""
        return not self.starts().most_rows

    def make_room(self, memory: SleepingExperts, n_rounds: int) -> SleepingExperts:
        """Return a memory with the rows doubled until `n_rounds` more fit, where their number grows."""
        needed = int(memory.awake[0]) + n_rounds
        fits = self.starts().most_rows or needed <= len(memory.starts)
        return memory if fits else with_more_rows(memory, needed)


def _scaled(log_weights: Matrix) -> Matrix:
    """Return weights divided by the largest; all are equal if all are 0."""
    top = log_weights.max()
    return np.exp(log_weights - top) if top > -np.inf else np.ones_like(log_weights)


def _follows(weights: Vector, log_weights: Matrix) -> bool:
    if not (log_weights < np.inf).all():  # which NaN is not
        return False
    scaled = _scaled(log_weights)
    return within(weights, *(scaled.sum(axis=0) / scaled.sum(),) * 2)
