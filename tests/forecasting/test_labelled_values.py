"""The forecasts of one round, in every form in which users pass them, become the vector in the order of the names."""

import array
import collections
import decimal
import fractions
import math
import subprocess
import sys
import types

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

from driftwise.core.errors import InvalidInput
from driftwise.forecasting.labelled_values import as_forecasts, as_names, as_truth, names_of, numbered_names

NAMES = ("arima", "naive", "ets")
VALUES = {"ets": 3.0, "arima": 1.0, "naive": 2.0}  # in another order than the names
WANTED = np.array([1.0, 2.0, 3.0])
Row = collections.namedtuple("Row", list(VALUES))


class Mixture:
    def join(self, name):
        raise NotImplementedError


MIXTURE = Mixture()

BY_NAME = {
    "dict": VALUES,
    "read-only mapping": types.MappingProxyType(VALUES),
    "defaultdict": collections.defaultdict(float, VALUES),
    "named tuple": Row(**VALUES),
    "record of NumPy": np.rec.fromrecords([tuple(VALUES.values())], names=list(VALUES))[0],
    "pandas Series": pd.Series(VALUES),
    "pandas Series of objects": pd.Series(VALUES, dtype=object),
    "pandas Series with NA": pd.Series(VALUES, dtype="Float64"),
    "row of pandas": pd.DataFrame([VALUES]).iloc[0],
    "pandas frame": pd.DataFrame([VALUES]),
    "pandas frame of two types": pd.DataFrame([VALUES]).astype({"ets": int}),
    "named tuple of pandas": next(pd.DataFrame([VALUES]).itertuples(index=False)),
    "polars frame": pl.DataFrame([VALUES]),
    "row of polars": pl.DataFrame([VALUES]).row(0, named=True),
    "Arrow table": pa.Table.from_pylist([VALUES]),
    "Arrow batch": pa.RecordBatch.from_pylist([VALUES]),
    "Arrow scalar": pa.scalar(VALUES, pa.struct([(name, pa.float64()) for name in VALUES])),
}
BY_POSITION = {
    "array": WANTED,
    "strided array": np.repeat(WANTED, 2)[::2],
    "read-only array": np.broadcast_to(WANTED, (2, 3))[0],
    "whole numbers": np.array([1, 2, 3], np.uint8),
    "short floats": WANTED.astype(np.float16),
    "long floats": WANTED.astype(np.longdouble),
    "big-endian": WANTED.astype(">f8"),
    "objects": np.array([1, decimal.Decimal(2), fractions.Fraction(3)], object),
    "list": [1, 2.0, np.float32(3)],
    "tuple": (1.0, 2.0, 3.0),
    "array of Python": array.array("d", WANTED),
    "range": range(1, 4),
    "polars Series": pl.Series(WANTED),
    "Arrow array": pa.array(WANTED),
    "chunked Arrow array": pa.chunked_array([WANTED[:1], WANTED[1:]]),
}


@pytest.mark.parametrize("given", [*BY_NAME.values(), *BY_POSITION.values()], ids=[*BY_NAME, *BY_POSITION])
def test_all_forms_give_the_same_vector(given):
    forecasts = as_forecasts(MIXTURE, given, NAMES)
    assert forecasts.tolist() == WANTED.tolist()
    assert forecasts.dtype == np.float64
    assert forecasts.flags.carray
    assert not np.shares_memory(forecasts, WANTED)


@pytest.mark.parametrize("given", BY_NAME.values(), ids=BY_NAME)
def test_forms_with_labels_name_the_experts(given):
    assert names_of(MIXTURE, given) == tuple(VALUES)


@pytest.mark.parametrize("given", BY_POSITION.values(), ids=BY_POSITION)
def test_forms_without_labels_name_no_experts(given):
    assert names_of(MIXTURE, given) is None


def test_experts_without_names_are_numbered():
    assert numbered_names(3) == ("expert 0", "expert 1", "expert 2")


