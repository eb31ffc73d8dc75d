"""Checks of learners in plain Python, which can keep a state that is not in their memory."""

from __future__ import annotations

import copy
import functools
import random
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
    """Playing changes no attribute of the learner or of its class: all that changes is in the memory."""
    kind = type(learner)
    for what, part in (("the learner", learner), ("its class", kind)):
        before = _attributes(part)
        learner.run(learner.start(3, seed=1), mixed_losses(_ROUNDS, 3))
        after = _attributes(part)
        known = {name: repr(value) for name, value in before.items()}
        changed = [name for name, value in after.items() if known.get(name) != repr(value)]
        expect(not changed, f"playing changes `{', '.join(changed)}` of {what}; keep it in the memory")


@check(CHECKS)
def global_random_numbers_are_not_used(learner: PythonLearner) -> None:
    """Playing draws from neither `numpy.random` nor `random`: all draws come from `memory.generator`."""
    before = repr(np.random.get_state()), random.getstate()  # noqa: NPY002
    learner.run(learner.start(3, seed=1), mixed_losses(_ROUNDS, 3))
    expect(repr(np.random.get_state()) == before[0], "it draws from `numpy.random`; use `memory.generator`")  # noqa: NPY002
    expect(random.getstate() == before[1], "it draws from `random`; use `memory.generator`")


def _attributes(part: Any) -> dict[str, Any]:
    """Return copies of the attributes that can be copied, without methods and what Python itself keeps."""
    found = {}
    for name, value in vars(part).items():
        cached = isinstance(getattr(type(part), name, None), functools.cached_property)
        if name.startswith("__") or callable(value) or cached:
            continue
        try:
            found[name] = copy.deepcopy(value)
        except Exception:  # whatever a value of the user raises
            found[name] = value
    return found
