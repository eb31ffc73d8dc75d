"""Corners: extreme values of parameters, where formulas meet 0, 1 and the largest numbers. Checks also run there."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np

from driftwise.core.validation import MAX_COUNT

SMALLEST = float(np.finfo(np.float64).smallest_subnormal)
BELOW_ONE = float(np.nextafter(1.0, 0.0))
LARGEST = float(np.finfo(np.float64).max)
LONGEST = MAX_COUNT  # rounds


class NoLearning(NamedTuple):
    """A corner at which the learner cannot learn, with the reason.

    Checks do not require that the learner finds the best action there.
    """

    value: Any
    why: str


TOO_WIDE = NoLearning(LARGEST, "with intervals this wide all actions have the same index")
TOO_NARROW = NoLearning(SMALLEST, "with intervals this narrow it explores too little")
TOO_SLOW = NoLearning(SMALLEST, "weights change by less than rounding errors")
ONLY_EXPLORES = NoLearning(1.0, "it explores in every round")
FORGETS_ALL = NoLearning(1, "it forgets everything in every round")


class Corners(dict[str, tuple[Any, ...]]):
    """The corners of each parameter of a class: both ends of its range, and values in which the code branches.

    >>> for setting in Corners(rate=(0.0, 1.0), cover=("every",)).settings():
    ...     print(setting)
    {'rate': 0.0}
    {'rate': 1.0}
    {'cover': 'every'}
    {'rate': 0.0, 'cover': 'every'}
    {'rate': 1.0, 'cover': 'every'}
    """

    def __init__(self, **values: tuple[Any, ...]) -> None:
        super().__init__({name: tuple(map(_value, corners)) for name, corners in values.items()})
        self._declared = values

    def no_learning(self, member: object) -> str:
        """Return the reason why a member with these corners cannot learn, '' if it can."""
        corners = ((getattr(member, name), corner) for name, values in self._declared.items() for corner in values)
        return next((c.why for value, c in corners if isinstance(c, NoLearning) and c.value == value), "")

    def settings(self) -> list[dict[str, Any]]:
        """Return every corner of one parameter, the others at their defaults; then all first and all last corners."""
        settings = [{name: value} for name, values in self.items() for value in values]
        for at in (0, -1):
            every = {name: values[at] for name, values in self.items()}
            if every and every not in settings:
                settings.append(every)
        return settings


def _value(corner: Any) -> Any:
    return corner.value if isinstance(corner, NoLearning) else corner
