"""Slow, simple references of the library's algorithms, written from the printed recursions."""
