"""Weights over time on one path of an environment: of a learner of the paper and of a baseline."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np

from driftwise.core.tuning_caveats import SAYS_NOTHING, collected
from driftwise.core.types import Actions, Matrix
from driftwise.landscape.pages import heading
from driftwise.landscape.participants import Participant
from driftwise.landscape.scans import Scan
from driftwise.report.page import WeightHistory
from driftwise.sweeps import Source

__all__ = ["weight_histories"]

_INTERVALS = 250  # of rounds, in each of which weights are averaged
_MOST_CHANGES = 40  # that can be distinguished in a figure


def weight_histories(
    scans: Sequence[Scan], seed: int, progress: Callable[[int, int], None] | None = None
) -> list[WeightHistory]:
    """Return the weights over time of the first learner of the paper and the first baseline of each scan."""
    wanted = [
        (scan, participant, scan.shown)
        for scan in scans
        if scan.shown is not None
        for participant in dict.fromkeys((_first(scan, "paper"), _first(scan, "baseline")))
    ]
    found = []
    for done, (scan, participant, value) in enumerate(wanted, start=1):
        found.append(_history(scan, participant, value, seed))
        if progress is not None:
            progress(done, len(wanted))
    return found


def _first(scan: Scan, role: str) -> Participant:
    return next((participant for participant in scan.participants if participant.role == role), scan.participants[0])


def _history(scan: Scan, participant: Participant, value: float, seed: int) -> WeightHistory:
    player = participant.player
    setting = scan.setting(value)
    n_rounds = setting.n_rounds
    source = Source(setting.source).facing(player).environment(n_rounds, seed)
    measures = source.measures(n_rounds, seed)
    block = source.start(n_rounds, seed).draw(n_rounds)
    assert block.means is not None  # environments and adversaries have means
    with collected() as reasons:
        learner = player.learner(source.n_actions, n_rounds, measures, source.budget(n_rounds))
    played = learner.play_block(learner.start(source.n_actions, seed), block.losses)
    starts = np.unique(np.linspace(0, n_rounds, _INTERVALS, endpoint=False).astype(int))
    middles = (starts + np.append(starts[1:], n_rounds)) // 2
    changes = measures.change_points or ()
    return WeightHistory(
        key=f"history-{scan.key}-{participant.label}",
        title=heading(f"{scan.description}, {scan.axis} = {value:g}"),
        learner=participant.label,
        rounds=starts.tolist(),
        weights=_shares(played, source.n_actions, starts).T.tolist(),
        best=block.means[middles].argmin(axis=1).tolist(),
        change_points=list(changes) if len(changes) <= _MOST_CHANGES else [],
        what="weight" if played.ndim == 2 else "share",
        caveat=f"{SAYS_NOTHING}: {reasons[0]}" if reasons else "",
    )


def _shares(played: Matrix | Actions, n_actions: int, starts: Actions) -> Matrix:
    """Return the mean weights in each interval, or the share of its rounds in which each action was chosen."""
    weights = played if played.ndim == 2 else np.eye(n_actions)[played]
    lengths = np.diff(np.append(starts, len(weights)))
    shares: Matrix = np.add.reduceat(weights, starts, axis=0) / lengths[:, None]
    return shares
