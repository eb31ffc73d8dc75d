"""Table 1 as data: the rates are those of the paper; its bounds have these exponents and enclose measured regret."""

import dataclasses
import itertools
import math
from fractions import Fraction

import numpy as np
import pytest

from driftwise import OptimisticGD, RerunUCBV, RestartedAdaptiveGD
from driftwise.core.measures import Measures
from driftwise.learners import AOMD, AdaNormalHedgeTV, Exp3S, Rexp3
from driftwise.theory import lower
from driftwise.theory.table_one import TABLE, with_largest_drift, with_largest_variance, with_most_segments
from references.lower_bounds import hidden_change_blocks, hidden_change_lengths

SIDES = ("upper", "lower")


def rates(cell):
    """Return (column, side) -> rate of a cell, without the dashes."""
    columns = [field.name for field in dataclasses.fields(cell)]
    found = {(column, side): getattr(getattr(cell, column), side) for column in columns for side in SIDES}
    return {place: rate for place, rate in found.items() if rate is not None}


EVERY = {
    f"{feedback}, {kind}: {column}, {side}": (feedback, kind, column, side)
    for (feedback, kind), cell in TABLE.items()
    for column, side in rates(cell)
}


def rate_of(feedback, kind, column, side):
    return getattr(getattr(TABLE[feedback, kind], column), side)


BOUNDED = {name: place for name, place in EVERY.items() if rate_of(*place).bound is not None}


# What the table says

AS_PRINTED = {  # Table 1 in Appendix A, row by row, and the text beneath it for Jadbabaie et al.
    "full, switching: this_paper, upper": "sqrt(Gamma Lambda) + Gamma",
    "full, switching: this_paper, lower": "sqrt(Gamma Lambda) + Gamma",
    "full, switching: excess_loss, upper": "sqrt(Gamma L*)",
    "full, switching: jadbabaie, upper": "sqrt(Gamma D)",
    "full, drifting: this_paper, upper": "(V Lambda T)^(1/3) + V",
    "full, drifting: this_paper, lower": "(V Lambda T)^(1/3) + V",
    "full, drifting: besbes_gur_zeevi, upper": "(V T^2)^(1/3)",
    "full, drifting: besbes_gur_zeevi, lower": "(V T^2)^(1/3)",
    "full, drifting: jadbabaie, upper": "(V~ D T)^(1/3)",
    "bandit, switching: this_paper, lower": "sqrt(Gamma T)",
    "bandit, switching: garivier_moulines, upper": "sqrt(Gamma T)",
    "bandit, switching: garivier_moulines, lower": "sqrt(Gamma T)",
    "bandit, drifting: this_paper, upper": "(V Lambda T)^(1/3) + sqrt(V T)",
    "bandit, drifting: this_paper, lower": "(V Lambda T)^(1/3) + sqrt(V T)",
    "bandit, drifting: besbes_gur_zeevi, upper": "(V T^2)^(1/3)",
    "bandit, drifting: besbes_gur_zeevi, lower": "(V T^2)^(1/3)",
}


def test_the_table_is_the_paper_s():
    assert {name: rate_of(*place).text for name, place in EVERY.items()} == AS_PRINTED


def read(text):
    """Read the exponents off a rate in letters."""
    terms = []
    for term in text.split(" + "):
        power = Fraction(1)
        if term.startswith("sqrt("):
            term, power = term[5:-1], Fraction(1, 2)
        elif term.endswith("^(1/3)"):
            term, power = term[1:-7], Fraction(1, 3)
        letters = [letter.split("^") for letter in term.split()]
        terms.append({name: power * int(*(squared or [1])) for name, *squared in letters})
    return tuple(terms)


@pytest.mark.parametrize("place", EVERY.values(), ids=EVERY)
def test_exponents_are_those_of_the_letters(place):
    rate = rate_of(*place)
    assert tuple(dict(term) for term in rate.exponents) == read(rate.text)
    assert rate.source


def test_every_rate_of_this_paper_has_constants():
    without = {name for name in EVERY if name not in BOUNDED}
    assert without == {"full, drifting: jadbabaie, upper"}


# Exponents are slopes

HUGE = 10**60  # logarithms of it hardly change
FIELDS = {"T": "n_rounds", "Gamma": "segments", "V": "drift", "Lambda": "variance"}
# Where a term of a rate is by far the largest: budgets for it. A letter that is not of ours grows with one that is.
WHERE = {
    ("Gamma", "Lambda"): {"segments": 10**10, "variance": 1e40},
    ("Gamma",): {"segments": 10**10, "variance": 1e-20},
    ("Gamma", "T"): {"segments": 10**10, "variance": 1e-20},
    ("Gamma", "L*"): {"segments": 10**10},
    ("D", "Gamma"): {"segments": 10**10, "variance": 1e40},
    ("Lambda", "T", "V"): {"drift": 1e5, "variance": 1e50},
    ("V",): {"drift": 1e5, "variance": 1e-70},
    ("T", "V"): {"drift": 1e5, "variance": 1e-20},
}
STANDS_FOR = {"L*": "T", "D": "Lambda"}
TERMS = [(name, i) for name, place in BOUNDED.items() for i in range(len(rate_of(*place).exponents))]


