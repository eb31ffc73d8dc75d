"""Single rounds of a live session, with all checks."""

from __future__ import annotations

import time

from common import Effort, all_learners, grows, losses_of, verdict
from timing import interleaved

from driftwise import Session
from driftwise.core.types import Matrix
from driftwise.learners import Learner
from driftwise.learners.shared.meta_learner import MetaLearner
from driftwise.learners.shared.restarting_learner import RestartingLearner
from driftwise.report.tables import text_table

__all__ = ["live"]

ONE_KERNEL, WITH_DETECTOR, OF_LEARNERS = 3.0, 6.0, 10.0  # us
ACTIONS = (2, 10, 100)
AIMED = 10  # actions for which there is a target
HEADERS = ("learner", "feedback", "rounds", *(f"K = {n}, us" for n in ACTIONS), f"target, K = {AIMED}", "")


def session_time(learner: Learner, losses: Matrix) -> float:
    """Return the seconds of a session: `predict` or `choose`, then `update`."""
    session = Session(learner, losses.shape[1])
    if learner.feedback == "bandit":
        table = losses.tolist()
        began = time.perf_counter()
        for row in table:
            action, probability = session.choose()
            session.update(action, probability, loss=row[action])
    else:
        vectors = list(losses)
        began = time.perf_counter()
        for vector in vectors:
            session.predict()
            session.update(vector)
    return time.perf_counter() - began


def target(learner: Learner) -> float:
    """Return the microseconds that a round may take."""
    if isinstance(learner, MetaLearner):
        return OF_LEARNERS
    return WITH_DETECTOR if isinstance(learner, RestartingLearner) else ONE_KERNEL


def live(effort: Effort) -> str:
    """Time a round of a live session: `predict` or `choose`, then `update`."""
    rows = []
    for learner in all_learners():
        n_rounds, most = 50 if grows(learner) else 2000, target(learner)
        taken = {}
        for n_actions in ACTIONS:
            losses = losses_of("uniform", n_rounds, n_actions)
            tasks = {"session": lambda learner=learner, losses=losses: session_time(learner, losses)}
            taken[n_actions] = interleaved(tasks, effort.repetitions)["session"].best / n_rounds * 1e6
        result = "grows with t" if grows(learner) else verdict(taken[AIMED] <= most)
        numbers = [f"{microseconds:.2f}" for microseconds in taken.values()]
        rows.append([learner.name, learner.feedback, str(n_rounds), *numbers, f"<= {most:g}", result])
    return f"Best of {effort.repetitions} sessions.\n\n{text_table(HEADERS, rows, left=2)}"
