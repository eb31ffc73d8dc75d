"""What a check is: a sentence that is true of every member, and a search for a counterexample."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from driftwise.core.errors import DriftwiseError

__all__ = ["Check", "CheckFailed", "Counterexample", "check", "expect", "expect_equal"]


class CheckFailed(DriftwiseError, AssertionError):
    """A member breaks a check."""


class Counterexample(Exception):
    """What a check saw that must not be."""


@dataclass(frozen=True)
class Check:
    """A sentence with a search; call it with a member."""

    search: Callable[..., None]

    @property
    def name(self) -> str:
        """The sentence."""
        return self.search.__name__

    def __call__(self, member: object, **options: int) -> None:
        """Raise `CheckFailed` if the search finds a counterexample; an error on the way is one too."""
        try:
            self.search(member, **options)
        except Counterexample as seen:
            raise CheckFailed(f"{member} breaks `{self.name}`: {seen}.") from None
        except Exception as error:
            raise CheckFailed(f"{member} breaks `{self.name}`: it raised {type(error).__name__}: {error}") from error

    def __repr__(self) -> str:
        return self.name


def check(book: list[Check]) -> Callable[[Callable[..., None]], Check]:
    """Enter a search into a book of checks under the name it has."""

    def enter(search: Callable[..., None]) -> Check:
        book.append(Check(search))
        return book[-1]

    return enter


def expect(holds: bool | np.bool_, seen: str) -> None:
    """Report what was seen unless it is as it should be."""
    if not holds:
        raise Counterexample(seen)


def expect_equal(what: str, one: npt.NDArray[Any], other: npt.NDArray[Any]) -> None:
    """Expect two arrays to agree bit for bit."""
    if (one.shape, one.dtype) != (other.shape, other.dtype):
        raise Counterexample(f"{what} has shape {one.shape} of {one.dtype} and {other.shape} of {other.dtype}")
    if one.tobytes() != other.tobytes():
        first = next(i for i in np.ndindex(one.shape) if one[i].tobytes() != other[i].tobytes())
        where = ", ".join(str(n) for n in first)
        raise Counterexample(f"{what} differs first at [{where}]: {one[first]} and {other[first]}")
