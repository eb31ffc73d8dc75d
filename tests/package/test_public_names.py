"""The public names of `import driftwise`, which the stub lists."""

import ast
import importlib
import importlib.resources
import subprocess
import sys
from pathlib import Path

import pytest

import driftwise
import public_signatures
from looping import for_every

STUB = ast.parse(Path(driftwise.__file__).with_suffix(".pyi").read_text(encoding="utf-8"))
HOMES = {alias.name: node.module for node in STUB.body if isinstance(node, ast.ImportFrom) for alias in node.names}


def test_the_stub_exports_every_name_as_itself_for_type_checkers():
    aliases = [alias for node in STUB.body if isinstance(node, ast.ImportFrom) for alias in node.names]
    assert [alias.name for alias in aliases] == [alias.asname for alias in aliases]
    assert len(aliases) == len(HOMES)


def test_all_is_every_name_in_order():
    assert driftwise.__all__ == sorted(HOMES)


@for_every("name", driftwise.__all__)
def test_a_public_name_is_that_of_its_module(name):
    assert getattr(driftwise, name) is getattr(importlib.import_module(f"driftwise.{HOMES[name]}"), name)


def test_dir_shows_the_names_before_they_are_loaded():
    program = "import driftwise; print(*dir(driftwise))"
    shown = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True).stdout.split()
    assert shown == sorted(shown)
    assert set(driftwise.__all__) <= set(shown)


def test_a_star_import_brings_them_all():
    names = {}
    exec("from driftwise import *", names)
    assert set(driftwise.__all__) <= set(names)


def test_an_unknown_name_is_an_attribute_error():
    with pytest.raises(AttributeError, match=r"^No driftwise attribute Hegde$"):
        driftwise.Hegde  # noqa: B018
    assert not hasattr(driftwise, "Hegde")


def test_the_package_is_marked_as_typed():
    assert importlib.resources.files("driftwise").joinpath("py.typed").is_file()


def test_names_and_signatures_are_those_of_the_list():
    """A change of the interface shows in the list: `python tests/helpers/public_signatures.py --write`."""
    assert public_signatures.text() == public_signatures.FILE.read_text(encoding="utf-8")


def test_signatures_show_no_private_objects():
    lines = public_signatures.FILE.read_text(encoding="utf-8").splitlines()
    assert [line for line in lines if "<locals>" in line or "Field(" in line] == []
