"""`driftwise results`: what it prints and writes, and its page in a browser."""

from __future__ import annotations

import csv
import json
import math

import numpy as np
import pytest
from selenium.webdriver.common.by import By
from selenium.webdriver.support.select import Select

from browser import browser, requests
from command_line import runner
from driftwise import Bernoulli, Environment, FixedShare, Hedge, Sweep, SweepResults, Switching, simulate
from driftwise.core.errors import InvalidInput
from driftwise.glossary import COLUMNS_NOTE
from driftwise.registry import spec_text
from driftwise.report.page import Axis, Line, Page, Panel, RowPanel, Series, write_page
from driftwise.report.page.write import page_text
from driftwise.report.tables import number
from driftwise.results.summaries import mean_curve
from driftwise.sweeps.results_page import results_page
from store_examples import run_sql
from stored_cells import HOSTILE, SINUSOIDAL, cell, content, hostile_results, results_of, stored

ENVIRONMENTS = {f"{n} segments": Environment(Switching(n, 4), Bernoulli()) for n in (2, 8)}


@pytest.fixture
def driftwise(monkeypatch, capsys, tmp_path):
    """Run a command line in this process, in an empty folder."""
    return runner(monkeypatch, capsys, tmp_path)


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """Return a folder with two environments, two learners and two numbers of rounds."""
    folder = tmp_path_factory.mktemp("sweep") / "store"
    Sweep(ENVIRONMENTS, [Hedge(), FixedShare()], [50, 100], n_runs=3, seed=[3, 4]).run(folder)
    return folder


@pytest.fixture(scope="module")
def curves(tmp_path_factory):
    """Return a folder with curves of one number of rounds."""
    folder = tmp_path_factory.mktemp("curves") / "store"
    Sweep(ENVIRONMENTS, [Hedge(), FixedShare()], 200, n_runs=3, curves=True).run(folder)
    return folder


# Printing


def test_the_listing_has_counts_and_the_table(driftwise, folder):
    before = content(folder)
    code, out, err = driftwise("results", folder)
    results = SweepResults.read(folder)
    assert (code, err) == (0, "")
    counts = "48 cells: 2 environments, 2 learners, 2 numbers of rounds, 2 seeds, none failed"
    assert out == f"{counts}\n\n{results.table()}\n\n{COLUMNS_NOTE}\n"
    assert max(map(len, out.splitlines())) <= 100
    for row in results.rows():
        line = [line for line in out.splitlines() if number(row["low"]) in line and number(row["high"]) in line]
        assert line[0].split()[:4] == [row["learner"], str(row["n_rounds"]), "6", number(row["regret"])]
    assert content(folder) == before


def test_filters_choose_rows(driftwise, folder):
    words = ("--environment", "2*", "--learner", "hedge", "--rounds", 100, "--seed", 4, "--comparator", "dynamic")
    code, out, err = driftwise("results", folder, *words)
    assert (code, err) == (0, "")
    assert out.startswith("3 cells: 1 environment, 1 learner, 1 number of rounds, 1 seed, none failed\n")
    assert len(out.splitlines()) == 8


@pytest.mark.parametrize(("words", "code", "message"), [
    (["--learner", "fixed share"], 2, "There is no learner 'fixed share' in these cells. Did you mean 'fixed-share'?"),
    (["--rounds", "7"], 2, "SweepResults: `n_rounds` must be one of 50, 100, got 7."),
    (["--against", "hdge"], 2, "There is no learner 'hdge' in these cells. Did you mean 'hedge'?"),
    (["--csv", "."], 1, "Cannot write .: Is a directory."),
    (["--figure", "x.gif"], 2, "figure: `path` must end in .png, .svg, .pdf, got 'x.gif'."),
    (["--csv", "x", "--curves", "x"], 2, "results: x is also written by the same command; write to another file."),
    (["--csv", "x", "--latex", "x"], 2, "results: x is also written by the same command; write to another file."),
])  # fmt: skip
def test_wrong_options_are_one_line(driftwise, folder, words, code, message):
    found = driftwise("results", folder, *words)
    assert (found.code, found.out, found.err.count("\n")) == (code, "", 1)
    assert message in found.err


