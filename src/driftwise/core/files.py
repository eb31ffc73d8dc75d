"""Files: their names, locks, TOML, and atomic writing: completely or not at all, and with the mode that they had.

A symbolic link under a name that the user gives is followed to its file. Under a name that driftwise gives to a file in
a folder of the user it is replaced by the file, so that a link in that folder does not change a file elsewhere. A pipe
or a character device receives the finished bytes. A folder, a socket and a block device are rejected.

The names of temporary files are random, and they are created only if nothing has the name, not even a link. If another
program that may write to the same folder replaces one, it is not renamed, and what is in its place is not deleted.

Temporary files are locked while they are written, so that those of a killed process can be found and deleted. The lock
is `flock`'s, which the system releases when the process ends. It belongs to an open file, so it distinguishes threads
as well as processes. It does not depend on process ids, which are reused and have no meaning in another container.
"""

from __future__ import annotations

import contextlib
import errno
import fcntl
import os
import re
import secrets
import shutil
import stat
import tempfile
import tomllib
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, NamedTuple

from driftwise.core.errors import BadFile, rejection

_NAME = re.compile(r"\.driftwise-[0-9a-f]{16}(\..*)?", re.DOTALL)
_USUAL_LIMIT = 255  # bytes of a file's name, if the system gives no limit
_PRIVATE, _USUAL = 0o600, 0o666
_PLAIN = os.O_NOFOLLOW | os.O_NONBLOCK | os.O_CLOEXEC  # a link is not followed, a pipe is not waited for


class TemporaryFile(NamedTuple):
    """A temporary file, open for reading and writing."""

    path: Path
    descriptor: int

    def has_its_name(self) -> bool:
        """Return whether the path is that of this file, not of another one or of a link."""
        try:
            return os.path.samestat(self.path.lstat(), os.fstat(self.descriptor))
        except FileNotFoundError:
            return False


@contextlib.contextmanager
def temporary_file(folder: Path, suffix: str, private: bool) -> Iterator[TemporaryFile]:
    """Create a file in `folder` and yield it; afterwards delete it, unless it was renamed.

    A `private` file can be read by its owner only; otherwise it has the mode of any new file.
    """
    _delete_abandoned(folder)
    file = _create(folder, suffix, _PRIVATE if private else _USUAL)
    try:
        yield file
    finally:
        try:
            if file.has_its_name():
                file.path.unlink(missing_ok=True)
        finally:
            os.close(file.descriptor)


def longest_name(folder: Path) -> int:
    """Return the largest length in bytes of a file name in `folder`."""
    try:
        return os.pathconf(folder, "PC_NAME_MAX")
    except (OSError, ValueError):
        return _USUAL_LIMIT


def _name_for(folder: Path, suffix: str) -> str:
    """Return a name for a temporary file; it ends in `suffix`, because some writers choose their format by it."""
    name = f".driftwise-{secrets.token_hex(8)}"
    fits = len(os.fsencode(name + suffix)) <= longest_name(folder)
    return name + suffix if fits else name  # no format has a suffix that long


def _delete_abandoned(folder: Path) -> None:
    """Delete the temporary files in `folder` that no process or thread has locked; unreadable files stay."""
    with contextlib.suppress(OSError), os.scandir(folder) as entries:
        for name in [entry.name for entry in entries if _NAME.fullmatch(entry.name)]:
            with contextlib.suppress(OSError):
                _delete_if_abandoned(folder / name)


def _delete_if_abandoned(path: Path) -> None:
    descriptor = os.open(path, os.O_RDONLY | _PLAIN)  # the name may be a link or a pipe of another user
    try:
        if stat.S_ISREG(os.fstat(descriptor).st_mode) and try_lock(descriptor):
            path.unlink()
    finally:
        os.close(descriptor)


def _create(folder: Path, suffix: str, mode: int) -> TemporaryFile:
    while True:
        path = folder / _name_for(folder, suffix)
        descriptor = os.open(path, os.O_RDWR | os.O_CREAT | os.O_EXCL | os.O_CLOEXEC, mode)
        # Until it is locked, another writer may take the file for an abandoned one and delete it.
        if try_lock(descriptor) is not False and os.fstat(descriptor).st_nlink:
            return TemporaryFile(path, descriptor)
        os.close(descriptor)
        path.unlink(missing_ok=True)


