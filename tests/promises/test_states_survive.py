"""`driftwise combine --state` leaves the old or the new state, however it ends; only the command is used."""

import os
import random
import shutil
import signal
import subprocess
import sys
import time

import pytest

from combine_examples import FIXED_SHARE, example, write
from outside_files import ROOT

N_SERIES, DAYS = 300, 40
PROGRAM = ("-c", "from driftwise.cli.main import main; main()")
N_KILLS = int(os.environ.get("KILLS", "4"))


def start(folder, night):
    words = ("combine", f"night{night}.csv", "--target", "y", "--time", "ds", "--by", "series", "--state", "mix.db")
    return subprocess.Popen(
        [sys.executable, *PROGRAM, *words, "--no-page", *FIXED_SHARE], cwd=folder, text=True,
        env={**os.environ, "PYTHONPATH": str(ROOT / "src")}, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
    )  # fmt: skip


def run(folder, night):
    running = start(folder, night)
    _, errors = running.communicate(timeout=100)
    return running.returncode, errors


def outputs(folder):
    """Return the files for users: names that begin with a dot are not among them."""
    out = folder / "out" / "combine"
    names = out.iterdir() if out.exists() else ()
    return {path.name: path.read_bytes() for path in names if not path.name.startswith(".")}


@pytest.fixture(scope="module")
def whole(tmp_path_factory):
    """Return a folder with three nights, of which the first was run, and the files of each night."""
    folder = tmp_path_factory.mktemp("nights")
    table = example(N_SERIES * DAYS, n_series=N_SERIES, interleaved=True)
    rows = [table.slice(k * N_SERIES, N_SERIES) for k in range(DAYS)]
    for night, days in enumerate((rows[:20], rows[20:30], rows[30:])):
        write(
            type(table).from_batches([batch for day in days for batch in day.to_batches()]),
            folder / f"night{night}.csv",
        )
    shutil.copytree(folder, other := tmp_path_factory.mktemp("ended") / "all")
    files = []
    for night in range(3):
        assert run(other, night) == (0, "")
        files.append(outputs(other))
    assert run(folder, 0) == (0, "")
    return folder, files


def test_a_process_that_is_killed_leaves_the_old_or_the_new_state_and_a_rerun_completes(whole, tmp_path):
    folder, files = whole
    shutil.copytree(folder, tmp_path / "timed")
    began = time.monotonic()
    assert run(tmp_path / "timed", 1) == (0, "")
    seconds, chance, ends = time.monotonic() - began, random.Random(0), set()
    for kill in range(N_KILLS):
        place = tmp_path / f"kill{kill}"
        shutil.copytree(folder, place)
        running = start(place, 1)
        # Half of the kills are near the end, when the files and the state are written.
        time.sleep(seconds * (chance.uniform(0.3, 1.0) if kill % 2 else chance.uniform(0.8, 1.0)))
        running.send_signal(signal.SIGKILL)
        running.communicate(timeout=60)
        shutil.copytree(place, probe := tmp_path / f"probe{kill}")
        code, errors = run(probe, 1)
        ends.add(code)
        if code == 0:  # the state was the old one
            assert outputs(probe) == files[1]
        else:  # it was the new one, so all files were in their places
            assert "it must be after the last rows of its series in the state" in errors
            assert outputs(place) == files[1]
        assert run(probe, 2) == (0, "")
        assert outputs(probe) == files[2]
        assert {path.name for path in probe.iterdir()} == {"mix.db", "out", *(f"night{k}.csv" for k in range(3))}
        shutil.rmtree(place)
        shutil.rmtree(probe)
    assert 0 in ends


def test_of_two_runs_at_once_one_waits_for_the_other(whole, tmp_path):
    shutil.copytree(whole[0], folder := tmp_path / "both")
    running = [start(folder, 1), start(folder, 1)]
    ends = sorted((process.communicate(timeout=200)[1], process.returncode) for process in running)
    assert ends[0] == ("", 0)
    assert ends[1][1] == 2
    refusals = ("another process is writing to out/combine", "it must be after the last rows of its series")
    assert any(refusal in ends[1][0] for refusal in refusals), ends
    assert outputs(folder) == whole[1][1]
    assert run(folder, 2) == (0, "")
    assert outputs(folder) == whole[1][2]
