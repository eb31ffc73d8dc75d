"""Read mutated and forged results, and put hostile labels into everything that is written of them: `make fuzz`.

    python tests/helpers/fuzz_results.py --cases 2000

A case is one of these, by its number and the seed:

- file: results of a simulation or of a sweep with mutated bytes, or a file of another kind, read by `driftwise results`
- cells: forged cells with huge numbers, wrong lengths, repetitions and hostile labels; what the readers accept is
  printed as a table and as JSON, and written as CSV, Parquet, LaTeX and a page
- page: a page of a sweep or of the landscape, with a hostile label in place of every text; also its figures as SVG
- figure: results of a simulation with hostile labels, drawn as SVG
- history: `driftwise history` on a recording with mutated bytes or hostile names
- regret: `driftwise regret` and `driftwise history` with hostile options

Every command must succeed, or print exactly one line and exit with 1 or 2. In what is written, labels are text: a page
and a figure have only elements and attributes of a page with plain labels, every line of a terminal is printable, LaTeX
has only commands that the table is made of, and no field of CSV is a formula or breaks its row. The numbers of cases
that were refused and that were played on are printed; the first fault ends the program.
"""

from __future__ import annotations

import argparse
import contextlib
import csv
import dataclasses
import faulthandler
import functools
import json
import math
import re
import shutil
import signal
import sqlite3
import tempfile
import time
import traceback
import warnings
from collections import Counter
from html.parser import HTMLParser
from pathlib import Path
from xml.etree import ElementTree

import numpy as np

from command_line import run_here
from driftwise import Bernoulli, Environment, Hedge, Replay, Sweep, Switching, simulate
from driftwise.core.errors import DriftwiseError
from driftwise.learners import UCB1
from driftwise.report.page import Page, write_figures
from driftwise.report.page.write import page_text
from driftwise.results import CellTable, SweepResults, write_cells
from driftwise.sweeps.results_page import results_page
from fake_page import fake_page
from mutating import mutations
from stored_cells import SWITCHING, cell, stored

SECONDS = 60  # for a case; most take hundredths
HOSTILE = [
    "</script><script>alert(1)</script>",
    "</style></title></svg><img src=x onerror=alert(1)>",
    "\" onmouseover=\"alert(1)\" x='",
    "' autofocus onfocus='alert(1)",
    "<svg/onload=alert(1)>",
    "<!--",
    "-->",
    "]]>",
    "&lt;script&gt;&#60;b&#62;",
    "javascript:alert(1)",
    "${title} $title {{title}} {0} %s %(title)s",
    "=cmd()",
    "+1+cmd()",
    "-1+cmd()",
    "@SUM(1,2)",
    "\t=cmd()",
    "\r=cmd()",
    'a,b;"c"\n=d',
    "\\input{/etc/passwd} \\write18{x} $x^2$ & % # _ { } ~ ^ \\",
    "\\end{tabular}}}\\immediate",
    "^^5cinput ^^M",
    "a\nb\r\nc\x0bd\x85e\u2028f",
    "\x1b[31mred\x1b]0;title\x07",
    "\0",
    "\u202egnp.exe\u2066\u200f",
    "e\u0301\u0301\u0301\u0301 Γ 中文 🎉",
    "x" * 20_000,
    "<b>" * 500,
    "",
    " ",
    "../../etc/passwd",
    "con.html",
    "*",
    "**",
    "[a]",
    "null",
    "NaN",
    "1e999",
    "\ud800",
]  # fmt: skip
NUMBERS = [0.0, -0.0, 1.0, -1.0, math.nan, math.inf, -math.inf, 1e308, -1e308, 1.7e308, 5e-324, 1e-300, 1e16, 12.07]
COUNTS = [0, 1, 2, 7, 100, 2**31, 2**53, 2**62, 2**63 - 1, -1]
FORMULA = ("=", "+", "-", "@")
WORDS = """
begin end toprule midrule bottomrule multicolumn textit textsuperscript par smallskip footnotesize char textbackslash
textasciicircum textasciitilde mathbf infty u r H v c ss ae AE o O l L pm leq geq dots varsigma
"""
COMMANDS = {f"\\{name}" for name in (*WORDS.split(), *"(){}$&#%_,\\ `'^~=.\"")}  # of the table and of `escaped`


