"""Noises: how losses are distributed around their means. One file per family of noises, and their registry."""

from driftwise.environments.noises.noise import Fitted, Noise, noise, noises

__all__ = ["Fitted", "Noise", "noise", "noises"]
