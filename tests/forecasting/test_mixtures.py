"""Mixtures: the reference from the formulas, blocks and single rounds, scales, and the inequalities of the regret."""

import itertools

import numba
import numpy as np
import pytest

import fuzz_mixtures
from driftwise.core.errors import InvalidInput
from driftwise.forecasting import Mixture, MixtureOptions, MixtureStack, forecast_loss
from driftwise.learners import (
    AdaHedge,
    ExpertLearner,
    FixedShare,
    OptimisticHedge,
    SleepingOptimisticAdaptMLProd,
    Tracker,
    learners,
)
from forecast_streams import LOSSES, MISSING, bits, stream
from references.mixtures import loss_and_slope, reference_of

EXTRAS = ((), ("last-truth",), ("scaled", "shifted"), ("last-truth", "scaled", "shifted"))
HINTS = ("last-truth", "last-losses", "none")
TRACKER = Tracker(both_guesses=True)
GROWING = SleepingOptimisticAdaptMLProd()
#: pairs whose loops are compiled; the compiler takes half a minute for one with Tracker
PAIRS = [
    *((OptimisticHedge(), loss) for loss in LOSSES),
    *((learner, "square") for learner in (FixedShare(), TRACKER, GROWING)),
]
if numba.config.DISABLE_JIT:
    PAIRS = list(itertools.product([OptimisticHedge(), FixedShare(), TRACKER, GROWING], LOSSES))
N_ROUNDS = 12 if numba.config.DISABLE_JIT else 70


def options_of(learner, loss):
    """Yield all combinations of the other options."""
    hints = HINTS if hasattr(learner, "hint") else ("none",)
    extras = EXTRAS[:2] if loss == "log" else EXTRAS
    for gradient, hint, added, scale in itertools.product((True, False), hints, extras, (None, 0.8)):
        yield MixtureOptions(loss, learner, gradient, hint, added, scale)


def assert_same_as_reference(stack, got, reference, rounds):
    np.testing.assert_allclose(got.weights, [one.shares for one in rounds], rtol=0, atol=1e-9)
    expected = np.array([np.nan if one.forecast is None else one.forecast for one in rounds])
    np.testing.assert_allclose(got.combined, expected, rtol=1e-9)
    inputs = np.array([[np.nan if x is None else x for x in one.inputs] for one in rounds])
    np.testing.assert_allclose(got.inputs, inputs, rtol=1e-9)
    assert stack.counts[0].tolist() == list(reference.counts.values())
    assert stack.cuts[0][0] == reference.counts["cut"]
    assert stack.cuts[1][0] == pytest.approx(sum(reference.cut), rel=1e-9, abs=1e-12)


# The reference


@pytest.mark.interpreted
@pytest.mark.parametrize("missing", MISSING)
@pytest.mark.parametrize(("learner", "loss"), PAIRS, ids=str)
def test_a_mixture_is_that_of_the_formulas(learner, loss, missing):
    """Each combination of options gets a stream of its own, and every other one has wild truths."""
    for seed, options in enumerate(options_of(learner, loss)):
        if numba.config.DISABLE_JIT and seed % 5 != len(missing) % 5:
            continue
        forecasts, truths = stream(loss, N_ROUNDS, 3, missing, seed)
        if seed % 2 and loss != "log":
            truths[[8, 30 % N_ROUNDS, 31 % N_ROUNDS, N_ROUNDS - 9]] *= [1e3, -50.0, 80.0, 1e4]
        stack, reference = MixtureStack(options, 3), reference_of(options, 3)
        got = stack.run(forecasts, truths)
        assert_same_as_reference(stack, got, reference, reference.run(forecasts, truths))


def test_the_streams_have_all_kinds_of_rounds():
    """Otherwise the comparison with the reference would not compare them."""
    found = dict.fromkeys(["learned", "cut", "no truth", "all asleep", "not finite"], 0)
    for missing in MISSING:
        forecasts, truths = stream("percentage", 70, 3, missing)
        truths[::9] = 0.0
        truths[30] = 1e-9
        reference = reference_of(MixtureOptions("percentage", OptimisticHedge()), 3)
        stack = MixtureStack(MixtureOptions("percentage", OptimisticHedge()), 3)
        got = stack.run(forecasts, truths)
        assert_same_as_reference(stack, got, reference, reference.run(forecasts, truths))
        found = {name: found[name] + n for name, n in reference.counts.items()}
    assert all(found.values()), found


