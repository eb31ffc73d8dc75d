"""What a learner believes about its stream, as numbers that can be shown and recorded, and how they are computed."""

from __future__ import annotations

import math
import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field

import numpy as np

from driftwise.core.types import Actions, Vector

_BASES_SHOWN, _BASES_IN_REPR = 12, 3
_ALARMS_SHOWN, _ALARMS_IN_REPR = 12, 4
_MEMORIES_SHOWN = 12
_LEAST_SHOWN = 0.0005  # smaller weights would be shown as 0.000


@dataclass(frozen=True, repr=False)
class Beliefs:
    r"""Beliefs of a learner after some rounds: how much of the past counts, what it mixes, which changes it detected.

    `Learner.beliefs`, `Session.beliefs` and `record` return them. A field is None, or `bases` is empty, if the learner
    has nothing of the kind.

    Parameters
    ----------
    rounds : int
        Number of rounds so far.
    memory : float or tuple of float or None, default None
        Effective memory: the number of past rounds that count for the next play, in [0, rounds]. One number for each
        action if actions are reset one by one. The notes define it.
    bases : dict, default {}
        Weights of the base learners, or of memory lengths, by label; they sum to 1.
    segments : float or None, default None
        Estimate of the number of segments so far ($\Gamma$): the alarms plus 1 for a learner that restarts on alarms.
    drift : float or None, default None
        Estimate of the drift so far ($V$).
    variance : float or None, default None
        Estimate of the variance so far ($\Lambda$).
    alarms : tuple of int or None, default None
        Rounds, counted from 0, whose loss raised an alarm: the latest 64, oldest first. The restart that follows is
        effective from the next round on. None if the learner does not test for changes.
    n_alarms : int or None, default None
        Number of all alarms so far. None if the learner does not test for changes.

    Notes
    -----
    If the loss of a round counts with the weight $v_a$ after $a$ more rounds, the effective memory is the sum of $v$
    over all past rounds:

    - no forgetting: all rounds;
    - a window of $\tau$ rounds: $\min(t, \tau)$;
    - a discount $\gamma$: $1 + \gamma + \dots + \gamma^{t-1}$, which tends to $1/(1-\gamma)$;
    - Fixed Share with the switch rate $\alpha$: as the discount $1 - \alpha$, so it tends to $1/\alpha$;
    - the bases of `Tracker`: the rounds after which earlier losses no longer matter for a base at the present gains,
      averaged by the weights of the bases;
    - restarts, on alarms or on a schedule: the rounds since the last one, of each action if actions restart one by one;
    - rows of experts, or base learners, that started in different rounds: the mean of their ages, weighed by their
      shares in the next play.

    Examples
    --------
    >>> from driftwise.learners import SlidingWindowUCB
    >>> learner = SlidingWindowUCB(window=100)
    >>> state = learner.start(n_actions=2)
    >>> played = learner.run(state, [[0.1, 0.9]] * 250)
    >>> learner.beliefs(state)
    Beliefs(rounds=250, memory=100)
    >>> print(learner.beliefs(state).table())
    rounds            250
    effective memory  100 rounds
    """

    rounds: int
    memory: float | tuple[float, ...] | None = None
    bases: Mapping[str, float] = field(default_factory=dict)
    segments: float | None = None
    drift: float | None = None
    variance: float | None = None
    alarms: tuple[int, ...] | None = None
    n_alarms: int | None = None

    @property
    def memories(self) -> tuple[float, ...]:
        """The effective memories as a tuple: one number, one for each action, or none."""
        return () if self.memory is None else self.memory if isinstance(self.memory, tuple) else (self.memory,)

    def __repr__(self) -> str:
        texts = {"rounds": str(self.rounds), "memory": _joined(self.memories)}
        if isinstance(self.memory, tuple):
            texts["memory"] = f"({texts['memory']})"
        if self.bases:
            largest = self.largest_bases(_BASES_IN_REPR)
            more = ", ..." if len(self.bases) > len(largest) else ""
            texts["bases"] = f"{{{', '.join(f'{label!r}: {_number(weight)}' for label, weight in largest)}{more}}}"
        texts |= self._estimates()
        if self.alarms is not None:
            more, end = "..., " if len(self.alarms) > _ALARMS_IN_REPR else "", "," if len(self.alarms) == 1 else ""
            texts["alarms"] = f"({more}{', '.join(map(str, self.alarms[-_ALARMS_IN_REPR:]))}{end})"
        texts["n_alarms"] = "" if self.n_alarms is None else str(self.n_alarms)
        return f"Beliefs({', '.join(f'{name}={text}' for name, text in texts.items() if text)})"

    def _estimates(self) -> dict[str, str]:
        estimates = {"segments": self.segments, "drift": self.drift, "variance": self.variance}
        return {name: _number(value) for name, value in estimates.items() if value is not None}

    def largest_bases(self, most: int) -> list[tuple[str, float]]:
        """Return the labels and weights of the bases with the largest weights, largest first."""
        return sorted(self.bases.items(), key=lambda item: -item[1])[:most]

    def table(self) -> str:
        """Return the beliefs as text, one per line, with the largest weights of the bases below."""
        lines = [("rounds", str(self.rounds))]
        if self.memory is not None:
            per_action = ", by action" if isinstance(self.memory, tuple) else ""
            lines.append(("effective memory", f"{_joined(self.memories)} rounds{per_action}"))
        lines += self._estimates().items()
        if self.n_alarms is not None:
            lines.append(("alarms", str(self.n_alarms)))
        if self.alarms:
            latest = ", ".join(map(str, self.alarms[-_ALARMS_SHOWN:]))
            cut = (self.n_alarms or 0) > _ALARMS_SHOWN
            lines.append(("in rounds", f"..., {latest}" if cut else latest))
        largest = [base for base in self.largest_bases(_BASES_SHOWN) if base[1] >= _LEAST_SHOWN]
        lines += [(label, f"weight {weight:.3f}") for label, weight in largest]
        if rest := len(self.bases) - len(largest):
            weight = max(0.0, sum(self.bases.values()) - sum(weight for _, weight in largest))
            lines.append((f"{rest} more", f"weight {weight:.3f}"))
        width = max(len(name) for name, _ in lines)
        return "\n".join(f"{name:<{width}}  {text}" for name, text in lines)


