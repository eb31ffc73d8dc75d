r"""Weights and speed of ML-Poly and BOA beside those of opera's Python version, on the same forecasts.

opera's Python version is on GitHub (Dralliag/opera-python) and not on PyPI, so it is not installed here: OPERA_PATH
names the folders in which it and the packages that it needs are (seaborn and what driftwise has). Its rules, from its
source, with the regrets $r_{t,k}$ of the linearised losses in the units of the data:

ML-Poly: weights in proportion to $[R_k]_+ / (2^{20} + \sum r_k^2 + M)$, with $M$ the largest squared regret of any
expert so far. Ours with a known scale $s$: $[R_k]_+ / (s^2 + \sum r_k^2)$. They are the same rule while $M$ is
constant, with $s^2 = 2^{20} + M$. So the comparison begins with a round that has the largest regret of all. A
difference remains: where all experts that are awake have weight 0, theirs are NaN from then on; ours share the weight
equally.

BOA: $\eta_k e^{\eta_k G_k}$ with $\eta_k = \min(1 / B_k, \sqrt{\ln K / (2^{-20} + \sum r_k^2)})$, where $B_k$ is the
least power of two above the regrets of expert $k$ so far, and $G_k$ the sum of
$(r_t - \eta_t r_t^2 + B_k [\eta_t r_t > 1/2]) / 2$. Ours has $\eta_{t-1}$ in place of $\eta_t$, no factor $1/2$, and
the cap $1 / (2 s)$. No scale makes them the same rule.
"""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import NamedTuple

import numpy as np
from common import SEED, Effort, verdict
from forecast_data import MissingPackage, load
from timing import seconds

from driftwise.core.types import Matrix, Vector
from driftwise.forecasting import MixtureOptions, MixtureStack
from driftwise.learners import BOA, ExpertLearner, MLPoly
from driftwise.report.tables import number, text_table

__all__ = ["opera_weights"]

WORKER = Path(__file__).parent / "opera_worker.py"
RULES: dict[str, ExpertLearner] = {"MLpol": MLPoly(), "BOA": BOA()}
SAME_RULE = ("MLpol",)
NAMES = ("pollsters", "electricity")
CLOSE = 1e-6
FASTER = 100.0
ITS_CONSTANT = 2.0**20  # in the learning rates of its ML-Poly
MISSING = 0.2  # of the forecasts
HEADERS = ("data", "rounds", "rule", "largest difference of weights", "ours, us", "theirs, us", "ratio", "target", "")


class Answer(NamedTuple):
    """The weights of a run, and its seconds."""

    weights: Matrix
    seconds: float


def theirs(forecasts: Matrix, truths: Vector, rule: str, missing: str = "awake") -> Answer:
    """Run a rule of opera in a process of its own."""
    with tempfile.TemporaryDirectory() as folder:
        source, out = Path(folder) / "data.npz", Path(folder) / "weights.npy"
        np.savez(source, forecasts=forecasts, truths=truths)
        command = [sys.executable, "-W", "ignore", WORKER, source, rule, missing, out]
        environment = os.environ | {"PYTHONPATH": os.environ["OPERA_PATH"], "MPLBACKEND": "agg"}
        done = subprocess.run(command, capture_output=True, text=True, check=False, env=environment)
        if done.returncode != 0:
            raise RuntimeError((done.stderr.splitlines() or ["no reason given"])[-1])
        return Answer(np.load(out), float(done.stdout))


def ours(forecasts: Matrix, truths: Vector, learner: ExpertLearner, scale: float | None) -> Answer:
    """Run a learner of driftwise with the gradient trick; the best time of five."""
    options = MixtureOptions(learner=learner, hint="none", scale=scale)
    found: list[Matrix] = []

    def run() -> None:
        found.append(MixtureStack(options, forecasts.shape[1]).run(forecasts, truths).weights)

    times = [seconds(run) for _ in range(6)]
    return Answer(found[0], min(times[1:]))


def regrets(forecasts: Matrix, truths: Vector, weights: Matrix) -> Matrix:
    """Return the regrets of the linearised losses, in the units of the data."""
    combined = (weights * forecasts).sum(axis=1)
    return (2 * (combined - truths))[:, None] * (combined[:, None] - forecasts)


