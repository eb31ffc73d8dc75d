"""A second thread for `simulate`, beside one for a kernel that does nothing but compute."""

from __future__ import annotations

import os
from concurrent.futures import ThreadPoolExecutor

from common import SEED, Effort, scaled, verdict, world
from timing import interleaved, seconds

from driftwise import OptimisticAdaptMLProd, OptimisticGD, RerunUCBV, RestartedAdaptiveGD, simulate
from driftwise.core.kernel import kernel
from driftwise.report.tables import text_table

__all__ = ["threads"]

FRACTION = 0.9
FREE = 1.5  # a control that gains less says that the second core is busy with something else
TEAM = (OptimisticAdaptMLProd(), OptimisticGD(), RestartedAdaptiveGD(), RerunUCBV())  # quick ones: blocks end often
N_RUNS = 8
N_ACTIONS = 10
HEADERS = ("work", "1 thread, ms", "2 threads, ms", "gain", "of the control's", "target", "")


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


def threads(effort: Effort) -> str:
    """Compare what a second thread gives `simulate` with what it gives a control that only computes."""
    if (os.cpu_count() or 1) < 2:
        return "One core: nothing to measure."
    n_rounds = 5 * effort.n_rounds

    def play(n_threads: int) -> float:
        return seconds(lambda: simulate(world(N_ACTIONS), TEAM, n_rounds, N_RUNS, SEED, n_threads=n_threads))

    probe = 1_000_000
    play(1)  # compiles
    burn(1, probe)
    spins = int(probe * min(play(1) for _ in range(3)) / min(burn(1, probe) for _ in range(3)))  # as long as `play`
    times = interleaved(
        {
            "simulate, 1": lambda: play(1),
            "control, 1": lambda: burn(1, spins),
            "simulate, 2": lambda: play(2),
            "control, 2": lambda: burn(2, spins),
        },
        effort.repetitions,
    )
    best = {who: [times[f"{who}, {n}"].best for n in (1, 2)] for who in ("simulate", "control")}
    gain = {who: one / two for who, (one, two) in best.items()}
    fraction = gain["simulate"] / gain["control"]
    told = verdict(fraction >= FRACTION) if gain["control"] >= FREE else "undecided: no second core was free"
    rows = [
        [name, *scaled(1e3, *best[who]), f"{gain[who]:.2f}"]
        for name, who in ((f"simulate, {len(TEAM)} learners", "simulate"), ("control, a nogil kernel", "control"))
    ]
    rows[0] += [f"{fraction:.2f}", f">= {FRACTION}", told]
    rows[1] += ["-", "-", "-"]
    work = f"{N_RUNS} runs of {n_rounds} rounds, K = {N_ACTIONS}"
    return f"{work}; best of {effort.repetitions}, in turns.\n\n{text_table(HEADERS, rows)}"
