"""Recorded losses: the accepted files, and the errors for others."""

import contextlib
import os
import pickle
import re
import subprocess
import sys

import numpy as np
import pyarrow as pa
import pytest
from pyarrow import parquet

from driftwise.core.errors import BadFile, DriftwiseError, InvalidInput, MissingDependency
from driftwise.environments import Replay
from driftwise.environments.replay import NpyFile
from mutating import mutations

LOSSES = np.random.default_rng(0).random((5000, 3))


def saved(file, content):
    """Write a file by its kind and return where it is."""
    if isinstance(content, bytes):
        file.write_bytes(content)
    elif isinstance(content, str):
        file.write_text(content)
    elif isinstance(content, dict):
        parquet.write_table(pa.table(content), file)
    else:
        np.save(file, content)
    return file


def test_a_replay_plays_what_was_recorded_whatever_the_blocks():
    replay = Replay(LOSSES)
    assert (replay.n_rounds, replay.n_actions, replay.has_means) == (5000, 3, False)
    stream = replay.start(100)
    blocks = [stream.draw(n) for n in (1, 7, 92)]
    assert np.array_equal(np.concatenate([block.losses for block in blocks]), LOSSES[:100])
    assert blocks[0].means is None
    assert blocks[0].variances is None


def test_a_replay_copies_an_array():
    array = LOSSES.copy()
    replay = Replay(array)
    array[0] = 9.0
    assert np.array_equal(replay.start(1).draw(1).losses, LOSSES[:1])


def test_a_npy_file_stays_on_the_disk(tmp_path):
    replay = Replay.from_file(saved(tmp_path / "a.npy", LOSSES))
    assert isinstance(replay.losses, NpyFile)
    block = replay.start(5000).draw(5000).losses
    assert np.array_equal(block, LOSSES)
    assert block.flags.writeable
    assert block.flags.c_contiguous


ARRAYS = [
    LOSSES,
    np.asfortranarray(LOSSES),
    LOSSES.astype(np.float32),
    np.asfortranarray(LOSSES.astype(np.float16)),
    LOSSES.astype(">f8"),
    LOSSES.round().astype(int),
    LOSSES.round().astype(np.uint8),
]


@pytest.mark.parametrize("array", ARRAYS)
def test_other_layouts_and_types_of_npy_are_fine(tmp_path, array):
    block = Replay.from_file(saved(tmp_path / "a.npy", array)).start(5000).draw(5000).losses
    assert np.array_equal(block, array)
    assert block.dtype == np.float64


@pytest.mark.parametrize("array", ARRAYS)
def test_blocks_of_a_npy_file_are_those_of_its_array(tmp_path, array):
    replay = Replay.from_file(saved(tmp_path / "a.npy", array))
    stream = replay.start(5000)
    for first, n in ((0, 1), (1, 4096), (4097, 903)):
        block = stream.draw(n).losses
        assert np.array_equal(block, array[first : first + n])
        assert block.flags.carray
    assert np.array_equal(np.asarray(replay.losses), array)


def test_a_npy_file_survives_being_pickled_and_replaced(tmp_path):
    file = saved(tmp_path / "a.npy", LOSSES)
    replay = Replay.from_file(file)
    again = pickle.loads(pickle.dumps(replay))
    file.unlink()
    saved(file, LOSSES[:10])  # another file of that name
    for one in (replay, again):
        assert np.array_equal(one.start(5000).draw(5000).losses, LOSSES)


@pytest.mark.parametrize("order", ["C", "F"])
@pytest.mark.parametrize("change", [-8, 8, -100_000])
def test_a_npy_file_that_changes_its_size_is_refused(tmp_path, order, change):
    file = saved(tmp_path / "a.npy", np.asarray(LOSSES, order=order))
    size = file.stat().st_size
    stream = Replay.from_file(file).start(5000)
    stream.draw(1000)
    os.truncate(file, size + change)
    message = f"{file}: it had {size} bytes when it was opened, and now has {size + change}."
    with pytest.raises(BadFile, match=f"^{re.escape(message)}$"):
        stream.draw(1000)