def with_first_round(forecasts: Matrix, truths: Vector) -> tuple[Matrix, Vector, float]:
    """Return data in other units after a first round with the largest regret, and the scale of the same rule.

    The units make the regrets of a first run at most 512. The forecasts of the first round are (c, 0, 0, ...) and its
    truth is 0, with c so that its largest regret is 1,024.
    """
    largest, n_experts = float(np.sqrt(ITS_CONSTANT)), forecasts.shape[1]
    alone = regrets(forecasts, truths, ours(forecasts, truths, MLPoly(), None).weights)
    unit = np.sqrt(largest / 2 / np.abs(alone).max())
    first = np.zeros(n_experts)
    first[0] = np.sqrt(largest / (2 / n_experts * (1 - 1 / n_experts)))
    scale = float(np.sqrt(ITS_CONSTANT + largest**2))
    return np.vstack([first, forecasts * unit]), np.concatenate([[0.0], truths * unit]), scale


def compared(name: str) -> tuple[list[list[str]], list[str]]:
    """Return the rows of a data set, and what missing forecasts do to the weights."""
    data = load(name)
    forecasts, truths, scale = with_first_round(data.forecasts, data.truths)
    rows, notes = [], []
    for rule, learner in RULES.items():
        mine, other = ours(forecasts, truths, learner, scale), theirs(forecasts, truths, rule)
        sizes = np.abs(regrets(forecasts, truths, mine.weights))
        assert sizes[1:].max() <= sizes[0].max(), "the first round must have the largest regret"
        apart, ratio = float(np.abs(mine.weights - other.weights).max()), other.seconds / mine.seconds
        times = [f"{1e6 * each.seconds / len(truths):.2f}" for each in (mine, other)]
        same = rule in SAME_RULE
        target = f"{f'<= {CLOSE:g}, ' if same else ''}>= {FASTER:g}"
        fine = ratio >= FASTER and (apart <= CLOSE or not same)
        rows.append([name, f"{len(truths):,}", rule, number(apart), *times, f"{ratio:.0f}", target, verdict(fine)])
        notes += [f"{name}, {rule}, {note}" for note in with_missing(forecasts, truths, rule, scale)]
    return rows, notes


def with_missing(forecasts: Matrix, truths: Vector, rule: str, scale: float) -> list[str]:
    """Return what one missing forecast, and many, do to the weights."""
    one, many = forecasts.copy(), forecasts.copy()
    one[100, 1] = np.nan
    hidden = np.random.default_rng(SEED).random(many.shape) < MISSING
    hidden[0] = False
    many[hidden & ~hidden.all(axis=1)[:, None]] = np.nan
    notes = []
    for missing, how in (("nan", "NaN"), ("awake", "NaN, and `awake` 0"), ("zero", "0, and `awake` 0")):
        lost = _without_numbers(theirs(one, truths, rule, missing).weights)
        notes.append(f"one forecast of round 100 missing, given as {how}: NaN in {lost.sum():,} rounds of theirs")
    mine, other = ours(many, truths, RULES[rule], scale).weights, theirs(many, truths, rule, "zero").weights
    lost, mine_lost = _without_numbers(other), _without_numbers(mine)
    apart = np.abs(mine - other)[: np.argmax(lost) if lost.any() else None].max()
    notes.append(
        f"{MISSING:.0%} of the forecasts missing, given as 0 and `awake` 0: NaN in {lost.sum():,} rounds of theirs, in"
        f" {mine_lost.sum()} of ours; largest difference before: {number(apart)}"
    )
    return notes


def _without_numbers(weights: Matrix) -> Vector:
    return np.asarray(np.isnan(weights).any(axis=1))


def opera_weights(effort: Effort) -> str:  # noqa: ARG001
    """Compare the weights and the speed of ML-Poly and BOA with opera's, on real forecasts."""
    if "OPERA_PATH" not in os.environ:
        return (
            "opera's Python version is not on PyPI, so nothing was compared. OPERA_PATH must name the folders with it."
        )
    rows, notes = [], []
    try:
        for name in NAMES:
            found, about = compared(name)
            rows += found
            notes += about
    except (MissingPackage, RuntimeError, OSError) as error:
        return f"Nothing was compared: {error}"
    return f"{text_table(HEADERS, rows, left=3)}\n\n" + "\n".join(notes)
