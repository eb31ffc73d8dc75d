"""The results of sweeps: summaries, pairs, labels, filters, reading and files, against slow computations."""

from __future__ import annotations

import csv
import math
import shutil
import subprocess
import sys
import time
from itertools import pairwise
from pathlib import Path

import numpy as np
import pytest
from scipy import stats

from driftwise import Bernoulli, Environment, FixedShare, Hedge, OptimisticGD, Sweep, SweepResults, Switching, simulate
from driftwise.adversaries import FullLow
from driftwise.core.errors import BadFile, InvalidInput, UnknownName
from driftwise.registry import spec_text
from driftwise.results import Store
from driftwise.results.latex_tables import escaped
from driftwise.results.summaries import ABSENT, APART, BUILT, CHANGED
from driftwise.results.sweep_results import CSV_COLUMNS
from outside_files import HELPERS
from store_examples import run_sql
from stored_cells import SINUSOIDAL, SWITCHING, cell, content, hostile_results, results_of, stored


@pytest.fixture(scope="module")
def swept(tmp_path_factory) -> tuple[Path, SweepResults]:
    folder = tmp_path_factory.mktemp("sweep") / "store"
    environments = {f"{n} segments": Environment(Switching(n, 4), Bernoulli()) for n in (2, 10)}
    learners = [OptimisticGD.tuned, Hedge(), FixedShare()]
    return folder, Sweep(environments, learners, [50, 100], n_runs=4, seed=[3, 4]).run(folder)


def slow_interval(values, confidence):
    """Return mean and interval as SciPy computes them."""
    interval = stats.t.interval(confidence, len(values) - 1, np.mean(values), stats.sem(values))
    return np.mean(values), *interval


def slow_rows(results):
    """Return the final regrets of each place, one cell after the other."""
    found = {}
    for i in range(len(results.cells)):
        record = results.cells.record(i)
        place = (results.environments[i], results.learners[i], record.n_rounds)
        if not record.error:
            found.setdefault(place, []).append(record)
    return found


# Numbers


@pytest.mark.parametrize("confidence", [0.5, 0.95])
def test_summaries_are_means_with_students_intervals(swept, confidence):
    _, results = swept
    slow = slow_rows(results)
    rows = results.summaries(confidence)
    assert len(rows) == len(slow) == 12
    for row in rows:
        cells = slow[row.place[:3]]
        assert (row.n_cells, row.n_failed, row.kind) == (8, 0, "pseudo")
        assert row.regret == pytest.approx(slow_interval([one.regrets[-1] for one in cells], confidence), rel=1e-12)
        bounds = np.mean([one.bounds[-1] for one in cells])
        assert row.bound == pytest.approx(bounds, rel=1e-12, nan_ok=True)


def test_the_results_of_one_simulation_are_those_of_simulate(swept):
    _, results = swept
    one = results.select("2 segments", n_rounds=100, seed=3)
    played = simulate(Environment(Switching(2, 4), Bernoulli()), [OptimisticGD.tuned, Hedge()], 100, 4, seed=3)
    for row in one.select(learner=["hedge", "optimistic-gd*"]).summaries():
        assert row.regret == played.regret(row.place.learner)
        assert row.bound == pytest.approx(played.bound(row.place.learner), nan_ok=True)
    assert one.results().labels == ("optimistic-gd (tuned)", "hedge", "fixed-share")


@pytest.mark.parametrize("rounds", [[1, 100], [50, 99], [50]])
def test_the_results_of_one_simulation_need_curves_with_the_same_rounds(rounds):
    def curve(name, rounds):
        return cell(name, rounds=np.array(rounds), regrets=np.ones(len(rounds)), bounds=np.ones(len(rounds)))

    assert results_of([curve("hedge", [50, 100]), curve("ucb1", [50, 100])]).results().n_runs == 1
    message = r"^SweepResults: results need curves with the same rounds for all learners\.$"
    with pytest.raises(InvalidInput, match=message):
        results_of([curve("hedge", [50, 100]), curve("ucb1", rounds)]).results()


