"""Checks of a memory that was read from a file; kernels rely on them."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Generic, cast, get_type_hints

from driftwise.core.errors import InvalidInput
from driftwise.core.memory_fields import broken_rule, broken_shape
from driftwise.learners.contract.type_variables import M

__all__ = ["MemoryChecks", "returned_type"]


def returned_type(owner: type, method: str) -> Any:
    """Return the NamedTuple that a method of a class returns, by its annotation."""
    for kind in owner.__mro__:
        hint = get_type_hints(vars(kind)[method]).get("return") if method in vars(kind) else None
        if isinstance(hint, type) and hasattr(hint, "_fields"):
            return hint
    example = "Memory" if method == "first_memory" else "Rates"
    raise InvalidInput(f"{owner.__name__}: `{method}` must name the NamedTuple that it returns, `-> {example}`.")


class MemoryChecks(Generic[M]):
    """The part of a learner that checks memories; most rules are declared by their fields (`core.memory_fields`)."""

    @property
    def memory_type(self) -> type[M]:
        """The NamedTuple that `first_memory` returns, by its annotation."""
        return cast("type[M]", returned_type(type(self), "first_memory"))

    def memory_limits(self, n_actions: int, rounds: int) -> dict[str, float]:
        """Return the numbers that the declarations of the memory name, beside `actions` and `rounds`.

        This runs before the arrays of a file are checked, so it must not allocate anything large.
        """
        return {}

    def memory_contradiction(self, memory: M, rounds: int) -> str:
        """Return a broken rule about several fields of the memory, '' if there is none."""
        return ""

    def shape_fault(self, shapes: Mapping[str, tuple[int, ...]], n_actions: int, rounds: int) -> str:
        """Return the fault of the shapes of a memory, '' if there is none; nothing large is allocated before."""
        return broken_shape(self.memory_type, shapes, self.all_limits(n_actions, rounds))

    def memory_fault(self, memory: M, n_actions: int, rounds: int) -> str:
        """Return the fault of a memory as one of this learner after `rounds`, '' if there is none."""
        limits = self.all_limits(n_actions, rounds)
        shapes = {name: array.shape for name, array in memory._asdict().items()}
        return (
            self.shape_fault(shapes, n_actions, rounds)
            or broken_rule(memory, limits)
            or self.memory_contradiction(memory, rounds)
        )

    def all_limits(self, n_actions: int, rounds: int) -> dict[str, float]:
        """Return every number that the declarations of the memory may name."""
        return {"actions": n_actions, "rounds": rounds, **self.memory_limits(n_actions, rounds)}
