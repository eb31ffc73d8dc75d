"""Specs as text: the one form in which equal specs are equal, for keys, files and comparisons."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

from driftwise.core.errors import InvalidInput, shown

__all__ = ["is_unicode", "plain", "spec_text"]


def spec_text(spec: Mapping[str, Any]) -> str:
    """Return a spec as JSON with sorted keys and no spaces; a tuple equals the list that a file has in its place.

    >>> spec_text({"name": "table", "means": ((0.5, 1.0),)})
    '{"means":[[0.5,1.0]],"name":"table"}'
    """
    try:
        return json.dumps(spec, sort_keys=True, separators=(",", ":"))
    except (TypeError, ValueError, RecursionError):
        raise InvalidInput(f"A spec must consist of plain values, got {shown(spec)}.") from None


def plain(value: Any) -> Any:
    """Return a value with lists in place of tuples and `dict` in place of other mappings, as a JSON file gives it."""
    if isinstance(value, Mapping):
        return {key: plain(item) for key, item in value.items()}
    return [plain(item) for item in value] if isinstance(value, list | tuple) else value


def is_unicode(text: str) -> bool:
    """Return whether a text can be written to a file; half of a surrogate pair, as in names of files, cannot."""
    try:
        text.encode()
    except UnicodeEncodeError:
        return False
    return True
