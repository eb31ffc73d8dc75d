"""BanditTracker against its formulas, and what each of its parts is for: without the part, the reference fails."""

import numpy as np
import pytest

from driftwise.core.random import next_uniform
from driftwise.environments import Bernoulli, Constant, Environment, Segments, Sinusoidal, SparseBernoulli, TwoPoint
from driftwise.learners import KLUCB, BanditTracker, DiscountedKLUCB, SlidingWindowKLUCB, Thompson
from driftwise.learners.bandits.bandit_tracker import dispersion, overall_dispersion
from driftwise.regret_study.attacks import (
    late_noise,
    longer_periods,
    noise_on_and_off,
    period_two,
    slow_improvement,
    unplayed_fall,
)
from paths import make_path
from references import bandit_tracker
from references.indices import NearTies
from replaying import run

LEARNER = BanditTracker()
FAMILIES = (
    "coin",
    "tied",
    "repeated",
    "constant",
    "equal",
    "switching",
    "alternating",
    "noiseless",
    "drifting",
    "spikes",
)


def uniforms(n_actions, seed=0):
    words = LEARNER.start(n_actions, seed).memory.generator.copy()
    return lambda: next_uniform(words)


def drawn(path, noise, n_rounds, seed=1):
    block = Environment(path, noise).start(n_rounds, np.random.SeedSequence(seed)).draw(n_rounds)
    return block.losses, block.means


def regret(actions, means):
    return float(means[np.arange(len(means)), actions].sum() - means.min(axis=1).sum())


def mean_regrets(worlds, *learners):
    """Return the mean regret of each learner over pairs of losses and means; its seed is the number of the pair."""
    regrets = [
        [regret(run(learner, losses, seed=seed)[0], means) for learner in learners]
        for seed, (losses, means) in enumerate(worlds)
    ]
    return np.mean(regrets, axis=0)


def reference(losses, without, seed=0):
    actions, end = bandit_tracker.play(losses, uniforms(losses.shape[1], seed), without=without)
    return np.array(actions), end


def expect_reference(losses, most_near_ties=0.01):
    """Expect the actions, the alarms and the sums of the reference."""
    near_ties = NearTies()
    actions, state = run(LEARNER, losses)
    expected, end = bandit_tracker.play(losses, uniforms(losses.shape[1]), actions, near_ties)
    np.testing.assert_array_equal(actions, expected)
    memory = state.memory
    assert memory.alarms[0] == len(end.alarms)
    beliefs = LEARNER.beliefs(state)
    assert list(beliefs.alarms) == end.alarms[-64:]
    assert beliefs.memory == sum(len(end.recent(i, end.window())) for i in range(losses.shape[1]))
    largest = max((np.mean(end.plays(i)) for i in range(losses.shape[1]) if end.plays(i)), default=0.0)
    assert beliefs.drift == pytest.approx(largest + end.drift, abs=1e-9)
    assert [len(end.plays(i)) for i in range(losses.shape[1])] == memory.plays.tolist()
    np.testing.assert_allclose(memory.noise[:, 0], end.A, rtol=1e-9)
    np.testing.assert_allclose(memory.noise[:, 2], end.recent_A, rtol=1e-9)
    np.testing.assert_allclose(memory.errors[:, 0], end.errors, rtol=1e-6, atol=1e-9)
    np.testing.assert_allclose(memory.errors[:, 1], end.late_errors, rtol=1e-6, atol=1e-9)
    assert near_ties.share() <= most_near_ties
    return end


@pytest.mark.parametrize("family", FAMILIES)
def test_actions_are_those_of_the_formulas(family):
    for n_rounds, n_actions in ((1, 1), (60, 1), (400, 2), (300, 3), (300, 8)):
        expect_reference(make_path(family, n_rounds, n_actions, seed=n_rounds + n_actions), most_near_ties=0.2)


