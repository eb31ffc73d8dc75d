r"""CUSUM: has the mean left the one it started with?

The first $M$ values give $\hat u$. From then on

$$ g^\pm \leftarrow \max(0, g^\pm \pm (x - \hat u) - \epsilon), $$

and there is an alarm when either exceeds $h$.

==========  ==================  ===================================================
symbol      name in the code    meaning
==========  ==================  ===================================================
$M$         `warmup`            values that give the mean to compare with
$\epsilon$  `slack`             the change that is let pass
$h$         `threshold`         the sum that raises an alarm; infinite for never
==========  ==================  ===================================================

Reference: E. Page, "Continuous inspection schemes", Biometrika 41 (1954), in the two-sided form of F. Liu, J. Lee,
N. Shroff, "A change-detection based framework for piecewise-stationary multi-armed bandit problem", AAAI 2018.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import NamedTuple

from driftwise.core.kernel import kernel
from driftwise.core.memory_fields import within
from driftwise.core.types import Vector
from driftwise.core.validation import require_count, require_number
from driftwise.detectors.base import Detector, detector

__all__ = ["CUSUM", "drift_away"]


class Rates(NamedTuple):
    """The parameters, as the kernel reads them."""

    warmup: float
    slack: float
    threshold: float


@kernel
def drift_away(sums: Vector, away: float, slack: float) -> float:
    """Add to the sums of what is above and of what is below; return the larger."""
    sums[0] = max(0.0, sums[0] + away - slack)
    sums[1] = max(0.0, sums[1] - away - slack)
    return float(max(sums[0], sums[1]))


@kernel
def _observe(row: Vector, rates: Rates, value: float) -> bool:
    # How many values, their sum while warming up, and the two sums.
    row[0] += 1.0
    if row[0] <= rates.warmup:
        row[1] += value
        return False
    return drift_away(row[2:], value - row[1] / rates.warmup, rates.slack) > rates.threshold


@detector("cusum", observe=_observe)
@dataclass(frozen=True)
class CUSUM(Detector):
    """Watch for a mean that has left the one it started with.

    >>> CUSUM(warmup=10, threshold=4.0).alarms([0.1] * 50 + [0.9] * 50)
    array([55])
    """

    warmup: int = 100
    slack: float = 0.1
    threshold: float = 10.0

    def __post_init__(self) -> None:
        require_count(self, "warmup")
        require_number(self, "slack", lambda x: 0 <= x < math.inf, "a finite number >= 0")
        require_number(self, "threshold", lambda x: x > 0, "a number > 0")

    @property
    def width(self) -> int:
        """Four numbers."""
        return 4

    def accepts(self, row: Vector, n_values: int) -> bool:
        """Check the sums too."""
        return super().accepts(row, n_values) and within(row[1:], 0.0, (min(row[0], self.warmup), row[0], row[0]))

    def rates(self) -> Rates:
        """Return the parameters."""
        return Rates(float(self.warmup), self.slack, self.threshold)
