"""`driftwise compile`: what it compiles ahead is all that a first use needs."""

import json
import re
import subprocess
import sys

import numba
import pytest

import driftwise.cli.compile as compile_command
from command_line import runner
from driftwise.core.errors import MissingDependency

pytestmark = pytest.mark.skipif(numba.config.DISABLE_JIT, reason="nothing is compiled")

RECORD = """
import json, sys
from numba.core.dispatcher import Dispatcher
kernels, compile = [], Dispatcher.compile

def record(self, signature):
    kernels.append([self.py_func.__qualname__, str(signature)])
    return compile(self, signature)

Dispatcher.compile = record
{use}
with open(sys.argv[1], "w") as file:
    json.dump(kernels, file)
"""
COMMAND = """
import contextlib
sys.argv[2:] = []
def run(*words):
    from driftwise.cli.main import main
    before, sys.argv = sys.argv, ["driftwise", *words]
    with contextlib.suppress(SystemExit):
        main()
    sys.argv = before
"""
MIXTURE = """
from driftwise import Mixture
mix = Mixture()
for truth in (1.0, None, 2.0):
    mix.predict({"arima": 20.1, "ets": None}, key=truth)
mix.update(2.0, key=2.0)
mix.predict({"arima": 20.1, "ets": 3.0})
mix.update(1.5)
print(mix.weights, mix.report().text())
"""
FRAME = """
import pandas
from driftwise import combine
combine(pandas.DataFrame({"y": [1.0, 2.0], "a": [1.0, 3.0], "b": [0.0, None]}), target="y")
"""
TABLE = "s,t,y,a,b\nx,1,1,1,2\nz,1,2,,3\nx,2,,2,2\nz,2,1,2,2\n"
ISSUED = "t,cutoff,y,a,b\n2,1,1,1,2\n3,1,2,,3\n4,3,,2,2\n5,3,,2,2\n"
NEXT = "t,cutoff,y,a,b\n4,3,2,,\n5,3,1,2,2\n6,5,,2,2\n"
LATE = f"{COMMAND}run('combine', 'issued.csv', '--target', 'y', '--time', 't', '--out', 'a')"
STATE = "'--target', 'y', '--time', 't', '--state', 'mix.db', '--out'"
NIGHTS = f"{COMMAND}run('combine', 'issued.csv', {STATE}, 'a')\nrun('combine', 'next.csv', {STATE}, 'b')"
USES = {
    "a mixture": ("mixture", MIXTURE),
    "the command": ("combine", f"{COMMAND}run('combine', 'in.csv', '--target', 'y', '--experts', 'a,b', '--out', 'a')"),
    "series": ("combine", f"{COMMAND}run('combine', 'in.csv', '--target', 'y', '--by', 's', '--time', 't')"),
    "a frame": ("combine", FRAME),
    "times of issue": ("combine", LATE),
    "two nights of a state": ("combine", NIGHTS),
}


def kernels_of(folder, use):
    """Return the kernels that a process compiles, or loads because an earlier one has compiled them."""
    file = folder / "kernels.json"
    command = [sys.executable, "-c", RECORD.format(use=use), str(file)]
    done = subprocess.run(command, cwd=folder, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    return {tuple(kernel) for kernel in json.loads(file.read_text())}


@pytest.fixture(scope="module")
def compiled_ahead(tmp_path_factory):
    folder = tmp_path_factory.mktemp("ahead")
    names = {name for name, _ in USES.values()}
    return {name: kernels_of(folder, f"{COMMAND}run('compile', {name!r}, '--quiet')") for name in names}


@pytest.mark.parametrize(("name", "use"), USES.values(), ids=USES)
def test_a_first_use_needs_nothing_that_was_not_compiled_ahead(compiled_ahead, tmp_path, name, use):
    """Whether from the cache or by the compiler: this holds with an empty cache and with a full one."""
    for file, text in {"in.csv": TABLE, "issued.csv": ISSUED, "next.csv": NEXT}.items():
        (tmp_path / file).write_text(text)
    needed = kernels_of(tmp_path, use)
    assert needed
    assert needed <= compiled_ahead[name]


@pytest.fixture
def driftwise(monkeypatch, capsys, tmp_path):
    return runner(monkeypatch, capsys, tmp_path)


def test_what_was_compiled_is_named(driftwise, monkeypatch):
    calls = []
    monkeypatch.setattr(compile_command, "_USES", {name: lambda: calls.append(1) for name in compile_command._USES})
    for words, shown in {
        "mixture": "mixture",
        "combine mixture combine": "combine, mixture",
        "hedge mixture": "1 learner, mixture",
    }.items():
        done = driftwise("compile", *words.split())
        assert (done.code, done.err) == (0, "")
        assert re.fullmatch(rf"compiled {shown} in \d+ s, kept in .+\n", done.out)
    assert len(calls) == 4


def test_without_a_name_everything_is_compiled_that_is_installed(driftwise, monkeypatch):
    def needs_arrow():
        raise MissingDependency("Reading tables", "pyarrow", "files")

    calls = []
    monkeypatch.setattr("driftwise.engine.compile_ahead.compile_engine", lambda: calls.append("engine"))
    monkeypatch.setattr("driftwise.engine.compile_ahead.compile_learner", lambda learner: calls.append(learner.name))
    uses = {"mixture": lambda: calls.append("mixture"), "combine": needs_arrow}
    monkeypatch.setattr(compile_command, "_USES", uses)
    done = driftwise("compile")
    assert re.fullmatch(r"compiled \d+ learners, mixture in \d+ s, kept in .+\n", done.out)
    assert calls[0] == "engine"
    assert {"tracker", "hedge", "mixture"} <= {*calls}
    left = driftwise("compile", "combine")
    assert left.code == 1
    assert left.err.startswith("driftwise: Reading tables needs pyarrow")


def test_a_name_near_to_mixture_is_suggested(driftwise):
    left = driftwise("compile", "mixtur")
    assert left.code == 2
    assert left.err.startswith("driftwise: There is no learner 'mixtur'. Did you mean 'mixture'?")
    left = driftwise("compile", "zzzzzz")
    listing = "`driftwise list` has all learners, and there are `mixture` and `combine`."
    assert left.err.startswith(f"driftwise: There is no learner 'zzzzzz'. {listing}")


def test_the_help_lists_what_is_no_learner(driftwise):
    shown = driftwise("compile", "--help").out
    assert "`mixture`" in shown
    assert "`combine`" in shown
