"""CUSUM."""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

from driftwise.core.kernel import kernel
from driftwise.core.memory_fields import within
from driftwise.core.types import Vector
from driftwise.core.validation import COUNT, NOT_NEGATIVE, Domains, reals
from driftwise.detectors.detector import Detector, detector


class Rates(NamedTuple):
    """The parameters, as the kernel reads them."""

    warmup: float
    slack: float
    threshold: float


@kernel
def add_deviation(sums: Vector, deviation: float, slack: float) -> float:
    """Add a deviation to the sums of those above and of those below; return the larger sum."""
    sums[0] = max(0.0, sums[0] + deviation - slack)
    sums[1] = max(0.0, sums[1] - deviation - slack)
    return float(max(sums[0], sums[1]))


@kernel
def _observe(row: Vector, rates: Rates, value: float) -> bool:
    # The row: the number of values, the sum of the first `warmup` ones, and the two sums of deviations.
    row[0] += 1.0
    if row[0] <= rates.warmup:
        row[1] += value
        return False
    return add_deviation(row[2:], value - row[1] / rates.warmup, rates.slack) > rates.threshold


@detector("cusum", observe=_observe)
@dataclass(frozen=True)
class CUSUM(Detector):
    r"""CUSUM (Page, 1954): cumulative sums of deviations from the mean of the first values, in both directions.

    Parameters
    ----------
    warmup : int, default 100
        Number of values that give the reference mean ($M$), a whole number >= 1.
    slack : float, default 0.1
        Deviation per value that is ignored ($\epsilon$), a finite number >= 0.
    threshold : float, default 10.0
        Sum above which there is an alarm ($h$), a number > 0; infinity for no alarms.

    Notes
    -----
    The mean of the first $M$ values is $\hat u$. Each later value $x$ updates two sums, both 0 at first,

    $$ g^\pm \leftarrow \max(0, g^\pm \pm (x - \hat u) - \epsilon), $$

    and there is an alarm when either exceeds $h$.

    References
    ----------
    E. Page, "Continuous inspection schemes", Biometrika 41 (1954).

    F. Liu, J. Lee, N. Shroff, "A change-detection based framework for piecewise-stationary multi-armed bandit problem",
    AAAI 2018, for the two-sided form.

    Examples
    --------
    >>> CUSUM(warmup=10, threshold=4.0).alarms([0.1] * 50 + [0.9] * 50)
    array([55])
    """

    warmup: int = 100
    slack: float = 0.1
    threshold: float = 10.0

    width = 4

    _domains = Domains(warmup=COUNT, slack=NOT_NEGATIVE, threshold=reals("a number > 0", lambda x: x > 0))

    def accepts(self, row: Vector, n_values: int) -> bool:
        """Return whether the number of values and the sums are possible."""
        return super().accepts(row, n_values) and within(row[1:], 0.0, (min(row[0], self.warmup), row[0], row[0]))

    def rates(self) -> Rates:
        """Return the parameters."""
        return Rates(float(self.warmup), self.slack, self.threshold)
