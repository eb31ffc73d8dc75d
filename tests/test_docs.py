"""All code in the documentation runs."""

from __future__ import annotations

import pkgutil
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent
PAGES = [ROOT / "README.md", *sorted((ROOT / "docs").glob("*.md"))]
SHELL = Path(sys.executable).parent


def blocks(page: Path, language: str) -> list[str]:
    """Return the fenced blocks of one language."""
    return re.findall(rf"^```{language}\n(.*?)^```", page.read_text(encoding="utf-8"), re.MULTILINE | re.DOTALL)


@pytest.mark.parametrize("page", [p for p in PAGES if blocks(p, "python")], ids=lambda p: p.name)
def test_python_on_a_page_runs_top_to_bottom(page: Path, tmp_path: Path) -> None:
    script = tmp_path / "page.py"
    text = "\n".join(blocks(page, "python"))
    # A reader who follows the page has this learner in the package too.
    script.write_text(text.replace('"discounted-hedge"', '"learner-of-the-page"'), encoding="utf-8")
    done = subprocess.run(
        [sys.executable, "-W", "error", script.name], cwd=tmp_path, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stderr


@pytest.mark.parametrize("page", [p for p in PAGES if blocks(p, "console")], ids=lambda p: p.name)
def test_commands_on_a_page_run(page: Path, tmp_path: Path) -> None:
    shutil.copytree(ROOT / "examples", tmp_path / "examples")
    for block in blocks(page, "console"):
        for command in re.findall(r"^\$ (driftwise (?:.*\\\n)*.*)", block, re.MULTILINE):
            line = f"'{SHELL}'/{command}"
            done = subprocess.run(line, shell=True, cwd=tmp_path, capture_output=True, text=True, check=False)
            assert done.returncode == 0, f"{command}\n{done.stderr}"


def test_the_example_of_a_cluster_runs_and_is_that_on_the_page(tmp_path: Path) -> None:
    """In a file of its own, because worker processes import it."""
    shutil.copytree(ROOT / "examples", tmp_path / "examples")
    done = subprocess.run(
        [sys.executable, "-W", "error", "examples/cluster.py"],
        cwd=tmp_path,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    assert len(done.stdout.splitlines()) == 4
    assert blocks(ROOT / "docs" / "sweeps.md", "py") == [(ROOT / "examples" / "cluster.py").read_text(encoding="utf-8")]


@pytest.mark.parametrize("page", PAGES, ids=lambda p: p.name)
def test_files_that_a_page_names_exist(page: Path) -> None:
    text = page.read_text(encoding="utf-8")
    for name in re.findall(r"`((?:src|tests|docs|examples|benchmarks|tools)/[\w./-]+)`", text):
        if not name.endswith(("/discounted_hedge.py", "/epsilon_greedy.py")):  # files that the reader writes
            assert (ROOT / name).exists(), name
    for target in re.findall(r"\]\((?!https?://)([\w./-]+)(?:#[\w-]+)?\)", text):
        assert (page.parent / target).exists(), target


def test_tests_and_modules_that_a_page_names_exist() -> None:
    written = "\n".join(path.read_text(encoding="utf-8") for path in (ROOT / "tests").glob("test_*.py"))
    for page in PAGES:
        text = page.read_text(encoding="utf-8")
        for name in re.findall(r"`(test_\w+)`", text):
            assert f"def {name}(" in written, f"{page.name}: {name}"
        for dotted in re.findall(r"`(driftwise(?:\.\w+)+)`", text):
            assert _resolves(dotted), f"{page.name}: {dotted}"


def test_every_erratum_has_a_test() -> None:
    written = (ROOT / "tests" / "test_errata.py").read_text(encoding="utf-8")
    listed = re.findall(r"^\*\*E(\d+)\.", (ROOT / "docs" / "errata.md").read_text(encoding="utf-8"), re.MULTILINE)
    assert listed == [str(n) for n in range(1, 17)]
    assert all(f"def test_e{n}_" in written for n in listed)


def _resolves(dotted: str) -> bool:
    """Return whether a dotted name is a module or a name in one."""
    try:
        pkgutil.resolve_name(dotted)
    except (ImportError, AttributeError):
        return False
    return True


def test_the_page_of_learners_is_that_of_the_registry() -> None:
    """`make docs` writes it. In another process, because tests may have registered other learners."""
    script = "import sys; sys.path.insert(0, 'docs'); import generate; sys.stdout.write(generate.page())"
    done = subprocess.run([sys.executable, "-c", script], cwd=ROOT, capture_output=True, text=True, check=True)
    assert done.stdout == (ROOT / "docs" / "learners.md").read_text(encoding="utf-8")
