"""Kinds of world that defeated earlier versions of the default learners: a part of the regret study's tuning half.

Each was written against a weakness, so results here say how it was mended, not how a default does elsewhere. Rounds
are counted from 0. All randomness comes from the generator passed in; no family looks at a learner's play.
"""

from __future__ import annotations

import numpy as np

from driftwise.regret_study.held_out import (
    Bools,
    Drawn,
    Family,
    Floats,
    all_seen,
    autoregression,
    bernoulli,
    stretches,
)

_N_SEGMENTS = 8
_BEST, _REST = 0.3, 0.7  # means of the best action of a segment and of the others


def late_noise(generator: np.random.Generator, n_rounds: int, n_actions: int) -> Drawn:
    """Constant means; losses equal them for the first part of the rounds and are 0 or 1 from then on.

    The first part has 5, 25 or 60 % of the rounds.
    """
    quiet = np.arange(n_rounds) < generator.choice([0.05, 0.25, 0.6]) * n_rounds
    return _partly_quiet(generator, quiet, n_actions)


def noise_on_and_off(generator: np.random.Generator, n_rounds: int, n_actions: int) -> Drawn:
    """Constant means; eight parts of the rounds, in turn with losses that equal them and with losses 0 or 1."""
    n_parts = 8
    return _partly_quiet(generator, np.arange(n_rounds) * n_parts // n_rounds % 2 == 0, n_actions)


def _partly_quiet(generator: np.random.Generator, quiet: Bools, n_actions: int) -> Drawn:
    means = np.tile(np.linspace(0.4, 0.6, n_actions), (len(quiet), 1))
    losses = np.where(quiet[:, None], means, bernoulli(generator, means))
    return Drawn(losses, means, all_seen(len(quiet)))


def common_shocks(generator: np.random.Generator, n_rounds: int, n_actions: int) -> Drawn:
    """Constant means with autoregressive noise that all actions share: a loss predicts the next of the same action.

    The correlation of neighbouring rounds is 0.3, 0.6, 0.75 or 0.93.
    """
    spread = 0.1  # standard deviation of the noise
    means = np.tile(np.linspace(0.42, 0.52, n_actions), (n_rounds, 1))
    shocks = spread * autoregression(generator, n_rounds, 1, generator.choice([0.3, 0.6, 0.75, 0.93]))
    return Drawn(np.clip(means + shocks, 0.0, 1.0), means, all_seen(n_rounds))


def shocks_in_runs(generator: np.random.Generator, n_rounds: int, n_actions: int) -> Drawn:
    """Constant means with losses 0 or 1; in runs of rounds that begin at random, all actions have loss 1."""
    mean_between, mean_run = 60.0, 20.0  # rounds
    means = np.tile(np.linspace(0.4, 0.5, n_actions), (n_rounds, 1))
    shock = stretches(generator, n_rounds, mean_between, mean_run)
    return Drawn(np.where(shock[:, None], 1.0, bernoulli(generator, means)), means, all_seen(n_rounds))


def unplayed_fall(generator: np.random.Generator, n_rounds: int, n_actions: int) -> Drawn:
    """One good action among bad ones, of which one becomes perfect after half of the rounds."""
    good, bad = 0.1, 0.6
    means = np.full((n_rounds, n_actions), bad)
    means[:, 0] = good
    means[n_rounds // 2 :, -1] = 0.0
    return Drawn(bernoulli(generator, means), means, all_seen(n_rounds))


def period_two(generator: np.random.Generator, n_rounds: int, n_actions: int) -> Drawn:
    """Losses without noise that repeat after two rounds, each action's a round later than the one before.

    All actions have the same mean over a period, which counts as the mean: the comparator is a fixed action.
    """
    return _periodic(generator, 2, n_rounds, n_actions)


def longer_periods(generator: np.random.Generator, n_rounds: int, n_actions: int) -> Drawn:
    """The same with a period of 3, 4 or 7 rounds."""
    return _periodic(generator, int(generator.choice([3, 4, 7])), n_rounds, n_actions)


def _periodic(generator: np.random.Generator, period: int, n_rounds: int, n_actions: int) -> Drawn:
    high, low = generator.choice([[0.6, 0.3], [0.55, 0.45]])
    pattern = np.where(np.arange(period) < (period + 1) // 2, high, low)  # the first play of each action is a bad one
    losses = pattern[(np.arange(n_rounds)[:, None] + np.arange(n_actions)) % period]
    return Drawn(losses, np.full(losses.shape, pattern.mean()), all_seen(n_rounds))


def slow_improvement(generator: np.random.Generator, n_rounds: int, n_actions: int) -> Drawn:
    """The worst action improves linearly over all rounds and becomes the best; the others stay."""
    first, last, others = 0.8, 0.1, 0.4
    means = np.full((n_rounds, n_actions), others)
    means[:, 0] = np.linspace(first, last, n_rounds)
    return Drawn(bernoulli(generator, means), means, all_seen(n_rounds))


def range_not_filled(generator: np.random.Generator, n_rounds: int, n_actions: int) -> Drawn:
    """Eight segments with losses of two values that are close to each other."""
    lowest, width = 0.5, 0.01
    within = _segments(generator, n_rounds, n_actions)
    losses = lowest + width * bernoulli(generator, within)
    return Drawn(losses, lowest + width * within, all_seen(n_rounds))


def wide_round(generator: np.random.Generator, n_rounds: int, n_actions: int) -> Drawn:
    """Eight segments with losses 0 or r, and a single round with losses 0 or 1: round 10, 100 or 5,000.

    r is 0.1, 0.01 or 0.001.
    """
    scale = np.full((n_rounds, 1), generator.choice([0.1, 0.01, 0.001]))
    scale[generator.choice([10, 100, 5000])] = 1.0
    within = _segments(generator, n_rounds, n_actions)
    return Drawn(scale * bernoulli(generator, within), scale * within, all_seen(n_rounds))


def _segments(generator: np.random.Generator, n_rounds: int, n_actions: int) -> Floats:
    """Return means of equally long segments, in each of which a random action other than the last is best."""
    steps = np.concatenate([generator.integers(n_actions, size=1), generator.integers(1, n_actions, _N_SEGMENTS - 1)])
    best = np.cumsum(steps) % n_actions
    means = np.full((n_rounds, n_actions), _REST)
    means[np.arange(n_rounds), best[np.arange(n_rounds) * _N_SEGMENTS // n_rounds]] = _BEST
    return means


FAMILIES = {
    "late noise": Family(late_noise, True, ((3, 20_000), (3, 80_000))),
    "noise on and off": Family(noise_on_and_off, True, ((3, 20_000), (3, 80_000))),
    "common shocks": Family(common_shocks, False, ((2, 20_000), (5, 20_000))),
    "shocks in runs": Family(shocks_in_runs, False, ((2, 20_000), (5, 20_000))),
    "unplayed fall": Family(unplayed_fall, True, ((3, 20_000), (10, 20_000), (3, 100_000))),
    "period two": Family(period_two, False, ((2, 10_000), (3, 10_000))),
    "longer periods": Family(longer_periods, False, ((2, 10_000), (3, 10_000))),
    "slow improvement": Family(slow_improvement, True, ((2, 20_000), (5, 20_000))),
    "range not filled": Family(range_not_filled, True, ((2, 10_000), (5, 10_000))),
    "wide round": Family(wide_round, True, ((2, 10_000), (10, 10_000))),
}
