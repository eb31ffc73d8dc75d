r"""Choice of the adversary with the largest guarantee for a drift and a variance.

With full feedback the regret is $\Omega((\Lambda V T)^{1/3} + V)$, with bandit feedback
$\Omega((\Lambda V T)^{1/3} + \sqrt{V T})$ (Theorem 4.3, full_V). `FullV` attains the first two of these terms,
`BanditLow` with $\Gamma \approx V$ segments the last: $M$ intervals whose losses are at most
$s = \min\{1, V / (2M)\}$, with $M = \lfloor V / 2 \rfloor$ or $\lceil V / 2 \rceil$. For $V < 2$ that is only
$V \sqrt{T} / 8$.

The paper chooses by the order of these terms: `BanditLow` if $\sqrt{V T} \ge (\Lambda V T)^{1/3}$. Here the adversary
with the larger guarantee is taken, which is the same up to constants.
"""

from __future__ import annotations

import math

from driftwise.adversaries.adversary import Adversary
from driftwise.adversaries.bandit_low import BanditLow
from driftwise.adversaries.full_v import FullV
from driftwise.core.errors import rejection
from driftwise.core.measures import Measures

__all__ = ["strongest"]


def strongest(feedback: str, measures: Measures, mode: str = "random") -> Adversary:
    """Return the adversary with the largest guarantee within a drift and a variance, with any number of segments.

    >>> budget = Measures(n_actions=2, n_rounds=10_000, segments=1, drift=10.0, variance=100.0)
    >>> strongest("full", budget).name, strongest("bandit", budget).name
    ('full-v', 'bandit-low')
    """
    if feedback not in ("full", "bandit"):
        raise rejection("strongest", "feedback", "'full' or 'bandit'", feedback)
    T, V, K = measures.n_rounds, measures.drift, measures.n_actions
    found: list[Adversary] = []
    if mode != "proof":  # only `BanditLow` has that mode
        found.append(FullV(V, measures.variance, K, mode=mode))
    if feedback == "bandit":
        found += [
            BanditLow(2 * intervals, K, mode, scale=min(1.0, V / (2 * intervals)))
            for intervals in {min(math.floor(V / 2), T // 2), min(math.ceil(V / 2), T // 2)} - {0}
        ]
    if not found:
        raise rejection("strongest", "mode", f"one of {', '.join(map(repr, FullV.modes))} here", mode)
    return max(found, key=lambda adversary: adversary.guarantee(T))
