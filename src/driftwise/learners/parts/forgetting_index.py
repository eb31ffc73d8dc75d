"""Base classes of index learners with a discount or a window, tuned as discounted and sliding-window UCB are."""

from __future__ import annotations

from typing import Self

from driftwise.core.corners import NoLearning
from driftwise.core.measures import Measures
from driftwise.core.validation import require_count, require_number
from driftwise.learners.contract.type_variables import R
from driftwise.learners.parts.effective_memory import faded_rounds
from driftwise.learners.parts.index_learner import IndexLearner
from driftwise.theory import tuning, vacuous

__all__ = ["WINDOWS", "DiscountedLearner", "WindowedLearner"]


# Values of `window` at which all checks run too.
WINDOWS = (
    NoLearning(1, "a window cannot hold two actions"),
    NoLearning(2, "a window cannot hold three actions"),
    10_000,
    None,
)


class DiscountedLearner(IndexLearner[R]):
    """An index learner that discounts the past."""

    discount: float

    def __post_init__(self) -> None:
        require_number(self, "discount", lambda x: 0 < x <= 1, "in (0, 1]")

    @classmethod
    def tuned(cls, measures: Measures) -> Self:
        """Set the discount by the number of changes, as for discounted UCB; without changes it is 1."""
        return cls(discount=tuning.discount(measures))  # type: ignore[call-arg]

    def tuning_caveat(self, measures: Measures) -> str:
        """Return a reason where its memory is as long as a segment."""
        return vacuous.discount(measures, self.discount)

    def counted_rounds(self, rounds: int) -> float:
        """Return the sum of the discounted weights of the rounds."""
        return faded_rounds(1.0 - self.discount, rounds)


class WindowedLearner(IndexLearner[R]):
    """An index learner that counts only the latest rounds."""

    window: int | None

    def __post_init__(self) -> None:
        if self.window is not None:
            require_count(self, "window")

    @classmethod
    def tuned(cls, measures: Measures) -> Self:
        """Set the window by the number of changes, as for sliding-window UCB."""
        return cls(window=tuning.window(measures))  # type: ignore[call-arg]

    def tuning_caveat(self, measures: Measures) -> str:
        """Return a reason where its window is as long as a segment, or holds no action twice."""
        return vacuous.window(measures, self.window)

    def counted_rounds(self, rounds: int) -> float:
        """Return the number of rounds in the window."""
        return float(min(rounds, self.window or rounds))

    @property
    def ring(self) -> int:
        """The number of rounds in the window."""
        return self.window or 0
