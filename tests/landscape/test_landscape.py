"""The measured Table 1: powers that are known, measurements that are kept, claims that can fail."""

from functools import partial

import numpy as np
import pytest

from driftwise.adversaries import Adversary, BanditLow, FullV
from driftwise.core.errors import BadFile, DriftwiseError, InvalidInput, UnknownName
from driftwise.core.measures import Measures, collected
from driftwise.engine import simulate
from driftwise.environments import Bernoulli, Environment, Switching
from driftwise.landscape.claims import claims
from driftwise.landscape.outcomes import Measurement, Outcome, measure, rates
from driftwise.landscape.pages import table
from driftwise.landscape.scans import (
    CELLS,
    PARTICIPANTS,
    PRESETS,
    Participant,
    Scan,
    Setting,
    every_bandit,
    geometric,
    scans,
    select_scans,
)
from driftwise.learners import (
    UCB1,
    FixedShare,
    OptimisticGD,
    Player,
    SleepingOptimisticAdaptMLProd,
)
from driftwise.regret.statistics import fit_power
from driftwise.sweeps import batches
from tiny_landscape import TINY

ENVIRONMENT = Environment(Switching(2, 3), Bernoulli())
HEDGE = Player("hedge")


# powers


@pytest.mark.parametrize("exponent", [-1.0, 0.0, 0.35, 1.0])
def test_a_power_without_noise_is_found_exactly_and_has_no_interval(exponent):
    x = [10.0, 100.0, 1000.0]
    power = fit_power(x, [[3 * value**exponent] * 4 for value in x])
    assert power.exponent == pytest.approx(exponent, abs=1e-12)
    assert np.isnan(power[1:]).all()


def test_the_interval_covers_the_power_about_as_often_as_it_says():
    random, x, hits = np.random.default_rng(1), [10.0, 30.0, 100.0, 300.0], 0
    for _ in range(200):
        samples = [value**0.5 * random.gamma(4.0, 0.25, 40) for value in x]
        power = fit_power(x, samples, n_resamples=300)
        hits += power.low <= 0.5 <= power.high
    assert 0.88 <= hits / 200 <= 0.99


def test_a_power_needs_two_values():
    with pytest.raises(InvalidInput, match=r"^fit_power: `samples` must be as many as `x`, and at least 2, got 1\.$"):
        fit_power([1.0], [[1.0]])


def test_single_runs_have_a_power_without_an_interval():
    power = fit_power([1.0, 10.0], [[2.0], [20.0]])
    assert power.exponent == pytest.approx(1.0)
    assert np.isnan(power[1:]).all()


@pytest.mark.parametrize("worst", [0.0, -1.0])
def test_where_a_mean_is_not_positive_there_is_no_power(worst):
    assert np.isnan(fit_power([1.0, 10.0, 100.0], [[worst, worst], [5.0, 6.0], [50.0, 60.0]])).all()


# measurements


def task(source=ENVIRONMENT, n_rounds=60, player=HEDGE, companion=None):
    """Return a scan with one value and one learner."""
    players = (Participant("mine", "paper", player),)
    return Scan(
        "full-switching-x", "somewhere", "T", (n_rounds,), lambda t: Setting(source, t), None, players, companion
    )


def measured(folder, *tasks, n_threads=1, progress=None):
    outcomes = measure(tasks, 3, 5, folder, n_threads, progress)
    return [measurement for outcome in outcomes for measurement in outcome.measurements]


def test_a_measurement_is_that_of_simulate(tmp_path):
    (found,) = measured(tmp_path, task(player=Player("fixed-share", "budget")))
    expected = simulate(ENVIRONMENT, FixedShare.tuned, 60, 3, 5)
    assert found.regrets.tolist() == expected.final(FixedShare.tuned).tolist()
    assert found.drift.tolist() == [measures.drift for measures in expected.measures]
    assert (found.n_actions, found.n_rounds) == (3, 60)
    assert np.isnan(found.companion_regrets).all()


