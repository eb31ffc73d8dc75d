"""Environments that attain the paper's lower bounds on regret. Importing this package fills the registry."""

from driftwise.adversaries.adversary import Adversary, adversaries, adversary
from driftwise.adversaries.bandit_low import BanditLow
from driftwise.adversaries.full_low import FullLow
from driftwise.adversaries.full_v import FullV
from driftwise.adversaries.learner_copies import LearnerCopies
from driftwise.adversaries.script import AdversarialEnvironment, Script
from driftwise.adversaries.strongest import strongest

__all__ = [
    "AdversarialEnvironment",
    "Adversary",
    "BanditLow",
    "FullLow",
    "FullV",
    "LearnerCopies",
    "Script",
    "adversaries",
    "adversary",
    "strongest",
]
