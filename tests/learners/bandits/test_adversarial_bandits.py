"""Exp3, Exp3.S, Rexp3 and Tsallis-INF against slow references with the same uniforms, and against their bounds."""

from math import e, log, nan, sqrt

import numpy as np
import pytest
from scipy import stats

from driftwise.checks import check_learner
from driftwise.core.errors import InvalidInput
from driftwise.core.measures import Measures, collected
from driftwise.core.random import next_uniform
from driftwise.engine import simulate
from driftwise.environments import Bernoulli, Constant, Environment, Segments, Sinusoidal
from driftwise.learners import Exp3, Exp3S, Rexp3, TsallisINF
from driftwise.theory import adversarial
from paths import FAMILIES, make_path
from references import adversarial as reference, comparators

SHAPES = ((1, 1), (20, 1), (1, 4), (70, 2), (60, 3), (40, 10))  # rounds, actions
REDUCED, WEIGHTED = TsallisINF("reduced-variance"), TsallisINF("importance-weighted")
TWINS = {
    "exp3": (Exp3(0.3), reference.exp3(0.3)),
    "exp3, all exploration": (Exp3(1.0), reference.exp3(1.0)),
    "exp3-s": (Exp3S(0.3, 0.02), reference.exp3_s(0.3, 0.02)),
    "exp3-s, all sharing": (Exp3S(0.1, 1.0), reference.exp3_s(0.1, 1.0)),
    "rexp3": (Rexp3(17, 0.4), reference.rexp3(17, 0.4)),
    "rexp3, blocks of one": (Rexp3(1, 0.4), reference.rexp3(1, 0.4)),
    "tsallis-inf, reduced variance": (REDUCED, reference.tsallis_inf(True)),
    "tsallis-inf, importance weighted": (WEIGHTED, reference.tsallis_inf(False)),
}
LEARNERS = (Exp3(), Exp3S(), Rexp3(), REDUCED, WEIGHTED)


def uniforms(state, n_rounds):
    """Return the uniforms that a state will draw, from a copy of its generator."""
    generator = state.memory.generator.copy()
    return [next_uniform(generator) for _ in range(n_rounds)]


def stepped(learner, losses, seed):
    """Play round by round; return the distributions before each draw, the actions, and their probabilities."""
    state = learner.start(losses.shape[1], seed)
    played, actions, chances = [], [], []
    for row in losses:
        played.append(state.memory.probabilities.copy())
        action, probability = learner.choose(state)
        learner.update(state, action, row[action], probability)
        actions.append(action)
        chances.append(probability)
    return np.array(played), np.array(actions), np.array(chances)


