"""Learners in plain Python: they play as compiled ones, everywhere, and errors of theirs are explained."""

# ruff: noqa: ARG002, ARG005 (methods have the arguments of the contract)

import os
import pickle
import random
import re
import subprocess
import sys
from dataclasses import FrozenInstanceError, dataclass

import numpy as np
import pytest

from command_line import runner
from driftwise import (
    Bernoulli,
    Environment,
    Mixture,
    Player,
    PythonLearner,
    Session,
    Sweep,
    Switching,
    record,
    simulate,
)
from driftwise.adversaries import BanditLow, FullLow
from driftwise.checks import CheckFailed, check_learner
from driftwise.checks.check import expect_same
from driftwise.core.errors import BadFile, InvalidInput, LearnerError
from driftwise.engine.compile_ahead import compile_learner
from driftwise.learners import SAOL, UCB1, Hedge, OracleRestarts, learners
from outside_files import ROOT, module_of
from sweep_helpers import content
from user_modules import PYTHON_GREEDY

SWITCHING = Environment(Switching(3, 3), Bernoulli())


@pytest.fixture(autouse=True)
def own_registry(monkeypatch):
    """Let a test register learners that no other test sees."""
    monkeypatch.setattr(learners, "_classes", dict(learners._classes))


@pytest.fixture
def twins(monkeypatch):
    module = module_of("examples/python_twins.py")
    monkeypatch.setitem(sys.modules, "python_twins", module)  # for pickles
    return module


@pytest.fixture
def greedy(monkeypatch, tmp_path):
    """Return the class of a learner that draws, in a module that another process can import."""
    (tmp_path / "greedy_of_a_test.py").write_text(PYTHON_GREEDY.format(name="greedy-of-a-test"))
    monkeypatch.syspath_prepend(tmp_path)
    monkeypatch.delitem(sys.modules, "greedy_of_a_test", raising=False)
    import greedy_of_a_test

    return greedy_of_a_test.Greedy


class FullParts:
    """The methods of a valid learner with full feedback."""

    def first_memory(self, n_actions, generator):
        return {"total": np.zeros(n_actions), "seen": 0}

    def predict(self, memory):
        return np.full(memory.total.size, 1 / memory.total.size)

    def update(self, memory, losses):
        memory.total += losses
        memory.seen += 1


class BanditParts:
    """The methods of a valid learner with bandit feedback."""

    def first_memory(self, n_actions, generator):
        return {"plays": np.zeros(n_actions, np.int64), "generator": generator}

    def choose(self, memory):
        return int(memory.generator.integers(memory.plays.size)), 1 / memory.plays.size

    def update(self, memory, action, loss, probability):
        memory.plays[action] += 1


def made(parts, **methods):
    """Return a learner `Mine` with these methods, and with `parts` for the others."""
    own = {**{name: value for name, value in vars(parts).items() if not name.startswith("__")}, **methods}
    return type(PythonLearner)("Mine", (PythonLearner,), own, name="mine")()


# Plays


@pytest.mark.parametrize("n_actions", [1, 2, 7])
def test_twins_play_exactly_as_the_compiled_learners(twins, n_actions):
    for seed in range(3):
        source = np.random.default_rng(seed)
        for losses in (source.random((300, n_actions)), source.integers(0, 2, (300, n_actions))):
            for one, other in ((twins.PythonHedge(0.3), Hedge(0.3)), (twins.PythonUCB1(1.5), UCB1(1.5))):
                played = [learner.run(learner.start(n_actions, seed), losses) for learner in (one, other)]
                np.testing.assert_array_equal(*played)


def test_twins_have_the_regret_of_the_compiled_learners_for_any_threads_and_blocks(twins):
    own = simulate(SWITCHING, [twins.PythonHedge.tuned, twins.PythonUCB1()], 300, 3, seed=4, n_threads=2, block_size=7)
    compiled = simulate(SWITCHING, [Hedge.tuned, UCB1()], 300, 3, seed=4)
    np.testing.assert_array_equal(own.regrets, compiled.regrets)
    assert own.labels == ("python-hedge (tuned)", "python-ucb1")


