"""The base class of all learners, their state, and the checks of a memory that was read from a file.

A learner is a frozen dataclass of parameters. `start` returns a `State`; `run` plays a block of rounds from a state on;
`predict` or `choose`, then `update`, play single rounds with the same kernels, so the results are bit-identical.
"""

from __future__ import annotations

import dataclasses
import functools
import math
from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any, ClassVar, Generic, NamedTuple, Self, cast, get_args, get_origin, get_type_hints

import numpy as np
import numpy.typing as npt

from driftwise.core.corners import Corners
from driftwise.core.errors import InvalidInput, outside, rejection
from driftwise.core.measures import Measures, collected, report
from driftwise.core.memory_fields import Array, broken_rule, broken_shape, fields_of
from driftwise.core.random import new_generator
from driftwise.core.types import Actions, Matrix
from driftwise.core.validation import as_losses, check_memory, check_seed, count, first_bad_loss
from driftwise.learners.base.beliefs import Beliefs
from driftwise.registry import Registered, Registry

if TYPE_CHECKING:
    from typing_extensions import TypeVar  # with defaults: a bare `Learner` has any memory and any rates

    M = TypeVar("M", bound=NamedTuple, default=Any)  # the NamedTuple of a learner's memory
    R = TypeVar("R", bound=NamedTuple, default=Any)  # the NamedTuple of its rates
else:
    from typing import TypeVar

    M = TypeVar("M")
    R = TypeVar("R")

_MANY_ACTIONS = 2**16  # with fewer, the first memory of every learner is small


class NoRates(NamedTuple):
    """The rates of a learner without parameters; a kernel needs at least one number."""

    none: float = 0.0


class State(Generic[M, R]):
    """The state of a learner between rounds; `memory` is a NamedTuple of arrays.

    Not safe to share between threads: compiled rounds write into the arrays without a lock. `Session` has one. A memory
    that is assigned must have arrays of the same shapes and types. An array cannot be resized: compiled rounds have its
    address.
    """

    def __init__(self, learner: Learner[M, R], n_actions: int, rates: R, memory: M, rounds: int = 0) -> None:
        self.learner = learner
        self.n_actions = n_actions
        self.rates = rates
        self.rounds = rounds
        self.renew(memory)

    def __repr__(self) -> str:
        return f"State({self.learner}, n_actions={self.n_actions}, rounds={self.rounds})"

    @property
    def memory(self) -> M:
        """The arrays, by name."""
        return self._memory

    @memory.setter
    def memory(self, memory: M) -> None:
        if memory is not self._memory:  # same object: the addresses still hold
            self._check(memory)
            self.renew(type(memory)(*(array.copy() for array in memory)))  # nobody else refers to a copy

    def renew(self, memory: M) -> None:
        """Take another memory, whose arrays fit; compiled rounds do not check indices."""
        # NumPy resizes no array that does not own its numbers.
        arrays = [array.view() if array.flags.owndata else array for array in memory]
        self._memory = type(memory)(*arrays)
        self.live: Any = None  # the entry points of live rounds, made with the first one

    def _check(self, memory: M) -> None:
        """Raise `InvalidInput` if the arrays of a memory are not like those of this state."""
        rule = f"a {type(self._memory).__name__.rpartition('.')[2]} of arrays, as that of the state"
        if type(memory) is not type(self._memory) or not all(isinstance(array, np.ndarray) for array in memory):
            raise rejection(self, "memory", rule, memory)
        for name, array, before in zip(memory._fields, memory, self._memory, strict=True):
            if array.dtype != before.dtype or not array.flags.carray:
                rule = f"{before.dtype}, writable and in the order of C"
                raise rejection(self, f"memory.{name}", rule, array)
        if any(array.shape != before.shape for array, before in zip(memory, self._memory, strict=True)):
            shapes = {name: array.shape for name, array in memory._asdict().items()}
            fault = self.learner.shape_fault(shapes, self.n_actions, self.rounds)  # none of a memory that has grown
            if fault:
                raise InvalidInput(f"{self.learner.name} with {self.n_actions} actions: {fault}.")

    def __getstate__(self) -> dict[str, object]:
        return {**self.__dict__, "live": None}  # addresses are of this process only

    def __setstate__(self, values: dict[str, Any]) -> None:
        self.__dict__.update(values)
        self.renew(self._memory)

    def copy(self) -> Self:
        """Return a copy that shares no arrays with this state."""
        memory = type(self.memory)(*(array.copy() for array in self.memory))
        return type(self)(self.learner, self.n_actions, self.rates, memory, self.rounds)

    def arrays(self) -> dict[str, Array]:
        """Return the arrays of the memory by name, without copying them."""
        return dict(self.memory._asdict())