def write_atomically(
    path: str | os.PathLike[str],
    write: Callable[[Path], object],
    suffix: str | None = None,
    follow_link: bool = True,
) -> None:
    """Call `write` with a temporary file, flush it to disk, and rename it to `path`.

    The temporary file has the suffix of `path`, unless another is given. If `path` is a link, the file that it leads to
    is written, or without `follow_link` the link is replaced.
    """
    _replace_file(path, lambda file: write(file.path), suffix, follow_link)


def write_bytes_atomically(path: str | os.PathLike[str], content: bytes, follow_link: bool = True) -> None:
    """Write a file as `write_atomically` does; the temporary file has no suffix, so `*.parquet` does not match it."""

    def write(file: TemporaryFile) -> None:
        with os.fdopen(file.descriptor, "wb", closefd=False) as stream:
            stream.write(content)

    _replace_file(path, write, "", follow_link)


def _replace_file(
    path: str | os.PathLike[str], write: Callable[[TemporaryFile], object], suffix: str | None, follow_link: bool
) -> None:
    with _errors_in_one_line(path):
        target = destination(path, follow_link)
        if target.is_stream:
            _write_stream(target, write)
            return
        _existing_folder(target.path)
        folder = target.path.parent
        folder.mkdir(parents=True, exist_ok=True)
        ending = target.suffix if suffix is None else suffix
        with temporary_file(folder, ending, private=target.before is not None) as temporary:
            write(temporary)
            if target.before is not None:
                _copy_owner_and_mode(temporary.descriptor, target.before)
            os.fsync(temporary.descriptor)
            if not temporary.has_its_name():
                raise OSError(0, "another program replaced the temporary file")
            temporary.path.replace(target.path)
        flush_folder(folder)


def check_writable(path: str | os.PathLike[str], follow_link: bool = True) -> None:
    """Raise the errors that `write_atomically` would raise for this path; no file and no folder is left behind."""
    with _errors_in_one_line(path):
        target = destination(path, follow_link)
        if target.is_stream:
            return  # opening a pipe would wait for its reader
        with temporary_file(_existing_folder(target.path), target.suffix, private=True):
            pass  # permissions alone do not decide


def _existing_folder(path: Path) -> Path:
    """Return the nearest existing folder above a path; the names below it must not be too long."""
    missing = [path.name]
    folder = path.parent
    while not os.path.lexists(folder) and folder != folder.parent:
        missing.append(folder.name)
        folder = folder.parent
    limit = longest_name(folder)
    if any(len(os.fsencode(name)) > limit for name in missing):
        raise OSError(errno.ENAMETOOLONG, os.strerror(errno.ENAMETOOLONG))
    return folder


@contextlib.contextmanager
def _errors_in_one_line(path: str | os.PathLike[str]) -> Iterator[None]:
    try:
        yield
    except BadFile:
        raise
    except OSError as error:
        # Arrow puts words of its own around those of the system.
        words = os.strerror(error.errno) if error.errno else error.strerror
        reason = (words or str(error) or type(error).__name__).splitlines()[0]
        raise BadFile(f"Cannot write {shown_path(path)}: {reason.rstrip('.')}.") from None


def _write_stream(target: Destination, write: Callable[[TemporaryFile], object]) -> None:
    """Write a temporary file first: writers may seek, and a failed one must leave no partial output in the stream."""
    with temporary_file(Path(tempfile.gettempdir()), target.suffix, private=True) as temporary:
        with _errors_in_one_line(temporary.path):  # its disk may be full, not the stream
            write(temporary)
        descriptor = os.open(target.path, os.O_WRONLY | os.O_NOCTTY | os.O_CLOEXEC)
        os.lseek(temporary.descriptor, 0, os.SEEK_SET)
        with os.fdopen(temporary.descriptor, "rb", closefd=False) as content, os.fdopen(descriptor, "wb") as sink:
            shutil.copyfileobj(content, sink)


