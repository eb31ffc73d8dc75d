"""Archives of arrays: what `np.savez` writes is read, and a damaged or hostile file does no harm."""

import contextlib
import io
import json
import struct
import tracemalloc
import warnings
import zipfile

import numpy as np
import pytest

from driftwise import OptimisticGD, Session
from driftwise.core.archives import npy_header, read_archive, write_archive
from driftwise.core.errors import BadFile, DriftwiseError, InvalidInput
from driftwise.learners import SleepingOptimisticAdaptMLProd
from mutating import mutations

HEADER = {"format": 1, "learner": {"name": "hedge", "learning_rate": float("inf")}, "n_actions": 3, "rounds": 7}
ARRAYS = {
    "weights": np.linspace(0.0, 1.0, 6).reshape(2, 3),
    "columns": np.asfortranarray(np.arange(6).reshape(3, 2)),
    "generator": np.array([2**64 - 1, 5], np.uint64),
    "none": np.zeros((0, 3)),
    "flag": np.array(True),
}
NAME = "driftwise_session.npy"


def npy(array):
    buffer = io.BytesIO()
    np.lib.format.write_array(buffer, np.asanyarray(array), allow_pickle=True)
    return buffer.getvalue()


def text(header):
    return npy(np.array(header if isinstance(header, str) else json.dumps(header)))


def described(header, data=b"", version=b"\1\0", length=None):
    """Return a .npy file with this header, word for word."""
    raw = header.encode() if isinstance(header, str) else header
    width = "<H" if version == b"\1\0" else "<I"
    return b"\x93NUMPY" + version + struct.pack(width, len(raw) if length is None else length) + raw + data


def shaped(shape, data=b"", descr="'<f8'", order="False"):
    return described(f"{{'descr': {descr}, 'fortran_order': {order}, 'shape': {shape}, }}\n", data)


def zipped(*entries, method=zipfile.ZIP_STORED):
    buffer = io.BytesIO()
    with warnings.catch_warnings(), zipfile.ZipFile(buffer, "w", method) as archive:
        warnings.simplefilter("ignore")  # of names that are there twice
        for name, content in entries:
            archive.writestr(name, content)
    return buffer.getvalue()


def whole(header=HEADER, **arrays):
    buffer = io.BytesIO()
    write_archive(buffer, "session", header, arrays or ARRAYS)
    return buffer.getvalue()


def read(tmp_path, content):
    path = tmp_path / "file"
    path.unlink(missing_ok=True)  # some file systems flush a file that is emptied and written again
    path.write_bytes(content)
    return read_archive(path, "session")


def test_what_is_written_is_read(tmp_path):
    header, arrays = read(tmp_path, whole())
    assert header == HEADER
    assert arrays.keys() == ARRAYS.keys()
    for name, array in arrays.items():
        assert array.dtype == ARRAYS[name].dtype
        assert array.flags.carray or array.size == 0
        assert np.array_equal(array, ARRAYS[name])


def test_the_layout_is_that_of_numpy():
    """So files of earlier versions are read, and new ones by any other program that knows the format."""
    buffer = io.BytesIO()
    np.savez(buffer, driftwise_session=np.array(json.dumps(HEADER, sort_keys=True)), **ARRAYS)
    assert whole() == buffer.getvalue()


def test_what_numpy_wrote_with_a_stray_array_is_read(tmp_path):
    """NumPy 2.0 and 2.1 took `allow_pickle` for the name of one more array."""
    header, arrays = read(tmp_path, whole(**ARRAYS, allow_pickle=np.array(False)))
    assert header == HEADER
    assert "allow_pickle" in arrays


def test_objects_are_not_written():
    with pytest.raises(InvalidInput, match=r"^session: the array 'a' must hold numbers, got object\.$"):
        write_archive(io.BytesIO(), "session", HEADER, {"a": np.array([print], object)})