def test_outputs_are_checked_before_anything_is_read(driftwise, tmp_path):
    (tmp_path / "x.parquet").write_text("not read")
    found = driftwise("results", "x.parquet", "--csv", "x.parquet")
    assert found.err == "driftwise: results: x.parquet is read by the same command; write to another file.\n"


def test_missing_paths_and_other_folders_are_errors(driftwise, tmp_path):
    assert driftwise("results", "nowhere") == (1, "", "driftwise: There is no file or folder nowhere.\n")
    (tmp_path / "other").mkdir()
    assert "other is no folder of results" in driftwise("results", "other").err


def test_an_empty_store_has_no_cells(driftwise, tmp_path):
    stored(tmp_path / "store", [])
    words = ("--csv", "x.csv", "--latex", "x.tex", "--page", "x.html", "--quiet")
    assert driftwise("results", "store", *words) == (0, "no cells\n", "")
    assert (tmp_path / "x.csv").read_text().count("\n") == 1
    assert "no cells" in (tmp_path / "x.html").read_text()
    found = driftwise("results", "store", "--learner", "hedge").err
    assert found == "driftwise: There is no learner 'hedge' in these cells. There are none.\n"


def test_a_damaged_file_is_a_note(driftwise, tmp_path):
    stored(tmp_path / "store", [cell()])
    stored(tmp_path / "store", [cell(run=1)])
    run_sql(tmp_path / "store", "UPDATE cells SET seed = 5 WHERE id = 2")
    code, out, err = driftwise("results", "store")
    assert code == 0
    assert out.startswith("1 cell: ")
    assert err == "driftwise: store/cells.sqlite: 1 of its rows is damaged; its other cells were read.\n"
    assert driftwise("results", "store", "--quiet").err == ""


def test_repeated_cells_are_a_note(driftwise, tmp_path):
    stored(tmp_path / "store", [cell(), cell(regret=2.0)])
    assert driftwise("results", "store").err == ("driftwise: left out 1 cell that repeats a run of the same learner.\n")


def test_a_file_of_simulate_is_listed_as_simulate_prints_it(driftwise, tmp_path):
    played = simulate(ENVIRONMENTS["2 segments"], {"mine": Hedge(), "other": FixedShare.tuned}, 60, 3, seed=5)
    played.to_parquet(tmp_path / "x.parquet")
    found = json.loads(driftwise("results", "x.parquet", "--json").out)["rows"]
    rows = {row["learner"]: row for row in played.rows()}
    assert len(found) == 2
    for row in found:
        assert {name: row[name] for name in ("regret", "low", "high")} == pytest.approx(
            {name: rows[row["learner"]][name] for name in ("regret", "low", "high")}, rel=1e-12
        )


def test_against_prints_the_paired_comparison(driftwise, folder):
    code, out, _ = driftwise("results", folder, "--against", "hedge")
    results = SweepResults.read(folder)
    assert code == 0
    assert results.comparison_text("hedge") in out
    (row, *_) = results.compare("hedge")
    assert number(row.difference.mean) in out
    assert "2 segments\n" in out


def test_simultaneous_intervals_are_printed_drawn_and_repeated(driftwise, folder, tmp_path):
    words = ("--against", "hedge", "--simultaneous")
    code, out, _ = driftwise("results", folder, *words, "--page", "x.html", "--quiet")
    results = SweepResults.read(folder)
    assert code == 0
    assert results.comparison_text("hedge", simultaneous=True) in out
    page = (tmp_path / "x.html").read_text()
    assert "All 4 intervals together have the level 95 % (Bonferroni)." in page
    assert "--against hedge --simultaneous --page x.html" in page
    record = json.loads(driftwise("results", folder, *words, "--json").out)
    wide = results.compare("hedge", simultaneous=True)
    assert record["simultaneous"] is True
    assert [row["low"] for row in record["comparisons"]] == [row.difference.low for row in wide]
    refused = driftwise("results", folder, "--simultaneous")
    assert (refused.code, "--simultaneous is about the intervals of --against" in refused.err) == (2, True)


