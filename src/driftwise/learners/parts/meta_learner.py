"""The base class of learners made of other learners."""

from __future__ import annotations

from dataclasses import replace

from driftwise.learners.contract import Beliefs, ExpertLearner, Learner, State
from driftwise.learners.contract.type_variables import M, R
from driftwise.learners.parts.effective_memory import shares_by_label, short_label

__all__ = ["BASE_RULE", "MetaLearner", "can_be_base"]

BASE_RULE = "a full-feedback learner of fixed memory, not one made of learners"


class MetaLearner(ExpertLearner[M, R]):
    """A full-feedback learner made of other learners."""

    def base_shares(self, state: State[M, R]) -> dict[str, float]:
        """Return the weight of each base in the next round, by label; none by default."""
        return {}

    def beliefs(self, state: State[M, R]) -> Beliefs:
        """Return the weights of the bases in the next round."""
        found, shares = super().beliefs(state), self.base_shares(state)
        return replace(found, bases=shares_by_label(map(short_label, shares), shares.values()))


def can_be_base(kind: type) -> bool:
    """Return whether learners of a class can be a part of another: whether they obey `BASE_RULE`."""
    fixed = issubclass(kind, ExpertLearner) and kind.make_room is Learner.make_room
    return fixed and not issubclass(kind, MetaLearner)
