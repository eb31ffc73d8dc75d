"""Learners whose rounds are kernels, with full or with bandit feedback, and the decorators that register them."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import ClassVar, TypeVar, cast

import numpy as np
import numpy.typing as npt

from driftwise.core.errors import InvalidInput, KernelError, outside, rejection
from driftwise.core.kernel import kinds_of
from driftwise.core.types import Actions, Matrix, Vector, Words
from driftwise.core.validation import as_losses, as_real, count
from driftwise.learners.base.kernel_diagnosis import CompilerError, raise_kernel_error, returns_something, wrong_choice
from driftwise.learners.base.learner import Learner, M, R, State, initial_memory, registered, returned_type
from driftwise.learners.base.loops import (
    FINE,
    OTHER_SIZE,
    RETURNED,
    Kernel,
    LiveRounds,
    Loops,
    bandit_loops,
    expert_loops,
    live_rounds,
)


class KernelLearner(Learner[M, R]):
    """A learner whose rounds are kernels."""

    compiled_loops: ClassVar[Loops]  # set by `expert` and `bandit`

    @property
    def loops(self) -> Loops:
        """The compiled loops over rounds."""
        return self.compiled_loops

    def first_memory(self, n_actions: int, generator: Words) -> M:
        """Return the memory before round 1, by default as its fields declare it."""
        kind = self.memory_type
        arrays = {"generator": generator} if "generator" in kind._fields else {}
        return initial_memory(kind, self.all_limits(n_actions, rounds=0), **arrays)

    def rates(self, n_actions: int) -> R:
        """Return the parameters as the kernels read them, by default those with the names of the fields."""
        kind = returned_type(type(self), "rates")
        values = {name: getattr(self, name) for name in kind._fields if hasattr(self, name)}
        return cast("Callable[..., R]", kind)(**values)

    def entry_points(self) -> dict[str, Kernel | None]:
        """Return every compiled function that plays rounds of this learner, by name."""
        return {"run": self.loops.run, "run_hinted": self.loops.run_hinted}

    def _live(self, state: State[M, R]) -> LiveRounds:
        """Make the entry points of live rounds; the first of a type of memory compiles them."""
        kernels = self.loops.kernels
        try:
            live = live_rounds(kernels, state.memory, state.rates)
        except CompilerError as error:
            raise_kernel_error(self, kernels, state.memory, state.rates, error)
        if wrong := wrong_choice(kernels.choose, live.choose):
            raise KernelError(f"{type(self).__name__}: {wrong}")
        state.live = live
        return live

    def _make_room(self, state: State[M, R], n_rounds: int) -> None:
        if (memory := self.make_room(state.memory, n_rounds)) is not state.memory:
            state.renew(memory)

    def _play(self, state: State[M, R], loop: Kernel, *blocks: Matrix | Actions) -> None:
        """Play a block with a compiled loop, whose first call compiles it; its last argument is written."""
        n_rounds = len(blocks[0])
        if self.grows:
            self._make_room(state, n_rounds + 1)
        try:
            fine = loop(state.memory, state.rates, *blocks)
        except CompilerError as error:
            raise_kernel_error(self, self.loops.kernels, state.memory, state.rates, error)
        if not fine:
            raise returns_something(self, self.loops.kernels.update)
        state.rounds += n_rounds


class ExpertLearner(KernelLearner[M, R]):
    """A learner with full feedback: it plays weights and then observes the losses of all actions."""

    feedback = "full"

    def predict(self, state: State[M, R]) -> Vector:
        """Return the weights of the next round, without changing the state."""
        self._claim(state)
        weights: Vector = state.memory.weights.copy()  # type: ignore[attr-defined]  # full feedback: every memory has it
        return weights

    def update(self, state: State[M, R], losses: npt.ArrayLike) -> None:
        """Update the state with the losses of the round."""
        self._claim(state)
        live = state.live or self._live(state)
        self._take(state, live.step, live.table, losses, "losses")
        state.rounds += 1
        if self.grows:
            self._make_room(state, 1)

    def _take(self, state: State[M, R], entry: Kernel, table: object, values: npt.ArrayLike, name: str) -> None:
        """Pass a vector to compiled code, which checks it; other arrays and sequences are converted first."""
        try:
            bad = entry(table, values) if type(values) is np.ndarray else OTHER_SIZE
        except (TypeError, CompilerError):  # the latter where Numba has no such type: numbers of another byte order
            bad = OTHER_SIZE
        if bad == OTHER_SIZE:
            values = as_losses(self, values, (state.n_actions,), name)
            bad = entry(table, values)
        if bad == RETURNED:
            raise returns_something(self, self.loops.kernels.update if name == "losses" else self.loops.kernels.hint)
        if bad != FINE:
            raise outside(self, name, float(np.asarray(values)[bad]), f"at action {bad}")

    def run(self, state: State[M, R], losses: npt.ArrayLike) -> Matrix:
        """Play a block of rounds, (n_rounds, n_actions), and return the weights played."""
        return self.play_block(state, self._admit(state, losses))

    def play_block(self, state: State[M, R], losses: Matrix) -> Matrix:
        """Play a block of rounds; its losses have been checked."""
        played = np.empty_like(losses)
        self._play(state, self.loops.run, losses, played)
        return played


class HintedLearner(ExpertLearner[M, R]):
    """A full-feedback learner with a guess of the next losses: the last ones, unless there is a hint."""

    def hint(self, state: State[M, R], guess: npt.ArrayLike) -> None:
        """Replace the guess of the next losses and compute the weights with it; it holds until the next `update`."""
        self._claim(state)
        live = state.live or self._live(state)
        try:
            self._take(state, live.hint, live.table, guess, "guess")
        except CompilerError as error:
            raise_kernel_error(self, self.loops.kernels, state.memory, state.rates, error)

    def run(self, state: State[M, R], losses: npt.ArrayLike, hints: npt.ArrayLike | None = None) -> Matrix:
        """Play a block; row t of `hints`, if given, is the guess for row t of `losses`."""
        if hints is None:
            return super().run(state, losses)
        block, guesses = self._admit(state, losses), self._admit(state, hints, "hints")
        if len(guesses) != len(block):
            got = f"{len(guesses)} for {len(block)}"
            raise InvalidInput(f"{type(self).__name__}: `hints` must have one row per round, got {got}.")
        assert self.loops.run_hinted is not None
        played = np.empty_like(block)
        self._play(state, self.loops.run_hinted, block, guesses, played)
        return played


class BanditLearner(KernelLearner[M, R]):
    """A learner with bandit feedback: it chooses one action and observes its loss only."""

    feedback = "bandit"

    def choose(self, state: State[M, R]) -> tuple[int, float | None]:
        """Return the action for the coming round and its probability, None where no closed form exists."""
        self._claim(state)
        live = state.live or self._live(state)
        action, probability = live.choose(live.table)
        return action, probability if probability == probability else None  # NaN is not equal to itself

    def update(self, state: State[M, R], action: int, loss: float, probability: float | None) -> None:
        """Update the state with the loss of the chosen action; pass the probability that `choose` returned."""
        self._claim(state)
        live = state.live or self._live(state)
        usual = type(action) is int and 0 <= action < state.n_actions and isinstance(loss, float)
        if probability is None:
            chance = math.nan
        else:
            chance, usual = probability, usual and isinstance(probability, float) and 0.0 < probability <= 1.0
        if not (usual and live.step(live.table, action, loss, chance)):
            checked = checked_feedback(self, state.n_actions, action, loss, probability)
            if not live.step(live.table, *checked):
                raise returns_something(self, self.loops.kernels.update)
        state.rounds += 1
        if self.grows:
            self._make_room(state, 1)

    def run(self, state: State[M, R], losses: npt.ArrayLike) -> Actions:
        """Play a block of rounds, (n_rounds, n_actions), reading only the chosen losses; return the actions."""
        return self.play_block(state, self._admit(state, losses))

    def play_block(self, state: State[M, R], losses: Matrix) -> Actions:
        """Play a block of rounds; its losses have been checked."""
        actions = np.empty(len(losses), np.int64)
        self._play(state, self.loops.run, losses, actions)
        return actions


def checked_feedback(
    owner: object, n_actions: int, action: object, loss: object, probability: object
) -> tuple[int, float, float]:
    """Return the action, the loss and the probability, NaN for None, or raise `InvalidInput`."""
    action = count(owner, "action", action, at_least=0)
    if action >= n_actions:
        raise rejection(owner, "action", f"< n_actions = {n_actions}", action)
    number = float(loss) if isinstance(loss, (bool, np.bool_)) else as_real(loss)
    if number is None:
        raise rejection(owner, "loss", "a number in [0, 1]", loss)
    if not 0 <= number <= 1:
        raise outside(owner, "loss", number, "")
    chance = math.nan if probability is None else as_real(probability)
    if chance is None or not (probability is None or 0 < chance <= 1):
        raise rejection(owner, "probability", "in (0, 1] or None", probability)
    return action, number, chance


K = TypeVar("K", bound=type[KernelLearner])


def expert(name: str, *, update: Kernel, hint: Kernel | None = None) -> Callable[[K], K]:
    """Register a full-feedback learner under `name` and bind its kernels to the loops."""
    return _with_loops(name, expert_loops, update, hint)


def bandit(name: str, *, choose: Kernel, update: Kernel) -> Callable[[K], K]:
    """Register a bandit learner under `name` and bind its kernels to the loops."""
    return _with_loops(name, bandit_loops, choose, update)


def _with_loops(name: str, make_loops: Callable[..., Loops], *kernels: Kernel | None) -> Callable[[K], K]:
    def enter(member: K) -> K:
        member.compiled_loops = make_loops(name, kinds_of(member), *kernels)
        return registered(name, member)

    return enter
