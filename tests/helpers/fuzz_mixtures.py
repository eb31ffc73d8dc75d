"""Play generated streams of forecasts and truths with mixtures: `make fuzz`.

Forecasts are missing anywhere, experts join and leave, truths are constant, wild, late or missing, values are from
1e-12 to 1e12 in one stream. In each round the forecast must be finite and in the hull of the experts that are awake,
and the weights a distribution over them. `predict` may be refused only if there is neither a forecast nor a truth yet.

Mixtures with steps, quantiles or both are played beside separate plain mixtures, one for each step and each level, and
must agree with them bit for bit.

Between the rounds there are wrong calls: arguments of other types, sizes and series, rounds of other stacks, values
that are no keys. They must be refused with an error of driftwise, and change nothing. Copies of all kinds replace the
mixture, and files with mutated keys must be refused or continue. Compiled kernels run with bounds checking on
(`NUMBA_BOUNDSCHECK=1`).
"""

from __future__ import annotations

import argparse
import copy
import datetime
import json
import math
import pickle
import sys
import tempfile
import time
import zoneinfo
from collections import Counter
from decimal import Decimal
from pathlib import Path

import numba
import numpy as np
import pandas as pd

from driftwise.core.errors import BadFile, DriftwiseError, InvalidInput
from driftwise.forecasting import Mixture, MixtureOptions, MixtureStack
from driftwise.learners import FixedShare, OptimisticHedge, SleepingOptimisticAdaptMLProd, Tracker
from forecast_streams import LOSSES, bits
from fuzz_sessions import bounds_are_checked
from mixture_states import snapshot
from separate_mixtures import SeparateMixtures, as_given, drawn_table

PAIRS = [
    *((OptimisticHedge(), loss) for loss in LOSSES),
    (FixedShare(), "square"),
    (Tracker(both_guesses=True), "square"),
    (SleepingOptimisticAdaptMLProd(), "square"),
]
EXTRAS = np.array(["last-truth", "scaled", "shifted"])
ROUNDING = 1e-9
DAY = datetime.datetime(2026, 10, 20)
ZONES = [None, datetime.UTC, datetime.timezone(datetime.timedelta(hours=-3)), zoneinfo.ZoneInfo("Europe/Berlin")]
# Wrong as forecasts, truths, series, rounds, names and keys; only some of them are wrong in each place.
JUNK = [
    *(None, True, -1, 3, 2**40, 10**30, 0.5, math.nan, math.inf, 1e101, 1j, "", "m0", "no name", b"m0", "x" * 3000),
    *([], [1.0], [1.0] * 40, [[1.0]], {}, {"m0": "x"}, {"m0": [1.0]}, {1.5: 2.0}, (), ((1,),), {1}, range(3), object()),
    *(np.ones(0), np.ones(1), np.ones(50), np.ones(100_000), np.ones((2, 2)), np.ones(3, complex), np.ones(3, object)),
    *(
        np.array("a"),
        np.array(None),
        np.datetime64("NaT"),
        np.timedelta64(1, "D"),
        np.ma.masked,
        np.int8(-1),
        np.void(b"a"),
    ),
    *(pd.NaT, pd.NA, pd.Period("2026", "Y"), pd.Series([1.0, 2.0]), pd.DataFrame({"m0": [1.0, 2.0]}), Decimal("NaN")),
]
JUNK += [
    math.sin,
    Mixture,
    DAY.time(),
    DAY - DAY,
    ("a", math.nan),
    ("a", [1]),
    "ü\ud800",
    np.longdouble(1),
    slice(None),
]


def draw_options(rng):
    learner, loss = PAIRS[rng.integers(len(PAIRS))]
    extras = EXTRAS[rng.random(3) < 0.25].tolist()
    return MixtureOptions(
        loss=loss,
        learner=learner,
        gradient=bool(rng.random() < 0.6),
        hint=str(rng.choice(["last-truth", "last-truth", "last-losses", "none"])),
        extras=tuple(one for one in extras if loss != "log" or one == "last-truth"),
        scale=float(10.0 ** rng.uniform(-13, 13)) if rng.random() < 0.2 else None,
    )


