"""GLR-klUCB."""

from __future__ import annotations

import functools
import math
from dataclasses import dataclass
from typing import Self

from driftwise.core.corners import BELOW_ONE, LONGEST, ONLY_EXPLORES, SMALLEST, TOO_WIDE, Corners
from driftwise.core.measures import Measures
from driftwise.core.validation import Domains, interval, one_of
from driftwise.detectors import GLR
from driftwise.learners.bandits.kl_ucb import KLUCB
from driftwise.learners.base import composed
from driftwise.learners.shared.restarting_learner import RestartingLearner, RestartRule, schedule
from driftwise.theory import vacuous


@composed("glr-kl-ucb")
@dataclass(frozen=True)
class GLRKLUCB(RestartingLearner):
    r"""GLR-klUCB (Besson et al., 2022): KL-UCB that restarts when a likelihood ratio test detects a change.

    Needs few assumptions about the changes.

    Parameters
    ----------
    exploration_rate : float, default 0.05
        Share of rounds that explore ($\alpha$), in [0, 1].
    loglog_scale : float, default 0.0
        Factor on the iterated logarithm in the confidence level ($c$), a finite number >= 0, as in KL-UCB.
    failure_probability : float, default 0.01
        Approximate probability of a false alarm ($\delta$), in [0, 1). 0 never raises an alarm.
    restart : {"local", "global"}, default "local"
        Which actions an alarm resets: "local" the one whose losses changed, "global" all of them.
    resolution : int or None, default 8
        How finely a change is located ($r$), a whole number >= 2. None tests every split, in time that grows.
    check_every : int, default 10
        Plays of an action from one test to the next, a whole number >= 1.

    Notes
    -----
    With $\tau_i$ the round of the last reset of action $i$, $n_i$ its plays since then and $\hat\mu_i$ their mean loss,
    round $t + 1$ plays the action with the lowest index

    $$ \min \{ q \le \hat\mu_i : n_i \, kl(\hat\mu_i, q) \le \ln(t - \tau_i) + c \ln \ln(t - \tau_i) \} , $$

    except that the first $K$ of every $\lceil K / \alpha \rceil$ rounds play the actions in turn. A
    `driftwise.detectors.GLR` tests the losses of each action; its alarm resets that action (local) or all (global).

    Regret: $\sqrt{K \Gamma T \ln T}$ for large and rare changes.

    Must know: rounds and segments, through exploration rate and failure probability; not the size of changes.

    Time per round: O(K + log t).

    In practice: restart=global has less regret where actions change together. On six segments it is 488, with local
    restarts 777, and tuned 896.

    References
    ----------
    L. Besson, E. Kaufmann, O.-A. Maillard, J. Seznec, "Efficient change-point detection for tackling
    piecewise-stationary bandits", JMLR 23 (2022).

    Examples
    --------
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
    _domains = Domains(exploration_rate=interval("[0, 1]"), restart=one_of("local", "global"))

    @property
    def skipped_checks(self) -> dict[str, str]:
        """The reason why a million rounds take too long where every split is tested."""
        why = "without a resolution every test takes every split: a million rounds would take 10^11 operations"
        return {} if self.resolution else {"choices_survive_a_million_constant_rounds": why}

    @classmethod
    def tuned(cls, measures: Measures, restart: str = "local") -> Self:
        r"""Set exploration and failure probability by the source's rule for the number of changes.

        With $\Upsilon = \Gamma - 1$ changes (1 where there are none): $\alpha = \sqrt{\Upsilon \ln T / T}$ and
        $\delta = 1/\sqrt{\Upsilon T}$, or, for local restarts, $\alpha = \sqrt{K \Upsilon \ln T / T}$ and
        $\delta = 1/\sqrt{K \Upsilon T}$.
        """
        T = measures.n_rounds
        changes = max(1, measures.segments - 1) * (measures.n_actions if restart == "local" else 1)
        failure = min(0.5, 1 / math.sqrt(changes * T))
        return cls(min(1.0, math.sqrt(changes * math.log(T) / T)), failure_probability=failure, restart=restart)

    def tuning_caveat(self, measures: Measures) -> str:
        """Return a reason where it explores in half of the rounds or more."""
        return vacuous.exploring(measures, self.exploration_rate)

    @functools.cached_property
    def parts(self) -> tuple[KLUCB, GLR]:
        """The index learner KL-UCB and the detector GLR."""
        return KLUCB(self.loglog_scale), GLR(self.failure_probability, self.resolution, self.check_every)

    def restarts(self, n_actions: int) -> RestartRule:
        """Return a rule with scheduled exploration and the given restarts."""
        return RestartRule(self.exploration_rate, schedule(self.exploration_rate, n_actions), self.restart == "global")
