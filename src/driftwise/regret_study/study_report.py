"""The study as text, as a CSV file and as an HTML page: summaries of scores, tables, and figures."""

from __future__ import annotations

import csv
import math
import os
import textwrap
from collections.abc import Mapping, Sequence
from pathlib import Path
from statistics import geometric_mean
from typing import NamedTuple

from driftwise.core.files import write_atomically
from driftwise.glossary import PAGE_NOTE
from driftwise.regret_study.study import OFFSETS, CellScore, at_offset
from driftwise.regret_study.study_design import HALVES, KINDS, NEARLY_UNIFORM, ScoredLearner
from driftwise.report import page
from driftwise.report.page.contents import PageColumn, ReportColumn, page_columns, report_text
from driftwise.report.tables import TableGroup, fixed, grouped_table, number

BAD = 2.0  # scores above are counted
WIDTH = 100
_WORST = 10  # cells that are listed
_TWO_DIGITS, _THREE_DIGITS = 10.0, 100.0  # numbers from here on have one decimal, or none

EXPLANATION = (
    "Score: (R + a) / (R* + a). R is the mean dynamic regret of a learner, R* that of the tuned learner with the least"
    " regret in the cell: it is chosen in hindsight by the even runs and counts in the odd runs, and the other way"
    " round. a = 5 with full feedback, a quarter of the root of T with bandit feedback. After ±: the standard error."
    ' The default learners were tuned on the cells of the half "tuning"; one choice in bandit-tracker was made again'
    " after a look at the other half (docs/decisions.md). A digest of its name assigns a cell to a half, so both"
    " halves have the same kinds of environment: other kinds are in families of worlds (--families)."
)


def tuned_text(score: CellScore) -> str:
    """Return the best tuned learner of a cell as text; two if even and odd runs choose different ones."""
    return " or ".join(player.label for player in score.tuned)


def _name_in_lines(row: CellScore) -> page.Text:
    kind, _, size = row.cell.name.rpartition(", K")
    return page.Text(kind, f"K{size}")


def _with_interval(row: CellScore) -> page.Measured:
    value, reach = row.score.value, _INTERVAL * row.score.error
    return page.Measured(value, value - reach, value + reach)


def _with_error(value: float, error: float) -> str:
    return f"{_shown(value)} ±{fixed(error, _decimals(value))}"


def _score_text(row: CellScore) -> str:
    return _with_error(row.score.value, row.score.error)


COLUMNS: tuple[ReportColumn[CellScore], ...] = (
    ReportColumn("feedback", lambda row: row.feedback),
    ReportColumn(
        "cell", lambda row: row.cell.name, "cell", page=PageColumn("cell", "Cell", card_label=""), cell=_name_in_lines
    ),
    ReportColumn("half", lambda row: row.cell.half, page=PageColumn("half", "Half")),
    ReportColumn("kind", lambda row: row.cell.kind),
    ReportColumn("n_actions", lambda row: row.cell.n_actions),
    ReportColumn("n_rounds", lambda row: row.cell.n_rounds),
    ReportColumn("learner", lambda row: row.learner.label, page=PageColumn("learner", "Learner")),
    ReportColumn(
        "score",
        lambda row: row.score.value,
        "score",
        _score_text,
        PageColumn("score", "Score", "whisker", decimals=2, rules=(1.0, 2.0)),
        _with_interval,
    ),
    ReportColumn("score_error", lambda row: row.score.error),
    ReportColumn(
        "regret",
        lambda row: row.score.regret,
        "R",
        lambda row: _with_error(row.score.regret, row.score.regret_error),
        PageColumn("regret", "R", "number"),
    ),
    ReportColumn("regret_error", lambda row: row.score.regret_error),
    ReportColumn(
        "best_regret",
        lambda row: row.score.best_regret,
        "R*",
        lambda row: _with_error(row.score.best_regret, row.score.best_regret_error),
        PageColumn("best", "R*", "number"),
    ),
    ReportColumn("best_regret_error", lambda row: row.score.best_regret_error),
    ReportColumn(value=tuned_text, page=PageColumn("tuned", "Best tuned learner")),
    ReportColumn("n_runs", lambda row: row.score.n_runs, "runs", page=PageColumn("runs", "Runs", "number", decimals=0)),
    ReportColumn("best_by_even_runs", lambda row: row.tuned[0].label),
    ReportColumn("best_by_odd_runs", lambda row: row.tuned[-1].label),
    ReportColumn("learner_spec", lambda row: row.learner.player.text),
)
CSV_COLUMNS = tuple(column.key for column in COLUMNS if column.key)


