"""Reports on forecasts: every number against a slow reference, blocks, checkpoints, text, figure and page."""

import itertools
import json
import math
from dataclasses import replace
from unicodedata import east_asian_width

import numpy as np
import pytest
from scipy.optimize import minimize

from driftwise.core.errors import InvalidInput
from driftwise.forecasting.forecast_views import report_page, series_rows, write_report_page
from driftwise.forecasting.hindsight import best_combination, best_path, best_square_combination
from driftwise.forecasting.losses import forecast_loss
from driftwise.forecasting.running_report import MOST_COMBINED, N_PERIODS, KeptRows, RunningReport, report_of
from forecast_streams import LOSSES
from references.forecast_report import SlowReport, least_sequence


def rows_of(n_rows, n_experts=3, n_series=1, seed=1, asleep=0.2, loss="square"):
    """Return forecasts, truths, forecasts of a mixture, weights and series; some truths are missing or 0."""
    random = np.random.default_rng(seed)
    truths = np.round(random.normal(2.0, 2.0, n_rows), 2)
    truths[random.random(n_rows) < 0.15] = 0.0
    forecasts = truths[:, None] + random.normal(size=(n_rows, n_experts)) * np.linspace(0.5, 1.5, n_experts)
    if loss == "log":
        truths = (truths > 2.0).astype(float)
        forecasts = random.random((n_rows, n_experts))
    forecasts[random.random((n_rows, n_experts)) < asleep] = np.nan
    if asleep:
        forecasts[n_rows // 2] = np.nan
    awake = ~np.isnan(forecasts)
    weights = np.where(awake, random.random((n_rows, n_experts)), 0.0)
    weights /= np.maximum(weights.sum(axis=1, keepdims=True), 1e-300)
    combined = np.where(awake.any(axis=1), np.nansum(weights * forecasts, axis=1), 0.5)
    if asleep:
        truths[random.random(n_rows) < 0.1] = np.nan
        combined[n_rows // 3] = np.nan
    return forecasts, truths, combined, weights, random.integers(0, n_series, n_rows)


def names_of(n_experts):
    return [f"expert {k}" for k in range(n_experts)]


def reported(rows, loss="square", n_series=1, **options):
    running = RunningReport(names_of(rows[0].shape[1]), loss, n_series)
    running.add(*rows, **options)
    return running.report()


def comparator(report, name):
    (found,) = [one for one in report.comparators if one.name == name]
    return found


def close(value, expected):
    assert value == pytest.approx(expected, rel=1e-12, abs=1e-12, nan_ok=True)


@pytest.mark.parametrize("n_series", [1, 3])
@pytest.mark.parametrize("loss", LOSSES)
def test_totals_are_those_of_the_definitions(loss, n_series):
    rows = rows_of(90, n_series=n_series, loss=loss)
    report, slow = reported(rows, loss, n_series), SlowReport(forecast_loss(loss), *rows, n_series)
    assert report.n_rounds == 90
    assert report.n_scored == len(slow.scored) > 40
    assert report.n_without_truth == slow.skipped["truth"] > 0
    assert report.n_without_forecast == slow.skipped["forecast"] > 0
    assert report.n_without_loss == slow.skipped["loss"] > 0
    close(comparator(report, "mixture").loss, slow.total("mixture"))
    close(comparator(report, "mixture").mean, slow.total("mixture") / len(slow.scored))
    close(comparator(report, "uniform mean").loss, slow.total("uniform"))
    after = slow.after_truth()
    last = comparator(report, "last truth repeated")
    assert last.n_rounds == len(after) < report.n_scored
    close(last.loss, slow.total("last", after))
    close(last.ratio, slow.total("last", after) / slow.total("mixture", after))
    best = comparator(report, "best expert")
    totals = [slow.filled(k) for k in range(3)]
    close(best.loss, min(totals))
    assert best.detail == f"expert {np.argmin(totals)}"


@pytest.mark.parametrize("n_series", [1, 3])
def test_experts_are_compared_over_the_rounds_in_which_they_are_awake(n_series):
    rows = rows_of(120, n_series=n_series)
    report, slow = reported(rows, n_series=n_series), SlowReport(forecast_loss("square"), *rows, n_series)
    weights = np.array([w for _, w in slow.weighed])
    for k, one in enumerate(report.experts):
        awake = slow.awake(k)
        assert one.n_awake == len(awake) < report.n_scored
        assert one.n_given == (~np.isnan(rows[0][:, k])).sum() > one.n_awake
        close(one.loss, math.fsum(row["experts"][k] for row in awake))
        close(one.mixture_loss, slow.total("mixture", awake))
        close(one.ratio, one.loss / one.mixture_loss)
        close(one.filled_loss, slow.filled(k))
        close(one.weight, weights[:, k].mean())
        close(one.share, weights[:, k].sum() / weights.sum())


def test_rows_of_each_series_have_totals_of_their_own():
    rows = rows_of(120, n_series=4)
    rows[4][rows[4] == 2] = 1  # a series without rounds
    report, slow = reported(rows, n_series=4), SlowReport(forecast_loss("square"), *rows, 4)
    table = report.series_table()
    for s in range(4):
        own = slow.of_series(s)
        assert table["rounds"][s] == slow.rounds[s]
        assert table["scored"][s] == len(own)
        if not own:
            assert table["best_expert"][s] == ""
            assert math.isnan(table["mixture"][s])
            continue
        close(table["mixture"][s], slow.total("mixture", own) / len(own))
        close(table["uniform"][s], slow.total("uniform", own) / len(own))
        after = [row for row in own if not math.isnan(row["last"])]
        close(table["last_truth"][s], slow.total("last", after) / len(after))
        totals = [slow.filled(k, own) for k in range(3)]
        assert table["best_expert"][s] == f"expert {np.argmin(totals)}"
        close(table["best_expert_loss"][s], min(totals) / len(own))
    close(
        comparator(report, "best expert of each series").loss,
        math.fsum(min(slow.filled(k, slow.of_series(s)) for k in range(3)) for s in range(4)),
    )


@pytest.mark.parametrize("n_series", [1, 2])
def test_the_best_sequence_is_the_best_of_all_sequences(n_series):
    rows = rows_of(9 * n_series + 4, n_series=n_series, seed=4)
    report, slow = reported(rows, n_series=n_series), SlowReport(forecast_loss("square"), *rows, n_series)
    assert len(report.sequence_losses) == 11
    for n, total in enumerate(report.sequence_losses):
        close(total, slow.sequence(n))
    assert report.sequence_losses[0] > report.sequence_losses[1] > report.sequence_losses[3]
    for n in (1, 3, 10):
        name = f"best sequence, {n} switch{'es' * (n > 1)}"
        close(comparator(report, name).loss, slow.sequence(n))


@pytest.mark.parametrize("n_switches", [0, 1, 2, 4, 9])
def test_the_best_path_has_the_least_loss_and_few_switches(n_switches):
    for seed in range(6):
        losses = np.random.default_rng(seed).random((7, 3))
        path = best_path(losses, n_switches)
        assert (np.diff(path) != 0).sum() <= n_switches
        close(losses[np.arange(7), path].sum(), least_sequence(losses.tolist(), n_switches))


def test_the_changes_of_the_best_expert_are_found():
    truths = np.zeros(60)
    forecasts = np.ones((60, 2)) + 0.1 * np.random.default_rng(0).normal(size=(60, 2))
    forecasts[:25, 0] = forecasts[25:45, 1] = forecasts[45:, 0] = 0.0
    report = reported((forecasts, truths, forecasts.mean(axis=1), np.full((60, 2), 0.5)))
    stretches = [(one.expert, one.first, one.end) for one in report.best_sequence(2)]
    assert stretches == [("expert 0", 0, 25), ("expert 1", 25, 45), ("expert 0", 45, 60)]
    assert report.best_sequence() == report.best_sequence(2)  # a third switch would not help
    assert [one.expert for one in report.best_sequence(0)] == ["expert 0"]
    assert report.periods.best.tolist() == [0] * 25 + [1] * 20 + [0] * 15
    assert [one.n_best for one in report.experts] == [40, 20]


def least_on_simplex(value, n_experts):
    """Return the least value over distributions, by a general solver from several starts."""
    starts = [np.full(n_experts, 1 / n_experts), *(0.9 * np.eye(n_experts) + 0.1 / n_experts)]
    whole = {"type": "eq", "fun": lambda u: u.sum() - 1}
    options = {"ftol": 1e-14, "maxiter": 500}
    box = [(0, 1)] * n_experts
    return min(minimize(value, u, bounds=box, constraints=whole, method="SLSQP", options=options).fun for u in starts)


def test_the_best_convex_combination_for_the_square_loss_is_exact():
    rows = rows_of(80, n_experts=4)
    rows[0][:, 3] -= 50.0  # the others are too low already
    report, slow = reported(rows), SlowReport(forecast_loss("square"), *rows, 1)
    found = comparator(report, "best convex combination")
    close(found.loss, slow.combination_loss(report.combination))
    assert min(report.combination) >= 0
    assert report.combination[3] == 0
    close(sum(report.combination), 1.0)
    assert found.loss == pytest.approx(least_on_simplex(slow.combination_loss, 4), rel=1e-9)
    assert found.loss < comparator(report, "best expert").loss


@pytest.mark.parametrize("loss", ["absolute", "pinball:0.9", "log", "percentage"])
def test_the_best_convex_combination_for_other_losses_is_that_of_a_fine_grid(loss):
    rows = rows_of(60, loss=loss, seed=3)
    report, slow = reported(rows, loss), SlowReport(forecast_loss(loss), *rows, 1)
    found = comparator(report, "best convex combination")
    close(found.loss, slow.combination_loss(report.combination))
    assert found.note == ""
    grid = np.arange(0.0, 1.001, 0.02)
    points = np.array([(a, b, 1 - a - b) for a in grid for b in grid if a + b <= 1 + 1e-9])
    forecasts = np.array([row["forecasts"] for row in slow.scored])
    truths = np.array([row["truth"] for row in slow.scored])
    least = slow.loss.values(points @ forecasts.T, truths).sum(axis=1).min()
    assert found.loss <= least * (1 + 1e-6)
    assert found.loss >= 0.97 * least  # the grid is close


def test_both_ways_to_the_best_convex_combination_agree():
    forecasts, truths, combined, *_ = rows_of(200, n_experts=5, asleep=0.0, seed=8)
    errors = forecasts - truths[:, None]
    square = forecast_loss("square")
    exact, cut = (
        best_square_combination(errors.T @ errors),
        best_combination(square, forecasts, truths),
    )
    assert cut.loss == pytest.approx(exact.loss, rel=2e-6)
    assert cut.at_least <= exact.loss * (1 + 1e-9)
    assert cut.loss - cut.at_least <= 2e-6 * cut.loss
    assert combined.shape == truths.shape


def test_the_best_convex_combination_survives_equal_perfect_and_huge_experts():
    perfect = best_square_combination(np.array([[0.0, 0.0], [0.0, 4.0]]))
    assert (perfect.weights.tolist(), perfect.loss) == ([1.0, 0.0], 0.0)
    equal = best_square_combination(np.full((3, 3), 2.0))
    assert equal.loss == pytest.approx(2.0)
    opposite = best_square_combination(np.array([[1.0, -1.0], [-1.0, 1.0]]))
    assert opposite.loss == pytest.approx(0.0, abs=1e-12)
    assert opposite.weights == pytest.approx([0.5, 0.5])
    assert best_square_combination(np.array([[np.inf, 0.0], [0.0, 1.0]])) is None
    absolute = forecast_loss("absolute")
    assert best_combination(absolute, np.zeros((4, 2)), np.zeros(4)).loss == 0.0


def test_the_best_convex_combination_is_left_out_when_rows_are_too_many(monkeypatch):
    rows = rows_of(50, asleep=0.0)
    monkeypatch.setattr("driftwise.forecasting.running_report._MOST_ROWS", 49)
    report = reported(rows, "absolute")
    found = comparator(report, "best convex combination")
    assert math.isnan(found.loss)
    assert "at most 49 are kept" in found.note
    assert "* best convex combination: not computed" in report.text()
    monkeypatch.setattr("driftwise.forecasting.running_report._MOST_ROWS", 50)
    assert math.isfinite(comparator(reported(rows, "absolute"), "best convex combination").loss)


@pytest.mark.parametrize(("n_rows", "n_series"), [(239, 1), (240, 1), (241, 1), (1000, 1), (1500, 2)])
def test_periods_are_merged_in_pairs_and_keep_their_means(n_rows, n_series):
    rows = rows_of(n_rows, n_series=n_series)
    report, slow = reported(rows, n_series=n_series), SlowReport(forecast_loss("square"), *rows, n_series)
    periods, longest = report.periods, max(slow.rounds)
    assert periods.length == 2 ** max(0, math.ceil(math.log2(longest / N_PERIODS)))
    assert periods.starts.tolist() == list(range(0, longest, periods.length))
    assert len(periods.starts) <= N_PERIODS
    for p, first in enumerate(periods.starts.tolist()):
        own = slow.period(first, first + periods.length)
        assert periods.n_scored[p] == len(own)
        weights = [w for t, w in slow.weighed if first <= t < first + periods.length]
        np.testing.assert_allclose(
            periods.weights[p], np.mean(weights, axis=0) if weights else [np.nan] * 3, rtol=1e-12
        )
        if not own:
            assert periods.best[p] == -1
            assert math.isnan(periods.mixture[p])
            continue
        close(periods.mixture[p], slow.total("mixture", own) / len(own))
        close(periods.uniform[p], slow.total("uniform", own) / len(own))
        means = [slow.filled(k, own) / len(own) for k in range(3)]
        np.testing.assert_allclose(periods.experts[p], means, rtol=1e-12)
        awake = {k for row in own for k in row["awake"]}
        assert periods.best[p] in awake
        assert means[periods.best[p]] == min(means[k] for k in awake)


def arrays_of(running):
    """Return all that a report keeps."""
    rows, times = running._rows, running._times._texts
    kept = {name: np.concatenate(getattr(rows, name)) for name in ("forecasts", "truths")}
    kept["times"] = np.array(list(times.items()))
    return {**{name: array.copy() for name, array in running._in_use()._asdict().items()}, **kept}


def same_arrays(one, other):
    assert one.keys() == other.keys()
    for name in one:
        assert one[name].dtype == other[name].dtype, name
        assert one[name].tobytes() == other[name].tobytes(), name


@pytest.mark.parametrize("loss", ["square", "log"])
def test_blocks_do_not_change_anything(loss):
    rows = rows_of(9000, n_series=3, loss=loss)  # more than one inner block
    times = [f"day {t}" for t in range(9000)]
    whole = RunningReport(names_of(3), loss, 3)
    whole.add(*rows, times=times)
    random = np.random.default_rng(2)
    parts = RunningReport(names_of(3), loss, 3)
    ends = [0, 1, 2, *np.sort(random.integers(3, 9000, 40)).tolist(), 9000]
    for first, end in itertools.pairwise(ends):
        parts.add(*(part[first:end] for part in rows), times=times[first:end])
    same_arrays(arrays_of(whole), arrays_of(parts))
    assert json.dumps(whole.report().record()) == json.dumps(parts.report().record())


def test_series_can_be_added_later():
    rows = rows_of(400)
    rows[4][:] = np.minimum(rows_of(400, n_series=20)[4], np.arange(400) // 20)  # a new series every 20 rows
    early, late = RunningReport(names_of(3), "square", 20), RunningReport(names_of(3), "square", 0)
    early.add(*rows)
    for first in range(0, 400, 20):
        late.add_series(1)
        late.add(*(part[first : first + 20] for part in rows))
    same_arrays(arrays_of(early), arrays_of(late))
    with pytest.raises(InvalidInput, match=r"`series` must be from 0 to the number of series - 1, got 20\. In row 0"):
        late.add([[1.0] * 3], [1.0], [1.0], [[1.0, 0.0, 0.0]], [20])


ROW = {"forecasts": [[1.0, 2.0]], "truths": [1.0], "combined": [1.0], "weights": [[0.5, 0.5]], "series": [0]}


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"forecasts": [[np.inf, 1.0]]}, "`forecasts` must be in .* or NaN .missing., got .inf, 1.0.. In row 0"),
        ({"truths": [-np.inf]}, "`truths` must be in .* got -inf"),
        ({"combined": [1e101]}, r"`combined` must be in \[-1e\+100, 1e\+100\] or NaN .missing., got 1e\+101"),
        ({"weights": [[0.5, np.nan]]}, "`weights` must be in"),
        ({"weights": [[0.5, -0.5]]}, "`weights` must be in"),
        ({"series": [1]}, "`series` must be from 0"),
        ({"series": [-1]}, "`series` must be from 0"),
        ({"series": [0.0]}, "`series` must be an array of 1 whole numbers"),
        ({"forecasts": [[1.0]]}, "`forecasts` must have shape"),
        ({"truths": [1.0, 2.0]}, "`truths` must have shape"),
        ({"times": ["a", "b"]}, "`times` must be as long as the 1 rows"),
    ],
)
def test_bad_rows_are_refused_and_nothing_changes(changes, message):
    running = RunningReport(["a", "b"], "square")
    before = arrays_of(running)
    with pytest.raises(InvalidInput, match=message):
        running.add(**{**ROW, **changes})
    same_arrays(arrays_of(running), before)


