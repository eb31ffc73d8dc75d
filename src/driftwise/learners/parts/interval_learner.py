"""Covers: a base learner started afresh on every interval of a family, and a rule that weighs those awake.

A rule is two kernels. `settle(rows, rates, suffered)` books the round just played, in which the play lost `suffered`
and each row `rows.suffered`, on the awake rows; then the clock ticks, rows end and begin, and `share(rows, rates)`
enters those that begin and writes how much each awake row counts. A row is awake if its start is not 0.
"""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Annotated, Any, ClassVar, NamedTuple, TypeVar

import numpy as np

from driftwise.core.kernel import clone, kinds_of, unbound
from driftwise.core.memory_fields import HUGE, distribution, packed, scratch, within
from driftwise.core.types import Actions, Matrix, Vector, Words
from driftwise.core.validation import require
from driftwise.core.vectors import assign
from driftwise.learners.contract import Card, ExpertLearner, Learner, State, learners
from driftwise.learners.parts.exponential_weights import dot
from driftwise.learners.parts.interval_slots import Family
from driftwise.learners.parts.meta_learner import MetaLearner
from driftwise.learners.parts.packed_memory import Layout

__all__ = ["BASES", "IntervalLearner", "IntervalMemory", "NoRates", "interval_learner"]

Kernel = Callable[..., Any]
START: Kernel = unbound
SLOTS: Kernel = unbound
STEP: Kernel = unbound
SETTLE: Kernel = unbound
SHARE: Kernel = unbound
TICK: Kernel = unbound


BASES = (
    "hedge",
    "optimistic-gd",
    "optimistic-adapt-ml-prod",
    "ada-hedge",
    "restarted-adaptive-gd",
)  # memories of all kinds


class IntervalMemory(NamedTuple):
    """What a cover carries from round to round."""

    weights: Annotated[Vector, distribution("actions")]  # the next play
    clock: Annotated[Actions, packed(2)]  # the coming round, counted from 1, and the slots in use
    starts: Annotated[Actions, packed("slots")]  # the first round of the row in each slot, 0 where none is awake
    standing: Annotated[Matrix, packed("slots", 2)]  # what the rule has booked on each row
    plays: Annotated[Matrix, packed("slots", "actions")]  # the rows' next plays
    suffered: Annotated[Vector, scratch("slots")]  # the rows' losses in the round
    shares: Annotated[Vector, scratch("slots")]  # how much each row counts
    bases: Annotated[Words, packed("slots", "words")]  # the rows' memories
    opening: Annotated[Vector, distribution("actions")]  # the play of a row that begins
    fresh: Annotated[Words, packed("words")]  # its memory


class IntervalRates(NamedTuple):
    """The parameters of the rule and of the base, and how the base's memory is laid out."""

    rule: Any
    base: Any
    layout: Layout


class NoRates(NamedTuple):
    """The parameters of a rule that has none."""

    none: float = 0.0


class IntervalLoops(NamedTuple):
    """The compiled entry points of a cover over one kind of base."""

    run: Kernel
    tick: Kernel


