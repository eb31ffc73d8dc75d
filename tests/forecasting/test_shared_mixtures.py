"""Mixtures that threads share: rounds, copies and forks while others play."""

import copy
import functools
import itertools
import os
import pickle
import sys
import threading

import numpy as np
import pytest

from driftwise.forecasting import Mixture, MixtureOptions, MixtureStack
from driftwise.learners import OptimisticHedge, Tracker
from forecast_streams import bits, stream
from forked_children import N_FORKS, result_of_child, thread_that_repeats
from mixture_states import arrays_inside, snapshot

pytestmark = pytest.mark.filterwarnings("ignore:This process:DeprecationWarning")  # it forks with threads, on purpose
forks = pytest.mark.skipif(not hasattr(os, "fork"), reason="this system does not fork")
LEARNER = OptimisticHedge()
FORECASTS, TRUTHS = stream("square", 500, 3, "some")
FORECASTS[0] = 1.0, 2.0, 4.0
N_LATE = 40  # rounds until a truth arrives
N_BEFORE = 60


@pytest.fixture(autouse=True)
def _threads_take_turns_often():
    before = sys.getswitchinterval()
    sys.setswitchinterval(1e-6)
    yield
    sys.setswitchinterval(before)


def row(t):
    return FORECASTS[t % len(FORECASTS)], float(TRUTHS[t % len(TRUTHS)])


def stack_state(stack):
    return {name: bits(array) for name, array in stack.arrays().items()}


# A mixture


def play(mix, t):
    mix.predict(row(t)[0], key=t)
    if t >= N_LATE:
        mix.update(row(t - N_LATE)[1], key=t - N_LATE)


def began():
    mix = Mixture(3, learner=LEARNER, history=50)
    for t in range(N_BEFORE):
        play(mix, t)
    return mix


def is_between_two_rounds(mix):
    """Return whether a mixture is what the rounds that it has seen make of it."""
    replay = Mixture(3, learner=LEARNER, history=50)
    n_predicted = mix.rounds + len(mix.waiting)
    for t in range(n_predicted):
        replay.predict(row(t)[0], key=t)
        if t >= N_LATE and replay.rounds < mix.rounds:
            replay.update(row(t - N_LATE)[1], key=t - N_LATE)
    return snapshot(replay) == snapshot(mix)


WAYS = {
    "copy": copy.copy,
    "deepcopy": copy.deepcopy,
    "pickle": lambda value: pickle.loads(pickle.dumps(value)),
}


@pytest.mark.parametrize("way", WAYS)
def test_a_copy_of_a_mixture_that_a_thread_plays_is_one_between_two_rounds(way):
    mix = began()
    with thread_that_repeats(lambda i: play(mix, N_BEFORE + i)):
        copies = [WAYS[way](mix) for _ in range(20)]
    assert all(map(is_between_two_rounds, copies))
    assert is_between_two_rounds(mix)


def test_a_file_of_a_mixture_that_a_thread_plays_is_one_between_two_rounds(tmp_path):
    mix = began()
    with thread_that_repeats(lambda i: play(mix, N_BEFORE + i)):
        for n in range(10):
            mix.save(tmp_path / str(n))
    assert all(is_between_two_rounds(Mixture.load(tmp_path / str(n))) for n in range(10))


def quantiles():
    mix = Mixture(3, quantiles=[0.1, 0.9], learner=LEARNER)
    mix.predict(np.ones((3, 2)), key="late")
    mix.predict(np.ones((3, 2)))
    return mix


def steps():
    mix = Mixture(3, steps=2, learner=LEARNER)
    mix.predict(STEPS)
    mix.update(1.5)
    mix.predict(STEPS)
    return mix


def both():
    mix = Mixture(3, steps=2, quantiles=[0.1, 0.9])
    mix.predict(np.ones((2, 3, 2)) * np.arange(2.0))
    mix.update(1.5)
    mix.predict(np.ones((2, 3, 2)))
    return mix


