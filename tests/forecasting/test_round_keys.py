"""The keys of rounds: which are allowed, and that a file gives back the same ones."""

import json
import math
import sys
from datetime import UTC, date, datetime, time, timedelta, timezone
from decimal import Decimal
from fractions import Fraction
from typing import NamedTuple
from zoneinfo import ZoneInfo

import numpy as np
import pandas as pd
import pytest

from driftwise.core.errors import BadFile, InvalidInput
from driftwise.forecasting import Mixture
from driftwise.forecasting.round_keys import loaded_key, round_key, stored_key
from driftwise.learners import OptimisticHedge

LEARNER = OptimisticHedge()
BERLIN = ZoneInfo("Europe/Berlin")
DAY = date(2026, 11, 17)
TWICE = datetime(2026, 10, 25, 2, 30, tzinfo=BERLIN)  # clocks show this time twice
TIMES = [
    DAY,
    date.min,
    datetime(2026, 11, 17),
    datetime(2026, 11, 17, 6, 5, 4, 3, fold=1),
    datetime(2026, 11, 17, 6, tzinfo=UTC),
    datetime(2026, 11, 17, 6, tzinfo=timezone(timedelta(hours=-5, microseconds=7), "mine")),
    datetime(2026, 11, 17, 6, tzinfo=BERLIN),
    TWICE,
    TWICE.replace(fold=1),
    np.datetime64("2026-11"),
    np.datetime64(DAY),
    np.datetime64(7, "3D"),
    np.datetime64("2026-11-17T06:05:04.000000003"),
    np.datetime64(-(2**62), "as"),
    pd.Timestamp(DAY),
    pd.Timestamp("2026-11-17 06:05:04.000000003"),
    pd.Timestamp("1066-10-14").as_unit("s"),
    pd.Timestamp("2026-11-17 06:00", tz="UTC"),
    pd.Timestamp("2026-11-17 06:00+02:00"),
    pd.Timestamp("2026-11-17 06:00", tz="America/New_York").as_unit("ms"),
    pd.Timestamp("2026-10-25 00:30", tz="UTC").tz_convert("Europe/Berlin"),
    pd.Timestamp("2026-10-25 01:30", tz="UTC").tz_convert("Europe/Berlin"),
]
PLAIN = ["", "ü\ud800", "date", -1, 0, 2**63 - 1, 1 - 2**63, 0.5, math.inf, True, False]
TUPLES = [("north", DAY), (3, None, 0.5), (pd.Timestamp(DAY), np.datetime64(DAY), DAY), ("tuple",)]


def one_round(key):
    mix = Mixture(2, learner=LEARNER)
    mix.predict([1.0, 2.0], key=key)
    return mix


@pytest.mark.interpreted
@pytest.mark.parametrize("key", [None, *PLAIN, *TIMES, *TUPLES], ids=repr)
def test_a_key_is_found_again_in_a_file(key, tmp_path):
    mix = one_round(key)
    mix.save(tmp_path / "waiting")
    other = Mixture.load(tmp_path / "waiting")
    (loaded,) = other.waiting
    assert (type(loaded), loaded, hash(loaded), repr(stored_key(loaded))) == (
        type(key),
        key,
        hash(key),
        repr(stored_key(key)),
    )
    other.update(1.0, key=key)
    other.save(tmp_path / "finished")
    other = Mixture.load(tmp_path / "finished")
    if key is not None:
        with pytest.raises(InvalidInput, match="was given already"):
            other.predict([1.0, 2.0], key=key)


@pytest.mark.parametrize("key", TIMES, ids=repr)
def test_a_time_from_a_file_is_the_same_to_its_unit_and_its_zone(key):
    loaded = loaded_key(json.loads(json.dumps(stored_key(key))))
    if isinstance(key, np.datetime64):
        assert loaded.dtype == key.dtype
    elif isinstance(key, datetime):
        assert (loaded.tzinfo, loaded.fold, loaded.utcoffset()) == (key.tzinfo, key.fold, key.utcoffset())
        assert getattr(loaded, "unit", "") == getattr(key, "unit", "")


@pytest.mark.interpreted
@pytest.mark.parametrize(
    ("key", "kept"),
    [
        (np.int64(3), 3),
        (np.uint8(3), 3),
        (np.float64(0.25), 0.25),
        (np.float32(0.1), float(np.float32(0.1))),
        (np.bool_(True), True),
        (np.str_("north"), "north"),
        ((np.int64(3), np.str_("a")), (3, "a")),
    ],
    ids=repr,
)
def test_numbers_of_numpy_are_kept_as_those_of_python(key, kept, tmp_path):
    mix = one_round(key)
    assert [(type(one), one) for one in mix.waiting] == [(type(kept), kept)]
    mix.update(1.0, key=key)  # found under either
    assert [type(one) for one in mix._finished] == [type(kept)]
    mix.save(tmp_path / "mixture")
    with pytest.raises(InvalidInput, match="was given already"):
        Mixture.load(tmp_path / "mixture").predict([1.0, 2.0], key=kept)


class Place(NamedTuple):
    name: str


class Text(str):
    pass


class Zone(type(BERLIN)):
    pass


