"""A report on forecasts as text for a terminal, and the sentences that its text and its page share."""

from __future__ import annotations

import textwrap
from collections.abc import Sequence

from driftwise.forecasting.forecast_report import (
    SHOWN_SWITCHES,
    Comparison,
    ForecastReport,
    hidden_text,
    series_summaries,
)
from driftwise.report.number_text import fixed
from driftwise.report.tables import number, shortened, text_table, text_width

__all__ = ["counts_text", "cuts_text", "ratio_text", "report_text", "round_text", "short_number"]

_WIDTH = 80
_COMPARATOR, _EXPERT, _STRETCH, _TIME = 46, 26, 36, 24  # the widest names and times
_SERIES, _BEST = 18, 14  # and those in the table of the series, if it is too wide
_MOST_EXPERTS = 30
_MOST_TERMS = 12  # of the best convex combination
_SMALL_WEIGHT = 0.005  # not shown in it
_LARGE_RATIO = 1000
_LARGE = 1e7  # from here on, numbers have a power of ten
MARK = "*"


def report_text(report: ForecastReport) -> str:
    """Return a report as text, at most 80 columns wide."""
    head = [f"Mixture of {len(report.names)} expert{'s' * (len(report.names) != 1)}, {report.loss} loss."]
    head += counts_text(report)
    if report.cuts is not None:
        head.append(cuts_text(report))
    parts = ["\n".join(shortened(line, _WIDTH) for line in head)]
    if report.n_scored:
        parts += [_comparators(report), _experts(report)]
        parts += [_series(report)] if report.n_series > 1 else []
        parts.append(_stretches(report))
    return "\n\n".join(parts)


def counts_text(report: ForecastReport) -> list[str]:
    """Return sentences on the numbers of rounds."""
    series = f" of {report.n_series:,} series" if report.n_series != 1 else ""
    lines = [f"{_counted(report.n_rounds, 'round')}{series}, {report.n_scored:,} scored."]
    skipped = [
        (report.n_without_truth, "without truth"),
        (report.n_without_forecast, "without forecast"),
        (report.n_without_loss, "without a finite loss"),
    ]
    if any(n for n, _ in skipped):
        lines.append(f"Not scored: {', '.join(f'{n:,} {why}' for n, why in skipped if n)}.")
    return lines


def cuts_text(report: ForecastReport) -> str:
    """Return a sentence on the losses that were cut."""
    if report.cuts is None or not report.cuts.n_cuts:
        return "Cut no losses."
    n_cuts, total = report.cuts
    return f"Cut {n_cuts:,} {'loss' if n_cuts == 1 else 'losses'}, total {short_number(total)}."


def ratio_text(ratio: float) -> str:
    """Return a ratio as text."""
    return fixed(ratio, 3) if abs(ratio) < _LARGE_RATIO else short_number(ratio)


def short_number(value: float) -> str:
    """Return a number with four digits, in at most ten characters.

    >>> short_number(1234567.8), short_number(-1.25e40)
    ('1234568', '-1.25e+40')
    """
    return f"{value:.4g}" if abs(value) >= _LARGE else number(value)


def round_text(report: ForecastReport, t: int) -> str:
    """Return a round as text, with the time of the period that begins with it if it is known.

    The end of the last period has none.
    """
    place = t // report.periods.length
    if t % report.periods.length == 0 and place < len(report.periods.times):
        return f"{t} ({shortened(report.periods.times[place], _TIME)})"
    return str(t)


def _counted(n: int, what: str) -> str:
    return f"{n:,} {what}{'s' * (n != 1)}"


def _comparators(report: ForecastReport) -> str:
    rows = [_comparison(one) for one in report.comparators]
    table = text_table(["", "hindsight", "mean loss", "ratio"], rows, left=2)
    lines = ["Ratio: to the loss of the mixture over the same rounds."]
    if any(one.n_awake < report.n_scored for one in report.experts):
        lines.append("In hindsight, an expert that was asleep has the loss of the mixture.")
    if report.n_series > 1:
        lines.append(
            "Losses are summed over all series. The best expert and the best convex combination are one for all series,"
            " the best sequences one for each."
        )
    lines += [f"{MARK} {one.name}: {one.note}." for one in report.comparators if one.note]
    return "\n".join([table, *_combination(report), *(line for text in lines for line in _wrapped(text))])


