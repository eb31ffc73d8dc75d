"""`driftwise combine` plays the rows of a file as `combine` plays those of a frame: each truth when it is known."""

import json

import numpy as np
import pandas as pd
import pytest

from command_line import runner
from driftwise.forecasting import combine
from issued_windows import day_ahead, windows

KINDS = ("csv", "parquet", "jsonl")


@pytest.fixture
def command(monkeypatch, capsys, tmp_path):
    run = runner(monkeypatch, capsys, tmp_path)
    return lambda *words: run("combine", *words, "--out", tmp_path / "out", "--format", "parquet")


def write(frame, path):
    if path.suffix == ".csv":
        frame.to_csv(path, index=False)
    elif path.suffix == ".parquet":
        frame.to_parquet(path, index=False)
    else:
        texts = frame.assign(**{name: frame[name].astype(str) for name in frame if frame[name].dtype.kind == "M"})
        texts.to_json(path, orient="records", lines=True, double_precision=15)
    return path


def forecasts(tmp_path):
    return pd.read_parquet(tmp_path / "out" / "forecasts.parquet")


def assert_same(result, expected):
    """JSON rounds the last digit of numbers, so weights are compared roughly, and forecasts as numbers."""
    np.testing.assert_allclose(result["forecast"], expected["forecast"], rtol=1e-9, atol=1e-9)


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("every", [1, 3], ids=["overlap", "do not overlap"])
def test_a_file_with_issue_times_is_played_like_a_frame(command, tmp_path, kind, every):
    frame = windows(every=every).sample(frac=1, random_state=0, ignore_index=True)
    expected = combine(frame)
    path = write(frame, tmp_path / f"in.{kind}")
    for words in (["--time", "ds", "--by", "unique_id"], [], ["--issued", "cutoff", "--step", "step"]):
        assert command(path, "--target", "y", *words).code == 0
        result = forecasts(tmp_path)
        assert_same(result, expected)
        if kind != "jsonl":
            np.testing.assert_array_equal(result["forecast"], expected["forecast"])
            assert [name for name in result if name not in expected] == []
    report = json.loads((tmp_path / "out" / "summary.json").read_text())["report"]
    scored = frame["y"].notna()
    loss = ((expected["forecast"] - expected["y"]) ** 2)[scored].mean()
    assert report["comparators"][0]["mean"] == pytest.approx(loss, rel=1e-9)
    assert "last truth repeated" not in [row["name"] for row in report["comparators"]]  # it was not known


@pytest.mark.parametrize("kind", KINDS)
def test_a_file_with_numbers_as_times_and_known_times(command, tmp_path, kind):
    frame = day_ahead()
    frame["known"] = frame["ds"] + 30
    expected = combine(frame, known="known", loss="absolute")
    path = write(frame, tmp_path / f"in.{kind}")
    assert command(path, "--target", "y", "--known", "known", "--loss", "absolute").code == 0
    assert_same(forecasts(tmp_path), expected)


def test_a_delay_and_series_of_several_columns(command, tmp_path):
    frame = windows(every=1, steps=1).drop(columns=["cutoff", "step"])
    frame["shop"] = frame["unique_id"].map({"s0": "x", "s1": "x"})
    expected = combine(frame, delay=2, by=["shop", "unique_id"])
    path = write(frame, tmp_path / "in.csv")
    for by in (["--by", "shop,unique_id"], ["--by", "shop", "--by", "unique_id"]):
        assert command(path, "--target", "y", "--time", "ds", "--delay", 2, *by).code == 0
        np.testing.assert_array_equal(forecasts(tmp_path)["forecast"], expected["forecast"])
        names = json.loads((tmp_path / "out" / "summary.json").read_text())["report"]["series"]["series"]
        assert names == ["x, s0", "x, s1"]
        assert command(path, "--target", "y", "--time", "ds", *by).code == 0
        assert_same(forecasts(tmp_path), combine(frame, by=["shop", "unique_id"]))


