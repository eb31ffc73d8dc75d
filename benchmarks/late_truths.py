"""What late truths cost a mixture: its mean square loss, divided by that of the best expert in hindsight.

`python benchmarks/late_truths.py` takes about ten seconds. In the column `n`, the truth of a round is known when the
forecast is made `n` rounds later; with 1, before the next forecast.
"""

from __future__ import annotations

import numpy as np
from forecast_data import MissingPackage, load
from forecasts import Scores

from driftwise import AdaHedge, Mixture
from driftwise.report.tables import text_table

SETS = ("pollsters", "electricity", "water")  # one series each
DELAYS = (1, 2, 3, 7, 24)
MIXTURES = {
    "default": {},
    "gradient=False": {"gradient": False},
    "learner=AdaHedge()": {"learner": AdaHedge()},
}


def relative_loss(scores: Scores, options: dict[str, object], delay: int) -> float:
    """Return the mean square loss with truths that are late, divided by that of the best expert."""
    data = scores.data
    mix = Mixture(data.names, **options)  # type: ignore[arg-type]
    forecasts = np.empty(len(data.truths))
    for t, row in enumerate(data.forecasts):
        if t >= delay:
            mix.update(data.truths[t - delay], key=t - delay)
        forecasts[t] = mix.predict(row, key=t)
    return scores.relative(forecasts)


def main() -> None:
    rows = []
    for name in SETS:
        try:
            scores = Scores(load(name))
        except MissingPackage as missing:
            print(missing)
            continue
        for label, options in MIXTURES.items():
            rows.append([name, label, *(f"{relative_loss(scores, options, delay):.2f}" for delay in DELAYS)])
    print(text_table(("data", "mixture", *map(str, DELAYS)), rows, left=2))


if __name__ == "__main__":
    main()
