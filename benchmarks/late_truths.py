"""What late truths cost a mixture: its mean square loss, divided by that of the best expert in hindsight.

`python benchmarks/late_truths.py` takes about ten seconds. In the column `n`, the truth of a round is known when the
forecast is made `n` rounds later; with 1, before the next forecast.
"""

from __future__ import annotations

import numpy as np
from forecast_data import ForecastData, MissingPackage, load

from driftwise import AdaHedge, Mixture
from driftwise.report.tables import text_table

SETS = ("pollsters", "electricity", "water")  # one series each
DELAYS = (1, 2, 3, 7, 24)
MIXTURES = {
    "default": {},
    "gradient=False": {"gradient": False},
    "learner=AdaHedge()": {"learner": AdaHedge()},
}


def relative_loss(data: ForecastData, options: dict[str, object], delay: int) -> float:
    """Return the mean square loss with truths that are late, divided by that of the best expert."""
    mix = Mixture(data.names, **options)  # type: ignore[arg-type]
    forecasts = np.empty(len(data.truths))
    for t, row in enumerate(data.forecasts):
        if t >= delay:
            mix.update(data.truths[t - delay], key=t - delay)
        forecasts[t] = mix.predict(row, key=t)
    best = np.nanmean((data.forecasts - data.truths[:, None]) ** 2, axis=0).min()
    return float(np.nanmean((forecasts - data.truths) ** 2) / best)


def main() -> None:
    rows = []
    for name in SETS:
        try:
            data = load(name)
        except MissingPackage as missing:
            print(missing)
            continue
        for label, options in MIXTURES.items():
            rows.append([name, label, *(f"{relative_loss(data, options, delay):.2f}" for delay in DELAYS)])
    print(text_table(("data", "mixture", *map(str, DELAYS)), rows, left=2))


if __name__ == "__main__":
    main()
