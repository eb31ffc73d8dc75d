"""Learners with full feedback: every action's loss is observed."""
