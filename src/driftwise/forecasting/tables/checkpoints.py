"""Checkpoints of a run over a table: all arrays, how far the input was read, and the lengths of the output.

A file is checked completely before anything of it is used: it may be damaged, or made by another program.
"""

from __future__ import annotations

import hashlib
import json
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from driftwise.core.archives import read_archive, write_archive
from driftwise.core.errors import BadData, BadFile, InvalidInput
from driftwise.core.file_names import shown_path
from driftwise.core.files import write_atomically
from driftwise.forecasting.tables.table_pieces import Position

__all__ = ["Checkpoint", "digest", "part", "read_checkpoint", "write_checkpoint"]

Array = np.ndarray[Any, Any]

_KIND = "checkpoint"
_FORMAT = 1
_LARGEST = 2**62
_TEXTS = " (code points)"  # after the name of an array of texts
_CODE = np.dtype(np.uint32)  # a character of NumPy's texts


class Checkpoint(NamedTuple):
    """What a run needs to continue."""

    settings: str  # digest of all that the results depend on, beside the input
    source: Mapping[str, Any]  # what identifies the input
    rows: int  # that are done
    position: Position  # from where the next row can be read
    lengths: Mapping[str, int]  # of the partial files
    finished: int | None  # the length of the whole output, once it is complete
    time_kind: str
    arrays: Mapping[str, Array]


def digest(settings: Mapping[str, Any]) -> str:
    """Return a digest of plain values."""
    return hashlib.sha256(json.dumps(settings, sort_keys=True).encode()).hexdigest()


def part(arrays: Mapping[str, Array], prefix: str) -> dict[str, Array]:
    """Return the arrays whose names begin with a prefix and a point, without these."""
    start = f"{prefix}."
    return {name.removeprefix(start): array for name, array in arrays.items() if name.startswith(start)}


def write_checkpoint(path: Path, checkpoint: Checkpoint) -> None:
    """Write a checkpoint; the one before is replaced only by a complete file."""
    header = {**checkpoint._asdict(), "position": list(checkpoint.position), "format": _FORMAT}
    del header["arrays"]

    def write(file: Path) -> None:
        with file.open("wb") as stream:
            write_archive(stream, _KIND, header, dict(map(_as_numbers, *zip(*checkpoint.arrays.items(), strict=True))))

    write_atomically(path, write)


def read_checkpoint(path: Path, settings: str, source: Mapping[str, Any]) -> Checkpoint:
    """Read a checkpoint; raise `BadData` if it is damaged, `InvalidInput` if it belongs to another run."""
    try:
        header, arrays = read_archive(path, _KIND)
    except BadFile as error:
        raise BadData(f"{str(error).removesuffix('.')}; start again without --resume.") from None
    if header.pop("format", None) != _FORMAT:
        raise _wrong(path, "it has another format")
    if set(header) != set(Checkpoint._fields) - {"arrays"}:
        raise _wrong(path, "its fields are not those of a checkpoint")
    try:
        found = Checkpoint(**header, arrays=dict(map(_as_texts, *zip(*arrays.items(), strict=True))))
    except ValueError as error:
        raise _wrong(path, str(error)) from None
    if found.settings != settings:
        raise InvalidInput(
            "combine: --resume continues the same command only, and the unfinished run had other options."
            " Give its options, or start again without --resume."
        )
    if found.source != source:
        raise InvalidInput(
            "combine: the input is not the file that the unfinished run read: it was changed."
            " Start again without --resume."
        )
    if fault := _fault(found):
        raise _wrong(path, fault)
    return found._replace(position=Position(*found.position))


def _as_numbers(name: str, array: Array) -> tuple[str, Array]:
    """Return an array of texts as one of code points, one row each: an archive holds numbers only."""
    if array.dtype.kind != "U":
        return name, array
    width = array.dtype.itemsize // _CODE.itemsize
    return name + _TEXTS, np.ascontiguousarray(array).view(np.uint32).reshape(array.size, width)


def _as_texts(name: str, array: Array) -> tuple[str, Array]:
    if not name.endswith(_TEXTS):
        return name, array
    if array.dtype != _CODE or array.ndim != 2 or array.shape[1] == 0 or array.max(initial=0) > sys.maxunicode:
        raise ValueError("its texts are damaged")
    return name.removesuffix(_TEXTS), np.ascontiguousarray(array).view(f"U{array.shape[1]}").reshape(len(array))


def _fault(found: Checkpoint) -> str:
    position: Any = found.position
    if not isinstance(position, list) or len(position) != 3 or not all(map(_is_length, position)):
        return "its position is damaged"
    if not _is_length(found.rows) or not position[0] <= found.rows:
        return "its number of rows is damaged"
    if not isinstance(found.lengths, dict) or not all(map(_is_length, found.lengths.values())):
        return "its lengths are damaged"
    if found.finished is not None and not _is_length(found.finished):
        return "its lengths are damaged"
    if not isinstance(found.time_kind, str):
        return "its kind of times is damaged"
    return ""


def _is_length(value: Any) -> bool:
    return type(value) is int and 0 <= value < _LARGEST


def _wrong(path: Path, reason: str) -> BadData:
    return BadData(f"{shown_path(path)} cannot be continued: {reason}; start again without --resume.")
