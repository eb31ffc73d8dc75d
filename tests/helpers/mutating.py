"""Damaged copies of files, the same in every run."""

import numpy as np


def mutations(content, n, seed):
    """Yield copies with flipped bits, other bytes, cuts, and pieces of the file in other places."""
    rng = np.random.default_rng(seed)
    for _ in range(n):
        copy = bytearray(content)
        for _ in range(rng.integers(1, 4)):
            at, other = (int(place) for place in rng.integers(0, len(copy), 2))
            length = int(rng.integers(1, 40))
            match rng.integers(0, 6):
                case 0:
                    copy[at] ^= 1 << int(rng.integers(8))
                case 1:
                    copy[at] = int(rng.integers(256))
                case 2:
                    copy[at : at + 4] = (b"\xff\xff\xff\xff", b"\0\0\0\0", b"\xff\xff\xff\x7f")[rng.integers(3)]
                case 3:
                    copy[at : at + length] = copy[other : other + length]
                case 4:
                    copy[at:at] = copy[other : other + length]
                case 5:
                    del copy[at + 1 : None if rng.integers(4) == 0 else at + 1 + length]
        yield bytes(copy)
