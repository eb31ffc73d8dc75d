"""The file of a `Mixture`: a header, and the arrays of all its single mixtures.

The arrays of the single mixtures may have different shapes: a step that was forecast more often has more rounds. So the
arrays of one name are stored as one flat array, one after the other, beside an array of their shapes.
"""

from __future__ import annotations

import json
import math
from collections.abc import Hashable, Mapping, Sequence
from itertools import accumulate, pairwise
from typing import TYPE_CHECKING, Any

import numpy as np

from driftwise.core.errors import InvalidInput, shown
from driftwise.core.memory_fields import HUGE, MOST_ROUNDS
from driftwise.forecasting.combination_kernels import NUMBER
from driftwise.forecasting.combinations import Combinations
from driftwise.forecasting.labelled_values import LARGEST, as_names
from driftwise.forecasting.losses import Array
from driftwise.forecasting.mixture_stack import MixtureStack, Round, check_range, stored_array
from driftwise.forecasting.options import OPTION_NAMES, MixtureOptions
from driftwise.forecasting.round_keys import loaded_key, stored_key
from driftwise.forecasting.single_mixture import KeptRounds, SingleMixture

if TYPE_CHECKING:
    from driftwise.forecasting.mixture import Mixture

FORMAT = 3
HEADER = {
    *("format", "options", "steps", "quantiles", "experts", "absent", "history", "rounds", "keyed"),
    *("latest", "late"),  # of each step
}
_SHAPES = "shapes_"  # in front of the name of an array
_ROUNDING = 1e-6  # of weights


def contents(mix: Mixture) -> tuple[dict[str, object], dict[str, Array]]:
    """Return the header and copies of the arrays of the file of a mixture whose experts are known."""
    singles = mix._singles
    steps = singles[:: len(mix.quantiles or (0,))]  # of each step the first level; the others have the same keys
    header = {
        "format": FORMAT,
        "options": mix.options.spec,
        "steps": mix.steps,
        "quantiles": None if mix.quantiles is None else list(mix.quantiles),
        "experts": list(mix.experts),
        "absent": sorted(mix._absent),
        "history": mix._most_kept,
        "rounds": mix.rounds,
        "keyed": mix._keyed,
        "latest": [_place_of_latest(single) for single in steps],
        "late": [single.late for single in steps],
    }
    arrays = packed([_arrays(single) for single in singles])
    waiting = [list(map(stored_key, single.waiting)) for single in steps]
    keys = {"rounds": waiting, "finished": list(map(stored_key, mix._finished))}
    arrays["keys"] = np.frombuffer(json.dumps(keys).encode(), np.uint8)  # there may be more than a header can hold
    return header, arrays


def _place_of_latest(single: SingleMixture) -> int:
    """Return the place of the latest round among those stored, -1 if there is none."""
    return next((i for i, waits in enumerate(_stored_rounds(single)) if waits is single.latest), -1)


def _stored_rounds(single: SingleMixture) -> list[Round]:
    """Return the rounds that wait, and behind them the latest one if it is finished."""
    rounds, latest = list(single.waiting.values()), single.latest
    return rounds if latest is None or any(waits is latest for waits in rounds) else [*rounds, latest]


def _arrays(single: SingleMixture) -> dict[str, Array]:
    rounds, stack, arrays = _stored_rounds(single), single.stack, single.stack.arrays()
    for name in Round._fields:
        widths = {"forecast": (), "kept": (stack.n_kept,)}
        shape = (len(rounds), *widths.get(name, (stack.n_actions,)))
        arrays[f"waiting_{name}"] = np.array([getattr(waits, name) for waits in rounds]).reshape(shape)
    return arrays | {f"history_{name}": array for name, array in single.history.rounds._asdict().items()}


def packed(parts: Sequence[Mapping[str, Array]]) -> dict[str, Array]:
    """Return flat arrays, and those of the shapes, from dicts with the same names."""
    arrays = {}
    for name in parts[0]:
        arrays[name] = np.concatenate([part[name].reshape(-1) for part in parts])
        arrays[_SHAPES + name] = np.array([part[name].shape for part in parts], np.int64)
    return arrays


