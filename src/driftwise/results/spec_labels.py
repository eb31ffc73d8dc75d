"""Short labels of environments and learners, made from their specs."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping
from typing import Any

from driftwise.adversaries import adversaries
from driftwise.core.errors import DriftwiseError
from driftwise.environments.noises.noise import noises
from driftwise.environments.paths.path import paths
from driftwise.learners import Player
from driftwise.registry import Registry

__all__ = ["environment_label", "learner_label", "short_text"]

_PARTS: dict[str, Registry[Any]] = {"path": paths, "noise": noises}
_NO_DEFAULT = object()


def environment_label(spec: Mapping[str, Any]) -> str:
    """Return a short description of an environment.

    >>> noise = {"name": "bernoulli"}
    >>> environment_label({"path": {"name": "switching", "n_segments": 8, "n_actions": 10}, "noise": noise})
    'switching(n_segments=8, n_actions=10), bernoulli'
    """
    if "replay" in spec:
        return str(spec["replay"])
    if "adversary" in spec:
        against = f" against {learner_label(spec['against'])}" if "against" in spec else ""
        return f"{short_text(spec['adversary'], adversaries)}{against}"
    parts = [short_text(spec[part], registry) for part, registry in _PARTS.items() if part in spec]
    return ", ".join(parts) if parts else short_text(spec)


def learner_label(spec: Mapping[str, Any]) -> str:
    """Return the label of a player; if its class is not known here, its name and settings."""
    try:
        return Player.from_spec(spec).label
    except DriftwiseError:
        return short_text(spec)


def short_text(spec: Any, registry: Registry[Any] | None = None) -> str:
    """Return the name in a spec with its values in brackets, without lists of numbers and defaults of the registry."""
    if not isinstance(spec, Mapping) or not isinstance(spec.get("name"), str):
        return str(spec)
    defaults = _defaults(spec["name"], registry)
    order = [*dict.fromkeys([*(key for key in defaults if key in spec), *spec])]  # as in the class, not as in the file
    values = [
        f"{key}={short_text(spec[key], registry)}"
        for key in order
        if key != "name" and not isinstance(spec[key], list | tuple) and spec[key] != defaults.get(key, _NO_DEFAULT)
    ]
    return f"{spec['name']}({', '.join(values)})" if values else spec["name"]


def _defaults(name: str, registry: Registry[Any] | None) -> dict[str, Any]:
    """Return the parameters of a class with their defaults; none if the class is not known here."""
    kind = None if registry is None else registry.find(name)
    return {} if kind is None else {field.name: field.default for field in dataclasses.fields(kind) if field.init}