def check_twin(learner, rule, losses, seed):
    expected, drawn = reference.play(rule, losses, uniforms(learner.start(losses.shape[1], seed), len(losses)))
    played, actions, chances = stepped(learner, losses, seed)
    np.testing.assert_allclose(played, expected, rtol=0, atol=1e-9)
    np.testing.assert_array_equal(actions, drawn)
    np.testing.assert_array_equal(chances, played[np.arange(len(losses)), actions])
    state = learner.start(losses.shape[1], seed)
    blocks = [learner.run(state, block) for block in np.split(losses, (len(losses) // 3,))]
    np.testing.assert_array_equal(np.concatenate(blocks), drawn)


@pytest.mark.parametrize("family", FAMILIES)
@pytest.mark.parametrize(("learner", "rule"), TWINS.values(), ids=TWINS)
def test_probabilities_and_draws_are_those_of_the_printed_formulas(learner, rule, family):
    for n_rounds, n_actions in SHAPES:
        check_twin(learner, rule, make_path(family, n_rounds, n_actions, seed=n_rounds), seed=n_actions)


@pytest.mark.interpreted
@pytest.mark.parametrize(("learner", "rule"), TWINS.values(), ids=TWINS)
def test_draws_on_a_short_path_are_those_of_the_printed_formulas(learner, rule):
    check_twin(learner, rule, make_path("tied", 40, 3, seed=1), seed=1)


@pytest.mark.parametrize("learner", LEARNERS, ids=str)
def test_actions_are_drawn_with_the_claimed_probabilities(learner):
    state = learner.start(5, seed=3)
    learner.run(state, np.tile([0.2, 0.8, 0.5, 0.6, 0.4], (400, 1)))
    claimed, n_draws = state.memory.probabilities.copy(), 20_000
    drawn = [learner.choose(state) for _ in range(n_draws)]
    assert all(probability == claimed[action] for action, probability in drawn)
    seen = np.bincount([action for action, _ in drawn], minlength=5)
    assert stats.chisquare(seen, claimed * n_draws).pvalue > 0.001
    assert claimed.max() > 0.25  # not uniform, or nothing was tested


@pytest.mark.parametrize("learner", [Exp3(0.3), Exp3S(0.3, 0.05), Rexp3(50, 0.3), WEIGHTED], ids=str)
def test_other_parameters_pass_the_checks(learner):
    check_learner(learner)


@pytest.mark.parametrize(("learner", "rule"), TWINS.values(), ids=TWINS)
def test_a_loss_is_weighed_by_the_probability_that_is_passed(learner, rule):
    """The action may have been drawn elsewhere, with other probabilities."""
    theirs = np.array([0.7, 0.2, 0.1])
    for action, loss in ((0, 0.25), (1, 1.0), (1, 0.0)):
        state = learner.start(3)
        learner.update(state, action, loss, theirs[action])
        expected = rule([(theirs, action, loss)], 3)
        np.testing.assert_allclose(state.memory.probabilities, expected, rtol=0, atol=1e-9)


@pytest.mark.parametrize("learner", LEARNERS, ids=str)
def test_a_learner_that_is_given_no_probability_uses_its_own(learner):
    one, other = learner.start(3, seed=1), learner.start(3, seed=1)
    for row in make_path("uniform", 30, 3, seed=1):
        action, probability = learner.choose(one)
        assert learner.choose(other) == (action, probability)
        learner.update(one, action, row[action], probability)
        learner.update(other, action, row[action], None)
    np.testing.assert_array_equal(one.memory.probabilities, other.memory.probabilities)


@pytest.mark.parametrize(
    "learner", [*LEARNERS, Exp3(1e-12), Exp3S(1e-12, 1e-300), Exp3S(1.0, 1e-300), Rexp3(50, 1e-12)], ids=str
)
def test_no_probability_that_is_passed_breaks_the_arithmetic(learner):
    state = learner.start(3, seed=1)
    for t, probability in enumerate((5e-324, 1e-310, 1e-30, 1.0, None) * 8):
        learner.update(state, t % 3, (0.0, 1.0, 0.3, 1.0)[t % 4], probability)
        held = state.memory.probabilities
        assert np.isfinite(held).all()
        assert (held >= 0).all()
        assert held.sum() == pytest.approx(1.0, abs=1e-12)


@pytest.mark.parametrize("n_actions", [2, 7])
def test_tsallis_weights_minimise_the_objective_of_the_paper(n_actions):
    rng = np.random.default_rng(n_actions)
    for eta in (0.1, 1.0, 4.0):
        totals = 20 * rng.random(n_actions)

        def objective(w):
            return w @ totals - 4 / eta * np.sqrt(w).sum()

        least = objective(reference.tsallis_weights(totals, eta))
        assert least == pytest.approx(-reference.tsallis_potential(totals, eta), abs=1e-12)
        assert all(objective(w) > least for w in rng.dirichlet(np.ones(n_actions), 2000))


@pytest.mark.parametrize("n_actions", [1, 2, 10, 1000])
def test_tsallis_weights_are_found_from_any_start(n_actions):
    """Totals of all sizes, in early and late rounds, and previous weights that are unrelated to the next."""
    rng = np.random.default_rng(n_actions)
    for _ in range(300):
        state = WEIGHTED.start(n_actions)
        memory, rounds = state.memory, int(10 ** rng.uniform(0, 6))
        memory.totals[:] = 1e6 * rng.random() + 10 ** rng.uniform(-4, 6) * rng.random(n_actions) ** rng.uniform(0.1, 5)
        memory.rounds[0] = rounds
        memory.probabilities[:] = rng.dirichlet(np.full(n_actions, 10 ** rng.uniform(-2, 2)))
        WEIGHTED.update(state, 0, 0.0, 0.5)
        expected = reference.tsallis_weights(memory.totals, 2 / sqrt(rounds + 2))
        np.testing.assert_allclose(memory.probabilities, expected, rtol=1e-9, atol=0)


# Parameters


def test_rexp3_derives_its_exploration_rate_from_its_block():
    assert Rexp3(500).rates(4).exploration_rate == sqrt(4 * log(4) / ((e - 1) * 500))
    assert Rexp3(500, 0.2).rates(4).exploration_rate == 0.2
    assert Rexp3(2).rates(10).exploration_rate == 1.0


def test_tuned_parameters_are_those_of_the_theorems():
    known = Measures(n_actions=4, n_rounds=10_000, segments=6, drift=5.0, variance=10.0, drift_within=4.0)
    assert Exp3.tuned(known).exploration_rate == pytest.approx(sqrt(4 * log(4) / ((e - 1) * 10_000)), rel=1e-12)
    assert Exp3S.tuned(known).switch_rate == 1e-4
    assert Exp3S.tuned(known).exploration_rate == pytest.approx(
        sqrt(4 * (6 * log(40_000) + e) / ((e - 1) * 10_000)), rel=1e-12
    )
    assert Rexp3.tuned(known) == Rexp3(327)  # (4 ln 4)^(1/3) 2500^(2/3) = 326.04
    with pytest.raises(InvalidInput, match="no rule for tuning"):
        TsallisINF.tuned(known)


@pytest.mark.parametrize("learner", [Exp3, Exp3S, Rexp3])
def test_tuning_works_with_one_action_one_round_and_no_drift(learner):
    for n_actions, n_rounds, segments, drift in ((1, 1, 1, 0.0), (1, 50, 1, 0.0), (3, 1, 1, 0.5), (3, 50, 50, 1e-320)):
        known = Measures(n_actions, n_rounds, segments, drift, variance=0.0)
        with collected():
            tuned = learner.tuned(known)
        assert len(tuned.run(tuned.start(n_actions), make_path("uniform", n_rounds, n_actions, seed=1))) == n_rounds
        assert n_actions > 1 or tuned.bound(known) == 0


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: Exp3(0.0), "Exp3: `exploration_rate` must be in (0, 1], got 0.0."),
        (lambda: Exp3(nan), "Exp3: `exploration_rate` must be in (0, 1], got nan."),
        (lambda: Exp3(None), "Exp3: `exploration_rate` must be in (0, 1], got None."),
        (lambda: Exp3S(1.5), "Exp3S: `exploration_rate` must be in (0, 1], got 1.5."),
        (lambda: Exp3S(switch_rate=0), "Exp3S: `switch_rate` must be in (0, 1], got 0."),
        (lambda: Rexp3(0), "Rexp3: `restart_every` must be a whole number >= 1, got 0."),
        (lambda: Rexp3(None), "Rexp3: `restart_every` must be a whole number >= 1, got None."),
        (lambda: Rexp3(exploration_rate=0), "Rexp3: `exploration_rate` must be in (0, 1], got 0."),
        (
            lambda: TsallisINF("RV"),
            "TsallisINF: `estimator` must be one of 'reduced-variance', 'importance-weighted', got 'RV'.",
        ),
    ],
)
def test_bad_parameters_are_rejected(make, message):
    with pytest.raises(InvalidInput) as raised:
        make()
    assert str(raised.value) == message


