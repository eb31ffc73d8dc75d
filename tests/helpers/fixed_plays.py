"""Plays of every registered class on fixed input, summarised by a few numbers: learners and detectors.

`fixed_environments` has those of paths, noises, adversaries and the engine. Losses have values in general position, so
that no decision depends on the last bits of a sum.
"""

import json
from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np

from driftwise.core.measures import Measures, collected
from driftwise.learners import Learner
from driftwise.learners.base import HintedLearner
from driftwise.registry import versions

SETTINGS = ((2, 400), (3, 300), (6, 200))  # actions, rounds
BANDIT_RUNS = (600, 700, 800, 900, 1000)  # rounds of more runs of bandit learners
MEASURES = {
    "stationary": Measures(2, 400, 1, 0.7, 60.0, change_points=()),
    "switching": Measures(3, 300, 4, 1.6, 45.0, change_points=(75, 150, 225)),
    "drifting": Measures(6, 200, 200, 4.0, 10.0, change_points=tuple(range(1, 200))),
    "long": Measures(3, 100_000, 3, 2.0, 20_000.0, change_points=(100, 200)),
}


class Play(NamedTuple):
    """What was played: the versions of the classes in it, and a function that plays it and returns numbers."""

    versions: dict[str, int]
    numbers: Callable[[], list[Any]]


def losses(n_actions, n_rounds, n_segments=4):
    """Return losses whose best action changes, with noise of a size that differs between actions."""
    rng = np.random.default_rng([n_actions, n_rounds])
    best = np.arange(n_rounds) * n_segments // n_rounds % n_actions
    means = np.where(np.arange(n_actions) == best[:, None], 0.3, 0.6)
    return means + np.linspace(0.2, 0.5, n_actions) * (rng.random((n_rounds, n_actions)) - 0.5)


def quarters(per_round):
    """Return the sums of the first quarter, half, three quarters and all rounds."""
    ends = np.arange(1, 5) * len(per_round) // 4 - 1
    return np.cumsum(per_round, axis=0)[ends].ravel().tolist()


def learner_numbers(learner):
    """Return cumulative losses, and the last weights or how often each action was played."""
    found = []
    for n_actions, n_rounds in SETTINGS:
        table = losses(n_actions, n_rounds)
        found += played_numbers(learner.run(learner.start(n_actions, seed=1), table), table)
        if isinstance(learner, HintedLearner):
            found += played_numbers(learner.run(learner.start(n_actions), table, hints=table[::-1]), table)
    if learner.feedback == "full":
        return found
    # Actions show a slightly different index or threshold in many rounds only, probabilities in a few. Runs are short,
    # because some learners amplify rounding errors: after 2,000 rounds of Tsallis-INF, they change actions.
    for n_rounds in BANDIT_RUNS:
        table = losses(3, n_rounds, n_segments=6)
        found += played_numbers(learner.run(learner.start(3, seed=n_rounds), table), table)
    return found + probabilities(learner, losses(3, 100))


def played_numbers(played, table):
    if played.ndim == 2:
        return quarters((played * table).sum(axis=1)) + played[-1].tolist()
    incurred = table[np.arange(len(table)), played]
    return quarters(incurred) + np.bincount(played, minlength=table.shape[1]).tolist()


def probabilities(learner, table):
    """Return sums of the probabilities of the chosen actions, 0 where they have no closed form."""
    state, found = learner.start(table.shape[1], seed=3), []
    for row in table:
        action, probability = learner.choose(state)
        learner.update(state, action, float(row[action]), probability)
        found.append(probability or 0.0)
    return quarters(found)


def learner_plays(kind):
    """Return the plays of a learner with its defaults, at its corners and tuned, and its bounds."""
    default, tuned = kind(), {}
    if "tuned" in {name for owner in kind.__mro__[: kind.__mro__.index(Learner)] for name in vars(owner)}:
        with collected():
            tuned = {f"tuned, {name}": kind.tuned(measures) for name, measures in MEASURES.items()}
    corners = {as_text(setting): kind(**setting) for setting in kind.corners.settings()}
    found = {
        name: Play(versions(member), lambda member=member: learner_numbers(member))
        for name, member in {"defaults": default, **corners, **tuned}.items()
    }
    for name, member in {"defaults": default, **tuned}.items():
        bounds = [member.bound(measures) for measures in MEASURES.values()]
        if any(bound is not None for bound in bounds):
            found[f"{name}, bounds"] = Play(versions(member), lambda bounds=bounds: bounds)
    return found


def as_text(spec):
    return json.dumps(spec, sort_keys=True)


def detector_plays(kind):
    """Return the alarms of a detector with its defaults."""
    member = kind()
    return {"defaults": Play(versions(member), lambda: detector_numbers(member))}


def detector_numbers(member):
    """Return the number of alarms and the sum of their rounds on streams with jumps of several sizes."""
    found, rng = [], np.random.default_rng(1)
    for jump in np.linspace(0.1, 0.6, 11):
        means = np.where(np.arange(20_000) // 500 % 2, 0.2, 0.2 + jump)
        alarms = member.alarms(means + 0.4 * (rng.random(means.size) - 0.5))
        found += [len(alarms), int(alarms.sum())]
    return found
