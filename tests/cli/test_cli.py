"""The command line: what it prints, what it writes, and which errors it reports."""

import itertools
import json
import os
import pty
import re
import select
import signal
import subprocess
import sys
import time
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from command_line import runner
from driftwise import Environment, OptimisticGD, Replay, RerunUCBV, Results, Switching, TwoPoint, simulate
from driftwise.cli.catalogue import describe, plain, registries
from driftwise.glossary import COLUMNS_NOTE
from driftwise.report.maths_text import formula_text, readable
from driftwise.report.tables import number
from driftwise.theory.statements import statements
from outside_files import ROOT

SCRIPT = Path(sys.executable).parent / "driftwise"
EXAMPLE = ROOT / "examples" / "switching.toml"
MEMBERS = [name for registry in registries().values() for name in registry]
SMALL = ("simulate", "--rounds", "60", "--runs", "2", "--learner", "optimistic-gd")
SMALL_LINE = " ".join(SMALL)
USAGE = "Usage: driftwise simulate [OPTIONS] [SPEC]\nTry 'driftwise simulate --help' for help.\n\nError: "


@pytest.fixture
def driftwise(monkeypatch, capsys, tmp_path):
    """Run a command line in this process, in an empty folder."""
    return runner(monkeypatch, capsys, tmp_path)


@pytest.fixture
def lines(driftwise):
    """Run a command line that must succeed without output on standard error; return its lines."""

    def run(*words):
        code, out, err = driftwise(*words)
        assert (code, err) == (0, "")
        return out.splitlines()

    return run


@pytest.fixture
def as_json(lines):
    """Run a command line with --json and read what it prints; NaN and Infinity are no JSON."""

    def refuse(word):
        raise AssertionError(f"{word} is not JSON")

    return lambda *words: json.loads("\n".join(lines(*words, "--json")), parse_constant=refuse)


# list and show


@pytest.mark.parametrize("kind", registries())
def test_list_names_everything_in_the_registry(kind, lines, as_json):
    registry = registries()[kind]
    table = lines("list", kind)
    *rows, blank, last = table[2:]
    assert [row.split()[0] for row in rows if not row.startswith(" ")] == list(registry)
    assert (blank, last) == ("", f"{len(registry)} {kind}. `driftwise show NAME` describes one.")
    assert max(map(len, table)) <= 80
    assert as_json("list", kind) == [describe(registry.get(name)) for name in registry]


def test_list_starts_with_learners(lines):
    assert lines("list") == lines("list", "learners")


@pytest.mark.parametrize("name", MEMBERS)
def test_show_prints_everything_about_a_member(name, lines, as_json):
    record, text = as_json("show", name), lines("show", name)
    head = " ".join(line.strip() for line in text[: text.index("")])
    assert head == f"{name}: {record['summary']}"
    assert all(line or after for line, after in itertools.pairwise(text)), "two blank lines"
    place = text.index(f"  in Python: from {record['module']} import {record['class']}")
    assert not text[place + 1 :] or text[place + 2].startswith(("As a word:", "Also of this name: `driftwise show"))
    text = text[: place + 1]
    assert max(map(len, text)) <= 120  # formulas are as long as in the source
    for parameter in record["parameters"]:
        assert f"    {parameter['name']} = {parameter['default']}" in text
        assert parameter["meaning"], f"{name} does not say what {parameter['name']} means"
    shown = " ".join(" ".join(text).split())
    for heading in ("must_know", "time_per_round", "regret", "in_practice", "notes"):
        if record.get(heading):
            assert " ".join(readable(record[heading]).split()) in shown
    assert all(text in shown for text in record["references"])
    assert "\\" not in shown, "a formula is not readable"
    assert "$" not in shown


@pytest.mark.parametrize(
    ("name", "better"),
    [
        ("discounted-ucb", "0.125"),
        ("flh", "keep the default learning rate"),
        ("optimistic-gd", 'rule="sharp"'),
        ("m-ucb", "keep the default parameters"),
    ],
)
def test_show_prints_the_values_that_cost_less_in_practice(name, better, as_json):
    assert better in as_json("show", name)["in_practice"]


@pytest.mark.parametrize("number", statements)
def test_show_prints_everything_about_a_statement_of_the_paper(number, lines, as_json):
    record, text = as_json("show", number), lines("show", number)
    assert record == plain(statements[number])
    assert " ".join(line.strip() for line in text[: text.index("")]) == f"{statements[number].name}: {record['title']}"
    assert max(map(len, text)) <= 100
    shown = " ".join(" ".join(text).split())
    assert readable(record["words"]) in shown
    assert readable(record["ours"]) in shown
    assert " ".join(formula_text(record["formula"]).split()) in shown
    for name in ("code", "tests", "errata", "commands"):
        assert all(each in shown for each in record[name])
    assert "\\" not in shown, "a formula is not readable"


def test_show_finds_a_recording_and_classes_by_their_names(lines, as_json):
    assert as_json("show", "replay")["class"] == "Replay"
    assert lines("show", "Replay") == lines("show", "replay")
    assert "  in Python: from driftwise.environments import Replay" in lines("show", "replay")
    assert lines("show", "OptimisticGD")[0] == lines("show", "optimistic-gd")[0]


