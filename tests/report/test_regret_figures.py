"""Figures of regret: styles, axes of the user, scales, panels of a sweep and heat maps."""

import re

import matplotlib.pyplot as plt
import numpy as np
import pytest
from matplotlib.figure import Figure

from driftwise import Bernoulli, Environment, FixedShare, Hedge, OptimisticGD, Sweep, Switching, simulate
from driftwise.core.errors import InvalidInput, UnknownName
from driftwise.report.drawing import literal
from driftwise.report.regret_figures import Curve, CurvePanel, curves_figure
from driftwise.results import Static
from stored_cells import cell, results_of

ENVIRONMENTS = {f"{n} segments": Environment(Switching(n, 4), Bernoulli()) for n in (2, 8)}
RATES, SHARES = (0.3, 0.5, 1.0), (0.001, 0.01)


@pytest.fixture(scope="module")
def simulated():
    """Return the results of three learners in each environment."""
    learners = [OptimisticGD.tuned, Hedge(), FixedShare()]
    return [simulate(environment, learners, 200, 3, seed=1) for environment in ENVIRONMENTS.values()]


@pytest.fixture(scope="module")
def swept(tmp_path_factory):
    """Return the results of a sweep over two parameters, with another learner, in two environments."""
    learners = [FixedShare(learning_rate=rate, switch_rate=share) for rate in RATES for share in SHARES]
    return Sweep(ENVIRONMENTS, [*learners, Hedge()], 60, n_runs=2).run(tmp_path_factory.mktemp("swept") / "store")


@pytest.fixture
def two_axes():
    """Return a figure with two axes that share the axis of regret."""
    figure, axes = plt.subplots(1, 2, sharey=True)
    yield figure, axes
    plt.close(figure)


def curve(number, mean, bound=(np.nan, np.nan, np.nan)):
    mean = np.asarray(mean, float)
    rounds = np.arange(1, len(mean) + 1)
    return Curve(f"learner {number}", rounds, mean, mean, mean, np.array([5, 10, 20]), np.array(bound), number=number)


# Styles and labels


@pytest.mark.parametrize("n", [11, 40])
def test_each_learner_has_a_style_of_its_own(n):
    (axes,) = curves_figure([CurvePanel([curve(i, np.arange(1, 31)) for i in range(n)], "regret")]).axes
    styles = [(line.get_color(), str(line._dash_pattern), line.get_marker()) for line in axes.lines]
    assert len({*styles}) == n


def test_the_names_of_greek_letters_are_letters_before_an_equals_sign():
    shown = {
        "hedge(eta=0.3)": "hedge(η=0.3)",
        "eta_0 = 8, alpha1=2": "η_0 = 8, α1=2",
        r"$\eta$ and \Gamma = 2": "η and Γ = 2",
        "beta version, theta": "beta version, theta",
        "nut=3, zeta2 =1, pi-controller": "nut=3, ζ2 =1, pi-controller",
    }
    assert {label: literal(label, 90) for label in shown} == shown


def test_a_bound_is_drawn_between_its_rounds_only():
    (axes,) = curves_figure([CurvePanel([curve(0, np.ones(30), (2.0, 3.0, np.nan))], "regret")]).axes
    line = axes.lines[1]
    assert line.get_drawstyle() == "steps-pre"
    assert line.get_xdata()[np.isfinite(line.get_ydata())].tolist() == [5, 10]
    (axes,) = curves_figure([CurvePanel([curve(0, np.ones(30), (np.nan, 3.0, np.nan))], "regret")]).axes
    assert axes.lines[1].get_marker() == "_"  # a line needs two points


# Axes and sizes


def test_results_are_drawn_into_axes_of_the_user(simulated, two_axes):
    figure, axes = two_axes
    for place, results in zip(axes, simulated, strict=True):
        assert results.plot(ax=place, title=f"{results.measures[0].segments} segments") is figure
    assert [place.get_title() for place in axes] == ["2 segments", "8 segments"]
    for place, results in zip(axes, simulated, strict=True):
        labelled = [line.get_label() for line in place.lines if not line.get_label().startswith("_")]
        assert labelled == [*results.labels]
        assert [text.get_text() for text in place.get_legend().get_texts()][:3] == [*results.labels]
    assert axes[0].get_ylim() == axes[1].get_ylim()
    assert axes[0].get_ylim()[1] >= max(results.regrets.mean(axis=1).max() for results in simulated)


