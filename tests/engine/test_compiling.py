"""Compiling in advance, and the notice that a first run compiles."""

import numba
import numpy as np
import pytest

from driftwise.cli.progress import compile_notice
from driftwise.core.kernel import kernel
from driftwise.core.types import Vector
from driftwise.engine.compile_ahead import compile_learner
from driftwise.learners import UCB1, OptimisticHedge, learners

compiler = pytest.mark.skipif(numba.config.DISABLE_JIT, reason="without the compiler nothing is compiled")


def compile_something():
    @kernel
    def new_kernel(values: Vector) -> float:
        return values[0] + 1.0

    fresh = numba.njit(new_kernel.py_func)  # without a cache
    fresh.driftwise_digest = "0"  # as a kernel has it
    return fresh(np.zeros(1))


@compiler
def test_a_long_compilation_is_reported_once(monkeypatch, capsys):
    monkeypatch.setattr("driftwise.core.compile_notice._LONG", 0.0)
    monkeypatch.setattr("driftwise.core.kernel.NOTICE._printed", False)
    with compile_notice(quiet=False):
        compile_something()
        compile_something()
    assert capsys.readouterr().err == (
        "driftwise: compiling the engine for this machine, once; later runs load it from the cache"
        " (`driftwise compile` does it ahead).\n"
    )


@compiler
def test_a_short_compilation_and_quiet_mode_report_nothing(monkeypatch, capsys):
    monkeypatch.setattr("driftwise.core.kernel.NOTICE._printed", False)
    with compile_notice(quiet=False):
        monkeypatch.setattr("driftwise.core.compile_notice._LONG", 1e6)
        compile_something()
    monkeypatch.setattr("driftwise.core.compile_notice._LONG", 0.0)
    with compile_notice(quiet=True):
        compile_something()
    assert capsys.readouterr().err == ""


@compiler
@pytest.mark.parametrize("learner", [UCB1(), OptimisticHedge()], ids=str)
def test_what_is_compiled_ahead_needs_no_compiler_later(learner, monkeypatch):
    compile_learner(learner)
    monkeypatch.setattr(numba.core.dispatcher._FunctionCompiler, "compile", lambda *_: pytest.fail("compiled again"))
    compile_learner(learner)


def test_every_learner_can_be_compiled_ahead():
    for name in learners:
        compile_learner(learners.get(name)())