def test_show_finds_a_statement_by_its_number_or_label_alone(lines):
    found = lines("show", "Theorem 3.2")
    assert lines("show", "3.2") == lines("show", "theorem 3.2") == lines("show", "dev") == found
    assert found[0] == "Theorem 3.2 (dev): regret of Algorithm 2 when the means switch"
    assert lines("show", "Algorithm 2")[0] == "Algorithm 2 (alg:dev): optimistic gradient descent"


@pytest.mark.parametrize(
    ("name", "numbers"),
    [
        ("rerun-ucbv", ["Theorem 2.1", "Algorithm 1", "Theorem 3.1"]),
        ("optimistic-gd", ["Algorithm 2", "Theorem 3.2"]),
        ("restarted-adaptive-gd", ["Theorem 3.3", "Lemma D.1"]),
        ("optimistic-adapt-ml-prod", ["Algorithm 3", "Theorem 3.4"]),
        ("sleeping-optimistic-adapt-ml-prod", ["Theorem 3.5", "Algorithm 4"]),
        ("bandit-low", ["Theorem 4.1"]),
        ("full-low", ["Theorem 4.2"]),
        ("full-v", ["Theorem 4.3"]),
    ],
)
def test_show_names_the_statements_of_the_paper_about_a_member(name, numbers, lines, as_json):
    assert as_json("show", name)["statements"] == numbers
    head = f"in the paper {', '.join(numbers)}; see"
    assert any(" ".join(line.split()).startswith(head) for line in lines("show", name))
    assert "statements" not in as_json("show", "hedge")


def test_list_has_every_statement_of_the_paper(lines, as_json):
    table = lines("list", "theorems")
    assert [each["number"] for each in as_json("list", "theorems")] == list(statements)
    assert all(any(row.startswith(number) for row in table) for number in statements)
    assert table[-1] == f"{len(statements)} statements of the paper. `driftwise show NUMBER` describes one."


def test_show_suggests_the_nearest_name_or_says_where_the_names_are(driftwise):
    code, out, err = driftwise("show", "Theorm 3.2")
    assert (code, out) == (2, "")
    assert err.startswith(
        "driftwise: There is no learner, theorem or other entry 'Theorm 3.2'. Did you mean 'Theorem 3.2'?"
    )
    code, out, err = driftwise("show", "zzzz")
    assert (code, out) == (2, "")
    assert "`driftwise list KIND` has all names." in err


def test_formulas_are_in_latex_where_the_terminal_has_no_such_letters():
    shown = subprocess.run(
        [SCRIPT, "show", "Theorem 4.1"],
        capture_output=True,
        check=True,
        env={**os.environ, "PYTHONIOENCODING": "ascii"},
    ).stdout.decode("ascii")
    assert statements["Theorem 4.1"].formula in shown


# simulate


def test_simulate_prints_the_table_of_the_library(lines):
    table = lines(
        "simulate", "--path", "switching:n_segments=3,n_actions=4,best=0.2", "--noise", "two-point:scale=0.1",
        "--learner", "optimistic-gd:learning_rate=0.5", "--learner", "rerun-ucbv:tuned", "--rounds", "200",
        "--runs", "3", "--seed", "5",
    )  # fmt: skip
    environment = Environment(Switching(3, 4, best=0.2), TwoPoint(0.1))
    results = simulate(environment, [OptimisticGD(0.5), RerunUCBV.tuned], n_rounds=200, n_runs=3, seed=5)
    assert table == [*results.table().splitlines(), "", COLUMNS_NOTE]


DEFAULTS = ("tracker", "bandit-tracker")


def test_simulate_without_learners_plays_the_defaults_beside_two_tuned_learners(as_json):
    found = as_json("simulate", "--rounds", "400", "--runs", "2")
    expected = [*DEFAULTS, "optimistic-fixed-share (tuned)", "sliding-window-kl-ucb (tuned)"]
    assert [row["learner"] for row in found["learners"]] == expected
    assert [len(found["measures"]), len(found["realised"])] == [2, 2]
    assert min(row["behind"]["mean"] for row in found["learners"]) == 0.0


def test_json_holds_the_numbers_of_the_table(lines, as_json):
    words = (*SMALL, "--learner", "optimistic-adapt-ml-prod", "--confidence", "0.9")
    found, table = as_json(*words), lines(*words)
    assert (found["comparator"], found["kind"], found["n_rounds"]) == ("dynamic", "pseudo", 60)
    for row, line in zip(found["learners"], table[-4:-2], strict=True):
        shown = [row["learner"], number(row["regret"]), number(row["low"]), "..", number(row["high"])]
        assert line.split()[:6] == [*shown, number(row["bound"]) if (row["bound"] or 0) < 60 else "T"]
    assert found["learners"][1]["bound"] is None


def test_json_writes_infinity_as_text(as_json):
    found = as_json("simulate", "--rounds", "20", "--runs", "1", "--learner", "optimistic-gd:learning_rate=inf")
    assert found["learners"][0]["spec"]["learning_rate"] == "inf"
    assert found["learners"][0]["low"] is None


@pytest.mark.parametrize("comparator", ["dynamic", "static", "switching:2", "interval:10-39"])
def test_every_comparator_can_be_named(comparator, as_json):
    assert as_json(*SMALL, "--comparator", comparator)["comparator"] == comparator


