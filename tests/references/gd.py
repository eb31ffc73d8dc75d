r"""Algorithm 2 and its restarted adaptive variant, as printed (paper, Section 3.2, Appendices C and D).

$$ \hat x_t = \arg\min_{x \in X} \langle \ell_{t-1}, x \rangle + \tfrac{1}{\eta_t} \|x - x_t\|_2^2, \qquad
   x_{t+1} = \arg\min_{x \in X} \langle \ell_t, x \rangle + \tfrac{1}{\eta_t} \|x - x_t\|_2^2 , $$

$x_1$ uniform, $\ell_0 = 0$. Completing the square turns each step into the Euclidean projection of
$x_t - (\eta_t / 2) \ell$ on the simplex; `prox_by_minimiser` solves the printed problem without that step.
The variant restarts every $B$ rounds with $\eta_{t_1} = \infty$ and then
$\eta_t = 1 / \sqrt{4 \sum_{\tau=t_1}^{t-1} \|\ell_\tau - \ell_{\tau-1}\|^2}$; the last loss is carried over
the border, $x$ is not.
"""

from itertools import combinations
from math import fsum, inf, sqrt

import numpy as np
from scipy.optimize import minimize


def project(point):
    """Project on the simplex: subtract a threshold, cut at zero.

    For every set S of coordinates, sum_{i in S} (point_i - threshold) <= 1, with equality for the support of
    the projection. So the threshold is the largest (sum of S - 1) / |S|; of each size the top S is the best.
    """
    top = sorted((float(value) for value in point), reverse=True)
    threshold = max((fsum(top[:size]) - 1.0) / size for size in range(1, len(top) + 1))
    return np.array([max(float(value) - threshold, 0.0) for value in point])


def project_by_enumeration(point):
    """Project on the simplex by trying every support and keeping the nearest feasible point."""
    nearest, distance = None, inf
    for size in range(1, len(point) + 1):
        for support in combinations(range(len(point)), size):
            candidate = np.zeros(len(point))
            chosen = list(support)
            candidate[chosen] = point[chosen] - (point[chosen].sum() - 1.0) / size
            if candidate.min() >= 0.0 and ((candidate - point) ** 2).sum() < distance:
                nearest, distance = candidate, ((candidate - point) ** 2).sum()
    return nearest


def prox(x, losses, learning_rate, prox_scale=1.0):
    """Minimise <losses, y> + (prox_scale / learning_rate) ||y - x||^2 over the simplex.

    An infinite rate is the limit: the projection of x on the face of least losses (errata, E11).
    Losses are shifted by their minimum, which moves no minimiser and keeps digits when the rate is huge.
    """
    above = losses - losses.min()
    if learning_rate == inf:
        played = np.zeros(len(x))
        played[above == 0.0] = project(x[above == 0.0])
        return played
    return project(x - learning_rate / (2.0 * prox_scale) * above)


def prox_by_minimiser(x, losses, learning_rate, prox_scale=1.0):
    """Solve the printed problem with a general-purpose constrained minimiser (accurate to about 1e-6)."""
    weight = prox_scale / learning_rate
    found = minimize(
        lambda y: losses @ y + weight * ((y - x) ** 2).sum(),
        np.full(len(x), 1.0 / len(x)),
        jac=lambda y: losses + 2.0 * weight * (y - x),
        bounds=[(0.0, 1.0)] * len(x),
        constraints={"type": "eq", "fun": lambda y: y.sum() - 1.0, "jac": np.ones_like},
        method="SLSQP",
        options={"ftol": 1e-15, "maxiter": 500},
    )
    return found.x


def optimistic_gd(losses, learning_rate, prox_scale=1.0):
    """Return the weights Algorithm 2 plays on a path of losses."""
    n_rounds, n_actions = losses.shape
    x, last = np.full(n_actions, 1.0 / n_actions), np.zeros(n_actions)
    played = np.empty_like(losses)
    for t in range(n_rounds):
        played[t] = prox(x, last, learning_rate, prox_scale)
        x = prox(x, losses[t], learning_rate, prox_scale)
        last = losses[t]
    return played


def restarted_adaptive_gd(losses, restart_every=None):
    """Return the weights of the variant for drifting distributions (Theorem 3.3, full_info_given_V)."""
    n_rounds, n_actions = losses.shape
    last = np.zeros(n_actions)
    played = np.empty_like(losses)
    for t in range(n_rounds):
        if t == 0 or (restart_every is not None and t % restart_every == 0):
            x, steps = np.full(n_actions, 1.0 / n_actions), []
        moved = fsum(steps)
        rate = inf if moved == 0.0 else 1.0 / sqrt(4.0 * moved)
        played[t] = prox(x, last, rate)
        x = prox(x, losses[t], rate)
        steps.append(fsum((losses[t] - last) ** 2))
        last = losses[t]
    return played
