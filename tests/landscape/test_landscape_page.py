"""The measured Table 1 as output: on a page, as weight histories, and by the command."""

from __future__ import annotations

import html
import math
import re
import shlex
import sys

import numpy as np
import pytest

from driftwise.adversaries import Adversary
from driftwise.cli.landscape import _CELLS, command
from driftwise.cli.main import main
from driftwise.landscape import scans
from driftwise.landscape.outcomes import Outcome, rates
from driftwise.landscape.pages import GROUPS, weight_histories
from driftwise.landscape.scans import CELLS, ROLES, select_scans
from driftwise.learners import Hedge
from driftwise.report.page import Page
from driftwise.sweeps import batches
from tiny_landscape import TINY, tiny_landscape

PLAYING = {"full-switching": ["optimistic-gd", "cbce", "hedge"], "bandit-drifting": ["rerun-ucbv", "ucb1"]}
SMALL = ("landscape", "--cell", "full-drifting", "--learners", "restarted-adaptive-gd,hedge", "--out", "out")


@pytest.fixture(scope="module")
def measured(tmp_path_factory: pytest.TempPathFactory) -> tuple[list[Outcome], Page]:
    names = [name for players in PLAYING.values() for name in players]
    return tiny_landscape(tmp_path_factory.mktemp("measurements"), list(PLAYING), names)


