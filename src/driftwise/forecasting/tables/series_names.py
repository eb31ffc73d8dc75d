"""The names of the series in the order in which they appear, and the number of the series of each row."""

from __future__ import annotations

from typing import Any

import numpy as np
import pyarrow as pa
from pyarrow import types

from driftwise.core.types import Actions
from driftwise.forecasting.tables.row_blocks import Block
from driftwise.forecasting.tables.time_order import texts_of

__all__ = ["SeriesNames"]

Array = np.ndarray[Any, Any]


class SeriesNames:
    """A dictionary from the name of a series, text or a whole number, to its number."""

    def __init__(self, column: str) -> None:
        self._column = column
        self._numbers: dict[str | int, int] = {}

    def __len__(self) -> int:
        return len(self._numbers)

    @property
    def names(self) -> tuple[str | int, ...]:
        """The names, in the order of the numbers."""
        return tuple(self._numbers)

    def numbers(self, block: Block) -> Actions:
        """Return the number of the series of each row; series that are new get the next ones."""
        column = block.by
        if not types.is_string(column.type):
            try:
                column = column.cast(pa.int64())
            except pa.ArrowException:
                raise block.fault(0, self._column, "a whole number is beyond 64 bits.") from None
        encoded = column.dictionary_encode()
        known = self._numbers
        places = [known.setdefault(name, len(known)) for name in encoded.dictionary.to_pylist()]
        numbers: Actions = np.array(places, np.int64)[encoded.indices.to_numpy()]
        return numbers

    def arrays(self) -> dict[str, Array]:
        """Return the names."""
        names = list(self._numbers)
        if not names or isinstance(names[0], int):
            return {"whole": np.array(names, np.int64)}
        content = [str(name).encode() for name in names]
        return {
            "texts": np.frombuffer(b"".join(content), np.uint8),
            "lengths": np.array([len(name) for name in content], np.int64),
        }

    def set_arrays(self, arrays: dict[str, Array]) -> None:
        """Continue from what `arrays` returned; raise `ValueError` if a name is there twice."""
        names: list[Any]
        if "whole" in arrays:
            if arrays["whole"].dtype != np.int64 or arrays["whole"].ndim != 1:
                raise ValueError("the names of the series have another type")
            names = arrays["whole"].tolist()
        else:
            names = texts_of(arrays["texts"], arrays["lengths"])
        self._numbers = {name: i for i, name in enumerate(names)}
        if len(self._numbers) != len(names):
            raise ValueError("the name of a series is there twice")
