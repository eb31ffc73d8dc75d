"""The start of one run that is recorded in stretches of rounds: what `record` and `preview` have in common."""

from __future__ import annotations

from typing import NamedTuple

from driftwise.core.errors import InvalidInput
from driftwise.core.machine_memory import check_memory
from driftwise.core.measures import Measures
from driftwise.core.validation import check_seed, count
from driftwise.environments import LossSource, Replay, Stream

__all__ = ["SingleRun", "start_single_run"]


class SingleRun(NamedTuple):
    """A run before its first round, with its checked arguments."""

    n_rounds: int
    points: int  # the most stretches of equal length, at most the number of rounds
    seed: int
    measures: Measures | None  # None if the means are unknown
    stream: Stream


def start_single_run(owner: str, source: LossSource, n_rounds: int | None, points: int, seed: int) -> SingleRun:
    """Check the arguments of the function `owner` and start a run of an environment."""
    if not isinstance(source, LossSource):
        raise InvalidInput(f"{owner}: `source` must be an environment, got {type(source).__name__}.")
    if n_rounds is None:
        if not isinstance(source, Replay):
            raise InvalidInput(f"{owner}: `n_rounds` must be given, unless recorded losses are replayed.")
        n_rounds = source.n_rounds
    n_rounds, points = count(owner, "n_rounds", n_rounds), count(owner, "points", points)
    seed, points = check_seed(owner, seed), min(points, n_rounds)
    check_memory(owner, "points", points, 16 * points * source.n_actions)
    measures = source.measures(n_rounds, seed) if source.has_means else None
    return SingleRun(n_rounds, points, seed, measures, source.start(n_rounds, seed))
