"""A state of mixtures from day to day: `combine(..., state="mix.db")` continues every series where it stopped.

One run over all rows, and runs over a table for each night with the same rows, give the same forecasts to the bit. So a
run learns from a truth when the next round of its mixture is issued: until then the truth waits with its round, and the
order in which truths come does not matter. A truth that comes later than it was known is learned before those that came
in time: nothing that was issued changes.

A row of a table is one of these:

- **new**: issued after the last round of its mixture (a mixture serves a series, or one step ahead of it);
- **waiting**: a round of an earlier run that waits for its truth (the same series, time, time of issue and step). It
  may bring the truth; it has no forecasts, or those that were issued, and gets the forecast that was issued;
- **a truth only**, without forecasts: for all rounds of its series and time that wait, and for those that come later in
  another table; its forecast is missing in the result. Where nothing but its time says when a row was issued, and no
  row of its time waits, it is a round in which all experts are missing, as it is in one run;
- **seen**: any other row with forecasts, which is refused or left out.

===================  ==========================================  ====================================================
given                a round is issued                           its truth is known
===================  ==========================================  ====================================================
`issued`             at the time in that column                  at the time that it is for, or that of `known`
`known` only         at its time                                 at the time in that column
`delay` N            in the order of the times of its mixture    after N more rounds of its mixture
none                 at its time                                 after it, before the next row of its series
===================  ==========================================  ====================================================

A series may go on live (`Mixture.from_state`) and come back (`Mixture.to_state`). A live mixture learns a truth when it
is told, so on leaving the file it learns those that came and still wait for the next issue.
"""

from __future__ import annotations

import copy
import json
import os
import sqlite3
from collections.abc import Callable, Hashable, Sequence
from dataclasses import dataclass
from datetime import UTC
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple, NoReturn

import numpy as np

from driftwise.core.errors import InvalidInput, UnknownName, one_line, rejection, shown
from driftwise.core.files import shown_path
from driftwise.core.types import Actions
from driftwise.forecasting.continued_rounds import (
    Arrived,
    ContinuedRounds,
    fill_stacks,
    numbers_of,
    packed_stacks,
    rounds_of_level,
)
from driftwise.forecasting.frame_columns import OWNER, narwhals
from driftwise.forecasting.frames import ColumnUses, Played, Rounds, Unordered
from driftwise.forecasting.mixture_stack import Issued, Round
from driftwise.forecasting.options import OPTION_NAMES, MixtureOptions
from driftwise.forecasting.single_mixture import SingleMixture, n_observed
from driftwise.forecasting.state_file import (
    FactRow,
    MixtureRow,
    RoundRow,
    StateFile,
    StateSeries,
    check_digests,
    digest_of,
    fault,
    read_facts,
    reading,
    rows_fault,
    state_path,
    with_digest,
)
from driftwise.forecasting.time_axis import KINDS, OFFSET, TIME, loaded, stored_time, time_axis

if TYPE_CHECKING:
    from driftwise.forecasting.frame_columns import Frame
    from driftwise.forecasting.mixture import Mixture

