r"""Regret bounds of a mixture of forecasts on every path: the price of a scale that is not known, and of cutting.

A mixture gives its learner $z_t = (\ell_t - \min_k \ell_{t,k}) / s_t$ with the losses $\ell_t$ of the experts and the
scale $s_t$, which does not decrease (`driftwise.forecasting.mixture_kernels`). A bound of the learner is one on sums of
$\rho_t = \langle w_t - u_t, z_t \rangle$, and the regret of the mixture is $\sum_t s_t \rho_t$, apart from the cut
rounds, whose ranges add up to $C$. Summation by parts gives, for every learner and every comparator $u$,

$$ \sum_t s_t \rho_t = s_1 \sum_{t \ge 1} \rho_t + \sum_{j \ge 2} (s_j - s_{j-1}) \sum_{t \ge j} \rho_t
   \le s_T\, \max_j \sum_{t \ge j} \rho_t , $$

so a scale that grows costs as much as the largest regret over the last rounds, from some round $j$ on.

Fixed Share has small regret on every such interval: its bound is `fixed_share`. For `Tracker`, a base has the bound of
`driftwise.theory.pathwise_tracker.base` with the scales in place of the ranges, and the rule, AdaHedge with the prior
$\pi$, has `rule`. With $M_t^\eta = -\frac1\eta \ln \sum_i \pi_i e^{-\eta L_{t,i}}$ and rates $\eta_t = H/\Delta_{t-1}$
that do not increase, the mix losses of the rounds $j, \dots, T$ add up to at most $M_T^{\eta_T} - M_{j-1}^{\eta_j}$.
Here $M_T^{\eta_T} \le L_{T,i} + \frac1{\eta_T} \ln \frac1{\pi_i}$, and $M_{j-1}^{\eta_j} = L_{j-1,i} + \frac1{\eta_j}
\ln \frac{q_{j,i}}{\pi_i}$ by the definition of the weight $q_{j,i}$ of base $i$. So the regret against base $i$ from
round $j$ on is at most $2 \Delta_T + \frac{\Delta_{j-1}}H \ln \frac{\pi_i}{q_{j,i}}$. The last term is the price of the
scale; it is 0 if the weight of the base was never below its prior weight.

Each truth must arrive before the next forecast: a late one is learned from with other weights than those played, and
nothing is proved. If the scale $s$ is given, $C$ is the sum of $r_t - s$ over the rounds with a larger range, the rule
costs $2 s \Delta_T$, and the bases have `pathwise_tracker.base` for the losses after cutting. Experts that a mixture
adds are made from earlier truths, so they are experts like the others.
"""

from __future__ import annotations

import numpy as np

from driftwise.core.types import Matrix, Vector
from driftwise.theory import pathwise_tracker


def summed_by_parts(scaled_regrets: Vector, scales: Vector) -> float:
    r"""Bound $\sum_t s_t \rho_t$ by $s_T \max_j \sum_{t \ge j} \rho_t$, at least 0."""
    if not len(scales):
        return 0.0
    later = np.cumsum(scaled_regrets[::-1])
    return float(scales[-1]) * max(0.0, float(later.max()))


def fixed_share(losses: Matrix, switches: int, pair: tuple[float, float]) -> float:
    r"""Bound Fixed Share with the rates $(\eta, \alpha)$ in a mixture, against sequences with so many switches.

    $$ \frac1\eta \Big[s_T\, C(m) + (s_T - s_1) \ln\frac1\alpha\Big] + \frac\eta8 \sum_t \frac{r_t^2}{s_t} $$

    with the ranges $r_t$ of the losses, whose running maximum is $s_t$; the second term is the price of the scale.
    """
    return pathwise_tracker.base(losses, switches, pair, hints=np.zeros_like(losses))


def rule(scales: Vector, gaps: Vector, weights: Vector, prior: float, code_length: float) -> float:
    r"""Bound the regret of the rule of `Tracker` against one base.

    It is at most $s_T (2 \Delta_T + \max_j \frac{\Delta_{j-1}}H \ln\frac{\pi_i}{q_{j,i}})$.
    `gaps` are $\Delta_0, \dots, \Delta_T$, and `weights` those of the base in each round, $q_{1,i}, \dots, q_{T,i}$.
    """
    with np.errstate(divide="ignore", invalid="ignore"):
        lost = np.where(gaps[:-1] > 0.0, gaps[:-1] * (np.log(prior) - np.log(weights)) / code_length, 0.0)
    return float(scales[-1]) * (2.0 * float(gaps[-1]) + max(0.0, float(lost.max())))


def tracker_mixture(
    losses: Matrix,
    switches: int,
    gaps: Vector,
    weights: Matrix,
    prior: Vector,
    pairs: pathwise_tracker.Pairs,
    cut: float = 0.0,
) -> float:
    r"""Bound the regret of a mixture with `Tracker` against sequences with so many switches, for losses without cuts.

    It is $C$ plus the least, over the pairs of rates, of the bound of Fixed Share and that of the rule against it.
    `weights` has the weights of the bases that are Fixed Share with these pairs, one column each, and `prior` their
    prior weights; $H$ is the largest $\ln(1/\pi_i)$.
    """
    scales = np.maximum.accumulate(np.ptp(losses, axis=1))
    length = float(np.log(1.0 / prior.min()))
    bounds = [
        rule(scales, gaps, weights[:, i], float(prior[i]), length) + fixed_share(losses, switches, pair)
        for i, pair in enumerate(pairs)
    ]
    return cut + min(bounds)
