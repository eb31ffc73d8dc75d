"""The measures of eq. (1), from the whole matrix of means at once: slow, obvious, and with exact sums."""

import itertools
import math

import numpy as np


def measures_reference(means, variances):
    """Return (segments, drift, variance, drift_within, squared_drift)."""
    means, variances = np.asarray(means), np.asarray(variances)
    moves = np.diff(means, axis=0, prepend=np.zeros((1, means.shape[1])))  # mu_0 = 0
    sizes = np.abs(moves).max(axis=1)
    return (
        1 + sum(any(now != before) for before, now in itertools.pairwise(means)),
        math.fsum(sizes),
        math.fsum(variances.ravel()),
        math.fsum(sizes[1:]),
        math.fsum((moves**2).ravel()),
    )
