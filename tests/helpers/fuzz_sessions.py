"""Load mutated session files of every learner and variant, and continue those that are accepted: `make fuzz`.

A file must be refused with `BadFile`, or the session continues with valid distributions and actions. Compiled
kernels run with bounds checking on (`NUMBA_BOUNDSCHECK=1`); a negative index wraps around there, so a part of the cases
runs interpreted (`NUMBA_DISABLE_JIT=1`) on arrays that refuse negative indices.
"""

from __future__ import annotations

import argparse
import json
import os
import resource
import signal
import sys
import tempfile
import time
import warnings
from collections import Counter
from pathlib import Path

import numba
import numpy as np

from driftwise import Session
from driftwise.checks.check import mixed_losses
from driftwise.core.errors import BadFile
from driftwise.core.kernel import kernel
from driftwise.core.types import Vector
from driftwise.learners import ExpertLearner, learners

HEADER = "driftwise_session"
SECONDS = 20  # for a case; most take milliseconds, and the first of a learner compiles
MEMORY = (
    6 * 2**30
)  # bytes of addresses: the compiler takes two GB; a file that requests too much memory exceeds the limit
SPECIAL = (0.0, -0.0, 1.0, -1.0, 0.5, 5.0, 0.25, 100.0, 2.0**48, 1e-300, 5e-324, 1e300, -1e300, 1e308, -1e308)
FLOATS = np.array([*SPECIAL, np.nan, np.inf, -np.inf])
WHOLE = np.array([0, 1, -1, 2, 3, 39, 40, 63, 64, 127, 10**9, 2**31, 2**48, 2**62, 2**63 - 1, -(2**63), -(2**31)])


class Guarded(np.ndarray):
    """An array that refuses negative indices, which NumPy and Numba count from the end."""

    def __getitem__(self, key):
        refuse_negative(key)
        return super().__getitem__(key)

    def __setitem__(self, key, value):
        refuse_negative(key)
        super().__setitem__(key, value)


def refuse_negative(key):
    for part in key if isinstance(key, tuple) else (key,):
        if isinstance(part, (int, np.integer)) and part < 0:
            raise IndexError(f"negative index {part}")


@kernel
def beyond(values: Vector, at: int) -> float:
    return values[at]


def bounds_are_checked() -> bool:
    """Read past the end of an array on purpose."""
    try:
        beyond(np.zeros(3), 3)
    except IndexError:
        return True
    return False


def variants() -> list:
    """Return every learner with its defaults and at the corners of its parameters."""
    return [member for name in learners for member in (learners.get(name)(), *learners.get(name).at_corners())]


def saved(learner, rng):
    """Play a few rounds and return the header and the arrays of a session."""
    n_actions = int(rng.choice([1, 2, 3, 5]))
    state = learner.start(n_actions, seed=int(rng.integers(100)))
    learner.run(state, mixed_losses(200, n_actions)[: int(rng.choice([0, 1, 2, 7, 40, 130]))])
    state.memory = learner.make_room(state.memory, 1)
    session = Session(learner, n_actions)
    session.state = state
    with tempfile.TemporaryDirectory() as folder:
        session.save(Path(folder) / "session")
        with np.load(Path(folder) / "session") as archive:
            arrays = {name: archive[name] for name in archive.files}
    return json.loads(str(arrays.pop(HEADER))), arrays


def mutate(rng, header, arrays):
    """Change one to four things."""
    header, arrays = json.loads(json.dumps(header)), {name: array.copy() for name, array in arrays.items()}
    for _ in range(int(rng.choice([1, 1, 1, 2, 4]))):
        kind = rng.random()
        if kind < 0.03:
            mutate_rounds(rng, header, arrays)
        elif kind < 0.08:
            mutate_header(rng, header)
        elif kind < 0.12:
            mutate_shape(rng, arrays)
        else:
            mutate_numbers(rng, arrays, header["rounds"] if type(header["rounds"]) is int else 0)
    return header, arrays