def _number(value: float) -> str:
    return str(int(value)) if value == int(value) and abs(value) < 1e15 else f"{value:.4g}"


def _joined(values: tuple[float, ...]) -> str:
    """Return numbers as text; of many, only the smallest and the largest."""
    if len(values) > _MEMORIES_SHOWN:
        return f"{_number(round(min(values), 1))} to {_number(round(max(values), 1))}"
    return ", ".join(_number(round(value, 1)) for value in values)


def faded_rounds(forgotten: float, rounds: float) -> float:
    r"""Return $1 + (1 - f) + (1 - f)^2 + \dots$ over `rounds` terms, where a round forgets the share $f$ of the past.

    >>> faded_rounds(0.5, 3), faded_rounds(0.0, 3), faded_rounds(1.0, 3)
    (1.75, 3.0, 1.0)
    """
    if forgotten == 0.0 or rounds <= 1:
        return float(rounds)
    if forgotten == 1.0:
        return 1.0
    return min(float(rounds), -math.expm1(rounds * math.log1p(-forgotten)) / forgotten)


def mean_age(ages: Vector | Actions, shares: Vector) -> float:
    """Return the mean of ages in rounds, weighed by shares, which need not sum to 1."""
    total = float(shares.sum())
    return float(np.dot(ages, shares / total)) if total > 0.0 else float(ages.mean())


def shares_by_label(labels: Iterable[str], weights: Iterable[float]) -> dict[str, float]:
    """Return weights by label, normalised; those of equal labels are added.

    >>> shares_by_label(["slow", "fast", "slow"], [1.0, 2.0, 1.0])
    {'slow': 0.5, 'fast': 0.5}
    """
    sums: dict[str, float] = {}
    for label, weight in zip(labels, weights, strict=True):
        sums[label] = sums.get(label, 0.0) + float(weight)
    total = sum(sums.values())
    return {label: weight / total for label, weight in sums.items()} if total > 0.0 else {}


def short_label(label: str) -> str:
    """Return a label with its numbers rounded to three digits.

    >>> short_label("online-gd(learning_rate=0.18708286933869708)")
    'online-gd(learning_rate=0.187)'
    """
    return re.sub(r"\d+\.\d{3,}(e[-+]\d+)?", lambda match: f"{float(match[0]):.3g}", label)


def shares_by_age(ages: Vector | Actions, shares: Vector) -> dict[str, float]:
    """Return shares by age in rounds, in classes from one power of two to the next, the youngest first.

    >>> shares_by_age(np.array([0, 1, 2, 3, 9]), np.array([0.0, 0.125, 0.25, 0.25, 0.375]))
    {'0 rounds': 0.0, '1 round': 0.125, '2-3 rounds': 0.5, '8-15 rounds': 0.375}
    """
    exponents = np.maximum(0, np.frexp(ages.astype(float))[1])  # 0 for 0, 1 for 1, 2 for 2 and 3, 3 for 4 to 7
    sums = np.bincount(exponents, shares)
    present = np.unique(exponents)
    return shares_by_label(map(_age_class, present.tolist()), sums[present])


def _age_class(exponent: int) -> str:
    if exponent <= 1:
        return ("0 rounds", "1 round")[exponent]
    return f"{2 ** (exponent - 1)}-{2**exponent - 1} rounds"