LONG = {
    "Bernoulli": (Segments(((0.3, 0.7, 0.5), (0.8, 0.2, 0.5), (0.5, 0.6, 0.1)), (700, 1200)), Bernoulli()),
    "low noise": (Segments(((0.3, 0.7), (0.8, 0.2)), (900,)), TwoPoint(scale=0.05)),
    "drift": (Sinusoidal(3, 6.0, 0.3), TwoPoint(scale=0.05)),
    "outliers": (Constant((0.4, 0.6)), SparseBernoulli((0.02,))),
}


@pytest.mark.parametrize("name", LONG)
def test_actions_in_a_long_run_are_those_of_the_formulas(name):
    losses, _ = drawn(*LONG[name], 1600)
    end = expect_reference(losses)
    assert (len(end.alarms) > 0) == (name != "outliers")


# What the parts are for: the reference without the part does not do the same


def test_a_better_action_that_is_not_played_is_found_by_probing():
    losses = np.tile([0.5, 1.0], (1200, 1))
    losses[600:, 1] = 0.0
    assert run(LEARNER, losses)[0][-100:].mean() == 1.0
    assert reference(losses, ["probing"])[0][-100:].mean() == 0.0


def test_a_fall_of_an_action_that_is_hardly_played_is_followed_by_early_probes():
    means = np.tile([0.1, 0.6, 0.6], (4000, 1))
    means[2000:, 2] = 0.0
    regrets = {(): [], ("streaks",): []}
    for seed in range(3):
        losses = (np.random.default_rng(seed).random(means.shape) < means).astype(float)
        regrets[()].append(regret(run(LEARNER, losses, seed=seed)[0], means))
        regrets["streaks",].append(regret(reference(losses, ["streaks"], seed)[0], means))
    assert np.mean(regrets[()]) < 0.8 * np.mean(regrets["streaks",])


def test_a_streak_is_followed_by_an_early_probe():
    """After 500 rounds with losses 0.5 and 1 the second action has one loss of 0.25."""
    state = LEARNER.start(2, seed=0)
    losses = np.tile([0.5, 1.0], (500, 1))
    LEARNER.run(state, losses)
    LEARNER.update(state, 1, 0.25, None)
    assert state.memory.streaks[:, 0].tolist() == [0.0, 1.0]
    waited = np.flatnonzero(LEARNER.run(state, losses) == 1)[0]
    _, slow = reference(losses, ["streaks"])
    slow.update(1, 0.25)
    waited_without = 0
    while slow.choose(None, NearTies()) == 0:
        slow.update(0, 0.5)
        waited_without += 1
    assert waited < 0.6 * waited_without


@pytest.mark.parametrize("quiet", [0.05, 0.25, 0.6])
def test_noise_that_starts_late_costs_no_more_than_noise_from_the_start(quiet):
    """The regret was linear in the number of rounds while sums of the noise were never forgotten."""
    means = np.tile([0.4, 0.5, 0.6], (20_000, 1))
    late, early = [], []
    for seed in range(8):
        noisy = (np.random.default_rng(seed).random(means.shape) < means).astype(float)
        silent = np.arange(len(means)) < quiet * len(means)
        early.append(regret(run(LEARNER, noisy, seed=seed)[0], means))
        late.append(regret(run(LEARNER, np.where(silent[:, None], means, noisy), seed=seed)[0], means))
    assert np.mean(late) < 1.5 * np.mean(early)


def test_late_noise_is_learned_because_the_quiet_is_forgotten():
    means = np.tile([0.4, 0.5, 0.6], (3000, 1))
    losses = (np.random.default_rng(1).random(means.shape) < means).astype(float)
    losses[:2000] = means[:2000]
    state, (_, slow) = run(LEARNER, losses)[1], reference(losses, ["forgetting"])
    played = int(state.memory.plays.argmax())
    assert dispersion(state.memory.noise, played, overall_dispersion(state.memory.noise)) > 0.8
    assert slow.dispersion(played) < 0.5


