"""Numba's compiler without work that is done again later.

A part of loops becomes part of the code of each loop, which is optimised and translated to machine code as a whole. So
of a part there is only LLVM code: passes over single functions make it small, and it is not optimised further. Numba
does both for every function, which takes half of the time to compile a learner.

Numba looks up what it has compiled by the options of the kernel at hand, some ten thousand times per learner, and reads
each option by a property. Here the options are read all at once.

The compiler makes millions of objects. Python's garbage collector looks at those that live on again and again, a tenth
of the time; while a kernel is compiled it looks less often.
"""

# mypy: allow-untyped-calls, allow-subclassing-any
from __future__ import annotations

import contextlib
import gc
from collections.abc import Iterator
from typing import Any

from numba.core.codegen import JITCodeLibrary
from numba.core.compiler import Compiler, Flags


class _Options(Flags):
    """The options of a kernel."""

    __slots__ = ()

    def values(self) -> dict[str, Any]:
        """Return the options by name."""
        return {**_DEFAULTS, **self._values}


_DEFAULTS: dict[str, Any] = Flags().values()
_NEW_OBJECTS = 50_000  # before the garbage collector runs; by default 700, in new versions of Python 2,000


@contextlib.contextmanager
def _fewer_collections() -> Iterator[None]:
    """Let the garbage collector run less often; Numba's lock has one thread here, and calls are nested."""
    before = gc.get_threshold()
    gc.set_threshold(before[0] and max(before[0], _NEW_OBJECTS), *before[1:])  # 0: the user turned it off
    try:
        yield
    finally:
        gc.set_threshold(*before)


class LoopCompiler(Compiler):
    """Compiles kernels that Python calls."""

    def compile_extra(self, func: Any) -> Any:
        """Compile a function with the options that the compiler was made for."""
        self.state.flags = _Options(self.state.flags)
        with _fewer_collections():
            return super().compile_extra(func)


class PartCompiler(LoopCompiler):
    """Compiles kernels that only other kernels call."""

    def define_pipelines(self) -> Any:
        """Return Numba's passes, which write to a library if there is one and otherwise make one."""
        self.state.library = _PartLibrary(self.state.targetctx.codegen(), self.state.func_id.func_qualname)
        return super().define_pipelines()


class _PartLibrary(JITCodeLibrary):
    """The LLVM code of a part and of the parts that it calls, without machine code."""

    def _optimize_final_module(self) -> None:
        pass

    def _finalize_final_module(self) -> None:
        self._finalized = True

    @property
    def codegen(self) -> Any:
        return _WithoutEnvironment


class _WithoutEnvironment:
    """Stands for Numba's generator of machine code, which would write the address of a Python object into the code.

    Only the interpreter's objects and exceptions with arguments need it, and kernels have none. Kernels that are loaded
    from the disk cache have no such address in their parts either.
    """

    @staticmethod
    def set_env(name: str, environment: object) -> None:
        """Do nothing."""
