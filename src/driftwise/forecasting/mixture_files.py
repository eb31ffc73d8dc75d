"""Files of live mixtures: arrays and a JSON header, as those of sessions; nothing in a file is executed."""

from __future__ import annotations

import json
import os
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from driftwise.core.archives import read_archive, write_archive
from driftwise.core.errors import BadFile, InvalidInput, UnknownName, shown
from driftwise.core.file_names import shown_path
from driftwise.core.files import write_atomically
from driftwise.core.memory_fields import MOST_ROUNDS
from driftwise.forecasting.labelled_values import as_names
from driftwise.forecasting.mixture_stack import MixtureStack, Round
from driftwise.forecasting.options import MixtureOptions
from driftwise.forecasting.real_values import LARGEST
from driftwise.forecasting.round_history import RoundHistory
from driftwise.forecasting.waiting_rounds import WaitingRounds

__all__ = ["FORMAT", "MIXTURE_OPTIONS", "MixtureParts", "read_mixture", "write_mixture"]

FORMAT = 1
MIXTURE_OPTIONS = ("loss", "learner", "gradient", "hint", "extras", "scale")
_HEADER = {"format", "options", "experts", "absent", "history", "rounds", "latest", "late"}
_KEYS = (str, int, float, bool, type(None))  # of rounds
_KEY_LISTS = ("rounds", "finished")  # of `WaitingRounds`
_LARGEST_KEY = 2**63
_ROUNDING = 1e-6  # of weights
Arrays = Mapping[str, np.ndarray[Any, Any]]


class MixtureParts(NamedTuple):
    """What a live mixture consists of."""

    options: MixtureOptions
    experts: tuple[str, ...]
    absent: set[str]
    stack: MixtureStack
    history: RoundHistory
    waiting: WaitingRounds


def write_mixture(path: str | os.PathLike[str], parts: MixtureParts) -> None:
    """Write a mixture; keys of rounds must be plain values."""
    keys, latest = {name: list(getattr(parts.waiting, name)) for name in _KEY_LISTS}, parts.waiting.latest
    for key in (*keys["rounds"], *keys["finished"]):
        if not _can_be_saved(key):
            raise InvalidInput(f"Mixture: the key of a round must be a text or a number to be saved, got {shown(key)}.")
    rounds, n_actions = list(parts.waiting.rounds.values()), parts.stack.n_actions
    place = next((i for i, one in enumerate(rounds) if one is latest), -1 if latest is None else len(rounds))
    rounds += [] if latest is None or place < len(rounds) else [latest]
    header = {
        "format": FORMAT,
        "options": parts.options.spec,
        "experts": list(parts.experts),
        "absent": sorted(parts.absent),
        "history": parts.history.most,
        "rounds": parts.history.n_rounds,
        "latest": place,
        "late": parts.waiting.late,
    }
    waiting = {
        f"waiting_{name}": np.array([getattr(one, name) for one in rounds]).reshape(
            (len(rounds),) if name == "forecast" else (len(rounds), n_actions)
        )
        for name in Round._fields
    }
    kept = {f"history_{name}": array for name, array in parts.history.arrays().items()}
    kept["keys"] = np.frombuffer(json.dumps(keys).encode(), np.uint8)  # there may be more than a header can hold

    def write(file: Path) -> None:
        with file.open("wb") as stream:
            write_archive(stream, "mixture", header, {**parts.stack.arrays(), **waiting, **kept})

    write_atomically(path, write)


def read_mixture(path: str | os.PathLike[str]) -> MixtureParts:
    """Return the parts that were written, after all checks that the kernels rely on."""
    header, arrays = read_archive(path, "mixture")
    where = shown_path(path)
    if header.get("format") != FORMAT:
        raise BadFile(f"{where} has mixture format {shown(header.get('format'))}; this version reads format {FORMAT}.")
    if set(header) != _HEADER:
        raise BadFile(f"{where} holds no driftwise mixture.")
    try:
        _check_header(header)
        return _parts(header, _keys(arrays), arrays)
    except (InvalidInput, UnknownName) as error:
        raise BadFile(f"{where}: {error}") from None
    except RecursionError:
        raise BadFile(f"{where}: the learner is nested too deeply.") from None


