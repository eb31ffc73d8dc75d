"""The bounds of `Combinations` on random, adversarial and degenerate paths, truths in time."""

import itertools
from math import log, sqrt

import numpy as np
import pytest

from driftwise.forecasting import MixtureOptions, MixtureStack
from driftwise.forecasting.combinations import GUARDED, HIGH, LOW, UNCORRECTED, Combinations
from driftwise.theory import pathwise_combinations as bounds
from references import comparators

POLY, LEADER, SWITCHING = 4, 3, 5  # rows of the weights
DEGREES = {"square": 2, "absolute": 1, "pinball": 1}
PRIOR = np.array([0.85, 0.05, 0.05, 0.05])
LOSSES = ["square", "absolute", "pinball:0.9", "percentage", "log"]
KINDS = [
    "random",
    "switching",
    "adversarial",
    "equal",
    "rounded",
    "wild",
    "absurd",
    "missing",
    "constant",
    "growing",
    "steady",
]
NAN = float("nan")


def shared(weights, awake):
    kept = np.where(awake, weights, 0.0)
    return kept / kept.sum() if kept.sum() > 1e-300 else awake / awake.sum()


class Stretch:
    """The rounds that were learned between two falls of the scale: one row of regrets for each."""

    def __init__(self):
        self.guard, self.poly, self.leader, self.switching = [], [], [], []
        self.gap = self.leader_gap = 0.0  # of the kernels

    def rows(self, name):
        return np.array(getattr(self, name))


