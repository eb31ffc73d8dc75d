"""Checks of what the methods of a learner in plain Python return, and of how they are declared."""

from __future__ import annotations

import inspect
import operator
from typing import Any

import numpy as np

from driftwise.core.errors import InvalidInput, LearnerError, shown
from driftwise.core.types import Vector
from driftwise.core.validation import as_real

__all__ = ["check_methods", "check_nothing", "checked_choice", "checked_weights", "error_note"]

_ARGUMENTS = {
    ("full", "predict"): ("memory",),
    ("full", "update"): ("memory", "losses"),
    ("bandit", "choose"): ("memory",),
    ("bandit", "update"): ("memory", "action", "loss", "probability"),
}
_FIRST_MEMORY = ("n_actions", "generator")
_CLOSE = 1e-9  # relative rounding error of a sum of weights
_FEW = 32  # weights: a list is faster than an array up to here


def check_methods(member: Any) -> str:
    """Check which methods a class defines and what they take; return its feedback."""
    who = member.__name__
    plays = [name for name in ("predict", "choose") if hasattr(member, name)]
    if len(plays) != 1:
        rule = "must define `predict` (full feedback) or `choose` (bandit feedback)"
        raise InvalidInput(f"{who}: it {rule}, got {'both' if plays else 'neither'}.")
    feedback = "full" if plays == ["predict"] else "bandit"
    _check_arguments(member, "first_memory", _FIRST_MEMORY)
    for name in (*plays, "update"):
        _check_arguments(member, name, _ARGUMENTS[feedback, name])
    return feedback


def _check_arguments(member: Any, name: str, wanted: tuple[str, ...]) -> None:
    call = f"{name}(self, {', '.join(wanted)})"
    written: Any = inspect.unwrap(getattr(member, name, None) or _none)
    if written is _none or getattr(written, "__isabstractmethod__", False):
        raise InvalidInput(f"{member.__name__}: it must define `{call}`.")
    if not inspect.isfunction(written):
        raise InvalidInput(f"{member.__name__}: `{name}` must be a method, got {shown(written)}.")
    try:
        inspect.signature(written).bind(None, *wanted)
    except TypeError:
        raise InvalidInput(
            f"{member.__name__}: it must define `{call}`, got {name}{inspect.signature(written)}."
        ) from None


def _none() -> None:
    """Stand for a method that is missing."""


def checked_weights(owner: object, value: Any, n_actions: int) -> Vector:
    """Return what `predict` returned as new weights, or raise `LearnerError`."""
    who = type(owner).__name__
    try:
        weights = np.array(value)
    except ValueError:  # rows of unequal length
        weights = np.empty(0, object)
    if weights.dtype.kind not in "fiub":
        raise LearnerError(f"{who}: `predict` must return an array of {n_actions} weights, got {shown(value)}.")
    if weights.shape != (n_actions,):
        raise LearnerError(f"{who}: `predict` must return weights of shape ({n_actions},), got shape {weights.shape}.")
    weights = weights.astype(np.float64, copy=False)
    numbers: Any = weights.tolist() if n_actions <= _FEW else weights
    # The sum comes first: with NaN or infinity it is not close to 1.
    if not (abs(sum(numbers) - 1.0) <= _CLOSE and min(numbers) >= 0.0):
        raise LearnerError(
            f"{who}: the weights that `predict` returns must be >= 0 and sum to 1, got {shown(weights.tolist())}."
        )
    return weights


def checked_choice(owner: object, value: Any, n_actions: int) -> tuple[int, float | None]:
    """Return what `choose` returned as an action and a probability, or raise `LearnerError`."""
    action, probability = value if type(value) is tuple and len(value) == 2 else (value, None)
    who = type(owner).__name__
    try:
        number = operator.index(action)
        known = not isinstance(action, (bool, np.bool_)) and 0 <= number < n_actions
    except TypeError:
        known = False
    if not known:
        rule = f"an action, a whole number in [0, {n_actions - 1}], or (action, probability)"
        got = value.item() if isinstance(value, np.generic) else value  # 3, not np.int64(3)
        raise LearnerError(f"{who}: `choose` must return {rule}, got {shown(got)}.")
    if probability is None:
        return number, None
    chance = as_real(probability)
    if chance is None or not 0.0 < chance <= 1.0:
        raise LearnerError(
            f"{who}: the probability that `choose` returns must be in (0, 1] or None, got {shown(probability)}."
        )
    return number, chance


def check_nothing(owner: object, value: Any) -> None:
    """Reject a value that `update` returned."""
    if value is not None:
        raise LearnerError(
            f"{type(owner).__name__}: `update` must return nothing; write into the memory instead, got {shown(value)}."
        )


def error_note(owner: object, role: str, t: int, error: Exception) -> str:
    """Return which method of which learner raised an error, and in which round."""
    about = f"Raised in `{role}` of {type(owner).__name__}, in round {t}, counted from 0."
    if isinstance(error, ValueError) and "read-only" in str(error) and role != "update":
        about += f" `{role}` must not change the memory; change it in `update`."
    return f"{about} The state was not changed."
