r"""Learners made of learners, as printed: a dictionary of active intervals, each with a slow base of its own.

A base has `play` (its next weights) and `update(losses)`. Rounds are counted from 1.

- SAOL (Daniely, Gonen, Shalev-Shwartz 2015): $w_I = \min(1/2, |I|^{-1/2})$ at the start, then $w_I (1 + \eta_I r_I)$.
- CBCE (Jun, Orabona, Wright, Willett 2017): stakes $w = \frac{\sum g}{t - J_1 + 1} (1 + \sum g w)$ of either sign,
  $p \propto \pi [w]_+$, $g = r$ if $w > 0$ else $[r]_+$; a sum of coins within rounding of 0 is 0.
- FLH (Hazan, Seshadhri 2009): $v e^{-\alpha \ell}$ normalised, times $1 - 1/(t+1)$; $1/(t+1)$ for the
  new row; rows $s = r 2^k$ are kept for $2^{k+2} + 1$ rounds; the weights of the rows left are normalised.
- Ader (Zhang, Lu, Zhou 2018), Sword (Zhao et al. 2020, linear losses): a fixed list of bases under (optimistic) Hedge.
- AOMD (Jadbabaie et al. 2015), one phase.
"""

from itertools import count
from math import ceil, exp, floor, fsum, inf, log, log2, sqrt

import numpy as np

from references.gd import prox


def normalised(values):
    return np.array(values) / fsum(values)


def exponential_weights(exponents):
    top = max(exponents)
    return normalised([exp(e - top) for e in exponents])


class Hedge:
    """Exponential weights with the rate sqrt(8 ln K / t), or a fixed one."""

    def __init__(self, n_actions, learning_rate=None):
        self.n_actions, self.learning_rate, self.seen = n_actions, learning_rate, []

    @property
    def play(self):
        rate = self.learning_rate or sqrt(8 * log(self.n_actions) / (len(self.seen) + 1))
        return exponential_weights([-rate * fsum(row[k] for row in self.seen) for k in range(self.n_actions)])

    def update(self, losses):
        self.seen.append(losses)


class OptimisticGD:
    """Algorithm 2 with the prox term ||.||^2 / eta."""

    def __init__(self, n_actions, learning_rate=0.3):
        self.x, self.last = np.full(n_actions, 1 / n_actions), np.zeros(n_actions)
        self.learning_rate = learning_rate

    @property
    def play(self):
        return prox(self.x, self.last, self.learning_rate)

    def update(self, losses):
        self.x, self.last = prox(self.x, losses, self.learning_rate), losses


class OnlineGD:
    """Gradient descent with the prox term ||.||^2 / (2 eta)."""

    def __init__(self, n_actions, learning_rate):
        self.play, self.learning_rate = np.full(n_actions, 1 / n_actions), learning_rate

    def update(self, losses):
        self.play = prox(self.play, losses, self.learning_rate, prox_scale=0.5)


BASES = {"hedge": Hedge, "optimistic-gd": OptimisticGD}


def dyadic(t):
    """Return the intervals [i 2^k, (i+1) 2^k - 1], i >= 1, that hold round t."""
    found = []
    for k in count():
        if 2**k > t:
            return found
        for i in range(1, t + 1):
            if i * 2**k <= t <= (i + 1) * 2**k - 1:
                found.append((i * 2**k, (i + 1) * 2**k - 1))


def lasting(t):
    """Return the intervals [s, s + 2^(k+2)], s = r 2^k with r odd, that hold round t."""
    found = []
    for s in range(1, t + 1):
        k = max(k for k in range(s.bit_length()) if s % 2**k == 0)
        if t <= s + 2 ** (k + 2):
            found.append((s, s + 2 ** (k + 2)))
    return found


def mixture(shares, rows):
    return normalised(sum(share * rows[interval].play for interval, share in shares.items()))


def saol(losses, base="hedge"):
    """Return the weights SAOL plays."""
    rows, weights, played = {}, {}, []
    for t, row in enumerate(losses, 1):
        active = dyadic(t)
        for first, last in active:
            if first == t:
                rows[first, last] = BASES[base](len(row))
                weights[first, last] = min(0.5, (last - first + 1) ** -0.5)
        play = mixture({interval: weights[interval] for interval in active}, rows)
        for first, last in active:
            regret = play @ row - rows[first, last].play @ row
            weights[first, last] *= 1 + min(0.5, (last - first + 1) ** -0.5) * regret
            rows[first, last].update(row)
        played.append(play)
    return np.array(played)


def cbce(losses, base="hedge"):
    """Return the weights CBCE plays: Jun et al.'s betting on sleeping experts, the experts being the intervals.

    An expert that was awake in n rounds bets the fraction (g_1 + ... + g_n) / (n + 1) of its wealth 1 + g_1 w_1 + ... +
    g_n w_n, either way round; its bet w, where positive, times its prior is its weight. The coin g is the play's loss
    less the expert's, but not less than 0 where the bet is not positive.
    """
    rows, coins, bets, played = {}, {}, {}, []
    for t, row in enumerate(losses, 1):
        active = dyadic(t)
        prior = {(first, last): 1 / (first**2 * (1 + floor(log2(first)))) for first, last in active}
        for interval in active:
            if interval[0] == t:
                rows[interval], coins[interval], bets[interval] = BASES[base](len(row)), [], []
            wealth = 1 + fsum(g * w for g, w in zip(coins[interval], bets[interval], strict=True))
            fraction = without_rounding(coins[interval]) / (len(coins[interval]) + 1)
            bets[interval].append(fraction * wealth)
        weights = {interval: prior[interval] * max(0, bets[interval][-1]) for interval in active}
        play = mixture(weights if any(weights.values()) else prior, rows)
        for interval in active:
            coin = play @ row - rows[interval].play @ row
            coins[interval].append(coin if bets[interval][-1] > 0 else max(0, coin))
            rows[interval].update(row)
        played.append(play)
    return np.array(played)


