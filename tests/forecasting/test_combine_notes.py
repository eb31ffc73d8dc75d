"""What `driftwise combine` says about a table beside its result: when truths were known, unused columns, what came."""

import json
import sqlite3

import numpy as np
import pandas as pd
import pytest

from command_line import runner
from driftwise import Mixture
from driftwise.core.errors import InvalidInput, LayoutWarning
from driftwise.forecasting import combine
from driftwise.forecasting.state_file import _reason
from issued_windows import windows

ASSUMED = (
    "Each truth was taken as known before the next row of its series. If they were not: --issued, --step, --known,"
    " --delay."
)


@pytest.fixture
def command(monkeypatch, capsys, tmp_path):
    run = runner(monkeypatch, capsys, tmp_path)

    def command(frame, *words, code=0):
        frame.to_csv(tmp_path / "in.csv", index=False)
        ended = run("combine", "in.csv", "--target", "y", "--out", "out", *words)
        assert ended.code == code, ended.err
        return ended

    return command


def hours(n=40, seed=0):
    """Return the forecasts of two experts for some hours of one series, and their quantiles."""
    rng = np.random.default_rng(seed)
    frame = pd.DataFrame({"ds": pd.date_range("2026-01-01", periods=n, freq="h"), "y": rng.normal(size=n)})
    for name in "ab":
        frame[name] = frame["y"] + rng.normal(size=n)
        for percent in (80, 95):
            frame[f"{name}-lo-{percent}"], frame[f"{name}-hi-{percent}"] = frame[name] - percent, frame[name] + percent
    return frame


def points(frame):
    return frame[["ds", "y", "a", "b"]]


def long(frame):
    return points(frame).melt(["ds", "y"], var_name="model", value_name="value")


def summary(tmp_path):
    return json.loads((tmp_path / "out" / "summary.json").read_text())


# When truths were known


PATHS = {  # the table, words
    "in a stream": (points, ["--time", "ds"]),
    "a state": (points, ["--time", "ds", "--state", "mix.db"]),
    "quantiles": (hours, ["--time", "ds", "--quantiles", ".1,.9"]),
    "a row for each expert": (long, ["--time", "ds", "--expert", "model", "--forecast", "value"]),
}


@pytest.mark.parametrize(("make", "words"), PATHS.values(), ids=PATHS)
def test_all_say_first_that_truths_were_taken_as_known_before_the_next_row(command, tmp_path, make, words):
    ended = command(hours() if make is hours else make(hours()), *words)
    assert " ".join(ended.out.split()).startswith(ASSUMED)
    assert summary(tmp_path)["timing"].startswith(ASSUMED)
    assert summary(tmp_path)["report"]["timing"].startswith(ASSUMED)
    assert f">{ASSUMED}" in (tmp_path / "out" / "report.html").read_text()


@pytest.mark.parametrize("words", [[], ["--state", "mix.db"]])
def test_the_last_truth_is_no_rival_of_quantiles_that_were_issued_before_it_was_known(command, tmp_path, words):
    frame = windows(every=3, n_issues=10)
    for name in "abc":
        frame[f"{name}-lo-80"], frame[f"{name}-hi-80"] = frame[name] - 1, frame[name] + 1
    command(frame, "--quantiles", ".1,.9", *words)
    names = [row["name"] for level in summary(tmp_path)["report"]["levels"] for row in level["comparators"]]
    assert names
    assert "last truth repeated" not in names


def test_the_last_truth_is_a_rival_of_quantiles_that_could_use_it(command, tmp_path):
    command(hours(), "--time", "ds", "--quantiles", ".1,.9")
    for level in summary(tmp_path)["report"]["levels"]:
        assert level["comparators"][-1]["name"] == "last truth repeated"


# Columns


