r"""BanditTracker: KL-UCB that restarts at changes it detects, adapts to the noise, and probes rarely played actions.

`docs/decisions.md` has what each part gains in the regret study, and why three parts without a gain there are kept.

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

import numpy as np

from driftwise.core.kernel import kernel
from driftwise.core.random import next_uniform
from driftwise.core.types import Words
from driftwise.learners.contract import BanditLearner, Beliefs, State, bandit
from driftwise.learners.parts.alarm_log import alarms, empty_log, record_alarm
from driftwise.learners.parts.dispersed_index import Rates, lowest, summarise, window_in_use
from driftwise.learners.parts.segment_plays import (
    BUCKETS,
    WINDOWS,
    Memory,
    discard_before,
    dispersion,
    learn_noise,
    overall_dispersion,
    recent,
    record,
    segment_contradiction,
    strongest_change,
)

__all__ = ["BanditTracker"]

_LEAST_GAP = 0.02  # smaller gaps count as this much
_NOT_CHOSEN = 1.0  # the delay before the first choice; a drawn one is the same with probability 2^-53
_FORGETTING = 1.0 - 2.0**-10  # factor on the errors of the windows in each round


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
def _unplayed(memory: Memory, first: int) -> int:
    """Return the first action without plays that was not chosen yet; one at random if their outcomes are all late."""
    n_unplayed = 0
    for i in range(first, memory.plays.size):
        if memory.plays[i] == 0.0:
            if memory.delays[i] == _NOT_CHOSEN:
                return i
            n_unplayed += 1
    action, left = first, int(n_unplayed * next_uniform(memory.generator))
    for i in range(first, memory.plays.size):
        if memory.plays[i] == 0.0:
            if left == 0:
                action = i
            left -= 1
    return action


@kernel
def _choose(memory: Memory, rates: Rates) -> tuple[int, float]:
    summarise(memory)
    action = lowest(memory, rates)[0]
    action = _overdue(memory, action) if memory.plays[action] > 0.0 else _unplayed(memory, action)
    memory.last_rounds[action] = memory.clock[0]  # a probe whose outcome is late is not repeated
    memory.delays[action] = 0.5 + next_uniform(memory.generator)
    return action, 1.0


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
def _update(memory: Memory, rates: Rates, action: int, loss: float, probability: float) -> None:  # noqa: ARG001
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
class BanditTracker(BanditLearner[Memory, Rates]):
    r"""BanditTracker, driftwise's default with bandit feedback: follows the best action with nothing to tune.

    For means that may stay, jump or drift, with any noise. It has no parameters and is not told the number of rounds.

    Notes
    -----
    Action $i$ has $n_i$ plays of mean loss $m_i$ since the last detected change (see "Memory"). $a$ is the number of
    plays that the action of the last alarm kept, plus the rounds since that alarm; $t$ before the first alarm.
    $\phi_i \in [0.02, 1]$ is the variance of its losses relative to losses 0 and 1 with the same mean, estimated from
    the differences of successive losses.

    Index. Round $t + 1$ plays an action without plays, otherwise the one with the lowest index

    $$ \min \{ q \le m_i : n_i \, kl(m_i, q) \le 0.85 \, \phi_i \ln(a + 1) \} , $$

    where $kl$ is the divergence of Bernoulli distributions, as in KL-UCB with $\phi_i = 1$. If outcomes are late, each
    action is chosen once before any is repeated; then those without an outcome are chosen at random.

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
    played, and at most 2.1 in every other cell. `docs/decisions.md` has what each part gains.

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
        plays, total, differences, variances, means, budgets = np.zeros((6, n_actions))
        return Memory(
            plays=plays,
            total=total,
            buckets=np.zeros((n_actions, BUCKETS, 2)),
            n_buckets=np.zeros(n_actions, np.int64),
            differences=differences,
            variances=variances,
            errors=np.zeros(WINDOWS),
            last_rounds=np.zeros(n_actions, np.int64),
            haste=np.ones(n_actions),
            delays=np.full(n_actions, _NOT_CHOSEN),
            clock=np.zeros(2, np.int64),
            alarms=empty_log(),
            drift=np.zeros(1),
            means=means,
            budgets=budgets,
            generator=generator,
        )

    def beliefs(self, state: State[Memory, Rates]) -> Beliefs:
        """Return the plays that count, the alarms, and estimates of drift and variance.

        Segments are the alarms plus 1: changes that it follows without an alarm are not counted, for example because
        the action it played became worse. The drift is the largest mean now plus the jumps of the actions that raised
        alarms, the variance that of all actions now, for all rounds.
        """
        found, memory, overall = super().beliefs(state), state.memory, overall_dispersion(state.memory)
        counted = sum(recent(memory, i, window_in_use(memory))[0] for i in range(state.n_actions))
        means = np.clip(memory.total / np.maximum(memory.plays, 1.0), 0.0, 1.0)
        dispersions = np.array([dispersion(memory, i, overall) for i in range(state.n_actions)])
        drift, variance = float(means.max() + memory.drift[0]), float(dispersions @ (means * (1.0 - means)))
        return replace(found, memory=counted, drift=drift, variance=state.rounds * variance, **alarms(memory.alarms))

    def memory_contradiction(self, memory: Memory, rounds: int) -> str:
        """Check the clock, and the buckets against the sums."""
        if memory.clock[0] != rounds:
            return f"`clock` must begin with {rounds}"
        return segment_contradiction(memory)

    def rates(self, n_actions: int) -> Rates:
        """Return the placeholder."""
        return Rates()
