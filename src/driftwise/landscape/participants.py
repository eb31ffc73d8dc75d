"""The learners of each cell of Table 1: the paper's, those it cites, parameter-free ones, and baselines."""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import NamedTuple

from driftwise.core.errors import InvalidInput
from driftwise.core.measures import Measures
from driftwise.core.tuning_caveats import collected
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

__all__ = ["CELLS", "PARTICIPANTS", "ROLES", "Participant", "added", "every_bandit", "knows_rounds_only"]

CELLS = {
    "full-switching": "full information, switching",
    "full-drifting": "full information, drifting",
    "bandit-switching": "bandit, switching",
    "bandit-drifting": "bandit, drifting",
}
ROLES = ("paper", "cited", "parameter-free", "added", "baseline")


class Participant(NamedTuple):
    """A learner with its label and role, one of `ROLES`."""

    label: str
    role: str
    player: Player


_ALGORITHM_4 = Participant(
    "sleeping-optimistic-adapt-ml-prod",
    "paper",
    functools.partial(SleepingOptimisticAdaptMLProd.tuned, memory="merged"),
)


def knows_rounds_only(rule: Callable[[Measures], Learner]) -> Player:
    """Return a rule that gets the numbers of actions and rounds only, with the measures of a constant environment."""
    return lambda measures: rule(Measures(measures.n_actions, measures.n_rounds, 1, 0.0, 0.0))


_HEDGE = Participant("hedge", "baseline", Hedge())

PARTICIPANTS = {
    "full-switching": (
        Participant("optimistic-gd", "paper", OptimisticGD.tuned),
        _ALGORITHM_4,
        Participant("fixed-share", "cited", FixedShare.tuned),
        Participant("ada-normal-hedge-tv", "cited", AdaNormalHedgeTV(cover="geometric")),
        Participant("aomd", "cited", AOMD.tuned),
        Participant("cbce", "parameter-free", CBCE()),
        Participant("sword", "parameter-free", knows_rounds_only(Sword.tuned)),
        _HEDGE,
    ),
    "full-drifting": (
        Participant("restarted-adaptive-gd", "paper", RestartedAdaptiveGD.tuned),
        _ALGORITHM_4,
        Participant("aomd", "cited", AOMD()),
        Participant("cbce", "parameter-free", CBCE()),
        Participant("sword", "parameter-free", knows_rounds_only(Sword.tuned)),
        _HEDGE,
    ),
    "bandit-switching": (
        Participant("rerun-ucbv", "paper", RerunUCBV.tuned),
        Participant("exp3-s", "cited", Exp3S.tuned),
        Participant("discounted-ucb", "cited", DiscountedUCB.tuned),
        Participant("sliding-window-ucb", "cited", SlidingWindowUCB.tuned),
        Participant(
            "glr-kl-ucb", "parameter-free", knows_rounds_only(functools.partial(GLRKLUCB.tuned, restart="global"))
        ),
        Participant("master", "parameter-free", knows_rounds_only(Master.tuned)),
        Participant("ucb1", "baseline", UCB1()),
    ),
    "bandit-drifting": (
        Participant("rerun-ucbv", "paper", RerunUCBV.tuned),
        Participant("rexp3", "cited", Rexp3.tuned),
        Participant("bandit-over-bandit", "parameter-free", knows_rounds_only(BanditOverBandit.tuned)),
        Participant("master", "parameter-free", knows_rounds_only(Master.tuned)),
        Participant("thompson", "baseline", Thompson()),
        Participant("ucb1", "baseline", UCB1()),
    ),
}


_CITED = {"discounted-ucb", "exp3-s", "rexp3", "sliding-window-ucb", "ucb-v"}
_STEADY = {"exp3", "kl-ucb", "thompson", "tsallis-inf", "ucb1"}  # made for stationary environments


def every_bandit() -> tuple[Participant, ...]:
    """Return every bandit learner of the registry with its defaults, except the oracle: it needs change points."""
    names = [name for name in learners if learners.get(name).feedback == "bandit" and name != OracleRestarts.name]
    participants = [Participant(name, _role_of(name), learners.get(name)()) for name in names]
    return tuple(sorted(participants, key=lambda participant: ROLES.index(participant.role)))


def _role_of(name: str) -> str:
    if name == RerunUCBV.name:
        return "paper"
    if name in _STEADY:
        return "baseline"
    return "cited" if name in _CITED else "parameter-free"


def added(name: str) -> Participant:
    """Return a learner of the registry in the role "added": tuned if it has a rule, else with its defaults."""
    kind = learners.get(name)
    try:
        with collected():  # only whether there is a rule matters, not its caveats
            kind.tuned(Measures(3, 1000, 2, 1.0, 100.0))
    except InvalidInput:
        return Participant(name, "added", kind())
    return Participant(name, "added", kind.tuned)
