"""Type variables of a learner: the NamedTuple of its memory and the NamedTuple of its rates."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, NamedTuple

if TYPE_CHECKING:
    from typing_extensions import TypeVar  # with defaults: a bare `Learner` has any memory and any rates

    M = TypeVar("M", bound=NamedTuple, default=Any)
    R = TypeVar("R", bound=NamedTuple, default=Any)
else:
    from typing import TypeVar

    M = TypeVar("M")
    R = TypeVar("R")

__all__ = ["M", "R"]
