"""Compare the constants of the theorems with practical ones: the figures of "In practice" in docs/learners.md.

`python benchmarks/constants.py` (half a minute) plays the settings of `compare.py`.
"""

from __future__ import annotations

import argparse

from compare import SEED, SETTINGS

from driftwise import Player, simulate
from driftwise.core.measures import collected
from driftwise.learners import (
    CUSUMUCB,
    FLH,
    GLRKLUCB,
    MUCB,
    AdSwitch,
    AnyPlayer,
    DiscountedUCB,
    OptimisticGD,
    RerunUCBV,
    SlidingWindowUCB,
)

FULL: dict[str, AnyPlayer] = {
    "flh": FLH(),
    "flh (tuned)": FLH.tuned,
    "optimistic-gd (tuned)": OptimisticGD.tuned,
    "optimistic-gd (tuned, rule=sharp)": Player("optimistic-gd", "measures", {"rule": "sharp"}),
}
BANDIT: dict[str, AnyPlayer] = {
    "discounted-ucb": DiscountedUCB(),
    "discounted-ucb (log_scale=0.125)": DiscountedUCB(log_scale=0.125),
    "discounted-ucb (log_scale=0.03)": DiscountedUCB(log_scale=0.03),
    "sliding-window-ucb": SlidingWindowUCB(),
    "sliding-window-ucb (log_scale=0.25)": SlidingWindowUCB(log_scale=0.25),
    "rerun-ucbv (tuned)": RerunUCBV.tuned,
    "rerun-ucbv (tuned, log_scale=0.1)": Player("rerun-ucbv", "measures", {"log_scale": 0.1}),
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