def test_a_saved_session_has_the_arrays_of_its_memory_only(tmp_path):
    session = Session(OptimisticGD(), 2)
    session.save(tmp_path / "session")
    with np.load(tmp_path / "session") as archive:
        assert archive.files == ["driftwise_session", *session.state.arrays()]


def test_other_orders_and_byte_orders_become_the_machine_s_own(tmp_path):
    values = np.arange(6.0).reshape(2, 3)
    _, arrays = read(tmp_path, whole(big=values.astype(">f8"), columns=np.asfortranarray(values)))
    for array in arrays.values():
        assert array.dtype == np.float64
        assert array.dtype.isnative
        assert array.flags.carray
        assert np.array_equal(array, values)


HOSTILE = {
    "empty": (b"", "cut short, damaged, or of another kind"),
    "deflated": (zipped((NAME, text(HEADER)), method=zipfile.ZIP_DEFLATED), "neither compressed nor"),
    "a deflate bomb": (
        zipped((NAME, text(HEADER)), ("a.npy", npy(np.zeros(10**6))), method=zipfile.ZIP_DEFLATED),
        "neither compressed nor",
    ),
    "bzip2": (zipped((NAME, text(HEADER)), method=zipfile.ZIP_BZIP2), "neither compressed nor"),
    "lzma": (zipped((NAME, text(HEADER)), method=zipfile.ZIP_LZMA), "neither compressed nor"),
    "encrypted": (whole()[:6] + b"\1" + whole()[7:], "neither compressed nor encrypted"),
    "streamed": (whole()[:6] + b"\x08" + whole()[7:], "nor streamed"),
    "an unknown method": (whole()[:8] + b"\x63" + whole()[9:], "neither compressed nor"),
    "a name twice": (zipped((NAME, text(HEADER)), (NAME, text(HEADER))), "two entries 'driftwise_session.npy'"),
    "a thousand and one arrays": (
        zipped((NAME, text(HEADER)), *((f"{k}.npy", npy(np.zeros(1))) for k in range(1000))),
        "more than 1000 entries",
    ),
    "a name that is not UTF-8": (whole().replace(b"weights", b"weight\xff"), "name of an entry is damaged"),
    "not an array": (zipped((NAME, text(HEADER)), ("run.sh", b"ls")), "'run.sh' is not an array"),
    "no magic": (zipped((NAME, text(HEADER)), ("a.npy", b"ls -l " * 9)), "does not begin like a .npy file"),
    "objects": (zipped((NAME, text(HEADER)), ("a.npy", npy(np.array([{}])))), "not plain numbers"),
    "words": (whole(a=np.array(["x"])), "must hold numbers, got str"),
    "complex numbers": (whole(a=np.zeros(2, complex)), "must hold numbers, got complex128"),
    "a structured array": (whole(a=np.zeros(2, "i4,f8")), "its header is damaged"),
    "truth values of 2": (
        zipped((NAME, text(HEADER)), ("a.npy", shaped("(1,)", b"\2", "'|b1'"))),
        "must hold truth values",
    ),
    "objects for a header": (zipped((NAME, npy(np.array([{}])))), "not plain numbers"),
    "numbers for a header": (zipped((NAME, npy(np.zeros(3)))), "not a short text"),
    "words for a header": (zipped((NAME, npy(np.array(["a", "b"])))), "not a short text"),
    "a long header": (zipped((NAME, text('"' + "x" * (1 << 20) + '"'))), "not a short text"),
    "no JSON": (zipped((NAME, text("{"))), "not JSON"),
    "JSON of another kind": (zipped((NAME, text("[1]"))), "not a JSON object"),
    "deep JSON": (zipped((NAME, text('{"a": ' + "[" * 100_000 + "]" * 100_000 + "}"))), "not JSON"),
    "rather deep JSON": (zipped((NAME, text('{"a": ' + "[" * 40 + "]" * 40 + "}"))), "nested too deeply"),
    "NaN": (zipped((NAME, text('{"a": NaN}'))), "not JSON"),
    "a huge integer": (zipped((NAME, text('{"a": 1' + "0" * 400 + "}"))), "not JSON"),
    "an integer without end": (zipped((NAME, text('{"a": 1' + "0" * 10_000 + "}"))), "not JSON"),
    "half a character": (zipped((NAME, shaped("()", b"\0\xd8\0\0", "'<U1'"))), "not JSON"),
    "no character": (zipped((NAME, shaped("()", b"\xff\xff\xff\xff", "'<U1'"))), "not JSON"),
}
SHAPES = {
    "a huge shape": shaped("(10000000000, 3)"),
    "a shape beyond 64 bits": shaped("(" + "9" * 300 + ",)"),
    "a shape too short": shaped("(1,)", b"\0" * 16),
    "a shape too long": shaped("(3,)", b"\0" * 16),
    "an empty array of huge length": shaped("(0, 1000000000000000000)"),
    "an empty array of some length": shaped("(0, 1000000)"),
    "a negative shape": shaped("(-1,)", b"\0" * 8),
    "a shape of floats": shaped("(1.0,)", b"\0" * 8),
    "a shape of text": shaped("('1',)", b"\0" * 8),
    "a shape of lists": shaped("([1],)", b"\0" * 8),
    "a number for a shape": shaped("1", b"\0" * 8),
    "a flag for a shape": shaped("True", b"\0" * 8),
    "forty dimensions": shaped("(" + "1," * 40 + ")", b"\0" * 8),
    "no kind": shaped("(1,)", b"\0" * 8, "'<q9'"),
    "a kind of no size": shaped("(1,)", b"\0" * 8, "'<f7'"),
    "a kind of a huge size": shaped("(0,)", b"", "'<U999999999'"),
    "a number for a kind": shaped("(1,)", b"\0" * 8, "8"),
    "no order": shaped("(1,)", b"\0" * 8, order="0"),
    "a deep header": described("(" * 9000),
    "a deep sign": described("-" * 9000 + "1"),
    "an open string": described("{'descr': '<f8"),
    "a product": described("{'descr': '<f8', 'fortran_order': False, 'shape': (9**9**9,)}"),
    "a key twice": described("{'shape': (1,), 'descr': '<f8', 'fortran_order': False, 'shape': (1,)}", b"\0" * 8),
    "a key missing": described("{'descr': '<f8', 'fortran_order': False}", b"\0" * 8),
    "not ASCII": described(b"{'descr': '\xff"),
    "a header without end": described("{", length=65535),
    "a header of four gigabytes": described("{", version=b"\2\0", length=2**32 - 1),
    "version 9": described("{}", version=b"\x09\0"),
    "magic only": b"\x93NUMPY",
    "nothing": b"",
}
HOSTILE |= {
    f"{what} in an array": (zipped((NAME, text(HEADER)), ("a.npy", content)), "the entry 'a.npy' ")
    for what, content in SHAPES.items()
}


