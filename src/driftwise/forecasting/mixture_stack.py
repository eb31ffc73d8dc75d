"""The mixtures of many series, in stacked arrays, and the loops over their rounds.

The loops are templates that are cloned for each learner and each loss. A stack has the memories of the mixtures of many
series (`driftwise.learners.shared.meta_learner`); a single mixture is a stack of one. Each row of forecasts goes to
the mixture of its series, in the order of the rows, so series may be sorted or interleaved. Threads share the rows by
series: the results do not depend on their number.

Compiled code checks no index. So all that a caller passes is checked here, all methods lock the stack, and its arrays
are never handed out: `arrays` returns copies.
"""

from __future__ import annotations

import functools
import os
from collections.abc import Callable, Mapping
from concurrent.futures import ThreadPoolExecutor
from typing import Any, NamedTuple, NoReturn

import numba
import numpy as np
from numba import types
from numpy.typing import DTypeLike

from driftwise.core.errors import InvalidInput, rejection
from driftwise.core.fork_locks import fork_lock
from driftwise.core.kernel import clone, unbound
from driftwise.core.memory_fields import MOST_ROUNDS, broken_shape
from driftwise.core.private_numba import close
from driftwise.core.random import new_generator
from driftwise.core.types import Actions, Flags, Matrix, Vector
from driftwise.core.validation import as_losses, check_memory, count
from driftwise.forecasting import combination_kernels as of_combinations
from driftwise.forecasting.combinations import Combinations
from driftwise.forecasting.labelled_values import LARGEST, as_truth, first_too_large
from driftwise.forecasting.losses import Array, ForecastLoss, Kernel
from driftwise.forecasting.mixture_kernels import (
    CUT,
    KEPT_ERRORS,
    LARGEST_FLOAT,
    LIMIT,
    MOST_CUTS,
    N_COUNTS,
    ROUNDS,
    Own,
    Settings,
    Workspace,
    mixture_kernels,
)
from driftwise.forecasting.options import MixtureOptions
from driftwise.learners.base import ExpertLearner
from driftwise.learners.base.kernel_diagnosis import CompilerError, raise_kernel_error, returns_something
from driftwise.learners.base.loops import Bindings, Crossing, Kernels, as_it_is, first_that_compiles
from driftwise.learners.shared.meta_learner import row, row_kernel

# mypy: allow-untyped-calls

Memories = Any  # of a learner, stacked: a NamedTuple of its arrays with one more axis in front
Space = Workspace | of_combinations.Work
Mixtures = tuple[Memories, Own, object, Settings, Space]  # the third are the rates of the learner
KIND: Kernel = unbound
OWN: Kernel = unbound
ROW: Kernel = unbound
OWN_ROW: Kernel = unbound
REBUILD: Kernel = unbound
COMBINE: Kernel = unbound
OBSERVE: Kernel = unbound
OBSERVE_LATE: Kernel = unbound


class Combined(NamedTuple):
    """The combined forecasts of some rounds, the weights of the experts in them, and all experts' forecasts."""

    combined: Vector
    weights: Matrix
    inputs: Matrix  # what was given, and the forecasts of the added experts


class Issued(NamedTuple):
    """Rounds that were combined, and what is remembered of each until its truth is known."""

    combined: Vector
    weights: Matrix
    inputs: Matrix
    kept: Matrix


class Open(NamedTuple):
    """For each series, what is open between the events of two blocks."""

    waiting: Actions  # how many rounds wait for their truth
    newest: Actions  # the round that was combined last, -1 if a truth came since


class MixtureLoops(NamedTuple):
    """The loops over rows and over events, and what single rounds are compiled from."""

    run: Kernel
    play: Kernel
    live: Callable[..., LiveMixture]  # from the arrays of a stack, its rates, settings and work


class LiveMixture(NamedTuple):
    """The entry points of single rounds, and the packed arrays that they get."""

    packed: object
    parts: tuple[object, ...]  # what is packed: it may be addresses only, and the arrays must live as long
    combine: Kernel
    observe: Kernel
    observe_late: Kernel  # after another round was combined


