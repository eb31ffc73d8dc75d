"""All code in the documentation runs."""

from __future__ import annotations

import ast
import functools
import pkgutil
import re
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest

from code_blocks import blocks_of, run_blocks
from looping import for_every
from outside_files import ROOT
from reference_pages import pages

PAGES = [ROOT / "README.md", *sorted((ROOT / "docs").glob("*.md")), *sorted((ROOT / "docs" / "tutorials").glob("*.md"))]
REFERENCE = ROOT / "docs" / "reference"


@functools.cache
def generated() -> set[Path]:
    """Return the pages of the reference, which `make docs` writes."""
    return {REFERENCE / name for name, _ in pages()}


def text_of(page: Path) -> str:
    """Return the text of a page."""
    return page.read_text(encoding="utf-8")


@pytest.mark.parametrize("page", [p for p in PAGES if blocks_of(text_of(p))], ids=lambda p: p.name)
def test_the_code_of_a_page_runs_top_to_bottom(page: Path) -> None:
    assert run_blocks(blocks_of(text_of(page)))


def test_the_example_of_a_cluster_is_that_on_the_page() -> None:
    """It is a file of its own, because worker processes import it."""
    whole_files = [block.text for block in blocks_of(text_of(ROOT / "docs" / "sweeps.md")) if block.language == "py"]
    assert whole_files == [text_of(ROOT / "examples" / "cluster.py")]


@for_every("page", PAGES, ids=lambda p: p.name)
def test_files_that_a_page_names_exist(page: Path) -> None:
    text = page.read_text(encoding="utf-8")
    for name in re.findall(r"`((?:src|tests|docs|examples|benchmarks|tools)/[\w./-]+)`", text):
        if not name.endswith(("/periodic_hedge.py", "/epsilon_greedy.py")):  # files that the reader writes
            assert (ROOT / name).exists(), name
    for target in re.findall(r"\]\((?!https?://)([\w./-]+)(?:#[\w-]+)?\)", text):
        file = (page.parent / target).resolve()
        assert file.exists() or (file.is_relative_to(REFERENCE) and file in generated()), target


@functools.cache
def packages_of_all() -> set[str]:
    """Return the packages that `pip install "driftwise[all]"` brings and a page may import."""
    project = tomllib.loads(text_of(ROOT / "pyproject.toml"))["project"]
    extras = project["optional-dependencies"]
    named = re.search(r"\[(.+)\]", extras["all"][0])
    assert named is not None
    required = [*project["dependencies"], *(each for name in named[1].split(",") for each in extras[name])]
    return {re.split(r"[^\w-]", each)[0] for each in required} | {"dask", "driftwise"}  # distributed installs dask


@for_every("page", [p for p in PAGES if blocks_of(text_of(p))], ids=lambda p: p.name)
def test_a_page_names_the_packages_to_install(page: Path) -> None:
    text = text_of(page)
    code = [ast.parse(block.text) for block in blocks_of(text) if block.language != "console"]
    nodes = [node for block in code for node in ast.walk(block)]
    modules = {alias.name for node in nodes if isinstance(node, ast.Import) for alias in node.names}
    modules |= {node.module for node in nodes if isinstance(node, ast.ImportFrom) and node.module}
    packages = {name.partition(".")[0] for name in modules} - sys.stdlib_module_names - packages_of_all()
    named = {word for line in re.findall(r"pip\s+install\s+([^`\n]+)", text) for word in line.split()}
    assert packages <= named


def test_tests_and_modules_that_a_page_names_exist() -> None:
    written = "\n".join(path.read_text(encoding="utf-8") for path in (ROOT / "tests").rglob("test_*.py"))
    for page in PAGES:
        text = page.read_text(encoding="utf-8")
        for name in re.findall(r"`(test_\w+)`", text):
            assert f"def {name}(" in written, f"{page.name}: {name}"
        for dotted in re.findall(r"`(driftwise(?:\.\w+)+)`", text):
            assert _resolves(dotted), f"{page.name}: {dotted}"


def test_every_erratum_has_a_test() -> None:
    written = (ROOT / "tests" / "theory" / "test_errata.py").read_text(encoding="utf-8")
    listed = re.findall(r"^\*\*E(\d+)\.", (ROOT / "docs" / "errata.md").read_text(encoding="utf-8"), re.MULTILINE)
    assert listed == [str(n) for n in range(1, 18)]
    assert all(f"def test_e{n}_" in written for n in listed)


def _resolves(dotted: str) -> bool:
    """Return whether a dotted name is a module or a name in one."""
    try:
        pkgutil.resolve_name(dotted)
    except (ImportError, AttributeError):
        return False
    return True


def test_the_generated_pages_are_those_of_the_registry_and_the_glossary() -> None:
    """`make docs` writes them. In another process, because tests may have registered other learners."""
    script = "import sys; sys.path.insert(0, 'docs'); import generate as g; sys.stdout.write(g.page() + g.glossary())"
    done = subprocess.run([sys.executable, "-c", script], cwd=ROOT, capture_output=True, text=True, check=True)
    pages = [(ROOT / "docs" / name).read_text(encoding="utf-8") for name in ("learners.md", "glossary.md")]
    assert done.stdout == "".join(pages)
