r"""Rules from elsewhere that combine forecasts, in plain NumPy; `forecasts.py` plays them beside the mixture.

A rule keeps weights of the experts; those that forecast in a round share the weight 1 in proportion. With a delay of
$D$ rounds the truth of round $t$ is known after the forecast of round $t + D$ and before that of round $t + D + 1$.

*Rules of regrets* learn from $r_k = \phi'(f, y)\,(f - x_k)$, 0 for an expert that sleeps, with the forecast $f$ that
was made in the round ("then") or the forecast of the present weights for it ("now"). They are played for all delays at
once, both ways: their arrays have a row for each pair of these (a lane), and a second axis for their parameters.
*Rules of errors* do not depend on their own forecasts. Their weights are computed once, for truths in time; late truths
only shift them.

Windows, penalties and grids were chosen on the sets with which the default of the mixture was made.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
from scipy.optimize import nnls

from driftwise.core.types import Actions, Matrix, Vector
from driftwise.forecasting import ForecastLoss
from driftwise.learners import ExpertLearner

__all__ = [
    "DORM",
    "ERROR_RULES",
    "REGRET_RULES",
    "AdaHedgeD",
    "BestRate",
    "DORMPlus",
    "ErrorRule",
    "FixedShareInHindsight",
    "ForecastSet",
    "InverseErrors",
    "Lane",
    "NonNegativeStacking",
    "RegretRule",
    "RidgeStacking",
    "at_weights_then",
    "equal_weights",
    "play_errors",
    "play_regrets",
]

Array = np.ndarray[Any, Any]
LARGEST_GROWTH = 16.0  # a round with a wider range of losses, compared with the widest before, is skipped


class ForecastSet(NamedTuple):
    """Forecasts and truths of one series."""

    name: str
    about: str
    horizon: int
    forecasts: Matrix  # NaN: none
    truths: Vector
    loss: ForecastLoss

    @property
    def natural_delay(self) -> int:
        """How many rounds late truths are, if each forecast is made `horizon` rounds ahead."""
        return self.horizon - 1


class Lane(NamedTuple):
    """How late truths are, and at which weights a late round is learned."""

    delay: int
    now: bool


def equal_weights(data: ForecastSet) -> Vector:
    """Return the mean of the forecasts of each round."""
    return np.nanmean(data.forecasts, axis=1)


def _shared(weights: Array, awake: Array) -> Array:
    """Return the weights of the experts that are awake, with the sum 1; equal ones if they have no weight left."""
    kept = np.where(awake, weights, 0.0)
    total = kept.sum(axis=-1, keepdims=True)
    equal = awake / awake.sum(axis=-1, keepdims=True)
    return np.where(total > 0, kept / np.where(total > 0, total, 1.0), equal)


def _combined(weights: Array, awake: Array, inputs: Array) -> Array:
    """Return the forecasts of lanes x parameters; `awake` and `inputs` are 0 for experts without a forecast."""
    total = (weights @ awake[..., None])[..., 0]
    forecasts = (weights @ inputs[..., None])[..., 0] / np.where(total > 0, total, 1.0)
    return np.where(total > 0, forecasts, (inputs.sum(axis=-1) / awake.sum(axis=-1))[..., None])


def _softmax(values: Array) -> Array:
    powers = np.exp(values - values.max(axis=-1, keepdims=True))
    return powers / powers.sum(axis=-1, keepdims=True)


# ---------------------------------------------------------------------------------------------------- rules of regrets


class RegretRule:
    """A rule that learns from regrets: `weights` of lanes x parameters x experts, 0 or more, and `learn`."""

    n_parameters = 1
    weights: Array

    def __init__(self, delays: Vector, n_experts: int) -> None:
        self.delays = delays
        self.shape = (len(delays), self.n_parameters, n_experts)
        self.weights = np.full(self.shape, 1.0 / n_experts)

    def learn(self, regrets: Array, rounds: Actions) -> None:
        """Learn from one round in each lane: `rounds` are their numbers, below 0 where no truth is known yet."""
        raise NotImplementedError

    def chosen(self, forecasts: Array, losses: Array) -> Matrix:  # noqa: ARG002 (for rules with parameters)
        """Return the forecasts of rounds x lanes from those of rounds x lanes x parameters, and their losses."""
        return forecasts[:, :, 0]


def play_regrets(kind: type[RegretRule], data: ForecastSet, lanes: Sequence[Lane]) -> Matrix:
    """Return the forecasts of a rule of regrets, a column for each lane."""
    inputs, awake = np.nan_to_num(data.forecasts), 1.0 - np.isnan(data.forecasts)
    delays, now = np.array([lane.delay for lane in lanes]), np.array([[lane.now] for lane in lanes])
    every = np.arange(len(lanes))
    rule = kind(delays, inputs.shape[1])
    played = np.empty((len(inputs), *rule.shape[:2]))
    for t in range(len(inputs)):
        played[t] = _combined(rule.weights, awake[t], inputs[t])
        rounds = t - delays
        known = np.maximum(rounds, 0)
        values, present = inputs[known], awake[known]
        made = np.where(now, _combined(rule.weights, present, values), played[known, every])
        slopes = data.loss.slopes(made, data.truths[known, None]) * (rounds >= 0)[:, None]
        rule.learn(slopes[..., None] * (made[..., None] - values[:, None]) * present[:, None], rounds)
    return rule.chosen(played, data.loss.values(played, data.truths[:, None, None]))


class BestRate(RegretRule):
    r"""Exponential weights with opera's rule for the rate: that of the rate with the least loss so far.

    Each rate $\eta$ of a grid, a power of two, has weights of its own, $w_k \propto e^{\eta R_k}$ with the sum $R$ of
    the regrets at these weights. opera's grid grows where its end is the best; this one is wide from the start, around
    one over the largest regret of the first round that has one.
    """

    rates = 2.0 ** np.arange(-14, 6)
    n_parameters = len(rates)

    def __init__(self, delays: Vector, n_experts: int) -> None:
        super().__init__(delays, n_experts)
        self.sums, self.unit = np.zeros(self.shape), np.zeros((len(delays), 1, 1))

    def learn(self, regrets: Array, rounds: Actions) -> None:  # noqa: ARG002
        self.sums += regrets
        # All rates have the same weights until the first regrets, so that these are the same for all.
        self.unit = np.where(self.unit > 0, self.unit, np.abs(regrets).max(axis=(1, 2), keepdims=True))
        unit = np.where(self.unit > 0, self.unit, 1.0)
        self.weights = _softmax(self.rates[:, None] * (self.sums / unit))

    def chosen(self, forecasts: Array, losses: Array) -> Matrix:
        found = np.empty(forecasts.shape[:2])
        sums = np.cumsum(losses, axis=0)
        for i, delay in enumerate(self.delays):
            best = np.zeros(len(forecasts), dtype=np.int64)
            best[delay + 1 :] = sums[: max(0, len(sums) - delay - 1), i].argmin(axis=1)
            found[:, i] = forecasts[np.arange(len(forecasts)), i, best]
        return found


class FixedShareInHindsight(RegretRule):
    r"""Fixed Share with the rates that had the least loss in hindsight, for each lane.

    $v_k \propto w_k e^{\eta r_k / s}$, $w = (1 - \alpha) v + \alpha / K$, with the widest range $s$ of regrets so far.
    A mixture with `FixedShare` for each pair of rates would take hours with late truths.
    """

    learning_rates = 2.0 ** np.arange(-6, 7)
    switch_rates = np.array([1e-6, 1e-3, 1e-2, 3e-2, 0.1])
    n_parameters = len(learning_rates) * len(switch_rates)

    def __init__(self, delays: Vector, n_experts: int) -> None:
        super().__init__(delays, n_experts)
        rates = np.meshgrid(self.learning_rates, self.switch_rates, indexing="ij")
        self.rate, self.share = (values.reshape(-1, 1) for values in rates)
        self.widest = np.zeros((*self.shape[:2], 1))

    def learn(self, regrets: Array, rounds: Actions) -> None:  # noqa: ARG002
        self.widest = np.maximum(self.widest, np.ptp(regrets, axis=-1)[..., None])
        grown = self.weights * np.exp(self.rate / np.where(self.widest > 0, self.widest, 1.0) * regrets)
        self.weights = (1.0 - self.share) * (grown / grown.sum(axis=-1, keepdims=True)) + self.share / self.shape[2]

    def chosen(self, forecasts: Array, losses: Array) -> Matrix:
        best = losses.mean(axis=0).argmin(axis=1)
        return forecasts[:, np.arange(len(best)), best]


class AdaHedgeD(RegretRule):
    r"""AdaHedge for late truths (Flaspohler et al., "Online learning with optimism and delay", ICML 2021), no hint.

    $w_t \propto e^{-\theta_t / \lambda_t}$ with the sum $\theta$ of the gradients that are known. When the gradient
    $g_s$ becomes known, $\theta \leftarrow \theta + g_s$, $\lambda \leftarrow \lambda + \delta / \ln K$ with
    $\delta = [\min(\delta_1, \delta_2, \delta_3)]_+$, the three as in the package poold of the authors. With the sum
    $u$ of the gradients that were not known in round $s$, its own among them, the weights $w(\theta)$ for
    $\lambda_s$, and $m(w, v) = \lambda_s \ln \sum_k w_k e^{-v_k / \lambda_s} + \langle w, v \rangle$:

    $\delta_1 = \langle g_s, w_s - w(\theta) \rangle$, $\delta_2 = m(w_s, u)$,
    $\delta_3 = m(w', \sigma u) + \langle g_s, w_s - w' \rangle$,
    $\sigma = \min(1, \|g_s\|_\infty / \|u\|_\infty)$, $w' = w(\theta - \sigma u)$;
    $m(w, \cdot)$ is $\langle \theta, w \rangle - \min_k \theta_k$ where $\lambda_s = 0$.
    """

    def __init__(self, delays: Vector, n_experts: int) -> None:
        super().__init__(delays, n_experts)
        self.sums, self.temperature = np.zeros(self.shape), np.zeros((len(delays), 1, 1))
        size = int(delays.max()) + 1  # of the rounds that are remembered
        self.past = np.zeros((size, *self.shape)), np.zeros((size, *self.temperature.shape))
        self.past_weights = np.zeros((size, *self.shape))

    def learn(self, regrets: Array, rounds: Actions) -> None:
        size, every = len(self.past_weights), np.arange(len(rounds))
        current, place = int(rounds[0] + self.delays[0]) % size, np.maximum(rounds, 0) % size
        self.past[0][current], self.past[1][current], self.past_weights[current] = (
            self.sums,
            self.temperature,
            self.weights,
        )
        sums_then, temperature = self.past[0][place, every], self.past[1][place, every]
        weights = self.past_weights[place, every]
        gradients = -regrets
        sums = self.sums + gradients
        waiting = sums - sums_then
        largest, largest_waiting = (np.abs(values).max(axis=-1, keepdims=True) for values in (gradients, waiting))
        sigma = np.minimum(1.0, largest / np.where(largest_waiting > 0, largest_waiting, 1.0))
        other = _softmin(sums - sigma * waiting, temperature)
        gaps = (
            _inner(gradients, weights - _softmin(sums, temperature)),
            _gap(weights, waiting, sums, temperature),
            _gap(other, sigma * waiting, sums, temperature) + _inner(gradients, weights - other),
        )
        gap = np.maximum(np.minimum.reduce(gaps), 0.0)
        self.temperature = self.temperature + gap / np.log(max(2, self.shape[2]))
        self.sums, self.weights = sums, _softmin(sums, self.temperature)


def _inner(some: Array, others: Array) -> Array:
    return (some * others).sum(axis=-1, keepdims=True)


def _softmin(sums: Array, temperature: Array) -> Array:
    """Return weights in proportion to exp(-sums / temperature); equal ones of the least where the temperature is 0."""
    above = sums - sums.min(axis=-1, keepdims=True)
    weights = np.where(temperature > 0, np.exp(-above / np.where(temperature > 0, temperature, 1.0)), above == 0.0)
    return weights / weights.sum(axis=-1, keepdims=True)


def _gap(weights: Array, waiting: Array, sums: Array, temperature: Array) -> Array:
    least = np.where(weights > 0, waiting, np.inf).min(axis=-1, keepdims=True)
    positive = np.where(temperature > 0, temperature, 1.0)
    powers = np.exp(np.where(weights > 0, least - waiting, 0.0) / positive)
    mixed = positive * np.log(_inner(weights, powers)) - least + _inner(weights, waiting)
    return np.where(temperature > 0, mixed, _inner(sums, weights) - sums.min(axis=-1, keepdims=True))


class DORM(RegretRule):
    r"""Delayed optimistic regret matching (Flaspohler et al., 2021) without a hint: $w_k \propto [R_k]_+$.

    The hint that the latest regrets repeat is better in time and worse at the natural delay.
    """

    def __init__(self, delays: Vector, n_experts: int) -> None:
        super().__init__(delays, n_experts)
        self.sums = np.zeros(self.shape)

    def learn(self, regrets: Array, rounds: Actions) -> None:  # noqa: ARG002
        self.sums += regrets
        self.weights = np.maximum(self.sums, 0.0)


class DORMPlus(RegretRule):
    r"""DORM+ (Flaspohler et al., 2021) without a hint: $p \leftarrow [p + r]_+$, $w \propto p$."""

    def __init__(self, delays: Vector, n_experts: int) -> None:
        super().__init__(delays, n_experts)
        self.play = np.zeros(self.shape)

    def learn(self, regrets: Array, rounds: Actions) -> None:  # noqa: ARG002
        self.weights = self.play = np.maximum(self.play + regrets, 0.0)


REGRET_RULES: dict[str, type[RegretRule]] = {
    "EWA, opera's rule": BestRate,
    "Fixed Share, hindsight": FixedShareInHindsight,
    "AdaHedgeD": AdaHedgeD,
    "DORM": DORM,
    "DORM+": DORMPlus,
}


def at_weights_then(learner: ExpertLearner, data: ForecastSet, delay: int) -> Vector:
    """Return the forecasts of a learner that learns a late round at the weights that it had then.

    `Mixture` learns it at the present weights. Losses are scaled as there: linearised, divided by the widest range so
    far, and the first much wider ones are skipped.
    """
    awake = ~np.isnan(data.forecasts)
    inputs = np.where(awake, data.forecasts, 0.0)
    played, scale, limit = np.empty(len(inputs)), 0.0, LARGEST_GROWTH
    state = learner.start(n_actions=inputs.shape[1])
    for t, values in enumerate(inputs):
        played[t] = _shared(np.asarray(learner.predict(state)), awake[t]) @ values
        if t < delay:
            continue
        past = t - delay
        slope = float(data.loss.slopes(played[past], data.truths[past]))
        losses = np.where(awake[past], slope * (inputs[past] - played[past]), 0.0)
        low, span = losses.min(), np.ptp(losses)
        if span <= 0.0:
            continue
        if scale > 0.0 and span > limit * scale:
            limit *= 2.0
            continue
        scale = max(scale, span)
        learner.update(state, np.minimum((losses - low) / scale, 1.0))
    return played


# ----------------------------------------------------------------------------------------------------- rules of errors


class ErrorRule:
    """A rule whose weights depend on forecasts and truths only."""

    def weights_after(self, data: ForecastSet) -> Matrix:
        """Return the weights after 0, 1, 2, ... truths."""
        raise NotImplementedError

    def combine(self, weights: Matrix, data: ForecastSet) -> Vector:
        """Return the forecasts with the weights of each round."""
        awake = ~np.isnan(data.forecasts)
        return (_shared(weights, awake) * np.where(awake, data.forecasts, 0.0)).sum(axis=1)


def play_errors(rule: ErrorRule, data: ForecastSet, delays: Sequence[int]) -> Matrix:
    """Return the forecasts of a rule of errors, a column for each delay."""
    weights, rounds = rule.weights_after(data), np.arange(len(data.truths))
    return np.column_stack([rule.combine(weights[np.maximum(rounds - delay, 0)], data) for delay in delays])


class InverseErrors(ErrorRule):
    """Weights in proportion to one over the discounted mean loss; for an expert without one, over the mean of those."""

    discount = 0.98

    def weights_after(self, data: ForecastSet) -> Matrix:
        losses = data.loss.values(data.forecasts, data.truths[:, None])
        awake = ~np.isnan(losses)
        sums, rounds = np.zeros(losses.shape[1]), np.zeros(losses.shape[1])
        weights = np.ones((len(losses) + 1, losses.shape[1]))
        for t in range(len(losses)):
            kept = np.where(awake[t], self.discount, 1.0)
            sums, rounds = kept * sums + np.where(awake[t], losses[t], 0.0), kept * rounds + awake[t]
            means = sums / np.where(rounds > 0, rounds, 1.0)
            means = np.where(rounds > 0, means, means[rounds > 0].mean())
            least = means[means > 0].min(initial=np.inf)
            weights[t + 1] = least / np.maximum(means, 1e-12 * least) if np.isfinite(least) else 1.0
        return weights


class WindowRule(ErrorRule):
    """A regression on the latest rounds; a missing forecast counts as the mean of the others."""

    window = 400

    def parts(self, data: ForecastSet) -> tuple[Matrix, Vector]:
        """Return what is known before a round, and what it is to explain."""
        raise NotImplementedError

    def solved(self, gram: Matrix, product: Vector, size: float) -> Vector:
        """Return the weights from the sums of x x' and x y over the window; `size` is the mean of the diagonal."""
        raise NotImplementedError

    def weights_after(self, data: ForecastSet) -> Matrix:
        inputs, answers = self.parts(data)
        weights = np.zeros((len(inputs) + 1, inputs.shape[1]))
        for t in range(1, len(weights)):
            latest = slice(max(0, t - self.window), t)
            gram = inputs[latest].T @ inputs[latest]
            size = float(np.trace(gram)) / len(gram)
            if size > 0:
                weights[t] = self.solved(gram, inputs[latest].T @ answers[latest], size)
        return weights


def _filled(data: ForecastSet) -> Matrix:
    return np.where(np.isnan(data.forecasts), equal_weights(data)[:, None], data.forecasts)


def _in_range(forecasts: Vector, data: ForecastSet) -> Vector:
    """Return forecasts cut to the range of those of the experts."""
    return np.clip(forecasts, np.nanmin(data.forecasts, axis=1), np.nanmax(data.forecasts, axis=1))


class NonNegativeStacking(WindowRule):
    """Least squares with weights that are 0 or more and have any sum; cut to the range of the experts."""

    penalty = 1e-9  # of the distance from equal weights, so that the solution is unique

    def parts(self, data: ForecastSet) -> tuple[Matrix, Vector]:
        return _filled(data), data.truths

    def solved(self, gram: Matrix, product: Vector, size: float) -> Vector:
        penalty = self.penalty * size
        root = np.linalg.cholesky(gram + penalty * np.eye(len(gram)))
        found: Vector = nnls(root.T, np.linalg.solve(root, product + penalty / len(gram)))[0]
        return found

    def combine(self, weights: Matrix, data: ForecastSet) -> Vector:
        some = weights.sum(axis=1, keepdims=True) > 0
        return _in_range((np.where(some, weights, 1.0 / weights.shape[1]) * _filled(data)).sum(axis=1), data)


class RidgeStacking(WindowRule):
    """Least squares with a penalty for the distance from equal weights, sum 1; cut to the range of the experts."""

    penalty = 0.1

    def parts(self, data: ForecastSet) -> tuple[Matrix, Vector]:
        middle = equal_weights(data)
        return _filled(data) - middle[:, None], data.truths - middle

    def solved(self, gram: Matrix, product: Vector, size: float) -> Vector:
        found: Vector = np.linalg.solve(gram + self.penalty * size * np.eye(len(gram)), product)
        return found

    def combine(self, weights: Matrix, data: ForecastSet) -> Vector:
        return _in_range(equal_weights(data) + (weights * self.parts(data)[0]).sum(axis=1), data)


ERROR_RULES: dict[str, ErrorRule] = {
    "inverse errors, .98": InverseErrors(),
    "stacking by NNLS": NonNegativeStacking(),
    "stacking by ridge": RidgeStacking(),
}