def test_a_point_forecast_stands_for_the_median_in_the_command_as_in_python(command, tmp_path):
    frame = hours().drop(columns=["b-lo-80", "b-hi-80", "a-lo-95", "a-hi-95"]).assign(c=1.0, **{"a-lo-0.8": 1.0})
    notes = [
        "'b' has no column for the level 0.1: asleep there.",
        "'b' has no column for the level 0.9: asleep there.",
        "not used with the quantiles 0.1, 0.5, 0.9: 'b-lo-95', 'b-hi-95', 'c', 'a-lo-0.8'.",
    ]
    with pytest.warns(LayoutWarning) as caught:
        expected = combine(frame, time="ds", quantiles=(0.1, 0.5, 0.9))
    assert [str(warning.message) for warning in caught] == [f"combine: {note}" for note in notes]
    assert {warning.filename for warning in caught} == {__file__}
    assert (expected["weight_b-q-0.5"] > 0).all()
    ended = command(frame, "--time", "ds", "--quantiles", ".1,.5,.9")
    assert [line for line in ended.err.splitlines() if "compiling" not in line] == [
        f"driftwise: in.csv: {note}" for note in notes
    ]
    result = pd.read_csv(tmp_path / "out" / "forecasts.csv")
    assert list(result) == list(expected)
    for level in ("0.1", "0.5", "0.9"):
        np.testing.assert_array_equal(result[f"weight_b-q-{level}"], expected[f"weight_b-q-{level}"])
        np.testing.assert_array_equal(result[f"forecast-q-{level}"], expected[f"forecast-q-{level}"])


def test_a_point_forecast_stands_for_the_median_also_with_a_state(command, tmp_path):
    frame = hours().drop(columns=["b-lo-80", "b-hi-80"])
    with pytest.warns(LayoutWarning):
        expected = combine(frame, time="ds", quantiles=(0.1, 0.5, 0.9))
    parts = []
    for part in (frame[:25], frame[25:]):
        command(part, "--time", "ds", "--quantiles", ".1,.5,.9", "--state", "mix.db")
        parts.append(pd.read_csv(tmp_path / "out" / "forecasts.csv"))
    np.testing.assert_array_equal(pd.concat(parts)["forecast-q-0.5"], expected["forecast-q-0.5"])
    after = pd.DataFrame({"ds": [pd.Timestamp("2027-01-01")], "y": None, "b": 1.0, "b-lo-95": 0.0, "b-hi-95": 2.0})
    ended = command(after, "--time", "ds", "--quantiles", ".1,.5,.9", "--state", "mix.db")
    assert "no forecasts of 'a' in this table" in ended.err
    assert "all forecasts are missing" not in ended.err


def test_unused_columns_are_named_with_what_they_may_be(command):
    frame = hours().assign(**{"made at": "2025-12-31 06:00", "shop": "north"})
    ended = command(frame, "--time", "ds")
    quantiles = "'a-lo-80', 'a-hi-80', 'a-lo-95', 'a-hi-95', 'b-lo-80', 'b-hi-80', 'b-lo-95', 'b-hi-95'"
    assert ended.err.splitlines() == [
        f"driftwise: in.csv: not used: quantiles {quantiles}; combine them with --quantiles .025,.1,.9,.975.",
        "driftwise: in.csv: not used: 'made at' (times). When forecasts were issued: --issued; when truths were known:"
        " --known.",
        "driftwise: in.csv: not used, because they are not numbers: 'shop'. Name the column of the series by --by.",
    ]
    assert command(points(frame), "--time", "ds").err == ""


@pytest.mark.parametrize("kind", ["parquet", "jsonl"])
def test_times_that_are_not_used_are_found_in_every_format(monkeypatch, capsys, tmp_path, kind):
    frame = points(hours()).assign(made=pd.Timestamp("2025-12-31"))
    if kind == "parquet":
        frame.to_parquet(tmp_path / "in.parquet")
    else:
        frame.astype({"ds": str, "made": str}).to_json(tmp_path / "in.jsonl", orient="records", lines=True)
    run = runner(monkeypatch, capsys, tmp_path)
    ended = run("combine", f"in.{kind}", "--target", "y", "--time", "ds")
    assert f"in.{kind}: not used: 'made' (times). When forecasts were issued: --issued;" in ended.err


# What came for a state


def test_a_run_with_a_state_says_what_came(command, tmp_path):
    frame = points(hours(60))
    waits = frame.assign(y=np.nan)
    words = ("--time", "ds", "--state", "mix.db")
    ended = command(frame[:20], *words)
    assert ended.err == "driftwise: mix.db: there was no such file; a new state is begun.\n"
    assert "\n20 new rows were combined.\n" in ended.out
    ended = command(waits[20:30], *words)
    assert ended.err == ""
    assert "\n10 new rows were combined and wait for their truths.\n" in ended.out
    assert "\nNothing could be scored yet: no truth of a combined row is known.\n" in ended.out
    assert not (tmp_path / "out" / "report.html").exists()
    ended = command(pd.concat([frame[20:30], waits[30:31]]), *words)
    assert "\n10 truths came for rows that waited; 1 new row was combined and waits for its truth.\n" in ended.out
    assert (tmp_path / "out" / "report.html").exists()
    ended = command(frame[30:33], *words)
    assert "\n1 truth came for rows that waited; 2 new rows were combined.\n" in ended.out


