r"""BanditTracker: KL-UCB that restarts at changes it detects, adapts to the noise, and probes rarely played actions.

`docs/decisions.md` has what each part gains in the regret study, and why three parts without a gain there are kept.

The plays of an action are kept in an exponential histogram (`core.exponential_histograms`): sums over buckets of 1, 2,
4, ... plays, the latest in the smallest, at most three of a size. Older buckets can be discarded.

Evidence. With $n$ plays of mean $m$, and $s$ plays of mean $x$ after a border of buckets and $n - s$ of mean $y$ before
it, the evidence that the mean changed there is

$$ s\, h(|x - m|) + (n - s)\, h(|y - m|) , \qquad h(d) = (v + d) \ln(1 + d / v) - d , $$

the exponent in Bennett's inequality for losses in [0, 1] of variance $v$. It grows like $d^2 / 2v$ for small $d$, but
only like $d \ln d$ for large ones, so that a rare large loss is no change. Since $h(d) \le d^2 / 2v$, most borders
cannot have the largest evidence and need no logarithm.

Dispersion. $\phi_i$ is the variance of the losses of action $i$ relative to that of losses 0 and 1 with the same mean:

$$ \phi_i = \frac{A_i + \phi / 2}{B_i + 1/2} , \qquad \phi = \frac{\sum_i A_i + 1/2}{\sum_i B_i + 1/2} , $$

both in [1/50, 1]. $A_i$ sums half of the squared difference of successive losses, whose mean is the variance even if
the mean drifts; $B_i$ sums $m (1 - m)$, $m$ being the mean of the earlier plays and of half a loss of 1 and half a loss
of 0. Both sums are kept twice: over all plays, and with a discount of $1 - 2^{-7}$ for every later play of the action.
The larger ratio counts: noise that starts late is seen at once, and a stretch without a rare loss is not taken for
certainty. So $v = \phi_i \max(m (1 - m), \frac{1}{4 (n + 1)})$.

The index is a lower confidence bound by the Bernoulli divergence, scaled by the dispersion. With $n_i$ plays of mean
$m_i$ in the window in use, and the dispersion $\phi_i$, the index is the least $q$ with
$n_i \, kl(m_i, q) \le 0.85 \, \phi_i \ln(a + 1)$, where $a$ counts the rounds of the segment.

How often to probe. Suppose that a change gives one of $K$ actions a new mean, uniform on [0, 1] or, with probability
0.01, 0, and that there are $h$ changes per round. The new mean is below the best mean $m$ by $m^2/2 + 0.01\, m$ on
average. If an action is played every $\tau$ rounds, that is noticed after $\tau / 2$ rounds, so not knowing costs
$h\, m (m + 0.02)\, \tau / 4K$ per round, and probing costs $c / \tau$, where $c$ is the cost of a probe: how much worse
the action seemed, and what the plays cost that follow a probe by chance, which grows with the standard deviation of a
loss. The sum is least at $\tau = 2 \sqrt{K c / (h\, m (m + 0.02))}$. This is close to the diminishing exploration of
Li, Hsieh and Huang, whose proof needs a rate that does not depend on the means; that rate costs more in the cells of
the regret study.

Streaks. A probe that finds a smaller loss should be followed by another. The odds of a change are proportional to the
time in which it can have happened, and that is the time since the last play *before* the suspicious ones: probes of a
streak do not reset it. After $s$ plays of mean $x$, where the mean was $b$ before, they multiply the odds by up to
$e^g$, $g = s\, kl(x, b) / \phi_i$.

Shocks. Where all actions share noise that lasts for some rounds, the last loss of an action predicts its next one, and
the window of one play would win though no mean changes. So errors are also measured without the plays of the last two
rounds: a shock has faded by then, a change of the mean has not. A short window must be clearly better by the errors,
and not clearly worse by these late ones. A loss that repeats exactly where there is hardly any noise is no shock; then
nothing is left out.

Staying. Where losses repeat with a period, alternating between two actions can follow the bad phase of both for ever.
Playing the last action again with a small probability changes the phase.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Annotated, NamedTuple

import numpy as np
import numpy.typing as npt

from driftwise.core.divergence import divergence, least_mean, least_mean_exceeds, least_mean_roughly
from driftwise.core.exponential_histograms import merging
from driftwise.core.kernel import kernel
from driftwise.core.memory_fields import HUGE, between, generator, index, packed, scratch
from driftwise.core.random import next_uniform
from driftwise.core.types import Actions, Matrix, Vector, Words
from driftwise.core.vectors import least
from driftwise.learners.base import BanditLearner, Beliefs, State, bandit
from driftwise.learners.base.learner import NoRates
from driftwise.learners.shared.alarm_log import alarm_log, alarms, record_alarm
from driftwise.learners.shared.index_learner import lowest_by_pruning, no_level

Buckets = npt.NDArray[np.float64]  # (n_actions, BUCKETS, 2)

ENOUGH = (1.0, 8.0, 64.0, np.inf)  # plays of the windows that are compared
WINDOWS = len(ENOUGH)
_RESOLUTION = 3  # buckets of a size
BUCKETS = _RESOLUTION * 48 + 1  # enough for 2^48 plays, and one more before buckets are merged
_LEAST_DISPERSION = 0.02
_KEPT = 1.0 - 2.0**-7  # share of the recent sums of the dispersion that a play of the action keeps
_PRIOR = 0.5  # what a dispersion of 1, or that of all actions, counts for
_LEVEL_SCALE = 0.85  # on the logarithm in the index
_LEAST_GAP = 0.02  # smaller costs of a probe count as this much
_FALLS_TO_ZERO = 0.01  # probability that a change gives an action the mean 0
_BURST = 0.5  # standard deviations of a loss that a probe costs beside the gap: noise makes plays follow it
_STREAK_ODDS = 2.0  # on the squared rate of probing during a streak
_MOST_EVIDENCE = 50.0  # of a streak: its exponential times a squared number of rounds is finite
_STAY = 0.05  # probability of playing the last action again where the choice is within noise
_NOT_CHOSEN = 1.0  # the delay before the first choice; a drawn one is the same with probability 2^-53
_FORGETTING = 1.0 - 2.0**-10  # factor on the errors of the windows in each round
_LATE = 2  # rounds whose plays the late errors leave out
_HARDLY_ANY = 0.01  # variance of a loss up to which an exact repetition is no shock


class Memory(NamedTuple):
    """State of the learner between rounds."""

    plays: Annotated[Vector, between(0, "rounds", "actions")]  # since the start of the segment
    total: Annotated[Vector, between(0, "rounds", "actions")]  # their sum of losses
    buckets: Annotated[Buckets, packed("actions", BUCKETS, 2)]  # plays and sum of losses, oldest first
    n_buckets: Annotated[Actions, between(0, BUCKETS - 1, "actions")]
    noise: Annotated[Matrix, between(0, "rounds", "actions", 4)]  # A and B over all plays, and discounted
    errors: Annotated[
        Matrix, between(0, HUGE, WINDOWS, 2)
    ]  # of the mean as a prediction: with the last rounds, without
    latest_actions: Annotated[Actions, between(0, "actions", _LATE)]  # of the last outcomes, plus 1; 0: none
    latest_losses: Annotated[Vector, between(0, 1, _LATE)]
    last_rounds: Annotated[Actions, between(0, "rounds", "actions")]  # rounds before the last play
    streaks: Annotated[Matrix, between(0, "rounds", "actions", 2)]  # latest plays below the best mean, sum of losses
    means_before: Annotated[Vector, between(0, 1, "actions")]  # mean loss before the streak
    streak_starts: Annotated[Actions, between(0, "rounds", "actions")]  # rounds before the last play before the streak
    last_action: Annotated[Actions, index("actions", 1)]  # the last choice
    delays: Annotated[Vector, between(0.5, 1.5, "actions")]  # random factors on the time to the next probe
    clock: Annotated[Actions, between(0, "rounds", 2)]  # rounds so far, and those before the segment
    alarms: Annotated[Actions, alarm_log()]  # the changes
    drift: Annotated[Vector, between(0, "rounds", 1)]  # how far the mean losses of their actions jumped, in all
    means: Annotated[Vector, between(0, 1, "actions")]  # in the window in use at the last choice, 0 before the first
    budgets: Annotated[Vector, scratch("actions")]  # divergence from the mean within which an index lies
    generator: Annotated[Words, generator()]


class Indices(NamedTuple):
    """What the indices of the actions are computed from."""

    plays: Vector
    means: Vector
    budgets: Vector


@kernel
def _size(buckets: Matrix, at: int) -> float:
    return float(buckets[at, 0])


@kernel
def _merge_pair(buckets: Matrix, at: int, n_buckets: int) -> None:
    buckets[at, 0] += buckets[at + 1, 0]
    buckets[at, 1] += buckets[at + 1, 1]
    for j in range(at + 1, n_buckets - 1):
        buckets[j, 0] = buckets[j + 1, 0]
        buckets[j, 1] = buckets[j + 1, 1]


_merge = merging("segment-plays", _size, _merge_pair)


@kernel
def record(buckets: Matrix, n_buckets: int, loss: float) -> int:
    """Add a play to the buckets of an action; return how many there are then."""
    buckets[n_buckets, 0], buckets[n_buckets, 1] = 1.0, loss
    return int(_merge(buckets, n_buckets + 1, _RESOLUTION))


@kernel
def discard_before(buckets: Matrix, n_buckets: int, first: int) -> tuple[float, float]:
    """Discard the buckets of an action before the bucket `first`; return plays and sum of losses of the others."""
    plays, total = 0.0, 0.0
    for j in range(first, n_buckets):
        buckets[j - first, 0], buckets[j - first, 1] = buckets[j, 0], buckets[j, 1]
        plays += buckets[j, 0]
        total += buckets[j, 1]
    return plays, total


@kernel
def recent(buckets: Matrix, n_buckets: int, plays: float, total: float, enough: float) -> tuple[float, float]:
    """Return plays and sum of losses of the fewest latest buckets of an action with enough plays, or of all."""
    if plays <= enough:
        return plays, total
    late_plays, late_total, at = 0.0, 0.0, n_buckets
    while late_plays < enough:
        at -= 1
        late_plays += buckets[at, 0]
        late_total += buckets[at, 1]
    return late_plays, late_total


@kernel
def overall_dispersion(noise: Matrix) -> float:
    """Return the dispersion of all losses, in (0, 1]."""
    differences, variances, recent_differences, recent_variances = _PRIOR, _PRIOR, _PRIOR, _PRIOR
    for i in range(len(noise)):
        differences += noise[i, 0]
        variances += noise[i, 1]
        recent_differences += noise[i, 2]
        recent_variances += noise[i, 3]
    return min(1.0, max(differences / variances, recent_differences / recent_variances))


@kernel
def dispersion(noise: Matrix, action: int, overall: float) -> float:
    """Return the dispersion of the losses of an action."""
    added = _PRIOR * overall
    of_all = (noise[action, 0] + added) / (noise[action, 1] + _PRIOR)
    of_recent = (noise[action, 2] + added) / (noise[action, 3] + _PRIOR)
    return float(min(1.0, max(_LEAST_DISPERSION, of_all, of_recent)))


@kernel
def learn_noise(noise: Matrix, action: int, step: float, mean: float) -> float:
    """Update the dispersion with the step from one loss of the action to the next; return the loss's variance."""
    half_square, largest_variance = 0.5 * step * step, mean * (1.0 - mean)
    noise[action, 0] += half_square
    noise[action, 1] += largest_variance
    noise[action, 2] = _KEPT * noise[action, 2] + half_square
    noise[action, 3] = _KEPT * noise[action, 3] + largest_variance
    return float(dispersion(noise, action, overall_dispersion(noise)) * mean * (1.0 - mean))


