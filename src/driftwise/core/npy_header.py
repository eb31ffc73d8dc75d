"""The header of NumPy's .npy format, read without evaluating it.

NumPy parses the header with Python's own parser, which raises many kinds of error on hostile text and can exhaust the
stack. Here a regular expression matches only what it may contain: a plain type of numbers, an order, a shape.
"""

from __future__ import annotations

import math
import re
from typing import Any, NamedTuple

import numpy as np

__all__ = ["LONGEST_HEADER", "NpyHeader", "npy_header"]

LONGEST_HEADER = 10_000  # bytes, magic and length included; NumPy's own limit for files it does not trust
_MAGIC = b"\x93NUMPY"
_LENGTH_BYTES = {1: 2, 2: 4, 3: 4}  # of the header's length, by version
_MOST_DIMENSIONS = 32
_ITEM = re.compile(
    r"""\s*(?P<mark>['"])(?P<key>descr|fortran_order|shape)(?P=mark)\s*:\s*
    (?: '(?P<one>[^']*)' | "(?P<two>[^"]*)" | (?P<flag>True|False) | \((?P<shape>[^()]*)\) | (?P<other>[^,]*) )
    \s*(?:,|$)""",
    re.VERBOSE,
)
_PLAIN_KIND = re.compile(r"[<>|=]?[biufcSU][0-9]{1,9}")
_DIMENSION = re.compile(r"\s*([0-9]{1,18})L?\s*")


class NpyHeader(NamedTuple):
    """Type, order, shape and position of the data."""

    dtype: np.dtype[Any]
    fortran_order: bool
    shape: tuple[int, ...]
    offset: int  # of the data

    @property
    def nbytes(self) -> int:
        """The length of the data."""
        return math.prod(self.shape) * self.dtype.itemsize


def npy_header(beginning: bytes) -> NpyHeader:
    """Parse the first `LONGEST_HEADER` bytes of a file (fewer if it is shorter); raise `ValueError` if it is invalid.

    >>> npy_header(b"\\x93NUMPY\\1\\0\\x3a\\0{'descr': '<f8', 'fortran_order': False, 'shape': (3, 2)}\\n").shape
    (3, 2)
    """
    if beginning[:6] != _MAGIC:
        raise ValueError("it does not begin like a .npy file" if len(beginning) >= 6 else "it is too short")
    width = _LENGTH_BYTES.get(beginning[6] if len(beginning) > 6 else 0)
    if width is None:
        raise ValueError("its .npy version is unknown")
    start = 8 + width
    end = start + int.from_bytes(beginning[8:start], "little")
    if end > LONGEST_HEADER:
        raise ValueError(f"its header is longer than {LONGEST_HEADER} bytes")
    if len(beginning) < end:
        raise ValueError("it ends within its header")
    try:
        items = _items(beginning[start:end].decode("ascii"))
        return NpyHeader(_dtype(items["descr"]), _flag(items["fortran_order"]), _shape(items["shape"]), end)
    except (KeyError, UnicodeDecodeError):
        raise ValueError("its header is damaged") from None


def _items(text: str) -> dict[str, re.Match[str]]:
    text = text.strip()
    if text[:1] != "{" or text[-1:] != "}":
        raise ValueError("its header is damaged")
    body, position = text[1:-1].rstrip(), 0
    items: dict[str, re.Match[str]] = {}
    while position < len(body):
        item = _ITEM.match(body, position)
        if item is None or item["key"] in items:
            raise ValueError("its header is damaged")
        items[item["key"]] = item
        position = item.end()
    return items


def _dtype(item: re.Match[str]) -> np.dtype[Any]:
    name = item["one"] or item["two"] or ""
    if not _PLAIN_KIND.fullmatch(name):
        raise ValueError("its values are not plain numbers")
    try:
        return np.dtype(name)
    except (TypeError, ValueError):
        raise ValueError("its values are not plain numbers") from None


def _flag(item: re.Match[str]) -> bool:
    if item["flag"] is None:
        raise ValueError("its header is damaged")
    return item["flag"] == "True"


def _shape(item: re.Match[str]) -> tuple[int, ...]:
    if item["shape"] is None:
        raise ValueError("its header is damaged")
    *numbers, last = item["shape"].split(",")  # a tuple of one number ends in a comma
    if last.strip():
        numbers.append(last)
    dimensions = [_DIMENSION.fullmatch(number) for number in numbers]
    if len(dimensions) > _MOST_DIMENSIONS or not all(dimensions):
        raise ValueError("its shape is damaged")
    return tuple(int(dimension[1]) for dimension in dimensions if dimension)
