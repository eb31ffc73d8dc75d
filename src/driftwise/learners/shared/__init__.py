"""Arithmetic and base classes that several algorithms share; no module here is an algorithm."""
