r"""Learners on a grid: a fixed set of base learners, and a learner, the rule, that weighs them.

Base $b$ plays $x_t^b$ and does not depend on the others. The rule is a learner whose actions are the bases. Its weights
$q_t$ mix those of the bases, and its losses are theirs. A rule that takes hints gets the loss of each base if the
losses repeat:

$$ x_t = \sum_b q_{t,b}\, x_t^b, \qquad \ell_{t,b} = \langle \ell_t, x_t^b \rangle, \qquad
   h_{t+1,b} = \langle \ell_t, x_{t+1}^b \rangle . $$

The regret is that of the rule against a base plus that of this base.

A round is one kernel, put together from those of the parts. The memory is flat: the fields of `GRID_FIELDS`, with the
weights of all bases in one matrix, then the other arrays of each bank, then those of the rule.

The bases come in banks, several of which one kernel advances. A bank is a frozen dataclass of parameters. Its memory is
a NamedTuple of arrays that has the weights of all its bases for the next round in `weights`, one base in each row; its
kernel `update(memory, rates, losses)` reads the losses of the round and writes the next memory. The kernel obeys the
rules of every learner's kernel: it makes no arrays and raises nothing.

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
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import reduce
from itertools import accumulate, pairwise
from typing import ClassVar, Generic, NamedTuple, TypeVar

import numpy as np

from driftwise.core.errors import InvalidInput
from driftwise.core.kernel import clone, generic_kernel, kernel, kinds_of, unbound
from driftwise.core.memory_fields import Field, distribution, memory_type, scratch
from driftwise.core.types import Matrix, Vector, Words
from driftwise.core.validation import require
from driftwise.learners.base import ExpertLearner, HintedLearner, State
from driftwise.learners.base.learner import M, MemoryChecks, R, registered, returned_type
from driftwise.learners.base.loops import AnyMemory, AnyRates, Bindings, Kernel, expert_loops
from driftwise.learners.shared import meta_learner as meta
from driftwise.learners.shared.distributions import dot
from driftwise.registry import Registered

UPDATE = HINT = BANKS = REST = KIND = WRITE = FINISH = RATES = ROW = RATES_ROW = unbound  # kernels that `clone` binds
TAKES_HINTS = False
FIRST = WEIGHTS = LAST = 0
NUMBER = 0


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
class LearnerBank(Bank):
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
    def memory_type(self) -> type[AnyMemory]:
        """The NamedTuple of the memory of one of its learners, whose arrays are stacked."""
        return self.bases[0].memory_type

    def labels(self) -> list[str]:
        """Return the learners with the parameters that differ from the defaults."""
        return [base.label for base in self.bases]

    def first_memory(self, n_actions: int, generator: Words) -> AnyMemory:
        """Return the first memories of all learners."""
        return meta.stacked_memory([base.first_memory(n_actions, generator) for base in self.bases])

    def rates(self, n_actions: int) -> AnyRates:
        """Return the rates of all learners."""
        return meta.stacked_rates([base.rates(n_actions) for base in self.bases])

    def memory_limits(self, n_actions: int, rounds: int) -> dict[str, float]:
        """Return the numbers that the declarations of the learners' memory name; sizes are the same for all."""
        return self.bases[0].memory_limits(n_actions, rounds)

    def memory_fault(self, memory: AnyMemory, n_actions: int, rounds: int) -> str:
        """Return the fault of the first learner whose memory has one."""
        for i, base in enumerate(self.bases):
            if fault := base.memory_fault(meta.row(memory, i), n_actions, rounds):
                return f"base {i}: {fault}"
        return ""


class BankParts(NamedTuple):
    """What the kernel of a grid needs of a kind of banks."""

    memory_type: type[AnyMemory]
    axes: tuple[str, ...]  # in front of those that the memory declares
    template: Kernel  # plays a round of the bank; the grid binds the place of its memory
    kernels: Bindings  # what is bound to the template beside the place
    hint: Kernel | None  # takes the place of `UPDATE` for a guess of the next losses
    kinds: tuple[type, ...]  # NamedTuples that the kernels read


