"""Players: learners and tuning rules as plain values, in files, results and other processes."""

import copy
import functools
import importlib
import json
import os
import pickle
import subprocess
import sys

import numpy as np
import pytest

from driftwise import Bernoulli, Environment, Measures, OptimisticGD, Replay, Results, Switching, simulate
from driftwise.adversaries import FullLow, FullV
from driftwise.cli.main import main
from driftwise.core.errors import DriftwiseError, InvalidInput, UnknownName
from driftwise.core.measures import collected
from driftwise.engine.simulation import labelled_players
from driftwise.learners import (
    FLH,
    GLRKLUCB,
    SAOL,
    ExpertLearner,
    FixedShare,
    Hedge,
    OracleRestarts,
    Player,
    RerunUCBV,
    learners,
)
from driftwise.learners.player import TUNED_TO, has_tuning_rule
from driftwise.registry import to_spec
from outside_files import ROOT
from user_modules import OWN, PATH, import_module

SWITCHING = Environment(Switching(3, 3), Bernoulli())
RULES = [name for name in learners if has_tuning_rule(learners.get(name))]
CORNERS = [learner for name in learners for learner in learners.get(name).at_corners()]
PLAYERS = [
    *(Player(name) for name in learners),
    *(Player.of(learner) for learner in CORNERS),
    *(Player(name, tuned) for name in RULES for tuned in TUNED_TO),
    Player("optimistic-gd", "measures", {"rule": "sharp", "prox_scale": 0.5}),
    Player("oracle-restarts", settings={"base": {"name": "glr-kl-ucb", "restart": "global"}, "change_points": [3, 9]}),
    Player("flh", "rounds", {"base": "optimistic-gd"}),
    Player("m-ucb", "budget", {"least_change": 0.5}),
]


@pytest.fixture
def own_registry(monkeypatch):
    """Let a test register learners that no other test sees."""
    monkeypatch.setattr(learners, "_classes", dict(learners._classes))


# What a player is


@pytest.mark.parametrize(
    ("given", "player"),
    [
        (Hedge(), Player("hedge")),
        (Hedge(0.25), Player("hedge", settings={"learning_rate": 0.25})),
        (OptimisticGD.tuned, Player("optimistic-gd", "measures")),
        (functools.partial(OptimisticGD.tuned), Player("optimistic-gd", "measures")),
        (functools.partial(OptimisticGD.tuned, rule="sharp"), Player("optimistic-gd", "measures", {"rule": "sharp"})),
        (
            functools.partial(functools.partial(RerunUCBV.tuned, rule="sharp"), failure="horizon"),
            Player("rerun-ucbv", "measures", {"failure": "horizon", "rule": "sharp"}),
        ),
        ({"name": "sword", "tuned": "rounds"}, Player("sword", "rounds")),
        ({"name": "sword", "tuned": True}, Player("sword", "measures")),
        ({"name": "sword", "tuned": False}, Player("sword")),
        (Player("sword", "budget"), Player("sword", "budget")),
        (OracleRestarts(GLRKLUCB(), (3, 9)), Player("oracle-restarts", settings={"base": {"name": "glr-kl-ucb"},
                                                                               "change_points": [3, 9]})),
    ],
    ids=str,
)  # fmt: skip
def test_learners_rules_partials_and_specs_have_players(given, player):
    assert Player.of(given) == player
    assert hash(Player.of(given)) == hash(player)


@pytest.mark.parametrize("name", [*learners])
def test_every_spec_rebuilds_an_equal_player_after_json(name):
    for player in [player for player in PLAYERS if player.name == name]:
        rebuilt = Player.from_spec(json.loads(json.dumps(player.spec)))
        assert rebuilt == player
        assert (rebuilt.spec, rebuilt.label, repr(rebuilt)) == (player.spec, player.label, repr(player))
        assert json.loads(player.text) == player.spec
        assert "name" not in player.settings


@pytest.mark.parametrize("name", [*learners])
def test_every_player_is_pickled_and_copied(name):
    for player in [player for player in PLAYERS if player.name == name]:
        for other in (pickle.loads(pickle.dumps(player)), copy.copy(player), copy.deepcopy(player)):
            assert other == player
            assert (other.spec, other.versions, other.modules) == (player.spec, player.versions, player.modules)


