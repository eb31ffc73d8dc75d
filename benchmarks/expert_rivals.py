"""Learners with full information compared with the same rules of PyNOL and river."""

from __future__ import annotations

import os
import time
from collections.abc import Mapping
from typing import Any, NamedTuple

import numpy as np
from common import QUICK, Effort, block_time, losses_of, verdict
from rival_process import RivalError, Worker
from timing import interleaved

from driftwise import Session
from driftwise.core.errors import DriftwiseError
from driftwise.core.types import Matrix
from driftwise.learners import Learner, learners
from driftwise.report.tables import number, text_table

__all__ = ["expert_rivals"]

N_ACTIONS, N_ROUNDS, FEWER = 10, 2000, 500
BLOCKS = 5  # repetitions of our block per run of theirs
TARGET = 20.0  # times their rounds per second, in a block
RATE = 0.1
NO_PYNOL = "pip found no package of PyNOL, so it was not compared. PYNOL_PATH must name the folder with its source.\n\n"
FALLS, ENDS = 1000, 4000  # in the long run, action 0 is worse up to round `FALLS`, then better
HEADERS = (
    "learner",
    "package",
    "its class",
    "rounds",
    "block, us",
    "live, us",
    "theirs, us",
    "block ratio",
    "live ratio",
    "target",
    "",
    "difference",
    "least",
    "sum",
)


class Pair(NamedTuple):
    """A learner of driftwise and a rule of another package."""

    ours: str
    package: str
    theirs: str
    parameters: Mapping[str, Any] = {}  # of theirs
    our_parameters: Mapping[str, Any] = {}


PAIRS = (
    Pair("hedge", "PyNOL", "Hedge", {"lr": RATE}, {"learning_rate": RATE}),
    # River starts with weights of 1, ours with 1 / K.
    Pair("hedge", "river", "EWARegressor", {"learning_rate": RATE}, {"learning_rate": RATE}),
    Pair(
        "optimistic-hedge",
        "PyNOL",
        "OptimisticHedge",
        {"lr": RATE, "optimism_type": "last_loss"},
        {"learning_rate": RATE},
    ),
    # Its weights have C - 1 where Luo and Schapire have C + 1.
    Pair("ada-normal-hedge", "PyNOL", "AdaNormalHedge"),
    # Its projection on the simplex divides by the sum of the absolute values.
    Pair("online-gd", "PyNOL on the simplex", "OGD", {"step_size": RATE}, {"learning_rate": RATE}),
    # With the scale-free gradient descent on every interval; ours has Hedge.
    Pair("saol", "PyNOL on the simplex", "SAOL", {"T": N_ROUNDS}),
)


def session_time(learner: Learner, losses: Matrix) -> float:
    """Return the processor seconds of a live session."""
    session = Session(learner, losses.shape[1])
    predict, update = session.predict, session.update
    began = time.process_time()
    for row in losses:
        predict()
        update(row)
    return time.process_time() - began


def measured(pair: Pair, worker: Worker, n_rounds: int, repetitions: int) -> list[str]:
    """Return the numbers of a row and the verdict."""
    learner = learners.build({"name": pair.ours, **pair.our_parameters})
    losses = losses_of("switching", n_rounds, N_ACTIONS)
    worker.prepare(losses)
    tasks = {
        "block": lambda: min(block_time(learner, losses) for _ in range(BLOCKS)),
        "live": lambda: session_time(learner, losses),
        "theirs": lambda: worker.play(pair.package, pair.theirs, pair.parameters, "full"),
    }
    block, live, theirs = (1e6 * taken.best / n_rounds for taken in interleaved(tasks, repetitions).values())
    weights, others = learner.play_block(learner.start(N_ACTIONS), losses), worker.played()
    apart, sums = np.abs(weights - others)[1:], others[1:].sum(axis=1)
    ratios = [f"{theirs / ours:.3g}" for ours in (block, live)]
    aside = [number(float(apart.max())), number(float(others.min())), number(float(sums[np.abs(sums - 1).argmax()]))]
    times = [f"{each:.3g}" for each in (block, live, theirs)]
    return [*times, *ratios, f">= {TARGET:g}", verdict(theirs / block >= TARGET), *aside]