@pytest.mark.parametrize(("high", "low", "share"), [(0.6, 0.3, 0.01), (0.55, 0.45, 0.02)])
def test_losses_with_a_period_do_not_keep_the_learner_on_the_bad_half(high, low, share):
    """Without the random repetition, the regret against a fixed action is half the difference in every round."""
    losses = np.tile([[high, low], [low, high]], (5000, 1))
    worst = max(losses[np.arange(10_000), run(LEARNER, losses, seed=seed)[0]].sum() for seed in range(8))
    assert worst - losses[:, 0].sum() < share * len(losses)
    short = losses[:1000]
    stuck = [short[np.arange(1000), reference(short, ["stay"], seed)[0]].sum() for seed in range(3)]
    assert max(stuck) - short[:, 0].sum() > 0.3 * (high - low) * 1000


def test_the_probability_of_staying_is_that_of_the_draw():
    state = LEARNER.start(2, seed=3)
    losses = np.random.default_rng(3).random((20_000, 2))
    counts = {}
    for row in losses:
        last = int(state.memory.last_action[0])
        action, probability = LEARNER.choose(state)
        LEARNER.update(state, action, row[action], probability)
        if probability < 1.0:
            assert probability == pytest.approx(0.05 if action == last else 0.95)
            counts[action == last] = counts.get(action == last, 0) + 1
    assert counts[False] > 5 * counts.get(True, 0) > 0


def test_a_stretch_without_a_rare_loss_is_not_taken_for_certainty():
    """With means near 0 a hundred losses may all be 0."""
    losses = (np.random.default_rng(1).random((4000, 2)) < [0.02, 0.04]).astype(float)
    lowest, lowest_recent = 1.0, 1.0
    state = LEARNER.start(2, seed=0)
    for row in losses[:1000]:
        LEARNER.run(state, row[None, :])
        if state.rounds > 300:
            played = int(state.memory.plays.argmax())
            lowest = min(lowest, dispersion(state.memory.noise, played, overall_dispersion(state.memory.noise)))
    slow = bandit_tracker.BanditTracker(2, uniforms(2), ["all noise"])
    for row in losses[:1000]:
        action = slow.choose(None, NearTies())
        slow.update(action, float(row[action]))
        if slow.t > 300:
            lowest_recent = min(lowest_recent, slow.dispersion(max(range(2), key=lambda i: len(slow.plays(i)))))
    assert lowest > 0.6 > lowest_recent


def shocks(rho, n_rounds, seed):
    """Losses of two actions around 0.42 and 0.52 with autoregressive noise that they share."""
    rng = np.random.default_rng(seed)
    noise = np.zeros(n_rounds)
    for t in range(1, n_rounds):
        noise[t] = rho * noise[t - 1] + np.sqrt(1 - rho**2) * rng.standard_normal()
    means = np.tile([0.42, 0.52], (n_rounds, 1))
    return np.clip(means + 0.1 * noise[:, None], 0, 1), means


@pytest.mark.parametrize(("rho", "most"), [(0.3, 1.0), (0.6, 3.0), (0.75, 3.5), (0.93, 5.0)])
def test_shocks_that_all_actions_share_are_no_drift(rho, most):
    """Seen: 0.4, 0.8, 2.0 and 3.5 times Thompson's regret; 5.5 and 4.1 for 0.6 and 0.75 without the late errors."""
    mine, rival = mean_regrets([shocks(rho, 20_000, seed) for seed in range(16)], LEARNER, Thompson())
    assert mine < most * rival


def test_late_errors_tell_shocks_from_drift():
    losses, _ = shocks(0.6, 3000, 1)
    assert bandit_tracker.play(losses, uniforms(2))[1].window() == np.inf
    assert reference(losses, ["late"])[1].window() == 1


def test_probes_are_at_random_times():
    losses = np.tile([0.5, 1.0], (700, 1))
    probes = {tuple(np.flatnonzero(run(LEARNER, losses, seed=seed)[0] == 1)[-3:]) for seed in range(8)}
    assert len(probes) == 8
    plain = {tuple(np.flatnonzero(reference(losses, ["delays"], seed)[0] == 1)[-3:]) for seed in range(3)}
    assert len(plain) == 1