def mixture_loops(learner: ExpertLearner | Combinations, loss: ForecastLoss) -> MixtureLoops:
    """Return the loops of mixtures with a learner and a loss."""
    if isinstance(learner, Combinations):
        return _combination_loops(loss.name, *loss.kernels)
    kind: Memories = learner.memory_type
    return _learner_loops(learner.loops.kernels, kind, loss.name, *loss.kernels)


@functools.cache
def _learner_loops(kernels: Kernels, memory_type: Memories, loss: str, value: Kernel, slope: Kernel) -> MixtureLoops:
    name = f"{kernels.name}-{loss}"
    parts = mixture_kernels(name, kernels, value, slope)
    return _loops(name, memory_type, (*kernels.kinds, memory_type, Own, Settings, Workspace, Combined), *parts)


@functools.cache
def _combination_loops(loss: str, value: Kernel, slope: Kernel) -> MixtureLoops:
    name = f"{Combinations.name}-{loss}"
    combine, observe = of_combinations.combination_kernels(name, value, slope)
    kinds = (of_combinations.Memory, of_combinations.Rates, Own, Settings, of_combinations.Work, Combined)
    return _loops(name, of_combinations.Memory, kinds, combine, observe, observe)


def _loops(
    name: str, memory_type: Memories, kinds: tuple[type, ...], combine: Kernel, observe: Kernel, observe_late: Kernel
) -> MixtureLoops:
    rows: Bindings = {"KIND": memory_type, "ROW": row_kernel(len(memory_type._fields))}
    rows |= {"OWN": Own, "OWN_ROW": row_kernel(len(Own._fields))}
    run = clone(_run, name, kinds, COMBINE=combine, OBSERVE=observe, **rows)
    on_time: Bindings = {"COMBINE": combine, "OBSERVE": observe, "OBSERVE_LATE": observe_late}
    play = clone(_play, name, (*kinds, Issued, Open), **on_time, **rows)
    entries: list[tuple[Kernel, str, Bindings]] = [
        (_combine_one, name, {**rows, "COMBINE": combine}),
        (_observe_one, name, {**rows, "OBSERVE": observe}),
    ]
    if observe_late is not observe:
        entries.append((_observe_one, f"{name}-late", {**rows, "OBSERVE": observe_late}))

    def live(*parts: object) -> LiveMixture:
        if numba.config.DISABLE_JIT:  # type: ignore[attr-defined]
            loops = [clone(template, n, kinds, REBUILD=as_it_is, **p) for template, n, p in entries]
            return LiveMixture(parts, parts, loops[0], loops[1], loops[-1])
        crossing, loops = compiled(*map(numba.typeof, parts))
        return LiveMixture(crossing.pack(*parts), parts, loops[0], loops[1], loops[-1])

    @functools.cache
    def compiled(*types_of_parts: object) -> tuple[Crossing, list[Kernel]]:
        def compile_all(crossing: Crossing) -> list[Kernel]:
            rebuild, packed = crossing.rebuild(*types_of_parts), crossing.kind(*types_of_parts)
            made = [clone(template, n, kinds, REBUILD=rebuild, **p) for template, n, p in entries]
            close(made[0], packed, types.int64, types.float64[::1], types.int64)
            for entry in made[1:]:
                close(entry, packed, types.int64, types.float64, types.float64)
            return made

        return first_that_compiles(compile_all)

    return MixtureLoops(run, play, live)


def _run(
    mixtures: Mixtures, series: Actions, forecasts: Matrix, truths: Vector, played: Combined, part: int, n_parts: int
) -> bool:
    """Play the rows of the series whose number leaves the remainder `part` when divided by `n_parts`."""
    stack, owns, rates, settings, work = mixtures
    combined, weights, inputs = played
    for t in range(series.size):
        i = series[t]
        if i % n_parts == part:
            memory, own = KIND(*ROW(stack, i)), OWN(*OWN_ROW(owns, i))
            forecast = COMBINE(memory, rates, own, settings, work, forecasts[t], 0)
            combined[t] = forecast
            for k in range(work.shares.size):
                weights[t, k] = work.shares[k]
            for k in range(inputs.shape[1] if inputs.shape[0] > 0 else 0):  # empty where no expert is added
                inputs[t, k] = work.inputs[k]
            if not OBSERVE(memory, rates, own, settings, work, forecast, truths[t]):
                return False
    return True


