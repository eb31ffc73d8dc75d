"""UCB-V.

Algorithm 1 of Wei, Hong and Lu (`rerun-ucbv`) has other constants and restarts.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import NamedTuple

import numpy as np

from driftwise.core.corners import TOO_NARROW, TOO_WIDE, Corners, NoLearning
from driftwise.core.kernel import kernel
from driftwise.core.validation import NOT_NEGATIVE, POSITIVE, Domains
from driftwise.learners.base import Beliefs, State
from driftwise.learners.shared.index_learner import IndexLearner, IndexMemory, indexed


class Rates(NamedTuple):
    """Parameters as the kernels take them."""

    log_scale: float
    bias: float


@kernel
def _score(memory: IndexMemory, rates: Rates, action: int, level: float) -> float:
    n: float = memory.plays[action]
    if n <= 0.0:
        return -np.inf
    mean = memory.total[action] / n
    variance = max(0.0, memory.squares[action] / n - mean * mean)
    level_per_play = rates.log_scale * level / n
    return float(mean - np.sqrt(2.0 * variance * level_per_play) - 3.0 * rates.bias * level_per_play)


@indexed("ucb-v", score=_score)
@dataclass(frozen=True)
class UCBV(IndexLearner[Rates]):
    r"""UCB-V (Audibert, Munos and Szepesvari, 2009): confidence bounds that use the variance of the losses.

    For means that do not change, with losses whose variance may be small.

    Parameters
    ----------
    log_scale : float, default 1.2
        Factor on the logarithm in the confidence radius ($\zeta$), a finite number > 0. The theory needs more than 1.
    bias : float, default 1.0
        Weight of the second term of the radius ($c$), a finite number >= 0. The term corrects for variances that are
        estimated too low.

    Notes
    -----
    With $n_i$ plays of action $i$, $\hat\mu_i$ and $\hat v_i$ the mean and the (biased) variance of their losses, and
    $E_t = \zeta \ln t$, round $t + 1$ plays

    $$ \arg\min_i \hat\mu_i - \sqrt{\frac{2 \hat v_i E_t}{n_i}} - \frac{3 c E_t}{n_i} , $$

    after playing every action once.

    Regret: $\sum_i (\sigma_i^2 / \Delta_i + 2) \ln T$ over variances and gaps, for fixed means. That is, it grows like
    $\sum_i (\sigma_i^2 / \Delta_i + 2) \ln T$. There is no guarantee after a change.

    Must know: nothing.

    Time per round: O(K).

    References
    ----------
    J.-Y. Audibert, R. Munos, C. Szepesvari, "Exploration-exploitation tradeoff using variance estimates in multi-armed
    bandits", Theoretical Computer Science 410 (2009).

    Examples
    --------
    >>> learner = UCBV()
    >>> learner.run(learner.start(n_actions=2), [[0.0, 1.0]] * 5)
    array([0, 1, 0, 1, 0])
    """

    log_scale: float = 1.2
    bias: float = 1.0

    corners = Corners(
        log_scale=(TOO_NARROW, TOO_WIDE), bias=(NoLearning(0.0, "losses without variance have a radius of 0"), TOO_WIDE)
    )
    _domains = Domains(log_scale=POSITIVE, bias=NOT_NEGATIVE)

    def beliefs(self, state: State[IndexMemory, Rates]) -> Beliefs:
        """Return the estimate of the variance: that of a round, summed over the actions, times the rounds."""
        beliefs, memory = super().beliefs(state), state.memory
        plays = np.maximum(1.0, memory.plays)
        variances = np.maximum(0.0, memory.squares / plays - (memory.total / plays) ** 2)
        return replace(beliefs, variance=state.rounds * float(variances.sum()))
