"""The scans: one of T, Gamma, V and Lambda varies, the others are fixed; environments are benign or adversarial."""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass
from typing import NamedTuple

from driftwise.adversaries import Adversary, BanditLow, FullLow, FullV
from driftwise.core.errors import UnknownName
from driftwise.environments import Bernoulli, Environment, Sinusoidal, Switching, TwoPoint
from driftwise.landscape.participants import PARTICIPANTS, Participant, added, every_bandit
from driftwise.learners import Learner, OptimisticGD, OracleRestarts, learners

__all__ = ["PRESETS", "Preset", "Scan", "Setting", "scans", "select_scans"]

N_ACTIONS, SEGMENTS, VARIANCE, PERIODS, AMPLITUDE = 5, 4, 50.0, 3.0, 0.3
BEST, REST = 0.2, 0.8
SHOWN = 4000  # rounds of a path whose weights are plotted


@dataclass(frozen=True)
class Preset:
    """The extent of the measurements."""

    shortest: int  # the least number of rounds in a scan over rounds
    longest: int  # the largest
    points: int  # values of the varied quantity
    n_rounds: int  # in scans over another quantity
    n_runs: int
    most_adaptive: int  # the most rounds against an adversary that simulates many copies of the learner


PRESETS = {
    "quick": Preset(1000, 32_000, 4, 4000, 8, 32_000),
    "standard": Preset(1000, 100_000, 5, 30_000, 24, 100_000),
    "full": Preset(1000, 1_000_000, 7, 100_000, 64, 100_000),
}


class Setting(NamedTuple):
    """The environment or adversary, and the number of rounds."""

    source: Environment | Adversary
    n_rounds: int


@dataclass(frozen=True)
class Scan:
    """One curve per learner: regret as a function of the varied quantity."""

    key: str
    cell: str
    description: str  # of the environment
    axis: str  # "T", "Gamma", "V" or "Lambda"
    values: tuple[float, ...]
    setting: Callable[[float], Setting]
    participants: tuple[Participant, ...]
    companion: Learner | None = None  # plays on the same losses
    shown: float | None = None  # the value at which weights over time are plotted; None if another scan plots them

    @property
    def feedback(self) -> str:
        """The feedback of its learners."""
        return self.cell.split("-")[0]


def geometric(low: float, high: float, points: int) -> tuple[int, ...]:
    """Return integers from `low` to `high`, evenly spaced on a logarithmic axis."""
    step = (high / low) ** (1 / (points - 1))
    return tuple(round(low * step**i) for i in range(points))


