"""Kernels that are recompiled when stale, loops cloned per learner, random numbers, complete files."""

import ast
import importlib.util
import math
import os
import pickle
import subprocess
import sys
from typing import Any, NamedTuple

import numba
import numpy as np
import pytest
from scipy import stats

from driftwise.core.errors import BadFile
from driftwise.core.files import write_atomically
from driftwise.core.kernel import allocating_kernel, clone, compiled, generic_kernel, kernel, unbound
from driftwise.core.private_numba import IN_USE
from driftwise.core.random import draw_from, new_generator, next_uniform
from driftwise.learners import learners

UPDATE = unbound


class Pair(NamedTuple):
    one: float
    two: float


SOURCE = """
from typing import NamedTuple
import numpy as np
from driftwise.core.kernel import kernel

FACTOR = 2.0
SHAPE = (1, 2)
SCALAR = np.uint64(3)
TABLE = np.array([1.0, 2.0])

class Memory(NamedTuple):
    first: float
    second: float

@kernel
def inner(x):
    return x + 1.0

@kernel
def middle(x):
    return inner(x)

@kernel
def outer(x):
    return middle(x) * FACTOR + SHAPE[0] + SCALAR + TABLE[0]

@kernel
def field(memory: Memory):
    return memory.first
"""


def names(folder, old="", new="", module="sample"):
    """Write the source with one edit, import it, and return the qualified names of its kernels."""
    file = folder / f"{module}.py"
    file.write_text(SOURCE.replace(old, new))
    spec = importlib.util.spec_from_file_location(module, file)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return {name: getattr(module, name).py_func.__qualname__ for name in ("inner", "middle", "outer", "field")}


@pytest.mark.parametrize(
    ("old", "new", "renamed"),
    [
        ("x + 1.0", "x + 2.0", {"inner", "middle", "outer"}),
        ("return inner", "return -inner", {"middle", "outer"}),
        ("FACTOR = 2.0", "FACTOR = 3.0", {"outer"}),
        ("(1, 2)", "(2, 1)", {"outer"}),
        ("uint64(3)", "uint64(4)", {"outer"}),
        ("[1.0, 2.0]", "[3.0, 2.0]", {"outer"}),
        ("    first: float\n    second: float", "    second: float\n    first: float", {"field"}),
        ("x + 1.0", "x + 1.0  # a comment", set()),
    ],
)
def test_an_edit_renames_the_kernels_that_depend_on_it_and_no_other(tmp_path, old, new, renamed):
    before, after = names(tmp_path), names(tmp_path, old, new)
    assert {name for name in before if before[name] != after[name]} == renamed


def doubled(values):
    return (values + values).min()


@pytest.mark.skipif(numba.config.DISABLE_JIT, reason="nothing is compiled")
@pytest.mark.skipif("uncounted" not in IN_USE, reason="every kernel has the memory manager")
def test_a_kernel_that_makes_an_array_compiles_only_if_it_says_so():
    with pytest.raises(numba.TypingError):
        kernel(doubled)(np.ones(3))
    twice = clone(plus_update, "twice", (), UPDATE=allocating_kernel(doubled))  # its caller may then make arrays too
    assert twice(np.ones(3)) == 2.0


def plus_update(values):
    return UPDATE(values)


def test_a_kernel_must_come_after_what_it_reads():
    with pytest.raises(NameError, match=r"define `not_yet_there` above it, or an edit of it would not be noticed"):
        kernel(lambda: not_yet_there)  # noqa: F821


@pytest.mark.skipif(numba.config.DISABLE_JIT, reason="nothing is compiled")
def test_every_kernel_is_cached_but_those_that_are_compiled_into_the_loops_of_many_learners():
    assert kernel(takes_anything).stats.cache_path is not None
    assert kernel(takes_a_pair).stats.cache_path is not None
    assert generic_kernel(takes_a_pair).stats.cache_path is None
    assert clone(takes_anything, "part").stats.cache_path is None
    assert clone(takes_anything, "entry", kinds=()).stats.cache_path is not None
    assert clone(takes_anything, "entry", kinds=(Pair,)).stats.cache_path is not None


def takes_anything(values: Any) -> float:
    return values[0]


