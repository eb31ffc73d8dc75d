"""The cost of the default learners: rounds in blocks, live rounds, long streams and memory."""

from __future__ import annotations

import time

import numpy as np
from common import Effort, verdict
from live import session_time
from timing import interleaved

from driftwise.core.types import Matrix
from driftwise.learners import KLUCB, BanditTracker, FixedShare, Learner, OptimisticFixedShare, Tracker
from driftwise.learners.experts.ada_hedge import PriorAdaHedge
from driftwise.report.tables import text_table

__all__ = ["defaults"]

N_ACTIONS = 10
BLOCK, LIVE = 4.0, 10.0  # us
GROWTH = 1.3  # of the memory from 10^5 to 10^6 rounds
HEADERS = ("what", "measured", "target", "")


def _bernoulli(n_rounds: int, seed: int) -> Matrix:
    means = np.linspace(0.3, 0.7, N_ACTIONS)
    return (np.random.default_rng(seed).random((n_rounds, N_ACTIONS)) < means).astype(np.float64)


def _block_time(learner: Learner, losses: Matrix, n_before: int = 0) -> float:
    """Return the microseconds of a round in blocks, after some rounds."""
    state = learner.start(losses.shape[1])
    for start in range(0, n_before, len(losses)):
        learner.play_block(state, losses[: n_before - start])
    began = time.perf_counter()
    learner.play_block(state, losses)
    return (time.perf_counter() - began) / len(losses) * 1e6


def _bases_time(losses: Matrix) -> float:
    """Return the microseconds of a round of Tracker's bases and its rule, each played by its own kernel."""
    bank = Tracker().banks(N_ACTIONS)[0]
    bases = [kind(*pair) for pair in bank.pairs for kind in (FixedShare, OptimisticFixedShare)]
    base_losses = np.random.default_rng(2).random((len(losses), bank.n_bases))
    return sum(_block_time(base, losses) for base in bases) + _block_time(_rule(), base_losses)


def _rule() -> PriorAdaHedge:
    return Tracker().rule(N_ACTIONS)


def _memory(learner: Learner, n_rounds: int, losses: Matrix) -> int:
    """Return the bytes of the memory after some rounds."""
    state = learner.start(N_ACTIONS)
    for _ in range(0, n_rounds, len(losses)):
        learner.play_block(state, losses)
    return sum(array.nbytes for array in state.memory)


def defaults(effort: Effort) -> str:
    """Time the default learners at K = 10 beside KL-UCB and the kernels of Tracker's bases."""
    losses = _bernoulli(100_000, seed=1)
    tracker, bandit, kl_ucb = Tracker(), BanditTracker(), KLUCB()
    late = 10_000_000 if effort.repetitions > 2 else 1_000_000
    tasks = {
        "a round of tracker in blocks": (lambda: _block_time(tracker, losses), BLOCK),
        "the kernels of 30 of its bases one by one, and its rule": (
            lambda: _bases_time(losses[:20_000]),
            None,
        ),
        "a round of bandit-tracker in blocks, after 100,000 rounds": (
            lambda: _block_time(bandit, losses, len(losses)),
            BLOCK,
        ),
        "a round of kl-ucb in blocks, after 100,000 rounds": (lambda: _block_time(kl_ucb, losses, len(losses)), None),
        "a live round of tracker": (lambda: session_time(tracker, losses[:5000]) / 5000 * 1e6, LIVE),
        "a live round of bandit-tracker": (lambda: session_time(bandit, losses[:5000]) / 5000 * 1e6, LIVE),
    }
    timed = interleaved({name: task for name, (task, _) in tasks.items()}, effort.repetitions)
    rows = []
    for name, (_, most) in tasks.items():
        best = timed[name].best
        rows.append((name, f"{best:.2f} us", "" if most is None else f"{most:g} us", _verdict(best, most)))
    for learner in (tracker, bandit):
        early, later = (_memory(learner, n, losses) for n in (100_000, 1_000_000))
        name = f"memory of {learner.name} at 1,000,000 rounds against 100,000 ({early:,} bytes)"
        rows.append((name, f"{later / early:.2f} times", f"{GROWTH:g} times", _verdict(later / early, GROWTH)))
        first, last = _block_time(learner, losses, len(losses)), _block_time(learner, losses, late)
        rows.append(
            (f"a round of {learner.name} after {late:,} rounds against 100,000", f"{last / first:.2f} times", "", "")
        )
    return text_table(HEADERS, rows)


def _verdict(value: float, most: float | None) -> str:
    return "" if most is None else verdict(value <= most)
