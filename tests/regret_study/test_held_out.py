"""Tests of the held-out worlds: their form, their statistics, and that they are what their docstrings say."""

import numpy as np
import pytest
from numpy.typing import NDArray

from driftwise.regret_study.held_out import FAMILIES, Drawn, bernoulli, beta, regimes, stretches, switching_levels

ALL_CELLS = [
    pytest.param(name, n_actions, n_rounds, id=f"{name}, {n_actions} actions, {n_rounds} rounds")
    for name, family in FAMILIES.items()
    for n_actions, n_rounds in family.cells
]
SEEDS = (11, 12, 13)
N_BLOCKS = 8  # means are checked over all rounds and over this many blocks of rounds
LARGEST_SCORE = 5.5  # standard errors; about 4e-8 two-sided, for at most a few thousand comparisons with fixed seeds


def draw(name: str, seed: int, n_rounds: int, n_actions: int) -> Drawn:
    """A world of the family from a fresh generator."""
    return FAMILIES[name].draw(np.random.default_rng(seed), n_rounds, n_actions)


def draws(name: str) -> list[Drawn]:
    """Worlds of all cells of a family and all seeds."""
    return [draw(name, seed, n_rounds, n_actions) for n_actions, n_rounds in FAMILIES[name].cells for seed in SEEDS]


def best(world: Drawn) -> NDArray[np.int64]:
    """The best action of every round."""
    return world.means.argmin(axis=1)


def change_rounds(world: Drawn) -> NDArray[np.int64]:
    """Rounds whose best action differs from that of the round before."""
    return np.flatnonzero(np.diff(best(world))) + 1


def lag_correlation(residuals: NDArray[np.float64]) -> NDArray[np.float64]:
    """Correlation by action of residuals with those of the round before."""
    return (residuals[1:] * residuals[:-1]).sum(axis=0) / (residuals**2).sum(axis=0)


def test_twelve_families_with_permitted_cells() -> None:
    assert len(FAMILIES) == 12
    for family in FAMILIES.values():
        assert family.draw.__doc__
        assert 2 <= len(family.cells) <= 3
        for n_actions, n_rounds in family.cells:
            assert 2 <= n_actions <= 100
            assert 2_000 <= n_rounds <= 50_000


@pytest.mark.parametrize(("name", "n_actions", "n_rounds"), ALL_CELLS)
def test_shapes_and_range(name: str, n_actions: int, n_rounds: int) -> None:
    world = draw(name, SEEDS[0], n_rounds, n_actions)
    for array in (world.losses, world.means):
        assert array.shape == (n_rounds, n_actions)
        assert array.dtype == np.float64
        assert np.isfinite(array).all()
        assert array.min() >= 0
        assert array.max() <= 1
    assert world.seen.shape == (n_rounds,)
    assert world.seen.dtype == np.bool_
    assert world.seen.all() == (name != "outages of feedback")


@pytest.mark.parametrize("name", FAMILIES)
def test_odd_sizes(name: str) -> None:
    for n_actions, n_rounds in ((6, 2_001), (5, 100)):
        world = draw(name, SEEDS[0], n_rounds, n_actions)
        assert world.losses.shape == world.means.shape == (n_rounds, n_actions)


@pytest.mark.parametrize("name", FAMILIES)
def test_determined_by_seed_alone(name: str) -> None:
    n_actions, n_rounds = FAMILIES[name].cells[0]
    world = draw(name, 5, n_rounds, n_actions)
    np.random.seed(0)  # noqa: NPY002  the global state must not matter
    again = draw(name, 5, n_rounds, n_actions)
    other = draw(name, 6, n_rounds, n_actions)
    for array, same in zip(world, again, strict=True):
        np.testing.assert_array_equal(array, same)
    assert not np.array_equal(world.losses, other.losses)
    assert not np.array_equal(world.means, other.means)


@pytest.mark.parametrize(("name", "n_actions", "n_rounds"), ALL_CELLS)
def test_losses_agree_with_means(name: str, n_actions: int, n_rounds: int) -> None:
    if name == "imputed repeats":
        pytest.skip("repeated readings are tested separately")
    for seed in SEEDS:  # for "clustered failures" the residuals are martingale differences, so the bound holds too
        world = draw(name, seed, n_rounds, n_actions)
        residuals = world.losses - world.means
        for block in (residuals, *np.array_split(residuals, N_BLOCKS)):
            scores = block.sum(axis=0) / np.sqrt((block**2).sum(axis=0))
            assert np.abs(scores).max() < LARGEST_SCORE


