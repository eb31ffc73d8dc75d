"""Change detectors, one file each, for use alone or in a learner. Importing this package fills the registry."""

from driftwise.detectors.cusum import CUSUM
from driftwise.detectors.detector import Detector, Monitor, detectors
from driftwise.detectors.glr import GLR
from driftwise.detectors.page_hinkley import PageHinkley
from driftwise.detectors.windowed_shift import WindowedShift

__all__ = ["CUSUM", "GLR", "Detector", "Monitor", "PageHinkley", "WindowedShift", "detectors"]
