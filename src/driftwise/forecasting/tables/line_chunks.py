"""Cuts a stream of text into chunks of whole lines, without decoding them."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, NamedTuple

import numpy as np

from driftwise.forecasting.tables.table_sources import ByteStream, TableSource

__all__ = ["Chunk", "line_chunks", "n_lines"]

Positions = np.ndarray[Any, Any]

_SIZE = 1 << 21  # bytes that are read at once
LONGEST = 1 << 24  # bytes of a line
_QUOTE = ord('"')
_LINE_ENDS = (ord("\n"), ord("\r"))


class Chunk(NamedTuple):
    """Whole lines of a text."""

    data: bytes
    offset: int  # of the first byte in the stream
    line: int  # number of the first line, from 1
    read: float | None = None  # part of the file that was read up to here


def line_chunks(
    source: TableSource, stream: ByteStream, start: bytes, offset: int, line: int, quotes: str | None
) -> Iterator[Chunk]:
    """Yield the lines of a stream in chunks.

    `start` was read from the stream before; `offset` and `line` are the position of its first byte. With the delimiter
    of a CSV file as `quotes`, line breaks within quotes do not end a line.
    """
    rest, ended = start, False
    while not ended:
        more = stream.read(_SIZE)
        ended = not more
        data = rest + more
        end = len(data) if ended else last_line_end(data, quotes)
        if end == 0 and len(data) > LONGEST:
            hint = "" if quotes is None else " Is a quotation mark not closed?"
            raise source.fault(f", line {line}: it is longer than {LONGEST // 2**20} MB.{hint}")
        if end:
            chunk = Chunk(data[:end], offset, line, stream.fraction())
            offset, line = offset + end, line + n_lines(chunk.data)
            yield chunk
        rest = data[end:]


def n_lines(data: bytes) -> int:
    """Return the number of line ends: line feeds, and carriage returns without one."""
    return data.count(b"\n") + (data.count(b"\r") - data.count(b"\r\n") if b"\r" in data else 0)


def last_line_end(data: bytes, quotes: str | None) -> int:
    r"""Return the position after the last line break that is not within quotes, 0 if there is none.

    >>> last_line_end(b'1,"a\nb"\n2,"c\n', ","), last_line_end(b'1,"a\nb"\n2,"c\n', None)
    (8, 13)
    """
    if quotes is None or b'"' not in data:
        return data.rfind(b"\n") + 1
    opening, closing = _quoted(data, ord(quotes))
    end = data.rfind(b"\n")
    while end >= 0:
        i = int(np.searchsorted(opening, end)) - 1
        if i < 0 or closing[i] < end:
            return end + 1
        end = data.rfind(b"\n", 0, int(opening[i]))
    return 0


def _quoted(data: bytes, delimiter: int) -> tuple[Positions, Positions]:
    """Return the positions where quoted text begins and ends; a mark within an unquoted cell is an ordinary character.

    If every second mark follows the end of a cell and the others precede one, the marks alternate; else they are
    followed one by one. The last text may have no end, which is then the length of the data.
    """
    text = np.frombuffer(data, np.uint8)
    marks = np.flatnonzero(text == _QUOTE)
    opening, closing = marks[::2], marks[1::2]
    ends = np.zeros(256, bool)
    ends[[delimiter, _QUOTE, *_LINE_ENDS]] = True
    before = ends[text[opening - 1]] | (opening == 0)
    after = ends[text[np.minimum(closing + 1, len(text) - 1)]] | (closing == len(text) - 1)
    if before.all() and after.all():
        return opening, np.append(closing, len(data)) if len(opening) > len(closing) else closing
    return _followed(text, marks, ends)


def _followed(text: Positions, marks: Positions, ends: Positions) -> tuple[Positions, Positions]:
    opening, closing = [], []
    places, i = marks.tolist(), 0
    while i < len(places):
        if places[i] and (not ends[text[places[i] - 1]] or text[places[i] - 1] == _QUOTE):
            i += 1
            continue
        opening.append(places[i])
        i += 1
        while i + 1 < len(places) and places[i + 1] == places[i] + 1:
            i += 2
        closing.append(places[i] if i < len(places) else len(text))
        i += 1
    return np.array(opening, np.int64), np.array(closing, np.int64)
