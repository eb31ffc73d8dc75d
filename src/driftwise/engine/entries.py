"""The learners of a simulation, each with its label and the branch of the seed that it uses."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from driftwise.core.errors import InvalidInput, shown
from driftwise.core.spec_text import is_unicode
from driftwise.learners import AnyPlayer, Learner, Player, learners
from driftwise.learners.player import has_tuning_rule, tuning_rule

__all__ = ["Entry", "entries", "what_was_meant"]


@dataclass(frozen=True)
class Entry:
    """A player with its label.

    `copy` is the number of equal players before it, and selects its branch of a run's seed. So the random numbers of a
    learner depend neither on its label nor on the other learners; copies of one learner get different ones.
    """

    label: str
    player: Player
    copy: int = 0


def entries(players: AnyPlayer | Sequence[AnyPlayer] | Mapping[str, AnyPlayer]) -> list[Entry]:
    """Return the players with their labels; equal labels are numbered."""
    if isinstance(players, Mapping):
        for label in players:
            if not isinstance(label, str) or not is_unicode(label):
                raise InvalidInput(f"simulate: `learners` must have text for labels, got {shown(label)}.")
        pairs = [(label, _player(player)) for label, player in players.items()]
    else:
        if not isinstance(players, Sequence) or isinstance(players, str):
            players = [players]
        pairs = [(player.label, player) for player in map(_player, players)]
    if not pairs:
        raise InvalidInput("simulate: `learners` must name at least one learner, got none.")
    found: list[Entry] = []
    taken: set[str] = set()
    for label, player in pairs:
        copy = sum(player == earlier.player for earlier in found)
        unique, n = label, 2
        while unique in taken:
            unique, n = f"{label} #{n}", n + 1
        taken.add(unique)
        found.append(Entry(unique, player, copy))
    return found


def what_was_meant(value: Any) -> str:
    """Return what was given in place of a learner, and the likely correction; "" if it is no class and no name.

    >>> what_was_meant("ucb1")
    "the name 'ucb1'. Write UCB1()"
    """
    if isinstance(value, type) and issubclass(value, Learner):
        return f"the class {value.__name__}. Write {value.__name__}()"
    if isinstance(value, str):
        return f"the name '{value}'. Write {learners.get(value).__name__}()"  # raises if the name is unknown
    return ""


def _player(value: Any) -> Player:
    """Return a value as a player, or reject it with the likely correction."""
    if meant := what_was_meant(value):
        rule = f" or {value.__name__}.tuned" if isinstance(value, type) and has_tuning_rule(value) else ""
        raise InvalidInput(f"simulate: `learners` must hold learners, got {meant}{rule}.")
    if not isinstance(value, Learner | Player | Mapping) and tuning_rule(value) is None:
        hint = " A rule of your own is the class method `tuned` of a learner of your own." if callable(value) else ""
        raise InvalidInput(f"simulate: `learners` must hold learners, got {shown(value)}.{hint}")
    return Player.of(value)