STEPS = [[1.0, 2.0, 4.0], [2.0, 3.0, 5.0]]


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("make", [began, quantiles, steps, both, Mixture], ids=lambda make: make.__name__)
def test_a_copy_shares_no_array_and_continues_alone(make, way):
    mix = make()
    other, before = WAYS[way](mix), snapshot(mix) if mix.experts else None
    assert other.experts == mix.experts
    assert before is None or snapshot(other) == before
    pairs = itertools.product(arrays_inside(mix), arrays_inside(other))
    assert not any(np.shares_memory(*pair) for pair in pairs)
    table = np.ones([n for n in (mix.steps, 3, mix.quantiles and 2) if n])
    other.predict(table)
    other.update(1.25)
    assert snapshot(mix) == before if before else not mix.experts
    mix.predict(table)
    mix.update(1.25)
    assert snapshot(mix) == snapshot(other)


def test_a_copy_knows_which_round_has_the_hint():
    """The round that waits is the latest: the learner must not get its hint twice, in no copy."""
    mix = Mixture(3, learner=Tracker(both_guesses=True))
    for t in range(6):
        mix.predict(row(t)[0])
        mix.update(row(t)[1])
    mix.predict(row(7)[0])
    copies = [way(mix) for way in WAYS.values()]
    for one in copies:
        (single,) = one._singles
        assert single.hinted is single.latest is single.waiting[None]


@pytest.mark.parametrize("options", [{}, {"steps": 2, "quantiles": [0.1, 0.9]}], ids=["plain", "both"])
def test_threads_may_do_everything_to_a_mixture_at_once(options, tmp_path):
    mix, n_rounds, errors = Mixture(["a", "b", "c"], learner=LEARNER, history=30, **options), 150, []

    def forecasts_of(values):
        return values if not options else {name: np.full((1, 2), x) for name, x in values.items()}

    def time_of(key):
        return [key] if options else key

    def plays(name):
        for t in range(n_rounds):
            row = dict(zip("abc", FORECASTS[0] + t, strict=True))
            mix.predict(forecasts_of(row), key=time_of((name, t)))
            mix.update(1.0 + t, key=(name, t))

    def joins():
        for t in range(12):
            mix.join(f"new {t}")
            mix.leave(f"new {t}")
            if t % 2:
                mix.join(f"new {t}")

    def reads():
        for t in range(12):
            mix.save(tmp_path / "mixture")
            others = (Mixture.load(tmp_path / "mixture"), copy.deepcopy(mix), copy.copy(mix))
            for one in (mix, *others):
                assert np.abs(sum(one.weights.values()) - 1.0).max() < 1e-9
                assert np.max(one.counts["learned"]) <= 2 * n_rounds
                assert one.n_bytes > 0
                assert np.min(one.cut) >= 0.0
            for one in others:
                assert np.isfinite(one.predict(forecasts_of({"a": 1.0}), key=time_of(f"copy {t}"))).all()
                if one.rounds:
                    one.report()

    def recorded(work):
        try:
            work()
        except BaseException as error:
            errors.append(error)

    works = [functools.partial(plays, "one"), functools.partial(plays, "two"), joins, reads]
    threads = [threading.Thread(target=recorded, args=(work,)) for work in works]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert not errors
    assert (mix.rounds, mix.waiting, len(mix.experts)) == (2 * n_rounds, (), 15)


@forks
def test_a_child_of_a_process_whose_thread_plays_a_mixture_continues_between_two_rounds():
    mix = Mixture(3, learner=LEARNER)

    def work(t):
        mix.predict(row(t)[0])
        mix.update(row(t)[1])

    work(0)

    def child():
        fine = same_series(mix._singles[0].stack, 0, replayed(mix.rounds, bool(mix.waiting)))
        mix.predict([1.0, 2.0, 4.0])
        mix.update(1.0)
        return fine

    with thread_that_repeats(lambda i: work(1 + i)):
        assert [result_of_child(child) for _ in range(N_FORKS)] == [0] * N_FORKS


