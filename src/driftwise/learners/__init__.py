"""The algorithms, one file each. Importing this package fills the registry."""

from driftwise.learners.bandits.rerun_ucbv import RerunUCBV
from driftwise.learners.base import BanditLearner, Card, ExpertLearner, Learner, State, learners
from driftwise.learners.experts.ada_hedge import AdaHedge
from driftwise.learners.experts.ada_normal_hedge import AdaNormalHedge
from driftwise.learners.experts.ada_normal_hedge_tv import AdaNormalHedgeTV
from driftwise.learners.experts.adapt_ml_prod import AdaptMLProd
from driftwise.learners.experts.boa import BOA
from driftwise.learners.experts.calibrated_hedge import CalibratedHedge
from driftwise.learners.experts.fixed_share import FixedShare
from driftwise.learners.experts.hedge import Hedge
from driftwise.learners.experts.ml_poly import MLPoly
from driftwise.learners.experts.optimistic_adapt_ml_prod import OptimisticAdaptMLProd
from driftwise.learners.experts.optimistic_fixed_share import OptimisticFixedShare
from driftwise.learners.experts.optimistic_gd import OptimisticGD
from driftwise.learners.experts.restarted_adaptive_gd import RestartedAdaptiveGD
from driftwise.learners.experts.sleeping_adapt_ml_prod import SleepingAdaptMLProd
from driftwise.learners.experts.sleeping_optimistic_adapt_ml_prod import SleepingOptimisticAdaptMLProd
from driftwise.learners.experts.squint import Squint

__all__ = [  # noqa: RUF022 (sorted as strings are)
    "AdaHedge",
    "AdaNormalHedge",
    "AdaNormalHedgeTV",
    "AdaptMLProd",
    "BOA",
    "BanditLearner",
    "CalibratedHedge",
    "Card",
    "ExpertLearner",
    "FixedShare",
    "Hedge",
    "Learner",
    "MLPoly",
    "OptimisticAdaptMLProd",
    "OptimisticFixedShare",
    "OptimisticGD",
    "RerunUCBV",
    "RestartedAdaptiveGD",
    "SleepingAdaptMLProd",
    "SleepingOptimisticAdaptMLProd",
    "Squint",
    "State",
    "learners",
]
