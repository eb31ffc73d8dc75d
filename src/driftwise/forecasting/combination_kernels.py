"""The kernels of `Combinations`: what is learned, and how a round is combined and learned from.

`driftwise.forecasting.combinations` has the formulas.
"""

from __future__ import annotations

import math
from typing import Annotated, NamedTuple

from driftwise.core.kernel import clone, generic_kernel, unbound
from driftwise.core.memory_fields import HUGE, MOST_ROUNDS, between, distribution, packed
from driftwise.core.types import Actions, Matrix, Vector
from driftwise.forecasting.losses import Kernel
from driftwise.forecasting.mixture_kernels import (
    ALL_ASLEEP,
    CUT,
    KEPT_ERRORS,
    LARGEST_FLOAT,
    NO_TRUTH,
    NOT_FINITE,
    ROUNDS,
    Own,
    Settings,
    awake_part,
    follow,
    midmean_cut,
    observe_error,
    see_error,
    sort_experts,
    usual_error,
    write_inputs,
)
from driftwise.learners.base.loops import Bindings

VALUE: Kernel = unbound
SLOPE: Kernel = unbound
ADD_REGRETS: Kernel = unbound

# The learners of weights: rows of `Memory.weights`, `sums`, `squares`, and entries of `largest`.
DISCOUNTED, SLOW, FAST, LEADER, POLY, SWITCHING, N_LEARNERS = 0, 1, 2, 3, 4, 5, 6
# The forecasts of level 1. The first four are those of learners, with the same numbers.
MIDMEAN, LAST_TRUTH, CORRECTED, MEAN, N_BASES = 4, 5, 6, 7, 8
# The forecasts that level 3 weighs.
MIXED, CONVEX, BEST, SWITCHED, N_GUARDED = 0, 1, 2, 3, 4
_GUARDS = (-1, POLY, LEADER, SWITCHING)  # their learners; the first is of level 1
# What is remembered of a round until its truth is known: the forecasts of levels 1 and 3, the uncorrected forecast, its
# number, and between which forecasts experts were awake.
GUARDED, UNCORRECTED, NUMBER, LOW, HIGH, N_KEPT = 8, 12, 13, 14, 15, 16
MIXTURE, MIDDLE = 0, 1  # whose errors are usual
TRUTHS, LEARNED, LATE, WAS_CUT, N_COUNTED = 0, 1, 2, 3, 4

BASE_PRIOR = (1.0, 8.0, 1.0, 8.0, 4.0, 0.3, 0.3, 1.0)  # in proportion
GUARD_PRIOR = (0.85, 0.05, 0.05, 0.05)
_DISCOUNT = 0.99
# Learners, their discounts, and how often the ratio of losses is squared: the powers 4 and 8.
_INVERSE = ((SLOW, 0.995, 2), (FAST, 0.8, 3))
_FLOOR = 1e-12  # share of the mean loss that is added to the loss of an expert
_CUT = 2.0  # usual errors
_BLOCK, _FALL = 50, 100.0
_TIE = 1e-12  # relative range of forecasts that agree up to rounding
_NO_WEIGHT = 1e-300  # the awake have no weight left
_GROWTH = 2.0**64  # errors above this many units get a new unit
_LEAST_UNIT = 5e-324
_MOST_LOSS = 1e70  # larger losses count as not finite: squares of squares of them overflow


class Memory(NamedTuple):
    """What is learned of one series."""

    weights: Annotated[Matrix, distribution(N_LEARNERS, "actions")]
    sums: Annotated[Matrix, between(-HUGE, HUGE, N_LEARNERS, "actions")]  # of regrets, or discounted losses
    squares: Annotated[Matrix, between(0, HUGE, N_LEARNERS, "actions")]  # of regrets, or discounted numbers of rounds
    largest: Annotated[Vector, between(0, HUGE, N_LEARNERS)]  # squared regret; AdaHedge: gap; Fixed Share: range
    base_weights: Annotated[Vector, distribution(N_BASES)]
    base_sums: Annotated[Vector, between(-HUGE, HUGE, N_BASES)]
    base_squares: Annotated[Vector, between(0, HUGE, N_BASES)]
    base_largest: Annotated[Vector, between(0, HUGE, 1)]
    guard_weights: Annotated[Vector, distribution(N_GUARDED)]
    guard_sums: Annotated[Vector, between(-HUGE, HUGE, N_GUARDED)]
    guard_gap: Annotated[Vector, between(0, HUGE, 1)]
    top: Annotated[Matrix, between(0, HUGE, 2, KEPT_ERRORS)]  # the largest errors, ascending
    recent: Annotated[Matrix, between(0, HUGE, 2, 2)]  # the largest errors of this block and of the one before
    unit: Annotated[Vector, between(0, HUGE, 1)]  # of errors; 0 before the first round that is learned
    learned: Annotated[Vector, between(0, HUGE, 1)]  # the largest error that was learned
    known: Annotated[Vector, packed(2)]  # the last truth, and the uncorrected forecast of its round
    numbers: Annotated[Actions, between(-1, MOST_ROUNDS, 2)]  # of that round, and of the newest; -1: none
    counts: Annotated[Actions, between(0, MOST_ROUNDS, N_COUNTED)]