def test_threads_and_blocks_do_not_change_the_output(lines):
    assert lines(*SMALL, "--threads", "1", "--block", "7") == lines(*SMALL, "--threads", "2", "--play", "weights")


def test_seeds_change_the_output(lines):
    one, again, other = (lines(*SMALL, "--seed", seed) for seed in (1, 1, 2))
    assert one == again
    assert one[-3] != other[-3]  # the last row of the table


def test_a_rule_may_have_parameters(as_json):
    found = as_json(*SMALL[:-1], "optimistic-gd:tuned,rule=sharp,comparator_segments=2", "--rounds", "400")
    assert found["learners"][0]["learner"] == "optimistic-gd (tuned, rule=sharp, comparator_segments=2)"


def test_a_spec_file_replaces_all_flags(as_json, tmp_path):
    (tmp_path / "environment.toml").write_text(
        """
        n_rounds = 50
        n_runs = 3
        seed = 4
        comparator = "static"
        play = "sample"
        [environment.path]
        name = "switching"
        n_segments = 2
        n_actions = 3
        [environment.noise]
        name = "beta"
        [[learners]]
        name = "optimistic-gd"
        learning_rate = 0.7
        [[learners]]
        name = "restarted-adaptive-gd"
        tuned = true
        """
    )
    found = as_json("simulate", "environment.toml")
    requested = {key: found[key] for key in ("n_rounds", "n_runs", "seed", "comparator", "n_actions")}
    assert requested == {"n_rounds": 50, "n_runs": 3, "seed": 4, "comparator": "static", "n_actions": 3}
    assert [row["learner"] for row in found["learners"]] == [
        "optimistic-gd(learning_rate=0.7)",
        "restarted-adaptive-gd (tuned)",
    ]
    flags = (
        "--path", "switching:n_segments=2,n_actions=3", "--noise", "beta", "--rounds", 50, "--runs", 3, "--seed", 4,
        "--comparator", "static", "--play", "sample", "--learner", "optimistic-gd:learning_rate=0.7",
        "--learner", "restarted-adaptive-gd:tuned",
    )  # fmt: skip
    assert as_json("simulate", *flags) == found


def test_flags_override_the_file(as_json):
    found = as_json(
        "simulate", EXAMPLE, "--rounds", 100, "--runs", 2, "--seed", 9, "--comparator", "static",
        "--path", "constant:means=[0.3,0.6]", "--noise", "beta", "--variance", 3, "--learner", "optimistic-gd",
    )  # fmt: skip
    assert (found["n_rounds"], found["n_runs"], found["seed"], found["comparator"]) == (100, 2, 9, "static")
    assert found["environment"]["path"] == {"name": "constant", "means": [0.3, 0.6]}
    assert found["environment"]["noise"]["variance"] == 3.0
    assert [row["learner"] for row in found["learners"]] == ["optimistic-gd"]


def test_an_empty_file_changes_nothing(lines, tmp_path):
    (tmp_path / "empty.toml").write_text("")
    assert lines(*SMALL, "empty.toml") == lines(*SMALL)


@pytest.mark.parametrize(("flags", "in_file"), [("", False), ("--realised", False), ("", True)])
def test_the_best_loss_is_shown_on_request(flags, in_file, driftwise, tmp_path):
    (tmp_path / "spec.toml").write_text(f"realised = {str(in_file).lower()}\n")
    line = ["simulate", "spec.toml", "--rounds", 60, "--runs", 2, "--learner", "hedge", "--quiet", *flags.split()]
    requested = bool(flags) or in_file
    assert ("best loss L* = " in driftwise(*line).out) == requested
    found = json.loads(driftwise(*line, "--json").out)["realised"]
    assert [one["best_loss"] is not None for one in found] == [requested, requested]


def test_budgets_are_realised(driftwise):
    words = ("--path", "random-walk:n_actions=3,step=0.05", "--noise", "beta", "--drift", "1.5", "--variance", "4")
    code, out, err = driftwise(*SMALL, *words, "--out", "results.parquet")
    assert (code, err) == (0, "wrote results.parquet\n")
    assert "drift V = 1.5, variance Lambda = 4\n" in out
    for measures in Results.from_parquet("results.parquet").measures:
        assert (measures.drift, measures.variance) == pytest.approx((1.5, 4.0), rel=1e-9)


@pytest.mark.parametrize("quiet", [False, True])
def test_files_are_written_and_noted_unless_quiet(quiet, driftwise, lines, tmp_path):
    files = ("--out", "deep/results.parquet", "--figure", "regret.svg")
    code, out, err = driftwise(*SMALL, *files, *(["--quiet"] if quiet else []))
    assert code == 0
    assert err == ("" if quiet else "wrote deep/results.parquet\nwrote regret.svg\n")
    table = Results.from_parquet(tmp_path / "deep" / "results.parquet").table()
    assert out == f"{table}\n\n{COLUMNS_NOTE}\n"
    assert (tmp_path / "regret.svg").read_text().startswith("<?xml")


