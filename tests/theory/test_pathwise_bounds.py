"""The corrected bounds of the paper on thousands of realised paths, oblivious and adaptive.

Each test checks at least 2,000 different paths and prints how near the worst of them came to its bound.
"""

from collections import Counter
from math import e, inf, log, sqrt

import numpy as np
import pytest

from bounding import FAMILIES_AND_ADVERSARIES, PATHS, Tally, on_many_paths
from driftwise.learners import (
    OptimisticAdaptMLProd,
    OptimisticGD,
    RerunUCBV,
    RestartedAdaptiveGD,
    SleepingOptimisticAdaptMLProd,
)
from driftwise.theory import pathwise, printed
from paths import FAMILIES, Case, make_path, play
from references import comparators


def long_cases(n_rounds, n_actions=(2, 7)):
    return [Case(family, n_rounds, k, seed=k) for family in FAMILIES_AND_ADVERSARIES for k in n_actions]


def regrets_of(weights, losses):
    """Return r_{t,k} = <p_t, l_t> - l_{t,k}."""
    return (weights * losses).sum(axis=1, keepdims=True) - losses


def estimates_of(weights, losses, hints=None):
    """Return m_{t,k} = <p_t, g_t> - g_{t,k}, the guess g_t being l_{t-1} unless hinted."""
    guesses = np.vstack([np.zeros_like(losses[:1]), losses[:-1]]) if hints is None else hints
    return regrets_of(weights, guesses)


# Values, one expert and one round at a time: a bound that is too large would never be exceeded


def rate_of(seen, gamma):
    return min(0.25, sqrt(gamma / (1.0 + seen)))


def add_up(errors, gamma):
    """Return the cost of an expert, its last rate, and its sum of eta_{t-1} / eta_t - 1."""
    seen = cost = ratios = 0.0
    for x in errors:
        before = rate_of(seen, gamma)
        seen += x
        cost += before * x
        ratios += before / rate_of(seen, gamma) - 1.0
    return cost, rate_of(seen, gamma), ratios


def closed_form(total, gamma, late):
    if total >= 16 * gamma:
        return 2 * sqrt(gamma * total) + 3 / 4 + sqrt(total / gamma) * late
    return 4 * gamma + 1 + (total - 1) / 4 + 4 * late


def some_guess_errors(n_rounds, n_actions):
    """Return regrets and estimates whose surprises lower the rates of the first action only."""
    rng = np.random.default_rng(n_rounds)
    regrets, estimates = rng.uniform(-1.0, 1.0, (2, n_rounds, n_actions))
    estimates[:, 1:] = regrets[:, 1:] - 0.1
    return regrets, estimates, (regrets - estimates) ** 2


@pytest.mark.parametrize("t", [1, 5, 100])
def test_the_bounds_of_algorithm_3_added_up_by_hand(t):
    regrets, estimates, x = some_guess_errors(100, 3)
    g, late = log(3), log(1 + 3 / e * (1 + log(t + 1)))
    cost, rates, ratios = zip(*(add_up(x[:t, k], g) for k in range(3)), strict=True)
    for k in range(3):
        total = 1 + x[:t, k].sum()
        by_hand = {
            pathwise.adapt_ml_prod: 4 * g + cost[k] + log(1 + sum(ratios) / e) / rates[k],
            pathwise.adapt_ml_prod_outside: cost[k] + (g + log(1 + sum(ratios) / (3 * e))) / rates[k],
            pathwise.adapt_ml_prod_closed: closed_form(total, g, late),
            pathwise.adapt_ml_prod_single: (2 * g + late) / sqrt(g) * sqrt(total) + 4 * g + 4 * late + 1,
        }
        for bound, value in by_hand.items():
            assert bound(regrets, estimates)[t - 1, k] == pytest.approx(value, rel=1e-12)


@pytest.mark.parametrize(("s", "t"), [(1, 1), (1, 60), (20, 60), (60, 60)])
@pytest.mark.parametrize("prior_rounds", [7, 60, 1000])
def test_the_bounds_of_algorithm_4_added_up_by_hand(s, t, prior_rounds):
    regrets, estimates, x = some_guess_errors(60, 2)
    g, rows = log(2 * prior_rounds), [(row, k) for row in range(1, t + 1) for k in range(2)]
    ratios = sum(add_up(x[row - 1 : t, k], g)[2] for row, k in rows)
    flat_ratios = sum(add_up(x[row - 1 : t, k], log(2 * (row + 1)))[2] for row, k in rows)
    start = max(1, t / prior_rounds)
    for k in range(2):
        total = 1 + x[s - 1 : t, k].sum()
        cost, rate, _ = add_up(x[s - 1 : t, k], g)
        value = 4 * g + cost + log(start + ratios / e) / rate
        assert pathwise.sleeping(regrets, estimates, prior_rounds)[s - 1, t - 1, k] == pytest.approx(value, rel=1e-12)
        value = closed_form(total, g, log(start + 2 * t / e * (1 + log(t + 1))))
        assert pathwise.sleeping_closed(regrets, estimates, prior_rounds)[s - 1, t - 1, k] == pytest.approx(
            value, rel=1e-12
        )
        cost, rate, _ = add_up(x[s - 1 : t, k], log(2 * (s + 1)))
        value = cost + (log(2) + log(t + flat_ratios / (2 * e))) / rate
        assert pathwise.sleeping_flat(regrets, estimates)[s - 1, t - 1, k] == pytest.approx(value, rel=1e-12)


