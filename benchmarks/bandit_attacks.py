"""Regret of `BanditTracker` in worlds that defeat it or its first version, beside the best of some rivals.

    python benchmarks/bandit_attacks.py                 # all, five minutes on two cores
    python benchmarks/bandit_attacks.py --only fall --seeds 10

Each line has the mean over seeds of the regret, its standard error, its ratio to that of the best rival, and the
regrets of the rivals. It is the pseudo-regret. In the groups periods and later, except for batches and bursts of noise,
it is the realised regret against the best fixed action; periods have the largest over seeds in place of the mean.

All groups but the last are worlds that defeated the first version. They are in the tuning half of the regret study:
they show what was mended, not how the learner does elsewhere. The group later has worlds that were looked for when the
second version was ready, and defeat it.
"""

from __future__ import annotations

import argparse
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from typing import NamedTuple

import numpy as np

from driftwise.learners import KLUCB, UCB1, BanditTracker, DiscountedKLUCB, SlidingWindowKLUCB, Thompson, TsallisINF

MINE = BanditTracker()
FORGET_NOTHING = (UCB1(), KLUCB(), Thompson(), TsallisINF())
# More where the regret differs much from run to run.
SEEDS = {"noise": 20, "fall": 100, "constant": 100, "periods": 20, "shocks": 100, "slow": 100, "range": 100, "later": 8}


class World(NamedTuple):
    group: str
    name: str
    n_rounds: int
    play: Callable  # learner, number of rounds, seed -> regret
    rivals: tuple = ()


def bernoulli(generator, means):
    return (generator.random(means.shape) < means).astype(float)


def stretches(generator, n_rounds, mean_outside, mean_inside):
    inside, t = np.zeros(n_rounds, bool), 0
    while t < n_rounds:
        t += int(generator.exponential(mean_outside)) + 1
        length = int(generator.exponential(mean_inside)) + 1
        inside[t : t + length] = True
        t += length
    return inside


def quiet_at_times(generator, n_rounds, quiet):
    means = np.tile([0.4, 0.5, 0.6], (n_rounds, 1))
    return np.where(quiet(np.arange(n_rounds) / n_rounds)[:, None], means, bernoulli(generator, means)), means


def constant(generator, n_rounds, values):
    means = np.tile(values, (n_rounds, 1))
    return bernoulli(generator, means), means


