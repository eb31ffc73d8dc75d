"""Laws that every learner and every environment obeys, for those here and for your own.

`check_learner(MyLearner())` and `check_environment(my_environment)` are silent, or raise `CheckFailed` with the
law that was broken and what was seen. They need no test framework.
"""

from driftwise.checks.checking import check_environment, check_learner, laws_of
from driftwise.checks.law import CheckFailed, Law

__all__ = ["CheckFailed", "Law", "check_environment", "check_learner", "laws_of"]
