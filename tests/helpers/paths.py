"""Paths of losses for the tests: oblivious families by name, and adversaries that use the weights.

Tests draw a `Case` (family, rounds, actions, seed), never an array: a failure is one line that rebuilds it.
"""

from dataclasses import dataclass

import numpy as np
from hypothesis import strategies as st

EIGHTHS = np.arange(9) / 8.0  # few-bit fractions: sums and squares of them are exact in doubles


def _uniform(rng, n_rounds, n_actions):
    return rng.random((n_rounds, n_actions))


def _coin(rng, n_rounds, n_actions):
    return rng.integers(0, 2, (n_rounds, n_actions)).astype(float)


def _tied(rng, n_rounds, n_actions):
    return rng.choice(EIGHTHS[::2], (n_rounds, n_actions))


def _repeated(rng, n_rounds, n_actions):
    return _held(rng, n_rounds, rng.choice(EIGHTHS, (n_rounds, n_actions)))


def _constant(rng, n_rounds, n_actions):
    return np.tile(rng.choice(EIGHTHS, n_actions), (n_rounds, 1))


def _equal(rng, n_rounds, n_actions):
    return np.repeat(rng.choice(EIGHTHS, (n_rounds, 1)), n_actions, axis=1)


def _switching(rng, n_rounds, n_actions):
    means = _held(rng, n_rounds, rng.random((n_rounds, n_actions)))
    return (rng.random((n_rounds, n_actions)) < means).astype(float)


def _drifting(rng, n_rounds, n_actions):
    steps = rng.normal(0.0, 0.02, (n_rounds, n_actions))
    return _reflected(rng.random(n_actions) + np.cumsum(steps, axis=0))


def _nudged(rng, n_rounds, n_actions):
    return np.clip(rng.choice(EIGHTHS, n_actions) + 1e-9 * rng.normal(size=(n_rounds, n_actions)), 0.0, 1.0)


def _alternating(rng, n_rounds, n_actions):
    """Spare one action in turn, 1 - e_{t mod K}; from a random phase and in a random direction."""
    turn = (rng.integers(n_actions) + rng.choice([-1, 1]) * np.arange(n_rounds)) % n_actions
    return 1.0 - np.eye(n_actions)[turn]


def _noiseless(rng, n_rounds, n_actions):
    """Switch between 1 - e_i, each kept for a while: the slow switches behind erratum E1 (Lemma C.1)."""
    best = _held(rng, n_rounds, rng.integers(0, n_actions, (n_rounds, 1)), mean_length=20)[:, 0]
    return 1.0 - np.eye(n_actions)[best]


def _spikes(rng, n_rounds, n_actions):
    flat = np.tile(0.1 * rng.random(n_actions), (n_rounds, 1))
    return np.where(rng.random((n_rounds, n_actions)) < 0.05, 1.0, flat)


def _held(rng, n_rounds, rows, mean_length=7):
    """Keep each row for a random number of rounds."""
    new = rng.random(n_rounds) < 1.0 / mean_length
    return rows[np.cumsum(new) % len(rows)]


def _reflected(walk):
    """Fold the line onto [0, 1]."""
    return np.clip(np.abs((walk + 1.0) % 2.0 - 1.0), 0.0, 1.0)


MAKERS = {
    "uniform": _uniform,
    "coin": _coin,
    "tied": _tied,
    "repeated": _repeated,
    "constant": _constant,
    "equal": _equal,
    "switching": _switching,
    "drifting": _drifting,
    "nudged": _nudged,
    "alternating": _alternating,
    "noiseless": _noiseless,
    "spikes": _spikes,
}
FAMILIES = tuple(MAKERS)
EXACT_FAMILIES = ("coin", "tied", "repeated", "constant", "equal", "switching", "alternating", "noiseless")


def make_path(family, n_rounds, n_actions, seed):
    """Return the losses (n_rounds, n_actions) of a family; equal arguments give equal losses."""
    return MAKERS[family](np.random.default_rng(seed), n_rounds, n_actions)


def _heaviest(weights, rng, last):
    return np.eye(weights.size)[weights.argmax()]


def _spare_lightest(weights, rng, last):
    return 1.0 - np.eye(weights.size)[weights.argmin()]


def _tempt(weights, rng, last):
    """Keep the losses until one action has most of the weight, then give loss 1 to it alone."""
    return last if weights.max() < 0.95 and last.any() else _heaviest(weights, rng, last)


def _proportional(weights, rng, last):
    return weights / weights.max()


def _contrary(weights, rng, last):
    """Reverse the last losses where that gives the learner a larger loss than repeating them."""
    back = 1.0 - last
    return back if weights @ back - back.min() >= weights @ last - last.min() else last


def _noisy_heaviest(weights, rng, last):
    return np.where(rng.random(weights.size) < 0.2, rng.random(weights.size), _heaviest(weights, rng, last))


ADVERSARIES = {
    "heaviest": _heaviest,
    "spare-lightest": _spare_lightest,
    "tempt": _tempt,
    "proportional": _proportional,
    "contrary": _contrary,
    "noisy-heaviest": _noisy_heaviest,
}


@dataclass(frozen=True)
class Case:
    """One path, rebuilt from four values."""

    family: str
    n_rounds: int
    n_actions: int
    seed: int

    def losses(self):
        return make_path(self.family, self.n_rounds, self.n_actions, self.seed)


def play(learner, case):
    """Return (weights, losses) of a full-feedback learner on a case; adversaries step, families run."""
    state = learner.start(case.n_actions, 0)
    if case.family not in ADVERSARIES:
        losses = case.losses()
        return learner.run(state, losses), losses
    adversary, rng = ADVERSARIES[case.family], np.random.default_rng(case.seed)
    weights, losses = np.empty((2, case.n_rounds, case.n_actions))
    last = np.zeros(case.n_actions)
    for t in range(case.n_rounds):
        weights[t] = learner.predict(state)
        last = losses[t] = adversary(weights[t], rng, last)
        learner.update(state, last)
    return weights, losses


def fixed_case(number, families=(*FAMILIES, *ADVERSARIES), max_rounds=120, max_actions=8):
    """Return case `number` of an endless fixed list that takes the families in turn; one in ten is tiny."""
    rng = np.random.default_rng(number)
    most = max_rounds if rng.random() < 0.9 else 3
    n_rounds, n_actions = rng.integers(1, most + 1), rng.integers(1, max_actions + 1)
    return Case(families[number % len(families)], int(n_rounds), int(n_actions), seed=number)


def cases(families=FAMILIES, max_rounds=120, max_actions=8):
    """Draw cases of the oblivious families."""
    return st.builds(
        Case,
        family=st.sampled_from(families),
        n_rounds=st.integers(1, max_rounds),
        n_actions=st.integers(1, max_actions),
        seed=st.integers(0, 2**32 - 1),
    )
