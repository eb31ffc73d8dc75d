"""Compare the learners of the registry in five settings: `make compare` (about twenty minutes; `--quick` is shorter).

Learners play with their default parameters and, if they have a rule, tuned. Learners that start a copy in every round
take O(K t) per round; in the main tables they have merged memory or a short cover, and separate tables, with fewer
runs, compare both forms. A star marks a learner whose tuning rule is meaningless in its environment. Each table is a
sweep: finished runs are stored, and a second call plays only the missing ones.
"""

from __future__ import annotations

import argparse
import dataclasses
from pathlib import Path
from typing import NamedTuple

from driftwise import Bernoulli, Deterministic, Environment, Player, Sinusoidal, Sweep, Switching, TwoPoint
from driftwise.cli.progress import progress_bar
from driftwise.environments import RandomWalk, Segments
from driftwise.learners import GLRKLUCB, OracleRestarts, has_tuning_rule, learners

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
        if kind is OracleRestarts:
            members[name] = Player(name, "measures")
            continue
        members[name] = Player(name, None, short_form(name))
        if kind is GLRKLUCB:
            members[f"{name} (global)"] = Player(name, None, {"restart": "global"})
        if has_tuning_rule(kind):
            members[f"{name} (tuned)"] = Player(name, "measures", short_form(name))
    return members


def short_form(name: str) -> dict[str, str]:
    """Return settings with merged memory or a short cover for a learner that starts a copy in every round."""
    defaults = {field.name: field.default for field in dataclasses.fields(learners.get(name))}
    if name == "sleeping-optimistic-adapt-ml-prod":
        return {"memory": "merged"}
    return {"cover": SHORT} if defaults.get("cover") == "every" else {}


def exact() -> dict[str, Player]:
    """Return the learners that start a copy in every round, and their forms in the main tables."""
    found: dict[str, Player] = {}
    for name in ("ada-normal-hedge-tv", "sleeping-adapt-ml-prod", "sleeping-optimistic-adapt-ml-prod"):
        found |= {f"{name} (every start)": Player(name), name: Player(name, None, short_form(name))}
    return found


def show(folder: Path, setting: Setting, members: dict[str, Player], n_rounds: int, n_runs: int) -> None:
    """Play the runs that are not stored, and print the table."""
    sweep = Sweep(setting.environment, members, n_rounds, n_runs, SEED, realised=True)
    with progress_bar(False, "playing", eta=False) as progress:
        results = sweep.run(folder, progress=progress and (lambda now: progress(now.done, now.total)))
    print(results.results().table(), end="\n\n", flush=True)


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
        show(given.out, setting, members, n_rounds, n_runs)
        if setting.feedback == "full" and given.exact > 1:
            show(given.out, setting, exact(), n_rounds, given.exact)


if __name__ == "__main__":
    main()
