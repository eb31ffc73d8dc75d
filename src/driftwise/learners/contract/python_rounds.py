"""The rounds of a learner in plain Python, one by one and in blocks, and its memory.

Every round calls the same methods of the user, so both give the same results bit for bit. What these methods return is
checked in every round. If one fails, the arrays and the generator are as before the call.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, NamedTuple

import numpy as np

from driftwise.core.errors import LearnerError, outside
from driftwise.core.types import Actions, Matrix, Vector
from driftwise.core.validation import as_losses, first_bad_loss
from driftwise.learners.contract.bandit_feedback import checked_feedback
from driftwise.learners.contract.learner import Learner
from driftwise.learners.contract.python_memory import LiveMemory, PythonMemory, first_arrays
from driftwise.learners.contract.python_returns import check_nothing, checked_choice, checked_weights, error_note
from driftwise.learners.contract.state import State

__all__ = ["PythonRounds"]


class NoRates(NamedTuple):
    """The rates of a learner without kernels."""


class PythonRounds(Learner[Any, Any]):
    """The part of a `PythonLearner` that plays rounds."""

    @property
    def memory_type(self) -> Any:
        """The NamedTuple of its arrays."""
        return type(self._seeded_memory(2, 0))

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

    def _weights_of_block(self, live: LiveMemory, state: State, losses: Matrix) -> Matrix:
        played = np.empty_like(losses)
        for t in range(len(losses)):
            weights = self._call("predict", state.rounds + t, live.reading)
            played[t] = checked_weights(self, weights, state.n_actions)
            check_nothing(self, self._call("update", state.rounds + t, live.writing, losses[t].copy()))
        return played

    def _actions_of_block(self, live: LiveMemory, state: State, losses: Matrix) -> Actions:
        played = np.empty(len(losses), np.int64)
        for t in range(len(losses)):
            choice = self._call("choose", state.rounds + t, live.reading)
            action, probability = checked_choice(self, choice, state.n_actions)
            played[t], loss = action, float(losses[t, action])
            check_nothing(self, self._call("update", state.rounds + t, live.writing, action, loss, probability))
        return played

    def _predict(self, state: State) -> Vector:
        """Return the weights of the next round, without changing the state."""
        self._claim(state)
        return checked_weights(self, self._call("predict", state.rounds, _live(state).reading), state.n_actions)

    def _choose(self, state: State) -> tuple[int, float | None]:
        """Return the action for the coming round and its probability, None where it is not known."""
        self._claim(state)
        live = _live(state)
        live.load()
        choice = checked_choice(self, self._call("choose", state.rounds, live.reading), state.n_actions)
        live.store()
        return choice

    def _update(self, state: State, *feedback: Any, **named: Any) -> None:
        """Update the state with the losses, or with the action, its loss and its probability."""
        self._claim(state)
        take = self._losses if self.feedback == "full" else self._chosen_loss
        given = take(state, *feedback, **named)

        def learn(live: LiveMemory, state: State) -> None:
            check_nothing(self, self._call("update", state.rounds, live.writing, *given))

        self._changing(state, learn)
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
            made = change(live, state, *given)
        except BaseException:
            live.restore(before)
            raise
        live.store()
        return made

    def _call(self, role: str, t: int, memory: PythonMemory, *given: Any) -> Any:
        """Call a method of the user; its errors get a note with the learner, the method and the round."""
        try:
            return getattr(self, role)(memory, *given)
        except LearnerError:
            raise
        except Exception as error:
            error.add_note(error_note(self, role, t, error))
            raise


def _live(state: State) -> LiveMemory:
    if state.live is None:
        state.live = LiveMemory(state.learner, state.memory)
    live: LiveMemory = state.live
    return live
