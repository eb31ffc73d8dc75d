"""The documentation site: a page for every registered class and every theorem, code that runs, links that lead."""

from __future__ import annotations

import functools
import subprocess
import sys
import time
from pathlib import Path

import pytest
from docutils import nodes
from docutils.utils import new_document
from sphinx.errors import ExtensionError

from code_blocks import Block, BrokenPage, run_blocks
from driftwise.cli.catalogue import registries
from driftwise.core.docstrings import described
from driftwise.learners import Hedge
from driftwise.theory.statements import statements
from inline_figures import COLOURS, inlined
from looping import for_every
from member_figures import WITHOUT_DEFAULTS, draw
from offline_formulas import unread_formulas
from reference_pages import pages
from related_files import ROOT
from run_code import announced, run_session
from site_checks import check_links

OURS = [
    registry.get(name)
    for registry in registries().values()
    for name in registry
    if registry.get(name).__module__.startswith("driftwise.")  # tests register classes of their own
]
FOLDERS = {"path": "environments", "noise": "environments", "adversary": "adversaries"}
every_class = for_every("member", OURS, ids=lambda member: member.__name__)


@functools.cache
def all_pages():
    return dict(pages())


def page_of(member):
    folder = FOLDERS.get(member.kind, f"{member.kind}s")
    return all_pages()[f"{folder}/{member.name}.md"]


@every_class
def test_every_registered_class_has_a_page_with_all_its_parts(member):
    page, about = page_of(member), described(member)
    assert page.startswith(f"# {member.__name__}\n\n{about.summary}")
    assert " ".join(about.notes.split()) in " ".join(page.split())
    assert about.example in page
    assert all(f"| `{each.name}` |" in page for each in about.parameters)
    assert all(reference in page for reference in about.references)
    module = Path(sys.modules[member.__module__].__file__).relative_to(ROOT).as_posix()
    assert f"Source: `{module}`. Tests: `tests/" in page
    if member.kind in ("learner", "adversary"):
        assert "## Bound" in page
        assert "| regret | " in page


@every_class
def test_every_page_but_that_of_a_comparator_has_a_picture_of_the_class_at_work(member):
    required = {each.name for each in described(member).parameters if not each.default}
    if member.kind == "comparator":
        assert ".png" not in page_of(member)
    else:
        assert f"![{member.__name__} at work]({member.name}.png)" in page_of(member)
        assert required <= WITHOUT_DEFAULTS.get(member.name, {}).keys(), (
            "the picture needs a value for these parameters"
        )


@pytest.mark.parametrize("name", ["hedge", "switching", "two-point", "full-v", "page-hinkley"])
def test_pictures_are_drawn(name, tmp_path):
    member = next(member for member in OURS if member.name == name)
    draw(member, tmp_path / "pictures" / "one.png")
    assert (tmp_path / "pictures" / "one.png").read_bytes().startswith(b"\x89PNG")


@for_every("statement", statements.values(), ids=lambda statement: statement.slug)
def test_every_statement_of_the_paper_has_a_page_with_all_its_parts(statement):
    page = all_pages()[f"theorems/{statement.slug}.md"]
    assert page.startswith(f"# {statement.number}: ")
    assert statement.words in page
    assert f"$$ {statement.formula} $$" in page
    assert all(f"`{dotted}`" in page for dotted in statement.code)
    assert all(f"`{name}`" in page for name in statement.tests)


def test_every_page_is_in_an_index():
    folders = {name.partition("/")[0] for name in all_pages() if "/" in name}
    for folder in folders:
        listed = all_pages()[f"{folder}/index.md"].split("```{toctree}")[1].split()
        members = [name for name in all_pages() if name.startswith(f"{folder}/") and not name.endswith("/index.md")]
        assert sorted(f"{folder}/{name}.md" for name in listed if name not in (":hidden:", "```")) == sorted(members)


def test_blocks_share_a_process_and_a_folder():
    blocks = [
        Block("python", "x = 2\nopen('a.txt', 'w').write('b')\n"),
        Block("console", "$ driftwise list noises --json\n$ driftwise show \\\n    hedge\n"),
        Block("python", "print(x, open('a.txt').read())\n"),
        Block("py", "print(__name__, open('a.txt').read())\n"),
    ]
    printed = [outcome.printed for outcome in run_blocks(blocks)]
    assert printed[0] == ("",)
    assert [text.lstrip()[:1] for text in printed[1]] == ["[", "h"]
    assert printed[2:] == [("2 b\n",), ("__main__ b\n",)]


