"""The algorithms, one file for each and its forms. Importing this package fills the registry."""

from driftwise.learners.bandits.adswitch import AdSwitch as AdSwitch
from driftwise.learners.bandits.bandit_over_bandit import BanditOverBandit as BanditOverBandit
from driftwise.learners.bandits.bandit_tracker import BanditTracker as BanditTracker
from driftwise.learners.bandits.cusum_ucb import CUSUMUCB as CUSUMUCB
from driftwise.learners.bandits.detect_and_restart import DetectAndRestart as DetectAndRestart
from driftwise.learners.bandits.exp3 import Exp3 as Exp3
from driftwise.learners.bandits.exp3_s import Exp3S as Exp3S
from driftwise.learners.bandits.glr_kl_ucb import GLRKLUCB as GLRKLUCB
from driftwise.learners.bandits.kl_ucb import (
    KLUCB as KLUCB,
    DiscountedKLUCB as DiscountedKLUCB,
    SlidingWindowKLUCB as SlidingWindowKLUCB,
)
from driftwise.learners.bandits.m_ucb import MUCB as MUCB
from driftwise.learners.bandits.master import Master as Master
from driftwise.learners.bandits.oracle_restarts import OracleRestarts as OracleRestarts
from driftwise.learners.bandits.rerun_ucbv import RerunUCBV as RerunUCBV
from driftwise.learners.bandits.rexp3 import Rexp3 as Rexp3
from driftwise.learners.bandits.thompson import DiscountedThompson as DiscountedThompson, Thompson as Thompson
from driftwise.learners.bandits.tsallis_inf import TsallisINF as TsallisINF
from driftwise.learners.bandits.ucb1 import (
    UCB1 as UCB1,
    DiscountedUCB as DiscountedUCB,
    SlidingWindowUCB as SlidingWindowUCB,
)
from driftwise.learners.bandits.ucb_v import UCBV as UCBV
from driftwise.learners.base import (
    BanditLearner as BanditLearner,
    Beliefs as Beliefs,
    ExpertLearner as ExpertLearner,
    Learner as Learner,
    PythonLearner as PythonLearner,
    State as State,
    learners as learners,
)
from driftwise.learners.experts.ada_hedge import AdaHedge as AdaHedge
from driftwise.learners.experts.ada_normal_hedge import (
    AdaNormalHedge as AdaNormalHedge,
    AdaNormalHedgeTV as AdaNormalHedgeTV,
)
from driftwise.learners.experts.adapt_ml_prod import (
    AdaptMLProd as AdaptMLProd,
    SleepingAdaptMLProd as SleepingAdaptMLProd,
)
from driftwise.learners.experts.aomd import AOMD as AOMD
from driftwise.learners.experts.boa import BOA as BOA
from driftwise.learners.experts.calibrated_hedge import CalibratedHedge as CalibratedHedge
from driftwise.learners.experts.fixed_share import (
    FixedShare as FixedShare,
    OptimisticFixedShare as OptimisticFixedShare,
)
from driftwise.learners.experts.hedge import Hedge as Hedge, OptimisticHedge as OptimisticHedge
from driftwise.learners.experts.ml_poly import MLPoly as MLPoly
from driftwise.learners.experts.online_gd import OnlineGD as OnlineGD
from driftwise.learners.experts.optimistic_adapt_ml_prod import (
    OptimisticAdaptMLProd as OptimisticAdaptMLProd,
    SleepingOptimisticAdaptMLProd as SleepingOptimisticAdaptMLProd,
)
from driftwise.learners.experts.optimistic_gd import OptimisticGD as OptimisticGD
from driftwise.learners.experts.restarted_adaptive_gd import RestartedAdaptiveGD as RestartedAdaptiveGD
from driftwise.learners.experts.squint import Squint as Squint
from driftwise.learners.meta.ader import Ader as Ader
from driftwise.learners.meta.cbce import CBCE as CBCE
from driftwise.learners.meta.flh import FLH as FLH
from driftwise.learners.meta.saol import SAOL as SAOL
from driftwise.learners.meta.sword import Sword as Sword
from driftwise.learners.meta.tracker import Tracker as Tracker
from driftwise.learners.player import AnyPlayer as AnyPlayer, Player as Player, has_tuning_rule as has_tuning_rule

#: the default learner with each feedback; they have no parameters
DEFAULT_LEARNERS: dict[str, type[Learner]] = {"full": Tracker, "bandit": BanditTracker}
