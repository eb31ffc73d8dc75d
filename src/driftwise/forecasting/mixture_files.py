"""Files of live mixtures: arrays and a JSON header, as those of sessions; nothing in a file is executed."""

from __future__ import annotations

import os
from collections.abc import Hashable, Mapping
from pathlib import Path
from typing import Any

import numpy as np

from driftwise.core.archives import read_archive, write_archive
from driftwise.core.errors import BadFile, InvalidInput, shown
from driftwise.core.file_names import shown_path
from driftwise.core.files import write_atomically

__all__ = ["FORMAT", "checked_rounds", "keys", "read_mixture", "write_mixture"]

FORMAT = 1
_HEADER = {"format", "options", "experts", "absent", "waiting", "finished", "history", "rounds", "latest"}
_KEYS = (str, int, float, bool, type(None))
Arrays = dict[str, np.ndarray[Any, Any]]


def write_mixture(path: str | os.PathLike[str], header: Mapping[str, Any], arrays: Mapping[str, Any]) -> None:
    """Write a mixture; keys of waiting rounds must be plain values."""

    def write(file: Path) -> None:
        with file.open("wb") as stream:
            write_archive(stream, "mixture", {"format": FORMAT, **header}, arrays)

    for key in (*header["waiting"], *header["finished"]):
        if type(key) not in _KEYS:
            raise InvalidInput(f"Mixture: a round's key must be a text or a number to be saved, got {shown(key)}.")
    write_atomically(path, write)


def read_mixture(path: str | os.PathLike[str]) -> tuple[dict[str, Any], Arrays]:
    """Return the header and the arrays of a file, after checks of the header's types."""
    header, arrays = read_archive(path, "mixture")
    where = shown_path(path)
    if header.get("format") != FORMAT:
        raise BadFile(f"{where} has mixture format {shown(header.get('format'))}; this version reads format {FORMAT}.")
    if set(header) != _HEADER or not isinstance(header["options"], dict):
        raise BadFile(f"{where} holds no driftwise mixture.")
    for name in ("experts", "absent"):
        if not _all(header[name], (str,)):
            raise BadFile(f"{where}: `{name}` must be a list of texts, got {shown(header[name])}.")
    for name in ("waiting", "finished"):
        if not _all(header[name], _KEYS):
            raise BadFile(f"{where}: `{name}` must be a list of texts and numbers, got {shown(header[name])}.")
    for name in ("history", "rounds", "latest"):
        if type(header[name]) is not int or not -1 <= header[name] <= 2**48:
            raise BadFile(f"{where}: `{name}` must be a whole number, got {shown(header[name])}.")
    return header, arrays


def _all(values: Any, kinds: tuple[type, ...]) -> bool:
    return isinstance(values, list) and all(type(value) in kinds for value in values)


def checked_rounds(arrays: Arrays, names: tuple[str, ...], n_rows: int, n_experts: int, largest: float) -> Arrays:
    """Return arrays of rounds by name; NaN is allowed in `inputs` and `truths` only."""
    found = {}
    for name in names:
        array = arrays.get(name)
        shape = (n_rows,) if name.endswith(("truths", "combined", "forecast")) else (n_rows, n_experts)
        if array is None or array.dtype != np.float64 or array.shape != shape:
            raise InvalidInput(f"Mixture: the array `{name}` is missing or has another shape or type.")
        sizes = np.abs(array)
        fine = (sizes <= largest) | (np.isnan(array) if name.endswith(("inputs", "truths")) else False)
        if not fine.all() or (
            name.endswith(("weights", "shares", "guess")) and not ((array >= 0) & (array <= 1.000001)).all()
        ):
            raise InvalidInput(f"Mixture: the array `{name}` has numbers outside their range.")
        found[name] = array
    return found


def keys(values: list[Any]) -> list[Hashable]:
    """Return keys that are all different."""
    if len(set(values)) < len(values):
        raise InvalidInput("Mixture: a key of a round occurs twice.")
    return list(values)
