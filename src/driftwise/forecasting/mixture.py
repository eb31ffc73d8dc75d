"""The live mixture: forecasts come in, the combined ones go out, the truths follow when they are known."""

from __future__ import annotations

import copy
import os
from collections import Counter
from collections.abc import Hashable, Iterable, Mapping, Set, Sized
from dataclasses import replace
from datetime import date, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from driftwise.core.archives import read_archive, write_archive
from driftwise.core.errors import BadFile, InvalidInput, UnknownName, rejection, shown
from driftwise.core.files import shown_path, write_atomically
from driftwise.core.fork_locks import fork_lock
from driftwise.core.validation import check_memory, count
from driftwise.forecasting.combinations import Combinations
from driftwise.forecasting.forecast_tables import TableShape, as_table
from driftwise.forecasting.labelled_values import (
    as_forecasts,
    as_names,
    as_truth,
    is_listing,
    names_of,
    numbered_names,
)
from driftwise.forecasting.losses import Array, ForecastLoss
from driftwise.forecasting.mixture_file import FORMAT, HEADER, contents, restored
from driftwise.forecasting.mixture_kernels import ALL_ASLEEP, CUT, N_COUNTS, NO_TRUTH, NOT_FINITE, ROUNDS
from driftwise.forecasting.options import MixtureOptions, quantile_levels
from driftwise.forecasting.round_keys import round_key
from driftwise.forecasting.single_mixture import KeptRounds, SingleMixture
from driftwise.learners.base import ExpertLearner

if TYPE_CHECKING:
    from driftwise.forecasting.forecast_report import ForecastReport
    from driftwise.forecasting.quantile_report import QuantileReport


_COUNTS = {ROUNDS: "learned", CUT: "cut", NO_TRUTH: "no truth", ALL_ASLEEP: "all asleep", NOT_FINITE: "not finite"}
_MOST_KEPT = 100_000
_EXPERT_BYTES = 100  # of the name of an expert and its weight, at least
_MIXTURE_BYTES = 2000  # of one step and one level, at least
_SHOWN_KEYS = 5
_ONE_KEY = frozenset((type(None), str, int, float, bool, tuple, date, datetime))  # types of which no value is a list
_EXPERTS_CHANGED = "Mixture: the experts changed while the forecasts were read."  # by code of the user, in a number
_NO_FORECAST = "Mixture: `forecasts` has no forecast, and there is no truth yet that could be repeated."


