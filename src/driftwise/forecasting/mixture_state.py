"""A state of mixtures from day to day: `combine(..., state="mix.db")` continues every series where it stopped.

One run over all rows, and runs over a table for each night with the same rows, give the same forecasts to the bit. So a
run learns from a truth when the next round of its mixture is issued: until then the truth waits with its round, and the
order in which truths come does not matter. A truth that comes later than it was known is learned before those that came
in time: nothing that was issued changes.

A row of a table is one of these:

- **new**: issued after the last round of its mixture (a mixture serves a series, or one step ahead of it);
- **waiting**: a round of an earlier run that waits for its truth (the same series, time, time of issue and step). It
  may bring the truth; it has no forecasts, or those that were issued, and gets the forecast that was issued;
- **a truth only**, without forecasts: for all rounds of its series that wait for the truth of its time; its forecast is
  missing in the result;
- **seen**: any other row with forecasts, which is refused or left out.

===================  ==========================================  ====================================================
given                a round is issued                           its truth is known
===================  ==========================================  ====================================================
`issued`             at the time in that column                  at the time that it is for, or that of `known`
`known` only         at its time                                 at the time in that column
`delay` N            in the order of the times of its mixture    after N more rounds of its mixture
none                 at its time                                 after it, before the next row of its series
===================  ==========================================  ====================================================
"""

from __future__ import annotations

import json
import os
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple, NoReturn

import numpy as np

from driftwise.core.errors import InvalidInput, one_line, shown
from driftwise.core.files import shown_path
from driftwise.forecasting.continued_rounds import Arrived, ContinuedRounds
from driftwise.forecasting.frame_columns import OWNER, narwhals
from driftwise.forecasting.frames import ColumnUses, Played, Rounds, Unordered
from driftwise.forecasting.options import MixtureOptions
from driftwise.forecasting.state_file import StateFile, fault, read_facts, reading, state_path
from driftwise.forecasting.time_axis import KINDS, OFFSET, TIME

if TYPE_CHECKING:
    from driftwise.forecasting.frame_columns import Frame

_ROLES = ("target", "time", "by", "issued", "known", "step", "delay", "quantiles")
_FACTS = {"kind", "experts", "sources", "options", *_ROLES}
_MOST_SHOWN = 10  # series in a text
_OPTIONAL = ("issued", "known", "step")  # columns that a table of truths may lack


class Continued(NamedTuple):
    """A run that continued a state."""

    rounds: Rounds  # with the experts of the state
    played: Played  # rows that were not played have a missing forecast
    arrived: Arrived


