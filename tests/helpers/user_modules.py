"""Modules as users write them, for the tests of learners outside of the package; each is imported from a file."""

import importlib
import sys

# A learner whose loops are those of Hedge, so that nothing is compiled.
OWN = '''
from dataclasses import dataclass
from driftwise.learners import Hedge, learners

@dataclass(frozen=True)
class Own(Hedge):
    """Own: Hedge under another name."""

    @classmethod
    def tuned(cls, measures, boost=1.0):
        return cls(learning_rate=boost / measures.n_rounds)

Own.name = "own-hedge"
learners.add("own-hedge", Own)
'''

# A learner that cannot start, as long as the file that its environment variable names exists.
FRAGILE = '''
import os
from dataclasses import dataclass
from driftwise.learners import Hedge, learners

@dataclass(frozen=True)
class Fragile(Hedge):
    """Fragile: Hedge that may fail, or end its process."""

    how: str = "raise"

    def rates(self, n_actions):
        if self.how != "never" and os.path.exists(os.environ.get("FRAGILE_FLAG", "")):
            if self.how == "exit":
                os._exit(1)
            raise ZeroDivisionError("the learner failed\\nin two lines")
        return super().rates(n_actions)

Fragile.name = "fragile"
learners.add("fragile", Fragile)
'''

# A learner that plays three runs, after a start to compile its loops, and then waits until the file that its
# environment variable names exists.
GATED = '''
import itertools, os, time
from dataclasses import dataclass
from driftwise.learners import Hedge, learners

starts = itertools.count()

@dataclass(frozen=True)
class Gated(Hedge):
    """Gated: Hedge that may have to wait."""

    def rates(self, n_actions):
        if next(starts) >= 4:
            while not os.path.exists(os.environ["GATED_FLAG"]):
                time.sleep(0.01)
        return super().rates(n_actions)

Gated.name = "gated"
learners.add("gated", Gated)
'''

# A learner in plain Python that draws; `name` is to be filled in.
PYTHON_GREEDY = '''
import numpy as np
from driftwise import PythonLearner

class Greedy(PythonLearner, name="{name}"):
    """Greedy: the lowest mean loss, with a share of exploration."""

    exploration_rate: float = 0.1

    def first_memory(self, n_actions, generator):
        return {{"plays": np.zeros(n_actions), "total": np.zeros(n_actions), "generator": generator}}

    def choose(self, memory):
        if memory.generator.random() < self.exploration_rate:
            return memory.generator.integers(memory.plays.size)
        means = memory.total / np.maximum(memory.plays, 1)
        means[memory.plays == 0] = -1.0
        return np.argmin(means)

    def update(self, memory, action, loss, probability):
        memory.plays[action] += 1
        memory.total[action] += loss
'''

# A path.
PATH = '''
from dataclasses import dataclass
from driftwise.environments import Sinusoidal, path

@path("waves")
@dataclass(frozen=True)
class Waves(Sinusoidal):
    """Waves: sinusoidal means under another name."""
'''


def import_module(folder, name, text):
    """Write a module into a folder and import it from there; its name should be that of one test only."""
    (folder / f"{name}.py").write_text(text)
    sys.path.insert(0, str(folder))
    try:
        importlib.invalidate_caches()
        return importlib.import_module(name)
    finally:
        sys.path.remove(str(folder))
