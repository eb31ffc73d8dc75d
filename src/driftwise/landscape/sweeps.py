"""The sweeps: one of T, Gamma, V and Lambda varies, the others stay, in benign and in adversarial worlds."""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass

from driftwise.adversaries import BanditLow, FullLow, FullV
from driftwise.core.errors import UnknownName
from driftwise.environments import Bernoulli, Environment, Sinusoidal, Switching, TwoPoint
from driftwise.landscape.measurements import Setting
from driftwise.landscape.participants import PARTICIPANTS, Participant, added, every_bandit
from driftwise.learners import Learner, OptimisticGD, OracleRestarts, learners

__all__ = ["PRESETS", "Preset", "Sweep", "chosen", "sweeps"]

N_ACTIONS, SEGMENTS, VARIANCE, PERIODS, AMPLITUDE = 5, 4, 50.0, 3.0, 0.3
BEST, REST = 0.2, 0.8
SHOWN = 4000  # rounds of a path whose weights are shown


@dataclass(frozen=True)
class Preset:
    """How much to measure."""

    shortest: int  # rounds, where rounds vary
    longest: int
    points: int  # values of what varies
    n_rounds: int  # where something else varies
    n_runs: int
    most_faced: int  # the longest game against an adversary that tries things on many copies of the learner


PRESETS = {
    "quick": Preset(1000, 32_000, 4, 4000, 8, 32_000),
    "standard": Preset(1000, 100_000, 5, 30_000, 24, 100_000),
    "full": Preset(1000, 1_000_000, 7, 100_000, 64, 100_000),
}


@dataclass(frozen=True)
class Sweep:
    """One curve per learner: regret against what varies."""

    key: str
    cell: str
    world: str
    axis: str  # "T", "Gamma", "V" or "Lambda"
    values: tuple[float, ...]
    setting: Callable[[float], Setting]
    participants: tuple[Participant, ...]
    companion: Learner | None = None  # plays the very same losses
    shown: float | None = None  # the value at which weights over time are shown; None where another sweep shows them

    @property
    def feedback(self) -> str:
        """What its learners see."""
        return self.cell.split("-")[0]


def geometric(low: float, high: float, points: int) -> tuple[int, ...]:
    """Return whole numbers from `low` to `high`, evenly spread on a logarithmic axis."""
    step = (high / low) ** (1 / (points - 1))
    return tuple(round(low * step**i) for i in range(points))