def test_failed_cells_are_counted_and_left_out_of_means():
    cells = [cell(run=run, regret=run) for run in range(3)] + [cell(run=3, error="No memory.")]
    (row,) = results_of(cells).summaries()
    assert (row.n_cells, row.n_failed, row.regret.mean) == (3, 1, 1.0)
    (row,) = results_of(cells[3:]).summaries()
    assert (row.n_cells, row.n_failed, row.kind) == (0, 1, "")
    assert all(map(math.isnan, (*row.regret, row.bound, row.ratio)))


def test_one_cell_has_no_interval_and_a_trivial_bound_no_ratio():
    (row,) = results_of([cell(bound=100.0)]).rows()
    assert (row["regret"], row["bound"]) == (1.0, 100.0)
    assert all(map(math.isnan, (row["low"], row["high"], row["ratio"])))
    (row,) = results_of([cell(bound=4.0)]).rows()
    assert row["ratio"] == 0.25


def test_rows_are_sorted_by_environment_and_rounds_and_regret(swept):
    _, results = swept
    rows = results.rows()
    assert [row["environment"] for row in rows] == ["2 segments"] * 6 + ["10 segments"] * 6
    assert [row["n_rounds"] for row in rows] == [50, 50, 50, 100, 100, 100] * 2
    for one, other in pairwise(rows):
        same = one["environment"] == other["environment"] and one["n_rounds"] == other["n_rounds"]
        assert not same or one["regret"] <= other["regret"]


def test_caveats_are_counted_in_cells():
    cells = [cell(run=run, caveat="9 changes in 10 rounds" if run < 2 else "") for run in range(3)]
    results = results_of(cells)
    assert results.rows()[0]["caveat"] == "tuning says nothing here: 9 changes in 10 rounds (in 2 of 3 runs)"
    lines = results.table().splitlines()
    assert lines[3].startswith("  hedge *")
    assert lines[-3:-1] == ["  * tuning says nothing here:", "    hedge: 9 changes in 10 rounds (in 2 of 3 runs)"]
    assert lines[-1] == "- no interval: all runs are equal"


def test_the_table_has_the_numbers_of_the_rows():
    cells = [cell(run=run, regret=run, bound=8.0) for run in range(3)]
    cells += [cell("ucb1", run=run, regret=10 + run, bound=100.0) for run in range(2)] + [cell("ucb1", 2, error="x")]
    assert results_of(cells).table().splitlines() == [
        "learner  rounds  cells  failed  regret     95% interval  bound  ratio",
        "-------  ------  -----  ------  ------  ---------------  -----  -----",
        "switching(n_segments=3, n_actions=4), bernoulli: dynamic pseudo-regret",
        "  hedge     100      3       0       1  -1.484 .. 3.484      8   0.12",
        "  ucb1      100      2       1    10.5   4.147 .. 16.85      T      -",
    ]  # intervals: 1 -+ 4.303 / sqrt(3), and 10.5 -+ 12.71 / 2, from a table of Student's distribution


def test_comparators_and_plays_are_columns_where_they_differ():
    cells = [cell(), cell(comparator="static"), cell(comparator="static", play="sample")]
    lines = results_of(cells).table().splitlines()
    assert lines[0].split()[:4] == ["learner", "comparator", "play", "rounds"]
    assert [line.split()[1:3] for line in lines[3:-1]] == [
        ["dynamic", "weights"],
        ["static", "sample"],
        ["static", "weights"],
    ]


# Pairs


def slow_differences(results, learner, baseline):
    """Return the differences of all pairs of cells, one pair after the other."""
    records = [results.cells.record(i) for i in range(len(results.cells))]
    pairs = []
    for mine in (one for one, label in zip(records, results.learners, strict=True) if label == learner):
        for other in (one for one, label in zip(records, results.learners, strict=True) if label == baseline):
            same = all(
                getattr(mine, name) == getattr(other, name) for name in ("environment", "n_rounds", "seed", "run")
            )
            if same and not mine.error and not other.error:
                pairs.append(mine.regrets[-1] - other.regrets[-1])
    return pairs


