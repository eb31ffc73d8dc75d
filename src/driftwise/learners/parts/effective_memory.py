"""Effective memories and weights of bases, from which learners make their `Beliefs`."""

from __future__ import annotations

import math
import re
from collections.abc import Iterable
from typing import Any

import numpy as np
import numpy.typing as npt

from driftwise.core.types import Vector

__all__ = ["faded_rounds", "mean_age", "shares_by_age", "shares_by_label", "short_label"]


def faded_rounds(forgotten: float, rounds: float) -> float:
    r"""Return $1 + (1 - f) + (1 - f)^2 + \dots$ over `rounds` terms, where a round forgets the share $f$ of the past.

    >>> faded_rounds(0.5, 3), faded_rounds(0.0, 3), faded_rounds(1.0, 3)
    (1.75, 3.0, 1.0)
    """
    if forgotten == 0.0 or rounds <= 1:
        return float(rounds)
    if forgotten == 1.0:
        return 1.0
    return min(float(rounds), -math.expm1(rounds * math.log1p(-forgotten)) / forgotten)


def mean_age(ages: npt.NDArray[Any], shares: Vector) -> float:
    """Return the mean of ages in rounds, weighed by shares, which need not sum to 1."""
    total = float(shares.sum())
    return float(np.dot(ages, shares / total)) if total > 0.0 else float(ages.mean())


def shares_by_label(labels: Iterable[str], weights: Iterable[float]) -> dict[str, float]:
    """Return weights by label, normalised; those of equal labels are added.

    >>> shares_by_label(["slow", "fast", "slow"], [1.0, 2.0, 1.0])
    {'slow': 0.5, 'fast': 0.5}
    """
    found: dict[str, float] = {}
    for label, weight in zip(labels, weights, strict=True):
        found[label] = found.get(label, 0.0) + float(weight)
    total = sum(found.values())
    return {label: weight / total for label, weight in found.items()} if total > 0.0 else {}


def short_label(label: str) -> str:
    """Return a label with its numbers rounded to three digits.

    >>> short_label("online-gd(learning_rate=0.18708286933869708)")
    'online-gd(learning_rate=0.187)'
    """
    return re.sub(r"\d+\.\d{3,}(e[-+]\d+)?", lambda found: f"{float(found[0]):.3g}", label)


def shares_by_age(ages: npt.NDArray[Any], shares: Vector) -> dict[str, float]:
    """Return shares by age in rounds, in classes from one power of two to the next, the youngest first.

    >>> shares_by_age(np.array([0, 1, 2, 3, 9]), np.array([0.0, 0.125, 0.25, 0.25, 0.375]))
    {'0 rounds': 0.0, '1 round': 0.125, '2-3 rounds': 0.5, '8-15 rounds': 0.375}
    """
    exponents = np.maximum(0, np.frexp(ages.astype(float))[1])  # 0 for 0, 1 for 1, 2 for 2 and 3, 3 for 4 to 7
    sums = np.bincount(exponents, shares)
    present = np.unique(exponents)
    return shares_by_label(map(_age_class, present.tolist()), sums[present])


def _age_class(exponent: int) -> str:
    if exponent <= 1:
        return ("0 rounds", "1 round")[exponent]
    return f"{2 ** (exponent - 1)}-{2**exponent - 1} rounds"
