"""What `driftwise combine` says about a table beside its result: notes, what came for a state, errors in its words."""

from __future__ import annotations

import contextlib
import math
import re
from collections.abc import Collection, Iterator, Sequence
from typing import TYPE_CHECKING

from driftwise.core.errors import BadData, BadFile, InvalidInput, shown
from driftwise.core.files import shown_path
from driftwise.forecasting.frame_columns import listed
from driftwise.forecasting.frames import begun_with
from driftwise.forecasting.quantile_columns import level_of

if TYPE_CHECKING:
    from pathlib import Path

    from driftwise.environments.table_files import TableSource
    from driftwise.forecasting.continued_rounds import Arrivals
    from driftwise.forecasting.forecast_report import ForecastReport
    from driftwise.forecasting.frames import ColumnUses

_WORDS = {  # of Python, and of the command
    "revised='ignore'": "--revised ignore",
    "seen='skip'": "--seen skip",
    "Sort the frame by it.": "Sort the rows.",
    "of a long frame": "of a table with a row for each expert",
    "are of wide frames, `expert` and `forecast` are of long ones.": (
        "are of tables with a column for each expert, `expert` and `forecast` of those with a row for each."
    ),
    ", or a dict from names to columns": "",
}
_IMPLAUSIBLE = 1e3  # times the loss of the best expert


@contextlib.contextmanager
def in_words_of(source: TableSource) -> Iterator[None]:
    """Turn errors about the arguments of `combine` into errors about a file and options of the command."""
    try:
        yield
    except BadData:  # about a cell of the file
        raise
    except BadFile as error:
        raise BadFile(_in_options(str(error)) + _state_cure(str(error))) from None
    except InvalidInput as error:
        raise source.fault(f": {_in_options(str(error).removeprefix('combine: '))}") from None


def _in_options(text: str) -> str:
    """Return a message with the words of the command: of options and tables, not of arguments and frames."""
    for words, of_command in _WORDS.items():
        text = text.replace(words, of_command)
    return re.sub(r"`(\w+)`", r"--\1", text)


def _state_cure(text: str) -> str:
    """Return what to do about a state that was begun with another option, "" if the error is another one."""
    found = begun_with(text)
    if found is None:
        return ""
    name, value = found
    option = {"extras": "add"}.get(name, name)
    if name == "gradient":
        use = "leave --no-gradient out" if value else "give --no-gradient"
    elif value is None and name in ("issued", "step"):
        use = f"leave --{name} and its column out"
    elif value is None or value == []:
        use = f"leave --{option} out"
    elif isinstance(value, list):
        use = f"use --{option} {','.join(map(str, value))}"
    else:
        use = f"use --{option} {value}" if isinstance(value, str | int | float) else f"use its --{option}"
    return f" {use[0].upper()}{use[1:]}, or use another --state file."


def unused_notes(unused: Sequence[str], times: Collection[str], uses: ColumnUses) -> list[str]:
    """Return sentences about the columns that are not used; `times` are those with dates and timestamps."""
    notes = []
    found = {name: level_of(name) for name in unused}
    quantiles = [name for name in unused if found[name] is not None] if uses.quantiles is None else []
    if quantiles:
        levels = sorted({level[1] for name in quantiles if (level := found[name]) is not None})
        texts = ",".join(f"{level:g}".removeprefix("0") for level in levels)
        notes.append(f"not used: quantiles {listed(quantiles)}; combine them with --quantiles {texts}.")
    rest = [name for name in unused if name not in quantiles]
    late = [name for name in rest if name in times and uses.time is not None]
    if late:
        cure = "When forecasts were issued: --issued; when truths were known: --known."
        notes.append(f"not used: {listed(late)} (times). {cure}")
    if others := [name for name in rest if name not in late]:
        cure = "the column of the series by --by"
        cure = "the column of the times by --time, that of the series by --by" if uses.time is None else cure
        notes.append(f"not used, because they are not numbers: {listed(others)}. Name {cure}.")
    return notes


def expert_notes(experts: Sequence[str], asleep: Sequence[str]) -> list[tuple[str, str]]:
    """Return where there may be a mistake and what: a single expert, experts without forecasts."""
    notes = [(f", column {shown(name)}", "all forecasts are missing.") for name in asleep]
    if len(experts) > 1:
        return notes
    weight = f"{shown(experts[0])} is the only expert, so its weight is 1 in every row."
    return [("", f"{weight} A table for this command has one column for each expert."), *notes]


def implausible(report: ForecastReport, experts: Sequence[str]) -> list[str]:
    """Return the columns whose loss is so large that they may be something else, such as a time or a number."""
    names = {*experts}
    means = {expert.name: expert.mean for expert in report.experts if expert.name in names and expert.n_awake}
    least = min((mean for mean in means.values() if mean > 0), default=math.inf)
    return [name for name, mean in means.items() if mean > _IMPLAUSIBLE * least]


def begun_note(path: Path, was_there: bool) -> str:
    """Return a sentence on a state that a run has begun."""
    return (
        f"{shown_path(path)}: {'the file was empty' if was_there else 'there was no such file'}; a new state is begun."
    )


def arrival_lines(came: Arrivals, is_scored: bool) -> list[str]:
    """Return sentences on the truths and the new rows of a run with a state."""
    parts = []
    if came.n_came:
        parts.append(f"{_counted(came.n_came, 'truth')} came for rows that waited")
    if came.n_new and came.n_waiting == came.n_new:
        waits = "waits for its truth" if came.n_new == 1 else "wait for their truths"
        parts.append(f"{_counted(came.n_new, 'new row')} {_was(came.n_new)} combined and {waits}")
    elif came.n_new:
        waiting = f", {came.n_waiting:,} of them without a truth yet" if came.n_waiting else ""
        parts.append(f"{_counted(came.n_new, 'new row')} {_was(came.n_new)} combined{waiting}")
    text = "; ".join(parts) or "No truth came for a row that waited, and there was no new row"
    return [f"{text}.", *([] if is_scored else ["Nothing could be scored yet: no truth of a combined row is known."])]


def truths_note(n: int, first: str) -> str:
    """Return a sentence on truths that belong to no row."""
    belong, are = ("belongs", "it is kept") if n == 1 else ("belong", "they are kept")
    kept = f"{are} for rows that come later; check times and series."
    return f"{_counted(n, 'truth')} {belong} to no row that waits (first: {first}): {kept}"


def _counted(n: int, noun: str) -> str:
    return f"{n:,} {noun}{'s' * (n != 1)}"


def _was(n: int) -> str:
    return "was" if n == 1 else "were"
