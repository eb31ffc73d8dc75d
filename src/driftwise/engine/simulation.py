"""Many runs of many learners on one machine.

Runs are independent: run `j` has its own seeds, derived from the one `seed`, and all its learners get the same losses.
A thread plays whole runs, and a run is played in blocks of rounds. Neither the number of threads nor the block size
changes the results.
"""

from __future__ import annotations

import os
import threading
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor, as_completed
from dataclasses import replace

import numpy as np

from driftwise.core.errors import InvalidInput, rejection, shown
from driftwise.core.measures import report
from driftwise.core.progress_bar import Progress, progress_shown
from driftwise.core.validation import check_memory, check_seed, count
from driftwise.engine.run import DistinctLabels, LabelledPlayer, Run, SimulationPlan, play_run, rounds_to_play
from driftwise.environments import LossSource, Replay
from driftwise.environments.environment import BYTES_PER_LOSS
from driftwise.learners import AnyPlayer, Learner, Player, learners as registered
from driftwise.learners.player import has_tuning_rule, tuning_rule
from driftwise.registry import is_unicode
from driftwise.regret.comparators import Comparator, Dynamic
from driftwise.results.results import Caveat, Results

_POINTS = 1000  # of a regret curve
_RUN_BYTES = 3400  # of a run besides its curves, as measured
_MOST_THREADS = 256  # more would not be faster, and the system may refuse them


def simulate(
    environment: LossSource,
    learners: AnyPlayer | Sequence[AnyPlayer] | Mapping[str, AnyPlayer],
    n_rounds: int | None = None,
    n_runs: int | None = None,
    seed: int = 0,
    *,
    comparator: Comparator | None = None,
    play: str = "weights",
    realised: bool = False,
    n_threads: int | None = None,
    block_size: int | None = None,
    progress: bool | Progress | None = None,
) -> Results:
    """Play learners in an environment and measure their regret.

    All learners of a run get the same losses. The same seed gives the same results, bit for bit.

    Parameters
    ----------
    environment : Environment, Replay or adversarial environment
        Where the losses come from.
    learners : learner, rule, Player, or a sequence or mapping of them
        The learners to play. A rule such as `OptimisticGD.tuned` makes a learner from the measures of each run; if the
        rule is meaningless in an environment, there is a `TuningWarning`, and `Results.caveats` has the reason. A
        `Player` can say more, for example that a rule is told the number of rounds only. The keys of a mapping are
        labels; otherwise a label is made from the name and the parameters.
    n_rounds : int, default None
        Rounds in a run, >= 1. Required, except for replayed losses: None plays all of them.
    n_runs : int, default None
        Independent runs, >= 1. None means 10, or 1 for replayed losses, which are the same in every run.
    seed : int, default 0
        Seed of all random numbers, >= 0.
    comparator : Comparator, default None
        What the regret is measured against: `Dynamic()`, `Static()`, `Switched(n_segments)` or `Interval(first, last)`.
        None means `Dynamic()`.
    play : {"weights", "sample"}, default "weights"
        A learner with full feedback incurs the mean loss under its weights, or the loss of an action sampled from them.
    realised : bool, default False
        Whether to compute the best loss L* in `Results.realised`. Its time grows with the number of segments. It is NaN
        for more than 256 segments and for replayed losses.
    n_threads : int, default None
        Threads over runs, >= 1; they do not change the results. None means one per processor.
    block_size : int, default None
        Rounds drawn at a time, >= 1; it does not change the results. None means as many as fit a processor's cache.
    progress : bool or callable, default None
        True shows a bar after two seconds, in a terminal or a notebook; it needs tqdm. A log gets a line for each
        tenth. A function is called as `progress(done, total)` with numbers of rounds, over all runs and learners.

    Returns
    -------
    Results
        The regret of every learner in every run, its bounds, and the measures of the environment.

    Examples
    --------
    >>> from driftwise import Bernoulli, Environment, OptimisticGD, Switching, simulate
    >>> environment = Environment(Switching(n_segments=3, n_actions=4), Bernoulli())
    >>> results = simulate(environment, [OptimisticGD.tuned], n_rounds=300, n_runs=4, seed=1)
    >>> results.regret(OptimisticGD.tuned).mean < results.bound(OptimisticGD.tuned)
    True
    """
    if not isinstance(environment, LossSource):
        hint = " Recorded losses go into `Replay(losses)`." if isinstance(environment, Sequence | np.ndarray) else ""
        raise InvalidInput(f"simulate: `environment` must be an environment, got {type(environment).__name__}.{hint}")
    if comparator is not None and not isinstance(comparator, Comparator):
        raise rejection("simulate", "comparator", "a comparator such as `Static()`", comparator)
    n_rounds = rounds_to_play("simulate", environment, n_rounds)
    if n_runs is None:
        n_runs = 1 if isinstance(environment, Replay) else 10
    n_runs = count("simulate", "n_runs", n_runs)
    n_threads = os.cpu_count() or 1 if n_threads is None else count("simulate", "n_threads", n_threads)
    n_threads = min(n_runs, n_threads, _MOST_THREADS)
    seed, comparator = check_seed("simulate", seed), comparator or Dynamic()
    if play not in ("weights", "sample"):
        raise rejection("simulate", "play", "'weights' or 'sample'", play)
    if not isinstance(realised, bool):
        raise rejection("simulate", "realised", "True or False", realised)
    players = labelled_players(learners)
    total = n_runs * n_rounds * len(players)
    if block_size is not None:
        block_size = count("simulate", "block_size", block_size)
    plan = SimulationPlan(
        environment, players, n_rounds, seed, comparator, play, realised, _POINTS, block_size, n_threads
    )
    check_memory("simulate", "n_runs", n_runs, (2 * 8 * len(plan.rounds) * len(players) + _RUN_BYTES) * n_runs)
    cause = ("n_actions", environment.n_actions) if block_size is None else ("block_size", plan.block_size)
    check_memory("simulate", *cause, BYTES_PER_LOSS * plan.block_size * environment.n_actions)
    with progress_shown("simulate", progress, "rounds") as show:
        runs = _play_all(replace(plan, advance=_adder(show, total)), n_runs, n_threads)
    seconds = np.sum([run.seconds for run in runs], axis=0)
    caveats = _caveats(players, runs)
    for label, caveat in caveats.items():
        report(f"simulate: '{label}'", caveat.text(n_runs))
    return Results(
        labels=tuple(labelled.label for labelled in players),
        learners=tuple(labelled.player.spec for labelled in players),
        played=tuple(runs[0].played),
        environment=environment.to_spec(),
        comparator=str(comparator),
        play=play,
        kind="pseudo" if environment.has_means else "realised",
        n_actions=environment.n_actions,
        n_rounds=n_rounds,
        n_runs=n_runs,
        seed=seed,
        rounds=plan.rounds + 1,
        regrets=np.stack([run.regrets for run in runs], axis=1),
        measures=tuple(run.measures for run in runs if run.measures is not None),
        realised=tuple(run.realised for run in runs),
        bound_rounds=plan.bound_rounds + 1,
        bounds=np.stack([run.bounds for run in runs], axis=1),
        caveats=caveats,
        seconds={labelled.label: float(s) for labelled, s in zip(players, seconds, strict=True)},
    )


