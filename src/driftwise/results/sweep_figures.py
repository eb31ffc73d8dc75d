"""What the figures of a sweep show: a panel for each environment, or mean regrets over two parameters."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import groupby
from typing import TYPE_CHECKING, Any

import numpy as np

from driftwise.core.errors import InvalidInput, UnknownName, rejection, shown
from driftwise.core.types import Actions
from driftwise.registry import spec_text
from driftwise.report.regret_figures import Curve, CurvePanel, HeatMap, RegretRows
from driftwise.results.columns import Place
from driftwise.results.labels import short_text
from driftwise.results.results import regret_name
from driftwise.results.summaries import MeanCurve, Summary, by_number, in_order, mean_curve, varied_columns

if TYPE_CHECKING:
    from driftwise.results.sweep_results import SweepResults

MOST_PANELS = 12


def setting(row: Summary) -> tuple[str, str, str]:
    """Return what the rows of a panel have in common."""
    return row.place.environment, row.place.comparator, row.place.play


def setting_title(row: Summary, rows: Iterable[Summary]) -> str:
    """Return the title of a row's panel: its environment, and what else differs between rows."""
    differing = varied_columns(other.place for other in rows)
    return ", ".join([row.place.environment, *(getattr(row.place, name) for name in differing)])


def regret_label(row: Summary) -> str:
    """Return the name of a row's regret."""
    return f"{row.place.comparator} {regret_name(row.kind)}"


def sweep_panels(results: SweepResults, confidence: float) -> list[CurvePanel] | list[RegretRows]:
    """Return a panel for each environment: regret over rounds if all have curves, else over numbers of rounds.

    Curves are those of the largest number of rounds. If no environment has several numbers of rounds, learners are one
    below the other.
    """
    rows = [row for row in in_order(results.summaries(confidence)) if row.n_cells]
    if not rows:
        raise InvalidInput("SweepResults: a figure needs a cell that was played, got none.")
    groups = [list(group) for _, group in groupby(rows, key=setting)]
    if len(groups) > MOST_PANELS:
        hint = "Use `select`, or --environment on the command line."
        raise InvalidInput(f"SweepResults: a figure must have at most {MOST_PANELS} panels, got {len(groups)}. {hint}")
    numbers = {name: i for i, name in enumerate(sorted({row.place.learner for row in rows}, key=by_number))}
    members = dict(results.places())
    longest = [_longest(group) for group in groups]
    curves = [_mean_curves(results, members, group, confidence) for group in longest]
    if all(len(found) == len(group) for found, group in zip(curves, longest, strict=True)):
        panels = []
        for found in curves:
            marks = np.unique(np.concatenate([curve.rounds[np.isfinite(curve.bound)] for _, curve in found]))
            drawn = sorted((_curve(row, curve, marks, numbers) for row, curve in found), key=lambda curve: curve.number)
            panels.append(CurvePanel(drawn, regret_label(found[0][0]), setting_title(found[0][0], rows)))
        return panels
    titles = [setting_title(group[0], rows) for group in groups]
    if any(len({row.place.n_rounds for row in group}) > 1 for group in groups):
        return [
            CurvePanel([*_over_lengths(group, numbers)], regret_label(group[0]), title, over_lengths=True)
            for group, title in zip(groups, titles, strict=True)
        ]
    dots = []
    for group, title in zip(groups, titles, strict=True):
        regrets = {row.place.learner: row.regret for row in group}
        dots.append(RegretRows(regrets, regret_label(group[0]), f"{title}, {group[0].place.n_rounds} rounds"))
    return dots


def _longest(rows: Sequence[Summary]) -> list[Summary]:
    most = max(row.place.n_rounds for row in rows)
    return [row for row in rows if row.place.n_rounds == most]


def _mean_curves(
    results: SweepResults, members: Mapping[Place, Any], rows: Sequence[Summary], confidence: float
) -> list[tuple[Summary, MeanCurve]]:
    curves = ((row, mean_curve(results.cells, members[row.place], confidence)) for row in rows)
    return [(row, curve) for row, curve in curves if curve is not None]


def _curve(row: Summary, curve: MeanCurve, marks: Actions, numbers: Mapping[str, int]) -> Curve:
    """Return a curve over rounds, with its bound at those marks that it has."""
    marked = np.isin(curve.rounds, marks)
    bound = (curve.rounds[marked], curve.bound[marked])
    return Curve(row.place.learner, *curve[:4], *bound, bool(row.caveat), numbers[row.place.learner])


