"""Learners with bandit feedback: they choose one action and observe its loss only."""

from __future__ import annotations

import math
from typing import Any, ClassVar

import numpy as np

from driftwise.core.types import Actions, Matrix
from driftwise.learners.contract.bandit_feedback import checked_feedback
from driftwise.learners.contract.kernel_errors import CompilerError, check_choice, raise_kernel_error, returns_something
from driftwise.learners.contract.learner import Learner
from driftwise.learners.contract.live_rounds import LiveBandit, live_bandit
from driftwise.learners.contract.loops import BanditLoops
from driftwise.learners.contract.state import State
from driftwise.learners.contract.type_variables import M, R

__all__ = ["BanditLearner"]


class BanditLearner(Learner[M, R]):
    """A learner with bandit feedback: it chooses one action and observes its loss only."""

    feedback = "bandit"
    compiled_loops: ClassVar[BanditLoops]  # set by `bandit`

    @property
    def loops(self) -> BanditLoops:
        """The compiled loops over rounds."""
        return self.compiled_loops

    def entry_points(self) -> dict[str, Any]:
        """Return every compiled function that plays rounds of this learner, by name."""
        return self.loops._asdict()

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
        if not (usual and live.update(live.table, action, loss, chance)):
            checked = checked_feedback(self, state.n_actions, action, loss, probability)
            if not live.update(live.table, *checked):
                raise returns_something(self, self.loops.kernels.update)
        state.rounds += 1
        if self.grows:
            state.memory = self.make_room(state.memory, 1)

    def _live(self, state: State[M, R]) -> LiveBandit:
        kernels = self.loops.kernels
        try:
            live = live_bandit(kernels, state.memory, state.rates)
        except CompilerError as error:
            raise_kernel_error(self, kernels, state.memory, state.rates, error)
        check_choice(self, kernels, live.choose)
        state.live = live
        return live

    def run(self, state: State[M, R], losses: Any) -> Actions:
        """Play a block of rounds, (n_rounds, n_actions), reading only the chosen losses; return the actions."""
        return self.play_block(state, self._admit(state, losses))

    def play_block(self, state: State[M, R], losses: Matrix) -> Actions:
        """Play a block of rounds; its losses have been checked."""
        actions = np.empty(len(losses), np.int64)
        if self.grows:
            state.memory = self.make_room(state.memory, len(losses) + 1)
        try:
            fine = self.loops.run(state.memory, state.rates, losses, actions)
        except CompilerError as error:
            raise_kernel_error(self, self.loops.kernels, state.memory, state.rates, error)
        if not fine:
            raise returns_something(self, self.loops.kernels.update)
        state.rounds += len(losses)
        return actions
