"""Compiling ahead: play everything once, so that the compiled code is on disk."""

from __future__ import annotations

from pathlib import Path

import numba
import numpy as np

from driftwise.engine.session import Session
from driftwise.engine.simulate import simulate
from driftwise.environments import Bernoulli, Environment, Sinusoidal, Switching
from driftwise.learners import BanditLearner, Hedge, Learner
from driftwise.learners.contract import HintedLearner

__all__ = ["cache_folder", "compile_engine", "compile_learner"]


def compile_learner(learner: Learner) -> None:
    """Compile what blocks, live rounds and hints of a learner need; the number of actions does not matter."""
    losses = np.full((2, 2), 0.5)
    learner.run(learner.start(2), losses)  # type: ignore[attr-defined]
    session = Session(learner, 2)
    if isinstance(learner, BanditLearner):
        action, probability = session.choose()
        session.update(action, 0.5, probability)
    else:
        session.update(losses[0])
    if isinstance(learner, HintedLearner):
        session.hint(losses[0])
        learner.run(learner.start(2), losses, losses)


def compile_engine() -> None:
    """Compile what a simulation needs beside its learners, with weights and with drawn actions."""
    for path in (Switching(2, 2), Sinusoidal(2)):
        simulate(Environment(path, Bernoulli()), Hedge(), n_rounds=4, n_runs=1, n_threads=1)
    simulate(Environment(Switching(2, 2), Bernoulli()), Hedge(), 4, 1, play="sample", n_threads=1)


def cache_folder() -> Path:
    """Return the folder in which compiled code is kept, the first of several beside the package."""
    chosen = numba.config.CACHE_DIR  # type: ignore[attr-defined]
    return Path(chosen or Hedge.compiled_loops.run.stats.cache_path)  # type: ignore[attr-defined]
