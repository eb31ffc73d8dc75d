"""The properties of each path, and the input it rejects."""

import tracemalloc

import numpy as np
import pytest

from driftwise.core.errors import InvalidInput
from driftwise.environments import (
    Bernoulli,
    Bursts,
    Constant,
    Deterministic,
    Environment,
    Linear,
    MeasuresAccumulator,
    RandomSegments,
    RandomWalk,
    Segments,
    SingleChanges,
    Sinusoidal,
    Switching,
    Table,
)

LIMIT = 60e6  # bytes; the whole matrix of two million rounds of ten actions would take 160e6


def means(path, n_rounds, seed=0):
    return Environment(path, Deterministic()).start(n_rounds, seed).draw(n_rounds).means


@pytest.mark.parametrize("lengths", ["equal", "random"])
@pytest.mark.parametrize("n_segments", [1, 2, 7, 100])
def test_switching_has_exactly_its_segments_and_their_drift(n_segments, lengths):
    path = Switching(n_segments, 3, best=0.25, rest=0.75, lengths=lengths)
    for seed in range(5):
        measures = Environment(path, Bernoulli()).measures(100, seed)
        assert measures.segments == n_segments
        assert measures.drift == 0.75 + (n_segments - 1) * 0.5
        assert measures.variance == 100 * 3 * 0.1875


def test_switching_moves_to_every_other_action_equally_often():
    rows = means(Switching(30_000, 4), 30_000, seed=1)
    good = rows.argmin(axis=1)
    counts = np.bincount((np.diff(good)) % 4, minlength=4)
    assert counts[0] == 0
    # 29,999 moves over three others: 5 standard deviations of a binomial(1/3) are 409.
    assert np.all(np.abs(counts[1:] - 9999.7) < 409)


def test_equal_segments_differ_by_one_round_at_most():
    changes = np.flatnonzero(np.any(np.diff(means(Switching(7, 3), 100), axis=0) != 0, axis=1))
    lengths = np.diff(np.concatenate(([-1], changes, [99])))
    assert lengths.sum() == 100
    assert set(lengths) == {14, 15}


def test_random_segments_have_exactly_their_number_and_range():
    path = RandomSegments(40, 3, low=0.25, high=0.5, lengths="random")
    rows = means(path, 40)  # as many segments as rounds: every round is one
    assert rows.min() >= 0.25
    assert rows.max() <= 0.5
    assert Environment(path, Bernoulli()).measures(1000, seed=3).segments == 40


@pytest.mark.parametrize(
    ("n_bursts", "length", "n_actions", "n_rounds"), [(1, 1, 2, 2), (6, 20, 5, 1000), (7, 9, 3, 70)]
)
def test_bursts_have_exactly_their_segments_and_their_drift(n_bursts, length, n_actions, n_rounds):
    path = Bursts(n_bursts, length, n_actions, best=0.5, rest=0.75, burst=0.25)
    for seed in range(5):
        measures = Environment(path, Deterministic()).measures(n_rounds, seed)
        assert measures.segments == 2 * n_bursts
        assert measures.drift == 0.75 + (2 * n_bursts - 1) * 0.5


def test_bursts_are_at_the_end_of_equal_intervals_and_never_of_the_good_action():
    others = []
    for seed in range(40):
        rows = means(Bursts(3, 10, 4), 100, seed)
        good = int(np.argmin(rows[0]))
        assert (rows[:, good] == 0.4).all()
        in_burst = (rows == 0.1).any(axis=1)
        assert np.flatnonzero(in_burst).tolist() == [*range(23, 33), *range(56, 66), *range(90, 100)]
        assert (np.sort(rows[in_burst], axis=1) == [0.1, 0.4, 0.6, 0.6]).all()
        assert (np.sort(rows[~in_burst], axis=1) == [0.4, 0.6, 0.6, 0.6]).all()
        others += [(int(np.argmin(rows[t])) - good) % 4 for t in (23, 56, 90)]
    # 120 draws among three: 5 standard deviations of a binomial(1/3) are 26.
    assert np.all(np.abs(np.bincount(others, minlength=4)[1:] - 40) < 26)


def test_at_a_single_change_one_mean_is_drawn_again():
    path = SingleChanges(500, 3, low=0.25, high=0.75)
    rows = means(path, 500, seed=1)  # every round is a segment
    changed = np.diff(rows, axis=0) != 0
    assert (changed.sum(axis=1) == 1).all()
    assert rows.min() >= 0.25
    assert rows.max() <= 0.75
    # 499 changes of three actions: 5 standard deviations of a binomial(1/3) are 53.
    assert np.all(np.abs(changed.sum(axis=0) - 499 / 3) < 53)
    for lengths in ("equal", "random"):
        path = SingleChanges(12, 4, lengths=lengths)
        assert Environment(path, Bernoulli()).measures(1000, seed=3).segments == 12