@pytest.mark.parametrize("order", [1, -1])
def test_axes_that_share_a_scale_are_linear_if_one_has_regret_below_zero(order, simulated, two_axes):
    signed = simulate(ENVIRONMENTS["8 segments"], FixedShare(learning_rate=1.0), 1500, 3, comparator=Static())
    assert signed.regrets.mean(axis=1).min() < 0
    for place, results in zip(two_axes[1], [simulated[0], signed][::order], strict=True):
        results.plot(ax=place)
    assert [place.get_yscale() for place in two_axes[1]] == ["linear", "linear"]
    assert two_axes[1][0].get_ylim()[0] <= signed.regrets.mean(axis=1).min()
    labels = [place.get_ylabel() for place in two_axes[1]][::order]
    assert labels == ["dynamic pseudo-regret", "static pseudo-regret\n(linear: some of it is below 0)"]


def test_a_figure_has_the_size_and_the_title_that_are_wanted(simulated):
    figure = simulated[0].figure()
    assert (figure.axes[0].get_title(), figure.get_size_inches().tolist()) == ("", [8.0, 5.0])
    figure = simulated[0].figure(size=(3, 2.5), title="Gamma = 2\nand more")
    assert (figure.axes[0].get_title(), figure.get_size_inches().tolist()) == ("Γ = 2\nand more", [3.0, 2.5])


def test_a_file_is_written_of_the_axes_of_the_user(simulated, two_axes, tmp_path):
    simulated[0].plot(tmp_path / "x.svg", ax=two_axes[1][0])
    assert (tmp_path / "x.svg").read_bytes().startswith(b"<?xml")


@pytest.mark.parametrize(("look", "message"), [
    ({"size": (3, 0)}, "`size` must be None or two numbers > 0, the width and the height in inches, got (3, 0)."),
    ({"size": 3}, "`size` must be None or two numbers > 0, the width and the height in inches, got 3."),
    ({"title": 3}, "`title` must be None or text, got 3."),
    ({"ax": "x"}, "`ax` must be None or axes of Matplotlib, such as those of `plt.subplots()`, got 'x'."),
    ({"ax": Figure().subplots(), "size": (3, 3)},
     "`size` must be None with `ax`, whose figure has a size, got (3, 3)."),
])  # fmt: skip
def test_a_wrong_look_is_refused(look, message, simulated, swept):
    for owner, draw in (("Results", simulated[0].plot), ("SweepResults", swept.plot)):
        with pytest.raises(InvalidInput, match=f"^{owner}: {re.escape(message)}$"):
            draw(**look)


# Sweeps


def test_a_sweep_has_a_panel_for_each_environment_with_one_scale(tmp_path):
    results = Sweep(ENVIRONMENTS, [Hedge(), FixedShare()], 60, n_runs=2, curves=True).run(tmp_path / "store")
    figure = results.figure(title="both")
    assert [axes.get_title() for axes in figure.axes] == [*ENVIRONMENTS]
    assert len({axes.get_ylim() for axes in figure.axes}) == len({axes.get_yscale() for axes in figure.axes}) == 1
    for axes, label in zip(figure.axes, ENVIRONMENTS, strict=True):
        one = results.select(environment=label).results()
        drawn = {line.get_label(): line.get_ydata() for line in axes.lines}
        floor = axes.get_ylim()[0]
        for learner, regrets in zip(one.labels, one.regrets, strict=True):
            assert np.allclose(drawn[learner], np.maximum(regrets.mean(axis=0), floor))
    assert [text.get_text() for text in figure.legends[0].get_texts()][:2] == ["fixed-share", "hedge"]


