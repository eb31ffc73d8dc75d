"""Checks of the arrays of a stack of mixtures, which may come from a file."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from driftwise.core.errors import InvalidInput
from driftwise.core.memory_fields import MOST_ROUNDS, broken_shape
from driftwise.core.random import new_generator
from driftwise.forecasting.mixture_inputs import LARGEST_FLOAT, LIMIT, Own
from driftwise.forecasting.mixture_kernels import N_COUNTS, ROUNDS
from driftwise.forecasting.real_values import LARGEST
from driftwise.learners.contract import ExpertLearner
from driftwise.learners.parts.stacked_memory import row

__all__ = ["checked_memories", "checked_owns"]

_ROUNDING = 1e-6  # of a sum of weights
Arrays = Mapping[str, np.ndarray[Any, Any]]


def checked_owns(arrays: Arrays, prefix: str, n_actions: int, known_scale: bool) -> Own:
    """Return copies of the arrays of the mixtures beside the memories of the learner."""
    widths = {"plain": n_actions, "cut": 1, "truth": 1, "errors": 3, "counts": N_COUNTS}
    scale = arrays.get(f"{prefix}scale")
    n_series = 0 if scale is None or scale.ndim == 0 else len(scale)
    found = []
    for name in Own._fields:
        array, kind = arrays.get(prefix + name), np.int64 if name == "counts" else np.float64
        if array is None or array.dtype != kind or array.shape != (n_series, widths.get(name, 2)):
            raise InvalidInput(f"Mixture: the array `{prefix}{name}` is missing or has another shape or type.")
        fine = np.isfinite(array) & (array >= 0) if name != "truth" else ~(np.abs(array) > LARGEST)
        if not fine.all():
            raise InvalidInput(f"Mixture: the array `{prefix}{name}` has numbers outside their range.")
        found.append(np.array(array, order="C"))
    own = Own(*found)
    for name in ("scale", "step", "error"):
        largest, limit = getattr(own, name).T
        known = name == "scale" and known_scale  # then there is no limit
        if not known and ((largest > limit / LIMIT * (1 + _ROUNDING)) & (limit < LARGEST_FLOAT)).any():
            raise InvalidInput(
                f"Mixture: the array `{prefix}{name}` has a limit below {LIMIT:g} times the largest value."
            )
    if (np.abs(own.plain.sum(axis=1) - 1) > _ROUNDING).any():
        raise InvalidInput(f"Mixture: the array `{prefix}plain` must have rows with sum 1.")
    if (own.counts > MOST_ROUNDS).any() or (own.errors[:, 1] > own.counts[:, ROUNDS]).any():
        raise InvalidInput(f"Mixture: the array `{prefix}counts` has numbers outside their range.")
    return own


def checked_memories(learner: ExpertLearner, arrays: Arrays, prefix: str, n_actions: int, rounds: Any) -> Any:
    """Return copies of the stacked memories of a learner after so many rounds of each series."""
    kind: Any = learner.memory_type
    first = learner.first_memory(n_actions, new_generator(0))
    found = {}
    for name, pattern in first._asdict().items():
        array = arrays.get(prefix + name)
        usual = array is not None and array.dtype == pattern.dtype and array.ndim == pattern.ndim + 1
        if array is None or not usual or len(array) != len(rounds):
            raise InvalidInput(f"Mixture: the array `{prefix}{name}` is missing or has another shape or type.")
        found[name] = np.array(array, order="C")
    stack = kind(**found)
    for i, played in enumerate(rounds.tolist()):
        memory = row(stack, i)
        shapes = {name: array.shape for name, array in memory._asdict().items()}
        fault = broken_shape(kind, shapes, learner.all_limits(n_actions, played))
        if fault := fault or learner.memory_fault(memory, n_actions, played):
            raise InvalidInput(f"Mixture: {learner.name} of series {i} after {played} rounds: {fault}.")
    return stack
