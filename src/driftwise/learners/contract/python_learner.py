"""Learners in plain Python: for a first try, without kernels.

A subclass is a frozen dataclass of parameters, as every learner; the base class makes it one and registers it. Its
methods `predict`, `choose` and `update` take a `State` from the engine and a `PythonMemory` from here. With a state
they play a round, with all checks; with a memory they are what the user wrote, so that a subclass can call the method
of its base class.

Rounds one by one and in blocks call the same methods of the user, so both give the same results bit for bit. What these
methods return is checked in every round. If one fails, the arrays and the generator are as before the call.
"""

from __future__ import annotations

import dataclasses
import functools
import inspect
import operator
import re
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any, ClassVar, NamedTuple, NoReturn, Self, dataclass_transform

import numpy as np

from driftwise.core.docstrings import described
from driftwise.core.errors import InvalidInput, LearnerError, outside, rejection, shown
from driftwise.core.types import Actions, Matrix, Vector
from driftwise.core.validation import as_losses, as_real, first_bad_loss
from driftwise.learners.contract.bandit_feedback import checked_feedback
from driftwise.learners.contract.learner import Learner
from driftwise.learners.contract.python_memory import LiveMemory, PythonMemory, first_arrays
from driftwise.learners.contract.registration import learners
from driftwise.learners.contract.state import State

__all__ = ["NO_KERNELS", "PythonLearner"]


_ARGUMENTS = {
    ("full", "predict"): ("memory",),
    ("full", "update"): ("memory", "losses"),
    ("bandit", "choose"): ("memory",),
    ("bandit", "update"): ("memory", "action", "loss", "probability"),
}
_FIRST_MEMORY = ("n_actions", "generator")
_CLOSE = 1e-9  # relative rounding error of a sum of weights
_FEW = 32  # weights: a list is faster than an array up to here


def check_methods(member: Any) -> str:
    """Check which methods a class defines and what they take; return its feedback."""
    who = member.__name__
    plays = [name for name in ("predict", "choose") if hasattr(member, name)]
    if len(plays) != 1:
        rule = "must define `predict` (full feedback) or `choose` (bandit feedback)"
        raise InvalidInput(f"{who}: it {rule}, got {'both' if plays else 'neither'}.")
    feedback = "full" if plays == ["predict"] else "bandit"
    _check_arguments(member, "first_memory", _FIRST_MEMORY)
    for name in (*plays, "update"):
        _check_arguments(member, name, _ARGUMENTS[feedback, name])
    return feedback


def _check_arguments(member: Any, name: str, wanted: tuple[str, ...]) -> None:
    call = f"{name}(self, {', '.join(wanted)})"
    written: Any = inspect.unwrap(getattr(member, name, None) or _none)
    if written is _none or getattr(written, "__isabstractmethod__", False):
        raise InvalidInput(f"{member.__name__}: it must define `{call}`.")
    if not inspect.isfunction(written):
        raise InvalidInput(f"{member.__name__}: `{name}` must be a method, got {shown(written)}.")
    try:
        inspect.signature(written).bind(None, *wanted)
    except TypeError:
        raise InvalidInput(
            f"{member.__name__}: it must define `{call}`, got {name}{inspect.signature(written)}."
        ) from None


def _none() -> None:
    """Stand for a method that is missing."""


def _weights(owner: object, value: Any, n_actions: int) -> Vector:
    """Return what `predict` returned as new weights, or raise `LearnerError`."""
    who = type(owner).__name__
    try:
        weights = np.array(value)
    except ValueError:  # rows of unequal length
        weights = np.empty(0, object)
    if weights.dtype.kind not in "fiub":
        raise LearnerError(f"{who}: `predict` must return an array of {n_actions} weights, got {shown(value)}.")
    if weights.shape != (n_actions,):
        raise LearnerError(f"{who}: `predict` must return weights of shape ({n_actions},), got shape {weights.shape}.")
    weights = weights.astype(np.float64, copy=False)
    if n_actions <= _FEW:
        numbers = weights.tolist()
        total, least = sum(numbers), min(numbers)
    else:
        with np.errstate(invalid="ignore", over="ignore"):
            total, least = weights.sum(), weights.min()
    if not (abs(total - 1.0) <= _CLOSE and least >= 0.0):  # with NaN or infinity, the sum is not close to 1
        raise LearnerError(
            f"{who}: the weights that `predict` returns must be >= 0 and sum to 1, got {shown(weights.tolist())}."
        )
    return weights


def _choice(owner: object, value: Any, n_actions: int) -> tuple[int, float | None]:
    """Return what `choose` returned as an action and a probability, or raise `LearnerError`."""
    action, probability = value if type(value) is tuple and len(value) == 2 else (value, None)
    who = type(owner).__name__
    try:
        number = operator.index(action)
        known = not isinstance(action, (bool, np.bool_)) and 0 <= number < n_actions
    except TypeError:
        known = False
    if not known:
        rule = f"an action, a whole number in [0, {n_actions - 1}], or (action, probability)"
        got = value.item() if isinstance(value, np.generic) else value  # 3, not np.int64(3)
        raise LearnerError(f"{who}: `choose` must return {rule}, got {shown(got)}.")
    if probability is None:
        return number, None
    chance = as_real(probability)
    if chance is None or not 0.0 < chance <= 1.0:
        raise LearnerError(
            f"{who}: the probability that `choose` returns must be in (0, 1] or None, got {shown(probability)}."
        )
    return number, chance