def test_different_players_differ():
    assert len({*PLAYERS}) == len({player.text for player in PLAYERS})
    assert (
        len({Player("hedge"), Player("hedge", "measures"), Player("hedge", "rounds"), Player("hedge", "budget")}) == 4
    )
    assert Player("hedge") != Hedge()
    assert Player("hedge") != "hedge"


def test_a_whole_number_and_the_equal_real_number_make_equal_learners():
    assert Player("hedge", settings={"learning_rate": 1}) == Player.of(Hedge(1.0))
    assert Player("flh", settings={"learning_rate": np.float64(0.5)}) == Player("flh")


def test_a_player_keeps_its_own_copy_of_the_settings():
    settings = {"learning_rate": 0.5}
    player, tuned = Player("optimistic-gd", settings=settings), Player("optimistic-gd", "rounds", settings)
    settings["learning_rate"] = 0.25
    assert player.spec["learning_rate"] == tuned.spec["learning_rate"] == 0.5
    player.spec["learning_rate"] = 0.125
    assert player.spec["learning_rate"] == 0.5


@pytest.mark.parametrize(
    ("player", "shown", "label"),
    [
        (Player("hedge"), "Player('hedge')", "hedge"),
        (Player("hedge", "rounds"), "Player('hedge', tuned='rounds')", "hedge (tuned to rounds)"),
        (Player("hedge", "budget"), "Player('hedge', tuned='budget')", "hedge (tuned to budget)"),
        (
            Player("optimistic-gd", "measures", {"rule": "sharp"}),
            "Player('optimistic-gd', tuned='measures', rule='sharp')",
            "optimistic-gd (tuned, rule=sharp)",
        ),
        (
            Player.of(OptimisticGD(0.5)),
            "Player('optimistic-gd', learning_rate=0.5, prox_scale=1.0)",
            "optimistic-gd(learning_rate=0.5)",
        ),
    ],
)
def test_players_print_their_name_and_settings(player, shown, label):
    assert repr(player) == shown
    assert player.label == label


def test_equal_players_are_numbered_as_copies():
    found = labelled_players([Hedge(), OptimisticGD.tuned, Player("hedge"), {"name": "hedge"}, OptimisticGD()])
    assert [(entry.label, entry.copy) for entry in found] == [
        ("hedge", 0),
        ("optimistic-gd (tuned)", 0),
        ("hedge #2", 1),
        ("hedge #3", 2),
        ("optimistic-gd", 0),
    ]


def test_versions_and_modules_are_those_of_all_classes_also_if_a_rule_makes_the_learner(monkeypatch):
    for player in (Player("flh"), Player("flh", "measures"), Player("flh", "budget"), Player("flh", "rounds")):
        assert player.versions == {"learner flh": 1, "learner hedge": 1}
        assert player.modules == {FLH.__module__, Hedge.__module__}
    other = Player("flh", "measures", {"base": "optimistic-gd"})
    assert other.versions == {"learner flh": 1, "learner optimistic-gd": 1}
    before = Player("flh", "measures")
    assert before.versions["learner hedge"] == 1
    monkeypatch.setattr(Hedge, "version", 7)
    assert before.versions["learner hedge"] == 7


# Which learner plays

KNOWN = Measures(3, 500, 4, 3.5, 40.0, 0.0, 2.0, (100, 200, 300))
BUDGET = Measures(3, 500, 9, 6.0, 80.0, 0.0, 2.0, tuple(range(50, 450, 50)))
ROUNDS_ONLY = Measures(3, 500, 1, 0.0, 0.0)


@pytest.mark.parametrize("name", RULES)
def test_every_rule_is_given_what_the_player_says(name):
    rule = learners.get(name).tuned
    with collected():
        assert Player(name, "measures").learner(3, 500, KNOWN, BUDGET) == rule(KNOWN)
        assert Player(name, "budget").learner(3, 500, KNOWN, BUDGET) == rule(BUDGET)
        assert Player(name, "budget").learner(3, 500, KNOWN) == rule(KNOWN)
        if name != "oracle-restarts":  # it needs the change points
            assert Player(name, "rounds").learner(3, 500) == rule(ROUNDS_ONLY)


