"""`Combinations`, from the formulas in the docstring of `driftwise.forecasting.combinations`, one round at a time.

There is no unit: losses are those of the numbers as they are, which must neither overflow nor vanish when they are
squared twice. Missing forecasts and truths are NaN. Experts that a mixture adds are left out.
"""

import numpy as np

from references.mixtures import Limited, loss_and_slope

BASE_PRIOR = np.array([1.0, 8.0, 1.0, 8.0, 4.0, 0.3, 0.3, 1.0])
GUARD_PRIOR = np.array([0.85, 0.05, 0.05, 0.05])
DEGREES = {"square": 2, "absolute": 1, "pinball": 1}
MIDMEAN, LAST_TRUTH, CORRECTED = 4, 5, 6
NO_WEIGHT = 1e-300
MOST_LOSS = 1e70


def shared(weights, awake):
    """Share the weight 1 among the awake, equally if they have none left."""
    kept = np.where(awake, weights, 0.0)
    return kept / kept.sum() if kept.sum() > NO_WEIGHT else awake / awake.sum()


# Learners of weights


class Poly:
    """ML-Poly, which forgets if the discount is below 1."""

    def __init__(self, n_experts, discount):
        self.discount, self.weights = discount, np.full(n_experts, 1.0 / n_experts)
        self.regrets, self.squares, self.largest = np.zeros(n_experts), np.zeros(n_experts), 0.0

    def learn(self, regrets):
        self.largest = max(self.discount * self.largest, (regrets**2).max())
        self.regrets = self.discount * self.regrets + regrets
        self.squares = self.discount * self.squares + regrets**2
        if self.largest > 0:
            self.weights = np.maximum(self.regrets, 0.0) / (self.largest + self.squares)
        total = self.weights.sum()
        self.weights = self.weights / total if total > 0 else np.full(len(regrets), 1.0 / len(regrets))

    def shrink(self, factor):
        self.regrets *= factor
        self.squares *= factor**2
        self.largest *= factor**2


class SmallLosses:
    """Weights that are a negative power of the mean losses, which are discounted."""

    def __init__(self, n_experts, discount, power):
        self.discount, self.power, self.weights = discount, power, np.full(n_experts, 1.0 / n_experts)
        self.losses, self.rounds = np.zeros(n_experts), np.zeros(n_experts)

    def learn(self, losses, awake):
        self.losses = np.where(awake, self.discount * self.losses + losses, self.losses)
        self.rounds = np.where(awake, self.discount * self.rounds + 1.0, self.rounds)
        seen = self.rounds > 0
        mean = (self.losses[seen] / self.rounds[seen]).mean()
        value = (self.losses + mean) / (self.rounds + 1.0) + 1e-12 * mean
        if value.min() > 0:
            self.weights = (value.min() / value) ** self.power
        else:
            self.weights = np.ones(len(losses))
        self.weights = self.weights / self.weights.sum()

    def mean_losses(self):
        return np.divide(self.losses, self.rounds, out=np.zeros(len(self.losses)), where=self.rounds > 0)

    def shrink(self, factor):
        self.losses *= factor


class AdaHedge:
    """AdaHedge with a prior, on regrets."""

    def __init__(self, prior):
        self.prior, self.length, self.weights = prior, -np.log(prior.min()), prior.copy()
        self.regrets, self.gap = np.zeros(len(prior)), 0.0

    def learn(self, regrets, charge=1.0):
        top, mean = regrets.max(), self.weights @ regrets
        mixed = top
        if self.gap > 0:
            rate = self.length / self.gap
            moment = self.weights @ np.exp(rate * (regrets - top))
            mixed = top + np.log(max(moment, NO_WEIGHT)) / rate
        self.gap += charge * max(mixed - mean, 0.0)
        self.regrets = self.regrets + regrets
        if self.gap > 0:
            weights = self.prior * np.exp(self.length / self.gap * (self.regrets - self.regrets.max()))
            self.weights = weights / weights.sum()

    def shrink(self, factor):
        self.regrets *= factor
        self.gap *= factor


class Switching:
    """Fixed Share with slow rates, in units of the largest range so far."""

    def __init__(self, n_experts):
        self.weights, self.largest, self.rounds = np.full(n_experts, 1.0 / n_experts), 0.0, 0

    def learn(self, regrets):
        self.largest = max(self.largest, np.ptp(regrets))
        if self.largest > 0:
            self.rounds += 1
            rate = 2.0 * np.sqrt(np.log(len(regrets)) / self.rounds) / self.largest
            weights = self.weights * np.exp(rate * (regrets - regrets.max()))
            share = 1.0 / (self.rounds + 1)
            self.weights = (1.0 - share) * weights / weights.sum() + share / len(regrets)


