"""The order in which tables are played: no forecast uses a truth that was not known when it was issued."""

import datetime
import math
from collections import defaultdict

import numpy as np
import pandas as pd
import polars as pl
import pytest

from driftwise import Mixture
from driftwise.core.errors import InvalidInput
from driftwise.forecasting import combine
from driftwise.learners import AdaHedge, Tracker
from issued_windows import day_ahead, windows

LEARNERS = [None, AdaHedge(), Tracker(both_guesses=True)]


def live(frame, experts, series="unique_id", step="step", learner=None, known="ds", loss="square"):
    """Return the forecasts of live mixtures, one for each series and step, told each truth when it is known.

    Written from the words: at every time of issue first all truths that are known by then, in the order of the times
    that they are for and of issue, then the forecasts that are issued.
    """
    mixtures = defaultdict(lambda: Mixture(experts, learner=learner, loss=loss))
    combined, waiting = {}, []
    for at in sorted(set(frame["cutoff"])):
        arrived = sorted(
            (row for row in waiting if row[known] <= at), key=lambda row: (row[known], row["ds"], row["cutoff"])
        )
        for row in arrived:
            waiting.remove(row)
            mixtures[row[series], row[step]].update(row["y"], key=(row["cutoff"], row["ds"]))
        now = frame[frame["cutoff"] == at].sort_values("ds")
        for index, row in zip(now.index, now.to_dict("records"), strict=True):
            mix = mixtures[row[series], row[step]]
            combined[index] = mix.predict([row[name] for name in experts], key=(row["cutoff"], row["ds"]))
            if not math.isnan(row["y"]):
                waiting.append(row)
    return pd.Series(combined).reindex(frame.index).to_numpy()


CASES = {
    "one series": {"n_series": 1},
    "windows that do not overlap": {},
    "windows that overlap": {"every": 1},
    "gaps between windows": {"every": 5},
    "one step": {"every": 1, "steps": 1},
}


@pytest.mark.parametrize("learner", LEARNERS, ids=str)
@pytest.mark.parametrize("case", CASES.values(), ids=CASES)
def test_a_frame_with_issue_times_is_played_as_live_mixtures_bit_for_bit(case, learner):
    frame = windows(**case)
    plain = frame.drop(columns="step")  # one mixture for all steps of a series
    for given, step in ((frame, "step"), (plain, "unique_id")):
        expected = live(frame, ["a", "b", "c"], step=step, learner=learner)
        for rows in (given, given.sample(frac=1, random_state=1)):
            combined = combine(rows, learner=learner, n_threads=2)["forecast"].reindex(frame.index)
            np.testing.assert_array_equal(combined, expected)
    renamed = plain.rename(columns={"cutoff": "made", "ds": "t", "unique_id": "id"})
    again = combine(pl.from_pandas(renamed), time="t", by="id", issued="made", learner=learner)
    np.testing.assert_array_equal(again["forecast"], expected)


@pytest.mark.parametrize("learner", LEARNERS, ids=str)
def test_truths_that_are_known_later_are_used_later(learner):
    frame = windows(every=1, n_issues=40)
    lags = np.random.default_rng(3).integers(0, 9, len(frame))
    known = (frame["ds"] + pd.to_timedelta(lags, unit="h")).groupby([frame["unique_id"], frame["ds"]]).transform("max")
    frame["published_at"] = known
    expected = live(frame, ["a", "b", "c"], learner=learner, known="published_at")
    result = combine(frame.sample(frac=1, random_state=4), known="published_at", learner=learner)
    np.testing.assert_array_equal(result["forecast"].reindex(frame.index), expected)
    assert (expected != live(frame, ["a", "b", "c"], learner=learner)).any()


def test_no_forecast_depends_on_a_truth_that_is_not_known_when_it_is_issued():
    frame = windows(every=2, steps=3)
    before = combine(frame)["forecast"]
    for row in range(7, len(frame), 23):
        time, series = frame["ds"][row], frame["unique_id"][row]
        of_time = (frame["ds"] == time) & (frame["unique_id"] == series)
        changed = frame.assign(y=frame["y"].mask(of_time, 99.0))
        differs = combine(changed)["forecast"] != before
        assert not differs[(frame["cutoff"] < time) | (frame["unique_id"] != series)].any()


def test_steps_without_issue_times_are_issued_so_many_times_before():
    frame = windows(every=1, n_issues=50)
    expected = combine(frame)
    for name in ("h", "Step", "horizon", "LEAD_TIME"):
        steps = frame.drop(columns="cutoff").rename(columns={"step": name})
        for by in (None, ["unique_id", name]):  # a mixture for each step is told what that step could know
            result = combine(steps, by=by)
            np.testing.assert_array_equal(result["forecast"], expected["forecast"])


