"""KL indices that are computed only where they may be lowest: the choices are those of a scan of all indices."""

import math

import numpy as np
import pytest

from compiled_parts import from_python
from driftwise.core.divergence import least_mean, least_mean_exceeds, least_mean_roughly
from driftwise.learners import GLRKLUCB, KLUCB, DiscountedKLUCB, SlidingWindowKLUCB
from driftwise.learners.bandits import kl_ucb
from driftwise.learners.bandits.kl_ucb import Extra
from driftwise.learners.shared import index_learner, restarting_learner
from paths import make_path

MEANS = (0.0, 1e-12, 2e-9, 1e-6, 1e-3, 0.02, 0.3, 0.5, 0.7, 0.98, 1 - 1e-6, 1 - 1e-12, 1.0, -1e-17, 1 + 1e-15)
BUDGETS = (0.0, 5e-324, 1e-30, 1e-15, 1e-12, 1e-9, 1e-6, 1e-3, 0.03, 0.3, 1.0, 4.0, 30.0, 1e4, 1e300, math.inf)
kl_level, age = from_python(kl_ucb.kl_level), from_python(restarting_learner.age)


def lowest(kind, *count):
    return from_python(index_learner.lowest(kind, *count))


def scan(memory, counts, rates):
    """Return the action of least index, of those the one played least, of those the first."""
    played = zip(memory.plays, memory.total, counts, strict=True)
    with np.errstate(over="ignore"):  # of a discounted past
        scores = [least_mean(x / n, kl_level(count, rates) / n) if n > 0 else -math.inf for n, x, count in played]
    return min(range(len(scores)), key=lambda i: (scores[i], memory.plays[i], i))


def expect_scan(choose, memory, rates, by_age=False):
    counts = [age(memory, i) for i in range(memory.plays.size)] if by_age else [memory.counted[0]] * memory.plays.size
    assert choose(memory, rates) == (scan(memory, counts, rates), 1.0), (memory, rates)


def new_tally(plays, total):
    memory = KLUCB().start(len(plays)).memory
    memory.plays[:], memory.total[:] = plays, total
    memory.counted[0] = memory.plays.sum()
    memory.clock[0] = math.ceil(memory.counted[0])
    return memory


def random_tally(rng, n_actions):
    """Draw plays that are whole or not, few or many, some equal; and totals that are whole or not, equal, 0 or all."""
    size = 10.0 ** rng.uniform(0, 6)
    plays = rng.uniform(0, size, n_actions) if rng.random() < 0.5 else rng.integers(0, math.ceil(size) + 1, n_actions)
    if rng.random() < 0.3:
        plays = rng.choice(plays[:3], n_actions)
    if rng.random() < 0.1:
        plays = plays * 10.0 ** -rng.uniform(0, 320)  # a discounted past
    means = rng.uniform(0, 1, n_actions) if rng.random() < 0.5 else rng.choice([0.0, 0.02, 0.4, 0.5, 1.0], n_actions)
    total = plays * (means if rng.random() < 0.8 else means[0])
    return new_tally(plays, np.floor(total) if rng.random() < 0.5 else total)


@pytest.mark.parametrize("by_age", [False, True])
def test_choices_of_random_tallies_are_those_of_a_scan(by_age):
    choose = lowest(KLUCB, restarting_learner.age) if by_age else lowest(KLUCB)
    rng = np.random.default_rng(1)
    for case in range(4000):
        memory = random_tally(rng, n_actions=int(rng.choice([1, 2, 3, 10, 100], p=[0.1, 0.3, 0.3, 0.25, 0.05])))
        memory.reset_rounds[:] = rng.integers(0, memory.clock[0] + 1, memory.plays.size)
        expect_scan(choose, memory, Extra((0.0, 3.0, 1e3, 1.7e308)[case % 4]), by_age)


