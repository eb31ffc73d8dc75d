"""Environments that attain the paper's lower bounds on regret. Importing this package fills the registry."""

from driftwise.adversaries.adversary import (
    AdversarialEnvironment as AdversarialEnvironment,
    Adversary as Adversary,
    LearnerCopies as LearnerCopies,
    Script as Script,
    adversaries as adversaries,
    adversary as adversary,
)
from driftwise.adversaries.bandit_low import BanditLow as BanditLow
from driftwise.adversaries.full_low import FullLow as FullLow
from driftwise.adversaries.full_v import FullV as FullV, strongest as strongest