def test_a_npy_file_cut_short_between_check_and_read_is_refused(tmp_path, monkeypatch):
    file = saved(tmp_path / "a.npy", LOSSES)
    stream, preadv = Replay.from_file(file).start(5000), os.preadv

    def cut(*arguments):
        os.truncate(file, 1000)
        return preadv(*arguments)

    monkeypatch.setattr(os, "preadv", cut)
    with pytest.raises(BadFile, match=r"and now has 1000\.$"):
        stream.draw(5000)


def test_a_process_survives_a_npy_file_that_shrinks_while_it_is_played(tmp_path):
    file = saved(tmp_path / "a.npy", np.random.default_rng(0).random((100_000, 3)))
    script = f"""
import os
from driftwise import Replay
from driftwise.core.errors import BadFile
stream = Replay.from_file({os.fspath(file)!r}).start(100_000)
stream.draw(10)
os.truncate({os.fspath(file)!r}, 4096)
try:
    stream.draw(90_000)
except BadFile as error:
    print("rejected")
"""
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=False)
    assert (done.returncode, done.stdout, done.stderr) == (0, "rejected\n", "")


HOSTILE = {
    "objects": np.lib.format.magic(1, 0)
    + b"\x40\0"
    + b"{'descr': '|O', 'fortran_order': False, 'shape': (1, 1)}".ljust(64),
    "a structure": np.lib.format.magic(1, 0)
    + b"\x50\0"
    + b"{'descr': [('a', '<f8')], 'fortran_order': False, 'shape': (1, 1)}".ljust(80),
    "brackets": np.lib.format.magic(1, 0) + b"\x10\x27" + b"(" * 10_000,
    "a huge header": np.lib.format.magic(2, 0) + b"\xff\xff\xff\xff" + b"{",
    "a huge shape": np.lib.format.magic(1, 0)
    + b"\x60\0"
    + b"{'descr': '<f8', 'fortran_order': False, 'shape': (1000000000000000, 3)}".ljust(96),
    "a negative shape": np.lib.format.magic(1, 0)
    + b"\x50\0"
    + b"{'descr': '<f8', 'fortran_order': False, 'shape': (-1, 3)}".ljust(80),
}


@pytest.mark.parametrize("content", HOSTILE.values(), ids=HOSTILE)
def test_a_hostile_npy_file_is_a_bad_file(tmp_path, content):
    with pytest.raises(BadFile, match=r"a\.npy: cut short, or not a \.npy file \(.*\)\.$"):
        Replay.from_file(saved(tmp_path / "a.npy", content))


def test_a_damaged_npy_file_gives_a_driftwise_error(tmp_path):
    content = saved(tmp_path / "a.npy", LOSSES[:20]).read_bytes()
    for damaged in mutations(content, 1000, seed=1):
        (tmp_path / "a.npy").unlink()
        with contextlib.suppress(DriftwiseError):
            replay = Replay.from_file(saved(tmp_path / "a.npy", damaged))
            assert replay.start(replay.n_rounds).draw(replay.n_rounds).losses.size <= len(damaged)


@pytest.mark.parametrize(
    ("text", "names"),
    [
        ("0.5,1\n0,0.25\n", None),
        ("north,south\n0.5,1\n0,0.25\n", ("north", "south")),
        ("\ufeffnorth, south\r\n0.5, 1\r\n\r\n0, 0.25", ("north", "south")),
    ],
)
def test_a_csv_may_have_a_row_of_names(tmp_path, text, names):
    replay = Replay.from_file(saved(tmp_path / "a.csv", text.encode()))
    assert replay.names == names
    assert replay.start(2).draw(2).losses.tolist() == [[0.5, 1.0], [0.0, 0.25]]


