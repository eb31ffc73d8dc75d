r"""Rows of experts with a learning rate each: the arithmetic of Algorithms 3 and 4 of Wei, Hong and Lu (2016).

Row $s$ has one expert $(s, k)$ per action $k$; Algorithm 3 has a single row. By induction on eq. (5),

$$ \ln w_{t,(s,k)} = \eta_{t,(s,k)}\, G_{t,(s,k)}, \qquad G_t = G_{t-1} + r_t - \eta_{t-1} (r_t - m_t)^2, $$

so only the potential $G$ is stored, and nothing under- or overflows. The weights need the solution of
$\alpha = \langle p(\alpha), h \rangle$, with $h$ the guess of the next losses and
$p_{(s,k)}(\alpha) \propto \eta e^{\eta (G + \alpha - h_k)}$. The right side has the slope
$\mathrm{Cov}_p(\eta, h) \le 1/16$ in $\alpha$, so Newton's method converges from any start. The guess of the regret is
then $m_k = \alpha - h_k$ with the $\alpha$ found; the regret lemma holds for it even before full convergence.
"""

from __future__ import annotations

from typing import Annotated, NamedTuple

import numpy as np

from driftwise.core.kernel import kernel
from driftwise.core.memory_fields import HUGE, between, distribution, scratch, within
from driftwise.core.types import Actions, Matrix, Vector

__all__ = ["ProdExperts", "absorb", "experts_contradiction", "new_experts", "row_shares", "solve", "wake"]

RATE_CAP = 0.25
_CLOSE = 1e-12  # the last step of Newton's method
_MOST_STEPS = 8  # four were the most observed


class ProdExperts(NamedTuple):
    """State of the learner between rounds; matrices are (rows, n_actions), the first `awake` rows in use."""

    weights: Annotated[Vector, distribution("actions")]  # of the next round
    guess: Annotated[Vector, between(0, 1, "actions")]  # h, of the next losses
    guessed_loss: Annotated[Vector, between(0, 1, 1)]  # alpha, the loss of the weights under the guess
    awake: Annotated[Actions, between(1, "woken", 2)]  # rows in use, and rows ever started
    size: Annotated[Actions, between(0, "woken", "rows")]  # how many started rows are merged into a row
    scale: Annotated[Vector, between(0, "most_scale", "rows")]  # the constant under the root of the learning rate
    potential: Annotated[Matrix, between(-HUGE, HUGE, "rows", "actions")]  # G
    deviation: Annotated[Matrix, between(0, HUGE, "rows", "actions")]  # the sum of (r - m)^2
    rate: Annotated[Matrix, between(0, RATE_CAP, "rows", "actions")]  # eta
    exponents: Annotated[Matrix, scratch("rows", "actions")]  # eta (G - h), without the term of alpha
    action_weights: Annotated[Vector, scratch("actions")]  # sums over the rows, before normalising


def new_experts(n_rows: int, n_actions: int) -> ProdExperts:
    """Return a memory for `n_rows` rows, none awake, with uniform weights."""
    rows = (n_rows, n_actions)
    return ProdExperts(
        weights=np.full(n_actions, 1.0 / n_actions),
        guess=np.zeros(n_actions),
        guessed_loss=np.zeros(1),
        awake=np.zeros(2, np.int64),
        size=np.zeros(n_rows, np.int64),
        scale=np.zeros(n_rows),
        potential=np.zeros(rows),
        deviation=np.zeros(rows),
        rate=np.zeros(rows),
        exponents=np.zeros(rows),
        action_weights=np.zeros(n_actions),
    )


def row_shares(experts: ProdExperts) -> Vector:
    """Return the weights of the awake rows in the next round, each a sum over its experts, the largest near 1."""
    rows = slice(int(experts.awake[0]))
    rate = experts.rate[rows]
    exponents = rate * (experts.potential[rows] - experts.guess + experts.guessed_loss[0])
    shares: Vector = (rate * np.exp(exponents - exponents.max())).sum(axis=1)
    return shares