@kernel
def _bennett(distance: float, variance: float) -> float:
    return float((variance + distance) * np.log1p(distance / variance) - distance)


@kernel
def strongest_change(buckets: Matrix, n_buckets: int, n: float, total: float, dispersed: float) -> tuple[float, int]:
    """Return the largest evidence of a change in `n` losses, and the first bucket after it."""
    mean = total / n
    v = dispersed * max(mean * (1.0 - mean), 0.25 / (n + 1.0))
    evidence, first = 0.0, 0
    after, sum_after = 0.0, 0.0
    for j in range(n_buckets - 1, 0, -1):
        after += buckets[j, 0]
        sum_after += buckets[j, 1]
        near = abs(sum_after / after - mean)
        far = abs((total - sum_after) / (n - after) - mean)
        if after * near * near + (n - after) * far * far <= 2.0 * v * evidence:
            continue
        here = after * _bennett(near, v) + (n - after) * _bennett(far, v)
        if here > evidence:
            evidence, first = here, j
    return evidence, first


def segment_contradiction(memory: Memory) -> str:
    """Return the fault of the buckets, or of the sums over them, '' if there is none."""
    for buckets, n_buckets, plays, total in zip(
        memory.buckets, memory.n_buckets, memory.plays, memory.total, strict=True
    ):
        sizes, sums = buckets[:n_buckets].T
        powers = [float(2**j) for j in range(48) for _ in range(int((sizes == 2.0**j).sum()))]
        if sizes[::-1].tolist() != powers or (n_buckets and sizes[-1] != 1.0):
            return "`buckets` must have sizes that are powers of two, the smallest 1 and last"
        if max((powers.count(size) for size in powers), default=0) > _RESOLUTION:
            return f"`buckets` must have at most {_RESOLUTION} of a size"
        if plays != sizes.sum():
            return "`plays` must count the plays in the buckets"
        room = 1e-9 * (1.0 + plays)
        if not ((sums >= 0.0) & (sums <= sizes)).all() or not abs(total - sums.sum()) <= room or total > plays:
            return "`total` must be the sum of the losses in the buckets, each in [0, 1]"
    return ""


