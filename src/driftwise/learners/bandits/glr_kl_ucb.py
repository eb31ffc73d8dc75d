r"""GLR-klUCB: KL-UCB that forgets when a likelihood ratio sees a change.

With $\tau_i$ the round after which action $i$ was last forgotten, $n_i$ its plays since and $\hat\mu_i$ their mean
loss, round $t + 1$ plays the action of least index

$$ \min \{ q \le \hat\mu_i : n_i \, kl(\hat\mu_i, q) \le \ln(t - \tau_i) + c \ln \ln(t - \tau_i) \} , $$

but in every $\lceil K / \alpha \rceil$ rounds the first $K$ play the actions in turn. The losses of each action are
watched by `driftwise.detectors.GLR`, whose alarm makes the learner forget that action (local) or everything (global).

========  =======================  ============================================================================
symbol    name in the code         meaning
========  =======================  ============================================================================
$\alpha$  `exploration_rate`                the share of rounds that explore
$c$       `loglog_scale`             a little more confidence, as in KL-UCB
$\delta$  `failure_probability`    the chance of a false alarm, nearly
-         `restart`                "local" forgets the action that changed, "global" everything
$r$       `resolution`             how finely a change is located; None tries every place, in time that grows
-         `check_every`             plays of an action from one test to the next
========  =======================  ============================================================================

Tuned, with $\Upsilon = \Gamma - 1$ changes (1 where there are none): $\alpha = \sqrt{\Upsilon \ln T / T}$ and $\delta
= 1/\sqrt{\Upsilon T}$, or, for local restarts, $\alpha = \sqrt{K \Upsilon \ln T / T}$ and $\delta = 1/\sqrt{K \Upsilon
T}$. Its regret is $O(\sqrt{\Upsilon T \ln T})$ for changes that are large and not too frequent.

Reference: L. Besson, E. Kaufmann, O.-A. Maillard, J. Seznec, "Efficient change-point detection for tackling
piecewise-stationary bandits", JMLR 23 (2022).
"""

from __future__ import annotations

import functools
import math
from dataclasses import dataclass
from typing import Self

from driftwise.core.corners import BELOW_ONE, LONGEST, ONLY_EXPLORES, SMALLEST, TOO_WIDE, Corners
from driftwise.core.measures import Measures
from driftwise.core.validation import require_choice, require_number
from driftwise.detectors import GLR
from driftwise.learners.bandits.kl_ucb import KLUCB
from driftwise.learners.contract import Card, composed
from driftwise.learners.parts.restarting_learner import RestartingLearner, RestartRule, schedule
from driftwise.theory import vacuous

__all__ = ["GLRKLUCB"]


@composed(
    "glr-kl-ucb",
    Card(
        title="GLR-klUCB",
        in_words="Play KL-UCB, and forget when the losses of an action split into two of different means.",
        knows="nothing (rounds and segments help)",
        cost="O(K + log t)",
        bound="sqrt(K Gamma T ln T) for large and rare changes",
        reference="Besson, Kaufmann, Maillard, Seznec (2022)",
        in_practice="restart=global where actions change together: on six segments its regret is 488, with local "
        "restarts 777, and tuned 896",
    ),
)
@dataclass(frozen=True)
class GLRKLUCB(RestartingLearner):
    """Choose among actions that change, with few assumptions.

    >>> learner = GLRKLUCB(exploration_rate=0.0)
    >>> learner.run(learner.start(n_actions=2), [[0.0, 1.0]] * 5)
    array([0, 1, 0, 0, 0])
    """

    exploration_rate: float = 0.05
    loglog_scale: float = 0.0
    failure_probability: float = 0.01
    restart: str = "local"
    resolution: int | None = 8
    check_every: int = 10
    by_age = True

    corners = Corners(
        exploration_rate=(0.0, SMALLEST, ONLY_EXPLORES),
        loglog_scale=(0.0, TOO_WIDE),
        failure_probability=(0.0, SMALLEST, BELOW_ONE),
        restart=("local", "global"),
        resolution=(2, None, 64),
        check_every=(1, LONGEST),
    )

    def __post_init__(self) -> None:
        require_number(self, "exploration_rate", lambda x: 0 <= x <= 1, "in [0, 1]")
        require_choice(self, "restart", ("local", "global"))
        base, detector = self.parts
        object.__setattr__(self, "loglog_scale", base.loglog_scale)  # checked there
        for name in ("failure_probability", "resolution", "check_every"):
            object.__setattr__(self, name, getattr(detector, name))

    @property
    def skipped_checks(self) -> dict[str, str]:
        """Say why a million rounds are too many where every split is kept."""
        why = "without a resolution every test tries every split: a million rounds would take 10^11 operations"
        return {} if self.resolution else {"choices_survive_a_million_constant_rounds": why}

    @classmethod
    def tuned(cls, measures: Measures, restart: str = "local") -> Self:
        """Set exploration and false alarms by the number of changes."""
        T = measures.n_rounds
        changes = max(1, measures.segments - 1) * (measures.n_actions if restart == "local" else 1)
        failure = min(0.5, 1 / math.sqrt(changes * T))
        return cls(min(1.0, math.sqrt(changes * math.log(T) / T)), failure_probability=failure, restart=restart)

    def tuning_caveat(self, measures: Measures) -> str:
        """Return a reason where it explores in half of the rounds or more."""
        return vacuous.exploring(measures, self.exploration_rate)

    @functools.cached_property
    def parts(self) -> tuple[KLUCB, GLR]:
        """KL-UCB and the likelihood ratio."""
        return KLUCB(self.loglog_scale), GLR(self.failure_probability, self.resolution, self.check_every)

    def restarts(self, n_actions: int) -> RestartRule:
        """Explore on schedule."""
        return RestartRule(self.exploration_rate, schedule(self.exploration_rate, n_actions), self.restart == "global")