def test_bad_names_and_probabilities_are_refused():
    for names in ([], ["a", "a"], [1]):
        with pytest.raises(InvalidInput, match="`names` must be distinct texts, at least one"):
            RunningReport(names, "square")
    with pytest.raises(InvalidInput, match=r"`forecasts` must be in \[0, 1\] for the log loss"):
        RunningReport(["a", "b"], "log").add(**ROW)


def test_an_empty_report_can_be_shown(tmp_path):
    report = RunningReport(["a", "b"], "square").report()
    assert report.text().splitlines() == ["Mixture of 2 experts, square loss.", "0 rounds, 0 scored."]
    assert report.best_sequence() == []
    json.dumps(report.record(), allow_nan=False)
    write_report_page(tmp_path / "page.html", report)
    report.plot(tmp_path / "figure.png")
    without = report_of(["a"], "square", [[1.0]] * 3, [np.nan] * 3, [1.0] * 3, [[1.0]] * 3)
    assert without.text().splitlines()[1:] == ["3 rounds, 0 scored.", "Not scored: 3 without truth."]
    write_report_page(tmp_path / "page.html", without)
    without.plot(tmp_path / "figure.png")


def width(line):
    return sum(2 if east_asian_width(c) in "WF" else 1 for c in line)


@pytest.mark.parametrize(
    "names",
    [["a", "b", "c"], ["x" * 200, "y" * 300, "\n" * 60], ["気" * 90, "象" * 90, "庁" * 90]],
    ids=["short", "long", "wide"],
)
@pytest.mark.parametrize("scale", [1e-9, 1.0, 1e40])
def test_the_text_fits_a_terminal_of_80_columns(names, scale):
    forecasts, truths, combined, weights, _ = rows_of(700)
    times = ["t" * 60] * 700
    blocks = forecasts * scale, truths * scale, combined * scale, weights
    options = {"series": np.arange(700) % 2, "times": times, "cuts": (10**12, 1e300)}
    text = replace(report_of(names, "square", *blocks, **options), series_names=(names[0], 2**62)).text()
    assert max(map(width, text.splitlines())) <= 80
    assert "In 1,000,000,000,000 rounds the losses were too large" in text


