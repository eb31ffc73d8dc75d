"""Table 1 on the page of the landscape: four cells from the file of results, which is what the code measures."""

from __future__ import annotations

import dataclasses
import functools
import json
import os
import re
from xml.etree import ElementTree

import numpy as np
import pytest

import landscape_table
from driftwise.landscape.outcomes import measure, rates
from driftwise.landscape.scans import CELLS
from driftwise.theory.statements import statements
from landscape_results import RESULTS, SEED, as_json, read_results
from landscape_table import picture, table_cells, with_parts, write_site
from related_files import ROOT

PAGE = (ROOT / "docs" / "landscape.md").read_text(encoding="utf-8")
_NUMBER = r"-?\d+\.\d+"
_EXPONENT = re.compile(
    rf"Exponent of \$T\$: printed (\S+), measured \*\*({_NUMBER}) \(({_NUMBER}) \.\. ({_NUMBER})\)\*\*"
)


@functools.cache
def outcomes():
    return read_results()


def cells():
    return {cell.key: cell for cell in table_cells(outcomes())}


def card(cell):
    """Return the text of a cell on the page."""
    table = PAGE.partition("<!-- table:")[2].partition("<!-- end of table -->")[0]
    (found,) = [card for card in table.split(":::{grid-item-card} ")[1:] if card.lower().startswith(CELLS[cell] + "\n")]
    return found


def test_the_table_comes_before_every_heading_and_block_of_code():
    before = PAGE.partition("<!-- table:")[0]
    assert before.count("#") == before.count("# Table 1") + before.count("](#")
    assert "```" not in before


@pytest.mark.parametrize("cell", CELLS)
def test_every_cell_has_the_rate_and_the_exponent_with_its_interval_in_the_results(cell):
    text, shown = card(cell), cells()[cell]
    rate = re.search(r"^\$(.*)\$$", text, re.MULTILINE)[1]
    assert re.sub(r"[\\{}()\s]", "", rate) == re.sub(r"[()\s]", "", rates(cell)[1].text)
    ((printed, *measured),) = _EXPONENT.findall(text)
    assert printed == str(shown.printed)
    np.testing.assert_allclose([*map(float, measured)], shown.outcome.exponent, atol=6e-4)
    assert f"`{shown.outcome.participant.label}`" in text
    assert f":file: _landscape/{cell}.svg" in text
    assert f"\n({re.search(r'Why.][(]#(.*?)[)]', text)[1]})=\n" in PAGE
    assert f'href="{landscape_table.INTERACTIVE}#{shown.outcome.scan.key}"' in text


def test_the_printed_exponents_are_those_of_the_paper_for_fixed_measures():
    assert [str(cell.printed) for cell in cells().values()] == ["0", "1/3", "1/2", "1/2"]


def test_the_parts_of_the_page_are_those_of_the_results():
    """`python docs/generate.py` writes them. Digits are left out: the last may differ between releases of SciPy."""
    first, second = (re.sub(r"\d", "0", " ".join(text.split())) for text in (PAGE, with_parts(PAGE, outcomes())))
    assert first == second


@pytest.mark.parametrize("cell", CELLS)
def test_the_results_are_those_of_the_code(cell, tmp_path):
    """Two runs of the learner that is shown, at the smallest value. Where they differ: `make table`."""
    outcome = cells()[cell].outcome
    scan = dataclasses.replace(outcome.scan, values=outcome.scan.values[:1], participants=(outcome.participant,))
    (again,) = measure([scan], 2, SEED, tmp_path)
    np.testing.assert_allclose(again.measurements[0].regrets, outcome.measurements[0].regrets[:2], rtol=1e-6)


@pytest.mark.parametrize("cell", CELLS)
def test_a_picture_has_a_dot_for_each_value_two_lines_and_no_colour_of_its_own(cell):
    text, outcome = picture(cells()[cell]), cells()[cell].outcome
    assert len([*ElementTree.fromstring(text).iter("circle")]) == len(outcome.x)
    assert text.count('class="printed"') == 1
    assert not re.search(r"#[0-9a-fA-F]{3}|rgb", text)
    positions = [float(value) for value in re.findall(r'(?:c?[xy][12]?)="(-?[\d.]+)%"', text)]
    assert 0 <= min(positions) <= max(positions) <= 100


def test_the_slope_of_a_picture_is_the_exponent():
    fits = []
    for cell in cells().values():
        data = ElementTree.fromstring(picture(cell)).find("g[@class='data']")
        fitted = data.findall("line")[-1].attrib
        across, down = (float(fitted[f"{axis}2"][:-1]) - float(fitted[f"{axis}1"][:-1]) for axis in "xy")
        fits.append((-down / across, cell.outcome.exponent.exponent))
    scale = fits[-1][0] / fits[-1][1]
    assert all(slope == pytest.approx(scale * exponent, abs=1e-3) for slope, exponent in fits)


def test_results_are_read_as_they_were_written(tmp_path):
    target = tmp_path / "results.json"
    target.write_text(as_json(outcomes()), encoding="utf-8")
    assert target.read_bytes() == RESULTS.read_bytes()


def test_results_of_other_learners_are_refused(tmp_path):
    target = tmp_path / "results.json"
    target.write_text(json.dumps(json.loads(RESULTS.read_text(encoding="utf-8"))[1:]), encoding="utf-8")
    with pytest.raises(SystemExit, match="is not about the learners of the landscape"):
        read_results(target)


def test_the_interactive_page_has_all_figures_and_is_written_once(tmp_path, monkeypatch):
    monkeypatch.setattr(landscape_table, "weight_histories", lambda *_: [])
    write_site(tmp_path)
    target = tmp_path / "site" / landscape_table.INTERACTIVE
    text = target.read_text(encoding="utf-8")
    assert all(f'id="{outcome.scan.key}"' in text for outcome in outcomes())
    assert f'href="{landscape_table.INTERACTIVE}"' in " ".join(PAGE.partition("<!-- table:")[0].split())
    later = target.stat().st_mtime + 1
    os.utime(target, (later, later))
    write_site(tmp_path)
    assert target.stat().st_mtime == later


def test_the_page_has_no_labels_of_the_papers_source():
    labels = {each.label.partition(":")[2] or each.label for each in statements.values() if each.label}
    written = PAGE + " ".join(outcome.scan.description for outcome in outcomes())
    assert not [label for label in labels if f"({label})" in written]
