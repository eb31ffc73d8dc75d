r"""Algorithm 3, Optimistic-Adapt-ML-Prod, by its printed recursion (paper, eqs. (4), (5) and (6)).

$$ p_{t,k} \propto \eta_{t-1,k} w_{t-1,k} e^{\eta_{t-1,k} m_{t,k}}, \qquad
   m_{t,k} = \langle p_t, g_t \rangle - g_{t,k}, $$
$$ w_{t,k} = \left(w_{t-1,k} \exp(\eta_{t-1,k} r_{t,k}
   - \eta_{t-1,k}^2 (r_{t,k} - m_{t,k})^2)\right)^{\eta_{t,k}/\eta_{t-1,k}}, $$
$$ \eta_{t,k} = \min\{1/4, \sqrt{\ln K / (1 + \textstyle\sum_{s \le t} (r_{s,k} - m_{s,k})^2)}\} , $$

$w_{0,k} = 1/K$, $\ell_0 = 0$; the guess $g_t$ is $\ell_{t-1}$ unless a hint replaces it. The rate is computed
before the weight that needs it (errata, E13). With the prior outside, $w_{0,k} = 1$ and $p_{t,k}$ carries a
factor $\pi_k = 1/K$. In doubles the printed weights underflow after some 3,000 rounds; `digits` runs the same
recursion in mpmath, whose exponents have no limit.
"""

from types import SimpleNamespace

import mpmath
import numpy as np

IN_DOUBLES = SimpleNamespace(number=float, exp=mpmath.fp.exp, log=mpmath.fp.log, sqrt=mpmath.fp.sqrt)


def bisected(f, number):
    """Find the a in [0, 1] with f(a) = a, by halving until doubles are exhausted (a - f(a) increases)."""
    low, high = number(0), number(1)
    for _ in range(60):
        middle = (low + high) / 2
        low, high = (middle, high) if f(middle) > middle else (low, middle)
    return (low + high) / 2


def iterated(f, number, tolerance):
    """Find the a with f(a) = a by repeating f: its slope Cov_p(eta, g) is at most 1/16."""
    a = f(number(0.5))
    while abs(f(a) - a) > tolerance:
        a = f(a)
    return a


def optimistic_adapt_ml_prod(losses, hints=None, prior="inside", digits=None):
    """Return the weights Algorithm 3 plays; `hints[t]` is the guess for round t (None: the last loss)."""
    if digits is None:
        return _run(losses, hints, prior, IN_DOUBLES, bisected)
    with mpmath.workdps(digits):
        exact = SimpleNamespace(number=mpmath.mpf, exp=mpmath.exp, log=mpmath.log, sqrt=mpmath.sqrt)
        tolerance = mpmath.mpf(10) ** (5 - digits)
        return _run(losses, hints, prior, exact, lambda f, number: iterated(f, number, tolerance))


def _run(losses, hints, prior, maths, fixed_point):
    n_rounds, n_actions = losses.shape
    number, actions = maths.number, range(n_actions)
    if n_actions == 1:  # ln K = 0 makes the printed rates 0/0 (errata, E13); there is nothing to choose
        return np.ones_like(losses)
    share = 1 / number(n_actions)
    weight = [share if prior == "inside" else number(1)] * n_actions
    factor = [number(1) if prior == "inside" else share] * n_actions
    seen = [number(0)] * n_actions
    rate = [min(number(0.25), maths.sqrt(maths.log(number(n_actions))))] * n_actions
    last = [number(0)] * n_actions
    played = np.empty_like(losses)
    for t in range(n_rounds):
        hinted = hints is not None and hints[t] is not None
        guess = [number(float(value)) for value in hints[t]] if hinted else last

        def play(a):
            unscaled = [factor[k] * rate[k] * weight[k] * maths.exp(rate[k] * (a - guess[k])) for k in actions]
            total = sum(unscaled)
            return [value / total for value in unscaled]

        alpha = fixed_point(lambda a: sum(p * g for p, g in zip(play(a), guess, strict=True)), number)
        p = play(alpha)
        played[t] = [float(value) for value in p]
        loss = [number(float(value)) for value in losses[t]]
        lost = sum(p[k] * loss[k] for k in actions)
        for k in actions:
            r, m = lost - loss[k], alpha - guess[k]
            seen[k] += (r - m) ** 2
            new_rate = min(number(0.25), maths.sqrt(maths.log(number(n_actions)) / (1 + seen[k])))
            grown = weight[k] * maths.exp(rate[k] * r - rate[k] ** 2 * (r - m) ** 2)
            weight[k] = grown if new_rate == rate[k] else grown ** (new_rate / rate[k])
            rate[k] = new_rate
        last = loss
    return played
