"""Learners in plain Python: for a first try, without kernels.

A subclass is a frozen dataclass of parameters, as every learner; the base class makes it one and registers it. Its
methods `predict`, `choose` and `update` take a `State` from the engine and a `PythonMemory` from here. With a state
they play a round, with all checks; with a memory they are what the user wrote, so that a subclass can call the method
of its base class.

Rounds one by one and in blocks call the same methods of the user, so both give the same results bit for bit. What these
methods return is checked in every round. If one fails, the arrays and the generator are as before the call.

The state holds the arrays as a NamedTuple, as for every learner, so that it can be copied, compared and saved. Random
numbers come from a NumPy generator whose words are one of the arrays: it is loaded from them before a method draws, and
stored after.
"""

from __future__ import annotations

import dataclasses
import difflib
import functools
import inspect
import keyword
import operator
import re
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any, ClassVar, NamedTuple, NoReturn, Self, dataclass_transform

import numpy as np
import numpy.typing as npt
from numpy.random.bit_generator import ISeedSequence

from driftwise.core.docstrings import described
from driftwise.core.errors import InvalidInput, LearnerError, outside, rejection, shown
from driftwise.core.memory_fields import Array, memory_type, packed
from driftwise.core.types import Actions, Matrix, Vector, Words
from driftwise.core.validation import as_losses, as_real, first_bad_loss
from driftwise.learners.base.kernel_learner import checked_feedback
from driftwise.learners.base.learner import Learner, NoRates, State, learners

Method = Callable[..., Any]
GENERATOR = "generator"  # the name of the field that a learner with random draws keeps
_KINDS = "biuf"  # of NumPy's types: truth values, whole numbers, real numbers
_RULE = "a dictionary of NumPy arrays and numbers, and `generator` if it draws"


class PythonMemory:
    """What a method of a learner in plain Python gets: the arrays as attributes, `memory.plays`.

    Assigning to an attribute writes into its array, whose shape and type of numbers stay. `predict` and `choose` get
    the arrays read-only.
    """

    def __init__(self, owner: object, arrays: Mapping[str, Array], writer: str) -> None:
        attributes = vars(self)
        attributes.update(_owner=type(owner).__name__, _arrays=arrays, _writer=writer)
        attributes.update({name: array for name, array in arrays.items() if array.ndim})  # found without `__getattr__`

    def __getattr__(self, name: str) -> Any:
        array = vars(self).get("_arrays", {}).get(name)
        if array is not None:
            return array[()]  # a number
        if name.startswith("__"):
            raise AttributeError(name)
        if name == GENERATOR:
            advice = "keep it in `first_memory`: return {..., 'generator': generator}; `predict` must not draw"
            raise AttributeError(f"{self._owner}: the memory has no generator here; {advice}.")
        raise AttributeError(f"{self._owner}: {_no_such_field(name, self._arrays)}")

    def __setattr__(self, name: str, value: object) -> None:
        array = self._arrays.get(name)
        if name == GENERATOR and name in vars(self):
            raise LearnerError(f"{self._owner}: `memory.generator` must not be replaced.")
        if array is None:
            raise LearnerError(f"{self._owner}: {_no_such_field(name, self._arrays)}")
        if value is array:  # after an operation in place, `memory.plays += 1`
            return
        if self._writer != "update":
            advice = f"must not change `memory.{name}`; change it in `update`"
            raise LearnerError(f"{self._owner}: `{self._writer}` {advice}.")
        values = np.asarray(value)
        if values.shape != array.shape or not _fits(values, array.dtype):
            raise LearnerError(_keeps(self._owner, name, array.shape, array.dtype, values))
        array[...] = values

    def __getitem__(self, name: object, *_: object) -> NoReturn:
        rule = f"a field of the memory is an attribute, as in `memory.{next(iter(self._arrays), GENERATOR)}`"
        raise LearnerError(f"{self._owner}: {rule}, got `memory[{shown(name)}]`.")

    __setitem__ = __getitem__

    def __delattr__(self, name: str) -> None:
        raise LearnerError(f"{self._owner}: `memory.{name}` must not be deleted.")

    def __dir__(self) -> list[str]:
        return sorted([*self._arrays, *([GENERATOR] if GENERATOR in vars(self) else [])])

    def __repr__(self) -> str:
        return f"memory({', '.join(f'{name}={array!r}' for name, array in self._arrays.items())})"