ASLEEP = {
    "absent": {"arima": 1.0, "ets": 3.0},
    "None": {**VALUES, "naive": None},
    "NaN": {**VALUES, "naive": math.nan},
    "NaN of NumPy": {**VALUES, "naive": np.float32("nan")},
    "NaN of decimals": {**VALUES, "naive": decimal.Decimal("sNaN")},
    "NA": {**VALUES, "naive": pd.NA},
    "NaT": {**VALUES, "naive": pd.NaT},
    "masked constant": {**VALUES, "naive": np.ma.masked},
    "null of Arrow": {**VALUES, "naive": pa.scalar(None, pa.float64())},
    "Series without it": pd.Series({"ets": 3, "arima": 1}),
    "Series of floats": pd.Series({**VALUES, "naive": None}, dtype=float),
    "Series with NA": pd.Series({**VALUES, "naive": None}, dtype="Int64"),
    "Series of objects": pd.Series({**VALUES, "naive": None}, dtype=object),
    "polars frame": pl.DataFrame([{**VALUES, "naive": None}]),
    "Arrow table": pa.Table.from_pylist([{**VALUES, "naive": None}]),
    "list": [1.0, None, 3.0],
    "list with NA": [1.0, pd.NA, 3.0],
    "array": np.array([1.0, np.nan, 3.0]),
    "masked array": np.ma.array([1, 2, 3], mask=[0, 1, 0]),
    "array of objects": np.array([1.0, None, 3.0], object),
    "polars Series": pl.Series([1, None, 3]),
}


@pytest.mark.parametrize("given", ASLEEP.values(), ids=ASLEEP)
def test_a_missing_forecast_is_nan(given):
    np.testing.assert_array_equal(as_forecasts(MIXTURE, given, NAMES), [1.0, np.nan, 3.0])


def test_all_may_be_asleep():
    assert np.isnan(as_forecasts(MIXTURE, {}, NAMES)).all()


@pytest.mark.parametrize(
    ("value", "number"),
    [
        (True, 1.0),
        (np.False_, 0.0),
        (np.int8(-2), -2.0),
        (np.array(2.5), 2.5),
        (pa.scalar(2), 2.0),
        (decimal.Decimal("0.1"), 0.1),
        (fractions.Fraction(1, 4), 0.25),
        (-1e100, -1e100),
    ],
    ids=repr,
)
def test_a_forecast_or_a_truth_is_any_number(value, number):
    assert as_forecasts(MIXTURE, {"a": value}, ("a",))[0] == number
    assert as_truth(MIXTURE, value) == number


@pytest.mark.parametrize(
    "value", [None, math.nan, pd.NA, pd.NaT, np.datetime64("NaT"), np.ma.masked, np.float64("nan"), pa.scalar(None)]
)
def test_a_missing_truth_is_nan(value):
    assert math.isnan(as_truth(MIXTURE, value))


@pytest.mark.parametrize(
    ("value", "message"),
    [
        (math.inf, "a finite number of at most 1e+100 in absolute value, got inf."),
        (-1.1e100, "a finite number of at most 1e+100 in absolute value, got -1.1e+100."),
        (10**400, "a finite number of at most 1e+100 in absolute value, got 1000"),
        (
            decimal.Decimal("-Infinity"),
            "a finite number of at most 1e+100 in absolute value, got Decimal('-Infinity').",
        ),
        ("1.5", "a number, got '1.5'."),
        (1j, "a number, got 1j."),
        ([1.0], "a number, got [1.0]."),
        (np.array([1.0]), "a number, got array([1.])."),
        (pd.Timestamp("2020-01-01"), "a number, got Timestamp('2020-01-01 00:00:00')."),
        (np.timedelta64(1, "s"), "a number, got np.timedelta64(1,'s')."),
        (np.timedelta64(1, "ns"), "a number, got np.timedelta64(1,'ns')."),
        (np.datetime64(1, "ns"), "a number, got np.datetime64('1970-01-01T00:00:00.000000001')."),
    ],
    ids=str,
)
def test_infinite_values_and_what_is_no_number_are_refused(value, message):
    with pytest.raises(InvalidInput) as error:
        as_forecasts(MIXTURE, {"arima": value, "ets": 1.0}, NAMES)
    assert str(error.value).startswith(f"Mixture: `forecasts['arima']` must be {message}")
    with pytest.raises(InvalidInput) as error:
        as_truth("RiverMixture", value)
    assert str(error.value).startswith(f"RiverMixture: `truth` must be {message}")


