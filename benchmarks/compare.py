"""Compare every full-information learner on three worlds: `make compare` (an hour and a half; `--quick`: a minute).

Learners are tuned where they have a rule for it. Those that keep every start cost O(K t) a round, which is nearly all
of the time; `--short` plays them on a short cover where they have one and leaves out those that do not. Each learner's
results are a file of their own, and a second run plays only those that are missing.
"""

from __future__ import annotations

import argparse
import dataclasses
import functools
import sys
import time
from pathlib import Path

from driftwise import Bernoulli, Deterministic, Environment, Measures, Sinusoidal, Switching, TwoPoint, simulate
from driftwise.core.errors import InvalidInput
from driftwise.engine.players import Player
from driftwise.learners import ExpertLearner, learners
from driftwise.results import Results

SEED, N_ACTIONS, N_SEGMENTS, VARIANCE = 7, 10, 10, 50.0
SHORT = "hazan-seshadhri"

WORLDS = {
    "switching-bernoulli": Environment(Switching(N_SEGMENTS, N_ACTIONS), Bernoulli()),
    "switching-noiseless": Environment(Switching(N_SEGMENTS, N_ACTIONS), Deterministic()),
    "sinusoid-two-point": Environment(Sinusoidal(N_ACTIONS, 3.0, 0.3), TwoPoint().with_variance(VARIANCE)),
}


def team(short: bool) -> dict[str, Player]:
    """Return every full-information learner under its name."""
    members: dict[str, Player] = {}
    probe = Measures(N_ACTIONS, 1000, N_SEGMENTS, 3.0, 100.0)
    for name in learners:
        kind = learners.get(name)
        member = kind()
        if not isinstance(member, ExpertLearner):
            continue
        if short and member.exceptions:
            if "cover" not in {field.name for field in dataclasses.fields(kind)}:
                continue
            members[f"{name} ({SHORT})"] = dataclasses.replace(member, cover=SHORT)
            continue
        try:
            kind.tuned(probe)
        except InvalidInput:
            members[name] = member
        else:
            members[f"{name} (tuned)"] = kind.tuned
    return members


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--quick", action="store_true", help="2,000 rounds and 10 runs instead of 10,000 and 100")
    parser.add_argument("--short", action="store_true", help="no learner that keeps every start")
    parser.add_argument("--out", type=Path, default=Path("out"), help="where the results go  [default: out]")
    given = parser.parse_args()
    n_rounds, n_runs = (2000, 10) if given.quick else (10_000, 100)
    for name, world in WORLDS.items():
        folder = given.out / f"compare-{n_rounds}-{n_runs}" / name
        folder.mkdir(parents=True, exist_ok=True)
        pieces = [piece(folder, world, who, n_rounds, n_runs) for who in team(given.short).items()]
        print(f"== {name} ==\n{functools.reduce(Results.beside, pieces).table()}\n", flush=True)


def piece(folder: Path, world: Environment, who: tuple[str, Player], n_rounds: int, n_runs: int) -> Results:
    """Return one learner's results, from its file if they are there."""
    label, player = who
    path = folder / f"{label}.parquet"
    if not path.exists():
        began = time.perf_counter()
        simulate(world, {label: player}, n_rounds, n_runs, SEED).to_parquet(path)
        print(f"{folder.name}: {label} took {time.perf_counter() - began:.0f} s", file=sys.stderr, flush=True)
    return Results.from_parquet(path)


if __name__ == "__main__":
    main()
