"""A mixture of forecasts, from the formulas in the docstrings of `driftwise.forecasting`, one round at a time.

The learner is stepped through its public methods. Sums are `math.fsum`. Missing forecasts and truths are None.
"""

from __future__ import annotations

from math import fsum, inf, isfinite, log
from statistics import fmean, median

NO_WEIGHT = 1e-300
SURE = 1e-12
LIMIT = 16.0
FAR = 30.0


def sign(x):
    return (x > 0) - (x < 0)


def clipped(f):
    return min(max(f, SURE), 1.0 - SURE)


def loss_and_slope(name, level=0.5):
    """Return the loss of a forecast and its derivative, functions of the forecast and the truth."""
    return {
        "square": (lambda f, y: (f - y) ** 2, lambda f, y: 2.0 * (f - y)),
        "absolute": (lambda f, y: abs(f - y), lambda f, y: float(sign(f - y))),
        "percentage": (
            lambda f, y: abs(f - y) / abs(y) if y else inf,
            lambda f, y: sign(f - y) / abs(y) if y else inf,
        ),
        "pinball": (
            lambda f, y: level * max(y - f, 0.0) + (1.0 - level) * max(f - y, 0.0),
            lambda f, y: (1.0 - level) if f > y else -level if f < y else 0.0,
        ),
        "log": (
            lambda f, y: -log(clipped(f)) if y == 1.0 else -log(1.0 - clipped(f)),
            lambda f, y: (clipped(f) - y) / (clipped(f) * (1.0 - clipped(f))),
        ),
    }[name]


class Limited:
    """A largest value so far, without those above 16 times it; this limit doubles with every value above it.

    After three values in a row above it the next one is accepted.
    """

    def __init__(self):
        self.largest = self.limit = 0.0
        self.n_in_a_row = 0

    def accepts(self, value):
        if self.largest > 0.0 and value > self.limit and self.n_in_a_row < 3:
            self.limit *= 2.0
            self.n_in_a_row += 1
            return False
        self.n_in_a_row = 0
        self.largest = max(self.largest, value)
        self.limit = max(self.limit, LIMIT * self.largest)
        return True


class Round:
    """The forecasts of a round, the shares of the experts, the combined forecast, and the hint of the learner."""

    def __init__(self, inputs, shares, forecast, guess):
        self.inputs, self.shares, self.forecast, self.guess = inputs, shares, forecast, guess


