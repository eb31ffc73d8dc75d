"""Stacks of mixtures: single rounds, refused arguments, copies, threads."""

import copy
import itertools
import math
import pickle

import numpy as np
import pytest

from driftwise.core.errors import InvalidInput
from driftwise.forecasting import MixtureOptions, MixtureStack, mixture_stack
from driftwise.forecasting.mixture_stack import Round
from driftwise.learners import OptimisticHedge, SleepingOptimisticAdaptMLProd, Tracker
from forecast_streams import bits, stream
from mixture_states import arrays_inside

LEARNER = OptimisticHedge()
NAN = float("nan")


def begun(n_experts=3, n_series=2, learner=LEARNER, **options):
    """Return a stack after some rounds of each series."""
    stack = MixtureStack(MixtureOptions(learner=learner, **options), n_experts, n_series)
    forecasts, truths = stream("square", 12, n_experts)
    stack.run(forecasts, truths, np.arange(12) % n_series)
    return stack


def state(stack):
    return {name: bits(array) for name, array in stack.arrays().items()}


@pytest.mark.interpreted
@pytest.mark.parametrize("learner", [LEARNER, Tracker(both_guesses=True)], ids=str)
@pytest.mark.parametrize("extras", [(), ("last-truth", "shifted")])
def test_single_rounds_of_several_series_are_those_of_a_block_bit_for_bit(learner, extras):
    forecasts, truths = stream("square", 30, 3, "some")
    series = np.arange(30) % 3
    options = MixtureOptions(learner=learner, extras=extras)
    whole, single = MixtureStack(options, 3, 3), MixtureStack(options, 3, 3)
    played = whole.run(forecasts, truths, series)
    for t, (row, truth) in enumerate(zip(forecasts, truths, strict=True)):
        combined = single.combine_one(row, int(series[t]))
        assert bits(combined.forecast, combined.shares) == bits(played.combined[t], played.weights[t])
        single.observe_one(combined, truth, series=series[t])
    assert state(single) == state(whole)


BAD_FORECASTS = {
    "too many": np.ones(40),
    "far too many": np.ones(3_000_000),
    "too few": np.ones(1),
    "none": np.ones(0),
    "a number": 1.0,
    "a matrix": np.ones((1, 3)),
    "texts": ["a", "b", "c"],
    "complex": np.ones(3, complex),
    "an object": None,
    "infinite": [1.0, math.inf, 2.0],
    "too large": [1.0, 2.0, 1e101],
}


@pytest.mark.interpreted
@pytest.mark.parametrize("kind", BAD_FORECASTS)
def test_forecasts_of_another_size_or_kind_are_refused_and_change_nothing(kind):
    stack = begun()
    before = state(stack)
    with pytest.raises(InvalidInput, match="`forecasts` must"):
        stack.combine_one(BAD_FORECASTS[kind])
    assert state(stack) == before


def test_a_forecast_that_is_too_large_is_named_by_its_expert():
    with pytest.raises(InvalidInput, match=r"at most 1e\+100 in size, got inf at expert 1\.$"):
        begun().combine_one([1.0, math.inf, 2.0])
    with pytest.raises(InvalidInput, match=r"got inf at round 0 of the block, expert 1\.$"):
        begun().run([[1.0, math.inf, 2.0]], [1.0])
    with pytest.raises(InvalidInput, match=r"got inf at round 0 of the block\.$"):
        begun().run([[1.0, 2.0, 2.0]], [math.inf])


@pytest.mark.interpreted
def test_forecasts_in_any_layout_are_the_same():
    values = np.array([1.0, 9.0, 2.0, 9.0, 4.0])
    layouts = [values[::2], values[::2].astype(">f8"), values[::2].astype(np.float32), [1, 2, 4], (1.0, 2.0, 4.0)]
    read_only = values[::2].copy()
    read_only.flags.writeable = False
    combined = [bits(*begun().combine_one(forecasts)) for forecasts in (*layouts, read_only)]
    assert all(one == combined[0] for one in combined)


