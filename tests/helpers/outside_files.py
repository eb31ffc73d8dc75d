"""Files of the repository that are in no package: examples and benchmarks."""

from __future__ import annotations

import importlib.util
from pathlib import Path
from types import ModuleType

__all__ = ["HELPERS", "ROOT", "module_of"]

ROOT = Path(__file__).parents[2]
HELPERS = Path(__file__).parent


def module_of(path: str) -> ModuleType:
    """Import a file, such as "examples/pollsters.py"."""
    spec = importlib.util.spec_from_file_location(Path(path).stem, ROOT / path)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module
