"""The headline of a report names the strongest rival first, with the ratio of the table, as text and on the page."""

import json
import math
from dataclasses import replace

import numpy as np
import pytest

from combine_examples import FIXED_SHARE
from command_line import runner
from driftwise.forecasting.forecast_views import headline, report_page
from driftwise.forecasting.running_report import report_of

RIVALS = ("best expert", "best convex combination", "uniform mean", "last truth repeated")


def report_on(forecasts, truths, combined, loss="square", names=("Low", "High"), **options):
    weights = np.full(np.shape(forecasts), 0.5)
    return report_of(list(names), loss, forecasts, truths, combined, weights, **options)


def row_of(report, name):
    (row,) = [row for row in report.comparators if row.name == name]
    return row


def slow_truths():
    """Truths that change by 1, forecasts that are wrong by 3 and 4: repeating the last truth is far better."""
    truths = np.arange(40.0)
    return np.column_stack([truths - 3, truths + 4]), truths, truths + math.sqrt(3)


def test_the_last_truth_repeated_comes_first_if_it_is_best():
    """A loss of 1 beside 3 of the mixture, by arithmetic; the best combination has none."""
    forecasts, truths, combined = slow_truths()
    report = report_on(forecasts + 10, truths, combined)  # both are too high, so no combination is good
    assert headline(report)[:2] == [
        "The mean square loss of the mixture is 3.",
        "The last truth repeated is better: 0.333 times the loss of the mixture.",
    ]
    assert headline(report)[2].startswith("Others: best expert in hindsight (Low), 16.333 times; ")


def test_a_better_expert_in_hindsight_is_named_with_its_case():
    truths = np.tile([0.0, 9.0], 20)
    forecasts = np.column_stack([truths + 1, truths + 5])
    report = report_on(forecasts, truths, truths + 2)
    assert headline(report) == [
        "The mean square loss of the mixture is 4.",
        "The best expert in hindsight (Low) is better: 0.250 times the loss of the mixture.",
        "Others: best convex combination in hindsight, 0.250 times; uniform mean, 2.250 times;"
        " last truth repeated, 20.250 times.",
    ]


def test_a_mixture_that_is_best_is_said_to_be_and_its_strongest_rival_is_named():
    truths = np.tile([0.0, 9.0], 20)
    forecasts = np.column_stack([truths + 2, truths + 4])
    report = report_on(forecasts, truths, truths + 1)
    assert headline(report)[1] == (
        "The strongest rival without switches, the best expert in hindsight (Low), is worse: 4.000 times the loss of"
        " the mixture."
    )


def test_equal_losses_are_as_good_and_what_needs_no_hindsight_comes_first():
    truths = np.tile([0.0, 9.0], 20)
    report = report_on(truths[:, None] + 1, truths, truths + 1, names=["only"])
    assert headline(report)[1:] == [
        "The uniform mean is as good: 1.000 times the loss of the mixture.",
        "Others: best expert in hindsight (only), 1.000 times; best convex combination in hindsight, 1.000 times;"
        " last truth repeated, 81.000 times.",
    ]
    nearly = report_on(truths[:, None] + 1, truths, truths + 1.0001, names=["only"])
    assert headline(nearly)[1].startswith("The uniform mean is as good: 1.000 times")


def test_a_mixture_without_loss_has_no_ratios():
    truths = np.tile([0.0, 9.0], 20)
    forecasts = np.column_stack([truths, truths + 1])
    report = report_on(forecasts, truths, truths)
    assert headline(report) == [
        "The mean square loss of the mixture is 0.",
        "The best expert in hindsight (Low) is as good: a mean loss of 0, where that of the mixture is 0.",
        "Others: best convex combination in hindsight, a mean loss of 0, where that of the mixture is 0; uniform mean,"
        " a mean loss of 0.25, where that of the mixture is 0; last truth repeated, a mean loss of 81, where that of"
        " the mixture is 0.",
    ]
    constant = report_on(np.full((40, 2), 5.0), np.full(40, 5.0), np.full(40, 5.0))
    assert headline(constant)[1].startswith("The uniform mean is as good: a mean loss of 0, where")