def test_warnings_are_notes_in_one_line(driftwise):
    # V is about T here, so that B = sqrt(K T / V) is about 3.
    words = (
        "simulate",
        "--path",
        "coin-flips:n_actions=10",
        "--learner",
        "rerun-ucbv:tuned",
        "--rounds",
        "60",
        "--runs",
        1,
    )
    code, _, err = driftwise(*words)
    reason = "a drift of 60 in 60 rounds, its blocks of 4 rounds cannot try all 10 actions"
    note = f"simulate: 'rerun-ucbv (tuned)': tuning says nothing here: {reason}."
    assert (code, err) == (0, f"driftwise: {note}\n")
    assert driftwise(*words, "--quiet").err == ""


def test_recordings_of_every_kind_are_replayed(as_json, tmp_path):
    losses = np.random.default_rng(2).random((30, 3))
    np.save(tmp_path / "losses.npy", losses)
    np.savetxt(tmp_path / "losses.csv", losses, fmt="%.17g", delimiter=",", header="a,b,c", comments="")
    pq.write_table(pa.table({"abc"[k]: losses[:, k] for k in range(3)}), tmp_path / "losses.parquet")
    mean = simulate(Replay(losses), OptimisticGD(), n_runs=1).regret("optimistic-gd").mean
    for kind in ("npy", "csv", "parquet"):
        words = ("simulate", "--replay", f"losses.{kind}", "--learner", "optimistic-gd", "--runs", "1")
        found = as_json(*words)
        assert (found["kind"], found["n_rounds"]) == ("realised", 30)
        assert found["environment"] == {"replay": f"losses.{kind}"}
        assert found["learners"][0]["regret"] == mean
        assert as_json(*words, "--rounds", "10")["n_rounds"] == 10


def test_a_recording_is_played_once_and_to_learners_untuned(as_json, tmp_path):
    np.save(tmp_path / "losses.npy", np.random.default_rng(2).random((30, 3)))
    found = as_json("simulate", "--replay", "losses.npy")
    assert [row["learner"] for row in found["learners"]] == [*DEFAULTS, "hedge", "kl-ucb"]
    assert found["n_runs"] == 1


# Mistakes