def sweeps(preset: Preset) -> list[Sweep]:
    """Return all sweeps of a preset."""
    rounds = geometric(preset.shortest, preset.longest, preset.points)
    many = geometric(2, 64, preset.points)  # a decade and a half
    periods = geometric(1, 48, preset.points)  # the same in drift, which begins with a jump
    T = preset.n_rounds

    def switching(segments: float, variance: float | None = None) -> Environment:
        noise = Bernoulli() if variance is None else TwoPoint().with_variance(variance)
        return Environment(Switching(int(segments), N_ACTIONS, BEST, REST), noise)

    def sinusoid(periods: float, variance: float | None = None) -> Environment:
        noise = Bernoulli() if variance is None else TwoPoint().with_variance(variance)
        return Environment(Sinusoidal(N_ACTIONS, periods, AMPLITUDE), noise)

    def noisy_low(variance: float) -> FullLow:
        return FullLow(SEGMENTS, variance, N_ACTIONS, case="noisy")  # one construction for the whole curve

    def plain(
        key: str,
        cell: str,
        world: str,
        axis: str,
        values: tuple[float, ...],
        setting: Callable[[float], Setting],
        shown: float | None = None,
    ) -> Sweep:
        return Sweep(f"{cell}-{key}", cell, world, axis, values, setting, PARTICIPANTS[cell], shown=shown)

    faced = geometric(preset.shortest, min(preset.longest, preset.most_faced), preset.points)
    return [
        plain("rounds", "full-switching", f"switching, two-point noise; Gamma = {SEGMENTS}, Lambda = {VARIANCE:g}", "T",
              rounds, lambda t: Setting(switching(SEGMENTS, VARIANCE), int(t)), SHOWN),
        plain("segments", "full-switching", f"switching, two-point noise; T = {T}, Lambda = {VARIANCE:g}", "Gamma",
              many, lambda n: Setting(switching(n, VARIANCE), T)),
        plain("variance", "full-switching", f"switching, two-point noise; T = {T}, Gamma = {SEGMENTS}", "Lambda",
              geometric(16, 512, preset.points), lambda v: Setting(switching(SEGMENTS, v), T)),
        plain("low", "full-switching", f"Theorem full-low in noise, favourites at random; T = {T}, Gamma = {SEGMENTS}",
              "Lambda", geometric(16, 512, preset.points), lambda v: Setting(noisy_low(v), T), VARIANCE),
        plain("rounds", "full-drifting", f"sinusoid, two-point noise; {PERIODS:g} periods, Lambda = {VARIANCE:g}", "T",
              rounds, lambda t: Setting(sinusoid(PERIODS, VARIANCE), int(t)), SHOWN),
        plain("drift", "full-drifting", f"sinusoid, two-point noise; T = {T}, Lambda = {VARIANCE:g}", "V",
              periods, lambda n: Setting(sinusoid(n, VARIANCE), T)),
        plain("variance", "full-drifting", f"sinusoid, two-point noise; T = {T}, {PERIODS:g} periods", "Lambda",
              geometric(16, 512, preset.points), lambda v: Setting(sinusoid(PERIODS, v), T)),
        plain("low", "full-drifting", "Theorem full_V, favourites at random; budget V = 2, Lambda = 32", "T",
              rounds, lambda t: Setting(FullV(2.0, 32.0, 2), int(t)), SHOWN),
        plain("rounds", "bandit-switching", f"switching, Bernoulli; Gamma = {SEGMENTS}", "T",
              rounds, lambda t: Setting(switching(SEGMENTS), int(t)), SHOWN),
        plain("segments", "bandit-switching", f"switching, Bernoulli; T = {T}", "Gamma",
              many, lambda n: Setting(switching(n), T)),
        Sweep("bandit-switching-low", "bandit-switching",
              "Theorem bandit-low, best response against each; Gamma = 2, Lambda = 0", "T", faced,
              lambda t: Setting(BanditLow(2, 2, "best-response"), int(t)), every_bandit(),
              OptimisticGD(learning_rate=math.sqrt(2 / 4)), SHOWN),  # the rate is the tuned one: D = 4
        plain("rounds", "bandit-drifting", f"sinusoid, Bernoulli; {PERIODS:g} periods", "T",
              rounds, lambda t: Setting(sinusoid(PERIODS), int(t)), SHOWN),
        plain("drift", "bandit-drifting", f"sinusoid, Bernoulli; T = {T}", "V",
              periods, lambda n: Setting(sinusoid(n), T)),
        plain("variance", "bandit-drifting", f"sinusoid, two-point noise; T = {T}, {PERIODS:g} periods", "Lambda",
              geometric(16, 512, preset.points), lambda v: Setting(sinusoid(PERIODS, v), T)),
        plain("low", "bandit-drifting", "Theorem bandit-low, as in its proof, against each; budget V = 4, Lambda = 0",
              "T", faced, lambda t: Setting(BanditLow(4, 2, "proof"), int(t)), SHOWN),
    ]  # fmt: skip


def chosen(preset: Preset, cells: Collection[str], names: Sequence[str] | None) -> list[Sweep]:
    """Return the sweeps of some cells; with names, these learners alone play, as guests where they are not at home."""
    found = [sweep for sweep in sweeps(preset) if sweep.cell in cells]
    if names is None:
        return found
    # The oracle wants to be told the changes, which an adversary does not tell.
    welcome = {name: learners.get(name).feedback for name in learners if name != OracleRestarts.name}
    known = {name for name, feedback in welcome.items() if any(sweep.feedback == feedback for sweep in found)}
    for name in names:
        if name not in known:
            raise UnknownName("learner", name, known, "in these cells")
    kept = []
    for sweep in found:
        usual = {participant.label: participant for participant in sweep.participants}
        fitting = [name for name in dict.fromkeys(names) if welcome[name] == sweep.feedback]
        if fitting:
            participants = tuple(usual[name] if name in usual else added(name) for name in fitting)
            kept.append(dataclasses.replace(sweep, participants=participants))
    return kept
