"""The checks that every learner must pass: what it declares, what it plays, and what it does with bad input."""

from __future__ import annotations

import dataclasses
import functools
import json
import math
import random
import re
import sys
import tempfile
from collections.abc import Callable, Collection, Iterator, Mapping
from itertools import pairwise, product
from pathlib import Path

import numpy as np

from driftwise.checks import environment_checks
from driftwise.checks.check import (
    AnyLearner,
    Check,
    check,
    expect,
    expect_equal,
    expect_same,
    mixed_losses,
    rejects,
    run_all,
    stepped,
)
from driftwise.core.docstrings import described, shown_default
from driftwise.core.errors import InvalidInput
from driftwise.core.kernel import compiled
from driftwise.core.measures import Measures, collected
from driftwise.core.memory_fields import fields_of
from driftwise.core.types import Matrix
from driftwise.engine import Session
from driftwise.environments import LossSource
from driftwise.learners import BanditLearner, Beliefs, ExpertLearner, Learner, PythonLearner, State, learners
from driftwise.learners.base import HintedLearner
from driftwise.registry import to_spec

# Those of all learners are of "every"; others are of a feedback, of learners with hints, of those in plain Python or of
# those with kernels. They run, and failures are listed, in the order of this file: plays, state, blocks and single
# rounds, bad input, saved sessions, compilations, what a learner says about itself.
_CHECKS: list[Check] = []
_BAD_NUMBERS = (math.nan, math.inf, -math.inf, 1.0 + 2**-52, 1.2, -0.1, -(2.0**-1074))  # two are next to 1 and 0
_ROUNDS = 120
_BLOCK = 10_000
_SLOW_ROUNDS = 50_000  # constant rounds of a learner in plain Python, in place of a million
_MOST_ALARMS = 64
_DRAWS, _FAR, _FEW = 200, 5.0, 3.0  # of a choice; as many standard deviations, and as many more, are not a coincidence
_LATE = 9  # rounds until an outcome arrives
_CLOSE = 1e-9  # a generous bound of the rounding errors of sums of weights and of permuted sums

# Extreme measures: one action and one round, no movement, no noise, a change in every round, many rounds.
_MEASURES = (
    Measures(n_actions=1, n_rounds=1, segments=1, drift=0.0, variance=0.0),
    Measures(n_actions=10, n_rounds=1000, segments=1, drift=0.0, variance=0.0),
    Measures(n_actions=10, n_rounds=1000, segments=1, drift=0.5, variance=2500.0, drift_within=0.0),
    Measures(n_actions=10, n_rounds=1000, segments=1000, drift=1000.0, variance=0.0),
    Measures(n_actions=2, n_rounds=10**9, segments=7, drift=3.0, variance=1e6),
)


def checks_of(member: Learner | LossSource) -> list[Check]:
    """Return all checks of a learner or an environment, including those that a learner skips."""
    if isinstance(member, LossSource):
        return list(environment_checks.CHECKS)
    kinds = {"every", member.feedback, "python" if isinstance(member, PythonLearner) else "compiled"}
    if isinstance(member, HintedLearner):
        kinds.add("hinted")
    return [test for test in _CHECKS if test.of in kinds]


def check_learner(learner: Learner | type[Learner]) -> None:
    """Run every check on a learner and raise one `CheckFailed` with all failures.

    A class stands for the learner with default parameters. What the learner does comes first in the message, what its
    docstring and its corners say comes last. A check that cannot run because another one failed is not a failure; the
    message says which ones these are.

    Checks named in `skipped_checks` of the learner are skipped. It takes about a second, most of it for a million
    constant rounds. A `PythonLearner` plays a twentieth of these rounds, in about as much time.

    >>> from driftwise import OptimisticGD
    >>> check_learner(OptimisticGD(learning_rate=0.1))
    """
    member = learner() if isinstance(learner, type) else learner
    if not isinstance(member, ExpertLearner | BanditLearner | PythonLearner):
        raise InvalidInput(f"check_learner: `learner` must be a learner or a class of learners, got {learner!r}.")
    slow = {"n_rounds": _SLOW_ROUNDS} if isinstance(member, PythonLearner) else {}
    tests = [test for test in checks_of(member) if test.name not in member.skipped_checks]
    long = {test.name: slow for test in tests if test.name.endswith("_survive_a_million_constant_rounds")}
    run_all(member, tests, long)


