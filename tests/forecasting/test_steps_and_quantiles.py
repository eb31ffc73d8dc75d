"""Mixtures with steps, quantiles or both: each step and each level is a mixture of its own."""

import copy
import math
import pickle
from datetime import UTC, datetime, timedelta

import numba
import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

import driftwise
from driftwise.core.errors import InvalidInput
from driftwise.forecasting import ForecastLoss, Mixture
from driftwise.learners import OptimisticHedge, SleepingOptimisticAdaptMLProd, Tracker
from forecast_streams import bits
from mixture_states import snapshot
from separate_mixtures import SeparateMixtures, as_given, drawn_table

LEARNER = OptimisticHedge()
NAN = float("nan")
NAMES = ("a", "b", "c")
KINDS = {
    "plain": {},
    "steps": {"steps": 3},
    "quantiles": {"quantiles": [0.1, 0.5, 0.9]},
    "both": {"steps": 3, "quantiles": [0.2, 0.8]},
}
LEARNERS = [None, LEARNER, Tracker(both_guesses=True), SleepingOptimisticAdaptMLProd()]


def table_of(kind, m=3):
    """Return forecasts of three experts for a mixture of a kind."""
    shape = {"plain": (3,), "steps": (m, 3), "quantiles": (3, 3), "both": (m, 3, 2)}[kind]
    return np.arange(math.prod(shape), dtype=float).reshape(shape) % 5


def played(kind, n_rounds=12, learner=LEARNER, **options):
    """Return a mixture after some rounds, of which the last ones wait; times are whole numbers."""
    mix, rng = Mixture(NAMES, learner=learner, **KINDS[kind], **options), np.random.default_rng(1)
    for t in range(n_rounds):
        table = table_of(kind) + rng.normal(size=table_of(kind).shape)
        mix.predict(table, key=t if mix.steps is None else [t, t + 1, t + 2])
        if t > 2:
            mix.update(float(rng.normal()), key=t - 2)
    return mix


# Against separate mixtures


@pytest.mark.interpreted
@pytest.mark.parametrize("learner", LEARNERS, ids=str)
@pytest.mark.parametrize("counted", [False, True], ids=["keys", "counted"])
@pytest.mark.parametrize("kind", KINDS)
def test_each_step_and_level_is_that_of_a_mixture_of_its_own(kind, counted, learner):
    """In any order of forecasts and truths: so a forecast uses the truths given before it, and each is learned once."""
    rng, options = np.random.default_rng([len(kind), counted]), KINDS[kind]
    if counted and "steps" not in options:
        pytest.skip("without steps a round without a key is one at a time")
    mix, separate = Mixture(NAMES, learner=learner, **options), SeparateMixtures(NAMES, learner=learner, **options)
    shapes = (options.get("steps", 1), len(options.get("quantiles", [0])))
    n_learned, n_issued, finished, now = np.zeros(shapes, int), {}, set(), 0
    for t in range(6 if numba.config.DISABLE_JIT else 40):
        n_steps = int(rng.integers(1, shapes[0] + 1))
        known = np.array([one.has_truth for one in mix._singles]).reshape(shapes)
        table = drawn_table(rng, (n_steps, shapes[1], 3), known)
        times = [(now if counted else t) + i + 1 for i in range(n_steps)]
        if not finished & {*times}:
            given = as_given(table, NAMES, options.get("steps"), options.get("quantiles"), rng)
            key = None if counted else times if "steps" in options else times[0]
            assert bits(mix.predict(given, key=key)) == bits(separate.predict(table, times))
            for i, time in enumerate(times):
                n_issued.setdefault(time, set()).add(i)
        while mix.waiting and rng.random() < 0.6:
            time = now + 1 if counted else int(rng.choice(mix.waiting))
            if time not in mix.waiting:
                break
            truth, now = float(rng.normal()), now + 1
            mix.update(truth) if counted else mix.update(truth, key=time)
            assert separate.update(truth, time) == len(n_issued[time]) * shapes[1]
            n_learned[[*n_issued[time]]] += 1
            finished.add(time)
        assert {name: bits(x) for name, x in mix.weights.items()} == {n: bits(x) for n, x in separate.weights.items()}
    done = [values for name, values in mix.counts.items() if name != "cut" or learner]  # the default learns these too
    assert np.array_equal(np.reshape(sum(done), shapes), n_learned)
    assert mix.rounds == len(finished)


