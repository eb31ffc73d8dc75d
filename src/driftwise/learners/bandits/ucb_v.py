r"""UCB-V: optimism with radii that see the variance.

With $n_i$ plays of action $i$, $\hat\mu_i$ and $\hat v_i$ the mean and the (biased) variance of their losses, and
$E_t = \zeta \ln t$, round $t + 1$ plays

$$ \arg\min_i \hat\mu_i - \sqrt{\frac{2 \hat v_i E_t}{n_i}} - \frac{3 c E_t}{n_i} , $$

after playing every action once.

=======  ==================  =====================================================================
symbol   name in the code    meaning
=======  ==================  =====================================================================
$\zeta$  `log_scale`        how fast the confidence grows; the theory needs more than 1
$c$      `bias`              the weight of the term that guards against variances seen too small
=======  ==================  =====================================================================

It never forgets. While nothing changes its regret grows like $\sum_i (\sigma_i^2 / \Delta_i + 2) \ln T$. Algorithm 1 of
Wei, Hong and Lu (`rerun-ucbv`) has other constants and restarts.

Reference: J.-Y. Audibert, R. Munos, C. Szepesvari, "Exploration-exploitation tradeoff using variance estimates in
multi-armed bandits", Theoretical Computer Science 410 (2009).
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from driftwise.core.corners import TOO_NARROW, TOO_WIDE, Corners, NoLearning
from driftwise.core.kernel import kernel
from driftwise.core.validation import require_number
from driftwise.learners.contract import Card
from driftwise.learners.parts.index_learner import IndexLearner, IndexMemory, add, index_learner, log_level

__all__ = ["UCBV"]


class Rates(NamedTuple):
    """The parameters, as the kernels read them."""

    log_scale: float
    bias: float


@kernel
def _score(memory: IndexMemory, rates: Rates, action: int, level: float) -> float:
    n: float = memory.plays[action]
    if n <= 0.0:
        return -np.inf
    mean = memory.total[action] / n
    variance = max(0.0, memory.squares[action] / n - mean * mean)
    share = rates.log_scale * level / n
    return float(mean - np.sqrt(2.0 * variance * share) - 3.0 * rates.bias * share)


@index_learner(
    "ucb-v",
    Card(
        title="UCB-V",
        in_words="Play the action that could be best given the mean and the variance of its losses.",
        knows="nothing",
        cost="O(K)",
        bound="sum of (variance / gap + 2) ln T while nothing changes",
        reference="Audibert, Munos, Szepesvari (2009)",
    ),
    keep=add,
    level=log_level,
    score=_score,
)
@dataclass(frozen=True)
class UCBV(IndexLearner[Rates]):
    """Choose among actions whose means stay and whose noise may be small.

    >>> learner = UCBV()
    >>> learner.run(learner.start(n_actions=2), [[0.0, 1.0]] * 5)
    array([0, 1, 0, 1, 0])
    """

    log_scale: float = 1.2
    bias: float = 1.0

    corners = Corners(
        log_scale=(TOO_NARROW, TOO_WIDE),
        bias=(NoLearning(0.0, "losses that do not vary have no interval"), TOO_WIDE),
    )

    def __post_init__(self) -> None:
        require_number(self, "log_scale", lambda x: 0 < x < math.inf, "a finite number > 0")
        require_number(self, "bias", lambda x: 0 <= x < math.inf, "a finite number >= 0")

    def rates(self, n_actions: int) -> Rates:
        """Return the parameters."""
        return Rates(self.log_scale, self.bias)
