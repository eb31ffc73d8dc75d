"""Lower bounds: values worked by hand, the best parameters, budgets, and the regret of the best possible learner."""

import math

import numpy as np
import pytest
from hypothesis import given, settings, strategies as st
from scipy.stats import binom

from driftwise.core.measures import Measures
from driftwise.environments import MeasuresAccumulator
from driftwise.theory import lower, printed
from references import lower_bounds as reference

FIXED = settings(derandomize=True, database=None, deadline=None, max_examples=200)
BOUNDS = {
    name: getattr(lower, name) for name in ("full_switching", "bandit_switching", "full_drifting", "bandit_drifting")
}
shares = st.integers(0, 1000).map(lambda n: n / 1000)
every_bound = pytest.mark.parametrize("bound", BOUNDS.values(), ids=BOUNDS)


def measures(n_actions=2, n_rounds=1000, segments=1, drift=0.0, variance=0.0):
    return Measures(n_actions, n_rounds, segments, drift, variance)


@st.composite
def budgets(draw, least_rounds=1, least_actions=2):
    n_actions, n_rounds = draw(st.integers(least_actions, 20)), draw(st.integers(least_rounds, 20_000))
    return measures(
        n_actions,
        n_rounds,
        draw(st.integers(1, n_rounds)),
        draw(st.sampled_from([1.0, 10.0, float(n_rounds)])) * draw(shares),
        draw(st.sampled_from([1.0, n_actions * n_rounds / 4])) * draw(shares),
    )


# Values worked by hand


@pytest.mark.parametrize(
    ("known", "value"),
    [
        (measures(2, 800, 4), 10.0),  # M = 2, B = 400, b = 20
        (measures(9, 800, 5), 10.0),  # an odd segment is not used, further actions always lose 1
        (measures(2, 1000, 7), 13.5),  # M = 3, B = 333, b = 18
        (measures(2, 5139, 2572), 642.5),  # M = 1286: 1284 intervals of 4 rounds have b = 2, two shorter ones b = 1
        (measures(2, 2, 2), 0.25),
        (measures(2, 10**6, 1, drift=1.0, variance=9.0), 0.0),  # one segment has no change
    ],
)
def test_theorem_bandit_low_worked_by_hand(known, value):
    assert lower.bandit_switching(known) == value


def test_theorem_full_low_worked_by_hand():
    # Case B: Gamma (K - 1) / K
    assert lower.full_switching(measures(4, 1000, 10, variance=1.0)) == 7.5
    # Case A: 4 x 625 = 2500 noisy rounds in each of 4 segments, sigma = 1/2
    coins = lower.biased_coins_switching(measures(2, 20_000, 4, variance=5000.0))
    gap = math.sqrt(1 - math.exp(-1 / 10_000)) / 2
    assert coins == pytest.approx((4, 2500, 0.5, gap, 10_000 * gap / 4))
    assert coins.regret == pytest.approx(math.sqrt(2 * 4 * 5000) / 16, rel=1e-4)
    # Little variance: one noisy round in a segment, sigma^2 = 1 / (2 x 5)
    assert lower.biased_coins_switching(measures(2, 100, 5, variance=1.0))[:3] == pytest.approx((5, 1, math.sqrt(0.1)))
    # More variance than rounds for it
    assert lower.biased_coins_switching(measures(3, 100, 10, variance=75.0))[:3] == (10, 10, 0.5)


def test_theorem_full_v_worked_by_hand():
    assert lower.full_drifting(measures(2, 1000, drift=2.5)) == 1.25  # three jumps of 5/6
    assert lower.random_jumps_drifting(measures(2, 1000, drift=0.5)) == (1, 0.5, 0.25)
    # sigma = 1/4 = sqrt(4 / (2 x 32)) leaves 1/4 for changes. Intervals of 7 rounds have 4 changes, which is enough for
    # the whole gap of 0.0468; those of 6 have 5, which is a little too much: sigma falls to 1/2 / (1 + 5 x 0.202).
    coins = lower.biased_coins_drifting(measures(2, 32, drift=0.5, variance=4.0))
    hidden = math.sqrt(1 - math.exp(-1 / 24))
    sigma = 0.5 / (1 + 5 * hidden)
    assert coins == pytest.approx((6, 6, sigma, sigma * hidden, 32 * sigma * hidden / 4))
    assert 0.248 < sigma < 0.25
    # Bandits: M = 2 has b = 7 and 3.5; M = 3 has two intervals with b = 6 and one with b = 5, of scale 5/6
    assert lower.bandit_drifting(measures(2, 100, drift=5.0)) == pytest.approx(17 * 5 / 24)
    # and a single change of half the scale
    assert lower.bandit_drifting(measures(2, 100, drift=1.0)) == 1.25
    assert lower.hidden_changes_drifting(measures(2, 100, drift=1.0)) == (1, 10, 0, 0.5, 1.25)