def test_the_text_has_the_comparators_the_experts_and_the_changes():
    rows = rows_of(90)
    report = report_of(names_of(3), "square", *rows[:4], cuts=([1, 2], [0.5, 4.0]))
    text = report.text()
    lines = text.splitlines()
    assert lines[1] == f"90 rounds, {report.n_scored} scored."
    assert lines[2] == (
        f"Not scored: {report.n_without_truth} without truth, {report.n_without_forecast} without forecast, 1 without"
        " a finite loss."
    )
    assert lines[3:5] == [
        "In 3 rounds the losses were too large to be learned in full (cut); 4.5 in total",
        "was left out.",
    ]
    assert "In hindsight, an expert that was asleep has the loss of the mixture." in lines
    for one in report.comparators:
        (line,) = [line for line in lines if line.startswith(one.name) and line.split()[-1] == f"{one.ratio:.3f}"]
        assert line.split()[-2] == f"{one.mean:.4g}"
        assert line.split()[-3] == ("yes" if one.hindsight else "no")
    for expert in report.experts:
        (line,) = [line for line in lines if line.startswith(expert.name) and "%" in line]
        awake = f"{100 * expert.n_awake / report.n_scored:.0f}"
        filled = f"{expert.filled_loss / report.n_scored:.4g}"
        assert line.split()[2:] == [
            f"{expert.weight:.3f}", f"{expert.mean:.4g}", f"{expert.ratio:.3f}", awake, "%", filled
        ]  # fmt: skip
    for stretch in report.best_sequence():
        assert any(line.split() == [str(stretch.first), *stretch.expert.split()] for line in lines)


