"""Exponential histograms: buckets of sizes 1, 2, 4, ..., the latest in the smallest, at most a few of a size.

Values enter as buckets of size 1; where more than `resolution` buckets have one size, the two oldest of them become
one of the next size (M. Datar, A. Gionis, P. Indyk, R. Motwani, "Maintaining stream statistics over sliding windows",
SIAM J. Computing 31, 2002). How many values entered decides all sizes.
"""

from __future__ import annotations

__all__ = ["bucket_sizes"]


def bucket_sizes(n_values: int, resolution: int) -> list[int]:
    """Return the sizes of the buckets that so many values fill, oldest first.

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
