"""Runs all checks of a learner or an environment."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from driftwise.checks import (
    bandit_checks,
    common_checks,
    description_checks,
    environment_checks,
    expert_checks,
)
from driftwise.checks.check import Check, check, expect
from driftwise.core.errors import InvalidInput
from driftwise.environments import LossSource, Replay
from driftwise.learners import BanditLearner, ExpertLearner, Learner, PythonLearner
from driftwise.learners.contract import HintedLearner

__all__ = ["check_environment", "check_learner", "checks_of"]

_CHECKS: list[Check] = []
_SLOW_ROUNDS = 50_000  # constant rounds of a learner in plain Python, in place of a million


@check(_CHECKS)
def skipped_checks_exist_and_have_reasons(learner: Learner) -> None:
    """Every name in `skipped_checks` is a check of the learner and has a reason."""
    known = {each.name for each in checks_of(learner)}
    skipped: Mapping[str, Any] = learner.skipped_checks
    for name, reason in skipped.items():
        expect(name in known, f"`skipped_checks` names '{name}', which is not one of its checks")
        expect(isinstance(reason, str) and bool(reason.strip()), f"`skipped_checks` gives no reason for '{name}'")


def checks_of(member: Learner | LossSource) -> list[Check]:
    """Return all checks of a learner or an environment, including those that a learner skips."""
    if isinstance(member, LossSource):
        return list(environment_checks.CHECKS)
    found = [*_CHECKS, *description_checks.CHECKS]
    if isinstance(member, PythonLearner):
        found += common_checks.PYTHON_CHECKS  # first: they name the reason
    if member.feedback == "full":
        found += expert_checks.CHECKS
    if isinstance(member, HintedLearner):
        found += expert_checks.HINTED_CHECKS
    if member.feedback == "bandit":
        found += bandit_checks.CHECKS
    found += common_checks.CHECKS
    return found if isinstance(member, PythonLearner) else found + common_checks.COMPILED_CHECKS


def check_learner(learner: Learner | type[Learner]) -> None:
    """Run every check on a learner; a class stands for the learner with default parameters.

    Checks named in `skipped_checks` of the learner are skipped. It takes about a second, most of it for a million
    constant rounds. A `PythonLearner` plays a twentieth of these rounds, in about as much time.

    >>> from driftwise import OptimisticGD
    >>> check_learner(OptimisticGD(learning_rate=0.1))
    """
    member = learner() if isinstance(learner, type) else learner
    if not isinstance(member, ExpertLearner | BanditLearner | PythonLearner):
        raise InvalidInput(f"check_learner: `learner` must be a learner or a class of learners, got {learner!r}.")
    for each in checks_of(member):
        if each.name not in member.skipped_checks:
            slow = isinstance(member, PythonLearner) and each.name.endswith("_survive_a_million_constant_rounds")
            each(member, **({"n_rounds": _SLOW_ROUNDS} if slow else {}))


def check_environment(environment: LossSource, n_rounds: int = environment_checks.N_ROUNDS) -> None:
    """Run every check on an environment with runs of `n_rounds`; a shorter recording is checked on all its rounds.

    >>> from driftwise import Bernoulli, Environment, Switching
    >>> check_environment(Environment(Switching(n_segments=3, n_actions=4), Bernoulli()))
    """
    if not isinstance(environment, LossSource):
        raise InvalidInput(f"check_environment: `environment` must be an environment, got {environment!r}.")
    if isinstance(environment, Replay):
        n_rounds = min(n_rounds, environment.n_rounds)
    for each in checks_of(environment):
        each(environment, n_rounds=n_rounds)
