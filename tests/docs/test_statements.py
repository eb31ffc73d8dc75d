"""The statements of the paper as data: numbers in the order of the paper; code, tests and commands that exist."""

import pkgutil
import re
import shlex

import click
import pytest

from driftwise.adversaries import adversaries
from driftwise.cli.main import _cli
from driftwise.cli.specs import parse_member
from driftwise.core.errors import UnknownName
from driftwise.environments.paths import paths
from driftwise.learners import learners
from driftwise.regret.comparators import Comparator, comparators
from driftwise.theory.statements import find_statement, statements
from looping import for_every
from outside_files import ROOT

every_statement = for_every("statement", statements.values(), ids=statements)

# The theorem environments of the paper's source, section by section; lemmas share the counter of theorems.
SECTIONS = {
    "2": ["emp_bernstein"],
    "3": ["bandit-u", "dev", "full_info_given_V", "RTk_bound", "dynamic_upper_full-into"],
    "4": ["bandit-low", "full-low", "full_V", "sigma1"],
    "B": ["reg_int", "lambda"],
    "C": ["lem:dev"],
    "D": [""],
    "E": ["lemma_regret"],
    "F": ["rt", "R_I", "ML-dev"],
}
ALGORITHMS = ["alg:bandit", "alg:dev", "alg:Op_Prod", "alg:sleep"]


def test_numbers_are_those_that_the_paper_s_counters_give():
    counted = [(f"{section}.{n}", label) for section, labels in SECTIONS.items() for n, label in enumerate(labels, 1)]
    kinds = {kind: [each for each in statements.values() if each.kind == kind] for kind in ("algorithm", "table")}
    rest = [each for each in statements.values() if each.kind in ("theorem", "lemma")]
    assert [(each.number.split()[1], each.label) for each in rest] == counted
    assert [(each.number, each.label) for each in kinds["algorithm"]] == [
        (f"Algorithm {n}", label) for n, label in enumerate(ALGORITHMS, 1)
    ]
    assert [each.number for each in kinds["table"]] == ["Table 1"]
    assert len(statements) == len(counted) + len(ALGORITHMS) + 1


@every_statement
def test_a_statement_is_found_by_its_number_and_by_its_label(statement):
    spellings = [statement.number, statement.number.lower(), f" {statement.number.upper()} "]
    spellings += [statement.label] if statement.label else []
    spellings += [statement.number.split()[1]] if statement.kind in ("theorem", "lemma") else []
    assert [find_statement(text) for text in spellings] == [statement] * len(spellings)


@for_every(
    ("text", "number"),
    [
        ("thm:dev", "Theorem 3.2"),
        ("lem:dev", "Lemma C.1"),
        ("alg:dev", "Algorithm 2"),
        ("lem:lambda", "Lemma B.2"),
        ("lemma:reg_int", "Lemma B.1"),
        ("thm_RTk_bound", "Theorem 3.4"),
        ("lemma_regret", "Lemma E.1"),
        ("theorem:dynamic_upper_full-into", "Theorem 3.5"),
    ],
)
def test_labels_of_the_paper_s_source_are_found(text, number):
    assert find_statement(text).number == number


@for_every("text", ["", " ", "3", "1", "Theorem", "Theorem 3.6", "Lemma 3.2", "Algorithm 5", "thm:"])
def test_anything_else_is_unknown(text):
    with pytest.raises(UnknownName, match=f"^There is no theorem, lemma or algorithm '{text}'"):
        find_statement(text)


def test_the_nearest_number_or_label_is_suggested():
    with pytest.raises(UnknownName, match=r"Did you mean 'Theorem 3\.2'\?"):
        find_statement("Theorm 3.2")
    with pytest.raises(UnknownName, match=r"Did you mean 'full_info_given_V'\?"):
        find_statement("full_info_given")


@every_statement
def test_what_a_statement_names_exists(statement):
    assert statement.code
    for name in statement.code:
        pkgutil.resolve_name(name)
    assert statement.tests
    assert all((ROOT / name).is_file() for name in statement.tests)
    errata = re.findall(r"^\*\*(E\d+)\.", (ROOT / "docs" / "errata.md").read_text("utf-8"), re.MULTILINE)
    assert set(statement.errata) <= set(errata)


@every_statement
def test_texts_are_complete_sentences_with_balanced_maths(statement):
    assert statement.title
    assert not statement.title.endswith(".")
    for text in (statement.words, statement.ours):
        assert text == " ".join(text.split())
        assert text.count("$") % 2 == 0
        assert not text or text.endswith(".")
    assert "$" not in statement.formula
    for opening, closing in ("{}", (r"\left", r"\right")):
        assert statement.formula.count(opening) == statement.formula.count(closing)
    assert re.fullmatch(r"(theorem|lemma|algorithm|table)(-[a-z0-9]+)+", statement.slug)


