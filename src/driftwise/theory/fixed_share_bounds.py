r"""Rates and bounds of Fixed Share and its optimistic form.

Against every sequence of actions with $m$ switches in $T$ rounds, the bound contains the code length

$$ C(m) = (m+1) \ln K + m \ln\tfrac{1}{\alpha} + (T-m-1) \ln\tfrac{1}{1-\alpha} , $$

and the regret is at most $C(m)/\eta + \eta T/8$ for Fixed Share, $C(m)/\eta + (\eta/2) D_\infty$ for its optimistic
form.
"""

from __future__ import annotations

import math

from driftwise.core.measures import Measures
from driftwise.theory import expected


def code_length(n_actions: int, n_rounds: int, switches: int, switch_rate: float) -> float:
    r"""Return $C(m)$; infinite where the switch rate makes such a sequence impossible.

    >>> round(code_length(n_actions=2, n_rounds=1, switches=0, switch_rate=0.1), 4)
    0.6931
    """
    stays = n_rounds - switches - 1
    if (switches and switch_rate == 0) or (stays and switch_rate == 1):
        return math.inf
    length = (switches + 1) * math.log(n_actions)
    length += switches * -math.log(switch_rate) if switches else 0.0
    return length + (stays * -math.log1p(-switch_rate) if stays else 0.0)


def rates(measures: Measures) -> tuple[float, float]:
    r"""Return $(\eta, \alpha)$ of Fixed Share: $\alpha = m/(T-1)$, at most 1/2, and the best $\eta$ for the bound."""
    alpha = _switch_rate(measures)
    length = code_length(measures.n_actions, measures.n_rounds, measures.segments - 1, alpha)
    return math.sqrt(8 * length / measures.n_rounds) or 1.0, alpha


def optimistic_rates(measures: Measures) -> tuple[float, float]:
    r"""Return the rates of the optimistic form, with $E D_\infty$ bounded as in `expected.largest_deviation`.

    The learning rate is at most 20, where one unit of loss already changes a weight by a factor $e^{20}$: without
    deviation the minimiser of the bound is infinite.
    """
    alpha = _switch_rate(measures)
    length = code_length(measures.n_actions, measures.n_rounds, measures.segments - 1, alpha)
    deviation = expected.largest_deviation(measures)
    return (min(20.0, math.sqrt(2 * length / deviation)) if deviation else 20.0) or 1.0, alpha


def _switch_rate(measures: Measures) -> float:
    return min(0.5, (measures.segments - 1) / max(1, measures.n_rounds - 1))
