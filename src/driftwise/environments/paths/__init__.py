"""How the means move, one file each, and the registry of paths."""

from driftwise.environments.paths.base import MeanStream, Path, path, paths

__all__ = ["MeanStream", "Path", "path", "paths"]