FILES = {
    "empty.csv": "",
    "gap.csv": "a,b\n0.1,0.2\n0.3,\n",
    "nan.csv": "0.1,0.2\n0.3,nan\n",
    "large.csv": "0.1,0.2\n0.3,7\n",
    "ragged.csv": "0.1,0.2\n0.3\n",
    "words.csv": "0.1,0.2\n0.3,much\n",
    "short.npy": "abc",
    "losses.txt": "0.1 0.2\n",
    "losses.csv": "0.1,0.2\n0.3,0.4\n",
    "not.toml": "n_rounds = = 3\n",
    "key.toml": "rounds = 3\n",
    "type.toml": 'n_rounds = "many"\n',
    "table.toml": "environment = 3\n",
    "one.toml": '[learners]\nname = "optimistic-gd"\n',
    "words.toml": 'learners = ["optimistic-gd"]\n',
    "nameless.toml": "[[learners]]\ntuned = true\n",
    "learner.toml": '[[learners]]\nname = "optimistic-dg"\n',
    "parameter.toml": '[[learners]]\nname = "optimistic-gd"\nlearning_rat = 1.0\n',
    "value.toml": '[[learners]]\nname = "optimistic-gd"\nlearning_rate = "fast"\n',
    "half.toml": '[environment.path]\nname = "coin-flips"\nn_actions = 2\n',
    "extra.toml": '[environment]\ncolour = "red"\npath = {name = "coin-flips"}\nnoise = {name = "beta"}\n',
    "bare.toml": '[environment]\npath = "coin-flips"\nnoise = {name = "beta"}\n',
    "comparator.toml": "comparator = 3\n",
    "number.toml": "[environment]\nreplay = 3\n",
    "tuned.toml": '[environment]\nreplay = "losses.csv"\n[[learners]]\nname = "optimistic-gd"\ntuned = true\n',
    "labels.csv": "0,1\n0.3,0.4\n",
    "header.toml": '[environment]\nreplay = "labels.csv"\nheader = "no"\n',
    "deep.toml": f"n_rounds = {'[' * 5000}{']' * 5000}\n",
    "tuning.toml": '[[learners]]\nname = "hedge"\ntuned = "no"\n',
    "long.toml": "#" * 2**20 + "\n",
    "blocked": "a file where a folder should be",
}
MISTAKES = [
    # commands and names
    ("simulat", 2, "There is no command 'simulat'. Did you mean 'simulate'?"),
    (
        "paint",
        2,
        "There is no command 'paint'. Known: combine, compile, examples, history, landscape, list, regret, results,"
        " show, simulate, sweep.",
    ),
    (
        "show optimistic-dg",
        2,
        "There is no learner, theorem or other entry 'optimistic-dg'. Did you mean 'optimistic-gd'?"
        " If it is your own, name its module: --import MODULE.",
    ),
    (
        "simulate --learner rerun-ucb",
        2,
        "There is no learner 'rerun-ucb'. Did you mean 'rerun-ucbv'?"
        " If it is your own, name its module: --import MODULE.",
    ),
    (
        "simulate --learner mine",
        2,
        "There is no learner 'mine'. `driftwise list` has all names."
        " If it is your own, name its module: --import MODULE.",
    ),
    ("simulate --path switchin", 2, "There is no path 'switchin'. Did you mean 'switching'?"),
    ("simulate --noise bernouli", 2, "There is no noise 'bernouli'. Did you mean 'bernoulli'?"),
    # parameters of members
    (
        "simulate --learner optimistic-gd:learning_rat=1",
        2,
        "There is no parameter 'learning_rat' of the learner 'optimistic-gd'. Did you mean 'learning_rate'?",
    ),
    ("simulate --learner optimistic-gd:learning_rate=-1", 2, "OptimisticGD: `learning_rate` must be > 0, got -1."),
    (
        "simulate --learner optimistic-gd:learning_rate=fast",
        2,
        "OptimisticGD: `learning_rate` must be > 0, got 'fast'.",
    ),
    (
        "simulate --learner optimistic-adapt-ml-prod:tuned",
        2,
        "OptimisticAdaptMLProd: it has no rule for tuning; give its parameters.",
    ),
    (
        "simulate --learner optimistic-gd:tuned,rate=3",
        2,
        "There is no parameter 'rate' of 'optimistic-gd' or of the rule that tunes it."
        " Known: comparator_segments, learning_rate, prox_scale, rule.",
    ),
    (
        "simulate --learner fixed-share:tuned,rule=sharp",
        2,
        "There is no parameter 'rule' of 'fixed-share' or of the rule that tunes it."
        " Known: learning_rate, switch_rate.",
    ),
    (
        "simulate --learner optimistic-gd:tuned,rule=best",
        2,
        "OptimisticGD: `rule` must be 'paper' or 'sharp', got 'best'.",
    ),
    (
        "simulate --path switching:n_segments=3",
        2,
        "The path 'switching' needs `n_actions`.",
    ),
    ("simulate --path constant:means=[0.5,2.0]", 2, "Constant: `means` must be in [0, 1], got 2.0 at action 1."),
    # budgets
    (
        "simulate --variance 50",
        2,
        "WithVariance: `noise` must be one with a free parameter (beta, clipped-gaussian, scaled-bernoulli,"
        " truncated-gaussian, two-point), got Bernoulli().",
    ),
    ("simulate --noise beta --variance -1", 2, "WithVariance: `variance` must be a finite number >= 0, got -1.0."),
    (
        "simulate --path linear:first=[0.5,0.5],last=[0.5,0.75] --drift 2",
        2,
        "WithDrift: `drift` must be in [0.5, 1.0] on this path, got 2.0.",
    ),
    # the simulation
    ("simulate --rounds 0", 2, "simulate: `n_rounds` must be a whole number >= 1, got 0."),
    ("simulate --runs 0", 2, "simulate: `n_runs` must be a whole number >= 1, got 0."),
    ("simulate --seed -1", 2, "simulate: `seed` must be a whole number >= 0, got -1."),
    ("simulate --threads 0", 2, "simulate: `n_threads` must be a whole number >= 1, got 0."),
    ("simulate --block 0", 2, "simulate: `block_size` must be a whole number >= 1, got 0."),
    (
        "simulate --comparator best",
        2,
        "simulate: `comparator` must be dynamic, static, switching:N or interval:FIRST-LAST[@ACTION], got 'best'.",
    ),
    ("simulate --comparator switching:0", 2, "Switched: `n_segments` must be a whole number >= 1, got 0."),
    ("simulate --comparator interval:9-3", 2, "Interval: `last` must be >= first = 9, got 3."),
    ("simulate --rounds 60 --comparator interval:0-60", 2, "Interval: `last` must be < n_rounds = 60, got 60."),
    (
        "simulate --rounds 99999999999999999999",
        2,
        "simulate: `n_rounds` must be a whole number in [1, 2^62], got 99999999999999999999.",
    ),
    (
        "simulate --learner optimistic-gd:tuned=no",
        2,
        "learner 'optimistic-gd': `tuned` must be true, false, 'measures', 'rounds', 'budget', got 'no'.",
    ),
    (
        "simulate --learner optimistic-gd:tuned=1",
        2,
        "learner 'optimistic-gd': `tuned` must be true, false, 'measures', 'rounds', 'budget', got 1.",
    ),
    ("simulate --learner hedge:learning_rate=1,learning_rate=2", 2, "'hedge' is given `learning_rate` twice."),
    ("simulate --learner hedge:name=ada-hedge", 2, "'hedge' is given `name` twice."),
    (
        "simulate --comparator switching:²",
        2,
        "simulate: `comparator` must be dynamic, static, switching:N or"
        " interval:FIRST-LAST[@ACTION], got 'switching:²'.",
    ),
    (
        "simulate --comparator switching:9223372036854775808",
        2,
        "Switched: `n_segments` must be a whole number in [1, 2^62], got 9223372036854775808.",
    ),
    ("simulate --out regret.txt", 2, "results: `path` must end in .parquet, .csv, got 'regret.txt'."),
    ("simulate --out regret", 2, "results: `path` must end in .parquet, .csv, got 'regret'."),
    (
        "simulate --replay losses.csv --out losses.csv",
        2,
        "simulate: losses.csv is read by the same command; write to another file.",
    ),
    ("simulate --figure regret.bmp", 2, "figure: `path` must end in .png, .svg, .pdf, got 'regret.bmp'."),
    # spec files
    ("simulate none.toml", 1, "Cannot read none.toml: No such file or directory."),
    ("simulate .", 1, "Cannot read .: Is a directory."),
    ("simulate not.toml", 1, "not.toml is not TOML: Invalid value (at line 1, column 12)."),
    ("simulate deep.toml", 1, "deep.toml cannot be read: its TOML is nested too deeply."),
    (
        "simulate tuning.toml",
        2,
        "learner 'hedge': `tuned` must be true, false, 'measures', 'rounds', 'budget', got 'no'.",
    ),
    ("simulate long.toml", 1, "long.toml is longer than the 1048576 bytes that a spec may have."),
    ("simulate key.toml", 2, "There is no key 'rounds' in key.toml. Did you mean 'n_rounds'?"),
    ("simulate type.toml", 2, "type.toml: `n_rounds` must be a whole number, got 'many'."),
    ("simulate table.toml", 2, "table.toml: `environment` must be a table, got 3."),
    (
        "simulate one.toml",
        2,
        "one.toml: `learners` must be tables, each under [[learners]], got {'name': 'optimistic-gd'}.",
    ),
    ("simulate words.toml", 2, "A learner spec must have a `name`, got 'optimistic-gd'."),
    ("simulate nameless.toml", 2, "A learner spec must have a `name`, got {'tuned': True}."),
    (
        "simulate learner.toml",
        2,
        "There is no learner 'optimistic-dg'. Did you mean 'optimistic-gd'?"
        " If it is your own, name its module: --import MODULE.",
    ),
    (
        "simulate parameter.toml",
        2,
        "There is no parameter 'learning_rat' of the learner 'optimistic-gd'. Did you mean 'learning_rate'?",
    ),
    ("simulate value.toml", 2, "OptimisticGD: `learning_rate` must be > 0, got 'fast'."),
    (
        "simulate half.toml",
        2,
        "An environment spec must have a `path` and a `noise`, got {'path': {'name': 'coin-flips', 'n_actions': 2}}.",
    ),
    ("simulate extra.toml", 2, "There is no part 'colour' of an environment. Known: noise, path."),
    ("simulate bare.toml", 2, "The path 'coin-flips' needs `n_actions`."),
    ("simulate comparator.toml", 2, "comparator.toml: `comparator` must be text, got 3."),
    ("simulate number.toml", 2, "A replayed environment must name a file, got 3."),
    (
        "simulate tuned.toml",
        2,
        "'optimistic-gd (tuned)' needs measures for its tuning, but replayed losses have none.",
    ),
    # recordings
    ("simulate --replay none.csv", 1, "There is no file none.csv."),
    ("simulate --replay losses.txt", 1, "losses.txt: a recording must be one of .csv, .npy, .parquet, got '.txt'."),
    (
        "simulate --replay empty.csv",
        2,
        "empty.csv: `losses` must have shape (n_rounds, n_actions), at least one of each, got (0, 1).",
    ),
    ("simulate --replay ragged.csv", 1, "ragged.csv, line 2: 1 value where 2 are expected."),
    ("simulate --replay words.csv", 1, "words.csv, line 2, column 2: 'much' is not a number."),
    (
        "simulate --replay labels.csv",
        2,
        "labels.csv: its first row '0,1' may be names or a round."
        " Say which: --header or --no-header, in Python `header=True` or `header=False`.",
    ),
    ("simulate header.toml", 2, "labels.csv: `header` must be True or False, and only for a .csv file, got 'no'."),
    ("simulate --header", 2, "There is no part 'header' of an environment. Known: noise, path."),
    (
        "simulate --replay nan.csv",
        2,
        "nan.csv: losses must be in [0, 1], got nan at round 1, action 1. Is a value missing?",
    ),
    (
        "simulate --replay gap.csv",
        2,
        "gap.csv: losses must be in [0, 1], got nan at round 1, action 1 ('b'). Is a value missing?",
    ),
    (
        "simulate --replay large.csv",
        2,
        "large.csv: losses must be in [0, 1], got 7.0 at round 1, action 1. Rescale them by their known range.",
    ),
    (
        "simulate --replay short.npy",
        1,
        "short.npy: cut short, or not a .npy file (it is too short).",
    ),
    ("simulate --replay losses.csv --rounds 3", 2, "Replay: `n_rounds` must be <= 2, the rounds recorded, got 3."),
    (
        "simulate --replay losses.csv --path coin-flips",
        2,
        "A replayed environment has no path, noise or budget, got `path`.",
    ),
]


