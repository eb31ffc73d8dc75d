"""Where the losses of a sweep's cells come from: environments, recordings, and adversaries; and which cells share them.

A cell is one run of one player in one environment. Its key is a digest of everything that the outcome depends on: the
specs, the versions of the classes, and the version of the engine. So a cell that was played once is not played again,
whatever sweep it belongs to and whatever its labels.
"""

from __future__ import annotations

import functools
import hashlib
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np

from driftwise.adversaries import Adversary, adversaries
from driftwise.core.errors import InvalidInput, UnknownName, rejection
from driftwise.core.measures import collected
from driftwise.core.types import Matrix
from driftwise.engine.run import VERSION
from driftwise.environments import Environment, LossSource, Replay
from driftwise.environments.environment_factory import make_environment
from driftwise.learners import Player
from driftwise.registry import modules, spec_text, to_spec, versions
from driftwise.results.labels import environment_label

_ROWS = 4096  # of a recording, digested at a time


@dataclass(frozen=True, eq=False)
class Source:
    """An environment, a recording, or an adversary, and the player against which the adversary builds.

    Parameters
    ----------
    origin : Environment, Replay or Adversary
        What makes the losses.
    against : Player, default None
        The player against which an adversary builds its environment. None: each player gets its own environment. In the
        mode "random" an adversary builds the same environment for all, and there is no such player.
    """

    origin: Environment | Replay | Adversary
    against: Player | None = None

    def __post_init__(self) -> None:
        if not isinstance(self.origin, Environment | Replay | Adversary):
            hint = " Give the adversary, not what its `against` returns." if isinstance(self.origin, LossSource) else ""
            raise InvalidInput(
                "Sweep: `environments` must hold an Environment, a Replay or an adversary,"
                f" got {type(self.origin).__name__}.{hint}"
            )
        if self.against is not None and not self.is_built:
            rule = "given only with an adversary that is built against a learner"
            raise rejection("Sweep", "against", rule, self.against)

    @classmethod
    def from_spec(cls, spec: Mapping[str, Any]) -> Source:
        """Make a source from a table with `path` and `noise`, with `replay`, or with `adversary` and `against`."""
        if "adversary" not in spec:
            return cls(make_environment(spec))
        for key in spec:
            if key not in ("adversary", "against"):
                raise UnknownName("key", key, ("adversary", "against"), "of an adversary")
        against = Player.from_spec(spec["against"]) if "against" in spec else None
        return cls(adversaries.member("Sweep", "adversary", spec["adversary"]), against)

    @property
    def is_built(self) -> bool:
        """Whether the environment depends on the learner for which it is built."""
        return isinstance(self.origin, Adversary) and self.origin.mode != "random"

    def facing(self, player: Player) -> Source:
        """Return the source that this player gets."""
        return Source(self.origin, player) if self.is_built and self.against is None else self

    @functools.cached_property
    def spec(self) -> dict[str, Any]:
        """Plain values that identify the losses; for a recording a digest, whatever its name."""
        if isinstance(self.origin, Environment):
            return self.origin.to_spec()
        if isinstance(self.origin, Replay):
            return {"replay": f"sha256:{_digest(self.origin)}"}
        against = {} if self.against is None else {"against": self.against.spec}
        return {"adversary": to_spec(self.origin), **against}

    @functools.cached_property
    def text(self) -> str:
        """The spec as text: equal sources have equal texts."""
        return spec_text(self.spec)

    @property
    def label(self) -> str:
        """A short description; of a recording, its name."""
        return self.origin.origin if isinstance(self.origin, Replay) else environment_label(self.spec)

    @property
    def versions(self) -> dict[str, int]:
        """The versions of all classes that the losses depend on."""
        own = {} if isinstance(self.origin, Replay) else versions(self.origin)
        return own if self.against is None else {**own, **self.against.versions}

    @property
    def modules(self) -> set[str]:
        """The modules of these classes, which another process must import."""
        own = set() if isinstance(self.origin, Replay) else modules(self.origin)
        return own if self.against is None else own | self.against.modules

    def environment(self, n_rounds: int, seed: int) -> LossSource:
        """Return the environment of the cells with this number of rounds and seed."""
        if not isinstance(self.origin, Adversary):
            return self.origin
        if self.against is None:
            return self.origin.against(None, n_rounds, seed)
        with collected():  # the cells of this player have the caveats
            budget = self.origin.budget(n_rounds)
            learner = self.against.learner(self.origin.n_actions, n_rounds, budget, budget)
        return self.origin.against(learner, n_rounds, seed)

    def __reduce__(self) -> tuple[Any, ...]:
        if not isinstance(self.origin, Replay):
            return Source.from_spec, (self.spec,)
        losses = self.origin.start(self.origin.n_rounds).draw(self.origin.n_rounds).losses  # not the file, if it is one
        return _with_replay, (losses, self.origin.names, self.origin.origin)


def _with_replay(losses: Matrix, names: tuple[str, ...] | None, origin: str) -> Source:
    return Source(Replay(losses, names, origin))


def _digest(replay: Replay) -> str:
    """Return a digest of all losses of a recording."""
    content, stream = hashlib.sha256(f"{replay.n_rounds} {replay.n_actions}\n".encode()), replay.start(replay.n_rounds)
    for first in range(0, replay.n_rounds, _ROWS):
        losses = stream.draw(min(_ROWS, replay.n_rounds - first)).losses
        content.update(np.ascontiguousarray(losses, "<f8").data)
    return content.hexdigest()


_KEY_DIGITS = 32
PLAYS = ("weights", "sample")


class Outputs(NamedTuple):
    """What is measured in a cell."""

    comparator: str = "dynamic"
    play: str = "weights"
    points: int = 1  # marked rounds of the regret curve; 1 is the end only
    best_loss: bool = False  # whether to compute the best loss L*


class Group(NamedTuple):
    """Cells with the same losses: all players and runs of one environment, number of rounds and seed."""

    source: Source
    players: tuple[Player, ...]
    n_rounds: int
    seed: int
    runs: tuple[int, ...]
    outputs: Outputs

    @property
    def n_actions(self) -> int:
        """The number of actions."""
        return self.source.origin.n_actions


def cell_keys(group: Group, player: Player, shared: dict[tuple[str, ...], Any] | None = None) -> list[str]:
    """Return the key of each run of a player.

    `shared` keeps the digests of what cells of several numbers of rounds and seeds have in common, for many groups.
    """
    shared = {} if shared is None else shared
    place = (group.source.text, player.text, str(group.outputs))
    if place not in shared:
        content = {
            "engine": VERSION,
            "environment": group.source.spec,
            "environment versions": group.source.versions,
            "learner": player.spec,
            "learner versions": player.versions,
            "outputs": group.outputs._asdict(),
        }
        shared[place] = hashlib.sha256(spec_text(content).encode())
    keys = []
    for run in group.runs:
        digest = shared[place].copy()
        digest.update(f"\nrounds {group.n_rounds} seed {group.seed} run {run}".encode())
        keys.append(digest.hexdigest()[:_KEY_DIGITS])
    return keys