@pytest.mark.interpreted
@pytest.mark.parametrize("hint", HINTS)
@pytest.mark.parametrize("learner", [OptimisticHedge(), TRACKER], ids=str)
def test_late_truths_in_any_order_are_those_of_the_formulas(learner, hint):
    """Each round is learned with its own hint, whatever was combined or learned since."""
    forecasts, truths = stream("square", N_ROUNDS, 3, "truths")
    rng = np.random.default_rng(5)
    options = MixtureOptions("square", learner, hint=hint, extras=("last-truth",))
    mix, reference, waiting = (
        Mixture(3, learner=learner, hint=hint, extras=("last-truth",)),
        reference_of(options, 3),
        {},
    )
    late = 0
    for t, row in enumerate(forecasts):
        if not np.isnan(row).all() or reference.truth is not None:
            waiting[t] = reference.predict([None if np.isnan(x) else x for x in row.tolist()])
            assert mix.predict(row, key=t) == pytest.approx(waiting[t].forecast, rel=1e-9)
            np.testing.assert_allclose([*mix.weights.values()], waiting[t].shares, rtol=0, atol=1e-9)
        while waiting and rng.random() < 0.6:
            key = int(rng.choice(list(waiting)))
            late += key != t
            mix.update(truths[key], key=key)
            reference.update(waiting.pop(key), None if np.isnan(truths[key]) else truths[key])
    assert late > 3
    assert mix.counts == reference.counts
    assert mix.waiting == tuple(waiting)


@pytest.mark.interpreted
@pytest.mark.parametrize("loss", LOSSES)
def test_losses_and_derivatives_are_those_of_the_formulas(loss):
    found = forecast_loss(loss)
    value, slope = loss_and_slope(found.name, found.level)
    truths = [0.0, 1.0] if loss == "log" else [-2.5, 0.3, 1e-8, 7e11]
    forecasts = [0.0, 1e-13, 1e-5, 0.5, 1.0] if loss == "log" else [-1e9, -2.5, 0.0, 0.3, 1e-8, 7e11]
    for f, y in itertools.product(forecasts, truths):
        assert found.values(f, y) == pytest.approx(value(f, y), rel=1e-4 if loss == "log" else 1e-12)
        assert found.slopes(f, y) == pytest.approx(slope(f, y), rel=1e-4 if loss == "log" else 1e-12)
        if loss != "log":
            assert f != y or (found.values(f, y), found.slopes(f, y)) == (0.0, 0.0)
    assert np.isnan(found.values([np.nan, 1.0], [1.0, np.nan])).all()


# Blocks and single rounds


def step(mix, forecasts, truths):
    """Play rounds one by one; a round that is refused, without forecast and truth, is skipped."""
    combined, weights = [], []
    for row, truth in zip(forecasts, truths, strict=True):
        combined.append(mix.predict(row))
        weights.append([*mix.weights.values()])
        mix.update(truth)
    return np.array(combined), np.array(weights)


@pytest.mark.interpreted
@pytest.mark.parametrize("missing", MISSING)
@pytest.mark.parametrize("learner", [OptimisticHedge(), FixedShare(), TRACKER, GROWING], ids=str)
def test_single_rounds_are_those_of_a_block_bit_for_bit(learner, missing):
    forecasts, truths = stream("square", N_ROUNDS, 4, missing, seed=3)
    forecasts[0], truths[0] = 1.0, 2.0  # a round in which all sleep is refused before the first truth
    for hint, extras in ((HINTS[0], ()), (HINTS[1], ("last-truth", "shifted")), (HINTS[2], ("scaled",))):
        options = MixtureOptions("square", learner, hint=hint, extras=extras)
        whole, parts = MixtureStack(options, 4), MixtureStack(options, 4)
        got = whole.run(forecasts, truths)
        pieces = [parts.run(forecasts[i:j], truths[i:j]) for i, j in itertools.pairwise([0, 1, 5, 5, 11, N_ROUNDS])]
        assert bits(np.concatenate([one.combined for one in pieces])) == bits(got.combined)
        assert bits(np.concatenate([one.weights for one in pieces])) == bits(got.weights)
        mix = Mixture(4, learner=learner, hint=hint, extras=extras)
        combined, weights = step(mix, forecasts, truths)
        assert bits(combined, weights) == bits(got.combined, got.weights)
        for name, array in whole.arrays().items():  # a memory that grows may have more room
            other = mix._singles[0].stack.arrays()[name]
            assert array.tobytes() == other.tobytes() or learner is GROWING, name