def test_comparisons_are_means_over_pairs(swept):
    _, results = swept
    rows = results.compare("hedge", 0.9)
    assert len(rows) == 8
    assert results.unpaired("hedge") == []
    for row in rows:
        one = results.select(row.place.environment, n_rounds=row.place.n_rounds)
        pairs = slow_differences(one, row.place.learner, "hedge")
        assert row.n_pairs == row.n_cells == len(pairs) == 8
        assert row.difference == pytest.approx(slow_interval(pairs, 0.9), rel=1e-9)


def test_simultaneous_intervals_have_the_level_of_bonferroni(swept):
    _, results = swept
    rows, together = results.compare("hedge", 0.9), results.compare("hedge", 0.9, simultaneous=True)
    with_interval = [row for row in rows if not math.isnan(row.difference.low)]
    assert len(rows) == 8
    assert len(with_interval) > 1
    level = 1 - 0.1 / len(with_interval)
    for row, other, wide in zip(rows, results.compare("hedge", level), together, strict=True):
        assert wide == other
        if row in with_interval:
            assert wide.difference.high - wide.difference.low > row.difference.high - row.difference.low


def test_the_text_says_whether_intervals_are_corrected(swept):
    _, results = swept
    alone = "Each interval has the level 95 % on its own; the 8 comparisons are not corrected for their number."
    assert alone in results.comparison_text("hedge")
    together = results.comparison_text("hedge", 0.9, simultaneous=True)
    assert "All 8 intervals together have the level 90 % (Bonferroni)." in together
    single = [
        cell(name, run, regret)
        for name, power in (("hedge", 1), ("ucb1", 2))
        for run, regret in enumerate([2.0, 3.0**power])
    ]
    assert "The interval has the level 95 %." in results_of(single).comparison_text("hedge")
    equal = [cell(name, run) for name in ("hedge", "ucb1") for run in range(2)]
    assert "There is no interval." in results_of(equal).comparison_text("hedge")


def test_only_runs_of_both_learners_are_paired():
    cells = [cell("hedge", run, seed=seed, regret=run + seed) for seed in (0, 1) for run in range(4)]
    cells += [cell("ucb1", run, seed=1, regret=10.0) for run in (1, 2, 7)] + [cell("ucb1", 3, seed=1, error="x")]
    cells += [cell("ucb1", 0, seed=5, regret=99.0)]
    (row,) = results_of(cells).compare("hedge")
    assert (row.n_pairs, row.n_cells) == (2, 4)
    assert row.difference.mean == np.mean([10.0 - 2.0, 10.0 - 3.0])
    assert "2 of 4" in results_of(cells).comparison_text("hedge")


def test_a_failed_cell_of_the_baseline_has_no_partner():
    cells = [cell("hedge", 0), cell("hedge", 1, error="x"), cell("ucb1", 0, 3.0), cell("ucb1", 1, 9.0)]
    (row,) = results_of(cells).compare("hedge")
    assert (row.n_pairs, row.difference.mean) == (1, 2.0)


def test_the_verdict_says_whether_the_interval_excludes_zero():
    base = [cell("hedge", run, 0.0) for run in range(3)]
    low = [cell("low", run, -5.0 - run / 10) for run in range(3)]
    high = [cell("high", run, 5.0 + run / 10) for run in range(3)]
    wide = [cell("wide", run, 5.0 * (run - 1)) for run in range(3)]
    rows = results_of([*base, *low, *high, *wide]).compare("hedge")
    assert {row.place.learner: row.verdict for row in rows} == {"low": "lower", "high": "higher", "wide": ""}


def test_learners_in_environments_that_were_built_against_them_are_not_compared(tmp_path):
    sweep = Sweep(
        {"built": FullLow(8, 60.0, n_actions=3, mode="best-response", n_copies=2)},
        [Hedge(), FixedShare()],
        64,
        n_runs=2,
    )
    results = sweep.run(tmp_path)
    assert results.compare("hedge") == []
    ((place, reason),) = results.unpaired("hedge")
    assert (place.environment, place.learner, reason) == ("built", "fixed-share", BUILT)
    text = results.comparison_text("hedge")
    assert "There are no such pairs." in text
    assert f"fixed-share in built: {BUILT}." in text
    assert len(results.summaries()) == 2


