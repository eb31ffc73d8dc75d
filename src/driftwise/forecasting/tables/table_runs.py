"""One run of mixtures over a table: from its first row, or from a checkpoint on, to the finished files."""

from __future__ import annotations

import json
import time
from collections import deque
from collections.abc import Callable
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple

import pyarrow as pa

from driftwise.core.errors import InvalidInput
from driftwise.core.file_names import shown_path
from driftwise.core.files import write_bytes_atomically
from driftwise.core.types import Actions
from driftwise.forecasting.forecast_page import write_report_page
from driftwise.forecasting.mixture_stack import Combined
from driftwise.forecasting.options import MixtureOptions
from driftwise.forecasting.tables.checkpoints import Checkpoint, digest, read_checkpoint, write_checkpoint
from driftwise.forecasting.tables.parquet_writer import ParquetTableWriter
from driftwise.forecasting.tables.partial_folders import PartialFolder
from driftwise.forecasting.tables.read_ahead import ahead
from driftwise.forecasting.tables.row_blocks import Block, block_rows, row_blocks
from driftwise.forecasting.tables.table_columns import ColumnChoice, Wanted
from driftwise.forecasting.tables.table_mixtures import TableMixtures
from driftwise.forecasting.tables.table_pieces import START, TableReader
from driftwise.forecasting.tables.table_sources import TableSource
from driftwise.forecasting.tables.table_writers import CsvWriter, JsonLinesWriter, TableWriter

__all__ = ["PAGE", "SUMMARY", "Combination", "Note", "Outcome", "Progress", "TableRun"]

PAGE, SUMMARY = "report.html", "summary.json"
_WRITERS: dict[str, Callable[..., TableWriter]] = {
    "csv": CsvWriter,
    "jsonl": JsonLinesWriter,
    "parquet": ParquetTableWriter,
}
_AHEAD = 2  # blocks that are read before they are needed, and that wait to be written
_SECONDS = 5.0  # between checkpoints, at least
_SHARE = 20.0  # checkpoints take at most one part in so many of the time
_VERSION = 1  # raised if the bytes of the output change

Note = Callable[[str], None]


@dataclass(frozen=True)
class Combination:
    """A table of forecasts and what to do with it."""

    source: TableSource
    wanted: Wanted
    options: MixtureOptions
    out: Path
    format: str
    delimiter: str | None = None
    decimal: str | None = None
    n_threads: int = 1
    page: bool = True


class Progress(NamedTuple):
    """How far a run is."""

    rows: int
    seconds: float  # since the start of this process's part of the run
    read: float | None  # part of the input, if its length is known


class Outcome(NamedTuple):
    """The end of a run."""

    report: Any
    n_rows: int
    n_series: int
    files: tuple[Path, ...]


