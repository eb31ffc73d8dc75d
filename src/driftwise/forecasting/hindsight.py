r"""The best comparators in hindsight: sequences of experts with few switches, and convex combinations.

**Sequences.** With losses $\tilde\ell_{t,k}$ (an expert that is asleep has that of the mixture), the least loss of a
sequence of experts with at most $n$ switches that ends with expert $k$ is, round by round,

$$ D_t(n, k) = \min\bigl(D_{t-1}(n, k),\ \min_j D_{t-1}(n - 1, j)\bigr) + \tilde\ell_{t,k}, \qquad D_0 = 0. $$

**Convex combinations.** With $\tilde x_{t,k}$ the forecast of expert $k$ (of the mixture where $k$ is asleep), the best
combination minimises $\sum_t \phi(\langle u, \tilde x_t \rangle, y_t)$ over distributions $u$. For the square loss this
is $u^\top E u$ with the Gram matrix $E = \sum_t e_t e_t^\top$ of the errors $e_{t,k} = \tilde x_{t,k} - y_t$, since the
weights sum to 1. It equals a nonnegative least squares problem: for $E = R^\top R$, the minimiser $v \ge 0$ of
$\|R v\|^2 + (\mathbf 1^\top v - 1)^2$ is $u$ times a number, because on the ray through $u$ the least value is
$q / (1 + q)$ with $q = u^\top E u$. For other convex losses the minimum is found by cutting planes: the loss lies above
its tangents, so the least value of their maximum is a lower bound, and the loss at any point an upper bound. New
tangents are taken halfway between the best point so far and the minimiser of the maximum (in-out separation).

References
----------
C. L. Lawson, R. J. Hanson, "Solving least squares problems", SIAM (1995), chapter 23.
J. E. Kelley, "The cutting-plane method for solving convex programs", Journal of the SIAM 8 (1960).
W. Ben-Ameur, J. Neto, "Acceleration of cutting-plane and column generation algorithms", Networks 49 (2007).
"""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np
from scipy.optimize import linprog, nnls

from driftwise.core.kernel import kernel
from driftwise.core.types import Actions, Matrix, Vector
from driftwise.forecasting.losses import ForecastLoss

_CLOSE = 1e-6  # the relative distance of the bounds at which the cutting planes stop
_TINY = 1e-9  # the distance at which they stop in any case, in multiples of the loss of the uniform mean
_MOST_CUTS = 500
_HALFWAY = 0.5
_NNLS_ROUNDS = 30  # most iterations, in multiples of the experts


@kernel
def extend_sequences(table: Matrix, leasts: Vector, losses: Vector) -> None:
    """Add a round to the table of least losses by switches and last expert; `leasts` are those of its rows."""
    for i in range(table.shape[0]):
        n = table.shape[0] - 1 - i  # from the most switches down: row n - 1 still has the values of the round before
        after_switch = leasts[n - 1] if n > 0 else math.inf
        least = math.inf
        for k in range(losses.size):
            value = min(table[n, k], after_switch) + losses[k]
            table[n, k] = value
            least = min(least, value)
        leasts[n] = least


def best_path(losses: Matrix, n_switches: int) -> Actions:
    """Return the column of each row of the best sequence of columns with at most `n_switches` switches.

    >>> best_path(np.array([[0.0, 1.0], [0.0, 1.0], [3.0, 0.0]]), 1)
    array([0, 0, 1])
    """
    n_rows, n_columns = losses.shape
    table = np.zeros((n_switches + 1, n_columns))
    origins = np.empty((n_rows, n_switches + 1, n_columns), np.int64)  # the column before; itself without a switch
    origins[:] = np.arange(n_columns)
    for t in range(n_rows):
        least = table[:-1].min(axis=1, keepdims=True)
        switched = least < table[1:]  # a strict comparison: with a tie there is no switch
        origins[t, 1:] = np.where(switched, table[:-1].argmin(axis=1, keepdims=True), origins[t, 1:])
        table[1:] = np.where(switched, least, table[1:])
        table += losses[t]
    path = np.empty(n_rows, np.int64)
    n = n_switches
    k = int(table[n].argmin())
    for t in range(n_rows - 1, -1, -1):
        path[t] = k
        origin = int(origins[t, n, k])
        n, k = (n, k) if origin == k else (n - 1, origin)
    return path


