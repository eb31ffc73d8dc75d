"""`driftwise combine`: the forecasts of several models in a file, combined row by row."""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from driftwise.cli.progress import duration, notes, progress_line
from driftwise.cli.specs import choice, out_folder, parse_member
from driftwise.glossary import COLUMNS_NOTE

if TYPE_CHECKING:
    from driftwise.forecasting import MixtureOptions
    from driftwise.forecasting.combining import RowProgress

_SHORT = 2.0  # seconds, before which the speed is not shown and a log file gets no lines
_FORMATS = ["csv", "parquet"]  # of the output


@click.command("combine")
@click.argument("file", type=click.Path(allow_dash=True))
@click.option("--target", required=True, metavar="COLUMN", help="Column of the truths.")
@click.option(
    "--experts", metavar="COLUMN[,..]", help="Columns of the forecasts.  [default: all other columns of numbers]"
)
@click.option("--time", metavar="COLUMN", help="Column of the times, which must increase within a series.")
@click.option(
    "--by", metavar="COLUMN[,..]", multiple=True, help="Columns that name the series of each row; repeatable."
)
@click.option(
    "--issued", metavar="COLUMN", help="When forecasts were issued: time of the latest data.  [default: cutoff]"
)
@click.option("--known", metavar="COLUMN", help="When truths were known.  [default: at the time of the row]")
@click.option("--step", metavar="COLUMN", help="Steps ahead, 1, 2, ...  [default: h, step, horizon or lead_time]")
@click.option("--delay", type=int, metavar="N", help="Truths are known after N more rows of their series.")
@click.option(
    "--quantiles", metavar="LEVEL[,..]", help="Combine quantiles, such as .1,.5,.9, from columns like a-lo-80."
)
@choice("--revised", ["refuse", "ignore"], "refuse", "What to do with a second truth of a time.")
@click.option("--state", type=click.Path(), help="File that continues from table to table; begun if missing.")
@choice("--seen", ["refuse", "skip"], "refuse", "With --state: what to do with rows that it has already.")
@click.option("--expert", metavar="COLUMN", help="Of a table with a row per expert: the column of their names.")
@click.option("--forecast", metavar="COLUMN", help="Of such a table: the column of the forecasts.")
@click.option(
    "--loss", default="square", show_default=True, help="square, absolute, percentage, pinball:QUANTILE or log."
)
@click.option(
    "--learner",
    metavar="NAME[:KEY=VALUE,..]",
    help="`combinations`, or a learner with full feedback.  [default: combinations]",
)
@choice("--hint", ["last-truth", "last-losses", "none"], "last-truth", "What a learner that takes hints is given.")
@click.option("--no-gradient", is_flag=True, help="Follow the best expert, not the best convex combination.")
@click.option(
    "--add",
    "extras",
    multiple=True,
    type=click.Choice(["last-truth", "scaled", "shifted"]),
    help="Add experts made from the others; may be repeated.",
)
@click.option("--scale", type=float, help="Largest range of the losses of a row, if known.  [default: learned]")
@out_folder("out/combine", "Folder of the forecasts, the summary and the page.")
@choice("--format", _FORMATS, None, "Of the forecasts.  [default: parquet if FILE is, else csv]")
@choice("--input-format", [*_FORMATS, "jsonl"], None, "Of FILE.  [default: by its suffix]")
@click.option("--delimiter", metavar="CHARACTER", help="Of CSV input; `tab` for tabulators.  [default: found]")
@choice("--decimal", [".", ","], None, "Decimal sign of CSV input.  [default: found]")
@click.option("--threads", type=int, help="Threads; they do not change the results.  [default: all]")
@click.option("--no-page", is_flag=True, help="Do not write the HTML page.")
@click.option("--json", "as_json", is_flag=True, help="Print the summary as JSON.")
@click.option("--quiet", is_flag=True, help="No progress and no notes on standard error.")
def command(
    file: str,
    target: str,
    experts: str | None,
    time: str | None,
    by: tuple[str, ...],
    issued: str | None,
    known: str | None,
    step: str | None,
    delay: int | None,
    revised: str,
    state: str | None,
    seen: str,
    quantiles: str | None,
    expert: str | None,
    forecast: str | None,
    out: Path,
    format: str | None,
    input_format: str | None,
    delimiter: str | None,
    decimal: str | None,
    threads: int | None,
    no_page: bool,
    as_json: bool,
    quiet: bool,
    **options: Any,
) -> None:
    """Combine the forecasts in FILE (CSV, Parquet or JSON lines; - for standard input) with weights that adapt.

    FILE has a row per round: the truth, and one column per expert. In each row the experts are weighed by the rows
    before it, so no forecast uses its own truth. Empty cells, NA, NaN and null are missing: the expert is asleep, or
    the truth is unknown. With --by, every series has weights of its own.

    Times are compared as numbers or ISO timestamps if the first one is such, else as text. Times and names of series in
    the output are those of FILE; CSV output has commas and decimal points.

    \b
    driftwise combine forecasts.csv --target y
    driftwise combine forecasts.parquet --target y --time ds --by series --loss absolute --out out/stores
    driftwise combine quantiles.csv --target y --experts a_q90,b_q90 --loss pinball:0.9 --add last-truth
    zcat forecasts.csv.gz | driftwise combine - --target y --format parquet
    """
    import csv
    import os

    from driftwise.cli.outputs import check_output_files, given_command, json_text
    from driftwise.core.errors import InvalidInput, one_line
    from driftwise.core.validation import count
    from driftwise.forecasting.combining import PAGE, SUMMARY, CombineTask, combine_table, table_source
    from driftwise.forecasting.frames import ColumnUses

    mixture = _mixture_options(**options)
    n_threads = (os.cpu_count() or 1) if threads is None else count("combine", "threads", threads)
    named = None if experts is None else tuple(next(csv.reader([experts], skipinitialspace=True), []))
    source = table_source(file, input_format)
    output_format = format or ("parquet" if source.format == "parquet" else "csv")
    finals = [out / f"forecasts.{output_format}", out / SUMMARY, *([] if no_page else [out / PAGE])]
    if state is not None:
        _check_state(state)
    elif seen == "skip":
        raise InvalidInput("combine: --seen skip needs --state: without a state, no row was seen before.")
    inputs = [*([] if source.is_stream else [file]), *([] if state is None else [state])]
    check_output_files("combine", finals, inputs, follow_links=False)
    levels = None if quantiles is None else _levels(quantiles)
    if levels is not None and mixture.forecast_loss.text != "square":
        raise InvalidInput(
            "combine: the loss of quantiles is their pinball loss; --loss cannot be given with --quantiles."
        )
    if delay is not None and delay < 0:
        raise InvalidInput(f"combine: --delay must be a whole number >= 0, got {delay}.")
    series = tuple(name for text in by for name in next(csv.reader([text], skipinitialspace=True), []))
    wanted = ColumnUses(target, named, time, series, expert, forecast, issued, known, step, delay, revised, levels)
    wanted = wanted._replace(continued=state is not None, seen=seen)
    text_format = (_delimiter(delimiter), decimal)
    typed = given_command("--out", "--threads", "--json", "--quiet")  # the page does not depend on these
    task = CombineTask(
        source, wanted, mixture, out, output_format, *text_format, n_threads, not no_page, state, commands=(typed,)
    )

    def note(text: str) -> None:
        if not quiet:
            click.echo(f"driftwise: {text}", err=True)

    with notes(quiet), _row_progress(quiet) as progress:
        outcome = combine_table(task, progress, note)
    if as_json:
        click.echo(json_text(outcome.report.record()))
        return
    lines = "".join(f"{line}\n" for line in outcome.lines)
    click.echo("\n\n".join(filter(None, [outcome.report.text(), lines.rstrip("\n"), f"{COLUMNS_NOTE}\n"])))
    for kind, path in zip(("forecasts", "summary", "page"), outcome.files, strict=False):
        click.echo(f"{kind}: {one_line(str(path))}")


