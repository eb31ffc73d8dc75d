"""What the sections of the benchmark share: how much to measure, on which losses, and how to say what came out."""

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
    "block_time",
    "everyone",
    "grows",
    "losses_of",
    "scaled",
    "verdict",
    "world",
]

SEED = 1


class Effort(NamedTuple):
    """How much to measure."""

    n_rounds: int
    repetitions: int
    long: float  # seconds after which a learner is given no more rounds


FULL = Effort(n_rounds=20_000, repetitions=11, long=0.1)
QUICK = Effort(n_rounds=2_000, repetitions=3, long=0.02)


def verdict(holds: bool) -> str:
    """Say whether a number is as promised."""
    return "ok" if holds else "MISSED"


def scaled(factor: float, *values: float) -> list[str]:
    """Write seconds in another unit."""
    return [number(value * factor) for value in values]


def everyone() -> list[Learner]:
    """Return every learner of the registry, with its default parameters."""
    return [learners.get(name)() for name in learners]


def world(n_actions: int) -> Environment:
    """Return a switching environment."""
    return Environment(Switching(n_segments=8, n_actions=n_actions), Bernoulli())


def losses_of(kind: str, n_rounds: int, n_actions: int) -> Matrix:
    """Return a block of losses, "uniform" or "switching"."""
    if kind == "uniform":
        return np.random.default_rng(SEED).random((n_rounds, n_actions))
    return world(n_actions).start(n_rounds, SEED).draw(n_rounds).losses


def block_time(learner: Learner, losses: Matrix) -> float:
    """Return the seconds a fresh learner takes for a block that was checked before."""
    state = learner.start(losses.shape[1])
    return seconds(lambda: learner.play_block(state, losses))


def grows(learner: Learner) -> bool:
    """Say whether a learner's later rounds cost it more than its first."""
    losses = losses_of("uniform", 1000, 2)
    block_time(learner, losses[:1])  # compiles
    early, late = [], []
    for _ in range(5):
        state = learner.start(2)
        early.append(seconds(lambda state=state: learner.play_block(state, losses[:250])))
        learner.play_block(state, losses[250:750])
        late.append(seconds(lambda state=state: learner.play_block(state, losses[750:])))
    return min(late) > 3 * min(early)