def takes_a_pair(values: Pair) -> float:
    return values.one


def test_a_kernel_that_moves_to_another_module_is_another(tmp_path):
    """The cache finds the classes of its argument types by module, so the old entry must not be used."""
    here, there = names(tmp_path), names(tmp_path, module="elsewhere")
    assert all(here[name] != there[name] for name in here)


def template(x):
    return BOUND(x)  # noqa: F821


@pytest.mark.interpreted
def test_clones_of_a_template_are_bound_to_their_own_kernels():
    @kernel
    def double(x):
        return 2.0 * x

    @kernel
    def triple(x):
        return 3.0 * x

    one, other = clone(template, "one", (), BOUND=double), clone(template, "other", (), BOUND=triple)
    assert (one(1.0), other(1.0)) == (2.0, 3.0)
    with pytest.raises(NameError):
        template(1.0)


def test_clones_are_cached_separately():
    one, other = (clone(template, name, BOUND=next_uniform).py_func.__qualname__ for name in ("one", "other"))
    assert one.startswith("template.one.")
    assert other.startswith("template.other.")


@pytest.mark.interpreted
def test_a_template_without_kernels_says_so():
    with pytest.raises(AssertionError, match=r"^a loop template was called before its kernels were bound$"):
        unbound(1.0)


def in_a_process(script, folder):
    """Run a script with a compiler cache of its own and return what it prints, read as Python."""
    environment = {**os.environ, "NUMBA_CACHE_DIR": str(folder / "cache"), "PYTHONPATH": str(folder)}
    done = subprocess.run([sys.executable, "-c", script], env=environment, capture_output=True, text=True, check=True)
    return ast.literal_eval(done.stdout)


def test_a_second_process_compiles_nothing(tmp_path):
    script = """
import numpy as np
from driftwise.learners import OptimisticGD
learner = OptimisticGD()
state = learner.start(2)
learner.update(state, [0.0, 1.0])
learner.run(state, np.zeros((3, 2)))
stats = [loop.stats for loop in (learner.loops.run, state.live.step)]
print([(sum(s.cache_hits.values()), sum(s.cache_misses.values())) for s in stats])
"""
    assert in_a_process(script, tmp_path) == [(0, 1), (0, 1)]
    assert in_a_process(script, tmp_path) == [(1, 0), (1, 0)]


KERNELS = """
from typing import Any, NamedTuple
from driftwise.core.kernel import allocating_kernel, kernel

class Memory(NamedTuple):
    first: float
    second: float

@kernel
def bare(memory, x):
    return memory.first + x

@kernel
def anything(memory: Any, x: Any) -> Any:
    return memory.first + x

@kernel
def named(memory: Memory, x: float) -> float:
    return memory.first + x

@kernel
def odd(memory: ["a list", Memory], x: {"a": "dict"}) -> "nothing known":
    return memory.first + x

@allocating_kernel
def makes(memory, x):
    return memory.first + x
"""
CALLS = """
import mine
found = [mine.bare, mine.anything, mine.named, mine.odd, mine.makes]
assert [each(mine.Memory(1.0, 2.0), 3.0) for each in found] == [FIRST + 3.0] * len(found)
print([(sum(each.stats.cache_hits.values()), sum(each.stats.cache_misses.values())) for each in found])
"""


@pytest.mark.parametrize("parts", ["1", "0"], ids=["all features", "no undocumented features"])
def test_kernels_of_users_are_cached_with_any_annotations_or_none(parts, tmp_path, monkeypatch):
    monkeypatch.setenv("DRIFTWISE_PRIVATE_NUMBA", parts)
    (tmp_path / "mine.py").write_text(KERNELS)
    calls = CALLS.replace("FIRST", "1.0")
    assert in_a_process(calls, tmp_path) == [(0, 1)] * 5
    assert in_a_process(calls, tmp_path) == [(1, 0)] * 5