def unpacked(arrays: Mapping[str, Array], n_parts: int) -> list[dict[str, Array]]:
    """Return so many dicts of arrays from what `packed` returned."""
    parts: list[dict[str, Array]] = [{} for _ in range(n_parts)]
    for name, flat in arrays.items():
        shapes = arrays.get(_SHAPES + name)
        if name == "keys" or name.startswith(_SHAPES):
            continue
        if shapes is None or shapes.dtype != np.int64 or shapes.ndim != 2 or len(shapes) != n_parts:
            raise InvalidInput(f"Mixture: the array `{name}` has no shapes.")
        lengths = list(map(math.prod, shapes.tolist()))
        if flat.ndim != 1 or (shapes < 0).any() or sum(lengths) != len(flat):
            raise InvalidInput(f"Mixture: the array `{name}` does not have the length of its shapes.")
        edges = pairwise(accumulate(lengths, initial=0))
        for part, (first, end), shape in zip(parts, edges, shapes.tolist(), strict=True):
            try:
                part[name] = flat[first:end].reshape(shape)
            except (ValueError, OverflowError):  # an empty array of a shape that NumPy has not
                raise InvalidInput(f"Mixture: the array `{name}` does not have the length of its shapes.") from None
    return parts


def _check_header(header: Mapping[str, Any]) -> None:
    for name in ("experts", "absent"):
        if not isinstance(header[name], list) or not all(type(value) is str for value in header[name]):
            raise InvalidInput(f"`{name}` must be a list of texts, got {shown(header[name])}.")
        _check_different(name, header[name])
    for name in ("history", "rounds"):
        _check_whole(name, header[name], 0)
    n_steps = 1
    if header["steps"] is not None:
        _check_whole("steps", header["steps"], 1)
        n_steps = header["steps"]
    if header["keyed"] not in (None, True, False) or (header["steps"] is None and header["keyed"] is not None):
        raise InvalidInput(f"`keyed` must be null or, with steps, true or false, got {shown(header['keyed'])}.")
    for name in ("latest", "late"):
        if not isinstance(header[name], list) or len(header[name]) != n_steps:
            raise InvalidInput(f"`{name}` must have one value for each step, got {shown(header[name])}.")
    for place in header["latest"]:
        _check_whole("latest", place, -1)
    if not all(isinstance(late, bool) for late in header["late"]):
        raise InvalidInput(f"`late` must have true or false for each step, got {shown(header['late'])}.")


def _check_whole(name: str, value: object, at_least: int) -> None:
    if type(value) is not int or not at_least <= value <= MOST_ROUNDS:
        raise InvalidInput(f"`{name}` must be a whole number >= {at_least}, got {shown(value)}.")


def _check_different(name: str, values: Sequence[Hashable]) -> None:
    if len(set(values)) < len(values):
        raise InvalidInput(f"`{name}` must not repeat a value.")


def _keys(arrays: Mapping[str, Array], header: Mapping[str, Any]) -> tuple[list[list[Hashable]], list[Hashable]]:
    """Return the keys of the rounds that wait, for each step, and of those that are finished."""
    array = arrays.get("keys")
    try:
        keys = json.loads(b"" if array is None or array.dtype != np.uint8 else array.tobytes())
    except (ValueError, RecursionError):
        keys = None
    if not isinstance(keys, dict) or set(keys) != {"rounds", "finished"} or type(keys["rounds"]) is not list:
        keys = {"rounds": [], "finished": None}
    lists = [*keys["rounds"], keys["finished"]]
    if len(lists) != len(header["late"]) + 1 or not all(type(values) is list for values in lists):
        raise InvalidInput("Mixture: the array `keys` has no lists of keys.")
    loaded = [[loaded_key(stored) for stored in values] for values in lists]
    *waiting, finished = loaded
    for values in loaded:
        _check_different("keys", values)
    named = [key for values in waiting for key in values]
    keyed, rounds = header["keyed"], header["rounds"]
    if None in finished or (header["steps"] is not None and None in named):
        raise InvalidInput("Mixture: the array `keys` has a round without a key.")
    if header["steps"] is not None and not keyed and finished:
        raise InvalidInput("Mixture: the array `keys` has finished rounds, which are counted.")
    if header["steps"] is not None and not keyed and not all(type(key) is int and key > rounds for key in named):
        raise InvalidInput("Mixture: the array `keys` has a round that is not after those that are known.")
    if keyed is None and header["steps"] is not None and (named or rounds):
        raise InvalidInput("Mixture: rounds of steps are counted, or have keys.")
    return waiting, finished