@forks
def test_a_child_finds_all_mixtures_of_the_quantiles_in_the_same_round():
    mix = Mixture(3, quantiles=[0.1, 0.5, 0.9], learner=LEARNER)

    def work(t):
        mix.predict(np.full((3, 3), float(t)), key=t)
        mix.update(1.0, key=t)

    work(-1)

    def child():
        rounds = {(int(one.stack.counts.sum()), *one.waiting) for one in mix._singles}
        work(-2)
        return len(rounds) == 1

    with thread_that_repeats(work):
        assert [result_of_child(child) for _ in range(N_FORKS)] == [0] * N_FORKS


# A stack


def play_stack(stack, t, series=0):
    forecasts, truth = row(t)
    stack.observe_one(stack.combine_one(forecasts, series), truth, series=series)


def replayed(n_rounds, waits=False):
    """Return a stack of one series after some rounds; the next one may wait for its truth."""
    stack, rounds = MixtureStack(MixtureOptions(learner=LEARNER), 3), np.arange(n_rounds) % len(TRUTHS)
    stack.run(FORECASTS[rounds], TRUTHS[rounds])
    if waits:
        stack.combine_one(row(n_rounds)[0])
    return stack


def same_series(stack, series, other):
    pairs = zip(stack.arrays().values(), other.arrays().values(), strict=True)
    return all(bits(array[series]) == bits(expected[0]) for array, expected in pairs)


def rounds_of(stack):
    return int(stack.counts[0].sum())


@forks
def test_a_child_of_a_process_whose_thread_plays_a_stack_continues_between_two_rounds():
    stack = MixtureStack(MixtureOptions(learner=LEARNER), 3)
    play_stack(stack, 0)

    def child():
        fine = any(same_series(stack, 0, replayed(rounds_of(stack), waits)) for waits in (False, True))
        stack.add_series(1)
        play_stack(stack, 0, 1)
        return fine

    with thread_that_repeats(lambda i: play_stack(stack, 1 + i)):
        assert [result_of_child(child) for _ in range(N_FORKS)] == [0] * N_FORKS
    assert same_series(stack, 0, replayed(rounds_of(stack)))


@forks
def test_a_child_of_a_process_whose_threads_run_a_block_continues_between_two_blocks():
    stack, series = MixtureStack(MixtureOptions(learner=LEARNER), 3, 4), np.arange(len(TRUTHS)) % 4
    stack.run(FORECASTS, TRUTHS, series, 2)
    per_block = int(stack.counts.sum())

    def child():
        fine = int(stack.counts.sum()) % per_block == 0
        stack.run(FORECASTS, TRUTHS, series, 2)
        return fine

    with thread_that_repeats(lambda _: stack.run(FORECASTS, TRUTHS, series, 2)):
        assert [result_of_child(child) for _ in range(N_FORKS)] == [0] * N_FORKS


def test_threads_that_play_series_of_one_stack_do_not_disturb_each_other():
    """Another thread adds series, plays blocks, and copies: each series is what its own rounds make of it."""
    n_series, n_rounds = 3, 400
    stack, errors = MixtureStack(MixtureOptions(learner=LEARNER), 3, n_series), []

    def plays(series):
        try:
            for t in range(n_rounds):
                play_stack(stack, t, series)
        except BaseException as error:
            errors.append(error)

    threads = [threading.Thread(target=plays, args=(series,)) for series in range(n_series)]
    for thread in threads:
        thread.start()
    n_added = 0
    while any(thread.is_alive() for thread in threads) or n_added < 20:
        stack.add_series(2)
        n_added += 2
        last = n_series + n_added - 1
        stack.run(FORECASTS[:20], TRUTHS[:20], np.full(20, last), 2)
        for other in (copy.copy(stack), copy.deepcopy(stack)):
            assert other.n_series == last + 1
            assert same_series(other, last, replayed(20))
            other.set_arrays(stack.arrays())
    for thread in threads:
        thread.join()
    assert not errors
    assert all(same_series(stack, series, replayed(n_rounds)) for series in range(n_series))