def test_reasons_why_there_are_no_pairs():
    base = [cell("hedge", 0, deviation=2.0, movement=3.0)]
    other = cell("ucb1", 0, environment=SINUSOIDAL)
    assert results_of([*base, other]).unpaired("hedge")[0].reason == ABSENT
    assert results_of([*base, cell("ucb1", 1)]).unpaired("hedge")[0].reason == APART
    changed = cell("ucb1", 0, deviation=2.1, movement=3.0)
    assert results_of([*base, changed]).unpaired("hedge")[0].reason == CHANGED
    rounded = cell("ucb1", 0, deviation=2.0 * (1 + 1e-12), movement=math.nan)
    assert len(results_of([*base, rounded]).compare("hedge")) == 1


def test_an_unknown_baseline_is_named(swept):
    with pytest.raises(UnknownName, match=r"There is no learner 'hege' in these cells\. Did you mean 'hedge'\?"):
        swept[1].compare("hege")


# Labels and filters


def test_different_environments_and_learners_with_one_label_are_told_apart():
    constant = [{"path": {"name": "constant", "means": [0.1, x]}, "noise": {"name": "bernoulli"}} for x in (0.2, 0.3)]
    cells = [cell(environment=one, regret=x) for x, one in enumerate(constant)]
    results = results_of(cells)
    assert [row["environment"] for row in results.rows()] == ["constant, bernoulli", "constant, bernoulli #2"]
    (row,) = results.select("constant, bernoulli #2").rows()
    assert (row["environment"], row["regret"]) == ("constant, bernoulli #2", 1.0)
    same = {spec_text({"name": name}): "mine" for name in ("hedge", "ucb1")}
    both = results_of([cell("hedge"), cell("ucb1")], {"learners": same})
    assert [row["learner"] for row in both.rows()] == ["mine", "mine #2"]


def test_a_learner_that_is_not_imported_has_a_label_made_from_its_spec():
    (row,) = results_of([cell({"name": "my-learner", "rate": 2, "tuned": True})]).rows()
    assert row["learner"] == "my-learner(rate=2, tuned=True)"


def test_filters_choose_labels_patterns_and_numbers(swept):
    _, results = swept
    assert len(results.select("2 segments").cells) == 48
    assert len(results.select("*segments").cells) == 96
    assert {*results.select(learner=["hedge", "*share"]).learners} == {"hedge", "fixed-share"}
    assert {*results.select(n_rounds=[50], seed=4).cells.cells["seed"].tolist()} == {4}
    assert len(results.select(comparator="dynamic").cells) == 96


@pytest.mark.parametrize(("pattern", "matches"), [
    ("*", True), ("a*", True), ("*(b)", True), ("a*b*", True), ("a(*)", True), ("a(b)", True), ("a**b)", True),
    ("a", False), ("a?b)", False), ("[a](b)", False), ("b*a", False), ("a(b)*)", False), ("*(b)(b)", False),
])  # fmt: skip
def test_only_a_star_is_special_in_a_pattern(pattern, matches):
    results = results_of([cell()], {"learners": {spec_text({"name": "hedge"}): "a(b)"}})
    if matches:
        assert len(results.select(learner=pattern).cells) == 1
    else:
        with pytest.raises(UnknownName, match="Did you mean 'a"):
            results.select(learner=pattern)


