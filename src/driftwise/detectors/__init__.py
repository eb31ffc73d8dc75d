"""Change detectors, one file each, for use alone or in a learner. Importing this package fills the registry."""

from driftwise.detectors.cusum import CUSUM as CUSUM
from driftwise.detectors.detector import Detector as Detector, Monitor as Monitor, detectors as detectors
from driftwise.detectors.glr import GLR as GLR
from driftwise.detectors.page_hinkley import PageHinkley as PageHinkley
from driftwise.detectors.windowed_shift import WindowedShift as WindowedShift
