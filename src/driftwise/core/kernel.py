"""The one decorator of compiled functions, and loops that are written once and cloned per learner.

Numba's disk cache knows a function by its file, line and qualified name, and is blind to an edit of a
function that it calls in another file. Here the qualified name carries a digest of the function, of the
constants it reads, of the fields of its arguments and of every kernel it calls, so an edit anywhere below is seen.

A loop that received kernels as arguments or closures would never hit that cache. `clone` copies a template
under a name of its own with the kernels bound as globals, which does.
"""

from __future__ import annotations

import builtins
import contextlib
import dis
import hashlib
import sys
from collections.abc import Callable, Iterable
from types import CodeType, FunctionType
from typing import Any, ParamSpec, TypeVar, cast

import numba
import numpy as np

from driftwise.core.kernel_cache import KernelCache

__all__ = ["allocating_kernel", "clone", "compiled", "kernel", "kinds_of", "mark_digest", "unbound"]

P = ParamSpec("P")
R = TypeVar("R")
_DIGEST, _ALLOCATES = "driftwise_digest", "driftwise_allocates"
_OPTIONS: dict[str, Any] = {
    "nogil": True,
    "error_model": "numpy",
    "forceinline": True,  # a memory of ten arrays is dear to pass
}
# Without Numba's memory manager nothing is counted in and out of use, which costs more than the arithmetic of a few
# actions; a kernel that makes an array does not compile then. A caller decides for those it calls.
_COUNTS_NOTHING = {"_nrt": False}


def kernel(function: Callable[P, R]) -> Callable[P, R]:
    """Compile a function: cached on disk, free of the interpreter's lock, IEEE arithmetic in program order.

    It may make no array, so write loops where NumPy would: `a[:] = b`, `a.min()` and `a + b` make one, `a[:] = 0.0` and
    a view such as `a[i]` do not. `driftwise.core.vectors` has the usual loops.
    """
    return _compile(function, allocates=False)


def allocating_kernel(function: Callable[P, R]) -> Callable[P, R]:
    """Compile a function that makes arrays; each round of whatever calls it takes some 25 ns longer."""
    return _compile(function, allocates=True)


def _compile(function: Callable[P, R], allocates: bool, kinds: Iterable[type] = ()) -> Callable[P, R]:
    plain = cast(FunctionType, function)
    # What takes Any is inlined into loops of many learners. On disk one file would serve them all, and could not be
    # read where a type that it remembers is gone: someone's own learner, or one that was renamed.
    cached = bool(kinds) or not any(note in ("Any", Any) for note in plain.__annotations__.values())
    allocates = allocates or any(getattr(value, _ALLOCATES, False) for value in _globals(plain).values())
    options = _OPTIONS if allocates else {**_OPTIONS, **_COUNTS_NOTHING}
    if numba.config.BOUNDSCHECK:  # type: ignore[attr-defined]
        options = {**options, "boundscheck": True}  # in the digest too: Numba's cache does not ask for it
    digest = _digest(plain, options, kinds)
    if numba.config.DISABLE_JIT:  # type: ignore[attr-defined]
        # Interpreted uint64 arithmetic wraps as the compiled one does, but would warn of it.
        result: Any = np.errstate(over="ignore")(plain)
    else:
        plain.__qualname__ = f"{plain.__qualname__}.{digest}"
        result = numba.njit(**options)(plain)
        with contextlib.suppress(RuntimeError):  # typed at a prompt: no file to cache beside
            if cached:
                result._cache = KernelCache(plain)  # what `njit(cache=True)` does, with Numba's own cache
    setattr(result, _DIGEST, digest)
    setattr(result, _ALLOCATES, allocates)
    return cast(Callable[P, R], result)


def clone(template: Callable[P, R], name: str, kinds: Iterable[type] = (), **parts: Any) -> Callable[P, R]:
    """Copy an undecorated template under `name`, bind its kernels and constants, and compile the copy.

    `kinds` are the NamedTuples that it may be called with; without them, a template that takes Any is not cached.
    """
    source = cast(FunctionType, template)
    copy = FunctionType(source.__code__, {**source.__globals__, **parts}, name)
    copy.__qualname__ = f"{source.__name__}.{name}"
    copy.__module__ = source.__module__
    copy.__doc__ = source.__doc__
    copy.__annotations__ = source.__annotations__
    return _compile(cast(Callable[P, R], copy), allocates=False, kinds=kinds)


def kinds_of(*owners: type) -> tuple[type, ...]:
    """Return the NamedTuples that the modules of some classes know."""
    modules = [vars(sys.modules[owner.__module__]) for owner in owners]
    found = {
        kind for module in modules for kind in module.values() if isinstance(kind, type) and hasattr(kind, "_fields")
    }
    return tuple(sorted(found, key=lambda kind: (kind.__module__, kind.__qualname__)))


def unbound(*_: Any) -> Any:
    """Stand in for a kernel that `clone` binds."""
    raise AssertionError("a loop template was called before its kernels were bound")


def mark_digest(part: Any, digest: str) -> Any:
    """Tell what a kernel calls by a digest, where it is no kernel itself."""
    setattr(part, _DIGEST, digest)
    return part


def compiled(function: Callable[..., Any]) -> int:
    """Count the signatures a kernel has been compiled for (0 when the compiler is switched off)."""
    return len(getattr(function, "signatures", ()))


def _digest(function: FunctionType, options: dict[str, Any], kinds: Iterable[type]) -> str:
    # The cache remembers argument types, and finds their classes again by module and name.
    parts = [repr(options), function.__module__, repr(function.__annotations__), _fingerprint(function.__code__)]
    notes: list[Any] = [function.__globals__.get(note, note) for note in function.__annotations__.values()]
    for kind in (*notes, *kinds):
        if hasattr(kind, "_fields"):
            _tell_apart(kind)
            parts.append(f"{kind.__name__}{kind._fields}")  # a field is compiled to its position
    for name, value in _globals(function).items():
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
    kind.__name__ = f"{kind.__module__}_{kind.__qualname__}".replace(".", "_")  # still an identifier: pickle asks


def _globals(function: FunctionType) -> dict[str, Any]:
    """Return what a function reads from its module, by name."""
    found = {}
    for name in sorted(_names(function.__code__)):
        if name in function.__globals__:
            found[name] = function.__globals__[name]
        elif not hasattr(builtins, name):
            raise NameError(f"{function.__qualname__}: define `{name}` above it, or an edit of it would go unseen.")
    return found


def _names(code: CodeType) -> set[str]:
    inner = (_names(c) for c in code.co_consts if isinstance(c, CodeType))
    return {step.argval for step in dis.get_instructions(code) if step.opname == "LOAD_GLOBAL"}.union(*inner)


def _fingerprint(code: CodeType) -> str:
    inner = [_fingerprint(c) if isinstance(c, CodeType) else repr(c) for c in code.co_consts]
    return f"{code.co_code.hex()} {code.co_names} {code.co_varnames} {inner}"
