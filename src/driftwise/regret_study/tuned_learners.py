"""The tuned learners of the regret study, read from `tuned_learners.toml` beside this file."""

from __future__ import annotations

import functools
import tomllib
from importlib import resources

from driftwise.learners import Player
from driftwise.sweeps.sweep_file import spread

__all__ = ["tuned_learners"]


@functools.cache
def tuned_learners(feedback: str) -> tuple[Player, ...]:
    """Return the learners with this feedback from which the best is chosen in hindsight, in every cell."""
    text = (resources.files(__package__) / "tuned_learners.toml").read_text(encoding="utf-8")
    return tuple(Player.from_spec(values) for table in tomllib.loads(text)[feedback] for values in spread(table))