def test_settings_are_options_of_the_rule_or_replace_what_it_sets():
    player = Player("optimistic-gd", "measures", {"rule": "sharp", "prox_scale": 0.5})
    expected = OptimisticGD.tuned(KNOWN, rule="sharp")
    assert expected.learning_rate != OptimisticGD.tuned(KNOWN).learning_rate
    assert player.learner(3, 500, KNOWN) == OptimisticGD(expected.learning_rate, prox_scale=0.5)
    replaced = Player("optimistic-gd", "measures", {"learning_rate": 0.125})
    assert replaced.learner(3, 500, KNOWN).learning_rate == 0.125
    assert Player("flh", "rounds", {"base": "ada-hedge"}).learner(3, 500).base == "ada-hedge"


def test_a_tuned_learner_plays_as_the_learner_made_by_hand():
    for rule in (OptimisticGD.tuned, RerunUCBV.tuned, FLH.tuned):
        results = simulate(SWITCHING, rule, n_rounds=200, n_runs=2, seed=3)
        for run in range(2):
            learner = rule(SWITCHING.measures(200, np.random.SeedSequence(3, spawn_key=(run, 0))))
            by_hand = simulate(SWITCHING, learner, n_rounds=200, n_runs=2, seed=3)
            assert results.regrets[0, run].tobytes() == by_hand.regrets[0, run].tobytes()
            assert results.bounds[0, run].tobytes() == by_hand.bounds[0, run].tobytes()


def test_a_player_of_rounds_needs_no_measures_and_plays_recorded_losses():
    losses = np.random.default_rng(1).random((80, 3))
    player = Player("fixed-share", "rounds")
    assert not player.needs_measures
    results = simulate(Replay(losses), player)
    by_hand = simulate(Replay(losses), FixedShare.tuned(Measures(3, 80, 1, 0.0, 0.0)))
    assert results.regrets.tobytes() == by_hand.regrets.tobytes()
    assert Player.from_spec(results.learners[0]) == player
    for tuned, label in (("measures", "fixed-share (tuned)"), ("budget", "fixed-share (tuned to budget)")):
        assert Player("fixed-share", tuned).needs_measures
        with pytest.raises(InvalidInput) as caught:
            simulate(Replay(losses), Player("fixed-share", tuned))
        assert str(caught.value) == f"'{label}' needs measures for its tuning, but replayed losses have none."


@pytest.mark.parametrize("adversary", [FullV(6.0, 0.0), FullLow(4, 30.0)], ids=str)
def test_the_budget_is_that_of_the_adversary(adversary):
    environment = adversary.against(None, 120, seed=2)
    results = simulate(
        environment, {"budget": Player("optimistic-gd", "budget"), "measures": OptimisticGD.tuned}, 120, 2
    )
    by_hand = simulate(environment, OptimisticGD.tuned(adversary.budget(120)), 120, 2)
    assert results.regrets[0].tobytes() == by_hand.regrets[0].tobytes()
    assert results.played[0] == to_spec(OptimisticGD.tuned(adversary.budget(120)))


def test_results_hold_specs_that_rebuild_the_players(tmp_path):
    players = [
        Hedge(0.25),
        OptimisticGD.tuned,
        functools.partial(OptimisticGD.tuned, rule="sharp"),
        Player("sword", "rounds"),
        Player("rerun-ucbv", "budget", {"log_scale": 0.1}),
        OracleRestarts(GLRKLUCB(restart="global"), (30, 90)),
        SAOL("ada-hedge"),
    ]
    results = simulate(SWITCHING, players, n_rounds=150, n_runs=2)
    results.to_parquet(tmp_path / "results.parquet")
    for found in (results, Results.from_parquet(tmp_path / "results.parquet")):
        assert [Player.from_spec(spec) for spec in found.learners] == [*map(Player.of, players)]
        assert [Player.of(spec).tuned for spec in found.played] == [None] * len(players)
        again = simulate(SWITCHING, [Player.from_spec(spec) for spec in found.learners], n_rounds=150, n_runs=2)
        assert again.regrets.tobytes() == results.regrets.tobytes()
        for player, label in zip(players, results.labels, strict=True):
            assert found.final(player).tolist() == found.final(label).tolist()


