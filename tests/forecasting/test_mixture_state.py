"""A state continues all series from table to table, as one run over all rows does, to the bit."""

import contextlib
import json
import os
import shutil
import sqlite3
import threading
import time
import zlib
from pathlib import Path

import numpy as np
import pandas as pd
import polars as pl
import pytest

from command_line import runner
from driftwise import Mixture
from driftwise.core.errors import BadFile, InvalidInput, LayoutWarning
from driftwise.forecasting import combine, read_state
from driftwise.forecasting.state_file import FactRow, MixtureRow, StateSeries, TruthRow, digest_of, with_digest
from driftwise.learners import AdaHedge, SleepingOptimisticAdaptMLProd, Tracker
from issued_windows import windows
from nightly import assert_equal_bits, continued, nights

LEARNERS = [None, AdaHedge(), Tracker(both_guesses=True)]
DAY = pd.Timedelta(hours=1)


@pytest.fixture
def path(tmp_path):
    return tmp_path / "mix.db"


def daily(n_days=40, n_series=2):
    """Return one row for each day and series, sorted by day."""
    frame = windows(n_series=n_series, n_issues=n_days, every=1, steps=1).drop(columns=["cutoff", "step"])
    return frame.sort_values(["ds", "unique_id"], ignore_index=True)


# Night by night as one run


@pytest.mark.parametrize("learner", LEARNERS, ids=str)
@pytest.mark.parametrize("steps", [True, False], ids=["weights for each step", "one mixture"])
@pytest.mark.parametrize("every", [1, 3, 5], ids=["overlap", "windows", "gaps"])
def test_nights_with_issue_times_are_one_run(path, every, steps, learner):
    frame = windows(every=every).drop(columns=[] if steps else ["step"])
    assert_equal_bits(continued(nights(frame), path, learner=learner), combine(frame, learner=learner))


@pytest.mark.parametrize("learner", LEARNERS, ids=str)
def test_a_year_of_nights_is_one_run_and_two_months_with_other_learners(path, learner):
    frame = windows(n_issues=365 if learner is None else 60, every=24, steps=24).drop(columns="step")
    assert_equal_bits(continued(nights(frame), path, learner=learner), combine(frame, learner=learner))


@pytest.mark.parametrize("learner", LEARNERS, ids=str)
def test_nights_without_issue_times_are_one_plain_run(path, learner):
    frame = daily()
    assert_equal_bits(continued(nights(frame, issued="ds"), path, learner=learner), combine(frame, learner=learner))


@pytest.mark.parametrize("learner", LEARNERS, ids=str)
@pytest.mark.parametrize("delay", [0, 1, 7, 1000])
def test_places_continue_with_a_delay(path, delay, learner):
    frame = daily()
    expected = combine(frame, delay=delay, learner=learner)
    late = min(delay, 9)
    assert_equal_bits(continued(nights(frame, "ds", late=late), path, delay=delay, learner=learner), expected)


@pytest.mark.parametrize("learner", LEARNERS, ids=str)
def test_nights_of_quantiles_are_one_run(path, learner):
    frame = windows(every=1, n_issues=20)
    bands = frame.assign(**{f"{k}-lo-80": frame[k] - 1 for k in "ab"}, **{f"{k}-hi-80": frame[k] + 1 for k in "ab"})
    bands = bands.drop(columns="c")
    options = {"learner": learner, "quantiles": (0.1, 0.5, 0.9)}
    assert_equal_bits(continued(nights(bands), path, **options), combine(bands, **options))


def test_truths_that_are_known_later_are_learned_later_also_in_later_tables(path):
    frame = windows(every=1, n_issues=40)
    lags = np.random.default_rng(3).integers(0, 9, len(frame))
    known = (frame["ds"] + lags * DAY).groupby([frame["unique_id"], frame["ds"]]).transform("max")
    frame["published"] = known
    expected = combine(frame, known="published")
    early = continued(nights(frame), path, known="published")  # truths come before they are known
    assert_equal_bits(early, expected)
    path.unlink()
    by_publication = nights(frame.assign(ds=frame["published"]), late=0)
    tables = [table.assign(ds=frame["ds"].reindex(table.index)) for table in by_publication]
    assert_equal_bits(continued(tables, path, known="published"), expected)
    path.unlink()
    plain = windows(every=1, steps=1).drop(columns=["cutoff", "step"])
    plain["published"] = plain["ds"] + 3 * DAY
    expected = combine(plain, known="published")
    assert_equal_bits(continued(nights(plain, "ds", late=2), path, known="published"), expected)