class ScoreSummary(NamedTuple):
    """The scores of one learner in several cells."""

    learner: ScoredLearner
    n_cells: int
    mean: float  # geometric
    error: float  # its standard error
    worst: CellScore
    n_bad: int  # cells with a score above `BAD`
    by_kind: Mapping[str, float]  # geometric means by kind of environment


def summary(scores: Sequence[CellScore]) -> ScoreSummary:
    """Return the summary of the scores of one learner."""
    mean = geometric_mean([row.score.value for row in scores])
    # The logarithm of a score has the standard error error / value.
    error = mean * math.hypot(*(row.score.error / row.score.value for row in scores)) / len(scores)
    by_kind = {}
    for kind in KINDS:
        if some := [row.score.value for row in scores if row.cell.kind == kind]:
            by_kind[kind] = geometric_mean(some)
    return ScoreSummary(
        scores[0].learner,
        len(scores),
        mean,
        error,
        max(scores, key=lambda row: row.score.value),
        sum(row.score.value > BAD for row in scores),
        by_kind,
    )


def summaries(scores: Sequence[CellScore], feedback: str, half: str | None) -> list[ScoreSummary]:
    """Return the summary of each learner with this feedback, in one half or in both (None).

    The default learner comes first, then the others by their geometric mean.
    """
    by_learner: dict[str, list[CellScore]] = {}
    for row in scores:
        if row.feedback == feedback and half in (None, row.cell.half):
            by_learner.setdefault(row.learner.label, []).append(row)
    records = [summary(some) for some in by_learner.values()]
    return sorted(records, key=lambda record: (not record.learner.is_default, record.mean))


def study_text(scores: Sequence[CellScore], width: int = WIDTH) -> str:
    """Return all tables."""
    parts = [_paragraph(EXPLANATION, width)]
    for feedback in dict.fromkeys(row.feedback for row in scores):
        parts += [_learners(scores, feedback, width), _worst_cells(scores, feedback, width)]
    return "\n\n".join(parts)


def forms_text(scores: Sequence[CellScore], feedback: str) -> list[str]:
    """Return in which form learners play, if it is not that of their default parameters."""
    mine = dict.fromkeys(row.learner for row in scores if row.feedback == feedback)
    given_rounds = [learner.player.name for learner in mine if learner.player.tuned]
    short = [f"{learner.player.name} ({learner.settings_text})" for learner in mine if learner.settings_text]
    notes = {
        "Given the numbers of actions and rounds (given T)": given_rounds,
        "In another form than the default one": short,
        "Nearly uniform play in runs of this length, for which its constants are too large": [
            learner.player.name for learner in mine if learner.player.name in NEARLY_UNIFORM
        ],
    }
    return [f"{text}: {', '.join(names)}." for text, names in notes.items() if names]


def offsets_text(scores: Sequence[CellScore], feedback: str) -> str:
    """Return the geometric means of the first learner with other offsets than that of the score."""
    mine = [row for row in scores if row.feedback == feedback]
    rows = [row.score for row in mine if row.learner.label == mine[0].learner.label]
    values = [[value for row in rows if (value := at_offset(row, a)) is not None] for a in OFFSETS]
    raw, *others = (_shown(geometric_mean(some)) if some else number(None) for some in values)
    with_offsets = ", ".join(f"{value} with a = {a:g}" for value, a in zip(others, OFFSETS[1:], strict=True))
    return (
        f"{mine[0].learner.label} in these {len(rows)} cells with other offsets: the raw ratio R / R* has the geometric"
        f" mean {raw} (of the {len(values[0])} cells in which both are above 0), the score {with_offsets}."
    )


