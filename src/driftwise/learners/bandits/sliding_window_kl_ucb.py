"""Sliding-window KL-UCB: the index of KL-UCB with the window of sliding-window UCB."""

from __future__ import annotations

import math
from dataclasses import dataclass

from driftwise.core.corners import TOO_WIDE, Corners
from driftwise.core.validation import require_number
from driftwise.learners.bandits.kl_ucb import Extra, kl_level, kl_pruning, kl_score
from driftwise.learners.parts.forgetting_index import WINDOWS, WindowedLearner
from driftwise.learners.parts.index_learner import index_learner, slide

__all__ = ["SlidingWindowKLUCB"]


@index_learner("sliding-window-kl-ucb", keep=slide, level=kl_level, score=kl_score, pruning=kl_pruning)
@dataclass(frozen=True)
class SlidingWindowKLUCB(WindowedLearner[Extra]):
    r"""Sliding-window KL-UCB (Combes and Proutiere, 2014): KL-UCB on the latest rounds.

    For means that change occasionally.

    Parameters
    ----------
    window : int or None, default 1000
        Number of latest rounds that count ($\tau$), a whole number >= 1. None counts all rounds.
    loglog_scale : float, default 0.0
        Factor on $\ln \ln n$ in the confidence level ($c$), a finite number >= 0, as in KL-UCB.

    Notes
    -----
    With $N_i$ the plays of action $i$ among the last $\tau$ rounds and $\hat\mu_i$ the mean of their losses, round
    $t + 1$ plays the action with the lowest index

    $$ \min \{ q \le \hat\mu_i : N_i \, kl(\hat\mu_i, q) \le \ln n + c \ln \ln n \}, \qquad n = \min(t, \tau) , $$

    where $kl$ is the divergence of Bernoulli distributions, and at once an action that was not played in the window. A
    window of fewer than $K - 1$ rounds cannot hold all actions: the first few are then played in turn forever. `tuned`
    sets the window of sliding-window UCB.

    Regret: no bound known for switches. Combes and Proutiere treat means that change slowly.

    Must know: rounds and segments, through the window.

    Time per round: O(K).

    References
    ----------
    R. Combes, A. Proutiere, "Unimodal bandits: regret lower bounds and optimal algorithms", ICML 2014.

    L. Besson, "SMPyBandits" (2018), for the form of the index.

    A. Garivier, E. Moulines, "On upper-confidence bound policies for switching bandit problems", ALT 2011.

    A. Garivier, O. Cappe, "The KL-UCB algorithm for bounded stochastic bandits and beyond", COLT 2011.

    Examples
    --------
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
