"""Every learner of the registry passes every check, and every check catches a broken learner."""

import math
import re

import numba
import pytest

from broken_learners import BROKEN, SkipsUnknownCheck
from driftwise.checks import CheckFailed, check_learner, checks_of
from driftwise.core.errors import InvalidInput
from driftwise.learners import (
    OptimisticAdaptMLProd,
    OptimisticGD,
    RerunUCBV,
    RestartedAdaptiveGD,
    SleepingOptimisticAdaptMLProd,
    learners,
)

# One learner for each template of loops: plain and hinted weights, draws, a detector with an index, a grid, intervals.
QUICK = {"hedge", "optimistic-gd", "exp3", "cusum-ucb", "ader", "saol"}
DEFAULTS = [learners.get(name)() for name in learners]
SETTINGS = [
    OptimisticGD(math.inf),
    OptimisticGD(0.01, prox_scale=0.5),
    RestartedAdaptiveGD(1),
    RestartedAdaptiveGD(7),
    OptimisticAdaptMLProd(prior="outside"),
    SleepingOptimisticAdaptMLProd(n_rounds=500),
    SleepingOptimisticAdaptMLProd(n_rounds=1),
    SleepingOptimisticAdaptMLProd("merged"),
    SleepingOptimisticAdaptMLProd("merged", 500, resolution=1),
    RerunUCBV(50),
    RerunUCBV(50, clip=False, double_variance=True),
    RerunUCBV(7, failure_probability=0.5, log_scale=0.1),
]
# Rounds that suffice to distinguish 0.4 from 0.5, where those of test_the_long_checks_hold_in_fewer_rounds do not.
PATIENT = {"adswitch": 240_000, "master": 4000}
LONG = ("weights_survive_a_million_constant_rounds", "choices_survive_a_million_constant_rounds")


def pairs(members, *marks):
    return [
        pytest.param(learner, check, id=f"{learner}-{check.name}", marks=[*marks, *quick_mark(learner)])
        for learner in members
        for check in checks_of(learner)
    ]


def quick_mark(learner):
    return [pytest.mark.quick] if learner.name in QUICK and learner == type(learner)() else []


@pytest.mark.parametrize(("learner", "check"), pairs(DEFAULTS, pytest.mark.interpreted) + pairs(SETTINGS))
def test_every_learner_passes_every_check(learner, check):
    if check.name in learner.skipped_checks:
        pytest.skip(f"{type(learner).__name__} skips {check.name}: {learner.skipped_checks[check.name]}.")
    if check.name in LONG and numba.config.DISABLE_JIT:
        pytest.skip("A million interpreted rounds take minutes; test_the_long_checks_hold_in_fewer_rounds has fewer.")
    check(learner)


CORNERS = [corner for name in learners for corner in learners.get(name).at_corners()]


@pytest.mark.parametrize("learner", CORNERS, ids=str)
def test_every_learner_passes_every_check_at_the_corners_of_its_parameters(learner):
    """Learners with full feedback play 200,000 constant rounds here; those of the test above play the million."""
    for check in checks_of(learner):
        if check.name not in learner.skipped_checks:
            check(learner, **({"n_rounds": 200_000} if check.name == LONG[0] else {}))


@pytest.mark.interpreted
@pytest.mark.parametrize("learner", DEFAULTS, ids=str)
def test_the_long_checks_hold_in_fewer_rounds(learner):
    """Learners that skip the long checks can play four thousand rounds; the interpreter can play three hundred."""
    (check,) = (check for check in checks_of(learner) if check.name in LONG)
    n_rounds = PATIENT.get(learner.name, 300 if numba.config.DISABLE_JIT else 4000)
    if numba.config.DISABLE_JIT and n_rounds > 10_000:
        pytest.skip(f"{type(learner).__name__} needs {n_rounds} rounds, interpreted that is minutes.")
    check(learner, n_rounds=n_rounds)


def test_the_learners_of_the_quick_tests_exist():
    assert set(learners) >= QUICK


def test_few_checks_are_skipped():
    assert sum(len(learners.get(name)().skipped_checks) for name in learners) <= 4


def test_a_class_is_checked_with_its_defaults():
    check_learner(RerunUCBV)


def test_other_objects_are_not_checked():
    message = "check_learner: `learner` must be a learner or a class of learners, got 3."
    with pytest.raises(InvalidInput, match=f"^{re.escape(message)}$"):
        check_learner(3)


@pytest.mark.parametrize(("broken", "checks"), BROKEN.items(), ids=[broken.__name__ for broken in BROKEN])
def test_a_broken_learner_is_caught_by_the_checks_it_breaks_and_no_other(broken, checks, monkeypatch):
    monkeypatch.setattr(learners, "_classes", {broken.name: broken, **learners._classes})
    assert {check.name for check in checks_of(broken()) if not passes(broken(), check)} == checks


def passes(learner, check):
    try:
        check(learner, **({"n_rounds": 20_000} if check.name in LONG else {}))
    except CheckFailed:
        return False
    return True


def test_every_check_catches_a_broken_member():
    caught = set().union(*BROKEN.values())
    assert caught == {check.name for learner in DEFAULTS for check in checks_of(learner)}


def test_a_failed_check_names_the_member_the_check_and_the_counterexample(monkeypatch):
    monkeypatch.setattr(learners, "_classes", {SkipsUnknownCheck.name: SkipsUnknownCheck, **learners._classes})
    message = (
        "SkipsUnknownCheck(learning_rate=0.3, prox_scale=1.0) fails `skipped_checks_exist_and_have_reasons`:"
        " `skipped_checks` names 'weights_are_green', which is not one of its checks."
    )
    with pytest.raises(CheckFailed, match=f"^{re.escape(message)}$"):
        check_learner(SkipsUnknownCheck)
