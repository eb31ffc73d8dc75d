r"""The Bernoulli divergence, and the smallest mean within a divergence of another.

$$ kl(p, q) = p \ln \frac{p}{q} + (1-p) \ln \frac{1-p}{1-q} . $$

`least_mean_exceeds` and `least_mean_roughly` are a test and an approximation of `least_mean` at a fraction of its cost.
The test is about the number that `least_mean` computes, rounding included. Write $f(x) = kl(p, x)$ and
$b$ for the budget. On $(0, p)$, $f$ is convex and decreasing, $-f'(x) = (p - x) / (x (1 - x))$. The function returns
True only if $10^{-9} \le q < p$ and $f(q) > b + s$ with the slack $s = 10^{-12}$. Then Newton's method, which
approaches from the left, cannot end at an $x \le q$:

- Its steps do not become too small there. As $f(x) - b \ge s$ and rounding changes $f$, at most 22, by less than
  $10^{-14}$, the computed difference is above $s / 2$. As $(1 - x) / (p - x) \ge 1$, the step is above $x s / 2$, so
  above the $10^{-14} x$ that would end the method.
- Its 100 steps are not used up there. Newton's method on a convex $F = f - b$ has
  $F_{k+1} / F_k + F'_{k+1} / F'_k \le 1$, so each step divides $F F'$ by 4 or more. The method starts at
  $x_0 \ge e^{-(b + h(p))/p}$, where $F_0 \le -(1 - p) \ln(1 - p) \le p$; that is at least $1/e$ of the root, so
  $-F'_0 \le p / x_0 \le 10^9 e p$. At $x \le q$, $-F F' \ge s (b + s) / p \ge 10^{-24}$ by convexity. Hence at most
  $\log_4(e \cdot 10^{33}) < 56$ steps end there; rounding, a hundredth of $F$, adds one at most.

For $p = 1$, `least_mean` is $e^{-b}$, which is above $q e^s$ and rounded by much less. A mean above 1 counts as 1 in
both. The rounding of the bounds below is a few units of the last place of numbers up to 22, far less than the slack.
"""

from __future__ import annotations

import math

import numpy as np

from driftwise.core.kernel import kernel


def log_ratio(numerator: float, denominator: float) -> float:
    """Return ln(numerator / denominator) of positive numbers, also if the ratio overflows.

    >>> log_ratio(2.0, 5e-324) > 700
    True
    """
    ratio = numerator / denominator
    return math.log(ratio) if ratio < math.inf else math.log(numerator) - math.log(denominator)


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


_LOW, _SLACK = 1e-9, 1e-12
_TOO_LARGE = 21.0  # above -ln(_LOW): a budget of this times p allows for means below _LOW
# The nodes and weights of Gauss's quadrature on [0, 1] with the density 2 (1 - t).
_NEAR, _FAR = (4.0 - 6.0**0.5) / 10.0, (4.0 + 6.0**0.5) / 10.0
_NEAR_WEIGHT, _FAR_WEIGHT = 0.5 + 6.0**0.5 / 18.0, 0.5 - 6.0**0.5 / 18.0


@kernel
def least_mean_exceeds(p: float, budget: float, q: float) -> bool:
    r"""Return True only if `least_mean(p, budget)` is provably above `q`; False may also mean slightly above.

    With $d = p - q$ and $v(x) = x (1 - x)$, $kl(p, q) = \int_q^p (p - x) / v(x) \, dx$. The even derivatives of $1 / v$
    are positive, so Gauss's quadrature is a lower bound, $\frac{d^2}{2} \sum_j w_j / v(q + t_j d)$. It decides most
    cases, logarithms decide the rest.
    """
    p, q = min(p, 1.0), max(q, _LOW)  # a mean above the larger of two numbers is above both
    if not q < p or budget >= _TOO_LARGE * p:
        return False
    enough = budget + _SLACK
    d = p - q
    near, far = q + _NEAR * d, q + _FAR * d
    near, far = near * (1.0 - near), far * (1.0 - far)
    if d * d * (_NEAR_WEIGHT * far + _FAR_WEIGHT * near) > 2.0 * enough * near * far:
        return True
    return divergence(p, q) > enough


@kernel
def least_mean_roughly(p: float, budget: float) -> float:
    r"""Return an approximation of `least_mean(p, budget)` without logarithms; 0 or less if the budget is large.

    With one node in place of two, $d^2 = 2 b \, v(x)$ at $x = p - \frac23 d$, which has a closed form. The second
    derivative of $1 / v$ adds $b^2 (1 - 3 v) / (9 v)$ to the divergence; one step of Newton's method corrects for it.
    """
    if budget >= _TOO_LARGE * p:
        return 0.0
    slope = budget * (4.0 * p - 2.0) / 3.0
    scale = 1.0 + budget * (8.0 / 9.0)
    square = slope * slope + 2.0 * scale * budget * p * (1.0 - p)
    d = (slope + np.sqrt(max(0.0, square))) / scale  # rounding may have left `p` a little outside [0, 1]
    q = p - d
    if not (q > 0.0 and d > 0.0):
        return float(q)
    ratio = budget / d
    return float(q + ratio * ratio * (ratio - 1.5 * d) * q * (1.0 - q) / 4.5)