def changed(report, name, **changes):
    rows = [row._replace(**changes) if row.name == name else row for row in report.comparators]
    return replace(report, comparators=tuple(rows))


def test_rivals_without_a_loss_are_left_out_and_infinite_ones_come_last():
    forecasts, truths, combined = slow_truths()
    report = changed(report_on(forecasts, truths, combined), "best convex combination", loss=math.nan)
    assert "convex" not in " ".join(headline(report))
    report = changed(report, "uniform mean", loss=math.inf)
    assert headline(report)[-1].endswith("; uniform mean, a mean loss of inf, where that of the mixture is 3.")
    first = report_on(forecasts[:1], truths[:1], combined[:1])  # there is no earlier truth
    assert "last truth" not in " ".join(headline(first))


def test_negative_losses_are_compared_without_ratios():
    """Losses of a user may be negative."""
    forecasts, truths, combined = slow_truths()
    report = report_on(forecasts, truths, combined)
    for name, loss in {"mixture": -2.0, "best expert": -3.0, "uniform mean": -1.0}.items():
        report = changed(report, name, loss=loss * report.n_scored)
    report = replace(report, comparators=tuple(row._replace(mixture_loss=-80.0) for row in report.comparators))
    assert headline(report)[:2] == [
        "The mean square loss of the mixture is -2.",
        "The best expert in hindsight (Low) is better: a mean loss of -3, where that of the mixture is -2.",
    ]


@pytest.mark.parametrize("seed", range(6))
def test_the_text_the_page_and_the_record_have_the_same_ratios(seed):
    random = np.random.default_rng(seed)
    truths = random.normal(size=50).cumsum()
    forecasts = truths[:, None] + random.normal(size=(50, 2)) * [0.3, 2.0]
    report = report_on(forecasts, truths, forecasts @ random.dirichlet([1, 1]))
    said = " ".join(headline(report))
    text = " ".join(report.text().split())
    assert said in text
    assert said in report_page(report).subtitle
    ratios = sorted(row_of(report, name).ratio for name in RIVALS)
    places = [said.index(f"{ratio:.3f} times") for ratio in ratios]
    assert places == sorted(places)  # the strongest is first
    for row in report.record()["comparators"]:
        assert row["ratio"] == pytest.approx(row["loss"] / row["mixture_loss"])
        if row["name"] in RIVALS:
            assert f"{row['ratio']:.3f} times" in said
        assert f"{row['ratio']:.3f}" in text


def test_nothing_is_said_about_cuts_if_there_are_none():
    report = report_on(*slow_truths(), cuts=(0, 0.0))
    assert "cut" not in (report.text() + report_page(report).subtitle).lower()
    cut = report_on(*slow_truths(), cuts=(1, 2.5))
    sentence = "In 1 round the losses were too large to be learned in full (cut); 2.5 in total was left out."
    assert sentence in " ".join(cut.text().split())
    assert report_page(cut).subtitle.endswith(sentence)


def test_the_command_prints_the_headline(monkeypatch, capsys, tmp_path):
    run = runner(monkeypatch, capsys, tmp_path)
    (tmp_path / "in.csv").write_text("y,Low,High\n" + "".join(f"{t},{t + 8},{t + 9}\n" for t in range(40)))
    left = run("combine", "in.csv", "--target", "y", "--out", "out", *FIXED_SHARE)
    said = " ".join(left.out.split())
    assert "The last truth repeated is better: 0.0" in said
    assert "Cut no losses" not in said
    ratio = json.loads((tmp_path / "out" / "summary.json").read_text())["report"]["comparators"][-1]["ratio"]
    assert f"The last truth repeated is better: {ratio:.3f} times the loss of the mixture." in said
    assert "The last truth repeated is better" in (tmp_path / "out" / "report.html").read_text()
