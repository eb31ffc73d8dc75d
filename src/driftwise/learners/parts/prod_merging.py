r"""Rows of experts with adjacent starts, merged as they age: about $c \log_2 (t/c)$ rows instead of $t$.

Where more than $c$ rows have one size, the two oldest of them become one of twice the size, as in exponential
histograms. For each action,

$$ w = w_1 + w_2, \qquad S = \frac{w_1 S_1 + w_2 S_2}{w_1 + w_2}, \qquad
   \eta = \min\Big\{\frac14, \sqrt{\frac{g}{1 + S}}\Big\}, $$

with $S$ the deviations, $g$ the scale of the younger row, and $w = e^{\eta G}$ throughout.
"""

from __future__ import annotations

import numpy as np

from driftwise.core.exponential_histograms import merging
from driftwise.core.kernel import kernel
from driftwise.core.vectors import assign
from driftwise.learners.parts.prod_experts import RATE_CAP, ProdExperts

__all__ = ["merge"]


@kernel
def _combine(experts: ProdExperts, older: int) -> None:
    """Write a row and the next younger one, merged, in the place of the first."""
    younger = older + 1
    scale = experts.scale[younger]
    experts.size[older] += experts.size[younger]
    experts.scale[older] = scale
    for k in range(experts.weights.size):
        one = experts.rate[older, k] * experts.potential[older, k]
        two = experts.rate[younger, k] * experts.potential[younger, k]
        log_weight = np.logaddexp(one, two)
        share = np.exp(one - log_weight)
        deviation = share * experts.deviation[older, k] + (1.0 - share) * experts.deviation[younger, k]
        rate = min(RATE_CAP, np.sqrt(scale / (1.0 + deviation)))
        experts.deviation[older, k] = deviation
        experts.rate[older, k] = rate
        experts.potential[older, k] = log_weight / rate if rate > 0.0 else 0.0  # with a single action the rate may be 0


@kernel
def _move_up(experts: ProdExperts, row: int) -> None:
    """Copy a row to the place before it."""
    experts.size[row - 1] = experts.size[row]
    experts.scale[row - 1] = experts.scale[row]
    assign(experts.potential[row - 1], experts.potential[row])
    assign(experts.deviation[row - 1], experts.deviation[row])
    assign(experts.rate[row - 1], experts.rate[row])


@kernel
def _size(experts: ProdExperts, row: int) -> int:
    return int(experts.size[row])


@kernel
def _merge_pair(experts: ProdExperts, older: int, n_rows: int) -> None:
    _combine(experts, older)
    for row in range(older + 2, n_rows):
        _move_up(experts, row)


_merge_rows = merging("prod-experts", _size, _merge_pair)


@kernel
def merge(experts: ProdExperts, resolution: int) -> None:
    """Merge rows until no size has more than `resolution` of them, the smallest sizes first."""
    experts.awake[0] = _merge_rows(experts, experts.awake[0], resolution)