def test_a_table_with_a_row_for_each_expert(command, tmp_path):
    frame = windows(every=1)
    long = frame.melt(["unique_id", "ds", "cutoff", "step", "y"], var_name="model", value_name="value")
    long = long.sample(frac=1, random_state=5, ignore_index=True)
    expected = combine(long, expert="model", forecast="value", time="ds")
    path = write(long, tmp_path / "in.csv")
    words = ("--target", "y", "--time", "ds", "--expert", "model", "--forecast", "value")
    assert command(path, *words).code == 0
    result = forecasts(tmp_path)
    np.testing.assert_array_equal(result["forecast"], expected["forecast"])
    assert {*result} == {"unique_id", "ds", "cutoff", "step", "y", "forecast", "weight_a", "weight_b", "weight_c"}
    plain = long[long["step"] == 1].drop(columns=["step", "cutoff"])
    write(plain, tmp_path / "in.csv")
    assert command(path, *words, "--by", "unique_id").code == 0
    assert_same(forecasts(tmp_path), combine(plain, expert="model", forecast="value", time="ds", by="unique_id"))


FAULTS = {  # what is changed, words, what the message says
    "a cutoff after its time": (
        {"cutoff": lambda f: f["ds"]}, [],
        ": the column 'cutoff': it must be before the time that the forecasts are for, got '2024-03-30 00:00:00' in"
        " line 2 at '2024-03-30 00:00:00'.",
    ),
    "issued twice": (
        "again", [],
        ": the column 'cutoff': the same time was issued twice at this time, got '2024-03-29 23:00:00' in line 92",
    ),
    "a revision": ("revised", [], "To keep the first one: --revised ignore."),
    "a text that is no time": (
        {"cutoff": lambda f: f["cutoff"].astype(str).where(f.index != 3, "soon")}, [],
        ", line 5, column 'cutoff': it must be an ISO date or timestamp without an offset, as the first one is, got"
        " 'soon'.",
    ),
    "no time in a row": (
        {"cutoff": lambda f: f["cutoff"].where(f.index != 3)}, [], ", line 5, column 'cutoff': it is missing.",
    ),
    "other texts": (
        {"ds": lambda f: "day " + f["ds"].astype(str)}, [],
        ", line 2, column 'ds': beside other times it must be a number or an ISO date or timestamp, got 'day 2024",
    ),
    "delay and cutoff": ({}, ["--delay", 3], ": --delay and the column 'cutoff' both say when truths were known"),
    "issue times as series": ({}, ["--by", "cutoff", "--time", "ds"], ": the column 'cutoff' has issue times"),
    "no such column": ({}, ["--issued", "cutof"], ": there is no column 'cutof'. Did you mean 'cutoff'?"),
    "two uses": ({}, ["--issued", "ds", "--time", "ds"], "combine: the column 'ds' is given as --time and --issued."),
    "forecasts named h": (
        {"h": 0.25, "step": None}, [],
        ": the column 'h' must have steps ahead, whole numbers >= 1, got 0.25 in line 2. If",
    ),
    "two steps": ({"h": lambda f: f["step"]}, [], "['step', 'h'] may be steps ahead; name one with --step."),
    "only half of a long table": ({}, ["--expert", "a"], "combine: --expert needs --forecast, the column of the fore"),
    "issued at different times": (
        {"cutoff": None, "step": None}, [],
        "Issued at different times? Name the column of these times by --issued, or that of the steps ahead by --step",
    ),
}  # fmt: skip


@pytest.mark.parametrize(("change", "words", "message"), FAULTS.values(), ids=FAULTS)
def test_wrong_times_are_refused_and_nothing_is_written(command, tmp_path, change, words, message):
    frame = windows(n_series=1, every=2)
    if change == "again":
        frame = pd.concat([frame, frame.head(1)], ignore_index=True)
    elif change == "revised":
        frame.loc[3, "y"] = 7.0
    else:
        frame = frame.assign(**{name: value for name, value in change.items() if value is not None})
        frame = frame.drop(columns=[name for name, value in change.items() if value is None])
        if "cutoff" not in frame:
            frame = frame.sort_values("ds")
    path = write(frame, tmp_path / "in.csv")
    before = path.read_bytes()
    ended = command(path, "--target", "y", *words)
    assert ended.code != 0
    assert message in ended.err, ended.err
    assert ended.err.count("\n") == 1
    assert path.read_bytes() == before
    assert not (tmp_path / "out").exists()