NO_KEYS = [
    math.nan,
    np.float64("nan"),
    np.datetime64("NaT"),
    np.datetime64("NaT", "D"),
    pd.NaT,
    pd.NA,
    ("north", math.nan),
    ("north", pd.NaT),
    (),
    (("north",), 1),
    ("north", [1]),
    [1],
    {},
    frozenset(),
    b"north",
    2**63,
    -(2**63),
    10**30,
    1j,
    Decimal(1),
    Fraction(1),
    np.longdouble(1),
    time(6),
    timedelta(days=1),
    np.timedelta64(1, "D"),
    pd.Timedelta("1D"),
    pd.Period("2026-11", "M"),
    Text("north"),
    Place("north"),
    object,
    np.array(1),
    np.array([1.0, 2.0]),
    datetime(2026, 11, 17, tzinfo=Zone("Europe/Berlin")),
]


@pytest.mark.interpreted
@pytest.mark.parametrize("key", NO_KEYS, ids=repr)
def test_what_cannot_be_a_key_is_refused_with_the_forecast(key, tmp_path):
    mix = one_round("first")
    with pytest.raises(InvalidInput, match=r"^Mixture: `key` must be a text, a number, a date, a time of") as error:
        mix.predict([1.0, 2.0], key=key)
    assert "\n" not in str(error.value)
    with pytest.raises(InvalidInput, match=r"no forecast with the key|`truth` must be a list of"):
        mix.update(1.0, key=key)
    assert mix.waiting == ("first",)
    mix.save(tmp_path / "mixture")


def test_the_truth_of_a_round_is_kept_under_a_key_that_can_be_saved(tmp_path):
    """A value of another type may be equal to a key: that of the round is kept, or the other is refused."""
    mix = one_round(1)
    with pytest.raises(InvalidInput, match="no forecast with the key Decimal"):
        mix.update(1.0, key=Decimal(1))
    mix.update(1.0, key=np.int8(1))
    mix.save(tmp_path / "mixture")
    assert [*Mixture.load(tmp_path / "mixture")._finished] == [1]


BAD_FORMS = [
    [],
    {},
    [1],
    ["date"],
    ["date", 5],
    ["date", "2026-02-30"],
    ["date", "20261117"],
    ["date", "2026-11-17", 1],
    ["datetime", "2026-11-17T06:00:00", 0],
    ["datetime", "2026-11-17T06:00:00", 2, None],
    ["datetime", "2026-11-17T06:00:00", False, None],
    ["datetime", "2026-11-17T06:00:00+01:00", 0, None],
    ["datetime", "2026-11-17T06:00:00", 0, 10**15],
    ["datetime", "2026-11-17T06:00:00", 0, True],
    ["datetime", "2026-11-17T06:00:00", 0, 0.5],
    ["datetime", "2026-11-17T06:00:00", 0, [1]],
    ["datetime", "2026-11-17T06:00:00", 0, ""],
    ["datetime", "2026-11-17T06:00:00", 0, "../../etc/passwd"],
    ["datetime", "2026-11-17T06:00:00", 0, "/etc/localtime"],
    ["datetime", "2026-11-17T06:00:00", 0, "Europe"],
    ["datetime", "2026-11-17T06:00:00", 0, "\0"],
    ["datetime", "2026-11-17T06:00:00", 0, "x" * 10_000],
    ["datetime64", 1, "D"],
    ["datetime64", 1, "D", 0],
    ["datetime64", 1, "D", 2**31],
    ["datetime64", 1, "D", True],
    ["datetime64", 1, "generic", 1],
    ["datetime64", 1, "D],i8,M8[", 1],
    ["datetime64", -(2**63), "D", 1],
    ["datetime64", 2**63, "D", 1],
    ["datetime64", 1.0, "D", 1],
    ["datetime64", [1, 2], "D", 1],
    ["Timestamp", -(2**63), "ns", None],
    ["Timestamp", 2**63 - 1, "us", "Europe/Berlin"],
    ["Timestamp", 1, "D", None],
    ["Timestamp", 1, "ns", "Nowhere"],
    ["Timestamp", "1", "ns", None],
    ["tuple"],
    ["tuple", ["tuple", 1]],
    ["tuple", ["date", "2026-11-17"], {}],
    ["Period", 1, "M"],
    ["__import__", "os"],
    [["date", "2026-11-17"]],
    math.nan,
    2**63,
]


@pytest.mark.parametrize("form", BAD_FORMS, ids=lambda form: repr(form)[:60])
def test_what_is_no_key_in_a_file_is_refused(form):
    with pytest.raises(InvalidInput) as error:
        loaded_key(form)
    assert "\n" not in str(error.value)


def test_a_file_with_times_of_pandas_needs_pandas(tmp_path, monkeypatch):
    one_round(("north", pd.Timestamp(DAY))).save(tmp_path / "mixture")
    monkeypatch.setitem(sys.modules, "pandas", None)
    with pytest.raises(BadFile, match="the keys have times of pandas, so pandas must be installed"):
        Mixture.load(tmp_path / "mixture")
    assert round_key(DAY) == DAY


def test_a_key_with_a_zone_of_another_library_is_kept_by_its_name():
    """Before version 3, pandas used pytz, whose zones have their name in `zone`."""

    class OtherZone(type(BERLIN)):
        zone = "Europe/Berlin"

    key = pd.Timestamp("2026-11-17 06:00", tz=OtherZone("Europe/Berlin"))
    assert type(key.tzinfo) is OtherZone
    loaded = loaded_key(stored_key(round_key(key)))
    assert (loaded, hash(loaded), loaded.tzinfo) == (key, hash(key), BERLIN)
