"""Environments make losses: from a path of means with noise, or from a recording."""

from driftwise.environments.environment import Block, Environment, LossSource, Seed, Stream, adversarial, stationary
from driftwise.environments.measures_accumulator import MeasuresAccumulator
from driftwise.environments.noises.bernoulli import Bernoulli, ScaledBernoulli, SparseBernoulli
from driftwise.environments.noises.beta import Beta
from driftwise.environments.noises.deterministic import Deterministic
from driftwise.environments.noises.gaussian import ClippedGaussian, TruncatedGaussian
from driftwise.environments.noises.noise import Fitted, Noise, noise
from driftwise.environments.noises.two_point import TwoPoint
from driftwise.environments.noises.with_variance import WithVariance
from driftwise.environments.path_preview import PathPreview
from driftwise.environments.paths.bursts import Bursts
from driftwise.environments.paths.coin_flips import CoinFlips
from driftwise.environments.paths.path import MeanStream, Path, path
from driftwise.environments.paths.random_walk import RandomWalk
from driftwise.environments.paths.segments import Constant, Segments, Table
from driftwise.environments.paths.smooth import Linear, Sinusoidal
from driftwise.environments.paths.switching import RandomSegments, SingleChanges, Switching
from driftwise.environments.paths.with_drift import WithDrift
from driftwise.environments.replay import Replay

__all__ = [
    "Bernoulli",
    "Beta",
    "Block",
    "Bursts",
    "ClippedGaussian",
    "CoinFlips",
    "Constant",
    "Deterministic",
    "Environment",
    "Fitted",
    "Linear",
    "LossSource",
    "MeanStream",
    "MeasuresAccumulator",
    "Noise",
    "Path",
    "PathPreview",
    "RandomSegments",
    "RandomWalk",
    "Replay",
    "ScaledBernoulli",
    "Seed",
    "Segments",
    "SingleChanges",
    "Sinusoidal",
    "SparseBernoulli",
    "Stream",
    "Switching",
    "Table",
    "TruncatedGaussian",
    "TwoPoint",
    "WithDrift",
    "WithVariance",
    "adversarial",
    "noise",
    "path",
    "stationary",
]
