"""Work on the items of an iterator in other threads, with results in order and a bounded number under way."""

from __future__ import annotations

import queue
import threading
from collections import deque
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from typing import Any, NamedTuple, TypeVar

__all__ = ["ahead", "in_order"]

T = TypeVar("T")
R = TypeVar("R")

_END = object()


class _Failed(NamedTuple):
    """Stands for the item that an iterator could not make."""

    error: Exception


def _until_error(items: Iterable[T]) -> Iterator[T | _Failed]:
    try:
        yield from items
    except Exception as error:
        yield _Failed(error)


def in_order(items: Iterable[T], work: Callable[[T], R], n_threads: int) -> Iterator[tuple[T, R]]:
    """Yield each item with its result; an error of the iterator or of an item is raised in its turn."""
    waiting: deque[tuple[T, Future[R]]] = deque()
    with ThreadPoolExecutor(n_threads) as pool:
        try:
            failed: _Failed | None = None
            for item in _until_error(items):
                if isinstance(item, _Failed):
                    failed = item
                    break
                waiting.append((item, pool.submit(work, item)))
                if len(waiting) > n_threads:
                    first, result = waiting.popleft()
                    yield first, result.result()
            while waiting:
                first, result = waiting.popleft()
                yield first, result.result()
            if failed is not None:
                raise failed.error
        finally:
            for _, result in waiting:
                result.cancel()


def ahead(items: Iterator[T], most: int) -> Iterator[T]:
    """Yield the items of an iterator that runs in a thread of its own, at most `most` items ahead."""
    ready: queue.Queue[Any] = queue.Queue(most)
    stopped = threading.Event()

    def put(item: Any) -> bool:
        while not stopped.is_set():
            try:
                ready.put(item, timeout=0.1)
                return True
            except queue.Full:
                continue
        return False

    def run() -> None:
        try:
            for item in items:
                if not put((item, None)):
                    break
            else:
                put((_END, None))
        except BaseException as error:
            put((_END, error))
        finally:
            getattr(items, "close", lambda: None)()

    thread = threading.Thread(target=run, daemon=True)
    thread.start()
    try:
        while True:
            item, error = ready.get()
            if error is not None:
                raise error
            if item is _END:
                return
            yield item
    finally:
        stopped.set()
        thread.join()
