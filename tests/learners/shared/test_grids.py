"""Grids of base learners: banks of several kinds, a slow reference, shares of bases, damaged memories, caches."""

# ruff: noqa: ARG002 (methods have the arguments of the contract)

import ast
import os
import pickle
import subprocess
import sys
from dataclasses import dataclass
from typing import Annotated, Any, NamedTuple

import numba
import numpy as np
import pytest

from driftwise import Session
from driftwise.checks import check_learner
from driftwise.checks.check import mixed_losses
from driftwise.core.corners import Corners
from driftwise.core.errors import BadFile, InvalidInput
from driftwise.core.kernel import clone, compiled, kernel, unbound
from driftwise.core.memory_fields import between, distribution
from driftwise.core.types import Matrix, Vector, Words
from driftwise.core.vectors import least
from driftwise.learners import (
    SAOL,
    UCB1,
    Ader,
    Hedge,
    OnlineGD,
    OptimisticGD,
    OptimisticHedge,
    RestartedAdaptiveGD,
    SleepingOptimisticAdaptMLProd,
    Sword,
    learners,
)
from driftwise.learners.shared.grid_learner import Bank, GridLearner, LearnerBank, grid
from driftwise.learners.shared.meta_learner import copy_kernel, row, row_kernel, stacked_memory, stacked_rates
from driftwise.registry import versions
from paths import FAMILIES, make_path
from references import gd, meta

RATES, SHARES, PERIODS = (1, 0.25), (0.0, 0.3, 1.0), (5, None)


class BlendMemory(NamedTuple):
    totals: Annotated[Vector, between(0, "rounds", "actions")]
    weights: Annotated[Matrix, distribution("bases", "actions")]  # not the first field
    rounds: Annotated[Vector, between(0, "rounds", 1)]


class BlendRates(NamedTuple):
    learning_rate: float
    uniform: Vector  # the share of uniform weights in each base


@kernel
def _blend(memory: BlendMemory, rates: BlendRates, losses: Vector) -> None:
    for k in range(losses.size):
        memory.totals[k] += losses[k]
    lowest, mass = least(memory.totals), 0.0
    for k in range(losses.size):
        mass += np.exp(-rates.learning_rate * (memory.totals[k] - lowest))
    for b in range(rates.uniform.size):
        for k in range(losses.size):
            hedge = np.exp(-rates.learning_rate * (memory.totals[k] - lowest)) / mass
            memory.weights[b, k] = (1.0 - rates.uniform[b]) * hedge + rates.uniform[b] / losses.size
    memory.rounds[0] += 1.0


@dataclass(frozen=True)
class BlendBank(Bank[BlendMemory, BlendRates]):
    """Hedge mixed with several shares of uniform weights; the bases share the total losses."""

    learning_rate: float
    uniform: tuple[float, ...]

    update = _blend

    def labels(self) -> list[str]:
        return [f"blend({share})" for share in self.uniform]

    def first_memory(self, n_actions: int, generator: Words) -> BlendMemory:
        weights = np.full((len(self.uniform), n_actions), 1.0 / n_actions)
        return BlendMemory(np.zeros(n_actions), weights, np.zeros(1))

    def rates(self, n_actions: int) -> BlendRates:
        return BlendRates(self.learning_rate, np.array(self.uniform))

    def memory_contradiction(self, memory: BlendMemory, rounds: int) -> str:
        return "" if memory.rounds[0] == rounds else f"`rounds` must be {rounds}"


@grid("mixed-grid", rule=OptimisticHedge, banks=[OptimisticGD, BlendBank, RestartedAdaptiveGD])
@dataclass(frozen=True)
class Mixed(GridLearner):
    r"""Three banks: two of learners, with rates that are floats or integers, one with a kernel of its own.

    Parameters
    ----------
    meta_rate : float or None, default None
        Learning rate of the rule.
    fastest : float, default 1
        Learning rate of the first base.

    Notes
    -----
    Regret: none proved.

    Must know: nothing.

    Time per round: O(K).
    """

    meta_rate: float | None = None
    fastest: float = RATES[0]

    corners = Corners(meta_rate=(0.1, None), fastest=(0.5, 8))

    def banks(self, n_actions: int) -> list[Bank]:
        descents = tuple(OptimisticGD(rate) for rate in (self.fastest, *RATES[1:]))
        restarted = tuple(RestartedAdaptiveGD(period) for period in PERIODS)
        return [LearnerBank(descents), BlendBank(0.7, SHARES), LearnerBank(restarted)]

    def rule(self, n_actions: int) -> OptimisticHedge:
        return OptimisticHedge(self.meta_rate)