@pytest.mark.parametrize("learner", LEARNERS, ids=str)
@pytest.mark.parametrize("delay", [0, 1, 2, 7, 1000])
def test_a_delay_is_a_number_of_rows_of_the_series(delay, learner):
    frame = windows(every=1, steps=1).drop(columns=["cutoff", "step"])
    expected = {}
    for _, of_series in frame.groupby("unique_id"):
        mix, rows = Mixture(["a", "b", "c"], learner=learner), of_series.sort_values("ds")
        for t, (index, row) in enumerate(rows.iterrows()):
            if t > delay and not math.isnan(known := rows["y"].iloc[t - delay - 1]):
                mix.update(known, key=t - delay - 1)
            expected[index] = mix.predict(row[["a", "b", "c"]].astype(float), key=t)
    expected = pd.Series(expected).reindex(frame.index)
    result = combine(frame.sample(frac=1, random_state=0), delay=delay, learner=learner)
    np.testing.assert_array_equal(result["forecast"].reindex(frame.index), expected)
    if delay == 0:
        np.testing.assert_array_equal(combine(frame, learner=learner)["forecast"], expected)


def test_long_frames_have_issue_times_and_steps():
    frame = windows(every=1)
    long = frame.melt(["unique_id", "ds", "cutoff", "step", "y"], var_name="model", value_name="value")
    for columns in (["unique_id", "ds", "cutoff", "step"], ["unique_id", "ds", "cutoff"]):
        expected = combine(frame[[*columns, "y", "a", "b", "c"]]).sort_values(["unique_id", "ds", "cutoff"])
        given = long[[*columns, "model", "value", "y"]].sample(frac=1, random_state=5)
        result = combine(given, expert="model", forecast="value", time="ds")
        order = expected.set_index(["unique_id", "ds", "cutoff"]).index
        result = result.set_index(["unique_id", "ds", "cutoff"]).reindex(order)
        np.testing.assert_array_equal(result["forecast"], expected["forecast"])


def test_a_false_gain_is_not_reported():
    """Told each truth before the next row, whenever it was issued, the mean absolute error is 9.0."""
    frame = day_ahead()
    names = [f"m{i}" for i in range(5)]

    def loss(forecasts):
        return np.abs(np.asarray(forecasts) - frame["y"]).mean()

    told_before_the_next_row = combine(
        frame.drop(columns="cutoff"), loss="absolute", learner=Tracker(both_guesses=True)
    )
    assert loss(told_before_the_next_row["forecast"]) == pytest.approx(9.03, abs=0.01)
    frame = frame.assign(step=frame.groupby("cutoff").cumcount() + 1)
    honest = combine(frame, loss="absolute", learner=Tracker(both_guesses=True))
    np.testing.assert_array_equal(
        honest["forecast"], live(frame, names, learner=Tracker(both_guesses=True), loss="absolute")
    )
    assert loss(honest["forecast"]) == pytest.approx(24.15, abs=0.01)  # worse than equal weights: the gain was false
    default = combine(frame, loss="absolute")
    np.testing.assert_array_equal(default["forecast"], live(frame, names, loss="absolute"))
    assert loss(frame[names].mean(axis=1)) == pytest.approx(20.6, abs=0.01)


def text_of_some(frame):
    return [f"{cutoff}+00:00" if i else str(cutoff) for i, cutoff in enumerate(frame["cutoff"])]


