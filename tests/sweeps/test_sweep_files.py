"""Sweeps from TOML files, and the command `driftwise sweep`."""

import contextlib
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from command_line import runner
from driftwise import Bernoulli, Environment, Hedge, Sweep, Switching
from driftwise.core.errors import BadFile, DriftwiseError, InvalidInput
from driftwise.environments import Beta, Sinusoidal
from driftwise.learners import FixedShare, Player, learners
from driftwise.results import Store
from driftwise.results.store import read_store
from driftwise.sweeps import read_sweep
from driftwise.sweeps.sweep import spread
from outside_files import ROOT
from user_modules import FRAGILE, GATED, import_module

EXAMPLE = ROOT / "examples" / "sweep.toml"
ROUNDS = "n_rounds = 30\nn_runs = 2\n"
WORLD = '[[environments]]\npath = {name = "switching", n_segments = 3, n_actions = 3}\nnoise = "bernoulli"\n'
HEDGE = '[[learners]]\nname = "hedge"\n'
SMALL = f'{ROUNDS}{WORLD}{HEDGE}[[learners]]\nname = "fixed-share"\n'
NAME = "switching(n_segments=3, n_actions=3), bernoulli"


@pytest.fixture
def read(tmp_path, monkeypatch):
    """Read a text as a file of a sweep."""
    monkeypatch.chdir(tmp_path)

    def make(text):
        (tmp_path / "sweep.toml").write_text(text)
        return read_sweep(Path("sweep.toml"))

    return make


@pytest.fixture
def driftwise(monkeypatch, capsys, tmp_path):
    """Run a command line in this process, in an empty folder."""
    (tmp_path / "small.toml").write_text(SMALL)
    return runner(monkeypatch, capsys, tmp_path)


def files(folder):
    """Return the content and the time of change of everything in a folder."""
    return {path: (path.stat().st_mtime_ns, path.is_file() and path.read_bytes()) for path in Path(folder).rglob("*")}


# What a file means


def test_the_example_is_the_sweep_that_it_says():
    sweep = read_sweep(EXAMPLE)
    assert sweep.n_cells == 4 * 5 * 2 * 10
    assert [*sweep.sources] == [
        "switching (n_segments=2)", "switching (n_segments=8)", "switching (n_segments=32)", "lower bound"
    ]  # fmt: skip
    assert [*sweep.players.values()] == [
        Player("optimistic-gd", "budget"),
        Player.of(FixedShare(0.3)),
        Player.of(FixedShare(1.0)),
        Player("sword", "rounds"),
        Player("hedge"),
    ]


def test_a_file_and_python_make_the_same_cells(read, tmp_path):
    text = """
        n_rounds = [20, 30]
        n_runs = 2
        seed = [1, 2]
        comparator = "static"
        play = "sample"
        curves = true
        realised = true
        """
    worlds = Environment(Switching(3, 3), Bernoulli())
    found = read(f"{text}\n{WORLD}{HEDGE}").run(tmp_path / "file")
    made = Sweep(worlds, Hedge(), [20, 30], 2, [1, 2], "static", "sample", True, True).run(tmp_path / "python")
    assert found.cells.keys() == made.cells.keys()
    assert found.cells.regret.tobytes() == made.cells.regret.tobytes()


@pytest.mark.parametrize(
    ("table", "tables"),
    [
        ({"a": 1}, [{"a": 1}]),
        ({"each": {}}, [{}]),
        ({"each": {"a": [1]}}, [{"a": 1}]),
        ({"b": 0, "each": {"a": [1, 2]}}, [{"b": 0, "a": 1}, {"b": 0, "a": 2}]),
        (
            {"each": {"a": [1, 2], "b": [3, 4]}},
            [{"a": 1, "b": 3}, {"a": 1, "b": 4}, {"a": 2, "b": 3}, {"a": 2, "b": 4}],
        ),
        ({"a": {"b": {"each": {"c": [1, 2]}}}}, [{"a": {"b": {"c": 1}}}, {"a": {"b": {"c": 2}}}]),
        (
            {"each": {"a": [1, 2]}, "b": {"each": {"c": [3, 4]}}},
            [{"b": {"c": c}, "a": a} for c in (3, 4) for a in (1, 2)],
        ),
        (
            {"each": {"a": [{"x": 0, "each": {"y": [1, 2]}}, {"x": 3}]}},
            [{"a": {"x": 0, "y": 1}}, {"a": {"x": 0, "y": 2}}, {"a": {"x": 3}}],
        ),
        ({"b": [[0.1]], "each": {"a": [[1, 2], [3]]}}, [{"b": [[0.1]], "a": [1, 2]}, {"b": [[0.1]], "a": [3]}]),
    ],
    ids=str,
)  # fmt: skip
def test_each_makes_every_combination(table, tables):
    assert [*spread(table)] == tables