_ROLES = ("target", "time", "by", "issued", "known", "step", "delay", "quantiles")
_FACTS = {"kind", "experts", "sources", "options", *_ROLES}
_MOST_SHOWN = 10  # series in a text
_OPTIONAL = ("issued", "known", "step")  # columns that a table of truths may lack
Stored = Any  # a time as it is stored: a whole number, a float or a text
Place = tuple[Stored, Stored]  # when a round was issued (None: the state has no times of issue), and what it is for


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
        self._damaged = _damage_of(self.path)
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
            rows = [with_digest(FactRow(name, 0, json.dumps(value))) for name, value in facts.items()]
            self._file.change("INSERT INTO facts VALUES (?, ?, ?)", rows)
        else:
            self._check_facts(facts)
            rounds = self._with_experts(rounds, columns)
        night = ContinuedRounds(self._file, self._damaged, rounds, times, options, columns)
        night.sort_rows()
        played, arrived = night.play(n_threads)
        self.notes += night.notes
        self._file.write()
        return Continued(rounds, played, arrived)

    def _check_facts(self, facts: dict[str, Any]) -> None:
        """Refuse another kind of times, other columns and other options."""
        self._check_kind(facts["kind"])
        self._check_equal(*_ROLES, facts=facts)
        for first, now in zip(self._facts["options"], facts["options"], strict=True):
            for name, value in now.items():
                if first.get(name) != value:
                    raise fault(self.path, f"it was begun with {name}={shown(first.get(name))}, got {shown(value)}")

    def _check_kind(self, kind: str) -> None:
        if self._facts["kind"] != kind:
            raise fault(self.path, f"it was begun with {KINDS[self._facts['kind']]}, got {KINDS[kind]}")

    def _check_equal(self, *names: str, facts: dict[str, Any]) -> None:
        for name in names:
            if (before := self._facts[name]) != facts[name]:
                raise fault(self.path, f"it was begun with {name}={before!r}, got {name}={facts[name]!r}")

    def keep(self, mix: Mixture, series: object) -> None:
        """Put a live mixture in place of the series that it continues, or add it; the file is changed by `commit`."""
        facts, file, n_levels = self._facts, self._file, len(mix.quantiles or (0,))
        if (mix.steps is None) != (facts["step"] is None):
            raise fault(self.path, f"it was begun with step={facts['step']!r}, got a mixture with steps={mix.steps}")
        options = [_plain(single.options.spec) for single in mix._singles[:n_levels]]
        self._check_equal("quantiles", "experts", facts={"experts": [*mix.experts], "quantiles": _plain(mix.quantiles)})
        self._check_facts({**facts, "options": options})
        name = json.dumps(_series_name(series, facts))
        of_series = file.series(name) or StateSeries(file.next_id("series"), name)
        id = of_series.id
        mixtures = [MixtureRow(*row) for row in file.rows("SELECT * FROM mixtures WHERE series = ?", (id,))]
        rounds = [RoundRow(*row) for row in file.rows("SELECT * FROM rounds WHERE series = ?", (id,))]
        check_digests([*mixtures, *rounds], self.path)
        if what := rows_fault(mixtures, rounds, facts["issued"] is not None, _width(mix)):
            self._damaged(what)
        finished = {self._place(mix, key): truth for key, truth in mix._finished.items()}
        first_ids = {table: file.next_id(table) for table in ("mixtures", "rounds")}
        rows_of_steps = {row.step: row for row in mixtures}
        made_mixtures: list[MixtureRow] = []
        made_rounds: list[RoundRow] = []
        for i in range(mix.steps or 1):
            step, singles = 0 if mix.steps is None else i + 1, mix._singles[i * n_levels : (i + 1) * n_levels]
            row = rows_of_steps.get(step)
            before = {(one.issued, one.time): one for one in rounds if row is not None and one.mixture == row.id}
            waiting = {self._place(mix, key): key for key in singles[0].waiting}
            n_rounds = n_observed(singles[0].stack) + len(waiting)
            self._check_continues(row, before, {*waiting}, {*finished}, n_rounds)
            if not n_rounds:
                continue
            row_id = first_ids["mixtures"] + len(made_mixtures) if row is None else row.id
            new = sorted(place for place in waiting if place not in before)
            numbers = numbers_of(
                np.full(len(waiting), np.nan), [_issued_of(single, list(waiting.values())) for single in singles]
            )
            newest = -1
            for (place, key), content in zip(waiting.items(), numbers, strict=True):
                is_new = place not in before
                made = RoundRow(
                    first_ids["rounds"] + len(made_rounds) if is_new else before[place].id, id, row_id,
                    n_rounds - len(new) + new.index(place) if is_new else before[place].place, place[1], place[0], None,
                    0, content,
                )  # fmt: skip
                made_rounds.append(with_digest(made))
                newest = made.id if singles[0].waiting[key] is singles[0].hinted else newest
            issues = [time if issue is None else issue for issue, time in (*waiting, *finished)]
            now = MixtureRow(
                row_id, id, step, n_rounds, len(waiting), newest, max([*issues, *([] if row is None else [row.last])]),
                0, packed_stacks([single.stack for single in singles])[0],
            )  # fmt: skip
            made_mixtures.append(with_digest(now))
        file.change("DELETE FROM rounds WHERE series = ?", [(id,)])
        file.change("INSERT OR REPLACE INTO mixtures VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)", made_mixtures)
        file.change("INSERT INTO rounds VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)", made_rounds)
        kept = {row[0] for row in file.rows("SELECT time FROM truths WHERE series = ?", (id,))}
        truths = {time: truth for (_, time), truth in finished.items() if truth == truth and time not in kept}
        file.keep_truths(of_series, [(time, None, truths[time]) for time in sorted(truths)])
        file.write()

    def _place(self, mix: Mixture, key: Any) -> Place:
        """Return when a round of a live mixture was issued and what it is for, as they are stored."""
        has_issues = self._facts["issued"] is not None
        pair = key if has_issues and isinstance(key, tuple) and len(key) == 2 else (None, key)
        if mix._keyed is False or pair[1] is None or (pair[0] is None) == has_issues:
            rule = "a time of issue and a time" if has_issues else "a time"
            raise InvalidInput(f"Mixture: to be kept in a state, rounds must have the key {rule}, got {shown(key)}.")
        issue: Stored = None if pair[0] is None else self._stored(pair[0])
        time = self._stored(pair[1])
        if has_issues and issue >= time:
            raise InvalidInput(f"Mixture: a round must be issued before its time, got the key {shown(key)}.")
        return issue, time

    def _stored(self, time: object) -> Stored:
        try:
            kind, stored = stored_time(time)
        except ValueError as error:
            raise InvalidInput(f"Mixture: the key {shown(time)} cannot be kept in a state: {error}.") from None
        is_in_utc = self._facts["kind"] == OFFSET and isinstance(time, np.datetime64)
        self._check_kind(OFFSET if is_in_utc else kind)
        return stored

    def _check_continues(
        self, row: MixtureRow | None, before: dict[Place, RoundRow], waiting: set[Place], finished: set[Place], n: int
    ) -> None:
        """Refuse a live mixture that does not have all that the file has of it."""
        came = any(one.known is not None and place in waiting for place, one in before.items())
        lacks = any(place not in waiting | finished for place in before)
        is_old = row is not None and any(
            (time if issue is None else issue) <= row.last for issue, time in waiting - {*before}
        )
        if came or lacks or is_old or (row is not None and n < row.n_rounds):
            raise fault(self.path, "the series went on without this mixture; read it again with Mixture.from_state")

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
    plain: dict[str, Any] = _plain(facts)
    return plain