class Fault(Exception):
    """Something that must not happen."""


def require(holds, what):
    if not holds:
        raise Fault(what)


# Commands


def outcome(*words):
    """Run a command that must succeed, or refuse in one line; return its output, None if it refused."""
    with warnings.catch_warnings():
        warnings.simplefilter("error", RuntimeWarning)  # of NumPy: an overflow that was not thought of
        code, out, err = run_here(*words)
    require(code in (0, 1, 2), f"exit code {code}")
    lines = err.splitlines()
    require(all(line.isprintable() for line in err.split("\n")), f"control characters in {err!r}")
    if code == 0:
        require(all(line.startswith(("driftwise: ", "wrote ")) for line in lines), f"notes {err!r}")
        return out
    usage = lines[:1] and lines[0].startswith("Usage: ")  # of an option, by Click
    require(usage or (len(lines) == 1 and lines[0].startswith("driftwise: ")), f"refused with {err!r}")
    require(len(err) < 3000, f"refused with {len(err)} characters")
    return None


def check_printed(text):
    for line in text.split("\n"):
        spaces = "".join(c for c in line if not c.isprintable())
        require(not spaces.strip("\u00a0\u2000\u2001\u2002\u2003\u3000"), f"control characters in {line[:300]!r}")


# Formats


class Outline(HTMLParser):
    """The elements of a page with the names of their attributes, and links that lead elsewhere."""

    def __init__(self, text):
        super().__init__()
        self.names, self.elsewhere, self.n_scripts = set(), [], 0
        self.feed(text)
        self.close()

    def handle_starttag(self, tag, attrs):
        self.n_scripts += tag == "script"
        self.names.update({(tag, ""), *((tag, name) for name, _ in attrs)})
        self.elsewhere += [v for name, v in attrs if name in ("href", "src") and not v.startswith(("#", "data:"))]

    def handle_comment(self, data):
        self.names.add(("comment", data[:20]))

    def handle_decl(self, decl):
        self.names.add(("declaration", decl[:20]))

    def unknown_decl(self, data):
        self.names.add(("declaration", data[:20]))


@functools.cache
def plain_elements():
    """Return the elements and attributes of pages with plain labels, and of their figures."""
    pages = [page_text(page) for page in plain_pages()]
    figures = set()
    with tempfile.TemporaryDirectory() as folder:
        for i, page in enumerate(plain_pages()):
            write_figures(Path(folder) / str(i), page)
        for file in Path(folder).rglob("*.svg"):
            figures |= svg_names(file.read_text(encoding="utf-8"))
    return set().union(*(Outline(text).names for text in pages)), figures