def _play(
    mixtures: Mixtures,
    series: Actions,
    events: Actions,
    forecasts: Matrix,
    truths: Vector,
    issued: Issued,
    still: Open,
    part: int,
    n_parts: int,
) -> bool:
    """Play the events of some series: r is the forecast of row r, which is combined, and ~r is its truth."""
    stack, owns, rates, settings, work = mixtures
    for event in events:
        t = event if event >= 0 else ~event
        i = series[t]
        if i % n_parts != part:
            continue
        memory, own = KIND(*ROW(stack, i)), OWN(*OWN_ROW(owns, i))
        if event >= 0:
            issued.combined[t] = COMBINE(memory, rates, own, settings, work, forecasts[t], still.waiting[i])
            for k in range(work.shares.size):
                issued.weights[t, k], issued.inputs[t, k] = work.shares[k], work.inputs[k]
            for k in range(work.kept.size):
                issued.kept[t, k] = work.kept[k]
            still.waiting[i] += 1
            still.newest[i] = t
        else:
            for k in range(work.shares.size):
                work.shares[k], work.inputs[k] = issued.weights[t, k], issued.inputs[t, k]
            for k in range(work.kept.size):
                work.kept[k] = issued.kept[t, k]
            is_newest = still.newest[i] == t
            still.waiting[i] -= 1
            still.newest[i] = -1
            if is_newest:
                fine = OBSERVE(memory, rates, own, settings, work, issued.combined[t], truths[t])
            else:
                fine = OBSERVE_LATE(memory, rates, own, settings, work, issued.combined[t], truths[t])
            if not fine:
                return False
    return True


def _combine_one(packed: object, series: int, forecasts: Vector, waiting: int) -> float:
    stack, owns, rates, settings, work = REBUILD(packed)
    memory, own = KIND(*ROW(stack, series)), OWN(*OWN_ROW(owns, series))
    forecast: float = COMBINE(memory, rates, own, settings, work, forecasts, waiting)
    return forecast


def _observe_one(packed: object, series: int, forecast: float, truth: float) -> bool:
    stack, owns, rates, settings, work = REBUILD(packed)
    memory, own = KIND(*ROW(stack, series)), OWN(*OWN_ROW(owns, series))
    fine: bool = OBSERVE(memory, rates, own, settings, work, forecast, truth)
    return fine


_LEARNER, _OWN = "learner_", "mixture_"  # in front of the names of the arrays
_ROUNDING = 1e-6  # of a sum of weights
Arrays = Mapping[str, Array]


class Round(NamedTuple):
    """A round whose truth is still to come."""

    forecast: float
    inputs: Vector
    shares: Vector
    kept: Vector  # the hint of a learner, or what `Combinations` remember


