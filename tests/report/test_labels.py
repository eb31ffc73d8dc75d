"""Labels of any characters are shown as they are in figures, tables and pages."""

import csv
import dataclasses
import xml.etree.ElementTree as ElementTree

import numpy as np
import pytest
from matplotlib.backends.backend_agg import FigureCanvasAgg

from driftwise import Bernoulli, Environment, Results, Switching, simulate
from driftwise.core.errors import InvalidInput
from driftwise.learners import Hedge
from driftwise.report import tables
from driftwise.report.drawing import literal
from driftwise.report.figures import save_figure
from driftwise.report.page import write_figures
from driftwise.report.regret_figures import Curve, CurvePanel, curves_figure
from driftwise.report.tables import text_table, text_width
from fake_page import fake_page

ENVIRONMENT = Environment(Switching(n_segments=2, n_actions=2), Bernoulli())
# What is given, and what a figure shows of it.
LABELS = {
    "$$": "$$",
    "$x": "$x",
    r"$\\frac{$": r"$\\frac{$",
    "_mine": "_mine",
    "": "",
    " ": " ",
    "a\nb": r"a\nb",
    "\x00\x1b[31m": r"\x00\x1b[31m",
    "<b>&amp;": "<b>&amp;",
    "--": "--",
    "漢字🙂é": "漢字🙂é",
    "long" * 500: "long" * 22 + "l…",
}


def curves(labels, n=5):
    ones, bounds = np.ones(n), (np.array([2, 5]), np.full(2, np.nan))
    return [Curve(label, np.arange(1, n + 1), ones, ones, ones, *bounds) for label in labels]


def drawn(labels):
    return curves_figure([CurvePanel(curves(labels), "regret")], title="title\nof two lines")


def legend_of(figure):
    """Return a legend's texts as they are drawn."""
    return [text.get_text().replace(r"\$", "$") for text in figure.legends[0].get_texts()]


def test_a_label_that_no_file_can_hold_is_refused():
    with pytest.raises(InvalidInput) as caught:
        simulate(ENVIRONMENT, {"\udcff": Hedge()}, n_rounds=3)
    assert str(caught.value) == r"simulate: `learners` must have text for labels, got '\udcff'."


def test_a_legend_shows_every_label_as_it_is():
    assert legend_of(drawn(LABELS)) == list(LABELS.values())


@pytest.mark.parametrize("label", LABELS, ids=ascii)
@pytest.mark.parametrize("suffix", ["png", "svg", "pdf"])
def test_a_figure_is_drawn_whatever_its_labels(label, suffix, tmp_path):
    results = simulate(ENVIRONMENT, {label: Hedge(), "other": Hedge()}, n_rounds=8, n_runs=2)
    results.plot(tmp_path / f"figure.{suffix}")
    if suffix == "svg":
        ElementTree.parse(tmp_path / "figure.svg")


def test_a_dollar_is_not_a_formula():
    figure = drawn(["$x$"])
    FigureCanvasAgg(figure).draw()
    text = figure.legends[0].get_texts()[0]
    assert text._preprocess_math(text.get_text())[1] is False


def test_many_labels_leave_room_for_the_curves(tmp_path):
    figure = drawn([f"learner {i}" for i in range(80)])
    save_figure(figure, tmp_path / "many.png")  # a figure without room would warn
    assert figure.axes[0].get_window_extent().height > 200


def test_exported_figures_show_every_label_as_it_is(tmp_path):
    page = fake_page()
    series = [dataclasses.replace(page.panels[0].series[0], label=label) for label in LABELS]
    panel = dataclasses.replace(page.panels[0], series=series)
    history = dataclasses.replace(page.histories[0], learner="_$\n", what="$")
    files = write_figures(tmp_path, dataclasses.replace(page, panels=[panel], histories=[history]))
    for file in files:
        ElementTree.parse(file)


def test_a_table_keeps_its_lines_and_columns():
    table = text_table(["learner", "regret"], [[label, "1.0"] for label in LABELS]).split("\n")
    assert len(table) == 2 + len(LABELS)
    wide = text_table(["a", "b"], [["漢字", "1"], ["e\u0301", "2"], ["abcd", "3"]]).splitlines()
    assert wide[2:] == ["漢字  1", "e\u0301     2", "abcd  3"]


@pytest.mark.parametrize("text", ["漢" * 100_000, "e\u0301" * 100_000, "x" * 100_000])
def test_a_label_of_any_length_is_cut_once(text, monkeypatch):
    calls = []
    monkeypatch.setattr(tables, "text_width", lambda part, width=text_width: calls.append(len(part)) or width(part))
    short = tables.shortened(text, 30)
    assert short.endswith("…")
    assert 29 <= text_width(short) <= 30
    assert sum(calls) <= 2 * len(text)


def test_curves_of_strange_labels_are_read_back_from_csv(tmp_path):
    results = simulate(ENVIRONMENT, dict.fromkeys(LABELS, Hedge()), n_rounds=3, n_runs=1)
    results.to_csv(tmp_path / "curves.csv")
    with (tmp_path / "curves.csv").open(newline="", encoding="utf-8") as file:
        rows = list(csv.DictReader(file))
    assert [row["learner"] for row in rows] == [label for label in LABELS for _ in range(3)]
    assert [float(row["regret"]) for row in rows] == results.regrets.ravel().tolist()


def test_results_are_saved_as_parquet_and_csv(tmp_path):
    results = simulate(ENVIRONMENT, Hedge(), n_rounds=3, n_runs=1)
    results.save(tmp_path / "a.parquet")
    results.save(tmp_path / "a.csv")
    assert Results.from_parquet(tmp_path / "a.parquet").labels == ("hedge",)
    assert (tmp_path / "a.csv").read_text().startswith("learner,run,round,regret\nhedge,0,1,")


def test_a_title_keeps_its_non_breaking_spaces():
    assert literal("Γ\u00a0=\u00a04,\nT", 20) == "Γ\u00a0=\u00a04,\\nT"