def test_simulate_reports_progress(twins):
    seen = []
    simulate(SWITCHING, twins.PythonUCB1(), 100, 2, block_size=50, n_threads=1, progress=lambda *n: seen.append(n))
    assert seen == [(50, 200), (100, 200), (150, 200), (200, 200)]


def test_twins_and_a_learner_that_draws_pass_all_checks(twins, greedy):
    for kind in (twins.PythonHedge, twins.PythonUCB1, greedy):
        check_learner(kind)


def test_equal_seeds_give_equal_draws_and_others_differ(greedy):
    learner = greedy(0.5)
    losses = np.full((50, 4), 0.5)
    one, same, other = (learner.run(learner.start(4, seed), losses) for seed in (1, 1, 2))
    np.testing.assert_array_equal(one, same)
    assert (one != other).any()


def test_a_history_is_recorded(twins):
    history = record(twins.PythonUCB1(), SWITCHING, n_rounds=200, seed=1)
    np.testing.assert_array_equal(history.weights, record(UCB1(), SWITCHING, n_rounds=200, seed=1).weights)
    assert history.beliefs[-1].rounds == 200


def test_a_subclass_calls_the_method_of_its_base_class(twins):
    class Clipped(twins.PythonHedge, name="clipped"):
        least: float = 0.1

        def predict(self, memory):
            weights = np.maximum(super().predict(memory), self.least)
            return weights / weights.sum()

    learner = Clipped(0.5, least=0.2)
    assert learner.label == "clipped(least=0.2)"
    weights = learner.run(learner.start(2), [[0.0, 1.0]] * 50)
    np.testing.assert_allclose(weights[-1], [1 / 1.2, 0.2 / 1.2])


# Memory


def test_the_state_holds_named_arrays_and_a_copy_shares_none(greedy):
    learner = greedy()
    state = learner.start(3, seed=1)
    learner.run(state, np.full((20, 3), 0.5))
    assert list(state.arrays()) == ["plays", "total", "generator"]
    assert state.memory.plays.sum() == 20
    copy, back = state.copy(), pickle.loads(pickle.dumps(state))
    expected = learner.run(state, np.full((30, 3), 0.5))
    for other in (copy, back):
        np.testing.assert_array_equal(learner.run(other, np.full((30, 3), 0.5)), expected)
        expect_same(other, state, "after equal rounds")


def test_assigning_to_the_memory_writes_into_the_array():
    def update(self, memory, losses):
        memory.total = 0.5 * memory.total + losses
        memory.seen = memory.seen + 1

    learner = made(FullParts, update=update)
    state = learner.start(2)
    array = state.memory.total
    learner.run(state, [[0.0, 1.0], [1.0, 1.0]])
    assert state.memory.total is array
    assert (array.tolist(), int(state.memory.seen)) == ([1.0, 1.5], 2)


def test_a_session_is_saved_and_continues(greedy, tmp_path):
    session = Session(greedy(), 3, seed=2)
    for _ in range(30):
        action, probability = session.choose()
        session.update(action, probability, loss=0.25 * action)
    session.save(tmp_path / "session")
    loaded = Session.load(tmp_path / "session")
    assert [loaded.choose() for _ in range(20)] == [session.choose() for _ in range(20)]


def test_a_session_with_numbers_alone_is_saved(tmp_path):
    def choose(self, memory):
        return int(memory.seen) % 2

    def update(self, memory, action, loss, probability):
        memory.seen += 1

    learner = made(
        BanditParts, first_memory=lambda self, n_actions, generator: {"seen": 0}, choose=choose, update=update
    )
    session = Session(learner, 2)
    session.update(0, None, loss=0.5)
    session.save(tmp_path / "session")
    assert Session.load(tmp_path / "session").choose() == (1, None)


def test_a_session_is_saved_with_parameters_that_are_plain_values(greedy, tmp_path):
    Session(greedy(np.int64(1)), 2).save(tmp_path / "session")
    assert Session.load(tmp_path / "session").learner == greedy(1)
    message = "session: parameters must be numbers, texts, or lists of them, got array([0.5])."
    with pytest.raises(InvalidInput, match=f"^{re.escape(message)}$"):
        Session(greedy(np.array([0.5])), 2).save(tmp_path / "session")


