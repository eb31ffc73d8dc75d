"""Live mixtures: keys, experts that join and leave, refused inputs, missing values, files, losses of the user."""

import copy
import math
import pickle

import numba
import numpy as np
import pytest

from driftwise.core.errors import InvalidInput, KernelError, UnknownName
from driftwise.forecasting import (
    ForecastLoss,
    Mixture,
    MixtureOptions,
    MixtureStack,
    forecast_loss,
)
from driftwise.learners import Exp3, FixedShare, OptimisticHedge, SleepingOptimisticAdaptMLProd, Tracker
from forecast_streams import bits, stream
from mixture_states import snapshot
from references.mixtures import Round, reference_of

LEARNER = OptimisticHedge()
TRACKER = Tracker(both_guesses=True)
NAN = float("nan")


def played(n_rounds=20, learner=LEARNER, missing="some", **options):
    """Return a mixture of three experts after some rounds, with two rounds waiting."""
    mix = Mixture(["a", "b", "c"], learner=learner, **options)
    forecasts, truths = stream(mix.options.forecast_loss.name, n_rounds, 3, missing)
    for t, (row, truth) in enumerate(zip(forecasts, truths, strict=True)):
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


# Refused calls change nothing

BAD_FORECASTS = {
    "text": (["1", 2.0, 3.0], "must be a number, got '1'"),
    "infinite": ([math.inf, 2.0, 3.0], "must be a finite number"),
    "too large": ([1e101, 2.0, 3.0], "must be a finite number"),
    "too few": ([1.0, 2.0], "must be of 3 values"),
    "unknown": ({"a": 1.0, "d": 2.0}, "must be of the experts"),
    "matrix": (np.ones((3, 1)), "must have one dimension"),
    "none": (None, "must be"),
    "left": ({"c": 1.0}, "'c' left; call `join`"),
}


@pytest.mark.interpreted
@pytest.mark.parametrize("kind", BAD_FORECASTS)
def test_refused_forecasts_change_nothing(kind):
    mix = played(6)
    mix.leave("c")
    before, (values, message) = snapshot(mix), BAD_FORECASTS[kind]
    with pytest.raises(InvalidInput, match=message) as error:
        mix.predict(values, key="next")
    assert "\n" not in str(error.value)
    assert snapshot(mix) == before


@pytest.mark.interpreted
@pytest.mark.parametrize("truth", ["1", [1.0], math.inf, -1e101, 1j, np.array([1.0])], ids=str)
def test_refused_truths_change_nothing(truth):
    mix = played(6)
    before = snapshot(mix)
    with pytest.raises(InvalidInput, match=r"^Mixture: `truth` must be a"):
        mix.update(truth, key="late")
    assert snapshot(mix) == before


@pytest.mark.interpreted
def test_refused_probabilities_change_nothing():
    mix = played(6, loss="log")
    before = snapshot(mix)
    with pytest.raises(InvalidInput, match=r"`forecasts` must be in \[0, 1\] for the log loss"):
        mix.predict([0.5, 0.5, 1.0001])
    with pytest.raises(InvalidInput, match=r"`truth` must be 0 or 1 for the log loss, got 0\.5"):
        mix.update(0.5, key="late")
    assert snapshot(mix) == before


@pytest.mark.interpreted
def test_a_refused_first_round_does_not_fix_the_experts():
    mix = Mixture(learner=LEARNER)
    for bad in ({"a": "x"}, {"a": NAN, "b": None}, [NAN], [math.inf, 1.0], [], {}):
        with pytest.raises(InvalidInput):
            mix.predict(bad)
        assert (mix.experts, mix.waiting, mix.weights) == ((), (), {})
    with pytest.raises(InvalidInput, match="`key` must be"):
        mix.predict([1.0], key=[1])
    assert mix.predict({"b": 1.0, "c": 2.0}) == 1.5
    assert mix.experts == ("b", "c")


@pytest.mark.interpreted
def test_refused_keys_change_nothing():
    mix = played(6)
    before = snapshot(mix)
    for key, message in [
        (None, "no forecast without a key waits for its truth; waiting: 'late', 'later'"),
        ("unknown", "no forecast with the key 'unknown' waits for its truth; waiting: 'late', 'later'"),
        (3, "the truth of round 3 was given already; it cannot be revised"),
        ([1], r"`truth` must be a list of 1 truths, one for each key, got 1\.0"),
        ({1}, r"no forecast with the key \{1\} waits"),
    ]:
        with pytest.raises(InvalidInput, match=message):
            mix.update(1.0, key=key)
    for key in (3, NAN, [1], {}):
        with pytest.raises(InvalidInput, match=r"was given already|`key` must be"):
            mix.predict([1.0, 2.0, 3.0], key=key)
    assert snapshot(mix) == before


