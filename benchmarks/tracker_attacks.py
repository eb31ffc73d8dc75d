"""Regret of `Tracker` where its first version was worst: a wide round, and an adversary that has a tuned Fixed Share.

    python benchmarks/tracker_attacks.py wide            # a minute
    python benchmarks/tracker_attacks.py forced          # four minutes; --rounds 10000 takes seconds

`wide`: eight segments of losses 0 or r, and rounds with losses 0 or 1. The regret of the other rounds, in units of r,
and its ratio to that without wide rounds; four wide rounds follow each other.

`forced`: every action with more weight in Tracker than in Fixed Share with the right rates for g segments loses 1. The
regret against the best sequence with g segments over sqrt(g T ln K), for each g, and the largest; below, the growth of
the largest from the least to the most rounds, and that of the bound of the Fixed Share for the same two values of g.
"""

from __future__ import annotations

import argparse
from concurrent.futures import ThreadPoolExecutor
from math import log, sqrt

import numba
import numpy as np

from driftwise.learners import Tracker

LEARNER = Tracker()
SEGMENTS = (1, 2, 3, 5, 10, 20, 30, 35, 50, 100, 200, 300)


def regret_of_others(r, wide, n_actions, seed, n_rounds=10_000):
    generator = np.random.default_rng([seed, n_actions])
    best = np.arange(n_rounds) * 8 // n_rounds % n_actions
    means = np.where(np.arange(n_actions) == best[:, None], 0.3, 0.7)
    scale = np.full(n_rounds, r)
    scale[wide] = 1.0
    losses = (generator.random(means.shape) < means) * scale[:, None]
    weights = LEARNER.run(LEARNER.start(n_actions), losses)
    return ((weights * means).sum(axis=1) - 0.3)[scale == r].sum()


def print_wide(seeds):
    print(f"{'K':>3}{'r':>8}{'round':>7}{'without':>9}{'one':>8}{'ratio':>7}{'four':>8}{'ratio':>7}")
    with ThreadPoolExecutor() as pool:
        for n_actions in (2, 10):
            for r in (0.1, 0.01, 0.001):
                for first in (0, 10, 100, 5000):
                    none, one, four = (
                        np.mean(
                            [*pool.map(lambda s, w=w, r=r, k=n_actions: regret_of_others(r, w, k, s), range(seeds))]
                        )
                        for w in ([], [first], range(first, first + 4))
                    )
                    numbers = f"{none:>9.1f}{one:>8.1f}{one / none:>7.2f}{four:>8.1f}{four / none:>7.2f}"
                    print(f"{n_actions:>3}{r:>8g}{first:>7}{numbers}", flush=True)


@numba.njit(nogil=True)
def answer(weights, share, eta, alpha, losses, best):
    """Write the losses of a round, move the tuned Fixed Share, and the least losses by switches and last action."""
    n_actions, mass, top = weights.size, 0.0, 0
    for k in range(n_actions):
        losses[k] = 1.0 if weights[k] > share[k] + 1e-9 else 0.0
        mass += losses[k]
        top = k if weights[k] > weights[top] else top
    losses[top] = losses[top] if mass > 0.0 else 1.0
    mass = 0.0
    for k in range(n_actions):
        share[k] *= np.exp(-eta * losses[k])
        mass += share[k]
    for k in range(n_actions):
        share[k] = (1.0 - alpha) * share[k] / mass + alpha / n_actions
    for g in range(best.shape[0] - 1, -1, -1):
        entered = best[g - 1].min() if g > 0 else np.inf
        for k in range(n_actions):
            best[g, k] = min(best[g, k], entered) + losses[k]


def code_length(n_rounds, n_actions, segments):
    """Return the logarithm of about the number of sequences of actions with so many segments."""
    switches = segments - 1
    return segments * log(n_actions) + (switches * (log(n_rounds / switches) + 1) if switches else 0.0)


def bound(n_rounds, n_actions, segments):
    """Return the bound of Fixed Share with the right rates, over the same unit."""
    return sqrt(code_length(n_rounds, n_actions, segments) / (2 * segments * log(n_actions)))


def forced(n_rounds, n_actions, segments):
    eta, alpha = sqrt(8 * code_length(n_rounds, n_actions, segments) / n_rounds), (segments - 1) / n_rounds
    state, share, losses = LEARNER.start(n_actions), np.full(n_actions, 1 / n_actions), np.empty(n_actions)
    best, lost = np.full((segments, n_actions), np.inf), 0.0
    best[0] = 0.0
    for _ in range(n_rounds):
        weights = LEARNER.predict(state)
        answer(weights, share, eta, alpha, losses, best)
        lost += float(weights @ losses)
        LEARNER.update(state, losses)
    return (lost - best.min()) / sqrt(segments * n_rounds * log(n_actions))


def print_forced(all_rounds):
    print(f"{'K':>3}{'rounds':>9}  " + "".join(f"{'g=' + str(g):>7}" for g in SEGMENTS) + f"{'largest':>9}")
    for n_actions in (2, 10):
        largest = []
        for n_rounds in all_rounds:
            ratios = {g: forced(n_rounds, n_actions, g) for g in SEGMENTS}
            largest.append(max((ratio, n_rounds, g) for g, ratio in ratios.items()))
            values = "".join(f"{ratio:>7.3f}" for ratio in ratios.values())
            print(f"{n_actions:>3}{n_rounds:>9}  {values}{largest[-1][0]:>9.3f}", flush=True)
        (least, first_rounds, first_g), (most, last_rounds, last_g) = largest[0], largest[-1]
        of_bound = bound(last_rounds, n_actions, last_g) / bound(first_rounds, n_actions, first_g)
        print(f"    growth, g={first_g} to g={last_g}: {most / least:.3f}; of the bound: {of_bound:.3f}", flush=True)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("attack", choices=["wide", "forced"])
    parser.add_argument("--seeds", type=int, default=20, help="of wide")
    parser.add_argument("--rounds", type=int, nargs="+", default=[10**4, 10**5, 10**6], help="of forced")
    settings = parser.parse_args()
    if settings.attack == "wide":
        print_wide(settings.seeds)
    else:
        print_forced(settings.rounds)


if __name__ == "__main__":
    main()
