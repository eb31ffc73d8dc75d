r"""Where a rule that tunes a learner says nothing, and why.

A rule balances what adapting costs, which more adapting raises, against what changes cost, which it lowers. Where the
costs that it balances add up to the whole game, its theorem promises no more than play without learning does, and the
parameters it gives mean nothing. Each function takes what a rule gave and returns a reason, or "" where the rule says
something. Without changes there is nothing to balance: every rule says something there.

=============================  ====================================================================================
a rule that sets               says nothing where
=============================  ====================================================================================
a share of play at random      it is 1/2 or more: the other side of the balance costs as much, in all $T$ or more
a window or a discount         it remembers as long as a segment lasts: a theorem counts that many rounds as lost
                               around each of $\Upsilon$ changes, in all $T$; or the window holds no action twice
a block between restarts       it is shorter than the number of actions, each of which must be played in it
a learning rate                its bound is $(1 - 1/K)\, T$ or more, which is the most that uniform play regrets
=============================  ====================================================================================
"""

from __future__ import annotations

from driftwise.core.measures import Measures

__all__ = ["block", "bound", "changing", "discount", "exploring", "segment", "window"]

_MOST_AT_RANDOM = 0.5


def exploring(measures: Measures, share: float) -> str:
    """Judge a rule by the share of rounds that it plays at random, or on a schedule that heeds no loss.

    >>> exploring(Measures(3, 3000, 3000, 4.0, 1800.0), share=1.0)
    '2999 changes in 3000 rounds, its rule asks to explore in 100 % of them'
    >>> exploring(Measures(3, 3000, 8, 4.0, 1800.0), share=0.24)
    ''
    """
    if not changing(measures) or share < _MOST_AT_RANDOM:
        return ""
    return f"{_told(measures)}, its rule asks to explore in {100 * share:.0f} % of them"


def window(measures: Measures, rounds: int | None) -> str:
    """Judge a rule by the rounds that its window holds, None where it holds all.

    >>> window(Measures(3, 3000, 3000, 4.0, 1800.0), rounds=6)
    '2999 changes in 3000 rounds, its window of 6 rounds is as long as a segment'
    """
    K, T = measures.n_actions, measures.n_rounds
    if not changing(measures):
        return ""
    held = T if rounds is None else rounds
    if held * (measures.segments - 1) >= T:
        return f"{_told(measures)}, its window of {held} rounds is as long as a segment"
    return f"{_told(measures)}, its window of {held} rounds holds no action twice" if held <= K else ""


def discount(measures: Measures, factor: float) -> str:
    r"""Judge a rule by how long it remembers, $1 / (1 - \gamma)$ rounds.

    >>> discount(Measures(3, 3000, 3000, 4.0, 1800.0), factor=0.75)
    '2999 changes in 3000 rounds, its memory of 4 rounds is as long as a segment'
    """
    if not changing(measures) or measures.segments - 1 < (1 - factor) * measures.n_rounds:
        return ""
    memory = measures.n_rounds if factor == 1 else 1 / (1 - factor)
    return f"{_told(measures)}, its memory of {memory:.3g} rounds is as long as a segment"


def block(measures: Measures, rounds: int) -> str:
    """Judge a rule by the rounds of a block, in which a bandit must try every action.

    >>> block(Measures(10, 100, 100, 90.0, 0.0), rounds=4)
    'a drift of 90 in 100 rounds, its blocks of 4 rounds cannot try all 10 actions'
    """
    K, T = measures.n_actions, measures.n_rounds
    if rounds >= min(K, T):
        return ""
    return f"a drift of {measures.drift:.3g} in {T} rounds, its blocks of {rounds} rounds cannot try all {K} actions"


def segment(measures: Measures) -> str:
    """Judge a rule that starts afresh with every segment, in which a bandit must try every action."""
    if not changing(measures) or measures.n_rounds >= measures.n_actions * measures.segments:
        return ""
    return f"{_told(measures)} leave too few in a segment to try all {measures.n_actions} actions"


def bound(measures: Measures, regret: float) -> str:
    r"""Judge a rule by the bound for the parameters that it gave, against $(1 - 1/K)\, T$ for uniform play.

    >>> bound(Measures(3, 3000, 3000, 4.0, 1800.0), regret=2838.0)
    '2999 changes in 3000 rounds leave its bound no better than that of uniform play'
    """
    K, T = measures.n_actions, measures.n_rounds
    if not changing(measures) or regret < (1 - 1 / K) * T:
        return ""
    return f"{_told(measures)} leave its bound no better than that of uniform play"


def changing(measures: Measures) -> bool:
    """Say whether there is something to balance: a change, and an action to change to."""
    return measures.segments > 1 and measures.n_actions > 1


def _told(measures: Measures) -> str:
    changes = measures.segments - 1
    return f"{changes} change{'s' if changes != 1 else ''} in {measures.n_rounds} rounds"
