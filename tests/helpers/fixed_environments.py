"""Plays of every path, noise and adversary and of the engine on fixed input, summarised by a few numbers."""

from functools import partial

import numpy as np

from driftwise import Interval, Replay, Static, Switched, simulate
from driftwise.adversaries import BanditLow, FullLow, FullV
from driftwise.core.measures import collected
from driftwise.engine.run import VERSION
from driftwise.environments import (
    Bernoulli,
    Beta,
    Bursts,
    ClippedGaussian,
    CoinFlips,
    Constant,
    Deterministic,
    Environment,
    Linear,
    PathPreview,
    RandomSegments,
    RandomWalk,
    ScaledBernoulli,
    Segments,
    SingleChanges,
    Sinusoidal,
    SparseBernoulli,
    Switching,
    Table,
    TruncatedGaussian,
    TwoPoint,
)
from driftwise.learners import FLH, UCB1, Exp3, Hedge, Learner, OptimisticGD, RerunUCBV
from driftwise.registry import versions
from fixed_plays import Play, as_text, losses, quarters

N_ROUNDS = 1000


def measures_numbers(m):
    return [m.segments, m.drift, m.variance, m.drift_within, m.squared_drift]


def path_numbers(path):
    preview = PathPreview(path, N_ROUNDS, np.random.default_rng(1))
    means = np.empty((N_ROUNDS, path.n_actions))
    preview.start().fill(means)
    return quarters(means) + means[-1].tolist() + measures_numbers(preview.measures(Deterministic()))


def noise_numbers(noise):
    preview = PathPreview(RandomWalk(3, step=0.03, low=0.2, high=0.8), N_ROUNDS, np.random.default_rng(1))
    means = np.empty((N_ROUNDS, 3))
    preview.start().fill(means)
    settled = noise.settle(preview)
    drawn, moments = settled.draw(means, np.random.default_rng(2)), settled.moments(means)
    return quarters(drawn) + quarters(drawn**2)[-3:] + [x for moment in moments for x in quarters(moment)]


def adversary_numbers(adversary, learner):
    environment = adversary.against(learner, N_ROUNDS, seed=4)
    block = environment.start(N_ROUNDS, seed=1).draw(N_ROUNDS)
    found = [x for part in block for x in quarters(part)] + measures_numbers(environment.measures(N_ROUNDS, seed=1))
    return [*found, *measures_numbers(adversary.budget(N_ROUNDS)), adversary.guarantee(N_ROUNDS)]


PATHS = (
    Bursts(6, 30, 3),
    Bursts(4, 7, 2, best=0.5, rest=0.5, burst=0.2),
    Constant((0.3, 0.5, 0.7)),
    CoinFlips(3),
    Linear((0.2, 0.5, 0.8), (0.8, 0.5, 0.3)),
    RandomSegments(9, 3, low=0.2, high=0.8, lengths="random"),
    RandomSegments(9, 3),
    RandomWalk(3, step=0.03, low=0.2, high=0.8),
    Segments(((0.2, 0.5, 0.7), (0.8, 0.3, 0.7)), change_points=(7,)),
    Segments(((0.2, 0.5, 0.7), (0.8, 0.3, 0.7), (0.1, 0.3, 0.7))),
    SingleChanges(15, 3, low=0.2, high=0.8, lengths="random"),
    SingleChanges(15, 3),
    Sinusoidal(3, n_periods=2.5),
    Switching(20, 3),
    Table(np.linspace(0.1, 0.9, 3000).reshape(1000, 3) ** 2),
    RandomWalk(3, step=0.03).with_drift(2.0),
    Switching(20, 3).with_drift(3.0, around=0.4),
)
NOISES = (
    Bernoulli(),
    Beta(0.2),
    ClippedGaussian(0.3),
    Deterministic(),
    ScaledBernoulli(0.0, 1.0),
    ScaledBernoulli(0.1, 0.9),
    SparseBernoulli(),
    SparseBernoulli((1.0, 0.0, 0.1)),
    TruncatedGaussian(0.3),
    TwoPoint(0.1),
    Beta().with_variance(50.0),
    ClippedGaussian().with_variance(100.0),
    TruncatedGaussian().with_variance(100.0),
    TwoPoint().with_variance(20.0),
)
ADVERSARIES = (
    (BanditLow(6), None),
    (BanditLow(6, 3, mode="proof", n_copies=5), Exp3(0.1)),
    (BanditLow(6, 3, mode="best-response", n_copies=5, scale=0.7), Exp3(0.1)),
    (FullLow(8, 60.0, n_actions=3), None),
    (FullLow(8, 60.0, case="noiseless"), None),
    (FullLow(8, 60.0, n_actions=3, mode="best-response", n_copies=5, case="noisy"), Hedge(0.3)),
    (FullLow(8, 60.0, n_actions=3, mode="best-response", case="noiseless"), Hedge(0.3)),
    (FullV(2.0, 100.0, n_actions=3), None),
    (FullV(2.0, 100.0, constants="paper"), None),
    (FullV(6.5, 0.0, n_actions=3), None),
    (FullV(2.0, 100.0, n_actions=3, mode="best-response", n_copies=5), Hedge(0.3)),
    (FullV(2.0, 100.0, mode="best-response", n_copies=5), Exp3(0.1)),
)