@pytest.mark.parametrize(
    "given", [np.array([1.0, -np.inf, 2.0]), np.array([1, "1e200", 2], np.longdouble), [1, -math.inf, 2]]
)
def test_infinite_values_in_arrays_are_refused_by_name(given):
    with pytest.raises(
        InvalidInput, match=r"^Mixture: `forecasts\['naive'\]` must be a finite number of at most 1e\+100"
    ):
        as_forecasts(MIXTURE, given, NAMES)


def test_an_unknown_label_is_refused_with_the_nearest_name():
    for given in ({"arma": 1.0, "ets": 2.0}, pd.Series({"ets": 2.0, "arma": 1.0}), pl.DataFrame({"ets": 2, "arma": 1})):
        with pytest.raises(InvalidInput) as error:
            as_forecasts(MIXTURE, given, NAMES)
        assert str(error.value) == (
            "Mixture: `forecasts` must be of the experts 'arima', 'naive', 'ets', got 'arma'. Did you mean 'arima'?"
            ' A new expert joins by `mix.join("arma")`.'
        )


def test_only_an_owner_with_join_is_named_for_it():
    with pytest.raises(InvalidInput, match=r"got 'arma'\. Did you mean 'arima'\?$"):
        as_forecasts("combine", {"arma": 1.0}, NAMES)
    with pytest.raises(InvalidInput, match=r"must be of the experts 'arima', 'naive', 'ets', got 'zzz'\.$"):
        as_forecasts("combine", {"zzz": 1.0}, NAMES)


def test_the_index_of_pandas_rows_is_no_expert():
    with pytest.raises(InvalidInput, match=r"got 'Index'\. Use `frame\.itertuples\(index=False\)`\.$"):
        as_forecasts(MIXTURE, next(pd.DataFrame([VALUES]).itertuples()), NAMES)


def test_a_series_with_numbers_as_labels_is_not_read_by_position():
    with pytest.raises(InvalidInput, match="got '0'"):
        as_forecasts(MIXTURE, pd.Series([1.0, 2.0, 3.0]), NAMES)


def test_whole_numbers_are_labels_as_text():
    assert names_of(MIXTURE, pd.Series([1.0, 2.0])) == ("0", "1")
    assert as_forecasts(MIXTURE, {1: 5.0, np.int64(0): 4.0}, ("0", "1")).tolist() == [4.0, 5.0]
    with pytest.raises(InvalidInput, match="must name every expert once, got '1' twice"):
        as_forecasts(MIXTURE, {1: 5.0, "1": 4.0}, ("0", "1"))


@pytest.mark.parametrize(
    "given",
    [
        pd.Series([1.0, 2.0, 3.0], ["ets", "arima", "ets"]),
        pd.DataFrame([[1.0, 2.0, 3.0]], columns=["ets", "arima", "ets"]),
        pa.table([pa.array([1.0])] * 3, ["ets", "arima", "ets"]),
    ],
    ids=["Series", "frame", "Arrow"],
)
def test_a_label_that_occurs_twice_is_refused(given):
    for call in (lambda: as_forecasts(MIXTURE, given, NAMES), lambda: names_of(MIXTURE, given)):
        with pytest.raises(
            InvalidInput, match=r"^Mixture: `forecasts` must name every expert once, got 'ets' twice\.$"
        ):
            call()