def bank_parts(kind: type[Bank] | type[ExpertLearner]) -> BankParts:
    """Return the parts of a bank: of a subclass of `Bank`, or of the `LearnerBank` of a class of learners."""
    if issubclass(kind, Bank):
        memory_type, kernels = returned_type(kind, "first_memory"), {"UPDATE": kind.update}
        return BankParts(memory_type, (), _advance, kernels, kind.hint, kinds_of(kind))
    if not meta.can_be_base(kind):
        raise InvalidInput(f"{kind.__name__}: a base of a grid must be {meta.BASE_RULE}.")
    memory_type, rates_type = returned_type(kind, "first_memory"), returned_type(kind, "rates")
    own = kind.compiled_loops.kernels
    kernels = {
        "UPDATE": own.update,
        "RATES": rates_type,
        "ROW": meta.row_kernel(len(memory_type._fields)),
        "RATES_ROW": meta.row_kernel(len(rates_type._fields)),
    }
    return BankParts(memory_type, ("bases",), _advance_each, kernels, own.hint, (rates_type, *own.kinds))


def _advance(memory: AnyMemory, rates: AnyRates, losses: Vector) -> None:
    """Play a round of a bank with a kernel of its own; memory and rates are those of the grid."""
    bank = rates.banks[NUMBER]
    weights = memory.base_weights[bank.first : bank.last]
    UPDATE(KIND(*memory[FIRST:WEIGHTS], weights, *memory[WEIGHTS:LAST]), bank.rates, losses)


def _advance_each(memory: AnyMemory, rates: AnyRates, losses: Vector) -> None:
    """Play a round of each learner of a bank."""
    bank = rates.banks[NUMBER]
    weights = memory.base_weights[bank.first : bank.last]
    stack = KIND(*memory[FIRST:WEIGHTS], weights, *memory[WEIGHTS:LAST])
    for i in range(weights.shape[0]):
        UPDATE(KIND(*ROW(stack, i)), RATES(*RATES_ROW(bank.rates, i)), losses)


GRID_FIELDS: dict[str, Field | None] = {
    "weights": distribution("actions"),  # of the next round
    "base_weights": distribution("bases", "actions"),  # of the next round
    "base_losses": scratch("bases"),  # in the round, and then those of the next weights if the losses repeat
    "rule_weights": distribution("bases"),  # of the bases in the next round
}


class BankRates(NamedTuple):
    """The parameters of a bank, and its rows in the weights of all bases."""

    first: int
    last: int
    rates: AnyRates


class GridRates(NamedTuple):
    """The parameters of the rule and of the banks."""

    rule: AnyRates
    banks: tuple[BankRates, ...]


@kernel
def mix(shares: Vector, base_weights: Matrix, weights: Vector) -> None:
    """Write the bases' weights mixed by their shares, normalised against rounding."""
    weights[:] = 0.0
    for b in range(shares.size):
        for k in range(weights.size):
            weights[k] += shares[b] * base_weights[b, k]
    mass = 0.0
    for k in range(weights.size):
        mass += weights[k]
    for k in range(weights.size):
        weights[k] /= mass


@generic_kernel
def _write_base_losses(memory: AnyMemory, rates: AnyRates, losses: Vector) -> None:  # noqa: ARG001
    for b in range(memory.base_losses.size):
        memory.base_losses[b] = min(1.0, dot(memory.base_weights[b], losses))  # weights may sum to a little over 1


@generic_kernel
def _take_no_hint(rule: AnyMemory, rates: AnyRates, guess: Vector) -> None:
    """Replace the hint of a rule that takes none."""


@generic_kernel
def _finish_nothing(memory: AnyMemory, rates: AnyRates) -> None:
    """Replace the kernel that ends a round."""