def _plain(value: Any) -> Any:
    """Return a value as JSON has it."""
    return json.loads(json.dumps(value))


def checked_facts(facts: dict[str, Any], damaged: Any) -> dict[str, Any]:
    """Return the facts of a file, after a check of their types."""
    good = {*facts} == _FACTS and all(map(_is_texts, (facts["experts"], facts["by"], [facts["kind"]])))
    good = good and facts["kind"] in KINDS and len({*facts["experts"]}) == len(facts["experts"]) > 0
    good = good and isinstance(facts["sources"], dict) and all(map(_is_texts, facts["sources"].values()))
    good = good and all(facts[name] is None or isinstance(facts[name], str) for name in (*_OPTIONAL, "time", "target"))
    delay, levels = facts.get("delay"), facts.get("quantiles")
    options: Any = facts.get("options")
    good = good and (delay is None or (type(delay) is int and delay >= 0))
    good = good and (levels is None or (isinstance(levels, list) and all(isinstance(x, float) for x in levels)))
    good = good and isinstance(options, list) and len(options) == len([0] if levels is None else levels) > 0
    if not good or not all(isinstance(of_level, dict) and {*of_level} == {*OPTION_NAMES} for of_level in options):
        damaged("its facts are not those of a state")
    for of_level in options:
        learner = of_level["learner"]
        if not isinstance(of_level["loss"], str) or not isinstance(learner, dict) or "name" not in learner:
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


def _damage_of(path: Path) -> Callable[[object], NoReturn]:
    def damaged(what: object) -> NoReturn:
        raise fault(path, f"it is damaged: {str(what).rstrip('.')}")

    return damaged


def _series_names(db: sqlite3.Connection, damaged: Callable[[object], NoReturn]) -> dict[Any, tuple[str, ...]]:
    """Return the names of the series by their ids, in the order in which they began."""
    names: dict[Any, tuple[str, ...]] = {}
    for row in (StateSeries(*row) for row in db.execute("SELECT * FROM series ORDER BY id")):
        try:
            parts = json.loads(row.name)
        except (ValueError, TypeError, RecursionError):
            parts = None
        if not _is_texts(parts):
            damaged("a series has no name")
        if row.digest != digest_of(row):
            damaged("a digest does not agree")
        names[row.id] = tuple(parts)
    return names


