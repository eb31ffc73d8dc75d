"""Whole simulations, and long runs of Exp3, compared with other packages."""

from __future__ import annotations

import time
from collections.abc import Mapping
from typing import Any

import numpy as np
from common import SEED, Effort, switching_environment, verdict
from rival_process import RivalError, Worker
from timing import interleaved

from driftwise import simulate
from driftwise.learners import Exp3, Learner, learners
from driftwise.report.tables import number, text_table

__all__ = ["long_runs", "whole_runs"]

N_ACTIONS, N_ROUNDS = 10, 20_000
TARGET = 5.0  # times the rounds per second of pymab
WHOLE = {"ucb1": "UCBPolicy", "discounted-ucb": "DiscountedUCBPolicy", "exp3": "EXP3Policy"}
WHOLE |= {"sliding-window-ucb": "SlidingWindowUCBPolicy", "thompson": "BernoulliThompsonSamplingPolicy"}
HEADERS = ("learner", "package", "its class", "rounds", "ours, us", "theirs, us", "ratio", "target", "")

GAMMA = 0.1
LONG: tuple[tuple[str, str, Mapping[str, Any]], ...] = (
    ("SMPyBandits", "Exp3", {"gamma": GAMMA}),
    ("river", "Exp3", {"gamma": GAMMA}),
    ("pymab", "EXP3Policy", {"gamma": GAMMA}),
)


def simulation_time(learner: Learner) -> float:
    """Return the processor seconds of one run by `simulate`, which also draws the losses."""
    began = time.process_time()
    simulate(switching_environment(N_ACTIONS), [learner], n_rounds=N_ROUNDS, n_runs=1, seed=SEED)
    return time.process_time() - began


def whole_runs(effort: Effort, worker: Worker) -> str:
    """Compare `simulate` with the simulation of pymab, whose loop over the rounds is written in Rust."""
    worker.prepare(np.zeros((N_ROUNDS, N_ACTIONS)))  # for their number; the losses are drawn by the simulation
    rows = []
    for name, other in WHOLE.items():
        learner = learners.build({"name": name})
        tasks = {
            "ours": lambda learner=learner: simulation_time(learner),
            "theirs": lambda other=other: worker.play("pymab", other, {}, "none"),
        }
        ours, theirs = (1e6 * taken.best / N_ROUNDS for taken in interleaved(tasks, effort.repetitions).values())
        numbers = [number(ours), number(theirs), f"{theirs / ours:.3g}", f">= {TARGET:g}"]
        rows.append([name, "pymab", other, f"{N_ROUNDS:,}", *numbers, verdict(theirs / ours >= TARGET)])
    about = f"Whole simulations of one run, with the drawing of Bernoulli losses, K = {N_ACTIONS}."
    return f"{about}\n\n{text_table(HEADERS, rows, left=3)}"


def long_runs(worker: Worker) -> str:
    """Run Exp3 for long where action 0 has loss 0 and action 1 has loss 1."""
    losses = np.tile([0.0, 1.0], (N_ROUNDS, 1))
    worker.prepare(losses)
    learner = Exp3(exploration_rate=GAMMA)
    shares = [f"driftwise: {np.mean(learner.play_block(learner.start(2), losses) == 0):.3f}"]
    for package, name, parameters in LONG:
        try:
            worker.play(package, name, parameters)
            shares.append(f"{package}: {np.mean(worker.played() == 0):.3f}")
        except RivalError as error:
            shares.append(f"{package}: {error}")
    about = f"Exp3 in {N_ROUNDS:,} rounds, K = 2; action 0 has loss 0 and action 1 has loss 1. Plays of action 0:"
    return "\n".join([about, *shares])
