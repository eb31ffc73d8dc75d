"""Every promise of SECURITY.md names tests that exist."""

import re
from pathlib import Path

ROOT = Path(__file__).parents[2]
TEXT = (ROOT / "SECURITY.md").read_text(encoding="utf-8")
FILE = re.compile(r"`(tests/[\w/]+\.py)`")


def section(title):
    return TEXT.split(f"## {title}\n")[1].split("\n## ")[0]


def test_the_tests_that_are_named_exist():
    files = set(FILE.findall(TEXT))
    assert len(files) > 10
    for file in files:
        assert "\ndef test_" in (ROOT / file).read_text(encoding="utf-8"), file


def test_every_kind_of_file_and_every_promise_about_folders_names_a_test():
    rows = [line for line in section("What is promised about files").splitlines() if line.startswith("| ")][1:]
    promises = re.split(r"^- ", section("What is promised about folders").split("What remains")[0], flags=re.M)[1:]
    assert len(rows) == 5
    assert len(promises) == 4
    for promise in (*rows, *promises):
        assert FILE.search(promise), promise
