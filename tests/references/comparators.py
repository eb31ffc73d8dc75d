"""The comparators of the bounds, by dynamic programming over every choice."""

from itertools import product

import numpy as np


def best_with_segments(losses, n_segments):
    """Return the least total loss of a sequence of actions with at most 1, 2, ..., `n_segments` segments.

    cost[j, k] is the least loss so far of a sequence that used at most j changes and now plays k.
    """
    cost = np.tile(losses[0], (n_segments, 1))
    for row in losses[1:]:
        arrive = np.full_like(cost, np.inf)
        arrive[1:] = cost[:-1].min(axis=1, keepdims=True)
        cost = np.minimum(cost, arrive) + row
    return cost.min(axis=1)


def best_with_segments_by_enumeration(losses, n_segments):
    """Return the same for one number of segments, by trying every sequence of actions."""
    n_rounds, n_actions = losses.shape
    rounds = np.arange(n_rounds)
    sequences = (np.array(actions) for actions in product(range(n_actions), repeat=n_rounds))
    allowed = (a for a in sequences if np.count_nonzero(np.diff(a)) < n_segments)
    return float(min(losses[rounds, a].sum() for a in allowed))
