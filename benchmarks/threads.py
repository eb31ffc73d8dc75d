"""A second thread for `simulate`, beside two controls without the engine.

The learners' own kernels on a ready block show what memory and processor allow: kernels that share caches slow each
other down, whatever the engine does. Arithmetic in registers shows that the second core is there at all.
"""

from __future__ import annotations

import functools
import os
from concurrent.futures import ThreadPoolExecutor

import numpy as np
from common import SEED, Effort, losses_of, scaled, verdict, world
from timing import interleaved, seconds

from driftwise import OptimisticAdaptMLProd, OptimisticGD, RerunUCBV, RestartedAdaptiveGD, simulate
from driftwise.core.kernel import kernel
from driftwise.learners import BanditLearner
from driftwise.report.tables import text_table

__all__ = ["threads"]

FRACTION = 0.9
FREE = 1.5  # a control that gains less says that the second core is busy with something else
TEAM = (OptimisticAdaptMLProd(), OptimisticGD(), RestartedAdaptiveGD(), RerunUCBV())  # quick ones: blocks end often
N_RUNS = 8
N_ACTIONS = 10
BLOCK = 10_000
HEADERS = ("work", "1 thread, ms", "2 threads, ms", "gain", "simulate's share", "target", "")
NAMES = {
    "simulate": f"simulate, {len(TEAM)} learners",
    "kernels": "control: their kernels alone",
    "arithmetic": "control: arithmetic alone",
}


@kernel
def _burn(n: int) -> float:
    x = 0.3
    for _ in range(n):
        x = 3.9 * x * (1.0 - x)  # chaotic: there is no shortcut
    return x


def burn(n_threads: int, spins: int) -> float:
    """Return the seconds the control takes."""
    with ThreadPoolExecutor(n_threads) as pool:
        return seconds(lambda: list(pool.map(_burn, [spins] * N_RUNS)))


def alone(n_threads: int, n_rounds: int) -> float:
    """Return the seconds that the kernels of the team take, with nothing around them."""
    losses = losses_of("switching", BLOCK, N_ACTIONS)

    def play(seed: int) -> None:
        for learner in TEAM:
            state = learner.start(N_ACTIONS, seed)
            played = np.empty(BLOCK, np.int64) if isinstance(learner, BanditLearner) else np.empty_like(losses)
            for _ in range(n_rounds // BLOCK):
                learner.loops.run(state.memory, state.rates, losses, played)

    with ThreadPoolExecutor(n_threads) as pool:
        return seconds(lambda: list(pool.map(play, range(N_RUNS))))


def threads(effort: Effort) -> str:
    """Compare what a second thread gives `simulate` with what it gives kernels with nothing around them."""
    if (os.cpu_count() or 1) < 2:
        return "One core: nothing to measure."
    n_rounds = 5 * effort.n_rounds

    def play(n_threads: int) -> float:
        return seconds(lambda: simulate(world(N_ACTIONS), TEAM, n_rounds, N_RUNS, SEED, n_threads=n_threads))

    tasks = {
        "simulate": play,
        "kernels": lambda n_threads: alone(n_threads, n_rounds),
        "arithmetic": lambda n_threads: burn(n_threads, n_rounds * 500 // N_RUNS),
    }
    for task in tasks.values():
        task(1)  # compiles
    times = interleaved(
        {f"{who}, {n}": functools.partial(task, n) for who, task in tasks.items() for n in (1, 2)}, effort.repetitions
    )
    best = {who: [times[f"{who}, {n}"].best for n in (1, 2)] for who in tasks}
    gain = {who: one / two for who, (one, two) in best.items()}
    free = gain["arithmetic"] >= FREE
    rows = []
    for who in tasks:
        share = gain["simulate"] / gain[who]
        told = verdict(share >= FRACTION) if free else "undecided: no second core was free"
        rows.append(
            [NAMES[who], *scaled(1e3, *best[who]), f"{gain[who]:.2f}", "-" if who == "simulate" else f"{share:.2f}"]
        )
        rows[-1] += [f">= {FRACTION}", told] if who == "kernels" else ["-", "-"]
    work = f"{N_RUNS} runs of {n_rounds} rounds, K = {N_ACTIONS}"
    return f"{work}; best of {effort.repetitions}, in turns.\n\n{text_table(HEADERS, rows)}"
