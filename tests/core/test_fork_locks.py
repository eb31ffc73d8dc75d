"""A fork waits for the locks, and the child process finds them free."""

import os
import subprocess
import sys
import threading
import time

import pytest

from driftwise.core.fork_locks import fork_lock

pytestmark = [
    pytest.mark.skipif(not hasattr(os, "fork"), reason="this system does not fork"),
    pytest.mark.filterwarnings("ignore:This process:DeprecationWarning"),  # it is multi-threaded, on purpose
]


def exit_code_of_child(child):
    """Fork, call `child` in the new process, and return its exit code: 0 if it returned True within ten seconds."""
    process = os.fork()
    if process == 0:
        os._exit(0 if child() else 1)
    for _ in range(1_000):
        done, status = os.waitpid(process, os.WNOHANG)
        if done:
            return os.waitstatus_to_exitcode(status)
        time.sleep(0.01)
    os.kill(process, 9)
    os.waitpid(process, 0)
    return "it hangs"


def test_a_child_starts_between_two_sections_that_a_thread_runs_under_the_lock():
    lock, numbers, stop = fork_lock(), [0, 0], threading.Event()

    def play():
        while not stop.is_set():
            with lock:
                numbers[0] += 1
                time.sleep(0.001)
                numbers[1] += 1

    thread = threading.Thread(target=play)
    thread.start()
    try:
        for _ in range(20):
            assert exit_code_of_child(lambda: lock.acquire(timeout=1) and numbers[0] == numbers[1]) == 0
    finally:
        stop.set()
        thread.join()


def test_threads_that_take_two_locks_in_either_order_do_not_stop_a_fork():
    first, second, third, stop = fork_lock(), fork_lock(), fork_lock(), threading.Event()

    def play(outer, inner):
        while not stop.is_set():
            with outer:
                time.sleep(0.0005)
                with inner:
                    time.sleep(0.0005)

    threads = [threading.Thread(target=play, args=pair) for pair in ((first, second), (second, third))]
    for thread in threads:
        thread.start()
    try:
        for _ in range(20):
            assert exit_code_of_child(lambda: all(lock.acquire(timeout=1) for lock in (first, second, third))) == 0
    finally:
        stop.set()
        for thread in threads:
            thread.join()


def test_a_thread_that_holds_a_lock_may_fork():
    lock = fork_lock()
    with lock:
        assert exit_code_of_child(lambda: lock.acquire(timeout=1)) == 0
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
