"""Whether AdaHedgeD of `forecast_rivals.py` has the weights of the package poold (Flaspohler et al., 2021).

    pip install poold                                   # 0.0.5, with scipy, seaborn and pandas
    python benchmarks/poold_check.py
    POOLD_PATH=FOLDER python benchmarks/poold_check.py  # poold is in a site-packages folder of another environment

Both get the same gradients, 300 rounds for each delay, number of experts and kind of gradients, without a hint. It
prints the largest difference of a weight, and ends with an error if one is above 1e-9. The last line has how much the
weights of each change if all gradients are multiplied by 1e-10: poold takes temperatures up to 1e-8 as 0.
"""

from __future__ import annotations

import os
import sys

import numpy as np
from forecast_rivals import AdaHedgeD

from driftwise.core.types import Matrix

N_ROUNDS, MOST = 300, 1e-9
KINDS = ("normal", "uniform in [0, 1]", "scales that change")


def gradients_of(kind: str, n_experts: int, seed: int) -> Matrix:
    """Return random gradients, one row for each round."""
    rng = np.random.default_rng([seed, n_experts])
    if kind == "uniform in [0, 1]":
        return rng.random((N_ROUNDS, n_experts))
    rows = rng.normal(size=(N_ROUNDS, n_experts)) + rng.normal(size=n_experts)
    return rows * 10.0 ** rng.integers(-2, 3, (N_ROUNDS, 1)) if kind == "scales that change" else rows


def ours(gradients: Matrix, delay: int) -> Matrix:
    """Return the weights of every round."""
    rule, played = AdaHedgeD(np.array([delay]), gradients.shape[1]), np.empty_like(gradients)
    for t in range(len(gradients)):
        played[t] = rule.weights[0, 0]
        known = gradients[max(t - delay, 0)] * (t >= delay)
        rule.learn(-known[None, None, :], np.array([t - delay]))
    return played


def of_package(gradients: Matrix, delay: int) -> Matrix:
    """Return the weights of every round: the gradient of round t is known before round t + delay + 1."""
    import poold

    learner = poold.create("adahedged", model_list=[str(k) for k in range(gradients.shape[1])])
    played = np.empty_like(gradients)
    for t in range(len(gradients)):
        s = t - delay - 1
        row = gradients[max(s, 0)]
        loss = {"fun": lambda w, row=row: float(row @ w), "grad": lambda w, row=row: row}  # noqa: ARG005
        played[t] = learner.update_and_play([(s, loss)] if s >= 0 else [], hint=None)
    return played


def main() -> None:
    """Print the differences."""
    if folder := os.environ.get("POOLD_PATH"):
        sys.path.append(folder)
    largest = 0.0
    for kind in KINDS:
        for n_experts in (2, 5, 20):
            for delay in (0, 7):
                gradients = gradients_of(kind, n_experts, seed=delay)
                difference = float(np.abs(ours(gradients, delay) - of_package(gradients, delay)).max())
                print(f"{kind}, {n_experts} experts, late by {delay}: {difference:.1e}")
                largest = max(largest, difference)
    gradients = gradients_of("normal", 5, seed=0)
    moved = [float(np.abs(play(1e-10 * gradients, 0) - play(gradients, 0)).max()) for play in (of_package, ours)]
    print(f"gradients times 1e-10: weights of poold change by {moved[0]:.1e}, ours by {moved[1]:.1e}")
    if largest > MOST:
        sys.exit(f"the largest difference, {largest:.1e}, is above {MOST:g}")


if __name__ == "__main__":
    main()
