"""The names of `import driftwise`, listed here only; each is imported on its first use.

A name is at the top level if most programs of one of the readers need it: to simulate and compare (environments,
comparators, results), to play a live stream (`Session`, the detectors), to combine forecasts, to write a learner, or
because it is an algorithm of the paper, a default learner or a common baseline. Everything else is one level down.
"""

from .core.errors import DriftwiseError as DriftwiseError
from .core.measures import Measures as Measures
from .detectors import CUSUM as CUSUM, GLR as GLR, PageHinkley as PageHinkley
from .engine import (
    History as History,
    Preview as Preview,
    Session as Session,
    preview as preview,
    record as record,
    simulate as simulate,
)
from .environments import (
    Bernoulli as Bernoulli,
    Beta as Beta,
    Deterministic as Deterministic,
    Environment as Environment,
    RandomWalk as RandomWalk,
    Replay as Replay,
    Segments as Segments,
    Sinusoidal as Sinusoidal,
    Switching as Switching,
    TwoPoint as TwoPoint,
)
from .forecasting import Mixture as Mixture, combine as combine
from .learners import (
    GLRKLUCB as GLRKLUCB,
    KLUCB as KLUCB,
    UCB1 as UCB1,
    AdaHedge as AdaHedge,
    BanditTracker as BanditTracker,
    Beliefs as Beliefs,
    DetectAndRestart as DetectAndRestart,
    Exp3 as Exp3,
    FixedShare as FixedShare,
    Hedge as Hedge,
    OptimisticAdaptMLProd as OptimisticAdaptMLProd,
    OptimisticFixedShare as OptimisticFixedShare,
    OptimisticGD as OptimisticGD,
    Player as Player,
    PythonLearner as PythonLearner,
    RerunUCBV as RerunUCBV,
    RestartedAdaptiveGD as RestartedAdaptiveGD,
    SleepingOptimisticAdaptMLProd as SleepingOptimisticAdaptMLProd,
    SlidingWindowUCB as SlidingWindowUCB,
    Squint as Squint,
    Sword as Sword,
    Thompson as Thompson,
    Tracker as Tracker,
)
from .results import (
    Dynamic as Dynamic,
    Interval as Interval,
    Results as Results,
    Static as Static,
    SweepResults as SweepResults,
    Switched as Switched,
)
from .sweeps import Sweep as Sweep

__version__: str