class TableRun:
    """One run; its partial files are in a locked folder."""

    def __init__(
        self,
        task: Combination,
        reader: TableReader,
        choice: ColumnChoice,
        names: list[str],
        folder: PartialFolder,
        progress: Callable[[Progress], None] | None,
    ) -> None:
        self._task, self._reader, self._choice, self._names = task, reader, choice, names
        self._folder, self._progress = folder, progress
        self.mixtures = TableMixtures(task.options, choice)
        self._rows, self._position = 0, START
        self._name = f"forecasts.{task.format}"
        self._writer: TableWriter | None = None
        self._identity = {} if task.source.is_stream else task.source.identity()
        self._block_rows = block_rows(len(names))
        self._settings = digest(self._described())

    def _described(self) -> dict[str, Any]:
        """Return all that the output depends on beside the content of the input."""
        return {
            "version": _VERSION,
            "arrow": pa.__version__,
            "columns": self._columns(),
            "options": self._task.options.spec,
            "format": self._task.format,
            "input": [self._task.source.format, Path(self._task.source.path).name],
            "block": self._block_rows,
            "reader": self._reader.settings(),
        }

    def _columns(self) -> dict[str, Any]:
        choice = self._choice
        return {"target": choice.target, "experts": list(choice.experts), "time": choice.time, "by": choice.by}

    def begin(self, note: Note) -> None:
        """Delete what an unfinished run left."""
        if not self._folder.is_empty():
            note(f"The unfinished run in {shown_path(self._task.out)} was deleted; --resume continues one.")
            self._folder.clear()
        self._writer = _WRITERS[self._task.format](self._folder.path / self._name)

    def restore(self, note: Note) -> int | None:
        """Continue at the last checkpoint; return the length of the output if it is complete."""
        if not self._folder.checkpoint.is_file():
            note(f"There is no checkpoint in {shown_path(self._task.out)}; starting at the first row.")
            self._folder.clear()
            self.begin(note)
            return None
        found = read_checkpoint(self._folder.checkpoint, self._settings, self._identity)
        try:
            self.mixtures.set_arrays(found.arrays, found.time_kind)
            self._rows, self._position = found.rows, found.position
            if found.finished is None:
                self._writer = _WRITERS[self._task.format](self._folder.path / self._name, found.lengths)
        except (KeyError, ValueError, TypeError) as error:
            raise self._not_continued(str(error).rstrip(".")) from None
        note(f"Continuing after {found.rows} rows.")
        return found.finished

    def play(self) -> Outcome:
        """Run over the rows that are left, and write all files."""
        try:
            self._play_blocks()
            if self._rows == 0:
                raise self._task.source.fault(": it has no rows.")
        except InvalidInput:
            self._folder.clear()  # the same input cannot be continued
            raise
        assert self._writer is not None
        finished = self._writer.finish()
        self._write_checkpoint(finished)
        return self.publish(finished)

    def _play_blocks(self) -> None:
        task, began = self._task, time.monotonic()
        pieces = self._reader.pieces(self._choice, self._position)
        loss = task.options.forecast_loss
        blocks = ahead(row_blocks(task.source, pieces, self._choice, loss, self._block_rows, self._rows), _AHEAD)
        waiting: deque[Future[None]] = deque()
        due = began + _SECONDS
        with ThreadPoolExecutor(1) as pool:
            try:
                for block in blocks:
                    combined, series = self.mixtures.run(block, task.n_threads)
                    waiting.append(pool.submit(self._keep, block, combined, series))
                    self._rows, self._position = self._rows + len(block), block.position
                    _wait(waiting, _AHEAD)
                    now = time.monotonic()
                    if self._progress is not None:
                        self._progress(Progress(self._rows, now - began, block.parts[-1][0].read))
                    if now >= due and not task.source.is_stream:
                        _wait(waiting, 0)
                        self._write_checkpoint(None)
                        due = time.monotonic() + max(_SECONDS, _SHARE * (time.monotonic() - now))
                _wait(waiting, 0)
            finally:
                blocks.close()  # type: ignore[attr-defined]

    def _keep(self, block: Block, combined: Combined, series: Actions | None) -> None:
        """Write the results of a block and add them to the report."""
        assert self._writer is not None
        columns = [column for column in (block.time, block.by) if column is not None]
        columns += [pa.array(numbers, from_pandas=True) for numbers in (block.truths, combined.combined)]
        columns += [pa.array(weights) for weights in combined.weights.T.copy()]
        self._writer.write(pa.table(columns, names=self._names))
        self.mixtures.score(block, combined, series)

    def _write_checkpoint(self, finished: int | None) -> None:
        assert self._writer is not None
        lengths = self._writer.lengths()
        state = self.mixtures.arrays()
        position, kind = self._position, self.mixtures.time_kind
        found = Checkpoint(self._settings, self._identity, self._rows, position, lengths, finished, kind, state)
        write_checkpoint(self._folder.checkpoint, found)

    def publish(self, finished: int) -> Outcome:
        """Move the complete file of forecasts to its final name, then write the summary and the page."""
        out = self._task.out
        partial, target = self._folder.path / self._name, out / self._name
        summary, page = out / SUMMARY, out / PAGE
        if partial.is_file() and partial.stat().st_size == finished:
            for old in (summary, page):  # of an earlier run
                old.unlink(missing_ok=True)
            self._folder.put(self._name, target)
        elif not target.is_file() or target.stat().st_size != finished:
            raise self._not_continued(f"{self._name} was changed")
        report = self.mixtures.report()
        write_bytes_atomically(summary, self._summary(report))
        if self._task.page:
            write_report_page(page, report)
        return Outcome(report, self._rows, self.mixtures.n_series, (target, summary, *([page] * self._task.page)))

    def _summary(self, report: Any) -> bytes:
        values = {
            "input": Path(self._task.source.path).name,
            "rows": self._rows,
            "series": self.mixtures.n_series,
            "columns": self._columns(),
            "options": self._task.options.spec,
            "report": report.record(),
        }
        return (json.dumps(values, indent=2, allow_nan=False, ensure_ascii=False) + "\n").encode()

    def _not_continued(self, reason: str) -> InvalidInput:
        where = shown_path(self._task.out)
        return InvalidInput(f"combine: the run in {where} cannot be continued: {reason}; start again without --resume.")

    def close(self) -> None:
        """Close the partial files."""
        if self._writer is not None:
            self._writer.close()


def _wait(waiting: deque[Future[None]], most: int) -> None:
    """Wait until at most so many blocks are not written yet."""
    while len(waiting) > most:
        waiting.popleft().result()