@kernel
def window_in_use(errors: Matrix, rounds: int) -> int:
    """Return the window with the smallest error; all plays unless another is clearly better, and not by shocks."""
    best, clearly = WINDOWS - 1, np.log(rounds + 2.0)
    smallest, latest = errors[best, 0] - clearly, errors[best, 1] + clearly
    for j in range(WINDOWS - 1):
        if errors[j, 0] < smallest and errors[j, 1] < latest:
            best, smallest = j, errors[j, 0]
    return best


@kernel
def judge_windows(memory: Memory, action: int, loss: float, is_shock: bool, variance: float) -> None:
    """Add the errors of the windows as predictions of a loss, with and without the plays of the last rounds."""
    buckets, n_buckets = memory.buckets[action], memory.n_buckets[action]
    all_plays, all_lost = memory.plays[action], memory.total[action]
    n_out, lost = 0, 0.0
    if is_shock:
        for i in range(_LATE):
            if memory.latest_actions[i] == action + 1:
                n_out += 1
                lost += memory.latest_losses[i]
        if all_plays <= n_out:
            n_out = 0
    for j in range(WINDOWS):
        enough = ENOUGH[j]
        plays, total = recent(buckets, n_buckets, all_plays, all_lost, enough)
        error = loss - total / plays
        memory.errors[j, 0] = _FORGETTING * memory.errors[j, 0] + 0.5 * error * error / variance
        if n_out > 0:
            plays, total = recent(buckets, n_buckets, all_plays, all_lost, enough + n_out)
            error = loss - max(0.0, total - lost) / (plays - n_out)
        memory.errors[j, 1] = _FORGETTING * memory.errors[j, 1] + 0.5 * error * error / variance


