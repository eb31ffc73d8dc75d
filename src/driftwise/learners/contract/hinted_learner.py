"""Learners that use a guess of the next losses, which a hint can replace."""

from __future__ import annotations

from typing import Any

import numpy as np

from driftwise.core.errors import InvalidInput
from driftwise.core.types import Matrix
from driftwise.learners.contract.expert_learner import ExpertLearner
from driftwise.learners.contract.kernel_errors import CompilerError, raise_kernel_error
from driftwise.learners.contract.state import State
from driftwise.learners.contract.type_variables import M, R

__all__ = ["HintedLearner"]


class HintedLearner(ExpertLearner[M, R]):
    """A full-feedback learner with a guess of the next losses: the last ones, unless there is a hint."""

    def hint(self, state: State[M, R], guess: Any) -> None:
        """Replace the guess of the next losses and compute the weights with it; it holds until the next `update`."""
        self._claim(state)
        live = state.live or self._live(state)
        assert live.hint is not None
        try:
            self._take(state, live.hint, live.table, guess, "guess")
        except CompilerError as error:
            raise_kernel_error(self, self.loops.kernels, state.memory, state.rates, error)

    def run(self, state: State[M, R], losses: Any, hints: Any = None) -> Matrix:
        """Play a block; row t of `hints`, if given, is the guess for row t of `losses`."""
        if hints is None:
            return super().run(state, losses)
        block, guesses = self._admit(state, losses), self._admit(state, hints, "hints")
        if len(guesses) != len(block):
            raise InvalidInput(
                f"{type(self).__name__}: `hints` must have one row per round, got {len(guesses)} for {len(block)}."
            )
        assert self.loops.run_hinted is not None
        played = np.empty_like(block)
        if self.grows:
            state.memory = self.make_room(state.memory, len(block) + 1)
        self._call(state, self.loops.run_hinted, block, guesses, played)
        state.rounds += len(block)
        return played