@pytest.mark.interpreted
@pytest.mark.parametrize("kind", KINDS)
def test_an_expert_joins_and_leaves_all_of_them_while_rounds_wait(kind):
    options, table = KINDS[kind], table_of(kind)
    for learner in LEARNERS:
        mix, separate = Mixture(NAMES, learner=learner, **options), SeparateMixtures(NAMES, learner=learner, **options)
        shape = (options.get("steps", 1), len(options.get("quantiles", [0])), 3)
        rows = (table if "quantiles" not in options else np.swapaxes(table, -1, -2)).reshape(shape)
        for t in range(8):
            times = [t, t + 1, t + 2][: shape[0]]
            for one in (mix, *separate.plain) if t == 4 else ():
                one.join("d")
                one.leave("b")
            if t >= 4:
                rows = np.concatenate([rows[:, :, :3], rows[:, :, :1] + 0.5], axis=2)
                rows[:, :, 1] = NAN
            expected = separate.predict(rows, times)
            given = as_given(rows, ("a", "b", "c", "d")[: rows.shape[2]], mix.steps, mix.quantiles, Always())
            assert bits(mix.predict(given, key=times if mix.steps else t)) == bits(expected)
            if t != 3:  # its truth is given after the others joined
                mix.update(1.5 + t, key=t)
                separate.update(1.5 + t, t)
        mix.update(0.5, key=3)
        separate.update(0.5, 3)
        assert {name: bits(x) for name, x in mix.weights.items()} == {n: bits(x) for n, x in separate.weights.items()}
        assert list(mix.weights) == ["a", "c", "d"]


class Always:
    """In place of a generator: arrays are passed."""

    def random(self):
        return 0.0


@pytest.mark.interpreted
@pytest.mark.parametrize("kind", KINDS)
def test_experts_that_left_have_no_weight_at_once_and_the_others_share_it(kind):
    mix = played(kind)
    before = mix.weights
    mix.leave("b")
    assert list(mix.weights) == ["a", "c"]
    for name, weight in mix.weights.items():
        np.testing.assert_allclose(weight, before[name] / (before["a"] + before["c"]), rtol=1e-12)
        assert np.shape(weight) == {"plain": (), "steps": (3,), "quantiles": (3,), "both": (3, 2)}[kind]
    mix.join("b")
    assert bits(*mix.weights.values()) == bits(*before.values())


@pytest.mark.interpreted
def test_if_nothing_is_left_of_the_weight_the_others_have_equal_weights():
    mix = Mixture(["a", "b", "c"])
    mix.predict({"a": 1.0})
    mix.leave("a")
    assert mix.weights == {"b": 0.5, "c": 0.5}
    mix.leave("b")
    mix.leave("c")
    assert mix.weights == {}


# Times of steps


@pytest.mark.interpreted
def test_forecasts_issued_once_a_day_are_followed_by_the_truths_of_its_hours():
    """The second truth was refused before, because no forecast was issued in between."""
    mix = Mixture(steps=24, learner=LEARNER)
    for day in range(2):
        assert mix.predict(np.ones((24, 2)) * [1.0, 2.0]).shape == (24,)
        assert mix.waiting == tuple(range(24 * day + 1, 24 * day + 25))
        for _ in range(24):
            mix.update(1.25)
    assert (mix.rounds, mix.waiting) == (48, ())
    assert mix.counts["learned"].tolist() == [2] * 24
    with pytest.raises(InvalidInput, match=r"call `predict` before `update` for time 49, the next one\.$"):
        mix.update(1.0)


