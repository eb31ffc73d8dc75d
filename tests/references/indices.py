r"""Index learners, change detectors and their combinations, recomputed from the whole history in every round.

A `Past` is the list of all rounds. The weight of each past round is computed again in every round: it depends on its
age, and is 0 for rounds of an action before its last reset. Sums are `math.fsum`, so that equal sums of few-bit losses
are exactly equal. Detectors take all values since the last restart and return whether the last one raises an alarm.
"""

from collections.abc import Callable
from math import ceil, e, exp, floor, fsum, inf, log, sqrt
from typing import NamedTuple

import numpy as np

CLOSE = 1e-9  # of two indices nearer than this, either may be chosen


# The divergence


def divergence(p, q):
    """kl(p, q) of Bernoulli distributions, 0 ln 0 = 0."""
    one = 0.0 if p == 0 else inf if q == 0 else p * log(p / q)
    other = 0.0 if p == 1 else inf if q == 1 else (1 - p) * log((1 - p) / (1 - q))
    return one + other


def least_mean(p, budget):
    """The least q <= p with kl(p, q) <= budget, by bisection."""
    low, high = 0.0, p
    if divergence(p, 0.0) <= budget:
        return 0.0
    for _ in range(60):
        middle = (low + high) / 2
        if divergence(p, middle) <= budget:
            high = middle
        else:
            low = middle
    return high


# Index learners


class Index(NamedTuple):
    keep: Callable  # age of a round in rounds, 0 for the latest -> its weight
    level: Callable  # the sum of the weights of all rounds -> the confidence level
    score: Callable  # (weights of the plays, their losses, level) -> the index


def everything(age):
    return np.ones(age.shape)


def fading(discount):
    return lambda age: discount**age


def sliding(window):
    return lambda age: (age < window).astype(float)


def log_level(count):
    return log(count) if count > 1 else 0.0


def kl_level(extra):
    return lambda count: log_level(count) + extra * max(0.0, log(log_level(count)) if log_level(count) > 0 else 0.0)


def _mean(weights, losses):
    return fsum(weights * losses) / fsum(weights)


def _mean_less_radius(width):
    """mean - sqrt(width * level / n)"""

    def score(weights, losses, level):
        return _mean(weights, losses) - sqrt(width * level / fsum(weights)) if len(weights) else -inf

    return score


def _kl_score(weights, losses, level):
    """min {q <= mean : n kl(mean, q) <= level}"""
    return least_mean(min(1.0, _mean(weights, losses)), level / fsum(weights)) if len(weights) else -inf


def ucb1(log_scale=2.0):
    return Index(everything, log_level, _mean_less_radius(log_scale))


def ucb_v(log_scale=1.2, bias=1.0):
    def score(weights, losses, level):
        if not len(weights):
            return -inf
        n, mean = fsum(weights), _mean(weights, losses)
        variance = fsum(weights * (losses - mean) ** 2) / n
        E = log_scale * level
        return mean - sqrt(2 * variance * E / n) - 3 * bias * E / n

    return Index(everything, log_level, score)


def kl_ucb(loglog_scale=0.0):
    return Index(everything, kl_level(loglog_scale), _kl_score)


def discounted_ucb(discount=0.995, log_scale=0.6):
    """X/N - 2 sqrt(xi ln n / N)"""
    return Index(fading(discount), log_level, _mean_less_radius(4 * log_scale))


def sliding_window_ucb(window=1000, log_scale=0.6):
    return Index(sliding(inf if window is None else window), log_level, _mean_less_radius(log_scale))


def discounted_kl_ucb(discount=0.995, loglog_scale=0.0):
    return Index(fading(discount), kl_level(loglog_scale), _kl_score)


def sliding_window_kl_ucb(window=1000, loglog_scale=0.0):
    return Index(sliding(inf if window is None else window), kl_level(loglog_scale), _kl_score)


def thompson(beta, discount=1.0):
    """theta ~ Beta(F + 1, S + 1), with `beta(a, b)` the draw; the losses of the past must be 0 or 1."""

    def score(weights, losses, level):
        return beta(fsum(weights * losses) + 1, fsum(weights * (1 - losses)) + 1)

    return Index(fading(discount), lambda _: 0.0, score)


