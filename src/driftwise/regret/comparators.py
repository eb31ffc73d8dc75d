"""Comparators: what the regret of a learner is measured against.

The target is the matrix of means if they are known (pseudo-regret), else that of losses (realised regret). A comparator
starts a follower, which sums its loss block by block.
"""

from __future__ import annotations

import re
from abc import ABC, abstractmethod
from collections.abc import Callable
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from driftwise.core.errors import rejection
from driftwise.core.kernel import kernel
from driftwise.core.types import Actions, Flags, Matrix, Vector
from driftwise.core.validation import check_memory, require, require_count
from driftwise.core.vectors import add, add_term, flags, least, read_sum, write_sum
from driftwise.registry import Registered, Registry


class Follower:
    """The cumulative loss of a comparator, block by block: a kernel and the sums that it adds to."""

    def __init__(self, kernel: Callable[..., None], *sums: Matrix | Vector | int) -> None:
        self._kernel, self._sums = kernel, sums

    def follow(self, target: Matrix, marks: Actions) -> Vector:
        """Add a block; return the cumulative loss after each marked round of it."""
        marked, cumulative = flags(len(target), marks), np.empty(len(target))
        self._kernel(*self._sums, target, marked, cumulative)
        return cumulative[marks]


@kernel
def _add_dynamic(total: Vector, target: Matrix, marked: Flags, cumulative: Vector) -> None:
    """Add the least entries of the rounds."""
    sums = read_sum(total)
    for t in range(target.shape[0]):
        sums = add_term(sums, least(target[t]))
        if marked[t]:
            cumulative[t] = sums[0] + sums[1]
    write_sum(total, sums)


@kernel
def _add_static(totals: Matrix, action: int, target: Matrix, marked: Flags, cumulative: Vector) -> None:
    """Add the entries of every action; the least total is the comparator's, or that of `action` if it is >= 0."""
    for t in range(target.shape[0]):
        best = np.inf
        for k in range(target.shape[1]):
            total = add(totals[k], target[t, k])
            if (action < 0 and total < best) or k == action:
                best = total
        if marked[t]:
            cumulative[t] = best


@kernel
def _add_switched(table: Matrix, total: Vector, target: Matrix, marked: Flags, cumulative: Vector) -> None:
    """Continue the dynamic program of `Switched`.

    `table[n, k]` is the least loss of a sequence with at most n + 1 segments that ends with action k, minus the loss of
    the best action of every round. The latter is summed separately, in `total`: small sums lose little to rounding.
    """
    n_segments, n_actions = table.shape
    sums = read_sum(total)
    for t in range(target.shape[0]):
        best = least(target[t])
        sums = add_term(sums, best)
        # From the most segments down, so that row n - 1 still holds the values of the previous round.
        for n in range(n_segments - 1, -1, -1):
            after_switch = least(table[n - 1]) if n > 0 else np.inf
            for k in range(n_actions):
                table[n, k] = min(table[n, k], after_switch) + (target[t, k] - best)
        if marked[t]:
            cumulative[t] = sums[0] + sums[1] + least(table[n_segments - 1])
    write_sum(total, sums)


@dataclass(frozen=True)
class Comparator(Registered, ABC):
    """A rule that chooses actions in hindsight; regret is the learner's loss minus the comparator's."""

    def __str__(self) -> str:
        return self.name

    @abstractmethod
    def start(self, n_actions: int, n_rounds: int | None = None) -> Follower:
        """Return a follower before the first round; some need the number of rounds."""

    def span(self, n_rounds: int) -> tuple[int, int]:
        """Return the rounds over which regret is summed: the first, and the last + 1."""
        return 0, n_rounds


@dataclass(frozen=True)
class Dynamic(Comparator):
    r"""The best action of every round.

    Notes
    -----
    With the play $p_t$ and the means $\mu_t$ of round $t$, the dynamic pseudo-regret of $T$ rounds is

    $$ \sum_{t=1}^T \langle p_t, \mu_t \rangle - \sum_{t=1}^T \min_i \mu_{t,i} . $$

    It is the regret of the paper's theorems. Where the means are unknown, the losses $\ell_t$ take their place.

    Examples
    --------
    >>> from driftwise import Bernoulli, Environment, OptimisticGD, Switching, simulate
    >>> environment = Environment(Switching(3, 4), Bernoulli())
    >>> simulate(environment, OptimisticGD(), 100, seed=1, comparator=Dynamic()).comparator
    'dynamic'
    """

    name: ClassVar[str] = "dynamic"

    def start(self, n_actions: int, n_rounds: int | None = None) -> Follower:  # noqa: ARG002
        """Return a follower at zero."""
        return Follower(_add_dynamic, np.zeros(2))


@dataclass(frozen=True)
class Static(Comparator):
    r"""The best single action of all rounds so far.

    Notes
    -----
    With the play $p_t$ and the means $\mu_t$ of round $t$, the static pseudo-regret of $T$ rounds is

    $$ \sum_{t=1}^T \langle p_t, \mu_t \rangle - \min_i \sum_{t=1}^T \mu_{t,i} . $$

    It is the regret of Theorem 3.4. It can be negative, and is at most the dynamic regret. Tables have the bound of the
    learner's theorem against a fixed action (`static_bound`), or else its bound on the dynamic regret. Where the means
    are unknown, the losses take their place.

    Examples
    --------
    >>> from driftwise import Bernoulli, Environment, OptimisticGD, Switching, simulate
    >>> environment = Environment(Switching(3, 4), Bernoulli())
    >>> simulate(environment, OptimisticGD(), 100, seed=1, comparator=Static()).comparator
    'static'
    """

    name: ClassVar[str] = "static"

    def start(self, n_actions: int, n_rounds: int | None = None) -> Follower:  # noqa: ARG002
        """Return a follower at zero."""
        return Follower(_add_static, np.zeros((n_actions, 2)), -1)


