"""The one decorator of compiled functions, and loops that are written once and cloned per learner.

Numba's disk cache knows a function by its file, line and qualified name, and is blind to an edit of a
function that it calls in another file. Here the qualified name carries a digest of the function, of the
constants it reads, of the fields of its arguments and of every kernel it calls, so an edit anywhere below is seen.

A loop that received kernels as arguments or closures would never hit that cache. `clone` copies a template
under a name of its own with the kernels bound as globals, which does.
"""

from __future__ import annotations

import hashlib
from collections.abc import Callable
from types import CodeType, FunctionType
from typing import Any, ParamSpec, TypeVar, cast

import numba
import numpy as np

__all__ = ["clone", "compiled", "kernel", "unbound"]

P = ParamSpec("P")
R = TypeVar("R")
_DIGEST = "driftwise_digest"
# Inlined before types are known: across a call, every array of a NamedTuple would be counted in and out of use, which
# costs more than the arithmetic of a few actions.
_OPTIONS: dict[str, Any] = {"nogil": True, "error_model": "numpy", "inline": "always"}


def kernel(function: Callable[P, R]) -> Callable[P, R]:
    """Compile a function: cached on disk, free of the interpreter's lock, IEEE arithmetic in program order."""
    plain = cast(FunctionType, function)
    digest = _digest(plain)
    if numba.config.DISABLE_JIT:  # type: ignore[attr-defined]
        # Interpreted uint64 arithmetic wraps as the compiled one does, but would warn of it.
        result: Any = np.errstate(over="ignore")(plain)
    else:
        plain.__qualname__ = f"{plain.__qualname__}.{digest}"
        try:
            result = numba.njit(cache=True, **_OPTIONS)(plain)
        except RuntimeError:  # typed at a prompt: no file to cache beside
            result = numba.njit(**_OPTIONS)(plain)
    setattr(result, _DIGEST, digest)
    return cast(Callable[P, R], result)


def clone(template: Callable[P, R], name: str, **kernels: Callable[..., Any]) -> Callable[P, R]:
    """Copy an undecorated template under `name`, bind its kernels, and compile the copy."""
    source = cast(FunctionType, template)
    copy = FunctionType(source.__code__, {**source.__globals__, **kernels}, name)
    copy.__qualname__ = f"{source.__name__}.{name}"
    copy.__module__ = source.__module__
    copy.__doc__ = source.__doc__
    return kernel(cast(Callable[P, R], copy))


def unbound(*_: Any) -> Any:
    """Stand in for a kernel that `clone` binds."""
    raise AssertionError("a loop template was called before its kernels were bound")


def compiled(function: Callable[..., Any]) -> int:
    """Count the signatures a kernel has been compiled for (0 when the compiler is switched off)."""
    return len(getattr(function, "signatures", ()))


def _digest(function: FunctionType) -> str:
    # The cache remembers argument types, and finds their classes again by module and name.
    parts = [repr(_OPTIONS), function.__module__, repr(function.__annotations__), _fingerprint(function.__code__)]
    for note in function.__annotations__.values():
        kind: Any = function.__globals__.get(note, note)
        if hasattr(kind, "_fields"):
            _tell_apart(kind)
            parts.append(repr(kind._fields))  # a field is compiled to its position
    for name in sorted(_names(function.__code__)):
        value = function.__globals__.get(name)
        if hasattr(value, _DIGEST):
            parts.append(f"{name}={getattr(value, _DIGEST)}")
        elif isinstance(value, (bool, int, float, str, tuple, np.generic)):
            parts.append(f"{name}={value!r}")
        elif isinstance(value, np.ndarray):
            parts.append(f"{name}={value.dtype}{value.shape}{value.tobytes().hex()}")
    return hashlib.sha256("\n".join(parts).encode()).hexdigest()[:12]


def _tell_apart(kind: Any) -> None:
    """Give a NamedTuple a name of its own.

    Numba's quick dispatch knows a tuple by its class's bare name and its fields: two learners' `Memory` with like
    fields would send every call of the second through type inference, a hundred times slower.
    """
    kind.__name__ = f"{kind.__module__}.{kind.__qualname__}"


def _names(code: CodeType) -> set[str]:
    return set(code.co_names).union(*(_names(c) for c in code.co_consts if isinstance(c, CodeType)))


def _fingerprint(code: CodeType) -> str:
    inner = [_fingerprint(c) if isinstance(c, CodeType) else repr(c) for c in code.co_consts]
    return f"{code.co_code.hex()} {code.co_names} {code.co_varnames} {inner}"
