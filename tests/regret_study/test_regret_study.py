"""The regret study: cells that do not change, scores with known answers, runs that are added and stored."""

import contextlib
import csv
import hashlib
import math
from collections import Counter

import click
import numpy as np
import pytest

from command_line import runner
from driftwise.adversaries import Adversary, BanditLow
from driftwise.core.docstrings import described
from driftwise.core.errors import DriftwiseError, InvalidInput, UnknownName
from driftwise.core.measures import Measures
from driftwise.engine import simulate
from driftwise.environments import Bernoulli, Environment, Switching
from driftwise.learners import DEFAULT_LEARNERS, FixedShare, Hedge, Player, Squint, learners
from driftwise.regret_study import study
from driftwise.regret_study.study import (
    PRESETS,
    CellRegrets,
    CellScore,
    Effort,
    Score,
    StudyPreset,
    best_tuned,
    measure_cells,
    offset,
    run_study,
    score,
    select_cells,
)
from driftwise.regret_study.study_design import (
    HALVES,
    KINDS,
    LONG,
    NEARLY_UNIFORM,
    ScoredLearner,
    StudyCell,
    cells,
    chosen_learners,
    quick_cells,
    scored_learners,
    tuned_learners,
)
from driftwise.regret_study.study_report import (
    CSV_COLUMNS,
    geometric_mean,
    study_page,
    study_text,
    summaries,
    summary,
    write_scores_csv,
)
from driftwise.report.page import DotPanel, write_page
from driftwise.sweeps import batches

FEEDBACKS = ("full", "bandit")


# cells


def test_cells_and_their_halves_do_not_change():
    listed = "\n".join(f"{cell.name}: {cell.half}" for cell in cells())
    # A change of this digest means other cells, or cells in another half: the default learners must be tuned again.
    assert (
        hashlib.sha256(listed.encode()).hexdigest()
        == "b0dd350d7a49bf7013ac0d8884a7722a6ca9dd7bb0882dd1e1154a6243381264"
    )
    assert Counter(cell.half for cell in cells()) == {"tuning": 86, "untouched": 85}


def test_cells_have_distinct_names_and_sources():
    assert len(cells()) == len({cell.name for cell in cells()}) == 171
    assert len({(cell.source, cell.n_rounds) for cell in cells()}) == 171
    assert sum(cell.n_rounds == LONG for cell in cells()) == 15
    assert len(quick_cells()) == 39
    assert {*quick_cells()} <= {*cells()}


def test_every_cell_can_be_played_and_has_a_kind_and_a_feedback():
    for cell in cells():
        assert cell.source.n_actions == cell.n_actions
        assert f", K = {cell.n_actions}, T = {cell.n_rounds}" in cell.name
        assert cell.kind in KINDS
        assert cell.half in HALVES
        assert {*cell.feedbacks} <= {*FEEDBACKS}
        adversary = isinstance(cell.source, Adversary)
        environment = cell.source.against(None, cell.n_rounds) if adversary else cell.source
        assert environment.start(cell.n_rounds, seed=1).draw(3).losses.shape == (3, cell.n_actions)
    assert {cell.kind for cell in quick_cells()} == {*KINDS}


def test_cells_can_be_selected_by_name_and_half():
    found = select_cells(cells(), "*random walk*", "tuning")
    assert found
    assert all("random walk" in cell.name and cell.half == "tuning" for cell in found)
    near = "'random walk, low noise, K = 5, T = 1000'"
    message = f"regret: `cells` must be a pattern that matches one of 171 names, such as {near}, got 'walk'."
    with pytest.raises(InvalidInput) as error:
        select_cells(cells(), "walk")
    assert str(error.value) == message


# learners


