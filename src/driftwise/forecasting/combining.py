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
import os
import stat
import time
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import replace
from pathlib import Path
from typing import NamedTuple

import numpy as np

from driftwise.core.errors import BadData, BadFile, InvalidInput, MissingDependency, one_line, shown

try:
    import pyarrow as pa
    from pyarrow import compute, csv as arrow_csv, parquet, types
except ImportError:
    raise MissingDependency("Reading and writing tables of forecasts", "pyarrow", "files") from None

from driftwise.core.files import shown_path, try_lock, write_atomically, write_bytes_atomically
from driftwise.core.types import Actions, Vector
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
from driftwise.forecasting.combine_notes import (
    arrival_lines,
    begun_note,
    expert_notes,
    implausible,
    in_words_of,
    truths_note,
    unused_notes,
)
from driftwise.forecasting.continued_rounds import Arrivals, Arrived
from driftwise.forecasting.forecast_report import ForecastReport
from driftwise.forecasting.forecast_views import is_report_page, report_page
from driftwise.forecasting.frame_columns import listed, narwhals
from driftwise.forecasting.frames import (
    CUTOFF,
    SERIES,
    TIME,
    ColumnUses,
    FrameRows,
    Played,
    Rounds,
    added_columns,
    level_options,
    play_rounds,
    read_rounds,
    recognised,
    series_name,
)
from driftwise.forecasting.labelled_values import LARGEST, first_too_large
from driftwise.forecasting.mixture_stack import Combined, MixtureStack
from driftwise.forecasting.mixture_state import MixtureState
from driftwise.forecasting.options import MixtureOptions
from driftwise.forecasting.quantile_columns import level_of, quantile_experts, quantile_notes
from driftwise.forecasting.quantile_report import QuantileReport, quantile_page, quantile_report_of
from driftwise.forecasting.running_report import LAST_TRUTH, RunningReport
from driftwise.forecasting.time_columns import CellFault, RowBlock, TimeOrder, first_bad, text_times
from driftwise.report.page import write_page

TableReader = CsvTable | JsonLines | ParquetTable

_MOST_ROWS = 1 << 17
_FEWEST_ROWS = 1 << 8
_MOST_CELLS = 1 << 21


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
        row = first_bad(column, lambda part: bool(check(part)))
    return (row, name, f"it must be {rule}, got {float(column[row])}.") if rule else None


def _check_text(fault: CellFault, name: str, column: pa.Array, may_miss: bool = False) -> None:
    """Reject a row without a time or a series, and texts that are very long."""
    missing = compute.is_null(column, nan_is_null=types.is_floating(column.type))
    if types.is_string(column.type):
        length = compute.binary_length(column)
        missing = compute.or_kleene(missing, compute.equal(length, 0)).fill_null(True)
        if (row := compute.index(compute.greater(length, LONGEST_TEXT).fill_null(False), True).as_py()) >= 0:
            raise fault(row, name, f"the text is longer than {LONGEST_TEXT} bytes.")
    if not may_miss and (row := compute.index(missing, True).as_py()) >= 0:
        raise fault(row, name, "it is missing.")


PAGE, SUMMARY = "report.html", "summary.json"
_SUFFIXES = {"csv": (".csv", ".tsv", ".txt"), "parquet": (".parquet", ".pq"), "jsonl": (".jsonl", ".ndjson")}
FORMATS = tuple(_SUFFIXES)
_COMPRESSED = {".gz": "gzip", ".bz2": "bz2", ".zst": "zstd"}
_INDEX_NAMES = ("", "Unnamed: 0", "__index_level_0__")  # the index of a pandas table, as it appears in files
_OPTIONS = ("target", "time", "issued", "known", "step", "expert", "forecast")  # that name a column

Note = Callable[[str], None]