class Past:
    """Every round so far, and the round of the last reset of each action."""

    def __init__(self, n_rounds, n_actions):
        self.actions, self.losses = np.empty(n_rounds, np.int64), np.empty(n_rounds)
        self.since = [0] * n_actions
        self.rounds = 0

    def add(self, action, loss):
        self.actions[self.rounds], self.losses[self.rounds] = action, loss
        self.rounds += 1

    def counting(self, index, action):
        """Return the weights of the plays of an action, and their losses."""
        t = self.rounds
        played = np.flatnonzero(self.actions[:t] == action)
        played = played[played >= self.since[action]]
        weights = index.keep(t - 1 - played)
        return weights[weights > 0], self.losses[played][weights > 0]

    def indices(self, index, by_age=False):
        """Return the index and the weighted number of plays of every action."""
        counting = [self.counting(index, action) for action in range(len(self.since))]
        plays = [fsum(weights) for weights, _ in counting]
        scores = []
        for action, (weights, losses) in enumerate(counting):
            count = self.rounds - self.since[action] if by_age else fsum(plays)
            scores.append(index.score(weights, losses, index.level(count)))
        return scores, plays


class NearTies:
    """Counts choices between nearly equal indices: there the reference follows the choice of the learner under test."""

    def __init__(self, close=CLOSE):
        self.close = close
        self.choices = self.n_near = 0

    def settle(self, scores, plays, made):
        """Return the action of least index, then of least plays, then the first; or `made` if it nearly ties."""
        best = min(range(len(scores)), key=lambda i: (scores[i], plays[i], i))
        self.choices += 1
        if made is None or made == best:
            return best
        alike = scores[made] == scores[best] and plays[made] == plays[best]
        if alike or not abs(scores[made] - scores[best]) <= self.close:
            return best
        self.n_near += 1
        return made

    def share(self):
        return self.n_near / max(1, self.choices)


def unchanged(loss):
    return loss


def rounded(uniform):
    """Return a function that rounds a loss to 0 or 1 at random and keeps its mean."""
    return lambda loss: 1.0 if uniform() < loss else 0.0


def index_actions(index, losses, made=None, near_ties=None, as_index_loss=unchanged):
    """Return the actions of an index; `made` are those of the learner under test, used where indices nearly tie."""
    n_rounds, n_actions = losses.shape
    past, near_ties = Past(n_rounds, n_actions), near_ties or NearTies()
    for t in range(n_rounds):
        scores, plays = past.indices(index)
        action = near_ties.settle(scores, plays, None if made is None else made[t])
        past.add(action, as_index_loss(losses[t, action]))
    return past.actions


# Detectors: the values since the last restart -> how far the statistic is above the threshold


def _largest_suffix(steps):
    """g <- max(0, g + step) ends at the largest sum of last steps, or 0."""
    return max(0.0, *np.cumsum(steps[::-1])) if len(steps) else 0.0


def _drifted(away, slack):
    return max(_largest_suffix(away - slack), _largest_suffix(-away - slack))


def cusum(warmup=100, slack=0.1, threshold=10.0):
    def test(values):
        mean = fsum(values[:warmup]) / warmup
        return _drifted(np.array(values[warmup:]) - mean, slack) - threshold

    return test


def page_hinkley(slack=0.1, threshold=10.0):
    def test(values):
        means = np.cumsum(values) / np.arange(1, len(values) + 1)
        return _drifted(np.array(values) - means, slack) - threshold

    return test