@pytest.mark.parametrize(
    ("row", "names"),
    [
        ("0.5,1", None),
        ("+.5,1.e-1", None),
        ("1,0", None),
        ("0,0", None),
        ("0,1,2", ("0", "1", "2")),
        ("1,2", ("1", "2")),
        ("north,", ("north", "")),
        ('"0.5"," 1"', None),
    ],
)
def test_the_first_row_decides_whether_it_holds_names(tmp_path, row, names):
    file = saved(tmp_path / "a.csv", f"{row}\n" + ",".join(["0.5"] * len(row.split(","))) + "\n")
    assert Replay.from_file(file).names == names
    assert Replay.from_file(file).n_rounds == (1 if names else 2)


@pytest.mark.parametrize("row", ["0,1", " 0 ,1", "0", "1", "0.5,x", "x,2020"])
def test_an_ambiguous_first_row_is_refused_without_a_header_option(tmp_path, row):
    cells = tuple(cell.strip() for cell in row.split(","))
    file = saved(tmp_path / "a.csv", f"{row}\n{','.join(['0.5'] * len(cells))}\n")
    with pytest.raises(InvalidInput) as error:
        Replay.from_file(file)
    assert str(error.value) == (
        f"{file}: its first row '{','.join(cells)}' may be names or a round."
        " Say which: --header or --no-header, in Python `header=True` or `header=False`."
    )
    assert Replay.from_file(file, header=True).names == cells
    assert Replay.from_file(file, header=True).n_rounds == 1
    if "x" in row:
        with pytest.raises(BadFile, match=r"line 1, column [12]: 'x' is not a number\.$"):
            Replay.from_file(file, header=False)
    else:
        assert Replay.from_file(file, header=False).names is None
        assert Replay.from_file(file, header=False).start(1).draw(1).losses.tolist() == [[float(x) for x in cells]]


def test_only_a_csv_has_a_header(tmp_path):
    for file, header in ((saved(tmp_path / "a.npy", LOSSES), True), (saved(tmp_path / "a.csv", "0.5\n"), "no")):
        with pytest.raises(InvalidInput) as error:
            Replay.from_file(file, header=header)
        rule = "must be True or False, and only for a .csv file"
        assert str(error.value) == f"{file}: `header` {rule}, got {header!r}."


def test_truth_values_in_files_are_losses(tmp_path):
    truth = np.array([[True, False], [False, False]])
    npy = Replay.from_file(saved(tmp_path / "a.npy", truth))
    parquet = Replay.from_file(saved(tmp_path / "a.parquet", {"a": truth[:, 0], "b": truth[:, 1]}))
    for recording in (npy, parquet):
        assert recording.start(2).draw(2).losses.tolist() == [[1.0, 0.0], [0.0, 0.0]]
    with pytest.raises(InvalidInput, match=r"got nan at round 1, action 0 \('a'\)\. Is a value missing\?$"):
        Replay.from_file(saved(tmp_path / "b.parquet", {"a": [True, None]}))


def test_a_parquet_file_names_its_columns(tmp_path):
    replay = Replay.from_file(saved(tmp_path / "a.parquet", {"north": [0.5, 0.0], "south": [1, 0]}))
    assert replay.names == ("north", "south")
    assert replay.start(2).draw(2).losses.tolist() == [[0.5, 1.0], [0.0, 0.0]]


def test_a_damaged_parquet_file_gives_a_driftwise_error_in_one_line(tmp_path):
    content = saved(tmp_path / "a.parquet", {"north": LOSSES[:20, 0], "south": LOSSES[:20, 1]}).read_bytes()
    messages = []
    for damaged in mutations(content, 1000, seed=1):  # among them a name that is not UTF-8
        (tmp_path / "a.parquet").unlink()
        try:
            Replay.from_file(saved(tmp_path / "a.parquet", damaged))
        except DriftwiseError as error:
            messages.append(str(error))
    assert len(messages) > 500
    assert all(len(message.splitlines()) == 1 for message in messages)


