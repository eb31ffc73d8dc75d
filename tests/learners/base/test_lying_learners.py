"""A learner in plain Python that lies is refused, and the state stays as it was."""

import pytest

from fuzz_python_learners import fuzz


@pytest.mark.parametrize("seed", range(3))
def test_a_lie_is_refused_or_has_no_effect(seed):
    counts = fuzz(120, seed)
    assert {"refused", "its own error", "an interrupt"} <= {*counts}
