"""The plays of every class, and the results of the engine, agree with the reference values; changes are detected."""

import dataclasses

import numpy as np
import pytest

import fixed_environments
import fixed_plays
import reference_values
from driftwise.adversaries import FullV
from driftwise.detectors import CUSUM
from driftwise.engine.run import VERSION
from driftwise.environments import Beta, Constant
from driftwise.learners import UCB1, Exp3, FixedShare, Hedge, OptimisticGD
from driftwise.regret.comparators import Switched
from reference_values import COMMAND, agree, current_entries, faults, keys, main, read, update, write

STORED = read()


def faults_of(key):
    return faults(key, STORED, {key: current_entries(key)})


@pytest.mark.parametrize("key", keys())
def test_plays_agree_with_the_reference_values(key):
    found = faults_of(key)
    assert not found, "\n".join(found)


def test_no_registered_class_lacks_an_entry_and_no_entry_lacks_a_class():
    assert sorted(STORED) == sorted(keys()), f"Run `{COMMAND}`."


def test_the_file_is_written_as_the_writer_writes_it(tmp_path):
    write(STORED, tmp_path / "written.json")
    assert read(tmp_path / "written.json") == STORED


@pytest.mark.parametrize("key", [key for key in keys() if key.startswith("learner ")])
def test_values_do_not_depend_on_the_last_bits_of_losses(key, monkeypatch):
    """Otherwise another processor, whose exponentials are rounded differently, would give other values."""
    losses = fixed_plays.losses

    def perturbed(*arguments, **settings):
        table = losses(*arguments, **settings)
        return table * (1.0 + np.random.default_rng(0).uniform(-1e-14, 1e-14, table.shape))

    monkeypatch.setattr(fixed_plays, "losses", perturbed)
    assert not faults_of(key)


# From here on: changes on purpose, each of which must be detected.


def scale_rate(monkeypatch, kind, field, factor=1.001):
    """Multiply one of the numbers that a kernel reads."""
    rates = kind.rates

    def changed(self, *arguments):
        found = rates(self, *arguments)
        return found._replace(**{field: factor * getattr(found, field)})

    monkeypatch.setattr(kind, "rates", changed)


def scale_result(monkeypatch, owner, method, factor=1.001):
    """Multiply what a method returns."""
    original = getattr(owner, method)
    monkeypatch.setattr(owner, method, lambda self, *arguments: factor * original(self, *arguments))


def tune_differently(monkeypatch):
    rule = FixedShare.tuned.__func__

    def tuned(cls, measures):
        found = rule(cls, measures)
        return dataclasses.replace(found, learning_rate=1.001 * found.learning_rate)

    monkeypatch.setattr(FixedShare, "tuned", classmethod(tuned))


def move_means(monkeypatch):
    start = Constant.start

    def moved(self, *arguments):
        return start(Constant([mean + 1e-4 for mean in self.means]), *arguments)

    monkeypatch.setattr(Constant, "start", moved)


def widen_noise(monkeypatch):
    draw = Beta.draw
    monkeypatch.setattr(Beta, "draw", lambda self, *arguments: draw(Beta(1.001 * self.scale), *arguments))


CHANGES = {
    Hedge: lambda patch: scale_rate(patch, Hedge, "log_actions"),
    Exp3: lambda patch: scale_rate(patch, Exp3, "exploration_rate"),
    UCB1: lambda patch: scale_rate(patch, UCB1, "log_scale", 1.01),
    OptimisticGD: lambda patch: scale_result(patch, OptimisticGD, "bound"),
    FixedShare: tune_differently,
    CUSUM: lambda patch: scale_rate(patch, CUSUM, "threshold", 1.01),
    Constant: move_means,
    Beta: widen_noise,
    FullV: lambda patch: scale_result(patch, FullV, "guarantee"),
}


@pytest.mark.parametrize("kind", CHANGES, ids=lambda kind: kind.__name__)
def test_changed_plays_are_detected_and_not_written(kind, monkeypatch):
    CHANGES[kind](monkeypatch)
    key = f"{kind.kind} {kind.name}"
    message = f"{kind.__name__}: its plays changed; raise `version` to {kind.version + 1}."
    assert any(fault.startswith(message) for fault in faults_of(key))
    assert update({key: STORED[key]}, {key: current_entries(key)})[1] == [message]


def other_seed(monkeypatch):
    simulate = fixed_environments.simulate

    def changed(*arguments, seed, **settings):
        return simulate(*arguments, seed=seed + 1, **settings)

    monkeypatch.setattr(fixed_environments, "simulate", changed)


