"""Noises: how losses are distributed around their means. One file per family of noises, and their registry."""

from driftwise.environments.noises.noise import Fitted as Fitted, Noise as Noise, noise as noise, noises as noises
