"""The regret of a bandit learner against the best response of Theorem 4.1's adversary, as a multiple of the guarantee.

`python benchmarks/best_response.py` takes about ten minutes; `--learner NAME` plays another learner. The adversary
simulates 64 copies of the learner; other copies, with fresh seeds, play the environment that it builds.
"""

from __future__ import annotations

import argparse

import numpy as np

from driftwise import simulate
from driftwise.adversaries import BanditLow
from driftwise.learners import learners
from driftwise.report.tables import text_table

MOST = {2: 10.0, 10: 20.0}  # times the guarantee, by number of actions
N_RUNS, SEED = 32, 7


def main() -> None:
    parser = argparse.ArgumentParser(description="Play bandit learners against the best response of an adversary.")
    parser.add_argument("--learner", default="bandit-tracker", help="a learner with bandit feedback")
    parser.add_argument("--rounds", type=int, nargs="+", default=[10_000, 100_000])
    given = parser.parse_args()
    learner = learners.get(given.learner)()
    rows = []
    for n_rounds in given.rounds:
        for n_actions, most in MOST.items():
            for segments in (2, 8):
                adversary = BanditLow(segments, n_actions, "best-response", n_copies=64)
                environment = adversary.against(learner, n_rounds, seed=SEED)
                regrets = simulate(environment, learner, n_rounds, N_RUNS, seed=SEED + 1).final(learner)
                guarantee = adversary.guarantee(n_rounds)
                ratio, error = regrets.mean() / guarantee, regrets.std(ddof=1) / np.sqrt(N_RUNS) / guarantee
                shown = f"{ratio:.1f} +- {error:.1f}"
                rows.append([str(n_rounds), str(n_actions), str(segments), f"{guarantee:.0f}", f"{regrets.mean():.0f}"])
                rows[-1] += [shown, f"{most:g}"]
                print(f"T = {n_rounds}, K = {n_actions}, Gamma = {segments}: {shown}", flush=True)
    headers = ("T", "K", "Gamma", "guarantee", "regret", "times the guarantee", "target")
    print(f"\n{learner.name}: mean of {N_RUNS} runs\n{text_table(headers, rows)}")


if __name__ == "__main__":
    main()
