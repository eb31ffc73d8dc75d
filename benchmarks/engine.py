"""The overhead of `simulate` over the necessary work: drawing the losses, and the learner's own blocks.

Repetitions of both take turns, in one thread and with the same blocks. The parts are timed separately, each on blocks
that are already drawn, so their sum may differ from the total because of caches.
"""

from __future__ import annotations

import functools
import warnings
from collections.abc import Callable, Sequence

import numpy as np
from common import FULL, SEED, Effort, scaled, verdict
from timing import interleaved, seconds

from driftwise import Bernoulli, Environment, OptimisticGD, Sinusoidal, Switching, simulate
from driftwise.core.errors import TuningWarning
from driftwise.engine.run import LossAccumulator
from driftwise.environments import Block, MeasuresAccumulator
from driftwise.learners import UCB1, Hedge, Learner
from driftwise.regret.realised import RealisedAccumulator
from driftwise.report.tables import text_table
from driftwise.results import Dynamic

__all__ = ["engine"]

MOST = 1.5
N_ACTIONS = 10
N_ROUNDS = {FULL: 1_000_000}
FEWER = 200_000
BLOCK = 13_107  # the block size of `simulate`
MOST_TURNS = 7  # runs of a million rounds take long
SEGMENTS = (1, 10, 100, 1000)
FLAT = 1.2  # the most that the largest of their ratios may exceed the least
SHORTER = 10  # times fewer rounds if L* is computed
LEARNERS = (Hedge(), OptimisticGD(), UCB1())
PATHS = {"switching": Switching(10, N_ACTIONS), "sinusoidal": Sinusoidal(N_ACTIONS, 3)}
NO_MARKS = np.empty(0, np.int64)


def bernoulli(path: Switching | Sinusoidal) -> Environment:
    """Return an environment with Bernoulli losses."""
    return Environment(path, Bernoulli())


def floor(environment: Environment, learner: Learner, n_rounds: int) -> None:
    """Draw the losses of a run and play the learner on them, nothing else."""
    np.empty(3 * 2**20)  # as `simulate` does: after that, freed blocks are reused
    stream, state = environment.start(n_rounds, SEED), learner.start(N_ACTIONS)
    for first in range(0, n_rounds, BLOCK):
        learner.play_block(state, stream.draw(min(BLOCK, n_rounds - first)).losses)


