"""Many runs of many learners on one machine.

Runs are independent: run `j` has seeds of its own, derived from the one seed at the top, and all its learners
see the same losses. Threads take whole runs, blocks cut rounds, and neither shows in the results.
"""

from __future__ import annotations

import functools
import os
import threading
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor, as_completed

import numpy as np

from driftwise.core.errors import InvalidInput, rejection
from driftwise.core.machine_memory import check_memory, memory_bytes
from driftwise.core.tuning_caveats import report
from driftwise.core.types import Actions
from driftwise.core.validation import check_seed, count
from driftwise.engine.players import Entry, Player, entries
from driftwise.engine.run import Run, SimulationPlan, play_run
from driftwise.environments import LossSource, Replay
from driftwise.environments.environment import BYTES_PER_LOSS
from driftwise.results.comparators import Comparator, Dynamic
from driftwise.results.footnotes import Caveat
from driftwise.results.results import Results

__all__ = ["simulate"]

_POINTS = 1000  # marks on a curve
_CELLS = 2**17  # of a block: a megabyte an array, long enough for threads to stay out of each other's way
_KEPT_BYTES = 2**28  # of means that tuning needs before the first round, kept for the rounds, over all threads
_KEPT_SHARE = 16  # and at most this part of the memory
_MOST_THREADS = 256  # more would only take turns, and a system may refuse them
_BOUND_POINTS = 32  # computed under the interpreter lock, where other runs wait


