r"""The kernels of a mixture: from forecasts to a combined forecast, and from the truth to losses of a learner.

In round $t$ the experts forecast $x_{t,k}$; some may be missing. With $w_t$ the weights of the learner, the experts
that are awake (not missing) share the weight 1 in proportion to $w_t$, which gives $p_t$, and the forecast is
$f_t = \sum_k p_{t,k}\, x_{t,k}$. The truth $y_t$ gives each awake expert a loss:

$$ \ell_{t,k} = \phi'(f_t, y_t)\, (x_{t,k} - f_t) \quad \text{(gradient trick)} \qquad \text{or} \qquad
   \ell_{t,k} = \phi(x_{t,k}, y_t), $$

with the loss $\phi$ of the mixture. With the gradient trick, convexity gives
$\phi(f_t, y_t) - \phi(\langle u, x_t \rangle, y_t) \le \langle p_t - u, \ell_t \rangle$ for every distribution $u$ over
the awake, so the regret is bounded against every convex combination, not only against single experts.

Missing forecasts. An expert that is asleep gets the loss of the mixture, $\sum_k p_{t,k}\, \ell_{t,k}$ (0 with the
gradient trick). Then $\langle w_t, \ell_t \rangle = \langle p_t, \ell_t \rangle$, so the regret of the learner against
an expert is the regret of the mixture over the rounds in which this expert is awake. With nobody asleep, $p_t = w_t$ to
the last bit. If the awake have no weight left (below $10^{-300}$), they share it equally.

Absurd forecasts. An expert sleeps in a round in which its forecast is farther from the median of the forecasts than 30
times the larger of two: their median distance from it, and the usual error, which is the fourth largest
$|y - m|$ so far with the midmean $m$ of the awake. So its absurd forecast is neither used nor learned from, and the
guarantee is that of an expert that is asleep.

Unknown scale. With the range $r_t = \max_k \ell_{t,k} - \min_k \ell_{t,k}$ over the awake, the learner gets

$$ z_{t,k} = (\ell_{t,k} - \min_j \ell_{t,j}) / s_t \in [0, 1], \qquad s_t = \max_{i \le t} r_i , $$

the maximum over the rounds that are not cut. The first range that is not 0 is taken as it is: it is $s_1$. A round is
cut, and the learner skips it, if $r_t$ is above a limit, which is at least $16\, s_{t-1}$ and doubles with every cut.
So one wild truth changes neither the weights nor the scale. After three cut rounds in a row the next one is accepted,
so losses that stay large are learned from the fourth on. Cut number $n$ has $r_t > 2^{n-1} \cdot 16\, s_1$, so
$n < \log_2(\max_t r_t / (8 s_1))$. The regret of a round
is at most $r_t$, so cutting adds at most the sum of $r_t$ over the cut rounds to the regret: this sum and their number
are counted. If the scale is given, $s_t$ is constant, and losses of a larger range are multiplied by $s / r_t$, which
adds $r_t - s$. `driftwise.theory.pathwise_mixture` has the price of a scale that grows.

Hints. A learner that takes hints gets a guess of the losses: those of the forecasts of this round if the last truth
repeats, computed as above at the forecast before the hint, and scaled by $\max(s_{t-1}, \text{their range})$.

Late truths. A round is learned when its truth is known, at the weights of then: shares, forecast and losses are
computed again. So a learner over learners, such as `Tracker`, judges its bases in a late round by what the bases'
weights of then would have lost, not by what the bases played when the forecast was issued. `Combinations` is different
there: it keeps the forecasts of its inputs in levels 2 and 3 until the truth is known, and weighs them by what they
really forecast.

The last truth, where it is used (for hints, as an expert, or as the forecast when all are asleep), is the last one that
is not cut, by the same rule with the step from the last truth in place of the range: a wild truth does not become a
wild forecast.
"""

from __future__ import annotations

import math
import sys
from typing import NamedTuple, Protocol

from driftwise.core.kernel import clone, generic_kernel, unbound
from driftwise.core.types import Actions, Vector
from driftwise.forecasting.labelled_values import LARGEST
from driftwise.forecasting.losses import Kernel
from driftwise.learners.base.loops import Bindings, Kernels

