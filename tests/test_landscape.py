"""The measured Table 1: powers that are known, measurements that are kept, claims that can fail."""

import dataclasses
import threading
from functools import partial

import numpy as np
import pytest

from driftwise.adversaries import Adversary, BanditLow, FullV
from driftwise.core.errors import BadFile, InvalidInput, UnknownName
from driftwise.core.measures import Measures
from driftwise.core.tuning_caveats import collected
from driftwise.engine import simulate
from driftwise.environments import Bernoulli, Environment, Switching
from driftwise.landscape import measurements
from driftwise.landscape.claims import claims
from driftwise.landscape.measurements import Job, Measurement, MeasurementStore, Setting
from driftwise.landscape.outcomes import Outcome, measure, rates, table
from driftwise.landscape.participants import CELLS, PARTICIPANTS, Participant, every_bandit
from driftwise.landscape.scans import PRESETS, Scan, geometric, select_scans, scans
from driftwise.learners import (
    UCB1,
    FixedShare,
    Hedge,
    OptimisticGD,
    SleepingOptimisticAdaptMLProd,
    Squint,
    Thompson,
)
from driftwise.results.power_fits import fit_power
from tiny_landscape import TINY

ENVIRONMENT = Environment(Switching(2, 3), Bernoulli())


def job(**changes):
    base = Job(Setting(ENVIRONMENT, 50), "hedge", Hedge(), n_runs=3, seed=5)
    return dataclasses.replace(base, **changes)


# powers


@pytest.mark.parametrize("exponent", [-1.0, 0.0, 0.35, 1.0])
def test_a_power_without_noise_is_found_exactly(exponent):
    x = [10.0, 100.0, 1000.0]
    power = fit_power(x, [[3 * value**exponent] * 4 for value in x])
    assert power == pytest.approx((exponent,) * 3, abs=1e-12)


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


@pytest.mark.parametrize("source", [ENVIRONMENT, BanditLow(2, 2, "best-response")], ids=["environment", "adversary"])
def test_a_finished_measurement_is_not_played_again(source, tmp_path, monkeypatch):
    wanted = job(setting=Setting(source, 60), label="ucb1", player=UCB1())
    (first,) = measurements.run_jobs([wanted], MeasurementStore(tmp_path), 1, None)
    monkeypatch.setattr(Job, "play", lambda _: pytest.fail("played again"))
    (second,) = measurements.run_jobs([wanted], MeasurementStore(tmp_path), 1, None)
    assert (first.regrets == second.regrets).all()
    assert first.measures == second.measures


@pytest.mark.parametrize(
    "change",
    [
        {"seed": 6},
        {"n_runs": 4},
        {"setting": Setting(ENVIRONMENT, 51)},
        {"player": Hedge(0.1)},
        {"companion": OptimisticGD()},
    ],
    ids=["seed", "runs", "rounds", "learner", "companion"],
)
def test_another_recipe_is_another_measurement(change, tmp_path):
    store = MeasurementStore(tmp_path)
    store.put(job(), job().play())
    assert store.get(job()) is not None
    assert store.get(job(**change)) is None


def test_other_code_is_another_measurement(tmp_path, monkeypatch):
    store = MeasurementStore(tmp_path)
    store.put(job(), job().play())
    monkeypatch.setattr(measurements, "_code", lambda: "mended")
    assert store.get(job()) is None


def test_the_digest_covers_only_code_that_plays(tmp_path):
    for name in ("learners", "report"):
        (tmp_path / name).mkdir()
    (tmp_path / "registry.py").touch()
    first = measurements.digest_of(tmp_path)
    (tmp_path / "report" / "words.py").write_text("new = 1")
    assert measurements.digest_of(tmp_path) == first
    (tmp_path / "learners" / "hedge.py").write_text("new = 1")
    assert measurements.digest_of(tmp_path) != first


def test_a_folder_that_cannot_be_made_is_rejected_before_anything_is_played(tmp_path, monkeypatch):
    (tmp_path / "file").touch()
    monkeypatch.setattr(Job, "play", lambda _: pytest.fail("played"))
    with pytest.raises(BadFile, match=r"^Cannot make the folder .*measurements: Not a directory\.$"):
        measure(select_scans(TINY, ["full-drifting"], ["hedge"]), 1, 1, tmp_path / "file" / "measurements")


