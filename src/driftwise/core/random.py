"""Random numbers from a generator whose state is an array, so that a `State` is complete and a snapshot is exact.

xoshiro256++ (D. Blackman and S. Vigna, "Scrambled linear pseudorandom number generators", 2021): four 64-bit
words, seeded through NumPy's `SeedSequence`.

Thompson sampling draws two gamma variates per action, so normal, gamma and beta variates are written for speed: most
draws need no logarithm.
"""

from __future__ import annotations

import math

import numpy as np

from driftwise.core.kernel import kernel
from driftwise.core.types import Vector, Words

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


_LAYERS = 128
_TAIL = 3.442619855899  # where the lowest layer ends and the tail begins
_AREA = 9.91256303526217e-3  # of each layer


def _edges() -> Vector:
    """Return the right edges of the layers under the normal density, the widest first."""
    edges = [_AREA * math.exp(0.5 * _TAIL * _TAIL), _TAIL]
    for _ in range(2, _LAYERS):
        x = edges[-1]
        edges.append(math.sqrt(-2.0 * math.log(_AREA / x + math.exp(-0.5 * x * x))))
    return np.array([*edges, 0.0])


_EDGES = _edges()
_INSIDE = _EDGES[1:] / _EDGES[:-1]  # the share of each layer that is completely under the curve
_LOW_BITS, _MANTISSA = np.uint64(_LAYERS - 1), np.uint64(11)
_TO_SIGNED = 2.0**-52


@kernel
def next_normal(generator: Words) -> float:
    """Draw from the standard normal distribution (ziggurat of G. Marsaglia, W. Tsang, 2000, as in J. Doornik, 2005)."""
    while True:
        word = next_word(generator)
        layer = np.int64(word & _LOW_BITS)  # the low bits choose the layer, the top 53 the position in it
        u = float(word >> _MANTISSA) * _TO_SIGNED - 1.0
        x = u * _EDGES[layer]
        if abs(u) < _INSIDE[layer]:
            return float(x)
        if layer == 0:
            while True:
                out = -np.log(1.0 - next_uniform(generator)) / _TAIL
                if -2.0 * np.log(1.0 - next_uniform(generator)) > out * out:
                    return float(_TAIL + out if u > 0.0 else -_TAIL - out)
        lower = np.exp(-0.5 * (_EDGES[layer] * _EDGES[layer] - x * x))
        upper = np.exp(-0.5 * (_EDGES[layer + 1] * _EDGES[layer + 1] - x * x))
        if upper + next_uniform(generator) * (lower - upper) < 1.0:
            return float(x)


@kernel
def next_gamma(generator: Words, shape: float) -> float:
    """Draw from the gamma distribution with `shape` >= 1 (G. Marsaglia, W. Tsang, 2000: about 1.02 tries)."""
    d = shape - 1.0 / 3.0
    c = 1.0 / np.sqrt(9.0 * d)
    while True:
        x = next_normal(generator)
        v = 1.0 + c * x
        if v <= 0.0:
            continue
        v = v * v * v
        u = next_uniform(generator)
        square = x * x
        if u < 1.0 - 0.0331 * square * square or np.log(u) < 0.5 * square + d * (1.0 - v + np.log(v)):
            return float(d * v)


@kernel
def next_beta(generator: Words, a: float, b: float) -> float:
    """Draw from the beta distribution with parameters >= 1."""
    x = next_gamma(generator, a)
    return x / (x + next_gamma(generator, b))
