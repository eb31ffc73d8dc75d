"""Compile the C programs of `twins.c` into a temporary directory and call them on NumPy arrays."""

from __future__ import annotations

import ctypes
import os
import shutil
import subprocess
import tempfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
from numpy.ctypeslib import ndpointer

from driftwise.core.types import Matrix

__all__ = ["FLAGS", "Twin", "build", "compiler", "version"]

SOURCE = Path(__file__).with_name("twins.c")
FLAGS = ("-O3", "-march=native")

#: the C counterpart of `learner.run` on an initial state: it returns the weights played
Twin = Callable[[Any, Matrix], Matrix]

_MATRIX = ndpointer(np.float64, ndim=2, flags="C_CONTIGUOUS")


def compiler() -> str | None:
    """Return the C compiler of this machine, None if there is none."""
    names = (os.environ.get("CC"), "gcc", "cc", "clang")
    return next((found for name in names if name and (found := shutil.which(name))), None)


def version(command: str) -> str:
    """Return the first line of a compiler's version text."""
    return subprocess.run([command, "--version"], capture_output=True, text=True, check=True).stdout.splitlines()[0]


def build(command: str) -> dict[str, Twin]:
    """Return the C programs by the name of their learner."""
    with tempfile.TemporaryDirectory() as folder:
        library = Path(folder) / "twins.so"
        subprocess.run([command, *FLAGS, "-shared", "-fPIC", str(SOURCE), "-o", str(library), "-lm"], check=True)
        twins = ctypes.CDLL(str(library))  # stays loaded after the file is deleted
    prod, descent = twins.optimistic_adapt_ml_prod, twins.optimistic_gd
    prod.argtypes = [ctypes.c_size_t, ctypes.c_size_t, _MATRIX, _MATRIX]
    descent.argtypes = [ctypes.c_size_t, ctypes.c_size_t, _MATRIX, ctypes.c_double, _MATRIX]

    def play_prod(learner: Any, losses: Matrix) -> Matrix:
        assert learner.prior == "inside"
        played = np.empty_like(losses)
        _check(prod(*losses.shape, losses, played))
        return played

    def play_descent(learner: Any, losses: Matrix) -> Matrix:
        played = np.empty_like(losses)
        _check(descent(*losses.shape, losses, learner.rates(losses.shape[1]).step, played))
        return played

    return {"optimistic-adapt-ml-prod": play_prod, "optimistic-gd": play_descent}


def _check(code: int) -> None:
    if code != 0:
        raise MemoryError("a C twin could not allocate memory")