@pytest.mark.parametrize(
    ("table", "message"),
    [
        ({"each": 3}, "`each` must be a table of lists, got 3."),
        ({"each": {"a": []}}, "`each.a` must be a list of at least one value, got []."),
        ({"each": {"a": 3}}, "`each.a` must be a list of at least one value, got 3."),
        ({"a": {"each": {"b": []}}}, "`each.b` must be a list of at least one value, got []."),
        ({"a": 1, "each": {"a": [2]}}, "`a` is given itself and under `each`."),
        (
            {"each": {"a": [*range(1000)], "b": [*range(1000)]}},
            "`each` must make at most 100000 tables of one, got 1000000.",
        ),
        (
            {"each": {"a": [*range(1000)]}, "b": {"each": {"c": [*range(1000)]}}},
            "`each` must make at most 100000 tables of one, got 1000000.",
        ),
    ],
)
def test_each_that_makes_nothing_or_too_much_is_rejected(table, message):
    with pytest.raises(InvalidInput) as caught:
        [*spread(table)]
    assert str(caught.value) == message


def test_each_varies_learners_tuning_and_environments_with_readable_labels(read):
    sweep = read(
        ROUNDS
        + '[[environments]]\nlabel = "w"\n[environments.each]\nnoise = ["bernoulli", "beta"]\n'
        + 'path = [{name = "switching", n_actions = 2, each = {n_segments = [1, 2]}},'
        + ' {name = "sinusoidal", n_actions = 2}]\n'
        + '[[learners]]\nname = "hedge"\neach = {tuned = ["measures", "rounds", false]}\n'
        + '[[learners]]\nlabel = "shares"\nname = "fixed-share"\neach = {learning_rate = [0.1, 0.3]}\n'
    )
    assert [*sweep.sources] == [
        "w (noise=bernoulli, path=switching(n_actions=2, n_segments=1))",
        "w (noise=bernoulli, path=switching(n_actions=2, n_segments=2))",
        "w (noise=bernoulli, path=sinusoidal(n_actions=2))",
        "w (noise=beta, path=switching(n_actions=2, n_segments=1))",
        "w (noise=beta, path=switching(n_actions=2, n_segments=2))",
        "w (noise=beta, path=sinusoidal(n_actions=2))",
    ]
    assert [*sweep.sources.values()][5].origin == Environment(Sinusoidal(2), Beta())
    assert [*sweep.players] == [
        "hedge (tuned)", "hedge (tuned to rounds)", "hedge", "shares (learning_rate=0.1)", "shares (learning_rate=0.3)"
    ]  # fmt: skip


