"""One line on standard error says that kernels are compiled, once in a process, if that takes long."""

import io
import subprocess
import sys
import threading
from types import SimpleNamespace

import numba
import pytest

from driftwise.core import compile_notice
from driftwise.core.compile_notice import CompileNotice
from driftwise.core.kernel import NOTICE, kernel

AHEAD = "for this machine, once; later runs load it from the cache (`driftwise compile` does it ahead).\n"
LINE = f"driftwise: compiling hedge {AHEAD}"
compiler = pytest.mark.skipif(numba.config.DISABLE_JIT, reason="nothing is compiled")


def event(is_start, is_kernel=True, name="_run.hedge.0123"):
    dispatcher = SimpleNamespace(py_func=SimpleNamespace(__qualname__=name))
    if is_kernel:
        dispatcher.mark = "digest"
    return SimpleNamespace(is_start=is_start, data={"dispatcher": dispatcher})


@pytest.fixture
def notice(monkeypatch):
    monkeypatch.setattr(compile_notice, "_LONG", 0.0)
    return CompileNotice("mark")


def compile_long(notice, **options):
    """Compile until the timer has run; return whether there was one."""
    notice.notify(event(True, **options))
    timer = notice._timer
    if timer is not None:
        timer.join()
    notice.notify(event(False, **options))
    return timer is not None


def test_a_long_compilation_prints_one_line_while_it_goes_on(notice, capsys):
    notice.notify(event(True))
    notice._timer.join()
    assert capsys.readouterr().err == LINE
    notice.notify(event(False))
    assert not compile_long(notice)
    assert capsys.readouterr() == ("", "")


def test_the_seconds_of_several_compilations_are_added(monkeypatch, capsys):
    clock = SimpleNamespace(now=0.0, monotonic=lambda: clock.now)
    monkeypatch.setattr(compile_notice, "time", clock)
    notice, waits = CompileNotice("mark"), []
    monkeypatch.setattr(threading, "Timer", lambda wait, *_: waits.append(wait) or SimpleNamespace(start=lambda: None))
    monkeypatch.setattr(threading.Thread, "cancel", lambda _: None, raising=False)
    for seconds in (0.5, 0.75, 5.0):
        notice.notify(event(True))
        notice._timer = None
        clock.now += seconds / 2
        for is_start in (True, False):  # of a kernel that it calls: its time is part of that of the caller
            notice.notify(event(is_start))
        clock.now += seconds / 2
        notice.notify(event(False))
    notice.notify(event(True))
    assert waits == [2.0, 1.5, 0.75, 0.0]


def test_a_short_compilation_prints_nothing_and_leaves_no_thread(monkeypatch, capsys):
    monkeypatch.setattr(compile_notice, "_LONG", 1e6)
    notice = CompileNotice("mark")
    notice.notify(event(True))
    timer = notice._timer
    assert timer.daemon
    notice.notify(event(False))
    timer.join()
    assert capsys.readouterr() == ("", "")


def test_functions_of_others_do_not_count(notice, capsys):
    assert not compile_long(notice, is_kernel=False)
    assert capsys.readouterr().err == ""
    assert compile_long(notice)


def test_nothing_is_printed_while_it_is_silenced(notice, capsys):
    with notice.silenced():
        assert not compile_long(notice)
        with notice.silenced():
            assert not compile_long(notice)
        assert not compile_long(notice)
    assert capsys.readouterr().err == ""
    assert compile_long(notice)
    assert capsys.readouterr().err == LINE


def test_a_line_with_a_progress_bar_is_cleared(notice, capsys, monkeypatch):
    monkeypatch.setattr(sys.stderr, "isatty", lambda: True, raising=False)
    compile_long(notice)
    assert capsys.readouterr().err == f"\r\033[K{LINE}"


@pytest.mark.parametrize("stream", [None, "closed", "full"])
def test_a_missing_or_broken_standard_error_is_no_error(notice, monkeypatch, stream):
    if stream == "closed":
        stream = io.StringIO()
        stream.close()
    elif stream == "full":
        stream = SimpleNamespace(isatty=lambda: False, write=lambda _: (_ for _ in ()).throw(OSError(28, "full")))
    monkeypatch.setattr(sys, "stderr", stream)
    with monkeypatch.context() as context:
        context.setattr(threading, "excepthook", lambda args: pytest.fail(str(args)))
        assert compile_long(notice)


def test_where_no_thread_can_start_nothing_is_printed(notice, capsys, monkeypatch):
    def refuse(_):
        raise RuntimeError("can't start new thread")

    monkeypatch.setattr(threading.Timer, "start", refuse)
    assert not compile_long(notice)
    assert capsys.readouterr().err == ""


def test_a_worker_process_prints_nothing(notice, capsys, monkeypatch):
    import multiprocessing.process

    monkeypatch.setattr(multiprocessing.process, "parent_process", lambda: "the client")
    compile_long(notice)
    assert capsys.readouterr().err == ""


@compiler
def test_numba_informs_the_notice_of_kernels(monkeypatch):
    seen = []
    monkeypatch.setattr(NOTICE, "notify", lambda told: seen.append(told.is_start))

    @kernel
    def double(value: float) -> float:
        return 2.0 * value

    fresh = numba.njit(double.py_func)  # without a cache
    fresh(1.0)
    assert seen == [True, False]


IMPORTING = """
import threading, driftwise
from driftwise import Mixture, Session, Tracker, simulate
print(threading.active_count())
"""


def test_an_import_starts_no_thread():
    done = subprocess.run([sys.executable, "-c", IMPORTING], capture_output=True, text=True, check=True)
    assert (done.stdout, done.stderr) == ("1\n", "")


FIRST_USE = """
from driftwise.core import compile_notice
compile_notice._LONG = 0.0
import numba, time
from driftwise.core.kernel import kernel, mark_digest

@kernel
def slow(value: float) -> float:
    total = 0.0
    for i in range(10):
        total += value * i
    return total

for _ in range(2):
    mark_digest(numba.njit(slow.py_func), "digest")(1.0)  # without a cache
"""


@compiler
@pytest.mark.parametrize(("close", "printed"), [("", f"driftwise: compiling the engine {AHEAD}"), ("2>&-", "")])
def test_a_first_use_in_python_prints_the_line_once(tmp_path, close, printed):
    (tmp_path / "use.py").write_text(FIRST_USE)
    command = f"'{sys.executable}' use.py {close}"
    done = subprocess.run(command, shell=True, cwd=tmp_path, capture_output=True, text=True, check=False)
    assert (done.returncode, done.stdout, done.stderr) == (0, "", printed)