@pytest.mark.interpreted
def test_forecasts_issued_every_hour_for_the_next_hours_learn_each_truth_once():
    mix = Mixture(steps=3, learner=LEARNER)
    with pytest.raises(InvalidInput, match=r"call `predict` before `update`\.$"):
        mix.update(1.0)
    for _ in range(10):
        mix.predict([[1.0, 2.0]] * 3)
        mix.update(1.5)
    assert mix.counts["learned"].tolist() == [10, 9, 8]
    assert mix.waiting == (11, 12)


@pytest.mark.interpreted
def test_fewer_steps_than_the_most_leave_the_others_as_they_are():
    mix = Mixture(steps=3, learner=LEARNER)
    assert mix.predict([[1.0, 2.0]], key=["mon"]).tolist() == [1.5]
    assert mix.predict({"expert 0": [1.0, 2.0]}, key=["mon", "tue"]).tolist() == [1.0, 2.0]
    mix.update({"mon": 1.0, "tue": None})
    assert [mix.counts[name].tolist() for name in ("learned", "no truth")] == [[1, 0, 0], [0, 1, 0]]


@pytest.mark.interpreted
def test_the_same_step_for_the_same_time_replaces_its_forecast_until_the_truth_is_known():
    once, twice = Mixture(steps=2, learner=LEARNER), Mixture(steps=2, learner=LEARNER)
    for mix in (twice, twice, once):
        mix.predict([[1.0, 3.0], [2.0, 4.0]] if mix is once else [[5.0, 3.0], [2.0, 8.0]], key=["a", "b"])
    twice.predict([[1.0, 3.0], [2.0, 4.0]], key=["a", "b"])
    for mix in (once, twice):
        mix.update(1.0, key="a")
        mix.update(3.5, key="b")
    assert once.predict([[1.0, 3.0]], key=["c"]) == twice.predict([[1.0, 3.0]], key=["c"])
    with pytest.raises(InvalidInput, match="the truth of round 'b' was given already"):
        once.predict([[1.0, 3.0], [2.0, 4.0]], key=["d", "b"])


@pytest.mark.interpreted
@pytest.mark.parametrize(
    "way", [list, np.array, pd.Index, pd.Series, pl.Series, pa.array], ids=lambda way: way.__module__
)
def test_times_are_a_list_of_any_kind(way):
    hours = [datetime(2026, 11, 17, h) for h in range(4)]
    mix = Mixture(steps=4, learner=LEARNER)
    mix.predict(np.ones((4, 2)), key=way(hours))
    assert len(mix.waiting) == 4
    mix.update(way([1.0, 2.0]), key=way(hours[:2]))
    mix.update(1.0, key=mix.waiting[-1])
    assert len(mix.waiting) == 1


@pytest.mark.interpreted
def test_times_of_an_index_of_pandas_are_found_one_by_one():
    times = pd.date_range(datetime(2026, 11, 17, tzinfo=UTC), periods=3, freq="h")
    mix = Mixture(steps=3, quantiles=[0.5])
    mix.predict(np.ones((3, 2, 1)), key=times)
    mix.update(1.0, key=times[1])
    mix.update(1.0, key=times[0].to_pydatetime())
    assert mix.waiting == (times[0] + timedelta(hours=2),)


# Forecasts


@pytest.mark.interpreted
def test_a_frame_has_a_row_for_each_step_and_a_column_for_each_expert():
    columns = {"b": [3.0, None, 4.0], "a": [1.0, 2.0, 6.0]}
    for frame in (
        pd.DataFrame(columns, index=[5, 6, 7]),
        pl.DataFrame(columns),
        pa.table(columns),
        pa.RecordBatch.from_pydict(columns),
        pd.DataFrame({"b": pd.array([3, None, 4], "Int64"), "a": ["1", "2", "6"]}).astype({"a": float}),
        np.array([(3.0, 1.0), (NAN, 2.0), (4.0, 6.0)], [("b", float), ("a", float)]),
    ):
        mix = Mixture(["a", "b", "c"], steps=4, learner=LEARNER)
        assert mix.predict(frame).tolist() == [2.0, 2.0, 5.0]
        first = Mixture(steps=3, learner=LEARNER)
        first.predict(frame)
        assert first.experts == ("b", "a")


