"""Running of sweeps: cells that are missing are played and stored, whatever is interrupted in between."""

from __future__ import annotations

import contextlib
import itertools
import os
import time
from collections import deque
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any, NamedTuple

from driftwise.core.validation import count
from driftwise.learners import Player
from driftwise.results.cells import CellRecord, Machine
from driftwise.results.store import Store
from driftwise.results.sweep_results import SweepResults
from driftwise.sweeps.batches import Batch
from driftwise.sweeps.executors import DaskExecutor, Executor, ThreadExecutor
from driftwise.sweeps.messages import Finished
from driftwise.sweeps.sweep import Sweep
from driftwise.sweeps.work import BatchQueue, Costs

_STORE_EVERY = 1.0  # seconds; together with the time of a batch, a finished cell is stored within two
_MOST_UNSTORED = 20_000  # cells
_REPORT_EVERY = 0.5
_WAIT = 0.1  # for a batch
_WAIT_FOR_OTHERS = 0.5  # between two looks at what other processes have stored
_SPEED_OVER = 30.0  # seconds of the past by which the remaining time is estimated; older ones include compilation
_LEAST_PAST = 5.0


class Progress(NamedTuple):
    """How far a sweep is."""

    done: int  # cells that are stored
    total: int
    failed: int  # cells that are stored with an error
    seconds_left: float | None  # None if there is nothing yet by which to estimate it
    note: str  # what it waits for, "" for nothing


def run_sweeps(
    sweeps: Sequence[Sweep],
    folder: str | os.PathLike[str],
    *,
    n_threads: int | None = None,
    client: Any = None,
    progress: Callable[[Progress], None] | None = None,
    retry_failed: bool = False,
    costs: Costs | None = None,
) -> list[SweepResults]:
    """Play the cells of all sweeps that the folder does not have yet, and return the results of each sweep."""
    n_threads = os.cpu_count() or 1 if n_threads is None else count("Sweep", "n_threads", n_threads)
    batches = [Batch.of_all(sweep.groups()) for sweep in sweeps]
    players = {player.text: player for sweep in sweeps for player in sweep.players.values()}
    wanted = {key for some in batches for batch in some for key in batch.all_keys}
    costs = Costs() if costs is None else costs
    with Store(folder) as store:
        labels = [sweep.labels() for sweep in sweeps]
        store.label(*({spec: text for some in labels for spec, text in some[i].items()} for i in range(2)))
        if retry_failed:
            store.discard(wanted & {*store.failed})
        while True:
            if wanted <= store.keys:
                table = store.table()
                if wanted <= store.keys:  # else cells were damaged
                    break
            executor = ThreadExecutor(n_threads) if client is None else DaskExecutor(client)
            work = BatchQueue(itertools.chain(*batches), store.keys, costs, executor.by_learner)
            _Runner(store, executor, work, costs, players, wanted, progress).run()
        results = SweepResults(table, store.labels(), store.damaged)
    return [results.of_keys([key for batch in some for key in batch.all_keys]) for some in batches]


@dataclass(eq=False)
class _Runner:
    """Plays until every cell is stored, by this process or by another."""

    _store: Store
    _executor: Executor
    _work: BatchQueue
    _costs: Costs
    _players: dict[str, Player]
    _wanted: set[str]
    _progress: Callable[[Progress], None] | None

    def __post_init__(self) -> None:
        self._missing = self._wanted - self._store.keys  # as of the last report
        self._playing: set[str] = set()
        self._unstored: list[CellRecord] = []
        self._machines: dict[str, Machine] = {}
        now = time.monotonic()
        self._stored_at, self._reported_at, self._looked_at = now, -_REPORT_EVERY, now
        self._past = deque([(now, self._work.seconds_left())])  # times and the seconds that were left then

    def run(self) -> None:
        """Play until nothing is missing; after an interrupt or an error, store what is finished."""
        with contextlib.closing(self._executor):
            try:
                while self._playing or self._unstored or not self._work.is_done:
                    self._submit()
                    for finished in self._executor.wait(_WAIT):
                        self._take(finished)
                    all_finished = len(self._unstored) == len(self._playing) and self._work.is_done
                    is_due = time.monotonic() - self._stored_at >= _STORE_EVERY
                    if is_due or all_finished or len(self._unstored) >= _MOST_UNSTORED:
                        self._store_finished()
                    self._report(_REPORT_EVERY)
            finally:
                with contextlib.suppress(BaseException):  # the first error is the one to raise
                    for finished in self._executor.wait(0.0):
                        self._take(finished)
                self._store_finished()
                self._report(0.0)

    def _submit(self) -> None:
        """Submit batches until the executor has enough; leave out what another process plays."""
        if self._work.only_postponed and time.monotonic() - self._looked_at >= _WAIT_FOR_OTHERS:
            self._looked_at = time.monotonic()
            self._work.resume()
            self._store.refresh()
        while batches := self._work.next(self._store.keys, self._executor.n_threads, self._executor.free_slots()):
            keys = [key for batch in batches for key in batch.all_keys]
            granted = {*self._store.claim(keys, len(keys))}
            for batch in batches:
                self._submit_granted(batch, granted)

    def _submit_granted(self, batch: Batch, granted: set[str]) -> None:
        stored = self._store.keys
        for mine in batch.restrict(lambda key: key in granted and key not in stored):
            self._playing.update(mine.all_keys)
            self._executor.submit(mine)
        for others in batch.restrict(lambda key: key not in granted and key not in stored):
            self._work.postpone(others)
        for finished in batch.restrict(lambda key: key in stored):
            self._work.drop(finished)

    def _take(self, finished: Finished) -> None:
        self._machines[finished.machine.id] = finished.machine
        for record in finished.records:
            player = self._players[record.learner]
            self._costs.record(player, record.n_actions, record.n_rounds, record.seconds)
            self._work.finish(player, record.n_actions, record.n_rounds)
        self._unstored += finished.records

    def _store_finished(self) -> None:
        self._stored_at = time.monotonic()
        if self._unstored:
            self._store.add(self._unstored, self._machines.values())
            keys = [record.key for record in self._unstored]
            self._unstored = []
            self._playing.difference_update(keys)
            self._store.release(keys)

    def _report(self, every: float) -> None:
        now = time.monotonic()
        if now - self._reported_at < every:
            return
        self._reported_at = now
        left = self._work.seconds_left()
        self._past.append((now, left))
        while len(self._past) > 2 and now - self._past[1][0] > _SPEED_OVER:
            self._past.popleft()
        if self._progress is not None:
            self._missing -= self._missing & self._store.keys  # less work than an intersection with `_wanted`
            done = len(self._wanted) - len(self._missing)
            failed = len(self._wanted & self._store.failed)
            waits = self._work.only_postponed and not self._playing
            note = self._executor.note or ("waiting for cells that another process plays" if waits else "")
            then, left_then = self._past[0]
            is_known = now - then >= _LEAST_PAST and left_then > left
            seconds = left * (now - then) / (left_then - left) if is_known else None
            self._progress(Progress(done, len(self._wanted), failed, seconds, note))
