"""Learners with one error each, and the checks that must fail for them."""

import dataclasses
import itertools
import re
import weakref
from typing import Annotated, ClassVar, NamedTuple

import numpy as np

from driftwise.core.corners import Corners
from driftwise.core.kernel import kernel
from driftwise.core.memory_fields import distribution
from driftwise.core.types import Vector
from driftwise.learners import ExpertLearner, OptimisticAdaptMLProd, OptimisticGD, RerunUCBV, Thompson
from driftwise.learners.base.loops import expert_loops

BROKEN = {}


def fails(*checks):
    """Register a broken learner with the checks that it fails, under a name of its own."""

    def register(member):
        member.name = re.sub("(?<!^)(?=[A-Z])", "-", member.__name__).lower()
        BROKEN[member] = set(checks)
        return member

    return register


@fails("skipped_checks_exist_and_have_reasons")
class SkipsUnknownCheck(OptimisticGD):
    skipped_checks: ClassVar = {"weights_are_green": "there is no such check"}


@fails("spec_round_trips", "resumed_run_equals_uninterrupted_run")  # a session file holds the spec
class HasNameOfAnother(OptimisticGD):
    pass


HasNameOfAnother.name = OptimisticGD.name


@fails("parameters_are_frozen")
class NotFrozen(OptimisticGD):
    __setattr__ = object.__setattr__


@fails("docstring_documents_every_parameter")
@dataclasses.dataclass(frozen=True)
class Undocumented(OptimisticGD):
    temperature: float = 1.0
    corners = Corners(**OptimisticGD.corners, temperature=(0.0,))


@fails("corners_name_every_parameter")
class WithoutCorners(OptimisticGD):
    corners = Corners(learning_rate=(0.1,))


@fails("docstring_documents_every_parameter")
class DocumentsOtherDefault(OptimisticGD):
    """Documents a default that differs from the real one.

    Parameters
    ----------
    learning_rate : float, default 0.5
        How fast losses move the weights.
    prox_scale : float, default 1.0
        Factor of the proximal term.
    """


@fails("name_fits_a_command_line")
class OddName(OptimisticGD):
    pass


OddName.name = "Odd name"


@fails("tuning_and_bounds_take_any_measures")
class TunesAnotherClass(OptimisticGD):
    tuned = OptimisticGD.tuned


@fails("tuning_and_bounds_take_any_measures")
class CaveatWithoutChanges(OptimisticGD):
    def tuning_caveat(self, measures):
        return f"{measures.segments - 1} changes are too many"


@fails("weights_are_a_distribution")
class WeightsSumAboveOne(OptimisticGD):
    def play_block(self, state, losses):
        return super().play_block(state, losses) * (1.01 if state.n_actions > 9 else 1.0)


@fails("predict_changes_nothing")
class PredictReturnsMemory(OptimisticGD):
    def predict(self, state):
        return state.memory.weights


@fails("relabelling_actions_relabels_the_weights")
class DependsOnOrder(OptimisticGD):
    def first_memory(self, n_actions, generator):
        memory = super().first_memory(n_actions, generator)
        memory.center[0] += 0.001
        memory.center[-1] -= 0.001
        return memory


@fails("a_rejected_update_changes_nothing")
class CountsRejectedUpdates(OptimisticGD):
    def update(self, state, losses):
        state.rounds += 1
        super().update(state, losses)
        state.rounds -= 1


class Weights(NamedTuple):
    weights: Annotated[Vector, distribution("actions")]


class Undeclared(NamedTuple):
    weights: Vector


class Least(NamedTuple):
    least: float


@kernel
def _hedge(memory: Weights, rates: Least, losses: Vector) -> None:
    total = 0.0
    for k in range(losses.size):
        memory.weights[k] = max(rates.least, memory.weights[k] * np.exp(-losses[k]))
        total += memory.weights[k]
    for k in range(losses.size):
        memory.weights[k] /= total


@dataclasses.dataclass(frozen=True)
class Hedge(ExpertLearner):
    least = 0.001

    def first_memory(self, n_actions, generator) -> Weights:  # noqa: ARG002
        return Weights(np.full(n_actions, 1.0 / n_actions))

    def rates(self, n_actions):  # noqa: ARG002
        return Least(self.least)


@fails("weights_survive_a_million_constant_rounds")
class WeightsUnderflow(Hedge):
    loops = expert_loops("weights-underflow", (Weights, Least), _hedge)
    least = 0.0


@kernel
def _undeclared(memory: Undeclared, rates: Least, losses: Vector) -> None:
    for k in range(losses.size):
        memory.weights[k] = memory.weights[k] * np.exp(-losses[k]) + rates.least
    mass = 0.0
    for k in range(losses.size):
        mass += memory.weights[k]
    for k in range(losses.size):
        memory.weights[k] /= mass


@fails(
    "memory_declares_its_numbers",
    "memories_satisfy_their_declarations",
    "resumed_run_equals_uninterrupted_run",
)
class FieldsUndeclared(Hedge):
    loops = expert_loops("fields-undeclared", (Undeclared, Least), _undeclared)

    def first_memory(self, n_actions, generator) -> Undeclared:  # noqa: ARG002
        return Undeclared(np.full(n_actions, 1.0 / n_actions))


@fails("memories_satisfy_their_declarations", "run_equals_stepping")
class ImpossibleSquares(RerunUCBV):
    def play_block(self, state, losses):
        actions = super().play_block(state, losses)
        if state.n_actions == 5:  # the check of session files uses three actions
            state.memory.squares[:] += 1000.0
        return actions


