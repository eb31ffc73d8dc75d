"""Compare the constants of the theorems with practical ones: the figures of "In practice" in docs/learners.md.

`python benchmarks/constants.py` (half a minute) plays the settings of `compare.py`.
"""

from __future__ import annotations

import argparse
import dataclasses

from compare import SEED, SETTINGS

from driftwise import Measures, simulate
from driftwise.core.tuning_caveats import collected
from driftwise.engine.players import Player
from driftwise.learners import (
    CUSUMUCB,
    FLH,
    GLRKLUCB,
    MUCB,
    AdSwitch,
    DiscountedUCB,
    OptimisticGD,
    RerunUCBV,
    SlidingWindowUCB,
)


def sharp_gd(measures: Measures) -> OptimisticGD:
    """Return Algorithm 2 with the rate that minimises its corrected bound."""
    return OptimisticGD.tuned(measures, rule="sharp")


def narrow_ucbv(measures: Measures) -> RerunUCBV:
    """Return Algorithm 1 with the block of its theorem and a tenth of its logarithm."""
    return dataclasses.replace(RerunUCBV.tuned(measures), log_scale=0.1)


FULL: dict[str, Player] = {
    "flh": FLH(),
    "flh (tuned)": FLH.tuned,
    "optimistic-gd (tuned)": OptimisticGD.tuned,
    "optimistic-gd (tuned, rule=sharp)": sharp_gd,
}
BANDIT: dict[str, Player] = {
    "discounted-ucb": DiscountedUCB(),
    "discounted-ucb (log_scale=0.125)": DiscountedUCB(log_scale=0.125),
    "discounted-ucb (log_scale=0.03)": DiscountedUCB(log_scale=0.03),
    "sliding-window-ucb": SlidingWindowUCB(),
    "sliding-window-ucb (log_scale=0.25)": SlidingWindowUCB(log_scale=0.25),
    "rerun-ucbv (tuned)": RerunUCBV.tuned,
    "rerun-ucbv (tuned, log_scale=0.1)": narrow_ucbv,
    "cusum-ucb": CUSUMUCB(),
    "cusum-ucb (tuned)": CUSUMUCB.tuned,
    "m-ucb": MUCB(),
    "m-ucb (tuned)": MUCB.tuned,
    "glr-kl-ucb": GLRKLUCB(),
    "glr-kl-ucb (tuned)": GLRKLUCB.tuned,
    "glr-kl-ucb (restart=global)": GLRKLUCB(restart="global"),
    "adswitch": AdSwitch(),
    "adswitch (threshold_scale=1)": AdSwitch(threshold_scale=1.0),
}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--runs", type=int, default=100, help="runs of each learner  [default: 100]")
    given = parser.parse_args()
    for name in ("switching-bernoulli", "sinusoid-two-point", "six-segments", "random-walk"):
        setting = SETTINGS[name]
        members = FULL if setting.feedback == "full" else BANDIT
        with collected():  # the table shows the caveats
            results = simulate(setting.environment, members, setting.n_rounds, given.runs, SEED)
        print(results.table(), end="\n\n", flush=True)


if __name__ == "__main__":
    main()
