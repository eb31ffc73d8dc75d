r"""SleepingExperts of sleeping experts over actions: any rule that weighs an expert, on any cover of time.

Row $s$ holds one expert $(s, k)$ per action $k$, awake from round $s$ until the cover puts it to sleep. An expert
knows nothing but its own regrets $r_{t,k} = \langle p_t, \ell_t \rangle - \ell_{t,k}$ while awake, and a rule
turns them into a weight:

$$ p_{t,k} \propto \sum_{s \text{ awake}} w_{t,(s,k)} . $$

A rule is three kernels: START an expert, ABSORB a regret, and the logarithm of the weight, LOG_WEIGHT, which may be
$-\infty$. A learner with one row that never sleeps competes with fixed actions; one with many tracks.
"""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Annotated, Any, ClassVar, NamedTuple

import numpy as np
import numpy.typing as npt

from driftwise.core.kernel import clone, kernel, unbound
from driftwise.core.memory_fields import between, distribution, exactly, packed, scratch
from driftwise.core.types import Actions, Matrix, Vector, Words
from driftwise.core.vectors import assign, least
from driftwise.learners.contract import ExpertLearner
from driftwise.learners.parts.time_intervals import COVERS, Cover, last_round

__all__ = ["Rates", "SleepingExperts", "SleepingLearner", "WeightRule", "rule"]

Kernel = Callable[..., Any]
Possible = Callable[[Matrix, int], bool]
START: Kernel = unbound
ABSORB: Kernel = unbound
LOG_WEIGHT: Kernel = unbound
OPEN: Kernel = unbound
_FIRST_ROWS = 64  # where their number grows


class SleepingExperts(NamedTuple):
    """The experts' memory; only the first `awake` rows count, oldest first."""

    weights: Annotated[Vector, distribution("actions")]  # the next play
    rounds: Annotated[Actions, exactly("rounds", 1)]
    awake: Annotated[Actions, between(0, "awake", 1)]  # rows in use
    birth: Annotated[Actions, packed("rows")]  # the round that a row started in
    last: Annotated[Actions, packed("rows")]  # the last round it is awake in
    stats: Annotated[npt.NDArray[np.float64], packed("rows", "actions", "stats")]  # by the rule, of each expert
    tilt: Annotated[Matrix, scratch("rows", "actions")]  # logarithms of weights
    mass: Annotated[Vector, scratch("actions")]  # column sums


class Rates(NamedTuple):
    """The parameters, as the kernels read them."""

    cover: int
    log_experts: float  # for rules whose learning rates know how many experts there are


class WeightRule(NamedTuple):
    """A way to weigh experts, bound to the templates."""

    n_stats: int
    possible: Possible
    open: Kernel
    update: Kernel


def rule(name: str, n_stats: int, possible: Possible, start: Kernel, absorb: Kernel, log_weight: Kernel) -> WeightRule:
    """Bind a rule's kernels to the templates.

    `start(stats, s, n_actions, rates)`, `absorb(stats, regret, rates)`, `log_weight(stats, rates)`, where
    `stats` are the numbers of one expert. `possible(stats, rounds)` gets the numbers of many, (experts, n_stats), and
    says whether each can be those of an expert after at most so many rounds.
    """
    opened = clone(_open_round, name, START=start, LOG_WEIGHT=log_weight)
    return WeightRule(n_stats, possible, opened, clone(_update_rows, name, ABSORB=absorb, OPEN=opened))


def _open_round(memory: SleepingExperts, rates: Any) -> None:
    """Wake the row that starts next, if one does, and weigh all that are awake."""
    weights, tilt, mass = memory.weights, memory.tilt, memory.mass
    n_actions = weights.size
    if n_actions == 1:  # nothing to decide, and rates with ln K = 0 are not defined
        return
    start = memory.rounds[0] + 1
    last = last_round(rates.cover, start)
    if last >= start:
        row = memory.awake[0]
        memory.awake[0] = row + 1
        memory.birth[row], memory.last[row] = start, last
        for k in range(n_actions):
            START(memory.stats[row, k], start, n_actions, rates)
    top = -np.inf
    for row in range(memory.awake[0]):
        for k in range(n_actions):
            tilt[row, k] = LOG_WEIGHT(memory.stats[row, k], rates)
            top = max(top, tilt[row, k])
    if top == -np.inf:  # no expert has any weight
        weights[:] = 1.0 / n_actions
        return
    mass[:] = 0.0
    total = 0.0
    for row in range(memory.awake[0]):
        for k in range(n_actions):
            share = np.exp(tilt[row, k] - top)
            mass[k] += share
            total += share
    for k in range(n_actions):
        weights[k] = mass[k] / total


