"""Checks of all learners, with full or bandit feedback, and of learners in plain Python."""

from __future__ import annotations

import dataclasses
import functools
import math
import random
import sys
import tempfile
from collections.abc import Iterator
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np

from driftwise.checks.check import (
    BAD_NUMBERS,
    AnyLearner,
    Check,
    check,
    expect,
    expect_equal,
    expect_no_shared_memory,
    expect_rejected,
    expect_same,
    mixed_losses,
    stepped,
)
from driftwise.core.kernel import compiled
from driftwise.core.types import Matrix
from driftwise.engine import Session
from driftwise.learners import BanditLearner, Beliefs, ExpertLearner, PythonLearner, State

__all__ = ["CHECKS", "COMPILED_CHECKS", "PYTHON_CHECKS"]

CHECKS: list[Check] = []
COMPILED_CHECKS: list[Check] = []  # of learners with kernels
_ROUNDS = 120
_MOST_ALARMS = 64
_CLOSE = 1e-9  # of sums of weights, and relative to the rounds
PYTHON_CHECKS: list[Check] = []  # of learners that can keep a state outside of their memory


@check(CHECKS)
def beliefs_do_not_change_the_state(learner: AnyLearner) -> None:
    """`beliefs` only reads the state, its memory stays the same object, and equal states have equal beliefs."""
    for state in _states(learner):
        before, memory = state.copy(), state.memory
        found = learner.beliefs(state)
        expect_same(state, before, "before and after `beliefs`")
        expect(state.memory is memory, "`beliefs` gave the state a new memory")
        expect(found == learner.beliefs(before), f"equal states have the beliefs {found} and {learner.beliefs(before)}")


@check(CHECKS)
def beliefs_are_possible(learner: AnyLearner) -> None:
    """Effective memories are at most the rounds, weights of bases sum to 1, and alarms are rounds of the past."""
    for state in _states(learner):
        found: Any = learner.beliefs(state)
        expect(isinstance(found, Beliefs), f"`beliefs` returned {found!r}")
        expect(found.rounds == state.rounds, f"after {state.rounds} rounds, the beliefs are of {found.rounds}")
        _expect_memories(found, state.n_actions)
        weights = list(found.bases.values())
        _expect_numbers("the weight of a base", weights, 1.0 + _CLOSE)
        expect(not weights or abs(sum(weights) - 1.0) <= _CLOSE, f"the weights of the bases sum to {sum(weights)}")
        expect(all(isinstance(label, str) for label in found.bases), f"bases have the labels {list(found.bases)}")
        most = {"segments": state.rounds + 1.0, "drift": math.inf, "variance": math.inf}
        for name, high in most.items():
            value = getattr(found, name)
            _expect_numbers(f"`{name}`", [] if value is None else [value], high)
        _expect_alarms(found)


def _states(learner: AnyLearner) -> Iterator[State]:
    """Yield states after different numbers of rounds, with several actions and with one."""
    for n_actions in (1, 2, 5):
        state = learner.start(n_actions, seed=1)
        yield state
        sudden = np.repeat([[0.0], [1.0], [0.0]], 40, axis=0) * np.ones(n_actions)
        for block in (mixed_losses(1, n_actions), mixed_losses(70, n_actions), sudden):
            learner.run(state, block)
            yield state


def _expect_memories(found: Beliefs, n_actions: int) -> None:
    _expect_numbers("an effective memory", list(found.memories), found.rounds * (1.0 + _CLOSE))
    n = len(found.memories)
    expect(not isinstance(found.memory, tuple) or n == n_actions, f"{n_actions} actions have {n} effective memories")


def _expect_numbers(what: str, values: list[float], high: float) -> None:
    for value in values:
        fine = isinstance(value, (int, float)) and math.isfinite(value) and 0.0 <= value <= high
        expect(fine, f"{what} is {value!r}")


def _expect_alarms(found: Beliefs) -> None:
    if found.alarms is None or found.n_alarms is None:
        expect(
            found.alarms is None and found.n_alarms is None, f"only one of `alarms` and `n_alarms` is given: {found}"
        )
        return
    shown = f"alarms in rounds {found.alarms}, {found.n_alarms} in all, after {found.rounds} rounds"
    expect(all(type(t) is int and 0 <= t < found.rounds for t in found.alarms), shown)
    expect(all(one < other for one, other in pairwise(found.alarms)), shown)
    expect(len(found.alarms) == min(found.n_alarms, _MOST_ALARMS), shown)


@check(CHECKS)
def run_equals_stepping(learner: AnyLearner) -> None:
    """One call with a block of rounds and one call per round give equal results, bit for bit."""
    for n_actions in (2, 5):
        losses = mixed_losses(_ROUNDS, n_actions)
        one, other = learner.start(n_actions, seed=1), learner.start(n_actions, seed=1)
        expect_equal("the output of a run and of stepping", learner.run(one, losses), stepped(learner, other, losses))
        expect_same(one, other, "after a run and after stepping")


