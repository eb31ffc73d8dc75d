"""Write the pages that come from the registry: `make docs`."""

from __future__ import annotations

import dataclasses
from pathlib import Path

from driftwise.learners import learners

HEADER = """# Learners

Made from the registry by `make docs`. `driftwise show NAME` tells what the parameters mean. K actions, T rounds, Gamma
segments, V drift, Lambda variance; a bound is up to constants, `learner.bound(measures)` has them.

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
    return HEADER + "\n".join(lines) + f"\n\n{len(learners)} learners.\n"


if __name__ == "__main__":
    target = Path(__file__).parent / "learners.md"
    target.write_text(page(), encoding="utf-8")
    print(f"wrote {target}")