def test_a_memory_whose_counter_is_wrong_is_not_trusted():
    for learner, counter in ((Rexp3(7), "elapsed"), (REDUCED, "rounds")):
        state = learner.start(3)
        learner.run(state, make_path("coin", 10, 3, seed=1))
        memory = state.memory
        assert learner.memory_fault(memory, 3, 10) == ""
        assert learner.memory_fault(memory._replace(**{counter: getattr(memory, counter) - 5}), 3, 10) != ""


# Bounds


def known(n_actions, n_rounds, segments=1, **others):
    return Measures(n_actions, n_rounds, segments, **{"drift": 1.0, "variance": 0.0, **others})


def test_bounds_worked_by_hand():
    moving = known(4, 10**6, 3, drift=9.0, drift_within=8.0)
    slow = known(4, 10**6, 3, drift=1.0, drift_within=0.25)
    mixed = (e - 1) * 0.05 * 10**6
    # A thousand blocks of a thousand rounds: two of them have a change, or all together lose 2 x 1000 x 0.25
    assert adversarial.rexp3(moving, 0.05, 1000) == pytest.approx(mixed + 1000 * 4 * log(4) / 0.05 + 2000)
    assert adversarial.rexp3(slow, 0.05, 1000) == pytest.approx(mixed + 1000 * 4 * log(4) / 0.05 + 500)
    length = log(4) + 2 * log(4e6) + e  # for the switch rate 1/T
    assert adversarial.exp3_s(moving, 0.05, 1e-6) == pytest.approx(4 * length / 0.05 + mixed)
    still = known(4, 10**6)
    assert adversarial.exp3(still, 0.05) == pytest.approx(mixed + 4 * log(4) / 0.05)
    assert adversarial.tsallis_inf(still, False) == pytest.approx(2 * 3 * 1000 - 2)
    assert adversarial.tsallis_inf(still, True) == pytest.approx(3 * 1000 - 8 + 28 * log(10**6 / 16) + 16)


