r"""The arithmetic that Algorithms 3 and 4 share: rows of experts with a learning rate each.

Row $s$ holds one expert $(s, k)$ per action $k$; Algorithm 3 has a single row. By induction on eq. (w_t),

$$ \ln w_{t,(s,k)} = \eta_{t,(s,k)}\, G_{t,(s,k)}, \qquad G_t = G_{t-1} + r_t - \eta_{t-1} (r_t - m_t)^2, $$

so only the potential $G$ is stored, and nothing under- or overflows. The play needs
$\alpha = \langle p(\alpha), h \rangle$, with $h$ the guess of the coming losses and
$p_{(s,k)}(\alpha) \propto \eta e^{\eta (G + \alpha - h_k)}$. Its right side moves with slope
$\mathrm{Cov}_p(\eta, h) \le 1/16$, so Newton's method converges from anywhere; the guess of the regret is then
$m_k = \alpha - h_k$ with that very $\alpha$, for which the regret lemma holds even before full convergence.
"""

from __future__ import annotations

from typing import Annotated, NamedTuple

import numpy as np

from driftwise.core.kernel import kernel
from driftwise.core.memory_fields import HUGE, between, distribution, scratch, within
from driftwise.core.types import Actions, Matrix, Vector

__all__ = ["ProdExperts", "absorb", "experts_contradiction", "new_experts", "solve", "wake"]

RATE_CAP = 0.25
_CLOSE = 1e-12
_MOST_STEPS = 8  # four were the most ever seen


class ProdExperts(NamedTuple):
    """The experts' memory; matrices are (rows, n_actions), and only the first `awake` rows count."""

    weights: Annotated[Vector, distribution("actions")]  # the next play
    guess: Annotated[Vector, between(0, 1, "actions")]  # h, the losses expected next
    alpha: Annotated[Vector, between(0, 1, 1)]  # the loss of the play under the guess
    awake: Annotated[Actions, between(1, "woken", 2)]  # rows in use, and rows that ever woke
    size: Annotated[Actions, between(0, "woken", "rows")]  # of how many that woke a row is made
    scale: Annotated[Vector, between(0, "most_scale", "rows")]  # the constant under the root of the learning rate
    potential: Annotated[Matrix, between(-HUGE, HUGE, "rows", "actions")]  # G
    deviation: Annotated[Matrix, between(0, HUGE, "rows", "actions")]  # the sum of (r - m)^2
    rate: Annotated[Matrix, between(0, RATE_CAP, "rows", "actions")]  # eta
    tilt: Annotated[Matrix, scratch("rows", "actions")]  # the exponents, but for alpha
    mass: Annotated[Vector, scratch("actions")]  # column sums


def new_experts(n_rows: int, n_actions: int) -> ProdExperts:
    """Return room for `n_rows` rows, none awake, playing uniform weights."""
    rows = (n_rows, n_actions)
    return ProdExperts(
        weights=np.full(n_actions, 1.0 / n_actions),
        guess=np.zeros(n_actions),
        alpha=np.zeros(1),
        awake=np.zeros(2, np.int64),
        size=np.zeros(n_rows, np.int64),
        scale=np.zeros(n_rows),
        potential=np.zeros(rows),
        deviation=np.zeros(rows),
        rate=np.zeros(rows),
        tilt=np.zeros(rows),
        mass=np.zeros(n_actions),
    )


def experts_contradiction(experts: ProdExperts, rounds: int) -> str:
    """Return a rule that the awake rows break after `rounds`, '' where they break none."""
    rows = slice(int(experts.awake[0]))
    deviation, rate = experts.deviation[rows], experts.rate[rows]
    least_scale = experts.scale[rows].min()
    if least_scale < 0.0 or (least_scale == 0.0 and experts.weights.size > 1):
        return "`scale` must be > 0"
    if not within(deviation, 0.0, 4.0 * rounds):
        return f"`deviation` must be in [0, {4 * rounds}]"
    if not np.allclose(rate, np.minimum(RATE_CAP, np.sqrt(experts.scale[rows, None] / (1.0 + deviation))), 1e-9, 0.0):
        return "`rate` must follow from `scale` and `deviation`"
    # Regrets are at most 1 and a first logarithm is at most ln(2^124); merging adds little.
    if not within(rate * experts.potential[rows], -(rounds + 200.0), rounds + 200.0):
        return f"`rate` times `potential` must be in [-{rounds + 200}, {rounds + 200}]"
    return ""


@kernel
def wake(experts: ProdExperts, scale: float, potential: float) -> None:
    """Start one more row."""
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
    """Find alpha and the next play for the present guess."""
    weights, guess, rate, tilt, mass = (
        experts.weights,
        experts.guess,
        experts.rate,
        experts.tilt,
        experts.mass,
    )
    n_actions = weights.size
    n_rows = experts.awake[0]
    if n_actions == 1:  # nothing to decide, and ln K = 0 leaves no rate
        experts.alpha[0] = guess[0]
        return
    top = -np.inf
    for s in range(n_rows):
        for k in range(n_actions):
            tilt[s, k] = rate[s, k] * (experts.potential[s, k] - guess[k])
            top = tilt[s, k] if tilt[s, k] > top else top
    alpha = 0.0
    for k in range(n_actions):
        alpha += weights[k] * guess[k]  # a start near the root: plays move slowly
    total = 1.0
    for _ in range(_MOST_STEPS):
        total = 0.0
        mean_rate = 0.0
        for k in range(n_actions):
            mass[k] = 0.0
        both = 0.0
        for s in range(n_rows):
            for k in range(n_actions):
                share = rate[s, k] * np.exp(tilt[s, k] - top + rate[s, k] * alpha)
                mass[k] += share
                total += share
                mean_rate += share * rate[s, k]
                both += share * rate[s, k] * guess[k]
        found = 0.0
        for k in range(n_actions):
            found += mass[k] * guess[k]
        found /= total
        slope = (both - mean_rate * found) / total
        step = (alpha - found) / (1.0 - slope)
        if abs(step) <= _CLOSE:
            break
        alpha -= step
    experts.alpha[0] = alpha
    for k in range(n_actions):
        weights[k] = mass[k] / total


@kernel
def absorb(experts: ProdExperts, losses: Vector) -> None:
    """Take in the losses of the round just played."""
    weights = experts.weights
    suffered = 0.0
    for k in range(weights.size):
        suffered += weights[k] * losses[k]
    alpha = experts.alpha[0]
    for s in range(experts.awake[0]):
        scale = experts.scale[s]
        for k in range(weights.size):
            regret = suffered - losses[k]
            surprise = regret - (alpha - experts.guess[k])
            squared = surprise * surprise
            experts.potential[s, k] += regret - experts.rate[s, k] * squared
            experts.deviation[s, k] += squared
            rate = np.sqrt(scale / (1.0 + experts.deviation[s, k]))
            experts.rate[s, k] = rate if rate < RATE_CAP else RATE_CAP
