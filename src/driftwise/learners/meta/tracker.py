r"""Tracker: the default learner with full feedback.

The rule is AdaHedge with a prior over the bases; `docs/decisions.md` compares grids and priors. Three choices matter.
The leader has most of the prior, so that where nothing changes the other bases cost little. The switch rates go down to
$10^{-8}$: the cost of a change grows with $\ln(1/\alpha)$ only, and sharing costs $\alpha T$. Fixed Share is there in
its plain and in its optimistic form: the one is better with noise, the other where losses repeat.

The bases. With losses $\ell_t$, let $b_t$ be the largest range $\max_k \ell_{s,k} - \min_k \ell_{s,k}$ of the rounds
$s \le t$, and $z_{t,k} = (\ell_{t,k} - \min_j \ell_{t,j}) / b_t$ the scaled losses (0 while $b_t = 0$). In round $t$
the bases play:

- the leader: uniform weights on the actions with the least total loss;
- the last losses: uniform weights on the actions with the least guess $g_t$, by default $z_{t-1}$;
- for every learning rate $\eta$ and switch rate $\alpha$ Fixed Share, $x_t$, and its optimistic form, $\hat x_t$:
  $\hat x_{t,k} \propto x_{t,k}\, e^{-\eta g_{t,k}}$, and
  $x_{t+1,k} = (1 - \alpha)\, x_{t,k}\, e^{-\eta z_{t,k}} / Z + \alpha / K$;
- the same with the slow rates $\eta_t = c/\sqrt t$ and $\alpha_t = 1/(t + 1)$ for every scale $c$, for which the regret
  grows more slowly than $T$ whatever the losses; here $t$ counts the rounds since the first whose losses differ.

With `both_guesses`, what uses $g_t$ is there twice: for $g_t = z_{t-1}$, and for the guess of a hint. All forms of
Fixed Share have the same $x$, and all switch rates share the exponentials of a learning rate, so a round takes $K$
exponentials per learning rate, and $2K$ for the slow ones: the next scale is four times as large, and its factors are
fourth powers. Weights are at least $\alpha / K$, so they are kept as numbers, not as logarithms: the action with the
least loss has the factor 1, so what a normalisation divides by is at least $\alpha / K$, and the smallest factor,
$e^{-256}$, is above the smallest number. Multiplying all losses by a power of two changes no base, because $b_t$ and
the totals scale. This holds down to losses of about $10^{-290}$, not below, where products of losses and weights are
too small to have all digits.

The price of not knowing the range of the losses. A base is Fixed Share on the scaled losses $z_t$, and its regret in
round $t$ counts $b_t$ times. In one round, with $x'$ the weights before sharing,
$\langle \hat x_t, z_t \rangle - z_{t,u} \le \frac1\eta \ln\frac{x'_{t,u}}{x_{t,u}} + \frac\eta8 d_t^2$, by Hoeffding's
lemma under $\hat x_t$ and $\langle \hat x_t, g_t \rangle \le -\frac1\eta \ln \sum_k x_{t,k} e^{-\eta g_{t,k}}$;
$g_t = 0$ is Fixed Share. With $a_t = -\ln x_{t,u_t}$ for the comparator's action $u_t$, the inequalities of the
rounds of a segment add up to $\sum_t b_t (a_t - a_{t+1})$, apart from sharing, which is at most
$b_1 a_1 + (b_T - b_1) \max_t a_t$, and $a_t \le \ln(K/\alpha)$. So the bound for a known range holds with the range
$b_T$ and an additional $(b_T - b_1) \ln(1/\alpha)/\eta$.

A fixed learning rate has a term of the order $\eta T$ in its bound, and losses that depend on the weights reach it. The
slow rates $c/\sqrt t$ and $1/(t+1)$ are there for such losses. The same proof, with $b_t/\eta_t = b_t \sqrt t/c$, which
does not decrease, in place of $b_t$, bounds their regret against every sequence with $m$ switches by
$\frac{b_T \sqrt T}c A + \frac c8 \sum_t b_t\, d_t^2/\sqrt t$ with $A = (m + 1) \ln(K T) + \ln T$, since
$a_t \le \ln(K t)$ and sharing costs $\sum_{t < T} \ln\frac{t+1}t = \ln T$. With losses in $[0, 1]$ and $g_t = 0$ this
is at most $\sqrt T\, (A/c + c/4)$. The best scale is $2 \sqrt A$, for which it is $\sqrt{T A}$, and a scale that is off
by a factor $r$ has $\frac12 (r + \frac1r) \sqrt{T A}$. Neighbouring scales have the ratio 4, so one of them is off by
at most 2 if $2 \sqrt A$ is between half the smallest scale and twice the largest: the regret is at most
$1.25 \sqrt{T A}$, in every round, with neither $T$ nor $m$ known. That is the minimax rate $\sqrt{(m + 1)\, T \ln K}$
but for $T$ in the logarithm. With the scales $4, \dots, 256$ it holds for $1 \le A \le 2^{16}$. The first is so from
$K T \ge 3$ on. Beyond the second the regret is at most $1.25\, A \sqrt T/256$; there $\sqrt{T A}$ says less than
$T$ only if $T > 2^{16}$.

Wide rounds. The scale $b_t$ and the rule's rate would not recover from a single round whose losses are much wider than
all others: every later round would be small. So a round whose range is more than 4 times $b_{t-1} > 0$ is wide, and the
first $\log_2(t + 1)$ of them are learned as if all that is above the least loss by more than $b_{t-1}$ were
$b_{t-1}$, by the rule and by the bases alike; $t$ counts rounds as for the slow rates. The bounds hold for the losses
as they are learned, $\ell'$, and $\langle w, \ell - \ell' \rangle - (\ell_u - \ell'_u) \le r_t - b_{t-1}$ in a wide
round, so the price is the sum of these differences: at most $\log_2(T + 1)$ ranges. Losses that grow for good are
learned at their own scale after at most $\log_2(t + 1)$ rounds.

Starting anew. Where the first rounds are the wide ones, there is nothing to cut them to. A round is narrow if its range
is at most $b_t/4$. Once the latest rounds, three quarters of all since losses first differed, are narrow and not all
equal, Tracker starts anew: rule and bases are those of the first round, and the scale is that of the rounds to come. At
each start that number of rounds is at least 4 times that at the one before. The regret is at most the sum of the bounds
of the parts, and since the roots of $T, T/4, T/16, \dots$ add up to $2 \sqrt T$, the whole is of the same order.

Running estimates of segments, drift and variance, in memory of fixed size. The rounds are divided into at most 64
blocks of equal length, a power of two, and the mean losses of each full block are kept. When all 64 places are taken,
neighbouring blocks are merged in pairs, and the length doubles. The squared differences of consecutive losses are
summed for each action.

- Variance: half of the summed squared differences. Movements of the means add to it.
- Drift: the largest mean loss of the first block, plus the differences between the means of neighbouring blocks that
  are larger than noise, each the maximum over actions. A difference of action $k$ is larger than noise if it exceeds
  $\sqrt{8 (v_k / L) \ln(2 K n)}$, with $v_k$ its variance in a round, $L$ the length and $n$ the number of blocks:
  without changes, a normal difference has the variance $2 v_k / L$ and exceeds it with probability at most
  $2 / (2 K n)^2$, so that any of the $K n$ differences does with probability at most $1 / (2 K n)$. The same is
  computed with blocks of two, four, ... times the length, which show smaller changes; the largest drift counts.
- Segments: 1 plus the number of runs of such differences. A change within a block makes two neighbouring differences,
  so a run counts as one change; long blocks have a run of many changes, so the largest number counts.

The estimates are coarse: changes that are shorter than a block, or smaller than noise, are not seen.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from itertools import pairwise, product
from typing import Annotated, NamedTuple

import numpy as np

from driftwise.core.corners import Corners
from driftwise.core.kernel import generic_kernel, kernel
from driftwise.core.measures import Measures
from driftwise.core.memory_fields import between, distribution, packed, scratch
from driftwise.core.types import Actions, Matrix, Vector, Words
from driftwise.core.validation import Domains, flag, require
from driftwise.core.vectors import largest, least
from driftwise.learners.base import Beliefs, HintedLearner, State
from driftwise.learners.base.learner import initial_memory
from driftwise.learners.base.loops import AnyMemory, AnyRates
from driftwise.learners.experts.ada_hedge import PriorAdaHedge
from driftwise.learners.shared.grid_learner import Bank, GridLearner, grid
from driftwise.learners.shared.meta_learner import inner_memory
from driftwise.theory import pathwise_tracker

N_BLOCKS = 64
LENGTH, FULL, FILLED = 0, 1, 2  # places in the clock: rounds of a block, full blocks, rounds in the latest block
_TIE = 1e-9  # actions whose totals differ by this share of the range are tied: it may be rounding
_SLACK = 1.001  # for rounding, in the rules of a memory
_LEADER = 0  # row of the weights; then the last losses for each guess, then for each pair Fixed Share and its forms
LEARNING_RATES = (0.3, 1.0, 3.0, 10.0, 30.0)
SWITCH_RATES = (1e-8, 1e-5, 1e-2)
SLOW_SCALES = (4.0, 16.0, 64.0, 256.0)
SLOW_RATIO = 4.0  # of neighbouring scales: the kernel takes fourth powers
# With both guesses Tracker is a learner for mixtures of forecasts, where the scales above cost 1.8 %: it keeps the one
# scale with which it was measured. The default of mixtures is `driftwise.forecasting.combinations.Combinations`.
SLOW_SCALES_BOTH = (1.0,)
WIDE = 4.0  # a round with more than so many times the largest range before is wide; below 1/4 of it, narrow
_NARROW_SHARE = 0.75  # of all rounds: if so many, the latest, are narrow, Tracker starts anew
LEADER_PRIOR = 0.8


class Estimates(NamedTuple):
    """Estimates of the measures of the rounds so far."""

    segments: float
    drift: float
    variance: float


@generic_kernel
def observe(memory: AnyMemory, losses: Vector) -> None:
    """Add the losses of a round; the memory has the fields `previous`, `squares`, `sums`, `means` and `clock`."""
    clock = memory.clock
    for k in range(losses.size):
        if clock[FULL] + clock[FILLED] > 0:
            moved = losses[k] - memory.previous[k]
            memory.squares[k] += moved * moved
        memory.previous[k] = losses[k]
        memory.sums[k] += losses[k]
    clock[FILLED] += 1
    if clock[FILLED] < clock[LENGTH]:
        return
    for k in range(losses.size):
        memory.means[clock[FULL], k] = memory.sums[k] / clock[LENGTH]
        memory.sums[k] = 0.0
    clock[FULL] += 1
    clock[FILLED] = 0
    if clock[FULL] == N_BLOCKS:
        for j in range(N_BLOCKS // 2):
            for k in range(losses.size):
                memory.means[j, k] = 0.5 * (memory.means[2 * j, k] + memory.means[2 * j + 1, k])
        clock[FULL] = N_BLOCKS // 2
        clock[LENGTH] *= 2


def estimates(memory: AnyMemory) -> Estimates:
    """Return the estimates after the rounds so far."""
    length, full, filled = (int(word) for word in memory.clock)
    rounds = length * full + filled
    variance = float(memory.squares.sum()) / 2
    means = memory.means[:full]
    if full == 0:  # before round 1: the first blocks are single rounds
        return Estimates(1.0, 0.0, variance)
    per_round = memory.squares / (2 * max(1, rounds - 1))
    movements = [_movements(means, per_round / length)]
    while len(means) >= 4:
        half = len(means) // 2
        means, length = means[: 2 * half].reshape(half, 2, -1).mean(axis=1), 2 * length
        movements.append(_movements(means, per_round / length))
    segments, drifts = zip(*movements, strict=True)
    return Estimates(max(segments), max(drifts), variance)


def _movements(means: Matrix, variances: Vector) -> tuple[float, float]:
    """Return the numbers of segments and of the drift, from the means of blocks and the variances of these means."""
    noise = np.sqrt(8 * variances * np.log(2 * means.size))
    moved = np.abs(np.diff(means, axis=0))
    sizes = np.where(moved > noise, moved, 0.0).max(axis=1, initial=0.0)
    starts = np.diff((sizes > 0).astype(np.int64), prepend=0) == 1
    return 1.0 + float(starts.sum()), float(means[0].max() + sizes.sum())


def block_contradiction(memory: AnyMemory, rounds: int) -> str:
    """Return a rule that the clock or the sums of a memory break after `rounds`, '' if they break none."""
    length, full, filled = (int(word) for word in memory.clock)
    expected = 1
    while rounds >= expected * N_BLOCKS:
        expected *= 2
    if (length, full, filled) != (expected, rounds // expected, rounds % expected):
        return f"`clock` must be {[expected, rounds // expected, rounds % expected]}"
    if not (memory.sums <= filled + 1e-9).all():
        return f"`sums` must be at most {filled}"
    return ""


class Memory(NamedTuple):
    """State of the bases between rounds."""

    weights: Annotated[Matrix, distribution("bases", "actions")]  # of the next round
    totals: Annotated[Vector, between(0, "rounds", "actions")]  # total losses above the least total
    centers: Annotated[Matrix, distribution("pairs", "actions")]  # x, for each pair of rates, the slow ones last
    range: Annotated[Vector, between(0, "widest", 1)]  # b
    counted: Annotated[Vector, between(0, "rounds", 1)]  # rounds since the first whose losses differ
    cut_rounds: Annotated[Vector, between(0, "rounds", 1)]  # wide rounds that were learned as less wide
    lasted: Annotated[Vector, between(0, "rounds", 1)]  # rounds since losses first differed, whenever it started anew
    narrow_rounds: Annotated[Vector, between(0, "rounds", 1)]  # the latest of `counted`, whose ranges are small
    narrow_range: Annotated[Vector, between(0, "widest", 1)]  # the largest of their ranges
    even_total: Annotated[Vector, between(0, "rounds", 1)]  # total loss of uniform weights above the least losses
    scaled: Annotated[Vector, scratch("actions")]  # z, or a guess of it
    factors: Annotated[Matrix, scratch("factor_rows", "actions")]  # exp(-eta z); the slow rates last
    previous: Annotated[Vector, between(0, 1, "actions")]  # the losses of the last round
    squares: Annotated[Vector, between(0, "rounds", "actions")]  # squared differences of consecutive losses, summed
    sums: Annotated[Vector, between(0, "rounds", "actions")]  # losses of the latest block
    means: Annotated[Matrix, between(0, 1, N_BLOCKS, "actions")]  # of the full blocks
    clock: Annotated[Actions, packed(3)]  # rounds of a block, full blocks, rounds in the latest block


class Rates(NamedTuple):
    """The rates of Fixed Share; a pair is one learning rate and one switch rate."""

    learning_rates: Vector
    switch_rates: Vector
    slow_scales: Vector  # c: the slow rates are c / sqrt(t); each is four times the one before
    wide: float  # a round is wide if its range is over so many times the largest before, narrow if its product is below
    n_guesses: int  # the last losses, and a hint; 1 if a hint replaces the last losses


@kernel
def _most_learned(losses: Vector, widest: float, counted: float, cut_rounds: float, wide: float) -> float:
    """Return how far above the least loss a loss is learned: the range of the losses, less in a wide round."""
    width = largest(losses) - least(losses)
    if 0.0 < widest < width / wide and cut_rounds + 1.0 <= np.log2(counted + 2.0):
        return widest
    return float(width)


@generic_kernel
def _write_base_losses(memory: AnyMemory, rates: AnyRates, losses: Vector) -> None:
    """Write the losses of the bases above the least loss, as they are learned.

    Equal losses are exactly 0 for all bases, whatever the rounding of their weights.
    """
    widest, counted, cut_rounds = memory.bank0_range[0], memory.bank0_counted[0], memory.bank0_cut_rounds[0]
    most, low = _most_learned(losses, widest, counted, cut_rounds, rates.banks[0].rates.wide), least(losses)
    for b in range(memory.base_losses.size):
        above = 0.0
        for k in range(losses.size):
            above += memory.base_weights[b, k] * min(losses[k] - low, most)
        memory.base_losses[b] = min(1.0, above)


@kernel
def _uniform_below(values: Vector, limit: float, weights: Vector) -> None:
    """Write uniform weights on the actions whose values are at most the limit."""
    count = 0.0
    for k in range(values.size):
        weights[k] = 1.0 if values[k] <= limit else 0.0
        count += weights[k]
    for k in range(values.size):
        weights[k] /= count


@kernel
def _write_slow_factors(memory: Memory, rates: Rates, t: float) -> None:
    """Write the exponential factors of the slow rates of round t: of the smallest scale, then fourth powers."""
    first, root = rates.learning_rates.size, np.sqrt(t)
    for k in range(memory.scaled.size):
        memory.factors[first, k] = np.exp(-(rates.slow_scales[0] * memory.scaled[k]) / root)
    for row in range(first + 1, first + rates.slow_scales.size):
        for k in range(memory.scaled.size):
            squared = memory.factors[row - 1, k] * memory.factors[row - 1, k]
            memory.factors[row, k] = squared * squared


@kernel
def _row_of_factors(rates: Rates, pair: int) -> int:
    """Return the row of the factors of a pair of rates: the pairs of one learning rate share it, slow pairs do not."""
    n_fixed = rates.learning_rates.size * rates.switch_rates.size
    return pair // rates.switch_rates.size if pair < n_fixed else rates.learning_rates.size + pair - n_fixed


@kernel
def _scale(memory: Memory, rates: Rates, values: Vector, most: float, width: float) -> None:
    """Write the values above the least, cut to the most, as shares of the width, and the factors of the fixed rates."""
    low = least(values)
    for k in range(values.size):
        memory.scaled[k] = min(values[k] - low, most) / width if width > 0.0 else 0.0
    for i in range(rates.learning_rates.size):
        for k in range(values.size):
            memory.factors[i, k] = np.exp(-rates.learning_rates[i] * memory.scaled[k])


@kernel
def _look_ahead(memory: Memory, rates: Rates, number: int) -> None:
    """Write the weights of the bases that use the guess of some number, which is in `scaled` and `factors`."""
    _write_slow_factors(memory, rates, memory.counted[0] + 1.0)
    _uniform_below(memory.scaled, _TIE, memory.weights[number])
    n_forms, n_actions = rates.n_guesses + 1, memory.scaled.size
    for pair in range(memory.centers.shape[0]):
        center, factors = memory.centers[pair], memory.factors[_row_of_factors(rates, pair)]
        optimistic = memory.weights[n_forms * (pair + 1) + number]
        mass = 0.0
        for k in range(n_actions):
            optimistic[k] = center[k] * factors[k]
            mass += optimistic[k]
        for k in range(n_actions):
            optimistic[k] /= mass


@kernel
def _hint(memory: Memory, rates: Rates, guess: Vector) -> None:
    most = largest(guess) - least(guess)
    _scale(memory, rates, guess, most, max(memory.range[0], most))
    _look_ahead(memory, rates, rates.n_guesses)


@kernel
def _update(memory: Memory, rates: Rates, losses: Vector) -> None:
    observe(memory, losses)
    n_actions, low = losses.size, least(losses)
    most = _most_learned(losses, memory.range[0], memory.counted[0], memory.cut_rounds[0], rates.wide)
    if most < largest(losses) - low:
        memory.cut_rounds[0] += 1.0
    memory.range[0] = max(memory.range[0], most)
    _scale(memory, rates, losses, most, memory.range[0])
    if memory.range[0] > 0.0:
        memory.counted[0] += 1.0
        memory.lasted[0] += 1.0
        narrow = most <= memory.range[0] / rates.wide
        memory.narrow_rounds[0] = memory.narrow_rounds[0] + 1.0 if narrow else 0.0
        memory.narrow_range[0] = max(memory.narrow_range[0], most) if narrow else 0.0
    t = max(memory.counted[0], 1.0)  # while all losses are equal, no rate matters
    _write_slow_factors(memory, rates, t)
    above = 0.0
    for k in range(n_actions):
        learned = min(losses[k] - low, most)
        memory.totals[k] += learned
        above += learned
    memory.even_total[0] += above / n_actions
    lowest = least(memory.totals)
    for k in range(n_actions):
        memory.totals[k] -= lowest
    _uniform_below(memory.totals, _TIE * memory.range[0], memory.weights[_LEADER])
    n_shared, n_fixed = rates.switch_rates.size, memory.centers.shape[0] - rates.slow_scales.size
    for pair in range(memory.centers.shape[0]):
        center, factors = memory.centers[pair], memory.factors[_row_of_factors(rates, pair)]
        plain = memory.weights[(rates.n_guesses + 1) * (pair + 1)]
        switch_rate = rates.switch_rates[pair % n_shared] if pair < n_fixed else 1.0 / (t + 1.0)
        mass = 0.0
        for k in range(n_actions):
            center[k] *= factors[k]
            mass += center[k]
        kept, shared = (1.0 - switch_rate) / mass, switch_rate / n_actions
        for k in range(n_actions):
            center[k] = kept * center[k] + shared
            plain[k] = center[k]
    for number in range(1, rates.n_guesses + 1):
        _look_ahead(memory, rates, number)


@generic_kernel
def _start_anew(memory: AnyMemory, rates: AnyRates) -> None:
    """Forget all but the estimates if the latest rounds, most of all, are narrow."""
    enough = _NARROW_SHARE * memory.bank0_lasted[0]
    if memory.bank0_narrow_range[0] == 0.0 or memory.bank0_narrow_rounds[0] < enough:
        return
    uniform = 1.0 / memory.weights.size
    memory.base_weights[:] = uniform
    memory.bank0_centers[:] = uniform
    memory.bank0_totals[:] = 0.0
    memory.bank0_even_total[0] = 0.0
    memory.bank0_range[0], memory.bank0_counted[0], memory.bank0_cut_rounds[0] = 0.0, 0.0, 0.0
    memory.bank0_narrow_rounds[0], memory.bank0_narrow_range[0] = 0.0, 0.0
    memory.rule_totals[:] = 0.0
    memory.rule_gap[0] = 0.0
    for b in range(memory.rule_weights.size):
        memory.rule_weights[b] = np.exp(rates.rule.log_prior[b])


@dataclass(frozen=True)
class TrackingBank(Bank[Memory, Rates]):
    """The leader, the last losses, and Fixed Share in both forms for every pair of rates and for the slow rates.

    Parameters
    ----------
    learning_rates : tuple of float
        Learning rates of Fixed Share, > 0.
    switch_rates : tuple of float
        Switch rates of Fixed Share, in (0, 1).
    slow_scales : tuple of float
        Scales c of the slow rates c / sqrt(t), > 0, each four times the one before.
    wide : float
        A round is wide if its range is more than this many times the largest before, >= 1; inf: none is.
    both_guesses : bool, default False
        Whether the bases that use the last losses remain beside those that use a hint.
    """

    learning_rates: tuple[float, ...]
    switch_rates: tuple[float, ...]
    slow_scales: tuple[float, ...]
    wide: float
    both_guesses: bool = False

    update = _update
    hint = _hint

    def __post_init__(self) -> None:
        require(self, "learning_rates", all(rate > 0 for rate in self.learning_rates), "all > 0")
        require(self, "switch_rates", all(0 < rate < 1 for rate in self.switch_rates), "all in (0, 1)")
        ratios = [larger / scale for scale, larger in pairwise(self.slow_scales)]
        right = bool(self.slow_scales) and self.slow_scales[0] > 0 and all(ratio == SLOW_RATIO for ratio in ratios)
        require(self, "wide", self.wide >= 1, ">= 1")
        require(self, "slow_scales", right, f"> 0, each {SLOW_RATIO:g} times the one before")

    @property
    def pairs(self) -> list[tuple[float, float]]:
        """The pairs of a learning rate and a switch rate, in the order of the rows; the slow pairs follow."""
        return list(product(self.learning_rates, self.switch_rates))

    def labels(self) -> list[str]:
        """Return a text for each base; Fixed Share has its learning rate and its switch rate."""
        slow = [f"({scale:g}/sqrt(t), 1/(t+1))" for scale in self.slow_scales]
        rates = [*(f"({eta:g}, {alpha:g})" for eta, alpha in self.pairs), *slow]
        hinted = ["hinted-fixed-share"] if self.both_guesses else []
        forms = [form + text for text in rates for form in ("fixed-share", "optimistic-fixed-share", *hinted)]
        return ["leader", "last losses", *(["hint"] if self.both_guesses else []), *forms]

    def memories(self, n_actions: int, rounds: int, gain: float) -> Vector:
        r"""Return the effective memory of each base, in rounds.

        All rounds for the leader, one for the last losses and for the hint. Fixed Share forgets what an action lost
        before it lost $\ln(K/\alpha)/\eta$ ranges more than another, which takes that many rounds divided by `gain`,
        the part of the range by which good actions are better in a round.
        """
        pairs = [*self.pairs, *((scale / math.sqrt(rounds + 1), 1 / (rounds + 1)) for scale in self.slow_scales)]
        n_guesses = 1 + self.both_guesses
        shares = [math.log(n_actions / alpha) / eta for eta, alpha in pairs for _ in range(1 + n_guesses)]
        lengths = np.array(shares) / gain if gain > 0.0 else np.full(len(shares), np.inf)
        return np.minimum([rounds, *[1.0] * n_guesses, *lengths], rounds)

    def first_memory(self, n_actions: int, generator: Words) -> Memory:
        """Return uniform weights of all bases."""
        factors, clock = np.ones((self._n_factor_rows, n_actions)), np.array([1, 0, 0])
        return initial_memory(Memory, self.all_limits(n_actions, rounds=0), factors=factors, clock=clock)

    def rates(self, n_actions: int) -> Rates:
        """Return the rates."""
        arrays = np.array(self.learning_rates), np.array(self.switch_rates), np.array(self.slow_scales)
        return Rates(*arrays, self.wide, 1 + self.both_guesses)

    def memory_limits(self, n_actions: int, rounds: int) -> dict[str, float]:
        """Return the numbers of pairs and of rows of factors, and the widest range of losses."""
        n_pairs = len(self.pairs) + len(self.slow_scales)
        return {"pairs": n_pairs, "factor_rows": self._n_factor_rows, "widest": min(1, rounds)}

    @property
    def _n_factor_rows(self) -> int:
        return len(self.learning_rates) + len(self.slow_scales)

    def memory_contradiction(self, memory: Memory, rounds: int) -> str:
        """Check the floor of the weights of Fixed Share, on which its kernel relies, and the blocks of losses."""
        slow = 1 / (max(1.0, memory.counted[0]) + 1)
        floors = np.array([*(alpha for _, alpha in self.pairs), *[slow] * len(self.slow_scales)]) / memory.totals.size
        if not (memory.centers >= floors[:, None] / _SLACK).all():
            return "`centers` must be at least switch_rate / n_actions"
        if memory.counted[0] % 1.0 or (memory.counted[0] > 0.0) != (memory.range[0] > 0.0):
            return "`counted` must be a whole number, 0 if and only if `range` is 0"
        if memory.cut_rounds[0] % 1.0 or memory.cut_rounds[0] > math.log2(memory.counted[0] + 1.0):
            return "`cut_rounds` must be a whole number, at most the logarithm to base 2 of `counted` + 1"
        if memory.lasted[0] % 1.0 or not memory.counted[0] <= memory.lasted[0] <= rounds:
            return "`lasted` must be a whole number, at least `counted`"
        if memory.narrow_rounds[0] % 1.0 or memory.narrow_rounds[0] > max(0.0, memory.counted[0] - 1.0):
            return "`narrow_rounds` must be a whole number, below `counted`"
        if memory.narrow_range[0] > (memory.range[0] / self.wide if memory.narrow_rounds[0] else 0.0):
            return "`narrow_range` must be at most `range` divided by 4, 0 without `narrow_rounds`"
        if memory.totals.min() != 0.0:
            return "`totals` must have the least at 0"
        most = memory.range[0] * rounds * _SLACK
        if memory.totals.max() > most or memory.even_total[0] > most:
            return "`totals` and `even_total` must be at most range * rounds"
        return block_contradiction(memory, rounds)


_BANKS = {
    False: TrackingBank(LEARNING_RATES, SWITCH_RATES, SLOW_SCALES, WIDE),
    True: TrackingBank(LEARNING_RATES, SWITCH_RATES, SLOW_SCALES_BOTH, math.inf, both_guesses=True),
}


def _rule(bank: TrackingBank) -> PriorAdaHedge:
    n_others = bank.n_bases - 1
    return PriorAdaHedge((LEADER_PRIOR, *[(1.0 - LEADER_PRIOR) / n_others] * n_others))


_RULES = {both: _rule(bank) for both, bank in _BANKS.items()}


@grid("tracker", rule=PriorAdaHedge, banks=[TrackingBank], write=_write_base_losses, finish=_start_anew)
@dataclass(frozen=True)
class Tracker(GridLearner, HintedLearner):
    r"""Tracker: the default with full feedback; follows the best action through changes, without parameters.

    AdaHedge weighs 40 bases: the leader, the action that was best in the last round, and Fixed Share in its plain and
    its optimistic form, with five learning rates and three switch rates, and with four slowly falling rates. Nothing
    about the losses need be known, neither their range nor the number of rounds: multiplying all losses by a power of
    two changes no weight, down to losses of about 1e-290.

    Parameters
    ----------
    both_guesses : bool, default False
        How a hint is used: False: in place of the last losses, as the guess of the next ones. True: beside them, by 17
        more bases, so that the rule finds out which guess is better; then there is one slowly falling rate, not four,
        there are 51 bases, no round is learned as cut, and it never starts anew.

    Notes
    -----
    With $b_t$ the largest range of the losses of a round so far and $z_t = (\ell_t - \min_k \ell_{t,k}) / b_t$ (0 while
    $b_t = 0$, and $z_0 = 0$), the guess $g_t$ of $z_t$ is $z_{t-1}$ or, from a hint $h_t$,
    $(h_t - \min_k h_{t,k}) / \max(b_{t-1}, \text{range of } h_t)$. The bases of round $t$ are

    - the leader, uniform on the actions with the least total loss; its prior weight is $0.8$;
    - the last losses, uniform on the actions with the least guess;
    - for $\eta \in \{0.3, 1, 3, 10, 30\}$ and $\alpha \in \{10^{-8}, 10^{-5}, 10^{-2}\}$: $x_t$ and
      $\hat x_{t,k} \propto x_{t,k}\, e^{-\eta g_{t,k}}$, with $x_1$ uniform and
      $x_{t+1,k} = (1 - \alpha)\, x_{t,k}\, e^{-\eta z_{t,k}} / Z_t + \alpha / K$;
    - the same with $\eta_t = c/\sqrt t$ and $\alpha_t = 1/(t + 1)$ for $c \in \{4, 16, 64, 256\}$ ($c = 1$ with
      `both_guesses`), where $t$ counts the rounds since the first whose losses differ.

    A round $t$ is wide if the range of its losses is more than $4\, b_{t-1} > 0$. The first $\log_2(t + 1)$ wide rounds
    are learned as if no loss exceeded the least by more than $b_{t-1}$, so that a single round does not make all later
    ones small; $t$ counts rounds as for the slow rates. If the latest rounds, three quarters of all since losses first
    differed, have ranges of at most $b_t/4$, not all 0, Tracker starts anew.

    Totals that differ by at most $10^{-9}\, b_{t-1}$, and guesses that differ by at most $10^{-9}$, are tied. The other
    bases share the rest of the prior $\pi$ equally. With $L_{t-1,i}$ the total loss of base $i$ (the loss of weights
    $x$ is $\langle x, \ell_t \rangle$), $H = \max_i \ln(1/\pi_i) = 5.27$ and the total mixability gap $\Delta_{t-1}$
    (see `AdaHedge`), base $i$ has the weight $q_{t,i} \propto \pi_i\, e^{-H L_{t-1,i} / \Delta_{t-1}}$, or $\pi_i$
    while $\Delta_{t-1} = 0$, and Tracker plays the mean of the bases' weights under $q_t$.

    Regret: $\sqrt{\Gamma T \ln(K T)}$; in the regret study its score against the best tuned learner in hindsight is
    1.08 in the geometric mean over 166 cells, and at most 1.50. For every loss sequence, against every sequence of
    actions with $m$ switches, the regret is at most $2 \Delta_T + \min_{\eta, \alpha} \{\frac1\eta [b_T\, C(m) + (b_T -
    b_1) \ln\frac1\alpha] + \frac\eta8 \sum_t b_t\, d_t^2\}$, and at most $2 \Delta_T + \min_c \{\frac{b_T \sqrt T}c A +
    \frac c8 \sum_t b_t\, d_t^2 / \sqrt t\}$ with $A = (m + 1) \ln(K T) + \ln T$ (here $T$ and $t$ count the rounds
    since the first whose losses differ), where $C(m) = (m+1) \ln K + m \ln\frac1\alpha + (T-m-1) \ln\frac1{1-\alpha}$,
    $d_t$ is the range of $z_t$ for Fixed Share and of $z_t - g_t$ for its optimistic form, and $\Delta_T \le \frac12
    \sqrt{H \sum_t r_t^2} + (\frac23 H + 1)\, b_T$ with $r_t$ the range of $\ell_t$
    (`driftwise.theory.pathwise_tracker.tracker`). With losses in $[0, 1]$ the second minimum is at most $1.25 \sqrt{T
    A}$ for $1 \le A \le 2^{16}$, whatever $T$ and $m$ are. All of this is for the losses as they are learned; a wide
    round that is cut adds what its range is more than $b_{t-1}$, in all at most $\log_2(T + 1)$ ranges. If it starts
    anew, the bounds of the parts add up: with losses in $[0, 1]$ to about 3 times as much, as $T$ is at least 4 times
    as large at each such start (3.08 times for two actions, $T = 1000$ and $m = 0$). With `both_guesses`, where $c =
    1$, only about $\sqrt T\, A$ is proved.

    Must know: nothing.

    Time per round: O(K).

    In practice: `driftwise regret` measures its regret against the best of many tuned learners in hindsight.

    References
    ----------
    S. de Rooij, T. van Erven, P. Gruenwald, W. Koolen, "Follow the leader if you can, hedge if you must", JMLR 15
    (2014), for the rule.

    M. Herbster, M. Warmuth, "Tracking the best expert", Machine Learning 32 (1998), for Fixed Share.

    P. Zhao, Y.-J. Zhang, L. Zhang, Z.-H. Zhou, "Dynamic regret of convex and smooth functions", NeurIPS 2020, for grids
    of optimistic learners.

    Examples
    --------
    >>> learner = Tracker()
    >>> state = learner.start(n_actions=2)
    >>> for losses in ([0.0, 1.0], [0.8, 0.2], [0.1, 0.9]):
    ...     learner.update(state, losses)
    >>> learner.predict(state)
    array([0.9..., 0.0...])
    """

    both_guesses: bool = False
    version = 2  # 1 had one pair of slow rates, with the scale 1
    corners = Corners(both_guesses=(True,))
    _domains = Domains(both_guesses=flag)

    def banks(self, n_actions: int) -> list[TrackingBank]:
        """Return the bank of all bases."""
        return [_BANKS[self.both_guesses]]

    def rule(self, n_actions: int) -> PriorAdaHedge:
        """Return AdaHedge with the prior."""
        return _RULES[self.both_guesses]

    def beliefs(self, state: State) -> Beliefs:
        """Return the weights of the bases, their mean memory, and coarse estimates of segments, drift and variance.

        The estimates are those of `driftwise.learners.meta.tracker`: changes that are small or short are not
        counted.
        """
        beliefs, memory, kind = super().beliefs(state), state.memory, _BANKS[self.both_guesses]
        bank = inner_memory(memory, kind.memory_type, "bank0", memory.base_weights)
        most = float(bank.range[0]) * float(bank.counted[0])
        gain = float(bank.even_total[0] - memory.rule_totals.min()) / most if most > 0.0 else 0.0
        lengths = kind.memories(state.n_actions, state.rounds, gain)
        estimated = estimates(bank)._asdict()
        return replace(beliefs, memory=float(memory.rule_weights @ lengths), **estimated)

    def bound(self, measures: Measures) -> float:
        """Return the bound for losses in [0, 1] against sequences with as many switches as the means."""
        length, bank = _RULES[self.both_guesses].code_length, _BANKS[self.both_guesses]
        return pathwise_tracker.tracker_worst(
            measures.n_actions,
            measures.n_rounds,
            measures.segments - 1,
            length,
            bank.pairs,
            bank.slow_scales,
            bank.wide,
        )
