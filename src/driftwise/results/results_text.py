"""Results as text: some lines about the environment, and the table of regrets."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from driftwise.core.tuning_caveats import marked
from driftwise.report.tables import number, text_table
from driftwise.results.footnotes import footnote

if TYPE_CHECKING:
    from driftwise.results.results import Results

__all__ = ["bound_texts", "regret_name", "summary_text", "table_text"]


def summary_text(results: Results) -> str:
    """Return some lines about the environment and its measures, with the best loss L* if every run has one."""
    lines = [
        f"{_describe(results.environment)}: K = {results.n_actions}, T = {results.n_rounds}, "
        f"{results.n_runs} run{'s' if results.n_runs != 1 else ''}, seed {results.seed}"
    ]
    if results.measures:
        gamma, drift, variance = (
            number(float(np.mean([getattr(m, name) for m in results.measures])))
            for name in ("segments", "drift", "variance")
        )
        lines.append(f"segments Gamma = {gamma}, drift V = {drift}, variance Lambda = {variance}")
    D, _, _, movement, best = (float(np.mean(values)) for values in zip(*results.realised, strict=True))
    line = f"realised: deviation D = {number(D)}, movement V~ = {number(movement)}"
    lines.append(line if math.isnan(best) else f"{line}, best loss L* = {number(best)}")
    return "\n".join(lines)


def table_text(results: Results, confidence: float) -> str:
    """Return the summary, the table of final regrets, and the reasons of the caveats."""
    headers = ["learner", "regret", f"{100 * confidence:g}% interval", "bound", "ratio"]
    rows = [
        [
            marked(row["learner"], row["caveat"]),
            number(row["regret"]),
            f"{number(row['low'])} .. {number(row['high'])}" if results.n_runs > 1 else "-",
            *bound_texts(results.n_rounds, row["regret"], row["bound"]),
        ]
        for row in results.rows(confidence)
    ]
    title = f"{results.comparator} {regret_name(results.kind)}"
    marks = [label for label in results.labels if label in results.caveats]
    reasons = footnote({label: results.caveats[label].text(results.n_runs) for label in marks})
    return "\n".join([summary_text(results), "", title, text_table(headers, rows), *reasons.splitlines()])


def bound_texts(n_rounds: int, regret: float, bound: float) -> tuple[str, str]:
    """Return the text of a bound and of regret / bound; a bound of at least T is trivial, since losses are <= 1."""
    if bound >= n_rounds:
        return "T", "-"
    return number(bound), number(regret / bound, 2) if bound else "-"


def regret_name(kind: str) -> str:
    """Return the name of a kind of regret."""
    return "pseudo-regret" if kind == "pseudo" else "realised regret"


def _describe(environment: Mapping[str, Any]) -> str:
    """Return the names of an environment's parts, such as ``switching x bernoulli``."""
    if "replay" in environment:
        return "replay"
    parts: Sequence[Any] = [environment.get("path"), environment.get("noise")]
    names = [_inner_name(part) for part in parts if isinstance(part, Mapping)]
    return " x ".join(names) if names else str(environment.get("name", "environment"))


def _inner_name(part: Mapping[str, Any]) -> str:
    inner = part.get("path") or part.get("noise")  # budgets wrap a path or a noise
    return _inner_name(inner) if isinstance(inner, Mapping) else str(part.get("name"))
