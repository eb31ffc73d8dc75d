"""Approval of a president, day by day: five pollsters, and a mixture that learns which of them to trust.

The data come with river. Each morning the mixture combines the five numbers of the pollsters; then it is told the
average of FiveThirtyEight, which is the truth here. Run: python examples/pollsters.py [FOLDER]
"""

import sys
from pathlib import Path

from river.datasets import TrumpApproval

from driftwise.forecasting import Mixture

POLLSTERS = ("gallup", "ipsos", "morning_consult", "rasmussen", "you_gov")


def main(folder: Path) -> None:
    mixture = Mixture(POLLSTERS)
    for day, truth in TrumpApproval():
        mixture.predict({name: day[name] for name in POLLSTERS})
        mixture.update(truth)
    report = mixture.report()
    print(report.text())
    folder.mkdir(parents=True, exist_ok=True)
    report.plot(folder / "pollsters.png")
    print(f"\nThe picture is in {folder / 'pollsters.png'}.")


if __name__ == "__main__":
    main(Path(sys.argv[1] if len(sys.argv) > 1 else "out"))
