"""Learners that start a copy of a base learner on every interval of a family and weigh the copies that are awake.

A row is one copy. Two kernels weigh the rows. `score_round(rows, rates, loss)` updates the scores of the awake rows
after a round in which the learner incurred `loss` and each row `rows.losses`. Then the clock advances, and rows end and
start. `write_shares(rows, rates)` sets the scores of the rows that start and writes the share of each awake row in the
weights played. A row is awake if its start is not 0.
"""

from __future__ import annotations

import functools
from collections.abc import Callable
from dataclasses import replace
from typing import Any, ClassVar, NamedTuple, TypeVar, cast

from driftwise.core.kernel import clone, kinds_of, unbound
from driftwise.core.memory_fields import HUGE, within
from driftwise.core.types import Vector, Words
from driftwise.core.validation import require
from driftwise.learners.contract import Beliefs, ExpertLearner, PythonLearner, State, learners
from driftwise.learners.contract.loops import ExpertLoops, expert_loops
from driftwise.learners.contract.python_learner import NO_KERNELS
from driftwise.learners.parts.effective_memory import mean_age, shares_by_label
from driftwise.learners.parts.exponential_weights import dot
from driftwise.learners.parts.interval_memory import (
    IntervalRates,
    IntervalRows,
    NoRates,
    empty_memory,
    interval_memory_type,
    shares_contradiction,
)
from driftwise.learners.parts.meta_learner import BASE_RULE, MetaLearner, can_be_base
from driftwise.learners.parts.stacked_memory import copy_kernel, inner_limits, inner_memory, place, row, row_kernel
from driftwise.learners.parts.time_intervals import Slots
from driftwise.registry import Registered

__all__ = ["BASES", "IntervalLearner", "IntervalRows", "NoRates", "interval_learner"]

Kernel = Callable[..., Any]
START: Kernel = unbound
IN_USE: Kernel = unbound
UPDATE: Kernel = unbound
SCORE_ROUND: Kernel = unbound
WRITE_SHARES: Kernel = unbound
NEXT_ROUND: Kernel = unbound
ROW: Kernel = unbound
COPY: Kernel = unbound
KIND: Kernel = unbound
WEIGHTS = LAST = 0
FIRST = len(IntervalRows._fields)  # the arrays of the bases follow


BASES = (
    "hedge",
    "optimistic-gd",
    "optimistic-adapt-ml-prod",
    "ada-hedge",
    "restarted-adaptive-gd",
)  # the checks run on these: their memories have fields of every kind


class IntervalLoops(NamedTuple):
    """The compiled entry points of a learner with one class of base."""

    loops: ExpertLoops
    next_round: Kernel


class IntervalLearner(MetaLearner[Any, IntervalRates]):
    """A base learner on every interval of a family."""

    slots: ClassVar[Slots]
    score_round: ClassVar[Kernel]
    write_shares: ClassVar[Kernel]
    base: str

    def require_base(self) -> None:
        """Reject a base that cannot be started by copying its first memory."""
        require(self, "base", isinstance(self.base, str), "the name of a learner")
        kind = learners.get(self.base)
        hint = NO_KERNELS if issubclass(kind, PythonLearner) else ""
        require(self, "base", can_be_base(kind), BASE_RULE, hint)

    @property
    def base_type(self) -> type[ExpertLearner]:
        """The class of the base."""
        return cast("type[ExpertLearner]", learners.get(self.base))  # `require_base` has checked it

    @property
    def loops(self) -> ExpertLoops:
        """The loops of this learner with this base."""
        return _loops(type(self), self.base_type).loops

    def entry_points(self) -> dict[str, Any]:
        """Return the compiled functions of this learner with this base."""
        loops, next_round = _loops(type(self), self.base_type)
        return {**loops._asdict(), "next_round": next_round}

    def inner_members(self) -> list[Registered]:
        """Return the base, which its field only names."""
        return [self.base_type()]

    def rule_rates(self) -> Any:
        """Return the parameters of the two kernels as they read them (a NamedTuple of scalars)."""
        return NoRates()

    @property
    def memory_type(self) -> Any:
        """The NamedTuple of the memory with this base."""
        return interval_memory_type(self.base_type)

    def rates(self, n_actions: int) -> IntervalRates:
        """Return the parameters of the learner and of its base, and the memory with which a base starts."""
        base = self.base_type().start(n_actions)
        return IntervalRates(self.rule_rates(), base.rates, base.memory)

    def first_memory(self, n_actions: int, generator: Words) -> Any:
        """Return the memory in which the row of round 1 has started."""
        rates = self.rates(n_actions)
        memory = empty_memory(self.base_type, rates.first, self.slots.n_slots)
        _loops(type(self), self.base_type).next_round(memory, rates)
        return memory

    def memory_limits(self, n_actions: int, rounds: int) -> dict[str, float]:
        """Return the number of slots and the sizes of the base's memory."""
        sizes = {"slots": self.slots.n_slots, **self.base_type().all_limits(n_actions, rounds)}
        return {"slots": self.slots.n_slots, **inner_limits("base", sizes)}

    def memory_contradiction(self, memory: Any, rounds: int) -> str:
        """Check which rows are awake, their scores and shares, and the memory of each."""
        now, n_actions = rounds + 1, memory.weights.size
        in_use = int(self.slots.in_use(now))
        if memory.clock.tolist() != [now, in_use]:
            return f"`clock` must be [{now}, {in_use}]"
        starts = [int(self.slots.start(slot, now)) if slot < in_use else 0 for slot in range(len(memory.starts))]
        if memory.starts.tolist() != starts:
            return f"`starts` must have the rows awake in round {now}"
        base = self.base_type()
        stack = inner_memory(memory, base.memory_type, "base", memory.plays)
        for slot, start in enumerate(starts):
            if start > 0:
                if fault := base.memory_fault(row(stack, slot), n_actions, now - start):
                    return f"`base` of slot {slot}: {fault}"
                if not self.possible(memory.scores[slot], now - start):
                    return f"`scores` must be possible after {now - start} rounds"
        return shares_contradiction(memory)

    def base_shares(self, state: State[Any, IntervalRates]) -> dict[str, float]:
        """Return the shares of the awake rows, by the rounds, counted from 0, in which they started."""
        self._claim(state)
        awake = state.memory.starts > 0
        return shares_by_label((f"since round {t - 1}" for t in state.memory.starts[awake]), state.memory.shares[awake])

    def beliefs(self, state: State[Any, IntervalRates]) -> Beliefs:
        """Return the shares of the awake rows in the next play, and their mean age."""
        found, memory = super().beliefs(state), state.memory
        awake = memory.starts > 0
        return replace(found, memory=mean_age(memory.clock[0] - memory.starts[awake], memory.shares[awake]))

    def possible(self, scores: Vector, rounds: int) -> bool:
        """Return whether a row can have these scores after so many rounds of its own."""
        return within(scores, -HUGE, HUGE)