def test_a_sweep_without_curves_is_drawn_over_its_numbers_of_rounds(tmp_path):
    results = Sweep(ENVIRONMENTS, [Hedge(), FixedShare()], [40, 20, 80], n_runs=2).run(tmp_path / "store")
    axes = results.plot(tmp_path / "x.png").axes[0]
    assert (axes.get_xscale(), axes.get_yscale(), axes.get_xlabel()) == ("log", "log", "rounds $T$")
    rows = [row for row in results.rows() if row["environment"] == "2 segments" and row["learner"] == "hedge"]
    (line,) = [line for line in axes.lines if line.get_label() == "hedge"]
    assert line.get_xdata().tolist() == [row["n_rounds"] for row in rows] == [20, 40, 80]
    assert line.get_ydata().tolist() == [row["regret"] for row in rows]
    assert [tick.get_text() for tick in axes.get_xticklabels()] == ["20", "40", "80"]


def test_one_number_of_rounds_is_drawn_with_the_learners_below_each_other(swept):
    axes = swept.figure().axes
    rows = swept.select(environment="2 segments").rows()
    assert [tick.get_text() for tick in axes[0].get_yticklabels()] == [row["learner"] for row in rows]
    drawn = [container.lines[0].get_xdata()[0] for container in axes[0].containers]
    assert drawn == [row["regret"] for row in rows]


def test_the_panel_of_one_environment_is_drawn_into_axes(swept, two_axes):
    swept.select(environment="8 segments").plot(ax=two_axes[1][0])
    assert len(two_axes[1][0].containers) == 7
    message = "SweepResults: `ax` is for one panel, got 2 environments. `select` chooses an environment."
    with pytest.raises(InvalidInput, match=f"^{re.escape(message)}$"):
        swept.plot(ax=two_axes[1][0])


def test_a_figure_needs_cells_and_has_few_panels():
    with pytest.raises(InvalidInput, match=r"^SweepResults: a figure needs a cell that was played, got none\.$"):
        results_of([cell(error="no")]).figure()
    many = [cell(environment={"name": "own", "number": i}) for i in range(13)]
    with pytest.raises(InvalidInput, match=r"must have at most 12 panels, got 13\."):
        results_of(many).figure()


def test_a_heat_map_has_the_mean_regret_over_two_parameters(swept, tmp_path):
    some = swept.select(environment="8 segments")
    figure = some.heat_map("learning_rate", "switch_rate", tmp_path / "map.png", title="map")
    axes = figure.axes[0]
    assert (axes.get_xlabel(), axes.get_ylabel(), axes.get_title()) == ("learning rate", "switch rate", "map")
    assert [tick.get_text() for tick in axes.get_xticklabels()] == [str(rate) for rate in RATES]
    assert [tick.get_text() for tick in axes.get_yticklabels()] == [str(share) for share in SHARES]
    means = np.array([[some.select(learner=FixedShare(rate, share).label).rows()[0]["regret"] for rate in RATES]
                      for share in SHARES])  # fmt: skip
    assert np.array_equal(axes.images[0].get_array(), means)
    j, i = np.unravel_index(means.argmin(), means.shape)
    assert axes.patches[-1].get_xy() == (i - 0.5, j - 0.5)
    assert (tmp_path / "map.png").exists()


def test_a_heat_map_of_an_environment_and_a_learner_fits_axes_of_the_user(swept, two_axes):
    some = swept.select(learner=[FixedShare(rate).label for rate in RATES])
    assert some.heat_map("n_segments", "learner.learning_rate", ax=two_axes[1][1]) is two_axes[0]
    assert two_axes[1][1].images[0].get_array().shape == (3, 2)


@pytest.mark.parametrize(("names", "error", "message"), [
    (("learning_rate", "share"), UnknownName, "There is no parameter 'share' with several values in these cells."),
    (("learning_rate", "learning_rate"), InvalidInput, "SweepResults: `y` must be another parameter than `x`, got"),
    (("learning_rate", 3), InvalidInput, "SweepResults: `x and y` must be names of parameters, got 3."),
    (("learning_rate", "switch_rate"), InvalidInput,
     "SweepResults: a heat map must have one mean for learning_rate = "),
])  # fmt: skip
def test_wrong_parameters_of_a_heat_map_are_refused(names, error, message, swept):
    with pytest.raises(error, match=f"^{re.escape(message)}"):
        swept.heat_map(*names)