@dataclass(frozen=True)
class Wrong(Mixed):
    """A grid whose banks are not those that it was registered with."""

    def banks(self, n_actions: int) -> list[Bank]:
        return super().banks(n_actions)[:2]


del learners._classes["mixed-grid"]  # other tests read the registry


@pytest.fixture
def registered(monkeypatch):
    monkeypatch.setitem(learners._classes, "mixed-grid", Mixed)


def reference(losses, meta_rate=None):
    """Return the weights of `Mixed`: the plays of each base alone, weighed by a slow Optimistic Hedge."""
    n_rounds, n_actions = losses.shape
    hedge = np.array(meta.hedge(losses, 0.7))
    plays = [
        *(gd.optimistic_gd(losses, rate) for rate in RATES),
        *((1 - share) * hedge + share / n_actions for share in SHARES),
        *(gd.restarted_adaptive_gd(losses, period) for period in PERIODS),
    ]
    lost = np.array([[play[t] @ losses[t] for play in plays] for t in range(n_rounds)])
    hints = np.zeros_like(lost)
    for t in range(1, n_rounds):
        hints[t] = [play[t] @ losses[t - 1] for play in plays]
    shares = meta.optimistic_hedge(lost, hints, meta_rate)
    return np.array(
        [sum(share * play[t] for share, play in zip(shares[t], plays, strict=True)) for t in range(n_rounds)]
    )


# Plays


@pytest.mark.interpreted
@pytest.mark.parametrize("family", FAMILIES)
def test_a_grid_of_several_banks_plays_as_its_parts_do_alone(family):
    for n_rounds, n_actions, meta_rate in ((1, 3, None), (20, 1, None), (33, 2, 2.0), (40, 4, None)):
        losses, learner = make_path(family, n_rounds, n_actions, seed=n_rounds), Mixed(meta_rate)
        played = learner.run(learner.start(n_actions), losses)
        np.testing.assert_allclose(played, reference(losses, meta_rate), rtol=0.0, atol=1e-9)


def test_a_grid_of_several_banks_passes_all_checks(registered):
    check_learner(Mixed())


@pytest.mark.interpreted
@pytest.mark.parametrize("learner", [Mixed(), Ader(50), Sword(50), SAOL()], ids=lambda learner: learner.name)
def test_stepping_writes_the_memory_that_a_block_writes(learner):
    losses = mixed_losses(40, 3)
    whole, stepped = learner.start(3), learner.start(3)
    played = learner.run(whole, losses)
    for t in range(len(losses)):
        assert learner.predict(stepped).tobytes() == played[t].tobytes()
        learner.update(stepped, losses[t])
    for name, array in whole.arrays().items():
        assert array.tobytes() == stepped.arrays()[name].tobytes(), name


@pytest.mark.skipif(numba.config.DISABLE_JIT, reason="nothing is compiled")
def test_rates_that_are_integers_compile_nothing_new():
    losses = mixed_losses(6, 2)
    for fastest in (1, 1.0, np.float64(0.5)):
        learner = Mixed(fastest=fastest)
        state = learner.start(2)
        learner.run(state, losses)
        learner.update(state, losses[0])
        assert compiled(learner.loops.run) == compiled(state.live.step) == 1


# Shares


@pytest.mark.interpreted
def test_shares_of_bases_are_the_weights_of_the_rule():
    learner = Mixed()
    state = learner.start(3)
    learner.run(state, mixed_losses(30, 3))
    shares = learner.base_shares(state)
    labels = ["optimistic-gd(learning_rate=1.0)", "optimistic-gd(learning_rate=0.25)"]
    labels += ["blend(0.0)", "blend(0.3)", "blend(1.0)", "restarted-adaptive-gd(restart_every=5)"]
    assert [*shares] == [*labels, "restarted-adaptive-gd"]
    assert [*shares.values()] == state.memory.rule_weights.tolist()
    mixed = state.memory.rule_weights @ state.memory.base_weights
    np.testing.assert_allclose(mixed, learner.predict(state), rtol=1e-12)