@pytest.mark.parametrize(("line", "code", "message"), MISTAKES, ids=[line for line, *_ in MISTAKES])
def test_a_mistake_is_reported_in_one_line(line, code, message, driftwise, tmp_path):
    for name, text in FILES.items():
        (tmp_path / name).write_text(text)
    assert driftwise(*line.split()) == (code, "", f"driftwise: {message}\n")


@pytest.mark.parametrize(
    ("line", "message"),
    [
        ("simulate --rounds many", "Invalid value for '--rounds': 'many' is not a valid integer."),
        ("simulate --confidence 2", "Invalid value for '--confidence': must be between 0 and 1, got 2.0."),
        ("simulate --play best", "Invalid value for '--play': 'best' is not one of 'weights', 'sample'."),
        ("simulate a.toml b.toml", "Got unexpected extra argument (b.toml)"),
    ],
)
def test_a_misused_option_shows_the_usage(line, message, driftwise):
    assert driftwise(*line.split()) == (2, "", f"{USAGE}{message}\n")


def test_a_comparator_with_more_segments_than_rounds_costs_no_more_than_the_rounds(as_json):
    found = as_json(*SMALL, "--comparator", "switching:10000000")
    assert found["learners"][0]["regret"] == as_json(*SMALL)["learners"][0]["regret"]