def test_the_printed_parameters_of_theorem_full_v_worked_by_hand():
    known = measures(2, 8000, drift=1.0, variance=64.0)
    assert printed.biased_coins_drifting(known) == pytest.approx((20, math.sqrt(0.002 / 2), 0.0025))
    assert printed.full_drifting(known) == pytest.approx(5.0)  # T epsilon / 4
    length, sigma, gap = printed.biased_coins_drifting(known)
    assert 2 * length * (gap / sigma) ** 2 == pytest.approx(1 / 4)
    assert printed.full_drifting(measures(2, 8000, drift=9.0, variance=0.1)) is None
    assert printed.full_drifting(measures(2, 8000, variance=0.1)) is None
    assert printed.bandit_switching(measures(2, 800, 4)) == pytest.approx(10.0)


# Checks of all bounds


@every_bound
@FIXED
@given(known=budgets(least_actions=1))
def test_a_lower_bound_is_between_zero_and_the_rounds(bound, known):
    assert 0 <= bound(known) <= known.n_rounds


@every_bound
@FIXED
@given(known=budgets(least_rounds=1000), more=st.sampled_from([1.001, 1.1, 2.0]))
def test_a_lower_bound_hardly_falls_when_a_budget_grows(bound, known, more):
    """Environments within the smaller budget are within the larger; rounding to whole intervals costs up to 3 %."""
    K, T, segments, V, L = (getattr(known, name) for name in ("n_actions", "n_rounds", "segments", "drift", "variance"))
    before = bound(known)
    assert bound(measures(K, T, segments, V * more, L)) >= before * (1 - 1e-12)
    assert bound(measures(K, T, min(T, math.ceil(segments * more)), V, L)) >= 0.97 * before
    assert bound(measures(K, T, segments, V, L * more)) >= 0.97 * before
    assert bound(measures(K, math.ceil(T * more), segments, V, L)) >= 0.97 * before


@FIXED
@given(known=budgets())
def test_drifting_bounds_for_bandit_feedback_are_no_less_than_with_full_feedback(known):
    assert lower.bandit_drifting(known) >= lower.full_drifting(known)


@FIXED
@given(known=budgets())
def test_rounding_costs_theorem_bandit_low_at_most_half(known):
    value = lower.bandit_switching(known)
    assert value <= printed.bandit_switching(known) * (1 + 1e-12)
    if known.segments % 2 == 0:
        assert value > printed.bandit_switching(known) / 2


@pytest.mark.parametrize("n_rounds", [1, 2, 1000])
def test_environments_without_budget_have_no_lower_bound(n_rounds):
    still = measures(5, n_rounds)
    assert lower.full_switching(still) == 0.8  # the best action is unknown in the first round
    assert lower.bandit_switching(still) == lower.full_drifting(still) == lower.bandit_drifting(still) == 0
    coins = lower.biased_coins_switching(still), lower.biased_coins_drifting(still)
    changes = lower.hidden_changes_switching(still), lower.hidden_changes_drifting(still)
    assert (*coins, *changes, lower.random_jumps_drifting(still)) == (None,) * 5


@every_bound
def test_one_action_has_no_regret(bound):
    assert bound(measures(1, 100, 10, 5.0, 20.0)) == 0


