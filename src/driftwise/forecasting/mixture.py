"""The live mixture of one series: forecasts come in, the combined one goes out, the truth follows when it is known."""

from __future__ import annotations

import copy
import json
import os
from collections.abc import Callable, Hashable, Iterable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from driftwise.core.archives import read_archive, write_archive
from driftwise.core.errors import BadFile, InvalidInput, UnknownName, rejection, shown
from driftwise.core.files import shown_path, write_atomically
from driftwise.core.fork_locks import fork_lock
from driftwise.core.memory_fields import HUGE, MOST_ROUNDS
from driftwise.core.types import Matrix, Vector
from driftwise.core.validation import check_memory, count
from driftwise.forecasting.combination_kernels import NUMBER
from driftwise.forecasting.combinations import Combinations
from driftwise.forecasting.labelled_values import LARGEST, as_forecasts, as_names, as_truth, names_of, numbered_names
from driftwise.forecasting.losses import Array, ForecastLoss
from driftwise.forecasting.mixture_kernels import ALL_ASLEEP, CUT, N_COUNTS, NO_TRUTH, NOT_FINITE, ROUNDS
from driftwise.forecasting.mixture_stack import MixtureStack, Round, check_range, stored_array
from driftwise.forecasting.options import OPTION_NAMES, MixtureOptions
from driftwise.forecasting.round_keys import loaded_key, round_key, stored_key
from driftwise.learners.base import ExpertLearner

if TYPE_CHECKING:
    from driftwise.forecasting.forecast_report import ForecastReport


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

    def new_key(self, key: Hashable) -> Hashable:
        """Return a key as it is kept; reject what cannot be a key, and the key of a round whose truth arrived."""
        key = round_key(key)
        if key in self.finished:
            raise InvalidInput(f"Mixture: the truth of round {shown(key)} was given already.")
        return key

    def add(self, key: Hashable, combined: Round) -> None:
        """Add a round; one with the same key is replaced."""
        self.rounds[key] = self.latest = self.hinted = combined
        self.late |= len(self.rounds) > 1

    def number_beside(self, key: Hashable) -> int:
        """Return how many rounds with other keys wait."""
        return len(self.rounds) - (key in self.rounds)

    def get(self, key: Hashable) -> tuple[Hashable, Round]:
        """Return the key of a round as it is kept, and the round, or reject the key."""
        is_finished = False
        try:
            kept = None if key is None else round_key(key)
            if (waits := self.rounds.get(kept)) is not None:
                return kept, waits
            is_finished = kept in self.finished
        except InvalidInput:
            pass  # no round has it
        if key is None and not self.rounds:
            raise InvalidInput("Mixture: call `predict` before `update`.")
        if is_finished:
            raise InvalidInput(f"Mixture: the truth of round {shown(key)} was given already; it cannot be revised.")
        waiting = ", ".join(map(shown, list(self.rounds)[:_SHOWN_KEYS])) or "none"
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

    def insert_expert(self, place: int, keeps_hints: bool) -> None:
        """Add an expert that is missing in all these rounds."""
        self._replace(lambda waits: _with_sleeper(waits, place, keeps_hints))
        self.hinted = None  # the learner played all rounds again

    def shift(self, by: int) -> None:
        """Subtract a number from the numbers of all rounds, of which none is below 0."""

        def shifted(waits: Round) -> Round:
            kept = waits.kept.copy()
            kept[NUMBER] = max(0.0, kept[NUMBER] - by)
            return waits._replace(kept=kept)

        self._replace(shifted)

    def copy(self) -> WaitingRounds:
        """Return a copy with arrays of its own."""
        other = copy.copy(self)
        other.finished = self.finished.copy()
        other._replace(lambda waits: Round(waits.forecast, *(array.copy() for array in waits[1:])))
        return other

    def _replace(self, change: Callable[[Round], Round]) -> None:
        """Replace all rounds; the latest may wait, too, and the one with a hint is the latest."""
        changed = {id(waits): change(waits) for waits in (*self.rounds.values(), self.latest) if waits is not None}
        self.rounds = {key: changed[id(waits)] for key, waits in self.rounds.items()}
        self.latest, self.hinted = changed.get(id(self.latest)), changed.get(id(self.hinted))


