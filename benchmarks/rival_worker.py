"""Run learners of other packages in their own virtual environment; `rival_process.py` starts this program.

A request is a line of JSON on standard input: the package, the class, its parameters, a file of losses, and a file for
the plays: the actions of bandits, the weights of learners with full information. The answer is a line on standard
output: the seconds of the run, or the error.

PyNOL is not in the virtual environment: PYNOL_PATH names the folder with its source.
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
Play = Callable[[Any], Any]  # from the losses of a round to the weights that were played in it


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


def pynol(name: str, parameters: dict[str, Any], n_actions: int) -> Play:
    """Start a meta-algorithm of PyNOL, and call it as its class `Model` does."""
    _pynol_path()
    from pynol.learner import meta

    if name in ("Hedge", "OptimisticHedge"):
        learner = getattr(meta, name)(prob=np.full(n_actions, 1 / n_actions), **parameters)
    else:
        learner = getattr(meta, name)(N=n_actions, **parameters)
    awake = [np.full(n_actions, 2.0), np.ones(n_actions)]  # 2 starts an action

    def play(losses: Any) -> Any:
        learner.active_state = awake[learner.t > 0]
        learner.opt_by_optimism(None)
        weights = learner.prob
        learner.opt_by_gradient(losses, weights @ losses)
        return weights

    return play


def pynol_on_simplex(name: str, parameters: dict[str, Any], n_actions: int) -> Play:
    """Start a learner of PyNOL on the simplex; the losses are linear functions with their gradients."""
    _pynol_path()
    from pynol.environment.domain import Simplex
    from pynol.environment.environment import Environment
    from pynol.learner import base
    from pynol.learner.models import adaptive

    made = getattr(base if hasattr(base, name) else adaptive, name)
    learner = made(domain=Simplex(dimension=n_actions), prior=np.full(n_actions, 1 / n_actions), **parameters)
    return lambda losses: learner.opt(Environment(func=lambda x: x @ losses, grad_func=lambda _: losses))[0]


def _pynol_path() -> None:
    sys.path += [path for path in os.environ["PYNOL_PATH"].split(os.pathsep) if path not in sys.path]
    for module in ("cvxpy", *PLOTTING):  # imported, but used only by MSMWC, other projections, and pictures
        sys.modules.setdefault(module, ModuleType(module))


def river_experts(name: str, parameters: dict[str, Any], n_actions: int) -> Play:
    """Start an ensemble of river: model k forecasts the loss of action k, and the truth is 0.

    Where losses are 0 or 1, the squared error of model k is the loss of action k.
    """
    from river import base, ensemble

    class Forecast(base.Regressor):
        def __init__(self, k: int) -> None:
            self.k = k

        def predict_one(self, x: Any) -> float:
            return float(x[self.k])

        def learn_one(self, x: Any, y: float) -> None:
            pass

    learner = getattr(ensemble, name)([Forecast(k) for k in range(n_actions)], **parameters)

    def play(losses: Any) -> Any:
        weights = list(learner.weights)
        learner.learn_one(losses, 0.0)
        return weights

    return play


def whole_run(name: str, parameters: dict[str, Any], losses: Any) -> float:
    """Return the seconds of a whole simulation by pymab, whose loop over the rounds is written in Rust."""
    from pymab import BanditEnvironment, BernoulliReward, Experiment, ExperimentConfig, policies

    n_rounds, n_actions = losses.shape
    environment = BanditEnvironment(means=np.linspace(0.2, 0.8, n_actions), reward_model=BernoulliReward())
    policy = getattr(policies, name)(n_arms=n_actions, **parameters)
    config = ExperimentConfig(horizon=n_rounds, n_replicates=1, seed=SEED, backend="rust")
    experiment = Experiment(environment=environment, policies={name: policy}, config=config)
    began = time.process_time()
    experiment.run()
    return time.process_time() - began


BANDITS = {"SMPyBandits": smpybandits, "river": river, "pymab": pymab}
EXPERTS = {"PyNOL": pynol, "PyNOL on the simplex": pynol_on_simplex, "river": river_experts}


def play_bandit(package: str, name: str, parameters: dict[str, Any], losses: Any) -> tuple[float, Any]:
    """Return the seconds of a run, and its actions; the policy and the rewards are made before the clock starts."""
    choose, update = BANDITS[package](name, parameters, losses.shape[1])
    table, actions = (1.0 - losses).tolist(), []
    began = time.process_time()
    try:
        for row in table:
            action = choose()
            update(action, row[action])
            actions.append(action)
    except Exception as error:
        raise RuntimeError(f"round {len(actions) + 1:,}: {type(error).__name__}: {error}") from error
    return time.process_time() - began, np.array(actions, np.int64)


def play_experts(package: str, name: str, parameters: dict[str, Any], losses: Any) -> tuple[float, Any]:
    """Return the seconds of a run, and its weights."""
    play = EXPERTS[package](name, parameters, losses.shape[1])
    weights = np.empty_like(losses)
    began = time.process_time()
    for row, played in zip(losses, weights, strict=True):
        played[:] = play(row)
    return time.process_time() - began, weights


def run(package: str, name: str, parameters: dict[str, Any], feedback: str, losses: str, plays: str) -> float:
    """Return the processor seconds of a run, and write its plays.

    Processor time and not wall time: a run is long enough to be interrupted by other processes, our blocks are not.
    """
    random.seed(SEED)
    np.random.seed(SEED)  # noqa: NPY002  (SMPyBandits and PyNOL draw from the global generators)
    table = np.load(losses)
    if feedback == "none":
        return whole_run(name, parameters, table)
    seconds, played = (play_bandit if feedback == "bandit" else play_experts)(package, name, parameters, table)
    np.save(plays, played)
    return seconds


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