FAULTS = {  # what is changed, options, what the message says
    "a cutoff after its time": (
        {"cutoff": lambda f: f["ds"]}, {},
        r"'cutoff': it must be before the time that the forecasts are for, got 2024-03-30 00:00:00 in row 0",
    ),
    "issued twice": (
        "again", {}, r"'cutoff': the same time was issued twice at this time, got 2024-03-29 23:00:00 in row 90 at",
    ),
    "a text that is no time": (
        {"cutoff": "soon"}, {}, r"'cutoff' must have ISO dates or timestamps in every row, got 'soon' in row 0\.",
    ),
    "a number beside times": (
        {"cutoff": 3}, {}, r"the times in the columns 'ds' and 'cutoff' cannot be compared\.",
    ),
    "a zone in one column": (
        {"cutoff": lambda f: f["cutoff"].dt.tz_localize("UTC")}, {}, r"all or none must have a time zone",
    ),
    "an offset in some texts": (
        {"ds": lambda f: f["ds"].astype(str), "cutoff": text_of_some}, {}, r"'cutoff' all or none must have an offset",
    ),
    "a missing time": (
        {"cutoff": lambda f: f["cutoff"].mask(f.index == 4)}, {},
        r"'cutoff' must have a value in every row, got none in row 4",
    ),
    "a truth revised": (
        "revised", {}, r"'y': a time must have one truth, which was .*, got 7\.0 in row 3 .*revised='ignore'",
    ),
    "published before it was issued": (
        {"p": lambda f: f["cutoff"]}, {"known": "p"}, r"'p': it must be after its forecasts were issued, got",
    ),
    "a truth that was not published": (
        {"p": lambda f: f["ds"].mask(f.index == 3)}, {"known": "p"},
        r"'p': it must not be missing where there is a truth, got NaT in row 3",
    ),
    "delay and cutoff": ({}, {"delay": 3}, r"`delay` and the column 'cutoff' both say"),
    "a cutoff as series": (
        {}, {"by": ["unique_id", "cutoff"], "issued": "cutoff"}, r"'cutoff' has issue times, it names no series",
    ),
    "no time": ({}, {"drop": "ds", "by": "unique_id"}, r"'cutoff' says when .*\. Name the column of the times"),
    "steps of a half": ({"step": 0.5}, {}, r"'step' must have steps ahead, whole numbers >= 1, got 0\.5 in row 0"),
    "steps and a half": ({"step": 1.5}, {}, r"'step' must have steps ahead, whole numbers >= 1, got 1\.5 in row 0"),
    "forecasts named h": (
        {"h": lambda f: f["a"] + 100.5}, {"drop": "step"}, r"'h' must have steps ahead, .* list it in `experts`",
    ),
    "two steps": ({"h": lambda f: f["step"]}, {}, r"\['step', 'h'\] may be steps ahead; name one with `step`"),
    "a negative delay": ({}, {"delay": -1, "drop": "cutoff"}, r"`delay` must be a whole number >= 0, got -1"),
    "no such column": (
        {}, {"issued": "cutof"}, r"`issued` must be a column of the frame, got 'cutof'\. Did you mean 'cutoff'\?",
    ),
}  # fmt: skip


@pytest.mark.parametrize(("change", "options", "message"), FAULTS.values(), ids=FAULTS)
def test_wrong_times_are_refused(change, options, message):
    frame = windows(n_series=1, every=2)
    if change == "again":
        frame = pd.concat([frame, frame.head(1)], ignore_index=True)
    elif change == "revised":
        frame.loc[3, "y"] = 7.0
    else:
        frame = frame.assign(**change)
    options = dict(options)
    frame = frame.drop(columns=options.pop("drop", []))
    with pytest.raises(InvalidInput, match=message):
        combine(frame, **options)


def test_a_column_with_the_name_of_steps_that_is_listed_is_an_expert():
    frame = windows().assign(h=1.5)
    assert "weight_h" in combine(frame.drop(columns="step"), experts=["a", "h"])


def test_a_revision_may_be_ignored():
    frame = windows(n_series=1, every=2)
    changed = frame.assign(y=frame["y"].mask(frame.index == 3, 7.0))  # row 2 has the same time
    result = combine(changed, revised="ignore")["forecast"]
    np.testing.assert_array_equal(result, combine(frame)["forecast"])


def test_equal_times_without_issue_times_are_refused_with_the_cure():
    frame = windows(every=2).drop(columns=["cutoff", "step"])
    with pytest.raises(
        InvalidInput, match=r"different times .* name these times with `issued`, or the steps ahead with `step`"
    ):
        combine(frame.sort_values(["unique_id", "ds"]))


@pytest.mark.parametrize("kind", ["zone", "texts with offsets", "dates", "whole numbers"])
def test_days_of_23_and_25_hours_and_other_kinds_of_times_give_the_same(kind):
    frame = windows(n_issues=60, every=24, steps=24, n_series=1).drop(columns="step")
    expected = combine(frame)["forecast"]
    for name in ("ds", "cutoff"):
        hours = frame[name].dt.tz_localize("UTC")
        if kind == "zone":
            frame[name] = hours.dt.tz_convert("Europe/Berlin")
        elif kind == "texts with offsets":  # 02:30+02:00 is before 02:30+01:00
            frame[name] = [time.isoformat() for time in hours.dt.tz_convert("Europe/Berlin")]
        elif kind == "dates":
            passed = (hours - pd.Timestamp("2024-01-01", tz="UTC")) // pd.Timedelta(hours=1)
            frame[name] = [datetime.date(2000, 1, 1) + datetime.timedelta(days=k) for k in passed.tolist()]
        else:
            frame[name] = (hours - pd.Timestamp("2024-01-01", tz="UTC")) // pd.Timedelta(hours=1)
    np.testing.assert_array_equal(combine(frame)["forecast"], expected)


def test_local_times_without_an_offset_occur_twice_in_autumn_and_are_refused():
    hours = pd.date_range("2024-10-26", periods=72, freq="h", tz="UTC").tz_convert("Europe/Berlin").tz_localize(None)
    frame = pd.DataFrame({"unique_id": 1, "ds": hours, "y": 1.0, "a": 1.0, "b": 2.0})
    with pytest.raises(InvalidInput, match=r"got again 2024-10-27 02:00:00"):
        combine(frame)