def test_single_changes_have_the_expected_drift():
    path, n = SingleChanges(9, 4, low=0.2, high=0.8), 2000
    drifts = [Environment(path, Deterministic()).measures(50, seed).drift for seed in range(n)]
    expected = 0.2 + 0.6 * (4 / 5 + 8 / 3)  # the largest of four uniform numbers, and eight distances of two
    assert abs(np.mean(drifts) - expected) <= 5 * np.std(drifts) / np.sqrt(n)


def test_given_segments_start_at_their_change_points():
    rows = means(Segments(((0.1, 0.2), (0.3, 0.4), (0.5, 0.6)), change_points=(2, 3)), 5)
    assert rows[:, 0].tolist() == [0.1, 0.1, 0.3, 0.5, 0.5]
    assert means(Segments(((0.1,), (0.9,))), 5)[:, 0].tolist() == [0.1, 0.1, 0.9, 0.9, 0.9]


def test_a_sinusoid_is_a_sinusoid():
    rows = means(Sinusoidal(4, n_periods=3, amplitude=0.25, center=0.5), 600)
    t, k = np.arange(600)[:, np.newaxis], np.arange(4)
    assert rows == pytest.approx(0.5 + 0.25 * np.sin(2 * np.pi * (3 * t / 600 + k / 4)), abs=1e-13)


def test_a_line_has_the_drift_of_its_ends():
    path = Linear((0.2, 0.9), (0.7, 0.1))
    measures = Environment(path, Bernoulli()).measures(1000)
    assert measures.drift == pytest.approx(0.9 + 0.8, rel=1e-12)
    assert means(path, 1000)[-1] == pytest.approx([0.7, 0.1], abs=1e-15)
    assert means(path, 1).tolist() == [[0.2, 0.9]]
    assert Environment(Linear((0.3, 0.7), (0.3, 0.7)), Bernoulli()).measures(1000).segments == 1


@pytest.mark.interpreted
def test_a_random_walk_moves_by_its_step_and_stays_between_its_bounds():
    rows = means(RandomWalk(2, step=0.001, low=0.2, high=0.8), 3000, seed=5)
    assert np.diff(rows, axis=0).std() == pytest.approx(0.001, rel=0.05)  # relative s.e. of 6000 moves: 0.009
    wide_steps = means(RandomWalk(2, step=1.0, low=0.2, high=0.8), 500)
    assert wide_steps.min() >= 0.2
    assert wide_steps.max() <= 0.8


def test_a_random_walk_is_reflected_at_its_bounds():
    from driftwise.environments.paths.moving import _fold

    for point, expected in [(0.5, 0.5), (0.9, 0.7), (0.1, 0.3), (1.5, 0.3), (-1.1, 0.3), (0.8, 0.8), (0.2, 0.2)]:
        assert _fold(point, 0.2, 0.8) == pytest.approx(expected, abs=1e-15)


def test_a_table_is_copied_and_compared_by_value():
    array = np.array([[0.1, 0.2], [0.3, 0.4]])
    table = Table(array)
    array[0, 0] = 9
    assert table == Table(((0.1, 0.2), (0.3, 0.4)))
    assert means(table, 2).tolist() == [[0.1, 0.2], [0.3, 0.4]]


