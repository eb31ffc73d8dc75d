"""Detect and restart: any index learner with any detector.

CUSUM-UCB, M-UCB and GLR-klUCB are of this kind, with confidence levels and tunings of their own. Page-Hinkley with UCB1
is the PHT-UCB of Liu, Lee and Shroff.
"""

from __future__ import annotations

import functools
from dataclasses import dataclass

from driftwise.core.corners import ONLY_EXPLORES, SMALLEST, Corners
from driftwise.core.validation import require, require_choice, require_number
from driftwise.detectors import Detector, PageHinkley, detectors
from driftwise.learners.bandits.ucb1 import UCB1
from driftwise.learners.base import Learner, composed, learners
from driftwise.learners.shared.index_learner import IndexLearner
from driftwise.learners.shared.restarting_learner import RestartingLearner, RestartRule, schedule


@composed("detect-and-restart")
@dataclass(frozen=True)
class DetectAndRestart(RestartingLearner):
    r"""Detect and restart (Liu, Lee and Shroff, 2018): an index learner that a change detector resets.

    Combines any index learner with any detector.

    Parameters
    ----------
    base : Learner, str or dict, default UCB1()
        Index learner, its name or its spec.
    detector : Detector, str or dict, default PageHinkley()
        Change detector, its name or its spec.
    exploration_rate : float, default 0.05
        Share of rounds that explore ($\alpha$), in [0, 1].
    schedule : bool, default False
        Whether to explore in fixed rounds, action by action. Otherwise exploration is random.
    restart : {"local", "global"}, default "local"
        Which actions an alarm resets: "local" the one whose losses changed, "global" all of them.

    Notes
    -----
    After each round the detector of the chosen action takes its loss. An alarm resets the plays and losses of that
    action, or of all actions. Exploration is random (with probability $\alpha$ an action drawn uniformly) or scheduled
    (the first $K$ of every $\lceil K/\alpha \rceil$ rounds play the actions in turn).

    Regret: no bound in general.

    Must know: what its parts must know.

    Time per round: O(K).

    References
    ----------
    F. Liu, J. Lee, N. Shroff, "A change-detection based framework for piecewise-stationary multi-armed bandit problem",
    AAAI 2018.

    Examples
    --------
    >>> learner = DetectAndRestart("kl-ucb", detector={"name": "cusum", "warmup": 50})
    >>> learner.base, learner.detector.warmup
    (KLUCB(loglog_scale=0.0), 50)
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
        """Return the rule that the parameters describe."""
        period = schedule(self.exploration_rate, n_actions) if self.schedule else 0
        return RestartRule(self.exploration_rate, period, self.restart == "global")
