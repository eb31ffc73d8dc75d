"""Mutated session files are refused or continue; nothing crashes, hangs, or plays an invalid distribution."""

import os
import subprocess
import sys
from pathlib import Path

import numba
import numpy as np
import pytest

import fuzz_sessions
from driftwise.learners import learners


@pytest.mark.interpreted
@pytest.mark.parametrize("name", sorted(learners))
def test_mutated_sessions_are_refused_or_continue(name):
    """`make fuzz` has a hundred thousand files; interpreted, arrays refuse indices outside them and negative ones."""
    members = [learners.get(name)(), *learners.get(name).at_corners()[:2]]
    counts = fuzz_sessions.fuzz(members, 12 if numba.config.DISABLE_JIT else 30, seed=len(name))
    assert counts["refused"] > 0
    assert set(counts) <= {"refused", "played"}


def run_fuzzer(bounds_checked):
    command = [sys.executable, Path(fuzz_sessions.__file__), "--cases", "0"]
    return subprocess.run(
        command, env={**os.environ, "NUMBA_BOUNDSCHECK": bounds_checked}, capture_output=True, text=True
    )


def test_the_fuzzer_runs_only_where_bounds_are_checked():
    """It first reads past the end of an array, which must raise, also with a warm cache of both kinds."""
    message = "fuzz_sessions: set NUMBA_BOUNDSCHECK=1 (or NUMBA_DISABLE_JIT=1): bounds checking is off.\n"
    for _ in range(2):
        assert run_fuzzer("0").stderr == message
        checked = run_fuzzer("1")
        assert checked.stdout.startswith("0 files of "), checked.stderr


@pytest.mark.parametrize("index", [-1, (0, -1), (slice(None), -2)])
def test_a_negative_index_is_detected(index):
    guarded = np.zeros((3, 3)).view(fuzz_sessions.Guarded)
    with pytest.raises(IndexError, match=r"^negative index"):
        guarded[index]
