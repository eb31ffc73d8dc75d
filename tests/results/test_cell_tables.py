"""Tables of cells give back their records, and reject a bad field in one line."""

import numpy as np
import pytest

from cell_examples import bits, cell, failed, key, same, table
from driftwise.core.errors import InvalidInput
from driftwise.results import CellRecord, CellTable
from driftwise.results.cells import CELL, COUNTS, REALS, TEXTS


def test_every_field_of_a_record_is_in_one_column():
    assert {*CELL.names} | {"rounds", "regrets", "bounds"} == {*CellRecord._fields}
    assert len(CELL.names) == 1 + len(TEXTS) + len(COUNTS) + len(REALS)


def test_a_table_gives_back_its_records():
    records = [cell(0, 3), cell(1), failed(2), cell(3, 2, caveat="é ≤ 名")]
    cells = CellTable.from_records(records)
    assert len(cells) == 4
    assert [bits(cells.record(i)) for i in range(4)] == [bits(record) for record in records]
    assert bits(cells.record(-1)) == bits(records[-1])
    assert cells.keys() == [key(i) for i in range(4)]
    assert np.array_equal(cells.final, [0.25, 1.0, np.nan, 3.125], equal_nan=True)
    assert cells.failed.tolist() == [False, False, True, False]
    assert cells.lengths.tolist() == [3, 1, 1, 2]


def test_tables_are_joined_and_divided():
    whole = CellTable.from_records([cell(i, 1 + i % 3) for i in range(20)])
    mask = np.arange(20) % 3 == 0
    parts = [whole.select(mask), whole.select(~mask)]
    order = [*np.flatnonzero(mask), *np.flatnonzero(~mask)]
    joined = CellTable.concatenate(parts)
    assert [bits(joined.record(i)) for i in range(20)] == [bits(whole.record(i)) for i in order]
    assert same(CellTable.concatenate([table(2), table(3, start=2)]), table(5))
    assert len(CellTable.concatenate([])) == len(CellTable.from_records([])) == len(whole.select(mask & ~mask)) == 0


def test_a_mask_has_one_truth_value_per_cell():
    for mask in (np.array([True]), np.array([0, 1, 2])):
        with pytest.raises(InvalidInput, match=r"^CellTable: `mask` must be 3 truth values, got "):
            table(3).select(mask)


BAD_FIELDS = {
    "key": ["0" * 31, "0" * 33, "A" * 32, "0" * 31 + "\n", "\0" * 32, "é" * 32, b"0" * 32, None],
    "environment": ["", "[]", "{", "1", "{} {}", "\ud800", "[" * 5000, {}],
    "learner": ["hedge", None],
    "n_actions": [0, -1, 2**62 + 1, 2**64, 1.0, True, "1", np.nan],
    "n_rounds": [0, 2**62 + 1],
    "seed": [-1, 2**63, 2**70, 0.5],
    "run": [-1, None],
    "kind": ["", "dynamic", 3],
    "comparator": [None, "\udfff"],
    "rounds": [[], [0], [-1], [101], [1.5], [[1]], 5, ["1"], None, [2**63]],
    "regrets": [[], [1.0, 2.0], [[1.0]], ["x"], [None], 1.0, [1j]],
    "bounds": [[], [1.0, 2.0], None],
    "segments": [-1, 1.5],
    "drift": ["1", None, 1j, True, 10**400],
    "seconds": [[1.0]],
    "stored": [-1, 2**62],
    "error": [None, "played, but with an error"],
}


@pytest.mark.parametrize(("name", "value"), [(name, value) for name in BAD_FIELDS for value in BAD_FIELDS[name]])
def test_a_bad_field_is_rejected_in_one_line(name, value):
    with pytest.raises(InvalidInput, match=r"^CellRecord: `\w+` must be .*, got .*\.$") as caught:
        CellTable.from_records([cell(0), cell(1, **{name: value})])
    assert "\n" not in str(caught.value)
    assert f"`{name}`" in str(caught.value) or value == [] or name == "error"


@pytest.mark.parametrize("rounds", [[1, 1], [2, 1], [0, 1], [99, 201]])
def test_rounds_increase_up_to_the_last(rounds):
    with pytest.raises(InvalidInput, match=r"^CellRecord: `rounds` must be "):
        CellTable.from_records([cell(0), cell(1, 2, rounds=rounds)])


def test_a_list_of_anything_else_is_rejected():
    with pytest.raises(InvalidInput, match=r"^CellTable: `records` must be a list of CellRecord, got \{"):
        CellTable.from_records([cell()._asdict()])