@fails("one_compiled_signature_per_kernel")
class CompiledTwice(Hedge):
    loops = expert_loops("compiled-twice", (Weights, Least), _hedge)

    def play_block(self, state, losses):
        return super().play_block(state, np.asfortranarray(losses) if state.n_actions == 3 else losses)


@fails("run_equals_stepping")
class RoundsWhileStepping(OptimisticGD):
    def update(self, state, losses):
        super().update(state, losses)
        state.memory.weights[:] = state.memory.weights.round(12)


@fails("split_run_equals_whole_run")
class ResetsAtBlockBorders(OptimisticGD):
    def play_block(self, state, losses):
        if state.rounds:
            state.memory.center[:] = 1.0 / state.n_actions
        return super().play_block(state, losses)


@fails("equal_seeds_give_equal_runs")
class DependsOnInstance(RerunUCBV):
    instances = itertools.count()

    def __post_init__(self):
        super().__post_init__()
        object.__setattr__(self, "instance", next(self.instances))

    def first_memory(self, n_actions, generator):
        memory = super().first_memory(n_actions, generator)
        memory.score[:] -= 1e-9 * self.instance
        return memory


@fails("runs_do_not_affect_each_other")
class SharesScratch(OptimisticAdaptMLProd):
    scratch: ClassVar = {}

    def first_memory(self, n_actions, generator):
        memory = super().first_memory(n_actions, generator)
        return memory._replace(action_weights=self.scratch.setdefault(n_actions, memory.action_weights))


@fails("inputs_are_not_modified_or_kept")
class OverwritesLosses(OptimisticGD):
    def run(self, state, losses):
        played = super().run(state, losses)
        if isinstance(losses, np.ndarray) and losses.flags.writeable:
            losses[:] = 0.0
        return played


@fails("resumed_run_equals_uninterrupted_run")
class RecognisesStartedStates(OptimisticGD):
    started: ClassVar = weakref.WeakSet()

    def start(self, n_actions, seed=0):
        state = super().start(n_actions, seed)
        self.started.add(state)
        return state

    def play_block(self, state, losses):
        return super().play_block(state, losses if state in self.started else 1.0 - losses)


@fails("beliefs_do_not_change_the_state")
class CountsBeliefs(OptimisticGD):
    def beliefs(self, state):
        found = super().beliefs(state)
        state.memory.center[:] = 1.0 / state.n_actions
        return found


@fails("beliefs_are_possible")
class BelievesInAlarmsToCome(OptimisticGD):
    def beliefs(self, state):
        return dataclasses.replace(super().beliefs(state), alarms=(state.rounds,), n_alarms=1)


@fails("a_rejected_run_changes_nothing")
class CountsRejectedRuns(OptimisticGD):
    def run(self, state, losses):
        state.rounds += 1
        played = super().run(state, losses)
        state.rounds -= 1
        return played


@fails(
    "single_action_and_single_round_work",
    "memories_satisfy_their_declarations",
    "beliefs_do_not_change_the_state",
    "beliefs_are_possible",
)
class FailsWithOneAction(OptimisticGD):
    def rates(self, n_actions):
        assert 1 / (n_actions - 1) > 0
        return super().rates(n_actions)


@fails("hinted_run_equals_hinted_stepping")
class IgnoresHintsInBlocks(OptimisticAdaptMLProd):
    def run(self, state, losses, hints=None):
        if hints is not None:
            super().run(state.copy(), losses, hints)
        return super().run(state, losses)


@fails("a_higher_hint_lowers_the_weight")
class IgnoresHints(IgnoresHintsInBlocks):
    def hint(self, state, guess):
        super().hint(state.copy(), guess)


@fails("the_last_losses_are_the_default_hint")
class FirstGuessIsOne(OptimisticAdaptMLProd):
    def first_memory(self, n_actions, generator):
        memory = super().first_memory(n_actions, generator)
        memory.guess[:] = 1.0
        return memory


@fails("a_rejected_hint_changes_nothing")
class CountsRejectedHints(OptimisticAdaptMLProd):
    def hint(self, state, guess):
        state.rounds += 1
        super().hint(state, guess)
        state.rounds -= 1


@fails("unobserved_losses_have_no_effect", "run_equals_stepping")  # single rounds have no unobserved losses
class UsesUnobservedLosses(RerunUCBV):
    def play_block(self, state, losses):
        return super().play_block(state, 0.99 * losses + 0.01 * losses.mean(axis=1, keepdims=True))


@fails("every_action_is_tried")
class TriesTwoActions(RerunUCBV):
    def first_memory(self, n_actions, generator):
        memory = super().first_memory(n_actions, generator)
        memory.score[2:] = 1.0
        return memory


@fails("choose_gives_an_action_and_its_probability")
class ChoosesNumPyIntegers(RerunUCBV):
    def choose(self, state):
        action, probability = super().choose(state)
        return np.int64(action), probability


@fails("probabilities_are_frequencies_also_with_late_outcomes")
class CallsDrawsCertain(Thompson):
    def choose(self, state):
        return super().choose(state)[0], 1.0


@fails("a_rejected_update_changes_nothing")
class CountsRejectedLosses(RerunUCBV):
    def update(self, state, action, loss, probability=1.0):
        state.rounds += 1
        super().update(state, action, loss, probability)
        state.rounds -= 1


@fails("choices_survive_a_million_constant_rounds")
class StopsAdapting(RerunUCBV):
    def play_block(self, state, losses):
        actions = super().play_block(state, losses)
        return actions if state.rounds <= 10_000 else np.zeros_like(actions)
