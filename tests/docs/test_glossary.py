"""Every quantity that a table prints is in the glossary, and `driftwise show` prints its entry."""

import ast
import functools
import re
from pathlib import Path

import pytest

import driftwise
from command_line import runner
from driftwise import GLRKLUCB, Bernoulli, Environment, Hedge, Measures, Switching, Tracker, record, simulate
from driftwise.cli.catalogue import registries
from driftwise.glossary import COLUMNS_NOTE, ROWS_NOTE, find_words, words
from driftwise.regret_study.study_design import KINDS
from driftwise.regret_study.study_report import CSV_COLUMNS as SCORE_COLUMNS
from driftwise.report.maths_text import formula_text, readable
from driftwise.results.sweep_results import CSV_COLUMNS
from looping import for_every

SOURCE = Path(driftwise.__file__).parent
ENVIRONMENT = Environment(Switching(3, 4), Bernoulli())
# Tables of names and texts, and headings that are no words: an empty one, and a generic one of the library of pages.
OTHER_TABLES = {"cli/catalogue.py", "report/tables.py", "report/page/__init__.py"}


def texts(node):
    """Return the constant texts of an expression; a number in an f-string becomes "95"."""
    if isinstance(node, ast.Constant):
        return [node.value] if isinstance(node.value, str) else []
    if isinstance(node, ast.JoinedStr):
        return ["".join("95" if isinstance(part, ast.FormattedValue) else part.value for part in node.values)]
    if isinstance(node, (ast.List, ast.Tuple)):
        return [text for each in node.elts for text in texts(each)]
    if isinstance(node, ast.Starred):
        return texts(node.value)
    return [*texts(node.body), *texts(node.orelse)] if isinstance(node, ast.IfExp) else []


@functools.cache
def headings():
    """Return every heading of a column in the source: lists `headers`, arguments of tables and of columns."""
    found = {}
    for path in SOURCE.rglob("*.py"):
        name = str(path.relative_to(SOURCE))
        if name in OTHER_TABLES:
            continue
        for node in ast.walk(ast.parse(path.read_text("utf-8"))):
            made = []
            if isinstance(node, (ast.Assign, ast.AugAssign)):
                targets = node.targets if isinstance(node, ast.Assign) else [node.target]
                if any(isinstance(target, ast.Name) and target.id == "headers" for target in targets):
                    made = texts(node.value)
            elif isinstance(node, ast.Call) and isinstance(node.func, (ast.Name, ast.Attribute)):
                called = node.func.id if isinstance(node.func, ast.Name) else node.func.attr
                if called in ("text_table", "grouped_table"):
                    made = texts(node.args[0])
                elif called == "TableColumn":
                    named = [keyword.value for keyword in node.keywords if keyword.arg == "page_heading"]
                    made = [text.format("95") for each in [*node.args[3:5], *named] for text in texts(each)]
                elif called == "ReportColumn":
                    named = [keyword.value for keyword in node.keywords if keyword.arg == "heading"]
                    made = [text for each in [*node.args[2:3], *named] for text in texts(each)]
                elif called == "PageColumn":
                    made = texts(node.args[1])
            for text in made:
                found.setdefault(text, set()).add(name)
    return found


def test_the_headings_of_all_tables_are_collected():
    """One of every table: simulate, results, its failures, landscape, regret, combine, and the pages."""
    assert {"regret", "95% interval", "regret is", "error", "x lower bound", "> 2", "R*", "hindsight"} <= set(
        headings()
    )
    assert {"from round", "Best in periods", "Measured exponent", "Regret / bound", "Half"} <= set(headings())
    assert set().union(*headings().values()) >= {
        "results/columns.py",
        "results/sweep_results.py",
        "landscape/pages.py",
        "regret_study/study_report.py",
        "forecasting/forecast_views.py",
        "sweeps/results_page.py",
    }


@for_every("heading", lambda: [text for text in headings() if text])
def test_every_column_of_a_table_is_in_the_glossary(heading):
    assert find_words(heading.replace(r"\,\%", "%")), f"{headings()[heading]}: {heading}"


@for_every("name", ["comparator", "play", *KINDS, *CSV_COLUMNS, *SCORE_COLUMNS])
def test_columns_that_depend_on_the_results_and_those_of_files_are_in_the_glossary(name):
    assert find_words(name)


@pytest.mark.parametrize("learner", [Tracker(), GLRKLUCB()], ids=lambda learner: learner.name)
def test_every_row_of_a_table_of_beliefs_is_in_the_glossary(learner):
    history = record(learner, ENVIRONMENT, 600)
    rows = [re.split(r"\s{2,}", line)[0] for line in history.beliefs[-1].table().splitlines()]
    named = [row for row in rows if row not in history.beliefs[-1].bases and not row.endswith(" more")]
    assert len(named) >= 3
    assert [row for row in named if not find_words(row)] == []


