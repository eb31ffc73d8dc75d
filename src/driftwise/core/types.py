"""Type aliases for arrays."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

Vector = npt.NDArray[np.float64]  # (n_actions,) unless stated otherwise
Matrix = npt.NDArray[np.float64]  # (n_rounds, n_actions) unless stated otherwise
Actions = npt.NDArray[np.int64]  # (n_rounds,)
Flags = npt.NDArray[np.bool_]  # (n_rounds,)
Words = npt.NDArray[np.uint64]  # the state of a generator