def mutate_header(rng, header):
    what = rng.choice(["rounds", "n_actions", "learner", "parameter", "parameter"])
    if what == "learner":
        header["learner"] = {"name": str(rng.choice(sorted(learners)))}
    elif what == "parameter" and isinstance(header["learner"], dict):
        name = str(rng.choice(sorted(header["learner"])))
        choices = [0, 1, 2, 64, 10**9, 2**62, 10**30, -1, 0.0, 1.0, 0.5, 1e308, None, "hedge", True, [], {}, "x" * 300]
        header["learner"][name] = choices[rng.integers(len(choices))]
    elif what in header:
        choices = [0, 1, 2, 3, 10**9, 2**48, 2**62, 2**70, -1, None, "3", 2.5, True]
        near = header[what] + int(rng.choice([-1, 1, 64])) if type(header[what]) is int else 0
        header[what] = near if rng.random() < 0.5 else choices[rng.integers(len(choices))]


def mutate_rounds(rng, header, arrays):
    """Claim another number of rounds, in the header and wherever a number counts them."""
    if type(old := header["rounds"]) is int and old < 2**60:  # another mutation may have put a larger number there
        new = int(rng.choice([0, 1, 63, 64, 2**20, 2**34, 2**47, 2**48, old + 1, 2 * old]))
        header["rounds"] = new
        for array in arrays.values():
            if array.dtype.kind in "fi":
                for step in (1, 0):
                    array[array == old + step] = new + step


def mutate_shape(rng, arrays):
    name = str(rng.choice(sorted(arrays)))
    array = arrays[name]
    arrays[name] = [
        lambda: array[:-1] if array.ndim else array,
        lambda: np.concatenate([array, array[:1]]) if array.ndim else array,
        lambda: array.T.copy(),
        lambda: array.reshape(-1),
        lambda: array[..., None],
        lambda: array.astype([np.float32, np.int64, np.uint64, np.float64, ">f8"][rng.integers(5)]),
        lambda: array[:0] if array.ndim else array,
        lambda: np.zeros((0, 10**6)),
    ][rng.integers(8)]()


def mutate_numbers(rng, arrays, rounds):
    name = str(rng.choice(sorted(arrays)))
    array = arrays[name]
    if array.size == 0 or array.dtype.kind not in "fiu":
        return
    flat = array.reshape(-1)
    at = int(rng.integers(flat.size))
    kind = rng.random()
    if kind < 0.2:  # any bit of any number
        flat.view(np.uint8)[rng.integers(flat.nbytes)] ^= 1 << int(rng.integers(8))
    elif kind < 0.4 and flat.dtype.kind == "u":  # words may hold floats, counters or a generator
        bits = [
            FLOATS[rng.integers(len(FLOATS))].view(np.uint64),
            np.int64(WHOLE[rng.integers(len(WHOLE))]).view(np.uint64),
        ]
        flat[at] = bits[rng.integers(2)]
    elif kind < 0.6:
        values = FLOATS if flat.dtype.kind == "f" else WHOLE
        value = values[rng.integers(len(values))]
        flat[at if rng.random() < 0.8 else slice(None)] = np.array(value).astype(flat.dtype)
    elif kind < 0.7:
        flat[at] = flat[rng.integers(flat.size)]
    elif kind < 0.8 and flat.dtype.kind in "if":
        flat[at] += int(rng.choice([-1, 1, 2]))
    elif kind < 0.9 and flat.dtype.kind == "f":
        flat[at] = rng.choice([rng.random(), rounds, -rounds, rounds * rng.random(), flat[at] * rng.random()])
    else:
        rng.shuffle(flat)