@pytest.mark.parametrize(("wanted", "message"), [
    ({"environment": "3 segments"}, "There is no environment '3 segments' in these cells. Did you mean '2 segments'?"),
    ({"learner": "gd"}, "There is no learner 'gd' in these cells. Did you mean 'optimistic-gd (tuned)'?"),
    ({"learner": "SHARE*"}, "There is no learner 'SHARE*' in these cells. Did you mean 'fixed-share'?"),
    ({"n_rounds": 70}, "SweepResults: `n_rounds` must be one of 50, 100, got 70."),
    ({"seed": [3, 9]}, "SweepResults: `seed` must be one of 3, 4, got 9."),
    ({"seed": [[3, 4]]}, "SweepResults: `seed` must be one of 3, 4, got [3, 4]."),
    ({"learner": 5}, "SweepResults: `learner` must be a label or a list of labels, got 5."),
    ({"environment": np.int64(5)}, "SweepResults: `environment` must be a label or a list of labels, got 5."),
    ({"comparator": [None]}, "SweepResults: `comparator` must be a label or a list of labels, got [None]."),
    ({"comparator": "statc"}, "There is no comparator 'statc' in these cells. Did you mean 'dynamic'?"),
])  # fmt: skip
def test_a_filter_without_match_names_the_nearest(swept, wanted, message):
    with pytest.raises((UnknownName, InvalidInput)) as raised:
        swept[1].select(**wanted)
    assert str(raised.value) == message


def test_a_filter_is_applied_to_what_the_others_left():
    results = results_of([cell("hedge"), cell("ucb1", environment=SINUSOIDAL)])
    with pytest.raises(UnknownName, match=r"no learner 'ucb1' in these cells\. Did you mean 'hedge'"):
        results.select("switching*", "ucb1")


# Reading


def test_a_folder_is_read_without_a_change(swept):
    folder, results = swept
    before = content(folder)
    again = SweepResults.read(folder)
    assert content(folder) == before
    assert repr(again.rows()) == repr(results.rows())
    assert repr(again) == repr(results)
    assert (
        repr(again) == "SweepResults(96 cells: 2 environments, 3 learners, 2 numbers of rounds, 2 seeds, none failed)"
    )


def test_a_folder_is_read_while_another_process_fills_it(tmp_path):
    program = """
import sys
from stored_cells import cell
from driftwise.results import Store
with Store(sys.argv[1]) as store:
    for run in range(150):
        store.add([cell(run=run, regret=run)])
"""
    stored(tmp_path / "store", [])
    filler = subprocess.Popen([sys.executable, "-c", program, tmp_path / "store"], cwd=HELPERS)
    sizes = [0]
    while sizes[-1] < 150 and filler.poll() in (None, 0):
        sizes.append(len(SweepResults.read(tmp_path / "store").cells))
        time.sleep(0.01)
    assert filler.wait() == 0
    assert sizes == sorted(sizes), "cells were missing that had been there"
    assert sizes[-1] == 150


def test_a_damaged_file_is_named_and_left_where_it_is(tmp_path):
    folder = stored(tmp_path / "store", [cell()])
    stored(folder, [cell(run=1)])
    run_sql(folder, "UPDATE cells SET seed = 5 WHERE id = 2")
    before = content(folder)
    results = SweepResults.read(folder)
    assert content(folder) == before
    assert len(results.cells) == 1
    assert [file.name for file in results.damaged] == [str(folder / "cells.sqlite")]


def test_a_cell_that_was_stored_again_counts_once(tmp_path):
    curve = {"rounds": np.array([50, 100]), "regrets": np.array([0.5, 1.0]), "bounds": np.array([math.nan] * 2)}
    folder = stored(tmp_path / "store", [cell(**curve)])
    stored(folder, [cell()])  # without the curve
    results = SweepResults.read(folder)
    assert (len(results.cells), results.n_repeated, results.cells.lengths.tolist()) == (1, 1, [2])
    time.sleep(0.001)
    stored(folder, [cell(regret=7.0)])  # by a newer version
    results = SweepResults.read(folder)
    assert (results.n_repeated, results.cells.final.tolist()) == (2, [7.0])
    time.sleep(0.001)
    stored(folder, [cell(error="x")])
    assert SweepResults.read(folder).cells.final.tolist() == [7.0]