def test_failed_lists_cells_with_their_errors(driftwise, tmp_path):
    cells = [cell(run=run, error="FixedShare: no.") for run in (0, 1, 2, 5)] + [cell(run=3)]
    cells += [cell("ucb1", environment=SINUSOIDAL, error="word " * 60)]
    stored(tmp_path / "store", cells)
    code, out, _ = driftwise("results", "store", "--failed")
    assert code == 0
    assert out.splitlines()[0].endswith("5 failed")
    assert "hedge    100     0     0-2, 5  FixedShare: no." in out
    assert max(map(len, out.splitlines())) <= 100
    assert out.count("word") == 60
    found = json.loads(driftwise("results", "store", "--failed", "--json").out)
    assert {(one["learner"], one["run"]) for one in found["failures"]} == {
        *(("hedge", i) for i in (0, 1, 2, 5)),
        ("ucb1", 0),
    }
    assert len(found["failures"]) == found["n_failed"] == 5
    stored(tmp_path / "other", [cell()])
    assert driftwise("results", "other", "--failed").out.endswith("\n\nNo cell failed.\n")


def test_json_has_the_rows_and_no_nan(driftwise, folder):
    def refuse(word):
        raise AssertionError(f"{word} is not JSON")

    code, out, _ = driftwise("results", folder, "--json", "--against", "hedge", "--confidence", 0.9)
    found = json.loads(out, parse_constant=refuse)
    results = SweepResults.read(folder)
    assert (code, found["n_cells"], found["n_failed"], found["confidence"]) == (0, 48, 0, 0.9)
    for row, expected in zip(found["rows"], results.rows(0.9), strict=True):
        known = {name: value for name, value in expected.items() if value == value}
        assert {name: row[name] for name in known} == known
        assert all(row[name] is None for name in expected.keys() - known.keys())
    assert len(found["comparisons"]) == 4
    assert found["comparisons"][0]["mean"] == results.compare("hedge", 0.9)[0].difference.mean


# Files


def test_all_files_are_written(driftwise, folder, tmp_path):
    words = ("--csv", "x.csv", "--latex", "x.tex", "--page", "x.html", "--learner", "hedge")
    code, _, err = driftwise("results", folder, *words)
    assert (code, err) == (0, "wrote x.csv\nwrote x.tex\nwrote x.html\n")
    with (tmp_path / "x.csv").open(newline="") as file:
        rows = list(csv.DictReader(file))
    results = SweepResults.read(folder).select(learner="hedge")
    assert [float(row["regret"]) for row in rows] == results.cells.final.tolist()
    assert r"\toprule" in (tmp_path / "x.tex").read_text()
    page = (tmp_path / "x.html").read_text()
    assert f"driftwise results {folder} --learner hedge --page x.html" in page
    assert {path.name for path in tmp_path.iterdir()} == {"x.csv", "x.tex", "x.html"}


def test_a_figure_and_a_heat_map_are_written(driftwise, folder, tmp_path):
    code, _, err = driftwise("results", folder, "--figure", "x.svg", "--scale", "linear")
    assert (code, err) == (0, "wrote x.svg\n")
    SweepResults.read(folder).plot(tmp_path / "y.svg", scale="linear")
    assert (tmp_path / "x.svg").read_bytes() == (tmp_path / "y.svg").read_bytes()
    words = ("--heat-map", "n_segments", "n_rounds", "--figure")
    refused = driftwise("results", folder, *words, "x.png").err
    assert "must have one mean for n_segments = 2 and n_rounds = 50, got those of " in refused
    assert not (tmp_path / "x.png").exists()
    assert driftwise("results", folder, "--learner", "hedge", *words, "x.png").code == 0
    assert (tmp_path / "x.png").exists()
    refused = driftwise("results", folder, *words[:3])
    assert (refused.code, "--heat-map is about the figure of --figure FILE." in refused.err) == (2, True)