class Rates(NamedTuple):
    """The parameters, as the kernels read them."""

    base_prior: Vector
    guard_prior: Vector
    guards: bool  # whether far experts sleep, and wild truths are cut
    follows: bool  # whether last truth and correction are used
    degree: int  # the loss of c f and c y is c^degree that of f and y; 0: it has no unit


class Work(NamedTuple):
    """The round at hand, and temporary space, written before it is read."""

    inputs: Vector  # the forecasts that were given, and those of the added experts
    shares: Vector  # the weights of the experts: the combined forecast is their mean
    kept: Vector  # what else is remembered of the round
    awake: Vector  # the forecasts; NaN for those that sleep
    order: Actions  # experts by their forecasts
    offsets: Vector  # forecasts less a base
    rows: Matrix  # shares of the learners
    losses: Vector
    regrets: Vector
    base_shares: Vector
    base_offsets: Vector
    base_regrets: Vector
    guard_shares: Vector
    guard_offsets: Vector
    guard_regrets: Vector


@generic_kernel
def _write_awake(inputs: Vector, kept: Vector, awake: Vector) -> None:
    """Write the forecasts of a round, NaN for experts that slept in it."""
    for k in range(inputs.size):
        awake[k] = inputs[k] if kept[LOW] <= inputs[k] <= kept[HIGH] else math.nan


# Shares and regrets


@generic_kernel
def _write_shares(weights: Vector, forecasts: Vector, shares: Vector) -> None:
    """Share the weight 1 among the awake in proportion to the weights, or equally if they have none left."""
    mass, n_awake = 0.0, 0
    for k in range(forecasts.size):
        is_awake = not math.isnan(forecasts[k])
        shares[k] = weights[k] if is_awake else 0.0
        mass += shares[k]
        n_awake += is_awake
    for k in range(forecasts.size):
        if mass > _NO_WEIGHT:
            shares[k] /= mass
        else:
            shares[k] = 0.0 if math.isnan(forecasts[k]) else 1.0 / n_awake


@generic_kernel
def _mean(shares: Vector, offsets: Vector) -> float:
    total = 0.0
    for k in range(offsets.size):
        total += shares[k] * offsets[k]
    return total


@generic_kernel
def _write_offsets(forecasts: Vector, base: float, offsets: Vector) -> None:
    """Write differences from a base, which do not lose digits to a common level; 0 for the sleeping."""
    for k in range(forecasts.size):
        offsets[k] = 0.0 if math.isnan(forecasts[k]) else forecasts[k] - base


def _write_regrets(
    level: float,
    unit: float,
    weights: Vector,
    forecasts: Vector,
    base: float,
    offsets: Vector,
    truth: float,
    shares: Vector,
    regrets: Vector,
) -> None:
    """Write the regrets of the linearised loss at the present weights."""
    _write_shares(weights, forecasts, shares)
    mean = _mean(shares, offsets)
    gradient = SLOPE((base + mean) / unit, truth / unit, level)
    for k in range(forecasts.size):
        regrets[k] = 0.0 if math.isnan(forecasts[k]) else gradient * ((mean - offsets[k]) / unit)


# The learners


