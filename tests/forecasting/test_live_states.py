"""A series of a state goes on live, and comes back: as one run over all rows, to the bit."""

import sqlite3
from datetime import UTC, datetime

import numpy as np
import pandas as pd
import pytest

from driftwise import Mixture
from driftwise.core.errors import BadFile, InvalidInput, UnknownName
from driftwise.forecasting import combine, read_state
from driftwise.learners import AdaHedge, Tracker
from issued_windows import windows
from mixture_states import snapshot
from nightly import continued, nights

LEARNERS = [None, AdaHedge(), Tracker(both_guesses=True)]
EXPERTS = ["a", "b", "c"]


@pytest.fixture
def path(tmp_path):
    return tmp_path / "mix.db"


def daily(n_days=12, n_series=2):
    return windows(n_series=n_series, n_issues=n_days, every=1, steps=1).drop(columns=["cutoff", "step"])


def with_bands(frame):
    bands = {f"{k}-lo-80": frame[k] - 1 for k in EXPERTS} | {f"{k}-hi-80": frame[k] + 1 for k in EXPERTS}
    return frame.assign(**bands)


CASES = {  # the frame, the column of its issues, options
    "steps that overlap": (windows(n_issues=12, every=1), "cutoff", {}),
    "steps": (windows(n_issues=10), "cutoff", {}),
    "one mixture for all steps": (windows(n_issues=10, every=2).drop(columns="step"), "cutoff", {}),
    "no times of issue": (daily(), "ds", {}),
    "quantiles": (
        with_bands(windows(n_issues=10, every=1)), "cutoff", {"quantiles": (0.1, 0.5, 0.9), "experts": EXPERTS},
    ),
}  # fmt: skip


def values(row, options):
    """Return the forecasts of a row of a frame."""
    if "quantiles" not in options:
        return [row[name] for name in EXPERTS]
    return [[row[f"{name}-lo-80"], row[name], row[f"{name}-hi-80"]] for name in EXPERTS]


def play_live(mix, table, issued, options, found):
    """Give a live mixture the truths of a night, then its forecasts, by key; keep what it combines by row."""

    def key(row):
        return row["ds"] if issued == "ds" else (row[issued], row["ds"])

    rows = [dict(row, index=index) for index, row in zip(table.index, table.to_dict("records"), strict=True)]
    old = [row for row in rows if row[issued] < table[issued].max() and not np.isnan(row["y"])]
    old.sort(key=lambda row: (row["ds"], row[issued]))
    mix.update([row["y"] for row in old], key=[key(row) for row in old])
    new = [row for row in rows if row[issued] == table[issued].max()]
    if mix.steps is not None:
        combined = mix.predict(np.array([values(row, options) for row in new]), key=[key(row) for row in new])
    else:
        combined = [mix.predict(values(row, options), key=key(row)) for row in new]
    for row, of_row in zip(new, combined, strict=True):
        found[row["index"]] = np.atleast_1d(of_row)


def column(result):
    return result[[name for name in result if name.startswith("forecast")]]


@pytest.mark.parametrize("learner", LEARNERS, ids=str)
@pytest.mark.parametrize("case", CASES)
def test_a_series_goes_on_live_and_comes_back_as_one_run(path, case, learner):
    frame, issued, options = CASES[case]
    options = {**options, "learner": learner}
    expected = column(combine(frame, **options))
    tables = list(nights(frame, issued))
    by_table = continued(tables[:4], path, **options)
    live = {}
    for series in ("s0", "s1"):
        mix = Mixture.from_state(path, series)
        assert mix.experts == tuple(EXPERTS)
        before = read_state(path)
        for table in tables[4:7]:
            play_live(mix, table[table["unique_id"] == series], issued, options, live)
        assert repr(read_state(path)) == repr(before)  # until it is put back
        mix.to_state(path, series)
        assert Mixture.from_state(path, series).waiting == mix.waiting
    after = continued(tables[7:], path, **options)
    for part in (by_table, after, pd.DataFrame.from_dict(live, orient="index", columns=list(expected))):
        part = part[list(expected)]
        np.testing.assert_array_equal(part.to_numpy(), expected.loc[part.index].to_numpy())
    assert {*by_table.index, *live, *after.index} == {*frame.index}


def test_truths_that_came_are_learned_in_their_order_and_the_file_stays_as_it_is(path):
    frame = windows(n_series=1, every=1, n_issues=8).drop(columns="step")
    tables = list(nights(frame))
    continued(tables[:5], path)
    truths = tables[5][tables[5]["y"].notna()]
    combine(truths, state=path)
    content = path.read_bytes()
    mix = Mixture.from_state(path, "s0")
    assert path.read_bytes() == content
    assert not {*zip(truths["cutoff"], truths["ds"], strict=True)} & {*mix.waiting}
    told = Mixture(EXPERTS)
    for table in tables[:6]:
        old = table[table["y"].notna()].sort_values(["ds", "cutoff"])
        told.update(old["y"].tolist(), key=list(zip(old["cutoff"], old["ds"], strict=True)))
        if table is not tables[5]:
            for row in table[table["y"].isna()].to_dict("records"):
                told.predict([row[name] for name in EXPERTS], key=(row["cutoff"], row["ds"]))
    assert mix.weights == told.weights
    assert {*mix.waiting} == {*told.waiting}
    assert snapshot(mix)[0][0][0] == snapshot(told)[0][0][0]  # all arrays of the mixture


