"""Errors of one sentence for kernels that cannot be compiled; Numba's error is kept as the `__context__`.

The rules are those of `docs/adding-a-learner.md`. Faults that can be found without Numba's text are searched for first.
"""

# mypy: allow-untyped-calls
from __future__ import annotations

import difflib
import inspect
import re
from pathlib import Path
from typing import Any, NamedTuple, NoReturn

import numba
from numba import types

from driftwise.core.errors import KernelError
from driftwise.learners.base.learner import Learner
from driftwise.learners.base.loops import Kernel, Kernels

CompilerError = numba.NumbaError

_ARGUMENTS = {
    ("full", "update"): ("memory", "rates", "losses"),
    ("full", "hint"): ("memory", "rates", "guess"),
    ("bandit", "choose"): ("memory", "rates"),
    ("bandit", "update"): ("memory", "rates", "action", "loss", "probability"),
}
_NUMBA = str(Path(numba.__file__).parent)
_COLOUR = re.compile(r"\x1b\[[0-9;]*m")
_CALLEE = re.compile(r"CPUDispatcher\(<function (\S+?)(?:\.[0-9a-f]{12})? at ")  # the innermost comes first
_PLACE = re.compile(r" at (\S+\.py) \((\d+)\)")
_UNKNOWN_FIELD = re.compile(r"Unknown attribute '(\w+)' of type ([^\n]+)")
_TWO_TYPES = re.compile(r"Cannot unify (.+) and (.+) for '(\w+)[^']*'")
_RETURNED_ARRAY = re.compile(r"Only accept returning of array.*\n\s*During: Pass .*\n\s*During: .*CPUDispatcher")
_MADE_ARRAY = ("NRT required but not enabled", "Only accept returning of array passed into the function as argument")
_EMPTY = ("Failed in nopython mode pipeline", "- Resolution failure")  # lines without information


def raise_kernel_error(
    owner: Learner, kernels: Kernels, memory: NamedTuple, rates: NamedTuple, error: Exception
) -> NoReturn:
    """Raise one sentence on what is wrong with the kernels of a learner, or with the memory that they read.

    Where the reason is recognised, Numba's text of about eighty lines is not shown; it is the `__context__`.
    """
    text = re.sub(r"\n\s*\n", "\n", _COLOUR.sub("", str(error)))
    fault = _in_the_memory(owner, memory) or _in_the_kernels(owner, kernels) or _in_the_text(text, memory, rates)
    if fault:
        raise KernelError(f"{type(owner).__name__}: {fault}") from None
    raise KernelError(f"{type(owner).__name__}: {first_line(text)}") from error


def returns_something(owner: object, kernel: Kernel | None) -> KernelError:
    """Return the error for a kernel that returns a value where it must write into the memory."""
    rule = "must return nothing; write into the memory instead"
    return KernelError(f"{type(owner).__name__}: the kernel `{_name(kernel)}` {rule}.")


def _in_the_memory(owner: Learner, memory: NamedTuple) -> str:
    fields = getattr(memory, "_fields", None)
    if fields is None:
        return f"`first_memory` must return a NamedTuple of arrays, got {type(memory).__name__}."
    if owner.feedback == "full" and "weights" not in fields:
        return f"the memory must have a field `weights`, the next play; its fields are {', '.join(fields)}."
    return ""


def _in_the_kernels(owner: Learner, kernels: Kernels) -> str:
    roles: dict[str, Any] = {"choose": kernels.choose, "update": kernels.update, "hint": kernels.hint}
    for role, kernel in roles.items():
        if kernel is None:
            continue
        if not hasattr(kernel, "py_func"):
            return f"the function `{_name(kernel)}` must be compiled; decorate it with `kernel`."
        wanted, arguments = _ARGUMENTS[owner.feedback, role], inspect.signature(kernel.py_func).parameters
        if len(arguments) != len(wanted):
            return f"the kernel `{_name(kernel)}` must take ({', '.join(wanted)}), got ({', '.join(arguments)})."
        if role == "choose" and (wrong := wrong_choice(kernel, kernel)):
            return wrong
    return ""


def wrong_choice(kernel: Kernel | None, entry: Kernel | None) -> str:
    """Return what is wrong with what a kernel chooses, '' if it is an action and a probability; `entry` calls it."""
    for signature in getattr(entry, "nopython_signatures", ()):
        returned = signature.return_type
        parts = [types.unliteral(part) for part in returned] if isinstance(returned, types.BaseTuple) else []  # type: ignore[attr-defined]
        number = types.Integer | types.Float
        if len(parts) != 2 or not isinstance(parts[0], types.Integer) or not isinstance(parts[1], number):
            got = f"({', '.join(map(str, parts))})" if parts else str(types.unliteral(returned))
            rule = "(action, probability), a whole number and a float"
            return f"the kernel `{_name(kernel)}` must return {rule}, got {got}."
    return ""


def _in_the_text(text: str, memory: NamedTuple, rates: NamedTuple) -> str:
    who, where = _kernel_of(text), _place(text)
    if _RETURNED_ARRAY.search(text):
        return f"{who} returns an array; write into one of the memory instead."
    if any(mark in text for mark in _MADE_ARRAY):
        what = "a list" if "build_list(" in text else "an array"
        advice = "write a loop, or decorate it with `driftwise.core.kernel.allocating_kernel`"
        return f"{who} makes {what}{where}; {advice}."
    if field := _UNKNOWN_FIELD.search(text):
        return f"{who} reads `{field[1]}`{where}, which {_owner_of(field, memory, rates)}"
    if clash := _TWO_TYPES.search(text):
        return f"{who} gives the variable `{clash[3]}` two types{where}, {clash[1]} and {clash[2]}; use two variables."
    return ""


def first_line(text: str) -> str:
    """Return the kernel that cannot be compiled and the first line of Numba's text that says why."""
    lines = (line.strip() for line in text.splitlines())
    first = next((line for line in lines if line and not line.startswith(_EMPTY)), "no reason is given")
    return f"{_kernel_of(text)} cannot be compiled{_place(text)}: {first.rstrip('.:')}. Numba's full text is above."


def _kernel_of(text: str) -> str:
    callee = _CALLEE.search(text)
    return f"the kernel `{callee[1].rpartition('.')[2] or callee[1]}`" if callee else "a kernel"


def _owner_of(field: re.Match[str], memory: NamedTuple, rates: NamedTuple) -> str:
    """Return the end of a sentence about a missing field, with the field that may be meant."""
    for part in (memory, rates):
        kind = type(part)
        if field[2].startswith(f"{kind.__name__}("):
            near = difflib.get_close_matches(field[1], kind._fields, n=1)
            advice = f"Did you mean `{near[0]}`?" if near else f"Its fields are {', '.join(kind._fields)}."
            return f"`{kind.__qualname__.rpartition('.')[2]}` does not have. {advice}"
    return f"{field[2]} does not have."


def _place(text: str) -> str:
    """Return the first line that is not Numba's own, in brackets."""
    places = (place for place in _PLACE.finditer(text) if not place[1].startswith(_NUMBA))
    return next((f" ({Path(place[1]).name}, line {place[2]})" for place in places), "")


def _name(kernel: Any) -> str:
    return str(getattr(kernel, "py_func", kernel).__name__)
