"""The archives are reproducible and complete, and what is written about versions in several files agrees."""

import importlib.metadata
import re
import tarfile
import tomllib
import zipfile

import pytest
from packaging.requirements import Requirement
from packaging.specifiers import SpecifierSet
from packaging.utils import canonicalize_name

import driftwise
from outside_files import ROOT, module_of

PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text(encoding="utf-8"))["project"]
OLDEST_LINES = (ROOT / "constraints-oldest.txt").read_text(encoding="utf-8").splitlines()
OLDEST = [Requirement(line) for line in OLDEST_LINES if line and not line.startswith("#")]
PYTHONS = ("3.11", "3.12", "3.13", "3.14")


def written(name: str) -> str:
    return (ROOT / name).read_text(encoding="utf-8")


def declared(*extras: str) -> dict[str, SpecifierSet]:
    """Return what the core and some extras need."""
    lines = PROJECT["dependencies"] + [line for extra in extras for line in PROJECT["optional-dependencies"][extra]]
    needed = [Requirement(line) for line in lines]
    return {canonicalize_name(one.name): one.specifier for one in needed if one.name != "driftwise"}


def oldest(python: str) -> dict[str, str]:
    """Return the pinned versions for a Python."""
    pins = [one for one in OLDEST if one.marker is None or one.marker.evaluate({"python_version": python})]
    assert len({one.name for one in pins}) == len(pins)
    return {canonicalize_name(one.name): str(one.specifier).removeprefix("==") for one in pins}


@pytest.fixture(scope="module")
def dist():
    return module_of("tools/dist.py")


def test_two_builds_in_different_folders_have_the_same_bytes(dist, tmp_path):
    """`make` compares the files of both archives with each other, and the digests of two builds."""
    digests = dist.make(ROOT, tmp_path / "dist")
    assert sorted(digests) == [
        f"driftwise-{driftwise.__version__}-py3-none-any.whl",
        f"driftwise-{driftwise.__version__}.tar.gz",
    ]
    sdist = dist.names_in_sdist(tmp_path / "dist" / f"driftwise-{driftwise.__version__}.tar.gz")
    named = {"Makefile", "constraints.txt", "tests/docs/test_docs.py", "docs/generate.py", "LICENSE", "PKG-INFO"}
    assert named <= sdist
    package = {f"report/page/page.{end}" for end in ("html", "css", "js", "readers.js", "saving.js", "zoom.js")} | {
        "py.typed"
    }
    package |= {"regret_study/tuned_learners.toml", "theory/statements.toml", "cli/main.py"}
    with zipfile.ZipFile(next((tmp_path / "dist").glob("*.whl"))) as wheel:
        assert {f"driftwise/{name}" for name in package} <= set(wheel.namelist())
        assert {name.partition("/")[0] for name in wheel.namelist()} == {
            "driftwise",
            f"driftwise-{driftwise.__version__}.dist-info",
        }
    assert not [name for name in sdist if "__pycache__" in name or name.startswith((".venv", "out/", "dist/"))]


def test_a_changed_archive_is_noticed(dist, tmp_path):
    sdist = tmp_path / "one.tar.gz"
    with tarfile.open(sdist, "w:gz") as archive:
        archive.add(ROOT / "LICENSE", "driftwise-0/LICENSE")
    with pytest.raises(dist.Fault, match=r"^the wheel lacks a, and has in addition nothing\.$"):
        dist._require_equal("the wheel", set(), {"a"})
    with pytest.raises(dist.Fault, match=r"^hatchling failed in "):
        dist.build_again(sdist, tmp_path / "dist", 0)


def test_without_a_repository_the_time_of_the_files_is_fixed(dist, tmp_path):
    assert dist.source_time(tmp_path) == 1577836800


def test_there_is_one_version():
    """The package has it; the metadata are made from it when it is installed."""
    assert "version" not in PROJECT
    assert PROJECT["dynamic"] == ["version"]
    assert importlib.metadata.version("driftwise") == driftwise.__version__


def test_the_changelog_begins_with_the_version():
    first = re.search(r"^## (\S+) \((unreleased|\d{4}-\d{2}-\d{2})\)$", written("CHANGELOG.md"), re.MULTILINE)
    assert first is not None
    assert first[1] == driftwise.__version__


def test_the_citation_has_the_version_and_the_license():
    fields = dict(re.findall(r"^([\w-]+): (.+)$", written("CITATION.cff"), re.MULTILINE))
    assert fields["version"] == driftwise.__version__
    assert fields["license"] == PROJECT["license"]
    assert fields["title"] == PROJECT["name"]
    assert f"version = {{{driftwise.__version__}}}" in written("docs/index.md")


@pytest.mark.parametrize("python", PYTHONS)
def test_the_oldest_releases_hold_for_everything_that_users_install(python):
    (everything,) = PROJECT["optional-dependencies"]["all"]
    needed, pins = declared(*Requirement(everything).extras), oldest(python)
    assert {"click", "pyarrow", "river"} <= set(needed) <= set(pins)
    assert all(needed[name].contains(pins[name]) for name in needed)


def test_the_oldest_releases_are_the_declared_ones():
    """For the oldest Python; newer ones need newer wheels. Tools of developers that are not pinned are the newest."""
    for name, specifier in declared(*PROJECT["optional-dependencies"]).items():
        if (pin := oldest("3.11").get(name)) is not None:
            (floor,) = specifier
            assert floor.operator == ">="
            assert pin == floor.version or re.fullmatch(rf"{re.escape(floor.version)}(\.0)+", pin), name


@pytest.fixture
def matrix(monkeypatch):
    monkeypatch.syspath_prepend(ROOT / "tools")
    return module_of("tools/matrix.py")


def test_every_python_of_the_classifiers_is_in_the_matrix(matrix):
    assert matrix.PYTHONS == PYTHONS
    classified = [one.rpartition(" ")[2] for one in PROJECT["classifiers"] if re.search(r":: 3\.\d+$", one)]
    assert classified == list(PYTHONS[: len(classified)])
    assert PROJECT["requires-python"] == f">={PYTHONS[0]}"
    names = [cell.name for cell in matrix.cells(["3.11", "3.12"])]
    assert names == ["3.11-oldest", "3.11-newest", "3.12-oldest", "3.12-newest", "3.11-newest-core"]


def test_a_failed_cell_is_a_row_of_the_table_and_has_a_log(matrix, monkeypatch, tmp_path):
    monkeypatch.setattr(matrix, "interpreter", lambda _: matrix.Interpreter("no-such-python", "3.11.0"))
    outcome = matrix.play(matrix.Cell("3.11", "oldest", "all"), tmp_path / "none.whl", tmp_path / "a.log")
    assert outcome.failed
    assert "no-such-python" in (tmp_path / "a.log").read_text(encoding="utf-8")
    assert matrix.table([outcome]).splitlines()[-1].startswith("| 3.11.0 | oldest | all | - |")


@pytest.mark.parametrize("python", PYTHONS)
def test_the_matrix_reads_the_oldest_releases_as_pip_does(matrix, python):
    pairs = [line.split("==") for line in matrix.constraints(python)]
    assert {canonicalize_name(name): version for name, version in pairs} == oldest(python)
