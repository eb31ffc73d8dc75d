"""The rounds of a mixture whose truth is still to come, by key, and the keys of those whose truth arrived."""

from __future__ import annotations

from collections.abc import Hashable

import numpy as np

from driftwise.core.errors import InvalidInput, rejection, shown
from driftwise.forecasting.mixture_stack import Round

__all__ = ["WaitingRounds"]

_SHOWN_KEYS = 5


class WaitingRounds:
    """Rounds by key; None is the key of the one round without a key."""

    def __init__(self, most_finished: int) -> None:
        self.rounds: dict[Hashable, Round] = {}
        self.latest: Round | None = None  # the one that was combined last
        self.hinted: Round | None = None  # the one whose hint the learner has: the latest, if no truth came since
        self.finished: dict[Hashable, None] = {}  # the latest last
        self.most_finished = max(1, most_finished)
        self.late = False  # whether a round was ever combined before the truth of another one was known

    def check_new(self, key: Hashable) -> None:
        """Reject what cannot be a key, and the key of a round whose truth arrived."""
        try:
            known = key in self.finished
            equal = bool(key == key)  # not so for NaN: its round would never be found again
        except TypeError:
            equal = False
        if not equal:
            raise rejection("Mixture", "key", "a text, a number, a date or another key of a dictionary", key)
        if known:
            raise InvalidInput(f"Mixture: the truth of round {shown(key)} was given already.")

    def add(self, key: Hashable, one: Round) -> None:
        """Add a round; one with the same key is replaced."""
        self.rounds[key] = self.latest = self.hinted = one
        self.late |= len(self.rounds) > 1

    def get(self, key: Hashable) -> Round:
        """Return a round, or reject the key."""
        try:
            if (one := self.rounds.get(key)) is not None:
                return one
            known = key in self.finished
        except TypeError:
            known = False
        if key is None and not self.rounds:
            raise InvalidInput("Mixture: call `predict` before `update`.")
        if known:
            raise InvalidInput(f"Mixture: the truth of round {shown(key)} was given already; it cannot be revised.")
        waiting = ", ".join(shown(one) for one in list(self.rounds)[:_SHOWN_KEYS]) or "none"
        what = "no forecast is without a key" if key is None else f"no forecast has the key {shown(key)}"
        raise InvalidInput(f"Mixture: {what}; waiting: {waiting}.")

    def finish(self, key: Hashable) -> None:
        """Remove a round whose truth arrived; the keys of the latest such rounds are remembered."""
        del self.rounds[key]
        self.hinted = None
        if key is not None:
            self.finished[key] = None
            if len(self.finished) > self.most_finished:
                del self.finished[next(iter(self.finished))]

    def insert_expert(self, place: int) -> None:
        """Add an expert that is missing in all these rounds."""
        latest = self.latest
        moved = {key: _with_sleeper(one, place) for key, one in self.rounds.items()}
        if latest is not None:
            waits = (moved[key] for key, one in self.rounds.items() if one is latest)
            self.latest = next(waits, None) or _with_sleeper(latest, place)
        self.rounds = moved
        self.hinted = None  # the learner played all rounds again


def _with_sleeper(one: Round, place: int) -> Round:
    """Return a round with one more expert, which is missing; its guess is that of the mixture."""
    return Round(
        one.forecast,
        np.insert(one.inputs, place, np.nan),
        np.insert(one.shares, place, 0.0),
        np.insert(one.guess, place, min(1.0, float(one.shares @ one.guess))),
    )