def long_losses(n_rounds: int) -> Matrix:
    """Return losses of two actions: the first has loss 1 up to round `FALLS`, then the second."""
    losses = np.zeros((n_rounds, 2))
    losses[:FALLS, 0] = losses[FALLS:, 1] = 1.0
    return losses


LONG = (
    Pair("hedge", "PyNOL", "Hedge", {"lr": 1.0}, {"learning_rate": 1.0}),
    Pair("hedge", "PyNOL", "Hedge", {"lr": 1.0, "is_lazy": True}, {"learning_rate": 1.0}),
    Pair("hedge", "river", "EWARegressor", {"learning_rate": 1.0}, {"learning_rate": 1.0}),
)


def long_run(pair: Pair, worker: Worker) -> str:
    """Return the weights after a long run in which the better action changes once."""
    losses = long_losses(ENDS)
    worker.prepare(losses)
    worker.play(pair.package, pair.theirs, pair.parameters, "full")
    learner = learners.build({"name": pair.ours, **pair.our_parameters})
    lost = np.isnan(worker.played()).any(axis=1)
    ours, theirs = (played[-1, 0] for played in (learner.play_block(learner.start(2), losses), worker.played()))
    nan = f", NaN from round {lost.argmax() + 1:,}" if lost.any() else ""
    parameters = ", ".join(f"{name}={value}" for name, value in pair.parameters.items())
    return f"{pair.theirs}({parameters}) of {pair.package}: {theirs:.3g}{nan}; {pair.ours} of driftwise: {ours:.3g}"


def first_and_missing(worker: Worker) -> str:
    """Return the sum of river's first weights, and what one missing forecast does to the later ones."""
    losses = losses_of("switching", FEWER, N_ACTIONS)
    losses[FEWER // 2, 1] = np.nan
    worker.prepare(losses)
    worker.play("river", "EWARegressor", {"learning_rate": RATE}, "full")
    weights = worker.played()
    lost = int(np.isnan(weights).any(axis=1).sum())
    return (
        f"EWARegressor of river, K = {N_ACTIONS}: its first weights sum to {weights[0].sum():g}. A forecast that is NaN"
        f" in round {FEWER // 2 + 1} of {FEWER} makes weights NaN in {lost} rounds."
    )


def expert_rivals(effort: Effort, worker: Worker) -> str:
    """Compare learners with full information, in blocks and live, with PyNOL and river."""
    without = "" if "PYNOL_PATH" in os.environ else NO_PYNOL
    rows, reasons, notes = [], "", []
    for pair in PAIRS:
        if without and pair.package.startswith("PyNOL"):
            continue
        n_rounds = FEWER if effort is QUICK else N_ROUNDS
        try:
            numbers = measured(pair, worker, n_rounds, effort.repetitions)
        except (RivalError, DriftwiseError, OSError) as error:
            numbers = [*"------", "failed", *"---"]
            reasons += f"\n\n{pair.ours} and {pair.theirs}: {error}"
        rows.append([pair.ours, pair.package, pair.theirs, str(n_rounds), *numbers])
    for pair in LONG:
        if not (without and pair.package == "PyNOL"):
            notes.append(long_run(pair, worker))
    about = (
        f"{without}Full information, K = {N_ACTIONS}, Bernoulli losses that switch. After round 1: the largest"
        " difference of weights, and of theirs the least weight and the sum that is farthest from 1."
    )
    after = (
        f"K = 2; action 0 has loss 1 in {FALLS:,} rounds, then action 1 in {ENDS - FALLS:,}. Last weight of action 0:"
    )
    return f"{about}\n\n{text_table(HEADERS, rows, left=3)}{reasons}\n\n{after}\n" + "\n".join(
        [*notes, "", first_and_missing(worker)]
    )
