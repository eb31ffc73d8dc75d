"""Draws every learner, path, noise, adversary and detector at work: one picture for each page of the reference."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from driftwise.adversaries import Adversary
from driftwise.core.measures import collected
from driftwise.detectors import Detector
from driftwise.engine import preview, record
from driftwise.environments import (
    Bernoulli,
    Deterministic,
    Environment,
    Linear,
    Noise,
    Switching,
    WithVariance,
)
from driftwise.environments.paths import Path as MeanPath
from driftwise.learners import Learner
from driftwise.report.drawing import COLOURS, GREY
from driftwise.report.figures import save_figure

__all__ = ["WITHOUT_DEFAULTS", "caption", "draw"]

N_ROUNDS = 2000
N_SHOWN = 400  # rounds of the pictures of environments
FAST = {"coin-flips": 40}  # fewer rounds, where every round is different
SEED = 3
_TWO_SIDES = ((0.3, 0.6), (0.7, 0.4), (0.2, 0.5), (0.6, 0.4))
# A picture needs values for the parameters without a default; those of `sparse-bernoulli` are rare losses.
WITHOUT_DEFAULTS: dict[str, dict[str, Any]] = {
    "bursts": {"n_bursts": 3, "length": 40, "n_actions": 3},
    "coin-flips": {"n_actions": 2},
    "constant": {"means": (0.3, 0.5, 0.6)},
    "linear": {"first": (0.2, 0.5, 0.7), "last": (0.8, 0.4, 0.3)},
    "random-segments": {"n_segments": 5, "n_actions": 3},
    "random-walk": {"n_actions": 3, "step": 0.03},
    "segments": {"means": _TWO_SIDES},
    "single-changes": {"n_segments": 6, "n_actions": 3},
    "sinusoidal": {"n_actions": 3},
    "switching": {"n_segments": 5, "n_actions": 3},
    "table": {"means": tuple(map(tuple, np.linspace((0.2, 0.7), (0.8, 0.4), N_SHOWN)))},
    "with-drift": {"path": Switching(5, 3), "drift": 2.0},
    "with-variance": {"noise": {"name": "two-point"}, "variance": 0.005 * N_SHOWN},
    "bandit-low": {"segments": 10},
    "sparse-bernoulli": {"shares": (0.1,)},
    "full-low": {"segments": 4, "variance": 100.0, "case": "noisy"},
    "full-v": {"drift": 3.0, "variance": 60.0},
}  # fmt: skip


def draw(member: type[Any], target: Path) -> None:
    """Write the picture of a registered class."""
    given = WITHOUT_DEFAULTS.get(member.name, {})
    if issubclass(member, Learner):
        figure = _learner(member)
    elif issubclass(member, MeanPath):
        n_rounds = FAST.get(member.name, N_SHOWN)
        figure = preview(Environment(member(**given), Deterministic()), n_rounds, seed=SEED).figure()
    elif issubclass(member, Noise):
        figure = _noise(WithVariance(**given) if member is WithVariance else member(**given))
    elif issubclass(member, Adversary):
        figure = preview(member(**given).against(None, N_SHOWN, seed=SEED), N_SHOWN, seed=SEED).figure()
    else:
        figure = _detector(member(**given))
    target.parent.mkdir(parents=True, exist_ok=True)
    save_figure(figure, target)


def caption(member: type[Any]) -> str:
    """Return what the picture shows, and how to make it."""
    given = ", ".join(f"{name}={value!r}" for name, value in WITHOUT_DEFAULTS.get(member.name, {}).items())
    call = f"{member.__name__}({given if len(given) < 90 else '...'})"
    if issubclass(member, Learner):
        player = f"{member.__name__}{'.tuned' if _has_rule(member) else '()'}"
        what = "Weights" if member.feedback == "full" else "Shares of plays"
        return (
            f"{what} of the actions over {N_ROUNDS:,} rounds; the best action changes three times. Made by"
            f" `record({player}, Environment(Switching(4, 4, best=0.2, rest=0.7), Bernoulli()), {N_ROUNDS},"
            f" seed={SEED}).plot(...)`."
        )
    if issubclass(member, MeanPath):
        n_rounds = FAST.get(member.name, N_SHOWN)
        return (
            f"Means of the actions of `{call}` over {n_rounds} rounds. Made by"
            f" `preview(Environment({call}, Deterministic()), {n_rounds}, seed={SEED}).plot(...)`."
        )
    if issubclass(member, Noise):
        return f"Losses of one action with `{call}` (dots) around a mean that rises from 0.25 to 0.75 (line)."
    if issubclass(member, Adversary):
        return (
            f"Means (lines) and averages of losses (dots) of one run. Made by `preview({call}.against(None, {N_SHOWN},"
            f" seed={SEED}), {N_SHOWN}, seed={SEED}).plot(...)`."
        )
    return f"Alarms of `{call}` (vertical lines) on a stream whose mean jumps from 0.2 to 0.6 to 0.3."


def _has_rule(member: type[Learner]) -> bool:
    return member.tuned.__func__ is not Learner.tuned.__func__  # type: ignore[attr-defined]


def _learner(member: type[Learner]) -> Figure:
    environment = Environment(Switching(4, 4, best=0.2, rest=0.7), Bernoulli())
    with collected():  # a tuning rule that is meaningless here is said so by the figure
        return record(member.tuned if _has_rule(member) else member(), environment, N_ROUNDS, seed=SEED).figure()


def _noise(noise: Noise) -> Figure:
    block = Environment(Linear((0.25,), (0.75,)), noise).start(N_SHOWN, seed=SEED).draw(N_SHOWN)
    figure, axes = _axes("round", "loss")
    axes.plot(block.losses, ".", color=COLOURS[0], alpha=0.35, markersize=3.5)
    axes.plot(block.means, color=COLOURS[0], linewidth=2.0)
    axes.set(xlim=(0, N_SHOWN - 1), ylim=(-0.03, 1.03))
    return figure


def _detector(detector: Detector) -> Figure:
    chances = np.repeat([0.2, 0.6, 0.3], N_ROUNDS // 3)
    values = (np.random.default_rng(SEED).random(chances.size) < chances).astype(float)
    figure, axes = _axes("value", "mean, and mean of the last 25")
    recent = np.convolve(values, np.full(25, 1 / 25))[: values.size]
    axes.plot(recent, color=GREY, linewidth=0.8, label="last 25")
    axes.plot(chances, color=COLOURS[0], linewidth=2.0, label="mean")
    for i, alarm in enumerate(detector.alarms(values)):
        axes.axvline(alarm, color=COLOURS[1], linewidth=1.5, label="alarm" if i == 0 else None)
    axes.set(xlim=(0, values.size), ylim=(0, 1))
    figure.legend(loc="outside right upper", frameon=False)
    return figure


def _axes(xlabel: str, ylabel: str) -> tuple[Figure, Axes]:
    figure = Figure(figsize=(8.0, 2.6), layout="constrained")
    axes = figure.add_subplot()
    axes.set(xlabel=xlabel, ylabel=ylabel)
    axes.grid(alpha=0.25, linewidth=0.6)
    axes.spines[["top", "right"]].set_visible(False)
    return figure, axes
