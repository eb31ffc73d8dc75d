r"""Optimistic-Adapt-ML-Prod, and its form over sleeping experts: Algorithms 3 and 4 of Wei, Hong and Lu (2016).

Row $s$ has one expert $(s, k)$ per action $k$; Algorithm 3 has a single row. By induction on eq. (5),

$$ \ln w_{t,(s,k)} = \eta_{t,(s,k)}\, G_{t,(s,k)}, \qquad G_t = G_{t-1} + r_t - \eta_{t-1} (r_t - m_t)^2, $$

so only the potential $G$ is stored, and nothing under- or overflows. The weights need the solution of
$\alpha = \langle p(\alpha), h \rangle$, with $h$ the guess of the next losses and
$p_{(s,k)}(\alpha) \propto \eta e^{\eta (G + \alpha - h_k)}$. The right side has the slope
$\mathrm{Cov}_p(\eta, h) \le 1/16$ in $\alpha$, so Newton's method converges from any start. The guess of the regret is
then $m_k = \alpha - h_k$ with the $\alpha$ found; the regret lemma holds for it even before full convergence.

Bound of Algorithm 3 for every loss sequence, every action $k$ and all guesses in $[0, 1]^K$ (Lemma E.1, lemma_regret):

$$ R_k \le \ln(K)/\eta_0 + \sum_t \eta_{t-1,k} (r_{t,k} - m_{t,k})^2
   + \eta_{T,k}^{-1} \ln(1 + \tfrac{1}{e} \sum_{k'} \sum_t (\eta_{t-1,k'}/\eta_{t,k'} - 1)) . $$

This file stores $\ln w / \eta$, and solves for $\langle p_t, h_t \rangle$ by Newton's method where the paper uses
bisection.

In Algorithm 4 a sleeping expert is assigned the loss of the weights played, so its regret is 0, its weight does not
change, and it need not be stored.

Bound of Algorithm 4 with exact memory, for every loss sequence, every action and every interval (Lemma F.2, R_I): the
regret on $[t_1, t_2]$ is at most
$4 g + \sum \eta (r-m)^2 + \eta^{-1} \ln(1 + \tfrac{1}{e} \sum_{s \le t_2, k'} \text{ratio}_{(s,k')})$, $g = \ln KT$,
where the ratio of an expert is $\sum_t (\eta_{t-1}/\eta_t - 1)$. With `n_rounds` the paper's guarantee is for that many
rounds; the learner can play more.

The paper's rates have $\ln K$; on $KT$ experts they need $\ln KT$, as in its Lemma F.2.

Merged memory is an addition of driftwise. A new row has size 1; where more than $c$ rows have the same size, the two
oldest of them become one row of twice the size: the weights of their experts are added, their deviations averaged by
weight, and the rates follow. Rows that started at about the same time have almost the same statistics, so little is
lost: regrets were within 1 % of those of exact memory in `tests/test_merged_memory.py` and within 2.3 % in the noisiest
environment of `make compare` (0.9 % with $c = 32$). That is measured, not proved, so there is no bound for it. In
formulas, for each action,

$$ w = w_1 + w_2, \qquad S = \frac{w_1 S_1 + w_2 S_2}{w_1 + w_2}, \qquad
   \eta = \min\Big\{\frac14, \sqrt{\frac{g}{1 + S}}\Big\}, $$

with $S$ the deviations, $g$ the scale of the younger row, and $w = e^{\eta G}$ throughout.
"""

from __future__ import annotations

import functools
import math
from dataclasses import dataclass, replace
from typing import Annotated, NamedTuple, Self

import numpy as np

from driftwise.core.corners import LONGEST, Corners
from driftwise.core.exponential_histograms import bucket_sizes, merging
from driftwise.core.kernel import kernel
from driftwise.core.measures import Measures
from driftwise.core.memory_fields import HUGE, between, distribution, scratch, within
from driftwise.core.types import Actions, Matrix, Vector, Words
from driftwise.core.validation import COUNT, Domains, check_memory, one_of, optional
from driftwise.core.vectors import assign
from driftwise.learners.base import Beliefs, ExpertLearner, HintedLearner, State, expert
from driftwise.learners.base.beliefs import mean_age, shares_by_age
from driftwise.learners.base.learner import NoRates, initial_memory, with_more_rows
from driftwise.theory import expected

