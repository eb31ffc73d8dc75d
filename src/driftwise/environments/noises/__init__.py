"""How losses scatter around their means, one file each, and the registry of noises."""

from driftwise.environments.noises.base import Fitted, Noise, noise, noises

__all__ = ["Fitted", "Noise", "noise", "noises"]
