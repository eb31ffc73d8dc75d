"""Tracker, from the formulas of its docstring: every base of the grid alone, then AdaHedge with a prior over them.

Totals are fractions, and weights are divided by the largest before they are normalised: uniform weights are then the
number 1/K in every base. Bases whose losses differ by less than 1e-12 of the largest are taken as equal.
"""

from fractions import Fraction
from math import ceil, exp, fsum, inf, log, sqrt

import numpy as np

LEADER_PRIOR = 0.8
RATES = (0.3, 1.0, 3.0, 10.0, 30.0)
SWITCH_RATES = (1e-8, 1e-5, 1e-2)
SLOW_SCALES, SLOW_SCALES_BOTH = (4.0, 16.0, 64.0, 256.0), (1.0,)  # the second with both guesses
WIDE = 4.0
TIE, ROUNDING = 1e-9, 1e-12
PAIRS = [(eta, alpha) for eta in RATES for alpha in SWITCH_RATES]
N_BASES = 2 + 2 * (len(PAIRS) + len(SLOW_SCALES))


def prior(n_bases):
    """Return the prior over some bases, of which the leader is the first."""
    return np.array([LEADER_PRIOR] + [(1 - LEADER_PRIOR) / (n_bases - 1)] * (n_bases - 1))


PRIOR = prior(N_BASES)
CODE_LENGTH = float(max(-log(p) for p in PRIOR))


def learned_parts(losses):
    """Return (first round, losses above the least as they are learned, what was cut off) for each part of the rounds.

    In a part, round t since the first whose losses differ is wide if its range is over 4 times the largest before; the
    first log2(t + 1) wide ones are cut to that. A part ends if the last 3/4 of all rounds since losses first differed
    have ranges of at most a quarter of the largest, and not all 0.
    """
    parts, first, lasted = [], 0, 0
    while first < len(losses):
        result, widths, t, cuts = [], [], 0, []
        for loss in losses[first:]:
            largest, above = max(widths, default=0.0), [value - min(loss) for value in loss]
            t, lasted = t + (t > 0 or max(above) > 0), lasted + (lasted > 0 or max(above) > 0)
            if largest > 0 and max(above) > WIDE * largest and 2 ** (len(cuts) + 1) <= t + 1:
                cuts.append(max(above) - largest)
                above = [min(value, largest) for value in above]
            widths.append(max(above))
            result.append(above)
            latest = widths[-ceil(0.75 * lasted) :] if lasted > 0 and 0.75 * lasted <= len(widths) else [inf]
            if 0 < max(latest) <= max(widths) / WIDE:
                break
        parts.append((first, np.array(result, dtype=float).reshape(len(result), -1), fsum(cuts)))
        first += len(result)
    return parts


def guesses_and_scaled(losses, hints=None):
    """Return b_t, z_t and g_t: the hint above its least, divided by max(b_{t-1}, its range), or z_{t-1} without one."""
    largest, scaled, guesses, before = [], [], [], 0.0
    for t, loss in enumerate(losses):
        if hints is not None and hints[t] is not None:
            guesses.append(_scaled(hints[t], max(before, max(hints[t]) - min(hints[t]))))
        else:
            guesses.append(scaled[-1] if t else [0.0] * len(loss))
        before = max(before, max(loss) - min(loss))
        largest.append(before)
        scaled.append(_scaled(loss, before))
    return np.array(largest), np.array(scaled), np.array(guesses)


def base_plays(losses, hints=None, both_guesses=False):
    """Return the weights of every base, (rounds, bases, actions).

    They are the leader, the last losses, both forms of each pair, and both forms of the slow rates of each scale; with
    both guesses, the last losses and the optimistic form are there for the last losses and then for the hint.
    """
    largest, scaled, hinted = guesses_and_scaled(losses, hints)
    guesses = [guesses_and_scaled(losses)[2], hinted] if both_guesses else [hinted]
    plays = [leader(losses, largest), *([_uniform_on_least(row, TIE) for row in guess] for guess in guesses)]
    forms = [np.zeros_like(hinted), *guesses]
    for pair in PAIRS:
        plays += [fixed_share(scaled, guess, *pair) for guess in forms]
    for scale in SLOW_SCALES_BOTH if both_guesses else SLOW_SCALES:
        plays += [fixed_share(scaled, guess, scale=scale) for guess in forms]
    return np.array(plays).transpose(1, 0, 2)


