"""The study as text and as a CSV file: summaries of scores, a table of learners for each feedback, the worst cells."""

from __future__ import annotations

import csv
import math
import os
import textwrap
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, NamedTuple

from driftwise.core.files import write_atomically
from driftwise.regret_study.study import CellScore
from driftwise.regret_study.study_cells import HALVES, KINDS
from driftwise.regret_study.study_learners import ScoredLearner
from driftwise.report.number_text import fixed
from driftwise.report.tables import TableGroup, grouped_table, number, text_table

__all__ = [
    "EXPLANATION",
    "SCORE_COLUMNS",
    "ScoreSummary",
    "forms_text",
    "geometric_mean",
    "study_text",
    "summaries",
    "summary",
    "tuned_text",
    "write_scores_csv",
]

BAD = 2.0  # scores above are counted
WIDTH = 100
_WORST = 10  # cells that are listed
_TWO_DIGITS, _THREE_DIGITS = 10.0, 100.0  # numbers from here on have one decimal, or none

EXPLANATION = (
    "Score: (R + a) / (R* + a). R is the mean dynamic regret of a learner, R* that of the tuned learner with the least"
    " regret in the cell: it is chosen in hindsight by the even runs and counts in the odd runs, and the other way"
    " round. a = 5 with full feedback, a quarter of the root of T with bandit feedback. After ±: the standard error."
    ' The default learners were tuned on the cells of the half "tuning"; one choice in bandit-tracker was made again'
    " after a look at the other half (docs/decisions.md). A digest of its name assigns a cell to a half."
)
SCORE_COLUMNS = (
    "feedback", "cell", "half", "kind", "n_actions", "n_rounds", "learner", "score", "score_error", "regret",
    "regret_error", "best_regret", "best_regret_error", "n_runs", "best_by_even_runs", "best_by_odd_runs",
    "learner_spec",
)  # fmt: skip


class ScoreSummary(NamedTuple):
    """The scores of one learner in several cells."""

    learner: ScoredLearner
    n_cells: int
    mean: float  # geometric
    error: float  # its standard error
    worst: CellScore
    n_bad: int  # cells with a score above `BAD`
    by_kind: Mapping[str, float]  # geometric means by kind of environment


def geometric_mean(values: Sequence[float]) -> float:
    """Return the geometric mean of positive numbers.

    >>> geometric_mean([1.0, 4.0])
    2.0
    """
    return math.exp(math.fsum(map(math.log, values)) / len(values))


def summary(scores: Sequence[CellScore]) -> ScoreSummary:
    """Return the summary of the scores of one learner."""
    mean = geometric_mean([one.score.value for one in scores])
    # The logarithm of a score has the standard error error / value.
    error = mean * math.hypot(*(one.score.error / one.score.value for one in scores)) / len(scores)
    by_kind = {}
    for kind in KINDS:
        if some := [one.score.value for one in scores if one.cell.kind == kind]:
            by_kind[kind] = geometric_mean(some)
    return ScoreSummary(
        scores[0].learner,
        len(scores),
        mean,
        error,
        max(scores, key=lambda one: one.score.value),
        sum(one.score.value > BAD for one in scores),
        by_kind,
    )


def summaries(scores: Sequence[CellScore], feedback: str, half: str | None) -> list[ScoreSummary]:
    """Return the summary of each learner with this feedback, in one half or in both (None).

    The default learner comes first, then the others by their geometric mean.
    """
    by_learner: dict[str, list[CellScore]] = {}
    for one in scores:
        if one.feedback == feedback and half in (None, one.cell.half):
            by_learner.setdefault(one.learner.label, []).append(one)
    found = [summary(some) for some in by_learner.values()]
    return sorted(found, key=lambda one: (not one.learner.is_default, one.mean))


def study_text(scores: Sequence[CellScore], width: int = WIDTH) -> str:
    """Return all tables."""
    parts = [_paragraph(EXPLANATION, width)]
    for feedback in dict.fromkeys(one.feedback for one in scores):
        parts += [_learners(scores, feedback, width), _worst_cells(scores, feedback, width)]
    return "\n\n".join(parts)


def tuned_text(score: CellScore) -> str:
    """Return the best tuned learner of a cell as text; two if even and odd runs choose different ones."""
    return " or ".join(player.label for player in score.tuned)


