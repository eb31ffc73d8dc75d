"""The measured Table 1: scans over rounds, segments, drift and variance, their exponents, and the report."""
