"""The gain of a second thread for `simulate`, compared with two controls without the engine.

The learners' kernels on a given block show the limit set by memory and processor: kernels that share caches slow each
other down. Arithmetic in registers shows whether a second core is free.
"""

from __future__ import annotations

import functools
import os
from concurrent.futures import ThreadPoolExecutor

import numpy as np
from common import SEED, Effort, losses_of, scaled, switching_environment, verdict
from timing import interleaved, seconds

from driftwise import OptimisticAdaptMLProd, OptimisticGD, RerunUCBV, RestartedAdaptiveGD, simulate
from driftwise.core.kernel import kernel
from driftwise.learners import BanditLearner
from driftwise.report.tables import text_table

__all__ = ["threads"]

FRACTION = 0.9
FREE = 1.5  # if the arithmetic gains less, the second core is busy with something else
LEARNERS = (
    OptimisticAdaptMLProd(),
    OptimisticGD(),
    RestartedAdaptiveGD(),
    RerunUCBV(),
)  # fast ones, so that blocks end often
N_RUNS = 8
N_ACTIONS = 10
BLOCK = 10_000
HEADERS = ("work", "1 thread, ms", "2 threads, ms", "gain", "simulate's share", "target", "")
NAMES = {
    "simulate": f"simulate, {len(LEARNERS)} learners",
    "kernels": "control: their kernels alone",
    "arithmetic": "control: arithmetic alone",
}


@kernel
def _burn(n: int) -> float:
    x = 0.3
    for _ in range(n):
        x = 3.9 * x * (1.0 - x)  # chaotic, so that the compiler finds no shortcut
    return x


def burn(n_threads: int, spins: int) -> float:
    """Return the seconds of the arithmetic."""
    with ThreadPoolExecutor(n_threads) as pool:
        return seconds(lambda: list(pool.map(_burn, [spins] * N_RUNS)))


def alone(n_threads: int, n_rounds: int) -> float:
    """Return the seconds of the learners' kernels alone."""
    losses = losses_of("switching", BLOCK, N_ACTIONS)

    def play(seed: int) -> None:
        for learner in LEARNERS:
            state = learner.start(N_ACTIONS, seed)
            played = np.empty(BLOCK, np.int64) if isinstance(learner, BanditLearner) else np.empty_like(losses)
            for _ in range(n_rounds // BLOCK):
                learner.loops.run(state.memory, state.rates, losses, played)

    with ThreadPoolExecutor(n_threads) as pool:
        return seconds(lambda: list(pool.map(play, range(N_RUNS))))


def threads(effort: Effort) -> str:
    """Compare the gain of a second thread for `simulate` and for the kernels alone."""
    if (os.cpu_count() or 1) < 2:
        return "One core: nothing to measure."
    n_rounds = 5 * effort.n_rounds

    def play(n_threads: int) -> float:
        return seconds(
            lambda: simulate(switching_environment(N_ACTIONS), LEARNERS, n_rounds, N_RUNS, SEED, n_threads=n_threads)
        )

    tasks = {
        "simulate": play,
        "kernels": lambda n_threads: alone(n_threads, n_rounds),
        "arithmetic": lambda n_threads: burn(n_threads, n_rounds * 500 // N_RUNS),
    }
    for task in tasks.values():
        task(1)  # compiles
    times = interleaved(
        {f"{work}, {n}": functools.partial(task, n) for work, task in tasks.items() for n in (1, 2)}, effort.repetitions
    )
    best = {work: [times[f"{work}, {n}"].best for n in (1, 2)] for work in tasks}
    gain = {work: one / two for work, (one, two) in best.items()}
    free = gain["arithmetic"] >= FREE
    rows = []
    for work in tasks:
        share = gain["simulate"] / gain[work]
        result = verdict(share >= FRACTION) if free else "undecided: no second core was free"
        rows.append(
            [NAMES[work], *scaled(1e3, *best[work]), f"{gain[work]:.2f}", "-" if work == "simulate" else f"{share:.2f}"]
        )
        rows[-1] += [f">= {FRACTION}", result] if work == "kernels" else ["-", "-"]
    about = f"{N_RUNS} runs of {n_rounds} rounds, K = {N_ACTIONS}"
    return f"{about}; best of {effort.repetitions}.\n\n{text_table(HEADERS, rows)}"