def test_low_noise_needs_few_plays_of_bad_actions():
    losses, means = drawn(Constant((0.5, 0.6, 0.6)), TwoPoint(scale=0.05), 1000)
    least = regret(run(LEARNER, losses)[0], means)
    assert least < 0.5 * regret(run(KLUCB(), losses)[0], means)
    assert least < 0.5 * regret(reference(losses, ["noise"])[0], means)


@pytest.mark.parametrize(("noise", "low", "high"), [(Bernoulli(), 0.8, 1.0), (TwoPoint(scale=0.05), 0.02, 0.03)])
def test_the_dispersion_is_that_of_the_noise(noise, low, high):
    """It counts about 128 plays, with a relative error of about 0.1; the other action has few plays."""
    memory = run(LEARNER, drawn(Constant((0.4, 0.6)), noise, 3000)[0])[1].memory
    overall = overall_dispersion(memory.noise)
    assert low <= max(0.02, overall) <= high
    assert low <= dispersion(memory.noise, int(memory.plays.argmax()), overall) <= high


def test_a_rare_outlier_is_no_change():
    losses, _ = drawn(Constant((0.4, 0.6)), SparseBernoulli((0.02,)), 1000)
    assert run(LEARNER, losses)[1].memory.alarms[0] == 0
    assert len(reference(losses, ["bennett"])[1].alarms) > 0


def test_a_change_is_an_alarm_and_the_later_plays_are_kept():
    losses, means = drawn(Segments(((0.3, 0.6), (0.9, 0.6)), (1000,)), Bernoulli(), 1300)
    actions, state = run(LEARNER, losses)
    assert state.memory.alarms[0] == 1
    assert 1000 <= state.memory.alarms[1] < 1060
    assert 940 <= state.memory.clock[1] <= state.memory.alarms[1]
    assert regret(actions, means) < 0.5 * regret(reference(losses, ["alarms", "windows"])[0], means)


def test_an_alarm_leaves_the_other_actions_their_last_play():
    """The others may have changed as well; their next plays decide."""
    losses, _ = drawn(Segments(((0.3, 0.6, 0.6), (0.9, 0.6, 0.6)), (400,)), Bernoulli(), 500)
    state = LEARNER.start(3, seed=1)
    last = np.full(3, np.nan)
    while state.memory.alarms[0] == 0:
        before = state.memory.plays.copy()
        action = LEARNER.run(state, losses[state.rounds : state.rounds + 1])[0]
        last[action] = losses[state.rounds - 1, action]
    others = np.arange(3) != action
    assert before[others].min() > 1.0
    np.testing.assert_array_equal(state.memory.plays[others], 1.0)
    np.testing.assert_array_equal(state.memory.total[others], last[others])
    assert 1.0 < state.memory.plays[action] < before[action]


def test_means_that_drift_are_followed_with_short_windows():
    losses, means = drawn(Sinusoidal(3, 20.0, 0.3), TwoPoint(scale=0.02), 1000)
    assert regret(run(LEARNER, losses)[0], means) < 0.9 * regret(reference(losses, ["windows"])[0], means)


def test_beliefs_estimate_the_variance_and_the_jumps():
    losses, _ = drawn(Segments(((0.3, 0.6), (0.9, 0.6)), (1000,)), Bernoulli(), 1300)
    beliefs = LEARNER.beliefs(run(LEARNER, losses)[1])
    assert (beliefs.segments, beliefs.n_alarms) == (2, 1)
    assert beliefs.drift == pytest.approx(0.9 + 0.6, abs=0.2)
    assert beliefs.variance == pytest.approx(1300 * (0.9 * 0.1 + 0.6 * 0.4), rel=0.3)


# Worlds that defeated earlier versions: `benchmarks/bandit_attacks.py` has them with more rounds and rivals


def bernoulli(means, seed):
    return (np.random.default_rng(seed).random(means.shape) < means).astype(float)


