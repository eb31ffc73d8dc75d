"""The public names of `import driftwise`, kept in three lists that must agree."""

import ast
import importlib
import importlib.resources
import subprocess
import sys
from pathlib import Path

import pytest

import driftwise
import public_signatures

SOURCE = ast.parse(Path(driftwise.__file__).read_text(encoding="utf-8"))


def homes_for_type_checkers():
    """Return name -> module from the imports under `if TYPE_CHECKING`; each must re-export its name as itself."""
    (block,) = [node for node in SOURCE.body if isinstance(node, ast.If)]
    assert ast.unparse(block.test) == "TYPE_CHECKING"
    homes = {}
    for node in block.body:
        assert isinstance(node, ast.ImportFrom)
        for alias in node.names:
            assert alias.asname == alias.name, f"{alias.name} is not re-exported"
            homes[alias.name] = node.module
    return homes


def homes_at_run_time():
    """Return name -> module as `__getattr__` looks them up."""
    (table,) = [node for node in SOURCE.body if isinstance(node, ast.Assign) and node.targets[0].id == "_HOMES"]
    return {name: f"driftwise.{home}" for name, home in ast.literal_eval(table.value).items()}


def test_type_checkers_and_the_interpreter_see_the_same_names():
    assert homes_for_type_checkers() == homes_at_run_time()


def test_all_is_every_name_in_order():
    assert driftwise.__all__ == sorted(homes_at_run_time())


@pytest.mark.parametrize("name", driftwise.__all__)
def test_a_public_name_is_that_of_its_module(name):
    home = importlib.import_module(homes_at_run_time()[name])
    assert getattr(driftwise, name) is getattr(home, name)
    assert name in getattr(home, "__all__", [name])


def test_dir_shows_the_names_before_they_are_loaded():
    program = "import driftwise; print(*dir(driftwise))"
    shown = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True).stdout.split()
    assert shown == sorted(shown)
    assert set(driftwise.__all__) | {"__version__", "__all__"} <= set(shown)


def test_a_star_import_brings_them_all():
    names = {}
    exec("from driftwise import *", names)
    assert set(driftwise.__all__) <= set(names)


def test_an_unknown_name_is_an_attribute_error():
    with pytest.raises(AttributeError, match=r"^module 'driftwise' has no attribute 'Hegde'$"):
        driftwise.Hegde  # noqa: B018
    assert not hasattr(driftwise, "Hegde")


@pytest.mark.parametrize(
    "module", ["adversaries", "core.errors", "engine", "environments", "learners", "registry", "results"]
)
def test_what_a_module_exports_exists(module):
    home = importlib.import_module(f"driftwise.{module}")
    assert home.__all__ == sorted(home.__all__)
    assert all(hasattr(home, name) for name in home.__all__)


def test_the_package_is_marked_as_typed():
    assert importlib.resources.files("driftwise").joinpath("py.typed").is_file()


def test_names_and_signatures_are_those_of_the_list():
    """A change of the interface shows in the list: `python tests/public_signatures.py --write`."""
    assert public_signatures.text() == public_signatures.FILE.read_text(encoding="utf-8")
