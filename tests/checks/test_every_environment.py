"""Every path and every noise of the registries passes every check; every check catches a broken environment."""

import re
from typing import ClassVar

import numpy as np
import pytest

import fixed_environments
from driftwise.checks import CheckFailed, check_environment, checks_of
from driftwise.core.errors import InvalidInput
from driftwise.environments import (
    Bernoulli,
    Environment,
    Replay,
    SparseBernoulli,
    Stream,
    Table,
)
from driftwise.environments.noises import noises
from driftwise.environments.paths import paths
from fixed_environments import first_of_each

PATHS = {
    **first_of_each(fixed_environments.PATHS),
    "table": Table(0.2 + 0.6 * np.random.default_rng(0).random((1100, 3))),
}
NOISES = {**first_of_each(fixed_environments.NOISES), "sparse-bernoulli": SparseBernoulli((1.0, 0.0, 0.1))}
MEMBERS = {
    **{name: Environment(path, Bernoulli()) for name, path in PATHS.items()},
    **{name: Environment(PATHS["random-walk"], noise) for name, noise in NOISES.items()},
    "replay": Replay(np.random.default_rng(0).random((1100, 3))),
}


def test_the_members_here_cover_the_registries():
    """Other tests may have registered more."""
    for examples, registry in ((PATHS, paths), (NOISES, noises)):
        assert sorted(examples) == [name for name in registry if registry.get(name).__module__.startswith("driftwise.")]


@pytest.mark.parametrize(
    ("environment", "check"),
    [
        pytest.param(environment, check, id=f"{name}-{check.name}")
        for name, environment in MEMBERS.items()
        for check in checks_of(environment)
    ],
)
def test_every_environment_passes_every_check(environment, check):
    check(environment)


@pytest.mark.interpreted
@pytest.mark.parametrize("environment", [MEMBERS["random-walk"], MEMBERS["truncated-gaussian"]], ids=str)
def test_checks_hold_without_the_compiler(environment):
    check_environment(environment, n_rounds=100)


def test_a_short_recording_is_checked_as_long_as_it_is():
    check_environment(Replay([[0.5, 0.5], [0.1, 0.9]]))


def test_other_objects_are_not_checked():
    message = "check_environment: `environment` must be an environment, got 3."
    with pytest.raises(InvalidInput, match=f"^{re.escape(message)}$"):
        check_environment(3)


# From here on: environments with one error each, and the check that must fail for them.
BROKEN = {}


def fails(check, path="constant"):
    def register(member):
        BROKEN[member.__name__] = (member(PATHS[path], Bernoulli()), check)
        return member

    return register


class CorruptedStream(Stream):
    """A stream that corrupts the losses of another."""

    def __init__(self, stream, corrupt):
        super().__init__(stream.n_rounds, stream.n_actions)
        self.stream, self.corrupt = stream, corrupt

    def _next(self, n):
        block = self.stream.draw(n)
        return block._replace(losses=self.corrupt(block.losses))


@fails("losses_have_the_right_shape_type_and_range")
class FortranOrder(Environment):
    def start(self, n_rounds, seed=0):
        return CorruptedStream(super().start(n_rounds, seed), np.asfortranarray)


@fails("losses_do_not_depend_on_the_block_size")
class ReversesBlocks(Environment):
    def start(self, n_rounds, seed=0):
        return CorruptedStream(super().start(n_rounds, seed), lambda losses: losses[::-1].copy())


@fails("losses_match_their_means_and_variances")
class ScalesLosses(Environment):
    def start(self, n_rounds, seed=0):
        return CorruptedStream(super().start(n_rounds, seed), lambda losses: 0.8 * losses)


@fails("equal_seeds_give_equal_losses")
class SpawnsFromSeed(Environment):
    def start(self, n_rounds, seed=0):
        return super().start(n_rounds, seed.spawn(1)[0] if isinstance(seed, np.random.SeedSequence) else seed)


@fails("noise_depends_on_the_seed")
class IgnoresSeed(Environment):
    def start(self, n_rounds, seed=0):
        return super().start(n_rounds, 0 * seed if isinstance(seed, int) else seed)


@fails("streams_do_not_affect_each_other")
class DependsOnOtherStreams(Environment):
    last_seed: ClassVar = []

    def start(self, n_rounds, seed=0):
        def corrupt(losses):
            interrupted = self.last_seed != [seed]
            self.last_seed[:] = [seed]
            return 1.0 - losses if interrupted and stream.stream._drawn > len(losses) else losses

        stream = CorruptedStream(super().start(n_rounds, seed), corrupt)
        return stream


@fails("writing_into_a_block_changes_no_other_block")
class DependsOnWrittenBlocks(Environment):
    def start(self, n_rounds, seed=0):
        returned = [(np.zeros(1), np.zeros(1))]

        def corrupt(losses):
            was, now = returned[-1]
            returned.append((losses.copy(), losses))
            return losses if np.array_equal(was, now) else 1.0 - losses

        return CorruptedStream(super().start(n_rounds, seed), corrupt)


@fails("means_and_variances_are_possible")
class DeclaresNoMeans(Environment):
    has_means = False


@fails("measures_match_the_run", path="random-walk")
class MeasuresAnotherRun(Environment):
    def measures(self, n_rounds, seed=0):
        return super().measures(n_rounds, seed + 1)


@fails("start_measured_equals_start_and_measures", path="random-walk")
class StartsAnotherRun(Environment):
    def start_measured(self, n_rounds, seed=0, room=0):
        return super().start_measured(n_rounds, seed + bool(room), room)


@fails("too_many_rounds_are_rejected")
class AcceptsZeroRounds(Environment):
    def start(self, n_rounds, seed=0):
        return super().start(max(1, n_rounds), seed)


@fails("spec_round_trips")
class SpecWithoutNoise(Environment):
    def to_spec(self):
        return {**super().to_spec(), "noise": {"name": "deterministic"}}


@pytest.mark.parametrize(("environment", "check"), BROKEN.values(), ids=BROKEN)
def test_a_broken_environment_is_caught_by_the_check_it_breaks_and_no_other(environment, check):
    assert [each.name for each in checks_of(environment) if not passes(environment, each)] == [check]


def passes(environment, check):
    try:
        check(environment)
    except CheckFailed:
        return False
    return True


def test_every_check_catches_a_broken_member():
    assert {check for _, check in BROKEN.values()} == {check.name for check in checks_of(MEMBERS["constant"])}


def test_a_failed_check_names_the_member_the_check_and_the_counterexample():
    environment, check = BROKEN["AcceptsZeroRounds"]
    message = f"{environment} fails `{check}`: a run of 0 rounds was started."
    with pytest.raises(CheckFailed, match=f"^{re.escape(message)}$"):
        check_environment(environment)
