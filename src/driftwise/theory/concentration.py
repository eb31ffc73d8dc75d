r"""Confidence radii for the mean of samples in [0, 1], computed from the sample variance.

Theorem 2.1 (emp_bernstein; A. Maurer and M. Pontil, "Empirical Bernstein bounds", COLT 2009) and its form for means
that move (Lemma B.2, lambda). Write $L = \ln(2/\delta)$.
"""

from __future__ import annotations

import math

import numpy as np

from driftwise.core.types import Vector


def sample_variance(samples: Vector) -> float:
    r"""Return $\sum_{i<j} (X_i - X_j)^2 / (n (n-1))$, the unbiased variance; 0 for fewer than two samples."""
    return float(np.var(samples, ddof=1)) if len(samples) > 1 else 0.0


def empirical_bernstein(n_samples: int, variance: float, failure_probability: float) -> float:
    r"""Return $\rho(n, v, \delta) = \sqrt{2 v L / n} + 7 L / (3 (n-1))$, or 1 for fewer than two samples.

    The mean of independent samples is below its expectation by more than that with probability at most $\delta$, and
    likewise above. On one side or the other the probability is at most $3\delta/2$: the proof uses $\delta/2$ for each
    side of the mean and $\delta/2$ for the variance. The paper says $\delta$ (E6).

    >>> round(empirical_bernstein(n_samples=1000, variance=0.25, failure_probability=0.05), 4)
    0.0516
    """
    if n_samples < 2:
        return 1.0
    log_term = math.log(2 / failure_probability)
    return math.sqrt(2 * variance * log_term / n_samples) + 7 * log_term / (3 * (n_samples - 1))


def drifting_radius(squared_noises: Vector, drift_within: float, failure_probability: float) -> float:
    r"""Bound `empirical_bernstein` of $n$ samples whose means lie within $V'$ of each other (Lemma B.2, lambda).

    With $\hat\sigma_r^2$ the squared distance of a sample from its mean, by the triangle inequality:

    $$ \sqrt{\frac{2L}{n-1}} \left(\sqrt{\tfrac1n \textstyle\sum_r \hat\sigma_r^2} + \tfrac12 V'\right)
       + \frac{7 L}{3 (n-1)} . $$
    """
    n = len(squared_noises)
    if n < 2:
        return 1.0
    log_term = math.log(2 / failure_probability)
    spread = math.sqrt(float(np.mean(squared_noises))) + drift_within / 2
    return math.sqrt(2 * log_term / (n - 1)) * spread + 7 * log_term / (3 * (n - 1))
