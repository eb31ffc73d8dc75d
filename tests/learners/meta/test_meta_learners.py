"""Learners made of learners: slow references (tests/references/meta.py), bounds, and parts."""

from math import log, log2, sqrt

import numpy as np
import pytest
from hypothesis import given, settings, strategies as st

from driftwise.core.errors import InvalidInput, UnknownName
from driftwise.core.kernel import compiled
from driftwise.learners import AOMD, CBCE, FLH, SAOL, Ader, Hedge, OnlineGD, OptimisticHedge, Sword, learners
from driftwise.theory import pathwise, pathwise_meta
from paths import ADVERSARIES, FAMILIES, Case, cases, fixed_case, make_path, play
from references import comparators, meta

PATHS = 1000
SHAPES = ((1, 3), (40, 1), (200, 2), (130, 5))  # rounds, actions
LEARNERS = {
    "hedge": (Hedge(), meta.hedge),
    "hedge-0.3": (Hedge(0.3), lambda losses: meta.hedge(losses, 0.3)),
    "optimistic-hedge": (OptimisticHedge(), meta.optimistic_hedge),
    "optimistic-hedge-2": (OptimisticHedge(2.0), lambda losses: meta.optimistic_hedge(losses, learning_rate=2.0)),
    "online-gd": (OnlineGD(0.2), lambda losses: meta.online_gd(losses, 0.2)),
    "aomd": (AOMD(), meta.aomd),
    "aomd-7": (AOMD(7.0), lambda losses: meta.aomd(losses, 7.0)),
    "ader": (Ader(150), lambda losses: meta.ader(losses, 150)),
    "ader-1": (Ader(1), lambda losses: meta.ader(losses, 1)),
    "sword": (Sword(150), lambda losses: meta.sword(losses, 150)),
    "sword-fixed": (Sword(20, 3.0, 0.7), lambda losses: meta.sword(losses, 20, 3.0, 0.7)),
    **{
        f"{name}-{base}": (learner(base), lambda losses, twin=twin, base=base: twin(losses, base))
        for name, learner, twin in (("saol", SAOL, meta.saol), ("cbce", CBCE, meta.cbce), ("flh", FLH, meta.flh))
        for base in meta.BASES
    },
    "flh-2": (FLH("hedge", 2.0), lambda losses: meta.flh(losses, "hedge", 2.0)),
}


def run(learner, losses, borders=()):
    """Run a path, cut into blocks at the borders."""
    state = learner.start(losses.shape[1], 0)
    return np.concatenate([learner.run(state, block) for block in np.split(losses, borders)])


def assert_same_weights(played, expected):
    np.testing.assert_allclose(played, expected, rtol=0.0, atol=1e-9)


# Against the printed formulas


@pytest.mark.parametrize("family", FAMILIES)
@pytest.mark.parametrize(("learner", "twin"), LEARNERS.values(), ids=LEARNERS)
def test_weights_are_those_of_the_printed_formulas(learner, twin, family):
    for n_rounds, n_actions in SHAPES:
        losses = make_path(family, n_rounds, n_actions, seed=n_rounds)
        assert_same_weights(run(learner, losses, borders=[7, 8, 63, 64, 65]), twin(losses))


@pytest.mark.interpreted
@pytest.mark.parametrize("family", ["uniform", "tied"])
@pytest.mark.parametrize(("learner", "twin"), LEARNERS.values(), ids=LEARNERS)
def test_weights_on_a_short_path_are_those_of_the_printed_formulas(learner, twin, family):
    losses = make_path(family, 12, 3, seed=1)
    assert_same_weights(run(learner, losses), twin(losses))


@pytest.mark.parametrize(("learner", "twin"), LEARNERS.values(), ids=LEARNERS)
def test_weights_do_not_depend_on_where_a_run_is_cut(learner, twin):
    @settings(max_examples=25, deadline=None, derandomize=True)
    @given(cases(max_rounds=40, max_actions=4), st.lists(st.integers(0, 40), max_size=4).map(sorted))
    def holds(case, borders):
        losses = case.losses()
        assert_same_weights(run(learner, losses, borders), twin(losses))

    holds()


@pytest.mark.interpreted
def test_hints_replace_the_last_loss_as_optimistic_hedges_guess():
    for rate in (None, 0.5):
        losses = make_path("uniform", 30, 4, seed=2)
        for hints in (losses, 1.0 - losses, make_path("coin", 30, 4, seed=3)):
            learner = OptimisticHedge(rate)
            played = learner.run(learner.start(4), losses, hints=hints)
            assert_same_weights(played, meta.optimistic_hedge(losses, hints, rate))