def _own_notes(scores: Sequence[CellScore], feedback: str) -> list[str]:
    return [offsets_text(scores, feedback), *forms_text(scores, feedback)]


def _paragraph(text: str, width: int) -> str:
    return textwrap.fill(text, width, break_long_words=False, break_on_hyphens=False)


def _learners(scores: Sequence[CellScore], feedback: str, width: int) -> str:
    """Return the table of learners, with a group of rows for each half."""
    groups = []
    kinds = [kind for kind in KINDS if any(row.cell.kind == kind and row.feedback == feedback for row in scores)]
    present = [half for half in HALVES if any(row.cell.half == half and row.feedback == feedback for row in scores)]
    for half in (*present, None) if len(present) > 1 else present:
        records = summaries(scores, feedback, half)
        heading = f"{'both halves' if half is None else f'half {half!r}'}: {records[0].n_cells} cells"
        groups.append(TableGroup(heading, [_row(record, kinds) for record in records]))
    headers = ["learner", "mean", "worst", "> 2", *kinds]
    about = (
        f"Scores with {feedback} feedback: geometric mean over cells, the worst cell, cells above 2, and geometric"
        " means by kind of environment."
    )
    notes = [_paragraph(text, width) for text in _own_notes(scores, feedback)]
    return "\n".join([_paragraph(about, width), "", grouped_table(headers, groups), "", *notes])


def _row(record: ScoreSummary, kinds: Sequence[str]) -> list[str]:
    by_kind = [_shown(record.by_kind[kind]) if kind in record.by_kind else number(None) for kind in kinds]
    return [record.learner.label, _shown(record.mean), _score_text(record.worst), str(record.n_bad), *by_kind]


def _worst_cells(scores: Sequence[CellScore], feedback: str, width: int) -> str:
    """Return the cells in which the first learner has the largest scores, with the best tuned learner of each."""
    mine = [row for row in scores if row.feedback == feedback]
    first = mine[0].learner.label
    worst = sorted((row for row in mine if row.learner.label == first), key=lambda row: -row.score.value)[:_WORST]
    head, rule, *lines = report_text(COLUMNS, worst).splitlines()
    parts = [f"The worst cells of {first}, each with its half and the best tuned learner:", "", head, rule]
    for row, line in zip(worst, lines, strict=True):
        text = f"{row.cell.half}; {tuned_text(row)}"
        parts += [line, *textwrap.wrap(text, width, initial_indent="  ", subsequent_indent="    ")]
    return "\n".join(parts)


def _shown(value: float) -> str:
    return fixed(value, _decimals(value))


def _decimals(value: float) -> int:
    return 0 if value >= _THREE_DIGITS else 1 if value >= _TWO_DIGITS else 2


def write_scores_csv(path: str | os.PathLike[str], scores: Sequence[CellScore]) -> None:
    """Write one line per score; numbers have enough digits to be read back equal."""

    def fill(file: Path) -> None:
        with file.open("w", newline="", encoding="utf-8") as stream:
            writer = csv.writer(stream, lineterminator="\n")
            writer.writerow(CSV_COLUMNS)
            writer.writerows([column.value(row) for column in COLUMNS if column.key] for row in scores)

    write_atomically(path, fill)


_DEFAULT, _OTHER = page.SeriesGroup("Default", "solid"), page.SeriesGroup("Parameter-free", "baseline")
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