def scans(preset: Preset) -> list[Scan]:
    """Return all scans of a preset."""
    rounds = geometric(preset.shortest, preset.longest, preset.points)
    segments = geometric(2, 64, preset.points)  # 1.5 decades
    periods = geometric(1, 48, preset.points)  # about as many decades of drift, which starts with a jump
    T = preset.n_rounds

    def switching(segments: float, variance: float | None = None) -> Environment:
        noise = Bernoulli() if variance is None else TwoPoint().with_variance(variance)
        return Environment(Switching(int(segments), N_ACTIONS, BEST, REST), noise)

    def sinusoid(periods: float, variance: float | None = None) -> Environment:
        noise = Bernoulli() if variance is None else TwoPoint().with_variance(variance)
        return Environment(Sinusoidal(N_ACTIONS, periods, AMPLITUDE), noise)

    def noisy_low(variance: float) -> FullLow:
        return FullLow(SEGMENTS, variance, N_ACTIONS, case="noisy")  # the same construction for the whole curve

    def plain(
        key: str,
        cell: str,
        description: str,
        axis: str,
        values: tuple[float, ...],
        setting: Callable[[float], Setting],
        shown: float | None = None,
    ) -> Scan:
        return Scan(f"{cell}-{key}", cell, description, axis, values, setting, PARTICIPANTS[cell], shown=shown)

    adaptive = geometric(preset.shortest, min(preset.longest, preset.most_adaptive), preset.points)
    return [
        plain("rounds", "full-switching", f"switching, two-point noise; Gamma = {SEGMENTS}, Lambda = {VARIANCE:g}", "T",
              rounds, lambda t: Setting(switching(SEGMENTS, VARIANCE), int(t)), SHOWN),
        plain("segments", "full-switching", f"switching, two-point noise; T = {T}, Lambda = {VARIANCE:g}", "Gamma",
              segments, lambda n: Setting(switching(n, VARIANCE), T)),
        plain("variance", "full-switching", f"switching, two-point noise; T = {T}, Gamma = {SEGMENTS}", "Lambda",
              geometric(16, 512, preset.points), lambda v: Setting(switching(SEGMENTS, v), T)),
        plain("low", "full-switching",
              f"Theorem 4.2 (full-low) with noise, random favourites; T = {T}, Gamma = {SEGMENTS}", "Lambda",
              geometric(16, 512, preset.points), lambda v: Setting(noisy_low(v), T), VARIANCE),
        plain("rounds", "full-drifting", f"sinusoid, two-point noise; {PERIODS:g} periods, Lambda = {VARIANCE:g}", "T",
              rounds, lambda t: Setting(sinusoid(PERIODS, VARIANCE), int(t)), SHOWN),
        plain("drift", "full-drifting", f"sinusoid, two-point noise; T = {T}, Lambda = {VARIANCE:g}", "V",
              periods, lambda n: Setting(sinusoid(n, VARIANCE), T)),
        plain("variance", "full-drifting", f"sinusoid, two-point noise; T = {T}, {PERIODS:g} periods", "Lambda",
              geometric(16, 512, preset.points), lambda v: Setting(sinusoid(PERIODS, v), T)),
        plain("low", "full-drifting", "Theorem 4.3 (full_V), random favourites; budget V = 2, Lambda = 32", "T",
              rounds, lambda t: Setting(FullV(2.0, 32.0, 2), int(t)), SHOWN),
        plain("rounds", "bandit-switching", f"switching, Bernoulli; Gamma = {SEGMENTS}", "T",
              rounds, lambda t: Setting(switching(SEGMENTS), int(t)), SHOWN),
        plain("segments", "bandit-switching", f"switching, Bernoulli; T = {T}", "Gamma",
              segments, lambda n: Setting(switching(n), T)),
        Scan("bandit-switching-low", "bandit-switching",
              "Theorem 4.1 (bandit-low), best response to each learner; Gamma = 2, Lambda = 0", "T", adaptive,
              lambda t: Setting(BanditLow(2, 2, "best-response"), int(t)), every_bandit(),
              OptimisticGD(learning_rate=math.sqrt(2 / 4)), SHOWN),  # the rate is the tuned one: D = 4
        plain("rounds", "bandit-drifting", f"sinusoid, Bernoulli; {PERIODS:g} periods", "T",
              rounds, lambda t: Setting(sinusoid(PERIODS), int(t)), SHOWN),
        plain("drift", "bandit-drifting", f"sinusoid, Bernoulli; T = {T}", "V",
              periods, lambda n: Setting(sinusoid(n), T)),
        plain("variance", "bandit-drifting", f"sinusoid, two-point noise; T = {T}, {PERIODS:g} periods", "Lambda",
              geometric(16, 512, preset.points), lambda v: Setting(sinusoid(PERIODS, v), T)),
        plain("low", "bandit-drifting",
              "Theorem 4.1 (bandit-low), as in its proof, against each learner; budget V = 4, Lambda = 0", "T",
              adaptive, lambda t: Setting(BanditLow(4, 2, "proof"), int(t)), SHOWN),
    ]  # fmt: skip


def select_scans(preset: Preset, cells: Collection[str], names: Sequence[str] | None) -> list[Scan]:
    """Return the scans of some cells; with names, only with these learners, in the role "added" if they are new."""
    found = [scan for scan in scans(preset) if scan.cell in cells]
    if names is None:
        return found
    # The oracle needs the change points, which the budget of an adversary does not have.
    feedbacks = {name: learners.get(name).feedback for name in learners if name != OracleRestarts.name}
    known = {name for name, feedback in feedbacks.items() if any(scan.feedback == feedback for scan in found)}
    for name in names:
        learners.get(name)  # raises if the registry does not have it
        if name not in known:
            raise UnknownName("learner", name, known, "in these cells")
    selected = []
    for scan in found:
        usual = {participant.label: participant for participant in scan.participants}
        fitting = [name for name in dict.fromkeys(names) if feedbacks[name] == scan.feedback]
        if fitting:
            participants = tuple(usual[name] if name in usual else added(name) for name in fitting)
            selected.append(dataclasses.replace(scan, participants=participants))
    return selected
