"""A frame as it comes night by night: the forecasts that are issued, without truths, and the truths since."""

import itertools

import numpy as np
import pandas as pd

from driftwise.forecasting import combine


def nights(frame, issued="cutoff", time="ds", late=0):
    """Yield the table of each night: new rows without truths, and earlier rows with the truths that came since.

    A truth comes with the issue at its time, or so many nights later.
    """
    times = sorted(frame[issued].unique())
    known = frame[time] if issued != time else frame[time].map(dict(itertools.pairwise(times)))
    comes = np.searchsorted(times, known.fillna(frame[time].max() + (frame[time].max() - frame[time].min()))) + late
    for n, at in enumerate(times):
        new = frame[frame[issued] == at]
        old = frame[(comes == n) & (frame[issued] < at)]
        yield pd.concat([old, new.assign(y=np.nan)])


def continued(tables, path, **options):
    """Return the forecast of each row of the tables, by its index; a row that comes again has the same one."""
    found = {}
    for table in tables:
        result = combine(table, state=path, **options)
        for name in [name for name in result if name.startswith(("forecast", "weight_"))]:
            for index, value in zip(table.index, result[name], strict=True):
                before = found.setdefault(name, {}).setdefault(index, value)
                assert before == value or (np.isnan(before) and np.isnan(value))
    return pd.DataFrame(found).sort_index()


def assert_equal_bits(result, expected):
    for name in result:
        np.testing.assert_array_equal(result[name].to_numpy(), expected[name].to_numpy(), err_msg=name)
