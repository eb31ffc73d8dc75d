"""Paths: how the means of the losses move from round to round. One file per family of paths, and their registry."""

from driftwise.environments.paths.path import MeanStream as MeanStream, Path as Path, path as path, paths as paths
