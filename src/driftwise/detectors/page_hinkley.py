"""Page-Hinkley.

The test is usually written with one cumulative sum and its smallest value so far: their difference is the sum of the
class, which is cut off at 0.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple

from driftwise.core.kernel import kernel
from driftwise.core.memory_fields import within
from driftwise.core.types import Vector
from driftwise.core.validation import NOT_NEGATIVE, Domains, reals
from driftwise.detectors.cusum import add_deviation
from driftwise.detectors.detector import Detector, detector


class Rates(NamedTuple):
    """The parameters, as the kernel reads them."""

    slack: float
    threshold: float


@kernel
def _observe(row: Vector, rates: Rates, value: float) -> bool:
    # The row: the number of values, their sum, and the two sums of deviations.
    row[0] += 1.0
    row[1] += value
    return add_deviation(row[2:], value - row[1] / row[0], rates.slack) > rates.threshold


@detector("page-hinkley", observe=_observe)
@dataclass(frozen=True)
class PageHinkley(Detector):
    r"""Page-Hinkley (Hinkley, 1971): cumulative sums of deviations from the mean so far, in both directions.

    Parameters
    ----------
    slack : float, default 0.1
        Deviation per value that is ignored ($\epsilon$), a finite number >= 0.
    threshold : float, default 10.0
        Sum above which there is an alarm ($h$), a number > 0; infinity for no alarms.

    Notes
    -----
    With $\bar x_n$ the mean of the $n$ values so far, the last included, each value updates two sums, both 0 at first,

    $$ g^\pm \leftarrow \max(0, g^\pm \pm (x_n - \bar x_n) - \epsilon), $$

    and there is an alarm when either exceeds $h$.

    References
    ----------
    D. Hinkley, "Inference about the change-point from cumulative sum tests", Biometrika 58 (1971).

    Examples
    --------
    >>> PageHinkley(threshold=4.0).alarms([0.1] * 50 + [0.9] * 50)
    array([56])
    """

    slack: float = 0.1
    threshold: float = 10.0

    width = 4

    _domains = Domains(slack=NOT_NEGATIVE, threshold=reals("a number > 0", lambda x: x > 0))

    def accepts(self, row: Vector, n_values: int) -> bool:
        """Return whether the number of values and the sums are possible."""
        return super().accepts(row, n_values) and within(row[1:], 0.0, row[0])

    def rates(self) -> Rates:
        """Return the parameters."""
        return Rates(self.slack, self.threshold)
