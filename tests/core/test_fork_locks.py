"""A fork waits for the locks, and the child process finds them free."""

import os
import subprocess
import sys
import threading
import time

import pytest

from driftwise.core.fork_locks import fork_lock
from forked_children import N_FORKS, result_of_child, thread_that_repeats

pytestmark = [
    pytest.mark.skipif(not hasattr(os, "fork"), reason="this system does not fork"),
    pytest.mark.filterwarnings("ignore:This process:DeprecationWarning"),  # it is multi-threaded, on purpose
]


def test_a_child_starts_between_two_sections_that_a_thread_runs_under_the_lock():
    lock, numbers = fork_lock(), [0, 0]

    def play(_):
        with lock:
            numbers[0] += 1
            time.sleep(0.001)
            numbers[1] += 1

    with thread_that_repeats(play):
        for _ in range(N_FORKS):
            assert result_of_child(lambda: lock.acquire(timeout=1) and numbers[0] == numbers[1]) == 0


def test_threads_that_take_two_locks_in_either_order_do_not_stop_a_fork():
    first, second, third = fork_lock(), fork_lock(), fork_lock()

    def play(outer, inner):
        with outer:
            time.sleep(0.0005)
            with inner:
                time.sleep(0.0005)

    with thread_that_repeats(lambda _: play(first, second)), thread_that_repeats(lambda _: play(second, third)):
        for _ in range(N_FORKS):
            assert result_of_child(lambda: all(lock.acquire(timeout=1) for lock in (first, second, third))) == 0


def test_a_thread_that_holds_a_lock_may_fork():
    lock = fork_lock()
    with lock:
        assert result_of_child(lambda: lock.acquire(timeout=1)) == 0
    acquired = []
    other = threading.Thread(target=lambda: acquired.append(lock.acquire(timeout=1)))
    other.start()
    other.join()
    assert acquired == [True]


ORDERS = """
import os, sys, threading
from driftwise.core.fork_locks import fork_lock
{module}
lock, inside, stop = fork_lock(), threading.Event(), threading.Event()

def play():
    while not stop.is_set():
        with lock:
            inside.set()
            {use}

thread = threading.Thread(target=play)
thread.start()
inside.wait()
for _ in range(300):
    if os.fork() == 0:
        os._exit(0)
    os.wait()
stop.set()
thread.join()
print("done")
"""


@pytest.mark.parametrize(
    ("module", "use"),
    [
        ("from concurrent.futures import ThreadPoolExecutor", "ThreadPoolExecutor(1).submit(int).result()"),
        ("import logging", "logging.getLogger().setLevel(1)"),
    ],
)
def test_locks_of_the_standard_library_that_are_used_under_ours_do_not_stop_a_fork(module, use):
    code = ORDERS.format(module=module, use=use)
    command = [sys.executable, "-W", "ignore", "-c", code]
    assert subprocess.run(command, capture_output=True, text=True, timeout=60).stdout == "done\n"