def draw_stream(rng, of_probabilities):
    """Return forecasts and truths; some values are missing."""
    n_rounds, n_experts = int(rng.integers(1, 40)), int(rng.integers(1, 13))
    if of_probabilities:
        truths = (rng.random(n_rounds) < rng.random()).astype(float)
        forecasts = rng.random((n_rounds, n_experts))
        forecasts[rng.random(forecasts.shape) < 0.2 * rng.integers(0, 3)] = rng.choice([0.0, 1.0])
    else:
        level, spread, noise = 10.0 ** rng.uniform(-12, 12, 3)
        truths = rng.normal(0.0, level) + np.cumsum(rng.normal(0.0, spread, n_rounds))
        forecasts = truths[:, None] + rng.normal(0.0, noise, (n_rounds, n_experts))
        change_values(rng, forecasts, truths)
    if rng.random() < 0.8:
        forecasts[rng.random(forecasts.shape) < rng.choice([0.05, 0.3, 0.9])] = np.nan
    if rng.random() < 0.4:
        truths[rng.random(n_rounds) < rng.random()] = np.nan
    for k in range(n_experts):  # experts that join and leave
        if rng.random() < 0.2:
            start, end = sorted(rng.integers(0, n_rounds + 1, 2))
            forecasts[start:end, k] = np.nan
    if rng.random() < 0.3:
        forecasts[rng.integers(n_rounds) :][: int(rng.integers(1, 6))] = np.nan
    return forecasts, truths


def change_values(rng, forecasts, truths):
    n_rounds, n_experts = forecasts.shape
    kind = rng.integers(8)
    if kind == 0:  # constant truths
        truths[:] = rng.choice([0.0, -0.0, 1.0, truths[0]])
    elif kind == 1:  # every value has a scale of its own
        forecasts *= 10.0 ** rng.uniform(-12, 12, forecasts.shape)
        truths *= 10.0 ** rng.uniform(-12, 12, n_rounds)
    elif kind == 2:  # few values, many of them equal
        forecasts[:] = rng.integers(-1, 2, forecasts.shape)
        truths[:] = rng.integers(-1, 2, n_rounds)
    elif kind == 3:  # experts of very different scales
        forecasts *= 10.0 ** rng.uniform(-12, 12, n_experts)
    elif kind == 4:  # forecasts equal to the truth, or all equal
        forecasts[:] = truths[:, None] if rng.random() < 0.5 else forecasts[0, 0]
    if rng.random() < 0.3:
        truths[rng.random(n_rounds) < 0.1] *= 10.0 ** rng.uniform(0, 30)
    if rng.random() < 0.3:
        forecasts[rng.random(forecasts.shape) < 0.1] *= 10.0 ** rng.uniform(0, 30)
    if rng.random() < 0.1:  # the largest and smallest numbers that are allowed
        forecasts[rng.random(forecasts.shape) < 0.1] = rng.choice([1e100, -1e100, 5e-324, 0.0, -0.0])
        truths[rng.random(n_rounds) < 0.2] = rng.choice([1e100, -1e100, 5e-324, 1e-300, 0.0])


def expect_round(options, n_experts, forecast, inputs, weights):
    """Check one round with a forecast."""
    awake = ~np.isnan(inputs)
    assert np.isfinite(forecast), f"forecast {forecast}"
    assert np.isfinite(inputs[awake]).all(), f"inputs {inputs}"
    assert np.isfinite(weights).all(), f"weights {weights}"
    assert (weights >= 0.0).all(), f"weights {weights}"
    assert (weights[~awake] == 0.0).all(), f"weights {weights} of {inputs}"
    if awake.any():
        assert abs(weights.sum() - 1.0) <= ROUNDING, f"weights {weights}"
        assert inputs[awake].min() <= forecast <= inputs[awake].max(), f"{forecast} outside {inputs}"
    if options.forecast_loss.of_probabilities:
        assert 0.0 <= forecast <= 1.0, f"forecast {forecast}"


def expect_finite(stack):
    for name, array in stack.arrays().items():
        allowed = np.isnan(array) if name == "mixture_truth" else False
        assert array.dtype.kind != "f" or (np.isfinite(array) | allowed).all(), f"{name} {array}"


def play_block(rng, options, forecasts, truths):
    """Play all rounds at once, as several series."""
    n_series = 1 if options.full_learner.grows else int(rng.integers(1, 4))
    series = rng.integers(0, n_series, len(truths))
    stack = MixtureStack(options, forecasts.shape[1], n_series)
    got = stack.run(forecasts, truths, series, n_threads=int(rng.integers(1, 3)))
    for t, forecast in enumerate(got.combined):
        if np.isnan(forecast):
            earlier = truths[:t][series[:t] == series[t]]
            assert np.isnan(forecasts[t]).all(), f"no forecast in round {t}"
            assert np.isnan(earlier).all() or options.forecast_loss.name == "percentage", f"no forecast in round {t}"
        else:
            np.testing.assert_array_equal(got.inputs[t, : forecasts.shape[1]], forecasts[t])
            expect_round(options, forecasts.shape[1], forecast, got.inputs[t], got.weights[t])
    expect_finite(stack)


