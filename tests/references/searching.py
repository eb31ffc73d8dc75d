"""Bandit learners that test for changes, recomputed in every round from the whole history by the formulas.

`draw` gives the next of the learner's uniform numbers. A history is a list of pairs (action, loss).
"""

from math import fsum, inf, log, log2, sqrt

import numpy as np


def ucb1(losses):
    """Return the actions of UCB1: argmin of the mean less sqrt(2 ln t / n), every action once at first."""
    n_rounds, n_actions = losses.shape
    plays, totals, actions = [0] * n_actions, [0.0] * n_actions, []
    for t in range(n_rounds):
        a = min(
            range(n_actions),
            key=lambda k: totals[k] / plays[k] - sqrt(2 * log(t) / plays[k]) if plays[k] else -inf,
        )
        plays[a] += 1
        totals[a] += losses[t, a]
        actions.append(a)
    return np.array(actions)


# AdSwitch


def starting_points(t, resolution):
    """Return the rounds u before the intervals u + 1, ..., t: 0, and for each power of two the last odd multiples."""
    points, power = [0], 1
    while power < t:
        odd = [(u // power - 1) // 2 for u in range(power, t, 2 * power)][-resolution:]
        points += [(2 * q + 1) * power for q in sorted(odd, key=lambda q: q % resolution)]
        power *= 2
    return points


def plays_and_mean(episode, u, action):
    seen = [loss for a, loss in episode[u:] if a == action]
    return len(seen), fsum(seen) / len(seen) if seen else None


def adswitch(losses, draw, n_rounds=None, threshold_scale=16.0, check_depth=2.0, resolution=2):
    """Return the actions, and what happened: pairs (round, "episode" | "bad" | "check" | "restart")."""
    learner = _AdSwitch(losses.shape[1], draw, threshold_scale, check_depth, resolution)
    actions, events = [], []
    learner.horizon(2 if n_rounds is None else max(2, n_rounds))
    for t, row in enumerate(losses, start=1):
        if n_rounds is None and t >= 4 and t & (t - 1) == 0:
            learner.horizon(t)
            learner.begin(1)
            events.append((t, "restart"))
        events += [(t, "check")] * learner.begin_checks(t)
        actions.append(learner.choose())
        events += [(t, event) for event in learner.update(actions[-1], float(row[actions[-1]]))]
    return np.array(actions), events


class _AdSwitch:
    def __init__(self, n_actions, draw, threshold_scale, check_depth, resolution):
        self.arms, self.draw, self.resolution = range(n_actions), draw, resolution
        self.threshold_scale, self.check_depth = threshold_scale, check_depth
        self.history = []
        self.begin(1)

    def horizon(self, n_rounds):
        self.T, self.log_T = n_rounds, log(n_rounds)

    def begin(self, number):
        self.number, self.since = number, len(self.history)
        self.good = set(self.arms)
        self.bad = {}  # action: its mean and gap
        self.checks = {a: [] for a in self.arms}  # pairs of the plays of a check and the round it begins with
        self.tested = {a: [] for a in self.arms}  # mean and radius of every interval

    def begin_checks(self, t):
        before = sum(len(checks) for checks in self.checks.values())
        for a in sorted(self.bad):
            i = 1
            while 2.0**-i >= self.bad[a][1] / self.check_depth:
                if self.draw() < 2.0**-i * sqrt(self.number / (len(self.arms) * self.T * self.log_T)):
                    self.checks[a].append((int(2 ** (2 * i + 1) * self.log_T), t))
                i += 1
        return sum(len(checks) for checks in self.checks.values()) - before

    def choose(self):
        def under_check(a):
            return any(sum(b == a for b, _ in self.history[s - 1 :]) < n for n, s in self.checks[a])

        def last_play(a):
            return max((s for s, (b, _) in enumerate(self.history, start=1) if b == a), default=0)

        return min((a for a in self.arms if a in self.good or under_check(a)), key=last_play)

    def update(self, action, loss):
        self.history.append((action, loss))
        episode = self.history[self.since :]
        points = starting_points(len(episode), self.resolution)
        known = {(u, a): plays_and_mean(episode, u, a) for u in points for a in self.arms}
        if any(self.has_changed(a, [known[u, a] for u in points]) for a in self.arms):
            self.begin(self.number + 1)
            return ["episode"]
        events = []
        for u in points:
            best = min((known[u, a][1] for a in self.good if known[u, a][0]), default=None)
            for a in sorted(self.good):
                n, mean = known[u, a]
                if n >= 2 and mean - best > sqrt(self.threshold_scale * self.log_T / (n - 1)):
                    self.good.remove(a)
                    self.bad[a] = (mean, mean - best)
                    events.append("bad")
        return events

    def has_changed(self, a, known):
        now = np.array([(mean, sqrt(2 * self.log_T / n)) for n, mean in known if n]).reshape(-1, 2)
        if a in self.bad:
            center, gap = self.bad[a]
            return bool((abs(now[:, 0] - center) > gap / 4 + now[:, 1]).any())
        self.tested[a] += now.tolist()
        ever = np.array(self.tested[a]).reshape(-1, 2)
        apart = abs(now[:, 0, None] - ever[:, 0])
        return bool((apart > now[:, 1, None] + ever[:, 1]).any())


# MASTER


def rho(n_actions, n):
    return sqrt(n_actions / n) + n_actions / n


def master(losses, draw, n_rounds, failure_probability, threshold_scale):
    """Return the actions, and the failed tests: pairs (round, 1 | 2)."""
    n_actions = losses.shape[1]
    log_term = log(n_rounds / failure_probability)
    actions, failures, t, order = [], [], 0, 0

    def rho_hat(n):
        return 6 * threshold_scale * (log2(n_rounds) + 1) * log_term * rho(n_actions, n)

    while t < len(losses):
        instances, block = [], []  # (order, start) of instances; (instance, action, loss, estimate) of rounds
        failed = []
        while t < len(losses) and len(block) < 2**order and not failed:
            tau = len(block)
            for m in range(order + 1):
                if tau % 2**m == 0 and (m == order or draw() < rho(n_actions, 2**order) / rho(n_actions, 2**m)):
                    instances.append((m, tau))
            active = min(i for i in instances if i[1] <= tau < i[1] + 2 ** i[0])
            a, estimate = _estimate(active, block, n_actions, log_term)
            block.append((active, a, float(losses[t, a]), max(0.0, estimate)))
            actions.append(a)
            failed = _failed_tests(instances, block, rho_hat)
            t += 1
        failures += [(t, test) for test in failed]
        order = 0 if failed else order + 1
    return np.array(actions), failures


def _estimate(instance, block, n_actions, log_term):
    index = []
    for k in range(n_actions):
        own = [loss for i, a, loss, _ in block if i == instance and a == k]
        index.append(fsum(own) / len(own) - sqrt(log_term / len(own)) if own else -inf)
    return int(np.argmin(index)), min(index)


def _failed_tests(instances, block, rho_hat):
    lost = [loss for _, _, loss, _ in block]
    estimates = [estimate for _, _, _, estimate in block]
    failed = {
        1
        for m, start in instances
        if start + 2**m == len(block) and fsum(lost[start:]) / 2**m <= max(estimates) - 9 * rho_hat(2**m)
    }
    if fsum(np.subtract(lost, estimates)) / len(block) >= 3 * rho_hat(len(block)):
        failed.add(2)
    return sorted(failed)
