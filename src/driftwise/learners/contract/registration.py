"""The registry of learners, and the decorators that add a class to it."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeVar

from driftwise.core.kernel import kinds_of
from driftwise.learners.contract.bandit_learner import BanditLearner
from driftwise.learners.contract.expert_learner import ExpertLearner
from driftwise.learners.contract.learner import Learner
from driftwise.learners.contract.loops import bandit_loops, expert_loops
from driftwise.registry import Registry

__all__ = ["bandit", "composed", "expert", "learners"]

Kernel = Callable[..., Any]

learners: Registry[Learner] = Registry("learner")
E = TypeVar("E", bound=type[ExpertLearner])
B = TypeVar("B", bound=type[BanditLearner])
L = TypeVar("L", bound=type[Learner])


def expert(name: str, *, update: Kernel, hint: Kernel | None = None) -> Callable[[E], E]:
    """Register a full-feedback learner under `name` and bind its kernels to the loops."""

    def enter(member: E) -> E:
        member.name = name
        member.compiled_loops = expert_loops(name, kinds_of(member), update, hint)
        learners.add(name, member)
        return member

    return enter


def bandit(name: str, *, choose: Kernel, update: Kernel) -> Callable[[B], B]:
    """Register a bandit learner under `name` and bind its kernels to the loops."""

    def enter(member: B) -> B:
        member.name = name
        member.compiled_loops = bandit_loops(name, kinds_of(member), choose, update)
        learners.add(name, member)
        return member

    return enter


def composed(name: str) -> Callable[[L], L]:
    """Register a learner made of other parts under `name`; its `loops` depend on them."""

    def enter(member: L) -> L:
        member.name = name
        learners.add(name, member)
        return member

    return enter