@functools.cache
def returned_type(owner: type, method: str) -> type[NamedTuple]:
    """Return the NamedTuple that a method of a class returns, by its annotation or the arguments of the base class."""
    for kind in owner.__mro__:
        hint = get_type_hints(vars(kind)[method]).get("return") if method in vars(kind) else None
        if isinstance(hint, type) and hasattr(hint, "_fields"):
            return hint
    example, variable = ("Memory", M) if method == "first_memory" else ("Rates", R)
    for base in (base for kind in owner.__mro__ for base in vars(kind).get("__orig_bases__", ())):
        arguments = dict(zip(getattr(get_origin(base), "__parameters__", ()), get_args(base), strict=False))
        if isinstance(hint := arguments.get(variable), type) and hasattr(hint, "_fields"):
            return hint
    raise InvalidInput(f"{owner.__name__}: `{method}` must name the NamedTuple that it returns, `-> {example}`.")


@functools.cache
def _number_types(kind: type[M]) -> dict[str, type[np.generic]]:
    """Return the type of the numbers of each array of a memory, by its annotation."""
    return {name: get_args(get_args(hint)[1])[0] for name, hint in get_type_hints(kind).items()}


def initial_memory(kind: type[M], sizes: Mapping[str, float], **arrays: Array) -> M:
    """Return a memory as its fields declare it, uniform or 0; `arrays` are those that begin otherwise."""
    for name, field in fields_of(kind).items():
        if field and name not in arrays:
            shape = [int(sizes[size]) if isinstance(size, str) else size for size in field.shape]
            arrays[name] = np.full(shape, 1.0 / shape[-1] if field.uniform else 0, _number_types(kind)[name])
    return kind._make(arrays[name] for name in kind._fields)


def with_more_rows(memory: M, n_rows: int) -> M:
    """Return a memory with zeros in the new rows: `rows`, the first axis of some arrays, is doubled up to `n_rows`."""
    longer = {}
    for name, field in fields_of(type(memory)).items():
        if field and "rows" in field.shape:
            array = getattr(memory, name)
            factor = 1 << max(0, math.ceil(math.log2(n_rows / len(array))))
            longer[name] = np.concatenate([array, *[np.zeros_like(array)] * (factor - 1)])
    return memory._replace(**longer)


class MemoryChecks(Generic[M]):
    """The part of a learner that checks memories; most rules are declared by their fields (`core.memory_fields`)."""

    @property
    def memory_type(self) -> type[M]:
        """The NamedTuple that `first_memory` returns, by its annotation."""
        owner: type = type(self)
        return cast("type[M]", returned_type(owner, "first_memory"))

    def memory_type_for(self, n_actions: int) -> type[M]:
        """Return the NamedTuple of a memory with this number of actions."""
        return self.memory_type

    def memory_limits(self, n_actions: int, rounds: int) -> dict[str, float]:
        """Return the numbers that the declarations of the memory name, beside `actions` and `rounds`.

        This runs before the arrays of a file are checked, so it must not allocate anything large.
        """
        return {}

    def memory_contradiction(self, memory: M, rounds: int) -> str:
        """Return a broken rule about several fields of the memory, '' if there is none."""
        return ""

    def shape_fault(self, shapes: Mapping[str, tuple[int, ...]], n_actions: int, rounds: int) -> str:
        """Return the fault of the shapes of a memory, '' if there is none; nothing large is allocated before."""
        return broken_shape(self.memory_type, shapes, self.all_limits(n_actions, rounds))

    def memory_fault(self, memory: M, n_actions: int, rounds: int) -> str:
        """Return the fault of a memory as one of this learner after `rounds`, '' if there is none."""
        shapes = {name: array.shape for name, array in memory._asdict().items()}
        fault = self.shape_fault(shapes, n_actions, rounds) or broken_rule(memory, self.all_limits(n_actions, rounds))
        return fault or self.memory_contradiction(memory, rounds)

    def all_limits(self, n_actions: int, rounds: int) -> dict[str, float]:
        """Return every number that the declarations of the memory may name."""
        return {"actions": n_actions, "rounds": rounds, **self.memory_limits(n_actions, rounds)}


def reporting_caveats(rule: classmethod[Learner, ..., Learner]) -> classmethod[Learner, ..., Learner]:
    """Return the method `tuned` of a class such that it reports the caveat of the learner that it returns."""

    @functools.wraps(rule.__func__)
    def tuned(cls: type[Learner], measures: Measures, *args: object, **settings: object) -> Learner:
        with collected():  # it may call `tuned` of its base class, and one learner has one caveat
            learner = rule.__func__(cls, measures, *args, **settings)
        if isinstance(learner, cls) and (reason := learner.tuning_caveat(measures)):
            report(f"{cls.__name__}.tuned", reason)
        return learner

    return classmethod(tuned)