def test_one_round_suffices_for_a_lower_bound():
    one = measures(2, 1, 1, drift=1.0, variance=0.5)
    assert lower.full_switching(one) == lower.full_drifting(one) == lower.bandit_drifting(one) == 0.5
    assert lower.hidden_changes_drifting(one) == (1, 1, 0, 0.5, 0.125)
    assert lower.biased_coins_drifting(one)[:3] == (1, 1, 0.5)


# Biased coins


def random_budgets(n_cases, most_rounds, seed):
    """Draw budgets, many of them where drift and variance limit the gap alike."""
    rng = np.random.default_rng(seed)
    for _ in range(n_cases):
        K, T = int(rng.integers(2, 9)), int(most_rounds ** rng.random())
        sigma = min(0.5, 10 ** rng.uniform(-4, 0))
        drift = sigma * 10 ** rng.uniform(-1, math.log10(T) + 0.5)
        yield measures(K, T, 1, drift, float(K * T * sigma**2))


def test_the_gap_is_the_largest_of_all_lengths():
    """To the last bit, on 4,000 random budgets."""
    limits = set()
    for known in random_budgets(4000, 400, seed=1):
        coins = lower.biased_coins_drifting(known)
        gap, length = reference.full_v_best_length(known.drift, known.variance, known.n_actions, known.n_rounds)
        assert (coins.gap, coins.length) == (gap, length)
        assert coins.n_intervals == math.ceil(known.n_rounds / coins.length)
        assert coins.regret == known.n_rounds * gap * (3 / 4 - 1 / known.n_actions)
        most = min(0.5, math.sqrt(known.variance / (known.n_actions * known.n_rounds)))
        limits.add((coins.sigma < most, coins.n_intervals > 1))
    assert len(limits) == 4  # drift or variance is the limit, with one interval and with several