def test_labels_show_every_parameter_that_is_swept_also_with_its_default(read):
    sweep = read(
        ROUNDS
        + '[[environments]]\nnoise = "bernoulli"\n[environments.path]\nname = "switching"\nn_actions = 2\n'
        + "each = {n_segments = [1, 2], best = [0.3, 0.4]}\n"
        + '[[environments]]\nnoise = "bernoulli"\n[environments.each]\n'
        + 'path = [{name = "switching", n_actions = 2, n_segments = 3, each = {rest = [0.6, 0.7]}}]\n'
        + '[[learners]]\nname = "fixed-share"\neach = {learning_rate = [0.1, 0.5], switch_rate = [0.01, 0.1]}\n'
        + '[[learners]]\nname = "fixed-share"\nlearning_rate = 0.7\n'
        + '[[learners]]\nname = "fixed-share"\ntuned = true\neach = {learning_rate = [0.1, 0.5]}\n'
    )
    assert [*sweep.players] == [
        *(f"fixed-share(learning_rate={rate}, switch_rate={share})" for rate in (0.1, 0.5) for share in (0.01, 0.1)),
        "fixed-share(learning_rate=0.7)",
        *(f"fixed-share (tuned, learning_rate={rate})" for rate in (0.1, 0.5)),
    ]
    assert [*sweep.sources] == [
        *(f"switching(n_segments={n}, n_actions=2, best={best}), bernoulli" for n in (1, 2) for best in (0.3, 0.4)),
        *(f"switching(n_segments=3, n_actions=2, rest={rest}), bernoulli" for rest in (0.6, 0.7)),
    ]


def test_a_recording_is_played_to_its_end_beside_longer_environments(read, driftwise, tmp_path):
    (tmp_path / "losses.csv").write_text("a,b,c\n" + "0.5,0.25,1\n" * 10)
    text = "n_rounds = [5, 20, 30]\nn_runs = 2\n" + '[[environments]]\nreplay = "losses.csv"\n' + WORLD + HEDGE
    sweep = read(text)
    assert [sweep.rounds_of(source) for source in sweep.sources.values()] == [(5, 10), (5, 20, 30)]
    assert sweep.n_cells == 10 == sum(len(group.runs) * len(group.players) for group in sweep.groups())
    results = sweep.run(tmp_path / "store")
    assert [row["n_rounds"] for row in results.select(environment="losses.csv").rows()] == [5, 10]
    (tmp_path / "both.toml").write_text(text)
    code, out, _ = driftwise("sweep", "both.toml", "--dry-run")
    plan = "2 environments x 1 learner x 3 numbers of rounds x 1 seed x 2 runs, recordings to their ends = 10 cells"
    assert (code, out.splitlines()[0]) == (0, f"{plan}, 10 to play")


# Bad files

