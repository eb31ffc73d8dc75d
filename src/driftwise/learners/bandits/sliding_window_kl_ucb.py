r"""Sliding-window KL-UCB: KL-UCB on the latest rounds.

With $N_i$ the plays of action $i$ among the last $\tau$ rounds and $\hat\mu_i$ the mean of their losses, round $t + 1$
plays the action of least index

$$ \min \{ q \le \hat\mu_i : N_i \, kl(\hat\mu_i, q) \le \ln n + c \ln \ln n \}, \qquad n = \min(t, \tau) , $$

and at once an action that was not played in the window.

=======  ==================  ====================================================
symbol   name in the code    meaning
=======  ==================  ====================================================
$\tau$   `window`            the rounds that count; None lets all of them count
$c$      `loglog_scale`        a little more confidence, as in KL-UCB
=======  ==================  ====================================================

The window is that of sliding-window UCB; no bound of ours.

A window of fewer than $K - 1$ rounds cannot hold all actions: the first few then take turns for ever.

Reference: A. Garivier and E. Moulines (2011), A. Garivier and O. Cappe (2011); L. Besson, "SMPyBandits" (2018) has the
combination.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

from driftwise.core.corners import TOO_WIDE, Corners
from driftwise.core.validation import require_number
from driftwise.learners.bandits.kl_ucb import Extra, kl_level, kl_pruning, kl_score
from driftwise.learners.contract import Card
from driftwise.learners.parts.forgetting_index import WINDOWS, WindowedLearner
from driftwise.learners.parts.index_learner import index_learner, slide

__all__ = ["SlidingWindowKLUCB"]


@index_learner(
    "sliding-window-kl-ucb",
    Card(
        title="Sliding-window KL-UCB",
        in_words="Play the action whose mean loss could be lowest by the latest rounds, in sharp intervals.",
        knows="rounds and segments, through the window",
        cost="O(K)",
        bound="none known",
        reference="Garivier, Moulines (2011); Garivier, Cappe (2011)",
    ),
    keep=slide,
    level=kl_level,
    score=kl_score,
    pruning=kl_pruning,
)
@dataclass(frozen=True)
class SlidingWindowKLUCB(WindowedLearner[Extra]):
    """Choose among actions whose means change now and then, sharply.

    >>> learner = SlidingWindowKLUCB(window=3)
    >>> learner.run(learner.start(n_actions=2), [[0.0, 1.0]] * 6)
    array([0, 1, 0, 0, 0, 1])
    """

    window: int | None = 1000
    loglog_scale: float = 0.0

    corners = Corners(
        window=WINDOWS,
        loglog_scale=(0.0, TOO_WIDE),
    )

    def __post_init__(self) -> None:
        super().__post_init__()
        require_number(self, "loglog_scale", lambda x: 0 <= x < math.inf, "a finite number >= 0")

    def rates(self, n_actions: int) -> Extra:
        """Return the parameter."""
        return Extra(self.loglog_scale)
