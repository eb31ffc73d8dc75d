r"""Learners whose experts depend only on their own regrets, slowly, from the printed formulas.

Each learner plays $p_t$ and computes $r_{t,k} = \sum_j p_{t,j} (\ell_{t,j} - \ell_{t,k})$. Weights are kept as numbers,
and logarithms are taken only where the paper takes them; `digits` runs the same in mpmath, whose exponents have no
limit. The sleeping learners run all $K T$ experts, including those not awake: a sleeping expert is assigned the loss of
the play, so its regret is 0. A cover defines in which rounds a row is awake.
"""

import math
from functools import cache
from types import SimpleNamespace

import mpmath
import numpy as np
from scipy import integrate

IN_DOUBLES = SimpleNamespace(number=float, exp=math.exp, log=math.log, sqrt=math.sqrt)
EXACTLY = SimpleNamespace(number=mpmath.mpf, exp=mpmath.exp, log=mpmath.log, sqrt=mpmath.sqrt)

# Covers: whether row s is awake at round t; both count from 1.


def always(s, t):
    return s <= t


def geometric(s, t):
    """Awake as long as the largest power of two that divides s."""
    return s <= t < s + largest_power_in(s)


def hazan_seshadhri(s, t):
    return s <= t <= s + 4 * largest_power_in(s)


def largest_power_in(s):
    power = 1
    while s % (2 * power) == 0:
        power *= 2
    return power


AWAKE = {"every": always, "geometric": geometric, "hazan-seshadhri": hazan_seshadhri}


# Experts: the weight of each is a function of its regrets.


class ProdExpert:
    """Gaillard, Stoltz, van Erven (2014), Adapt-ML-Prod: weights as numbers."""

    def __init__(self, maths, gamma, first):
        self.maths, self.gamma, self.w, self.squares = maths, gamma, first, maths.number(0)
        self.eta = self.rate()

    def rate(self):
        return min(self.maths.number(0.5), self.maths.sqrt(self.gamma / (1 + self.squares)))

    def weight(self):
        return self.eta * self.w

    def update(self, r):
        old = self.eta
        self.squares += r * r
        self.eta = self.rate()
        self.w = (self.w * (1 + old * r)) ** (self.eta / old)


class BernsteinExpert:
    """Wintenberger (2017), rates per expert, known range 1."""

    def __init__(self, maths, gamma):
        self.maths, self.gamma, self.eta = maths, gamma, maths.number(0.5)
        self.total, self.squares = maths.number(0), maths.number(0)

    def weight(self):
        return self.eta * self.maths.exp(self.eta * self.total)

    def update(self, r):
        self.total += r - self.eta * r * r
        self.squares += r * r
        if self.squares > 0:
            self.eta = min(self.maths.number(0.5), self.maths.sqrt(self.gamma / self.squares))


class NormalExpert:
    """Luo and Schapire (2015), with prior q."""

    def __init__(self, maths, q):
        self.maths, self.q, self.total, self.moved = maths, q, maths.number(0), maths.number(0)

    def potential(self, total, moved):
        return self.maths.exp(max(self.maths.number(0), total) ** 2 / (3 * moved)) if moved > 0 else 1

    def weight(self):
        up, down = (self.potential(self.total + sign, self.moved + 1) for sign in (1, -1))
        return self.q * (up - down) / 2

    def update(self, r):
        self.total += r
        self.moved += abs(r)


class SquintExpert:
    """Koolen and van Erven (2015), the integral by quadrature."""

    def __init__(self, maths):
        self.maths, self.total, self.squares = maths, maths.number(0), maths.number(0)

    def weight(self):
        if self.maths is EXACTLY:
            return squint_integral_exactly(self.total, self.squares)
        return squint_integral(self.total, self.squares)

    def update(self, r):
        self.total += r
        self.squares += r * r


class PolynomialExpert:
    """Gaillard, Stoltz, van Erven (2014), ML-Poly."""

    def __init__(self, maths):
        self.maths, self.total, self.squares = maths, maths.number(0), maths.number(0)

    def weight(self):
        return max(self.maths.number(0), self.total) / (1 + self.squares)

    def update(self, r):
        self.total += r
        self.squares += r * r