class SecondOrder:
    """Level 2: exponential weights with a rate for each forecast."""

    def __init__(self):
        self.prior = BASE_PRIOR / BASE_PRIOR.sum()
        self.length, self.weights = -np.log(self.prior.min()), self.prior.copy()
        self.regrets, self.squares, self.largest = np.zeros(len(BASE_PRIOR)), np.zeros(len(BASE_PRIOR)), 0.0

    def learn(self, regrets, mean_delay):
        self.regrets, self.squares = self.regrets + regrets, self.squares + regrets**2
        self.largest = max(self.largest, (regrets**2).max())
        if self.largest > 0:
            variance = self.squares + self.largest
            evidence = self.regrets * np.sqrt(self.length / (np.sqrt(1.0 + mean_delay) * variance))
            weights = self.prior * np.sqrt(self.largest / variance) * np.exp(evidence - evidence.max())
            self.weights = weights / weights.sum()

    def shrink(self, factor):
        self.regrets *= factor
        self.squares *= factor**2
        self.largest *= factor**2


class Errors:
    """The largest errors so far, and those of this block of 50 truths and of the one before."""

    def __init__(self):
        self.largest, self.number, self.block, self.block_before = [], 0, 0.0, 0.0

    def see(self, error):
        self.number += 1
        self.largest = sorted([*self.largest, error], reverse=True)[:4]
        self.block = max(self.block, error)

    def usual(self):
        """The fourth largest; of up to 4, 8, 12 the first, second, third."""
        rank = min(4, (self.number + 3) // 4)
        return self.largest[rank - 1] if self.number else 0.0

    def recent(self):
        return max(self.block, self.block_before)

    def limit(self):
        self.largest = [min(error, self.recent()) for error in self.largest]

    def next_block(self):
        self.block, self.block_before = 0.0, self.block


# The forecasts of level 1


def order_of(forecasts):
    """The awake by (forecast, number)."""
    return [k for k in np.argsort(forecasts, kind="stable") if not np.isnan(forecasts[k])]


def midmean(forecasts):
    """The weights of the midmean."""
    order = order_of(forecasts)
    n = len(order)
    cut = max(n // 4, 1 if n > 2 else 0)
    weights = np.zeros(len(forecasts))
    weights[order[cut : n - cut]] = 1.0 / (n - 2 * cut)
    return weights


def enclosing(forecasts, target):
    """The weights of the two experts that enclose a forecast, cut to the hull."""
    order, weights = order_of(forecasts), np.zeros(len(forecasts))
    above = next((i for i, k in enumerate(order) if forecasts[k] >= target), len(order) - 1)
    upper, lower = order[above], order[max(above - 1, 0)]
    if above == 0 or target >= forecasts[upper]:
        weights[upper] = 1.0
    else:
        part = (target - forecasts[lower]) / (forecasts[upper] - forecasts[lower])
        weights[upper], weights[lower] = part, 1.0 - part
    return weights


def mean_of(weights, forecasts):
    """The mean of the awake; differences from one of them do not lose digits to a common level."""
    awake = ~np.isnan(forecasts)
    base = forecasts[order_of(forecasts)[0]]
    return base + weights[awake] @ (forecasts[awake] - base)


class Round:
    """A round until its truth is known."""

    def __init__(self, number, forecast, weights):
        self.number, self.forecast, self.weights = number, forecast, weights
        self.inputs = self.bases = self.guarded = self.uncorrected = None  # nobody is awake


class CombinationsReference:
    """`predict` returns a round, and `update` takes it with its truth, in any order.

    The rules against hostile data can be switched off by name: "far", "bad", "cut", "again", "fall", "tie", "finite".
    """

    def __init__(self, n_experts, loss="square", level=0.5, last_truth=True, without=()):
        is_number = loss != "log"
        self.n_experts, self.guards, self.follows, self.without = (
            n_experts,
            is_number,
            is_number and last_truth,
            without,
        )
        value, slope = loss if isinstance(loss, tuple) else loss_and_slope(loss, level)
        self.value = lambda forecast, truth: float(value(float(forecast), float(truth)))
        self.slope = lambda forecast, truth: float(slope(float(forecast), float(truth)))
        self.degree = 0 if isinstance(loss, tuple) else DEGREES.get(loss, 0)
        self.discounted = Poly(n_experts, 0.99)
        self.slow, self.fast = SmallLosses(n_experts, 0.995, 4), SmallLosses(n_experts, 0.8, 8)
        self.leader, self.mixing = AdaHedge(np.full(n_experts, 1.0 / n_experts)), SecondOrder()
        self.start_guard()
        self.errors, self.errors_of_middle = Errors(), Errors()
        self.largest_learned, self.was_cut, self.known = 0.0, False, None
        self.truth, self.steps = np.nan, Limited()
        self.n_combined, self.n_learned, self.delays = 0, 0, 0
        self.counts = {"learned": 0, "cut": 0, "no truth": 0, "all asleep": 0, "not finite": 0}
        self.falls = self.ties = self.far = 0
        self.cut = 0.0

    def start_guard(self):
        """Start what has a bound."""
        self.poly, self.switching = Poly(self.n_experts, 1.0), Switching(self.n_experts)
        self.guard = AdaHedge(GUARD_PRIOR)

    # Before the truth

    def predict(self, forecasts):
        number, forecasts = self.n_combined, np.array(forecasts, float)
        self.n_combined += 1
        if np.isnan(forecasts).all():
            return Round(number, self.truth, np.zeros(self.n_experts))
        forecasts = np.where(self.near(forecasts), forecasts, np.nan)
        rows = self.base_weights(forecasts)
        bases = np.array([np.nan if row is None else mean_of(row, forecasts) for row in rows])
        rows = np.array([np.zeros(self.n_experts) if row is None else row for row in rows])
        guarded_rows = [shared(self.mixing.weights, ~np.isnan(bases)) @ rows]
        for learner in (self.poly, self.leader, self.switching):
            guarded_rows.append(shared(learner.weights, ~np.isnan(forecasts)))
        guarded = np.array([mean_of(row, forecasts) for row in guarded_rows])
        if self.known is None:
            guarded[1:] = np.nan
        weights = shared(self.guard.weights, ~np.isnan(guarded)) @ guarded_rows
        this_round = Round(number, mean_of(weights, forecasts), weights)
        this_round.inputs, this_round.bases, this_round.guarded = forecasts, bases, guarded
        this_round.uncorrected = mean_of(shared(self.slow.weights, ~np.isnan(forecasts)), forecasts)
        return this_round

    def near(self, forecasts):
        """Which experts do not sleep, missing or not."""
        order = order_of(forecasts)
        near = np.full(self.n_experts, True)
        if not self.guards or len(order) < 3:
            return near
        distances = np.abs(forecasts - np.nanmedian(forecasts))
        usual = max(np.sort(distances[order])[len(order) // 2], self.errors_of_middle.usual())
        losses, seen = self.slow.mean_losses(), self.slow.rounds > 0
        bad = losses > 10.0 * losses[seen].min() if seen.any() else np.full(self.n_experts, False)
        if "far" not in self.without:
            near &= ~(distances > 30.0 * usual)
        if "bad" not in self.without:
            near &= ~((distances > 10.0 * usual) & bad)
        self.far += int((~near & ~np.isnan(forecasts)).sum())
        hull = forecasts[near]
        return (forecasts >= np.nanmin(hull)) & (forecasts <= np.nanmax(hull))

    def base_weights(self, forecasts):
        """The weights of the experts in each forecast of level 1; None where it sleeps."""
        rows, awake = [None] * len(BASE_PRIOR), ~np.isnan(forecasts)
        rows[MIDMEAN] = midmean(forecasts)
        if self.known is None:
            return rows
        for i, learner in enumerate((self.discounted, self.slow, self.fast, self.leader)):
            rows[i] = shared(learner.weights, awake)
        rows[-1] = awake / awake.sum()
        if self.follows:
            _, truth, uncorrected = self.known
            rows[LAST_TRUTH] = enclosing(forecasts, truth)
            rows[CORRECTED] = enclosing(forecasts, mean_of(rows[1], forecasts) + (truth - uncorrected))
        return rows

    # The truth

    def update(self, this_round, truth):
        if np.isnan(truth):
            self.counts["no truth"] += 1
            return
        if np.isnan(self.truth) or self.steps.accepts(abs(truth - self.truth)):
            self.truth = truth
        if this_round.inputs is None:
            self.counts["all asleep"] += 1
            return
        believed = self.believed(this_round, truth) if self.guards else truth
        self.largest_learned = max(self.largest_learned, abs(believed - this_round.forecast))
        if self.guards and self.errors.number % 50 == 0:
            self.follow_fall()
        self.learn_if_possible(this_round, believed)
        is_cut = believed != truth
        if is_cut:
            self.counts["cut"] += 1
            self.cut += self.value(this_round.forecast, truth) - self.value(this_round.forecast, believed)
        is_newer = self.known is None or this_round.number > self.known[0]
        if is_newer and (not is_cut or self.was_cut or "again" in self.without):
            self.known = (this_round.number, truth, this_round.uncorrected)
        self.was_cut = is_cut

    def believed(self, this_round, truth):
        """The truth to learn from."""
        error, error_of_middle = abs(truth - this_round.forecast), abs(truth - this_round.bases[MIDMEAN])
        self.errors.see(error)
        self.errors_of_middle.see(error_of_middle)
        most = 2.0 * self.errors.usual()
        if error <= most or error_of_middle <= self.errors_of_middle.usual() or "cut" in self.without:
            return truth
        nearer = this_round.forecast + np.copysign(most, truth - this_round.forecast)
        is_less = self.value(this_round.forecast, nearer) <= self.value(this_round.forecast, truth) < np.inf
        return nearer if is_less else truth

    def follow_fall(self):
        """Every 50 truths: what was learned shrinks if the errors of the last two blocks are all small."""
        now = self.errors.recent()
        if 0 < now < self.largest_learned / 100.0 and "fall" not in self.without:
            if self.degree > 0:
                for learner in (self.discounted, self.slow, self.fast, self.leader, self.mixing):
                    learner.shrink((now / self.largest_learned) ** self.degree)
                self.start_guard()
            self.falls += 1
            self.largest_learned = now
            self.errors.limit()
            self.errors_of_middle.limit()
        self.errors.next_block()
        self.errors_of_middle.next_block()

    def learn_if_possible(self, this_round, truth):
        awake = this_round.inputs[~np.isnan(this_round.inputs)]
        low, high = awake.min(), awake.max()
        if high - low <= 1e-12 * np.abs(awake).max() and "tie" not in self.without:
            self.ties += 1
            self.counts["learned"] += 1
            return
        steepest = max(abs(self.slope(low, truth)), abs(self.slope(high, truth))) * (high - low)
        losses = [self.value(x, truth) for x in awake]
        if np.abs([steepest, *losses]).max() <= MOST_LOSS or "finite" in self.without:
            self.counts["learned"] += 1
            self.learn(this_round, truth)
        else:
            self.counts["not finite"] += 1

    def learn(self, this_round, truth):
        """Let all learn at their present weights, as if the round were played now."""
        inputs, late = this_round.inputs, self.n_combined - 1 - this_round.number
        awake = ~np.isnan(inputs)
        self.n_learned += 1
        self.delays += late
        losses = np.array([0.0 if np.isnan(x) else self.value(x, truth) for x in inputs])
        for learner in (self.discounted, self.poly, self.switching):
            learner.learn(self.regrets(learner.weights, inputs, truth))
        for learner in (self.slow, self.fast):
            learner.learn(losses, awake)
        self.leader.learn(np.where(awake, shared(self.leader.weights, awake) @ losses - losses, 0.0))
        mean_delay = self.delays / self.n_learned
        self.mixing.learn(self.regrets(self.mixing.weights, this_round.bases, truth), mean_delay)
        self.guard.learn(self.regrets(self.guard.weights, this_round.guarded, truth), 1.0 + late)

    def regrets(self, weights, inputs, truth):
        """The regrets of the linearised loss."""
        awake = ~np.isnan(inputs)
        forecast = mean_of(shared(weights, awake), inputs)
        slope = self.slope(forecast, truth)
        return np.where(awake, slope * (forecast - np.where(awake, inputs, 0.0)), 0.0)

    def run(self, forecasts, truths):
        """Play rows of forecasts, each followed by its truth; return the rounds."""
        rounds = []
        for row, truth in zip(forecasts, truths, strict=True):
            rounds.append(self.predict(row))
            self.update(rounds[-1], truth)
        return rounds


def reference_of(options, n_experts, loss=None):
    """Return the reference of a mixture with some options; a loss of the user is a pair of functions."""
    name, level = options.forecast_loss.name, options.forecast_loss.level
    return CombinationsReference(n_experts, loss or name, level, options.full_learner.last_truth)
