"""Exp3, Exp3.S, Rexp3 and Tsallis-INF from the printed formulas: each round starts from the whole history.

A rule takes the history, a list of (probabilities, action, loss), and returns the next probabilities.
"""

from math import e, exp, sqrt

import numpy as np
from scipy.optimize import brentq


def play(rule, losses, uniforms):
    """Return (probabilities, actions) of a rule that draws with the given uniforms, action 0 first."""
    history = []
    for row, uniform in zip(losses, uniforms, strict=True):
        p = rule(history, losses.shape[1])
        action = next(k for k in range(len(p)) if uniform < sum(p[: k + 1]))
        history.append((p, action, row[action]))
    return np.array([p for p, _, _ in history]), np.array([action for _, action, _ in history])


def exp3(gamma):
    """Figure 1 of Auer et al.: w_i = exp(gamma G_i / K), the gains G estimated as x / p."""

    def rule(history, n_actions):
        gains = np.zeros(n_actions)
        for p, action, loss in history:
            gains[action] += (1 - loss) / p[action]
        w = np.exp(gamma / n_actions * (gains - gains.max()))
        return (1 - gamma) * w / w.sum() + gamma / n_actions

    return rule


def exp3_s(gamma, alpha):
    """Figure 4 of Auer et al.: w_i exp(gamma x_i / K) + (e alpha / K) W, with W the sum before the round."""

    def rule(history, n_actions):
        w = [1.0] * n_actions
        for p, action, loss in history:
            before = sum(w)
            w[action] *= exp(gamma * (1 - loss) / p[action] / n_actions)
            w = [weight + e * alpha / n_actions * before for weight in w]
        return np.array([(1 - gamma) * weight / sum(w) + gamma / n_actions for weight in w])

    return rule


def rexp3(block, gamma):
    """Exp3 on the history of the block alone."""
    return lambda history, n_actions: exp3(gamma)(history[len(history) // block * block :], n_actions)


def tsallis_inf(reduced_variance):
    """Algorithm 1 of Zimmert and Seldin with either estimator."""

    def rule(history, n_actions):
        totals = np.zeros(n_actions)
        for t, (p, action, loss) in enumerate(history, start=1):
            totals += estimate(p, action, loss, rate(t, reduced_variance), reduced_variance)
        return tsallis_weights(totals, rate(len(history) + 1, reduced_variance))

    return rule


def rate(t, reduced_variance):
    return (4 if reduced_variance else 2) / sqrt(t)


def estimate(p, action, loss, eta, reduced_variance):
    """1[a = i] (l - b) / p + b, with b = 1/2 where p >= eta^2 for reduced variance, else 0."""
    estimates = np.zeros(len(p))
    for k in range(len(p)):
        b = 0.5 if reduced_variance and p[k] >= eta**2 else 0.0
        estimates[k] = ((loss - b) / p[k] if k == action else 0.0) + b
    return estimates


def tsallis_weights(totals, eta):
    """w_i = 4 (eta (L_i - x))^-2, x where they sum to 1; one weight of 1, or all of 1/K, bracket it."""
    best = totals.min()

    def excess(depth):  # x = best - depth
        return (4 / (eta * (totals - best + depth)) ** 2).sum() - 1

    low, high = 2 / eta, 2 * sqrt(len(totals)) / eta
    depth = brentq(excess, low * (1 - 1e-9), high * (1 + 1e-9), xtol=1e-14, rtol=1e-15)
    return 4 / (eta * (totals - best + depth)) ** 2


def tsallis_potential(totals, eta):
    """max over w of -<w, L> + (4 / eta) sum sqrt(w)."""
    w = tsallis_weights(totals, eta)
    return -(w @ totals) + 4 / eta * np.sqrt(w).sum()