def test_the_text_has_all_weights_of_the_best_convex_combination():
    report = reported(rows_of(300, n_experts=6, asleep=0.0))
    text = " ".join(report.text().split())
    terms = text.split("Best convex combination: ")[1].split(". ")[0].split(" + ")
    ordered = sorted(zip(report.combination, report.names, strict=True), reverse=True)
    assert terms == [f"{weight:.2f} {name}" for weight, name in ordered if weight >= 0.005]
    assert len(terms) > 2


def test_the_series_with_the_most_rounds_are_shown():
    """Of a dozen series, ten; the numbers are those of a report on the rows of one series."""
    rows = rows_of(900, n_series=12)
    rows[4][rows[4] == 5] = 7  # a series without rounds, and the longest
    report = replace(reported(rows, n_series=12), series_names=tuple(f"shop {s}" for s in range(12)))
    shown = series_rows(report)
    assert len(shown) == 10
    assert shown[0].name == "shop 7"
    assert [one.n_scored for one in shown] == sorted(report.series.n_scored.tolist(), reverse=True)[:10]
    for one in shown[:3]:
        own = reported([part[rows[4] == int(one.name.split()[1])] for part in rows[:4]])
        mixture, best, uniform = (comparator(own, name) for name in ("mixture", "best expert", "uniform mean"))
        assert (one.n_scored, one.best_expert) == (own.n_scored, best.detail)
        assert (one.mixture, one.ratio, one.uniform) == pytest.approx((mixture.mean, best.ratio, uniform.mean))
    text = report.text()
    hidden = "2 more series: summary.json of the command, or report.series_table() in Python."
    assert hidden in text
    for one in shown:
        (line,) = [line for line in text.splitlines() if line.startswith(f"{one.name} ")]
        assert line.split()[-4:] == [
            str(one.n_scored), f"{one.mixture:.4g}", f"{one.ratio:.3f}", f"{one.uniform:.4g}"
        ]  # fmt: skip
    page = report_page(report)
    assert [row[0] for row in page.series_table.rows] == [one.name for one in shown]
    assert page.series_table.about.endswith(hidden)
    assert report.record()["series"]["series"] == list(report.series_names)
    assert report_page(reported(rows_of(50))).series_table is None


