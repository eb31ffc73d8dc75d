"""The study as an HTML page: scores of all learners as dots, their geometric means by half, and a table of cells."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from driftwise.glossary import PAGE_NOTE
from driftwise.regret_study.study import CellScore
from driftwise.regret_study.study_cells import HALVES
from driftwise.regret_study.study_text import EXPLANATION, ScoreSummary, forms_text, summaries, tuned_text
from driftwise.report.number_text import fixed
from driftwise.report.page import (
    Axis,
    Column,
    DotPanel,
    Filter,
    Group,
    Measured,
    Page,
    Panel,
    RowPanel,
    Series,
    Table,
    Text,
)
from driftwise.report.page.table_contents import Cell

__all__ = ["study_page"]

_DEFAULT, _OTHER = Group("Default", "solid"), Group("Parameter-free", "baseline")
_INTERVAL = 1.96  # standard errors on both sides of a number, for 95 %
_SECTIONS = {"full": "Full feedback", "bandit": "Bandit feedback"}
_SUBTITLE = (
    "The regret of default and parameter-free learners as a multiple of the regret R* of the best tuned learner in"
    " hindsight: the score."
)
_NOTES = (
    "Regret is dynamic pseudo-regret: the expected loss of a learner minus that of the best action of every round, both"
    " computed with the true means.",
    "Standard errors are those of a ratio of two means over the same runs (delta method), given the tuned learners that"
    " were chosen. Intervals are 1.96 standard errors on both sides.",
    "All learners of a cell play on the same losses. Runs are doubled until the standard error of the first learner's"
    " score is at most 0.1, or the most runs are reached (200, with the preset quick 64). A tuned learner whose mean"
    " regret is more than four standard errors of the difference above the least one plays no further runs.",
    "Tuned learners: a grid of parameters of the usual learners, and tuning by their theorems to the exact segments,"
    " drift and variance of the environment. R* of a cell is the least regret among them, so it uses knowledge that no"
    " learner has.",
)


def study_page(scores: Sequence[CellScore], commands: Sequence[str], about: str) -> Page:
    """Return the page of these scores; `about` is a sentence on the extent of the study."""
    feedbacks = list(dict.fromkeys(one.feedback for one in scores))
    panels = [panel for feedback in feedbacks for panel in _panels(scores, feedback)]
    firsts = {feedback: next(one.learner.label for one in scores if one.feedback == feedback) for feedback in feedbacks}
    return Page(
        title="Regret without tuning",
        subtitle=f"{_SUBTITLE} {_findings(scores, firsts)} {about}",
        table=_table([one for one in scores if one.learner.label == firsts[one.feedback]]),
        panels=panels,
        commands=commands,
        notes=[EXPLANATION, *_NOTES, *(text for feedback in feedbacks for text in forms_text(scores, feedback))],
        groups=(_DEFAULT, _OTHER),
        figures_heading="Scores",
        figures_first=True,
    )


def _findings(scores: Sequence[CellScore], firsts: Mapping[str, str]) -> str:
    """Return sentences on the first learner of each feedback, by half."""
    found = []
    for feedback, first in firsts.items():
        parts = []
        for half in HALVES:
            for one in summaries(scores, feedback, half):
                if one.learner.label == first:
                    worst = f"at most {fixed(one.worst.score.value, 2)}"
                    cells = f"{one.n_cells} cells of the half \u201c{half}\u201d"
                    parts.append(f"{fixed(one.mean, 2)} ({worst}) in {cells}")
        found.append(f"Geometric mean of the scores of {first} ({feedback} feedback): {', '.join(parts)}.")
    return " ".join(found)


def _panels(scores: Sequence[CellScore], feedback: str) -> list[Panel]:
    """Return the scores of all learners as dots, and their geometric means in each half."""
    mine = [one for one in scores if one.feedback == feedback]
    cells = {one.cell.name: one.cell for one in mine}
    positions = {name: float(i) for i, name in enumerate(cells)}
    found = summaries(scores, feedback, None)
    dots = []
    for one in found:
        own = [score for score in mine if score.learner.label == one.learner.label]
        x = [positions[score.cell.name] for score in own]
        means = [score.score.value for score in own]
        low, high = (_ends(means, [score.score.error for score in own], sign) for sign in (-1, 1))
        dots.append(Series(one.learner.label, _group(one), x, means, low, high))
    section = _SECTIONS[feedback]
    axis = Axis("score: regret as a multiple of that of the best tuned learner", "log")
    panels: list[Panel] = [
        DotPanel(
            f"scores-{feedback}",
            section,
            f"{section}: scores in {len(cells)} cells (dots), geometric means (bars)",
            Axis("cell"),
            axis,
            dots,
            names=[f"{cell.name} ({cell.half})" for cell in cells.values()],
            centers=[one.mean for one in found],
            center_label="geometric mean",
            rules=[1.0],
        )
    ]
    for half in HALVES:
        if some := summaries(scores, feedback, half):
            title = f"{section}, half \u201c{half}\u201d: geometric means over {some[0].n_cells} cells"
            rows = [_mean_row(one) for one in some]
            panels.append(RowPanel(f"means-{feedback}-{half}", section, title, Axis("cells"), axis, rows))
    return panels


def _mean_row(one: ScoreSummary) -> Series:
    low, high = (_ends([one.mean], [one.error], sign) for sign in (-1, 1))
    return Series(one.learner.label, _group(one), [float(one.n_cells)], [one.mean], low, high)


def _ends(values: Sequence[float], errors: Sequence[float], sign: int) -> list[float]:
    return [value + sign * _INTERVAL * error for value, error in zip(values, errors, strict=True)]


def _group(one: ScoreSummary) -> str:
    return (_DEFAULT if one.learner.is_default else _OTHER).name


def _table(scores: Sequence[CellScore]) -> Table:
    columns = [
        Column("cell", "Cell", card_label=""),
        Column("half", "Half"),
        Column("learner", "Learner"),
        Column("score", "Score", "whisker", decimals=2, rules=(1.0, 2.0)),
        Column("regret", "R", "number"),
        Column("best", "R*", "number"),
        Column("tuned", "Best tuned learner"),
        Column("runs", "Runs", "number", decimals=0),
    ]
    about = (
        "The first learner with each feedback (the default, unless others were chosen) in all cells, the largest scores"
        " first. The thin lines are at 1 and 2. Best tuned"
        " learner: the one with regret R*; two if even and odd runs choose different ones."
    )
    rows = [_row(one) for one in sorted(scores, key=lambda one: -one.score.value)]
    return Table(columns, rows, "Cells", about + PAGE_NOTE, Filter("half", "Half", "Both halves"))


def _row(one: CellScore) -> list[Cell]:
    score, reach = one.score, _INTERVAL * one.score.error
    measured = Measured(score.value, score.value - reach, score.value + reach)
    kind, _, size = one.cell.name.rpartition(", K")
    place: list[Cell] = [Text(kind, f"K{size}"), one.cell.half, one.learner.label]
    return [*place, measured, score.regret, score.best_regret, tuned_text(one), score.n_runs]