LEARNER = "sweep.toml, [[learners]] number 1 (line 6): "
SECOND = "sweep.toml, [[learners]] number 2 (line 8): "
ENVIRONMENT = "sweep.toml, [[environments]] number 1 (line 3): "
FULL_V = '[[environments]]\nadversary = {name = "full-v", drift = 2.0, variance = 0.0'
MISTAKES = {
    "unknown learner": (
        ROUNDS + WORLD + '[[learners]]\nname = "hege"\n',
        f"{LEARNER}There is no learner 'hege'. Did you mean 'hedge'? If it is your own, import its module first.",
    ),
    "unknown parameter": (
        ROUNDS + WORLD + HEDGE + '[[learners]]\nname = "fixed-share"\nswitch_rte = 0.1\n',
        f"{SECOND}There is no parameter 'switch_rte' of the learner 'fixed-share'. Did you mean 'switch_rate'?",
    ),
    "unknown parameter under each": (
        ROUNDS + WORLD + '[[learners]]\nname = "fixed-share"\neach = {switch_rte = [0.1]}\n',
        f"{LEARNER}There is no parameter 'switch_rte' of the learner 'fixed-share'. Did you mean 'switch_rate'?",
    ),
    "parameter out of range": (
        ROUNDS + WORLD + '[[learners]]\nname = "fixed-share"\neach = {switch_rate = [0.1, 1.3]}\n',
        f"{LEARNER}FixedShare: `switch_rate` must be in [0, 1], got 1.3.",
    ),
    "replaced parameter out of range": (
        ROUNDS + WORLD + '[[learners]]\nname = "fixed-share"\ntuned = "rounds"\nswitch_rate = 1.3\n',
        f"{LEARNER}in '{NAME}' with 30 rounds: FixedShare: `switch_rate` must be in [0, 1], got 1.3.",
    ),
    "empty product": (
        ROUNDS + WORLD + '[[learners]]\nname = "fixed-share"\neach = {switch_rate = []}\n',
        f"{LEARNER}`each.switch_rate` must be a list of at least one value, got [].",
    ),
    "no learners": (
        "learners = []\n" + ROUNDS + WORLD,
        "sweep.toml: `learners` must have at least one table, got none.",
    ),
    "learners missing": (ROUNDS + WORLD, "sweep.toml: `learners` is missing."),
    "environments missing": (ROUNDS + HEDGE, "sweep.toml: `environments` is missing."),
    "rounds missing": (WORLD + HEDGE, "sweep.toml: `n_rounds` is missing."),
    "empty": ("", "sweep.toml: `environments` is missing."),
    "wrong type": (
        'n_rounds = "many"\n' + WORLD + HEDGE,
        "sweep.toml: `n_rounds` must be a whole number or a list of them, got 'many'.",
    ),
    "wrong type in a list": (
        "n_rounds = [30, 1.5]\n" + WORLD + HEDGE,
        "sweep.toml: Sweep: `n_rounds` must be a whole number >= 1, got 1.5.",
    ),
    "no rounds": (
        "n_rounds = []\n" + WORLD + HEDGE,
        "sweep.toml: Sweep: `n_rounds` must have at least one value, got none.",
    ),
    "truth value": (
        "n_rounds = true\n" + WORLD + HEDGE,
        "sweep.toml: `n_rounds` must be a whole number or a list of them, got True.",
    ),
    "one table": (
        'learners = {name = "hedge"}\n' + ROUNDS + WORLD,
        "sweep.toml: `learners` must be tables, each under [[learners]], got {'name': 'hedge'}.",
    ),
    "each without lists": (ROUNDS + WORLD + HEDGE + "each = 3\n", f"{LEARNER}`each` must be a table of lists, got 3."),
    "no tables": (
        'learners = ["hedge"]\n' + ROUNDS + WORLD,
        "sweep.toml, [[learners]] number 1: it must be a table, got 'hedge'.",
    ),
    "unknown key": (
        "plays = 3\n" + ROUNDS + WORLD + HEDGE,
        "There is no key 'plays' in sweep.toml. Did you mean 'play'?",
    ),
    "negative seed": (
        "seed = -1\n" + ROUNDS + WORLD + HEDGE,
        "sweep.toml: Sweep: `seed` must be a whole number >= 0, got -1.",
    ),
    "too many cells": (
        "n_rounds = 30\nn_runs = 1000000000\n" + WORLD + HEDGE,
        "sweep.toml: Sweep: it must have at most 100000000 cells, got 1000000000.",
    ),
    "late interval": (
        'comparator = "interval:3-30"\n' + ROUNDS + WORLD + HEDGE,
        "sweep.toml: Interval: `last` must be < n_rounds = 30, got 30.",
    ),
    "action of an interval": (
        ROUNDS + 'comparator = "interval:3-20@7"\n' + WORLD + HEDGE,
        "sweep.toml, [[environments]] number 1 (line 4): Interval: `action` must be < n_actions = 3, got 7.",
    ),
    "label twice": (
        ROUNDS + WORLD + HEDGE + 'label = "x"\n[[learners]]\nname = "ucb1"\nlabel = "x"\n',
        "sweep.toml, [[learners]] number 2 (line 9): the label 'x' was given before,"
        " in [[learners]] number 1 (line 6).",
    ),
    "label": (ROUNDS + WORLD + HEDGE + "label = 3\n", f"{LEARNER}`label` must be text, got 3."),
    "learner twice": (
        ROUNDS + WORLD + HEDGE + HEDGE,
        f"{SECOND}'hedge' was given before, in [[learners]] number 1 (line 6).",
    ),
    "without a rule": (
        ROUNDS + WORLD + '[[learners]]\nname = "squint"\ntuned = true\n',
        f"{LEARNER}Squint: it has no rule for tuning; give its parameters.",
    ),
    "unknown tuning": (
        ROUNDS + WORLD + HEDGE + 'tuned = "drift"\n',
        f"{LEARNER}learner 'hedge': `tuned` must be true, false, 'measures', 'rounds', 'budget', got 'drift'.",
    ),
    "date": (
        ROUNDS + WORLD + HEDGE + 'tuned = "rounds"\nlearning_rate = 1979-05-27\n',
        f"{LEARNER}A spec must consist of plain values, got {{'learning_rate': datetime.date(1979, 5, 27)}}.",
    ),
    "not TOML": ("n_rounds = \n", "sweep.toml is not TOML: Invalid value (at line 1, column 12)."),
    "too long": ("#" * (2**20 + 1), "sweep.toml is longer than the 1048576 bytes that a spec may have."),
    "too deep": ("a = " + "[" * 5000, "sweep.toml cannot be read: its TOML is nested too deeply."),
    "unknown path": (
        ROUNDS + '[[environments]]\npath = "switchng"\nnoise = "bernoulli"\n' + HEDGE,
        f"{ENVIRONMENT}There is no path 'switchng'. Did you mean 'switching'?",
    ),
    "no noise": (
        ROUNDS + '[[environments]]\npath = "coin-flips"\n' + HEDGE,
        f"{ENVIRONMENT}An environment spec must have a `path` and a `noise`, got {{'path': {{'name': 'coin-flips'}}}}.",
    ),
    "no recording": (
        ROUNDS + '[[environments]]\nreplay = "none.csv"\n' + HEDGE,
        f"{ENVIRONMENT}There is no file none.csv.",
    ),
    "too few rounds": (
        "n_rounds = [30, 2]\n\n" + WORLD + HEDGE,
        f"{ENVIRONMENT}Switching: `n_segments` must be <= n_rounds = 2, got 3.",
    ),
    "feedback of a learner": (
        ROUNDS + '[[environments]]\nadversary = {name = "bandit-low", segments = 2, n_actions = 3}\n' + HEDGE,
        "sweep.toml, [[learners]] number 1 (line 5): in 'bandit-low(segments=2, n_actions=3)' with 30 rounds:"
        " the theorem of 'bandit-low' is about bandit feedback, got 'hedge' with full feedback.",
    ),
    "feedback of the learner against which it is built": (
        ROUNDS + '[[environments]]\nadversary = {name = "bandit-low", segments = 2, mode = "best-response"}\n'
        'against = {name = "hedge"}\n[[learners]]\nname = "ucb1"\n',
        f"{ENVIRONMENT}the theorem of 'bandit-low' is about bandit feedback, got 'hedge' with full feedback.",
    ),
    "against without need": (
        ROUNDS + FULL_V + '}\nagainst = {name = "hedge"}\n' + HEDGE,
        f"{ENVIRONMENT}Sweep: `against` must be given only with an adversary that is built against a learner,"
        " got Player('hedge').",
    ),
    "tuned to measures of a built environment": (
        ROUNDS + FULL_V + ', mode = "best-response"}\n' + HEDGE + "tuned = true\n",
        "sweep.toml, [[learners]] number 1 (line 5): in 'full-v(drift=2.0, variance=0.0, mode=best-response)' with 30"
        " rounds: 'hedge (tuned)' cannot be tuned to the measures of an environment that 'full-v' builds against it,"
        " since they are known only afterwards. Tune it to the budget (tuned = \"budget\").",
    ),
    "unknown adversary": (
        ROUNDS + '[[environments]]\nadversary = "ful-v"\n' + HEDGE,
        f"{ENVIRONMENT}There is no adversary 'ful-v'. Did you mean 'full-v'?",
    ),
    "adversary out of range": (
        ROUNDS + '[[environments]]\nadversary = {name = "full-v", drift = -2.0, variance = 0.0}\n' + HEDGE,
        f"{ENVIRONMENT}FullV: `drift` must be a finite number > 0, got -2.0.",
    ),
    "adversary with noise": (
        ROUNDS + FULL_V + '}\nnoise = "bernoulli"\n' + HEDGE,
        f"{ENVIRONMENT}There is no key 'noise' of an adversary. Known: adversary, against.",
    ),
}  # fmt: skip