def test_the_record_is_plain_and_complete():
    rows = rows_of(90, n_series=2)
    report = reported(rows, n_series=2, times=range(90))
    record = json.loads(json.dumps(report.record(), allow_nan=False))
    assert record["names"] == list(report.names)
    assert [one["mean"] for one in record["comparators"]] == [one.mean for one in report.comparators]
    assert [one["filled_loss"] for one in record["experts"]] == [one.filled_loss for one in report.experts]
    assert record["periods"]["starts"] == report.periods.starts.tolist()
    assert record["periods"]["times"] == list(report.periods.times)
    assert record["series"]["rounds"] == report.series.n_rounds.tolist()
    assert None in record["periods"]["mixture"]  # a period without scored rounds


@pytest.mark.parametrize(("n_rows", "length"), [(200, 1), (700, 4)])
def test_times_are_those_of_the_first_rounds_of_the_periods(n_rows, length):
    rows = rows_of(n_rows)
    report = reported(rows, times=[f"t{t}" for t in range(n_rows)])
    assert report.periods.length == length
    assert report.periods.times == tuple(f"t{t}" for t in range(0, n_rows, length))
    two = reported(rows_of(n_rows, n_series=2), n_series=2, times=[f"t{t}" for t in range(n_rows)])
    assert two.periods.times[0] == "t0"
    assert len(two.periods.times) == len(two.periods.starts)