@kernel
def summarise(memory: Memory) -> None:
    """Compute mean and budget of each action."""
    enough = ENOUGH[window_in_use(memory.errors, memory.clock[0])]
    overall = overall_dispersion(memory.noise)
    level = _LEVEL_SCALE * np.log(memory.clock[0] - memory.clock[1] + 1.0)
    for i in range(memory.plays.size):
        plays, total = recent(memory.buckets[i], memory.n_buckets[i], memory.plays[i], memory.total[i], enough)
        if plays > 0.0:
            memory.means[i] = total / plays
            memory.budgets[i] = dispersion(memory.noise, i, overall) * level / plays


@kernel
def _index(of: Indices, rates: NoRates, action: int, level: float) -> float:  # noqa: ARG001
    return least_mean(of.means[action], of.budgets[action]) if of.plays[action] > 0.0 else -np.inf


@kernel
def _estimate(of: Indices, rates: NoRates, action: int, level: float) -> float:  # noqa: ARG001
    return least_mean_roughly(of.means[action], of.budgets[action]) if of.plays[action] > 0.0 else -np.inf


@kernel
def _exceeds(of: Indices, rates: NoRates, action: int, level: float, bound: float) -> bool:  # noqa: ARG001
    return of.plays[action] > 0.0 and least_mean_exceeds(of.means[action], of.budgets[action], bound)


