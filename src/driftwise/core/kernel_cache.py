"""Numba's disk cache of a kernel, with a checksum: a damaged file is not loaded, and the kernel is compiled again.

Numba unpickles cache files without a check. A truncated file (after a crash or on a full disk) raises an error of any
kind, and machine code with a changed byte is run. Here every file ends with a digest of its content, which Numba's own
reader would ignore.
"""

# mypy: allow-untyped-calls, allow-subclassing-any
from __future__ import annotations

import contextlib
import hashlib
import io
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

from numba.core.caching import FunctionCache, IndexDataCacheFile

_DIGEST_BYTES = 32


class _CheckedFiles(IndexDataCacheFile):
    """The index and the machine code of one kernel."""

    def _load_index(self) -> Any:
        try:
            return super()._load_index() if _is_intact(Path(self._index_path)) else {}
        except Exception:  # for example, a class that it names no longer exists
            return {}

    def _load_data(self, name: str) -> Any:
        if not _is_intact(Path(self._data_path(name))):
            raise OSError(f"{name} is damaged")  # which counts as missing
        return super()._load_data(name)

    @contextlib.contextmanager
    def _open_for_write(self, filepath: str) -> Iterator[io.BytesIO]:
        content = io.BytesIO()
        yield content
        data = content.getvalue()
        with super()._open_for_write(filepath) as file:
            file.write(data + _digest(data))


class KernelCache(FunctionCache):
    """Loads and saves compiled code for Numba's dispatcher; if loading fails, the kernel is compiled."""

    def __init__(self, function: Callable[..., Any]) -> None:
        super().__init__(function)
        stamp = self._impl.locator.get_source_stamp()
        self._cache_file = _CheckedFiles(self._cache_path, self._impl.filename_base, stamp)

    def load_overload(self, sig: Any, target_context: Any) -> Any:
        """Return compiled code for a signature, None if there is none that can be read."""
        try:
            return super().load_overload(sig, target_context)
        except Exception:
            return None

    def save_overload(self, sig: Any, data: Any) -> None:
        """Save compiled code for a signature; errors (a full disk, a class that cannot be pickled) are ignored."""
        with contextlib.suppress(Exception):
            super().save_overload(sig, data)

    def _index_key(self, sig: Any, codegen: Any) -> Any:
        """Add the fields of NamedTuples, which are compiled to positions: Numba's key has only the class."""
        return *super()._index_key(sig, codegen), _fields(sig)


def _fields(kinds: Any) -> tuple[Any, ...]:
    """Return the names of the fields in Numba types, however nested."""
    return tuple((getattr(kind, "fields", ()), _fields(kind) if hasattr(kind, "types") else ()) for kind in kinds)


def _is_intact(path: Path) -> bool:
    try:
        content = path.read_bytes()
    except OSError:
        return False
    return _digest(content[:-_DIGEST_BYTES]) == content[-_DIGEST_BYTES:]


def _digest(content: bytes) -> bytes:
    return hashlib.sha256(content).digest()