class _NoSpawning(ISeedSequence):
    """A seed that cannot spawn others: the number of those spawned would be a state outside of the memory."""

    def generate_state(self, n_words: int, dtype: npt.DTypeLike = np.uint32) -> Array:
        return np.ones(n_words, dtype)


class LiveMemory:
    """The arrays of one state as the methods see them, and the generator."""

    def __init__(self, owner: Learner, memory: NamedTuple) -> None:
        arrays: dict[str, Array] = memory._asdict()
        self._words: Words | None = arrays.pop(GENERATOR, None)
        self._arrays = list(arrays.values())
        played = "choose" if owner.feedback == "bandit" else "predict"
        self.reading = PythonMemory(owner, {name: _read_only(array) for name, array in arrays.items()}, played)
        self.writing = PythonMemory(owner, {name: array.view() for name, array in arrays.items()}, "update")
        views = (*self.writing._arrays.items(), *self.reading._arrays.items())
        self._views = [(name, view, view.shape, view.dtype) for name, view in views]
        if self._words is not None:
            seed: Any = _NoSpawning()  # `load` sets the state
            self._bits = np.random.SFC64(seed)
            generator = np.random.Generator(self._bits)
            vars(self.writing)[GENERATOR] = generator
            if owner.feedback == "bandit":  # `predict` must not change the state, so it cannot draw
                vars(self.reading)[GENERATOR] = generator

    def load(self) -> None:
        """Set the generator to the words in the memory."""
        if self._words is not None:
            words, (has, half) = self._words[:-2], map(int, self._words[-2:])
            self._bits.state = {
                "bit_generator": "SFC64",
                "state": {"state": words},
                "has_uint32": has,
                "uinteger": half,
            }

    def store(self) -> None:
        """Write the words of the generator into the memory."""
        if self._words is not None:
            self._words[:] = _words(self._bits)

    def change(self, state: State, play: Callable[[], object]) -> None:
        """Call a function that changes the memory; if it fails, or is interrupted, the state does not change."""
        everything = [*self._arrays, *([] if self._words is None else [self._words])]
        before, rounds = [array.copy() for array in everything], state.rounds
        self.load()
        try:
            play()
            for name, view, shape, kind in self._views:
                if view.shape != shape or view.dtype is not kind:  # another copy of the state would not have it
                    raise LearnerError(_keeps(self.writing._owner, name, shape, kind, view))
        except BaseException:
            for array, copy in zip(everything, before, strict=True):
                array[...] = copy
            state.live, state.rounds = None, rounds  # a method may have changed the views, or played a round itself
            raise
        self.store()


def _as_array(owner: object, name: object, value: object, generator: np.random.Generator) -> Array:
    who = type(owner).__name__
    if not isinstance(name, str) or not name.isidentifier() or keyword.iskeyword(name) or name.startswith("_"):
        rule = "be letters, digits and underscores, starting with a letter, and no keyword of Python"
        raise _wrong(owner, "a name in the memory", rule, name)
    if name == GENERATOR:
        if value is not generator:
            raise LearnerError(f"{who}: `generator` in the memory must be the one given to `first_memory`.")
        return _words(generator.bit_generator)
    if value is generator:
        raise LearnerError(f"{who}: the generator in the memory must have the name `generator`, got `{name}`.")
    is_number = isinstance(value, (bool, int, float, np.generic))
    if not (is_number or isinstance(value, np.ndarray)) or np.asarray(value).dtype.kind not in _KINDS:
        got = f"an array of {value.dtype}" if isinstance(value, np.ndarray) else shown(value)
        raise LearnerError(f"{who}: `{name}` in the memory must be a NumPy array of numbers or a number, got {got}.")
    return np.array(value, np.asarray(value).dtype.newbyteorder("="), order="C")  # the order of bytes in files


def _fits(values: Array, kind: np.dtype[Any]) -> bool:
    """Return whether values can be written into an array of this type; a real number may be rounded."""
    if values.size and values.dtype.kind in "iu" and kind.kind in "iu" and values.dtype != kind:
        limits = np.iinfo(kind)
        return limits.min <= int(values.min()) and int(values.max()) <= limits.max
    return np.can_cast(values.dtype, kind, "same_kind")


def _words(bits: np.random.BitGenerator) -> Words:
    state = bits.state
    return np.array([*state["state"]["state"], state["has_uint32"], state["uinteger"]], np.uint64)