class MixtureState:
    """A state in a transaction: `play` continues it, `commit` keeps what was learned, `close` leaves it as it was."""

    def __init__(self, path: str | os.PathLike[str]) -> None:
        self._file = StateFile(path)
        self.path, self.is_new = self._file.path, self._file.is_new
        self.notes: list[str] = []  # what may be a mistake
        try:
            self._facts = {} if self.is_new else checked_facts(self._file.facts(), self._damaged)
        except BaseException:
            self.close()
            raise

    def __enter__(self) -> MixtureState:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """End the transaction; what was not committed is undone."""
        self._file.close()

    def commit(self) -> None:
        """Keep what was learned: it is on the disk when this returns."""
        self._file.commit()

    def missing(self, names: Sequence[str], is_long: bool) -> list[str]:
        """Return the columns of the state that a table lacks and may lack: of experts, of times of issue, of steps."""
        has = {*names}
        missing: list[str] = []
        missing += [self._facts[option] for option in _OPTIONAL if self._facts and self._facts[option]]
        sources: dict[str, list[str]] = {} if is_long else self._facts.get("sources", {})
        for theirs in sources.values():
            missing += [] if has & {*theirs} else theirs
        return [name for name in dict.fromkeys(missing) if name not in has]

    def complete(self, frame: Frame, is_long: bool) -> Frame:
        """Return a frame with the columns that it lacks and may lack, empty."""
        nw, empty = narwhals(), np.full(len(frame), np.nan)
        missing = self.missing(frame.columns, is_long)
        new = [nw.new_series(name, empty, nw.Float64, backend=frame.implementation) for name in missing]
        self._absent = {name for name, columns in self._facts.get("sources", {}).items() if {*columns} & {*missing}}
        return frame.with_columns(*new) if new else frame

    def counts(self) -> dict[str, int]:
        """Return how many series there are, and how many rounds wait for their truths."""
        counts = {"series": "SELECT count(*) FROM series", "waiting": "SELECT count(*) FROM rounds WHERE known IS NULL"}
        return {name: int(self._file.rows(query)[0][0]) for name, query in counts.items()}

    def play(self, rounds: Rounds, options: list[MixtureOptions], columns: ColumnUses, n_threads: int) -> Continued:
        """Play the new rounds of a table, and keep its truths; the file is changed by `commit`."""
        unordered = rounds.unordered
        assert unordered is not None
        try:
            kind, times = unordered.axis.stored()
        except ValueError as error:
            raise InvalidInput(f"{OWNER}: times cannot be kept in a state: {error}.") from None
        facts = _facts(kind, rounds, unordered, options, columns)
        if self.is_new:
            if options[0].full_learner.grows:
                name = options[0].full_learner.name
                raise InvalidInput(f"{OWNER}: the memory of {name} grows with the rounds, so it cannot have a `state`.")
            self._file.change("INSERT INTO facts VALUES (?, ?)", [(k, json.dumps(v)) for k, v in facts.items()])
        else:
            self._check_facts(facts)
            rounds = self._with_experts(rounds, columns)
        night = ContinuedRounds(self._file, self._damaged, rounds, times, options, columns)
        night.sort_rows()
        played, arrived = night.play(n_threads)
        self.notes += night.notes
        self._file.write()
        return Continued(rounds, played, arrived)

    def _damaged(self, what: object) -> NoReturn:
        raise fault(self.path, f"it is damaged: {str(what).rstrip('.')}")

    def _check_facts(self, facts: dict[str, Any]) -> None:
        """Refuse another kind of times, other columns and other options."""
        before = self._facts
        if before["kind"] != facts["kind"]:
            raise fault(self.path, f"it was begun with {KINDS[before['kind']]}, got {KINDS[facts['kind']]}")
        for name in _ROLES:
            if before[name] != facts[name]:
                raise fault(self.path, f"it was begun with {name}={before[name]!r}, got {name}={facts[name]!r}")
        for first, now in zip(before["options"], facts["options"], strict=True):
            for name, value in now.items():
                if first.get(name) != value:
                    raise fault(self.path, f"it was begun with {name}={shown(first.get(name))}, got {shown(value)}")

    def _with_experts(self, rounds: Rounds, columns: ColumnUses) -> Rounds:
        """Return rounds with the experts of the state, in its order."""
        experts, has = self._facts["experts"], {name: k for k, name in enumerate(rounds.experts)}
        if new := [name for name in rounds.experts if name not in experts]:
            cure = f"choose those of the state, {shown(experts)}, with `experts`, or begin a new state with all rows"
            raise fault(self.path, f"it has no expert {shown(new[0])}; {cure}")
        absent = [name for name in experts if name not in has]
        if absent and columns.expert is None:
            raise fault(self.path, f"it was begun with experts={experts!r}, got experts={[*rounds.experts]!r}")
        asleep = self._absent | {*absent}
        if asleep and len(asleep) < len(experts):
            names = ", ".join(shown(name) for name in experts if name in asleep)
            self.notes.append(f"no forecasts of {names} in this table: asleep in its rounds.")
        forecasts = []
        for of_level in rounds.forecasts:
            table = np.full((len(of_level), len(experts)), np.nan)
            for k, name in enumerate(experts):
                if name in has:
                    table[:, k] = of_level[:, has[name]]
            forecasts.append(table)
        return rounds._replace(experts=tuple(experts), forecasts=tuple(forecasts))


def _facts(
    kind: str, rounds: Rounds, unordered: Unordered, options: list[MixtureOptions], columns: ColumnUses
) -> dict[str, Any]:
    """Return what the whole state has in common, as plain values."""
    facts: dict[str, Any] = {"kind": kind, "experts": list(rounds.experts), "sources": unordered.sources}
    facts |= {"options": [of_level.spec for of_level in options], **{name: getattr(columns, name) for name in _ROLES}}
    plain: dict[str, Any] = json.loads(json.dumps(facts))
    return plain


