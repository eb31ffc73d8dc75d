"""All that a mixture is, to compare two of them and to find arrays that they share."""

import numpy as np

from forecast_streams import bits


def snapshot(mix):
    """Return everything that a mixture is, as bytes."""
    stack = {} if mix._names is None else {name: bits(array) for name, array in mix._stack.arrays().items()}
    kept = {} if mix._names is None else {name: bits(array) for name, array in mix._history.rounds._asdict().items()}
    waiting = {key: bits(*one) for key, one in mix._waiting.rounds.items()}
    others = (mix.experts, sorted(mix._absent), list(mix._waiting.finished), mix.rounds, mix.counts, mix.cut)
    return stack, kept, waiting, others, mix.weights


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
