"""Sweeps: every learner in every environment, for several numbers of rounds and seeds; and their TOML files.

A table of a file may have `each`: lists of values for some of its keys. It stands for one table for every combination
of them: ``each = {learning_rate = [0.1, 0.3], switch_rate = [0.01, 0.1]}`` makes four. Nested tables may have one too.
"""

from __future__ import annotations

import functools
import itertools
import math
import os
import re
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from driftwise.adversaries import Adversary
from driftwise.core.errors import DriftwiseError, InvalidInput, UnknownName, one_line, rejection, shown
from driftwise.core.files import read_toml, shown_path
from driftwise.core.measures import Measures, collected
from driftwise.core.progress_bar import progress_shown
from driftwise.core.validation import check_memory, count
from driftwise.engine.run import DistinctLabels
from driftwise.environments import Environment, Replay
from driftwise.learners import Player
from driftwise.regret.comparators import Comparator, make_comparator
from driftwise.results.labels import environment_label, learner_label, short_text
from driftwise.results.sweep_results import SweepResults
from driftwise.sweeps.sources import PLAYS, Group, Outputs, Source

CURVE_POINTS = 1000  # marked rounds of a curve
_MOST_CELLS = 10**8  # a larger sweep would take years
_CELL_BYTES = 1200  # of a cell: its key while it is played, and its columns in the results, as measured