def whole(environment: Environment, player: object, n_rounds: int, realised: bool = False) -> None:
    """Simulate one run."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", TuningWarning)
        simulate(environment, player, n_rounds, 1, SEED, n_threads=1, realised=realised)  # type: ignore[arg-type]


def ratios(n_rounds: int, turns: int) -> str:
    """Compare `simulate` with the floor."""
    rows = []
    for name, path in PATHS.items():
        for learner in LEARNERS:
            times = interleaved(
                {
                    work.__name__: functools.partial(
                        seconds, functools.partial(work, bernoulli(path), learner, n_rounds)
                    )
                    for work in (floor, whole)
                },
                turns,
            )
            least, total = times["floor"].best, times["whole"].best
            ratio = total / least
            rows.append([name, learner.name, *scaled(1e9 / n_rounds, least, total), f"{ratio:.2f}"])
            rows[-1] += [f"<= {MOST}", verdict(ratio <= MOST)]
    return text_table(("path", "learner", "floor, ns", "simulate, ns", "ratio", "target", ""), rows)


def flatness(n_rounds: int, turns: int) -> str:
    """Compare `simulate` with the floor at several numbers of segments, and show the time of L*.

    Beyond 256 segments L* is not computed; only the measures before the first round take time then.
    """
    learner = UCB1()
    tasks: dict[str, Callable[[], float]] = {}
    for n in SEGMENTS:
        environment = bernoulli(Switching(n, N_ACTIONS))
        works = {
            "floor": functools.partial(floor, environment, learner, n_rounds),
            "whole": functools.partial(whole, environment, learner, n_rounds),
            "with L*": functools.partial(whole, environment, learner, n_rounds // SHORTER, realised=True),
        }
        tasks |= {f"{name}, {n}": functools.partial(seconds, work) for name, work in works.items()}
    times = {name: taken.best for name, taken in interleaved(tasks, turns).items()}
    found = {n: times[f"whole, {n}"] / times[f"floor, {n}"] for n in SEGMENTS}
    rows = []
    for n, ratio in found.items():
        rows.append([str(n), *scaled(1e9 / n_rounds, times[f"floor, {n}"], times[f"whole, {n}"]), f"{ratio:.2f}"])
        rows[-1] += [*scaled(1e9 * SHORTER / n_rounds, times[f"with L*, {n}"]), f"<= {MOST}, <= {FLAT}x the least"]
        rows[-1].append(verdict(ratio <= MOST and ratio <= FLAT * min(found.values())))
    headers = ("segments", "floor, ns", "simulate, ns", "ratio", "with L*, ns", "target", "")
    return text_table(headers, rows)


def parts(n_rounds: int, turns: int) -> str:
    """Time every part of a run with UCB1 and with Hedge."""
    columns = {name: _parts_of(bernoulli(path), n_rounds, turns) for name, path in PATHS.items()}
    names = list(columns["switching"])
    rows = [[part, *(scaled(1e9 / n_rounds, column[part])[0] for column in columns.values())] for part in names]
    return text_table(("part, ns per round", *columns), rows)


def _parts_of(environment: Environment, n_rounds: int, turns: int) -> dict[str, float]:
    lengths = [min(BLOCK, n_rounds - first) for first in range(0, n_rounds, BLOCK)]
    stream = environment.start(n_rounds, SEED)
    blocks = [stream.draw(n) for n in lengths]
    plays = {learner: _played(learner, blocks) for learner in (Hedge(), UCB1())}

    def draw() -> None:
        np.empty(3 * 2**20)
        new_stream = environment.start(n_rounds, SEED)
        for n in lengths:
            new_stream.draw(n)

    def measure_losses() -> None:
        accumulator = RealisedAccumulator(N_ACTIONS)
        for block in blocks:
            accumulator.update(block.losses)

    def measure_path() -> None:
        accumulator = MeasuresAccumulator(N_ACTIONS)
        for block in blocks:
            accumulator.update(block.means, block.variances)

    def compare() -> None:
        follower = Dynamic().start(N_ACTIONS)
        for block in blocks:
            follower.follow(block.means, NO_MARKS)

    def accumulate(learner: Learner) -> None:
        accumulator = LossAccumulator()
        for block, played in zip(blocks, plays[learner], strict=True):
            accumulator.add_block(played, block.means, NO_MARKS)

    tasks: dict[str, Callable[[], object]] = {
        "drawing the losses": draw,
        "the learner: hedge": lambda: _played(Hedge(), blocks),
        "the learner: ucb1": lambda: _played(UCB1(), blocks),
        "checking and measuring the losses": measure_losses,
        "measuring the path": measure_path,
        "the comparator": compare,
        "the learner's loss: hedge": lambda: accumulate(Hedge()),
        "the learner's loss: ucb1": lambda: accumulate(UCB1()),
        "only if tuned: measures before the first round": lambda: environment.measures(n_rounds, SEED),
    }
    timed = {name: functools.partial(seconds, task) for name, task in tasks.items()}
    return {name: taken.best for name, taken in interleaved(timed, turns).items()}


def _played(learner: Learner, blocks: Sequence[Block]) -> list[np.ndarray]:
    state = learner.start(N_ACTIONS)
    return [learner.play_block(state, block.losses) for block in blocks]


def engine(effort: Effort) -> str:
    """Compare `simulate` with drawing the losses and playing the learner's blocks, in one thread."""
    n_rounds, turns = N_ROUNDS.get(effort, FEWER), min(effort.repetitions, MOST_TURNS)
    work = f"1 run of {n_rounds} rounds, K = {N_ACTIONS}, Bernoulli; ns per round, best of {turns}."
    tables = ratios(n_rounds, turns), flatness(n_rounds, turns), parts(min(n_rounds, FEWER), turns)
    return "\n\n".join((work, *tables))