def restored(kind: type[Mixture], header: Mapping[str, Any], arrays: Mapping[str, Array]) -> Mixture:
    """Return the mixture of a file, after all checks that the kernels rely on."""
    _check_header(header)
    waiting, finished = _keys(arrays, header)
    options, quantiles = MixtureOptions.from_spec(header["options"]), header["quantiles"]
    names = as_names("Mixture", header["experts"], "experts")
    if quantiles is not None and (not isinstance(quantiles, list) or not quantiles):
        raise InvalidInput(f"`quantiles` must be null or a list, got {shown(quantiles)}.")
    n_levels = len(quantiles or (0,))
    parts, n_actions = unpacked(arrays, n_levels * len(waiting)), len(options.names(names))
    plain = [part.get("mixture_plain") for part in parts]  # before anything of that size is made
    if not names or any(array is None or array.shape != (1, n_actions) for array in plain):
        raise InvalidInput("Mixture: the arrays do not have the number of the experts.")
    if not set(header["absent"]) <= set(names):
        raise InvalidInput("Mixture: an absent expert is not known.")
    given = {name: getattr(options, name) for name in OPTION_NAMES}
    if quantiles is not None:
        del given["loss"]
    mix = kind(names, steps=header["steps"], quantiles=quantiles, history=header["history"], **given)
    if mix.options.forecast_loss != options.forecast_loss:
        raise InvalidInput("Mixture: the loss of quantiles must be that of the first one.")
    for i, (single, part) in enumerate(zip(mix._singles, parts, strict=True)):
        step = i // n_levels
        _restore(single, part, waiting[step], header["latest"][step], header["rounds"])
        single.late = header["late"][step]
        if len(single.history.rounds.truths) != len(mix._singles[step * n_levels].history.rounds.truths):
            raise InvalidInput("Mixture: the levels of a step do not have the same rounds.")
    mix._absent, mix._finished = set(header["absent"]), dict.fromkeys(finished, math.nan)
    mix._rounds, mix._keyed = header["rounds"], header["keyed"]
    return mix


def _restore(
    single: SingleMixture, arrays: Mapping[str, Array], keys: list[Hashable], latest: int, most_kept: int
) -> None:
    """Fill a new mixture of one step and one level."""
    stack, n_waiting, n_kept = single.stack, len(keys), np.size(arrays.get("history_truths", ()))
    if latest > n_waiting:
        raise InvalidInput("Mixture: the latest round is not known.")
    if n_kept > min(most_kept, single.history.most):
        raise InvalidInput("Mixture: more rounds are kept than were played.")
    stack.set_arrays({name: array for name, array in arrays.items() if name.startswith(("learner_", "mixture_"))})
    n_rounds = max(n_waiting, latest + 1)  # the latest may be finished; then it is behind those that wait
    columns = _columns(arrays, "waiting_", Round._fields, n_rounds, stack)
    rounds = [Round(float(forecast), *row) for forecast, *row in zip(*columns, strict=True)]
    if not stack.keeps_hints and any(waits.kept[NUMBER] > arrays["learner_numbers"][0, 1] for waits in rounds):
        raise InvalidInput("Mixture: a waiting round is after the newest.")
    if isinstance(stack.learner, Combinations) and (fault := stack.learner.kept_fault(columns[1], columns[3])):
        raise InvalidInput(f"Mixture: of a waiting round, {fault}.")
    for row in zip(*_columns(arrays, "history_", KeptRounds._fields, n_kept, stack), strict=True):
        single.history.add(*row)
    single.waiting = dict(zip(keys, rounds, strict=False))
    single.latest = rounds[latest] if latest >= 0 else None


def _columns(
    arrays: Mapping[str, Array], prefix: str, names: tuple[str, ...], n_rounds: int, stack: MixtureStack
) -> list[Array]:
    """Return arrays of rounds, checked; only what was given and what is remembered may be missing."""
    columns = []
    shares, missing = {"weights", "shares"}, {"inputs", "truths"}
    (shares if stack.keeps_hints else missing).add("kept")
    widths = {"forecast": (), "truths": (), "combined": (), "kept": (stack.n_kept,)}
    for name in names:
        array = stored_array(arrays, prefix + name, np.float64, (n_rounds, *widths.get(name, (stack.n_actions,))))
        low, high = (
            (0.0, 1.0 + _ROUNDING) if name in shares else (-HUGE, HUGE) if name == "kept" else (-LARGEST, LARGEST)
        )
        fine = (array >= low) & (array <= high)
        check_range(prefix + name, fine | np.isnan(array) if name in missing else fine)
        columns.append(array)
    return columns
