"""Compare every full-information learner on three worlds: `make compare` (about an hour; `--quick` is a minute).

Learners are tuned where they have a rule for it. Those that keep every start cost O(K t) a round, which is nearly all
of the time; `--short` plays them on a short cover where they have one and leaves out those that do not.
"""

from __future__ import annotations

import argparse
import dataclasses
import time
from collections.abc import Callable
from pathlib import Path

from driftwise import Bernoulli, Deterministic, Environment, Measures, Sinusoidal, Switching, TwoPoint, simulate
from driftwise.core.errors import InvalidInput
from driftwise.learners import ExpertLearner, Learner, learners

SEED, N_ACTIONS, N_SEGMENTS, VARIANCE = 7, 10, 10, 50.0
SHORT = "hazan-seshadhri"

WORLDS = {
    "switching-bernoulli": Environment(Switching(N_SEGMENTS, N_ACTIONS), Bernoulli()),
    "switching-noiseless": Environment(Switching(N_SEGMENTS, N_ACTIONS), Deterministic()),
    "sinusoid-two-point": Environment(Sinusoidal(N_ACTIONS, 3.0, 0.3), TwoPoint().with_variance(VARIANCE)),
}


def team(short: bool) -> dict[str, Learner | Callable[[Measures], Learner]]:
    """Return every full-information learner under its name."""
    members: dict[str, Learner | Callable[[Measures], Learner]] = {}
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
        began = time.perf_counter()
        results = simulate(world, team(given.short), n_rounds, n_runs, SEED)
        results.to_parquet(given.out / f"compare-{name}.parquet")
        print(f"== {name} ==\n{results.table()}\nTook {time.perf_counter() - began:.0f} s.\n", flush=True)


if __name__ == "__main__":
    main()