@pytest.mark.parametrize("labels", [[True], [""], [None], [1.5], [("a", "b")]], ids=repr)
def test_other_labels_are_refused(labels):
    with pytest.raises(InvalidInput, match="`forecasts` must be labelled by names of experts, got "):
        as_names(MIXTURE, labels)
    with pytest.raises(InvalidInput, match="`experts` must be labelled by names of experts, got "):
        as_names(MIXTURE, labels, "experts")


class Labelled(np.ndarray):
    index = ("a", "b", "c")


class OfLibrary(pd.Series):
    """As in packages that build on pandas."""


@pytest.mark.parametrize(
    ("given", "message"),
    [
        ([1.0, 2.0], r"of 3 values, one for each expert \('arima', 'naive', 'ets'\), got 2\. Pass a dict by name"),
        (np.zeros(4), r"of 3 values, one for each expert \('arima', 'naive', 'ets'\), got 4\. Pass a dict by name"),
        (np.zeros((1, 3)), r"`forecasts` must have one dimension, got an array of shape \(1, 3\)\.$"),
        (1.0, r"an array, a dict by name, a Series or a frame of one row, got 1\.0\.$"),
        (None, r"a Series or a frame of one row, got None\.$"),
        ("abc", "a Series or a frame of one row, got 'abc'"),
        (b"abc", "a Series or a frame of one row, got b'abc'"),
        ({1.0, 2.0, 3.0}, "a Series or a frame of one row, got {"),
        (iter([1.0, 2.0, 3.0]), "a Series or a frame of one row, got <list_iterator"),
        (np.array(["1", "2", "3"]), r"`forecasts\['arima'\]` must be a number, got np\.str_\('1'\)"),
        (pl.LazyFrame([VALUES]), r"got a LazyFrame\. Pass `frame\.collect\(\)`\.$"),
        (pd.Index([1.0, 2.0, 3.0]), r"got a Index\.$"),
        (
            pd.DataFrame([VALUES] * 2),
            r"must be a frame of one row, got 2 rows\. `driftwise\.forecasting\.combine` takes",
        ),
        (pl.DataFrame([VALUES]).clear(), r"must be a frame of one row, got 0 rows\."),
        (pa.Table.from_pylist([VALUES] * 3), r"must be a frame of one row, got 3 rows\."),
        (WANTED.view(Labelled), r"got a Labelled\. It has labels: pass a dict or a Series of pandas\.$"),
    ],
    ids=lambda each: type(each).__name__,
)
def test_other_forms_are_refused(given, message):
    with pytest.raises(InvalidInput, match=message):
        as_forecasts(MIXTURE, given, NAMES)


def test_classes_derived_from_a_series_are_matched_by_label():
    assert as_forecasts(MIXTURE, OfLibrary(VALUES), NAMES).tolist() == WANTED.tolist()


def test_a_first_round_has_at_least_one_expert():
    for given in ({}, [], np.zeros(0)):
        with pytest.raises(InvalidInput, match="must be of at least one expert, got "):
            names_of(MIXTURE, given)


def test_what_is_refused_or_read_is_not_changed():
    given = collections.defaultdict(float, {"arima": 1.0})
    as_forecasts(MIXTURE, given, NAMES)
    assert dict(given) == {"arima": 1.0}
    values = np.array([1.0, np.inf, 2.0])
    with pytest.raises(InvalidInput):
        as_forecasts(MIXTURE, values, NAMES)
    assert values.tolist() == [1.0, np.inf, 2.0]


def test_no_library_of_frames_is_imported():
    program = (
        "import sys, numpy; from driftwise.forecasting.labelled_values import as_forecasts, names_of;"
        "as_forecasts('Mixture', {'a': 1, 'b': numpy.float32(2)}, ('a', 'b'));"
        "as_forecasts('Mixture', range(2), ('a', 'b')); names_of('Mixture', [1.0]);"
        "print({'pandas', 'polars', 'pyarrow', 'narwhals'} & set(sys.modules))"
    )
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert done.stdout == "set()\n"