def windowed_shift(window=200, threshold=20.0):
    def test(values):
        if len(values) < window:
            return -inf
        last = values[-window:]
        return abs(fsum(last[window // 2 :]) - fsum(last[: window // 2])) - threshold

    return test


def ratio(values, splits):
    """max_s s kl(m_{1:s}, m_{1:n}) + (n - s) kl(m_{s+1:n}, m_{1:n}) over the splits s."""
    n, mean = len(values), fsum(values) / len(values)
    best = 0.0
    for s in splits:
        before, after = fsum(values[:s]) / s, fsum(values[s:]) / (n - s)
        best = max(best, s * divergence(before, mean) + (n - s) * divergence(after, mean))
    return best


def bucket_sizes(n_values, resolution):
    """Return the sizes of the buckets, oldest first, after so many values."""
    sizes = []
    for _ in range(n_values):
        sizes.append(1)
        size = 1
        while sizes.count(size) > resolution:
            oldest = sizes.index(size)
            sizes[oldest : oldest + 2] = [2 * size]
            size *= 2
    return sizes


def glr_splits(n_values, resolution=None):
    """Return the splits that are tried: every one, or the borders of buckets."""
    if resolution is None:
        return list(range(1, n_values))
    return [int(s) for s in np.cumsum(bucket_sizes(n_values, resolution))[:-1]]


def glr(failure_probability=0.01, resolution=8, check_every=10):
    def test(values):
        n = len(values)
        if n % check_every:
            return -inf
        threshold = log(3 * n**1.5 / failure_probability) if failure_probability > 0 else inf
        return ratio(values, glr_splits(n, resolution)) - threshold

    return test


def raises(margin, reaching):
    return margin > 0 or (reaching and margin == 0)


def alarms(test, values, reaching=False):
    """Return the positions of the alarms; after each the detector starts from its initial state."""
    found, since = [], []
    for t, value in enumerate(values):
        since.append(float(value))
        if raises(test(since), reaching):
            found.append(t)
            since = []
    return found


# Learners that restart


class Restarts(NamedTuple):
    test: Callable  # a detector
    reaching: bool  # an alarm at the threshold, not only above
    exploration_rate: float = 0.0
    schedule: bool = False  # explore on schedule, or else at random
    everywhere: bool = False  # reset all actions, or else the one that changed
    by_age: bool = False  # the level uses the rounds since the action's reset, or else the counted plays


def restarting_actions(index, restarts, losses, uniform, made=None, near_ties=None, as_index_loss=unchanged):
    """Return the actions of an index learner that restarts, the last reset of each action, and the rounds of alarms.

    `uniform()` draws. The detector takes the losses themselves, the index takes `as_index_loss` of them.
    """
    n_rounds, n_actions = losses.shape
    past, near_ties = Past(n_rounds, n_actions), near_ties or NearTies()
    observed, alarms = [[] for _ in range(n_actions)], []
    start = 0
    period = ceil(n_actions / restarts.exploration_rate) if restarts.exploration_rate > 0 else None
    for t in range(n_rounds):
        scores, plays = past.indices(index, restarts.by_age)
        action = None
        if restarts.schedule:
            if period is not None and (t - start) % period < n_actions:
                action = (t - start) % period
        elif restarts.exploration_rate > 0:
            share = uniform() / restarts.exploration_rate  # given that it is below 1, uniform
            action = int(share * n_actions) if share < 1 else None
        if action is None:
            action = near_ties.settle(scores, plays, None if made is None else made[t])
        past.add(action, as_index_loss(losses[t, action]))
        observed[action].append(float(losses[t, action]))
        if raises(restarts.test(observed[action]), restarts.reaching):
            alarms.append(t)
            for reset in range(n_actions) if restarts.everywhere else [action]:
                past.since[reset], observed[reset] = t + 1, []
            start = t + 1 if restarts.everywhere else start
    return past.actions, past.since, alarms


# Bandit over bandit


def bob_windows(block):
    """J = {floor(H^{j/Delta})}, Delta = ceil(ln H), in whole numbers: the largest m with m^Delta <= H^j."""
    steps = ceil(log(block))
    found = {1, block}
    for j in range(steps):
        m = floor(block ** (j / steps))
        found.add(next(m + i for i in (1, 0, -1) if (m + i) ** steps <= block**j))
    return sorted(found)


def bandit_over_bandit_actions(losses, uniform, block, exploration_rate, log_scale, made=None, near_ties=None):
    """Each block: draw a window by EXP3, restart sliding-window UCB, give EXP3 the mean gain of the block."""
    windows, near_ties = bob_windows(block), near_ties or NearTies()
    size, logs, actions, drawn = len(windows), np.zeros(len(windows)), [], []
    for first in range(0, len(losses), block):
        weights = np.array([exp(x - max(logs)) for x in logs])
        chances = (1 - exploration_rate) * weights / weights.sum() + exploration_rate / size
        choice = int(np.searchsorted(np.cumsum(chances)[:-1], uniform(), side="right"))
        drawn.append(windows[choice])
        block_losses = losses[first : first + block]
        follow = None if made is None else made[first : first + block]
        played = index_actions(sliding_window_ucb(windows[choice], log_scale), block_losses, follow, near_ties)
        actions.extend(played)
        gain = 1 - fsum(block_losses[np.arange(len(block_losses)), played]) / block
        logs[choice] += exploration_rate / size * gain / chances[choice]
    return np.array(actions), drawn


def bob_exploration_rate(n_actions, n_rounds):
    """gamma = min{1, sqrt((Delta+1) ln(Delta+1) / ((e-1) ceil(T/H)))}, H = ceil(sqrt(KT)), Delta = ceil(ln H)."""
    block = ceil(sqrt(n_actions * n_rounds))
    size = ceil(log(block)) + 1
    return block, min(1.0, sqrt(size * log(size) / ((e - 1) * ceil(n_rounds / block))))


def restarted_actions(learner, losses, changes, seed=0):
    """Return the actions of a learner that is restarted at every change point."""
    segments = [segment for segment in np.split(losses, list(changes)) if len(segment)]
    return np.concatenate([learner.run(learner.start(losses.shape[1], seed), segment) for segment in segments])