@check(_CHECKS, of="full")
def weights_are_a_distribution(learner: ExpertLearner) -> None:
    """Weights are finite, not negative and sum to 1 in every round, for losses of all kinds and for 0 and 1."""
    for n_actions in (2, 17):
        constant = (0.0,) * n_actions, (1.0,) * n_actions, (0.0,) + (1.0,) * (n_actions - 1)
        for losses in (mixed_losses(100, n_actions), *(_fixed_losses(row, 100) for row in constant)):
            state = learner.start(n_actions)
            _expect_distributions(learner.run(state, losses))
            _expect_distributions(learner.predict(state)[np.newaxis])


def _expect_distributions(weights: Matrix) -> None:
    """Expect every row to be a distribution."""
    good = (weights >= 0).all(axis=1) & (np.abs(weights.sum(axis=1) - 1.0) <= _CLOSE)  # NaN is neither
    t = int(good.argmin())
    expect(good[t], f"the weights {weights[t]} are not a distribution")


def _fixed_losses(losses: tuple[float, ...], n_rounds: int) -> Matrix:
    """Return the same losses in every round, read-only."""
    return np.broadcast_to(np.array(losses), (n_rounds, len(losses)))


@check(_CHECKS, of="bandit")
def choose_gives_an_action_and_its_probability(learner: BanditLearner) -> None:
    """The action is a whole number below `n_actions`; the probability is in (0, 1], or None."""
    state = learner.start(3, seed=1)
    for losses in mixed_losses(40, 3):
        action, probability = learner.choose(state)
        expect(type(action) is int and 0 <= action < 3, f"the action was {action!r}")
        fine = probability is None or (isinstance(probability, float) and 0 < probability <= 1)
        expect(fine, f"the probability was {probability!r}")
        learner.update(state, action, float(losses[action]), probability)


@check(_CHECKS, of="python")
def global_random_numbers_are_not_used(learner: PythonLearner) -> None:
    """Playing draws from neither `numpy.random` nor `random`: all draws come from `memory.generator`."""
    before = repr(np.random.get_state()), random.getstate()  # noqa: NPY002
    learner.run(learner.start(3, seed=1), mixed_losses(60, 3))
    expect(repr(np.random.get_state()) == before[0], "it draws from `numpy.random`; use `memory.generator`")  # noqa: NPY002
    expect(random.getstate() == before[1], "it draws from `random`; use `memory.generator`")


@check(_CHECKS, of="every", needs=[global_random_numbers_are_not_used])
def equal_seeds_give_equal_runs(learner: AnyLearner) -> None:
    """A run depends only on the parameters, the losses and the seed."""
    losses = mixed_losses(_ROUNDS, 3)
    copy = dataclasses.replace(learner)  # type: ignore[type-var]
    state, other = learner.start(3, seed=7), copy.start(3, seed=7)
    expect_same(state, other, "before two runs from one seed")
    expect_equal("the output of two runs from one seed", learner.run(state, losses), copy.run(other, losses))
    expect_same(state, other, "after two runs from one seed")


@check(_CHECKS, of="full", needs=[equal_seeds_give_equal_runs])
def relabelling_actions_relabels_the_weights(learner: ExpertLearner) -> None:
    """Weights do not depend on the order of the actions."""
    losses = mixed_losses(100, 5)
    weights = learner.run(learner.start(5), losses)
    for order in ([4, 3, 2, 1, 0], [1, 2, 3, 4, 0], [2, 0, 3, 1, 4]):
        relabelled = learner.run(learner.start(5), losses[:, order])
        apart = np.abs(relabelled - weights[:, order]).max(axis=1)
        t = int(apart.argmax())
        expect(apart[t] <= _CLOSE, f"in round {t} the order {order} changes the weights by {apart[t]:.2g}")


@check(_CHECKS, of="full", needs=[weights_are_a_distribution])
def weights_survive_a_million_constant_rounds(learner: ExpertLearner, n_rounds: int = 1_000_000) -> None:
    """Weights neither overflow nor vanish in a million constant rounds, and move to a new best action.

    The best action leads by a tenth per round, then loses by 1 per round. After a fifth as many rounds, the other
    action is ahead over all rounds by as much as the first was at most: a learner that only competes with fixed actions
    must have moved its weight by then, and a tracking learner long before. Then the losses change back: a weight stored
    as a number, not as a logarithm, has become 0 in the meantime. Parameters with which a learner cannot learn
    (`no_learning`) are exempt from moving the weight.
    """
    state, turn, cannot_learn = learner.start(2), n_rounds // 5, learner.no_learning != ""
    for losses, length, best in (((0.4, 0.5), n_rounds, 0), ((1.0, 0.0), turn, 1), ((0.0, 1.0), turn, 0)):
        for block in _constant_blocks(losses, length):
            _expect_distributions(learner.run(state, block))
        weights = learner.predict(state)
        seen = f"action {best} must have a weight above 0.5, got {weights}"
        expect(weights[best] > 0.5 or cannot_learn, f"after {length} rounds of the losses {losses}, {seen}")