@pytest.mark.interpreted
def test_values_of_an_expert_are_read_by_position():
    index = pd.date_range("2026-11-17", periods=2)
    for part in (
        pd.Series([1.0, 5.0], index),
        pl.Series([1.0, 5.0]),
        pa.array([1.0, 5.0]),
        (1, np.float32(5.0)),
        np.ma.masked_array([1.0, 5.0], [False, False]),
    ):
        for options in ({"quantiles": [0.1, 0.9]}, {"steps": 2}):
            mix = Mixture(learner=LEARNER, **options)
            assert mix.predict({"a": part, "b": [3.0, 7.0], "c": None}).tolist() == [2.0, 6.0]


BAD_TABLES = {
    "steps": [
        (np.ones((4, 3)), r"must have the shape \(1 to 3 steps, experts\), got \(4, 3\)"),
        (np.ones((0, 3)), "must have the shape"),
        (np.ones((2, 4)), r"must be of 3 experts in the shape \(1 to 3 steps, experts\), got \(2, 4\)"),
        (np.ones(3), "must have the shape"),
        (np.ones((3, 3, 1)), "must have the shape"),
        ([[1.0, 2.0, 3.0], [1.0]], "an array whose rows have the same length"),
        ([[1.0, 2.0, "3"]], r"`forecasts\[0\]\[2\]` must be a number, got '3'"),
        ([[1.0, 2.0, math.inf]], r"`forecasts\[0\]\[2\]` must be a finite number"),
        ([[1.0, 2.0, 1e101]], r"`forecasts\[0\]\[2\]` must be a finite number"),
        ({"a": [1.0, 2.0], "b": [1.0]}, "of the same number of steps for each expert, got \\[1, 2\\]"),
        ({"a": [1.0] * 4}, r"`forecasts\['a'\]` must be a list or an array of 1 to 3 values, one for each step, got 4"),
        ({"a": 1.0}, r"`forecasts\['a'\]` must be a list or an array of 1 to 3 values, one for each step, got 1\.0"),
        ({"a": {1.0, 2.0}}, "must be a list or an array of"),
        ({"a": {0: 1.0}}, "must be a list or an array of"),
        ({"a": [1.0, "x"]}, r"`forecasts\['a'\]\[1\]` must be a number, got 'x'"),
        ({"d": [1.0]}, "must be of the experts 'a', 'b', 'c', got 'd'"),
        ({"a": None, "b": None}, "must be of at least one expert"),
        ({}, "must be of at least one expert"),
        (None, "must be an array of shape"),
        ("abc", "must be an array of shape"),
        (pd.DataFrame({"a": [1.0] * 4}), "1 to 3 values"),
        (pd.DataFrame([[1.0, 2.0]], columns=["a", "a"]), "'a' twice"),
        ([[1.0, 2.0, 3.0], [NAN, None, NAN]], r"no truth yet that could be repeated, for step 2\.$"),
        ({"b": [1.0]}, "'b' left; call `join`"),
    ],
    "quantiles": [
        (np.ones((3, 2)), r"must have the shape \(experts, 3\), got \(3, 2\)"),
        ({"a": [1.0, 2.0]}, "a list or an array of 3 values, one for each quantile, got 2"),
        (pd.DataFrame(np.ones((3, 3))), "or a dict from the name of each expert to its values, got a DataFrame"),
        ([[1.0, 2.0, NAN]] + [[NAN] * 3] * 2, r"repeated, for the quantile 0\.9\.$"),
    ],
    "both": [
        (np.ones((3, 2, 3)), r"must have the shape \(1 to 3 steps, experts, 2\), got \(3, 2, 3\)"),
        ({"a": [[1.0, 2.0], [3.0]]}, "an array whose rows have the same length"),
        ({"a": [1.0, 2.0]}, "1 to 3 rows, one for each step, of 2 quantiles"),
        ({"a": pd.DataFrame(np.ones((3, 2)))}, "1 to 3 rows, one for each step, of 2 quantiles"),
        ({"a": [[1.0, 2.0], [1.0, NAN]]}, r"repeated, for step 2 and the quantile 0\.8\.$"),
    ],
}


