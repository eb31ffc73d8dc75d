r"""Regret bounds of `Tracker` on every realised path: that of its rule plus that of its best base.

The rule is AdaHedge with a prior over the bases; `code_length` is $H$, the largest $\ln(1/\pi_i)$. The bases with a
bound are Fixed Share and its optimistic form on scaled losses; `pairs` are their rates $(\eta, \alpha)$, and
`slow_scales` the scales $c$ of the slow rates $(c/\sqrt t, 1/(t+1))$. `switches` is the number $m$ of switches of the
comparator, a sequence of actions. `driftwise.learners.experts.ada_hedge` and `driftwise.learners.meta.tracker` have the
derivations.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from driftwise.core.types import Matrix, Vector
from driftwise.theory.fixed_share_bounds import code_length as comparator_length

Pairs = Sequence[tuple[float, float]]
_NARROW_SHARE = 0.75  # of all rounds: if so many, the latest, are narrow, Tracker starts anew


class Part(NamedTuple):
    """Consecutive rounds in which Tracker does not start anew."""

    first: int  # round, from 0
    losses: Matrix  # as they are learned
    cut_off: float  # sum of what the ranges of wide rounds lost


def parts(losses: Matrix, wide: float) -> list[Part]:
    """Return the parts of the rounds between which `Tracker` starts anew, with the losses as they are learned.

    A round is wide if its range is more than `wide` times the largest range before in its part. Round t, counted from
    the first of the part whose losses differ, is cut to that range if it is among the first log2(t + 1) wide ones. A
    round is narrow if its range times `wide` is at most the largest. A part ends when the latest rounds, three quarters
    of all since losses first differed, are narrow and not all equal. The regret in a part is at most that on the losses
    as they are learned plus what was cut off.
    """
    ended: list[Part] = []
    first, lasted, largest, counted = 0, 0, 0.0, 0
    rows: list[Vector] = []
    cuts: list[float] = []
    narrow: list[float] = []  # ranges of the latest rounds
    for t, row in enumerate(losses):
        low, width = float(row.min()), float(np.ptp(row))
        if 0.0 < wide * largest < width and len(cuts) + 1 <= math.log2(counted + 2):
            cuts.append(width - largest)
            width = largest
        rows.append(np.minimum(row, low + width))
        largest = max(largest, width)
        counted, lasted = counted + (largest > 0.0), lasted + (lasted > 0 or largest > 0.0)
        narrow = [*narrow, width] if largest > 0.0 and width * wide <= largest else []
        if any(narrow) and len(narrow) >= _NARROW_SHARE * lasted:
            ended.append(Part(first, np.array(rows), sum(cuts)))
            first, rows, largest, counted, cuts, narrow = t + 1, [], 0.0, 0, [], []
    return [*ended, Part(first, np.array(rows), sum(cuts))] if rows else ended


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


def slow_base(losses: Matrix, switches: int, scale: float, hints: Matrix | None = None) -> float:
    r"""Bound the better form of Fixed Share with the slow rates $\eta_t = c/\sqrt t$, $\alpha_t = 1/(t+1)$.

    $$ \frac{b_T \sqrt T}c\, [(m + 1) \ln(K T) + \ln T] + \frac c8 \sum_t \frac{b_t\, d_t^2}{\sqrt t} $$

    `scale` is $c$; $T$ and $t$ count the rounds since the first whose losses differ. The proof is that of `base`
    with $b_t/\eta_t$, which does not decrease, in place of $b_t$: $-\ln x_{t,k} \le \ln(K t)$, and sharing costs
    $\sum_{t < T} \ln\frac{t+1}{t} = \ln T$.
    """
    ranges, spreads = _ranges_and_spreads(losses, hints)
    if ranges[-1] == 0.0:
        return 0.0
    first = int((ranges > 0.0).argmax())
    n_rounds, n_actions = len(losses) - first, losses.shape[1]
    roots = np.sqrt(np.arange(1.0, n_rounds + 1.0))
    spread = min(float((spread[first:] / roots).sum()) for spread in spreads)
    return float(ranges[-1]) * _slow_length(n_actions, n_rounds, switches) / scale + scale / 8 * spread


def _slow_length(n_actions: int, n_rounds: int, switches: int) -> float:
    return math.sqrt(n_rounds) * ((switches + 1) * math.log(n_actions * n_rounds) + math.log(n_rounds))


def tracker(
    losses: Matrix,
    switches: int,
    code_length: float,
    pairs: Pairs,
    slow_scales: Sequence[float],
    wide: float = math.inf,
    hints: Matrix | None = None,
) -> float:
    """Bound the regret against every sequence with so many switches: that of the rule plus that of the best base.

    They are added over the `parts` of the rounds, each with so many switches, with what was cut off.
    """
    total = 0.0
    for first, learned, cut_off in parts(losses, wide):
        guesses = None if hints is None else hints[first : first + len(learned)]
        most = min(switches, len(learned) - 1)
        slow = [slow_base(learned, most, scale, guesses) for scale in slow_scales]
        best = min(*slow, *(base(learned, most, pair, guesses) for pair in pairs))
        total += rule(learned, code_length) + best + cut_off
    return total


def tracker_worst(
    n_actions: int,
    n_rounds: int,
    switches: int,
    code_length: float,
    pairs: Pairs,
    slow_scales: Sequence[float],
    wide: float = math.inf,
) -> float:
    r"""Bound `tracker` for losses in $[0, 1]$, and by $T$: $b_T = 1$, $b_1 = 0$ and $d_t = 1$ (Fixed Share).

    In a part of $n$ rounds at most $\log_2(n + 1)$ wide ones are cut, each by at most 1. With a finite `wide` this is
    the largest sum over parts: the last has at most $T$ rounds, the one before it ended in a round up to $T$, the one
    before that in one up to $T/4$, and so on: about 3 times the bound of a single part, which holds where Tracker does
    not start anew.

    With the slow rates of scale $c$ it is $\sqrt T\, (A/c + c/4)$ with $A = (m + 1) \ln(K T) + \ln T$, so the regret
    grows more slowly than $T$ against every number of switches. With $c = 2 r \sqrt A$ this is $\frac12 (r + \frac1r)
    \sqrt{T A}$. If neighbouring scales have the ratio 4, one has $\frac12 \le r \le 2$, unless $2 \sqrt A$ is below
    half the smallest or above twice the largest: the least is at most $1.25 \sqrt{T A}$.
    """
    if n_actions == 1:
        return 0.0
    lengths = [n_rounds]
    while wide < math.inf and lengths[-1] >= 1:
        lengths.append(n_rounds // 4 ** (len(lengths) - 1))
    cuts = wide < math.inf
    total = sum(_part_worst(n_actions, n, switches, code_length, pairs, slow_scales, cuts) for n in lengths if n)
    return min(n_rounds, total)


def _part_worst(
    n_actions: int,
    n_rounds: int,
    switches: int,
    code_length: float,
    pairs: Pairs,
    slow_scales: Sequence[float],
    cuts: bool,
) -> float:
    """Bound the regret in a part of so many rounds."""
    switches = min(switches, n_rounds - 1)
    length = _slow_length(n_actions, n_rounds, switches)
    slow = [length / scale + scale / 4 * math.sqrt(n_rounds) for scale in slow_scales]
    fixed = [
        (comparator_length(n_actions, n_rounds, switches, alpha) - math.log(alpha)) / eta + eta / 8 * n_rounds
        for eta, alpha in pairs
    ]
    cut_off = math.log2(n_rounds + 1) if cuts else 0.0
    return min(n_rounds, rule_worst(n_rounds, code_length) + min(*slow, *fixed) + cut_off)


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
