r"""BanditTracker from the formulas of its docstring, with the losses of every play in lists.

`without` leaves a part out, to show what it is for: "probing", "streaks", "stay", "delays", "windows", "noise",
"forgetting" (of the noise), "all noise" (only the recent one counts), "late" (errors), "alarms", "others" (an alarm
restarts its own action only), "bennett" (a squared distance instead).
"""

from math import expm1, fsum, inf, log, sqrt

from references.indices import NearTies, least_mean

WINDOWS = (1, 8, 64, inf)


class BanditTracker:
    def __init__(self, n_actions, uniform, without=()):
        self.K, self.uniform, self.without = n_actions, uniform, without
        self.buckets = [[] for _ in range(n_actions)]  # of each action, oldest first, each a list of losses
        self.A, self.B = [0.0] * n_actions, [0.0] * n_actions  # over all plays
        self.recent_A, self.recent_B = [0.0] * n_actions, [0.0] * n_actions  # discounted
        self.errors, self.late_errors = [0.0] * len(WINDOWS), [0.0] * len(WINDOWS)
        self.latest = []  # the last two actions and losses since the last alarm
        self.last, self.delay = [0] * n_actions, [1.0] * n_actions
        self.streak = [[] for _ in range(n_actions)]  # of each action, its losses
        self.before, self.streak_start = [0.0] * n_actions, [0] * n_actions
        self.means, self.last_action = [None] * n_actions, 0  # of the last choice
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
        sums = [] if "all noise" in self.without else [(self.A, self.B)]
        sums += [] if "forgetting" in self.without else [(self.recent_A, self.recent_B)]
        overall = min(1.0, max((fsum(A) + 0.5) / (fsum(B) + 0.5) for A, B in sums))
        return min(1.0, max(0.02, *((A[i] + overall / 2) / (B[i] + 0.5) for A, B in sums)))

    def window(self):
        others = [j for j in range(3) if self.late_errors[j] < self.late_errors[3] + log(self.t + 2)]
        if "late" in self.without:
            others = list(range(3))
        if "windows" in self.without:
            others = []
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
        near_ties.choices += 1
        drawn = []  # the number that decides whether to stay, if one is drawn
        action = best
        if indices[best] > -inf:
            action, draws = self.probe_or_stay(best, means, indices, drawn)
            if made not in (None, action):
                for greedy in range(self.K):
                    if indices[greedy] <= indices[best] + near_ties.close:
                        other, other_draws = self.probe_or_stay(greedy, means, indices, drawn)
                        if other == made:
                            near_ties.n_near += 1
                            action, draws = other, other_draws
            if draws:
                drawn.clear()
        self.means, self.last_action = means, action
        following = drawn[0] if drawn else self.uniform()
        self.delay[action] = 1.0 if "delays" in self.without else 0.5 + following
        return action

    def probe_or_stay(self, greedy, means, indices, drawn):
        """The action, and whether a number is drawn: if the last action has an index below the mean of greedy."""
        action, last = self.overdue(greedy, means), self.last_action
        if action != greedy or last == greedy or indices[last] > means[greedy] or "stay" in self.without:
            return action, False
        if not drawn:
            drawn.append(self.uniform())
        return (last if drawn[0] < 0.05 else greedy), True

    def overdue(self, greedy, means):
        """The action whose probe is most overdue, if that is more than 1."""
        if "probing" in self.without:
            return greedy
        m, h = min(means), (1 + len(self.alarms)) / (1 + self.t)
        if m == 0:
            return greedy

        def ratio(i):
            due = ((self.t - self.last[i]) / self.delay[i]) ** 2
            if (streak := self.streak[i]) and "streaks" not in self.without:
                divergence = kl(fsum(streak) / len(streak), min(self.before[i], 1 - 1e-9))
                evidence = min(50.0, len(streak) * divergence / self.dispersion(i))
                due = max(due, 2 * (self.t - self.streak_start[i]) ** 2 * expm1(evidence))
            cost = max(means[i] - m + 0.5 * sqrt(self.dispersion(i) * means[i] * (1 - means[i])), 0.02)
            return m * (m + 0.02) / 4 * h / self.K * due / cost

        most, action = max(((ratio(i), -i) for i in range(self.K) if i != greedy), default=(0.0, 0))
        return -action if most > 1 else greedy

    def update(self, i, loss):
        earlier = self.plays(i)
        self.last[i] = self.t
        if earlier:
            self.follow_streak(i, loss, len(earlier))
        self.t += 1
        if earlier:
            m = (fsum(earlier) + 0.5) / (len(earlier) + 1)
            half_square = (loss - earlier[-1]) ** 2 / 2
            self.A[i], self.B[i] = self.A[i] + half_square, self.B[i] + m * (1 - m)
            self.recent_A[i] = (1 - 2**-7) * self.recent_A[i] + half_square
            self.recent_B[i] = (1 - 2**-7) * self.recent_B[i] + m * (1 - m)
            variance = self.dispersion(i) * m * (1 - m)
            n_out = sum(action == i for action, _ in self.latest)
            if (loss == earlier[-1] and variance <= 0.01) or len(earlier) <= n_out:
                n_out = 0
            for j, window in enumerate(WINDOWS):
                known, known_late = self.recent(i, window), self.recent(i, window + n_out)
                known_late = known_late[: len(known_late) - n_out]
                for errors, some in ((self.errors, known), (self.late_errors, known_late)):
                    error = (loss - fsum(some) / len(some)) ** 2 / (2 * variance)
                    errors[j] = (1 - 2**-10) * errors[j] + error
        self.latest = [(i, loss), *self.latest][:2]
        self.buckets[i].append([loss])
        merge(self.buckets[i])
        evidence, first = self.change(i)
        if evidence > log(self.K * (len(earlier) + 1) * self.t) and "alarms" not in self.without:
            self.alarms.append(self.t - 1)
            self.latest = []
            self.buckets[i], before = self.buckets[i][first:], [x for bucket in self.buckets[i][:first] for x in bucket]
            self.drift += abs(fsum(self.plays(i)) / len(self.plays(i)) - fsum(before) / len(before))
            self.start = self.t - len(self.plays(i))
            self.streak, self.streak_start = [[] for _ in range(self.K)], [self.t] * self.K
            for other in range(self.K):
                if other != i and "others" not in self.without:
                    self.buckets[other] = self.buckets[other][-1:]

    def follow_streak(self, i, loss, n):
        """Add a loss to the streak of an action while the streak's mean is below the best mean and that before it."""
        if None not in self.means and self.means[i] > min(self.means):
            if not self.streak[i]:
                phi = self.dispersion(i)
                self.before[i] = (n * self.means[i] + phi / 2) / (n + phi)
            longer = [*self.streak[i], loss]
            if fsum(longer) < len(longer) * min(*self.means, self.before[i]):
                self.streak[i] = longer
                return
        self.streak[i], self.streak_start[i] = [], self.t

    def change(self, i):
        plays = self.plays(i)
        n, m = len(plays), fsum(plays) / len(plays)
        v = self.dispersion(i) * max(m * (1 - m), 1 / (4 * (n + 1)))

        def h(d):
            return d * d / (2 * v) if "bennett" in self.without else (v + d) * log(1 + d / v) - d

        best = (0.0, 0)
        for j in range(len(self.buckets[i]) - 1, 0, -1):
            s = sum(len(bucket) for bucket in self.buckets[i][j:])
            before, after = plays[: n - s], plays[n - s :]
            x, y = fsum(after) / len(after), fsum(before) / len(before)
            evidence = len(after) * h(abs(x - m)) + len(before) * h(abs(y - m))
            if evidence > best[0]:
                best = (evidence, j)
        return best


def kl(p, q):
    return sum(a * log(a / b) for a, b in ((p, q), (1 - p, 1 - q)) if a > 0)


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