@pytest.mark.parametrize(("content", "reason"), HOSTILE.values(), ids=HOSTILE)
def test_a_hostile_file_is_refused_without_more_memory_than_its_size(content, reason, tmp_path):
    tracemalloc.start()
    try:
        with pytest.raises(BadFile) as caught:
            read(tmp_path, content)
        _, peak = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    message = str(caught.value)
    assert message.startswith(f"{tmp_path}/file is not a complete session file: ")
    assert reason in message
    assert len(message.splitlines()) == 1
    assert peak < 8 * len(content) + 1_000_000


def test_entries_that_share_bytes_are_refused(tmp_path):
    """A directory may name one entry many times; the entries themselves count."""
    content = whole()
    directory = content.index(b"PK\1\2")
    doubled = content[:directory] + 2 * content[directory:-22] + content[-22:]
    assert read(tmp_path, doubled)[1].keys() == ARRAYS.keys()  # bytes that are not read
    count = struct.pack("<HH", 12, 12)
    with pytest.raises(BadFile, match="cut short or damaged"):
        read(tmp_path, doubled[:-14] + count + doubled[-10:])


@pytest.mark.parametrize("sizes", [(2**63, 2**63), (2**40, 2**40), (0, 2**40), (5, 5)])
def test_wrong_64_bit_sizes_are_refused(sizes, tmp_path):
    content = bytearray(whole())
    extra = 30 + len(NAME)
    assert content[extra : extra + 4] == b"\1\0\x10\0"
    content[extra + 4 : extra + 20] = struct.pack("<QQ", *sizes)
    with pytest.raises(BadFile, match="is not a complete session file"):
        read(tmp_path, bytes(content))


