"""Command lines run in the process of the tests."""

from __future__ import annotations

import contextlib
import io
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


def run_here(*words):
    """Run a command line in this process, without pytest, and return its exit code and output."""
    out, err = io.StringIO(), io.StringIO()
    before, sys.argv = sys.argv, ["driftwise", *map(str, words)]
    try:
        with contextlib.redirect_stdout(out), contextlib.redirect_stderr(err):
            main()
    except SystemExit as left:
        return Outcome(left.code, out.getvalue(), err.getvalue())
    finally:
        sys.argv = before
    raise AssertionError("the command did not exit")
