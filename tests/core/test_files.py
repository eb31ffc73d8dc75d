"""A file is written completely, to the target of its name, and no other file is changed or left behind."""

import errno
import fcntl
import os
import re
import socket
import stat
import subprocess
import sys
import tempfile
import threading
from pathlib import Path

import pytest

from driftwise import OptimisticGD, Session
from driftwise.core.errors import BadFile, InvalidInput
from driftwise.core.files import check_writable, locked, write_atomically, write_bytes_atomically

LONGEST = 255  # bytes of a name on the usual file systems


def write_new(path):
    path.write_text("new")


def names(folder):
    return sorted(entry.name for entry in folder.iterdir())


def mode(path):
    return stat.S_IMODE(path.stat().st_mode)


# Links


def test_a_link_stays_a_link_and_its_file_is_written(tmp_path):
    (tmp_path / "far").mkdir()
    (tmp_path / "far" / "file").write_text("old")
    (tmp_path / "link").symlink_to("middle")
    (tmp_path / "middle").symlink_to(Path("far") / "file")
    write_atomically(tmp_path / "link", write_new)
    assert (tmp_path / "link").readlink() == Path("middle")
    assert (tmp_path / "far" / "file").read_text() == "new"
    assert not (tmp_path / "far" / "file").is_symlink()
    assert names(tmp_path / "far") == ["file"]


def test_the_file_that_a_dangling_link_names_is_made(tmp_path):
    (tmp_path / "link").symlink_to(Path("deep") / "file")
    check_writable(tmp_path / "link")
    assert names(tmp_path) == ["link"]
    write_atomically(tmp_path / "link", write_new)
    assert (tmp_path / "link").is_symlink()
    assert (tmp_path / "deep" / "file").read_text() == "new"


@pytest.mark.parametrize("write", [lambda path: write_atomically(path, write_new), check_writable])
def test_a_loop_of_links_is_refused(tmp_path, write):
    (tmp_path / "a").symlink_to("b")
    (tmp_path / "b").symlink_to("a")
    with pytest.raises(BadFile, match=rf"^Cannot write {tmp_path}/a: Too many levels of symbolic links\.$"):
        write(tmp_path / "a")


def test_a_writer_sees_the_suffix_of_the_name_that_was_given(tmp_path):
    (tmp_path / "figure.png").symlink_to("content")
    seen = []
    write_atomically(tmp_path / "figure.png", lambda path: seen.append(path.suffix) or write_new(path))
    assert seen == [".png"]


WRITERS = {
    "with a writer": lambda path: write_atomically(path, write_new, follow_link=False),
    "from bytes": lambda path: write_bytes_atomically(path, b"new", follow_link=False),
}


@pytest.mark.parametrize("write", WRITERS.values(), ids=WRITERS)
@pytest.mark.parametrize("target", ["far/file", "far", "far/none", "link", "none/none"])
def test_a_link_that_is_not_followed_is_replaced(tmp_path, write, target):
    (tmp_path / "far").mkdir()
    (tmp_path / "far" / "file").write_text("old")
    (tmp_path / "link").symlink_to(target)
    check_writable(tmp_path / "link", follow_link=False)
    assert (tmp_path / "link").is_symlink()
    write(tmp_path / "link")
    assert not (tmp_path / "link").is_symlink()
    assert (tmp_path / "link").read_text() == "new"
    assert (tmp_path / "far" / "file").read_text() == "old"
    assert names(tmp_path / "far") == ["file"]
    assert names(tmp_path) == ["far", "link"]


@pytest.mark.parametrize("write", WRITERS.values(), ids=WRITERS)
def test_a_folder_that_is_a_link_is_always_followed(tmp_path, write):
    (tmp_path / "real").mkdir()
    (tmp_path / "folder").symlink_to("real")
    write(tmp_path / "folder" / "file")
    assert (tmp_path / "real" / "file").read_text() == "new"
    assert (tmp_path / "folder").is_symlink()