class CombineTask(NamedTuple):
    """A table of forecasts and what to do with it."""

    source: TableSource
    wanted: ColumnUses  # that the user names; without `experts`, all other columns of numbers
    options: MixtureOptions
    out: Path
    format: str  # of the forecasts: "csv" or "parquet"
    delimiter: str | None = None
    decimal: str | None = None
    n_threads: int = 1
    page: bool = True
    state: str | Path | None = None  # that is continued
    commands: tuple[str, ...] = ()  # that write the page, which shows them


class RowProgress(NamedTuple):
    """How far a run is."""

    rows: int
    seconds: float  # since its start
    read: float | None  # part of the input, if its length is known


class CombinedFiles(NamedTuple):
    """The end of a run."""

    report: ForecastReport | QuantileReport
    files: tuple[Path, ...]
    lines: tuple[str, ...] = ()  # what came for a state


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
        was_there = task.state is not None and Path(task.state).exists()
        memory = None if task.state is None else stack.enter_context(MixtureState(task.state))
        is_begun = memory is not None and memory.is_new
        choice, uses, notes = _choose_columns(task.source, reader.columns, task.wanted, memory)
        is_plain = not uses.is_ordered and uses.expert is None and uses.quantiles is None and memory is None
        run = (_Run if is_plain else _WholeRun)(task, reader, choice, uses, notes, memory)
        stack.enter_context(_locked_folder(task.out))
        outcome = run.play(progress)
        if memory is not None:
            memory.commit()  # at the very end: after a kill before it, the same run gives the same files
            if is_begun:
                note(begun_note(memory.path, was_there))
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
    texts = [wanted.time, *wanted.by, wanted.issued, wanted.known, wanted.expert]
    if CUTOFF not in (wanted.experts or ()):
        texts += [CUTOFF]
    if wanted.by == () and wanted.time is None:
        texts += [SERIES, TIME]
    return CsvTable(stream, wanted.target, texts, task.delimiter, task.decimal)


def _check_names(wanted: ColumnUses) -> None:
    """Reject a column that has two uses."""
    roles = [(f"--{option}", getattr(wanted, option)) for option in _OPTIONS]
    roles += [("--by", name) for name in wanted.by]
    roles += [("--experts", name) for name in wanted.experts or ()]
    used: dict[str | None, str] = {}
    for option, name in roles:
        if name is not None and name in used and {used[name], option} != {"--by", "--step"}:
            also = f"{used[name]} and {option}" if used[name] != option else f"{option} twice"
            raise InvalidInput(f"combine: the column {shown(name)} is given as {also}.")
        used[name] = option
    for option, other, what in (("expert", "forecast", "forecasts"), ("forecast", "expert", "names of the experts")):
        if getattr(wanted, option) is not None and getattr(wanted, other) is None:
            raise InvalidInput(f"combine: --{option} needs --{other}, the column of the {what}.")
    if wanted.experts is not None and not wanted.experts:
        raise InvalidInput("combine: --experts must name at least one column.")