@kernel
def _no_count(of: Indices, action: int) -> float:  # noqa: ARG001
    return 0.0


lowest = lowest_by_pruning(
    "bandit-tracker", (_estimate, _exceeds), COUNTED=_no_count, LEVEL=no_level, SCORE=_index, CHANCE=1.0
)


@kernel
def _streak_odds(length: float, mean: float, mean_before: float, dispersed: float, waited: float) -> float:
    """Return twice the odds of a change before the streak of an action, in units of the rate of changes squared."""
    before = min(mean_before, 1.0 - 1e-9)  # the divergence from 1 is infinite
    evidence = length * divergence(mean, before) / dispersed
    return _STREAK_ODDS * waited * waited * float(np.expm1(min(_MOST_EVIDENCE, evidence)))


@kernel
def _overdue(memory: Memory, greedy: int) -> int:
    """Return the action whose probe is most overdue, `greedy` if none is due; every action was played."""
    n_actions, overall = memory.plays.size, overall_dispersion(memory.noise)
    best = least(memory.means)
    change_rate = (1.0 + memory.alarms[0]) / (1.0 + memory.clock[0])
    scale = 0.25 * best * (best + 2.0 * _FALLS_TO_ZERO) * change_rate / n_actions
    action, most = greedy, 1.0
    for i in range(n_actions):
        if i == greedy:
            continue
        waited = (memory.clock[0] - memory.last_rounds[i]) / memory.delays[i]
        due, m = waited * waited, memory.means[i]
        length, dispersed = memory.streaks[i, 0], dispersion(memory.noise, i, overall)
        if length > 0.0:
            since = float(memory.clock[0] - memory.streak_starts[i])
            mean = memory.streaks[i, 1] / length
            due = max(due, _streak_odds(length, mean, memory.means_before[i], dispersed, since))
        if due * scale <= most * max(m - best, _LEAST_GAP):  # with its spread the cost is larger still
            continue
        spread = np.sqrt(dispersed * m * (1.0 - m))
        due *= scale / max(m - best + _BURST * spread, _LEAST_GAP)
        if due > most:
            action, most = i, due
    return action