@pytest.mark.parametrize(("text", "message"), MISTAKES.values(), ids=MISTAKES)
def test_a_bad_file_is_rejected_in_one_line_with_the_place(text, message, read):
    with pytest.raises(DriftwiseError) as caught:
        read(text)
    assert str(caught.value) == message


def test_a_recording_without_measures_or_rounds_is_rejected(read, tmp_path):
    (tmp_path / "losses.csv").write_text("0.5,0.25\n" * 10)
    table = '[[environments]]\nreplay = "losses.csv"\nheader = false\n'
    assert read(f"n_rounds = 10\n{table}{HEDGE}tuned = 'rounds'\n").n_cells == 10
    for text, message in {
        f"n_rounds = 11\n{table}{HEDGE}": "sweep.toml, [[environments]] number 1 (line 2):"
        " Replay: `n_rounds` must be <= 10, the rounds recorded, got 11.",
        f"n_rounds = 10\n{table}{HEDGE}tuned = true\n": "sweep.toml, [[learners]] number 1 (line 5):"
        " in 'losses.csv' with 10 rounds:"
        " 'hedge (tuned)' needs measures for its tuning, but replayed losses have none.",
    }.items():
        with pytest.raises(InvalidInput) as caught:
            read(text)
        assert str(caught.value) == message


