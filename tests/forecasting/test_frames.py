"""Frames of pandas, polars and Arrow: `combine` plays the rounds of their rows, in all layouts."""

import datetime
import decimal
import subprocess
import sys

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

from driftwise.core.errors import InvalidInput, LayoutWarning
from driftwise.forecasting import MixtureOptions, MixtureStack
from driftwise.forecasting.frames import combine
from driftwise.learners import Tracker

N = 40
NAMES = ("arima", "naive", "ets")
MAKERS = {"pandas": pd.DataFrame, "polars": pl.DataFrame, "pyarrow": pa.table}
every_library = pytest.mark.parametrize("make", MAKERS.values(), ids=MAKERS)


def example(seed=0):
    """Return truths and forecasts with gaps: all are missing in the first and in a later row, and so is a truth."""
    random = np.random.default_rng(seed)
    truths = random.normal(size=N).cumsum()
    forecasts = truths[:, None] + random.normal(size=(N, 3)) * [1.0, 2.0, 0.5]
    forecasts[random.random((N, 3)) < 0.2] = np.nan
    forecasts[[0, 9]] = np.nan
    truths[13] = np.nan
    return truths, forecasts


def columns(truths, forecasts):
    return {"y": truths, **dict(zip(NAMES, forecasts.T, strict=True))}


def values(frame, name):
    """Return a column of any library as floats."""
    column = frame[name].to_pandas() if isinstance(frame, (pl.DataFrame, pa.Table)) else frame[name]
    return column.to_numpy(float)


def names_of_columns(frame):
    return list(frame.column_names if isinstance(frame, pa.Table) else frame.columns)


def assert_plays(result, played, names=NAMES):
    np.testing.assert_array_equal(values(result, "forecast"), played.combined)
    for k, name in enumerate(names):
        np.testing.assert_array_equal(values(result, f"weight_{name}"), played.weights[:, k])


def alone(truths, forecasts, **options):
    return MixtureStack(MixtureOptions(**options), forecasts.shape[1]).run(forecasts, truths)


@every_library
def test_a_wide_frame_is_played_row_by_row(make):
    truths, forecasts = example()
    frame = make(columns(truths, forecasts))
    result = combine(frame)
    assert type(result) is type(frame)
    assert names_of_columns(result) == ["y", "forecast", "weight_arima", "weight_naive", "weight_ets"]
    played = alone(truths, forecasts)
    assert_plays(result, played)
    np.testing.assert_array_equal(values(result, "y"), truths)
    assert np.isnan(played.combined).tolist() == [True] + [False] * (N - 1)


@every_library
def test_every_series_has_a_mixture_of_its_own(make):
    parts = [example(seed) for seed in range(3)]
    turns = np.random.default_rng(9).permutation(np.repeat(np.arange(3), N))  # rows of the series in turns
    places = [iter(range(N)) for _ in range(3)]
    rows = [(part, next(places[part])) for part in turns]
    truths = np.array([parts[part][0][i] for part, i in rows])
    forecasts = np.array([parts[part][1][i] for part, i in rows])
    keys = {"shop": ["b" if part < 2 else "a" for part, _ in rows], "item": [int(part != 1) for part, _ in rows]}
    frame = make({**columns(truths, forecasts), **keys, "hour": [i for _, i in rows]})
    for n_threads in (1, 2):
        result = combine(frame, by=["shop", "item"], time="hour", n_threads=n_threads)
        assert names_of_columns(result)[:4] == ["shop", "item", "hour", "y"]
        for part in range(3):
            played = alone(*parts[part])
            np.testing.assert_array_equal(values(result, "forecast")[turns == part], played.combined)
            np.testing.assert_array_equal(values(result, "weight_ets")[turns == part], played.weights[:, 2])


def test_pandas_keeps_its_index_and_its_types():
    truths, forecasts = example()
    index = pd.Index(np.random.default_rng(0).permutation(N), name="number")
    frame = pd.DataFrame({"day": pd.period_range("2020", periods=N, freq="D"), **columns(truths, forecasts)}, index)
    result = combine(frame, time="day")
    assert result.index.equals(index)
    assert result.index.name == "number"
    assert result["day"].equals(frame["day"])
    assert_plays(result, alone(truths, forecasts))


