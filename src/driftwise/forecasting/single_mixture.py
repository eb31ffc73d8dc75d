"""The mixture of one series of rounds, and the rounds that it keeps: the part of which a `Mixture` has one or many.

A plain `Mixture` has one of them, one with steps or quantiles has one for each step and each level. It checks nothing
and has no lock: `Mixture` does both.
"""

from __future__ import annotations

import copy
from collections.abc import Callable, Hashable
from typing import NamedTuple

import numpy as np

from driftwise.core.types import Flags, Matrix, Vector
from driftwise.forecasting.combination_kernels import NUMBER
from driftwise.forecasting.mixture_kernels import CUT
from driftwise.forecasting.mixture_stack import MixtureStack, Round
from driftwise.forecasting.options import MixtureOptions

_FIRST_SIZE = 64


class KeptRounds(NamedTuple):
    """Arrays with a row for each round."""

    inputs: Matrix  # the forecasts of all experts, also of those added; NaN where one was missing
    weights: Matrix  # that were played
    truths: Vector  # NaN where one was missing
    combined: Vector


class RoundHistory:
    """The latest rounds, in the order in which their truths arrived."""

    def __init__(self, n_experts: int, most: int) -> None:
        self.most = most
        self._n_kept = 0
        row_shapes = ((n_experts,), (n_experts,), (), ())
        self._space = KeptRounds(*(np.empty((_FIRST_SIZE, *shape)) for shape in row_shapes))

    @property
    def rounds(self) -> KeptRounds:
        """The rounds that are kept."""
        return KeptRounds(*(array[max(0, self._n_kept - self.most) : self._n_kept] for array in self._space))

    def copy(self) -> RoundHistory:
        """Return a copy with arrays of its own."""
        other = copy.copy(self)
        other._space = KeptRounds(*(array.copy() for array in self._space))
        return other

    def add(self, inputs: Vector, weights: Vector, truth: float, combined: float) -> None:
        """Add a round."""
        if self.most == 0:
            return
        if self._n_kept == len(self._space.truths):
            self._make_room()
        i, space = self._n_kept, self._space
        space.inputs[i], space.weights[i], space.truths[i], space.combined[i] = inputs, weights, truth, combined
        self._n_kept += 1

    def _make_room(self) -> None:
        """Drop what is older than the latest rounds, or double the arrays; they are at most twice as long."""
        latest = self.rounds
        self._n_kept = len(latest.truths)
        more = max(_FIRST_SIZE, 2 * self._n_kept) - self._n_kept
        self._space = KeptRounds(*(np.concatenate([array, np.empty((more, *array.shape[1:]))]) for array in latest))

    def insert_expert(self, place: int) -> None:
        """Add an expert that was missing in all rounds."""
        inputs = np.insert(self._space.inputs, place, np.nan, axis=1)
        self._space = self._space._replace(inputs=inputs, weights=np.insert(self._space.weights, place, 0.0, axis=1))