class Combination(NamedTuple):
    """A convex combination: its weights, its total loss, and a lower bound of the least one."""

    weights: Vector
    loss: float
    at_least: float


def best_square_combination(gram: Matrix) -> Combination | None:
    """Return the best convex combination for the square loss, given the Gram matrix of the errors.

    None if the matrix is not finite.
    """
    if not np.isfinite(gram).all():
        return None
    totals = np.diag(gram)
    weights, least = np.eye(len(gram))[totals.argmin()], float(totals.min())  # of the best expert
    if least <= 0.0:
        return Combination(weights, 0.0, 0.0)
    values, vectors = np.linalg.eigh(gram / least)
    root = np.sqrt(np.maximum(values, 0.0))[:, None] * vectors.T
    system = np.vstack([root, np.ones(len(gram))])
    try:
        ray, _ = nnls(system, np.append(np.zeros(len(gram)), 1.0), maxiter=_NNLS_ROUNDS * len(gram))
    except RuntimeError:  # no convergence: the best expert is still a combination
        return Combination(weights, least, 0.0)
    mixed = ray / ray.sum()
    loss = max(0.0, float(mixed @ gram @ mixed))
    return Combination(mixed, loss, loss) if loss < least else Combination(weights, least, least)


def best_combination(loss: ForecastLoss, forecasts: Matrix, truths: Vector) -> Combination | None:
    """Return the best convex combination for a convex loss; None if it is not finite."""
    n_rows, n_experts = forecasts.shape
    means = [float(np.mean(loss.values(np.ascontiguousarray(column), truths))) for column in forecasts.T]
    finite = np.where(np.isfinite(means), means, np.inf)
    best, least = np.eye(n_experts)[finite.argmin()], float(finite.min())  # at first, the best expert
    point = np.full(n_experts, 1.0 / n_experts)
    bound, scale = -math.inf, 0.0
    cuts: list[Vector] = []  # the mean loss of a combination u is at least the product of each with u
    while len(cuts) < _MOST_CUTS:
        combined = forecasts @ point
        mean, slopes = float(np.mean(loss.values(combined, truths))), loss.slopes(combined, truths)
        cut = mean + (slopes @ forecasts - slopes @ combined) / n_rows
        if not np.isfinite(cut).all():
            break
        if mean < least:
            best, least = point, mean
        scale = scale or abs(mean) or 1.0
        cuts.append(cut / scale)
        lower, corner = _least_of_cuts(np.array(cuts))
        bound = max(bound, lower * scale)
        if least - bound <= _CLOSE * abs(least) + _TINY * scale:
            at_corner = float(np.mean(loss.values(forecasts @ corner, truths)))  # the minimum, if piecewise linear
            best, least = (corner, at_corner) if at_corner < least else (best, least)
            break
        point = best + _HALFWAY * (corner - best)
    return Combination(best, n_rows * least, n_rows * min(bound, least)) if math.isfinite(least) else None


def _least_of_cuts(cuts: Matrix) -> tuple[float, Vector]:
    """Return the least maximum of linear functions over distributions, and where it is attained."""
    n_cuts, n_experts = cuts.shape
    result = linprog(
        np.append(np.zeros(n_experts), 1.0),
        A_ub=np.column_stack([cuts, -np.ones(n_cuts)]),
        b_ub=np.zeros(n_cuts),
        A_eq=np.append(np.ones(n_experts), 0.0)[None],
        b_eq=[1.0],
        bounds=[(0.0, None)] * n_experts + [(None, None)],
    )
    if result.x is None or result.fun is None:  # the solver failed
        return -math.inf, np.full(n_experts, 1.0 / n_experts)
    corner = np.maximum(result.x[:-1], 0.0)
    return float(result.fun), corner / corner.sum()
