"""What the regret study plays: cells, the learners that are scored in them, and the tuned ones.

A cell is an environment with a number of actions and a number of rounds. Its name contains everything that
distinguishes it. A digest of the name assigns the cell to one of two halves: the default learners were tuned on the
half "tuning" (`docs/decisions.md` has one exception), and both are reported. The learners are in two files beside this
one.
"""

from __future__ import annotations

import functools
import hashlib
import tomllib
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from importlib import resources
from typing import NamedTuple

import numpy as np

from driftwise.adversaries import Adversary, BanditLow, FullLow, FullV
from driftwise.environments import (
    Bernoulli,
    Bursts,
    Constant,
    Deterministic,
    Environment,
    Linear,
    Noise,
    Path,
    RandomSegments,
    RandomWalk,
    Segments,
    SingleChanges,
    Sinusoidal,
    SparseBernoulli,
    Switching,
    TwoPoint,
)
from driftwise.learners import DEFAULT_LEARNERS, Player, learners
from driftwise.sweeps.sweep import spread

HALVES = ("tuning", "untouched")
KINDS = ("constant", "switching", "drifting", "adversary")
SHORT, MEDIUM, LONG = 1_000, 10_000, 100_000  # numbers of rounds
_DRIFTING = (Linear, RandomWalk, Sinusoidal)
_FEW, _SOME, _MANY = 2, 5, 20  # actions
#: scored learners that play almost uniformly in runs of these lengths: AdSwitch in 8 segments with five actions, 5,000
#: rounds and Bernoulli losses has regret 800, as uniform play
NEARLY_UNIFORM = ("adswitch",)

NOISES: dict[str, Noise] = {
    "no noise": Deterministic(),
    "low noise": TwoPoint(scale=0.05),
    "Bernoulli": Bernoulli(),
    "mixed noise": SparseBernoulli((1.0, 0.0, 0.1)),  # differs between actions
    "outliers": SparseBernoulli((0.02,)),
}


def _means(best: float, rest: float, n_actions: int) -> tuple[float, ...]:
    return (*[rest] * (n_actions - 1), best)


def _linear(n_actions: int, n_rounds: int) -> Path:  # noqa: ARG001
    first = np.linspace(0.2, 0.8, n_actions)
    return Linear(tuple(first), tuple(first[::-1]))