def test_the_gap_is_the_largest_of_all_lengths_in_long_runs():
    """Up to 10^6 rounds, on 3,000 random budgets."""
    for known in random_budgets(3000, 10**6, seed=2):
        T, K = known.n_rounds, known.n_actions
        some = np.arange(1, math.isqrt(T) + 2)
        # The least length for each number of intervals: either of them is at most isqrt(T) + 1.
        lengths = np.unique(np.concatenate([some, -(-T // some)]))
        hidden = np.sqrt(-np.expm1(-1 / (4 * lengths)))
        most = min(0.5, math.sqrt(known.variance / (K * T)))
        gaps = hidden * np.minimum(most, known.drift / (1 + (-(-T // lengths) - 1) * hidden))
        assert lower.biased_coins_drifting(known).gap == pytest.approx(gaps.max(), rel=1e-14)


@pytest.mark.parametrize("bits", [100, 200, 299])
def test_the_length_of_an_interval_is_found_for_any_number_of_rounds(bits):
    """Where drift is the limit, sigma + (M - 1) gap = V is least for M = T^(1/3), where the gap is V / (3 T^(1/3))."""
    T = 2**bits
    coins = lower.biased_coins_drifting(measures(2, T, drift=0.5, variance=T / 2))
    assert coins.n_intervals == pytest.approx(T ** (1 / 3), rel=1e-6)
    assert coins.gap == pytest.approx(0.5 / (3 * T ** (1 / 3)), rel=1e-6)
    # Where both are, sigma = 1/4 and M gap = 1/4, with gap = sigma / (2 sqrt(T / M)): M^3 = 4 T.
    coins = lower.biased_coins_drifting(measures(2, T, drift=0.5, variance=T / 8))
    assert coins.sigma == pytest.approx(1 / 4)
    assert coins.n_intervals == pytest.approx((4 * T) ** (1 / 3), rel=1e-6)


@FIXED
@given(known=budgets(), construct=st.sampled_from([lower.biased_coins_switching, lower.biased_coins_drifting]))
def test_coins_hide_the_best_action_as_the_proof_needs(known, construct):
    coins = construct(known)
    if coins is None:
        return
    K, n = known.n_actions, coins.length
    assert 0 < coins.gap < coins.sigma <= 0.5
    assert 2 * n * reference.hidden_divergence(coins.sigma, coins.gap) == pytest.approx(1 / 4)
    plays = reference.most_plays_of_favourite(K, n, coins.sigma, coins.gap)
    assert plays == pytest.approx(n * (1 / K + 1 / 4))
    rounds = min(known.n_rounds, n * coins.n_intervals)
    assert coins.regret <= rounds * coins.gap * (1 - plays / n) * (1 + 1e-9) + 1e-12


def test_lemma_sigma1_the_divergence_of_the_coins():
    """-1/2 ln(1 - (gap / sigma)^2), at most (gap / sigma)^2 if the gap is at most sigma / sqrt(2)."""
    for sigma in (0.01, 0.25, 0.5):
        for share in (0.0, 0.1, 0.5, math.sqrt(0.5)):
            found = reference.hidden_divergence(sigma, share * sigma)
            assert found == pytest.approx(-math.log1p(-(share**2)) / 2, abs=1e-15)
            assert found <= share**2 * (1 + 1e-12)


def least_regret_on_coins(length, sigma, gap):
    """Return the regret of the optimal learner, which plays the likelier action, in an interval of two actions."""
    heads = (sigma - gap) / (2 * sigma)
    right = 0.0
    for seen in range(length):
        better, worse = (binom.pmf(np.arange(seen + 1), seen, p) for p in (heads, 0.5))
        right += np.maximum(np.outer(better, worse), np.outer(worse, better)).sum() / 2
    return gap * (length - right)


@pytest.mark.parametrize(
    "coins",
    [
        lower.biased_coins_switching(measures(2, 100, 1, variance=50.0)),
        lower.biased_coins_switching(measures(2, 100, 10, variance=50.0)),
        lower.biased_coins_switching(measures(2, 100, 10, variance=0.1)),
        lower.biased_coins_drifting(measures(2, 900, drift=0.5, variance=4.0)),
        lower.biased_coins_drifting(measures(2, 900, drift=0.1, variance=400.0)),
        lower.biased_coins_drifting(measures(2, 1, drift=1.0, variance=0.5)),
    ],
)
def test_a_learner_that_knows_the_coins_incurs_the_lower_bound(coins):
    best = least_regret_on_coins(coins.length, coins.sigma, coins.gap)
    assert coins.regret <= coins.n_intervals * best * (1 + 1e-9)
    assert reference.most_plays_of_favourite(2, coins.length, coins.sigma, coins.gap) >= coins.length - best / coins.gap


def test_eq_n_i_holds_for_gaps_that_can_be_noticed():
    for length in (1, 5, 30):
        for gap in (0.05, 0.2, 0.45):
            plays = length - least_regret_on_coins(length, 0.5, gap) / gap
            assert plays <= reference.most_plays_of_favourite(2, length, 0.5, gap) + 1e-12


# Hidden changes


def best_sum_of_blocks(n_rounds, n_intervals):
    """Return the largest sum of blocks, trying every length of every interval."""
    best = [0] * (n_rounds + 1)  # with so many rounds, in the intervals so far
    for _ in range(n_intervals):
        best = [max(best[rest - n] + math.isqrt(n) for n in range(rest + 1)) for rest in range(n_rounds + 1)]
    return best[n_rounds]


def test_no_other_lengths_of_the_intervals_guarantee_more():
    for n_rounds in (1, 2, 3, 7, 15, 16, 40, 59):
        for n_intervals in range(1, n_rounds // 2 + 1):
            changes = lower.hidden_changes_switching(measures(2, n_rounds, 2 * n_intervals))
            assert changes.regret == best_sum_of_blocks(n_rounds, n_intervals) / 4
            assert sum(reference.hidden_change_blocks(changes)) / 4 == changes.regret
            equal = lower.hidden_changes_in_equal_intervals(n_rounds, n_intervals, 1.0)
            assert equal.regret == reference.bandit_low_guarantee(2 * n_intervals, n_rounds) <= changes.regret


@pytest.mark.parametrize("drift", [0.3, 1.0, 2.0, 3.1, 3.9, 7.0, 12.2, 39.0, 41.0, 500.0])
def test_no_other_number_of_intervals_guarantees_more_for_a_drift(drift):
    for n_rounds in (1, 2, 10, 40):
        found = lower.hidden_changes_drifting(measures(2, n_rounds, drift=drift)).regret
        others = [
            min(1, drift / (2 * intervals)) * best_sum_of_blocks(n_rounds, intervals) / 4
            for intervals in range(1, n_rounds + 1)
        ]
        assert found == pytest.approx(max(others), rel=1e-12)


def least_regret_with_hidden_changes(length, block):
    """Return the regret of the best of all bandit learners in an interval, by dynamic programming.

    With chance 1/2 the second action becomes the better at the start of a block, each as likely. A learner that plays
    it then observes that; until then only the block in which it was last played counts.
    """
    blocks = length // block
    later = np.zeros(blocks + 1)  # regret from the next round on; entry q: last played in block q, none is q = 0
    for j in range(blocks, 0, -1):
        unchanged = 1 / 2 + (blocks - j) / (2 * blocks)
        for _ in range(block):
            unnoticed = (j - np.arange(blocks + 1)).clip(0) / (2 * blocks)
            later = np.minimum(unnoticed / 2 + later, unchanged / 2 + later[j])
    return later[0]


@pytest.mark.parametrize("length", [1, 2, 3, 4, 8, 9, 50, 100, 399, 400])
def test_a_bandit_learner_that_knows_how_changes_are_hidden_incurs_the_lower_bound(length):
    changes = lower.hidden_changes_drifting(measures(2, length, drift=2.0))
    assert changes.n_intervals == 1
    best = least_regret_with_hidden_changes(length, changes.block)
    assert changes.regret <= best * (1 + 1e-12)
    assert best <= 2 * changes.regret  # and a good one not much more


# The budgets of the constructions


def spent(means, variances):
    meter = MeasuresAccumulator(means.shape[1])
    meter.update(np.ascontiguousarray(means), np.ascontiguousarray(variances))
    return meter.measures()


def worst_case_of_coins(coins, n_actions, n_rounds, every):
    """Lay out the intervals, with another best action in each; noise only in the first `length` rounds."""
    interval = np.minimum(np.arange(n_rounds) // every, coins.n_intervals - 1)
    best = np.eye(n_actions)[interval % n_actions]
    noisy = np.arange(n_rounds) - interval * every < coins.length
    variances = (coins.sigma**2 - best * coins.gap**2) * noisy[:, None]
    return spent(coins.sigma - coins.gap * best, variances)


@FIXED
@given(known=budgets())
def test_coins_keep_their_budgets(known):
    K, T = known.n_actions, known.n_rounds
    if switching := lower.biased_coins_switching(known):
        used = worst_case_of_coins(switching, K, T, T // known.segments)
        assert used.segments <= known.segments
        assert used.variance <= known.variance * (1 + 1e-9)
    if drifting := lower.biased_coins_drifting(known):
        used = worst_case_of_coins(drifting, K, T, drifting.length)
        assert used.drift <= known.drift * (1 + 1e-9)
        assert used.variance <= known.variance * (1 + 1e-9)


@FIXED
@given(known=budgets())
def test_jumps_and_hidden_changes_keep_their_budgets(known):
    K, T = known.n_actions, known.n_rounds
    for budget, jumps, changes in (
        ("segments", lower.random_jumps_switching(known), lower.hidden_changes_switching(known)),
        ("drift", lower.random_jumps_drifting(known), lower.hidden_changes_drifting(known)),
    ):
        if jumps:
            best = np.eye(K)[np.minimum(np.arange(T), jumps.n_jumps - 1) % K]
            assert getattr(spent(jumps.scale * (1 - best), np.zeros((T, K))), budget) <= getattr(known, budget) + 1e-9
        if changes:
            blocks = reference.hidden_change_blocks(changes)
            lengths = reference.hidden_change_lengths(changes, T)
            assert len(blocks) == changes.n_intervals
            assert sum(lengths) == T
            assert all(block**2 <= length for block, length in zip(blocks, lengths, strict=True))
            means = np.ones((T, K))
            means[:, 0] = 0.5
            for end, block in zip(np.cumsum(lengths), blocks, strict=True):
                means[end - block : end, 1] = 0.0  # changed in the last block of every interval
            used = spent(changes.scale * means, np.zeros((T, K)))
            assert getattr(used, budget) <= getattr(known, budget) * (1 + 1e-9)
