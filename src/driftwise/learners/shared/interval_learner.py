"""Learners that start a copy of a base learner on every interval of a family and weigh the copies that are awake.

A row is one copy. Two kernels weigh the rows. `score_round(rows, rates, loss)` updates the scores of the awake rows
after a round in which the learner incurred `loss` and each row `rows.losses`. Then the clock advances, and rows end and
start. `write_shares(rows, rates)` sets the scores of the rows that start and writes the share of each awake row in the
weights played. A row is awake if its start is not 0.

The NamedTuple of the memory depends on the class of the base. Each is made when it is first used, and is an attribute
of this module under the name of the base: pickles and the cache of compiled kernels find it there, also in a process
that has not made it yet.
"""

from __future__ import annotations

import functools
from collections.abc import Callable
from dataclasses import replace
from typing import Annotated, Any, ClassVar, NamedTuple, TypeVar, cast

import numpy as np

from driftwise.core.kernel import clone, kinds_of, unbound
from driftwise.core.memory_fields import HUGE, distribution, fields_of, memory_type, packed, scratch, within
from driftwise.core.types import Actions, Matrix, Vector, Words
from driftwise.core.validation import require
from driftwise.learners.base import Beliefs, ExpertLearner, PythonLearner, State, learners
from driftwise.learners.base.beliefs import mean_age, shares_by_label
from driftwise.learners.base.learner import NoRates, initial_memory, registered, returned_type
from driftwise.learners.base.loops import AnyMemory, AnyRates, Kernel, Loops, expert_loops
from driftwise.learners.base.python_learner import NO_KERNELS
from driftwise.learners.shared import meta_learner as meta
from driftwise.learners.shared.distributions import dot
from driftwise.learners.shared.time_intervals import Slots
from driftwise.registry import Registered


class IntervalRows(NamedTuple):
    """The rows, without the memories of the base learners."""

    weights: Annotated[Vector, distribution("actions")]  # of the next round
    clock: Annotated[Actions, packed(2)]  # the next round, counted from 1, and the number of slots in use
    starts: Annotated[Actions, packed("slots")]  # the first round of the row in each slot, 0 where none is awake
    scores: Annotated[Matrix, packed("slots", 2)]  # of each row; each learner defines its own
    plays: Annotated[Matrix, packed("slots", "actions")]  # the rows' weights of the next round
    losses: Annotated[Vector, scratch("slots")]  # the rows' losses in the round
    shares: Annotated[Vector, packed("slots")]  # of each row in the weights of the next round, before normalising


class IntervalRates(NamedTuple):
    """The parameters of the learner and of the base, and the memory with which a base starts."""

    rule: AnyRates
    base: AnyRates
    first: AnyMemory


@functools.cache
def interval_memory_type(base: type[ExpertLearner]) -> Any:
    """Return the NamedTuple of the memory with bases of a class."""
    stacks = meta.inner_fields(returned_type(base, "first_memory"), "base", "slots")
    return memory_type("IntervalMemory", __name__, base.name, {**fields_of(IntervalRows), **stacks})


def __getattr__(name: str) -> Any:
    base = None if name.startswith("__") else learners.find(name)
    if base is None or not meta.can_be_base(base):
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return interval_memory_type(base)


def shares_contradiction(memory: AnyMemory) -> str:
    """Return the fault of the shares of the awake rows, '' if there is none."""
    awake = memory.starts > 0
    shares = memory.shares[awake]
    if not (within(shares, 0.0, HUGE) and shares.min() >= 0.0 and shares.sum() > 0.0):
        return f"`shares` must be in [0, {HUGE:g}] and not all 0"
    mixed = (shares / shares.sum()) @ memory.plays[awake]
    return "" if within(memory.weights, mixed, mixed) else "`weights` must follow from `shares` and `plays`"


# Kernels that `clone` binds
START = IN_USE = UPDATE = SCORE_ROUND = WRITE_SHARES = NEXT_ROUND = ROW = COPY = KIND = unbound
WEIGHTS = LAST = 0
FIRST = len(IntervalRows._fields)  # the arrays of the bases follow


# The checks run on these: their memories have fields of every kind.
BASES = ("hedge", "optimistic-gd", "optimistic-adapt-ml-prod", "ada-hedge", "restarted-adaptive-gd")