def test_a_session_whose_fields_depend_on_the_number_of_actions_is_saved(tmp_path):
    def first_memory(self, n_actions, generator):
        return {f"total{i}": np.zeros(2, ">f8") for i in range(n_actions)}

    learner = made(FullParts, first_memory=first_memory, update=lambda self, memory, losses: None)
    Session(learner, 3).save(tmp_path / "session")
    assert [*Session.load(tmp_path / "session").state.arrays()] == ["total0", "total1", "total2"]


def test_a_session_file_of_another_shape_is_rejected(greedy, tmp_path):
    session = Session(greedy(), 3)
    session.state.n_actions = 4
    session.save(tmp_path / "session")
    with pytest.raises(BadFile, match=r"`plays` must have the shape \(4,\), got \(3,\)"):
        Session.load(tmp_path / "session")


# Everywhere


def test_a_sweep_stores_it_and_continues(greedy, tmp_path, monkeypatch):
    sweep = Sweep(SWITCHING, [greedy(0.2), UCB1()], [40, 60], n_runs=3, seed=1)
    found = sweep.run(tmp_path / "threads", n_threads=2)
    assert content(found) == content(sweep.run(tmp_path / "one", n_threads=1))
    again = []
    monkeypatch.setattr("driftwise.sweeps.batches.play_run", lambda *given: again.append(given))
    assert content(sweep.run(tmp_path / "threads")) == content(found)
    assert not again


def test_a_new_version_is_played_again(greedy):
    before = Player.of(greedy()).versions
    greedy.version = 2
    assert (before, Player.of(greedy()).versions) == ({"learner greedy-of-a-test": 1}, {"learner greedy-of-a-test": 2})


def test_a_player_has_a_spec_pickles_and_names_its_module(greedy):
    player = Player("greedy-of-a-test", settings={"exploration_rate": 0.3})
    assert player == Player.of(greedy(0.3)) == pickle.loads(pickle.dumps(player))
    assert player.spec == {"name": "greedy-of-a-test", "exploration_rate": 0.3}
    assert player.modules == {"greedy_of_a_test"}


@pytest.mark.parametrize("mode", ["proof", "best-response"])
def test_an_adversary_responds_to_it_as_to_the_compiled_learner(twins, mode):
    for adversary, own, compiled in (
        (BanditLow(segments=4, mode=mode, n_copies=2), twins.PythonUCB1(), UCB1()),
        (FullLow(segments=4, variance=5.0, mode="best-response", n_copies=2), twins.PythonHedge(), Hedge(0.5)),
    ):
        found = [adversary.against(learner, 120, seed=1).start(120, 1).draw(120) for learner in (own, compiled)]
        np.testing.assert_array_equal(found[0].means, found[1].means)


def test_an_adversary_has_one_copy_of_a_learner_that_does_not_draw(twins, greedy, monkeypatch):
    numbers = []
    monkeypatch.setattr(BanditLow, "respond", lambda self, copies, *given: numbers.append(len(copies)))
    for learner in (twins.PythonUCB1(), greedy()):
        BanditLow(segments=2, mode="proof", n_copies=3).against(learner, 50)
    assert numbers == [1, 3]


def program(folder, *words):
    """Run the command line in a process of its own, in a folder."""
    variables = {**os.environ, "PYTHONPATH": str(ROOT / "src")}
    command = [sys.executable, "-m", "driftwise", *words]
    return subprocess.run(command, cwd=folder, env=variables, capture_output=True, text=True, check=False)


def test_the_command_line_takes_it(greedy, tmp_path, monkeypatch, capsys):
    run = runner(monkeypatch, capsys, tmp_path)
    own = ("--quiet", "--import", "greedy_of_a_test")
    code, out, err = run("simulate", *own, "--learner", "greedy-of-a-test:exploration_rate=0.3", "--rounds", 50)
    assert (code, err) == (0, "")
    assert "greedy-of-a-test(exploration_rate=0.3)" in out
    code, out, err = run("compile", *own, "greedy-of-a-test")
    assert out.startswith("greedy-of-a-test is a learner in plain Python: there is nothing to compile.\n")
    assert "compiled 0 learners in " in out