def other_seeds_of_learners(monkeypatch):
    """Replace the branch of the seed from which the learners' seeds come, seen from the learner."""
    start = Exp3.start
    monkeypatch.setattr(Exp3, "start", lambda self, n_actions, seed=0: start(self, n_actions, seed + 1))


def other_comparator(monkeypatch):
    start = Switched.start
    monkeypatch.setattr(Switched, "start", lambda self, *arguments: start(Switched(self.n_segments + 1), *arguments))


@pytest.mark.parametrize("change", [other_seed, other_seeds_of_learners, other_comparator])
def test_changed_results_of_the_engine_are_detected_and_not_written(change, monkeypatch):
    change(monkeypatch)
    message = f"engine: its results changed; raise `VERSION` to {VERSION + 1}."
    assert any(fault.startswith(message) for fault in faults_of("engine"))
    assert update({"engine": STORED["engine"]}, {"engine": current_entries("engine")})[1] == [message]


# From here on: what the writer does.


def test_a_raised_version_with_the_old_values_fails_until_it_is_written(monkeypatch):
    monkeypatch.setattr(Hedge, "version", Hedge.version + 1)
    for key in ("learner hedge", "learner saol"):  # SAOL with Hedge as its base
        assert any("are of other versions. Run" in fault for fault in faults_of(key))
    key = "learner hedge"
    entries, reasons = update({key: STORED[key]}, {key: current_entries(key)})
    assert reasons == []
    assert not faults(key, entries, {key: current_entries(key)})


def test_changed_plays_of_a_raised_version_are_written(monkeypatch, tmp_path):
    """One class only; with the version as it was, the file stays as it was."""
    monkeypatch.setattr(reference_values, "keys", lambda: ["learner hedge"])
    file = tmp_path / "values.json"
    assert main(["--write"], file) == 0
    assert read(file) == {"learner hedge": STORED["learner hedge"]}
    CHANGES[Hedge](monkeypatch)
    assert main([], file) == main(["--write"], file) == 1
    assert read(file) == {"learner hedge": STORED["learner hedge"]}
    monkeypatch.setattr(Hedge, "version", Hedge.version + 1)
    assert main(["--write"], file) == main([], file) == 0
    assert read(file)["learner hedge"]["defaults"] != STORED["learner hedge"]["defaults"]


def entry(values, **classes):
    return {"versions": {f"learner {name}": version for name, version in classes.items()}, "values": values}


def test_new_classes_and_settings_are_written_and_removed_ones_dropped():
    old = {"learner hedge": {"a": entry([1], hedge=1), "b": entry([2], hedge=1)}, "learner gone": {}}
    new = {
        "learner hedge": {"a": entry([1], hedge=1), "c": entry([3], hedge=1)},
        "learner boa": {"a": entry([4], boa=1)},
    }
    assert update(old, new) == (new, [])


def test_values_that_agree_stay_as_they_are():
    old = {"learner hedge": {"a": entry([0.5, None], hedge=1)}}
    new = {"learner hedge": {"a": entry([0.5 + 1e-8, None], hedge=2)}}
    assert update(old, new) == ({"learner hedge": {"a": entry([0.5, None], hedge=2)}}, [])


def test_changed_values_are_written_if_the_version_of_an_inner_class_is_raised():
    old, new = ({"learner saol": {"a": entry([0.5 * n], saol=1, hedge=n)}} for n in (1, 2))
    assert update(old, new) == (new, [])


def test_a_version_must_not_become_lower():
    old, new = ({"learner hedge": {"a": entry([0.5], hedge=n)}} for n in (2, 1))
    assert update(old, new)[1] == ["learner hedge: its version was 2 and must not become lower."]


def test_a_class_without_an_example_is_reported():
    (fault,) = faults("path ramp", {}, {"path ramp": {}})
    assert fault == "path ramp: there is nothing to play. Add an example to `tests/helpers/fixed_environments.py`."


@pytest.mark.parametrize(
    ("one", "other", "expected"),
    [
        ([1.0, 0.0], [1.0 + 5e-7, 5e-10], True),
        ([1.0], [1.0 + 5e-6], False),
        ([0.0], [1e-8], False),
        ([1.0], [1.0, 2.0], False),
        ([None], [None], True),
        ([None], [1.0], False),
    ],
)
def test_numbers_agree_up_to_rounding(one, other, expected):
    assert agree(one, other) is expected
