"""The base classes of learners, and the decorators that register a learner."""

from driftwise.learners.contract.bandit_learner import BanditLearner
from driftwise.learners.contract.beliefs import Beliefs
from driftwise.learners.contract.expert_learner import ExpertLearner
from driftwise.learners.contract.hinted_learner import HintedLearner
from driftwise.learners.contract.learner import Learner
from driftwise.learners.contract.python_learner import PythonLearner
from driftwise.learners.contract.python_memory import PythonMemory
from driftwise.learners.contract.registration import bandit, composed, expert, learners
from driftwise.learners.contract.state import State

__all__ = [
    "BanditLearner",
    "Beliefs",
    "ExpertLearner",
    "HintedLearner",
    "Learner",
    "PythonLearner",
    "PythonMemory",
    "State",
    "bandit",
    "composed",
    "expert",
    "learners",
]