@pytest.mark.interpreted
def test_shares_of_equal_bases_are_added():
    learner = Mixed(fastest=0.25)
    assert learner.base_shares(learner.start(2))["optimistic-gd(learning_rate=0.25)"] == pytest.approx(2 / 7)


@pytest.mark.interpreted
def test_shares_of_another_learners_state_are_refused():
    with pytest.raises(InvalidInput, match=r"the state belongs to Ader\(n_rounds=20\)\.$"):
        Ader(10).base_shares(Ader(20).start(2))


# Parts that do not fit


def test_banks_must_be_those_of_the_registration():
    kinds = r"\['OptimisticGD', 'BlendBank', 'RestartedAdaptiveGD'\], got \['OptimisticGD', 'BlendBank'\]"
    with pytest.raises(InvalidInput, match=rf"^Wrong: `banks` must return banks of {kinds}\.$"):
        Wrong().start(2)


@pytest.mark.parametrize("kind", [UCB1, SleepingOptimisticAdaptMLProd, Ader, SAOL])
def test_bases_and_rules_must_be_single_learners_of_fixed_memory(kind):
    what = "a full-feedback learner of fixed memory, not one made of learners"
    with pytest.raises(InvalidInput, match=rf"^{kind.__name__}: a base of a grid must be {what}\.$"):
        grid("wrong", rule=Hedge, banks=[kind])(Wrong)
    with pytest.raises(InvalidInput, match=rf"^wrong: `rule` must be {what}, got {kind.__name__}\.$"):
        grid("wrong", rule=kind, banks=[Hedge])(Wrong)


# Session files


FIELDS = [name for name in Mixed.Memory._fields if name not in ("base_losses", "rule_ahead")]  # not read


@pytest.mark.interpreted
@pytest.mark.parametrize("name", FIELDS)
def test_a_damaged_array_is_refused_wherever_it_is(name, registered, tmp_path):
    session = Session(Mixed(), 3)
    for losses in mixed_losses(7, 3):
        session.update(losses)
    session.save(tmp_path / "whole")
    assert Session.load(tmp_path / "whole").rounds == 7
    whole = session.state.memory
    for place in (0, -1):
        session.state.memory = type(whole)(*(array.copy() for array in whole))
        session.state.arrays()[name].reshape(-1)[place] += 99
        session.save(tmp_path / "damaged")
        with pytest.raises(BadFile, match=name.removeprefix("rule_").rpartition("_")[2]):
            Session.load(tmp_path / "damaged")


def test_the_fault_of_a_damaged_part_is_named():
    learner = Mixed()
    for field, at, what in (
        ("bank0_center", (1, 0), "`bank0`: base 1: `center` must be a distribution"),
        ("bank1_rounds", 0, "`bank1`: `rounds` must be in [0, 4]"),
        ("bank2_elapsed", (0, 0), "`bank2`: base 0: `elapsed` must be 4"),
        ("rule_deviation", 0, "`rule`: `deviation` must be in [0, 4]"),
    ):
        state = learner.start(2)
        learner.run(state, mixed_losses(4, 2))
        assert learner.memory_fault(state.memory, 2, 4) == ""
        getattr(state.memory, field)[at] = 9
        assert learner.memory_fault(state.memory, 2, 4) == what
    state.memory.rule_deviation[0], state.memory.bank1_rounds[0] = 0.0, 3.0
    assert learner.memory_fault(state.memory, 2, 4) == "`bank1`: `rounds` must be 4"


def test_a_session_continues_after_it_was_saved(registered, tmp_path):
    losses, session = mixed_losses(30, 3), Session(Mixed(), 3)
    for vector in losses[:13]:
        session.update(vector)
    session.save(tmp_path / "session")
    resumed = Session.load(tmp_path / "session")
    for vector in losses[13:]:
        session.update(vector)
        resumed.update(vector)
        assert session.predict().tobytes() == resumed.predict().tobytes()


