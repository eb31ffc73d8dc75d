r"""Generalised likelihood ratio.

The threshold is the one that the authors use in practice; the one they prove has larger constants.

With a resolution $r$, the values are kept in the buckets of an exponential histogram, and only borders of buckets are
tried: about $r \log_2(n/r)$ splits, among them those between the latest $r$ values. For every change point one of them
is off by at most a share of about $1/r$ of the values since the change.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from driftwise.core.divergence import entropy, log_ratio
from driftwise.core.exponential_histograms import bucket_sizes, merging
from driftwise.core.kernel import kernel
from driftwise.core.memory_fields import within
from driftwise.core.types import Vector
from driftwise.core.validation import COUNT, Domains, at_least, interval, optional
from driftwise.detectors.detector import Detector, detector

_SIZES = 40  # of buckets: enough for 2^40 values
_HEAD = 3  # the row: number of values, their sum, number of buckets; then size and sum of each bucket, oldest first


class Rates(NamedTuple):
    """The parameters, as the kernel reads them."""

    log_failure: float  # ln(3 / delta)
    resolution: int  # 0 keeps every value
    check_every: int


@kernel
def _size(row: Vector, at: int) -> float:
    return float(row[_HEAD + 2 * at])


@kernel
def _merge_pair(row: Vector, at: int, n_buckets: int) -> None:
    first = _HEAD + 2 * at
    row[first] += row[first + 2]
    row[first + 1] += row[first + 3]
    for j in range(_HEAD + 2 * (at + 1), _HEAD + 2 * (n_buckets - 1), 2):  # in pairs: one by one takes longer
        row[j] = row[j + 2]
        row[j + 1] = row[j + 3]


_merge = merging("glr", _size, _merge_pair)


@kernel
def glr_statistic(row: Vector) -> float:
    """Return the largest likelihood ratio over the splits at borders of buckets."""
    n, total = row[0], row[1]
    whole = n * entropy(total / n)
    best, before, sum_before = 0.0, 0.0, 0.0
    for j in range(int(row[2]) - 1):
        before += row[_HEAD + 2 * j]
        sum_before += row[_HEAD + 2 * j + 1]
        after = n - before
        ratio = whole - before * entropy(sum_before / before) - after * entropy((total - sum_before) / after)
        best = max(best, ratio)
    return float(best)


@kernel
def _observe(row: Vector, rates: Rates, value: float) -> bool:
    at = _HEAD + 2 * int(row[2])
    row[at], row[at + 1] = 1.0, value
    row[0] += 1.0
    row[1] += value
    row[2] += 1.0
    if rates.resolution > 0:
        row[2] = _merge(row, int(row[2]), rates.resolution)
    if int(row[0]) % rates.check_every != 0:
        return False
    return bool(glr_statistic(row) >= rates.log_failure + 1.5 * np.log(row[0]))


@detector("glr", observe=_observe)
@dataclass(frozen=True)
class GLR(Detector):
    r"""Generalised likelihood ratio (Besson et al., 2022): compares the means before and after every split.

    Parameters
    ----------
    failure_probability : float, default 0.01
        Approximate probability of a false alarm ($\delta$), in [0, 1); 0 for no alarms.
    resolution : int or None, default 8
        How many splits are kept of each size ($r$), a whole number >= 2; None keeps all, and then memory and time grow
        with the number of values.
    check_every : int, default 10
        Number of values from one test to the next, a whole number >= 1.

    Notes
    -----
    With $m_{i:j}$ the mean of the values $i$ to $j$ and $kl$ the divergence of Bernoulli distributions, there is an
    alarm after $n$ values when

    $$ \max_s \; s \, kl(m_{1:s}, m_{1:n}) + (n - s) \, kl(m_{s+1:n}, m_{1:n}) \ge \ln \frac{3 n^{3/2}}{\delta} . $$

    With a resolution, values are kept in buckets of sizes 1, 2, 4, ..., the latest in the smallest, at most $r$ of a
    size, and $s$ runs over the borders of buckets.

    References
    ----------
    L. Besson, E. Kaufmann, O.-A. Maillard, J. Seznec, "Efficient change-point detection for tackling
    piecewise-stationary bandits", JMLR 23 (2022).

    M. Datar, A. Gionis, P. Indyk, R. Motwani, "Maintaining stream statistics over sliding windows", SIAM J. Computing
    31 (2002), for the buckets.

    Examples
    --------
    >>> GLR(check_every=1).alarms([0.1] * 50 + [0.9] * 50)
    array([58])
    """

    failure_probability: float = 0.01
    resolution: int | None = 8
    check_every: int = 10

    _domains = Domains(failure_probability=interval("[0, 1)"), resolution=optional(at_least(2)), check_every=COUNT)

    @property
    def width(self) -> int:
        """The length of the row: for buckets of every size, or for the first value."""
        return _HEAD + 2 * ((self.resolution or 0) + 1) * (_SIZES if self.resolution else 1)

    @property
    def grows(self) -> bool:
        """Whether every value is kept."""
        return self.resolution is None

    def room(self, n_values: int) -> int:
        """Return the length of the row for so many values; it grows in powers of two where every value is kept."""
        return self.width if self.resolution else _HEAD + 2 * (1 << n_values.bit_length())

    def accepts(self, row: Vector, n_values: int) -> bool:
        """Return whether the sums and the buckets are possible: with other buckets the row could be too short."""
        # The row must have room for one more bucket, and its sizes of buckets suffice for 2^_SIZES values.
        if not (super().accepts(row, n_values) and 0 <= row[2] <= (row.size - _HEAD) / 2 - 1 and row[0] <= 2.0**_SIZES):
            return False
        n, n_buckets = int(row[0]), int(row[2])
        sizes, sums = row[_HEAD : _HEAD + 2 * n_buckets].reshape(-1, 2).T
        room = 2.0**-52 * n * row[1]  # the sum of all values is rounded once a value, those of buckets less often
        layout = bucket_sizes(n, self.resolution) if self.resolution else [1] * n
        return (
            row[2] == len(layout)
            and sizes.tolist() == layout
            and within(sums, 0.0, sizes)
            and within(row[1], sums.sum() - room, sums.sum() + room)
        )

    def rates(self) -> Rates:
        """Return the parameters."""
        log_failure = log_ratio(3, self.failure_probability) if self.failure_probability else math.inf
        return Rates(log_failure, self.resolution or 0, self.check_every)
