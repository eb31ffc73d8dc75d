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
from typing import Annotated, Any, ClassVar, NamedTuple, TypeVar, cast

import numpy as np

from driftwise.core.kernel import clone, kinds_of, unbound
from driftwise.core.memory_fields import HUGE, distribution, packed, scratch, within
from driftwise.core.types import Actions, Matrix, Vector, Words
from driftwise.core.validation import require
from driftwise.core.vectors import assign
from driftwise.learners.contract import Beliefs, ExpertLearner, Learner, State, learners
from driftwise.learners.parts.effective_memory import mean_age
from driftwise.learners.parts.exponential_weights import dot
from driftwise.learners.parts.interval_memory_checks import (
    bases_contradiction,
    scores_contradiction,
    starts_contradiction,
)
from driftwise.learners.parts.meta_learner import MetaLearner
from driftwise.learners.parts.packed_memory import MemoryLayout
from driftwise.learners.parts.time_intervals import Slots
from driftwise.registry import Registered

__all__ = ["BASES", "IntervalLearner", "IntervalMemory", "NoRates", "interval_learner"]

Kernel = Callable[..., Any]
START: Kernel = unbound
IN_USE: Kernel = unbound
STEP: Kernel = unbound
SCORE_ROUND: Kernel = unbound
WRITE_SHARES: Kernel = unbound
NEXT_ROUND: Kernel = unbound


BASES = (
    "hedge",
    "optimistic-gd",
    "optimistic-adapt-ml-prod",
    "ada-hedge",
    "restarted-adaptive-gd",
)  # the checks run on these: their memories have fields of every kind


class IntervalMemory(NamedTuple):
    """State of the learner between rounds."""

    weights: Annotated[Vector, distribution("actions")]  # of the next round
    clock: Annotated[Actions, packed(2)]  # the next round, counted from 1, and the number of slots in use
    starts: Annotated[Actions, packed("slots")]  # the first round of the row in each slot, 0 where none is awake
    scores: Annotated[Matrix, packed("slots", 2)]  # of each row; each learner defines its own
    plays: Annotated[Matrix, packed("slots", "actions")]  # the rows' weights of the next round
    losses: Annotated[Vector, scratch("slots")]  # the rows' losses in the round
    shares: Annotated[Vector, packed("slots")]  # of each row in the weights of the next round, before normalising
    bases: Annotated[Words, packed("slots", "words")]  # the rows' memories
    first_play: Annotated[Vector, distribution("actions")]  # the weights of a row that starts
    first_memory_words: Annotated[Words, packed("words")]  # its memory


class IntervalRates(NamedTuple):
    """The parameters of the learner and of the base, and the layout of the base's memory."""

    rule: Any
    base: Any
    layout: MemoryLayout


class NoRates(NamedTuple):
    """The parameters of a learner that has none."""

    none: float = 0.0


class IntervalLoops(NamedTuple):
    """The compiled entry points of a learner with one class of base."""

    run: Kernel
    next_round: Kernel


