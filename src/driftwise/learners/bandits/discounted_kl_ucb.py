r"""Discounted KL-UCB: KL-UCB on a past that fades.

With $N_i$, $X_i$ and $n$ as in `discounted-ucb`, round $t + 1$ plays the action of least index

$$ \min \{ q \le X_i / N_i : N_i \, kl(X_i / N_i, q) \le \ln n + c \ln \ln n \} . $$

========  ==================  ====================================================
symbol    name in the code    meaning
========  ==================  ====================================================
$\gamma$  `discount`          what a play still counts one round later
$c$       `loglog_scale`        a little more confidence, as in KL-UCB
========  ==================  ====================================================

No bound is known to us: the combination is of practice, with the discount of discounted UCB.

Reference: A. Garivier and E. Moulines (2011), A. Garivier and O. Cappe (2011); L. Besson, "SMPyBandits" (2018) has the
combination.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import NamedTuple

from driftwise.core.corners import SMALLEST, TOO_WIDE, Corners, NoLearning
from driftwise.core.validation import require_number
from driftwise.learners.bandits.kl_ucb import kl_level, kl_pruning, kl_score
from driftwise.learners.contract import Card
from driftwise.learners.parts.forgetting_index import DiscountedLearner
from driftwise.learners.parts.index_learner import fade, index_learner

__all__ = ["DiscountedKLUCB"]


class Rates(NamedTuple):
    """The parameters, as the kernels read them."""

    loglog_scale: float
    discount: float


@index_learner(
    "discounted-kl-ucb",
    Card(
        title="Discounted KL-UCB",
        in_words="Play the action whose mean loss could be lowest by a past that fades, in sharp intervals.",
        knows="rounds and segments, through the discount",
        cost="O(K)",
        bound="none known",
        reference="Garivier, Moulines (2011); Garivier, Cappe (2011)",
    ),
    keep=fade,
    level=kl_level,
    score=kl_score,
    pruning=kl_pruning,
)
@dataclass(frozen=True)
class DiscountedKLUCB(DiscountedLearner[Rates]):
    """Choose among actions whose means change now and then, sharply.

    >>> learner = DiscountedKLUCB(discount=0.9)
    >>> learner.run(learner.start(n_actions=2), [[0.0, 1.0]] * 5)
    array([0, 1, 0, 0, 0])
    """

    discount: float = 0.995
    loglog_scale: float = 0.0

    corners = Corners(discount=(NoLearning(SMALLEST, "only the last round counts"), 1.0), loglog_scale=(0.0, TOO_WIDE))

    def __post_init__(self) -> None:
        super().__post_init__()
        require_number(self, "loglog_scale", lambda x: 0 <= x < math.inf, "a finite number >= 0")

    def rates(self, n_actions: int) -> Rates:
        """Return the parameters."""
        return Rates(self.loglog_scale, self.discount)
