"""Environments, adversaries and detectors at the corners of their parameters, with one action and with one round."""

import fuzz_environments


def test_extreme_parameters_are_refused_or_give_possible_losses():
    counts = fuzz_environments.fuzz(300, seed=2)
    assert counts["refused"] > 0
    for kind in ("environment", "adversary", "detector"):
        assert counts[f"{kind} played"] > 0
