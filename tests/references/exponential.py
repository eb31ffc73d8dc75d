"""Exponential weights and their relatives, written from the printed formulas, one round after the other."""

from math import exp, inf, log, sqrt

import numpy as np
from mpmath import mp, mpf, workprec


def _weights(totals, rate):
    least = min(totals)
    raw = [(1.0 if x == least else 0.0) if rate == inf else exp(-rate * (x - least)) for x in totals]
    return np.array(raw) / sum(raw)


def hedge(losses, rate=None):
    """w_t ∝ exp(-eta_t L_{t-1}), eta_t = eta or sqrt(8 ln K / t)."""
    n_actions = losses.shape[1]
    played = []
    for t in range(1, len(losses) + 1):
        eta = sqrt(8 * log(n_actions) / t) if rate is None else rate
        played.append(_weights(losses[: t - 1].sum(axis=0), eta))
    return np.array(played)


def fixed_share(losses, rate, alpha):
    """Loss update w_i exp(-eta l_i), then share update: a share alpha of every weight is spread evenly over all K.

    Herbster and Warmuth (1998), with the pool shared by all actions. Their weights are never normalised, only the play
    is. Here they have 80 bits and an exponent of any size, so that none of them underflows.
    """
    w, played = [mpf(1) for _ in losses[0]], []
    with workprec(80):
        for loss in losses:
            played.append(_distribution(w))
            w = _loss_and_share_update(w, loss, rate, alpha)
    return np.array(played)


def optimistic_fixed_share(losses, rate, alpha, hints=None):
    """Fixed Share's weights, played after one more loss update, by the guess; h_t = l_{t-1} unless hinted."""
    guesses = np.vstack([np.zeros_like(losses[:1]), losses[:-1]]) if hints is None else hints
    w, played = [mpf(1) for _ in losses[0]], []
    with workprec(80):
        for loss, guess in zip(losses, guesses, strict=True):
            played.append(_distribution(_loss_update(w, guess, rate)))
            w = _loss_and_share_update(w, loss, rate, alpha)
    return np.array(played)


def _loss_update(w, loss, rate):
    return [x * mp.exp(-mpf(rate) * mpf(float(own))) for x, own in zip(w, loss, strict=True)]


def _loss_and_share_update(w, loss, rate, alpha):
    after = _loss_update(w, loss, rate)
    pool = mpf(alpha) * sum(after)
    return [(1 - mpf(alpha)) * x + pool / len(after) for x in after]


def _distribution(w):
    total = sum(w)
    return [float(x / total) for x in w]


def ada_hedge(losses):
    """eta = ln K / Delta; Delta adds <w, l> + (1/eta) ln sum w exp(-eta l), at eta = inf <w, l> - min over w > 0."""
    n_actions = losses.shape[1]
    totals, gap, played = np.zeros(n_actions), 0.0, []
    for loss in losses:
        eta = log(n_actions) / gap if gap > 0 else inf
        w = _weights(totals, eta)
        played.append(w)
        above = loss - min(loss[w > 0])  # a loss common to all actions adds no gap
        mix = 0.0 if eta == inf else -log((w * np.exp(-eta * above)).sum()) / eta
        gap += max(0.0, w @ above - mix)
        totals = totals + loss
    return np.array(played)


def calibrated_plays(losses, largest, n_rates):
    """Return the plays of Hedge with every rate, (n_rates, n_rounds, n_actions), and what each lost before a round."""
    plays = np.array([hedge(losses, largest * 2.0**-j) for j in range(n_rates)])
    lost = (plays * losses).sum(axis=2).cumsum(axis=1)
    return plays, np.hstack([np.zeros((n_rates, 1)), lost[:, :-1]])