def test_a_results_file_has_its_labels_and_caveats(tmp_path):
    environment = Environment(Switching(3, 4), Bernoulli())
    played = simulate(environment, {"one": Hedge(), "two": Hedge(), "three": FixedShare.tuned}, 60, 3, seed=5)
    played.to_parquet(tmp_path / "x.parquet")
    results = SweepResults.read(tmp_path / "x.parquet")
    assert {row.place.learner: row.regret for row in results.summaries()} == {
        label: played.regret(label) for label in played.labels
    }
    assert results.select(learner="two").results().labels == ("two",)


def test_several_paths_are_read_together(tmp_path, swept):
    folder, results = swept
    simulate(Environment(Switching(2, 4), Bernoulli()), {"mine": Hedge()}, 50, 4, seed=3).to_parquet(
        tmp_path / "x.parquet"
    )
    both = SweepResults.read(folder, tmp_path / "x.parquet", folder)
    assert repr(both.rows()) == repr(results.rows())  # the cells of the file are some of those in the folder
    assert both.n_repeated == 96 + 4


def test_an_empty_store_has_no_rows(tmp_path):
    results = SweepResults.read(stored(tmp_path / "store", []))
    assert (results.rows(), results.failures(), results.table()) == ([], [], "")
    assert repr(results) == "SweepResults(no cells)"


@pytest.mark.parametrize(("make", "message"), [
    (lambda _: None, "There is no file or folder"),
    (lambda path: path.mkdir(), "is no folder of results: it has no file cells.sqlite."),
    (lambda path: path.write_text("x"), "x"),
])  # fmt: skip
def test_what_holds_no_results_is_rejected(tmp_path, make, message):
    make(tmp_path / "x")
    with pytest.raises(BadFile, match=message):
        SweepResults.read(tmp_path / "x")


def test_labels_that_are_no_text_are_left_out(tmp_path):
    folder = stored(tmp_path / "store", [cell()], learners={spec_text({"name": "hedge"}): "mine"})
    wrong = "UPDATE labels SET label = x'ff'; INSERT INTO labels VALUES ('environments', 'x', CAST(x'ff' AS TEXT))"
    run_sql(folder, wrong)
    assert SweepResults.read(folder).rows()[0]["learner"] == "hedge"


# Files


def test_csv_has_every_cell_with_equal_numbers(tmp_path):
    values = [1 / 3, -1e-17, 123456789.123456789, math.inf]
    cells = [cell(run=run, regret=x, drift=x, segments=run) for run, x in enumerate(values)]
    cells += [cell("ucb1", error='bad,\n"news"')]
    labels = {"learners": {spec_text({"name": "hedge"}): 'a,\n"b"'}}
    results_of(cells, labels).to_csv(tmp_path / "x.csv")
    with (tmp_path / "x.csv").open(newline="", encoding="utf-8") as file:
        rows = list(csv.DictReader(file))
    assert tuple(rows[0]) == CSV_COLUMNS
    assert [float(row["regret"]) for row in rows[:4]] == [float(row["drift"]) for row in rows[:4]] == values
    assert [row["segments"] for row in rows[:4]] == ["", "1", "2", "3"]
    assert [row["learner"] for row in rows] == ['a,\n"b"'] * 4 + ["ucb1"]
    assert (rows[4]["regret"], rows[4]["error"], rows[4]["bound"]) == ("", 'bad,\n"news"', "")
    assert rows[0]["environment_spec"] == spec_text(SWITCHING)
    assert [int(row["run"]) for row in rows] == [0, 1, 2, 3, 0]