@pytest.mark.parametrize("target", ["victim", "none"])
def test_a_temporary_file_that_was_replaced_by_a_link_changes_neither_the_file_nor_what_the_link_names(
    tmp_path, target
):
    """Another program that may write to the folder replaces the file while it is written."""
    (tmp_path / "victim").write_text("precious")
    (tmp_path / "victim").chmod(0o640)
    (tmp_path / "file").write_text("old")
    (tmp_path / "file").chmod(0o666)
    seen = []

    def write(path):
        path.write_text("new")
        path.unlink()
        path.symlink_to(target)
        seen.append(path)

    with pytest.raises(BadFile, match=r"/file: another program replaced the temporary file\.$"):
        write_atomically(tmp_path / "file", write)
    assert (tmp_path / "file").read_text() == "old"
    assert (tmp_path / "victim").read_text() == "precious"
    assert mode(tmp_path / "victim") == 0o640
    assert seen[0].is_symlink()  # it is not ours
    assert not (tmp_path / "none").exists()


@pytest.mark.parametrize("target", ["victim", "none", "folder"])
def test_a_link_in_the_place_of_a_lock_is_refused(tmp_path, target):
    (tmp_path / "victim").write_text("precious")
    (tmp_path / "folder").mkdir()
    (tmp_path / "lock").symlink_to(target)
    with pytest.raises(BadFile, match="lock must be a regular file, got a link"), locked(tmp_path / "lock"):
        pass
    assert names(tmp_path) == ["folder", "lock", "victim"]
    assert (tmp_path / "victim").read_text() == "precious"


# Modes


@pytest.mark.parametrize("bits", [0o600, 0o640, 0o666, 0o755])
def test_a_file_keeps_its_mode(tmp_path, bits):
    file = tmp_path / "file"
    file.write_text("old")
    file.chmod(bits)
    seen = []
    write_atomically(file, lambda path: seen.append(mode(path)) or write_new(path))
    assert mode(file) == bits
    assert seen == [0o600]  # the temporary file is readable by its owner only


def test_a_session_readable_by_its_owner_only_stays_so(tmp_path):
    session = Session(OptimisticGD(), 2)
    session.save(tmp_path / "session")
    (tmp_path / "session").chmod(0o600)
    session.save(tmp_path / "session")
    assert mode(tmp_path / "session") == 0o600


# What is not a file


def test_a_pipe_is_given_the_finished_bytes_and_stays_a_pipe(tmp_path):
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    (tmp_path / "link").symlink_to("pipe")
    for name in ("pipe", "link"):
        got = []
        reader = threading.Thread(target=lambda: got.append(pipe.read_bytes()))
        reader.start()
        write_atomically(tmp_path / name, lambda path: path.write_bytes(b"x" * 200_000))
        reader.join()
        assert got == [b"x" * 200_000]
    assert pipe.is_fifo()
    assert names(tmp_path) == ["link", "pipe"]


def test_a_writer_that_fails_sends_nothing_into_a_pipe(tmp_path):
    os.mkfifo(tmp_path / "pipe")

    def write(path):
        path.write_text("half")
        raise OSError(28, "No space left on device")

    place = re.escape(tempfile.gettempdir())  # whose disk is full, not the pipe
    with pytest.raises(BadFile, match=rf"^Cannot write {place}/\.driftwise-\w+: No space left on device\.$"):
        write_atomically(tmp_path / "pipe", write)  # without a reader, opening would wait forever


def test_to_check_a_pipe_waits_for_no_reader(tmp_path):
    os.mkfifo(tmp_path / "pipe")
    check_writable(tmp_path / "pipe")


def test_a_pipe_without_a_reader_is_refused(tmp_path):
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)

    def read_a_little():
        with pipe.open("rb", buffering=0) as end:
            end.read(10)

    reader = threading.Thread(target=read_a_little)
    reader.start()
    with pytest.raises(BadFile, match=rf"^Cannot write {pipe}: Broken pipe\.$"):
        write_atomically(pipe, lambda path: path.write_bytes(b"x" * 1_000_000))  # more than a pipe holds
    reader.join()


