"""The times of the first rounds of the periods, as texts."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, ClassVar

import numpy as np

from driftwise.core.errors import one_line, rejection
from driftwise.core.types import Actions
from driftwise.forecasting.report_sums import N_PERIODS, ROUNDS, Sums

__all__ = ["PeriodTimes"]

_MOST_CHARACTERS = 40
_CHARACTER_BYTES = 4  # of NumPy's texts


class PeriodTimes:
    """The time of each round that begins a period: that of the first row with this round, of any series."""

    FIELDS: ClassVar[tuple[str, str]] = ("time_rounds", "time_texts")

    def __init__(self) -> None:
        self._texts: dict[int, str] = {}

    def add(self, rounds: Actions, times: Sequence[Any], exponent: int) -> None:
        """Add the times of a block; periods have 2^exponent rounds after it."""
        inside = (1 << exponent) - 1
        newest = max(self._texts, default=-1)
        # Within a series a round follows the one before it, so new rounds appear in ascending order.
        starts = np.flatnonzero(((rounds & inside) == 0) & (rounds > newest))
        new, places = np.unique(rounds[starts], return_index=True)
        for t, place in zip(new.tolist(), starts[places].tolist(), strict=True):
            self._texts[t] = one_line(str(times[place]))[:_MOST_CHARACTERS]
        self._texts = {t: text for t, text in self._texts.items() if t & inside == 0}

    def texts(self, starts: Actions) -> tuple[str, ...]:
        """Return the times of these rounds; empty unless all are known."""
        found = [self._texts.get(t) for t in starts.tolist()]
        return tuple(text for text in found if text is not None) if None not in found else ()

    def arrays(self) -> dict[str, Any]:
        """Return the arrays for a checkpoint."""
        texts = np.array(list(self._texts.values()), dtype=np.str_)
        return dict(zip(self.FIELDS, (np.array(list(self._texts), np.int64), texts), strict=True))

    def restored(self, owner: object, arrays: Mapping[str, Any], sums: Sums) -> PeriodTimes:
        """Return the times of a checkpoint whose sums are checked; raise if these arrays break a rule."""
        rounds, texts = (arrays[name] for name in self.FIELDS)
        valid = isinstance(rounds, np.ndarray) and rounds.dtype == np.int64 and rounds.ndim == 1
        longest = int(sums.series_counts[:, ROUNDS].max(initial=0))
        length = 1 << int(sums.exponent[0])
        if not valid or len(rounds) > N_PERIODS or not _ascending(rounds, longest) or (rounds % length).any():
            raise rejection(owner, self.FIELDS[0], f"ascending multiples of {length} below {longest}", rounds)
        widest = _CHARACTER_BYTES * _MOST_CHARACTERS
        valid = isinstance(texts, np.ndarray) and texts.dtype.kind == "U" and texts.shape == rounds.shape
        if not valid or texts.dtype.itemsize > widest:
            raise rejection(
                owner, self.FIELDS[1], f"{len(rounds)} texts of at most {_MOST_CHARACTERS} characters", texts
            )
        found = PeriodTimes()
        found._texts = {t: one_line(text) for t, text in zip(rounds.tolist(), texts.tolist(), strict=True)}
        return found


def _ascending(rounds: Actions, end: int) -> bool:
    return not len(rounds) or bool((np.diff(rounds) > 0).all() and rounds[0] >= 0 and rounds[-1] < end)
