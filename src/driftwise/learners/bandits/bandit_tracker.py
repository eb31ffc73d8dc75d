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
of 0. So $v = \phi_i \max(m (1 - m), \frac{1}{4 (n + 1)})$.

The index is a lower confidence bound by the Bernoulli divergence, scaled by the dispersion. With $n_i$ plays of mean
$m_i$ in the window in use, and the dispersion $\phi_i$, the index is the least $q$ with
$n_i \, kl(m_i, q) \le 0.85 \, \phi_i \ln(a + 1)$, where $a$ counts the rounds of the segment.

How often to probe. Suppose that a change gives one of $K$ actions a new mean, uniform on [0, 1], and that there are $h$
changes per round. An action becomes better than the best mean $m$ at the rate $h m / K$ per round, and then by
$m / 2$ on average. If it is played every $\tau$ rounds, that is noticed after $\tau / 2$ rounds, so not knowing costs
$h m^2 \tau / 4K$ per round, and probing costs $\Delta / \tau$, where $\Delta$ is how much worse the action seemed. The
sum is least at $\tau = \frac{2}{m} \sqrt{K \Delta / h}$. Evidence $g$ that the action has become better multiplies the
odds of that, and here the rate of probing. The evidence is that of the likeliest new mean; the likelihood averaged
over new means is smaller by a factor of about $\sqrt s$ after $s$ plays. So the factor is $e^g / \sqrt s$.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Annotated, NamedTuple

import numpy as np
import numpy.typing as npt

from driftwise.core.divergence import least_mean, least_mean_exceeds, least_mean_roughly
from driftwise.core.exponential_histograms import merging
from driftwise.core.kernel import kernel
from driftwise.core.memory_fields import HUGE, between, generator, packed, scratch
from driftwise.core.random import next_uniform
from driftwise.core.types import Actions, Matrix, Vector, Words
from driftwise.learners.base import BanditLearner, Beliefs, State, bandit
from driftwise.learners.base.learner import NoRates
from driftwise.learners.shared.alarm_log import alarm_log, alarms, record_alarm
from driftwise.learners.shared.index_learner import lowest_by_pruning, no_level

Buckets = npt.NDArray[np.float64]  # (n_actions, BUCKETS, 2)

WINDOWS = 4  # that are compared: of 1, 8, 64 plays, and all plays
_RESOLUTION = 3  # buckets of a size
BUCKETS = _RESOLUTION * 48 + 1  # enough for 2^48 plays, and one more before buckets are merged
_LEAST_DISPERSION = 0.02
_PRIOR = 0.5  # what a dispersion of 1, or that of all actions, counts for
_LEVEL_SCALE = 0.85  # on the logarithm in the index
_LEAST_GAP = 0.02  # smaller gaps count as this much
_NOT_CHOSEN = 1.0  # the delay before the first choice; a drawn one is the same with probability 2^-53
_FORGETTING = 1.0 - 2.0**-10  # factor on the errors of the windows in each round


class Memory(NamedTuple):
    """State of the learner between rounds."""

    plays: Annotated[Vector, between(0, "rounds", "actions")]  # since the start of the segment
    total: Annotated[Vector, between(0, "rounds", "actions")]  # their sum of losses
    buckets: Annotated[Buckets, packed("actions", BUCKETS, 2)]  # plays and sum of losses, oldest first
    n_buckets: Annotated[Actions, between(0, BUCKETS - 1, "actions")]
    differences: Annotated[Vector, between(0, "rounds", "actions")]  # A
    variances: Annotated[Vector, between(0, "rounds", "actions")]  # B
    errors: Annotated[Vector, between(0, HUGE, WINDOWS)]  # of the mean of each window as a prediction
    last_rounds: Annotated[Actions, between(0, "rounds", "actions")]  # rounds before the last play
    haste: Annotated[Vector, between(1, HUGE, "actions")]  # the evidence that the mean loss has fallen, as a factor
    delays: Annotated[Vector, between(0.5, 1.5, "actions")]  # random factors on the time to the next probe
    clock: Annotated[Actions, between(0, "rounds", 2)]  # rounds so far, and those before the segment
    alarms: Annotated[Actions, alarm_log()]  # the changes
    drift: Annotated[Vector, between(0, "rounds", 1)]  # how far the mean losses of their actions jumped, in all
    means: Annotated[Vector, scratch("actions")]  # in the window in use
    budgets: Annotated[Vector, scratch("actions")]  # divergence from the mean within which an index lies
    generator: Annotated[Words, generator()]


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
def record(memory: Memory, action: int, loss: float) -> None:
    """Add a play to the segment."""
    at = memory.n_buckets[action]
    memory.buckets[action, at, 0], memory.buckets[action, at, 1] = 1.0, loss
    memory.n_buckets[action] = _merge(memory.buckets[action], at + 1, _RESOLUTION)
    memory.plays[action] += 1.0
    memory.total[action] += loss