def test_a_parquet_file_that_unpacks_to_more_than_the_memory_is_refused(tmp_path, monkeypatch):
    file = saved(tmp_path / "a.parquet", {"north": np.zeros(1000), "south": np.zeros(1000)})
    assert Replay.from_file(file).n_rounds == 1000
    monkeypatch.setattr("driftwise.environments.table_files.memory_bytes", lambda: 16_000)  # of one copy of the numbers
    message = f"{file}: 1000 rounds of 2 actions do not fit into the memory of this machine."
    with pytest.raises(BadFile, match=f"^{re.escape(message)}$"):
        Replay.from_file(file)


@pytest.mark.parametrize(("kind", "content"), [("parquet", {"north": [0.5]}), ("csv", "0.5\n")])
def test_without_pyarrow_a_file_says_what_to_install(tmp_path, monkeypatch, kind, content):
    file = saved(tmp_path / f"a.{kind}", content)
    monkeypatch.setitem(sys.modules, "pyarrow", None)
    with pytest.raises(MissingDependency) as error:
        Replay.from_file(file)
    assert str(error.value) == (
        f"Reading a .{kind} file needs pyarrow: install it with `pip install 'driftwise[files]'`."
    )


def with_one(value, t=4500, k=1):
    losses = LOSSES.copy()
    losses[t, k] = value
    return losses


@pytest.mark.parametrize(
    ("name", "content", "message"),
    [
        (
            "nan.npy",
            with_one(np.nan),
            ": losses must be in [0, 1], got nan at round 4500, action 1. Is a value missing?",
        ),
        (
            "big.npy",
            with_one(1.5),
            ": losses must be in [0, 1], got 1.5 at round 4500, action 1. Rescale them by their known range.",
        ),
        (
            "flat.npy",
            LOSSES[0],
            ": `losses` must have shape (n_rounds, n_actions), at least one of each, got (3,).",
        ),
        (
            "none.npy",
            LOSSES[:0],
            ": `losses` must have shape (n_rounds, n_actions), at least one of each, got (0, 3).",
        ),
        ("words.npy", np.array([["a"]]), ": `losses` must be an array of real numbers, got 'str32'."),
        (
            "empty.csv",
            "",
            ": `losses` must have shape (n_rounds, n_actions), at least one of each, got (0, 1).",
        ),
        (
            "names.csv",
            "a,b\n",
            ": `losses` must have shape (n_rounds, n_actions), at least one of each, got (0, 2).",
        ),
        ("ragged.csv", "a,b\n0,1\n0\n", ", line 3: 1 value where 2 are expected."),
        ("words.csv", "0,0\n0,x\n", ", line 2, column 2: 'x' is not a number."),
        ("underscore.csv", "0,0\n0.5,0_1\n", ", line 2, column 2: '0_1' is not a number."),
        ("first.csv", "0_1,1_0\n0,0\n", ", line 1, column 1: '0_1' is not a number."),
        ("wide.csv", "a\n\uff11\n", ", line 2, column 1: '\uff11' is not a number."),
        ("infinity.csv", "a\n0\n-Infinity\n", ", line 3, column 1: '-Infinity' is not a number."),
        ("hex.csv", "a\n0x1\n", ", line 2, column 1: '0x1' is not a number."),
        ("comma.csv", 'a\n"0,5"\n', ", line 2, column 1: '0,5' is not a number."),
        ("nul.csv", "a\n\0\n", ", line 2, column 1: '\\x00' is not a number."),
        ("breaks.csv", 'a\n"0.\n5"\n', ", line 3, column 1: '0.\\n5' is not a number."),
        ("long.csv", "a\n" + "7x" * 1000, f", line 2, column 1: '{'7x' * 38}... is not a number."),
        ("field.csv", "a\n" + "7" * 200_000, ": not a .csv file (field larger than field limit (131072))."),
        ("line.csv", "7" * 2**24, ": not a .csv file (a line is longer than 16777216 characters)."),
        (
            "large.csv",
            "0.1\n1e400\n",
            ": losses must be in [0, 1], got inf at round 1, action 0. Rescale them by their known range.",
        ),
        (
            "trailing.csv",
            "0.1,0.2,\n0.1,0.2,\n",
            ": losses must be in [0, 1], got nan at round 0, action 2. Is a value missing?",
        ),
        (
            "hole.csv",
            "a,b\n0,1\n0,\n",
            ": losses must be in [0, 1], got nan at round 1, action 1 ('b'). Is a value missing?",
        ),
        (
            "null.parquet",
            {"a": [0.5, None]},
            ": losses must be in [0, 1], got nan at round 1, action 0 ('a'). Is a value missing?",
        ),
        ("words.parquet", {"a": ["x"]}, ": column 'a' must hold numbers, got string."),
        ("a.txt", "0,1\n", ": a recording must be one of .csv, .npy, .parquet, got '.txt'."),
    ],
)
def test_a_bad_file_is_named_with_the_place(tmp_path, name, content, message):
    file = saved(tmp_path / name, content)
    with pytest.raises((BadFile, InvalidInput)) as error:
        Replay.from_file(file)
    assert str(error.value) == f"{file}{message}"


