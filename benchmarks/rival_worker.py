"""Run bandits of other packages in their own virtual environment; `rivals.py` starts this program.

A request is a line of JSON on standard input: the package, the class, its parameters, and a file of losses. The answer
is a line on standard output: the seconds of the run, or the error.
"""

from __future__ import annotations

import functools
import json
import os
import random
import sys
import time
from collections.abc import Callable
from types import ModuleType
from typing import Any

import numpy as np

SEED = 1
PLOTTING = ("matplotlib", "matplotlib.pyplot", "seaborn")

Choose, Update = Callable[[], int], Callable[[int, float], object]


def smpybandits(name: str, parameters: dict[str, Any], n_actions: int) -> tuple[Choose, Update]:
    """Start a policy of SMPyBandits."""
    import SMPyBandits  # noqa: F401  (must come before the empty modules: it then skips its plotting code)

    sys.modules |= {
        module: ModuleType(module) for module in PLOTTING
    }  # imported by a module of policies, but not needed
    from SMPyBandits import Policies

    if "policy" in parameters:
        parameters["policy"] = getattr(Policies, parameters["policy"])
    policy = getattr(Policies, name)(n_actions, **parameters)
    policy.startGame()
    return policy.choice, policy.getReward


def river(name: str, parameters: dict[str, Any], n_actions: int) -> tuple[Choose, Update]:
    """Start a policy of river."""
    from river import bandit, proba

    if "reward_obj" in parameters:
        parameters["reward_obj"] = getattr(proba, parameters["reward_obj"])()
    policy = getattr(bandit, name)(seed=SEED, **parameters)
    return functools.partial(policy.pull, list(range(n_actions))), policy.update


def pymab(name: str, parameters: dict[str, Any], n_actions: int) -> tuple[Choose, Update]:
    """Start a policy of pymab, which is written in Rust."""
    from pymab import policies

    policy = getattr(policies, name)(n_arms=n_actions, **parameters)
    choose, update = policy.select_action, policy.update
    generator = np.random.default_rng(SEED)
    return lambda: choose(rng=generator), lambda action, reward: update(action=action, reward=reward)


PACKAGES = {"SMPyBandits": smpybandits, "river": river, "pymab": pymab}


def run(package: str, name: str, parameters: dict[str, Any], losses: str) -> float:
    """Return the processor seconds of a run; the policy and the rewards are made before the clock starts.

    Processor time and not wall time: a run is long enough to be interrupted by other processes, our blocks are not.
    """
    rewards = 1.0 - np.load(losses)
    random.seed(SEED)
    np.random.seed(SEED)  # noqa: NPY002  (SMPyBandits draws from the global generators)
    choose, update = PACKAGES[package](name, parameters, rewards.shape[1])
    table = rewards.tolist()
    began = time.process_time()
    for row in table:
        action = choose()
        update(action, row[action])
    return time.process_time() - began


def main() -> None:
    answers, sys.stdout = sys.stdout, open(os.devnull, "w")  # noqa: PTH123, SIM115  (SMPyBandits prints while it runs)
    for line in sys.stdin:
        try:
            answer: dict[str, Any] = {"seconds": run(**json.loads(line))}
        except Exception as error:
            answer = {"error": f"{type(error).__name__}: {error}"}
        print(json.dumps(answer), file=answers, flush=True)


if __name__ == "__main__":
    main()
