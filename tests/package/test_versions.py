"""Every registered class has a version, and `versions` finds those of all classes in a member."""

import dataclasses
import re

import pytest

from driftwise.adversaries import FullV
from driftwise.core.errors import InvalidInput
from driftwise.environments import Beta, Environment, RandomWalk, Replay
from driftwise.learners import CBCE, FLH, SAOL, DetectAndRestart, Hedge, OracleRestarts, learners
from driftwise.registry import Registered, to_spec, versions
from looping import for_every
from reference_values import REGISTRIES

CLASSES = [registry.get(name) for registry in REGISTRIES.values() for name in registry]


@for_every("member", CLASSES, ids=lambda member: f"{member.kind} {member.name}")
def test_every_registered_class_has_a_kind_and_a_version_that_is_no_parameter(member):
    assert REGISTRIES[member.kind].get(member.name) is member
    assert type(member.version) is int
    assert member.version >= 1
    assert "version" not in {field.name for field in dataclasses.fields(member)}


def test_a_spec_has_no_version():
    assert "version" not in to_spec(Hedge())


@pytest.mark.parametrize(
    ("member", "names"),
    [
        (Hedge(), ["learner hedge"]),
        (DetectAndRestart(), ["detector page-hinkley", "learner detect-and-restart", "learner ucb1"]),
        (
            DetectAndRestart({"name": "kl-ucb"}, detector="cusum"),
            ["detector cusum", "learner detect-and-restart", "learner kl-ucb"],
        ),
        (
            OracleRestarts(DetectAndRestart("ucb1", "glr")),
            ["detector glr", "learner detect-and-restart", "learner oracle-restarts", "learner ucb1"],
        ),
        (FLH(), ["learner flh", "learner hedge"]),
        (SAOL("optimistic-gd"), ["learner optimistic-gd", "learner saol"]),
        (CBCE("ada-hedge"), ["learner ada-hedge", "learner cbce"]),
        (Beta().with_variance(3.0), ["noise beta", "noise with-variance"]),
        (RandomWalk(3).with_drift(2.0), ["path random-walk", "path with-drift"]),
        (
            Environment(RandomWalk(3).with_drift(2.0).to_spec(), {"name": "bernoulli"}),
            ["noise bernoulli", "path random-walk", "path with-drift"],
        ),
        (FullV(2.0, 0.0).against(None, 10), ["adversary full-v"]),
        (
            FullV(2.0, 0.0).against(FLH(), 10),
            ["adversary full-v", "learner flh", "learner hedge"],
        ),
        (Replay([[0.5, 0.5]]), []),
    ],
    ids=str,
)
def test_versions_are_those_of_all_classes_in_a_member_in_order(member, names):
    assert list(versions(member)) == names


def test_a_raised_version_is_found_where_the_class_is_used(monkeypatch):
    before, other = versions(FLH()), versions(SAOL("optimistic-gd"))
    monkeypatch.setattr(Hedge, "version", Hedge.version + 1)
    assert versions(FLH()) == {**before, "learner hedge": Hedge.version}
    assert versions(SAOL("optimistic-gd")) == other


def test_a_class_raises_its_version_without_an_annotation():
    @dataclasses.dataclass(frozen=True)
    class Raised(Hedge):
        version = 30

    assert Raised().version == 30
    assert to_spec(Raised()) == to_spec(Hedge())
    assert Hedge.version < 30
    assert Registered.version == 1


def test_a_class_that_is_not_registered_has_no_version_of_its_own():
    class Other(Hedge):
        """A learner with the name of another."""

    message = "versions: Other must be registered, only its base class is."
    with pytest.raises(InvalidInput, match=f"^{re.escape(message)}$"):
        versions(Other())


@pytest.mark.parametrize("value", [3, "hedge", Hedge, Hedge.tuned])
def test_other_objects_have_no_versions(value):
    message = "versions: `member` must be a member of a registry or an environment, got "
    with pytest.raises(InvalidInput, match=f"^{re.escape(message)}"):
        versions(value)


def test_every_learner_named_by_a_parameter_is_in_the_versions():
    """A learner with a field for the name of a base must override `inner_members`."""
    for name in learners:
        for setting in learners.get(name).corners.settings():
            parts = {key.split(" ")[1] for key in versions(learners.get(name)(**setting))}
            assert {value for value in setting.values() if value in list(learners)} <= parts