def test_every_quantity_in_the_summary_of_a_simulation_is_in_the_glossary():
    text = simulate(ENVIRONMENT, Hedge(), 100, n_runs=2, realised=True).table()
    named = re.findall(r"([A-Za-z][\w ]*?(?: [A-Z][\w*~]*)?[*~]?) = ", text)
    assert named == [
        "K",
        "T",
        "segments Gamma",
        "drift V",
        "variance Lambda",
        "deviation D",
        "movement V~",
        "best loss L*",
    ]
    assert [name for name in named if not find_words(name)] == []
    assert find_words(re.search(r"^dynamic .*$", text, re.MULTILINE)[0])


def test_every_measure_is_in_the_glossary():
    names = Measures.__dataclass_fields__
    assert [name for name in names if not find_words(name)] == []


@for_every("word", words().values(), ids=words())
def test_an_entry_is_plain_text_with_formulas_that_can_be_read(word):
    assert not word.meaning.endswith(".")
    for text in (word.meaning, word.symbol):
        assert text.count("$") % 2 == 0
        assert "\\" not in readable(text)
    assert "\\" not in formula_text(word.formula)
    assert "|" not in word.formula + word.meaning + word.symbol  # it would end a cell of the page
    assert set(word.tables) <= {"simulate", "results", "landscape", "regret", "history", "combine"}
    assert word in find_words(word.word)


def test_words_are_in_alphabetical_order():
    """But for signs."""
    named = [re.sub(r"[^a-z0-9 ]", "", word.lower()) for word in words() if word[0].isalpha()]
    assert named == sorted(named)


def test_regret_is_defined_by_a_formula_against_every_comparator():
    for name in registries()["comparators"]:
        assert words()[f"{name} regret"].formula
    assert words()["pseudo-regret"].formula
    assert words()["realised regret"].formula


@pytest.fixture
def shown(monkeypatch, capsys, tmp_path):
    """Return what a command prints."""
    run = runner(monkeypatch, capsys, tmp_path)

    def lines(*words):
        code, out, err = run(*words)
        assert (code, err) == (0, "")
        return out

    return lines


@pytest.mark.parametrize(
    ("name", "head", "formula"),
    [
        ("drift", "drift: movement of the means", "V = Σ_{t=1}^T ‖μ_t - μ_{t-1}‖_∞,   μ₀ = 0"),
        ("bound T", "bound T: in a table: the theorem's bound is at least", ""),
        ("L*", "best loss: the least total loss", "L* = min_{i₁, ..., i_T} Σ_{t=1}^T ℓ_{t,i_t}"),
        ("95% interval", "interval (confidence): confidence interval", "x̄ ± t_{n-1} s/√n"),
        ("Lambda", "variance: total variance", "Λ = Σ_{t=1}^T E ‖ℓ_t - μ_t‖₂²"),
        ("cutoff", "issue time: when a forecast was issued", ""),
        ("state", "state (of a learner): a learner in progress", ""),
        ("dynamic regret", "dynamic regret: regret against", "Σ_{t=1}^T ⟨p_t, μ_t⟩ - Σ_{t=1}^T min_i μ_{t,i}"),
    ],
)
def test_show_prints_an_entry(name, head, formula, shown):
    text = shown("show", name)
    assert text.startswith(head)
    assert formula in text


def test_show_prints_every_entry_of_a_name(shown):
    text = shown("show", "ratio")
    assert "ratio: regret divided by bound" in text
    assert "ratio (of forecasts): " in text


def test_list_words_has_them_all(shown):
    text = shown("list", "words")
    assert text.endswith(f"{len(words())} words. `driftwise show WORD` describes one.\n")
    assert all(f"\n{word}" in text for word in words())


def test_a_table_in_a_terminal_says_where_its_columns_are_explained(shown):
    small = ("simulate", "--learner", "hedge", "--rounds", "50", "--runs", "2", "--quiet", "--out", "a.parquet")
    assert shown(*small).endswith(f"\n\n{COLUMNS_NOTE}\n")
    assert COLUMNS_NOTE not in shown(*small, "--json")
    assert shown("results", "a.parquet", "--quiet").endswith(f"\n\n{COLUMNS_NOTE}\n")
    assert COLUMNS_NOTE not in shown("results", "a.parquet", "--quiet", "--json")
    assert shown("history", "--learner", "hedge", "--rounds", "50", "--quiet").endswith(f"\n\n{ROWS_NOTE}\n")