RATE_CAP = 0.25
_CLOSE = 1e-12  # the last step of Newton's method
_MOST_STEPS = 8  # four were the most observed
_FIRST_ROWS = 64  # of a new exact memory
_SIZES = 48  # sizes are powers of two below 2^48, the most rounds of a memory


class ProdExperts(NamedTuple):
    """State of the learner between rounds; matrices are (rows, n_actions), the first `awake` rows in use."""

    weights: Annotated[Vector, distribution("actions")]  # of the next round
    guess: Annotated[Vector, between(0, 1, "actions")]  # h, of the next losses
    guessed_loss: Annotated[Vector, between(0, 1, 1)]  # alpha, the loss of the weights under the guess
    awake: Annotated[Actions, between(1, "woken", 2)]  # rows in use, and rows ever started
    size: Annotated[Actions, between(0, "woken", "rows")]  # how many started rows are merged into a row
    scale: Annotated[Vector, between(0, "most_scale", "rows")]  # the constant under the root of the learning rate
    potential: Annotated[Matrix, between(-HUGE, HUGE, "rows", "actions")]  # G
    deviation: Annotated[Matrix, between(0, HUGE, "rows", "actions")]  # the sum of (r - m)^2
    rate: Annotated[Matrix, between(0, RATE_CAP, "rows", "actions")]  # eta
    exponents: Annotated[Matrix, scratch("rows", "actions")]  # eta (G - h), without the term of alpha
    action_weights: Annotated[Vector, scratch("actions")]  # sums over the rows, before normalising


def row_shares(experts: ProdExperts) -> Vector:
    """Return the weights of the awake rows in the next round, each a sum over its experts, the largest near 1."""
    rows = slice(int(experts.awake[0]))
    rate = experts.rate[rows]
    exponents = rate * (experts.potential[rows] - experts.guess + experts.guessed_loss[0])
    shares: Vector = (rate * np.exp(exponents - exponents.max())).sum(axis=1)
    return shares


def experts_contradiction(experts: ProdExperts, rounds: int) -> str:
    """Return the fault of the awake rows after `rounds`, '' if there is none."""
    rows = slice(int(experts.awake[0]))
    deviation, rate = experts.deviation[rows], experts.rate[rows]
    least_scale = experts.scale[rows].min()
    if least_scale < 0.0 or (least_scale == 0.0 and experts.weights.size > 1):
        return "`scale` must be > 0"
    if not within(deviation, 0.0, 4.0 * rounds):
        return f"`deviation` must be in [0, {4 * rounds}]"
    if not np.allclose(rate, np.minimum(RATE_CAP, np.sqrt(experts.scale[rows, None] / (1.0 + deviation))), 1e-9, 0.0):
        return "`rate` must follow from `scale` and `deviation`"
    # Regrets are at most 1, the first logarithm of a weight is at most ln(2^124), and merging adds little.
    if not within(rate * experts.potential[rows], -(rounds + 200.0), rounds + 200.0):
        return f"`rate` times `potential` must be in [-{rounds + 200}, {rounds + 200}]"
    return ""


@kernel
def wake(experts: ProdExperts, scale: float, potential: float) -> None:
    """Start a row."""
    row = experts.awake[0]
    experts.awake[0] = row + 1
    experts.awake[1] += 1
    experts.size[row] = 1
    experts.scale[row] = scale
    for k in range(experts.weights.size):
        experts.potential[row, k] = potential
        experts.deviation[row, k] = 0.0
        experts.rate[row, k] = min(RATE_CAP, np.sqrt(scale))