def test_a_kernel_is_compiled_again_if_fields_change_places_in_another_file(tmp_path):
    """Numba's cache identifies a NamedTuple by its class, and no annotation names its fields for the digest."""
    source = "from typing import NamedTuple\nclass Memory(NamedTuple):\n    {}: float\n    {}: float\n"
    kernels = "from memories import Memory\n" + KERNELS.replace("class Memory(NamedTuple):", "class Other(NamedTuple):")
    (tmp_path / "mine.py").write_text(kernels)
    for fields, first in ((("first", "second"), "1.0"), (("second", "first"), "2.0")):
        (tmp_path / "memories.py").write_text(source.format(*fields))
        assert in_a_process(CALLS.replace("FIRST", first), tmp_path) == [(0, 1)] * 5


def test_a_second_process_sees_an_edited_callee_in_another_file(tmp_path):
    header = "from driftwise.core.kernel import kernel\n"
    callee = header + "@kernel\ndef callee(x):\n    return x + {}\n"
    (tmp_path / "caller.py").write_text(
        header + "from below import callee\n@kernel\ndef caller(x):\n    return 10.0 * callee(x)\n"
    )
    for added in ("1.0", "2.0"):
        (tmp_path / "below.py").write_text(callee.format(added))
        found = in_a_process("from caller import caller; print(caller(1.0))", tmp_path)
        assert found == 10.0 * (1.0 + float(added))


@pytest.mark.skipif(numba.config.DISABLE_JIT, reason="without the compiler there are no signatures")
def test_signatures_are_counted():
    @kernel
    def same(x):
        return x

    assert compiled(same) == 0
    same(1.0)
    same(2.0)
    assert compiled(same) == 1
    same(1)
    assert compiled(same) == 2


def xoshiro256(words):
    """Yield xoshiro256++ in whole numbers, after the C code of Blackman and Vigna (prng.di.unimi.it)."""
    most = 2**64 - 1

    def turned(word, by):
        return (word << by | word >> 64 - by) & most

    s = list(words)
    while True:
        yield (turned(s[0] + s[3] & most, 23) + s[0]) & most
        shifted = s[1] << 17 & most
        s[2] ^= s[0]
        s[3] ^= s[1]
        s[1] ^= s[2]
        s[0] ^= s[3]
        s[2] ^= shifted
        s[3] = turned(s[3], 45)


@pytest.mark.interpreted
def test_the_reference_gives_the_published_words():
    # From the state 1, 2, 3, 4 by the authors' C code, as in the tests of Rust's rand_xoshiro.
    published = [
        41943041, 58720359, 3588806011781223, 3591011842654386, 9228616714210784205, 9973669472204895162,
        14011001112246962877, 12406186145184390807, 15849039046786891736, 10450023813501588000,
    ]  # fmt: skip
    assert [word for word, _ in zip(xoshiro256([1, 2, 3, 4]), published, strict=False)] == published


@pytest.mark.interpreted
@pytest.mark.parametrize("seed", [0, 1, 2**64, 123456789])
def test_uniforms_are_the_top_53_bits_of_xoshiro256(seed):
    generator = new_generator(seed)
    reference = xoshiro256([int(word) for word in generator])
    for _ in range(200):
        assert next_uniform(generator) == (next(reference) >> 11) * 2.0**-53


@pytest.mark.interpreted
def test_the_generator_of_published_words_gives_their_top_bits():
    generator = np.array([1, 2, 3, 4], np.uint64)
    assert [next_uniform(generator) for _ in range(2)] == [(41943041 >> 11) / 2**53, (58720359 >> 11) / 2**53]


def test_uniforms_are_uniform():
    generator = new_generator(1)
    counts = np.bincount([int(20 * next_uniform(generator)) for _ in range(20_000)], minlength=20)
    assert stats.chisquare(counts).pvalue > 1e-3  # fixed seed


@pytest.mark.interpreted
@pytest.mark.parametrize("uniform", [0.0, 0.25, 0.5, 1.0 - 2**-53, 1.0])
def test_an_action_of_weight_zero_is_never_drawn(uniform):
    assert draw_from(np.array([0.0, 0.5, 0.0, 0.5 - 2**-40, 0.0]), uniform) in (1, 3)
    assert draw_from(np.array([0.0, 0.0, 1e-300]), uniform) == 2


def test_actions_are_drawn_as_often_as_they_weigh():
    weights, generator = np.array([0.1, 0.0, 0.6, 0.3]), new_generator(2)
    counts = np.bincount([draw_from(weights, next_uniform(generator)) for _ in range(20_000)], minlength=4)
    assert counts[1] == 0
    heavy = weights > 0
    assert stats.chisquare(counts[heavy], 20_000 * weights[heavy]).pvalue > 1e-3  # fixed seed