# What is rejected


class Other(OptimisticGD):
    """A learner that has the name of its base class."""


class Nameless(ExpertLearner):
    """A learner without a name."""


NOT_A_PLAYER = "A player must be a learner, `X.tuned` of a learner X, or a Player, got "
NOT_REGISTERED = "is not registered, so its spec could not rebuild it."
TUNED = "must be None or one of 'measures', 'rounds', 'budget'"


@pytest.mark.parametrize(
    ("make", "kind", "message"),
    [
        (
            lambda: Player("hege"),
            UnknownName,
            "There is no learner 'hege'. Did you mean 'hedge'? If it is your own, import its module first.",
        ),
        (
            lambda: Player("hedge", settings={"learning_rte": 1.0}),
            UnknownName,
            "There is no parameter 'learning_rte' of the learner 'hedge'. Did you mean 'learning_rate'?",
        ),
        (
            lambda: Player("hedge", "rounds", {"learning_rte": 1.0}),
            UnknownName,
            "There is no parameter 'learning_rte' of 'hedge' or of the rule that tunes it."
            " Did you mean 'learning_rate'?",
        ),
        (
            lambda: Player("fixed-share", settings={"switch_rate": 1.5}),
            InvalidInput,
            "FixedShare: `switch_rate` must be in [0, 1], got 1.5.",
        ),
        (
            lambda: Player("fixed-share", "rounds", {"switch_rate": 1.5}).learner(3, 500),
            InvalidInput,
            "FixedShare: `switch_rate` must be in [0, 1], got 1.5.",
        ),
        (
            lambda: Player("squint", "measures"),
            InvalidInput,
            "Squint: it has no rule for tuning; give its parameters.",
        ),
        (
            lambda: Player.of({"name": "ucb1", "tuned": "rounds"}),
            InvalidInput,
            "UCB1: it has no rule for tuning; give its parameters.",
        ),
        (lambda: Player("hedge", "drift"), InvalidInput, f"Player: `tuned` {TUNED}, got 'drift'."),
        (lambda: Player("hedge", True), InvalidInput, f"Player: `tuned` {TUNED}, got True."),
        (
            lambda: Player.from_spec({"name": "hedge", "tuned": "drift"}),
            InvalidInput,
            "learner 'hedge': `tuned` must be true, false, 'measures', 'rounds', 'budget', got 'drift'.",
        ),
        (
            lambda: Player("optimistic-gd", "rounds", {"rule": {1, 2}}),
            InvalidInput,
            "A spec must consist of plain values, got {'rule': {1, 2}}.",
        ),
        (
            lambda: Player("hedge", settings=[]),
            InvalidInput,
            "Player: `settings` must be a dictionary with text for keys, got [].",
        ),
        (
            lambda: Player("hedge", "rounds", {1: 2}),
            InvalidInput,
            "Player: `settings` must be a dictionary with text for keys, got {1: 2}.",
        ),
        (
            lambda: Player("hedge", settings={"name": "ucb1"}),
            UnknownName,
            "There is no parameter 'name' of 'hedge'. Known: none.",
        ),
        (
            lambda: Player.from_spec({"tuned": True}),
            InvalidInput,
            "A learner spec must have a `name`, got {'tuned': True}.",
        ),
        (lambda: Player.of(3), InvalidInput, f"{NOT_A_PLAYER}3."),
        (lambda: Player.of("hedge"), InvalidInput, f"{NOT_A_PLAYER}'hedge'."),
        (lambda: Player.of(Hedge), InvalidInput, f"{NOT_A_PLAYER}{Hedge!r}. Write Hedge()."),
        (lambda: Player.of(Hedge.at_corners), InvalidInput, None),
        (lambda: Player.of(lambda _: Hedge()), InvalidInput, None),
        (lambda: Player.of(functools.partial(OptimisticGD.tuned, KNOWN)), InvalidInput, None),
        (
            lambda: Player.of(functools.partial(Hedge.tuned, measures=KNOWN)),
            UnknownName,
            "There is no parameter 'measures' of 'hedge' or of the rule that tunes it. Known: learning_rate.",
        ),
        (lambda: Player.of(Other()), InvalidInput, f"Other {NOT_REGISTERED}"),
        (lambda: Player.of(Other.tuned), InvalidInput, f"Other {NOT_REGISTERED}"),
        (lambda: Player.of(Nameless.tuned), InvalidInput, f"Nameless {NOT_REGISTERED}"),
    ],
)  # fmt: skip
def test_what_is_no_player_is_rejected_in_one_line(make, kind, message):
    with pytest.raises(kind) as caught:
        make()
    assert isinstance(caught.value, DriftwiseError)
    assert "\n" not in str(caught.value)
    if message is None:
        assert str(caught.value).startswith(NOT_A_PLAYER)
    else:
        assert str(caught.value) == message


