"""Kernels that cannot be compiled, or return the wrong thing: one sentence says what is wrong and what to do."""

from dataclasses import dataclass
from typing import NamedTuple

import numba
import numpy as np
import pytest

from driftwise.core import private_numba
from driftwise.core.errors import DriftwiseError, KernelError
from driftwise.core.kernel import allocating_kernel, kernel
from driftwise.core.types import Vector
from driftwise.learners import BanditLearner, ExpertLearner
from driftwise.learners.base import HintedLearner
from driftwise.learners.base.loops import bandit_loops, expert_loops

compiled_only = pytest.mark.skipif(numba.config.DISABLE_JIT, reason="without the compiler these are Python's errors")
uncounted = pytest.mark.skipif(
    "uncounted" not in private_numba.IN_USE, reason="arrays may be made with the memory manager"
)


class Memory(NamedTuple):
    weights: Vector
    total: Vector


class Sums(NamedTuple):
    total: Vector


class Rates(NamedTuple):
    rate: float


@kernel
def adds(memory, rates, losses):
    sums = memory.total + losses
    memory.total[0] = sums[0]


@kernel
def copies(memory, rates, losses):
    sums = losses.copy()
    memory.total[0] = sums[0]


@kernel
def makes_zeros(memory, rates, losses):
    sums = np.zeros(3)
    memory.total[0] = sums[0]


@kernel
def copies_into_a_slice(memory, rates, losses):
    memory.total[:] = losses


@kernel
def doubled(values):  # not `values.min()`: Numba may have compiled that in this process for a kernel that allocates
    return (values + values)[0]


@kernel
def calls_what_makes_an_array(memory, rates, losses):
    memory.total[0] = doubled(losses)


@kernel
def makes_a_list(memory, rates, losses):
    sums = [1.0, 2.0]
    memory.total[0] = sums[0]


@kernel
def misspells(memory, rates, losses):
    memory.wieghts[0] = losses[0]


@kernel
def misspells_a_rate(memory, rates, losses):
    memory.weights[0] = rates.x


@kernel
def changes_type(memory, rates, losses):
    sums = 1.0
    if losses[0] > 0.5:
        sums = losses
    memory.total[0] = sums


@kernel
def writes_text(memory, rates, losses):
    memory.total[0] = "many"


@kernel
def takes_two(memory, rates):
    memory.total[0] = 1.0


def is_not_compiled(memory, rates, losses):
    memory.total[0] = 1.0


@kernel
def adds_the_first(memory, rates, losses):
    memory.total[0] += losses[0]


@kernel
def returns_weights(memory, rates, losses):
    return losses[0]


def expert(update, memory=Memory, hint=None):
    @dataclass(frozen=True)
    class Mine(HintedLearner if hint else ExpertLearner):
        def first_memory(self, n_actions, generator):  # noqa: ARG002
            return memory(*(np.full(n_actions, 0.5) for _ in memory._fields))

        def rates(self, n_actions):  # noqa: ARG002
            return Rates(0.1)

    Mine.name, Mine.loops = "mine", expert_loops("mine", (Memory, Sums, Rates), update, hint)
    return Mine()


def bandit(choose, update):
    @dataclass(frozen=True)
    class Mine(BanditLearner):
        def first_memory(self, n_actions, generator):  # noqa: ARG002
            return Memory(np.zeros(n_actions), np.zeros(n_actions))

        def rates(self, n_actions):  # noqa: ARG002
            return Rates(0.1)

    Mine.name, Mine.loops = "mine", bandit_loops("mine", (Memory, Rates), choose, update)
    return Mine()


def block(learner):
    learner.run(learner.start(3), np.full((2, 3), 0.5))


def rounds(learner):
    state = learner.start(3)
    if learner.feedback == "full":
        learner.update(state, np.full(3, 0.5))
    else:
        action, probability = learner.choose(state)
        learner.update(state, action, 0.5, probability)


def expect(learner, play, message):
    with pytest.raises(KernelError, match=f"^Mine: {message}$") as caught:
        play(learner)
    assert isinstance(caught.value, DriftwiseError)
    return caught.value


PLACE = r"\(test_kernel_diagnosis\.py, line \d+\)"
ADVICE = "write a loop, or decorate it with `driftwise.core.kernel.allocating_kernel`"
both = pytest.mark.parametrize("play", [block, rounds], ids=["block", "live"])


@compiled_only
@uncounted
@both
@pytest.mark.parametrize(
    ("update", "message"),
    [
        (adds, f"the kernel `adds` makes an array {PLACE}; {ADVICE}."),
        (copies, f"the kernel `copies` makes an array {PLACE}; {ADVICE}."),
        (makes_zeros, f"the kernel `makes_zeros` makes an array {PLACE}; {ADVICE}."),
        (copies_into_a_slice, f"the kernel `copies_into_a_slice` makes an array {PLACE}; {ADVICE}."),
        (calls_what_makes_an_array, f"the kernel `doubled` makes an array {PLACE}; {ADVICE}."),
        (makes_a_list, f"the kernel `makes_a_list` makes a list {PLACE}; {ADVICE}."),
    ],
)
def test_a_kernel_that_makes_an_array(update, message, play):
    error = expect(expert(update), play, message)
    assert isinstance(error.__context__, numba.NumbaError)  # the whole text, which is not shown
    assert error.__suppress_context__


