"""What regret is measured against, realised quantities of losses, and statistics of regrets."""

from driftwise.regret.comparators import (
    Comparator as Comparator,
    Dynamic as Dynamic,
    Interval as Interval,
    Static as Static,
    Switched as Switched,
)