def fall(generator, n_rounds, best, n_actions):
    means = np.full((n_rounds, n_actions), 0.6)
    means[:, 0] = best
    means[n_rounds // 2 :, -1] = 0.0
    return bernoulli(generator, means), means


def periodic(generator, n_rounds, high, low, period, n_actions):  # noqa: ARG001 (as the other worlds)
    pattern = np.where(np.arange(period) < (period + 1) // 2, high, low)
    losses = pattern[(np.arange(n_rounds)[:, None] + np.arange(n_actions)) % period]
    return losses, losses


def shared_autoregression(generator, n_rounds, rho):
    shocks, shock = np.empty(n_rounds), generator.standard_normal()
    steps = np.sqrt(1 - rho * rho) * generator.standard_normal(n_rounds)
    for t in range(n_rounds):
        shocks[t] = shock
        shock = rho * shock + steps[t]
    means = np.tile([0.42, 0.52], (n_rounds, 1))
    return np.clip(means + 0.1 * shocks[:, None], 0, 1), means


def shared_runs(generator, n_rounds):
    means, shock = np.tile([0.4, 0.5], (n_rounds, 1)), stretches(generator, n_rounds, 60, 20)
    return np.where(shock[:, None], 1.0, bernoulli(generator, means)), means


def slow_improvement(generator, n_rounds):
    means = np.stack([np.linspace(0.8, 0.1, n_rounds), np.full(n_rounds, 0.4)], axis=1)
    return bernoulli(generator, means), means


def segments(generator, n_rounds, low, width):
    within = np.full((n_rounds, 3), 0.7)
    within[np.arange(n_rounds), np.arange(n_rounds) * 8 // n_rounds % 3] = 0.3
    return low + width * bernoulli(generator, within), low + width * within


def own_runs(generator, n_rounds, n_actions):
    losses = bernoulli(generator, np.full((n_rounds, n_actions), 0.5))
    losses[:, 0] = stretches(generator, n_rounds, 25, 5)
    return losses, losses


def lasting(generator, n_rounds, values, duration):
    fresh = generator.random((n_rounds, len(values))) < 1 / duration
    drawn_in = np.maximum.accumulate(np.where(fresh, np.arange(n_rounds)[:, None], 0), axis=0)
    losses = np.take_along_axis(bernoulli(generator, np.tile(values, (n_rounds, 1))), drawn_in, axis=0)
    return losses, losses


def bursts(generator, n_rounds):
    noisy, means = stretches(generator, n_rounds, 200, 5), np.tile([0.4, 0.5, 0.6], (n_rounds, 1))
    return np.where(noisy[:, None], bernoulli(generator, means), means), means


def drawn(draw, learner, n_rounds, seed):
    """Return the regret against the best action of each round by its charged losses: those drawn, or their means."""
    losses, means = draw(np.random.default_rng([seed, n_rounds]), n_rounds)
    actions = learner.run(learner.start(losses.shape[1], seed), losses)
    best = means.sum(axis=0).min() if means is losses else means.min(axis=1).sum()
    return means[np.arange(n_rounds), actions].sum() - best


def batches(learner, n_rounds, seed, size=100):
    values = np.array([0.4, 0.5, 0.6])
    losses = bernoulli(np.random.default_rng([seed, n_rounds]), np.tile(values, (n_rounds, 1)))
    state, regret = learner.start(3, seed), 0.0
    for first in range(0, n_rounds, size):
        chosen = [learner.choose(state) for _ in range(size)]
        for t, (action, probability) in enumerate(chosen, start=first):
            learner.update(state, action, losses[t, action], probability)
            regret += values[action] - values[0]
    return regret


def punished(learner, n_rounds, seed):
    """Return the regret against an adversary that gives the last action 0.7 and the other one 0.3."""
    state, last, lost, totals = learner.start(2, seed), 0, 0.0, np.zeros(2)
    for _ in range(n_rounds):
        losses = np.where(np.arange(2) == last, 0.7, 0.3)
        last, probability = learner.choose(state)
        learner.update(state, last, losses[last], probability)
        lost += losses[last]
        totals += losses
    return lost - totals.min()


def worlds():
    for n_rounds in (20_000, 80_000, 320_000):
        parts = {
            "noise from the first round": lambda s: s < 0,
            "quiet for 5%": lambda s: s < 0.05,
            "quiet for 25%": lambda s: s < 0.25,
            "quiet for 60%": lambda s: s < 0.6,
            "on and off in eight parts": lambda s: (8 * s).astype(int) % 2 == 0,
        }
        for name, quiet in parts.items():
            play = partial(drawn, partial(quiet_at_times, quiet=quiet))
            yield World("noise", name, n_rounds, play, (UCB1(), Thompson(), TsallisINF()))
    for n_rounds in (20_000, 100_000):
        for best, n_actions in ((0.05, 3), (0.1, 3), (0.15, 3), (0.1, 10)):
            rivals = (*(DiscountedKLUCB(discount) for discount in (0.99, 0.997, 0.999, 0.9997)), UCB1(), Thompson())
            play = partial(drawn, partial(fall, best=best, n_actions=n_actions))
            yield World("fall", f"fall, best {best}, K = {n_actions}", n_rounds, play, rivals)
    for n_rounds in (10**5, 10**6):
        play = partial(drawn, partial(constant, values=[0.3, 0.7, 0.7, 0.7, 0.7]))
        yield World("constant", "constant, gap .4, K = 5", n_rounds, play, (Thompson(),))
    for n_rounds in (10**4, 10**5):
        for high, low in ((0.6, 0.3), (0.55, 0.45)):
            for period in (2, 3, 4, 7):
                for n_actions in (2, 3):
                    name = f"({high}, {low}), period {period}, K = {n_actions}"
                    draw = partial(periodic, high=high, low=low, period=period, n_actions=n_actions)
                    yield World("periods", name, n_rounds, partial(drawn, draw), (Thompson(),))
    shocks = {f"AR(1) {rho}": partial(shared_autoregression, rho=rho) for rho in (0.3, 0.6, 0.75, 0.93)}
    for name, draw in {**shocks, "0/1 shocks in runs": shared_runs}.items():
        yield World("shocks", name, 20_000, partial(drawn, draw), FORGET_NOTHING)
    yield World("slow", "slow improvement", 20_000, partial(drawn, slow_improvement), (SlidingWindowKLUCB(12_800),))
    for name, low, width in ((".5 + .01 Bernoulli", 0.5, 0.01), ("the same in [0, 1]", 0.0, 1.0)):
        yield World("range", name, 10_000, partial(drawn, partial(segments, low=low, width=width)))
    for n_actions in (10, 2):
        play = partial(drawn, partial(own_runs, n_actions=n_actions))
        yield World("later", f"runs of one action, K = {n_actions}", 100_000, play, FORGET_NOTHING)
    for values, duration in (((0.3, 0.7), 3), ((0.4, 0.5, 0.6), 10), ((0.4, 0.5, 0.6), 30)):
        play = partial(drawn, partial(lasting, values=values, duration=duration))
        yield World("later", f"losses last {duration} rounds, K = {len(values)}", 100_000, play, FORGET_NOTHING)
    yield World("later", "bursts of noise", 160_000, partial(drawn, bursts), FORGET_NOTHING)
    yield World("later", "outcomes in batches of 100", 8_000, batches, FORGET_NOTHING)
    yield World("later", "the last action has 0.7, the other 0.3", 40_000, punished, FORGET_NOTHING)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--only", choices=SEEDS)
    parser.add_argument("--seeds", type=int, help="the default depends on the group: " + str(SEEDS))
    settings = parser.parse_args()
    print(f"{'world':40}{'rounds':>8}{'seeds':>6}{'regret':>10}{'error':>7}{'ratio':>7}  rivals, best first")
    with ThreadPoolExecutor() as pool:
        for world in worlds():
            if settings.only in (None, world.group):
                n_seeds = settings.seeds or SEEDS[world.group]
                rows = {
                    learner.label: [*pool.map(lambda s, w=world, x=learner: w.play(x, w.n_rounds, s), range(n_seeds))]
                    for learner in (MINE, *world.rivals)
                }
                scores = {name: (np.max if world.group == "periods" else np.mean)(row) for name, row in rows.items()}
                mine, error = scores.pop(MINE.label), np.std(rows[MINE.label]) / n_seeds**0.5
                line = f"{world.name:40}{world.n_rounds:>8}{n_seeds:>6}{mine:>10.2f}{error:>7.2f}"
                if scores:
                    rivals = sorted(scores.items(), key=lambda row: row[1])
                    ratio = f"{mine / rivals[0][1]:.2f}" if rivals[0][1] > 0 else "-"
                    line += f"{ratio:>7}  " + ", ".join(f"{name} {score:.1f}" for name, score in rivals)
                print(line, flush=True)


if __name__ == "__main__":
    main()