BAD_SERIES = [-1, 2, 10**9, -(10**6), 2**63, 10**30, 0.5, NAN, True, None, "0", [0], np.array([0, 1])]


@pytest.mark.interpreted
@pytest.mark.parametrize("series", BAD_SERIES, ids=repr)
def test_a_series_that_is_not_there_is_refused_and_changes_nothing(series):
    stack = begun()
    combined, before = stack.combine_one(np.ones(3)), state(stack)
    with pytest.raises(InvalidInput, match="`series` must be"):
        stack.combine_one(np.ones(3), series)
    with pytest.raises(InvalidInput, match="`series` must be"):
        stack.observe_one(combined, 1.0, series=series)
    assert state(stack) == before


def test_a_stack_without_series_plays_no_round():
    stack = MixtureStack(MixtureOptions(learner=LEARNER), 2, 0)
    with pytest.raises(InvalidInput, match="`series` must"):
        stack.run([[1.0, 2.0]], [1.0])
    with pytest.raises(InvalidInput, match="`series` must"):
        stack.combine_one([1.0, 2.0])
    assert stack.run(np.empty((0, 2)), []).combined.size == 0
    stack.add_series(1)
    assert stack.run([[1.0, 2.0]], [1.0]).combined.tolist() == [1.5]


def changes_of(one):
    """Return rounds that differ from one that a stack returned in ways that its kernels do not expect."""
    for name in ("inputs", "shares", "kept"):
        array = getattr(one, name)
        for bad in (
            array[:1],
            array[:2],
            np.ones(40),
            array[None],
            array.astype(np.float32),
            array.tolist(),
            None,
            1.0,
        ):
            yield one._replace(**{name: bad})
        for number in (1e101, -math.inf, *((NAN, -0.5, 1.5) if name != "inputs" else ())):
            yield one._replace(**{name: np.array([number, *array[1:]])})
    for forecast in (None, "1", math.inf, 1e101, 1j, np.ones(2), 2):
        yield one._replace(forecast=forecast)
    yield from (None, 1.0, tuple(one), one[:3], [])


@pytest.mark.interpreted
def test_a_round_that_no_stack_returned_is_refused_and_changes_nothing():
    stack = begun()
    combined, before = stack.combine_one([1.0, 2.0, 4.0]), state(stack)
    for changed in changes_of(combined):
        with pytest.raises(InvalidInput, match=r"^MixtureStack: `one` must be a round of 3 experts") as error:
            stack.observe_one(changed, 1.0)
        assert "\n" not in str(error.value)
    other = begun(n_experts=2).combine_one([1.0, 2.0])
    for arguments in ((other, 1.0), (combined, math.inf), (combined, "1"), (combined, [1.0]), (combined, 1.0, None)):
        with pytest.raises(InvalidInput):
            stack.observe_one(*arguments)
    assert state(stack) == before
    stack.observe_one(Round(*combined), 1.0)
    assert state(stack) != before


@pytest.mark.interpreted
def test_truths_of_single_rounds_obey_the_rule_of_the_loss():
    stack = MixtureStack(MixtureOptions("log", LEARNER), 2)
    combined = stack.combine_one([0.5, 0.25])
    with pytest.raises(InvalidInput, match=r"`truth` must be 0 or 1 for the log loss, got 0\.5"):
        stack.observe_one(combined, 0.5)
    with pytest.raises(InvalidInput, match=r"`forecasts` must be in \[0, 1\] for the log loss"):
        stack.combine_one([0.5, 1.5])
    for truth in (1, None, NAN):
        stack.observe_one(combined, truth)
    assert stack.counts[0].tolist() == [1, 0, 2, 0, 0]


def test_a_memory_that_grows_takes_the_arrays_of_one_series_only():
    stack = MixtureStack(MixtureOptions(learner=SleepingOptimisticAdaptMLProd()), 2)
    stack.run([[1.0, 2.0]] * 5, [1.0] * 5)
    doubled = {name: np.repeat(array, 2, axis=0) for name, array in stack.arrays().items()}
    before = state(stack)
    with pytest.raises(InvalidInput, match="grows, so it serves one series only"):
        stack.set_arrays(doubled)
    assert state(stack) == before