def forms_text(scores: Sequence[CellScore], feedback: str) -> list[str]:
    """Return in which form learners play, if it is not that of their default parameters."""
    mine = dict.fromkeys(one.learner for one in scores if one.feedback == feedback)
    given_rounds = [one.player.name for one in mine if one.player.tuned]
    short = [f"{one.player.name} ({one.settings_text})" for one in mine if one.settings_text]
    notes = {
        "Given the numbers of actions and rounds (given T)": given_rounds,
        "In another form than the default one": short,
    }
    return [f"{text}: {', '.join(names)}." for text, names in notes.items() if names]


def _paragraph(text: str, width: int) -> str:
    return textwrap.fill(text, width, break_long_words=False, break_on_hyphens=False)


def _learners(scores: Sequence[CellScore], feedback: str, width: int) -> str:
    """Return the table of learners, with a group of rows for each half."""
    groups = []
    kinds = [kind for kind in KINDS if any(one.cell.kind == kind and one.feedback == feedback for one in scores)]
    present = [half for half in HALVES if any(one.cell.half == half and one.feedback == feedback for one in scores)]
    for half in (*present, None) if len(present) > 1 else present:
        found = summaries(scores, feedback, half)
        heading = f"{'both halves' if half is None else f'half {half!r}'}: {found[0].n_cells} cells"
        groups.append(TableGroup(heading, [_row(one, kinds) for one in found]))
    headers = ["learner", "mean", "worst", "> 2", *kinds]
    about = (
        f"Scores with {feedback} feedback: geometric mean over cells, the worst cell, cells above 2, and geometric"
        " means by kind of environment."
    )
    notes = [_paragraph(text, width) for text in forms_text(scores, feedback)]
    return "\n".join([_paragraph(about, width), "", grouped_table(headers, groups), *([""] if notes else []), *notes])


def _row(one: ScoreSummary, kinds: Sequence[str]) -> list[str]:
    by_kind = [_shown(one.by_kind[kind]) if kind in one.by_kind else number(None) for kind in kinds]
    worst = _with_error(one.worst.score.value, one.worst.score.error)
    return [one.learner.label, _shown(one.mean), worst, str(one.n_bad), *by_kind]


def _worst_cells(scores: Sequence[CellScore], feedback: str, width: int) -> str:
    """Return the cells in which the first learner has the largest scores, with the best tuned learner of each."""
    mine = [one for one in scores if one.feedback == feedback]
    first = mine[0].learner.label
    worst = sorted((one for one in mine if one.learner.label == first), key=lambda one: -one.score.value)[:_WORST]
    rows = [
        [
            one.cell.name,
            _with_error(one.score.value, one.score.error),
            _with_error(one.score.regret, one.score.regret_error),
            _with_error(one.score.best_regret, one.score.best_regret_error),
            str(one.score.n_runs),
        ]
        for one in worst
    ]
    head, rule, *lines = text_table(["cell", "score", "R", "R*", "runs"], rows).splitlines()
    found = [f"The worst cells of {first}, each with its half and the best tuned learner:", "", head, rule]
    for one, line in zip(worst, lines, strict=True):
        text = f"{one.cell.half}; {tuned_text(one)}"
        found += [line, *textwrap.wrap(text, width, initial_indent="  ", subsequent_indent="    ")]
    return "\n".join(found)


def _with_error(value: float, error: float) -> str:
    """Return a number and its standard error with the same number of decimals."""
    return f"{_shown(value)} ±{fixed(error, _decimals(value))}"


def _shown(value: float) -> str:
    return fixed(value, _decimals(value))


def _decimals(value: float) -> int:
    return 0 if value >= _THREE_DIGITS else 1 if value >= _TWO_DIGITS else 2


def write_scores_csv(path: str | os.PathLike[str], scores: Sequence[CellScore]) -> None:
    """Write one line per score; numbers have enough digits to be read back equal."""

    def fill(file: Path) -> None:
        with file.open("w", newline="", encoding="utf-8") as stream:
            writer = csv.writer(stream, lineterminator="\n")
            writer.writerow(SCORE_COLUMNS)
            writer.writerows(_line(one) for one in scores)

    write_atomically(path, fill)


def _line(one: CellScore) -> list[Any]:
    cell = one.cell
    place = [one.feedback, cell.name, cell.half, cell.kind, cell.n_actions, cell.n_rounds, one.learner.label]
    return [*place, *one.score, one.tuned[0].label, one.tuned[-1].label, one.learner.player.text]
