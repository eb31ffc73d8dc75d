"""Compiled kernels on disk: a damaged file is compiled again, with the same plays and without a message."""

import ast
import importlib.util
import os
import pickle
import re
import subprocess
import sys

import numba
import numpy as np
import pytest


def flipped(content):
    copy = bytearray(content)
    copy[len(copy) // 2] ^= 1
    return bytes(copy)


DAMAGES = {
    "cut to half": lambda content: content[: len(content) // 2],
    "cut by one byte": lambda content: content[:-1],
    "emptied": lambda _: b"",
    "zeros": lambda content: bytes(len(content)),
    "other bytes": lambda content: np.random.default_rng(0).bytes(len(content)),
    "a flipped bit": flipped,
    "a pickle of something else": lambda _: pickle.dumps(3),
}
SOURCE = """
from driftwise.core.kernel import kernel

@kernel
def twice(x: float) -> float:
    return 2.0 * x
"""


@pytest.fixture
def twice(tmp_path, monkeypatch):
    """Return a function that imports a kernel again, calls it, and returns its value and whether it was cached."""
    monkeypatch.setattr(numba.config, "CACHE_DIR", str(tmp_path / "cache"))
    (tmp_path / "module.py").write_text(SOURCE)

    def call():
        spec = importlib.util.spec_from_file_location("module", tmp_path / "module.py")
        module = importlib.util.module_from_spec(spec)
        spec.loader.exec_module(module)
        return module.twice(4.0), sum(module.twice.stats.cache_hits.values())

    return call


def cached(folder, suffix):
    (file,) = (folder / "cache").rglob(f"*{suffix}")
    return file


@pytest.mark.parametrize("suffix", [".nbi", ".nbc"])
@pytest.mark.parametrize("damage", DAMAGES.values(), ids=DAMAGES)
def test_a_damaged_cache_file_is_compiled_again(suffix, damage, twice, tmp_path):
    assert twice() == (8.0, 0)
    assert twice() == (8.0, 1)
    file = cached(tmp_path, suffix)
    file.write_bytes(damage(file.read_bytes()))
    assert twice() == (8.0, 0)
    assert twice() == (8.0, 1)


def test_missing_machine_code_is_compiled_again(twice, tmp_path):
    twice()
    cached(tmp_path, ".nbc").unlink()
    assert twice() == (8.0, 0)


def test_a_cache_that_cannot_be_written_stops_nothing(twice, monkeypatch):
    def refuse(*_):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, "replace", refuse)
    assert twice() == (8.0, 0)
    assert twice() == (8.0, 0)


HEDGE = """
import numpy as np
from driftwise.learners import Hedge
learner = Hedge()
print([learner.run(learner.start(2), np.eye(2)).tolist(), sum(learner.loops.run.stats.cache_hits.values())])
"""


def test_a_learner_plays_the_same_with_a_damaged_cache(tmp_path):
    environment = {**os.environ, "NUMBA_CACHE_DIR": str(tmp_path / "cache")}

    def play():
        command = [sys.executable, "-c", HEDGE]
        done = subprocess.run(command, env=environment, capture_output=True, text=True, check=False)
        assert re.fullmatch("(driftwise: compiling .*\n)?", done.stderr)
        return ast.literal_eval(done.stdout)

    plays, _ = play()
    assert play() == [plays, 1]
    damages = [*DAMAGES.values()]
    for suffix in (".nbi", ".nbc"):
        for k, file in enumerate(sorted((tmp_path / "cache").rglob(f"*{suffix}"))):
            file.write_bytes(damages[k % len(damages)](file.read_bytes()))
    assert play() == [plays, 0]
    assert play() == [plays, 1]
