"""Online learning in changing environments: expert and bandit algorithms for losses that switch or drift.

The names that most people need are here, listed in `__init__.pyi`; everything else is one level down:
`driftwise.learners`, `driftwise.detectors`, `driftwise.environments`, `driftwise.adversaries`, `driftwise.forecasting`,
`driftwise.regret`, `driftwise.results`, `driftwise.theory`, `driftwise.checks`.
"""

import lazy_loader

__version__ = "0.1.0"

# Imported on first use, so that `driftwise --help` does not wait for the compiler.
__getattr__, __dir__, __all__ = lazy_loader.attach_stub(__name__, __file__)
