r"""Sliding-window UCB: UCB1 on the latest rounds.

With $N_i$ the plays of action $i$ among the last $\tau$ rounds and $\hat\mu_i$ the mean of their losses, round $t + 1$
plays

$$ \arg\min_i \hat\mu_i - \sqrt{\frac{\xi \ln \min(t, \tau)}{N_i}} , $$

and at once an action that was not played in the window.

=======  ==================  ======================================================
symbol   name in the code    meaning
=======  ==================  ======================================================
$\tau$   `window`            the rounds that count; None lets all of them count
$\xi$    `log_scale`        how wide the intervals are; the theory needs over 1/2
=======  ==================  ======================================================

Tuned, with $\Upsilon = \Gamma - 1$ changes, $\tau = 2 \sqrt{T \ln T / \Upsilon}$, its regret is
$O(\sqrt{\Upsilon T \ln T})$ for fixed gaps.

A window of fewer than $K - 1$ rounds cannot hold all actions: the first few then take turns for ever.

Reference: A. Garivier and E. Moulines, "On upper-confidence bound policies for switching bandit problems", ALT 2011.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

from driftwise.core.corners import SMALLEST, TOO_WIDE, Corners
from driftwise.core.validation import require_number
from driftwise.learners.bandits.ucb1 import Width, mean_less_radius
from driftwise.learners.contract import Card
from driftwise.learners.parts.forgetting_index import WINDOWS, WindowedLearner
from driftwise.learners.parts.index_learner import index_learner, log_level, slide

__all__ = ["SlidingWindowUCB"]


@index_learner(
    "sliding-window-ucb",
    Card(
        title="Sliding-window UCB",
        in_words="Play the action that could be best by the latest rounds.",
        knows="rounds and segments, through the window",
        cost="O(K)",
        bound="sqrt(Gamma T ln T) for fixed gaps",
        reference="Garivier, Moulines (2011)",
    ),
    keep=slide,
    level=log_level,
    score=mean_less_radius,
)
@dataclass(frozen=True)
class SlidingWindowUCB(WindowedLearner[Width]):
    """Choose among actions whose means change now and then.

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
        """Return the width of the intervals."""
        return Width(self.log_scale)
