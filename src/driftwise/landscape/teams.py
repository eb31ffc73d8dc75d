"""Who plays in each cell of Table 1: the paper's learners, those it cites, and those that need not be told anything."""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import NamedTuple

from driftwise.core.caveats import collected
from driftwise.core.errors import InvalidInput
from driftwise.core.measures import Measures
from driftwise.engine.players import Player
from driftwise.learners import (
    AOMD,
    CBCE,
    GLRKLUCB,
    UCB1,
    AdaNormalHedgeTV,
    BanditOverBandit,
    DiscountedUCB,
    Exp3S,
    FixedShare,
    Hedge,
    Learner,
    Master,
    OptimisticGD,
    OracleRestarts,
    RerunUCBV,
    RestartedAdaptiveGD,
    Rexp3,
    SleepingOptimisticAdaptMLProd,
    SlidingWindowUCB,
    Sword,
    Thompson,
    learners,
)
from driftwise.report.page.contents import ROLES

__all__ = ["CELLS", "TEAMS", "Member", "every_bandit", "guest", "told_rounds"]

CELLS = {
    "full-switching": "full information, switching",
    "full-drifting": "full information, drifting",
    "bandit-switching": "bandit, switching",
    "bandit-drifting": "bandit, drifting",
}


class Member(NamedTuple):
    """A learner with its part: "paper", "cited", "parameter-free" or "yardstick"."""

    label: str
    role: str
    player: Player


_ALGORITHM_4 = Member(
    "sleeping-optimistic-adapt-ml-prod",
    "paper",
    functools.partial(SleepingOptimisticAdaptMLProd.tuned, memory="merged"),
)


def told_rounds(rule: Callable[[Measures], Learner]) -> Player:
    """Return a rule that hears of actions and rounds only: what it would be told about a world without change."""
    return lambda measures: rule(Measures(measures.n_actions, measures.n_rounds, 1, 0.0, 0.0))


_HEDGE = Member("hedge", "yardstick", Hedge())

TEAMS = {
    "full-switching": (
        Member("optimistic-gd", "paper", OptimisticGD.tuned),
        _ALGORITHM_4,
        Member("fixed-share", "cited", FixedShare.tuned),
        Member("ada-normal-hedge-tv", "cited", AdaNormalHedgeTV(cover="geometric")),
        Member("aomd", "cited", AOMD.tuned),
        Member("cbce", "parameter-free", CBCE()),
        Member("sword", "parameter-free", told_rounds(Sword.tuned)),
        _HEDGE,
    ),
    "full-drifting": (
        Member("restarted-adaptive-gd", "paper", RestartedAdaptiveGD.tuned),
        _ALGORITHM_4,
        Member("aomd", "cited", AOMD()),
        Member("cbce", "parameter-free", CBCE()),
        Member("sword", "parameter-free", told_rounds(Sword.tuned)),
        _HEDGE,
    ),
    "bandit-switching": (
        Member("rerun-ucbv", "paper", RerunUCBV.tuned),
        Member("exp3-s", "cited", Exp3S.tuned),
        Member("discounted-ucb", "cited", DiscountedUCB.tuned),
        Member("sliding-window-ucb", "cited", SlidingWindowUCB.tuned),
        Member("glr-kl-ucb", "parameter-free", told_rounds(functools.partial(GLRKLUCB.tuned, restart="global"))),
        Member("master", "parameter-free", told_rounds(Master.tuned)),
        Member("ucb1", "yardstick", UCB1()),
    ),
    "bandit-drifting": (
        Member("rerun-ucbv", "paper", RerunUCBV.tuned),
        Member("rexp3", "cited", Rexp3.tuned),
        Member("bandit-over-bandit", "parameter-free", told_rounds(BanditOverBandit.tuned)),
        Member("master", "parameter-free", told_rounds(Master.tuned)),
        Member("thompson", "yardstick", Thompson()),
        Member("ucb1", "yardstick", UCB1()),
    ),
}


_CITED = {"discounted-ucb", "exp3-s", "rexp3", "sliding-window-ucb", "ucb-v"}
_STEADY = {"exp3", "kl-ucb", "thompson", "tsallis-inf", "ucb1"}  # made for worlds that do not change


def every_bandit() -> tuple[Member, ...]:
    """Return every bandit learner of the registry with its defaults, but for the oracle, which is told the changes."""
    names = [name for name in learners if learners.get(name).feedback == "bandit" and name != OracleRestarts.name]
    members = [Member(name, _part(name), learners.get(name)()) for name in names]
    return tuple(sorted(members, key=lambda member: ROLES.index(member.role)))


def _part(name: str) -> str:
    if name == RerunUCBV.name:
        return "paper"
    if name in _STEADY:
        return "yardstick"
    return "cited" if name in _CITED else "parameter-free"


def guest(name: str) -> Member:
    """Return any learner of the registry, tuned to its world where it has a rule for that."""
    kind = learners.get(name)
    try:
        with collected():  # only whether there is a rule counts, not what it says of this world
            kind.tuned(Measures(3, 1000, 2, 1.0, 100.0))
    except InvalidInput:
        return Member(name, "guest", kind())
    return Member(name, "guest", kind.tuned)
