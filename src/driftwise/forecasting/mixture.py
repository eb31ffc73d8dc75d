"""The live mixture of one series: forecasts come in, the combined one goes out, the truth follows when it is known."""

from __future__ import annotations

import os
import threading
from collections.abc import Hashable, Iterable
from typing import TYPE_CHECKING, Any

import numpy as np

from driftwise.core.errors import BadFile, InvalidInput, UnknownName, rejection, shown
from driftwise.core.file_names import shown_path
from driftwise.core.validation import count
from driftwise.forecasting.labelled_values import as_forecasts, as_names, names_of, numbered_names
from driftwise.forecasting.losses import ForecastLoss
from driftwise.forecasting.mixture_files import checked_rounds, keys, read_mixture, write_mixture
from driftwise.forecasting.mixture_kernels import ALL_ASLEEP, CUT, NO_TRUTH, NOT_FINITE, ROUNDS
from driftwise.forecasting.mixture_stack import LARGEST, MixtureStack, Round
from driftwise.forecasting.options import MixtureOptions
from driftwise.forecasting.real_values import as_truth
from driftwise.forecasting.round_history import RoundHistory
from driftwise.learners.contract import ExpertLearner

if TYPE_CHECKING:
    from driftwise.forecasting.forecast_report import ForecastReport

__all__ = ["Mixture"]

_MOST_KEPT = 100_000


