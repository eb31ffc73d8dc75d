"""Footnotes about learners whose tuning rule is meaningless in their environment."""

from __future__ import annotations

import textwrap
from collections.abc import Mapping
from typing import NamedTuple

from driftwise.core.tuning_caveats import MARK, SAYS_NOTHING

__all__ = ["Caveat", "footnote"]

_WIDTH = 80  # of a terminal


class Caveat(NamedTuple):
    """Why a tuning rule is meaningless in an environment, and in how many runs; it is applied in each run."""

    n_runs: int
    reason: str  # in the first of these runs

    def text(self, of: int) -> str:
        """Return the reason, and in how many of all `of` runs it applies.

        >>> Caveat(3, "99 changes in 100 rounds, its rule asks to explore in 100 % of them").text(10)
        '99 changes in 100 rounds, its rule asks to explore in 100 % of them (in 3 of 10 runs)'
        """
        if of == 1:
            return self.reason
        return f"{self.reason} (in {'all' if self.n_runs == of else f'{self.n_runs} of'} {of} runs)"


def footnote(reasons: Mapping[str, str]) -> str:
    """Return the lines below a table that give the reason of each mark, by label; learners share a line with a reason.

    >>> print(footnote({"exp3-s (tuned)": "99 changes in 100 rounds"}))
    * tuning says nothing here:
      exp3-s (tuned): 99 changes in 100 rounds
    """
    labels: dict[str, list[str]] = {}
    for label, reason in reasons.items():
        labels.setdefault(reason, []).append(label)
    lines = [f"{MARK} {SAYS_NOTHING}:"] if reasons else []
    for reason, sharing in labels.items():
        text = f"{', '.join(sharing)}: {reason}"
        lines += textwrap.wrap(text, _WIDTH, initial_indent="  ", subsequent_indent="    ", break_on_hyphens=False)
    return "\n".join(lines)