def test_a_companion_plays_on_the_losses_built_against_the_learner(tmp_path):
    adversary, companion = BanditLow(2, 2, "best-response"), OptimisticGD(0.5)
    (found,) = measured(tmp_path, task(adversary, player=Player("ucb1"), companion=companion))
    environment = adversary.against(UCB1(), 60, 5)
    expected = simulate(environment, [UCB1(), companion], 60, 3, 5)
    assert found.regrets.tolist() == expected.final(UCB1()).tolist()
    assert found.companion_regrets.tolist() == expected.final(companion).tolist()


@pytest.mark.parametrize("source", [ENVIRONMENT, BanditLow(2, 2, "best-response")], ids=["environment", "adversary"])
def test_a_finished_measurement_is_not_played_again(source, tmp_path, monkeypatch):
    (first,) = measured(tmp_path, task(source, player=Player("ucb1")))
    monkeypatch.setattr(batches, "play_run", lambda *_: pytest.fail("played again"))
    (second,) = measured(tmp_path, task(source, player=Player("ucb1")))
    assert (first.regrets == second.regrets).all()
    assert first.measures == second.measures


def test_a_folder_that_cannot_be_made_is_rejected_before_anything_is_played(tmp_path, monkeypatch):
    (tmp_path / "file").touch()
    monkeypatch.setattr(batches, "play_run", lambda *_: pytest.fail("played"))
    with pytest.raises(BadFile, match=r"^Cannot write .*cells\.sqlite: Not a directory\.$"):
        measure(select_scans(TINY, ["full-drifting"], ["hedge"]), 1, 1, tmp_path / "file" / "measurements")


def test_a_damaged_file_is_played_again(tmp_path):
    (first,) = measured(tmp_path, task())
    path = tmp_path / "cells.sqlite"
    path.write_bytes(path.read_bytes()[:100])
    (second,) = measured(tmp_path, task())
    assert (first.regrets == second.regrets).all()
    assert len([*(tmp_path / "damaged").iterdir()]) == 1


def test_threads_do_not_change_the_measurements(tmp_path):
    tasks = [task(BanditLow(2, 2), n_rounds, Player("thompson")) for n_rounds in (80, 90, 100, 110)]
    one, two = (measured(tmp_path / str(n), *tasks, n_threads=n) for n in (1, 2))
    assert all((a.regrets == b.regrets).all() for a, b in zip(one, two, strict=True))
    assert len({float(measurement.regrets.sum()) for measurement in one}) > 1


def test_progress_ends_at_the_total(tmp_path):
    seen = []
    measured(tmp_path, task(), task(n_rounds=70), progress=lambda *at: seen.append(at))
    assert seen[-1] == (6, 6)


def test_an_error_in_any_measurement_is_raised(tmp_path, monkeypatch):
    play = batches.play_run

    def fail(plan, run):
        if plan.n_rounds == 70 and run == 1:
            raise InvalidInput("it does not work.")
        return play(plan, run)

    monkeypatch.setattr(batches, "play_run", fail)
    with pytest.raises(DriftwiseError, match=r"^landscape: 'mine' in 'somewhere; T = 70', run 1: it does not work\.$"):
        measured(tmp_path, task(), task(n_rounds=70))


# scans


def test_every_cell_has_benign_and_adversarial_scans_over_a_decade_and_a_half():
    for preset in PRESETS.values():
        found = scans(preset)
        assert {(scan.cell, isinstance(scan.setting(scan.values[0]).source, Adversary)) for scan in found} == {
            (cell, b) for cell in CELLS for b in (True, False)
        }
        assert len({scan.key for scan in found}) == len(found)
        for scan in found:
            assert scan.values[-1] / scan.values[0] >= 30
            if scan.axis == "V":  # periods vary, and every path begins with a jump
                ends = [scan.setting(value) for value in (scan.values[0], scan.values[-1])]
                low, high = (source.measures(n_rounds).drift for source, n_rounds in ends)
                assert high / low >= 30