class Acting(dict):
    """Forecasts that do something when they are read."""

    def values(self):
        self.act()
        return super().values()


@pytest.mark.interpreted
def test_experts_that_change_while_forecasts_are_read_are_refused():
    """The sizes of a round and of the mixture must agree, whatever the code of the user does."""
    mix, forecasts = Mixture(["a"], learner=LEARNER), Acting(a=1.0)
    forecasts.act = lambda: mix.join("b")
    with pytest.raises(InvalidInput, match="the experts changed while the forecasts were read"):
        mix.predict(forecasts)
    assert (mix.experts, mix.waiting) == (("a", "b"), ())
    mix, forecasts = Mixture(learner=LEARNER), Acting(a=1.0, b=2.0)
    forecasts.act = lambda: mix.experts or mix.predict([1.0], key="inside")
    with pytest.raises(InvalidInput, match="the experts changed while the forecasts were read"):
        mix.predict(forecasts)
    assert (mix.experts, mix.waiting) == (("expert 0",), ("inside",))
    mix.update(1.0, key="inside")


BAD_OPTIONS = [
    ({"experts": 0}, "`experts` must be a whole number >= 1"),
    ({"experts": "ab"}, "`experts` must be a whole number >= 1 or a list of names, got 'ab'"),
    ({"experts": []}, "`experts` must be at least one name"),
    ({"experts": np.array("a")}, "`experts` must be a whole number >= 1"),
    ({"experts": 2**40}, "`experts` must be small enough for the memory of this machine"),
    ({"extras": np.array("scaled")}, "`extras` must be a tuple"),
    ({"experts": ["a", "a"]}, "'a' twice"),
    ({"experts": ["last truth"], "extras": ["last-truth"]}, "has the name 'last truth' of an added one"),
    ({"loss": "squared"}, "squared"),
    ({"loss": 3}, "`loss` must be one of"),
    ({"loss": "pinball"}, "pinball needs the probability"),
    ({"loss": "pinball:1"}, r"`level` must be in \(0, 1\)"),
    ({"loss": "pinball:x"}, "must be a number in"),
    ({"loss": "square:2"}, "only pinball has a level"),
    ({"learner": FixedShare}, r"Write FixedShare\(\)"),
    ({"learner": "hegde"}, "There is no learner 'hegde'. Did you mean 'hedge'?"),
    ({"learner": "combination"}, "Did you mean 'combinations'?"),
    ({"learner": "exp3"}, r"a learner with full feedback, got Exp3\(.*It has bandit feedback"),
    ({"learner": Exp3()}, "a learner with full feedback"),
    ({"loss": "ma"}, "Did you mean 'mae'?"),
    ({"steps": 0}, "`steps` must be a whole number >= 1"),
    ({"steps": 2**40}, "`steps` must be small enough for the memory of this machine"),
    ({"steps": 1.5}, "`steps` must be a whole number >= 1"),
    ({"quantiles": [0.1, 0.9], "loss": "mae"}, "the loss is the pinball loss of each; leave out `loss`, got 'mae'"),
    *(
        ({"quantiles": bad}, "`quantiles` must be")
        for bad in ([], [0.9, 0.1], [0.5, 0.5], [0.0, 0.5], 0.5, ["a"], np.array(0.5), "0.5")
    ),
    ({"gradient": 1}, "`gradient` must be True or False"),
    ({"hint": "last truth"}, "Mixture: `hint` must be one of 'last-truth', 'last-losses', 'none', got 'last truth'"),
    ({"hint": ["none"]}, "`hint` must be one of"),
    ({"extras": "last-truth"}, "`extras` must be a tuple"),
    ({"extras": None}, "`extras` must be a tuple"),
    ({"extras": [["scaled"]]}, "`extras` must be some of"),
    ({"extras": ["scaled", "scaled"]}, "each once"),
    ({"loss": "log", "extras": ["shifted"]}, "can only be 'last-truth'"),
    ({"gradient": False}, r"`gradient` concerns learners of losses only; pass one as `learner`.*, got False\.$"),
    ({"scale": 2.0}, "`scale` concerns learners of losses only"),
    ({"scale": 0.0}, "`scale` must be > 0"),
    ({"scale": math.inf}, "`scale` must be > 0"),
    ({"history": -1}, "`history` must be a whole number >= 0"),
]