@pytest.mark.parametrize("n_threads", [1, 2, 5])
@pytest.mark.parametrize("order", ["sorted", "interleaved", "random"])
def test_series_are_separate_mixtures_bit_for_bit(order, n_threads):
    n_series, n_rounds = 7, 40
    options = MixtureOptions("square", TRACKER, extras=("last-truth",))
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
    stack = MixtureStack(options, 3, 4)
    stack.add_series(n_series - 4)
    got = stack.run(forecasts, truths, series, n_threads)
    for i in range(n_series):
        alone = MixtureStack(options, 3)
        expected = alone.run(*streams[i])
        assert bits(expected.combined, expected.weights, expected.inputs) == bits(*(part[rows[i]] for part in got))
        assert all(bits(array[0]) == bits(stack.arrays()[name][i]) for name, array in alone.arrays().items())


def test_a_stack_continues_from_its_arrays_bit_for_bit():
    options = MixtureOptions("square", TRACKER, extras=("shifted",))
    forecasts, truths = stream("square", 60, 3, "some")
    series = np.arange(60) % 2
    whole, first, second = (MixtureStack(options, 3, 2) for _ in range(3))
    expected = whole.run(forecasts, truths, series)
    first.run(forecasts[:25], truths[:25], series[:25])
    second.set_arrays({name: array.copy() for name, array in first.arrays().items()})
    assert bits(second.run(forecasts[25:], truths[25:], series[25:]).combined) == bits(expected.combined[25:])


@pytest.mark.interpreted
def test_a_forecast_is_never_outside_the_hull_by_rounding():
    """The weights of six experts with equal forecasts add up to 1 with an error of rounding."""
    rng, n_rounds = np.random.default_rng(3), 300
    truths = rng.uniform(1.0, 2.0, n_rounds)
    forecasts = np.hstack([np.zeros((n_rounds, 1)), np.tile(truths[:, None], 6)])
    forecasts[rng.random(forecasts.shape) < 0.2] = np.nan
    forecasts[:, :2] = np.column_stack([np.zeros(n_rounds), truths])
    got = MixtureStack(MixtureOptions("square", OptimisticHedge(50.0), gradient=False), 7).run(forecasts, truths)
    assert (got.combined[5:] <= np.nanmax(forecasts[5:], axis=1)).all()
    assert (got.weights[5:, 0] < 1e-20).all()
    assert (got.weights[5:].sum(axis=1) > 1.0).any()


# The learner


def in_order_mean(inputs, weights):
    base, above = inputs[0], 0.0
    for x, w in zip(inputs, weights, strict=True):
        above += w * (x - base)
    return min(max(base + above, min(inputs)), max(inputs))


@pytest.mark.interpreted
@pytest.mark.parametrize("gradient", [True, False])
@pytest.mark.parametrize("learner", [OptimisticHedge(), FixedShare(), TRACKER, GROWING], ids=str)
def test_with_nobody_missing_the_weights_are_those_of_the_learner_bit_for_bit(learner, gradient):
    forecasts, truths = stream("square", N_ROUNDS, 4)
    got = MixtureStack(MixtureOptions("square", learner, gradient), 4).run(forecasts, truths)
    state, scale, last = learner.start(4), 0.0, None

    def losses_of(row, forecast, truth):
        if gradient:
            return np.array([2.0 * (forecast - truth) * (x - forecast) for x in row])
        return np.array([(x - truth) * (x - truth) for x in row])

    for row, truth, combined, weights in zip(forecasts.tolist(), truths.tolist(), *got[:2], strict=True):
        if hasattr(learner, "hint"):
            hint = np.zeros(4)
            if last is not None:
                hint = losses_of(row, in_order_mean(row, learner.predict(state).tolist()), last)
                hint = np.minimum(1.0, (hint - hint.min()) / max(scale, np.ptp(hint)))
            learner.hint(state, hint)
        assert bits(learner.predict(state)) == bits(weights)
        assert combined == in_order_mean(row, weights.tolist())
        losses = losses_of(row, combined, truth)
        scale, last = max(scale, np.ptp(losses)), truth
        learner.update(state, np.minimum(1.0, (losses - losses.min()) / scale))


