"""Banks: the bases of a grid (`driftwise.learners.parts.grid_learner`), several of which one kernel advances.

A bank is a frozen dataclass of parameters. Its memory is a NamedTuple of arrays that has the weights of all its bases
for the next round in `weights`, one base in each row; its kernel `update(memory, rates, losses)` reads the losses of
the round and writes the next memory. The kernel obeys the rules of every learner's kernel: it makes no arrays and
raises nothing.

`LearnerBank` holds learners of one class and calls their own kernel for each. A bank of another kind, whose bases
share some of the work, brings its own kernel and its own memory:

    class Memory(NamedTuple):
        weights: Annotated[Matrix, distribution("bases", "actions")]
        shared: Annotated[Vector, between(0, "rounds", "actions")]

    class Rates(NamedTuple):
        learning_rates: Vector  # arrays are allowed, of 8-byte numbers, contiguous

    @kernel
    def _update(memory: Memory, rates: Rates, losses: Vector) -> None:
        ...

    @dataclass(frozen=True)
    class SharingBank(Bank[Memory, Rates]):
        learning_rates: tuple[float, ...]

        update = _update

        def labels(self) -> list[str]: ...
        def first_memory(self, n_actions: int, generator: Words) -> Memory: ...
        def rates(self, n_actions: int) -> Rates: ...

A field declares its shape and values as in every memory; `bases`, `actions` and `rounds` are known, and the bank may
add words in `memory_limits` and rules on several fields in `memory_contradiction`. A grid names its banks twice:

    @grid("my-grid", rule=Hedge, banks=[OptimisticGD, SharingBank])  # the kinds, from which its kernel is compiled
    @dataclass(frozen=True)
    class MyGrid(GridLearner):
        def banks(self, n_actions: int) -> list[Bank]:
            return [LearnerBank((OptimisticGD(0.5), OptimisticGD(0.25))), SharingBank((0.1, 0.2))]

        def rule(self, n_actions: int) -> Hedge:
            return Hedge()
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, ClassVar, Generic, NamedTuple

from driftwise.core.errors import InvalidInput
from driftwise.core.kernel import kinds_of, unbound
from driftwise.core.types import Vector, Words
from driftwise.core.validation import require
from driftwise.learners.contract import ExpertLearner
from driftwise.learners.contract.memory_checks import MemoryChecks, returned_type
from driftwise.learners.contract.type_variables import M, R
from driftwise.learners.parts.meta_learner import BASE_RULE, can_be_base
from driftwise.learners.parts.stacked_memory import row, row_kernel, stacked_memory, stacked_rates

__all__ = ["Bank", "BankParts", "LearnerBank", "bank_parts"]

Kernel = Callable[..., Any]
UPDATE: Kernel = unbound
KIND: Kernel = unbound
RATES: Kernel = unbound
ROW: Kernel = unbound
RATES_ROW: Kernel = unbound
NUMBER = FIRST = WEIGHTS = LAST = 0


class Bank(MemoryChecks[M], ABC, Generic[M, R]):
    """Several bases of a grid, which one kernel advances."""

    update: ClassVar[Kernel]  # update(memory, rates, losses)
    hint: ClassVar[Kernel | None] = None  # hint(memory, rates, guess), for grids that take hints

    @property
    def kind(self) -> type:
        """What `grid` was given for this bank: its class."""
        return type(self)

    @property
    def n_bases(self) -> int:
        """The number of its bases."""
        return len(self.labels())

    @abstractmethod
    def labels(self) -> list[str]:
        """Return a text for each base: what it is, with its parameters."""

    @abstractmethod
    def first_memory(self, n_actions: int, generator: Words) -> M:
        """Return the memory before round 1."""

    @abstractmethod
    def rates(self, n_actions: int) -> R:
        """Return the parameters as the kernel reads them: a NamedTuple of numbers and arrays."""

    def all_limits(self, n_actions: int, rounds: int) -> dict[str, float]:
        """Return every number that the declarations of the memory may name."""
        return {"bases": self.n_bases, **super().all_limits(n_actions, rounds)}


@dataclass(frozen=True)
class LearnerBank(Bank[Any, Any]):
    """Learners of one class, whose memories have the same shapes.

    Parameters
    ----------
    bases : tuple of ExpertLearner
        Full-feedback learners whose memories do not grow and whose rates are numbers.

    Examples
    --------
    >>> from driftwise.learners import OptimisticGD
    >>> LearnerBank((OptimisticGD(0.5), OptimisticGD(0.25))).labels()
    ['optimistic-gd(learning_rate=0.5)', 'optimistic-gd(learning_rate=0.25)']
    """

    bases: tuple[ExpertLearner, ...]

    def __post_init__(self) -> None:
        require(self, "bases", len(self.bases) > 0, "at least one learner")

    @property
    def kind(self) -> type:
        """The class of its learners."""
        return type(self.bases[0])

    @property
    def n_bases(self) -> int:
        """The number of its learners."""
        return len(self.bases)

    @property
    def memory_type(self) -> Any:
        """The NamedTuple of the memory of one of its learners, whose arrays are stacked."""
        return self.bases[0].memory_type

    def labels(self) -> list[str]:
        """Return the learners with the parameters that differ from the defaults."""
        return [base.label for base in self.bases]

    def first_memory(self, n_actions: int, generator: Words) -> Any:
        """Return the first memories of all learners."""
        return stacked_memory([base.first_memory(n_actions, generator) for base in self.bases])

    def rates(self, n_actions: int) -> Any:
        """Return the rates of all learners."""
        return stacked_rates([base.rates(n_actions) for base in self.bases])

    def memory_limits(self, n_actions: int, rounds: int) -> dict[str, float]:
        """Return the numbers that the declarations of the learners' memory name; sizes are the same for all."""
        return self.bases[0].memory_limits(n_actions, rounds)

    def memory_fault(self, memory: Any, n_actions: int, rounds: int) -> str:
        """Return the fault of the first learner whose memory has one."""
        for i, base in enumerate(self.bases):
            if fault := base.memory_fault(row(memory, i), n_actions, rounds):
                return f"base {i}: {fault}"
        return ""