@pytest.mark.parametrize("name", [name for name, family in FAMILIES.items() if family.independent])
def test_independent_rounds_are_uncorrelated(name: str) -> None:
    for world in draws(name):
        residuals = world.losses - world.means
        # Not scored by the products' own squares: with rare clicks, pairs of clicks in a row are too few for that.
        assert np.abs(lag_correlation(residuals)).max() < LARGEST_SCORE / np.sqrt(len(residuals))


@pytest.mark.parametrize("name", FAMILIES)
def test_no_fixed_action_is_best_throughout(name: str) -> None:
    for world in draws(name):
        assert len(change_rounds(world)) >= 1
        assert world.means.sum(axis=0).min() > world.means.min(axis=1).sum()


def test_helpers() -> None:
    generator = np.random.default_rng(1)
    regime = regimes(generator, 10_000, 4)
    lengths = np.bincount(regime)
    assert len(lengths) == 5
    assert (np.diff(regime) >= 0).all()
    assert lengths.min() >= 0.2 * 2_000 - 1
    inside = stretches(generator, 1_000_000, 300, 100)
    assert not inside[0]
    assert inside.mean() == pytest.approx(0.25, abs=0.02)
    leaders = switching_levels(generator, 1_000, 3, 0.1, 0.9).argmin(axis=1)
    assert (np.diff(leaders) != 0).all()
    means = np.full((200_000, 2), (0.2, 0.7))
    assert bernoulli(generator, means).mean(axis=0) == pytest.approx([0.2, 0.7], abs=0.006)
    sample = beta(generator, means, 9.0)
    assert sample.mean(axis=0) == pytest.approx([0.2, 0.7], abs=0.003)
    assert sample.var(axis=0) == pytest.approx([0.016, 0.021], rel=0.03)


def test_changing_scale_visits_narrow_bands() -> None:
    for world in draws("changing scale"):
        high, low = world.losses.max(axis=1), world.losses.min(axis=1)
        assert (high <= 0.05).mean() > 0.03
        assert ((low >= 0.4) & (high <= 0.6)).mean() > 0.03
        assert (high - low > 0.3).mean() > 0.03
        assert len(change_rounds(world)) == 5


def test_few_good_of_many_has_three_good_actions() -> None:
    for world in draws("few good of many"):
        assert ((world.means <= 0.35).sum(axis=1) == 3).all()
        assert ((world.means >= 0.5).sum(axis=1) == world.means.shape[1] - 3).all()
        changes = change_rounds(world)
        assert len(changes) == 3
        fallen = best(world)[changes - 1]
        assert (world.means[changes, fallen] >= 0.5).all()


def test_rare_clicks_are_rare() -> None:
    for world in draws("rare clicks"):
        assert set(np.unique(world.losses)) == {0.0, 1.0}
        rates = 1 - world.means
        assert 0.003 < rates.mean() < 0.025
        assert rates.max() <= 0.06
        steps = np.diff(rates, axis=0)
        assert ((np.abs(steps) > 1e-4).sum(axis=0) <= 2).all()  # replacements
        assert (np.median(steps, axis=0) < 0).all()  # wear


def test_outages_come_in_stretches_whatever_the_losses() -> None:
    for world in draws("outages of feedback"):
        unseen = ~world.seen
        assert 0.2 < unseen.mean() < 0.55
        borders = np.flatnonzero(np.diff(np.concatenate([[False], unseen, [False]])))
        lengths = borders[1::2] - borders[::2]
        assert lengths.max() > 200
        residuals = world.losses - world.means
        difference = residuals[unseen].mean(axis=0) - residuals[world.seen].mean(axis=0)
        error = residuals.std(axis=0) * np.sqrt(1 / unseen.sum() + 1 / world.seen.sum())
        assert np.abs(difference / error).max() < LARGEST_SCORE
    large = [world for world in draws("outages of feedback") if len(world.seen) >= 20_000]
    assert all((~world.seen[change_rounds(world)]).any() for world in large)  # some switches are unseen


def test_hours_and_days_matter() -> None:
    for world in draws("hours and days"):
        rounds = np.arange(len(world.means))
        centred = world.means - world.means.mean(axis=0)
        by_hour = np.stack([centred[rounds % 24 == hour].mean(axis=0) for hour in range(24)])
        explained = 1 - ((centred - by_hour[rounds % 24]) ** 2).sum() / (centred**2).sum()
        assert 0.3 < explained < 0.95
        weekend = rounds // 24 % 7 >= 5
        assert np.abs(centred[weekend].mean(axis=0) - centred[~weekend].mean(axis=0)).max() > 0.05
        assert len(change_rounds(world)) > len(rounds) / 24
        assert np.abs(world.means[24:] - world.means[:-24]).mean() > 0.02  # no exact period


