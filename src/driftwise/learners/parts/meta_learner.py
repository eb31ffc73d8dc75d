"""The base class of learners made of other learners."""

from __future__ import annotations

from driftwise.learners.contract import ExpertLearner, Learner
from driftwise.learners.contract.type_variables import M, R

__all__ = ["BASE_RULE", "MetaLearner", "can_be_base"]

BASE_RULE = "a full-feedback learner of fixed memory, not one made of learners"


class MetaLearner(ExpertLearner[M, R]):
    """A full-feedback learner made of other learners."""


def can_be_base(kind: type) -> bool:
    """Return whether learners of a class can be a part of another: whether they obey `BASE_RULE`."""
    fixed = issubclass(kind, ExpertLearner) and kind.make_room is Learner.make_room
    return fixed and not issubclass(kind, MetaLearner)