@kernel
def _follow_streak(memory: Memory, action: int, loss: float) -> None:
    """Lengthen the streak of an action while its mean is below the best mean and the mean before it, else end it.

    The means are those of the last choice; the loss is not recorded yet.
    """
    best, all_played = least(memory.means), True
    for i in range(memory.plays.size):
        all_played = all_played and memory.plays[i] > 0.0
    if all_played and memory.means[action] > best:
        if memory.streaks[action, 0] == 0.0:
            plays, prior = memory.plays[action], dispersion(memory.noise, action, overall_dispersion(memory.noise))
            mean = (memory.means[action] * plays + 0.5 * prior) / (plays + prior)
            memory.means_before[action] = min(1.0, max(0.0, mean))
        length, total = memory.streaks[action, 0] + 1.0, memory.streaks[action, 1] + loss
        if total < length * best and total < length * memory.means_before[action]:
            memory.streaks[action, 0], memory.streaks[action, 1] = length, total
            return
    memory.streaks[action] = 0.0
    memory.streak_starts[action] = memory.last_rounds[action]


@kernel
def _unplayed(plays: Vector, delays: Vector, generator: Words, first: int) -> tuple[int, float]:
    """Return the first action without plays that was not chosen yet, and its probability, which is 1.

    If their outcomes are all late, one of them is drawn.
    """
    n_unplayed = 0
    for i in range(first, plays.size):
        if plays[i] == 0.0:
            if delays[i] == _NOT_CHOSEN:
                return i, 1.0
            n_unplayed += 1
    action, left = first, int(n_unplayed * next_uniform(generator))
    for i in range(first, plays.size):
        if plays[i] == 0.0:
            if left == 0:
                action = i
            left -= 1
    return action, 1.0 / n_unplayed


@kernel
def _choose(memory: Memory, rates: NoRates) -> tuple[int, float]:
    summarise(memory)
    lowest_index, last = (
        lowest(Indices(memory.plays, memory.means, memory.budgets), rates)[0],
        int(memory.last_action[0]),
    )
    if memory.plays[lowest_index] == 0.0:
        action, probability = _unplayed(memory.plays, memory.delays, memory.generator, lowest_index)
    else:
        action, probability = _overdue(memory, lowest_index), 1.0
        if action == lowest_index != last and not least_mean_exceeds(
            memory.means[last], memory.budgets[last], memory.means[action]
        ):
            stays = next_uniform(memory.generator) < _STAY
            action, probability = (last, _STAY) if stays else (action, 1.0 - _STAY)
    memory.last_action[0] = action
    memory.last_rounds[action] = memory.clock[0]  # a probe whose outcome is late is not repeated
    memory.delays[action] = 0.5 + next_uniform(memory.generator)
    return action, probability


@kernel
def _restart(memory: Memory, action: int, first: int) -> None:
    """Keep the plays of the action since its bucket `first`, and the last play of every other action."""
    plays, total = memory.plays[action], memory.total[action]
    for i in range(memory.plays.size):
        n_buckets = memory.n_buckets[i]
        kept = first if i == action else max(0, n_buckets - 1)
        memory.plays[i], memory.total[i] = discard_before(memory.buckets[i], n_buckets, kept)
        memory.n_buckets[i] = n_buckets - kept
        memory.streaks[i], memory.streak_starts[i] = 0.0, memory.clock[0]
    memory.clock[1] = memory.clock[0] - int(memory.plays[action])
    memory.latest_actions[:] = 0
    record_alarm(memory.alarms, memory.clock[0] - 1)
    after, sum_after = memory.plays[action], memory.total[action]
    memory.drift[0] += abs(sum_after / after - (total - sum_after) / (plays - after))