def test_the_bound_of_an_adaptive_block_worked_by_hand():
    losses = np.array([[0.0, 0.3, 0.4], [0.0, 0.3, 0.4], [0.0, 0.3, 0.5], [1.0, 0.0, 0.0]])
    # ||d_t||^2 = 1/4, 0, 1/100, 1.34: c_t = 0, 1, 1, 2 sqrt(0.26)
    squares, c = [0.25, 0.0, 0.01, 1.34], [0.0, 1.0, 1.0, 2 * sqrt(0.26)]
    each = [sqrt(2) / 2, 0.0, 0.01 / 4, 1.34 / (4 * c[3])]
    found = pathwise.adaptive_block(losses, np.zeros(3))
    np.testing.assert_allclose(found, np.cumsum(each) + 2 * np.array(c), rtol=1e-12)
    np.testing.assert_allclose(pathwise.squared_steps(losses), squares, rtol=1e-12)
    np.testing.assert_allclose(
        pathwise.adaptive_block_coarse(losses, np.zeros(3)), 8.25 * np.sqrt(np.cumsum(squares)), rtol=1e-12
    )
    # After a step of 0.01, c = 0.02; one of 1 is longer than 2 sqrt(2) c: sqrt(2) - 2 c
    far = pathwise.adaptive_block(np.array([[0.01, 0.0], [0.01, 1.0]]), np.zeros(2))
    np.testing.assert_allclose(far, [sqrt(2) / 100, sqrt(2) / 100 + sqrt(2) - 0.04 + 0.04], rtol=1e-12)


# Algorithm 2


def check_optimistic_gd(tally, case, rate, scale):
    weights, losses = play(OptimisticGD(rate, scale), case)
    lost = (weights * losses).sum()
    least = comparators.best_with_segments(losses, 8)
    for n_segments in (1, 2, 4, 8):
        bound = pathwise.optimistic_gd(losses, rate, n_segments, scale)
        tally.check(lost - least[n_segments - 1], bound, case.n_rounds)
        if scale == 0.5:  # the prox for which the printed bound is right
            assert bound <= printed.optimistic_gd_path(losses, rate, n_segments) * (1 + 1e-12)


def test_optimistic_gd_keeps_its_bound_against_the_best_comparator_with_n_segments():
    tally = on_many_paths(check_optimistic_gd, rate=(0.02, 0.1, 0.3, 1.0, 3.0, 30.0), scale=(1.0, 0.5))
    assert tally.worst > 0.8  # the bound is nearly attained, so a weaker learner would break it


def test_optimistic_gd_keeps_its_bound_on_long_paths():
    tally = Tally()
    for case in long_cases(1000):
        for rate in (0.02, 0.5):
            tally.enter(case, rate=rate)
            check_optimistic_gd(tally, case, rate, 1.0)
    assert tally.worst > 0.8


def test_optimistic_gd_with_an_infinite_rate_has_no_regret_on_constant_losses():
    """D = ||l_1||^2 > 0 leaves the bound infinite; from round 2 on the play is a best action."""
    for seed in range(20):
        weights, losses = play(OptimisticGD(inf), Case("constant", 30, 5, seed))
        assert regrets_of(weights, losses)[1:].max() == 0.0
        assert pathwise.optimistic_gd(losses, inf, 1) == (inf if losses.any() else 0.0)


# The restarted adaptive variant


def check_adaptive_blocks(tally, case, every):
    weights, losses = play(RestartedAdaptiveGD(every), case)
    regrets = regrets_of(weights, losses)
    before = np.zeros(case.n_actions)
    for start in range(0, case.n_rounds, every or case.n_rounds):
        block = slice(start, start + (every or case.n_rounds))
        fine = pathwise.adaptive_block(losses[block], before)
        tally.check(np.cumsum(regrets[block], axis=0), fine[:, None], case.n_rounds)
        coarse = pathwise.adaptive_block_coarse(losses[block], before)
        tally.order(fine, coarse)
        tally.order(coarse, printed.adaptive_block_path(losses[block], before))
        before = losses[block][-1]


