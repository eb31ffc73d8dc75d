"""Compile ahead of time: play a few rounds of everything, so that the compiled code is on disk."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numba
import numpy as np

from driftwise.engine.session import Session
from driftwise.engine.simulation import simulate
from driftwise.environments import Bernoulli, Environment, Sinusoidal, Switching
from driftwise.learners import BanditLearner, Hedge, Learner, PythonLearner
from driftwise.learners.base import HintedLearner


def compile_learner(learner: Learner) -> None:
    """Compile the loops of a learner for blocks, live rounds and hints; they serve any number of actions.

    A `PythonLearner` has nothing to compile.
    """
    if isinstance(learner, PythonLearner):
        return
    losses = np.full((2, 2), 0.5)
    learner.run(learner.start(2), losses)  # type: ignore[attr-defined]
    session = Session(learner, 2)
    if isinstance(learner, BanditLearner):
        session.update(*session.choose(), loss=0.5)
    else:
        session.update(losses[0])
    if isinstance(learner, HintedLearner):
        session.hint(losses[0])
        learner.run(learner.start(2), losses, losses)


def compile_engine() -> None:
    """Compile the parts of a simulation other than learners, for weights and for sampled actions."""
    for path in (Switching(2, 2), Sinusoidal(2)):
        simulate(Environment(path, Bernoulli()), Hedge(), n_rounds=4, n_runs=1, n_threads=1)
    simulate(Environment(Switching(2, 2), Bernoulli()), Hedge(), 4, 1, play="sample", n_threads=1)


def cache_folder() -> Path:
    """Return the folder with the compiled code; if there are several, the first."""
    chosen = numba.config.CACHE_DIR  # type: ignore[attr-defined]
    run: Any = Hedge.compiled_loops.run
    return Path(chosen or run.stats.cache_path)
