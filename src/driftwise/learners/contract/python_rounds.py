"""The rounds of a learner in plain Python, one by one and in blocks, and its memory.

Every round calls the same methods of the user, so both give the same results bit for bit. What these methods return is
checked in every round. If one fails, the arrays and the generator are as before the call.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, NamedTuple

import numpy as np

from driftwise.core.errors import outside
from driftwise.core.types import Actions, Matrix, Vector
from driftwise.core.validation import as_losses, first_bad_loss
from driftwise.learners.contract.bandit_feedback import checked_feedback
from driftwise.learners.contract.learner import Learner
from driftwise.learners.contract.python_memory import LiveMemory, first_arrays
from driftwise.learners.contract.python_returns import CHECKED, error_note
from driftwise.learners.contract.state import State

__all__ = ["PythonRounds"]


class NoRates(NamedTuple):
    """The rates of a learner without kernels."""


class PythonRounds(Learner[Any, Any]):
    """The part of a `PythonLearner` that plays rounds."""

    @property
    def memory_type(self) -> Any:
        """The NamedTuple of its arrays."""
        return self.memory_type_for(2)

    def memory_type_for(self, n_actions: int) -> Any:
        """The NamedTuple of its arrays with a number of actions, on which their names may depend."""
        return type(self.start(n_actions).memory)

    def rates(self, n_actions: int) -> NoRates:
        """Return nothing: its methods read the parameters themselves."""
        return NoRates()

    def shape_fault(self, shapes: Mapping[str, tuple[int, ...]], n_actions: int, rounds: int) -> str:
        """Return the first array whose shape is not that in a new state, '' if there is none."""
        for name, array in self.start(n_actions).arrays().items():
            if shapes[name] != array.shape:
                return f"`{name}` must have the shape {array.shape}, got {shapes[name]}"
        return ""

    def _seeded_memory(self, n_actions: int, seed: int) -> Any:
        return first_arrays(self, n_actions, seed)

    def run(self, state: State, losses: Any) -> Matrix | Actions:
        """Play a block of rounds, (n_rounds, n_actions), and return the weights played, or the actions."""
        return self.play_block(state, self._admit(state, losses))

    def play_block(self, state: State, losses: Matrix) -> Matrix | Actions:
        """Play a block of rounds; its losses have been checked. If a round fails, the state does not change."""
        play = self._weights_of_block if self.feedback == "full" else self._actions_of_block
        played: Matrix | Actions = self._changing(state, play, losses)
        state.rounds += len(losses)
        return played

    def _weights_of_block(self, state: State, losses: Matrix) -> Matrix:
        played = np.empty_like(losses)
        for t in range(len(losses)):
            played[t] = self._call("predict", state, t)
            self._call("update", state, t, losses[t].copy())
        return played

    def _actions_of_block(self, state: State, losses: Matrix) -> Actions:
        played = np.empty(len(losses), np.int64)
        for t in range(len(losses)):
            action, probability = self._call("choose", state, t)
            played[t] = action
            self._call("update", state, t, action, float(losses[t, action]), probability)
        return played

    def _predict(self, state: State) -> Vector:
        """Return the weights of the next round, without changing the state."""
        self._claim(state)
        weights: Vector = self._call("predict", state, 0)
        return weights

    def _choose(self, state: State) -> tuple[int, float | None]:
        """Return the action for the coming round and its probability, None where it is not known."""
        self._claim(state)
        live = _live(state)
        live.load()
        choice: tuple[int, float | None] = self._call("choose", state, 0)
        live.store()
        return choice

    def _update(self, state: State, *feedback: Any, **named: Any) -> None:
        """Update the state with the losses, or with the action, its loss and its probability."""
        self._claim(state)
        take = self._losses if self.feedback == "full" else self._chosen_loss
        given = take(state, *feedback, **named)
        self._changing(state, lambda state: self._call("update", state, 0, *given))
        state.rounds += 1

    def _losses(self, state: State, losses: Any) -> tuple[Vector]:
        values = as_losses(self, losses, (state.n_actions,))
        if (bad := first_bad_loss(values)) >= 0:
            raise outside(self, "losses", values[bad], f"at action {bad}")
        return (values.copy(),)

    def _chosen_loss(self, state: State, action: Any, loss: Any, probability: Any) -> tuple[int, float, float | None]:
        action, loss, chance = checked_feedback(self, state.n_actions, action, loss, probability)
        return action, loss, None if probability is None else chance

    def _changing(self, state: State, change: Callable[..., Any], *given: Any) -> Any:
        """Call a function that changes the memory; if it fails, or is interrupted, the state does not change."""
        live = _live(state)
        before = live.snapshot()
        live.load()
        try:
            made = change(state, *given)
            live.check_views()
        except BaseException:
            live.restore(before)
            state.live = None  # a method may have changed the views
            raise
        live.store()
        return made

    def _call(self, role: str, state: State, ahead: int, *given: Any) -> Any:
        """Call a method of the user in the round `ahead` of that of the state, and check what it returns.

        Errors get a note with the learner, the method and the round.
        """
        live = _live(state)
        memory = live.writing if role == "update" else live.reading
        try:
            return CHECKED[role](self, getattr(self, role)(memory, *given), state.n_actions)
        except Exception as error:
            error.add_note(error_note(self, role, state.rounds + ahead, error))
            raise


def _live(state: State) -> LiveMemory:
    if state.live is None:
        state.live = LiveMemory(state.learner, state.memory)
    live: LiveMemory = state.live
    return live