def test_restarted_adaptive_gd_keeps_its_bound_in_every_block_against_every_action():
    tally = on_many_paths(check_adaptive_blocks, every=(None, 1, 2, 5, 16, 50))
    assert tally.worst > 0.8


def test_restarted_adaptive_gd_keeps_its_bound_on_long_paths():
    tally = Tally()
    for case in long_cases(1000):
        tally.enter(case)
        check_adaptive_blocks(tally, case, every=250)


# Algorithm 3


def check_lemma_and_closed_forms(tally, regrets, estimates):
    lemma = pathwise.adapt_ml_prod(regrets, estimates)
    closed = pathwise.adapt_ml_prod_closed(regrets, estimates)
    tally.check(np.cumsum(regrets, axis=0), lemma, len(regrets))
    tally.order(lemma, closed)
    tally.order(closed, pathwise.adapt_ml_prod_single(regrets, estimates))
    # Not proved (erratum E2), but no path is known that exceeds it.
    tally.order(np.cumsum(regrets, axis=0), printed.adapt_ml_prod_path(regrets, estimates))


def check_lemma_outside(tally, regrets, estimates):
    bound = pathwise.adapt_ml_prod_outside(regrets, estimates)
    tally.check(np.cumsum(regrets, axis=0), bound, len(regrets))


LEMMAS = {"inside": check_lemma_and_closed_forms, "outside": check_lemma_outside}


def check_adapt_ml_prod(tally, case, prior):
    weights, losses = play(OptimisticAdaptMLProd(prior), case)
    regrets, estimates = regrets_of(weights, losses), estimates_of(weights, losses)
    LEMMAS[prior](tally, regrets, estimates)
    moved = np.diff(losses, axis=0, prepend=np.zeros((1, case.n_actions)))
    swing = moved.max(axis=1, keepdims=True) - moved.min(axis=1, keepdims=True)
    tally.order(np.abs(regrets - estimates), swing)  # |r - m| <= osc(l_t - l_{t-1})


def check_adapt_ml_prod_hinted(tally, case, kind, prior):
    learner, losses = OptimisticAdaptMLProd(prior), case.losses()
    hints = {"perfect": losses, "reversed": 1.0 - losses, "random": make_path("coin", *losses.shape, seed=7)}[kind]
    weights = learner.run(learner.start(case.n_actions, 0), losses, hints=hints)
    LEMMAS[prior](tally, regrets_of(weights, losses), estimates_of(weights, losses, hints))


@pytest.mark.parametrize("prior", ["inside", "outside"])
def test_adapt_ml_prod_keeps_its_lemma_at_every_round_for_every_action(prior):
    tally = on_many_paths(check_adapt_ml_prod, prior=(prior,))
    assert tally.worst > 0.8
    for case in long_cases(1000):
        tally.enter(case)
        check_adapt_ml_prod(tally, case, prior)


def test_adapt_ml_prod_keeps_its_lemma_whatever_the_hints():
    kinds, priors = ("perfect", "reversed", "random"), ("inside", "outside")
    on_many_paths(check_adapt_ml_prod_hinted, families=FAMILIES, kind=kinds, prior=priors)


# Algorithm 4


def check_sleeping(tally, case, more):
    prior_rounds = max(1, case.n_rounds + more)
    weights, losses = play(SleepingOptimisticAdaptMLProd(n_rounds=prior_rounds), case)
    regrets, estimates = regrets_of(weights, losses), estimates_of(weights, losses)
    lemma = pathwise.sleeping(regrets, estimates, prior_rounds)
    tally.check(from_every_start(regrets), lemma, case.n_rounds)
    tally.order(lemma, pathwise.sleeping_closed(regrets, estimates, prior_rounds))


def check_sleeping_flat(tally, case):
    weights, losses = play(SleepingOptimisticAdaptMLProd(), case)
    regrets, estimates = regrets_of(weights, losses), estimates_of(weights, losses)
    bound = pathwise.sleeping_flat(regrets, estimates)
    tally.check(from_every_start(regrets), bound, case.n_rounds)


def from_every_start(regrets):
    """Return the regrets summed from round s to round t, over (s, t, k); zero where t < s."""
    rounds = np.arange(len(regrets))
    return np.cumsum(np.where((rounds[:, None] <= rounds)[:, :, None], regrets, 0.0), axis=1)


def test_algorithm_4_keeps_its_lemma_from_every_start_to_every_round():
    tally = on_many_paths(check_sleeping, max_rounds=40, more=(0, 1, 1000, -20))
    for case in long_cases(150, n_actions=(3,)):
        tally.enter(case)
        check_sleeping(tally, case, more=0)


def test_algorithm_4_without_the_number_of_rounds_keeps_its_lemma_from_every_start_to_every_round():
    tally = on_many_paths(check_sleeping_flat, max_rounds=40)
    for case in long_cases(150, n_actions=(3,)):
        tally.enter(case)
        check_sleeping_flat(tally, case)