@generic_kernel
def _learn_poly(
    weights: Vector, sums: Vector, squares: Vector, largest: Vector, discount: float, regrets: Vector
) -> None:
    top, mass = discount * largest[0], 0.0
    for k in range(regrets.size):
        top = max(top, regrets[k] * regrets[k])
    largest[0] = top
    for k in range(regrets.size):
        sums[k] = discount * sums[k] + regrets[k]
        squares[k] = discount * squares[k] + regrets[k] * regrets[k]
        if top > 0.0:
            weights[k] = max(sums[k], 0.0) / (top + squares[k])
        mass += weights[k]
    for k in range(regrets.size):
        weights[k] = weights[k] / mass if mass > 0.0 else 1.0 / regrets.size


@generic_kernel
def _learn_inverse(
    weights: Vector,
    sums: Vector,
    rounds: Vector,
    discount: float,
    n_squarings: int,
    forecasts: Vector,
    losses: Vector,
) -> None:
    total, n_known = 0.0, 0
    for k in range(forecasts.size):
        if not math.isnan(forecasts[k]):
            sums[k] = discount * sums[k] + losses[k]
            rounds[k] = discount * rounds[k] + 1.0
        if rounds[k] > 0.0:
            total += sums[k] / rounds[k]
            n_known += 1
    mean, least = total / n_known, math.inf
    for k in range(forecasts.size):
        weights[k] = (sums[k] + mean) / (rounds[k] + 1.0) + _FLOOR * mean
        least = min(least, weights[k])
    mass = 0.0
    for k in range(forecasts.size):
        ratio = least / weights[k] if least > 0.0 else 1.0
        for _ in range(n_squarings):
            ratio *= ratio
        weights[k] = ratio
        mass += ratio
    for k in range(forecasts.size):
        weights[k] /= mass


@generic_kernel
def _mixability_gap(weights: Vector, regrets: Vector, rate: float) -> float:
    """Return the mix loss less the mean loss, of losses that are regrets below 0; it is not negative."""
    top, mean, moment = -math.inf, 0.0, 0.0
    for k in range(regrets.size):
        top = max(top, regrets[k])
        mean += weights[k] * regrets[k]
    if rate == math.inf:
        return max(top - mean, 0.0)
    for k in range(regrets.size):
        moment += weights[k] * math.exp(rate * (regrets[k] - top))
    return max(top + math.log(max(moment, _NO_WEIGHT)) / rate - mean, 0.0)


@generic_kernel
def _write_exponential(weights: Vector, sums: Vector, prior: Vector, rate: float) -> None:
    """Write weights in proportion to prior * exp(rate * sum); an empty prior is an equal one."""
    top, mass = -math.inf, 0.0
    for k in range(sums.size):
        top = max(top, sums[k])
    for k in range(sums.size):
        weights[k] = math.exp(rate * (sums[k] - top)) * (prior[k] if prior.size > 0 else 1.0)
        mass += weights[k]
    for k in range(sums.size):
        weights[k] /= mass


@generic_kernel
def _learn_ada_hedge(
    weights: Vector, sums: Vector, gap: Vector, prior: Vector, length: float, regrets: Vector, charge: float
) -> None:
    """AdaHedge with a prior whose largest code length is `length`; `gap` has one entry."""
    gap[0] += charge * _mixability_gap(weights, regrets, length / gap[0] if gap[0] > 0.0 else math.inf)
    for k in range(regrets.size):
        sums[k] += regrets[k]
    if gap[0] > 0.0:
        _write_exponential(weights, sums, prior, length / gap[0])


@generic_kernel
def _learn_switching(weights: Vector, rounds: Vector, largest: Vector, regrets: Vector) -> None:
    low, high = math.inf, -math.inf
    for k in range(regrets.size):
        low, high = min(low, regrets[k]), max(high, regrets[k])
    largest[0] = max(largest[0], high - low)
    if largest[0] <= 0.0:
        return
    rounds[0] += 1.0
    rate = 2.0 * math.sqrt(math.log(regrets.size) / rounds[0]) / largest[0]
    mass, share = 0.0, 1.0 / (rounds[0] + 1.0)
    for k in range(regrets.size):
        weights[k] *= math.exp(rate * (regrets[k] - high))
        mass += weights[k]
    for k in range(regrets.size):
        weights[k] = (1.0 - share) * weights[k] / mass + share / regrets.size


@generic_kernel
def _code_length(prior: Vector) -> float:
    length = 0.0
    for i in range(prior.size):
        length = max(length, -math.log(prior[i]))
    return length