class IntervalLearner(MetaLearner[IntervalMemory, IntervalRates]):
    """A base learner on every interval of a family."""

    family: ClassVar[Family]
    settle: ClassVar[Kernel]
    share: ClassVar[Kernel]
    base: str

    def require_base(self) -> None:
        """Reject a base that cannot be started afresh by copying a row."""
        require(self, "base", isinstance(self.base, str), "the name of a learner")
        kind = learners.get(self.base)
        alone = issubclass(kind, ExpertLearner) and kind.play_block is ExpertLearner.play_block
        fixed = kind.make_room is Learner.make_room
        require(self, "base", alone and fixed, "a full-feedback learner of fixed memory, not one made of learners")

    @property
    def interval_loops(self) -> IntervalLoops:
        """The loops of this rule over this base."""
        return _loops(type(self), self.base)

    def entry_points(self) -> dict[str, Any]:
        """Return the compiled functions of this rule over this base."""
        return self.interval_loops._asdict()

    def rule_rates(self) -> Any:
        """Return the parameters of the rule as its kernels read them (a NamedTuple of scalars)."""
        return NoRates()

    def rates(self, n_actions: int) -> IntervalRates:
        """Return the parameters of rule and base."""
        base = learners.get(self.base)().start(n_actions)
        return IntervalRates(self.rule_rates(), base.rates, Layout.of(base.memory))

    def first_memory(self, n_actions: int, generator: Words) -> IntervalMemory:
        """Begin the first row."""
        plan, slots = self.rates(n_actions), self.family.most_slots
        start = learners.get(self.base)().first_memory(n_actions, generator)
        rows = IntervalMemory(
            weights=np.empty(n_actions),
            clock=np.zeros(2, np.int64),
            starts=np.zeros(slots, np.int64),
            standing=np.zeros((slots, 2)),
            plays=np.zeros((slots, n_actions)),
            suffered=np.zeros(slots),
            shares=np.zeros(slots),
            bases=np.zeros((slots, plan.layout.size), np.uint64),
            opening=start.weights.copy(),
            fresh=plan.layout.pack(start),
        )
        self.interval_loops.tick(rows, plan.rule)
        return rows

    def memory_limits(self, n_actions: int, rounds: int) -> dict[str, float]:
        """Return the sizes of the family of intervals and of the base's memory."""
        return {"slots": self.family.most_slots, "words": self.rates(n_actions).layout.size}

    def memory_contradiction(self, memory: IntervalMemory, rounds: int) -> str:
        """Check which rows are awake, what the rule has booked on them, and the memory of each."""
        now, n_actions = rounds + 1, memory.weights.size
        in_use = int(self.family.slots(now))
        if memory.clock.tolist() != [now, in_use]:
            return f"`clock` must be [{now}, {in_use}]"
        starts = [int(self.family.start(slot, now)) if slot < in_use else 0 for slot in range(len(memory.starts))]
        if memory.starts.tolist() != starts:
            return f"`starts` must have the rows awake in round {now}"
        base, layout = learners.get(self.base)(), self.rates(n_actions).layout
        opening = base.start(n_actions).memory
        if memory.opening.tobytes() != opening.weights.tobytes() or not _alike(layout.unpack(memory.fresh), opening):
            return f"`opening` and `fresh` must be those of {self.base}"
        for slot, start in enumerate(starts):
            if start > 0:
                own = layout.unpack(memory.bases[slot])
                if fault := base.memory_fault(own, n_actions, now - start):
                    return f"`bases`: {fault}"
                if memory.plays[slot].tobytes() != own.weights.tobytes():
                    return "`plays` must be the next plays of `bases`"
                if not self.possible(memory.standing[slot], now - start):
                    return f"`standing` must be possible after {now - start} rounds"
        return ""

    def possible(self, standing: Vector, rounds: int) -> bool:
        """Say whether what is booked on a row can be that after so many rounds of its own."""
        return within(standing, -HUGE, HUGE)

    def play_block(self, state: State, losses: Matrix) -> Matrix:
        """Play a block that has been checked already."""
        plan: IntervalRates = state.rates
        played = np.empty_like(losses)
        desk = np.empty(plan.layout.size, np.uint64)  # the rows take turns on it, so that one memory serves all
        self.interval_loops.run(state.memory, plan.rule, desk, plan.layout.unpack(desk), plan.base, losses, played)
        state.rounds += len(losses)
        return played


def _alike(fresh: Any, opening: Any) -> bool:
    """Say whether a memory is that of a start: the same weights, the rest up to logarithms of another machine."""
    same = fresh.weights.tobytes() == opening.weights.tobytes()
    return same and all(within(one, other, other) for one, other in zip(fresh, opening, strict=True))


C = TypeVar("C", bound=type[IntervalLearner])


def interval_learner(
    name: str, card: Card | None = None, *, family: Family, settle: Kernel, share: Kernel
) -> Callable[[C], C]:
    """Register a cover under `name`: a rule over a family of intervals."""

    def enter(member: C) -> C:
        member.name, member.card = name, card
        member.family, member.settle, member.share = family, settle, share
        learners.add(name, member)
        return member

    return enter


@functools.cache
def _loops(member: type[IntervalLearner], base: str) -> IntervalLoops:
    start, slots = member.family.start, member.family.slots
    kind = learners.get(base)
    tick = clone(_tick, member.name, kinds_of(member), START=start, SLOTS=slots, SHARE=member.share)
    parts = {"START": start, "STEP": kind.compiled_loops.step, "SETTLE": member.settle, "TICK": tick}  # type: ignore[attr-defined]
    run = clone(_run, f"{member.name}-{base}", kinds_of(member, kind), **parts)
    return IntervalLoops(run, tick)


def _run(
    rows: IntervalMemory, rates: Any, desk: Words, base: Any, base_rates: Any, losses: Matrix, played: Matrix
) -> None:
    """Play a block; `base` is the memory whose arrays lie on the desk."""
    for t in range(losses.shape[0]):
        assign(played[t], rows.weights)
        now, in_use = rows.clock
        for slot in range(in_use):
            if rows.starts[slot] > 0:
                rows.suffered[slot] = dot(rows.plays[slot], losses[t])
        SETTLE(rows, rates, dot(rows.weights, losses[t]))
        for slot in range(in_use):
            if rows.starts[slot] > 0 and START(slot, now + 1) == rows.starts[slot]:
                assign(desk, rows.bases[slot])
                STEP(base, base_rates, losses[t])
                assign(rows.bases[slot], desk)
                assign(rows.plays[slot], base.weights)
        TICK(rows, rates)


def _tick(rows: IntervalMemory, rates: Any) -> None:
    """Go on to the next round: end and begin rows, and mix the plays of those awake."""
    now = rows.clock[0] + 1
    in_use = SLOTS(now)
    rows.clock[0] = now
    rows.clock[1] = in_use
    for slot in range(in_use):
        start = START(slot, now)
        if start == now:
            assign(rows.bases[slot], rows.fresh)
            assign(rows.plays[slot], rows.opening)
        rows.starts[slot] = start
    SHARE(rows, rates)
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
