r"""A fresh corner of the cube in every round: $\mu_{t,k} \in \{0, 1\}$ by independent fair coins.

The mean never rests: it changes in all but a share $2^{-K}$ of the rounds, each time by 1, so $\Gamma$ and $V$
are of the order of $T$. Without noise this is the adversarial world with $\Lambda = 0$.

=======  ==================  ===========================
symbol   name in the code    meaning
=======  ==================  ===========================
$K$      `n_actions`         actions, a coin for each
=======  ==================  ===========================
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from driftwise.core.types import Matrix
from driftwise.core.validation import require_count
from driftwise.environments.paths.base import MeanStream, Path, path

__all__ = ["CoinFlips"]


class _Tossing(MeanStream):
    def __init__(self, generator: np.random.Generator) -> None:
        self._generator = generator

    def fill(self, means: Matrix) -> None:
        self._generator.random(out=means)
        np.less(means, 0.5, out=means)


@path("coin-flips")
@dataclass(frozen=True)
class CoinFlips(Path):
    """Means 0 or 1, tossed anew in every round.

    >>> from driftwise.environments import Deterministic, Environment
    >>> measures = Environment(CoinFlips(n_actions=10), Deterministic()).measures(n_rounds=1000)
    >>> measures.segments > 990, measures.drift > 990, measures.variance
    (True, True, 0.0)
    """

    n_actions: int

    def __post_init__(self) -> None:
        require_count(self, "n_actions")

    def start(self, n_rounds: int, generator: np.random.Generator) -> MeanStream:  # noqa: ARG002
        """Return the means of a run, tossed as they are needed."""
        return _Tossing(generator)
