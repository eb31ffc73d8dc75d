"""Processes may be killed at any moment, and may share a store."""

import subprocess
import sys

from outside_files import HELPERS

PROGRAM = HELPERS / "store_processes.py"


def run(task, folder):
    done = subprocess.run([sys.executable, PROGRAM, task, folder], capture_output=True, text=True, timeout=120)
    assert done.returncode == 0, done.stderr
    return done.stdout.split("\n")[:-1]


def test_killing_a_process_loses_and_doubles_nothing(tmp_path):
    (n_cells,) = run("kill", tmp_path)
    assert int(n_cells) > 60


def test_processes_that_add_the_same_cells_store_each_once(tmp_path):
    assert run("add", tmp_path) == ["64"]


def test_the_claim_of_a_killed_process_ends(tmp_path):
    assert run("claim", tmp_path) == ["a b", "a b"]