def test_a_socket_is_refused(monkeypatch, tmp_path):
    monkeypatch.chdir(tmp_path)  # the name of a socket is short
    with socket.socket(socket.AF_UNIX) as end:
        end.bind("socket")
        with pytest.raises(BadFile, match=r"^Cannot write socket: it is a socket\.$"):
            write_atomically("socket", write_new)
        assert stat.S_ISSOCK(Path("socket").stat().st_mode)


# Errors of the disk


class ArrowError(OSError):
    """An error of Arrow: the system's number with words of its own."""

    def __init__(self):
        super().__init__(errno.ENOSPC, "Error writing bytes to file. Detail: [errno 28] No space left on device")


@pytest.mark.parametrize("error", [OSError(errno.ENOSPC, "No space left on device"), ArrowError()], ids=type)
def test_a_full_disk_is_named_with_the_file_and_the_earlier_file_stays(tmp_path, error):
    def write(path):
        path.write_text("half")
        raise error

    (tmp_path / "file").write_text("old")
    with pytest.raises(BadFile, match=rf"^Cannot write {tmp_path}/file: No space left on device\.$"):
        write_atomically(tmp_path / "file", write)
    assert names(tmp_path) == ["file"]
    assert (tmp_path / "file").read_text() == "old"


@pytest.mark.parametrize("place", ["fsync", "replace"])
def test_a_disk_that_fails_at_the_end_leaves_the_earlier_file(tmp_path, monkeypatch, place):
    def full(*_, **__):
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    (tmp_path / "file").write_text("old")
    monkeypatch.setattr(os, place, full)
    with pytest.raises(BadFile, match=rf"^Cannot write {tmp_path}/file: No space left on device\.$"):
        write_bytes_atomically(tmp_path / "file", b"new")
    assert names(tmp_path) == ["file"]
    assert (tmp_path / "file").read_text() == "old"


# Names


@pytest.mark.parametrize(
    "name",
    ["x" * LONGEST, "é" * 127, "x" * 251 + ".npz", "名" * 83 + ".parquet"[:6], "a." + "b" * 253],
    ids=["long", "two bytes a letter", "with a suffix", "three bytes a letter", "a long suffix"],
)
def test_names_up_to_the_limit_of_the_system_work(tmp_path, name):
    for _ in range(2):
        write_atomically(tmp_path / name, write_new)
        assert names(tmp_path) == [name]


BAD_NAMES = {
    "empty": ("", "'': the name is empty"),
    "here": (".", ".: Is a directory"),
    "above": ("..", "..: Is a directory"),
    "a folder": ("folder", "folder: Is a directory"),
    "a folder with a slash": ("folder/", "folder/: Is a directory"),
    "a file with a slash": ("file/", "file/: the name ends in a slash, as a folder's does"),
    "nothing with a slash": ("none/", "none/: the name ends in a slash, as a folder's does"),
    "below a file": ("file/x", "file/x: Not a directory"),
    "far below a file": ("file/x/y", "file/x/y: Not a directory"),
    "a null character": ("a\0b", r"'a\x00b': the name has a null character"),
    "not UTF-8": ("caf\udce9", r"'caf\udce9': the name is not valid UTF-8"),
    "half a character": ("caf\ud83d", r"'caf\ud83d': the name is not valid UTF-8"),
    "too long": ("x" * 256, "x" * 256 + ": File name too long"),
    "too long in a new folder": ("new/" + "x" * 256, "new/" + "x" * 256 + ": File name too long"),
    "too long a folder": ("x" * 256 + "/y", "x" * 256 + "/y: File name too long"),
    "far too long": ("y/" * 3000 + "x", ("y/" * 150) + "...: File name too long"),
    "a line break": ("file/\n", r"'file/\n': Not a directory"),
    "below a dangling link": ("dangling/x", "dangling/x: "),
    "a link to a slash": ("slashed", "slashed: the name ends in a slash, as a folder's does"),
}


