"""The scans of Table 1 and the learners that play them.

In each cell of the table one of T, Gamma, V and Lambda varies and the others are fixed; environments are benign or
adversarial. The learners are the paper's, those it cites, parameter-free ones, and baselines.
"""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import NamedTuple

from driftwise.adversaries import Adversary, BanditLow, FullLow, FullV
from driftwise.core.errors import UnknownName
from driftwise.environments import Bernoulli, Environment, Noise, Sinusoidal, Switching, TwoPoint
from driftwise.learners import Learner, OptimisticGD, OracleRestarts, Player, RerunUCBV, has_tuning_rule, learners

CELLS = {
    "full-switching": "full information, switching",
    "full-drifting": "full information, drifting",
    "bandit-switching": "bandit, switching",
    "bandit-drifting": "bandit, drifting",
}
ROLES = ("paper", "cited", "parameter-free", "added", "baseline")
N_ACTIONS, SEGMENTS, VARIANCE, PERIODS, AMPLITUDE = 5, 4, 50.0, 3.0, 0.3
BEST, REST = 0.2, 0.8
SHOWN = 4000  # rounds of a path whose weights are plotted
# All bandit learners play in this scan, and the companion on their losses; its rate is the tuned one: D = 4.
_BEST_RESPONSE, _COMPANION = "bandit-switching-low", OptimisticGD(learning_rate=math.sqrt(2 / 4))


class Participant(NamedTuple):
    """A learner with its label and role, one of `ROLES`."""

    label: str
    role: str
    player: Player


def _tuned(name: str, **options: str) -> Player:
    """Return a learner tuned to the measures of an environment, or to the budget of an adversary."""
    return Player(name, "budget", options)


def _participants(players: Mapping[str, Sequence[Player]]) -> tuple[Participant, ...]:
    """Return the participants from the players in each role."""
    return tuple(Participant(player.name, role, player) for role in players for player in players[role])


_ALGORITHM_4 = _tuned("sleeping-optimistic-adapt-ml-prod", memory="merged")
PARTICIPANTS = {
    "full-switching": _participants({
        "paper": [_tuned("optimistic-gd"), _ALGORITHM_4],
        "cited": [
            _tuned("fixed-share"), Player("ada-normal-hedge-tv", settings={"cover": "geometric"}), _tuned("aomd")
        ],
        "parameter-free": [Player("cbce"), Player("sword", "rounds")],
        "baseline": [Player("hedge")],
    }),
    "full-drifting": _participants({
        "paper": [_tuned("restarted-adaptive-gd"), _ALGORITHM_4],
        "cited": [Player("aomd")],
        "parameter-free": [Player("cbce"), Player("sword", "rounds")],
        "baseline": [Player("hedge")],
    }),
    "bandit-switching": _participants({
        "paper": [_tuned("rerun-ucbv")],
        "cited": [_tuned("exp3-s"), _tuned("discounted-ucb"), _tuned("sliding-window-ucb")],
        "parameter-free": [Player("glr-kl-ucb", "rounds", {"restart": "global"}), Player("master", "rounds")],
        "baseline": [Player("ucb1")],
    }),
    "bandit-drifting": _participants({
        "paper": [_tuned("rerun-ucbv")],
        "cited": [_tuned("rexp3")],
        "parameter-free": [Player("bandit-over-bandit", "rounds"), Player("master", "rounds")],
        "baseline": [Player("thompson"), Player("ucb1")],
    }),
}  # fmt: skip
_BANDIT_ROLES = {
    RerunUCBV.name: "paper",
    **dict.fromkeys(("discounted-ucb", "exp3-s", "rexp3", "sliding-window-ucb", "ucb-v"), "cited"),
    **dict.fromkeys(("exp3", "kl-ucb", "thompson", "tsallis-inf", "ucb1"), "baseline"),  # for stationary environments
}  # of the others: parameter-free


def every_bandit() -> tuple[Participant, ...]:
    """Return every bandit learner of the registry with its defaults, except the oracle: it needs change points."""
    players: dict[str, list[Player]] = {role: [] for role in ROLES}
    for name in learners:
        if learners.get(name).feedback == "bandit" and name != OracleRestarts.name:
            players[_BANDIT_ROLES.get(name, "parameter-free")].append(Player(name))
    return _participants(players)


