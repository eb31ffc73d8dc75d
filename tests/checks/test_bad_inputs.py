"""One table of bad inputs: each is rejected in one sentence and changes nothing."""

import math
from collections.abc import Callable
from types import SimpleNamespace
from typing import NamedTuple

import numpy as np
import pytest

from driftwise import Bernoulli, Environment, Measures, Replay, Results, Session, Switching, simulate
from driftwise.checks.check import expect_same, mixed_losses
from driftwise.core.errors import BadFile, DriftwiseError, InvalidInput, UnknownName
from driftwise.environments.noises import noises
from driftwise.environments.paths import paths
from driftwise.learners import (
    OptimisticAdaptMLProd,
    OptimisticGD,
    RerunUCBV,
    RestartedAdaptiveGD,
    SleepingOptimisticAdaptMLProd,
    learners,
)
from driftwise.results import Interval, Switched

NAN, INF = math.nan, math.inf
MEASURES = Measures(n_actions=2, n_rounds=100, segments=3, drift=2.0, variance=10.0)
ENVIRONMENT = Environment(Switching(n_segments=3, n_actions=2), Bernoulli())
RECORDING = Replay([[0.1, 0.9]] * 10)
GD, PROD, UCB = OptimisticGD(), OptimisticAdaptMLProd(), RerunUCBV()


class Row(NamedTuple):
    call: Callable  # called with the fixture `bench` if it has an argument
    message: str  # complete; {folder} stands for the folder of the files
    error: type = InvalidInput