def _with_sleeper(waits: Round, place: int, keeps_hints: bool) -> Round:
    """Return a round with one more expert, which is missing; in a hint it has the loss of the mixture."""
    forecast, inputs, shares, kept = waits
    if keeps_hints:
        kept = np.insert(kept, place, min(1.0, float(shares @ kept)))
    return Round(forecast, np.insert(inputs, place, np.nan), np.insert(shares, place, 0.0), kept)


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
        self.n_rounds = 0  # all, also those no longer kept
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
        self.n_rounds += 1
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


_COUNTS = {ROUNDS: "learned", CUT: "cut", NO_TRUTH: "no truth", ALL_ASLEEP: "all asleep", NOT_FINITE: "not finite"}


FORMAT = 2
_HEADER = {"format", "options", "experts", "absent", "history", "rounds", "latest", "late"}
_KEY_LISTS = ("rounds", "finished")  # of `WaitingRounds`
_ROUNDING = 1e-6  # of weights


def _contents(mix: Mixture) -> tuple[dict[str, object], dict[str, Array]]:
    """Return the header and copies of the arrays of the file of a mixture."""
    waiting, n_actions = mix._waiting, mix._stack.n_actions
    keys = {name: [stored_key(key) for key in getattr(waiting, name)] for name in _KEY_LISTS}
    rounds, latest = list(waiting.rounds.values()), waiting.latest
    if latest is not None and all(waits is not latest for waits in rounds):
        rounds.append(latest)
    header = {
        "format": FORMAT,
        "options": mix.options.spec,
        "experts": list(mix.experts),
        "absent": sorted(mix._absent),
        "history": mix._history.most,
        "rounds": mix._history.n_rounds,
        "latest": next((i for i, waits in enumerate(rounds) if waits is latest), -1),
        "late": waiting.late,
    }
    arrays = mix._stack.arrays()
    for name in Round._fields:
        widths = {"forecast": (), "kept": (mix._stack.n_kept,)}
        shape = (len(rounds), *widths.get(name, (n_actions,)))
        arrays[f"waiting_{name}"] = np.array([getattr(waits, name) for waits in rounds]).reshape(shape)
    arrays |= {f"history_{name}": array.copy() for name, array in mix._history.rounds._asdict().items()}
    arrays["keys"] = np.frombuffer(json.dumps(keys).encode(), np.uint8)  # there may be more than a header can hold
    return header, arrays


def _check_header(header: Mapping[str, object]) -> None:
    for name in ("experts", "absent"):
        _check_list(name, header[name])
    if not isinstance(header["late"], bool):
        raise InvalidInput(f"`late` must be true or false, got {shown(header['late'])}.")
    for name in ("history", "rounds", "latest"):
        value = header[name]
        if type(value) is not int or not -1 <= value <= MOST_ROUNDS:
            raise InvalidInput(f"`{name}` must be a whole number, got {shown(value)}.")


def _check_list(name: str, values: object) -> None:
    if not isinstance(values, list) or not all(type(value) is str for value in values):
        raise InvalidInput(f"`{name}` must be a list of texts, got {shown(values)}.")
    _check_different(name, values)


def _check_different(name: str, values: list[Hashable]) -> None:
    if len(set(values)) < len(values):
        raise InvalidInput(f"`{name}` must not repeat a value.")


def _keys(arrays: Mapping[str, Array]) -> dict[str, list[Hashable]]:
    """Return the keys of the rounds that wait, and of those that are finished."""
    array = arrays.get("keys")
    try:
        keys = json.loads(b"" if array is None or array.dtype != np.uint8 else array.tobytes())
    except (ValueError, RecursionError):
        keys = None
    if not isinstance(keys, dict) or set(keys) != set(_KEY_LISTS) or not all(type(keys[k]) is list for k in keys):
        raise InvalidInput("Mixture: the array `keys` has no lists of keys.")
    loaded = {name: [loaded_key(stored) for stored in values] for name, values in keys.items()}
    for name, values in loaded.items():
        _check_different(name, values)
    return loaded


