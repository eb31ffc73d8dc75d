"""JSON that a command prints."""

from __future__ import annotations

import json
import math
from collections.abc import Mapping
from typing import Any

__all__ = ["json_text"]


def json_text(value: Any) -> str:
    """Return plain values as JSON; NaN becomes null and infinity text, since JSON has neither.

    >>> json_text([float("nan"), float("inf")])
    '[\\n  null,\\n  "inf"\\n]'
    """
    return json.dumps(_finite(value), indent=2, allow_nan=False)


def _finite(value: Any) -> Any:
    if isinstance(value, Mapping):
        return {key: _finite(item) for key, item in value.items()}
    if isinstance(value, (list, tuple)):
        return [_finite(item) for item in value]
    if isinstance(value, float) and not math.isfinite(value):
        return None if math.isnan(value) else str(value)
    return value
