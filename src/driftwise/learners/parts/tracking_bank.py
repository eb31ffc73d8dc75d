r"""The bases of `Tracker`: the leader, the last losses, and Fixed Share with many rates.

With losses $\ell_t$, let $b_t$ be the largest range $\max_k \ell_{s,k} - \min_k \ell_{s,k}$ of the rounds $s \le t$,
and $z_{t,k} = (\ell_{t,k} - \min_j \ell_{t,j}) / b_t$ the scaled losses (0 while $b_t = 0$). In round $t$ the bases
play:

- the leader: uniform weights on the actions with the least total loss;
- the last losses: uniform weights on the actions with the least guess $g_t$, by default $z_{t-1}$;
- for every learning rate $\eta$ and switch rate $\alpha$ Fixed Share, $x_t$, and its optimistic form, $\hat x_t$:
  $\hat x_{t,k} \propto x_{t,k}\, e^{-\eta g_{t,k}}$, and
  $x_{t+1,k} = (1 - \alpha)\, x_{t,k}\, e^{-\eta z_{t,k}} / Z + \alpha / K$;
- the same with the slow rates $\eta_t = 1/\sqrt t$ and $\alpha_t = 1/(t + 1)$, for which the regret grows more slowly
  than $T$ whatever the losses; here $t$ counts the rounds since the first whose losses differ.

With `both_guesses`, what uses $g_t$ is there twice: for $g_t = z_{t-1}$, and for the guess of a hint. All forms of
Fixed Share have the same $x$, and all switch rates share the exponentials of a learning rate, so a round takes $K$
exponentials per learning rate, and $2K$ for the slow one. Weights are at least $\alpha / K$, so they are kept as
numbers, not as logarithms. Multiplying all losses by a power of two changes no base: $b_t$ and the totals scale.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from itertools import product
from typing import Annotated, NamedTuple

import numpy as np

from driftwise.core.kernel import kernel
from driftwise.core.memory_fields import between, distribution, packed, scratch
from driftwise.core.types import Actions, Matrix, Vector, Words
from driftwise.core.validation import require
from driftwise.core.vectors import largest, least
from driftwise.learners.parts.banks import Bank
from driftwise.learners.parts.running_measures import N_BLOCKS, block_contradiction, observe

__all__ = ["TrackingBank"]

_TIE = 1e-9  # actions whose totals differ by this share of the range are tied: it may be rounding
_SLACK = 1.001  # for rounding, in the rules of a memory
_LEADER = 0  # row of the weights; then the last losses for each guess, then for each pair Fixed Share and its forms


class Memory(NamedTuple):
    """State of the bases between rounds."""

    weights: Annotated[Matrix, distribution("bases", "actions")]  # of the next round
    totals: Annotated[Vector, between(0, "rounds", "actions")]  # total losses above the least total
    centers: Annotated[Matrix, distribution("pairs", "actions")]  # x, for each pair of rates, the slow one last
    range: Annotated[Vector, between(0, "widest", 1)]  # b
    counted: Annotated[Vector, between(0, "rounds", 1)]  # rounds since the first whose losses differ
    even_total: Annotated[Vector, between(0, "rounds", 1)]  # total loss of uniform weights above the least losses
    scaled: Annotated[Vector, scratch("actions")]  # z, or a guess of it
    factors: Annotated[Matrix, scratch("learning_rates", "actions")]  # exp(-eta z); the last row has the slow rate
    previous: Annotated[Vector, between(0, 1, "actions")]  # the losses of the last round
    squares: Annotated[Vector, between(0, "rounds", "actions")]  # squared differences of consecutive losses, summed
    sums: Annotated[Vector, between(0, "rounds", "actions")]  # losses of the latest block
    means: Annotated[Matrix, between(0, 1, N_BLOCKS, "actions")]  # of the full blocks
    clock: Annotated[Actions, packed(3)]  # rounds of a block, full blocks, rounds in the latest block


class Rates(NamedTuple):
    """The rates of Fixed Share; a pair is one learning rate and one switch rate."""

    learning_rates: Vector
    switch_rates: Vector
    n_guesses: int  # the last losses, and a hint; 1 if a hint replaces the last losses


@kernel
def _uniform_below(values: Vector, limit: float, weights: Vector) -> None:
    """Write uniform weights on the actions whose values are at most the limit."""
    count = 0.0
    for k in range(values.size):
        weights[k] = 1.0 if values[k] <= limit else 0.0
        count += weights[k]
    for k in range(values.size):
        weights[k] /= count


@kernel
def _write_slow_factors(memory: Memory, t: float) -> None:
    """Write the exponential factors of the slow rate of round t."""
    slow = memory.factors.shape[0] - 1
    for k in range(memory.scaled.size):
        memory.factors[slow, k] = np.exp(-memory.scaled[k] / np.sqrt(t))


@kernel
def _scale(memory: Memory, rates: Rates, values: Vector, width: float) -> None:
    """Write the values above the least as shares of the width, and their factors, but for the slow rate."""
    low = least(values)
    for k in range(values.size):
        memory.scaled[k] = (values[k] - low) / width if width > 0.0 else 0.0
    for i in range(rates.learning_rates.size):
        for k in range(values.size):
            memory.factors[i, k] = np.exp(-rates.learning_rates[i] * memory.scaled[k])


@kernel
def _look_ahead(memory: Memory, rates: Rates, number: int) -> None:
    """Write the weights of the bases that use the guess of some number, which is in `scaled` and `factors`."""
    _write_slow_factors(memory, memory.counted[0] + 1.0)
    _uniform_below(memory.scaled, _TIE, memory.weights[number])
    n_forms, n_shared, n_actions = rates.n_guesses + 1, rates.switch_rates.size, memory.scaled.size
    for pair in range(memory.centers.shape[0]):
        center, factors = memory.centers[pair], memory.factors[pair // n_shared]
        optimistic = memory.weights[n_forms * (pair + 1) + number]
        mass = 0.0
        for k in range(n_actions):
            optimistic[k] = center[k] * factors[k]
            mass += optimistic[k]
        for k in range(n_actions):
            optimistic[k] /= mass


@kernel
def _hint(memory: Memory, rates: Rates, guess: Vector) -> None:
    _scale(memory, rates, guess, max(memory.range[0], largest(guess) - least(guess)))
    _look_ahead(memory, rates, rates.n_guesses)


@kernel
def _update(memory: Memory, rates: Rates, losses: Vector) -> None:
    observe(memory, losses)
    n_actions, low = losses.size, least(losses)
    memory.range[0] = max(memory.range[0], largest(losses) - low)
    _scale(memory, rates, losses, memory.range[0])
    if memory.range[0] > 0.0:
        memory.counted[0] += 1.0
    t = max(memory.counted[0], 1.0)  # while all losses are equal, no rate matters
    _write_slow_factors(memory, t)
    above = 0.0
    for k in range(n_actions):
        memory.totals[k] += losses[k] - low
        above += losses[k] - low
    memory.even_total[0] += above / n_actions
    lowest = least(memory.totals)
    for k in range(n_actions):
        memory.totals[k] -= lowest
    _uniform_below(memory.totals, _TIE * memory.range[0], memory.weights[_LEADER])
    n_shared, slow = rates.switch_rates.size, memory.centers.shape[0] - 1
    for pair in range(memory.centers.shape[0]):
        center, factors = memory.centers[pair], memory.factors[pair // n_shared]
        plain = memory.weights[(rates.n_guesses + 1) * (pair + 1)]
        switch_rate = rates.switch_rates[pair % n_shared] if pair < slow else 1.0 / (t + 1.0)
        mass = 0.0
        for k in range(n_actions):
            center[k] *= factors[k]
            mass += center[k]
        kept, shared = (1.0 - switch_rate) / mass, switch_rate / n_actions
        for k in range(n_actions):
            center[k] = kept * center[k] + shared
            plain[k] = center[k]
    for number in range(1, rates.n_guesses + 1):
        _look_ahead(memory, rates, number)


@dataclass(frozen=True)
class TrackingBank(Bank[Memory, Rates]):
    """The leader, the last losses, and Fixed Share in both forms for every pair of rates and for the slow rates.

    Parameters
    ----------
    learning_rates : tuple of float
        Learning rates of Fixed Share, > 0.
    switch_rates : tuple of float
        Switch rates of Fixed Share, in (0, 1).
    both_guesses : bool, default False
        Whether the bases that use the last losses remain beside those that use a hint.
    """

    learning_rates: tuple[float, ...]
    switch_rates: tuple[float, ...]
    both_guesses: bool = False

    update = _update
    hint = _hint

    def __post_init__(self) -> None:
        require(self, "learning_rates", all(rate > 0 for rate in self.learning_rates), "all > 0")
        require(self, "switch_rates", all(0 < rate < 1 for rate in self.switch_rates), "all in (0, 1)")

    @property
    def pairs(self) -> list[tuple[float, float]]:
        """The pairs of a learning rate and a switch rate, in the order of the rows; the slow pair follows."""
        return list(product(self.learning_rates, self.switch_rates))

    def labels(self) -> list[str]:
        """Return a text for each base; Fixed Share has its learning rate and its switch rate."""
        rates = [*(f"({eta:g}, {alpha:g})" for eta, alpha in self.pairs), "(1/sqrt(t), 1/(t+1))"]
        hinted = ["hinted-fixed-share"] if self.both_guesses else []
        forms = [form + text for text in rates for form in ("fixed-share", "optimistic-fixed-share", *hinted)]
        return ["leader", "last losses", *(["hint"] if self.both_guesses else []), *forms]

    def memories(self, n_actions: int, rounds: int, gain: float) -> Vector:
        r"""Return the effective memory of each base, in rounds.

        All rounds for the leader, one for the last losses and for the hint. Fixed Share forgets what an action lost
        before it lost $\ln(K/\alpha)/\eta$ ranges more than another, which takes that many rounds divided by `gain`,
        the part of the range by which good actions are better in a round.
        """
        pairs = [*self.pairs, (1 / math.sqrt(rounds + 1), 1 / (rounds + 1))]
        n_guesses = 1 + self.both_guesses
        shares = [math.log(n_actions / alpha) / eta for eta, alpha in pairs for _ in range(1 + n_guesses)]
        lengths = np.array(shares) / gain if gain > 0.0 else np.full(len(shares), np.inf)
        return np.minimum([rounds, *[1.0] * n_guesses, *lengths], rounds)

    def first_memory(self, n_actions: int, generator: Words) -> Memory:
        """Return uniform weights of all bases."""
        even = 1.0 / n_actions
        return Memory(
            weights=np.full((self.n_bases, n_actions), even),
            totals=np.zeros(n_actions),
            centers=np.full((len(self.pairs) + 1, n_actions), even),
            range=np.zeros(1),
            counted=np.zeros(1),
            even_total=np.zeros(1),
            scaled=np.zeros(n_actions),
            factors=np.ones((len(self.learning_rates) + 1, n_actions)),
            previous=np.zeros(n_actions),
            squares=np.zeros(n_actions),
            sums=np.zeros(n_actions),
            means=np.zeros((N_BLOCKS, n_actions)),
            clock=np.array([1, 0, 0]),
        )

    def rates(self, n_actions: int) -> Rates:
        """Return the rates."""
        return Rates(np.array(self.learning_rates), np.array(self.switch_rates), 1 + self.both_guesses)

    def memory_limits(self, n_actions: int, rounds: int) -> dict[str, float]:
        """Return the numbers of pairs and of learning rates, and the widest range of losses."""
        return {"pairs": len(self.pairs) + 1, "learning_rates": len(self.learning_rates) + 1, "widest": min(1, rounds)}

    def memory_contradiction(self, memory: Memory, rounds: int) -> str:
        """Check the floor of the weights of Fixed Share, on which its kernel relies, and the blocks of losses."""
        slow = 1 / (max(1.0, memory.counted[0]) + 1)
        floors = np.array([*(alpha for _, alpha in self.pairs), slow]) / memory.totals.size
        if not (memory.centers >= floors[:, None] / _SLACK).all():
            return "`centers` must be at least switch_rate / n_actions"
        if memory.counted[0] % 1.0 or (memory.counted[0] > 0.0) != (memory.range[0] > 0.0):
            return "`counted` must be a whole number, 0 if and only if `range` is 0"
        if memory.totals.min() != 0.0:
            return "`totals` must have the least at 0"
        most = memory.range[0] * rounds * _SLACK
        if memory.totals.max() > most or memory.even_total[0] > most:
            return "`totals` and `even_total` must be at most range * rounds"
        return block_contradiction(memory, rounds)
