"""Undocumented features of Numba: found once, used in one module, and not required; plays are the same without them."""

import ast
import gc
import os
import re
import subprocess
import sys
from pathlib import Path

import numba
import pytest
from numba.core import caching
from numba.core.base import BaseContext
from numba.core.codegen import JITCodeLibrary
from numba.core.compiler import Compiler, CompilerBase, Flags
from numba.core.cpu import CPUTargetOptions
from numba.core.dispatcher import Dispatcher
from numba.core.typing.context import Context
from numba.np import arrayobj

import driftwise
from driftwise.core import private_numba
from driftwise.core.errors import InvalidInput
from driftwise.core.kernel import generic_kernel, kernel
from driftwise.core.kernel_compiler import LoopCompiler
from driftwise.learners import UCB1, Hedge
from driftwise.learners.base import loops
from outside_files import HELPERS
from representative_plays import KINDS, plays

pytestmark = pytest.mark.skipif(numba.config.DISABLE_JIT, reason="nothing is compiled")
SOURCES = Path(driftwise.__file__).parent
SCRIPT = HELPERS / "representative_plays.py"


def in_a_process(parts, names, folder):
    """Return the parts in use and the plays of a process that may use some parts only."""
    environment = {**os.environ, "NUMBA_CACHE_DIR": str(folder / "cache"), private_numba.VARIABLE: parts}
    command = [sys.executable, str(SCRIPT), *names]
    done = subprocess.run(command, env=environment, capture_output=True, text=True, check=False)
    assert re.fullmatch("(driftwise: compiling .*\n)?", done.stderr)
    return ast.literal_eval(done.stdout)


def test_this_version_of_numba_has_all_parts():
    """If this fails with a new Numba, everything still works, but slower: update the part or remove it."""
    assert os.environ.get(private_numba.VARIABLE, "1") != "1" or set(private_numba.PARTS) == private_numba.IN_USE


def test_plays_without_undocumented_features_are_the_same_to_the_last_bit(tmp_path):
    found = in_a_process("0", KINDS.values(), tmp_path)
    assert found["parts"] == []
    for name, without in zip(KINDS.values(), found["plays"], strict=True):
        assert without == plays(name), name


@pytest.mark.parametrize("missing", private_numba.PARTS)
def test_each_part_can_be_missing_alone(missing, tmp_path):
    others = [part for part in private_numba.PARTS if part != missing]
    name = KINDS["grid" if missing == "rows" else "plain"]
    found = in_a_process(",".join(others), [name], tmp_path)
    assert found == {"parts": sorted(others), "plays": [plays(name)]}


@generic_kernel
def _half(x):
    return 0.5 * x


@kernel
def _quarter(x):
    return _half(_half(x))


def _has_machine_code(function):
    (compiled,) = function.overloads.values()
    engine = compiled.target_context.codegen()._engine
    return engine.is_symbol_defined(compiled.fndesc.mangled_name) and type(compiled.library) is JITCodeLibrary


def test_what_is_a_part_of_loops_has_no_machine_code_of_its_own():
    assert _quarter(1.0) == 0.25
    assert _has_machine_code(_quarter)
    if not _half.overloads:
        pytest.skip("the loop was loaded from the disk cache, so the part was not compiled")
    assert _has_machine_code(_half) != {"unwrapped", "deferred"} <= private_numba.IN_USE


@pytest.mark.skipif("deferred" not in private_numba.IN_USE, reason="options are those of Numba")
@pytest.mark.parametrize(("threshold", "meanwhile"), [(700, 50_000), (90_000, 90_000), (0, 0)])
@pytest.mark.parametrize("fails", [False, True])
def test_the_garbage_collector_runs_less_often_only_while_a_kernel_is_compiled(
    threshold, meanwhile, fails, monkeypatch
):
    seen, before = [], gc.get_threshold()

    def compile_extra(self, func):
        seen.append(gc.get_threshold())
        if fails:
            raise ZeroDivisionError
        return original(self, func)

    original = Compiler.compile_extra
    monkeypatch.setattr(Compiler, "compile_extra", compile_extra)
    add_one = numba.njit(pipeline_class=LoopCompiler)(lambda x: x + 1.0)  # not from the cache
    try:
        gc.set_threshold(threshold, 11, 12)
        if fails:
            with pytest.raises(ZeroDivisionError):
                add_one(1.0)
        else:
            assert add_one(1.0) == 2.0
        after = gc.get_threshold()
    finally:
        gc.set_threshold(*before)
    assert seen
    assert set(seen) == {(meanwhile, 11, 12)}
    assert after == (threshold, 11, 12)


