"""`--import` finds a module of the user in the current folder, and no file there takes the place of another module."""

import subprocess
import sys

import pytest

from user_modules import OWN

SCRIPT = "from driftwise.cli.main import main; main()"  # what the installed script `driftwise` runs
PLANTED = ("numpy", "json", "driftwise", "click", "numba", "tomllib", "pyarrow", "csv", "shutil", "fractions", "queue")


def run(folder, *words):
    """Run the command as the script does, in a folder; unlike `python -c`, `-P` does not put that folder first."""
    command = [sys.executable, "-P", "-c", SCRIPT, *words]
    return subprocess.run(command, cwd=folder, capture_output=True, text=True, check=False)


@pytest.fixture
def folder(tmp_path):
    (tmp_path / "mymodule.py").write_text(f"import json, numpy, queue{OWN}")
    for name in PLANTED:
        (tmp_path / f"{name}.py").write_text(f"open({name + '-ran'!r}, 'w').close()\nraise SystemExit('planted')")
    return tmp_path


@pytest.mark.parametrize(
    "words",
    [
        ["list", "learners"],
        ["show", "own-hedge"],
        ["simulate", "--learner", "own-hedge", "--rounds", "20", "--runs", "1", "--quiet", "--out", "results.csv"],
    ],
    ids=lambda words: words[0],
)
def test_a_file_with_the_name_of_a_library_is_not_run(folder, words):
    done = run(folder, *words, "--import", "mymodule")
    assert (done.returncode, done.stderr) == (0, "")
    assert "own-hedge" in done.stdout
    assert not [*folder.glob("*-ran")]


def test_a_module_of_the_user_with_the_name_of_another_one_is_refused(folder):
    done = run(folder, "list", "--import", "queue")
    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr == "driftwise: --import queue: there is another module of this name; rename queue.py.\n"
    assert not [*folder.glob("*-ran")]


def test_modules_that_are_installed_can_be_imported_without_a_file(folder):
    (folder / "queue.py").unlink()
    assert run(folder, "list", "learners", "--import", "queue").returncode == 0
