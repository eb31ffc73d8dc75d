"""A page like that of any grid of simulations: linear axes, negative regrets, no exponents, groups of its own."""

from __future__ import annotations

import numpy as np

from driftwise.report.page import (
    Axis,
    Filter,
    Line,
    Measured,
    Page,
    PageColumn,
    PageTable,
    Panel,
    Series,
    SeriesGroup,
    Text,
)

LEARNERS = {"hedge": "Static", "fixed-share": "Tracking", "optimistic-gd": "Tracking", "uniform weights": "Reference"}
ENVIRONMENTS = ["switching, 4 actions", "sinusoid, 2 actions"]
COLUMNS = [
    PageColumn("environment", "Environment", once=True),
    PageColumn("learner", "Learner", "series", card_label=""),
    PageColumn("rounds", "Rounds", "number"),
    PageColumn("regret", "Regret", "whisker", rules=[0.0]),
    PageColumn("bound", "Bound", "formula"),
    PageColumn("seconds", "Seconds", "number", decimals=3),
]


def plain_page() -> Page:
    """Return two panels on linear axes, one of them with negative regrets, and a table."""
    random = np.random.default_rng(5)
    panels, rows = [], []
    for i, environment in enumerate(ENVIRONMENTS):
        rounds = np.linspace(2000, 10000, 9)
        curves = []
        for j, (label, group) in enumerate(LEARNERS.items()):
            mean = (j - 1.5 * i) * 0.02 * rounds + 8 * np.sqrt(rounds / 1000) + random.normal(0, 6, rounds.size)
            width = 0.04 * np.abs(mean) + 8
            curves.append(Series(label, group, list(rounds), list(mean), list(mean - width), list(mean + width)))
            regret = Measured(mean[-1], mean[-1] - width[-1], mean[-1] + width[-1])
            name = Text(label, group.lower())
            rows.append([environment, name, 10000, regret, "sqrt(T ln(K))", 0.001234 * (j + 1)])
        bound = Line("sqrt(T ln(K))", "upper", list(rounds), list(3 * np.sqrt(rounds)))
        key = environment.split(",")[0]
        x, y = Axis("rounds"), Axis("static regret")
        panels.append(Panel(key, "", environment, x, y, curves, [bound] if i == 0 else []))
    return Page(
        "Simulations",
        table=PageTable(COLUMNS, rows, "Results", filter=Filter("environment", "Environment")),
        panels=panels,
        commands=["driftwise simulate grid.toml"],
        groups=[SeriesGroup("Tracking", "thick"), SeriesGroup("Static"), SeriesGroup("Reference", "baseline")],
        figures_heading="Regret over rounds",
    )