LIMIT = 16.0  # a value above this many times the largest one so far is cut
MOST_CUTS = 3  # in a row
_DOUBLING = 2.0  # of the limit, with every value that is cut
KEPT_ERRORS = 4  # the usual error is the fourth largest
_FAR, _FAR_IF_BAD, _BAD = 30.0, 10.0, 10.0
_SHIFT = 2.0  # mean absolute errors by which the mean is shifted
LARGEST_FLOAT = sys.float_info.max


class Own(NamedTuple):
    """What a mixture keeps beside the memory of its learner."""

    plain: Vector  # the weights of the learner before a hint
    scale: Vector  # s, the limit, and how many rounds in a row were cut
    cut: Vector  # the sum of what was cut
    truth: Vector  # the last truth that was not cut; NaN before the first
    step: Vector  # the largest step of the last truth, the limit, and how many in a row were cut
    error: Vector  # the largest absolute error of the mean of the experts, the limit, and how many in a row were cut
    errors: Vector  # the sum of these errors, without those cut, their number, and the sum of the sizes of the mean
    top: Vector  # with a learner: the largest errors of the midmean, ascending, and the number of errors
    counts: Actions


class Settings(NamedTuple):
    """The options of a mixture, as the kernels read them."""

    level: float  # of the pinball loss
    gradient: bool
    hint: int
    last_truth: bool  # whether the last truth is an expert
    scaled: bool  # whether the mean scaled down and up are experts
    shifted: bool  # whether the mean shifted down and up are experts
    scale: float  # the known largest range of the losses, 0 if it is not known


@generic_kernel
def accepts(value: float, largest: Vector) -> bool:
    """Return whether a value is at most the limit, and update the largest value and the limit."""
    if largest[0] > 0.0 and value > largest[1] and largest[2] < MOST_CUTS:
        largest[1] = min(_DOUBLING * largest[1], LARGEST_FLOAT)
        largest[2] += 1.0
        return False
    largest[2] = 0.0
    largest[0] = max(largest[0], value)
    largest[1] = min(max(largest[1], LIMIT * largest[0]), LARGEST_FLOAT)
    return True


@generic_kernel
def _limited(value: float) -> float:
    """Return the nearest number that a forecast may be; NaN stays NaN."""
    return math.nan if math.isnan(value) else min(max(value, -LARGEST), LARGEST)


@generic_kernel
def write_inputs(last_truth: float, errors: Vector, settings: Settings, forecasts: Vector, inputs: Vector) -> int:
    """Write the forecasts and those of the added experts, and return how many are awake."""
    n_awake, base, above = 0, 0.0, 0.0
    for k in range(forecasts.size):
        inputs[k] = forecasts[k]
        if not math.isnan(forecasts[k]):
            if n_awake == 0:
                base = forecasts[k]  # differences from it do not lose digits to a common level
            above += forecasts[k] - base
            n_awake += 1
    mean = base + above / n_awake if n_awake > 0 else math.nan
    end = forecasts.size
    if settings.last_truth:
        inputs[end] = last_truth
        if not math.isnan(last_truth):
            n_awake += 1
        end += 1
    has_shift = not math.isnan(mean) and errors[1] > 0.0
    if settings.scaled:
        part = min(_SHIFT * errors[0] / errors[2], 1.0) if has_shift and errors[2] > 0.0 else math.nan
        inputs[end] = _limited(mean - part * mean)
        inputs[end + 1] = _limited(mean + part * mean)
        if not math.isnan(part):
            n_awake += 2
        end += 2
    if settings.shifted:
        shift = _SHIFT * errors[0] / errors[1] if has_shift else math.nan
        inputs[end] = _limited(mean - shift)
        inputs[end + 1] = _limited(mean + shift)
        if has_shift:
            n_awake += 2
    return n_awake


@generic_kernel
def follow(last_truth: Vector, step: Vector, truth: float) -> None:
    """Replace the last truth, unless the step is cut."""
    if math.isnan(last_truth[0]) or accepts(abs(truth - last_truth[0]), step):
        last_truth[0] = truth


@generic_kernel
def observe_error(error: Vector, errors: Vector, settings: Settings, inputs: Vector, truth: float) -> None:
    """Add the error of the mean of the experts to the sums that give shift and factor."""
    n_awake, above, total = 0, 0.0, 0.0
    for k in range(inputs.size - 2 * settings.scaled - 2 * settings.shifted - settings.last_truth):
        if not math.isnan(inputs[k]):
            above += inputs[k] - truth
            total += inputs[k]
            n_awake += 1
    if n_awake > 0 and accepts(abs(above / n_awake), error):
        errors[0] += abs(above / n_awake)
        errors[1] += 1.0
        errors[2] += abs(total / n_awake)


