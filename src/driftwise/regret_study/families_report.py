"""The scores in families of worlds as text and as plain values for JSON."""

from __future__ import annotations

import textwrap
from collections.abc import Sequence
from statistics import geometric_mean
from typing import NamedTuple

from driftwise.regret_study.families import FamilyScore
from driftwise.regret_study.study import OFFSETS
from driftwise.regret_study.study_design import ScoredLearner
from driftwise.report.tables import TableGroup, fixed, grouped_table, number

WIDTH = 110
_DECIMALS = 2
_ABOUT = {
    "attacks": "Families of worlds, set attacks: each was written against a weakness of an earlier default learner and"
    " belongs to what the defaults were tuned on.",
    "held-out": "Families of worlds, set held-out: no default learner was tuned on them.",
}
EXPLANATION = (
    "Score of these cells: (R + a) / (R* + a) with the offset a = 5 with full feedback, a quarter of the root of T with"
    " bandit feedback. R is the mean regret of a learner, R* that of the tuned learner with the least regret in the"
    " cell, chosen by the even runs and counted in the odd runs, and the other way round. A mean below 0 counts as 0."
    " In brackets: 95 % bootstrap intervals. Raw: R / R*, over the cells where both are above 0. a = 1, a = .25: scores"
    " with these offsets. Without one: the least and the largest geometric mean if one family is left out."
)


class FamilySummary(NamedTuple):
    """The scores of one learner with one feedback."""

    learner: ScoredLearner
    feedback: str
    n_cells: int
    mean: float  # geometric, over cells
    by_family: dict[str, float]  # geometric means
    without: dict[str, float]  # geometric means of the cells of all other families; empty if there is one family
    worst: FamilyScore
    at_offsets: tuple[float | None, ...]  # geometric means for `OFFSETS`
    n_raw: int  # cells in the mean of raw ratios

    @property
    def record(self) -> dict[str, object]:
        """Plain values."""
        return {
            "learner": self.learner.label,
            "feedback": self.feedback,
            "cells": self.n_cells,
            "mean": self.mean,
            "by_family": self.by_family,
            "mean_without_family": self.without,
            "worst": self.worst.score.value,
            "worst_cell": self.worst.cell.name,
            "worst_interval": [*self.worst.interval],
            "mean_at_offsets": {f"{a:g}": value for a, value in zip(OFFSETS, self.at_offsets, strict=True)},
            "cells_with_raw_ratio": self.n_raw,
        }


def family_summaries(scores: Sequence[FamilyScore]) -> list[FamilySummary]:
    """Return a summary of each learner with each feedback, in the order of the scores."""
    by_learner: dict[tuple[str, str], list[FamilyScore]] = {}
    for row in scores:
        by_learner.setdefault((row.feedback, row.learner.label), []).append(row)
    return [_summary(rows) for rows in by_learner.values()]


def _summary(rows: Sequence[FamilyScore]) -> FamilySummary:
    values: dict[str, list[float]] = {}
    for row in rows:
        values.setdefault(row.cell.family_name, []).append(row.score.value)
    others = {
        name: [value for other, some in values.items() if other != name for value in some]
        for name in values
        if len(values) > 1
    }
    at_offsets = [[value for row in rows if (value := row.at_offsets[i]) is not None] for i in range(len(OFFSETS))]
    return FamilySummary(
        rows[0].learner,
        rows[0].feedback,
        len(rows),
        geometric_mean([row.score.value for row in rows]),
        {name: geometric_mean(some) for name, some in values.items()},
        {name: geometric_mean(some) for name, some in others.items()},
        max(rows, key=lambda row: row.score.value),
        tuple(geometric_mean(some) if some else None for some in at_offsets),
        len(at_offsets[0]),
    )


def families_text(scores: Sequence[FamilyScore], family_set: str) -> str:
    """Return all tables."""
    realised = [*dict.fromkeys(row.cell.family_name for row in scores if row.cell.regret_kind == "realised")]
    notes = [_ABOUT[family_set], EXPLANATION, "Regret is pseudo-regret against the best action of every round."]
    if realised:
        notes[-1] = (
            f"{notes[-1]} Where rounds depend on each other, it is computed from the losses themselves, against the"
            f" action with the least mean in every round: {', '.join(realised)}."
        )
    parts = [textwrap.fill(text, WIDTH, break_on_hyphens=False) for text in notes]
    for summary in family_summaries(scores):
        rows = [row for row in scores if (row.feedback, row.learner) == (summary.feedback, summary.learner)]
        parts.append(_learner_text(summary, rows))
    return "\n\n".join(parts)


def _learner_text(summary: FamilySummary, rows: Sequence[FamilyScore]) -> str:
    raw, *others = (_shown(value) for value in summary.at_offsets)
    offsets = ", ".join(f"{value} with a = {a:g}" for a, value in zip(OFFSETS[1:], others, strict=True))
    head = (
        f"{summary.learner.label}, {summary.feedback} feedback: geometric mean {_shown(summary.mean)} of"
        f" {summary.n_cells} cells, worst {_shown(summary.worst.score.value)} {_interval(summary.worst)}"
        f" ({summary.worst.cell.name}). Raw ratio {raw} (of {summary.n_raw} cells), {offsets}."
    )
    if summary.without:
        low, high = (pick(summary.without, key=summary.without.__getitem__) for pick in (min, max))
        head += (
            f" Without one family: {_shown(summary.without[low])} (without {low}) to"
            f" {_shown(summary.without[high])} (without {high})."
        )
    groups = [
        TableGroup(f"{name}: {_shown(value)}", [_cells(row) for row in rows if row.cell.family_name == name])
        for name, value in summary.by_family.items()
    ]
    headers = ["cell", "score", "interval", "raw", "a = 1", "a = .25", "R", "R*", "runs", "best tuned"]
    return f"{textwrap.fill(head, WIDTH, break_on_hyphens=False)}\n\n{grouped_table(headers, groups)}"


def _cells(row: FamilyScore) -> list[str]:
    return [
        f"K = {row.cell.n_actions}, T = {row.cell.n_rounds}",
        _shown(row.score.value),
        _interval(row),
        *map(_shown, row.at_offsets),
        fixed(row.score.regret, _DECIMALS),
        fixed(row.score.best_regret, _DECIMALS),
        str(row.score.n_runs),
        " or ".join(player.label for player in row.tuned),
    ]


def _interval(row: FamilyScore) -> str:
    return f"[{_shown(row.interval[0])}, {_shown(row.interval[1])}]"


def _shown(value: float | None) -> str:
    return number(None) if value is None else fixed(value, _DECIMALS)


def families_record(scores: Sequence[FamilyScore], family_set: str, seed: int) -> dict[str, object]:
    """Return everything as plain values."""
    cells = [
        {
            "family": row.cell.family_name,
            "n_actions": row.cell.n_actions,
            "n_rounds": row.cell.n_rounds,
            "feedback": row.feedback,
            "learner": row.learner.label,
            "regret_kind": row.cell.regret_kind,
            **row.score._asdict(),
            "interval": [*row.interval],
            "at_offsets": {f"{a:g}": value for a, value in zip(OFFSETS, row.at_offsets, strict=True)},
            "best_tuned": [player.label for player in row.tuned],
        }
        for row in scores
    ]
    summaries = [summary.record for summary in family_summaries(scores)]
    return {"families": family_set, "seed": seed, "learners": summaries, "cells": cells}