def added(name: str) -> Participant:
    """Return a learner of the registry in the role "added": tuned if it has a rule, else with its defaults."""
    return Participant(name, "added", _tuned(name) if has_tuning_rule(learners.get(name)) else Player(name))


@dataclass(frozen=True)
class ScanPreset:
    """The extent of the measurements."""

    shortest: int  # the least number of rounds in a scan over rounds
    longest: int  # the largest
    points: int  # values of the varied quantity
    n_rounds: int  # in scans over another quantity
    n_runs: int
    most_adaptive: int  # the most rounds against an adversary that simulates many copies of the learner


PRESETS = {
    "quick": ScanPreset(1000, 32_000, 4, 4000, 8, 32_000),
    "standard": ScanPreset(1000, 100_000, 5, 30_000, 24, 100_000),
    "full": ScanPreset(1000, 1_000_000, 7, 100_000, 64, 100_000),
}


class Setting(NamedTuple):
    """The environment or adversary, and the number of rounds."""

    source: Environment | Adversary
    n_rounds: int


@dataclass(frozen=True)
class Scan:
    """One curve per learner: regret as a function of the varied quantity."""

    key: str  # its cell of the table, and what distinguishes it there
    description: str  # of the environment
    axis: str  # "T", "Gamma", "V" or "Lambda"
    values: tuple[float, ...]
    setting: Callable[[float], Setting]
    shown: float | None = None  # the value at which weights over time are plotted; None if another scan plots them
    participants: tuple[Participant, ...] = ()
    companion: Learner | None = None  # plays on the same losses

    @property
    def cell(self) -> str:
        """The key of its cell in `CELLS`."""
        return self.key.rpartition("-")[0]

    @property
    def feedback(self) -> str:
        """The feedback of its learners."""
        return self.key.partition("-")[0]


def geometric(low: float, high: float, points: int) -> tuple[int, ...]:
    """Return integers from `low` to `high`, evenly spaced on a logarithmic axis."""
    step = (high / low) ** (1 / (points - 1))
    return tuple(round(low * step**i) for i in range(points))


def _switching(segments: float, variance: float | None = None) -> Environment:
    return Environment(Switching(int(segments), N_ACTIONS, BEST, REST), _noise(variance))


def _sinusoid(periods: float, variance: float | None = None) -> Environment:
    return Environment(Sinusoidal(N_ACTIONS, periods, AMPLITUDE), _noise(variance))


def _noise(variance: float | None) -> Noise:
    return Bernoulli() if variance is None else TwoPoint().with_variance(variance)


