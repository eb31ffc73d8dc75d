"""Tutorials as notebooks: the text and the code of the page, in its order, and nothing that leads nowhere."""

import ast
import re

import pytest

from code_blocks import blocks_of
from notebooks import notebook, tutorials
from related_files import ROOT

PAGES = tutorials(ROOT / "docs")


@pytest.mark.parametrize("path", PAGES, ids=lambda path: path.stem)
def test_a_notebook_has_the_code_and_the_text_of_its_page(path):
    page = path.read_text("utf-8")
    made = notebook(page)
    assert (made["nbformat"], made["nbformat_minor"]) == (4, 5)
    assert len({cell["id"] for cell in made["cells"]}) == len(made["cells"])
    first, *_ = made["cells"]
    assert first["cell_type"] == "markdown"
    assert "".join(first["source"]).startswith(page.splitlines()[0])
    code = ["".join(cell["source"]) for cell in made["cells"] if cell["cell_type"] == "code"][1:]
    blocks = [block for block in blocks_of(page) if block.language != "py"]
    assert len(code) == len(blocks)
    for cell, block in zip(code, blocks, strict=True):
        if block.language == "python":
            assert cell.startswith(block.text.rstrip("\n"))
            ast.parse(cell)
        else:
            assert all(line.startswith("!") for line in cell.split("\nfrom IPython")[0].splitlines())
    prose = "".join("".join(cell["source"]) for cell in made["cells"] if cell["cell_type"] == "markdown")
    assert not re.search(r"\]\((?!https?:)", prose)


def test_pictures_are_shown_and_commands_are_one_line():
    page = '# Title\n\n```python\nresults.plot("a.png")\n```\n\n```console\n$ driftwise list \\\n    learners\n```\n'
    cells = notebook(page)["cells"]
    assert ["".join(cell["source"]) for cell in cells[2:]] == [
        'results.plot("a.png")\n\nfrom IPython.display import SVG, Image, display\n\ndisplay(Image("a.png"))',
        "!driftwise list learners",
    ]