def test_a_damaged_measurement_is_named(tmp_path):
    store = MeasurementStore(tmp_path)
    store.put(job(), job().play())
    (path,) = tmp_path.glob("*.parquet")
    path.write_bytes(path.read_bytes()[:100])
    with pytest.raises(BadFile, match="is not a complete measurement: delete it to repeat it"):
        store.get(job())


def contents(measurement):
    return [np.asarray(field).tobytes() for field in measurement]


def test_a_measurement_with_a_flipped_bit_is_named_or_the_same_or_played_again(tmp_path):
    """Where a bit of the recipe is flipped, the file is that of another measurement."""
    store, measurement = MeasurementStore(tmp_path), job().play()
    store.put(job(), measurement)
    (path,) = tmp_path.glob("*.parquet")
    content, named = path.read_bytes(), 0
    for bit in range(0, 8 * len(content), 61):
        copy = bytearray(content)
        copy[bit // 8] ^= 1 << bit % 8
        path.unlink()
        path.write_bytes(copy)
        try:
            found = store.get(job())
        except BadFile as error:
            named += "delete it to repeat it" in str(error)
        else:
            assert found is None or contents(found) == contents(measurement)
    assert named > 50


def test_threads_do_not_change_the_measurements(tmp_path):
    jobs = [job(seed=i, label="thompson", player=Thompson(), setting=Setting(BanditLow(2, 2), 80)) for i in range(4)]
    one, two = (measurements.run_jobs(jobs, MeasurementStore(tmp_path / str(n)), n, None) for n in (1, 2))
    assert all((a.regrets == b.regrets).all() for a, b in zip(one, two, strict=True))
    assert len({float(measurement.regrets.sum()) for measurement in one}) > 1


def test_progress_ends_at_the_total(tmp_path):
    seen = []
    measurements.run_jobs([job(), job(seed=6)], MeasurementStore(tmp_path), 1, lambda *at: seen.append(at))
    assert seen == [(150, 300), (300, 300)]


def test_an_interrupt_ends_at_once_and_keeps_finished_measurements(tmp_path, monkeypatch):
    jobs = [job(), job(seed=6)]
    expected = measurements.run_jobs(jobs, MeasurementStore(tmp_path / "whole"), 1, None)
    play, continue_play, ended = Job.play, threading.Event(), threading.Event()

    def wait(self):
        if self.seed == 6:
            continue_play.wait(20)
            ended.set()
        return play(self)

    def interrupt(*_):
        raise KeyboardInterrupt

    monkeypatch.setattr(Job, "play", wait)
    with pytest.raises(KeyboardInterrupt):
        measurements.run_jobs(jobs, MeasurementStore(tmp_path / "cut"), 2, interrupt)
    assert not ended.is_set()
    continue_play.set()
    resumed = measurements.run_jobs(jobs, MeasurementStore(tmp_path / "cut"), 2, None)
    assert all((a.regrets == b.regrets).all() for a, b in zip(expected, resumed, strict=True))


def test_an_error_in_any_measurement_is_raised(tmp_path):
    with pytest.raises(InvalidInput, match="must make a learner, got None"):
        measurements.run_jobs([job(), job(player=lambda _: None)], MeasurementStore(tmp_path), 2, None)


# scans


def test_every_cell_has_benign_and_adversarial_sweeps_over_a_decade_and_a_half():
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
            one, other = (
                Job(Setting(ENVIRONMENT, 1000), *participant[::2], 1, 1).learner(measures) for measures in known
            )
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
    assert players["squint"] == Squint()
    assert players["fixed-share"] == FixedShare.tuned
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
        assert outcome.power().low <= outcome.power().high


# claims


def outcomes_of(curves, key, companion=None, source=ENVIRONMENT):
    """Return outcomes with these mean regrets at T = 100, 1000, 10000."""
    values = (100, 1000, 10_000)
    found = []
    for label, means in curves.items():
        scan = Scan(key, "full-switching", "", "T", values, lambda t: Setting(source, int(t)), ())
        runs = [np.array([mean, mean * 1.001]) for mean in means]
        beside = (np.nan,) * 3 if companion is None else companion
        parts = zip(runs, beside, values, strict=True)
        made = [Measurement(r, np.full(2, other), *np.ones((3, 2)), 2, t) for r, other, t in parts]
        found.append(Outcome(scan, Participant(label, "paper", Hedge()), tuple(made)))
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