def test_an_error_on_the_command_line_has_the_traceback_of_the_user(tmp_path):
    text = PYTHON_GREEDY.format(name="fails").replace("memory.total[action] += loss", "memory.total[action] += los")
    (tmp_path / "fails.py").write_text(text)
    done = program(tmp_path, "simulate", "--import", "fails", "--learner", "fails", "--rounds=50", "--quiet")
    assert done.returncode == 1
    assert re.search(r'fails\.py", line \d+, in update\n', done.stderr)
    assert "NameError: name 'los' is not defined" in done.stderr
    note = "Raised in `update` of Greedy, in round 0, counted from 0. The state was not changed."
    assert done.stderr.rstrip().endswith(note)


@pytest.mark.parametrize(
    ("line", "ending"),
    [
        ("open('absent')", "FileNotFoundError: [Errno 2] No such file or directory: 'absent'\n{note}"),
        ("return 1", "driftwise: Greedy: `update` must return nothing; write into the memory instead, got 1. {note}"),
    ],
)  # fmt: skip
def test_an_error_on_the_command_line_names_the_round(line, ending, tmp_path):
    text = PYTHON_GREEDY.format(name="fails-late")
    (tmp_path / "fails_late.py").write_text(f"{text}        if memory.plays.sum() == 8:\n            {line}\n")
    done = program(tmp_path, "simulate", "--import", "fails_late", "--learner", "fails-late", "--rounds=50", "--quiet")
    note = "Raised in `update` of Greedy, in round 7, counted from 0. The state was not changed."
    assert done.returncode == 1
    assert done.stderr.rstrip().endswith(ending.format(note=note))


def test_a_sweep_records_where_a_learner_failed(tmp_path):
    def update(self, memory, losses):
        if memory.seen == 3:
            raise ZeroDivisionError("nothing left")
        memory.seen += 1

    found = Sweep(SWITCHING, made(FullParts, update=update), 10, n_runs=1).run(tmp_path / "out")
    ((_, _, _, error),) = found.failures()
    assert error == (
        "ZeroDivisionError: nothing left Raised in `update` of Mine, in round 3, counted from 0."
        " The state was not changed."
    )


def test_nothing_is_compiled():
    compile_learner(made(FullParts, update=lambda self, memory, losses: 1 / 0))  # it does not play


def test_parts_of_others_must_have_kernels(twins):
    for make, message in (
        (lambda: Mixture(3, learner=twins.PythonHedge()), "Mixture: `learner` must be a learner with full feedback"),
        (lambda: OracleRestarts(twins.PythonUCB1()), "OracleRestarts: `base` must be a bandit learner other than"),
        (lambda: SAOL(base="python-hedge"), "SAOL: `base` must be a full-feedback learner of fixed memory"),
    ):
        with pytest.raises(InvalidInput, match=re.escape(message)) as caught:
            make()
        assert str(caught.value).endswith("A learner in plain Python has no kernels.")


# Classes


def test_none_is_registered_by_the_package():
    assert not [name for name in learners if issubclass(learners.get(name), PythonLearner)]


def test_a_cell_of_a_notebook_may_run_twice():
    results = []
    for rate in (0.5, 0.25):
        names = {"__name__": "__main__"}
        exec(PYTHON_GREEDY.format(name="of-a-notebook").replace("= 0.1", f"= {rate}"), names)
        learner = names["Greedy"]()
        results.append(simulate(SWITCHING, learner, 20, 1).learners[0]["exploration_rate"])
        assert Player.of(learner).kind is names["Greedy"]
    with pytest.raises(InvalidInput, match=r"got the class Greedy\. Write Greedy\(\)\.$"):  # it has no rule for tuning
        simulate(SWITCHING, names["Greedy"], 20, 1)
    assert results == [0.5, 0.25]


def test_a_learner_that_is_older_than_its_class_is_explained():
    old, new = made(FullParts), made(FullParts)
    message = "Mine was defined again after this learner was made; make it again."
    with pytest.raises(InvalidInput, match=f"^{re.escape(message)}$"):
        simulate(SWITCHING, old, 20, 1)
    message = "Mine(): the state belongs to Mine() of an earlier definition of its class."
    with pytest.raises(InvalidInput, match=f"^{re.escape(message)}$"):
        new.predict(old.start(2))


