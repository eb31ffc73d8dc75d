"""Where losses come from: a path of means and a noise around it, or a recording."""

from driftwise.environments.environment import Block, Environment, Seed, Source, Stream
from driftwise.environments.laws.base import Fitted, Noise, noise, noises
from driftwise.environments.laws.bernoulli import Bernoulli
from driftwise.environments.laws.beta import Beta
from driftwise.environments.laws.clipped_gaussian import ClippedGaussian
from driftwise.environments.laws.deterministic import Deterministic
from driftwise.environments.laws.support import Support
from driftwise.environments.laws.truncated_gaussian import TruncatedGaussian
from driftwise.environments.laws.two_point import TwoPoint
from driftwise.environments.laws.with_variance import WithVariance
from driftwise.environments.means.base import MeanStream, Path, path, paths
from driftwise.environments.means.constant import Constant
from driftwise.environments.means.corners import Corners
from driftwise.environments.means.linear import Linear
from driftwise.environments.means.random_segments import RandomSegments
from driftwise.environments.means.random_walk import RandomWalk
from driftwise.environments.means.segments import Segments
from driftwise.environments.means.sinusoidal import Sinusoidal
from driftwise.environments.means.switching import Switching
from driftwise.environments.means.table import Table
from driftwise.environments.means.with_drift import WithDrift
from driftwise.environments.measuring import MeasureMeter
from driftwise.environments.regimes import adversarial, stationary
from driftwise.environments.rehearsal import Rehearsal
from driftwise.environments.replay import Replay

__all__ = [
    "Bernoulli",
    "Beta",
    "Block",
    "ClippedGaussian",
    "Constant",
    "Corners",
    "Deterministic",
    "Environment",
    "Fitted",
    "Linear",
    "MeanStream",
    "MeasureMeter",
    "Noise",
    "Path",
    "RandomSegments",
    "RandomWalk",
    "Rehearsal",
    "Replay",
    "Seed",
    "Segments",
    "Sinusoidal",
    "Source",
    "Stream",
    "Support",
    "Switching",
    "Table",
    "TruncatedGaussian",
    "TwoPoint",
    "WithDrift",
    "WithVariance",
    "adversarial",
    "noise",
    "noises",
    "path",
    "paths",
    "stationary",
]