def _combination(report: ForecastReport) -> list[str]:
    """Return lines with the weights of the best convex combination, the largest first."""
    if report.combination is None:
        return []
    ordered = sorted(zip(report.combination, report.names, strict=True), key=lambda one: -one[0])
    shown = [one for i, one in enumerate(ordered) if i == 0 or one[0] >= _SMALL_WEIGHT]
    terms = [f"{weight:.2f} {shortened(name, _EXPERT)}" for weight, name in shown[:_MOST_TERMS]]
    terms += [f"{len(shown) - _MOST_TERMS} more"] if len(shown) > _MOST_TERMS else []
    terms[-1] += "."
    lines = ["Best convex combination:"]
    for i, term in enumerate(terms):
        added = f" + {term}" if i else f" {term}"
        if text_width(lines[-1] + added) > _WIDTH:
            lines.append(" ")
        lines[-1] += added
    return lines


def _comparison(one: Comparison) -> list[str]:
    name = one.name + (MARK if one.note else "")
    named = one.detail and one.name == "best expert"  # the weights of a combination have lines of their own
    shown = shortened(f"{name}: {one.detail}" if named else name, _COMPARATOR)
    return [shown, "yes" if one.hindsight else "no", short_number(one.mean), ratio_text(one.ratio)]


def _experts(report: ForecastReport) -> str:
    """Return the table of experts, the best first; the columns about sleep only if somebody was asleep."""
    ordered = sorted(report.experts, key=lambda one: one.filled_loss)
    slept = any(one.n_awake < report.n_scored for one in ordered)
    headers = ["expert", "weight", "mean loss", "ratio", *(["awake", "filled"] if slept else [])]
    rows = []
    for one in ordered[:_MOST_EXPERTS]:
        row = [shortened(one.name, _EXPERT), fixed(one.weight, 3), short_number(one.mean), ratio_text(one.ratio)]
        if slept:
            awake = one.n_awake / report.n_scored
            row += [f"{100 * awake:.0f} %", short_number(one.filled_loss / report.n_scored)]
        rows.append(row)
    lines = []
    if len(ordered) > _MOST_EXPERTS:
        lines.append(f"{len(ordered) - _MOST_EXPERTS} more experts are not shown.")
    if slept:
        lines.append(
            "Mean loss and ratio: over the rounds in which the expert was awake. Filled: mean loss over all scored"
            " rounds, with the loss of the mixture where the expert was asleep."
        )
    return "\n".join([text_table(headers, rows), *(line for text in lines for line in _wrapped(text))])


def _series(report: ForecastReport) -> str:
    """Return the table of the series with the most rounds."""
    table = _series_table(report, _EXPERT, _EXPERT)
    if max(map(text_width, table.splitlines())) > _WIDTH:
        table = _series_table(report, _SERIES, _BEST)
    about = (
        "Mean losses of the mixture and the uniform mean; the best expert of the series in hindsight, and the ratio of"
        " its loss to that of the mixture."
    )
    return "\n".join([table, *(line for text in (about, hidden_text(report)) for line in _wrapped(text))])


def _series_table(report: ForecastReport, widest_name: int, widest_expert: int) -> str:
    headers = ["series", "best expert", "rounds", "mixture", "ratio", "uniform"]
    rows = [
        [
            shortened(one.name, widest_name),
            shortened(one.best_expert, widest_expert) or "-",
            str(one.n_scored),
            short_number(one.mixture),
            ratio_text(one.ratio),
            short_number(one.uniform),
        ]
        for one in series_summaries(report)
    ]
    return text_table(headers, rows, left=2)


def _stretches(report: ForecastReport) -> str:
    """Return the best sequence of experts with few switches as a table."""
    stretches = report.best_sequence()
    length = report.periods.length
    where = f" between periods of {length} rounds" if length > 1 else ""
    series = ", the same for all series" if report.n_series > 1 else ""
    head = f"Best sequence of experts in hindsight, at most {SHOWN_SWITCHES} switches{where}{series}:"
    rows = [[round_text(report, one.first), shortened(one.expert, _STRETCH)] for one in stretches]
    return "\n".join([*_wrapped(head), text_table(["from round", "expert"], rows, left=2)])


def _wrapped(text: str) -> Sequence[str]:
    return textwrap.wrap(text, _WIDTH)