def test_the_header_options_decide_whether_the_first_row_is_a_header(as_json, tmp_path):
    (tmp_path / "labels.csv").write_text(FILES["labels.csv"])
    words = ("simulate", "--replay", "labels.csv", "--learner", "hedge")
    assert as_json(*words, "--header")["n_rounds"] == 1
    assert as_json(*words, "--no-header")["n_rounds"] == 2
    (tmp_path / "header.toml").write_text('[environment]\nreplay = "labels.csv"\nheader = true\n')
    assert as_json("simulate", "header.toml", "--learner", "hedge")["n_rounds"] == 1
    assert as_json("simulate", "header.toml", "--learner", "hedge", "--no-header")["n_rounds"] == 2


def test_the_suffix_decides_what_is_written(driftwise, tmp_path):
    for name in ("a.csv", "b.CSV", "c.parquet"):
        assert driftwise(*SMALL, "--out", name).err == f"wrote {name}\n"
    results = Results.from_parquet(tmp_path / "c.parquet")
    first, *lines = (tmp_path / "a.csv").read_text().splitlines()
    assert first == "learner,run,round,regret"
    assert [line.split(",") for line in lines] == [
        ["optimistic-gd", str(run), str(t), repr(float(results.regrets[0, run, p]))]
        for run in range(2)
        for p, t in enumerate(results.rounds)
    ]
    assert (tmp_path / "b.CSV").read_bytes() == (tmp_path / "a.csv").read_bytes()


@pytest.mark.parametrize("flag", ["--out", "--figure"])
@pytest.mark.parametrize(
    ("name", "code", "why"),
    [
        ("blocked/a.{}", 1, "Cannot write blocked/a.{}: Not a directory."),
        ("folder.{}", 1, "Cannot write folder.{}: Is a directory."),
        ("\udcff.{}", 1, "Cannot write '\\udcff.{}': the name is not valid UTF-8."),
        ("long" * 64 + ".{}", 1, f"Cannot write {'long' * 64}.{{}}: File name too long."),
        ("long" * 90 + ".{}", 1, f"Cannot write {'long' * 75}...: File name too long."),
        ("link.{}", 2, "simulate: link.{} is read by the same command; write to another file."),
    ],
)
def test_an_output_that_cannot_be_written_is_refused_before_anything_is_played(
    flag, name, code, why, driftwise, tmp_path, monkeypatch
):
    suffix = {"--out": "csv", "--figure": "svg"}[flag]
    (tmp_path / "blocked").write_text(FILES["blocked"])
    (tmp_path / f"folder.{suffix}").mkdir()
    (tmp_path / "losses.csv").write_text(FILES["losses.csv"])
    (tmp_path / f"link.{suffix}").symlink_to("losses.csv")
    monkeypatch.setattr("driftwise.engine.simulate", lambda *_, **__: pytest.fail("it was played"))
    done = driftwise("simulate", "--replay", "losses.csv", flag, name.format(suffix))
    assert done == (code, "", f"driftwise: {why.format(suffix)}\n")


@pytest.mark.parametrize("name", ["", "."])
def test_an_output_without_a_suffix_is_refused(name, driftwise):
    assert driftwise(*SMALL, "--out", name) == (
        2, "", "driftwise: results: `path` must end in .parquet, .csv, got '.'.\n"
    )  # fmt: skip
    assert driftwise(*SMALL, "--figure", name) == (
        2, "", "driftwise: figure: `path` must end in .png, .svg, .pdf, got '.'.\n"
    )  # fmt: skip


def test_a_landscape_needs_a_folder_it_can_write_to(driftwise, tmp_path):
    (tmp_path / "blocked").write_text(FILES["blocked"])
    done = driftwise("landscape", "--out", "blocked")
    assert done == (1, "", "driftwise: Cannot write blocked/quick.html: Not a directory.\n")


def test_learners_are_compiled_ahead(driftwise):
    done = driftwise("compile", "hedge", "hedge", "--quiet")
    assert (done.code, done.err) == (0, "")
    assert re.fullmatch(r"compiled 1 learner in \d+ s, kept in .+\n", done.out)
    message = "There is no learner 'hege'. Did you mean 'hedge'? If it is your own, name its module: --import MODULE."
    assert driftwise("compile", "hege") == (2, "", f"driftwise: {message}\n")


# The real program


def test_the_program_runs_an_example():
    words = [SCRIPT, "simulate", EXAMPLE, "--rounds", "200", "--runs", "2", "--json"]
    done = subprocess.run(words, capture_output=True, text=True, check=False)
    assert (done.returncode, done.stderr) == (0, "")
    assert len(json.loads(done.stdout)["learners"]) == 5


