"""Rounds of a live session, one by one, each with its checks."""

from __future__ import annotations

import time

from common import Effort, everyone, grows, losses_of, scaled, verdict
from timing import interleaved

from driftwise import Session
from driftwise.core.types import Matrix
from driftwise.learners import BanditLearner, Learner
from driftwise.learners.bandits.watching import WatchingLearner
from driftwise.learners.meta.base import MetaLearner
from driftwise.report.tables import text_table

__all__ = ["live"]

ONE_KERNEL, WITH_DETECTOR = 3.0, 6.0  # us
N_ACTIONS = 10
HEADERS = ("learner", "feedback", "rounds", "best, us", "median, us", "target", "")


def session_time(learner: Learner, losses: Matrix) -> float:
    """Return the seconds of a session: `predict` or `choose`, then `update`."""
    session = Session(learner, losses.shape[1])
    if isinstance(learner, BanditLearner):
        table = losses.tolist()
        began = time.perf_counter()
        for row in table:
            action, probability = session.choose()
            session.update(action, row[action], probability)
    else:
        vectors = list(losses)
        began = time.perf_counter()
        for vector in vectors:
            session.predict()
            session.update(vector)
    return time.perf_counter() - began


def target(learner: Learner) -> float | None:
    """Return the microseconds that a round may take; learners made of learners have no target yet."""
    if isinstance(learner, MetaLearner):
        return None
    return WITH_DETECTOR if isinstance(learner, WatchingLearner) else ONE_KERNEL


def live(effort: Effort) -> str:
    """Time a round of a live session: `predict` or `choose`, then `update`."""
    rows = []
    for learner in everyone():
        dearer = grows(learner)
        losses = losses_of("uniform", 50 if dearer else 2000, N_ACTIONS)
        tasks = {"session": lambda learner=learner, losses=losses: session_time(learner, losses)}
        taken = interleaved(tasks, effort.repetitions)["session"]
        most = target(learner)
        told = "cost grows with t" if dearer else verdict(taken.best / len(losses) * 1e6 <= most) if most else ""
        numbers = scaled(1e6 / len(losses), taken.best, taken.middle)
        rows.append([learner.name, learner.feedback, str(len(losses)), *numbers, f"<= {most:g}" if most else "-", told])
    return f"K = {N_ACTIONS}; {effort.repetitions} sessions.\n\n{text_table(HEADERS, rows, left=2)}"
