"""The base class of adversaries, their registry, the scripts that they write and the environments that play these.

An adversary is a frozen dataclass with the parameters of a lower bound. `against` returns an environment within
`budget` in which the expected regret is at least `guarantee`.

In the mode "random" it needs no learner: every run draws its own choices, and the guarantee holds for every learner on
average over runs (Yao's principle). In the other modes it tries its choices on copies of the learner, each with its own
seed, and then fixes one script for all runs. That is the proof with Monte Carlo estimates in place of expectations:
exact for a learner without random draws in an environment without noise, otherwise up to the estimates' error. Evaluate
it on other copies, as `simulate` does; regret on the copies that it was tried on is biased.

All lower bounds of the paper have piecewise constant means in which one action may be the favourite. The size of a
script depends on the number of stretches, not of rounds; means and losses are made from it block by block.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any, ClassVar, Self, TypeVar, cast

import numpy as np

from driftwise.core.errors import InvalidInput, rejection
from driftwise.core.measures import Measures
from driftwise.core.types import Actions, Matrix, Vector
from driftwise.core.validation import check_memory, check_seed, count, require_choice, require_count
from driftwise.environments import Block, Deterministic, LossSource, MeasuresAccumulator, Noise, Seed, Stream
from driftwise.environments.environment import BYTES_PER_LOSS, generators
from driftwise.learners import BanditLearner, ExpertLearner, Learner, PythonLearner, State
from driftwise.registry import Registered, Registry, to_spec

NO_FAVOURITE = -1  # the favourite of a stretch that has none
NO_NOISE = Deterministic()
_MEASURED_CELLS = 40960  # means measured at a time: a third of a megabyte
_COPIED_CELLS = 2**17  # losses of copies in memory at a time
_COPY_BYTES = 1500  # of a copy of a learner besides its numbers, as measured


@dataclass(frozen=True, eq=False)
class Script:
    """Piecewise constant means: stretch `j` starts in round `starts[j]` and has the favourite `favourites[j]`.

    Parameters
    ----------
    base : array of float
        The means without a favourite.
    low : float
        The mean of a favourite.
    starts : array of int
        The first round of each stretch, increasing from 0.
    favourites : array of int
        The favourite action of each stretch, `NO_FAVOURITE` (-1) for none.
    noisy : int, default 0
        Number of noisy rounds at the start of each stretch. After them the losses equal their means.
    noise : Noise, default Deterministic()
        The noise of these rounds.

    Examples
    --------
    >>> script = Script(np.array([0.5, 1.0]), 0.0, starts=np.array([0, 2]), favourites=np.array([NO_FAVOURITE, 1]))
    >>> script.moments(first=1, n=2)[0]
    array([[0.5, 1. ],
           [0.5, 0. ]])
    """

    base: Vector
    low: float
    starts: Actions
    favourites: Actions
    noisy: int = 0
    noise: Noise = NO_NOISE

    def moments(self, first: int, n: int) -> tuple[Matrix, Matrix, Actions]:
        """Return the means and variances of `n` rounds from round `first` on, and which of them are noisy."""
        rounds = np.arange(first, first + n)
        stretch = np.searchsorted(self.starts, rounds, side="right") - 1
        means, favourites = np.tile(self.base, (n, 1)), self.favourites[stretch]
        rows = np.flatnonzero(favourites != NO_FAVOURITE)
        means[rows, favourites[rows]] = self.low
        noisy = np.flatnonzero(rounds - self.starts[stretch] < self.noisy)
        variances = np.zeros_like(means)
        if noisy.size:
            variances[noisy] = self.noise.moments(means[noisy])[1]
        return means, variances, noisy


class _ScriptStream(Stream):
    def __init__(self, n_rounds: int, script: Script, generator: np.random.Generator) -> None:
        super().__init__(n_rounds, script.base.size)
        self._script = script
        self._generator = generator

    def _next(self, n: int) -> Block:
        means, variances, noisy = self._script.moments(self._drawn, n)
        losses = means.copy()
        if noisy.size:
            losses[noisy] = self._script.noise.draw(means[noisy], self._generator)
        return Block(losses, means, variances)


@dataclass(frozen=True, eq=False)
class AdversarialEnvironment(LossSource):
    """Environment that an adversary made for one learner, or for all; play it with `simulate`.

    It can be played for fewer rounds than it was made for, not for more.

    Parameters
    ----------
    adversary : Adversary
        The adversary that made it.
    learner : Learner or None
        The learner that it was made for, None for all.
    n_rounds : int
        The rounds that it was made for.
    seed : int
        Seed of the adversary's choices.
    script : Script or None
        The script of every run, so that only the noise differs between runs; None draws a script for each run.
    """

    adversary: Adversary
    learner: Learner | None
    n_rounds: int
    seed: int
    script: Script | None
    has_means: ClassVar[bool] = True

    @property
    def n_actions(self) -> int:
        """The number of actions."""
        return self.adversary.n_actions

    def start(self, n_rounds: int, seed: Seed = 0) -> Stream:
        """Return the stream of the first `n_rounds` rounds."""
        n_rounds, script, generator = self._prepare(n_rounds, seed)
        return _ScriptStream(n_rounds, script, generator)

    def measures(self, n_rounds: int, seed: Seed = 0) -> Measures:
        """Return the exact measures of the run that `start` returns; they are within the adversary's budget."""
        n_rounds, script, _ = self._prepare(n_rounds, seed)
        meter = MeasuresAccumulator(self.n_actions)
        length = max(1, _MEASURED_CELLS // self.n_actions)
        for first in range(0, n_rounds, length):
            means, variances, _ = script.moments(first, min(length, n_rounds - first))
            meter.update(means, variances)
        return meter.measures()

    def budget(self, n_rounds: int) -> Measures:
        """Return the budget of the adversary."""
        return self.adversary.budget(n_rounds)

    def to_spec(self) -> dict[str, Any]:
        """Return plain values that name the adversary, the learner, the rounds and the seed."""
        opponent = {} if self.learner is None else {"against": to_spec(self.learner)}
        return {**self.adversary.to_spec(), **opponent, "n_rounds": self.n_rounds, "seed": self.seed}

    def _prepare(self, n_rounds: int, seed: Seed) -> tuple[int, Script, np.random.Generator]:
        n_rounds = count(self, "n_rounds", n_rounds)
        check_memory(self.adversary, "n_actions", self.n_actions, BYTES_PER_LOSS * self.n_actions)
        if n_rounds > self.n_rounds:
            raise rejection(self, "n_rounds", f"<= {self.n_rounds}, the rounds it was made for", n_rounds)
        for_script, for_noise = generators(self, seed, self.seed)
        return n_rounds, self.script or self.adversary.draw(self.n_rounds, for_script), for_noise


AnyLearner = ExpertLearner | BanditLearner | PythonLearner


class LearnerCopies:
    """Copies of one learner, each with its own seed and state.

    Parameters
    ----------
    learner : ExpertLearner, BanditLearner or PythonLearner
        The learner.
    n_actions : int
        Number of actions.
    n_copies : int
        Number of copies.
    seed : int
        Seed from which the copies' seeds are derived.

    Examples
    --------
    >>> from driftwise.learners import Hedge
    >>> LearnerCopies(Hedge(), n_actions=4, n_copies=3, seed=1).next_play()
    array([0.25, 0.25, 0.25, 0.25])
    """

    def __init__(self, learner: AnyLearner, n_actions: int, n_copies: int, seed: int) -> None:
        self._learner = learner
        self._n_actions = n_actions
        seeds = np.random.SeedSequence(seed).generate_state(n_copies, np.uint64)
        self._states: list[State] = [learner.start(n_actions, int(word)) for word in seeds]

    def __len__(self) -> int:
        return len(self._states)

    def copy(self) -> Self:
        """Return the same copies with states that change independently of these."""
        copied = object.__new__(type(self))
        copied._learner, copied._n_actions = self._learner, self._n_actions
        copied._states = [state.copy() for state in self._states]
        return copied

    def next_play(self) -> Vector:
        """Return the average weight of each action in the next round, without playing it."""
        total = np.zeros(self._n_actions)
        learner: Any = self._learner
        for state in self._states:
            if learner.feedback == "full":
                total += learner.predict(state)
            else:
                total[learner.choose(state.copy())[0]] += 1
        return total / len(self)

    def play(self, means: Vector, n_rounds: int, noise: Noise, generator: np.random.Generator) -> Vector:
        """Play rounds with these means, each copy with its own noise; return the average plays of each action."""
        total = np.zeros(self._n_actions)
        most = max(1, _COPIED_CELLS // (len(self) * self._n_actions))
        for first in range(0, n_rounds, most):
            n = min(most, n_rounds - first)
            losses = noise.draw(np.tile(means, (len(self) * n, 1)), generator)
            for j, state in enumerate(self._states):
                played = self._learner.play_block(state, losses[j * n : (j + 1) * n])
                total += played.sum(axis=0) if played.ndim == 2 else np.bincount(played, minlength=self._n_actions)
        return total / len(self)

    def play_constant(self, losses: Vector, n_rounds: int) -> Iterator[Actions]:
        """Play rounds with the same losses in each; yield the actions of each copy (bandit feedback only)."""
        most = max(1, _COPIED_CELLS // self._n_actions)
        rows = np.tile(losses, (min(most, n_rounds), 1))
        for state in self._states:
            parts = [self._learner.play_block(state, rows[: n_rounds - first]) for first in range(0, n_rounds, most)]
            yield np.concatenate(parts)


def draws(learner: AnyLearner, n_actions: int) -> bool:
    """Return whether a learner makes random draws: its first memory then depends on the seed."""
    memory, other = (learner.start(n_actions, seed).memory for seed in (1, 2))
    return not all(np.array_equal(a, b) for a, b in zip(memory, other, strict=True))


class Adversary(Registered, ABC):
    """A lower bound on regret as an environment: its parameters, guarantee and budget."""

    feedbacks: ClassVar[tuple[str, ...]]  # of the learners to which its theorem applies
    modes: ClassVar[tuple[str, ...]]
    n_actions: int
    mode: str
    n_copies: int

    @property
    def least_rounds(self) -> int:
        """The smallest number of rounds that it needs."""
        return 1

    @abstractmethod
    def guarantee(self, n_rounds: int) -> float:
        """Return a lower bound on the expected dynamic regret of every learner, including all rounding."""

    @abstractmethod
    def budget(self, n_rounds: int) -> Measures:
        """Return the largest segments, drift and variance that any of its environments has."""

    @abstractmethod
    def draw(self, n_rounds: int, generator: np.random.Generator) -> Script:
        """Draw a script at random, independent of any learner."""

    @abstractmethod
    def respond(self, copies: LearnerCopies, n_rounds: int, generator: np.random.Generator) -> Script:
        """Choose a script by trying its parts on copies of a learner."""

    def against(self, learner: Learner | None, n_rounds: int, seed: int = 0) -> AdversarialEnvironment:
        """Return the environment for a learner; in the mode "random" it is the same for all, and None is allowed."""
        n_rounds, seed = self.check_rounds(n_rounds), check_seed(self, seed)
        if learner is not None and not isinstance(learner, Learner):
            raise rejection(self, "learner", "a learner or None", learner)
        if learner is not None and learner.feedback not in self.feedbacks:
            raise InvalidInput(
                f"{type(self).__name__}: its theorem is about {' and '.join(self.feedbacks)} feedback,"
                f" got {learner.name} with {learner.feedback} feedback."
            )
        if self.mode == "random":
            return AdversarialEnvironment(self, learner, n_rounds, seed, script=None)
        if learner is None:
            raise rejection(self, "learner", f"a learner in the mode '{self.mode}'", None, "'random' needs none.")
        player = cast(AnyLearner, learner)
        # Without noise, all copies of a learner without random draws would play the same.
        alike = self.budget(n_rounds).variance == 0 and not draws(player, self.n_actions)
        n_copies = 1 if alike else self.n_copies
        numbers = sum(np.size(array) for array in player.start(self.n_actions, seed).memory)
        check_memory(self, "n_copies", n_copies, n_copies * (_COPY_BYTES + 8 * (numbers + self.n_actions)))
        copies = LearnerCopies(player, self.n_actions, n_copies, seed)
        script = self.respond(copies, n_rounds, np.random.default_rng([seed, 1]))
        return AdversarialEnvironment(self, learner, n_rounds, seed, script)

    def to_spec(self) -> dict[str, Any]:
        """Return the plain values that `adversaries.build` turns back into an equal adversary."""
        return to_spec(self)

    def check_rounds(self, n_rounds: int) -> int:
        """Return a number of rounds, or reject it if there are fewer than `least_rounds`."""
        return count(self, "n_rounds", n_rounds, at_least=self.least_rounds)

    def _check_common(self) -> None:
        """Check the fields that all adversaries have; with one action every regret is 0."""
        require_count(self, "n_actions", at_least=2)
        require_choice(self, "mode", self.modes)
        require_count(self, "n_copies")


adversaries: Registry[Adversary] = Registry("adversary")
A = TypeVar("A", bound=type[Adversary])


def adversary(name: str, *, feedbacks: tuple[str, ...], modes: tuple[str, ...]) -> Callable[[A], A]:
    """Register an adversary under `name`, with the feedbacks to which its theorem applies and its modes."""

    def enter(member: A) -> A:
        member.feedbacks, member.modes = feedbacks, modes
        return adversaries.add(name, member)

    return enter
