"""What a page says, as plain values.

A number that is missing is NaN: the page shows a dash for it, and the pictures leave it out. Rates such as
``sqrt(Gamma Lambda) + sqrt(K) Gamma`` are written in words; the page sets them as formulas.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

from driftwise.core.validation import require, require_choice

__all__ = ["KINDS", "ROLES", "Claim", "Line", "Page", "Panel", "Series", "TableRow", "WeightHistory"]

ROLES = ("paper", "cited", "parameter-free", "added", "baseline")
KINDS = ("upper", "lower", "guide")
_KEY = re.compile(r"[a-z0-9]+(-[a-z0-9]+)*")  # it names files and places on the page


@dataclass(frozen=True)
class TableRow:
    """One line of the measured Table 1: how a learner's regret grew, beside what the paper proves."""

    cell: str  # "full information, switching"
    world: str  # "benign: switching, Bernoulli"
    learner: str
    role: str
    axis: str  # what was varied: "T", "Gamma", "V" or "Lambda"
    upper: str  # the paper's rates
    lower: str
    exponent: float  # regret grew as this power of what was varied
    low: float  # its interval
    high: float
    multiple: str  # regret over the lower bound, "2.1 to 3.4"
    caveat: str = ""  # why the numbers say nothing about the learner

    def __post_init__(self) -> None:
        require_choice(self, "role", ROLES)


@dataclass(frozen=True)
class Series:
    """One learner's regret at each value of what was varied."""

    label: str
    role: str
    x: Sequence[float]
    mean: Sequence[float]
    low: Sequence[float]
    high: Sequence[float]
    exponent: float
    exponent_low: float
    exponent_high: float
    caveat: str = ""  # why the numbers say nothing about the learner

    def __post_init__(self) -> None:
        require_choice(self, "role", ROLES)
        for name in ("mean", "low", "high"):
            _require_length(self, name, len(self.x), "values of `x`")


@dataclass(frozen=True)
class Line:
    """A bound, or a line that guides the eye."""

    label: str
    kind: str
    x: Sequence[float]
    y: Sequence[float]

    def __post_init__(self) -> None:
        require_choice(self, "kind", KINDS)
        _require_length(self, "y", len(self.x), "values of `x`")


@dataclass(frozen=True)
class Panel:
    """Regret against what was varied, on logarithmic axes."""

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
    """A learner's weights on one path of losses, in a few hundred stretches of its rounds."""

    key: str
    title: str
    learner: str
    rounds: Sequence[int]  # where each stretch begins
    weights: Sequence[Sequence[float]]  # one sequence per action
    best: Sequence[int]  # the best action of each of these rounds
    change_points: Sequence[int]
    what: str = "weight"  # what `weights` are: with bandit feedback, the shares of the rounds in which it was chosen
    caveat: str = ""  # why the weights say nothing about the learner

    def __post_init__(self) -> None:
        _require_key(self)
        n_rounds = len(self.rounds)
        require(self, "weights", all(len(one) == n_rounds for one in self.weights), f"{n_rounds} numbers per action")
        _require_length(self, "best", n_rounds, "`rounds`")
        rising = all(one < other for one, other in zip(self.rounds, self.rounds[1:], strict=False))
        require(self, "rounds", rising, "in rising order")
        known = all(0 <= one < len(self.weights) for one in self.best)
        require(self, "best", known, f"actions from 0 to {len(self.weights) - 1}")


@dataclass(frozen=True)
class Claim:
    """A sentence, whether the measurements bear it out, and the figures that say so."""

    text: str
    holds: bool
    figures: Sequence[tuple[str, str]]  # what, how much


@dataclass(frozen=True)
class Page:
    """A whole report."""

    title: str
    subtitle: str
    table: Sequence[TableRow]
    panels: Sequence[Panel]
    histories: Sequence[WeightHistory]
    claims: Sequence[Claim]
    commands: Sequence[str]  # what repeats the measurements
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
