"""Settings of all tests."""

from __future__ import annotations

import pytest

from driftwise.learners import learners


@pytest.fixture(autouse=True)
def registry_of_a_doctest(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> None:
    """Let an example in a docstring register learners that no test sees."""
    if isinstance(request.node, pytest.DoctestItem):
        monkeypatch.setattr(learners, "_classes", dict(learners._classes))