def first_of_each(members):
    """Return the first member of each class, by its name in the registry."""
    return {member.name: member for member in reversed(members)}


def simulation_numbers(environment, players, **settings):
    with collected():  # some rules are meaningless in some of these environments
        results = simulate(environment, players, n_rounds=300, n_runs=2, seed=3, n_threads=1, **settings)
    at = np.linspace(0, len(results.rounds) - 1, 4).round().astype(int)
    found = results.regrets[:, :, at].ravel().tolist() + [results.bound(label) for label in results.labels]
    found += [x for m in results.measures for x in measures_numbers(m)]
    return found + [float(x) for realised in results.realised for x in realised]


def simulations():
    """Return simulations that use every comparator, both ways to play, tuning, copies of a learner and a replay."""
    switching = Environment(Switching(4, 3), Beta(0.2))
    walk = Environment(RandomWalk(3, step=0.03), Bernoulli())
    players = [Hedge(0.3), OptimisticGD(), Exp3(0.1), Exp3(0.1), FLH()]
    tuned = [OptimisticGD.tuned, RerunUCBV.tuned, UCB1()]
    recording = Replay(losses(3, 300))
    return {
        "dynamic": (switching, players, {}),
        "sampled": (switching, players, {"play": "sample"}),
        "static": (walk, players, {"comparator": Static()}),
        "switched": (walk, players, {"comparator": Switched(3)}),
        "interval": (walk, players, {"comparator": Interval(50, 249)}),
        "tuned": (switching, tuned, {"realised": True}),
        "tuned on a walk": (walk, tuned, {}),
        "replayed": (recording, players, {"comparator": Static()}),
        "replayed, sampled": (recording, players, {"play": "sample", "comparator": Switched(4)}),
    }


def path_plays(kind):
    """Return the plays of a path with several settings."""
    return {label(path): Play(versions(path), partial(path_numbers, path)) for path in PATHS if type(path) is kind}


def noise_plays(kind):
    """Return the plays of a noise with several settings."""
    return {
        label(noise): Play(versions(noise), partial(noise_numbers, noise)) for noise in NOISES if type(noise) is kind
    }


def label(member):
    text = as_text(member.to_spec())
    return text if len(text) < 200 else "long"  # a table has all its means in its spec


def adversary_plays(kind):
    """Return the plays of an adversary, drawn at random and against a learner."""
    found = {}
    for adversary, learner in ADVERSARIES:
        if type(adversary) is kind:
            opponent, parts = ({"against": learner.name}, versions(learner)) if learner else ({}, {})
            play = Play(versions(adversary) | parts, partial(adversary_numbers, adversary, learner))
            found[as_text(adversary.to_spec() | opponent)] = play
    return found


def engine_plays():
    """Return the simulations."""
    found = {}
    for name, (environment, players, settings) in simulations().items():
        members = [player if isinstance(player, Learner) else player.__self__() for player in players]
        parts = {"engine": VERSION} | {
            key: n for member in (environment, *members) for key, n in versions(member).items()
        }
        found[name] = Play(dict(sorted(parts.items())), partial(simulation_numbers, environment, players, **settings))
    return found