def test_help_imports_no_large_library():
    program = """if True:
        import contextlib, io, sys
        from driftwise.cli.main import main
        for words in (["--help"], ["-h"], ["--version"], ["list", "--help"], ["simulate", "--help"], ["show", "-h"]):
            sys.argv = ["driftwise", *words]
            with contextlib.redirect_stdout(io.StringIO()) as out, contextlib.suppress(SystemExit):
                main()
            assert out.getvalue(), words
        print(*sorted({"numpy", "numba", "scipy", "pyarrow", "matplotlib"} & set(sys.modules)))
    """
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=False)
    assert (done.returncode, done.stdout, done.stderr) == (0, "\n", "")


def test_a_closed_pipe_gives_no_traceback():
    reading, writing = os.pipe()
    os.close(reading)
    done = subprocess.run([SCRIPT, "list", "paths"], stdout=writing, stderr=subprocess.PIPE, check=False)
    os.close(writing)
    assert (done.returncode, done.stderr) == (1, b"")
    piped = subprocess.run(f"'{SCRIPT}' list | head -1", shell=True, capture_output=True, text=True, check=False)
    assert (piped.returncode, piped.stderr) == (0, "")
    assert piped.stdout.split() == ["name", "feedback", "summary"]


@pytest.mark.parametrize("line", ["", "--help", "--version", "list", "show hedge", "list x", SMALL_LINE])
def test_a_closed_stream_gives_no_traceback(line, driftwise):
    """With a closed output there is one line and exit code 1; with closed errors, only the errors are missing."""
    program = f"'{sys.executable}' -c 'from driftwise.cli.main import main; main()' {line}"
    message = b"driftwise: Standard output is closed.\n"
    for closed, err in ((">&-", message), (">&- 2>&-", b"")):
        done = subprocess.run(f"{program} {closed}", shell=True, capture_output=True, check=False)
        assert (done.returncode, done.stdout, done.stderr) == (1, b"", err)
    quiet = subprocess.run(f"{program} 2>&-", shell=True, capture_output=True, check=False)
    code, out, _ = driftwise(*line.split())
    assert (quiet.returncode, quiet.stdout.decode(), quiet.stderr) == (code, out, b"")


def test_no_file_gets_the_descriptor_of_a_closed_output(tmp_path):
    """Without a replacement, the first opened file would get descriptor 1 or 2 and receive every message."""
    program = f"'{sys.executable}' -c 'from driftwise.cli.main import main; main()' {SMALL_LINE} --out a.csv 2>&-"
    done = subprocess.run(program, shell=True, capture_output=True, check=False, cwd=tmp_path)
    assert done.returncode == 0
    assert all(line.count(",") == 3 for line in (tmp_path / "a.csv").read_text().splitlines())


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="the system has no full device")
@pytest.mark.parametrize("line", ["list", "--help", SMALL_LINE])
def test_a_full_disk_behind_standard_output_is_named(line):
    program = f"'{sys.executable}' -c 'from driftwise.cli.main import main; main()' {line} > /dev/full"
    done = subprocess.run(program, shell=True, capture_output=True, text=True, check=False)
    message = "driftwise: Cannot write standard output: No space left on device.\n"
    assert (done.returncode, done.stderr) == (1, message)


def test_a_memory_error_is_reported_in_one_line(driftwise, monkeypatch):
    def run_out(*_, **__):
        raise MemoryError

    monkeypatch.setattr("driftwise.engine.simulate", run_out)
    assert driftwise(*SMALL) == (1, "", "driftwise: Out of memory.\n")


def read_screen(screen, until=b"", seconds=120.0):
    """Read a terminal until a word is shown, without one until its program has ended, at most for `seconds`."""
    shown, end = b"", time.monotonic() + seconds
    while not until or until not in shown:
        if not select.select([screen], [], [], max(0.0, end - time.monotonic()))[0]:
            break
        try:
            more = os.read(screen, 1000)
        except OSError:  # on Linux: the other end is closed
            more = b""
        if not more:
            break
        shown += more
    return shown


def test_an_interrupt_ends_a_long_run_at_once_without_a_traceback():
    screen, terminal = pty.openpty()  # a terminal, so that there is a progress bar to wait for
    long = ["--learner", "sleeping-optimistic-adapt-ml-prod", "--rounds", "1000000", "--runs", "4", "--block", "50"]
    # A background job and its children ignore interrupts; this process must not.
    accept_interrupts = (
        "import os, signal, sys; signal.signal(signal.SIGINT, signal.SIG_DFL); os.execv(sys.argv[1], sys.argv[1:])"
    )
    with subprocess.Popen(
        [sys.executable, "-c", accept_interrupts, SCRIPT, "simulate", *long], stdout=subprocess.PIPE, stderr=terminal
    ) as running:
        try:
            os.close(terminal)
            assert b"simulating" in read_screen(screen, until=b"simulating")
            running.send_signal(signal.SIGINT)
            shown = read_screen(screen).decode()
            assert running.wait(timeout=60) == 130
            assert running.stdout.read() == b""
        finally:
            running.kill()
    os.close(screen)
    assert shown.splitlines()[-1] == "driftwise: interrupted."
    assert "Traceback" not in shown