@pytest.mark.parametrize("feedback", FEEDBACKS)
def test_tuned_and_scored_learners_have_the_feedback_and_are_distinct(feedback):
    for players in (tuned_learners(feedback), [one.player for one in scored_learners(feedback)]):
        assert len({*players}) == len(players)
        assert {player.kind.feedback for player in players} == {feedback}
    labels = [one.label for one in scored_learners(feedback)]
    assert len({*labels}) == len(labels)
    assert [one.player.kind for one in scored_learners(feedback) if one.is_default] == [DEFAULT_LEARNERS[feedback]]
    assert scored_learners(feedback)[0].player == Player.of(DEFAULT_LEARNERS[feedback]())


@pytest.mark.parametrize("feedback", FEEDBACKS)
def test_every_learner_that_need_not_know_the_environment_is_scored(feedback):
    """Learners whose docstring says that they must know nothing, or the number of rounds at most."""
    names = {one.player.name for one in scored_learners(feedback)}
    for name in learners:
        kind = learners.get(name)
        if kind.feedback == feedback and kind.__module__.startswith("driftwise."):
            must_know = described(kind).facts["Must know"].lower()
            if must_know.startswith("nothing") or must_know in ("rounds", "the number of rounds"):
                assert name in names, f"add {name} to scored_learners.toml"


@pytest.mark.parametrize("feedback", FEEDBACKS)
def test_scored_learners_get_the_numbers_of_actions_and_rounds_at_most(feedback):
    known = [Measures(5, 1000, segments, drift, variance) for segments, drift, variance in ((2, 1, 0), (50, 30, 200))]
    for one in scored_learners(feedback):
        learner, other = (one.player.learner(5, 1000, measures, measures) for measures in known)
        assert learner == other, one.label
        assert ("given T" in one.label) == (one.player.tuned == "rounds")


def test_learners_can_be_chosen_by_name():
    found = chosen_learners(["ucb1", "sleeping-adapt-ml-prod", "fixed-share", "ucb1"])
    assert [one.label for one in found["full"]] == ["sleeping-adapt-ml-prod", "fixed-share"]
    assert found["full"][0].settings_text == "cover = hazan-seshadhri"  # as it is scored
    assert found["full"][1].player == Player("fixed-share")
    assert [one.label for one in found["bandit"]] == ["ucb1"]
    with pytest.raises(UnknownName, match=r"^There is no learner 'ucb2'\. Did you mean 'ucb1'\?"):
        chosen_learners(["ucb2"])


# scores


def test_offsets_depend_on_the_feedback():
    assert [offset("full", n) for n in (1000, 100_000)] == [5.0, 5.0]
    assert [offset("bandit", n) for n in (1000, 10_000, 100_000)] == [31 / 4, 25.0, 79.0]


def test_the_best_tuned_learner_is_chosen_by_one_half_of_the_runs_and_counts_in_the_other():
    regrets = np.array([[1.0, 8.0, 3.0, 10.0], [4.0, 5.0, 6.0, 6.5], [9.0, 1.0, 9.0, 2.0]])
    # Means over the runs 0 and 2: 2, 5, 9; over the runs 1 and 3: 9, 5.75, 1.5.
    best = best_tuned(regrets)
    assert (best.by_even_runs, best.by_odd_runs) == (0, 2)
    assert best.regrets.tolist() == [9.0, 8.0, 9.0, 10.0]


def test_the_regret_of_the_best_tuned_learner_has_no_bias_from_the_choice():
    random, n = np.random.default_rng(1), 4000
    drawn = 10.0 + random.normal(0, 2.0, (n, 30, 8))  # thirty equally good learners, eight runs
    found = np.array([best_tuned(regrets).regrets.mean() for regrets in drawn])
    assert abs(found.mean() - 10.0) <= 5 * found.std() / math.sqrt(n)
    assert drawn.mean(axis=2).min(axis=1).mean() < 9.0  # the least mean over all runs has a bias