def _update_rows(memory: SleepingExperts, rates: Any, losses: Vector) -> None:
    weights, stats = memory.weights, memory.stats
    lowest = least(losses)  # subtracting it leaves equal losses no regret at all, not even of rounding
    suffered = 0.0
    for k in range(weights.size):
        suffered += weights[k] * (losses[k] - lowest)
    for row in range(memory.awake[0]):
        for k in range(weights.size):
            ABSORB(stats[row, k], suffered - (losses[k] - lowest), rates)
    memory.rounds[0] += 1
    _retire(memory)
    OPEN(memory, rates)


@kernel
def _retire(memory: SleepingExperts) -> None:
    """Drop the rows whose life is over; those that stay keep their order."""
    kept = 0
    for row in range(memory.awake[0]):
        if memory.last[row] > memory.rounds[0]:
            if kept < row:
                memory.birth[kept], memory.last[kept] = memory.birth[row], memory.last[row]
                for k in range(memory.weights.size):
                    assign(memory.stats[kept, k], memory.stats[row, k])
            kept += 1
    memory.awake[0] = kept


class SleepingLearner(ExpertLearner[SleepingExperts, Rates]):
    """A learner whose experts follow one rule, on one cover."""

    rule: ClassVar[WeightRule]

    @property
    def skipped_checks(self) -> dict[str, str]:
        """Say why a million rounds are too many where every row is kept."""
        if self.starts() != COVERS["every"]:
            return {}
        why = "the cover 'every' keeps one row per round: a million rounds would take 10^12 operations"
        return {"weights_survive_a_million_constant_rounds": why}

    def starts(self) -> Cover:
        """Return the cover: one row forever, unless a learner says otherwise."""
        return COVERS["single"]

    def log_experts(self, n_actions: int) -> float:
        """Return the logarithm that the learning rates know, where they know one."""
        return 0.0

    def first_memory(self, n_actions: int, generator: Words) -> SleepingExperts:
        """Start the row of round 1, if there is anything to decide."""
        memory = self._room_for(self.starts().most_rows or _FIRST_ROWS, n_actions)
        self.rule.open(memory, self.rates(n_actions))
        return memory

    def rates(self, n_actions: int) -> Rates:
        """Return the cover and what the rule needs to know."""
        return Rates(self.starts().code, self.log_experts(n_actions))

    def memory_limits(self, n_actions: int, rounds: int) -> dict[str, float]:
        """Return the numbers of rows, as far as the cover says, and of what the rule remembers."""
        cover = self.starts()
        awake = 0 if n_actions == 1 else cover.awake_at(rounds + 1)  # a lone action needs no row
        return {"awake": awake, "stats": self.rule.n_stats, **({"rows": cover.most_rows} if cover.most_rows else {})}

    def memory_contradiction(self, memory: SleepingExperts, rounds: int) -> str:
        """Check that the rows are those that are awake after so many rounds, with room for one more."""
        n_rows = int(self.memory_limits(memory.weights.size, rounds)["awake"])
        if memory.awake[0] != n_rows or (n_rows >= len(memory.birth) and not self.starts().most_rows):
            return f"`awake` must be {n_rows}, with room for one more row"
        starts = self.starts().starts_at(rounds + 1) if n_rows else []  # no longer than the arrays, which hold them
        if memory.birth[:n_rows].tolist() != starts:
            return f"`birth` must have the rows awake in round {rounds + 1}"
        if memory.last[:n_rows].tolist() != [last_round(self.starts().code, start) for start in starts]:
            return f"`last` must have the ends of the rows awake in round {rounds + 1}"
        if not self.rule.possible(memory.stats[:n_rows].reshape(-1, self.rule.n_stats), rounds):
            return f"`stats` must be possible after {rounds} rounds"
        return ""

    @functools.cached_property
    def grows(self) -> bool:
        """Whether the cover lets the rows grow."""
        return not self.starts().most_rows

    def make_room(self, memory: SleepingExperts, n_rounds: int) -> SleepingExperts:
        """Double the rows until they hold `n_rounds` more, on a cover that lets them grow."""
        n_rows, needed = len(memory.birth), int(memory.awake[0]) + n_rounds
        if self.starts().most_rows or needed <= n_rows:
            return memory
        while n_rows < needed:
            n_rows *= 2
        larger = self._room_for(n_rows, memory.weights.size)
        for old, new in zip(memory, larger, strict=True):
            new[: len(old)] = old
        return larger

    def _room_for(self, n_rows: int, n_actions: int) -> SleepingExperts:
        return SleepingExperts(
            weights=np.full(n_actions, 1.0 / n_actions),
            rounds=np.zeros(1, np.int64),
            awake=np.zeros(1, np.int64),
            birth=np.zeros(n_rows, np.int64),
            last=np.zeros(n_rows, np.int64),
            stats=np.zeros((n_rows, n_actions, self.rule.n_stats)),
            tilt=np.zeros((n_rows, n_actions)),
            mass=np.zeros(n_actions),
        )
