"""`driftwise combine` leaves complete files or none, however it ends; only the command is used."""

import os
import random
import resource
import signal
import subprocess
import sys
import time

import pytest

from combine_examples import FIXED_SHARE, example, write
from outside_files import ROOT

WORDS = ("combine", "in.csv", "--target", "y", "--time", "ds", "--by", "series", "--out", "out", *FIXED_SHARE)
# A background job and its children ignore interrupts; this process must not.
INTERRUPTIBLE = (
    "import signal; signal.signal(signal.SIGINT, signal.default_int_handler);"
    " from driftwise.cli.main import main; main()"
)
LIMITED = (
    "import resource, sys; resource.setrlimit(resource.RLIMIT_FSIZE, (int(sys.argv[1]), resource.RLIM_INFINITY));"
    " del sys.argv[1]; from driftwise.cli.main import main; main()"
)


def start(folder, *program):
    return subprocess.Popen(
        [sys.executable, *(program or ("-c", INTERRUPTIBLE)), *WORDS], cwd=folder, text=True,
        env={**os.environ, "PYTHONPATH": str(ROOT / "src")}, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
    )  # fmt: skip


def run(folder, *program):
    running = start(folder, *program)
    _, errors = running.communicate(timeout=100)
    return running.returncode, errors


def files(folder):
    """Return the files for users: names that begin with a dot are not among them."""
    if not (folder / "out").exists():
        return {}
    return {path.name: path.read_bytes() for path in (folder / "out").iterdir() if not path.name.startswith(".")}


@pytest.fixture(scope="module")
def whole(tmp_path_factory):
    """Return a folder with the input and the output of two tables: an earlier one and a later one."""
    folder, outputs = tmp_path_factory.mktemp("combine"), []
    for seed in (1, 2):
        write(example(80_000, n_series=4, interleaved=True, seed=seed), folder / "in.csv")
        assert run(folder) == (0, "")
        outputs.append(files(folder))
    assert outputs[0].keys() == outputs[1].keys()
    return folder, *outputs


@pytest.fixture
def folder(whole, tmp_path):
    """Return a folder with the later input and the files of the earlier one."""
    (tmp_path / "in.csv").write_bytes((whole[0] / "in.csv").read_bytes())
    (tmp_path / "out").mkdir()
    for name, content in whole[1].items():
        (tmp_path / "out" / name).write_bytes(content)
    return tmp_path


def check_files(folder, old, new):
    """Every file is an old one or a new one, whole; a summary stands only beside the forecasts it is made of."""
    now = files(folder)
    assert all(content in (old[name], new[name]) for name, content in now.items())
    if "summary.json" in now:
        assert now in (old, new)


@pytest.mark.parametrize("ended_by", [signal.SIGKILL, signal.SIGINT])
def test_a_process_that_is_ended_leaves_whole_files_and_the_next_run_replaces_them(folder, whole, ended_by):
    _, old, new = whole
    chance, codes = random.Random(ended_by), []
    before = {path.name for path in (folder / "out").iterdir()}
    for _ in range(4):
        running, end = start(folder), time.monotonic() + 60
        while {path.name for path in (folder / "out").iterdir()} == before and running.poll() is None:
            assert time.monotonic() < end
            time.sleep(0.002)
        time.sleep(chance.uniform(0.0, 0.2))
        running.send_signal(ended_by)
        running.communicate(timeout=60)
        codes.append(running.returncode)
        check_files(folder, old, new)
        before = {path.name for path in (folder / "out").iterdir()}
    assert any(codes)
    assert run(folder) == (0, "")
    assert files(folder) == new
    assert {path.name for path in (folder / "out").iterdir()} == new.keys()


@pytest.mark.skipif(not hasattr(resource, "RLIMIT_FSIZE"), reason="the system has no limit of file sizes")
@pytest.mark.parametrize("size", [0, 100_000])
def test_a_full_disk_is_told_in_one_line_and_leaves_the_earlier_files(folder, whole, size):
    code, errors = run(folder, "-c", LIMITED, str(size))
    assert code == 1, errors
    assert errors.startswith("driftwise: Cannot ")
    assert errors.count("\n") == 1
    check_files(folder, *whole[1:])
    assert run(folder) == (0, "")
    assert files(folder) == whole[2]


def test_of_two_processes_that_write_to_one_folder_one_is_refused(folder, whole):
    running = [start(folder), start(folder)]
    ends = [(process.communicate(timeout=100)[1], process.returncode) for process in running]
    assert files(folder) == whole[2]
    refused = ("driftwise: combine: another process is writing to out; give another --out.\n", 2)
    assert sorted(ends) in ([("", 0), ("", 0)], [("", 0), refused])
