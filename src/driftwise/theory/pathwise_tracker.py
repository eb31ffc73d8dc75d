r"""Regret bounds of `Tracker` on every realised path: that of its rule plus that of its best base.

The rule is AdaHedge with a prior over the bases; `code_length` is $H$, the largest $\ln(1/\pi_i)$. The bases with a
bound are Fixed Share and its optimistic form on scaled losses; `pairs` are their rates $(\eta, \alpha)$. `switches` is
the number $m$ of switches of the comparator, a sequence of actions. `driftwise.learners.experts.ada_hedge`
and `driftwise.learners.meta.tracker` have the derivations.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np

from driftwise.core.types import Matrix, Vector
from driftwise.theory.fixed_share_bounds import code_length as comparator_length

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
    ranges, spreads = _ranges_and_spreads(losses, hints)
    if ranges[-1] == 0.0:
        return 0.0
    length = comparator_length(n_actions, n_rounds, switches, switch_rate)
    growth = float(ranges[-1] - ranges[ranges > 0.0][0])
    spread = min(float(spread.sum()) for spread in spreads)
    return (float(ranges[-1]) * length - growth * math.log(switch_rate)) / rate + rate / 8 * spread


def slow_base(losses: Matrix, switches: int, hints: Matrix | None = None) -> float:
    r"""Bound the better form of Fixed Share with the slow rates $\eta_t = 1/\sqrt t$, $\alpha_t = 1/(t+1)$.

    $$ b_T \sqrt T\, [(m + 1) \ln(K T) + \ln T] + \frac18 \sum_t \frac{b_t\, d_t^2}{\sqrt t} $$

    $T$ and $t$ count the rounds since the first whose losses differ. The proof is that of `base` with $b_t/\eta_t$,
    which does not decrease, in place of $b_t$: $-\ln x_{t,k} \le \ln(K t)$, and sharing costs
    $\sum_{t < T} \ln\frac{t+1}{t} = \ln T$.
    """
    ranges, spreads = _ranges_and_spreads(losses, hints)
    if ranges[-1] == 0.0:
        return 0.0
    first = int((ranges > 0.0).argmax())
    n_rounds, n_actions = len(losses) - first, losses.shape[1]
    roots = np.sqrt(np.arange(1.0, n_rounds + 1.0))
    spread = min(float((spread[first:] / roots).sum()) for spread in spreads)
    return float(ranges[-1]) * _slow_length(n_actions, n_rounds, switches) + spread / 8


def _slow_length(n_actions: int, n_rounds: int, switches: int) -> float:
    return math.sqrt(n_rounds) * ((switches + 1) * math.log(n_actions * n_rounds) + math.log(n_rounds))


def tracker(losses: Matrix, switches: int, code_length: float, pairs: Pairs, hints: Matrix | None = None) -> float:
    """Bound the regret against every sequence with so many switches: that of the rule plus that of the best base."""
    bases = [slow_base(losses, switches, hints), *(base(losses, switches, pair, hints) for pair in pairs)]
    return rule(losses, code_length) + min(bases)


def tracker_worst(n_actions: int, n_rounds: int, switches: int, code_length: float, pairs: Pairs) -> float:
    r"""Bound `tracker` for losses in $[0, 1]$, and by $T$: $b_T = 1$, $b_1 = 0$ and $d_t = 1$ (Fixed Share).

    With the slow rates it is $\sqrt T\, [(m + 1) \ln(K T) + \ln T + \frac14]$, so the regret grows more slowly than
    $T$ against every number of switches.
    """
    if n_actions == 1:
        return 0.0
    slow = _slow_length(n_actions, n_rounds, switches) + math.sqrt(n_rounds) / 4
    fixed = [
        (comparator_length(n_actions, n_rounds, switches, alpha) - math.log(alpha)) / eta + eta / 8 * n_rounds
        for eta, alpha in pairs
    ]
    return min(n_rounds, rule_worst(n_rounds, code_length) + min(slow, *fixed))


def _ranges_and_spreads(losses: Matrix, hints: Matrix | None) -> tuple[Vector, tuple[Vector, Vector]]:
    r"""Return $b_t$, and $b_t d_t^2$ for Fixed Share and for its optimistic form."""
    ranges: Vector = np.maximum.accumulate(np.ptp(losses, axis=1))
    scaled = _scaled(losses, ranges)
    if hints is None:
        guesses = np.concatenate([np.zeros((1, losses.shape[1])), scaled[:-1]])
    else:
        guesses = _scaled(hints, np.maximum(np.concatenate([[0.0], ranges[:-1]]), np.ptp(hints, axis=1)))
    plain, optimistic = (ranges * np.ptp(moved, axis=1) ** 2 for moved in (scaled, scaled - guesses))
    return ranges, (plain, optimistic)


def _scaled(values: Matrix, ranges: Vector) -> Matrix:
    """Return the values above the least of their round, divided by the ranges; 0 where the range is 0."""
    scaled: Matrix = (values - values.min(axis=1, keepdims=True)) / np.where(ranges > 0.0, ranges, 1.0)[:, None]
    return scaled
