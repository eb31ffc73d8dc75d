"""Online learning in changing environments: expert and bandit algorithms for losses that switch or drift.

The names that most people need are here; everything else is one level down: `driftwise.learners`,
`driftwise.detectors`, `driftwise.environments`, `driftwise.adversaries`, `driftwise.forecasting`, `driftwise.results`,
`driftwise.theory`, `driftwise.checks`.
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from driftwise.core.errors import DriftwiseError as DriftwiseError
    from driftwise.core.measures import Measures as Measures
    from driftwise.detectors import CUSUM as CUSUM
    from driftwise.detectors import GLR as GLR
    from driftwise.detectors import PageHinkley as PageHinkley
    from driftwise.engine import History as History
    from driftwise.engine import Preview as Preview
    from driftwise.engine import Session as Session
    from driftwise.engine import preview as preview
    from driftwise.engine import record as record
    from driftwise.engine import simulate as simulate
    from driftwise.environments import Bernoulli as Bernoulli
    from driftwise.environments import Beta as Beta
    from driftwise.environments import Deterministic as Deterministic
    from driftwise.environments import Environment as Environment
    from driftwise.environments import RandomWalk as RandomWalk
    from driftwise.environments import Replay as Replay
    from driftwise.environments import Segments as Segments
    from driftwise.environments import Sinusoidal as Sinusoidal
    from driftwise.environments import Switching as Switching
    from driftwise.environments import TwoPoint as TwoPoint
    from driftwise.forecasting import Mixture as Mixture
    from driftwise.forecasting import QuantileMixture as QuantileMixture
    from driftwise.forecasting import StepMixture as StepMixture
    from driftwise.forecasting import combine as combine
    from driftwise.learners import GLRKLUCB as GLRKLUCB
    from driftwise.learners import KLUCB as KLUCB
    from driftwise.learners import UCB1 as UCB1
    from driftwise.learners import AdaHedge as AdaHedge
    from driftwise.learners import BanditTracker as BanditTracker
    from driftwise.learners import Beliefs as Beliefs
    from driftwise.learners import DetectAndRestart as DetectAndRestart
    from driftwise.learners import Exp3 as Exp3
    from driftwise.learners import FixedShare as FixedShare
    from driftwise.learners import Hedge as Hedge
    from driftwise.learners import OptimisticAdaptMLProd as OptimisticAdaptMLProd
    from driftwise.learners import OptimisticFixedShare as OptimisticFixedShare
    from driftwise.learners import OptimisticGD as OptimisticGD
    from driftwise.learners import Player as Player
    from driftwise.learners import PythonLearner as PythonLearner
    from driftwise.learners import RerunUCBV as RerunUCBV
    from driftwise.learners import RestartedAdaptiveGD as RestartedAdaptiveGD
    from driftwise.learners import SleepingOptimisticAdaptMLProd as SleepingOptimisticAdaptMLProd
    from driftwise.learners import SlidingWindowUCB as SlidingWindowUCB
    from driftwise.learners import Squint as Squint
    from driftwise.learners import Sword as Sword
    from driftwise.learners import Thompson as Thompson
    from driftwise.learners import Tracker as Tracker
    from driftwise.results import Dynamic as Dynamic
    from driftwise.results import Interval as Interval
    from driftwise.results import Results as Results
    from driftwise.results import Static as Static
    from driftwise.results import SweepResults as SweepResults
    from driftwise.results import Switched as Switched
    from driftwise.sweeps import Sweep as Sweep

__version__ = "0.1.0"

# Imported on first use, so that `driftwise --help` does not wait for the compiler.
_HOMES = {
    "DriftwiseError": "core.errors",
    "Measures": "core.measures",
    "CUSUM": "detectors",
    "GLR": "detectors",
    "PageHinkley": "detectors",
    "History": "engine",
    "Preview": "engine",
    "Session": "engine",
    "preview": "engine",
    "record": "engine",
    "simulate": "engine",
    "Bernoulli": "environments",
    "Beta": "environments",
    "Deterministic": "environments",
    "Environment": "environments",
    "RandomWalk": "environments",
    "Replay": "environments",
    "Segments": "environments",
    "Sinusoidal": "environments",
    "Switching": "environments",
    "TwoPoint": "environments",
    "Mixture": "forecasting",
    "QuantileMixture": "forecasting",
    "StepMixture": "forecasting",
    "combine": "forecasting",
    "AdaHedge": "learners",
    "BanditTracker": "learners",
    "Beliefs": "learners",
    "DetectAndRestart": "learners",
    "Exp3": "learners",
    "FixedShare": "learners",
    "GLRKLUCB": "learners",
    "Hedge": "learners",
    "KLUCB": "learners",
    "OptimisticAdaptMLProd": "learners",
    "OptimisticFixedShare": "learners",
    "OptimisticGD": "learners",
    "Player": "learners",
    "PythonLearner": "learners",
    "RerunUCBV": "learners",
    "RestartedAdaptiveGD": "learners",
    "SleepingOptimisticAdaptMLProd": "learners",
    "SlidingWindowUCB": "learners",
    "Squint": "learners",
    "Sword": "learners",
    "Thompson": "learners",
    "Tracker": "learners",
    "UCB1": "learners",
    "Dynamic": "results",
    "Interval": "results",
    "Results": "results",
    "Static": "results",
    "SweepResults": "results",
    "Switched": "results",
    "Sweep": "sweeps",
}

__all__ = sorted(_HOMES)


def __getattr__(name: str) -> Any:
    if name not in _HOMES:
        raise AttributeError(f"module 'driftwise' has no attribute '{name}'")
    value = getattr(importlib.import_module(f"driftwise.{_HOMES[name]}"), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted([*globals(), *_HOMES])