@pytest.mark.parametrize("base", ["hedge", "optimistic-gd"])
def test_a_cover_compiles_its_base_once(base):
    kind = learners.get(base)
    kind().run(kind().start(2), [[0.5, 0.5]])
    kind().update(kind().start(2), [0.5, 0.5])
    for cover in (SAOL(base), CBCE(base), FLH(base)):
        run(cover, make_path("uniform", 20, 2, seed=0))
        assert all(compiled(loop) <= 1 for loop in cover.entry_points().values())
    assert compiled(kind.compiled_loops.run) <= 1


# The bases of a cover


def test_a_base_must_be_a_learner_that_can_be_restarted():
    rule = "a full-feedback learner of fixed memory, not one made of learners"
    for base in ("rerun-ucbv", "sleeping-optimistic-adapt-ml-prod", "ader", "saol"):
        with pytest.raises(InvalidInput, match=f"^SAOL: `base` must be {rule}, got '{base}'\\.$"):
            SAOL(base)
    with pytest.raises(InvalidInput, match=r"^FLH: `base` must be the name of a learner, got 3\.$"):
        FLH(3)
    with pytest.raises(UnknownName, match=r"There is no learner 'hedg'\. Did you mean 'hedge'\?"):
        CBCE("hedg")


# Bounds: values worked by hand, as a bound that is too large would never be exceeded


def test_the_bounds_of_rules_and_bases_worked_by_hand():
    assert pathwise_meta.hedge(200, 4, 0.1) == pytest.approx(10 * log(4) + 2.5)
    assert pathwise_meta.hedge(200, 4, None) == pytest.approx(20 * sqrt(log(4)) + sqrt(log(4) / 8))
    assert pathwise_meta.optimistic_hedge(9.0, 4, 0.5) == pytest.approx(2 * log(4) + 2.25)
    assert pathwise_meta.optimistic_hedge(9.0, 4, None) == pytest.approx(2 * sqrt(10 * log(4)))
    assert pathwise_meta.online_gd(10.0, 4, 0.5, 3) == pytest.approx(2.5 + 4.75)
    losses = np.array([[0.6, 0.8], [0.0, 0.0]])  # both steps have length 1: A = 1, 1, 2, 3
    first, second, third = 2 / 4, (1 + sqrt(2)) / 4, (sqrt(2) + sqrt(3)) / 4  # c_t = 1 / 2 eta_t at the scale 2
    by_hand = sqrt(3) - 1 + 2 * (third - first) + first / 2 + 2 * (second - first) + 4 * second
    assert pathwise_meta.aomd(losses, 2.0, 3) == pytest.approx(by_hand)
    assert pathwise_meta.aomd_coarse(8.0, 2.0, 3) == pytest.approx((1 + 4) * 3)
    # Bases of rates 1/2 and 2 against two segments: 1/4 + 5, and 1 + 5/4; the largest steps are 0.8
    rates = np.array([0.5, 2.0])
    assert pathwise_meta.sword(losses, rates, 2) == pytest.approx(2.25 + 2 * sqrt(2.28 * log(2)))
    assert pathwise_meta.sword(losses, rates, 2, 0.1) == pytest.approx(2.25 + 10 * log(2) + 0.064)


def test_the_bounds_of_ader_and_of_covers_worked_by_hand():
    still = 0.75 * sqrt(3) * sqrt(200 * 14) + sqrt(200) / 4 * (1 + 2 * log(2))
    assert pathwise_meta.ader(100, 3, 0.0) == pytest.approx(still)
    moving = 0.75 * sqrt(3) * sqrt(200 * 56) + sqrt(200) / 4 * (1 + 2 * log(3))  # 1 + 4P / 7D = 4, so k = 2
    assert pathwise_meta.ader(100, 3, 21 * sqrt(2) / 4 * (1 + 1e-12)) == pytest.approx(moving)
    elapsed = np.array([1.0, 3.0])  # from round 4: up to round 4, and up to round 6
    np.testing.assert_allclose(pathwise_meta.saol(4, 4, elapsed), 10 * np.log2([5, 7]))
    np.testing.assert_allclose(pathwise_meta.cbce(4, elapsed), np.sqrt(elapsed * (7 * log(4) + 5)))
    np.testing.assert_allclose(pathwise_meta.flh(4, 0.5, elapsed), 2 * np.log([4, 6]) + elapsed / 16)


# Bounds on every path