@pytest.mark.parametrize(("correlation", "n_runs"), [(0.0, 16), (0.9, 16), (-0.5, 64)])
def test_the_standard_error_of_a_score_is_its_standard_deviation(correlation, n_runs):
    random, n = np.random.default_rng(2), 4000
    covariance = [[16.0, 12.0 * correlation], [12.0 * correlation, 9.0]]
    drawn = random.multivariate_normal([40.0, 25.0], covariance, (n, n_runs))
    found = [score(one[:, 0], one[:, 1], offset=5.0) for one in drawn]
    values, errors = (np.array([getattr(one, name) for one in found]) for name in ("value", "error"))
    # The relative standard error of a standard deviation of 4,000 numbers is 1.1 %; that of 16 runs has a small bias.
    assert errors.mean() == pytest.approx(values.std(), rel=0.07)
    covered = np.mean(np.abs(values - 45.0 / 30.0) <= 1.96 * errors)
    assert 0.91 <= covered <= 0.965  # Student's interval would be a little wider for 16 runs


def test_the_standard_error_of_a_score_is_that_of_the_jackknife():
    random = np.random.default_rng(3)
    regrets, best = random.gamma(4.0, 5.0, 200), random.gamma(4.0, 3.0, 200)
    found = score(regrets, best, offset=5.0)
    without = [(np.delete(regrets, i).mean() + 5) / (np.delete(best, i).mean() + 5) for i in range(200)]
    assert found.error == pytest.approx(math.sqrt(199 / 200 * np.square(without - np.mean(without)).sum()), rel=0.02)
    assert found.regret_error == pytest.approx(regrets.std(ddof=1) / math.sqrt(200))
    assert found.best_regret_error == pytest.approx(best.std(ddof=1) / math.sqrt(200))


def test_the_score_of_the_best_tuned_learner_itself_is_one_without_error():
    regrets = np.array([3.0, 9.0, 4.0, 5.0])
    assert score(regrets, best_tuned(regrets[np.newaxis]).regrets, 5.0)[:2] == (1.0, 0.0)


# regrets


CELLS = (
    StudyCell("two segments", Environment(Switching(2, 3), Bernoulli()), 3, 60),
    StudyCell("Theorem 4.1", BanditLow(2, 3), 3, 80),
)
HEDGE, SQUINT = ScoredLearner("hedge", Player("hedge")), ScoredLearner("squint", Player("squint"))
TUNED = (Player("fixed-share", "budget"), *(Player("hedge", None, {"learning_rate": x}) for x in (0.1, 1.0, 10.0)))
BANDITS = (ScoredLearner("ucb1", Player("ucb1")),)
TUNED_BANDITS = (Player("thompson"), Player("ucb1", None, {"log_scale": 0.5}))


@contextlib.contextmanager
def no_progress(title):
    yield None


def measured(folder, effort, stage=no_progress, some=CELLS[:1], scored=(HEDGE, SQUINT), n_threads=1):
    return measure_cells(some, "full", scored, TUNED, effort, 5, folder, n_threads, stage)


def test_regrets_are_those_of_simulate_on_the_same_losses(tmp_path):
    (found,) = measured(tmp_path, Effort({60: 4}, most_runs=4))
    players = [Hedge(), FixedShare.tuned, Hedge(learning_rate=1.0)]
    expected = simulate(CELLS[0].source, players, 60, 4, 5)
    for player, own in zip(players, (HEDGE.player, TUNED[0], TUNED[2]), strict=True):
        assert found.regrets[own].tolist() == expected.final(player).tolist()