@pytest.mark.parametrize("write", [lambda path: write_atomically(path, write_new), check_writable])
@pytest.mark.parametrize(("name", "message"), BAD_NAMES.values(), ids=BAD_NAMES)
def test_a_name_that_cannot_be_written_is_refused_in_one_line(name, message, write, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "folder").mkdir()
    (tmp_path / "file").write_text("old")
    (tmp_path / "dangling").symlink_to("none")
    (tmp_path / "slashed").symlink_to("none/")
    before = names(tmp_path)
    with pytest.raises(BadFile, match=rf"^Cannot write {re.escape(message)}.*\.$") as caught:
        write(name)
    assert len(str(caught.value).splitlines()) == 1
    str(caught.value).encode()
    assert names(tmp_path) == before
    assert (tmp_path / "file").read_text() == "old"


@pytest.mark.parametrize("name", [3, None, b"file", 1.5])
def test_other_objects_than_names_are_rejected(name):
    with pytest.raises(InvalidInput, match=r"^write: `path` must be the name of a file, got "):
        write_atomically(name, write_new)


def test_a_folder_without_write_permission_is_refused(tmp_path, monkeypatch):
    """Root may write everywhere, so the system's answer is imitated."""
    real = os.open

    def refuse(path, flags, *rest, **more):
        if flags & os.O_CREAT:
            raise PermissionError(13, "Permission denied")
        return real(path, flags, *rest, **more)

    monkeypatch.setattr(os, "open", refuse)
    for write in (lambda path: write_atomically(path, write_new), check_writable):
        with pytest.raises(BadFile, match=rf"^Cannot write {tmp_path}/file: Permission denied\.$"):
            write(tmp_path / "file")


def test_a_file_without_write_permission_is_refused(tmp_path, monkeypatch):
    (tmp_path / "file").write_text("old")
    monkeypatch.setattr(os, "access", lambda *_, **__: False)
    for write in (lambda path: write_atomically(path, write_new), check_writable):
        with pytest.raises(BadFile, match=rf"^Cannot write {tmp_path}/file: Permission denied\.$"):
            write(tmp_path / "file")


@pytest.mark.parametrize("name", ["file", "new/deep/file", "old"])
def test_a_check_leaves_everything_as_it_was(name, tmp_path):
    (tmp_path / "old").write_text("old")
    check_writable(tmp_path / name)
    assert names(tmp_path) == ["old"]
    assert (tmp_path / "old").read_text() == "old"


# Temporary files

KILLED = """
import os, signal, sys
from driftwise.core.files import write_atomically

def write(path):
    path.write_text("half")
    os.kill(os.getpid(), signal.SIGKILL)

write_atomically(sys.argv[1], write)
"""


def test_temporary_files_of_a_killed_process_are_deleted_by_the_next_writer(tmp_path):
    subprocess.run([sys.executable, "-c", KILLED, tmp_path / "a.txt"], check=False)
    assert len(names(tmp_path)) == 1
    write_atomically(tmp_path / "b.txt", write_new)
    assert names(tmp_path) == ["b.txt"]


def test_a_temporary_file_in_use_is_left_alone(tmp_path):
    """By another thread; a lock held by another process looks the same."""

    def write_outer(path):
        write_new(path)
        write_atomically(tmp_path / "inner", write_new)
        assert path.read_text() == "new"

    thread = threading.Thread(target=write_atomically, args=(tmp_path / "outer", write_outer))
    thread.start()
    thread.join()
    assert names(tmp_path) == ["inner", "outer"]


def test_a_temporary_file_locked_by_another_process_is_left_alone(tmp_path):
    held = tmp_path / ".driftwise-0123456789abcdef.npz"
    held.touch()
    command = f"import fcntl; f = open({os.fspath(held)!r}); fcntl.flock(f, fcntl.LOCK_EX); print(1, flush=1); input()"
    pipes = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE}
    with subprocess.Popen([sys.executable, "-c", command], **pipes) as other:
        other.stdout.readline()
        write_atomically(tmp_path / "file", write_new)
        assert held.exists()
        other.communicate(b"\n")
    write_atomically(tmp_path / "file", write_new)
    assert names(tmp_path) == ["file"]


