"""A path whose means are redrawn from {0, 1} in every round."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from driftwise.core.types import Matrix
from driftwise.core.validation import require_count
from driftwise.environments.paths.path import MeanStream, Path, path

__all__ = ["CoinFlips"]


class _CoinFlipStream(MeanStream):
    def __init__(self, generator: np.random.Generator) -> None:
        self._generator = generator

    def fill(self, means: Matrix) -> None:
        self._generator.random(out=means)
        np.less(means, 0.5, out=means)


@path("coin-flips")
@dataclass(frozen=True)
class CoinFlips(Path):
    r"""Path with means 0 or 1, drawn by independent fair coins in every round.

    Without noise this is the adversarial extreme: $\Lambda = 0$, while $\Gamma$ and $V$ are of the order of $T$.

    Parameters
    ----------
    n_actions : int
        Number of actions ($K$), at least 1.

    Notes
    -----
    $$ P(\mu_{t,k} = 1) = P(\mu_{t,k} = 0) = 1/2, \quad \text{independently for all } t \text{ and } k . $$

    The means change in all but a share $2^{-K}$ of the rounds, each time by 1 in the maximum norm.

    Examples
    --------
    >>> from driftwise.environments import Deterministic, Environment
    >>> measures = Environment(CoinFlips(n_actions=10), Deterministic()).measures(n_rounds=1000)
    >>> measures.segments > 990, measures.drift > 990, measures.variance
    (True, True, 0.0)
    """

    n_actions: int

    def __post_init__(self) -> None:
        require_count(self, "n_actions")

    def start(self, n_rounds: int, generator: np.random.Generator) -> MeanStream:  # noqa: ARG002
        """Return the means of a run, drawn as they are needed."""
        return _CoinFlipStream(generator)