def _read_only(array: Array) -> Array:
    view = array.view()
    view.flags.writeable = False
    return view


def _keeps(who: str, name: str, shape: tuple[int, ...], kind: np.dtype[np.generic], got: Array) -> str:
    rule = f"must keep its shape {shape} and its type {kind}"
    return f"{who}: `memory.{name}` {rule}, got {got.dtype} of shape {got.shape}."


def _wrong(owner: object, what: str, rule: str, got: object) -> LearnerError:
    """Return the error for a rule that the user's class breaks."""
    return LearnerError(f"{type(owner).__name__}: {what} must {rule}, got {shown(got)}.")


def _no_such_field(name: str, fields: Mapping[str, Array]) -> str:
    near = difflib.get_close_matches(name, fields, n=1)
    advice = f"Did you mean `{near[0]}`?" if near else f"Its fields are {', '.join(fields)}; `first_memory` makes them."
    return f"the memory has no field `{name}`. {advice}"


@functools.cache
def _memory_type(fields: tuple[str, ...]) -> type[NamedTuple]:
    """Return the NamedTuple with these fields; pickles find it by its name in this module."""
    return memory_type("Memory", __name__, _PREFIX + ",".join(fields), dict.fromkeys(fields, packed()))


_PREFIX = "memory:"


def __getattr__(name: str) -> Any:
    if not name.startswith(_PREFIX):
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    return _memory_type(tuple(name.removeprefix(_PREFIX).split(",")))


_FIRST = {"first_memory": ("n_actions", "generator")}
_ARGUMENTS = {
    "full": {**_FIRST, "predict": ("memory",), "update": ("memory", "losses")},
    "bandit": {**_FIRST, "choose": ("memory",), "update": ("memory", "action", "loss", "probability")},
}
_CLOSE = 1e-9  # relative rounding error of a sum of weights
_FEW = 32  # weights: a list is faster than an array up to here


def check_methods(member: type[PythonLearner]) -> str:
    """Check which methods a class defines and what they take; return its feedback."""
    who = member.__name__
    plays = [name for name in ("predict", "choose") if hasattr(member, name)]
    if len(plays) != 1:
        rule = "must define `predict` (full feedback) or `choose` (bandit feedback)"
        raise InvalidInput(f"{who}: it {rule}, got {'both' if plays else 'neither'}.")
    feedback = "full" if plays == ["predict"] else "bandit"
    for name, wanted in _ARGUMENTS[feedback].items():
        _check_arguments(member, name, wanted)
    return feedback


def _check_arguments(member: type[PythonLearner], name: str, wanted: tuple[str, ...]) -> None:
    call = f"{name}(self, {', '.join(wanted)})"
    method: Any = getattr(member, name, None)
    if not method or getattr(method, "__isabstractmethod__", False):
        raise InvalidInput(f"{member.__name__}: it must define `{call}`.")
    written = inspect.unwrap(method)
    if not inspect.isfunction(written):
        raise InvalidInput(f"{member.__name__}: `{name}` must be a method, got {shown(written)}.")
    try:
        inspect.signature(written).bind(None, *wanted)
    except TypeError:
        got = f"{name}{inspect.signature(written)}"
        raise InvalidInput(f"{member.__name__}: it must define `{call}`, got {got}.") from None


def _weights(owner: object, value: object, n_actions: int) -> Vector:
    """Return what `predict` returned as new weights, or raise `LearnerError`."""
    try:
        weights = np.array(value)
    except ValueError:  # rows of unequal length
        weights = np.empty(0, object)
    if weights.dtype.kind not in "fiub":
        raise _wrong(owner, "`predict`", f"return an array of {n_actions} weights", value)
    if weights.shape != (n_actions,):
        rule = f"must return weights of shape ({n_actions},), got shape {weights.shape}"
        raise LearnerError(f"{type(owner).__name__}: `predict` {rule}.")
    weights = weights.astype(np.float64, copy=False)
    if n_actions <= _FEW:
        numbers = weights.tolist()
        total, least = sum(numbers), min(numbers)
    else:
        with np.errstate(invalid="ignore", over="ignore"):
            total, least = weights.sum(), weights.min()
    if not (abs(total - 1.0) <= _CLOSE and least >= 0.0):  # with NaN or infinity, the sum is not close to 1
        raise _wrong(owner, "the weights that `predict` returns", "be >= 0 and sum to 1", weights.tolist())
    return weights


