"""Decorators of compiled functions, and loops that are written once and cloned per learner.

Numba's disk cache identifies a function by its file, line and qualified name. It does not notice an edit of a function
that is called in another file. Here the qualified name contains a digest of the function, of the constants it reads, of
the fields of its arguments and of every kernel it calls, so that an edit of any of them gives another name.

A loop that takes kernels as arguments or closures is never found in that cache. `clone` copies a template under a name
of its own, with the kernels bound as globals; the copy can be cached.
"""

from __future__ import annotations

import builtins
import collections
import dis
import hashlib
import sys
from collections.abc import Callable, Iterable
from types import CodeType, FunctionType
from typing import Any, ParamSpec, TypeVar, cast

import numba
import numpy as np

from driftwise.core.compile_notice import installed_notice
from driftwise.core.private_numba import IN_USE, jit, private_options

P = ParamSpec("P")
R = TypeVar("R")
_DIGEST, _ALLOCATES = "driftwise_digest", "driftwise_allocates"
_USUAL_REPR = collections.namedtuple("_Sample", "field").__repr__.__code__
_OPTIONS: dict[str, Any] = {"nogil": True, "error_model": "numpy"}
NOTICE = installed_notice(_DIGEST)  # one line while kernels are compiled for long


def kernel(function: Callable[P, R]) -> Callable[P, R]:
    """Compile a function: cached on disk, free of the interpreter's lock, IEEE arithmetic in program order.

    It must not make arrays, so write loops: `a[:] = b`, `a.min()` and `a + b` make one, `a[:] = 0.0` and a view such as
    `a[i]` do not. `driftwise.core.vectors` has the usual loops.
    """
    return _compile(function, allocates=False, cached=True)


def generic_kernel(function: Callable[P, R]) -> Callable[P, R]:
    """Compile a function into the loops of many learners; it is not cached by itself, the loops are.

    Only other kernels can call it.

    A file on disk would hold the types of all learners, and could not be read where one of them is missing, such as the
    `Memory` of a user's learner, or one that was renamed.
    """
    return _compile(function, allocates=False, cached=False)


def allocating_kernel(function: Callable[P, R]) -> Callable[P, R]:
    """Compile a function that makes arrays; each round of its callers takes about 25 ns longer."""
    return _compile(function, allocates=True, cached=True)


def _compile(
    function: Callable[P, R], allocates: bool, cached: bool, kinds: Iterable[type] = (), inline: bool = False
) -> Callable[P, R]:
    plain = cast(FunctionType, function)
    # Without Numba's memory manager references to arrays are not counted; counting costs more than the arithmetic of a
    # few actions. A kernel that makes an array, or calls one that does, must have the memory manager to compile.
    allocates = allocates or any(getattr(value, _ALLOCATES, False) for value in _globals(plain).values())
    options = {**_OPTIONS, **private_options(allocates, is_part=not cached)}
    if inline:
        options = {**options, "inline": "always"}
    if numba.config.BOUNDSCHECK:  # type: ignore[attr-defined]
        options = {**options, "boundscheck": True}  # also in the digest: Numba's cache does not store it
    kinds = _kinds(plain, kinds)
    digest = _digest(plain, options, kinds)
    if numba.config.DISABLE_JIT:  # type: ignore[attr-defined]
        # Interpreted uint64 arithmetic wraps around like compiled arithmetic, but with a warning.
        result: Any = np.errstate(over="ignore")(plain)
    else:
        for kind in kinds:
            _make_name_unique(kind)
        plain.__qualname__ = f"{plain.__qualname__}.{digest}"
        result = jit(plain, options, cached)
    setattr(result, _DIGEST, digest)
    setattr(result, _ALLOCATES, allocates)
    return cast(Callable[P, R], result)


def clone(
    template: Callable[P, R], name: str, kinds: Iterable[type] | None = None, inline: bool = False, **parts: Any
) -> Callable[P, R]:
    """Copy an undecorated template under `name`, bind its kernels and constants, and compile the copy.

    `kinds` are the NamedTuples that it may be called with, and the copy is cached on disk. Without them it is not
    cached: then it is a part of loops that are (see `generic_kernel`). With `inline` it is not compiled alone either,
    which saves the time to compile a large part twice.
    """
    source = cast(FunctionType, template)
    copy = FunctionType(source.__code__, {**source.__globals__, **parts}, name)
    copy.__qualname__ = f"{source.__name__}.{name}"
    copy.__module__ = source.__module__
    copy.__doc__ = source.__doc__
    copy.__annotations__ = source.__annotations__
    return _compile(cast(Callable[P, R], copy), False, cached=kinds is not None, kinds=kinds or (), inline=inline)


