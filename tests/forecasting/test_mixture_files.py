"""Files of mixtures: what is damaged, mutated or invented is refused, or it is a mixture that can be played."""

import io
import math
import pickle
import zipfile

import numba
import numpy as np
import pytest

import fuzz_sessions
from driftwise.core.errors import BadFile
from driftwise.forecasting import Mixture
from driftwise.learners import OptimisticHedge, SleepingOptimisticAdaptMLProd, Tracker
from forecast_streams import stream
from mixture_states import opened_file, write_parts
from mutating import mutations

LEARNER = OptimisticHedge()
NAN = float("nan")


def played(n_rounds=9, learner=LEARNER, **options):
    """Return a mixture of three experts after some rounds, with two rounds waiting."""
    mix = Mixture(["a", "b", "c"], learner=learner, **options)
    forecasts, truths = stream(mix.options.forecast_loss.name, n_rounds, 3, "some")
    shape = [n for n in (mix.steps, 3, mix.quantiles and len(mix.quantiles)) if n]

    def predict(values, key):
        table = np.asarray(values)[:, None] if mix.quantiles else np.asarray(values)
        times = key if mix.steps is None else [(key, i) for i in range(mix.steps)]
        mix.predict(np.broadcast_to(table, shape), key=times)

    for t, (row, truth) in enumerate(zip(forecasts, truths, strict=True)):
        predict(row, t)
        mix.update({t: truth} if mix.steps is None else {(t, i): truth for i in range(mix.steps)})
    predict([0.5, 0.25, 0.75], "late")
    predict([0.75, 0.5, 0.25], "later")
    return mix


MADE = {
    "plain": lambda: played(extras=["last-truth", "scaled"]),
    "hints": lambda: played(learner=Tracker(both_guesses=True), extras=["last-truth", "scaled"]),
    "default": lambda: played(learner=None),
    "steps": lambda: played(steps=2, learner=None),
    "quantiles": lambda: played(quantiles=[0.1, 0.9], learner=SleepingOptimisticAdaptMLProd()),
    "both": lambda: played(steps=2, quantiles=[0.1, 0.9]),
}


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
    mix.update(dict.fromkeys(mix.waiting[:3], 1.0))
    shape = [n for n in (mix.steps, mix.quantiles and len(mix.quantiles)) if n]
    for t in range(4):
        given = {name: (t + k) / 100 for k, name in enumerate(mix.experts) if name not in mix._absent}
        if given:
            if shape:
                given = {name: np.full(shape, x) for name, x in given.items()}
            times = f"new {t}" if mix.steps is None else [f"new {t}, {i}" for i in range(mix.steps)]
            assert np.isfinite(mix.predict(given, key=times)).all()
            assert np.sum(list(mix.weights.values()), axis=0) == pytest.approx(np.ones(shape), abs=1e-5)
            mix.update({key: float(t % 2) for key in (times if mix.steps else [times])})
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


@pytest.mark.interpreted
@pytest.mark.parametrize("make", MADE.values(), ids=MADE)
def test_files_with_other_numbers_are_refused_or_valid(make, tmp_path):
    file, rng, counts = tmp_path / "mixture", np.random.default_rng(3), {"refused": 0, "played": 0}
    make().save(file)
    original = opened_file(file)
    for _ in range(40 if numba.config.DISABLE_JIT else 250):
        header, keys, parts = original
        parts = [{name: array.copy() for name, array in part.items()} for part in parts]
        part = parts[int(rng.integers(len(parts)))]
        if rng.random() < 0.2:
            fuzz_sessions.mutate_shape(rng, part)
        else:
            fuzz_sessions.mutate_numbers(rng, part, 9)
        if any(
            {*other} != {*part} or any(array.ndim != part[name].ndim for name, array in other.items())
            for other in parts
        ):
            continue  # which the file cannot hold
        write_parts(file, header, keys, parts)
        counts[expect_refused_or_valid(file)] += 1
    assert min(counts.values()) > 3, counts


@pytest.mark.interpreted
@pytest.mark.parametrize("make", MADE.values(), ids=MADE)
def test_files_with_other_shapes_or_keys_are_refused_or_valid(make, tmp_path):
    """The flat arrays of the file itself, and what says how they are divided."""
    file, rng, counts = tmp_path / "mixture", np.random.default_rng(5), {"refused": 0, "played": 0}
    make().save(file)
    with np.load(file) as archive:
        original = {name: archive[name] for name in archive.files}
    names = sorted({*original} - {"driftwise_mixture"})
    for _ in range(40 if numba.config.DISABLE_JIT else 250):
        arrays = dict(original)
        name = names[int(rng.integers(len(names)))]
        array = arrays[name].copy()
        if name.startswith("shapes_") and array.size and rng.random() < 0.8:
            array.flat[int(rng.integers(array.size))] = rng.choice([0, 1, 2, 3, 9, -1, 2**31, 2**62, -(2**63)])
        else:
            array = np.resize(array, int(rng.integers(0, array.size + 3)))
        arrays[name] = array
        with file.open("wb") as written:
            np.savez(written, **arrays)
        counts[expect_refused_or_valid(file)] += 1
    assert counts["refused"] > 3, counts


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
            '{"rounds": [[]], "finished": []}',
            '{"rounds": [["a", "a"]], "finished": []}',
            '{"rounds": [[NaN, 1]], "finished": []}',
            '{"rounds": [[[1], 2]], "finished": []}',
            '{"rounds": "ab", "finished": []}',
            '{"rounds": [["late", "later"], []], "finished": []}',
            '{"rounds": ["late", "later"], "finished": []}',
            '{"rounds": [["late", "later"]], "finished": [null]}',
            '{"rounds": [[["date", "2026-13-01"], 2]], "finished": []}',
            '{"rounds": [[["date", "2026-11-17"], ["date", "2026-11-17"]]], "finished": []}',
            '{"rounds": [[["tuple", ["tuple", 1]], 2]], "finished": []}',
            '{"rounds": [["late", "later"]], "finished": [1' + "0" * 5000 + "]}",
        )
    ]
    + [np.zeros(3), NO_ARRAY],
}


@pytest.mark.interpreted
@pytest.mark.parametrize("name", BAD_ARRAYS)
def test_files_with_bad_arrays_are_refused(name, tmp_path):
    file = tmp_path / "mixture"
    played(9).save(file)
    header, keys, (part,) = opened_file(file)
    for bad in BAD_ARRAYS[name]:
        arrays = {key: array for key, array in {**part, "keys": keys, name: bad}.items() if array is not NO_ARRAY}
        write_parts(file, header, arrays.pop("keys", None), [arrays])
        assert expect_refused_or_valid(file) == "refused", bad


BAD_HEADERS = [
    {"format": 2},
    {"format": 4},
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
    {"latest": [3]},
    {"latest": [-2]},
    {"latest": [2]},
    {"latest": 0},
    {"latest": [0, 0]},
    {"late": [1]},
    {"late": []},
    {"late": True},
    {"steps": 1},
    {"steps": 2},
    {"steps": 2**40},
    {"steps": True},
    {"keyed": True},
    {"keyed": "no"},
    {"quantiles": [0.5]},
    {"quantiles": []},
    {"quantiles": "ab"},
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
    header, keys, parts = opened_file(file)
    if isinstance(change.get("options"), dict) and change["options"]:
        change = {"options": {**header["options"], **change["options"]}}
    write_parts(file, {**header, **change}, keys, parts)
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