NAMES = [name for name in learners if issubclass(learners.get(name), ExpertLearner)]


@pytest.mark.interpreted
@pytest.mark.parametrize("name", NAMES if numba.config.DISABLE_JIT else ["fixed-share", "optimistic-hedge", "tracker"])
def test_every_learner_with_full_feedback_works_in_a_mixture(name):
    """Interpreted, all of them: the compiler takes up to a minute for each."""
    learner = learners.get(name)()
    if name == "tracker":
        learner = TRACKER
    forecasts, truths = stream("square", 25, 3, "some")
    options = MixtureOptions("square", learner)
    stack, reference = MixtureStack(options, 3), reference_of(options, 3)
    assert_same_as_reference(stack, stack.run(forecasts, truths), reference, reference.run(forecasts, truths))


# Scales


def scalable(learner, loss):
    for options in options_of(learner, loss):
        if options.scale is None:
            yield options


@pytest.mark.parametrize(
    ("learner", "loss"), [pair for pair in PAIRS if pair[1] != "log" and pair[0] is not GROWING], ids=str
)
def test_powers_of_two_of_the_data_change_no_bit_of_the_weights(learner, loss):
    forecasts, truths = stream(loss, 50, 3, "some")
    truths[20] *= 1e4
    for i, options in enumerate(scalable(learner, loss)):
        expected = MixtureStack(options, 3).run(forecasts, truths)
        for k in (-30, -7, 1, 30)[i % 2 :: 2]:
            got = MixtureStack(options, 3).run(forecasts * 2.0**k, truths * 2.0**k)
            assert bits(got.weights, got.combined * 2.0**-k) == bits(expected.weights, expected.combined)


@pytest.mark.parametrize(
    ("learner", "loss"), [pair for pair in PAIRS if pair[1] != "log" and pair[0] is not GROWING], ids=str
)
def test_other_multiples_of_the_data_change_weights_by_rounding_only(learner, loss):
    forecasts, truths = stream(loss, 50, 3, "some")
    for options in scalable(learner, loss):
        expected = MixtureStack(options, 3).run(forecasts, truths)
        got = MixtureStack(options, 3).run(forecasts * 1000.0, truths * 1000.0)
        np.testing.assert_allclose(got.weights, expected.weights, rtol=0, atol=1e-9)


def test_a_wild_truth_changes_neither_weights_nor_the_last_truth():
    forecasts, truths = stream("square", 60, 3)
    wild = truths.copy()
    wild[30] = 1e9
    kept = np.arange(60) != 30
    for learner in (OptimisticHedge(), TRACKER):
        stack = MixtureStack(MixtureOptions("square", learner, extras=("last-truth",)), 3)
        got = stack.run(forecasts, wild)
        skipped = MixtureStack(stack.options, 3).run(forecasts[kept], truths[kept])
        assert bits(got.weights[kept]) == bits(skipped.weights)
        assert stack.cuts[0].tolist() == [1]
        assert stack.cuts[1][0] > 1e9
    # If losses stay large they are accepted from the fourth on, and at most log2(r / (8 s)) rounds are cut.
    stack = MixtureStack(MixtureOptions("absolute", OptimisticHedge(), gradient=False), 2)
    stack.run([[0.0, 1.0]] + [[0.0, 1e6]] * 40, [0.0] * 41)
    assert stack.cuts[0][0] == 3 < np.log2(1e6 / 8)
    stack = MixtureStack(MixtureOptions("absolute", OptimisticHedge(), gradient=False), 2)
    stack.run([[0.0, 1.0]] + [[0.0, 1e6], [0.0, 1.0]] * 40, [0.0] * 81)
    assert stack.cuts[0][0] == int(np.log2(1e6 / 8)) == 16  # one at a time