# The command


def test_sweep_plays_and_says_where_the_results_are(driftwise, tmp_path):
    code, out, err = driftwise("sweep", "small.toml")
    assert (code, out) == (0, "All 4 cells of the sweep are stored in out/small.\ndriftwise results out/small\n")
    plan, estimate, *progress = err.splitlines()
    assert plan == "1 environment x 2 learners x 1 number of rounds x 1 seed x 2 runs = 4 cells, 4 to play"
    assert estimate.startswith("about 1 s on ")
    assert progress[-1] == "4 of 4 cells (100 %)"
    again = driftwise("sweep", "small.toml")
    assert again.code == 0
    assert again.err == plan.replace("4 to play", "0 to play") + "\n"
    with Store(tmp_path / "out" / "small") as store:
        assert len(store.keys) == 4


def test_quiet_prints_the_outcome_only(driftwise):
    stored = "All 4 cells of the sweep are stored in 'x y'.\n"
    done = driftwise("sweep", "small.toml", "--out", "x y", "--quiet", "--threads", "1")
    assert done == (0, f"{stored.replace(chr(39), '')}driftwise results 'x y'\n", "")


def test_a_dry_run_writes_nothing_at_all(driftwise, tmp_path):
    before = files(tmp_path)
    code, out, err = driftwise("sweep", "small.toml", "--dry-run")
    assert (code, err) == (0, "")
    plan, estimate = out.splitlines()
    assert plan.endswith(" = 4 cells, 4 to play")
    assert estimate.startswith("about 1 s on ")
    assert files(tmp_path) == before
    driftwise("sweep", "small.toml", "--out", "store")
    damaged = tmp_path / "store" / "cells.sqlite"
    damaged.write_bytes(damaged.read_bytes()[:1000])
    before = files(tmp_path)
    assert driftwise("sweep", "small.toml", "--out", "store", "--dry-run", "--quiet").out.splitlines()[0] == plan
    assert files(tmp_path) == before


def test_a_damaged_file_is_reported_and_its_cells_are_played_again(driftwise, tmp_path):
    driftwise("sweep", "small.toml")
    damaged = tmp_path / "out" / "small" / "cells.sqlite"
    damaged.write_bytes(damaged.read_bytes()[:1000])
    code, out, err = driftwise("sweep", "small.toml")
    assert code == 0
    assert out.startswith("All 4 cells of the sweep are stored in out/small.\n")
    assert f"\ndriftwise: {damaged.name} was moved to out/small/damaged: " in err


