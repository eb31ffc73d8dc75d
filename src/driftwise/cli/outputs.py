"""What commands put out: JSON on standard output, and files, checked before anything long happens."""

from __future__ import annotations

import json
import math
import os
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from driftwise.core.errors import InvalidInput
from driftwise.core.file_names import shown_path
from driftwise.core.files import check_writable
from driftwise.report.figures import canvas, figure_format
from driftwise.results.results import check_format

__all__ = ["check_figure", "check_output_files", "check_outputs", "json_text"]


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


def check_outputs(out: Path | None, figure: Path | None, inputs: Sequence[Any]) -> None:
    """Reject output files that cannot be written, or that the same command reads or writes elsewhere."""
    if out is not None:
        check_format(out)
    check_figure("simulate", figure, ())
    check_output_files("simulate", (out, figure), inputs)


def check_figure(command: str, figure: Path | None, inputs: Sequence[Any]) -> None:
    """Reject the file of a figure that cannot be drawn or written, or that the same command reads."""
    if figure is not None:
        figure_format(figure)
        canvas()
        check_output_files(command, (figure,), inputs)


def check_output_files(command: str, outputs: Sequence[Path | None], inputs: Sequence[Any]) -> None:
    """Reject output files of a command that cannot be written, or that it reads, or writes twice."""
    used = {_identity(file): "read" for file in inputs if isinstance(file, str | os.PathLike) and str(file)}
    for path in outputs:
        if path is None:
            continue
        check_writable(path)
        if use := used.get(_identity(path)):
            raise InvalidInput(f"{command}: {shown_path(path)} is {use} by the same command; write to another file.")
        used[_identity(path)] = "also written"


def _identity(file: str | os.PathLike[str]) -> str:
    try:
        return os.path.realpath(file)
    except ValueError:  # a null character, which no file name has
        return os.fspath(file)
