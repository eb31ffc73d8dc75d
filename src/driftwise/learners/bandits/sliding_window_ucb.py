"""Sliding-window UCB."""

from __future__ import annotations

import math
from dataclasses import dataclass

from driftwise.core.corners import SMALLEST, TOO_WIDE, Corners
from driftwise.core.validation import require_number
from driftwise.learners.bandits.ucb1 import Width, mean_less_radius
from driftwise.learners.parts.forgetting_index import WINDOWS, WindowedLearner
from driftwise.learners.parts.index_learner import index_learner, log_level, slide

__all__ = ["SlidingWindowUCB"]


@index_learner("sliding-window-ucb", keep=slide, level=log_level, score=mean_less_radius)
@dataclass(frozen=True)
class SlidingWindowUCB(WindowedLearner[Width]):
    r"""Sliding-window UCB (Garivier and Moulines, 2011): UCB1 on the latest rounds.

    For means that change occasionally.

    Parameters
    ----------
    window : int or None, default 1000
        Number of latest rounds that count ($\tau$), a whole number >= 1. None counts all rounds.
    log_scale : float, default 0.6
        Factor on the logarithm in the confidence radius ($\xi$), a finite number > 0. The theory needs more than 1/2.

    Notes
    -----
    With $N_i$ the plays of action $i$ among the last $\tau$ rounds and $\hat\mu_i$ the mean of their losses, round
    $t + 1$ plays

    $$ \arg\min_i \hat\mu_i - \sqrt{\frac{\xi \ln \min(t, \tau)}{N_i}} , $$

    and at once an action that was not played in the window. A window of fewer than $K - 1$ rounds cannot hold all
    actions: the first few are then played in turn forever. With $\Upsilon = \Gamma - 1$ changes, `tuned` sets
    $\tau = 2 \sqrt{T \ln T / \Upsilon}$.

    Regret: sqrt(Gamma T ln T) for fixed gaps. That is, $O(\sqrt{\Upsilon T \ln T})$ with the tuned window.

    Must know: rounds and segments, through the window.

    Time per round: O(K).

    References
    ----------
    A. Garivier, E. Moulines, "On upper-confidence bound policies for switching bandit problems", ALT 2011.

    Examples
    --------
    >>> learner = SlidingWindowUCB(window=3)
    >>> learner.run(learner.start(n_actions=2), [[0.0, 1.0]] * 6)
    array([0, 1, 0, 0, 0, 1])
    """

    window: int | None = 1000
    log_scale: float = 0.6

    corners = Corners(
        window=WINDOWS,
        log_scale=(SMALLEST, TOO_WIDE),
    )

    def __post_init__(self) -> None:
        super().__post_init__()
        require_number(self, "log_scale", lambda x: 0 < x < math.inf, "a finite number > 0")

    def rates(self, n_actions: int) -> Width:
        """Return the factor on the logarithm."""
        return Width(self.log_scale)
