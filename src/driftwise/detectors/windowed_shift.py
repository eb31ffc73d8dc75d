r"""Windowed shift: do the two halves of the latest values differ?

On the last $w$ values, $w$ even, there is an alarm when the sum of the later half and that of the earlier half are more
than $b$ apart. With fewer values there is none.

=======  ==================  ==============================================================
symbol   name in the code    meaning
=======  ==================  ==============================================================
$w$      `window`            the values it looks at, an even number
$b$      `threshold`         how far the halves may be apart; infinite for never
=======  ==================  ==============================================================

Reference: Y. Cao, Z. Wen, B. Kveton, Y. Xie, "Nearly optimal adaptive procedure with change detection for
piecewise-stationary bandit", AISTATS 2019, Algorithm 1.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

from driftwise.core.kernel import kernel
from driftwise.core.memory_fields import within
from driftwise.core.types import Vector
from driftwise.core.validation import require, require_count, require_number
from driftwise.detectors.base import Detector, detector

__all__ = ["WindowedShift"]


class Rates(NamedTuple):
    """The parameters, as the kernel reads them."""

    half: int
    threshold: float


@kernel
def _observe(row: Vector, rates: Rates, value: float) -> bool:
    # How many values, the later half less the earlier one, and a ring of the values.
    half = rates.half
    ring = row[2:]
    window = 2 * half
    n = int(row[0])
    at = n % window
    middle = (n + half) % window  # the value that goes from the later half to the earlier one
    if n >= window:
        row[1] += value + ring[at] - 2.0 * ring[middle]
    ring[at] = value
    row[0] = n + 1.0
    if n + 1 < window:
        return False
    if at == window - 1:  # once a window, so that rounding does not pile up
        row[1] = 0.0
        for j in range(half):
            row[1] += ring[half + j] - ring[j]
    return bool(abs(row[1]) > rates.threshold)


@detector("windowed-shift", observe=_observe)
@dataclass(frozen=True)
class WindowedShift(Detector):
    """Watch for two halves that differ.

    >>> WindowedShift(window=20, threshold=4.0).alarms([0.1] * 50 + [0.9] * 50)
    array([55])
    """

    window: int = 200
    threshold: float = 20.0

    def __post_init__(self) -> None:
        require_count(self, "window", at_least=2)
        require(self, "window", self.window % 2 == 0, "an even number")
        require_number(self, "threshold", lambda x: x > 0, "a number > 0")

    @property
    def width(self) -> int:
        """The window, and two numbers."""
        return self.window + 2

    def accepts(self, row: Vector, n_values: int) -> bool:
        """Check the ring and the difference of its halves too."""
        half = self.window / 2
        return super().accepts(row, n_values) and within(row[1], -half, half) and within(row[2:], 0.0, 1.0)

    def rates(self) -> Rates:
        """Return the parameters."""
        return Rates(self.window // 2, self.threshold)