@kernel
def discard_before(memory: Memory, action: int, first: int) -> None:
    """Discard the buckets of an action before the bucket `first`."""
    plays, total, at = 0.0, 0.0, 0
    for j in range(first, memory.n_buckets[action]):
        memory.buckets[action, at, 0] = memory.buckets[action, j, 0]
        memory.buckets[action, at, 1] = memory.buckets[action, j, 1]
        plays += memory.buckets[action, at, 0]
        total += memory.buckets[action, at, 1]
        at += 1
    memory.n_buckets[action] = at
    memory.plays[action], memory.total[action] = plays, total


@kernel
def recent(memory: Memory, action: int, window: int) -> tuple[float, float]:
    """Return plays and sum of losses of the latest buckets: 1, 8 or 64 plays or slightly more, or all plays."""
    least = 8.0**window
    if window == WINDOWS - 1 or memory.plays[action] <= least:
        return memory.plays[action], memory.total[action]
    plays, total, at = 0.0, 0.0, memory.n_buckets[action]
    while plays < least:
        at -= 1
        plays += memory.buckets[action, at, 0]
        total += memory.buckets[action, at, 1]
    return plays, total


@kernel
def overall_dispersion(memory: Memory) -> float:
    """Return the dispersion of all losses, in (0, 1]."""
    differences, variances = _PRIOR, _PRIOR
    for i in range(memory.plays.size):
        differences += memory.differences[i]
        variances += memory.variances[i]
    return min(1.0, differences / variances)


@kernel
def dispersion(memory: Memory, action: int, overall: float) -> float:
    """Return the dispersion of the losses of an action."""
    ratio = (memory.differences[action] + _PRIOR * overall) / (memory.variances[action] + _PRIOR)
    return float(min(1.0, max(_LEAST_DISPERSION, ratio)))


@kernel
def learn_noise(memory: Memory, action: int, loss: float) -> float:
    """Update the dispersion with a loss that is not the first of the action; return the loss's variance."""
    step = loss - memory.buckets[action, memory.n_buckets[action] - 1, 1]  # the last bucket holds the last play
    m = (memory.total[action] + 0.5) / (memory.plays[action] + 1.0)
    memory.differences[action] += 0.5 * step * step
    memory.variances[action] += m * (1.0 - m)
    return float(dispersion(memory, action, overall_dispersion(memory)) * m * (1.0 - m))


@kernel
def _bennett(distance: float, variance: float) -> float:
    return float((variance + distance) * np.log1p(distance / variance) - distance)


@kernel
def strongest_change(memory: Memory, action: int) -> tuple[float, int, float]:
    """Return the largest evidence of a change, the first bucket after it, and the plays since a fall of the mean loss.

    The latter is 0 if the mean loss has risen.
    """
    n, total = memory.plays[action], memory.total[action]
    mean = total / n
    v = dispersion(memory, action, overall_dispersion(memory)) * max(mean * (1.0 - mean), 0.25 / (n + 1.0))
    evidence, first, fallen_for = 0.0, 0, 0.0
    after, sum_after = 0.0, 0.0
    for j in range(memory.n_buckets[action] - 1, 0, -1):
        after += memory.buckets[action, j, 0]
        sum_after += memory.buckets[action, j, 1]
        near = abs(sum_after / after - mean)
        far = abs((total - sum_after) / (n - after) - mean)
        if after * near * near + (n - after) * far * far <= 2.0 * v * evidence:
            continue
        here = after * _bennett(near, v) + (n - after) * _bennett(far, v)
        if here > evidence:
            evidence, first, fallen_for = here, j, after if sum_after < after * mean else 0.0
    return evidence, first, fallen_for


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
def window_in_use(memory: Memory) -> int:
    """Return the window with the smallest error; all plays unless another is clearly better."""
    best = WINDOWS - 1
    least = memory.errors[best] - np.log(memory.clock[0] + 2.0)
    for j in range(WINDOWS - 1):
        if memory.errors[j] < least:
            best, least = j, memory.errors[j]
    return best


