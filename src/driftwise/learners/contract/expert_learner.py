"""Learners with full feedback: they play weights and then observe the losses of all actions."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, ClassVar

import numpy as np

from driftwise.core.errors import outside
from driftwise.core.types import Matrix, Vector
from driftwise.core.validation import as_losses
from driftwise.learners.contract.kernel_errors import CompilerError, raise_kernel_error, returns_something
from driftwise.learners.contract.learner import Learner
from driftwise.learners.contract.live_rounds import FINE, OTHER_SIZE, RETURNED, LiveExpert, live_expert
from driftwise.learners.contract.loops import ExpertLoops
from driftwise.learners.contract.state import State
from driftwise.learners.contract.type_variables import M, R

__all__ = ["ExpertLearner"]

Kernel = Callable[..., Any]


class ExpertLearner(Learner[M, R]):
    """A learner with full feedback: it plays weights and then observes the losses of all actions."""

    feedback = "full"
    compiled_loops: ClassVar[ExpertLoops]  # set by `expert`

    @property
    def loops(self) -> ExpertLoops:
        """The compiled loops over rounds."""
        return self.compiled_loops

    def entry_points(self) -> dict[str, Any]:
        """Return every compiled function that plays rounds of this learner, by name."""
        return self.loops._asdict()

    def predict(self, state: State[M, R]) -> Vector:
        """Return the weights of the next round, without changing the state."""
        self._claim(state)
        memory: Any = state.memory  # every memory of a learner with full feedback has `weights`
        weights: Vector = memory.weights.copy()
        return weights

    def update(self, state: State[M, R], losses: Any) -> None:
        """Update the state with the losses of the round."""
        self._claim(state)
        live = state.live or self._live(state)
        self._take(state, live.step, live.table, losses, "losses")
        state.rounds += 1
        if self.grows:
            state.memory = self.make_room(state.memory, 1)

    def _live(self, state: State[M, R]) -> LiveExpert:
        kernels = self.loops.kernels
        try:
            state.live = live_expert(kernels, state.memory, state.rates)
        except CompilerError as error:
            raise_kernel_error(self, kernels, state.memory, state.rates, error)
        live: LiveExpert = state.live
        return live

    def _take(self, state: State[M, R], entry: Kernel, table: Any, values: Any, name: str) -> None:
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
            raise outside(self, name, values[bad], f"at action {bad}")

    def run(self, state: State[M, R], losses: Any) -> Matrix:
        """Play a block of rounds, (n_rounds, n_actions), and return the weights played."""
        return self.play_block(state, self._admit(state, losses))

    def play_block(self, state: State[M, R], losses: Matrix) -> Matrix:
        """Play a block of rounds; its losses have been checked."""
        played = np.empty_like(losses)
        if self.grows:
            state.memory = self.make_room(state.memory, len(losses) + 1)
        self._call(state, self.loops.run, losses, played)
        state.rounds += len(losses)
        return played

    def _call(self, state: State, loop: Kernel, *arrays: Matrix) -> None:
        """Call a compiled loop; its first call compiles it."""
        try:
            fine = loop(state.memory, state.rates, *arrays)
        except CompilerError as error:
            raise_kernel_error(self, self.loops.kernels, state.memory, state.rates, error)
        if not fine:
            raise returns_something(self, self.loops.kernels.update)