def test_a_name_that_is_no_text_is_unknown():
    for name in (["hedge"], 3, None):
        with pytest.raises(UnknownName, match=r"^There is no learner '.*'\."):
            Player(name)


@pytest.mark.parametrize(
    ("learner", "message"),
    [
        (
            lambda _: Hedge(),
            " A rule of your own is the class method `tuned` of a learner of your own.",
        ),
        (3, "simulate: `learners` must hold learners, got 3."),
        (Hedge, "simulate: `learners` must hold learners, got the class Hedge. Write Hedge() or Hedge.tuned."),
        ("hedge", "simulate: `learners` must hold learners, got the name 'hedge'. Write Hedge()."),
        (Other(), "Other is not registered, so its spec could not rebuild it."),
    ],
    ids=["function", "number", "class", "name", "unregistered"],
)
def test_simulate_says_what_to_write_instead(learner, message):
    with pytest.raises(InvalidInput) as caught:
        simulate(SWITCHING, [learner], n_rounds=10, n_runs=1)
    assert str(caught.value).endswith(message)


# Learners of a user's own module


def test_a_learner_of_the_users_own_takes_part_everywhere(own_registry, tmp_path):
    own = import_module(tmp_path, "own_learner_of_a_test", OWN)
    assert Player.of(own.Own()).modules == {"own_learner_of_a_test"}
    players = [own.Own(0.5), own.Own.tuned, functools.partial(own.Own.tuned, boost=2.0)]
    assert [Player.of(player).label for player in players] == [
        "own-hedge(learning_rate=0.5)",
        "own-hedge (tuned)",
        "own-hedge (tuned, boost=2.0)",
    ]
    results = simulate(SWITCHING, players, n_rounds=50, n_runs=1)
    same = simulate(SWITCHING, [Hedge(0.5), Hedge(1 / 50), Hedge(2 / 50)], n_rounds=50, n_runs=1)
    assert results.regrets.tobytes() == same.regrets.tobytes()
    results.to_parquet(tmp_path / "results.parquet")
    found = Results.from_parquet(tmp_path / "results.parquet")
    assert [Player.from_spec(spec) for spec in found.learners] == [Player.of(player) for player in players]
    assert pickle.loads(pickle.dumps(Player.of(players[2]))) == Player.of(players[2])


def program(*words, folder, path=()):
    """Run the command line in a process of its own, in a folder; `path` has further folders of modules."""
    source = str(ROOT / "src")
    variables = {**os.environ, "PYTHONPATH": os.pathsep.join([source, *map(str, path)]), "COLUMNS": "80"}
    command = [sys.executable, "-c", "from driftwise.cli.main import main; main()", *map(str, words)]
    return subprocess.run(command, cwd=folder, env=variables, capture_output=True, text=True, check=False)


SWEEP = """
n_rounds = 20
n_runs = 2
environments = [{path = {name = "switching", n_segments = 2, n_actions = 2}, noise = "bernoulli"}]
learners = [{name = "own-hedge"}, {name = "own-hedge", tuned = "rounds", boost = 0.5}]
"""


@pytest.fixture
def own_folder(tmp_path):
    """Return a folder with a user's module and a sweep."""
    (tmp_path / "own_module.py").write_text(OWN)
    (tmp_path / "path_module.py").write_text(PATH)
    (tmp_path / "sweep.toml").write_text(SWEEP)
    return tmp_path