class Mixture:
    r"""Combine the forecasts of several experts, with weights that follow the best of them through changes.

    In each round call `predict(forecasts)`, which returns the combined forecast, and when the truth is known
    `update(truth)`. Forecasts are an array, a dict by name, a pandas Series or a frame of one row; what has labels is
    matched by them. NaN, None or an absent name is a missing forecast: that expert sleeps in this round. Threads may
    share a mixture: its methods lock it.

    With `steps` or `quantiles` a round has a forecast for each of them, each with weights of its own.

    Parameters
    ----------
    experts : int or sequence of str, default None
        The number of experts, or their names. None: those of the first forecasts.
    steps : int, default None
        Forecast the next 1, 2, ..., `steps` times at once, each step with weights of its own. None: one time.
    quantiles : sequence of float, default None
        Probabilities in (0, 1), increasing: forecast these quantiles, each with weights of its own under its pinball
        loss. None: one number.
    loss : str or ForecastLoss, default None
        "square" or "mse", "absolute" or "mae", "percentage" or "mape", "pinball:0.9" (the quantile 0.9), "log" (for
        probabilities), or your own. None: "square"; with `quantiles` it must be None.
    learner : ExpertLearner, Combinations or str, default None
        Any learner with full feedback, or its name, such as "ada-hedge"; None: `Combinations()`, which needs no
        tuning. The options `gradient`, `hint` and `scale` are for learners.
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

    With $m$ steps, $K$ experts and $Q$ quantiles, `predict` takes and returns

    ====================  ==========================  ==============================  ================
    options               array                       dict: values of each expert     returns
    ====================  ==========================  ==============================  ================
    none                  $(K)$                       a number                        a float
    `quantiles`           $(K, Q)$                    $(Q)$                           $(Q)$
    `steps`               $(m, K)$, a frame of it     $(m)$                           $(m)$
    both                  $(m, K, Q)$                 $(m, Q)$                        $(m, Q)$
    ====================  ==========================  ==============================  ================

    where $m$ may be smaller than `steps`: then only the first $m$ steps are forecast. Each step and each quantile has
    a mixture of its own, which learns from its own forecasts. Combined quantiles are sorted, so that they do not cross,
    which never increases their total pinball loss.

    Examples
    --------
    >>> mix = Mixture()
    >>> for forecasts, truth in [({"a": 1.0, "b": 3.0}, 1.1), ({"a": 1.5, "b": 2.0}, 1.4), ({"a": 1.2}, 1.3)]:
    ...     forecast = mix.predict(forecasts)
    ...     mix.update(truth)
    >>> round(mix.predict({"a": 1.0, "b": 3.0}), 2)
    1.0...
    >>> mix
    Mixture(['a', 'b'], loss='square', learner=Combinations(last_truth=True), rounds=3)

    Today's forecasts for the next two days, and tomorrow's truth:

    >>> mix = Mixture(steps=2)
    >>> mix.predict({"a": [1.0, 1.0], "b": [3.0, 5.0]}, key=["Tuesday", "Wednesday"])
    array([2., 3.])
    >>> mix.update(1.2, key="Tuesday")
    >>> mix.waiting
    ('Wednesday',)

    >>> Mixture(quantiles=[0.1, 0.9]).predict({"a": [1.0, 3.0], "b": [2.0, 4.0]})
    array([1.5, 3.5])
    """

    def __init__(
        self,
        experts: int | Iterable[str] | None = None,
        *,
        steps: int | None = None,
        quantiles: Iterable[float] | None = None,
        loss: str | ForecastLoss | None = None,
        learner: ExpertLearner | Combinations | str | None = None,
        gradient: bool = True,
        hint: str = "last-truth",
        extras: Iterable[str] = (),
        scale: float | None = None,
        history: int = _MOST_KEPT,
    ) -> None:
        extras = tuple(extras) if is_listing(extras) else extras
        self.steps = None if steps is None else count(self, "steps", steps)
        self.quantiles = None if quantiles is None else quantile_levels(self, quantiles)
        if self.quantiles is not None:
            if loss is not None:
                rule = "with `quantiles` the loss is the pinball loss of each; leave out `loss`"
                raise InvalidInput(f"Mixture: {rule}, got {shown(loss)}.")
            loss = ForecastLoss("pinball", level=self.quantiles[0])
        loss = "square" if loss is None else loss
        #: with `quantiles`, those of the first one
        self.options = MixtureOptions(loss, learner, gradient, hint, extras, scale)  # type: ignore[arg-type]
        self._shape = TableShape(self.steps, None if self.quantiles is None else len(self.quantiles))
        n_bytes = (self.steps or 1) * (self._shape.levels or 1) * _MIXTURE_BYTES
        check_memory(self, "steps", self.steps, n_bytes)
        self._most_kept = count(self, "history", history, at_least=0)
        self._lock = fork_lock()  # compiled rounds release the interpreter's lock
        self._rounds = 0  # whose truth, or its absence, is known
        self._finished: dict[Hashable, float] = {}  # the truths of the latest of them by key; NaN: not known (any more)
        self._keyed: bool | None = None  # whether times of steps have keys, or are counted; None before the first
        self._absent: set[str] = set()  # experts that left
        self._names: tuple[str, ...] | None = None
        self._singles: tuple[SingleMixture, ...] = ()  # by step, then by level; none before the experts are known
        if experts is not None:
            self._begin(_names(self, experts))

    def __getstate__(self) -> dict[str, object]:
        with self._lock:
            values = {name: value for name, value in self.__dict__.items() if name != "_lock"}
            copies = {"_finished": self._finished.copy(), "_absent": self._absent.copy()}
            return {**values, **copies, "_singles": tuple(map(copy.copy, self._singles))}

    def __setstate__(self, values: dict[str, object]) -> None:
        self.__dict__.update(values, _lock=fork_lock())

    def __repr__(self) -> str:
        parts = [] if self._names is None else [shown(list(self._names))]
        parts += [] if self.steps is None else [f"steps={self.steps}"]
        parts.append(f"loss={str(self.options.forecast_loss)!r}")
        if self.quantiles is not None:
            parts[-1] = f"quantiles={shown(list(self.quantiles))}"
        parts += [f"learner={self.options.full_learner}", f"rounds={self.rounds}"]
        return f"{type(self).__name__}({', '.join(parts)})"

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
        return self._rounds

    @property
    def waiting(self) -> tuple[Hashable, ...]:
        """The keys of the rounds whose truth is still to come.

        None is that of the round without a key. With steps and without keys they are the numbers of the times, from 1.
        """
        with self._lock:
            return tuple(dict.fromkeys(key for single in self._singles for key in single.waiting))

    @property
    def weights(self) -> dict[str, Any]:
        """The weights of the latest round, by name: a distribution over the experts awake in it.

        With steps or quantiles the weights of an expert are an array: one for each step, each quantile, or both.
        Experts that left have none.
        """
        with self._lock:
            names, present = self.all_names, None
            if self._absent:
                present = np.array([name not in self._absent for name in names])
                names = tuple(name for name in names if name not in self._absent)
            if not self._is_plain:
                rows = np.array([single.weights(present) for single in self._singles])
                return dict(zip(names, map(self._shaped, rows.T), strict=True)) if names else {}
            return dict(zip(names, self._singles[0].weights(present).tolist(), strict=True)) if names else {}

    @property
    def counts(self) -> dict[str, Any]:
        """How many rounds the learner learned from, and how many it did not, by reason.

        With steps or quantiles these are arrays, as the weights are.
        """
        with self._lock:
            rows = np.array([single.stack.counts[0] for single in self._singles] or [[0] * N_COUNTS])
            return {name: self._shaped(rows[:, place]) for place, name in _COUNTS.items()}

    @property
    def n_bytes(self) -> int:
        """The bytes of its arrays, with the history."""
        with self._lock:
            return sum(single.n_bytes for single in self._singles)

    @property
    def cut(self) -> Any:
        """What was cut; with steps or quantiles an array, as the weights are.

        With a learner, the sum of the ranges of the losses that were cut: what this can add to the regret at most. With
        `Combinations`, the loss of the mixture for truths that were cut, less that for the truths that were learned.
        """
        with self._lock:
            return self._shaped(np.array([single.stack.cuts[1][0] for single in self._singles] or [0.0]))

    @property
    def _is_plain(self) -> bool:
        return self.steps is None and self.quantiles is None

    def _shaped(self, values: Array) -> Any:
        """Return one value for each step and level in the shape of the mixture: a number if it is plain."""
        if self._is_plain:
            return values[0].item()
        shape = [n for n in self._shape if n is not None]
        return np.array(np.broadcast_to(values, (self._n_singles,))).reshape(shape)  # before the first round it is one

    @property
    def _n_singles(self) -> int:
        return (self.steps or 1) * (self._shape.levels or 1)

    def _begin(self, names: tuple[str, ...]) -> None:
        self.options.names(names)  # raises if a name is that of an added expert
        if self._names is not None:
            raise InvalidInput(_EXPERTS_CHANGED)
        options = [self.options]
        if self.quantiles is not None:
            losses = [ForecastLoss("pinball", level=level) for level in self.quantiles]
            options = [replace(self.options, loss=loss) for loss in losses]
        self._singles = tuple(
            SingleMixture(option, len(names), self._most_kept) for _ in range(self.steps or 1) for option in options
        )
        self._names = names

    def predict(self, forecasts: Any, key: Any = None) -> Any:
        """Return the combined forecast of a round; the class says what it takes and returns with steps and quantiles.

        A `key`, such as a date, names the round, so that its truth may arrive later and in any order. It is a text, a
        number, a date, a time of `datetime`, NumPy or pandas, or a tuple of these. Without keys there is one round at a
        time. A second call for the same round replaces the first.

        With steps, `key` is a list, an array or an index of the times that the steps are for, as many as there are
        steps in the forecasts. Several calls may forecast the same time, by different steps. Without keys the times
        are counted: the first step is for the time after the last truth. Either all calls have keys, or none.
        """
        with self._lock:
            if self.steps is None and self.quantiles is None:
                return self._predict_number(forecasts, key)
            return self._predict_table(forecasts, key)

    def _predict_number(self, forecasts: Any, key: Hashable) -> float:
        names = before = self._names
        if names is None:
            names = names_of(self, forecasts) or numbered_names(len(forecasts))
        values = as_forecasts(self, forecasts, names)
        if key is not None:
            key = self._new_key(key)
        self._check_forecasts(values, names)
        if self._names is not before:
            raise InvalidInput(_EXPERTS_CHANGED)
        if before is None:
            if np.isnan(values).all():
                raise InvalidInput(_NO_FORECAST)
            self._begin(names)
        forecast = self._singles[0].predict(values, key)
        if forecast != forecast:
            raise InvalidInput(_NO_FORECAST)
        return forecast

    def _predict_table(self, forecasts: Any, key: Any) -> Array:
        before = self._names
        names, values = as_table(self, forecasts, before, self._shape)
        keys = [None if key is None else self._new_key(key)] if self.steps is None else self._new_keys(key, len(values))
        self._check_forecasts(values, names)
        if self._names is not before:
            raise InvalidInput(_EXPERTS_CHANGED)
        n_levels = values.shape[1]
        for i, j in np.argwhere(np.isnan(values).all(axis=2)).tolist():
            if before is None or not self._singles[i * n_levels + j].has_truth:
                places = [] if self.steps is None else [f"step {i + 1}"]
                places += [] if self.quantiles is None else [f"the quantile {self.quantiles[j]:g}"]
                raise InvalidInput(f"{_NO_FORECAST[:-1]}, for {' and '.join(places)}.")
        if before is None:
            self._begin(names)
        combined = np.empty(values.shape[:2])
        for i, j in np.ndindex(combined.shape):
            combined[i, j] = self._singles[i * n_levels + j].predict(values[i, j], keys[i])
        if self.steps is not None:
            self._keyed = key is not None
        combined.sort(axis=1)
        return combined.reshape([n for n, most in zip(combined.shape, self._shape, strict=True) if most is not None])

    def _check_forecasts(self, values: Array, names: tuple[str, ...]) -> None:
        """Reject forecasts that break the rule of the loss, and of an expert that left; experts are the last axis."""
        if rule := self.options.forecast_loss.forecast_fault(values):
            raise rejection(self, "forecasts", rule, values.tolist())
        for name in self._absent:
            if not np.isnan(values[..., names.index(name)]).all():
                raise InvalidInput(f"Mixture: {shown(name)} left; call `join` before it forecasts again.")

    def _new_key(self, key: Hashable) -> Hashable:
        """Return a key as it is kept; reject what cannot be a key, and the key of a round whose truth arrived."""
        key = round_key(key)
        if key in self._finished:
            raise InvalidInput(f"Mixture: the truth of round {shown(key)} was given already.")
        return key

    def _new_keys(self, key: Any, n_steps: int) -> list[Hashable]:
        """Return the keys of the times of the first steps."""
        self._check_keyed(key is not None)
        if key is None:
            return list(range(self._rounds + 1, self._rounds + n_steps + 1))
        given = _listed(key)
        if given is None or len(given) != n_steps:
            raise rejection(self, "key", f"a list of {n_steps} keys, one for each step that is forecast", key)
        keys = [self._new_key(one) for one in given]
        _check_different(keys, "`key` must have a different time for each step")
        return keys

    def _check_keyed(self, keyed: bool) -> None:
        """Reject a key where the times of steps are counted, and none where they have keys."""
        if self._keyed is not None and self._keyed != keyed:
            have, give = ("have keys", "give") if self._keyed else ("are counted", "leave out")
            raise InvalidInput(f"Mixture: the times of this mixture {have} since its first forecasts: {give} `key`.")

    def update(self, truth: Any, key: Any = None) -> None:
        """Give the truth of a round, or many; None or NaN if it will never be known.

        Many truths are a dict by key, or a list of truths with a list of keys; all are checked before one is learned.
        With steps, all that forecast this time learn from its truth; without keys it is that of the next time.

        With late truths, the learner learns from a round when its truth arrives. A truth cannot be revised: a second
        one for the same key is refused.
        """
        with self._lock:
            may_be_many = type(key) not in _ONE_KEY or (type(truth) is not float and isinstance(truth, Mapping))
            pairs = self._pairs(truth, key) if may_be_many else None
            if pairs is None:
                value = self._checked_truth(truth)
                self._learn(value, self._waiting_key(key))
            else:
                self._update_all(pairs)

    def _pairs(self, truth: Any, key: Any) -> list[tuple[object, Hashable]] | None:
        """Return truths and keys, None if there is one of them only."""
        if isinstance(truth, Mapping):
            if key is not None:
                raise rejection(self, "key", "None where `truth` is a dict by key", key)
            return [(value, one) for one, value in truth.items()]
        keys = _listed(key)
        if keys is None:
            return None
        truths = _listed(truth)
        if truths is None or len(truths) != len(keys):
            raise rejection(self, "truth", f"a list of {len(keys)} truths, one for each key", truth)
        return list(zip(truths, keys, strict=True))

    def _update_all(self, pairs: list[tuple[object, Hashable]]) -> None:
        values = [self._checked_truth(truth) for truth, _ in pairs]
        keys = [self._waiting_key(key) for _, key in pairs]
        _check_different(keys, "there must be one truth for each key")
        for value, kept in zip(values, keys, strict=True):
            self._learn(value, kept)

    def _checked_truth(self, truth: Any) -> float:
        value = as_truth(self, truth)
        if rule := self.options.forecast_loss.truth_fault(value):
            raise rejection(self, "truth", rule, truth)
        return value

    def _learn(self, truth: float, key: Hashable) -> None:
        """Let all who wait for a round learn its truth."""
        for single in self._singles:
            if key in single.waiting:
                single.update(truth, key)
        self._rounds += 1
        if key is not None and self._keyed is not False:
            self._finished[key] = truth
            if len(self._finished) > max(1, self._most_kept):
                del self._finished[next(iter(self._finished))]

    def _waiting_key(self, key: Hashable) -> Hashable:
        """Return the key of a round that waits as it is kept, or reject the key."""
        if self.steps is not None and (self._keyed is not None or key is not None):
            self._check_keyed(key is not None)
        counted = self.steps is not None and key is None
        kept: Hashable = self._rounds + 1 if counted else None
        is_key = True
        if key is not None:
            try:
                kept = round_key(key)
            except InvalidInput:
                is_key = False  # no round has it
        if is_key:
            for single in self._singles:
                if kept in single.waiting:
                    return kept
            if key is not None and kept in self._finished:
                given = f"the truth of round {shown(key)} was given already"
                raise InvalidInput(f"Mixture: {given}; it cannot be revised.")
        waiting = ", ".join(map(shown, self.waiting[:_SHOWN_KEYS])) or "none"
        if key is None and waiting == "none":
            before = f" for time {kept}, the next one" if counted and self._rounds else ""
            raise InvalidInput(f"Mixture: call `predict` before `update`{before}.")
        what = "no forecast without a key waits" if key is None else f"no forecast with the key {shown(key)} waits"
        raise InvalidInput(f"Mixture: {what} for its truth; waiting: {waiting}.")

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
            if any(single.lacks_rounds for single in self._singles):
                why = "a state keeps no rounds that could be played with a new expert"
                raise InvalidInput(f"Mixture: {why}; begin a new state with all rows.")
            stacks = [single.stack_with_another() for single in self._singles]
            for single, stack in zip(self._singles, stacks, strict=True):
                single.insert_expert(stack)
            self._names = names

    def leave(self, name: str) -> None:
        """Remove an expert for good: it sleeps from now on, and a forecast of it is refused until it joins again."""
        with self._lock:
            present = [label for label in self.experts if label not in self._absent]
            if not isinstance(name, str) or name not in present:
                raise UnknownName("expert", name if isinstance(name, str) else shown(name), present)
            self._absent.add(name)

    def report(self) -> ForecastReport | QuantileReport:
        """Return how the mixture did, beside the experts and the best that could have been done, in the kept rounds.

        With late truths the last truth repeated is left out: the truth of the round before was not known. The steps
        are the series of the report. With quantiles it is a `QuantileReport`.
        """
        from driftwise.forecasting.quantile_report import quantile_report_of
        from driftwise.forecasting.running_report import LAST_TRUTH, RunningReport

        with self._lock:
            kept, late = [single.history.rounds for single in self._singles], any(s.late for s in self._singles)
            if not self.rounds or (self._most_kept and not any(len(rounds.truths) for rounds in kept)):
                raise InvalidInput("Mixture: there is no round yet to report on.")
            cuts = [single.stack.cuts for single in self._singles]
            n_levels, n_steps = self._shape.levels or 1, self.steps or 1
            by_level = [KeptRounds(*map(np.concatenate, zip(*kept[j::n_levels], strict=True))) for j in range(n_levels)]
            series = np.repeat(np.arange(n_steps), [len(rounds.truths) for rounds in kept[::n_levels]])
            names, loss = self.all_names, self.options.forecast_loss
        series_names = () if self.steps is None else tuple(f"step {i + 1}" for i in range(n_steps))
        cuts_by_level: list[Any] = [
            [*map(np.concatenate, zip(*cuts[j::n_levels], strict=True))] for j in range(n_levels)
        ]
        if self.quantiles is None:
            running = RunningReport(names, loss, n_steps)
            rounds = by_level[0]
            running.add(rounds.inputs, rounds.truths, rounds.combined, rounds.weights, series)
            report = replace(running.report(cuts_by_level[0]), series_names=series_names)
            return report.without(LAST_TRUTH) if late else report
        quantiles = quantile_report_of(
            names,
            self.quantiles,
            np.stack([rounds.inputs for rounds in by_level], axis=2),
            by_level[0].truths,
            np.sort(np.column_stack([rounds.combined for rounds in by_level]), axis=1),
            np.stack([rounds.weights for rounds in by_level], axis=2),
            series,
            cuts=cuts_by_level,
            series_names=series_names,
        )
        levels = tuple(level.without(LAST_TRUTH) if late else level for level in quantiles.levels)
        return replace(quantiles, levels=levels)

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write the mixture with its history to a file; an existing one is replaced only when the new one is complete.

        A loss of your own is a function, which a file cannot hold.
        """
        with self._lock:
            if self._names is None:
                raise InvalidInput("Mixture: there is nothing to save before the experts are known.")
            header, arrays = contents(self)

        def write(file: Path) -> None:
            with file.open("wb") as stream:
                write_archive(stream, "mixture", header, arrays)

        write_atomically(path, write)

    @classmethod
    def from_state(cls, path: str | os.PathLike[str], series: Any = None, *, history: int = _MOST_KEPT) -> Mixture:
        """Return the live mixture of a series of a state (`combine(..., state=path)`), which is not changed.

        `series` is the value of the column that tells the series apart, a tuple for several columns, None if there is
        one series. A round has the key of the time that it is for; if the state has times of issue, the key is a tuple
        of both, (time of issue, time). Times are those of `datetime`, in UTC if they have an offset; times of pandas
        that are equal find them. Truths that came and still wait for the next issue are learned now, in their order.
        So the mixture is the one of a live stream that was told the same, to the bit. A state keeps no history: the
        report begins with the next truth, and no new expert can join.
        """
        from driftwise.forecasting.mixture_state import live_mixture

        return live_mixture(cls, path, series, history)

    def to_state(self, path: str | os.PathLike[str], series: Any = None) -> None:
        """Put the mixture into a state, in place of the series from which it came, or as a new series.

        The next table continues it. Rounds need keys as those of `from_state`; the experts and the options must be
        those of the state. It is refused if the series went on in the file since. Of the truths that were learned live,
        the latest 100 are remembered, as those of tables are, but none of before a `load`.
        """
        from driftwise.forecasting.mixture_state import keep_live

        keep_live(self, path, series)

    @classmethod
    def load(cls, path: str | os.PathLike[str]) -> Mixture:
        """Return the mixture that `save` wrote; it continues bit for bit as if it had not been interrupted."""
        header, arrays = read_archive(path, "mixture")
        where, version = shown_path(path), header.get("format")
        if version != FORMAT:
            raise BadFile(f"{where} has mixture format {shown(version)}; this version reads format {FORMAT}.")
        if set(header) != HEADER:
            raise BadFile(f"{where} holds no driftwise mixture.")
        try:
            return restored(cls, header, arrays)
        except (InvalidInput, UnknownName) as error:
            raise BadFile(f"{where}: {error}") from None
        except RecursionError:
            raise BadFile(f"{where}: the learner is nested too deeply.") from None


def _check_different(keys: list[Hashable], rule: str) -> None:
    if len(set(keys)) < len(keys):
        twice = next(key for key, n_uses in Counter(keys).items() if n_uses > 1)
        raise InvalidInput(f"Mixture: {rule}, got {shown(twice)} twice.")


def _listed(values: Any) -> list[Any] | None:
    """Return the elements of a list, an array, an index or a column; None for a single value and what has no order."""
    if isinstance(values, str | bytes | tuple | Mapping | Set) or not isinstance(values, Iterable):
        return None
    if not isinstance(values, Sized) or not is_listing(values):
        return None
    return list(values.to_pylist() if hasattr(values, "to_pylist") else values)  # the elements of Arrow are its own


def _names(owner: object, experts: object) -> tuple[str, ...]:
    if isinstance(experts, str):
        raise rejection(owner, "experts", "a whole number >= 1 or a list of names", experts)
    if not isinstance(experts, Iterable) or not is_listing(experts):
        n_experts = count(owner, "experts", experts)
        check_memory(owner, "experts", n_experts, n_experts * _EXPERT_BYTES)
        return numbered_names(n_experts)
    names = as_names(owner, experts, "experts")
    if not names:
        raise rejection(owner, "experts", "at least one name", experts)
    return names
