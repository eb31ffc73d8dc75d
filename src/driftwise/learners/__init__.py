"""The algorithms, one file each. Importing this package fills the registry."""

from driftwise.learners.bandits.rerun_ucbv import RerunUCBV
from driftwise.learners.base import BanditLearner, Card, ExpertLearner, Learner, State, learners
from driftwise.learners.experts.optimistic_adapt_ml_prod import OptimisticAdaptMLProd
from driftwise.learners.experts.optimistic_gd import OptimisticGD
from driftwise.learners.experts.restarted_adaptive_gd import RestartedAdaptiveGD
from driftwise.learners.experts.sleeping_optimistic_adapt_ml_prod import SleepingOptimisticAdaptMLProd

__all__ = [
    "BanditLearner",
    "Card",
    "ExpertLearner",
    "Learner",
    "OptimisticAdaptMLProd",
    "OptimisticGD",
    "RerunUCBV",
    "RestartedAdaptiveGD",
    "SleepingOptimisticAdaptMLProd",
    "State",
    "learners",
]
