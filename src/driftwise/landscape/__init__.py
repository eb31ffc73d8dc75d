"""The measured Table 1: sweeps over rounds, segments, drift and variance, their exponents, and the report."""
