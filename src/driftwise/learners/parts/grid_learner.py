r"""A grid: a fixed set of learners, and a rule that learns which of them to follow.

Base $b$ plays $x_t^b$ as if it were alone. The rule is a learner whose actions are the bases; its weights $q_t$ make
the play, its losses are theirs, and one that takes hints is told what each base would lose if losses repeated:

$$ x_t = \sum_b q_{t,b}\, x_t^b, \qquad \ell_{t,b} = \langle \ell_t, x_t^b \rangle, \qquad
   h_{t+1,b} = \langle \ell_t, x_{t+1}^b \rangle . $$

No base depends on the rule, so a block is played base after base, each with its own compiled loop, and then by the
rule. The regret is that of the rule against a base plus that of this base.
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Callable, Sequence
from itertools import pairwise
from typing import Annotated, Any, ClassVar, NamedTuple, TypeVar

import numpy as np

from driftwise.core.kernel import clone, kernel, kinds_of, unbound
from driftwise.core.memory_fields import distribution, packed
from driftwise.core.types import Matrix, Vector, Words
from driftwise.core.vectors import assign
from driftwise.learners.contract import Card, ExpertLearner, State, learners
from driftwise.learners.parts.exponential_weights import dot
from driftwise.learners.parts.meta_learner import MetaLearner
from driftwise.learners.parts.packed_memory import Layout, n_words

__all__ = ["GridLearner", "grid"]

STEP: Callable[..., Any] = unbound
HINT: Callable[..., Any] = unbound
_ROOM = 2**20  # numbers: longer blocks are played in parts, so that the plays of all bases stay in the cache


class Memory(NamedTuple):
    """What a grid carries from round to round."""

    weights: Annotated[Vector, distribution("actions")]  # the next play
    bases: Annotated[Words, packed("words")]  # the bases' memories, one after the other
    rule: Annotated[Words, packed("rule_words")]  # the rule's memory


class GridRates(NamedTuple):
    """The members of a grid and where their memories stand."""

    bases: tuple[ExpertLearner, ...]
    rates: tuple[Any, ...]
    layouts: tuple[Layout, ...]
    rows: tuple[slice, ...]
    rule_rates: Any
    rule_layout: Layout


class GridLoops(NamedTuple):
    """The compiled entry points of a grid, beside those of its bases."""

    judge: Callable[..., None]
    follow: Callable[..., None]
    mix: Callable[..., None]


class GridLearner(MetaLearner[Memory, GridRates]):
    """A set of bases under a rule."""

    grid_loops: ClassVar[GridLoops]

    def entry_points(self) -> dict[str, Any]:
        """Return the compiled functions of the grid; its bases have their own."""
        return self.grid_loops._asdict()

    @abstractmethod
    def bases(self, n_actions: int) -> Sequence[ExpertLearner]:
        """Return the bases: full-feedback learners whose memories do not grow."""

    @abstractmethod
    def rule(self, n_actions: int) -> ExpertLearner:
        """Return the learner that weighs the bases, of the class the grid was registered with."""

    def favour(self, rule: Any, n_actions: int) -> None:
        """Write a prior over the bases into the rule's memory; it starts uniform."""

    def first_memory(self, n_actions: int, generator: Words) -> Memory:
        """Start every base and the rule."""
        plan = self.rates(n_actions)
        starts = [base.first_memory(n_actions, generator) for base in plan.bases]
        rule = self.rule(n_actions).first_memory(len(starts), generator)
        self.favour(rule, n_actions)
        weights = np.empty((1, n_actions))
        self.grid_loops.mix(rule.weights.reshape(1, -1), np.array([[start.weights] for start in starts]), weights)
        packed = [layout.pack(start) for layout, start in zip(plan.layouts, starts, strict=True)]
        return Memory(weights[0], np.concatenate(packed), plan.rule_layout.pack(rule))

    def rates(self, n_actions: int) -> GridRates:
        """Return the plan: the bases with their rates, the rule's rates, and the layouts of all memories."""
        bases = tuple(self.bases(n_actions))
        layouts = tuple(Layout.of(base.start(n_actions).memory) for base in bases)
        borders = np.cumsum([0, *(layout.size for layout in layouts)]).tolist()
        rule = self.rule(n_actions).start(len(bases))
        return GridRates(
            bases=bases,
            rates=tuple(base.rates(n_actions) for base in bases),
            layouts=layouts,
            rows=tuple(slice(*border) for border in pairwise(borders)),
            rule_rates=rule.rates,
            rule_layout=Layout.of(rule.memory),
        )

    def memory_limits(self, n_actions: int, rounds: int) -> dict[str, float]:
        """Return the sizes of the packed memories."""
        bases = self.bases(n_actions)  # a thousand at some rates, so none is started with all actions here
        rule = self.rule(n_actions).start(len(bases)).memory
        return {"words": sum(n_words(base, n_actions) for base in bases), "rule_words": Layout.of(rule).size}

    def memory_contradiction(self, memory: Memory, rounds: int) -> str:
        """Check the memory of every base and of the rule."""
        n_actions = memory.weights.size
        plan, rule = self.rates(n_actions), self.rule(n_actions)
        for base, layout, row in zip(plan.bases, plan.layouts, plan.rows, strict=True):
            if fault := base.memory_fault(layout.unpack(memory.bases[row]), n_actions, rounds):
                return f"`bases`: {fault}"
        fault = rule.memory_fault(plan.rule_layout.unpack(memory.rule), len(plan.bases), rounds)
        return f"`rule`: {fault}" if fault else ""

    def play_block(self, state: State, losses: Matrix) -> Matrix:
        """Play a block that has been checked already."""
        played = np.empty_like(losses)
        part = max(1, _ROOM // (len(state.rates.bases) * state.n_actions))
        for start in range(0, len(losses), part):
            self._play(state, losses[start : start + part], played[start : start + part])
        state.rounds += len(losses)
        return played

    def _play(self, state: State, losses: Matrix, played: Matrix) -> None:
        plan: GridRates = state.rates
        memory: Memory = state.memory
        n_rounds, n_bases = len(losses), len(plan.bases)
        plays = np.empty((n_bases, n_rounds + 1, state.n_actions))  # the last row is the next play
        for b, base in enumerate(plan.bases):
            own = plan.layouts[b].unpack(memory.bases[plan.rows[b]])
            base.loops.run(own, plan.rates[b], losses, plays[b, :-1])
            plays[b, -1] = own.weights
        suffered, guesses = np.empty((n_rounds, n_bases)), np.empty((n_rounds, n_bases))
        self.grid_loops.judge(losses, plays, suffered, guesses)
        shares = np.empty((n_rounds + 1, n_bases))
        self.grid_loops.follow(plan.rule_layout.unpack(memory.rule), plan.rule_rates, suffered, guesses, shares)
        mixed = np.empty((n_rounds + 1, state.n_actions))
        self.grid_loops.mix(shares, plays, mixed)
        played[:] = mixed[:-1]
        memory.weights[:] = mixed[-1]


G = TypeVar("G", bound=type[GridLearner])


def grid(name: str, card: Card | None = None, *, rule: type[ExpertLearner]) -> Callable[[G], G]:
    """Register a grid under `name` and bind the kernels of its rule."""

    def enter(member: G) -> G:
        step, hint, kinds = rule.compiled_loops.step, rule.compiled_loops.hint, kinds_of(rule)
        follow = (
            clone(_follow_hinted, name, kinds, STEP=step, HINT=hint) if hint else clone(_follow, name, kinds, STEP=step)
        )
        member.name, member.card = name, card
        member.grid_loops = GridLoops(_judge, follow, _mix)
        learners.add(name, member)
        return member

    return enter


@kernel
def _judge(losses: Matrix, plays: Matrix, suffered: Matrix, guesses: Matrix) -> None:
    """Write the losses of the bases, and what their next plays would lose if losses repeated."""
    for b in range(plays.shape[0]):
        for t in range(losses.shape[0]):
            suffered[t, b] = min(1.0, dot(plays[b, t], losses[t]))  # weights may sum to a little over 1
            guesses[t, b] = min(1.0, dot(plays[b, t + 1], losses[t]))


def _follow(memory: Any, rates: Any, suffered: Matrix, guesses: Matrix, shares: Matrix) -> None:  # noqa: ARG001
    for t in range(suffered.shape[0]):
        assign(shares[t], memory.weights)
        STEP(memory, rates, suffered[t])
    assign(shares[-1], memory.weights)


def _follow_hinted(memory: Any, rates: Any, suffered: Matrix, guesses: Matrix, shares: Matrix) -> None:
    for t in range(suffered.shape[0]):
        assign(shares[t], memory.weights)
        STEP(memory, rates, suffered[t])
        HINT(memory, rates, guesses[t])
    assign(shares[-1], memory.weights)


@kernel
def _mix(shares: Matrix, plays: Matrix, mixed: Matrix) -> None:
    """Write the bases' plays weighed by their shares; dividing by their sum keeps a distribution one."""
    for t in range(mixed.shape[0]):
        mass = 0.0
        for k in range(mixed.shape[1]):
            mixed[t, k] = 0.0
            for b in range(plays.shape[0]):
                mixed[t, k] += shares[t, b] * plays[b, t, k]
            mass += mixed[t, k]
        for k in range(mixed.shape[1]):
            mixed[t, k] /= mass