def _restored(kind: type[Mixture], header: Mapping[str, Any], arrays: Mapping[str, Array]) -> Mixture:
    """Return the mixture of a file, after all checks that the kernels rely on."""
    _check_header(header)
    keys, options = _keys(arrays), MixtureOptions.from_spec(header["options"])
    names = as_names("Mixture", header["experts"], "experts")
    n_actions, plain = len(options.names(names)), arrays.get("mixture_plain")
    if not names or plain is None or plain.shape != (1, n_actions):  # before anything of that size is made
        raise InvalidInput("Mixture: the arrays do not have the number of the experts.")
    n_waiting, n_kept = len(keys["rounds"]), np.size(arrays.get("history_truths", ()))
    if not set(header["absent"]) <= set(names) or header["latest"] > n_waiting:
        raise InvalidInput("Mixture: an absent expert or the latest round is not known.")
    if n_kept > min(header["rounds"], header["history"]):
        raise InvalidInput("Mixture: more rounds are kept than were played.")
    mix = kind(names, history=header["history"], **{name: getattr(options, name) for name in OPTION_NAMES})
    mix._stack.set_arrays(arrays)
    n_rounds = max(n_waiting, header["latest"] + 1)  # the latest may be finished; then it is behind those that wait
    columns = _rounds(arrays, "waiting_", Round._fields, (n_rounds, n_actions), mix._stack)
    rounds = [Round(float(forecast), *row) for forecast, *row in zip(*columns, strict=True)]
    if not mix._stack.keeps_hints and any(one.kept[NUMBER] > arrays["learner_numbers"][0, 1] for one in rounds):
        raise InvalidInput("Mixture: a waiting round is after the newest.")
    if isinstance(mix._stack.learner, Combinations) and (
        fault := mix._stack.learner.kept_fault(columns[1], columns[3])
    ):
        raise InvalidInput(f"Mixture: of a waiting round, {fault}.")
    for row in zip(*_rounds(arrays, "history_", KeptRounds._fields, (n_kept, n_actions), mix._stack), strict=True):
        mix._history.add(*row)
    mix._history.n_rounds = header["rounds"]
    mix._absent = set(header["absent"])
    waiting = mix._waiting
    waiting.rounds = dict(zip(keys["rounds"], rounds, strict=False))
    waiting.latest = rounds[header["latest"]] if header["latest"] >= 0 else None
    waiting.late = header["late"]
    waiting.finished = dict.fromkeys(keys["finished"])
    return mix


def _rounds(
    arrays: Mapping[str, Array], prefix: str, names: tuple[str, ...], shape: tuple[int, int], stack: MixtureStack
) -> list[Array]:
    """Return arrays of rounds, checked; only what was given and what is remembered may be missing."""
    columns = []
    shares, missing = {"weights", "shares"}, {"inputs", "truths"}
    (shares if stack.keeps_hints else missing).add("kept")
    widths = {"forecast": (), "truths": (), "combined": (), "kept": (stack.n_kept,)}
    for name in names:
        array = stored_array(arrays, prefix + name, np.float64, (shape[0], *widths.get(name, shape[1:])))
        low, high = (
            (0.0, 1.0 + _ROUNDING) if name in shares else (-HUGE, HUGE) if name == "kept" else (-LARGEST, LARGEST)
        )
        fine = (array >= low) & (array <= high)
        check_range(prefix + name, fine | np.isnan(array) if name in missing else fine)
        columns.append(array)
    return columns


