"""The live mixture of one series: forecasts come in, the combined one goes out, the truth follows when it is known."""

from __future__ import annotations

import os
import threading
from collections.abc import Hashable, Iterable
from typing import TYPE_CHECKING, Any

import numpy as np

from driftwise.core.errors import InvalidInput, UnknownName, rejection, shown
from driftwise.core.types import Vector
from driftwise.core.validation import count
from driftwise.forecasting.labelled_values import as_forecasts, as_names, names_of, numbered_names
from driftwise.forecasting.losses import ForecastLoss
from driftwise.forecasting.mixture_files import MIXTURE_OPTIONS, MixtureParts, read_mixture, write_mixture
from driftwise.forecasting.mixture_stack import MixtureStack
from driftwise.forecasting.mixture_state import MixtureState
from driftwise.forecasting.options import MixtureOptions
from driftwise.forecasting.real_values import as_truth
from driftwise.forecasting.round_history import RoundHistory
from driftwise.forecasting.waiting_rounds import WaitingRounds
from driftwise.learners.contract import ExpertLearner

if TYPE_CHECKING:
    from driftwise.forecasting.forecast_report import ForecastReport

__all__ = ["Mixture"]

_MOST_KEPT = 100_000
_NO_FORECAST = "Mixture: `forecasts` has no forecast, and there is no truth yet that could be repeated."


