"""Adversaries: every run is within its budget, and no learner incurs less regret than the guarantee."""

import copy
import dataclasses
import functools
import json
import math
import re
import tracemalloc
from importlib import import_module

import numpy as np
import pytest

from driftwise import Measures, simulate
from driftwise.adversaries import (
    AdversarialEnvironment,
    BanditLow,
    FullLow,
    FullV,
    LearnerCopies,
    adversaries,
    adversary,
    strongest,
)
from driftwise.adversaries.adversary import Adversary, draws
from driftwise.checks import checks_of
from driftwise.core.errors import InvalidInput, UnknownName
from driftwise.environments import Deterministic, ScaledBernoulli
from driftwise.learners import (
    MUCB,
    UCB1,
    Exp3S,
    FixedShare,
    Hedge,
    OptimisticAdaptMLProd,
    OptimisticGD,
    RerunUCBV,
    Squint,
    Thompson,
    TsallisINF,
    learners,
)
from driftwise.theory import lower
from references import lower_bounds as reference
from references.measures_reference import measures_reference

BANDITS = {
    "rerun-ucbv": RerunUCBV(restart_every=100),
    "ucb1": UCB1(),
    "exp3-s": Exp3S(),
    "thompson": Thompson(),
    "tsallis-inf": TsallisINF(),
    "m-ucb": MUCB(),
}
EXPERTS = {
    "hedge": Hedge(),
    "optimistic-gd": OptimisticGD(),
    "fixed-share": FixedShare(),
    "optimistic-adapt-ml-prod": OptimisticAdaptMLProd(),
    "squint": Squint(),
}
noisy_low = functools.partial(FullLow, case="noisy")
# Every construction with a budget that it can use at T = 120; K is filled in.
KINDS = {
    "bandit-low": lambda **more: BanditLow(segments=7, **more),
    "bandit-low, scaled": lambda **more: BanditLow(segments=4, scale=0.3, **more),
    "full-low, noisy": lambda **more: FullLow(segments=4, variance=11.0, case="noisy", **more),
    "full-low, noiseless": lambda **more: FullLow(segments=30, variance=11.0, **more),
    "full-v, noisy": lambda **more: FullV(drift=0.4, variance=9.0, **more),
    "full-v, noiseless": lambda **more: FullV(drift=12.5, variance=0.2, **more),
    "full-v, paper": lambda **more: FullV(drift=0.4, variance=9.0, constants="paper", **more),
}
SLACK = 1 + 1e-12
T = 120


def opponents(kind):
    return BANDITS if kind.startswith("bandit") else {**EXPERTS, **BANDITS}


def modes(kind):
    return ("random", "proof", "best-response") if kind.startswith("bandit") else ("random", "best-response")


EVERY = [(kind, mode) for kind in KINDS for mode in modes(kind)]
every = pytest.mark.parametrize(("kind", "mode"), EVERY, ids=[f"{kind}-{mode}" for kind, mode in EVERY])


def some_learner(kind, number):
    candidates = list(opponents(kind).values())
    return candidates[number % len(candidates)]


# Budgets and measures


@every
@pytest.mark.parametrize("n_actions", [2, 3, 7])
def test_every_run_is_within_the_budget(kind, mode, n_actions):
    made = KINDS[kind](n_actions=n_actions, mode=mode, n_copies=2)
    budget = made.budget(60)
    for number in range(200 if mode == "random" else 70):  # 210 over the numbers of actions
        source = made.against(some_learner(kind, number), 60, seed=number)
        measures = source.measures(60, seed=number)
        assert measures.segments <= budget.segments
        assert measures.drift <= budget.drift * SLACK
        assert measures.variance <= budget.variance * SLACK


@every
def test_a_run_that_its_intervals_do_not_divide_is_within_the_budget(kind, mode):
    """As few rounds as there may be, one more, and a prime; 40 runs of each, 240 in all."""
    for n_actions in (2, 5):
        made = KINDS[kind](n_actions=n_actions, mode=mode, n_copies=1)
        for n_rounds in (made.least_rounds, made.least_rounds + 1, 61):
            budget = made.budget(n_rounds)
            for number in range(40):
                source = made.against(some_learner(kind, number % 2), n_rounds, seed=number)
                measures = source.measures(n_rounds, seed=number)
                assert measures.segments <= budget.segments
                assert measures.drift <= budget.drift * SLACK
                assert measures.variance <= budget.variance * SLACK


@pytest.mark.parametrize("n_actions", [2, 3, 7])
@pytest.mark.parametrize("n_rounds", [31, 120, 5000])
def test_the_budget_is_within_what_was_asked_for(n_actions, n_rounds):
    for kind, make in KINDS.items():
        made = make(n_actions=n_actions)
        budget = made.budget(n_rounds)
        assert budget.n_rounds == n_rounds
        assert budget.variance <= getattr(made, "variance", 0.0) * SLACK
        assert budget.segments <= getattr(made, "segments", n_rounds)
        if isinstance(made, FullV) and kind != "full-v, paper":
            assert budget.drift <= made.drift * SLACK
    assert BanditLow(7, n_actions).budget(n_rounds).drift == 6
    assert BanditLow(4, n_actions, scale=0.3).budget(n_rounds).drift == pytest.approx(1.2)


@every
def test_measures_are_those_of_the_losses_that_are_drawn(kind, mode):
    for n_actions in (2, 5):
        source = KINDS[kind](n_actions=n_actions, mode=mode, n_copies=2).against(some_learner(kind, 0), T, seed=5)
        block = source.start(T, seed=9).draw(T)
        found = source.measures(T, seed=9)
        expected = measures_reference(block.means, block.variances)
        got = (found.segments, found.drift, found.variance, found.drift_within, found.squared_drift)
        assert got == pytest.approx(expected, rel=1e-12)


@pytest.mark.parametrize("kind", ["full-low, noisy", "full-v, noisy", "full-v, paper"])
def test_the_budget_is_attained_when_the_favourite_changes_in_every_interval(kind):
    made = KINDS[kind](mode="best-response", n_copies=16)
    layout = made.layout(T)
    alternating = np.arange(len(layout.starts)) % 2
    source = AdversarialEnvironment(made, None, T, 0, made._script(layout, alternating))
    assert source.measures(T).drift == pytest.approx(made.budget(T).drift, rel=1e-12)
    assert source.measures(T).variance == pytest.approx(made.budget(T).variance, rel=1e-12)
    assert source.measures(T).segments == made.budget(T).segments


