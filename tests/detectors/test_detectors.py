"""Change detectors against tests of the whole list of values, and properties of every detector."""

import json
import math
from itertools import pairwise

import numpy as np
import pytest

from driftwise.core.errors import InvalidInput
from driftwise.detectors import CUSUM, GLR, Detector, Monitor, PageHinkley, WindowedShift, detectors
from driftwise.detectors.glr import glr_statistic
from driftwise.registry import to_spec
from references import indices

INF = math.inf
# The detector, its twin, and whether it raises an alarm at the threshold already.
TWINS = {
    "cusum": (CUSUM(20, 0.1, 3.0), indices.cusum(20, 0.1, 3.0), False),
    "cusum-one": (CUSUM(1, 0.0, 2.0), indices.cusum(1, 0.0, 2.0), False),
    "cusum-exact": (CUSUM(16, 0.125, 2.5), indices.cusum(16, 0.125, 2.5), False),
    "page-hinkley": (PageHinkley(0.1, 3.0), indices.page_hinkley(0.1, 3.0), False),
    "page-hinkley-without-slack": (PageHinkley(0.0, 4.0), indices.page_hinkley(0.0, 4.0), False),
    "windowed-shift": (WindowedShift(20, 4.0), indices.windowed_shift(20, 4.0), False),
    "windowed-shift-of-two": (WindowedShift(2, 0.5), indices.windowed_shift(2, 0.5), False),
    "windowed-shift-of-fourteen": (WindowedShift(14, 3.25), indices.windowed_shift(14, 3.25), False),
    "glr-full": (GLR(0.1, None, 1), indices.glr(0.1, None, 1), True),
    "glr-full-seldom": (GLR(0.1, None, 7), indices.glr(0.1, None, 7), True),
    "glr": (GLR(0.1, 8, 1), indices.glr(0.1, 8, 1), True),
    "glr-coarse": (GLR(0.2, 2, 3), indices.glr(0.2, 2, 3), True),
    "glr-odd": (GLR(0.01, 5, 10), indices.glr(0.01, 5, 10), True),
}
every_twin = pytest.mark.parametrize(("detector", "twin", "reaching"), TWINS.values(), ids=TWINS)
every_detector = pytest.mark.parametrize("detector", [detectors.get(name)() for name in detectors], ids=str)


def steps(n_values, levels, seed, kind):
    """Values whose mean goes from level to level: 0/1, few-bit fractions, anything, or without noise."""
    rng = np.random.default_rng(seed)
    mean = np.repeat(levels, math.ceil(n_values / len(levels)))[:n_values]
    if kind == "coin":
        return (rng.random(n_values) < mean).astype(float)
    if kind == "eighths":
        return np.clip(np.round(8 * (mean + 0.2 * rng.normal(size=n_values))) / 8, 0.0, 1.0)
    if kind == "scattered":
        return np.clip(mean + 0.15 * rng.normal(size=n_values), 0.0, 1.0)
    return mean + 0.0


SEQUENCES = {
    "coin": (240, (0.1, 0.9, 0.3, 0.6)),
    "eighths": (240, (0.25, 0.75, 0.5)),
    "scattered": (240, (0.2, 0.7, 0.6, 0.1)),
    "noiseless": (240, (0.25, 0.75, 0.0, 1.0)),
    "still": (160, (0.3,)),
}


@every_twin
@pytest.mark.parametrize("kind", SEQUENCES)
def test_alarms_are_those_of_the_whole_list(detector, twin, reaching, kind):
    values = steps(*SEQUENCES[kind], seed=3, kind=kind)
    seen = detector.alarms(values)
    assert list(seen) == indices.alarms(twin, values, reaching)
    if kind == "still" and not isinstance(detector, WindowedShift):
        assert len(seen) == 0
    if kind in ("coin", "noiseless") and detector != TWINS["cusum-one"][0]:
        assert len(seen) > 0


@pytest.mark.interpreted
@every_twin
def test_alarms_of_a_short_list(detector, twin, reaching):
    values = steps(60, (0.0, 1.0), seed=1, kind="coin")
    assert list(detector.alarms(values)) == indices.alarms(twin, values, reaching)


# At the threshold. The sums are exact, so "exceeds" is not "reaches".


def test_cusum_must_exceed_its_threshold():
    before, after = [0.5] * 4, [1.0] * 8
    assert list(CUSUM(4, 0.25, 1.0).alarms(before + after)) == [
        4 + 4
    ]  # 0.25 a value: the fourth reaches 1, the fifth exceeds
    assert list(CUSUM(4, 0.25, 0.99).alarms(before + after)) == [4 + 3]


def test_a_windowed_shift_must_exceed_its_threshold():
    values = [0.0] * 4 + [1.0] * 4
    assert len(WindowedShift(8, 4.0).alarms(values)) == 0
    assert list(WindowedShift(8, 3.99).alarms(values)) == [7]


