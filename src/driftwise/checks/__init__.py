"""Laws that every learner and every environment obeys, for those here and for your own.

`check_learner(MyLearner())` and `check_environment(my_environment)` are silent, or raise `CheckFailed` with the
check that was broken and what was seen. They need no test framework.
"""

from driftwise.checks.check import Check, CheckFailed
from driftwise.checks.check_all import check_environment, check_learner, checks_of

__all__ = ["Check", "CheckFailed", "check_environment", "check_learner", "checks_of"]
