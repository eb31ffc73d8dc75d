"""Slow reference of a report on forecasts, written from the definitions, with lists and loops."""

from __future__ import annotations

import itertools
import math

import numpy as np


class SlowReport:
    """All quantities of a report, from all rows at once."""

    def __init__(self, loss, forecasts, truths, combined, weights, series, n_series):
        self.loss, self.n_experts, self.n_series = loss, forecasts.shape[1], n_series
        self.rounds = [0] * n_series
        self.skipped = {"truth": 0, "forecast": 0, "loss": 0}
        self.weighed = []  # (round, weights)
        self.scored = []  # one dictionary for each scored round
        last = [math.nan] * n_series
        for x, y, f, w, s in zip(forecasts, truths, combined, weights, series, strict=True):
            t, before = self.rounds[s], last[s]
            self.rounds[s] += 1
            if not math.isnan(y):
                last[s] = y
            awake = [k for k in range(self.n_experts) if not math.isnan(x[k])]
            if awake:
                self.weighed.append((t, w))
            if math.isnan(y):
                self.skipped["truth"] += 1
            elif not awake:
                self.skipped["forecast"] += 1
            elif not math.isfinite(self.of(f, y)):
                self.skipped["loss"] += 1
            else:
                filled = [x[k] if k in awake else f for k in range(self.n_experts)]
                self.scored.append(
                    {
                        "series": s,
                        "round": t,
                        "truth": y,
                        "awake": awake,
                        "forecasts": filled,
                        "mixture": self.of(f, y),
                        "experts": [self.of(one, y) for one in filled],
                        "uniform": self.of(sum(x[k] for k in awake) / len(awake), y),
                        "last": self.of(before, y),
                    }
                )

    def of(self, forecast, truth):
        return float(self.loss.values(forecast, truth))

    def total(self, what, rows=None):
        rows = self.scored if rows is None else rows
        return math.fsum(row[what] for row in rows)

    def filled(self, k, rows=None):
        return math.fsum(row["experts"][k] for row in (self.scored if rows is None else rows))

    def awake(self, k):
        return [row for row in self.scored if k in row["awake"]]

    def of_series(self, s):
        return [row for row in self.scored if row["series"] == s]

    def after_truth(self):
        return [row for row in self.scored if not math.isnan(row["last"])]

    def sequence(self, n_switches):
        """Return the least loss of all sequences with so few switches, summed over series, by trying all of them."""
        return math.fsum(
            least_sequence([row["experts"] for row in self.of_series(s)], n_switches) for s in range(self.n_series)
        )

    def combination_loss(self, weights):
        return math.fsum(self.of(float(np.dot(weights, row["forecasts"])), row["truth"]) for row in self.scored)

    def period(self, first, end):
        return [row for row in self.scored if first <= row["round"] < end]


def least_sequence(losses, n_switches):
    """Return the least total of a sequence of columns with at most so many switches, by trying all sequences."""
    if not losses:
        return 0.0
    columns = range(len(losses[0]))
    return min(
        math.fsum(row[k] for row, k in zip(losses, path, strict=True))
        for path in itertools.product(columns, repeat=len(losses))
        if sum(a != b for a, b in itertools.pairwise(path)) <= n_switches
    )
