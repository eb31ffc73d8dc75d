"""The base class of change detectors, their registry, and a detector on a stream.

A detector takes numbers in [0, 1], one at a time, and raises an alarm when their mean seems to have changed. It is a
frozen dataclass of parameters with one kernel, `observe(row, rates, value) -> bool`, which returns whether there is an
alarm. `row` is its whole memory, all zeros before the first value. Learners compile the kernel with their own.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable
from typing import Any, ClassVar, NamedTuple, TypeVar

import numpy as np
import numpy.typing as npt

from driftwise.core.errors import InvalidInput, shown
from driftwise.core.kernel import clone, kinds_of, unbound
from driftwise.core.types import Actions, Vector
from driftwise.core.validation import as_losses, check_memory, first_bad_loss
from driftwise.registry import Registered, Registry

Kernel = Callable[..., Any]
OBSERVE: Kernel = unbound


class Detector(Registered, ABC):
    """A change detector: a test of whether the mean of a stream has changed, with its parameters."""

    observe: ClassVar[Kernel]
    scan: ClassVar[Kernel]

    @abstractmethod
    def rates(self) -> NamedTuple:
        """Return the parameters as the kernel reads them (a NamedTuple of scalars)."""

    @property
    @abstractmethod
    def width(self) -> int:
        """The length of its row before the first value; the first number of the row is how many values it took."""

    @property
    def grows(self) -> bool:
        """Whether its row may have to grow with the number of values."""
        return False

    def room(self, n_values: int) -> int:  # noqa: ARG002
        """Return the length of its row for so many values; the same for most detectors."""
        return self.width

    def accepts(self, row: Vector, n_values: int) -> bool:
        """Return whether a row read from a file can be its row after at most so many values."""
        n = float(row[0])
        return bool(np.isfinite(row).all() and 0 <= n <= n_values and n == int(n))

    def alarms(self, values: npt.ArrayLike) -> Actions:
        """Return the indices of the values that raise an alarm; each alarm resets the detector.

        >>> from driftwise.detectors import CUSUM
        >>> CUSUM(warmup=10, threshold=4.0).alarms([0.1] * 50 + [0.9] * 50)
        array([55])
        """
        return Monitor(self).watch(values)


class Monitor:
    """A detector on a stream of values.

    Parameters
    ----------
    detector : Detector
        The detector and its parameters.

    Examples
    --------
    >>> from driftwise.detectors import CUSUM
    >>> monitor = Monitor(CUSUM(warmup=5, threshold=1.0))
    >>> [monitor.update(value) for value in [0.0, 0.0, 0.0, 0.0, 0.0, 1.0, 1.0]]
    [False, False, False, False, False, False, True]
    """

    def __init__(self, detector: Detector) -> None:
        if not isinstance(detector, Detector):
            raise InvalidInput(f"Monitor: `detector` must be a detector, got {shown(detector)}.")
        self.detector = detector
        self._rates = detector.rates()
        check_memory("Monitor", "detector", detector, 8 * detector.width)
        self._row = np.zeros(detector.width)
        self._n_values = 0

    def update(self, value: float) -> bool:
        """Take a value; return whether it raised an alarm, which resets the detector."""
        return len(self.watch([value])) > 0

    def watch(self, values: npt.ArrayLike) -> Actions:
        """Take values; return the indices of those that raised an alarm."""
        values = as_losses(self.detector, values, (None,), "values")
        bad = first_bad_loss(values)
        if bad >= 0:
            raise InvalidInput(
                f"{type(self.detector).__name__}: `values` must be in [0, 1], got {values[bad]} at {bad}."
            )
        self._n_values += len(values)
        self._row = widened(self._row, self.detector.room(self._n_values))
        alarms = np.empty(len(values), np.int64)
        n_alarms = type(self.detector).scan(self._row, self._rates, values, alarms)
        return alarms[:n_alarms].copy()


def widened(row: Vector, width: int) -> Vector:
    """Return the row, or rows, with zeros appended up to `width` numbers each."""
    if row.shape[-1] >= width:
        return row
    wider = np.zeros((*row.shape[:-1], width))
    wider[..., : row.shape[-1]] = row
    return wider


detectors: Registry[Detector] = Registry("detector")
D = TypeVar("D", bound=type[Detector])


def detector(name: str, *, observe: Kernel) -> Callable[[D], D]:
    """Register a detector under `name` and bind its kernel."""

    def enter(member: D) -> D:
        member.observe, member.scan = observe, clone(_scan, name, kinds_of(member), OBSERVE=observe)
        return detectors.add(name, member)

    return enter


def _scan(row: Vector, rates: NamedTuple, values: Vector, alarms: Actions) -> int:
    n_alarms = 0
    for t in range(values.size):
        if OBSERVE(row, rates, values[t]):
            row[:] = 0.0
            alarms[n_alarms] = t
            n_alarms += 1
    return n_alarms
