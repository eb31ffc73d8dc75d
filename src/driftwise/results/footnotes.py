"""What is said of a tuned learner whose rule says nothing about its world."""

from __future__ import annotations

import textwrap
from collections.abc import Mapping
from typing import NamedTuple

from driftwise.core.tuning_caveats import MARK, SAYS_NOTHING

__all__ = ["Caveat", "footnote"]

_WIDTH = 80  # of a terminal


class Caveat(NamedTuple):
    """Why a rule says nothing, and in how many runs: it is asked anew in each."""

    n_runs: int
    reason: str  # of the first of these runs

    def told(self, of: int) -> str:
        """Return the reason, and in how many of all runs.

        >>> Caveat(3, "99 changes in 100 rounds, its rule asks to explore in 100 % of them").told(10)
        '99 changes in 100 rounds, its rule asks to explore in 100 % of them (in 3 of 10 runs)'
        """
        if of == 1:
            return self.reason
        return f"{self.reason} (in {'all' if self.n_runs == of else f'{self.n_runs} of'} {of} runs)"


def footnote(told: Mapping[str, str]) -> str:
    """Return the lines under a table that say why learners are marked, nothing where none is; reasons are said once.

    >>> print(footnote({"exp3-s (tuned)": "99 changes in 100 rounds"}))
    * tuning says nothing here:
      exp3-s (tuned): 99 changes in 100 rounds
    """
    labels: dict[str, list[str]] = {}
    for label, reason in told.items():
        labels.setdefault(reason, []).append(label)
    lines = [f"{MARK} {SAYS_NOTHING}:"] if told else []
    for reason, alike in labels.items():
        text = f"{', '.join(alike)}: {reason}"
        lines += textwrap.wrap(text, _WIDTH, initial_indent="  ", subsequent_indent="    ", break_on_hyphens=False)
    return "\n".join(lines)