@pytest.mark.parametrize(
    "index", [[0] * N, pd.MultiIndex.from_product([[0, 1], range(N // 2)])], ids=["equal", "multi"]
)
def test_labels_of_rows_do_not_matter(index):
    truths, forecasts = example()
    frame = pd.DataFrame(columns(truths, forecasts), index)
    result = combine(frame)
    assert_plays(result, alone(truths, forecasts))
    assert result.index.equals(frame.index)


def test_missing_forecasts_are_null_outside_of_pandas():
    frame = {"y": [1.0, 2.0, 3.0], "a": [None, 1.0, 2.0]}
    assert combine(pl.DataFrame(frame))["forecast"].to_list()[:2] == [None, 1.0]
    assert combine(pa.table(frame))["forecast"].to_pylist()[:2] == [None, 1.0]
    assert np.isnan(combine(pd.DataFrame(frame))["forecast"][0])


@pytest.mark.parametrize(
    "frame",
    [
        pd.DataFrame({"y": [1, 0, 1], "a": [True, False, True], "b": [0.5, None, 1]}),
        pd.DataFrame({"y": [1, 0, 1], "a": [True, False, True], "b": [0.5, None, 1]}).convert_dtypes(),
        pd.DataFrame({"y": [1, 0, 1], "a": [1, 0, 1], "b": [0.5, None, 1]}).convert_dtypes(dtype_backend="pyarrow"),
        pd.DataFrame({"y": [1, 0, 1], "a": [1, 0, 1], "b": [decimal.Decimal("0.5"), pd.NA, 1]}, dtype=object),
        pl.DataFrame(
            {"y": [1, 0, 1], "a": [True, False, True], "b": [decimal.Decimal("0.5"), None, decimal.Decimal(1)]}
        ),
        pl.DataFrame({"y": [1, 0, 1], "a": [True, False, True], "b": [0.5, float("nan"), 1.0]}),
        pa.table({"y": [1, 0, 1], "a": [True, False, True], "b": [0.5, None, 1.0]}),
    ],
    ids=["pandas", "nullable", "Arrow in pandas", "objects", "decimals", "NaN", "Arrow"],
)
def test_columns_of_any_numbers_are_read(frame):
    wanted = alone(np.array([1.0, 0.0, 1.0]), np.array([[1.0, 0.5], [0.0, np.nan], [1.0, 1.0]]))
    assert_plays(combine(frame), wanted, ["a", "b"])


@every_library
def test_a_column_of_nulls_is_an_expert_that_sleeps(make):
    truths, forecasts = example()
    result = combine(make({**columns(truths, forecasts), "none": [None] * N}))
    assert values(result, "weight_none").max() == 0.0


@every_library
def test_the_given_frame_is_not_changed(make):
    given = columns(*example())
    frame, copy = make(given), make({name: column.copy() for name, column in given.items()})
    combine(frame, extras=("last-truth",))
    for name in given:
        np.testing.assert_array_equal(values(frame, name), values(copy, name))
    assert names_of_columns(frame) == list(given)


def test_options_and_extras_reach_the_mixture():
    truths, forecasts = example()
    frame = pl.DataFrame(columns(truths, forecasts))
    learner = Tracker(both_guesses=True)
    options = {"extras": ("last-truth",), "learner": learner, "gradient": False, "hint": "none", "scale": 9.0}
    assert_plays(combine(frame, **options), alone(truths, forecasts, **options), (*NAMES, "last truth"))
    assert combine(frame, weights=False).columns == ["y", "forecast"]
    chosen = combine(frame, experts=["ets", "arima"])
    assert chosen.columns == ["y", "forecast", "weight_ets", "weight_arima"]
    assert_plays(chosen, alone(truths, forecasts[:, [2, 0]]), ["ets", "arima"])


def nixtla(make=pd.DataFrame, **more):
    """Return a frame as Nixtla's libraries write them, its rounds, and its numbers of series."""
    parts = [example(seed) for seed in range(2)]
    truths, forecasts = (np.concatenate([part[k] for part in parts]) for k in range(2))
    days = np.arange("2020-01-01", N, dtype="datetime64[D]").astype("datetime64[us]")
    ids = {"unique_id": ["H1"] * N + ["D1"] * N, "ds": np.tile(days, 2)}
    return make({**ids, **columns(truths, forecasts), **more}), parts


@every_library
def test_nixtlas_layout_is_recognised(make):
    frame, parts = nixtla(make)
    result = combine(frame, target="y")
    assert names_of_columns(result)[:4] == ["unique_id", "ds", "y", "forecast"]
    whole = np.concatenate([alone(*part).combined for part in parts])
    np.testing.assert_array_equal(values(result, "forecast"), whole)


@every_library
def test_bounds_of_intervals_are_no_experts(make):
    bounds = {f"ets-{side}-{level}": np.zeros(2 * N) for side in ("lo", "hi") for level in ("90", "99.5")}
    frame, _ = nixtla(make, **bounds)
    with pytest.warns(LayoutWarning, match="left out: ets-lo-90, ets-lo-99.5, ets-hi-90, ets-hi-99.5. Combine") as seen:
        result = combine(frame)
    assert seen[0].filename == __file__
    assert [name for name in names_of_columns(result) if "weight" in name] == [f"weight_{name}" for name in NAMES]
    listed = combine(frame, experts=["ets", "ets-hi-90"])
    assert names_of_columns(listed)[-1] == "weight_ets-hi-90"


def test_a_cutoff_is_no_expert_and_rows_are_played_in_the_order_of_the_time():
    frame, parts = nixtla()
    frame["cutoff"] = frame["ds"] - pd.Timedelta(days=1)
    shuffled = frame.sample(frac=1.0, random_state=0)
    result = combine(shuffled)
    assert list(result)[:4] == ["unique_id", "ds", "cutoff", "y"]
    assert result.index.equals(shuffled.index)
    whole = np.concatenate([alone(*part).combined for part in parts])
    np.testing.assert_array_equal(result["forecast"].sort_index(), whole)
    np.testing.assert_array_equal(result["weight_ets"].sort_index(), combine(frame)["weight_ets"])


TIMES = {
    "strings": [f"2020-{i:03}" for i in range(N)],
    "whole numbers": range(N),
    "above 2**53": 2**60 + np.arange(N),
    "above 2**63": np.uint64(2**63) + np.arange(N, dtype=np.uint64),
    "floats": np.linspace(0, 1, N),
    "dates": [datetime.date(2020, 1, 1) + datetime.timedelta(i) for i in range(N)],
    "zone": pd.date_range("2020-10-25", periods=N, freq="h", tz="Europe/Berlin"),  # the clock goes back once
}


@pytest.mark.parametrize("times", TIMES.values(), ids=TIMES)
@every_library
def test_times_of_any_type_are_compared(make, times):
    truths, forecasts = example()
    frame = make({"t": times, **columns(truths, forecasts)})
    assert_plays(combine(frame, time="t"), alone(truths, forecasts))
    swapped = frame.take([0, 1, 3, 2]) if make is not pl.DataFrame else frame[[0, 1, 3, 2]]
    with pytest.raises(
        InvalidInput, match=r"^combine: the column 't' must increase within a series, got .* in row 3\."
    ):
        combine(swapped, time="t")


@pytest.mark.parametrize("kind", ["Int64", "UInt64", "int64[pyarrow]", "object"])
def test_whole_times_above_2_to_the_53_are_compared_exactly_in_every_type_of_pandas(kind):
    truths, forecasts = example()
    frame = pd.DataFrame({"t": pd.Series([2**60 + i for i in range(N)], dtype=kind), **columns(truths, forecasts)})
    assert_plays(combine(frame, time="t"), alone(truths, forecasts))
    with pytest.raises(InvalidInput, match=rf"got {2**60 + 2} in row 3\."):
        combine(frame.take([0, 1, 3, 2]), time="t")


def long_frame(make, seed=None):
    """Return example 0 in the long layout, without the rows of missing forecasts, in any order of rows."""
    truths, forecasts = example()
    rows = [(i, k) for i in range(N) for k in range(3) if not np.isnan(forecasts[i, k])]
    if seed is not None:
        rows = [rows[i] for i in np.random.default_rng(seed).permutation(len(rows))]
    long = {
        "ds": [f"day {i:02}" for i, _ in rows],
        "model": [NAMES[k] for _, k in rows],
        "value": [forecasts[i, k] for i, k in rows],
        "y": [None if np.isnan(truths[i]) else truths[i] for i, _ in rows],
    }
    return make(long)


@pytest.mark.parametrize("seed", [None, 1], ids=["sorted", "shuffled"])
@every_library
def test_a_long_frame_gives_one_row_per_time(make, seed):
    truths, forecasts = example()
    result = combine(long_frame(make, seed), target="y", time="ds", expert="model", forecast="value")
    days = [i for i in range(N) if not np.isnan(forecasts[i]).all()]
    assert list(result["ds"].to_pylist() if make is pa.table else result["ds"]) == [f"day {i:02}" for i in days]
    np.testing.assert_array_equal(values(result, "y"), truths[days])
    assert names_of_columns(result)[:3] == ["ds", "y", "forecast"]
    names = [name.removeprefix("weight_") for name in names_of_columns(result)[3:]]  # as they first occur
    assert sorted(names) == sorted(NAMES)
    assert_plays(result, alone(truths[days], forecasts[days][:, [NAMES.index(name) for name in names]]), names)


@every_library
def test_a_long_frame_may_have_series_and_rows_without_forecasts(make):
    long = {
        "unique_id": [2, 2, 1, 1, 1],
        "ds": [1, 1, 2, 1, 2],
        "model": [7, 8, 7, 7, 8],
        "value": [1.0, 3.0, 5.0, None, 7.0],
        "y": [2.0, None, 6.0, 4.0, 6.0],
    }
    result = combine(make(long), time="ds", expert="model", forecast="value")
    assert names_of_columns(result) == ["unique_id", "ds", "y", "forecast", "weight_7", "weight_8"]
    assert values(result, "unique_id").tolist() == [2, 1, 1]
    assert values(result, "ds").tolist() == [1, 1, 2]
    assert values(result, "y").tolist() == [2.0, 4.0, 6.0]
    second = alone(np.array([4.0, 6.0]), np.array([[np.nan, np.nan], [5.0, 7.0]]))
    np.testing.assert_array_equal(values(result, "weight_7"), [0.5, *second.weights[:, 0]])
    np.testing.assert_array_equal(values(result, "forecast"), [2.0, *second.combined])


def test_the_first_truth_of_a_round_of_a_long_frame_may_be_kept():
    frame = pd.DataFrame(
        {"ds": [1, 1, 2, 2], "m": ["a", "b"] * 2, "v": [1.0, 2.0, 3.0, 4.0], "y": [1.0, 1.5, 2.0, 2.0]}
    )
    result = combine(frame, time="ds", expert="m", forecast="v", revised="ignore")
    assert result["y"].tolist() == [1.0, 2.0]


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (
            {"ds": [1, 1, 1, 2]},
            r"every expert must have one row per time, got 'a' at 1 again in row 2\. Name the columns",
        ),
        ({"y": [1.0, 1.5, 2.0, 2.0]}, r"'y' must have one truth per time, got 1\.5 and 1\.0 at 1, row 1\. To keep"),
        ({"ds": [1, 1, None, 2]}, r"the column 'ds' must have a value in every row, got none in row 2\.$"),
        ({"model": ["a", None, "a", "b"]}, r"the column 'model' must have a value in every row, got none in row 1\.$"),
        ({"model": ["a", "", "a", "b"]}, r"`expert` must be labelled by names of experts, got ''\.$"),
        ({"value": ["1", "2", "3", "4"]}, r"the column 'value' must have numbers, got the type String\."),
    ],
    ids=["repeated", "truths", "no time", "no expert", "empty name", "text"],
)
def test_faults_of_long_frames_are_refused(change, message):
    good = {"ds": [1, 1, 2, 2], "model": ["a", "b", "a", "b"], "value": [1.0] * 4, "y": [1.0, 1.0, 2.0, 2.0]}
    with pytest.raises(InvalidInput, match=message):
        combine(pl.DataFrame({**good, **change}, strict=False), time="ds", expert="model", forecast="value")


GOOD = {"ds": [1, 2, 3, 4], "y": [1.0, 2.0, 3.0, 4.0], "arima": [1.0, 2.0, 3.0, 4.0], "naive": [0.0, 1.0, 2.0, 3.0]}


@pytest.mark.parametrize(
    ("change", "arguments", "message"),
    [
        ({}, {"target": "yy"}, r"`target` must be a column of the frame, got 'yy'\. Did you mean 'y'\?$"),
        ({}, {"target": 3}, r"`target` must be the name of a column, got 3\.$"),
        (
            {},
            {"time": "date"},
            r"`time` must be a column of the frame, got 'date'\. Its columns are \['ds', 'y', 'arima',",
        ),
        ({}, {"by": ["shop"]}, r"`by` must be a column of the frame, got 'shop'\."),
        ({}, {"by": 3}, r"`by` must be the name of a column, or a list of names, got 3\.$"),
        ({}, {"experts": ["arma"]}, r"`experts` must be a column of the frame, got 'arma'\. Did you mean 'arima'\?$"),
        ({}, {"experts": "arima"}, r"`experts` must be a list of names of columns, got 'arima'\.$"),
        ({}, {"experts": []}, r"`experts` must be a list of names of columns, got \[\]\.$"),
        ({}, {"experts": ["arima", "arima"]}, r"a column must have one role, got 'arima' twice\.$"),
        ({}, {"experts": ["arima", "y"]}, r"a column must have one role, got 'y' twice\.$"),
        ({}, {"experts": ["arima"], "expert": "naive"}, r"`experts` and `quantiles` are of wide frames"),
        ({}, {"expert": "naive"}, r"`forecast` must be the name of a column, got None\.$"),
        ({}, {"expert": "naive", "forecast": "arima"}, r"`time` must be the name of a column, got None\.$"),
        ({}, {"n_threads": 0}, r"`n_threads` must be a whole number >= 1, got 0\.$"),
        (
            {},
            {"loss": "log", "time": "ds"},
            r"'arima' must have in \[0, 1\] for the log loss in every row, got 2\.0 in row 1\.$",
        ),
        ({"shop": ["a"] * 4}, {}, r"the column 'shop' must have numbers, got the type String\. Name the columns of"),
        ({"y": ["a"] * 4}, {}, r"the column 'y' must have numbers, got the type String\."),
        ({"naive": [1, 2, np.inf, 4]}, {}, r"'naive' must have a finite number .* in every row, got inf in row 2\.$"),
        ({"y": [1, -1e101, 3, 4]}, {}, r"'y' must have a finite number .* in every row, got -1e\+101 in row 1\.$"),
        (
            {"ds": [1, 3, 2, 4]},
            {"time": "ds"},
            r"'ds' must increase within a series, got 2 in row 2\. Sort the frame by it\. If each time is",
        ),
        (
            {"ds": [1, 2, 2, 4]},
            {"time": "ds"},
            r"'ds' must have different times .*, got again 2 in row 2\. Name the columns",
        ),
        ({"ds": [1, 2, None, 4]}, {"time": "ds"}, r"'ds' must have a value in every row, got none in row 2\.$"),
        ({"id": [1.0, 1.0, 1.0, np.nan]}, {"by": "id"}, r"'id' must have a value in every row, got none in row 3\.$"),
        (
            {"forecast": [1, 1, 1, 1]},
            {"by": "forecast"},
            r"the result has a column 'forecast'; rename that of the frame\.$",
        ),
    ],
)
@pytest.mark.parametrize("make", [pd.DataFrame, pl.DataFrame], ids=["pandas", "polars"])
def test_faults_of_wide_frames_are_refused(make, change, arguments, message):
    given = {name: np.array(each) if None not in each else each for name, each in {**GOOD, **change}.items()}
    with pytest.raises(InvalidInput, match=message):
        combine(make(given), **arguments)


def test_the_first_unsorted_row_of_all_series_is_named():
    frame = pl.DataFrame({"id": [1, 2, 1, 2, 1, 2], "t": [1, 9, 2, 8, 0, 7], "y": [0.0] * 6, "a": [0.0] * 6})
    with pytest.raises(InvalidInput, match=r"'t' must increase within a series, got 8 in row 3\."):
        combine(frame, by="id", time="t")


@pytest.mark.parametrize(
    ("frame", "message"),
    [
        (pl.LazyFrame(GOOD), r"a table of Arrow, got a LazyFrame\. Pass `frame\.collect\(\)`\.$"),
        (GOOD, r"`frame` must be a frame of pandas or polars, or a table of Arrow, got a dict\.$"),
        (np.zeros((3, 3)), r"a table of Arrow, got a ndarray\.$"),
        (pd.DataFrame(GOOD).head(0), r"`frame` must have at least one row, got none\.$"),
        (pl.DataFrame(), r"`frame` must have at least one row, got none\.$"),
        (pd.DataFrame({"y": [1.0]}), r"the frame must have a column of forecasts, got only y\.$"),
        (pd.DataFrame([[1.0, 2.0]], columns=["y", "y"]), r"must have different names of columns, got 'y' twice\.$"),
        (pa.table([[1.0], [1.0]], ["a", "a"]), r"must have different names of columns, got 'a' twice\.$"),
        (pd.DataFrame([[1.0, 2.0]]), r"a frame whose columns have text as names, got 0\. Write `frame\.columns = "),
        (pd.DataFrame(GOOD).set_index("y"), r"got 'y'\. It is in the index: pass `frame\.reset_index\(\)`\.$"),
        (pd.DataFrame({"y": [1.0, 2.0], "a": [1.0, "2"]}), r"'a' must have a number in every row, got '2' in row 1\.$"),
    ],
    ids=["lazy", "dict", "array", "no rows", "nothing", "no experts", "equal", "Arrow", "numbers", "index", "mixed"],
)
def test_other_frames_are_refused(frame, message):
    with pytest.raises(InvalidInput, match=message):
        combine(frame)


def test_without_narwhals_the_message_says_how_to_install_it():
    program = (
        "import sys; sys.modules['narwhals'] = None\n"
        "from driftwise.forecasting.frames import combine\n"
        "try:\n    combine(None)\nexcept ImportError as error:\n    print(error)"
    )
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert done.stdout == "Reading a frame needs Narwhals 2: install it with `pip install 'driftwise[frames]'`.\n"