def test_failed_cells_are_counted_and_retried_on_request(driftwise, tmp_path, monkeypatch):
    monkeypatch.setattr(learners, "_classes", dict(learners._classes))
    module = import_module(tmp_path, "fragile_learner", FRAGILE)
    learners.add("fragile", module.Fragile)  # also if an earlier test imported it
    monkeypatch.setenv("FRAGILE_FLAG", str(tmp_path / "flag"))
    (tmp_path / "flag").touch()
    (tmp_path / "fragile.toml").write_text(SMALL + '[[learners]]\nname = "fragile"\n')
    code, out, err = driftwise("sweep", "fragile.toml", "--out", "store")
    assert (code, out.splitlines()[0]) == (0, "All 6 cells of the sweep are stored in store, 2 of them failed.")
    assert out.splitlines()[1] == "driftwise results store --failed"
    assert err.splitlines()[-1] == "6 of 6 cells (100 %), 2 failed"
    (tmp_path / "flag").unlink()
    assert driftwise("sweep", "fragile.toml", "--out", "store").err.endswith(" = 6 cells, 0 to play\n")
    code, out, err = driftwise("sweep", "fragile.toml", "--out", "store", "--retry-failed")
    assert err.splitlines()[0].endswith(" = 6 cells, 2 to play")
    assert out.splitlines()[0] == "All 6 cells of the sweep are stored in store."


UNKNOWN = (
    MISTAKES["unknown learner"][1]
    .replace("sweep.toml", "bad.toml")
    .replace("import its module first.", "name its module: --import MODULE.")
)


@pytest.mark.parametrize(
    ("line", "code", "message"),
    [
        ("sweep none.toml", 1, "Cannot read none.toml: No such file or directory."),
        ("sweep bad.toml", 2, UNKNOWN),
        ("sweep bad.toml --dry-run", 2, UNKNOWN),
        ("sweep small.toml --threads 0", 2, "sweep: `threads` must be a whole number >= 1, got 0."),
        (
            "sweep small.toml --threads 1 --dask tcp://x:1",
            2,
            "sweep: --threads is for this process and --dask for a cluster; give one of them.",
        ),
        ("sweep small.toml --out small.toml", 1, "Cannot write small.toml/cells.sqlite: Not a directory."),
        ("sweep small.toml --import none", 2, "--import none: No module named 'none'."),
    ],
)  # fmt: skip
def test_a_mistake_is_reported_in_one_line_and_nothing_is_written(
    line, code, message, driftwise, tmp_path, monkeypatch
):
    monkeypatch.setattr(sys, "path", [*sys.path])
    (tmp_path / "bad.toml").write_text(MISTAKES["unknown learner"][0])
    before = files(tmp_path)
    assert driftwise(*line.split()) == (code, "", f"driftwise: {message}\n")
    assert files(tmp_path) == before


def n_stored(folder):
    with contextlib.suppress(BadFile):
        return len(read_store(folder).table)
    return 0


def test_after_an_interrupt_the_same_command_continues(tmp_path):
    (tmp_path / "gated_learner.py").write_text(GATED)
    (tmp_path / "gated.toml").write_text("n_rounds = 30\nn_runs = 9\n" + WORLD + '[[learners]]\nname = "gated"\n')
    source = str(ROOT / "src")
    variables = {**os.environ, "PYTHONPATH": source, "GATED_FLAG": str(tmp_path / "flag")}
    # A background job and its children ignore interrupts; this process must not.
    program = (
        "import signal; signal.signal(signal.SIGINT, signal.default_int_handler)\n"
        "from driftwise.cli.main import main; main()"
    )
    line = "sweep gated.toml --import gated_learner --threads 1 --quiet"
    command = [sys.executable, "-c", program, *line.split()]
    streams = {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE, "text": True}
    with subprocess.Popen(command, cwd=tmp_path, env=variables, **streams) as running:
        try:
            while running.poll() is None and n_stored(tmp_path / "out" / "gated") == 0:
                time.sleep(0.01)
            running.send_signal(signal.SIGINT)
            out, err = running.communicate(timeout=60)
        finally:
            running.kill()
    assert running.returncode == 130
    assert out == ""
    assert err.splitlines() == [
        "",
        f"driftwise: finished cells are stored; to continue: driftwise {line}",
        "",
        "driftwise: interrupted.",
    ]
    with Store(tmp_path / "out" / "gated") as store:
        assert len(store.keys) == 3
    (tmp_path / "flag").touch()
    done = subprocess.run(command, cwd=tmp_path, env=variables, capture_output=True, text=True, check=False)
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout.splitlines()[0] == "All 9 cells of the sweep are stored in out/gated."
    assert not [*(tmp_path / "out" / "gated").glob(".*")]