def _choose_columns(
    source: TableSource, columns: Columns, wanted: ColumnUses, memory: MixtureState | None
) -> tuple[ColumnChoice, ColumnUses, list[str]]:
    """Return the columns to read, those by their uses, and notes; raise `BadData` if one is missing or not clear.

    Those that a state has and a table may lack are missing columns without a fault.
    """
    places, notes = columns.places, list[str]()
    lacking = [] if memory is None else memory.missing(columns.names, wanted.expert is not None)
    for i, name in enumerate(columns.names):
        if places[name] < i and not (name == "" and wanted.experts is not None):
            raise source.fault(f": the columns {places[name] + 1} and {i + 1} have the same name {shown(name)}.")
    experts = wanted.experts if wanted.quantiles is None else ()
    for needed in (*(getattr(wanted, option) for option in _OPTIONS), *wanted.by, *(experts or ())):
        if needed is not None and needed not in places and needed not in lacking:
            near = difflib.get_close_matches(needed, columns.names, n=1)
            advice = f"Did you mean {shown(near[0])}?" if near else f"It has {listed(columns.names)}."
            raise source.fault(one_line(f": there is no column {shown(needed)}. {advice}"))
    header = narwhals().from_native(
        pa.table({name: pa.array([], pa.float64()) for name in (*columns.names, *lacking) if name})
    )
    with in_words_of(source):
        uses = recognised(header, wanted)
        if uses.quantiles is not None:
            named, found = quantile_experts(header, uses)
            notes = quantile_notes(columns.names, uses, named, found)
            experts = tuple(dict.fromkeys(name for of_level in found for name in of_level if name is not None))
            uses = uses._replace(experts=dict(zip(named, zip(*found, strict=True), strict=True)))
    more = tuple(name for name in (uses.forecast, uses.step) if name is not None)
    labels = tuple(name for name in (*uses.by, uses.expert) if name is not None and name not in more)
    times = tuple(uses.times.values())
    guessed: tuple[str, ...] = ()
    if uses.expert is not None:
        experts = ()
    elif experts is None:
        others = {wanted.target, *more, *labels, *times}
        numeric = [name for name, is_numeric in zip(*columns, strict=True) if is_numeric and name not in others]
        experts = guessed = tuple(name for name in numeric if level_of(name) is None)
        _reject_index(source, places, experts)
    if not experts and uses.expert is None and not lacking:
        raise source.fault(f": there is no column of forecasts beside the target {shown(wanted.target)}.")
    chosen = ColumnChoice(wanted.target, (*experts, *more), times, labels, guessed)
    if memory is not None:
        named = tuple(name for name in dict.fromkeys((*experts, *lacking)) if name not in (*more, *times, *labels))
        as_named = uses.experts if uses.quantiles is not None else wanted.experts or named
        experts, times, labels, guessed = (
            tuple(name for name in of_kind if name not in lacking) for of_kind in chosen[1:]
        )
        chosen = ColumnChoice(wanted.target, experts, times, labels, guessed)
        return chosen, uses._replace(experts=None if uses.expert is not None else as_named), notes
    return chosen, uses if wanted.quantiles is not None else uses._replace(experts=experts or None), notes


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

    def __init__(
        self,
        task: CombineTask,
        reader: TableReader,
        choice: ColumnChoice,
        uses: ColumnUses,
        notes: list[str],
        memory: MixtureState | None,
    ) -> None:
        self._task, self._reader, self._choice, self._uses, self._memory = task, reader, choice, uses, memory
        self._notes = notes
        self._arrivals: Arrivals | None = None  # of a state
        self._absent: set[str] = set()  # experts of a state without a column
        self._loss = task.options.forecast_loss
        # The numbers of the series by their names, texts or whole numbers; without such a column there is one series.
        self._series: dict[str | int, int] = {} if uses.by else {"": 0}
        self._rows = 0
        if uses.expert is None and uses.quantiles is None:
            self._begin(tuple(uses.experts))

    def _begin(self, experts: tuple[str, ...]) -> None:
        """Begin with the experts, which are known."""
        choice, uses = self._choice, self._uses
        self._experts = self._task.options.names(experts)
        step = [] if uses.step is None or uses.step in choice.labels else [uses.step]
        self._names = [*choice.texts, *step, choice.target, *added_columns(self._experts, uses.quantiles)]
        if uses.expert is not None:
            self._names.remove(uses.expert)
        if taken := [name for name, n_uses in Counter(self._names).items() if n_uses > 1]:
            raise self._task.source.fault(
                f": the column {shown(taken[0])} has the name of a column of the output; rename it."
            )
        self._order = None if uses.time is None else TimeOrder(uses.time)
        self._stack = MixtureStack(self._task.options, len(experts), len(self._series))
        self._report = RunningReport(self._experts, self._loss, len(self._series))
        self._is_awake = np.zeros(len(experts), bool)  # whether an expert has a forecast

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
        report = self._full_report()
        has_page = self._task.page and (self._memory is None or report.n_scored > 0)
        lines = () if self._arrivals is None else arrival_lines(self._arrivals, report.n_scored > 0)
        if has_page:
            commands = self._task.commands
            made = (
                quantile_page(report, commands) if isinstance(report, QuantileReport) else report_page(report, commands)
            )
            write_page(page, made, follow_link=False)
        write_bytes_atomically(summary, self._summary(report), follow_link=False)  # the last: it says that all is there
        return CombinedFiles(report, (target, summary, *([page] * has_page)), tuple(lines))

    def _full_report(self) -> ForecastReport | QuantileReport:
        report = self._report.report(self._stack.cuts)
        return replace(report, series_names=self._series_names, timing=self._uses.timing)

    @property
    def _series_names(self) -> tuple[str | int, ...]:
        return tuple(self._series) if self._uses.by else ()

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
            return self._fault(first + row, column, message)

        choice, loss = self._choice, self._loss
        truths, *forecasts = (table.column(name).to_numpy() for name in choice.numbers)
        texts = {name: pa.concat_arrays(table.column(name).chunks) for name in choice.texts}
        faults = [_number_fault(choice.target, truths, loss.truth_fault)]
        faults += map(_number_fault, choice.experts, forecasts, [loss.forecast_fault] * len(forecasts))
        if broken := [rule for rule in faults if rule is not None]:
            raise fault(*min(broken, key=lambda rule: rule[0]))
        for name, column in texts.items():
            may_miss = name == self._uses.known or (self._memory is not None and name == self._uses.issued)
            _check_text(fault, name, column, may_miss)
        return RowBlock(truths, np.column_stack([np.empty((len(truths), 0)), *forecasts]), texts, fault)

    def _fault(self, row: int, column: str, message: str) -> BadData:
        return self._task.source.fault(f", {self._reader.place(row)}, column {shown(column)}: {message}")

    def _mix(self, block: RowBlock) -> tuple[Combined, Actions | None]:
        """Play the rows of a block; return the forecasts and weights, and the series of each row."""
        series = self._series_numbers(block) if self._uses.by else None
        if self._order is not None:
            self._order.check(block, series, len(self._series))
        missing = len(self._series) - self._stack.n_series
        if missing > 0:  # room for more, so that series that appear one by one do not cost a copy of all each
            self._stack.add_series(max(missing, self._stack.n_series // 2))
        self._is_awake |= ~np.isnan(block.forecasts).all(axis=0)
        return self._stack.run(block.forecasts, block.truths, series, self._task.n_threads), series

    def _series_numbers(self, block: RowBlock) -> Actions:
        """Return the number of the series of each row; series that are new get the next ones."""
        encoded = []
        for name in self._uses.by:
            column = block.texts[name]
            if not types.is_string(column.type):
                try:
                    column = column.cast(pa.int64())
                except pa.ArrowException:
                    raise block.fault(0, name, "a whole number is beyond 64 bits.") from None
            encoded.append(column.dictionary_encode())
        names = [column.dictionary.to_pylist() for column in encoded]
        places = np.column_stack([column.indices.to_numpy() for column in encoded])
        different, first, place = np.unique(places, axis=0, return_index=True, return_inverse=True)
        numbers = np.empty(len(different), np.int64)
        for i in np.argsort(first).tolist():  # in the order in which they appear
            parts = [names[j][k] for j, k in enumerate(different[i].tolist())]
            numbers[i] = self._series.setdefault(series_name(parts), len(self._series))
        return numbers[place.reshape(-1)]

    def _keep(self, writer: _TableWriter, block: RowBlock, combined: Combined, series: Actions | None) -> None:
        """Write the results of a block and add them to the report."""
        columns = list(block.texts.values())
        columns += [pa.array(numbers, from_pandas=True) for numbers in (block.truths, combined.combined)]
        columns += [pa.array(weights) for weights in combined.weights.T.copy()]
        writer.write(pa.table(columns, names=self._names))
        if series is not None and (n_series := int(series.max()) + 1) > self._report.n_series:
            self._report.add_series(n_series - self._report.n_series)
        self._report.add(combined.inputs, block.truths, combined.combined, combined.weights, series, self._times(block))

    def _times(self, block: RowBlock) -> pa.Array | None:
        return None if self._uses.time is None else block.texts[self._uses.time]

    def _summary(self, report: ForecastReport | QuantileReport) -> bytes:
        values = {
            "input": Path(self._task.source.path).name,
            "timing": report.record()["timing"],
            "rows": self._rows,
            "series": len(self._series),
            "columns": {name: value for name, value in self._choice._asdict().items() if name != "guessed"},
            "options": self._task.options.spec,
            **({} if self._memory is None else {"state": {"file": self._memory.path.name, **self._memory.counts()}}),
            "report": report.record(),
        }
        return (json.dumps(values, indent=2, allow_nan=False, ensure_ascii=False) + "\n").encode()

    def add_notes(self, report: ForecastReport | QuantileReport, note: Note) -> None:
        """Say what may be a mistake."""
        name, choice = self._task.source.name, self._choice
        if isinstance(self._reader, CsvTable) and self._reader.guesses:
            note(f"{name}: it was read with {self._reader.guesses}; --delimiter and --decimal give others.")
        for text in [*self._notes, *([] if self._memory is None else self._memory.notes)]:
            note(f"{name}: {text}")
        asleep = [name for name, is_awake in zip(self._experts, self._is_awake, strict=False) if not is_awake]
        for where, text in expert_notes(self._experts, [name for name in asleep if name not in self._absent]):
            note(f"{name}{where}: {text}")
        for expert in implausible(report, choice.guessed) if isinstance(report, ForecastReport) else ():
            note(f"{name}, column {shown(expert)}: is it a forecast? If not, choose the experts with --experts.")
        used = {*choice.numbers, *choice.texts}
        unused = [column for column in self._reader.columns.names if column not in used]
        for text in unused_notes(unused, self._reader.times, self._uses) if choice.guessed else ():
            note(f"{name}: {text}")


class _WholeRun(_Run):
    """A run over a table that is read as a whole: rows are played in the order of issue, or have one expert each."""

    def _play_blocks(self, writer: _TableWriter, progress: Callable[[RowProgress], None] | None) -> None:
        began, batches = time.monotonic(), self._reader.batches(self._choice)
        self._names = [*self._choice.texts, *self._choice.numbers]  # that are read
        blocks = []
        with contextlib.closing(batches):
            for block in self._blocks(batches):
                blocks.append(block)
                if progress is not None:
                    n_rows = sum(len(block.truths) for block in blocks)
                    progress(RowProgress(n_rows, time.monotonic() - began, self._reader.fraction()))
        if not blocks:
            return
        self._rows = sum(len(block.truths) for block in blocks)
        texts = {name: pa.concat_arrays([block.texts[name] for block in blocks]) for name in self._choice.texts}
        truths = np.concatenate([block.truths for block in blocks])
        numbers = np.concatenate([block.forecasts for block in blocks])
        whole = RowBlock(truths, numbers, texts, self._fault)
        frame = pa.table(
            {**texts, self._choice.target: truths, **dict(zip(self._choice.experts, numbers.T, strict=True))}
        )
        with in_words_of(self._task.source):
            rounds, played, scored = self._played(whole, frame)
        levels = self._uses.quantiles
        kept = _with_nulls(rounds.kept.to_native())
        added = []
        for combined, weights in zip(played.combined.T, played.weights, strict=True):
            added += [pa.array(combined, from_pandas=True), *map(pa.array, weights.T.copy())]
        names = [*kept.column_names, *added_columns(self._experts, levels)]
        output, size = pa.table([*kept.columns, *added], names=names), block_rows(len(names))
        for first in range(0, len(output), size):
            writer.write(output.slice(first, size))
        self._made = self._report_of(rounds, scored, played.cuts, kept)

    def _played(self, whole: RowBlock, frame: pa.Table) -> tuple[Rounds, Played, Arrived]:
        """Play a table; return its rounds, what was played, and the rounds of the report, sorted by time."""
        options = level_options(self._task.options, self._uses.quantiles)
        nw_frame, memory, texts = narwhals().from_native(frame), self._memory, whole.texts
        is_long = self._uses.expert is not None
        if memory is not None:
            nw_frame = memory.complete(nw_frame, is_long)
            lacking = {
                name: pa.nulls(len(frame), pa.string()) for name in self._uses.times.values() if name not in texts
            }
            whole = whole._replace(texts={**texts, **lacking})
        axis = text_times(whole, self._uses.times) if self._uses.times else None
        table = FrameRows(nw_frame, axis, self._reader.place)
        rounds = read_rounds(table, self._loss, self._uses)
        if memory is not None:
            absent = {*memory.missing(self._reader.columns.names, is_long)}
            present = {name for name in rounds.experts if name not in absent}
            run = memory.play(rounds, options, self._uses, self._task.n_threads)
            rounds, played, scored = run
            self._absent = {*rounds.experts} - present
            self._keep_arrivals(rounds, scored)
        else:
            played = play_rounds(options, rounds, self._task.n_threads)
            truths = rounds.truths if rounds.order is None else rounds.order.truths
            order = (
                np.arange(len(truths)) if axis is None else np.argsort(axis.ranks["time"][rounds.rows], kind="stable")
            )
            weights, inputs = ([table[order] for table in of_level] for of_level in (played.weights, played.inputs))
            scored = Arrived(order, truths[order], played.combined[order], weights, inputs)
        self._series = {name: i for i, name in enumerate(rounds.series_names)}
        self._begin(rounds.experts)
        self._is_awake |= ~np.isnan(np.concatenate(rounds.forecasts)).all(axis=0)
        return rounds, played, scored

    def _keep_arrivals(self, rounds: Rounds, scored: Arrived) -> None:
        """Keep what came, and note the truths that belong to no round."""
        assert scored.arrivals is not None
        self._arrivals = scored.arrivals
        if len(without_round := scored.arrivals.without_round):
            first = int(without_round[0])
            time = rounds.kept[self._uses.times["time"]][first]
            place = self._reader.place(int(rounds.rows[first]))
            self._notes.append(truths_note(len(without_round), f"{place}, {time}"))

    def _report_of(
        self, rounds: Rounds, scored: Arrived, cuts: list[tuple[Actions, Vector]], kept: pa.Table
    ) -> ForecastReport | QuantileReport:
        """Return the report of some rounds."""
        times = None
        if self._uses.time is not None:
            times = kept.column(self._uses.time).combine_chunks().take(pa.array(scored.rows))
        series, timing = np.ascontiguousarray(rounds.series[scored.rows]), self._uses.timing
        names, truths, combined = self._series_names, scored.truths, scored.combined
        is_late = self._uses.is_ordered or self._memory is not None  # whether the last truth may not be known yet
        if self._uses.quantiles is not None:
            inputs, weights = (np.stack(part, axis=2) for part in (scored.inputs, scored.weights))
            of_quantiles = quantile_report_of(
                self._experts, self._uses.quantiles, inputs, truths, combined, weights, series, times, cuts, names,
                timing,
            )  # fmt: skip
            return of_quantiles.without(LAST_TRUTH) if is_late else of_quantiles
        self._report.add(scored.inputs[0], truths, combined[:, 0], scored.weights[0], series, times)
        report = replace(self._report.report(cuts[0]), series_names=names, timing=timing)
        return report.without(LAST_TRUTH) if is_late else report

    def _full_report(self) -> ForecastReport | QuantileReport:
        return self._made


def _with_nulls(table: pa.Table) -> pa.Table:
    """Return a table with nulls for NaNs."""
    for i, field in enumerate(table.schema):
        if types.is_floating(field.type):
            table = table.set_column(i, field.name, pa.array(table.column(i).to_numpy(), from_pandas=True))
    return table


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
