"""Compiling in advance, and the notice that a first run compiles."""

import numba
import numpy as np
import pytest
from numba.core import event

from driftwise import simulate
from driftwise.cli.progress import compile_notice
from driftwise.core.kernel import kernel, kinds_of
from driftwise.core.types import Vector
from driftwise.engine.compile_ahead import compile_learner
from driftwise.environments import stationary
from driftwise.learners import UCB1, Hedge, OptimisticHedge, learners
from driftwise.learners.base.loops import expert_loops

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


class Clock:
    """Stands for the module `time`; notes each reading in a list, in which the compiler is noted as well."""

    def __init__(self, notes):
        self.notes = notes

    def perf_counter(self):
        self.notes.append("clock")
        return float(len(self.notes))


@compiler
def test_the_seconds_of_a_first_simulation_are_without_compilation(monkeypatch):
    notes, listener, environment = [], event.RecordingListener(), stationary(2)
    simulate(environment, Hedge(), 4, 1)  # compiles the engine
    loops = expert_loops("fresh-hedge", kinds_of(Hedge), Hedge.compiled_loops.kernels.update)  # no other test has them
    monkeypatch.setattr(Hedge, "compiled_loops", loops)
    monkeypatch.setattr(listener, "on_start", lambda _: notes.append("compiler"))
    monkeypatch.setattr("driftwise.engine.run.time", Clock(notes))
    with event.install_listener("numba:compiler_lock", listener):
        seconds = simulate(environment, Hedge(), 4, 1, block_size=2).seconds
    assert "compiler" in notes  # these loops were compiled, or read from disk
    assert notes[-4:] == 4 * ["clock"]  # before and after each of two blocks
    assert seconds == {"hedge": 2.0}
