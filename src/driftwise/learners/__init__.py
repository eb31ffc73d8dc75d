"""The algorithms, one file each. Importing this package fills the registry."""

from driftwise.learners.bandits.adswitch import AdSwitch
from driftwise.learners.bandits.bandit_over_bandit import BanditOverBandit
from driftwise.learners.bandits.bandit_tracker import BanditTracker
from driftwise.learners.bandits.cusum_ucb import CUSUMUCB
from driftwise.learners.bandits.detect_and_restart import DetectAndRestart
from driftwise.learners.bandits.discounted_kl_ucb import DiscountedKLUCB
from driftwise.learners.bandits.discounted_thompson import DiscountedThompson
from driftwise.learners.bandits.discounted_ucb import DiscountedUCB
from driftwise.learners.bandits.exp3 import Exp3
from driftwise.learners.bandits.exp3_s import Exp3S
from driftwise.learners.bandits.glr_kl_ucb import GLRKLUCB
from driftwise.learners.bandits.kl_ucb import KLUCB
from driftwise.learners.bandits.m_ucb import MUCB
from driftwise.learners.bandits.master import Master
from driftwise.learners.bandits.oracle_restarts import OracleRestarts
from driftwise.learners.bandits.rerun_ucbv import RerunUCBV
from driftwise.learners.bandits.rexp3 import Rexp3
from driftwise.learners.bandits.sliding_window_kl_ucb import SlidingWindowKLUCB
from driftwise.learners.bandits.sliding_window_ucb import SlidingWindowUCB
from driftwise.learners.bandits.thompson import Thompson
from driftwise.learners.bandits.tsallis_inf import TsallisINF
from driftwise.learners.bandits.ucb1 import UCB1
from driftwise.learners.bandits.ucb_v import UCBV
from driftwise.learners.contract import BanditLearner, Beliefs, ExpertLearner, Learner, PythonLearner, State, learners
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
from driftwise.learners.meta.tracker import Tracker
from driftwise.learners.player import AnyPlayer, Player, has_tuning_rule

__all__ = [  # noqa: RUF022 (sorted as strings are)
    "AOMD",
    "AdSwitch",
    "AdaHedge",
    "AdaNormalHedge",
    "AdaNormalHedgeTV",
    "AdaptMLProd",
    "Ader",
    "AnyPlayer",
    "BOA",
    "BanditLearner",
    "BanditOverBandit",
    "BanditTracker",
    "Beliefs",
    "CBCE",
    "CUSUMUCB",
    "CalibratedHedge",
    "DEFAULT_LEARNERS",
    "DetectAndRestart",
    "DiscountedKLUCB",
    "DiscountedThompson",
    "DiscountedUCB",
    "Exp3",
    "Exp3S",
    "ExpertLearner",
    "FLH",
    "FixedShare",
    "GLRKLUCB",
    "Hedge",
    "KLUCB",
    "Learner",
    "MLPoly",
    "MUCB",
    "Master",
    "OnlineGD",
    "OptimisticAdaptMLProd",
    "OptimisticFixedShare",
    "OptimisticGD",
    "OptimisticHedge",
    "OracleRestarts",
    "Player",
    "PythonLearner",
    "RerunUCBV",
    "RestartedAdaptiveGD",
    "Rexp3",
    "SAOL",
    "SleepingAdaptMLProd",
    "SleepingOptimisticAdaptMLProd",
    "SlidingWindowKLUCB",
    "SlidingWindowUCB",
    "Squint",
    "State",
    "Sword",
    "Thompson",
    "Tracker",
    "TsallisINF",
    "UCB1",
    "UCBV",
    "has_tuning_rule",
    "learners",
]

#: the default learner with each feedback; they have no parameters
DEFAULT_LEARNERS: dict[str, type[Learner]] = {"full": Tracker, "bandit": BanditTracker}
