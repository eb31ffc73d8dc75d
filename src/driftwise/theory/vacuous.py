r"""Measures for which the theorem behind a tuning rule gives a vacuous bound.

A tuning rule balances the regret from adapting, which increases with faster adaptation, and the regret from changes,
which decreases. Where the two together are $T$ or more, the theorem guarantees no more than play without learning, and
its parameters have no meaning. Each function takes what a rule returned and returns a reason, or "" where the bound is
not vacuous. Without changes there is nothing to balance, and the reason is "".

=============================  ====================================================================================
a rule that sets               is vacuous where
=============================  ====================================================================================
a share of random play         it is 1/2 or more: the regret from changes is as large, together $T$ or more
a window or a discount         the memory is as long as a segment: the theorem counts that many rounds as lost
                               around each of $\Upsilon$ changes, together $T$; or the window contains no action twice
a block between restarts       it is shorter than the number of actions, each of which must be played in it
a learning rate                its bound is $(1 - 1/K)\, T$ or more, which is the largest regret of uniform play
=============================  ====================================================================================
"""

from __future__ import annotations

from driftwise.core.measures import Measures

_MOST_AT_RANDOM = 0.5


def exploring(measures: Measures, share: float) -> str:
    """Return the reason for a share of rounds played at random, or on a schedule that does not depend on losses.

    >>> exploring(Measures(3, 3000, 3000, 4.0, 1800.0), share=1.0)
    '2999 changes in 3000 rounds, its rule asks to explore in 100 % of them'
    >>> exploring(Measures(3, 3000, 8, 4.0, 1800.0), share=0.24)
    ''
    """
    reason = f"{_changes(measures)}, its rule asks to explore in {100 * share:.0f} % of them"
    return reason if changing(measures) and share >= _MOST_AT_RANDOM else ""


def window(measures: Measures, rounds: int | None) -> str:
    """Return the reason for the length of a window, None if it contains all rounds.

    >>> window(Measures(3, 3000, 3000, 4.0, 1800.0), rounds=6)
    '2999 changes in 3000 rounds, its window of 6 rounds is as long as a segment'
    """
    K, T = measures.n_actions, measures.n_rounds
    if not changing(measures):
        return ""
    held = T if rounds is None else rounds
    if held * (measures.segments - 1) >= T:
        return f"{_changes(measures)}, its window of {held} rounds is as long as a segment"
    return f"{_changes(measures)}, its window of {held} rounds holds no action twice" if held <= K else ""


def discount(measures: Measures, factor: float) -> str:
    r"""Return the reason for a discount $\gamma$, whose memory is $1 / (1 - \gamma)$ rounds.

    >>> discount(Measures(3, 3000, 3000, 4.0, 1800.0), factor=0.75)
    '2999 changes in 3000 rounds, its memory of 4 rounds is as long as a segment'
    """
    if not changing(measures) or measures.segments - 1 < (1 - factor) * measures.n_rounds:
        return ""
    memory = measures.n_rounds if factor == 1 else 1 / (1 - factor)
    return f"{_changes(measures)}, its memory of {memory:.3g} rounds is as long as a segment"


def block(measures: Measures, rounds: int) -> str:
    """Return the reason for the rounds of a block, in which a bandit learner must try every action.

    >>> block(Measures(10, 100, 100, 90.0, 0.0), rounds=4)
    'a drift of 90 in 100 rounds, its blocks of 4 rounds cannot try all 10 actions'
    """
    K, T = measures.n_actions, measures.n_rounds
    reason = f"a drift of {measures.drift:.3g} in {T} rounds, its blocks of {rounds} rounds cannot try all {K} actions"
    return reason if rounds < min(K, T) else ""


def segment(measures: Measures) -> str:
    """Return the reason for a restart with every segment, in which a bandit learner must try every action."""
    K, T = measures.n_actions, measures.n_rounds
    reason = f"{_changes(measures)} leave too few in a segment to try all {K} actions"
    return reason if changing(measures) and K * measures.segments > T else ""


def bound(measures: Measures, regret: float) -> str:
    r"""Return the reason for a bound with the tuned parameters, compared with $(1 - 1/K)\, T$ of uniform play.

    >>> bound(Measures(3, 3000, 3000, 4.0, 1800.0), regret=2838.0)
    '2999 changes in 3000 rounds leave its bound no better than that of uniform play'
    """
    K, T = measures.n_actions, measures.n_rounds
    reason = f"{_changes(measures)} leave its bound no better than that of uniform play"
    return reason if changing(measures) and regret >= (1 - 1 / K) * T else ""


def changing(measures: Measures) -> bool:
    """Return whether there is a change of the means and more than one action."""
    return measures.segments > 1 and measures.n_actions > 1


def _changes(measures: Measures) -> str:
    changes = measures.segments - 1
    return f"{changes} change{'s' if changes != 1 else ''} in {measures.n_rounds} rounds"
