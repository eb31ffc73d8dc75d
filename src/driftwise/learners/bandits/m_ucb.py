r"""M-UCB: UCB1 that starts again when the latest losses of an action differ from those before.

With $\tau$ the last restart, $n_i$ the plays of action $i$ since and $\hat\mu_i$ their mean loss, round $t + 1$ plays
$\arg\min_i \hat\mu_i - \sqrt{2 \ln(t - \tau) / n_i}$, but in every $\lceil K / \gamma \rceil$ rounds since $\tau$ the
first $K$ play the actions in turn. The last $w$ losses of each action are watched
(`driftwise.detectors.WindowedShift`), and an alarm makes the learner forget everything.

========  ==================  ==================================================================
symbol    name in the code    meaning
========  ==================  ==================================================================
$\gamma$  `exploration_rate`           the share of rounds that explore
$w$       `window`            the losses of an action that are looked at, an even number
$b$       `threshold`         how far the sums of their halves may be apart
========  ==================  ==================================================================

Tuned, for $M = \Gamma$ segments and changes of at least $d$ (`least_change`): $w = (4/d^2) (\sqrt{\ln 2KT^2} +
\sqrt{\ln 2T})^2$, $b = \sqrt{(w/2) \ln 2KT^2}$ and $\gamma = \sqrt{(M-1) K \min(w/2, \lceil b/d \rceil + 3 \sqrt w) /
(2T)}$. Its regret is $O(\sqrt{M K T \ln T})$ if no change is smaller and segments are longer than it takes to see one.

Reference: Y. Cao, Z. Wen, B. Kveton, Y. Xie, "Nearly optimal adaptive procedure with change detection for
piecewise-stationary bandit", AISTATS 2019.
"""

from __future__ import annotations

import functools
import math
from dataclasses import dataclass
from typing import Self

from driftwise.core.corners import ONLY_EXPLORES, SMALLEST, Corners, NoLearning
from driftwise.core.errors import rejection
from driftwise.core.measures import Measures
from driftwise.core.validation import require_number
from driftwise.detectors import WindowedShift
from driftwise.learners.bandits.ucb1 import UCB1
from driftwise.learners.contract import Card, composed
from driftwise.learners.parts.restarting_learner import RestartingLearner, RestartRule, schedule
from driftwise.theory import vacuous

__all__ = ["MUCB"]


@composed(
    "m-ucb",
    Card(
        title="M-UCB",
        in_words="Play UCB1, and start again when the latest losses of an action differ from those before.",
        knows="rounds, segments and the least change, through window, threshold and exploration",
        cost="O(K)",
        bound="sqrt(K Gamma T ln T) for large and rare changes",
        reference="Cao, Wen, Kveton, Xie (2019)",
        in_practice="in short games keep the default parameters: tuned, it explores in three quarters of "
        "12,000 rounds, for a regret of 2,214 on six segments; with the defaults it is 522",
    ),
)
@dataclass(frozen=True)
class MUCB(RestartingLearner):
    """Choose among actions that change together.

    `tuned` is for long games: in short ones it explores in most of the rounds (`driftwise show m-ucb`).

    >>> learner = MUCB(exploration_rate=0.0)
    >>> learner.run(learner.start(n_actions=2), [[0.0, 1.0]] * 5)
    array([0, 1, 0, 0, 0])
    """

    exploration_rate: float = 0.05
    window: int = 200
    threshold: float = 20.0

    corners = Corners(
        exploration_rate=(0.0, SMALLEST, ONLY_EXPLORES),
        window=(2, 10_000),
        threshold=(NoLearning(SMALLEST, "it sees a change in every round"), math.inf),
    )

    def __post_init__(self) -> None:
        require_number(self, "exploration_rate", lambda x: 0 <= x <= 1, "in [0, 1]")
        detector = self.parts[1]
        for name in ("window", "threshold"):
            object.__setattr__(self, name, getattr(detector, name))  # checked there

    @classmethod
    def tuned(cls, measures: Measures, least_change: float = 0.2) -> Self:
        """Set all parameters for changes of at least `least_change`."""
        number = isinstance(least_change, (int, float)) and not isinstance(least_change, bool)
        if not (number and 0 < least_change <= 1):
            raise rejection(cls.__name__, "least_change", "in (0, 1]", least_change)
        K, T = measures.n_actions, measures.n_rounds
        log_all = math.log(2 * K * T**2)
        window = 2 * math.ceil(2 / least_change**2 * (math.sqrt(log_all) + math.sqrt(math.log(2 * T))) ** 2)
        threshold = math.sqrt(window / 2 * log_all)
        delay = min(window / 2, math.ceil(threshold / least_change) + 3 * math.sqrt(window))
        exploration_rate = math.sqrt((measures.segments - 1) * K * delay / (2 * T))
        return cls(exploration_rate=min(1.0, exploration_rate), window=window, threshold=threshold)

    def tuning_caveat(self, measures: Measures) -> str:
        """Return a reason where it explores in half of the rounds or more, or its window is longer than the game."""
        if vacuous.changing(measures) and self.window >= measures.n_rounds:
            return f"its window of {self.window} losses of an action is as long as the game, {measures.n_rounds} rounds"
        return vacuous.exploring(measures, self.exploration_rate)

    @functools.cached_property
    def parts(self) -> tuple[UCB1, WindowedShift]:
        """UCB1 and the windowed shift."""
        return UCB1(), WindowedShift(self.window, self.threshold)

    def restarts(self, n_actions: int) -> RestartRule:
        """Explore on schedule, forget everything."""
        return RestartRule(self.exploration_rate, schedule(self.exploration_rate, n_actions), True)
