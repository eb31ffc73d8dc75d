"""What every adversary keeps to.

An adversary is a frozen dataclass of a budget and a way to spend it. `against` makes an environment within the budget
in which the expected regret is at least `guarantee`.

In the mode "random" it needs no learner: it draws its choices, anew in every run, and the guarantee holds for every
learner in the mean over runs (Yao's principle). In the other modes it tries its choices on copies of the learner, which
have seeds of their own, and then commits to one script. That is the proof with Monte Carlo estimates in the place of
expectations: exact for a learner that does not draw in a world without noise, and otherwise up to their error. Evaluate
it on fresh copies, as `simulate` does; the ones it was tried on are biased.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable
from typing import Any, ClassVar, TypeVar, cast

import numpy as np

from driftwise.adversaries.learner_copies import LearnerCopies, draws
from driftwise.adversaries.script import AdversarialEnvironment, Script
from driftwise.core.errors import InvalidInput, rejection
from driftwise.core.measures import Measures
from driftwise.core.validation import check_seed, count, require_choice, require_count
from driftwise.learners import BanditLearner, ExpertLearner, Learner
from driftwise.registry import Registry, to_spec

__all__ = ["Adversary", "adversaries", "adversary"]


class Adversary(ABC):
    """A lower bound: what it may spend, and how it spends it."""

    name: ClassVar[str]
    feedbacks: ClassVar[tuple[str, ...]]  # of the learners that its theorem is about
    modes: ClassVar[tuple[str, ...]]
    n_actions: int
    mode: str
    n_copies: int

    @property
    def least_rounds(self) -> int:
        """The fewest rounds that it needs."""
        return 1

    @abstractmethod
    def guarantee(self, n_rounds: int) -> float:
        """Return the least expected dynamic regret, whatever the learner, after all rounding."""

    @abstractmethod
    def budget(self, n_rounds: int) -> Measures:
        """Return the most segments, drift and variance that any of its environments has."""

    @abstractmethod
    def draw(self, n_rounds: int, generator: np.random.Generator) -> Script:
        """Draw a script without looking at a learner."""

    @abstractmethod
    def respond(self, copies: LearnerCopies, n_rounds: int, generator: np.random.Generator) -> Script:
        """Write a script by trying it on copies of a learner."""

    def against(self, learner: Learner | None, n_rounds: int, seed: int = 0) -> AdversarialEnvironment:
        """Return the environment for a learner; in the mode "random" it is the same for all, and None will do."""
        n_rounds, seed = self.enough(n_rounds), check_seed(self, seed)
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
        player = cast(ExpertLearner | BanditLearner, learner)
        # Without any noise, copies that do not draw would all do the same.
        alike = self.budget(n_rounds).variance == 0 and not draws(player, self.n_actions)
        copies = LearnerCopies(player, self.n_actions, 1 if alike else self.n_copies, seed)
        script = self.respond(copies, n_rounds, np.random.default_rng([seed, 1]))
        return AdversarialEnvironment(self, learner, n_rounds, seed, script)

    def to_spec(self) -> dict[str, Any]:
        """Return the plain values that `adversaries.build` turns back into an equal adversary."""
        return to_spec(self)

    def enough(self, n_rounds: int) -> int:
        """Check a number of rounds."""
        return count(self, "n_rounds", n_rounds, at_least=self.least_rounds)

    def _check_common(self) -> None:
        """Check the fields that all adversaries have; with one action there is nothing to regret."""
        require_count(self, "n_actions", at_least=2)
        require_choice(self, "mode", self.modes)
        require_count(self, "n_copies")


adversaries: Registry[Adversary] = Registry("adversary")
A = TypeVar("A", bound=type[Adversary])


def adversary(name: str, *, feedbacks: tuple[str, ...], modes: tuple[str, ...]) -> Callable[[A], A]:
    """Register an adversary under `name`, with the feedbacks that its theorem is about and its modes."""

    def enter(member: A) -> A:
        member.name, member.feedbacks, member.modes = name, feedbacks, modes
        adversaries.add(name, member)
        return member

    return enter