def test_the_decorator_of_dataclasses_may_be_written():
    @dataclass(frozen=True)
    class Decorated(FullParts, PythonLearner, name="decorated"):
        rate: float = 0.5

    assert Decorated(0.25) == Decorated(rate=0.25) != Decorated()
    assert len({Decorated(), Decorated()}) == 1
    with pytest.raises(FrozenInstanceError):
        Decorated().rate = 1.0


def test_the_name_of_another_learner_is_taken():
    with pytest.raises(InvalidInput, match=r"^The learner name 'hedge' is taken by Hedge\.$"):
        type(PythonLearner)("Mine", (FullParts, PythonLearner), {}, name="hedge")
    made(FullParts)
    with pytest.raises(InvalidInput, match=r"^The learner name 'mine' is taken by Mine of the module \w+\.$"):
        type(PythonLearner)("Mine", (FullParts, PythonLearner), {"__module__": "other"}, name="mine")


PLAYS = "it must define `predict` (full feedback) or `choose` (bandit feedback), got"


@pytest.mark.parametrize(
    ("parts", "missing", "name", "message"),
    [
        (FullParts, "predict", "mine", f"{PLAYS} neither."),
        (FullParts, "update", "mine", "it must define `update(self, memory, losses)`."),
        (BanditParts, "update", "mine", "it must define `update(self, memory, action, loss, probability)`."),
        (FullParts, "first_memory", "mine", "it must define `first_memory(self, n_actions, generator)`."),
        (
            FullParts, None, "My name",
            "`name` must be lower-case words joined by hyphens, as in 'epsilon-greedy', got 'My name'.",
        ),
    ],
)  # fmt: skip
def test_a_class_without_a_method_is_rejected(parts, missing, name, message):
    methods = {key: value for key, value in vars(parts).items() if not key.startswith("__") and key != missing}
    with pytest.raises(InvalidInput, match=f"^{re.escape(f'Mine: {message}')}$"):
        type(PythonLearner)("Mine", (PythonLearner,), methods, name=name)


@pytest.mark.parametrize(
    ("parts", "method", "message"),
    [
        (
            FullParts, {"update": lambda self, memory: 1},
            "it must define `update(self, memory, losses)`, got update(self, memory).",
        ),
        (FullParts, {"update": 3}, "`update` must be a method, got 3."),
        (FullParts, {"choose": lambda self, memory: 1}, f"{PLAYS} both."),
        (
            BanditParts, {"first_memory": lambda self: {}},
            "it must define `first_memory(self, n_actions, generator)`, got first_memory(self).",
        ),
    ],
)  # fmt: skip
def test_a_method_with_other_arguments_is_rejected(parts, method, message):
    with pytest.raises(InvalidInput, match=f"^{re.escape(f'Mine: {message}')}$"):
        made(parts, **method)


def test_parameters_have_an_annotation_and_names_of_their_own():
    message = "Mine: `rate` is no parameter; a parameter must have an annotation, as in `rate: float = ...`."
    with pytest.raises(InvalidInput, match=f"^{re.escape(message)}$"):
        type(made(FullParts, rate=0.5))(rate=0.25)
    for name in ("version", "name", "feedback", "start"):
        with pytest.raises(InvalidInput, match=rf"^Mine: `{name}` cannot be a parameter: every learner has"):
            made(FullParts, **{"__annotations__": {name: int}, name: 2})


def test_methods_take_the_state_and_the_memory_by_name():
    class Named(made(FullParts).__class__, name="named"):
        def predict(self, memory):
            return super().predict(memory=memory)

    learner = Named()
    state = learner.start(n_actions=2)
    learner.update(state=state, losses=[0.0, 1.0])
    np.testing.assert_array_equal(learner.predict(state=state), [0.5, 0.5])


def test_a_class_without_a_name_is_a_base_class_only():
    class Base(FullParts, PythonLearner):
        pass

    message = 'Base: it has no name in the registry; write `class Base(FullParts, PythonLearner, name="...")`.'
    with pytest.raises(InvalidInput, match=f"^{re.escape(message)}$"):
        Base()