TABLE = {
    # parameters
    "a negative rate": Row(lambda: OptimisticGD(-1), "OptimisticGD: `learning_rate` must be > 0, got -1."),
    "a rate of 0": Row(lambda: OptimisticGD(0.0), "OptimisticGD: `learning_rate` must be > 0, got 0.0."),
    "a rate that is no number": Row(lambda: OptimisticGD(NAN), "OptimisticGD: `learning_rate` must be > 0, got nan."),
    "a word as rate": Row(lambda: OptimisticGD("a"), "OptimisticGD: `learning_rate` must be > 0, got 'a'."),
    "a truth value as rate": Row(lambda: OptimisticGD(True), "OptimisticGD: `learning_rate` must be > 0, got True."),
    "another prox_scale": Row(
        lambda: OptimisticGD(prox_scale=0.7), "OptimisticGD: `prox_scale` must be 0.5 or 1.0, got 0.7."
    ),
    "blocks of 0": Row(
        lambda: RestartedAdaptiveGD(0), "RestartedAdaptiveGD: `restart_every` must be a whole number >= 1, got 0."
    ),
    "blocks of 2.5": Row(
        lambda: RestartedAdaptiveGD(2.5), "RestartedAdaptiveGD: `restart_every` must be a whole number >= 1, got 2.5."
    ),
    "a word as block": Row(lambda: RerunUCBV("7"), "RerunUCBV: `restart_every` must be a whole number >= 1, got '7'."),
    "a failure probability above 1": Row(
        lambda: RerunUCBV(failure_probability=1.5), "RerunUCBV: `failure_probability` must be in (0, 1), got 1.5."
    ),
    "a number as truth value": Row(lambda: RerunUCBV(clip=1), "RerunUCBV: `clip` must be True or False, got 1."),
    "an infinite log_scale": Row(
        lambda: RerunUCBV(log_scale=INF), "RerunUCBV: `log_scale` must be a finite number > 0, got inf."
    ),
    "an unknown prior": Row(
        lambda: OptimisticAdaptMLProd("middle"),
        "OptimisticAdaptMLProd: `prior` must be one of 'inside', 'outside', got 'middle'.",
    ),
    "an unknown memory": Row(
        lambda: SleepingOptimisticAdaptMLProd("all"),
        "SleepingOptimisticAdaptMLProd: `memory` must be one of 'exact', 'merged', got 'all'.",
    ),
    "no rounds for a prior": Row(
        lambda: SleepingOptimisticAdaptMLProd(n_rounds=0),
        "SleepingOptimisticAdaptMLProd: `n_rounds` must be a whole number >= 1, got 0.",
    ),
    "an unknown tuning": Row(
        lambda: OptimisticGD.tuned(MEASURES, rule="best"),
        "OptimisticGD: `rule` must be 'paper' or 'sharp', got 'best'.",
    ),
    "an unknown failure rule": Row(
        lambda: RerunUCBV.tuned(MEASURES, failure="never"),
        "RerunUCBV: `failure` must be 'paper' or 'rigorous', got 'never'.",
    ),
    "nothing to tune": Row(
        lambda: OptimisticAdaptMLProd.tuned(MEASURES),
        "OptimisticAdaptMLProd: it has no rule for tuning; give its parameters.",
    ),
    "more segments than rounds": Row(
        lambda: Measures(2, 100, 101, 2.0, 10.0), "Measures: `segments` must be <= n_rounds = 100, got 101."
    ),
    "a drift that is no number": Row(
        lambda: Measures(2, 100, 3, NAN, 10.0), "Measures: `drift` must be a finite number >= 0, got nan."
    ),
    # starting
    "no actions": Row(lambda: GD.start(0), "OptimisticGD: `n_actions` must be a whole number >= 1, got 0."),
    "half an action": Row(lambda: GD.start(2.5), "OptimisticGD: `n_actions` must be a whole number >= 1, got 2.5."),
    "a negative seed": Row(lambda: UCB.start(2, -1), "RerunUCBV: `seed` must be a whole number >= 0, got -1."),
    "None as seed": Row(lambda: UCB.start(2, None), "RerunUCBV: `seed` must be a whole number >= 0, got None."),
    "None as state": Row(
        lambda: GD.predict(None), "OptimisticGD: `state` must be a state that `start` returned, got None."
    ),
    "another learner's state": Row(
        lambda b: OptimisticGD(0.1).update(b.gd, [0.5, 0.5]),
        "OptimisticGD(learning_rate=0.1, prox_scale=1.0): the state belongs to"
        " OptimisticGD(learning_rate=0.3, prox_scale=1.0).",
    ),
    # losses, one round
    "a missing loss": Row(
        lambda b: GD.update(b.gd, [0.5, NAN]),
        "OptimisticGD: `losses` must be in [0, 1], got nan at action 1. Is a value missing?",
    ),
    "a masked loss": Row(
        lambda b: GD.update(b.gd, np.ma.array([0.5, 0.5], mask=[True, False])),
        "OptimisticGD: `losses` must be in [0, 1], got nan at action 0. Is a value missing?",
    ),
    "an infinite loss": Row(
        lambda b: GD.update(b.gd, [INF, 0.5]),
        "OptimisticGD: `losses` must be in [0, 1], got inf at action 0. Rescale your losses by their known range.",
    ),
    "a loss above 1": Row(
        lambda b: GD.update(b.gd, [0.5, 1.2]),
        "OptimisticGD: `losses` must be in [0, 1], got 1.2 at action 1. Rescale your losses by their known range.",
    ),
    "a loss below 0": Row(
        lambda b: GD.update(b.gd, [-0.1, 0.5]),
        "OptimisticGD: `losses` must be in [0, 1], got -0.1 at action 0. Rescale your losses by their known range.",
    ),
    "too few losses": Row(lambda b: GD.update(b.gd, [0.5]), "OptimisticGD: `losses` must have shape (2,), got (1,)."),
    "a block for a round": Row(
        lambda b: GD.update(b.gd, [[0.5, 0.5]]), "OptimisticGD: `losses` must have shape (2,), got (1, 2)."
    ),
    "words as losses": Row(
        lambda b: GD.update(b.gd, ["a", "b"]), "OptimisticGD: `losses` must be an array of real numbers, got 'str32'."
    ),
    "a ragged round": Row(
        lambda b: GD.update(b.gd, [0.5, [0.5]]),
        "OptimisticGD: `losses` must be an array of numbers, got [0.5, [0.5]]. Are its rows of one length?",
    ),
    "complex losses": Row(
        lambda b: GD.update(b.gd, [0.5, 0.5j]),
        "OptimisticGD: `losses` must be an array of real numbers, got 'complex128'.",
    ),
    "None among losses": Row(
        lambda b: GD.update(b.gd, [0.5, None]), "OptimisticGD: `losses` must be an array of real numbers, got 'object'."
    ),
    # losses, a block
    "a missing loss in a block": Row(
        lambda b: GD.run(b.gd, [[0.5, 0.5], [NAN, 0.5]]),
        "OptimisticGD: `losses` must be in [0, 1], got nan at round 1 of the block, action 0. Is a value missing?",
    ),
    "a loss above 1 in a block": Row(
        lambda b: UCB.run(b.ucb, [[0.5, 0.5], [0.5, 2]]),
        "RerunUCBV: `losses` must be in [0, 1], got 2.0 at round 1 of the block, action 1."
        " Rescale your losses by their known range.",
    ),
    "a round for a block": Row(
        lambda b: GD.run(b.gd, [0.5, 0.5]), "OptimisticGD: `losses` must have shape (n_rounds, 2), got (2,)."
    ),
    "a block for three actions": Row(
        lambda b: UCB.run(b.ucb, np.zeros((4, 3))), "RerunUCBV: `losses` must have shape (n_rounds, 2), got (4, 3)."
    ),
    # hints
    "a hint above 1": Row(
        lambda b: PROD.hint(b.prod, [0.5, 1.5]),
        "OptimisticAdaptMLProd: `guess` must be in [0, 1], got 1.5 at action 1."
        " Rescale your losses by their known range.",
    ),
    "a missing hint in a block": Row(
        lambda b: PROD.run(b.prod, [[0.5, 0.5]], hints=[[0.5, NAN]]),
        "OptimisticAdaptMLProd: `hints` must be in [0, 1], got nan at round 0 of the block, action 1."
        " Is a value missing?",
    ),
    "too many hints": Row(
        lambda b: PROD.run(b.prod, [[0.5, 0.5]], hints=[[0.5, 0.5]] * 2),
        "OptimisticAdaptMLProd: `hints` must have one row per round, got 2 for 1.",
    ),
    # a bandit's round
    "an action too many": Row(
        lambda b: UCB.update(b.ucb, 2, 0.5, 1.0), "RerunUCBV: `action` must be < n_actions = 2, got 2."
    ),
    "a negative action": Row(
        lambda b: UCB.update(b.ucb, -1, 0.5, 1.0), "RerunUCBV: `action` must be a whole number >= 0, got -1."
    ),
    "no loss": Row(
        lambda b: UCB.update(b.ucb, 0, NAN, 1.0), "RerunUCBV: `loss` must be in [0, 1], got nan. Is a value missing?"
    ),
    "a bandit's loss above 1": Row(
        lambda b: UCB.update(b.ucb, 0, 1.5, 1.0),
        "RerunUCBV: `loss` must be in [0, 1], got 1.5. Rescale your losses by their known range.",
    ),
    "a row for a loss": Row(
        lambda b: UCB.update(b.ucb, 0, [0.5], 1.0), "RerunUCBV: `loss` must be a number in [0, 1], got [0.5]."
    ),
    "a chance of 0": Row(
        lambda b: UCB.update(b.ucb, 0, 0.5, 0.0), "RerunUCBV: `probability` must be in (0, 1] or None, got 0.0."
    ),
    "a word as chance": Row(
        lambda b: UCB.update(b.ucb, 0, 0.5, "a"), "RerunUCBV: `probability` must be in (0, 1] or None, got 'a'."
    ),
    # names and specs
    "an unknown learner": Row(
        lambda: learners.get("optimistic-dg"),
        "There is no learner 'optimistic-dg'. Did you mean 'optimistic-gd'?"
        " If it is your own, import its module first.",
        UnknownName,
    ),
    "an unknown parameter": Row(
        lambda: learners.build({"name": "optimistic-gd", "learning_rat": 1}),
        "There is no parameter 'learning_rat' of the learner 'optimistic-gd'. Did you mean 'learning_rate'?",
        UnknownName,
    ),
    "an unrelated parameter": Row(
        lambda: learners.build({"name": "optimistic-gd", "colour": 1}),
        "There is no parameter 'colour' of the learner 'optimistic-gd'. Known: learning_rate, prox_scale.",
        UnknownName,
    ),
    "a spec without a name": Row(
        lambda: learners.build({"learning_rate": 1}), "A learner spec must have a `name`, got {'learning_rate': 1}."
    ),
    "a spec without what it needs": Row(
        lambda: paths.build({"name": "switching", "n_segments": 3}),
        "The path 'switching' needs `n_actions`.",
    ),
    "an unknown noise": Row(
        lambda: noises.build({"name": "bernouli"}),
        "There is no noise 'bernouli'. Did you mean 'bernoulli'?",
        UnknownName,
    ),
    # simulations
    "no number of rounds": Row(
        lambda: simulate(ENVIRONMENT, GD), "simulate: `n_rounds` must be given, unless recorded losses are replayed."
    ),
    "no rounds": Row(lambda: simulate(ENVIRONMENT, GD, 0), "simulate: `n_rounds` must be a whole number >= 1, got 0."),
    "no runs": Row(
        lambda: simulate(ENVIRONMENT, GD, 9, n_runs=0), "simulate: `n_runs` must be a whole number >= 1, got 0."
    ),
    "no learners": Row(
        lambda: simulate(ENVIRONMENT, [], 9), "simulate: `learners` must name at least one learner, got none."
    ),
    "a class for a learner": Row(
        lambda: simulate(ENVIRONMENT, [OptimisticGD], 9),
        "simulate: `learners` must hold learners, got the class OptimisticGD."
        " Write OptimisticGD() or OptimisticGD.tuned.",
    ),
    "a name for a learner": Row(
        lambda: simulate(ENVIRONMENT, ["optimistic-gd"], 9),
        "simulate: `learners` must hold learners, got the name 'optimistic-gd'. Write OptimisticGD().",
    ),
    "an unknown name for a learner": Row(
        lambda: simulate(ENVIRONMENT, ["rerun-ucb"], 9),
        "There is no learner 'rerun-ucb'. Did you mean 'rerun-ucbv'? If it is your own, import its module first.",
        UnknownName,
    ),
    "a function in place of a learner": Row(
        lambda: simulate(ENVIRONMENT, {"mine": print}, 9),
        "simulate: `learners` must hold learners, got <built-in function print>."
        " A rule of your own is the class method `tuned` of a learner of your own.",
    ),
    "an unknown way to play": Row(
        lambda: simulate(ENVIRONMENT, GD, 9, play="x"), "simulate: `play` must be 'weights' or 'sample', got 'x'."
    ),
    "tuning to a recording": Row(
        lambda: simulate(RECORDING, [OptimisticGD.tuned]),
        "'optimistic-gd (tuned)' needs measures for its tuning, but replayed losses have none.",
    ),
    "more rounds than recorded": Row(
        lambda: simulate(RECORDING, GD, 11), "Replay: `n_rounds` must be <= 10, the rounds recorded, got 11."
    ),
    "more segments than rounds to play": Row(
        lambda: simulate(ENVIRONMENT, GD, 2), "Switching: `n_segments` must be <= n_rounds = 2, got 3."
    ),
    # comparators and results
    "an interval that ends before it starts": Row(
        lambda: Interval(first=5, last=4), "Interval: `last` must be >= first = 5, got 4."
    ),
    "an interval beyond the rounds": Row(
        lambda: simulate(ENVIRONMENT, GD, 9, comparator=Interval(0, 9)),
        "Interval: `last` must be < n_rounds = 9, got 9.",
    ),
    "an interval's unknown action": Row(
        lambda: simulate(ENVIRONMENT, GD, 9, comparator=Interval(0, 5, action=2)),
        "Interval: `action` must be < n_actions = 2, got 2.",
    ),
    "no segments": Row(lambda: Switched(0), "Switched: `n_segments` must be a whole number >= 1, got 0."),
    "an unknown label": Row(
        lambda b: b.results.regret("optimistic-dg"),
        "There is no learner 'optimistic-dg' in these results. Did you mean 'optimistic-gd'?",
        UnknownName,
    ),
    # sessions
    "a number for a learner": Row(lambda: Session(3, 2), "Session: `learner` must be a learner, got 3."),
    "choosing with full feedback": Row(
        lambda b: b.full.choose(), "Session: optimistic-gd has full feedback; call `predict` instead of `choose`."
    ),
    "predicting with bandit feedback": Row(
        lambda b: b.bandit.predict(), "Session: rerun-ucbv has bandit feedback; call `choose` instead of `predict`."
    ),
    "an action for full feedback": Row(
        lambda b: b.full.update(0, 0.5),
        "Session: optimistic-gd has full feedback; call `update(losses)` or `update(reward=rewards)`,"
        " got 2 arguments without a name.",
    ),
    "a row for bandit feedback": Row(
        lambda b: b.bandit.update([0.5, 0.5]),
        "Session: rerun-ucbv has bandit feedback; call `update(action, probability, loss=loss)` or"
        " `update(action, probability, reward=reward)`, got 1 argument without a name.",
    ),
    "a missing loss in a session": Row(
        lambda b: b.full.update([0.5, NAN]),
        "OptimisticGD: `losses` must be in [0, 1], got nan at action 1. Is a value missing?",
    ),
    # files
    "a session that is not there": Row(
        lambda b: Session.load(b.folder / "none"), "There is no file {folder}/none.", BadFile
    ),
    "an empty session": Row(
        lambda b: Session.load(b.folder / "empty"),
        "{folder}/empty is not a complete session file: it is cut short, damaged, or of another kind.",
        BadFile,
    ),
    "half a session": Row(
        lambda b: Session.load(b.folder / "half"),
        "{folder}/half is not a complete session file: it is cut short or damaged.",
        BadFile,
    ),
    "an array for a session": Row(
        lambda b: Session.load(b.folder / "array.npy"),
        "{folder}/array.npy is not a complete session file: it is cut short, damaged, or of another kind.",
        BadFile,
    ),
    "a text for a session": Row(
        lambda b: Session.load(b.folder / "text"),
        "{folder}/text is not a complete session file: it is cut short, damaged, or of another kind.",
        BadFile,
    ),
    "an archive of something else": Row(
        lambda b: Session.load(b.folder / "archive"), "{folder}/archive holds no driftwise session.", BadFile
    ),
    "a folder for a session": Row(lambda b: b.full.save(b.folder), "Cannot write {folder}: Is a directory.", BadFile),
    "results that are not there": Row(
        lambda b: Results.from_parquet(b.folder / "none"), "There is no file {folder}/none.", BadFile
    ),
    "a table of something else": Row(
        lambda b: Results.from_parquet(b.folder / "table"), "{folder}/table holds no cells of driftwise.", BadFile
    ),
}


