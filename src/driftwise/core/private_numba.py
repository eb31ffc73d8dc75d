"""The parts of Numba that are not documented: the one place that decides which are used, with a replacement for each.

=============  ===========================================================  ======================================
part           what it is for                                               without it
=============  ===========================================================  ======================================
`uncounted`    option `_nrt`: kernels without Numba's memory manager        references to arrays are counted
`forceinline`  option: a kernel becomes part of its callers                 LLVM decides
`unwrapped`    options `no_cpython_wrapper`, `no_cfunc_wrapper`:            parts of loops are compiled with entry
               parts of loops without entry points from Python or C         points that nobody calls
`checksums`    classes of the disk cache, to add a checksum to its files    Numba's own cache, `njit(cache=True)`
`tables`       an intrinsic that rebuilds NamedTuples from a table of       the NamedTuples are passed in each round
               addresses (`driftwise.core.addresses`)
`closed`       entry points that are compiled for one kind of arguments     arguments are checked in Python
`rows`         an intrinsic for the rows of a tuple of arrays               kernels for three arrays call each other
`deferred`     a compiler that leaves parts to be optimised in the loops    each part is also optimised alone: the first
               that call them                                               run takes up to twice as long
=============  ===========================================================  ======================================

This module tests for each part once, when it is imported, without compiling anything. If a part is missing, plays are
the same to the last bit, and rounds or the first run take longer. The environment variable `DRIFTWISE_PRIVATE_NUMBA`
selects parts: `0` uses none, `1` (the default) all that are found, and a list such as `uncounted,forceinline` those
that it names. The parts in use enter the digest of every kernel, so that cached code of different selections is not
mixed.
"""

# mypy: allow-untyped-calls
from __future__ import annotations

import contextlib
import inspect
import os
from collections.abc import Callable
from typing import Any

import numba

from driftwise.core.errors import InvalidInput, shown

VARIABLE = "DRIFTWISE_PRIVATE_NUMBA"
_CACHE_METHODS = ("_load_index", "_load_data", "_data_path", "_open_for_write")
_HOOKS = ("_compile_for_args", "add_overload", "overloads")
_LIBRARY = ("_optimize_final_module", "_finalize_final_module", "_finalized", "codegen")
_ARRAY_FIELDS = ("array", "data", "shape", "strides", "itemsize", "meminfo")

try:
    from driftwise.core.addresses import address_table as address_table, rebuilder as rebuilder
except Exception:  # a name was removed, or is no longer a class
    address_table = rebuilder = None  # type: ignore[assignment]
try:
    from driftwise.core.tuple_rows import ROWS_VERSION as ROWS_VERSION, tuple_rows as tuple_rows
except Exception:
    ROWS_VERSION = tuple_rows = None  # type: ignore[assignment]
try:
    from driftwise.core.kernel_compiler import LoopCompiler, PartCompiler
except Exception:
    LoopCompiler = PartCompiler = None  # type: ignore[assignment, misc]
try:
    from driftwise.core.kernel_cache import KernelCache
except Exception:
    KernelCache = None  # type: ignore[assignment, misc]
try:
    from numba.core import event

    events = event
except ImportError:
    events = None  # type: ignore[assignment]


def _has_options(*names: str) -> bool:
    from numba.core.cpu import CPUTargetOptions

    return _has(CPUTargetOptions, *names)


def _has(owner: object, *names: str) -> bool:
    return all(hasattr(owner, name) for name in names)


def _has_cache_classes() -> bool:
    from numba.core.caching import IndexDataCacheFile

    with contextlib.suppress(RuntimeError):  # no writable folder: nothing is cached in either case
        KernelCache(_has)
    return _has(numba.njit(_has), "_cache") and _has(IndexDataCacheFile, *_CACHE_METHODS)


def _has_tables() -> bool:
    from numba.np.arrayobj import populate_array

    return rebuilder is not None and set(_ARRAY_FIELDS) <= inspect.signature(populate_array).parameters.keys()


def _has_rows() -> bool:
    from numba.core.base import BaseContext
    from numba.core.typing.context import Context

    return tuple_rows is not None and _has(BaseContext, "get_function") and _has(Context, "resolve_value_type")


