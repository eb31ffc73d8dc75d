"""Learners that are wrong in one way each, with the checks that must say so."""

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
from driftwise.learners import ExpertLearner, OptimisticAdaptMLProd, OptimisticGD, RerunUCBV
from driftwise.learners.contract.loops import expert_loops

BROKEN = {}


def breaks(*checks):
    """Enter a broken learner with the checks it breaks; a name of its own keeps its spec from being another's."""

    def enter(member):
        member.name = re.sub("(?<!^)(?=[A-Z])", "-", member.__name__).lower()
        BROKEN[member] = set(checks)
        return member

    return enter


@breaks("skipped_checks_exist_and_have_reasons")
class ExcusedFromNothing(OptimisticGD):
    skipped_checks: ClassVar = {"weights_are_green": "there is no such check"}


@breaks("spec_round_trips", "resumed_run_equals_uninterrupted_run")  # a session file holds the spec
class Impostor(OptimisticGD):
    pass


Impostor.name = OptimisticGD.name


@breaks("parameters_are_frozen")
class Thawed(OptimisticGD):
    __setattr__ = object.__setattr__


@breaks("docstring_documents_every_parameter")
@dataclasses.dataclass(frozen=True)
class Undocumented(OptimisticGD):
    temperature: float = 1.0
    corners = Corners(**OptimisticGD.corners, temperature=(0.0,))


@breaks("corners_name_every_parameter")
class WithoutCorners(OptimisticGD):
    corners = Corners(learning_rate=(0.1,))


@breaks("docstring_documents_every_parameter")
class OtherDefault(OptimisticGD):
    """Says something false of a default.

    Parameters
    ----------
    learning_rate : float, default 0.5
        How fast losses move the weights.
    prox_scale : float, default 1.0
        Factor of the proximal term.
    """


@breaks("name_fits_a_command_line")
class OddName(OptimisticGD):
    pass


OddName.name = "Odd name"


@breaks("tuning_and_bounds_take_any_measures")
class TunedToAnother(OptimisticGD):
    tuned = OptimisticGD.tuned


@breaks("tuning_and_bounds_take_any_measures")
class DoubtsWhatStandsStill(OptimisticGD):
    def tuning_caveat(self, measures):
        return f"{measures.segments - 1} changes are too many"


@breaks("weights_are_a_distribution")
class HeavyWithManyActions(OptimisticGD):
    def play_block(self, state, losses):
        return super().play_block(state, losses) * (1.01 if state.n_actions > 9 else 1.0)


@breaks("predict_changes_nothing")
class HandsOutItsMemory(OptimisticGD):
    def predict(self, state):
        return state.memory.weights


@breaks("relabelling_actions_relabels_the_weights")
class FondOfTheFirst(OptimisticGD):
    def first_memory(self, n_actions, generator):
        memory = super().first_memory(n_actions, generator)
        memory.center[0] += 0.001
        memory.center[-1] -= 0.001
        return memory


@breaks("a_rejected_update_changes_nothing")
class CountsTooEarly(OptimisticGD):
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


@breaks("weights_survive_a_million_constant_rounds")
class DiesOut(Hedge):
    loops = expert_loops("dies-out", (Weights, Least), _hedge)
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


@breaks(
    "memory_declares_its_numbers",
    "memories_satisfy_their_declarations",
    "single_action_and_single_round_work",
    "resumed_run_equals_uninterrupted_run",
)
class DeclaresNothing(Hedge):
    loops = expert_loops("declares-nothing", (Undeclared, Least), _undeclared)

    def first_memory(self, n_actions, generator) -> Undeclared:  # noqa: ARG002
        return Undeclared(np.full(n_actions, 1.0 / n_actions))


@breaks("memories_satisfy_their_declarations", "run_equals_stepping")
class CountsTwice(RerunUCBV):
    def play_block(self, state, losses):
        actions = super().play_block(state, losses)
        if state.n_actions == 5:  # files are tried with three actions
            state.memory.squares[:] += 1000.0
        return actions


@breaks("one_compiled_signature_per_kernel")
class CompiledTwice(Hedge):
    loops = expert_loops("compiled-twice", (Weights, Least), _hedge)

    def play_block(self, state, losses):
        return super().play_block(state, np.asfortranarray(losses) if state.n_actions == 3 else losses)


