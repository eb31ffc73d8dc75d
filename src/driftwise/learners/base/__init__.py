"""The base classes of learners, and the decorators that register a learner."""

from driftwise.learners.base.beliefs import Beliefs as Beliefs
from driftwise.learners.base.kernel_learner import (
    BanditLearner as BanditLearner,
    ExpertLearner as ExpertLearner,
    HintedLearner as HintedLearner,
    bandit as bandit,
    expert as expert,
)
from driftwise.learners.base.learner import (
    Learner as Learner,
    State as State,
    composed as composed,
    learners as learners,
)
from driftwise.learners.base.python_learner import PythonLearner as PythonLearner, PythonMemory as PythonMemory
