r"""Learners on a grid: a fixed set of base learners, and a learner, the rule, that weighs them.

Base $b$ plays $x_t^b$ and does not depend on the others. The rule is a learner whose actions are the bases. Its weights
$q_t$ mix those of the bases, and its losses are theirs. A rule that takes hints gets the loss of each base if the
losses repeat:

$$ x_t = \sum_b q_{t,b}\, x_t^b, \qquad \ell_{t,b} = \langle \ell_t, x_t^b \rangle, \qquad
   h_{t+1,b} = \langle \ell_t, x_{t+1}^b \rangle . $$

The regret is that of the rule against a base plus that of this base.

A round is one kernel. The bases come in banks (`driftwise.learners.parts.banks`). The memory is flat: the weights of
all bases in one matrix, the other arrays of each bank, and those of the rule. `grid` makes the NamedTuple of this
memory, and a kernel that puts the memories of banks and rule together from it.
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Callable, Sequence
from functools import reduce
from itertools import accumulate, pairwise
from typing import Annotated, Any, ClassVar, NamedTuple, TypeVar

import numpy as np

from driftwise.core.errors import InvalidInput
from driftwise.core.kernel import clone, generic_kernel, kernel, unbound
from driftwise.core.memory_fields import Field, distribution, fields_of, packed, scratch
from driftwise.core.types import Matrix, Vector, Words
from driftwise.learners.contract import ExpertLearner, State, learners
from driftwise.learners.contract.loops import expert_loops
from driftwise.learners.contract.memory_checks import returned_type
from driftwise.learners.parts.banks import Bank, bank_parts
from driftwise.learners.parts.exponential_weights import dot
from driftwise.learners.parts.meta_learner import MetaLearner

__all__ = ["GridLearner", "grid"]

Kernel = Callable[..., Any]
UPDATE: Kernel = unbound
HINT: Kernel = unbound
BANKS: Kernel = unbound
REST: Kernel = unbound
KIND: Kernel = unbound
TAKES_HINTS = False
PLACE = FIRST = WEIGHTS = LAST = 0
_OWN: dict[str, Field] = {
    "weights": distribution("actions"),  # of the next round
    "base_weights": distribution("bases", "actions"),  # of the next round
    "base_losses": scratch("bases"),  # in the round, and then those of the next weights if the losses repeat
}


@generic_kernel
def _take_no_hint(rule: Any, rates: Any, guess: Vector) -> None:
    """Stand in for the hint of a rule that takes none."""


@kernel
def _mix(shares: Vector, base_weights: Matrix, weights: Vector) -> None:
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


class BankRates(NamedTuple):
    """The parameters of a bank, and its rows in the weights of all bases."""

    first: int
    last: int
    rates: Any


class GridRates(NamedTuple):
    """The parameters of the rule and of the banks."""

    rule: Any
    banks: tuple[BankRates, ...]


class GridLearner(MetaLearner[Any, GridRates]):
    """A set of bases and a rule that weighs them."""

    Memory: ClassVar[Any]  # the NamedTuple that `grid` makes
    bank_kinds: ClassVar[tuple[type, ...]]

    @abstractmethod
    def banks(self, n_actions: int) -> Sequence[Bank]:
        """Return the banks, of the kinds that were given to `grid`."""

    @abstractmethod
    def rule(self, n_actions: int) -> ExpertLearner:
        """Return the learner that weighs the bases, of the class that was given to `grid`."""

    def set_prior(self, memory: Any, n_actions: int) -> None:
        """Write a prior over the bases into the rule's memory; by default it stays uniform."""

    def base_shares(self, state: State) -> dict[str, float]:
        """Return the weight of each base in the next round, by the base and its parameters; equal ones are added."""
        self._claim(state)
        shares: dict[str, float] = {}
        labels = [label for bank in self._banks(state.n_actions) for label in bank.labels()]
        for label, share in zip(labels, state.memory.rule_weights.tolist(), strict=True):
            shares[label] = shares.get(label, 0.0) + share
        return shares

    @property
    def memory_type(self) -> Any:
        """The NamedTuple that `grid` made."""
        return self.Memory

    def first_memory(self, n_actions: int, generator: Words) -> Any:
        """Return the first memories of all banks and of the rule, and the mixed weights."""
        starts = [bank.first_memory(n_actions, generator)._asdict() for bank in self._banks(n_actions)]
        base_weights = np.concatenate([start.pop("weights") for start in starts])
        rule = self.rule(n_actions).first_memory(len(base_weights), generator)
        self.set_prior(rule, n_actions)
        weights = np.empty(n_actions)
        _mix(rule.weights, base_weights, weights)
        inner = [array for start in starts for array in start.values()]
        return self.Memory(weights, base_weights, np.zeros(len(base_weights)), *inner, *rule)

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
        parts = {f"bank{i}": bank.all_limits(n_actions, rounds) for i, bank in enumerate(banks)}
        parts["rule"] = self.rule(n_actions).all_limits(n_bases, rounds)
        inner = {f"{part}.{word}": size for part, limits in parts.items() for word, size in limits.items()}
        return {"bases": n_bases, **inner}

    def memory_contradiction(self, memory: Any, rounds: int) -> str:
        """Check the memory of every bank and of the rule."""
        n_actions, first = memory.weights.size, 0
        for i, bank in enumerate(self._banks(n_actions)):
            weights = memory.base_weights[first : first + bank.n_bases]
            if fault := bank.memory_fault(_part(memory, bank.memory_type, f"bank{i}", weights), n_actions, rounds):
                return f"bank {i}: {fault}"
            first += bank.n_bases
        rule = self.rule(n_actions)
        fault = rule.memory_fault(_part(memory, rule.memory_type, "rule", memory.rule_weights), first, rounds)
        return f"rule: {fault}" if fault else ""

    def _banks(self, n_actions: int) -> Sequence[Bank]:
        banks = self.banks(n_actions)
        if (kinds := tuple(bank.kind for bank in banks)) != self.bank_kinds:
            wanted, got = ([kind.__name__ for kind in each] for each in (self.bank_kinds, kinds))
            raise InvalidInput(f"{type(self).__name__}: `banks` must return banks of {wanted}, got {got}.")
        return banks


