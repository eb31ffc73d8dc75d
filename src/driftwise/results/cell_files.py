"""Files of cells: Parquet with one row per cell and marked round, which any program that reads Parquet can use.

Unknown values are NULL. The metadata have a JSON header with what is not in the columns, and a digest of the header and
of all cells.
"""

from __future__ import annotations

import hashlib
import io
import json
import os
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from driftwise.core.errors import BadFile, MissingDependency, one_line, rejection, shown
from driftwise.core.files import existing_file, shown_path, write_bytes_atomically
from driftwise.core.validation import memory_bytes
from driftwise.results.cells import CELL, COUNTS, REALS, TEXTS, CellTable, first_fault
from driftwise.results.labels import environment_label, learner_label

FORMAT = 2
_KEY = "driftwise cells"
_DIGEST = f"{_KEY} sha256"
_GROUP = 1 << 17  # rows written at a time, which bounds the memory needed
_COPIES = 3  # of the content of a file: its bytes, Arrow's columns, and the cells
_CURVES = ("round", "regret", "bound")
_MADE = {"environment": environment_label, "learner": learner_label}  # columns of labels, for people
_SPECS = {name: f"{name}_spec" for name in _MADE}  # the columns of their specs
_ORDER: tuple[str, ...] = (
    "key", *_MADE, *COUNTS[:4], "comparator", "play", "kind", "round", "final", "regret", "bound", "segments",
    *REALS[:-1], "caveat", "error", "machine", "seconds", "stored", *_SPECS.values(),
)  # fmt: skip


def arrow(task: str) -> tuple[Any, Any]:
    """Return the modules that read and write Parquet; raise with the command to install them if they are missing."""
    try:
        import pyarrow
        import pyarrow.parquet
    except ImportError:
        raise MissingDependency(task, "pyarrow", "files") from None
    return pyarrow, pyarrow.parquet


def write_cells(
    path: str | os.PathLike[str],
    table: CellTable,
    extra: Mapping[str, Any] | None = None,
    labels: Mapping[str, Any] | None = None,
) -> int:
    """Write cells and a small dictionary of plain values; return the bytes written. Equal content gives equal bytes.

    `labels` are for other programs: by spec under "environments" and "learners", or one for each cell in a list. Those
    that are not given are made from the specs.
    """
    pa, pq = arrow("Writing a Parquet file")
    if (fault := _fault(table)) is not None:
        raise rejection("write_cells", *fault)
    try:
        header = json.dumps({"format": FORMAT, "extra": dict(extra or {})}, sort_keys=True, allow_nan=False).encode()
    except (TypeError, ValueError, RecursionError):
        raise rejection("write_cells", "extra", "a dictionary of plain values", extra) from None
    shown_labels = {name: _labels(table, name, (labels or {}).get(f"{name}s", {})) for name in _MADE}
    schema, texts, sink = _schema(pa), [name for name in _ORDER if name not in _CURVES], io.BytesIO()
    with pq.ParquetWriter(sink, schema, compression="zstd", use_dictionary=texts, store_schema=False) as writer:
        first = 0
        while first < len(table):
            last = int(np.searchsorted(table.offsets, table.offsets[first] + _GROUP, "right")) - 1
            last = max(first + 1, last)
            part = table.take(np.arange(first, last))
            some = {name: labels[first:last] for name, labels in shown_labels.items()}
            writer.write_table(pa.table([_column(pa, part, some, field) for field in schema], schema=schema))
            first = last
        writer.add_key_value_metadata({_KEY: header, _DIGEST: _digest(header, table)})
    content = sink.getvalue()
    write_bytes_atomically(path, content)
    return len(content)


def read_cells(path: str | os.PathLike[str]) -> tuple[CellTable, dict[str, Any]]:
    """Return the cells and the dictionary of a file; raise `BadFile` if anything in it is wrong."""
    file = existing_file(path)
    try:
        content = file.read_bytes()
    except OSError as error:
        raise BadFile(f"Cannot read {shown_path(path)}: {error.strerror or error}.") from None
    return parse_cells(content, path)


def parse_cells(content: bytes, path: str | os.PathLike[str]) -> tuple[CellTable, dict[str, Any]]:
    """Return the cells and the dictionary in the content of a file; `path` is named in errors."""
    pa, pq = arrow("Reading a Parquet file")
    try:
        file = pq.ParquetFile(pa.BufferReader(content))
        metadata = file.metadata.metadata or {}
    except Exception as error:  # Arrow raises many kinds of error on damaged bytes, some in several lines
        raise _incomplete(path, error) from None
    header = metadata.get(_KEY.encode())
    if header is None:
        raise BadFile(f"{shown_path(path)} holds no cells of driftwise.")
    try:
        fields = json.loads(header, parse_constant=_no_constant)
        if (own := fields["format"]) != FORMAT:
            raise BadFile(f"{shown_path(path)} has format {shown(own)} of cells; this version reads format {FORMAT}.")
        extra = fields["extra"]
        if not isinstance(extra, dict):
            raise ValueError("its extra values are not a dictionary")
        n_bytes = sum(file.metadata.row_group(i).total_byte_size for i in range(file.metadata.num_row_groups))
        if _COPIES * n_bytes > memory_bytes():
            raise ValueError("they do not fit into the memory of this machine")
        table = _table(pa, file)
        if (fault := _fault(table)) is not None:
            raise ValueError(f"`{fault[0]}` must be {fault[1]}, got {shown(fault[2])}")
    except BadFile:
        raise
    except (KeyError, TypeError, ValueError, AttributeError, OverflowError, RecursionError) as error:
        if isinstance(error, pa.ArrowException):
            raise _incomplete(path, error) from None
        reason = one_line(str(error) if type(error) is ValueError else repr(error))[:200]
        raise BadFile(f"{shown_path(path)} holds damaged cells: {reason}.") from None
    except Exception as error:
        raise _incomplete(path, error) from None
    if metadata.get(_DIGEST.encode()) != _digest(header, table):
        raise BadFile(f"{shown_path(path)} is damaged: its checksum does not match its content.")
    return table, extra