# Algorithm 1


def scaled_means(case, movement):
    """Return means that move `movement` times as far as the case's losses, around constant ones."""
    constant = np.random.default_rng(case.seed).random(case.n_actions)
    return (1.0 - movement) * constant + movement * case.losses()


def noisy(means, noise, seed):
    """Draw losses with exactly these means."""
    rng = np.random.default_rng(seed)
    if noise == "coin":
        return (rng.random(means.shape) < means).astype(float)
    room = np.minimum(np.minimum(means, 1.0 - means), {"none": 0.0, "small": 0.05}[noise])
    return means + rng.choice([-1.0, 1.0], means.shape) * room


def replay(learner, means, losses, actions):
    """Return (pseudo-regret, bound) of one block of actions, or None if a confidence interval failed in it."""
    n_rounds, n_actions = means.shape
    log_term = learner.log_scale * log(2.0 / learner.failure_probability)
    plays, total, squares, true_total = np.zeros((4, n_actions))
    mean, radius = np.zeros(n_actions), np.ones(n_actions)
    radii = np.empty(n_rounds)
    for t in range(n_rounds):
        true_mean = np.where(plays > 0, true_total / np.maximum(plays, 1.0), means[t])
        if (np.abs(true_mean - mean) > radius).any():
            return None
        a = actions[t]
        radii[t] = radius[a]
        plays[a] += 1.0
        total[a] += losses[t, a]
        squares[a] += losses[t, a] ** 2
        true_total[a] += means[t, a]
        n, mean[a] = plays[a], total[a] / plays[a]
        if n > 1.0:
            pairs = 2.0 if learner.double_variance else 1.0
            variance = pairs * max(0.0, (squares[a] - total[a] * mean[a]) / (n - 1.0))
            width = sqrt(2.0 * variance * log_term / n) + 7.0 * log_term / (3.0 * (n - 1.0))
            radius[a] = min(1.0, width) if learner.clip else width
    regret = (means[np.arange(n_rounds), actions] - means.min(axis=1)).sum()
    drift_within = np.abs(np.diff(means, axis=0)).max(axis=1).sum() if n_rounds > 1 else 0.0
    bound = pathwise.rerun_ucbv_good_event(radii, drift_within)
    assert bound <= printed.rerun_ucbv_interval(radii, drift_within, n_actions, learner.failure_probability)
    return regret, bound


def test_rerun_ucbv_keeps_its_bound_in_every_block_whose_intervals_held():
    """Narrow radii (small `log_scale`) make the bound smaller than T in short runs; then intervals may fail."""
    held, nontrivial = Counter(), Counter()

    def check(tally, case, movement, noise, **parameters):
        learner, means = RerunUCBV(**parameters), scaled_means(case, movement)
        losses = noisy(means, noise, case.seed)
        actions = learner.run(learner.start(case.n_actions, 0), losses)
        length = learner.restart_every or case.n_rounds
        blocks = [slice(start, start + length) for start in range(0, case.n_rounds, length)]
        outcomes = [replay(learner, means[block], losses[block], actions[block]) for block in blocks]
        for block, outcome in zip(blocks, outcomes, strict=True):
            if outcome is not None:
                rounds = len(means[block])
                tally.check(*outcome, rounds)
                nontrivial[outcome[1] < rounds / 2] += 1
        held[all(outcome is not None for outcome in outcomes)] += 1

    on_many_paths(
        check,
        paths=3000,
        families=FAMILIES,
        max_rounds=150,
        max_actions=5,
        movement=(0.0, 0.002, 0.01, 1.0),
        noise=("none", "small", "coin"),
        restart_every=(None, 20, 60),
        failure_probability=(0.001, 0.1, 0.5),
        clip=(True, False),
        double_variance=(True, False),
        log_scale=(1.0, 0.05, 0.02, 0.01),
    )
    print(f"the intervals held on {held[True]} of {held.total()} paths")
    print(f"the bound was below half the rounds in {nontrivial[True]} of {nontrivial.total()} blocks")
    assert held[True] >= PATHS
    assert nontrivial[True] >= 500  # elsewhere it is nearly all of the rounds and cannot fail


# The same checks, few and short, for the interpreted kernels


@pytest.mark.interpreted
@pytest.mark.parametrize("family", ["switching", "heaviest"])
def test_every_bound_holds_on_a_short_path(family):
    case = Case(family, 15, 3, seed=1)
    tally = Tally()
    tally.enter(case)
    check_optimistic_gd(tally, case, rate=0.3, scale=1.0)
    check_adaptive_blocks(tally, case, every=5)
    check_adapt_ml_prod(tally, case, prior="inside")
    check_adapt_ml_prod(tally, case, prior="outside")
    check_sleeping(tally, case, more=0)
    check_sleeping_flat(tally, case)