@pytest.mark.interpreted
@pytest.mark.parametrize("kind", BAD_TABLES)
def test_refused_forecasts_change_nothing(kind):
    for bad, message in BAD_TABLES[kind]:
        mix = Mixture(NAMES, learner=LEARNER, **KINDS[kind])
        if "left" in message:
            mix.leave("b")
        before = snapshot(mix)
        with pytest.raises(InvalidInput, match=message) as error:
            mix.predict(bad)
        assert "\n" not in str(error.value)
        assert snapshot(mix) == before
        first = Mixture(learner=LEARNER, **KINDS[kind])
        if not any(word in message for word in ("3 experts", "experts 'a'", "left")):
            with pytest.raises(InvalidInput):
                first.predict(bad)
            assert first.experts == ()


@pytest.mark.interpreted
def test_refused_probabilities_of_steps_change_nothing():
    mix = Mixture(steps=2, loss="log", learner=LEARNER)
    with pytest.raises(InvalidInput, match=r"must be in \[0, 1\] for the log loss"):
        mix.predict([[0.5, 0.5], [0.5, 1.5]])
    assert mix.experts == ()


BAD_KEYS = [
    ("mon", "`key` must be a list of 3 keys, one for each step that is forecast, got 'mon'"),
    (("mon", "tue", "wed"), "`key` must be a list of 3 keys"),
    (["mon", "tue"], "`key` must be a list of 3 keys"),
    ({"mon", "tue", "wed"}, "`key` must be a list of 3 keys"),
    (["mon", "tue", "mon"], "a different time for each step, got 'mon' twice"),
    ([31, 32, np.int64(31)], "a different time for each step, got 31 twice"),
    (["mon", "tue", None], "`key` must be a text"),
    (["mon", "tue", NAN], "`key` must be a text"),
    (["mon", "tue", ["wed"]], "`key` must be a text"),
    ([20, 21, 3], "the truth of round 3 was given already"),
    (None, "the times of this mixture have keys since its first forecasts: give `key`"),
]


@pytest.mark.interpreted
@pytest.mark.parametrize("kind", ["steps", "both"])
def test_refused_times_change_nothing(kind):
    mix = played(kind)
    before = snapshot(mix)
    for key, message in BAD_KEYS:
        with pytest.raises(InvalidInput, match=message):
            mix.predict(table_of(kind), key=key)
    assert snapshot(mix) == before
    counted = Mixture(NAMES, learner=LEARNER, **KINDS[kind])
    counted.predict(table_of(kind))
    for call in (lambda: counted.predict(table_of(kind), key=[1, 2, 3]), lambda: counted.update(1.0, key=1)):
        with pytest.raises(InvalidInput, match="are counted since its first forecasts: leave out `key`"):
            call()


# Truths


@pytest.mark.interpreted
@pytest.mark.parametrize("kind", KINDS)
def test_many_truths_at_once_are_those_one_by_one(kind):
    ways = {
        "one by one": lambda mix: [mix.update(y, key=t) for t, y in ((11, 1.0), (10, None))],
        "dict": lambda mix: mix.update({11: 1.0, 10: None}),
        "lists": lambda mix: mix.update([1.0, NAN], key=[11, 10]),
        "arrays": lambda mix: mix.update(np.array([1.0, NAN]), key=np.array([11, 10])),
        "index": lambda mix: mix.update(pd.Series([1.0, None]), key=pd.Index([11, 10])),
    }
    found = []
    for way in ways.values():
        mix = played(kind)
        way(mix)
        found.append(snapshot(mix))
    assert all(one == found[0] for one in found)
    mix = played(kind)
    before = snapshot(mix)
    mix.update({})
    mix.update([], key=[])
    assert snapshot(mix) == before