# What methods return


WEIGHTS = "the weights that `predict` returns must be >= 0 and sum to 1, got"
CHOICE = "`choose` must return an action, a whole number in [0, 2], or (action, probability), got"
MEMORY = "`first_memory` must return a dictionary of NumPy arrays and numbers, and `generator` if it draws, got"
TOTAL = "`memory.total` must keep its shape (3,) and its type float64, got"
FIELD = "in the memory must be a NumPy array of numbers or a number, got"
LETTERS = "letters, digits and underscores, starting with a letter"
NAME = f"a name in the memory must be {LETTERS}, and no keyword of Python, got"


def returns(value):
    return lambda self, memory, *given: value


@pytest.mark.parametrize(
    ("value", "message"),
    [
        (np.array([0.5, 0.5]), "`predict` must return weights of shape (3,), got shape (2,)."),
        (np.array([[0.5, 0.25, 0.25]]), "`predict` must return weights of shape (3,), got shape (1, 3)."),
        (None, "`predict` must return an array of 3 weights, got None."),
        ("abc", "`predict` must return an array of 3 weights, got 'abc'."),
        ([1.0, [0.0], 0.0], "`predict` must return an array of 3 weights, got [1.0, [0.0], 0.0]."),
        (np.array([0.5, 0.5, 0.5]), f"{WEIGHTS} [0.5, 0.5, 0.5]."),
        (np.array([1.5, -0.5, 0.0]), f"{WEIGHTS} [1.5, -0.5, 0.0]."),
        (np.array([np.nan, 0.5, 0.5]), f"{WEIGHTS} [nan, 0.5, 0.5]."),
    ],
)  # fmt: skip
def test_wrong_weights_are_rejected_and_change_nothing(value, message):
    rejected(made(FullParts, predict=returns(value)), message, lambda learner, state: learner.predict(state))


@pytest.mark.parametrize(
    ("value", "message"),
    [
        *(
            (value, f"{CHOICE} {value!r}.")
            for value in (3, -1, 0.0, None, True, (3, 1.0), (0, 1.0, 2), np.array([1, 2]))
        ),
        ((0, 0.0), "the probability that `choose` returns must be in (0, 1] or None, got 0.0."),
        ((0, 1.5), "the probability that `choose` returns must be in (0, 1] or None, got 1.5."),
        ((0, float("nan")), "the probability that `choose` returns must be in (0, 1] or None, got nan."),
        ((0, "a"), "the probability that `choose` returns must be in (0, 1] or None, got 'a'."),
    ],
)  # fmt: skip
def test_wrong_choices_are_rejected_and_change_nothing(value, message):
    def choose(self, memory):
        memory.generator.random()
        return value

    rejected(made(BanditParts, choose=choose), message, lambda learner, state: learner.choose(state))


def assigns(name, value):
    def update(self, memory, losses):
        memory.total += 1
        setattr(memory, name, value)

    return update


@pytest.mark.parametrize(
    ("method", "message"),
    [
        (assigns("total", np.zeros(4)), f"{TOTAL} float64 of shape (4,)."),
        (assigns("total", np.zeros(3, complex)), f"{TOTAL} complex128 of shape (3,)."),
        (assigns("seen", 0.5), "`memory.seen` must keep its shape () and its type int64, got float64 of shape ()."),
        (assigns("seen", None), "`memory.seen` must keep its shape () and its type int64, got object of shape ()."),
        (assigns("totals", 1), "the memory has no field `totals`. Did you mean `total`?"),
        (assigns("x", 1), "the memory has no field `x`. Its fields are total, seen; `first_memory` makes them."),
        (assigns("seen", 2**63), "`memory.seen` must keep its shape () and its type int64, got uint64 of shape ()."),
        (returns(3), "`update` must return nothing; write into the memory instead, got 3."),
        (lambda self, memory, losses: delattr(memory, "total"), "`memory.total` must not be deleted."),
        (
            lambda self, memory, losses: memory["total"],
            "a field of the memory is an attribute, as in `memory.total`, got `memory['total']`.",
        ),
    ],
)  # fmt: skip
def test_wrong_updates_are_rejected_and_change_nothing(method, message):
    rejected(made(FullParts, update=method), message, lambda learner, state: learner.update(state, [0.5] * 3))