def test_the_printed_parameters_exceed_the_drift_by_sigma_minus_epsilon_and_the_budget_includes_it():
    made = FullV(drift=1.0, variance=64.0, constants="paper")
    layout = made.layout(8000)
    assert len(layout.starts) == 400  # B = 20, as in erratum E8
    assert layout.level == math.sqrt(64 / (4 * 2 * 8000))
    assert layout.gap == 20 / 8000
    assert made.budget(8000).drift == pytest.approx(1.0 + layout.level - layout.gap)


# Checks of environments


@pytest.mark.parametrize(
    ("kind", "mode", "check"),
    [
        pytest.param(kind, mode, check, id=f"{kind}-{mode}-{check.name}")
        for kind, mode in EVERY
        for check in checks_of(BanditLow(2).against(None, 2))
    ],
)
def test_the_environments_pass_every_check_of_environments(kind, mode, check):
    check(environment_of(kind, mode))


STAGED = {}


def environment_of(kind, mode):
    """Return an environment of 1100 rounds, made once."""
    if (kind, mode) not in STAGED:
        STAGED[kind, mode] = KINDS[kind](n_actions=3, mode=mode, n_copies=2).against(some_learner(kind, 2), 1100)
    return STAGED[kind, mode]


@every
def test_the_same_seed_makes_the_same_environment(kind, mode):
    made, learner = KINDS[kind](mode=mode, n_copies=3), some_learner(kind, 3)
    one, again = (made.against(learner, T, seed=4).start(T, seed=8).draw(T) for _ in range(2))
    for a, b in zip(one, again, strict=True):
        np.testing.assert_array_equal(a, b)


@every
def test_a_shorter_run_is_the_beginning_of_the_whole(kind, mode):
    """A shorter run does not build another environment for fewer rounds."""
    source = KINDS[kind](n_actions=3, mode=mode, n_copies=2).against(some_learner(kind, 3), T, seed=4)
    for seed in range(3):
        whole, part = source.start(T, seed).draw(T), source.start(5, seed).draw(5)
        for a, b in zip(whole, part, strict=True):
            np.testing.assert_array_equal(a[:5], b)
        assert source.measures(5, seed).drift == pytest.approx(measures_reference(part.means, part.variances)[1])


@pytest.mark.parametrize("kind", KINDS)
def test_both_seeds_matter_when_choices_are_drawn(kind):
    made = KINDS[kind](n_actions=5)
    seen = [made.against(None, T, seed=a).start(T, seed=b).draw(T).means for a in (0, 1, 2) for b in (0, 1, 2)]
    assert len({means.tobytes() for means in seen}) > 6


@pytest.mark.parametrize("kind", KINDS)
def test_a_response_is_the_same_in_every_run_and_only_the_noise_differs(kind):
    source = KINDS[kind](mode="best-response", n_copies=2).against(some_learner(kind, 0), T, seed=1)
    one, other = (source.start(T, seed).draw(T) for seed in (1, 2))
    np.testing.assert_array_equal(one.means, other.means)
    assert np.array_equal(one.losses, other.losses) == (source.measures(T).variance == 0)


def test_the_noise_of_a_response_depends_on_the_seed():
    """Hedge makes no random draws, so its copies differ by the noise alone."""
    made = noisy_low(4, 11.0, mode="best-response", n_copies=2)
    scripts = {made.against(Hedge(), T, seed).script.favourites.tobytes() for seed in range(6)}
    assert len(scripts) > 1


@pytest.mark.parametrize("kind", KINDS)
def test_random_choices_need_no_learner_and_do_not_depend_on_one(kind):
    made = KINDS[kind](n_actions=3)
    alone = made.against(None, T, seed=2).start(T, seed=3).draw(T).losses
    for learner in opponents(kind).values():
        np.testing.assert_array_equal(made.against(learner, T, seed=2).start(T, seed=3).draw(T).losses, alone)


def test_memory_does_not_grow_with_the_rounds():
    made = {"noiseless": BanditLow(20, 50), "noisy": noisy_low(20, 1e5, 50), "drifting": FullV(20.0, 1e4, 50)}
    n_rounds = 10**6  # 400 megabytes of losses
    for each in made.values():
        tracemalloc.start()
        source = each.against(None, n_rounds)
        source.start(n_rounds).draw(1000)
        source.measures(1000)
        _, peak = tracemalloc.get_traced_memory()
        tracemalloc.stop()
        assert peak < 8e6


# Guarantees


def regrets_of(source, learners, n_rounds, n_runs):
    """Return the dynamic pseudo-regrets of new learners, each run with its own seeds.

    This is what `simulate` does, without the bounds, which take longer than such short runs.
    """
    regrets = {name: np.empty(n_runs) for name in learners}
    for run in range(n_runs):
        losses, means, _ = source.start(n_rounds, seed=run).draw(n_rounds)
        for name, learner in learners.items():
            played = learner.run(learner.start(source.n_actions, seed=10**6 + run), losses)
            incurred = (played * means).sum() if played.ndim == 2 else means[np.arange(n_rounds), played].sum()
            regrets[name][run] = incurred - means.min(axis=1).sum()
    return regrets


def enough_regret(source, learners, guarantee, n_runs):
    for name, regrets in regrets_of(source, learners, source.n_rounds, n_runs).items():
        error = regrets.std(ddof=1) / math.sqrt(n_runs)
        assert regrets.mean() >= guarantee - 3 * error - 1e-9, name