def kinds_of(*owners: type) -> tuple[type, ...]:
    """Return the NamedTuples in the modules of some classes."""
    modules = [vars(sys.modules[owner.__module__]) for owner in owners]
    kinds = {kind for module in modules for kind in module.values() if _is_named_tuple(kind)}
    return tuple(sorted(kinds, key=lambda kind: (kind.__module__, kind.__qualname__)))


def unbound(*_: Any) -> Any:
    """Placeholder for a kernel that `clone` binds."""
    raise AssertionError("a loop template was called before its kernels were bound")


def mark_digest(part: Any, digest: str) -> Any:
    """Set the digest of a function that kernels call but that is not a kernel."""
    setattr(part, _DIGEST, digest)
    return part


def compiled(function: Callable[..., Any]) -> int:
    """Return the number of signatures for which a kernel is compiled (0 when the compiler is switched off)."""
    return len(getattr(function, "signatures", ()))


def _kinds(function: FunctionType, kinds: Iterable[type]) -> list[Any]:
    """Return the NamedTuples that a function names in its annotations, and those given."""
    notes: Iterable[Any] = function.__annotations__.values()
    named = [function.__globals__.get(note) if isinstance(note, str) else note for note in notes]
    return [kind for kind in (*named, *kinds) if _is_named_tuple(kind)]


def _is_named_tuple(kind: object) -> bool:
    return isinstance(kind, type) and hasattr(kind, "_fields")


def _digest(
    function: FunctionType, options: dict[str, Any], kinds: Iterable[Any], callers: tuple[FunctionType, ...] = ()
) -> str:
    # The cache stores argument types and finds their classes by module and name.
    parts = [repr(options), repr(sorted(IN_USE)), function.__module__, _fingerprint(function.__code__)]
    for kind in kinds:
        parts.append(f"{kind.__module__}.{kind.__qualname__}{kind._fields}")  # a field is compiled to its position
    for name, value in {**_globals(function), **_enclosed(function)}.items():
        if hasattr(value, _DIGEST):
            parts.append(f"{name}={getattr(value, _DIGEST)}")
        elif isinstance(value, (bool, int, float, str, tuple, np.generic)):
            parts.append(f"{name}={value!r}")
        elif isinstance(value, np.ndarray):
            parts.append(f"{name}={value.dtype}{value.shape}{value.tobytes().hex()}")
        elif isinstance(inner := getattr(value, "py_func", None), FunctionType):  # compiled by Numba itself
            recursive = inner is function or inner in callers
            parts.append(f"{name}={'itself' if recursive else _digest(inner, {}, (), (*callers, function))}")
    return hashlib.sha256("\n".join(parts).encode()).hexdigest()[:12]


def _make_name_unique(kind: Any) -> None:
    """Add the module of a NamedTuple to its `__name__`; its `repr` still has the original name.

    Numba's fast dispatch identifies a tuple by the name of its class and its fields. If two learners have a `Memory`
    with the same fields, every call of the second goes through type inference, which is a hundred times slower.
    """
    plain, unique = kind.__name__, f"{kind.__module__}.{kind.__qualname__}"
    if plain == unique:
        return
    kind.__name__ = unique
    if getattr(kind.__repr__, "__code__", None) is _USUAL_REPR:

        def shown(self: Any) -> str:
            name = plain if type(self) is kind else type(self).__name__
            return f"{name}({', '.join(f'{field}={value!r}' for field, value in zip(self._fields, self, strict=True))})"

        shown.__name__, shown.__qualname__ = "__repr__", f"{kind.__qualname__}.__repr__"
        kind.__repr__ = shown


def _globals(function: FunctionType) -> dict[str, Any]:
    """Return what a function reads from its module, by name."""
    values = {}
    for name in sorted(_names(function.__code__)):
        if name in function.__globals__:
            values[name] = function.__globals__[name]
        elif not hasattr(builtins, name):
            rule = f"define `{name}` above it, or an edit of it would not be noticed"
            raise NameError(f"{function.__qualname__}: {rule}.")
    return values


def _enclosed(function: FunctionType) -> dict[str, Any]:
    """Return what a function has from the one around it, and its arguments' defaults: both become constants."""
    names, cells = function.__code__.co_freevars, function.__closure__ or ()
    variables = {f"enclosed {name}": cell.cell_contents for name, cell in zip(names, cells, strict=True)}
    return {**variables, **{f"default {i}": value for i, value in enumerate(function.__defaults__ or ())}}


def _names(code: CodeType) -> set[str]:
    inner = (_names(c) for c in code.co_consts if isinstance(c, CodeType))
    return {step.argval for step in dis.get_instructions(code) if step.opname == "LOAD_GLOBAL"}.union(*inner)


def _fingerprint(code: CodeType) -> str:
    inner = [_fingerprint(c) if isinstance(c, CodeType) else repr(c) for c in code.co_consts]
    return f"{code.co_code.hex()} {code.co_names} {code.co_varnames} {inner}"