@pytest.mark.parametrize("failure", [OSError("the disk is full"), ValueError("not mine"), KeyboardInterrupt()])
def test_a_writer_that_fails_leaves_the_old_file_and_no_other(tmp_path, failure):
    target = tmp_path / "file.txt"
    target.write_text("old")

    def write(path):
        path.write_text("half of the n")
        raise failure

    with pytest.raises(BadFile if isinstance(failure, OSError) else type(failure)):
        write_atomically(target, write)
    assert [path.name for path in tmp_path.iterdir()] == ["file.txt"]
    assert target.read_text() == "old"


def test_a_file_is_written_where_there_was_no_folder(tmp_path):
    target = tmp_path / "new" / "file.txt"
    write_atomically(target, lambda path: path.write_text("new"))
    assert target.read_text() == "new"
    assert target.stat().st_mode & 0o777 == 0o666 & ~umask()


def umask():
    mask = os.umask(0)
    os.umask(mask)
    return mask


class Memory(NamedTuple):
    weights: float


class OwnRepr(NamedTuple):
    weights: float

    def __repr__(self):
        return "a repr of its own"


class Subclass(Memory):
    pass


@pytest.mark.interpreted
def test_namedtuples_show_the_name_that_they_were_given():
    def first(memory: Memory, other: OwnRepr) -> float:
        return memory.weights + other.weights

    kernel(first)
    assert repr(Memory(1.0)) == "Memory(weights=1.0)"
    assert repr(Subclass(1.0)) == "Subclass(weights=1.0)"
    assert repr(OwnRepr(1.0)) == "a repr of its own"
    assert pickle.loads(pickle.dumps(Memory(1.0))) == Memory(1.0)
    with pytest.raises(AttributeError, match=r"^'([\w.]+\.)?Memory' object has no attribute 'wieghts'$"):
        Memory(1.0).wieghts  # noqa: B018


@pytest.mark.interpreted
@pytest.mark.parametrize("name", ["hedge", "ucb1", "saol"])
def test_a_state_shows_its_memory_by_its_own_name_and_pickles(name):
    state = learners.get(name)().start(2)
    kind = {"hedge": "Memory", "ucb1": "IndexMemory", "saol": "IntervalMemory"}[name]
    assert repr(state.memory).startswith(f"{kind}({state.memory._fields[0]}=array(")
    assert repr(state.rates).startswith(("Rates(", "Width(", "IntervalRates("))
    for protocol in range(pickle.HIGHEST_PROTOCOL + 1):
        twin = pickle.loads(pickle.dumps(state, protocol))
        assert type(twin.memory) is type(state.memory)
        assert repr(twin.memory) == repr(state.memory)


def test_no_two_memories_have_the_same_name_and_fields():
    """Numba distinguishes NamedTuples by the names of class and fields; two equal ones cost 0.1 ms in every call."""
    from numba._dispatcher import compute_fingerprint

    seen = {}
    for name in learners:
        state = learners.get(name)().start(3)
        for value in (state.memory, state.rates, getattr(state.rates, "rule", None)):
            try:
                mark = compute_fingerprint(value)
            except NotImplementedError:  # not read by any kernel
                continue
            assert seen.setdefault(mark, type(value)) is type(value), f"{name}: {mark} is also {seen[mark].__module__}"


def test_a_part_of_other_kernels_cannot_be_called_from_python():
    part = clone(template, "part", BOUND=kernel(_root))
    assert clone(template, "whole", (), BOUND=part)(16.0) == 4.0
    if "unwrapped" in IN_USE and not numba.config.DISABLE_JIT:
        with pytest.raises(TypeError, match="part is a part of other kernels; it cannot be called from Python"):
            part(16.0)


def _root(x):
    return math.sqrt(x)


@numba.njit
def _factorial(n):
    return 1.0 if n < 1.5 else n * _factorial(n - 1.0)


def test_a_kernel_may_call_a_function_that_calls_itself():
    assert clone(template, "recursive", (), BOUND=_factorial)(4.0) == 24.0