def any_of(rng, values):
    return values[int(rng.integers(len(values)))]


def draw_key(rng, t):
    """Return a key for round t, of any kind; those of different rounds differ."""
    day = DAY + datetime.timedelta(hours=t)
    zone = any_of(rng, ZONES)
    keys = [
        *(
            t,
            float(t),
            f"round {t}",
            day.date() + datetime.timedelta(days=t),
            day.replace(minute=1, microsecond=t, tzinfo=zone),
        ),
        *(np.int32(t), np.float64(t), np.str_(f"round {t}"), np.datetime64(day, str(any_of(rng, ["s", "ms", "ns"])))),
        pd.Timestamp(day.replace(minute=2), tz="UTC").tz_convert(zone).as_unit(str(any_of(rng, ["s", "us", "ns"]))),
        pd.Timestamp(day.replace(minute=3, second=t % 60)),
    ]
    if rng.random() < 0.2:
        return "site", any_of(rng, keys), None
    return any_of(rng, keys)


def expect_refusal(counts, state, call, *arguments):
    """Make a wrong call; it may be right by chance, otherwise an error of driftwise says so and nothing changes."""
    before = state()
    counts["tried"] += 1
    message = None
    try:
        call(*arguments)
    except DriftwiseError as error:
        message = str(error)
    counts["played on" if message is None else "refused"] += 1
    assert message is None or state() == before, f"{call.__name__} was refused and changed something"
    assert "\n" not in (message or ""), message


def mutated_round(rng, waits):
    """Return a round with another value in one field."""
    name = str(rng.choice(waits._fields))
    value = getattr(waits, name)
    if name == "forecast" or rng.random() < 0.4:
        return waits._replace(**{name: any_of(rng, JUNK)})
    other = np.array(value)
    if rng.random() < 0.5:
        return waits._replace(**{name: np.resize(other, int(rng.integers(0, 2 * len(other) + 2)))})
    other[int(rng.integers(len(other)))] = any_of(rng, [math.nan, math.inf, -0.5, 1.5, 1e101, -1e300])
    return waits._replace(**{name: other})


def state_of(stack):
    return {name: bits(array) for name, array in stack.arrays().items()}


def play_single(rng, options, forecasts, truths, counts):
    """Play round by round with a stack of several series, and call it wrongly between the rounds."""
    n_series = 1 if options.full_learner.grows else int(rng.integers(1, 4))
    stack = MixtureStack(options, forecasts.shape[1], n_series)
    for row, truth in zip(forecasts, truths, strict=True):
        if rng.random() < 0.3:
            stack = call_wrongly(rng, stack, row, counts)
        series = int(rng.integers(stack.n_series))
        waits = stack.combine_one(row, series)
        if not np.isnan(waits.forecast):
            expect_round(options, forecasts.shape[1], waits.forecast, waits.inputs, waits.shares)
        if rng.random() < 0.3:
            other = mutated_round(rng, waits)
            late = any_of(rng, [True, False, *JUNK]) if rng.random() < 0.2 else True
            expect_refusal(counts, lambda: state_of(stack), stack.observe_one, other, truth, late, series)
        stack.observe_one(waits, truth, bool(rng.random() < 0.5), np.int64(series))
    expect_finite(stack)