@pytest.fixture(scope="module")
def results():
    return simulate(ENVIRONMENT, [GD, UCB], n_rounds=9, n_runs=2)


@pytest.fixture
def bench(tmp_path, results):
    """States and sessions after some rounds, and a folder of invalid files."""
    from pyarrow import parquet, table

    full, bandit, hinted = Session(GD, 2), Session(UCB, 2), Session(PROD, 2)
    for session in (full, bandit, hinted):
        session.learner.run(session.state, mixed_losses(20, 2))
    (tmp_path / "empty").touch()
    full.save(tmp_path / "whole")
    whole = (tmp_path / "whole").read_bytes()
    (tmp_path / "half").write_bytes(whole[: len(whole) // 2])
    np.save(tmp_path / "array.npy", np.zeros(3))
    (tmp_path / "text").write_text("some text")
    with (tmp_path / "archive").open("wb") as file:
        np.savez(file, numbers=np.arange(3))
    parquet.write_table(table({"numbers": [1, 2, 3]}), tmp_path / "table")
    states = {"gd": full.state, "ucb": bandit.state, "prod": hinted.state}
    return SimpleNamespace(full=full, bandit=bandit, folder=tmp_path, results=results, **states)


@pytest.mark.parametrize("what", TABLE)
def test_a_bad_input_is_rejected_in_one_sentence_and_changes_nothing(what, bench):
    row, states = TABLE[what], (bench.gd, bench.ucb, bench.prod)
    before = [state.copy() for state in states]
    with pytest.raises(DriftwiseError) as caught:
        row.call(*[bench] * row.call.__code__.co_argcount)
    assert str(caught.value) == row.message.replace("{folder}", str(bench.folder))
    assert type(caught.value) is row.error
    for state, copy in zip(states, before, strict=True):
        expect_same(state, copy, what)


@pytest.mark.parametrize("kept", [0, 1, 100, -1])
def test_a_truncated_table_is_rejected(kept, bench):
    bench.results.to_parquet(bench.folder / "whole")
    (bench.folder / "cut").write_bytes((bench.folder / "whole").read_bytes()[:kept])
    with pytest.raises(BadFile) as caught:
        Results.from_parquet(bench.folder / "cut")
    assert str(caught.value).startswith(f"{bench.folder}/cut is not a complete Parquet file: ")


def test_the_table_is_long():
    assert len(TABLE) >= 30
