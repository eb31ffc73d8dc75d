"""Bandit feedback: only the chosen loss is seen."""