def test_a_windowed_shift_uses_the_last_window_and_not_all_later_values():
    """After 100 values of 0, five of 1 in a window of ten raise an alarm, however long ago the first values were."""
    values = [0.0] * 100 + [1.0] * 5
    assert list(WindowedShift(10, 4.5).alarms(values)) == [104]
    assert list(WindowedShift(10, 2.5).alarms(values)) == [102]


def test_a_windowed_shift_does_not_accumulate_rounding_errors():
    detector = WindowedShift(10, INF)
    row, values = np.zeros(detector.width), np.random.default_rng(1).random(300_003)
    WindowedShift.scan(row, detector.rates(), values, np.empty(len(values), np.int64))
    assert abs(row[1] - (math.fsum(values[-5:]) - math.fsum(values[-10:-5]))) < 1e-14


def test_cusum_compares_with_its_warmup_and_raises_no_alarm_in_it():
    values = [0.0, 1.0] * 5 + [0.5] * 50
    assert len(CUSUM(10, 0.0, 1e-9).alarms(values)) == 0
    assert list(CUSUM(9, 0.0, 1e-9).alarms(values))[:1] == [9]


def test_a_test_comes_every_so_many_values_since_the_last_alarm():
    values = steps(400, (0.0, 1.0, 0.0, 1.0), seed=1, kind="coin")
    alarms = GLR(0.1, None, 7).alarms(values)
    assert len(alarms) > 1
    assert all(gap % 7 == 0 for gap in np.diff(alarms, prepend=-1))


# The generalised likelihood ratio


def row_after(values, resolution):
    """The memory of the ratio test after values that raise no alarm."""
    detector = GLR(0.0, resolution, 1)
    row, rates = np.zeros(detector.room(len(values))), detector.rates()
    for value in values:
        assert not GLR.observe(row, rates, float(value))
    return row


def changing(number):
    """One change in a sequence of some kind, at a place of some kind."""
    rng = np.random.default_rng(number)
    n = int(rng.integers(2, 160))
    change, levels = int(rng.integers(0, n)), rng.random(2)
    mean = np.where(np.arange(n) < change, *levels)
    noise = (rng.random(n) < mean, mean, np.clip(mean + 0.1 * rng.normal(size=n), 0.0, 1.0))[number % 3]
    return noise.astype(float)


def test_the_ratio_of_a_full_scan_is_that_of_every_split():
    for number in range(60):
        values = changing(number)
        expected = indices.ratio(list(values), indices.glr_splits(len(values)))
        assert abs(glr_statistic(row_after(values, None)) - expected) < 1e-9


@pytest.mark.parametrize("resolution", [2, 3, 8])
def test_the_ratio_with_a_resolution_is_that_of_the_borders_of_buckets(resolution):
    for number in range(40):
        values = changing(number)
        row, sizes = row_after(values, resolution), indices.bucket_sizes(len(values), resolution)
        assert list(row[3 : 3 + 2 * len(sizes) : 2]) == sizes
        assert int(row[2]) == len(sizes)
        borders = np.concatenate(([0], np.cumsum(sizes)))
        sums = [math.fsum(values[a:b]) for a, b in pairwise(borders)]
        np.testing.assert_allclose(row[4 : 4 + 2 * len(sizes) : 2], sums, rtol=0, atol=1e-12)
        expected = indices.ratio(list(values), indices.glr_splits(len(values), resolution))
        assert abs(glr_statistic(row) - expected) < 1e-9


def test_a_border_lies_within_a_share_of_the_age_of_a_change():
    """The nearest border is within a share of 1/r of the change's age, which defines the resolution r."""
    for resolution in (2, 3, 8):
        for n in (2, 5, 17, 64, 65, 100, 257):
            borders = np.array(indices.glr_splits(n, resolution))
            for change in range(1, n):
                assert np.abs(borders - change).min() <= (n - change) / resolution


