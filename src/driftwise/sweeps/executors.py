"""Executors play batches somewhere else than in the calling thread, and return their records.

On a Dask cluster, workers need driftwise and the modules of the user's own learners; they need no shared disk, since
only the client writes. A batch whose worker dies is played elsewhere: Dask does that itself a few times (its setting
`allowed-failures`), and when it gives up, the batch is submitted again. Dask blames all tasks that a dead worker held,
not only the one that ended it. So after the last attempt the cells of the batch are set aside, and when all other
batches are done, each of them is submitted with nothing beside it; one whose worker dies again is recorded as failed.
"""

from __future__ import annotations

import contextlib
import importlib
import logging
import queue
import re
import threading
import time
from collections import deque
from concurrent.futures import ThreadPoolExecutor
from typing import Any

from driftwise.core.errors import InvalidInput, MissingDependency, message_of, rejection
from driftwise.results.cells import Machine
from driftwise.sweeps.batches import Batch, failed_records, play_batch
from driftwise.sweeps.messages import ClusterError, Finished, check_batch, check_reply, read_message, write_message

_MOST_THREADS = 256  # more would not be faster, and the system may refuse them


class ThreadExecutor:
    """Plays batches in threads of this process; kernels release the interpreter's lock."""

    by_learner = False  # whether a batch should hold the learners of one class only: it draws the losses once for all
    note = ""  # what it waits for, "" for nothing

    def __init__(self, n_threads: int) -> None:
        self.n_threads, self._n_playing = min(n_threads, _MOST_THREADS), 0
        self._pool = ThreadPoolExecutor(self.n_threads, "driftwise-sweep")
        self._finished: queue.SimpleQueue[Finished | BaseException | None] = queue.SimpleQueue()
        self._error: BaseException | None = None
        self._stop = threading.Event()

    def free_slots(self) -> int:
        """Return how many more batches should be submitted: one for each thread, and one that waits."""
        return self.n_threads + 1 - self._n_playing

    def submit(self, batch: Batch) -> None:
        """Start to play a batch when a thread is free."""
        self._n_playing += 1
        self._pool.submit(self._play, batch)

    def _play(self, batch: Batch) -> None:
        try:
            for records in play_batch(batch, self._stop):
                self._finished.put(Finished(records, Machine.here()))
            self._finished.put(None)
        except BaseException as error:  # raised by `wait` in the thread that runs the sweep
            self._finished.put(error)

    def wait(self, seconds: float) -> list[Finished]:
        """Return what was finished since the last call; raise what a thread raised, when all before it was returned."""
        finished: list[Finished] = []
        try:
            item = self._finished.get(timeout=0.0 if self._error else seconds)
            while True:
                if isinstance(item, BaseException):
                    self._error = self._error or item
                elif item is None:  # the end of a batch
                    self._n_playing -= 1
                else:
                    finished.append(item)
                item = self._finished.get_nowait()
        except queue.Empty:
            if self._error is not None and not finished:
                raise self._error from None
            return finished

    def close(self) -> None:
        """Stop at the next block of rounds, without waiting for it."""
        self._stop.set()
        self._pool.shutdown(wait=False, cancel_futures=True)


ATTEMPTS = 5  # submissions of a batch, and then of a cell alone, that may end with the death of its workers
_EACH = 2  # batches submitted for each thread of the cluster, so that no worker waits for the client
_CONNECT_WITHIN = "10s"
_COUNT_EVERY = 1.0  # seconds between two counts of the workers
_ADDRESS = re.compile(r"\w+://\S+:[0-9]+")
_LOST = "The connection to the Dask scheduler is lost."


def connect(address: str) -> Any:
    """Return a client of the scheduler at an address such as "tcp://10.0.0.1:8786"."""
    distributed = _distributed()
    if not _ADDRESS.fullmatch(address):
        raise rejection("sweep", "dask", "the address of a scheduler such as tcp://127.0.0.1:8786", address)
    for name in ("distributed", "distributed.client"):  # their notes would mix with the progress
        logging.getLogger(name).setLevel(logging.ERROR)
    try:
        return distributed.Client(address, timeout=_CONNECT_WITHIN, set_as_default=False)
    except (OSError, ValueError, TypeError) as error:
        reason = str(error).splitlines()[0] if str(error) else type(error).__name__
        raise ClusterError(f"There is no Dask scheduler at {address!r}: {reason.rstrip('.')}.") from None


def _distributed() -> Any:
    try:
        import distributed
    except ImportError:
        raise MissingDependency("A Dask cluster", "distributed", "cluster") from None
    return distributed


