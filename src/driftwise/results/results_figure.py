"""Results as a figure: regret over rounds with intervals and bounds."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt

from driftwise.core.errors import InvalidInput, rejection, shown
from driftwise.core.types import Vector
from driftwise.core.validation import LOSS_KINDS
from driftwise.report.figures import SCALES, Curve, regret_figure
from driftwise.results.confidence_intervals import half_width

if TYPE_CHECKING:
    from matplotlib.figure import Figure

    from driftwise.results.results import Results

__all__ = ["results_figure"]


def results_figure(
    results: Results, confidence: float, scale: str, lines: Mapping[str, npt.ArrayLike] | None
) -> Figure:
    """Return a Matplotlib figure of the mean regret of each learner, with bands, dashed bounds and grey lines."""
    if scale not in SCALES:
        raise rejection("Results", "scale", f"one of {', '.join(SCALES)}", scale)
    if not isinstance(lines, Mapping | None) or not all(isinstance(label, str) for label in lines or ()):
        raise rejection("Results", "lines", "a dictionary of numbers by label", lines)
    greys = {label: _at_rounds(label, values, len(results.rounds)) for label, values in (lines or {}).items()}
    curves = []
    for i, label in enumerate(results.labels):
        mean, half = results.regrets[i].mean(axis=0), half_width(results.regrets[i], confidence)
        bound = results.bounds[i].mean(axis=0)
        curves.append(Curve(label, mean, mean - half, mean + half, bound, label in results.caveats))
    ylabel = f"{results.comparator} {results.kind}{'-' if results.kind == 'pseudo' else ' '}regret"
    return regret_figure(results.rounds, curves, results.bound_rounds, results.summary(), ylabel, scale, greys)


def _at_rounds(label: str, values: npt.ArrayLike, n: int) -> Vector:
    """Return the values of a line at the `n` rounds of a curve; one number is the same at all of them."""
    try:
        line = np.broadcast_to(np.asarray(values), (n,))
    except ValueError:  # of another shape
        line = np.empty(0, object)
    if line.dtype.kind not in LOSS_KINDS:
        rule = f"must hold a number, or one for each of the {n} `rounds`, for '{label}'"
        raise InvalidInput(f"Results: `lines` {rule}, got {shown(values)}.")
    return line.astype(np.float64)
