"""Weights over time, on one path of each world: a learner of the paper beside a yardstick."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np

from driftwise.core.caveats import SAYS_NOTHING, collected
from driftwise.core.types import Actions, Matrix
from driftwise.landscape.pages import written
from driftwise.landscape.pieces import Order
from driftwise.landscape.sweeps import Sweep
from driftwise.landscape.teams import Member
from driftwise.report.page import Track

__all__ = ["tracks"]

_STRETCHES = 250
_MOST_CHANGES = 40  # that can be told apart in a picture


def tracks(sweeps: Sequence[Sweep], seed: int, progress: Callable[[int, int], None] | None = None) -> list[Track]:
    """Return tracks of the first paper's learner and the first yardstick, or whoever is first, in every shown world."""
    wanted = [
        (sweep, member, sweep.shown)
        for sweep in sweeps
        if sweep.shown is not None
        for member in dict.fromkeys((_first(sweep, "paper"), _first(sweep, "yardstick")))
    ]
    found = []
    for done, (sweep, member, value) in enumerate(wanted, start=1):
        found.append(_track(sweep, member, value, seed))
        if progress is not None:
            progress(done, len(wanted))
    return found


def _first(sweep: Sweep, role: str) -> Member:
    return next((member for member in sweep.members if member.role == role), sweep.members[0])


def _track(sweep: Sweep, member: Member, value: float, seed: int) -> Track:
    order = Order(sweep.setting(value), member.label, member.player, 1, seed)
    with collected():
        source, n_rounds = order.source(), order.setting.n_rounds
    measures = source.measures(n_rounds, seed)
    block = source.start(n_rounds, seed).draw(n_rounds)
    assert block.means is not None  # both kinds of source have them
    with collected() as reasons:
        learner = order.learner(order.known(measures))
    played = learner.advance(learner.start(source.n_actions, seed), block.losses)
    starts = np.unique(np.linspace(0, n_rounds, _STRETCHES, endpoint=False).astype(int))
    middles = (starts + np.append(starts[1:], n_rounds)) // 2
    changes = measures.changes or ()
    return Track(
        key=f"track-{sweep.key}-{member.label}",
        title=written(f"{sweep.world}, {sweep.axis} = {value:g}"),
        learner=member.label,
        rounds=starts.tolist(),
        weights=_shares(played, source.n_actions, starts).T.tolist(),
        best=block.means[middles].argmin(axis=1).tolist(),
        change_points=list(changes) if len(changes) <= _MOST_CHANGES else [],
        what="weight" if played.ndim == 2 else "share",
        caveat=f"{SAYS_NOTHING}: {reasons[0]}" if reasons else "",
    )


def _shares(played: Matrix | Actions, n_actions: int, starts: Actions) -> Matrix:
    """Return the mean weights in each stretch, or how often each action was chosen in it."""
    weights = played if played.ndim == 2 else np.eye(n_actions)[played]
    lengths = np.diff(np.append(starts, len(weights)))
    shares: Matrix = np.add.reduceat(weights, starts, axis=0) / lengths[:, None]
    return shares