def study_page(scores: Sequence[CellScore], commands: Sequence[str], about: str) -> page.Page:
    """Return the page of these scores; `about` is a sentence on the extent of the study."""
    feedbacks = list(dict.fromkeys(row.feedback for row in scores))
    panels = [panel for feedback in feedbacks for panel in _panels(scores, feedback)]
    firsts = {feedback: next(row.learner.label for row in scores if row.feedback == feedback) for feedback in feedbacks}
    return page.Page(
        title="Regret without tuning",
        subtitle=f"{_SUBTITLE} {_findings(scores, firsts)} {about}",
        table=_table([row for row in scores if row.learner.label == firsts[row.feedback]]),
        panels=panels,
        commands=commands,
        notes=[EXPLANATION, *_NOTES, *(text for feedback in feedbacks for text in _own_notes(scores, feedback))],
        groups=(_DEFAULT, _OTHER),
        figures_heading="Scores",
        figures_first=True,
        guide="which-learner",
    )


def _findings(scores: Sequence[CellScore], firsts: Mapping[str, str]) -> str:
    """Return sentences on the first learner of each feedback, by half."""
    sentences = []
    for feedback, first in firsts.items():
        parts = []
        for half in HALVES:
            for record in summaries(scores, feedback, half):
                if record.learner.label == first:
                    worst = f"at most {fixed(record.worst.score.value, 2)}"
                    cells = f"{record.n_cells} cells of the half \u201c{half}\u201d"
                    parts.append(f"{fixed(record.mean, 2)} ({worst}) in {cells}")
        sentences.append(f"Geometric mean of the scores of {first} ({feedback} feedback): {', '.join(parts)}.")
    return " ".join(sentences)


def _panels(scores: Sequence[CellScore], feedback: str) -> list[page.Panel]:
    """Return the scores of all learners as dots, and their geometric means in each half."""
    mine = [score for score in scores if score.feedback == feedback]
    cells = {score.cell.name: score.cell for score in mine}
    positions = {name: float(i) for i, name in enumerate(cells)}
    records = summaries(scores, feedback, None)
    dots = []
    for record in records:
        own = [score for score in mine if score.learner.label == record.learner.label]
        x = [positions[score.cell.name] for score in own]
        means = [score.score.value for score in own]
        dots.append(_series(record, x, means, [score.score.error for score in own]))
    section = _SECTIONS[feedback]
    axis = page.Axis("score: regret as a multiple of that of the best tuned learner", "log")
    panels: list[page.Panel] = [
        page.DotPanel(
            f"scores-{feedback}",
            section,
            f"{section}: scores in {len(cells)} cells (dots), geometric means (bars)",
            page.Axis("cell"),
            axis,
            dots,
            names=[f"{cell.name} ({cell.half})" for cell in cells.values()],
            centers=[record.mean for record in records],
            center_label="geometric mean",
            rules=[1.0],
        )
    ]
    for half in HALVES:
        if some := summaries(scores, feedback, half):
            title = f"{section}, half \u201c{half}\u201d: geometric means over {some[0].n_cells} cells"
            rows = [_series(record, [float(record.n_cells)], [record.mean], [record.error]) for record in some]
            panels.append(page.RowPanel(f"means-{feedback}-{half}", section, title, page.Axis("cells"), axis, rows))
    return panels


def _series(record: ScoreSummary, x: Sequence[float], values: Sequence[float], errors: Sequence[float]) -> page.Series:
    low, high = (
        [value + sign * _INTERVAL * error for value, error in zip(values, errors, strict=True)] for sign in (-1, 1)
    )
    group = _DEFAULT if record.learner.is_default else _OTHER
    return page.Series(record.learner.label, group.name, x, values, low, high)


def _table(scores: Sequence[CellScore]) -> page.PageTable:
    about = (
        "The first learner with each feedback (the default, unless others were chosen) in all cells, the largest scores"
        " first. The thin lines are at 1 and 2. Best tuned"
        " learner: the one with regret R*; two if even and odd runs choose different ones."
    )
    columns = page_columns(COLUMNS)
    rows = [[cell(row) for cell in columns.values()] for row in sorted(scores, key=lambda row: -row.score.value)]
    return page.PageTable([*columns], rows, "Cells", about + PAGE_NOTE, page.Filter("half", "Half", "Both halves"))
