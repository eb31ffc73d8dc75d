r"""Detect and restart: any index learner under the eyes of any detector.

After each round the detector of the chosen action sees its loss; an alarm makes the learner forget that action, or all
of them. CUSUM-UCB, M-UCB and GLR-klUCB are of this kind, with a level and tunings of their own.

========  ==================  =============================================================================
symbol    name in the code    meaning
========  ==================  =============================================================================
-         `base`              an index learner, its name or its spec
-         `detector`          a detector, its name or its spec
$\alpha$  `exploration_rate`           the share of rounds that explore
-         `schedule`          explore in turns, at fixed rounds; otherwise at random
-         `restart`           "local" forgets the action that changed, "global" everything
========  ==================  =============================================================================

Nothing is proved for a combination at large. Page-Hinkley with UCB1 is the PHT-UCB of Liu, Lee and Shroff.

Reference: F. Liu, J. Lee, N. Shroff, "A change-detection based framework for piecewise-stationary multi-armed bandit
problem", AAAI 2018.
"""

from __future__ import annotations

import functools
from dataclasses import dataclass

from driftwise.core.corners import ONLY_EXPLORES, SMALLEST, Corners
from driftwise.core.validation import require, require_choice, require_number
from driftwise.detectors import Detector, PageHinkley, detectors
from driftwise.learners.bandits.ucb1 import UCB1
from driftwise.learners.contract import Card, Learner, composed, learners
from driftwise.learners.parts.index_learner import IndexLearner
from driftwise.learners.parts.restarting_learner import RestartingLearner, RestartRule, schedule

__all__ = ["DetectAndRestart"]


@composed(
    "detect-and-restart",
    Card(
        title="Detect and restart",
        in_words="Play an index, and forget when a detector sees a change.",
        knows="what its parts know",
        cost="O(K)",
        bound="none at large",
        reference="Liu, Lee, Shroff (2018)",
    ),
)
@dataclass(frozen=True)
class DetectAndRestart(RestartingLearner):
    """Put an index and a detector together.

    >>> learner = DetectAndRestart("kl-ucb", detector={"name": "cusum", "warmup": 50})
    >>> learner.base, learner.detector.warmup
    (KLUCB(log_scale=0.0), 50)
    """

    base: Learner | str = UCB1()  # noqa: RUF009 (frozen)
    detector: Detector | str = PageHinkley()  # noqa: RUF009
    exploration_rate: float = 0.05
    schedule: bool = False
    restart: str = "local"

    corners = Corners(
        base=("ucb1", "sliding-window-kl-ucb", "thompson"),
        detector=("cusum", "windowed-shift", "glr"),
        exploration_rate=(0.0, SMALLEST, ONLY_EXPLORES),
        schedule=(True, False),
        restart=("local", "global"),
    )

    def __post_init__(self) -> None:
        object.__setattr__(self, "base", learners.member(self, "base", self.base))
        object.__setattr__(self, "detector", detectors.member(self, "detector", self.detector))
        require(self, "base", isinstance(self.base, IndexLearner), "an index learner such as UCB1()")
        require_number(self, "exploration_rate", lambda x: 0 <= x <= 1, "in [0, 1]")
        require(self, "schedule", isinstance(self.schedule, bool), "True or False")
        require_choice(self, "restart", ("local", "global"))

    @functools.cached_property
    def parts(self) -> tuple[IndexLearner, Detector]:
        """The index learner and the detector."""
        assert isinstance(self.base, IndexLearner)
        assert isinstance(self.detector, Detector)
        return self.base, self.detector

    def restarts(self, n_actions: int) -> RestartRule:
        """Explore and forget as told."""
        period = schedule(self.exploration_rate, n_actions) if self.schedule else 0
        return RestartRule(self.exploration_rate, period, self.restart == "global")