def _constant_blocks(losses: tuple[float, ...], n_rounds: int) -> Iterator[Matrix]:
    return (_fixed_losses(losses, min(_BLOCK, n_rounds - first)) for first in range(0, n_rounds, _BLOCK))


@check(_CHECKS, of="hinted", needs=[equal_seeds_give_equal_runs])
def the_last_losses_are_the_default_hint(learner: HintedLearner) -> None:
    """Without hints, the result is that of hinting the losses of the last round, and zeros in the first round."""
    losses = mixed_losses(120, 3)
    hints = np.concatenate([np.zeros((1, 3)), losses[:-1]])
    apart = np.abs(learner.run(learner.start(3), losses, hints) - learner.run(learner.start(3), losses)).max(axis=1)
    t = int(apart.argmax())
    expect(apart[t] <= _CLOSE, f"in round {t} the hint changes the weights by {apart[t]:.2g}")


@check(_CHECKS, of="hinted")
def a_higher_hint_lowers_the_weight(learner: HintedLearner) -> None:
    """An action has less weight if the hint for its loss is 1 than if it is 0."""
    state = learner.start(3)
    learner.run(state, mixed_losses(30, 3))
    learner.hint(state, [0.0, 0.5, 0.5])
    weight_at_zero = learner.predict(state)[0]
    learner.hint(state, [1.0, 0.5, 0.5])
    weight_at_one = learner.predict(state)[0]
    exempt = weight_at_zero in (0.0, 1.0) or learner.no_learning != ""  # a weight of 0 or 1 need not change
    seen = f"the weight is {weight_at_zero} when the hint is 0 and {weight_at_one} when it is 1"
    expect(weight_at_one < weight_at_zero or exempt, seen)


@check(_CHECKS, of="bandit", needs=[equal_seeds_give_equal_runs])
def unobserved_losses_have_no_effect(learner: BanditLearner) -> None:
    """Actions and state do not depend on the losses of actions that were not chosen."""
    losses = mixed_losses(300, 4)
    state, other = learner.start(4, seed=1), learner.start(4, seed=1)
    actions = learner.run(state, losses)
    scrambled = np.random.default_rng(1).random(losses.shape)
    rounds = np.arange(len(losses))
    scrambled[rounds, actions] = losses[rounds, actions]
    expect_equal("the actions on scrambled losses", learner.run(other, scrambled), actions)
    expect_same(state, other, "after the losses and after scrambled ones")


@check(_CHECKS, of="bandit")
def every_action_is_tried(learner: BanditLearner) -> None:
    """Each of three actions is chosen at least once in thirty rounds, for low, high and mixed losses."""
    n_actions, n_rounds = 3, 30
    constant = (_fixed_losses((loss,) * n_actions, n_rounds) for loss in (0.0, 1.0))
    for losses in (*constant, mixed_losses(n_rounds, n_actions)):
        chosen = np.unique(learner.run(learner.start(n_actions, seed=1), losses))
        enough = len(chosen) == n_actions or learner.no_learning != ""
        expect(enough, f"only the actions {chosen} were chosen in {n_rounds} rounds")


@check(_CHECKS, of="bandit", needs=[choose_gives_an_action_and_its_probability])
def probabilities_are_frequencies_also_with_late_outcomes(learner: BanditLearner) -> None:
    """The probability that `choose` returns is how often it chooses the action in this state, or None."""
    state = learner.start(3, seed=1)
    draws = "generator" in state.memory._fields
    seeds = [learner.start(3, seed).memory.generator if draws else None for seed in range(_DRAWS if draws else 1)]
    waiting: list[tuple[int, float | None]] = []
    for t, losses in enumerate(mixed_losses(24, 3)):
        choices: dict[tuple[int, float | None], int] = {}
        copy = state.copy()
        for seed in seeds:
            for name, array in copy.arrays().items():  # a new copy would take longer
                array[...] = seed if name == "generator" else state.arrays()[name]
            choice = learner.choose(copy)
            choices[choice] = choices.get(choice, 0) + 1
        for (action, probability), n in choices.items():
            expected = n if probability is None else len(seeds) * probability
            room = _FAR * math.sqrt(expected * (1 - expected / len(seeds))) + _FEW
            seen = f"the action {action}, of probability {probability}, was chosen {n} times in {len(seeds)}"
            expect(abs(n - expected) <= room, f"after {t} choices, {seen}")
        waiting.append(learner.choose(state))
        if t >= _LATE:
            action, probability = waiting.pop(0)
            learner.update(state, action, float(losses[action]), probability)


