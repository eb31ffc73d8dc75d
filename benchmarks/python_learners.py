"""Learners in plain Python beside the compiled learners that play exactly the same."""

from __future__ import annotations

import sys
from pathlib import Path

from common import Effort, block_time, losses_of, scaled
from live import session_time
from timing import interleaved

from driftwise.learners import UCB1, Hedge, Learner
from driftwise.report.tables import text_table

sys.path.append(str(Path(__file__).parents[1] / "examples"))
from python_twins import PythonHedge, PythonUCB1

__all__ = ["python_learners"]

ACTIONS = (2, 10, 100)
PAIRS: tuple[tuple[Learner, Learner], ...] = ((PythonHedge(0.5), Hedge(0.5)), (PythonUCB1(), UCB1()))
HEADERS = ("learner", "K", "block, us", "compiled, us", "ratio", "session, us", "compiled, us", "ratio")


def python_learners(effort: Effort) -> str:
    """Time a round of learners in plain Python and of compiled ones, in blocks and in live sessions."""
    rows = []
    n_rounds = effort.n_rounds // 10
    for pair in PAIRS:
        for n_actions in ACTIONS:
            losses = losses_of("uniform", n_rounds, n_actions)
            tasks = {f"block {each.name}": lambda each=each, losses=losses: block_time(each, losses) for each in pair}
            tasks |= {f"live {each.name}": lambda each=each, losses=losses: session_time(each, losses) for each in pair}
            taken = {name: times.best / n_rounds for name, times in interleaved(tasks, effort.repetitions).items()}
            row = [pair[0].name, str(n_actions)]
            for how in ("block", "live"):
                slow, fast = (taken[f"{how} {each.name}"] for each in pair)
                row += [*scaled(1e6, slow, fast), f"{slow / fast:.0f}"]
            rows.append(row)
    return f"Best of {effort.repetitions} blocks of {n_rounds} rounds.\n\n{text_table(HEADERS, rows, left=1)}"