@cache
def squint_integral(total, squares):
    """Integrate e^{eta R - eta^2 V} from 0 to 1/2."""
    peak = min(0.5, max(0.0, total / (2 * squares))) if squares > 0 else None
    points = [peak] if peak is not None and 0 < peak < 0.5 else None
    found, _ = integrate.quad(
        lambda eta: math.exp(eta * total - eta * eta * squares), 0.0, 0.5, points=points, epsabs=0.0, epsrel=1e-13
    )
    return found


def squint_integral_exactly(total, squares):
    """Integrate it in mpmath, through its error functions where V > 0."""
    total, squares = mpmath.mpf(total), mpmath.mpf(squares)
    if squares == 0:
        return (mpmath.exp(total / 2) - 1) / total if total != 0 else mpmath.mpf(0.5)
    root = mpmath.sqrt(squares)
    low, high = -total / (2 * root), (squares - total) / (2 * root)
    between = mpmath.erf(high) - mpmath.erf(low) if low < 0 < high else mpmath.erfc(low) - mpmath.erfc(high)
    if high <= 0:
        between = mpmath.erfc(-high) - mpmath.erfc(-low)
    return mpmath.sqrt(mpmath.pi) / (2 * root) * mpmath.exp(low * low) * between


def run(losses, new_expert, cover_rule=None, digits=None):
    """Return the plays of all experts `new_expert(maths, s, n_actions)`; without a cover, of a single row."""
    if digits is None:
        return _run(losses, new_expert, cover_rule, IN_DOUBLES)
    with mpmath.workdps(digits):
        return _run(losses, new_expert, cover_rule, EXACTLY)


def _run(losses, new_expert, cover_rule, maths):
    n_rounds, n_actions = losses.shape
    if n_actions == 1:  # nothing to choose, and ln K = 0 leaves no rates
        return np.ones_like(losses)
    starts = [1] if cover_rule is None else range(1, n_rounds + 1)
    experts = {(s, k): new_expert(maths, s, n_actions) for s in starts for k in range(n_actions)}
    played = np.empty_like(losses)
    for t in range(1, n_rounds + 1):
        awake = {s for s in starts if cover_rule is None or cover_rule(s, t)}
        mass = [sum(experts[s, k].weight() for s in awake) for k in range(n_actions)]
        total = sum(mass)
        p = [value / total for value in mass] if total > 0 else [1 / maths.number(n_actions)] * n_actions
        played[t - 1] = [float(value) for value in p]
        loss = [maths.number(float(value)) for value in losses[t - 1]]
        for k in range(n_actions):
            r = sum(p[j] * (loss[j] - loss[k]) for j in range(n_actions))
            for s in awake:
                experts[s, k].update(r)
    return played


def adapt_ml_prod(losses, digits=None):
    def new(maths, s, n_actions):
        n = maths.number(n_actions)
        return ProdExpert(maths, maths.log(n), 1 / n)

    return run(losses, new, digits=digits)


def sleeping_adapt_ml_prod(losses, cover="every", n_rounds=None, digits=None):
    def new(maths, s, n_actions):
        n = maths.number(n_actions)
        if n_rounds is None:
            return ProdExpert(maths, maths.log(n * (s + 1)), maths.number(1))
        return ProdExpert(maths, maths.log(n * n_rounds), 1 / (n * n_rounds))

    return run(losses, new, AWAKE[cover], digits)


def boa(losses, digits=None):
    def new(maths, s, n_actions):
        return BernsteinExpert(maths, maths.log(maths.number(n_actions)))

    return run(losses, new, digits=digits)


def ada_normal_hedge(losses, digits=None):
    def new(maths, s, n_actions):
        return NormalExpert(maths, 1 / maths.number(n_actions))

    return run(losses, new, digits=digits)


def ada_normal_hedge_tv(losses, cover="every", digits=None):
    def new(maths, s, n_actions):
        return NormalExpert(maths, 1 / maths.number(s) ** 2)

    return run(losses, new, AWAKE[cover], digits)


def squint(losses, digits=None):
    def new(maths, s, n_actions):
        return SquintExpert(maths)

    return run(losses, new, digits=digits)


def ml_poly(losses, digits=None):
    def new(maths, s, n_actions):
        return PolynomialExpert(maths)

    return run(losses, new, digits=digits)
