"""`Combinations`: the reference from the formulas, blocks and single rounds, files, joining, scales, hostile data."""

import copy
import itertools
import json
import math
import pickle

import numba
import numpy as np
import pytest

import fuzz_sessions
from driftwise.core.errors import BadFile, InvalidInput
from driftwise.core.memory_fields import MOST_ROUNDS
from driftwise.forecasting import ForecastLoss, Mixture, MixtureOptions, MixtureStack
from driftwise.forecasting.combinations import (
    HIGH,
    LOW,
    MIDMEAN,
    N_KEPT,
    NUMBER,
    UNCORRECTED,
    Combinations,
)
from forecast_streams import LOSSES, MISSING, bits, stream
from mixture_states import opened_file, snapshot, write_parts
from references.combinations import CombinationsReference, reference_of
from references.mixtures import loss_and_slope

LEARNER = Combinations()
CALM = Combinations(last_truth=False)
NAN = float("nan")
INTERPRETED = bool(numba.config.DISABLE_JIT)
ALL_LOSSES = ["square", "absolute", "percentage", "pinball:0.1", "pinball:0.9", "log"]
N_ROUNDS = 60 if INTERPRETED else 150


def cube(forecast, truth):
    return abs(forecast - truth) ** 3


def cube_slope(forecast, truth):
    return 3.0 * (forecast - truth) * abs(forecast - truth)


CUBE = ForecastLoss("cube", cube, cube_slope)


def sometimes_infinite(forecast, truth):
    return math.inf if truth > 15.0 else abs(forecast - truth) - 1.0


def sometimes_infinite_slope(forecast, truth):
    return 1.0 if forecast > truth else -1.0


INFINITE = ForecastLoss("sometimes infinite", sometimes_infinite, sometimes_infinite_slope)


def options_of(loss="square", learner=LEARNER, **options):
    return MixtureOptions(loss, learner, **options)


def memory_of(mix):
    """Return the arrays of what a mixture of one series, or its stack, has learned."""
    arrays = (mix._singles[0].stack if isinstance(mix, Mixture) else mix).arrays()
    return {name.removeprefix("learner_"): array[0] for name, array in arrays.items() if name.startswith("learner_")}


# The reference


def of_equal_forecasts(weights, forecasts):
    """Return the weights added over experts with the same forecast: rounding decides which of them encloses another."""
    return np.array([w @ (x[:, None] == x) for w, x in zip(weights, np.nan_to_num(forecasts), strict=True)])


def assert_same(got, rounds, truths, forecasts, accuracy=1e-12):
    """Require equal forecasts and weights, up to 1e-12 of the mean error and the rounding of the forecasts."""
    combined, weights = got
    expected = np.array([one.forecast for one in rounds])
    assert (np.isnan(combined) == np.isnan(expected)).all()
    played = ~np.isnan(expected) & ~np.isnan(truths)
    error = np.abs(expected - truths)[played].mean() if played.any() else 0.0
    room = accuracy * error + 4.0 * np.spacing(np.abs(expected[~np.isnan(expected)]))
    assert (np.abs(combined - expected)[~np.isnan(expected)] <= room).all()
    weights, of_reference = (of_equal_forecasts(part, forecasts) for part in (weights, [one.weights for one in rounds]))
    of_level = np.spacing(np.nanmax(np.abs(expected), initial=0.0)) / error if error > 0.0 else 0.0
    np.testing.assert_allclose(weights, of_reference, rtol=0, atol=accuracy + min(of_level, 1e-9))


def check_in_time(forecasts, truths, options, loss=None, accuracy=1e-12):
    """Compare a block with the reference; return the reference."""
    n_experts = forecasts.shape[1]
    stack, reference = MixtureStack(options, n_experts), reference_of(options, n_experts, loss)
    got = stack.run(forecasts, truths)
    assert_same(got[:2], reference.run(forecasts, truths), truths, forecasts, accuracy)
    assert stack.counts[0].tolist() == list(reference.counts.values())
    assert stack.cuts[1][0] == pytest.approx(reference.cut, rel=1e-9, abs=1e-300)
    return reference


