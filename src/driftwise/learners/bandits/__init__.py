"""Learners with bandit feedback: only the loss of the chosen action is observed."""