def labelled_players(players: AnyPlayer | Sequence[AnyPlayer] | Mapping[str, AnyPlayer]) -> list[LabelledPlayer]:
    """Return the players with their labels; equal labels are numbered."""
    if isinstance(players, Mapping):
        for label in players:
            if not isinstance(label, str) or not is_unicode(label):
                raise InvalidInput(f"simulate: `learners` must have text for labels, got {shown(label)}.")
        pairs = [(label, _player(player)) for label, player in players.items()]
    else:
        if not isinstance(players, Sequence) or isinstance(players, str):
            players = [players]
        pairs = [(player.label, player) for player in map(_player, players)]
    if not pairs:
        raise InvalidInput("simulate: `learners` must name at least one learner, got none.")
    entries: list[LabelledPlayer] = []
    labels, copies = DistinctLabels(), Counter[Player]()
    for label, player in pairs:
        entries.append(LabelledPlayer(labels.add(label), player, copies[player]))
        copies[player] += 1
    return entries


def what_was_meant(value: object) -> str:
    """Return what was given in place of a learner, and the likely correction; "" if it is no class and no name.

    >>> what_was_meant("ucb1")
    "the name 'ucb1'. Write UCB1()"
    """
    if isinstance(value, type) and issubclass(value, Learner):
        return f"the class {value.__name__}. Write {value.__name__}()"
    if isinstance(value, str):
        return f"the name '{value}'. Write {registered.get(value).__name__}()"  # raises if the name is unknown
    return ""


def _player(value: AnyPlayer) -> Player:
    """Return a value as a player, or reject it with the likely correction."""
    if meant := what_was_meant(value):
        rule = f" or {value.__name__}.tuned" if isinstance(value, type) and has_tuning_rule(value) else ""
        raise InvalidInput(f"simulate: `learners` must hold learners, got {meant}{rule}.")
    if not isinstance(value, Learner | Player | Mapping) and tuning_rule(value) is None:
        hint = " A rule of your own is the class method `tuned` of a learner of your own." if callable(value) else ""
        raise InvalidInput(f"simulate: `learners` must hold learners, got {shown(value)}.{hint}")
    return Player.of(value)


def _adder(show: Progress | None, total: int) -> Callable[[int], None]:
    """Return what is told the number of rounds that were just played, by any thread."""
    done, lock = 0, threading.Lock()

    def advance(n: int) -> None:
        nonlocal done
        with lock:
            done += n
            if show is not None:
                show(done, total)

    return advance


def _play_all(plan: SimulationPlan, n_runs: int, n_threads: int) -> list[Run]:
    # Freed at once: after that, glibc reuses freed blocks instead of mapping new pages for each array.
    np.empty(3 * 2**20)
    if n_threads == 1:
        return [play_run(plan, run) for run in range(n_runs)]
    pool = ThreadPoolExecutor(n_threads)
    runs = [pool.submit(play_run, plan, run) for run in range(n_runs)]
    try:
        for run in as_completed(runs):
            run.result()  # raises the error of a failed run
    finally:  # after an error or an interrupt, the other runs stop at their next block; do not wait for them
        plan.stop.set()
        pool.shutdown(wait=False, cancel_futures=True)
    return [run.result() for run in runs]


def _caveats(players: Sequence[LabelledPlayer], runs: Sequence[Run]) -> dict[str, Caveat]:
    """Return the caveat of each learner that has one: in how many runs, and the reason in the first of them."""
    texts = {labelled.label: [run.caveats[i] for run in runs if run.caveats[i]] for i, labelled in enumerate(players)}
    return {label: Caveat(len(reasons), reasons[0]) for label, reasons in texts.items() if reasons}