def _choice(owner: object, value: Any, n_actions: int) -> tuple[int, float | None]:
    """Return what `choose` returned as an action and a probability, or raise `LearnerError`."""
    action, probability = value if type(value) is tuple and len(value) == 2 else (value, None)
    try:
        number = operator.index(action)
        is_action = not isinstance(action, (bool, np.bool_)) and 0 <= number < n_actions
    except TypeError:
        is_action = False
    if not is_action:
        rule = f"return an action, a whole number in [0, {n_actions - 1}], or (action, probability)"
        raise _wrong(owner, "`choose`", rule, value)
    if probability is None:
        return number, None
    chance = as_real(probability)
    if chance is None or not 0.0 < chance <= 1.0:
        raise _wrong(owner, "the probability that `choose` returns", "be in (0, 1] or None", probability)
    return number, chance


def _nothing(owner: object, value: object, n_actions: int) -> None:  # noqa: ARG001
    """Reject a value that `update` returned."""
    if value is not None:
        raise _wrong(owner, "`update`", "return nothing; write into the memory instead", value)


#: what a method returned, checked; they raise `LearnerError`
CHECKED: dict[str, Callable[[object, Any, int], Any]] = {"predict": _weights, "choose": _choice, "update": _nothing}


#: why another learner or a mixture cannot use it
NO_KERNELS = "A learner in plain Python has no kernels."
_SET_HERE = ("name", "kind", "feedback")  # attributes that a class gets when it is registered
_NAME = re.compile(r"[a-z0-9]+(-[a-z0-9]+)*")


class PythonRounds(Learner):
    """The part of a `PythonLearner` that plays rounds."""

    @property
    def memory_type(self) -> type[NamedTuple]:
        """The NamedTuple of its arrays."""
        return self.memory_type_for(2)

    def memory_type_for(self, n_actions: int) -> type[NamedTuple]:
        """The NamedTuple of its arrays with a number of actions, on which their names may depend."""
        return type(self.start(n_actions).memory)

    def rates(self, n_actions: int) -> NoRates:
        """Return nothing: its methods read the parameters themselves."""
        return NoRates()

    def shape_fault(self, shapes: Mapping[str, tuple[int, ...]], n_actions: int, rounds: int) -> str:
        """Return the first array whose shape is not that in a new state, '' if there is none."""
        for name, array in self.start(n_actions).arrays().items():
            if shapes[name] != array.shape:
                return f"`{name}` must have the shape {array.shape}, got {shapes[name]}"
        return ""

    def _seeded_memory(self, n_actions: int, seed: int) -> NamedTuple:
        """Return what `first_memory` makes, as a NamedTuple of arrays that nothing else refers to."""
        generator = np.random.Generator(np.random.SFC64(seed))
        made: object = self.first_memory(n_actions, generator)
        if not isinstance(made, Mapping) or not made:
            raise _wrong(self, "`first_memory`", f"return {_RULE}", made)
        arrays = {name: _as_array(self, name, value, generator) for name, value in made.items()}
        return _memory_type(tuple(arrays))._make(arrays.values())

    def run(self, state: State, losses: npt.ArrayLike) -> Matrix | Actions:
        """Play a block of rounds, (n_rounds, n_actions), and return the weights played, or the actions."""
        return self.play_block(state, self._admit(state, losses))

    def play_block(self, state: State, losses: Matrix) -> Matrix | Actions:
        """Play a block of rounds; its losses have been checked. If a round fails, the state does not change."""
        full = self.feedback == "full"
        played: Matrix | Actions = np.empty_like(losses) if full else np.empty(len(losses), np.int64)

        def play() -> None:
            for t, row in enumerate(losses):
                if full:
                    played[t] = self._call("predict", state, t)
                    self._call("update", state, t, row.copy())
                else:
                    action, probability = self._call("choose", state, t)
                    played[t] = action
                    self._call("update", state, t, action, float(row[action]), probability)

        _live(state).change(state, play)
        state.rounds += len(losses)
        return played

    def _predict(self, state: State) -> Vector:
        """Return the weights of the next round, without changing the state."""
        self._claim(state)
        weights: Vector = self._call("predict", state, 0)
        return weights

    def _choose(self, state: State) -> tuple[int, float | None]:
        """Return the action for the coming round and its probability, None where it is not known."""
        self._claim(state)
        live = _live(state)
        live.load()
        choice: tuple[int, float | None] = self._call("choose", state, 0)
        live.store()
        return choice

    def _update(self, state: State, *feedback: Any, **named: Any) -> None:
        """Update the state with the losses, or with the action, its loss and its probability."""
        self._claim(state)
        take = self._losses if self.feedback == "full" else self._chosen_loss
        checked = take(state, *feedback, **named)
        _live(state).change(state, lambda: self._call("update", state, 0, *checked))
        state.rounds += 1

    def _losses(self, state: State, losses: npt.ArrayLike) -> tuple[Vector]:
        values = as_losses(self, losses, (state.n_actions,))
        if (bad := first_bad_loss(values)) >= 0:
            raise outside(self, "losses", values[bad], f"at action {bad}")
        return (values.copy(),)

    def _chosen_loss(
        self, state: State, action: object, loss: object, probability: object
    ) -> tuple[int, float, float | None]:
        action, loss, chance = checked_feedback(self, state.n_actions, action, loss, probability)
        return action, loss, None if probability is None else chance

    def _call(self, role: str, state: State, ahead: int, *arguments: object) -> Any:
        """Call a method of the user in the round `ahead` of that of the state, and check what it returns.

        Errors get a note with the learner, the method and the round.
        """
        live = _live(state)
        memory = live.writing if role == "update" else live.reading
        try:
            return CHECKED[role](self, getattr(self, role)(memory, *arguments), state.n_actions)
        except (Exception, SystemExit) as error:  # a method may call `sys.exit`
            about = f"Raised in `{role}` of {type(self).__name__}, in round {state.rounds + ahead}, counted from 0."
            if isinstance(error, ValueError) and "read-only" in str(error) and role != "update":
                about += f" `{role}` must not change the memory; change it in `update`."
            error.add_note(f"{about} The state was not changed.")
            raise