class MixtureStack:
    """Mixtures of the forecasts of the same experts for one or many series, each with its own weights.

    Threads may share a stack: its methods lock it.

    Parameters
    ----------
    options : MixtureOptions
        Loss, learner and the other options, the same for all series.
    n_experts : int
        Number of experts that are given, >= 1.
    n_series : int, default 1
        Number of series.

    Examples
    --------
    >>> stack = MixtureStack(MixtureOptions(), n_experts=2)
    >>> stack.run([[1.0, 3.0], [1.0, 3.0]], [1.0, 1.0]).combined
    array([2.        , 1.35...])
    """

    def __init__(self, options: MixtureOptions, n_experts: int, n_series: int = 1) -> None:
        if not isinstance(options, MixtureOptions):
            raise rejection("MixtureStack", "options", "MixtureOptions", options)
        self.options = options
        self._lock = fork_lock()  # compiled rounds release the interpreter's lock
        self.n_experts = count("MixtureStack", "n_experts", n_experts)
        self.n_actions = self.n_experts + options.n_extras
        self.learner, self.loss = options.full_learner, options.forecast_loss
        self.loss.compile()
        self._rates, self._settings = self._make_rates(), options.settings
        self._loops = mixture_loops(self.learner, self.loss)
        self._stack, self._owns = self._first(count("MixtureStack", "n_series", n_series, at_least=0), 0)
        self._space = self._work()
        self._live: LiveMixture | None = None

    @property
    def n_series(self) -> int:
        """The number of series."""
        return len(self._owns.scale)

    def _first(self, n_series: int, n_before: int) -> tuple[Memories, Own]:
        """Return the memories of some mixtures before their first round; there are `n_before` others."""
        self._check_growing(n_before + n_series)
        check_memory("MixtureStack", "n_experts", self.n_experts, self.n_actions * np.dtype(np.float64).itemsize)
        first = self.learner.first_memory(self.n_actions, new_generator(0))
        if self.learner.grows:
            first = self.learner.make_room(first, 1)
        n_bytes = sum(array.nbytes for array in first)
        check_memory("MixtureStack", "n_series", n_before + n_series, (n_before + n_series) * n_bytes)
        memory = type(first)(*(np.repeat(array[None], n_series, axis=0) for array in first))
        own = _empty_owns(n_series, self.n_actions)
        own.scale[:, 0], own.truth[:] = self._settings.scale, np.nan
        own.plain[:] = 1.0 / self.n_actions if isinstance(self.learner, Combinations) else first.weights
        return memory, own

    def _check_growing(self, n_series: int) -> None:
        if (learner := self.learner).grows and n_series > 1:
            raise InvalidInput(f"MixtureStack: the memory of {learner.name} grows, so it serves one series only.")

    def add_series(self, n_series: int) -> None:
        """Add series at the end."""
        with self._lock:
            first = self._first(count("MixtureStack", "n_series", n_series, at_least=0), self.n_series)
            self._stack, self._owns = map(_joined, (self._stack, self._owns), first)
            self._live = None

    def _work(self) -> Space:
        if isinstance(self.learner, Combinations):
            return self.learner.work(self.n_actions)
        inputs, shares, losses, kept, awake, none = np.zeros((6, self.n_actions))
        return Workspace(inputs, shares, losses, kept, awake, none, np.zeros(self.n_actions, np.int64))

    def _make_rates(self) -> Any:
        if isinstance(self.learner, Combinations):
            return self.learner.rates(self.loss)
        return self.learner.rates(self.n_actions)

    @property
    def n_kept(self) -> int:
        """The number of values that a round keeps beside forecast, inputs and shares."""
        return of_combinations.N_KEPT if isinstance(self.learner, Combinations) else self.n_actions

    @property
    def keeps_hints(self) -> bool:
        """Whether a round keeps the hint of a learner, one value for each expert."""
        return not isinstance(self.learner, Combinations)

    def run(self, forecasts: Any, truths: Any, series: Any = None, n_threads: int = 1) -> Combined:
        """Play rounds, one per row of `forecasts`; NaN is a missing forecast or truth.

        `series` has the number of the series of each row; None: all rows belong to series 0. Weights of experts
        that are missing are 0. The forecast is NaN only where all are missing and the series has no truth yet.
        """
        with self._lock:
            block = self._array(forecasts, (None, self.n_experts), "forecasts", self.loss.forecast_fault)
            answers = self._array(truths, (len(block),), "truths", self.loss.truth_fault)
            places, n_threads = self._places(series, len(block)), count("MixtureStack", "n_threads", n_threads)
            inputs = np.empty((len(block) if self.options.extras else 0, self.n_actions))
            played = Combined(np.empty(len(block)), np.empty((len(block), self.n_actions)), inputs)
            if self.learner.grows:
                self._make_room(len(block) + 1)
            self._play(places, block, answers, played, n_threads)
        return played if self.options.extras else played._replace(inputs=block)

    def play(
        self,
        events: Any,
        forecasts: Any,
        truths: Any,
        series: Any = None,
        n_threads: int = 1,
        before: tuple[Issued, Open] | None = None,
    ) -> tuple[Issued, Open]:
        """Play rounds whose truths are known later: the order of the events says when.

        The event r is the forecast of row r, which is combined with what the series knows then; ~r is its truth, from
        which it learns. A row without the second event still waits at the end. `before` is what an earlier call
        returned, cut to the rows that still wait: they are the first rows here, and have their truths only.
        """
        with self._lock:
            block = self._array(forecasts, (None, self.n_experts), "forecasts", self.loss.forecast_fault)
            answers = self._array(truths, (len(block),), "truths", self.loss.truth_fault)
            places, n_threads = self._places(series, len(block)), count("MixtureStack", "n_threads", n_threads)
            shapes = ((), (self.n_actions,), (self.n_actions,), (self.n_kept,))
            issued = Issued(*(np.zeros((len(block), *shape)) for shape in shapes))
            still = Open(np.zeros(self.n_series, np.int64), np.full(self.n_series, -1))
            n_before = self._continue(issued, still, places, *before) if before else 0
            order = _checked_events(events, len(block), n_before)
            if self.learner.grows:
                self._make_room(len(block) + 1)

            def play(mixtures: Mixtures, part: int, n_parts: int) -> bool:
                return bool(self._loops.play(mixtures, places, order, block, answers, issued, still, part, n_parts))

            self._play_parts(play, n_threads)
        return issued, still

    def _continue(self, issued: Issued, still: Open, places: Actions, before: Issued, opened: Open) -> int:
        """Write the rows that wait from an earlier call in front; return how many there are."""
        n_before = len(before.combined)
        for now, earlier in zip((*issued, *still), (*before, *opened), strict=True):
            room = now[:n_before] if now.dtype == np.float64 else now[: len(earlier)]
            if earlier.dtype != now.dtype or earlier.shape != room.shape:
                raise InvalidInput("MixtureStack: `before` must have what `play` returned for rows that still wait.")
            room[:] = earlier
        if not self._are_rounds(before):
            raise InvalidInput("MixtureStack: `before` has rows that no call of `play` returned.")
        newest = [(i, r) for i, r in enumerate(still.newest.tolist()) if r != -1]
        if not all(0 <= r < n_before and places[r] == i for i, r in newest) or (still.waiting < 0).any():
            raise InvalidInput("MixtureStack: `before` has a newest row that does not wait.")
        return n_before

    def _play(self, places: Actions, block: Matrix, answers: Vector, played: Combined, n_threads: int) -> None:
        def play(mixtures: Mixtures, part: int, n_parts: int) -> bool:
            return bool(self._loops.run(mixtures, places, block, answers, played, part, n_parts))

        self._play_parts(play, n_threads)

    def _play_parts(self, loop: Callable[[Mixtures, int, int], bool], n_threads: int) -> None:
        """Run a loop in threads that share the series."""
        n_parts = max(1, min(n_threads, self.n_series, os.cpu_count() or 1))  # each part reads all rows

        def play(part: int) -> bool:
            mixtures = (self._stack, self._owns, self._rates, self._settings, self._work())
            return loop(mixtures, part, n_parts)

        try:
            if n_parts == 1:
                fine = play(0)
            else:
                with ThreadPoolExecutor(n_parts) as pool:
                    fine = all([*pool.map(play, range(n_parts))])
        except CompilerError as error:
            self._raise_kernel_error(error)
        self._check_returned(fine)

    def _raise_kernel_error(self, error: Exception) -> NoReturn:
        if isinstance(self.learner, Combinations):
            raise error
        raise_kernel_error(self.learner, self.learner.loops.kernels, row(self._stack, 0), self._rates, error)

    def _check_returned(self, fine: bool) -> None:
        """Reject a learner of the user whose kernel returned something."""
        if not fine and not isinstance(self.learner, Combinations):
            raise returns_something(self.learner, self.learner.loops.kernels.update)

    def combine_one(self, forecasts: Any, series: int = 0, waiting: int = 0) -> Round:
        """Return a round of a series beside `waiting` others whose truth is still to come; NaN: a missing forecast."""
        with self._lock:
            values = self._array(forecasts, (self.n_experts,), "forecasts", self.loss.forecast_fault)
            others = count("MixtureStack", "waiting", waiting, at_least=0)
            return self._combine(values, self._place(series), others)

    def observe_one(self, one: Round, truth: Any, late: bool = False, series: int = 0) -> None:
        """Finish a round of a series with its truth, NaN or None if it is missing.

        It is `late` if another round of the series was combined or finished since.
        """
        with self._lock:
            if not self._is_round(one):
                raise rejection("MixtureStack", "one", f"a round of {self.n_actions} experts from `combine_one`", one)
            value = as_truth("MixtureStack", truth)
            if rule := self.loss.truth_fault(value):
                raise rejection("MixtureStack", "truth", rule, truth)
            if not isinstance(late, (bool, np.bool_)):
                raise rejection("MixtureStack", "late", "True or False", late)
            self._observe(one, value, bool(late), self._place(series))

    def _place(self, series: object) -> int:
        """Return the number of a series, checked."""
        if (place := count("MixtureStack", "series", series, at_least=0)) < self.n_series:
            return place
        raise rejection("MixtureStack", "series", f"in [0, {self.n_series - 1}]", series)

    def _is_round(self, waits: object) -> bool:
        """Return whether a round has the sizes and the numbers that the kernels rely on."""
        if not isinstance(waits, Round) or not isinstance(waits.forecast, float):
            return False
        for array, size in zip(waits[1:], (self.n_actions, self.n_actions, self.n_kept), strict=True):
            if type(array) is not np.ndarray or array.dtype != np.float64 or array.shape != (size,):
                return False
        return self._are_rounds(Issued(*(np.array(waits[k])[None] for k in (0, 2, 1, 3))))

    def _are_rounds(self, waiting: Issued) -> bool:
        """Return whether rounds with the right sizes have numbers that the kernels rely on."""
        shares = np.hstack([waiting.weights, waiting.kept]) if self.keeps_hints else waiting.weights
        numbers = np.column_stack([waiting.combined, waiting.inputs])
        small = bool(((shares >= 0) & (shares <= 1 + _ROUNDING)).all()) and not (np.abs(numbers) > LARGEST).any()
        learner = self.learner
        return small and not (isinstance(learner, Combinations) and learner.kept_fault(waiting.inputs, waiting.kept))

    def _combine(self, forecasts: Vector, series: int = 0, waiting: int = 0) -> Round:
        """Combine checked forecasts; the caller holds a lock."""
        live, space = self._live or self._make_live(), self._space
        forecast = live.combine(live.packed, series, forecasts, waiting)
        return Round(forecast, space.inputs.copy(), space.shares.copy(), space.kept.copy())

    def _observe(self, waits: Round, truth: float, late: bool, series: int = 0) -> None:
        """Finish a checked round; the caller holds a lock."""
        if self.learner.grows:
            self._make_room(2)
        live, space = self._live or self._make_live(), self._space
        space.inputs[:], space.shares[:], space.kept[:] = waits.inputs, waits.shares, waits.kept
        observe = live.observe_late if late else live.observe
        self._check_returned(observe(live.packed, series, waits.forecast, truth))

    def follow_newest(self, other: MixtureStack, newest: int) -> int:
        """Set the number of the newest round, at least that of those played; return how much less it is than before."""
        self._stack.numbers[0, 1] = max(newest, self._stack.numbers[0, 1])
        return int(other._stack.numbers[0, 1]) - newest

    def _make_live(self) -> LiveMixture:
        """Compile the entry points of single rounds, and pack the arrays for them."""
        try:
            self._live = self._loops.live(self._stack, self._owns, self._rates, self._settings, self._space)
        except CompilerError as error:
            self._raise_kernel_error(error)
        return self._live

    def __getstate__(self) -> dict[str, object]:
        # Addresses are of this process only, and compiled loops are found again by learner and loss.
        with self._lock:
            made = ("_lock", "_live", "_loops", "_space", "_rates")  # made again
            values = {name: value for name, value in self.__dict__.items() if name not in made}
            return {**values, "_stack": _copied(self._stack), "_owns": _copied(self._owns)}

    def __setstate__(self, values: dict[str, Any]) -> None:
        self.__dict__.update(values, _live=None, _loops=mixture_loops(values["learner"], values["loss"]))
        self._lock, self._space, self._rates = fork_lock(), self._work(), self._make_rates()

    def _make_room(self, n_rounds: int) -> None:
        """Make room in the memory of a learner that grows, of which there is one."""
        memory = self.learner.make_room(before := row(self._stack, 0), n_rounds)
        if memory is not before:
            self._stack = type(memory)(*(np.ascontiguousarray(array)[None] for array in memory))
            self._live = None

    def _array(
        self, values: object, shape: tuple[int | None, ...], name: str, fault: Callable[[Matrix], str]
    ) -> Matrix:
        array = as_losses("Mixture", values, shape, name)
        if rule := fault(array):
            raise InvalidInput(f"Mixture: `{name}` must be {rule}.")
        if (k := first_too_large(array.reshape(-1))) >= 0:
            place = np.unravel_index(k, array.shape)
            axes = ("round {} of the block",) if name == "truths" else ("round {} of the block", "expert {}")
            where = "at " + ", ".join(map(str.format, axes[-len(place) :], place))
            got = float(array[place])
            raise InvalidInput(f"Mixture: `{name}` must be at most {LARGEST:g} in size, got {got} {where}.")
        return array

    def _places(self, series: object, n_rounds: int) -> Actions:
        try:
            places = np.zeros(n_rounds, np.int64) if series is None else np.asarray(series)
        except ValueError:  # rows of different lengths
            places = np.zeros(())
        if (
            places.shape != (n_rounds,)
            or (places.size and places.dtype.kind not in "iu")
            or not ((places >= 0) & (places < self.n_series)).all()
        ):
            raise InvalidInput(f"Mixture: `series` must have one number in [0, {self.n_series - 1}] per round.")
        return np.ascontiguousarray(places, np.int64)

    @property
    def counts(self) -> Actions:
        """The counters of each series: rounds of the learner, cut rounds, rounds skipped by their reason."""
        with self._lock:
            return self._owns.counts.copy()

    @property
    def last_truths(self) -> Vector:
        """The last truth of each series, without those cut; NaN before the first."""
        with self._lock:
            return self._owns.truth[:, 0].copy()

    @property
    def cuts(self) -> tuple[Actions, Vector]:
        """For each series, the number of rounds whose losses were cut, and the sum of what was cut."""
        with self._lock:
            return self._owns.counts[:, CUT].copy(), self._owns.cut[:, 0].copy()

    @property
    def n_bytes(self) -> int:
        """The bytes of its arrays."""
        return sum(array.nbytes for array in (*self._stack, *self._owns))

    def arrays(self) -> dict[str, np.ndarray[Any, Any]]:
        """Return copies of all arrays by name."""
        with self._lock:
            learner = {_LEARNER + name: array.copy() for name, array in self._stack._asdict().items()}
            return {**learner, **{_OWN + name: array.copy() for name, array in self._owns._asdict().items()}}

    def set_arrays(self, arrays: Mapping[str, np.ndarray[Any, Any]]) -> None:
        """Continue from what `arrays` returned; anything else is rejected, and nothing changes."""
        if not isinstance(arrays, Mapping) or not all(isinstance(array, np.ndarray) for array in arrays.values()):
            raise rejection("MixtureStack", "arrays", "a dict of arrays", arrays)
        own = _checked_owns(arrays, self.n_actions, self.options.scale is not None)
        self._check_growing(len(own.scale))
        stack = _checked_memories(self.learner, arrays, self.n_actions, own.counts[:, ROUNDS])
        with self._lock:
            self._stack, self._owns, self._live = stack, own, None


