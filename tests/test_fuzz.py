"""Mutated session files are refused or played on with; nothing crashes, hangs, or plays what is no play."""

import os
import subprocess
import sys
from pathlib import Path

import numba
import pytest

import fuzz_sessions
from driftwise.learners import learners

SCRIPT = Path(fuzz_sessions.__file__)


@pytest.mark.interpreted
@pytest.mark.parametrize("name", sorted(learners))
def test_mutated_sessions_are_refused_or_played_on_with(name):
    """`make fuzz` has a hundred thousand files; interpreted, arrays refuse indices outside them and negative ones."""
    members = [learners.get(name)(), *learners.get(name).at_corners()[:2]]
    counts = fuzz_sessions.fuzz(members, 12 if numba.config.DISABLE_JIT else 30, seed=len(name))
    assert counts["refused"] > 0
    assert set(counts) <= {"refused", "played"}


def test_the_fuzzer_runs_only_where_bounds_are_checked():
    """Its first act is to read past the end of an array, which must raise: with a warm cache too."""
    for _ in range(2):
        off = subprocess.run([sys.executable, SCRIPT], env=environment("0"), capture_output=True, text=True)
        assert off.stderr == "fuzz_sessions: set NUMBA_BOUNDSCHECK=1 (or NUMBA_DISABLE_JIT=1): bounds checking is off.\n"
        on = subprocess.run([sys.executable, SCRIPT, "--cases", "0"], env=environment("1"), capture_output=True, text=True)
        assert (on.returncode, on.stdout[:12]) == (0, "0 files of "), on.stderr


def environment(checked):
    return {**os.environ, "NUMBA_BOUNDSCHECK": checked}


@pytest.mark.parametrize("index", [-1, (0, -1), (slice(None), -2)])
def test_a_negative_index_is_looked_for(index):
    import numpy as np

    guarded = np.zeros((3, 3)).view(fuzz_sessions.Guarded)
    with pytest.raises(IndexError, match="^negative index"):
        guarded[index]