@pytest.mark.parametrize(("options", "message"), BAD_OPTIONS, ids=str)
def test_bad_options_are_refused(options, message):
    with pytest.raises((InvalidInput, UnknownName), match=message):
        Mixture(**{"experts": 2, **options})


def test_bad_arguments_of_a_stack_are_refused():
    stack = MixtureStack(MixtureOptions(learner=LEARNER), 2, 2)
    before = {name: bits(array) for name, array in stack.arrays().items()}
    for series in ([0.5], [NAN], ["a"], [None], [True], [2], [-1], 0, [[0]], [0, 1], ("a", [1])):
        with pytest.raises(InvalidInput, match=r"`series` must have one number in \[0, 1\] per round"):
            stack.run([[1.0, 2.0]], [1.0], series)
    for n_threads in (0, -1, 1.5, None):
        with pytest.raises(InvalidInput, match="`n_threads` must be a whole number >= 1"):
            stack.run([[1.0, 2.0]], [1.0], [0], n_threads)
    for values, truths in (([[1.0]], [1.0]), ([[1.0, 2.0]], []), ([[1.0, math.inf]], [1.0]), ([[1.0, 2.0]], [1e101])):
        with pytest.raises(InvalidInput):
            stack.run(values, truths, [0])
    with pytest.raises(InvalidInput, match="`n_series` must be a whole number"):
        stack.add_series(-1)
    with pytest.raises(InvalidInput, match="`options` must be MixtureOptions, got 3"):
        MixtureStack(3, 2)
    with pytest.raises(InvalidInput, match="`n_experts` must be small enough for the memory of this machine"):
        MixtureStack(stack.options, 2**40)
    for arrays in (None, [], {"mixture_scale": 1.0}, {**stack.arrays(), "mixture_scale": [[1.0, 2.0]]}):
        with pytest.raises(InvalidInput):
            stack.set_arrays(arrays)
    with pytest.raises(InvalidInput, match="one series only"):
        MixtureStack(MixtureOptions(learner=SleepingOptimisticAdaptMLProd()), 2, 2)
    assert {name: bits(array) for name, array in stack.arrays().items()} == before


# Rounds


@pytest.mark.interpreted
@pytest.mark.parametrize("learner", [LEARNER, TRACKER], ids=str)
def test_a_second_prediction_replaces_the_first(learner):
    forecasts, truths = stream("square", 12, 3, "some")
    once, twice = Mixture(3, learner=learner), Mixture(3, learner=learner)
    for row, truth in zip(forecasts, truths, strict=True):
        twice.predict(row[::-1] * 3.0 + 1.0)
        assert twice.predict(row) == twice.predict(row) == once.predict(row)
        once.update(truth)
        twice.update(truth)
        assert snapshot(once) == snapshot(twice)


@pytest.mark.interpreted
def test_if_all_sleep_the_forecast_is_the_last_truth():
    mix = Mixture(2, learner=LEARNER)
    with pytest.raises(InvalidInput, match="no forecast, and there is no truth yet that could be repeated"):
        mix.predict([NAN, None])
    mix.predict([1.0, 2.0])
    mix.update(1.25)
    before = mix.predict([1.0, 2.0])
    assert mix.predict([NAN, None]) == 1.25
    assert mix.weights == {"expert 0": 0.0, "expert 1": 0.0}
    mix.update(1.3)
    assert mix.predict({}) == 1.3
    mix.update(None)
    assert mix.counts == {"learned": 1, "cut": 0, "no truth": 1, "all asleep": 1, "not finite": 0}
    assert mix.predict([1.0, 2.0]) != before  # the last truth is another one, and so is the hint


@pytest.mark.interpreted
def test_a_round_without_truth_changes_only_its_counter():
    for learner in (LEARNER, TRACKER):
        mix, other = played(6, learner), played(6, learner)
        mix.predict([5.0, 6.0, 7.0])
        mix.update(None)
        assert mix.counts["no truth"] == other.counts["no truth"] + 1
        assert mix.predict([1.0, 2.0, 4.0], key="x") == other.predict([1.0, 2.0, 4.0], key="x")


