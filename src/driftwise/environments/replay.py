"""Recorded losses as an environment."""

from __future__ import annotations

import math
import os
from dataclasses import dataclass, field
from typing import Any, ClassVar, NoReturn

import numpy as np

from driftwise.core.errors import InvalidInput, rejection
from driftwise.core.types import Matrix
from driftwise.core.validation import LOSS_KINDS, count, first_bad_loss
from driftwise.environments.environment import Block, LossSource, Seed, Stream
from driftwise.environments.npy_file import NpyFile
from driftwise.environments.readers import read_losses

__all__ = ["Replay"]

_ROWS = 4096  # checked at a time, so that a file is never completely in memory

Losses = np.ndarray[Any, Any] | NpyFile


def _block(losses: Losses, first: int, n: int) -> Matrix:
    if isinstance(losses, NpyFile):
        return losses.rows(first, n)
    return np.array(losses[first : first + n], dtype=np.float64, order="C")


class _ReplayStream(Stream):
    def __init__(self, n_rounds: int, losses: Losses) -> None:
        super().__init__(n_rounds, losses.shape[1])
        self._losses = losses

    def _next(self, n: int) -> Block:
        return Block(_block(self._losses, self._drawn, n), None, None)


@dataclass(frozen=True, eq=False)
class Replay(LossSource):
    """Recorded losses, played from an array or a file. There are no means, so there are no measures.

    Parameters
    ----------
    losses : array_like of shape (n_rounds, n_actions)
        Losses in [0, 1], at least one round and one action; the array is copied. A memory-mapped array (`np.memmap`) is
        not copied: if its file is truncated, the system ends the process. `Replay.from_file` reads block by block
        instead.
    names : sequence of str, default None
        Names of the actions, one per action.
    origin : str, default "Replay"
        Source of the losses, such as the name of the file; shown in messages and in `to_spec`.

    Notes
    -----
    A run over $T$ rounds plays the first $T$ rows in order. The seed has no effect.

    Examples
    --------
    >>> replay = Replay([[0.1, 0.9], [0.2, 0.8], [0.3, 0.7]])
    >>> replay.n_rounds, replay.start(n_rounds=2).draw(2).losses[:, 0]
    (3, array([0.1, 0.2]))
    """

    losses: Any = field(repr=False)
    names: tuple[str, ...] | None = None
    origin: str = "Replay"
    has_means: ClassVar[bool] = False

    def __post_init__(self) -> None:
        if isinstance(self.losses, str | os.PathLike):
            raise InvalidInput("Replay: `losses` must be an array, got the name of a file. Use `Replay.from_file`.")
        try:
            losses: Any = self.losses if isinstance(self.losses, NpyFile) else np.asanyarray(self.losses)
        except ValueError:
            hint = "Are its rows of one length?"
            raise rejection(self.origin, "losses", "an array of numbers", self.losses, hint) from None
        if losses.ndim != 2 or losses.size == 0:
            rule = "have shape (n_rounds, n_actions), at least one of each"
            raise InvalidInput(f"{self.origin}: `losses` must {rule}, got {losses.shape}.")
        if losses.dtype.kind not in LOSS_KINDS:
            raise rejection(self.origin, "losses", "an array of real numbers", losses.dtype.name)
        if isinstance(losses, np.ma.MaskedArray):  # masked values are missing
            losses = np.ma.filled(losses.astype(np.float64), np.nan)
        if not isinstance(losses, np.memmap | NpyFile):
            losses = np.array(losses, dtype=np.float64, order="C")
        object.__setattr__(self, "losses", losses)
        if self.names is not None:
            names = () if isinstance(self.names, str) else tuple(self.names)
            if len(names) != self.n_actions or not all(isinstance(name, str) for name in names):
                raise rejection(self.origin, "names", f"{self.n_actions} words, one per action", self.names)
            object.__setattr__(self, "names", names)
        self._check()

    @classmethod
    def from_file(cls, file: str | os.PathLike[str], header: bool | None = None) -> Replay:
        """Read losses from a .csv, .npy or .parquet file; a .npy file is read block by block.

        `header` states whether the first row of a .csv file holds names. By default a row of words does and a row of
        numbers does not; a row that may be either is rejected.
        """
        losses, names = read_losses(file, header)
        return cls(losses, names, origin=os.fspath(file))

    @property
    def n_actions(self) -> int:
        """The number of actions."""
        return int(self.losses.shape[1])

    @property
    def n_rounds(self) -> int:
        """The number of rounds recorded."""
        return len(self.losses)

    def start(self, n_rounds: int, seed: Seed = 0) -> Stream:  # noqa: ARG002
        """Return a run over the first `n_rounds` of the recording; `seed` has no effect."""
        n_rounds = count(self, "n_rounds", n_rounds)
        if n_rounds > self.n_rounds:
            raise rejection(self, "n_rounds", f"<= {self.n_rounds}, the rounds recorded", n_rounds)
        return _ReplayStream(n_rounds, self.losses)

    def measures(self, n_rounds: int, seed: Seed = 0) -> NoReturn:  # noqa: ARG002
        """Raise `InvalidInput`: measures are computed from means, and a recording has none."""
        raise InvalidInput(
            "Replay: a recording has losses but no means, so its measures are unknown."
            " If you know or guess them, write `Measures(...)`."
        )

    def to_spec(self) -> dict[str, Any]:
        """Return the origin of the losses."""
        return {"replay": self.origin}

    def _check(self) -> None:
        for first in range(0, self.n_rounds, _ROWS):
            block = _block(self.losses, first, _ROWS)
            bad = first_bad_loss(block.reshape(-1))
            if bad >= 0:
                t, k = divmod(bad, self.n_actions)
                name = f" ({self.names[k]!r})" if self.names else ""
                hint = "Is a value missing?" if math.isnan(block[t, k]) else "Rescale them by their known range."
                raise InvalidInput(
                    f"{self.origin}: losses must be in [0, 1], got {block[t, k]} at round {first + t},"
                    f" action {k}{name}. {hint}"
                )
