"""The time of a round as a function of t, for learners that start a copy on every interval of a cover."""

from __future__ import annotations

from pathlib import Path

import numpy as np
from common import Effort, losses_of
from timing import seconds

from driftwise.core.types import Vector
from driftwise.learners import (
    CBCE,
    FLH,
    SAOL,
    AdaNormalHedgeTV,
    ExpertLearner,
    SleepingAdaptMLProd,
    SleepingOptimisticAdaptMLProd,
)
from driftwise.report.figures import save_figure
from driftwise.report.tables import number, text_table

__all__ = ["covers"]

N_ACTIONS = 10
CHUNK = 2**8  # rounds timed together: few, so that some repetition of each is not interrupted
FIGURE = Path("out/cover-cost.png")
LEARNERS: dict[str, ExpertLearner] = {
    "saol": SAOL(),
    "cbce": CBCE(),
    "flh": FLH(),
    "sleeping-adapt-ml-prod, geometric": SleepingAdaptMLProd(cover="geometric"),
    "sleeping-adapt-ml-prod, hazan-seshadhri": SleepingAdaptMLProd(cover="hazan-seshadhri"),
    "ada-normal-hedge-tv, geometric": AdaNormalHedgeTV(cover="geometric"),
    "sleeping-optimistic-adapt-ml-prod, merged": SleepingOptimisticAdaptMLProd("merged"),
}


def costs(learner: ExpertLearner, octaves: range, repetitions: int) -> Vector:
    """Return the seconds per round in each octave of t: the mean over its chunks of the best time of each."""
    losses = losses_of("uniform", 2 ** (octaves[-1] + 1), N_ACTIONS)
    chunks = len(losses) // CHUNK
    best = np.full(chunks, np.inf)
    for _ in range(repetitions):
        state = learner.start(N_ACTIONS)
        for i in range(chunks):
            block = losses[i * CHUNK : (i + 1) * CHUNK]
            best[i] = min(best[i], seconds(lambda state=state, block=block: learner.play_block(state, block)))
    return np.array([best[2**octave // CHUNK : 2 ** (octave + 1) // CHUNK].mean() / CHUNK for octave in octaves])


def covers(effort: Effort) -> str:
    """Time a round of learners on covers at t = 2^8, 2^9, ...; it should grow like log t."""
    octaves = range(8, 17 if effort.repetitions > 3 else 13)
    found = {name: costs(learner, octaves, effort.repetitions) * 1e9 for name, learner in LEARNERS.items()}
    x = np.array(octaves) + 0.5
    rows = []
    for name, values in found.items():
        slope, _ = np.polyfit(x, values, 1)
        power, _ = np.polyfit(x * np.log(2), np.log(values), 1)
        rows.append([name, *(number(values[i]) for i in (0, len(values) // 2, -1)), number(slope), f"{power:.2f}"])
    draw(x, found)
    marks = [f"t = 2^{octaves[i]}" for i in (0, len(octaves) // 2, -1)]
    table = text_table(["learner", *marks, "ns per doubling", "power of t"], rows)
    return f"K = {N_ACTIONS}; ns per round, best of {effort.repetitions}. Figure: {FIGURE}\n\n{table}"


def draw(x: Vector, found: dict[str, Vector]) -> None:
    """Plot the time of a round against log t, where logarithmic growth is a straight line."""
    from matplotlib.figure import Figure

    figure = Figure(figsize=(8.0, 4.6), layout="constrained")
    axes = figure.add_subplot()
    for name, values in found.items():
        (line,) = axes.plot(2**x, values / 1000, "o", markersize=4, label=name)
        axes.plot(2**x, np.polyval(np.polyfit(x, values, 1), x) / 1000, color=line.get_color(), linewidth=1.2)
    axes.set_xscale("log", base=2)
    axes.set(xlabel="round t", ylabel="microseconds per round", ylim=(0, None))
    axes.set_title(f"Learners on covers: the time of a round grows like log t (K = {N_ACTIONS})", fontsize="medium")
    axes.grid(alpha=0.25, linewidth=0.6)
    axes.spines[["top", "right"]].set_visible(False)
    figure.legend(loc="outside lower center", ncols=2, frameon=False)
    FIGURE.parent.mkdir(parents=True, exist_ok=True)
    save_figure(figure, FIGURE)
