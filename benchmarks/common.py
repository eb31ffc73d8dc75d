"""Shared parts of the benchmarks: extent, losses, environments, and text of the results."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from timing import seconds

from driftwise import Bernoulli, Environment, Switching
from driftwise.core.types import Matrix
from driftwise.learners import Learner, learners
from driftwise.report.tables import number

__all__ = [
    "FULL",
    "QUICK",
    "SEED",
    "Effort",
    "all_learners",
    "block_time",
    "grows",
    "losses_of",
    "scaled",
    "switching_environment",
    "verdict",
]

SEED = 1


class Effort(NamedTuple):
    """The extent of a measurement."""

    n_rounds: int
    repetitions: int
    long: float  # seconds: a block that takes longer is not extended


FULL = Effort(n_rounds=20_000, repetitions=11, long=0.1)
QUICK = Effort(n_rounds=2_000, repetitions=3, long=0.02)


def verdict(holds: bool) -> str:
    """Return whether a target is met, as text."""
    return "ok" if holds else "MISSED"


def scaled(factor: float, *values: float) -> list[str]:
    """Return seconds in another unit, as text."""
    return [number(value * factor) for value in values]


def all_learners() -> list[Learner]:
    """Return every learner of the registry, with its default parameters."""
    return [learners.get(name)() for name in learners]


def switching_environment(n_actions: int) -> Environment:
    """Return a switching environment."""
    return Environment(Switching(n_segments=8, n_actions=n_actions), Bernoulli())


def losses_of(kind: str, n_rounds: int, n_actions: int) -> Matrix:
    """Return a block of losses, "uniform" or "switching"."""
    if kind == "uniform":
        return np.random.default_rng(SEED).random((n_rounds, n_actions))
    return switching_environment(n_actions).start(n_rounds, SEED).draw(n_rounds).losses


def block_time(learner: Learner, losses: Matrix) -> float:
    """Return the seconds that a learner takes for a block, from its initial state, without checks of the losses."""
    state = learner.start(losses.shape[1])
    return seconds(lambda: learner.play_block(state, losses))


def grows(learner: Learner) -> bool:
    """Return whether later rounds of a learner take longer than its first rounds."""
    losses = losses_of("uniform", 1000, 2)
    block_time(learner, losses[:1])  # compiles
    early, late = [], []
    for _ in range(5):
        state = learner.start(2)
        early.append(seconds(lambda state=state: learner.play_block(state, losses[:250])))
        learner.play_block(state, losses[250:750])
        late.append(seconds(lambda state=state: learner.play_block(state, losses[750:])))
    return min(late) > 3 * min(early)
