"""The bounds of Tracker, of its rule and of its bases, on thousands of paths with ranges that change."""

# ruff: noqa: ARG005 (all scales, and all hints, have the same arguments)

from math import log, sqrt

import numpy as np
import pytest

from bounding import FAMILIES_AND_ADVERSARIES, Tally, on_many_paths
from driftwise.core.measures import Measures
from driftwise.learners import Tracker
from driftwise.learners.experts.ada_hedge import PriorAdaHedge
from driftwise.theory import pathwise_tracker
from paths import ADVERSARIES, Case
from references import comparators, tracker

LEARNER = Tracker()
SWITCHES = 8  # comparators with 0, 1, ..., 7 switches


# Paths


def _blocks(rng, n_rounds):
    """Powers of two, each for a while: the range grows late, and rounds after a large range are tiny."""
    return 2.0 ** -rng.choice([0, 1, 3, 10, 40], n_rounds)[np.cumsum(rng.random(n_rounds) < 0.1) % n_rounds]


SCALES = {
    "one": lambda rng, n_rounds: np.ones(n_rounds),
    "blocks": _blocks,
    "growing": lambda rng, n_rounds: 2.0 ** -np.linspace(20.0, 0.0, n_rounds),
    "late": lambda rng, n_rounds: np.where(np.arange(n_rounds) < 0.8 * n_rounds, 1e-3, 1.0),
    "tiny-first": lambda rng, n_rounds: np.where(np.arange(n_rounds) < 1, 1e-9, 1.0),
    "outliers": lambda rng, n_rounds: np.where(rng.random(n_rounds) < 0.05, 1.0, 0.02),
    "zeros-first": lambda rng, n_rounds: np.where(np.arange(n_rounds) < n_rounds // 3, 0.0, 0.1),
}
HINTS = {
    "none": lambda rng, losses: None,
    "exact": lambda rng, losses: losses,
    "reversed": lambda rng, losses: losses.max() - losses,
    "random": lambda rng, losses: rng.random(losses.size),
    "tiny": lambda rng, losses: 1e-6 * rng.random(losses.size),
    "equal": lambda rng, losses: np.full(losses.size, 0.3),
}


class Play:
    """A path that Tracker played round by round, with the weights of its bases and its gap after every round."""

    def __init__(self, case, scale, hint):
        rng, shape = np.random.default_rng([case.seed, 7]), (case.n_rounds, case.n_actions)
        scales = SCALES[scale](rng, case.n_rounds)
        self.weights, self.losses = np.empty((2, *shape))
        self.plays = np.empty((case.n_rounds, tracker.N_BASES, case.n_actions))
        self.gaps, hints = np.empty(case.n_rounds), []
        oblivious = None if case.family in ADVERSARIES else case.losses() * scales[:, None]
        state, last = LEARNER.start(case.n_actions), np.zeros(case.n_actions)
        for t in range(case.n_rounds):
            if hint != "none" and oblivious is not None:
                hints.append(HINTS[hint](rng, oblivious[t]))
                LEARNER.hint(state, hints[-1])
            elif hint != "none":  # the adversary answers to the weights with the hint
                hints.append(HINTS[hint](rng, last))
                LEARNER.hint(state, hints[-1])
            self.weights[t], self.plays[t] = LEARNER.predict(state), state.memory.base_weights
            if oblivious is None:
                last = ADVERSARIES[case.family](self.weights[t], rng, last)
            self.losses[t] = last * scales[t] if oblivious is None else oblivious[t]
            LEARNER.update(state, self.losses[t])
            self.gaps[t] = state.memory.rule_gap[0]
        self.hints = np.array(hints) if hints else None
        self.ranges = np.ptp(self.losses, axis=1)
        self.unit = float(self.ranges.max()) or 1.0  # regrets and bounds are compared as shares of it
        self.lost = (self.weights * self.losses).sum(axis=1)
        self.least = self.losses.min(axis=1)
        self.base_above = np.einsum("tbk,tk->tb", self.plays, self.losses - self.least[:, None])
        self.base_lost = self.base_above + self.least[:, None]
        self.comparators = comparators.best_with_segments(self.losses, min(SWITCHES, case.n_rounds))


def bounds_of_forms(play):
    """Return the bounds of both forms of every pair of rates against all numbers of switches; the slow pair is last."""
    n_rounds, n_actions = play.losses.shape
    largest, scaled, guesses = tracker.guesses_and_scaled(play.losses, play.hints)
    if largest[-1] == 0.0:
        return np.zeros((len(tracker.PAIRS) + 1, 2, play.comparators.size))
    growth = largest[-1] - min(value for value in largest if value > 0)
    spreads = [(largest * np.ptp(moved, axis=1) ** 2).sum() for moved in (scaled, scaled - guesses)]
    m = np.arange(play.comparators.size)
    bounds = []
    for eta, alpha in tracker.PAIRS:
        length = (m + 1) * log(n_actions) + m * log(1 / alpha) + (n_rounds - m - 1) * -np.log1p(-alpha)
        cost = (largest[-1] * length + growth * log(1 / alpha)) / eta
        bounds.append([cost + eta / 8 * spread for spread in spreads])
    since = n_rounds - next(t for t, value in enumerate(largest) if value > 0)
    cost = largest[-1] * sqrt(since) * ((m + 1) * log(n_actions * since) + log(since))
    rates = np.array([0.0] * (n_rounds - since) + [1 / sqrt(t) for t in range(1, since + 1)])
    slow = [(rates * largest * np.ptp(moved, axis=1) ** 2).sum() for moved in (scaled, scaled - guesses)]
    bounds.append([cost + spread / 8 for spread in slow])
    return np.array(bounds)


# Checks


def check_tracker(tally, case, scale, hint):
    play = Play(case, scale, hint)
    regrets = play.lost.sum() - play.comparators
    best = bounds_of_forms(play).min(axis=(0, 1))
    bounds = pathwise_tracker.rule(play.losses, tracker.CODE_LENGTH) + best
    tally.check(regrets / play.unit, bounds / play.unit, case.n_rounds)
    m = case.seed % play.comparators.size
    stated = pathwise_tracker.tracker(play.losses, m, tracker.CODE_LENGTH, tracker.PAIRS, play.hints)
    assert stated == pytest.approx(bounds[m], rel=1e-9)
    worst = pathwise_tracker.tracker_worst(case.n_actions, case.n_rounds, m, tracker.CODE_LENGTH, tracker.PAIRS)
    assert min(stated, case.n_rounds) <= worst + 1e-9


def check_rule(tally, case, scale, hint):
    """Check regret <= 2 gap <= closed form after every round, against every base."""
    play = Play(case, scale, hint)
    regrets = np.cumsum(play.lost[:, None] - play.base_lost, axis=0).max(axis=1)
    tally.order(regrets / play.unit, 2 * play.gaps / play.unit)
    largest, squares = np.maximum.accumulate(play.ranges), np.cumsum(play.ranges**2)
    length = tracker.CODE_LENGTH
    closed = np.sqrt(length * squares) + 2 * (2 / 3 * length + 1) * largest
    tally.check(2 * play.gaps / play.unit, closed / play.unit, case.n_rounds)
    assert pathwise_tracker.rule(play.losses, length) == pytest.approx(closed[-1])
    shares, gaps = tracker.ada_hedge_with_prior(play.base_above)
    np.testing.assert_allclose(play.gaps, gaps, rtol=1e-6, atol=1e-9 * play.unit)
    np.testing.assert_allclose(np.einsum("tb,tbk->tk", shares, play.plays), play.weights, rtol=0.0, atol=1e-6)


def check_bases(tally, case, scale, hint):
    play = Play(case, scale, hint)
    lost = play.base_lost[:, 2:].sum(axis=0).reshape(-1, 2, 1)
    tally.check((lost - play.comparators) / play.unit, bounds_of_forms(play) / play.unit, case.n_rounds)


@pytest.mark.parametrize(("check", "paths"), [(check_tracker, 2000), (check_rule, 300), (check_bases, 1000)])
def test_a_bound_holds_on_every_path_with_every_range_and_hint(check, paths):
    tally = on_many_paths(check, paths, max_rounds=80, max_actions=6, scale=[*SCALES], hint=[*HINTS])
    assert tally.worst > 0.3  # the paths come near the bounds


@pytest.mark.interpreted
@pytest.mark.parametrize("check", [check_tracker, check_rule, check_bases])
def test_a_bound_holds_on_short_paths(check):
    tally = Tally()
    for seed, family in enumerate(FAMILIES_AND_ADVERSARIES):
        check(tally, Case(family, 12, 3, seed), [*SCALES][seed % len(SCALES)], [*HINTS][seed % len(HINTS)])


def test_the_bound_holds_on_long_adaptive_paths():
    tally = Tally()
    for family in ADVERSARIES:
        for n_actions in (2, 5):
            check_tracker(tally, Case(family, 4000, n_actions, 1), "one", "none")
    print(f"worst regret / bound on long paths {tally.worst:.3f}")
    assert tally.worst > 0.1


def test_the_regret_grows_more_slowly_than_the_rounds_against_an_adversary():
    """The losses of the action with the most weight are 1; with fixed rates only, the regret was 0.037 T."""
    regrets = {}
    for n_rounds in (2000, 32_000):
        state, lost, totals = Tracker().start(2), 0.0, np.zeros(2)
        for _ in range(n_rounds):
            weights = Tracker().predict(state)
            losses = np.eye(2)[weights.argmax()]
            lost, totals = lost + weights @ losses, totals + losses
            Tracker().update(state, losses)
        regrets[n_rounds] = lost - totals.min()
    assert regrets[32_000] < 8 * regrets[2000]  # 4 if it grows as the root
    assert regrets[32_000] < 0.01 * 32_000


@pytest.mark.interpreted
def test_the_rule_keeps_its_bound_when_a_weight_underflowed_and_the_range_grows():
    """After small losses the rate is large and a weight is 0; its action must still count in the mix loss."""
    rule, lost, totals = PriorAdaHedge((0.9, 0.1)), 0.0, np.zeros(2)
    state = rule.start(2)
    rule.run(state, np.tile([1e-9, 0.0], (5000, 1)))
    assert rule.predict(state)[0] == 0.0
    rng = np.random.default_rng(0)
    for _ in range(1000):
        weights = rule.predict(state)
        losses = np.eye(2)[weights.argmax()] * (1.0 - 1e-3 * rng.random())
        lost, totals = lost + weights @ losses, totals + losses
        rule.update(state, losses)
    assert lost - totals.min() <= 2 * state.memory.gap[0] + 1e-5
    assert 2 * state.memory.gap[0] <= pathwise_tracker.rule_worst(1000, rule.code_length) + 1e-5


# Values worked by hand, as a bound that is too large would never be exceeded


@pytest.mark.interpreted
def test_the_bounds_worked_by_hand():
    losses = np.array([[0.2, 0.2, 0.2], [0.25, 0.0, 0.0], [0.0, 1.0, 0.5], [0.5, 0.5, 1.0]])
    assert pathwise_tracker.rule(losses, 3.0) == pytest.approx(sqrt(3 * (1 / 16 + 1 + 1 / 4)) + 6)
    assert pathwise_tracker.rule_worst(27, 3.0) == pytest.approx(9 + 6)
    # b = 0, 1/4, 1, 1; z = 0, (1, 0, 0), (0, 1, 1/2), (0, 0, 1/2); ranges 0, 1, 1, 1/2 of z, 0, 1, 2, 3/2 of z - z'
    length = 2 * log(3) + log(10) + 2 * log(10 / 9)
    plain = (length + 0.75 * log(10)) / 2 + 2 / 8 * (1 / 4 + 1 + 1 / 4)
    assert pathwise_tracker.base(losses, 1, (2.0, 0.1)) == pytest.approx(plain)
    # Exact hints: divided by max(b_{t-1}, range) = 1/4, 1, 1, so that nothing moves
    exact = (length + 0.75 * log(10)) / 2
    assert pathwise_tracker.base(losses, 1, (2.0, 0.1), losses) == pytest.approx(exact)
    # A hint below the range so far is not stretched: its differences 0, 1/4 remain
    small = np.array([[0.3, 0.3, 0.3], [0.25, 0.0, 0.0], [0.0, 1.0, 0.5], [0.0, 0.25, 0.5]])
    moved = np.ptp([0.0, -0.25, 0.0])
    hinted = exact + 2 / 8 * moved**2
    assert pathwise_tracker.base(losses, 1, (2.0, 0.1), small) == pytest.approx(hinted)
    both = pathwise_tracker.tracker(losses, 1, 3.0, [(2.0, 0.1), (1e-3, 0.1)], small)
    assert both == pytest.approx(pathwise_tracker.rule(losses, 3.0) + hinted)
    assert pathwise_tracker.base(np.full((3, 2), 0.5), 1, (2.0, 0.1)) == 0.0


@pytest.mark.interpreted
def test_the_worst_bound_worked_by_hand():
    assert pathwise_tracker.tracker_worst(1, 100, 0, 3.0, [(1.0, 0.1)]) == 0.0
    assert pathwise_tracker.tracker_worst(2, 10, 3, 3.0, [(1.0, 0.1)]) == 10.0
    length = 2 * log(2) + log(100) + 9998 * log(100 / 99)
    by_hand = sqrt(3e4) + 6 + (length + log(100)) / 0.1 + 0.1 / 8 * 1e4
    assert pathwise_tracker.tracker_worst(2, 10_000, 1, 3.0, [(30.0, 0.1), (0.1, 0.01)]) == pytest.approx(by_hand)
    measures = Measures(n_actions=2, n_rounds=10_000, segments=2, drift=1.0, variance=0.0)
    worst = pathwise_tracker.tracker_worst(2, 10_000, 1, tracker.CODE_LENGTH, tracker.PAIRS)
    assert LEARNER.bound(measures) == pytest.approx(worst)