@generic_kernel
def _learn_bases(
    weights: Vector, sums: Vector, squares: Vector, largest: Vector, prior: Vector, regrets: Vector, charge: float
) -> None:
    """Weigh the forecasts of level 1."""
    length, top = _code_length(prior), largest[0]
    for i in range(N_BASES):
        top = max(top, regrets[i] * regrets[i])
    largest[0] = top
    if top <= 0.0:
        return
    highest, mass = -math.inf, 0.0
    for i in range(N_BASES):
        sums[i] += regrets[i]
        squares[i] += regrets[i] * regrets[i]
        rate = math.sqrt(length / (charge * (squares[i] + top)))
        highest = max(highest, rate * sums[i])
    for i in range(N_BASES):
        variance = squares[i] + top
        evidence = math.sqrt(length / (charge * variance)) * sums[i]
        weights[i] = prior[i] * math.sqrt(top / variance) * math.exp(evidence - highest)
        mass += weights[i]
    for i in range(N_BASES):
        weights[i] /= mass


# Combining


@generic_kernel
def _write_bases(memory: Memory, follows: bool, work: Work, base: float, first: int, last: int, cut: int) -> None:
    """Write the forecasts of level 1; all but the midmean sleep before the first truth."""
    order, offsets, kept = work.order, work.offsets, work.kept
    total = 0.0
    for i in range(first + cut, last - cut):
        total += offsets[order[i]]
    kept[MIDMEAN] = base + total / (last - first - 2 * cut)
    kept[UNCORRECTED] = base + _mean(work.rows[SLOW], offsets)
    if memory.numbers[0] < 0:
        return
    for i in range(MIDMEAN):
        kept[i] = base + _mean(work.rows[i], offsets)
    total = 0.0
    for i in range(first, last):
        total += offsets[order[i]]
    kept[MEAN] = base + total / (last - first)
    if follows:
        kept[LAST_TRUTH] = min(max(memory.known[0], kept[LOW]), kept[HIGH])
        corrected = kept[UNCORRECTED] + (memory.known[0] - memory.known[1])
        kept[CORRECTED] = min(max(corrected, kept[LOW]), kept[HIGH])


@generic_kernel
def _write_guarded(memory: Memory, work: Work, base: float) -> None:
    """Write the forecasts that level 3 weighs; all but the first sleep before the first truth."""
    kept, mixed = work.kept, 0.0
    for i in range(N_BASES):
        if work.base_shares[i] > 0.0:
            mixed += work.base_shares[i] * (kept[i] - base)
    kept[GUARDED + MIXED] = base + mixed
    if memory.numbers[0] >= 0:
        for i in range(CONVEX, N_GUARDED):
            kept[GUARDED + i] = base + _mean(work.rows[_GUARDS[i]], work.offsets)


@generic_kernel
def _add_enclosing(
    forecasts: Vector, order: Actions, first: int, last: int, part: float, target: float, shares: Vector
) -> None:
    """Add the weights of the two experts that enclose a forecast in the hull."""
    if part <= 0.0:
        return
    i = first
    while i < last - 1 and forecasts[order[i]] < target:
        i += 1
    above = forecasts[order[i]]
    upper = 1.0
    if i > first and target < above:
        below = forecasts[order[i - 1]]
        upper = (target - below) / (above - below)
        shares[order[i - 1]] += part * (1.0 - upper)
    shares[order[i]] += part * upper


@generic_kernel
def _write_expert_shares(work: Work, first: int, last: int, cut: int) -> None:
    """Write the weights of the experts: what all levels give them."""
    order, shares, rows, bases, guard = work.order, work.shares, work.rows, work.base_shares, work.guard_shares
    shares[:] = 0.0
    for i in range(MIDMEAN):
        for k in range(shares.size):
            shares[k] += guard[MIXED] * bases[i] * rows[i, k]
    for k in range(shares.size):
        shares[k] += guard[CONVEX] * rows[POLY, k] + guard[BEST] * rows[LEADER, k]
        shares[k] += guard[SWITCHED] * rows[SWITCHING, k]
    for i in range(first, last):
        shares[order[i]] += guard[MIXED] * bases[MEAN] / (last - first)
        if first + cut <= i < last - cut:
            shares[order[i]] += guard[MIXED] * bases[MIDMEAN] / (last - first - 2 * cut)
    for i in (LAST_TRUTH, CORRECTED):
        _add_enclosing(work.inputs, order, first, last, guard[MIXED] * bases[i], work.kept[i], shares)