class Mixture:
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
        extras = extras if isinstance(extras, str) else tuple(extras)
        self.options = MixtureOptions(loss, learner, gradient, hint, extras, scale)  # type: ignore[arg-type]
        self._most_kept = count(self, "history", history, at_least=0)
        self._lock = threading.RLock()  # compiled rounds release the interpreter's lock
        self._pending: dict[Hashable, Round] = {}
        self._latest: Round | None = None
        self._finished: dict[Hashable, None] = {}  # keys whose truth arrived, the latest last
        self._absent: set[str] = set()  # experts that left
        self._names: tuple[str, ...] | None = None
        if experts is not None:
            self._begin(_names(self, experts))

    def _begin(self, names: tuple[str, ...]) -> None:
        self.options.names(names)  # raises if a name is that of an added expert
        self._stack = MixtureStack(self.options, len(names))
        self._history = RoundHistory(self._stack.n_actions, self._most_kept)
        self._names = names

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
        return tuple(self._pending)

    @property
    def weights(self) -> dict[str, float]:
        """The weights of the latest round, by name: a distribution over the experts awake in it."""
        latest = self._latest
        if latest is None:
            return {name: 1.0 / len(self.all_names) for name in self.all_names}
        return dict(zip(self.all_names, latest.shares.tolist(), strict=True))

    @property
    def counts(self) -> dict[str, int]:
        """How many rounds the learner learned from, and how many it did not, by reason."""
        found = self._stack.counts[0].tolist() if self._names else [0] * (NOT_FINITE + 1)
        names = {
            ROUNDS: "learned",
            CUT: "cut",
            NO_TRUTH: "no truth",
            ALL_ASLEEP: "all asleep",
            NOT_FINITE: "not finite",
        }
        return {name: found[place] for place, name in names.items()}

    @property
    def cut(self) -> float:
        """The sum of the ranges of the losses that were cut: what cutting can add to the regret at most."""
        return float(self._stack.cuts[1][0]) if self._names else 0.0

    def predict(self, forecasts: Any, key: Hashable = None) -> float:
        """Return the combined forecast of a round.

        A `key`, such as a date, names the round, so that its truth may arrive later and in any order. Without keys
        there is one round at a time. A second call for the same round replaces the first.
        """
        with self._lock:
            if self._names is None:
                names = names_of(self, forecasts)
                self._begin(numbered_names(len(forecasts)) if names is None else names)
            return self._combine(as_forecasts(self, forecasts, self.experts), _checked_key(self, key))

    def _combine(self, values: Any, key: Hashable) -> float:
        if rule := self.options.forecast_loss.forecast_fault(values):
            raise rejection(self, "forecasts", rule, values.tolist())
        for name in self._absent:
            if not np.isnan(values[self.experts.index(name)]):
                raise InvalidInput(f"Mixture: {shown(name)} left; call `join` before it forecasts again.")
        if key is not None and key in self._finished:
            raise InvalidInput(f"Mixture: the truth of round {shown(key)} was given already.")
        one = self._stack.combine_one(values)
        if np.isnan(one.forecast):
            raise InvalidInput(
                "Mixture: `forecasts` has no forecast, and there is no truth yet that could be repeated."
            )
        self._pending[key] = self._latest = one
        return one.forecast

    def update(self, truth: Any, key: Hashable = None) -> None:
        """Give the truth of a round; None or NaN if it will never be known.

        With late truths, the learner learns from a round when its truth arrives. A truth cannot be revised: a second
        one for the same key is refused.
        """
        with self._lock:
            value = as_truth(self, truth)
            key = _checked_key(self, key)
            if key not in self._pending:
                raise self._nothing_waits(key)
            if rule := self.options.forecast_loss.truth_fault(value):
                raise rejection(self, "truth", rule, truth)
            one = self._pending[key]
            self._stack.observe_one(one, value, late=one is not self._latest)
            del self._pending[key]
            self._history.add(one.inputs, one.shares, value, one.forecast)
            if key is not None:
                self._finished[key] = None
                if len(self._finished) > max(self._most_kept, 1):
                    del self._finished[next(iter(self._finished))]

    def _nothing_waits(self, key: Hashable) -> InvalidInput:
        if key is None:
            return InvalidInput("Mixture: call `predict` before `update`.")
        if key in self._finished:
            return InvalidInput(f"Mixture: the truth of round {shown(key)} was given already; it cannot be revised.")
        waiting = ", ".join(shown(one) for one in list(self._pending)[:5]) or "none"
        return InvalidInput(f"Mixture: no forecast has the key {shown(key)}; waiting: {waiting}.")

    def join(self, name: str) -> None:
        r"""Add an expert, or let one that left return.

        A new expert counts as one that was asleep in all rounds that are kept: they are played again with it, and its
        weight is what the learner gives to an expert that had the mixture's losses, $1/K$ at first. Its guarantee is
        that of an expert that sleeps: the regret against it, over the rounds in which it forecasts, is bounded as if it
        had always been there.
        """
        with self._lock:
            if name in self._absent:
                self._absent.remove(name)
                return
            if self._names is None:
                self._begin(as_names(self, [name], "name"))
                return
            names = as_names(self, [*self._names, name], "name")
            self.options.names(names)
            place, stack = len(self._names), MixtureStack(self.options, len(names))
            asleep = np.full((len(self._history.truths), 1), np.nan)
            stack.run(np.hstack([self._history.inputs[:, :place], asleep]), self._history.truths)
            self._history.insert_expert(place)
            latest = self._latest
            moved = {key: _with_sleeper(one, place) for key, one in self._pending.items()}
            self._latest = next((moved[key] for key, one in self._pending.items() if one is latest), None)
            self._pending, self._stack, self._names = moved, stack, names

    def leave(self, name: str) -> None:
        """Remove an expert for good: it sleeps from now on, and a forecast of it is refused until it joins again."""
        with self._lock:
            if name not in self.experts or name in self._absent:
                raise UnknownName("expert", str(name), [one for one in self.experts if one not in self._absent])
            self._absent.add(name)

    def report(self) -> ForecastReport:
        """Return how the mixture did, beside the experts and the best that could have been done, in the kept rounds."""
        from driftwise.forecasting.running_report import report_of

        with self._lock:
            if not self.rounds:
                raise InvalidInput("Mixture: there is no round yet to report on.")
            kept = self._history
            return report_of(
                self.all_names, self.options.forecast_loss, kept.inputs, kept.truths, kept.combined, kept.weights
            )

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write the mixture with its history to a file; an existing one is replaced only when the new one is complete.

        A loss of your own is a function, which a file cannot hold. Keys of rounds must be texts or numbers.
        """
        with self._lock:
            if self._names is None:
                raise InvalidInput("Mixture: there is nothing to save before the experts are known.")
            waiting = list(self._pending)
            latest = next((i for i, key in enumerate(waiting) if self._pending[key] is self._latest), -1)
            header = {
                "options": self.options.spec,
                "experts": list(self._names),
                "absent": sorted(self._absent),
                "waiting": waiting,
                "finished": list(self._finished),
                "history": self._most_kept,
                "rounds": self._history.n_rounds,
                "latest": latest,
            }
            rounds = [self._pending[key] for key in waiting]
            pending = {f"waiting_{name}": np.array([getattr(one, name) for one in rounds]) for name in Round._fields}
            for name in Round._fields[1:]:
                pending[f"waiting_{name}"] = pending[f"waiting_{name}"].reshape(len(waiting), self._stack.n_actions)
            kept = {f"history_{name}": array for name, array in self._history.arrays().items()}
            write_mixture(path, header, {**self._stack.arrays(), **pending, **kept})

    @classmethod
    def load(cls, path: str | os.PathLike[str]) -> Mixture:
        """Return the mixture that `save` wrote; it continues bit for bit as if it had not been interrupted."""
        header, arrays = read_mixture(path)
        try:
            return cls._from_parts(header, arrays)
        except (InvalidInput, UnknownName) as error:
            raise BadFile(f"{shown_path(path)}: {error}") from None
        except RecursionError:
            raise BadFile(f"{shown_path(path)}: the learner is nested too deeply.") from None

    @classmethod
    def _from_parts(cls, header: dict[str, Any], arrays: dict[str, Any]) -> Mixture:
        options = MixtureOptions.from_spec(header["options"])
        names, waiting = as_names("Mixture", header["experts"], "experts"), keys(header["waiting"])
        plain = arrays.get("mixture_plain")
        if not names or plain is None or plain.shape != (1, len(names) + options.n_extras):
            raise InvalidInput("Mixture: the arrays do not have the number of the experts.")
        chosen = {name: getattr(options, name) for name in ("loss", "learner", "gradient", "hint", "extras", "scale")}
        mix = cls(names, history=header["history"], **chosen)
        mix._stack.set_arrays(arrays)
        if mix._stack.n_series != 1 or not set(header["absent"]) <= set(names):
            raise InvalidInput("Mixture: the arrays are those of several series, or an absent expert is not known.")
        n_actions, n_kept = mix._stack.n_actions, len(arrays.get("history_truths", ()))
        if n_kept > min(header["rounds"], header["history"]) or not -1 <= header["latest"] < len(waiting):
            raise InvalidInput("Mixture: the numbers of rounds contradict each other.")
        fields = tuple(f"waiting_{name}" for name in Round._fields)
        rows = checked_rounds(arrays, fields, len(waiting), n_actions, LARGEST)
        rounds = [Round(float(row[0]), *map(np.copy, row[1:])) for row in zip(*rows.values(), strict=True)]
        mix._pending = dict(zip(waiting, rounds, strict=True))
        mix._latest = rounds[header["latest"]] if header["latest"] >= 0 else None
        mix._finished, mix._absent = dict.fromkeys(keys(header["finished"])), set(header["absent"])
        names_kept = tuple(f"history_{name}" for name in mix._history.arrays())
        kept = checked_rounds(arrays, names_kept, n_kept, n_actions, LARGEST)
        for inputs, weights, truth, combined in zip(*kept.values(), strict=True):
            mix._history.add(inputs, weights, float(truth), float(combined))
        mix._history.n_rounds = header["rounds"]
        return mix


def _names(owner: object, experts: Any) -> tuple[str, ...]:
    if isinstance(experts, str) or not isinstance(experts, Iterable):
        return numbered_names(count(owner, "experts", experts))
    names = as_names(owner, experts, "experts")
    if not names:
        raise rejection(owner, "experts", "at least one name", experts)
    return names


def _checked_key(owner: object, key: Hashable) -> Hashable:
    try:
        hash(key)
    except TypeError:
        raise rejection(
            owner, "key", "a text, a number, a date or another value that can be a dictionary's key", key
        ) from None
    return key


def _with_sleeper(one: Round, place: int) -> Round:
    """Return a round with one more expert, which is missing; its guess is that of the mixture."""
    guess = float(one.shares @ one.guess)
    return Round(
        one.forecast,
        np.insert(one.inputs, place, np.nan),
        np.insert(one.shares, place, 0.0),
        np.insert(one.guess, place, min(1.0, guess)),
    )