BAD_TRUTHS = [
    (({11: 1.0, 10: "x"},), "`truth` must be a number, got 'x'"),
    (({11: 1.0, 99: 1.0},), "no forecast with the key 99 waits for its truth; waiting: "),
    (({11: 1.0, 3: 1.0},), "the truth of round 3 was given already; it cannot be revised"),
    (({11: 1.0, np.float64(10): 1e101},), "`truth` must be a finite number"),
    (({11: 1.0}, 11), "`key` must be None where `truth` is a dict by key, got 11"),
    (([1.0, 2.0], [11, np.int64(11)]), "one truth for each key, got 11 twice"),
    (([1.0], [11, 10]), "`truth` must be a list of 2 truths, one for each key"),
    ((1.0, [11, 10]), r"`truth` must be a list of 2 truths, one for each key, got 1\.0"),
    (((1.0, 2.0), [11, 10]), "`truth` must be a list of 2 truths"),
    (([1.0, 2.0], [11, [10]]), r"no forecast with the key \[10\] waits"),
    ((1.0, (11, 10)), r"no forecast with the key \(11, 10\) waits"),
    (([1.0, 2.0],), "`truth` must be a number"),
    ((1.0,), r"no forecast without a key waits|have keys since its first forecasts: give `key`"),
]


@pytest.mark.interpreted
@pytest.mark.parametrize("kind", KINDS)
def test_refused_truths_change_nothing_even_if_others_are_fine(kind):
    mix = played(kind)
    before = snapshot(mix)
    for arguments, message in BAD_TRUTHS:
        with pytest.raises(InvalidInput, match=message) as error:
            mix.update(*arguments)
        assert "\n" not in str(error.value)
        assert snapshot(mix) == before


# Quantiles


@pytest.mark.interpreted
def test_combined_quantiles_do_not_cross():
    rng, levels, crossed = np.random.default_rng(2), [0.1, 0.5, 0.9], 0
    mix = Mixture(3, quantiles=levels, learner=LEARNER)
    alone = [Mixture(3, learner=LEARNER, loss=ForecastLoss("pinball", level=level)) for level in levels]
    for _ in range(12 if numba.config.DISABLE_JIT else 80):
        truth = rng.normal()
        table = truth + rng.normal(0.0, 1.0, (3, 3))
        expected = [one.predict(column) for one, column in zip(alone, table.T, strict=True)]
        crossed += expected != sorted(expected)
        assert mix.predict(table).tolist() == sorted(expected)
        for one in (mix, *alone):
            one.update(truth)
    assert crossed > 2
    summaries = mix.report().summaries
    assert [row.level for row in summaries] == levels


@pytest.mark.interpreted
def test_a_single_level_is_a_mixture_under_its_pinball_loss():
    mix, plain = Mixture(2, quantiles=[0.8]), Mixture(2, loss="pinball:0.8")
    for truth in (1.0, 2.0, 1.5, 0.5):
        assert mix.predict([[1.0], [2.0]]).tolist() == [plain.predict([1.0, 2.0])]
        mix.update(truth)
        plain.update(truth)
    assert {name: weight.tolist() for name, weight in mix.weights.items()} == {n: [w] for n, w in plain.weights.items()}


# Copies and files


@pytest.mark.interpreted
@pytest.mark.parametrize("way", ["file", "pickle", "deepcopy", "copy"])
@pytest.mark.parametrize("learner", LEARNERS, ids=str)
@pytest.mark.parametrize("kind", KINDS)
def test_a_copy_continues_bit_for_bit(kind, learner, way, tmp_path):
    mix = played(kind, learner=learner, extras=["last-truth"], history=5)
    mix.leave("c")
    mix.save(tmp_path / "mixture")
    other = {
        "file": lambda: Mixture.load(tmp_path / "mixture"),
        "pickle": lambda: pickle.loads(pickle.dumps(mix)),
        "deepcopy": lambda: copy.deepcopy(mix),
        "copy": lambda: copy.copy(mix),
    }[way]()
    assert snapshot(other) == snapshot(mix)
    assert (other.waiting, other.n_bytes, other.quantiles) == (mix.waiting, mix.n_bytes, mix.quantiles)
    found = []
    for one in (mix, other):
        one.join("c")
        one.join("d")
        one.update(dict.fromkeys(one.waiting[1:], 1.5))
        one.update(2.0, key=one.waiting[0])
        found.append(
            bits(one.predict({"a": table_of(kind).take(0, axis=axis_of(kind)), "d": None}, key=times_of(kind)))
        )
    assert found[0] == found[1]
    assert snapshot(other) == snapshot(mix)
    assert str(other.report().record()) == str(mix.report().record())


