"""The label in some results of a learner, or of the rule that tuned it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from driftwise.core.errors import InvalidInput, UnknownName, shown
from driftwise.core.spec_text import spec_text
from driftwise.learners import AnyPlayer, Player

__all__ = ["find_label"]


def find_label(learner: str | AnyPlayer, labels: Sequence[str], specs: Sequence[Mapping[str, Any]]) -> str:
    """Return the label of a learner in some results: the given one, or the one with the spec of the player."""
    if isinstance(learner, str):
        if learner not in labels:
            raise UnknownName("learner", learner, labels, "in these results")
        return learner
    try:
        player = Player.of(learner)
    except InvalidInput:
        raise InvalidInput(
            f"Results: `learner` must be a label, or a learner such as Hedge() or Hedge.tuned, got {shown(learner)}."
        ) from None
    found = [label for label, spec in zip(labels, specs, strict=True) if spec_text(spec) == player.text]
    if not found:
        raise UnknownName("learner", player.label, labels, "in these results")
    if len(found) > 1:
        as_what = " and ".join(f"'{one}'" for one in found)
        raise InvalidInput(f"Results: `learner` must be one label, but '{player.label}' is {as_what}.")
    return found[0]
