"""The memory of a learner in plain Python: named arrays, and the object through which its methods see them.

The state holds the arrays as a NamedTuple, as for every learner, so that it can be copied, compared and saved. Random
numbers come from a NumPy generator whose words are one of the arrays: it is loaded from them before a method draws, and
stored after.
"""

from __future__ import annotations

import difflib
import functools
import keyword
from collections.abc import Mapping
from typing import Any

import numpy as np
import numpy.typing as npt

from driftwise.core.errors import LearnerError, shown
from driftwise.core.memory_fields import memory_type, packed
from driftwise.core.types import Words

__all__ = ["GENERATOR", "LiveMemory", "PythonMemory", "first_arrays"]

Array = npt.NDArray[Any]
GENERATOR = "generator"  # the name of the field that a learner with random draws keeps
_KINDS = "biuf"  # of NumPy's types: truth values, whole numbers, real numbers
_RULE = "a dictionary of NumPy arrays and numbers, and `generator` if it draws"


class PythonMemory:
    """What a method of a learner in plain Python gets: the arrays as attributes, `memory.plays`.

    Assigning to an attribute writes into its array, whose shape and type of numbers stay. `predict` and `choose` get
    the arrays read-only.
    """

    def __init__(self, owner: object, arrays: Mapping[str, Array], writer: str) -> None:
        attributes = vars(self)
        attributes.update(_owner=type(owner).__name__, _arrays=arrays, _writer=writer)
        attributes.update({name: array for name, array in arrays.items() if array.ndim})  # found without `__getattr__`

    def __getattr__(self, name: str) -> Any:
        array = vars(self).get("_arrays", {}).get(name)
        if array is not None:
            return array[()]  # a number
        if name.startswith("__"):
            raise AttributeError(name)
        if name == GENERATOR:
            advice = "keep it in `first_memory`: return {..., 'generator': generator}; `predict` must not draw"
            raise AttributeError(f"{self._owner}: the memory has no generator here; {advice}.")
        raise AttributeError(f"{self._owner}: {_no_such_field(name, self._arrays)}")

    def __setattr__(self, name: str, value: Any) -> None:
        array = self._arrays.get(name)
        if array is None:
            raise LearnerError(f"{self._owner}: {_no_such_field(name, self._arrays)}")
        if value is array:  # after an operation in place, `memory.plays += 1`
            return
        if self._writer != "update":
            raise LearnerError(
                f"{self._owner}: `{self._writer}` must not change `memory.{name}`; change it in `update`."
            )
        given = np.asarray(value)
        if given.shape != array.shape or not np.can_cast(given.dtype, array.dtype, "same_kind"):
            rule = f"must keep its shape {array.shape} and its type {array.dtype}"
            raise LearnerError(f"{self._owner}: `memory.{name}` {rule}, got {given.dtype} of shape {given.shape}.")
        array[...] = given

    def __delattr__(self, name: str) -> None:
        raise LearnerError(f"{self._owner}: `memory.{name}` must not be deleted.")

    def __dir__(self) -> list[str]:
        return sorted([*self._arrays, *([GENERATOR] if GENERATOR in vars(self) else [])])

    def __repr__(self) -> str:
        return f"memory({', '.join(f'{name}={array!r}' for name, array in self._arrays.items())})"


class LiveMemory:
    """The arrays of one state as the methods see them, and the generator."""

    def __init__(self, owner: Any, memory: Any) -> None:
        arrays: dict[str, Array] = memory._asdict()
        self._words: Words | None = arrays.pop(GENERATOR, None)
        self._arrays = list(arrays.values())
        played = "choose" if owner.feedback == "bandit" else "predict"
        self.reading = PythonMemory(owner, {name: _read_only(array) for name, array in arrays.items()}, played)
        self.writing = PythonMemory(owner, {name: array.view() for name, array in arrays.items()}, "update")
        if self._words is not None:
            self._bits = np.random.SFC64(0)
            generator = np.random.Generator(self._bits)
            vars(self.writing)[GENERATOR] = generator
            if owner.feedback == "bandit":  # `predict` must not change the state, so it cannot draw
                vars(self.reading)[GENERATOR] = generator

    def load(self) -> None:
        """Set the generator to the words in the memory."""
        if self._words is not None:
            *state, has_half, half = self._words
            self._bits.state = {
                "bit_generator": "SFC64",
                "state": {"state": np.array(state)},
                "has_uint32": int(has_half),
                "uinteger": int(half),
            }

    def store(self) -> None:
        """Write the words of the generator into the memory."""
        if self._words is not None:
            self._words[:] = _words(self._bits)

    def snapshot(self) -> list[Array]:
        """Return a copy of the arrays, without the words of the generator, which change only in `store`."""
        return [array.copy() for array in self._arrays]

    def restore(self, copies: list[Array]) -> None:
        """Write a copy of the arrays back into the memory."""
        for array, copy in zip(self._arrays, copies, strict=True):
            array[...] = copy


def first_arrays(owner: Any, n_actions: int, seed: int) -> Any:
    """Return what `first_memory` of a learner makes, as a NamedTuple of arrays that nothing else refers to."""
    generator = np.random.Generator(np.random.SFC64(seed))
    made: Any = owner.first_memory(n_actions, generator)
    if not isinstance(made, Mapping) or not made:
        raise LearnerError(f"{type(owner).__name__}: `first_memory` must return {_RULE}, got {shown(made)}.")
    arrays = {name: _as_array(owner, name, value, generator) for name, value in made.items()}
    return _memory_type(tuple(arrays))(*arrays.values())


def _as_array(owner: Any, name: Any, value: Any, generator: np.random.Generator) -> Array:
    who = type(owner).__name__
    if not isinstance(name, str) or not name.isidentifier() or keyword.iskeyword(name) or name.startswith("_"):
        rule = "letters, digits and underscores, starting with a letter"
        raise LearnerError(f"{who}: a name in the memory must be {rule}, got {shown(name)}.")
    if name == GENERATOR:
        if value is not generator:
            raise LearnerError(f"{who}: `generator` in the memory must be the one given to `first_memory`.")
        return _words(generator.bit_generator)
    is_number = isinstance(value, (bool, int, float, np.generic))
    if not (is_number or isinstance(value, np.ndarray)) or np.asarray(value).dtype.kind not in _KINDS:
        got = f"an array of {value.dtype}" if isinstance(value, np.ndarray) else shown(value)
        raise LearnerError(f"{who}: `{name}` in the memory must be a NumPy array of numbers or a number, got {got}.")
    return np.array(value, order="C")


def _words(bits: Any) -> Words:
    state = bits.state
    return np.array([*state["state"]["state"], state["has_uint32"], state["uinteger"]], np.uint64)


def _read_only(array: Array) -> Array:
    view = array.view()
    view.flags.writeable = False
    return view


def _no_such_field(name: str, known: Mapping[str, Array]) -> str:
    near = difflib.get_close_matches(name, known, n=1)
    advice = f"Did you mean `{near[0]}`?" if near else f"Its fields are {', '.join(known)}; `first_memory` makes them."
    return f"the memory has no field `{name}`. {advice}"


@functools.cache
def _memory_type(fields: tuple[str, ...]) -> Any:
    """Return the NamedTuple with these fields; pickles find it by its name in this module."""
    return memory_type("Memory", __name__, _PREFIX + ",".join(fields), dict.fromkeys(fields, packed()))


_PREFIX = "memory:"


def __getattr__(name: str) -> Any:
    if not name.startswith(_PREFIX):
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return _memory_type(tuple(name.removeprefix(_PREFIX).split(",")))