@pytest.mark.interpreted
def test_the_percentage_of_a_truth_of_zero_is_skipped():
    mix, other = (Mixture(2, learner=LEARNER, loss="percentage", extras=["last-truth"]) for _ in range(2))
    for one in (mix, other):
        one.predict([1.0, 2.0])
        one.update(1.5)
    for truth in (0.0, -0.0, 5e-324):
        mix.predict([1.0, 2.0])
        mix.update(truth)
    assert mix.counts["not finite"] == 3
    assert mix.predict([1.0, 3.0]) == other.predict([1.0, 3.0])
    assert np.isinf(forecast_loss("percentage").values(1.0, 0.0))


@pytest.mark.interpreted
@pytest.mark.parametrize("gradient", [True, False])
def test_sure_and_wrong_probabilities_have_a_finite_loss(gradient):
    assert forecast_loss("log").values([0.0, 1.0], [1.0, 0.0]) == pytest.approx(-math.log(1e-12), rel=1e-5)
    mix = Mixture(2, learner=LEARNER, loss="log", gradient=gradient)
    for _ in range(8):
        assert 0.0 <= mix.predict([0.0, 1.0]) <= 1.0
        mix.update(1)
    assert mix.weights["expert 1"] > 0.9
    mix.predict([0.0, 0.0])
    mix.update(True)
    assert mix.counts["learned"] == 9


@pytest.mark.interpreted
def test_weights_of_the_awake_that_vanished_are_shared_equally():
    """After a long time the weights of all but one are 0, and that one sleeps."""
    mix = Mixture(3, learner=OptimisticHedge(learning_rate=1000.0), gradient=False, hint="none")
    for _ in range(3):
        mix.predict([0.0, 1.0, 1.0])
        mix.update(0.0)
    assert mix.predict([NAN, 2.0, 4.0]) == 3.0
    assert [*mix.weights.values()] == [0.0, 0.5, 0.5]


@pytest.mark.interpreted
@pytest.mark.parametrize(
    ("loss", "extras", "forecasts", "truth"),
    [
        ("square", ["shifted"], [1e100, 1e100], -1e100),
        ("square", ["scaled"], [1e-300, 1e-300], 1e100),
        ("percentage", [], [1e100, -1e100], 5e-208),  # 16 times the range is above the largest float
    ],
)
def test_the_largest_numbers_stay_finite_and_can_be_saved(loss, extras, forecasts, truth, tmp_path):
    mix = Mixture(2, learner=LEARNER, loss=loss, extras=extras)
    for _ in range(3):
        mix.predict(forecasts)
        mix.update(truth)
    for values in ([1.0, 1.0], [0.0, 0.0], [1e100, 1e100]):
        assert np.isfinite(mix.predict(values))
        one = mix._singles[0].latest
        assert (np.abs(one.inputs[~np.isnan(one.inputs)]) <= 1e100).all()
        assert sum(mix.weights.values()) == pytest.approx(1.0, abs=1e-9)
    mix.save(tmp_path / "mixture")
    assert snapshot(Mixture.load(tmp_path / "mixture")) == snapshot(mix)


# Experts that join and leave


@pytest.mark.interpreted
@pytest.mark.parametrize("learner", [LEARNER, TRACKER], ids=str)
@pytest.mark.parametrize("extras", [(), ("last-truth", "shifted")])
def test_an_expert_that_joins_counts_as_one_that_slept(learner, extras):
    forecasts, truths = stream("square", 24, 3, "some")
    forecasts[:12, 2] = np.nan
    mix, whole = (
        Mixture(["a", "b"], learner=learner, extras=extras),
        Mixture(["a", "b", "c"], learner=learner, extras=extras),
    )
    for t, (row, truth) in enumerate(zip(forecasts, truths, strict=True)):
        if t == 12:
            mix.predict(row[:2], key="late")
            mix.join("c")
            whole.predict([*row[:2], NAN], key="late")
            assert mix.weights["c"] == 0.0
        found = [one.predict(row[: len(one.experts)]) for one in (mix, whole)]
        assert t < 12 or found[0] == found[1]
        for one in (mix, whole):
            one.update(truth)
    assert mix.weights == whole.weights
    assert mix.counts == whole.counts


