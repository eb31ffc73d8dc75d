"""Progress of calls from Python: a bar in a terminal and in a notebook, lines in a log, nothing for two seconds."""

import io
import os
import pty
import subprocess
import sys
import termios
import types

import pytest

from driftwise import Bernoulli, Environment, FixedShare, Hedge, Switching, record, simulate
from driftwise.core import progress_bar
from driftwise.core.errors import InvalidInput, MissingDependency
from driftwise.core.progress_bar import progress_shown
from driftwise.sweeps import Sweep

ENVIRONMENT = Environment(Switching(n_segments=2, n_actions=2), Bernoulli())
CALLS = {
    "simulate": lambda _, progress: simulate(ENVIRONMENT, Hedge(), n_rounds=2000, n_runs=2, progress=progress),
    "record": lambda _, progress: record(Hedge(), ENVIRONMENT, n_rounds=2000, progress=progress),
    "Sweep": lambda folder, progress: Sweep(ENVIRONMENT, [Hedge(), FixedShare()], (50, 60), 2).run(
        folder, progress=progress
    ),
}


class Terminal(io.StringIO):
    def isatty(self):
        return True


@pytest.mark.parametrize("call", CALLS)
@pytest.mark.parametrize("device", ["terminal", "notebook", "log"])
def test_progress_is_shown_and_results_are_the_same(call, device, monkeypatch, tmp_path):
    plain = CALLS[call](tmp_path / "a", None)
    screen = Terminal() if device == "terminal" else io.StringIO()
    if device == "notebook":
        shell = types.SimpleNamespace(kernel=object())
        monkeypatch.setitem(sys.modules, "IPython", types.SimpleNamespace(get_ipython=lambda: shell))
    monkeypatch.setattr(sys, "stderr", screen)
    monkeypatch.setattr(progress_bar, "DELAY", 0.0)
    shown = CALLS[call](tmp_path / "b", True)
    monkeypatch.undo()
    assert repr(shown) == repr(plain)
    text = screen.getvalue()
    assert f"{call}: " in text
    assert "100" in text
    assert ("\r" in text) == (device != "log")
    assert device != "log" or text.count("\n") <= 10


@pytest.mark.parametrize("call", CALLS)
def test_nothing_is_shown_for_two_seconds_or_unless_it_is_wanted(call, capsys, tmp_path):
    for k, progress in enumerate((True, False, None)):
        CALLS[call](tmp_path / str(k), progress)
    assert capsys.readouterr().err == ""


@pytest.mark.parametrize("call", CALLS)
def test_another_value_is_refused_before_anything_is_played(call, tmp_path):
    with pytest.raises(InvalidInput, match=rf"^{call}: `progress` must be True, False or a function .*, got 5"):
        CALLS[call](tmp_path / "a", 5)


def test_a_bar_without_tqdm_says_what_to_install(monkeypatch):
    monkeypatch.setitem(sys.modules, "tqdm.auto", None)
    monkeypatch.setattr(sys, "stderr", Terminal())
    with (
        pytest.raises(MissingDependency, match=r"needs tqdm: install it with `pip install 'driftwise\[progress\]'`"),
        progress_shown("simulate", True, "rounds"),
    ):
        pass


def test_in_a_real_terminal_the_bar_is_on_standard_error():
    code = (
        "from driftwise.core import progress_bar; progress_bar.DELAY = 0.0\n"
        "with progress_bar.progress_shown('simulate', True, 'rounds') as show: show(3, 4); show(4, 4)"
    )
    ours, theirs = pty.openpty()
    termios.tcsetwinsize(theirs, (24, 80))
    done = subprocess.run([sys.executable, "-c", code], stderr=theirs, stdout=subprocess.PIPE, check=True)
    os.close(theirs)
    drawn = os.read(ours, 10_000).decode()
    os.close(ours)
    assert done.stdout == b""
    assert "simulate: 100%" in drawn
    assert "4.00/4.00" in drawn