@pytest.mark.parametrize("path", [Switching(1000, 10), RandomWalk(10).with_drift(5.0)], ids=["plain", "with-drift"])
def test_memory_does_not_grow_with_the_rounds(path):
    n_rounds, environment = 2_000_000, Environment(path, Bernoulli())
    tracemalloc.start()
    try:
        measures = environment.measures(n_rounds)
        stream, meter = environment.start(n_rounds), MeasuresAccumulator(10)
        for _ in range(10):
            _, block, variances = stream.draw(4096)
            meter.update(block, variances)
        peak = tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()
    assert measures.n_rounds == n_rounds
    assert peak < LIMIT


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: Constant((0.2, 1.3)), "Constant: `means` must be in [0, 1], got 1.3 at action 1."),
        (lambda: Constant(()), "Constant: `means` must be one number in [0, 1] per action, got ()."),
        (lambda: Constant(0.5), "Constant: `means` must be one number in [0, 1] per action, got 0.5."),
        (lambda: Constant(("a",)), "Constant: `means` must be one number in [0, 1] per action, got ('a',)."),
        (
            lambda: Segments(((0.1, 0.2), (0.1, float("nan")))),
            "Segments: `means` must be in [0, 1], got nan at row 1, action 1.",
        ),
        (
            lambda: Segments(((0.1, 0.2), (0.1,))),
            "Segments: `means` must be rows of equal length, one number in [0, 1] per action, got"
            " ((0.1, 0.2), (0.1,)). Are its rows of one length?",
        ),
        (
            lambda: Segments(((0.1,), (0.2,), (0.3,)), (5, 5)),
            "Segments: `change_points` must be increasing and >= 1, got (5, 5).",
        ),
        (
            lambda: Segments(((0.1,), (0.2,)), (0,)),
            "Segments: `change_points` must be increasing and >= 1, got (0,).",
        ),
        (
            lambda: Segments(((0.1,), (0.2,)), (3, 4)),
            "Segments: `change_points` must be one fewer than the 2 rows of `means`, got (3, 4).",
        ),
        (lambda: Segments(((0.1,), (0.2,)), (1.5,)), "Segments: `change_points` must be whole numbers, got (1.5,)."),
        (
            lambda: means(Segments(((0.1,), (0.2,)), (30,)), 30),
            "Segments: `n_rounds` must be >= 31 to reach the last segment, got 30.",
        ),
        (lambda: Switching(0, 3), "Switching: `n_segments` must be a whole number >= 1, got 0."),
        (lambda: Switching("8", 3), "Switching: `n_segments` must be a whole number >= 1, got '8'."),
        (lambda: Switching(2, 1), "Switching: `n_actions` must be a whole number >= 2, got 1."),
        (lambda: Switching(2, 2, best=0.7), "Switching: `best` must be in [0, rest = 0.6), got 0.7."),
        (
            lambda: Switching(2, 2, lengths="odd"),
            "Switching: `lengths` must be one of 'equal', 'random', got 'odd'.",
        ),
        (lambda: means(Switching(8, 2), 5), "Switching: `n_segments` must be <= n_rounds = 5, got 8."),
        (lambda: Bursts(0, 5, 2), "Bursts: `n_bursts` must be a whole number >= 1, got 0."),
        (lambda: Bursts(2, 0, 2), "Bursts: `length` must be a whole number >= 1, got 0."),
        (lambda: Bursts(2, 5, 1), "Bursts: `n_actions` must be a whole number >= 2, got 1."),
        (lambda: Bursts(2, 5, 2, rest=1.5), "Bursts: `rest` must be in [0, 1], got 1.5."),
        (lambda: Bursts(2, 5, 2, best=0.7), "Bursts: `best` must be in [0, rest = 0.6], got 0.7."),
        (lambda: Bursts(2, 5, 2, burst=0.4), "Bursts: `burst` must be in [0, best = 0.4), got 0.4."),
        (lambda: means(Bursts(2, 3, 2), 7), "Bursts: `length` must be < n_rounds // n_bursts = 3, got 3."),
        (lambda: SingleChanges(0, 3), "SingleChanges: `n_segments` must be a whole number >= 1, got 0."),
        (lambda: SingleChanges(2, 0), "SingleChanges: `n_actions` must be a whole number >= 1, got 0."),
        (lambda: SingleChanges(2, 2, high=0.0), "SingleChanges: `high` must be in (0, 1], got 0.0."),
        (lambda: SingleChanges(2, 2, low=1.0), "SingleChanges: `low` must be in [0, high = 1.0), got 1.0."),
        (
            lambda: SingleChanges(2, 2, lengths="odd"),
            "SingleChanges: `lengths` must be one of 'equal', 'random', got 'odd'.",
        ),
        (lambda: means(SingleChanges(8, 2), 5), "SingleChanges: `n_segments` must be <= n_rounds = 5, got 8."),
        (lambda: RandomSegments(2, 2, low=1.0), "RandomSegments: `low` must be in [0, high = 1.0), got 1.0."),
        (
            lambda: Sinusoidal(2, amplitude=0.6),
            "Sinusoidal: `amplitude` must be >= 0 and leave center +- amplitude in [0, 1] (center = 0.5), got 0.6.",
        ),
        (lambda: RandomWalk(2, step=-1.0), "RandomWalk: `step` must be in [0, 1], got -1.0."),
        (lambda: Linear((0.1, 0.2), (0.3,)), "Linear: `last` must be 2 numbers, as `first` is, got (0.3,)."),
        (lambda: Table(((0.5,), (2.0,))), "Table: `means` must be in [0, 1], got 2.0 at row 1, action 0."),
        (
            lambda: means(Table(((0.5,), (0.6,))), 3),
            "Table: `n_rounds` must be <= 2, the rows of the table, got 3.",
        ),
        (
            lambda: Environment(Constant((0.5,)), Bernoulli()).start(0),
            "Environment: `n_rounds` must be a whole number >= 1, got 0.",
        ),
        (
            lambda: Environment(Constant((0.5,)), Bernoulli()).start(5, seed=-1),
            "Environment: `seed` must be a whole number >= 0, got -1.",
        ),
        (lambda: Environment(3, Bernoulli()), "Environment: `path` must be a path or its spec, got 3."),
        (
            lambda: Environment(Constant((0.5,)), None),
            "Environment: `noise` must be a noise or its spec, got None.",
        ),
        (
            lambda: MeasuresAccumulator(2).measures(),
            "MeasuresAccumulator: there is nothing to measure before the first round.",
        ),
    ],
)
def test_bad_input_is_rejected(make, message):
    with pytest.raises(InvalidInput) as error:
        make()
    assert str(error.value) == message