def _bind_kernels(
    member: type[GridLearner], name: str, rule: type[ExpertLearner], write: Kernel, finish: Kernel
) -> None:
    """Make the NamedTuple of the memory and the loops of a grid with its kinds of banks and this class of rule."""
    hinted = issubclass(member, HintedLearner)
    fields, advances, guesses, kinds = dict(GRID_FIELDS), [], [], [GridRates, BankRates]
    for i, kind in enumerate(member.bank_kinds):
        bank = bank_parts(kind)
        kernels = {**bank.kernels, **meta.place(bank.memory_type, len(fields)), "NUMBER": i}
        advances.append(clone(bank.template, f"{name}-bank{i}", **kernels))
        if hinted:
            if bank.hint is None:
                raise InvalidInput(f"{name}: the bases of a grid that takes hints must take them, {kind.__name__} not.")
            guesses.append(clone(bank.template, f"{name}-hint{i}", **{**kernels, "UPDATE": bank.hint}))
        fields |= meta.inner_fields(bank.memory_type, f"bank{i}", *bank.axes)
        kinds += [bank.memory_type, *bank.kinds]
    if not meta.can_be_base(rule):
        raise InvalidInput(f"{name}: `rule` must be {meta.BASE_RULE}, got {rule.__name__}.")
    own, rule_type = rule.compiled_loops.kernels, returned_type(rule, "first_memory")
    parts = {
        "WRITE": write,
        "HINT": own.hint or _take_no_hint,
        "TAKES_HINTS": own.hint is not None,
        **meta.place(rule_type, len(fields)),
    }
    all_banks = _all_of(name, advances)
    update = clone(_update, name, inline=True, UPDATE=own.update, BANKS=all_banks, FINISH=finish, **parts)
    hint = clone(_hint, name, inline=True, BANKS=_all_of(name, guesses), **parts) if hinted else None
    fields |= meta.inner_fields(rule_type, "rule")
    member.Memory = memory_type("Memory", member.__module__, f"{member.__qualname__}.Memory", fields)
    member.compiled_loops = expert_loops(name, (member.Memory, *kinds, rule_type, *own.kinds), update, hint)


def _all_of(name: str, kernels: Sequence[Kernel]) -> Kernel:
    """Return the kernel that calls some kernels in turn."""
    return reduce(lambda rest, head: clone(_advance_both, name, BANKS=head, REST=rest), reversed(kernels))


def _update(memory: AnyMemory, rates: GridRates, losses: Vector) -> None:
    """Play a round of the rule and of the banks, and mix the next weights."""
    WRITE(memory, rates, losses)
    rule = KIND(*memory[FIRST:WEIGHTS], memory.rule_weights, *memory[WEIGHTS:LAST])
    UPDATE(rule, rates.rule, memory.base_losses)
    BANKS(memory, rates, losses)
    FINISH(memory, rates)
    if TAKES_HINTS:
        WRITE(memory, rates, losses)
        HINT(rule, rates.rule, memory.base_losses)
    mix(memory.rule_weights, memory.base_weights, memory.weights)


def _hint(memory: AnyMemory, rates: GridRates, guess: Vector) -> None:
    """Compute the weights of the bases, of the rule and of the grid with a guess of the next losses."""
    BANKS(memory, rates, guess)
    if TAKES_HINTS:
        rule = KIND(*memory[FIRST:WEIGHTS], memory.rule_weights, *memory[WEIGHTS:LAST])
        WRITE(memory, rates, guess)
        HINT(rule, rates.rule, memory.base_losses)
    mix(memory.rule_weights, memory.base_weights, memory.weights)


def _advance_both(memory: AnyMemory, rates: GridRates, losses: Vector) -> None:
    BANKS(memory, rates, losses)
    REST(memory, rates, losses)


_ANY = 2  # a number of actions; the classes of the parts do not depend on it


