"""Reads what `Session.update` is given: losses or rewards, by position or by name."""

from __future__ import annotations

from typing import Any

import numpy as np

from driftwise.core.errors import InvalidInput, rejection
from driftwise.core.types import Vector
from driftwise.core.validation import as_losses, as_real, first_bad_loss
from driftwise.learners import Learner

__all__ = ["NOT_GIVEN", "read_feedback"]

_FORMS = {
    "full": "`update(losses)` or `update(reward=rewards)`",
    "bandit": "`update(action, probability, loss=loss)` or `update(action, probability, reward=reward)`",
}


class _NotGiven:
    """The default of an argument for which None is a value, and a wrong one."""

    def __repr__(self) -> str:
        return "<not given>"


NOT_GIVEN = _NotGiven()


def read_feedback(
    learner: Learner, n_actions: int, feedback: tuple[Any, ...], losses: Any, loss: Any, reward: Any
) -> tuple[Any, ...]:
    """Return the arguments of the learner's `update`; raise `InvalidInput` if the call has none of its forms."""
    if learner.feedback == "bandit":
        if len(feedback) == 2 and losses is NOT_GIVEN and (loss is NOT_GIVEN) is not (reward is NOT_GIVEN):
            action, probability = feedback
            return action, _loss(learner, reward) if loss is NOT_GIVEN else loss, probability
    elif not feedback and loss is NOT_GIVEN and (losses is NOT_GIVEN) is not (reward is NOT_GIVEN):
        for name, value in (("losses", losses), ("reward", reward)):
            if value is None:  # to NumPy it is an array without a shape
                raise rejection(learner, name, "numbers in [0, 1], one per action", None)
        return (_losses(learner, n_actions, reward) if losses is NOT_GIVEN else losses,)
    named = {"losses": losses, "loss": loss, "reward": reward}
    got = [f"{len(feedback)} argument{'s' if len(feedback) != 1 else ''} without a name"] if feedback else []
    got += [f"`{name}`" for name, value in named.items() if value is not NOT_GIVEN]
    raise InvalidInput(
        f"Session: {learner.name} has {learner.feedback} feedback; call {_FORMS[learner.feedback]},"
        f" got {', '.join(got) or 'no argument'}."
    )


def _loss(learner: Learner, reward: Any) -> float:
    """Return 1 less a reward, or raise `InvalidInput`."""
    number = float(reward) if isinstance(reward, (bool, np.bool_)) else as_real(reward)
    if number is None or not 0 <= number <= 1:
        raise rejection(learner, "reward", "a number in [0, 1]", reward)
    return 1.0 - number


def _losses(learner: Learner, n_actions: int, rewards: Any) -> Vector:
    """Return 1 less the reward of each action, or raise `InvalidInput`."""
    values: Vector = as_losses(learner, rewards, (n_actions,), "reward")
    if (bad := first_bad_loss(values)) >= 0:
        raise rejection(learner, "reward", "in [0, 1]", float(values[bad]), f"It is that of action {bad}.")
    return 1.0 - values
