r"""The Bernoulli divergence, and the smallest mean within a divergence of another.

$$ kl(p, q) = p \ln \frac{p}{q} + (1-p) \ln \frac{1-p}{1-q} . $$
"""

from __future__ import annotations

import numpy as np

from driftwise.core.kernel import kernel

__all__ = ["divergence", "entropy", "least_mean"]

_STEPS = 100  # Newton's method needs about five
_TINY = 1e-290  # below it, 1/q overflows


@kernel
def entropy(p: float) -> float:
    r"""Return $-p \ln p - (1-p) \ln(1-p)$; rounding may have left `p` a little outside [0, 1]."""
    if p <= 0.0 or p >= 1.0:
        return 0.0
    return float(-p * np.log(p) - (1.0 - p) * np.log1p(-p))


@kernel
def divergence(p: float, q: float) -> float:
    r"""Return $kl(p, q)$ for $p \in [0, 1]$ and $q \in (0, 1)$."""
    result = 0.0
    if p > 0.0:
        result += p * np.log(p / q)
    if p < 1.0:
        result += (1.0 - p) * np.log((1.0 - p) / (1.0 - q))
    return float(result)


@kernel
def least_mean(p: float, budget: float) -> float:
    r"""Return the smallest $q \le p$ with $kl(p, q) \le$ `budget`.

    Newton's method from the left, where the divergence is convex and decreasing, so no step passes the root. It starts
    at the larger of two points whose divergence is above the budget $b$: $p - \sqrt{b/2}$ (Pinsker) and
    $e^{-(b + h(p))/p}$, as $kl(p, q) \ge -h(p) - p \ln q$.
    """
    if p <= 0.0:
        return 0.0
    if budget <= 0.0:
        return min(p, 1.0)
    if p >= 1.0:
        return float(np.exp(-budget))
    q = max(p - np.sqrt(0.5 * budget), np.exp(-(budget + entropy(p)) / p))
    if q < _TINY:
        return 0.0
    for _ in range(_STEPS):
        if q >= p:  # the budget is below the rounding errors
            return p
        step = (divergence(p, q) - budget) * q * (1.0 - q) / (p - q)
        if not step > 1e-14 * q:
            break
        q += step
    return float(q)