@check(CHECKS)
def split_run_equals_whole_run(learner: AnyLearner) -> None:
    """Two consecutive blocks and one block with the same rounds give equal results, bit for bit."""
    losses = mixed_losses(_ROUNDS, 3)
    whole = learner.start(3, seed=1)
    expected = learner.run(whole, losses)
    for cut in (0, 1, 47, _ROUNDS):
        halves = learner.start(3, seed=1)
        played = np.concatenate([learner.run(halves, losses[:cut]), learner.run(halves, losses[cut:])])
        expect_equal(f"the output with a cut at round {cut}", played, expected)
        expect_same(halves, whole, f"after a run with a cut at round {cut} and after a whole run")


@check(CHECKS)
def equal_seeds_give_equal_runs(learner: AnyLearner) -> None:
    """A run depends only on the parameters, the losses and the seed."""
    losses = mixed_losses(_ROUNDS, 3)
    copy = dataclasses.replace(learner)  # type: ignore[type-var]
    one, other = learner.start(3, seed=7), copy.start(3, seed=7)
    expect_same(one, other, "before two runs from one seed")
    expect_equal("the output of two runs from one seed", learner.run(one, losses), copy.run(other, losses))
    expect_same(one, other, "after two runs from one seed")


@check(CHECKS)
def runs_do_not_affect_each_other(learner: AnyLearner) -> None:
    """A run does not change if the same learner plays another run at the same time."""
    blocks = np.array_split(mixed_losses(_ROUNDS, 3), 6)
    alone, one, other = (learner.start(3, seed=seed) for seed in (1, 1, 2))
    for block in blocks:
        expect_equal("the output beside another run", learner.run(one, block), learner.run(alone, block))
        learner.run(other, 1.0 - block)
    expect_no_shared_memory(one, other)


@check(CHECKS)
def inputs_are_not_modified_or_kept(learner: AnyLearner) -> None:
    """Losses are neither modified nor kept, and all array layouts of the same losses give equal results."""
    losses = mixed_losses(40, 4)
    expected = learner.run(learner.start(4, seed=1), losses)
    by_stepping = stepped(learner, learner.start(4, seed=1), losses)
    for layout, given in _layouts(losses):
        played = learner.run(learner.start(4, seed=1), given)
        expect_equal(f"the output on {layout} losses", played, expected)
        played = stepped(learner, learner.start(4, seed=1), given)
        expect_equal(f"the output by stepping on {layout} losses", played, by_stepping)
    expect_equal("the output on a list", learner.run(learner.start(4, seed=1), losses.tolist()), expected)
    given, state = losses.copy(), learner.start(4, seed=1)
    learner.run(state, given)
    expect_equal("the caller's array of losses", given, losses)
    before = state.copy()
    given[:] = 0.5
    expect_same(state, before, "when the caller writes into losses already played")


def _layouts(losses: Matrix) -> Iterator[tuple[str, Matrix]]:
    yield "read-only", losses
    yield "writable", losses.copy()
    yield "column-major", np.asfortranarray(losses)
    yield "strided", np.repeat(losses, 2, axis=1)[:, ::2]
    yield "reversed", losses[::-1].copy()[::-1]
    yield "byte-swapped", losses.astype(losses.dtype.newbyteorder())


@check(CHECKS)
def resumed_run_equals_uninterrupted_run(learner: AnyLearner) -> None:
    """A copied state, and a session that was saved and loaded, continue like the original."""
    losses = mixed_losses(_ROUNDS, 3)
    session = Session(learner, 3, seed=1)
    learner.run(session.state, losses[:70])
    snapshot = session.state.copy()
    expect_no_shared_memory(session.state, snapshot)
    with tempfile.TemporaryDirectory() as folder:
        session.save(Path(folder) / "session")
        loaded = Session.load(Path(folder) / "session")
    expect_same(loaded.state, snapshot, "after loading and in a copy")
    expected = learner.run(session.state, losses[70:])
    for what, state in (("a copy", snapshot), ("a loaded session", loaded.state)):
        expect_equal(f"the output of the original and of {what}", learner.run(state, losses[70:]), expected)
        expect_same(state, session.state, f"after {what} and the original were continued")