def test_times_of_some_blocks_only_are_not_shown():
    rows = rows_of(60)
    running = RunningReport(names_of(3), "square")
    running.add(*(part[:30] for part in rows), times=range(30))
    running.add(*(part[30:] for part in rows))
    assert running.report().periods.times == ()


def test_the_figure_names_the_experts_and_the_comparators():
    report = reported(rows_of(400, n_experts=14), times=[f"day {t}" for t in range(400)])
    figure = report.plot()
    weights, strip, losses = figure.axes
    keys = [text.get_text() for text in weights.get_legend().get_texts()]
    assert keys[0] == "4 other experts"
    assert len(keys) == 11
    curves = [text.get_text() for text in losses.get_legend().get_texts()]
    assert curves == ["mixture", f"best expert: {comparator(report, 'best expert').detail}", "uniform mean"]
    mixture = losses.lines[0].get_ydata()
    np.testing.assert_allclose(mixture[:-1], report.periods.mixture)
    np.testing.assert_array_equal(losses.lines[0].get_xdata(), [*report.periods.starts, 400])
    assert len(strip.patches) >= (np.diff(report.periods.best) != 0).sum() * 0.2
    assert [text.get_text().startswith("day ") for text in losses.get_xticklabels()]


def test_the_page_has_the_numbers_of_the_report():
    report = reported(rows_of(400, n_experts=4))
    page = report_page(report, ["driftwise explain x.csv"], "A title")
    names = [getattr(row[0], "text", row[0]) for row in page.table.rows]
    assert names[: len(report.comparators)] == [one.name for one in report.comparators]
    assert sorted(names[len(report.comparators) :]) == sorted(report.names)
    differences, truths, losses = page.panels
    np.testing.assert_array_equal(truths.series[0].mean, report.periods.forecast)
    np.testing.assert_array_equal(truths.series[1].mean, report.periods.truth)
    for k, series in enumerate(differences.series[:-1]):
        assert series.label == report.names[k]
        assert series.mean[-1] == pytest.approx(report.experts[k].filled_loss - report.comparators[0].loss)
    assert differences.series[-1].mean[-1] == pytest.approx(
        comparator(report, "uniform mean").loss - report.comparators[0].loss
    )
    assert losses.series[0].mean[:5] == pytest.approx(report.periods.mixture[:5].tolist(), nan_ok=True)
    (history,) = page.histories
    assert history.change_points == [one.first for one in report.best_sequence()[1:]]
    np.testing.assert_allclose(np.array(history.weights)[:, :-1].T, np.nan_to_num(report.periods.weights))
    assert history.best[: len(report.periods.best)] == report.periods.best.tolist()