@kernel
def summarise(memory: Memory) -> None:
    """Compute mean and budget of each action."""
    window, overall = window_in_use(memory), overall_dispersion(memory)
    level = _LEVEL_SCALE * np.log(memory.clock[0] - memory.clock[1] + 1.0)
    for i in range(memory.plays.size):
        plays, total = recent(memory, i, window)
        if plays > 0.0:
            memory.means[i] = total / plays
            memory.budgets[i] = dispersion(memory, i, overall) * level / plays


@kernel
def _index(memory: Memory, rates: NoRates, action: int, level: float) -> float:  # noqa: ARG001
    return least_mean(memory.means[action], memory.budgets[action]) if memory.plays[action] > 0.0 else -np.inf


@kernel
def _estimate(memory: Memory, rates: NoRates, action: int, level: float) -> float:  # noqa: ARG001
    return least_mean_roughly(memory.means[action], memory.budgets[action]) if memory.plays[action] > 0.0 else -np.inf


@kernel
def _exceeds(memory: Memory, rates: NoRates, action: int, level: float, bound: float) -> bool:  # noqa: ARG001
    return memory.plays[action] > 0.0 and least_mean_exceeds(memory.means[action], memory.budgets[action], bound)


@kernel
def _no_count(memory: Memory, action: int) -> float:  # noqa: ARG001
    return 0.0


lowest = lowest_by_pruning(
    "bandit-tracker", (_estimate, _exceeds), COUNTED=_no_count, LEVEL=no_level, SCORE=_index, CHANCE=1.0
)


@kernel
def _overdue(memory: Memory, greedy: int) -> int:
    """Return the action whose probe is most overdue, `greedy` if none is due; every action was played."""
    n_actions = memory.plays.size
    best = memory.means[0]
    for i in range(n_actions):
        best = min(best, memory.means[i])
    change_rate = (1.0 + memory.alarms[0]) / (1.0 + memory.clock[0])
    scale = 0.25 * best * best * change_rate / n_actions
    action, most = greedy, 1.0
    for i in range(n_actions):
        waited = (memory.clock[0] - memory.last_rounds[i]) * memory.haste[i] / memory.delays[i]
        due = scale * waited * waited / max(memory.means[i] - best, _LEAST_GAP)
        if i != greedy and due > most:
            action, most = i, due
    return action


@kernel
def _unplayed(memory: Memory, first: int) -> tuple[int, float]:
    """Return the first action without plays that was not chosen yet, and its probability, which is 1.

    If their outcomes are all late, one of them is drawn.
    """
    n_unplayed = 0
    for i in range(first, memory.plays.size):
        if memory.plays[i] == 0.0:
            if memory.delays[i] == _NOT_CHOSEN:
                return i, 1.0
            n_unplayed += 1
    action, left = first, int(n_unplayed * next_uniform(memory.generator))
    for i in range(first, memory.plays.size):
        if memory.plays[i] == 0.0:
            if left == 0:
                action = i
            left -= 1
    return action, 1.0 / n_unplayed


@kernel
def _choose(memory: Memory, rates: NoRates) -> tuple[int, float]:
    summarise(memory)
    action, probability = lowest(memory, rates)
    if memory.plays[action] > 0.0:
        action = _overdue(memory, action)
    else:
        action, probability = _unplayed(memory, action)
    memory.last_rounds[action] = memory.clock[0]  # a probe whose outcome is late is not repeated
    memory.delays[action] = 0.5 + next_uniform(memory.generator)
    return action, probability


@kernel
def _restart(memory: Memory, action: int, first: int) -> None:
    """Keep the plays of the action since its bucket `first`, and the last play of every other action."""
    plays, total = memory.plays[action], memory.total[action]
    for i in range(memory.plays.size):
        discard_before(memory, i, first if i == action else max(0, memory.n_buckets[i] - 1))
        memory.haste[i] = 1.0
    memory.clock[1] = memory.clock[0] - int(memory.plays[action])
    record_alarm(memory.alarms, memory.clock[0] - 1)
    after, sum_after = memory.plays[action], memory.total[action]
    memory.drift[0] += abs(sum_after / after - (total - sum_after) / (plays - after))


