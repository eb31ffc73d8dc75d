"""Draw from environments, adversaries and detectors at the corners of their parameters: `make fuzz`.

Paths, noises, adversaries and detectors get parameters from the ends of all ranges, and 1, 2, 3 or 1000 actions, for 1
or few rounds. Each is refused with an error of driftwise, or its losses, means and variances are possible numbers, and
the same for every size of a block. With NUMBA_BOUNDSCHECK=1 an index outside of an array is an error.
"""

from __future__ import annotations

import argparse
import dataclasses
import sys
import time
import warnings
from collections import Counter

import numba
import numpy as np

from driftwise.adversaries import adversaries
from driftwise.core.errors import DriftwiseError
from driftwise.detectors.detector import Monitor, detectors
from driftwise.environments import Environment, Noise, Path
from driftwise.environments.noises.noise import noises
from driftwise.environments.paths.path import paths
from driftwise.learners import UCB1, Hedge
from fuzz_sessions import bounds_are_checked

NUMBERS = [0, 1, 2, 3, 7, 49, 50, 51, 1000, -1, 2**31, 2**62, 0.0, -0.0, 5e-324, 1e-300, 1e-12, 1e-3, 0.1, 0.25, 0.5,
           0.75, 0.9, 1 - 2**-53, 1.0, 1.5, 2.0, 50.0, 1e6, 1e300, np.inf, np.nan]  # fmt: skip
TEXTS = ["equal", "random", "cyclic", "best-response", "proof", "next", "uniform", "geometric"]
ACTIONS, ROUNDS = [1, 2, 2, 3, 1000], [1, 2, 3, 7, 50]


def parameter(rng, field, n_actions):
    """Return a value for a parameter, by its annotation and name."""
    kind = str(field.type)
    if field.name == "n_actions":
        return n_actions
    if field.name == "n_copies":
        return int(rng.choice([1, 2, 3, 0, 2**31, 2**62]))  # many valid ones would take long
    if "Path" in kind or "Noise" in kind:
        return member(rng, paths if "Path" in kind else noises, n_actions, depth=1)
    if "tuple" in kind or "Sequence" in kind or field.name in ("means", "lengths", "starts"):
        rows = rng.choice([0.0, 1.0, 0.5, 1e-12], (int(rng.integers(1, 4)), n_actions)).tolist()
        return [rows, rows[0], rows[-1], [1, 2], [1], [], "equal"][rng.integers(7)]
    if "str" in kind and ("int" not in kind or rng.random() < 0.5):
        return str(rng.choice(TEXTS))
    if "bool" in kind:
        return bool(rng.random() < 0.5)
    value = NUMBERS[rng.integers(len(NUMBERS))]
    return int(value) if "int" in kind and np.isfinite(value) and abs(value) < 1e300 else value


def member(rng, registry, n_actions, depth=0):
    """Return a member of a registry; parameters with a default have it in half of all cases."""
    names = [name for name in registry if depth == 0 or not name.startswith("with-")]
    kind = registry.get(names[rng.integers(len(names))])
    needed = dataclasses.MISSING
    settings = {
        field.name: parameter(rng, field, n_actions)
        for field in dataclasses.fields(kind)
        if field.init and (field.default is field.default_factory is needed or rng.random() < 0.5)
    }
    if "n_actions" in {field.name for field in dataclasses.fields(kind) if field.init}:
        settings["n_actions"] = n_actions
    return kind(**settings)


def expect_possible(block, n_rounds, n_actions):
    assert block.losses.shape == (n_rounds, n_actions), f"shape {block.losses.shape}"
    for name in ("losses", "means", "variances"):
        values, most = getattr(block, name), 0.25 + 1e-12 if name == "variances" else 1.0
        assert values is None or ((values >= 0.0) & (values <= most)).all(), f"{name} {values}"


def play_source(rng, source, n_rounds):
    """Draw all rounds at once and in blocks."""
    seed = int(rng.integers(2**32))
    whole = source.start(n_rounds, seed).draw(n_rounds)
    expect_possible(whole, n_rounds, source.n_actions)
    stream, start = source.start(n_rounds, seed), 0
    while start < n_rounds:
        size = int(rng.integers(1, n_rounds - start + 1))
        block = stream.draw(size)
        assert np.array_equal(block.losses, whole.losses[start : start + size]), f"rounds {start} to {start + size}"
        start += size
    measures = source.measures(n_rounds, seed)
    assert np.isfinite([measures.drift, measures.variance, measures.squared_drift]).all(), f"{measures}"
    assert 1 <= measures.segments <= n_rounds, f"{measures}"


def play_detector(rng, detector, n_rounds):
    """Observe the same values one by one and at once."""
    values = rng.choice([0.0, 1.0, 0.5, 5e-324, 1 - 2**-53], n_rounds) if rng.random() < 0.5 else rng.random(n_rounds)
    monitor = Monitor(detector)
    live = [t for t, value in enumerate(values) if monitor.update(value)]
    assert detector.alarms(values).tolist() == live, f"{detector} {live}"


def play(rng):
    """Play one case; return of which kind it was."""
    n_actions, n_rounds = int(rng.choice(ACTIONS)), int(rng.choice(ROUNDS))
    way = rng.random()
    if way < 0.6:
        path, noise = member(rng, paths, n_actions), member(rng, noises, n_actions)
        assert isinstance(path, Path)
        assert isinstance(noise, Noise)
        play_source(rng, Environment(path, noise), n_rounds)
        return "environment"
    if way < 0.85:
        adversary = member(rng, adversaries, min(n_actions, 20))  # a best response tries every action
        full = "full" in adversary.feedbacks
        source = adversary.against(Hedge() if full else UCB1(), n_rounds, int(rng.integers(2**32)))
        play_source(rng, source, n_rounds)
        return "adversary"
    play_detector(rng, member(rng, detectors, n_actions), 8 * n_rounds)
    return "detector"


def fuzz(n_cases, seed, report=None):
    """Play cases; return how many of each kind were played and refused."""
    counts, began = Counter(), time.monotonic()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for case in range(n_cases):
            rng = np.random.default_rng([seed, case])
            try:
                counts[f"{play(rng)} played"] += 1
            except DriftwiseError:
                counts["refused"] += 1
            except Exception as error:
                raise AssertionError(f"case {case} of seed {seed}: {type(error).__name__}: {error}") from error
            if report and case % 1000 == 999:
                report(case + 1, time.monotonic() - began)
    return counts


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--cases", type=int, default=10_000)
    parser.add_argument("--seed", type=int, default=0)
    settings = parser.parse_args()
    if not numba.config.DISABLE_JIT and not bounds_are_checked():
        sys.exit("fuzz_environments: set NUMBA_BOUNDSCHECK=1 (or NUMBA_DISABLE_JIT=1): bounds checking is off.")
    report = lambda done, seconds: print(f"{done} cases, {seconds:.0f} s", flush=True)  # noqa: E731
    counts = fuzz(settings.cases, settings.seed, report)
    print(f"{settings.cases} cases: {dict(sorted(counts.items()))}.")


if __name__ == "__main__":
    main()
