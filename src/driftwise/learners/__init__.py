"""The algorithms, one file each. Importing this package fills the registry."""

from driftwise.learners.bandits.rerun_ucbv import RerunUCBV
from driftwise.learners.base import BanditLearner, Card, ExpertLearner, Learner, State, learners
from driftwise.learners.experts.ada_hedge import AdaHedge
from driftwise.learners.experts.ada_normal_hedge import AdaNormalHedge
from driftwise.learners.experts.ada_normal_hedge_tv import AdaNormalHedgeTV
from driftwise.learners.experts.adapt_ml_prod import AdaptMLProd
from driftwise.learners.experts.aomd import AOMD
from driftwise.learners.experts.boa import BOA
from driftwise.learners.experts.calibrated_hedge import CalibratedHedge
from driftwise.learners.experts.fixed_share import FixedShare
from driftwise.learners.experts.hedge import Hedge
from driftwise.learners.experts.ml_poly import MLPoly
from driftwise.learners.experts.online_gd import OnlineGD
from driftwise.learners.experts.optimistic_adapt_ml_prod import OptimisticAdaptMLProd
from driftwise.learners.experts.optimistic_fixed_share import OptimisticFixedShare
from driftwise.learners.experts.optimistic_gd import OptimisticGD
from driftwise.learners.experts.optimistic_hedge import OptimisticHedge
from driftwise.learners.experts.restarted_adaptive_gd import RestartedAdaptiveGD
from driftwise.learners.experts.sleeping_adapt_ml_prod import SleepingAdaptMLProd
from driftwise.learners.experts.sleeping_optimistic_adapt_ml_prod import SleepingOptimisticAdaptMLProd
from driftwise.learners.experts.squint import Squint
from driftwise.learners.meta.ader import Ader
from driftwise.learners.meta.cbce import CBCE
from driftwise.learners.meta.flh import FLH
from driftwise.learners.meta.saol import SAOL
from driftwise.learners.meta.sword import Sword

__all__ = [  # noqa: RUF022 (sorted as strings are)
    "AOMD",
    "AdaHedge",
    "AdaNormalHedge",
    "AdaNormalHedgeTV",
    "AdaptMLProd",
    "Ader",
    "BOA",
    "BanditLearner",
    "CBCE",
    "CalibratedHedge",
    "Card",
    "ExpertLearner",
    "FLH",
    "FixedShare",
    "Hedge",
    "Learner",
    "MLPoly",
    "OnlineGD",
    "OptimisticAdaptMLProd",
    "OptimisticFixedShare",
    "OptimisticGD",
    "OptimisticHedge",
    "RerunUCBV",
    "RestartedAdaptiveGD",
    "SAOL",
    "SleepingAdaptMLProd",
    "SleepingOptimisticAdaptMLProd",
    "Squint",
    "State",
    "Sword",
    "learners",
]