def checked_facts(facts: dict[str, Any], damaged: Any) -> dict[str, Any]:
    """Return the facts of a file, after a check of their types."""
    if {*facts} != _FACTS or facts["kind"] not in KINDS:
        damaged("its facts are not those of a state")
    experts, sources, options = facts["experts"], facts["sources"], facts["options"]
    good = _is_texts(experts) and len({*experts}) == len(experts) > 0 and _is_texts(facts["by"])
    good = good and isinstance(sources, dict) and all(map(_is_texts, sources.values()))
    good = good and isinstance(options, list) and all(isinstance(of_level, dict) for of_level in options)
    good = good and len(options) == len(facts["quantiles"] or [0])
    good = good and all(facts[name] is None or isinstance(facts[name], str) for name in (*_OPTIONAL, "time", "target"))
    if not good:
        damaged("its facts are not those of a state")
    return facts


def _is_texts(values: object) -> bool:
    return isinstance(values, list) and all(isinstance(value, str) for value in values)


@dataclass(frozen=True)
class StateSummary:
    """What is in a state: its experts and options, its series, and the rounds that wait for their truths.

    Parameters
    ----------
    path : Path
        The file.
    experts : tuple of str
        The names of the experts.
    options : list of dict
        The options of the mixtures, one for each level of quantiles.
    columns : dict
        The columns by their roles, and `delay` and `quantiles`.
    waiting : dict
        For each series, by the texts of its columns `by`, the number of rounds whose truth is not known.
    last_issue : dict
        For each series, when its last round was issued: a number, a text, or a time (in UTC if times have offsets).
    """

    path: Path
    experts: tuple[str, ...]
    options: list[dict[str, Any]]
    columns: dict[str, Any]
    waiting: dict[tuple[str, ...], int]
    last_issue: dict[tuple[str, ...], int | float | str | np.datetime64]

    @property
    def series(self) -> list[tuple[str, ...]]:
        """The series, in the order in which they began."""
        return list(self.waiting)

    @property
    def n_waiting(self) -> int:
        """The number of rounds whose truth is not known."""
        return sum(self.waiting.values())

    def __repr__(self) -> str:
        counts = f"series={len(self.waiting)}, waiting={self.n_waiting}"
        return f"StateSummary({str(self.path)!r}, experts={shown(list(self.experts))}, {counts})"

    def text(self) -> str:
        """Return a few lines about the state, with its first series."""
        options = self.options[0] if len(self.options) == 1 else {**self.options[0], "loss": "pinball"}
        roles = ", ".join(f"{name}={value!r}" for name, value in self.columns.items() if value not in (None, []))
        lines = [
            f"State {shown_path(self.path)}: {len(self.waiting):,} series, {self.n_waiting:,} rounds wait for truths.",
            f"Experts: {', '.join(self.experts)}.",
            f"Loss {options['loss']}, learner {options['learner']['name']}. {roles}.",
        ]
        for name in self.series[:_MOST_SHOWN]:
            last, waiting = self.last_issue.get(name), self.waiting[name]
            lines.append(f"{', '.join(name) or 'one series'}: last issue {last}, {waiting:,} waiting")
        more = len(self.waiting) - _MOST_SHOWN
        lines += [f"and {more:,} more series"] if more > 0 else []
        return "\n".join(map(one_line, lines))


def read_state(path: str | os.PathLike[str]) -> StateSummary:
    """Return what is in a state; the file is not changed, and a run that changes it meanwhile is not disturbed."""
    place = state_path(path)

    def damaged(what: object) -> NoReturn:
        raise fault(place, f"it is damaged: {what}")

    with reading(place) as db:
        facts = checked_facts(read_facts(db, place), damaged)
        names: dict[Any, tuple[str, ...]] = {}
        for id, name in db.execute("SELECT id, name FROM series ORDER BY id"):
            try:
                parts = json.loads(name)
            except (ValueError, TypeError, RecursionError):
                damaged("a series has no name")
            if not _is_texts(parts):
                damaged("a series has no name")
            names[id] = tuple(parts)
        waiting = dict.fromkeys(names.values(), 0)
        for id, n in db.execute("SELECT series, count(*) FROM rounds WHERE known IS NULL GROUP BY series"):
            if id not in names:
                damaged("a round belongs to no series")
            waiting[names[id]] = n
        last: dict[tuple[str, ...], Any] = {}
        for id, value in db.execute("SELECT series, max(last) FROM mixtures GROUP BY series"):
            if id not in names:
                damaged("a mixture belongs to no series")
            is_time = facts["kind"] in (TIME, OFFSET) and type(value) is int
            last[names[id]] = np.datetime64(value, "ns") if is_time else value
    columns = {name: facts[name] for name in _ROLES}
    return StateSummary(place, tuple(facts["experts"]), facts["options"], columns, waiting, last)