@kernel
def solve(experts: ProdExperts) -> None:
    """Write the loss under the guess and the next weights."""
    weights, guess, rate = experts.weights, experts.guess, experts.rate
    exponents, action_weights = experts.exponents, experts.action_weights
    n_actions = weights.size
    n_rows = experts.awake[0]
    if n_actions == 1:  # the weight is 1, and with ln K = 0 the rate is 0
        experts.guessed_loss[0] = guess[0]
        return
    top = -np.inf
    for s in range(n_rows):
        for k in range(n_actions):
            exponents[s, k] = rate[s, k] * (experts.potential[s, k] - guess[k])
            top = exponents[s, k] if exponents[s, k] > top else top
    guessed_loss = 0.0
    for k in range(n_actions):
        guessed_loss += weights[k] * guess[k]  # a start near the root: weights change slowly
    total = 1.0
    for _ in range(_MOST_STEPS):
        total = 0.0
        mean_rate = 0.0
        for k in range(n_actions):
            action_weights[k] = 0.0
        mean_product = 0.0
        for s in range(n_rows):
            for k in range(n_actions):
                share = rate[s, k] * np.exp(exponents[s, k] - top + rate[s, k] * guessed_loss)
                action_weights[k] += share
                total += share
                mean_rate += share * rate[s, k]
                mean_product += share * rate[s, k] * guess[k]
        mean_guess = 0.0
        for k in range(n_actions):
            mean_guess += action_weights[k] * guess[k]
        mean_guess /= total
        slope = (mean_product - mean_rate * mean_guess) / total
        step = (guessed_loss - mean_guess) / (1.0 - slope)
        if abs(step) <= _CLOSE:
            break
        guessed_loss -= step
    experts.guessed_loss[0] = guessed_loss
    for k in range(n_actions):
        weights[k] = action_weights[k] / total


@kernel
def absorb(experts: ProdExperts, losses: Vector) -> None:
    """Update the awake rows with the losses of the round."""
    weights = experts.weights
    loss = 0.0
    for k in range(weights.size):
        loss += weights[k] * losses[k]
    guessed_loss = experts.guessed_loss[0]
    for s in range(experts.awake[0]):
        scale = experts.scale[s]
        for k in range(weights.size):
            regret = loss - losses[k]
            error = regret - (guessed_loss - experts.guess[k])
            squared = error * error
            experts.potential[s, k] += regret - experts.rate[s, k] * squared
            experts.deviation[s, k] += squared
            rate = np.sqrt(scale / (1.0 + experts.deviation[s, k]))
            experts.rate[s, k] = rate if rate < RATE_CAP else RATE_CAP


@kernel
def _combine(experts: ProdExperts, older: int) -> None:
    """Write a row and the next younger one, merged, in the place of the first."""
    younger = older + 1
    scale = experts.scale[younger]
    experts.size[older] += experts.size[younger]
    experts.scale[older] = scale
    for k in range(experts.weights.size):
        older_log = experts.rate[older, k] * experts.potential[older, k]
        younger_log = experts.rate[younger, k] * experts.potential[younger, k]
        log_weight = np.logaddexp(older_log, younger_log)
        share = np.exp(older_log - log_weight)
        deviation = share * experts.deviation[older, k] + (1.0 - share) * experts.deviation[younger, k]
        rate = min(RATE_CAP, np.sqrt(scale / (1.0 + deviation)))
        experts.deviation[older, k] = deviation
        experts.rate[older, k] = rate
        experts.potential[older, k] = log_weight / rate if rate > 0.0 else 0.0  # with a single action the rate may be 0


@kernel
def _size(experts: ProdExperts, row: int) -> int:
    return int(experts.size[row])


@kernel
def _merge_pair(experts: ProdExperts, older: int, n_rows: int) -> None:
    _combine(experts, older)
    for row in range(older + 2, n_rows):
        experts.size[row - 1] = experts.size[row]
        experts.scale[row - 1] = experts.scale[row]
        assign(experts.potential[row - 1], experts.potential[row])
        assign(experts.deviation[row - 1], experts.deviation[row])
        assign(experts.rate[row - 1], experts.rate[row])


_merge_rows = merging("prod-experts", _size, _merge_pair)


