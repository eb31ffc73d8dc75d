r"""BanditTracker from the formulas of its docstring, with the losses of every play in lists.

`without` leaves a part out, to show what it is for: "probing", "haste", "delays", "windows", "noise", "alarms",
"others" (an alarm restarts its own action only), "bennett" (a squared distance instead).
"""

from math import exp, fsum, inf, log

from references.indices import NearTies, least_mean

WINDOWS = (1, 8, 64, inf)


class BanditTracker:
    def __init__(self, n_actions, uniform, without=()):
        self.K, self.uniform, self.without = n_actions, uniform, without
        self.buckets = [[] for _ in range(n_actions)]  # of each action, oldest first, each a list of losses
        self.A, self.B = [0.0] * n_actions, [0.0] * n_actions
        self.errors = [0.0] * len(WINDOWS)
        self.last, self.odds, self.delay = [0] * n_actions, [0.0] * n_actions, [1.0] * n_actions
        self.t, self.start, self.alarms, self.drift = 0, 0, [], 0.0

    def plays(self, i):
        return [loss for bucket in self.buckets[i] for loss in bucket]

    def recent(self, i, least):
        """The losses in the fewest latest buckets with at least so many plays."""
        found = []
        for bucket in reversed(self.buckets[i]):
            if len(found) >= least:
                break
            found = bucket + found
        return found

    def dispersion(self, i):
        if "noise" in self.without:
            return 1.0
        overall = min(1.0, (fsum(self.A) + 0.5) / (fsum(self.B) + 0.5))
        return min(1.0, max(0.02, (self.A[i] + overall / 2) / (self.B[i] + 0.5)))

    def window(self):
        others = [] if "windows" in self.without else list(range(3))
        best = min(others, key=lambda j: self.errors[j], default=None)
        good = best is not None and self.errors[best] < self.errors[3] - log(self.t + 2)
        return WINDOWS[best if good else 3]

    def choose(self, made, near_ties):
        window = self.window()
        losses = [self.recent(i, window) for i in range(self.K)]
        level = 0.85 * log(self.t - self.start + 1)
        means = [fsum(each) / len(each) if each else None for each in losses]
        indices = [
            least_mean(means[i], self.dispersion(i) * level / len(losses[i])) if losses[i] else -inf
            for i in range(self.K)
        ]
        best = min(range(self.K), key=lambda i: (indices[i], len(self.plays(i)), i))
        action = self.overdue(best, means) if indices[best] > -inf else best
        near_ties.choices += 1
        if made not in (None, action) and indices[best] > -inf:
            lowest = [i for i in range(self.K) if indices[i] <= indices[best] + near_ties.close]
            if made in [self.overdue(greedy, means) for greedy in lowest]:
                near_ties.n_near += 1
                action = made
        self.delay[action] = 1.0 if "delays" in self.without else 0.5 + self.uniform()
        return action

    def overdue(self, greedy, means):
        """The action with the largest ratio of the time since its last play to the time between probes."""
        if "probing" in self.without:
            return greedy
        m, h = min(means), (1 + len(self.alarms)) / (1 + self.t)
        if m == 0:
            return greedy

        def ratio(i):
            haste = max(1, self.odds[i])
            between = 2 / m * (self.K * max(means[i] - m, 0.02) / h) ** 0.5 * self.delay[i] / haste
            return (self.t - self.last[i]) / between

        most, action = max(((ratio(i), -i) for i in range(self.K) if i != greedy), default=(0.0, 0))
        return -action if most > 1 else greedy

    def update(self, i, loss):
        earlier = self.plays(i)
        self.last[i] = self.t
        self.t += 1
        if earlier:
            m = (fsum(earlier) + 0.5) / (len(earlier) + 1)
            self.A[i] += (loss - earlier[-1]) ** 2 / 2
            self.B[i] += m * (1 - m)
            variance = self.dispersion(i) * m * (1 - m)
            for j, window in enumerate(WINDOWS):
                known = self.recent(i, window)
                error = (loss - fsum(known) / len(known)) ** 2 / (2 * variance)
                self.errors[j] = (1 - 2**-10) * self.errors[j] + error
        self.buckets[i].append([loss])
        merge(self.buckets[i])
        evidence, first, fallen = self.change(i)
        later = sum(len(bucket) for bucket in self.buckets[i][first:])
        odds = exp(min(evidence, 700)) / later**0.5  # an alarm follows larger evidence
        self.odds[i] = odds if fallen and "haste" not in self.without else 0.0
        if evidence > log(self.K * (len(earlier) + 1) * self.t) and "alarms" not in self.without:
            self.alarms.append(self.t - 1)
            self.buckets[i], before = self.buckets[i][first:], [x for bucket in self.buckets[i][:first] for x in bucket]
            self.drift += abs(fsum(self.plays(i)) / len(self.plays(i)) - fsum(before) / len(before))
            self.start = self.t - len(self.plays(i))
            self.odds = [0.0] * self.K
            for other in range(self.K):
                if other != i and "others" not in self.without:
                    self.buckets[other] = self.buckets[other][-1:]

    def change(self, i):
        plays = self.plays(i)
        n, m = len(plays), fsum(plays) / len(plays)
        v = self.dispersion(i) * max(m * (1 - m), 1 / (4 * (n + 1)))

        def h(d):
            return d * d / (2 * v) if "bennett" in self.without else (v + d) * log(1 + d / v) - d

        best = (0.0, 0, False)
        for j in range(len(self.buckets[i]) - 1, 0, -1):
            s = sum(len(bucket) for bucket in self.buckets[i][j:])
            before, after = plays[: n - s], plays[n - s :]
            x, y = fsum(after) / len(after), fsum(before) / len(before)
            evidence = len(after) * h(abs(x - m)) + len(before) * h(abs(y - m))
            if evidence > best[0]:
                best = (evidence, j, x < m)
        return best


def merge(buckets):
    """Merge the two oldest buckets of a size that more than three have, beginning with the smallest."""
    size = 1
    while True:
        alike = [j for j, bucket in enumerate(buckets) if len(bucket) == size]
        if len(alike) <= 3:
            return
        j = alike[0]
        buckets[j : j + 2] = [buckets[j] + buckets[j + 1]]
        size *= 2


def play(losses, uniform, made=None, near_ties=None, without=()):
    """Return the actions and the tracker at the end; `made` decides between nearly equal indices."""
    tracker, near_ties = BanditTracker(losses.shape[1], uniform, without), near_ties or NearTies()
    actions = []
    for t, row in enumerate(losses):
        action = tracker.choose(None if made is None else made[t], near_ties)
        tracker.update(action, float(row[action]))
        actions.append(action)
    return actions, tracker
