"""Write the pages that come from the registry: `make docs`."""

from __future__ import annotations

import dataclasses
import sys
from pathlib import Path

from driftwise.detectors import detectors
from driftwise.learners import Learner, learners

HEADER = """# Learners

Made from the registry by `make docs`. `driftwise show NAME` tells what the parameters mean. K actions, T rounds, Gamma
segments, V drift, Lambda variance; a bound is up to constants, `learner.bound(measures)` has them.

"""

PRACTICE = """
## In practice

Where the default or the tuning that theory asks for costs much, and what costs less. The figures are dynamic
pseudo-regrets, means over 100 runs in worlds of [comparison.md](comparison.md), from `python benchmarks/constants.py`.

"""

TUNING = """
## Tuning

`tuned(measures)` sets the parameters as the source of a learner says. A rule may be asked about a world of which it
says nothing: on a sinusoid, for one, the means change in every round, and a rule that goes by their number makes a
learner explore in every round. There `tuned` returns what the rule says and gives a `TuningWarning`; `simulate` marks
the learner with a star in its results, tables and figures, `driftwise landscape` in its tables and on its page. A
dash: the rule is not told of changes, or gives what means something however many there are. The reasons are in
[decisions.md](decisions.md).

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
    table = "\n".join(lines) + f"\n\n{len(learners)} learners."
    sections = [table, PRACTICE + "\n".join(practice()), TUNING + "\n".join(rules()), DETECTORS + "\n".join(rows())]
    return HEADER + "\n".join(sections) + "\n"


def practice() -> list[str]:
    """Return what the cards say about theory and practice."""
    cards = {name: learners.get(name).card for name in learners}
    return [f"- `{name}`: {card.in_practice}." for name, card in cards.items() if card.in_practice]


def rules() -> list[str]:
    """Return the table of rules for tuning, in the words of the learners."""
    lines = ["| name | rule | says nothing where |", "|---|---|---|"]
    for name in learners:
        member = learners.get(name)
        if member.tuned.__func__ is Learner.tuned.__func__:
            continue
        where = "-"
        if member.tuning_caveat is not Learner.tuning_caveat:
            where = (member.tuning_caveat.__doc__ or "").removeprefix("Return a reason where ").removesuffix(".")
        rule = (member.tuned.__doc__ or "").splitlines()[0].removesuffix(".")
        lines.append(f"| `{name}` | {rule} | {where} |")
    return lines


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
