"""Helpers that play bandit learners in one block or in several, and repeat their random numbers."""

import numpy as np

from driftwise.core.random import next_beta, next_uniform


def run(learner, losses, block_size=None, seed=0):
    """Return the actions, and the state at the end."""
    state = learner.start(losses.shape[1], seed)
    blocks = [losses] if block_size is None else np.split(losses, range(block_size, len(losses), block_size))
    return np.concatenate([learner.run(state, block) for block in blocks]), state


def draws(learner, n_actions, seed):
    """Return the uniform and the beta draws of a new learner, from one stream as it draws them."""
    words = learner.start(n_actions, seed).memory.generator.copy()
    return lambda: next_uniform(words), lambda a, b: next_beta(words, a, b)