@kernel
def _update(memory: Memory, rates: NoRates, action: int, loss: float, probability: float) -> None:  # noqa: ARG001
    memory.last_rounds[action] = memory.clock[0]
    memory.clock[0] += 1
    if memory.plays[action] > 0.0:
        variance = learn_noise(memory, action, loss)
        for j in range(WINDOWS):
            plays, total = recent(memory, action, j)
            error = loss - total / plays
            memory.errors[j] = _FORGETTING * memory.errors[j] + 0.5 * error * error / variance
    record(memory, action, loss)
    evidence, first, fallen_for = strongest_change(memory, action)
    memory.haste[action] = max(1.0, np.exp(evidence) / np.sqrt(fallen_for)) if fallen_for > 0.0 else 1.0
    if evidence > np.log(memory.plays.size * memory.plays[action] * memory.clock[0]):
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
    the differences of successive losses.

    Index. Round $t + 1$ plays an action without plays, otherwise the one with the lowest index

    $$ \min \{ q \le m_i : n_i \, kl(m_i, q) \le 0.85 \, \phi_i \ln(a + 1) \} , $$

    where $kl$ is the divergence of Bernoulli distributions, as in KL-UCB with $\phi_i = 1$. If outcomes are late, each
    action is chosen once before any is repeated; then one of those without an outcome is drawn uniformly. Only such a
    choice has a probability below 1: every other one is fixed by the state, which has the $U_i$ drawn before.

    Probing. Instead it plays the action $i$ for which the following is largest, if that is above 1 and the index of
    another is lowest:

    $$ \frac{t - t_i}{U_i} \max\Big(1, \frac{e^{g_i}}{\sqrt{s_i}}\Big) \frac{m}{2}
       \sqrt{\frac{h}{K \max(m_i - m, 0.02)}} , \qquad h = \frac{1 + C}{1 + t} , $$

    with $m = \min_i m_i$, $C$ the number of changes detected, $t_i$ the rounds before the last play of $i$, $U_i$ drawn
    uniformly from [0.5, 1.5] at that play, and $g_i$ the evidence that the mean loss of $i$ has fallen in its latest
    $s_i$ plays, 0 if it has not. So an action is probed when expected losses from not noticing a change and from
    probing are equal.

    Changes. The evidence of a change is the largest, over splits of the plays of an action into earlier and later ones,
    of a likelihood ratio with the estimated variance (by Bennett's inequality; a rare outlier is weak evidence). Above
    $\ln(K n_i t)$ it is an alarm: action $i$ keeps its later plays only, every other action its last play only.

    Memory. $m_i$ and $n_i$ count all plays since the change or, where the means drift, only the latest 1, 8 or 64 of
    each action: the number whose mean predicted the losses best, if its squared errors in units of twice the variance,
    discounted by $1 - 2^{-10}$, are less than those of all plays by more than $\ln(t + 2)$.

    Regret: no bound is proved. It is measured: in the regret study its score against the best of 63 tuned learners in
    hindsight is 0.88 in the geometric mean over 171 cells, up to 3.5 after one late change of an action that is hardly
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

    Examples
    --------
    >>> learner = BanditTracker()
    >>> learner.run(learner.start(n_actions=2, seed=1), [[0.0, 1.0]] * 5)
    array([0, 1, 0, 0, 0])
    """

    def first_memory(self, n_actions: int, generator: Words) -> Memory:
        """Return a segment without plays."""
        memory = super().first_memory(n_actions, generator)
        return memory._replace(haste=np.ones(n_actions), delays=np.full(n_actions, _NOT_CHOSEN))

    def beliefs(self, state: State[Memory, NoRates]) -> Beliefs:
        """Return the plays that count, the alarms, and estimates of drift and variance.

        Segments are the alarms plus 1: changes that it follows without an alarm are not counted, for example because
        the action it played became worse. The drift is the largest mean now plus the jumps of the actions that raised
        alarms, the variance that of all actions now, for all rounds.
        """
        beliefs, memory, overall = super().beliefs(state), state.memory, overall_dispersion(state.memory)
        counted = sum(recent(memory, i, window_in_use(memory))[0] for i in range(state.n_actions))
        means = np.clip(memory.total / np.maximum(memory.plays, 1.0), 0.0, 1.0)
        dispersions = np.array([dispersion(memory, i, overall) for i in range(state.n_actions)])
        drift, variance = float(means.max() + memory.drift[0]), float(dispersions @ (means * (1.0 - means)))
        return replace(beliefs, memory=counted, drift=drift, variance=state.rounds * variance, **alarms(memory.alarms))

    def memory_contradiction(self, memory: Memory, rounds: int) -> str:
        """Check the clock, and the buckets against the sums."""
        if memory.clock[0] != rounds:
            return f"`clock` must begin with {rounds}"
        return segment_contradiction(memory)
