"""The theorems as functions: tuning rules, upper bounds in expectation and on every path, lower bounds."""
