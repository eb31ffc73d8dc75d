"""Random generator whose state is an array, so that a `State` is complete and a snapshot is exact.

xoshiro256++ (D. Blackman and S. Vigna, "Scrambled linear pseudorandom number generators", 2021): four 64-bit
words, seeded through NumPy's `SeedSequence`.
"""

from __future__ import annotations

import numpy as np

from driftwise.core.kernel import kernel
from driftwise.core.types import Vector, Words

__all__ = ["draw_from", "new_generator", "next_uniform", "next_word"]

_17, _19, _23, _41, _45, _11 = (np.uint64(n) for n in (17, 19, 23, 41, 45, 11))
_TO_UNIT = 2.0**-53  # the top 53 bits fill a double in [0, 1)


def new_generator(seed: int | np.random.SeedSequence) -> Words:
    """Return the words of a new generator; equal seeds give equal words.

    >>> bool((new_generator(7) == new_generator(7)).all())
    True
    """
    sequence = seed if isinstance(seed, np.random.SeedSequence) else np.random.SeedSequence(seed)
    return sequence.generate_state(4, np.uint64).astype(np.uint64, copy=False)


@kernel
def next_word(generator: Words) -> np.uint64:
    """Advance the generator and return 64 random bits."""
    a, b, c, d = generator[0], generator[1], generator[2], generator[3]
    total = a + d
    result: np.uint64 = ((total << _23) | (total >> _41)) + a
    c ^= a
    d ^= b
    generator[1] = b ^ c
    generator[0] = a ^ d
    generator[2] = c ^ (b << _17)
    generator[3] = (d << _45) | (d >> _19)
    return result


@kernel
def next_uniform(generator: Words) -> float:
    """Advance the generator and return a double in [0, 1)."""
    return float(next_word(generator) >> _11) * _TO_UNIT


@kernel
def draw_from(weights: Vector, uniform: float) -> int:
    """Return the action whose share of [0, 1) contains `uniform`; an action of weight 0 is never returned."""
    reached = 0.0
    last = 0
    for k in range(weights.size):
        if weights[k] > 0.0:
            reached += weights[k]
            last = k
            if uniform < reached:
                return k
    return last