class Worst:
    """How near the worst of many paths came to its bound."""

    def __init__(self):
        self.ratio = -np.inf

    def check(self, case, regret, bound):
        regret, bound = np.broadcast_arrays(regret, bound)
        excess = float((regret - bound).max())
        assert excess <= 1e-9 * (1 + case.n_rounds), f"{case}: the bound is exceeded by {excess}"
        nontrivial = bound > 1e-3
        if nontrivial.any():
            self.ratio = max(self.ratio, float((regret[nontrivial] / bound[nontrivial]).max()))


def on_many_paths(check, paths=PATHS, max_rounds=60, max_actions=6):
    worst = Worst()
    for number in range(paths):
        check(worst, fixed_case(number, (*FAMILIES, *ADVERSARIES), max_rounds, max_actions))
    print(f"{paths} paths, worst regret / bound {worst.ratio:.3f}")
    return worst


def regret_curves(weights, losses, base, intervals):
    """Return (interval, regret against the base started with it after 1, 2, ... of its rounds) for each interval."""
    lost = (weights * losses).sum(axis=1)
    kind = learners.get(base)()
    for first, last in intervals:
        part = losses[first - 1 : last]
        alone = kind.run(kind.start(losses.shape[1]), part)
        yield (first, last), np.cumsum(lost[first - 1 : last] - (alone * part).sum(axis=1))


def all_intervals(active, n_rounds):
    return sorted({interval for t in range(1, n_rounds + 1) for interval in active(t)})


def check_saol(worst, case, base="hedge"):
    weights, losses = play(SAOL(base), case)
    intervals = all_intervals(meta.dyadic, case.n_rounds)
    for (first, last), regrets in regret_curves(weights, losses, base, intervals):
        elapsed = np.arange(1.0, len(regrets) + 1)
        worst.check(case, regrets, pathwise_meta.saol(first, last - first + 1, elapsed))


def check_cbce(worst, case, base="hedge"):
    weights, losses = play(CBCE(base), case)
    intervals = all_intervals(meta.dyadic, case.n_rounds)
    for (first, _), regrets in regret_curves(weights, losses, base, intervals):
        worst.check(case, regrets, pathwise_meta.cbce(first, np.arange(1.0, len(regrets) + 1)))


def check_flh(worst, case, base="hedge", rate=0.5):
    weights, losses = play(FLH(base, rate), case)
    intervals = all_intervals(meta.lasting, case.n_rounds)
    for (first, _), regrets in regret_curves(weights, losses, base, intervals):
        worst.check(case, regrets, pathwise_meta.flh(first, rate, np.arange(1.0, len(regrets) + 1)))


@pytest.mark.parametrize("base", ["hedge", "optimistic-gd"])
@pytest.mark.parametrize("check", [check_saol, check_cbce, check_flh])
def test_a_cover_keeps_up_with_its_base_on_every_interval_up_to_every_round(check, base):
    on_many_paths(lambda worst, case: check(worst, case, base), max_rounds=40)


def test_flh_keeps_its_bound_at_other_rates():
    for rate in (0.05, 5.0):
        on_many_paths(lambda worst, case: check_flh(worst, case, rate=rate), paths=300, max_rounds=40)


def pieces(first, last):
    """Cut [first, last] into beginnings of dyadic intervals, each the longest that starts where it must."""
    while first <= last:
        length = first & -first
        yield first, length, min(length, last - first + 1)
        first += length


def check_every_interval(worst, case):
    """Sum the cover's bound and Hedge's over the pieces: the regret on [a, b] against every fixed action."""
    for cover in (SAOL(), CBCE()):
        weights, losses = play(cover, case)
        regrets = np.cumsum((weights * losses).sum(axis=1, keepdims=True) - losses, axis=0)
        regrets = np.vstack([np.zeros((1, case.n_actions)), regrets])
        for first in range(1, case.n_rounds + 1):
            for last in range(first, case.n_rounds + 1):
                bound = sum(
                    float(
                        pathwise_meta.saol(start, length, np.float64(n))
                        if cover.name == "saol"
                        else pathwise_meta.cbce(start, np.float64(n))
                    )
                    + pathwise_meta.hedge(n, case.n_actions, None)
                    for start, length, n in pieces(first, last)
                )
                worst.check(case, (regrets[last] - regrets[first - 1]).max(), bound)


def test_covers_of_hedge_keep_their_bounds_on_all_intervals_against_every_action():
    on_many_paths(check_every_interval, paths=200, max_rounds=20, max_actions=4)


def segment_regrets(weights, losses, most=8):
    return (weights * losses).sum() - comparators.best_with_segments(losses, most)