@kernel
def _hint(memory: ProdExperts, rates: NoRates, guess: Vector) -> None:  # noqa: ARG001
    for k in range(guess.size):  # a slice assignment would make a copy first
        memory.guess[k] = guess[k]
    solve(memory)


@kernel
def _update(memory: ProdExperts, rates: NoRates, losses: Vector) -> None:
    absorb(memory, losses)
    _hint(memory, rates, losses)


@expert("optimistic-adapt-ml-prod", update=_update, hint=_hint)
@dataclass(frozen=True)
class OptimisticAdaptMLProd(HintedLearner[ProdExperts, NoRates]):
    r"""Optimistic-Adapt-ML-Prod (Wei, Hong and Lu, 2016): Adapt-ML-Prod with a guess of the coming losses.

    Competes with the best fixed action; the regret is small where losses repeat or `hint` gives good guesses. Each
    action has its own learning rate, which decreases with the squared errors of its guessed regret. This is Algorithm 3
    of the paper.

    Parameters
    ----------
    prior : {"inside", "outside"}, default "inside"
        Where the uniform prior enters: "inside" starts from $w_0 = 1/K$, as in the paper; "outside" starts from
        $w_0 = 1$ and multiplies $p$ by $1/K$, with an overhead of $\ln \ln T$.

    Notes
    -----
    With $r_{t,k} = \langle p_t, \ell_t \rangle - \ell_{t,k}$ and the guess
    $m_{t,k} = \langle p_t, h_t \rangle - h_{t,k}$, where $h_t$ is the hint or else $\ell_{t-1}$ as in the paper
    ($\ell_0 = 0$):

    $$ p_{t,k} \propto \eta_{t-1,k}\, w_{t-1,k}\, e^{\eta_{t-1,k} m_{t,k}}, \qquad
       w_{t,k} = \left( w_{t-1,k}\, e^{\eta_{t-1,k} r_{t,k} - \eta_{t-1,k}^2 (r_{t,k} - m_{t,k})^2}
       \right)^{\eta_{t,k} / \eta_{t-1,k}}, $$
    $$ \eta_{t,k} = \min\{1/4, \sqrt{\ln K / (1 + \textstyle\sum_{s \le t} (r_{s,k} - m_{s,k})^2)}\} . $$

    Regret: $\sqrt{\sum \lVert \ell_t - \ell_{t-1} \rVert^2 \ln K} + \ln K$ against every fixed action, up to $\ln \ln
    T$.

    Must know: nothing.

    Time per round: O(K).

    References
    ----------
    C.-Y. Wei, Y.-T. Hong, C.-J. Lu, "Tracking the best expert in non-stationary stochastic environments", NIPS 2016,
    Algorithm 3 and Theorem 3.4 (RTk_bound).

    P. Gaillard, G. Stoltz, T. van Erven, "A second-order bound with excess losses", COLT 2014.

    Examples
    --------
    >>> learner = OptimisticAdaptMLProd()
    >>> state = learner.start(n_actions=2)
    >>> learner.update(state, [0.0, 1.0])
    >>> learner.predict(state)
    array([0.622..., 0.377...])
    >>> learner.hint(state, [1.0, 0.0])  # a better guess of the coming losses
    >>> learner.predict(state)
    array([0.5, 0.5])
    """

    prior: str = "inside"

    corners = Corners(prior=("inside", "outside"))
    _domains = Domains(prior=one_of("inside", "outside"))

    def static_bound(self, measures: Measures) -> float | None:
        """Return the closed form of Theorem 3.4 (RTk_bound); None if the prior is outside."""
        return expected.adapt_ml_prod(measures) if self.prior == "inside" else None

    def first_memory(self, n_actions: int, generator: Words) -> ProdExperts:
        """Return uniform weights, one row of experts and a guess of zero losses."""
        experts = super().first_memory(n_actions, generator)
        log_actions = math.log(n_actions)
        wake(experts, log_actions, -log_actions / RATE_CAP if self.prior == "inside" else 0.0)
        return experts

    def memory_limits(self, n_actions: int, rounds: int) -> dict[str, float]:
        """Return the number of rows, which is one, and the constant in its learning rates."""
        return {"rows": 1, "woken": 1, "most_scale": math.log(n_actions)}

    def memory_contradiction(self, memory: ProdExperts, rounds: int) -> str:
        """Return a rule that the row of experts breaks, '' where there is none."""
        return experts_contradiction(memory, rounds)


