"""Mutated and forged results, and hostile labels in everything that is written of them; `make fuzz` has more cases."""

from __future__ import annotations

import numba
import pytest

import fuzz_results
from driftwise.report.page import markup
from driftwise.results import latex_tables, results, sweep_results

pytestmark = pytest.mark.skipif(numba.config.DISABLE_JIT, reason="nothing here depends on the compiler")


def test_results_are_read_or_refused_and_labels_are_text() -> None:
    counts = fuzz_results.fuzz(50, seed=3)
    assert counts.total() == 50
    assert {name.split()[0] for name in counts} == {*fuzz_results.CASES}
    assert all(counts[f"{kind} played on"] for kind in ("cells", "page", "figure", "history"))
    assert all(counts[f"{kind} refused"] for kind in ("file", "cells", "history", "regret"))


@pytest.mark.parametrize(
    ("module", "name", "change", "kind", "message"),
    [
        (markup, "_escaped", str, "page", "elements|attribute|scripts|not well-formed|mismatched|syntax"),
        (latex_tables, "escaped", str, "cells", "LaTeX"),
        (results, "_csv_field", lambda value: value, "cells", "CSV"),
        (sweep_results, "one_line", str, "cells", "control characters"),
    ],
    ids=["page", "latex", "csv", "terminal"],
)
def test_a_missing_escape_is_detected(module, name, change, kind, message, monkeypatch) -> None:
    fuzz_results.plain_elements()  # of plain labels, with the escape
    monkeypatch.setattr(module, name, change)
    with pytest.raises(Exception, match=message):
        fuzz_results.fuzz(60, seed=3, only=kind)
