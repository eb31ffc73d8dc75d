"""Labels of learners: the default one, and the label in some results of a learner or of the rule that tuned it."""

from __future__ import annotations

import dataclasses
import functools
import json
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from driftwise.core.errors import InvalidInput, UnknownName, shown
from driftwise.core.measures import Measures
from driftwise.learners import Learner
from driftwise.registry import to_spec

__all__ = ["Player", "default_label", "find_label"]

#: a learner, or a rule such as `OptimisticGD.tuned` that makes one from the measures of a run
Player = Learner | Callable[[Measures], Learner]


def default_label(player: Any) -> str | None:
    """Return the label of a learner or of a tuning rule, None for anything else, such as a class or a name.

    >>> from driftwise.learners import FixedShare, Hedge
    >>> default_label(Hedge()), default_label(Hedge(learning_rate=0.25)), default_label(FixedShare.tuned)
    ('hedge', 'hedge(learning_rate=0.25)', 'fixed-share (tuned)')
    """
    if isinstance(player, Learner):
        changed = [
            f"{f.name}={getattr(player, f.name)}"
            for f in dataclasses.fields(player)  # type: ignore[arg-type]
            if getattr(player, f.name) != f.default
        ]
        return f"{player.name}({', '.join(changed)})" if changed else player.name
    if owner := _tuned_class(player):
        settings = player.keywords if isinstance(player, functools.partial) else {}
        return f"{owner.name} ({', '.join(['tuned', *(f'{key}={value}' for key, value in settings.items())])})"
    if not callable(player) or (isinstance(player, type) and issubclass(player, Learner)):
        return None
    return str(getattr(player, "__name__", "tuned"))


def find_label(learner: str | Player, labels: Sequence[str], specs: Sequence[Mapping[str, Any]]) -> str:
    """Return the label of a learner in some results: itself, the one with its spec, or the one of its rule."""
    if isinstance(learner, str):
        if learner not in labels:
            raise UnknownName("learner", learner, labels, "in these results")
        return learner
    label = default_label(learner)
    if label is None:
        raise InvalidInput(
            f"Results: `learner` must be a label, or a learner such as Hedge() or Hedge.tuned, got {shown(learner)}."
        )
    pairs = list(zip(labels, specs, strict=True))
    if isinstance(learner, Learner):
        found = [one for one, spec in pairs if _text(spec) == _text(to_spec(learner))]
    else:
        found = [one for one, _ in pairs if one == label or one.startswith(f"{label} #")]  # copies are numbered
        owner = _tuned_class(learner)
        if not found and owner:  # under a label of the caller's choice
            found = [one for one, spec in pairs if spec.get("tuned") and spec.get("name") == owner.name]
    if not found:
        raise UnknownName("learner", label, labels, "in these results")
    if len(found) > 1:
        names = ", ".join(f"'{one}'" for one in found)
        raise InvalidInput(f"Results: `learner` must be one label, but '{label}' is in these results as {names}.")
    return found[0]


def _tuned_class(rule: Any) -> type[Learner] | None:
    """Return the class whose `tuned` a rule is, None for any other rule."""
    method = rule.func if isinstance(rule, functools.partial) else rule
    owner = getattr(method, "__self__", None)
    return owner if isinstance(owner, type) and issubclass(owner, Learner) else None


def _text(spec: Mapping[str, Any]) -> str:
    """Write a spec as text in which tuples equal the lists that a file has in their place."""
    return json.dumps(spec, sort_keys=True, default=repr)
