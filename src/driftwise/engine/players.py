"""The learners of a simulation, each with its label and the branch of the seed that it uses."""

from __future__ import annotations

import functools
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from driftwise.core.errors import InvalidInput, shown
from driftwise.core.measures import Measures
from driftwise.learners import Learner, learners
from driftwise.registry import to_spec
from driftwise.results.labels import Player, default_label

__all__ = ["Entry", "Player", "entries"]


@dataclass(frozen=True)
class Entry:
    """A learner or a tuning rule, with its label.

    `copy` is the number of equal players before it, and selects its branch of a run's seed. So the random numbers of a
    learner depend neither on its label nor on the other learners; copies of one learner get different ones.
    """

    label: str
    player: Player
    copy: int = 0

    @property
    def is_rule(self) -> bool:
        """Whether the player is a rule that makes a learner from the measures of a run."""
        return not isinstance(self.player, Learner)

    def learner(self, measures: Measures | None) -> Learner:
        """Return the learner for a run with these measures."""
        if isinstance(self.player, Learner):
            return self.player
        if measures is None:
            raise InvalidInput(
                f"simulate: '{self.label}' needs measures for its tuning, but replayed losses have none."
            )
        learner = self.player(measures)
        if not isinstance(learner, Learner):
            raise InvalidInput(f"simulate: '{self.label}' must make a learner, got {shown(learner)}.")
        return learner

    def spec(self, learner: Learner) -> dict[str, Any]:
        """Return the spec of a learner that `learner` returned."""
        spec = to_spec(learner)
        return spec if isinstance(self.player, Learner) else {**spec, "tuned": True}


def entries(players: Player | Sequence[Player] | Mapping[str, Player]) -> list[Entry]:
    """Return the players with their labels; equal labels are numbered."""
    if isinstance(players, Mapping):
        for label, player in players.items():
            if not isinstance(label, str) or not _is_text(label):
                raise InvalidInput(f"simulate: `learners` must have text for labels, got {shown(label)}.")
            _label(player)  # rejects a value that is not a learner
        pairs = list(players.items())
    else:
        if not isinstance(players, Sequence) or isinstance(players, str):
            players = [players]
        pairs = [(_label(player), player) for player in players]
    if not pairs:
        raise InvalidInput("simulate: `learners` must name at least one learner, got none.")
    found: list[Entry] = []
    taken: set[str] = set()
    for label, player in pairs:
        copy = sum(_same(player, earlier.player) for earlier in found)
        unique, n = label, 2
        while unique in taken:
            unique, n = f"{label} #{n}", n + 1
        taken.add(unique)
        found.append(Entry(unique, player, copy))
    return found


def _same(one: Player, other: Player) -> bool:
    """Return whether two players are equal; two partial rules are equal if their parts are."""
    if isinstance(one, functools.partial) and isinstance(other, functools.partial):
        return (one.func, one.args, one.keywords) == (other.func, other.args, other.keywords)
    return bool(one == other)


def _is_text(label: str) -> bool:
    """Return whether a label can be written to a file; text from file names may hold lone surrogates, which cannot."""
    try:
        label.encode()
    except UnicodeEncodeError:
        return False
    return True


def _label(player: Any) -> str:
    """Return the default label of a player, or reject what is not a player."""
    label = default_label(player)
    if label is not None:
        return label
    if isinstance(player, type):
        raise InvalidInput(
            f"simulate: `learners` must hold learners, got the class {player.__name__}."
            f" Write {player.__name__}() or {player.__name__}.tuned."
        )
    if isinstance(player, str):
        kind = learners.get(player).__name__  # raises with the nearest name if the name is unknown
        raise InvalidInput(f"simulate: `learners` must hold learners, got the name '{player}'. Write {kind}().")
    raise InvalidInput(f"simulate: `learners` must hold learners, got {shown(player)}.")
