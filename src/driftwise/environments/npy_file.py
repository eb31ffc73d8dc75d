"""A matrix in a .npy file that is read from disk block by block.

It is read and not mapped into memory: if a mapped file is truncated during a run, the system ends the process.
"""

from __future__ import annotations

import math
import os
import weakref
from typing import Any

import numpy as np

from driftwise.core.errors import BadFile
from driftwise.core.file_names import shown_path
from driftwise.core.npy_header import LONGEST_HEADER, npy_header
from driftwise.core.types import Matrix

__all__ = ["NpyFile"]


class NpyFile:
    """An open .npy file; it is closed with this object. Several threads may read from it."""

    def __init__(self, path: str | os.PathLike[str]) -> None:
        self._path = os.fspath(path)
        try:
            self._descriptor = os.open(self._path, os.O_RDONLY | os.O_CLOEXEC)
            weakref.finalize(self, os.close, self._descriptor)
            self._header = npy_header(os.pread(self._descriptor, LONGEST_HEADER, 0))
            self._size = os.fstat(self._descriptor).st_size
            if self._size < self._header.offset + self._header.nbytes:
                raise ValueError(f"it is too short for the shape {self.shape}")
        except ValueError as error:
            raise BadFile(f"{shown_path(path)}: cut short, or not a .npy file ({error}).") from None
        except OSError as error:
            raise BadFile(f"Cannot read {shown_path(path)}: {error.strerror or error}.") from None

    def __reduce__(self) -> tuple[Any, ...]:
        return type(self), (self._path,)

    def __len__(self) -> int:
        return self.shape[0]

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> np.ndarray[Any, Any]:
        return self.rows(0, len(self)).astype(dtype or np.float64, copy=False)

    @property
    def shape(self) -> tuple[int, ...]:
        """The lengths of its dimensions, of any number."""
        return self._header.shape

    @property
    def ndim(self) -> int:
        """The number of its dimensions; rows can be read if there are two."""
        return len(self.shape)

    @property
    def size(self) -> int:
        """The number of its values."""
        return math.prod(self.shape)

    @property
    def dtype(self) -> np.dtype[Any]:
        """The type of its values in the file; `rows` returns float64."""
        return self._header.dtype

    def rows(self, first: int, n: int) -> Matrix:
        """Return up to `n` rows from the row `first` on, as a new array."""
        n_rows, n_columns = self.shape
        n = max(0, min(n, n_rows - first))
        if os.fstat(self._descriptor).st_size != self._size:
            raise self._changed()
        if self._header.fortran_order:
            block = np.empty((n_columns, n), self.dtype)
            for k in range(n_columns):
                self._fill(block[k], k * n_rows + first)
            block = block.T
        else:
            block = np.empty((n, n_columns), self.dtype)
            self._fill(block, first * n_columns)
        return np.require(block, np.float64, ["C", "W", "E"])

    def _fill(self, target: np.ndarray[Any, Any], first: int) -> None:
        """Read values in the order of the file, from the value `first` on."""
        left = target.reshape(-1).view(np.uint8).data
        position = self._header.offset + first * self.dtype.itemsize
        while left:
            try:
                got = os.preadv(self._descriptor, [left], position)
            except OSError as error:
                raise BadFile(f"Cannot read {shown_path(self._path)}: {error.strerror or error}.") from None
            if not got:
                raise self._changed()
            left, position = left[got:], position + got

    def _changed(self) -> BadFile:
        size = os.fstat(self._descriptor).st_size
        return BadFile(f"{shown_path(self._path)}: it had {self._size} bytes when it was opened, and now has {size}.")