def _part(memory: Any, kind: Any, name: str, weights: Matrix) -> Any:
    """Return the memory of a bank or of the rule; its arrays are views."""
    return kind(*(weights if field == "weights" else getattr(memory, f"{name}_{field}") for field in kind._fields))


G = TypeVar("G", bound=type[GridLearner])


def grid(name: str, *, rule: type[ExpertLearner], banks: Sequence[type]) -> Callable[[G], G]:
    """Register a grid under `name`.

    `rule` is the class that weighs the bases. `banks` are the kinds of the banks: a class of learners for a
    `LearnerBank` of them, or a subclass of `Bank`.
    """

    def enter(member: G) -> G:
        parts = [bank_parts(kind) for kind in banks]
        fields, advances = dict(_OWN), []
        for i, part in enumerate(parts):
            first, inner = len(fields), {field: of for field, of in part.fields.items() if field != "weights"}
            fields |= _prefixed(f"bank{i}", inner)
            place: dict[str, Any] = {"PLACE": i, "FIRST": first, "LAST": len(fields)}
            place["WEIGHTS"] = first + [*part.fields].index("weights")
            advances.append(clone(_advance, f"{name}-bank{i}", UPDATE=part.update, KIND=part.memory_type, **place))
        rule_type, kernels, first = returned_type(rule, "first_memory"), rule.compiled_loops.kernels, len(fields)
        fields |= _prefixed("rule", fields_of(rule_type))
        update = clone(
            _update,
            name,
            KIND=rule_type,
            FIRST=first,
            LAST=len(fields),
            UPDATE=kernels.update,
            BANKS=reduce(lambda rest, one: clone(_advance_both, name, BANKS=one, REST=rest), reversed(advances)),
            HINT=kernels.hint or _take_no_hint,
            TAKES_HINTS=kernels.hint is not None,
        )
        member.name, member.bank_kinds, member.Memory = name, tuple(banks), _memory_type(member, fields)
        inner_kinds = [kind for part in parts for kind in (part.memory_type, *part.kinds)]
        kinds = (member.Memory, GridRates, BankRates, rule_type, *kernels.kinds, *inner_kinds)
        member.compiled_loops = expert_loops(name, kinds, update)
        learners.add(name, member)
        return member

    return enter


def _prefixed(name: str, fields: dict[str, Any]) -> dict[str, Field]:
    """Return the declarations of a bank's memory, or the rule's, under names of the grid's memory.

    Their values are checked by the bank and the rule.
    """
    return {f"{name}_{field}": packed(*(f"{name}.{word}" for word in of.shape)) for field, of in fields.items()}


def _memory_type(member: type, fields: dict[str, Field]) -> Any:
    """Return the NamedTuple of a grid's memory. It is an attribute of the class, where pickles and caches find it."""
    kind: Any = NamedTuple("Memory", [(name, Annotated[Any, field]) for name, field in fields.items()])  # type: ignore[misc]
    kind.__module__, kind.__qualname__ = member.__module__, f"{member.__qualname__}.Memory"
    kind.__doc__ = "State of the learner between rounds."
    return kind


def _update(memory: Any, rates: GridRates, losses: Vector) -> None:
    """Play a round of the rule, of the banks, and mix the next weights."""
    own = memory.base_losses
    for b in range(own.size):
        own[b] = min(1.0, dot(memory.base_weights[b], losses))  # weights may sum to a little over 1
    rule = KIND(*memory[FIRST:LAST])
    UPDATE(rule, rates.rule, own)
    BANKS(memory, rates, losses)
    if TAKES_HINTS:
        for b in range(own.size):
            own[b] = min(1.0, dot(memory.base_weights[b], losses))
        HINT(rule, rates.rule, own)
    _mix(rule.weights, memory.base_weights, memory.weights)


def _advance(memory: Any, rates: GridRates, losses: Vector) -> None:
    """Play a round of one bank."""
    own = rates.banks[PLACE]
    weights = memory.base_weights[own.first : own.last]
    UPDATE(KIND(*memory[FIRST:WEIGHTS], weights, *memory[WEIGHTS:LAST]), own.rates, losses)


def _advance_both(memory: Any, rates: GridRates, losses: Vector) -> None:
    BANKS(memory, rates, losses)
    REST(memory, rates, losses)
