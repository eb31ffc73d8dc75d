"""Environments built against a learner: the lower bounds of the paper, executable. Importing it fills the registry."""

from driftwise.adversaries.bandit_low import BanditLow
from driftwise.adversaries.base import Adversary, adversaries, adversary
from driftwise.adversaries.choosing import choose
from driftwise.adversaries.copies import Copies
from driftwise.adversaries.full_low import FullLow
from driftwise.adversaries.full_v import FullV
from driftwise.adversaries.script import Script, Staged

__all__ = [
    "Adversary",
    "BanditLow",
    "Copies",
    "FullLow",
    "FullV",
    "Script",
    "Staged",
    "adversaries",
    "adversary",
    "choose",
]
