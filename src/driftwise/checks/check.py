"""Checks: functions named by a sentence that is true of every member, which search for a counterexample."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from driftwise.core.errors import DriftwiseError

__all__ = ["Check", "CheckFailed", "Counterexample", "check", "expect", "expect_equal"]


class CheckFailed(DriftwiseError, AssertionError):
    """A member fails a check."""


class Counterexample(Exception):
    """An observation that contradicts a check."""


@dataclass(frozen=True)
class Check:
    """A check; call it with a member."""

    search: Callable[..., None]

    @property
    def name(self) -> str:
        """The name of the check, a sentence."""
        return self.search.__name__

    def __call__(self, member: object, **options: int) -> None:
        """Raise `CheckFailed` if the search finds a counterexample or raises an error."""
        try:
            self.search(member, **options)
        except Counterexample as seen:
            raise CheckFailed(f"{member} fails `{self.name}`: {seen}.") from None
        except Exception as error:
            raise CheckFailed(f"{member} fails `{self.name}`: it raised {type(error).__name__}: {error}") from error

    def __repr__(self) -> str:
        return self.name


def check(checks: list[Check]) -> Callable[[Callable[..., None]], Check]:
    """Add a function to a list of checks, under its own name."""

    def add(search: Callable[..., None]) -> Check:
        checks.append(Check(search))
        return checks[-1]

    return add


def expect(holds: bool | np.bool_, seen: str) -> None:
    """Raise `Counterexample` with the text `seen` unless `holds`."""
    if not holds:
        raise Counterexample(seen)


def expect_equal(what: str, one: npt.NDArray[Any], other: npt.NDArray[Any]) -> None:
    """Expect two arrays to be equal bit for bit."""
    if (one.shape, one.dtype) != (other.shape, other.dtype):
        raise Counterexample(f"{what}: shape {one.shape} of {one.dtype}, and {other.shape} of {other.dtype}")
    if one.tobytes() != other.tobytes():
        first = next(i for i in np.ndindex(one.shape) if one[i].tobytes() != other[i].tobytes())
        where = ", ".join(str(n) for n in first)
        raise Counterexample(f"{what}: first difference at [{where}], {one[first]} and {other[first]}")
