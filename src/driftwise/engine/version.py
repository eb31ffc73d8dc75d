"""The version of the engine.

It is raised when seeding, regret, comparators, measures or the choice of bounds change, and so invalidates every stored
result. Changes of a learner, path, noise, adversary or detector raise the `version` of that class instead.
"""

__all__ = ["VERSION"]

VERSION = 2