@pytest.mark.parametrize("learner", LEARNERS, ids=str)
def test_truths_two_nights_late_are_those_of_a_live_mixture_that_is_told_then(path, learner):
    frame = daily(n_series=1)
    tables = list(nights(frame, issued="ds", late=2))
    result = continued(tables, path, learner=learner)["forecast"]
    mix = Mixture(["a", "b", "c"], learner=learner)
    for table in tables:
        for row in table[table["y"].notna()].sort_values("ds").to_dict("records"):
            mix.update(row["y"], key=row["ds"])
        new = table.iloc[-1]
        assert mix.predict(new[["a", "b", "c"]].astype(float), key=new["ds"]) == result[table.index[-1]]
    path.unlink()
    known = frame.assign(told=frame["ds"] + 2 * DAY)  # the issue of the third day after it is later
    assert_equal_bits(
        continued(nights(known, "ds", late=2), path, known="told", learner=learner),
        combine(known, known="told", learner=learner),
    )


def test_history_in_blocks_and_then_night_by_night_is_one_run(path):
    frame = windows(every=1, n_issues=40)
    expected = combine(frame)
    times = sorted(frame["cutoff"].unique())
    blocks = [frame[frame["cutoff"] <= times[20]]]  # with truths of times that are known only later
    blocks += [frame[frame["cutoff"] == at] for at in times[21:]]
    assert_equal_bits(continued(blocks, path), expected)