def test_names_of_experts_cannot_break_the_page(tmp_path):
    rows = rows_of(40)
    names = ["</script><b>x", "mixture", "uniform mean"]
    report = report_of(names, "square", *rows[:4], times=["</script>"] * 40)
    write_report_page(tmp_path / "page.html", report, title="</title>")
    text = (tmp_path / "page.html").read_text("utf-8")
    assert (
        text.count("</script>") == 6
    )  # the numbers of the four figures, the style sheet of saved ones, and the script
    assert "<b>" not in text
    assert "mixture (expert)" in text


def test_kept_rows_are_bounded_by_numbers_too():
    assert KeptRows(10, wanted=True).most == 100_000
    assert KeptRows(1000, wanted=True).most == 10_000
    assert KeptRows(10, wanted=False).most == 0


def test_the_representations_say_what_there_is():
    running = RunningReport(["low", "high"], "square")
    running.add([[1.0, 3.0]] * 2, [1.0, 1.0], [2.0, 2.0], [[0.5, 0.5]] * 2)
    assert repr(running) == "RunningReport(loss='square', experts=2, rounds=2)"
    assert repr(running.report()) == (
        "ForecastReport(loss='square', experts=2, rounds=2, scored=2, mixture=1, best_expert='low' 0)"
    )


@pytest.mark.parametrize("loss", ["square", "absolute"])
def test_of_very_many_experts_the_best_combination_is_not_computed(loss):
    names = [f"e{k}" for k in range(MOST_COMBINED + 1)]
    forecasts = np.tile(np.arange(len(names), dtype=float), (3, 1))
    running = RunningReport(names, loss)
    running.add(forecasts, [1.0, 2.0, 3.0], [1.0, 1.0, 1.0], np.full(forecasts.shape, 1.0 / len(names)))
    arrays = arrays_of(running)
    assert max(array.size for array in arrays.values()) <= N_PERIODS * 4 * len(names)  # nothing is quadratic
    report = running.report()
    assert report.combination is None
    assert "not computed: there are more than 1,000 experts" in " ".join(report.text().split())


def test_periods_have_the_means_of_truths_and_forecasts_that_are_scored():
    forecasts = np.array([[1.0, 3.0], [1.0, np.nan], [np.nan, np.nan], [2.0, 4.0]])
    truths, combined = np.array([2.0, np.nan, 5.0, 7.0]), np.array([2.0, 1.0, 1.0, 3.5])
    periods = report_of(["a", "b"], "square", forecasts, truths, combined, np.full((4, 2), 0.5)).periods
    assert periods.length == 1
    np.testing.assert_array_equal(periods.truth, [2.0, np.nan, np.nan, 7.0])
    np.testing.assert_array_equal(periods.forecast, [2.0, np.nan, np.nan, 3.5])