def axis_of(kind):
    return {"plain": 0, "steps": 1, "quantiles": 0, "both": 1}[kind]


def times_of(kind):
    return ["x", "y", "z"] if kind in ("steps", "both") else "x"


def test_counted_times_continue_after_loading(tmp_path):
    mix = Mixture(steps=2)
    for _ in range(3):
        mix.predict([[1.0, 2.0]] * 2)
        mix.update(1.5)
    mix.save(tmp_path / "mixture")
    other = Mixture.load(tmp_path / "mixture")
    for one in (mix, other):
        one.update(2.0)
        one.predict([[1.0, 2.0]] * 2)
    assert snapshot(other) == snapshot(mix)
    assert other.waiting == (5, 6)


def test_a_day_of_steps_with_nine_quantiles_is_saved(tmp_path):
    """More arrays than a file may have entries."""
    levels = np.arange(1, 10) / 10
    mix = Mixture(2, steps=24, quantiles=levels, learner=SleepingOptimisticAdaptMLProd())
    mix.predict(np.ones((24, 2, 9)))
    mix.update(1.0)
    mix.save(tmp_path / "mixture")
    assert snapshot(Mixture.load(tmp_path / "mixture")) == snapshot(mix)


# Reports, and names of before


def test_the_series_of_a_report_are_the_steps():
    report = played("steps").report()
    assert report.series_names == ("step 1", "step 2", "step 3")
    assert report.series.n_rounds.tolist() == [9, 9, 8]  # no forecast of the third step is for time 1
    assert "last truth repeated" not in [row.name for row in report.comparators]
    assert "step 3" in report.text()
    daily = Mixture(steps=2, learner=LEARNER)
    for _ in range(4):
        daily.predict([[1.0, 2.0]] * 2)
        daily.update(1.0)
        daily.update(1.5)
    assert daily.report().comparators[-1].name == "last truth repeated"
    only_first = Mixture(steps=3)
    only_first.predict([[1.0, 2.0]])
    only_first.update(1.0)
    assert only_first.report().series.n_rounds.tolist() == [1, 0, 0]


@pytest.mark.parametrize("name", ["StepMixture", "QuantileMixture"])
def test_the_classes_of_before_say_what_to_write(name):
    for package in ("driftwise", "driftwise.forecasting"):
        with pytest.raises(ImportError, match=rf"{name} is a part of Mixture now: write Mixture\((steps|quantiles)="):
            exec(f"from {package} import {name}", {})
    with pytest.raises(AttributeError, match="attribute Unknown"):
        driftwise.Unknown  # noqa: B018
    with pytest.raises(AttributeError, match="no attribute 'Unknown'"):
        driftwise.forecasting.Unknown  # noqa: B018


@pytest.mark.interpreted
def test_names_of_learners_and_losses_are_those_of_the_classes():
    named = Mixture(2, learner="fixed-share", loss="mae")
    assert repr(named).startswith("Mixture(['expert 0', 'expert 1'], loss='absolute', learner=FixedShare(")
    assert Mixture(learner="combinations", loss="mse").options.spec == Mixture().options.spec
    assert repr(Mixture(2, steps=3, quantiles=[0.1, 0.9], learner="ada-hedge")) == (
        "Mixture(['expert 0', 'expert 1'], steps=3, quantiles=[0.1, 0.9], learner=AdaHedge(), rounds=0)"
    )
