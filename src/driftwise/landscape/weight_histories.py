"""Weights over time on one path of an environment: of a learner of the paper and of a baseline."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from driftwise.core.tuning_caveats import SAYS_NOTHING, collected
from driftwise.engine import record
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
    setting = scan.setting(value)
    source = Source(setting.source).facing(participant.player).environment(setting.n_rounds, seed)
    with collected():
        history = record(participant.player, source, setting.n_rounds, seed, points=_INTERVALS)
    assert history.best is not None  # environments and adversaries have means
    changes = history.change_points or ()
    return WeightHistory(
        key=f"history-{scan.key}-{participant.label}",
        title=heading(f"{scan.description}, {scan.axis} = {value:g}"),
        learner=participant.label,
        rounds=history.starts.tolist(),
        weights=history.weights.T.tolist(),
        best=history.best.tolist(),
        change_points=list(changes) if len(changes) <= _MOST_CHANGES else [],
        what="weight" if history.learner.feedback == "full" else "share",
        caveat=f"{SAYS_NOTHING}: {history.caveat}" if history.caveat else "",
    )