@pytest.mark.parametrize(
    ("block", "reason"),
    [
        (Block("python", "1 / 0\n"), "ZeroDivisionError"),
        (Block("python", "import warnings\nwarnings.warn('careful')\n"), "UserWarning: careful"),
        (Block("py", "raise SystemExit('no')\n"), "no"),
        (Block("console", "$ driftwise show hegde\n"), "Did you mean 'hedge'"),
        (Block("console", "$ ls\n"), "must start with"),
    ],
)
def test_a_block_that_fails_is_reported_with_its_text(block, reason):
    with pytest.raises(BrokenPage) as caught:
        run_blocks([Block("python", "print('fine')\n"), block])
    assert block.text in str(caught.value)
    assert reason in str(caught.value)


def site(folder: Path, page: str) -> subprocess.CompletedProcess[str]:
    """Build a site of one page with the extensions of ours."""
    (folder / "source").mkdir()
    (folder / "source" / "index.md").write_text(page, encoding="utf-8")
    (folder / "source" / "conf.py").write_text(
        f"import sys\nsys.path.insert(0, {str(ROOT / 'docs' / 'builder')!r})\n"
        "extensions = ['myst_parser', 'offline_formulas', 'run_code', 'name_links', 'site_checks']\n"
        "myst_enable_extensions = ['dollarmath']\nhtml_theme = 'basic'\nsource_suffix = {'.md': 'markdown'}\n"
        f"html_static_path = [{str(ROOT / 'docs' / 'static')!r}]\n",
        encoding="utf-8",
    )
    command = [sys.executable, "-m", "sphinx", "-W", "-q", str(folder / "source"), str(folder / "site")]
    return subprocess.run(command, capture_output=True, text=True, check=False)


PICTURE = "from driftwise import Bernoulli\nfrom matplotlib.figure import Figure\nprint(Bernoulli())\n"


def test_a_page_shows_what_its_code_printed_and_drew(tmp_path):
    drawing = "Figure().savefig('an-empty-picture.png')\n"
    page = f"# Page\n\nSee `tests/helpers/browser.py` and $x^2$.\n\n```python\n{PICTURE}{drawing}```\n"
    done = site(tmp_path, page)
    assert done.returncode == 0, done.stderr
    assert "Code: 1 blocks on 1 pages ran (1 python)" in done.stdout
    shown = (tmp_path / "site" / "index.html").read_text(encoding="utf-8")
    assert "Bernoulli()\n</pre>" in shown
    assert 'alt="an empty picture"' in shown
    assert 'href="_code/tests/helpers/browser.py.html"' in shown
    assert (tmp_path / "site" / "_code" / "tests" / "helpers" / "browser.py.html").exists()


def test_a_block_that_fails_fails_the_build(tmp_path):
    done = site(tmp_path, "# Page\n\n```python\nassert 1 == 2\n```\n")
    assert done.returncode != 0
    assert "AssertionError" in done.stderr


def test_a_session_with_another_outcome_fails_the_build():
    session = nodes.literal_block("", ">>> 1 + 1\n3", language="pycon")
    with pytest.raises(ExtensionError, match="Expected:\n    3\nGot:\n    2"):
        run_session("page", session)


def test_a_page_whose_code_takes_long_is_named(monkeypatch, capfd):
    monkeypatch.setattr("run_code._PATIENCE", 0.01)
    with announced("slow-page"):
        time.sleep(0.1)
    assert "the code of slow-page is running" in capfd.readouterr().out


def test_formulas_that_were_not_read_are_found():
    document = new_document("page")
    document += nodes.paragraph("", "", nodes.Text("in code: "), nodes.literal("", "$ driftwise"))
    assert unread_formulas(document) == []
    document += nodes.paragraph("", "", nodes.Text("half of $x"))
    assert unread_formulas(document) == ["half of $x"]


@pytest.mark.parametrize("path", sorted((ROOT / "docs").glob("*.svg")), ids=lambda path: path.stem)
def test_figures_have_the_colours_of_the_page_and_keep_their_style_to_themselves(path):
    drawing = inlined(path.read_text("utf-8"), "figure-1", 'weights "over" time')
    assert drawing.startswith(
        '<div class="inline-figure" id="figure-1" role="img" aria-label="weights &quot;over&quot; '
    )
    assert drawing.count("<style>#figure-1 {") == drawing.count("<style>") == 1
    assert drawing.count("{") == drawing.count("}")
    assert not any(grey in drawing for grey in COLOURS)


def test_links_to_missing_pages_names_and_pictures_are_found(tmp_path):
    (tmp_path / "a.html").write_text('<a href="b.html#here">x</a><a href="https://example.org">x</a>', "utf-8")
    (tmp_path / "b.html").write_text('<p id="here"></p><img src="c.png"><a href="a.html#there">x</a>', "utf-8")
    assert check_links(tmp_path) == (3, ["b.html: a.html#there", "b.html: c.png"])


def test_a_learner_is_drawn_with_its_tuning_rule():
    assert "record(Hedge.tuned, " in page_of(Hedge)