@pytest.mark.parametrize("hint", ["last-truth", "none"])
@pytest.mark.parametrize("late", [0, 7])
@pytest.mark.parametrize("learner", [AdaHedge(), TRACKER], ids=str)
def test_an_absurd_expert_is_as_good_as_missing(learner, late, hint):
    forecasts, truths = stream("square", 80, 4)
    asleep, absurd, other = (forecasts.copy() for _ in range(3))
    asleep[20:40, 2], absurd[20:40, 2], other[20:40, 2] = np.nan, 1e9, -1e5
    played = []
    for table in (asleep, absurd, other):
        mix = Mixture(4, learner=learner, hint=hint)
        combined = []
        for t, row in enumerate(table):
            combined.append(mix.predict(row, key=t))
            if t >= late:
                mix.update(truths[t - late], key=t - late)
        played.append(combined)
        assert mix.report().n_rounds == 80 - late
    assert played[0] == played[1] == played[2]


# The inequalities of the regret, on every path


def regret_streams(loss):
    for seed, missing in itertools.product(range(4), ("none", "some", "blocks", "truths")):
        forecasts, truths = stream(loss, 60, 3, missing, seed)
        if seed % 2 and loss != "log":
            truths[[20, 41]] *= [300.0, -40.0]
            forecasts[33, 1] *= 200.0
        yield forecasts, truths


@pytest.mark.parametrize("scale", [None, 0.8])
@pytest.mark.parametrize("gradient", [True, False])
@pytest.mark.parametrize("loss", LOSSES)
def test_the_regret_is_at_most_that_of_the_learner_and_the_cut_sum(loss, gradient, scale):
    """Against every expert over the rounds in which it is awake; with the gradient, against convex combinations."""
    options, phi, worst = MixtureOptions(loss, OptimisticHedge(), gradient, scale=scale), forecast_loss(loss), 0.0
    for forecasts, truths in regret_streams(loss):
        stack, reference = MixtureStack(options, 3), reference_of(options, 3)
        got = stack.run(forecasts, truths)
        reference.run(forecasts, truths)
        weights, losses, scales = (np.array(part) for part in zip(*reference.learned, strict=True))
        cut = stack.cuts[1][0]
        for u in np.vstack([np.eye(3), np.random.default_rng(1).dirichlet([0.5] * 3, 20)]):
            counted = ~np.isnan(truths) & ~np.isnan(forecasts[:, u > 0.0]).any(axis=1)
            if u.max() < 1.0 and (not gradient or np.isnan(forecasts).any()):
                continue
            others = forecasts[:, u > 0.0] @ u[u > 0.0]
            excess = (phi.values(got.combined, truths) - phi.values(others, truths))[counted].sum()
            linear = (scales * ((weights * losses).sum(axis=1) - losses @ u)).sum()
            assert excess <= linear + cut + 1e-9 * (1.0 + abs(linear) + cut)
            worst = max(worst, (excess - linear) / cut if cut else 0.0)
    assert worst > 0.0 or loss != "square"  # without the cut sum the inequality would not hold


# Generated streams


@pytest.mark.interpreted
def test_generated_streams_have_finite_forecasts_and_weights():
    """`make fuzz` plays ten thousand, with wrong calls between the rounds, and copies."""
    counts = fuzz_mixtures.fuzz(60 if numba.config.DISABLE_JIT else 300, seed=1)
    assert counts["rounds"] > 100
    assert min(counts["block"], counts["single"], counts["live"]) > 5
    assert min(counts["refused"], counts["copies"], counts["files refused"]) > 2


def test_more_series_than_the_memory_holds_are_rejected():
    stack = MixtureStack(MixtureOptions(learner=FixedShare()), n_experts=2)
    with pytest.raises(InvalidInput, match="`n_series` must be small enough for the memory of this machine"):
        stack.add_series(10**13)
    assert stack.n_series == 1