class BankParts(NamedTuple):
    """What the kernel of a grid needs of a kind of banks."""

    memory_type: Any
    axes: tuple[str, ...]  # in front of those that the memory declares
    template: Kernel  # plays a round of the bank; the grid binds the place of its memory
    kernels: dict[str, Any]  # what is bound to the template beside the place
    hint: Kernel | None  # takes the place of `UPDATE` for a guess of the next losses
    kinds: tuple[type, ...]  # NamedTuples that the kernels read


def bank_parts(kind: Any) -> BankParts:
    """Return the parts of a bank: of a subclass of `Bank`, or of the `LearnerBank` of a class of learners."""
    if issubclass(kind, Bank):
        memory_type, kernels = returned_type(kind, "first_memory"), {"UPDATE": kind.update}
        return BankParts(memory_type, (), _advance, kernels, kind.hint, kinds_of(kind))
    if not can_be_base(kind):
        raise InvalidInput(f"{kind.__name__}: a base of a grid must be {BASE_RULE}.")
    memory_type, rates_type = returned_type(kind, "first_memory"), returned_type(kind, "rates")
    own = kind.compiled_loops.kernels
    kernels = {
        "UPDATE": own.update,
        "RATES": rates_type,
        "ROW": row_kernel(len(memory_type._fields)),
        "RATES_ROW": row_kernel(len(rates_type._fields)),
    }
    return BankParts(memory_type, ("bases",), _advance_each, kernels, own.hint, (rates_type, *own.kinds))


def _advance(memory: Any, rates: Any, losses: Vector) -> None:
    """Play a round of a bank with a kernel of its own; memory and rates are those of the grid."""
    bank = rates.banks[NUMBER]
    weights = memory.base_weights[bank.first : bank.last]
    UPDATE(KIND(*memory[FIRST:WEIGHTS], weights, *memory[WEIGHTS:LAST]), bank.rates, losses)


def _advance_each(memory: Any, rates: Any, losses: Vector) -> None:
    """Play a round of each learner of a bank."""
    bank = rates.banks[NUMBER]
    weights = memory.base_weights[bank.first : bank.last]
    stack = KIND(*memory[FIRST:WEIGHTS], weights, *memory[WEIGHTS:LAST])
    for i in range(weights.shape[0]):
        UPDATE(KIND(*ROW(stack, i)), RATES(*RATES_ROW(bank.rates, i)), losses)
