"""The learners of a simulation: who plays, under which label, with which seed."""

from __future__ import annotations

import dataclasses
import functools
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from driftwise.core.errors import InvalidInput, shown
from driftwise.core.measures import Measures
from driftwise.learners import Learner, learners
from driftwise.registry import to_spec

__all__ = ["Entry", "Player", "entries"]

#: a learner, or a rule such as `OptimisticGD.tuned` that makes one from the measures of a run
Player = Learner | Callable[[Measures], Learner]


@dataclass(frozen=True)
class Entry:
    """A player with its label.

    `copy` is the number of equal players before it, and its branch of a run's seed. So a learner draws the same numbers
    whatever it is called and whoever else takes part; copies of one learner draw different ones.
    """

    label: str
    player: Player
    copy: int = 0

    @property
    def is_rule(self) -> bool:
        """Whether the player makes a learner from the measures of a run."""
        return not isinstance(self.player, Learner)

    def learner(self, measures: Measures | None) -> Learner:
        """Return the learner for a run with these measures."""
        if isinstance(self.player, Learner):
            return self.player
        if measures is None:
            raise InvalidInput(f"simulate: '{self.label}' is to be tuned, but replayed losses have no measures.")
        learner = self.player(measures)
        if not isinstance(learner, Learner):
            raise InvalidInput(f"simulate: '{self.label}' made {shown(learner)}, which is no learner.")
        return learner

    def spec(self, learner: Learner) -> dict[str, Any]:
        """Return the spec of a learner this entry gave."""
        spec = to_spec(learner)
        return spec if isinstance(self.player, Learner) else {**spec, "tuned": True}


def entries(players: Player | Sequence[Player] | Mapping[str, Player]) -> list[Entry]:
    """Give every player a label; equal ones are numbered."""
    if isinstance(players, Mapping):
        for label, player in players.items():
            if not isinstance(label, str) or not _is_text(label):
                raise InvalidInput(f"simulate: `learners` must have words for labels, got {shown(label)}.")
            _label(player)  # rejects what is no learner
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
    """Compare two players; two partial rules are the same if their parts are."""
    if isinstance(one, functools.partial) and isinstance(other, functools.partial):
        return (one.func, one.args, one.keywords) == (other.func, other.args, other.keywords)
    return bool(one == other)


def _is_text(label: str) -> bool:
    """Say whether a file can hold a label: half of a surrogate pair, from a name of a file, is no letter."""
    try:
        label.encode()
    except UnicodeEncodeError:
        return False
    return True


def _label(player: Any) -> str:
    if isinstance(player, Learner):
        changed = [
            f"{f.name}={getattr(player, f.name)}"
            for f in dataclasses.fields(player)  # type: ignore[arg-type]
            if getattr(player, f.name) != f.default
        ]
        return f"{player.name}({', '.join(changed)})" if changed else player.name
    rule, settings = (player.func, player.keywords) if isinstance(player, functools.partial) else (player, {})
    owner = getattr(rule, "__self__", None)
    if isinstance(owner, type) and issubclass(owner, Learner):
        return f"{owner.name} ({', '.join(['tuned', *(f'{key}={value}' for key, value in settings.items())])})"
    if isinstance(player, type) and issubclass(player, Learner):
        raise InvalidInput(
            f"simulate: `learners` must hold learners, got the class {player.__name__}."
            f" Write {player.__name__}() or {player.__name__}.tuned."
        )
    if isinstance(player, str):
        learners.get(player)  # an unknown name is the likelier mistake
        raise InvalidInput(f"simulate: `learners` must hold learners, got the name '{player}'.")
    if callable(player):
        return getattr(player, "__name__", "tuned")
    raise InvalidInput(f"simulate: `learners` must hold learners, got {shown(player)}.")