@pytest.mark.parametrize(
    ("world", "n_rounds", "n_worlds", "most"),
    [(late_noise, 80_000, 8, 1.5), (noise_on_and_off, 20_000, 16, 2.2), (noise_on_and_off, 80_000, 8, 2.2)],
)
def test_noise_that_comes_and_goes_costs_little_more_than_noise_in_all_rounds(world, n_rounds, n_worlds, most):
    """Seen: 0.61, 0.86, 0.72. The quiet rounds are filled with noise for the comparison, the others are the same."""
    quiet = [world(np.random.default_rng(seed), n_rounds, 3) for seed in range(n_worlds)]
    noisy = [
        (np.where(losses == means, bernoulli(means, [seed, 1]), losses), means)
        for seed, (losses, means, _) in enumerate(quiet)
    ]
    assert mean_regrets([world[:2] for world in quiet], LEARNER) < most * mean_regrets(noisy, LEARNER)


@pytest.mark.parametrize(("best", "most"), [(0.1, 3.5), (0.05, 5.0)])
def test_a_fall_of_an_action_that_is_hardly_played_costs_a_few_times_what_it_costs_a_tuned_rival(best, most):
    """The rival is the one of the benchmark that is best there. Seen: 2.7, 2.6; the first version had 10 for 0.1."""
    worlds = []
    for seed in range(40):
        losses, means, _ = unplayed_fall(np.random.default_rng(seed), 20_000, 3)
        if best != means[0, 0]:
            means[:, 0] = best
            losses = bernoulli(means, seed)
        worlds.append((losses, means))
    mine, rival = mean_regrets(worlds, LEARNER, DiscountedKLUCB(0.9997))
    assert mine < most * rival


def test_a_mean_that_falls_slowly_is_found_in_time():
    """0.8 falls to 0.1 beside 0.4. Seen: 4.0 times the regret of a window of 12,800 rounds."""
    worlds = [slow_improvement(np.random.default_rng(seed), 20_000, 2)[:2] for seed in range(40)]
    mine, rival = mean_regrets(worlds, LEARNER, SlidingWindowKLUCB(12_800))
    assert mine < 5.0 * rival


def test_probes_of_constant_means_cost_about_the_root_of_the_rounds():
    """Seen: 141; 187 with 1.4 times the probes."""
    means = np.tile([0.3, 0.7, 0.7, 0.7, 0.7], (100_000, 1))
    assert mean_regrets([(bernoulli(means, seed), means) for seed in range(20)], LEARNER) < 145