def call_wrongly(rng, stack, row, counts):
    """Make one wrong call, or use the arrays badly; return the stack or a copy of it."""
    junk, kind, grows = any_of(rng, JUNK), int(rng.integers(8)), stack.learner.grows

    def refused(call, *arguments):
        expect_refusal(counts, lambda: state_of(stack), call, *arguments)

    if kind == 0:
        refused(stack.combine_one, np.resize(row, int(rng.integers(0, 2 * len(row) + 3))))
    elif kind == 1:
        refused(stack.combine_one, junk)
    elif kind == 2:
        series = any_of(rng, [*JUNK, stack.n_series, -1, int(rng.integers(-(2**62), 2**62))])
        refused(stack.combine_one, row, series)
    elif kind == 3:
        waits = stack.combine_one(row)
        refused(stack.observe_one, waits, junk, True, any_of(rng, [0, junk, stack.n_series]))
    elif kind == 4:
        refused(stack.run, any_of(rng, [junk, row[None]]), any_of(rng, [junk, [1.0]]), any_of(rng, [junk, [0], [9]]), 2)
    elif kind == 5 and not grows:
        stack.add_series(int(rng.integers(0, 3)))
    elif kind == 6:
        arrays = stack.arrays()
        array = arrays[str(rng.choice(sorted(arrays)))]
        array[...] = any_of(rng, [0, 1, -1, 100])
        array.resize(int(rng.integers(0, 10_000)), refcheck=False)
        refused(stack.set_arrays, arrays)
    else:
        way = any_of(rng, [copy.copy, copy.deepcopy, lambda value: pickle.loads(pickle.dumps(value))])
        other = way(stack)
        assert state_of(other) == state_of(stack), "the copy differs"
        counts["copies"] += 1
        return other
    return stack


def play_live(rng, options, forecasts, truths, folder, counts):
    """Play round by round; truths come late, experts join and leave, the mixture is copied, saved and loaded."""
    names = [f"m{k}" for k in range(forecasts.shape[1])]
    joined = names[: int(rng.integers(1, len(names) + 1))]
    chosen = {name: getattr(options, name) for name in ("loss", "learner", "gradient", "hint", "extras", "scale")}
    history = int(rng.choice([0, 1, 5, 100]))
    mix = Mixture(list(joined), history=history, **chosen)
    left, patience, waiting, n_truths = set(), rng.choice([0.0, 0.3, 0.7]), [], 0
    for t, row in enumerate(forecasts):
        if len(joined) < len(names) and rng.random() < 0.2 and (history or not mix.rounds):
            joined.append(names[len(joined)])
            mix.join(joined[-1])
            n_truths = int(
                (~np.isnan(mix._singles[0].history.rounds.truths)).sum()
            )  # it starts again with the kept rounds
        if rng.random() < 0.1:
            name = str(rng.choice(joined))
            (mix.join if name in left else mix.leave)(name)
            left ^= {name}
        if rng.random() < 0.3:
            call_mixture_wrongly(rng, mix, row[: len(joined)], counts)
        values = {name: row[k] for k, name in enumerate(joined) if name not in left and rng.random() < 0.95}
        refused, forecast, key = None, np.nan, draw_key(rng, t)
        try:
            forecast = mix.predict(values, key=key)
        except InvalidInput as error:
            refused = error
        if refused is not None:
            assert "no truth yet" in str(refused), refused
            assert all(np.isnan(value) for value in values.values()), refused
            assert n_truths == 0 or options.forecast_loss.name == "percentage", refused
            continue
        waiting.append((t, key))
        latest = mix._singles[0].latest
        assert latest.forecast == forecast
        expect_round(options, len(joined), forecast, latest.inputs, latest.shares)
        assert not left & {*mix.weights}, f"weights of {left}"
        awake = not np.isnan(latest.inputs).all()
        assert abs(sum(mix.weights.values()) - awake) <= ROUNDING, f"weights {mix.weights}"
        while waiting and rng.random() >= patience:
            played, key = waiting.pop(int(rng.integers(len(waiting))))
            mix.update(truths[played], key=key)
            n_truths += not np.isnan(truths[played])
        assert len(mix.waiting) == len(waiting)
        if rng.random() < 0.05:
            other = copied(mix, rng, folder)
            assert snapshot(other) == snapshot(mix), "the copy differs"
            counts["copies"] += 1
            mix = other
    expect_finite(mix._singles[0].stack)
    if rng.random() < 0.5:
        mix.save(folder / "mixture")
        mutate_keys(rng, folder / "mixture")
        load_mutated(folder / "mixture", counts)