C = TypeVar("C", bound=type[IntervalLearner])


def interval_learner(name: str, *, slots: Slots, score_round: Kernel, write_shares: Kernel) -> Callable[[C], C]:
    """Register under `name` a learner on a family of intervals, and bind its kernels."""

    def enter(member: C) -> C:
        member.name = name
        member.slots, member.score_round, member.write_shares = slots, score_round, write_shares
        learners.add(name, member)
        return member

    return enter


@functools.cache
def _loops(member: type[IntervalLearner], base: type[ExpertLearner]) -> IntervalLoops:
    name, kernels, memory_type = f"{member.name}-{base.name}", base.compiled_loops.kernels, base().memory_type
    kinds = (interval_memory_type(base), IntervalRates, memory_type, *kinds_of(member), *kernels.kinds)
    parts = {"START": member.slots.start, "ROW": row_kernel(len(memory_type._fields)), **place(memory_type, FIRST)}
    next_round = clone(
        _next_round,
        name,
        kinds,
        IN_USE=member.slots.in_use,
        WRITE_SHARES=member.write_shares,
        COPY=copy_kernel(len(memory_type._fields)),
        **parts,
    )
    update = clone(_update, name, UPDATE=kernels.update, SCORE_ROUND=member.score_round, NEXT_ROUND=next_round, **parts)
    return IntervalLoops(expert_loops(name, kinds, update), next_round)


def _update(memory: Any, rates: IntervalRates, losses: Vector) -> None:
    """Play a round: score the rows, then update the bases of those that stay awake."""
    rows = IntervalRows(*memory[:FIRST])
    stack = KIND(*memory[FIRST:WEIGHTS], rows.plays, *memory[WEIGHTS:LAST])
    now, in_use = rows.clock
    for slot in range(in_use):
        if rows.starts[slot] > 0:
            rows.losses[slot] = dot(rows.plays[slot], losses)
    SCORE_ROUND(rows, rates.rule, dot(rows.weights, losses))
    for slot in range(in_use):
        if rows.starts[slot] > 0 and START(slot, now + 1) == rows.starts[slot]:
            UPDATE(KIND(*ROW(stack, slot)), rates.base, losses)
    NEXT_ROUND(memory, rates)


def _next_round(memory: Any, rates: IntervalRates) -> None:
    """Advance the clock: end and start rows, and mix the weights of the awake ones."""
    rows = IntervalRows(*memory[:FIRST])
    stack = KIND(*memory[FIRST:WEIGHTS], rows.plays, *memory[WEIGHTS:LAST])
    now = rows.clock[0] + 1
    in_use = IN_USE(now)
    rows.clock[0] = now
    rows.clock[1] = in_use
    for slot in range(in_use):
        start = START(slot, now)
        if start == now:
            COPY(ROW(stack, slot), rates.first)
        rows.starts[slot] = start
    WRITE_SHARES(rows, rates.rule)
    rows.weights[:] = 0.0
    for slot in range(in_use):
        if rows.starts[slot] > 0:
            for k in range(rows.weights.size):
                rows.weights[k] += rows.shares[slot] * rows.plays[slot, k]
    mass = 0.0
    for k in range(rows.weights.size):
        mass += rows.weights[k]
    for k in range(rows.weights.size):
        rows.weights[k] /= mass
