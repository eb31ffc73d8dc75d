"""Windowed shift."""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

from driftwise.core.kernel import kernel
from driftwise.core.memory_fields import within
from driftwise.core.types import Vector
from driftwise.core.validation import require, require_count, require_number
from driftwise.detectors.detector import Detector, detector


class Rates(NamedTuple):
    """The parameters, as the kernel reads them."""

    half: int
    threshold: float


@kernel
def _observe(row: Vector, rates: Rates, value: float) -> bool:
    # The row: the number of values, the sum of the later half less that of the earlier one, and a ring of the values.
    half = rates.half
    ring = row[2:]
    window = 2 * half
    n = int(row[0])
    at = n % window
    middle = (n + half) % window  # the value that passes from the later half to the earlier one
    if n >= window:
        row[1] += value + ring[at] - 2.0 * ring[middle]
    ring[at] = value
    row[0] = n + 1.0
    if n + 1 < window:
        return False
    if at == window - 1:  # once a window, so that rounding does not accumulate
        row[1] = 0.0
        for j in range(half):
            row[1] += ring[half + j] - ring[j]
    return bool(abs(row[1]) > rates.threshold)


@detector("windowed-shift", observe=_observe)
@dataclass(frozen=True)
class WindowedShift(Detector):
    r"""Windowed shift (Cao et al., 2019): compares the sums of the two halves of the latest values.

    Parameters
    ----------
    window : int, default 200
        Number of latest values that are compared ($w$), an even number >= 2.
    threshold : float, default 20.0
        Difference of the two sums above which there is an alarm ($b$), a number > 0; infinity for no alarms.

    Notes
    -----
    With $n \ge w$ values so far there is an alarm when

    $$ \Bigl| \sum_{i = n - w/2 + 1}^{n} x_i - \sum_{i = n - w + 1}^{n - w/2} x_i \Bigr| > b . $$

    References
    ----------
    Y. Cao, Z. Wen, B. Kveton, Y. Xie, "Nearly optimal adaptive procedure with change detection for piecewise-stationary
    bandit", AISTATS 2019, Algorithm 1.

    Examples
    --------
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
        """The length of the row: the window and two numbers."""
        return self.window + 2

    def accepts(self, row: Vector, n_values: int) -> bool:
        """Return whether the number of values, the ring and the difference of its halves are possible."""
        half = self.window / 2
        return super().accepts(row, n_values) and within(row[1], -half, half) and within(row[2:], 0.0, 1.0)

    def rates(self) -> Rates:
        """Return the parameters."""
        return Rates(self.window // 2, self.threshold)