def test_simulate_measures_the_same_regrets():
    """Neither this learner nor this environment makes random draws, so seeds do not matter."""
    source, learner = BanditLow(6, mode="proof").against(RerunUCBV(), T), RerunUCBV()
    results = simulate(source, learner, T, n_runs=3)
    np.testing.assert_allclose(results.final("rerun-ucbv"), regrets_of(source, {"": learner}, T, 3)[""])


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize(("n_actions", "n_rounds"), [(2, 600), (3, 100), (5, 300)])
def test_no_learner_incurs_less_than_the_guarantee_of_random_choices(kind, n_actions, n_rounds):
    made = KINDS[kind](n_actions=n_actions)
    enough_regret(made.against(None, n_rounds), opponents(kind), made.guarantee(n_rounds), n_runs=200)


@pytest.mark.parametrize(
    ("kind", "mode", "name"),
    [(kind, mode, name) for kind, mode in EVERY if mode != "random" for name in opponents(kind)],
)
def test_no_learner_incurs_less_than_the_guarantee_of_a_response_to_it(kind, mode, name):
    learner = opponents(kind)[name]
    for n_actions, n_rounds in ((2, 400), (4, 130)):
        made = KINDS[kind](n_actions=n_actions, mode=mode, n_copies=24)
        enough_regret(made.against(learner, n_rounds, seed=7), {name: learner}, made.guarantee(n_rounds), n_runs=100)


@pytest.mark.parametrize("kind", ["bandit-low", "full-low, noisy", "full-low, noiseless", "full-v, noisy"])
def test_no_learner_of_the_registry_incurs_less_than_the_guarantee_of_random_choices(kind):
    made = KINDS[kind](n_actions=3)
    all_learners = {name: learners.get(name)() for name in learners}
    applicable = {name: learner for name, learner in all_learners.items() if learner.feedback in made.feedbacks}
    enough_regret(made.against(None, 61), applicable, made.guarantee(61), n_runs=30)


@pytest.mark.parametrize("mode", ["proof", "best-response"])
@pytest.mark.parametrize("segments", [2, 9, 60])
def test_a_learner_without_random_draws_incurs_the_guarantee_in_every_run(mode, segments):
    """Without noise the responses to it are exact, so no estimation error is subtracted."""
    learner = BANDITS["rerun-ucbv"]
    made = BanditLow(segments, 3, mode, n_copies=1)
    results = simulate(made.against(learner, 400), learner, 400, n_runs=1)
    assert results.final(results.labels[0])[0] >= made.guarantee(400)
    assert not draws(learner, 3)


@pytest.mark.parametrize("name", EXPERTS)
def test_experts_incur_the_guarantee_in_every_run_without_noise(name):
    for made in (FullLow(40, 0.0, 3, "best-response"), FullV(17.3, 0.0, 3, mode="best-response")):
        results = simulate(made.against(EXPERTS[name], 200), EXPERTS[name], 200, n_runs=1)
        assert results.final(results.labels[0])[0] >= made.guarantee(200) - 1e-9


@pytest.mark.parametrize("n_actions", [2, 3, 6])
def test_noiseless_favourites_cost_every_learner_exactly_the_guarantee_in_their_rounds(n_actions):
    for made, rounds in ((FullLow(50, 0.0, n_actions), 50), (FullV(7.4, 0.0, n_actions), 8)):
        for name, regrets in regrets_of(made.against(None, T), {**EXPERTS, **BANDITS}, rounds, 400).items():
            error = regrets.std(ddof=1) / math.sqrt(400)
            assert abs(regrets.mean() - made.guarantee(T)) <= 3 * error + 1e-9, name


def test_random_changes_cost_a_learner_that_never_or_always_plays_the_second_action_what_was_computed():
    """Never: half of the intervals cost 1/2 in each round after the change. Always: 1/2 in each round before it."""
    made, n_rounds = BanditLow(2), 100  # b = m = 10
    source = made.against(None, n_rounds)
    means = np.array([source.start(n_rounds, seed).draw(n_rounds).means for seed in range(4000)])
    never = (means[:, :, 0] - means.min(axis=2)).sum(axis=1)
    always = (means[:, :, 1] - means.min(axis=2)).sum(axis=1)
    # A change is at 0, 10, ..., 90: 55 rounds after it on average, 45 before.
    for regrets, expected in ((never, 0.5 * 0.5 * 55), (always, 0.5 * 0.5 * 100 + 0.5 * 0.5 * 45)):
        assert abs(regrets.mean() - expected) <= 3 * regrets.std(ddof=1) / math.sqrt(4000)


# Parameters


def test_guarantees_are_those_of_the_formulas():
    for segments, n_rounds in ((2, 2), (3, 17), (8, 10_000), (7, 120), (50, 51), (100, 12_345)):
        expected = reference.bandit_low_guarantee(segments, n_rounds, 0.7)
        assert BanditLow(segments, 3, scale=0.7).guarantee(n_rounds) == pytest.approx(expected)
    assert BanditLow(8).guarantee(10_000) == 4 * 50 / 4
    for segments, variance, n_actions, n_rounds in ((4, 11.0, 2, 120), (3, 400.0, 5, 100), (2, 2.5, 30, 70)):
        noisy, sigma, gap = reference.full_low_parameters(segments, variance, n_actions, n_rounds)
        layout = noisy_low(segments, variance, n_actions).layout(n_rounds)
        assert (layout.noisy, layout.level) == (noisy, pytest.approx(sigma))
        assert layout.gap == pytest.approx(gap)
        expected = segments * noisy * gap * (3 / 4 - 1 / n_actions)
        assert noisy_low(segments, variance, n_actions).guarantee(n_rounds) == pytest.approx(expected)
    assert FullLow(30, 30.0, 5).guarantee(200) == pytest.approx(30 * 4 / 5)
    assert FullLow(3, 400.0, 5, case="noiseless").guarantee(100) == pytest.approx(3 * 4 / 5)
    assert FullV(12.5, 0.0, 5).guarantee(200) == pytest.approx(12.5 * 4 / 5)
    assert FullV(0.5, 0.0, 4).guarantee(1) == pytest.approx(0.5 * 3 / 4)
    assert FullV(1e6, 0.0, 4).guarantee(10) == pytest.approx(10 * 3 / 4)


