"""Comparators and realised quantities, followed block by block, against whole-matrix formulas and brute force."""

from math import fsum, isnan

import numpy as np
import pytest
from hypothesis import given, settings, strategies as st

from driftwise.core.errors import InvalidInput
from driftwise.core.measures import Measures
from driftwise.regret.realised import RealisedAccumulator, best_follower
from driftwise.results import Dynamic, Interval, Static, Switched
from paths import FAMILIES, make_path
from references.comparators import best_with_segments, best_with_segments_by_enumeration

COMPARATORS = {
    "dynamic": Dynamic(),
    "static": Static(),
    "switching": Switched(3),
    "interval": Interval(0, 1, action=0),
}
every_comparator = pytest.mark.parametrize("comparator", COMPARATORS.values(), ids=COMPARATORS)
seeds = st.integers(0, 2**32 - 1)
FIXED = settings(derandomize=True, database=None, deadline=None)


def follow(comparator, target, sizes=None):
    """Return the comparator's cumulative loss after every round, taken in blocks of these sizes."""
    follower, found, start = comparator.start(target.shape[1]), [], 0
    for size in sizes or [len(target)]:
        block = target[start : start + size]
        found.append(follower.follow(block, np.arange(len(block))))
        start += size
    assert start == len(target)
    return np.concatenate(found)


@every_comparator
@pytest.mark.parametrize("marks", [[], [0], [59], [0, 1, 2], [7, 7, 30, 59]])
def test_marks_select_rounds_of_the_cumulative_loss(comparator, marks):
    target = make_path(FAMILIES[0], 60, 3, seed=1)
    follower = comparator.start(3)
    found = follower.follow(target, np.array(marks, np.int64))
    assert found.tolist() == follow(comparator, target)[marks].tolist()
    after = follower.follow(target[:1], np.array([0]))  # the rounds after the last mark were added, too
    assert after.tolist() == follow(comparator, np.concatenate([target, target[:1]]))[-1:].tolist()


def prefix_minima(target, least):
    """Return least(target[:1]), least(target[:2]), ..."""
    return np.array([least(target[: t + 1]) for t in range(len(target))])


def column_sums(target):
    return [fsum(column) for column in target.T]


def drawn(seed, most_rounds=60, most_actions=6):
    """Return a target of a drawn family and shape, and cuts of it into blocks."""
    rng = np.random.default_rng(seed)
    n_rounds, n_actions = int(rng.integers(1, most_rounds + 1)), int(rng.integers(1, most_actions + 1))
    target = make_path(rng.choice(FAMILIES), n_rounds, n_actions, seed)
    borders = np.unique([0, n_rounds, *rng.integers(0, n_rounds + 1, rng.integers(0, 8))])
    return target, np.diff(borders).tolist()


@settings(FIXED, max_examples=100)
@given(seeds)
def test_the_dynamic_comparator_takes_the_least_loss_of_every_round(seed):
    target, _ = drawn(seed)
    expected = prefix_minima(target, lambda rows: fsum(rows.min(axis=1)))
    assert follow(Dynamic(), target) == pytest.approx(expected, rel=1e-14, abs=1e-15)


@settings(FIXED, max_examples=100)
@given(seeds)
def test_the_static_comparator_takes_the_best_single_action_so_far(seed):
    target, _ = drawn(seed)
    expected = prefix_minima(target, lambda rows: min(column_sums(rows)))
    assert follow(Static(), target) == pytest.approx(expected, rel=1e-14, abs=1e-15)


@settings(FIXED, max_examples=100)
@given(seeds)
def test_the_switching_comparator_agrees_with_the_dynamic_program_over_all_choices(seed):
    target, _ = drawn(seed, most_rounds=30)
    expected = prefix_minima(target, lambda rows: best_with_segments(rows, 40))
    for n_segments in (1, 2, 5, 40):
        found = follow(Switched(n_segments), target)
        assert found == pytest.approx(expected[:, n_segments - 1], rel=1e-13, abs=1e-14)


