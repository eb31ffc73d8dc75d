"""Checks of what a learner declares: its spec, docstring, corners, memory, tuning and bounds."""

from __future__ import annotations

import dataclasses
import json
import math
import re
from typing import Any

from driftwise.checks.check import Check, check, expect
from driftwise.core.docstrings import described, shown_default
from driftwise.core.errors import InvalidInput
from driftwise.core.measures import Measures
from driftwise.core.memory_fields import fields_of
from driftwise.core.tuning_caveats import collected
from driftwise.learners import Learner, learners
from driftwise.registry import to_spec

__all__ = ["CHECKS"]

CHECKS: list[Check] = []

# Extreme measures: one action and one round, no movement, no noise, a change in every round, many rounds.
_MEASURES = (
    Measures(n_actions=1, n_rounds=1, segments=1, drift=0.0, variance=0.0),
    Measures(n_actions=10, n_rounds=1000, segments=1, drift=0.0, variance=0.0),
    Measures(n_actions=10, n_rounds=1000, segments=1, drift=0.5, variance=2500.0, drift_within=0.0),
    Measures(n_actions=10, n_rounds=1000, segments=1000, drift=1000.0, variance=0.0),
    Measures(n_actions=2, n_rounds=10**9, segments=7, drift=3.0, variance=1e6),
)


@check(CHECKS)
def spec_round_trips(learner: Learner) -> None:
    """The plain values of `to_spec` rebuild an equal learner, also after conversion to JSON and back."""
    spec = to_spec(learner)
    for what, given in (("its spec", spec), ("its spec as JSON", json.loads(json.dumps(spec)))):
        rebuilt = learners.build(given)
        expect(type(rebuilt) is type(learner) and rebuilt == learner, f"{what} makes {rebuilt}")


@check(CHECKS)
def parameters_are_frozen(learner: Learner) -> None:
    """A learner is a frozen dataclass: equal parameters make equal learners with equal hashes."""
    copy = dataclasses.replace(learner)  # type: ignore[type-var]
    expect(copy == learner and hash(copy) == hash(learner), "a copy with equal parameters is not equal to it")
    for field in dataclasses.fields(learner):  # type: ignore[arg-type]
        value = getattr(copy, field.name)
        try:
            setattr(copy, field.name, value)
        except dataclasses.FrozenInstanceError:
            continue
        expect(False, f"`{field.name}` can be set")


@check(CHECKS)
def docstring_documents_every_parameter(learner: Learner) -> None:
    """`Parameters` in the class docstring has every parameter with its meaning and default, and no other."""
    sections = (described(member).parameters for member in type(learner).__mro__)  # a subclass may inherit it
    documented = {each.name: each for each in next((section for section in sections if section), ())}
    fields = {field.name: field for field in dataclasses.fields(learner) if field.init}  # type: ignore[arg-type]
    missing, strange = sorted(fields.keys() - documented.keys()), sorted(documented.keys() - fields.keys())
    expect(not missing, f"`Parameters` in its docstring has no entry for {', '.join(missing)}")
    expect(not strange, f"`Parameters` in its docstring has an entry for {', '.join(strange)}, which is no parameter")
    for name, field in fields.items():
        said, default = documented[name], shown_default(field)
        expect(bool(said.meaning), f"its docstring does not say what `{name}` means")
        expect(said.default == default, f"its docstring says `{name}` is {said.default!r} by default, not {default!r}")


@check(CHECKS)
def corners_name_every_parameter(learner: Learner) -> None:
    """`corners` has the ends of every parameter's range, and the constructor takes them."""
    parameters = {field.name for field in dataclasses.fields(learner) if field.init}  # type: ignore[arg-type]
    missing, strange = sorted(parameters - {*learner.corners}), sorted({*learner.corners} - parameters)
    expect(not missing, f"`corners` has nothing for {', '.join(missing)}")
    expect(not strange, f"`corners` names {', '.join(strange)}, which is no parameter")
    expect(len(type(learner).at_corners()) >= len(parameters), "a parameter has no corner")


@check(CHECKS)
def memory_declares_its_numbers(learner: Learner) -> None:
    """Every field of the memory says what its numbers may be, and a new memory satisfies it."""
    kind: Any = learner.memory_type
    for name, field in fields_of(kind).items():
        expect(field is not None, f"the field `{name}` of its memory declares nothing")
    fault = learner.memory_fault(learner.start(3).memory, 3, 0)
    expect(not fault, f"of a new memory, {fault}")


@check(CHECKS)
def name_fits_a_command_line(learner: Learner) -> None:
    """The name is lower-case words joined by hyphens, and the feedback is "full" or "bandit"."""
    expect(re.fullmatch(r"[a-z0-9]+(-[a-z0-9]+)*", learner.name) is not None, f"its name is {learner.name!r}")
    expect(learner.feedback in ("full", "bandit"), f"its feedback is {learner.feedback!r}")


@check(CHECKS)
def tuning_and_bounds_take_any_measures(learner: Learner) -> None:
    """`tuned` returns a learner of the same class or raises that there is no rule; a bound is a number, or None.

    A caveat is one line, there is none where nothing changes, and `tuned` reports it.
    """
    for measures in _MEASURES:
        made = learner
        reported: list[str] = []
        try:
            with collected() as reported:
                made = type(learner).tuned(measures)
        except InvalidInput as refusal:
            expect("no rule for tuning" in str(refusal), f"`tuned({measures})` raised: {refusal}")
        expect(type(made) is type(learner), f"`tuned({measures})` made {made}")
        caveat = made.tuning_caveat(measures)
        expect(isinstance(caveat, str) and "\n" not in caveat, f"its caveat for {measures} is {caveat!r}")
        expect(not caveat or measures.segments > 1, f"it has a caveat where nothing changes: {caveat}")
        expect(reported == ([caveat] if caveat else []), f"its caveat is {caveat!r}, but `tuned` reported {reported}")
        for bound in [each(measures) for one in (learner, made) for each in (one.bound, one.static_bound)]:
            fine = bound is None or (0 <= bound < math.inf)
            expect(fine, f"the bound for {measures} is {bound}")