def test_choices_among_nearly_equal_indices_are_those_of_a_scan():
    """All indices are nearly the same, by bisection of the mean: some are equal, some differ in the last digits."""
    choose, rng = lowest(KLUCB), np.random.default_rng(2)
    for case in range(300):
        n_actions = int(rng.integers(2, 7))
        plays = rng.integers(1, 10 ** rng.integers(1, 6), n_actions).astype(float)
        level, target = kl_level(plays.sum(), Extra(0.0)), rng.uniform(0.01, 0.5)
        low, high = np.full((2, n_actions), [[target], [1.0]])
        for _ in range(60):
            middle = (low + high) / 2
            above = [least_mean(p, level / n) > target for p, n in zip(middle, plays, strict=True)]
            low, high = np.where(above, low, middle), np.where(above, middle, high)
        total = high * plays * (1 + rng.choice([0, 1e-16, 1e-15, 1e-13, 1e-11, 1e-9], n_actions))
        if case % 2:
            plays[-1], total[-1] = plays[0], total[0]
        expect_scan(choose, new_tally(plays, total), Extra(0.0))


@pytest.mark.parametrize(
    "learner",
    [
        KLUCB(),
        KLUCB(3.0),
        SlidingWindowKLUCB(60),
        DiscountedKLUCB(0.97),
        DiscountedKLUCB(1e-3),
        GLRKLUCB(exploration_rate=0.0),
    ],
    ids=repr,
)
@pytest.mark.parametrize("family", ["coin", "tied", "equal", "switching", "nudged"])
def test_a_run_is_that_of_a_scan(learner, family):
    """Random losses and losses that tie, round by round."""
    losses = make_path(family, 300, 5, seed=4)
    state, rates = learner.start(5), Extra(learner.loglog_scale)
    by_age = isinstance(learner, GLRKLUCB)
    for row in losses:
        memory = state.memory
        counts = [age(memory, i) for i in range(5)] if by_age else [memory.counted[0]] * 5
        action, probability = learner.choose(state)
        assert action == scan(memory, counts, rates)
        learner.update(state, action, row[action], probability)


@pytest.mark.interpreted
def test_a_mean_that_is_said_to_exceed_a_number_exceeds_it_as_computed():
    """The numbers are around the mean, from the next float on, and anywhere."""
    for p in MEANS:
        for budget in BUDGETS:
            mean = least_mean(p, budget)
            around = [mean * (1 + sign * 10.0**-digits) for sign in (-1, 1) for digits in range(1, 17, 3)]
            for q in (-math.inf, 0.0, 1e-300, 1e-9, 0.1, 0.5, mean, math.nextafter(mean, 0), *around):
                assert mean > q or not least_mean_exceeds(p, budget, q), (p, budget, q)


def test_no_random_mean_is_wrongly_said_to_exceed_a_number():
    rng = np.random.default_rng(3)
    for _ in range(30_000):
        p, budget = rng.uniform() ** 3, 10.0 ** rng.uniform(-13, 1.5)
        p = p if rng.random() < 0.5 else 1.0 - p
        mean = least_mean(p, budget)
        q = mean * (1 + rng.choice([0.0, 1e-15, 1e-13, 1e-12, 1e-11, 1e-9, 1e-6]) * rng.uniform(-1, 1))
        assert mean > q or not least_mean_exceeds(p, budget, q), (p, budget, q)


def test_a_mean_is_said_to_exceed_what_is_a_little_less():
    """Otherwise the test saves no time; choices are the same in any case."""
    for p in (0.02, 0.3, 0.5, 0.9, 1.0):
        for budget in (1e-6, 1e-3, 0.1):
            assert least_mean_exceeds(p, budget, least_mean(p, budget) - 1e-4 * math.sqrt(budget))


@pytest.mark.interpreted
def test_a_guess_is_close_where_the_budget_is_small_and_a_number_anywhere():
    for p in MEANS:
        assert all(math.isfinite(least_mean_roughly(p, budget)) for budget in BUDGETS)
    for p in (0.1, 0.3, 0.5, 0.9):
        for budget in (1e-6, 1e-3, 0.01):
            mean = least_mean(p, budget)
            assert abs(least_mean_roughly(p, budget) - mean) < 1e-3 * (p - mean)
