"""Learners compared with the same algorithms of other packages."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NamedTuple

import numpy as np
from common import QUICK, Effort, block_time, losses_of, verdict
from expert_rivals import expert_rivals
from rival_process import RivalError, Worker, install, pins, working
from rival_runs import long_runs, whole_runs
from timing import interleaved

from driftwise.core.errors import DriftwiseError
from driftwise.learners import learners
from driftwise.report.tables import number, text_table

__all__ = ["rivals"]

N_ACTIONS = 10
TARGETS = {"SMPyBandits": 100.0, "river": 20.0, "pymab": 2.0}  # times their rounds per second
BLOCKS = 5  # repetitions of ours per run of theirs, which takes a thousand times longer
SHORTER = 4  # times fewer rounds in a quick measurement
HEADERS = (
    *("learner", "package", "its class", "rounds", "ours, us", "theirs, us", "ratio", "target", ""),
    *("our loss", "their loss", "same actions"),
)


class Pair(NamedTuple):
    """A learner of driftwise and the most similar policy of another package."""

    ours: str
    package: str
    theirs: str
    parameters: Mapping[str, Any] = {}  # of theirs
    our_parameters: Mapping[str, Any] = {}  # of ours, if not the defaults
    rounds: int = 2000
    index: bool = False  # plays the best index, so that the actions can be compared


# Where the algorithms differ, theirs has less work. All are tuned to 7 changes in 2,000 rounds: windows and runs are
# short, since the time of some rivals grows with the window or with the number of rounds.
TUNED = {"horizon": 2000, "max_nb_random_events": 7}
DISCOUNT, WINDOW = 0.985, 93
FEW = 500  # rounds, for rivals that take hundreds of microseconds per round

PAIRS = (
    Pair("ucb1", "SMPyBandits", "UCB", index=True),
    Pair("ucb1", "river", "UCB", {"delta": 1}, index=True),
    Pair("ucb1", "pymab", "UCBPolicy", index=True),
    # Explores with ln t, not 1.2 ln t.
    Pair("ucb-v", "SMPyBandits", "UCBV"),
    # Bisects to 1e-4, as its other kl-UCBs do.
    Pair("kl-ucb", "SMPyBandits", "klUCB", rounds=FEW),
    # Both use gains and a share of uniform exploration; SMPyBandits first plays each action once.
    Pair("exp3", "SMPyBandits", "Exp3", {"gamma": 0.1}, {"exploration_rate": 0.1}),
    Pair("exp3", "river", "Exp3", {"gamma": 0.1}, {"exploration_rate": 0.1}),
    Pair("exp3", "pymab", "EXP3Policy", {"gamma": 0.1}, {"exploration_rate": 0.1}),
    Pair("exp3-s", "SMPyBandits", "Exp3S", {"gamma": 0.1, "alpha": 1 / 2000}),
    # Their discounted counts are integers and stay at most 1, so they keep to one action; the work is the same. The
    # factors are 8 and 4 times our log_scale, 0.6.
    Pair(
        "discounted-ucb",
        "SMPyBandits",
        "DiscountedUCB",
        {"gamma": DISCOUNT, "alpha": 4.8},
        {"discount": DISCOUNT},
        index=True,
    ),
    Pair(
        "discounted-ucb",
        "pymab",
        "DiscountedUCBPolicy",
        {"discount_factor": DISCOUNT, "c": 2.4},
        {"discount": DISCOUNT},
        index=True,
    ),
    Pair("discounted-kl-ucb", "SMPyBandits", "DiscountedklUCB", {"gamma": DISCOUNT}, {"discount": DISCOUNT}, FEW),
    # These scan the whole window for every action.
    Pair("sliding-window-ucb", "SMPyBandits", "SWUCB", {"tau": WINDOW, "alpha": 0.6}, {"window": WINDOW}, index=True),
    Pair(
        "sliding-window-ucb",
        "pymab",
        "SlidingWindowUCBPolicy",
        {"window_size": WINDOW, "c": 0.6},
        {"window": WINDOW},
        index=True,
    ),
    Pair("sliding-window-kl-ucb", "SMPyBandits", "SWklUCB", {"tau": WINDOW}, {"window": WINDOW}, FEW),
    Pair("thompson", "SMPyBandits", "Thompson"),
    Pair("thompson", "river", "ThompsonSampling", {"reward_obj": "Beta"}),
    Pair("thompson", "pymab", "BernoulliThompsonSamplingPolicy"),
    # Discounts the played action K times and the others never; the work is the same.
    Pair("discounted-thompson", "SMPyBandits", "DiscountedThompson", {"gamma": DISCOUNT}, {"discount": DISCOUNT}),
    # These test an action at every tenth of its plays, on all its samples; with a test at every play they are slower.
    Pair("cusum-ucb", "SMPyBandits", "CUSUM_IndexPolicy", TUNED),
    Pair("cusum-ucb", "pymab", "CUSUMUCBPolicy"),
    Pair("detect-and-restart", "SMPyBandits", "PHT_IndexPolicy", TUNED),
    # Restarts whenever the window of an action is full: its test returns a pair, which is always true. That saves work.
    Pair("m-ucb", "SMPyBandits", "Monitored_IndexPolicy", {"w": 200, "b": 42.7, "gamma": 0.1}),
    # Tests at every tenth play and sample. From TUNED it would take a delta above 1; these are the paper's for one
    # action's restarts, 1 / sqrt(7 K T), and a tenth of sqrt(7 K ln(T) / T), the package's own scale.
    Pair(
        "glr-kl-ucb",
        "SMPyBandits",
        "BernoulliGLR_IndexPolicy_WithDeterministicExploration",
        {"policy": "klUCB_forGLR", "delta": 0.0027, "alpha0": 0.05},
    ),
    # Tests every 50 rounds, on every 20th start; still a round takes 2 ms in a run of 200 and 20 ms in one of 500.
    Pair("adswitch", "SMPyBandits", "AdSwitchNew", {"horizon": 2000}, rounds=200),
    # Computes the normalising constant with SciPy's general minimiser.
    Pair("tsallis-inf", "SMPyBandits", "TsallisInf", rounds=FEW),
)  # no package has bandit-over-bandit, master, rerun-ucbv or rexp3


def measured(pair: Pair, worker: Worker, n_rounds: int, repetitions: int) -> list[str]:
    """Return the numbers of a row and the verdict."""
    learner = learners.build({"name": pair.ours, **pair.our_parameters})
    losses = losses_of("switching", n_rounds, N_ACTIONS)
    worker.prepare(losses)
    tasks = {
        "ours": lambda: min(block_time(learner, losses) for _ in range(BLOCKS)),
        "theirs": lambda: worker.play(pair.package, pair.theirs, pair.parameters),
    }
    ours, theirs = (1e6 * taken.best / n_rounds for taken in interleaved(tasks, repetitions).values())
    least, rounds = TARGETS[pair.package], np.arange(n_rounds)
    plays = learner.play_block(learner.start(N_ACTIONS), losses), worker.played()
    suffered = [f"{losses[rounds, actions].mean():.3f}" for actions in plays]
    same = f"{same_actions(pair, worker, n_rounds):.1%}" if pair.index else "-"
    numbers = [number(ours), number(theirs), f"{theirs / ours:.3g}", f">= {least:g}", verdict(theirs / ours >= least)]
    return [*numbers, *suffered, same]


def same_actions(pair: Pair, worker: Worker, n_rounds: int) -> float:
    """Return the share of rounds with the same action, on losses without ties.

    Packages play the actions in different orders in the first K rounds, so ours gets the actions in their order.
    """
    learner = learners.build({"name": pair.ours, **pair.our_parameters})
    losses = (losses_of("switching", n_rounds, N_ACTIONS) + losses_of("uniform", n_rounds, N_ACTIONS)) / 2
    worker.prepare(losses)
    worker.play(pair.package, pair.theirs, pair.parameters)
    actions = worker.played()
    order = np.array(list(dict.fromkeys(actions.tolist())))  # by first play
    if len(order) < N_ACTIONS:
        raise RivalError(f"plays only {len(order)} of {N_ACTIONS} actions")
    played = learner.play_block(learner.start(N_ACTIONS), np.ascontiguousarray(losses[:, order]))
    return float(np.mean(order[played] == actions))


def rivals(effort: Effort) -> str:
    """Compare learners on blocks with the same algorithms of other packages, round by round."""
    pairs = [pair for pair in PAIRS if pair.ours in learners]
    missing = f"{len(PAIRS) - len(pairs)} of {len(PAIRS)} pairs have no learner in driftwise."
    if not pairs:
        return missing
    try:
        install()
    except (RivalError, OSError) as error:
        return f"The rivals could not be installed, so nothing was compared: {error}"
    rows, reasons = [], ""
    with working() as worker:
        for pair in pairs:
            n_rounds = pair.rounds // SHORTER if effort is QUICK else pair.rounds
            try:
                numbers = measured(pair, worker, n_rounds, effort.repetitions)
            except (RivalError, DriftwiseError, OSError) as error:
                numbers = [*"----", "failed", *"---"]
                reasons += f"\n\n{pair.ours} and {pair.theirs}: {error}"
            rows.append([pair.ours, pair.package, pair.theirs, str(n_rounds), *numbers])
        others = [whole_runs(effort, worker), long_runs(worker), expert_rivals(effort, worker)]
    about = (
        f"K = {N_ACTIONS}, Bernoulli losses that switch, microseconds and mean loss per round; best of"
        f" {effort.repetitions}; {', '.join(pins())}"
    )
    return "\n\n".join([f"{about}. {missing}", f"{text_table(HEADERS, rows, left=3)}{reasons}", *others])