@pytest.mark.parametrize("variance", [0.0, 5.0, 10.0, 10.1, 100.0, 319.0, 321.0, 4000.0])
def test_the_larger_of_the_two_cases_is_what_the_lower_bound_says(variance):
    cases = ["noiseless"] + ["noisy"] * (variance > 0)
    larger = max(FullLow(10, variance, case=case).guarantee(10_000) for case in cases)
    assert FullLow(10, variance).guarantee(10_000) == larger
    assert larger == pytest.approx(lower.full_switching(Measures(2, 10_000, 10, 10.0, variance)))


@pytest.mark.parametrize("n_actions", [2, 3, 10])
def test_guarantees_are_those_of_the_theory(n_actions):
    """`BanditLow` has equal intervals; lengths that differ may guarantee more."""
    for n_rounds, segments in ((40, 2), (40, 9), (1000, 4), (5139, 2572), (20_000, 7)):
        for variance in (0.0, 0.3, 40.0, 3000.0):
            for drift in (0.2, 1.0, 3.9, 25.0):
                known = Measures(n_actions, n_rounds, segments, drift, variance)
                assert FullLow(segments, variance, n_actions).guarantee(n_rounds) == lower.full_switching(known)
                assert FullV(drift, variance, n_actions).guarantee(n_rounds) == lower.full_drifting(known)
                assert strongest("bandit", known).guarantee(n_rounds) <= lower.bandit_drifting(known) * SLACK
        equal, best = BanditLow(segments, n_actions).guarantee(n_rounds), lower.bandit_switching(known)
        assert 0.6 * best <= equal <= best


# Intervals, sigma, gap, guarantee and drift of FullV(2.0, 32.0, 2). The figures of docs/landscape.md depend on them.
FULL_V = {
    1000: (100, 0.12080249755922984, 0.018981792953947176, 4.7454482384867935, 2.0),
    2000: (154, 0.08944271909999159, 0.012344079597863036, 6.172039798931518, 1.9780868975730361),
    8000: (400, 0.043984548222861033, 0.004902294365356238, 9.804588730712476, 2.0),
    32_000: (1000, 0.022360679774997897, 0.0019725696109081283, 15.780556887265027, 1.9929577210722182),
}
# Noisy rounds, sigma, gap, guarantee and drift of FullLow(4, variance, 5, case="noisy").
FULL_LOW = {
    4.0: (1, 0.4472135954999579, 0.210332696901169, 0.46273193318257183, 1.078211686203465),
    64.0: (12, 0.5, 0.07179453090027094, 1.8953756157671529, 0.7153835927008128),
    1000.0: (200, 0.5, 0.017672146696278396, 7.775744546362494, 0.5530164400888352),
}
BANDIT_LOW = {1000: (7.75, 11.0), 2000: (11.0, 15.5), 8000: (22.25, 31.5), 32_000: (44.5, 63.0)}  # 2 and 4 segments


