"""Compare the learners of the registry on five worlds: `make compare` (about twenty minutes; `--quick` is shorter).

Learners play with their defaults and, where they have a rule for it, tuned. Those that keep every start cost O(K t) a
round; in the main tables they have merged memory or a short cover, and tables of their own show, in fewer runs, what
that changes. A star marks a learner whose rule says nothing about its world. Each learner's results are a file of their
own, and a second run plays only those that are missing.
"""

from __future__ import annotations

import argparse
import dataclasses
import functools
import sys
import time
from pathlib import Path
from typing import NamedTuple

from driftwise import Bernoulli, Deterministic, Environment, Measures, Sinusoidal, Switching, TwoPoint, simulate
from driftwise.core.errors import InvalidInput
from driftwise.core.tuning_caveats import collected
from driftwise.engine.players import Player
from driftwise.environments import RandomWalk, Segments
from driftwise.learners import GLRKLUCB, Learner, OracleRestarts, SleepingOptimisticAdaptMLProd, learners
from driftwise.results import Results

SEED, SHORT = 7, "hazan-seshadhri"
SWITCHED = ((0.2, 0.5, 0.8), (0.8, 0.5, 0.2), (0.5, 0.3, 0.6), (0.4, 0.6, 0.2), (0.7, 0.4, 0.5), (0.1, 0.5, 0.3))


class World(NamedTuple):
    """An environment, its feedback and its rounds."""

    feedback: str
    environment: Environment
    n_rounds: int


WORLDS = {
    "switching-bernoulli": World("full", Environment(Switching(10, 10), Bernoulli()), 10_000),
    "switching-noiseless": World("full", Environment(Switching(10, 10), Deterministic()), 10_000),
    "sinusoid-two-point": World(
        "full", Environment(Sinusoidal(10, 3.0, 0.3), TwoPoint().with_variance(50.0)), 10_000
    ),
    "six-segments": World(
        "bandit", Environment(Segments(SWITCHED, (2000, 3000, 6000, 6500, 10_000)), Bernoulli()), 12_000
    ),
    "random-walk": World("bandit", Environment(RandomWalk(n_actions=5, step=0.01), Bernoulli()), 20_000),
}  # fmt: skip


def team(feedback: str, changes_known: bool) -> dict[str, Player]:
    """Return every learner of that feedback, with its defaults and tuned; none that keeps every start."""
    members: dict[str, Player] = {}
    for name in learners:
        kind = learners.get(name)
        if kind.feedback != feedback or (kind is OracleRestarts and not changes_known):
            continue
        members |= {label: short(player) for label, player in forms(name, kind()).items()}
    return members


def forms(name: str, member: Learner) -> dict[str, Player]:
    """Return a learner with its defaults and, where it can be, tuned."""
    kind = type(member)
    if kind is OracleRestarts:
        return {name: kind.tuned}
    players: dict[str, Player] = {name: member}
    if kind is GLRKLUCB:
        players[f"{name} (global)"] = GLRKLUCB(restart="global")
    try:
        with collected():  # only whether there is a rule counts, not what it says of this world
            kind.tuned(Measures(3, 1000, 2, 1.0, 100.0))
    except InvalidInput:
        return players
    return players | {f"{name} (tuned)": kind.tuned}


def short(player: Player) -> Player:
    """Return a player that keeps few starts, in place of one that keeps every start."""
    if not isinstance(player, Learner):
        return lambda measures: short(player(measures))
    if isinstance(player, SleepingOptimisticAdaptMLProd):
        return dataclasses.replace(player, memory="merged")
    if getattr(player, "cover", None) == "every":
        return dataclasses.replace(player, cover=SHORT)  # type: ignore[type-var]
    return player


def exact() -> dict[str, Player]:
    """Return the learners that keep every start, beside those that stand for them in the main tables."""
    found: dict[str, Player] = {}
    for name in ("ada-normal-hedge-tv", "sleeping-adapt-ml-prod", "sleeping-optimistic-adapt-ml-prod"):
        member = learners.get(name)()
        found |= {f"{name} (every start)": member, name: short(member)}
    return found


def show(folder: Path, world: World, members: dict[str, Player], n_rounds: int, n_runs: int) -> None:
    """Play what is missing and print the table."""
    folder = folder / f"{n_rounds}-{n_runs}"
    folder.mkdir(parents=True, exist_ok=True)
    pieces = [piece(folder, world.environment, who, n_rounds, n_runs) for who in members.items()]
    print(functools.reduce(Results.beside, pieces).table(), end="\n\n", flush=True)


def piece(folder: Path, environment: Environment, who: tuple[str, Player], n_rounds: int, n_runs: int) -> Results:
    """Return one learner's results, from its file if they are there."""
    label, player = who
    path = folder / f"{label}.parquet"
    if not path.exists():
        began = time.perf_counter()
        with collected():  # the table has the caveats
            simulate(environment, {label: player}, n_rounds, n_runs, SEED, realised=True).to_parquet(path)
        print(f"{folder.parent.name}: {label} took {time.perf_counter() - began:.0f} s", file=sys.stderr, flush=True)
    return Results.from_parquet(path)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--quick", action="store_true", help="10 runs instead of 100, of fewer rounds")
    parser.add_argument("--world", choices=WORLDS, help="one world instead of all")
    parser.add_argument("--exact", type=int, default=5, help="runs of those that keep every start  [default: 5]")
    parser.add_argument("--out", type=Path, default=Path("out/compare"), help="where the results go")
    given = parser.parse_args()
    for name in [given.world] if given.world else WORLDS:
        world = WORLDS[name]
        n_runs = 10 if given.quick else 100
        n_rounds = world.n_rounds // 5 if given.quick and world.feedback == "full" else world.n_rounds
        print(f"== {name} ==", flush=True)
        members = team(world.feedback, changes_known=name == "six-segments")
        show(given.out / name, world, members, n_rounds, n_runs)
        if world.feedback == "full" and given.exact > 1:
            show(given.out / name, world, exact(), n_rounds, given.exact)


if __name__ == "__main__":
    main()