def test_truths_that_belong_to_no_row_are_named(command):
    frame = windows(n_series=1, every=3, n_issues=4).assign(y=lambda f: f["a"])
    waits = frame.assign(y=np.nan)
    command(waits[:3], "--state", "mix.db")
    shifted = frame[:3].assign(ds=lambda f: f["ds"] + pd.Timedelta("30min"))[["unique_id", "ds", "y"]]
    ended = command(shifted, "--state", "mix.db")
    assert ended.err == (
        "driftwise: in.csv: no forecasts of 'a' in this table: asleep in its rounds.\n"
        * 0
        + "driftwise: in.csv: 3 truths belong to no row that waits (first: line 2, 2024-03-30 00:30:00): they are kept"
        " for rows that come later; check times and series.\n"
    )
    assert "\nNo truth came for a row that waited, and there was no new row.\n" in ended.out
    ended = command(frame[:3][["unique_id", "ds", "y"]], "--state", "mix.db")
    assert ended.err == ""
    assert "\n3 truths came for rows that waited.\n" in ended.out


def test_a_state_that_is_begun_in_an_empty_file_is_named(command, tmp_path):
    (tmp_path / "mix.db").touch()
    ended = command(points(hours()), "--time", "ds", "--state", "mix.db")
    assert ended.err == "driftwise: mix.db: the file was empty; a new state is begun.\n"


def test_an_expert_without_a_column_is_named_once(command):
    frame = points(hours())
    command(frame[:20], "--time", "ds", "--state", "mix.db")
    ended = command(frame[20:].drop(columns="b"), "--time", "ds", "--state", "mix.db")
    assert ended.err == "driftwise: in.csv: no forecasts of 'b' in this table: asleep in its rounds.\n"


@pytest.mark.parametrize(
    ("code", "message"),
    [
        (sqlite3.SQLITE_READONLY, "no permission to write it (or its folder)"),
        (sqlite3.SQLITE_CANTOPEN, "no permission to open or write it (or its folder)"),
    ],
)
def test_a_state_without_permission_is_refused_in_plain_words(code, message):
    error = sqlite3.OperationalError("attempt to write a readonly database")
    error.sqlite_errorcode = code
    assert _reason(error, 1.0) == message


# Files


def test_truths_that_are_empty_in_the_input_are_empty_in_the_output(command, tmp_path):
    frame = points(hours()).assign(y=lambda f: f["y"].where(f.index != 3))
    for words in ([], ["--delay", 2], ["--state", "mix.db"]):
        command(frame, "--time", "ds", *words)
        lines = (tmp_path / "out" / "forecasts.csv").read_text().splitlines()
        assert lines[4].startswith("2026-01-01 03:00:00,,"), words
        assert "nan" not in "".join(lines)


def test_the_page_writes_numbers_of_rounds_as_the_text_does(command, tmp_path):
    frame = pd.concat([points(hours(1200)).assign(shop=shop) for shop in ("x", "y")])
    ended = command(frame, "--time", "ds", "--by", "shop")
    page = (tmp_path / "out" / "report.html").read_text()
    assert "2,400 rounds of 2 series" in ended.out
    assert " 1,200 " in ended.out
    assert ">2,400<" in page
    assert ">2400<" not in page
    command(frame.groupby("shop").head(30), "--time", "ds", "--by", "shop")
    page = (tmp_path / "out" / "report.html").read_text()
    assert "means of 2 series" in page
    assert "means of 1 rounds" not in page


# Python