def test_the_adversaries_of_the_landscape_are_these():
    for n_rounds, expected in FULL_V.items():
        made = FullV(2.0, 32.0, 2)
        layout, budget = made.layout(n_rounds), made.budget(n_rounds)
        assert (len(layout.starts), layout.level, layout.gap, made.guarantee(n_rounds), budget.drift) == expected
        np.testing.assert_array_equal(layout.starts, np.arange(expected[0]) * n_rounds // expected[0])
    for variance, expected in FULL_LOW.items():
        made = noisy_low(4, variance, 5)
        layout, budget = made.layout(8000), made.budget(8000)
        assert (layout.noisy, layout.level, layout.gap, made.guarantee(8000), budget.drift) == expected
        assert layout.starts.tolist() == [0, 2000, 4000, 6000]
    for n_rounds, (two, four) in BANDIT_LOW.items():
        assert BanditLow(2, 2, "best-response").guarantee(n_rounds) == two
        assert BanditLow(4, 2, "proof").guarantee(n_rounds) == four
        assert BanditLow(4, 2, "proof")._intervals(n_rounds) == [(0, n_rounds // 2), (n_rounds // 2, n_rounds)]


def test_guarantees_grow_as_the_theorems_say():
    assert BanditLow(8).guarantee(10**6) == pytest.approx(math.sqrt(8 * 10**6 / 32), rel=0.01)
    assert FullLow(10, 5000.0).guarantee(10**5) == pytest.approx(math.sqrt(2 * 10 * 5000) / 16, rel=0.01)
    assert FullV(3.0, 5000.0).guarantee(10**6) == pytest.approx((5000 * 3 * 10**6) ** (1 / 3) / 8, rel=0.03)


@pytest.mark.parametrize(
    "made", [noisy_low(4, 11.0), noisy_low(2, 2.5, 30), noisy_low(3, 400.0, 5), FullV(0.4, 9.0, 3)]
)
@pytest.mark.parametrize("n_rounds", [100, 3000])
def test_the_noisy_rounds_of_an_interval_have_a_divergence_of_one_quarter(made, n_rounds):
    """2 n KL(Q, P) = 1/4, with n the noisy rounds of the longest interval."""
    layout = made.layout(n_rounds)
    longest = max(np.diff(layout.starts, append=n_rounds))
    n = min(layout.noisy, longest)
    assert 2 * n * reference.hidden_divergence(layout.level, layout.gap) == pytest.approx(1 / 4)
    assert -math.log1p(-((layout.gap / layout.level) ** 2)) / 2 == pytest.approx(
        reference.hidden_divergence(layout.level, layout.gap)
    )


def test_the_printed_parameters_have_no_more_divergence_than_the_proof_allows():
    for drift, variance, n_rounds in ((0.4, 9.0, 120), (1.0, 64.0, 8000), (3.0, 500.0, 10_000), (0.01, 900.0, 300)):
        layout = FullV(drift, variance, constants="paper").layout(n_rounds)
        longest = max(np.diff(layout.starts, append=n_rounds))
        assert 2 * longest * (layout.gap / layout.level) ** 2 <= 1 / 4 * SLACK
        assert 2 * longest * reference.hidden_divergence(layout.level, layout.gap) <= 1 / 4
        assert layout.gap <= layout.level / math.sqrt(2)
        assert layout.level <= 1 / 2  # or losses would exceed 1 if `variance` is larger than possible


BUDGETS = [(0.4, 9.0), (0.05, 9.0), (2.0, 30.0), (0.3, 1e6), (1.0, 0.4), (0.001, 2.0)]


@pytest.mark.parametrize(("drift", "variance"), BUDGETS)
@pytest.mark.parametrize(("n_actions", "n_rounds"), [(2, 120), (5, 97), (2, 1), (3, 2)])
def test_the_gap_is_the_largest_within_the_budget(drift, variance, n_actions, n_rounds):
    coins = lower.biased_coins_drifting(Measures(n_actions, n_rounds, 1, drift, variance))
    assert coins.gap == pytest.approx(reference.full_v_largest_gap(drift, variance, n_actions, n_rounds), rel=1e-9)
    at_full_noise = reference.full_v_gap_at_full_noise(drift, variance, n_actions, n_rounds)
    assert at_full_noise is None or coins.gap >= at_full_noise / SLACK


@pytest.mark.parametrize(("drift", "variance", "n_rounds"), [(1.0, 64.0, 8000), (3.0, 500.0, 10_000), (0.4, 9.0, 120)])
def test_exact_constants_guarantee_more_than_the_printed_ones_at_the_same_budget(drift, variance, n_rounds):
    for n_actions in (2, 4):
        exact = FullV(drift, variance, n_actions)
        printed = FullV(drift, variance, n_actions, constants="paper")
        assert 1.6 < exact.guarantee(n_rounds) / printed.guarantee(n_rounds) < 4
        assert exact.budget(n_rounds).drift <= drift * SLACK < printed.budget(n_rounds).drift
        assert printed.budget(n_rounds).variance <= variance / 4


def test_the_paper_chooses_by_its_condition_and_the_exact_constants_by_the_guarantee():
    for drift in (0.5, 2.0, 11.0):
        for factor in (0.5, 0.99, 1.01, 30.0):
            n_rounds, n_actions = 1000, 3
            variance = factor * 32 * n_actions * drift**2 / n_rounds
            printed = FullV(drift, variance, n_actions, "paper").layout(n_rounds)
            assert (printed.noisy > 0) == (factor >= 1)
            exact = FullV(drift, variance, n_actions)
            noisy = lower.biased_coins_drifting(Measures(n_actions, n_rounds, 1, drift, variance)).regret
            assert exact.guarantee(n_rounds) == pytest.approx(max(noisy, drift * (1 - 1 / n_actions)))


# What is drawn


@pytest.mark.parametrize("made", [noisy_low(4, 60.0, 3), FullV(0.8, 60.0, 3), FullV(0.8, 60.0, 3, "paper")])
def test_noisy_losses_take_two_values_with_the_printed_chances(made):
    n_rounds = 400
    layout = made.layout(n_rounds)
    drawn = [made.against(None, n_rounds, seed).start(n_rounds).draw(n_rounds) for seed in range(60)]
    losses, means, variances = (np.concatenate(part) for part in zip(*drawn, strict=True))
    noisy = variances[:, 0] > 0
    np.testing.assert_array_equal(losses[~noisy], means[~noisy])
    sigma, gap = layout.level, layout.gap
    assert set(np.unique(losses[noisy])) == {0.0, 2 * sigma}
    favoured = means == sigma - gap
    np.testing.assert_array_equal(favoured.sum(axis=1), 1)
    assert (means[~favoured] == sigma).all()
    np.testing.assert_allclose(variances[noisy][favoured[noisy]], sigma**2 - gap**2)
    np.testing.assert_allclose(variances[noisy][~favoured[noisy]], sigma**2)
    for group, chance in ((favoured, (sigma - gap) / (2 * sigma)), (~favoured, 0.5)):
        high = losses[noisy][group[noisy]] > 0
        assert abs(high.mean() - chance) <= 3 * math.sqrt(chance * (1 - chance) / high.size)
    # In a round, the actions' coins are independent.
    deviations = ((losses - means) / np.sqrt(np.maximum(variances, 1e-300)))[noisy]
    assert np.abs(np.corrcoef(deviations.T)[np.triu_indices(3, 1)]).max() <= 4 / math.sqrt(noisy.sum())


def test_the_noise_of_full_low_is_in_the_first_rounds_of_each_segment():
    made = noisy_low(segments=4, variance=11.0, n_actions=2)  # n = floor(44 / 8) = 5
    _, means, variances = made.against(None, 42, seed=3).start(42).draw(42)
    expected = np.zeros(42, bool)
    for start in (0, 10, 21, 31):
        expected[start : start + 5] = True
    np.testing.assert_array_equal(variances[:, 0] > 0, expected)
    assert {*np.flatnonzero(np.diff(means, axis=0).any(axis=1)) + 1} <= {10, 21, 31}


@pytest.mark.parametrize("n_actions", [2, 5])
def test_favourites_are_drawn_uniformly(n_actions):
    for made in (FullLow(40, 0.0, n_actions), noisy_low(40, 60.0, n_actions), FullV(0.8, 60.0, n_actions)):
        counts = np.zeros(n_actions)
        for seed in range(50):
            script = made.draw(T, np.random.default_rng(seed))
            counts += np.bincount(script.favourites, minlength=n_actions)
        expected = counts.sum() / n_actions
        assert ((counts - expected) ** 2 / expected).sum() <= n_actions - 1 + 4 * math.sqrt(2 * (n_actions - 1))


def test_changes_are_drawn_as_the_theorem_says():
    made, n_rounds = BanditLow(4), 62  # two intervals of 31: b = 5, m = 6
    at = [[], []]
    for seed in range(3000):
        means = made.against(None, n_rounds).start(n_rounds, seed).draw(n_rounds).means
        for j, interval in enumerate(np.split(means, 2)):
            good = np.flatnonzero(interval[:, 1] == 0)
            at[j].append(good[0] if good.size else 31)
            assert (interval[at[j][-1] :, 1] == 0).all()
    for found in at:
        counts = np.bincount(found, minlength=32)
        assert {*np.flatnonzero(counts)} == {0, 5, 10, 15, 20, 25, 31}
        expected = np.zeros(32)
        expected[[0, 5, 10, 15, 20, 25, 31]] = 3000 * np.array([1 / 12] * 6 + [1 / 2])
        there = expected > 0
        assert ((counts - expected)[there] ** 2 / expected[there]).sum() <= 22.5  # 99.9 % of chi-square with 6


def test_losses_of_bandit_low_are_the_printed_vectors():
    for n_actions, scale in ((2, 1.0), (4, 0.3)):
        made = BanditLow(20, n_actions, scale=scale)
        rows = {tuple(row) for row in made.against(None, 200).start(200).draw(200).losses}
        others = (scale,) * (n_actions - 2)
        assert rows == {(scale / 2, scale, *others), (scale / 2, 0.0, *others)}


# Responses


def seeds_of(seed, n_copies):
    """The seeds of the copies, as the adversary derives them."""
    return [int(word) for word in np.random.SeedSequence(seed).generate_state(n_copies, np.uint64)]


def changes_in(source, segments):
    """Return after how many rounds each interval changes."""
    n_rounds = source.n_rounds
    means = source.start(n_rounds).draw(n_rounds).means
    lengths = reference.interval_lengths(n_rounds, segments // 2)
    borders = np.cumsum(lengths)[:-1]
    return [int((interval[:, 1] > 0).sum()) for interval in np.split(means, borders)]


@pytest.mark.parametrize("name", BANDITS)
@pytest.mark.parametrize("n_actions", [2, 3])
def test_a_response_is_that_of_playing_every_change(name, n_actions):
    """The reference plays the changed losses; the adversary computes all values from the run without a change."""
    learner, segments, n_rounds, seeds = BANDITS[name], 5, 47, seeds_of(6, 3)
    for mode, slow in (
        ("proof", reference.proof_against_bandit),
        ("best-response", reference.best_response_to_bandit),
    ):
        made = BanditLow(segments, n_actions, mode, n_copies=3)
        found = changes_in(made.against(learner, n_rounds, seed=6), segments)
        assert found == slow(learner, seeds, segments, n_rounds, n_actions)


def test_both_outcomes_of_the_proof_occur():
    found = {
        name: changes_in(BanditLow(4, 2, "proof", n_copies=8).against(learner, 400), 4)
        for name, learner in {**BANDITS, "slow": Exp3S(exploration_rate=0.01)}.items()
    }
    changed = [change < 200 for changes in found.values() for change in changes]
    assert any(changed)
    assert not all(changed)


@pytest.mark.parametrize("name", EXPERTS)
def test_noiseless_responses_favour_the_least_weight(name):
    learner = EXPERTS[name]
    for made, n_vectors, scale in (
        (FullLow(25, 0.0, 3, "best-response"), 25, 1.0),
        (FullV(9.6, 0.0, 4, mode="best-response"), 10, 0.96),
    ):
        losses = made.against(learner, 60).start(60).draw(60).losses
        favourites = reference.jumps_against_experts(learner, n_vectors, made.n_actions, scale)
        np.testing.assert_array_equal(losses[:n_vectors].argmin(axis=1), favourites)
        np.testing.assert_array_equal(losses[n_vectors:], np.tile(losses[n_vectors - 1], (60 - n_vectors, 1)))
        assert losses.max() == scale


def test_noiseless_responses_to_a_bandit_learner_avoid_its_next_action():
    learner = BANDITS["rerun-ucbv"]
    made = FullLow(25, 0.0, 2, "best-response")
    source = made.against(learner, 25)
    results = simulate(source, learner, 25, n_runs=1)
    assert results.final(results.labels[0])[0] == 25


@pytest.mark.parametrize(
    ("made", "learner", "n_rounds"),
    [
        (noisy_low(3, 40.0, 3, "best-response", n_copies=256), Hedge(5.0), 90),
        (noisy_low(3, 40.0, 2, "best-response", n_copies=256), TsallisINF(), 900),
        (FullV(0.4, 20.0, 3, mode="best-response", n_copies=256), Hedge(3.0), 90),
    ],
)
def test_noisy_responses_favour_what_is_played_least_where_it_is_the_favourite(made, learner, n_rounds):
    layout = made.layout(n_rounds)
    favourites = made.against(learner, n_rounds, seed=3).script.favourites
    lengths = np.diff(layout.starts, append=n_rounds).tolist()
    spread = []
    for j in range(3):
        plays = reference.plays_of_favourites(
            learner, favourites[:j], layout.level, layout.gap, layout.noisy, lengths, made.n_actions, 300, seed=j
        )
        mean, error = plays.mean(axis=0), plays.std(axis=0, ddof=1).max() / math.sqrt(300)
        # Two means of 300 copies here and two of 256 there: twice the error of one.
        assert mean[favourites[j]] - mean.min() <= 3 * 2.1 * error
        spread.append((mean.max() - mean.min()) / error)
    assert max(spread) > 7  # the candidates differ


def test_candidates_are_tried_with_the_same_noise_and_the_copies_continue_with_other_noise(monkeypatch):
    """Different noise would make candidates hard to compare; the same noise again would be known to the copies."""
    coins, noiseless, real = [], [], LearnerCopies.play

    def play(self, means, n_rounds, noise, generator):
        if isinstance(noise, ScaledBernoulli):
            coins.append(copy.deepcopy(generator).random())
        else:
            noiseless.append(n_rounds)
        return real(self, means, n_rounds, noise, generator)

    monkeypatch.setattr(LearnerCopies, "play", play)
    noisy_low(3, 40.0, 3, "best-response", n_copies=2).against(Hedge(), 90)
    tries, continued = [coins[0:3], coins[4:7], coins[8:11]], [coins[3], coins[7]]
    assert len(coins) == 11  # the copies do not play the last interval again
    assert [len(set(each)) for each in tries] == [1, 1, 1]
    assert len({each[0] for each in tries} | {*continued}) == 5
    assert noiseless == [13, 13]  # 17 of 30 rounds are noisy, and the copies play the others, too


def test_copies_play_as_single_learners_do():
    learner, noise = Thompson(), ScaledBernoulli(0.0, 0.8)
    copies = LearnerCopies(learner, 3, 5, seed=2)
    copied, means = copies.copy(), np.array([0.4, 0.3, 0.4])
    plays = copies.play(means, 40, noise, np.random.default_rng(1))
    losses = noise.draw(np.tile(means, (200, 1)), np.random.default_rng(1))
    alone = [learner.run(learner.start(3, seed), losses[j * 40 : j * 40 + 40]) for j, seed in enumerate(seeds_of(2, 5))]
    np.testing.assert_allclose(plays, np.bincount(np.concatenate(alone), minlength=3) / 5)
    np.testing.assert_allclose(copied.play(means, 40, noise, np.random.default_rng(1)), plays)
    assert len(copied) == 5


def test_the_next_play_is_computed_without_changing_the_copies():
    for learner in (Thompson(), Hedge(), BANDITS["exp3-s"]):
        copies, alone = (LearnerCopies(learner, 3, 7, seed=2) for _ in range(2))
        means, rng = np.array([0.9, 0.1, 0.5]), np.random.default_rng(0)
        for _ in range(20):
            expected = copies.next_play()
            np.testing.assert_array_equal(copies.next_play(), expected)
            np.testing.assert_allclose(copies.play(means, 1, Deterministic(), rng), expected)
            np.testing.assert_allclose(alone.play(means, 1, Deterministic(), rng), expected)


def test_long_intervals_are_played_block_by_block(monkeypatch):
    whole = BanditLow(4, 3, "best-response", n_copies=4).against(Thompson(), 500, seed=2)
    noisy = noisy_low(2, 200.0, 3, "best-response", n_copies=4)
    monkeypatch.setattr(import_module("driftwise.adversaries.adversary"), "_COPIED_CELLS", 100)
    cut = BanditLow(4, 3, "best-response", n_copies=4).against(Thompson(), 500, seed=2)
    np.testing.assert_array_equal(cut.script.starts, whole.script.starts)
    np.testing.assert_array_equal(cut.script.favourites, whole.script.favourites)
    assert noisy.against(Hedge(), 500).script.favourites.shape == (2,)


def test_a_learner_without_random_draws_has_one_copy(monkeypatch):
    made = []
    real = LearnerCopies.__init__
    monkeypatch.setattr(LearnerCopies, "__init__", lambda self, *given: made.append(given[2]) or real(self, *given))
    BanditLow(4, mode="proof").against(RerunUCBV(), 50)
    FullLow(4, 0.0, mode="best-response").against(Hedge(), 50)
    FullLow(4, 0.0, mode="best-response").against(Thompson(), 50)
    noisy_low(4, 20.0, mode="best-response", n_copies=7).against(Hedge(), 50)
    assert made == [1, 1, 64, 7]


def test_a_best_response_uses_segments_that_the_proof_does_not():
    learner = UCB1()
    proof, best = (
        BanditLow(8, mode=mode, n_copies=1).against(learner, 4000).measures(4000) for mode in ("proof", "best-response")
    )
    assert best.segments == 8
    assert proof.segments < 8


# Choosing


def test_the_adversary_for_a_budget_is_the_one_with_the_largest_guarantee():
    for feedback in ("full", "bandit"):
        for n_actions in (2, 5):
            for n_rounds in (1, 2, 5, 1000):
                for drift in (0.1, 1.0, 1.9, 2.0, 2.3, 3.8, 7.0, 400.0, 5000.0):
                    for variance in (0.0, 0.5, 20.0, 1e5):
                        given = Measures(n_actions, n_rounds, 1, drift, variance)
                        made = strongest(feedback, given)
                        budget = made.budget(n_rounds)
                        assert feedback in made.feedbacks
                        assert budget.drift <= drift * SLACK
                        assert budget.variance <= variance * SLACK
                        least = FullV(drift, variance, n_actions).guarantee(n_rounds)
                        if feedback == "bandit" and 2 <= drift <= n_rounds:
                            least = max(least, BanditLow(math.floor(drift), n_actions).guarantee(n_rounds))
                        assert made.guarantee(n_rounds) >= least / SLACK
                        if feedback == "full":
                            assert made == FullV(drift, variance, n_actions)


def test_the_choice_is_that_of_the_paper_away_from_its_border():
    n_rounds, drift = 10**6, 10.0
    border = math.sqrt(drift * n_rounds)  # where sqrt(VT) = (Lambda V T)^(1/3)
    for factor in (0.1, 0.5, 8.0, 50.0):
        given = Measures(2, n_rounds, 1, drift, factor * border)
        assert isinstance(strongest("bandit", given), BanditLow) == (factor < 1)


def test_little_drift_guarantees_a_share_of_root_t_with_bandit_feedback():
    made = strongest("bandit", Measures(2, 10**4, 1, 0.5, 0.0), mode="best-response")
    assert made == BanditLow(2, 2, "best-response", scale=0.25)
    assert made.guarantee(10**4) == 0.5 * 100 / 8


def test_the_mode_proof_chooses_among_adversaries_that_have_it():
    budget = Measures(2, 10**4, 1, 10.0, 2000.0)
    assert strongest("bandit", budget, mode="proof") == BanditLow(10, 2, "proof")
    with pytest.raises(
        InvalidInput, match=r"^strongest: `mode` must be one of 'random', 'best-response' here, got 'proof'\.$"
    ):
        strongest("full", budget, mode="proof")


# Names and messages


def test_the_kinds_here_cover_the_registry():
    assert {make().name for make in KINDS.values()} == set(adversaries)
    for kind, make in KINDS.items():
        assert make().modes == modes(kind)


@every
def test_specs_are_plain_and_rebuild_the_adversary(kind, mode):
    made, learner = KINDS[kind](n_actions=3, mode=mode, n_copies=2), some_learner(kind, 1)
    assert adversaries.build(json.loads(json.dumps(made.to_spec()))) == made
    spec = json.loads(json.dumps(made.against(learner, T, seed=3).to_spec()))
    assert (spec.pop("n_rounds"), spec.pop("seed")) == (T, 3)
    assert spec.pop("against")["name"] == learner.name
    assert spec == made.to_spec()


def test_results_name_the_adversary():
    results = simulate(FullLow(4, 0.0).against(None, 50), Hedge(), 50, n_runs=2)
    assert results.summary().startswith("full-low: K = 2, T = 50")
    assert "against" not in results.environment


BAD = {
    "one segment": (lambda: BanditLow(1), "BanditLow: `segments` must be a whole number >= 2, got 1."),
    "one action": (lambda: BanditLow(4, 1), "BanditLow: `n_actions` must be a whole number >= 2, got 1."),
    "a scale of 0": (lambda: BanditLow(4, scale=0), "BanditLow: `scale` must be in (0, 1], got 0."),
    "a scale above 1": (lambda: BanditLow(4, scale=1.5), "BanditLow: `scale` must be in (0, 1], got 1.5."),
    "no copies": (lambda: BanditLow(4, n_copies=0), "BanditLow: `n_copies` must be a whole number >= 1, got 0."),
    "an unknown mode": (
        lambda: BanditLow(4, mode="clever"),
        "BanditLow: `mode` must be one of 'random', 'proof', 'best-response', got 'clever'.",
    ),
    "a mode of another adversary": (
        lambda: FullLow(4, 1.0, mode="proof"),
        "FullLow: `mode` must be one of 'random', 'best-response', got 'proof'.",
    ),
    "no segments": (lambda: FullLow(0, 1.0), "FullLow: `segments` must be a whole number >= 1, got 0."),
    "negative variance": (
        lambda: FullLow(4, -1.0),
        "FullLow: `variance` must be a finite number >= 0, got -1.0.",
    ),
    "no variance in the noisy case": (
        lambda: FullLow(4, 0.0, case="noisy"),
        "FullLow: `variance` must be > 0 in the noisy case, got 0.0.",
    ),
    "an unknown case": (
        lambda: FullLow(4, 1.0, case="loud"),
        "FullLow: `case` must be one of 'larger', 'noisy', 'noiseless', got 'loud'.",
    ),
    "one action in full-low": (lambda: FullLow(4, 1.0, 1), "FullLow: `n_actions` must be a whole number >= 2, got 1."),
    "no drift": (lambda: FullV(0.0, 1.0), "FullV: `drift` must be a finite number > 0, got 0.0."),
    "infinite drift": (lambda: FullV(math.inf, 1.0), "FullV: `drift` must be a finite number > 0, got inf."),
    "infinite variance": (
        lambda: FullV(1.0, math.inf),
        "FullV: `variance` must be a finite number >= 0, got inf.",
    ),
    "unknown constants": (
        lambda: FullV(1.0, 1.0, constants="best"),
        "FullV: `constants` must be one of 'exact', 'paper', got 'best'.",
    ),
    "too few rounds": (
        lambda: BanditLow(8).against(None, 7),
        "BanditLow: `n_rounds` must be a whole number >= 8, got 7.",
    ),
    "too few rounds to guarantee": (
        lambda: FullLow(8, 1.0).guarantee(7),
        "FullLow: `n_rounds` must be a whole number >= 8, got 7.",
    ),
    "no rounds": (lambda: FullV(1.0, 1.0).budget(0), "FullV: `n_rounds` must be a whole number >= 1, got 0."),
    "a negative seed": (
        lambda: BanditLow(8).against(None, 10, seed=-1),
        "BanditLow: `seed` must be a whole number >= 0, got -1.",
    ),
    "no learner to respond to": (
        lambda: BanditLow(4, mode="proof").against(None, 10),
        "BanditLow: `learner` must be a learner in the mode 'proof', got None. 'random' needs none.",
    ),
    "a class": (
        lambda: FullLow(4, 1.0).against(Hedge, 10),
        "FullLow: `learner` must be a learner or None, got <class 'driftwise.learners.experts.hedge.Hedge'>.",
    ),
    "the wrong feedback": (
        lambda: BanditLow(4).against(Hedge(), 10),
        "BanditLow: its theorem is about bandit feedback, got hedge with full feedback.",
    ),
    "more rounds than it was made for": (
        lambda: BanditLow(4).against(None, 10).start(11),
        "AdversarialEnvironment: `n_rounds` must be <= 10, the rounds it was made for, got 11.",
    ),
    "no rounds to play": (
        lambda: BanditLow(4).against(None, 10).measures(0),
        "AdversarialEnvironment: `n_rounds` must be a whole number >= 1, got 0.",
    ),
    "a bad seed of a run": (
        lambda: BanditLow(4).against(None, 10).start(10, seed=-1),
        "AdversarialEnvironment: `seed` must be a whole number >= 0, got -1.",
    ),
    "an unknown feedback": (
        lambda: strongest("some", Measures(2, 10, 1, 1.0, 1.0)),
        "strongest: `feedback` must be 'full' or 'bandit', got 'some'.",
    ),
    "a budget without drift": (
        lambda: strongest("full", Measures(2, 10, 1, 0.0, 1.0)),
        "FullV: `drift` must be a finite number > 0, got 0.0.",
    ),
}


@pytest.mark.parametrize(("call", "message"), BAD.values(), ids=BAD)
def test_bad_input_raises_one_sentence(call, message):
    with pytest.raises(InvalidInput, match=f"^{re.escape(message)}$"):
        call()


def test_an_unknown_adversary_raises_an_error_with_the_nearest_name():
    with pytest.raises(UnknownName, match=r"^There is no adversary 'bandit-lo'\. Did you mean 'bandit-low'\?$"):
        adversaries.build({"name": "bandit-lo", "segments": 3})


def test_a_user_can_register_an_adversary():
    @adversary("unfair-for-a-test", feedbacks=("full",), modes=("random",))
    @dataclasses.dataclass(frozen=True)
    class Mine(FullLow):
        pass

    try:
        assert isinstance(adversaries.build({"name": "unfair-for-a-test", "segments": 3, "variance": 0.0}), Adversary)
    finally:
        del adversaries._classes["unfair-for-a-test"]


@pytest.mark.parametrize("n_copies", [2**31, 2**62])
def test_more_copies_of_a_learner_than_fit_into_memory_are_refused(n_copies):
    rule = f"FullV: `n_copies` must be small enough for the memory of this machine, .*, got {n_copies}\\. It would take"
    with pytest.raises(InvalidInput, match=rule):
        FullV(4.0, 50.0, mode="best-response", n_copies=n_copies).against(Hedge(), 1000)
