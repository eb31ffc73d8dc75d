"""A slow reference of a mixture with steps and quantiles: a plain mixture for each step and each level."""

import numpy as np

from driftwise.forecasting import ForecastLoss, Mixture


class SeparateMixtures:
    """Plain mixtures that are given the rounds one by one, each its own."""

    def __init__(self, experts, steps=None, quantiles=None, **options):
        losses = [options.pop("loss", None)] if quantiles is None else None
        losses = losses or [ForecastLoss("pinball", level=level) for level in quantiles]
        self.rows = [[Mixture(experts, loss=loss, **options) for loss in losses] for _ in range(steps or 1)]
        self.shape = [n for n in (steps, quantiles and len(quantiles)) if n is not None]

    @property
    def plain(self):
        """All of them, by step, then by level."""
        return [mix for row in self.rows for mix in row]

    def predict(self, table, times):
        """Return the sorted forecasts, (m, Q), for a table of shape (m, Q, K)."""
        rounds = zip(self.rows, table, times, strict=False)
        return np.array(
            [sorted(mix.predict(values[j], key=time) for j, mix in enumerate(row)) for row, values, time in rounds]
        )

    def update(self, truth, time):
        """Give a truth to all that wait for it; return how many they are."""
        waiting = [mix for mix in self.plain if time in {*mix.waiting}]
        for mix in waiting:
            mix.update(truth, key=time)
        return len(waiting)

    def in_shape(self, values):
        """Return one value of each plain mixture in the shape of the weights."""
        return np.array(values).reshape(self.shape)

    @property
    def weights(self):
        """The weights of each expert, in the shape of steps and levels."""
        weights = [mix.weights for mix in self.plain]
        return {name: self.in_shape([one[name] for one in weights]) for name in weights[0]}

    @property
    def counts(self):
        """The counters, in the shape of steps and levels."""
        counts = [mix.counts for mix in self.plain]
        return {name: self.in_shape([one[name] for one in counts]) for name in counts[0]}


def drawn_table(rng, shape, known):
    """Return a table of shape (m, Q, K) with missing values; no row of it is empty where no truth is known."""
    table = rng.normal(0.0, 1.0, shape)
    table[rng.random(shape) < rng.choice([0.0, 0.2, 0.6])] = np.nan
    empty = np.isnan(table).all(axis=2) & ~known[: shape[0]]
    table[empty, int(rng.integers(shape[2]))] = 0.5
    return table


def as_given(table, names, steps, quantiles, rng):
    """Return a table as users pass it: an array, or a dict in which experts without forecasts may be left out."""
    values = table if quantiles is None else np.swapaxes(table, 1, 2)  # (m, Q, K) or (m, K, Q)
    values = values[:, 0] if quantiles is None else values
    values = values if steps is not None else values[0]
    if rng.random() < 0.4:
        return values
    axis = values.ndim - (1 if quantiles is None else 2)
    parts = {name: np.take(values, k, axis=axis) for k, name in enumerate(names)}
    given = {name: part if rng.random() < 0.5 else part.tolist() for name, part in parts.items()}
    empty = [name for name, part in parts.items() if np.isnan(part).all()]
    for name in empty[: len(names) - 1]:
        if rng.random() < 0.5:
            del given[name]
    return given