def read_state(path: str | os.PathLike[str]) -> StateSummary:
    """Return what is in a state; the file is not changed, and a run that changes it meanwhile is not disturbed."""
    place = state_path(path)
    damaged = _damage_of(place)
    with reading(place) as db:
        facts = checked_facts(read_facts(db, place), damaged)
        names = _series_names(db, damaged)
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


# Live mixtures


def live_mixture(kind: type[Mixture], path: str | os.PathLike[str], series: object, history: int) -> Mixture:
    """Return the mixture of a series of a state, which has learned the truths that came; the file is not changed."""
    place = state_path(path)
    damaged = _damage_of(place)
    with reading(place) as db:
        facts = checked_facts(read_facts(db, place), damaged)
        ids = {name: id for id, name in _series_names(db, damaged).items()}
        name = _series_name(series, facts)
        if name not in ids:
            known = [", ".join(parts) for parts in list(ids)[:_MOST_SHOWN]]
            raise UnknownName("series", ", ".join(name), known, f"in {shown_path(place)}")
        of_series = [("mixtures", MixtureRow, "step"), ("rounds", RoundRow, "place, id")]
        mixtures, rounds = (
            [kind_of_row(*row) for row in db.execute(f"SELECT * FROM {t} WHERE series = ? ORDER BY {by}", (ids[name],))]
            for t, kind_of_row, by in of_series
        )
    check_digests([*mixtures, *rounds], place)
    try:
        options = MixtureOptions.from_spec(facts["options"][0])
        n_steps, given = _n_steps(place, facts, mixtures), {name: getattr(options, name) for name in OPTION_NAMES}
        if facts["quantiles"]:
            del given["loss"]
        mix = kind(facts["experts"], steps=n_steps, quantiles=facts["quantiles"], history=history, **given)
    except (InvalidInput, UnknownName) as error:
        damaged(error)
    levels = len(facts["options"])
    if [_plain(single.options.spec) for single in mix._singles[:levels]] != facts["options"]:
        damaged("its facts are not those of a state")
    if what := rows_fault(mixtures, rounds, facts["issued"] is not None, _width(mix)):
        damaged(what)
    finished: dict[Hashable, float] = {}
    for row in mixtures:
        i = max(row.step, 1) - 1
        singles = mix._singles[i * levels : (i + 1) * levels]
        waiting = [one for one in rounds if one.mixture == row.id]
        try:
            finished |= _fill(singles, row, waiting, facts)
        except InvalidInput as error:
            damaged(error)
        mix._rounds = max(mix._rounds, n_observed(singles[0].stack))
    mix._finished, mix._keyed = finished, None if mix.steps is None else True
    return mix


def _series_name(series: object, facts: dict[str, Any]) -> tuple[str, ...]:
    """Return the name of a series in a state."""
    by = [name for name in facts["by"] if name != facts["step"]]
    parts = () if series is None else series if isinstance(series, tuple | list) else (series,)
    if len(parts) != len(by) or not all(isinstance(part, str | int) for part in parts):
        one = "one value" if len(by) == 1 else f"a tuple of {len(by)} values"
        rule = f"{one}, of {', '.join(map(shown, by))}" if by else "None, since the state has one series"
        raise rejection("Mixture", "series", rule, series)
    return tuple(map(str, parts))


def _n_steps(path: Path, facts: dict[str, Any], mixtures: list[MixtureRow]) -> int | None:
    if facts["step"] is None:
        return None
    steps = [row.step for row in mixtures]
    if steps != [*range(1, len(steps) + 1)] or not steps:
        got = ", ".join(map(str, steps)) or "none"
        raise fault(path, f"a live mixture has the steps 1, 2, ... ahead, and this series has {got}")
    return len(steps)