def test_geometric_values_are_whole_and_evenly_spread():
    assert geometric(2, 64, 6) == (2, 4, 8, 16, 32, 64)


def test_parameter_free_learners_are_given_the_rounds_at_most():
    known = [Measures(5, 1000, segments, drift, variance) for segments, drift, variance in ((2, 1, 0), (50, 30, 200))]
    players = [participant for players in (*PARTICIPANTS.values(), every_bandit()) for participant in players]
    for participant in players:
        if participant.role in ("parameter-free", "baseline"):
            one, other = (participant.player.learner(5, 1000, measures, measures) for measures in known)
            assert one == other, participant.label


def test_a_learner_has_the_same_role_in_every_cell():
    participants = {
        (participant.label, participant.role)
        for players in (*PARTICIPANTS.values(), every_bandit())
        for participant in players
    }
    assert len(participants) == len({label for label, _ in participants})


def test_cells_and_learners_can_be_chosen():
    found = select_scans(TINY, ["full-drifting"], ["hedge"])
    assert {scan.cell for scan in found} == {"full-drifting"}
    assert {participant.label for scan in found for participant in scan.participants} == {"hedge"}
    with pytest.raises(UnknownName, match=r"^There is no learner 'hegde'\. Did you mean 'hedge'\? If it is your own,"):
        select_scans(TINY, ["full-drifting"], ["hegde"])


def test_added_learners_play_where_their_feedback_fits_and_are_tuned_if_they_have_a_rule(tmp_path):
    found = select_scans(TINY, ["full-drifting", "bandit-drifting"], ["squint", "fixed-share", "exp3-s", "ucb1"])
    parts = {(scan.cell, participant.label): participant.role for scan in found for participant in scan.participants}
    assert parts == {
        ("full-drifting", "squint"): "added",
        ("full-drifting", "fixed-share"): "added",
        ("bandit-drifting", "exp3-s"): "added",
        ("bandit-drifting", "ucb1"): "baseline",  # a default participant there
    }
    players = {participant.label: participant.player for scan in found for participant in scan.participants}
    assert players["squint"] == Player("squint")
    assert players["fixed-share"] == Player("fixed-share", "budget")
    with collected() as reasons:
        outcomes = measure([scan for scan in found if scan.key == "full-drifting-low"], 2, 1, tmp_path)
    assert reasons == [outcomes[1].caveat]
    assert [outcome.participant.label for outcome in outcomes] == ["squint", "fixed-share"]
    with pytest.raises(UnknownName, match="There is no learner 'oracle-restarts' in these cells"):
        select_scans(TINY, CELLS, ["oracle-restarts"])
    with pytest.raises(UnknownName, match="There is no learner 'ucb1' in these cells"):
        select_scans(TINY, ["full-drifting"], ["ucb1"])


@pytest.mark.parametrize("cell", CELLS)
def test_the_landscape_of_a_cell_is_measured_and_printed(cell, tmp_path):
    names = [participant.label for participant in PARTICIPANTS[cell][:2]]
    with collected():  # runs of 300 rounds are short for EXP3.S
        outcomes = measure(select_scans(TINY, [cell], names), TINY.n_runs, 1, tmp_path)
    text = table(outcomes)
    assert rates(cell)[0].text in text
    assert all(name in text for name in names)
    assert max(map(len, text.splitlines())) <= 120
    for outcome in outcomes:
        assert all(np.isfinite(measurement.regrets).all() for measurement in outcome.measurements)
        equal = all((measurement.regrets == measurement.regrets[0]).all() for measurement in outcome.measurements)
        assert np.isnan(outcome.exponent.low) if equal else outcome.exponent.low <= outcome.exponent.high


# claims


