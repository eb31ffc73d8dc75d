"""Decisions in a changing world: experts and bandits under switching and drifting losses.

The names most people need are here; everything else is one level down: `driftwise.learners`,
`driftwise.environments`, `driftwise.adversaries`, `driftwise.results`, `driftwise.theory`, `driftwise.checks`.
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from driftwise.core.errors import DriftwiseError as DriftwiseError
    from driftwise.core.measures import Measures as Measures
    from driftwise.engine import Session as Session
    from driftwise.engine import simulate as simulate
    from driftwise.environments import Bernoulli as Bernoulli
    from driftwise.environments import Deterministic as Deterministic
    from driftwise.environments import Environment as Environment
    from driftwise.environments import Replay as Replay
    from driftwise.environments import Sinusoidal as Sinusoidal
    from driftwise.environments import Switching as Switching
    from driftwise.environments import TwoPoint as TwoPoint
    from driftwise.learners import OptimisticAdaptMLProd as OptimisticAdaptMLProd
    from driftwise.learners import OptimisticGD as OptimisticGD
    from driftwise.learners import RerunUCBV as RerunUCBV
    from driftwise.learners import RestartedAdaptiveGD as RestartedAdaptiveGD
    from driftwise.learners import SleepingOptimisticAdaptMLProd as SleepingOptimisticAdaptMLProd
    from driftwise.results import Results as Results

__version__ = "0.1.0"

# Loaded on first use: `driftwise --help` must not wait for a compiler.
_HOMES = {
    "DriftwiseError": "core.errors",
    "Measures": "core.measures",
    "Session": "engine",
    "simulate": "engine",
    "Bernoulli": "environments",
    "Deterministic": "environments",
    "Environment": "environments",
    "Replay": "environments",
    "Sinusoidal": "environments",
    "Switching": "environments",
    "TwoPoint": "environments",
    "OptimisticAdaptMLProd": "learners",
    "OptimisticGD": "learners",
    "RerunUCBV": "learners",
    "RestartedAdaptiveGD": "learners",
    "SleepingOptimisticAdaptMLProd": "learners",
    "Results": "results",
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