def _fill(
    singles: Sequence[SingleMixture], row: MixtureRow, waiting: list[RoundRow], facts: dict[str, Any]
) -> dict[Hashable, float]:
    """Let the mixtures of a step continue; return the truths that they learned, by the keys of their rounds."""
    numbers = np.frombuffer(b"".join(one.numbers for one in waiting)).reshape(len(waiting), -1) if waiting else None
    keys = [_key((one.issued, one.time), facts["kind"]) for one in waiting]
    if len({*keys}) < len(keys):
        raise InvalidInput("a round has the time of another one")
    fill_stacks([single.stack for single in singles], np.zeros(1, np.int64), [row.arrays])
    for level, single in enumerate(singles):
        if numbers is not None:
            issued = rounds_of_level(numbers, level, single.stack)
            if not single.stack._are_rounds(issued):
                raise InvalidInput("a round has numbers that no run has written")
            columns = (issued.combined.tolist(), issued.inputs, issued.weights, issued.kept)
            single.waiting = {key: Round(*values) for key, values in zip(keys, zip(*columns, strict=True), strict=True)}
            single.latest = single.waiting[keys[-1]]
            newest = [key for key, one in zip(keys, waiting, strict=True) if one.id == row.newest]
            single.hinted = single.waiting[newest[0]] if newest else None
        single.late = len(waiting) > 1 or any(facts[option] for option in ("issued", "known", "delay"))
    learned: dict[Hashable, float] = {}
    for k in _in_order(waiting, row, facts):
        assert numbers is not None
        learned[keys[k]] = float(numbers[k, 0])
        for single in singles:
            single.update(learned[keys[k]], keys[k])
    return learned


def _in_order(waiting: list[RoundRow], row: MixtureRow, facts: dict[str, Any]) -> list[int]:
    """Return the rounds whose truth came, in the order in which the next run would learn them."""
    if not waiting:
        return []
    columns: dict[str, list[Stored]] = {
        "time": [one.time for one in waiting],
        "issued": [one.issued for one in waiting],
    }
    columns |= {"known": [one.known for one in waiting], "last": [row.last]}
    try:
        ranks = time_axis({option: loaded(values) for option, values in columns.items()}).ranks
    except TypeError:
        raise InvalidInput("its times cannot be compared with each other") from None
    time, last = ranks["time"], int(ranks["last"][0])
    place = np.array([one.place for one in waiting])
    issued = ranks["issued"] if facts["issued"] is not None else time
    if facts["delay"] is not None:
        when = np.maximum(place + facts["delay"] + 1, row.n_rounds)
    else:
        when = np.maximum(ranks["known"], last + (facts["issued"] is not None))
    order: Actions = np.lexsort((issued, time, when))
    return [k for k in order.tolist() if waiting[k].known is not None]


def _width(mix: Mixture) -> int:
    """Return the bytes of the numbers of a round of a state."""
    stacks = [single.stack for single in mix._singles[: len(mix.quantiles or (0,))]]
    return 8 * (1 + sum(1 + 2 * stack.n_actions + stack.n_kept for stack in stacks))


def _issued_of(single: SingleMixture, keys: list[Hashable]) -> Issued:
    """Return rounds that wait as arrays."""
    rounds = [single.waiting[key] for key in keys]
    widths = (single.stack.n_actions, single.stack.n_actions, single.stack.n_kept)
    inputs, shares, kept = (
        np.array([waits[k + 1] for waits in rounds]).reshape(len(rounds), width) for k, width in enumerate(widths)
    )
    return Issued(np.array([waits.forecast for waits in rounds]), shares, inputs, kept)


def _key(place: Place, kind: str) -> Hashable:
    """Return the key of a round: its time, or the time of issue and its time."""
    issued, time = (_live_time(value, kind) for value in place)
    return time if issued is None else (issued, time)


def _live_time(value: Stored, kind: str) -> Any:
    """Return a time as it stands in a key; times of `datetime` are equal to those of pandas."""
    if value is None or kind not in (TIME, OFFSET):
        return value
    if type(value) is not int:
        raise InvalidInput("a time is no whole number")
    if value % 1000:
        return np.datetime64(value, "ns")
    time = np.datetime64(value // 1000, "us").item()
    return time.replace(tzinfo=UTC) if kind == OFFSET else time


def keep_live(mix: Mixture, path: str | os.PathLike[str], series: object) -> None:
    """Put a live mixture into a state, in place of the series that it continues; nothing changes if it is refused."""
    mix = copy.copy(mix)  # which nobody else changes
    if not mix.experts:
        raise InvalidInput("Mixture: there is nothing to keep before the experts are known.")
    with MixtureState(path) as state:
        if state.is_new:
            raise fault(state.path, "there is no state in it; begin one with combine(..., state=)")
        state.keep(mix, series)
        state.commit()
