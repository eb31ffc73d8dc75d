"""Plays of one learner of each kind, in a block and live, to compare two ways of compiling."""

import sys

import numpy as np

from driftwise import Session
from driftwise.core.private_numba import IN_USE
from driftwise.learners import learners

KINDS = {
    "plain": "hedge",
    "hinted": "optimistic-hedge",
    "growing": "sleeping-optimistic-adapt-ml-prod",
    "drawing": "exp3",
    "detecting": "cusum-ucb",
    "covering": "saol",
    "grid": "ader",
}
N_ACTIONS = 3


def plays(name, n_rounds=100):
    """Return what a learner plays in a block, live and with hints, as text that has every bit."""
    learner, losses = learners.get(name)(), np.random.default_rng(1).random((n_rounds, N_ACTIONS))
    found = [learner.run(learner.start(N_ACTIONS, seed=2), losses).tobytes()]
    session = Session(learner, N_ACTIONS, seed=2)
    for t, row in enumerate(losses):
        if name == KINDS["hinted"] and t % 2:
            session.hint(losses[t - 1])
        if learner.feedback == "full":
            found.append(session.predict().tobytes())
            session.update(row if t % 3 else row.tolist())
        else:
            action, probability = session.choose()
            found.append(np.array([action, probability or 0.0]).tobytes())
            session.update(action, probability, loss=row[action] if t % 3 else np.float32(row[action]))
    if name == KINDS["hinted"]:
        found.append(learner.run(learner.start(N_ACTIONS), losses, losses[::-1]).tobytes())
    found += [array.tobytes() for array in session.state.memory]
    return b"".join(found).hex()


if __name__ == "__main__":
    print({"parts": sorted(IN_USE), "plays": [plays(name) for name in sys.argv[1:]]})