def _copy_owner_and_mode(descriptor: int, before: os.stat_result) -> None:
    mode, now = stat.S_IMODE(before.st_mode), os.fstat(descriptor)
    if (now.st_uid, now.st_gid) != (before.st_uid, before.st_gid):
        try:
            os.fchown(descriptor, before.st_uid, before.st_gid)
        except PermissionError:
            mode &= ~(stat.S_ISUID | stat.S_ISGID | stat.S_IRWXG)  # they were meant for another owner and group
    os.fchmod(descriptor, mode)


def flush_folder(folder: Path) -> None:
    """Make the new name durable; some file systems cannot, and the folder need not be readable."""
    with contextlib.suppress(OSError):
        descriptor = os.open(folder, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
        try:
            os.fsync(descriptor)
        finally:
            os.close(descriptor)


_MOST_LINKS = 40  # as many as Linux follows
_LONGEST_SHOWN = 300


class Destination(NamedTuple):
    """A file to write, which may exist already, or a stream."""

    path: Path
    suffix: str  # of the given name, which may be a link: writers choose their format by it
    before: os.stat_result | None  # of the existing file

    @property
    def is_stream(self) -> bool:
        """Whether it is a pipe or a character device, which can be written but not replaced."""
        return self.before is not None and not stat.S_ISREG(self.before.st_mode)


def destination(path: str | os.PathLike[str], follow_link: bool = True) -> Destination:
    """Return the destination, which a link may name; raise `OSError` if it cannot be written.

    Without `follow_link` a link is the destination itself; the folder of the path may be a link in any case.
    """
    place = _checked(path)
    if not follow_link and place.is_symlink():
        return Destination(place, place.suffix, None)
    try:
        before = place.stat()
    except FileNotFoundError:
        return Destination(_follow(place), place.suffix, None)
    _require_writable(place, before.st_mode)
    if not stat.S_ISREG(before.st_mode):
        return Destination(place, place.suffix, before)  # the system follows links, also to an unnamed pipe
    target = _follow(place)
    if not target.exists():
        raise OSError(0, "it is a link to a file without a name")
    return Destination(target, place.suffix, before)


def existing_file(path: str | os.PathLike[str]) -> Path:
    """Return the path of a file to read; raise `BadFile` if there is none or its name is impossible."""
    if not os.path.isfile(path):  # noqa: PTH113 (a Path raises where the name is too long)
        raise BadFile(f"There is no file {shown_path(path)}.")
    return Path(path)


def shown_path(path: str | os.PathLike[str]) -> str:
    """Return a path as a message shows it: on one line, printable, not too long.

    >>> print(shown_path("a/b.npz"), shown_path("a\\nb"))
    a/b.npz 'a\\nb'
    """
    text = os.fsdecode(path)
    text = text if text and text.isprintable() else repr(text)
    return text if len(text) <= _LONGEST_SHOWN else f"{text[:_LONGEST_SHOWN]}..."


def _checked(path: str | os.PathLike[str]) -> Path:
    if not isinstance(path, str | os.PathLike) or not isinstance(os.fspath(path), str):
        raise rejection("write", "path", "the name of a file", path)
    name = os.fspath(path)
    if not name:
        raise OSError(0, "the name is empty")
    if "\0" in name:
        raise OSError(0, "the name has a null character")
    try:
        name.encode()
    except UnicodeEncodeError:
        raise OSError(0, "the name is not valid UTF-8") from None
    if name.endswith("/") and not Path(name).is_dir():
        raise OSError(0, "the name ends in a slash, as a folder's does")
    return Path(name)


def _follow(path: Path) -> Path:
    """Return the path at the end of a chain of links; nothing need exist there."""
    for _ in range(_MOST_LINKS):
        if not path.is_symlink():
            return path
        named = os.readlink(path)  # noqa: PTH115 (a Path would drop a slash at the end)
        path = path.parent / _checked(named)
    raise OSError(errno.ELOOP, os.strerror(errno.ELOOP))


def _require_writable(path: Path, mode: int) -> None:
    if stat.S_ISDIR(mode):
        raise OSError(errno.EISDIR, os.strerror(errno.EISDIR))
    if stat.S_ISSOCK(mode):
        raise OSError(0, "it is a socket")
    if stat.S_ISBLK(mode):
        raise OSError(0, "it is a block device")
    if not os.access(path, os.W_OK, effective_ids=os.access in os.supports_effective_ids):
        raise OSError(errno.EACCES, os.strerror(errno.EACCES))


_HELD = (errno.EWOULDBLOCK, errno.EACCES)


def try_lock(descriptor: int) -> bool | None:
    """Return whether an open file could be locked, None where the file system has no locks."""
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError as error:
        return False if error.errno in _HELD else None
    return True


@contextlib.contextmanager
def locked(path: Path) -> Iterator[None]:
    """Wait for the lock on a file, which is made if it is missing; raise `OSError` where there are no locks.

    Links are not followed: a link could make a file elsewhere.
    """
    descriptor = _open_locked(path)
    try:
        yield
    finally:
        with contextlib.suppress(OSError):  # a process forked in between has a copy of the open file
            fcntl.flock(descriptor, fcntl.LOCK_UN)
        os.close(descriptor)


def require_regular(path: Path) -> None:
    """Raise `BadFile` for a link, a pipe or a folder in the place of a file, which may also be missing."""
    with contextlib.suppress(FileNotFoundError):
        mode = path.lstat().st_mode
        if not stat.S_ISREG(mode):
            names = {stat.S_IFLNK: "a link", stat.S_IFIFO: "a pipe", stat.S_IFDIR: "a folder"}
            got = names.get(stat.S_IFMT(mode), "a device or a socket")
            raise BadFile(f"{shown_path(path)} must be a regular file, got {got}.")


def _open_locked(path: Path) -> int:
    while True:
        require_regular(path)
        try:
            descriptor = os.open(path, os.O_RDWR | os.O_CREAT | _PLAIN, 0o666)  # it may be a link by now
        except PermissionError:  # the file of another user
            descriptor = os.open(path, os.O_RDONLY | _PLAIN)
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX)
            if os.fstat(descriptor).st_nlink:  # else someone deleted the file while this process waited
                return descriptor
        except BaseException:
            os.close(descriptor)
            raise
        os.close(descriptor)