def rejected(learner, message, play):
    """Expect a round, alone and in a block, to raise this error and to leave the state unchanged."""
    state = learner.start(3, seed=1)
    before = state.copy()
    for turn in (lambda: play(learner, state), lambda: learner.run(state, np.full((5, 3), 0.5))):
        with pytest.raises(LearnerError) as caught:
            turn()
        assert str(caught.value) == f"Mine: {message}"
        assert re.match(r"Raised in `\w+` of Mine, in round 0, counted from 0\.", caught.value.__notes__[0])
    expect_same(state, before, "before and after a round that failed")


@pytest.mark.parametrize(
    ("memory", "message"),
    [
        ([np.zeros(3)], f"{MEMORY} [array([0., 0., 0.])]."),
        ({}, f"{MEMORY} {{}}."),
        ({"a": [1, 2]}, f"`a` {FIELD} [1, 2]."),
        ({"a": np.array(["b"])}, f"`a` {FIELD} an array of <U1."),
        ({"a b": 1}, f"{NAME} 'a b'."),
        ({"_a": 1}, f"{NAME} '_a'."),
        ({"class": 1}, f"{NAME} 'class'."),
        ({"generator": np.random.default_rng()}, "`generator` in the memory must be the one given to `first_memory`."),
    ],
)  # fmt: skip
def test_a_memory_of_something_else_is_rejected(memory, message):
    learner = made(FullParts, first_memory=lambda self, n_actions, generator: memory)
    with pytest.raises(LearnerError, match=f"^{re.escape(f'Mine: {message}')}$"):
        learner.start(3)


def test_no_method_sets_the_shape_or_the_type_of_an_array():
    def update(self, memory, losses):
        memory.total += losses
        memory.total.shape = (3, 1)

    def predict(self, memory):
        memory.total.dtype = np.int64
        return np.full(3, 1 / 3)

    for method, got in ((update, "float64 of shape (3, 1)"), (predict, "int64 of shape (3,)")):
        learner = made(FullParts, **{method.__name__: method})
        state = learner.start(3)
        before = state.copy()
        with pytest.raises(LearnerError, match=f"^{re.escape(f'Mine: {TOTAL} {got}.')}$"):
            learner.run(state, [[0.5, 0.5, 0.5]])
        expect_same(state, before, "before and after a round that failed")


def test_predict_and_choose_cannot_change_the_memory():
    def adds(self, memory):
        memory.seen += 1

    def writes(self, memory):
        memory.total[0] = 1.0

    message = "`predict` must not change `memory.seen`; change it in `update`."
    rejected(made(FullParts, predict=adds), message, lambda learner, state: learner.predict(state))
    learner = made(FullParts, predict=writes)
    with pytest.raises(ValueError, match="read-only") as caught:
        learner.predict(learner.start(2))
    assert "`predict` must not change the memory; change it in `update`." in caught.value.__notes__[0]


def test_the_generator_of_the_memory_is_neither_renamed_nor_replaced_nor_spawned():
    learner = made(BanditParts, first_memory=lambda self, n_actions, generator: {"draws": generator})
    message = "Mine: the generator in the memory must have the name `generator`, got `draws`."
    with pytest.raises(LearnerError, match=f"^{re.escape(message)}$"):
        learner.start(2)
    replaced = made(BanditParts, choose=lambda self, memory: setattr(memory, "generator", np.random.default_rng()))
    rejected(replaced, "`memory.generator` must not be replaced.", lambda learner, state: learner.choose(state))
    learner = made(BanditParts, choose=lambda self, memory: memory.generator.spawn(1)[0].integers(2))
    with pytest.raises(TypeError, match="does not implement spawning"):
        learner.choose(learner.start(2))


def test_predict_cannot_draw():
    kept = {"first_memory": lambda self, n_actions, generator: {"total": np.zeros(n_actions), "generator": generator}}
    learner = made(FullParts, **kept, predict=lambda self, memory: memory.generator.random(2))
    with pytest.raises(AttributeError, match="`predict` must not draw"):
        learner.predict(learner.start(2))


