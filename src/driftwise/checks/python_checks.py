"""Checks of learners in plain Python, which can keep a state that is not in their memory."""

from __future__ import annotations

import functools
import random
import sys
from typing import Any

import numpy as np

from driftwise.checks.check import Check, check, expect
from driftwise.checks.plays import mixed_losses
from driftwise.learners import PythonLearner

__all__ = ["CHECKS"]

CHECKS: list[Check] = []
_ROUNDS = 60


@check(CHECKS)
def the_learner_has_no_state_of_its_own(learner: PythonLearner) -> None:
    """Playing changes no attribute of the learner or of its classes: all that changes is in the memory."""
    kinds = [kind for kind in type(learner).__mro__ if kind not in PythonLearner.__mro__]
    parts = [("the learner", learner), *((f"the class {kind.__name__}", kind) for kind in kinds)]
    before = [_attributes(part) for _, part in parts]
    learner.run(learner.start(3, seed=1), mixed_losses(_ROUNDS, 3))
    for (what, part), known in zip(parts, before, strict=True):
        changed = [name for name, text in _attributes(part).items() if known.get(name) != text]
        expect(not changed, f"playing changes `{', '.join(changed)}` of {what}; keep it in the memory")


@check(CHECKS)
def global_random_numbers_are_not_used(learner: PythonLearner) -> None:
    """Playing draws from neither `numpy.random` nor `random`: all draws come from `memory.generator`."""
    before = repr(np.random.get_state()), random.getstate()  # noqa: NPY002
    learner.run(learner.start(3, seed=1), mixed_losses(_ROUNDS, 3))
    expect(repr(np.random.get_state()) == before[0], "it draws from `numpy.random`; use `memory.generator`")  # noqa: NPY002
    expect(random.getstate() == before[1], "it draws from `random`; use `memory.generator`")


def _attributes(part: Any) -> dict[str, str]:
    """Return the attributes as texts with all digits, without methods and what Python itself keeps."""
    found = {}
    with np.printoptions(threshold=sys.maxsize, precision=17):
        for name, value in vars(part).items():
            cached = isinstance(getattr(type(part), name, None), functools.cached_property)
            if not (name.startswith("__") or callable(value) or cached):
                found[name] = repr(value)
    return found
