"""A run of `driftwise combine` that is interrupted anywhere continues with --resume to the same bytes."""

import contextlib
import errno
import gzip
import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import numpy as np
import pytest

from combine_examples import FIXED_SHARE, FORMATS, SMALL_BLOCK, example, small_blocks, visible, write
from command_line import runner
from driftwise.core.archives import read_archive, write_archive
from driftwise.core.file_locks import try_lock

HIDDEN = ".driftwise-partial"
WORDS = ("--target", "y", "--time", "ds", "--by", "series", *FIXED_SHARE)


@pytest.fixture
def combine(monkeypatch, capsys, tmp_path):
    run = runner(monkeypatch, capsys, tmp_path)
    small_blocks(monkeypatch)
    return lambda *words: run("combine", *words, *WORDS)


class Interrupted(BaseException):
    """Stands for the end of the process: nothing handles it."""


class Interruption:
    """Ends the process at one of the calls that change the disk, before it or halfway through it."""

    def __init__(self, monkeypatch):
        self.left, self.calls = None, 0
        for name in ("fsync", "unlink", "rename", "replace", "rmdir"):
            monkeypatch.setattr(os, name, self.interrupting(getattr(os, name)))
        from driftwise.forecasting.tables.table_writers import PartialFile

        whole = PartialFile.append

        def append(file, content):
            if self.due():
                whole(file, memoryview(content).cast("B")[: len(memoryview(content).cast("B")) // 2])
                raise Interrupted
            whole(file, content)

        monkeypatch.setattr(PartialFile, "append", append)

    def interrupting(self, function):
        def call(*args, **options):
            if self.due():
                raise Interrupted
            return function(*args, **options)

        return call

    def due(self):
        self.calls += 1
        if self.left is None:
            return False
        self.left -= 1
        return self.left < 0  # everything after it fails, too: the process has ended


@pytest.mark.parametrize("output", FORMATS)
def test_a_run_continues_from_any_interruption(combine, tmp_path, monkeypatch, output):
    """The disk changes at about a hundred places, and every third is an end; the first --resume is interrupted, too."""
    write(example(300, n_series=4, interleaved=True), tmp_path / "in.parquet")
    interruption = Interruption(monkeypatch)
    words = ("in.parquet", "--format", output, "--no-page")
    assert combine(*words, "--out", "whole").code == 0
    whole, n_calls = visible(tmp_path / "whole"), interruption.calls
    assert n_calls > 40
    for place in range(FORMATS.index(output), n_calls, 3):
        out = tmp_path / f"out{place}"
        for left in (place, place // 2):
            interruption.left = left
            with contextlib.suppress(Interrupted):
                combine(*words, "--out", out, *(["--resume"] if left != place else []))
            final = [name for name in visible(out) if not name.startswith(".")]
            assert all(visible(out)[name] == whole[name] for name in final)
        interruption.left = None
        left = combine(*words, "--out", out, "--resume")
        assert left.code == 0, left.err
        # A temporary file stays locked here, because this process has not ended.
        assert {name: content for name, content in visible(out).items() if name[0] != "."} == whole
        assert not (out / HIDDEN).exists()


@pytest.mark.parametrize("given", ["csv", "jsonl", "csv.gz"])
def test_text_is_read_again_from_the_last_checkpoint(combine, tmp_path, monkeypatch, given):
    """Also with times that are compared as text, and series with line breaks in their names."""
    table = example(300, n_series=4, interleaved=True)
    file = write(table, tmp_path / f"in.{given.removesuffix('.gz')}")
    content = file.read_text()
    for i in range(300):
        old, new = (f"\n{i},", f'\n"t\n{i:03}",') if given != "jsonl" else (f'"ds": {i},', f'"ds": "t{i:03}",')
        content = content.replace(old, new, 1)
    file.write_text(content)
    if given.endswith(".gz"):
        file = tmp_path / "in.csv.gz"
        file.write_bytes(gzip.compress(content.encode()))
    words = (file, "--format", "csv", "--no-page")
    assert combine(*words, "--out", "compiled").code == 0  # kernels, whose files would be counted
    interruption = Interruption(monkeypatch)
    assert combine(*words, "--out", "whole").code == 0
    interruption.left = interruption.calls // 2
    with contextlib.suppress(Interrupted):
        combine(*words, "--out", "out")
    interruption.left = None
    rows = checkpoint_of(tmp_path / "out")[0]["rows"]
    assert 0 < rows < 300
    assert combine(*words, "--out", "out", "--resume").code == 0
    assert visible(tmp_path / "out") == visible(tmp_path / "whole")


def checkpoint_of(out):
    return read_archive(out / HIDDEN / "checkpoint.npz", "checkpoint")


@pytest.fixture
def interrupted(combine, tmp_path, monkeypatch):
    """Interrupt a run in the folder `out` after its second checkpoint."""
    write(example(300, n_series=4, interleaved=True), tmp_path / "in.csv")
    assert combine("in.csv", "--out", "compiled").code == 0  # kernels, whose files would be counted
    with monkeypatch.context() as context:
        interruption = Interruption(context)
        assert combine("in.csv", "--out", "whole").code == 0
        interruption.left = interruption.calls // 2
        with contextlib.suppress(Interrupted):
            combine("in.csv", "--out", "out")
    return tmp_path / "out"


def test_a_run_continues_only_with_the_same_options_and_input(combine, interrupted, tmp_path):
    left = combine("in.csv", "--out", "out", "--resume", "--loss", "absolute")
    other = "combine: --resume continues the same command only, and the unfinished run had other options."
    assert left[::2] == (2, f"driftwise: {other} Give its options, or start again without --resume.\n")
    file = tmp_path / "in.csv"
    about = file.stat()
    file.write_bytes(file.read_bytes().replace(b"\n5,", b"\n4,", 1))
    os.utime(file, ns=(about.st_atime_ns, about.st_mtime_ns))
    left = combine("in.csv", "--out", "out", "--resume")
    other = "combine: the input is not the file that the unfinished run read: it was changed."
    assert left[::2] == (2, f"driftwise: {other} Start again without --resume.\n")
    file.write_bytes(file.read_bytes().replace(b"\n4,", b"\n5,", 1).replace(b"\n5,", b"\n4,", 1))


def test_the_page_and_the_threads_may_differ(combine, interrupted, tmp_path):
    assert combine("in.csv", "--out", "out", "--resume", "--threads", 1).code == 0
    assert visible(interrupted) == visible(tmp_path / "whole")


def test_without_resume_an_unfinished_run_is_replaced_with_a_note(combine, interrupted, tmp_path, monkeypatch, capsys):
    run = runner(monkeypatch, capsys, tmp_path)
    words = [word for word in WORDS if word != "--quiet"]
    left = run("combine", "in.csv", "--out", "out", *words)
    assert left.err == "driftwise: The unfinished run in out was deleted; --resume continues one.\n"
    assert visible(interrupted) == visible(tmp_path / "whole")


def test_resume_without_a_checkpoint_starts_at_the_first_row(combine, tmp_path, monkeypatch, capsys):
    run = runner(monkeypatch, capsys, tmp_path)
    write(example(), tmp_path / "in.csv")
    words = [word for word in WORDS if word != "--quiet"]
    left = run("combine", "in.csv", "--out", "out", "--resume", *words)
    assert left.code == 0
    assert left.err == "driftwise: There is no checkpoint in out; starting at the first row.\n"


def damaged(header, arrays):
    """Yield checkpoints that must be rejected, each with a word of the message."""
    yield "fields", {key: value for key, value in header.items() if key != "rows"}, arrays
    yield "format", {**header, "format": 2}, arrays
    yield "position", {**header, "position": [1, 2]}, arrays
    yield "rows", {**header, "rows": -1}, arrays
    yield "lengths", {**header, "lengths": {"rows": "x"}}, arrays
    yield "shorter", {**header, "lengths": {"rows": 10**9}}, arrays
    yield "kind of times", {**header, "time_kind": "x"}, arrays
    yield "kind of times", {**header, "time_kind": 3}, arrays
    yield "type", {**header, "time_kind": "time"}, {**arrays, "times.last": arrays["times.last"].astype(np.float32)}
    yield "finite", header, {**arrays, "times.last": np.full_like(arrays["times.last"], np.nan)}
    yield "one time per series", header, {**arrays, "times.last": arrays["times.last"][1:]}
    yield "twice", header, {**arrays, "series.texts": np.frombuffer(b"s0s1s2s0", np.uint8)}
    yield "lengths", header, {**arrays, "series.lengths": arrays["series.lengths"] + 1}
    yield "another type", header, {**arrays, "series.lengths": arrays["series.lengths"].astype(float)}
    yield "flags", header, {**arrays, "awake": arrays["awake"][1:]}
    yield "learner_weights", header, {key: value for key, value in arrays.items() if key != "stack.learner_weights"}
    wrong = {key: value * np.inf if key == "stack.mixture_scale" else value for key, value in arrays.items()}
    yield "mixture_scale", header, wrong
    for name in arrays:
        if name.startswith(("report.", "stack.")):
            yield "", header, {key: value[..., None] if key == name else value for key, value in arrays.items()}


def test_a_damaged_checkpoint_is_rejected_in_one_line(combine, interrupted):
    path = interrupted / HIDDEN / "checkpoint.npz"
    header, arrays = checkpoint_of(interrupted)
    before = visible(interrupted)
    for word, about, values in damaged(header, arrays):
        with path.open("wb") as stream, np.errstate(invalid="ignore"):
            write_archive(stream, "checkpoint", about, values)
        left = combine("in.csv", "--out", "out", "--resume")
        assert (left.code, left.err.count("\n")) == (2, 1), left.err
        assert word in left.err
        assert left.err.endswith("start again without --resume.\n"), left.err
    for content in (b"", b"junk", before[f"{HIDDEN}/checkpoint.npz"][:-100]):
        path.write_bytes(content)
        left = combine("in.csv", "--out", "out", "--resume")
        assert (left.code, left.err.count("\n")) == (2, 1), left.err
    path.write_bytes(before[f"{HIDDEN}/checkpoint.npz"])
    assert visible(interrupted) == before  # nothing was lost
    assert combine("in.csv", "--out", "out", "--resume").code == 0


def test_times_of_another_kind_in_a_checkpoint_are_rejected(combine, interrupted):
    header, arrays = checkpoint_of(interrupted)
    whole = {**arrays, "times.last": arrays["times.last"].astype(np.int64)}
    with (interrupted / HIDDEN / "checkpoint.npz").open("wb") as stream:
        write_archive(stream, "checkpoint", {**header, "time_kind": "whole"}, whole)
    left = combine("in.csv", "--out", "out", "--resume")
    assert (left.code, left.err.count("\n")) == (2, 1), left.err
    assert "column 'ds': the checkpoint has times of another kind" in left.err


def test_damaged_metadata_of_row_groups_are_rejected(combine, tmp_path, monkeypatch):
    write(example(), tmp_path / "in.csv")
    words = ("in.csv", "--out", "out", "--format", "parquet", "--no-page")
    assert combine(*words).code == 0  # kernels are compiled, whose files would be counted
    with monkeypatch.context() as context:
        interruption = Interruption(context)
        assert combine(*words).code == 0
        interruption.left = interruption.calls // 2
        with contextlib.suppress(Interrupted):
            combine(*words)
    path = tmp_path / "out" / HIDDEN / "forecasts.parquet.groups"
    content, end = path.read_bytes(), checkpoint_of(tmp_path / "out")[0]["lengths"]["groups"]
    for place, byte in ((0, 0xFF), (8, 0xFF), (12, 0), (end - 1, 0x15)):
        damaged = bytearray(content)
        damaged[place] = byte
        path.write_bytes(damaged)
        left = combine(*words, "--resume")
        assert (left.code, left.err.count("\n")) == (2, 1), left.err
        assert "forecasts.parquet.groups" in left.err, left.err
    path.write_bytes(content)
    assert combine(*words, "--resume").code == 0


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


def test_a_run_can_be_continued_after_an_error_of_the_disk(combine, tmp_path, monkeypatch):
    write(example(600), tmp_path / "in.csv")
    assert combine("in.csv", "--out", "whole").code == 0
    with monkeypatch.context() as broken:
        broken.setattr("driftwise.forecasting.tables.table_sources._opened", lambda path: FailingFile(path, 15000))
        left = combine("in.csv", "--out", "out")
    assert left == (1, "", "driftwise: Cannot read in.csv: Input/output error.\n")
    assert checkpoint_of(tmp_path / "out")[0]["rows"] > 0
    assert combine("in.csv", "--out", "out", "--resume").code == 0
    assert visible(tmp_path / "out") == visible(tmp_path / "whole")


def test_bad_input_leaves_nothing_behind(combine, tmp_path):
    file = write(example(), tmp_path / "in.csv")
    file.write_text(file.read_text() + "300,s0,1,2,3,x\n")
    left = combine("in.csv", "--out", "out")
    assert left.code == 2
    assert "line 302, column 'c': 'x' is not a number." in left.err
    assert not (tmp_path / "out").exists()


def test_two_processes_cannot_write_to_one_folder(combine, tmp_path):
    write(example(), tmp_path / "in.csv")
    (tmp_path / "out" / HIDDEN).mkdir(parents=True)
    descriptor = os.open(tmp_path / "out" / HIDDEN / "lock", os.O_RDWR | os.O_CREAT)
    assert try_lock(descriptor)
    left = combine("in.csv", "--out", "out")
    message = "driftwise: combine: another process is writing to out; give another --out.\n"
    assert left == (2, "", message)
    os.close(descriptor)
    assert combine("in.csv", "--out", "out").code == 0
    assert not (tmp_path / "out" / HIDDEN).exists()


def test_the_output_of_an_earlier_run_is_replaced_as_a_whole(combine, tmp_path, monkeypatch):
    """A new file of forecasts never stands beside the summary of an older one."""
    write(example(300, seed=1), tmp_path / "in.csv")
    assert combine("in.csv", "--out", "out").code == 0
    first = visible(tmp_path / "out")
    write(example(300, seed=2), tmp_path / "in.csv")
    with monkeypatch.context() as context:
        interruption = Interruption(context)
        for left in range(1, 400, 4):
            interruption.left = left
            with contextlib.suppress(Interrupted):
                combine("in.csv", "--out", "out")
            now = {name: content for name, content in visible(tmp_path / "out").items() if name[0] != "."}
            assert now == first or now.get("forecasts.csv") != first["forecasts.csv"] or {*now} < {*first}
            if now.get("forecasts.csv") != first["forecasts.csv"]:
                assert now.get("summary.json") != first["summary.json"]
                break
        else:
            raise AssertionError("no interruption came after the new file")


def test_the_input_cannot_be_overwritten(combine, tmp_path):
    write(example(), tmp_path / "forecasts.csv")
    left = combine("forecasts.csv", "--out", ".")
    assert left.code == 2
    assert left.err == "driftwise: combine: forecasts.csv is read by the same command; write to another file.\n"


@pytest.mark.parametrize("output", ["csv", "parquet"])
def test_a_killed_process_continues(combine, tmp_path, output):
    """A real kill -9 as soon as there is a checkpoint; blocks are small and a checkpoint follows each."""
    n_rows = 8000
    write(example(n_rows, n_series=4, interleaved=True), tmp_path / "in.parquet")
    script = tmp_path / "run.py"
    script.write_text(
        "from driftwise.cli.main import main\n"
        "from driftwise.forecasting.tables import table_runs\n"
        f"table_runs.block_rows, table_runs._SECONDS, table_runs._SHARE = lambda n_columns: {SMALL_BLOCK}, 0.0, 0.0\n"
        "main()\n"
    )
    words = ["in.parquet", "--format", output, "--no-page"]
    line = [sys.executable, script, "combine", *words, *WORDS, "--out", "out"]
    running = subprocess.Popen(line, cwd=tmp_path, stdout=subprocess.DEVNULL)
    end = time.monotonic() + 100
    while not (tmp_path / "out" / HIDDEN / "checkpoint.npz").exists() and time.monotonic() < end:
        assert running.poll() is None
        time.sleep(0.002)
    running.send_signal(signal.SIGKILL)
    assert running.wait() == -signal.SIGKILL
    assert 0 < checkpoint_of(tmp_path / "out")[0]["rows"] < n_rows
    assert combine(*words, "--out", "out", "--resume").code == 0
    assert combine(*words, "--out", "whole").code == 0
    assert visible(tmp_path / "out") == visible(tmp_path / "whole")
    assert json.loads((tmp_path / "out" / "summary.json").read_text())["rows"] == n_rows
