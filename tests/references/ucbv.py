r"""Algorithm 1, Rerun-UCB-V, recomputed from the stored samples (paper, eq. (3), Theorem 2.1, emp_bernstein).

$$ a_t = \arg\min_i (\hat\mu_{t,i} - \lambda_{t,i}), \qquad
   \lambda = \sqrt{2 \hat\Lambda L / n} + 7 L / (3 (n - 1)), \quad L = \ln(2 / \delta), $$

with $\hat\mu = 0$ for $n = 0$ and $\lambda = 1$ for $n \le 1$; samples are discarded at every block border.
The variance is the sum over pairs $i < j$ over $n (n - 1)$, over ordered pairs if `double_variance` (errata,
E3). Ties go to the action with fewest plays, then to the first; `tie_break="index"` is the plain argmin (E4).
Sums are `math.fsum`: on losses that are few-bit fractions they are exact, so that ties are ties.
"""

from math import fsum, log, sqrt

import numpy as np


def variance(samples, ordered_pairs=False):
    """Return the pair sum of squared differences over n (n - 1)."""
    n = len(samples)
    values = np.array(samples)
    squares = np.subtract.outer(values, values) ** 2  # every ordered pair; the diagonal is zero
    total = fsum(squares.ravel()) if ordered_pairs else fsum(squares[np.triu_indices(n, 1)])
    return total / (n * (n - 1))


def radius(samples, log_term, clip=True, double_variance=False):
    """Return lambda for the samples of one action."""
    n = len(samples)
    if n <= 1:
        return 1.0
    spread = variance(samples, ordered_pairs=double_variance)
    width = sqrt(2.0 * spread * log_term / n) + 7.0 * log_term / (3.0 * (n - 1))
    return min(1.0, width) if clip else width


def rerun_ucbv(
    losses,
    restart_every=None,
    failure_probability=0.001,
    clip=True,
    double_variance=False,
    log_scale=1.0,
    tie_break="fewest plays",
):
    """Return the actions Algorithm 1 plays."""
    n_rounds, n_actions = losses.shape
    log_term = log_scale * log(2.0 / failure_probability)
    actions = np.empty(n_rounds, np.int64)
    for t in range(n_rounds):
        if t == 0 or (restart_every is not None and t % restart_every == 0):
            samples = [[] for _ in range(n_actions)]
            index = [-1.0] * n_actions
        plays = [len(seen) if tie_break == "fewest plays" else 0 for seen in samples]
        a = min(range(n_actions), key=lambda i: (index[i], plays[i], i))
        actions[t] = a
        samples[a].append(float(losses[t, a]))
        mean = fsum(samples[a]) / len(samples[a])
        index[a] = mean - radius(samples[a], log_term, clip, double_variance)
    return actions
