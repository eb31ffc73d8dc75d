"""Command lines run in the process of the tests."""

from __future__ import annotations

import sys
from typing import NamedTuple

import pytest

from driftwise.cli.main import main


class Outcome(NamedTuple):
    code: int
    out: str
    err: str


def runner(monkeypatch, capsys, folder):
    """Return a function that runs a command line in a folder, and returns its exit code and output."""
    monkeypatch.chdir(folder)
    monkeypatch.setenv("COLUMNS", "80")
    monkeypatch.setattr("driftwise.core.compile_notice._LONG", 1e6)  # whatever the time of compilation

    def run(*words):
        monkeypatch.setattr(sys, "argv", ["driftwise", *map(str, words)])
        with pytest.raises(SystemExit) as left:
            main()
        return Outcome(left.value.code, *capsys.readouterr())

    return run
