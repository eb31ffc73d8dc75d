"""The learners of the regret study, from two files beside this one: those that it scores, and the tuned ones."""

from __future__ import annotations

import functools
import tomllib
from collections.abc import Sequence
from importlib import resources
from typing import Any, NamedTuple

from driftwise.learners import DEFAULT_LEARNERS, Player, learners
from driftwise.sweeps.sweep_file import spread

__all__ = ["ScoredLearner", "chosen_learners", "scored_learners", "tuned_learners"]


class ScoredLearner(NamedTuple):
    """A learner that is scored, with its label."""

    label: str
    player: Player

    @property
    def is_default(self) -> bool:
        """Whether it is one of the default learners."""
        return self.player.kind in DEFAULT_LEARNERS.values()

    @property
    def settings_text(self) -> str:
        """The parameters that differ from the defaults, "" if there are none."""
        usual = Player(self.player.name).settings
        changed = {name: value for name, value in self.player.settings.items() if value != usual[name]}
        return ", ".join(f"{name} = {value}" for name, value in changed.items())


@functools.cache
def scored_learners(feedback: str) -> tuple[ScoredLearner, ...]:
    """Return the learners with this feedback, the default one first."""
    tables = [{"name": DEFAULT_LEARNERS[feedback].name}, *_tables("scored_learners.toml", feedback)]
    return tuple(_scored(table) for table in tables)


def chosen_learners(names: Sequence[str]) -> dict[str, tuple[ScoredLearner, ...]]:
    """Return learners by feedback and in this order: as they are scored, or else with their default parameters."""
    known = {one.player.name: one for feedback in DEFAULT_LEARNERS for one in scored_learners(feedback)}
    found: dict[str, list[ScoredLearner]] = {feedback: [] for feedback in DEFAULT_LEARNERS}
    for name in dict.fromkeys(names):
        found[learners.get(name).feedback].append(known.get(name) or _scored({"name": name}))
    return {feedback: tuple(some) for feedback, some in found.items()}


def _scored(spec: dict[str, object]) -> ScoredLearner:
    player = Player.from_spec(spec)
    return ScoredLearner(f"{player.name} (given T)" if player.tuned else player.name, player)


@functools.cache
def tuned_learners(feedback: str) -> tuple[Player, ...]:
    """Return the learners with this feedback from which the best is chosen in hindsight, in every cell."""
    tables = _tables("tuned_learners.toml", feedback)
    return tuple(Player.from_spec(values) for table in tables for values in spread(table))


def _tables(file: str, feedback: str) -> list[dict[str, Any]]:
    text = (resources.files(__package__) / file).read_text(encoding="utf-8")
    tables: list[dict[str, Any]] = tomllib.loads(text)[feedback]
    return tables
