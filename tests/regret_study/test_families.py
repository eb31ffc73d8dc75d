"""Families of worlds: what is charged and seen, regrets with known answers, scores, stored runs and the command."""

import contextlib
import json
import math

import numpy as np
import pytest

from command_line import runner
from driftwise.learners import UCB1, FixedShare, Hedge, OptimisticHedge, Player, Thompson
from driftwise.regret_study import families, held_out
from driftwise.regret_study.attacks import FAMILIES as ATTACKS
from driftwise.regret_study.families import (
    FAMILY_SETS,
    FamilyCell,
    bootstrap_interval,
    family_cells,
    family_rivals,
    first_runs,
    play,
    run_families,
    world_measures,
)
from driftwise.regret_study.families_report import families_record, families_text, family_summaries
from driftwise.regret_study.held_out import Drawn, Family, all_seen, bernoulli
from driftwise.regret_study.study import Effort, score
from driftwise.regret_study.study_design import chosen_learners, rival_learners, tuned_learners

RNG = np.random.default_rng


def still(generator, n_rounds, n_actions):
    means = np.tile(np.linspace(0.3, 0.7, n_actions), (n_rounds, 1))
    return Drawn(bernoulli(generator, means), means, all_seen(n_rounds))


def partly_seen(generator, n_rounds, n_actions):
    world = still(generator, n_rounds, n_actions)
    return world._replace(seen=generator.random(n_rounds) < 0.7)


TOYS = {"still": Family(still, True, ((2, 60), (3, 40))), "partly seen": Family(partly_seen, False, ((2, 50),))}


# play


@pytest.mark.parametrize("learner", [FixedShare(), OptimisticHedge()])
@pytest.mark.parametrize("independent", [True, False])
def test_weights_are_charged_in_every_round_and_updated_in_seen_rounds_only(learner, independent):
    world = partly_seen(RNG(1), 80, 3)
    charged = world.means if independent else world.losses
    state, expected = learner.start(3), 0.0
    for t in range(80):
        expected += learner.predict(state) @ charged[t] - charged[t, 0]  # action 0 has the least mean
        if world.seen[t]:
            learner.update(state, world.losses[t])
    assert math.isclose(play(learner, world, independent, seed=0), expected, rel_tol=1e-12)


@pytest.mark.parametrize("learner", [UCB1(), Thompson()])
@pytest.mark.parametrize("independent", [True, False])
def test_choices_are_charged_in_every_round_and_updated_in_seen_rounds_only(learner, independent):
    world = partly_seen(RNG(2), 80, 3)
    charged = world.means if independent else world.losses
    state, expected = learner.start(3, seed=5), 0.0
    for t in range(80):
        action, probability = learner.choose(state)
        expected += charged[t, action] - charged[t, 0]
        if world.seen[t]:
            learner.update(state, action, world.losses[t, action], probability)
    assert math.isclose(play(learner, world, independent, seed=5), expected, rel_tol=1e-12)


def test_the_comparator_of_dependent_rounds_is_charged_its_losses_and_regret_may_be_below_0():
    means = np.tile([0.4, 0.6], (10, 1))
    losses = np.tile([1.0, 0.0], (10, 1))
    world = Drawn(losses, means, np.zeros(10, dtype=np.bool_))
    assert play(Hedge(), world, False, seed=0) == 5.0 - 10.0
    assert math.isclose(play(Hedge(), world, True, seed=0), 10 * 0.1)


def test_long_worlds_are_played_in_blocks_with_the_same_result(monkeypatch):
    world = partly_seen(RNG(3), 300, 2)
    whole = [play(learner, world, True, seed=1) for learner in (FixedShare(), Thompson())]
    monkeypatch.setattr(families, "default_block", lambda _: 7)
    assert np.allclose([play(learner, world, True, seed=1) for learner in (FixedShare(), Thompson())], whole)


def test_measures_of_a_world_count_segments_of_means_and_sum_squared_noise():
    means = np.repeat([[0.2, 0.8], [0.8, 0.2]], 5, axis=0)
    measures = world_measures(Drawn(1 - means, means, all_seen(10)))
    assert measures.segments == 2
    assert math.isclose(measures.drift, 0.8 + 0.6)
    assert math.isclose(measures.variance, 20 * 0.36)