def check_ader(worst, case):
    weights, losses = play(Ader(case.n_rounds), case)
    regrets = segment_regrets(weights, losses)
    bounds = [pathwise_meta.ader(case.n_rounds, case.n_actions, sqrt(2) * n) for n in range(len(regrets))]
    worst.check(case, regrets, np.array(bounds))


def check_sword(worst, case):
    learner = Sword(n_rounds=case.n_rounds, meta_learning_rate=(None, None, 0.3)[case.seed % 3])
    weights, losses = play(learner, case)
    rates = learner.learning_rates(case.n_actions)
    regrets = segment_regrets(weights, losses)
    bounds = [pathwise_meta.sword(losses, rates, n + 1, learner.meta_learning_rate) for n in range(len(regrets))]
    worst.check(case, regrets, np.array(bounds))


def check_aomd(worst, case):
    for scale in (0.5, 2.0, 6.0):
        weights, losses = play(AOMD(scale), case)
        regrets = segment_regrets(weights, losses)
        fine = np.array([pathwise_meta.aomd(losses, scale, n + 1) for n in range(len(regrets))])
        moved = float(pathwise.squared_steps(losses).sum())
        worst.check(case, regrets, fine)
        assert all(fine[n] <= pathwise_meta.aomd_coarse(moved, scale, n + 1) for n in range(len(fine)))


def check_online_gd(worst, case):
    for rate in (0.02, 0.2, 2.0):
        weights, losses = play(OnlineGD(rate), case)
        regrets = segment_regrets(weights, losses)
        squares = float((losses**2).sum())
        bounds = [pathwise_meta.online_gd(squares, case.n_actions, rate, n + 1) for n in range(len(regrets))]
        worst.check(case, regrets, np.array(bounds))


def check_hedge(worst, case):
    for rate in (None, 0.1, 1.0):
        weights, losses = play(Hedge(rate), case)
        regrets = np.cumsum((weights * losses).sum(axis=1, keepdims=True) - losses, axis=0)
        bounds = [pathwise_meta.hedge(n, case.n_actions, rate) for n in range(1, case.n_rounds + 1)]
        worst.check(case, regrets, np.array(bounds)[:, None])


def check_optimistic_hedge(worst, case):
    for rate in (None, 0.1, 1.0):
        weights, losses = play(OptimisticHedge(rate), case)
        regrets = np.cumsum((weights * losses).sum(axis=1, keepdims=True) - losses, axis=0)
        steps = np.diff(losses, axis=0, prepend=np.zeros((1, case.n_actions)))
        moved = np.cumsum(np.abs(steps).max(axis=1) ** 2)
        bounds = [pathwise_meta.optimistic_hedge(d, case.n_actions, rate) for d in moved]
        worst.check(case, regrets, np.array(bounds)[:, None])


@pytest.mark.parametrize(
    "check", [check_ader, check_sword, check_aomd, check_online_gd, check_hedge, check_optimistic_hedge]
)
def test_a_bound_holds_on_every_path_against_the_best_comparators(check):
    on_many_paths(check)


@pytest.mark.interpreted
@pytest.mark.parametrize("family", ["switching", "heaviest"])
def test_every_bound_holds_on_a_short_path(family):
    case, worst = Case(family, 12, 3, seed=1), Worst()
    for check in (check_saol, check_cbce, check_flh, check_ader, check_sword):
        check(worst, case)
    for check in (check_aomd, check_online_gd, check_hedge, check_optimistic_hedge):
        check(worst, case)


# Numbers


def test_aders_prior_is_a_distribution_that_favours_slow_rates():
    for n_rounds in (1, 10, 10**6):
        state = Ader(n_rounds).start(2)
        prior = state.memory.rule_weights
        assert prior.sum() == pytest.approx(1.0)
        assert (np.diff(prior) < 0).all()


def test_swords_rates_reach_the_slowest_that_may_be_right():
    for n_actions in (1, 2, 50):
        rates = Sword(4000).learning_rates(n_actions)
        assert rates[0] == 8.0
        assert sqrt(8 / (n_actions * 4000)) / 2 < rates[-1] <= sqrt(8 / (n_actions * 4000))


def test_sword_starts_with_any_rate_it_accepts():
    for largest in (5e-324, np.finfo(float).max):
        rates = Sword(2**30, largest).learning_rates(3)
        assert rates[0] == largest
        assert rates[-1] <= sqrt(8 / (3 * 2**30))


def test_an_interval_of_length_n_has_few_pieces():
    for first in range(1, 80):
        for last in range(first, 80):
            assert len(list(pieces(first, last))) <= log2(last - first + 2) + 1
            assert sum(n for _, _, n in pieces(first, last)) == last - first + 1
