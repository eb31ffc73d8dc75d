"""Files of `driftwise combine` have their final names only when they are complete, however a run ends."""

import contextlib
import errno
import os
from pathlib import Path

import pytest

from combine_examples import FIXED_SHARE, OUTPUTS, example, small_blocks, visible, write
from command_line import runner
from driftwise.core.files import try_lock

WORDS = ("--target", "y", "--time", "ds", "--by", "series", *FIXED_SHARE)


@pytest.fixture
def combine(monkeypatch, capsys, tmp_path):
    run = runner(monkeypatch, capsys, tmp_path)
    small_blocks(monkeypatch)
    return lambda *words: run("combine", *words, *WORDS)


class Interrupted(BaseException):
    """Stands for the end of the process: nothing handles it."""


class Interruption:
    """Ends the process at one of the calls that change the disk."""

    def __init__(self, monkeypatch):
        self.left, self.calls = None, 0
        for name in ("fsync", "unlink", "rename", "replace", "rmdir"):
            monkeypatch.setattr(os, name, self.interrupting(getattr(os, name)))
        from driftwise.forecasting.combining import _TableWriter

        monkeypatch.setattr(_TableWriter, "write", self.interrupting(_TableWriter.write))

    def interrupting(self, function):
        def call(*args, **options):
            self.calls += 1
            if self.left is not None:
                self.left -= 1
                if self.left < 0:  # everything after it fails, too: the process has ended
                    raise Interrupted
            return function(*args, **options)

        return call


@pytest.mark.parametrize("output", OUTPUTS)
def test_a_run_that_ends_anywhere_leaves_complete_files_and_a_later_one_replaces_them(
    combine, tmp_path, monkeypatch, output
):
    """A new file of forecasts never stands beside the summary of an older one."""
    words = ("in.parquet", "--format", output, "--no-page")
    contents = []
    for seed in (1, 2):
        write(example(300, n_series=4, interleaved=True, seed=seed), tmp_path / "in.parquet")
        assert combine(*words, "--out", f"whole{seed}").code == 0
        contents.append(visible(tmp_path / f"whole{seed}"))
    old, new = contents
    forecasts, states = f"forecasts.{output}", set()
    with monkeypatch.context() as context:
        interruption = Interruption(context)
        assert combine(*words, "--out", "counted").code == 0
        n_calls = interruption.calls
        assert n_calls > 10
        for place in range(n_calls):
            out = tmp_path / f"out{place}"
            out.mkdir()
            for name, content in old.items():
                (out / name).write_bytes(content)
            interruption.left = place
            with contextlib.suppress(Interrupted):
                combine(*words, "--out", out)
            interruption.left = None
            now = visible(out)
            assert now[forecasts] in (old[forecasts], new[forecasts])
            if "summary.json" in now:
                assert now in (old, new)
            states.add((now[forecasts] == new[forecasts], "summary.json" in now))
            assert combine(*words, "--out", out).code == 0
            assert visible(out) == new
    assert states >= {(False, True), (False, False), (True, False)}


class FailingFile:
    """A file on a disk that fails after some bytes."""

    def __init__(self, path, n_bytes):
        self.file, self.left = Path(path).open("rb"), n_bytes  # noqa: SIM115

    def __getattr__(self, name):
        return getattr(self.file, name)

    def read(self, n_bytes):
        self.left -= n_bytes
        if self.left < 0:
            raise OSError(errno.EIO, os.strerror(errno.EIO))
        return self.file.read(n_bytes)


def test_an_error_of_the_disk_is_named_and_leaves_nothing(combine, tmp_path, monkeypatch):
    write(example(600), tmp_path / "in.csv")
    monkeypatch.setattr("driftwise.environments.table_files.opened", lambda path: FailingFile(path, 15000))
    assert combine("in.csv", "--out", "out") == (1, "", "driftwise: Cannot read in.csv: Input/output error.\n")
    assert not (tmp_path / "out").exists()


def test_an_output_that_cannot_be_written_is_named(combine, tmp_path, monkeypatch):
    def full(*_):
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    write(example(600), tmp_path / "in.csv")
    monkeypatch.setattr("driftwise.forecasting.combining._TableWriter.write", full)
    left = combine("in.csv", "--out", "out")
    assert left == (1, "", "driftwise: Cannot write out/forecasts.csv: No space left on device.\n")
    assert not (tmp_path / "out").exists()


def test_bad_input_leaves_nothing_behind(combine, tmp_path):
    file = write(example(), tmp_path / "in.csv")
    file.write_text(file.read_text() + "300,s0,1,2,3,x\n")
    left = combine("in.csv", "--out", "a/b/out")
    assert left.code == 2
    assert "line 302, column 'c': 'x' is not a number." in left.err
    assert not (tmp_path / "a").exists()


def test_two_processes_cannot_write_to_one_folder(combine, tmp_path):
    write(example(), tmp_path / "in.csv")
    (tmp_path / "out").mkdir()
    descriptor = os.open(tmp_path / "out", os.O_RDONLY)
    assert try_lock(descriptor)
    left = combine("in.csv", "--out", "out")
    assert left == (2, "", "driftwise: combine: another process is writing to out; give another --out.\n")
    os.close(descriptor)
    assert combine("in.csv", "--out", "out").code == 0


def test_the_input_cannot_be_overwritten(combine, tmp_path):
    write(example(), tmp_path / "forecasts.csv")
    left = combine("forecasts.csv", "--out", ".")
    assert left.code == 2
    assert left.err == "driftwise: combine: forecasts.csv is read by the same command; write to another file.\n"
