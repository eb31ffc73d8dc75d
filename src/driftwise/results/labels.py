"""Labels of environments and learners: short ones made from specs, and those of the cells of a table."""

from __future__ import annotations

import dataclasses
import itertools
import json
from collections.abc import Callable, Container, Hashable, Mapping
from typing import Any, NamedTuple

import numpy as np
import numpy.typing as npt

from driftwise.adversaries import adversaries
from driftwise.core.errors import DriftwiseError
from driftwise.core.types import Actions
from driftwise.environments.noises.noise import noises
from driftwise.environments.paths.path import paths
from driftwise.learners import Player, learners
from driftwise.registry import Registry, spec_text
from driftwise.results.cells import CellTable

_PARTS: dict[str, Registry[Any]] = {"path": paths, "noise": noises}
_NO_DEFAULT = object()


def environment_label(spec: Mapping[str, Any], swept: Container[str] = ()) -> str:
    """Return a short description of an environment; parameters that were `swept` are in it with their defaults too.

    >>> noise = {"name": "bernoulli"}
    >>> environment_label({"path": {"name": "switching", "n_segments": 8, "n_actions": 10}, "noise": noise})
    'switching(n_segments=8, n_actions=10), bernoulli'
    >>> environment_label({"path": {"name": "gaps", "n_actions": 2}, "noise": {"name": "bernoulli"}}, ["n_actions"])
    'gaps(n_actions=2), bernoulli'
    """
    if "replay" in spec:
        return str(spec["replay"])
    if "adversary" in spec:
        against = f" against {learner_label(spec['against'], swept)}" if "against" in spec else ""
        return f"{short_text(spec['adversary'], adversaries, swept)}{against}"
    parts = [short_text(spec[part], registry, swept) for part, registry in _PARTS.items() if part in spec]
    return ", ".join(parts) if parts else short_text(spec)


def learner_label(spec: Mapping[str, Any], swept: Container[str] = ()) -> str:
    """Return the label of a player; if its class is not known here, its name and settings.

    Parameters that were `swept` are in it with their defaults too.

    >>> learner_label({"name": "fixed-share"}), learner_label({"name": "fixed-share"}, ["switch_rate"])
    ('fixed-share', 'fixed-share(switch_rate=0.01)')
    """
    try:
        player = Player.from_spec(spec)
    except DriftwiseError:
        return short_text(spec)
    is_swept = player.tuned is None and any(name in swept for name in player.settings)
    return short_text(player.spec, learners, swept) if is_swept else player.label


def short_text(spec: Any, registry: Registry[Any] | None = None, swept: Container[str] = ()) -> str:
    """Return the name in a spec with its values in brackets, without lists of numbers and defaults of the registry.

    Parameters that were `swept` are there with their defaults too.
    """
    if not isinstance(spec, Mapping) or not isinstance(spec.get("name"), str):
        return str(spec)
    defaults = _defaults(spec["name"], registry)
    order = [*dict.fromkeys([*(key for key in defaults if key in spec), *spec])]  # as in the class, not as in the file
    values = [
        f"{key}={short_text(spec[key], registry, swept)}"
        for key in order
        if key != "name"
        and not isinstance(spec[key], list | tuple)
        and (key in swept or spec[key] != defaults.get(key, _NO_DEFAULT))
    ]
    return f"{spec['name']}({', '.join(values)})" if values else spec["name"]


def _defaults(name: str, registry: Registry[Any] | None) -> dict[str, Any]:
    """Return the parameters of a class with their defaults; none if the class is not known here."""
    kind = None if registry is None else registry.find(name)
    return {} if kind is None else {field.name: field.default for field in dataclasses.fields(kind) if field.init}


def unused_label(label: str, used: Container[str]) -> str:
    """Return a label, with a number after it if it is used already: labels leave out lists of numbers.

    >>> unused_label("hedge", ["hedge", "hedge #2"])
    'hedge #3'
    """
    labels = itertools.chain([label], (f"{label} #{n}" for n in itertools.count(2)))
    return next(label for label in labels if label not in used)


class CellLabels(NamedTuple):
    """A label for each cell."""

    names: tuple[str, ...]
    codes: Actions  # for each cell, the index of its label in `names`

    @property
    def texts(self) -> npt.NDArray[np.object_]:
        """The label of each cell."""
        return np.array([*self.names, ""], np.object_).take(self.codes)

    def by_text(self, table: CellTable, column: str) -> dict[str, str]:
        """Return the labels by spec, as text."""
        places = dict(zip(table.cells[column].tolist(), self.codes.tolist(), strict=True))
        return {table.texts[column][code]: self.names[place] for code, place in sorted(places.items())}


def environment_labels(table: CellTable, user_labels: Mapping[str, str]) -> CellLabels:
    """Return the labels of the cells' environments; `user_labels` are labels by spec, as text.

    The environments that an adversary builds against each of several learners have one label.
    """
    codes, learners = table.cells["environment"].astype(np.int64), table.texts["learner"]
    n_learners = max(1, len(learners))
    players: dict[int, set[str]] = {}
    for pair in np.unique(codes * n_learners + table.cells["learner"]).tolist():
        players.setdefault(pair // n_learners, set()).add(learners[pair % n_learners])

    def identity(code: int, spec: Mapping[str, Any]) -> Hashable:
        against = spec.get("against")
        own = isinstance(against, Mapping) and players[code] == {spec_text(against)}
        return spec_text({key: value for key, value in spec.items() if key != "against" or not own})

    return _labels(table, "environment", user_labels, environment_label, identity)


def learner_labels(table: CellTable, user_labels: Mapping[str, str]) -> CellLabels:
    """Return the labels of the cells' learners; `user_labels` are labels by spec, as text."""
    return _labels(table, "learner", user_labels, learner_label, lambda code, _: code)


def _labels(
    table: CellTable,
    column: str,
    user_labels: Mapping[str, str],
    make: Callable[[Mapping[str, Any]], str],
    identity: Callable[[int, Mapping[str, Any]], Hashable],
) -> CellLabels:
    texts = table.texts[column]
    used = sorted(np.unique(table.cells[column]).tolist(), key=lambda code: texts[code])
    wanted: dict[int, tuple[str, Hashable]] = {}  # the label and the identity, by code
    for code in used:
        spec = json.loads(texts[code])
        wanted[code] = (user_labels.get(texts[code]) or make(spec), identity(code, spec))
    taken = {label for label, _ in wanted.values()}
    labels: dict[tuple[str, Hashable], str] = {}
    first: set[str] = set()
    for label, which in dict.fromkeys(wanted.values()):  # users may repeat labels
        labels[label, which] = unused_label(label, taken) if label in first else label
        first.add(label)
        taken.add(labels[label, which])
    places = {pair: place for place, pair in enumerate(labels)}
    by_code = np.zeros(len(texts) + 1, np.int64)
    by_code[used] = [places[wanted[code]] for code in used]
    return CellLabels(tuple(labels.values()), by_code[table.cells[column]])
