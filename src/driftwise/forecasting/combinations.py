r"""The default of a mixture: eight usual combinations of the experts, weighed by their losses, and three learners with
bounds beside them.

A *learner of weights* keeps weights $w$ of the experts. In a round the experts that are awake share the weight 1 in
proportion to $w$. All learning from a round happens when its truth is known, at the weights of then, as if the round
were played now: with late truths the learner is not told to correct the same error again and again. With the forecast
$f = \langle w, x \rangle$ of the present weights, the *regret* of expert $k$ is $r_k = \phi'(f, y)\,(f - x_k)$, 0 if it
sleeps; $\ell_k = \phi(x_k, y)$ is its loss.

**Level 1** has eight forecasts, each in the hull of the experts that are awake:

0. ML-Poly with a discount: $R \leftarrow .99 R + r$, $V \leftarrow .99 V + r^2$, $B \leftarrow \max(.99 B, r^2)$,
   $w_k \propto \max(R_k, 0) / (B + V_k)$;
1. small losses: $w_k \propto v_k^{-4}$, $v_k = (S_k + m)/(N_k + 1) + 10^{-12} m$, with the sums of losses $S_k$ and of
   rounds $N_k$ discounted by .995 and the mean $m$ of all $S_k / N_k$;
2. small losses of late: the same with the discount .8 and the power $-8$;
3. the best expert: AdaHedge on the losses;
4. the midmean: the mean without a quarter of the forecasts at each end (of three, without one);
5. the last truth; 6. forecast 1 and the error that it had in the round of the last truth; both cut to the hull, as
   weights of the two experts that enclose them;
7. the mean.

**Level 2** weighs these eight by what they really forecast: with the regrets $r_i$ of the eight, at its present
weights, $R_i$ their sum, $V_i$ the sum of their squares and $B$ the largest square,
$q_i \propto \pi_i\, (V_i + B)^{-1/2} \exp(R_i \sqrt{H / (c (V_i + B))})$, $H = \max_i \ln (1/\pi_i)$,
$c = \sqrt{1 + \text{mean delay}}$.

**Level 3** is AdaHedge with a prior over level 2 and three learners of weights with proved bounds: ML-Poly without a
discount, AdaHedge on the losses (3 above), and Fixed Share on the regrets with the rates $2 \sqrt{\ln K / t} / S_t$ and
$1/(t + 1)$, $S_t$ the largest range of the regrets so far. It has the regrets of what these really forecast, and its
mixability gap counts $1 + \text{delay}$ times for a late round.

**What sleeps or is cut.** The *usual error* is the fourth largest so far (of fewer than 13 the first, second or third),
for the errors of the mixture and for those of the midmean.

- An expert sleeps in a round in which its distance from the median is more than 30 times the median distance and more
  than 30 times the usual error of the midmean; 10 times, if its discounted mean loss is more than 10 times the least.
- A truth that is more than twice the usual error from the forecast, and unusual for the midmean, is learned as if it
  were twice the usual error away. It is no last truth, unless the truth before it was cut too.
- If the largest error of the last 50 to 100 truths is below 1/100 of the largest that was learned, everything that was
  learned counts in the smaller unit, and what has a bound starts afresh.
- Nothing is learned in a round whose forecasts agree up to rounding, nor where a loss is not finite.

Losses of probabilities are bounded in practice, and their truths are no forecasts: there only the last line applies,
and 5 and 6 are left out. Where a loss has no unit (percentages, losses of your own), nothing shrinks.

Losses are those of numbers divided by a unit, so that squares of squares neither overflow nor vanish. It is a power of
two near the first error, and again if errors grow to $2^{64}$ units. A fall of the scale multiplies it by the ratio of
the errors of then and of before, which is in general no power of two: from then on losses in units are rounded. If all
forecasts and truths are multiplied by a power of two, so is the unit, in each of these cases, and no weight changes.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from driftwise.core.memory_fields import HUGE, MOST_ROUNDS, broken_rule, broken_shape
from driftwise.core.types import Actions, Matrix, Vector, Words
from driftwise.core.validation import flag
from driftwise.forecasting.combination_kernels import (
    BASE_PRIOR,
    GUARD_PRIOR,
    GUARDED,
    HIGH,
    LEARNED,
    LOW,
    MIDMEAN,
    N_BASES,
    N_GUARDED,
    N_KEPT,
    N_LEARNERS,
    NUMBER,
    UNCORRECTED,
    WAS_CUT,
    Memory,
    Rates,
    Work,
)
from driftwise.forecasting.losses import ForecastLoss
from driftwise.learners.base.learner import MemoryChecks, initial_memory

_DEGREES = {"square": 2, "absolute": 1, "pinball": 1}  # of the losses that have a unit


@dataclass(frozen=True)
class Combinations(MemoryChecks[Memory]):
    r"""The default of a mixture of forecasts: eight usual combinations of the experts, weighed by their losses.

    Two means, weights by past losses with a long and a short memory, ML-Poly with a discount, AdaHedge, the last truth
    and a forecast corrected by its last error are weighed by exponential weights with a rate for each of them. Beside
    them are three learners whose regret is bounded: against every fixed convex combination of the experts, against
    every expert, and against sequences of experts that switch. There is nothing to tune: neither the scale of the
    forecasts nor the number of rounds is given. "What to expect" in the documentation of mixtures has where it loses,
    and what late truths cost.

    Parameters
    ----------
    last_truth : bool, default True
        Whether the last truth and the corrected forecast are used. Their weights are those of the two experts that
        enclose them, and can move from round to round; without them weights are calmer.

    Notes
    -----
    `driftwise.forecasting.combinations` has the formulas, and what is done about experts and truths that are absurd.

    With truths in time the loss of the mixture, summed over the rounds that are learned, exceeds

    - that of every fixed convex combination $q$ of the experts by at most
      $2 \Delta + \sum_k q_k \sqrt{(B + V_k)\, \Phi} + A$,
    - that of every expert by at most $2 \Delta + 2 \Delta' + A$,
    - that of every sequence of experts with $m$ switches by at most $2 \Delta + \sum_t \big[\tfrac{\eta_t s_t^2}8 +
      \tfrac1{\eta_t} \ln\tfrac{t+1}t\big] + \tfrac{m+1}{\eta_T} \ln(K T) + A$.

    $K$ is the number of experts, $T$ that of rounds. A learner with the forecast $g$ at the weights from which it
    learns has the regrets $r_{t,k} = \phi'(g, y_t)(g - x_{t,k})$ with the loss $\phi$, the truth $y_t$ and the forecast
    $x_{t,k}$ of expert $k$.

    - $\Delta$, $\Delta'$: the mixability gaps of AdaHedge in level 3, on the regrets of its four inputs, and of
      AdaHedge on the losses of the experts: $\sum_t [\frac1{\lambda_t} \ln \langle w_t, e^{\lambda_t r_t} \rangle -
      \langle w_t, r_t \rangle]$ with its weights $w_t$, its rates $\lambda_t = H / \Delta_{t-1}$ and $H = \ln 20$, for
      the experts $H = \ln K$; while $\Delta_{t-1}$ is 0, the rate is infinite. They are at most of the order
      $\sqrt{\sum_t s_t^2}$.
    - $V_k = \sum_t r_{t,k}^2$ and $B = \max_{t,k} r_{t,k}^2$, of ML-Poly without a discount; $B_t$ and $V_{t,k}$ are
      those up to round $t$. $\Phi = \sum_k (r_{1,k})_+^2 / (B_1 + V_{1,k}) + \sum_{t \ge 2} \sum_k r_{t,k}^2 /
      (B_{t-1} + V_{t-1,k})$ bounds its potential. Round 1 is the first with a regret that is not 0.
    - $s_t$: the range of the regrets of a round; $\eta_t = 2 \sqrt{\ln K / t} / \max_{i \le t} s_i$, the rates of Fixed
      Share.
    - $A$: the loss of the mixture less the one that its rule is charged with, in the rounds before the first truth
      (the learners sleep, and the mixture is the midmean) and in one round for each fall of the scale (they played with
      weights from before the fall). In all other rounds it is 0.

    At a fall of the scale level 3, ML-Poly and Fixed Share start afresh, so all bounds but $A$ are sums over the
    stretches between falls; the bound against every expert by $\Delta'$ holds if there is no fall. For an expert that
    sleeps, sums are over the rounds in which it is awake. Rounds whose truth is cut add a term that is known
    afterwards. Nothing is proved for late truths. `driftwise.theory.pathwise_combinations` has the bounds as functions,
    and the proofs.
    """

    last_truth: bool = True

    name: ClassVar[str] = "combinations"
    grows: ClassVar[bool] = False

    def __post_init__(self) -> None:
        flag(self, "last_truth")

    def first_memory(self, n_actions: int, generator: Words) -> Memory:  # noqa: ARG002
        """Return equal weights, and priors."""
        priors, nowhere = self._priors, np.full(2, -1)
        begun = {"base_weights": priors[0].copy(), "guard_weights": priors[1].copy()}
        known = np.full(2, np.nan)
        return initial_memory(Memory, self.all_limits(n_actions, rounds=0), known=known, numbers=nowhere, **begun)

    @property
    def _priors(self) -> tuple[Vector, Vector]:
        base = np.array(BASE_PRIOR)
        return base / base.sum(), np.array(GUARD_PRIOR)

    def rates(self, loss: ForecastLoss) -> Rates:
        """Return the parameters under a loss; one without a unit has unit 1."""
        is_number = not loss.of_probabilities
        return Rates(*self._priors, is_number, is_number and self.last_truth, _DEGREES.get(loss.name, 0))

    def make_room(self, memory: Memory, n_rounds: int) -> Memory:  # noqa: ARG002
        """Return the memory, which does not grow."""
        return memory

    def work(self, n_actions: int) -> Work:
        """Return the arrays of a round."""
        rows = np.zeros((N_LEARNERS, n_actions))
        wide = {name: np.zeros(n_actions) for name in ("inputs", "shares", "awake", "offsets", "losses", "regrets")}
        bases = {f"base_{name}": np.zeros(N_BASES) for name in ("shares", "offsets", "regrets")}
        guards = {f"guard_{name}": np.zeros(N_GUARDED) for name in ("shares", "offsets", "regrets")}
        order = np.zeros(n_actions, np.int64)
        return Work(**wide, kept=np.zeros(N_KEPT), order=order, rows=rows, **bases, **guards)

    def kept_fault(self, inputs: Matrix, kept: Matrix) -> str:
        """Return the fault of what is remembered of rounds, one in each row, '' if there is none."""
        low, high, number = kept[:, LOW], kept[:, HIGH], kept[:, NUMBER]
        with np.errstate(invalid="ignore"):
            if not ((number >= 0) & (number <= MOST_ROUNDS) & (number % 1.0 == 0.0)).all():
                return "the number of a round must be a whole number"
        forecasts = np.delete(kept, NUMBER, axis=1)
        is_empty = np.isnan(low) | np.isnan(high)
        if not np.isnan(forecasts[is_empty]).all():
            return "a round without forecasts must have none"
        inputs, kept, forecasts = inputs[~is_empty], kept[~is_empty], forecasts[~is_empty]
        low, high = kept[:, LOW, None], kept[:, HIGH, None]
        is_awake = (inputs >= low) & (inputs <= high)
        least, most = np.where(is_awake, inputs, np.inf).min(axis=1), np.where(is_awake, inputs, -np.inf).max(axis=1)
        if not ((least == kept[:, LOW]) & (most == kept[:, HIGH])).all():
            return "the awake must be between two of the forecasts"
        room = 1e-9 * (np.abs(low) + np.abs(high))
        inside = np.isnan(forecasts) | ((forecasts >= low - room) & (forecasts <= high + room))
        if not inside.all() or np.isnan(kept[:, [MIDMEAN, GUARDED, UNCORRECTED]]).any():
            return "its forecasts must be between those of the awake"
        return ""

    def stack_fault(self, stack: Memory, n_actions: int, rounds: Actions) -> str:
        """Return a fault of stacked memories after so many rounds of each, '' if there is none."""
        limits = self.all_limits(n_actions, rounds=0)
        shapes = {name: array.shape[1:] for name, array in stack._asdict().items()}
        fault = broken_shape(Memory, shapes, limits) or broken_rule(stack, limits)
        return fault or self._contradiction(stack, rounds)

    def _contradiction(self, stack: Memory, rounds: Actions) -> str:
        truth, uncorrected = stack.known.T
        old, newest = stack.numbers.T
        learned = stack.counts[:, LEARNED]
        with np.errstate(invalid="ignore"):
            is_known = np.abs(truth) + np.abs(uncorrected) <= HUGE
        wrong = {
            "`top` must have ascending rows": np.diff(stack.top, axis=2) < 0,
            "`counts` must have at most as many rounds learned as rounds": learned > rounds,
            "`unit` must be above 0 once a round is learned": (learned > 0) & ~(stack.unit[:, 0] > 0),
            "`known` must be finite numbers, of a round that is not after the newest": (
                ((old >= 0) & ~is_known) | (old > newest)
            ),
            "`counts` must end with 0 or 1": stack.counts[:, WAS_CUT] > 1,
        }
        return next((rule for rule, is_wrong in wrong.items() if is_wrong.any()), "")

    def memory_contradiction(self, memory: Memory, rounds: int) -> str:
        """Check that what a kernel divides by is not 0, and the order of the largest errors."""
        stack = Memory(**{name: array[None] for name, array in memory._asdict().items()})
        return self._contradiction(stack, np.array([rounds]))
