"""Runs mixtures over a table of forecasts in a file, block by block, and writes their forecasts and weights.

Reading, mixing and writing overlap. Blocks have a fixed number of rows, so the results and the bytes of the output do
not depend on threads or on the batches in which the input arrives. Every file has its final name only when it is
complete: first that of the forecasts, then the page, last the summary, which says that all is there.
"""

from __future__ import annotations

import contextlib
import csv
import difflib
import io
import json
import math
import os
import stat
import time
from bisect import bisect_left
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from pathlib import Path
from typing import NamedTuple, TypeVar

import numpy as np

from driftwise.core.errors import BadData, BadFile, InvalidInput, MissingDependency, one_line, shown

try:
    import pyarrow as pa
    from pyarrow import compute, csv as arrow_csv, parquet, types
except ImportError:
    raise MissingDependency("Reading and writing tables of forecasts", "pyarrow", "files") from None

from driftwise.core.files import shown_path, try_lock, write_atomically, write_bytes_atomically
from driftwise.core.types import Actions, Matrix, Vector
from driftwise.environments.csv_tables import CsvTable
from driftwise.environments.table_files import (
    LONGEST_TEXT,
    STANDARD_INPUT,
    ByteStream,
    ColumnChoice,
    Columns,
    JsonLines,
    ParquetTable,
    TableSource,
    opened,
    read_error,
)
from driftwise.forecasting.forecast_report import ForecastReport
from driftwise.forecasting.forecast_views import is_report_page, write_report_page
from driftwise.forecasting.frames import FORECAST, WEIGHT
from driftwise.forecasting.labelled_values import LARGEST, first_too_large
from driftwise.forecasting.losses import Array
from driftwise.forecasting.mixture_stack import Combined, MixtureStack
from driftwise.forecasting.options import MixtureOptions
from driftwise.forecasting.running_report import RunningReport

Column = TypeVar("Column", Vector, pa.Array)
TableReader = CsvTable | JsonLines | ParquetTable
CellFault = Callable[[int, str, str], BadData]  # of a row, a column and a message

_MOST_ROWS = 1 << 17
_FEWEST_ROWS = 1 << 8
_MOST_CELLS = 1 << 21


class RowBlock(NamedTuple):
    """Consecutive rows of a table."""

    truths: Vector
    forecasts: Matrix
    time: pa.Array  # None if there is no such column
    by: pa.Array
    fault: CellFault


