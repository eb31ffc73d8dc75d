"""The measured Table 1 in a few seconds: short runs, two values of the varied quantity, two runs."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

from driftwise.landscape.outcomes import Outcome, measure
from driftwise.landscape.pages import page, weight_histories
from driftwise.landscape.scans import ScanPreset, select_scans
from driftwise.report.page import Page

TINY = ScanPreset(shortest=300, longest=600, points=2, n_rounds=3000, n_runs=2, most_adaptive=600)


def tiny_landscape(folder: Path, cells: Sequence[str], names: Sequence[str]) -> tuple[list[Outcome], Page]:
    """Measure some learners in some cells; return outcomes and page."""
    scans = select_scans(TINY, cells, names)
    outcomes = measure(scans, TINY.n_runs, seed=1, folder=folder)
    return outcomes, page(
        outcomes, weight_histories(scans, seed=1), ["driftwise landscape"], "Two runs of every point."
    )