@dataclass(frozen=True, eq=False)
class Sweep:
    """Every learner in every environment, for every number of rounds and every seed; each cell is one run.

    All learners of an environment, number of rounds, seed and run get the same losses. `run` plays the cells that a
    folder does not have yet; it can be interrupted at any time and continues where it stopped.

    Parameters
    ----------
    environments : environment, adversary, or a sequence or mapping of them
        Where the losses come from. An adversary that is not in the mode "random" builds one environment against each
        learner. The keys of a mapping are labels.
    learners : learner, rule, Player, or a sequence or mapping of them
        The learners, as for `simulate`. The keys of a mapping are labels.
    n_rounds : int or sequence of int
        Rounds in a run, >= 1. A recording that has fewer rounds than another environment is played to its end instead.
    n_runs : int, default 10
        Independent runs for each seed, >= 1.
    seed : int or sequence of int, default 0
        Seeds of all random numbers, in [0, 2^62].
    comparator : Comparator or str, default "dynamic"
        What the regret is measured against, as for `simulate`.
    play : {"weights", "sample"}, default "weights"
        As for `simulate`.
    curves : bool, default False
        Whether to store the regret at a thousand rounds of each run instead of its end only.
    realised : bool, default False
        Whether to compute the best loss L*, as for `simulate`.

    Examples
    --------
    >>> from driftwise import Bernoulli, Environment, Hedge, OptimisticGD, Switching
    >>> environments = {f"{n} segments": Environment(Switching(n, 4), Bernoulli()) for n in (2, 8)}
    >>> sweep = Sweep(environments, [OptimisticGD.tuned, Hedge()], n_rounds=[100, 200], n_runs=5, seed=1)
    >>> sweep.n_cells
    40
    """

    environments: Any
    learners: Any
    n_rounds: Any
    n_runs: int = 10
    seed: Any = 0
    comparator: Any = "dynamic"
    play: str = "weights"
    curves: bool = False
    realised: bool = False
    sources: dict[str, Source] = field(init=False, repr=False)
    players: dict[str, Player] = field(init=False, repr=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "sources", _by_label("environments", self.environments, _source))
        object.__setattr__(self, "players", _by_label("learners", self.learners, Player.of))
        for name, least in (("n_rounds", 1), ("seed", 0)):
            object.__setattr__(self, name, _counts(name, getattr(self, name), least))
        object.__setattr__(self, "n_runs", count("Sweep", "n_runs", self.n_runs))
        comparator = self.comparator
        if isinstance(comparator, str):
            object.__setattr__(self, "comparator", make_comparator(comparator, "Sweep"))
        elif not isinstance(comparator, Comparator):
            raise rejection("Sweep", "comparator", "a comparator such as `Static()`, or its text", comparator)
        for source in self.sources.values():
            for n_rounds in self.rounds_of(source):
                self.comparator.span(n_rounds)  # raises if an interval ends later
        if self.play not in PLAYS:
            raise rejection("Sweep", "play", "'weights' or 'sample'", self.play)
        for name in ("curves", "realised"):
            if not isinstance(getattr(self, name), bool):
                raise rejection("Sweep", name, "True or False", getattr(self, name))
        if self.n_cells > _MOST_CELLS:
            raise InvalidInput(f"Sweep: it must have at most {_MOST_CELLS} cells, got {self.n_cells}.")

    @property
    def n_cells(self) -> int:
        """The number of cells."""
        n_lengths = sum(len(self.rounds_of(source)) for source in self.sources.values())
        return n_lengths * len(self.players) * len(self.seed) * self.n_runs

    def rounds_of(self, source: Source) -> tuple[int, ...]:
        """Return the numbers of rounds of one of the sources: a recording is played to its end if others are longer."""
        origins = [other.origin for other in self.sources.values()]
        longest = max(origin.n_rounds if isinstance(origin, Replay) else math.inf for origin in origins)
        least = source.origin.n_rounds if isinstance(source.origin, Replay) else math.inf
        return tuple(dict.fromkeys(n if n > longest or n <= least else int(least) for n in self.n_rounds))

    @property
    def outputs(self) -> Outputs:
        """What is measured in each cell."""
        return Outputs(str(self.comparator), self.play, CURVE_POINTS if self.curves else 1, self.realised)

    def groups(self) -> Iterator[Group]:
        """Yield all cells, those with the same losses together."""
        runs = tuple(range(self.n_runs))
        for source in self.sources.values():
            together: dict[str, tuple[Source, list[Player]]] = {}
            for player in self.players.values():
                own = source.facing(player)
                together.setdefault(own.text, (own, []))[1].append(player)
            for own, players in together.values():
                for n_rounds, seed in itertools.product(self.rounds_of(source), self.seed):
                    yield Group(own, tuple(players), n_rounds, seed, runs, self.outputs)

    def labels(self) -> tuple[dict[str, str], dict[str, str]]:
        """Return the labels of environments and of learners by spec, as text."""
        environments = {
            source.facing(player).text: label
            for label, source in self.sources.items()
            for player in self.players.values()
        }
        return environments, {player.text: label for label, player in self.players.items()}

    def check(self) -> None:
        """Raise the errors that a cell would raise before its first round; nothing is played."""
        check_sweep(self)

    def run(
        self,
        folder: str | os.PathLike[str],
        *,
        n_threads: int | None = None,
        client: Any = None,
        progress: bool | Callable[..., None] | None = None,
        retry_failed: bool = False,
    ) -> SweepResults:
        """Check the sweep, play the cells that the folder does not have yet, and return the results of all.

        Parameters
        ----------
        folder : path
            Where finished cells are stored, at least every two seconds. Several sweeps may share it, also at once.
        n_threads : int, default None
            Threads of this process; None means one per processor. They do not change the results.
        client : distributed.Client, default None
            A Dask cluster that plays the cells instead of threads, with the same results.
        progress : bool or callable, default None
            True shows a bar, as in `simulate`. A function is called with a `Progress` about every half second.
        retry_failed : bool, default False
            Whether to play again the cells that are stored with an error.

        Returns
        -------
        SweepResults
            The results of all cells of this sweep.
        """
        from driftwise.sweeps.runner import run_sweeps

        self.check()
        play = functools.partial(
            run_sweeps, [self], folder, n_threads=n_threads, client=client, retry_failed=retry_failed
        )
        if callable(progress):
            return play(progress=progress)[0]
        with progress_shown("Sweep", progress, "cells") as show:
            return play(progress=None if show is None else lambda now: show(now.done, now.total))[0]


