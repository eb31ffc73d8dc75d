"""Write the pages that come from the registry, the glossary and the measured Table 1: `make docs`."""

from __future__ import annotations

import re
import sys
import textwrap
from pathlib import Path
from typing import Any

from driftwise.core.docstrings import described
from driftwise.detectors import detectors
from driftwise.glossary import Word, words
from driftwise.learners import Learner, learners

sys.path.insert(0, str(Path(__file__).parent / "builder"))

from landscape_results import read_results
from landscape_table import with_parts

HEADER = """# Learners

Generated from the docstrings of the registered classes by `make docs`; `driftwise show NAME` prints one in full.

$K$ actions, $T$ rounds, $\\Gamma$ segments, $V$ drift, $\\Lambda$ variance; $r$ are regrets of single rounds,
$\\Delta_i$ is the gap of action $i$. Regret is given up to constants; `learner.bound(measures)` has the constants.
"Must know" is what the parameters should be set by.

"""

SOURCES = """
## Algorithms and sources

"""

PRACTICE = """
## In practice

Learners whose default or tuned parameters, as theory sets them, have much more regret than other values. The figures
are dynamic pseudo-regrets, means over 100 runs in environments of [comparison.md](comparison.md), from `python
benchmarks/constants.py`.

"""

TUNING = """
## Tuning

`tuned(measures)` sets the parameters by the rule of a learner's source. Some rules are meaningless in some
environments: on a sinusoid the means change in every round, and a rule based on the number of changes makes a learner
explore in every round. There `tuned` still returns what the rule gives, and issues a `TuningWarning`; `simulate`
marks the learner with a star in its results, tables and figures, `driftwise landscape` in its tables and on its page.
A dash: the rule does not depend on changes, or is meaningful for any number of them. The reasons are in
[decisions.md](decisions.md).

"""

GLOSSARY = r"""# Glossary

One word per thing, in the code, the documentation and the messages, and every quantity that a table prints. Generated
from `src/driftwise/glossary.toml` by `make docs`; `driftwise show WORD` prints an entry, also for the heading of a
column, and `driftwise list words` lists them.

Formulas: $T$ rounds, $K$ actions, losses $\ell_t \in [0, 1]^K$ with means $\mu_t$, and the play $p_t$, a distribution
over actions (with bandit feedback it is on one action). Regret is defined under regret, dynamic regret, static regret,
switched regret, interval regret, pseudo-regret and realised regret.

"""

DEVELOPERS = """## Words for developers

Who reads the code, or adds to it, meets these too.

"""

FIRST_WORDS = (
    "action", "round", "loss", "learner", "full feedback", "bandit feedback", "environment", "regret", "comparator",
    "dynamic regret", "segments", "drift", "variance", "bound", "ratio",
)  # fmt: skip

DETECTORS = """
## Detectors

A detector monitors the losses of each action inside `DetectAndRestart`, or any stream of numbers in [0, 1]:
`driftwise.detectors.Monitor(CUSUM()).update(value)`, `CUSUM().alarms(values)`.

"""


def page() -> str:
    """Return the page of learners."""
    lines = [
        "| class and name | feedback | must know | time per round | regret |",
        "|---|---|---|---|---|",
    ]
    for name in learners:
        member = learners.get(name)
        facts = described(member).facts
        cells = [
            f"`{member.__name__}`, `{name}`", member.feedback,
            *(sentence(facts[fact]) for fact in ("Must know", "Time per round", "Regret")),
        ]  # fmt: skip
        lines.append(row(cells))
    table = "\n".join(lines) + f"\n\n{len(learners)} learners."
    sections = [
        table,
        SOURCES + "\n".join(sources()),
        PRACTICE + "\n".join(practice()),
        TUNING + "\n".join(rules()),
        DETECTORS + "\n".join(rows()),
    ]
    return HEADER + "\n".join(sections) + "\n"


def glossary() -> str:
    """Return the page of words: letters of the alphabet before signs."""
    first = ", ".join(f"[{word}](#{_anchor(word)})" for word in FIRST_WORDS)
    start = textwrap.fill(f"Words to know first: {first}.", 120, break_on_hyphens=False)
    ordered = sorted(words().values(), key=lambda each: (not each.word[0].isalpha(), each.word.lower()))
    parts = [_entries([word for word in ordered if word.for_developers == is_last]) for is_last in (False, True)]
    return GLOSSARY + f"{start}\n\n{parts[0]}\n{DEVELOPERS}{parts[1]}"


def _entries(some: list[Word]) -> str:
    """Return the table of some words."""
    lines = ["| word | what it is |", "|---|---|"]
    for word in some:
        name = f'<a id="{_anchor(word.word)}"></a>{word.word}' + (f" ({word.symbol})" if word.symbol else "")
        definition = f"{word.meaning}: ${word.formula}$" if word.formula else word.meaning
        more = [
            f"Also `{'`, `'.join(word.also)}`." if word.also else "",
            f"In tables of {', '.join(f'`driftwise {each}`' for each in word.tables)}." if word.tables else "",
        ]
        lines.append(row([name, " ".join([f"{definition}.", *filter(None, more)])]))
    return "\n".join(lines) + "\n"


def _anchor(word: str) -> str:
    """Return the name that a link to a word uses."""
    return "word-" + (re.sub(r"[^a-z0-9]+", "-", word.lower().replace("*", " star")).strip("-") or "sign")


def row(cells: list[str]) -> str:
    """Return a row of a table."""
    return "| " + " | ".join(cell.replace("|", "\\|") for cell in cells) + " |"


def parameters(member: type[Any]) -> str:
    """Return the names of a class's parameters."""
    return ", ".join(f"`{each.name}`" for each in described(member).parameters) or "none"


def sentence(text: str) -> str:
    """Return the first sentence of a fact, without its full stop."""
    return text.partition(". ")[0].removesuffix(".")


def sources() -> list[str]:
    """Return the summary and the references of every learner."""
    about = {name: described(learners.get(name)) for name in learners}
    return [f"- `{name}`: {each.summary} {' '.join(each.references)}" for name, each in about.items()]


def practice() -> list[str]:
    """Return what the docstrings say about theory and practice."""
    facts = {name: described(learners.get(name)).facts for name in learners}
    return [f"- `{name}`: {each['In practice']}" for name, each in facts.items() if "In practice" in each]


def rules() -> list[str]:
    """Return the table of tuning rules, from the docstrings of `tuned` and `tuning_caveat`."""
    lines = ["| name | rule | meaningless where |", "|---|---|---|"]
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
    lines = ["| name | class | parameters | what it detects |", "|---|---|---|---|"]
    for name in detectors:
        member = detectors.get(name)
        lines.append(row([f"`{name}`", f"`{member.__name__}`", parameters(member), described(member).summary]))
    return lines


if __name__ == "__main__":
    folder = Path(__file__).parent
    measured = with_parts((folder / "landscape.md").read_text(encoding="utf-8"), read_results())
    for name, text in (("learners.md", page()), ("glossary.md", glossary()), ("landscape.md", measured)):
        target = folder / name
        target.write_text(text, encoding="utf-8")
        print(f"wrote {target}")
