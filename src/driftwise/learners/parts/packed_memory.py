"""Memories of many learners in one array of 8-byte words.

A memory is a NamedTuple of arrays of 8-byte numbers. Packed, it is a row of words; unpacked, its arrays are views
on that row, so a kernel that writes into them writes into the row. A learner is started by copying a row.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, NamedTuple, Self

import numpy as np

from driftwise.core.types import Words
from driftwise.learners.contract import Learner

__all__ = ["MemoryLayout", "n_words"]

_WORD = 8  # bytes


class _Field(NamedTuple):
    words: slice
    shape: tuple[int, ...]
    dtype: np.dtype[Any]


@dataclass(frozen=True)
class MemoryLayout:
    """Where the arrays of a memory are in a row of `size` words.

    >>> from driftwise.learners import OptimisticGD
    >>> memory = OptimisticGD().start(n_actions=2).memory
    >>> layout = MemoryLayout.of(memory)
    >>> row = layout.pack(memory)
    >>> layout.unpack(row).weights
    array([0.5, 0.5])
    """

    kind: type
    fields: tuple[_Field, ...]
    size: int

    @classmethod
    def of(cls, memory: Any) -> Self:
        """Return the layout of memories with these fields and shapes."""
        fields, size = [], 0
        for array in memory:
            assert array.dtype.itemsize == _WORD, f"{type(memory)} has {array.dtype}, which is not 8 bytes long"
            fields.append(_Field(slice(size, size + array.size), array.shape, array.dtype))
            size += array.size
        return cls(type(memory), tuple(fields), size)

    def pack(self, memory: Any) -> Words:
        """Return the memory as a new row of words."""
        row = np.empty(self.size, np.uint64)
        for view, array in zip(self.unpack(row), memory, strict=True):
            view[...] = array
        return row

    def unpack(self, row: Words) -> Any:
        """Return the memory whose arrays are views on a contiguous row."""
        return self.kind(*(row[field.words].view(field.dtype).reshape(field.shape) for field in self.fields))


def n_words(learner: Learner, n_actions: int) -> int:
    """Return the size of a learner's first memory without making it; the size is linear in the number of actions.

    >>> from driftwise.learners import OptimisticGD
    >>> n_words(OptimisticGD(), 10**15)
    2000000000000000
    """
    one, two = (MemoryLayout.of(learner.start(n).memory).size for n in (1, 2))
    return one + (two - one) * (n_actions - 1)