def _check_header(header: Mapping[str, Any]) -> None:
    for name in ("experts", "absent"):
        _check_list(name, header[name], lambda value: type(value) is str)
    if not isinstance(header["late"], bool):
        raise InvalidInput(f"`late` must be true or false, got {shown(header['late'])}.")
    for name in ("history", "rounds", "latest"):
        if type(header[name]) is not int or not -1 <= header[name] <= MOST_ROUNDS:
            raise InvalidInput(f"`{name}` must be a whole number, got {shown(header[name])}.")


def _check_list(name: str, values: Any, allows: Callable[[Any], bool]) -> None:
    if not isinstance(values, list) or not all(map(allows, values)):
        raise InvalidInput(f"`{name}` must be a list of texts or numbers, got {shown(values)}.")
    if len(set(values)) < len(values):
        raise InvalidInput(f"`{name}` must not repeat a value.")


def _can_be_saved(key: Any) -> bool:
    return type(key) in _KEYS and (type(key) is not int or abs(key) < _LARGEST_KEY) and key == key


def _keys(arrays: Arrays) -> dict[str, Any]:
    """Return the keys of the rounds that wait, and of those that are finished."""
    array = arrays.get("keys")
    try:
        keys = json.loads(b"" if array is None or array.dtype != np.uint8 else array.tobytes())
    except (ValueError, RecursionError):
        keys = None
    if not isinstance(keys, dict) or set(keys) != set(_KEY_LISTS):
        raise InvalidInput("Mixture: the array `keys` has no lists of keys.")
    for name, values in keys.items():
        _check_list(name, values, _can_be_saved)
    return keys


def _parts(header: Mapping[str, Any], keys: Mapping[str, Any], arrays: Arrays) -> MixtureParts:
    options = MixtureOptions.from_spec(header["options"])
    names = as_names("Mixture", header["experts"], "experts")
    n_actions, plain = len(options.names(names)), arrays.get("mixture_plain")
    if not names or plain is None or plain.shape != (1, n_actions):  # before anything of that size is made
        raise InvalidInput("Mixture: the arrays do not have the number of the experts.")
    stack = MixtureStack(options, len(names))
    stack.set_arrays(arrays)
    n_waiting, n_kept = len(keys["rounds"]), np.size(arrays.get("history_truths", ()))
    if not set(header["absent"]) <= set(names) or header["latest"] > n_waiting:
        raise InvalidInput("Mixture: an absent expert or the latest round is not known.")
    if n_kept > min(header["rounds"], header["history"]):
        raise InvalidInput("Mixture: more rounds are kept than were played.")
    n_rounds = max(n_waiting, header["latest"] + 1)  # the latest may be finished; then it is behind those that wait
    waiting = _rounds(arrays, "waiting_", Round._fields, (n_rounds, n_actions))
    rounds = [Round(float(row[0]), *map(np.copy, row[1:])) for row in zip(*waiting, strict=True)]
    history = RoundHistory(n_actions, header["history"])
    for row in zip(*_rounds(arrays, "history_", tuple(history.arrays()), (n_kept, n_actions)), strict=True):
        history.add(*row)
    history.n_rounds = header["rounds"]
    pending = WaitingRounds(header["history"])
    pending.rounds = dict(zip(keys["rounds"], rounds, strict=False))
    pending.latest = rounds[header["latest"]] if header["latest"] >= 0 else None
    pending.late = header["late"]
    pending.finished = dict.fromkeys(keys["finished"])
    return MixtureParts(options, names, set(header["absent"]), stack, history, pending)


def _rounds(arrays: Arrays, prefix: str, names: tuple[str, ...], shape: tuple[int, int]) -> list[Any]:
    """Return arrays of rounds, checked; only forecasts that were given and truths may be missing."""
    found = []
    for name in names:
        array = arrays.get(prefix + name)
        expected = shape[:1] if name in ("forecast", "truths", "combined") else shape
        if array is None or array.dtype != np.float64 or array.shape != expected:
            raise InvalidInput(f"Mixture: the array `{prefix}{name}` is missing or has another shape or type.")
        fine = np.abs(array) <= LARGEST
        if name in ("inputs", "truths"):
            fine |= np.isnan(array)
        if name in ("weights", "shares", "guess"):
            fine &= (array >= 0.0) & (array <= 1.0 + _ROUNDING)
        if not fine.all():
            raise InvalidInput(f"Mixture: the array `{prefix}{name}` has numbers outside their range.")
        found.append(array)
    return found