def simulate(
    environment: LossSource,
    learners: Player | Sequence[Player] | Mapping[str, Player],
    n_rounds: int | None = None,
    n_runs: int | None = None,
    seed: int = 0,
    *,
    comparator: Comparator | None = None,
    play: str = "weights",
    realised: bool = False,
    n_threads: int | None = None,
    block_size: int | None = None,
    progress: Callable[[int, int], None] | None = None,
) -> Results:
    """Play every learner through `n_runs` runs of an environment and measure its regret.

    There are 10 runs unless you say otherwise, and 1 of replayed losses, which are the same in every run.

    A learner may be given as a rule such as `OptimisticGD.tuned`, which is asked anew with each run's measures. Where
    the rule says nothing, there is a `TuningWarning`, and `Results.caveats` marks the learner.
    `play="sample"` lets full-feedback learners draw an action from their weights. `n_rounds` may be left out
    for replayed losses. Rounds are drawn `block_size` at a time, by default as many as fit a processor's cache.
    `realised=True` computes the best loss L* in `Results.realised` too: its time grows with the number of segments, and
    with more than 256, or for replayed losses, there is none (NaN).
    `progress` is called with the rounds done and the rounds in all.

    >>> from driftwise import Bernoulli, Environment, OptimisticGD, Switching, simulate
    >>> environment = Environment(Switching(n_segments=3, n_actions=4), Bernoulli())
    >>> results = simulate(environment, [OptimisticGD.tuned], n_rounds=300, n_runs=4, seed=1)
    >>> results.regret("optimistic-gd (tuned)").mean < results.bound("optimistic-gd (tuned)")
    True
    """
    if not isinstance(environment, LossSource):
        hint = " Recorded losses go into `Replay(losses)`." if isinstance(environment, Sequence | np.ndarray) else ""
        raise InvalidInput(f"simulate: `environment` must be an environment, got {type(environment).__name__}.{hint}")
    if comparator is not None and not isinstance(comparator, Comparator):
        raise rejection("simulate", "comparator", "a comparator such as `Static()`", comparator)
    if n_rounds is None:
        if not isinstance(environment, Replay):
            raise InvalidInput("simulate: `n_rounds` must be given, unless recorded losses are replayed.")
        n_rounds = environment.n_rounds
    if n_runs is None:
        n_runs = 1 if isinstance(environment, Replay) else 10
    n_rounds, n_runs = count("simulate", "n_rounds", n_rounds), count("simulate", "n_runs", n_runs)
    n_threads = os.cpu_count() or 1 if n_threads is None else count("simulate", "n_threads", n_threads)
    n_threads = min(n_runs, n_threads, _MOST_THREADS)
    seed, comparator = check_seed("simulate", seed), comparator or Dynamic()
    if play not in ("weights", "sample"):
        raise rejection("simulate", "play", "'weights' or 'sample'", play)
    if not isinstance(realised, bool):
        raise rejection("simulate", "realised", "True or False", realised)
    first, end = comparator.span(n_rounds)
    total = n_runs * n_rounds * len(who := entries(learners))
    done, lock = 0, threading.Lock()

    def advance(n: int) -> None:
        nonlocal done
        with lock:
            done += n
            if progress is not None:
                progress(done, total)

    rounds = _marks(first, end, _POINTS)
    size = _block(environment.n_actions) if block_size is None else count("simulate", "block_size", block_size)
    size = min(size, n_rounds)
    check_memory("simulate", "n_runs", n_runs, 2 * 8 * len(rounds) * len(who) * n_runs)
    cause = ("n_actions", environment.n_actions) if block_size is None else ("block_size", size)
    check_memory("simulate", *cause, BYTES_PER_LOSS * size * environment.n_actions)
    # A bound is on the expected pseudo-regret against the best action of every round.
    provable = isinstance(comparator, Dynamic) and environment.has_means
    # Runs on one path ask for the same bounds again and again.
    bound = functools.lru_cache(2 * _BOUND_POINTS * len(who))(lambda learner, measures: learner.bound(measures))
    plan = SimulationPlan(
        environment=environment,
        entries=who,
        comparator=comparator,
        play=play,
        n_rounds=n_rounds,
        seed=seed,
        block_size=size,
        realised=realised,
        room=min(_KEPT_BYTES, memory_bytes() // _KEPT_SHARE) // n_threads,
        rounds=rounds,
        bound_rounds=_marks(first, end, _BOUND_POINTS) if provable else rounds[-1:],
        bound=bound,
        advance=advance,
        stop=threading.Event(),
    )
    runs = _play_all(plan, n_runs, n_threads)
    seconds = np.sum([run.seconds for run in runs], axis=0)
    caveats = _caveats(who, runs)
    for label, caveat in caveats.items():
        report(f"simulate: '{label}'", caveat.told(n_runs))
    return Results(
        labels=tuple(entry.label for entry in who),
        learners=tuple(runs[0].specs),
        environment=environment.to_spec(),
        comparator=str(comparator),
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
        bounds=np.mean([run.bounds for run in runs], axis=0),
        caveats=caveats,
        seconds={entry.label: float(s) for entry, s in zip(who, seconds, strict=True)},
    )


def _block(n_actions: int) -> int:
    return max(1, min(2**14, _CELLS // n_actions))


def _play_all(plan: SimulationPlan, n_runs: int, n_threads: int) -> list[Run]:
    np.empty(
        3 * 2**20
    )  # freed at once: it teaches glibc to keep freed blocks, or each would be mapped anew, page by page
    if n_threads == 1:
        return [play_run(plan, run) for run in range(n_runs)]
    pool = ThreadPoolExecutor(n_threads)
    runs = [pool.submit(play_run, plan, run) for run in range(n_runs)]
    try:
        for run in as_completed(runs):
            run.result()  # raises what went wrong, whichever run it was in
    finally:  # after an error or an interrupt, the other runs end at their next block, and nobody waits for them
        plan.stop.set()
        pool.shutdown(wait=False, cancel_futures=True)
    return [run.result() for run in runs]


def _caveats(who: Sequence[Entry], runs: Sequence[Run]) -> dict[str, Caveat]:
    """Count the runs in which a learner's rule says nothing; the reason is that of the first."""
    found = {entry.label: [run.caveats[i] for run in runs if run.caveats[i]] for i, entry in enumerate(who)}
    return {label: Caveat(len(reasons), reasons[0]) for label, reasons in found.items() if reasons}


def _marks(first: int, end: int, most: int) -> Actions:
    """Return at most `most` rounds, 0-based, evenly spread, the last included."""
    return np.unique(np.linspace(first, end - 1, min(most, end - first)).round().astype(np.int64))
