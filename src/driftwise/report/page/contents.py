"""The contents of a page, as plain values.

A missing number is NaN: the page shows a dash, and figures leave it out. Rates such as
``sqrt(Gamma Lambda) + sqrt(K) Gamma`` are plain text; the page shows them as formulas.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

from driftwise.core.validation import require, require_choice

__all__ = ["KINDS", "ROLES", "Claim", "Line", "Page", "Panel", "Series", "TableRow", "WeightHistory"]

ROLES = ("paper", "cited", "parameter-free", "added", "baseline")
KINDS = ("upper", "lower", "guide")
_KEY = re.compile(r"[a-z0-9]+(-[a-z0-9]+)*")  # for file names and anchors on the page


@dataclass(frozen=True)
class TableRow:
    """One row of the measured Table 1: the exponent of a learner's regret, and the paper's rates."""

    cell: str  # "full information, switching"
    environment: str  # "switching, Bernoulli"
    learner: str
    role: str
    axis: str  # the varied quantity: "T", "Gamma", "V" or "Lambda"
    upper: str  # the paper's rates
    lower: str
    exponent: float  # regret grew as this power of the varied quantity
    low: float  # its interval
    high: float
    multiple: str  # regret / lower bound, "2.1 to 3.4"
    caveat: str = ""  # why the numbers say nothing about the learner; "" if there is no caveat

    def __post_init__(self) -> None:
        require_choice(self, "role", ROLES)


@dataclass(frozen=True)
class Series:
    """One learner's regret at each value of the varied quantity."""

    label: str
    role: str
    x: Sequence[float]
    mean: Sequence[float]
    low: Sequence[float]
    high: Sequence[float]
    exponent: float
    exponent_low: float
    exponent_high: float
    caveat: str = ""  # why the numbers say nothing about the learner; "" if there is no caveat

    def __post_init__(self) -> None:
        require_choice(self, "role", ROLES)
        for name in ("mean", "low", "high"):
            _require_length(self, name, len(self.x), "values of `x`")


@dataclass(frozen=True)
class Line:
    """A bound, or a guide line."""

    label: str
    kind: str
    x: Sequence[float]
    y: Sequence[float]

    def __post_init__(self) -> None:
        require_choice(self, "kind", KINDS)
        _require_length(self, "y", len(self.x), "values of `x`")


@dataclass(frozen=True)
class Panel:
    """A figure of regret against the varied quantity, on logarithmic axes."""

    key: str
    cell: str
    title: str
    x_label: str
    y_label: str
    series: Sequence[Series]
    lines: Sequence[Line]

    def __post_init__(self) -> None:
        _require_key(self)
        _require_distinct(self, "series", [one.label for one in self.series], "labels")


@dataclass(frozen=True)
class WeightHistory:
    """A learner's weights on one path of losses, averaged over a few hundred intervals of rounds."""

    key: str
    title: str
    learner: str
    rounds: Sequence[int]  # the first round of each interval
    weights: Sequence[Sequence[float]]  # one sequence per action
    best: Sequence[int]  # the best action of each interval
    change_points: Sequence[int]
    what: str = "weight"  # "weight", or "share": of the rounds in which an action was chosen (bandit feedback)
    caveat: str = ""  # why the weights say nothing about the learner; "" if there is no caveat

    def __post_init__(self) -> None:
        _require_key(self)
        n_rounds = len(self.rounds)
        require(self, "weights", all(len(one) == n_rounds for one in self.weights), f"{n_rounds} numbers per action")
        _require_length(self, "best", n_rounds, "`rounds`")
        increasing = all(one < other for one, other in zip(self.rounds, self.rounds[1:], strict=False))
        require(self, "rounds", increasing, "increasing")
        valid = all(0 <= one < len(self.weights) for one in self.best)
        require(self, "best", valid, f"actions from 0 to {len(self.weights) - 1}")


@dataclass(frozen=True)
class Claim:
    """A sentence, whether the measurements confirm it, and the numbers that decide it."""

    text: str
    holds: bool
    figures: Sequence[tuple[str, str]]  # what, value


@dataclass(frozen=True)
class Page:
    """A whole report."""

    title: str
    subtitle: str
    table: Sequence[TableRow]
    panels: Sequence[Panel]
    histories: Sequence[WeightHistory]
    claims: Sequence[Claim]
    commands: Sequence[str]  # to repeat the measurements
    notes: Sequence[str]

    def __post_init__(self) -> None:
        keys = [panel.key for panel in self.panels] + [history.key for history in self.histories]
        _require_distinct(self, "panels", keys, "keys, histories included")


def _require_length(owner: object, name: str, length: int, of_what: str) -> None:
    require(owner, name, len(getattr(owner, name)) == length, f"as long as the {length} {of_what}")


def _require_key(owner: Panel | WeightHistory) -> None:
    require(owner, "key", _KEY.fullmatch(owner.key) is not None, "lower-case words joined by hyphens")


def _require_distinct(owner: object, name: str, values: Sequence[str], what: str) -> None:
    require(owner, name, len(set(values)) == len(values), f"of distinct {what}")
