"""All that a mixture is, to compare two of them and to find arrays that they share."""

import json

import numpy as np

from driftwise.forecasting.mixture_file import packed, unpacked
from forecast_streams import bits


def snapshot(mix):
    """Return everything that a mixture is, as bytes."""
    others = (mix.experts, sorted(mix._absent), list(mix._finished), mix.rounds, mix._keyed, repr(mix))
    shown = {name: bits(values) for name, values in {**mix.weights, **mix.counts, "cut of all": mix.cut}.items()}
    return [single_snapshot(single) for single in mix._singles], others, shown


def single_snapshot(single):
    """Return everything that the mixture of one step and one level is, as bytes."""
    stack = {name: bits(array) for name, array in single.stack.arrays().items()}
    kept = {name: bits(array) for name, array in single.history.rounds._asdict().items()}
    waiting = {key: bits(*one) for key, one in single.waiting.items()}
    return stack, kept, waiting, single.late


def arrays_inside(value):
    """Return the arrays that an object of this project holds, however nested."""
    if isinstance(value, np.ndarray):
        return [value]
    if isinstance(value, dict):
        inner = value.values()
    elif isinstance(value, (list, tuple)):
        inner = value
    else:
        inner = vars(value).values() if type(value).__module__.startswith("driftwise.forecasting") else ()
    return [array for part in inner for array in arrays_inside(part)]


def opened_file(file):
    """Return the header of the file of a mixture, its keys, and the arrays of each single mixture."""
    with np.load(file) as archive:
        arrays = {name: archive[name] for name in archive.files}
    header, keys = json.loads(str(arrays.pop("driftwise_mixture"))), arrays.pop("keys")
    return header, keys, unpacked(arrays, len(header["late"]) * len(header["quantiles"] or [0]))


def write_parts(file, header, keys, parts):
    """Write the file of a mixture; keys that are None are left out."""
    arrays = {**packed(parts), "driftwise_mixture": np.array(json.dumps(header))}
    with file.open("wb") as written:
        np.savez(written, **arrays, **({} if keys is None else {"keys": keys}))
