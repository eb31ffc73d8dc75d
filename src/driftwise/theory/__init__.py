"""The theorems as functions: tuning rules, bounds in expectation, bounds on every path."""
