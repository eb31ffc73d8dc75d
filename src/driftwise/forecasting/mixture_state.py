"""What a live mixture holds, and what can be read from it."""

from __future__ import annotations

import threading
from collections.abc import Hashable
from typing import Any

from driftwise.core.errors import shown
from driftwise.forecasting.mixture_kernels import ALL_ASLEEP, CUT, N_COUNTS, NO_TRUTH, NOT_FINITE, ROUNDS
from driftwise.forecasting.mixture_stack import MixtureStack
from driftwise.forecasting.options import MixtureOptions
from driftwise.forecasting.round_history import RoundHistory
from driftwise.forecasting.waiting_rounds import WaitingRounds

__all__ = ["MixtureState"]

_COUNTS = {ROUNDS: "learned", CUT: "cut", NO_TRUTH: "no truth", ALL_ASLEEP: "all asleep", NOT_FINITE: "not finite"}


class MixtureState:
    """The options of a mixture, its experts and its rounds; a subclass plays them."""

    options: MixtureOptions
    _lock: threading.RLock  # compiled rounds release the interpreter's lock
    _names: tuple[str, ...] | None  # of the experts; before they are known there is no stack and no history
    _absent: set[str]  # experts that left
    _waiting: WaitingRounds
    _stack: MixtureStack
    _history: RoundHistory

    def __getstate__(self) -> dict[str, Any]:
        with self._lock:
            return {name: value for name, value in self.__dict__.items() if name != "_lock"}

    def __setstate__(self, values: dict[str, Any]) -> None:
        self.__dict__.update(values, _lock=threading.RLock())

    def __repr__(self) -> str:
        experts = "" if self._names is None else f"{shown(list(self._names))}, "
        options = f"loss={str(self.options.forecast_loss)!r}, learner={self.options.full_learner}"
        return f"{type(self).__name__}({experts}{options}, rounds={self.rounds})"

    @property
    def experts(self) -> tuple[str, ...]:
        """The names of the experts, also of those that left; () before the first forecasts."""
        return self._names or ()

    @property
    def all_names(self) -> tuple[str, ...]:
        """The names of the experts and of those that the options add."""
        return self.options.names(self.experts) if self._names else ()

    @property
    def rounds(self) -> int:
        """The number of rounds whose truth, or its absence, is known."""
        return 0 if self._names is None else self._history.n_rounds

    @property
    def waiting(self) -> tuple[Hashable, ...]:
        """The keys of the rounds whose truth is still to come; None is that without a key."""
        with self._lock:
            return tuple(self._waiting.rounds)

    @property
    def weights(self) -> dict[str, float]:
        """The weights of the latest round, by name: a distribution over the experts awake in it."""
        with self._lock:
            names, latest = self.all_names, self._waiting.latest
        shares = [1.0 / len(names) for _ in names] if latest is None else latest.shares.tolist()
        return dict(zip(names, shares, strict=True))

    @property
    def counts(self) -> dict[str, int]:
        """How many rounds the learner learned from, and how many it did not, by reason."""
        found = self._stack.counts[0].tolist() if self._names else [0] * N_COUNTS
        return {name: found[place] for place, name in _COUNTS.items()}

    @property
    def n_bytes(self) -> int:
        """The bytes of its arrays, with the history."""
        if self._names is None:
            return 0
        arrays = (*self._stack.arrays().values(), *self._history.arrays().values())
        return sum(array.nbytes for array in arrays)

    @property
    def cut(self) -> float:
        """The sum of the ranges of the losses that were cut: what cutting can add to the regret at most."""
        return float(self._stack.cuts[1][0]) if self._names else 0.0
