"""Declarations of the arrays of a memory: shape and valid values, checked when a file is loaded.

A memory is a NamedTuple of arrays; each field is annotated with its shape and the rule for its values:

    class Memory(NamedTuple):
        weights: Annotated[Vector, distribution("actions")]
        totals: Annotated[Vector, between(0, "rounds", "actions")]

Strings stand for numbers that are known when a memory is checked: `actions`, `rounds`, and those that the learner adds
in `memory_limits`. A size that is not known may be any number, the same in all fields.

>>> from typing import Annotated, NamedTuple
>>> Memory = NamedTuple("Memory", [("totals", Annotated[Array, between(0, "rounds", "actions")])])
>>> broken_rule(Memory(np.array([0.0, 9.0])), {"actions": 2, "rounds": 7})
'`totals` must be in [0, 7]'
"""

from __future__ import annotations

import dataclasses
import functools
from collections.abc import Callable, Mapping
from typing import Annotated, Any, NamedTuple, get_type_hints

import numpy as np
import numpy.typing as npt

MOST_ROUNDS = 2**48  # a year of one round per microsecond is 2^45 rounds; all counters and tables hold this many
HUGE = 1e300  # sums of numbers up to this size do not overflow
_CLOSE = 1e-9  # relative rounding error of a sum of weights or of a bound

Array = npt.NDArray[Any]
Limits = Mapping[str, float]
Bound = float | str


@dataclasses.dataclass(frozen=True)
class Field:
    """The shape of an array and the rule for its values."""

    shape: tuple[int | str, ...]
    rule: Callable[..., str]  # as a text, from the values of the bounds
    holds: Callable[..., bool | np.bool_]  # for an array, from it and the values of the bounds
    bounds: tuple[Bound, ...] = dataclasses.field(default=(), repr=False)
    uniform: bool = dataclasses.field(default=False, repr=False)  # whether it begins uniform, with sum 1, not with 0

    def fault(self, array: Array, limits: Limits) -> str:
        """Return the rule that an array breaks, '' if it breaks none."""
        values = [limits[bound] if isinstance(bound, str) else bound for bound in self.bounds]
        return "" if self.holds(array, *values) else self.rule(*values)


def between(low: Bound, high: Bound, *shape: int | str) -> Field:
    """Declare numbers in [low, high], up to rounding; NaN is rejected."""
    return Field(shape, lambda low, high: f"in [{low:.12g}, {high:.12g}]", within, (low, high))


def exactly(value: Bound, *shape: int | str) -> Field:
    """Declare numbers that all equal `value`."""
    return Field(shape, lambda value: f"{value:.12g}", lambda array, value: (array == value).all(), (value,))


def distribution(*shape: int | str) -> Field:
    """Declare weights: not negative, each row with sum 1."""
    return Field(shape, lambda: "a distribution", lambda array: _is_distribution(array), uniform=True)


def chances(*shape: int | str) -> Field:
    """Declare probabilities to draw from: a distribution, with no number above 1 by rounding."""
    rule = "a distribution, with no number above 1"
    return Field(shape, lambda: rule, lambda array: _is_distribution(array) and (array <= 1.0).all(), uniform=True)


def index(size: str, *shape: int | str, none: bool = False) -> Field:
    """Declare indices into an array of `size`; with `none`, -1 stands for no index."""
    low = -1 if none else 0

    def rule(size: float) -> str:
        return f"a whole number in [{low}, {int(size) - 1}]"

    return Field(shape, rule, lambda array, size: ((array >= low) & (array < size)).all(), (size,))


def generator() -> Field:
    """Declare the words of a random number generator, which must not all be zero."""
    return Field((4,), lambda: "words that are not all zero", np.any)


def scratch(*shape: int | str) -> Field:
    """Declare temporary space, which is written before it is read."""
    return Field(shape, lambda: "any numbers", lambda _: True)


def packed(*shape: int | str) -> Field:
    """Declare numbers whose rule needs other fields, or belongs to a part such as a learner in a learner.

    The learner that owns the memory checks them in `memory_contradiction`.
    """
    return scratch(*shape)


def memory_type(name: str, module: str, qualname: str, fields: Mapping[str, Field | None]) -> type[NamedTuple]:
    """Return a new NamedTuple for a memory with these declarations.

    Pickles and the cache of compiled kernels find it as `module.qualname`, which its owner must provide.
    """
    kind: Any = NamedTuple(name, [(field, Annotated[Any, of]) for field, of in fields.items()])  # type: ignore[misc]
    kind.__module__, kind.__qualname__, kind.__doc__ = module, qualname, "State of the learner between rounds."
    return kind


def _is_distribution(array: Array) -> bool:
    """Return whether every row has no negative number and sum 1."""
    with np.errstate(invalid="ignore", over="ignore"):
        return bool((array >= 0).all() and (np.abs(array.sum(axis=-1) - 1.0) <= _CLOSE).all())


def within(array: Array, low: Any, high: Any) -> bool:
    """Return whether all numbers are in [low, high], up to rounding if they are floats."""
    if array.dtype.kind != "f":
        return bool(((array >= low) & (array <= high)).all())
    with np.errstate(invalid="ignore"):
        room = _CLOSE * (1.0 + np.abs(array))
        return bool((np.isfinite(array) & (array >= low - room) & (array <= high + room)).all())


@functools.cache
def fields_of(kind: Any) -> dict[str, Field | None]:
    """Return the declarations of a memory's fields, None where there is none."""
    hints = get_type_hints(kind, include_extras=True)
    metadata = {name: getattr(hints.get(name), "__metadata__", ()) for name in kind._fields}
    return {name: next((note for note in notes if isinstance(note, Field)), None) for name, notes in metadata.items()}


def broken_shape(kind: Any, shapes: Mapping[str, tuple[int, ...]], limits: Limits) -> str:
    """Return the first rule about shapes that the arrays break, '' if they break none."""
    sizes = dict(limits)
    for name, field in fields_of(kind).items():
        if field is None:
            return f"`{name}` must declare its shape and values"
        shape = shapes[name]
        if len(shape) == len(field.shape):
            for word, size in zip(field.shape, shape, strict=True):
                sizes.setdefault(str(word), size if isinstance(word, str) else word)
        wanted = tuple(int(sizes.get(str(word), -1)) for word in field.shape)
        if shape != wanted:
            return f"`{name}` must have the shape {wanted}, got {shape}"
    return ""


def broken_rule(memory: Any, limits: Limits) -> str:
    """Return the first rule about values that a memory breaks, '' if it breaks none."""
    kind: Any = type(memory)
    for (name, field), array in zip(fields_of(kind).items(), memory, strict=True):
        if field and (rule := field.fault(array, limits)):  # a field without a declaration has a fault of its shape
            return f"`{name}` must be {rule}"
    return ""
