"""LaTeX tables: floats, chosen columns, even decimals, the least regret in bold."""

import itertools
import re

import numpy as np
import pytest

from driftwise import Bernoulli, Environment, FixedShare, Hedge, Switching, simulate
from driftwise.core.errors import InvalidInput, UnknownName
from stored_cells import cell, results_of


@pytest.fixture(scope="module")
def simulated():
    """Return the results of three learners."""
    learners = [Hedge(), FixedShare(), FixedShare(learning_rate=2.0)]
    return simulate(Environment(Switching(4, 3), Bernoulli()), learners, 300, 4, seed=2)


@pytest.fixture
def written(tmp_path):
    """Return a function that returns the lines of the table of some results, and its cells."""

    def write(results, **look):
        results.to_latex(tmp_path / "x.tex", **look)
        lines = (tmp_path / "x.tex").read_text(encoding="utf-8").splitlines()
        return lines, [line.removesuffix(r" \\").split(" & ") for line in lines if " & " in line]

    return write


def test_a_caption_makes_a_float_with_a_label(written, simulated):
    plain, _ = written(simulated)
    lines, _ = written(simulated, caption=r"Regret for \(\eta = 1\)", label="tab:x_1")
    assert lines[1:5] == [r"\begin{table}", r"\centering", r"\caption{Regret for \(\eta = 1\)}", r"\label{tab:x_1}"]
    assert lines[-1] == r"\end{table}"
    assert lines[5:-1] == plain[1:]
    assert plain[1] == r"\begin{tabular}{lrrrr}"
    assert r"\multicolumn{5}{l}{\textit{dynamic pseudo-regret}} \\" in plain


def test_numbers_of_a_column_have_the_same_decimals(written, simulated):
    _, (headers, *rows) = written(simulated)
    assert headers == ["Learner", "Regret", r"95\,\% interval", "Bound", "Ratio"]
    for column in zip(*rows, strict=True):
        decimals = {len(digits) for cell in column for digits in re.findall(r"\d\.(\d+)", cell)}
        assert len(decimals) <= 1
    shown = [float(re.sub(r"[^-\d.]", "", row[1])) for row in rows]
    assert shown == pytest.approx([row["regret"] for row in simulated.rows()], abs=0.05)


def test_the_least_regret_is_in_bold(written, simulated):
    _, (_, *rows) = written(simulated)
    least = np.argmin([row["regret"] for row in simulated.rows()])
    assert [r"\mathbf" in row[1] for row in rows] == [i == least for i in range(3)]


def test_each_environment_and_number_of_rounds_has_a_least_regret(written):
    regrets = {"hedge": (3.0, 3.0), "ucb1": (1.25, 2.5)}
    cells = [
        cell(name, regret=regrets[name][number], n_rounds=n_rounds, environment={"name": "own", "number": number})
        for number, n_rounds, name in itertools.product((0, 1), (100, 200), regrets)
    ]
    lines, (_, *rows) = written(results_of([*cells, cell("exp3", n_rounds=300, regret=0.5)]))
    bold = [row[0] for row in rows if any(r"\mathbf" in entry for entry in row)]
    assert bold == ["ucb1"] * 4  # a learner alone is compared with none
    assert any(r"\(\mathbf{1.250}\)" in line for line in lines)


def test_columns_are_chosen_in_their_order(written, simulated):
    lines, (headers, *rows) = written(simulated, columns=["ratio", "learner", "regret"])
    assert (lines[1], headers) == (r"\begin{tabular}{rlr}", ["Ratio", "Learner", "Regret"])
    assert [row[1] for row in rows] == ["hedge", "fixed-share", r"fixed-share(learning\_rate=2.0)"]
    _, (headers, *_) = written(
        results_of([cell(), cell("ucb1")]), columns=("learner", "n_rounds", "n_failed", "regret")
    )
    assert headers == ["Learner", "Rounds", "Failed", "Regret"]


@pytest.mark.parametrize(("look", "error", "message"), [
    ({"caption": 3}, InvalidInput, "Results: `caption` must be None or text, got 3."),
    ({"label": "x"}, InvalidInput, "Results: `label` must be None without a `caption`, got 'x'."),
    ({"caption": "", "label": "a}"}, InvalidInput,
     "Results: `label` must be None or text without special characters of LaTeX, got 'a}'."),
    ({"columns": "regret"}, InvalidInput,
     "Results: `columns` must be None or a list of some of learner, regret, interval, bound, ratio, got 'regret'."),
    ({"columns": ["regret", "regret"]}, InvalidInput, "Results: `columns` must be different, got regret, regret."),
    ({"columns": ["regrets"]}, UnknownName, "There is no column 'regrets' in this table. Did you mean 'regret'?"),
])  # fmt: skip
def test_wrong_options_are_refused(look, error, message, simulated, tmp_path):
    with pytest.raises(error, match=f"^{re.escape(message)}$"):
        simulated.to_latex(tmp_path / "x.tex", **look)
    assert not (tmp_path / "x.tex").exists()
