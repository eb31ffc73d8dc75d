"""Executors play batches somewhere else than in the calling thread, and return their records."""

from __future__ import annotations

import queue
import threading
from collections.abc import Mapping
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from typing import Protocol

from driftwise.results.cells import CellRecord
from driftwise.results.machine import this_machine
from driftwise.sweeps.batches import Batch, play_batch

__all__ = ["Executor", "Finished", "ThreadExecutor"]


@dataclass(frozen=True)
class Finished:
    """Records of a batch, and whether these are the last of it."""

    batch: Batch
    records: list[CellRecord]
    is_last: bool
    machines: Mapping[str, Mapping[str, str]] = field(default_factory=dict)  # descriptions by id


class Executor(Protocol):
    """What plays batches."""

    by_learner: bool  # whether a batch should hold the learners of one class only
    note: str  # what it waits for, "" for nothing

    def slots(self) -> int:
        """Return how many batches should be submitted at a time."""

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
        self._n_threads = n_threads
        self._pool = ThreadPoolExecutor(n_threads, "driftwise-sweep")
        self._finished: queue.SimpleQueue[Finished | BaseException] = queue.SimpleQueue()
        self._stop = threading.Event()

    def slots(self) -> int:
        """One for each thread, and one that waits."""
        return self._n_threads + 1

    def submit(self, batch: Batch) -> None:
        """Start to play a batch when a thread is free."""
        self._pool.submit(self._play, batch)

    def _play(self, batch: Batch) -> None:
        machine = this_machine()
        try:
            for records in play_batch(batch, self._stop):
                self._finished.put(Finished(batch, records, False, {machine.id: machine.facts}))
            self._finished.put(Finished(batch, [], True))
        except BaseException as error:
            self._finished.put(error)

    def wait(self, seconds: float) -> list[Finished]:
        """Return what was finished since the last call; raise what a thread raised."""
        found: list[Finished] = []
        try:
            item = self._finished.get(timeout=seconds)
            while True:
                if isinstance(item, BaseException):
                    raise item
                found.append(item)
                item = self._finished.get_nowait()
        except queue.Empty:
            return found

    def close(self) -> None:
        """Stop at the next block of rounds, without waiting for it."""
        self._stop.set()
        self._pool.shutdown(wait=False, cancel_futures=True)
