"""Checks of the sums of a checkpoint: shapes, types, and what the kernels and the report rely on."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from driftwise.core.errors import rejection
from driftwise.core.memory_fields import MOST_ROUNDS
from driftwise.forecasting.report_sums import (
    AFTER_TRUTH,
    N_PERIODS,
    PERIOD_SCORED,
    ROUNDS,
    SCORED,
    WEIGHED,
    WEIGHT,
    Sums,
)

__all__ = ["checked_sums"]

_MOST_MERGES = 48  # of periods: more rounds than `MOST_ROUNDS`
_MAY_BE_NAN = ("last_truths", "gram")  # before the first truth; where products overflow


def checked_sums(owner: object, arrays: Mapping[str, Any], empty: Sums) -> Sums:
    """Return copies of the arrays of a checkpoint, shaped as those of `empty`; raise if they break a rule."""
    found = {}
    for name, like in empty._asdict().items():
        array = arrays[name]
        if not isinstance(array, np.ndarray) or array.dtype != like.dtype or array.shape != like.shape:
            rule = f"an array of {like.dtype.name} with shape {like.shape}"
            raise rejection(owner, name, rule, _described(array))
        if array.dtype.kind == "i" and not ((array >= 0) & (array <= MOST_ROUNDS)).all():
            raise rejection(owner, name, "counts", array)
        if array.dtype.kind == "f" and name not in _MAY_BE_NAN and np.isnan(array).any():
            raise rejection(owner, name, "without NaN", array)
        found[name] = np.array(array, order="C")
    sums = Sums(**found)
    _check_values(owner, sums)
    return sums


def _check_values(owner: object, sums: Sums) -> None:
    counts, exponent = sums.series_counts, int(sums.exponent[0])
    longest = int(counts[:, ROUNDS].max(initial=0))
    n_rounds, n_scored = int(counts[:, ROUNDS].sum()), int(counts[:, SCORED].sum())
    # The only exponent that so many rounds lead to.
    least = N_PERIODS << (exponent - 1) if 0 < exponent <= _MOST_MERGES else 0
    if exponent > _MOST_MERGES or (exponent > 0 and longest <= least) or longest > N_PERIODS << exponent:
        raise rejection(owner, "exponent", f"that of {longest} rounds in {N_PERIODS} periods", exponent)
    ordered = (counts[:, AFTER_TRUTH] <= counts[:, SCORED]) & (counts[:, SCORED] <= counts[:, ROUNDS])
    if not ordered.all():
        raise rejection(owner, "series_counts", "rounds >= scored rounds >= those after a truth", counts)
    if not np.isfinite(sums.series_losses[:, 0]).all() or np.isinf(sums.last_truths).any():
        name = "last_truths" if np.isinf(sums.last_truths).any() else "series_losses"
        raise rejection(owner, name, "finite", getattr(sums, name))
    if n_scored + int(sums.skipped.sum()) != n_rounds:
        raise rejection(owner, "skipped", f"{n_rounds - n_scored} in all", sums.skipped)
    scored, weighed = sums.period_counts[:, PERIOD_SCORED], sums.period_counts[:, WEIGHED]
    if int(scored.sum()) != n_scored or (scored > weighed).any() or int(weighed.sum()) > n_rounds:
        raise rejection(owner, "period_counts", f"{n_scored} scored rounds in all", sums.period_counts)
    n_used = -(-longest >> exponent) if longest else 0
    if weighed[n_used:].any():
        raise rejection(owner, "period_counts", f"0 from period {n_used} on", sums.period_counts)
    if (sums.period_awake > scored[:, None]).any():
        raise rejection(owner, "period_awake", "at most the scored rounds", sums.period_awake)
    weights = sums.period_experts[:, WEIGHT]
    if not (np.isfinite(weights) & (weights >= 0)).all():
        raise rejection(owner, "period_experts", "weights that are finite and >= 0", weights)
    if (sums.given > n_rounds).any():
        raise rejection(owner, "given", f"at most {n_rounds}", sums.given)
    if not np.array_equal(sums.gram, sums.gram.T, equal_nan=True) or (np.diag(sums.gram) < 0).any():
        raise rejection(owner, "gram", "symmetric, with a diagonal >= 0", sums.gram)


def _described(array: object) -> object:
    return f"{array.dtype.name} with shape {array.shape}" if isinstance(array, np.ndarray) else array
