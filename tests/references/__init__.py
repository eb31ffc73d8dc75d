"""Slow, obvious twins of the library's algorithms, written from the paper's printed recursions."""
