"""Locks that a fork waits for, so that a child process starts between two rounds and never with a lock held.

A process that forks while a thread plays gets a copy of the memory in the middle of a round and of a lock that nobody
will release. Here the thread that forks takes all locks first, and releases them on both sides. Another thread may hold
one lock and wait for another, so the forking thread waits for a limited time only; then it releases all and tries
again, beginning with the lock that was busy.

Two modules of the standard library, `concurrent.futures.thread` and `logging`, hold a lock of their own while a process
forks. A thread may wait for it under a lock of ours, so ours must be taken first. Of the functions that are registered
with Python, the last one registered is called first, so these modules are imported before this one is registered.
"""

from __future__ import annotations

import concurrent.futures.thread  # noqa: F401  # before the registration below
import logging  # noqa: F401  # before the registration below
import os
import threading
import weakref
from typing import Any

Lock = Any  # threading.RLock is a function before Python 3.13

_FIRST_WAIT = 0.02  # in seconds, for a lock while others are held
_LONGER = 1.5  # times the wait before, at each try

_guard = threading.RLock()  # of the set below, while a lock is added and while the process forks
_locks: weakref.WeakSet[Lock] = weakref.WeakSet()
_taken: list[Lock] = []  # while the process forks


def fork_lock() -> Lock:
    """Return a new reentrant lock that is free in a child process; a fork waits until no other thread holds it."""
    lock = threading.RLock()
    with _guard:
        _locks.add(lock)
    return lock


def _take_all() -> None:
    order: list[Lock] = []  # the lock that was busy comes first the next time, so those inside others come last
    wait = _FIRST_WAIT
    while True:
        for lock in order[:1]:
            lock.acquire()  # nothing else is held
        _guard.acquire()
        _taken.extend(order[:1])
        order = [*dict.fromkeys([*order, *_locks])]
        busy = next((lock for lock in order[len(_taken) :] if not _take(lock, wait)), None)
        if busy is None:
            return
        _release_all()
        order.remove(busy)
        order.insert(0, busy)
        wait *= _LONGER


def _take(lock: Lock, wait: float) -> bool:
    if taken := lock.acquire(timeout=wait):
        _taken.append(lock)
    return bool(taken)


def _release_all() -> None:
    while _taken:
        _taken.pop().release()
    _guard.release()


if hasattr(os, "register_at_fork"):  # not on Windows, which does not fork
    os.register_at_fork(before=_take_all, after_in_parent=_release_all, after_in_child=_release_all)