@functools.cache
def plain_pages():
    """Return pages with every kind of content: of the landscape, and of sweeps, with and without a baseline."""
    cells = [
        cell(
            name,
            run_number,
            regret=0.1 * place + run_number + n_rounds,
            n_rounds=n_rounds,
            environment={**SWITCHING, "n": place % 2},
            caveat="why" if place == 2 else "",
            rounds=np.array([n_rounds // 2, n_rounds]),
            regrets=np.array([1.0, 2.0 + place + run_number]),
            bounds=np.array([3.0, 4.0]),
        )
        for place, name in enumerate(("hedge", "ucb1", "learner-x", "learner-y"))
        for run_number in range(3)
        for n_rounds in (100, 200)
    ]
    results = SweepResults(CellTable.from_records(cells), {})
    one = SweepResults(CellTable.from_records([record for record in cells if record.n_rounds == 100]), {})
    signed = SweepResults(CellTable.from_records([cell(run=i, regret=-i - 1.0) for i in range(3)]), {})
    return (
        fake_page(),
        results_page(results, ["command"]),
        results_page(results, ["command"], against="hedge"),
        results_page(one, against="hedge", simultaneous=True),
        results_page(signed),
    )


def check_page(text):
    outline, (known_names, _) = Outline(text), plain_elements()
    require(outline.names <= known_names, f"elements {sorted(outline.names - known_names)[:5]}")
    require(not outline.elsewhere, f"links {outline.elsewhere[:3]}")
    return outline.n_scripts


def svg_names(text):
    root = ElementTree.fromstring(text)
    return {(element.tag, name) for element in root.iter() for name in ("", *element.attrib)}


def check_latex(text):
    body = text.split("\n", 1)[1]
    commands = set(re.findall(r"\\(?:[A-Za-z]+|.)", body, re.DOTALL))
    greek = {name for name in commands if re.fullmatch(r"\\[A-Za-z]{2,7}", name) and rf"\({name}\)" in body}
    require(commands <= COMMANDS | greek, f"LaTeX commands {sorted(commands - COMMANDS - greek)[:5]}")
    require("^^" not in body, "LaTeX characters by number")
    depth = 0
    for piece in re.findall(r"\\.|[{}]", body, re.DOTALL):
        depth += {"{": 1, "}": -1}.get(piece, 0)
        require(depth >= 0, "LaTeX braces")
    require(depth == 0, "LaTeX braces")
    for line in body.splitlines():
        require(not re.search(r"(?<!\\)[%#$_]", line), f"LaTeX line {line[:200]!r}")


def check_csv(file, n_rows):
    with file.open(newline="", encoding="utf-8") as stream:
        header, *rows = csv.reader(stream)
    require(len(rows) == n_rows, f"{len(rows)} rows of CSV for {n_rows} cells")
    for row in rows:
        require(len(row) == len(header), "a row of CSV with another length")
        for name, text in zip(header, row, strict=True):
            try:
                float(text)
            except ValueError:
                starts = text.lstrip()[:1] in FORMULA and text.strip("+- \t\r\n")
                require(not (text.strip() and starts), f"a formula in CSV, column {name}: {text[:80]!r}")


# Cases


@functools.cache
def examples():
    """Return the content of a file of `simulate`, of an export of a sweep and of the database of a sweep."""
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        environment = Environment(Switching(2, 3), Bernoulli())
        simulate(environment, [Hedge(), UCB1()], 40, 3, seed=1).save(folder / "simulated.parquet")
        results = Sweep({"a": environment}, [Hedge(), UCB1()], [20, 40], n_runs=2, seed=1).run(folder / "store")
        results.to_parquet(folder / "swept.parquet")
        with contextlib.closing(sqlite3.connect(folder / "store" / "cells.sqlite")) as database:
            database.execute("PRAGMA wal_checkpoint(TRUNCATE)")
        names = ("simulated.parquet", "swept.parquet", "store/cells.sqlite")
        return {name: (folder / name).read_bytes() for name in names}


def mutated(rng, content):
    return next(mutations(content, 1, [int(word) for word in rng.integers(0, 2**31, 2)]))


def case_file(rng, folder):
    """Read a damaged file."""
    names = [*examples(), "x.csv", "x.json", "x.parquet"]
    name = str(rng.choice(names))
    if name in examples():
        content = mutated(rng, examples()[name])
    else:
        content = [b"", b"learner,regret\nhedge,1\n", b'{"cells": [1e999]}', b"PAR1", rng.bytes(60)][rng.integers(5)]
    file = folder / name
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_bytes(content)
    options = [["--json"], ["--failed"], ["--against", "hedge"], ["--page", folder / "x.html"]][rng.integers(4)]
    printed = outcome("results", file.parent if name.startswith("store") else file, *options)
    if printed is None:
        return "refused"
    check_printed(printed)
    return "played on"


def label(rng):
    text = "".join(HOSTILE[i] for i in rng.integers(0, len(HOSTILE), rng.integers(1, 3)))
    return text if rng.integers(3) else HOSTILE[rng.integers(len(HOSTILE))]


def unicode(text):
    return text.encode(errors="replace").decode()


def forged(rng):
    """Return a cell that may break any rule."""
    n = int(rng.integers(1, 4))
    fields = {
        "learner": {"name": label(rng)} if rng.integers(2) else "hedge",
        "environment": [{**SWITCHING, "n": label(rng)}, {"replay": label(rng)}, {label(rng): 1}, SWITCHING][
            rng.integers(4)
        ],
        "run": int(rng.integers(0, 3)),
        "seed": int(rng.integers(0, 2)),
        "regret": float(rng.choice(NUMBERS)),
        "bound": float(rng.choice(NUMBERS)),
    }
    more = {}
    for name in ("comparator", "play", "caveat", "error", "machine"):
        if rng.integers(4) == 0:
            more[name] = label(rng)
    for name in ("drift", "variance", "deviation", "movement", "best_loss", "seconds"):
        if rng.integers(3) == 0:
            more[name] = float(rng.choice(NUMBERS))
    for name in ("n_rounds", "n_actions", "segments", "stored"):
        if rng.integers(6) == 0:
            more[name] = int(rng.choice(COUNTS))
    if rng.integers(3) == 0 and not more.get("error"):
        lengths = [n, n, n if rng.integers(4) else n + 1]
        more["rounds"] = np.cumsum(rng.integers(1, 30, lengths[0]))
        more["regrets"], more["bounds"] = (rng.choice(NUMBERS, length) for length in lengths[1:])
    if rng.integers(10) == 0:
        more["kind"] = label(rng)
    if rng.integers(10) == 0:
        more["key"] = label(rng)
    if rng.integers(2):  # usual values only, so that more cells are accepted
        more = {name: value for name, value in more.items() if name in ("caveat", "error", "comparator")}
        more = {name: unicode(value) for name, value in more.items()}
    return fields, more


def case_cells(rng, folder):
    """Store forged cells, and print and write what is accepted."""
    records = []
    alike = rng.integers(2)  # cells of the same learners, so that there are means and pairs of extreme numbers
    for i in range(rng.integers(1, 12)):
        fields, more = forged(rng)
        if alike:
            fields |= {"learner": ("hedge", "ucb1")[i % 2], "environment": SWITCHING, "run": i // 2, "seed": 0}
            more = {name: value for name, value in more.items() if name in ("caveat", "movement", "drift")}
        with contextlib.suppress(DriftwiseError, UnicodeEncodeError, TypeError):
            record = cell(**fields, **more)
            CellTable.from_records([record])
            records.append(record)
    if not records:
        return "refused"
    if rng.integers(4) == 0:
        records.append(records[0])
    names = [unicode(label(rng)) for _ in range(2)]
    labels = {
        "environments": {record.environment: names[i % 2] for i, record in enumerate(records)},
        "learners": {record.learner: unicode(label(rng)) for record in records},
    }
    if rng.integers(3) == 0:
        labels = {}
    where = folder / "cells.parquet"
    try:
        if rng.integers(2):
            where = stored(folder / "store", records, labels.get("environments"), labels.get("learners"))
        else:
            write_cells(where, CellTable.from_records(records), {"labels": labels})
    except DriftwiseError as refusal:
        require("\n" not in str(refusal), f"refused with {refusal}")
        return "refused"
    results = SweepResults.read(where)
    results.environment_labels  # noqa: B018 (made when they are first used)
    baseline = str(rng.choice([*results.learner_labels.names, "*"]))
    files = {name: folder / f"x.{name}" for name in ("csv", "parquet", "page", "latex")}
    words = [word for name, file in files.items() for word in (f"--{name}", file)]
    against = ["--against", baseline] if rng.integers(2) and not baseline.startswith("-") else []
    printed = outcome("results", where, *words, *against, *([["--failed"], []][rng.integers(2)]))
    if printed is None:
        return "refused"
    check_printed(printed)
    check_page(files["page"].read_text(encoding="utf-8"))
    check_latex(files["latex"].read_text(encoding="utf-8"))
    check_csv(files["csv"], len(results.cells))
    again = SweepResults.read(files["parquet"])
    require(len(again.cells) == len(results.cells), "an export with other cells")
    require(sorted(again.learners) == sorted(results.learners), "an export with other labels")
    printed = outcome("results", where, "--json", "--failed", *against)
    require(printed is not None, "JSON is refused where a table is not")
    json.loads(printed, parse_constant=lambda word: require(False, f"{word} in JSON"))
    return "played on"


def with_labels(value, rng, share):
    """Return contents of a page in which texts are replaced by hostile labels where the rules allow it."""
    if isinstance(value, str):
        return label(rng) if rng.random() < share else value
    if isinstance(value, tuple) and hasattr(value, "_fields"):
        return type(value)(*(with_labels(part, rng, share) for part in value))
    if isinstance(value, list | tuple):
        return [with_labels(part, rng, share) for part in value]
    if isinstance(value, dict):
        return {key: with_labels(part, rng, share) for key, part in value.items()}
    if not dataclasses.is_dataclass(value):
        return value
    for field in dataclasses.fields(value):
        before = getattr(value, field.name)
        with contextlib.suppress(DriftwiseError):  # one of a few words, a key, or texts that must differ
            value = dataclasses.replace(value, **{field.name: with_labels(before, rng, share)})
    return value


def case_page(rng, folder):
    """Write a page and its figures with hostile labels."""
    page = plain_pages()[rng.integers(len(plain_pages()))]
    hostile: Page = with_labels(page, rng, float(rng.choice([0.05, 0.5, 1.0])))
    n_scripts = check_page(page_text(hostile))
    require(n_scripts == Outline(page_text(page)).n_scripts, f"{n_scripts} scripts")
    try:
        write_figures(folder / "figures", hostile)
    except DriftwiseError as refusal:  # a key that is too long for the name of a file
        require("\n" not in str(refusal), f"refused with {refusal}")
        return "refused"
    for file in (folder / "figures").iterdir():
        require(file.resolve().parent == (folder / "figures").resolve(), f"a figure at {file}")
        names = svg_names(file.read_text(encoding="utf-8"))
        require(names <= plain_elements()[1], f"elements of a figure: {sorted(names - plain_elements()[1])[:5]}")
    return "played on"


@functools.cache
def drawn_elements():
    with tempfile.TemporaryDirectory() as folder:
        simulate(Replay(np.eye(3)), {"a": Hedge(), "b": UCB1()}, n_runs=3).plot(
            Path(folder) / "x.svg", lines={"c": 1.0}
        )
        return svg_names((Path(folder) / "x.svg").read_text(encoding="utf-8"))


def case_figure(rng, folder):
    """Draw results with hostile labels, and print their table."""
    names = [label(rng) for _ in range(3)]
    try:
        results = simulate(
            Replay(np.eye(3), origin=unicode(label(rng))), {names[0]: Hedge(), names[1]: UCB1()}, n_runs=2
        )
    except DriftwiseError as refusal:
        require("\n" not in str(refusal), f"refused with {refusal}")
        return "refused"
    results.plot(folder / "x.svg", lines={unicode(names[2]): 1.0})
    found = svg_names((folder / "x.svg").read_text(encoding="utf-8"))
    require(found <= drawn_elements(), f"elements of a figure: {sorted(found - drawn_elements())[:5]}")
    check_printed(results.table())
    results.to_csv(folder / "x.csv")
    check_csv(folder / "x.csv", results.regrets.size)
    results.save(folder / "x.parquet")
    check_printed(outcome("results", folder / "x.parquet"))
    return "played on"


def case_history(rng, folder):
    """Play one run on a damaged recording, or on one with hostile names."""
    losses = rng.random((rng.integers(1, 30), 3)).round(3)
    if rng.integers(2):
        file = folder / "losses.csv"
        with file.open("w", newline="", encoding="utf-8") as stream:
            csv.writer(stream).writerows([[unicode(label(rng)) for _ in range(3)], *losses.tolist()])
    else:
        file = folder / "losses.npy"
        np.save(file, losses)
    if rng.integers(2):
        file.write_bytes(mutated(rng, file.read_bytes()))
    name = str(rng.choice(["hedge", "ucb1", "tracker", "bandit-tracker", "exp3"]))
    words = ["history", "--replay", file, "--learner", name, "--seed", int(rng.integers(0, 9))]
    words += [["--rounds", 5], ["--points", 1], ["--json"], []][rng.integers(4)]
    words += ["--figure", folder / "x.svg"] if rng.integers(8) == 0 else []
    printed = outcome(*words)
    if printed is None:
        return "refused"
    check_printed(printed)
    if (folder / "x.svg").exists():
        svg_names((folder / "x.svg").read_text(encoding="utf-8"))
    return "played on"


def case_regret(rng, folder):
    """Give hostile options: nothing of them names a cell or a learner, so all are refused before anything is played."""
    text = unicode(label(rng)).replace("\0", "0")
    text = f"x{text}" if text.startswith("-") or not text.strip("* ") else text
    words = [
        ("regret", "--cells", text, "--out", folder / "out"),
        ("regret", "--learners", text, "--out", folder / "out"),
        ("history", "--learner", text, "--rounds", 5),
        ("history", "--learner", f"hedge:{text}=1", "--rounds", 5),
        ("history", "--learner", "hedge", "--path", text, "--rounds", 5),
        ("landscape", "--learners", text, "--out", folder / "out"),
        ("results", folder / "none", "--learner", text),
        ("simulate", "--learner", text, "--quiet", "--rounds", 5),
    ][rng.integers(8)]
    require(outcome(*words) is None, f"accepted {text!r}")
    require(not (folder / "out").exists(), "a refused command left files")
    return "refused"


CASES = {
    "file": case_file,
    "cells": case_cells,
    "page": case_page,
    "figure": case_figure,
    "history": case_history,
    "regret": case_regret,
}
SHARES = ("file", "file", "cells", "cells", "cells", "page", "page", "figure", "history", "regret")


def play(number, seed, only=None):
    """Play one case; return its kind and its outcome."""
    rng = np.random.default_rng([seed, number])
    kind = only or SHARES[number % len(SHARES)]
    folder = Path(tempfile.mkdtemp())
    signal.alarm(SECONDS)
    try:
        return kind, CASES[kind](rng, folder)
    finally:
        signal.alarm(0)
        shutil.rmtree(folder, ignore_errors=True)


def fuzz(n_cases, seed, only=None):
    """Play cases; return the counts of outcomes. A fault is raised with the number of its case."""
    signal.signal(signal.SIGALRM, lambda *_: (_ for _ in ()).throw(Fault(f"no end after {SECONDS} s")))
    counts = Counter()
    for number in range(n_cases):
        try:
            kind, ending = play(number, seed, only)
        except Exception as error:
            error.add_note(f"case {number} of seed {seed}{f', only {only}' if only else ''}")
            raise
        counts[f"{kind} {ending}"] += 1
    return counts


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--cases", type=int, default=2000)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--only", choices=CASES, help="cases of one kind")
    parser.add_argument("--case", type=int, help="one case")
    parser.add_argument("--all", action="store_true", help="go on after a fault, and list the faults at the end")
    settings = parser.parse_args()
    faulthandler.enable()
    began = time.monotonic()
    if settings.case is not None:
        print(play(settings.case, settings.seed, settings.only))
    elif settings.all:
        faults = Counter()
        for number in range(settings.cases):
            try:
                faults[play(number, settings.seed, settings.only)] += 1
            except Exception as error:
                place = traceback.extract_tb(error.__traceback__)[-1]
                text = f"BROKE {type(error).__name__}: {str(error)[:150]} [{Path(place.filename).name}:{place.lineno}]"
                if not faults[text]:
                    print(f"case {number}: {text}", flush=True)
                faults[text] += 1
        print(json.dumps({str(name): n for name, n in faults.items()}, indent=1))
    else:
        counts = fuzz(settings.cases, settings.seed, settings.only)
        taken = f"{settings.cases} cases of seed {settings.seed} in {time.monotonic() - began:.0f} s"
        print(f"{taken}: {dict(sorted(counts.items()))}, none broke")


if __name__ == "__main__":
    main()
