"""Live mixtures: keys, experts that join and leave, refused inputs, missing values, files, losses of the user."""

import copy
import io
import json
import math
import pickle
import zipfile

import numba
import numpy as np
import pandas as pd
import pytest

import fuzz_sessions
from driftwise.core.errors import BadFile, InvalidInput, KernelError, UnknownName
from driftwise.forecasting import (
    ForecastLoss,
    Mixture,
    MixtureOptions,
    MixtureStack,
    QuantileMixture,
    StepMixture,
    forecast_loss,
)
from driftwise.learners import Exp3, FixedShare, OptimisticHedge, SleepingOptimisticAdaptMLProd, Tracker
from forecast_streams import bits, stream
from mixture_states import snapshot
from mutating import mutations
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
        (None, "no forecast is without a key; waiting: 'late', 'later'"),
        ("unknown", "no forecast has the key 'unknown'; waiting: 'late', 'later'"),
        (3, "the truth of round 3 was given already; it cannot be revised"),
        ([1], r"no forecast has the key \[1\]"),
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
    ({"loss": None}, "`loss` must be one of"),
    ({"loss": "pinball"}, "pinball needs the probability"),
    ({"loss": "pinball:1"}, r"`level` must be in \(0, 1\)"),
    ({"loss": "pinball:x"}, "must be a number in"),
    ({"loss": "square:2"}, "only pinball has a level"),
    ({"learner": FixedShare}, r"Write FixedShare\(\)"),
    ({"learner": "hedge"}, r"such as FixedShare\(\), not its name"),
    ({"learner": Exp3()}, "a learner with full feedback"),
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
    with pytest.raises(InvalidInput, match="`n_steps` must be small enough for the memory of this machine"):
        StepMixture(2**40)
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
        one = mix._waiting.latest
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
    waits = mix._waiting.rounds[None]  # with the weights of two experts
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
    assert mix.weights["b"] == 0.0
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


def expect_refused_or_valid(file):
    """Load a file; it is refused in one line, or the mixture continues with finite forecasts."""
    mix, message = None, ""
    try:
        mix = Mixture.load(file)
    except BadFile as error:
        message = str(error)
    assert "\n" not in message
    if mix is None:
        return "refused"
    for key in mix.waiting[:3]:
        mix.update(1.0, key=key)
    for t in range(4):
        given = {name: float(t + k) for k, name in enumerate(mix.experts) if name not in mix._absent}
        if given:
            assert np.isfinite(mix.predict({name: x / 100 for name, x in given.items()}, key=f"new {t}"))
            assert sum(mix.weights.values()) == pytest.approx(1.0, abs=1e-5)
            mix.update(float(t % 2), key=f"new {t}")
    return "played"


@pytest.mark.interpreted
def test_damaged_files_are_refused_or_valid(tmp_path):
    file = tmp_path / "mixture"
    played(9, extras=["last-truth", "shifted"]).save(file)
    content, found = file.read_bytes(), set()
    for damaged in mutations(content, 30 if numba.config.DISABLE_JIT else 300, seed=4):
        file.write_bytes(damaged)
        found.add(expect_refused_or_valid(file))
    assert "refused" in found
    for length in range(0, len(content), 997):
        file.write_bytes(content[:length])
        assert expect_refused_or_valid(file) == "refused"


def entries(file):
    with np.load(file) as archive:
        return {name: archive[name] for name in archive.files}


def rewrite(file, arrays):
    with file.open("wb") as stream:
        np.savez(stream, **arrays)


@pytest.mark.interpreted
@pytest.mark.parametrize("learner", [LEARNER, TRACKER], ids=str)
def test_files_with_other_numbers_are_refused_or_valid(learner, tmp_path):
    file, rng, counts = tmp_path / "mixture", np.random.default_rng(3), {"refused": 0, "played": 0}
    played(9, learner, extras=["last-truth", "scaled"]).save(file)
    original = entries(file)
    for _ in range(40 if numba.config.DISABLE_JIT else 400):
        arrays = {name: array.copy() for name, array in original.items()}
        header = arrays.pop("driftwise_mixture")
        if rng.random() < 0.2:
            fuzz_sessions.mutate_shape(rng, arrays)
        else:
            fuzz_sessions.mutate_numbers(rng, arrays, 9)
        rewrite(file, {**arrays, "driftwise_mixture": header})
        counts[expect_refused_or_valid(file)] += 1
    assert min(counts.values()) > 3, counts


