"""Entry points of installed packages: whatever such a package does, the others and driftwise itself go on to work."""

import json
import sys
import warnings
from dataclasses import dataclass

import pytest

from driftwise import registry
from driftwise.core.errors import InvalidInput
from driftwise.environments import Bernoulli
from driftwise.learners import Hedge, learners

OWN = '''
from dataclasses import dataclass
from driftwise.learners import Hedge, learners

@dataclass(frozen=True)
class Own(Hedge):
    """Own: Hedge under another name."""

learners.add("{name}", Own)
'''
ADD = "from driftwise.learners import Hedge, learners\nlearners.add({})\n"
NAME = "Registry: `name` must be lower-case words joined by hyphens, as in 'epsilon-greedy', got"
MEMBER = "Registry: `member` must be a subclass of the base class of every learner, got"
LOADED = "Registry: `entry point` must be a module, or a class that it registers, got"


@pytest.fixture
def site(tmp_path, monkeypatch):
    """Return a folder of installed packages, with a good one whose learner comes last; nothing is loaded yet."""
    modules = {*sys.modules}
    monkeypatch.setattr(learners, "_classes", dict(learners._classes))
    monkeypatch.setattr(registry, "_loaded_plugins", [])
    monkeypatch.syspath_prepend(str(tmp_path))
    install(tmp_path, "zz-good", {"good": "zz_good_plugin"}, OWN.format(name="good-hedge"))
    yield tmp_path
    for name in {*sys.modules} - modules:
        if name.endswith("_plugin"):
            del sys.modules[name]


def install(folder, package, entries, text=None):
    """Make a package as an installer leaves it: the list of its entry points, and a module."""
    info = folder / f"{package}-1.0.dist-info"
    info.mkdir()
    (info / "METADATA").write_text(f"Metadata-Version: 2.1\nName: {package}\nVersion: 1.0\n")
    lines = (f"{name} = {value}\n" for name, value in entries.items())
    (info / "entry_points.txt").write_text(f"[driftwise.learners]\n{''.join(lines)}")
    if text is not None:
        (folder / f"{package.replace('-', '_')}_plugin.py").write_text(text)


def load():
    """Load all entry points; return the names of the new learners and the warnings."""
    before = {*learners._classes}
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        registry.load_plugins()
    return {*learners._classes} - before, [str(warning.message) for warning in caught]


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        ("raise RuntimeError('not today')", "RuntimeError: not today"),
        ("raise RuntimeError('two\\nlines.')", "RuntimeError: two\\nlines"),
        ("raise RuntimeError", "RuntimeError"),
        ("class Odd(Exception):\n    def __str__(self):\n        1 / 0\nraise Odd", "Odd"),
        ("class Base(BaseException):\n    pass\nraise Base('hm')", "Base: hm"),
        ("import sys\nsys.exit(0)", "SystemExit: 0"),
        ("def (", "SyntaxError: invalid syntax (a_bad_plugin.py, line 1)"),
        (OWN.format(name="hedge"), "The learner name 'hedge' is taken by Hedge"),
        (ADD.format("'Odd name', Hedge"), f"{NAME} 'Odd name'"),
        (ADD.format("'', Hedge"), f"{NAME} ''"),
        (ADD.format("3, Hedge"), f"{NAME} 3"),
        (ADD.format("'x\\n', Hedge"), f"{NAME} 'x\\n'"),
        (ADD.format("'three', 3"), f"{MEMBER} 3"),
        (ADD.format("'other', dict"), f"{MEMBER} <class 'dict'>"),
        (ADD.format("'second-hedge', Hedge"), "Hedge is registered as 'hedge' and cannot be 'second-hedge' too"),
        (OWN.format(name="half-imported") + "1 / 0\n", "ZeroDivisionError: division by zero"),
    ],
)
def test_a_package_that_cannot_be_loaded_is_named_and_the_others_are_loaded(text, reason, site):
    install(site, "a-bad", {"bad": "a_bad_plugin"}, text)
    report = f"The entry point bad = a_bad_plugin of the package a-bad was left out: {reason}."
    assert load() == ({"good-hedge"}, [report])
    assert learners.get("hedge") is Hedge
    assert (Hedge.kind, Hedge.name) == ("learner", "hedge")