def test_curves_are_written_with_a_line_for_each_marked_round(driftwise, curves, tmp_path):
    assert driftwise("results", curves, "--curves", "x.csv", "--environment", "2*").err == "wrote x.csv\n"
    with (tmp_path / "x.csv").open(newline="") as file:
        rows = list(csv.DictReader(file))
    one = SweepResults.read(curves).select(environment="2 segments").results()
    for label, regrets, bounds in zip(one.labels, one.regrets, one.bounds, strict=True):
        for run in range(one.n_runs):
            lines = [row for row in rows if (row["learner"], row["run"]) == (label, str(run))]
            assert [int(line["round"]) for line in lines] == one.rounds.tolist()
            assert [float(line["regret"]) for line in lines] == regrets[run].tolist()
            known = [float(line["bound"]) for line in lines if line["bound"]]
            assert known == bounds[run][~np.isnan(bounds[run])].tolist()
    assert {row["environment"] for row in rows} == {"2 segments"}


def test_hostile_labels_are_printed_and_written(driftwise, tmp_path):
    results = hostile_results()
    cells = [results.cells.record(i) for i in range(len(results.cells))]
    stored(tmp_path / "store", cells, results.labels["environments"], results.labels["learners"])
    words = ("--csv", "x.csv", "--latex", "x.tex", "--page", "x.html", "--against", "*", "--failed")
    code, out, _ = driftwise("results", "store", *words)
    assert code == 0
    assert "\u202e" not in out
    page = (tmp_path / "x.html").read_text()
    assert "<script>alert" not in page
    with (tmp_path / "x.csv").open(newline="", encoding="utf-8") as file:
        assert {row["learner"] for row in csv.DictReader(file)} == {*HOSTILE}


# The page


def test_several_numbers_of_rounds_are_curves_on_logarithmic_axes(folder):
    results = SweepResults.read(folder)
    page = results_page(results)
    assert [panel.title for panel in page.panels] == ["2 segments", "8 segments"]
    assert {(type(panel), panel.x.scale, panel.y.scale) for panel in page.panels} == {(Panel, "log", "log")}
    rows = {(row["environment"], row["learner"], row["n_rounds"]): row for row in results.rows()}
    for panel in page.panels:
        for one in panel.series:
            assert one.x == [50.0, 100.0]
            for x, *numbers in zip(one.x, one.mean, one.low, one.high, strict=True):
                row = rows[panel.title, one.label, x]
                assert numbers == [row["regret"], row["low"], row["high"]]
    assert {panel.x.scale for panel in results_page(results, scale="linear").panels} == {"linear"}


def test_a_regret_below_zero_makes_axes_linear():
    cells = [cell(regret=x, n_rounds=n) for x, n in ((-1.0, 100), (2.0, 200))]
    assert results_page(results_of(cells)).panels[0].y.scale == "linear"


def test_one_number_of_rounds_is_a_row_per_learner_and_curves_are_means(curves):
    results = SweepResults.read(curves)
    page = results_page(results)
    assert [type(panel) for panel in page.panels] == [RowPanel] * 2 + [Panel] * 2
    rows, lines = page.panels[0], page.panels[2]
    assert (rows.title, lines.title) == ("2 segments, 200 rounds", "2 segments, 200 rounds")
    means = [one.mean[0] for one in rows.series]
    assert means == sorted(means)
    for one in lines.series:
        chosen = results.select("2 segments", one.label).cells
        regrets = chosen.regret.reshape(3, -1)
        at = [chosen.record(0).rounds.tolist().index(x) for x in one.x]
        assert len(one.x) <= 40
        assert one.x[-1] == 200
        np.testing.assert_allclose(one.mean, regrets.mean(axis=0)[at], rtol=1e-12)
        half = 4.302652729749464 * regrets.std(axis=0, ddof=1)[at] / math.sqrt(3)  # Student, 2 degrees, 97.5 %
        np.testing.assert_allclose(np.subtract(one.high, one.low), 2 * half, rtol=1e-9, atol=1e-12)