class SingleMixture:
    """The mixture of one step and one level, with its rounds whose truth is still to come, by key."""

    def __init__(self, options: MixtureOptions, n_experts: int, most_kept: int) -> None:
        self.options = options
        self.stack = MixtureStack(options, n_experts)
        self.history = RoundHistory(self.stack.n_actions, most_kept)
        self.waiting: dict[Hashable, Round] = {}
        self.latest: Round | None = None  # the round that was combined last
        self.hinted: Round | None = None  # that whose hint the learner has: the latest, if no truth came since
        self.late = False  # whether a round was ever combined before the truth of another one was known

    def __getstate__(self) -> dict[str, object]:
        other = copy.copy(self.__dict__)
        changed = self._changed_rounds(lambda waits: Round(waits.forecast, *(array.copy() for array in waits[1:])))
        return {**other, **changed, "stack": copy.copy(self.stack), "history": self.history.copy()}

    @property
    def has_truth(self) -> bool:
        """Whether a truth is known that can be repeated where all experts are missing."""
        return not np.isnan(self.stack.last_truths[0])

    @property
    def lacks_rounds(self) -> bool:
        """Whether rounds that it learned are missing in its history, though there is room: it came from a state."""
        return len(self.history.rounds.truths) < min(n_observed(self.stack), self.history.most)

    @property
    def n_bytes(self) -> int:
        """The bytes of its arrays, with the history."""
        return self.stack.n_bytes + sum(array.nbytes for array in self.history.rounds)

    def predict(self, forecasts: Vector, key: Hashable) -> float:
        """Combine a round; if the forecast is NaN, there is none, and nothing has changed."""
        waiting = self.waiting
        n_others = len(waiting) - (key in waiting)
        combined = self.stack._combine(forecasts, waiting=n_others)
        if combined.forecast == combined.forecast:
            waiting[key] = self.latest = self.hinted = combined
            if n_others:
                self.late = True
        return combined.forecast

    def update(self, truth: float, key: Hashable) -> None:
        """Learn the truth of a round that waits."""
        this_round = self.waiting[key]
        self.stack._observe(this_round, truth, this_round is not self.hinted)
        del self.waiting[key]
        self.hinted = None
        self.history.add(this_round.inputs, this_round.shares, truth, this_round.forecast)

    def weights(self, present: Flags | None) -> Vector:
        """Return the weights of the latest round of all experts, or of those that are present: then they have sum 1.

        Before the first round they are equal; they are 0 if all experts were missing in it.
        """
        n_actions = self.stack.n_actions
        shares = np.full(n_actions, 1.0 / n_actions) if self.latest is None else self.latest.shares.copy()
        if present is None:
            return shares
        kept: Vector = shares[present]
        if kept.sum() > 0:
            kept /= kept.sum()
            return kept
        return np.full(len(kept), 1.0 / len(kept)) if len(kept) and shares.any() else kept

    def stack_with_another(self) -> MixtureStack:
        """Return the mixture of one more expert, which was missing in all rounds that are kept."""
        n_experts, kept = self.stack.n_experts, self.history.rounds
        stack = MixtureStack(self.options, n_experts + 1)
        asleep = np.full((len(kept.truths), 1), np.nan)
        stack.run(np.hstack([kept.inputs[:, :n_experts], asleep]), kept.truths)
        return stack

    def insert_expert(self, stack: MixtureStack) -> None:
        """Add an expert that was missing in all rounds, with what `stack_with_another` returned."""
        place, keeps_hints = self.stack.n_experts, stack.keeps_hints
        self.history.insert_expert(place)
        vars(self).update(self._changed_rounds(lambda waits: _with_sleeper(waits, place, keeps_hints)))
        self.hinted = None  # the learner played all rounds again
        if not keeps_hints:
            by = stack.follow_newest(self.stack, n_observed(stack) + len(self.waiting) - 1)
            vars(self).update(self._changed_rounds(lambda waits: _shifted(waits, by)))
        self.stack = stack

    def _changed_rounds(self, change: Callable[[Round], Round]) -> dict[str, object]:
        """Return the attributes that hold rounds, with all rounds changed; the latest may wait, too."""
        rounds = (*self.waiting.values(), self.latest, self.hinted)
        changed = {id(waits): change(waits) for waits in rounds if waits is not None}
        waiting = {key: changed[id(waits)] for key, waits in self.waiting.items()}
        return {"waiting": waiting, "latest": changed.get(id(self.latest)), "hinted": changed.get(id(self.hinted))}


def n_observed(stack: MixtureStack) -> int:
    """Return how many rounds of a stack of one series have a truth, or have none for good."""
    counts = stack.counts[0]
    is_counted_twice = not stack.keeps_hints or stack.options.scale is not None  # what is cut is learned, too
    return int(counts.sum() - (counts[CUT] if is_counted_twice else 0))


def _with_sleeper(waits: Round, place: int, keeps_hints: bool) -> Round:
    """Return a round with one more expert, which is missing; in a hint it has the loss of the mixture."""
    forecast, inputs, shares, kept = waits
    if keeps_hints:
        kept = np.insert(kept, place, min(1.0, float(shares @ kept)))
    return Round(forecast, np.insert(inputs, place, np.nan), np.insert(shares, place, 0.0), kept)


def _shifted(waits: Round, by: int) -> Round:
    """Return a round with a number that is smaller by so much, but not below 0."""
    kept = waits.kept.copy()
    kept[NUMBER] = max(0.0, kept[NUMBER] - by)
    return waits._replace(kept=kept)