@breaks("run_equals_stepping")
class RoundsWhileStepping(OptimisticGD):
    def update(self, state, losses):
        super().update(state, losses)
        state.memory.weights[:] = state.memory.weights.round(12)


@breaks("split_run_equals_whole_run")
class ForgetsAtBorders(OptimisticGD):
    def play_block(self, state, losses):
        if state.rounds:
            state.memory.center[:] = 1.0 / state.n_actions
        return super().play_block(state, losses)


@breaks("equal_seeds_give_equal_runs")
class CountsItsTwins(RerunUCBV):
    births = itertools.count()

    def __post_init__(self):
        super().__post_init__()
        object.__setattr__(self, "born", next(self.births))

    def first_memory(self, n_actions, generator):
        memory = super().first_memory(n_actions, generator)
        memory.score[:] -= 1e-9 * self.born
        return memory


@breaks("runs_do_not_affect_each_other")
class SharesItsScratch(OptimisticAdaptMLProd):
    scratch: ClassVar = {}

    def first_memory(self, n_actions, generator):
        memory = super().first_memory(n_actions, generator)
        return memory._replace(action_weights=self.scratch.setdefault(n_actions, memory.action_weights))


@breaks("inputs_are_not_modified_or_kept")
class WipesTheSlate(OptimisticGD):
    def run(self, state, losses):
        played = super().run(state, losses)
        if isinstance(losses, np.ndarray) and losses.flags.writeable:
            losses[:] = 0.0
        return played


@breaks("resumed_run_equals_uninterrupted_run")
class KnowsItsOwn(OptimisticGD):
    own: ClassVar = weakref.WeakSet()

    def start(self, n_actions, seed=0):
        state = super().start(n_actions, seed)
        self.own.add(state)
        return state

    def play_block(self, state, losses):
        return super().play_block(state, losses if state in self.own else 1.0 - losses)


@breaks("a_rejected_run_changes_nothing")
class CountsBlocksTooEarly(OptimisticGD):
    def run(self, state, losses):
        state.rounds += 1
        played = super().run(state, losses)
        state.rounds -= 1
        return played


@breaks("single_action_and_single_round_work")
class DividesByTheOthers(OptimisticGD):
    def rates(self, n_actions):
        assert 1 / (n_actions - 1) > 0
        return super().rates(n_actions)


@breaks("hinted_run_equals_hinted_stepping")
class DeafWhileRunning(OptimisticAdaptMLProd):
    def run(self, state, losses, hints=None):
        if hints is not None:
            super().run(state.copy(), losses, hints)
        return super().run(state, losses)


@breaks("a_higher_hint_lowers_the_weight")
class Deaf(DeafWhileRunning):
    def hint(self, state, guess):
        super().hint(state.copy(), guess)


@breaks("the_last_losses_are_the_default_hint")
class ExpectsTheWorst(OptimisticAdaptMLProd):
    def first_memory(self, n_actions, generator):
        memory = super().first_memory(n_actions, generator)
        memory.guess[:] = 1.0
        return memory


@breaks("a_rejected_hint_changes_nothing")
class CountsHintsTooEarly(OptimisticAdaptMLProd):
    def hint(self, state, guess):
        state.rounds += 1
        super().hint(state, guess)
        state.rounds -= 1


@breaks("unobserved_losses_have_no_effect", "run_equals_stepping")  # stepping has nothing to peek at
class Peeks(RerunUCBV):
    def play_block(self, state, losses):
        return super().play_block(state, 0.99 * losses + 0.01 * losses.mean(axis=1, keepdims=True))


@breaks("every_action_is_tried")
class TwoAreEnough(RerunUCBV):
    def first_memory(self, n_actions, generator):
        memory = super().first_memory(n_actions, generator)
        memory.score[2:] = 1.0
        return memory


@breaks("choose_gives_an_action_and_its_probability")
class ChoosesInFloats(RerunUCBV):
    def choose(self, state):
        action, probability = super().choose(state)
        return np.int64(action), probability


@breaks("a_rejected_update_changes_nothing")
class CountsChoicesTooEarly(RerunUCBV):
    def update(self, state, action, loss, probability=1.0):
        state.rounds += 1
        super().update(state, action, loss, probability)
        state.rounds -= 1


@breaks("choices_survive_a_million_constant_rounds")
class SetInItsWays(RerunUCBV):
    def play_block(self, state, losses):
        actions = super().play_block(state, losses)
        return actions if state.rounds <= 10_000 else np.zeros_like(actions)
