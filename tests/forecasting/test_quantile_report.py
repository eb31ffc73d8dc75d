"""Reports of quantiles: losses, shares below, intervals, the CRPS, and their text, record, figure and page."""

import json
import math

import numpy as np
import pytest

from driftwise.core.errors import InvalidInput
from driftwise.forecasting import Mixture, forecast_loss, quantile_report_of, report_of
from driftwise.forecasting.quantile_report import quantile_page
from driftwise.report.page import write_page
from driftwise.report.tables import text_width

LEVELS = [0.1, 0.25, 0.5, 0.75, 0.9]
NAMES = ["narrow", "wide", "late"]


def run(n_rounds=60, seed=0):
    """Return forecasts, truths, combined quantiles and weights of three experts; some are missing."""
    rng = np.random.default_rng(seed)
    truths = rng.normal(size=n_rounds)
    spreads = np.array([0.5, 1.5, 1.0])
    offsets = np.array([-1.28, -0.67, 0.0, 0.67, 1.28])
    forecasts = rng.normal(0.0, 0.1, (n_rounds, 3, 1)) + spreads[:, None] * offsets
    forecasts[: n_rounds // 3, 2] = np.nan
    forecasts[5, :, 1] = np.nan
    truths[[3, 7]] = np.nan
    weights = np.where(np.isnan(forecasts), 0.0, 1.0)
    weights /= np.maximum(1.0, weights.sum(axis=1, keepdims=True))
    combined = np.sort(np.where(weights > 0, forecasts * weights, 0.0).sum(axis=1), axis=1)
    return forecasts, truths, combined, weights


def test_the_figures_are_those_of_their_definitions():
    forecasts, truths, combined, weights = run()
    report = quantile_report_of(NAMES, LEVELS, forecasts, truths, combined, weights)
    twice_the_losses = []
    for j, level in enumerate(LEVELS):
        scored = ~np.isnan(truths) & ~np.isnan(forecasts[:, :, j]).all(axis=1)
        loss = np.array(
            [max(level * (y - f), (level - 1) * (y - f)) for y, f in zip(truths, combined[:, j], strict=True)]
        )
        row, alone = report.summaries[j], report.levels[j]
        assert row.n_scored == scored.sum() == alone.n_scored
        assert row.loss == pytest.approx(loss[scored].mean(), rel=1e-12)
        assert row.below == pytest.approx((truths <= combined[:, j])[scored].mean())
        arrays = (forecasts[:, :, j], truths, combined[:, j], weights[:, :, j])
        assert alone.record() == report_of(NAMES, f"pinball:{level}", *arrays).record()
        assert (row.best_expert, row.best_expert_loss) == (alone.comparators[1].detail, alone.comparators[1].mean)
        twice_the_losses.append(2 * loss[scored].mean())
    assert report.crps.mixture == pytest.approx(np.mean(twice_the_losses), rel=1e-12)
    assert [(i.low, i.high) for i in report.intervals] == [(0.1, 0.9), (0.25, 0.75)]
    wide, middle = report.intervals
    known = ~np.isnan(truths)
    assert (wide.nominal, middle.nominal) == (pytest.approx(0.8), pytest.approx(0.5))
    inside = (combined[:, 0] <= truths) & (truths <= combined[:, 4])
    assert wide.coverage == pytest.approx(inside[known].mean())
    assert wide.width == pytest.approx((combined[:, 4] - combined[:, 0])[known].mean())
    assert middle.n_scored == wide.n_scored - 1  # a round has no forecast of the level 0.25


def test_the_best_expert_of_the_score_is_one_for_all_levels():
    forecasts, truths, combined, weights = run()
    report = quantile_report_of(NAMES, LEVELS, forecasts, truths, combined, weights)
    losses = np.zeros(3)
    for j, level in enumerate(LEVELS):
        loss = forecast_loss(f"pinball:{level}")
        scored = ~np.isnan(truths) & ~np.isnan(forecasts[:, :, j]).all(axis=1)
        mixture = loss.values(combined[:, j], truths)
        experts = loss.values(forecasts[:, :, j], truths[:, None])
        losses += np.where(np.isnan(experts), mixture[:, None], experts)[scored].mean(axis=0) / len(LEVELS)
    assert report.crps.best_expert == NAMES[losses.argmin()]
    assert report.crps.best_expert_score == pytest.approx(2 * losses.min(), rel=1e-12)


def test_the_report_of_a_mixture_is_that_of_the_sorted_quantiles_it_returned():
    rng, mix, rows = np.random.default_rng(4), Mixture(["a", "b"], quantiles=[0.1, 0.5, 0.9]), []
    for _ in range(40):
        truth = float(rng.normal())
        table = rng.normal(0.0, 1.0, (2, 3))
        combined = mix.predict(table)
        rows.append((table, truth, combined, np.array([*mix.weights.values()])))
        mix.update(truth)
    tables, truths, combined, weights = map(np.array, zip(*rows, strict=True))
    cuts = [single.stack.cuts for single in mix._singles]
    expected = quantile_report_of(["a", "b"], mix.quantiles, tables, truths, combined, weights, cuts=cuts)
    assert json.dumps(mix.report().record()) == json.dumps(expected.record())
    crossed = [single.history.rounds.combined for single in mix._singles]
    assert (np.diff(np.array(crossed), axis=0) < 0).any()


def test_a_mixture_of_steps_and_quantiles_has_its_steps_as_series():
    mix = Mixture(["a", "b"], steps=2, quantiles=[0.1, 0.9])
    for t in range(6):
        mix.predict(np.array([[[0.0, 1.0], [0.5, 2.0]]] * 2) + t)
        mix.update(t + 1.0)
    report = mix.report()
    assert [level.series_names for level in report.levels] == [("step 1", "step 2")] * 2
    assert report.levels[0].series.n_rounds.tolist() == [6, 5]
    assert report.intervals[0].n_scored == 11


@pytest.mark.parametrize("n_rounds", [0, 1, 60])
def test_the_text_is_narrow_and_the_record_is_json(n_rounds, tmp_path):
    forecasts, truths, combined, weights = run(max(n_rounds, 12))
    arrays = [array[:n_rounds] for array in (forecasts, truths, combined, weights)]
    report = quantile_report_of(["ü" * 50, "wide", "late"], LEVELS, *arrays)
    text = report.text()
    assert all(text_width(line) <= 80 for line in text.splitlines())
    assert json.loads(json.dumps(report.record(), allow_nan=False))["quantiles"] == LEVELS
    write_page(tmp_path / "page.html", quantile_page(report))
    assert "CRPS by these quantiles" in (tmp_path / "page.html").read_text("utf-8")
    assert len(report.plot(tmp_path / "levels.png").axes) == 3
    assert report.levels[report.middle].loss == "pinball(0.5)"


def test_the_text_of_a_small_report():
    truths, combined = [2.0, 1.0, 3.0, 3.5], [[1.5, 4.0]] * 4
    forecasts, weights = [[[1.0, 3.0], [2.0, 5.0]]] * 4, [[[0.5, 0.5], [0.5, 0.5]]] * 4
    lines = quantile_report_of(["a", "b"], [0.1, 0.9], forecasts, truths, combined, weights).text().splitlines()
    assert lines[:5] == [
        "Mixture of 2 experts, quantiles 0.1, 0.9.",
        "4 rounds, 4 scored.",
        "",
        "CRPS by these quantiles: mixture 0.375, best expert in hindsight 0.325 (a),",
        "uniform mean 0.375.",
    ]
    assert "0.1       a               0.1375   0.2125   0.2125  0.250" in lines
    assert "0.1 to 0.9    0.800     0.750    2.5" in lines


def test_bad_arrays_are_refused():
    forecasts, truths, combined, weights = run(12)
    for change, message in [
        ({"combined": combined[:, ::-1]}, "`combined` must be quantiles that do not decrease with the level"),
        ({"combined": combined[:, :3]}, "`combined`"),
        ({"forecasts": forecasts[:, :2]}, "`forecasts`"),
        ({"weights": weights[:3]}, "`weights`"),
        ({"truths": "x"}, "`truths`"),
        ({"quantiles": LEVELS[::-1]}, "`quantiles` must be at least one probability, in increasing order"),
    ]:
        arrays = {"forecasts": forecasts, "truths": truths, "combined": combined, "weights": weights}
        with pytest.raises(InvalidInput, match=message):
            quantile_report_of(NAMES, **{"quantiles": LEVELS, **arrays, **change})


def test_a_level_without_its_opposite_has_no_interval():
    forecasts, truths, combined, weights = (array[..., :2] if array.ndim > 1 else array for array in run())
    report = quantile_report_of(NAMES, LEVELS[:2], forecasts, truths, combined, weights)
    assert report.intervals == ()
    assert "interval" not in report.text()
    assert not math.isnan(report.crps.mixture)