@pytest.mark.parametrize(("name", "i"), TERMS)
def test_exponents_are_the_slopes_of_the_bounds(name, i):
    """Sixteen times a budget multiplies a bound by 16 to the exponent; the logarithms of a bound add up to 0.02."""
    rate = rate_of(*BOUNDED[name])
    term = rate.exponents[i]
    budgets = {"segments": 1, "drift": 0.5, "variance": 0.0} | WHERE[tuple(sorted(term))]
    known = Measures(2, HUGE, **budgets)
    expected = dict.fromkeys(FIELDS, Fraction(0))
    for letter, exponent in term.items():
        expected[STANDS_FOR.get(letter, letter)] += exponent
    assert 0 < rate.bound(known) < HUGE / 1000
    for letter, field in FIELDS.items():
        more = dataclasses.replace(known, **{field: 16 * getattr(known, field)})
        slope = math.log(rate.bound(more) / rate.bound(known)) / math.log(16)
        assert slope == pytest.approx(float(expected[letter]), abs=0.02), letter


# Lower bounds are below upper bounds


def grid():
    for n_actions, n_rounds in itertools.product((1, 2, 3, 10, 100), (1, 2, 10, 1000, 10**6)):
        for segments in sorted({1, min(2, n_rounds), max(1, n_rounds // 10), n_rounds}):
            for drift, share in itertools.product((0.0, 0.01, 1.0, 2.5, n_rounds / 10), (0.0, 1e-6, 0.1, 1.0)):
                yield Measures(n_actions, n_rounds, segments, drift, share * n_actions * n_rounds / 4)


@pytest.mark.parametrize("place", TABLE, ids=", ".join)
def test_every_lower_bound_is_below_every_upper_bound_for_the_same_budgets(place):
    found = {where: rate for where, rate in rates(TABLE[place]).items() if rate.bound is not None}
    uppers = {column: rate for (column, side), rate in found.items() if side == "upper"}
    lowers = {column: rate for (column, side), rate in found.items() if side == "lower"}
    nontrivial = 0
    for known in grid():
        for (_, low), (_, high) in itertools.product(lowers.items(), uppers.items()):
            upper = high.bound(with_largest_variance(known)) * (1 + 1e-12)
            assert 0 <= low.bound(known) <= upper <= known.n_rounds * (1 + 1e-9)
        for high in uppers.values():
            assert lowers["this_paper"].bound(known) <= high.bound(known) * (1 + 1e-12)
            nontrivial += high.bound(known) < known.n_rounds
    assert nontrivial > 50


@pytest.mark.parametrize("place", BOUNDED.values(), ids=BOUNDED)
def test_a_bound_of_the_table_does_not_depend_on_other_budgets_than_its_cell_s(place):
    _, kind, _, _ = place
    known = Measures(3, 1000, 7, 2.0, 40.0)
    other = {"switching": {"drift": 5.0, "drift_within": 4.0}, "drifting": {"segments": 3}}[kind]
    bound = rate_of(*place).bound
    assert bound(dataclasses.replace(known, **other)) == bound(known)


def test_budgets_that_a_cell_does_not_limit_are_as_large_as_possible():
    known = Measures(3, 1000, 7, 2.0, 40.0, change_points=(1, 2, 3, 4, 5, 6))
    assert with_largest_drift(known) == Measures(3, 1000, 7, 7.0, 40.0, drift_within=6.0, squared_drift=21.0)
    assert with_most_segments(known) == Measures(3, 1000, 1000, 2.0, 40.0, drift_within=2.0, squared_drift=6.0)
    assert with_most_segments(Measures(3, 1, 1, 1.0, 0.0)).drift_within == 0
    assert with_largest_variance(known).variance == 750


# Played regret lies between


def switching_coins(known, rng):
    coins = lower.biased_coins_switching(known)
    interval = np.minimum(np.arange(known.n_rounds) // (known.n_rounds // known.segments), known.segments - 1)
    noisy = np.arange(known.n_rounds) - interval * (known.n_rounds // known.segments) < coins.length
    return toss(coins, interval, noisy, known, rng)


def drifting_coins(known, rng):
    coins = lower.biased_coins_drifting(known)
    return toss(coins, np.arange(known.n_rounds) // coins.length, np.full(known.n_rounds, True), known, rng)


def toss(coins, interval, noisy, known, rng):
    best = rng.integers(known.n_actions, size=coins.n_intervals)[interval]
    means = coins.sigma - coins.gap * np.eye(known.n_actions)[best]
    losses = 2 * coins.sigma * (rng.random(means.shape) < means / (2 * coins.sigma))
    return means, np.where(noisy[:, None], losses, means), coins.regret


def jumps(jumps, known, rng):
    drawn = rng.integers(known.n_actions, size=jumps.n_jumps)
    best = drawn[np.minimum(np.arange(known.n_rounds), jumps.n_jumps - 1)]
    means = jumps.scale * (1 - np.eye(known.n_actions)[best])
    return means, means, jumps.regret


def hidden(changes, known, rng):
    means = np.ones((known.n_rounds, known.n_actions))
    means[:, 0] = 0.5
    start, blocks = 0, hidden_change_blocks(changes)
    for block, length in zip(blocks, hidden_change_lengths(changes, known.n_rounds), strict=True):
        if rng.random() < 0.5:
            change = rng.integers(length // block) * block
            means[start + change : start + length, 1] = 0.0
        start += length
    means *= changes.scale
    return means, means, changes.regret


SWITCHING = Measures(n_actions=2, n_rounds=1000, segments=4, drift=4.0, variance=250.0)
DRIFTING = Measures(n_actions=2, n_rounds=1000, segments=1000, drift=4.0, variance=250.0)
PLAYED = {
    ("full", "switching"): [
        (OptimisticGD.tuned(with_largest_drift(SWITCHING)), "this_paper"),
        (AdaNormalHedgeTV(), "excess_loss"),
        (AOMD.tuned(SWITCHING), "jadbabaie"),
    ],
    ("full", "drifting"): [(RestartedAdaptiveGD.tuned(DRIFTING), "this_paper")],
    ("bandit", "switching"): [(Exp3S.tuned(with_largest_drift(SWITCHING)), "garivier_moulines")],
    ("bandit", "drifting"): [
        (RerunUCBV.tuned(DRIFTING, failure="rigorous"), "this_paper"),
        (Rexp3.tuned(with_most_segments(DRIFTING)), "besbes_gur_zeevi"),
    ],
}
HARD = {
    ("full", "switching"): [switching_coins, lambda m, rng: jumps(lower.random_jumps_switching(m), m, rng)],
    ("full", "drifting"): [drifting_coins, lambda m, rng: jumps(lower.random_jumps_drifting(m), m, rng)],
    ("bandit", "switching"): [lambda m, rng: hidden(lower.hidden_changes_switching(m), m, rng)],
    ("bandit", "drifting"): [drifting_coins, lambda m, rng: hidden(lower.hidden_changes_drifting(m), m, rng)],
}


TUNED = {  # the learners of the upper bounds, each tuned to the budgets of its cell
    ("full", "switching", "this_paper"): OptimisticGD.tuned,
    ("full", "switching", "excess_loss"): lambda _: AdaNormalHedgeTV(),
    ("full", "switching", "jadbabaie"): AOMD.tuned,
    ("full", "drifting", "this_paper"): RestartedAdaptiveGD.tuned,
    ("full", "drifting", "besbes_gur_zeevi"): Rexp3.tuned,
    ("bandit", "switching", "garivier_moulines"): Exp3S.tuned,
    ("bandit", "drifting", "this_paper"): lambda known: RerunUCBV.tuned(known, failure="rigorous"),
    ("bandit", "drifting", "besbes_gur_zeevi"): Rexp3.tuned,
}


def test_an_upper_bound_is_that_of_its_learner():
    """In a long run, in which no bound is vacuous."""
    known = Measures(n_actions=3, n_rounds=10**9, segments=7, drift=4.0, variance=5000.0)
    places = {place[:3] for place in BOUNDED.values() if place[3] == "upper"}
    assert places == set(TUNED)
    for (feedback, kind, column), tuned in TUNED.items():
        budgets = (with_largest_drift if kind == "switching" else with_most_segments)(known)
        bound = rate_of(feedback, kind, column, "upper").bound(known)
        assert bound == pytest.approx(tuned(budgets).bound(budgets), rel=1e-12)
        assert bound < 10**9


def regret_of(learner, means, losses, seed):
    plays = learner.run(learner.start(means.shape[1], seed), losses)
    if plays.ndim == 1:  # actions
        plays = np.eye(means.shape[1])[plays]
    return (plays * means).sum() - means.min(axis=1).sum()


@pytest.mark.parametrize("place", PLAYED, ids=", ".join)
def test_regret_in_the_environments_of_the_lower_bounds_lies_between_the_bounds(place):
    """Over 50 draws of each environment, within three standard errors."""
    known = SWITCHING if place[1] == "switching" else DRIFTING
    for learner, column in PLAYED[place]:
        upper = getattr(TABLE[place], column).upper.bound(known)
        for draw in HARD[place]:
            regrets = []
            for seed in range(50):
                means, losses, least = draw(known, np.random.default_rng([seed, 7]))
                regrets.append(regret_of(learner, means, losses, seed))
            spread = 3 * np.std(regrets, ddof=1) / math.sqrt(len(regrets))
            assert least - spread <= np.mean(regrets) <= upper + spread
            assert least <= TABLE[place].this_paper.lower.bound(known)  # which is the largest of them
