"""Checks that every learner and every environment must pass, those of driftwise and your own.

`check_learner(MyLearner())` and `check_environment(my_environment)` return nothing, or raise `CheckFailed`. Its message
has the name of a failed check and a counterexample, of all failed checks for a learner, of the first one for an
environment. They need no test framework.
"""

from driftwise.checks.check import Check as Check, CheckFailed as CheckFailed
from driftwise.checks.environment_checks import check_environment as check_environment
from driftwise.checks.learner_checks import check_learner as check_learner, checks_of as checks_of