def _mixture_options(
    loss: str, learner: str | None, hint: str, no_gradient: bool, extras: tuple[str, ...], scale: float | None
) -> MixtureOptions:
    """Return the options of the mixtures, checked."""
    from driftwise.core.errors import InvalidInput
    from driftwise.forecasting.combinations import Combinations
    from driftwise.forecasting.options import MixtureOptions, combinations_from_spec
    from driftwise.learners import Player
    from driftwise.learners.base import ExpertLearner

    chosen: ExpertLearner | Combinations | None = None
    spec = None if learner is None else parse_member(learner)
    if spec is not None and spec.get("name") == Combinations.name:
        chosen = combinations_from_spec(spec)
    elif spec is not None:
        player = Player.from_spec(spec)
        if player.tuned is not None:
            raise InvalidInput("combine: --learner cannot be tuned, because the measures of a file are not known.")
        member = player.learner(2, 1)
        if member.feedback != "full":
            raise InvalidInput(f"combine: --learner must have full feedback; {player.name} has bandit feedback.")
        if not isinstance(member, ExpertLearner):
            raise InvalidInput(f"combine: --learner must have kernels; {player.name} is in plain Python.")
        chosen = member
    return MixtureOptions(loss, chosen, not no_gradient, hint, tuple(dict.fromkeys(extras)), scale)