class Learner(MemoryChecks[M], Registered, ABC, Generic[M, R]):
    """An algorithm with its parameters."""

    feedback: ClassVar[str]
    corners: ClassVar[Corners] = Corners()  # of its parameters; checks run there too

    @property
    def label(self) -> str:
        """The name and the parameters that differ from the defaults."""
        values = {f.name: (getattr(self, f.name), f.default) for f in dataclasses.fields(self)}  # type: ignore[arg-type]
        changed = [f"{name}={value}" for name, (value, default) in values.items() if value != default]
        return f"{self.name}({', '.join(changed)})" if changed else self.name

    @classmethod
    def at_corners(cls) -> list[Self]:
        """Return the learner with every setting of its corners."""
        return [cls(**setting) for setting in cls.corners.settings()]

    @property
    def no_learning(self) -> str:
        """Why nothing can be learned with these parameters, '' if it can; see `corners`."""
        return self.corners.no_learning(self)

    def __init_subclass__(cls, **options: object) -> None:
        super().__init_subclass__(**options)
        if isinstance(rule := vars(cls).get("tuned"), classmethod):
            cls.tuned = reporting_caveats(rule)  # type: ignore[method-assign, assignment]

    @property
    def skipped_checks(self) -> Mapping[str, str]:
        """The names of common checks that do not apply to this learner, each with the reason."""
        return {}

    @abstractmethod
    def first_memory(self, n_actions: int, generator: Any) -> M:
        """Return the memory before round 1 (a NamedTuple of arrays); a learner that draws keeps `generator` in it.

        `generator` is an array of words for kernels, and a NumPy generator for a `PythonLearner`.
        """

    @abstractmethod
    def rates(self, n_actions: int) -> R:
        """Return the parameters as the kernels read them (a NamedTuple of scalars)."""

    @classmethod
    def tuned(cls, measures: Measures) -> Self:  # noqa: ARG003
        """Return the learner with the parameters that its theorem sets for these measures."""
        raise InvalidInput(f"{cls.__name__}: it has no rule for tuning; give its parameters.")

    def tuning_caveat(self, measures: Measures) -> str:
        """Return why the theorem behind `tuned`, which made this learner, does not apply to these measures, or ''."""
        return ""

    def bound(self, measures: Measures) -> float | None:
        """Return the bound of its theorem on the expected dynamic regret, constants explicit; None if there is none.

        By default it is `static_bound` where the means do not change: there the best fixed action is always the best.
        """
        return self.static_bound(measures) if measures.segments == 1 else None

    def static_bound(self, measures: Measures) -> float | None:
        """Return the bound of its theorem on the expected regret against any fixed action; None if there is none.

        It holds also where the means change.
        """
        return None

    def beliefs(self, state: State[M, R]) -> Beliefs:
        """Return what the learner believes after the rounds so far; the state does not change.

        By default all rounds count. A learner that forgets, mixes, estimates or restarts adds to this.
        """
        self._claim(state)
        return Beliefs(state.rounds, memory=float(state.rounds))

    @functools.cached_property
    def grows(self) -> bool:
        """Whether its memory may have to grow with the rounds."""
        return type(self).make_room is not Learner.make_room

    def make_room(self, memory: M, n_rounds: int) -> M:
        """Return a memory with room for `n_rounds` more rounds; a memory of fixed size is returned as it is.

        Between calls a state always has room for one more round, so a rejected update does not change it.
        """
        return memory

    def start(self, n_actions: int, seed: int = 0) -> State[M, R]:
        """Return the state before round 1."""
        n_actions = count(self, "n_actions", n_actions)
        seed = check_seed(self, seed)
        if n_actions > _MANY_ACTIONS:
            self._check_memory(n_actions)
        return State(self, n_actions, self.rates(n_actions), self._seeded_memory(n_actions, seed))

    def _seeded_memory(self, n_actions: int, seed: int) -> M:
        return self.first_memory(n_actions, new_generator(seed))

    @abstractmethod
    def play_block(self, state: State[M, R], losses: Matrix) -> Matrix | Actions:
        """Play a block of rounds; its losses have been checked."""

    def _check_memory(self, n_actions: int) -> None:
        """Reject more actions than fit into memory; the size of a memory is linear in the number of actions."""
        single, pair = (sum(array.nbytes for array in self._seeded_memory(n, 0)) for n in (1, 2))
        check_memory(self, "n_actions", n_actions, single + (pair - single) * (n_actions - 1))

    def _claim(self, state: State[M, R]) -> None:
        if type(state) is State and state.learner is self:
            return
        if not isinstance(state, State):
            raise rejection(self, "state", "a state that `start` returned", state)
        if state.learner is not self and state.learner != self:
            again = " of an earlier definition of its class" if str(self) == str(state.learner) else ""
            raise InvalidInput(f"{self}: the state belongs to {state.learner}{again}.")

    def _admit(self, state: State[M, R], values: npt.ArrayLike, name: str = "losses") -> Matrix:
        """Check a block of losses and return it as the kernels take it."""
        self._claim(state)
        block = as_losses(self, values, (None, state.n_actions), name)
        bad = first_bad_loss(block.reshape(-1))
        if bad >= 0:
            t, k = divmod(bad, state.n_actions)
            raise outside(self, name, block[t, k], f"at round {t} of the block, action {k}")
        return block


learners: Registry[Learner] = Registry("learner")
L = TypeVar("L", bound=type[Learner])


def registered(name: str, member: L) -> L:
    """Add a class to the registry under `name` and return it."""
    return learners.add(name, member)


def composed(name: str) -> Callable[[L], L]:
    """Register a learner made of other parts under `name`; its `loops` depend on them."""

    return lambda member: registered(name, member)