def hidden_and_wild(loss, missing, seed, n_experts=5):
    """Return a stream; every other one has wild truths, every third falls to another scale.

    The first rounds are complete, and no probability is 0 or 1: else rounding decides what is learned from them.
    """
    forecasts, truths = stream(loss, N_ROUNDS, n_experts, missing, seed)
    whole, truths[:2] = stream(loss, N_ROUNDS, n_experts, "none", seed)[0], [1.0, 0.0] if loss == "log" else [9.0, 9.5]
    forecasts[:2] = whole[:2]
    if loss == "log":
        forecasts = np.clip(forecasts, 0.02, 0.98)
    if loss != "log" and seed % 2:
        truths[[8, 30, 31, N_ROUNDS - 9]] *= [1e3, -50.0, 80.0, 1e4]
    if loss != "log" and seed % 3 == 2:
        for values in (forecasts, truths):
            values[N_ROUNDS // 3 :] *= 1e-4
    return forecasts, truths


@pytest.mark.interpreted
@pytest.mark.parametrize("missing", MISSING)
@pytest.mark.parametrize("loss", ALL_LOSSES)
def test_a_mixture_is_that_of_the_formulas(loss, missing):
    for seed in range(1 if INTERPRETED else 3):
        for learner in (LEARNER, CALM):
            forecasts, truths = hidden_and_wild(loss, missing, seed + len(missing))
            check_in_time(forecasts, truths, options_of(loss, learner))


def late_play(forecasts, truths, options, most_waiting, seed=5, loss=None):
    """Play with truths in any order; compare each round with the reference; return both."""
    rng, n_experts = np.random.default_rng(seed), forecasts.shape[1]
    mix = Mixture(n_experts, loss=options.loss, learner=options.full_learner)
    reference, waiting, combined, weights, rounds, keys = reference_of(options, n_experts, loss), {}, [], [], [], []
    for t, row in enumerate(forecasts):
        if not np.isnan(row).all() or not np.isnan(reference.truth):
            waiting[t] = reference.predict(row)
            combined.append(mix.predict(row, key=t))
            weights.append([*mix.weights.values()])
            rounds.append(waiting[t])
            keys.append(t)
        while waiting and (len(waiting) > most_waiting or rng.random() < 0.4):
            key = int(rng.choice(list(waiting)))
            mix.update(truths[key], key=key)
            reference.update(waiting.pop(key), truths[key])
    assert_same((np.array(combined), np.array(weights)), rounds, truths[keys], forecasts[keys])
    assert mix.counts == reference.counts
    assert mix.waiting == tuple(waiting)
    return mix, reference


@pytest.mark.interpreted
@pytest.mark.parametrize("missing", ["none", "some", "truths"])
@pytest.mark.parametrize("loss", ALL_LOSSES)
def test_late_truths_in_any_order_are_those_of_the_formulas(loss, missing):
    for seed, most_waiting in enumerate((1, 12)):
        forecasts, truths = hidden_and_wild(loss, missing, seed)
        _, reference = late_play(forecasts, truths, options_of(loss), most_waiting, seed)
        assert reference.delays > 10


@pytest.mark.interpreted
@pytest.mark.parametrize("missing", ["none", "some"])
def test_a_loss_of_the_user_is_used(missing):
    forecasts, truths = hidden_and_wild("square", missing, 1)
    check_in_time(forecasts, truths, options_of(CUBE), (cube, cube_slope))
    late_play(forecasts, truths, options_of(CUBE), 5, loss=(cube, cube_slope))


def degenerate_streams():
    rng, n = np.random.default_rng(1), 120
    truths = np.round(rng.normal(size=n).cumsum() * 64) / 64
    noise = np.round(rng.normal(size=(n, 4)) * 64) / 64
    forecasts = truths[:, None] + noise
    constant = np.full(n, 2.0)
    yield "constant truths", constant[:, None] + noise, constant
    yield "constant forecasts", np.tile([1.0, 2.0, 4.0, 4.0], (n, 1)), truths
    yield "all the same", np.full((n, 4), 3.0), truths
    yield "equal forecasts", np.hstack([forecasts, forecasts]), truths
    yield "one expert", forecasts[:, :1], truths
    yield "two experts", forecasts[:, :2], truths
    yield "three experts", forecasts[:, :3], truths
    yield "rounded", np.round(forecasts), np.round(truths) + 0.25
    yield "exact expert", np.hstack([forecasts, truths[:, None]]), truths
    nearly = forecasts.copy()
    nearly[0] = 1e3 + np.spacing(1e3) * np.arange(4)
    yield "tied up to rounding", nearly, truths
    asleep = forecasts.copy()
    asleep[:3], asleep[40:45] = NAN, NAN
    yield "forecasts all missing", asleep, truths
    yield "no truths", forecasts, np.full(n, NAN)
    for factor in (1e6, 1e-6):
        scale = np.where(np.arange(n) < n // 2, 1.0, factor)
        yield f"scale jumps by {factor:g}", forecasts * scale[:, None], truths * scale
        yield f"level jumps by {factor:g}", forecasts + scale[:, None], truths + scale
    absurd = forecasts.copy()
    absurd[:, 1] = 1e9 * rng.normal(size=n)
    absurd[20:30, 2] = -1e90
    yield "absurd experts", absurd, truths
    yield "half are absurd", np.hstack([forecasts[:, :2], absurd[:, 1:3]]), truths
    wild = truths.copy()
    wild[[0, 30, 60, 61, 62, 90]] = [1e9, -1e9, 1e6, 1e6, -1e6, 1e90]
    yield "wild truths", forecasts, wild
    yield "alternating", forecasts * np.where(np.arange(n) % 2, 1.0, -1.0)[:, None], truths


JUMPS = ("scale jumps by 1e+06", "absurd experts", "half are absurd")  # exp(1e6 (1 + rounding)) has fewer digits
DEGENERATE = {name: (forecasts, truths) for name, forecasts, truths in degenerate_streams()}


@pytest.mark.interpreted
@pytest.mark.parametrize("loss", ["square", "absolute", "pinball:0.9"])
@pytest.mark.parametrize("kind", DEGENERATE)
def test_degenerate_streams_are_those_of_the_formulas(kind, loss):
    forecasts, truths = DEGENERATE[kind]
    for learner in (LEARNER, CALM):
        check_in_time(forecasts, truths, options_of(loss, learner), accuracy=1e-7 if kind in JUMPS else 1e-12)


@pytest.mark.interpreted
@pytest.mark.parametrize("loss", ["square", "absolute"])
def test_adversarial_truths_are_those_of_the_formulas(loss):
    """The truth is the end of the hull that is farther from the forecast."""
    rng, n_experts = np.random.default_rng(3), 4
    mix, reference = Mixture(n_experts, loss=loss, learner=LEARNER), CombinationsReference(n_experts, loss)
    for _ in range(40 if INTERPRETED else 300):
        row = rng.normal(size=n_experts)
        this_round = reference.predict(row)
        assert mix.predict(row) == pytest.approx(this_round.forecast, rel=0, abs=1e-12)
        np.testing.assert_allclose([*mix.weights.values()], this_round.weights, rtol=0, atol=1e-12)
        low, high = row.min(), row.max()
        truth = low if 2.0 * this_round.forecast > low + high else high
        mix.update(truth)
        reference.update(this_round, truth)


@pytest.mark.interpreted
@pytest.mark.parametrize("exponent", [-498, 300])
@pytest.mark.parametrize("loss", ["square", "absolute"])
def test_tiny_and_huge_data_are_those_of_the_formulas(exponent, loss):
    """About 1e-150 and 1e94: the reference, which has no unit, gets them divided by a power of two."""
    for name in ("wild truths", "scale jumps by 1e+06", "scale jumps by 1e-06", "rounded"):
        forecasts, truths = DEGENERATE[name]
        small = np.where(np.abs(truths) > 1e6, 1e6, truths)
        factor = 2.0**exponent
        got = MixtureStack(options_of(loss), forecasts.shape[1]).run(forecasts * factor, small * factor)
        rounds = CombinationsReference(forecasts.shape[1], loss).run(forecasts, small)
        assert_same((got.combined / factor, got.weights), rounds, small, forecasts, 1e-7 if name in JUMPS else 1e-12)


@pytest.mark.interpreted
def test_errors_that_grow_by_many_orders_stay_finite(tmp_path):
    """From 1e-150 to 1e100 and back; squares of squares of these numbers overflow or vanish."""
    rng = np.random.default_rng(0)
    truths = np.repeat([1e-150, 1.0, 1e100, -1e100, 1e-150, 0.0, 1e-250], 60) * rng.uniform(0.5, 1.0, 420)
    forecasts = np.clip(truths[:, None] * rng.uniform(0.5, 2.0, (420, 3)), -1e100, 1e100)
    for loss in ("square", "absolute"):
        mix = Mixture(3, loss=loss, learner=LEARNER)
        for t, (row, truth) in enumerate(zip(forecasts, truths, strict=True)):
            combined = mix.predict(row if t % 50 != 49 else [row[0], NAN, NAN])
            assert np.isfinite(combined)
            assert sum(mix.weights.values()) == pytest.approx(1.0, abs=1e-9)
            mix.update(truth)
            if t % 10 == 9:
                mix.save(tmp_path / "mixture")
                assert snapshot(Mixture.load(tmp_path / "mixture")) == snapshot(mix)


def test_the_streams_have_all_kinds_of_rounds():
    """Otherwise the comparison with the reference would not compare them."""
    found = dict.fromkeys(["falls", "ties", "far", "cut", "no truth", "all asleep", "not finite"], 0)
    streams = [hidden_and_wild("square", missing, seed) for missing in MISSING for seed in range(3)]
    for forecasts, truths in [*streams, *DEGENERATE.values()]:
        reference = CombinationsReference(forecasts.shape[1], "percentage")
        reference.run(forecasts, np.where(np.arange(len(truths)) % 17, truths, 0.0))
        for name in found:
            found[name] += reference.counts.get(name, 0) + getattr(reference, name if name != "cut" else "none", 0)
    assert all(found.values()), found


# Blocks, single rounds, stacks


@pytest.mark.interpreted
@pytest.mark.parametrize("missing", MISSING)
@pytest.mark.parametrize("loss", ["square", "percentage", "log"])
def test_single_rounds_are_those_of_a_block_bit_for_bit(loss, missing):
    forecasts, truths = hidden_and_wild(loss, missing, 1, 4)
    forecasts[0], truths[0] = 0.5, 1.0  # a round in which all sleep is refused before the first truth
    for extras in ((), ("last-truth",), ("last-truth", "scaled", "shifted"))[: 2 if loss == "log" else 3]:
        options = options_of(loss, extras=extras)
        whole, parts = MixtureStack(options, 4), MixtureStack(options, 4)
        got = whole.run(forecasts, truths)
        pieces = [parts.run(forecasts[i:j], truths[i:j]) for i, j in itertools.pairwise([0, 1, 5, 5, 11, N_ROUNDS])]
        assert bits(np.concatenate([one.combined for one in pieces])) == bits(got.combined)
        assert bits(np.concatenate([one.weights for one in pieces])) == bits(got.weights)
        mix, combined, weights = Mixture(4, loss=loss, learner=LEARNER, extras=extras), [], []
        for row, truth in zip(forecasts, truths, strict=True):
            combined.append(mix.predict(row))
            weights.append([*mix.weights.values()])
            mix.update(truth)
        assert bits(np.array(combined), np.array(weights)) == bits(got.combined, got.weights)
        states = [
            {name: bits(array) for name, array in one.arrays().items()} for one in (whole, parts, mix._singles[0].stack)
        ]
        assert states[0] == states[1] == states[2]


@pytest.mark.parametrize("n_threads", [1, 2, 5])
@pytest.mark.parametrize("order", ["sorted", "interleaved", "random"])
def test_series_are_separate_mixtures_bit_for_bit(order, n_threads):
    n_series, n_rounds = 7, 60
    streams = [stream("square", n_rounds, 3, MISSING[i % len(MISSING)], seed=i) for i in range(n_series)]
    series = np.repeat(np.arange(n_series), n_rounds)
    if order == "interleaved":
        series = np.tile(np.arange(n_series), n_rounds)
    elif order == "random":
        series = np.random.default_rng(1).permutation(series)
    rows = [np.flatnonzero(series == i) for i in range(n_series)]
    forecasts, truths = np.empty((len(series), 3)), np.empty(len(series))
    for i in range(n_series):
        forecasts[rows[i]], truths[rows[i]] = streams[i]
    stack = MixtureStack(options_of(), 3, 4)
    stack.add_series(n_series - 4)
    got = stack.run(forecasts, truths, series, n_threads)
    for i in range(n_series):
        alone = MixtureStack(options_of(), 3)
        expected = alone.run(*streams[i])
        assert bits(expected.combined, expected.weights) == bits(got.combined[rows[i]], got.weights[rows[i]])
        assert all(bits(array[0]) == bits(stack.arrays()[name][i]) for name, array in alone.arrays().items())


def test_a_stack_continues_from_its_arrays_bit_for_bit():
    forecasts, truths = stream("square", 60, 3, "some")
    series = np.arange(60) % 2
    whole, first, second = (MixtureStack(options_of(), 3, 2) for _ in range(3))
    expected = whole.run(forecasts, truths, series)
    first.run(forecasts[:25], truths[:25], series[:25])
    second.set_arrays(first.arrays())
    assert bits(second.run(forecasts[25:], truths[25:], series[25:]).combined) == bits(expected.combined[25:])


@pytest.mark.interpreted
def test_a_forecast_is_never_outside_the_hull_by_rounding():
    rng = np.random.default_rng(3)
    for seed in range(5 if INTERPRETED else 40):
        forecasts, truths = stream("square", 60, 6, "some", seed)
        forecasts = np.round(forecasts, 1) + rng.integers(0, 2) * 1e9
        got = MixtureStack(options_of(), 6).run(forecasts, truths + 0.1)
        given = ~np.isnan(forecasts).all(axis=1)
        assert (got.combined[given] <= np.nanmax(forecasts[given], axis=1)).all()
        assert (got.combined[given] >= np.nanmin(forecasts[given], axis=1)).all()
        assert (got.weights >= 0.0).all()
        np.testing.assert_allclose(got.weights[given].sum(axis=1), 1.0, atol=1e-12)


# Rounds that wait, refused calls


def played(n_rounds=20, missing="some", loss="square", learner=LEARNER, **options):
    """Return a mixture of three experts after some rounds, with two rounds waiting."""
    mix = Mixture(["a", "b", "c"], loss=loss, learner=learner, **options)
    forecasts, truths = stream(mix.options.forecast_loss.name, n_rounds, 3, missing)
    for t, (row, truth) in enumerate(zip(forecasts, truths, strict=True)):
        if t or not np.isnan(row).all():
            mix.predict(row, key=t)
            mix.update(truth, key=t)
    mix.predict([0.5, 0.25, 0.75], key="late")
    mix.predict([0.75, 0.5, 0.25], key="later")
    return mix


def continued(mix, n_rounds=15):
    """Play more rounds, first the truths that wait; return forecasts, weights and the final arrays."""
    forecasts, truths = stream(mix.options.forecast_loss.name, n_rounds, len(mix.experts), "some", seed=9)
    found = []
    for key in mix.waiting[::-1]:
        mix.update(1.0, key=key)
    for row, truth in zip(forecasts, truths, strict=True):
        found += [mix.predict(row), *mix.weights.values()]
        mix.update(truth)
    return bits(found), snapshot(mix)


@pytest.mark.interpreted
def test_a_second_prediction_replaces_the_first():
    forecasts, truths = stream("square", 30, 3, "some")
    once, twice = Mixture(3, learner=LEARNER), Mixture(3, learner=LEARNER)
    for row, truth in zip(forecasts, truths, strict=True):
        twice.predict(row[::-1] * 3.0 + 1.0)
        assert twice.predict(row) == twice.predict(row) == once.predict(row)
        once.update(truth)
        twice.update(truth)
        assert snapshot(once) == snapshot(twice)


@pytest.mark.interpreted
@pytest.mark.parametrize(
    "call",
    [
        lambda mix: mix.predict(["1", 2.0, 3.0], key="next"),
        lambda mix: mix.predict([math.inf, 2.0, 3.0]),
        lambda mix: mix.predict([1e101, 2.0, 3.0]),
        lambda mix: mix.predict([1.0, 2.0]),
        lambda mix: mix.predict([1.0, 2.0, 3.0], key=3),
        lambda mix: mix.update("1", key="late"),
        lambda mix: mix.update(math.inf, key="late"),
        lambda mix: mix.update(1.0),
        lambda mix: mix.update(1.0, key=3),
        lambda mix: mix.join("a"),
    ],
)
def test_a_refused_call_changes_nothing(call):
    mix = played(6)
    before = snapshot(mix)
    with pytest.raises(InvalidInput):
        call(mix)
    assert snapshot(mix) == before


@pytest.mark.interpreted
def test_a_refused_round_without_forecasts_changes_nothing():
    """Before the first truth there is nothing to repeat; the next rounds must not count as late."""
    mix, other = Mixture(3, learner=LEARNER), Mixture(3, learner=LEARNER)
    mix.predict([1.0, 2.0, 4.0], key="a")
    other.predict([1.0, 2.0, 4.0], key="a")
    before = snapshot(mix)
    with pytest.raises(InvalidInput, match="no forecast, and there is no truth yet"):
        mix.predict([NAN, NAN, NAN], key="b")
    assert snapshot(mix) == before
    for one in (mix, other):
        one.update(1.5, key="a")
    assert snapshot(mix) == snapshot(other)


@pytest.mark.interpreted
def test_a_round_without_truth_changes_only_its_counter_and_the_number_of_the_newest():
    mix, other = played(6), played(6)
    mix.predict([5.0, 6.0, 7.0])
    mix.update(None)
    assert mix.counts["no truth"] == other.counts["no truth"] + 1
    before, after = memory_of(other), memory_of(mix)
    assert [name for name in before if bits(before[name]) != bits(after[name])] == ["numbers"]


# Files and copies


@pytest.mark.interpreted
@pytest.mark.parametrize("loss", LOSSES)
@pytest.mark.parametrize("way", ["file", "pickle", "deepcopy"])
def test_a_copy_continues_bit_for_bit(way, loss, tmp_path):
    for n_rounds, missing in ((0, "none"), (1, "none"), (7, "truths"), (30, "some"), (120, "none")):
        mix = played(n_rounds, missing, loss, extras=["last-truth"])
        mix.save(tmp_path / "mixture")
        other = {
            "file": lambda: Mixture.load(tmp_path / "mixture"),
            "pickle": lambda: pickle.loads(pickle.dumps(mix)),
            "deepcopy": lambda: copy.deepcopy(mix),
        }[way]()
        assert snapshot(other) == snapshot(mix)
        assert (other.options, other.waiting, repr(other)) == (mix.options, mix.waiting, repr(mix))
        assert continued(other) == continued(mix)


@pytest.mark.interpreted
def test_a_mixture_can_be_saved_at_any_point(tmp_path):
    """Rounds wait, and truths are wild, missing or of another scale."""
    forecasts, truths = hidden_and_wild("square", "truths", 5, 3)
    forecasts[0] = 1.0
    rng, mix, waiting = np.random.default_rng(0), Mixture(3, learner=LEARNER), []
    for t, row in enumerate(forecasts):
        mix.predict(row, key=t)
        waiting.append(t)
        mix.save(tmp_path / "mixture")
        other = Mixture.load(tmp_path / "mixture")
        assert snapshot(other) == snapshot(mix)
        while waiting and rng.random() < 0.5:
            key = waiting.pop(int(rng.integers(len(waiting))))
            for one in (mix, other):
                one.update(truths[key], key=key)
            assert snapshot(other) == snapshot(mix)
            if rng.random() < 0.2:
                mix.save(tmp_path / "mixture")
                assert snapshot(Mixture.load(tmp_path / "mixture")) == snapshot(mix)


def loaded_or_none(file):
    try:
        return Mixture.load(file)
    except BadFile:
        return None


def changed_kept(**changes):
    """Return a function that changes what one waiting round remembers, at the places that are named."""
    places = {"number": NUMBER, "low": LOW, "high": HIGH, "midmean": MIDMEAN, "uncorrected": UNCORRECTED, "guarded": 8}

    def change(kept):
        for name, value in changes.items():
            kept[0, places[name]] = value
        return kept

    return change


BAD_KEPT = {
    "negative number": changed_kept(number=-1.0),
    "broken number": changed_kept(number=0.5),
    "huge number": changed_kept(number=2.0**60),
    "number after the newest": changed_kept(number=1000.0),
    "no number": changed_kept(number=NAN),
    "infinite number": changed_kept(number=math.inf),
    "low is no forecast": changed_kept(low=0.3),
    "high is no forecast": changed_kept(high=0.7),
    "nobody awake": changed_kept(low=0.75, high=0.25),
    "low is missing": changed_kept(low=NAN),
    "both are missing": changed_kept(low=NAN, high=NAN),
    "no midmean": changed_kept(midmean=NAN),
    "midmean outside": changed_kept(midmean=5.0),
    "no uncorrected forecast": changed_kept(uncorrected=NAN),
    "infinite uncorrected forecast": changed_kept(uncorrected=math.inf),
    "uncorrected forecast outside": changed_kept(uncorrected=1e200),
    "no forecast of level 3": changed_kept(guarded=NAN),
    "forecast of level 3 outside": changed_kept(guarded=-4.0),
    "another width": lambda kept: kept[:, :-1],
    "another length": lambda kept: kept[:1],
    "whole numbers": lambda kept: np.nan_to_num(kept).astype(np.int64),
}


@pytest.mark.interpreted
@pytest.mark.parametrize("kind", BAD_KEPT)
def test_files_with_bad_kept_rounds_are_refused(kind, tmp_path):
    file = tmp_path / "mixture"
    played(9).save(file)
    header, keys, (arrays,) = opened_file(file)
    assert arrays["waiting_kept"].shape == (2, N_KEPT)
    write_parts(file, header, keys, [{**arrays, "waiting_kept": BAD_KEPT[kind](arrays["waiting_kept"].copy())}])
    assert loaded_or_none(file) is None


@pytest.mark.interpreted
def test_a_kept_round_that_no_stack_returned_is_refused():
    stack = MixtureStack(options_of(), 3)
    combined = stack.combine_one([0.5, 0.25, 0.75])
    before = {name: bits(array) for name, array in stack.arrays().items()}
    for kind, change in BAD_KEPT.items():
        if kind != "number after the newest":
            kept = change(np.array([combined.kept, combined.kept]))[0]
            if kept.shape == combined.kept.shape and kept.dtype == combined.kept.dtype and kind != "another length":
                with pytest.raises(InvalidInput, match="`one` must be a round of 3 experts"):
                    stack.observe_one(combined._replace(kept=kept), 1.0)
    assert {name: bits(array) for name, array in stack.arrays().items()} == before


BAD_MEMORIES = {
    "learner_weights": [lambda a: a * 2.0, lambda a: a * NAN, lambda a: a[:, :5]],
    "learner_base_weights": [lambda a: -a, lambda a: a[:, :7]],
    "learner_guard_weights": [lambda a: a + 1.0],
    "learner_squares": [lambda a: a - 1e9],
    "learner_sums": [lambda a: a + math.inf],
    "learner_base_squares": [lambda a: a - 1e9],
    "learner_largest": [lambda a: a - 1e9],
    "learner_guard_gap": [lambda a: a - 1e9, lambda a: a * NAN],
    "learner_top": [lambda a: a[:, :, ::-1], lambda a: -a],
    "learner_recent": [lambda a: a - 1e9],
    "learner_unit": [lambda a: a * 0.0, lambda a: -a, lambda a: a + math.inf],
    "learner_learned": [lambda a: -a - 1.0],
    "learner_known": [lambda a: a * NAN, lambda a: a + 1e301, lambda a: a[:, :1]],
    "learner_numbers": [lambda a: a[:, ::-1] + [[9, 0]], lambda a: a - 100, lambda a: a.astype(float)],
    "learner_counts": [
        lambda a: a + 2**50,
        lambda a: a - 100,
        lambda a: a + np.eye(4, dtype=np.int64)[1:2] * 100,
        lambda a: a + 2,
    ],
    "mixture_counts": [lambda a: a * 0],
}


@pytest.mark.interpreted
@pytest.mark.parametrize("name", BAD_MEMORIES)
def test_files_with_bad_memories_are_refused(name, tmp_path):
    file = tmp_path / "mixture"
    played(30).save(file)
    header, keys, (arrays,) = opened_file(file)
    for number, change in enumerate(BAD_MEMORIES[name]):
        write_parts(file, header, keys, [{**arrays, name: np.ascontiguousarray(change(arrays[name].copy()))}])
        assert loaded_or_none(file) is None, number
    write_parts(file, header, keys, [{key: array for key, array in arrays.items() if key != name}])
    assert loaded_or_none(file) is None


@pytest.mark.interpreted
def test_files_with_other_numbers_are_refused_or_valid(tmp_path):
    """What is loaded continues with finite forecasts, and can be saved and loaded again."""
    file, rng, found = tmp_path / "mixture", np.random.default_rng(3), {"refused": 0, "played": 0}
    played(30, extras=["last-truth", "scaled"]).save(file)
    header, keys, (original,) = opened_file(file)
    for _ in range(60 if INTERPRETED else 500):
        arrays = {name: array.copy() for name, array in original.items()}
        if rng.random() < 0.1:
            fuzz_sessions.mutate_shape(rng, arrays)
        else:
            fuzz_sessions.mutate_numbers(rng, arrays, 30)
        write_parts(file, header, keys, [arrays])
        mix = loaded_or_none(file)
        found["played" if mix is not None else "refused"] += 1
        if mix is None or arrays["mixture_counts"].max() == MOST_ROUNDS:  # one round more would be too many
            continue
        for key in mix.waiting:
            mix.update(1.0, key=key)
        for t in range(4):
            assert np.isfinite(mix.predict([t / 100, 0.5, 1.0], key=f"new {t}"))
            assert sum(mix.weights.values()) == pytest.approx(1.0, abs=1e-6)
            mix.update(float(t % 2), key=f"new {t}")
        mix.save(file)
        assert snapshot(Mixture.load(file)) == snapshot(mix)
    assert min(found.values()) > 3, found


# Experts that join and leave


@pytest.mark.interpreted
@pytest.mark.parametrize("extras", [(), ("last-truth", "shifted")])
def test_an_expert_that_joins_counts_as_one_that_slept(extras):
    forecasts, truths = stream("square", 40, 3, "some")
    forecasts[:12, 2], forecasts[0, 0] = NAN, 1.0
    mix = Mixture(["a", "b"], learner=LEARNER, extras=extras)
    whole = Mixture(["a", "b", "c"], learner=LEARNER, extras=extras)
    for t, (row, truth) in enumerate(zip(forecasts, truths, strict=True)):
        if t == 12:
            for key in ("late", "later"):
                mix.predict(row[:2], key=key)
                whole.predict([*row[:2], NAN], key=key)
            mix.join("c")
            assert mix.weights["c"] == 0.0
        combined = [one.predict(row[: len(one.experts)]) for one in (mix, whole)]
        assert t < 12 or combined[0] == combined[1]
        for one in (mix, whole):
            one.update(truth)
    assert mix.weights == whole.weights
    stacks = [one._singles[0].stack.arrays() for one in (mix, whole)]
    assert bits(*stacks[0].values()) == bits(*stacks[1].values())
    assert mix.predict([1.0, 2.0, 4.0]) == whole.predict([1.0, 2.0, 4.0])


@pytest.mark.interpreted
def test_rounds_that_wait_while_an_expert_joins_are_as_late_as_without_it():
    mix, whole = played(12, "none"), played(12, "none")
    mix.join("d")
    for one in (mix, whole):
        one.update(0.5, key="late")
        one.update(0.4, key="later")
    for name in ("counts", "numbers"):
        assert memory_of(mix)[name].tolist() == memory_of(whole)[name].tolist()
    assert memory_of(mix)["known"][0] == memory_of(whole)["known"][0] == 0.4


@pytest.mark.interpreted
def test_a_join_with_a_short_history_and_rounds_that_wait_keeps_their_order(tmp_path):
    """The rounds that are played again are fewer: the numbers of those that wait must not be after all later ones."""
    mix = played(40, "none", history=10)
    mix.join("d")
    mix.save(tmp_path / "mixture")
    assert snapshot(Mixture.load(tmp_path / "mixture")) == snapshot(mix)
    mix.update(0.5, key="later")
    mix.save(tmp_path / "mixture")
    assert snapshot(Mixture.load(tmp_path / "mixture")) == snapshot(mix)
    for t in range(5):
        mix.predict([0.5, 0.25, 0.75, 0.6], key=f"new {t}")
        mix.update(0.5 + t / 100, key=f"new {t}")
        assert memory_of(mix)["known"][0] == 0.5 + t / 100
    mix.update(0.1, key="late")  # older than the last truth
    assert memory_of(mix)["known"][0] == 0.54


@pytest.mark.interpreted
def test_an_expert_that_left_sleeps_until_it_joins_again():
    mix, sleeping = played(6), played(6)
    mix.leave("b")
    assert mix.predict([1.0, NAN, 3.0]) == mix.predict({"a": 1.0, "c": 3.0}) == sleeping.predict([1.0, NAN, 3.0])
    assert list(mix.weights) == ["a", "c"]
    mix.join("b")
    assert mix.predict([1.0, 2.0, 3.0]) == sleeping.predict([1.0, 2.0, 3.0])


# Scales


@pytest.mark.parametrize("learner", [LEARNER, CALM], ids=str)
@pytest.mark.parametrize("loss", [loss for loss in ALL_LOSSES if loss != "log"])
def test_powers_of_two_of_the_data_change_no_bit_of_the_weights(loss, learner):
    for missing, seed in (("some", 1), ("none", 2), ("none", 5)):
        forecasts, truths = hidden_and_wild(loss, missing, seed)
        expected = MixtureStack(options_of(loss, learner), 5).run(forecasts, truths)
        for k in (-600, -30, 1, 250):
            factor = 2.0**k
            got = MixtureStack(options_of(loss, learner), 5).run(forecasts * factor, truths * factor)
            assert bits(got.weights, got.combined / factor) == bits(expected.weights, expected.combined)


@pytest.mark.parametrize("loss", ["square", "absolute", "percentage", "pinball:0.9"])
def test_other_multiples_of_the_data_change_weights_by_rounding_only(loss):
    forecasts, truths = hidden_and_wild(loss, "some", 1)
    expected = MixtureStack(options_of(loss), 5).run(forecasts, truths)
    got = MixtureStack(options_of(loss), 5).run(forecasts * 1000.0, truths * 1000.0)
    np.testing.assert_allclose(got.weights, expected.weights, rtol=0, atol=1e-10)


def test_a_level_of_the_data_changes_weights_by_rounding_only():
    forecasts, truths = stream("square", 100, 4)
    forecasts, truths = np.round(forecasts * 1024) / 1024, np.round(truths * 1024) / 1024
    expected = MixtureStack(options_of(), 4).run(forecasts, truths)
    got = MixtureStack(options_of(), 4).run(forecasts + 2.0**20, truths + 2.0**20)
    np.testing.assert_allclose(got.combined - 2.0**20, expected.combined, rtol=0, atol=1e-8)


# Hostile data: the rules, each beside the reference without it


def agreeing(n_rounds=80, n_experts=5, seed=0):
    """Return forecasts with errors of about 1, and truths."""
    rng = np.random.default_rng(seed)
    truths = rng.normal(size=n_rounds).cumsum()
    return truths[:, None] + rng.normal(size=(n_rounds, n_experts)), truths


def both(forecasts, truths, rule, loss="square"):
    """Return the played block, the stack, and the rounds of the reference without a rule."""
    check_in_time(forecasts, truths, options_of(loss))
    stack = MixtureStack(options_of(loss), forecasts.shape[1])
    without = CombinationsReference(forecasts.shape[1], loss, without={rule})
    with np.errstate(all="ignore"):
        return stack.run(forecasts, truths), stack, without.run(forecasts, truths)


@pytest.mark.interpreted
def test_a_far_expert_sleeps_in_the_rounds_in_which_it_is_far():
    forecasts, truths = agreeing()
    forecasts[40, 2], forecasts[41, 2] = 1e9, -1e9
    got, stack, without = both(forecasts, truths, "far")
    assert (got.weights[40:42, 2] == 0.0).all()
    assert (got.weights[42:45, 2] > 0.0).all()
    assert (np.abs(got.combined - truths)[40:] < 5.0).all()
    assert abs(without[40].forecast) > 1e3
    calm = MixtureStack(options_of(), 5)
    calm.run(np.where(np.abs(forecasts) > 1e8, NAN, forecasts), truths)
    assert bits(*memory_of(calm).values()) == bits(*memory_of(stack).values())  # it counts as missing


@pytest.mark.interpreted
def test_an_expert_that_is_less_far_sleeps_only_if_its_losses_are_large():
    forecasts, truths = agreeing()
    forecasts[:, 3] = truths + 40.0
    got, _, without = both(forecasts, truths, "bad")
    assert (got.weights[20:, 3] == 0.0).all()
    assert any(one.weights[3] > 0.0 for one in without[20:])
    forecasts, truths = agreeing()
    forecasts[50, 3] += 22.0  # a good record: it may be the first to see a change
    got, _, _ = both(forecasts, truths, "bad")
    assert got.weights[50, 3] > 0.0


@pytest.mark.interpreted
def test_a_wild_truth_is_cut_and_is_no_last_truth_unless_two_come_in_a_row():
    forecasts, truths = agreeing()
    wild = truths.copy()
    wild[40] = 1e6
    got, stack, without = both(forecasts, wild, "cut")
    assert stack.counts[0].tolist() == [80, 1, 0, 0, 0]
    assert stack.cuts[1][0] == pytest.approx(1e12, rel=1e-2)
    assert (np.abs(got.combined - truths)[41:] < 5.0).all()
    one, two = (MixtureStack(options_of(), 5) for _ in range(2))
    one.run(forecasts[:41], wild[:41])
    assert memory_of(one)["known"][0] == truths[39]
    wild[41] = 2e6
    two.run(forecasts[:42], wild[:42])
    assert memory_of(two)["known"][0] == 2e6
    for name in ("cut", "again"):
        reference = CombinationsReference(5, without={name})
        reference.run(forecasts[:41], wild[:41])
        assert reference.known[1] == 1e6
    learned = [max(one.weights) for one in without[41:]]
    assert learned != got.weights[41:].max(axis=1).tolist()


@pytest.mark.interpreted
def test_a_truth_that_is_not_unusual_for_the_midmean_is_not_cut():
    """All but one expert are wrong: the one with all the weight is believed only while the midmean agrees."""
    forecasts, truths = agreeing()
    forecasts[:, 1:] = truths[:, None] + 50.0 + np.random.default_rng(1).normal(size=(80, 4))
    forecasts[:, 0] = truths
    truths = truths.copy()
    truths[60] += 3.0
    stack = MixtureStack(options_of(), 5)
    stack.run(forecasts, truths)
    check_in_time(forecasts, truths, options_of())
    assert stack.counts[0, 1] == 0


@pytest.mark.interpreted
@pytest.mark.parametrize("loss", ["square", "absolute"])
def test_after_a_fall_of_the_scale_what_was_learned_counts_in_the_smaller_unit(loss):
    forecasts, truths = agreeing(260)
    for values in (forecasts, truths):
        values[60:] *= 1e-5
    got, _, without = both(forecasts, truths, "fall", loss)
    before = MixtureStack(options_of(loss), 5)
    before.run(forecasts[:199], truths[:199])
    states = [memory_of(before), None]
    before.run(forecasts[199:200], truths[199:200])
    states[1] = memory_of(before)
    assert states[0]["learned"][0] > 1.0 > 1e-3 > states[1]["learned"][0]
    assert states[1]["unit"][0] < 1e-3 * states[0]["unit"][0]
    assert states[1]["guard_gap"][0] < states[0]["guard_gap"][0]  # it starts afresh
    unit = [state["unit"][0] ** (2 if loss == "square" else 1) for state in states]
    assert states[1]["sums"][1].max() * unit[1] < 1e-3 * states[0]["sums"][1].max() * unit[0]
    assert max(np.abs(got.weights[t] - without[t].weights).max() for t in range(200, 260)) > 1e-3


@pytest.mark.interpreted
def test_nobody_learns_from_forecasts_that_agree_up_to_rounding():
    forecasts, truths = agreeing(30)
    forecasts[0] = 100.0 + np.spacing(100.0) * np.arange(5)
    forecasts[20] = forecasts[20, 0]
    got, _, without = both(forecasts, truths, "tie")
    stack = MixtureStack(options_of(), 5)
    stack.run(forecasts[:20], truths[:20])
    before = memory_of(stack)
    stack.run(forecasts[20:21], truths[20:21])
    after = memory_of(stack)
    changed = {name for name in before if bits(before[name]) != bits(after[name])}
    assert changed <= {"top", "recent", "learned", "known", "numbers", "counts"}
    np.testing.assert_allclose(got.weights[1], 0.2 * np.ones(5), atol=0.2)
    assert np.abs(got.weights[1] - without[1].weights).max() > 0.05


@pytest.mark.interpreted
def test_nobody_learns_where_a_loss_is_not_finite():
    stack = MixtureStack(options_of(INFINITE), 3)
    stack.run([[1.0, 2.0, 4.0]] * 3, [1.0, 3.0, 2.0])
    before = memory_of(stack)
    stack.run([[1.0, 2.0, 4.0]], [16.0])
    after = memory_of(stack)
    assert stack.counts[0].tolist() == [3, 0, 0, 0, 1]
    assert {name for name in before if bits(before[name]) != bits(after[name])} <= {
        "numbers",
        "known",
        "learned",
        "counts",
        "top",
        "recent",
    }
    stack.set_arrays(stack.arrays())


@pytest.mark.interpreted
def test_the_percentage_of_a_truth_of_zero_is_skipped():
    """Also where it would be cut: what is cut stays finite."""
    forecasts, truths = agreeing(60)
    forecasts, truths = forecasts + 1000.0, truths + 1000.0
    truths[[0, 30, 50]] = 0.0
    reference = check_in_time(forecasts, truths, options_of("percentage"))
    assert reference.counts == {"learned": 57, "cut": 0, "no truth": 0, "all asleep": 0, "not finite": 3}
    check_in_time(forecasts, truths, options_of(INFINITE), (sometimes_infinite, sometimes_infinite_slope))


@pytest.mark.interpreted
def test_negative_losses_of_the_user_give_the_better_expert_no_less_weight():
    """A better expert has no less weight after any rounds, and no weight is NaN."""
    rng = np.random.default_rng(0)
    for _ in range(20):
        offset = rng.normal()

        stack = MixtureStack(options_of(INFINITE), 3)
        distances = np.sort(rng.exponential(2.0, 3))
        stack.run(np.tile(offset + distances, (6, 1)), np.full(6, offset))
        weights = memory_of(stack)["weights"]
        assert (np.diff(weights[1:3], axis=1) <= 1e-12).all(), weights


# Options


def test_without_the_last_truth_it_is_never_used():
    forecasts, truths = agreeing()
    stack = MixtureStack(options_of(learner=CALM), 5)
    for row, truth in zip(forecasts, truths, strict=True):
        combined = stack.combine_one(row)
        assert np.isnan(combined.kept[[5, 6]]).all()
        stack.observe_one(combined, truth)
    memory = memory_of(stack)
    assert (memory["base_sums"][[5, 6]] == 0.0).all()
    calm, usual = (MixtureStack(options_of(learner=one), 5).run(forecasts, truths) for one in (CALM, LEARNER))
    assert np.abs(np.diff(calm.weights, axis=0)).sum() < np.abs(np.diff(usual.weights, axis=0)).sum()
    log = MixtureStack(options_of("log"), 2)
    combined = [log.combine_one([0.2, 0.6]), log.observe_one(log.combine_one([0.2, 0.6]), 1)][0]
    assert np.isnan(log.combine_one([0.2, 0.6]).kept[[5, 6]]).all()
    assert not np.isnan(log.combine_one([0.2, 0.6]).kept[[0, 1, 2, 3, 4, 7]]).any()


def test_bad_parameters_are_refused():
    for bad in (1, 0, None, "yes", NAN, [True]):
        with pytest.raises(InvalidInput, match="Combinations: `last_truth` must be True or False"):
            Combinations(last_truth=bad)
    with pytest.raises(InvalidInput, match=r"Write Combinations\(\)"):
        MixtureOptions(learner=Combinations)


@pytest.mark.parametrize(
    "option", [{"gradient": False}, {"hint": "none"}, {"hint": "last-losses"}, {"scale": 2.0}], ids=str
)
def test_options_of_learners_of_losses_are_refused(option):
    name = next(iter(option))
    with pytest.raises(InvalidInput, match=f"`{name}` concerns learners of losses only") as error:
        Mixture(3, learner=LEARNER, **option)
    assert "\n" not in str(error.value)


def test_options_and_names_go_to_plain_values_and_back():
    for learner in (LEARNER, CALM):
        for loss in LOSSES:
            options = options_of(loss, learner, extras=("last-truth",))
            spec = json.loads(json.dumps(options.spec))
            assert MixtureOptions.from_spec(spec) == options
            assert MixtureOptions.from_spec(spec).full_learner == learner
    spec = options_of().spec
    for bad in (
        {"name": "combinations", "more": 1},
        {"name": "combinations", "last_truth": 1},
        {"name": "combination"},
    ):
        with pytest.raises(Exception, match=r"last_truth|combination"):
            MixtureOptions.from_spec({**spec, "learner": bad})
    assert repr(Mixture(["a"], learner=LEARNER)) == (
        "Mixture(['a'], loss='square', learner=Combinations(last_truth=True), rounds=0)"
    )
    assert repr(CALM) == "Combinations(last_truth=False)"


@pytest.mark.interpreted
@pytest.mark.parametrize("loss", LOSSES)
def test_the_losses_of_the_reference_are_those_of_the_mixture(loss):
    options = options_of(loss)
    value, _ = loss_and_slope(options.forecast_loss.name, options.forecast_loss.level)
    for forecast, truth in [(0.25, 1.0), (0.75, 0.0), (0.5, 1.0)]:
        if loss != "percentage" or truth:
            assert options.forecast_loss.values(forecast, truth) == pytest.approx(value(forecast, truth))