def test_rare_windows_are_rare_and_best() -> None:
    for world in draws("rare windows"):
        windowed = (world.means == 0.75).any(axis=0)
        assert windowed.sum() == max(1, world.means.shape[1] // 8)
        window = world.means[:, windowed] == 0.1
        assert 0.01 < window.mean() < 0.14
        np.testing.assert_array_equal(windowed[best(world)], window.any(axis=1))
        assert len(change_rounds(world)) >= 4


def test_clustered_failures_remember() -> None:
    for world in draws("clustered failures"):
        assert set(np.unique(world.losses)) == {0.0, 1.0}
        rises = np.diff(world.means, axis=0) > 0
        np.testing.assert_array_equal(rises, world.losses[:-1] == 1)  # a failure raises the mean, else it recovers
        assert (world.means.std(axis=0) > 0.02).all()
        assert 0.1 < world.means.mean() < 0.5
        assert len(set(best(world)[:: len(world.means) // 50])) >= 2


def test_heavy_tailed_costs_differ_in_noise_by_action_and_time() -> None:
    steady_best_more_in_turbulence = 0
    for world in draws("heavy-tailed costs"):
        clipped = (world.losses == 1).any(axis=0)
        assert clipped.sum() == world.means.shape[1] // 2
        square = (world.losses - world.means) ** 2
        blocks = np.stack([block.mean(axis=0) for block in np.array_split(square[:, ~clipped], 40)])
        assert (blocks.max(axis=0) > 5 * blocks.min(axis=0)).all()  # calm and turbulent times of steady costs
        assert square[:, clipped].mean() > 3 * blocks.min()
        turbulent = blocks.mean(axis=1) > blocks.mean(axis=1).mean()
        steady_best = np.array([block.mean() for block in np.array_split(~clipped[best(world)], 40)])
        steady_best_more_in_turbulence += steady_best[turbulent].mean() > steady_best[~turbulent].mean()
        assert len(change_rounds(world)) >= 2
    assert steady_best_more_in_turbulence >= 0.8 * len(draws("heavy-tailed costs"))


def test_imputed_repeats_repeat() -> None:
    for world in draws("imputed repeats"):
        repeats = np.diff(world.losses, axis=0) == 0
        assert 0.15 < repeats.mean() < 0.45
        assert (np.diff(world.means, axis=0)[repeats] == 0).all()
        residuals = world.losses - world.means
        assert (lag_correlation(residuals) > 0.1).all()
        for action in range(world.means.shape[1]):
            fresh = residuals[1:, action][~repeats[:, action]]
            assert abs(fresh.sum()) < LARGEST_SCORE * np.sqrt((fresh**2).sum())
        assert len(set(best(world))) >= 2


def test_staged_rollouts_rise_gradually_and_fall_at_once() -> None:
    for world in draws("staged rollouts"):
        steps = np.diff(world.means, axis=0)
        assert steps.max() < 0.005
        falls = steps[steps < 0]
        assert len(falls) >= 2
        assert falls.max() < -0.19
        healthy = world.means.min(axis=0)
        after = world.means[1:][steps < 0]
        np.testing.assert_allclose(after, np.broadcast_to(healthy, steps.shape)[steps < 0])
        assert len(change_rounds(world)) >= 1


def test_unequal_seasons_swap_two_offers() -> None:
    for world in draws("unequal seasons"):
        assert set(np.unique(world.losses)) <= {0.0, 0.25, 0.5, 0.75, 1.0}
        offers, counts = np.unique(best(world), return_counts=True)
        assert len(offers) == 2
        assert 0.2 < counts.min() / counts.sum() < 0.4
        np.testing.assert_allclose(world.means[:, offers].sum(axis=1), 0.85)  # always swapped
        years = len(world.means) / 3650
        assert 2 * years - 1.5 <= len(change_rounds(world)) <= 2 * years + 1.5
        if len(change_rounds(world)) > 3:
            lengths = np.diff(change_rounds(world))
            assert lengths.max() > 1.5 * lengths.min()


def test_groups_are_correlated() -> None:
    for world in draws("correlated groups"):
        residuals = world.losses - world.means
        correlation = np.corrcoef(residuals[:, :12], rowvar=False)
        group = np.arange(12) // 4
        same = group[:, None] == group
        other = ~same
        np.fill_diagonal(same, val=False)
        assert correlation[same].mean() > correlation[other].mean() + 0.1
        assert correlation[other].mean() > 0.1  # the market
        leader = best(world) // 4
        assert (np.diff(leader) != 0).sum() >= 0.5 * len(change_rounds(world))
        assert np.abs(np.diff(world.means, axis=0)).max() < 0.01  # drift