def play_on(session, rng):
    """Play by stepping and in a block; raise where something is wrong."""
    learner, n_actions = session.learner, session.n_actions
    if numba.config.DISABLE_JIT:
        session.state.memory = type(session.state.memory)(*(a.view(Guarded) for a in session.state.memory))
    expect_finite(session.beliefs())
    losses = mixed_losses(60, n_actions, seed=int(rng.integers(5)))
    if rng.random() < 0.2:
        losses = np.ones_like(losses) * (rng.random() < 0.5)
    step, block = (3, 8) if numba.config.DISABLE_JIT else (5, 55)
    for row in losses[:step]:
        if isinstance(learner, ExpertLearner):
            expect_distribution(session.predict())
            session.update(row)
        else:
            action, probability = session.choose()
            assert 0 <= action < n_actions, f"action {action}"
            assert probability is None or 0 < probability <= 1, f"probability {probability}"
            session.update(action, probability, loss=row[action])
    played = learner.run(session.state, losses[step : step + block])
    if isinstance(learner, ExpertLearner):
        for row in played:
            expect_distribution(row)
    else:
        assert ((played >= 0) & (played < n_actions)).all(), f"actions {played}"


def expect_finite(beliefs):
    estimates = [value for value in (beliefs.segments, beliefs.drift, beliefs.variance) if value is not None]
    numbers = [*beliefs.memories, *beliefs.bases.values(), *estimates, *(beliefs.alarms or ())]
    assert np.isfinite(np.array(numbers, float)).all(), f"beliefs {beliefs}"


def expect_distribution(weights):
    good = (np.asarray(weights) >= 0).all() and abs(float(np.sum(weights)) - 1) < 1e-6
    assert good, f"weights {weights}"


def damage(rng, content):
    """Flip, cut or repeat bytes of a file."""
    content, at = bytearray(content), int(rng.integers(len(content)))
    kind = rng.random()
    if kind < 0.7:
        content[at] ^= 1 << int(rng.integers(8))
    elif kind < 0.85:
        del content[at:]
    else:
        content[at:at] = content[: int(rng.integers(1, 64))]
    return bytes(content)


def fuzz(members, n_cases, seed, report=None):
    """Run cases over all members in turn; return how many files were refused and how many continued."""
    rng = np.random.default_rng(seed)
    counts, began = Counter(), time.monotonic()
    originals = {}
    with tempfile.TemporaryDirectory() as folder, warnings.catch_warnings():
        warnings.simplefilter("ignore")
        file = Path(folder) / "session.npz"
        for case in range(n_cases):
            learner = members[case % len(members)]
            if case % (8 * len(members)) < len(members):
                originals[learner] = saved(learner, rng)
            header, arrays = mutate(rng, *originals[learner])
            with file.open("wb") as stream:
                np.savez(stream, **{HEADER: np.array(json.dumps(header))}, **arrays)
            if rng.random() < 0.1:
                file.write_bytes(damage(rng, file.read_bytes()))
            counts[one_case(file, rng, f"case {case} of seed {seed}: {learner}")] += 1
            if report and case % 1000 == 999:
                report(case + 1, time.monotonic() - began, counts)
    return counts


def one_case(file, rng, name):
    signal.signal(signal.SIGALRM, lambda *_: (_ for _ in ()).throw(TimeoutError("hangs")))
    signal.alarm(SECONDS)
    try:
        session = Session.load(file)
        play_on(session, rng)
    except BadFile:
        return "refused"
    except Exception as error:
        raise AssertionError(f"{name}: {type(error).__name__}: {error}") from error
    finally:
        signal.alarm(0)
    return "played"


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--cases", type=int, default=100_000)
    parser.add_argument("--seed", type=int, default=0)
    given = parser.parse_args()
    interpreted = bool(numba.config.DISABLE_JIT)
    if not (interpreted or bounds_are_checked()):
        sys.exit("fuzz_sessions: set NUMBA_BOUNDSCHECK=1 (or NUMBA_DISABLE_JIT=1): bounds checking is off.")

    def report(done, seconds, counts):
        print(f"{done} cases, {seconds:.0f} s, {counts['refused']} refused, {counts['played']} continued", flush=True)

    resource.setrlimit(resource.RLIMIT_AS, (MEMORY, MEMORY))
    members = variants()
    counts = fuzz(members, given.cases, given.seed, report)
    mode = "interpreted, negative indices refused" if interpreted else "compiled, bounds checked"
    print(f"{given.cases} files of {len(members)} learners ({mode}): {dict(counts)}, nothing else. pid {os.getpid()}")


if __name__ == "__main__":
    main()