def outcomes_of(curves, key, companion=None, source=ENVIRONMENT):
    """Return outcomes with these mean regrets at T = 100, 1000, 10000."""
    values = (100, 1000, 10_000)
    found = []
    for label, means in curves.items():
        scan = Scan(key, "", "T", values, lambda t: Setting(source, int(t)))
        runs = [np.array([mean, mean * 1.001]) for mean in means]
        beside = (np.nan,) * 3 if companion is None else companion
        parts = zip(runs, beside, values, strict=True)
        made = [Measurement(r, np.full(2, other), *np.ones((3, 2)), 2, t) for r, other, t in parts]
        found.append(Outcome(scan, Participant(label, "paper", HEDGE), tuple(made)))
    return found


@pytest.mark.parametrize(
    ("gd", "hedge", "holds"),
    [((9, 9, 9), (10, 100, 1000), True), ((9, 12, 15), (10, 100, 1000), False), ((9, 9, 9), (9, 9, 9), False)],
)
def test_the_first_claim_can_fail(gd, hedge, holds):
    curves = {"optimistic-gd": gd, "sleeping-optimistic-adapt-ml-prod": (9, 9, 9), "hedge": hedge}
    (claim,) = claims(outcomes_of(curves, "full-switching-rounds"))
    assert claim.holds is holds


@pytest.mark.parametrize(
    ("last", "beside", "holds"),
    [
        (25.0, (1.5, 1.5, 1.5), True),
        (24.9, (1.5, 1.5, 1.5), False),
        (25.0, (40.0, 40.0, 40.0), False),  # more than its bound
        (25.0, (1.5, 1.55, 1.6), False),  # not constant
    ],
    ids=["yes", "less", "large", "growing"],
)
def test_the_second_claim_can_fail(last, beside, holds):
    low = outcomes_of(
        {"ucb1": (9, 9, last), "exp3": (9, 9, 99)}, "bandit-switching-low", beside, BanditLow(2, 2, "best-response")
    )
    (claim,) = claims(low)
    assert claim.holds is holds


@pytest.mark.parametrize(
    ("low", "sine", "hedge", "holds"),
    [
        ((5, 11, 23), (9, 9, 9), (10, 100, 1000), True),
        ((50, 50, 50), (9, 9, 9), (10, 100, 1000), False),  # not like T^(1/3)
        ((0.5, 1.1, 2.3), (9, 9, 9), (10, 100, 1000), False),  # less than is guaranteed
        ((0, 11, 23), (9, 9, 9), (10, 100, 1000), False),
        ((5, 11, 23), (9, 27, 81), (10, 100, 1000), False),
        ((5, 11, 23), (9, 9, 9), (9, 9, 9), False),
        ((5, 11, 23), (0, 9, 9), (10, 100, 1000), False),  # no exponent
    ],
)
def test_the_third_claim_can_fail(low, sine, hedge, holds):
    against = outcomes_of({"restarted-adaptive-gd": low}, "full-drifting-low", source=FullV(2.0, 32.0, 2))
    benign = outcomes_of({"restarted-adaptive-gd": sine, "hedge": hedge}, "full-drifting-rounds")
    (claim,) = claims([*against, *benign])
    assert claim.holds is holds


def test_where_the_first_claim_is_measured_merged_memory_is_as_good_as_exact():
    (scan,) = [one for one in scans(PRESETS["standard"]) if one.key == "full-switching-rounds"]
    source, n_rounds = scan.setting(1000)
    players = {memory: partial(SleepingOptimisticAdaptMLProd.tuned, memory=memory) for memory in ("exact", "merged")}
    results = simulate(source, players, n_rounds, n_runs=2, seed=1)
    assert results.final("merged") == pytest.approx(results.final("exact"), rel=1e-9)


def test_claims_about_cells_that_were_not_chosen_are_left_out():
    assert claims(outcomes_of({"hedge": (1, 2, 3)}, "full-switching-rounds")) == []