@pytest.mark.interpreted
@pytest.mark.parametrize("learner", [LEARNER, TRACKER], ids=str)
def test_the_waiting_round_has_its_hint_after_another_expert_joined(learner):
    """The learner plays the kept rounds again, which ends with a truth: the hint must be given again."""
    forecasts, truths = stream("square", 12, 3)
    mix, reference = Mixture(["a", "b"], learner=learner), reference_of(MixtureOptions(learner=learner), 3)
    for row, truth in zip(forecasts[:8, :2], truths, strict=False):
        mix.predict(row)
        mix.update(truth)
        reference.update(reference.predict([*row.tolist(), None]), truth)
    mix.predict(forecasts[8, :2])
    mix.join("c")
    waits = mix._singles[0].waiting[None]  # with the weights of two experts
    assert waits.kept.tolist() != [0.0, 0.0, 0.0]
    one = Round([*forecasts[8, :2].tolist(), None], waits.shares.tolist(), waits.forecast, waits.kept.tolist())
    mix.update(truths[8])
    reference.update(one, truths[8])
    assert mix.predict(forecasts[9]) == pytest.approx(reference.predict(forecasts[9].tolist()).forecast, rel=1e-9)


@pytest.mark.interpreted
def test_an_expert_that_left_sleeps_until_it_joins_again():
    mix, sleeping = played(6), played(6)
    mix.leave("b")
    assert mix.predict([1.0, NAN, 3.0]) == mix.predict({"a": 1.0, "c": 3.0}) == sleeping.predict([1.0, NAN, 3.0])
    assert list(mix.weights) == ["a", "c"]
    with pytest.raises(InvalidInput, match="'b' left; call `join` before it forecasts again"):
        mix.predict([1.0, 2.0, 3.0])
    for name in ("b", "d", ["a"], None, np.array(["a", "b"]), np.ones(1000)):
        with pytest.raises(UnknownName) as error:
            mix.leave(name)
        assert "\n" not in str(error.value)
    mix.join("b")
    assert mix.predict([1.0, 2.0, 3.0]) == sleeping.predict([1.0, 2.0, 3.0])
    for name in ("a", "", ["d"], None):
        with pytest.raises(InvalidInput):
            mix.join(name)


# Copies and files


@pytest.mark.interpreted
@pytest.mark.parametrize("way", ["file", "pickle", "deepcopy"])
@pytest.mark.parametrize("learner", [LEARNER, TRACKER, SleepingOptimisticAdaptMLProd()], ids=str)
def test_a_copy_continues_bit_for_bit(learner, way, tmp_path):
    for n_rounds, missing in ((0, "none"), (7, "truths"), (30, "blocks")):
        mix = played(n_rounds, learner, missing, extras=["last-truth", "scaled"], history=20)
        mix.leave("c")
        mix.save(tmp_path / "mixture")
        other = {
            "file": lambda: Mixture.load(tmp_path / "mixture"),
            "pickle": lambda: pickle.loads(pickle.dumps(mix)),
            "deepcopy": lambda: copy.deepcopy(mix),
        }[way]()
        assert snapshot(other) == snapshot(mix)
        assert (other.options, other.waiting, repr(other)) == (mix.options, mix.waiting, repr(mix))
        for one in (mix, other):
            one.join("c")
        assert continued(other) == continued(mix)
        assert other.weights == mix.weights


@pytest.mark.interpreted
def test_a_copy_has_the_weights_of_the_latest_round_also_if_its_truth_arrived(tmp_path):
    mix = played(5)
    mix.update(0.5, key="later")
    mix.save(tmp_path / "mixture")
    assert Mixture.load(tmp_path / "mixture").weights == mix.weights
    assert len({*mix.weights.values()}) > 1
    assert Mixture.load(tmp_path / "mixture").waiting == ("late",)


def test_more_keys_than_a_header_can_hold_are_saved(tmp_path):
    mix = Mixture(1, learner=LEARNER)
    for t in range(1200):
        mix.predict([1.0], key="k" * 1000 + str(t))
        mix.update(1.0, key="k" * 1000 + str(t))
    mix.save(tmp_path / "mixture")
    other = Mixture.load(tmp_path / "mixture")
    with pytest.raises(InvalidInput, match="was given already"):
        other.predict([1.0], key="k" * 1000 + "7")


# Losses of the user