@pytest.mark.parametrize("kind", ["npy", "parquet"])
@pytest.mark.parametrize("share", [0.0, 0.0004, 0.5])
def test_a_file_cut_short_is_a_bad_file(tmp_path, kind, share):
    whole = LOSSES if kind == "npy" else {"a": LOSSES[:, 0]}
    data = saved(tmp_path / f"whole.{kind}", whole).read_bytes()
    file = saved(tmp_path / f"cut.{kind}", data[: int(share * len(data))])
    with pytest.raises(BadFile, match=f"cut.{kind}: cut short, or not a .{kind} file"):
        Replay.from_file(file)


def test_a_file_that_is_not_text_or_not_there_is_a_bad_file(tmp_path):
    with pytest.raises(BadFile, match=r"a\.csv: not a \.csv file"):
        Replay.from_file(saved(tmp_path / "a.csv", b"\xff\xfe\x00\x01"))
    with pytest.raises(BadFile, match=r"^There is no file .*b\.csv\.$"):
        Replay.from_file(tmp_path / "b.csv")
    with pytest.raises(BadFile, match=r"^There is no file x{300}\.\.\.\.$"):
        Replay.from_file("x" * 300 + ".npy")
    with pytest.raises(BadFile, match=r"^There is no file 'a\\nb\.csv'\.$"):
        Replay.from_file("a\nb.csv")


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (
            lambda: Replay([[0.1], [0.2, 0.3]]),
            "Replay: `losses` must be an array of numbers, got [[0.1], [0.2, 0.3]]. Are its rows of one length?",
        ),
        (lambda: Replay([["1"]]), "Replay: `losses` must be an array of real numbers, got 'str32'."),
        (
            lambda: Replay([[0.5, -0.1]]),
            "Replay: losses must be in [0, 1], got -0.1 at round 0, action 1. Rescale them by their known range.",
        ),
        (
            lambda: Replay(LOSSES).start(5001),
            "Replay: `n_rounds` must be <= 5000, the rounds recorded, got 5001.",
        ),
        (
            lambda: Replay(LOSSES).measures(10),
            "Replay: a recording has losses but no means, so its measures are unknown."
            " If you know or guess them, write `Measures(...)`.",
        ),
    ],
)
def test_a_bad_recording_is_rejected(make, message):
    with pytest.raises(InvalidInput) as error:
        make()
    assert str(error.value) == message