def test_runs_are_doubled_until_the_error_is_small_and_at_most_up_to_a_limit(tmp_path):
    titles = []

    @contextlib.contextmanager
    def stage(title):
        titles.append(title)
        yield None

    (found,) = measured(tmp_path, Effort({60: 4}, most_runs=20, largest_error=0.0), stage)
    assert titles == ["full feedback: 1 cell"] + ["full feedback: more runs in 1 cell"] * 3
    assert {len(found.regrets[HEDGE.player]), len(found.regrets[SQUINT.player]), found.n_runs} == {20}
    enough = found.score(HEDGE).error * 1.2
    (less,) = measured(tmp_path, Effort({60: 4}, most_runs=200, largest_error=enough))
    n = less.n_runs
    assert less.score(HEDGE).error <= enough
    assert 4 < n < 200
    (half,) = measured(tmp_path, Effort({60: n // 2}, most_runs=n // 2))
    assert half.score(HEDGE).error > enough
    (first,) = measured(tmp_path, Effort({60: 4}, most_runs=200, largest_error=math.inf))
    assert first.n_runs == 4


def test_only_tuned_learners_that_may_be_the_best_play_more_runs():
    random = np.random.default_rng(4)
    noise = random.normal(0, 1.0, 16)
    regrets = {
        HEDGE.player: 20 + noise,
        TUNED[0]: 10 + noise,
        TUNED[1]: 10.1 + random.normal(0, 1.0, 16),  # 0.1 above, with an error of 0.35
        TUNED[2]: 13 + random.normal(0, 1.0, 16),
        TUNED[3]: (10 + noise)[:8],  # has stopped before
    }
    found = CellRegrets(CELLS[0], "full", (HEDGE,), TUNED, regrets)
    assert found.contenders() == [TUNED[0], TUNED[1]]


def test_equal_tuned_learners_are_all_kept():
    regrets = {player: np.array([3.0, 4.0, 5.0, 6.0]) for player in (HEDGE.player, *TUNED)}
    assert CellRegrets(CELLS[0], "full", (HEDGE,), TUNED, regrets).contenders() == [*TUNED]


def test_an_interrupted_study_continues_with_the_same_result(tmp_path, monkeypatch):
    effort = Effort({60: 4}, most_runs=16, largest_error=0.0)
    (whole,) = measured(tmp_path / "whole", effort)
    play, played = batches.play_run, []

    def stop(plan, run):
        if len(played) == 6:
            raise KeyboardInterrupt
        played.append(run)
        return play(plan, run)

    monkeypatch.setattr(batches, "play_run", stop)
    with pytest.raises(KeyboardInterrupt):
        measured(tmp_path / "parts", effort)
    monkeypatch.setattr(batches, "play_run", play)
    (parts,) = measured(tmp_path / "parts", effort)
    monkeypatch.setattr(batches, "play_run", lambda *_: pytest.fail("played again"))
    (again,) = measured(tmp_path / "parts", effort, n_threads=2)
    for other in (parts, again):
        assert other.regrets.keys() == whole.regrets.keys()
        assert all((other.regrets[player] == whole.regrets[player]).all() for player in whole.regrets)


def test_an_error_in_a_run_is_raised(tmp_path, monkeypatch):
    def fail(plan, run):
        raise InvalidInput("it does not work.")

    monkeypatch.setattr(batches, "play_run", fail)
    message = r"^regret: 'hedge' in 'two segments', run 0: it does not work\.$"
    with pytest.raises(DriftwiseError, match=message):
        measured(tmp_path, Effort({60: 4}))


# study, summaries, reports


def cell_score(value, label="hedge", cell=CELLS[0], error=0.1, feedback="full"):
    learner = ScoredLearner(label, Player("hedge"))
    return CellScore(cell, feedback, learner, Score(value, error, 10.0, 1.0, 5.0, 1.0, 16), TUNED[:1])


def cells_in(half, kinds=("constant", "switching")):
    return [next(cell for cell in cells() if (cell.half, cell.kind) == (half, kind)) for kind in kinds]


def test_a_summary_has_the_geometric_mean_the_worst_cell_and_the_count_above_two():
    first, second = cells_in("tuning")
    scores = [cell_score(1.0, cell=first), cell_score(4.0, cell=second, error=0.4), cell_score(2.0, cell=second)]
    found = summary(scores)
    assert found.mean == pytest.approx(2.0)
    assert found.error == pytest.approx(2.0 * math.sqrt(0.1**2 + 0.1**2 + 0.05**2) / 3)
    assert (found.worst, found.n_bad, found.n_cells) == (scores[1], 1, 3)
    assert found.by_kind == {"constant": pytest.approx(1.0), "switching": pytest.approx(math.sqrt(8.0))}


def test_the_error_of_a_geometric_mean_is_its_standard_deviation():
    random, n = np.random.default_rng(5), 4000
    errors = np.array([0.1, 0.2, 0.05])
    drawn = random.normal([1.0, 3.0, 1.5], errors, (n, 3))
    means = [geometric_mean(row) for row in drawn]
    scores = [cell_score(value, error=error) for value, error in zip((1.0, 3.0, 1.5), errors, strict=True)]
    assert summary(scores).error == pytest.approx(np.std(means), rel=0.06)


def test_summaries_are_by_half_and_sorted_with_the_default_learner_first(monkeypatch):
    monkeypatch.setitem(DEFAULT_LEARNERS, "full", Squint)
    one, other = cells_in("tuning")[0], cells_in("untouched")[0]
    scores = [cell_score(x, label, cell) for x, label, cell in ((3, "b", one), (9, "b", other), (2, "a", one))]
    default = CellScore(one, "full", SQUINT, Score(5.0, 0.1, 10.0, 1.0, 5.0, 1.0, 16), TUNED[:1])
    found = summaries([*scores, default], "full", "tuning")
    assert [(row.learner.label, row.mean) for row in found] == [
        ("squint", pytest.approx(5)), ("a", pytest.approx(2)), ("b", pytest.approx(3)),
    ]  # fmt: skip
    assert [row.n_cells for row in summaries([*scores, default], "full", None)] == [1, 1, 2]
    assert summaries(scores, "bandit", None) == []


SMALL = (
    *(StudyCell(f"{n} segments, K = 3, T = 60", Environment(Switching(n, 3), Bernoulli()), 3, 60) for n in range(2, 7)),
    StudyCell("Theorem 4.1, K = 3, T = 60", BanditLow(2, 3), 3, 60),
)
SMALL_EFFORT = Effort({60: 4}, most_runs=8)
SCORED = {"full": (HEDGE, SQUINT), "bandit": BANDITS}


@pytest.fixture
def few_tuned(monkeypatch):
    """Have few tuned learners in each cell."""
    monkeypatch.setattr(study, "tuned_learners", {"full": TUNED, "bandit": TUNED_BANDITS}.get)


@pytest.fixture
def scores(few_tuned, tmp_path):
    """Return the scores of a small study, in cells of both halves."""
    assert {cell.half for cell in SMALL} == {*HALVES}
    return run_study(SMALL, SCORED, SMALL_EFFORT, 1, tmp_path / "runs", 1, no_progress)


def test_a_study_scores_every_learner_in_the_cells_of_its_feedback(scores):
    found = Counter((one.feedback, one.learner.label) for one in scores)
    assert found == {("full", "hedge"): 5, ("full", "squint"): 5, ("bandit", "ucb1"): 6}
    for one in scores:
        assert one.score.value > 0
        assert {*one.tuned} <= {*(TUNED if one.feedback == "full" else TUNED_BANDITS)}
        assert one.score.n_runs in (4, 8)
        expected = (one.score.regret + offset(one.feedback, 60)) / (one.score.best_regret + offset(one.feedback, 60))
        assert one.score.value == pytest.approx(expected)


def test_the_text_fits_a_terminal_and_has_both_halves_and_the_worst_cells(scores):
    text = study_text(scores)
    assert max(map(len, text.splitlines())) <= 100
    assert "R* that of the tuned learner with the least regret" in " ".join(text.split())
    assert 'tuned on the cells of the half "tuning"' in " ".join(text.split())
    for half in HALVES:
        n = sum(cell.half == half and "full" in cell.feedbacks for cell in SMALL)
        assert f"half '{half}': {n} cells" in text
    assert "both halves: 5 cells" in text
    worst = max((one for one in scores if one.learner is HEDGE), key=lambda one: one.score.value)
    first = text[text.index("The worst cells of hedge") :].splitlines()[4:6]
    assert first[0].startswith(worst.cell.name)
    assert f"{worst.score.value:.2f} ±{worst.score.error:.2f}" in first[0]
    assert first[1].startswith(f"  {worst.cell.half}; {worst.tuned[0].label}")


def test_the_text_says_in_which_form_learners_play(scores):
    learner = next(one for one in scored_learners("full") if one.player.name == "sleeping-adapt-ml-prod")
    told = next(one for one in scored_learners("full") if one.player.name == "ader")
    text = " ".join(study_text([*scores, *(scores[0]._replace(learner=one) for one in (learner, told))]).split())
    assert "In another form than the default one: sleeping-adapt-ml-prod (cover = hazan-seshadhri)." in text
    assert "Given the numbers of actions and rounds (given T): ader." in text


def test_the_table_of_all_learners_fits_a_terminal_with_large_scores():
    one, other = (cells_in(half, KINDS) for half in HALVES)
    learner = next(one for one in scored_learners("full") if one.player.name == "sleeping-optimistic-adapt-ml-prod")
    large = Score(1842.97, 117.14, 12345.6, 1234.5, 5.0, 1.0, 200)
    scores = [CellScore(cell, "full", learner, large, TUNED) for cell in (*one, *other)] * 20
    assert max(map(len, study_text(scores).splitlines())) <= 100


def test_the_page_has_a_dot_for_each_score_and_a_row_for_each_cell(scores, tmp_path):
    page = study_page(scores, ["driftwise regret"], "A few cells.")
    dots = {panel.key: panel for panel in page.panels if isinstance(panel, DotPanel)}
    assert [*dots] == ["scores-full", "scores-bandit"]
    for one in dots["scores-full"].series:
        mine = {score.cell.name: score.score.value for score in scores if score.learner.label == one.label}
        names = [dots["scores-full"].names[int(x)].rpartition(" (")[0] for x in one.x]
        assert dict(zip(names, one.mean, strict=True)) == mine
    assert len(page.table.rows) == 5 + 6  # of the first learner of each feedback
    write_page(tmp_path / "page.html", page)
    assert "Theorem 4.1" in (tmp_path / "page.html").read_text(encoding="utf-8")


def test_scores_are_read_back_from_csv(scores, tmp_path):
    write_scores_csv(tmp_path / "scores.csv", scores)
    with (tmp_path / "scores.csv").open(newline="", encoding="utf-8") as stream:
        header, *lines = csv.reader(stream)
    assert tuple(header) == CSV_COLUMNS
    assert len(lines) == len(scores)
    for line, one in zip(lines, scores, strict=True):
        row = dict(zip(header, line, strict=True))
        assert (row["cell"], row["half"], row["learner"]) == (one.cell.name, one.cell.half, one.learner.label)
        assert float(row["score"]) == one.score.value
        assert float(row["best_regret_error"]) == one.score.best_regret_error


# command


@pytest.fixture
def driftwise(monkeypatch, capsys, tmp_path, few_tuned):
    monkeypatch.setitem(PRESETS, "quick", StudyPreset(SMALL, SMALL_EFFORT))
    return runner(monkeypatch, capsys, tmp_path)


def test_the_command_writes_tables_page_figures_and_scores(driftwise, tmp_path):
    words = ("regret", "--learners", "hedge,ucb1", "--out", "out", "--csv", "scores.csv", "--figures", "--threads", 1)
    outcome = driftwise(*words)
    assert outcome.code == 0
    assert "full feedback: 5 cells: 100 of 100 runs (100 %)\n" in outcome.err  # five learners, four runs
    assert "The worst cells of hedge" in outcome.out
    assert outcome.out.endswith("page: out/quick-selection.html\n")
    figures = sorted(file.name for file in (tmp_path / "out" / "quick-selection-figures").iterdir())
    assert figures == ["scores-bandit.svg", "scores-full.svg"]
    page = (tmp_path / "out" / "quick-selection.html").read_text(encoding="utf-8")
    assert "driftwise regret --preset quick --learners hedge,ucb1 --seed 1" in page
    assert (tmp_path / "scores.csv").read_text(encoding="utf-8").count("\n") == 1 + 5 + 6
    again = driftwise(*words, "--quiet")
    assert (again.code, again.out, again.err) == (0, outcome.out, "")


def test_the_page_of_a_selection_does_not_replace_that_of_all(driftwise, monkeypatch, tmp_path):
    monkeypatch.setattr("driftwise.regret_study.study_design.scored_learners", SCORED.get)
    assert driftwise("regret", "--quiet").out.endswith("page: out/regret/quick.html\n")
    before = (tmp_path / "out" / "regret" / "quick.html").read_bytes()
    for words in (("--half", "tuning"), ("--cells", "2 *"), ("--feedback", "full")):
        assert driftwise("regret", *words, "--quiet").out.endswith("page: out/regret/quick-selection.html\n")
    assert (tmp_path / "out" / "regret" / "quick.html").read_bytes() == before


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (
            ("--cells", "x"),
            "regret: `cells` must be a pattern that matches one of 6 names,"
            " such as 'Theorem 4.1, K = 3, T = 60', got 'x'.",
        ),
        (("--learners", "hegde"), "There is no learner 'hegde'. Did you mean 'hedge'?"),
        (
            ("--learners", "hedge", "--feedback", "bandit"),
            "regret: there is no learner for the feedback of these cells.",
        ),
        (
            ("--learners", "hedge", "--cells", "Theorem*"),
            "regret: there is no learner for the feedback of these cells.",
        ),
        (("--threads", "0"), "regret: `threads` must be a whole number >= 1, got 0."),
        (("--seed", "-1"), "regret: `seed` must be a whole number >= 0, got -1."),
    ],
)
def test_a_mistake_is_one_line_before_anything_is_played(driftwise, monkeypatch, words, message):
    monkeypatch.setattr(batches, "play_run", lambda *_: pytest.fail("played"))
    outcome = driftwise("regret", *words)
    assert outcome.code == 2
    assert outcome.err.startswith(f"driftwise: {message}")
    assert outcome.err.count("\n") == 1


def test_an_interrupted_command_says_how_to_continue(driftwise, monkeypatch, capsys):
    from driftwise.cli.regret import command

    def interrupt(*_):
        raise KeyboardInterrupt

    monkeypatch.setattr(study, "run_study", interrupt)
    monkeypatch.setattr("sys.argv", ["driftwise", "regret", "--cells", "2 *"])
    with pytest.raises(click.exceptions.Abort):
        command.main(["--cells", "2 *"], standalone_mode=False)
    assert "finished runs are stored; to continue: driftwise regret --cells '2 *'" in capsys.readouterr().err


def test_learners_that_are_marked_as_nearly_uniform_have_the_regret_of_uniform_play():
    """Within 2 % of 800, the regret of uniform play: a gap of 0.2 in 5,000 rounds, in four of five."""
    environment = Environment(Switching(8, 5), Bernoulli())
    for name in NEARLY_UNIFORM:
        regret = simulate(environment, Player(name), n_rounds=5000, n_runs=4, seed=1).regrets[0, :, -1]
        assert np.abs(regret / 800 - 1).max() < 0.02


def test_raw_ratios_and_other_offsets_are_reported_beside_the_score():
    cell, other = quick_cells()[:2]
    learner = ScoredLearner("ucb1", Player("ucb1"))
    rows = [
        CellScore(some, "bandit", learner, score(np.full(2, regret), np.full(2, best), 7.75), (Player("kl-ucb"),))
        for some, regret, best in ((cell, 8.0, 2.0), (other, 3.0, 0.0))
    ]
    text = " ".join(study_text(rows).split())
    assert "raw ratio R / R* has the geometric mean 4.00 (of the 1 cells in which both are above 0)" in text
    # (9 / 3 * 4 / 1) ** (1 / 2) and (8.25 / 2.25 * 3.25 / 0.25) ** (1 / 2)
    assert "the score 3.46 with a = 1, 6.90 with a = 0.25." in text
    assert "Nearly uniform" not in text
    marked = [row._replace(learner=ScoredLearner("adswitch", Player("adswitch"))) for row in rows]
    assert "for which its constants are too large: adswitch." in " ".join(study_text(marked).split())