@check(CHECKS)
def memories_satisfy_their_declarations(learner: AnyLearner) -> None:
    """After any number of rounds, the memory satisfies the declarations of its fields."""
    for n_actions, seed in ((2, 1), (5, 2)):
        state = learner.start(n_actions, seed=seed)
        kinds = (mixed_losses(70, n_actions, seed), *(np.full((70, n_actions), loss) for loss in (0.0, 1.0)))
        for block in (part for losses in kinds for part in np.split(losses, [1, 2, 7, 32])):
            learner.run(state, block)
            fault = learner.memory_fault(state.memory, n_actions, state.rounds)
            expect(not fault, f"after {state.rounds} rounds with {n_actions} actions, {fault}")


@check(CHECKS)
def a_rejected_run_changes_nothing(learner: AnyLearner) -> None:
    """A block with one invalid loss, even in its last round, is rejected as a whole."""
    state = learner.start(3, seed=1)
    learner.run(state, mixed_losses(20, 3))
    for bad in BAD_NUMBERS:
        block = mixed_losses(10, 3).copy()
        block[-1, -1] = bad
        expect_rejected(f"a block with the loss {bad}", state, learner.run, block)
    good = mixed_losses(4, 3)
    shapes: dict[str, Any] = {
        "a block with too few actions": good[:, :2],
        "one round instead of a block": good[0],
        "rows of unequal length": [[0.5, 0.5, 0.5], [0.5]],
        "words": [["a", "b", "c"]],
        "complex numbers": good + 0j,
        "nothing": None,
    }
    for what, block in shapes.items():
        expect_rejected(what, state, learner.run, block)


@check(CHECKS)
def single_action_and_single_round_work(learner: AnyLearner) -> None:
    """One action, one round and a block of no rounds are valid."""
    for n_actions, n_rounds in ((1, 30), (1, 1), (1, 0), (3, 1), (3, 0)):
        state = learner.start(n_actions, seed=1)
        played = learner.run(state, mixed_losses(n_rounds, n_actions))
        setting = f"with {n_actions} actions and {n_rounds} rounds"
        expect(len(played) == state.rounds == n_rounds, f"{setting}, `rounds` is {state.rounds}, the output {played}")
        if n_actions == 1:
            only = 1.0 if learner.feedback == "full" else 0
            expect(bool((played == only).all()), f"{setting}, the output is {played}")
        fault = learner.memory_fault(state.memory, n_actions, n_rounds)
        expect(not fault, f"{setting}, {fault}")


# Last, because it also counts the compilations of the checks above.
@check(COMPILED_CHECKS)
def one_compiled_signature_per_kernel(learner: ExpertLearner | BanditLearner) -> None:
    """No array layout or type of the input compiles a loop a second time."""
    losses = mixed_losses(6, 3)
    state = learner.start(3)
    for _, given in _layouts(losses):
        stepped(learner, state, given)
        learner.run(learner.start(3), given)
    learner.run(learner.start(3), np.ones((2, 3), np.int8))
    entries = {} if state.live is None else state.live._asdict()
    for name, loop in {**learner.entry_points(), **entries}.items():
        if loop is not None:
            expect(compiled(loop) <= 1, f"the loop `{name}` was compiled {compiled(loop)} times")


@check(PYTHON_CHECKS)
def the_learner_has_no_state_of_its_own(learner: PythonLearner) -> None:
    """Playing changes no attribute of the learner or of its classes: all that changes is in the memory."""
    kinds = [kind for kind in type(learner).__mro__ if kind not in PythonLearner.__mro__]
    parts = [("the learner", learner), *((f"the class {kind.__name__}", kind) for kind in kinds)]
    before = [_attributes(part) for _, part in parts]
    learner.run(learner.start(3, seed=1), mixed_losses(60, 3))
    for (what, part), known in zip(parts, before, strict=True):
        changed = [name for name, text in _attributes(part).items() if known.get(name) != text]
        expect(not changed, f"playing changes `{', '.join(changed)}` of {what}; keep it in the memory")


@check(PYTHON_CHECKS)
def global_random_numbers_are_not_used(learner: PythonLearner) -> None:
    """Playing draws from neither `numpy.random` nor `random`: all draws come from `memory.generator`."""
    before = repr(np.random.get_state()), random.getstate()  # noqa: NPY002
    learner.run(learner.start(3, seed=1), mixed_losses(60, 3))
    expect(repr(np.random.get_state()) == before[0], "it draws from `numpy.random`; use `memory.generator`")  # noqa: NPY002
    expect(random.getstate() == before[1], "it draws from `random`; use `memory.generator`")


def _attributes(part: Any) -> dict[str, str]:
    """Return the attributes as texts with all digits, without methods and what Python itself keeps."""
    found = {}
    with np.printoptions(threshold=sys.maxsize, precision=17):
        for name, value in vars(part).items():
            cached = isinstance(getattr(type(part), name, None), functools.cached_property)
            if not (name.startswith("__") or callable(value) or cached):
                found[name] = repr(value)
    return found
