"""Executors play batches somewhere else than in the calling thread, and return their records."""

from __future__ import annotations

import queue
import threading
from concurrent.futures import ThreadPoolExecutor
from typing import NamedTuple, Protocol

from driftwise.results.cells import CellRecord
from driftwise.results.machine import Machine, this_machine
from driftwise.sweeps.batches import Batch, play_batch

__all__ = ["Executor", "Finished", "ThreadExecutor"]

_MOST_THREADS = 256  # more would not be faster, and the system may refuse them


class Finished(NamedTuple):
    """Records of cells, and the machine on which they were played."""

    records: list[CellRecord]
    machine: Machine


class Executor(Protocol):
    """What plays batches."""

    by_learner: bool  # whether a batch should hold the learners of one class only
    note: str  # what it waits for, "" for nothing
    n_threads: int  # that play at a time

    def free_slots(self) -> int:
        """Return how many more batches should be submitted now."""

    def submit(self, batch: Batch) -> None:
        """Start to play a batch."""

    def wait(self, seconds: float) -> list[Finished]:
        """Return what was finished since the last call; wait at most some seconds if nothing was."""

    def close(self) -> None:
        """Give up what is being played."""


class ThreadExecutor:
    """Plays batches in threads of this process; kernels release the interpreter's lock."""

    by_learner = False  # a batch draws the losses once for all its learners
    note = ""

    def __init__(self, n_threads: int) -> None:
        self.n_threads, self._n_playing = min(n_threads, _MOST_THREADS), 0
        self._pool = ThreadPoolExecutor(self.n_threads, "driftwise-sweep")
        self._finished: queue.SimpleQueue[Finished | BaseException | None] = queue.SimpleQueue()
        self._error: BaseException | None = None
        self._stop = threading.Event()

    def free_slots(self) -> int:
        """One for each thread, and one batch that waits."""
        return self.n_threads + 1 - self._n_playing

    def submit(self, batch: Batch) -> None:
        """Start to play a batch when a thread is free."""
        self._n_playing += 1
        self._pool.submit(self._play, batch)

    def _play(self, batch: Batch) -> None:
        try:
            for records in play_batch(batch, self._stop):
                self._finished.put(Finished(records, this_machine()))
            self._finished.put(None)
        except BaseException as error:  # raised by `wait` in the thread that runs the sweep
            self._finished.put(error)

    def wait(self, seconds: float) -> list[Finished]:
        """Return what was finished since the last call; raise what a thread raised, when all before it was returned."""
        found: list[Finished] = []
        try:
            item = self._finished.get(timeout=0.0 if self._error else seconds)
            while True:
                if isinstance(item, BaseException):
                    self._error = self._error or item
                elif item is None:  # the end of a batch
                    self._n_playing -= 1
                else:
                    found.append(item)
                item = self._finished.get_nowait()
        except queue.Empty:
            if self._error is not None and not found:
                raise self._error from None
            return found

    def close(self) -> None:
        """Stop at the next block of rounds, without waiting for it."""
        self._stop.set()
        self._pool.shutdown(wait=False, cancel_futures=True)
