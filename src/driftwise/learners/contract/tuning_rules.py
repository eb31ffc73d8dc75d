"""Tuning with a warning where the theorem does not apply."""

from __future__ import annotations

import functools
from typing import Any

from driftwise.core.measures import Measures
from driftwise.core.tuning_caveats import collected, report

__all__ = ["reporting_caveats"]


def reporting_caveats(rule: classmethod[Any, Any, Any]) -> classmethod[Any, Any, Any]:
    """Return the method `tuned` of a class such that it reports the caveat of the learner that it returns."""

    @functools.wraps(rule.__func__)
    def tuned(cls: Any, measures: Measures, *args: Any, **settings: Any) -> Any:
        with collected():  # it may call `tuned` of its base class, and one learner has one caveat
            learner = rule.__func__(cls, measures, *args, **settings)
        if isinstance(learner, cls) and (reason := learner.tuning_caveat(measures)):
            report(f"{cls.__name__}.tuned", reason)
        return learner

    return classmethod(tuned)
