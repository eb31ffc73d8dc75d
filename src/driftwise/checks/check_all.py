"""Holding a learner or an environment to its checks."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from driftwise.checks import (
    bandit_checks,
    common_checks,
    description_checks,
    environment_checks,
    expert_checks,
    hinted_checks,
)
from driftwise.checks.check import Check, check, expect
from driftwise.core.errors import InvalidInput
from driftwise.environments import LossSource, Replay
from driftwise.learners import BanditLearner, ExpertLearner, Learner
from driftwise.learners.contract import HintedLearner

__all__ = ["check_environment", "check_learner", "checks_of"]

_EXCEPTIONS: list[Check] = []


@check(_EXCEPTIONS)
def every_exception_names_a_check(learner: Learner) -> None:
    """A learner excuses itself only from checks that exist, each time with a reason."""
    known = {each.name for each in checks_of(learner)}
    exceptions: Mapping[str, Any] = learner.skipped_checks
    for name, reason in exceptions.items():
        expect(name in known, f"`skipped_checks` names '{name}', which is no check for it")
        expect(isinstance(reason, str) and bool(reason.strip()), f"the exception '{name}' has no reason")


def checks_of(member: Learner | LossSource) -> list[Check]:
    """Return the checks that a learner or an environment must obey, exceptions included."""
    if isinstance(member, LossSource):
        return list(environment_checks.CHECKS)
    found = [*_EXCEPTIONS, *description_checks.CHECKS]
    if isinstance(member, ExpertLearner):
        found += expert_checks.CHECKS
    if isinstance(member, HintedLearner):
        found += hinted_checks.CHECKS
    if isinstance(member, BanditLearner):
        found += bandit_checks.CHECKS
    return found + common_checks.CHECKS


def check_learner(learner: Learner | type[Learner]) -> None:
    """Hold a learner to every check; of a class, the learner with its default parameters.

    A check named in its `skipped_checks` is skipped. It takes about a second, most of it a million constant rounds.

    >>> from driftwise import OptimisticGD
    >>> check_learner(OptimisticGD(learning_rate=0.1))
    """
    member = learner() if isinstance(learner, type) else learner
    if not isinstance(member, ExpertLearner | BanditLearner):
        raise InvalidInput(f"check_learner: `learner` must be a learner or a class of learners, got {learner!r}.")
    for each in checks_of(member):
        if each.name not in member.skipped_checks:
            each(member)


def check_environment(environment: LossSource, n_rounds: int = environment_checks.N_ROUNDS) -> None:
    """Hold an environment to every check, on runs of `n_rounds`; a recording that is shorter, on all it has.

    >>> from driftwise import Bernoulli, Environment, Switching
    >>> check_environment(Environment(Switching(n_segments=3, n_actions=4), Bernoulli()))
    """
    if not isinstance(environment, LossSource):
        raise InvalidInput(f"check_environment: `environment` must be an environment, got {environment!r}.")
    if isinstance(environment, Replay):
        n_rounds = min(n_rounds, environment.n_rounds)
    for each in checks_of(environment):
        each(environment, n_rounds=n_rounds)
