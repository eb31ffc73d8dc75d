"""Rejects arrays that cannot fit into memory before they are allocated.

Some operating systems grant more memory than there is and end the process when it is used; others swap for hours. So
the required bytes are compared with the memory of the machine first.
"""

from __future__ import annotations

import functools
import os

from driftwise.core.errors import rejection

__all__ = ["check_memory", "memory_bytes"]


@functools.cache
def memory_bytes() -> int:
    """Return the memory of this machine."""
    return os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE")


def check_memory(owner: object, name: str, got: object, n_bytes: int) -> None:
    """Reject a parameter whose arrays would take more than the memory of this machine."""
    if n_bytes > memory_bytes():
        rule = f"small enough for the memory of this machine, {_gigabytes(memory_bytes())}"
        raise rejection(owner, name, rule, got, f"It would take {_gigabytes(n_bytes)}.")


def _gigabytes(n_bytes: int) -> str:
    return f"{n_bytes / 1e9:.3g} GB"