def scans(preset: ScanPreset, cells: Collection[str] = CELLS.keys()) -> list[Scan]:
    """Return all scans of some cells."""
    rounds = geometric(preset.shortest, preset.longest, preset.points)
    adaptive = geometric(preset.shortest, min(preset.longest, preset.most_adaptive), preset.points)
    segments = geometric(2, 64, preset.points)  # 1.5 decades
    periods = geometric(1, 48, preset.points)  # about as many decades of drift, which starts with a jump
    variances = geometric(16, 512, preset.points)
    T = preset.n_rounds
    every = [
        Scan("full-switching-rounds", f"switching, two-point noise; Gamma = {SEGMENTS}, Lambda = {VARIANCE:g}",
             "T", rounds, lambda t: Setting(_switching(SEGMENTS, VARIANCE), int(t)), SHOWN),
        Scan("full-switching-segments", f"switching, two-point noise; T = {T}, Lambda = {VARIANCE:g}",
             "Gamma", segments, lambda n: Setting(_switching(n, VARIANCE), T)),
        Scan("full-switching-variance", f"switching, two-point noise; T = {T}, Gamma = {SEGMENTS}",
             "Lambda", variances, lambda v: Setting(_switching(SEGMENTS, v), T)),
        Scan("full-switching-low", f"Theorem 4.2 with noise, random favourites; T = {T}, Gamma = {SEGMENTS}",
             "Lambda", variances, lambda v: Setting(FullLow(SEGMENTS, v, N_ACTIONS, case="noisy"), T), VARIANCE),
        Scan("full-drifting-rounds", f"sinusoid, two-point noise; {PERIODS:g} periods, Lambda = {VARIANCE:g}",
             "T", rounds, lambda t: Setting(_sinusoid(PERIODS, VARIANCE), int(t)), SHOWN),
        Scan("full-drifting-drift", f"sinusoid, two-point noise; T = {T}, Lambda = {VARIANCE:g}",
             "V", periods, lambda n: Setting(_sinusoid(n, VARIANCE), T)),
        Scan("full-drifting-variance", f"sinusoid, two-point noise; T = {T}, {PERIODS:g} periods",
             "Lambda", variances, lambda v: Setting(_sinusoid(PERIODS, v), T)),
        Scan("full-drifting-low", "Theorem 4.3, random favourites; budget V = 2, Lambda = 32",
             "T", rounds, lambda t: Setting(FullV(2.0, 32.0, 2), int(t)), SHOWN),
        Scan("bandit-switching-rounds", f"switching, Bernoulli; Gamma = {SEGMENTS}",
             "T", rounds, lambda t: Setting(_switching(SEGMENTS), int(t)), SHOWN),
        Scan("bandit-switching-segments", f"switching, Bernoulli; T = {T}",
             "Gamma", segments, lambda n: Setting(_switching(n), T)),
        Scan("bandit-switching-low", "Theorem 4.1, best response to each learner; Gamma = 2, Lambda = 0",
             "T", adaptive, lambda t: Setting(BanditLow(2, 2, "best-response"), int(t)), SHOWN),
        Scan("bandit-drifting-rounds", f"sinusoid, Bernoulli; {PERIODS:g} periods",
             "T", rounds, lambda t: Setting(_sinusoid(PERIODS), int(t)), SHOWN),
        Scan("bandit-drifting-drift", f"sinusoid, Bernoulli; T = {T}",
             "V", periods, lambda n: Setting(_sinusoid(n), T)),
        Scan("bandit-drifting-variance", f"sinusoid, two-point noise; T = {T}, {PERIODS:g} periods",
             "Lambda", variances, lambda v: Setting(_sinusoid(PERIODS, v), T)),
        Scan("bandit-drifting-low",
             "Theorem 4.1, as in its proof, against each learner; budget V = 4, Lambda = 0",
             "T", adaptive, lambda t: Setting(BanditLow(4, 2, "proof"), int(t)), SHOWN),
    ]  # fmt: skip
    return [_with_participants(scan) for scan in every if scan.cell in cells]


def _with_participants(scan: Scan) -> Scan:
    """Return a scan with its usual learners; all bandit learners play against the best response to them."""
    if scan.key == _BEST_RESPONSE:
        return dataclasses.replace(scan, participants=every_bandit(), companion=_COMPANION)
    return dataclasses.replace(scan, participants=PARTICIPANTS[scan.cell])


def select_scans(preset: ScanPreset, cells: Collection[str], names: Sequence[str] | None) -> list[Scan]:
    """Return the scans of some cells; with names, only with these learners, in the role "added" if they are new."""
    chosen = scans(preset, cells)
    if names is None:
        return chosen
    # The oracle needs the change points, which the budget of an adversary does not have.
    feedbacks = {name: learners.get(name).feedback for name in learners if name != OracleRestarts.name}
    fitting = {name for name, feedback in feedbacks.items() if any(scan.feedback == feedback for scan in chosen)}
    for name in names:
        learners.get(name)  # raises if the registry does not have it
        if name not in fitting:
            raise UnknownName("learner", name, fitting, "in these cells")
    selected = []
    for scan in chosen:
        usual = {participant.label: participant for participant in scan.participants}
        playing = [name for name in dict.fromkeys(names) if feedbacks[name] == scan.feedback]
        if playing:
            participants = tuple(usual[name] if name in usual else added(name) for name in playing)
            selected.append(dataclasses.replace(scan, participants=participants))
    return selected
