"""Holding a learner or an environment to its laws."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from driftwise.checks import bandit_laws, description_laws, environment_laws, expert_laws, hinted_laws, laws
from driftwise.checks.law import Law, expect, law
from driftwise.core.errors import InvalidInput
from driftwise.environments import Replay, Source
from driftwise.learners import BanditLearner, ExpertLearner, Learner
from driftwise.learners.hinted import HintedLearner

__all__ = ["check_environment", "check_learner", "laws_of"]

_EXCUSES: list[Law] = []


@law(_EXCUSES)
def every_exception_names_a_law(learner: Learner) -> None:
    """A learner excuses itself only from laws that exist, each time with a reason."""
    known = {each.name for each in laws_of(learner)}
    exceptions: Mapping[str, Any] = learner.exceptions
    for name, reason in exceptions.items():
        expect(name in known, f"`exceptions` names '{name}', which is no law for it")
        expect(isinstance(reason, str) and bool(reason.strip()), f"the exception '{name}' has no reason")


def laws_of(member: Learner | Source) -> list[Law]:
    """Return the laws that a learner or an environment must obey, exceptions included."""
    if isinstance(member, Source):
        return list(environment_laws.LAWS)
    found = [*_EXCUSES, *description_laws.LAWS]
    if isinstance(member, ExpertLearner):
        found += expert_laws.LAWS
    if isinstance(member, HintedLearner):
        found += hinted_laws.LAWS
    if isinstance(member, BanditLearner):
        found += bandit_laws.LAWS
    return found + laws.LAWS


def check_learner(learner: Learner | type[Learner]) -> None:
    """Hold a learner to every law; of a class, the learner with its default parameters.

    A law named in its `exceptions` is skipped. It takes about a second, most of it a million constant rounds.

    >>> from driftwise import OptimisticGD
    >>> check_learner(OptimisticGD(learning_rate=0.1))
    """
    member = learner() if isinstance(learner, type) else learner
    if not isinstance(member, ExpertLearner | BanditLearner):
        raise InvalidInput(f"check_learner: `learner` must be a learner or a class of learners, got {learner!r}.")
    for each in laws_of(member):
        if each.name not in member.exceptions:
            each(member)


def check_environment(environment: Source, n_rounds: int = environment_laws.N_ROUNDS) -> None:
    """Hold an environment to every law, on runs of `n_rounds`; a recording that is shorter, on all it has.

    >>> from driftwise import Bernoulli, Environment, Switching
    >>> check_environment(Environment(Switching(n_segments=3, n_actions=4), Bernoulli()))
    """
    if not isinstance(environment, Source):
        raise InvalidInput(f"check_environment: `environment` must be an environment, got {environment!r}.")
    if isinstance(environment, Replay):
        n_rounds = min(n_rounds, environment.n_rounds)
    for each in laws_of(environment):
        each(environment, n_rounds=n_rounds)
