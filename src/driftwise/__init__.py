"""Online learning in changing environments: expert and bandit algorithms for losses that switch or drift.

The names that most people need are here, listed in `__init__.pyi`; everything else is one level down:
`driftwise.learners`, `driftwise.detectors`, `driftwise.environments`, `driftwise.adversaries`, `driftwise.forecasting`,
`driftwise.regret`, `driftwise.results`, `driftwise.theory`, `driftwise.checks`.
"""

from typing import Any

import lazy_loader

__version__ = "0.1.0"

# Imported on first use, so that `driftwise --help` does not wait for the compiler.
_attribute, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)


def __getattr__(name: str) -> Any:
    if name in ("QuantileMixture", "StepMixture"):
        from driftwise import forecasting

        return getattr(forecasting, name)  # raises, and says what is in its place
    return _attribute(name)