class GridLearner(meta.MetaLearner[AnyMemory, GridRates]):
    """A set of bases and a rule that weighs them."""

    Memory: ClassVar[type[AnyMemory]]  # the NamedTuple that `grid` makes
    bank_kinds: ClassVar[tuple[type, ...]]

    @abstractmethod
    def banks(self, n_actions: int) -> Sequence[Bank]:
        """Return the banks, of the kinds that were given to `grid`."""

    @abstractmethod
    def rule(self, n_actions: int) -> ExpertLearner:
        """Return the learner that weighs the bases, of the class that was given to `grid`."""

    def set_prior(self, memory: AnyMemory, n_actions: int) -> None:
        """Write a prior over the bases into the rule's memory; by default it stays uniform."""

    def base_shares(self, state: State) -> dict[str, float]:
        """Return the weight of each base in the next round, by the base and its parameters; equal ones are added."""
        self._claim(state)
        shares: dict[str, float] = {}
        labels = [label for bank in self._banks(state.n_actions) for label in bank.labels()]
        for label, share in zip(labels, state.memory.rule_weights.tolist(), strict=True):
            shares[label] = shares.get(label, 0.0) + share
        return shares

    def inner_members(self) -> list[Registered]:
        """Return the learners of the registry that it is made of: its rule, and one base of each bank."""
        parts = [self.rule(_ANY), *(bank.bases[0] for bank in self._banks(_ANY) if isinstance(bank, LearnerBank))]
        return [part for part in parts if "kind" in vars(type(part))]

    @property
    def memory_type(self) -> type[AnyMemory]:
        """The NamedTuple that `grid` made."""
        return self.Memory

    def first_memory(self, n_actions: int, generator: Words) -> AnyMemory:
        """Return the first memories of all banks and of the rule, and the mixed weights."""
        banks = [bank.first_memory(n_actions, generator) for bank in self._banks(n_actions)]
        base_weights = np.concatenate([bank.weights for bank in banks])
        rule = self.rule(n_actions).first_memory(len(base_weights), generator)
        self.set_prior(rule, n_actions)
        weights = np.empty(n_actions)
        mix(rule.weights, base_weights, weights)
        parts = [part._asdict() for part in (*banks, rule)]
        inner = [array for part in parts for field, array in part.items() if field != "weights"]
        return self.Memory(weights, base_weights, np.zeros(len(base_weights)), rule.weights, *inner)

    def rates(self, n_actions: int) -> GridRates:
        """Return the parameters of the rule and of the banks."""
        banks = self._banks(n_actions)
        borders = [*accumulate((bank.n_bases for bank in banks), initial=0)]
        rows = zip(banks, pairwise(borders), strict=True)
        return GridRates(
            rule=self.rule(n_actions).rates(borders[-1]),
            banks=tuple(BankRates(*border, bank.rates(n_actions)) for bank, border in rows),
        )

    def memory_limits(self, n_actions: int, rounds: int) -> dict[str, float]:
        """Return the sizes of the arrays of each bank and of the rule."""
        banks = self._banks(n_actions)
        n_bases = sum(bank.n_bases for bank in banks)
        limits = {"bases": n_bases, **meta.inner_limits("rule", self.rule(n_actions).all_limits(n_bases, rounds))}
        for i, bank in enumerate(banks):
            limits |= meta.inner_limits(f"bank{i}", bank.all_limits(n_actions, rounds))
        return limits

    def memory_contradiction(self, memory: AnyMemory, rounds: int) -> str:
        """Check the memory of every bank and of the rule."""
        n_actions, first = memory.weights.size, 0
        for i, bank in enumerate(self._banks(n_actions)):
            weights = memory.base_weights[first : first + bank.n_bases]
            own = meta.inner_memory(memory, bank.memory_type, f"bank{i}", weights)
            if fault := bank.memory_fault(own, n_actions, rounds):
                return f"`bank{i}`: {fault}"
            first += bank.n_bases
        rule = self.rule(n_actions)
        own = meta.inner_memory(memory, rule.memory_type, "rule", memory.rule_weights)
        fault = rule.memory_fault(own, first, rounds)
        return f"`rule`: {fault}" if fault else ""

    def _banks(self, n_actions: int) -> Sequence[Bank]:
        banks = self.banks(n_actions)
        if (kinds := tuple(bank.kind for bank in banks)) != self.bank_kinds:
            wanted, got = ([kind.__name__ for kind in group] for group in (self.bank_kinds, kinds))
            raise InvalidInput(f"{type(self).__name__}: `banks` must return banks of {wanted}, got {got}.")
        return banks


G = TypeVar("G", bound=type[GridLearner])


def grid(
    name: str,
    *,
    rule: type[ExpertLearner],
    banks: Sequence[type],
    write: Kernel = _write_base_losses,
    finish: Kernel = _finish_nothing,
) -> Callable[[G], G]:
    """Register a grid under `name` and bind the kernels of its parts.

    `rule` is the class of the learner that weighs the bases. `banks` are the kinds of banks: a class of learners for a
    `LearnerBank` of them, or a subclass of `Bank`. `write` is the kernel that writes the losses of the bases for the
    rule, from the memory and the rates of the grid and the losses of the round; `finish` gets memory and rates after
    rule and banks have learned a round. A class that is also a `HintedLearner` passes its hints to all banks.
    """

    def enter(member: G) -> G:
        member.bank_kinds = tuple(banks)
        _bind_kernels(member, name, rule, write, finish)
        return registered(name, member)

    return enter