def leader(losses, largest):
    """Uniform on the actions whose exact total loss is within 1e-9 of the range so far of the least."""
    totals, played = [Fraction(0)] * len(losses[0]), []
    for t, loss in enumerate(losses):
        played.append(_uniform_on_least(totals, Fraction(TIE * largest[t - 1]) if t else 0))
        totals = [total + Fraction(float(value)) for total, value in zip(totals, loss, strict=True)]
    return played


def fixed_share(scaled, guesses, rate=None, switch_rate=None, scale=None):
    """x_{t+1} = (1 - alpha) x_t exp(-eta z_t) / Z_t + alpha / K, played after one more factor exp(-eta g_t).

    With a scale c the rates are c / sqrt(t) and 1 / (t + 1), where t counts the rounds since the first whose
    losses differ.
    """
    n_actions = len(scaled[0])
    x, played = np.full(n_actions, 1 / n_actions), []
    first = next((t for t, z in enumerate(scaled) if max(z) > 0), len(scaled))  # the first whose losses differ
    for now, (z, g) in enumerate(zip(scaled, guesses, strict=True)):
        t = max(1, now - first + 1)
        eta, alpha = rate or scale / sqrt(t), switch_rate or 1 / (t + 1)
        played.append(_normalised(x * np.exp(-eta * g)))
        x = (1 - alpha) * _normalised(x * np.exp(-eta * z)) + alpha / n_actions
    return played


def ada_hedge_with_prior(lost, prior=PRIOR):
    """Return the weights of the bases and the total gap after every round; without a gap the weights are the prior.

    The mix loss is M_t - M_{t-1}, with M = -(1/eta) ln sum_i pi_i exp(-eta L_i); no weight that underflows matters.
    """
    length = max(-log(p) for p in prior)
    totals, gap, weights, gaps = [Fraction(0)] * len(prior), 0.0, [], []
    for loss in lost:
        after = [total + Fraction(float(value)) for total, value in zip(totals, loss, strict=True)]
        rate = length / gap if gap > 0 else inf
        weights.append(q := _posterior(totals, rate, prior))
        least = min(loss)
        added = fsum(share * (value - least) for value, share in zip(loss, q, strict=True))
        if rate < inf:
            moved = float(min(after) - min(totals) - Fraction(float(least)))
            added -= moved - (_log_mass(after, rate, prior) - _log_mass(totals, rate, prior)) / rate
        elif added <= ROUNDING * max(loss):
            added = 0.0
        gap += max(0.0, added)
        gaps.append(gap)
        totals = after
    return np.array(weights), np.array(gaps)


def _log_mass(totals, rate, prior):
    least = min(totals)
    return log(fsum(p * exp(-rate * float(total - least)) for p, total in zip(prior, totals, strict=True)))


def tracker_parts(losses, hints=None, both_guesses=False):
    """Return (weights, weights of the bases, plays of the bases, losses of the bases above the round's least, gaps).

    Losses of the bases are those that are learned; without both guesses each part of the rounds begins anew.
    """
    above = losses - losses.min(axis=1, keepdims=True)
    parts = [(0, above, 0.0)] if both_guesses else learned_parts(losses)
    results = []
    for first, learned, _ in parts:
        plays = base_plays(learned, None if hints is None else hints[first : first + len(learned)], both_guesses)
        lost = np.array([[fsum(play * row) for play in bases] for bases, row in zip(plays, learned, strict=True)])
        shares, gaps = ada_hedge_with_prior(lost, prior(plays.shape[1]))
        results.append((np.einsum("tb,tbk->tk", shares, plays), shares, plays, lost, gaps))
    return tuple(np.concatenate(values) for values in zip(*results, strict=True))


def tracker(losses, hints=None, both_guesses=False):
    """Return the weights that Tracker plays."""
    return tracker_parts(losses, hints, both_guesses)[0]


def _posterior(totals, rate, prior):
    """Return pi_i exp(-rate L_i), normalised."""
    if rate == inf:
        return prior
    least = min(totals)
    mass = [p * exp(-rate * float(total - least)) for p, total in zip(prior, totals, strict=True)]
    return np.array(mass) / fsum(mass)


def _scaled(values, largest):
    least = min(values)
    return [(value - least) / largest if largest > 0 else 0.0 for value in values]


def _normalised(values):
    values = values / values.max()
    return values / fsum(values)


def _uniform_on_least(values, tolerance):
    least = min(values)
    ties = [float(value - least <= tolerance) for value in values]
    return [tie / sum(ties) for tie in ties]