@pytest.mark.parametrize(
    ("label", "field"),
    [
        ("=cmd()", "'=cmd()"),
        ("+1", "'+1"),
        ("-1+cmd()", "'-1+cmd()"),
        ("- - x", "'- - x"),
        ("@SUM(1)", "'@SUM(1)"),
        ("\t=1", "'\t=1"),
        ("\r=1", "'\r=1"),
        *((label, label) for label in ("a\rb", "\r", "a=1", "--", "hedge -1", "\0", "\u202eb", "'")),
    ],
)
def test_a_text_of_csv_is_read_back_and_is_no_formula(label, field, tmp_path):
    labels = {"learners": {spec_text({"name": "hedge"}): label}}
    results_of([cell(), cell("ucb1", regret=-2.5)], labels).to_csv(tmp_path / "x.csv")
    with (tmp_path / "x.csv").open(newline="", encoding="utf-8") as file:
        hedge, ucb1 = csv.DictReader(file)
    assert hedge["learner"] == field
    assert ucb1["regret"] == "-2.5"
    assert (tmp_path / "x.csv").read_bytes().endswith(b'}"\n')


def test_a_spec_with_half_of_a_surrogate_pair_is_refused():
    with pytest.raises(InvalidInput, match=r"^CellRecord: `learner` must be a spec as JSON text, got "):
        results_of([cell()._replace(learner='{"name": "\\ud800"}')])


def test_the_nearest_label_is_cut_in_a_message():
    with pytest.raises(UnknownName) as raised:
        results_of([cell()], {"learners": {spec_text({"name": "hedge"}): 20_000 * "x"}}).compare("xx")
    assert len(str(raised.value)) < 500


def test_texts_of_hostile_labels_have_one_line_each():
    results = hostile_results()
    text = results.table()
    assert "a\\nb" in text
    assert "x" * 3000 in text  # labels are kept whole
    assert "\u202e" not in text
    assert len(results.failures_text().splitlines()) < 200
    assert "a\\nb" in results.comparison_text("*")


@pytest.mark.parametrize(("text", "latex"), [
    (r"50 % of $x_1$ & #{}", r"50 \% of \$x\_1\$ \& \#\{\}"),
    ("a\\b^c~d", r"a\textbackslash{}b\textasciicircum{}c\textasciitilde{}d"),
    ("a -- b, ,,", "a -{}- b, ,{},"),
    ("a\nb", r"a\textbackslash{}nb"),
    ("Γ ≤ é ö Ł", r"\(\Gamma\) \(\leq\) \'{e} \"{o} \L{}"),
    ("λ中", r"\(\lambda\)U+4E2D"),
    ("[1]*", "{[}1{]}{*}"),
])  # fmt: skip
def test_special_characters_are_escaped_in_latex(text, latex):
    assert escaped(text) == latex


@pytest.mark.skipif(shutil.which("pdflatex") is None, reason="LaTeX is not installed")
@pytest.mark.parametrize(
    "look", [{}, {"caption": r"Mean regret, \(\eta = 1\)", "label": "tab:regret"}], ids=["plain", "float"]
)
def test_the_latex_table_compiles(look, tmp_path):
    hostile_results().to_latex(tmp_path / "table.tex", **look)
    main = "\\documentclass{article}\\usepackage{booktabs}\\begin{document}\\input{table}\\end{document}"
    (tmp_path / "main.tex").write_text(main)
    words = ["pdflatex", "-interaction=nonstopmode", "-halt-on-error", "main.tex"]
    done = subprocess.run(words, cwd=tmp_path, capture_output=True, check=False)
    log = (tmp_path / "main.log").read_text(errors="replace")
    assert done.returncode == 0, log[-2000:]
    assert "Missing character" not in log


def test_latex_has_a_line_for_each_row(tmp_path, swept):
    swept[1].to_latex(tmp_path / "x.tex")
    lines = (tmp_path / "x.tex").read_text().splitlines()
    rows = [line.split(" & ") for line in lines if line.count(" & ") == 6][1:]
    assert [row[0].partition("\\")[0] for row in rows] == [row["learner"] for row in swept[1].rows()]
    assert len([line for line in lines if line.startswith(r"\multicolumn")]) == 2


def test_a_store_opened_for_writing_still_moves_damaged_files(tmp_path):
    folder = stored(tmp_path / "store", [cell()])
    run_sql(folder, "UPDATE cells SET seed = 5")
    with Store(folder) as store:
        assert len(store.table()) == 0
        assert [file.name for file in store.damaged] == ["cells.sqlite"]