def _has_compiler() -> bool:
    from numba.core.codegen import JITCodeLibrary
    from numba.core.compiler import Compiler, Flags

    methods = _has(Compiler, "compile_extra", "define_pipelines") and _has(JITCodeLibrary, *_LIBRARY)
    return PartCompiler is not None and methods and _has(Flags(), "values", "_values")


_PROBES: dict[str, Callable[[], bool]] = {
    "uncounted": lambda: _has_options("_nrt"),
    "forceinline": lambda: _has_options("forceinline"),
    "unwrapped": lambda: _has(numba.njit(_has), *_HOOKS) and _has_options("no_cpython_wrapper", "no_cfunc_wrapper"),
    "checksums": _has_cache_classes,
    "tables": _has_tables,
    "closed": lambda: _has(numba.njit(_has), "disable_compile"),
    "rows": _has_rows,
    "deferred": _has_compiler,
}
PARTS = tuple(_PROBES)


def _requested(value: str) -> tuple[str, ...]:
    """Return the parts that the environment variable names."""
    named = {"": PARTS, "0": (), "1": PARTS}.get(value, tuple(value.split(",")))
    if not set(named) <= set(PARTS):
        raise InvalidInput(f"{VARIABLE}: it must be 0, 1 or some of {','.join(PARTS)}, got {shown(value)}.")
    return named


def _usable_parts(requested: tuple[str, ...]) -> frozenset[str]:
    """Return those of the requested parts that this version of Numba has."""
    parts = set()
    for part in requested:
        with contextlib.suppress(Exception):  # a name was moved, or a class takes other arguments
            if _PROBES[part]():
                parts.add(part)
    return frozenset(parts)


IN_USE = _usable_parts(_requested(os.environ.get(VARIABLE, "")))


def private_options(allocates: bool, is_part: bool) -> dict[str, Any]:
    """Return the options of a kernel that Numba does not document.

    `allocates` says whether it makes arrays, `is_part` whether only other kernels call it.
    """
    options: dict[str, Any] = {}
    if "forceinline" in IN_USE:
        options["forceinline"] = True  # passing a memory of ten arrays takes long
    if "uncounted" in IN_USE and not allocates:
        options["_nrt"] = False
    if "unwrapped" in IN_USE and is_part:
        options |= {"no_cpython_wrapper": True, "no_cfunc_wrapper": True}  # a third of the time to compile
    return options


def jit(function: Callable[..., Any], options: dict[str, Any], cached: bool) -> Any:
    """Return Numba's dispatcher of a function; what has no file, such as a line typed at a prompt, is not cached."""
    if cached and "checksums" not in IN_USE:
        with contextlib.suppress(RuntimeError):
            return numba.njit(cache=True, **options)(function)
    is_part = "no_cpython_wrapper" in options
    if "deferred" in IN_USE:
        options = {**options, "pipeline_class": PartCompiler if is_part else LoopCompiler}
    dispatcher: Any = numba.njit(**options)(function)
    if is_part:
        _refuse_python(dispatcher)
    if cached and "checksums" in IN_USE:
        with contextlib.suppress(RuntimeError):
            dispatcher._cache = KernelCache(function)
    return dispatcher


def _refuse_python(dispatcher: Any) -> None:
    """Let only compiled code find what is compiled: from Python, a function without an entry point would crash."""
    name = dispatcher.py_func.__name__

    def refuse(*_: Any, **__: Any) -> Any:
        raise TypeError(f"{name} is a part of other kernels; it cannot be called from Python.")

    def add_overload(compiled: Any) -> None:
        dispatcher.overloads[tuple(compiled.signature.args)] = compiled

    dispatcher._compile_for_args, dispatcher.add_overload = refuse, add_overload


def close(dispatcher: Any, *arguments: Any) -> bool:
    """Compile for one kind of arguments and no other; return whether others are rejected now, with `TypeError`."""
    dispatcher.compile(arguments)
    if "closed" in IN_USE:
        dispatcher.disable_compile()
    return "closed" in IN_USE
