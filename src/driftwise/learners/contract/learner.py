"""The base class of all learners.

A learner is a frozen dataclass of parameters. `start` returns a `State`; `run` plays a block of rounds from a state on;
`predict` or `choose`, then `update`, play single rounds with the same kernels, so the results are bit-identical.
"""

from __future__ import annotations

import dataclasses
import functools
from abc import ABC, abstractmethod
from collections.abc import Mapping
from typing import Any, ClassVar, Generic, Self

from driftwise.core.corners import Corners
from driftwise.core.errors import InvalidInput, outside, rejection
from driftwise.core.machine_memory import check_memory
from driftwise.core.measures import Measures
from driftwise.core.random import new_generator
from driftwise.core.tuning_caveats import collected, report
from driftwise.core.types import Actions, Matrix
from driftwise.core.validation import as_losses, check_seed, count, first_bad_loss
from driftwise.learners.contract.beliefs import Beliefs
from driftwise.learners.contract.memory_checks import MemoryChecks
from driftwise.learners.contract.state import State
from driftwise.learners.contract.type_variables import M, R
from driftwise.registry import Registered

__all__ = ["Learner"]

_MANY_ACTIONS = 2**16  # with fewer, the first memory of every learner is small


def reporting_caveats(rule: classmethod[Any, Any, Any]) -> classmethod[Any, Any, Any]:
    """Return the method `tuned` of a class such that it reports the caveat of the learner that it returns."""

    @functools.wraps(rule.__func__)
    def tuned(cls: Any, measures: Measures, *args: Any, **settings: Any) -> Any:
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

    def __init_subclass__(cls, **options: Any) -> None:
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
        one, two = (sum(array.nbytes for array in self._seeded_memory(n, 0)) for n in (1, 2))
        check_memory(self, "n_actions", n_actions, one + (two - one) * (n_actions - 1))

    def _claim(self, state: State[M, R]) -> None:
        if type(state) is State and state.learner is self:
            return
        if not isinstance(state, State):
            raise rejection(self, "state", "a state that `start` returned", state)
        if state.learner is not self and state.learner != self:
            again = " of an earlier definition of its class" if str(self) == str(state.learner) else ""
            raise InvalidInput(f"{self}: the state belongs to {state.learner}{again}.")

    def _admit(self, state: State[M, R], values: Any, name: str = "losses") -> Matrix:
        """Check a block of losses and return it as the kernels take it."""
        self._claim(state)
        block = as_losses(self, values, (None, state.n_actions), name)
        bad = first_bad_loss(block.reshape(-1))
        if bad >= 0:
            t, k = divmod(bad, state.n_actions)
            raise outside(self, name, block[t, k], f"at round {t} of the block, action {k}")
        return block
