"""Twelve kinds of world that no default was tuned on: the part of the regret study that is held out.

They were written without knowledge of the default learners, before these were changed, and are not changed afterwards.
Rounds are counted from 0. All randomness comes from the generator passed in; no family looks at a learner's play.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]
Bools = NDArray[np.bool_]
Integers = NDArray[np.int64]
MEANS_WITHIN = (0.05, 0.95)  # where means that are sums of effects are clipped


class Drawn(NamedTuple):
    """A world drawn: losses and expected losses (n_rounds, n_actions), and which rounds reach the learner."""

    losses: Floats
    means: Floats
    seen: Bools


class Family(NamedTuple):
    """A kind of world, whether its rounds are independent given the means, and its (n_actions, n_rounds) cells."""

    draw: Callable[[np.random.Generator, int, int], Drawn]
    independent: bool
    cells: tuple[tuple[int, int], ...]


def all_seen(n_rounds: int) -> Bools:
    """Feedback reaches the learner in every round."""
    return np.ones(n_rounds, dtype=np.bool_)


def bernoulli(generator: np.random.Generator, means: Floats) -> Floats:
    """Losses 0 or 1 with these means."""
    return (generator.random(means.shape) < means).astype(np.float64)


def beta(generator: np.random.Generator, means: Floats, concentration: float | Floats) -> Floats:
    """Beta losses with these means and variance means * (1 - means) / (1 + concentration)."""
    return generator.beta(means * concentration, (1 - means) * concentration)


def regimes(generator: np.random.Generator, n_rounds: int, n_changes: int) -> Integers:
    """Regime (0 .. n_changes) of every round: changes evenly spaced, then moved by up to 0.4 of the spacing."""
    places = np.arange(1, n_changes + 1) + generator.uniform(-0.4, 0.4, n_changes)
    starts = (places * n_rounds / (n_changes + 1)).astype(np.int64)
    return np.searchsorted(starts, np.arange(n_rounds), side="right")


def switching_levels(
    generator: np.random.Generator, n_regimes: int, n_actions: int, lowest: float, highest: float
) -> Floats:
    """Uniform levels by regime and action such that the best action differs between neighbouring regimes."""
    levels = generator.uniform(lowest, highest, (n_regimes, n_actions))
    for regime in range(1, n_regimes):
        last_best = np.argmin(levels[regime - 1])
        if np.argmin(levels[regime]) == last_best:  # exchange its level with that of some other action
            other = (last_best + generator.integers(1, n_actions)) % n_actions
            levels[regime, [last_best, other]] = levels[regime, [other, last_best]]
    return levels


def stretches(generator: np.random.Generator, n_rounds: int, mean_outside: float, mean_inside: float) -> Bools:
    """Which rounds lie in a stretch: alternating geometric lengths with these means, beginning outside."""
    n_pairs = n_rounds // 2 + 1  # every length is at least 1, so this many pairs always cover the rounds
    lengths = np.empty((n_pairs, 2), dtype=np.int64)
    lengths[:, 0] = generator.geometric(1 / mean_outside, n_pairs)
    lengths[:, 1] = generator.geometric(1 / mean_inside, n_pairs)
    ends = np.cumsum(lengths.ravel())
    inside: Bools = np.searchsorted(ends, np.arange(n_rounds), side="right") % 2 == 1
    return inside


def autoregression(generator: np.random.Generator, n_steps: int, n_series: int, persistence: float) -> Floats:
    """Stationary standard normal AR(1) series as columns."""
    series = generator.standard_normal((n_steps, n_series))
    series[1:] *= np.sqrt(1 - persistence**2)
    for step in range(1, n_steps):
        series[step] += persistence * series[step - 1]
    return series


def changing_scale(generator: np.random.Generator, n_rounds: int, n_actions: int) -> Drawn:
    """Latency of services as a share of a fixed time-out: upgrades move all services to another band of values.

    Bands such as [0, 0.05] or [0.4, 0.6] change at their own times; who is best within the band changes at others.
    """
    bands = np.array([[0.0, 1.0], [0.0, 0.05], [0.4, 0.6], [0.0, 0.3], [0.75, 1.0]])  # lowest and highest loss
    n_changes_of_best = 5
    level_range = (0.15, 0.85)  # of means, as places within the band
    concentration = 8.0  # of the Beta noise within the band

    order = np.concatenate([[0], 1 + generator.permutation(len(bands) - 1)])  # begins with the full range
    band = bands[order][regimes(generator, n_rounds, len(bands) - 1)]
    low, width = band[:, :1], band[:, 1:] - band[:, :1]
    levels = switching_levels(generator, n_changes_of_best + 1, n_actions, *level_range)
    within = levels[regimes(generator, n_rounds, n_changes_of_best)]
    losses = low + width * beta(generator, within, concentration)
    return Drawn(np.minimum(losses, 1.0), low + width * within, all_seen(n_rounds))


def few_good_of_many(generator: np.random.Generator, n_rounds: int, n_actions: int) -> Drawn:
    """Success or failure of many suppliers of which only a few are good; now and then the best stops being good.

    At every change the best supplier falls back among the ordinary and an ordinary supplier becomes good.
    """
    n_good = 3
    n_changes = 3
    good_range = (0.15, 0.35)
    ordinary_range = (0.5, 0.75)

    levels = np.empty((n_changes + 1, n_actions))
    levels[0] = generator.uniform(*ordinary_range, n_actions)
    levels[0, generator.choice(n_actions, n_good, replace=False)] = generator.uniform(*good_range, n_good)
    for regime in range(1, n_changes + 1):
        levels[regime] = levels[regime - 1]
        ordinary = np.flatnonzero(levels[regime] >= ordinary_range[0])
        falling = np.argmin(levels[regime])
        levels[regime, generator.choice(ordinary)] = generator.uniform(*good_range)
        levels[regime, falling] = generator.uniform(*ordinary_range)
    means = levels[regimes(generator, n_rounds, n_changes)]
    return Drawn(bernoulli(generator, means), means, all_seen(n_rounds))


def rare_clicks(generator: np.random.Generator, n_rounds: int, n_actions: int) -> Drawn:
    """Advertisements clicked about 1 time in 100; the loss is 0 for a click and 1 otherwise.

    Every advertisement wears out over time and is replaced, at its own times, by a fresh version with a new rate.
    """
    usual_rate = 0.012  # median click rate when fresh
    spread_of_rates = 0.6  # standard deviation of the logarithm of the fresh rate
    highest_rate = 0.06
    n_replacements = 2  # for every action
    wear = 0.6  # a version in use for a third of the rounds keeps exp(-wear) of its rate

    means = np.empty((n_rounds, n_actions))
    for action in range(n_actions):
        version = regimes(generator, n_rounds, n_replacements)
        starts = np.searchsorted(version, np.arange(n_replacements + 1))
        age = (np.arange(n_rounds) - starts[version]) * (n_replacements + 1) / n_rounds
        fresh = usual_rate * np.exp(spread_of_rates * generator.standard_normal(n_replacements + 1))
        means[:, action] = 1 - np.minimum(fresh, highest_rate)[version] * np.exp(-wear * age)
    return Drawn(bernoulli(generator, means), means, all_seen(n_rounds))


def outages_of_feedback(generator: np.random.Generator, n_rounds: int, n_actions: int) -> Drawn:
    """Quality scores whose logging fails for stretches, and for single rounds, whatever the scores are.

    The best action switches at times of its own, so some switches happen while nothing is seen.
    """
    mean_logged = 300.0  # rounds between outages
    mean_outage = 150.0  # rounds
    lost_alone = 0.05  # share of rounds lost outside outages
    rounds_per_regime = 1500
    level_range = (0.1, 0.9)  # of means
    concentration = 5.0  # of the Beta noise

    n_changes = max(1, n_rounds // rounds_per_regime - 1)
    levels = switching_levels(generator, n_changes + 1, n_actions, *level_range)
    means = levels[regimes(generator, n_rounds, n_changes)]
    seen = ~stretches(generator, n_rounds, mean_logged, mean_outage)
    seen &= generator.random(n_rounds) >= lost_alone
    return Drawn(beta(generator, means, concentration), means, seen)


def hours_and_days(generator: np.random.Generator, n_rounds: int, n_actions: int) -> Drawn:
    """Hourly cost of routes over weeks: every route has its own busy hours, its own weekends and its own bad days.

    The strength of the daily pattern varies by day and the level of a route persists over days, so no period is exact.
    """
    hours_per_day = 24
    days_per_week = 7
    first_weekend_day = 5
    level_range = (0.4, 0.55)  # of an action's average
    daily_swing = (0.05, 0.25)  # range of amplitudes over actions
    spread_of_strength = 0.3  # standard deviation over days of the logarithm of the strength of the pattern
    weekend_effect = 0.12  # standard deviation over actions
    day_effect = 0.06  # standard deviation of the level of a route over days
    day_persistence = 0.8  # correlation of a route's level with that of the day before
    concentration = 15.0  # of the Beta noise

    hour = np.arange(n_rounds) % hours_per_day
    day = np.arange(n_rounds) // hours_per_day
    n_days = int(day[-1]) + 1
    weekend = (day % days_per_week >= first_weekend_day).astype(np.float64)
    busiest = generator.uniform(0, hours_per_day, n_actions)
    swing = generator.uniform(*daily_swing, n_actions)
    strength = np.exp(spread_of_strength * generator.standard_normal(n_days))
    pattern = swing * np.cos(2 * np.pi * (hour[:, None] - busiest) / hours_per_day) * strength[day][:, None]
    level = generator.uniform(*level_range, n_actions)
    bad_days = day_effect * autoregression(generator, n_days, n_actions, day_persistence)[day]
    weekends = weekend_effect * generator.standard_normal(n_actions) * weekend[:, None]
    means = np.clip(level + pattern + bad_days + weekends, *MEANS_WITHIN)
    return Drawn(beta(generator, means, concentration), means, all_seen(n_rounds))


def rare_windows(generator: np.random.Generator, n_rounds: int, n_actions: int) -> Drawn:
    """Buying channels with steady costs, and a few that are dear except in rare windows of clearance prices.

    Windows come at random times and take about 6 % of the rounds of a channel that has them.
    """
    mean_between = 1500.0  # rounds between windows
    mean_window = 100.0  # rounds
    actions_per_windowed = 8  # a windowed action for every 8 actions, but never none
    cost_in_window = 0.1
    cost_outside = 0.75
    steady_range = (0.4, 0.6)
    concentration = 6.0  # of the Beta noise

    n_windowed = max(1, n_actions // actions_per_windowed)
    means = np.tile(generator.uniform(*steady_range, n_actions), (n_rounds, 1))
    for action in generator.choice(n_actions, n_windowed, replace=False):
        window = stretches(generator, n_rounds, mean_between, mean_window)
        means[:, action] = np.where(window, cost_in_window, cost_outside)
    return Drawn(beta(generator, means, concentration), means, all_seen(n_rounds))


def clustered_failures(generator: np.random.Generator, n_rounds: int, n_actions: int) -> Drawn:
    """Failures of machines serving others too: a failure makes further failures likelier, a quiet time lets it recover.

    The means are failure probabilities after all earlier rounds; they wander slowly, around levels that differ.
    """
    memory = 200.0  # rounds over which the effect of a failure fades (to 1 / e)
    offspring = 0.9  # expected number of further failures brought about directly by a failure; below 1 for stability
    base_range = (0.022, 0.032)  # failure probability of a machine long without failures; long-run level 10 times that
    highest = 0.95

    keep = 1 - 1 / memory
    jump = offspring / memory
    base = generator.uniform(*base_range, n_actions)
    excess = (
        base * offspring / (1 - offspring) * generator.uniform(0.5, 1.5, n_actions)
    )  # half to one and a half times the long run
    uniforms = generator.random((n_rounds, n_actions))
    losses = np.empty((n_rounds, n_actions))
    means = np.empty((n_rounds, n_actions))
    for now in range(n_rounds):
        means[now] = np.minimum(base + excess, highest)
        losses[now] = uniforms[now] < means[now]
        excess = keep * excess + jump * losses[now]
    return Drawn(losses, means, all_seen(n_rounds))


def heavy_tailed_costs(generator: np.random.Generator, n_rounds: int, n_actions: int) -> Drawn:
    """Repair costs clipped at a budget: half of the contractors have steady costs, half small ones with a heavy tail.

    In turbulent times tails grow and steady costs become noisy: heavy tails are often best in calm times only.
    """
    budget = 1.0  # costs above are clipped
    tail_range = (1.1, 1.6)  # exponent of the Lomax tail: finite mean, infinite variance before clipping
    calm_scale_range = (0.01, 0.04)  # of the Lomax distribution
    turbulent_factor = 10.0  # on the Lomax scale
    steady_range = (0.08, 0.2)  # means of steady costs
    calm_concentration = 60.0  # of the Beta noise of steady costs
    turbulent_concentration = 4.0
    n_changes_of_times = 6  # calm, turbulent, calm, ...
    n_new_contracts = 3  # times at which all means and scales are drawn again

    heavy = generator.permutation(n_actions) < n_actions // 2
    turbulent = (regimes(generator, n_rounds, n_changes_of_times) % 2 == 1)[:, None]
    contract = regimes(generator, n_rounds, n_new_contracts)
    tail = generator.uniform(*tail_range, n_actions)
    scale = generator.uniform(*calm_scale_range, (n_new_contracts + 1, n_actions))[contract]
    scale = np.where(turbulent, turbulent_factor * scale, scale)
    steady_means = generator.uniform(*steady_range, (n_new_contracts + 1, n_actions))[contract]
    concentration = np.where(turbulent, turbulent_concentration, calm_concentration)

    # Lomax: P(cost > x) = (1 + x / scale) ** -tail; the clipped mean is the integral of that from 0 to the budget.
    heavy_means = scale / (tail - 1) * (1 - (1 + budget / scale) ** (1 - tail))
    survival = 1 - generator.random((n_rounds, n_actions))  # in (0, 1]
    heavy_losses = np.minimum(scale * (survival ** (-1 / tail) - 1), budget)
    steady_losses = beta(generator, steady_means, concentration)
    losses = np.where(heavy, heavy_losses, steady_losses)
    return Drawn(losses, np.where(heavy, heavy_means, steady_means), all_seen(n_rounds))


def imputed_repeats(generator: np.random.Generator, n_rounds: int, n_actions: int) -> Drawn:
    """Readings of sensors that fail separately: while a sensor is down its last reading is repeated.

    The underlying means switch a few times; while a reading repeats, its mean is that of the round it was taken in.
    """
    mean_working = 120.0  # rounds
    mean_down = 50.0  # rounds
    rounds_per_regime = 2000
    level_range = (0.2, 0.8)  # of means
    concentration = 4.0  # of the Beta noise

    n_changes = max(2, n_rounds // rounds_per_regime - 1)
    levels = switching_levels(generator, n_changes + 1, n_actions, *level_range)
    fresh_means = levels[regimes(generator, n_rounds, n_changes)]
    readings = beta(generator, fresh_means, concentration)
    taken = np.empty((n_rounds, n_actions), dtype=np.int64)  # the round in which the reading was taken
    for action in range(n_actions):
        down = stretches(generator, n_rounds, mean_working, mean_down)  # begins working, so round 0 has a reading
        taken[:, action] = np.maximum.accumulate(np.where(down, 0, np.arange(n_rounds)))
    losses = np.take_along_axis(readings, taken, axis=0)
    means = np.take_along_axis(fresh_means, taken, axis=0)
    return Drawn(losses, means, all_seen(n_rounds))


def staged_rollouts(generator: np.random.Generator, n_rounds: int, n_actions: int) -> Drawn:
    """Error rates of services during staged releases of faulty versions: worse with every stage, then rolled back.

    A release ramps up over several stages of traffic and is undone within a round; services do this at their own times.
    """
    shares = np.array([0.0, 0.1, 0.25, 0.5, 1.0])  # of traffic on the new version at equally spaced times of a release
    mean_quiet = 1500.0  # rounds between releases of a service
    duration_range = (600, 2000)  # rounds of a release
    fault_range = (0.2, 0.5)  # extra error rate at full traffic
    healthy_range = (0.15, 0.3)  # error rate without faulty release

    means = np.tile(generator.uniform(*healthy_range, n_actions), (n_rounds, 1))
    for action in range(n_actions):
        start = int(generator.exponential(mean_quiet))
        while start < n_rounds:
            duration = int(generator.integers(*duration_range))
            progress = np.linspace(0, len(shares) - 1, duration)
            extra = generator.uniform(*fault_range) * np.interp(progress, np.arange(len(shares)), shares)
            stop = min(start + duration, n_rounds)
            means[start:stop, action] += extra[: stop - start]
            start += duration + 1 + int(generator.exponential(mean_quiet))
    return Drawn(bernoulli(generator, means), means, all_seen(n_rounds))


def unequal_seasons(generator: np.random.Generator, n_rounds: int, n_actions: int) -> Drawn:
    """Customer ratings (five grades) of two offers that swap between a long and a short season, among middling offers.

    The offer of the short season is best for about 3 months in 10; the seasons begin earlier or later by the year.
    """
    year = 3650  # rounds: ten ratings a day
    short_share = 0.3  # of the year
    jitter = 0.05  # of the year: the beginning of a season moves by at most that
    in_season = 0.25
    out_of_season = 0.6
    middling_range = (0.38, 0.55)
    n_steps = 4  # ratings are multiples of 1 / n_steps
    concentration = 4.0  # customers differ: a rating is Binomial with a Beta probability

    n_years = n_rounds // year + 2
    begins = np.arange(n_years) + (1 - short_share) + generator.uniform(-jitter, jitter, n_years)  # short season
    ends = np.arange(1, n_years + 1) + generator.uniform(-jitter, jitter, n_years)
    borders = np.stack([begins, ends], axis=1).ravel()
    offset = generator.uniform()  # the time of year of round 0
    short = np.searchsorted(borders, np.arange(n_rounds) / year + offset, side="right") % 2 == 1
    means = np.tile(generator.uniform(*middling_range, n_actions), (n_rounds, 1))
    long_offer, short_offer = generator.choice(n_actions, 2, replace=False)
    means[:, long_offer] = np.where(short, out_of_season, in_season)
    means[:, short_offer] = np.where(short, in_season, out_of_season)
    losses = generator.binomial(n_steps, beta(generator, means, concentration)) / n_steps
    return Drawn(losses, means, all_seen(n_rounds))


def correlated_groups(generator: np.random.Generator, n_rounds: int, n_actions: int) -> Drawn:
    """Losses of assets in sectors: a sector's level drifts slowly, and shocks of market and sector hit assets together.

    Shocks are independent over rounds; the best asset changes mostly when another sector becomes the best.
    """
    actions_per_group = 4
    knots_per_run = 12  # sector levels are drawn at this many equally spaced times and interpolated linearly
    knot_persistence = 0.5  # correlation of neighbouring knots
    centre = 0.5  # the average level of sectors
    group_spread = 0.12  # standard deviation of a sector's level
    own_spread = 0.04  # standard deviation of the constant offset of an asset from its sector
    widest_shock = 0.35  # a loss is within this of its mean
    market_weight = 0.4  # the rest of the shock is split between sector and asset
    sector_split_range = (0.3, 0.9)  # the sector's share of the rest, by asset

    group = np.arange(n_actions) // actions_per_group
    n_groups = int(group[-1]) + 1
    knots = autoregression(generator, knots_per_run, n_groups, knot_persistence)
    places = np.linspace(0, n_rounds - 1, knots_per_run)
    rounds = np.arange(n_rounds)
    levels = np.stack([np.interp(rounds, places, knots[:, sector]) for sector in range(n_groups)], axis=1)
    offsets = own_spread * generator.standard_normal(n_actions)
    means = np.clip(centre + group_spread * levels[:, group] + offsets, *MEANS_WITHIN)
    split = generator.uniform(*sector_split_range, n_actions)
    market = generator.uniform(-1, 1, (n_rounds, 1))
    sector_shock = generator.uniform(-1, 1, (n_rounds, n_groups))[:, group]
    own_shock = generator.uniform(-1, 1, (n_rounds, n_actions))
    shock = market_weight * market + (1 - market_weight) * (split * sector_shock + (1 - split) * own_shock)
    width = np.minimum(widest_shock, np.minimum(means, 1 - means))  # keeps losses in [0, 1] without clipping
    return Drawn(np.clip(means + width * shock, 0.0, 1.0), means, all_seen(n_rounds))  # the clip is for rounding only


FAMILIES = {
    "changing scale": Family(changing_scale, True, ((5, 10_000), (10, 30_000))),
    "few good of many": Family(few_good_of_many, True, ((50, 20_000), (100, 20_000), (100, 50_000))),
    "rare clicks": Family(rare_clicks, True, ((3, 20_000), (10, 50_000), (30, 50_000))),
    "outages of feedback": Family(outages_of_feedback, True, ((4, 6_000), (10, 20_000), (20, 50_000))),
    "hours and days": Family(hours_and_days, True, ((4, 2_016), (6, 8_736), (8, 17_472))),  # 12, 52 and 104 weeks
    "rare windows": Family(rare_windows, True, ((3, 10_000), (8, 20_000), (20, 50_000))),
    "clustered failures": Family(clustered_failures, False, ((3, 10_000), (8, 40_000))),
    "heavy-tailed costs": Family(heavy_tailed_costs, True, ((4, 10_000), (6, 50_000), (10, 30_000))),
    "imputed repeats": Family(imputed_repeats, False, ((3, 6_000), (10, 30_000))),
    "staged rollouts": Family(staged_rollouts, True, ((3, 8_000), (6, 20_000), (12, 40_000))),
    "unequal seasons": Family(unequal_seasons, True, ((2, 7_300), (5, 18_250), (10, 36_500))),  # 2, 5 and 10 years
    "correlated groups": Family(correlated_groups, True, ((12, 10_000), (40, 20_000), (100, 30_000))),
}