class Mixture(MixtureState):
    r"""Combine the forecasts of several experts, with weights that follow the best of them through changes.

    In each round call `predict(forecasts)`, which returns the combined forecast, and when the truth is known
    `update(truth)`. Forecasts are an array, a dict by name, a pandas Series or a frame of one row; what has labels is
    matched by them. NaN, None or an absent name is a missing forecast: that expert sleeps in this round. Threads may
    share a mixture: its methods lock it.

    Parameters
    ----------
    experts : int or sequence of str, default None
        The number of experts, or their names. None: those of the first forecasts.
    loss : str or ForecastLoss, default "square"
        "square", "absolute", "percentage", "pinball:0.9" (the quantile 0.9), "log" (for probabilities), or your own.
    learner : ExpertLearner, default None
        Any learner with full feedback; None: `Tracker(both_guesses=True)`, which needs no tuning.
    gradient : bool, default True
        True: compete with the best convex combination of the experts (gradient trick); False: with the best expert.
    hint : {"last-truth", "last-losses", "none"}, default "last-truth"
        What a learner that takes hints is given: the losses of this round's forecasts if the last truth repeats, the
        losses of the last round, or nothing.
    extras : tuple of str, default ()
        Experts to add: "last-truth", "shifted" and "scaled"; see `MixtureOptions`.
    scale : float, default None
        The largest range of the losses of a round, if it is known. None: it is learned.
    history : int, default 100000
        Number of latest rounds to keep, for `report` and for experts that join.

    Notes
    -----
    `driftwise.forecasting.mixture_kernels` has the formulas. If all experts are missing, the forecast is the last
    truth; if there is none, `predict` raises an error. A round whose truth is missing (None or NaN) is skipped.

    Examples
    --------
    >>> mix = Mixture()
    >>> for forecasts, truth in [({"a": 1.0, "b": 3.0}, 1.1), ({"a": 1.5, "b": 2.0}, 1.4), ({"a": 1.2}, 1.3)]:
    ...     forecast = mix.predict(forecasts)
    ...     mix.update(truth)
    >>> round(mix.predict({"a": 1.0, "b": 3.0}), 2)
    1.0...
    >>> mix
    Mixture(['a', 'b'], loss='square', learner=Tracker(both_guesses=True), rounds=3)
    """

    def __init__(
        self,
        experts: int | Iterable[str] | None = None,
        *,
        loss: str | ForecastLoss = "square",
        learner: ExpertLearner | None = None,
        gradient: bool = True,
        hint: str = "last-truth",
        extras: Iterable[str] = (),
        scale: float | None = None,
        history: int = _MOST_KEPT,
    ) -> None:
        extras = tuple(extras) if isinstance(extras, Iterable) and not isinstance(extras, str) else extras
        self.options = MixtureOptions(loss, learner, gradient, hint, extras, scale)  # type: ignore[arg-type]
        self._most_kept = count(self, "history", history, at_least=0)
        self._lock = threading.RLock()  # compiled rounds release the interpreter's lock
        self._waiting = WaitingRounds(self._most_kept)
        self._absent = set()
        self._names = None
        if experts is not None:
            self._begin(_names(self, experts))

    def _begin(self, names: tuple[str, ...]) -> None:
        self.options.names(names)  # raises if a name is that of an added expert
        self._stack = MixtureStack(self.options, len(names))
        self._history = RoundHistory(self._stack.n_actions, self._most_kept)
        self._names = names

    def predict(self, forecasts: Any, key: Hashable = None) -> float:
        """Return the combined forecast of a round.

        A `key`, such as a date, names the round, so that its truth may arrive later and in any order. Without keys
        there is one round at a time. A second call for the same round replaces the first.
        """
        with self._lock:
            if self._names is None:
                self._begin(self.check_forecasts(forecasts, key))
            one = self._stack.combine_one(self._checked(forecasts, key, self.experts))
            if np.isnan(one.forecast):
                raise InvalidInput(_NO_FORECAST)
            self._waiting.add(key, one)
            return one.forecast

    def check_forecasts(self, forecasts: Any, key: Hashable = None) -> tuple[str, ...]:
        """Raise what `predict` would raise, without changing anything; return the names of the experts."""
        with self._lock:
            names = self._names
            if names is None:
                names = names_of(self, forecasts) or numbered_names(len(forecasts))
            values = self._checked(forecasts, key, names)
            if np.isnan(values).all() and (self._names is None or np.isnan(self._stack.last_truths[0])):
                raise InvalidInput(_NO_FORECAST)
            return names

    def _checked(self, forecasts: Any, key: Hashable, names: tuple[str, ...]) -> Vector:
        """Return the forecasts of a round as numbers, NaN where one is missing."""
        self._waiting.check_new(key)
        values = as_forecasts(self, forecasts, names)
        if rule := self.options.forecast_loss.forecast_fault(values):
            raise rejection(self, "forecasts", rule, values.tolist())
        for name in self._absent:
            if not np.isnan(values[names.index(name)]):
                raise InvalidInput(f"Mixture: {shown(name)} left; call `join` before it forecasts again.")
        return values

    def update(self, truth: Any, key: Hashable = None) -> None:
        """Give the truth of a round; None or NaN if it will never be known.

        With late truths, the learner learns from a round when its truth arrives. A truth cannot be revised: a second
        one for the same key is refused.
        """
        with self._lock:
            value, one = as_truth(self, truth), self._waiting.get(key)
            if rule := self.options.forecast_loss.truth_fault(value):
                raise rejection(self, "truth", rule, truth)
            self._stack.observe_one(one, value, late=one is not self._waiting.hinted)
            self._waiting.finish(key)
            self._history.add(one.inputs, one.shares, value, one.forecast)

    def join(self, name: str) -> None:
        r"""Add an expert, or let one that left return.

        A new expert counts as one that was asleep in all rounds that are kept: they are played again with it, and its
        weight is what the learner gives to an expert that had the mixture's losses, $1/K$ at first. Its guarantee is
        that of an expert that sleeps: the regret against it, over the rounds in which it forecasts, is bounded as if it
        had always been there.
        """
        with self._lock:
            if isinstance(name, str) and name in self._absent:
                self._absent.remove(name)
                return
            if self._names is None:
                self._begin(as_names(self, [name], "name"))
                return
            if isinstance(name, str) and name in self._names:
                raise InvalidInput(f"Mixture: {shown(name)} is an expert already.")
            names = as_names(self, [*self._names, name], "name")
            self.options.names(names)
            if self.rounds and not self._most_kept:
                raise InvalidInput("Mixture: with history=0 no round is kept that could be played with a new expert.")
            place, stack = len(self._names), MixtureStack(self.options, len(names))
            asleep = np.full((len(self._history.truths), 1), np.nan)
            stack.run(np.hstack([self._history.inputs[:, :place], asleep]), self._history.truths)
            self._history.insert_expert(place)
            self._waiting.insert_expert(place)
            self._stack, self._names = stack, names

    def leave(self, name: str) -> None:
        """Remove an expert for good: it sleeps from now on, and a forecast of it is refused until it joins again."""
        with self._lock:
            if name not in self.experts or name in self._absent:
                raise UnknownName("expert", str(name), [one for one in self.experts if one not in self._absent])
            self._absent.add(name)

    def report(self) -> ForecastReport:
        """Return how the mixture did, beside the experts and the best that could have been done, in the kept rounds.

        With late truths the last truth repeated is left out: the truth of the round before was not known.
        """
        from driftwise.forecasting.report_numbers import LAST_TRUTH
        from driftwise.forecasting.running_report import report_of

        with self._lock:
            if not self.rounds:
                raise InvalidInput("Mixture: there is no round yet to report on.")
            kept = self._history
            found = report_of(
                self.all_names,
                self.options.forecast_loss,
                kept.inputs,
                kept.truths,
                kept.combined,
                kept.weights,
                cuts=self._stack.cuts,
            )
            return found.without(LAST_TRUTH) if self._waiting.late else found

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write the mixture with its history to a file; an existing one is replaced only when the new one is complete.

        A loss of your own is a function, which a file cannot hold. Keys of rounds must be texts or numbers.
        """
        with self._lock:
            if self._names is None:
                raise InvalidInput("Mixture: there is nothing to save before the experts are known.")
            write_mixture(
                path,
                MixtureParts(self.options, self.experts, self._absent, self._stack, self._history, self._waiting),
            )

    @classmethod
    def load(cls, path: str | os.PathLike[str]) -> Mixture:
        """Return the mixture that `save` wrote; it continues bit for bit as if it had not been interrupted."""
        parts = read_mixture(path)
        options = {name: getattr(parts.options, name) for name in MIXTURE_OPTIONS}
        mix = cls(parts.experts, history=parts.history.most, **options)
        mix._stack, mix._history, mix._waiting, mix._absent = parts.stack, parts.history, parts.waiting, parts.absent
        return mix


def _names(owner: object, experts: Any) -> tuple[str, ...]:
    if isinstance(experts, str):
        raise rejection(owner, "experts", "a whole number >= 1 or a list of names", experts)
    if not isinstance(experts, Iterable):
        return numbered_names(count(owner, "experts", experts))
    names = as_names(owner, experts, "experts")
    if not names:
        raise rejection(owner, "experts", "at least one name", experts)
    return names
