r"""Rows of experts of like age, merged as they grow old: about $c \log_2 (t/c)$ rows instead of $t$.

Where more than $c$ rows have one size, the two oldest of them become one of twice the size. For each action,

$$ w = w_1 + w_2, \qquad S = \frac{w_1 S_1 + w_2 S_2}{w_1 + w_2}, \qquad
   \eta = \min\Big\{\frac14, \sqrt{\frac{g}{1 + S}}\Big\}, $$

with $S$ the deviations, $g$ the scale of the younger row, and $w = e^{\eta G}$ throughout.
"""

from __future__ import annotations

import numpy as np

from driftwise.core.kernel import kernel
from driftwise.learners.parts.prod_experts import RATE_CAP, ProdExperts

__all__ = ["merge"]


@kernel
def _merge_pair(experts: ProdExperts, older: int) -> None:
    """Merge a row and the next younger one into its place."""
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
        experts.potential[older, k] = log_weight / rate if rate > 0.0 else 0.0  # a lone action may have no rate


@kernel
def _move_up(experts: ProdExperts, row: int) -> None:
    """Move a row one place towards the old."""
    experts.size[row - 1], experts.scale[row - 1] = experts.size[row], experts.scale[row]
    for k in range(experts.weights.size):
        experts.potential[row - 1, k] = experts.potential[row, k]
        experts.deviation[row - 1, k] = experts.deviation[row, k]
        experts.rate[row - 1, k] = experts.rate[row, k]


@kernel
def merge(experts: ProdExperts, resolution: int) -> None:
    """Let no size have more than `resolution` rows, from the youngest up."""
    last = experts.awake[0] - 1
    size = 1
    while True:
        first = last
        while first >= 0 and experts.size[first] == size:
            first -= 1
        if last - first <= resolution:
            return
        _merge_pair(experts, first + 1)
        for row in range(first + 3, experts.awake[0]):
            _move_up(experts, row)
        experts.awake[0] -= 1
        last = first + 1
        size *= 2