class IntervalLearner(MetaLearner[IntervalMemory, IntervalRates]):
    """A base learner on every interval of a family."""

    slots: ClassVar[Slots]
    score_round: ClassVar[Kernel]
    write_shares: ClassVar[Kernel]
    base: str

    def require_base(self) -> None:
        """Reject a base that cannot be started by copying a row of memory."""
        require(self, "base", isinstance(self.base, str), "the name of a learner")
        kind = learners.get(self.base)
        alone = issubclass(kind, ExpertLearner) and kind.play_block is ExpertLearner.play_block
        fixed = kind.make_room is Learner.make_room
        require(self, "base", alone and fixed, "a full-feedback learner of fixed memory, not one made of learners")

    @property
    def interval_loops(self) -> IntervalLoops:
        """The loops of this learner with this base."""
        return _loops(type(self), self.base)

    def entry_points(self) -> dict[str, Any]:
        """Return the compiled functions of this learner with this base."""
        return self.interval_loops._asdict()

    def inner_members(self) -> list[Registered]:
        """Return the base, which its field only names."""
        return [learners.get(self.base)()]

    def rule_rates(self) -> Any:
        """Return the parameters of the two kernels as they read them (a NamedTuple of scalars)."""
        return NoRates()

    def rates(self, n_actions: int) -> IntervalRates:
        """Return the parameters of the learner and of its base, and the layout of the base's memory."""
        base = learners.get(self.base)().start(n_actions)
        return IntervalRates(self.rule_rates(), base.rates, MemoryLayout.of(base.memory))

    def first_memory(self, n_actions: int, generator: Words) -> IntervalMemory:
        """Return the memory in which the row of round 1 has started."""
        rates, n_slots = self.rates(n_actions), self.slots.n_slots
        base = learners.get(self.base)().first_memory(n_actions, generator)
        rows = IntervalMemory(
            weights=np.empty(n_actions),
            clock=np.zeros(2, np.int64),
            starts=np.zeros(n_slots, np.int64),
            scores=np.zeros((n_slots, 2)),
            plays=np.zeros((n_slots, n_actions)),
            losses=np.zeros(n_slots),
            shares=np.zeros(n_slots),
            bases=np.zeros((n_slots, rates.layout.size), np.uint64),
            first_play=base.weights.copy(),
            first_memory_words=rates.layout.pack(base),
        )
        self.interval_loops.next_round(rows, rates.rule)
        return rows

    def memory_limits(self, n_actions: int, rounds: int) -> dict[str, float]:
        """Return the number of slots and the size of the base's memory."""
        return {"slots": self.slots.n_slots, "words": self.rates(n_actions).layout.size}

    def memory_contradiction(self, memory: IntervalMemory, rounds: int) -> str:
        """Check which rows are awake, their scores and shares, and the memory of each."""
        base, layout = learners.get(self.base)(), self.rates(memory.weights.size).layout
        return (
            starts_contradiction(memory, self.slots, rounds + 1)
            or bases_contradiction(memory, base, layout)
            or scores_contradiction(memory, self.possible)
        )

    def base_shares(self, state: State[IntervalMemory, IntervalRates]) -> tuple[list[str], Vector]:
        """Return the shares of the awake rows, with the rounds, counted from 0, in which they started."""
        awake = state.memory.starts > 0
        return [f"since round {start - 1}" for start in state.memory.starts[awake]], state.memory.shares[awake]

    def beliefs(self, state: State[IntervalMemory, IntervalRates]) -> Beliefs:
        """Return the shares of the awake rows in the next play, and their mean age."""
        found, memory = super().beliefs(state), state.memory
        awake = memory.starts > 0
        return replace(found, memory=mean_age(memory.clock[0] - memory.starts[awake], memory.shares[awake]))

    def possible(self, scores: Vector, rounds: int) -> bool:
        """Return whether a row can have these scores after so many rounds of its own."""
        return within(scores, -HUGE, HUGE)

    def play_block(self, state: State, losses: Matrix) -> Matrix:
        """Play a block of rounds; its losses have been checked."""
        rates: IntervalRates = state.rates
        played = np.empty_like(losses)
        buffer = np.empty(rates.layout.size, np.uint64)  # rows are copied here in turn: the views on it are made once
        self.interval_loops.run(
            state.memory, rates.rule, buffer, rates.layout.unpack(buffer), rates.base, losses, played
        )
        state.rounds += len(losses)
        return played


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
def _loops(member: type[IntervalLearner], base: str) -> IntervalLoops:
    start, in_use = member.slots.start, member.slots.in_use
    kind = cast("type[ExpertLearner]", learners.get(base))  # `require_base` has checked it
    next_round = clone(
        _next_round, member.name, kinds_of(member), START=start, IN_USE=in_use, WRITE_SHARES=member.write_shares
    )
    run = clone(
        _run,
        f"{member.name}-{base}",
        kinds_of(member, kind),
        START=start,
        STEP=kind.compiled_loops.step,
        SCORE_ROUND=member.score_round,
        NEXT_ROUND=next_round,
    )
    return IntervalLoops(run, next_round)


def _run(
    rows: IntervalMemory, rates: Any, buffer: Words, base: Any, base_rates: Any, losses: Matrix, played: Matrix
) -> None:
    """Play a block; the arrays of the memory `base` are views on the buffer."""
    for t in range(losses.shape[0]):
        assign(played[t], rows.weights)
        now, in_use = rows.clock
        for slot in range(in_use):
            if rows.starts[slot] > 0:
                rows.losses[slot] = dot(rows.plays[slot], losses[t])
        SCORE_ROUND(rows, rates, dot(rows.weights, losses[t]))
        for slot in range(in_use):
            if rows.starts[slot] > 0 and START(slot, now + 1) == rows.starts[slot]:
                assign(buffer, rows.bases[slot])
                STEP(base, base_rates, losses[t])
                assign(rows.bases[slot], buffer)
                assign(rows.plays[slot], base.weights)
        NEXT_ROUND(rows, rates)


def _next_round(rows: IntervalMemory, rates: Any) -> None:
    """Advance the clock: end and start rows, and mix the weights of the awake ones."""
    now = rows.clock[0] + 1
    in_use = IN_USE(now)
    rows.clock[0] = now
    rows.clock[1] = in_use
    for slot in range(in_use):
        start = START(slot, now)
        if start == now:
            assign(rows.bases[slot], rows.first_memory_words)
            assign(rows.plays[slot], rows.first_play)
        rows.starts[slot] = start
    WRITE_SHARES(rows, rates)
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