def block_rows(n_columns: int) -> int:
    """Return the number of rows of a block: it depends on the number of columns only.

    >>> block_rows(11), block_rows(1000)
    (131072, 2048)
    """
    power_of_two = 1 << (_MOST_CELLS // n_columns).bit_length() >> 1  # the largest one for which the cells are not more
    return min(max(_FEWEST_ROWS, power_of_two), _MOST_ROWS)


def _number_fault(name: str, column: Vector, check: Callable[[Vector], str]) -> tuple[int, str, str] | None:
    """Return the first row of a column with a number that is too large or that the loss rejects, and the rule."""
    row = first_too_large(np.array(column))  # a copy: columns have several layouts, each compiled for itself
    if row >= 0:
        rule = "finite" if np.isinf(column[row]) else f"at most {LARGEST:g} in size"
    elif rule := check(column):
        row = _first_bad(column, lambda part: bool(check(part)))
    return (row, name, f"it must be {rule}, got {float(column[row])}.") if rule else None


def _first_bad(column: Column, is_bad: Callable[[Column], bool]) -> int:
    """Return the first row up to which a column is bad."""
    return bisect_left(range(1, len(column)), True, key=lambda n_rows: is_bad(column[:n_rows]))


def _check_text(fault: CellFault, name: str, column: pa.Array) -> None:
    """Reject a row without a time or a series, and texts that are very long."""
    missing = compute.is_null(column, nan_is_null=types.is_floating(column.type))
    if types.is_string(column.type):
        length = compute.binary_length(column)
        missing = compute.or_kleene(missing, compute.equal(length, 0)).fill_null(True)
        if (row := compute.index(compute.greater(length, LONGEST_TEXT).fill_null(False), True).as_py()) >= 0:
            raise fault(row, name, f"the text is longer than {LONGEST_TEXT} bytes.")
    if (row := compute.index(missing, True).as_py()) >= 0:
        raise fault(row, name, "it is missing.")


_KINDS = {  # how times in text are compared: the words for the first one, and the types of Arrow that may hold all
    "number": ("a number", [pa.float64()]),
    "time": ("an ISO date or timestamp without an offset", [pa.timestamp("us"), pa.timestamp("ns")]),
    "offset": ("an ISO timestamp with an offset", [pa.timestamp("us", "UTC"), pa.timestamp("ns", "UTC")]),
}
_LARGEST_EXACT = 2.0**53  # below it every whole number is a float
_LONG = "A table with one row for each expert? In Python, driftwise.combine(frame, expert=..., forecast=...) takes it."


class TimeOrder:
    """Checks that the times of each series increase: an equal time is often a table with a row for each expert.

    Times that are numbers, dates or timestamps are compared as such; whole numbers of any size are compared exactly.
    Text is compared as numbers if the first one is a number, as timestamps if the first one is an ISO date or timestamp
    (with or without an offset from UTC), else as text.
    """

    def __init__(self, column: str) -> None:
        self._column = column
        self._kind = ""
        self._last: Array = np.empty(0)  # time of each series

    def check(self, block: RowBlock, series: Actions | None, n_series: int) -> None:
        """Reject a time that is not after the last one of the same series."""
        self._kind = self._kind or _kind(block.time)
        order = np.arange(len(block.time)) if series is None else np.argsort(series, kind="stable")
        series_of = np.zeros(len(block.time), np.int64) if series is None else series[order]
        keys = _keys(block, self._column, self._kind)[order]
        is_first, n_before = np.append(True, series_of[1:] != series_of[:-1]), len(self._last)
        continues = is_first & (series_of < n_before)  # a series of an earlier block
        if n_before and keys.dtype != self._last.dtype:  # Python compares whole numbers and floats exactly
            keys, self._last = keys.astype(object), self._last.astype(object)
        previous = np.append(keys[:1], keys[:-1])
        previous[continues] = self._last[series_of[continues]]
        wrong = np.flatnonzero((~is_first | continues) & (keys <= previous))
        if wrong.size:
            at = int(wrong[order[wrong].argmin()])
            before = "a later one" if is_first[at] else shown(block.time[int(order[at - 1])].as_py())
            before = shown(previous[at]) if self._kind == "text" else before
            raise self._fault(block, int(order[at]), "" if keys[at] == previous[at] else before, series is not None)
        self._last = np.append(self._last[:n_before].astype(keys.dtype), np.empty(n_series - n_before, keys.dtype))
        is_last = np.append(is_first[1:], True)
        self._last[series_of[is_last]] = keys[is_last]

    def _fault(self, block: RowBlock, row: int, before: str, several: bool) -> BadData:
        """Return the error about a row whose time is less than the one before, or equal to it if that is ""."""
        hint = "They are compared as text: write dates as YYYY-MM-DD." if self._kind == "text" else "Sort the rows."
        order = f"after {before}. {hint}" if before else f"again. {_LONG}"
        within = " within a series" if several else ""
        by = "" if several else " If there are several series, name them by --by."
        got = f"got {shown(block.time[row].as_py())} {order}{by}"
        return block.fault(row, self._column, f"times must increase{within}, {got}")


def _kind(column: pa.Array) -> str:
    if types.is_floating(column.type) or types.is_decimal(column.type):
        return "number"
    if not types.is_string(column.type):
        return "whole"  # whole numbers, also the times of a Parquet file
    return next((kind for kind in _KINDS if _cast(column[:1], kind) is not None), "text")


def _keys(block: RowBlock, name: str, kind: str) -> Array:
    """Return the times of a block as values that can be compared."""
    column = block.time
    if kind == "text":
        return np.array(column.to_pylist(), object)
    if types.is_string(column.type):
        parsed = _cast(column, kind)
        if parsed is None:
            row = _first_bad(column, lambda part: _cast(part, kind) is None)
            rule = f"it must be {_KINDS[kind][0]}, as the first one is"
            raise block.fault(row, name, f"{rule}, got {shown(column[row].as_py())}.")
        column = parsed
    if types.is_decimal(column.type):
        return np.array(column.to_pylist(), object)
    keys: Array
    try:
        if types.is_uint64(column.type):
            keys = column.to_numpy()
        elif kind == "number":
            keys = column.cast(pa.float64(), safe=False).to_numpy(zero_copy_only=False)
        else:
            short = types.is_date32(column.type) or types.is_time32(column.type)
            keys = (column.cast(pa.int32()) if short else column).cast(pa.int64()).to_numpy(zero_copy_only=False)
    except pa.ArrowException:
        raise block.fault(0, name, f"times of the type {column.type} cannot be compared.") from None
    if kind == "number" and not np.isfinite(keys).all():
        row = int(np.argmin(np.isfinite(keys)))
        raise block.fault(row, name, f"it must be finite, got {float(keys[row])}.")
    return _exact(block.time, keys) if types.is_string(block.time.type) and kind == "number" else keys


def _exact(column: pa.Array, keys: Vector) -> Array:
    """Return times in text that are read as floats; if some are too large for that, as whole numbers."""
    if np.abs(keys).max() < _LARGEST_EXACT:
        return keys
    texts = compute.utf8_trim_whitespace(column)
    for target in (pa.int64(), pa.uint64()):
        with contextlib.suppress(pa.ArrowException):
            whole: Array = texts.cast(target).to_numpy()
            return whole
    return np.array([int(text) if text.lstrip("-").isdecimal() else float(text) for text in texts.to_pylist()], object)


def _cast(column: pa.Array, kind: str) -> pa.Array | None:
    """Return a column of text as numbers or timestamps, None if it has something else."""
    for target in _KINDS[kind][1]:
        with contextlib.suppress(pa.ArrowException):
            parsed = compute.utf8_trim_whitespace(column).cast(target)
            return parsed.cast(pa.timestamp("ns", target.tz)) if kind != "number" else parsed
    return None


PAGE, SUMMARY = "report.html", "summary.json"
_SUFFIXES = {"csv": (".csv", ".tsv", ".txt"), "parquet": (".parquet", ".pq"), "jsonl": (".jsonl", ".ndjson")}
FORMATS = tuple(_SUFFIXES)
_COMPRESSED = {".gz": "gzip", ".bz2": "bz2", ".zst": "zstd"}
_INDEX_NAMES = ("", "Unnamed: 0", "__index_level_0__")  # the index of a pandas table, as it appears in files
_MOST_SHOWN = 12  # names in a message
_IMPLAUSIBLE = 1e3  # times the loss of the best expert

Note = Callable[[str], None]


class Wanted(NamedTuple):
    """The columns that the user names; without `experts`, all other columns of numbers."""

    target: str
    experts: tuple[str, ...] | None = None
    time: str | None = None
    by: str | None = None


class CombineTask(NamedTuple):
    """A table of forecasts and what to do with it."""

    source: TableSource
    wanted: Wanted
    options: MixtureOptions
    out: Path
    format: str  # of the forecasts: "csv" or "parquet"
    delimiter: str | None = None
    decimal: str | None = None
    n_threads: int = 1
    page: bool = True


class RowProgress(NamedTuple):
    """How far a run is."""

    rows: int
    seconds: float  # since its start
    read: float | None  # part of the input, if its length is known


class CombinedFiles(NamedTuple):
    """The end of a run."""

    report: ForecastReport
    files: tuple[Path, ...]


def table_source(path: str, format: str | None = None) -> TableSource:
    """Return the source of a path, or of "-"; without a `format` the suffix gives it."""
    name = Path(path.lower())
    compression = _COMPRESSED.get(name.suffix)
    size = None if path == STANDARD_INPUT else _size(path)
    if format is None:
        suffix = ".csv" if path == STANDARD_INPUT else (name if compression is None else name.with_suffix("")).suffix
        format = next((format for format, theirs in _SUFFIXES.items() if suffix in theirs), None)
        if format is None:
            raise InvalidInput(
                f"combine: the format of {shown_path(path)} is not known by its suffix;"
                f" give --input-format, one of {', '.join(FORMATS)}."
            )
    if format == "parquet" and (size is None or compression is not None):
        what = "a stream" if size is None else "a compressed file"
        raise InvalidInput(f"combine: Parquet cannot be read from {what}; unpack it into a file first.")
    return TableSource(path, format, compression, size)


def _size(path: str) -> int | None:
    """Return the length of a file, None for a pipe; reject what cannot be read."""
    try:
        about = Path(path).stat()
    except FileNotFoundError:
        raise BadData(f"There is no file {shown_path(path)}.") from None
    except (OSError, ValueError) as error:
        raise read_error(path, error) from None
    if stat.S_ISDIR(about.st_mode):
        raise BadData(f"{shown_path(path)} is a folder; give a file.")
    if stat.S_ISFIFO(about.st_mode) or stat.S_ISCHR(about.st_mode):
        return None
    opened(path).close()
    return about.st_size


def combine_table(task: CombineTask, progress: Callable[[RowProgress], None] | None, note: Note) -> CombinedFiles:
    """Run the mixtures over a table and write the forecasts, the summary and the page."""
    _check_names(task.wanted)
    with contextlib.ExitStack() as stack:
        reader = _open_table(task, stack)
        run = _Run(task, reader, _choose_columns(task.source, reader.columns, task.wanted))
        stack.enter_context(_locked_folder(task.out))
        outcome = run.play(progress)
    run.add_notes(outcome.report, note)
    return outcome


def _open_table(task: CombineTask, stack: contextlib.ExitStack) -> TableReader:
    """Return the reader of a table; its stream is closed with the stack."""
    source, wanted = task.source, task.wanted
    if source.format == "parquet":
        return ParquetTable(source)
    stream = stack.enter_context(contextlib.closing(ByteStream(source)))
    if source.format == "jsonl":
        return JsonLines(stream)
    return CsvTable(stream, wanted.target, (wanted.time, wanted.by), task.delimiter, task.decimal)


def _check_names(wanted: Wanted) -> None:
    """Reject a column that has two uses."""
    roles = [("--target", wanted.target), ("--time", wanted.time), ("--by", wanted.by)]
    roles += [("--experts", name) for name in wanted.experts or ()]
    used: dict[str | None, str] = {}
    for option, name in roles:
        if name is not None and name in used:
            also = f"{used[name]} and {option}" if used[name] != option else f"{option} twice"
            raise InvalidInput(f"combine: the column {shown(name)} is given as {also}.")
        used[name] = option
    if wanted.experts is not None and not wanted.experts:
        raise InvalidInput("combine: --experts must name at least one column.")


def _choose_columns(source: TableSource, columns: Columns, wanted: Wanted) -> ColumnChoice:
    """Return the columns to read; raise `BadData` if one is missing or the choice is not clear."""
    places = columns.places
    for i, name in enumerate(columns.names):
        if places[name] < i and not (name == "" and wanted.experts is not None):
            raise source.fault(f": the columns {places[name] + 1} and {i + 1} have the same name {shown(name)}.")
    for needed in (wanted.target, wanted.time, wanted.by, *(wanted.experts or ())):
        if needed is not None and needed not in places:
            near = difflib.get_close_matches(needed, columns.names, n=1)
            advice = f"Did you mean {shown(near[0])}?" if near else f"It has {_listed(columns.names)}."
            raise source.fault(one_line(f": there is no column {shown(needed)}. {advice}"))
    experts = wanted.experts
    if experts is None:
        others = {wanted.target, wanted.time, wanted.by}
        experts = tuple(name for name, numeric in zip(*columns, strict=True) if numeric and name not in others)
        _reject_index(source, places, experts)
    if not experts:
        raise source.fault(f": there is no column of forecasts beside the target {shown(wanted.target)}.")
    return ColumnChoice(wanted.target, experts, wanted.time, wanted.by, guessed=() if wanted.experts else experts)


def _reject_index(source: TableSource, places: Mapping[str, int], experts: Sequence[str]) -> None:
    for name in experts:
        place = places[name] + 1
        if name in _INDEX_NAMES and (place == 1 or name == _INDEX_NAMES[-1]):
            what = "has no name" if name == "" else f"is named {shown(name)}"
            raise source.fault(
                f": column {place} {what} and looks like the index of a pandas table."
                " Write the table with index=False, or name the forecasts by --experts."
            )
        if name == "":
            raise source.fault(f": column {place} has no name. Name the forecasts by --experts.")


def _listed(names: Sequence[str]) -> str:
    more = f" and {len(names) - _MOST_SHOWN} more" if len(names) > _MOST_SHOWN else ""
    return ", ".join(shown(name) for name in names[:_MOST_SHOWN]) + more


@contextlib.contextmanager
def _locked_folder(out: Path) -> Iterator[None]:
    """Create the output folder and lock it: files of two processes must not mix; delete it if it stays empty."""
    created = [folder for folder in (out, *out.parents) if not folder.exists()]
    try:
        out.mkdir(parents=True, exist_ok=True)
        descriptor = os.open(out, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
    except OSError as error:
        raise BadFile(f"Cannot write to {shown_path(out)}: {error.strerror or error}.") from None
    try:
        if try_lock(descriptor) is False:
            raise InvalidInput(f"combine: another process is writing to {shown_path(out)}; give another --out.")
        yield
    finally:
        os.close(descriptor)
        with contextlib.suppress(OSError):  # they are not empty
            for folder in created:
                folder.rmdir()


class _Run:
    """One run over a table: the mixtures, series and times that are carried from block to block, and the files."""

    def __init__(self, task: CombineTask, reader: TableReader, choice: ColumnChoice) -> None:
        self._task, self._reader, self._choice = task, reader, choice
        self._experts, self._loss = task.options.names(choice.experts), task.options.forecast_loss
        self._names = [*choice.texts, choice.target, FORECAST, *(WEIGHT + name for name in self._experts)]
        if taken := [name for name, n_uses in Counter(self._names).items() if n_uses > 1]:
            raise task.source.fault(
                f": the column {shown(taken[0])} has the name of a column of the output; rename it."
            )
        # The numbers of the series by their names, texts or whole numbers; without such a column there is one series.
        self._series: dict[str | int, int] = {"": 0} if choice.by is None else {}
        self._order = None if choice.time is None else TimeOrder(choice.time)
        self._stack = MixtureStack(task.options, len(choice.experts), len(self._series))
        self._report = RunningReport(self._experts, self._loss, len(self._series))
        self._rows = 0
        self._is_awake = np.zeros(len(choice.experts), bool)  # whether an expert has a forecast

    def play(self, progress: Callable[[RowProgress], None] | None) -> CombinedFiles:
        """Run over all rows and write all files."""
        out = self._task.out
        target, summary, page = out / f"forecasts.{self._task.format}", out / SUMMARY, out / PAGE
        old = [summary, *([page] if self._task.page or is_report_page(page) else [])]  # of an earlier run

        def write(path: Path) -> None:
            with contextlib.closing(_TableWriter(path, self._task.format)) as writer:
                self._play_blocks(writer, progress)
            if self._rows == 0:
                raise self._task.source.fault(": it has no rows.")
            for file in old:
                file.unlink(missing_ok=True)

        write_atomically(target, write, follow_link=False)
        report = self._report.report(self._stack.cuts)
        if self._choice.by is not None:
            report = replace(report, series_names=tuple(self._series))
        if self._task.page:
            write_report_page(page, report, follow_link=False)
        write_bytes_atomically(summary, self._summary(report), follow_link=False)  # the last: it says that all is there
        return CombinedFiles(report, (target, summary, *([page] * self._task.page)))

    def _play_blocks(self, writer: _TableWriter, progress: Callable[[RowProgress], None] | None) -> None:
        """Mix a block while the next one is read and the last one is written."""
        began, batches = time.monotonic(), self._reader.batches(self._choice)
        blocks = self._blocks(batches)
        with contextlib.closing(batches), ThreadPoolExecutor(1) as reading, ThreadPoolExecutor(1) as writing:
            upcoming, written = reading.submit(next, blocks, None), writing.submit(lambda: None)
            while (block := upcoming.result()) is not None:
                upcoming = reading.submit(next, blocks, None)
                combined, series = self._mix(block)
                written.result()
                written = writing.submit(self._keep, writer, block, combined, series)
                self._rows += len(block.truths)
                if progress is not None:
                    progress(RowProgress(self._rows, time.monotonic() - began, self._reader.fraction()))
            written.result()

    def _blocks(self, batches: Iterator[pa.RecordBatch]) -> Iterator[RowBlock]:
        """Yield blocks of the same number of rows, the last one shorter."""
        held: list[pa.RecordBatch] = []
        n_rows, row, size = block_rows(len(self._names)), 0, 0
        for batch in batches:
            while batch.num_rows:
                held.append(batch.slice(0, n_rows - size))
                size += held[-1].num_rows
                batch = batch.slice(held[-1].num_rows)
                if size == n_rows:
                    yield self._block(pa.Table.from_batches(held), row)
                    row, held, size = row + size, [], 0
        if held:
            yield self._block(pa.Table.from_batches(held), row)

    def _block(self, table: pa.Table, first: int) -> RowBlock:
        """Return the rows of a table, of which `first` is the first one, after a check of all cells."""

        def fault(row: int, column: str, message: str) -> BadData:
            place = self._reader.place(first + row)
            return self._task.source.fault(f", {place}, column {shown(column)}: {message}")

        choice, loss = self._choice, self._loss
        truths, *forecasts = (table.column(name).to_numpy() for name in choice.numbers)
        texts = {name: pa.concat_arrays(table.column(name).chunks) for name in choice.texts}
        time, by = (None if name is None else texts[name] for name in (choice.time, choice.by))
        faults = [_number_fault(choice.target, truths, loss.truth_fault)]
        faults += map(_number_fault, choice.experts, forecasts, [loss.forecast_fault] * len(forecasts))
        if broken := [rule for rule in faults if rule is not None]:
            raise fault(*min(broken, key=lambda rule: rule[0]))
        for name, column in texts.items():
            _check_text(fault, name, column)
        return RowBlock(truths, np.column_stack(forecasts), time, by, fault)

    def _mix(self, block: RowBlock) -> tuple[Combined, Actions | None]:
        """Play the rows of a block; return the forecasts and weights, and the series of each row."""
        series = None if self._choice.by is None else self._series_numbers(block, self._choice.by)
        if self._order is not None:
            self._order.check(block, series, len(self._series))
        missing = len(self._series) - self._stack.n_series
        if missing > 0:  # room for more, so that series that appear one by one do not cost a copy of all each
            self._stack.add_series(max(missing, self._stack.n_series // 2))
        self._is_awake |= ~np.isnan(block.forecasts).all(axis=0)
        return self._stack.run(block.forecasts, block.truths, series, self._task.n_threads), series

    def _series_numbers(self, block: RowBlock, name: str) -> Actions:
        """Return the number of the series of each row; series that are new get the next ones."""
        column, series = block.by, self._series
        if not types.is_string(column.type):
            try:
                column = column.cast(pa.int64())
            except pa.ArrowException:
                raise block.fault(0, name, "a whole number is beyond 64 bits.") from None
        encoded = column.dictionary_encode()
        places = [series.setdefault(name, len(series)) for name in encoded.dictionary.to_pylist()]
        numbers: Actions = np.array(places, np.int64)[encoded.indices.to_numpy()]
        return numbers

    def _keep(self, writer: _TableWriter, block: RowBlock, combined: Combined, series: Actions | None) -> None:
        """Write the results of a block and add them to the report."""
        columns = [column for column in (block.time, block.by) if column is not None]
        columns += [pa.array(numbers, from_pandas=True) for numbers in (block.truths, combined.combined)]
        columns += [pa.array(weights) for weights in combined.weights.T.copy()]
        writer.write(pa.table(columns, names=self._names))
        if series is not None and (n_series := int(series.max()) + 1) > self._report.n_series:
            self._report.add_series(n_series - self._report.n_series)
        self._report.add(combined.inputs, block.truths, combined.combined, combined.weights, series, block.time)

    def _summary(self, report: ForecastReport) -> bytes:
        values = {
            "input": Path(self._task.source.path).name,
            "rows": self._rows,
            "series": len(self._series),
            "columns": {name: value for name, value in self._choice._asdict().items() if name != "guessed"},
            "options": self._task.options.spec,
            "report": report.record(),
        }
        return (json.dumps(values, indent=2, allow_nan=False, ensure_ascii=False) + "\n").encode()

    def add_notes(self, report: ForecastReport, note: Note) -> None:
        """Name what may be a mistake: signs of a CSV file, a single expert, columns without numbers, no experts."""
        name, choice = self._task.source.name, self._choice
        if isinstance(self._reader, CsvTable) and self._reader.guesses:
            note(f"{name}: it was read with {self._reader.guesses}; --delimiter and --decimal give others.")
        if len(self._experts) == 1:
            note(
                f"{name}: {shown(choice.experts[0])} is the only expert, so its weight is 1 in every row."
                " A table for this command has one column for each expert."
            )
        for expert, is_awake in zip(choice.experts, self._is_awake, strict=True):
            if not is_awake:
                note(f"{name}, column {shown(expert)}: all forecasts are missing.")
        for expert in _implausible(report, choice.guessed):
            note(f"{name}, column {shown(expert)}: is it a forecast? If not, choose the experts with --experts.")
        used = {*choice.numbers, *choice.texts}
        unused = [column for column in self._reader.columns.names if column not in used]
        if choice.guessed and unused:
            note(
                f"{name}: not used, because they are not numbers: {_listed(unused)}."
                " Name the column of the times by --time, that of the series by --by."
            )


class _TableWriter:
    """Writes tables with the same columns into a CSV or Parquet file, one after the other.

    CSV has commas; floats are the shortest decimal numbers that are read back equal, missing ones empty. Parquet has a
    row group for each table.
    """

    def __init__(self, path: Path, format: str) -> None:
        self._is_csv, self._file = format == "csv", pa.OSFile(str(path), "wb")
        self._writer: parquet.ParquetWriter | None = None

    def write(self, table: pa.Table) -> None:
        """Append the rows of a table."""
        if self._is_csv:
            self._write_csv(table)
            return
        if self._writer is None:
            texts = [field.name for field in table.schema if types.is_string(field.type)]
            self._writer = parquet.ParquetWriter(self._file, table.schema, compression="snappy", use_dictionary=texts)
        self._writer.write_table(table, row_group_size=table.num_rows)

    def _write_csv(self, table: pa.Table) -> None:
        if not self._file.tell():
            line = io.StringIO()
            csv.writer(line, lineterminator="\n").writerow(table.schema.names)
            self._file.write(line.getvalue().encode())
        quoting = "none"  # text is quoted only if a text of the same block must be
        for i, field in enumerate(table.schema):
            if types.is_temporal(field.type):
                table = table.set_column(i, field.name, table.column(i).cast(pa.string()))
            elif types.is_string(field.type) and _has_marks(table.column(i)):
                quoting = "needed"
        arrow_csv.write_csv(table, self._file, arrow_csv.WriteOptions(include_header=False, quoting_style=quoting))

    def close(self) -> None:
        """Write the end of the file."""
        try:
            if self._writer is not None:
                self._writer.close()
        finally:
            self._file.close()


def _has_marks(column: pa.ChunkedArray) -> bool:
    return bool(compute.any(compute.match_substring_regex(column, r'[",\r\n]')).as_py())


def _implausible(report: ForecastReport, experts: Sequence[str]) -> list[str]:
    """Return the columns whose loss is so large that they may be something else, such as a time or a number."""
    names = {*experts}
    means = {expert.name: expert.mean for expert in report.experts if expert.name in names and expert.n_awake}
    least = min((mean for mean in means.values() if mean > 0), default=math.inf)
    return [name for name, mean in means.items() if mean > _IMPLAUSIBLE * least]