class DaskExecutor:
    """Plays batches on the workers of a Dask client."""

    by_learner = True  # so that a new worker compiles few kernels before it finishes its first batch

    def __init__(self, client: Any) -> None:
        distributed = _distributed()
        if not isinstance(client, distributed.Client) or client.asynchronous:
            raise InvalidInput(
                f"Sweep: `client` must be a synchronous distributed.Client, got {type(client).__name__}."
            )
        self._client = client
        self._completed = distributed.as_completed(loop=client.loop, with_results=True, raise_errors=False)
        self._died = distributed.KilledWorker
        self._submitted: dict[str, tuple[Batch, int]] = {}  # the batch and its attempt, by the key of its future
        self.n_threads, self._counted = 1, -_COUNT_EVERY
        self.note = ""
        self._error: ClusterError | None = None
        self._suspects: deque[Batch] = deque()  # single cells that may end their worker
        self._is_alone = False  # whether what is submitted is one of them

    def free_slots(self) -> int:
        """Return how many more batches should be submitted: some for each thread, none while a cell is played alone."""
        if time.monotonic() - self._counted >= _COUNT_EVERY:
            self._check_connection()
            try:
                n_threads = sum(self._client.nthreads().values())
            except (OSError, TimeoutError):
                raise ClusterError(_LOST) from None
            self.n_threads, self._counted = max(1, n_threads), time.monotonic()
            self.note = "" if n_threads else "waiting for workers"
        return 0 if self._is_alone else _EACH * self.n_threads - len(self._submitted)

    def submit(self, batch: Batch) -> None:
        """Send a batch to the scheduler."""
        self._submit(batch, 1)

    def _submit(self, batch: Batch, attempt: int) -> None:
        modules, message = _modules(batch), write_message(batch)
        try:
            future = self._client.submit(_play_on_worker, modules, message, pure=False, retries=0)
        except Exception:  # of several kinds, if the client was closed
            self._check_connection()
            raise
        self._submitted[future.key] = (batch, attempt)
        self._completed.add(future)

    def wait(self, seconds: float) -> list[Finished]:
        """Return what was finished since the last call; wait at most some seconds if nothing was."""
        if self._error is not None:
            raise self._error
        if not self._submitted and self._suspects:
            self._is_alone = True
            self._submit(self._suspects.popleft(), 1)
        end = time.monotonic() + seconds
        while not self._completed.has_ready() and time.monotonic() < end:
            time.sleep(0.005)
        finished: list[Finished] = []
        for future, result in self._completed.next_batch(block=False):
            batch, attempt = self._submitted.pop(future.key)
            status = future.status
            # At once: if a worker died later, Dask would play a batch again whose future somebody holds.
            future.release()
            try:
                if status == "finished":
                    finished.append(_reply(batch, result))
                    continue
                if status != "error":
                    self._check_connection()
                    raise ClusterError("The Dask scheduler cancelled a batch of this sweep.")
                finished += self._after_error(batch, attempt, result[1])
            except ClusterError as error:  # raised by the next call: what is finished must not be lost
                self._error = error
        self._is_alone = self._is_alone and bool(self._submitted)
        if self._error is not None and not finished:
            raise self._error
        return finished

    def _after_error(self, batch: Batch, attempt: int, error: BaseException) -> list[Finished]:
        if isinstance(error, ModuleNotFoundError):
            hint = "Install it there, or start the workers with its folder in PYTHONPATH."
            raise ClusterError(f"A Dask worker cannot import '{error.name}'. {hint}")
        if not isinstance(error, self._died):
            raise ClusterError(f"A Dask worker could not play a batch: {message_of(error)}")
        if attempt < ATTEMPTS:
            for half in batch.halves():  # a batch that takes longer than workers live would never be finished
                self._submit(half, attempt + 1)
        elif not self._is_alone:
            self._suspects += batch.single_cells()
        else:
            return [Finished(failed_records(batch, f"Its worker died in {ATTEMPTS} attempts."), Machine.here())]
        return []

    def _check_connection(self) -> None:
        if self._client.status != "running":  # while it connects again, the batches are lost already
            raise ClusterError(_LOST)

    def close(self) -> None:
        """Cancel what was submitted."""
        keys = [*self._submitted]
        self._submitted.clear()
        self._suspects.clear()
        self._completed.clear()
        if keys and self._client.status == "running":
            futures = [_distributed().Future(key, self._client) for key in keys]
            with contextlib.suppress(OSError, TimeoutError):  # the scheduler was lost meanwhile
                self._client.cancel(futures, force=True)


Executor = ThreadExecutor | DaskExecutor


def _modules(batch: Batch) -> tuple[str, ...]:
    """Return the modules outside of driftwise whose classes a batch needs."""
    modules = batch.group.source.modules.union(*(player.modules for player in batch.group.players))
    own = sorted(name for name in modules if name.partition(".")[0] != __package__.partition(".")[0])
    if "__main__" in own:
        raise InvalidInput(
            "Sweep: a learner of your own must be in a module that Dask workers can import, not in a script."
        )
    return tuple(own)


def _play_on_worker(modules: tuple[str, ...], message: bytes) -> bytes:
    """Play the batch of a message in this process, a worker; return its records as a message.

    It raises only errors that every client can read: classes of the user may be missing there, or not pickle.
    """
    try:
        for name in modules:
            importlib.import_module(name)  # waits if another thread of this worker is importing it
        batch = check_batch(read_message(message))
        return write_message(Finished([record for records in play_batch(batch) for record in records], Machine.here()))
    except ModuleNotFoundError as error:
        failure: Exception = ModuleNotFoundError(message_of(error), name=error.name)
    except (Exception, SystemExit) as error:  # `sys.exit` would end the worker
        failure = ClusterError(message_of(error))
    raise failure  # here, since Dask sends the context of an error too


def _reply(batch: Batch, message: Any) -> Finished:
    """Return the records of a batch that a worker sent; raise `ClusterError` if they are not."""
    try:
        return check_reply(batch, read_message(message))
    except Exception as error:
        raise ClusterError(f"A Dask worker returned a wrong reply, which is not stored: {message_of(error)}") from None
