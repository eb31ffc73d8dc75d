"""The kernels on blocks of losses; two of them are compared with an equal program in C."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import twins
from common import Effort, all_learners, block_time, losses_of, verdict
from timing import interleaved, seconds

from driftwise.core.types import Matrix
from driftwise.learners import Learner
from driftwise.report.tables import number, text_table

__all__ = ["kernels"]

FEW = 3  # repetitions of kernels that are not compared
SAME_PLAY = 1e-9  # a C program whose weights differ by more is another algorithm
HEADERS = ("learner", "losses", "K", "rounds", "ns/round", "C twin", "ratio", "target", "", "weights apart")


def most(n_actions: int) -> float:
    """Return the largest permitted ratio of a kernel's time to that of the C program."""
    return 1.5 if n_actions <= 10 else 3.0


def affordable(learner: Learner, losses: Matrix, long: float) -> int:
    """Return a number of rounds, doubled until they take `long` seconds or the block ends."""
    block_time(learner, losses[:1])  # compiles
    rounds = min(250, len(losses))
    while rounds < len(losses) and min(block_time(learner, losses[:rounds]) for _ in range(2)) < long:
        rounds = min(2 * rounds, len(losses))
    return rounds


def measured(learner: Learner, losses: Matrix, twin: twins.Twin | None, repetitions: int) -> list[str]:
    """Return the numbers of a row."""
    tasks: dict[str, Callable[[], float]] = {"library": lambda: block_time(learner, losses)}
    if twin:
        tasks["twin"] = lambda: seconds(lambda: twin(learner, losses))
    times = interleaved(tasks, repetitions)
    pace = {name: taken.best / len(losses) * 1e9 for name, taken in times.items()}
    if twin is None:
        return [number(pace["library"]), "-", "-", "-", "-", "-"]
    n_actions = losses.shape[1]
    apart = float(np.abs(learner.run(learner.start(n_actions), losses) - twin(learner, losses)).max())
    ratio = pace["library"] / pace["twin"]
    result = verdict(ratio <= most(n_actions)) if apart < SAME_PLAY else "MISSED: not the same weights"
    return [
        number(pace["library"]),
        number(pace["twin"]),
        f"{ratio:.2f}",
        f"<= {most(n_actions)}",
        result,
        f"{apart:.0e}",
    ]


def kernels(effort: Effort) -> str:
    """Time every learner of the registry on blocks; a C program (twin) computes the same weights."""
    command = twins.compiler()
    found = twins.build(command) if command else {}
    rows = []
    for learner in all_learners():
        twin = found.get(learner.name)
        for n_actions in (2, 10, 100):
            for kind in ("uniform", "switching") if twin else ("uniform",):
                losses = losses_of(kind, effort.n_rounds, n_actions)
                block = losses[: affordable(learner, losses, effort.long)]
                row = [learner.name, kind, str(n_actions), str(len(block))]
                rows.append(row + measured(learner, block, twin, effort.repetitions if twin else FEW))
    compiler = (
        f"twins by {twins.version(command)} {' '.join(twins.FLAGS)}" if command else "no C compiler found, no twins"
    )
    counted = f"Best of {effort.repetitions} blocks with a twin, else of {FEW}"
    return f"{counted}; {compiler}.\n\n{text_table(HEADERS, rows, left=2)}"