def test_bounds_are_no_worse_than_the_printed_ones():
    for K, T, S in ((2, 1000, 1), (5, 20_000, 4), (10, 10**6, 30)):
        still, moving = known(K, T), known(K, T, S, drift=float(S))
        assert Exp3.tuned(still).bound(still) == pytest.approx(2 * sqrt((e - 1) * T * K * log(K)), rel=1e-12)
        assert Exp3S.tuned(moving).bound(moving) <= 2 * sqrt((e - 1) * K * T * (S * log(K * T) + e))
        assert WEIGHTED.bound(still) <= 4 * sqrt(K * T) + 1
        assert REDUCED.bound(still) <= 2 * sqrt(K * T) + 14 * K * log(T) + 16


def test_exp3_s_with_switch_rate_zero_is_exp3():
    still = known(3, 5000)
    assert Exp3S(0.04, 1e-12).bound(still) == pytest.approx(Exp3(0.04).bound(still), rel=1e-6)
    assert Rexp3(5000, 0.04).bound(still) == Exp3(0.04).bound(still)


def test_learners_for_a_fixed_action_have_no_bound_after_a_change():
    moving = known(3, 5000, 2)
    assert Exp3().bound(moving) is WEIGHTED.bound(moving) is REDUCED.bound(moving) is None


def test_the_stability_of_a_round_of_tsallis_inf_is_what_its_bound_counts():
    """E[l_a + Phi(L + lhat) - Phi(L)], exactly over the draw, anywhere; reduced variance from eta = 1 on."""
    rng = np.random.default_rng(1)
    worst = {True: 0.0, False: 0.0}
    for _ in range(1500):
        reduced = bool(rng.integers(2))
        n_actions, t = int(rng.integers(2, 6)), int(10 ** rng.uniform(1.21 if reduced else 0.0, 4.0))
        eta = reference.rate(t, reduced)
        totals = 10 ** rng.uniform(-1, 2) / eta * rng.random(n_actions)
        losses = rng.random(n_actions).round() if rng.random() < 0.7 else rng.random(n_actions)
        w = reference.tsallis_weights(totals, eta)
        before = reference.tsallis_potential(totals, eta)
        stability = 0.0
        for a in range(n_actions):
            estimate = reference.estimate(w, a, losses[a], eta, reduced)
            stability += w[a] * (losses[a] + reference.tsallis_potential(totals + estimate, eta) - before)
        most = eta / 2 * np.sqrt(w).sum()
        if reduced:
            most = eta / 8 * sqrt(n_actions) + eta**2 * (3 * n_actions / 8 + 1 / 4)
        assert stability <= most + 1e-9
        worst[reduced] = max(worst[reduced], stability / most)
    assert worst[False] > 0.7
    assert worst[True] > 0.4


def test_the_rounds_of_tsallis_inf_add_up_to_its_bound():
    for K, T in ((2, 17), (2, 5000), (10, 10**5)):
        t, root = np.arange(1, T + 1), sqrt(K)
        weighted = (root / np.sqrt(t)).sum() + 2 * (root - 1) * sqrt(T)
        late = t[16:]
        reduced = 16 + (root / 2 / np.sqrt(late) + (6 * K + 4) / late).sum() + (root - 1) * sqrt(T)
        for learner, exact in ((WEIGHTED, weighted), (REDUCED, reduced)):
            assert min(T, exact) <= learner.bound(known(K, T)) <= exact + 12 * root


