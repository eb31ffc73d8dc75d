"""Checks that every learner and every environment must pass, those of driftwise and your own.

`check_learner(MyLearner())` and `check_environment(my_environment)` return nothing, or raise `CheckFailed` with the
name of the failed check and a counterexample. They need no test framework.
"""

from driftwise.checks.check import Check, CheckFailed
from driftwise.checks.check_all import check_environment, check_learner, checks_of

__all__ = ["Check", "CheckFailed", "check_environment", "check_learner", "checks_of"]