NO_ARRAY = object()
BAD_ARRAYS = {
    "mixture_plain": [np.full((1, 3), NAN), np.ones((1, 3)), np.ones((1, 4)) / 4, np.array(1.0), NO_ARRAY],
    "mixture_scale": [np.array([[-1.0, 1.0]]), np.array([[math.inf, 1.0]]), np.zeros((2, 2)), np.array(0.0)],
    "mixture_truth": [np.array([[math.inf]]), np.array([[1e101]])],
    "mixture_counts": [np.full((1, 5), -1), np.full((1, 5), 2**60), np.zeros((1, 5))],
    "learner_weights": [np.full((1, 3), NAN), np.ones((1, 3)), np.ones((2, 3)) / 3, np.ones(3) / 3, NO_ARRAY],
    "history_truths": [np.zeros(8), np.array(1.0), np.full(9, math.inf), np.zeros(99), NO_ARRAY],
    "history_weights": [np.full((9, 3), NAN), np.full((9, 3), -0.5)],
    "waiting_shares": [np.full((2, 3), 1.5), np.zeros((3, 3)), np.zeros((2, 2))],
    "waiting_forecast": [np.array([NAN, 1.0]), np.zeros(1)],
    "keys": [
        np.frombuffer(text.encode(), np.uint8)
        for text in (
            "",
            "{}",
            "[" * 100_000,
            '{"rounds": [], "finished": []}',
            '{"rounds": ["a", "a"], "finished": []}',
            '{"rounds": [NaN, 1], "finished": []}',
            '{"rounds": [[1], 2], "finished": []}',
            '{"rounds": "ab", "finished": []}',
            '{"rounds": [["date", "2026-13-01"], 2], "finished": []}',
            '{"rounds": [["date", "2026-11-17"], ["date", "2026-11-17"]], "finished": []}',
            '{"rounds": [["tuple", ["tuple", 1]], 2], "finished": []}',
            '{"rounds": ["late", "later"], "finished": [1' + "0" * 5000 + "]}",
        )
    ]
    + [np.zeros(3), NO_ARRAY],
}


@pytest.mark.interpreted
@pytest.mark.parametrize("name", BAD_ARRAYS)
def test_files_with_bad_arrays_are_refused(name, tmp_path):
    file = tmp_path / "mixture"
    played(9).save(file)
    original = entries(file)
    for bad in BAD_ARRAYS[name]:
        arrays = {**original, name: bad}
        rewrite(file, {key: array for key, array in arrays.items() if array is not NO_ARRAY})
        assert expect_refused_or_valid(file) == "refused", bad


BAD_HEADERS = [
    {"format": 3},
    {"format": None},
    {"unknown": 1},
    {"experts": ["a", "b"]},
    {"experts": ["a", "a", "b"]},
    {"experts": ["a", "b", 3]},
    {"experts": ["a", "b", ""]},
    {"experts": "abc"},
    {"absent": ["d"]},
    {"absent": [None]},
    {"history": -1},
    {"history": 3},
    {"history": True},
    {"rounds": 2},
    {"rounds": 2**60},
    {"latest": 3},
    {"latest": -2},
    {"latest": 2},
    {"options": []},
    {"options": {}},
]
BAD_SPECS = [
    {"loss": "cube"},
    {"loss": 1},
    {"loss": ["square"]},
    {"learner": {"name": "exp3"}},
    {"learner": {"name": "os.system"}},
    {"learner": {"name": "optimistic-hedge", "learning_rate": -1.0}},
    {"learner": {"name": "optimistic-hedge", "colour": 1}},
    {"learner": {"name": "tracker"}},
    {"learner": "__import__('os')"},
    {"learner": None},
    {"learner": []},
    {"gradient": "yes"},
    {"hint": "x"},
    {"hint": []},
    {"extras": [[]]},
    {"extras": ["last-truth"]},
    {"extras": "last-truth"},
    {"extras": None},
    {"scale": -1},
    {"scale": "1"},
    {"more": 1},
]


@pytest.mark.interpreted
@pytest.mark.parametrize("change", [*BAD_HEADERS, *({"options": spec} for spec in BAD_SPECS)], ids=str)
def test_files_with_bad_headers_are_refused(change, tmp_path):
    file = tmp_path / "mixture"
    played(9).save(file)
    arrays = entries(file)
    header = json.loads(str(arrays.pop("driftwise_mixture")))
    if isinstance(change.get("options"), dict) and change["options"]:
        change = {"options": {**header["options"], **change["options"]}}
    rewrite(file, {"driftwise_mixture": np.array(json.dumps({**header, **change})), **arrays})
    assert expect_refused_or_valid(file) == "refused"


def test_other_files_are_refused(tmp_path):
    file = tmp_path / "mixture"
    with pytest.raises(BadFile):
        Mixture.load(file)
    for content in (b"", b"PK\x03\x04", pickle.dumps(played(2)), b"\x93NUMPY"):
        file.write_bytes(content)
        assert expect_refused_or_valid(file) == "refused"
    archive = io.BytesIO()
    with zipfile.ZipFile(archive, "w") as entry:
        entry.writestr("driftwise_mixture.npy", b"x")
    file.write_bytes(archive.getvalue())
    assert expect_refused_or_valid(file) == "refused"


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