QUOTED = {
    "spanning lines": 'a,"b\nc"\n0.5,1\n0,0.25\n',
    "two quotation marks": 'a,"b\n""c"""\n"0.5","1"\n0,0.25\n',
    "CRLF": '"a","b"\r\n"0.5",1\r\n0,"0.25"\r\n',
    "a byte order mark": '\ufeff"a",b\n"0.5",1\n0,"0.25"',
    "a byte order mark and no names": '\ufeff"0.5",1\n0,"0.25"',
    "inside of a cell": 'a"b,c""d\n0.5,1\n0,0.25\n',
}


@pytest.mark.parametrize("text", QUOTED.values(), ids=QUOTED)
def test_cells_in_quotation_marks_are_read(tmp_path, text):
    replay = Replay.from_file(saved(tmp_path / "a.csv", text.encode()))
    assert replay.losses.tolist() == [[0.5, 1.0], [0.0, 0.25]]


UNCLOSED = {
    "in the middle": ('a,b\n0,0\n0,"0\n0,0\n', 3),
    "in the last line": ('a,b\n0,0\n0,"0', 3),
    "in the names": ('a,"b\n0,0\n0,0\n', 1),
    "in the first row": ('0.5,"1\n0,0\n', 1),
    "after a cell with two lines": ('a,"b\nc"\n0,0\n0,"0\n', 4),
    "after a byte order mark": ('\ufeff"0.5,1\n0,0\n', 1),
    "with CRLF": ('a,b\r\n0,0\r\n"0,0\r\n', 3),
    "after two million bytes": ("a,b\n" + "0,0\n" * 600_000 + '0,"0\n' + "0,0\n" * 600_000, 600_002),
    "in the last of some blocks": ("a,b\n" + "0,0\n" * 9_000_000 + '0,"0\n', 9_000_002),
    "after a block and before another": ("a,b\n" + "0,0\n" * 4_200_000 + '0,"0\n' + "0,0\n" * 4_200_000, 4_200_002),
}


@pytest.mark.parametrize(("text", "line"), UNCLOSED.values(), ids=UNCLOSED)
def test_a_quotation_mark_that_is_not_closed_is_refused_with_its_line(tmp_path, text, line):
    file = saved(tmp_path / "a.csv", text.encode())
    message = f"{file}, line {line}: a quotation mark opens a cell here, and none closes it."
    with pytest.raises(BadFile, match=f"^{re.escape(message)}$"):
        Replay.from_file(file)


def test_a_csv_with_very_many_columns_is_refused_before_it_is_split(tmp_path):
    file = saved(tmp_path / "a.csv", "0" + ",0" * 8_000_000 + "\n")
    with pytest.raises(BadFile, match=r"a.csv: it must have at most 100000 columns, its first line has 8000001\.$"):
        Replay.from_file(file)


def test_a_csv_with_a_hundred_thousand_columns_is_read(tmp_path):
    file = saved(tmp_path / "a.csv", ",".join(f"a{k}" for k in range(100_000)) + "\n" + "0.5," * 99_999 + "1\n")
    replay = Replay.from_file(file)
    assert (replay.n_rounds, replay.n_actions, replay.losses[0, 99_999]) == (1, 100_000, 1.0)
    assert replay.names[-1] == "a99999"


def test_a_csv_that_begins_with_very_many_blank_lines_is_read(tmp_path):
    assert Replay.from_file(saved(tmp_path / "a.csv", "\n" * 300_000 + "a,b\n0.5,1\n")).losses.tolist() == [[0.5, 1.0]]


def test_a_csv_that_does_not_fit_into_memory_is_refused(tmp_path, monkeypatch):
    file = saved(tmp_path / "a.csv", "a,b\n" + "0.5,1\n" * 2000)
    monkeypatch.setattr("driftwise.environments.table_files.memory_bytes", lambda: 90_000)
    with pytest.raises(BadFile, match=r"a.csv: 2000 rounds and more do not fit into the memory of this machine\.$"):
        Replay.from_file(file)
