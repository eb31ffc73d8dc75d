r"""Learners on a grid: a fixed set of base learners, and a learner, the rule, that weighs them.

Base $b$ plays $x_t^b$ and does not depend on the others. The rule is a learner whose actions are the bases. Its weights
$q_t$ mix those of the bases, and its losses are theirs. A rule that takes hints gets the loss of each base if the
losses repeat:

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
from driftwise.learners.contract import ExpertLearner, State, learners
from driftwise.learners.parts.exponential_weights import dot
from driftwise.learners.parts.meta_learner import MetaLearner
from driftwise.learners.parts.packed_memory import MemoryLayout, n_words

__all__ = ["GridLearner", "grid"]

STEP: Callable[..., Any] = unbound
HINT: Callable[..., Any] = unbound
_PART_SIZE = 2**20  # blocks are played in parts with this many weights of bases, which stay in the cache


class Memory(NamedTuple):
    """State of the learner between rounds."""

    weights: Annotated[Vector, distribution("actions")]  # of the next round
    bases: Annotated[Words, packed("words")]  # the bases' memories, one after the other
    rule: Annotated[Words, packed("rule_words")]  # the rule's memory


class GridRates(NamedTuple):
    """The bases and the rule with their parameters, and where each memory is stored."""

    bases: tuple[ExpertLearner, ...]
    rates: tuple[Any, ...]  # of the bases
    layouts: tuple[MemoryLayout, ...]  # of their memories
    rows: tuple[slice, ...]  # the words of each base in the memory
    rule_rates: Any
    rule_layout: MemoryLayout


class GridLoops(NamedTuple):
    """The compiled entry points of a grid, in addition to those of its bases."""

    base_losses: Callable[..., None]
    base_weights: Callable[..., None]
    mix: Callable[..., None]


class GridLearner(MetaLearner[Memory, GridRates]):
    """A set of bases and a rule that weighs them."""

    grid_loops: ClassVar[GridLoops]

    def entry_points(self) -> dict[str, Any]:
        """Return the compiled functions of the grid, without those of its bases."""
        return self.grid_loops._asdict()

    @abstractmethod
    def bases(self, n_actions: int) -> Sequence[ExpertLearner]:
        """Return the bases: full-feedback learners whose memories do not grow."""

    @abstractmethod
    def rule(self, n_actions: int) -> ExpertLearner:
        """Return the learner that weighs the bases, of the class that was given to `grid`."""

    def set_prior(self, memory: Any, n_actions: int) -> None:
        """Write a prior over the bases into the rule's memory; by default it stays uniform."""

    def first_memory(self, n_actions: int, generator: Words) -> Memory:
        """Return the first memories of all bases and of the rule, and the mixed weights."""
        rates = self.rates(n_actions)
        starts = [base.first_memory(n_actions, generator) for base in rates.bases]
        rule = self.rule(n_actions).first_memory(len(starts), generator)
        self.set_prior(rule, n_actions)
        weights = np.empty((1, n_actions))
        self.grid_loops.mix(rule.weights.reshape(1, -1), np.array([[start.weights] for start in starts]), weights)
        packed = [layout.pack(start) for layout, start in zip(rates.layouts, starts, strict=True)]
        return Memory(weights[0], np.concatenate(packed), rates.rule_layout.pack(rule))

    def rates(self, n_actions: int) -> GridRates:
        """Return the bases and the rule with their parameters, and the layouts of all memories."""
        bases = tuple(self.bases(n_actions))
        layouts = tuple(MemoryLayout.of(base.start(n_actions).memory) for base in bases)
        borders = np.cumsum([0, *(layout.size for layout in layouts)]).tolist()
        rule = self.rule(n_actions).start(len(bases))
        return GridRates(
            bases=bases,
            rates=tuple(base.rates(n_actions) for base in bases),
            layouts=layouts,
            rows=tuple(slice(*border) for border in pairwise(borders)),
            rule_rates=rule.rates,
            rule_layout=MemoryLayout.of(rule.memory),
        )

    def memory_limits(self, n_actions: int, rounds: int) -> dict[str, float]:
        """Return the sizes of the packed memories."""
        bases = self.bases(n_actions)  # up to a thousand, so none is started with all actions here
        rule = self.rule(n_actions).start(len(bases)).memory
        return {"words": sum(n_words(base, n_actions) for base in bases), "rule_words": MemoryLayout.of(rule).size}

    def memory_contradiction(self, memory: Memory, rounds: int) -> str:
        """Check the memory of every base and of the rule."""
        n_actions = memory.weights.size
        rates, rule = self.rates(n_actions), self.rule(n_actions)
        for base, layout, row in zip(rates.bases, rates.layouts, rates.rows, strict=True):
            if fault := base.memory_fault(layout.unpack(memory.bases[row]), n_actions, rounds):
                return f"`bases`: {fault}"
        fault = rule.memory_fault(rates.rule_layout.unpack(memory.rule), len(rates.bases), rounds)
        return f"`rule`: {fault}" if fault else ""

    def play_block(self, state: State, losses: Matrix) -> Matrix:
        """Play a block of rounds; its losses have been checked."""
        played = np.empty_like(losses)
        part = max(1, _PART_SIZE // (len(state.rates.bases) * state.n_actions))
        for start in range(0, len(losses), part):
            self._play(state, losses[start : start + part], played[start : start + part])
        state.rounds += len(losses)
        return played

    def _play(self, state: State, losses: Matrix, played: Matrix) -> None:
        rates: GridRates = state.rates
        memory: Memory = state.memory
        n_rounds, n_bases = len(losses), len(rates.bases)
        plays = np.empty((n_bases, n_rounds + 1, state.n_actions))  # the last row has the weights after the block
        for b, base in enumerate(rates.bases):
            own = rates.layouts[b].unpack(memory.bases[rates.rows[b]])
            base.loops.run(own, rates.rates[b], losses, plays[b, :-1])
            plays[b, -1] = own.weights
        base_losses, hints = np.empty((n_rounds, n_bases)), np.empty((n_rounds, n_bases))
        self.grid_loops.base_losses(losses, plays, base_losses, hints)
        shares = np.empty((n_rounds + 1, n_bases))
        rule = rates.rule_layout.unpack(memory.rule)
        self.grid_loops.base_weights(rule, rates.rule_rates, base_losses, hints, shares)
        mixed = np.empty((n_rounds + 1, state.n_actions))
        self.grid_loops.mix(shares, plays, mixed)
        played[:] = mixed[:-1]
        memory.weights[:] = mixed[-1]


G = TypeVar("G", bound=type[GridLearner])


def grid(name: str, *, rule: type[ExpertLearner]) -> Callable[[G], G]:
    """Register a grid under `name` and bind the kernels of `rule`, the class that weighs the bases."""

    def enter(member: G) -> G:
        step, hint, kinds = rule.compiled_loops.step, rule.compiled_loops.hint, kinds_of(rule)
        base_weights = (
            clone(_base_weights_hinted, name, kinds, STEP=step, HINT=hint)
            if hint
            else clone(_base_weights, name, kinds, STEP=step)
        )
        member.name = name
        member.grid_loops = GridLoops(_base_losses, base_weights, _mix)
        learners.add(name, member)
        return member

    return enter


@kernel
def _base_losses(losses: Matrix, plays: Matrix, base_losses: Matrix, hints: Matrix) -> None:
    """Write the losses of the bases, and those of their next weights if the losses repeat."""
    for b in range(plays.shape[0]):
        for t in range(losses.shape[0]):
            base_losses[t, b] = min(1.0, dot(plays[b, t], losses[t]))  # weights may sum to a little over 1
            hints[t, b] = min(1.0, dot(plays[b, t + 1], losses[t]))


def _base_weights(memory: Any, rates: Any, base_losses: Matrix, hints: Matrix, shares: Matrix) -> None:  # noqa: ARG001
    """Run the rule on the losses of the bases, and write its weights."""
    for t in range(base_losses.shape[0]):
        assign(shares[t], memory.weights)
        STEP(memory, rates, base_losses[t])
    assign(shares[-1], memory.weights)


def _base_weights_hinted(memory: Any, rates: Any, base_losses: Matrix, hints: Matrix, shares: Matrix) -> None:
    """Run a rule that takes hints on the losses of the bases, and write its weights."""
    for t in range(base_losses.shape[0]):
        assign(shares[t], memory.weights)
        STEP(memory, rates, base_losses[t])
        HINT(memory, rates, hints[t])
    assign(shares[-1], memory.weights)


@kernel
def _mix(shares: Matrix, plays: Matrix, mixed: Matrix) -> None:
    """Write the bases' weights mixed by their shares, normalised against rounding."""
    for t in range(mixed.shape[0]):
        mass = 0.0
        for k in range(mixed.shape[1]):
            mixed[t, k] = 0.0
            for b in range(plays.shape[0]):
                mixed[t, k] += shares[t, b] * plays[b, t, k]
            mass += mixed[t, k]
        for k in range(mixed.shape[1]):
            mixed[t, k] /= mass
