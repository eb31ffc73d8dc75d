"""Learners in plain Python: for a first try, without kernels.

A subclass is a frozen dataclass of parameters, as every learner; the base class makes it one and registers it. Its
methods `predict`, `choose` and `update` take a `State` from the engine and a `PythonMemory` from here. With a state
they play a round, with all checks; with a memory they are what the user wrote, so that a subclass can call the method
of its base class.
"""

from __future__ import annotations

import dataclasses
import functools
import re
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any, ClassVar, NoReturn, Self, dataclass_transform

from driftwise.core.docstrings import described
from driftwise.core.errors import InvalidInput, rejection
from driftwise.learners.contract.python_memory import PythonMemory
from driftwise.learners.contract.python_returns import check_methods
from driftwise.learners.contract.python_rounds import PythonRounds
from driftwise.learners.contract.registration import learners

__all__ = ["NO_KERNELS", "PythonLearner"]

#: why another learner or a mixture cannot use it
NO_KERNELS = "A learner in plain Python has no kernels."

_NAME = re.compile(r"[a-z0-9]+(-[a-z0-9]+)*")


@dataclass_transform(frozen_default=True)
class PythonLearner(PythonRounds):
    r"""A learner in plain Python, for a first try: its methods are written with NumPy and need no compiler.

    A subclass defines `first_memory`, `update`, and either `predict` (full feedback) or `choose` (bandit feedback). Its
    annotated attributes are its parameters. It takes part in `simulate`, `record`, `Session`, `Sweep`, the command line
    (`--import MODULE`), adversaries and `check_learner`, with the same results on every machine and for any number of
    threads.

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
    something invalid raises `LearnerError`; its own errors are raised as they are, with a note. In both cases the state
    does not change.

    `tuned(measures)`, `bound(measures)` and `beliefs(state)` may be defined as for every learner. There is no room that
    grows: keep sums or a window. A part of another learner, and the learner of a `Mixture`, must have kernels.

    Results that a sweep has stored do not notice that a method was changed: write `version = 2` into the class, without
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
            cls.feedback = check_methods(cls)
            cls.name = name
            learners.add(name, cls)

    def __init__(self) -> None:
        """Set nothing: a subclass gets a constructor with its own parameters."""

    def __new__(cls, *args: Any, **settings: Any) -> Self:  # noqa: ARG004, D102
        if "name" not in vars(cls):
            call = f'class {cls.__name__}({cls.__bases__[0].__name__}, name="...")'
            raise InvalidInput(f"{cls.__name__}: it has no name in the registry; write `{call}`.")
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
    def entry(self: Any, given: Any, *rest: Any, **named: Any) -> Any:
        if type(given) is PythonMemory:
            return written(self, given, *rest, **named)
        return play(self, given, *rest, **named)

    return entry