def test_losses_in_a_small_part_of_the_range_cost_a_few_times_what_they_cost_when_rescaled():
    """Eight segments of losses 0.5 and 0.51. Seen: 10.5, and 2.4 in the same units if they are rescaled to 0 and 1."""
    within = np.full((10_000, 3), 0.7)
    within[np.arange(10_000), np.arange(10_000) * 8 // 10_000 % 3] = 0.3
    worlds = [(0.5 + 0.01 * bernoulli(within, seed), 0.5 + 0.01 * within) for seed in range(40)]
    assert mean_regrets(worlds, LEARNER) < 11


@pytest.mark.parametrize(("world", "n_worlds"), [(period_two, 16), (longer_periods, 48)])
@pytest.mark.parametrize("n_actions", [2, 3])
def test_losses_with_a_period_cost_little_against_a_fixed_action_for_every_seed(world, n_worlds, n_actions):
    """About eight seeds for each period and pair of losses. Seen: at most 0.006 of the rounds; 0.15 without staying."""
    worst = 0.0
    for seed in range(n_worlds):
        losses = world(np.random.default_rng(seed), 10_000, n_actions).losses
        loss = losses[np.arange(10_000), run(LEARNER, losses, seed=seed)[0]].sum()
        worst = max(worst, (loss - losses.sum(axis=0).min()) / 10_000)
    assert worst < 0.02


# Borders


@pytest.mark.parametrize("loss", [0.0, 1.0, 0.3])
def test_equal_losses_raise_no_alarm(loss):
    actions, state = run(LEARNER, np.full((5000, 4), loss))
    assert state.memory.alarms[0] == 0
    assert (np.bincount(actions, minlength=4) > 0).all()


def test_memory_does_not_grow_and_the_ring_keeps_the_latest_alarms():
    means = np.repeat(np.tile([[0.05, 0.95], [0.95, 0.05]], (150, 1)), 300, axis=0)
    losses = (np.random.default_rng(1).random(means.shape) < means).astype(float)
    _, state = run(LEARNER, losses)
    memory = state.memory
    n = int(memory.alarms[0])
    assert n > 64
    latest = LEARNER.beliefs(state).alarms
    assert len(latest) == 64
    assert latest[-1] > len(losses) - 2000
    assert sum(field.nbytes for field in memory) == sum(field.nbytes for field in LEARNER.start(2).memory)


@pytest.mark.parametrize(
    ("field", "at", "value", "rule"),
    [
        ("n_buckets", 0, 3, "`buckets` must have sizes"),
        ("n_buckets", 0, 145, "`n_buckets` must be in [0, 144]"),
        ("buckets", (0, 0, 0), 3.0, "`buckets` must have sizes"),
        ("buckets", (0, 0, 0), np.nan, "`buckets` must have sizes"),
        ("buckets", (0, 0, 1), -1.0, "`total` must be the sum"),
        ("buckets", (0, 0, 1), np.nan, "`total` must be the sum"),
        ("plays", 0, 2.0, "`plays` must count"),
        ("total", 0, 2.0, "`total` must be the sum"),
        ("clock", 0, 7, "`clock` must begin with 40"),
        ("clock", 1, 41, "`clock` must be in [0, 40]"),
        ("streaks", (1, 0), -1.0, "`streaks` must be in"),
        ("means", 1, 1.5, "`means` must be in"),
        ("last_action", 0, 2, "`last_action` must be a whole number in [0, 1]"),
        ("noise", (1, 3), -1.0, "`noise` must be in"),
        ("delays", 1, 0.0, "`delays` must be in"),
        ("errors", (0, 0), np.nan, "`errors` must be in"),
        ("errors", (3, 1), -1.0, "`errors` must be in"),
        ("latest_actions", 0, 3, "`latest_actions` must be in"),
        ("latest_losses", 1, 2.0, "`latest_losses` must be in"),
        ("alarms", 0, -1, "`alarms` must be increasing rounds"),
        ("drift", 0, -1.0, "`drift` must be in"),
    ],
)
def test_a_memory_that_cannot_be_is_rejected(field, at, value, rule):
    _, state = run(LEARNER, make_path("coin", 40, 2, seed=1))
    assert LEARNER.memory_fault(state.memory, 2, 40) == ""
    getattr(state.memory, field)[at] = value
    assert rule in LEARNER.memory_fault(state.memory, 2, 40)


def test_a_probe_is_not_repeated_while_its_outcome_is_awaited():
    """Without outcomes, `choose` returns an overdue action once; late outcomes then cost little."""
    state = LEARNER.start(2)
    LEARNER.run(state, [[0.5, 0.9]] * 2000)
    while LEARNER.choose(state)[0] == 0:
        LEARNER.update(state, 0, 0.5, 1.0)
    assert [LEARNER.choose(state)[0] for _ in range(5)] == [0] * 5


def test_first_plays_are_spread_while_their_outcomes_are_awaited():
    state = LEARNER.start(5, seed=1)
    chosen, probabilities = zip(*[LEARNER.choose(state) for _ in range(400)], strict=True)
    assert chosen[:5] == (0, 1, 2, 3, 4)
    assert probabilities == (1.0,) * 5 + (1 / 5,) * 395
    assert min(chosen.count(i) for i in range(5)) > 50  # 80 on average
    for action in (3, 0):
        LEARNER.update(state, action, 0.5, 1.0)
    assert {LEARNER.choose(state) for _ in range(60)} == {(1, 1 / 3), (2, 1 / 3), (4, 1 / 3)}
    for action in (1, 2, 4):
        LEARNER.update(state, action, 0.9, 1.0)
    assert state.memory.last_action[0] in (1, 2, 4)  # it may be repeated: with one play, its index is low
    action, probability = LEARNER.choose(state)
    assert (action in (0, 3), probability) == (True, 0.95)
