"""The contract every learner keeps.

A learner is a frozen dataclass of parameters. `start` makes a `State`; `run` plays a block of rounds,
continuing from the state; stepping (`predict` or `choose`, then `update`) calls the same kernels, so it agrees
with `run` bit for bit.
"""

from __future__ import annotations

import functools
import math
from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping
from typing import Any, ClassVar, Self, TypeVar

import numpy as np

from driftwise.core.corners import Corners
from driftwise.core.errors import InvalidInput, outside, rejection
from driftwise.core.kernel import kinds_of
from driftwise.core.measures import Measures
from driftwise.core.memory import check_memory
from driftwise.core.random import new_generator
from driftwise.core.types import Actions, Matrix, Vector, Words
from driftwise.core.validation import as_losses, as_real, check_seed, count, first_bad_loss
from driftwise.learners.checked_memory import CheckedMemory
from driftwise.learners.live import FINE, OTHER_SIZE, LiveBandit, LiveExpert, live_bandit, live_expert
from driftwise.learners.loops import BanditLoops, ExpertLoops, bandit_loops, expert_loops
from driftwise.learners.rules import announcing
from driftwise.learners.state import Card, State
from driftwise.registry import Registry

__all__ = [
    "BanditLearner",
    "Card",
    "ExpertLearner",
    "Learner",
    "State",
    "bandit",
    "composed",
    "expert",
    "learners",
]

Kernel = Callable[..., Any]
_MANY_ACTIONS = 2**16  # with fewer, no learner's first memory is large


class Learner(CheckedMemory, ABC):
    """An algorithm with its parameters."""

    name: ClassVar[str]
    feedback: ClassVar[str]
    card: ClassVar[Card]
    corners: ClassVar[Corners] = Corners()  # of its parameters; checks run there too

    @classmethod
    def at_corners(cls) -> list[Self]:
        """Return the learner at the corners of its parameters."""
        return [cls(**setting) for setting in cls.corners.settings()]

    @property
    def no_learning(self) -> str:
        """Why these parameters leave nothing to learn, '' where they do not; see `corners`."""
        return self.corners.no_learning(self)

    def __init_subclass__(cls, **options: Any) -> None:
        super().__init_subclass__(**options)
        if isinstance(rule := vars(cls).get("tuned"), classmethod):
            cls.tuned = announcing(rule)  # type: ignore[method-assign, assignment]

    @property
    def exceptions(self) -> Mapping[str, str]:
        """The common checks that do not apply to this learner, each with the reason."""
        return {}

    @abstractmethod
    def first(self, n_actions: int, generator: Words) -> Any:
        """Return the memory before round 1 (a NamedTuple of arrays); keep `generator` in it to draw."""

    @abstractmethod
    def rates(self, n_actions: int) -> Any:
        """Return the parameters as the kernels read them (a NamedTuple of scalars)."""

    @classmethod
    def tuned(cls, measures: Measures) -> Self:  # noqa: ARG003
        """Return the learner with the parameters its theorem asks for."""
        raise InvalidInput(f"{cls.__name__}: it has no rule for tuning; give its parameters.")

    def tuning_caveat(self, measures: Measures) -> str:
        """Return why `tuned` says nothing about these measures, for which it made this learner, or an empty string."""
        return ""

    def bound(self, measures: Measures) -> float | None:
        """Return its theorem's bound on the expected dynamic regret, constants explicit; None where there is none."""
        return None

    @functools.cached_property
    def grows(self) -> bool:
        """Whether its memory may need more room as rounds go by."""
        return type(self).make_room is not Learner.make_room

    def make_room(self, memory: Any, n_rounds: int) -> Any:
        """Return a memory that can take `n_rounds` more rounds; a memory that never grows is returned as is.

        Between calls a state always has room for one more round, so a rejected update leaves it untouched.
        """
        return memory

    def start(self, n_actions: int, seed: int = 0) -> State:
        """Return the state before round 1."""
        n_actions = count(self, "n_actions", n_actions)
        generator = new_generator(check_seed(self, seed))
        if n_actions > _MANY_ACTIONS:
            self._check_memory(n_actions)
        return State(self, n_actions, self.rates(n_actions), self.first(n_actions, generator))

    @abstractmethod
    def advance(self, state: State, losses: Matrix) -> Matrix | Actions:
        """Play a block that has been checked already."""

    def _check_memory(self, n_actions: int) -> None:
        """Reject more actions than fit into memory; arrays have so many bytes, and so many more for each action."""
        one, two = (sum(array.nbytes for array in self.first(n, new_generator(0))) for n in (1, 2))
        check_memory(self, "n_actions", n_actions, one + (two - one) * (n_actions - 1))

    def _claim(self, state: State) -> None:
        if type(state) is State and state.learner is self:
            return
        if not isinstance(state, State):
            raise rejection(self, "state", "what `start` gave", state)
        if state.learner is not self and state.learner != self:
            raise InvalidInput(f"{self}: the state belongs to {state.learner}.")

    def _admit(self, state: State, values: Any, name: str = "losses") -> Matrix:
        """Check a block of losses and return it as the kernels want it."""
        self._claim(state)
        block = as_losses(self, values, (None, state.n_actions), name)
        bad = first_bad_loss(block.reshape(-1))
        if bad >= 0:
            t, k = divmod(bad, state.n_actions)
            raise outside(self, name, block[t, k], f"at round {t} of the block, action {k}")
        return block