class Play:
    """A path that `Combinations` plays, with the regrets at the weights from which each learner learned.

    `bug` is called with the arrays of the memory before and after every round, and may change the latter; `slip` with a
    round, and returns the forecast that is played in place of the right one.
    """

    def __init__(self, loss, n_experts, bug=None, slip=None):
        self.options = MixtureOptions(loss, Combinations())
        self.loss, self.n_experts = self.options.forecast_loss, n_experts
        self.bug, self.slip = bug, slip
        self.stack, self.stretches = MixtureStack(self.options, n_experts), [Stretch()]
        self.degree = DEGREES.get(self.loss.name, 0)
        self.rounds = []  # forecast, truth, believed truth, awake experts' forecasts, of the rounds that were learned
        # Losses of the mixture, and those that its rule is charged with: against a learner, and against inputs
        self.apart = {"poly": [], "leader": [], "switching": []}
        self.guard_apart = []
        # Whether level 3 played a round at other weights than those from which it learned (after a fall), and whether a
        # learner did (before the first truth, too). In all other rounds forecasts are equal: played, charged, size.
        self.afresh, self.unlike, self.equal = [], [], []
        self.input_losses, self.forecast = [], NAN
        self.cut_errors = [[]]

    def value(self, forecast, truth):
        return float(self.loss.values(forecast, truth))

    def predict(self, row):
        self.waits = self.stack.combine_one(row)
        if self.slip:
            self.waits = self.waits._replace(forecast=self.slip(self.waits))
        self.forecast = self.waits.forecast
        return self.forecast

    def update(self, truth):
        waits, memory = self.waits, self.stack._stack
        before = {name: array[0].copy() for name, array in memory._asdict().items()}
        learned = int(before["counts"][1])
        cut = self.stack.counts[0, 1]
        self.stack.observe_one(waits, truth)
        after = {name: array[0] for name, array in memory._asdict().items()}
        if self.bug:
            self.bug(before, after)
        has_fallen = after["learned"][0] < before["learned"][0]
        if has_fallen:
            self.cut_errors.append([])
            if self.degree:
                self.stretches.append(Stretch())
        is_cut = self.stack.counts[0, 1] > cut
        believed = self.believed(before, waits.forecast, truth) if is_cut else truth
        if is_cut:
            self.cut_errors[-1].append(abs(truth - waits.forecast))
        if after["counts"][1] > learned:
            self.add(before, waits, truth, believed, has_fallen and self.degree > 0)
            unit = after["unit"][0] ** self.degree
            self.stretches[-1].gap = after["guard_gap"][0] * unit
            self.stretches[-1].leader_gap = after["largest"][LEADER] * unit

    def believed(self, before, forecast, truth):
        """The truth that is learned, from the formulas: twice the usual error away."""
        errors = sorted([*before["top"][0], abs(truth - forecast)])[-4:]
        rank = max(1, min(4, (int(before["counts"][0]) + 1 + 3) // 4))
        return forecast + np.copysign(2.0 * errors[-rank], truth - forecast)

    def add(self, before, waits, truth, believed, starts_afresh):
        inputs = np.where((waits.inputs >= waits.kept[LOW]) & (waits.inputs <= waits.kept[HIGH]), waits.inputs, NAN)
        awake, stretch = ~np.isnan(inputs), self.stretches[-1]
        guard_weights, weights = before["guard_weights"], before["weights"].copy()
        if starts_afresh:
            guard_weights, weights[[POLY, SWITCHING]] = PRIOR, 1.0 / self.n_experts
        guarded = waits.kept[GUARDED:UNCORRECTED]
        charged, regrets = self.regrets(guard_weights, guarded, believed)
        stretch.guard.append(regrets)
        lost = self.value(waits.forecast, believed)
        self.guard_apart.append((lost, self.value(charged, believed)))
        most = float(np.abs(inputs[awake]).max())
        self.afresh.append(starts_afresh)
        self.unlike.append(starts_afresh or bool(np.isnan(guarded[1:]).all()))
        if not starts_afresh:
            self.equal.append((waits.forecast, charged, most))
        self.input_losses.append(self.loss.values(guarded, believed))
        losses = np.where(awake, self.loss.values(np.where(awake, inputs, 0.5), believed), 0.0)
        for i, (name, row) in enumerate((("poly", POLY), ("leader", LEADER), ("switching", SWITCHING))):
            learner, regrets = self.regrets(weights[row], inputs, believed)
            if name == "leader":
                regrets = np.where(awake, shared(weights[row], awake) @ losses - losses, 0.0)
            getattr(stretch, name).append(regrets)
            at_learning = self.value(learner, believed)
            if not self.unlike[-1]:
                self.equal.append((guarded[i + 1], learner, most))
            if np.isnan(guarded[i + 1]):
                charge = at_learning
            else:
                charge = self.value(charged, believed) + at_learning - self.value(guarded[i + 1], believed)
            self.apart[name].append((lost, charge))
        self.rounds.append((waits.forecast, truth, believed, inputs))

    def regrets(self, weights, inputs, truth):
        """The forecast at these weights, and the regrets."""
        awake = ~np.isnan(inputs)
        base = inputs[awake][0]
        offsets = np.where(awake, inputs - base, 0.0)
        mean = shared(weights, awake) @ offsets
        slope = float(self.loss.slopes(base + mean, truth))
        return base + mean, np.where(awake, slope * (mean - offsets), 0.0)


def play(loss, kind, seed, n_rounds=None, bug=None, slip=None):
    """Play a path; the adversary answers with the end of the hull that is farther from the forecast."""
    rng = np.random.default_rng([seed, KINDS.index(kind), LOSSES.index(loss)])
    n_rounds, n_experts = n_rounds or int(rng.integers(4, 45)), int(rng.integers(2, 6))
    path = Play(loss, n_experts, bug, slip)
    truths = rng.normal(size=n_rounds).cumsum() + 20.0
    errors = rng.normal(size=(n_rounds, n_experts)) * rng.uniform(0.1, 3.0, n_experts)
    if kind == "switching":
        errors *= np.where((np.arange(n_rounds)[:, None] // 8 + np.arange(n_experts)) % 3 == 0, 0.05, 2.0)
    if kind == "equal":
        errors = np.repeat(errors[:, :1], n_experts, axis=1) * (np.arange(n_experts) % 2)
    if kind == "steady":
        errors = np.tile(np.arange(n_experts), (n_rounds, 1)) + 0.25
    if kind == "growing":
        errors *= 2.0 ** np.linspace(-12.0, 0.0, n_rounds)[:, None]
    forecasts = truths[:, None] + errors
    if kind == "rounded":
        forecasts, truths = np.round(forecasts), np.round(truths) + 0.25
    if kind == "constant":
        forecasts, truths = forecasts - truths[:, None] + 20.0, np.full(n_rounds, 20.0)
    if kind == "wild":
        truths[rng.integers(0, n_rounds, 3)] *= [1e3, -40.0, 1e5]
    if kind == "absurd":
        forecasts[rng.random(forecasts.shape) < 0.1] *= 1e6
    if kind == "missing":
        forecasts[rng.random(forecasts.shape) < 0.4] = NAN
    if loss == "log":
        forecasts = np.clip(1.0 / (1.0 + np.exp(np.clip(errors - 0.3, -4.0, 4.0))), 0.01, 0.99)
        forecasts[rng.random(forecasts.shape) < 0.2 * (kind == "missing")] = NAN
        truths = (rng.random(n_rounds) < 0.6).astype(float)
    scale = np.where(np.arange(n_rounds) < n_rounds // 3, 1.0, 1e-4 if n_rounds > 150 and loss != "log" else 1.0)
    for row, truth, factor in zip(forecasts, truths, scale, strict=True):
        if np.isnan(row).all():
            continue
        forecast = path.predict(row * factor)
        truth *= factor
        if kind == "adversarial":
            low, high = np.nanmin(row) * factor, np.nanmax(row) * factor
            truth = low if 2.0 * forecast > low + high else high
            if loss == "log":
                truth = float(2.0 * forecast < 1.0)
        path.update(truth)
    return path


class Worst:
    """The largest ratio of a regret to its bound, by name."""

    def __init__(self):
        self.ratios = {}

    def check(self, name, regret, bound, size):
        """Require regret <= bound, up to rounding of numbers of this size; both may be arrays."""
        regret, bound = np.broadcast_arrays(np.asarray(regret, float), np.asarray(bound, float))
        excess = float((regret - bound).max())
        assert excess <= 1e-9 * size, f"{name}: the bound is exceeded by {excess}, size {size}"
        if (large := bound > 1e-6 * size).any():
            self.ratios[name] = max(self.ratios.get(name, -np.inf), float((regret[large] / bound[large]).max()))


def check_path(path, worst, seed=0):
    """Check all bounds on a path that was played."""
    if not path.rounds:
        return
    forecasts, truths, believed = (np.array([one[i] for one in path.rounds]) for i in range(3))
    inputs = np.array([one[3] for one in path.rounds])
    of_mixture = path.loss.values(forecasts, believed)
    of_experts = path.loss.values(inputs, believed[:, None])
    size = 1.0 + sum(float(np.abs(stretch.rows("guard")).sum()) for stretch in path.stretches)
    size += float(np.nansum(np.abs(of_experts))) + float(np.abs(of_mixture).sum())
    stretches = [stretch for stretch in path.stretches if stretch.guard]
    guards = [stretch.rows("guard") for stretch in stretches]
    # What is played is what the rules are charged with, so that only the other rounds count in `apart`.
    played, charged, most = np.array(path.equal).reshape(-1, 3).T
    worst.check("played", np.abs(played - charged) / np.where(most > 0.0, most, 1.0), 0.0, 1.0)
    afresh, unlike = np.array(path.afresh), np.array(path.unlike)
    assert afresh.sum() <= len(stretches) - 1
    # The gap of the kernel is that of the regrets, and below the closed form.
    for stretch, guard in zip(stretches, guards, strict=True):
        worst.check("gap", abs(stretch.gap - bounds.gap(guard, PRIOR)), 0.0, size)
        worst.check("level 3", guard.sum(axis=0), 2.0 * stretch.gap, size)
        worst.check("level 3 by ranges", bounds.hedge(guard, PRIOR), bounds.hedge_by_ranges(guard, PRIOR), size)
    two_gaps = 2.0 * sum(stretch.gap for stretch in stretches)
    # (i) against each input of level 3, in losses, over the rounds in which it is awake
    of_inputs = np.array(path.input_losses)
    played, charged = np.array(path.guard_apart).T
    for i in range(len(PRIOR)):
        awake = ~np.isnan(of_inputs[:, i])
        bound = two_gaps + bounds.apart(played[awake & afresh], charged[awake & afresh])
        worst.check("inputs of level 3", (of_mixture - of_inputs[:, i])[awake].sum(), bound, size)
    # (ii) against convex combinations and experts, by ML-Poly
    polys = [stretch.rows("poly") for stretch in stretches]
    for poly in polys:
        worst.check("ML-Poly", poly.sum(axis=0), bounds.convex(poly), size)
    apart = {name: bounds.apart(*np.array(rows)[unlike].T) for name, rows in path.apart.items()}
    awake = ~np.isnan(inputs)
    regrets = np.array([(of_mixture - of_experts[:, k])[awake[:, k]].sum() for k in range(path.n_experts)])
    convex = sum(bounds.convex(poly) for poly in polys)
    rng = np.random.default_rng(seed)
    if awake.all():
        for k in range(path.n_experts):
            bound = bounds.mixture(guards, PRIOR, [bounds.convex(poly)[k] for poly in polys], apart["poly"])
            worst.check("experts by ML-Poly", regrets[k], bound, size)
        for q in rng.dirichlet([0.5] * path.n_experts, 8):
            others = path.loss.values(inputs @ q, believed)
            worst.check("combinations", (of_mixture - others).sum(), two_gaps + q @ convex + apart["poly"], size)
            of_cut = (path.loss.values(forecasts, truths), of_mixture), (path.loss.values(inputs @ q, truths), others)
            cut = bounds.cutting(*of_cut)
            on_truths = (of_cut[0][0] - of_cut[1][0]).sum()
            room = size + np.abs(of_cut[0][0]).sum() + np.abs(of_cut[1][0]).sum()
            worst.check("combinations, with cuts", on_truths, two_gaps + q @ convex + apart["poly"] + cut, room)
            if path.loss.name in DEGREES:
                ends = np.where(truths > forecasts, inputs.max(axis=1), inputs.min(axis=1))
                most = bounds.cutting(of_cut[0], (path.loss.values(ends, truths), path.loss.values(ends, believed)))
                worst.check("cuts by the end of the hull", cut, most, room)
    # (iii) against every expert, by AdaHedge on the losses, without a fall
    if len(path.stretches) == 1:
        leader = stretches[0].rows("leader")
        uniform = np.full(path.n_experts, 1.0 / path.n_experts)
        worst.check("gap of AdaHedge", abs(stretches[0].leader_gap - bounds.gap(leader, uniform)), 0.0, size)
        worst.check("AdaHedge", leader.sum(axis=0), 2.0 * stretches[0].leader_gap, size)
        if awake.all():
            bound = bounds.mixture(guards, PRIOR, [bounds.hedge(leader, uniform)], apart["leader"])
            worst.check("experts by AdaHedge", regrets, bound, size)
    # (iv) against sequences with switches
    for switches in (0, 1, 4):
        total = 0.0
        for stretch in stretches:
            rows = stretch.rows("switching")
            most = min(switches, len(rows) - 1)
            regret = -comparators.best_with_segments(-rows, most + 1)[-1]
            bound = bounds.switching(rows, most)
            worst.check("Fixed Share", regret, bound, size)
            total += bound
        if awake.all():
            best = comparators.best_with_segments(of_experts, min(switches + 1, len(of_experts)))[-1]
            worst.check("sequences", of_mixture.sum() - best, two_gaps + total + apart["switching"], size)
    for errors in path.cut_errors:
        if errors and min(errors) > 0.0:
            assert len(errors) <= bounds.most_cuts(max(errors), min(errors))


def test_the_bounds_hold_on_random_adversarial_and_degenerate_paths():
    worst, n_paths = Worst(), 0
    for seed, (loss, kind) in itertools.product(range(20), itertools.product(LOSSES, KINDS)):
        check_path(play(loss, kind, seed), worst, seed)
        n_paths += 1
    print(f"{n_paths} paths", {name: round(ratio, 3) for name, ratio in worst.ratios.items()})
    assert n_paths >= 1000
    assert worst.ratios["level 3"] > 0.5  # the paths come near the bounds
    assert worst.ratios["AdaHedge"] > 0.5
    assert worst.ratios["ML-Poly"] > 0.3


def test_the_bounds_are_added_over_the_stretches_between_falls():
    worst, n_falls = Worst(), 0
    for seed, (loss, kind) in itertools.product(range(1), itertools.product(LOSSES[:4], KINDS)):
        path = play(loss, kind, seed, n_rounds=220)
        check_path(path, worst, seed)
        n_falls += len(path.stretches) - 1
    assert n_falls > 10


@pytest.mark.interpreted
def test_the_bounds_hold_on_short_paths():
    worst = Worst()
    for seed, kind in enumerate(KINDS):
        check_path(play(LOSSES[seed % len(LOSSES)], kind, seed, n_rounds=10), worst)


def test_played_and_learned_differ_only_before_the_first_truth_and_at_falls():
    path = play("square", "random", 1, n_rounds=220)
    assert len(path.stretches) == 2
    afresh = len(path.stretches[0].guard)  # the first round of the second stretch
    assert np.flatnonzero(path.afresh).tolist() == [afresh]
    assert np.flatnonzero(path.unlike).tolist() == [0, afresh]
    for rows in path.apart.values():
        played, charged = np.array(rows).T
        differs = np.abs(played - charged) > 1e-9 * (1.0 + np.abs(played))
        assert not np.delete(differs, [0, afresh]).any()


# Planted mistakes: each must break a bound


def gap_is_not_added_up(before, after):
    after["guard_gap"][0] = max(after["guard_gap"][0] - before["guard_gap"][0], 0.0)


def charge_is_negative(before, after):
    after["guard_gap"][0] = max(2.0 * before["guard_gap"][0] - after["guard_gap"][0], 0.0)


def poly_plays_the_worst(before, after):
    weights = after["weights"][POLY]
    weights[:] = np.roll(weights, 1)


def leader_forgets_its_gap(before, after):
    after["largest"][LEADER] *= 0.5


def switching_stays_with_the_last(before, after):
    after["weights"][SWITCHING] = np.eye(after["weights"].shape[1])[-1]


@pytest.mark.parametrize(
    "bug",
    [
        gap_is_not_added_up,
        charge_is_negative,
        poly_plays_the_worst,
        leader_forgets_its_gap,
        switching_stays_with_the_last,
    ],
)
def test_a_planted_mistake_exceeds_a_bound(bug):
    def check_all():
        check_path(play("square", "steady", 0, 150, bug), Worst())
        for seed, kind in itertools.product(range(10), ("adversarial", "switching")):
            check_path(play("square", kind, seed, 40, bug), Worst())

    with pytest.raises(AssertionError, match="the bound is exceeded"):
        check_all()


def the_farther_end(waits):
    low, high = waits.kept[LOW], waits.kept[HIGH]
    return float(low if 2.0 * waits.forecast > low + high else high)


def a_thousandth_of_the_hull_away(waits):
    return waits.forecast + 1e-3 * (the_farther_end(waits) - waits.forecast)


@pytest.mark.parametrize("slip", [the_farther_end, a_thousandth_of_the_hull_away])
@pytest.mark.parametrize("loss", LOSSES)
def test_a_mixture_that_plays_something_else_is_found(loss, slip):
    with pytest.raises(AssertionError, match="played: the bound is exceeded"):
        check_path(play(loss, "adversarial", 0, 40, slip=slip), Worst())


class NotPlayed(Worst):
    """All checks but that of the forecasts that are played."""

    def check(self, name, regret, bound, size):
        if name != "played":
            super().check(name, regret, bound, size)


@pytest.mark.parametrize("loss", LOSSES)
def test_the_farther_end_exceeds_the_bounds_of_the_regret_themselves(loss):
    with pytest.raises(AssertionError, match=r"(inputs of level 3|experts|combinations).*: the bound is exceeded"):
        check_path(play(loss, "adversarial", 0, 200, slip=the_farther_end), NotPlayed())


# Values worked by hand, as a bound that is too large would never be exceeded


@pytest.mark.interpreted
def test_the_bounds_worked_by_hand():
    regrets = np.array([[0.0, 0.0], [1.0, -1.0], [-2.0, 2.0]])
    # B + V = (2, 2), then (4 + 5, 4 + 5); the first potential is 1/2
    potential = 1 / 2 + 4 / 2 + 4 / 2
    assert bounds.convex(regrets) == pytest.approx(np.sqrt(9 * potential) * np.ones(2))
    assert bounds.convex(regrets[:1]).tolist() == [0.0, 0.0]
    rates = [2 * sqrt(log(2)) / 2, 2 * sqrt(log(2) / 2) / 4]
    by_hand = rates[0] * 4 / 8 + rates[1] * 16 / 8 + log(2) / rates[0] + log(1.5) / rates[1]
    assert bounds.switching(regrets, 3) == pytest.approx(by_hand + 4 * log(4) / rates[1])
    assert bounds.switching(regrets[:1], 3) == 0.0
    even = np.array([0.5, 0.5])
    assert bounds.gap(regrets[:2], even) == 1.0  # the largest less the mean
    q = np.exp([log(2), -log(2)]) / (2 + 0.5)  # the rate is ln 2
    mixed = log(q @ np.exp(log(2) * regrets[2])) / log(2)
    assert bounds.gap(regrets, even) == pytest.approx(1.0 + mixed - q @ regrets[2])
    assert bounds.hedge(regrets[:2], even) == 2.0
    ranges = sqrt(log(2) * (4 + 16)) + 2 * (2 / 3 * log(2) + 1) * 4
    assert bounds.hedge_by_ranges(regrets, even) == pytest.approx(ranges)
    assert bounds.hedge_by_ranges(regrets[:0], even) == 0.0
    assert bounds.mixture([regrets[:2], regrets[:1]], even, [0.25, 0.5], 3.0) == 2.0 + 0.75 + 3.0
    lost, other = (np.array([9.0]), np.array([4.0])), (np.array([1.0]), np.array([2.0]))
    assert bounds.cutting(lost, other) == 5.0 + 1.0
    assert bounds.apart(np.array([3.0, 1.0]), np.array([1.0, 1.5])) == 1.5
    assert [bounds.most_cuts(x, 1.0) for x in (1.0, 1.9, 2.0, 9.0)] == [3, 3, 6, 12]