_MOST_BYTES = 2**20  # of a file


def read_toml(path: Path) -> tuple[dict[str, Any], str]:
    """Return the tables of a TOML file and its text."""
    try:
        with path.open("rb") as file:
            content = file.read(_MOST_BYTES + 1)
    except OSError as error:
        raise BadFile(f"Cannot read {shown_path(path)}: {error.strerror}.") from None
    if len(content) > _MOST_BYTES:
        raise BadFile(f"{shown_path(path)} is longer than the {_MOST_BYTES} bytes that a spec may have.")
    try:
        text = content.decode()
        _check_keys(text)
        tables = tomllib.loads(text)
        _check_depth(tables)
        return tables, text
    except RecursionError:
        raise BadFile(f"{shown_path(path)} cannot be read: its TOML is nested too deeply.") from None
    except ValueError as error:  # not UTF-8, not TOML, or a number of more than 4,300 digits
        raise BadFile(f"{shown_path(path)} is not TOML: {str(error).rstrip('.')}.") from None


_DEEPEST = 50  # tables and lists in each other, many more than a spec needs
_KEY_PART = re.compile(r"""(?<![\w-])(?:[\w-]++|"[^"\n]*+"|'[^'\n]*+')[ \t]*+\.[ \t]*+""")


def _check_keys(text: str) -> None:
    """Raise `RecursionError` for a key of very many parts, as a.b.c: Python reads it in quadratic time."""
    n_parts, end = 0, -1
    for part in _KEY_PART.finditer(text):
        n_parts = n_parts + 1 if part.start() == end else 1
        end = part.end()
        if n_parts > _DEEPEST:
            raise RecursionError


def _check_depth(tables: dict[str, Any]) -> None:
    """Raise `RecursionError` for tables that are nested too deeply for functions that call themselves."""
    level: list[Any] = [tables]
    for _ in range(_DEEPEST):
        inner = (value for item in level for value in (item.values() if isinstance(item, dict) else item))
        level = [value for value in inner if isinstance(value, dict | list)]
        if not level:
            return
    raise RecursionError