class IntervalLearner(meta.MetaLearner[AnyMemory, IntervalRates]):
    """A base learner on every interval of a family."""

    slots: ClassVar[Slots]
    score_round: ClassVar[Kernel]
    write_shares: ClassVar[Kernel]
    base: str

    def __post_init__(self) -> None:
        """Reject a base that cannot be started by copying its first memory."""
        require(self, "base", isinstance(self.base, str), "the name of a learner")
        kind = learners.get(self.base)
        hint = NO_KERNELS if issubclass(kind, PythonLearner) else ""
        require(self, "base", meta.can_be_base(kind), meta.BASE_RULE, hint)
        super().__post_init__()

    @property
    def base_type(self) -> type[ExpertLearner]:
        """The class of the base."""
        return cast("type[ExpertLearner]", learners.get(self.base))  # the constructor has checked it

    @property
    def loops(self) -> Loops:
        """The loops of this learner with this base."""
        return _loops(type(self), self.base_type)[0]

    def entry_points(self) -> dict[str, Kernel | None]:
        """Return the compiled functions of this learner with this base."""
        return {**super().entry_points(), "next_round": _loops(type(self), self.base_type)[1]}

    def inner_members(self) -> list[Registered]:
        """Return the base, which its field only names."""
        return [self.base_type()]

    def rule_rates(self) -> AnyRates:
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

    def first_memory(self, n_actions: int, generator: Words) -> AnyMemory:
        """Return the memory in which the row of round 1 has started."""
        rates = self.rates(n_actions)
        first, n_slots = rates.first._asdict(), self.slots.n_slots
        stacks = {name: np.zeros((n_slots, *array.shape), array.dtype) for name, array in first.items()}
        rows = initial_memory(IntervalRows, {"actions": n_actions, "slots": n_slots}, plays=stacks.pop("weights"))
        memory = self.memory_type(*rows, *stacks.values())
        _, next_round = _loops(type(self), self.base_type)
        next_round(memory, rates)
        return memory

    def memory_limits(self, n_actions: int, rounds: int) -> dict[str, float]:
        """Return the number of slots and the sizes of the base's memory."""
        sizes = {"slots": self.slots.n_slots, **self.base_type().all_limits(n_actions, rounds)}
        return {"slots": self.slots.n_slots, **meta.inner_limits("base", sizes)}

    def memory_contradiction(self, memory: AnyMemory, rounds: int) -> str:
        """Check which rows are awake, their scores and shares, and the memory of each."""
        now, n_actions = rounds + 1, memory.weights.size
        in_use = int(self.slots.in_use(now))
        if memory.clock.tolist() != [now, in_use]:
            return f"`clock` must be [{now}, {in_use}]"
        starts = [int(self.slots.start(slot, now)) if slot < in_use else 0 for slot in range(len(memory.starts))]
        if memory.starts.tolist() != starts:
            return f"`starts` must have the rows awake in round {now}"
        base = self.base_type()
        stack = meta.inner_memory(memory, base.memory_type, "base", memory.plays)
        for slot, start in enumerate(starts):
            if start > 0:
                if fault := base.memory_fault(meta.row(stack, slot), n_actions, now - start):
                    return f"`base` of slot {slot}: {fault}"
                if not self.possible(memory.scores[slot], now - start):
                    return f"`scores` must be possible after {now - start} rounds"
        return shares_contradiction(memory)

    def base_shares(self, state: State[AnyMemory, IntervalRates]) -> dict[str, float]:
        """Return the shares of the awake rows, by the rounds, counted from 0, in which they started."""
        self._claim(state)
        awake = state.memory.starts > 0
        return shares_by_label((f"since round {t - 1}" for t in state.memory.starts[awake]), state.memory.shares[awake])

    def beliefs(self, state: State[AnyMemory, IntervalRates]) -> Beliefs:
        """Return the shares of the awake rows in the next play, and their mean age."""
        beliefs, memory = super().beliefs(state), state.memory
        awake = memory.starts > 0
        return replace(beliefs, memory=mean_age(memory.clock[0] - memory.starts[awake], memory.shares[awake]))

    def possible(self, scores: Vector, rounds: int) -> bool:
        """Return whether a row can have these scores after so many rounds of its own."""
        return within(scores, -HUGE, HUGE)


C = TypeVar("C", bound=type[IntervalLearner])


def interval_learner(name: str, *, slots: Slots, score_round: Kernel, write_shares: Kernel) -> Callable[[C], C]:
    """Register under `name` a learner on a family of intervals, and bind its kernels."""

    def enter(member: C) -> C:
        member.slots, member.score_round, member.write_shares = slots, score_round, write_shares
        return registered(name, member)

    return enter


@functools.cache
def _loops(member: type[IntervalLearner], base: type[ExpertLearner]) -> tuple[Loops, Kernel]:
    """Return the loops of a learner with a class of base, and the kernel that begins its next round."""
    name, kernels, memory_type = f"{member.name}-{base.name}", base.compiled_loops.kernels, base().memory_type
    kinds = (interval_memory_type(base), IntervalRates, memory_type, *kinds_of(member), *kernels.kinds)
    n_fields = len(memory_type._fields)
    parts = {
        "START": member.slots.start,
        "IN_USE": member.slots.in_use,
        "UPDATE": kernels.update,
        "SCORE_ROUND": member.score_round,
        "WRITE_SHARES": member.write_shares,
        "ROW": meta.row_kernel(n_fields),
        "COPY": meta.copy_kernel(n_fields),
        **meta.place(memory_type, FIRST),
    }
    next_round = clone(_next_round, name, kinds, **parts)
    update = clone(_update, name, NEXT_ROUND=next_round, **parts)
    return expert_loops(name, kinds, update), next_round


def _update(memory: AnyMemory, rates: IntervalRates, losses: Vector) -> None:
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


def _next_round(memory: AnyMemory, rates: IntervalRates) -> None:
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