@pytest.fixture
def driftwise(monkeypatch, capsys, tmp_path):
    """Run a command line in this process and an empty folder, with few measurements; return exit code and output."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setitem(scans.PRESETS, "quick", TINY)

    def run(*words):
        monkeypatch.setattr(sys, "argv", ["driftwise", *words])
        with pytest.raises(SystemExit) as left:
            main()
        return left.value.code, *capsys.readouterr()

    return run


# pages


def test_every_outcome_has_a_line_and_a_curve_with_its_numbers(measured):
    outcomes, page = measured
    curves = [(panel, curve) for panel in page.panels for curve in panel.series]
    assert len(outcomes) == len(page.table.rows) == len(curves)
    for outcome, row, (panel, curve) in zip(outcomes, page.table.rows, curves, strict=True):
        environment, learner, axis, upper, lower, exponent, _ = row
        assert panel.key == outcome.scan.key
        assert environment == (CELLS[outcome.scan.cell], panel.title, "")
        assert panel.section.lower() == environment.text
        assert learner.text == curve.label == outcome.participant.label
        assert curve.group == GROUPS[outcome.participant.role].name
        assert learner.small == curve.group.lower()
        assert axis == outcome.scan.axis
        assert (upper, lower) == tuple(rate.text for rate in rates(outcome.scan.cell))
        assert exponent == curve.exponent == outcome.exponent
        assert curve.x == outcome.x
        assert list(curve.mean) == [float(measurement.regrets.mean()) for measurement in outcome.measurements]
        for measurement, low, mean, high in zip(outcome.measurements, curve.low, curve.mean, curve.high, strict=True):
            equal = (measurement.regrets == measurement.regrets[0]).all()
            assert (math.isnan(low) and math.isnan(high)) if equal else low <= mean <= high


def test_every_role_has_a_group_in_the_same_order(measured):
    assert list(GROUPS) == list(ROLES)
    assert list(measured[1].groups) == list(GROUPS.values())


def test_a_cell_without_participants_is_not_on_the_page(measured):
    assert {panel.section.lower() for panel in measured[1].panels} == {CELLS[cell] for cell in PLAYING}


def test_bounds_are_drawn_where_they_are_below_t(measured):
    outcomes, page = measured
    for panel in page.panels:
        first = next(outcome for outcome in outcomes if outcome.scan.key == panel.key)
        upper, lower = rates(first.scan.cell)
        useful = [
            y if y < measurement.n_rounds else math.nan
            for y, measurement in zip(first.upper, first.measurements, strict=True)
        ]
        expected = [] if np.isnan(useful).all() else [(upper.text, "upper", useful)]
        for line, (text, kind, y) in zip(panel.lines, [*expected, (lower.text, "lower", first.lower)], strict=True):
            assert (line.label, line.kind) == (text, kind)
            np.testing.assert_array_equal(line.y, y)
    assert {len(panel.lines) for panel in page.panels} == {1, 2}


def test_against_an_adversary_the_lower_bound_is_its_guarantee(measured):
    for outcome in measured[0]:
        if isinstance(outcome.scan.setting(outcome.scan.values[0]).source, Adversary):
            sources = [outcome.scan.setting(value) for value in outcome.scan.values]
            assert outcome.lower == [source.guarantee(n_rounds) for source, n_rounds in sources]


def test_letters_and_roots_are_not_spelled_out_on_the_page(measured):
    page = measured[1]
    words = [
        page.subtitle,
        *page.notes,
        *(panel.title for panel in page.panels),
        *(t.title for t in page.histories),
    ]
    words += [part for claim in page.claims for part in (claim.text, *(what for what, _ in claim.figures))]
    assert not [text for text in words if re.search("Gamma|Lambda|sqrt", text)]


# weights over time


def test_a_learner_of_the_paper_is_shown_beside_a_baseline_in_every_kind_of_environment(measured):
    shown = {}
    for history in measured[1].histories:
        shown.setdefault(history.title.replace("\u00a0", " "), []).append(history.learner)
    assert shown == {
        "Switching, two-point noise; Γ = 4, Λ = 50, T = 4000": ["optimistic-gd", "hedge"],
        "Theorem 4.2 with noise, random favourites; T = 3000, Γ = 4, Λ = 50": ["optimistic-gd", "hedge"],
        "Sinusoid, Bernoulli; 3 periods, T = 4000": ["rerun-ucbv", "ucb1"],
        "Theorem 4.1, as in its proof, against each learner; budget V = 4, Λ = 0, T = 4000":
            ["rerun-ucbv", "ucb1"],
    }  # fmt: skip


def test_a_parameter_free_learner_is_shown_alone():
    found = weight_histories(select_scans(TINY, ["full-drifting"], ["cbce"]), seed=1)
    assert [history.learner for history in found] == ["cbce", "cbce"]


def test_the_weights_of_every_interval_sum_to_one(measured):
    for history in measured[1].histories:
        np.testing.assert_allclose(np.sum(history.weights, axis=0), 1.0, atol=1e-9)
        assert history.what == ("weight" if history.learner in PLAYING["full-switching"] else "share")
        assert len(history.rounds) == 250


def test_a_weight_history_has_mean_weights_and_the_best_action_in_the_middle():
    (scan,) = [one for one in select_scans(TINY, ["full-switching"], ["hedge"]) if one.key == "full-switching-rounds"]
    (history,) = weight_histories([scan], seed=3)
    environment, n_rounds = scan.setting(scan.shown)
    block = environment.start(n_rounds, 3).draw(n_rounds)
    weights = Hedge().run(Hedge().start(environment.n_actions, 3), block.losses)
    for i in (0, 100, 249):
        stretch = slice(16 * i, 16 * i + 16)
        np.testing.assert_allclose([w[i] for w in history.weights], weights[stretch].mean(axis=0), atol=1e-12)
        assert history.best[i] == block.means[16 * i + 8].argmin()
    changes = [t for t in range(1, n_rounds) if (block.means[t] != block.means[t - 1]).any()]
    assert history.change_points == changes


def test_a_weight_history_with_too_many_changes_shows_none():
    (drifting,) = [one for one in select_scans(TINY, ["full-drifting"], ["hedge"]) if one.key == "full-drifting-rounds"]
    assert [list(history.change_points) for history in weight_histories([drifting], seed=1)] == [[]]


# the command


def test_the_page_is_at_the_path_that_is_printed(driftwise, tmp_path):
    code, out, err = driftwise(*SMALL)
    assert (code, err) == (0, "")
    assert out.splitlines()[-1] == "page: out/quick-selection.html"
    text = (tmp_path / "out" / "quick-selection.html").read_text(encoding="utf-8")
    assert text.startswith("<!DOCTYPE html>")
    assert 'id="full-drifting-low"' in text
    assert 'id="history-full-drifting-rounds-hedge"' in text
    printed, shown = (
        re.findall("^(holds|DOES NOT HOLD): ", out, re.MULTILINE),
        re.findall('class="verdict (.*?)"', text),
    )
    assert ["holds" if word == "holds" else "fails" for word in printed] == shown
    assert len(shown) == 1


def test_a_second_run_plays_nothing_and_writes_the_same_bytes(driftwise, tmp_path, monkeypatch):
    page = tmp_path / "out" / "quick-selection.html"
    first = driftwise(*SMALL, "--threads", "1"), page.read_bytes()
    monkeypatch.setattr(batches, "play_run", lambda *_: pytest.fail("played again"))
    assert (driftwise(*SMALL), page.read_bytes()) == first


def test_the_page_does_not_depend_on_threads_or_folders(driftwise, tmp_path):
    pages = []
    for n_threads in ("1", "2"):
        driftwise(*SMALL[:-1], n_threads, "--threads", n_threads, "--quiet")
        pages.append((tmp_path / n_threads / "quick-selection.html").read_bytes())
    assert pages[0] == pages[1]


def test_figures_are_written_as_svg(driftwise, tmp_path):
    words = ["landscape", "--cell", "full-drifting", "--learners", "hedge", "--out", "out", "--figures"]
    code, out, _ = driftwise(*words)
    assert code == 0
    assert out.splitlines()[-2:] == ["figures: out/quick-selection-figures", "page: out/quick-selection.html"]
    keys = ["full-drifting-drift", "full-drifting-low", "full-drifting-rounds", "full-drifting-variance"]
    keys += ["history-full-drifting-low-hedge", "history-full-drifting-rounds-hedge"]
    files = sorted((tmp_path / "out" / "quick-selection-figures").iterdir())
    assert [file.name for file in files] == [f"{key}.svg" for key in keys]


def test_a_selection_does_not_replace_the_page_of_the_whole(monkeypatch, tmp_path):
    written = []
    monkeypatch.setattr("driftwise.landscape.outcomes.measure", lambda *_: [])
    monkeypatch.setattr("driftwise.landscape.pages.weight_histories", lambda *_: [])
    monkeypatch.setattr("driftwise.report.page.write_page", lambda path, _, **__: written.append(path.name))
    for words in ([], ["--preset", "full"], ["--cell", "full-drifting"], ["--learners", "hedge"]):
        command.main(["--out", str(tmp_path), *words], standalone_mode=False)
    assert written == ["quick.html", "full.html", "quick-selection.html", "quick-selection.html"]


@pytest.mark.parametrize(
    "words",
    [
        [],
        ["--preset", "standard", "--seed", "7"],
        ["--cell", "full-drifting", "--cell", "bandit-drifting", "--cell", "full-drifting"],
        ["--learners", "restarted-adaptive-gd, hedge"],
    ],
    ids=["defaults", "preset", "cells", "spaces"],
)
def test_the_command_on_the_page_rebuilds_the_call(words, monkeypatch, tmp_path):
    found = []
    monkeypatch.setattr("driftwise.landscape.outcomes.measure", lambda *_: [])
    monkeypatch.setattr("driftwise.landscape.pages.weight_histories", lambda *_: [])
    monkeypatch.setattr("driftwise.report.page.write_page", lambda _, page, **__: found.append(page))
    command.main(["--out", str(tmp_path), *words], standalone_mode=False)
    name, verb, *again = shlex.split(found[0].commands[0])
    assert (name, verb) == ("driftwise", "landscape")
    one, other = (command.make_context("landscape", list(given)).params for given in (words, again))
    assert dict.fromkeys(one.pop("cells")) == dict.fromkeys(other.pop("cells"))
    assert one == other


def test_the_command_on_the_page_is_the_one_that_was_given(driftwise, tmp_path):
    driftwise("landscape", "--cell", "full-drifting", "--learners", " hedge", "--out", "out")
    (shown,) = re.findall(
        "<pre><code>(.*?)</code>", (tmp_path / "out" / "quick-selection.html").read_text(encoding="utf-8")
    )
    assert html.unescape(shown) == (
        "driftwise landscape --preset quick --cell full-drifting --learners ' hedge' --seed 1"
    )


def test_the_command_has_every_cell():
    assert list(_CELLS) == list(CELLS)


def test_it_needs_neither_pyarrow_nor_matplotlib(driftwise, monkeypatch):
    for package in ("pyarrow", "matplotlib"):
        monkeypatch.setitem(sys.modules, package, None)
    assert driftwise(*SMALL, "--figures")[0] == 0


def test_a_file_in_the_place_of_the_folder_is_named(driftwise, tmp_path):
    (tmp_path / "out").touch()
    assert driftwise(*SMALL) == (1, "", "driftwise: Cannot write out/quick-selection.html: Not a directory.\n")