def _late_change(n_actions: int, n_rounds: int) -> Path:
    """Return a path whose worst action becomes the best one after four fifths of the rounds."""
    others = (*[0.6] * (n_actions - 2), 0.4)
    return Segments(((0.8, *others), (0.1, *others)), (n_rounds * 4 // 5,))


# How the means move, for a number of actions and a number of rounds, and with which noises.
PATHS: dict[str, tuple[Callable[[int, int], Path], tuple[str, ...]]] = {
    "constant, gap 0.4": (lambda K, _: Constant(_means(0.3, 0.7, K)), ("no noise", "low noise", "Bernoulli")),
    "constant, gap 0.05": (lambda K, _: Constant(_means(0.5, 0.55, K)), ("low noise", "Bernoulli")),
    "constant near 0": (lambda K, _: Constant(_means(0.05, 0.1, K)), ("Bernoulli",)),
    "constant near 1": (lambda K, _: Constant(_means(0.9, 0.95, K)), ("Bernoulli",)),
    "constant, gap 0.2": (lambda K, _: Constant(_means(0.4, 0.6, K)), ("mixed noise", "outliers")),
    "2 segments": (lambda K, _: Switching(2, K, 0.3, 0.7), ("low noise", "Bernoulli")),
    "8 segments": (lambda K, _: Switching(8, K), ("no noise", "low noise", "Bernoulli", "mixed noise", "outliers")),
    "8 segments near 0": (lambda K, _: Switching(8, K, 0.05, 0.1), ("Bernoulli",)),
    "8 segments near 1": (lambda K, _: Switching(8, K, 0.9, 0.95), ("Bernoulli",)),
    "40 segments": (lambda K, _: Switching(40, K, 0.3, 0.7), ("no noise", "Bernoulli")),
    "8 random segments": (lambda K, _: RandomSegments(8, K, 0.1, 0.9, lengths="random"), ("low noise", "Bernoulli")),
    "one action changes": (lambda K, _: SingleChanges(12, K, 0.1, 0.9, lengths="random"), ("low noise", "Bernoulli")),
    "slow sinusoid": (lambda K, _: Sinusoidal(K, 2.0, 0.3), ("low noise", "Bernoulli")),
    "fast sinusoid": (lambda K, _: Sinusoidal(K, 20.0, 0.3), ("no noise", "Bernoulli")),
    "linear": (_linear, ("low noise", "Bernoulli")),
    "random walk": (lambda K, T: RandomWalk(K, 0.5 / T**0.5, 0.1, 0.9), ("low noise", "Bernoulli")),
    "bursts": (lambda K, T: Bursts(6, T // 50, K), ("no noise", "Bernoulli")),
    "late change": (_late_change, ("low noise", "Bernoulli")),
}

# The paper's lower bounds, for a number of actions and a number of rounds; they draw their changes.
ADVERSARIES: dict[str, Callable[[int, int], Adversary]] = {
    "Theorem 4.1, 8 segments": lambda K, _: BanditLow(8, K),
    "Theorem 4.2, 8 segments": lambda K, T: FullLow(8, T / 50, K),
    "Theorem 4.3": lambda K, T: FullV(4.0, T / 50, K),
}


@dataclass(frozen=True)
class StudyCell:
    """An environment or an adversary that draws its changes, with a number of rounds."""

    name: str
    source: Environment | Adversary
    n_actions: int
    n_rounds: int

    @property
    def feedbacks(self) -> tuple[str, ...]:
        """The feedbacks of the learners that play it: that of the adversary's theorem, or both."""
        return self.source.feedbacks if isinstance(self.source, Adversary) else ("full", "bandit")

    @functools.cached_property
    def half(self) -> str:
        """One of `HALVES`, by a digest of the name."""
        return HALVES[hashlib.sha256(self.name.encode()).digest()[0] % 2]

    @property
    def kind(self) -> str:
        """One of `KINDS`: how the means move."""
        if isinstance(self.source, Adversary):
            return "adversary"
        path = self.source.path
        return "constant" if isinstance(path, Constant) else "drifting" if isinstance(path, _DRIFTING) else "switching"


# Cells with 100,000 rounds: (path or adversary, noise, actions).
_LONG_CELLS = (
    ("constant, gap 0.4", "Bernoulli", 5),
    ("constant, gap 0.05", "Bernoulli", 5),
    ("constant near 0", "Bernoulli", 5),
    ("2 segments", "Bernoulli", 2),
    ("8 segments", "Bernoulli", 5),
    ("8 segments", "low noise", 5),
    ("40 segments", "Bernoulli", 2),
    ("8 random segments", "Bernoulli", 20),
    ("one action changes", "Bernoulli", 5),
    ("slow sinusoid", "Bernoulli", 5),
    ("fast sinusoid", "Bernoulli", 2),
    ("random walk", "Bernoulli", 5),
    ("bursts", "Bernoulli", 2),
    ("late change", "Bernoulli", 5),
    ("Theorem 4.1, 8 segments", "", 2),
)


def make_cell(kind: str, noise: str, n_actions: int, n_rounds: int) -> StudyCell:
    """Return the cell of a path with a noise, or of an adversary (noise ""), of any size."""
    name = f"{kind}{f', {noise}' if noise else ''}, K = {n_actions}, T = {n_rounds}"
    if noise:
        source: Environment | Adversary = Environment(PATHS[kind][0](n_actions, n_rounds), NOISES[noise])
    else:
        source = ADVERSARIES[kind](n_actions, n_rounds)
    return StudyCell(name, source, n_actions, n_rounds)


def kinds() -> list[tuple[str, str]]:
    """Return all pairs of a path and a noise, and all adversaries with the noise ""."""
    pairs = [(path, noise) for path, (_, noises) in PATHS.items() for noise in noises]
    return [*pairs, *((adversary, "") for adversary in ADVERSARIES)]


@functools.cache
def cells() -> tuple[StudyCell, ...]:
    """Return all cells: each path with each of its noises, and each adversary, at four sizes, and the long cells.

    Five actions are combined with both numbers of rounds; two and twenty actions with one of them, in turn.
    """
    study_cells = []
    for i, (kind, noise) in enumerate(kinds()):
        few, many = (SHORT, MEDIUM) if i % 2 else (MEDIUM, SHORT)
        sizes = ((_FEW, few), (_SOME, SHORT), (_SOME, MEDIUM), (_MANY, many))
        study_cells += [make_cell(kind, noise, n_actions, n_rounds) for n_actions, n_rounds in sizes]
    return (*study_cells, *(make_cell(*cell, LONG) for cell in _LONG_CELLS))


def quick_cells() -> tuple[StudyCell, ...]:
    """Return the cells with 1,000 rounds and five actions: one of each kind."""
    return tuple(cell for cell in cells() if (cell.n_actions, cell.n_rounds) == (_SOME, SHORT))


class ScoredLearner(NamedTuple):
    """A learner that is scored, with its label."""

    label: str
    player: Player

    @property
    def is_default(self) -> bool:
        """Whether it is one of the default learners."""
        return self.player.kind in DEFAULT_LEARNERS.values()

    @property
    def settings_text(self) -> str:
        """The parameters that differ from the defaults, "" if there are none."""
        usual = Player(self.player.name).settings
        changed = {name: value for name, value in self.player.settings.items() if value != usual[name]}
        return ", ".join(f"{name} = {value}" for name, value in changed.items())


@functools.cache
def scored_learners(feedback: str) -> tuple[ScoredLearner, ...]:
    """Return the learners with this feedback, the default one first."""
    others = _tables("scored_learners.toml", feedback)
    return (_scored({"name": DEFAULT_LEARNERS[feedback].name}), *map(_scored, others))


def chosen_learners(names: Sequence[str]) -> dict[str, tuple[ScoredLearner, ...]]:
    """Return learners by feedback and in this order: as they are scored, or else with their default parameters."""
    scored = {learner.player.name: learner for feedback in DEFAULT_LEARNERS for learner in scored_learners(feedback)}
    chosen: dict[str, list[ScoredLearner]] = {feedback: [] for feedback in DEFAULT_LEARNERS}
    for name in dict.fromkeys(names):
        chosen[learners.get(name).feedback].append(scored.get(name) or _scored({"name": name}))
    return {feedback: tuple(some) for feedback, some in chosen.items()}


def _scored(spec: dict[str, object]) -> ScoredLearner:
    player = Player.from_spec(spec)
    return ScoredLearner(f"{player.name} (given T)" if player.tuned else player.name, player)


@functools.cache
def tuned_learners(feedback: str) -> tuple[Player, ...]:
    """Return the learners with this feedback from which the best is chosen in hindsight, in every cell."""
    tables = _tables("tuned_learners.toml", feedback)
    return tuple(Player.from_spec(values) for table in tables for values in spread(table))


@functools.cache
def rival_learners(feedback: str) -> tuple[Player, ...]:
    """Return tuned learners that join these in families of worlds: on grids, and not of the default's own kind."""
    tables = _tables("tuned_learners.toml", f"{feedback}-rivals")
    return tuple(Player.from_spec(values) for table in tables for values in spread(table))


def _tables(file: str, section: str) -> list[dict[str, object]]:
    text = (resources.files(__package__) / file).read_text(encoding="utf-8")
    return [*tomllib.loads(text).get(section, [])]
