"""Forks while a thread of this process works."""

import contextlib
import os
import threading
import time

N_FORKS = 20
_LONGEST = 20.0  # seconds that a child may take


@contextlib.contextmanager
def thread_that_repeats(work):
    """Call `work` with 0, 1, 2, ... in a thread, until the block ends."""
    stop = threading.Event()

    def repeat():
        i = 0
        while not stop.is_set():
            work(i)
            i += 1

    thread = threading.Thread(target=repeat)
    thread.start()
    try:
        yield
    finally:
        stop.set()
        thread.join()


def result_of_child(child):
    """Fork, call `child` in the new process, and return its exit code: 0 if it returned True."""
    process = os.fork()
    if process == 0:
        code = 2
        try:
            code = 0 if child() else 1
        finally:
            os._exit(code)
    ends = time.monotonic() + _LONGEST
    while time.monotonic() < ends:
        done, status = os.waitpid(process, os.WNOHANG)
        if done:
            return os.waitstatus_to_exitcode(status)
        time.sleep(0.002)
    os.kill(process, 9)
    os.waitpid(process, 0)
    return "it hangs"