@pytest.mark.parametrize(
    ("line", "shown"),
    [
        ("list --json", '"name": "own-hedge"'),
        ("show own-hedge", "in Python: from own_module import Own"),
        ("compile own-hedge --quiet", "compiled 1 learner in "),
        ("simulate --rounds 20 --runs 1 --learner own-hedge:tuned=rounds,boost=3 --json", "own-hedge (tuned to rounds"),
        ("sweep sweep.toml --quiet", "All 4 cells of the sweep are stored in out/sweep."),
    ],
)
def test_every_command_imports_a_module_of_the_user(line, shown, own_folder):
    done = program(*line.split(), "--import", "own_module", folder=own_folder)
    assert (done.returncode, done.stderr) == (0, "")
    assert shown in done.stdout


def test_several_modules_are_imported(own_folder):
    words = [
        "--import",
        "own_module",
        "--import",
        "path_module",
        "--learner",
        "own-hedge",
        "--path",
        "waves:n_actions=2",
    ]
    done = program("simulate", "--rounds", 20, "--runs", 1, "--json", *words, folder=own_folder)
    assert (done.returncode, done.stderr) == (0, "")


def test_a_learner_that_was_not_imported_is_unknown(own_folder):
    done = program("show", "own-hedge", folder=own_folder)
    assert (done.returncode, done.stdout) == (2, "")
    assert len(done.stderr.splitlines()) == 1


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (None, "--import broken: No module named 'broken'."),
        ("1 / 0", "--import broken: ZeroDivisionError: division by zero"),
        ("raise ValueError('two\\nlines')", "--import broken: ValueError: two\\nlines"),
        ("import sys\nsys.exit(0)", "--import broken: SystemExit: 0"),
        (
            "from driftwise.learners import Hedge\nHedge(-1)",
            "Hedge: `learning_rate` must be a finite number > 0, got -1.",
        ),
    ],
)  # fmt: skip
def test_a_module_that_cannot_be_imported_is_reported_in_one_line(text, message, tmp_path, monkeypatch, capsys):
    if text is not None:
        (tmp_path / "broken.py").write_text(text)
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(sys, "path", [*sys.path])
    monkeypatch.setattr(sys, "argv", ["driftwise", "list", "--import", "broken"])
    importlib.invalidate_caches()
    with pytest.raises(SystemExit) as left:
        main()
    assert (left.value.code, *capsys.readouterr()) == (2, "", f"driftwise: {message}\n")


def test_a_folder_in_the_name_of_a_module_is_explained(monkeypatch, capsys):
    monkeypatch.setattr(sys, "path", [*sys.path])
    monkeypatch.setattr(sys, "argv", ["driftwise", "list", "--import", "./mine.py"])
    with pytest.raises(SystemExit):
        main()
    rule = "it must be the name of a module, without a folder; call driftwise in the folder of the file."
    assert capsys.readouterr().err == f"driftwise: --import ./mine.py: {rule}\n"


def install(folder, name, module):
    """Make a package of one module, with an entry point, as an installer leaves it."""
    info = folder / f"{name}-1.0.dist-info"
    info.mkdir()
    (info / "METADATA").write_text(f"Metadata-Version: 2.1\nName: {name}\nVersion: 1.0\n")
    (info / "entry_points.txt").write_text(f"[driftwise.learners]\n{name} = {module}\n")


def test_installed_packages_add_learners_and_broken_ones_are_left_out(tmp_path):
    site, empty = tmp_path / "site", tmp_path / "empty"
    site.mkdir()
    empty.mkdir()
    (site / "own_plugin.py").write_text(OWN)
    (site / "bad_plugin.py").write_text("raise RuntimeError('not today\\nor ever')")
    install(site, "good", "own_plugin")
    done = program("show", "own-hedge", folder=empty, path=[site])
    assert (done.returncode, done.stderr) == (0, "")
    assert "from own_plugin import Own" in done.stdout
    install(site, "bad", "bad_plugin")
    done = program("list", "--json", folder=empty, path=[site])
    assert done.returncode == 0
    assert "own-hedge" in [member["name"] for member in json.loads(done.stdout)]
    report = "The entry point bad = bad_plugin of the package bad was left out: RuntimeError: not today\\nor ever."
    assert done.stderr == f"driftwise: {report}\n"