def test_few_splits_find_most_of_what_all_splits_find_of_a_change_in_the_later_half():
    """Measured: at least 0.84 of the full scan where that raises an alarm (r = 8); never more."""
    rng = np.random.default_rng(4)
    worst = 1.0
    for number in range(150):
        n = int(rng.integers(40, 400))
        mean = np.where(np.arange(n) < rng.integers(n // 2, n), *rng.random(2))
        values = (rng.random(n) < mean).astype(float) if number % 2 else mean
        full, few = (glr_statistic(row_after(values, r)) for r in (None, 8))
        assert few <= full + 1e-9
        if full > math.log(3 * n**1.5 / 0.01):
            worst = min(worst, few / full)
    assert 0.8 <= worst < 1.0


def test_buckets_stay_few():
    row = row_after(np.zeros(5000), 4)
    assert row.size == GLR(0.0, 4, 1).width
    assert row[2] <= 5 * 12  # at most r + 1 of the sizes 1 .. 2^11


# Properties of every detector


def never(detector):
    """The detector with a threshold that nothing reaches."""
    member = type(detector)
    return member(failure_probability=0.0) if member is GLR else member(threshold=INF)


LEVELS = (0.125, 0.875, 0.25, 0.75)


@pytest.mark.interpreted
@every_detector
def test_cuts_between_calls_do_not_change_the_alarms(detector):
    values = steps(1200, LEVELS, seed=1, kind="eighths")
    whole = detector.alarms(values)
    assert 0 < len(whole) < 20
    for block_size in (1, 7, 64):
        monitor, found = Monitor(detector), []
        for first in range(0, len(values), block_size):
            found += list(first + monitor.watch(values[first : first + block_size]))
        assert found == list(whole)
    monitor = Monitor(detector)
    assert [t for t, value in enumerate(values) if monitor.update(value)] == list(whole)


@every_detector
def test_a_detector_starts_from_its_initial_state_after_an_alarm(detector):
    values = steps(1200, LEVELS, seed=2, kind="coin")
    alarms = detector.alarms(values)
    rest = detector.alarms(values[alarms[0] + 1 :])
    np.testing.assert_array_equal(alarms[1:], alarms[0] + 1 + rest)


@every_detector
def test_changes_up_and_down_are_treated_alike(detector):
    values = steps(1200, LEVELS, seed=3, kind="eighths")
    assert len(detector.alarms(values)) > 0
    np.testing.assert_array_equal(detector.alarms(values), detector.alarms(1.0 - values))


@every_detector
def test_a_change_raises_an_alarm_and_constant_values_do_not(detector):
    for before, after in ((0.1, 0.9), (0.9, 0.1)):
        values = np.repeat([before, after], 500)
        alarms = detector.alarms(values)
        assert len(alarms) > 0
        assert 500 <= alarms[0] < 700
        assert len(detector.alarms(values[:500])) == 0


@every_detector
def test_an_infinite_threshold_is_never_reached(detector):
    for kind in ("coin", "noiseless", "scattered"):
        assert len(never(detector).alarms(steps(800, (0.0, 1.0, 0.0), seed=1, kind=kind))) == 0


@every_detector
def test_no_values_raise_no_alarm(detector):
    assert detector.alarms(np.empty(0)).shape == (0,)


@every_detector
def test_values_are_not_modified(detector):
    values = steps(300, (0.0, 1.0), seed=1, kind="scattered")
    copy = values.copy()
    values.flags.writeable = False
    detector.alarms(values)
    np.testing.assert_array_equal(values, copy)


@every_detector
@pytest.mark.parametrize("bad", [math.nan, INF, -INF, -0.1, 1.1, "a", None, 0.5j, [0.5]], ids=str)
def test_a_rejected_value_changes_nothing(detector, bad):
    values = list(steps(600, (0.1, 0.9), seed=1, kind="coin"))
    one, other = Monitor(detector), Monitor(detector)
    one.watch(values[:290])
    other.watch(values[:290])
    row = one._row.copy()
    with pytest.raises(InvalidInput):
        one.update(bad)
    with pytest.raises(InvalidInput):
        one.watch([0.5, bad])
    assert row.tobytes() == one._row.tobytes()
    assert list(one.watch(values[290:])) == list(other.watch(values[290:]))


@every_detector
def test_a_spec_rebuilds_a_detector(detector):
    for member in (detector, never(detector)):
        assert detectors.build(json.loads(json.dumps(to_spec(member)))) == member


def test_a_spec_has_none_where_every_split_is_kept():
    assert detectors.build(to_spec(GLR(0.1, None, 3))) == GLR(0.1, None, 3)


@every_detector
def test_a_detector_row_from_a_file_is_checked(detector):
    row = np.zeros(detector.room(50))
    rates = detector.rates()
    for value in steps(50, (0.5,), seed=1, kind="coin"):
        type(detector).observe(row, rates, value)
    assert detector.accepts(row, 50)
    for place, number in ((0, 51.0), (0, -1.0), (0, math.nan), (row.size - 1, INF)):
        changed = row.copy()
        changed[place] = number
        assert not detector.accepts(changed, 50)


@pytest.mark.parametrize("resolution", [2, 3, 8, None])
def test_a_row_with_other_buckets_than_its_values_fill_is_not_trusted(resolution):
    detector = GLR(0.1, resolution, 1)
    for n in (*range(1, 40), 200):
        row = row_after(np.zeros(n), resolution)
        assert detector.accepts(row, n)
        assert detector.accepts(row, n + 5)
        for place, number in ((2, row[2] + 1), (2, row[2] - 1), (2, 1e6), (2, 1e300), (3, 1024.0), (0, n + 1.0)):
            changed = row.copy()
            changed[place] = number
            assert not detector.accepts(changed, n + 5)


def test_every_detector_has_a_reference():
    assert {type(detector) for detector, _, _ in TWINS.values()} == {detectors.get(name) for name in detectors}
    assert all(issubclass(detectors.get(name), Detector) for name in detectors)