def _fault(table: CellTable) -> tuple[str, str, object] | None:
    """Return the first broken rule of a table, None if it obeys all."""
    keys = table.cells["key"][table.cells["key"] != b""].tolist()
    if (fault := first_fault(table)) is None and len({*keys}) != len(keys):
        return "table", "cells with distinct keys", "a key twice"
    return fault


def _digest(header: bytes, table: CellTable) -> bytes:
    return hashlib.sha256(header + table.digests().tobytes()).hexdigest().encode()


def _labels(table: CellTable, name: str, user_labels: Mapping[str, str] | Sequence[str]) -> Any:
    """Return the label of each cell."""
    if isinstance(user_labels, Mapping):
        labels = [user_labels.get(text) or _MADE[name](json.loads(text)) for text in table.texts[name]]
        return np.array([*labels, ""], object)[table.cells[name]]
    return np.array(user_labels, object)


def _schema(pa: Any) -> Any:
    kinds = {
        **dict.fromkeys((*COUNTS, "round"), pa.int64()),
        **dict.fromkeys((*REALS, "regret", "bound"), pa.float64()),
        "final": pa.bool_(),
        "stored": pa.timestamp("us", tz="UTC"),
    }
    return pa.schema([pa.field(name, kinds.get(name, pa.string()), name not in (*_CURVES, "final")) for name in _ORDER])


def _column(pa: Any, table: CellTable, labels: Mapping[str, Any], field: Any) -> Any:
    """Return a column: the points of all curves, or the values of the cells, repeated for each point."""
    name = field.name
    if name in _CURVES:
        return pa.array(getattr(table, name), field.type, from_pandas=False)
    if name == "final":
        final = np.zeros(len(table.round), np.bool_)
        final[table.offsets[1:] - 1] = True
        return pa.array(final)
    if name == "key":
        values = np.array(table.keys(), object)
    elif name in labels:
        values = labels[name]
    elif name in TEXTS or name in _SPECS.values():
        name = name.removesuffix("_spec")
        values = np.array([*table.texts[name], ""], object)[table.cells[name]]
    else:
        values = table.cells[name]
        unknown = np.isnan(values) if name in REALS else (values == 0) & (name in ("segments", "stored"))
        numbers = values.view("M8[us]") if name == "stored" else values
        return pa.array(np.repeat(numbers, table.lengths), field.type, mask=np.repeat(unknown, table.lengths))
    texts = pa.array(values, pa.string(), mask=values == "").dictionary_encode()
    return texts.take(pa.array(np.repeat(np.arange(len(table)), table.lengths))).cast(pa.string())


def _table(pa: Any, file: Any) -> CellTable:
    """Return the cells of a file; the values of a cell are those of its first row."""
    names = [name for name in _ORDER if name not in _MADE]
    schema = _schema(pa)
    for name in names:
        place = file.schema_arrow.get_field_index(name)
        kind = None if place < 0 else file.schema_arrow.field(place).type
        if kind != schema.field(name).type:
            raise ValueError(f"it has no column '{name}' of {schema.field(name).type}")
    batches = [*file.iter_batches(columns=names)]
    rows = pa.Table.from_batches(batches, file.schema_arrow if not batches else None).combine_chunks()
    for name in (*_CURVES, "final"):
        if rows.column(name).null_count:
            raise ValueError(f"the column '{name}' has missing values")
    ends = np.flatnonzero(rows.column("final").to_numpy()) + 1
    if (ends[-1] if len(ends) else 0) != rows.num_rows:
        raise ValueError("its last cell has no end")
    offsets = np.concatenate([np.zeros(1, np.int64), ends])
    first = rows.take(pa.array(offsets[:-1]))
    cells, texts = np.empty(len(ends), CELL), {}
    keys = first.column("key").fill_null("").to_pylist()
    cells["key"] = [key if len(key) in (0, CELL["key"].itemsize) and key.isascii() else "?" for key in keys]
    for name in (*COUNTS, *REALS):
        column = first.column(name).cast(pa.int64()) if name == "stored" else first.column(name)
        cells[name] = column.fill_null(0).to_numpy() if name in COUNTS else column.to_numpy()
    for name in TEXTS:
        values = np.array(first.column(_SPECS.get(name, name)).fill_null("").to_pylist(), object)
        distinct, codes = np.unique(values, return_inverse=True)
        cells[name], texts[name] = codes, tuple(distinct.tolist())
    return CellTable(cells, texts, offsets, *(rows.column(name).to_numpy() for name in _CURVES))


def _incomplete(path: str | os.PathLike[str], error: Exception) -> BadFile:
    reason = one_line(str(error) or type(error).__name__)[:200].rstrip(".")
    return BadFile(f"{shown_path(path)} is not a complete Parquet file: {reason}.")


def _no_constant(name: str) -> float:
    raise ValueError(f"its header has the number {name}")