def test_cells_without_a_curve_are_left_out_of_a_mean_curve():
    curve = {"rounds": np.array([1, 100]), "bounds": np.array([math.nan] * 2)}
    cells = [cell(run=run, regrets=np.array([0.0, run]), **curve) for run in (0, 1)] + [cell(run=2, regret=50.0)]
    table = results_of(cells).cells
    found = mean_curve(table, np.arange(3))
    assert (found.rounds.tolist(), found.mean.tolist(), found.n_cells) == ([1, 100], [0.0, 0.5], 2)
    assert mean_curve(table, np.array([2])) is None


def test_the_baseline_is_grey_and_its_differences_are_in_the_table(folder):
    results = SweepResults.read(folder)
    page = results_page(results, against="hedge")
    assert {one.group for one in page.panels[0].series if one.label == "hedge"} == {"Baseline"}
    shown = [cell.value for cell in page.table.column("difference")]
    assert sorted(x for x in shown if x == x) == sorted(row.difference.mean for row in results.compare("hedge"))


def test_a_row_panel_has_one_point_per_series_and_no_lines():
    one = Series("hedge", "", [1.0], [2.0], [1.0], [3.0])
    axes = Axis("rounds"), Axis("regret")
    with pytest.raises(InvalidInput, match="RowPanel: `series` must be of one point each"):
        RowPanel("x", "", "", *axes, [Series("hedge", "", [1, 2], [1, 2], [1, 2], [1, 2])])
    with pytest.raises(InvalidInput, match="RowPanel: `lines` must be absent"):
        RowPanel("x", "", "", *axes, [one], [Line("T", "upper", [1.0], [1.0])])
    missing = Series("nothing", "", [1.0], [math.nan], [math.nan], [math.nan])
    text = page_text(Page("", panels=[RowPanel("x", "", "title", *axes, [one, missing])]))
    chart = text[text.index('<svg class="chart"') :]
    assert (chart.count('class="whisker"'), chart.count("<title>")) == (1, 1)
    assert "Not shown: 1 of the values, which are missing." in text


@pytest.mark.parametrize("dark", [False, True])
def test_the_page_works_in_a_browser(tmp_path, folder, curves, dark):
    pages = {
        "folder": results_page(SweepResults.read(folder), ["driftwise results"], against="hedge"),
        "curves": results_page(SweepResults.read(curves)),
        "hostile": results_page(hostile_results(), against="*"),
    }
    with browser(tmp_path / "profile", dark=dark) as chrome:
        for name, page in pages.items():
            path = tmp_path / f"{name}.html"
            write_page(path, page)
            for width in (390, 1280):
                size = {"width": width, "height": 900, "deviceScaleFactor": 1, "mobile": width < 500}
                chrome.execute_cdp_cmd("Emulation.setDeviceMetricsOverride", size)
                requests(chrome)
                chrome.get(path.as_uri())
                assert chrome.execute_script("return document.documentElement.scrollWidth") <= width
                assert chrome.get_log("browser") == []
                assert {url.split("#")[0] for url in requests(chrome)} <= {path.as_uri(), "data:,"}
            chooser = Select(chrome.find_element(By.ID, "filter"))
            assert len(chooser.options) == 1 + len({*page.table.column("environment")})
            chooser.select_by_index(1)
            shown = [row for row in chrome.find_elements(By.CSS_SELECTOR, ".measured tbody tr") if row.is_displayed()]
            assert len(shown) == page.table.column("environment").count(page.table.column("environment")[0])
            assert len(chrome.find_elements(By.CSS_SELECTOR, "figure.panel")) == len(page.panels)


def test_labels_of_specs_are_those_of_the_store(driftwise, tmp_path):
    labels = {spec_text({"name": "unknown-learner"}): "my own"}
    stored(tmp_path / "store", [cell("unknown-learner")], learners=labels)
    assert "  my own" in driftwise("results", "store").out
