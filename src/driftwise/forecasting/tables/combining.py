"""Runs mixtures over a table of forecasts, block by block, and writes their forecasts and weights.

Reading, mixing and writing run in threads of their own. Blocks have a fixed number of rows, so the results and the
bytes of the output do not depend on the threads, on the pieces in which the input arrives, or on interruptions.
"""

from __future__ import annotations

import contextlib
import math
from collections import Counter
from collections.abc import Callable, Sequence

from driftwise.core.errors import InvalidInput, shown
from driftwise.forecasting.forecast_report import ForecastReport
from driftwise.forecasting.frames import FORECAST, WEIGHT
from driftwise.forecasting.tables.csv_tables import CsvTable
from driftwise.forecasting.tables.json_lines import JsonLines
from driftwise.forecasting.tables.parquet_tables import ParquetTable
from driftwise.forecasting.tables.partial_folders import partial_folder
from driftwise.forecasting.tables.table_columns import ColumnChoice, Columns, check_names, choose_columns
from driftwise.forecasting.tables.table_pieces import TableReader
from driftwise.forecasting.tables.table_runs import Combination, Note, Outcome, Progress, TableRun

__all__ = ["combine_table"]

_IMPLAUSIBLE = 1e3  # times the loss of the best expert
_MOST_SHOWN = 12  # names in a note


def combine_table(task: Combination, resume: bool, progress: Callable[[Progress], None] | None, note: Note) -> Outcome:
    """Run the mixtures over a table; all files stand under their final names only when they are complete."""
    check_names(task.wanted)
    if resume and task.source.is_stream:
        raise InvalidInput("combine: --resume needs a file: standard input and pipes can be read only once.")
    with contextlib.closing(_reader(task)) as reader:
        choice = choose_columns(task.source, reader.columns, task.wanted)
        outcome = _combine(task, reader, choice, resume, progress, note)
        _note_unused(task, reader.columns, choice, note)
        return outcome


def _note_unused(task: Combination, columns: Columns, choice: ColumnChoice, note: Note) -> None:
    """Name the columns that are not used because they have no numbers: they may be times or series."""
    used = {*choice.numbers, *choice.texts}
    unused = [shown(name) for name in columns.names if name not in used]
    if choice.guessed and unused:
        more = f" and {len(unused) - _MOST_SHOWN} more" if len(unused) > _MOST_SHOWN else ""
        note(
            f"{task.source.name}: not used, because they are not numbers: {', '.join(unused[:_MOST_SHOWN])}{more}."
            " Name the column of the times by --time, that of the series by --by."
        )


def _combine(
    task: Combination,
    reader: TableReader,
    choice: ColumnChoice,
    resume: bool,
    progress: Callable[[Progress], None] | None,
    note: Note,
) -> Outcome:
    names = _output_names(task, choice)
    with partial_folder(task.out) as folder:
        run = TableRun(task, reader, choice, names, folder, progress)
        try:
            if resume and (finished := run.restore(note)) is not None:
                outcome = run.publish(finished)
            else:
                if not resume:
                    run.begin(note)
                outcome = run.play()
        finally:
            run.close()
        folder.remove()
    if len(task.options.names(choice.experts)) == 1:
        note(
            f"{task.source.name}: {shown(choice.experts[0])} is the only expert, so its weight is 1 in every row."
            " A table for this command has one column for each expert."
        )
    for name in run.mixtures.sleepers:
        note(f"{task.source.name}, column {shown(name)}: all forecasts are missing.")
    for name in _implausible(outcome.report, choice.experts) if task.wanted.experts is None else ():
        note(f"{task.source.name}, column {shown(name)}: is it a forecast? If not, choose the experts with --experts.")
    return outcome


def _implausible(report: ForecastReport, experts: Sequence[str]) -> list[str]:
    """Return the columns whose loss is so large that they may be something else, such as a time or a number."""
    given = set(experts)
    means = {one.name: one.mean for one in report.experts if one.name in given and one.n_awake}
    least = min((mean for mean in means.values() if mean > 0), default=math.inf)
    return [name for name, mean in means.items() if mean > _IMPLAUSIBLE * least]


def _reader(task: Combination) -> TableReader:
    if task.source.format == "parquet":
        return ParquetTable(task.source)
    if task.source.format == "jsonl":
        return JsonLines(task.source)
    return CsvTable(task.source, task.wanted, task.delimiter, task.decimal)


def _output_names(task: Combination, choice: ColumnChoice) -> list[str]:
    weights = [WEIGHT + name for name in task.options.names(choice.experts)]
    names = [*choice.texts, choice.target, FORECAST, *weights]
    for name, n_uses in Counter(names).items():
        if n_uses > 1:
            raise task.source.fault(f": the column {shown(name)} has the name of a column of the output; rename it.")
    return names