def test_clocks_that_go_back_are_a_cause_of_times_that_go_back_or_come_again():
    times = pd.date_range("2026-10-25 00:00", periods=8, freq="h")
    twice = pd.DataFrame({"ds": [*times[:3], times[2], *times[3:]], "y": 1.0, "a": 1.0, "b": 2.0})
    cure = r"Local times that occur twice when clocks go back: write UTC or offsets\.$"
    with pytest.raises(InvalidInput, match=rf"got again 2026-10-25 02:00:00 in row 3\. .* {cure}"):
        combine(twice, time="ds")
    rows = pd.DataFrame({"ds": times[[2, 2]], "y": 1.0, "model": "a", "value": 2.0})
    with pytest.raises(InvalidInput, match=rf"got 'a' at 2026-10-25 02:00:00 again in row 1\. .* {cure}"):
        combine(rows, time="ds", expert="model", forecast="value")
    back = pd.DataFrame({"ds": pd.to_datetime([f"2026-10-25 {t}" for t in ("02:00", "02:30", "02:15")]), "y": 1.0})
    with pytest.raises(InvalidInput, match=rf"got 2026-10-25 02:15:00 in row 2\. Sort the frame by it\. .* {cure}"):
        combine(back.assign(a=1.0), time="ds")
    with pytest.raises(InvalidInput, match=r"If each time is forecast several times: `issued` or `step`\.$"):
        combine(back.assign(a=1.0, ds=[1, 3, 2]), time="ds")


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"seen": "skip"}, r"^combine: seen='skip' needs a `state`: without one, no row was seen before\.$"),
        ({"revised": "ignore"}, r"^combine: revised='ignore' is for tables in which a time can have several truths: "),
        ({"step": "h"}, r"^combine: the column 'h' must have steps ahead, whole numbers >= 1, got 0\.0 in row 0\. If"),
    ],
)
def test_options_that_concern_nothing_are_refused(options, message):
    frame = points(hours(4)).assign(h=[0, 1, 2, 3]) if "step" in options else points(hours(4))
    with pytest.raises(InvalidInput, match=message):
        combine(frame, time="ds", **options)


# An expert without forecasts


def joined(**options):
    """Return a mixture that is worse than its expert "c" would be, which joined and never had a forecast."""
    mix = Mixture(["a", "b"], **options)
    shape = (2,) if "quantiles" in options else ()
    mix.join("c")
    for _ in range(20):
        mix.predict({"a": np.full(shape, 1.0) if shape else 1.0, "b": np.full(shape, 3.0) if shape else 3.0})
        mix.update(2.0)
    return mix.report()


@pytest.mark.parametrize("loss", ["square", "absolute"])
def test_an_expert_that_never_had_a_forecast_is_no_best_expert(loss, tmp_path):
    report = joined(loss=loss)
    best = next(row for row in report.comparators if row.name == "best expert")
    assert best.detail in ("a", "b")
    mixture = report.comparators[0]
    assert mixture.loss < best.loss  # it would be the best with the losses of the mixture
    assert [expert.name for expert in report.experts] == ["a", "b", "c"]
    assert [stretch.expert for stretch in report.best_sequence()].count("c") == 0
    assert report.series_table()["best_expert"][0] in ("a", "b")
    assert report.series_table()["best_expert_loss"][0] == best.mean
    assert report.sequence_losses[0] == best.loss
    assert report.combination[2] == 0.0
    lines = report.text().splitlines()
    head = next(i for i, line in enumerate(lines) if line.startswith("expert "))
    assert lines[head + 4].startswith("c ")  # the last of the table
    report.plot(tmp_path / "report.png")


def test_an_expert_that_never_had_quantiles_is_no_best_expert():
    report = joined(quantiles=(0.1, 0.9))
    assert report.crps.best_expert in ("a", "b")
    assert all(row.best_expert in ("a", "b") for row in report.summaries)


def test_the_best_expert_of_a_series_had_a_forecast_in_it(command, tmp_path):
    rng = np.random.default_rng(1)
    parts = []
    for shop in ("x", "z"):
        truths = rng.normal(size=60)
        forecasts = {name: truths + rng.normal(size=60) for name in "ab"} | {"c": truths + 0.3}
        parts.append(pd.DataFrame({"shop": shop, "y": truths, **forecasts}))
    frame = pd.concat(parts)
    frame.loc[frame["shop"] == "z", "c"] = np.nan
    ended = command(frame, "--by", "shop")
    names = summary(tmp_path)["report"]["series"]["best_expert"]
    assert names[0] == "c"
    assert names[1] in ("a", "b")
    assert ended.err == ""
