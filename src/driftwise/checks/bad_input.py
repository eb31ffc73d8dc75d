"""Invalid input, which must raise `InvalidInput` and change nothing."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

from driftwise.checks.check import Counterexample
from driftwise.checks.plays import expect_same
from driftwise.core.errors import InvalidInput
from driftwise.learners import State

__all__ = ["BAD_NUMBERS", "expect_rejected"]

BAD_NUMBERS = (math.nan, math.inf, -math.inf, 1.0 + 2**-52, 1.2, -0.1, -(2.0**-1074))  # two are next to 1 and 0


def expect_rejected(what: str, state: State, call: Callable[..., object], *given: Any) -> None:
    """Expect ``call(state, *given)`` to raise `InvalidInput` and to leave the state unchanged."""
    before = state.copy()
    memory = state.memory
    try:
        call(state, *given)
    except InvalidInput:
        pass
    except Exception as error:
        raise Counterexample(f"{what} raised {type(error).__name__} instead of InvalidInput: {error}") from None
    else:
        raise Counterexample(f"{what} was accepted")
    expect_same(state, before, f"before and after {what}")
    if state.memory is not memory:
        raise Counterexample(f"{what} gave the state a new memory")