def late_reversal(n_rounds):
    """The better action is worse, and by more, in the second half."""
    return np.repeat([[0.4, 0.6, 1.0], [1.0, 0.1, 0.5]], n_rounds // 2, axis=0)


SEQUENCES = {
    "coins": lambda n_rounds: make_path("coin", n_rounds, 3, seed=1),
    "alternating": lambda n_rounds: make_path("alternating", n_rounds, 3, seed=1),
    "slow switches": lambda n_rounds: np.repeat(make_path("noiseless", n_rounds // 20, 3, seed=4), 20, axis=0),
    "late reversal": late_reversal,
    "one is best": lambda n_rounds: np.tile([0.5, 0.2, 0.5], (n_rounds, 1)),
}
N_RUNS = 200


def total_losses(learner, losses):
    """Return the losses of 200 runs with different seeds."""
    rounds, n_actions = np.arange(len(losses)), losses.shape[1]
    runs = (learner.run(learner.start(n_actions, seed), losses) for seed in range(N_RUNS))
    return np.array([losses[rounds, actions].sum() for actions in runs])


def check_mean(regrets, bound):
    assert regrets.mean() <= bound + 4 * regrets.std(ddof=1) / sqrt(N_RUNS)


@pytest.mark.parametrize("sequence", SEQUENCES)
@pytest.mark.parametrize("learner", [Exp3.tuned, Exp3(0.3), REDUCED, WEIGHTED], ids=["tuned", "exp3", "rv", "iw"])
def test_mean_regret_to_the_best_fixed_action_is_below_the_bound(learner, sequence):
    losses = SEQUENCES[sequence](1200)
    still = known(3, len(losses))
    learner = learner if isinstance(learner, (Exp3, TsallisINF)) else learner(still)
    assert learner.bound(still) < len(losses)
    check_mean(total_losses(learner, losses) - losses.sum(axis=0).min(), learner.bound(still))


@pytest.mark.parametrize("sequence", SEQUENCES)
@pytest.mark.parametrize("segments", [1, 2, 4])
def test_mean_regret_of_exp3_s_to_the_best_sequence_with_so_many_segments_is_below_the_bound(sequence, segments):
    losses = SEQUENCES[sequence](2400)
    moving = known(3, len(losses), segments, drift=float(len(losses)))  # so that the drifting form is trivial
    learner = Exp3S.tuned(moving)
    assert learner.bound(moving) < len(losses)
    least = comparators.best_with_segments(losses, segments)[segments - 1]
    check_mean(total_losses(learner, losses) - least, learner.bound(moving))


ENVIRONMENTS = {
    "stationary": Environment(Constant((0.3, 0.7)), Bernoulli()),
    "switching": Environment(Segments(means=((0.2, 0.8), (0.8, 0.2), (0.5, 0.4))), Bernoulli()),
    "drifting": Environment(Sinusoidal(2, n_periods=0.25, amplitude=0.1), Bernoulli()),
}
NONTRIVIAL = {
    "stationary": {"exp3", "exp3-s", "rexp3", "tsallis-inf"},
    "switching": {"exp3-s", "rexp3"},
    "drifting": {"rexp3"},  # given as many segments as rounds, Exp3.S plays uniformly
}


@pytest.mark.parametrize("name", ENVIRONMENTS)
def test_mean_dynamic_regret_is_below_the_bound(name):
    players = {"exp3": Exp3.tuned, "exp3-s": Exp3S.tuned, "rexp3": Rexp3.tuned, "tsallis-inf": REDUCED}
    players["exp3-s (defaults)"] = Exp3S()
    with collected():
        results = simulate(ENVIRONMENTS[name], players, 3000, N_RUNS, seed=1)
    assert set(results.caveats) == ({"exp3-s"} if name == "drifting" else set())
    marks = np.searchsorted(results.rounds, results.bound_rounds)
    nontrivial = set()
    for i, label in enumerate(results.labels):
        curves = results.regrets[i][:, marks]
        least = curves.mean(axis=0) - 4 * curves.std(axis=0, ddof=1) / sqrt(N_RUNS)
        bounds = results.bounds[i].mean(axis=0)
        proved = np.isfinite(bounds)
        assert (least <= bounds)[proved].all(), label
        if proved[-1] and bounds[-1] < 3000:
            nontrivial.add(label)
    assert nontrivial - {"exp3-s (defaults)"} == NONTRIVIAL[name]


def test_the_drifting_bound_of_exp3_s_uses_fewer_segments():
    slow = known(3, 10**6, 10**6, drift=1.0, drift_within=1e-3)
    blocks = (adversarial.exp3_s(known(3, 10**6, n), 0.01, 1e-6) + 2 * 10**6 / n * 1e-3 for n in range(1, 30))
    assert Exp3S(0.01, 1e-6).bound(slow) <= min(blocks) * 1.05
    assert Exp3S(0.01, 1e-6).bound(slow) < 10**5