def _nothing(owner: object, value: Any, n_actions: int) -> None:  # noqa: ARG001
    """Reject a value that `update` returned."""
    if value is not None:
        raise LearnerError(
            f"{type(owner).__name__}: `update` must return nothing; write into the memory instead, got {shown(value)}."
        )


#: what a method returned, checked; they raise `LearnerError`
CHECKED: dict[str, Callable[[object, Any, int], Any]] = {"predict": _weights, "choose": _choice, "update": _nothing}


def error_note(owner: object, role: str, t: int, error: Exception) -> str:
    """Return which method of which learner raised an error, and in which round."""
    about = f"Raised in `{role}` of {type(owner).__name__}, in round {t}, counted from 0."
    if isinstance(error, ValueError) and "read-only" in str(error) and role != "update":
        about += f" `{role}` must not change the memory; change it in `update`."
    return f"{about} The state was not changed."


#: why another learner or a mixture cannot use it
NO_KERNELS = "A learner in plain Python has no kernels."
_SET_HERE = ("name", "kind", "feedback")  # attributes that a class gets when it is registered
_NAME = re.compile(r"[a-z0-9]+(-[a-z0-9]+)*")


class NoRates(NamedTuple):
    """The rates of a learner without kernels."""


class PythonRounds(Learner[Any, Any]):
    """The part of a `PythonLearner` that plays rounds."""

    @property
    def memory_type(self) -> Any:
        """The NamedTuple of its arrays."""
        return self.memory_type_for(2)

    def memory_type_for(self, n_actions: int) -> Any:
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

    def _seeded_memory(self, n_actions: int, seed: int) -> Any:
        return first_arrays(self, n_actions, seed)

    def run(self, state: State, losses: Any) -> Matrix | Actions:
        """Play a block of rounds, (n_rounds, n_actions), and return the weights played, or the actions."""
        return self.play_block(state, self._admit(state, losses))

    def play_block(self, state: State, losses: Matrix) -> Matrix | Actions:
        """Play a block of rounds; its losses have been checked. If a round fails, the state does not change."""
        play = self._weights_of_block if self.feedback == "full" else self._actions_of_block
        played: Matrix | Actions = self._changing(state, play, losses)
        state.rounds += len(losses)
        return played

    def _weights_of_block(self, state: State, losses: Matrix) -> Matrix:
        played = np.empty_like(losses)
        for t in range(len(losses)):
            played[t] = self._call("predict", state, t)
            self._call("update", state, t, losses[t].copy())
        return played

    def _actions_of_block(self, state: State, losses: Matrix) -> Actions:
        played = np.empty(len(losses), np.int64)
        for t in range(len(losses)):
            action, probability = self._call("choose", state, t)
            played[t] = action
            self._call("update", state, t, action, float(losses[t, action]), probability)
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
        given = take(state, *feedback, **named)
        self._changing(state, lambda state: self._call("update", state, 0, *given))
        state.rounds += 1

    def _losses(self, state: State, losses: Any) -> tuple[Vector]:
        values = as_losses(self, losses, (state.n_actions,))
        if (bad := first_bad_loss(values)) >= 0:
            raise outside(self, "losses", values[bad], f"at action {bad}")
        return (values.copy(),)

    def _chosen_loss(self, state: State, action: Any, loss: Any, probability: Any) -> tuple[int, float, float | None]:
        action, loss, chance = checked_feedback(self, state.n_actions, action, loss, probability)
        return action, loss, None if probability is None else chance

    def _changing(self, state: State, change: Callable[..., Any], *given: Any) -> Any:
        """Call a function that changes the memory; if it fails, or is interrupted, the state does not change."""
        live = _live(state)
        before = live.snapshot()
        live.load()
        try:
            made = change(state, *given)
            live.check_views()
        except BaseException:
            live.restore(before)
            state.live = None  # a method may have changed the views
            raise
        live.store()
        return made

    def _call(self, role: str, state: State, ahead: int, *given: Any) -> Any:
        """Call a method of the user in the round `ahead` of that of the state, and check what it returns.

        Errors get a note with the learner, the method and the round.
        """
        live = _live(state)
        memory = live.writing if role == "update" else live.reading
        try:
            return CHECKED[role](self, getattr(self, role)(memory, *given), state.n_actions)
        except Exception as error:
            error.add_note(error_note(self, role, state.rounds + ahead, error))
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

    def __init_subclass__(cls, name: str | None = None, **options: Any) -> None:
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

    def __new__(cls, *args: Any, **settings: Any) -> Self:  # noqa: ARG004, D102
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

    def __setattr__(self, name: str, value: Any) -> NoReturn:
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


def _entry(written: Callable[..., Any], play: Callable[..., Any]) -> Callable[..., Any]:
    """Return a method that plays a round if it gets a state, and is what the user wrote if it gets a memory."""

    @functools.wraps(written)
    def entry(self: Any, *given: Any, **named: Any) -> Any:
        if (given and type(given[0]) is PythonMemory) or "memory" in named:
            return written(self, *given, **named)
        return play(self, *given, **named)

    return entry
