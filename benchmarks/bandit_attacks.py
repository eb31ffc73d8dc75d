"""Regret of `BanditTracker` in the worlds that defeated its first version, beside the best of four rivals.

    python benchmarks/bandit_attacks.py                 # all, about ten minutes on two cores
    python benchmarks/bandit_attacks.py --only fall --seeds 10

Each line has the mean over seeds of the pseudo-regret (periods: of the realised regret against the best fixed action,
for the worst seed), the same of the rival that is best there, and their ratio. The worlds are in the tuning half of the
regret study: they show what was mended, not how the learner does elsewhere.
"""

from __future__ import annotations

import argparse
import functools
from concurrent.futures import ThreadPoolExecutor

import numpy as np

from driftwise.learners import UCB1, BanditTracker, DiscountedKLUCB, SlidingWindowKLUCB, Thompson, TsallisINF

MINE = BanditTracker()


def bernoulli(generator, means):
    return (generator.random(means.shape) < means).astype(float)


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
    return losses, np.tile(losses.mean(axis=0), (n_rounds, 1))


def shared_autoregression(generator, n_rounds, rho):
    shocks, shock = np.empty(n_rounds), generator.standard_normal()
    steps = np.sqrt(1 - rho * rho) * generator.standard_normal(n_rounds)
    for t in range(n_rounds):
        shocks[t] = shock
        shock = rho * shock + steps[t]
    means = np.tile([0.42, 0.52], (n_rounds, 1))
    return np.clip(means + 0.1 * shocks[:, None], 0, 1), means


def shared_runs(generator, n_rounds):
    means, shock, t = np.tile([0.4, 0.5], (n_rounds, 1)), np.zeros(n_rounds, bool), 0
    while t < n_rounds:
        t += int(generator.exponential(60)) + 1
        length = int(generator.exponential(20)) + 1
        shock[t : t + length] = True
        t += length
    return np.where(shock[:, None], 1.0, bernoulli(generator, means)), means


def slow_improvement(generator, n_rounds):
    means = np.stack([np.linspace(0.8, 0.1, n_rounds), np.full(n_rounds, 0.4)], axis=1)
    return bernoulli(generator, means), means


def segments(generator, n_rounds, low, width):
    within = np.full((n_rounds, 3), 0.7)
    within[np.arange(n_rounds), np.arange(n_rounds) * 8 // n_rounds % 3] = 0.3
    return low + width * bernoulli(generator, within), low + width * within


def regret(learner, draw, n_rounds, realised, seed):
    losses, means = draw(np.random.default_rng([seed, n_rounds]), n_rounds)
    actions = learner.run(learner.start(losses.shape[1], seed), losses)
    charged = losses if realised else means
    best = charged.sum(axis=0).min() if realised else charged.min(axis=1).sum()
    return charged[np.arange(n_rounds), actions].sum() - best


def worlds():
    """Yield group, name, draw, rounds, whether the regret is realised, and the rivals."""
    noise = [Thompson(), TsallisINF(), UCB1()]
    for n_rounds in (20_000, 80_000, 320_000):
        yield (
            "noise",
            "noise from the first round",
            functools.partial(quiet_at_times, quiet=lambda s: s < 0),
            n_rounds,
            False,
            noise,
        )
        for share in (0.05, 0.25, 0.6):
            yield (
                "noise",
                f"quiet for {share:.0%}",
                functools.partial(quiet_at_times, quiet=lambda s, share=share: s < share),
                n_rounds,
                False,
                noise,
            )
        yield (
            "noise",
            "on and off in eight parts",
            functools.partial(quiet_at_times, quiet=lambda s: (8 * s).astype(int) % 2 == 0),
            n_rounds,
            False,
            noise,
        )
    for n_rounds in (20_000, 100_000):
        for best, n_actions in ((0.05, 3), (0.1, 3), (0.15, 3), (0.1, 10)):
            rivals = [DiscountedKLUCB(discount) for discount in (0.99, 0.997, 0.999, 0.9997)] + [UCB1(), Thompson()]
            yield (
                "fall",
                f"fall, best {best}, K = {n_actions}",
                functools.partial(fall, best=best, n_actions=n_actions),
                n_rounds,
                False,
                rivals,
            )
    for n_rounds in (10**5, 10**6):
        yield (
            "constant",
            "constant, gap .4, K = 5",
            functools.partial(constant, values=[0.3, 0.7, 0.7, 0.7, 0.7]),
            n_rounds,
            False,
            [Thompson()],
        )
    for n_rounds in (10**4, 10**5):
        for high, low in ((0.6, 0.3), (0.55, 0.45)):
            for period in (2, 3, 4, 7):
                for n_actions in (2, 3):
                    yield (
                        "periods",
                        f"({high}, {low}), period {period}, K = {n_actions}",
                        functools.partial(periodic, high=high, low=low, period=period, n_actions=n_actions),
                        n_rounds,
                        True,
                        [Thompson()],
                    )
    for rho in (0.3, 0.6, 0.75, 0.93):
        yield "shocks", f"AR(1) {rho}", functools.partial(shared_autoregression, rho=rho), 20_000, False, [Thompson()]
    yield "shocks", "0/1 shocks in runs", shared_runs, 20_000, False, [Thompson()]
    yield "slow", "slow improvement", slow_improvement, 20_000, False, [SlidingWindowKLUCB(12_800)]
    yield "range", ".5 + .01 Bernoulli", functools.partial(segments, low=0.5, width=0.01), 10_000, False, []
    yield "range", "the same in [0, 1], times .01", functools.partial(segments, low=0.0, width=1.0), 10_000, False, []


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--only", help="noise, fall, constant, periods, shocks, slow or range")
    parser.add_argument("--seeds", type=int, default=20)
    settings = parser.parse_args()
    print(f"{'world':44}{'rounds':>9}{'regret':>9}{'error':>8}{'rival':>9}{'ratio':>7}  best rival")
    with ThreadPoolExecutor() as pool:
        for group, name, draw, n_rounds, realised, rivals in worlds():
            if settings.only in (None, group):
                rows = {
                    learner.label: np.array(
                        [*pool.map(functools.partial(regret, learner, draw, n_rounds, realised), range(settings.seeds))]
                    )
                    for learner in [MINE, *rivals]
                }
                score = (lambda values: values.max()) if realised else (lambda values: values.mean())
                mine, error = score(rows[MINE.label]), rows[MINE.label].std() / settings.seeds**0.5
                line = f"{name:44}{n_rounds:>9}{mine:>9.1f}{error:>8.1f}"
                if rivals:
                    best = min((learner.label for learner in rivals), key=lambda label: score(rows[label]))
                    line += f"{score(rows[best]):>9.1f}{mine / max(score(rows[best]), 1e-9):>7.2f}  {best}"
                if realised:
                    line += f"; {mine / n_rounds:.4f} T"
                print(line, flush=True)


if __name__ == "__main__":
    main()