@generic_kernel
def _is_before(forecasts: Vector, k: int, other: int) -> bool:
    return bool(forecasts[k] < forecasts[other] or (forecasts[k] == forecasts[other] and k < other))


@generic_kernel
def sort_experts(forecasts: Vector, order: Actions) -> int:
    """Write the experts with a forecast in the order of forecast and number, by Shell's sort; return how many."""
    n = 0
    for k in range(forecasts.size):
        if not math.isnan(forecasts[k]):
            order[n] = k
            n += 1
    gap = 1
    while gap < n // 3:
        gap = 3 * gap + 1
    while gap > 0:
        for i in range(gap, n):
            k, j = order[i], i
            while j >= gap and _is_before(forecasts, k, order[j - gap]):
                order[j] = order[j - gap]
                j -= gap
            order[j] = k
        gap //= 3
    return n


@generic_kernel
def median_distance(forecasts: Vector, order: Actions, n: int, middle: float) -> float:
    """Return the median distance from the middle: take away the farther of both ends until half are left."""
    first, last = 0, n - 1
    for _ in range(n - 1 - n // 2):
        if middle - forecasts[order[first]] > forecasts[order[last]] - middle:
            first += 1
        else:
            last -= 1
    return float(max(middle - forecasts[order[first]], forecasts[order[last]] - middle))


@generic_kernel
def usual_error(top: Vector, n_truths: int) -> float:
    """Return the fourth largest error, while there are few a larger one."""
    return float(top[KEPT_ERRORS - max(1, min(KEPT_ERRORS, (n_truths + 3) // 4))])


@generic_kernel
def _mean_loss(losses: Vector, rounds: Vector, k: int) -> float:
    """Return the discounted mean loss of an expert, 0 before its first."""
    return float(losses[k] / rounds[k]) if rounds[k] > 0.0 else 0.0


@generic_kernel
def _is_far(distance: float, scale: float, loss: float, bad: float) -> bool:
    return bool(distance > _FAR * scale or (distance > _FAR_IF_BAD * scale and loss > bad))


@generic_kernel
def awake_part(
    losses: Vector, rounds: Vector, usual_error: float, forecasts: Vector, order: Actions, n: int
) -> tuple[int, int]:
    """Return the part of the order of experts that are not too far from the median; equal forecasts stay together."""
    low, high = forecasts[order[(n - 1) // 2]], forecasts[order[n // 2]]
    middle = low + 0.5 * (high - low)
    scale = max(median_distance(forecasts, order, n, middle), usual_error)
    bad = math.inf
    for k in range(forecasts.size):
        if rounds[k] > 0.0:
            bad = min(bad, _BAD * _mean_loss(losses, rounds, k))
    first, last = 0, n - 1
    while _is_far(middle - forecasts[order[first]], scale, _mean_loss(losses, rounds, order[first]), bad):
        first += 1
    while _is_far(forecasts[order[last]] - middle, scale, _mean_loss(losses, rounds, order[last]), bad):
        last -= 1
    while first > 0 and forecasts[order[first - 1]] == forecasts[order[first]]:
        first -= 1
    while last < n - 1 and forecasts[order[last + 1]] == forecasts[order[last]]:
        last += 1
    return first, last + 1


@generic_kernel
def see_error(top: Vector, error: float) -> None:
    """Put an error among the largest, which ascend."""
    i = 0
    if error <= top[0]:
        return
    while i + 1 < KEPT_ERRORS and top[i + 1] < error:
        top[i] = top[i + 1]
        i += 1
    top[i] = error


@generic_kernel
def midmean_cut(n: int) -> int:
    """Return how many of n forecasts the midmean leaves out at each end."""
    return max(n // 4, 1 if n > 2 else 0)


UPDATE: Kernel = unbound
HINT: Kernel = unbound
VALUE: Kernel = unbound
SLOPE: Kernel = unbound
WRITE: Kernel = unbound
TAKES_HINTS = IS_LATE = False

_NO_WEIGHT = 1e-300  # the awake have no weight left
NO_HINT, LAST_LOSSES, LAST_TRUTH = 0, 1, 2  # what the learner gets as a hint
# The counters of a mixture: rounds of the learner, cut rounds, and skipped rounds by their reason.
ROUNDS, CUT, NO_TRUTH, ALL_ASLEEP, NOT_FINITE, N_COUNTS = 0, 1, 2, 3, 4, 5


class ExpertMemory(Protocol):
    """The memory of a learner with full feedback: the weights of the next round, and more arrays."""

    weights: Vector


class Workspace(NamedTuple):
    """Temporary space, written before it is read."""

    inputs: Vector  # the forecasts, and then those of the added experts
    shares: Vector  # p
    losses: Vector
    kept: Vector  # what else is remembered of the round: the hint
    awake: Vector  # the forecasts; NaN for those that sleep
    none: Vector  # zeros
    order: Actions  # experts by their forecasts


@generic_kernel
def _write_awake(top: Vector, work: Workspace) -> tuple[int, int]:
    """Write the forecasts of those that are not too far from the others; return their part of the order."""
    inputs, order, awake = work.inputs, work.order, work.awake
    n = sort_experts(inputs, order)
    first, last = 0, n
    if n > 2:
        usual = usual_error(top, int(top[KEPT_ERRORS]))
        first, last = awake_part(work.none, work.none, usual, inputs, order, n)
    awake[:] = math.nan
    for i in range(first, last):
        awake[order[i]] = inputs[order[i]]
    return first, last


@generic_kernel
def _see_midmean(top: Vector, work: Workspace, first: int, last: int, truth: float) -> None:
    """Put the error of the midmean of the awake among the largest."""
    inputs, order, cut = work.inputs, work.order, midmean_cut(last - first)
    base, above = inputs[order[first]], 0.0
    for i in range(first + cut, last - cut):
        above += inputs[order[i]] - base
    see_error(top, abs(truth - (base + above / (last - first - 2 * cut))))
    top[KEPT_ERRORS] += 1.0


@generic_kernel
def _share(weights: Vector, inputs: Vector, n_awake: int, shares: Vector) -> None:
    """Write the weights of the awake, in proportion to those of the learner; 0 for those asleep."""
    mass = 0.0
    for k in range(inputs.size):
        shares[k] = 0.0 if math.isnan(inputs[k]) else weights[k]
        mass += shares[k]
    if n_awake == inputs.size:
        return
    for k in range(inputs.size):
        if mass >= _NO_WEIGHT:
            shares[k] /= mass
        elif not math.isnan(inputs[k]):
            shares[k] = 1.0 / n_awake


@generic_kernel
def _mean(inputs: Vector, shares: Vector) -> float:
    """Return the mean of the awake under their weights; it is never outside their hull by rounding."""
    low, high, base, above = math.inf, -math.inf, math.nan, 0.0
    for k in range(inputs.size):
        if not math.isnan(inputs[k]):
            if math.isnan(base):
                base = inputs[k]
            low, high = min(low, inputs[k]), max(high, inputs[k])
            above += shares[k] * (inputs[k] - base)
    return min(max(base + above, low), high)


def mixture_kernels(name: str, learner: Kernels, value: Kernel, slope: Kernel) -> tuple[Kernel, Kernel, Kernel]:
    """Bind the kernels of a learner and of a loss to the templates: combine, observe, observe after another round."""
    parts: Bindings = {"WRITE": clone(_write_losses, name, VALUE=value, SLOPE=slope), "UPDATE": learner.update}
    parts |= {"HINT": learner.hint or _take_no_hint, "TAKES_HINTS": learner.hint is not None}
    combine = clone(_combine, name, inline=True, **parts)
    observe = clone(_observe, name, inline=True, IS_LATE=False, **parts)
    return combine, observe, clone(_observe, f"{name}-late", inline=True, IS_LATE=True, **parts)


@generic_kernel
def _take_no_hint(memory: ExpertMemory, rates: object, guess: Vector) -> None:
    """Replace the hint of a learner that takes none."""


def _write_losses(
    settings: Settings, inputs: Vector, shares: Vector, forecast: float, truth: float, losses: Vector
) -> tuple[float, float]:
    """Write the losses of all experts, and return the least and the largest of the awake (NaN if one is not finite)."""
    low, high, mean = math.inf, -math.inf, 0.0
    slope = SLOPE(forecast, truth, settings.level) if settings.gradient else 0.0
    for k in range(inputs.size):
        if not math.isnan(inputs[k]):
            if settings.gradient:
                losses[k] = slope * (inputs[k] - forecast)
            else:
                losses[k] = VALUE(inputs[k], truth, settings.level)
                mean += shares[k] * losses[k]
            low, high = min(low, losses[k]), max(high, losses[k])
            if not math.isfinite(losses[k]) or not math.isfinite(high - low):
                return math.nan, math.nan
    for k in range(inputs.size):
        if math.isnan(inputs[k]):
            losses[k] = min(max(mean, low), high)
    return low, high


@generic_kernel
def _rescale(losses: Vector, low: float, factor: float, scale: float) -> None:
    """Write the losses as shares of the scale, in [0, 1]."""
    for k in range(losses.size):
        losses[k] = min(1.0, (losses[k] - low) * factor / scale) if scale > 0.0 else 0.0


def _combine(
    memory: ExpertMemory,
    rates: object,
    own: Own,
    settings: Settings,
    work: Workspace,
    forecasts: Vector,
    waiting: int,  # noqa: ARG001 (as that of `combinations`)
) -> float:
    """Return the combined forecast of a round, with the weights in `work.shares`.

    If nobody is awake it is the last truth, NaN if there is none.
    """
    awake, shares, guess = work.awake, work.shares, work.kept
    if write_inputs(own.truth[0], own.errors, settings, forecasts, work.inputs) == 0:
        shares[:] = 0.0
        guess[:] = 0.0
        return float(own.truth[0])
    first, last = _write_awake(own.top, work)
    n_awake = last - first
    if TAKES_HINTS and settings.hint != LAST_LOSSES:
        low, high = math.nan, math.nan
        if settings.hint == LAST_TRUTH and not math.isnan(own.truth[0]):
            _share(own.plain, awake, n_awake, shares)
            low, high = WRITE(settings, awake, shares, _mean(awake, shares), own.truth[0], guess)
        if math.isnan(high - low):
            guess[:] = 0.0
        else:
            _rescale(guess, low, 1.0, max(own.scale[0], high - low))
        HINT(memory, rates, guess)
    _share(memory.weights, awake, n_awake, shares)
    return _mean(awake, shares)


def _observe(
    memory: ExpertMemory, rates: object, own: Own, settings: Settings, work: Workspace, forecast: float, truth: float
) -> bool:
    """Update the mixture with the truth of the round in `work`; return whether the learner's kernel returned nothing.

    If another round was combined since, the learner gets the hint of this one again, and learns the round as if it were
    played now: losses are those at its present weights.
    """
    if math.isnan(truth):
        own.counts[NO_TRUTH] += 1
        return True
    first, last = _write_awake(own.top, work)
    if first == last:
        own.counts[ALL_ASLEEP] += 1
        follow(own.truth, own.step, truth)
        return True
    if IS_LATE:
        if TAKES_HINTS and settings.hint != LAST_LOSSES:
            HINT(memory, rates, work.kept)
        _share(memory.weights, work.awake, last - first, work.shares)
        forecast = _mean(work.awake, work.shares)
    _see_midmean(own.top, work, first, last, truth)
    low, high = WRITE(settings, work.awake, work.shares, forecast, truth, work.losses)
    span = high - low
    if math.isnan(span):
        own.counts[NOT_FINITE] += 1
        return True
    factor = 1.0
    if settings.scale > 0.0:
        factor = min(1.0, settings.scale / span) if span > 0.0 else 1.0
    elif not accepts(span, own.scale):
        factor = 0.0
    if factor < 1.0:
        own.counts[CUT] += 1
        own.cut[0] = min(own.cut[0] + (span - factor * span), LARGEST_FLOAT)
    if factor == 0.0 and settings.scale == 0.0:
        follow(own.truth, own.step, truth)
        return True
    _rescale(work.losses, low, factor, own.scale[0])
    if UPDATE(memory, rates, work.losses) is not None:
        return False
    for k in range(own.plain.size):
        own.plain[k] = memory.weights[k]
    own.counts[ROUNDS] += 1
    follow(own.truth, own.step, truth)
    if settings.scaled or settings.shifted:
        observe_error(own.error, own.errors, settings, work.inputs, truth)
    return True
