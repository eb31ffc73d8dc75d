"""Paths: how the means of the losses move from round to round. One file per family of paths, and their registry."""

from driftwise.environments.paths.path import MeanStream, Path, path, paths

__all__ = ["MeanStream", "Path", "path", "paths"]
