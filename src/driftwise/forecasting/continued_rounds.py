"""The rounds of a table that continues a state: what its rows are, how they are played, and what is kept of them.

`driftwise.forecasting.mixture_state` says what rows there are, and when they are issued and their truths known.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Sequence
from typing import Any, NamedTuple, NoReturn

import numpy as np

from driftwise.core.errors import InvalidInput, shown
from driftwise.core.types import Actions, Flags, Matrix, Vector
from driftwise.forecasting.frame_columns import OWNER, narwhals
from driftwise.forecasting.frames import ColumnUses, Played, Rounds
from driftwise.forecasting.losses import Array
from driftwise.forecasting.mixture_stack import Issued, MixtureStack, Open
from driftwise.forecasting.options import MixtureOptions
from driftwise.forecasting.round_order import check_once, in_order, places, row_codes
from driftwise.forecasting.state_file import (
    MOST_STEPS,
    MixtureRow,
    RoundRow,
    StateFile,
    StateSeries,
    TruthRow,
    rows_fault,
    with_digest,
)
from driftwise.forecasting.time_axis import TimeColumn, loaded, time_axis


class Arrivals(NamedTuple):
    """What came in a run."""

    n_came: int  # truths of rounds that waited
    n_new: int  # new rounds with forecasts
    n_waiting: int  # of these, whose truth is not known
    without_round: Actions  # rows whose truth belongs to no round


class Arrived(NamedTuple):
    """The rounds whose truth came in this run, in the order of their times."""

    rows: Actions  # of the table, which brought the truths
    truths: Vector
    combined: Matrix  # of each level, increasing
    weights: list[Matrix]  # by level
    inputs: list[Matrix]
    arrivals: Arrivals | None = None


class Stored(NamedTuple):
    """What the file has of the series and times of a table; times are ranks on the axis of the table."""

    mixtures: list[MixtureRow]
    last: Actions  # of each mixture, when its last round was issued
    rounds: list[RoundRow]
    numbers: Matrix  # of each round: truth, then by level forecast, inputs, shares and what is kept
    series: Actions  # of each round, its number in the table
    mixture: Actions  # the place of its mixture
    time: Actions
    issued: Actions
    known: Actions  # -1: its truth is not known
    truths: list[TruthRow]  # that came
    truth_series: Actions
    truth_time: Actions
    truth_known: Actions


class ContinuedRounds:
    """The rows of a table beside what the file has of their series."""

    def __init__(
        self,
        file: StateFile,
        damaged: Callable[[object], NoReturn],
        rounds: Rounds,
        times: dict[str, TimeColumn],
        options: list[MixtureOptions],
        columns: ColumnUses,
    ) -> None:
        assert rounds.unordered is not None
        self._file, self._damaged, self._columns, self._options = file, damaged, columns, options
        self._rounds, self._fault, self._values = rounds, rounds.unordered.fault, times
        self.notes: list[str] = []
        self._n_rows, self._n_experts = len(rounds.truths), len(rounds.experts)
        self._n_actions = self._n_experts + options[0].n_extras
        self._stack_of = [MixtureStack(of_level, self._n_experts, 0) for of_level in options]
        self._n_of_level = 1 + 2 * self._n_actions + self._stack_of[0].n_kept
        self._series = rounds.series
        self._step = np.zeros(self._n_rows, np.int64) if rounds.unordered.step is None else rounds.unordered.step
        self._series_rows = self._find_series()
        self._series_ids = [row.id for row in self._series_rows]
        self._stored = self._read(times)

    # What the file has

    def _find_series(self) -> list[StateSeries]:
        """Return the series of the table, also those that are not in the file yet."""
        first = np.unique(self._series, return_index=True)[1]
        kept = narwhals().maybe_reset_index(self._rounds.kept[first.tolist()])
        by = [name for name in self._columns.by if name != self._columns.step]
        parts = zip(*(map(_series_text, kept[name].to_list()) for name in by), strict=True) if by else [()]
        names = [json.dumps(part) for part in parts]
        if len({*names}) < len(names):
            raise InvalidInput(f"{OWNER}: two series have the same text, {max(names, key=names.count)}.")
        next_id = self._file.next_id("series")
        found: list[StateSeries] = []
        for name in names:
            row = self._file.series(name)
            found.append(row or StateSeries(next_id, name))
            next_id += row is None
        return found

    def _read(self, times: dict[str, TimeColumn]) -> Stored:
        """Return what the file has of the series and times of the table."""
        ids, series = np.array(self._series_ids, np.int64), self._series
        self._file.select(self._series_ids, zip(ids[series].tolist(), times["time"].values.tolist(), strict=True))
        mixtures, rounds, truths = self._file.mixtures(), self._file.rounds(), self._file.truths()
        place_of_id = {id: k for k, id in enumerate(self._series_ids)}
        place_of_mixture = {row.id: k for k, row in enumerate(mixtures)}
        width = 8 * (1 + len(self._options) * self._n_of_level)
        if what := rows_fault(mixtures, rounds, self._columns.issued is not None, width):
            self._damaged(what)
        of_state = {
            "last": loaded([row.last for row in mixtures]),
            "round time": loaded([row.time for row in rounds]),
            "round issued": loaded([row.issued for row in rounds]),
            "round known": loaded([row.known for row in rounds]),
            "truth time": loaded([row.time for row in truths]),
            "truth known": loaded([row.time if row.known is None else row.known for row in truths]),
        }
        try:
            self._ranks = time_axis({**times, **of_state}).ranks
        except TypeError:
            self._damaged("its times cannot be compared with those of the table")
        numbers = np.frombuffer(b"".join(row.numbers for row in rounds)).reshape(len(rounds), width // 8).copy()
        return Stored(
            mixtures,
            self._ranks["last"],
            rounds,
            numbers,
            np.array([place_of_id[row.series] for row in rounds], np.int64),
            np.array([place_of_mixture[row.mixture] for row in rounds], np.int64),
            self._ranks["round time"],
            self._ranks["round issued"],
            self._ranks["round known"],
            truths,
            np.array([place_of_id[row.series] for row in truths], np.int64),
            self._ranks["truth time"],
            self._ranks["truth known"],
        )

    # What the rows are

    def sort_rows(self) -> None:
        """Find out what each row is, and check it."""
        columns, stored, ranks = self._columns, self._stored, self._ranks
        self._time = ranks["time"]
        self._issue = ranks["issued"] if columns.issued is not None else self._time
        self._known = ranks["known"] if columns.known is not None else self._time
        self._truths = self._rounds.truths
        has_truth = ~np.isnan(self._truths)
        has_forecast = np.zeros(self._n_rows, bool)
        for of_level in self._rounds.forecasts:
            has_forecast |= ~np.isnan(of_level).all(axis=1)
        has_step = np.ones(self._n_rows, bool) if columns.step is None else self._step > 0
        rule = "it must not be missing where there is a forecast"
        self._check("issued", has_forecast & (self._issue < 0), rule)
        self._check("step", has_forecast & ~has_step, rule)
        self._check("step", self._step >= MOST_STEPS, "it must be below 2^31")
        self._check("known", has_truth & (self._known < 0), "it must not be missing where there is a truth")
        is_round = (self._issue >= 0) & has_step
        rows = np.flatnonzero(is_round)
        keys = (self._series[rows], self._issue[rows], self._time[rows], self._step[rows])
        option = "time" if columns.issued is None else "issued"
        check_once(lambda row, option, rule: self._fault(int(rows[row]), option, rule), option, keys)
        step_of_round = np.array([row.step for row in stored.mixtures], np.int64)[stored.mixture]
        issue_of_round = stored.time if columns.issued is None else stored.issued
        of_stored = (stored.series, issue_of_round, stored.time, step_of_round)
        self._waits = np.full(self._n_rows, -1)  # the round of each row that waits
        self._waits[rows] = _matches(keys, of_stored)
        series_of = {id: k for k, id in enumerate(self._series_ids)}
        of_mixtures = np.array([series_of[row.series] for row in stored.mixtures], np.int64)
        steps = np.array([row.step for row in stored.mixtures], np.int64)
        self._mixture = _matches((self._series, self._step), (of_mixtures, steps))
        last = np.where(self._mixture >= 0, np.append(stored.last, -1)[self._mixture], -1)
        self._is_new = is_round & (self._waits < 0) & (self._issue > last)
        if columns.issued is not None:
            rule = "it must be before the time that the forecasts are for"
            self._check("issued", self._is_new & (self._issue >= self._time), rule)
        self._find_truths(has_truth)
        self._check_forecasts(has_forecast)
        is_seen = has_forecast & (self._waits < 0) & ~self._is_new
        rule = "it must be after the last rows of its series in the state"
        if is_seen.any() and columns.seen == "refuse":
            raise self._fault(int(is_seen.argmax()), option, rule, "To leave such rows out: seen='skip'.")
        if n_seen := int(is_seen.sum()):
            rows_are = "1 row was" if n_seen == 1 else f"{n_seen:,} rows were"
            self.notes.append(f"{rows_are} in the state already: left out, without a forecast.")

    def _check(self, option: str, is_wrong: Flags, rule: str) -> None:
        if is_wrong.any():
            raise self._fault(int(is_wrong.argmax()), option, rule)

    def _find_truths(self, has_truth: Flags) -> None:
        """Find the truth of each time, which is the first that came, and which rounds it is for."""
        stored, n = self._stored, self._n_rows
        series = np.concatenate([self._series, stored.series, stored.truth_series])
        code = row_codes(series, np.concatenate([self._time, stored.time, stored.truth_time]))
        of_rows, of_rounds, of_came = np.split(code, [n, n + len(stored.series)])
        n_codes = int(code.max(initial=-1)) + 1
        chosen, source = np.full(n_codes, np.nan), np.full(n_codes, -1)  # -1: no row of the file has the truth
        ready = np.flatnonzero(stored.known >= 0)  # rounds whose truth came in an earlier run and was not learned yet
        chosen[of_rounds[ready]], source[of_rounds[ready]] = stored.numbers[ready, 0], ready
        chosen[of_came] = [row.truth for row in stored.truths]
        source[of_came] = len(stored.series) + np.arange(len(of_came))
        in_state = ~np.isnan(chosen)
        brings = np.full(n_codes, -1)  # the first row with a truth
        rows = np.flatnonzero(has_truth & ~in_state[of_rows])[::-1]
        brings[of_rows[rows]] = rows
        self._first_truths = np.sort(brings[brings >= 0])
        chosen[of_rows[self._first_truths]] = self._truths[self._first_truths]
        differs = has_truth & (self._truths != chosen[of_rows])
        if differs.any() and self._columns.revised == "refuse":
            row = int(differs.argmax())
            where = "file" if in_state[of_rows[row]] else "row"
            rule = f"a time must have one truth, which was {chosen[of_rows[row]]} in an earlier {where}"
            raise self._fault(row, "target", rule)
        # The truths of new rounds: of the row, of another row, or of the file
        self._known_row = np.where(has_truth, np.arange(n), brings[of_rows])  # that says when the truth was known
        self._known_source = np.where(self._known_row >= 0, -1, source[of_rows])
        known = np.where(self._known_row >= 0, self._known[self._known_row], -1)
        of_sources = np.concatenate([stored.known, stored.truth_known, [-1]])
        known = np.where(self._known_source >= 0, of_sources[self._known_source], known)
        if self._columns.known is None:
            known = np.where(known >= 0, self._time, -1)
        self._known_of_new = np.where(self._is_new, known, -1)
        self._truth_of_new = np.where(self._known_of_new >= 0, chosen[of_rows], np.nan)
        # The truths of rounds that wait
        self._row_of_truth = np.where(stored.known < 0, brings[of_rounds], -1)
        matched = np.flatnonzero((self._waits >= 0) & has_truth)
        matched = matched[self._row_of_truth[self._waits[matched]] >= 0]
        self._row_of_truth[self._waits[matched]] = matched
        came = np.flatnonzero(self._row_of_truth >= 0)
        by = self._row_of_truth[came]
        self._round_known = stored.known.copy()
        self._round_known[came] = self._known[by] if self._columns.known is not None else stored.time[came]
        stored.numbers[came, 0] = chosen[of_rounds[came]]
        self._came = came
        is_early = self._is_new & (known >= 0) & self._before_issue(known, self._issue, self._time)
        is_early[by[self._before_issue(self._round_known[came], stored.issued[came], stored.time[came])]] = True
        after = "be after its forecasts were issued" if self._columns.issued else "not be before the time of its row"
        self._check("known", is_early, f"it must {after}")

    def _before_issue(self, known: Actions, issued: Actions, time: Actions) -> Flags:
        """Return whether truths were known before their rounds were issued."""
        return known <= issued if self._columns.issued is not None else known < time

    def _check_forecasts(self, has_forecast: Flags) -> None:
        """Refuse other forecasts of a round than those that were issued."""
        rows = np.flatnonzero((self._waits >= 0) & has_forecast)
        for i, of_level in enumerate(self._rounds.forecasts):
            issued = self._of_rounds(self._waits[rows], i).inputs[:, : self._n_experts]
            differs = ~np.isnan(of_level[rows]) & (of_level[rows] != issued)
            if differs.any():
                at, k = np.argwhere(differs)[0]
                name, was = shown(self._rounds.experts[k]), float(issued[at, k])
                rule = f"it was issued in an earlier run with the forecast {was} of {name}, not {of_level[rows[at], k]}"
                raise self._fault(int(rows[at]), "issued" if self._columns.issued else "time", rule)

    def _of_rounds(self, which: Actions, level: int) -> Issued:
        """Return rounds of the file at a level."""
        return rounds_of_level(self._stored.numbers[which], level, self._stack_of[level])

    @property
    def arrivals(self) -> Arrivals:
        """What came in this run."""
        awake = np.column_stack([~np.isnan(of_level) for of_level in self._rounds.forecasts]).any(axis=1)
        new, first = self._is_new & awake, self._first_truths
        rounds = np.concatenate([self._row_of_truth[self._came], np.flatnonzero(self._is_new)])
        place = _matches((self._series[first], self._time[first]), (self._series[rounds], self._time[rounds]))
        n_waiting = int((new & np.isnan(self._truth_of_new)).sum())
        return Arrivals(len(self._came), int(new.sum()), n_waiting, first[place < 0])

    # The play

    def play(self, n_threads: int) -> tuple[Played, Arrived]:
        """Play the new rounds, write all changes, and return the results of all rows."""
        stored, new = self._stored, np.flatnonzero(self._is_new)
        group = row_codes(self._series[new], self._step[new])  # of each new round, the place of its mixture here
        first = np.unique(group, return_index=True)[1]
        at = self._mixture[new[first]]  # the place in the file, -1 if it is new
        n_before = np.array([stored.mixtures[k].n_rounds if k >= 0 else 0 for k in at.tolist()], np.int64)
        width = 1 + int(max(self._issue.max(), self._time.max()))
        place = n_before[group] + places(group, self._issue[new] * width + self._time[new])
        here = np.full(len(stored.mixtures) + 1, -1)
        here[at[at >= 0]] = np.flatnonzero(at >= 0)
        group_of_round = here[stored.mixture]
        # When rounds are issued and truths known, in the order of `round_order`
        issued_at, known_at = self._keys(self._issue[new], self._time[new], self._known_of_new[new], place)
        round_place = np.array([row.place for row in stored.rounds], np.int64)
        round_issued_at, round_known_at = self._keys(stored.issued, stored.time, self._round_known, round_place)
        last = np.append(stored.last, -1)[at]
        last_at = self._keys(last, last, last, n_before - 1)[0]
        until = np.full(len(at), -1)
        np.maximum.at(until, group, issued_at)
        waits = np.flatnonzero((group_of_round >= 0) & (self._round_known >= 0))
        round_known_at[waits] = np.maximum(round_known_at[waits], last_at[group_of_round[waits]] + 1)
        before = waits[round_known_at[waits] < until[group_of_round[waits]]]
        learned_new = np.flatnonzero(~np.isnan(self._truth_of_new[new]) & (known_at < until[group]))
        rows = np.arange(len(before) + len(new))
        learned = np.concatenate([rows[: len(before)], len(before) + learned_new])
        issued_of = np.concatenate([round_issued_at[before], issued_at])
        known_of = np.concatenate([round_known_at[before], known_at])
        time_of = np.concatenate([stored.time[before], self._time[new]])
        events = in_order(rows[len(before) :], learned, time_of, issued_of, known_of)
        truths = np.full(len(rows), np.nan)
        truths[learned] = np.concatenate([stored.numbers[before, 0], self._truth_of_new[new[learned_new]]])
        mixture_of = np.concatenate([group_of_round[before], group])
        old = self._file.with_arrays([stored.mixtures[k] for k in at[at >= 0].tolist()])
        stacks = self._loaded(old, at)
        round_id = {stored.rounds[k].id: r for r, k in enumerate(before.tolist())}
        newest = np.full(len(at), -1)
        newest[at >= 0] = [round_id.get(row.newest, -1) for row in old]
        waiting = np.zeros(len(at), np.int64)
        waiting[at >= 0] = [row.waiting for row in old]
        issued, cuts = [], []
        still = Open(waiting, newest)
        for i, stack in enumerate(stacks):
            if not len(new):
                issued.append(self._of_rounds(before, i))
                cuts.append(stack.cuts)
                continue
            block = np.full((len(rows), self._n_experts), np.nan)
            block[len(before) :] = self._rounds.forecasts[i][new]
            cut_before = stack.cuts
            earlier = (self._of_rounds(before, i), Open(waiting, newest))
            try:
                now, still = stack.play(events, block, truths, mixture_of, n_threads, earlier)
            except InvalidInput as error:
                if "`before`" in str(error):
                    self._damaged(error)
                raise
            issued.append(Issued(*(array[len(before) :] for array in now)))
            cuts.append((stack.cuts[0] - cut_before[0], stack.cuts[1] - cut_before[1]))
        waits_now = np.setdiff1d(np.arange(len(new)), learned_new)
        self._write(new, group, place, at, stacks, issued, still, len(before), before, waits_now)
        self._write_truths()
        return self._results(new, issued, cuts)

    def _keys(self, issued: Actions, time: Actions, known: Actions, place: Actions) -> tuple[Actions, Actions]:
        """Return whole numbers in the order in which rounds are issued and truths known."""
        if self._columns.delay is not None:
            return 2 * place + 1, 2 * (place + self._columns.delay + 1)
        if self._columns.issued is not None:
            return 2 * issued + 1, 2 * known
        return 2 * time, 2 * known + 1

    def _loaded(self, old: list[MixtureRow], at: Actions) -> list[MixtureStack]:
        """Return the stacks of the mixtures that are played: those of the file, and new ones."""
        stacks = [MixtureStack(of_level, self._n_experts, len(at)) for of_level in self._options]
        try:
            fill_stacks(stacks, np.flatnonzero(at >= 0), [row.arrays for row in old])
        except InvalidInput as error:
            self._damaged(error)
        return stacks

    # What is kept

    def _write(
        self,
        new: Actions,
        group: Actions,
        place: Actions,
        at: Actions,
        stacks: list[MixtureStack],
        issued: list[Issued],
        still: Open,
        n_before: int,
        learned: Actions,
        waits: Actions,
    ) -> None:
        """Write the mixtures that were played, and the rounds that wait."""
        file, stored = self._file, self._stored
        next_mixture = file.next_id("mixtures")
        next_round = file.next_id("rounds")
        ids = [stored.mixtures[k].id if k >= 0 else -1 for k in at.tolist()]
        for k, id in enumerate(ids):
            if id < 0:
                ids[k], next_mixture = next_mixture, next_mixture + 1
        round_ids = np.full(len(new), -1)
        round_ids[waits] = next_round + np.arange(len(waits))
        n_rounds = np.zeros(len(at), np.int64)
        np.maximum.at(n_rounds, group, place + 1)
        last_row = np.zeros(len(at), np.int64)
        order = np.lexsort((place, group))
        last_row[group[order]] = new[order]  # the last one of each mixture
        series, step = self._series[last_row].tolist(), self._step[last_row].tolist()
        issue = self._column("time" if self._columns.issued is None else "issued")
        newest = np.where(still.newest >= n_before, np.append(round_ids, -1)[still.newest - n_before], -1).tolist()
        blobs = packed_stacks(stacks) if len(at) else []
        mixtures = []
        for k, id in enumerate(ids):
            row = MixtureRow(
                id, self._series_ids[series[k]], step[k], int(n_rounds[k]), int(still.waiting[k]), newest[k],
                issue[last_row[k]], 0, blobs[k],
            )  # fmt: skip
            mixtures.append(with_digest(row))
        file.change("INSERT OR REPLACE INTO mixtures VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)", mixtures)
        waiting = [Issued(*(array[waits] for array in of_level)) for of_level in issued]
        numbers = numbers_of(self._truth_of_new[new[waits]], waiting)
        times, known = self._column("time"), self._column("time" if self._columns.known is None else "known")
        rounds = []
        for k, w in enumerate(waits.tolist()):
            row_of = int(new[w])
            made = RoundRow(
                int(round_ids[w]), self._series_ids[self._series[row_of]], ids[group[w]], int(place[w]), times[row_of],
                None if self._columns.issued is None else issue[row_of],
                self._known_value(row_of, known), 0, numbers[k],
            )  # fmt: skip
            rounds.append(with_digest(made))
        came = np.setdiff1d(self._came, learned)
        numbers = _rows_of(stored.numbers[came]) if len(came) else []
        for k, j in enumerate(came.tolist()):
            changed = stored.rounds[j]
            value = known[self._row_of_truth[j]] if self._columns.known is not None else changed.time
            changed = changed._replace(known=value, numbers=numbers[k])
            rounds.append(with_digest(changed))
        file.change("DELETE FROM rounds WHERE id = ?", [(stored.rounds[j].id,) for j in learned.tolist()])
        file.change("INSERT OR REPLACE INTO rounds VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)", rounds)

    def _known_value(self, row: int, known: list[Any]) -> Any:
        """Return when the truth of a new round that waits was known, None if it is not."""
        if self._known_of_new[row] < 0:
            return None
        if self._columns.known is None:
            return known[row]
        by_row, source = int(self._known_row[row]), int(self._known_source[row])
        if by_row >= 0:
            return known[by_row]
        n_rounds = len(self._stored.rounds)
        if source < n_rounds:
            return self._stored.rounds[source].known
        truth = self._stored.truths[source - n_rounds]
        return truth.time if truth.known is None else truth.known

    def _column(self, option: str) -> list[Any]:
        """Return a column of times as they are stored, None where one is missing."""
        values, present = self._values[option]
        whole = np.full(self._n_rows, None, object)
        whole[present] = values
        listed: list[Any] = whole.tolist()
        return listed

    def _write_truths(self) -> None:
        """Write the truths that came, those of the latest times of each series."""
        rows = self._first_truths[np.lexsort((self._time[self._first_truths], self._series[self._first_truths]))]
        time, known = self._column("time"), None if self._columns.known is None else self._column("known")
        of_series: list[list[tuple[Any, Any, float]]] = [[] for _ in self._series_rows]
        for row in rows.tolist():
            truth = (time[row], None if known is None else known[row], float(self._truths[row]))
            of_series[self._series[row]].append(truth)
        for series, truths in zip(self._series_rows, of_series, strict=True):
            self._file.keep_truths(series, truths)

    def _results(self, new: Actions, issued: list[Issued], cuts: list[Any]) -> tuple[Played, Arrived]:
        """Return the results of all rows, and of the rounds whose truth came."""
        n, levels = self._n_rows, len(self._options)
        combined = np.full((n, levels), np.nan)
        weights = [np.zeros((n, self._n_actions)) for _ in range(levels)]
        inputs = [np.full((n, self._n_actions), np.nan) for _ in range(levels)]
        again = np.flatnonzero(self._waits >= 0)
        for i, now in enumerate(issued):
            for rows, of_rows in ((new, now), (again, self._of_rounds(self._waits[again], i))):
                combined[rows, i], weights[i][rows], inputs[i][rows] = of_rows.combined, of_rows.weights, of_rows.inputs
        combined.sort(axis=1)
        came, scored = self._came, np.flatnonzero(self._is_new & ~np.isnan(self._truth_of_new))
        of_came = [self._of_rounds(came, i) for i in range(levels)]
        rows = np.concatenate([self._row_of_truth[came], scored])
        time = np.concatenate([self._stored.time[came], self._time[scored]])
        order = np.argsort(time, kind="stable")
        earlier = np.sort(np.column_stack([of_level.combined for of_level in of_came]), axis=1)
        arrived = Arrived(
            rows[order],
            np.concatenate([self._stored.numbers[came, 0], self._truth_of_new[scored]])[order],
            np.concatenate([earlier, combined[scored]])[order],
            [np.concatenate([of_came[i].weights, weights[i][scored]])[order] for i in range(levels)],
            [np.concatenate([of_came[i].inputs, inputs[i][scored]])[order] for i in range(levels)],
            self.arrivals,
        )
        return Played(combined, weights, inputs, cuts), arrived


def _series_text(value: object) -> str:
    """Return a value that names a series as text; whole numbers come as floats where a library has read a gap."""
    return str(int(value)) if isinstance(value, float) and value.is_integer() else str(value)


def _matches(keys: tuple[Actions, ...], of: tuple[Actions, ...]) -> Actions:
    """Return for each key the place of an equal one among others, -1 if there is none."""
    n = len(keys[0])
    code = row_codes(*(np.concatenate(pair) for pair in zip(keys, of, strict=True)))
    place = np.full(int(code.max(initial=-1)) + 1, -1)
    place[code[n:]] = np.arange(len(code) - n)
    return place[code[:n]]


def rounds_of_level(numbers: Matrix, level: int, stack: MixtureStack) -> Issued:
    """Return rounds at a level, from all numbers of rounds: truth, then by level forecast, inputs, shares and kept."""
    n, n_of_level = stack.n_actions, 1 + 2 * stack.n_actions + stack.n_kept
    part = numbers[:, 1 + level * n_of_level :][:, :n_of_level]
    combined, inputs, shares, kept = map(np.ascontiguousarray, np.split(part, [1, 1 + n, 1 + 2 * n], axis=1))
    return Issued(combined[:, 0], shares, inputs, kept)


def numbers_of(truths: Vector, levels: Sequence[Issued]) -> list[bytes]:
    """Return the bytes of all numbers of each round."""
    parts = [truths[:, None]]
    for of_level in levels:
        parts += [of_level.combined[:, None], of_level.inputs, of_level.weights, of_level.kept]
    return _rows_of(np.hstack(parts)) if len(truths) else []


def fill_stacks(stacks: Sequence[MixtureStack], rows: Actions, contents: Sequence[bytes]) -> None:
    """Let some mixtures of stacks, one for each level, continue from what `packed_stacks` returned."""
    if not len(rows):
        return
    packed = _packed(stacks)
    if any(len(content) != packed.shape[1] for content in contents):
        raise InvalidInput("a mixture has not as many numbers as it must have")
    packed[rows] = np.frombuffer(b"".join(contents), np.uint8).reshape(len(rows), -1)
    first = 0
    for stack in stacks:
        arrays = stack.arrays()
        for name, array in arrays.items():
            n_bytes = array[:1].nbytes
            part = np.ascontiguousarray(packed[:, first : first + n_bytes])
            arrays[name] = part.view(array.dtype).reshape(array.shape) if n_bytes else array
            first += n_bytes
        stack.set_arrays(arrays)


def packed_stacks(stacks: Sequence[MixtureStack]) -> list[bytes]:
    """Return the bytes of all arrays of each mixture of stacks."""
    return _rows_of(_packed(stacks))


def _packed(stacks: Sequence[MixtureStack]) -> Array:
    """Return the bytes of all arrays of stacks, a row for each mixture."""
    arrays = [array for stack in stacks for array in stack.arrays().values() if array[:1].nbytes or not len(array)]
    return np.hstack([np.ascontiguousarray(array).reshape(len(array), -1).view(np.uint8) for array in arrays])


def _rows_of(table: Array) -> list[bytes]:
    """Return the bytes of each row of a table."""
    content, width = np.ascontiguousarray(table).tobytes(), table[:1].nbytes
    return [content[i : i + width] for i in range(0, len(content), width)]