def _levels(text: str) -> tuple[float, ...]:
    """Return the levels of quantiles that a user gives."""
    from driftwise.core.errors import InvalidInput, shown
    from driftwise.forecasting.options import quantile_levels

    try:
        levels = [float(part) for part in text.split(",")]
    except ValueError:
        raise InvalidInput(f"combine: --quantiles must be numbers with commas between, got {shown(text)}.") from None
    if not all(0 < level < 1 for level in levels):
        wrong = next(level for level in levels if not 0 < level < 1)
        raise InvalidInput(f"combine: --quantiles must be probabilities in (0, 1), such as .1,.5,.9, got {wrong:g}.")
    if sorted({*levels}) != levels:
        raise InvalidInput(f"combine: --quantiles must increase, such as .1,.5,.9, got {shown(text)}.")
    return quantile_levels("combine", levels)


def _check_state(path: str) -> None:
    """Reject the name of a state that is no name of a file."""
    from driftwise.core.errors import InvalidInput
    from driftwise.forecasting.state_file import state_path

    try:
        state_path(path)
    except InvalidInput as error:
        raise InvalidInput(str(error).replace("`state`", "--state")) from None


def _delimiter(text: str | None) -> str | None:
    """Return the delimiter that a user gives: one character, or a name for the tabulator."""
    from driftwise.core.errors import InvalidInput, shown

    character = {"tab": "\t", "\\t": "\t"}.get(text or "", text)
    if character is not None and (len(character) != 1 or not character.isascii() or character in '"\r\n\0'):
        raise InvalidInput(f"combine: --delimiter must be one ASCII character or `tab`, got {shown(text)}.")
    return character


@contextlib.contextmanager
def _row_progress(quiet: bool) -> Iterator[Callable[[RowProgress], None] | None]:
    """Show the number of rows, their speed and the remaining time."""
    if quiet:
        yield None
        return
    first: RowProgress | None = None  # the end of the first block, which also has the time of compiling
    last_tenth = last_rows = 0
    with progress_line() as show_line:

        def show(now: RowProgress) -> None:
            nonlocal first, last_tenth, last_rows
            first = first or now
            line, seconds = f"{now.rows:,} rows", now.seconds - first.seconds
            if seconds >= _SHORT:
                line = f"{line}, {(now.rows - first.rows) / seconds:,.0f} rows a second"
                if now.read is not None and first.read is not None and first.read < now.read < 1:
                    left = seconds * (1 - now.read) / (now.read - first.read)
                    line = f"{line} ({100 * now.read:.0f} %), about {duration(left)} left"
            tenth = 0 if now.read is None else int(10 * now.read)
            due = tenth > last_tenth or (now.read is None and now.rows >= 2 * last_rows)
            show_line(line, due and seconds >= _SHORT)
            if due and seconds >= _SHORT:
                last_tenth, last_rows = tenth, now.rows

        yield show