def _over_lengths(rows: Sequence[Summary], numbers: Mapping[str, int]) -> Iterator[Curve]:
    """Yield a curve over numbers of rounds for each learner, with its bounds at these numbers."""
    ordered = sorted(rows, key=lambda row: (numbers[row.place.learner], row.place.n_rounds))
    for name, group in groupby(ordered, key=lambda row: row.place.learner):
        of_learner = list(group)
        rounds = np.array([row.place.n_rounds for row in of_learner])
        mean, low, high = (np.array(values) for values in zip(*(row.regret for row in of_learner), strict=True))
        bounds = np.array([row.bound for row in of_learner])
        yield Curve(name, rounds, mean, low, high, rounds, bounds, any(row.caveat for row in of_learner), numbers[name])


def parameter_map(results: SweepResults, x: str, y: str) -> HeatMap:
    """Return the mean regrets over the values of two parameters of learners or environments, or `n_rounds`."""
    rows = [row for row in in_order(results.summaries()) if row.n_cells]
    table = [_parameters(row) for row in rows]
    values: dict[str, dict[str, Any]] = {}  # of each parameter, by their texts
    for parameters in table:
        for name, value in parameters.items():
            values.setdefault(name, {})[spec_text({"value": value})] = value
    varied = {name: [*distinct.values()] for name, distinct in values.items() if len(distinct) > 1}
    names = [_full_name(name, varied) for name in (x, y)]
    if names[0] == names[1]:
        raise rejection("SweepResults", "y", "another parameter than `x`", y)
    xs, ys = (sorted(varied[name], key=_value_order) for name in names)
    means = np.full((len(ys), len(xs)), np.nan)
    first: dict[tuple[int, int], Place] = {}
    for row, parameters in zip(rows, table, strict=True):
        if not all(name in parameters for name in names):
            continue
        place = ys.index(parameters[names[1]]), xs.index(parameters[names[0]])
        if place in first:
            raise InvalidInput(f"SweepResults: a heat map must have one mean for {x} = {shown(xs[place[1]])} and"
                               f" {y} = {shown(ys[place[0]])}, got {_difference(first[place], row.place)}."
                               " `select` chooses one.")  # fmt: skip
        first[place] = row.place
        means[place] = row.regret.mean
    if not first:
        raise InvalidInput(f"SweepResults: no cell has both `{x}` and `{y}`.")
    labels = [_shown_name(name).replace("_", " ") for name in names]
    return HeatMap(labels[0], labels[1], [short_text(value) for value in xs],
                   [short_text(value) for value in ys], means, f"mean {regret_label(rows[0])}")  # fmt: skip


def _parameters(row: Summary) -> dict[str, Any]:
    """Return the parameters of a row's environment and learner, and its number of rounds, by their full names."""
    cell = row.table.record(int(row.played[0]))
    parameters = {"n_rounds": row.place.n_rounds}
    for name, text in (("environment", cell.environment), ("learner", cell.learner)):
        parameters |= dict(_flat(name, json.loads(text)))
    return parameters


def _flat(name: str, value: Any) -> Iterator[tuple[str, Any]]:
    if isinstance(value, Mapping):
        for key, inner in value.items():
            if not (name == "environment" and key == "against"):  # the learner itself
                yield from _flat(f"{name}.{key}", inner)
    else:
        yield name, value


def _full_name(name: str, varied: Iterable[str]) -> str:
    """Return the full name of a parameter that is named by its end."""
    if not isinstance(name, str):
        raise rejection("SweepResults", "x and y", "names of parameters", name)
    full = [other for other in varied if other == name or other.endswith(f".{name}")]
    if not full:
        names = [_shown_name(other) for other in varied]
        raise UnknownName("parameter", name, names, "with several values in these cells")
    if len(full) > 1 and name not in full:
        raise InvalidInput(f"SweepResults: `{name}` must be one parameter, got {' and '.join(full)}.")
    return name if name in full else full[0]


def _shown_name(name: str) -> str:
    return name.rpartition(".")[2]


def _value_order(value: Any) -> tuple[bool, Any]:
    is_number = isinstance(value, int | float) and not isinstance(value, bool)
    return not is_number, value if is_number else by_number(short_text(value))


def _difference(first: Place, other: Place) -> str:
    """Return the first two different parts of two places."""
    for mine, theirs in zip(first, other, strict=True):
        if mine != theirs:
            return f"those of '{mine}' and of '{theirs}'"
    return "two"
