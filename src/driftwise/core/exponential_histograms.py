"""Exponential histograms: buckets of sizes 1, 2, 4, ..., the latest in the smallest, at most `resolution` of a size.

Values enter as buckets of size 1. Where more than `resolution` buckets have one size, the two oldest of them are merged
into one of the next size. The number of values alone determines all sizes.

Reference: M. Datar, A. Gionis, P. Indyk, R. Motwani, "Maintaining stream statistics over sliding windows", SIAM J.
Computing 31 (2002).
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from driftwise.core.kernel import clone, unbound

Kernel = Callable[..., Any]
SIZE: Kernel = unbound
MERGE_PAIR: Kernel = unbound


def bucket_sizes(n_values: int, resolution: int) -> list[int]:
    """Return the sizes of the buckets after so many values, oldest first.

    >>> bucket_sizes(7, resolution=2)
    [4, 2, 1]
    """
    sizes: list[int] = []
    size = 1
    while n_values > 0:
        merged = max(0, (n_values - resolution + 1) // 2)
        sizes[:0] = [size] * (n_values - 2 * merged)
        n_values, size = merged, 2 * size
    return sizes


def merging(name: str, size: Kernel, merge_pair: Kernel) -> Kernel:
    """Return the kernel `merge(buckets, n_buckets, resolution)`, which returns how many buckets are left.

    Call it after each new bucket of size 1, which is the last; the first is the oldest. `size(buckets, at)` must return
    the size of a bucket. `merge_pair(buckets, at, n_buckets)` must merge the buckets `at` and `at + 1` into one at `at`
    and move the later ones up by one place.
    """
    return clone(_merge, name, SIZE=size, MERGE_PAIR=merge_pair)


def _merge(buckets: Any, n_buckets: int, resolution: int) -> int:
    last = n_buckets - 1
    size = SIZE(buckets, last)
    while True:
        before = last
        while before >= 0 and SIZE(buckets, before) == size:
            before -= 1
        if last - before <= resolution:
            return n_buckets
        MERGE_PAIR(buckets, before + 1, n_buckets)
        n_buckets -= 1
        last = before + 1
        size *= 2
