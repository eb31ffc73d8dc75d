"""Quotation marks of CSV files, followed in blocks of any length, against the strict mode of Python's `csv`."""

import csv
import io
import random

import pytest

from driftwise.core.errors import BadData
from driftwise.environments import csv_tables
from driftwise.environments.csv_tables import Quotes
from driftwise.environments.table_files import TableSource

PIECES = ['"', '"', '"', '""', ",", "\n", "\r\n", "x"]


def fault(text, cuts=()):
    """Return the message about a text that is followed in blocks, "" if there is none."""
    quotes = Quotes(TableSource("in.csv"), ",")
    try:
        for first, last in zip([0, *cuts], [*cuts, len(text)], strict=True):
            quotes.add(text[first:last])
        quotes.end()
    except BadData as error:
        return str(error)
    return ""


def is_csv(text):
    try:
        list(csv.reader(io.StringIO(text, newline=""), strict=True))
    except csv.Error:
        return False
    return True


@pytest.mark.parametrize("short", [0, 10**9], ids=["at once", "one by one"])
def test_quotation_marks_are_refused_as_by_the_strict_csv_module_whatever_the_blocks(monkeypatch, short):
    draw = random.Random(1)
    n_refused = 0
    for _ in range(4000):
        text = "".join(draw.choices(PIECES, k=draw.randint(1, 14)))
        content = text.encode()
        monkeypatch.setattr(csv_tables, "_SHORT_TEXT", 10**9)
        message = fault(content)
        assert (message == "") == is_csv(text), text
        monkeypatch.setattr(csv_tables, "_SHORT_TEXT", short)
        cuts = sorted(draw.randint(0, len(content)) for _ in range(draw.randint(0, 4)))
        assert fault(content, cuts) == message, (text, cuts)
        n_refused += message != ""
    assert 1000 < n_refused < 3000
