"""Quantiles in frames and files: columns by level, one mixture for each level, and a report."""

import json

import numpy as np
import pandas as pd
import polars as pl
import pytest

from command_line import runner
from driftwise import Mixture
from driftwise.core.errors import InvalidInput, LayoutWarning
from driftwise.forecasting import combine
from issued_windows import windows

LEVELS = (0.05, 0.5, 0.95)


def bands(**case):
    """Return a frame with the point forecasts and the bounds of 90 % intervals of two experts."""
    frame = windows(**case)
    for name, half in (("a", 2.0), ("c", 0.7)):
        frame[f"{name}-lo-90"], frame[f"{name}-hi-90"] = frame[name] - half, frame[name] + half
    return frame.drop(columns="b")


def live(frame, delays=False):
    """Return combined quantiles of live mixtures, told each truth before the next issue."""
    combined = {}
    for _, of_series in frame.groupby("unique_id"):
        mix, waiting = Mixture(["a", "c"], quantiles=LEVELS), []
        for cutoff, issue in of_series.groupby("cutoff"):
            for row in [row for row in waiting if row.ds <= cutoff]:
                mix.update(row.y, key=row.ds)
                waiting.remove(row)
            for row in issue.sort_values("ds").itertuples():
                values = {name: frame.loc[row.Index, [f"{name}-lo-90", name, f"{name}-hi-90"]] for name in "ac"}
                combined[row.Index] = mix.predict({name: [*map(float, part)] for name, part in values.items()}, row.ds)
                if row.y == row.y:
                    waiting.append(row)
    return np.array([combined[index] for index in frame.index])


def test_quantiles_of_a_frame_are_those_of_live_mixtures():
    frame = bands(every=3).drop(columns="step")
    result = combine(frame, quantiles=LEVELS)
    expected = live(frame)
    for j, level in enumerate(LEVELS):
        np.testing.assert_array_equal(result[f"forecast-q-{level:g}"], expected[:, j])
    assert list(result)[4:7] == ["forecast-q-0.05", "weight_a-q-0.05", "weight_c-q-0.05"]
    assert (np.diff(expected, axis=1) >= 0).all()
    weights = result[["weight_a-q-0.95", "weight_c-q-0.95"]].sum(axis=1)
    np.testing.assert_allclose(weights, 1.0)


def test_all_ways_of_naming_levels_give_the_same():
    frame = bands()
    expected = combine(frame, quantiles=LEVELS)
    named = frame.rename(columns={"a-lo-90": "a-q-0.05", "a-hi-90": "a-q-.95", "c": "c-median"})
    pd.testing.assert_frame_equal(combine(named, quantiles=LEVELS)[list(expected)], expected)
    own = frame.rename(columns={"a-lo-90": "low", "a": "middle", "a-hi-90": "high"})
    experts = {"a": ["low", "middle", "high"], "c": ["c-lo-90", "c", "c-hi-90"]}
    pd.testing.assert_frame_equal(combine(own, quantiles=LEVELS, experts=experts), expected)
    of_polars = combine(pl.from_pandas(frame), quantiles=LEVELS)
    np.testing.assert_array_equal(of_polars["forecast-q-0.95"], expected["forecast-q-0.95"])
    only = combine(frame, quantiles=LEVELS, experts=["c"], weights=False)
    np.testing.assert_array_equal(only["forecast-q-0.05"], frame["c-lo-90"])


def test_an_expert_without_a_level_sleeps_there():
    frame = bands().drop(columns=["a-lo-90"])
    with pytest.warns(LayoutWarning, match=r"^combine: 'a' has no column for the level 0\.05: asleep there\.$"):
        result = combine(frame, quantiles=LEVELS)
    assert (result["weight_a-q-0.05"] == 0).all()
    assert (result["weight_c-q-0.05"] == 1).all()


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"quantiles": (0.1, 0.5)}, r"`quantiles` must be levels for which .* 0\.1\. There are \[0\.05, 0\.5, 0\.95\]"),
        ({"quantiles": (0.5, 0.05)}, r"`quantiles` must be at least one probability, in increasing order"),
        ({"quantiles": (0.5, 1.0)}, r"`quantiles` must be in \(0, 1\), got 1\.0"),
        ({"quantiles": LEVELS, "loss": "absolute"}, r"the loss of quantiles is their pinball loss"),
        ({"quantiles": LEVELS, "experts": ["z"]}, r"`experts` must be experts with columns such as .* got 'z'"),
        ({"quantiles": LEVELS, "experts": {"a": ["a"]}}, r"`experts\['a'\]` must be a list of 3 columns"),
    ],
)  # fmt: skip
def test_wrong_levels_are_refused(options, message):
    with pytest.raises(InvalidInput, match=message):
        combine(bands(), **options)


def test_the_command_combines_quantiles_and_reports_them(monkeypatch, capsys, tmp_path):
    command = runner(monkeypatch, capsys, tmp_path)
    frame = bands(every=3)
    frame.to_csv(tmp_path / "in.csv", index=False)
    ended = command("combine", "in.csv", "--target", "y", "--quantiles", ".05,.5,.95", "--out", "out")
    assert ended.code == 0, ended.err
    result, expected = pd.read_csv(tmp_path / "out" / "forecasts.csv"), combine(frame, quantiles=LEVELS)
    assert list(result) == list(expected)
    np.testing.assert_array_equal(result["forecast-q-0.95"], expected["forecast-q-0.95"])
    report = json.loads((tmp_path / "out" / "summary.json").read_text())["report"]
    scored = frame["y"].notna()
    inside = (expected["forecast-q-0.05"] <= frame["y"]) & (frame["y"] <= expected["forecast-q-0.95"])
    (interval,) = report["intervals"]
    assert interval["coverage"] == pytest.approx(inside[scored].mean())
    width = (expected["forecast-q-0.95"] - expected["forecast-q-0.05"])[scored].mean()
    assert interval["width"] == pytest.approx(width)
    for level, row in zip(LEVELS, report["summaries"], strict=True):
        error = (frame["y"] - expected[f"forecast-q-{level:g}"])[scored]
        assert row["loss"] == pytest.approx(np.maximum(level * error, (level - 1) * error).mean())
    assert report["crps"]["mixture"] == pytest.approx(2 * np.mean([row["loss"] for row in report["summaries"]]))
    assert "0.05 to 0.95    0.900" in ended.out
    assert "0.05 to 0.95" in (tmp_path / "out" / "report.html").read_text()


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["--quantiles", "a"], "combine: --quantiles must be numbers with commas between, got 'a'."),
        (["--quantiles", ".5,.1"], "combine: --quantiles must increase, such as .1,.5,.9, got '.5,.1'."),
        (
            ["--quantiles", ".5", "--loss", "mae"],
            "combine: the loss of quantiles is their pinball loss; --loss cannot be given",
        ),
        (["--quantiles", ".3"], "in.csv: --quantiles must be levels for which there are columns such as"),
    ],
)
def test_wrong_levels_of_the_command_are_refused(monkeypatch, capsys, tmp_path, words, message):
    command = runner(monkeypatch, capsys, tmp_path)
    bands().to_csv(tmp_path / "in.csv", index=False)
    ended = command("combine", "in.csv", "--target", "y", *words, "--out", "out")
    assert ended.code != 0
    assert message in ended.err
    assert not (tmp_path / "out").exists()