def cube(forecast, truth):
    return abs(forecast - truth) ** 3


def cube_slope(forecast, truth):
    return 3.0 * (forecast - truth) * abs(forecast - truth)


CUBE = ForecastLoss("cube", cube, cube_slope)


@pytest.mark.interpreted
@pytest.mark.parametrize("gradient", [True, False])
def test_a_loss_of_the_user_is_used(gradient):
    forecasts, truths = stream("square", 25, 3, "some")
    options = MixtureOptions(CUBE, LEARNER, gradient)
    reference, stack = reference_of(options, 3, (cube, cube_slope)), MixtureStack(options, 3)
    expected = [one.shares for one in reference.run(forecasts, truths)]
    np.testing.assert_allclose(stack.run(forecasts, truths).weights, expected, rtol=0, atol=1e-9)
    assert cube.__qualname__ == "cube"


@pytest.mark.interpreted
def test_a_loss_of_the_user_can_be_pickled_but_not_saved(tmp_path):
    mix = played(5, loss=CUBE)
    CUBE.values(1.0, 2.0)
    assert continued(pickle.loads(pickle.dumps(mix))) == continued(mix)
    with pytest.raises(InvalidInput, match="'cube' is a function of your own, which cannot be written to a file"):
        mix.save(tmp_path / "mixture")


def times(factor):
    def value(forecast, truth):
        return factor * abs(forecast - truth)

    def slope(forecast, truth, by=factor):
        return by if forecast > truth else -by

    return ForecastLoss("times", value, slope)


@pytest.mark.interpreted
def test_losses_that_differ_in_an_enclosed_value_or_a_default_are_different():
    """Their code and names are equal, and only these values differ."""
    for factor in (1.0, 2.0, 5.0):
        assert times(factor).values(1.0, 3.0) == 2.0 * factor
        assert times(factor).slopes(4.0, 3.0) == factor
    found = []
    for factor in (1.0, 50.0):
        mix = Mixture(2, learner=LEARNER, loss=times(factor), gradient=False, scale=100.0, hint="none")
        mix.predict([0.0, 1.0])
        mix.update(0.0)
        found.append(mix.predict([0.0, 1.0]))
    assert found[1] < found[0] < 0.5


@pytest.mark.interpreted
def test_a_loss_of_the_user_that_is_not_finite_skips_the_round():
    def slope(forecast, truth):
        return math.inf if truth > 5.0 else 1.0

    mix = Mixture(2, learner=LEARNER, loss=ForecastLoss("sometimes-infinite", cube, slope))
    for truth in (1.0, 6.0, 2.0):
        mix.predict([0.0, 1.0])
        mix.update(truth)
    assert (mix.counts["learned"], mix.counts["not finite"]) == (2, 1)


# Reports, and what cannot be


def test_the_last_truth_is_no_comparator_where_it_was_not_known(tmp_path):
    prompt, late = Mixture(2, learner=FixedShare()), Mixture(2, learner=FixedShare())
    for t in range(6):
        prompt.predict([1.0 + t, 2.0])
        prompt.update(float(t))
        late.predict([1.0 + t, 2.0], key=t)
        if t:
            late.update(float(t), key=t - 1)
    late.save(tmp_path / "late.npz")
    names = [
        [one.name for one in mix.report().comparators] for mix in (prompt, late, Mixture.load(tmp_path / "late.npz"))
    ]
    assert "last truth repeated" in names[0]
    assert names[1] == names[2] == names[0][:-1]


@pytest.mark.skipif(bool(numba.config.DISABLE_JIT), reason="nothing is compiled")
def test_a_loss_that_cannot_be_compiled_is_named():
    broken = ForecastLoss(
        "mine", lambda forecast, truth: vars(forecast - truth), lambda forecast, truth: forecast - truth
    )
    with pytest.raises(KernelError, match=r"ForecastLoss 'mine': .* cannot be compiled .*Untyped global name 'vars'"):
        Mixture(2, loss=broken)


def test_nobody_joins_if_no_round_is_kept():
    mix = Mixture(["a", "b"], learner=FixedShare(), history=0)
    mix.join("c")  # before the first round nothing is lost
    mix.predict([1.0, 2.0, 3.0])
    mix.update(1.0)
    before = mix.weights
    with pytest.raises(InvalidInput, match="with history=0 no round is kept"):
        mix.join("d")
    assert mix.weights == before