@check(_CHECKS, of="bandit")
def choices_survive_a_million_constant_rounds(learner: BanditLearner, n_rounds: int = 1_000_000) -> None:
    """The better of two actions is found, also after the losses have changed late.

    As for weights: the second phase ends when the new best action is ahead over all rounds by as much as the old one
    was at most. In the last tenth of each phase the best action is chosen in more than half of the rounds. Parameters
    with which a learner cannot learn (`no_learning`) are exempt.
    """
    state = learner.start(2, seed=1)
    for losses, length, best in (((0.4, 0.5), n_rounds, 0), ((1.0, 0.0), n_rounds // 5, 1)):
        actions = [learner.run(state, block) for block in _constant_blocks(losses, length)]
        share = float((np.concatenate(actions)[-length // 10 :] == best).mean())
        seen = f"after {length} rounds of the losses {losses} the best action is chosen in a share of {share:.2g}"
        expect(share > 0.5 or learner.no_learning != "", seen)


@check(_CHECKS, of="python")
def the_learner_has_no_state_of_its_own(learner: PythonLearner) -> None:
    """Playing changes no attribute of the learner or of its classes: all that changes is in the memory."""
    kinds = [kind for kind in type(learner).__mro__ if kind not in PythonLearner.__mro__]
    parts = [("the learner", learner), *((f"the class {kind.__name__}", kind) for kind in kinds)]
    before = [_attributes(part) for _, part in parts]
    learner.run(learner.start(3, seed=1), mixed_losses(60, 3))
    for (what, part), texts in zip(parts, before, strict=True):
        changed = [name for name, text in _attributes(part).items() if texts.get(name) != text]
        expect(not changed, f"playing changes `{', '.join(changed)}` of {what}; keep it in the memory")


def _attributes(part: object) -> dict[str, str]:
    """Return the attributes as texts with all digits, without methods and what Python itself keeps."""
    cached = {name for name in vars(part) if isinstance(getattr(type(part), name, None), functools.cached_property)}
    kept = {name: value for name, value in vars(part).items() if not (name.startswith("__") or callable(value))}
    with np.printoptions(threshold=sys.maxsize, precision=17):
        return {name: repr(value) for name, value in kept.items() if name not in cached}


@check(_CHECKS, of="full", needs=[equal_seeds_give_equal_runs])
def predict_changes_nothing(learner: ExpertLearner) -> None:
    """`predict` does not change the state, and the array that it returns belongs to the caller."""
    state = learner.start(3, seed=1)
    for losses in mixed_losses(40, 3):
        before = state.copy()
        weights = learner.predict(state)
        expect_equal("the weights of two calls of `predict`", learner.predict(state), weights)
        weights[:] = -1.0
        expect_same(state, before, "before and after `predict`")
        learner.update(state, losses)


@check(_CHECKS, of="every", needs=[equal_seeds_give_equal_runs])
def runs_do_not_affect_each_other(learner: AnyLearner) -> None:
    """A run does not change if the same learner plays another run at the same time."""
    blocks = np.array_split(mixed_losses(_ROUNDS, 3), 6)
    alone, state, other = (learner.start(3, seed=seed) for seed in (1, 1, 2))
    for block in blocks:
        expect_equal("the output beside another run", learner.run(state, block), learner.run(alone, block))
        learner.run(other, 1.0 - block)
    _expect_no_shared_memory(state, other)


def _expect_no_shared_memory(state: State, other: State) -> None:
    """Expect two states to share no memory."""
    for (name, mine), (other_name, theirs) in product(state.arrays().items(), other.arrays().items()):
        expect(not np.shares_memory(mine, theirs), f"two states share memory: `{name}` and `{other_name}`")


@check(_CHECKS, of="every")
def memory_declares_its_numbers(learner: Learner) -> None:
    """Every field of the memory says what its numbers may be, and a new memory satisfies it."""
    kind: object = learner.memory_type
    for name, field in fields_of(kind).items():
        expect(field is not None, f"the field `{name}` of its memory declares nothing")
    fault = learner.memory_fault(learner.start(3).memory, 3, 0)
    expect(not fault, f"of a new memory, {fault}")


@check(_CHECKS, of="every", needs=[memory_declares_its_numbers])
def memories_satisfy_their_declarations(learner: AnyLearner) -> None:
    """After any number of rounds, the memory satisfies the declarations of its fields."""
    for n_actions, seed in ((2, 1), (5, 2), (1, 3)):
        state = learner.start(n_actions, seed=seed)
        kinds = (mixed_losses(70, n_actions, seed), *(np.full((70, n_actions), loss) for loss in (0.0, 1.0)))
        for block in (part for losses in kinds for part in np.split(losses, [1, 2, 7, 32])):
            learner.run(state, block)
            fault = learner.memory_fault(state.memory, n_actions, state.rounds)
            expect(not fault, f"after {state.rounds} rounds with {n_actions} actions, {fault}")


@check(_CHECKS, of="every")
def beliefs_do_not_change_the_state(learner: AnyLearner) -> None:
    """`beliefs` only reads the state, its memory stays the same object, and equal states have equal beliefs."""
    for state in _states(learner):
        before, memory = state.copy(), state.memory
        views = learner.beliefs(state)
        expect_same(state, before, "before and after `beliefs`")
        expect(state.memory is memory, "`beliefs` gave the state a new memory")
        expect(views == learner.beliefs(before), f"equal states have the beliefs {views} and {learner.beliefs(before)}")


@check(_CHECKS, of="every")
def beliefs_are_possible(learner: AnyLearner) -> None:
    """Effective memories are at most the rounds, weights of bases sum to 1, and alarms are rounds of the past."""
    for state in _states(learner):
        beliefs = learner.beliefs(state)
        expect(isinstance(beliefs, Beliefs), f"`beliefs` returned {beliefs!r}")
        expect(beliefs.rounds == state.rounds, f"after {state.rounds} rounds, the beliefs are of {beliefs.rounds}")
        _expect_numbers("an effective memory", list(beliefs.memories), beliefs.rounds * (1.0 + _CLOSE))
        fine = not isinstance(beliefs.memory, tuple) or len(beliefs.memory) == state.n_actions
        expect(fine, f"{state.n_actions} actions have {len(beliefs.memories)} effective memories")
        weights = list(beliefs.bases.values())
        _expect_numbers("the weight of a base", weights, 1.0 + _CLOSE)
        expect(not weights or abs(sum(weights) - 1.0) <= _CLOSE, f"the weights of the bases sum to {sum(weights)}")
        expect(all(isinstance(label, str) for label in beliefs.bases), f"bases have the labels {list(beliefs.bases)}")
        most = {"segments": state.rounds + 1.0, "drift": math.inf, "variance": math.inf}
        for name, high in most.items():
            value = getattr(beliefs, name)
            _expect_numbers(f"`{name}`", [] if value is None else [value], high)
        _expect_alarms(beliefs)


def _states(learner: AnyLearner) -> Iterator[State]:
    """Yield states after different numbers of rounds, with several actions and with one."""
    for n_actions in (1, 2, 5):
        state = learner.start(n_actions, seed=1)
        yield state
        sudden = np.repeat([[0.0], [1.0], [0.0]], 40, axis=0) * np.ones(n_actions)
        for block in (mixed_losses(1, n_actions), mixed_losses(70, n_actions), sudden):
            learner.run(state, block)
            yield state


def _expect_numbers(what: str, values: list[float], high: float) -> None:
    for value in values:
        fine = isinstance(value, (int, float)) and math.isfinite(value) and 0.0 <= value <= high
        expect(fine, f"{what} is {value!r}")


def _expect_alarms(beliefs: Beliefs) -> None:
    if beliefs.alarms is None or beliefs.n_alarms is None:
        neither = beliefs.alarms is None and beliefs.n_alarms is None
        expect(neither, f"only one of `alarms` and `n_alarms` is given: {beliefs}")
        return
    shown = f"alarms in rounds {beliefs.alarms}, {beliefs.n_alarms} in all, after {beliefs.rounds} rounds"
    expect(all(type(t) is int and 0 <= t < beliefs.rounds for t in beliefs.alarms), shown)
    expect(all(alarm < later for alarm, later in pairwise(beliefs.alarms)), shown)
    expect(len(beliefs.alarms) == min(beliefs.n_alarms, _MOST_ALARMS), shown)


@check(
    _CHECKS,
    of="every",
    needs=[equal_seeds_give_equal_runs, choose_gives_an_action_and_its_probability, unobserved_losses_have_no_effect],
)
def run_equals_stepping(learner: AnyLearner) -> None:
    """One call with a block of rounds and one call per round give equal results, bit for bit."""
    for n_actions in (2, 5):
        losses = mixed_losses(_ROUNDS, n_actions)
        state, other = learner.start(n_actions, seed=1), learner.start(n_actions, seed=1)
        expect_equal("the output of a run and of stepping", learner.run(state, losses), stepped(learner, other, losses))
        expect_same(state, other, "after a run and after stepping")


@check(_CHECKS, of="every", needs=[equal_seeds_give_equal_runs])
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


@check(_CHECKS, of="hinted", needs=[equal_seeds_give_equal_runs])
def hinted_run_equals_hinted_stepping(learner: HintedLearner) -> None:
    """A block with hints and the same rounds with hints one by one give equal results, bit for bit."""
    losses, hints = mixed_losses(120, 3, seed=0), mixed_losses(120, 3, seed=1)
    state, other = learner.start(3), learner.start(3)
    weights = np.empty_like(losses)
    for t in range(len(losses)):
        learner.hint(other, hints[t])
        weights[t] = learner.predict(other)
        learner.update(other, losses[t])
    expect_equal("the weights of a hinted run and of hinted stepping", learner.run(state, losses, hints), weights)
    expect_same(state, other, "after a hinted run and after hinted stepping")


@check(_CHECKS, of="every", needs=[equal_seeds_give_equal_runs, choose_gives_an_action_and_its_probability])
def inputs_are_not_modified_or_kept(learner: AnyLearner) -> None:
    """Losses are neither modified nor kept, and all array layouts of the same losses give equal results."""
    losses = mixed_losses(40, 4)
    expected = learner.run(learner.start(4, seed=1), losses)
    by_stepping = stepped(learner, learner.start(4, seed=1), losses)
    for layout, array in _layouts(losses):
        played = learner.run(learner.start(4, seed=1), array)
        expect_equal(f"the output on {layout} losses", played, expected)
        played = stepped(learner, learner.start(4, seed=1), array)
        expect_equal(f"the output by stepping on {layout} losses", played, by_stepping)
    expect_equal("the output on a list", learner.run(learner.start(4, seed=1), losses.tolist()), expected)
    array, state = losses.copy(), learner.start(4, seed=1)
    learner.run(state, array)
    expect_equal("the caller's array of losses", array, losses)
    before = state.copy()
    array[:] = 0.5
    expect_same(state, before, "when the caller writes into losses already played")


def _layouts(losses: Matrix) -> Iterator[tuple[str, Matrix]]:
    yield "read-only", losses
    yield "writable", losses.copy()
    yield "column-major", np.asfortranarray(losses)
    yield "strided", np.repeat(losses, 2, axis=1)[:, ::2]
    yield "reversed", losses[::-1].copy()[::-1]
    yield "byte-swapped", losses.astype(losses.dtype.newbyteorder())


@check(_CHECKS, of="every", needs=[weights_are_a_distribution])
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


@check(_CHECKS, of="every")
def a_rejected_update_changes_nothing(learner: AnyLearner) -> None:
    """Invalid losses, or an invalid action, loss or probability, leave the state unchanged, bit for bit."""
    state = learner.start(3, seed=1)
    learner.run(state, mixed_losses(20, 3))
    for what, feedback in _bad_losses() if learner.feedback == "full" else _bad_choices():
        _expect_rejected(what, state, learner.update, *feedback)


def _expect_rejected(what: str, state: State, call: Callable[..., object], *arguments: object) -> None:
    """Expect ``call(state, *arguments)`` to raise `InvalidInput` and to leave the state unchanged."""
    before, memory = state.copy(), state.memory
    expect(rejects(what, call, state, *arguments), f"{what} was accepted")
    expect_same(state, before, f"before and after {what}")
    expect(state.memory is memory, f"{what} gave the state a new memory")


def _bad_losses() -> Iterator[tuple[str, tuple[object]]]:
    for bad in _BAD_NUMBERS:
        yield f"the loss {bad}", ([0.5, 0.5, bad],)
    yield "too many losses", ([0.5] * 4,)
    yield "a block instead of a round", ([[0.5] * 3],)
    yield "one number", (0.5,)
    yield "words", (["a", "b", "c"],)
    yield "a ragged list", ([0.5, [0.5], 0.5],)
    yield "complex losses", ([0.5, 0.5, 0.5j],)
    yield "a missing loss", ([0.5, 0.5, None],)
    yield "nothing", (None,)


def _bad_choices() -> Iterator[tuple[str, tuple[object, object, object]]]:
    no_numbers = ("a", [0.5], 0.5j, 10**400)
    for loss in (*_BAD_NUMBERS, *no_numbers, None):
        yield f"the loss {loss!r}", (0, loss, 1.0)
    for action in (-1, 3, 0.5, *no_numbers, None, True):
        yield f"the action {action!r}", (action, 0.5, 1.0)
    for probability in (*_BAD_NUMBERS, *no_numbers, 0.0, True):
        yield f"the probability {probability!r}", (0, 0.5, probability)


@check(_CHECKS, of="every")
def a_rejected_run_changes_nothing(learner: AnyLearner) -> None:
    """A block with one invalid loss, even in its last round, is rejected as a whole."""
    state = learner.start(3, seed=1)
    learner.run(state, mixed_losses(20, 3))
    for bad in _BAD_NUMBERS:
        block = mixed_losses(10, 3).copy()
        block[-1, -1] = bad
        _expect_rejected(f"a block with the loss {bad}", state, learner.run, block)
    good = mixed_losses(4, 3)
    shapes: dict[str, object] = {
        "a block with too few actions": good[:, :2],
        "one round instead of a block": good[0],
        "rows of unequal length": [[0.5, 0.5, 0.5], [0.5]],
        "words": [["a", "b", "c"]],
        "complex numbers": good + 0j,
        "nothing": None,
    }
    for what, losses in shapes.items():
        _expect_rejected(what, state, learner.run, losses)


@check(_CHECKS, of="hinted")
def a_rejected_hint_changes_nothing(learner: HintedLearner) -> None:
    """An invalid hint leaves the state unchanged, alone and in a block."""
    state = learner.start(3, seed=1)
    losses = mixed_losses(20, 3)
    learner.run(state, losses)
    for bad in _BAD_NUMBERS:
        _expect_rejected(f"the hint {bad}", state, learner.hint, [bad, 0.5, 0.5])
        hints = losses.copy()
        hints[-1, -1] = bad
        _expect_rejected(f"a block with the hint {bad}", state, learner.run, losses, hints)
    _expect_rejected("too few hints", state, learner.run, losses, losses[1:])
    _expect_rejected("a hint for two actions", state, learner.hint, [0.5, 0.5])


@check(_CHECKS, of="every")
def spec_round_trips(learner: Learner) -> None:
    """The plain values of `to_spec` rebuild an equal learner, also after conversion to JSON and back."""
    spec = to_spec(learner)
    for what, values in (("its spec", spec), ("its spec as JSON", json.loads(json.dumps(spec)))):
        rebuilt = learners.build(values)
        expect(type(rebuilt) is type(learner) and rebuilt == learner, f"{what} makes {rebuilt}")


@check(_CHECKS, of="every", needs=[equal_seeds_give_equal_runs, memories_satisfy_their_declarations, spec_round_trips])
def resumed_run_equals_uninterrupted_run(learner: AnyLearner) -> None:
    """A copied state, and a session that was saved and loaded, continue like the original."""
    losses = mixed_losses(_ROUNDS, 3)
    session = Session(learner, 3, seed=1)
    learner.run(session.state, losses[:70])
    snapshot = session.state.copy()
    _expect_no_shared_memory(session.state, snapshot)
    with tempfile.TemporaryDirectory() as folder:
        session.save(Path(folder) / "session")
        loaded = Session.load(Path(folder) / "session")
    expect_same(loaded.state, snapshot, "after loading and in a copy")
    expected = learner.run(session.state, losses[70:])
    for what, state in (("a copy", snapshot), ("a loaded session", loaded.state)):
        expect_equal(f"the output of the original and of {what}", learner.run(state, losses[70:]), expected)
        expect_same(state, session.state, f"after {what} and the original were continued")


# After all checks that play: the compilations that they caused count too.
@check(_CHECKS, of="compiled", needs=[choose_gives_an_action_and_its_probability])
def one_compiled_signature_per_kernel(learner: ExpertLearner | BanditLearner) -> None:
    """No array layout or type of the input compiles a loop a second time."""
    losses = mixed_losses(6, 3)
    state = learner.start(3)
    for _, array in _layouts(losses):
        stepped(learner, state, array)
        learner.run(learner.start(3), array)
    learner.run(learner.start(3), np.ones((2, 3), np.int8))
    entries = {} if state.live is None else state.live._asdict()
    for name, loop in {**learner.entry_points(), **entries}.items():
        if loop is not None:
            expect(compiled(loop) <= 1, f"the loop `{name}` was compiled {compiled(loop)} times")


@check(_CHECKS, of="every")
def parameters_are_frozen(learner: Learner) -> None:
    """A learner is a frozen dataclass: equal parameters make equal learners with equal hashes."""
    copy = dataclasses.replace(learner)  # type: ignore[type-var]
    expect(copy == learner and hash(copy) == hash(learner), "a copy with equal parameters is not equal to it")
    for field in dataclasses.fields(learner):  # type: ignore[arg-type]
        value = getattr(copy, field.name)
        try:
            setattr(copy, field.name, value)
        except dataclasses.FrozenInstanceError:
            continue
        expect(False, f"`{field.name}` can be set")


@check(_CHECKS, of="every")
def name_fits_a_command_line(learner: Learner) -> None:
    """The name is lower-case words joined by hyphens, and the feedback is "full" or "bandit"."""
    expect(re.fullmatch(r"[a-z0-9]+(-[a-z0-9]+)*", learner.name) is not None, f"its name is {learner.name!r}")
    expect(learner.feedback in ("full", "bandit"), f"its feedback is {learner.feedback!r}")


@check(_CHECKS, of="every")
def tuning_and_bounds_take_any_measures(learner: Learner) -> None:
    """`tuned` returns a learner of the same class or raises that there is no rule; a bound is a number, or None.

    A caveat is one line, there is none where nothing changes, and `tuned` reports it.
    """
    for measures in _MEASURES:
        made = learner
        reported: list[str] = []
        try:
            with collected() as reported:
                made = type(learner).tuned(measures)
        except InvalidInput as refusal:
            expect("no rule for tuning" in str(refusal), f"`tuned({measures})` raised: {refusal}")
        expect(type(made) is type(learner), f"`tuned({measures})` made {made}")
        caveat = made.tuning_caveat(measures)
        expect(isinstance(caveat, str) and "\n" not in caveat, f"its caveat for {measures} is {caveat!r}")
        expect(not caveat or measures.segments > 1, f"it has a caveat where nothing changes: {caveat}")
        expect(reported == ([caveat] if caveat else []), f"its caveat is {caveat!r}, but `tuned` reported {reported}")
        for bound in [rule(measures) for member in (learner, made) for rule in (member.bound, member.static_bound)]:
            fine = bound is None or (0 <= bound < math.inf)
            expect(fine, f"the bound for {measures} is {bound}")


@check(_CHECKS, of="every")
def skipped_checks_exist_and_have_reasons(learner: Learner) -> None:
    """Every name in `skipped_checks` is a check of the learner and has a reason."""
    names = {test.name for test in checks_of(learner)}
    skipped: Mapping[str, object] = learner.skipped_checks
    for name, reason in skipped.items():
        expect(name in names, f"`skipped_checks` names '{name}', which is not one of its checks")
        expect(isinstance(reason, str) and bool(reason.strip()), f"`skipped_checks` gives no reason for '{name}'")


@check(_CHECKS, of="every")
def docstring_documents_every_parameter(learner: Learner) -> None:
    """`Parameters` in the class docstring has every parameter with its meaning and default, and no other."""
    sections = (described(member).parameters for member in type(learner).__mro__)  # a subclass may inherit it
    documented = {entry.name: entry for entry in next((section for section in sections if section), ())}
    fields = {field.name: field for field in dataclasses.fields(learner) if field.init}  # type: ignore[arg-type]
    faults = _differences("`Parameters` in its docstring has", fields, documented)
    for name in fields.keys() & documented.keys():
        said, default = documented[name], shown_default(fields[name])
        if not said.meaning:
            faults.append(f"its docstring does not say what `{name}` means")
        if said.default != default:
            faults.append(f"its docstring says `{name}` is {said.default!r} by default, not {default!r}")
    expect(not faults, "; ".join(faults))


@check(_CHECKS, of="every")
def corners_name_every_parameter(learner: Learner) -> None:
    """`corners` has the ends of every parameter's range, and the constructor takes them."""
    parameters = [field.name for field in dataclasses.fields(learner) if field.init]  # type: ignore[arg-type]
    faults = _differences("`corners` has", parameters, learner.corners)
    expect(not faults, "; ".join(faults))
    expect(len(type(learner).at_corners()) >= len(parameters), "a parameter has no corner")


def _differences(what: str, parameters: Collection[str], names: Collection[str]) -> list[str]:
    """Return what is wrong with the names of a list that must be those of the parameters."""
    missing = [name for name in parameters if name not in names]
    strange = [name for name in names if name not in parameters]
    faults = [f"{what} no entry for {', '.join(missing)}"] if missing else []
    return [*faults, f"{what} an entry for {', '.join(strange)}, which is no parameter"] if strange else faults
