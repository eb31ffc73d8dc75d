"""The block bootstrap over time, against plain loops, and its coverage for series with dependent rounds."""

import math

import numpy as np
import pytest

from driftwise import Replay, Results, simulate
from driftwise.core.errors import InvalidInput
from driftwise.environments import stationary
from driftwise.learners import FixedShare, Hedge
from driftwise.regret.blocks import LEAST_VALUES, block_interval, block_length
from driftwise.results import Interval, Static


def autoregressive(generator, n, coefficient):
    """Return n values of x_t = coefficient x_(t-1) + noise, after 200 others."""
    noise, values = generator.normal(size=n + 200), [0.0]
    for shock in noise:
        values.append(coefficient * values[-1] + shock)
    return np.array(values[-n:])


def slow_length(values):
    """Return the length of Politis and White (2004, 2009), sum by sum."""
    n, mean = len(values), math.fsum(values) / len(values)

    def covariance(k):
        return math.fsum((values[t] - mean) * (values[t + k] - mean) for t in range(n - k)) / n

    def is_small(k):
        return abs(covariance(k) / covariance(0)) < 2 * math.sqrt(math.log10(n) / n)

    n_lags = max(5, math.ceil(math.sqrt(math.log10(n))))
    last = next(m for m in range(n) if all(is_small(m + k) for k in range(1, n_lags + 1)))
    m = max(2 * last, 1)

    def taper(s):
        return 1.0 if abs(s) <= 0.5 else 2 * (1 - abs(s))

    g = math.fsum(taper(k / m) * covariance(abs(k)) for k in range(-m, m + 1))
    weighted = math.fsum(taper(k / m) * abs(k) * covariance(abs(k)) for k in range(-m, m + 1))
    length = (2 * weighted**2 / (4 / 3 * g**2)) ** (1 / 3) * n ** (1 / 3)
    return max(1, min(math.ceil(length), math.ceil(min(3 * math.sqrt(n), n / 3))))


