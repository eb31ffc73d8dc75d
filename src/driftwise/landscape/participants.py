"""The learners of each cell of Table 1: the paper's, those it cites, parameter-free ones, and baselines."""

from __future__ import annotations

from typing import NamedTuple

from driftwise.learners import OracleRestarts, Player, RerunUCBV, has_tuning_rule, learners

__all__ = ["CELLS", "PARTICIPANTS", "ROLES", "Participant", "added", "every_bandit"]

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


def _tuned(name: str, **options: str) -> Player:
    """Return a learner tuned to the measures of an environment, or to the budget of an adversary."""
    return Player(name, "budget", options)


def _participant(role: str, player: Player) -> Participant:
    return Participant(player.name, role, player)


_ALGORITHM_4 = _participant("paper", _tuned("sleeping-optimistic-adapt-ml-prod", memory="merged"))
_HEDGE = _participant("baseline", Player("hedge"))

PARTICIPANTS = {
    "full-switching": (
        _participant("paper", _tuned("optimistic-gd")),
        _ALGORITHM_4,
        _participant("cited", _tuned("fixed-share")),
        _participant("cited", Player("ada-normal-hedge-tv", settings={"cover": "geometric"})),
        _participant("cited", _tuned("aomd")),
        _participant("parameter-free", Player("cbce")),
        _participant("parameter-free", Player("sword", "rounds")),
        _HEDGE,
    ),
    "full-drifting": (
        _participant("paper", _tuned("restarted-adaptive-gd")),
        _ALGORITHM_4,
        _participant("cited", Player("aomd")),
        _participant("parameter-free", Player("cbce")),
        _participant("parameter-free", Player("sword", "rounds")),
        _HEDGE,
    ),
    "bandit-switching": (
        _participant("paper", _tuned("rerun-ucbv")),
        _participant("cited", _tuned("exp3-s")),
        _participant("cited", _tuned("discounted-ucb")),
        _participant("cited", _tuned("sliding-window-ucb")),
        _participant("parameter-free", Player("glr-kl-ucb", "rounds", {"restart": "global"})),
        _participant("parameter-free", Player("master", "rounds")),
        _participant("baseline", Player("ucb1")),
    ),
    "bandit-drifting": (
        _participant("paper", _tuned("rerun-ucbv")),
        _participant("cited", _tuned("rexp3")),
        _participant("parameter-free", Player("bandit-over-bandit", "rounds")),
        _participant("parameter-free", Player("master", "rounds")),
        _participant("baseline", Player("thompson")),
        _participant("baseline", Player("ucb1")),
    ),
}


_CITED = {"discounted-ucb", "exp3-s", "rexp3", "sliding-window-ucb", "ucb-v"}
_STEADY = {"exp3", "kl-ucb", "thompson", "tsallis-inf", "ucb1"}  # made for stationary environments


def every_bandit() -> tuple[Participant, ...]:
    """Return every bandit learner of the registry with its defaults, except the oracle: it needs change points."""
    names = [name for name in learners if learners.get(name).feedback == "bandit" and name != OracleRestarts.name]
    participants = [_participant(_role_of(name), Player(name)) for name in names]
    return tuple(sorted(participants, key=lambda participant: ROLES.index(participant.role)))


def _role_of(name: str) -> str:
    if name == RerunUCBV.name:
        return "paper"
    if name in _STEADY:
        return "baseline"
    return "cited" if name in _CITED else "parameter-free"


def added(name: str) -> Participant:
    """Return a learner of the registry in the role "added": tuned if it has a rule, else with its defaults."""
    return _participant("added", _tuned(name) if has_tuning_rule(learners.get(name)) else Player(name))