def test_worlds_differ_between_runs_seeds_and_cells_and_are_the_same_for_all_learners():
    cells = family_cells(TOYS)
    worlds = [cell.draw(seed, run).losses.tobytes() for cell in cells for seed in (1, 2) for run in (0, 1)]
    assert len({*worlds}) == len(worlds)
    assert cells[0].draw(1, 0).losses.tobytes() == worlds[0]


# scores


def test_a_mean_regret_below_0_counts_as_0_in_a_score():
    value = score(np.array([-3.0, -1.0]), np.array([-40.0, -60.0]), offset=5.0)
    assert value.value == 1.0
    assert (value.regret, value.best_regret) == (-2.0, -50.0)
    assert score(np.array([5.0, 5.0]), np.array([-40.0, -60.0]), offset=5.0).value == 2.0


def test_the_interval_is_that_of_the_score_and_includes_the_choice_of_the_tuned_learner():
    assert bootstrap_interval(np.full(8, 15.0), np.full((2, 8), 5.0), 5.0) == (2.0, 2.0)
    generator = RNG(0)
    tuned = generator.normal(50, 10, (5, 16))
    low, high = bootstrap_interval(np.full(16, 55.0), tuned, 5.0)
    value = score(np.full(16, 55.0), tuned[0], 5.0).value
    assert 0.9 < low < value < high < 1.5


def toy_scores(folder, learners=("hedge",), effort=4, titles=None, **options):
    def stage(title):
        return contextlib.nullcontext(titles.append if titles is not None else None)

    return run_families(
        options.pop("cells", family_cells(TOYS)),
        {"full": chosen_learners([*learners])["full"]},
        seed=1,
        folder=folder,
        n_threads=2,
        stage=stage,
        rivals=lambda *_: [Player("fixed-share"), Player("hedge", "budget"), Player("ada-hedge")],
        effort=Effort({60: effort, 40: effort, 50: effort}, most_runs=effort),
        **options,
    )


def test_scores_equal_those_of_regrets_that_are_played_by_hand(tmp_path):
    cell = FamilyCell("still", TOYS["still"], 2, 60)
    row = toy_scores(tmp_path, cells=[cell])[0]
    mine = [play(Hedge(), cell.draw(1, run), True, seed=0) for run in range(4)]
    assert math.isclose(row.score.regret, np.mean(mine))
    assert row.cell == cell
    assert math.isclose(row.score.value, (row.score.regret + 5) / (row.score.best_regret + 5))
    raw, at_1, at_quarter = row.at_offsets
    assert math.isclose(raw, row.score.regret / row.score.best_regret)
    assert math.isclose(at_1, (row.score.regret + 1) / (row.score.best_regret + 1))
    assert math.isclose(at_quarter, (row.score.regret + 0.25) / (row.score.best_regret + 0.25))
    assert row.interval[0] <= row.interval[1]


def test_stored_runs_are_not_played_again_and_a_run_that_ended_early_continues(tmp_path, monkeypatch):
    before = toy_scores(tmp_path / "whole")
    played = families._play_world

    def fails_later(cell, *rest):
        if cell.family_name == "partly seen":
            raise KeyboardInterrupt
        return played(cell, *rest)

    monkeypatch.setattr(families, "_play_world", fails_later)
    with pytest.raises(KeyboardInterrupt):
        toy_scores(tmp_path / "parts")
    seen = []
    monkeypatch.setattr(
        families, "_play_world", lambda cell, *rest: seen.append(cell.family_name) or played(cell, *rest)
    )
    titles = []
    assert toy_scores(tmp_path / "parts", titles=titles) == before
    assert seen == ["partly seen"] * 4
    assert [progress.done for progress in titles] == [36, 40, 44, 48]
    monkeypatch.setattr(families, "_play_world", fails_later)
    assert toy_scores(tmp_path / "parts") == before


def test_another_version_of_a_learner_is_played_again(tmp_path, monkeypatch):
    toy_scores(tmp_path)
    seen, played = [], families._play_world
    monkeypatch.setattr(families, "_play_world", lambda cell, who, *rest: seen.extend(who) or played(cell, who, *rest))
    monkeypatch.setattr(type(Player("fixed-share").kind()), "version", 1000)
    toy_scores(tmp_path)
    assert {player.name for player in seen} == {"fixed-share"}


