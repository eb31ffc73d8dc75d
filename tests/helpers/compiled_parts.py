"""Calls parts of kernels from Python: they are compiled without an entry point of their own."""

import functools

import numba

from driftwise.core.kernel import clone, unbound

PART = unbound


def from_python(part):
    """Return a kernel that calls a part, and that Python can call."""
    return part if numba.config.DISABLE_JIT else _entry(part)


@functools.cache
def _entry(part):
    n_arguments = part.py_func.__code__.co_argcount
    return clone((_one, _two, _three)[n_arguments - 1], f"entry-{part.py_func.__qualname__}", PART=part, kinds=())


def _one(a):
    return PART(a)


def _two(a, b):
    return PART(a, b)


def _three(a, b, c):
    return PART(a, b, c)
