"""Learners in plain Python that lie in some round, in sessions, blocks, simulations and sweeps.

python tests/helpers/fuzz_python_learners.py --cases 2000 --seed 0

A lie must raise an error, and leave the state as it was; or it must have no effect on the rounds after it. The learner
that lied must then play on as its honest twin.
"""

import argparse
import collections
import tempfile
from pathlib import Path

import numpy as np

from driftwise import Bernoulli, Environment, PythonLearner, Session, Sweep, Switching, simulate
from driftwise.checks.check import expect_same, mixed_losses
from driftwise.core.errors import DriftwiseError
from driftwise.learners import learners

ENVIRONMENT = Environment(Switching(3, 3), Bernoulli())  # of three actions
N_ROUNDS = 12
KEPT = []  # what liars keep


class OwnError(Exception):
    """Raised by a liar."""


def raises(error):
    def lie(*_):
        raise error

    return lie


def shrinks(memory, *_):
    memory.total.shape = (3, 1)


def retypes(memory, *_):
    memory.total.dtype = np.int64


def resizes(memory, *_):
    memory.total.resize(10_000, refcheck=False)


def poisons_and_raises(memory, *_):
    memory.total[:] = np.nan
    memory.seen = 10**6
    raise OwnError("half way")


def keeps(memory, *arguments):
    KEPT.append((memory, memory.total, memory.generator if "generator" in dir(memory) else None, arguments))


def changes_what_it_got(_, *arguments):
    for values in arguments:
        if isinstance(values, np.ndarray):
            values[:] = np.nan


def draws_and_raises(memory, *_):
    memory.generator.random(100)
    raise OwnError("after drawing")


RETURNED = {
    "predict": [
        None, 3, "abc", [0.5, 0.5], np.ones((3, 3)), [np.nan] * 3, [np.inf, -np.inf, 1.0], [2.0, -1.0, 0.0], [1j, 0, 0],
        np.array([1, 0, None], object), [[1.0], [0.0], [0.0, 1.0]], np.ma.masked_all(3), {0: 1.0}, [1e308, 1e308, 0.0],
        [0.5, 0.5, 2e-9], np.array([1.0, 0.0, 0.0]).astype("datetime64[s]"), b"\x00\x00\x00", iter([1.0, 0.0, 0.0]),
    ],
    "choose": [
        None, -1, 3, 10**30, 0.0, np.float64(1), True, np.True_, "0", (0,), (0, 1.0, 2), (0, 0.0), (0, np.nan), (0, -1),
        (0, np.inf), (0, "x"), (0, [1.0]), ((0, 1.0), 1.0), [0, 1.0], np.array([0, 1]), (0, 1 + 1e-9), 1j, (None, None),
    ],
    "update": [0, False, "done", np.zeros(3), ()],
}  # fmt: skip
ACTIONS = {
    "predict": [raises(OwnError("no")), raises(KeyboardInterrupt()), raises(RecursionError()), raises(MemoryError()),
                shrinks, resizes, poisons_and_raises, changes_what_it_got, keeps],
    "choose": [raises(OwnError("no")), raises(KeyboardInterrupt()), raises(StopIteration()), shrinks, resizes,
               poisons_and_raises, draws_and_raises, keeps],
    "update": [raises(OwnError("no")), raises(KeyboardInterrupt()), raises(SystemExit()), shrinks, retypes, resizes,
               poisons_and_raises, changes_what_it_got, keeps],
}  # fmt: skip


class Plan:
    """When a liar lies, and how."""

    def __init__(self, role="", at=0, lie=None):
        self.role, self.at, self.lie, self.lied = role, at, lie, False

    def due(self, role, memory):
        if role != self.role or self.lied or memory.seen < self.at:
            return False
        self.lied = True
        return True


def liar(plan, feedback):
    """Return a learner that follows a plan."""

    def told(role, memory, *arguments, otherwise):
        if not plan.due(role, memory):
            return otherwise()
        kind, value = plan.lie
        result = value(memory, *arguments) if kind == "does" else value
        return result if kind == "returns" else otherwise()

    def learn(memory, at, loss):
        memory.total[at] += loss
        memory.seen += 1

    class Base(PythonLearner):
        def first_memory(self, n_actions, generator):
            memory = {"total": np.zeros(n_actions), "seen": 0}
            return memory if feedback == "full" else {**memory, "generator": generator}

    if feedback == "full":

        class Liar(Base, name="liar"):
            def predict(self, memory):
                weights = np.exp(-memory.total)
                return told("predict", memory, otherwise=lambda: weights / weights.sum())

            def update(self, memory, losses):
                taken = losses.copy()
                return told("update", memory, losses, otherwise=lambda: learn(memory, slice(None), taken))

    else:

        class Liar(Base, name="liar"):
            def choose(self, memory):
                return told("choose", memory, otherwise=lambda: (int(memory.generator.integers(3)), 1 / 3))

            def update(self, memory, action, loss, probability):
                return told("update", memory, action, loss, probability, otherwise=lambda: learn(memory, action, loss))

    return Liar()


