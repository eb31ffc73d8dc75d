"""Play generated streams of forecasts and truths with mixtures: `make fuzz`.

Forecasts are missing anywhere, experts join and leave, truths are constant, wild, late or missing, values are from
1e-12 to 1e12 in one stream. In each round the forecast must be finite and in the hull of the experts that are awake,
and the weights a distribution over them. `predict` may be refused only if there is neither a forecast nor a truth yet.
"""

from __future__ import annotations

import argparse
import pickle
import tempfile
import time
from collections import Counter
from pathlib import Path

import numpy as np

from driftwise.core.errors import InvalidInput
from driftwise.forecasting import Mixture, MixtureOptions, MixtureStack
from driftwise.learners import FixedShare, OptimisticHedge, Tracker
from forecast_streams import LOSSES

PAIRS = [
    *((OptimisticHedge(), loss) for loss in LOSSES),
    (FixedShare(), "square"),
    (Tracker(both_guesses=True), "square"),
]
EXTRAS = np.array(["last-truth", "scaled", "shifted"])
ROUNDING = 1e-9


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
    n_series = int(rng.integers(1, 4))
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


def play_live(rng, options, forecasts, truths, folder):
    """Play round by round; truths come late, experts join and leave, the mixture is saved and loaded."""
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
            n_truths = int((~np.isnan(mix._history.rounds.truths)).sum())  # it starts again with the kept rounds
        if rng.random() < 0.1:
            name = str(rng.choice(joined))
            (mix.join if name in left else mix.leave)(name)
            left ^= {name}
        given = {name: row[k] for k, name in enumerate(joined) if name not in left and rng.random() < 0.95}
        refused, forecast = None, np.nan
        try:
            forecast = mix.predict(given, key=t)
        except InvalidInput as error:
            refused = error
        if refused is not None:
            assert "no truth yet" in str(refused), refused
            assert all(np.isnan(value) for value in given.values()), refused
            assert n_truths == 0 or options.forecast_loss.name == "percentage", refused
            continue
        waiting.append(t)
        one = mix._waiting.latest
        assert one.forecast == forecast
        expect_round(options, len(joined), forecast, one.inputs, np.array([*mix.weights.values()]))
        while waiting and rng.random() >= patience:
            key = waiting.pop(int(rng.integers(len(waiting))))
            mix.update(truths[key], key=key)
            n_truths += not np.isnan(truths[key])
        if rng.random() < 0.05:
            mix = copied(mix, rng, folder)
    expect_finite(mix._stack)


def copied(mix, rng, folder):
    """Return the mixture from a file or a pickle."""
    if rng.random() < 0.5:
        return pickle.loads(pickle.dumps(mix))
    mix.save(folder / "mixture")
    return Mixture.load(folder / "mixture")


def fuzz(n_cases, seed, report=None):
    """Play streams; return how many were played in which way, and their rounds."""
    counts, began = Counter(), time.monotonic()
    with tempfile.TemporaryDirectory() as folder:
        for case in range(n_cases):
            rng = np.random.default_rng([seed, case])
            options = draw_options(rng)
            forecasts, truths = draw_stream(rng, options.forecast_loss.of_probabilities)
            way = "block" if rng.random() < 0.5 else "live"
            try:
                if way == "block":
                    play_block(rng, options, forecasts, truths)
                else:
                    play_live(rng, options, forecasts, truths, Path(folder))
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
    given = parser.parse_args()
    counts = fuzz(given.cases, given.seed, lambda done, seconds: print(f"{done} streams, {seconds:.0f} s", flush=True))
    print(f"{given.cases} streams: {dict(counts)}; all forecasts and weights are valid.")


if __name__ == "__main__":
    main()