def test_a_memory_that_grows_is_replaced_only_when_it_is_full():
    stack = MixtureStack(MixtureOptions(learner=SleepingOptimisticAdaptMLProd()), 2)
    entries, whole = [], MixtureStack(stack.options, 2).run([[1.0, 2.0]] * 41, [1.0] * 41)
    for _ in range(40):
        stack.observe_one(stack.combine_one([1.0, 2.0]), 1.0)
        entries.append(stack._live)
    assert len({id(live) for live in entries}) < 10
    assert stack.combine_one([1.0, 2.0]).forecast == whole.combined[-1]


# The arrays of a stack


@pytest.mark.interpreted
def test_nothing_that_is_done_to_arrays_of_a_stack_changes_it():
    """Compiled rounds have the addresses of the arrays, so nobody else may have the arrays: one may resize them."""
    stack, other = begun(n_experts=50), begun(n_experts=50)
    arrays = {**stack.arrays(), **stack.combine_one(np.arange(50.0))._asdict()}
    other.combine_one(np.arange(50.0))
    for array in arrays.values():
        if isinstance(array, np.ndarray):
            array[...] = -1
            array.resize(500_000, refcheck=False)
    for _ in range(20):
        for one in (stack, other):
            one.observe_one(one.combine_one(np.arange(50.0)), 1.0)
    assert state(stack) == state(other)


def test_entry_points_keep_the_arrays_whose_addresses_they_have():
    stack = begun()
    stack.combine_one(np.ones(3))
    live, before = stack._live, [id(array) for array in (*stack._stack, *stack._owns, *stack._space)]
    stack.add_series(3)
    assert set(before) <= {id(array) for array in arrays_inside(live.parts)}


@pytest.mark.interpreted
@pytest.mark.parametrize("way", [copy.copy, copy.deepcopy, lambda stack: pickle.loads(pickle.dumps(stack))])
def test_a_copy_of_a_stack_shares_no_array(way):
    stack = begun(learner=Tracker(both_guesses=True))
    stack.combine_one(np.ones(3))
    other, before = way(stack), state(stack)
    assert state(other) == before
    pairs = itertools.product(arrays_inside(stack), arrays_inside(other))
    assert not any(np.shares_memory(*pair) for pair in pairs)
    other.observe_one(other.combine_one([1.0, 2.0, 4.0], 1), 2.0, series=1)
    assert state(stack) == before
    stack.observe_one(stack.combine_one([1.0, 2.0, 4.0], 1), 2.0, series=1)
    assert state(other) == state(stack)


# Threads


class Pool:
    """It plays the parts one after the other, and records how many there may be at once."""

    sizes: list = []  # noqa: RUF012

    def __init__(self, size):
        self.sizes.append(size)

    def __enter__(self):
        return self

    def __exit__(self, *_):
        pass

    def map(self, function, parts):
        return map(function, parts)


@pytest.mark.parametrize(
    ("n_threads", "n_series", "n_cores", "n_parts"), [(100_000, 3, 8, 3), (100_000, 9, 4, 4), (2, 9, 4, 2)]
)
def test_there_are_no_more_threads_than_series_and_cores(n_threads, n_series, n_cores, n_parts, monkeypatch):
    monkeypatch.setattr(mixture_stack.os, "cpu_count", lambda: n_cores)
    monkeypatch.setattr(mixture_stack, "ThreadPoolExecutor", Pool)
    monkeypatch.setattr(Pool, "sizes", [])
    forecasts, truths = stream("square", 40, 3, "some")
    played = []
    for n in (1, n_threads):
        stack = MixtureStack(MixtureOptions(learner=LEARNER), 3, n_series)
        played.append((bits(*stack.run(forecasts, truths, np.arange(40) % n_series, n)), state(stack)))
    assert Pool.sizes == [n_parts]
    assert played[0] == played[1]
