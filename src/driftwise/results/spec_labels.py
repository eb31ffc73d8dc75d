"""Short labels of environments and learners, made from their specs."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

from driftwise.core.errors import DriftwiseError
from driftwise.learners import Player

__all__ = ["environment_label", "learner_label", "short_text"]


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
        return f"{short_text(spec['adversary'])}{against}"
    parts = [spec[part] for part in ("path", "noise") if part in spec]
    return ", ".join(map(short_text, parts)) if parts else short_text(spec)


def learner_label(spec: Mapping[str, Any]) -> str:
    """Return the label of a player; if its class is not known here, its name and settings."""
    try:
        return Player.from_spec(spec).label
    except DriftwiseError:
        return short_text(spec)


def short_text(spec: Any) -> str:
    """Return the name in a spec with its values in brackets; lists of numbers are left out."""
    if not isinstance(spec, Mapping):
        return str(spec)
    values = [
        f"{key}={short_text(value)}"
        for key, value in spec.items()
        if key != "name" and not isinstance(value, list | tuple)
    ]
    name = str(spec.get("name", json.dumps(spec)))
    return f"{name}({', '.join(values)})" if values and "name" in spec else name