def without_rounding(coins):
    """Return the sum of the coins; it is 0 where the errors of that many coins could have made it."""
    total = fsum(coins)
    return 0.0 if abs(total) <= 1e-12 * (len(coins) + 1) else total


def flh(losses, base="hedge", learning_rate=0.5):
    """Return the weights AFLH plays."""
    rows, weights, played = {}, {}, []
    for t, row in enumerate(losses, 1):
        active = lasting(t)
        for interval in list(weights):
            if interval in active:
                weights[interval] *= 1 - 1 / t
            else:
                del weights[interval]
        (new_row,) = (interval for interval in active if interval[0] == t)
        rows[new_row], weights[new_row] = BASES[base](len(row)), 1 / t
        play = mixture(weights, rows)
        total = fsum(weights.values())
        after = {s: weights[s] / total * exp(-learning_rate * (rows[s].play @ row)) for s in weights}
        weights = {s: after[s] / fsum(after.values()) for s in after}
        for interval in active:
            rows[interval].update(row)
        played.append(play)
    return np.array(played)


def ader(losses, n_rounds):
    """Return the weights Ader plays."""
    n_actions = losses.shape[1]
    n_bases = ceil(0.5 * log2(1 + 4 * n_rounds / 7)) + 1
    rates = [2 ** (i - 1) * sqrt(2) / sqrt(n_actions) * sqrt(7 / (2 * n_rounds)) for i in range(1, n_bases + 1)]
    prior = [(1 + 1 / n_bases) / (i * (i + 1)) for i in range(1, n_bases + 1)]
    bases, lost, played = [OnlineGD(n_actions, rate) for rate in rates], [[] for _ in rates], []
    for row in losses:
        exponents = [log(p) - sqrt(8 / n_rounds) * fsum(own) for p, own in zip(prior, lost, strict=True)]
        shares = exponential_weights(exponents)
        played.append(sum(share * base.play for share, base in zip(shares, bases, strict=True)))
        for base, own in zip(bases, lost, strict=True):
            own.append(base.play @ row)
            base.update(row)
    return np.array(played)


def optimistic_hedge(losses, hints=None, learning_rate=None):
    """Return the weights Optimistic Hedge plays; the hint is the last loss unless given."""
    n_rounds, n_actions = losses.shape
    guesses = np.vstack([np.zeros((1, n_actions)), losses[:-1]]) if hints is None else hints
    played = []
    for t in range(n_rounds):
        moved = fsum(max(abs(losses[s] - guesses[s])) ** 2 for s in range(t))
        rate = learning_rate or sqrt(log(n_actions) / (1 + moved))
        totals = [fsum(losses[:t, k]) + guesses[t, k] for k in range(n_actions)]
        played.append(exponential_weights([-rate * total for total in totals]))
    return np.array(played)


def sword(losses, n_rounds, largest_rate=8.0, meta_learning_rate=None):
    """Return the weights Sword plays."""
    n_actions = losses.shape[1]
    rates = [largest_rate]
    while rates[-1] > sqrt(8 / (n_actions * n_rounds)):
        rates.append(rates[-1] / 2)
    bases = [OptimisticGD(n_actions, rate) for rate in rates]
    plays = np.empty((len(losses), len(rates), n_actions))
    for t, row in enumerate(losses):
        plays[t] = [base.play for base in bases]
        for base in bases:
            base.update(row)
    before = np.vstack([np.zeros((1, n_actions)), losses[:-1]])
    lost, guessed = np.einsum("tbk,tk->tb", plays, losses), np.einsum("tbk,tk->tb", plays, before)
    shares = optimistic_hedge(lost, guessed, meta_learning_rate)
    return np.einsum("tb,tbk->tk", shares, plays)


def online_gd(losses, learning_rate):
    """Return the weights of gradient descent."""
    base, played = OnlineGD(losses.shape[1], learning_rate), []
    for row in losses:
        played.append(base.play)
        base.update(row)
    return np.array(played)


def hedge(losses, learning_rate=None):
    """Return the weights of Hedge."""
    base, played = Hedge(losses.shape[1], learning_rate), []
    for row in losses:
        played.append(base.play)
        base.update(row)
    return np.array(played)


def aomd(losses, rate_scale=2.0):
    """Return the weights of one phase of AOMD."""
    n_rounds, n_actions = losses.shape
    x, before = np.full(n_actions, 1 / n_actions), np.vstack([np.zeros((1, n_actions)), losses])
    deviation = [1 + fsum(((losses[s] - before[s]) ** 2).sum() for s in range(t)) for t in range(n_rounds)]
    played = []
    for t in range(n_rounds):
        rate = rate_scale / (sqrt(deviation[t]) + sqrt(deviation[max(t - 1, 0)]))
        assert rate < inf
        played.append(prox(x, before[t], rate, prox_scale=0.5))
        x = prox(x, losses[t], rate, prox_scale=0.5)
    return np.array(played)