class ExpertLearner(Learner):
    """A learner with full feedback: it plays weights and then sees every action's loss."""

    feedback = "full"
    loops: ClassVar[ExpertLoops]

    def predict(self, state: State) -> Vector:
        """Return the weights for the coming round; changes nothing."""
        self._claim(state)
        weights: Vector = state.memory.weights.copy()
        return weights

    def update(self, state: State, losses: Any) -> None:
        """Take in the losses of the round."""
        self._claim(state)
        live = state.live or self._live(state)
        self._take(state, live.step, live.table, losses, "losses")
        state.rounds += 1
        if self.grows:
            state.memory = self.make_room(state.memory, 1)

    def _live(self, state: State) -> LiveExpert:
        state.live = live_expert(self.loops.kernels, state.memory, state.rates)
        live: LiveExpert = state.live
        return live

    def _take(self, state: State, entry: Kernel, table: Any, values: Any, name: str) -> None:
        """Hand a vector to compiled code, which checks it; an array of another kind is converted first."""
        try:
            bad = entry(table, values) if type(values) is np.ndarray else OTHER_SIZE
        except TypeError:
            bad = OTHER_SIZE
        if bad == OTHER_SIZE:
            values = as_losses(self, values, (state.n_actions,), name)
            bad = entry(table, values)
        if bad != FINE:
            raise outside(self, name, values[bad], f"at action {bad}")

    def run(self, state: State, losses: Any) -> Matrix:
        """Play a block of rounds, (n_rounds, n_actions), and return the weights played."""
        return self.advance(state, self._admit(state, losses))

    def advance(self, state: State, losses: Matrix) -> Matrix:
        """Play a block that has been checked already."""
        played = np.empty_like(losses)
        if self.grows:
            state.memory = self.make_room(state.memory, len(losses) + 1)
        self.loops.run(state.memory, state.rates, losses, played)
        state.rounds += len(losses)
        return played


class BanditLearner(Learner):
    """A learner with bandit feedback: it plays one action and sees that action's loss."""

    feedback = "bandit"
    loops: ClassVar[BanditLoops]

    def choose(self, state: State) -> tuple[int, float | None]:
        """Return the action for the coming round and its probability, None where no closed form exists."""
        self._claim(state)
        live = state.live or self._live(state)
        action, probability = live.choose(live.table)
        return action, probability if probability == probability else None  # NaN is not

    def update(self, state: State, action: int, loss: float, probability: float | None) -> None:
        """Take in the loss of the chosen action; pass the probability that `choose` gave."""
        self._claim(state)
        live = state.live or self._live(state)
        usual = type(action) is int and 0 <= action < state.n_actions and isinstance(loss, float)
        if probability is None:
            chance = math.nan
        else:
            chance, usual = probability, usual and isinstance(probability, float) and 0.0 < probability <= 1.0
        if not (usual and live.update(live.table, action, loss, chance)):
            live.update(live.table, *self._checked(state, action, loss, probability))
        state.rounds += 1
        if self.grows:
            state.memory = self.make_room(state.memory, 1)

    def _live(self, state: State) -> LiveBandit:
        state.live = live_bandit(self.loops.kernels, state.memory, state.rates)
        live: LiveBandit = state.live
        return live

    def _checked(self, state: State, action: Any, loss: Any, probability: Any) -> tuple[int, float, float]:
        """Return what a round brought as compiled code wants it, or say what is wrong with it."""
        action = count(self, "action", action, at_least=0)
        if action >= state.n_actions:
            raise rejection(self, "action", f"< n_actions = {state.n_actions}", action)
        suffered = float(loss) if isinstance(loss, (bool, np.bool_)) else as_real(loss)
        if suffered is None:
            raise rejection(self, "loss", "a number in [0, 1]", loss)
        if not 0 <= suffered <= 1:
            raise outside(self, "loss", suffered, "")
        chance = math.nan if probability is None else as_real(probability)
        if chance is None or not (probability is None or 0 < chance <= 1):
            raise rejection(self, "probability", "in (0, 1] or None", probability)
        return action, suffered, chance

    def run(self, state: State, losses: Any) -> Actions:
        """Play a block of rounds, (n_rounds, n_actions), reading only the chosen losses; return the actions."""
        return self.advance(state, self._admit(state, losses))

    def advance(self, state: State, losses: Matrix) -> Actions:
        """Play a block that has been checked already."""
        actions = np.empty(len(losses), np.int64)
        if self.grows:
            state.memory = self.make_room(state.memory, len(losses) + 1)
        self.loops.run(state.memory, state.rates, losses, actions)
        state.rounds += len(losses)
        return actions


learners: Registry[Learner] = Registry("learner")
E = TypeVar("E", bound=type[ExpertLearner])
B = TypeVar("B", bound=type[BanditLearner])
L = TypeVar("L", bound=type[Learner])


def expert(name: str, card: Card, *, update: Kernel, hint: Kernel | None = None) -> Callable[[E], E]:
    """Register a full-feedback learner under `name` and bind its kernels to the loops."""

    def enter(member: E) -> E:
        member.name, member.card = name, card
        member.loops = expert_loops(name, kinds_of(member), update, hint)
        learners.add(name, member)
        return member

    return enter


def bandit(name: str, card: Card, *, choose: Kernel, update: Kernel) -> Callable[[B], B]:
    """Register a bandit learner under `name` and bind its kernels to the loops."""

    def enter(member: B) -> B:
        member.name, member.card = name, card
        member.loops = bandit_loops(name, kinds_of(member), choose, update)
        learners.add(name, member)
        return member

    return enter


def composed(name: str, card: Card) -> Callable[[L], L]:
    """Register a learner made of others under `name`; its `loops` depend on what it is made of."""

    def enter(member: L) -> L:
        member.name, member.card = name, card
        learners.add(name, member)
        return member

    return enter