def _combine(
    memory: Memory, rates: Rates, own: Own, settings: Settings, work: Work, forecasts: Vector, waiting: int
) -> float:
    """Return the combined forecast of a round, with the weights in `work.shares`; it changes only the newest number.

    `waiting` is the number of other rounds whose truth is still to come. If nobody is awake it is the last truth, NaN
    if there is none.
    """
    counts, kept, offsets = own.counts, work.kept, work.offsets
    number = counts[ROUNDS] + counts[NO_TRUTH] + counts[ALL_ASLEEP] + counts[NOT_FINITE] + waiting
    write_inputs(own.truth[0], own.errors, settings, forecasts, work.inputs)
    n = sort_experts(work.inputs, work.order)
    if n > 0 or not math.isnan(own.truth[0]):  # otherwise a mixture refuses the round
        memory.numbers[1] = max(memory.numbers[1], number)
    kept[:] = math.nan
    kept[NUMBER] = number
    work.shares[:] = 0.0
    if n == 0:
        return float(own.truth[0])
    first, last = 0, n
    if rates.guards and n > 2:
        usual = usual_error(memory.top[MIDDLE], memory.counts[TRUTHS])
        first, last = awake_part(memory.sums[SLOW], memory.squares[SLOW], usual, work.inputs, work.order, n)
    kept[LOW], kept[HIGH] = work.inputs[work.order[first]], work.inputs[work.order[last - 1]]
    base = work.inputs[work.order[(first + last) // 2]]
    _write_awake(work.inputs, kept, work.awake)
    _write_offsets(work.awake, base, offsets)
    for i in range(N_LEARNERS):
        _write_shares(memory.weights[i], work.awake, work.rows[i])
    cut = midmean_cut(last - first)
    _write_bases(memory, rates.follows, work, base, first, last, cut)
    _write_shares(memory.base_weights, kept[:GUARDED], work.base_shares)
    _write_guarded(memory, work, base)
    _write_shares(memory.guard_weights, kept[GUARDED:UNCORRECTED], work.guard_shares)
    _write_expert_shares(work, first, last, cut)
    return float(min(max(base + _mean(work.shares, offsets), kept[LOW]), kept[HIGH]))


# Learning


def _believed(
    level: float, top: Matrix, recent: Matrix, n_truths: int, forecast: float, middle: float, truth: float
) -> float:
    """Return the truth to learn from: at most twice the usual error away, if it is unusual for the midmean too."""
    error, error_of_middle = abs(truth - forecast), abs(truth - middle)
    recent[MIXTURE, 0], recent[MIDDLE, 0] = max(recent[MIXTURE, 0], error), max(recent[MIDDLE, 0], error_of_middle)
    see_error(top[MIXTURE], error)
    see_error(top[MIDDLE], error_of_middle)
    most = _CUT * usual_error(top[MIXTURE], n_truths)
    if error <= most or error_of_middle <= usual_error(top[MIDDLE], n_truths):
        return truth
    nearer = forecast + math.copysign(most, truth - forecast)
    # The percentage of a nearer truth can be larger, or not finite.
    is_less = VALUE(forecast, nearer, level) <= VALUE(forecast, truth, level) < math.inf
    return nearer if is_less else truth


@generic_kernel
def _rescale(memory: Memory, factor: float) -> None:
    """Multiply all losses that were learned."""
    for i in range(N_LEARNERS):
        for k in range(memory.sums.shape[1]):
            memory.sums[i, k] *= factor
    for i in (DISCOUNTED, POLY):
        memory.largest[i] *= factor * factor
        for k in range(memory.squares.shape[1]):
            memory.squares[i, k] *= factor * factor
    for i in (LEADER, SWITCHING):
        memory.largest[i] *= factor
    for i in range(N_BASES):
        memory.base_sums[i] *= factor
        memory.base_squares[i] *= factor * factor
    memory.base_largest[0] *= factor * factor
    for i in range(N_GUARDED):
        memory.guard_sums[i] *= factor
    memory.guard_gap[0] *= factor


@generic_kernel
def _adapt_unit(memory: Memory, degree: int, farthest: float) -> None:
    """Choose the unit in the first round that is learned, and if errors grow far above it: a power of two.

    `_follow_fall` multiplies it by the ratio of two errors, so it is none from then on until errors grow again.
    """
    if degree == 0:
        memory.unit[0] = 1.0
        return
    before = memory.unit[0]
    if before > 0.0 and farthest <= _GROWTH * before:
        return
    memory.unit[0] = math.ldexp(0.5, math.frexp(farthest)[1])
    if before > 0.0:
        factor = 1.0
        for _ in range(degree):
            factor *= before / memory.unit[0]
        _rescale(memory, factor)


@generic_kernel
def _start_guard_afresh(memory: Memory, rates: Rates) -> None:
    n_actions = memory.sums.shape[1]
    for i in (POLY, SWITCHING):
        memory.largest[i] = 0.0
        for k in range(n_actions):
            memory.weights[i, k], memory.sums[i, k], memory.squares[i, k] = 1.0 / n_actions, 0.0, 0.0
    memory.guard_gap[0] = 0.0
    for i in range(N_GUARDED):
        memory.guard_weights[i], memory.guard_sums[i] = rates.guard_prior[i], 0.0


@generic_kernel
def _follow_fall(memory: Memory, rates: Rates) -> None:
    """If the errors of the last one to two blocks are all far below the largest learned, count in a smaller unit."""
    now = max(memory.recent[MIXTURE, 0], memory.recent[MIXTURE, 1])
    if now > 0.0 and memory.learned[0] > _FALL * now:
        if rates.degree > 0:
            factor = now / memory.learned[0]
            # What was learned stays the same number of units.
            memory.unit[0] = max(memory.unit[0] * factor, _LEAST_UNIT)
            _start_guard_afresh(memory, rates)
        memory.learned[0] = now
        for whose in (MIXTURE, MIDDLE):
            most = max(memory.recent[whose, 0], memory.recent[whose, 1])
            for i in range(KEPT_ERRORS):
                memory.top[whose, i] = min(memory.top[whose, i], most)
    for whose in (MIXTURE, MIDDLE):
        memory.recent[whose, 1] = memory.recent[whose, 0]
        memory.recent[whose, 0] = 0.0


def _write_losses(
    level: float, unit: float, forecasts: Vector, low: float, high: float, truth: float, losses: Vector
) -> bool:
    """Write the losses of the awake; return whether they and all regrets are finite and not huge."""
    least, most = SLOPE(low / unit, truth / unit, level), SLOPE(high / unit, truth / unit, level)
    largest = max(abs(least), abs(most)) * ((high - low) / unit)  # slopes of a convex loss are between these
    fine: bool = largest <= _MOST_LOSS
    for k in range(forecasts.size):
        losses[k] = 0.0
        if not math.isnan(forecasts[k]):
            losses[k] = VALUE(forecasts[k] / unit, truth / unit, level)
            fine = fine and abs(losses[k]) <= _MOST_LOSS
    return fine


def _learn(memory: Memory, rates: Rates, settings: Settings, work: Work, truth: float, late: int) -> None:
    """Let all levels learn from a round, at their present weights."""
    level, unit, base, kept = settings.level, memory.unit[0], work.kept[MIDMEAN], work.kept
    awake, offsets, shares, regrets, losses = work.awake, work.offsets, work.rows[0], work.regrets, work.losses
    memory.counts[LEARNED] += 1
    memory.counts[LATE] += late
    _write_offsets(awake, base, offsets)
    for i in (DISCOUNTED, POLY, SWITCHING):
        weights, sums, squares = memory.weights[i], memory.sums[i], memory.squares[i]
        largest = memory.largest[i : i + 1]
        ADD_REGRETS(level, unit, weights, awake, base, offsets, truth, shares, regrets)
        if i == SWITCHING:
            _learn_switching(weights, squares, largest, regrets)
        else:
            _learn_poly(weights, sums, squares, largest, _DISCOUNT if i == DISCOUNTED else 1.0, regrets)
    for i, discount, n_squarings in _INVERSE:
        weights, sums, rounds = memory.weights[i], memory.sums[i], memory.squares[i]
        _learn_inverse(weights, sums, rounds, discount, n_squarings, awake, losses)
    _write_shares(memory.weights[LEADER], awake, shares)
    mean = _mean(shares, losses)
    for k in range(awake.size):
        regrets[k] = 0.0 if math.isnan(awake[k]) else mean - losses[k]
    gap, length = memory.largest[LEADER : LEADER + 1], math.log(awake.size)
    _learn_ada_hedge(memory.weights[LEADER], memory.sums[LEADER], gap, memory.known[:0], length, regrets, 1.0)
    _write_offsets(kept[:GUARDED], base, work.base_offsets)
    weights, sums, squares, regrets = memory.base_weights, memory.base_sums, memory.base_squares, work.base_regrets
    ADD_REGRETS(level, unit, weights, kept[:GUARDED], base, work.base_offsets, truth, work.base_shares, regrets)
    charge = math.sqrt(1.0 + memory.counts[LATE] / memory.counts[LEARNED])
    _learn_bases(weights, sums, squares, memory.base_largest, rates.base_prior, regrets, charge)
    guarded, prior = kept[GUARDED:UNCORRECTED], rates.guard_prior
    _write_offsets(guarded, base, work.guard_offsets)
    weights, sums, gap, regrets = memory.guard_weights, memory.guard_sums, memory.guard_gap, work.guard_regrets
    ADD_REGRETS(level, unit, weights, guarded, base, work.guard_offsets, truth, work.guard_shares, regrets)
    _learn_ada_hedge(weights, sums, gap, prior, _code_length(prior), regrets, 1.0 + late)


BELIEVED: Kernel = unbound
WRITE_LOSSES: Kernel = unbound
LEARN: Kernel = unbound


def _observe(
    memory: Memory, rates: Rates, own: Own, settings: Settings, work: Work, forecast: float, truth: float
) -> bool:
    """Update the mixture with the truth of the round in `work`; return True."""
    kept, counts = work.kept, own.counts
    if math.isnan(truth):
        counts[NO_TRUTH] += 1
        return True
    follow(own.truth, own.step, truth)
    if math.isnan(kept[MIDMEAN]):
        counts[ALL_ASLEEP] += 1
        return True
    number, believed = int(kept[NUMBER]), truth
    if rates.guards:
        memory.counts[TRUTHS] += 1
        n_truths = memory.counts[TRUTHS]
        believed = BELIEVED(settings.level, memory.top, memory.recent, n_truths, forecast, kept[MIDMEAN], truth)
    memory.learned[0] = max(memory.learned[0], abs(believed - forecast))
    if rates.guards and memory.counts[TRUTHS] % _BLOCK == 0:
        _follow_fall(memory, rates)
    low, high = kept[LOW], kept[HIGH]
    counts[ROUNDS] += 1
    if high - low > _TIE * max(abs(low), abs(high)):
        _write_awake(work.inputs, kept, work.awake)
        _adapt_unit(memory, rates.degree, max(abs(low - believed), abs(high - believed)))
        if WRITE_LOSSES(settings.level, memory.unit[0], work.awake, low, high, believed, work.losses):
            LEARN(memory, rates, settings, work, believed, max(0, memory.numbers[1] - number))
        else:
            counts[ROUNDS] -= 1
            counts[NOT_FINITE] += 1
    is_cut, was_cut = believed != truth, memory.counts[WAS_CUT] == 1
    memory.counts[WAS_CUT] = is_cut
    if is_cut:
        counts[CUT] += 1
        lost = VALUE(forecast, truth, settings.level) - VALUE(forecast, believed, settings.level)
        own.cut[0] = min(own.cut[0] + lost, LARGEST_FLOAT)
    if (was_cut or not is_cut) and number > memory.numbers[0]:
        memory.numbers[0] = number
        memory.known[0], memory.known[1] = truth, kept[UNCORRECTED]
    if settings.scaled or settings.shifted:
        observe_error(own.error, own.errors, settings, work.inputs, truth)
    return True


def combination_kernels(name: str, value: Kernel, slope: Kernel) -> tuple[Kernel, Kernel]:
    """Bind the kernels of a loss to the templates: combine, observe."""
    of_loss: Bindings = {"VALUE": value, "SLOPE": slope}
    regrets = clone(_write_regrets, name, **of_loss)
    believed = clone(_believed, name, **of_loss)
    losses = clone(_write_losses, name, **of_loss)
    learn = clone(_learn, name, ADD_REGRETS=regrets)
    parts: Bindings = {"BELIEVED": believed, "WRITE_LOSSES": losses, "LEARN": learn, "VALUE": value}
    return clone(_combine, name, inline=True), clone(_observe, name, inline=True, **parts)
