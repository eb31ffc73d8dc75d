r"""Block bootstrap over time: an interval for a sum over the rounds of one recording.

A recording is played once, so there are no runs to compare. What varies is time: if the recording is a stretch of a
process whose rounds are alike, other stretches of it would have given other sums. The circular block bootstrap (Politis
and Romano, 1992) puts such stretches together from blocks of consecutive rounds of the recording, its end joined to its
start, so that the dependence of neighbouring rounds is kept within blocks.

With $n$ values $x_t$ and blocks of $b$, a resample is the sum of $\lfloor n / b \rfloor$ blocks, each from a start
drawn uniformly, and of a shorter one for the rest. The interval has the quantiles of these sums.

The length of the blocks is that of Politis and White (2004), corrected by Patton, Politis and White (2009),

$$ b = \left( \frac{2 G^2}{\frac43 g^2} \right)^{1/3} n^{1/3}, \qquad
   g = \sum_{|k| \le M} \lambda(k / M) R(k), \quad G = \sum_{|k| \le M} \lambda(k / M) |k| R(k) , $$

with the autocovariances $R$, $\lambda(s) = \min(1, 2 (1 - |s|))$, and $M$ twice the lag after which autocorrelations
are below $2 \sqrt{\log_{10} n / n}$ at least five times in a row. It is at most $\min(3 \sqrt n, n / 3)$.

Values may be sums over several rounds, such as the growth of a curve between two marked rounds. If these are not
equally many, as their expected values are proportional to them, only what deviates from the proportion is resampled.

What it is not: the process must have no trend and no changes that the recording shows once, such as a single change
point in the middle; and the action of a comparator is not chosen anew in a resample. Intervals are too narrow where the
dependence is long compared with the recording.

References
----------
D. Politis, J. Romano, "A circular block-resampling procedure for stationary data", in Exploring the Limits of Bootstrap
(1992). D. Politis, H. White, "Automatic block-length selection for the dependent bootstrap", Econometric Reviews 23
(2004). A. Patton, D. Politis, H. White, "Correction to 'Automatic block-length selection for the dependent bootstrap'",
Econometric Reviews 28 (2009).
"""

from __future__ import annotations

import math

import numpy as np

from driftwise.core.errors import InvalidInput
from driftwise.core.types import Actions, Vector
from driftwise.regret.statistics import Estimate, are_equal, check_confidence

LEAST_VALUES = 50  # with fewer, autocovariances are too uncertain for a length of blocks
_RESAMPLES = 2000
_LEAST_LAGS = 5  # in a row, below the threshold


def block_length(values: Vector) -> int:
    """Return the length of blocks of Politis and White for a series, a whole number >= 1.

    >>> block_length(np.random.default_rng(0).normal(size=500))
    1
    """
    n, centred = len(values), values - values.mean()
    most_lags = n - 1
    size = 1 << (2 * n - 1).bit_length()  # without wrapping around
    spectrum = np.fft.rfft(centred, size)
    covariances = np.fft.irfft(spectrum * spectrum.conj(), size)[: most_lags + 1] / n
    if not covariances[0] > 0:
        return 1
    n_lags = max(_LEAST_LAGS, math.ceil(math.sqrt(math.log10(n))))
    small = np.abs(covariances[1:]) < 2 * math.sqrt(math.log10(n) / n) * covariances[0]
    in_a_row = np.convolve(small, np.ones(n_lags), "valid") > n_lags - 0.5 if n > n_lags else np.zeros(0, np.bool_)
    last = int(np.argmax(in_a_row)) if in_a_row.any() else most_lags // 2
    m = min(max(2 * last, 1), most_lags)
    lags = np.arange(1, m + 1)
    weighted = 2 * np.minimum(1.0, 2 * (1 - lags / m)) * covariances[1 : m + 1]
    g, weighted_g = covariances[0] + weighted.sum(), (lags * weighted).sum()
    most = math.ceil(min(3 * math.sqrt(n), n / 3))
    length = (1.5 * (weighted_g / g) ** 2 * n) ** (1 / 3) if g else math.inf
    return max(1, min(most, math.ceil(length) if length < most else most))


def block_interval(sums: Vector, lengths: Actions, confidence: float = 0.95, seed: int = 0) -> Estimate:
    """Return the total of some sums over consecutive rounds and its interval; `lengths` are their numbers of rounds.

    The ends are NaN if every sum is the same share of the total: then no resample differs.
    """
    check_confidence("block_interval", confidence)
    if len(sums) < LEAST_VALUES:
        rule = f"at least {LEAST_VALUES} marked rounds for blocks over time"
        raise InvalidInput(f"block_interval: `sums` must have {rule}, got {len(sums)}.")
    total = math.fsum(sums)
    rest = sums - total * (lengths / lengths.sum())
    if are_equal(sums / lengths):
        return Estimate(total, math.nan, math.nan)
    n, length, generator = len(rest), block_length(rest), np.random.default_rng(seed)
    running = np.concatenate([[0.0], np.cumsum(np.concatenate([rest, rest]))])
    blocks = running[length : length + n] - running[:n]  # by first value
    totals = blocks[generator.integers(0, n, (_RESAMPLES, n // length))].sum(axis=1)
    if n % length:
        ends = running[n % length : n % length + n] - running[:n]
        totals += ends[generator.integers(0, n, _RESAMPLES)]
    low, high = np.quantile(totals, [0.5 - confidence / 2, 0.5 + confidence / 2])
    return Estimate(total, total + float(low), total + float(high))