@every_statement
def test_the_commands_of_a_statement_are_ones_that_the_command_line_knows(statement):
    """Parsed and not run; learners and adversaries are registered and paths can be built."""
    for line in statement.commands:
        program, name, *words = shlex.split(line)
        assert program == "driftwise"
        context = click.Context(_cli)
        command = _cli.get_command(context, name)
        given = command.make_context(name, list(words), parent=context).params
        named = [given["name"]] if name == "show" else given.get("learners") or given.get("learner") or []
        named = named.split(",") if isinstance(named, str) else named
        for each in named:
            known = each.partition(":")[0]
            assert learners.find(known) or adversaries.find(known), line
        if given.get("path"):
            paths.build(parse_member(given["path"]))


def test_every_erratum_that_concerns_a_statement_is_named_by_one():
    named = {erratum for each in statements.values() for erratum in each.errata}
    assert named == {f"E{n}" for n in range(1, 18)}


def test_the_registry_of_comparators_has_every_class_by_name():
    assert list(comparators) == ["dynamic", "interval", "static", "switched"]
    assert {comparators.get(name) for name in comparators} == set(Comparator.__subclasses__())
    assert all(comparators.get(name).name == name for name in comparators)
    made = comparators.build({"name": "switched", "n_segments": 3})
    assert str(made) == "switching:3"  # as files and the command line write it


def rows_of_the_map():
    """Return the first cell -> all cells of the rows of the paper map."""
    text = (ROOT / "docs" / "paper-map.md").read_text("utf-8").partition("## ")[0]
    rows = [[cell.strip() for cell in line.strip("| ").split(" | ")] for line in text.splitlines() if line[:2] == "| "]
    return {row[0]: row for row in rows[1:]}


@every_statement
def test_the_paper_map_has_every_statement_with_its_tests_and_errata(statement):
    (row,) = [row for first, row in rows_of_the_map().items() if first.split(", eq")[0] == statement.name]
    named = set(re.findall(r"`(tests/[\w/]+\.py)`", " ".join(row)))
    # Of every erratum, and of the measured table.
    elsewhere = {"tests/theory/test_errata.py", "tests/landscape/test_landscape.py"}
    assert set(statement.tests) <= named | elsewhere
    assert set(re.findall(r"\bE\d+\b", row[-1])) == set(statement.errata)


def test_the_paper_map_has_every_numbered_equation_in_order():
    found = [int(n) for first in rows_of_the_map() for n in re.findall(r"\((\d+)\) \(", first)]
    assert sorted(found) == list(range(1, 14))


def test_statements_are_named_by_their_numbers_everywhere():
    """A label of the paper's source stands beside its number, as in "Theorem 3.2 (dev)", and never alone."""
    labels = "|".join(re.escape(each.label) for each in statements.values() if each.label and ":" not in each.label)
    alone = re.compile(rf"\b(?:Theorems?|Lemmas?)\s(?:(?:lem|thm):)?(?:{labels}|lem:dev)(?![\w-])")
    pages = [ROOT / "README.md", ROOT / "CHANGELOG.md", *(ROOT / "docs").rglob("*.md")]
    sources = [path for folder in ("src", "tests", "benchmarks", "examples") for path in (ROOT / folder).rglob("*.py")]
    sources += (ROOT / "src").rglob("*.toml")
    found = {
        f"{path.relative_to(ROOT)}: {match[0]}"
        for path in [*pages, *sources]
        for match in alone.finditer(path.read_text("utf-8"))
    }
    assert found == set()


def test_a_number_beside_a_label_is_the_number_of_that_statement():
    beside = re.compile(r"\b((?:Theorem|Lemma|Algorithm) (?:\d|[B-F])(?:\.\d)?),? \(?((?:lem:)?[a-zA-Z]\w*(?:-\w+)*)\b")
    labels = {each.label: each.number for each in statements.values() if each.label}
    checked = 0
    for path in [ROOT / "README.md", *(ROOT / "docs").rglob("*.md"), *(ROOT / "src").rglob("*.py")]:
        for number, label in beside.findall(path.read_text("utf-8")):
            if label in labels:
                assert labels[label] == number, f"{path}: {number} ({label})"
                checked += 1
    assert checked > 50


def test_every_erratum_says_what_is_printed_what_is_wrong_and_whether_a_result_changes():
    text = (ROOT / "docs" / "errata.md").read_text("utf-8")
    table = dict(re.findall(r"^\| (E\d+) \|.*\| (yes|no)[^|]*\|$", text, re.MULTILINE))
    entries = re.split(r"^\*\*(?=E\d+\.)", text, flags=re.MULTILINE)[1:]
    assert [entry.partition(".")[0] for entry in entries] == list(table) == [f"E{n}" for n in range(1, 18)]
    for entry in entries:
        said = re.findall(
            r"^- (\*The paper says|\*What is wrong:|\*What we do:|\*\*Does a result|Tests:)", entry, re.MULTILINE
        )
        assert len(said) == len(set(said)) == 5, entry[:60]
        (answer,) = re.findall(r"\*\*Does a result of the paper change\?\*\* (Yes|No)[:,]", entry)
        assert answer.lower() == table[entry.partition(".")[0]], entry[:60]