@settings(FIXED, max_examples=40)
@given(seeds)
def test_the_switching_comparator_agrees_with_trying_every_sequence(seed):
    rng = np.random.default_rng(seed)
    target = make_path(rng.choice(FAMILIES), int(rng.integers(1, 7)), int(rng.integers(1, 4)), seed)
    for n_segments in (1, 2, 3, 6):
        expected = prefix_minima(target, lambda rows: best_with_segments_by_enumeration(rows, n_segments))
        assert follow(Switched(n_segments), target) == pytest.approx(expected, rel=1e-13, abs=1e-14)


@settings(FIXED, max_examples=100)
@given(seeds)
def test_the_interval_comparator_keeps_one_action_or_the_best_of_them(seed):
    target, _ = drawn(seed)
    n_actions = target.shape[1]
    for action in range(n_actions):
        expected = prefix_minima(target[:, action], fsum)
        assert follow(Interval(0, 0, action), target) == pytest.approx(expected, rel=1e-14, abs=1e-15)
    assert np.array_equal(follow(Interval(0, 0), target), follow(Static(), target))


@every_comparator
@settings(FIXED, max_examples=60)
@given(seed=seeds)
def test_comparators_do_not_depend_on_the_blocks(comparator, seed):
    target, sizes = drawn(seed)
    assert follow(comparator, target, sizes).tobytes() == follow(comparator, target).tobytes()


@pytest.mark.interpreted
@every_comparator
def test_interpreted_comparators_do_not_depend_on_the_blocks(comparator):
    target = make_path("uniform", 30, 3, seed=1)
    assert follow(comparator, target, [1, 7, 20, 2]).tobytes() == follow(comparator, target).tobytes()


@pytest.mark.interpreted
def test_comparators_are_ordered_by_how_often_they_may_switch():
    target = make_path("switching", 40, 3, seed=2)
    losses = [follow(Switched(n), target)[-1] for n in (1, 2, 4, 8, 40)]
    assert losses == sorted(losses, reverse=True)
    assert losses[0] == pytest.approx(follow(Static(), target)[-1], rel=1e-14)
    assert losses[-1] == pytest.approx(follow(Dynamic(), target)[-1], rel=1e-14)


@every_comparator
def test_marks_only_select_rounds(comparator):
    target = make_path("uniform", 50, 4, seed=3)
    marks = np.array([0, 3, 4, 49])
    found = comparator.start(4).follow(target, marks)
    assert found.tobytes() == follow(comparator, target)[marks].tobytes()


def test_a_million_rounds_lose_nothing_to_rounding():
    target = np.full((1_000_000, 2), 0.1)  # 0.1 is not a double, so naive sums drift by 1e-6
    last = np.array([len(target) - 1])
    for comparator in (Dynamic(), Static()):
        assert comparator.start(2).follow(target, last)[0] == fsum(target[:, 0])


def test_only_the_interval_leaves_rounds_out():
    assert Dynamic().span(10) == Static().span(10) == Switched(2).span(10) == (0, 10)
    assert Interval(3, 7).span(10) == (3, 8)


def test_comparators_name_themselves_as_the_command_line_does():
    named = [str(c) for c in (Dynamic(), Static(), Switched(3), Interval(2, 9), Interval(2, 9, action=1))]
    assert named == ["dynamic", "static", "switching:3", "interval:2-9", "interval:2-9@1"]


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: Switched(0), r"^Switched: `n_segments` must be a whole number >= 1, got 0\.$"),
        (lambda: Switched(2.5), r"^Switched: `n_segments` must be a whole number >= 1, got 2\.5\.$"),
        (lambda: Interval(-1, 3), r"^Interval: `first` must be a whole number >= 0, got -1\.$"),
        (lambda: Interval(5, 4), r"^Interval: `last` must be >= first = 5, got 4\.$"),
        (lambda: Interval(0, 4, -2), r"^Interval: `action` must be a whole number >= 0, got -2\.$"),
        (lambda: Interval(0, 9, 3).start(3), r"^Interval: `action` must be < n_actions = 3, got 3\.$"),
        (lambda: Interval(0, 9).span(9), r"^Interval: `last` must be < n_rounds = 9, got 9\.$"),
    ],
)
def test_an_invalid_comparator_is_rejected(make, message):
    with pytest.raises(InvalidInput, match=message):
        make()