def _checked_events(events: object, n_rows: int, n_before: int) -> Actions:
    """Return events as an array: every row is combined once, unless it was before, and has at most one truth, later."""
    order = np.asarray(events)
    if order.ndim != 1 or (order.size and order.dtype.kind not in "iu"):
        raise rejection("MixtureStack", "events", "a sequence of whole numbers", events)
    order = np.ascontiguousarray(order, np.int64)
    rows = np.where(order >= 0, order, ~order)
    is_combined = order >= 0
    if ((rows >= n_rows) | (is_combined & (rows < n_before))).any():
        raise InvalidInput(f"MixtureStack: `events` must be forecasts and truths of {n_rows} rows.")
    combined_at, known_at = np.full(n_rows, -1), np.full(n_rows, order.size)
    places = np.arange(order.size)
    combined_at[rows[is_combined]], known_at[rows[~is_combined]] = places[is_combined], places[~is_combined]
    n_different = (combined_at >= 0).sum() + (known_at < order.size).sum()
    if n_different < order.size or is_combined.sum() != n_rows - n_before or (combined_at >= known_at).any():
        raise InvalidInput("MixtureStack: `events` must have every forecast once, and every truth after its forecast.")
    return order


def _empty_owns(n_series: int, n_actions: int) -> Own:
    widths = {"plain": n_actions, "cut": 1, "truth": 1, "top": KEPT_ERRORS + 1}  # 3 of the others
    arrays: dict[str, Array] = {name: np.zeros((n_series, widths.get(name, 3))) for name in Own._fields}
    return Own(**{**arrays, "counts": np.zeros((n_series, N_COUNTS), np.int64)})


