"""The rounds of the latest alarms of a learner, in one array of its memory.

The first number is how many alarms there were; the others are a ring of the rounds, counted from 0, whose losses raised
the latest ones. A round raises at most one alarm.
"""

from __future__ import annotations

from itertools import pairwise
from typing import Any

import numpy as np

from driftwise.core.kernel import kernel
from driftwise.core.memory_fields import Array, Field
from driftwise.core.types import Actions

_KEPT = 64
LOG_SIZE = 1 + _KEPT


def empty_log() -> Actions:
    """Return the log before the first alarm."""
    return np.zeros(LOG_SIZE, np.int64)


@kernel
def record_alarm(log: Actions, t: int) -> None:
    """Write that the loss of round `t` raised an alarm."""
    log[1 + log[0] % _KEPT] = t
    log[0] += 1


def latest_alarms(log: Actions) -> tuple[int, ...]:
    """Return the rounds of the latest alarms, at most 64, oldest first.

    >>> log = empty_log()
    >>> for t in range(3, 100):
    ...     record_alarm(log, t)
    >>> latest_alarms(log)[0], latest_alarms(log)[-1]
    (36, 99)
    """
    n = int(log[0])
    return tuple(int(log[1 + i % _KEPT]) for i in range(max(0, n - _KEPT), n))


def alarms(log: Actions) -> dict[str, Any]:
    """Return what an alarm log says, as fields of `Beliefs`."""
    return {"alarms": latest_alarms(log), "n_alarms": int(log[0]), "segments": 1 + int(log[0])}


def alarm_log(size: int | str = LOG_SIZE) -> Field:
    """Declare an alarm log; a size in `memory_limits` may be 0 for learners without alarms."""
    return Field((size,), lambda rounds: f"increasing rounds below {rounds:.0f} and their number", _is_log, ("rounds",))


def _is_log(log: Array, rounds: float) -> bool:
    if log.size == 0:
        return True
    n = int(log[0])
    if not 0 <= n <= rounds or log[1 + n :].any():
        return False
    latest = latest_alarms(log)
    before = n - len(latest)  # as many rounds are needed for the alarms that are no longer in the ring
    bounded = not latest or (before <= latest[0] and latest[-1] < rounds)
    return bounded and all(alarm < later for alarm, later in pairwise(latest))