def test_options_are_those_that_numba_has():
    from driftwise.core.kernel_compiler import _Options

    plain = Flags()
    plain.nrt, plain.forceinline = True, False
    options = _Options(plain)
    assert options.values() == plain.values()
    assert options == plain
    assert hash(options) == hash(plain)
    assert options != Flags()
    assert options.copy() == options


def broken(*_):
    raise TypeError("another function than expected")


@pytest.mark.parametrize(
    ("part", "home", "name"),
    [
        ("uncounted", CPUTargetOptions, "_nrt"),
        ("forceinline", CPUTargetOptions, "forceinline"),
        ("unwrapped", CPUTargetOptions, "no_cpython_wrapper"),
        ("unwrapped", CPUTargetOptions, "no_cfunc_wrapper"),
        ("unwrapped", Dispatcher, "add_overload"),
        ("checksums", caching.IndexDataCacheFile, "_open_for_write"),
        ("checksums", caching, "IndexDataCacheFile"),
        ("tables", arrayobj, "populate_array"),
        ("closed", Dispatcher, "disable_compile"),
        ("rows", BaseContext, "get_function"),
        ("rows", Context, "resolve_value_type"),
        ("deferred", CompilerBase, "compile_extra"),
        ("deferred", JITCodeLibrary, "_optimize_final_module"),
        ("deferred", JITCodeLibrary, "_finalize_final_module"),
        ("deferred", JITCodeLibrary, "codegen"),
        ("deferred", Flags, "values"),
    ],
)
def test_a_part_that_numba_no_longer_has_is_not_used(part, home, name, monkeypatch):
    owner = next(kind for kind in home.__mro__ if name in vars(kind)) if isinstance(home, type) else home
    monkeypatch.delattr(owner, name)
    assert private_numba._usable_parts(private_numba.PARTS) == frozenset(private_numba.PARTS) - {part}


@pytest.mark.parametrize(
    ("part", "name"),
    [("checksums", "KernelCache"), ("tables", "rebuilder"), ("rows", "tuple_rows"), ("deferred", "PartCompiler")],
)
def test_a_part_that_could_not_be_imported_is_not_used(part, name, monkeypatch):
    monkeypatch.setattr(private_numba, name, None)
    assert private_numba._usable_parts(private_numba.PARTS) == frozenset(private_numba.PARTS) - {part}


@pytest.mark.parametrize("learner", [Hedge(), UCB1()], ids=str)
def test_a_table_that_cannot_be_compiled_is_replaced_by_a_pair(learner, monkeypatch):
    for entries in (loops._choose_and_step, loops._entry):
        monkeypatch.setattr(loops, entries.__name__, entries.__wrapped__)
    monkeypatch.setattr(loops, "_AS_TABLE", loops._AS_TABLE._replace(rebuild=broken))
    expected = plays(learner.name)
    state = learner.start(2)
    assert isinstance(learner._live(state).table, tuple)
    monkeypatch.undo()
    assert plays(learner.name) == expected
    assert not isinstance(learner._live(state).table, tuple)


@pytest.mark.parametrize(
    ("value", "parts"), [("", private_numba.PARTS), ("1", private_numba.PARTS), ("0", ()), ("closed", ("closed",))]
)
def test_the_environment_variable_chooses_parts(value, parts):
    assert private_numba._requested(value) == parts


def test_an_unknown_part_is_refused():
    with pytest.raises(InvalidInput, match=r"^DRIFTWISE_PRIVATE_NUMBA: it must be 0, 1 or some of .*, got 'fast'\.$"):
        private_numba._requested("fast")


def test_only_one_module_uses_undocumented_features_of_numba():
    behind = {"private_numba.py", "addresses.py", "kernel_cache.py", "kernel_compiler.py"}
    private = re.compile(r"numba\.(core|np|_[a-z]+)\b|_nrt|forceinline|disable_compile|\._cache\b|populate_array")
    for file in SOURCES.rglob("*.py"):
        if file.parent.name == "core" and file.name in behind:
            continue
        code = "\n".join(line for line in file.read_text().splitlines() if not line.lstrip().startswith("#"))
        assert not private.search(code), file
