"""A page like that of a measurement of the whole Table 1, computed from the rates themselves."""

from __future__ import annotations

from functools import cache

import numpy as np

from driftwise.landscape.pages import FIGURES_HEADING, GROUPS, HINT, page_table
from driftwise.report.page import Axis, Claim, Line, Measured, Page, Panel, Series, Text, WeightHistory

FULL = [
    ("OptimisticGD", "paper", 1.0),
    ("RestartedAdaptiveGD", "paper", 1.25),
    ("SleepingOptimisticAdaptMLProd", "parameter-free", 2.1),
    ("Sword", "parameter-free", 1.5),
    ("AdaNormalHedgeTV", "cited", 3.0),
    ("FixedShare", "cited", 2.6),
]
BANDIT = [
    ("RerunUCBV", "paper", 1.0),
    ("SlidingWindowUCB", "cited", 1.4),
    ("Rexp3", "cited", 2.3),
    ("Master", "parameter-free", 5.2),
    ("BanditOverBandit", "parameter-free", 2.7),
    ("OracleRestarts", "baseline", 0.45),
]
# cell, learners, axis, its name, values, upper, lower, exponent of the lower bound, excess exponent of cited learners
CELLS = [
    ("full information, switching", FULL, "Gamma", "segments Γ", [2, 4, 8, 16, 32, 64],
     "sqrt(Gamma Lambda) + sqrt(K) Gamma", "sqrt(Gamma Lambda) + Gamma", 0.5, 0.12),
    ("full information, drifting", FULL, "V", "drift V", [1, 2, 4, 8, 16, 32],
     "(Lambda V T)^(1/3) + sqrt(K) V", "(Lambda V T)^(1/3) + V", 1 / 3, 0.1),
    ("bandit, switching", BANDIT, "T", "rounds T", [1000, 4000, 16000, 64000, 256000],
     "-", "sqrt(Gamma T)", 0.5, 0.15),
    ("bandit, drifting", BANDIT, "Lambda", "variance Λ", [10, 40, 160, 640, 2560],
     "(K^2 Lambda V T)^(1/3) + sqrt(K V T)", "(Lambda V T)^(1/3) + sqrt(V T)", 0.33, -0.2),
]  # fmt: skip
ENVIRONMENTS = ["benign: {}, Bernoulli losses", "adversary: {}, built against each learner"]


@cache
def fake_page() -> Page:
    random = np.random.default_rng(7)
    rows, panels = [], []
    for cell, learners, axis, word, values, upper, lower, rate, slack in CELLS:
        for number, environment in enumerate(ENVIRONMENTS):
            x = np.array(values, dtype=float)
            floor = 6.0 * x**rate * (1.0 if number == 0 else 1.6)
            series = []
            for label, role, factor in learners:
                steeper = slack if role == "cited" else 0.0
                mean = 2.2 * factor * floor * (x / x[0]) ** steeper * np.exp(random.normal(0, 0.05, x.size))
                width = 1.96 * mean * 0.07 * (1 + number)
                slope = float(np.polyfit(np.log(x), np.log(mean), 1)[0])
                spread = 0.02 + 0.015 * float(random.random())
                numbers = [list(map(float, part)) for part in (mean, mean - width, mean + width)]
                exponent = Measured(slope, slope - spread, slope + spread)
                series.append(Series(label, GROUPS[role].name, values, *numbers, exponent))
                ratio = mean / floor
                kind = cell.split(", ")[1]
                rows.append(
                    [Text(cell, environment.format(kind)), Text(label, GROUPS[role].name.lower()), axis, upper, lower,
                     exponent, f"{ratio.min():.1f} to {ratio.max():.1f}"]
                )  # fmt: skip
            lines = [Line(lower, "lower", values, list(map(float, floor)))]
            if upper != "-":
                lines.insert(0, Line(upper, "upper", values, list(map(float, 9.0 * floor))))
            key = "-".join([*cell.replace(",", "").split(), "benign" if number == 0 else "adversary"])
            title = ["Benign environment: Bernoulli losses", "Adversary, built against each learner"][number]
            section = cell[:1].upper() + cell[1:]
            panels.append(Panel(key, section, title, Axis(word, "log"), Axis("dynamic regret", "log"), series, lines))
    return Page(
        title="Tracking the best expert, measured",
        subtitle="Table 1 of Wei, Hong and Lu (NIPS 2016): proved regret bounds, and the regret measured in"
        " environments whose segments, drift and variance are known exactly.",
        table=page_table(rows),
        panels=panels,
        histories=[
            fake_history("history-optimistic-gd", "OptimisticGD", 0.03),
            fake_history("history-fixed-share", "FixedShare", 0.008),
            fake_history("history-exp3-s", "Exp3S", 0.003, n_actions=9),
        ],
        claims=[
            Claim(
                "With full information and switching means, regret grows as the square root of the number of"
                " segments, as the upper and the lower bound say.",
                True,
                [("exponent in Γ", "0.50 [0.48, 0.52]"), ("regret / lower bound", "2.1 to 2.4"), ("runs", "50")],
            ),
            Claim(
                "The regret of a parameter-free learner exceeds that of one tuned to Γ and Λ by at most a factor ln T.",
                True,
                [("Algorithm 4 / Algorithm 2", "2.0 to 2.2"), ("ln T at the longest", "12.5")],
            ),
            Claim(
                "With bandit feedback, the variance does not affect regret with switching means.",
                False,
                [("exponent in Λ", "0.02 [-0.01, 0.05]")],
            ),
        ],
        commands=["make setup", "driftwise landscape --preset standard --seed 1"],
        notes=[
            "Regret is the dynamic pseudo-regret: the learner's expected loss minus that of the best action of every"
            " round, in terms of the true means.",
            "Bands and brackets are 95 % intervals over runs; exponents are least-squares slopes on logarithmic axes,"
            " their intervals by bootstrap over runs.",
        ],
        groups=list(GROUPS.values()),
        figures_heading=FIGURES_HEADING,
        hint=HINT,
    )


def fake_history(key: str, learner: str, speed: float, n_actions: int = 4) -> WeightHistory:
    """Weights that move towards the best action, at a given speed, with some noise."""
    random = np.random.default_rng(3)
    n_rounds, every = 4000, 10
    change_points = [700, 1500, 1900, 2900]
    segment = np.searchsorted(change_points, np.arange(n_rounds), side="right")
    best = np.array([0, 2, 1, 3, 0])[segment]
    weights = np.full(n_actions, 1.0 / n_actions)
    history = []
    for t in range(n_rounds):
        target = 0.05 / n_actions + 0.95 * np.eye(n_actions)[best[t]]
        weights = weights + speed * (target - weights) + random.normal(0, 0.006, n_actions)
        weights = np.clip(weights, 0.0, None)
        weights /= weights.sum()
        history.append(weights)
    kept = np.arange(0, n_rounds, every)
    return WeightHistory(
        key,
        f"A switching environment with {n_actions} actions",
        learner,
        [int(t) for t in kept],
        np.array(history)[kept].T.tolist(),
        [int(k) for k in best[kept]],
        change_points,
    )
