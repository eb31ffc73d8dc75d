"""The members of the registries as plain records, for `list` and `show`."""

from __future__ import annotations

from typing import Any

from driftwise.adversaries import Adversary, adversaries
from driftwise.core.docstrings import FACTS, described
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


def describe(member: Any) -> dict[str, Any]:
    """Return what the docstring of a class says, and where the class is."""
    about = described(member)
    record: dict[str, Any] = {
        "name": member.name,
        "summary": about.summary,
        "class": member.__name__,
        "module": ".".join(member.__module__.split(".")[:2]),
        "parameters": [
            {"name": each.name, "type": each.kind, "default": each.default or "(required)", "meaning": each.meaning}
            for each in about.parameters
        ],
    }
    if issubclass(member, Learner):
        record["feedback"] = member.feedback
    if issubclass(member, Adversary):
        record["feedback"] = " or ".join(member.feedbacks)
    record |= {name.lower().replace(" ", "_"): about.facts[name] for name in FACTS if name in about.facts}
    return record | {"notes": about.notes, "references": list(about.references)}