def test_other_files_are_never_taken_for_temporary_ones(tmp_path):
    kept = [".driftwise-0123456789abcde.npz", "driftwise-0123456789abcdef", ".driftwise-0123456789abcdefg", ".file.npz"]
    for name in kept:
        (tmp_path / name).touch()
    (tmp_path / "elsewhere").touch()
    (tmp_path / ".driftwise-0123456789abcdef").symlink_to("elsewhere")
    os.mkfifo(tmp_path / ".driftwise-0123456789abcdee")
    before = names(tmp_path)
    write_atomically(tmp_path / "file", write_new)
    assert names(tmp_path) == sorted([*before, "file"])


def test_where_there_are_no_locks_nothing_is_deleted_and_files_are_written(tmp_path, monkeypatch):
    def flock(*_):
        raise OSError(95, "Operation not supported")

    monkeypatch.setattr(fcntl, "flock", flock)
    (tmp_path / ".driftwise-0123456789abcdef").touch()
    write_atomically(tmp_path / "file", write_new)
    assert names(tmp_path) == [".driftwise-0123456789abcdef", "file"]


def test_a_temporary_file_deleted_before_it_was_locked_is_replaced(tmp_path, monkeypatch):
    """Another writer deletes the file between its making and its lock; the content must not go with it."""
    real, left = fcntl.flock, [1]

    def flock(descriptor, operation):
        if left and operation & fcntl.LOCK_EX:
            left.pop()
            for path in tmp_path.iterdir():
                path.unlink()
        return real(descriptor, operation)

    monkeypatch.setattr(fcntl, "flock", flock)
    write_atomically(tmp_path / "file", write_new)
    assert (tmp_path / "file").read_text() == "new"


def test_many_threads_may_write_one_file(tmp_path):
    texts = [f"{k}" * 1000 for k in range(8)]
    threads = [
        threading.Thread(
            target=write_atomically, args=(tmp_path / "file", lambda path, text=text: path.write_text(text))
        )
        for text in texts * 5
    ]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert (tmp_path / "file").read_text() in texts
    assert names(tmp_path) == ["file"]


def test_file_and_folder_are_flushed_to_the_disk(tmp_path, monkeypatch):
    flushed = []
    monkeypatch.setattr(os, "fsync", lambda descriptor: flushed.append(os.fstat(descriptor).st_ino))
    write_atomically(tmp_path / "file", write_new)
    assert flushed == [(tmp_path / "file").stat().st_ino, tmp_path.stat().st_ino]


def test_streams_are_prepared_where_the_system_keeps_temporary_files(tmp_path, monkeypatch):
    """Not beside a device."""
    (tmp_path / "scratch").mkdir()
    monkeypatch.setattr(tempfile, "tempdir", os.fspath(tmp_path / "scratch"))
    os.mkfifo(tmp_path / "pipe.txt")
    reader = threading.Thread(target=(tmp_path / "pipe.txt").read_bytes)
    reader.start()
    seen = []
    write_atomically(tmp_path / "pipe.txt", lambda path: seen.append((path.parent, path.suffix)) or write_new(path))
    reader.join()
    assert seen == [(tmp_path / "scratch", ".txt")]
    assert names(tmp_path / "scratch") == []


# Full disks


LIMITED = """
import resource, sys
from driftwise import Session
from driftwise.core.errors import BadFile
resource.setrlimit(resource.RLIMIT_FSIZE, (4000, resource.RLIM_INFINITY))
try:
    Session(n_actions=500).save(sys.argv[1])
except BadFile as error:
    print(error)
"""


def test_a_session_that_does_not_fit_on_the_disk_names_its_file(tmp_path):
    session = Session(OptimisticGD(), 2)
    session.save(tmp_path / "session.npz")
    done = subprocess.run(
        [sys.executable, "-c", LIMITED, tmp_path / "session.npz"], capture_output=True, text=True, check=True
    )
    assert done.stdout == f"Cannot write {tmp_path / 'session.npz'}: File too large.\n"
    assert Session.load(tmp_path / "session.npz").n_actions == 2
    assert names(tmp_path) == ["session.npz"]
