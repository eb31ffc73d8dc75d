"""Checks a bound on a fixed list of generated paths, oblivious and adaptive."""

from collections import Counter
from math import inf

import numpy as np

from paths import ADVERSARIES, FAMILIES, fixed_case

PATHS = 2000
FAMILIES_AND_ADVERSARIES = (*FAMILIES, *ADVERSARIES)


class Tally:
    """Counts the paths checked, by family, and keeps the largest ratio of regret to bound."""

    def __init__(self):
        self.seen, self.families, self.worst, self.now = set(), Counter(), -inf, None

    def enter(self, case, **chosen):
        self.now = (case, chosen)
        if case not in self.seen:
            self.seen.add(case)
            self.families[case.family] += 1

    def check(self, regret, bound, n_rounds):
        """Require regret <= bound, with a slack for rounding; both may be arrays."""
        regret, bound = np.broadcast_arrays(regret, bound)
        excess = float((regret - bound).max())
        assert excess <= 1e-9 * (1 + n_rounds), f"{self.now}: the bound is exceeded by {excess}"
        if (nontrivial := (bound > 1e-3) & (bound < n_rounds)).any():
            self.worst = max(self.worst, float((regret[nontrivial] / bound[nontrivial]).max()))

    def order(self, lesser, greater):
        """Require one bound to be below another."""
        excess = float((lesser - greater).max())
        assert excess <= 1e-9 * (1 + len(lesser)), f"{self.now}: the bounds cross by {excess}"


def on_many_paths(check, paths=PATHS, families=FAMILIES_AND_ADVERSARIES, max_rounds=120, max_actions=8, **options):
    """Check a fixed list of paths, each with one of every kind of option."""
    tally = Tally()
    for number in range(paths):
        rng = np.random.default_rng([number, 1])
        case = fixed_case(number, families, max_rounds, max_actions)
        chosen = {name: values[rng.integers(len(values))] for name, values in options.items()}
        tally.enter(case, **chosen)
        check(tally, case, **chosen)
    print(f"{len(tally.seen)} paths, worst regret / bound {tally.worst:.3f}, {dict(tally.families)}")
    assert len(tally.seen) == paths
    assert set(tally.families) == set(families)
    return tally
