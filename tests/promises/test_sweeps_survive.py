"""A sweep that is killed, shared, cut off by a full disk or damaged on disk ends with the same cells.

Only commands and public names are used: the tests know nothing about how a folder of results is made.
"""

import json
import os
import random
import resource
import shutil
import signal
import subprocess
import sys
import time

import pytest

from driftwise.core.errors import BadFile
from driftwise.results import SweepResults
from outside_files import ROOT

SWEEP = """
n_rounds = [400, 600]
n_runs = 40
seed = [1, 2]

[[environments]]
path = {name = "switching", n_segments = 3, n_actions = 3}
noise = {name = "bernoulli"}

[[learners]]
name = "hedge"

[[learners]]
name = "noted-hedge"
"""
# A learner that plays as Hedge and notes each start in a file, after a short pause so that a sweep lasts a while.
LEARNER = '''
import os, time
from dataclasses import dataclass
from driftwise.learners import Hedge, learners

@dataclass(frozen=True)
class NotedHedge(Hedge):
    """Hedge that notes its starts."""

    def rates(self, n_actions):
        with open(os.environ["NOTES"], "a") as file:
            file.write("x")
        time.sleep(0.01)
        return super().rates(n_actions)

NotedHedge.name = "noted-hedge"
learners.add("noted-hedge", NotedHedge)
'''
N_CELLS = 2 * 40 * 2 * 2
LIMITED = (
    "import resource, sys; resource.setrlimit(resource.RLIMIT_FSIZE, (int(sys.argv[1]), resource.RLIM_INFINITY));"
    " del sys.argv[1]; from driftwise.cli.main import main; main()"
)


class Folder:
    """A folder in which the command `driftwise sweep` runs."""

    def __init__(self, path):
        self.path = path
        path.mkdir(parents=True)
        (path / "sweep.toml").write_text(SWEEP)
        (path / "noted_hedge.py").write_text(LEARNER)
        self.notes = path / "notes"
        self.notes.touch()
        self.environ = {**os.environ, "NOTES": str(self.notes), "PYTHONPATH": str(ROOT / "src")}

    def start(self, *start_of_command):
        program = start_of_command or ("-m", "driftwise")
        words = ["sweep", "sweep.toml", "--import", "noted_hedge", "--threads", "1", "--quiet", "--out", "results"]
        return subprocess.Popen(
            [sys.executable, *program, *words], cwd=self.path, env=self.environ, text=True,
            stdout=subprocess.PIPE, stderr=subprocess.PIPE,
        )  # fmt: skip

    def run(self):
        running = self.start()
        _, errors = running.communicate(timeout=100)
        assert running.returncode == 0, errors
        return self.rows()

    def rows(self):
        """Return what is known of every cell, without the time that it took."""
        return rows_of(SweepResults.read(self.path / "results"))

    @property
    def n_started(self):
        return self.notes.stat().st_size


def rows_so_far(folder):
    """Return the cells that another program can read while the sweep runs; before the first ones there is no store."""
    try:
        return folder.rows()
    except BadFile:
        return {}


def rows_of(results):
    records = [results.cells.record(i)._replace(seconds=0.0, stored=0) for i in range(len(results.cells))]
    return {record.key: json.dumps(record, default=lambda array: array.tolist()) for record in records}


@pytest.fixture(scope="module")
def whole(tmp_path_factory):
    folder = Folder(tmp_path_factory.mktemp("sweep") / "whole")
    rows = folder.run()
    assert len(rows) == N_CELLS
    return folder, rows


def test_kills_at_random_moments_lose_no_cell_that_could_be_read(tmp_path, whole):
    folder, chance, stored, n_kills = Folder(tmp_path / "killed"), random.Random(7), {}, 0
    while n_kills < 5:
        running, end = folder.start(), time.monotonic() + 60
        while len(rows_so_far(folder)) == len(stored) and running.poll() is None and time.monotonic() < end:
            time.sleep(0.01)
        time.sleep(chance.uniform(0.0, 0.2))
        running.send_signal(signal.SIGKILL)
        running.communicate()
        if running.returncode != -signal.SIGKILL:  # it was faster
            break
        n_kills += 1
        now = rows_so_far(folder)
        assert stored.items() <= now.items() <= whole[1].items()
        stored = now
    assert n_kills > 1
    assert stored
    assert folder.run() == whole[1]


def test_two_processes_share_the_work_and_each_cell_is_played_once(tmp_path, whole):
    folder = Folder(tmp_path / "shared")
    workers = [folder.start(), folder.start()]
    for worker in workers:
        _, errors = worker.communicate(timeout=100)
        assert worker.returncode == 0, errors
    assert folder.rows() == whole[1]
    n_checks = whole[0].n_started - N_CELLS // 2  # a process starts learners to check its sweep, too
    assert N_CELLS // 2 <= folder.n_started <= N_CELLS // 2 + 2 * n_checks


@pytest.mark.skipif(not hasattr(resource, "RLIMIT_FSIZE"), reason="the system has no limit of file sizes")
@pytest.mark.parametrize("size", [0, 40_000])
def test_a_full_disk_is_told_in_one_line_and_the_sweep_can_go_on(tmp_path, whole, size):
    folder = Folder(tmp_path / "full")
    running = folder.start("-c", LIMITED, str(size))
    _, errors = running.communicate(timeout=100)
    assert running.returncode == 1, errors
    assert errors.startswith("driftwise: Cannot ")
    assert errors.count("\n") == 1
    assert folder.run() == whole[1]


@pytest.mark.parametrize("seed", range(3))
def test_damage_to_any_file_of_a_folder_costs_only_time(tmp_path, whole, seed):
    folder, chance = Folder(tmp_path / "damaged"), random.Random(seed)
    shutil.copytree(whole[0].path / "results", folder.path / "results")
    files = [path for path in sorted((folder.path / "results").rglob("*")) if path.is_file() and path.stat().st_size]
    assert files
    for path in files:
        content = bytearray(path.read_bytes())
        if seed == 0:
            del content[chance.randrange(len(content)) :]
        for _ in range(seed * 2):
            content[chance.randrange(len(content))] ^= 1 << chance.randrange(8)
        path.write_bytes(content)
    assert folder.run() == whole[1]
