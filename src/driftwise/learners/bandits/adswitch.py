r"""AdSwitch: its tests, and which intervals they use.

Let $n_{s,t}(a)$ and $\hat\mu_{s,t}(a)$ be the plays and the mean loss of $a$ from round $s$ to $t$ of the episode, and
$r(n) = \sqrt{2 \ln T / n}$. After the loss of round $t$:

1. A new episode begins if for the action $a$ just played and some $s$ (and $s_1, s_2$)

   $$ |\hat\mu_{s,t}(a) - \hat\mu_{s_1,s_2}(a)| > r(n_{s,t}(a)) + r(n_{s_1,s_2}(a)), \quad a \text{ GOOD}, \qquad
      |\hat\mu_{s,t}(a) - \tilde\mu(a)| > \tfrac14 \tilde\Delta(a) + r(n_{s,t}(a)), \quad a \text{ BAD}. $$

2. Otherwise a GOOD action becomes BAD, with $\tilde\mu(a) = \hat\mu_{s,t}(a)$, if for some $s$

   $$ \tilde\Delta(a) = \hat\mu_{s,t}(a) - \min_{b \text{ GOOD}} \hat\mu_{s,t}(b) > \sqrt{C_1 \ln T/(n_{s,t}(a)-1)} . $$

3. In episode $l$, for each BAD action and each $i \ge 1$ with $2^{-i} \ge \tilde\Delta(a) / D$, with probability
   $2^{-i} \sqrt{l / (K T \ln T)}$ a check of $\lfloor 2^{2i+1} \ln T \rfloor$ plays of the action begins with the next
   round.

The intervals $s$ to $t$ are those since starting points in the past, the fewer the older, counted from the start of the
episode, in the order of their rows. The intervals $s_1$ to $s_2$ are all that were such an interval at some round of
the episode up to $t$; only the tightest bounds that they gave are stored. The paper uses every $s$, $s_1$ and $s_2$, in
time polynomial in $t$.

After $t$ rounds the starting points are $0$ (before the first round) and, for each power of two $2^j$, the last $R$
rounds $u < t$ of the form $(2 q + 1) 2^j$; the interval of $u$ is $u + 1, \dots, t$. These are at most
$1 + R (\log_2 t + 1)$ intervals, and for every $d \le t$ one of them has at least $d$ and less than
$d + 2 d / (2 R - 1)$ rounds, because all multiples of $2^j$ of the last $R 2^{j+1}$ rounds are starting points.

Row 0 has the plays and the total loss of each action up to now, and row 1 those before the first round, which are 0.
The rows from $2 + R j$ on have those up to the rounds with $2^j$, by $q$ modulo $R$. A row that has no round yet is 0,
as row 1 is.

The checks may cost a regret of $4 D \sqrt{l K T \ln T}$. With $D = 16$ and a gap of 0.1 they fill $10^6$ rounds, so the
default is 2, for which nothing is proved; in $10^5$ rounds it had a third to an eighth of the regret.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from typing import Annotated, NamedTuple, Self

import numpy as np
import numpy.typing as npt

from driftwise.core.corners import LARGEST, LONGEST, SMALLEST, Corners, NoLearning
from driftwise.core.kernel import kernel
from driftwise.core.measures import Measures
from driftwise.core.memory_fields import HUGE, between, generator, packed, within
from driftwise.core.random import next_uniform
from driftwise.core.types import Actions, Vector, Words
from driftwise.core.validation import COUNT, POSITIVE, Domains, check_memory, optional, reals
from driftwise.learners.base import BanditLearner, Beliefs, State, bandit
from driftwise.learners.shared.alarm_log import alarm_log, alarms, record_alarm

Sums = npt.NDArray[np.float64]  # (rows, n_actions, 2)
_POWERS = 48  # enough for 2^48 rounds, which at a microsecond each take nine years


def n_rows(resolution: int) -> int:
    """Return the number of rows for `resolution` starting points per power of two."""
    return 2 + _POWERS * resolution


@kernel
def record(sums: Sums, action: int, loss: float) -> None:
    """Add a round to the sums up to now."""
    sums[0, action, 0] += 1.0
    sums[0, action, 1] += loss


@kernel
def keep(sums: Sums, rounds: int, resolution: int) -> None:
    """Make the round just played, the `rounds`-th, a starting point, in place of the oldest with its power of two."""
    odd, j = rounds, 0
    while odd % 2 == 0 and j < _POWERS - 1:
        odd //= 2
        j += 1
    row = 2 + resolution * j + odd // 2 % resolution
    for k in range(sums.shape[1]):
        sums[row, k, 0] = sums[0, k, 0]
        sums[row, k, 1] = sums[0, k, 1]


@kernel
def rows_in_use(rounds: int, resolution: int) -> int:
    """Return the number of rows in use after so many rounds: the first ones."""
    j = 0
    while rounds >> j > 0:
        j += 1
    return 2 + resolution * min(j, _POWERS)


@kernel
def since(sums: Sums, row: int, action: int) -> tuple[float, float]:
    """Return the plays of an action since a starting point, and their mean loss (0 if there are none)."""
    n = sums[0, action, 0] - sums[row, action, 0]
    return n, (sums[0, action, 1] - sums[row, action, 1]) / max(1.0, n)


@kernel
def bounds_on_mean(sums: Sums, n_rows: int, action: int, spread: float) -> tuple[float, float]:
    """Return the highest mean less radius, and the lowest mean plus radius, where `n` plays have `spread / sqrt(n)`."""
    lower, upper = 0.0, 1.0
    for row in range(1, n_rows):
        n, mean = since(sums, row, action)
        if n > 0.0:
            radius = spread / np.sqrt(n)
            lower = max(lower, mean - radius)
            upper = min(upper, mean + radius)
    return lower, upper


@kernel
def evict(sums: Sums, n_rows: int, threshold: float, gap: Vector, floor: Vector, ceiling: Vector) -> None:
    """Write the gap of every action whose mean since some starting point is too far above the smallest one since it.

    Only actions without a gap are compared. Too far is by more than the root of `threshold / (n - 1)`. The floor and
    the ceiling are the mean less and plus a quarter of the gap.
    """
    for row in range(1, n_rows):
        best = np.inf
        for k in range(gap.size):
            n, mean = since(sums, row, k)
            if gap[k] == 0.0 and n > 0.0:
                best = min(best, mean)
        for k in range(gap.size):
            n, mean = since(sums, row, k)
            if gap[k] == 0.0 and (n - 1.0) * (mean - best) * (mean - best) > threshold:
                gap[k] = mean - best
                floor[k] = mean - gap[k] / 4.0
                ceiling[k] = mean + gap[k] / 4.0


class Memory(NamedTuple):
    """State of the learner between rounds."""

    sums: Annotated[Sums, between(0, "rounds", "rows", "actions", 2)]  # of this episode
    # An action has changed if the upper bound on its mean is below the floor, or the lower bound above the ceiling.
    floor: Annotated[Vector, between(-1, 1, "actions")]
    ceiling: Annotated[Vector, between(0, 2, "actions")]
    gap: Annotated[Vector, between(0, 1, "actions")]  # of a BAD action; 0 if it is GOOD
    # A play counts for all checks of the action, so only the longest is stored.
    plays_left: Annotated[Vector, between(0, HUGE, "actions")]  # in the checks of an action
    last: Annotated[Actions, between(0, "rounds", "actions")]  # the round of the last play
    clock: Annotated[Actions, between(0, "after", 3)]  # rounds, rounds of this episode, episodes
    horizon: Annotated[Vector, packed(2)]  # T and ln T
    alarms: Annotated[Actions, alarm_log()]  # changes that began an episode
    generator: Annotated[Words, generator()]


class Rates(NamedTuple):
    """Parameters as the kernels take them."""

    doubling: int  # 1 where `n_rounds` is None
    threshold_scale: float
    check_depth: float
    resolution: int


@kernel
def _choose(memory: Memory, rates: Rates) -> tuple[int, float]:  # noqa: ARG001
    best = -1
    for k in range(memory.last.size):
        eligible = memory.gap[k] == 0.0 or memory.plays_left[k] > 0.0
        if eligible and (best < 0 or memory.last[k] < memory.last[best]):
            best = k
    return best, 1.0


@kernel
def _has_changed(memory: Memory, n_rows: int, k: int) -> bool:
    lower, upper = bounds_on_mean(memory.sums, n_rows, k, np.sqrt(2.0 * memory.horizon[1]))
    if memory.gap[k] == 0.0:
        memory.floor[k] = max(memory.floor[k], lower)
        memory.ceiling[k] = min(memory.ceiling[k], upper)
    return bool(upper < memory.floor[k] or lower > memory.ceiling[k])


@kernel
def _begin_checks(memory: Memory, check_depth: float) -> None:
    chance = np.sqrt(memory.clock[2] / (memory.gap.size * memory.horizon[0] * memory.horizon[1]))
    for k in range(memory.gap.size):
        size = 0.5
        while memory.gap[k] > 0.0 and check_depth * size >= memory.gap[k]:
            if next_uniform(memory.generator) < size * chance:
                memory.plays_left[k] = max(memory.plays_left[k], np.floor(2.0 * memory.horizon[1] / (size * size)))
            size /= 2.0


@kernel
def _begin_episode(memory: Memory, episode: int) -> None:
    memory.sums[:] = 0.0
    memory.floor[:] = 0.0
    memory.ceiling[:] = 1.0
    memory.gap[:] = 0.0
    memory.plays_left[:] = 0.0
    memory.clock[1] = 0
    memory.clock[2] = episode


@kernel
def _update(memory: Memory, rates: Rates, action: int, loss: float, probability: float) -> None:  # noqa: ARG001
    clock, horizon = memory.clock, memory.horizon
    clock[0] += 1
    clock[1] += 1
    memory.last[action] = clock[0]
    memory.plays_left[action] = max(0.0, memory.plays_left[action] - 1.0)
    record(memory.sums, action, loss)
    n_rows = rows_in_use(clock[1], rates.resolution)
    if _has_changed(memory, n_rows, action):
        record_alarm(memory.alarms, clock[0] - 1)
        _begin_episode(memory, clock[2] + 1)
    else:
        evict(memory.sums, n_rows, rates.threshold_scale * horizon[1], memory.gap, memory.floor, memory.ceiling)
        keep(memory.sums, clock[1], rates.resolution)
    if rates.doubling and clock[0] + 1 == 2.0 * horizon[0]:
        horizon[0] *= 2.0
        horizon[1] = np.log(horizon[0])
        _begin_episode(memory, 1)
    _begin_checks(memory, rates.check_depth)


@bandit("adswitch", choose=_choose, update=_update)
@dataclass(frozen=True)
class AdSwitch(BanditLearner[Memory, Rates]):
    r"""AdSwitch (Auer, Gajane and Ortner, 2019): eliminates bad actions, checks them at random, restarts on changes.

    Does not need the number of changes.

    Parameters
    ----------
    n_rounds : int or None, default None
        Number of rounds ($T$), a whole number >= 1. None takes $2^k$ from round $2^k$ on, and restarts from the initial
        state there.
    threshold_scale : float, default 16.0
        Factor in the threshold above which an action is BAD ($C_1$), a finite number > 0. The proof uses 16.
    check_depth : float, default 2.0
        The gap of a BAD action over this is the smallest change that is checked for ($D$), a finite number >= 2. The
        proof uses 16.
    resolution : int, default 2
        Starting points of intervals kept for each power of two ($R$), a whole number >= 1.

    Notes
    -----
    An episode begins with every action GOOD. A round plays, of the GOOD actions and the BAD ones under a check, the one
    played least recently (if tied, the first). An action becomes BAD when its mean loss on some interval is above that
    of the best GOOD action by more than

    $$ \sqrt{C_1 \ln T / (n - 1)} , $$

    with $n$ its plays there. Checks of BAD actions begin at random. A new episode begins when the mean loss of an
    action has changed significantly. The module's docstring has all tests.

    Regret: $\sqrt{K \Gamma T \ln T}$ for check_depth = 16 and tests on every interval, constants not explicit.

    Must know: rounds (without them, it doubles a guess).

    Time per round: O(K log t).

    In practice: with its defaults it plays almost uniformly in runs of some thousand rounds, so a comparison with it
    says little. threshold_scale=1 has less regret in short runs. On six segments in 12,000 rounds it is 1,732, with the
    16 of the proof 2,357; nothing is proved for it.

    References
    ----------
    P. Auer, P. Gajane, R. Ortner, "Adaptively tracking the best bandit arm with an unknown number of distribution
    changes", COLT 2019.

    Examples
    --------
    >>> learner = AdSwitch(n_rounds=1000)
    >>> learner.run(learner.start(n_actions=3), [[0.25, 0.5, 0.75]] * 4)
    array([0, 1, 2, 0])
    """

    n_rounds: int | None = None
    threshold_scale: float = 16.0
    check_depth: float = 2.0
    resolution: int = 2

    corners = Corners(
        n_rounds=(NoLearning(1, "it is tuned for one round"), LONGEST),
        threshold_scale=(
            NoLearning(SMALLEST, "a change is detected in every round"),
            NoLearning(LARGEST, "no action becomes BAD"),
        ),
        check_depth=(2.0, NoLearning(LARGEST, "a check of a BAD action never ends")),
        resolution=(1, 16),
    )
    _domains = Domains(
        n_rounds=optional(COUNT),
        threshold_scale=POSITIVE,
        check_depth=reals("a finite number >= 2", lambda x: 2 <= x < math.inf),
        resolution=COUNT,
    )

    @classmethod
    def tuned(cls, measures: Measures) -> Self:
        """Set the number of rounds; the other parameters keep their defaults."""
        return cls(n_rounds=measures.n_rounds)

    def first_memory(self, n_actions: int, generator: Words) -> Memory:
        """Return a first episode with every action GOOD and no plays."""
        check_memory(self, "resolution", self.resolution, 8 * n_rows(self.resolution) * n_actions * 2)
        memory = super().first_memory(n_actions, generator)
        return memory._replace(ceiling=np.ones(n_actions), clock=np.array([0, 0, 1]), horizon=self._horizon(0))

    def beliefs(self, state: State[Memory, Rates]) -> Beliefs:
        """Return the changes that began an episode, and the rounds of this episode."""
        beliefs = super().beliefs(state)
        return replace(beliefs, memory=float(state.memory.clock[1]), **alarms(state.memory.alarms))

    def memory_limits(self, n_actions: int, rounds: int) -> dict[str, float]:
        """Return the number of rows of the sums and the limit of the clock; episodes are counted from 1."""
        return {"rows": n_rows(self.resolution), "after": rounds + 1}

    def memory_contradiction(self, memory: Memory, rounds: int) -> str:
        """Return what is wrong with the clock, $T$, the gaps or the sums."""
        now, played, episode = memory.clock.tolist()
        if now != rounds or not 0 <= played <= rounds or episode < 1:
            return f"`clock` must hold {rounds} rounds, at most as many of the episode, and the episode"
        horizon = self._horizon(rounds)
        if memory.horizon[0] != horizon[0] or not within(memory.horizon, horizon, horizon):  # ln varies by machine
            return f"`horizon` must be {horizon.tolist()}"
        if not (memory.gap == 0.0).any():
            return "`gap` must be 0 for some action"
        plays, losses = memory.sums[..., 0], memory.sums[..., 1]
        if plays[0].sum() != played or (memory.sums > memory.sums[0]).any() or (losses > plays).any():
            return f"`sums` must be those of {played} plays"
        return ""

    def rates(self, n_actions: int) -> Rates:
        """Return the parameters."""
        return Rates(int(self.n_rounds is None), self.threshold_scale, self.check_depth, self.resolution)

    def _horizon(self, rounds: int) -> Vector:
        n_rounds = max(2, self.n_rounds or 1 << (rounds + 1).bit_length() - 1)  # ln 1 = 0 would make all radii 0
        return np.array([n_rounds, math.log(n_rounds)])
