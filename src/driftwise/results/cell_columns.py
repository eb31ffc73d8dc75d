"""The columns of a file of cells, written with Arrow."""

from __future__ import annotations

import io
import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

import numpy as np

from driftwise.results.cell_table import CellTable
from driftwise.results.cells import REALS
from driftwise.results.parquet_columns import arrow
from driftwise.results.spec_labels import environment_label, learner_label

__all__ = ["parquet_bytes"]

_GROUP = 1 << 17  # rows written at a time, which bounds the memory needed
_LOADED = ("round", "regret", "bound")
_NUMBERS = ("n_actions", "n_rounds", "seed", "run")
_SPECS = {"environment_spec": "environment", "learner_spec": "learner"}  # their texts in a table
_ORDER: tuple[str, ...] = (
    "key", "environment", "learner", *_NUMBERS, "comparator", "play", "kind", "round", "final", "regret", "bound",
    "segments", *REALS[:-1], "caveat", "error", "machine", "seconds", "stored", *_SPECS,
)  # fmt: skip

Labels = Mapping[str, tuple[Any, Sequence[str]]]  # by column: the code of each cell, and the labels
_MAKE = {"environment": environment_label, "learner": learner_label}


def parquet_bytes(table: CellTable, metadata: Mapping[str, bytes], labels: Mapping[str, Any]) -> bytes:
    """Return the content of a Parquet file with one row per cell and marked round.

    The columns `environment` and `learner` are for people: `labels` has their labels by spec under "environments" and
    "learners", or that of each cell in a list; others are made from the specs.
    """
    pa, pq = arrow("Writing a Parquet file")
    schema = pa.schema([_field(pa, name) for name in _ORDER])
    others = [name for name in _ORDER if name not in _LOADED]
    given = {name: _labels(table, name, labels.get(f"{name}s", {}), make) for name, make in _MAKE.items()}
    sink = io.BytesIO()
    with pq.ParquetWriter(
        sink,
        schema,
        compression={**dict.fromkeys(others, "zstd"), **dict.fromkeys(_LOADED, "none")},
        use_dictionary=others,
        data_page_version="1.0",
        store_schema=False,  # Arrow's copy of the schema would repeat the header
    ) as writer:
        for first, last in _groups(table):
            columns = [_column(pa, table, given, name, schema.field(name).type, first, last) for name in _ORDER]
            writer.write_table(pa.table(columns, schema=schema))
        writer.add_key_value_metadata(dict(metadata))
    return sink.getvalue()


def _labels(
    table: CellTable, name: str, given: Mapping[str, str] | Sequence[str], make: Callable[[Any], str]
) -> tuple[Any, Sequence[str]]:
    """Return the code of each cell's label, and the labels."""
    if isinstance(given, Mapping):
        return table.cells[name], [given.get(text) or make(json.loads(text)) for text in table.texts[name]]
    distinct = {label: i for i, label in enumerate(dict.fromkeys(given))}
    return np.array([distinct[label] for label in given], np.int32), [*distinct]


def _groups(table: CellTable) -> Iterator[tuple[int, int]]:
    """Yield the first and last cell of each group of rows."""
    first = 0
    while first < len(table):
        last = int(np.searchsorted(table.offsets, table.offsets[first] + _GROUP, "right")) - 1
        last = max(first + 1, last)
        yield first, last
        first = last


def _field(pa: Any, name: str) -> Any:
    if name in _LOADED:  # without nulls the page holds the numbers only
        return pa.field(name, pa.int64() if name == "round" else pa.float64(), nullable=False)
    if name in _NUMBERS or name == "segments":
        return pa.field(name, pa.int64())
    if name in REALS:
        return pa.field(name, pa.float64())
    if name == "final":
        return pa.field(name, pa.bool_())
    return pa.field(name, pa.timestamp("us", tz="UTC") if name == "stored" else pa.dictionary(pa.int32(), pa.string()))


def _column(pa: Any, table: CellTable, labels: Labels, name: str, kind: Any, first: int, last: int) -> Any:
    """Return a column for the cells from `first` to before `last`."""
    rows = slice(table.offsets[first], table.offsets[last])
    lengths = np.diff(table.offsets[first : last + 1])
    if name in _LOADED:
        return pa.array(getattr(table, name)[rows], kind, from_pandas=False)
    if name == "final":
        final = np.zeros(rows.stop - rows.start, np.bool_)
        final[np.cumsum(lengths) - 1] = True
        return pa.array(final)
    if name in labels:
        codes, texts = labels[name]
        return _text_column(pa, codes[first:last], texts, lengths)
    if name == "key":
        distinct, codes = np.unique(table.cells["key"][first:last], return_inverse=True)
        return _text_column(pa, codes.astype(np.int32), [key.decode() for key in distinct.tolist()], lengths)
    name = _SPECS.get(name, name)
    cells = table.cells[name][first:last]
    if name in table.texts:
        return _text_column(pa, cells, table.texts[name], lengths)
    unknown = np.isnan(cells) if name in REALS else cells == 0 if name in ("segments", "stored") else None
    mask = None if unknown is None else np.repeat(unknown, lengths)
    numbers = np.repeat(cells, lengths)
    return pa.array(numbers.view("M8[us]") if name == "stored" else numbers, kind, mask=mask)


def _text_column(pa: Any, codes: Any, texts: Sequence[str], lengths: Any) -> Any:
    """Return a column of texts, NULL for an empty one."""
    repeated = np.repeat(codes, lengths)
    empty = np.array([text == "" for text in texts])[repeated]
    return pa.DictionaryArray.from_arrays(pa.array(repeated, mask=empty), pa.array(texts, pa.string()))