@dataclass(frozen=True)
class Switched(Comparator):
    r"""The best sequence of actions with at most `n_segments` segments, by dynamic programming.

    Parameters
    ----------
    n_segments : int, default 1
        The most segments, each with one action, >= 1. A round takes `n_segments` times `n_actions` operations.

    Notes
    -----
    With the play $p_t$ and the means $\mu_t$ of round $t$, the pseudo-regret of $T$ rounds against $N$ segments is

    $$ \sum_{t=1}^T \langle p_t, \mu_t \rangle - \min_{i_1, \dots, i_T} \sum_{t=1}^T \mu_{t,i_t}
       \qquad \text{with } i_t \ne i_{t-1} \text{ at most } N - 1 \text{ times.} $$

    It is the regret of Lemmas C.1 and F.3. On the command line and in files it is written `switching:N`. Where the
    means are unknown, the losses take their place.

    Examples
    --------
    >>> from driftwise import Bernoulli, Environment, OptimisticGD, Switching, simulate
    >>> environment = Environment(Switching(3, 4), Bernoulli())
    >>> simulate(environment, OptimisticGD(), 100, seed=1, comparator=Switched(3)).comparator
    'switching:3'
    """

    name: ClassVar[str] = "switched"  # "switching" is a path
    n_segments: int = 1

    def __post_init__(self) -> None:
        require_count(self, "n_segments")

    def __str__(self) -> str:
        return f"switching:{self.n_segments}"

    def start(self, n_actions: int, n_rounds: int | None = None) -> Follower:
        """Return a follower at zero; with a segment for every round it is the one of `Dynamic`, bit for bit."""
        if n_rounds is not None and self.n_segments >= n_rounds:
            return Dynamic().start(n_actions)
        check_memory(self, "n_segments", self.n_segments, 8 * self.n_segments * n_actions)
        return Follower(_add_switched, np.zeros((self.n_segments, n_actions)), np.zeros(2))


@dataclass(frozen=True)
class Interval(Comparator):
    r"""One fixed action on an interval of rounds; other rounds do not count.

    This is the regret of Lemma F.2 (R_I), which Algorithm 4 bounds on every interval at the same time.

    Parameters
    ----------
    first : int, default 0
        The first round of the interval, counted from 0.
    last : int, default 0
        Its last round, >= `first` and less than the number of rounds.
    action : int, default None
        The action, counted from 0. None means the best action of the interval.

    Notes
    -----
    With the play $p_t$ and the means $\mu_t$ of round $t$, the pseudo-regret from round $t_1$ to $t_2$ is

    $$ \sum_{t=t_1}^{t_2} \langle p_t, \mu_t \rangle - \sum_{t=t_1}^{t_2} \mu_{t,k} $$

    for the action $k$, or the least over all actions. On the command line and in files it is written
    `interval:FIRST-LAST` or `interval:FIRST-LAST@ACTION`. Where the means are unknown, the losses take their place.

    Examples
    --------
    >>> from driftwise import Bernoulli, Environment, OptimisticGD, Switching, simulate
    >>> environment = Environment(Switching(3, 4), Bernoulli())
    >>> simulate(environment, OptimisticGD(), 100, seed=1, comparator=Interval(20, 59)).rounds[[0, -1]]
    array([21, 60])
    """

    name: ClassVar[str] = "interval"
    first: int = 0
    last: int = 0
    action: int | None = None

    def __post_init__(self) -> None:
        require_count(self, "first", at_least=0)
        require_count(self, "last", at_least=0)
        require(self, "last", self.last >= self.first, f">= first = {self.first}")
        if self.action is not None:
            require_count(self, "action", at_least=0)

    def __str__(self) -> str:
        return f"{self.name}:{self.first}-{self.last}{'' if self.action is None else f'@{self.action}'}"

    def start(self, n_actions: int, n_rounds: int | None = None) -> Follower:  # noqa: ARG002
        """Return a follower at zero."""
        if self.action is not None and self.action >= n_actions:
            raise rejection(self, "action", f"< n_actions = {n_actions}", self.action)
        return Follower(_add_static, np.zeros((n_actions, 2)), -1 if self.action is None else self.action)

    def span(self, n_rounds: int) -> tuple[int, int]:
        """Return the interval as its first round and its last + 1."""
        if self.last >= n_rounds:
            raise rejection(self, "last", f"< n_rounds = {n_rounds}", self.last)
        return self.first, self.last + 1


comparators: Registry[Comparator] = Registry("comparator")
for _kind in (Dynamic, Static, Switched, Interval):
    comparators.add(_kind.name, _kind)


_WHOLE = re.compile(r"[0-9]{1,100}")  # more digits than any count has; Python is slow to read millions of digits
_INTERVAL = re.compile(rf"({_WHOLE.pattern})-({_WHOLE.pattern})(?:@({_WHOLE.pattern}))?")


def make_comparator(text: str, owner: str = "simulate") -> Comparator:
    """Return the comparator of ``dynamic``, ``static``, ``switching:N`` or ``interval:FIRST-LAST[@ACTION]``.

    >>> make_comparator("switching:3")
    Switched(n_segments=3)
    """
    kind, _, rest = text.partition(":")
    if kind in ("dynamic", "static") and not rest:
        return comparators.build({"name": kind})
    if kind == "switching" and _WHOLE.fullmatch(rest):
        return Switched(int(rest))
    if kind == "interval" and (match := _INTERVAL.fullmatch(rest)):
        return Interval(int(match[1]), int(match[2]), None if match[3] is None else int(match[3]))
    raise rejection(owner, "comparator", "dynamic, static, switching:N or interval:FIRST-LAST[@ACTION]", text)
