r"""Learners on a grid: a fixed set of base learners, and a learner, the rule, that weighs them.

Base $b$ plays $x_t^b$ and does not depend on the others. The rule is a learner whose actions are the bases. Its weights
$q_t$ mix those of the bases, and its losses are theirs. A rule that takes hints gets the loss of each base if the
losses repeat:

$$ x_t = \sum_b q_{t,b}\, x_t^b, \qquad \ell_{t,b} = \langle \ell_t, x_t^b \rangle, \qquad
   h_{t+1,b} = \langle \ell_t, x_{t+1}^b \rangle . $$

The regret is that of the rule against a base plus that of this base.

A round is one kernel (`grid_kernels`). The bases come in banks; `banks` says how to write one. The memory is flat: the
weights of all bases in one matrix, the other arrays of each bank, and those of the rule.
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Callable, Sequence
from itertools import accumulate, pairwise
from typing import Any, ClassVar, TypeVar

import numpy as np

from driftwise.core.errors import InvalidInput
from driftwise.core.memory_fields import memory_type
from driftwise.core.types import Words
from driftwise.learners.contract import ExpertLearner, HintedLearner, State, learners
from driftwise.learners.contract.loops import expert_loops
from driftwise.learners.parts.banks import Bank, LearnerBank
from driftwise.learners.parts.grid_kernels import BankRates, GridRates, grid_parts, mix
from driftwise.learners.parts.meta_learner import MetaLearner
from driftwise.learners.parts.stacked_memory import inner_limits, inner_memory
from driftwise.registry import Registered

__all__ = ["GridLearner", "grid"]

_ANY = 2  # a number of actions; the classes of the parts do not depend on it


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

    def inner_members(self) -> list[Registered]:
        """Return the learners of the registry that it is made of: its rule, and one base of each bank."""
        parts = [self.rule(_ANY), *(bank.bases[0] for bank in self._banks(_ANY) if isinstance(bank, LearnerBank))]
        return [part for part in parts if "kind" in vars(type(part))]

    @property
    def memory_type(self) -> Any:
        """The NamedTuple that `grid` made."""
        return self.Memory

    def first_memory(self, n_actions: int, generator: Words) -> Any:
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
        limits = {"bases": n_bases, **inner_limits("rule", self.rule(n_actions).all_limits(n_bases, rounds))}
        for i, bank in enumerate(banks):
            limits |= inner_limits(f"bank{i}", bank.all_limits(n_actions, rounds))
        return limits

    def memory_contradiction(self, memory: Any, rounds: int) -> str:
        """Check the memory of every bank and of the rule."""
        n_actions, first = memory.weights.size, 0
        for i, bank in enumerate(self._banks(n_actions)):
            weights = memory.base_weights[first : first + bank.n_bases]
            own = inner_memory(memory, bank.memory_type, f"bank{i}", weights)
            if fault := bank.memory_fault(own, n_actions, rounds):
                return f"`bank{i}`: {fault}"
            first += bank.n_bases
        rule = self.rule(n_actions)
        own = inner_memory(memory, rule.memory_type, "rule", memory.rule_weights)
        fault = rule.memory_fault(own, first, rounds)
        return f"`rule`: {fault}" if fault else ""

    def _banks(self, n_actions: int) -> Sequence[Bank]:
        banks = self.banks(n_actions)
        if (kinds := tuple(bank.kind for bank in banks)) != self.bank_kinds:
            wanted, got = ([kind.__name__ for kind in each] for each in (self.bank_kinds, kinds))
            raise InvalidInput(f"{type(self).__name__}: `banks` must return banks of {wanted}, got {got}.")
        return banks


G = TypeVar("G", bound=type[GridLearner])


def grid(name: str, *, rule: type[ExpertLearner], banks: Sequence[type], above_least: bool = False) -> Callable[[G], G]:
    """Register a grid under `name` and bind the kernels of its parts.

    `rule` is the class of the learner that weighs the bases. `banks` are the kinds of banks: a class of learners for a
    `LearnerBank` of them, or a subclass of `Bank`. With `above_least`, the rule gets the losses of the bases above the
    least loss of the round: equal losses are then 0 for all bases, also if their weights are rounded differently. A
    class that is also a `HintedLearner` passes its hints to all banks.
    """

    def enter(member: G) -> G:
        parts = grid_parts(name, rule, banks, above_least, issubclass(member, HintedLearner))
        member.name, member.bank_kinds = name, tuple(banks)
        member.Memory = memory_type("Memory", member.__module__, f"{member.__qualname__}.Memory", parts.fields)
        member.compiled_loops = expert_loops(name, (member.Memory, *parts.kinds), parts.update, parts.hint)
        learners.add(name, member)
        return member

    return enter
