"""Write the pages that come from the registry: `make docs`."""

from __future__ import annotations

import dataclasses
import sys
from pathlib import Path

from driftwise.detectors import detectors
from driftwise.learners import learners

HEADER = """# Learners

Made from the registry by `make docs`. `driftwise show NAME` tells what the parameters mean. K actions, T rounds, Gamma
segments, V drift, Lambda variance; a bound is up to constants, `learner.bound(measures)` has them.

"""

PRACTICE = """
## In practice

Where the default or the tuning that theory asks for costs much, and what costs less. The figures are dynamic
pseudo-regrets, means over 100 runs in worlds of [comparison.md](comparison.md), from `python benchmarks/constants.py`.

"""

DETECTORS = """
## Detectors

A detector watches the losses of each action inside `DetectAndRestart`, or any stream of numbers in [0, 1] by itself:
`driftwise.detectors.Monitor(CUSUM()).update(value)`, `CUSUM().alarms(values)`.

"""


def page() -> str:
    """Return the page of learners."""
    lines = [
        "| name | class | feedback | parameters | must be told | cost a round | regret | reference |",
        "|---|---|---|---|---|---|---|---|",
    ]
    for name in learners:
        member = learners.get(name)
        card = member.card
        parameters = ", ".join(f"`{f.name}`" for f in dataclasses.fields(member)) or "none"
        cells = [
            f"`{name}`", f"`{member.__name__}`", member.feedback, parameters,
            card.knows, card.cost, card.bound, card.reference,
        ]  # fmt: skip
        lines.append("| " + " | ".join(cell.replace("|", "\\|") for cell in cells) + " |")
    table = "\n".join(lines) + f"\n\n{len(learners)} learners.\n"
    return HEADER + table + PRACTICE + "\n".join(practice()) + "\n" + DETECTORS + "\n".join(rows()) + "\n"


def practice() -> list[str]:
    """Return what the cards say about theory and practice."""
    cards = {name: learners.get(name).card for name in learners}
    return [f"- `{name}`: {card.in_practice}." for name, card in cards.items() if card.in_practice]


def rows() -> list[str]:
    """Return the table of detectors."""
    lines = ["| name | class | parameters | what it asks |", "|---|---|---|---|"]
    for name in detectors:
        member = detectors.get(name)
        asks = (sys.modules[member.__module__].__doc__ or "").splitlines()[0].partition(": ")[2]
        parameters = ", ".join(f"`{f.name}`" for f in dataclasses.fields(member))
        lines.append(f"| `{name}` | `{member.__name__}` | {parameters} | {asks} |")
    return lines


if __name__ == "__main__":
    target = Path(__file__).parent / "learners.md"
    target.write_text(page(), encoding="utf-8")
    print(f"wrote {target}")