def slow_interval(sums, lengths, confidence, seed):
    """Return total and ends; blocks are put together value by value."""
    total, n = math.fsum(sums), len(sums)
    rest = [x - total * k / sum(lengths) for x, k in zip(sums, lengths, strict=True)]
    length, generator = slow_length(np.array(rest)), np.random.default_rng(seed)
    starts = generator.integers(0, n, (2000, n // length))
    ends = generator.integers(0, n, 2000) if n % length else np.zeros(2000, int)
    totals = []
    for row, end in zip(starts.tolist(), ends.tolist(), strict=True):
        values = [rest[(start + i) % n] for start in row for i in range(length)]
        values += [rest[(end + i) % n] for i in range(n % length)]
        assert len(values) == n
        totals.append(total + math.fsum(values))
    return total, *np.quantile(totals, [(1 - confidence) / 2, (1 + confidence) / 2])


@pytest.mark.parametrize("coefficient", [-0.6, 0.0, 0.4, 0.9])
def test_blocks_have_the_length_of_politis_and_white(coefficient):
    for seed in range(3):
        values = autoregressive(np.random.default_rng(seed), 160, coefficient)
        assert block_length(values) == slow_length(values)


def test_dependent_rounds_have_longer_blocks():
    lengths = [block_length(autoregressive(np.random.default_rng(1), 500, c)) for c in (0.0, 0.5, 0.9)]
    assert lengths == sorted(lengths)
    assert lengths[0] < lengths[1] < lengths[2]


@pytest.mark.parametrize("rounds", [1, 3], ids=["single-rounds", "sums-of-rounds"])
def test_the_interval_is_that_of_the_plain_loops(rounds):
    generator = np.random.default_rng(2)
    lengths = generator.integers(1, rounds + 1, 61)
    sums = lengths * 0.3 + autoregressive(generator, 61, 0.5)
    result = block_interval(sums, lengths, 0.9, seed=5)
    assert result == pytest.approx(slow_interval(sums, lengths, 0.9, 5), rel=1e-9)
    assert block_interval(sums, lengths, 0.9, seed=5) == result
    assert block_interval(sums, lengths, 0.9, seed=6) != result


def test_a_series_of_equal_values_has_no_interval():
    total, low, high = block_interval(np.full(60, 0.25), np.ones(60, np.int64))
    assert total == 15.0
    assert math.isnan(low)
    assert math.isnan(high)


def test_few_values_are_rejected():
    message = (
        rf"^block_interval: `sums` must have at least {LEAST_VALUES} marked rounds for blocks over time, got 49\.$"
    )
    with pytest.raises(InvalidInput, match=message):
        block_interval(np.arange(49.0), np.ones(49, np.int64))


def test_the_coverage_for_dependent_rounds_is_near_its_level():
    # 200 series of 400 rounds with autocorrelation 0.5: the standard error of the share is 0.018 at 0.93.
    generator = np.random.default_rng(3)
    hits = naive = 0
    for seed in range(200):
        values = autoregressive(generator, 400, 0.5)
        _, low, high = block_interval(values, np.ones(400, np.int64), seed=seed)
        hits += low <= 0 <= high
        naive += abs(values.sum()) <= 1.96 * values.std() * math.sqrt(400)
    assert 0.88 <= hits / 200 <= 0.98
    assert naive / 200 < 0.85  # as if rounds were independent


# Results


def recorded(n_rounds, n_runs=2, comparator=None):
    losses = np.random.default_rng(4).random((n_rounds, 3))
    return simulate(Replay(losses), [Hedge(), FixedShare()], n_runs=n_runs, seed=9, comparator=comparator)


@pytest.mark.parametrize("comparator", [None, Static(), Interval(20, 170)], ids=str)
def test_blocks_of_a_recording_are_those_of_the_growth_of_its_curve(comparator):
    results = recorded(200, comparator=comparator)
    first = 20 if isinstance(comparator, Interval) else 0
    curve = results.regrets[0, 0]
    lengths = np.diff(results.rounds, prepend=first)
    expected = block_interval(np.diff(curve, prepend=0.0), lengths, 0.9, seed=9)
    assert results.regret("hedge", 0.9, interval="blocks") == pytest.approx(expected, rel=1e-12)
    assert expected.mean == pytest.approx(curve[-1], rel=1e-12)


def test_a_long_recording_is_resampled_by_its_marked_rounds():
    results = recorded(1500, n_runs=1)
    assert {*np.diff(results.rounds).tolist()} == {1, 2}
    mean, low, high = results.regret("hedge", interval="blocks")
    curve = np.concatenate([[0.0], results.regrets[0, 0]])
    rest = np.diff(curve) - mean * np.diff(results.rounds, prepend=0) / 1500
    half = 1.96 * math.sqrt((rest**2).sum())  # the losses of this recording are independent over rounds
    assert (high - low) / 2 == pytest.approx(half, rel=0.15)


def test_a_paired_difference_over_blocks_does_not_depend_on_the_comparator():
    over_blocks = [
        recorded(300, comparator=comparator).difference("hedge", "fixed-share", interval="blocks")
        for comparator in (None, Static())
    ]
    assert over_blocks[0] == pytest.approx(over_blocks[1], rel=1e-9)
    assert over_blocks[0].low < over_blocks[0].mean < over_blocks[0].high


def test_the_table_and_the_record_say_what_the_intervals_are_over(tmp_path):
    results = recorded(100)
    assert results.table(interval="blocks").endswith(
        "\nIntervals are by a bootstrap over blocks of rounds of the recording."
    )
    record = results.record(interval="blocks")
    assert record["interval"] == "blocks"
    assert all(row["low"] < row["regret"] < row["high"] for row in record["learners"])
    results.save(tmp_path / "x.parquet")
    again = Results.from_parquet(tmp_path / "x.parquet")
    assert again.table(interval="blocks") == results.table(interval="blocks")


@pytest.mark.parametrize(
    ("make", "interval", "message"),
    [
        (
            lambda: recorded(30),
            "blocks",
            "Results: the curves must have at least 50 marked rounds for blocks of them, got 30.",
        ),
        (
            lambda: simulate(stationary(2), Hedge(), 100, 2),
            "blocks",
            "Results: `interval` must be 'runs', unless losses are recorded, got 'blocks'. Runs of an environment have"
            " an interval over runs.",
        ),
        (lambda: recorded(60), "rows", "Results: `interval` must be one of 'runs', 'blocks', got 'rows'."),
    ],
)
def test_other_intervals_are_rejected(make, interval, message):
    with pytest.raises(InvalidInput) as raised:
        make().regret("hedge", interval=interval)
    assert str(raised.value) == message