@pytest.mark.parametrize(
    ("value", "reason"),
    [
        ("a_bad_plugin:number", f"{LOADED} 3"),
        ("a_bad_plugin:Plain", f"{LOADED} <class 'a_bad_plugin.Plain'>"),
        ("a_bad_plugin:missing", "AttributeError: module 'a_bad_plugin' has no attribute 'missing'"),
        ("no_such_plugin", "ModuleNotFoundError: No module named 'no_such_plugin'"),
    ],
)
def test_an_entry_point_of_something_else_than_a_module_is_reported(value, reason, site):
    text = "from driftwise.learners import Hedge\nnumber = 3\nclass Plain(Hedge):\n    pass\n"
    install(site, "a-bad", {"bad": value}, text)
    assert load() == ({"good-hedge"}, [f"The entry point bad = {value} of the package a-bad was left out: {reason}."])


def test_an_entry_point_may_name_the_class_that_its_module_registers(site):
    install(site, "a-own", {"own": "a_own_plugin:Own"}, OWN.format(name="named-class"))
    assert load() == ({"good-hedge", "named-class"}, [])


@pytest.mark.parametrize(
    ("content", "reason"), [(b"[driftwise.learners]\nbad\n", "TypeError: "), (b"\xff\xfe", "UnicodeDecodeError: ")]
)
def test_a_list_of_entry_points_that_cannot_be_read_leaves_out_its_package_only(content, reason, site):
    install(site, "a-bad", {})
    (site / "a-bad-1.0.dist-info" / "entry_points.txt").write_bytes(content)
    names, (report,) = load()
    assert names == {"good-hedge"}
    assert report.startswith(f"The entry points of the package a-bad were left out: {reason}")


def test_a_package_without_a_name_is_reported_too(site):
    install(site, "a-bad", {"bad": "a_bad_plugin"}, "1 / 0")
    (site / "a-bad-1.0.dist-info" / "METADATA").unlink()
    names, (report,) = load()
    assert names == {"good-hedge"}
    assert report.startswith("The entry point bad = a_bad_plugin")
    assert report.endswith(" was left out: ZeroDivisionError: division by zero.")


def test_the_second_of_two_packages_with_one_name_is_left_out(site):
    for package in ("a-one", "b-two"):
        install(site, package, {"same": f"{package.replace('-', '_')}_plugin"}, OWN.format(name="same-name"))
    names, (report,) = load()
    assert names == {"good-hedge", "same-name"}
    first, second = sorted(["a_one", "b_two"], key=lambda name: name not in learners.get("same-name").__module__)
    place = f"same = {second}_plugin of the package {second.replace('_', '-')}"
    reason = f"The learner name 'same-name' is taken by Own of the module {first}_plugin"
    assert report == f"The entry point {place} was left out: {reason}."


def test_what_a_package_prints_does_not_mix_with_the_output(site, monkeypatch, capsys):
    from driftwise.cli.main import main

    install(site, "a-loud", {"loud": "a_loud_plugin"}, "print('hello')\n" + OWN.format(name="loud-hedge"))
    monkeypatch.setattr(sys, "argv", ["driftwise", "list", "learners", "--json"])
    with pytest.raises(SystemExit) as left:
        main()
    out, err = capsys.readouterr()
    assert (left.value.code, err) == (0, "hello\n")
    assert {"good-hedge", "loud-hedge"} <= {member["name"] for member in json.loads(out)}


def test_if_warnings_are_errors_all_packages_are_loaded_first(site):
    install(site, "a-bad", {"bad": "a_bad_plugin"}, "1 / 0")
    with pytest.raises(UserWarning, match="of the package a-bad was left out"):  # the tests have such a filter
        registry.load_plugins()
    assert "good-hedge" in learners._classes


def test_a_class_of_another_kind_is_not_registered():
    with pytest.raises(InvalidInput, match=r"^The noise Bernoulli cannot be registered as a learner\.$"):
        learners.add("bernoulli", Bernoulli)
    assert Bernoulli.kind == "noise"


def test_a_class_that_claims_to_be_one_of_driftwise_does_not_replace_it(monkeypatch):
    monkeypatch.setattr(learners, "_classes", dict(learners._classes))

    @dataclass(frozen=True)
    class Forged(Hedge):
        """A class with the module and the name of another."""

    Forged.__module__, Forged.__qualname__, Forged.__name__ = Hedge.__module__, Hedge.__qualname__, Hedge.__name__
    with pytest.raises(InvalidInput, match=r"^The learner name 'hedge' is taken by Hedge of the module "):
        learners.add("hedge", Forged)
    assert learners.get("hedge") is Hedge