@compiled_only
@both
@pytest.mark.parametrize(
    ("update", "message"),
    [
        (misspells, rf"the kernel `misspells` reads `wieghts` {PLACE}, which `Memory` does not have\. "
         r"Did you mean `weights`\?"),
        (misspells_a_rate, rf"the kernel `misspells_a_rate` reads `x` {PLACE}, which `Rates` does not have\. "
         r"Its fields are rate\."),
        (changes_type, rf"the kernel `changes_type` gives the variable `sums` two types {PLACE}, "
         r"(float64|array\(.*\)) and (array\(.*\)|float64); use two variables\."),
        (takes_two, r"the kernel `takes_two` must take \(memory, rates, losses\), got \(memory, rates\)\."),
        (is_not_compiled, r"the function `is_not_compiled` must be compiled; decorate it with `kernel`\."),
        (writes_text, rf"the kernel `writes_text` cannot be compiled {PLACE}: .*setitem.*\. "
         r"Numba's full text is above\."),
    ],
)  # fmt: skip
def test_a_kernel_that_cannot_be_compiled(update, message, play):
    expect(expert(update), play, message)


@compiled_only
@both
def test_a_memory_without_weights(play):
    message = r"the memory must have a field `weights`, the next play; its fields are total\."
    expect(expert(adds_the_first, Sums), play, message)


@both
def test_an_update_that_returns_something(play):
    message = r"the kernel `returns_weights` must return nothing; write into the memory instead\."
    expect(expert(returns_weights), play, message)


@kernel
def first_action(memory, rates):
    return 0, 1.0


@kernel
def only_an_action(memory, rates):
    return 0


@kernel
def two_floats(memory, rates):
    return 0.0, 1.0


@kernel
def chooses_nothing(memory, rates):
    memory.total[0] = 1.0


@kernel
def three_numbers(memory, rates):
    return 0, 1.0, 2.0


@kernel
def the_weights(memory, rates):
    return memory.weights


@kernel
def adds_a_loss(memory, rates, action, loss, probability):
    memory.total[action] += loss


@kernel
def returns_the_loss(memory, rates, action, loss, probability):
    return loss


@kernel
def takes_no_probability(memory, rates, action, loss):
    memory.total[action] += loss


@compiled_only
@both
@pytest.mark.parametrize(
    ("choose", "got"),
    [
        (only_an_action, "int64"),
        (two_floats, r"\(float64, float64\)"),
        (chooses_nothing, "none"),
        (three_numbers, r"\(int64, float64, float64\)"),
    ],
)
def test_a_choice_of_another_kind(choose, got, play):
    name = choose.py_func.__name__
    rule = rf"must return \(action, probability\), a whole number and a float, got {got}\."
    expect(bandit(choose, adds_a_loss), play, f"the kernel `{name}` {rule}")


@compiled_only
@uncounted
@both
def test_a_choice_that_is_an_array(play):
    message = r"the kernel `the_weights` returns an array; write into one of the memory instead\."
    expect(bandit(the_weights, adds_a_loss), play, message)


@both
def test_a_bandit_update_that_returns_something(play):
    message = r"the kernel `returns_the_loss` must return nothing; write into the memory instead\."
    expect(bandit(first_action, returns_the_loss), play, message)


@compiled_only
@both
def test_a_bandit_update_with_too_few_arguments(play):
    message = (
        r"the kernel `takes_no_probability` must take \(memory, rates, action, loss, probability\), "
        r"got \(memory, rates, action, loss\)\."
    )
    expect(bandit(first_action, takes_no_probability), play, message)


@compiled_only
def test_a_hint_that_cannot_be_compiled():
    learner = expert(adds_the_first, hint=misspells)
    message = r"the kernel `misspells` reads `wieghts` .*Did you mean `weights`\?"
    expect(learner, lambda mine: mine.hint(mine.start(3), np.full(3, 0.5)), message)
    expect(learner, lambda mine: mine.run(mine.start(3), np.full((2, 3), 0.5), np.full((2, 3), 0.5)), message)


@compiled_only
def test_a_hint_that_returns_something():
    learner = expert(adds_the_first, hint=returns_weights)
    message = r"the kernel `returns_weights` must return nothing; write into the memory instead\."
    expect(learner, lambda mine: mine.hint(mine.start(3), np.full(3, 0.5)), message)


@both
def test_what_is_right_plays(play):
    play(expert(adds_the_first))
    play(expert(allocating_kernel(adds.py_func if hasattr(adds, "py_func") else adds)))
    play(bandit(first_action, adds_a_loss))
