r"""CUSUM-UCB: UCB1 that forgets an action when CUSUM sees its losses change.

With $N_i$ the plays of action $i$ since it was last forgotten, $\hat\mu_i$ their mean loss and $n = \sum_i N_i$, a
round plays $\arg\min_i \hat\mu_i - \sqrt{\xi \ln n / N_i}$, or, with chance $\alpha$, an action drawn uniformly. The
losses of each action are watched by CUSUM (`driftwise.detectors.CUSUM`), whose alarm makes the learner forget that
action.

==========  ==================  ============================================================
symbol      name in the code    meaning
==========  ==================  ============================================================
$\alpha$    `exploration_rate`           the chance of a round played at random
$\xi$       `log_scale`        how wide the intervals are
$M$         `warmup`            losses of an action that give the mean to compare with
$\epsilon$  `slack`             the change that is let pass
$h$         `threshold`         the sum that raises an alarm
==========  ==================  ============================================================

Tuned, with $\Upsilon = \Gamma - 1$ changes (1 where there are none): $h = \ln(T/\Upsilon) / C_1$, at least 1, and
$\alpha = K \sqrt{C_2 \Upsilon \ln(T/\Upsilon) / (C_1 T)}$, at most 1. The source's $C_1$ and $C_2$ depend on $M$,
$\epsilon$ and the smallest gap; with the default $M$ and $\epsilon$ its $C_1$ is below $10^{-40}$, and nothing would
reach the threshold, so here both are 1. Its regret is $O(\sqrt{\Upsilon T \ln(T/\Upsilon)})$ for changes that are large
and not too frequent.

Reference: F. Liu, J. Lee, N. Shroff, "A change-detection based framework for piecewise-stationary multi-armed bandit
problem", AAAI 2018.
"""

from __future__ import annotations

import functools
import math
from dataclasses import dataclass
from typing import Self

from driftwise.core.corners import LARGEST, LONGEST, ONLY_EXPLORES, SMALLEST, TOO_WIDE, Corners, NoLearning
from driftwise.core.measures import Measures
from driftwise.core.validation import require_number
from driftwise.detectors import CUSUM
from driftwise.learners.bandits.ucb1 import UCB1
from driftwise.learners.contract import Card, composed
from driftwise.learners.parts.restarting_learner import RestartingLearner, RestartRule
from driftwise.theory import vacuous

__all__ = ["CUSUMUCB"]


@composed(
    "cusum-ucb",
    Card(
        title="CUSUM-UCB",
        in_words="Play UCB1, and forget an action when the sum of its surprises grows large.",
        knows="rounds and segments, through threshold and exploration",
        cost="O(K)",
        bound="sqrt(Gamma T ln(T / Gamma)) for large and rare changes",
        reference="Liu, Lee, Shroff (2018)",
        in_practice="the tuned exploration grows with the number of actions: on six segments of three actions its "
        "regret is 828, with the default parameters 734",
    ),
)
@dataclass(frozen=True)
class CUSUMUCB(RestartingLearner):
    """Choose among actions that change one by one.

    `tuned` explores by the source's rule, which grows with the number of actions; the default parameters may do better
    (`driftwise show cusum-ucb`).

    >>> learner = CUSUMUCB(exploration_rate=0.0)
    >>> learner.run(learner.start(n_actions=2), [[0.0, 1.0]] * 5)
    array([0, 1, 0, 0, 0])
    """

    exploration_rate: float = 0.05
    log_scale: float = 2.0
    warmup: int = 100
    slack: float = 0.1
    threshold: float = 10.0

    corners = Corners(
        exploration_rate=(0.0, SMALLEST, ONLY_EXPLORES),
        log_scale=(SMALLEST, TOO_WIDE),
        warmup=(1, LONGEST),
        slack=(0.0, LARGEST),
        threshold=(NoLearning(SMALLEST, "it sees a change in every round"), math.inf),
    )

    def __post_init__(self) -> None:
        require_number(self, "exploration_rate", lambda x: 0 <= x <= 1, "in [0, 1]")
        base, detector = self.parts
        for name, part in (("log_scale", base), ("warmup", detector), ("slack", detector), ("threshold", detector)):
            object.__setattr__(self, name, getattr(part, name))  # checked there

    @classmethod
    def tuned(cls, measures: Measures) -> Self:
        """Set threshold and exploration by the number of changes."""
        changes = max(1, measures.segments - 1)
        threshold = max(1.0, math.log(measures.n_rounds / changes))
        exploration_rate = measures.n_actions * math.sqrt(changes * threshold / measures.n_rounds)
        return cls(exploration_rate=min(1.0, exploration_rate), threshold=threshold)

    def tuning_caveat(self, measures: Measures) -> str:
        """Return a reason where it explores in half of the rounds or more."""
        return vacuous.exploring(measures, self.exploration_rate)

    @functools.cached_property
    def parts(self) -> tuple[UCB1, CUSUM]:
        """UCB1 and CUSUM."""
        return UCB1(self.log_scale), CUSUM(self.warmup, self.slack, self.threshold)

    def restarts(self, n_actions: int) -> RestartRule:
        """Explore at random, forget one action."""
        return RestartRule(self.exploration_rate, 0, False)
