"""Three tables whose loss was reported as too good: the command, `combine` and live mixtures report the honest loss.

The first two have forecasts of a day ahead, the third of three steps. All are issued before the truths of the rows
above them are known. Without their times of issue they have a loss that nobody could have had.
"""

import json

import numpy as np
import pandas as pd
import pytest

from command_line import runner
from driftwise import Mixture
from driftwise.forecasting import combine
from driftwise.forecasting.forecast_views import short_number
from issued_windows import day_ahead

HOURS = 24


def autoregression(coefficient, noise):
    values = np.zeros(len(noise))
    for t in range(len(noise)):
        values[t] = coefficient * values[t - 1] * (t > 0) + noise[t]
    return values


def profiles():
    """Return forecasts of 24 hours, issued at the end of each day from day 7 on."""
    t = np.arange(100 * HOURS)
    profile = 10 * np.sin(2 * np.pi * t / HOURS)
    errors = autoregression(0.97, np.random.default_rng(0).normal(size=len(t)))
    truths = profile + errors
    at = t // HOURS * HOURS - 1  # the last hour before the day
    frame = pd.DataFrame({"unique_id": "a", "ds": t, "cutoff": at, "y": truths})
    frame = frame.assign(
        yesterday=np.roll(truths, HOURS), profile=profile, corrected=profile + errors[at], last=truths[at]
    )
    return frame[7 * HOURS :].reset_index(drop=True)


def rolling():
    """Return forecasts of three steps from 580 origins, one 2 too high, one 2 too low, and 0."""
    truths = autoregression(0.95, np.random.default_rng(1).normal(size=583))
    rows = []
    for origin in range(580):
        for h in (1, 2, 3):
            best = 0.95**h * truths[origin]
            rows.append(("a", origin + h, origin, h, truths[origin + h], best + 2, best - 2, 0.0))
    return pd.DataFrame(rows, columns=["unique_id", "ds", "cutoff", "h", "y", "high", "low", "zero"])


def live(frame, loss, learner):
    """Return the forecasts of a live mixture that is told each truth when it is known."""
    has_steps = "h" in frame
    experts = [name for name in frame if name not in ("unique_id", "ds", "cutoff", "h", "y")]
    mix = Mixture(experts, steps=3 if has_steps else None, loss=loss, learner=learner)
    combined, truths, told = {}, {}, set()
    for cutoff, issue in frame.groupby("cutoff"):
        for time in sorted(time for time in truths if time <= cutoff and time not in told):
            mix.update(truths[time], key=time)
            told.add(time)
        rows, times = issue[experts].to_numpy(), issue["ds"].tolist()
        if has_steps:
            forecasts = mix.predict(rows, key=times)
        else:
            forecasts = [mix.predict(row, key=time) for row, time in zip(rows, times, strict=True)]
        combined |= dict(zip(issue.index, forecasts, strict=True))
        truths |= dict(zip(times, issue["y"].tolist(), strict=True))
    return pd.Series(combined).reindex(frame.index)


TABLES = {  # the table, the loss, the words for its columns, the mean losses of the best expert and of the mean
    "profiles": (profiles, "square", ["--time", "ds", "--by", "unique_id"], 10.09, None),
    "days": (day_ahead, "absolute", ["--time", "ds", "--by", "unique_id"], 20.63, 20.60),
    "steps": (rolling, "square", ["--time", "ds", "--by", "unique_id,h"], None, None),
}


@pytest.mark.parametrize("learner", [None, "ada-hedge"])
@pytest.mark.parametrize(("make", "loss", "words", "best", "uniform"), TABLES.values(), ids=TABLES)
def test_the_command_the_frame_and_a_live_mixture_have_one_honest_loss(
    monkeypatch, capsys, tmp_path, make, loss, words, best, uniform, learner
):
    frame, run = make(), runner(monkeypatch, capsys, tmp_path)
    expected = live(frame, loss, learner)
    errors = (frame["y"] - expected).abs()
    honest = (errors if loss == "absolute" else errors**2).mean()
    words = [*words, "--loss", loss, *([] if learner is None else ["--learner", learner])]
    for rows in (frame, frame.sample(frac=1, random_state=2)):
        np.testing.assert_array_equal(combine(rows, loss=loss, learner=learner)["forecast"].sort_index(), expected)
        rows.to_csv(tmp_path / "in.csv", index=False)
        ended = run("combine", "in.csv", "--target", "y", *words, "--out", "out", "--format", "parquet")
        assert ended.code == 0, ended.err
        result = pd.read_parquet(tmp_path / "out" / "forecasts.parquet").set_index(rows.index).sort_index()
        np.testing.assert_array_equal(result["forecast"], expected)
        report = json.loads((tmp_path / "out" / "summary.json").read_text())["report"]
        rivals = {row["name"]: row["mean"] for row in report["comparators"]}
        assert rivals["mixture"] == pytest.approx(honest, rel=1e-12)
        assert best is None or rivals["best expert"] == pytest.approx(best, abs=0.005)
        assert uniform is None or rivals["uniform mean"] == pytest.approx(uniform, abs=0.005)
        sentence = f"The mean {loss} loss of the mixture is {short_number(rivals['mixture'])}."
        assert sentence in " ".join(ended.out.split())
        assert sentence in (tmp_path / "out" / "report.html").read_text()
    if learner is None and "h" not in frame:  # without its times of issue the table has a loss that nobody could have
        rows = frame.drop(columns="cutoff")
        errors = (rows["y"] - combine(rows, loss=loss)["forecast"]).abs()
        assert (errors if loss == "absolute" else errors**2).mean() < 0.5 * honest


def test_steps_that_say_when_rows_were_issued_give_the_same_honest_loss():
    frame = rolling()
    without = frame.drop(columns="cutoff")
    expected = live(frame, "square", None)
    for by in (["unique_id"], ["unique_id", "h"]):
        np.testing.assert_array_equal(combine(without, time="ds", by=by)["forecast"], expected)
    third = frame[frame["h"] == 3]
    leaking = combine(third.drop(columns=["cutoff", "h"]))["forecast"]
    honest = ((third["y"] - expected[third.index]) ** 2).mean()
    assert ((third["y"] - leaking) ** 2).mean() < 0.5 * honest
