"""What a client and the workers of a Dask cluster send each other, and how both sides check it.

A message is a pickle and a digest of it and of the version of driftwise, so that a message of another version, or one
that was damaged in the memory of a process or on its way, is refused before it is read. A digest is no protection from
an attacker: clients and workers run each other's pickles anyway.

A worker plays a batch only if its own classes give the keys that the client asks for. The client stores a reply only if
it has the cells of the batch, each once, with the curves that the batch asks for and with numbers that a play can have.
It cannot know whether a number that is possible is also right.
"""

from __future__ import annotations

import hashlib
import math
import pickle
from typing import Any, NamedTuple

import numpy as np

from driftwise import __version__
from driftwise.core.errors import DriftwiseError, InvalidInput, message_of, rejection
from driftwise.core.types import Actions
from driftwise.core.validation import count
from driftwise.engine.run import marked_rounds
from driftwise.environments import Replay
from driftwise.learners import Player
from driftwise.regret.comparators import make_comparator
from driftwise.results.cells import MEASURES, REALISED, CellRecord, CellTable, Machine
from driftwise.sweeps.batches import LONGEST_REASON, Batch, failed_records, regret_fault
from driftwise.sweeps.sources import PLAYS, Group, Outputs, Source, cell_keys

_DIGEST_BYTES = 32
_SAME = ("environment", "learner", "n_actions", "n_rounds", "seed", "run", "comparator", "play", "stored")


class ClusterError(DriftwiseError):
    """The cluster cannot play the cells of a sweep. Finished cells are stored."""


class Finished(NamedTuple):
    """Records of cells, and the machine on which they were played."""

    records: list[CellRecord]
    machine: Machine


def write_message(content: Batch | Finished) -> bytes:
    """Return a batch, or the records of one, as a message."""
    pickled = pickle.dumps(content)
    return pickled + _digest(pickled)


def read_message(message: Any) -> Any:
    """Return the content of a message; raise `ClusterError` if it is damaged or of another version of driftwise."""
    if type(message) is not bytes or message[-_DIGEST_BYTES:] != _digest(message[:-_DIGEST_BYTES]):
        raise ClusterError("a message between client and worker was damaged, or is of another version of driftwise.")
    try:
        return pickle.loads(message)  # what is behind the pickle is not read
    except ModuleNotFoundError:
        raise
    except Exception as error:
        raise ClusterError(f"a message between client and worker cannot be read: {message_of(error)}") from None


def _digest(pickled: bytes) -> bytes:
    return hashlib.blake2b(pickled, digest_size=_DIGEST_BYTES, person=_PERSON).digest()


_PERSON = hashlib.blake2b(__version__.encode(), digest_size=16).digest()  # 16 bytes at most


def check_batch(batch: Any) -> Batch:
    """Return what a client sent if it is a batch that this process can play; raise `ClusterError` if not."""
    try:
        _check_group(batch)
        here = [tuple(cell_keys(batch.group, player)) for player in batch.group.players]
    except DriftwiseError as error:
        raise ClusterError(f"the client sent no valid batch: {error}") from None
    if here != [*batch.keys]:
        raise ClusterError("the worker has another version of driftwise or of a learner than the client.")
    if len({*batch.all_keys}) < len(batch.all_keys):
        raise ClusterError("the client sent no valid batch: it has a cell twice.")
    checked: Batch = batch
    return checked


def _check_group(batch: Any) -> None:
    if type(batch) is not Batch or type(batch.group) is not Group or type(batch.keys) is not tuple:
        raise rejection("Batch", "batch", "a batch", batch)
    group = batch.group
    if type(group.source) is not Source:
        raise rejection("Batch", "source", "a source of losses", group.source)
    if type(group.players) is not tuple or not group.players or {*map(type, group.players)} != {Player}:
        raise rejection("Batch", "players", "at least one player", group.players)
    if type(group.runs) is not tuple or not group.runs:
        raise rejection("Batch", "runs", "at least one run", group.runs)
    for name, value, least in (("n_rounds", group.n_rounds, 1), ("seed", group.seed, 0)):
        count("Batch", name, value, least)
    for run in group.runs:
        count("Batch", "runs", run, 0)
    outputs = group.outputs
    if type(outputs) is not Outputs or [*map(type, outputs)] != [str, str, int, bool] or outputs.play not in PLAYS:
        raise rejection("Batch", "outputs", "what is measured", outputs)
    count("Batch", "points", outputs.points)
    make_comparator(outputs.comparator, "Batch").span(group.n_rounds)


def check_reply(batch: Batch, reply: Any) -> Finished:
    """Return what a worker sent if it has the cells of a batch; raise `InvalidInput` if not."""
    if type(reply) is not Finished or type(reply.records) is not list:
        raise rejection("Reply", "reply", "the records of a batch", reply)
    machine = reply.machine
    if type(machine) is not Machine or type(machine.id) is not str or not _are_facts(machine.facts):
        raise rejection("Reply", "machine", "an id and the facts of a machine", machine)
    CellTable.from_records(reply.records)  # rejects fields of other types, and curves that break a rule
    wanted = {record.key: record for record in failed_records(batch, "")}
    if sorted(record.key for record in reply.records) != sorted(wanted):
        n_asked = len(wanted.keys() & {record.key for record in reply.records})
        rule = f"the {len(wanted)} cells of its batch, each once"
        raise InvalidInput(f"Reply: it must have {rule}, got {len(reply.records)} with {n_asked} of their keys.")
    marks = _marks(batch)
    for record in reply.records:
        _check_cell(batch, record, wanted[record.key], marks)
        if record.machine != machine.id:
            raise rejection("Reply", "machine", f"that of its cells, {machine.id}", record.machine)
    return reply


def _check_cell(batch: Batch, record: CellRecord, wanted: CellRecord, marks: Actions) -> None:
    """Reject a cell that is another one than was asked for, or has numbers that no play has."""
    for name in _SAME:
        if getattr(record, name) != getattr(wanted, name):
            raise rejection("Reply", name, f"that of the cell, {getattr(wanted, name)}", getattr(record, name))
    if record.error:
        if not np.array_equal(record.rounds, wanted.rounds) or len(record.error) > LONGEST_REASON:
            raise rejection("Reply", "error", f"a text of at most {LONGEST_REASON} characters", record.error)
        return
    kind = "realised" if isinstance(batch.group.source.origin, Replay) else "pseudo"
    if record.kind != kind:
        raise rejection("Reply", "kind", repr(kind), record.kind)
    if not np.array_equal(record.rounds, marks):
        raise rejection("Reply", "rounds", "the marked rounds", record.rounds)
    if reason := regret_fault(np.asarray(record.regrets), record.n_rounds):
        raise InvalidInput(f"Reply: {reason}")
    if record.segments > record.n_rounds:
        raise rejection("Reply", "segments", "at most n_rounds", record.segments)
    for name in (*MEASURES, *REALISED):
        if math.isinf(value := getattr(record, name)):
            raise rejection("Reply", name, "finite, or NaN", value)


def _marks(batch: Batch) -> Actions:
    outputs, n_rounds = batch.group.outputs, batch.group.n_rounds
    span = make_comparator(outputs.comparator, "Sweep").span(n_rounds)
    return marked_rounds(*span, outputs.points) + 1


def _are_facts(facts: Any) -> bool:
    return type(facts) is dict and all(type(text) is str for pair in facts.items() for text in pair)