def measure(losses, segments, sizes):
    n_rounds, n_actions = losses.shape
    best = best_follower(Measures(n_actions, n_rounds, segments, 0.0, 0.0)) if segments else None
    meter, start = RealisedAccumulator(n_actions, best), 0
    for size in sizes:
        assert meter.update(losses[start : start + size]) == -1
        start += size
    return meter.realised()


def realised_formulas(losses):
    """Return D, D_inf, the sum of squared oscillations and V-tilde from the whole matrix."""
    d = np.diff(losses, axis=0, prepend=np.zeros_like(losses[:1]))
    largest, swing = np.abs(d).max(axis=1), d.max(axis=1) - d.min(axis=1)
    return [fsum((d**2).sum(axis=1)), fsum(largest**2), fsum(swing**2), fsum(largest)]


@settings(FIXED, max_examples=100)
@given(seeds)
def test_realised_quantities_are_those_of_the_whole_matrix(seed):
    losses, sizes = drawn(seed)
    for segments in sorted({1, min(3, len(losses)), len(losses)}):
        found = measure(losses, segments, sizes)
        assert found[:4] == pytest.approx(realised_formulas(losses), rel=1e-13, abs=1e-15)
        assert found.best_loss == pytest.approx(best_with_segments(losses, segments)[-1], rel=1e-13, abs=1e-14)
        assert found == measure(losses, segments, [len(losses)])


@pytest.mark.interpreted
def test_realised_quantities_of_three_rounds_worked_by_hand():
    losses = np.array([[0.5, 0.25], [0.5, 0.75], [0.0, 0.25]])
    # d = (1/2, 1/4), (0, 1/2), (-1/2, -1/2)
    found = measure(losses, 2, [1, 2])
    assert found.deviation == 1 / 4 + 1 / 16 + 1 / 4 + 1 / 2
    assert found.deviation_max == 3 / 4
    assert found.oscillation == 1 / 16 + 1 / 4
    assert found.movement == 3 / 2
    assert found.best_loss == 0.25 + 0.5 + 0.0  # action 1, then action 0


@pytest.mark.interpreted
@pytest.mark.parametrize("bad", [np.nan, -1e-300, np.nextafter(1.0, 2.0), np.inf])
def test_the_accumulator_finds_the_first_loss_outside_the_unit_interval(bad):
    losses = np.array([[0.0, 1.0, -0.0], [0.5, 0.25, 1.0], [0.5, 0.75, 0.5]])
    assert RealisedAccumulator(3).update(losses) == -1
    losses[1, 1] = losses[2, 0] = bad
    assert RealisedAccumulator(3).update(losses) == 4


def test_the_best_loss_is_not_convex_in_the_number_of_segments():
    losses = np.array([[0.0, 1.0], [0.75, 0.0], [0.75, 0.0], [0.0, 1.0]])
    assert [measure(losses, segments, [4]).best_loss for segments in (1, 2, 3)] == [1.5, 1.0, 0.0]


def test_the_best_loss_is_left_out_where_segments_are_unknown_or_too_many():
    losses = make_path("uniform", 600, 2, seed=4)
    assert isnan(measure(losses, None, [600]).best_loss)
    assert isnan(measure(losses, 599, [600]).best_loss)
    assert measure(losses, 600, [600]).best_loss == pytest.approx(fsum(losses.min(axis=1)), rel=1e-14)