class SleepingRates(NamedTuple):
    """Parameters passed to the kernel."""

    log_experts: float  # ln(K T); 0 for the flat, anytime prior
    resolution: int  # 0 merges nothing


@kernel
def _wake_next(memory: ProdExperts, rates: SleepingRates) -> None:
    if rates.log_experts > 0.0:
        wake(memory, rates.log_experts, -rates.log_experts / RATE_CAP)
    else:
        # The weight 1/K outside the product is common to all experts, so it is left out. Rows count from 1.
        wake(memory, np.log(memory.weights.size * (memory.awake[1] + 2.0)), 0.0)
    if rates.resolution > 0:
        memory.awake[0] = _merge_rows(memory, memory.awake[0], rates.resolution)


@kernel
def _update_sleeping(memory: ProdExperts, rates: SleepingRates, losses: Vector) -> None:
    absorb(memory, losses)
    _wake_next(memory, rates)
    for k in range(losses.size):  # a slice assignment would make a copy first
        memory.guess[k] = losses[k]
    solve(memory)


@expert("sleeping-optimistic-adapt-ml-prod", update=_update_sleeping)
@dataclass(frozen=True)
class SleepingOptimisticAdaptMLProd(ExpertLearner[ProdExperts, SleepingRates]):
    r"""Sleeping Optimistic-Adapt-ML-Prod (Wei, Hong and Lu, 2016): one copy of every action per starting round.

    Tracks switches and drift without tuned parameters. This is Algorithm 4 of the paper.

    Parameters
    ----------
    memory : {"exact", "merged"}, default "exact"
        Which rows of copies are kept: "exact" keeps every row, $O(K t)$ a round; "merged" merges old rows,
        $O(K c \log t)$ a round.
    n_rounds : int or None, default None
        Number of rounds ($T$), >= 1: each expert has the prior $1/(KT)$, with $\ln(KT)$ in the rates, as in the paper.
        None is anytime: each expert has the weight $1/K$ outside the product, with $\ln(K(s+1))$ in the rates of row
        $s$.
    resolution : int, default 2
        Most rows of the same size that are kept when merging ($c$), >= 1; not used with exact memory.

    Notes
    -----
    Expert $(s, k)$ is asleep before round $s$ and then always advises action $k$. Round $t$ plays

    $$ p_{t,k} \propto \sum_{s \le t} \tilde p_{t,(s,k)} , $$

    where $\tilde p_t$ are the weights of OptimisticAdaptMLProd over all experts, with $\ell_{t-1}$ as the guess of
    $\ell_t$.

    Regret: $\sqrt{\Gamma \Lambda \ln K} + \Gamma \ln K$, and $(\Lambda V T \ln K)^{1/3} + \sqrt{V T \ln K}$, times
    $\log T$.

    Must know: nothing (the number of rounds, if given, as in the paper).

    Time per round: O(K t). With merged memory it is $O(K c \log t)$.

    References
    ----------
    C.-Y. Wei, Y.-T. Hong, C.-J. Lu, "Tracking the best expert in non-stationary stochastic environments", NIPS 2016,
    Algorithm 4 and Theorem 3.5 (dynamic_upper_full-into).

    Examples
    --------
    >>> learner = SleepingOptimisticAdaptMLProd()
    >>> state = learner.start(n_actions=2)
    >>> learner.update(state, [0.0, 1.0])
    >>> learner.predict(state)
    array([0.592..., 0.407...])
    """

    memory: str = "exact"
    n_rounds: int | None = None
    resolution: int = 2

    corners = Corners(memory=("exact", "merged"), n_rounds=(1, LONGEST, None), resolution=(1, 8))
    _domains = Domains(memory=one_of("exact", "merged"), resolution=COUNT, n_rounds=optional(COUNT))

    @property
    def skipped_checks(self) -> dict[str, str]:
        """Return why exact memory skips the check of a million rounds."""
        if self.memory == "merged":
            return {}
        why = "exact memory keeps one row per round: a million rounds would take 10^12 operations"
        return {"weights_survive_a_million_constant_rounds": why}

    @classmethod
    def tuned(cls, measures: Measures, memory: str = "exact") -> Self:
        """Set the prior of the paper for the number of rounds."""
        return cls(memory, measures.n_rounds)

    def bound(self, measures: Measures) -> float | None:
        """Return the bound of Theorem 3.5 (dynamic_upper_full-into), with constants; None for merged memory."""
        if self.memory == "merged":
            return None
        return expected.sleeping_adapt_ml_prod(measures, self.n_rounds)

    def first_memory(self, n_actions: int, generator: Words) -> ProdExperts:
        """Return uniform weights and the row of round 1."""
        n_rows = _FIRST_ROWS if self.memory == "exact" else self._merged_rows
        check_memory(self, "resolution", self.resolution, 8 * n_rows * (4 * n_actions + 2))
        experts = initial_memory(ProdExperts, {"rows": n_rows, "actions": n_actions})
        _wake_next(experts, self.rates(n_actions))
        return experts

    def rates(self, n_actions: int) -> SleepingRates:
        """Return ln(KT), 0 for the anytime prior, and the resolution, 0 for exact memory."""
        log_experts = math.log(n_actions * self.n_rounds) if self.n_rounds else 0.0
        return SleepingRates(log_experts, self.resolution if self.memory == "merged" else 0)

    def beliefs(self, state: State[ProdExperts, SleepingRates]) -> Beliefs:
        """Return the share of the weights that rows of each age have, and their mean age."""
        beliefs, memory = super().beliefs(state), state.memory
        sizes = memory.size[: memory.awake[0]]
        # Row s started before round s + 1; one that was merged from several has their mean age.
        ages, shares = state.rounds - (np.cumsum(sizes) - 0.5 * (sizes + 1)), row_shares(memory)
        return replace(beliefs, memory=mean_age(ages, shares), bases=shares_by_age(ages, shares))

    def memory_limits(self, n_actions: int, rounds: int) -> dict[str, float]:
        """Return the number of rows started, the largest constant in their rates, and the room for merged rows."""
        scale = self.rates(n_actions).log_experts or math.log(n_actions * (rounds + 2))
        rows = {"rows": self._merged_rows} if self.memory == "merged" else {}
        return {"woken": rounds + 1, "most_scale": scale, **rows}

    def memory_contradiction(self, memory: ProdExperts, rounds: int) -> str:
        """Return a rule that the rows break after `rounds` rounds, '' where there is none."""
        sizes = bucket_sizes(rounds + 1, self.resolution) if self.memory == "merged" else None
        n_rows = rounds + 1 if sizes is None else len(sizes)
        if not (memory.awake.tolist() == [n_rows, rounds + 1] and n_rows < len(memory.scale)):
            return f"`awake` must be [{n_rows}, {rounds + 1}], with room for one more row"
        if memory.size[:n_rows].tolist() != (sizes or [1] * n_rows):
            return f"`size` must be that of rows which woke in {rounds + 1} rounds"
        return experts_contradiction(memory, rounds)

    @property
    def _merged_rows(self) -> int:
        return (self.resolution + 1) * _SIZES

    @functools.cached_property
    def grows(self) -> bool:
        """Whether every row is kept."""
        return self.memory == "exact"

    def make_room(self, memory: ProdExperts, n_rounds: int) -> ProdExperts:
        """Return a memory with room for `n_rounds` more rows, by doubling; merged memory never grows."""
        needed = int(memory.awake[0]) + n_rounds
        fits = self.memory == "merged" or needed <= len(memory.scale)
        return memory if fits else with_more_rows(memory, needed)