@pytest.mark.parametrize("library", ["polars", "texts", "numbers", "offsets", "dates", "long"])
def test_every_layout_and_kind_of_times_continues(path, library):
    frame = windows(every=24, n_issues=12).drop(columns="step")
    expected = combine(frame)["forecast"]
    passed = {name: (frame[name] - pd.Timestamp("2024-01-01")) // DAY for name in ("ds", "cutoff")}
    found = {}
    for table in nights(frame):
        hours = {name: passed[name].reindex(table.index) for name in passed}
        if library == "texts":
            table = table.assign(**{name: table[name].astype(str) for name in hours})
        elif library == "numbers":
            table = table.assign(**hours)
        elif library == "offsets":
            table = table.assign(**{n: table[n].dt.tz_localize("UTC").dt.tz_convert("Europe/Berlin") for n in hours})
        elif library == "dates":
            table = table.assign(**{n: [d.date() for d in pd.Timestamp("2000") + hours[n] * 24 * DAY] for n in hours})
        if library == "polars":
            result = combine(pl.from_pandas(table), state=path)["forecast"].to_list()
        elif library == "long":
            long = table.melt(["unique_id", "ds", "cutoff", "y"], var_name="model", value_name="value")
            keys = ["unique_id", "ds", "cutoff"]
            result = combine(long, expert="model", forecast="value", time="ds", state=path)
            result = result.set_index(keys)["forecast"].reindex(table.set_index(keys).index)
        else:
            result = combine(table, state=path)["forecast"]
        found |= dict(zip(table.index, result, strict=True))
    np.testing.assert_array_equal(pd.Series(found).sort_index(), expected)


def test_series_that_begin_or_end_leave_the_others_as_they_are(path):
    frame = windows(n_series=3, every=1)
    later = frame["cutoff"].unique()[10]
    gone = (frame["unique_id"] == "s1") & (frame["cutoff"] > later)
    begins = (frame["unique_id"] == "s2") & (frame["cutoff"] <= later)
    frame = frame[~gone & ~begins]
    assert_equal_bits(continued(nights(frame), path), combine(frame))
    assert read_state(path).series == [("s0",), ("s1",), ("s2",)]
    assert read_state(path).waiting["s1",] > 0


# What a row may be


def first_nights(path, n=3, **options):
    """Return a frame of days, of which so many are in the state."""
    frame = daily(n_series=1).assign(y=np.arange(40.0))
    continued(list(nights(frame, "ds"))[:n], path, **options)
    return frame


def test_a_table_of_truths_only_is_enough_and_its_forecasts_are_those_that_were_issued(path):
    frame = windows(every=1)
    expected = combine(frame)
    found = {}
    for table in nights(frame):
        truths, new = table[table["y"].notna()], table[table["y"].isna()]
        if len(truths):
            of_truths = truths[["unique_id", "ds", "y"]].drop_duplicates()  # neither times of issue nor experts
            assert combine(of_truths, state=path)["forecast"].isna().all()
            again = combine(truths.drop(columns=["a", "b", "c"]), state=path)["forecast"]
            np.testing.assert_array_equal(again, expected["forecast"][truths.index])
        found |= combine(new, state=path)["forecast"].to_dict()
    np.testing.assert_array_equal(pd.Series(found).sort_index(), expected["forecast"])


def test_a_round_that_waits_may_come_again_with_the_forecasts_that_were_issued(path):
    frame = first_nights(path)
    before = path.read_bytes()
    waits = frame.iloc[[2]].assign(y=np.nan)
    issued = combine(waits, state=path)["forecast"].iloc[0]
    assert combine(waits.assign(a=np.nan), state=path)["forecast"].iloc[0] == issued
    assert content(path) == content(before, path.parent)
    with pytest.raises(InvalidInput, match=(
        r"^combine: the column 'ds': it was issued in an earlier run with the forecast .* of 'a', not 7\.0, got"
        r" 2024-03-30 02:00:00 in row 0.*\. Leave its forecasts empty to give the truth only\.$"
    )):  # fmt: skip
        combine(waits.assign(a=7.0), state=path)


def content(state, folder=None):
    """Return all rows of a state, given by its path or its bytes."""
    if folder is not None:
        (folder / "copy.db").write_bytes(state)
        state = folder / "copy.db"
    with contextlib.closing(sqlite3.connect(state)) as db:
        return {
            name: sorted(db.execute(f"SELECT * FROM {name}"))
            for name in ("facts", "series", "mixtures", "rounds", "truths")
        }


def test_rows_that_the_state_has_are_refused_or_skipped(path):
    frame = first_nights(path)
    before = path.read_bytes()
    rows = frame.iloc[:4].assign(y=[0.0, 1.0, np.nan, np.nan])
    with pytest.raises(InvalidInput, match=(
        r"^combine: the column 'ds': it must be after the last rows of its series in the state, got"
        r" 2024-03-30 00:00:00 in row 0\. To leave such rows out: seen='skip'\.$"
    )):  # fmt: skip
        combine(rows, state=path)
    assert path.read_bytes() == before
    with pytest.warns(
        LayoutWarning, match=r"^combine: 2 rows were in the state already: left out, without a forecast\.$"
    ):
        result = combine(rows, state=path, seen="skip")
    assert result["forecast"].isna().tolist() == [True, True, False, False]
    assert_equal_bits(result.iloc[3:], combine(frame.iloc[:4].assign(y=[0.0, 1.0, np.nan, np.nan])).iloc[3:])


def test_a_truth_that_differs_from_the_one_before_is_refused_or_ignored(path):
    frame = first_nights(path)
    before = path.read_bytes()
    changed = frame[["unique_id", "ds", "y"]].iloc[[1]].assign(y=5.0)
    with pytest.raises(InvalidInput, match=(
        r"^combine: the column 'y': a time must have one truth, which was 1\.0 in an earlier file, got 5\.0 in row 0 at"
        r" 2024-03-30 01:00:00\. To keep the first one: revised='ignore'\.$"
    )):  # fmt: skip
        combine(changed, state=path)
    assert path.read_bytes() == before
    assert combine(changed, state=path, revised="ignore")["forecast"].isna().all()
    assert content(path) == content(before, path.parent)
    again = frame[["unique_id", "ds", "y"]].iloc[[0, 1]]  # the same truths are passed through
    assert combine(again, state=path)["forecast"].isna().all()


def test_a_round_in_which_all_sleep_is_played_as_in_one_run(path):
    frame = daily()
    frame.loc[20:23, ["a", "b", "c"]] = np.nan
    assert_equal_bits(continued(nights(frame, "ds"), path), combine(frame))


def test_an_expert_without_a_column_sleeps_and_a_new_one_is_refused(path):
    frame = first_nights(path)
    with pytest.warns(LayoutWarning, match=r"^combine: no forecasts of 'b' in this table: asleep in its rounds\.$"):
        result = combine(frame.iloc[[3]].drop(columns="b").assign(y=np.nan), state=path)
    whole = frame.iloc[:4].assign(b=frame["b"].mask(frame.index == 3), y=frame["y"].mask(frame.index >= 2))
    assert_equal_bits(result, combine(whole).iloc[[3]])
    before = path.read_bytes()
    with pytest.raises(BadFile, match=(
        r"mix\.db: it has no expert 'd'; choose those of the state, \['a', 'b', 'c'\], with `experts`, or begin a new"
        r" state with all rows\.$"
    )):  # fmt: skip
        combine(frame.iloc[[4]].assign(d=1.0), state=path)
    assert path.read_bytes() == before
    chosen = combine(frame.iloc[[4]].assign(d=1.0), state=path, experts=["c", "b", "a"])
    assert [*chosen][-3:] == ["weight_a", "weight_b", "weight_c"]


# What is refused


OTHER = {  # options, what the message says
    "loss": (
        {"loss": "absolute"},
        r"it was begun with loss='square', got 'absolute'\. Use loss='square', or another `state`\.$",
    ),
    "learner": ({"learner": AdaHedge()}, r"begun with learner={'name': 'combinations', .*}, got {'name': 'ada-hedge'"),
    "extras": ({"extras": ("shifted",)}, r"it was begun with extras=\[\], got \['shifted'\]\. Use extras=\[\], or "),
    "target": ({"target": "a", "experts": ["b", "c"]}, r"it was begun with target='y', got target='a'\. Use target"),
    "by": ({"by": [], "experts": ["a", "b", "c"]}, r"it was begun with by=\['unique_id'\], got by=\[\]\. Use by"),
    "delay": ({"delay": 1}, r"it was begun with delay=None, got delay=1\. Use delay=None, or "),
    "experts": (
        {"experts": ["a", "b"]}, r"it was begun with experts=\['a', 'b', 'c'\], got experts=\['a', 'b'\]\. Use",
    ),
}  # fmt: skip


@pytest.mark.parametrize(("options", "message"), OTHER.values(), ids=OTHER)
def test_another_question_is_refused_with_the_difference(path, options, message):
    frame = first_nights(path)
    before = path.read_bytes()
    with pytest.raises((BadFile, InvalidInput), match=message):
        combine(frame.iloc[[3]], state=path, **options)
    assert path.read_bytes() == before


def test_other_levels_and_another_kind_of_times_are_refused(path):
    frame = first_nights(path)
    bands = frame.assign(**{"a-q-0.9": frame["a"], "b-q-0.9": frame["b"], "c-q-0.9": frame["c"]})
    with pytest.raises(
        BadFile, match=r"it was begun with quantiles=None, got quantiles=\[0\.9\]\. Use quantiles=None, or "
    ):
        combine(bands.iloc[[3]], state=path, quantiles=[0.9])
    for times, kind in (
        ([5], "numbers"),
        (["day 5"], "texts"),
        ([pd.Timestamp("2025", tz="UTC")], "times with a time zone"),
    ):
        with pytest.raises(BadFile, match=rf"it was begun with times without a time zone, got {kind}\.$"):
            combine(frame.iloc[[3]].assign(ds=times), state=path)


NEW = {  # what is changed, options, what the message says
    "no time": ({"drop": ["ds", "unique_id"]}, {}, r"^combine: a `state` needs the times that rows are for\. Name"),
    "steps only": ({"step": 1}, {}, r"^combine: with a `state`, steps ahead do not say .* Name .* with `issued`\.$"),
    "a learner that grows": (
        {}, {"learner": SleepingOptimisticAdaptMLProd()}, r"^combine: the memory of .* grows .* have a `state`\.$",
    ),
    "times of day": (
        {"ds": lambda f: pd.to_timedelta(f.index, unit="h")}, {}, r"^combine: times cannot be kept in a state: ",
    ),
    "no path": ({}, {"state": ""}, r"^combine: `state` must be the name of a file, got ''\.$"),
    "no such choice": ({}, {"seen": "yes"}, r"^combine: `seen` must be 'refuse' or 'skip', got 'yes'\.$"),
    "no issue time": (
        {"cutoff": None}, {"issued": "cutoff"},
        r"'cutoff': it must not be missing where there is a forecast, got .* in row 0",
    ),
    "a cutoff after its time": (
        {"cutoff": lambda f: f["ds"]}, {}, r"'cutoff': it must be before the time that the forecasts are for, got",
    ),
    "issued twice": ({"ds": lambda f: f["ds"].iloc[0]}, {}, r"'ds': the time occurs twice in its series, got"),
    "no rows": ("none", {}, r"^combine: `frame` must have at least one row, got none\.$"),
}  # fmt: skip


@pytest.mark.parametrize(("change", "options", "message"), NEW.values(), ids=NEW)
def test_a_table_that_cannot_begin_a_state_is_refused_and_leaves_no_file(path, change, options, message):
    frame = daily(n_series=1)
    change = {} if change == "none" else dict(change)
    frame = frame.iloc[:0] if message.endswith(r"none\.$") else frame.drop(columns=change.pop("drop", []))
    frame = frame.assign(**change)
    with pytest.raises(InvalidInput, match=message):
        combine(frame, **{"state": path, **options})
    assert not path.exists()


def test_published_before_it_was_issued_is_refused(path):
    frame = windows(n_series=1, every=1).assign(p=lambda f: f["ds"])
    tables = list(nights(frame))
    continued(tables[:3], path, known="p")
    before = path.read_bytes()
    early = tables[3].assign(p=tables[3]["cutoff"])
    with pytest.raises(InvalidInput, match=r"'p': it must be after its forecasts were issued, got"):
        combine(early, state=path, known="p")
    with pytest.raises(InvalidInput, match=r"'p': it must not be missing where there is a truth, got"):
        combine(tables[3].drop(columns="p"), state=path, known="p")
    assert path.read_bytes() == before


def test_what_is_no_state_is_refused_and_stays_as_it_is(path, tmp_path):
    frame = daily(n_series=1).iloc[:3]
    path.write_text("y,a\n1,2\n" * 100)
    with pytest.raises(BadFile, match=r"mix\.db: it is not a state of driftwise\.$"):
        combine(frame, state=path)
    assert path.read_text() == "y,a\n1,2\n" * 100
    path.unlink()
    (tmp_path / "real.db").touch()
    path.symlink_to("real.db")
    with pytest.raises(BadFile, match=r"mix\.db must be a regular file, got a link\.$"):
        combine(frame, state=path)
    path.unlink()
    path.mkdir()
    with pytest.raises(BadFile, match=r"mix\.db must be a regular file, got a folder\.$"):
        combine(frame, state=path)
    with pytest.raises(BadFile, match=r"Cannot use the state .*: there is no such folder\.$"):
        combine(frame, state=tmp_path / "none" / "mix.db")
    with pytest.raises(BadFile, match=r"^There is no file .*none\.db\.$"):
        read_state(tmp_path / "none.db")


HOSTILE = {  # a change of the file, what the message says
    "another program": ("PRAGMA application_id = 7", r"it is not a state of driftwise\.$"),
    "a newer format": ("PRAGMA user_version = 2", r"it has format 2, and this version reads format 1\.$"),
    "a missing table": ("DROP TABLE truths", r"it is damaged: its tables are not those of a state\.$"),
    "a trigger": (
        "CREATE TRIGGER t AFTER INSERT ON rounds BEGIN DELETE FROM truths; END",
        r"its tables are not those of a state\.$",
    ),
    "facts": ("UPDATE facts SET value = '{' WHERE name = 'experts'", r"it is damaged: a digest does not agree\.$"),
    "truths": ("UPDATE truths SET truth = 7", r"it is damaged: a digest does not agree\.$"),
    "series": ("UPDATE series SET n_truths = 1", r"it is damaged: a digest does not agree\.$"),
    "no facts": ("DELETE FROM facts", r"it is damaged: its facts are not those of a state\.$"),
    "arrays": ("UPDATE mixtures SET arrays = zeroblob(length(arrays))", r"it is damaged: a digest does not agree\.$"),
    "rounds": ("UPDATE rounds SET time = time + 1, known = 1", r"it is damaged: a digest does not agree\.$"),
    "no mixtures": ("DELETE FROM mixtures", r"it is damaged: a round belongs to no mixture\.$"),
    "texts for times": ("UPDATE mixtures SET last = 'x'", r"it is damaged: its times cannot be compared .*\.$"),
}  # fmt: skip


@pytest.mark.parametrize(("command", "message"), HOSTILE.values(), ids=HOSTILE)
def test_a_state_of_others_is_refused(path, command, message):
    frame = first_nights(path)
    with contextlib.closing(sqlite3.connect(path)) as db, db:
        db.execute(command)
    before = path.read_bytes()
    passed_through = frame[["unique_id", "ds", "y"]].iloc[[0, 1]]  # truths that came before
    table = pd.concat([passed_through, list(nights(frame, "ds"))[3]])
    with pytest.raises(BadFile, match=message):
        combine(table, state=path)
    assert path.read_bytes() == before
    with contextlib.suppress(BadFile):
        read_state(path)
    assert path.read_bytes() == before


FORGED = {  # a row with a digest that agrees, what the message says
    "facts": (FactRow("experts", 0, "{"), "its facts cannot be read"),
    "kind": (FactRow("kind", 0, "[]"), "its facts are not those of a state"),
    "quantiles": (FactRow("quantiles", 0, "5"), "its facts are not those of a state"),
    "delay": (FactRow("delay", 0, '"x"'), "its facts are not those of a state"),
    "options": (FactRow("options", 0, "[{}]"), "its facts are not those of a state"),
    "a fact more": (FactRow("more", 0, "1"), "its facts are not those of a state"),
    "a series": (StateSeries(1, '["s0"]', 0, -1), "a series has no number"),
    "a text for a number": (StateSeries(1, '["s0"]', 0, "n"), "a series has no number"),
    "a truth": (TruthRow(1, 0, None, None, 0, "abc"), "a truth is no number"),
    "an infinite truth": (TruthRow(1, 0, None, None, 0, float("inf")), "a truth is no number"),
    "a time": (TruthRow(1, 0, None, "x", 0, 1.0), "its times cannot be compared"),
}


@pytest.mark.parametrize(("row", "message"), FORGED.values(), ids=FORGED)
def test_forged_rows_are_refused(path, row, message):
    frame = first_nights(path)
    table = list(nights(frame, "ds"))[3]
    tables = {FactRow: "facts", StateSeries: "series", TruthRow: "truths"}
    with contextlib.closing(sqlite3.connect(path)) as db, db:
        if isinstance(row, TruthRow):
            row = row._replace(time=int(np.datetime64(table["ds"].min(), "ns").astype(np.int64)))
        places = ", ".join("?" * len(row))
        db.execute(f"INSERT OR REPLACE INTO {tables[type(row)]} VALUES ({places})", with_digest(row))
    before = path.read_bytes()
    with pytest.raises(BadFile, match=f"it is damaged: .*{message}"):
        combine(table, state=path)
    assert path.read_bytes() == before
    with contextlib.suppress(BadFile):
        read_state(path).text()
    if isinstance(row, FactRow):
        with pytest.raises(BadFile, match=message):
            Mixture.from_state(path, "s0")


def mutated(path, random):
    """Change bytes of the arrays of a mixture or of the numbers of a round, with digests that agree."""
    with contextlib.closing(sqlite3.connect(path)) as db, db:
        table = ("mixtures", "rounds")[random.integers(2)]  # their last columns are these numbers
        row = list(db.execute(f"SELECT * FROM {table} ORDER BY random() LIMIT 1").fetchone())
        numbers = bytearray(row[-1])
        kind = random.integers(4)
        at = 8 * random.integers(len(numbers) // 8)
        if kind == 0:
            numbers[random.integers(len(numbers))] ^= 1 << random.integers(8)
        elif kind == 1:
            numbers[at : at + 8] = np.float64(random.choice([np.nan, np.inf, -1.0, 1e300, 2.0**62])).tobytes()
        elif kind == 2:
            numbers[at : at + 8] = np.int64(random.choice([-1, 2**62, -(2**63), 10**6])).tobytes()
        else:
            del numbers[at : at + 8]
        row[-1] = bytes(numbers)
        row[-2] = zlib.crc32(row[-1], zlib.crc32(repr(tuple(row[:-2])).encode()))
        db.execute(f"INSERT OR REPLACE INTO {table} VALUES ({', '.join('?' * len(row))})", row)


@pytest.mark.parametrize("learner", LEARNERS, ids=str)
def test_mutated_numbers_are_refused_or_played(path, tmp_path, learner):
    """`NUMBA_BOUNDSCHECK=1 MUTATIONS=700` tries more of them with the indices checked."""
    frame = first_nights(path, learner=learner)
    table, random, n_refused = list(nights(frame, "ds"))[3], np.random.default_rng(0), 0
    table.iloc[0, table.columns.get_indexer(["a", "b", "c"])] = np.nan  # a truth only
    n_mutations = int(os.environ.get("MUTATIONS", "60"))
    for _ in range(n_mutations):
        copy = tmp_path / "copy.db"
        shutil.copyfile(path, copy)
        mutated(copy, random)
        before = copy.read_bytes()
        try:
            assert len(combine(table, state=copy, learner=learner)) == 2
        except BadFile as error:
            assert "it is damaged: " in str(error)  # noqa: PT017
            assert copy.read_bytes() == before
            n_refused += 1
    assert n_refused > n_mutations / 10


def test_bytes_that_flip_are_refused_or_do_not_matter(path, tmp_path):
    frame = first_nights(path)
    table, random = list(nights(frame, "ds"))[3], np.random.default_rng(1)
    expected = combine(table, state=shutil.copyfile(path, tmp_path / "fine.db"))
    for _ in range(60):
        copy = Path(shutil.copyfile(path, tmp_path / "copy.db"))
        damaged = bytearray(copy.read_bytes())
        damaged[random.integers(len(damaged))] ^= 1 << random.integers(8)
        copy.write_bytes(damaged)
        try:
            result = combine(table, state=copy)
        except (BadFile, InvalidInput):
            continue
        assert_equal_bits(result[["forecast"]], expected)


def test_the_digest_is_that_of_all_values_of_a_row():
    row = MixtureRow(1, 1, 0, 3, 1, 2, 7, 0, b"numbers")
    sums = {digest_of(row), *(digest_of(row._replace(**{name: 9})) for name in MixtureRow._fields[:7])}
    assert len(sums | {digest_of(row._replace(arrays=b"number"))}) == 9
    truth = TruthRow(1, 2, 3, None, 0, 4.0)
    changes = ("series", "place", "time", "known", "truth")
    assert len({digest_of(truth), *(digest_of(truth._replace(**{name: 9.0})) for name in changes)}) == 6


# Several runs


def test_two_runs_follow_each_other(path):
    frame = windows(n_series=2, every=1)
    expected = combine(frame)
    first, second = (frame[frame["unique_id"] == name] for name in ("s0", "s1"))
    found, errors = {}, []

    def run(of_series):
        try:
            for table in nights(of_series):
                found.update(combine(table, state=path)["forecast"].to_dict())
        except Exception as error:
            errors.append(error)

    threads = [threading.Thread(target=run, args=(part,)) for part in (first, second)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert errors == []
    np.testing.assert_array_equal(pd.Series(found).sort_index(), expected["forecast"])


@pytest.mark.parametrize("is_new", [True, False])
def test_a_run_is_refused_when_another_one_does_not_end(path, monkeypatch, is_new):
    frame = daily(n_series=1)
    if not is_new:
        frame = first_nights(path)
    table = list(nights(frame, "ds"))[0 if is_new else 3]
    monkeypatch.setattr("driftwise.forecasting.state_file.PATIENCE", 0.2)
    with contextlib.closing(sqlite3.connect(path, isolation_level=None)) as other:
        other.execute("BEGIN IMMEDIATE")
        began = time.monotonic()
        message = r"mix\.db: another program has used it for 0\.2 s; try again when it has ended\.$"
        with pytest.raises(BadFile, match=message):
            combine(table, state=path)
        assert 0.15 < time.monotonic() - began < 20
        other.execute("ROLLBACK")
    assert combine(table, state=path)["forecast"].notna().any()


def test_a_table_that_is_refused_late_leaves_no_file(path):
    frame = daily(n_series=1).rename(columns={"y": "forecast"})
    with pytest.raises(InvalidInput, match="the result has a column 'forecast'"):
        combine(frame, "forecast", state=path)
    assert not path.exists()


# Truths that come before their rounds


@pytest.mark.parametrize("late", [1, 4])
def test_steps_that_come_in_tables_of_their_own_get_the_truths_that_came(path, late):
    """The forecasts of step 3 come some hours after they were issued, and after the truth of their time."""
    frame = windows(every=1, n_issues=25)
    expected, hour = combine(frame, learner="ada-hedge"), pd.Timedelta(hours=1)
    comes = frame["cutoff"] + hour * np.where(frame["step"] == 3, late, 0)
    found = {}
    for at in sorted({*comes, *frame["ds"]}):
        new = frame[comes == at].assign(y=np.nan)
        truths = frame[(frame["ds"] == at) & frame["y"].notna()].drop_duplicates(["unique_id", "ds"])
        table = pd.concat([truths[["unique_id", "ds", "y"]], new])
        if at == comes.min():
            table = new
        if len(table):
            result = combine(table.reset_index(drop=True), state=path, learner="ada-hedge")["forecast"]
            found |= dict(zip(new.index, result[len(table) - len(new) :], strict=True))
    assert_equal_bits(pd.DataFrame({"forecast": pd.Series(found).sort_index()}), expected)


@pytest.mark.parametrize("known", [None, "published"])
def test_a_truth_may_come_before_all_rounds_of_its_time(path, known):
    frame = windows(every=1, steps=2, n_issues=20, n_series=1).assign(published=lambda f: f["ds"] + 2 * DAY)
    frame = frame.drop(columns=["step"] if known else ["step", "published"])
    expected = combine(frame, known=known)
    issues = sorted(frame["cutoff"].unique())
    first = combine(frame[frame["cutoff"] <= issues[4]], state=path, known=known)
    truths = frame.drop(columns=["cutoff", "a", "b", "c"]).drop_duplicates().dropna()
    assert combine(truths, state=path, known=known)["forecast"].isna().all()
    rest = [combine(frame[frame["cutoff"] == at].assign(y=np.nan), state=path, known=known) for at in issues[5:]]
    assert_equal_bits(pd.concat([first, *rest])[["forecast"]].sort_index(), expected)


def test_a_series_of_whole_numbers_may_come_as_floats(path):
    frame = daily().assign(unique_id=lambda f: f["unique_id"].map({"s0": 1, "s1": 2}))
    expected = combine(frame)
    tables = [table.astype({"unique_id": float if n % 2 else int}) for n, table in enumerate(nights(frame, "ds"))]
    assert_equal_bits(continued(tables, path), expected)
    assert read_state(path).series == [("1",), ("2",)]


# What is in a state


def test_a_state_says_what_is_in_it_and_reading_changes_nothing(path):
    frame = windows(every=1)
    continued(list(nights(frame))[:5], path)
    before, files = path.read_bytes(), {*path.parent.iterdir()}
    state = read_state(path)
    assert state.experts == ("a", "b", "c")
    assert state.series == [("s0",), ("s1",)]
    assert state.waiting["s0",] == state.n_waiting / 2 > 3
    assert state.last_issue["s0",] == np.datetime64("2024-03-30T03:00")
    assert state.columns["issued"] == "cutoff"
    assert state.options[0]["loss"] == "square"
    assert repr(state) == f"StateSummary('{path}', experts=['a', 'b', 'c'], series=2, waiting={state.n_waiting})"
    assert "s1: last issue 2024-03-30T03:00:00.000000000, " in state.text()
    assert path.read_bytes() == before
    assert {*path.parent.iterdir()} == files


# The command


@pytest.fixture
def command(monkeypatch, capsys, tmp_path):
    run = runner(monkeypatch, capsys, tmp_path)
    return lambda *words: run("combine", *words, "--target", "y", "--state", "mix.db", "--format", "parquet")


@pytest.mark.parametrize("kind", ["csv", "parquet"])
@pytest.mark.parametrize("case", ["issued", "plain", "delay", "known", "quantiles"])
def test_the_command_continues_as_one_run(command, tmp_path, case, kind):
    frame = windows(every=1, n_issues=15) if case == "issued" else daily(15)
    words, options = {
        "issued": ([], {}),
        "plain": ([], {}),
        "delay": (["--delay", 2], {"delay": 2}),
        "known": (["--known", "p"], {"known": "p"}),
        "quantiles": (["--quantiles", ".1,.9"], {"quantiles": [0.1, 0.9]}),
    }[case]
    if case == "quantiles":
        bands = {f"{k}-{side}-80": frame[k] + by for k in "ab" for side, by in (("lo", -1), ("hi", 1))}
        frame = frame.drop(columns=["a", "b", "c"]).assign(**bands)
    name = "forecast-q-0.9" if case == "quantiles" else "forecast"
    if case == "known":
        frame["p"] = frame["ds"] + 3 * DAY
    expected, found, tables = combine(frame, **options), {}, list(nights(frame, "cutoff" if case == "issued" else "ds"))
    for table in tables:
        path = tmp_path / f"in.{kind}"
        table.to_csv(path, index=False) if kind == "csv" else table.to_parquet(path, index=False)
        ended = command(path, *words)
        assert ended.code == 0, ended.err
        result = pd.read_parquet(tmp_path / "out/combine/forecasts.parquet")
        found |= dict(zip(table.index, result[name], strict=True))
        summary = json.loads((tmp_path / "out/combine/summary.json").read_text())
        if case != "quantiles":
            assert summary["report"]["n_rounds"] == table["y"].notna().sum()
    np.testing.assert_array_equal(pd.Series(found).sort_index(), expected[name])
    assert summary["state"] == {"file": "mix.db", "series": 2, "waiting": read_state(tmp_path / "mix.db").n_waiting}
    again = command(tmp_path / f"in.{kind}", *words)
    message = ".* it must be after the last rows of its series in the state, got .* To leave such rows out: --seen skip"
    if case == "plain":
        assert pd.Series([again.err]).str.match(f"(?s){message}").all(), again.err
        skipped = command(tmp_path / f"in.{kind}", *words, "--seen", "skip")
        assert skipped.code == 0
        assert "2 rows were in the state already: left out, without a forecast." in skipped.err


def test_a_state_continues_from_files_of_any_format_and_from_frames(command, tmp_path):
    frame = windows(every=1, n_issues=16)
    expected, found = combine(frame), {}
    for n, table in enumerate(nights(frame)):
        if n % 4 == 3:
            result = combine(pl.from_pandas(table), state=tmp_path / "mix.db").to_pandas()
        else:
            path = tmp_path / ("in.csv", "in.parquet", "in.jsonl")[n % 4]
            if path.suffix == ".csv":
                table.to_csv(path, index=False)
            elif path.suffix == ".parquet":
                table.astype({"ds": "datetime64[ms]"}).to_parquet(path, index=False)
            else:
                rows = table.assign(ds=table["ds"].astype(str), cutoff=table["cutoff"].astype(str)).to_dict("records")
                rows = [{name: None if value != value else value for name, value in row.items()} for row in rows]
                path.write_text("".join(json.dumps(row) + "\n" for row in rows))
            ended = command(path)
            assert ended.code == 0, ended.err
            result = pd.read_parquet(tmp_path / "out/combine/forecasts.parquet")
        found |= dict(zip(table.index, result["forecast"], strict=True))
    np.testing.assert_array_equal(pd.Series(found).sort_index(), expected["forecast"])


def test_the_command_takes_a_table_of_truths_only(command, tmp_path):
    frame = windows(every=1, n_issues=6, n_series=1)
    expected, found = combine(frame), {}
    for table in nights(frame):
        truths, new = table[table["y"].notna()], table[table["y"].isna()]
        for part in (truths[["unique_id", "ds", "y"]].drop_duplicates(), new):
            part.to_csv(tmp_path / "in.csv", index=False)
            if len(part):
                ended = command("in.csv")
                assert ended.code == 0, ended.err
        result = pd.read_parquet(tmp_path / "out/combine/forecasts.parquet")
        found |= dict(zip(new.index, result["forecast"], strict=True))
    np.testing.assert_array_equal(pd.Series(found).sort_index(), expected["forecast"])


def test_the_command_refuses_and_changes_nothing(command, tmp_path):
    frame = daily(6)
    tables = list(nights(frame, "ds"))
    tables[0].to_csv(tmp_path / "in.csv", index=False)
    assert command("in.csv").code == 0
    before = (tmp_path / "mix.db").read_bytes()
    tables[1].to_csv(tmp_path / "in.csv", index=False)
    for words, message in (
        (
            ["--loss", "absolute"],
            "mix.db: it was begun with loss='square', got 'absolute'. Use --loss square, or use another --state file.",
        ),
        (
            ["--experts", "a,b"],
            "it was begun with experts=['a', 'b', 'c'], got experts=['a', 'b']. Use --experts a,b,c, or use",
        ),
        (
            ["--delay", "1"],
            "it was begun with delay=None, got delay=1. Leave --delay out, or use another --state file.",
        ),
        (["--out", "mix.db"], "driftwise: Cannot write"),
    ):
        ended = command("in.csv", *words)
        assert ended.code != 0
        assert message in ended.err, ended.err
        assert (tmp_path / "mix.db").read_bytes() == before
    (tmp_path / "in.csv").write_text("unique_id,ds,y,a,b,c\n")
    assert "it has no rows" in command("in.csv").err
    assert (tmp_path / "mix.db").read_bytes() == before