def _by_label(name: str, argument: Any, convert: Callable[[Any], Any]) -> dict[str, Any]:
    """Return members by label; members with equal contents are rejected, since they would be the same cells."""
    if isinstance(argument, Mapping) and not _is_spec(name, argument):
        if bad := [label for label in argument if not isinstance(label, str)]:
            raise InvalidInput(f"Sweep: `{name}` must have text for labels, got {shown(bad[0])}.")
        pairs = [(label, convert(value)) for label, value in argument.items()]
    else:
        values = argument if isinstance(argument, Sequence) and not isinstance(argument, str) else [argument]
        pairs = [(member.label, member) for member in map(convert, values)]
    if not pairs:
        raise InvalidInput(f"Sweep: `{name}` must have at least one member, got none.")
    members: dict[str, Any] = {}
    texts: dict[str, str] = {}
    labels = DistinctLabels()
    for label, member in pairs:
        if (text := member.text) in texts:
            raise InvalidInput(f"Sweep: `{name}` has '{label}' twice." if texts[text] == label
                               else f"Sweep: `{name}` has '{texts[text]}' again as '{label}'.")  # fmt: skip
        texts[text] = labels.add(label)
        members[texts[text]] = member
    return members


def _is_spec(name: str, mapping: Mapping[Any, Any]) -> bool:
    """Return whether a mapping is the spec of one member, and not members by label."""
    if name == "learners":
        return isinstance(mapping.get("name"), str)
    return any(isinstance(mapping.get(key), str | Mapping) for key in ("path", "adversary", "replay"))


def _source(value: Environment | Replay | Adversary | Source) -> Source:
    if isinstance(value, Source):
        return value
    return Source.from_spec(value) if isinstance(value, Mapping) else Source(value)


def _counts(name: str, argument: Any, least: int) -> tuple[int, ...]:
    values = tuple(argument) if isinstance(argument, Sequence) and not isinstance(argument, str) else (argument,)
    if not values:
        raise InvalidInput(f"Sweep: `{name}` must have at least one value, got none.")
    numbers = tuple(count("Sweep", name, value, least) for value in values)
    if len({*numbers}) < len(numbers):
        raise InvalidInput(f"Sweep: `{name}` must have distinct values, got {shown([*numbers])}.")
    return numbers


_MOST_MEASURED = 10**6  # means of an environment that are measured for the check


def check_sweep(sweep: Sweep, place: Callable[[str, str], str] = lambda *_: "") -> None:
    """Check every environment with every number of rounds, and every learner in every environment.

    `place` gets "environments" or "learners" and a label, and returns where it is defined, for the message.
    """
    check_memory("Sweep", "n_cells", sweep.n_cells, _CELL_BYTES * sweep.n_cells)
    for label, source in sweep.sources.items():
        for i, n_rounds in enumerate(sweep.rounds_of(source)):
            try:
                measures = _tuning_measures(source, n_rounds, sweep.seed[0], [*sweep.players.values()])
                sweep.comparator.start(source.origin.n_actions, n_rounds)
            except DriftwiseError as error:
                raise InvalidInput(f"{place('environments', label)}{error}") from None
            for name, player in sweep.players.items():
                if i > 0 and player.tuned is None:  # it is the same for all numbers of rounds
                    continue
                try:
                    _check_pair(source, player, n_rounds, measures)
                except DriftwiseError as error:
                    where = f"in '{label}' with {n_rounds} rounds: "
                    raise InvalidInput(f"{place('learners', name)}{where}{error}") from None