def experts_contradiction(experts: ProdExperts, rounds: int) -> str:
    """Return the fault of the awake rows after `rounds`, '' if there is none."""
    rows = slice(int(experts.awake[0]))
    deviation, rate = experts.deviation[rows], experts.rate[rows]
    least_scale = experts.scale[rows].min()
    if least_scale < 0.0 or (least_scale == 0.0 and experts.weights.size > 1):
        return "`scale` must be > 0"
    if not within(deviation, 0.0, 4.0 * rounds):
        return f"`deviation` must be in [0, {4 * rounds}]"
    if not np.allclose(rate, np.minimum(RATE_CAP, np.sqrt(experts.scale[rows, None] / (1.0 + deviation))), 1e-9, 0.0):
        return "`rate` must follow from `scale` and `deviation`"
    # Regrets are at most 1, the first logarithm of a weight is at most ln(2^124), and merging adds little.
    if not within(rate * experts.potential[rows], -(rounds + 200.0), rounds + 200.0):
        return f"`rate` times `potential` must be in [-{rounds + 200}, {rounds + 200}]"
    return ""


@kernel
def wake(experts: ProdExperts, scale: float, potential: float) -> None:
    """Start a row."""
    row = experts.awake[0]
    experts.awake[0] = row + 1
    experts.awake[1] += 1
    experts.size[row] = 1
    experts.scale[row] = scale
    for k in range(experts.weights.size):
        experts.potential[row, k] = potential
        experts.deviation[row, k] = 0.0
        experts.rate[row, k] = min(RATE_CAP, np.sqrt(scale))


@kernel
def solve(experts: ProdExperts) -> None:
    """Write the loss under the guess and the next weights."""
    weights, guess, rate = experts.weights, experts.guess, experts.rate
    exponents, action_weights = experts.exponents, experts.action_weights
    n_actions = weights.size
    n_rows = experts.awake[0]
    if n_actions == 1:  # the weight is 1, and with ln K = 0 the rate is 0
        experts.guessed_loss[0] = guess[0]
        return
    top = -np.inf
    for s in range(n_rows):
        for k in range(n_actions):
            exponents[s, k] = rate[s, k] * (experts.potential[s, k] - guess[k])
            top = exponents[s, k] if exponents[s, k] > top else top
    guessed_loss = 0.0
    for k in range(n_actions):
        guessed_loss += weights[k] * guess[k]  # a start near the root: weights change slowly
    total = 1.0
    for _ in range(_MOST_STEPS):
        total = 0.0
        mean_rate = 0.0
        for k in range(n_actions):
            action_weights[k] = 0.0
        mean_product = 0.0
        for s in range(n_rows):
            for k in range(n_actions):
                share = rate[s, k] * np.exp(exponents[s, k] - top + rate[s, k] * guessed_loss)
                action_weights[k] += share
                total += share
                mean_rate += share * rate[s, k]
                mean_product += share * rate[s, k] * guess[k]
        found = 0.0
        for k in range(n_actions):
            found += action_weights[k] * guess[k]
        found /= total
        slope = (mean_product - mean_rate * found) / total
        step = (guessed_loss - found) / (1.0 - slope)
        if abs(step) <= _CLOSE:
            break
        guessed_loss -= step
    experts.guessed_loss[0] = guessed_loss
    for k in range(n_actions):
        weights[k] = action_weights[k] / total


@kernel
def absorb(experts: ProdExperts, losses: Vector) -> None:
    """Update the awake rows with the losses of the round."""
    weights = experts.weights
    loss = 0.0
    for k in range(weights.size):
        loss += weights[k] * losses[k]
    guessed_loss = experts.guessed_loss[0]
    for s in range(experts.awake[0]):
        scale = experts.scale[s]
        for k in range(weights.size):
            regret = loss - losses[k]
            error = regret - (guessed_loss - experts.guess[k])
            squared = error * error
            experts.potential[s, k] += regret - experts.rate[s, k] * squared
            experts.deviation[s, k] += squared
            rate = np.sqrt(scale / (1.0 + experts.deviation[s, k]))
            experts.rate[s, k] = rate if rate < RATE_CAP else RATE_CAP