def play_round(session, row):
    if session.learner.feedback == "full":
        session.predict()
        session.update(row)
    else:
        session.update(*session.choose(), loss=row[0])


def one_case(rng):
    """Return what became of a lie; raise `AssertionError` where it had an effect."""
    learners._classes.pop("liar", None)
    feedback = ("full", "bandit")[rng.integers(2)]
    role = (("predict", "update") if feedback == "full" else ("choose", "update"))[rng.integers(2)]
    kind = ("returns", "does")[rng.integers(2)]
    values = RETURNED[role] if kind == "returns" else ACTIONS[role]
    plan = Plan(role, int(rng.integers(N_ROUNDS - 2)), (kind, values[rng.integers(len(values))]))
    learner, losses = liar(plan, feedback), mixed_losses(N_ROUNDS, 3, seed=int(rng.integers(100))).copy()
    place = ("session", "block", "simulate", "sweep")[rng.choice(4, p=[0.6, 0.3, 0.05, 0.05])]
    name = f"{place}, {feedback}, {role}, round {plan.at}, {plan.lie[1]!r}"
    before = losses.copy()
    outcome = in_session if place == "session" else in_block if place == "block" else in_study
    result = outcome(learner, losses, place)
    assert np.array_equal(losses, before), f"{name}: the losses were changed"
    if plan.lie[1] not in (keeps, changes_what_it_got, shrinks) if kind == "does" else True:
        assert result != "no effect", f"{name}: it was not noticed"
    return result


def in_session(learner, losses, _):
    session, errors = Session(learner, 3, seed=4), [None]
    for row in losses:
        state = session.state.copy()
        try:
            play_round(session, row)
        except BaseException as error:
            errors.append(error)
            expect_same(only_draws(session.state, state), state, "before and after a rejected round")
            session.state = state  # `choose` may have drawn before `update` failed
            play_round(session, row)
    compare_with_honest(session.state, losses, learner.feedback)
    return described(errors[-1])


def in_block(learner, losses, _):
    state, error = learner.start(3, seed=4), None
    before = state.copy()
    try:
        learner.run(state, np.repeat(losses[:, :1], 3, axis=1) if learner.feedback == "bandit" else losses)
    except BaseException as caught:
        error = caught
        expect_same(state, before, "before and after a rejected block")
        learner.run(state, np.repeat(losses[:, :1], 3, axis=1) if learner.feedback == "bandit" else losses)
    compare_with_honest(state, losses, learner.feedback)
    return described(error)


def in_study(learner, _, place):
    try:
        if place == "simulate":
            simulate(ENVIRONMENT, learner, n_rounds=N_ROUNDS, n_runs=1, n_threads=1)
            return "no effect"
        with tempfile.TemporaryDirectory() as folder:
            results = Sweep(ENVIRONMENT, learner, N_ROUNDS, n_runs=1).run(Path(folder) / "cells", n_threads=1)
            failures = [*results.failures()]
            assert all("Liar" in failure[-1] for failure in failures), failures
            return "a failed cell" if failures else "no effect"
    except BaseException as error:
        return described(error)


def only_draws(state, before):
    """Return a state with the generator of another: `choose` may draw in a round that fails."""
    return type(state)(state.learner, 3, state.rates, state.memory._replace(
        **({"generator": before.memory.generator} if "generator" in state.memory._fields else {})
    ), state.rounds)  # fmt: skip


def compare_with_honest(state, losses, feedback):
    learners._classes.pop("liar", None)
    honest = Session(liar(Plan(), feedback), 3, seed=4)
    for row in losses:
        play_round(honest, row)
    expect_same(state, honest.state, "of a liar and of its honest twin")


def described(error):
    if error is None:
        return "no effect"
    if isinstance(error, KeyboardInterrupt | SystemExit):
        return "an interrupt"
    if isinstance(error, DriftwiseError):
        assert str(error).startswith("Liar: "), f"it does not say who: {error!r}"
        return "refused"
    notes = getattr(error, "__notes__", [])
    assert any("of Liar, in round" in note for note in notes), f"it does not say where: {error!r}"
    return "its own error"


def fuzz(n_cases, seed):
    """Return how often a lie was refused, and so on."""
    rng, counts = np.random.default_rng(seed), collections.Counter()
    registered = dict(learners._classes)
    try:
        for case in range(n_cases):
            try:
                counts[one_case(rng)] += 1
            except BaseException as error:
                error.add_note(f"case {case} of seed {seed}")
                raise
    finally:
        KEPT.clear()
        learners._classes.clear()
        learners._classes.update(registered)
    return counts


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--cases", type=int, default=2000)
    parser.add_argument("--seed", type=int, default=0)
    given = parser.parse_args()
    print(f"{given.cases} lies of seed {given.seed}: {dict(fuzz(given.cases, given.seed))}")
