"""The base class of learners made of other learners, whose rounds are played by more than one kernel."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from driftwise.core.errors import outside
from driftwise.core.types import Matrix, Vector
from driftwise.core.validation import as_losses, first_bad_loss
from driftwise.learners.contract import Beliefs, ExpertLearner, State
from driftwise.learners.contract.type_variables import M, R
from driftwise.learners.parts.effective_memory import shares_by_label

__all__ = ["MetaLearner"]


class MetaLearner(ExpertLearner[M, R]):
    """A full-feedback learner whose `update` plays a block of one round."""

    @abstractmethod
    def play_block(self, state: State[M, R], losses: Matrix) -> Matrix:
        """Play a block of rounds; its losses have been checked."""

    def base_shares(self, state: State[M, R]) -> tuple[Sequence[str], Sequence[float] | Vector]:
        """Return the labels of the bases and their shares in the next play; none by default."""
        return (), ()

    def beliefs(self, state: State[M, R]) -> Beliefs:
        """Return the shares of the bases in the next play."""
        return replace(super().beliefs(state), bases=shares_by_label(*self.base_shares(state)))

    def update(self, state: State[M, R], losses: Any) -> None:
        """Update the state with the losses of the round."""
        self._claim(state)
        losses = as_losses(self, losses, (state.n_actions,))
        bad = first_bad_loss(losses)
        if bad >= 0:
            raise outside(self, "losses", losses[bad], f"at action {bad}")
        self.play_block(state, losses.reshape(1, -1))