def _live(state: State) -> LiveMemory:
    if state.live is None:
        state.live = LiveMemory(state.learner, state.memory)
    live: LiveMemory = state.live
    return live


@dataclass_transform(frozen_default=True)
class PythonLearner(PythonRounds):
    r"""A learner in plain Python, for a first try: its methods are written with NumPy and need no compiler.

    A subclass defines `first_memory`, `update`, and either `predict` (full feedback) or `choose` (bandit feedback). Its
    annotated attributes are its parameters. It takes part in `simulate`, `record`, `Session`, `Sweep`, the command line
    (`--import MODULE`), adversaries and `check_learner`. Equal seeds give equal results, for any number of threads. On
    another machine, or with another version of NumPy, its functions such as `exp` may differ in the last digit.

    Notes
    -----
    The methods of a subclass, where `name` in its first line is its name in the registry:

    - `first_memory(self, n_actions, generator)` returns a dictionary of NumPy arrays and numbers: all that the learner
      carries from round to round. A learner that draws keeps `generator`, a `numpy.random.Generator`, in it.
    - `predict(self, memory)` returns the weights of the coming round: not negative, with sum 1. It changes nothing.
    - `choose(self, memory)` returns an action, or `(action, probability)`. It may draw from `memory.generator` and
      changes nothing else.
    - `update(self, memory, losses)` or `update(self, memory, action, loss, probability)` changes the memory:
      `memory.plays[action] += 1`. Assigning to `memory.plays` writes into the array, whose shape and type stay.

    Called with a state, as in `learner.choose(state)`, they play a round, with all checks. A method that returns
    something invalid raises `LearnerError`; its own errors are raised as they are. In both cases a note names the
    method and the round, and the state does not change.

    `tuned(measures)`, `bound(measures)` and `beliefs(state)` may be defined as for every learner. So may the property
    `skipped_checks`, with the checks that cannot apply: `{**super().skipped_checks, "name_of_the_check": "why"}`. The
    memory cannot grow: keep sums or a window. A part of another learner, and the learner of a `Mixture`, must have
    kernels.

    A sweep does not play again what it has stored if a method was changed: write `version = 2` into the class, without
    an annotation, when its plays change.

    Time per round: about 10 to 50 microseconds with 2 to 100 actions, some hundred times that of kernels in a
    simulation (40 to 400 in `python benchmarks/run.py --only python`). Threads do not help: Python runs one of them at
    a time.

    Examples
    --------
    >>> import numpy as np
    >>> class LeastLoss(PythonLearner, name="least-loss"):
    ...     exploration_rate: float = 0.1
    ...
    ...     def first_memory(self, n_actions, generator):
    ...         return {"plays": np.zeros(n_actions), "total": np.zeros(n_actions), "generator": generator}
    ...
    ...     def choose(self, memory):
    ...         if memory.generator.random() < self.exploration_rate:
    ...             return memory.generator.integers(memory.plays.size)
    ...         means = memory.total / np.maximum(memory.plays, 1)
    ...         means[memory.plays == 0] = -1.0  # actions that were not played come first
    ...         return np.argmin(means)
    ...
    ...     def update(self, memory, action, loss, probability):
    ...         memory.plays[action] += 1
    ...         memory.total[action] += loss
    >>> learner = LeastLoss(exploration_rate=0.2)
    >>> learner.run(learner.start(n_actions=2, seed=1), [[0.9, 0.1]] * 8)
    array([0, 1, 1, 1, 1, 1, 1, 1])
    """

    if TYPE_CHECKING:  # a subclass defines `predict` or `choose`; called with a state, they play a round
        predict: ClassVar[Any]
        choose: ClassVar[Any]
        update: ClassVar[Any]

    def __init_subclass__(cls, name: str | None = None, **options: object) -> None:
        super().__init_subclass__(**options)
        for role, play in (("predict", cls._predict), ("choose", cls._choose), ("update", cls._update)):
            if callable(written := vars(cls).get(role)):
                setattr(cls, role, _entry(written, play))
        dataclasses.dataclass(frozen=True)(cls)
        del cls.__setattr__, cls.__delattr__  # those of this class take their place; the decorator may be written too
        if name is not None:
            if not isinstance(name, str) or not _NAME.fullmatch(name):
                rule = "lower-case words joined by hyphens, as in 'epsilon-greedy'"
                raise rejection(cls.__name__, "name", rule, name)
            for field in dataclasses.fields(cls):  # type: ignore[arg-type]
                if hasattr(PythonLearner, field.name) or field.name in _SET_HERE:
                    advice = "Take another name, or write it without an annotation."
                    rule = "every learner has an attribute with this name"
                    raise InvalidInput(f"{cls.__name__}: `{field.name}` cannot be a parameter: {rule}. {advice}")
            cls.feedback = check_methods(cls)
            cls.name = name
            learners.add(name, cls)

    def __init__(self) -> None:
        """Set nothing: a subclass gets a constructor with its own parameters."""

    def __new__(cls, *args: object, **settings: object) -> Self:  # noqa: ARG004, D102
        if cls is PythonLearner:
            raise InvalidInput('PythonLearner: it is a base class; write `class Mine(PythonLearner, name="mine")`.')
        if "name" not in vars(cls):
            call = f'class {cls.__name__}({", ".join(base.__name__ for base in cls.__bases__)}, name="...")'
            raise InvalidInput(f"{cls.__name__}: it has no name in the registry; write `{call}`.")
        for name in settings:
            if name in vars(cls) and name not in cls.__dataclass_fields__:  # type: ignore[attr-defined]
                rule = f"a parameter must have an annotation, as in `{name}: float = ...`"
                raise InvalidInput(f"{cls.__name__}: `{name}` is no parameter; {rule}.")
        return super().__new__(cls)

    def __setattr__(self, name: str, value: object) -> NoReturn:
        advice = "A learner has only parameters; keep what changes in the memory."
        raise dataclasses.FrozenInstanceError(f"{type(self).__name__}: `{name}` cannot be set. {advice}")

    def __delattr__(self, name: str) -> NoReturn:
        raise dataclasses.FrozenInstanceError(f"{type(self).__name__}: `{name}` cannot be deleted.")

    @property
    def skipped_checks(self) -> Mapping[str, str]:
        """The checks of descriptions that a first try need not have."""
        skipped = {}
        if not [*self.corners]:
            skipped["corners_name_every_parameter"] = "it declares no corners"
        if not any(described(kind).parameters for kind in type(self).__mro__ if kind is not PythonLearner):
            skipped["docstring_documents_every_parameter"] = "its docstring has no section `Parameters`"
        return skipped


def _entry(written: Method, play: Method) -> Method:
    """Return a method that plays a round if it gets a state, and is what the user wrote if it gets a memory."""

    @functools.wraps(written)
    def entry(self: PythonLearner, *arguments: object, **named: object) -> object:
        if (arguments and type(arguments[0]) is PythonMemory) or "memory" in named:
            return written(self, *arguments, **named)
        return play(self, *arguments, **named)

    return entry
