r"""Regret bounds of `Tracker` on every realised path: that of its rule plus that of its best base.

The rule is AdaHedge with a prior over the bases; `code_length` is $H$, the largest $\ln(1/\pi_i)$. The bases with a
bound are Fixed Share and its optimistic form on scaled losses; `pairs` are their rates $(\eta, \alpha)$. `switches` is
the number $m$ of switches of the comparator, a sequence of actions. `docs/decisions.md` and
`driftwise.learners.meta.tracker` have the derivations.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np

from driftwise.core.types import Matrix
from driftwise.theory.fixed_share_bounds import code_length as comparator_length

__all__ = ["base", "rule", "rule_worst", "tracker", "tracker_worst"]

Pairs = Sequence[tuple[float, float]]


def rule(losses: Matrix, code_length: float) -> float:
    r"""Bound the regret against every base: $\sqrt{H \sum_t r_t^2} + 2 (\frac23 H + 1)\, b_T$.

    It is twice the bound on the mixability gap, with $r_t$ the range of $\ell_t$, which is also the largest possible
    range of the bases' losses, so that their variance is at most $r_t^2 / 4$; $b_T = \max_t r_t$.
    """
    ranges = np.ptp(losses, axis=1)
    return math.sqrt(code_length * float((ranges**2).sum())) + 2 * (2 / 3 * code_length + 1) * float(ranges.max())


def rule_worst(n_rounds: int, code_length: float) -> float:
    r"""Bound `rule` for losses in $[0, 1]$: $\sqrt{H T} + 2 (\frac23 H + 1)$."""
    return math.sqrt(code_length * n_rounds) + 2 * (2 / 3 * code_length + 1)


def base(losses: Matrix, switches: int, pair: tuple[float, float], hints: Matrix | None = None) -> float:
    r"""Bound the better form of Fixed Share with the rates $(\eta, \alpha)$ on scaled losses.

    $$ \frac1\eta \Big[b_T\, C(m) + (b_T - b_1) \ln\frac1\alpha\Big] + \frac\eta8 \sum_t b_t\, d_t^2 $$

    with $b_t$ the largest range up to round $t$ ($b_1$ is the first that is not 0), $C(m)$ as in
    `driftwise.theory.fixed_share_bounds`, and $d_t$ the range of $z_t = (\ell_t - \min \ell_t)/b_t$ for Fixed Share, or
    of $z_t - g_t$ for its optimistic form, whichever sum is smaller. The guess $g_t$ is $z_{t-1}$ ($z_0 = 0$), or the
    hint $h_t$: $(h_t - \min h_t)/\max(b_{t-1}, \text{range of } h_t)$.
    """
    (rate, switch_rate), (n_rounds, n_actions) = pair, losses.shape
    ranges = np.maximum.accumulate(np.ptp(losses, axis=1))
    if ranges[-1] == 0.0:
        return 0.0
    scaled = _scaled(losses, ranges)
    if hints is None:
        guesses = np.concatenate([np.zeros((1, n_actions)), scaled[:-1]])
    else:
        guesses = _scaled(hints, np.maximum(np.concatenate([[0.0], ranges[:-1]]), np.ptp(hints, axis=1)))
    spread = min(float((ranges * np.ptp(moved, axis=1) ** 2).sum()) for moved in (scaled, scaled - guesses))
    length = comparator_length(n_actions, n_rounds, switches, switch_rate)
    growth = float(ranges[-1] - ranges[ranges > 0.0][0])
    return (float(ranges[-1]) * length - growth * math.log(switch_rate)) / rate + rate / 8 * spread


def tracker(losses: Matrix, switches: int, code_length: float, pairs: Pairs, hints: Matrix | None = None) -> float:
    """Bound the regret against every sequence with so many switches: that of the rule plus that of the best base."""
    return rule(losses, code_length) + min(base(losses, switches, pair, hints) for pair in pairs)


def tracker_worst(n_actions: int, n_rounds: int, switches: int, code_length: float, pairs: Pairs) -> float:
    r"""Bound `tracker` for losses in $[0, 1]$, and by $T$: $b_T = 1$, $b_1 = 0$ and $d_t = 1$ (Fixed Share)."""
    if n_actions == 1:
        return 0.0
    best = min(
        (comparator_length(n_actions, n_rounds, switches, alpha) - math.log(alpha)) / eta + eta / 8 * n_rounds
        for eta, alpha in pairs
    )
    return min(n_rounds, rule_worst(n_rounds, code_length) + best)


def _scaled(values: Matrix, ranges: Matrix) -> Matrix:
    """Return the values above the least of their round, divided by the ranges; 0 where the range is 0."""
    scaled: Matrix = (values - values.min(axis=1, keepdims=True)) / np.where(ranges > 0.0, ranges, 1.0)[:, None]
    return scaled
