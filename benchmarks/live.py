"""Rounds of a live session, one by one, each with its checks."""

from __future__ import annotations

import time

from common import Effort, everyone, grows, losses_of, scaled, verdict
from timing import interleaved

from driftwise import Session
from driftwise.core.types import Matrix
from driftwise.learners import BanditLearner, Learner
from driftwise.report.tables import text_table

__all__ = ["live"]

MICROSECONDS = 10.0
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


def live(effort: Effort) -> str:
    """Time a round of a live session: `predict` or `choose`, then `update`."""
    rows = []
    for learner in everyone():
        dearer = grows(learner)
        losses = losses_of("uniform", 50 if dearer else 2000, N_ACTIONS)
        tasks = {"session": lambda learner=learner, losses=losses: session_time(learner, losses)}
        taken = interleaved(tasks, effort.repetitions)["session"]
        told = "cost grows with t" if dearer else verdict(taken.best / len(losses) * 1e6 <= MICROSECONDS)
        numbers = scaled(1e6 / len(losses), taken.best, taken.middle)
        rows.append([learner.name, learner.feedback, str(len(losses)), *numbers, f"<= {MICROSECONDS:g}", told])
    return f"K = {N_ACTIONS}; {effort.repetitions} sessions.\n\n{text_table(HEADERS, rows, left=2)}"
