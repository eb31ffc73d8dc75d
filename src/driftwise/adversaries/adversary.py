"""Base class and registry of adversaries.

An adversary is a frozen dataclass with the parameters of a lower bound. `against` returns an environment within
`budget` in which the expected regret is at least `guarantee`.

In the mode "random" it needs no learner: every run draws its own choices, and the guarantee holds for every learner on
average over runs (Yao's principle). In the other modes it tries its choices on copies of the learner, each with its own
seed, and then fixes one script for all runs. That is the proof with Monte Carlo estimates in place of expectations:
exact for a learner without random draws in an environment without noise, otherwise up to the estimates' error. Evaluate
it on other copies, as `simulate` does; regret on the copies that it was tried on is biased.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable
from typing import Any, ClassVar, TypeVar, cast

import numpy as np

from driftwise.adversaries.learner_copies import AnyLearner, LearnerCopies, draws
from driftwise.adversaries.script import AdversarialEnvironment, Script
from driftwise.core.errors import InvalidInput, rejection
from driftwise.core.measures import Measures
from driftwise.core.validation import check_seed, count, require_choice, require_count
from driftwise.learners import Learner
from driftwise.registry import Registered, Registry, to_spec

__all__ = ["Adversary", "adversaries", "adversary"]


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
        copies = LearnerCopies(player, self.n_actions, 1 if alike else self.n_copies, seed)
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
        member.name, member.feedbacks, member.modes = name, feedbacks, modes
        adversaries.add(name, member)
        return member

    return enter
