"""What the registries hold, as plain records for `list` and `show`."""

from __future__ import annotations

import dataclasses
import inspect
from typing import Any

from driftwise.adversaries import Adversary, adversaries
from driftwise.core.docstrings import symbols
from driftwise.core.errors import UnknownName
from driftwise.detectors import detectors
from driftwise.environments.noises import noises
from driftwise.environments.paths import paths
from driftwise.learners import Learner, learners
from driftwise.registry import Registry

__all__ = ["describe", "find", "registries"]


def registries() -> dict[str, Registry[Any]]:
    """Return every registry by the plural of its kind."""
    return {
        "learners": learners,
        "detectors": detectors,
        "paths": paths,
        "noises": noises,
        "adversaries": adversaries,
    }


def find(name: str) -> type[Any]:
    """Return the class of that name, whatever its kind."""
    for registry in registries().values():
        if name in set(registry):
            return registry.get(name)
    raise UnknownName(
        "learner, detector, path, noise or adversary", name, [n for r in registries().values() for n in r]
    )


def describe(member: type[Any]) -> dict[str, Any]:
    """Return what is known of a class."""
    record: dict[str, Any] = {
        "name": member.name,
        "title": inspect.cleandoc(member.__doc__ or "").splitlines()[0],
        "class": member.__name__,
        "module": ".".join(member.__module__.split(".")[:2]),
        "parameters": _parameters(member),
    }
    if issubclass(member, Learner):
        record |= {**(dataclasses.asdict(member.card) if member.card else {}), "feedback": member.feedback}
    if issubclass(member, Adversary):
        record["feedback"] = " or ".join(member.feedbacks)
    return record


def _parameters(member: type[Any]) -> list[dict[str, str]]:
    meanings = {symbol.name: symbol.meaning for symbol in symbols(member)}
    return [
        {
            "name": field.name,
            "default": "(required)" if field.default is dataclasses.MISSING else repr(field.default),
            "meaning": meanings.get(field.name, ""),
        }
        for field in dataclasses.fields(member)
        if field.init
    ]
