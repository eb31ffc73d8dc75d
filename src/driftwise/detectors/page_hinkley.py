r"""Page-Hinkley: has the mean left that of everything so far?

With $\bar x_n$ the mean of the $n$ values so far, the last included,

$$ g^\pm \leftarrow \max(0, g^\pm \pm (x_n - \bar x_n) - \epsilon), $$

and there is an alarm when either exceeds $h$.

==========  ==================  ===================================================
symbol      name in the code    meaning
==========  ==================  ===================================================
$\epsilon$  `slack`             the change that is let pass
$h$         `threshold`         the sum that raises an alarm; infinite for never
==========  ==================  ===================================================

The sum above is the cumulative sum less its least value so far, as the test is usually written.

Reference: D. Hinkley, "Inference about the change-point from cumulative sum tests", Biometrika 58 (1971).
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import NamedTuple

from driftwise.core.kernel import kernel
from driftwise.core.memory_fields import within
from driftwise.core.types import Vector
from driftwise.core.validation import require_number
from driftwise.detectors.base import Detector, detector
from driftwise.detectors.cusum import drift_away

__all__ = ["PageHinkley"]


class Rates(NamedTuple):
    """The parameters, as the kernel reads them."""

    slack: float
    threshold: float


@kernel
def _observe(row: Vector, rates: Rates, value: float) -> bool:
    # How many values, their sum, and the two sums of what is away from the mean.
    row[0] += 1.0
    row[1] += value
    return drift_away(row[2:], value - row[1] / row[0], rates.slack) > rates.threshold


@detector("page-hinkley", observe=_observe)
@dataclass(frozen=True)
class PageHinkley(Detector):
    """Watch for a mean that has left that of everything so far.

    >>> PageHinkley(threshold=4.0).alarms([0.1] * 50 + [0.9] * 50)
    array([56])
    """

    slack: float = 0.1
    threshold: float = 10.0

    def __post_init__(self) -> None:
        require_number(self, "slack", lambda x: 0 <= x < math.inf, "a finite number >= 0")
        require_number(self, "threshold", lambda x: x > 0, "a number > 0")

    @property
    def width(self) -> int:
        """Four numbers."""
        return 4

    def accepts(self, row: Vector, n_values: int) -> bool:
        """Check the sums too."""
        return super().accepts(row, n_values) and within(row[1:], 0.0, row[0])

    def rates(self) -> Rates:
        """Return the parameters."""
        return Rates(self.slack, self.threshold)