def play_several(rng, folder, counts):
    """Play a mixture with steps, quantiles or both beside separate plain mixtures: they agree bit for bit."""
    names, levels = ["m0", "m1", "m2"], [[0.5], [0.1, 0.9], [0.05, 0.5, 0.95]]
    steps = any_of(rng, [None, 1, 2, 4])
    quantiles = any_of(rng, levels if steps is None else [None, *levels])
    options = {"learner": PAIRS[int(rng.integers(len(LOSSES) - 1, len(PAIRS)))][0], "history": any_of(rng, [3, 100])}
    options["learner"] = any_of(rng, [None, options["learner"]])
    mix = Mixture(list(names), steps=steps, quantiles=quantiles, **options)
    separate = SeparateMixtures(list(names), steps, quantiles, **options)
    keyed, left, now = bool(rng.random() < 0.5) or steps is None, set(), 0
    shapes = (steps or 1, len(quantiles or [0]))
    key_of, given = {}, set()
    for t in range(int(rng.integers(1, 25))):
        n_steps = int(rng.integers(1, shapes[0] + 1))
        known = np.array([single.has_truth for single in mix._singles]).reshape(shapes)
        table = drawn_table(rng, (n_steps, shapes[1], len(names)), known)
        table[:, :, [k for k, name in enumerate(names) if name in left]] = np.nan
        first = any_of(rng, [t, max(0, t - 2)]) if keyed else now
        times = [first + i + 1 for i in range(n_steps)]
        for each in times:
            key_of.setdefault(each, draw_key(rng, each))
        keys = [key_of[each] for each in times] if keyed else times
        passed = (keys if steps is not None else keys[0]) if keyed else None
        if rng.random() < 0.3:
            call_several_wrongly(rng, mix, table, passed, counts)
        empty = (np.isnan(table).all(axis=2) & ~known[:n_steps]).any()
        if not empty and not given & {*times}:
            expected = separate.predict(table, keys)
            got = mix.predict(as_given(table, names, steps, quantiles, rng), key=passed)
            assert bits(got) == bits(expected), f"{got} is not {expected}"
        while mix.waiting and rng.random() < 0.6:
            chosen = list(rng.permutation(len(mix.waiting))[: int(rng.integers(1, 4))]) if keyed else [0]
            pairs = [(mix.waiting[i], float(rng.choice([rng.normal(), math.nan]))) for i in chosen]
            if not keyed and pairs[0][0] != now + 1:
                break
            for key, truth in pairs:
                assert separate.update(truth, key) > 0
            if keyed:
                as_lists = [truth for _, truth in pairs], [key for key, _ in pairs]
                mix.update(*([dict(pairs)] if rng.random() < 0.5 else as_lists))
                given |= {each for each, key in key_of.items() if key in dict(pairs)}
            else:
                mix.update(pairs[0][1])
                now += 1
        if rng.random() < 0.1 and len(names) < 6:
            names.append(f"m{len(names)}")
            for one in (mix, *separate.plain):
                one.join(names[-1])
        if rng.random() < 0.1:
            name = any_of(rng, names)
            for one in (mix, *separate.plain):
                (one.join if name in left else one.leave)(name)
            left ^= {name}
        assert {name: bits(x) for name, x in mix.weights.items()} == {n: bits(x) for n, x in separate.weights.items()}
        if rng.random() < 0.15:
            other = copied(mix, rng, folder)
            assert snapshot(other) == snapshot(mix), "the copy differs"
            counts["copies"] += 1
            mix = other
    assert {name: bits(x) for name, x in mix.counts.items()} == {n: bits(x) for n, x in separate.counts.items()}
    if mix.rounds:
        mix.report().text()
    if rng.random() < 0.5:
        mix.save(folder / "mixture")
        mutate_keys(rng, folder / "mixture")
        load_mutated(folder / "mixture", counts)


def call_several_wrongly(rng, mix, table, key, counts):
    """Make one wrong call on a copy, because it may be right by chance."""
    mix, junk = copy.copy(mix), any_of(rng, JUNK)
    values = np.resize(table, tuple(int(n) for n in rng.integers(0, 4, int(rng.integers(1, 5)))))
    calls = [
        (mix.predict, junk, key),
        (mix.predict, values, key),
        (mix.predict, {"m0": junk}, key),
        (mix.predict, {"m0": values}, key),
        (mix.predict, table, junk),
        (mix.update, junk, mix.waiting[0] if mix.waiting else None),
        (mix.update, [1.0, junk], list(mix.waiting[:2])),
        (mix.update, 1.0, junk),
        (mix.update, {**dict.fromkeys(mix.waiting, 1.0), "no key": 1.0}),
        (mix.update, [1.0, 2.0], [junk, junk]),
    ]
    expect_refusal(counts, lambda: snapshot(mix), *any_of(rng, calls))