def test_a_truth_that_came_is_learned_on_leaving_the_file_whatever_the_delay(path):
    continued(list(nights(daily(n_series=1), "ds")), path, delay=3)
    with sqlite3.connect(path) as db:
        assert db.execute("SELECT count(*) FROM rounds").fetchone() == (5,)
    assert len(Mixture.from_state(path, "s0").waiting) == 2


TIMES = {  # what times a table has, and the key of 10 April 2024
    "timestamps": (lambda ds: ds, datetime(2024, 4, 10)),
    "with a zone": (lambda ds: ds.dt.tz_localize("Europe/Berlin"), datetime(2024, 4, 9, 22, tzinfo=UTC)),
    "numbers": (lambda ds: ds.dt.day_of_year, 101),
    "texts": (lambda ds: "day " + ds.dt.strftime("%Y-%m-%d"), "day 2024-04-10"),
}


@pytest.mark.parametrize(("change", "expected"), TIMES.values(), ids=TIMES)
def test_times_are_those_of_datetime_numbers_or_texts(path, change, expected):
    frame = daily(n_series=1)
    frame["ds"] = change(pd.Series(pd.date_range("2024-03-30", periods=len(frame)), frame.index))
    combine(frame.head(11), state=path)
    mix, time = Mixture.from_state(path, "s0"), frame["ds"].iloc[11]
    forecast = mix.predict([1.0, 2.0, 3.0], key=time)
    mix.to_state(path, "s0")
    again = Mixture.from_state(path, "s0")
    assert again.waiting[-1] == expected
    assert time in again.waiting
    row = frame.iloc[[11]].assign(a=1.0, b=2.0, c=3.0, y=np.nan)
    assert combine(row, state=path)["forecast"].tolist() == [forecast]  # it waits in the file
    again.update(1.0, key=time)


def test_a_new_series_and_the_latest_truths_of_a_live_mixture_are_kept(path):
    combine(daily(n_series=1), state=path)
    mix, days = Mixture(EXPERTS), pd.date_range("2024-01-01", periods=150)
    for day in days:
        mix.predict([1.0, 2.0, 3.0], key=day)
        mix.update(1.5, key=day)
    mix.to_state(path, "new")
    assert read_state(path).series == [("s0",), ("new",)]
    with sqlite3.connect(path) as db:
        n_truths, first = db.execute("SELECT count(*), min(time) FROM truths WHERE series = 2").fetchone()
    assert (n_truths, pd.Timestamp(first)) == (100, days[50])
    table = pd.DataFrame({"unique_id": "new", "ds": [days[-1], days[-1] + pd.Timedelta(days=1)], "y": [2.0, np.nan]})
    table = table.assign(a=1.0, b=2.0, c=3.0)
    with pytest.raises(InvalidInput, match=r"a time must have one truth, which was 1\.5 in an earlier file, got 2\.0"):
        combine(table, state=path, seen="skip")
    assert combine(table.tail(1), state=path)["forecast"].tolist() == [mix.predict([1.0, 2.0, 3.0])]


def begun(path, issued="ds"):
    frame = daily() if issued == "ds" else windows(n_issues=6, every=2)
    tables = list(nights(frame, issued))
    continued(tables[:4], path)
    return tables


def refused(path, match, call, error=InvalidInput):
    before = path.read_bytes() if path.exists() else None
    with pytest.raises(error, match=match):
        call()
    assert (path.read_bytes() if path.exists() else None) == before


def test_what_is_not_in_a_state_cannot_be_read(path):
    refused(path, "There is no file", lambda: Mixture.from_state(path), BadFile)
    begun(path)
    refused(path, "There is no series 's3' in .*Known: s0, s1", lambda: Mixture.from_state(path, "s3"), UnknownName)
    refused(path, "`series` must be one value, of 'unique_id', got None", lambda: Mixture.from_state(path))
    refused(path, "got .*'s0', 'x'.*", lambda: Mixture.from_state(path, ("s0", "x")))


DAY = datetime(2030, 1, 1)


def issued_once(experts=EXPERTS, key=DAY, **options):
    """Return a mixture of which one round waits."""
    mix = Mixture(experts, **options)
    steps, levels = ((1,) * (option in options) for option in ("steps", "quantiles"))
    mix.predict(np.ones((*steps, len(experts), *levels)), key=key)
    return mix