_MOST_KEPT = 100_000
_EXPERT_BYTES = 100  # of the name of an expert and its weight, at least
_EXPERTS_CHANGED = "Mixture: the experts changed while the forecasts were read."  # by code of the user, in a number
_NO_FORECAST = "Mixture: `forecasts` has no forecast, and there is no truth yet that could be repeated."


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
    learner : ExpertLearner or Combinations, default None
        Any learner with full feedback; None: `Combinations()`, which needs no tuning. The options `gradient`, `hint`
        and `scale` are for learners.
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
    Mixture(['a', 'b'], loss='square', learner=Combinations(last_truth=True), rounds=3)
    """

    def __init__(
        self,
        experts: int | Iterable[str] | None = None,
        *,
        loss: str | ForecastLoss = "square",
        learner: ExpertLearner | Combinations | None = None,
        gradient: bool = True,
        hint: str = "last-truth",
        extras: Iterable[str] = (),
        scale: float | None = None,
        history: int = _MOST_KEPT,
    ) -> None:
        extras = tuple(extras) if is_listing(extras) else extras
        self.options = MixtureOptions(loss, learner, gradient, hint, extras, scale)  # type: ignore[arg-type]
        self._most_kept = count(self, "history", history, at_least=0)
        self._lock = fork_lock()  # compiled rounds release the interpreter's lock
        self._waiting = WaitingRounds(self._most_kept)
        self._absent: set[str] = set()  # experts that left
        self._names: tuple[str, ...] | None = None  # before they are known there is no `_stack` and no `_history`
        if experts is not None:
            self._begin(_names(self, experts))

    def __getstate__(self) -> dict[str, object]:
        with self._lock:
            values = {name: value for name, value in self.__dict__.items() if name != "_lock"}
            values |= {"_waiting": self._waiting.copy(), "_absent": self._absent.copy()}
            if self._names is not None:
                values |= {"_stack": copy.copy(self._stack), "_history": self._history.copy()}
            return values

    def __setstate__(self, values: dict[str, object]) -> None:
        self.__dict__.update(values, _lock=fork_lock())

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
        with self._lock:
            counts = self._stack.counts[0].tolist() if self._names else [0] * N_COUNTS
        return {name: counts[place] for place, name in _COUNTS.items()}

    @property
    def n_bytes(self) -> int:
        """The bytes of its arrays, with the history."""
        with self._lock:
            if self._names is None:
                return 0
            return self._stack.n_bytes + sum(array.nbytes for array in self._history.rounds)

    @property
    def cut(self) -> float:
        """What was cut.

        With a learner, the sum of the ranges of the losses that were cut: what this can add to the regret at most. With
        `Combinations`, the loss of the mixture for truths that were cut, less that for the truths that were learned.
        """
        with self._lock:
            return float(self._stack.cuts[1][0]) if self._names else 0.0

    def _begin(self, names: tuple[str, ...]) -> None:
        self.options.names(names)  # raises if a name is that of an added expert
        if self._names is not None:
            raise InvalidInput(_EXPERTS_CHANGED)
        self._stack = MixtureStack(self.options, len(names))
        self._history = RoundHistory(self._stack.n_actions, self._most_kept)
        self._names = names

    def predict(self, forecasts: Any, key: Hashable = None) -> float:
        """Return the combined forecast of a round.

        A `key`, such as a date, names the round, so that its truth may arrive later and in any order. It is a text, a
        number, a date, a time of `datetime`, NumPy or pandas, or a tuple of these. Without keys there is one round at a
        time. A second call for the same round replaces the first.
        """
        with self._lock:
            if self._names is None:
                self._begin(self.check_forecasts(forecasts, key))
            if key is not None:
                key = self._waiting.new_key(key)
            names, stack = self.experts, self._stack
            values = self._checked(forecasts, names)
            if names is not self._names:
                raise InvalidInput(_EXPERTS_CHANGED)
            combined = stack._combine(values, waiting=self._waiting.number_beside(key))
            if combined.forecast != combined.forecast:
                raise InvalidInput(_NO_FORECAST)
            self._waiting.add(key, combined)
            return combined.forecast

    def check_forecasts(self, forecasts: Any, key: Hashable = None) -> tuple[str, ...]:
        """Raise what `predict` would raise, without changing anything; return the names of the experts."""
        with self._lock:
            if key is not None:
                self._waiting.new_key(key)
            names = self._names
            if names is None:
                names = names_of(self, forecasts) or numbered_names(len(forecasts))
            values = self._checked(forecasts, names)
            if np.isnan(values).all() and (self._names is None or np.isnan(self._stack.last_truths[0])):
                raise InvalidInput(_NO_FORECAST)
            return names

    def _checked(self, forecasts: object, names: tuple[str, ...]) -> Vector:
        """Return the forecasts of a round as numbers, NaN where one is missing."""
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
            value = as_truth(self, truth)
            key, this_round = self._waiting.get(key)
            if rule := self.options.forecast_loss.truth_fault(value):
                raise rejection(self, "truth", rule, truth)
            self._stack._observe(this_round, value, this_round is not self._waiting.hinted)
            self._waiting.finish(key)
            self._history.add(this_round.inputs, this_round.shares, value, this_round.forecast)

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
            place, stack, kept = len(self._names), MixtureStack(self.options, len(names)), self._history.rounds
            asleep = np.full((len(kept.truths), 1), np.nan)
            stack.run(np.hstack([kept.inputs[:, :place], asleep]), kept.truths)
            self._history.insert_expert(place)
            self._waiting.insert_expert(place, stack.keeps_hints)
            if not stack.keeps_hints:
                self._waiting.shift(stack.follow_newest(self._stack, len(self._waiting.rounds)))
            self._stack, self._names = stack, names

    def leave(self, name: str) -> None:
        """Remove an expert for good: it sleeps from now on, and a forecast of it is refused until it joins again."""
        with self._lock:
            present = [label for label in self.experts if label not in self._absent]
            if not isinstance(name, str) or name not in present:
                raise UnknownName("expert", name if isinstance(name, str) else shown(name), present)
            self._absent.add(name)

    def report(self) -> ForecastReport:
        """Return how the mixture did, beside the experts and the best that could have been done, in the kept rounds.

        With late truths the last truth repeated is left out: the truth of the round before was not known.
        """
        from driftwise.forecasting.running_report import LAST_TRUTH, report_of

        with self._lock:
            if not self.rounds:
                raise InvalidInput("Mixture: there is no round yet to report on.")
            inputs, weights, truths, combined = self._history.rounds
            loss, cuts = self.options.forecast_loss, self._stack.cuts
            report = report_of(self.all_names, loss, inputs, truths, combined, weights, cuts=cuts)
            return report.without(LAST_TRUTH) if self._waiting.late else report

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write the mixture with its history to a file; an existing one is replaced only when the new one is complete.

        A loss of your own is a function, which a file cannot hold.
        """
        with self._lock:
            if self._names is None:
                raise InvalidInput("Mixture: there is nothing to save before the experts are known.")
            header, arrays = _contents(self)

        def write(file: Path) -> None:
            with file.open("wb") as stream:
                write_archive(stream, "mixture", header, arrays)

        write_atomically(path, write)

    @classmethod
    def load(cls, path: str | os.PathLike[str]) -> Mixture:
        """Return the mixture that `save` wrote; it continues bit for bit as if it had not been interrupted."""
        header, arrays = read_archive(path, "mixture")
        where, version = shown_path(path), header.get("format")
        if version != FORMAT:
            raise BadFile(f"{where} has mixture format {shown(version)}; this version reads format {FORMAT}.")
        if set(header) != _HEADER:
            raise BadFile(f"{where} holds no driftwise mixture.")
        try:
            return _restored(cls, header, arrays)
        except (InvalidInput, UnknownName) as error:
            raise BadFile(f"{where}: {error}") from None
        except RecursionError:
            raise BadFile(f"{where}: the learner is nested too deeply.") from None


def is_listing(values: object) -> bool:
    """Return whether some values can be listed; a text and an array without dimensions cannot."""
    return isinstance(values, Iterable) and not isinstance(values, str) and getattr(values, "ndim", 1) != 0


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
