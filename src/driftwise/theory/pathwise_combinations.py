r"""Regret bounds of `Combinations` on every realised path whose truths come in time.

`driftwise.forecasting.combinations` has the formulas. A matrix of *regrets* has a row for every round that is learned
and a column for every input of a learner: $r_{t,k} = \phi'(f_t, y_t)(f_t - x_{t,k})$, for AdaHedge on the losses the
mean loss less $\phi(x_{t,k}, y_t)$; 0 where the input sleeps. $R_k$ are its sums. The weights $w_t$ of a learner have
$\langle w_t, r_t \rangle = 0$, since the awake share the weight 1 in proportion to $w_t$. By convexity $R_k$ is at
least the sum of $\phi(f_t, y_t) - \phi(x_{t,k}, y_t)$ over the rounds in which input $k$ is awake, and $\langle q, R
\rangle$ is at least that against the convex combination $q$. All bounds here are on sums of regrets.

**Level 3**, and AdaHedge on the losses: `hedge`. **Convex combinations**: `convex`, by ML-Poly. **Switches**:
`switching`, by Fixed Share. Each of these learners is an input of level 3, so the regret of the mixture is at most that
of level 3 against the learner and that of the learner: `mixture`.

**Rounds that are played otherwise than they are learned.** Level 3 and a learner are compared at the weights from which
they learn. They play at these weights, with two exceptions. Before the first truth the learner sleeps, and the mixture
is the midmean. In the round of a fall of the scale they played with their weights from before the fall, and learn
from it at their first weights. So the regret of the mixture has one more term in these rounds, its loss less what the
rule is charged with: `apart`. It is at most one round for each fall and those before the first truth.

**Falls.** After a fall of the scale level 3, ML-Poly and Fixed Share start afresh, so their bounds are added over the
stretches between falls.

**Sleeping.** An expert that is put to sleep has regret 0 in the round: the regret against it is over the rounds in
which it is awake. Over all rounds it is more by the sum of $\phi(f_t, y_t) - \phi(x_{t,k}, y_t)$ over the others.

**Cutting.** The bounds are on the regret for the truths that are learned, $y'_t$. In a round that is cut the regret for
the truth $y_t$ is more by

$$ [\phi(f_t, y_t) - \phi(f_t, y'_t)] - [\phi(g_t, y_t) - \phi(g_t, y'_t)] , $$

with the forecast $g_t$ of the comparator: `cutting`. If $\phi$ is a convex function of the error, the second bracket is
monotone in $g_t$, so the sum is the largest at the end of the hull that is on the side of $y_t$. A truth is cut only if
its error is more than twice the usual one, of which at most 3 errors of the stretch are larger or equal, this one among
them: so at most 3 rounds are cut whose errors are in $[x, 2x)$, for every $x$: `most_cuts`.

**Not proved.** For late truths nothing is proved: they are learned at other weights than those played. A regret that is
far above all before it enters `convex` by its own square; a closed form without the realised regrets is not given.
AdaHedge on the losses does not start afresh at a fall, it shrinks: its bound is for stretches without a fall before.
Level 1 (apart from the best expert) and level 2 have no bound: that against them is the one of level 3 against level 2.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np

from driftwise.core.types import Matrix, Vector
from driftwise.theory import pathwise_tracker

_LEAST_MASS = 1e-300  # weights may vanish
_MOST_IN_AN_OCTAVE = 3  # errors that are cut; the usual error is at most the fourth largest


def gap(regrets: Matrix, prior: Vector) -> float:
    r"""Return the mixability gap $\Delta_T$ of AdaHedge with a prior $\pi$ on these regrets.

    $\Delta_t = \Delta_{t-1} + \frac1{\eta_t} \ln \langle w_t, e^{\eta_t r_t} \rangle - \langle w_t, r_t \rangle$ with
    $\eta_t = H / \Delta_{t-1}$, $H = \max_k \ln(1/\pi_k)$ and $w_{t,k} \propto \pi_k e^{\eta_t R_{t-1,k}}$. Without a
    gap the rate is infinite: the mix is $\max_k r_{t,k}$, and the weights are the prior. As in the kernels the mean in
    the logarithm is at least $10^{-300}$, where weights vanish: this does not make the gap smaller.
    """
    length, total, sums = float(-np.log(prior.min())), 0.0, np.zeros(len(prior))
    for row in regrets:
        weights, top = prior, float(row.max())
        mixed = top
        if total > 0.0:
            rate = length / total
            weights = prior * np.exp(rate * (sums - sums.max()))
            weights = weights / weights.sum()
            mixed += math.log(max(float(weights @ np.exp(rate * (row - top))), _LEAST_MASS)) / rate
        total += max(0.0, mixed - float(weights @ row))
        sums = sums + row
    return total


def hedge(regrets: Matrix, prior: Vector) -> float:
    r"""Bound AdaHedge with a prior against every input: $2 \Delta_T$.

    With $M^\eta_t = \frac1\eta \ln \langle \pi, e^{\eta R_t} \rangle$, which does not decrease in $\eta$, the mixes add
    up to $\sum_t (M^{\eta_t}_t - M^{\eta_t}_{t-1}) \ge M^{\eta_T}_T \ge R_{T,k} - \frac1{\eta_T} \ln\frac1{\pi_k}$, as
    the rates do not increase. They add up to $\Delta_T$, as $\langle w_t, r_t \rangle = 0$, and $\frac1{\eta_T}
    \ln\frac1{\pi_k} \le \Delta_{T-1}$.
    """
    return 2.0 * gap(regrets, prior)


def hedge_by_ranges(regrets: Matrix, prior: Vector) -> float:
    r"""Bound `hedge` by the ranges of the regrets: $\sqrt{H \sum_t s_t^2} + 2 (\frac23 H + 1) \max_t s_t$.

    It is the bound of `pathwise_tracker.rule`, whose proof needs only the rates.
    """
    return pathwise_tracker.rule(regrets, float(-np.log(prior.min()))) if len(regrets) else 0.0


def convex(regrets: Matrix) -> Vector:
    r"""Bound ML-Poly without a discount against every expert; against the convex combination $q$ it is
    $\langle q, \cdot \rangle$.

    $$ R_{T,k} \le \sqrt{(B_T + V_{T,k})\, \Phi_T}, \qquad \Phi_T \le \sum_k \frac{(r_{1,k})_+^2}{B_1 + r_{1,k}^2} +
       \sum_{t \ge 2} \sum_k \frac{r_{t,k}^2}{B_{t-1} + V_{t-1,k}}, $$

    $V$ the sums of squares and $B$ the largest square so far, from the first round on in which it is not 0. The
    potential is $\Phi_t = \sum_k (R_{t,k})_+^2 / (B_t + V_{t,k})$. Its rates do not increase, and $(R + r)_+^2 \le
    R_+^2 + 2 R_+ r + r^2$, where the middle terms add up to 0, since the weights are in proportion to them.
    """
    regrets = regrets[np.abs(regrets).max(axis=1).cumsum() > 0.0]
    if not len(regrets):
        return np.zeros(regrets.shape[1])
    squares = regrets**2
    variances = np.maximum.accumulate(squares.max(axis=1))[:, None] + squares.cumsum(axis=0)
    potential = float((np.maximum(regrets[0], 0.0) ** 2 / variances[0]).sum() + (squares[1:] / variances[:-1]).sum())
    bounds: Vector = np.sqrt(variances[-1] * potential)
    return bounds


def switching(regrets: Matrix, switches: int) -> float:
    r"""Bound Fixed Share with the rates $\eta_t = 2 \sqrt{\ln K / t} / S_t$ and $1/(t + 1)$ against all sequences of
    experts with at most so many switches $m$:

    $$ \sum_t \Big[ \frac{\eta_t s_t^2}8 + \frac1{\eta_t} \ln\frac{t+1}t \Big] + \frac{m + 1}{\eta_T} \ln(K T), $$

    $s_t$ the range of the regrets, $S_t = \max_{i \le t} s_i$, counted from the first round with $S_t > 0$.

    With $u_{t,k} \propto w_{t,k} e^{\eta_t r_{t,k}}$ a regret is $r_{t,k} = M_t + \frac1{\eta_t}
    \ln(u_{t,k}/w_{t,k})$, where $M_t = \frac1{\eta_t} \ln \langle w_t, e^{\eta_t r_t} \rangle \le \eta_t s_t^2 / 8$ by
    Hoeffding's lemma, as the mean is 0. Sharing has $u_{t,k} \le \frac{t+1}t w_{t+1,k}$ and $w_{t,k} \ge 1/(K t)$.
    Between switches the sum of $\frac1{\eta_t} \ln(w_{t+1,k}/w_{t,k})$ is by parts at most $\frac1{\eta_b} \ln(K b)$ up
    to the last round $b$, since $1/\eta_t$ does not decrease.
    """
    ranges = np.ptp(regrets, axis=1)
    ranges = ranges[ranges.cumsum() > 0.0]
    if not len(ranges):
        return 0.0
    n_rounds, n_experts = len(ranges), regrets.shape[1]
    rounds = np.arange(1.0, n_rounds + 1.0)
    rates = 2.0 * np.sqrt(math.log(n_experts) / rounds) / np.maximum.accumulate(ranges)
    costs = rates * ranges**2 / 8.0 + np.log1p(1.0 / rounds) / rates
    return float(costs.sum() + (switches + 1) * math.log(n_experts * n_rounds) / rates[-1])


def apart(played: Vector, charged: Vector) -> float:
    r"""Return the sum of the losses of the mixture less those that its rule is charged with, for some rounds.

    In a round before the first truth the rule is charged with the learner of the bound; in that of a fall, with the
    forecast at the weights from which level 3 learns, plus the loss that the learner has so, less the one it had.
    """
    return float((played - charged).sum())


def mixture(guards: Sequence[Matrix], prior: Vector, learners: Sequence[float], apart: float = 0.0) -> float:
    r"""Bound the regret of the mixture: $\sum (2 \Delta + \text{bound of the learner})$ over stretches, and `apart`.

    `guards` are the regrets of level 3 in each stretch between falls, and `learners` the bounds of the learner there:
    an entry of `convex`, `hedge` on the losses (if there is no fall), or `switching`. For an input of level 3 they
    are 0.
    """
    return sum(hedge(regrets, prior) for regrets in guards) + sum(learners) + apart


def cutting(mixture: tuple[Vector, Vector], comparator: tuple[Vector, Vector]) -> float:
    r"""Return what the rounds that are cut add to a regret.

    It is $\sum [\phi(f, y) - \phi(f, y')] - [\phi(g, y) - \phi(g, y')]$. Each argument has the losses for the
    truths, and for those that are learned in their place.
    """
    (lost, learned), (other_lost, other_learned) = mixture, comparator
    return float((lost - learned - other_lost + other_learned).sum())


def most_cuts(largest: float, least: float) -> int:
    r"""Bound the number of rounds that are cut between two falls whose errors are in [least, largest].

    It is $3 (\lfloor \log_2(\text{largest}/\text{least}) \rfloor + 1)$: 3 in each of the intervals $[x, 2x)$.
    """
    return _MOST_IN_AN_OCTAVE * (math.floor(math.log2(largest / least)) + 1)
