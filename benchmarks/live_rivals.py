"""Rounds of a live session compared with other packages, one call per choice and per update."""

from __future__ import annotations

import time

from common import Effort, losses_of, verdict
from rival_process import RivalError, Worker, install, pins, working
from rivals import Pair
from timing import interleaved

from driftwise import Session
from driftwise.core.types import Matrix
from driftwise.learners import Learner, learners
from driftwise.report.tables import text_table

__all__ = ["live_rivals"]

ACTIONS = (2, 10, 100)
N_ROUNDS = 3000
HEADERS = ("learner", "package", "its class", "K", "ours, us", "theirs, us", "ratio", "target", "")


PAIRS = (
    Pair("ucb1", "SMPyBandits", "UCB"),
    Pair("ucb1", "river", "UCB", {"delta": 1}),
    Pair("ucb1", "pymab", "UCBPolicy"),
    Pair("discounted-ucb", "pymab", "DiscountedUCBPolicy"),
    Pair("sliding-window-ucb", "SMPyBandits", "SWUCB", {"tau": 93, "alpha": 0.6}, {"window": 93}),
    Pair("sliding-window-ucb", "pymab", "SlidingWindowUCBPolicy", {"window_size": 93}, {"window": 93}),
    Pair("cusum-ucb", "pymab", "CUSUMUCBPolicy"),
    Pair("thompson", "river", "ThompsonSampling", {"reward_obj": "Beta"}),
    Pair("thompson", "pymab", "BernoulliThompsonSamplingPolicy"),
    Pair("exp3", "SMPyBandits", "Exp3", {"gamma": 0.1}, {"exploration_rate": 0.1}),
    Pair("exp3", "river", "Exp3", {"gamma": 0.1}, {"exploration_rate": 0.1}),
    Pair("exp3", "pymab", "EXP3Policy", {"gamma": 0.1}, {"exploration_rate": 0.1}),
)


def session_time(learner: Learner, losses: Matrix) -> float:
    """Return the processor seconds of a live session; the rivals are timed in the same way."""
    session, table = Session(learner, losses.shape[1]), losses.tolist()
    choose, update = session.choose, session.update
    action, probability = choose()  # compiles
    update(action, probability, loss=table[0][action])
    began = time.process_time()
    for row in table:
        action, probability = choose()
        update(action, probability, loss=row[action])
    return time.process_time() - began


def measured(pair: Pair, worker: Worker, losses: Matrix, repetitions: int) -> list[str]:
    """Return the numbers of a row and the verdict."""
    learner = learners.build({"name": pair.ours, **pair.our_parameters})
    worker.prepare(losses)
    tasks = {
        "ours": lambda: session_time(learner, losses),
        "theirs": lambda: worker.play(pair.package, pair.theirs, pair.parameters),
    }
    ours, theirs = (1e6 * taken.best / len(losses) for taken in interleaved(tasks, repetitions).values())
    return [f"{ours:.2f}", f"{theirs:.2f}", f"{theirs / ours:.2f}", ">= 1", verdict(theirs >= ours)]


def live_rivals(effort: Effort) -> str:
    """Time a live round, choose and update with checked input, and compare with SMPyBandits, river and pymab."""
    try:
        install()
    except (RivalError, OSError) as error:
        return f"The rivals could not be installed, so nothing was compared: {error}"
    rows, reasons = [], ""
    with working() as worker:
        for pair in PAIRS:
            for n_actions in ACTIONS:
                losses = losses_of("switching", N_ROUNDS, n_actions)
                try:
                    numbers = measured(pair, worker, losses, effort.repetitions)
                except (RivalError, OSError) as error:
                    numbers = [*"----", "failed"]
                    reasons += f"\n\n{pair.ours} and {pair.theirs}: {error}"
                rows.append([pair.ours, pair.package, pair.theirs, str(n_actions), *numbers])
    about = f"Bernoulli losses that switch; best of {effort.repetitions}; {', '.join(pins())}"
    return f"{about}.\n\n{text_table(HEADERS, rows, left=3)}{reasons}"
