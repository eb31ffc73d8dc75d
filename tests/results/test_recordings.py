"""Results of recordings: where nothing is random there is no interval, in any output, and the reason is stated."""

import html
import json
import math

import numpy as np
import pytest

from command_line import runner
from driftwise import Deterministic, Environment, Replay, Results, Sweep, simulate
from driftwise.environments import Constant
from driftwise.learners import UCB1, Exp3, Hedge
from driftwise.results import SweepResults
from driftwise.sweeps.results_page import results_page

LOSSES = np.random.default_rng(0).random((80, 3))
SAME = "no interval: every run plays the same recording, and nothing else is random"
OVER_DRAWS = "Intervals are over the random draws of learners: every run plays the same recording."


@pytest.fixture(scope="module")
def file(tmp_path_factory):
    """Return a results file with a learner of each feedback that draws nothing, and one that draws."""
    path = tmp_path_factory.mktemp("recorded") / "x.parquet"
    simulate(Replay(LOSSES), [Hedge(), UCB1(), Exp3()], n_runs=4).save(path)
    return path


@pytest.fixture
def driftwise(monkeypatch, capsys, tmp_path):
    return runner(monkeypatch, capsys, tmp_path)


def has_none(estimate):
    return math.isfinite(estimate.mean) and math.isnan(estimate.low) and math.isnan(estimate.high)


def test_learners_without_draws_have_no_interval_on_a_recording(file):
    results = Results.from_parquet(file)
    assert has_none(results.regret("hedge"))
    assert has_none(results.regret("ucb1"))
    assert has_none(results.difference("hedge", "ucb1"))
    assert not has_none(results.regret("exp3"))
    assert not has_none(results.difference("exp3", "hedge"))
    assert [row["no_interval"] for row in results.rows()] == [SAME, SAME, ""]


def test_the_table_says_why_there_is_no_interval(file):
    *_, hedge, ucb1, _, why, over = Results.from_parquet(file).table().splitlines()
    assert hedge.split()[0::2][:2] == ["hedge", "-"]
    assert ucb1.split()[0::2][:2] == ["ucb1", "-"]
    assert (why, over) == (f"- {SAME}", OVER_DRAWS)


def test_a_sampled_action_of_weights_is_random(file):
    results = simulate(Replay(LOSSES), Hedge(), n_runs=4, play="sample")
    assert not has_none(results.regret("hedge"))


def test_one_run_of_a_recording_says_that_it_is_played_once():
    results = simulate(Replay(LOSSES), [Hedge(), Exp3()])
    assert results.n_runs == 1
    assert results.table().endswith("\n- no interval: the recording is played once")


def test_an_environment_without_noise_has_no_interval_either():
    results = simulate(Environment(Constant((0.1, 0.5)), Deterministic()), Hedge(), 60, 3)
    assert has_none(results.regret("hedge"))
    assert results.table().endswith("\n- no interval: all runs are equal")


def test_a_figure_has_a_band_for_the_learner_that_draws_only(file):
    (axes,) = Results.from_parquet(file).figure().axes
    assert len(axes.collections) == 1


def test_the_page_has_neither_whiskers_nor_bands_and_a_note(file):
    page = results_page(SweepResults.read(file), against="hedge")
    place = next(i for i, column in enumerate(page.table.columns) if column.key == "regret")
    ends = {row[1].text: (row[place].low, row[place].high) for row in page.table.rows}
    assert all(map(math.isnan, (*ends["hedge"], *ends["ucb1"])))
    assert not any(map(math.isnan, ends["exp3"]))
    for panel in page.panels:
        bands = {series.label: np.isfinite([*series.low, *series.high]).any() for series in panel.series}
        assert bands == {"hedge": False, "ucb1": False, "exp3": True}
    assert f"{SAME.capitalize()}." in page.notes
    assert OVER_DRAWS in page.notes


def test_cells_of_a_sweep_are_treated_alike(tmp_path):
    np.save(tmp_path / "losses.npy", LOSSES)
    results = Sweep(
        {"recorded": Replay.from_file(tmp_path / "losses.npy")}, [Hedge(), UCB1(), Exp3()], [80], n_runs=3, seed=[1, 2]
    ).run(tmp_path / "store")
    assert [row["no_interval"] for row in sorted(results.rows(), key=lambda row: row["learner"])] == ["", SAME, SAME]
    assert results.table().endswith(f"\n- {SAME}\n{OVER_DRAWS}")
    rows = {row.place.learner: row for row in results.compare("hedge")}
    assert has_none(rows["ucb1"].difference)
    assert rows["ucb1"].verdict == ""
    assert f"\n- {SAME}\n{OVER_DRAWS}\n" in results.comparison_text("hedge")
    results.to_latex(tmp_path / "x.tex")
    latex = (tmp_path / "x.tex").read_text()
    (row,) = [line for line in latex.splitlines() if line.startswith("ucb1")]
    assert row.split(" & ")[4] == ""
    assert SAME in latex
    panels = results_page(results).panels
    assert [math.isnan(series.low[0]) for series in panels[0].series].count(True) == 2


def test_commands_print_no_interval(driftwise, file, tmp_path):
    np.savetxt(tmp_path / "losses.csv", LOSSES, delimiter=",")
    words = ("simulate", "--replay", "losses.csv", "--runs", "3", "--learner", "hedge", "--quiet")
    assert f"\n- {SAME}\n" in driftwise(*words).out
    (row,) = json.loads(driftwise(*words, "--json").out)["learners"]
    assert (row["low"], row["high"], row["no_interval"]) == (None, None, SAME)
    assert row["behind"] == {"mean": 0.0, "low": None, "high": None}
    record = json.loads(driftwise("results", file, "--against", "hedge", "--json").out)
    by_learner = {row["learner"]: row for row in record["comparisons"]}
    assert (by_learner["ucb1"]["low"], by_learner["ucb1"]["no_interval"]) == (None, SAME)
    assert by_learner["exp3"]["low"] < by_learner["exp3"]["high"]
    driftwise("results", file, "--page", "x.html", "--quiet")
    assert SAME.capitalize() in html.unescape((tmp_path / "x.html").read_text())


def test_a_command_resamples_blocks_of_a_recording(driftwise, tmp_path):
    np.savetxt(tmp_path / "losses.csv", LOSSES, delimiter=",")
    words = ("--learner", "hedge", "--interval", "blocks", "--quiet")
    out = driftwise("simulate", "--replay", "losses.csv", *words).out
    assert "\nIntervals are by a bootstrap over blocks of rounds of the recording.\n" in out
    assert " .. " in out
    refused = driftwise("simulate", "--rounds", "100", *words)
    assert refused.code == 2
    assert "blocks are rounds of a recording (--replay)" in refused.err