def _copied(stack: Memories) -> Memories:
    return type(stack)(*(array.copy() for array in stack))


def _joined(first: Memories, second: Memories) -> Memories:
    return type(first)(*map(np.concatenate, zip(first, second, strict=True)))


def stored_array(arrays: Arrays, name: str, kind: DTypeLike, shape: tuple[int | None, ...]) -> Array:
    """Return a copy of an array of a file, or reject it; a length of None stands for any."""
    array = arrays.get(name)
    fits = array is not None and array.dtype == kind and array.ndim == len(shape)
    if array is None or not fits or any(want not in (None, n) for n, want in zip(array.shape, shape, strict=True)):
        raise InvalidInput(f"Mixture: the array `{name}` is missing or has another shape or type.")
    return np.array(array, order="C")


def check_range(name: str, fine: Flags) -> None:
    """Reject an array of a file unless all its numbers are fine."""
    if not fine.all():
        raise InvalidInput(f"Mixture: the array `{name}` has numbers outside their range.")


def _checked_owns(arrays: Arrays, n_actions: int, has_scale: bool) -> Own:
    """Return copies of the arrays of the mixtures beside the memories of the learner."""
    scale = arrays.get(f"{_OWN}scale")
    n_series = 0 if scale is None or scale.ndim == 0 else len(scale)
    copies = []
    for name, pattern in _empty_owns(0, n_actions)._asdict().items():
        array = stored_array(arrays, _OWN + name, pattern.dtype, (n_series, pattern.shape[1]))
        check_range(_OWN + name, np.isfinite(array) & (array >= 0) if name != "truth" else ~(np.abs(array) > LARGEST))
        copies.append(array)
    own = Own(*copies)
    for name in ("step", "error") if has_scale else ("scale", "step", "error"):  # a given scale has no limit
        largest, limit, n_cut = getattr(own, name).T
        check_range(_OWN + name, n_cut <= MOST_CUTS)
        if ((largest > limit / LIMIT * (1 + _ROUNDING)) & (limit < LARGEST_FLOAT)).any():
            limited = f"a limit below {LIMIT:g} times the largest value"
            raise InvalidInput(f"Mixture: the array `{_OWN}{name}` has {limited}.")
    if (np.abs(own.plain.sum(axis=1) - 1) > _ROUNDING).any():
        raise InvalidInput(f"Mixture: the array `{_OWN}plain` must have rows with sum 1.")
    check_range(f"{_OWN}counts", (own.counts.T <= MOST_ROUNDS) & (own.errors[:, 1] <= own.counts[:, ROUNDS]))
    check_range(f"{_OWN}top", own.top[:, KEPT_ERRORS] <= MOST_ROUNDS)
    return own


def _checked_memories(
    learner: ExpertLearner | Combinations, arrays: Arrays, n_actions: int, rounds: Actions
) -> Memories:
    """Return copies of the stacked memories of a learner after so many rounds of each series."""
    kind, first = learner.memory_type, learner.first_memory(n_actions, new_generator(0))
    copies = {
        name: stored_array(arrays, _LEARNER + name, pattern.dtype, (len(rounds), *[None] * pattern.ndim))
        for name, pattern in first._asdict().items()
    }
    stack = kind(**copies)
    if isinstance(learner, Combinations) and learner.stack_fault(stack, n_actions, rounds) == "":
        return stack  # else the loop says which series it is
    for i, played in enumerate(rounds.tolist()):
        memory = row(stack, i)
        lengths = {name: array.shape for name, array in memory._asdict().items()}
        fault = broken_shape(kind, lengths, learner.all_limits(n_actions, played))
        if fault := fault or learner.memory_fault(memory, n_actions, played):
            raise InvalidInput(f"Mixture: {learner.name} of series {i} after {played} rounds: {fault}.")
    return stack
