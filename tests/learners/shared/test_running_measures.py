"""Running estimates of segments, drift and variance: against the whole history, and on environments that are known."""

from itertools import pairwise
from math import log
from typing import NamedTuple

import numpy as np
import pytest

from compiled_parts import from_python
from driftwise.core.types import Matrix
from driftwise.learners import Tracker
from driftwise.learners.meta import tracker
from driftwise.learners.meta.tracker import N_BLOCKS, block_contradiction, estimates
from paths import make_path

observe = from_python(tracker.observe)


class Blocks(NamedTuple):
    """The fields that the estimates need."""

    previous: Matrix
    squares: Matrix
    sums: Matrix
    means: Matrix
    clock: Matrix


def first(n_actions):
    zeros = np.zeros(n_actions)
    return Blocks(zeros, zeros.copy(), zeros.copy(), np.zeros((N_BLOCKS, n_actions)), np.array([1, 0, 0]))


def after(losses):
    memory = first(losses.shape[1])
    for row in losses:
        observe(memory, row)
    return memory


def slow_estimates(losses):
    """Return the estimates from the whole history: cut it into full blocks of every length, merge nothing."""
    n_rounds, n_actions = losses.shape
    steps = np.diff(losses, axis=0) ** 2
    per_round = steps.sum(axis=0) / (2 * max(1, n_rounds - 1))
    length = 1
    while n_rounds // length >= N_BLOCKS:
        length *= 2
    n_blocks, found = n_rounds // length, []
    while True:
        means = [losses[j * length : (j + 1) * length].mean(axis=0) for j in range(n_blocks)]
        segments, drift, within = 1, max(means[0]), False
        for old, new in pairwise(means):
            sizes = [
                abs(new[k] - old[k])
                for k in range(n_actions)
                if abs(new[k] - old[k]) > np.sqrt(8 * per_round[k] / length * log(2 * n_actions * n_blocks))
            ]
            drift += max(sizes, default=0.0)
            segments += bool(sizes) and not within
            within = bool(sizes)
        found.append((drift, segments))
        if n_blocks < 4:
            break
        n_blocks, length = n_blocks // 2, 2 * length
    return max(segments for _, segments in found), max(drift for drift, _ in found), steps.sum() / 2


@pytest.mark.interpreted
@pytest.mark.parametrize("n_rounds", [1, 2, 3, 7, 63, 64, 65, 127, 128, 129, 255, 256, 300])
def test_estimates_are_those_of_the_whole_history(n_rounds):
    for n_actions in (1, 3):
        for seed, family in enumerate(("uniform", "constant", "switching", "noiseless", "drifting", "equal")):
            losses = make_path(family, n_rounds, n_actions, seed)
            np.testing.assert_allclose(estimates(after(losses)), slow_estimates(losses), rtol=1e-9, atol=1e-9)


def test_estimates_of_many_rounds_are_those_of_the_whole_history():
    for n_rounds in (1000, 4096, 5000):
        losses = make_path("switching", n_rounds, 4, seed=n_rounds)
        np.testing.assert_allclose(estimates(after(losses)), slow_estimates(losses), rtol=1e-9)


@pytest.mark.interpreted
def test_without_rounds_nothing_is_estimated():
    assert estimates(first(3)) == (1.0, 0.0, 0.0)


@pytest.mark.interpreted
def test_the_clock_counts_blocks_of_a_power_of_two_in_memory_of_fixed_size():
    memory = first(2)
    shapes = [array.shape for array in memory]
    for t in range(1, 400):
        observe(memory, np.array([0.25, 1.0]))
        length, full, filled = memory.clock
        assert length * full + filled == t
        assert length & (length - 1) == 0
        assert full >= N_BLOCKS // 2 or length == 1
        assert full < N_BLOCKS
        assert 0 <= filled < length
        assert block_contradiction(memory, t) == ""
        assert block_contradiction(memory, t + 1).startswith("`clock` must be")
    assert [array.shape for array in memory] == shapes
    memory.sums[0] = memory.clock[2] + 0.5
    assert block_contradiction(memory, 399) == f"`sums` must be at most {memory.clock[2]}"


# Environments that are known


def bernoulli(n_rounds, means, seed):
    """Return Bernoulli losses whose means are those of each row in turn, in segments of equal length."""
    rows = np.repeat(np.array(means), n_rounds // len(means), axis=0)
    return (np.random.default_rng(seed).random(rows.shape) < rows).astype(float), rows


@pytest.mark.parametrize("seed", range(10))
def test_estimates_on_a_switching_environment_are_of_the_right_size(seed):
    """Five segments of 4,000 rounds, changes of 0.6: 39 blocks of 512 rounds.

    The threshold of noise is at most sqrt(8 * 0.25/512 ln 234) = 0.15, so all four changes are seen, and nothing else
    but with probability 1/234 for each length of blocks. A change within a block makes two differences that add up to
    it. Each mean has a deviation below 0.023 and the maximum over actions is too large by noise, so the drift
    (0.8 + 4 * 0.6) is within 10%. Half a squared difference of losses has a deviation below 1/2: the sum of 60,000
    is within 3%.
    """
    levels = ([0.2, 0.8, 0.5], [0.8, 0.2, 0.5])
    losses, rows = bernoulli(20_000, [levels[i % 2] for i in range(5)], seed)
    state = Tracker().start(3)
    Tracker().run(state, losses)
    beliefs = Tracker().beliefs(state)
    assert beliefs.segments == 5
    assert beliefs.drift == pytest.approx(0.8 + 4 * 0.6, rel=0.1)
    assert beliefs.variance == pytest.approx((rows * (1 - rows)).sum(), rel=0.03)


def test_estimates_without_changes_show_none():
    """1/2Kn for each length: at most (1/372)(1 + 2 + 4 + 8 + 16) = 0.08 with 62 blocks; normal tails are smaller."""
    found = 0
    for seed in range(100):
        losses, rows = bernoulli(1000, [[0.3, 0.5, 0.7]], seed)
        segments, drift, variance = estimates(after(losses))
        found += segments > 1
        assert variance == pytest.approx((rows * (1 - rows)).sum(), rel=0.15)
        assert segments > 1 or drift == pytest.approx(0.7, abs=0.35)
    assert found <= 5


@pytest.mark.interpreted
def test_estimates_scale_with_the_losses():
    losses = make_path("switching", 200, 3, seed=1)
    segments, drift, variance = estimates(after(losses))
    assert estimates(after(losses / 4)) == (segments, drift / 4, variance / 16)
