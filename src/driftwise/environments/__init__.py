"""Environments make losses: from a path of means with noise, or from a recording."""

from driftwise.environments.environment import (
    Block as Block,
    Environment as Environment,
    LossSource as LossSource,
    Seed as Seed,
    Stream as Stream,
    adversarial as adversarial,
    stationary as stationary,
)
from driftwise.environments.measures_accumulator import MeasuresAccumulator as MeasuresAccumulator
from driftwise.environments.noises.continuous import (
    Beta as Beta,
    ClippedGaussian as ClippedGaussian,
    TruncatedGaussian as TruncatedGaussian,
)
from driftwise.environments.noises.discrete import (
    Bernoulli as Bernoulli,
    ScaledBernoulli as ScaledBernoulli,
    SparseBernoulli as SparseBernoulli,
    TwoPoint as TwoPoint,
)
from driftwise.environments.noises.noise import (
    Deterministic as Deterministic,
    Fitted as Fitted,
    Noise as Noise,
    WithVariance as WithVariance,
    noise as noise,
)
from driftwise.environments.paths.moving import (
    CoinFlips as CoinFlips,
    Linear as Linear,
    RandomWalk as RandomWalk,
    Sinusoidal as Sinusoidal,
)
from driftwise.environments.paths.path import (
    MeanStream as MeanStream,
    Path as Path,
    PathPreview as PathPreview,
    WithDrift as WithDrift,
    path as path,
)
from driftwise.environments.paths.segments import Constant as Constant, Segments as Segments, Table as Table
from driftwise.environments.paths.switching import (
    Bursts as Bursts,
    RandomSegments as RandomSegments,
    SingleChanges as SingleChanges,
    Switching as Switching,
)
from driftwise.environments.replay import Replay as Replay