# Quantiles, and several steps ahead


@pytest.mark.interpreted
def test_quantiles_are_those_of_separate_mixtures_sorted():
    rng, levels = np.random.default_rng(2), [0.1, 0.5, 0.9]
    mix = QuantileMixture(levels, 3, learner=LEARNER)
    alone = [Mixture(3, learner=LEARNER, loss=ForecastLoss("pinball", level=level)) for level in levels]
    crossed = 0
    for _ in range(12 if numba.config.DISABLE_JIT else 80):
        truth = rng.normal()
        table = truth + rng.normal(0.0, 1.0, (3, 3))
        table[rng.random((3, 3)) < 0.1] = np.nan
        if np.isnan(table).all(axis=0).any():
            table[0] = truth
        expected = [one.predict(column) for one, column in zip(alone, table.T, strict=True)]
        crossed += expected != sorted(expected)
        assert mix.predict(table).tolist() == sorted(expected)
        mix.update(truth)
        for one in alone:
            one.update(truth)
    assert crossed > 2


@pytest.mark.interpreted
@pytest.mark.parametrize(
    "make", [lambda: QuantileMixture([0.1, 0.9], 2, learner=LEARNER), lambda: StepMixture(2, 2, learner=LEARNER)]
)
def test_a_refused_table_changes_no_mixture(make):
    mix = make()
    for bad in (
        [[1.0, NAN], [2.0, NAN]],
        [[1.0, 2.0]],
        [[1.0, 2.0], [3.0, math.inf]],
        {"expert 0": [1.0, "x"]},
        [1.0, 2.0],
    ):
        with pytest.raises(InvalidInput):
            mix.predict(bad)
        assert [one.waiting for one in mix.mixtures] == [(), ()]
        with pytest.raises(InvalidInput, match="call `predict` before `update`"):
            mix.update(1.0)
    first = type(mix)(*([[0.1, 0.9]] if isinstance(mix, QuantileMixture) else [2]), learner=LEARNER)
    with pytest.raises(InvalidInput):
        first.predict({"a": [1.0, "x"]})
    assert [one.experts for one in first.mixtures] == [(), ()]


@pytest.mark.interpreted
def test_values_of_an_expert_are_read_by_position():
    dates = pd.date_range("2026-11-17", periods=2)
    series = {"a": pd.Series([1.0, 5.0], dates), "b": pd.Series([3.0, 7.0], [1, 0])}
    for mix in (QuantileMixture([0.1, 0.9], learner=LEARNER), StepMixture(2, learner=LEARNER)):
        assert mix.predict(series).tolist() == [2.0, 6.0]
        for bad in ({0.1: 1.0, 0.9: 2.0}, {1.0, 2.0}, np.array(1.0), pd.DataFrame({"x": [1.0, 2.0]})):
            with pytest.raises(InvalidInput, match=r"`forecasts\['a'\]` must be a list or an array of 2 values, got"):
                mix.predict({"a": bad, "b": [1.0, 2.0]})
        with pytest.raises(
            InvalidInput, match=r"or a dict from the name of each expert to its values, got a DataFrame"
        ):
            mix.predict(pd.DataFrame({"a": [1.0, 5.0], "b": [3.0, 7.0]}))


def test_bad_quantiles_are_refused():
    for bad in ([], [0.9, 0.1], [0.5, 0.5], [0.0, 0.5], 0.5, ["a"], np.array(0.5)):
        with pytest.raises(InvalidInput, match="`quantiles` must be"):
            QuantileMixture(bad)


@pytest.mark.interpreted
@pytest.mark.parametrize("learner", [LEARNER, TRACKER], ids=str)
def test_steps_ahead_are_those_of_separate_mixtures(learner):
    n_steps, n_rounds = 3, 15
    rng = np.random.default_rng(4)
    truths = np.cumsum(rng.normal(size=n_rounds + n_steps))
    truths[7] = np.nan
    tables = rng.normal(size=(n_rounds, 2, n_steps))
    mix, found = StepMixture(n_steps, 2, learner=learner), []
    for t in range(n_rounds):
        found.append(mix.predict(tables[t]))
        mix.update(truths[t])
    for ahead in range(1, n_steps + 1):  # the forecast at time t for this many steps ahead has the truth t + ahead - 1
        reference, rounds = reference_of(MixtureOptions(learner=learner), 2), []
        for t in range(n_rounds):
            rounds.append(reference.predict(tables[t, :, ahead - 1].tolist()))
            assert found[t][ahead - 1] == pytest.approx(rounds[t].forecast, rel=1e-9)
            if t >= ahead - 1:
                truth = float(truths[t])
                reference.update(rounds[t - ahead + 1], None if math.isnan(truth) else truth)
        assert mix.mixtures[ahead - 1].counts == reference.counts
    with pytest.raises(InvalidInput, match="call `predict` before `update`"):
        mix.update(1.0)


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