def _tuning_measures(source: Source, n_rounds: int, seed: int, players: list[Player]) -> Measures | None:
    """Check that an environment can have this many rounds; return what a tuning rule is told.

    Long runs are measured for fewer rounds, for which not every path can be made; then nothing is returned.
    """
    origin = source.origin
    if isinstance(origin, Adversary):
        origin.check_rounds(n_rounds)
        if source.against is not None:
            _check_feedback(origin, source.against)
        return origin.budget(n_rounds)
    origin.start(n_rounds, seed)
    if not isinstance(origin, Environment) or not any(player.needs_measures for player in players):
        return None
    measured = min(n_rounds, max(1, _MOST_MEASURED // origin.n_actions))
    try:
        return origin.measures(measured, seed)
    except DriftwiseError:
        if measured == n_rounds:
            raise
        return None


def _check_pair(source: Source, player: Player, n_rounds: int, measures: Measures | None) -> None:
    """Check that a player can play in an environment: its feedback, and whether its tuning is possible."""
    origin = source.origin
    if isinstance(origin, Adversary) and source.against is None:
        _check_feedback(origin, player)
    if isinstance(origin, Adversary) and source.is_built and source.against is None and player.tuned == "measures":
        raise InvalidInput(
            f"'{player.label}' cannot be tuned to the measures of an environment that '{origin.name}' builds against"
            ' it, since they are known only afterwards. Tune it to the budget (tuned = "budget").'
        )
    if measures is not None or not player.needs_measures or isinstance(origin, Replay):
        with collected():  # the results report caveats
            player.learner(origin.n_actions, n_rounds, measures, measures)


def _check_feedback(adversary: Adversary, player: Player) -> None:
    if player.kind.feedback not in adversary.feedbacks:
        raise InvalidInput(
            f"the theorem of '{adversary.name}' is about {' and '.join(adversary.feedbacks)} feedback,"
            f" got '{player.label}' with {player.kind.feedback} feedback."
        )


# The keys of a file, their types, and the types in words.
_KEYS: dict[str, tuple[tuple[type, ...], str]] = {
    "environments": ((list,), "tables, each under [[environments]]"),
    "learners": ((list,), "tables, each under [[learners]]"),
    "n_rounds": ((int, list), "a whole number or a list of them"),
    "n_runs": ((int,), "a whole number"),
    "seed": ((int, list), "a whole number or a list of them"),
    "comparator": ((str,), "text"),
    "play": ((str,), "text"),
    "curves": ((bool,), "true or false"),
    "realised": ((bool,), "true or false"),
}
_MOST_TABLES = 100_000  # of environments, and of learners


def read_sweep(path: Path) -> Sweep:
    """Return the sweep of a file; an error names the place in the file, and nothing is played."""
    spec, text = read_toml(path)
    file = shown_path(path)
    for key, value in spec.items():
        if key not in _KEYS:
            raise UnknownName("key", key, _KEYS, f"in {file}")
        kinds, rule = _KEYS[key]
        if type(value) not in kinds:
            raise rejection(str(path), key, rule, value)
    for key in ("environments", "learners", "n_rounds"):
        if key not in spec:
            raise InvalidInput(f"{file}: `{key}` is missing.")
    places: dict[tuple[str, str], str] = {}
    members: dict[str, dict[str, Any]] = {"environments": {}, "learners": {}}
    for kind, kind_members in members.items():
        if not spec[kind]:
            raise InvalidInput(f"{file}: `{kind}` must have at least one table, got none.")
        if (n_tables := sum(map(_n_choices, spec[kind]))) > _MOST_TABLES:
            raise InvalidInput(
                f"{file}: `{kind}` must have at most {_MOST_TABLES} members, with `each`, got {n_tables}."
            )
        make = Source.from_spec if kind == "environments" else Player.from_spec
        labels = DistinctLabels()
        first: dict[str, str] = {}  # where each label and each member was given first
        for number, table in enumerate(spec[kind], start=1):
            here = _place(text, kind, number)
            place = f"{file}, {here}: "
            try:
                if isinstance(table, Mapping) and "label" in table:
                    _check_new(f"the label '{table['label']}'", first, here)
                for label, member in _members(table, make):
                    _check_new(member.text, first, here, f"'{label}'")
                    distinct = labels.add(label)
                    kind_members[distinct], places[kind, distinct] = member, place
            except DriftwiseError as error:
                raise InvalidInput(f"{place}{error}") from None
    try:
        sweep = Sweep(**{**spec, **members})
    except DriftwiseError as error:
        raise InvalidInput(f"{file}: {error}") from None
    check_sweep(sweep, lambda kind, label: places[kind, label])
    return sweep


def _check_new(key: str, first: dict[str, str], here: str, named: str = "") -> None:
    """Reject a label or a member that the file has already."""
    if key in first:
        raise InvalidInput(f"{named or key} was given before, in {first[key]}.")
    first[key] = here


def spread(table: Mapping[str, Any]) -> Iterator[dict[str, Any]]:
    """Yield a table for every combination of the values under `each`, here and in nested tables.

    >>> list(spread({"name": "hedge", "each": {"learning_rate": [0.1, 0.3]}}))
    [{'name': 'hedge', 'learning_rate': 0.1}, {'name': 'hedge', 'learning_rate': 0.3}]
    """
    lists = table.get("each", {})
    if not isinstance(lists, Mapping):
        raise InvalidInput(f"`each` must be a table of lists, got {shown(lists)}.")
    choices: dict[str, list[Any]] = {}
    for key, value in table.items():
        if key != "each":
            choices[key] = _choices(value)
    for key, values in lists.items():
        if key in choices:
            raise InvalidInput(f"`{one_line(key)}` is given itself and under `each`.")
        if not isinstance(values, list) or not values:
            raise InvalidInput(f"`each.{one_line(key)}` must be a list of at least one value, got {shown(values)}.")
        choices[key] = [choice for value in values for choice in _choices(value)]
    if (n_tables := math.prod(map(len, choices.values()))) > _MOST_TABLES:
        raise InvalidInput(f"`each` must make at most {_MOST_TABLES} tables of one, got {n_tables}.")
    for combination in itertools.product(*choices.values()):
        yield dict(zip(choices, combination, strict=True))


def _choices(value: Any) -> list[Any]:
    return [*spread(value)] if isinstance(value, Mapping) else [value]


def _n_choices(value: Any) -> int:
    """Return the number of tables that `spread` makes of a table, without making them; 1 for anything else."""
    if not isinstance(value, Mapping):
        return 1
    lists = value.get("each", {})
    n_choices = [_n_choices(inner) for key, inner in value.items() if key != "each"]
    for values in lists.values() if isinstance(lists, Mapping) else ():
        n_choices.append(sum(map(_n_choices, values)) if isinstance(values, list) else 1)
    return math.prod(n_choices)


def _members(table: Any, make: Any) -> Iterator[tuple[str, Any]]:
    """Yield the members of a table with their labels; `label` is that of all, with the values under `each`."""
    if not isinstance(table, Mapping):
        raise InvalidInput(f"it must be a table, got {shown(table)}.")
    label = table.get("label")
    if label is not None and not isinstance(label, str):
        raise InvalidInput(f"`label` must be text, got {shown(label)}.")
    swept = {*_swept(table)}
    for values in spread({key: value for key, value in table.items() if key != "label"}):
        member = make(values)
        varied = ", ".join(f"{key}={short_text(value, None, swept)}" for key, value in _varied(table, values))
        yield (_label(member, swept) if label is None else f"{label} ({varied})" if varied else label), member


def _label(member: Source | Player, swept: Collection[str]) -> str:
    """Return the label of a member with all parameters that were swept, also where they have their defaults."""
    if isinstance(member, Player):
        return learner_label(member.spec, swept)
    return member.label if isinstance(member.origin, Replay) else environment_label(member.spec, swept)


def _swept(table: Any) -> Iterator[str]:
    """Yield the parameters under `each`, here and in nested tables, and in tables under `each`."""
    if isinstance(table, list):
        for value in table:
            yield from _swept(value)
    elif isinstance(table, Mapping):
        if isinstance(lists := table.get("each"), Mapping):
            yield from lists
            for values in lists.values():
                yield from _swept(values)
        for key, value in table.items():
            if key != "each":
                yield from _swept(value)


def _varied(table: Mapping[str, Any], values: Mapping[str, Any]) -> Iterator[tuple[str, Any]]:
    """Yield the values that `each` sets, here and in nested tables."""
    for key in table.get("each", {}):
        yield key, values[key]
    for key, value in table.items():
        if key != "each" and isinstance(value, Mapping):
            yield from _varied(value, values[key])


def _place(text: str, kind: str, number: int) -> str:
    """Return where a table is: its number and, if it is under a heading, its line."""
    heading = re.compile(rf"^[ \t]*\[\[[ \t]*{kind}[ \t]*\]\]", re.MULTILINE)
    starts = [match.start() for match in heading.finditer(text)]
    line = f" (line {text.count(chr(10), 0, starts[number - 1]) + 1})" if len(starts) >= number else ""
    return f"[[{kind}]] number {number}{line}"
