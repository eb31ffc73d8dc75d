"""Compare the learners of the registry in five settings: `make compare` (about twenty minutes; `--quick` is shorter).

Learners play with their default parameters and, if they have a rule, tuned. Learners that start a copy in every round
take O(K t) per round; in the main tables they have merged memory or a short cover, and separate tables, with fewer
runs, compare both forms. A star marks a learner whose tuning rule is meaningless in its environment. The results of
each learner are saved to a file, and a second run plays only the missing ones.
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


class Setting(NamedTuple):
    """An environment, the feedback and the number of rounds."""

    feedback: str
    environment: Environment
    n_rounds: int


SETTINGS = {
    "switching-bernoulli": Setting("full", Environment(Switching(10, 10), Bernoulli()), 10_000),
    "switching-noiseless": Setting("full", Environment(Switching(10, 10), Deterministic()), 10_000),
    "sinusoid-two-point": Setting(
        "full", Environment(Sinusoidal(10, 3.0, 0.3), TwoPoint().with_variance(50.0)), 10_000
    ),
    "six-segments": Setting(
        "bandit", Environment(Segments(SWITCHED, (2000, 3000, 6000, 6500, 10_000)), Bernoulli()), 12_000
    ),
    "random-walk": Setting("bandit", Environment(RandomWalk(n_actions=5, step=0.01), Bernoulli()), 20_000),
}  # fmt: skip


def all_players(feedback: str, changes_known: bool) -> dict[str, Player]:
    """Return every learner with this feedback, with its defaults and tuned, in a form with short rounds."""
    members: dict[str, Player] = {}
    for name in learners:
        kind = learners.get(name)
        if kind.feedback != feedback or (kind is OracleRestarts and not changes_known):
            continue
        members |= {label: short(player) for label, player in variants(name, kind()).items()}
    return members


def variants(name: str, member: Learner) -> dict[str, Player]:
    """Return a learner with its defaults and, if it has a rule, tuned."""
    kind = type(member)
    if kind is OracleRestarts:
        return {name: kind.tuned}
    players: dict[str, Player] = {name: member}
    if kind is GLRKLUCB:
        players[f"{name} (global)"] = GLRKLUCB(restart="global")
    try:
        with collected():  # only whether there is a rule matters, not its caveats
            kind.tuned(Measures(3, 1000, 2, 1.0, 100.0))
    except InvalidInput:
        return players
    return players | {f"{name} (tuned)": kind.tuned}


def short(player: Player) -> Player:
    """Return a player with merged memory or a short cover in place of one that starts a copy in every round."""
    if not isinstance(player, Learner):
        return lambda measures: short(player(measures))
    if isinstance(player, SleepingOptimisticAdaptMLProd):
        return dataclasses.replace(player, memory="merged")
    if getattr(player, "cover", None) == "every":
        return dataclasses.replace(player, cover=SHORT)  # type: ignore[type-var]
    return player


def exact() -> dict[str, Player]:
    """Return the learners that start a copy in every round, and their forms in the main tables."""
    found: dict[str, Player] = {}
    for name in ("ada-normal-hedge-tv", "sleeping-adapt-ml-prod", "sleeping-optimistic-adapt-ml-prod"):
        member = learners.get(name)()
        found |= {f"{name} (every start)": member, name: short(member)}
    return found


def show(folder: Path, setting: Setting, members: dict[str, Player], n_rounds: int, n_runs: int) -> None:
    """Play the learners whose results are not saved, and print the table."""
    folder = folder / f"{n_rounds}-{n_runs}"
    folder.mkdir(parents=True, exist_ok=True)
    parts = [results_of(folder, setting.environment, *member, n_rounds, n_runs) for member in members.items()]
    print(functools.reduce(Results.combine, parts).table(), end="\n\n", flush=True)


def results_of(
    folder: Path, environment: Environment, label: str, player: Player, n_rounds: int, n_runs: int
) -> Results:
    """Return the results of one learner, from its file if there is one."""
    path = folder / f"{label}.parquet"
    if not path.exists():
        began = time.perf_counter()
        with collected():  # the table shows the caveats
            simulate(environment, {label: player}, n_rounds, n_runs, SEED, realised=True).to_parquet(path)
        print(f"{folder.parent.name}: {label} took {time.perf_counter() - began:.0f} s", file=sys.stderr, flush=True)
    return Results.from_parquet(path)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--quick", action="store_true", help="10 runs instead of 100, of fewer rounds")
    parser.add_argument("--setting", choices=SETTINGS, help="one setting instead of all")
    parser.add_argument(
        "--exact", type=int, default=5, help="runs of learners that start a copy in every round  [default: 5]"
    )
    parser.add_argument("--out", type=Path, default=Path("out/compare"), help="folder of the results")
    given = parser.parse_args()
    for name in [given.setting] if given.setting else SETTINGS:
        setting = SETTINGS[name]
        n_runs = 10 if given.quick else 100
        n_rounds = setting.n_rounds // 5 if given.quick and setting.feedback == "full" else setting.n_rounds
        print(f"== {name} ==", flush=True)
        members = all_players(setting.feedback, changes_known=name == "six-segments")
        show(given.out / name, setting, members, n_rounds, n_runs)
        if setting.feedback == "full" and given.exact > 1:
            show(given.out / name, setting, exact(), n_rounds, given.exact)


if __name__ == "__main__":
    main()
