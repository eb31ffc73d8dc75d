"""Frames of forecasts for several steps, with the times at which they were issued."""

import numpy as np
import pandas as pd


def windows(n_series=2, n_issues=30, every=3, steps=3, seed=0):
    """Return forecasts of the next steps, issued every so many hours; fewer hours than steps: they overlap."""
    rng, rows = np.random.default_rng(seed), []
    start = pd.Timestamp("2024-03-30")  # a day before the clocks of Europe change
    for s in range(n_series):
        truths = 10 * np.sin(np.arange(n_issues * every + steps) / 4 + s) + rng.normal(size=n_issues * every + steps)
        for i in range(n_issues):
            for h in range(1, steps + 1):
                t = i * every + h - 1
                errors = rng.normal(size=3) * (1.0, 0.3, h) + (0.5, 0, 0)
                rows.append(
                    {"unique_id": f"s{s}", "ds": start + pd.Timedelta(hours=t),
                     "cutoff": start + pd.Timedelta(hours=i * every - 1), "step": h, "y": truths[t],
                     **dict(zip("abc", truths[t] + errors, strict=True))}
                )  # fmt: skip
    frame = pd.DataFrame(rows)
    frame.loc[frame.index[5::17], "b"] = np.nan
    unknown = frame["ds"].isin(frame["ds"].unique()[7::11])
    return frame.assign(y=frame["y"].where(~unknown))


def day_ahead():
    """Return 40 days of hours without random numbers, issued an hour before each day."""
    n_hours, n_days = 24, 40
    t = np.arange(n_hours * n_days)
    day = t // n_hours
    truths = 100 + (day * 37 % 81 - 40) + (t * 7 % 5 - 2)
    experts = {f"m{i}": 100 + 20 * (i - 2) + (t * (3 + i) % 7 - 3) for i in range(5)}
    return pd.DataFrame({"unique_id": "a", "ds": t, "cutoff": day * n_hours - 1, "y": truths, **experts}).astype(
        {"y": float, **dict.fromkeys(experts, float)}
    )