def test_summaries_leave_out_each_family_and_find_the_worst_cell(tmp_path):
    scores = toy_scores(tmp_path, learners=("hedge", "squint"))
    hedge, squint = family_summaries(scores)
    assert (hedge.learner.label, squint.learner.label) == ("hedge", "squint")
    rows = {row.cell.name: row.score.value for row in scores if row.learner.label == "hedge"}
    a, b, other = rows.values()
    assert math.isclose(hedge.mean, (a * b * other) ** (1 / 3))
    assert math.isclose(hedge.without["partly seen"], math.sqrt(a * b))
    assert math.isclose(hedge.without["still"], other)
    assert math.isclose(hedge.by_family["still"], math.sqrt(a * b))
    assert hedge.worst.score.value == max(rows.values())
    text = families_text(scores, "attacks")
    assert "the action with the least mean in every round: partly seen." in text.replace("\n", " ")
    assert "of 3 cells" in text
    record = json.loads(json.dumps(families_record(scores, "attacks", 1)))
    assert len(record["cells"]) == 6
    assert record["learners"][0]["mean"] == hedge.mean


# the sets


def test_rivals_with_a_row_for_every_round_play_short_runs_only():
    every = {player for player in rival_learners("full") if {"every", "exact"} & {*map(str, player.settings.values())}}
    assert {player.name for player in every} == {
        "ada-normal-hedge-tv",
        "sleeping-adapt-ml-prod",
        "sleeping-optimistic-adapt-ml-prod",
    }
    short, long = (FamilyCell("still", TOYS["still"], 4, n_rounds) for n_rounds in (2016, 20_000))
    assert {*family_rivals("full", short)} == {*tuned_learners("full"), *rival_learners("full")}
    assert {*family_rivals("full", short)} - {*family_rivals("full", long)} == every
    assert family_rivals("bandit", long) == [*tuned_learners("bandit")]


def test_rivals_are_not_mixtures_of_fixed_shares_and_are_distinct_from_the_pool_of_the_cells():
    rivals = rival_learners("full")
    assert {player.name for player in rivals} == {
        "flh",
        "cbce",
        "saol",
        "sword",
        "ada-normal-hedge-tv",
        "sleeping-adapt-ml-prod",
        "sleeping-optimistic-adapt-ml-prod",
    }
    assert not {*rivals} & {*tuned_learners("full")}
    assert all("fixed-share" not in player.text for player in rivals)
    assert len(tuned_learners("full")) == 86


def test_the_two_sets_share_no_family_and_every_cell_has_an_even_number_of_first_runs():
    assert not {*ATTACKS} & {*held_out.FAMILIES}
    assert [*FAMILY_SETS] == ["attacks", "held-out"]
    for some in FAMILY_SETS.values():
        assert all(first_runs(cell.n_rounds) % 2 == 0 for cell in family_cells(some))


# the command


@pytest.fixture
def run(monkeypatch, capsys, tmp_path):
    return runner(monkeypatch, capsys, tmp_path)


def test_the_command_plays_families_and_prints_tables_or_json(run, monkeypatch):
    monkeypatch.setitem(FAMILY_SETS, "attacks", {"still": Family(still, True, ((2, 60),))})
    monkeypatch.setattr(families, "_MOST_RUNS", 16)
    command = ["regret", "--families", "attacks", "--feedback", "bandit", "--learners", "ucb1", "--quiet"]
    code, out, err = run(*command)
    assert (code, err) == (0, "")
    assert "ucb1, bandit feedback: geometric mean" in out
    record = json.loads(run(*command, "--json").out)
    assert record["cells"][0]["n_rounds"] == 60
    assert {*record["cells"][0]["at_offsets"]} == {"0", "1", "0.25"}


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ("--families attacks --half tuning", "--families cannot be combined with --half"),
        ("--families attacks --csv x.csv", "--families cannot be combined with --csv"),
        ("--json", "--json must be combined with --families"),
        ("--families attacks --cells nothing", "a pattern that matches one of"),
        ("--families attacks --feedback full --learners ucb1", "no learner with this feedback"),
    ],
)
def test_options_that_do_not_fit_families_are_rejected(run, options, message):
    code, out, err = run("regret", *options.split(), "--quiet")
    assert (code, out) == (2, "")
    assert message in err