# Other processes


def in_a_process(script, **variables):
    """Run a script and return what it prints, read as Python."""
    environment = {**os.environ, **variables}
    done = subprocess.run([sys.executable, "-c", script], env=environment, capture_output=True, text=True, check=True)
    return ast.literal_eval(done.stdout)


@pytest.mark.skipif(numba.config.DISABLE_JIT, reason="nothing is compiled")
@pytest.mark.parametrize("made", ["Sword(100)", "SAOL('optimistic-gd')"])
def test_a_second_process_compiles_nothing(made, tmp_path):
    script = f"""
import numpy as np
from driftwise.learners import SAOL, Sword
learner = {made}
state = learner.start(2)
learner.update(state, [0.0, 1.0])
learner.run(state, np.zeros((3, 2)))
stats = [loop.stats for loop in (learner.loops.run, state.live.step)]
print([(sum(s.cache_hits.values()), sum(s.cache_misses.values())) for s in stats])
"""
    assert in_a_process(script, NUMBA_CACHE_DIR=str(tmp_path)) == [(0, 1), (0, 1)]
    assert in_a_process(script, NUMBA_CACHE_DIR=str(tmp_path)) == [(1, 0), (1, 0)]


@pytest.mark.parametrize("learner", [Sword(100), SAOL("ada-hedge")], ids=lambda learner: learner.name)
def test_a_pickled_state_is_continued_in_another_process(learner, tmp_path):
    """The NamedTuple of its memory is made by code, and must be found there too."""
    state = learner.start(2)
    learner.run(state, mixed_losses(9, 2))
    (tmp_path / "state").write_bytes(pickle.dumps(state))
    script = f"""
import pickle
state = pickle.load(open({str(tmp_path / "state")!r}, "rb"))
state.learner.update(state, [0.25, 0.75])
print([type(state.memory) is state.learner.memory_type, state.learner.predict(state).tolist()])
"""
    learner.update(state, [0.25, 0.75])
    assert in_a_process(script) == [True, learner.predict(state).tolist()]


# Stacks


class Odd(NamedTuple):
    weights: Any
    table: Any
    counts: Any
    words: Any
    flag: Any


def odd(n):
    return Odd(
        np.array([0.5, -0.0, np.nan, 5e-324]) * n,
        np.arange(6.0).reshape(2, 3) + n,
        np.array([-1, 2**62 + n], np.int64),
        np.array([2**64 - n, 0x7FF0000000000001], np.uint64),  # the second is a signalling NaN as a double
        np.array([n == 2]),
    )


ROW = COPY = unbound


def _copy_row(stack, i, j):
    COPY(Odd(*ROW(stack, j)), ROW(stack, i))


@pytest.mark.interpreted
def test_rows_of_a_stack_are_views_that_compiled_code_copies_bit_for_bit():
    originals = [odd(n) for n in (1, 2, 3)]
    stack = stacked_memory(originals)
    clone(_copy_row, "odd", kinds=(Odd,), ROW=row_kernel(5), COPY=copy_kernel(5))(stack, 1, 2)
    for i, source in enumerate((0, 1, 1)):
        for array, other, whole in zip(row(stack, i), originals[source], stack, strict=True):
            assert (array.dtype, array.shape, array.tobytes()) == (other.dtype, other.shape, other.tobytes())
            assert array.base is whole
            assert array.flags.carray


@pytest.mark.interpreted
def test_stacked_rates_have_the_types_of_their_annotations():
    slow, fast = (OnlineGD(rate).rates(2) for rate in (1, 3))
    assert stacked_rates([slow, fast]).step.dtype == np.float64
    periods = stacked_rates([RestartedAdaptiveGD(period).rates(2) for period in (7, None)]).restart_every
    assert periods.tolist() == [7, np.iinfo(np.int64).max]


def test_stored_results_depend_on_the_versions_of_the_parts():
    assert versions(Ader()) == {"learner ader": 1, "learner hedge": 1, "learner online-gd": 1}
    assert versions(Sword()) == {"learner optimistic-gd": 1, "learner optimistic-hedge": 1, "learner sword": 1}
