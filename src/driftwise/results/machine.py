"""The machine and the libraries with which cells are played: results may differ in the last bit between two of them."""

from __future__ import annotations

import functools
import hashlib
import importlib.metadata
import json
import platform
from pathlib import Path
from typing import NamedTuple

__all__ = ["Machine", "this_machine"]

_ID_LENGTH = 8  # hex digits


class Machine(NamedTuple):
    """A machine: a short id, which is a digest of its facts, and the facts."""

    id: str
    facts: dict[str, str]


@functools.cache
def this_machine() -> Machine:
    """Return the machine on which this process runs."""
    facts = {
        "cpu": _cpu(),
        "driftwise": _version("driftwise"),
        "numba": _version("numba"),
        "numpy": _version("numpy"),
        "python": platform.python_version(),
        "system": platform.platform(),
    }
    return Machine(hashlib.sha256(json.dumps(facts, sort_keys=True).encode()).hexdigest()[:_ID_LENGTH], facts)


def _version(package: str) -> str:
    try:
        return importlib.metadata.version(package)
    except importlib.metadata.PackageNotFoundError:  # run from its sources
        return "unknown"


def _cpu() -> str:
    try:
        lines = Path("/proc/cpuinfo").read_text(errors="replace").splitlines()
    except OSError:
        lines = []
    models = [line.partition(":")[2].strip() for line in lines if line.startswith("model name")]
    return models[0] if models else platform.processor() or platform.machine()