@kernel
def _update(memory: Memory, rates: NoRates, action: int, loss: float, probability: float) -> None:  # noqa: ARG001
    memory.last_rounds[action] = memory.clock[0]
    buckets, n_buckets = memory.buckets[action], memory.n_buckets[action]
    plays, total = memory.plays[action], memory.total[action]
    if plays > 0.0:
        _follow_streak(memory, action, loss)
    memory.clock[0] += 1
    if plays > 0.0:
        step = loss - buckets[n_buckets - 1, 1]  # the last bucket holds the last play
        variance = learn_noise(memory.noise, action, step, (total + 0.5) / (plays + 1.0))
        judge_windows(memory, action, loss, step != 0.0 or variance > _HARDLY_ANY, variance)
    n_buckets, plays, total = record(buckets, n_buckets, loss), plays + 1.0, total + loss
    memory.n_buckets[action], memory.plays[action], memory.total[action] = n_buckets, plays, total
    for i in range(_LATE - 1, 0, -1):
        memory.latest_actions[i], memory.latest_losses[i] = memory.latest_actions[i - 1], memory.latest_losses[i - 1]
    memory.latest_actions[0], memory.latest_losses[0] = action + 1, loss
    dispersed = dispersion(memory.noise, action, overall_dispersion(memory.noise))
    evidence, first = strongest_change(buckets, n_buckets, plays, total, dispersed)
    if evidence > np.log(memory.plays.size * plays * memory.clock[0]):
        _restart(memory, action, first)