class MixtureReference:
    """A mixture; `predict` returns a round, and `update` takes it with its truth, in any order."""

    def __init__(self, n_experts, loss, learner, gradient, hint, extras, scale, level=0.5):
        self.n_experts, self.gradient, self.hint, self.extras = n_experts, gradient, hint, extras
        self.value, self.slope = loss if isinstance(loss, tuple) else loss_and_slope(loss, level)
        self.learner, self.known_scale = learner, scale
        self.state = learner.start(n_experts + ("last-truth" in extras) + 2 * len({"scaled", "shifted"} & {*extras}))
        self.plain = [float(w) for w in learner.predict(self.state)]  # before a hint
        self.ranges, self.steps, self.errors = Limited(), Limited(), Limited()
        self.truth = None
        self.error_sum, self.n_errors, self.size_sum = [], 0, []
        self.counts = {"learned": 0, "cut": 0, "no truth": 0, "all asleep": 0, "not finite": 0}
        self.cut = []
        self.takes_hints = hasattr(learner, "hint")
        self.middle_errors = []  # of the midmean of the awake
        self.learned = []  # for each round that the learner learned from: its weights, the scaled losses, the scale

    # The round before the truth

    def predict(self, forecasts):
        inputs = self.with_extras(list(forecasts))
        if all(x is None for x in inputs):
            return Round(inputs, [0.0] * len(inputs), self.truth, [0.0] * len(inputs))
        awake = self.awake(inputs)
        guess = self.guess_of(awake)
        if guess is not None:
            self.learner.hint(self.state, guess)
        weights = [float(w) for w in self.learner.predict(self.state)]
        shares = self.shared(weights, awake)
        return Round(inputs, shares, self.mean(awake, shares), guess)

    def awake(self, inputs):
        """Return the forecasts, None for those that are too far from the others."""
        values = sorted(x for x in inputs if x is not None)
        if len(values) <= 2:
            return inputs
        middle = median(values)
        distances = sorted(abs(x - middle) for x in values)
        errors, n = sorted(self.middle_errors, reverse=True), len(self.middle_errors)
        usual = errors[max(1, min(4, (n + 3) // 4)) - 1] if errors else 0.0
        most = FAR * max(distances[len(values) // 2], usual)
        return [None if x is None or abs(x - middle) > most else x for x in inputs]

    def with_extras(self, forecasts):
        awake = [x for x in forecasts if x is not None]
        mean = fsum(awake) / len(awake) if awake else None
        known = mean is not None and self.n_errors > 0
        if "last-truth" in self.extras:
            forecasts.append(self.truth)
        if "scaled" in self.extras:
            size = fsum(self.size_sum)
            part = min(1.0, 2.0 * fsum(self.error_sum) / size) if known and size > 0.0 else None
            forecasts += [None, None] if part is None else [mean - part * mean, mean + part * mean]
        if "shifted" in self.extras:
            shift = 2.0 * fsum(self.error_sum) / self.n_errors if known else None
            forecasts += [None, None] if shift is None else [mean - shift, mean + shift]
        return forecasts

    def shared(self, weights, inputs):
        awake = [k for k, x in enumerate(inputs) if x is not None]
        mass = fsum(weights[k] for k in awake)
        shares = [0.0] * len(inputs)
        for k in awake:
            if len(awake) == len(inputs):
                shares[k] = weights[k]
            else:
                shares[k] = weights[k] / mass if mass >= NO_WEIGHT else 1.0 / len(awake)
        return shares

    def mean(self, inputs, shares):
        awake = [(x, p) for x, p in zip(inputs, shares, strict=True) if x is not None]
        first = awake[0][0]
        return first + fsum(p * (x - first) for x, p in awake)

    def losses_of(self, inputs, shares, forecast, truth):
        """Return the losses of all, asleep or not, and the least and largest of the awake; None if one is infinite."""
        awake = [k for k, x in enumerate(inputs) if x is not None]
        if self.gradient:
            slope = self.slope(forecast, truth)
            losses = {k: slope * (inputs[k] - forecast) for k in awake}
            asleep = 0.0
        else:
            losses = {k: self.value(inputs[k], truth) for k in awake}
            asleep = fsum(shares[k] * losses[k] for k in awake)
        if not all(isfinite(each) for each in losses.values()):
            return None
        low, high = min(losses.values()), max(losses.values())
        return [losses.get(k, asleep) for k in range(len(inputs))], low, high

    def scale(self):
        return self.ranges.largest if self.known_scale is None else self.known_scale

    def guess_of(self, inputs):
        """Return the hint of a round; None if the learner uses its own guess, the last losses."""
        if not self.takes_hints or self.hint == "last-losses":
            return None
        found = None
        if self.hint == "last-truth" and self.truth is not None:
            shares = self.shared(self.plain, inputs)
            found = self.losses_of(inputs, shares, self.mean(inputs, shares), self.truth)
        if found is None:
            return [0.0] * len(inputs)
        losses, low, high = found
        return scaled(losses, low, max(self.scale(), high - low))

    # The truth

    def update(self, one, truth):
        if truth is None:
            self.counts["no truth"] += 1
            return
        if all(x is None for x in one.inputs):
            self.counts["all asleep"] += 1
            self.follow(truth)
            return
        if one.guess is not None:
            self.learner.hint(self.state, one.guess)
        awake = self.awake(one.inputs)
        shares = self.shared(self.learner.predict(self.state).tolist(), awake)  # at present, if it is late
        found = self.losses_of(awake, shares, self.mean(awake, shares), truth)
        values = sorted(x for x in awake if x is not None)
        cut = max(len(values) // 4, 1 if len(values) > 2 else 0)
        self.middle_errors.append(abs(truth - fmean(values[cut : len(values) - cut])))
        if found is None:
            self.counts["not finite"] += 1
            return
        losses, low, high = found
        losses, span = [each - low for each in losses], high - low
        if self.known_scale is None:
            if not self.ranges.accepts(span):
                self.counts["cut"] += 1
                self.cut.append(span)
                self.follow(truth)
                return
        elif span > self.known_scale:
            self.counts["cut"] += 1
            self.cut.append(span - self.known_scale)
            losses = [each * (self.known_scale / span) for each in losses]
        losses = scaled(losses, 0.0, self.scale())
        self.learned.append((self.learner.predict(self.state).tolist(), losses, self.scale()))
        self.learner.update(self.state, losses)
        self.plain = [float(w) for w in self.learner.predict(self.state)]
        self.counts["learned"] += 1
        self.follow(truth)
        self.observe_error(one, truth)

    def follow(self, truth):
        if self.truth is None or self.steps.accepts(abs(truth - self.truth)):
            self.truth = truth

    def observe_error(self, one, truth):
        awake = [x for x in one.inputs[: self.n_experts] if x is not None]
        if awake:
            error = abs(fsum(x - truth for x in awake) / len(awake))
            if self.errors.accepts(error):
                self.error_sum.append(error)
                self.size_sum.append(abs(fsum(awake) / len(awake)))
                self.n_errors += 1

    def run(self, forecasts, truths):
        """Play rows of forecasts, each followed by its truth; return the rounds."""
        rounds = []
        for row, truth in zip(forecasts, truths, strict=True):
            rounds.append(self.predict([None if x != x else float(x) for x in row]))
            self.update(rounds[-1], None if truth != truth else float(truth))
        return rounds


def reference_of(options, n_experts, loss=None):
    """Return the reference of a mixture with some options; a loss of the user is a pair of functions."""
    found = options.forecast_loss
    return MixtureReference(
        n_experts,
        loss or found.name,
        options.full_learner,
        options.gradient,
        options.hint,
        options.extras,
        options.scale,
        found.level,
    )


def scaled(losses, low, scale):
    return [min(1.0, max(0.0, (each - low) / scale)) if scale > 0.0 else 0.0 for each in losses]
