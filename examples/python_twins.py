"""Hedge and UCB1 in plain Python: they play exactly as the compiled `Hedge` and `UCB1`, a hundred times slower.

`math.exp` and `math.log` take the place of NumPy's, which differ from those of compiled code in the last digit.
"""

import math

import numpy as np

from driftwise import PythonLearner


class PythonHedge(PythonLearner, name="python-hedge"):
    """Hedge: exponential weights of the total losses."""

    learning_rate: float = 0.5

    def first_memory(self, n_actions, generator):
        return {"totals": np.zeros(n_actions)}

    def predict(self, memory):
        above = memory.totals - memory.totals.min()
        weights = [math.exp(-self.learning_rate * each) for each in above]
        return np.array(weights) / sum(weights)

    def update(self, memory, losses):
        memory.totals += losses

    @classmethod
    def tuned(cls, measures):
        return cls(learning_rate=math.sqrt(8 * math.log(measures.n_actions) / measures.n_rounds))


class PythonUCB1(PythonLearner, name="python-ucb1"):
    """UCB1: the lowest confidence bound on the mean loss."""

    log_scale: float = 2.0

    def first_memory(self, n_actions, generator):
        return {"plays": np.zeros(n_actions), "total": np.zeros(n_actions), "rounds": 0}

    def choose(self, memory):
        if not memory.plays.all():
            return int(memory.plays.argmin()), 1.0  # every action once
        level = self.log_scale * math.log(memory.rounds)
        scores = memory.total / memory.plays - np.sqrt(level / memory.plays)
        best = np.flatnonzero(scores == scores.min())
        return int(best[memory.plays[best].argmin()]), 1.0  # of equal scores, that with the fewest plays

    def update(self, memory, action, loss, probability):
        memory.plays[action] += 1
        memory.total[action] += loss
        memory.rounds += 1