@bandit("bandit-tracker", choose=_choose, update=_update)
@dataclass(frozen=True)
class BanditTracker(BanditLearner[Memory, NoRates]):
    r"""BanditTracker, driftwise's default with bandit feedback: follows the best action with nothing to tune.

    For means that may stay, jump or drift. It has no parameters and is not told the number of rounds.

    Notes
    -----
    Action $i$ has $n_i$ plays of mean loss $m_i$ since the last detected change (see "Memory"). $a$ is the number of
    plays that the action of the last alarm kept, plus the rounds since that alarm; $t$ before the first alarm.
    $\phi_i \in [0.02, 1]$ is the variance of its losses relative to losses 0 and 1 with the same mean, estimated from
    the differences of successive losses: over all plays or over about the latest 128 of the action, whichever is more.

    Index. Round $t + 1$ plays an action without plays, otherwise the one with the lowest index

    $$ \min \{ q \le m_i : n_i \, kl(m_i, q) \le 0.85 \, \phi_i \ln(a + 1) \} , $$

    where $kl$ is the divergence of Bernoulli distributions, as in KL-UCB with $\phi_i = 1$. If outcomes are late, each
    action is chosen once before any is repeated; then one of those without an outcome is drawn uniformly. Such a
    choice, and one where the last action may be repeated, has a probability below 1; every other one is fixed by the
    state, which has the $U_i$ drawn before.

    Probing. Instead it plays the action $i$ for which the following is largest, if that is above 1 and the index of
    another is lowest:

    $$ \frac{m (m + 0.02) h}{4 K c_i} \max\Big( \Big(\frac{t - t_i}{U_i}\Big)^2 , 2 (t - u_i)^2 (e^{g_i} - 1) \Big) , $$

    $$ h = \frac{1 + C}{1 + t} , \quad c_i = \max\big(m_i - m + 0.5 \sqrt{\phi_i m_i (1 - m_i)} , 0.02\big) , $$

    with $m = \min_i m_i$, $C$ the number of changes detected, $t_i$ the rounds before the last play of $i$, and $U_i$
    drawn uniformly from [0.5, 1.5] at that play. The second term is there only during a streak of $i$: its latest $s_i$
    plays, whose mean $x_i$ has been below $m$ and below the mean $b_i$ before them, $g_i = s_i\, kl(x_i, b_i) / \phi_i$
    (at most 50), $u_i$ the rounds before the last play before the streak, and
    $b_i = (n_i m_i + \phi_i / 2) / (n_i + \phi_i)$ when it began. So an action is probed when expected losses from not
    noticing a change and from probing are equal.

    Staying. If none is probed and the last action $i$ is not the action $j$ of lowest index, but has an index of at
    most $m_j$, then $i$ is played again with probability 0.05. Losses that repeat with a period would otherwise keep
    the learner in the wrong phase.

    Changes. The evidence of a change is the largest, over splits of the plays of an action into earlier and later ones,
    of a likelihood ratio with the estimated variance (by Bennett's inequality; a rare outlier is weak evidence). Above
    $\ln(K n_i t)$ it is an alarm: action $i$ keeps its later plays only, every other action its last play only.

    Memory. $m_i$ and $n_i$ count all plays since the change or, where the means drift, only the latest 1, 8 or 64 of
    each action: the number whose mean predicted the losses best, if its squared errors in units of twice the variance,
    discounted by $1 - 2^{-10}$, are less than those of all plays by more than $\ln(t + 2)$. The same errors without the
    plays of the last two rounds must not be larger by $\ln(t + 2)$ or more: a shock that all actions share for some
    rounds is no drift. They are the same as the others for a loss that equals the last one of its action, if its
    variance is at most 0.01.

    Regret: no bound is proved. It is measured: in the regret study its score against the best of 63 tuned learners in
    hindsight is 0.84 in the geometric mean over 171 cells, up to 2.9 after one late change of an action that is hardly
    played, and at most 2.1 in every other of these cells. Other kinds of world defeat it: `docs/which-learner.md` has
    them, and `docs/decisions.md` what each part gains.

    Must know: nothing.

    Time per round: O(K + log t).

    References
    ----------
    A. Garivier, O. Cappe, "The KL-UCB algorithm for bounded stochastic bandits and beyond", COLT 2011 (the index).

    L. Besson, E. Kaufmann, O.-A. Maillard, J. Seznec, "Efficient change-point detection for tackling
    piecewise-stationary bandits", JMLR 23 (2022) (restarts at changes).

    G. Bennett, "Probability inequalities for the sum of independent random variables", J. American Statistical
    Association 57 (1962).

    K.-T. Li, P.-C. Hsieh, Y.-C. Huang, "Diminishing exploration: a minimalist approach to piecewise stationary
    multi-armed bandits", arXiv:2410.05734 (2024) (a schedule of probes with a bound).

    Examples
    --------
    >>> learner = BanditTracker()
    >>> learner.run(learner.start(n_actions=2, seed=1), [[0.0, 1.0]] * 5)
    array([0, 1, 0, 0, 0])
    """

    version = 2  # 1 did not discount noise, reset the odds of a change at a probe, and had no staying

    def first_memory(self, n_actions: int, generator: Words) -> Memory:
        """Return a segment without plays."""
        memory = super().first_memory(n_actions, generator)
        return memory._replace(delays=np.full(n_actions, _NOT_CHOSEN))

    def beliefs(self, state: State[Memory, NoRates]) -> Beliefs:
        """Return the plays that count, the alarms, and estimates of drift and variance.

        Segments are the alarms plus 1: changes that it follows without an alarm are not counted, for example because
        the action it played became worse. The drift is the largest mean now plus the jumps of the actions that raised
        alarms, the variance that of all actions now, for all rounds.
        """
        beliefs, memory, overall = super().beliefs(state), state.memory, overall_dispersion(state.memory.noise)
        enough = ENOUGH[window_in_use(memory.errors, state.rounds)]
        segments = zip(memory.buckets, memory.n_buckets, memory.plays, memory.total, strict=True)
        counted = sum(recent(*segment, enough)[0] for segment in segments)
        means = np.clip(memory.total / np.maximum(memory.plays, 1.0), 0.0, 1.0)
        dispersions = np.array([dispersion(memory.noise, i, overall) for i in range(state.n_actions)])
        drift, variance = float(means.max() + memory.drift[0]), float(dispersions @ (means * (1.0 - means)))
        return replace(beliefs, memory=counted, drift=drift, variance=state.rounds * variance, **alarms(memory.alarms))

    def memory_contradiction(self, memory: Memory, rounds: int) -> str:
        """Check the clock, and the buckets against the sums."""
        if memory.clock[0] != rounds:
            return f"`clock` must begin with {rounds}"
        return segment_contradiction(memory)