def call_mixture_wrongly(rng, mix, row, counts):
    """Make one wrong call on a copy, because it may be right by chance."""
    mix, junk, kind = copy.copy(mix), any_of(rng, JUNK), int(rng.integers(6))
    calls = [
        (mix.predict, junk, "wrong"),
        (mix.predict, row, junk),
        (mix.update, junk),
        (mix.update, 1.0, junk),
        (mix.join, junk),
        (mix.leave, junk),
    ]
    expect_refusal(counts, lambda: snapshot(mix), *calls[kind])
    if kind == 1 and mix.waiting:
        pickle.loads(pickle.dumps(mix)).update(1.0, key=mix.waiting[-1])


def copied(mix, rng, folder):
    """Return a copy of any kind."""
    way = int(rng.integers(4))
    if way == 0:
        mix.save(folder / "mixture")
        return Mixture.load(folder / "mixture")
    if way == 1:
        return pickle.loads(pickle.dumps(mix))
    return copy.copy(mix) if way == 2 else copy.deepcopy(mix)


def mutate_keys(rng, file):
    """Change a part of the keys of a file."""
    with np.load(file) as archive:
        arrays = {name: archive[name] for name in archive.files}
    keys = json.loads(arrays["keys"].tobytes())
    lists = [*keys["rounds"], keys["finished"]]
    places = [(values, k) for values in lists for k in range(len(values))]
    if places:
        values, k = any_of(rng, places)
        while isinstance(values[k], list) and rng.random() < 0.8:
            values, k = values[k], int(rng.integers(len(values[k])))
        numbers = [0, 1, -1, 2**31, 2**62, 2**63 - 1, -(2**63), 2**70, 0.5, 1e300, math.inf, math.nan]
        texts = [
            "",
            "date",
            "datetime",
            "datetime64",
            "Timestamp",
            "tuple",
            "ns",
            "D",
            "generic",
            "../x",
            "Europe",
            "UTC",
        ]
        values[k] = any_of(
            rng, [*numbers, *texts, None, True, [], {}, [["date"]], ["date", "2026-11-17"], "2026-11-17"]
        )
    arrays["keys"] = np.frombuffer(json.dumps(keys).encode(), np.uint8)
    with file.open("wb") as stream:
        np.savez(stream, **arrays)


def load_mutated(file, counts):
    """Load a file with other keys; it is refused, or the rounds that wait get their truths and it is saved again."""
    counts["files tried"] += 1
    mix, message = None, ""
    try:
        mix = Mixture.load(file)
    except BadFile as error:
        message = str(error)
    assert "\n" not in message, message
    if mix is None:
        counts["files refused"] += 1
        return
    for key in mix.waiting:
        hash(key)
    if mix._keyed is not False:
        mix.update(dict.fromkeys(mix.waiting, 1.0))
    mix.save(file)
    counts["files played on"] += 1


def fuzz(n_cases, seed, report=None):
    """Play streams; return how many were played in which way, and their rounds."""
    counts, began = Counter(), time.monotonic()
    with tempfile.TemporaryDirectory() as folder:
        for case in range(n_cases):
            rng = np.random.default_rng([seed, case])
            options = draw_options(rng)
            forecasts, truths = draw_stream(rng, options.forecast_loss.of_probabilities)
            way = ("block", "single", "live", "live", "several", "several")[int(rng.integers(6))]
            try:
                if way == "block":
                    play_block(rng, options, forecasts, truths)
                elif way == "single":
                    play_single(rng, options, forecasts, truths, counts)
                elif way == "several":
                    play_several(rng, Path(folder), counts)
                else:
                    play_live(rng, options, forecasts, truths, Path(folder), counts)
            except Exception as error:
                raise AssertionError(f"case {case} of seed {seed}, {way}, {options}: {error}") from error
            counts[way] += 1
            counts["rounds"] += len(truths)
            if report and case % 1000 == 999:
                report(case + 1, time.monotonic() - began)
    return counts


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--cases", type=int, default=10_000)
    parser.add_argument("--seed", type=int, default=0)
    options = parser.parse_args()
    if not numba.config.DISABLE_JIT and not bounds_are_checked():
        sys.exit("fuzz_mixtures: set NUMBA_BOUNDSCHECK=1 (or NUMBA_DISABLE_JIT=1): bounds checking is off.")
    report = lambda done, seconds: print(f"{done} streams, {seconds:.0f} s", flush=True)  # noqa: E731
    counts = fuzz(options.cases, options.seed, report)
    print(f"{options.cases} streams: {dict(counts)}; all forecasts and weights are valid.")


if __name__ == "__main__":
    main()
