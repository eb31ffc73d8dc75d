"""The loops over rounds, as templates; `clone` binds a learner's own kernels to the names in capitals.

Each template is plain Python until it is cloned. A full-feedback memory has the weights of the next round in `weights`;
a bandit kernel gets only the loss of the chosen action. A kernel that updates returns nothing: where one returns
something, the block ends, and the loop returns `False`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any, NamedTuple

from driftwise.core.kernel import clone, unbound
from driftwise.core.types import Actions, Matrix

__all__ = ["BanditLoops", "ExpertLoops", "Kernels", "bandit_loops", "expert_loops"]

Kernel = Callable[..., Any]
UPDATE: Kernel = unbound
CHOOSE: Kernel = unbound
HINT: Kernel = unbound


class Kernels(NamedTuple):
    """The kernels of a learner, from which its loops are made."""

    name: str
    kinds: tuple[type, ...]
    update: Kernel
    choose: Kernel | None = None
    hint: Kernel | None = None


class ExpertLoops(NamedTuple):
    """The compiled entry points of a full-feedback learner."""

    run: Kernel
    run_hinted: Kernel | None
    kernels: Kernels


class BanditLoops(NamedTuple):
    """The compiled entry points of a bandit learner."""

    run: Kernel
    kernels: Kernels


def expert_loops(name: str, kinds: Iterable[type], update: Kernel, hint: Kernel | None = None) -> ExpertLoops:
    """Bind a full-feedback learner's kernels to the templates."""
    return ExpertLoops(
        run=clone(_run_expert, name, kinds, UPDATE=update),
        run_hinted=clone(_run_hinted, name, kinds, UPDATE=update, HINT=hint) if hint else None,
        kernels=Kernels(name, tuple(kinds), update, hint=hint),
    )


def bandit_loops(name: str, kinds: Iterable[type], choose: Kernel, update: Kernel) -> BanditLoops:
    """Bind a bandit learner's kernels to the templates."""
    run = clone(_run_bandit, name, kinds, CHOOSE=choose, UPDATE=update)
    return BanditLoops(run, Kernels(name, tuple(kinds), update, choose))


def _run_expert(memory: Any, rates: Any, losses: Matrix, played: Matrix) -> bool:
    weights = memory.weights
    for t in range(losses.shape[0]):
        for k in range(losses.shape[1]):
            played[t, k] = weights[k]
        if UPDATE(memory, rates, losses[t]) is not None:
            return False
    return True


def _run_hinted(memory: Any, rates: Any, losses: Matrix, hints: Matrix, played: Matrix) -> bool:
    weights = memory.weights
    for t in range(losses.shape[0]):
        HINT(memory, rates, hints[t])
        for k in range(losses.shape[1]):
            played[t, k] = weights[k]
        if UPDATE(memory, rates, losses[t]) is not None:
            return False
    return True


def _run_bandit(memory: Any, rates: Any, losses: Matrix, actions: Actions) -> bool:
    for t in range(losses.shape[0]):
        action, probability = CHOOSE(memory, rates)
        actions[t] = action
        if UPDATE(memory, rates, action, losses[t, action], probability) is not None:
            return False
    return True
