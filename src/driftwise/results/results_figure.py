"""Results as a figure: regret over rounds with intervals and bounds."""

from __future__ import annotations

from typing import TYPE_CHECKING

from driftwise.report.figures import Curve, regret_figure
from driftwise.results.confidence_intervals import half_width

if TYPE_CHECKING:
    from matplotlib.figure import Figure

    from driftwise.results.results import Results

__all__ = ["results_figure"]


def results_figure(results: Results, confidence: float) -> Figure:
    """Return a Matplotlib figure of the mean regret of each learner, with bands and dashed bounds."""
    curves = []
    for i, label in enumerate(results.labels):
        mean, half = results.regrets[i].mean(axis=0), half_width(results.regrets[i], confidence)
        bound = results.bounds[i].mean(axis=0)
        curves.append(Curve(label, mean, mean - half, mean + half, bound, label in results.caveats))
    ylabel = f"{results.comparator} {results.kind}{'-' if results.kind == 'pseudo' else ' '}regret"
    return regret_figure(results.rounds, curves, results.bound_rounds, results.summary(), ylabel)