def test_a_missing_file_is_refused(tmp_path):
    for name in ("none", ".", "a\0b", "caf\udce9", "x" * 300, "a\nb"):
        with pytest.raises(BadFile, match=r"^There is no file .*\.$") as caught:
            read_archive(f"{tmp_path}/{name}", "session")
        str(caught.value).encode()


def test_headers_written_by_other_programs_are_read():
    for said in (
        "{'descr':'<f8','fortran_order':True,'shape':(3,4)}",
        '{"shape": (3, 4), "fortran_order": True, "descr": "<f8"}',
        "{'descr': '<f8', 'fortran_order': True, 'shape': (3L, 4L), }   \n",
    ):
        header = npy_header(described(said))
        assert header[:3] == (np.dtype("<f8"), True, (3, 4))


@pytest.mark.parametrize("array", [np.zeros((3, 4)), np.zeros(5, ">i4"), np.array(1.0), np.zeros((0, 2), "u1")])
def test_headers_written_by_numpy_are_read(array):
    content = npy(array)
    header = npy_header(content)
    assert (header.dtype, header.shape) == (array.dtype, array.shape)
    assert content[header.offset :] == array.tobytes()


def sealed(content, rng):
    """Return an archive with one array's bytes changed and its checksum made right, so that the change is seen."""
    with zipfile.ZipFile(io.BytesIO(content)) as archive:
        entries = [(name, archive.read(name)) for name in archive.namelist()]
    k = int(rng.integers(len(entries)))
    name, old = entries[k]
    entries[k] = (name, next(mutations(old, 1, int(rng.integers(2**32)))))
    return zipped(*entries)


def test_random_damage_gives_the_same_content_or_a_bad_file(tmp_path):
    content, rejected = whole(), 0
    for damaged in mutations(content, 3000, seed=1):
        try:
            header, arrays = read(tmp_path, damaged)
        except BadFile:
            rejected += 1
        else:  # what was hit is not read, or an array's name changed
            assert header == HEADER
            for name in arrays.keys() & ARRAYS.keys():
                assert np.array_equal(arrays[name], ARRAYS[name])
    assert rejected > 2000


def test_random_damage_under_right_checksums_gives_a_bad_file_at_worst(tmp_path):
    rng, content, rejected = np.random.default_rng(2), whole(), 0
    for _ in range(2000):
        try:
            read(tmp_path, sealed(content, rng))
        except BadFile:
            rejected += 1
    assert 500 < rejected < 2000


def test_a_damaged_session_gives_a_driftwise_error(tmp_path):
    learner = SleepingOptimisticAdaptMLProd()
    session = Session(learner, 3)
    learner.run(session.state, np.random.default_rng(0).random((20, 3)))
    session.save(tmp_path / "session")
    content = (tmp_path / "session").read_bytes()
    for damaged in mutations(content, 500, seed=3):
        (tmp_path / "session").unlink()
        (tmp_path / "session").write_bytes(damaged)
        with contextlib.suppress(DriftwiseError):
            assert Session.load(tmp_path / "session").rounds == 20