def test_an_error_or_an_interrupt_in_a_block_leaves_the_state_unchanged():
    for kind in (ZeroDivisionError, KeyboardInterrupt):

        def update(self, memory, action, loss, probability, kind=kind):
            memory.plays[action] += 1
            if memory.plays.sum() == 30:
                raise kind

        learner = made(BanditParts, update=update)
        state = learner.start(3, seed=1)
        learner.run(state, np.full((20, 3), 0.5))
        before = state.copy()
        with pytest.raises(kind):
            learner.run(state, np.full((20, 3), 0.5))
        expect_same(state, before, f"before and after {kind}")
        learner.run(state, np.full((5, 3), 0.5))


def test_a_method_that_plays_a_round_itself_and_fails_leaves_the_state_unchanged():
    sessions = []

    def update(self, memory, action, loss, probability):
        memory.plays[action] += 1
        if memory.plays.sum() == 3:
            sessions[0].update(*sessions[0].choose(), loss=0.5)
            raise ZeroDivisionError

    session = Session(made(BanditParts, update=update), 3)
    sessions.append(session)
    for _ in range(2):
        session.update(*session.choose(), loss=0.5)
    choice, before = session.choose(), session.state.copy()
    with pytest.raises(ZeroDivisionError):
        session.update(*choice, loss=0.5)
    expect_same(session.state, before, "before and after")


# Mistakes that the checks find


def hidden_attribute(self, memory, losses):
    memory.total += losses
    object.__setattr__(self, "_seen", getattr(self, "_seen", 0) + 1)


def draws_globally(self, memory):
    weights = np.random.rand(memory.total.size)  # noqa: NPY002
    return weights / weights.sum()


def draws_from_random(self, memory):
    weights = np.full(memory.total.size, random.random() + 0.1)
    return weights / weights.sum()


def draws_anew(self, memory):
    weights = np.random.default_rng().random(memory.total.size)
    return weights / weights.sum()


COUNTER = {"rounds": 0}


def counts_in_the_module(self, memory):
    COUNTER["rounds"] += 1
    weights = 1.0 + np.arange(memory.total.size) * (COUNTER["rounds"] % 7)
    return weights / weights.sum()


@pytest.mark.parametrize(
    ("methods", "message"),
    [
        ({"update": hidden_attribute}, "`the_learner_has_no_state_of_its_own`: playing changes `_seen`"),
        ({"predict": draws_globally}, "1. `global_random_numbers_are_not_used`: it draws from `numpy.random`"),
        ({"predict": draws_from_random}, "1. `global_random_numbers_are_not_used`: it draws from `random`"),
        ({"predict": draws_anew}, "1. `equal_seeds_give_equal_runs`: "),
        ({"predict": counts_in_the_module}, "1. `equal_seeds_give_equal_runs`: "),
    ],
)  # fmt: skip
def test_the_checks_find_state_and_randomness_outside_of_the_memory(methods, message):
    with pytest.raises(CheckFailed) as raised:
        check_learner(made(FullParts, **methods))
    assert message in " ".join(str(raised.value).split())


def test_an_attribute_of_the_instance_cannot_be_set():
    def update(self, memory, losses):
        self.seen = 1

    learner = made(FullParts, update=update)
    with pytest.raises(FrozenInstanceError, match=r"^Mine: `seen` cannot be set\. A learner has only parameters; keep"):
        learner.update(learner.start(2), [0.5, 0.5])


def test_a_class_with_a_dictionary_as_state_fails_the_check():
    def update(self, memory, losses):
        self.kept["rounds"] = self.kept.get("rounds", 0) + 1

    with pytest.raises(CheckFailed, match=r"playing changes\s+`kept` of the class Mine"):
        check_learner(made(FullParts, update=update, kept={}))


def test_an_array_of_a_base_class_as_state_fails_the_check():
    class Base(FullParts):
        kept = np.zeros(5000)

        def update(self, memory, losses):
            self.kept[2500] += 1e-12

    class Mine(Base, PythonLearner, name="mine"):
        pass

    with pytest.raises(CheckFailed, match=r"playing changes\s+`kept` of the class Base"):
        check_learner(Mine)