OTHERS = {
    r"begun with experts=\['a', 'b', 'c'\], got experts=\['a', 'b'\]": {"experts": ["a", "b"]},
    "begun with loss='square', got 'absolute'": {"loss": "mae"},
    "begun with learner=.*combinations.* got .*ada-hedge": {"learner": "ada-hedge"},
    r"begun with quantiles=None, got quantiles=\[0\.5\]": {"quantiles": [0.5]},
    "begun with step=None, got a mixture with steps=1": {"steps": 1, "key": [DAY]},
    "begun with times without a time zone, got numbers": {"key": 3},
    "begun with times without a time zone, got times with a time zone": {"key": DAY.replace(tzinfo=UTC)},
    "rounds must have the key a time, got None": {"key": None},
    r"the key \(1, 2\) cannot be kept in a state": {"key": (1, 2)},
}


@pytest.mark.parametrize(("message", "options"), OTHERS.items(), ids=OTHERS)
def test_a_mixture_that_does_not_fit_is_refused(path, message, options):
    begun(path)
    mix = issued_once(**options)
    refused(path, message, lambda: mix.to_state(path, "x"), (BadFile, InvalidInput))
    refused(path, "before the experts are known", lambda: Mixture().to_state(path, "x"))


def test_a_state_is_begun_by_a_table(path):
    refused(path, "there is no state in it; begin one with", lambda: issued_once().to_state(path), BadFile)


def test_keys_of_a_state_with_times_of_issue_have_both_times(path):
    begun(path, "cutoff")
    assert all(issued < time for issued, time in Mixture.from_state(path, "s0").waiting)
    for key, message in (
        (DAY, "rounds must have the key a time of issue and a time, got"),
        ((DAY, DAY), "must be issued before its time"),
    ):
        mix = Mixture.from_state(path, "s0")
        mix.predict([[1.0, 2.0, 3.0]], key=[key])
        refused(path, message, lambda mix=mix: mix.to_state(path, "s0"))


def test_a_series_that_went_on_is_not_replaced(path):
    tables = begun(path)
    truths, issues = (tables[4][tables[4]["y"].isna() == missing] for missing in (False, True))
    went_on = "the series went on without this mixture; read it again with Mixture.from_state"
    first, second, third = (Mixture.from_state(path, "s0") for _ in range(3))
    key = issues["ds"].iloc[0]
    first.predict([1.0, 2.0, 3.0], key=key)
    first.to_state(path, "s0")  # a round more
    refused(path, went_on, lambda: second.to_state(path, "s0"), BadFile)
    third.predict([3.0, 2.0, 1.0], key=key + pd.Timedelta(days=9))
    refused(path, went_on, lambda: third.to_state(path, "s0"), BadFile)
    fourth = Mixture.from_state(path, "s0")
    first.update(2.0, key=key)
    first.to_state(path, "s0")  # a truth more
    refused(path, went_on, lambda: fourth.to_state(path, "s0"), BadFile)
    other = Mixture.from_state(path, "s1")
    other.to_state(path, "s1")  # nothing happened since
    combine(truths[truths["unique_id"] == "s1"], state=path)  # a truth came
    refused(path, went_on, lambda: other.to_state(path, "s1"), BadFile)


def test_a_mixture_of_a_state_reports_from_the_next_truth_on_and_no_expert_can_join(path, tmp_path):
    begun(path)
    mix = Mixture.from_state(path, "s0")
    with pytest.raises(InvalidInput, match="no round yet to report on"):
        mix.report()
    for made in (mix, Mixture.from_state(path, "s0", history=0)):
        with pytest.raises(InvalidInput, match="could be played with a new expert"):
            made.join("d")
    mix.update(1.0, key=mix.waiting[0])
    assert mix.report().n_rounds == 1
    mix.save(tmp_path / "mixture")
    again = Mixture.load(tmp_path / "mixture")
    assert snapshot(again) == snapshot(mix)
    with pytest.raises(InvalidInput, match="could be played with a new expert"):
        again.join("d")
    again.to_state(path, "s0")
    assert Mixture.from_state(path, "s0").waiting == mix.waiting


def test_steps_that_are_not_the_next_ones_have_no_live_mixture(path):
    frame = windows(n_series=1)
    combine(frame[frame["step"] != 2], state=path)
    with pytest.raises(BadFile, match=r"a live mixture has the steps 1, 2, \.\.\. ahead, and this series has 1, 3"):
        Mixture.from_state(path, "s0")


DAMAGE = {
    "UPDATE mixtures SET n_rounds = 0": "a digest does not agree",
    "UPDATE rounds SET place = 99": "a digest does not agree",
    "UPDATE facts SET value = '[]' WHERE name = 'options'": "a digest does not agree",
    "UPDATE series SET name = '[3]' WHERE id = 1": "a series has no name",
}


@pytest.mark.parametrize("change", DAMAGE)
def test_damaged_rows_are_refused(path, change):
    begun(path)
    mix = Mixture.from_state(path, "s0")
    with sqlite3.connect(path) as db:
        db.execute(change)
    db.close()
    refused(path, DAMAGE[change], lambda: Mixture.from_state(path, "s0"), BadFile)
    if "digest" in DAMAGE[change]:
        refused(path, DAMAGE[change], lambda: mix.to_state(path, "s0"), BadFile)
