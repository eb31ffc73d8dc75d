"""Digests of the plays of every learner, at its defaults and at extreme parameters, to detect changes.

python benchmarks/digests.py > after.json                                  # of this working tree
PYTHONPATH=OTHER/src python benchmarks/digests.py --specs after.json > before.json
python benchmarks/digests.py --compare before.json after.json
"""

from __future__ import annotations

import argparse
import hashlib
import json
import sys
import warnings
from pathlib import Path

import numpy as np

from driftwise.learners import learners
from driftwise.registry import to_spec

SETTINGS = ((1, 20), (2, 400), (3, 300), (10, 200))  # actions, rounds


def losses(n_actions: int, n_rounds: int) -> np.ndarray:
    """Return Bernoulli losses whose best action changes, then uniform ones, then constants."""
    rng = np.random.default_rng([n_actions, n_rounds])
    means = np.where(np.arange(n_actions) == np.arange(n_rounds)[:, None] * 4 // n_rounds % n_actions, 0.2, 0.7)
    table = (rng.random((n_rounds, n_actions)) < means).astype(float)
    table[n_rounds // 2 :] = rng.random((n_rounds - n_rounds // 2, n_actions))
    table[-n_rounds // 5 :] = np.linspace(0.0, 1.0, n_actions)
    return table


def digest(spec: dict[str, object]) -> str:
    """Return a digest of the plays of one learner, or the error that it raised."""
    try:
        learner, found = learners.build(spec), hashlib.sha256()
        for n_actions, n_rounds in SETTINGS:
            found.update(learner.run(learner.start(n_actions, seed=1), losses(n_actions, n_rounds)).tobytes())
        return found.hexdigest()[:16]
    except Exception as error:
        return f"{type(error).__name__}: {error}"


def specs() -> list[dict[str, object]]:
    """Return the spec of every learner with its defaults and at extreme parameters."""
    members = (m for name in learners for m in (learners.get(name)(), *learners.get(name).at_corners()))
    return [to_spec(member) for member in members]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--specs", type=Path, help="digest the learners of this file")
    parser.add_argument("--compare", type=Path, nargs=2, help="print the digests that differ between two files")
    given = parser.parse_args()
    if given.compare:
        before, after = (json.loads(path.read_text()) for path in given.compare)
        differ = [spec for spec in after if before.get(spec) != after[spec]]
        print("\n".join(f"{spec}\n  before {before.get(spec)}\n  after  {after[spec]}" for spec in differ))
        print(f"{len(differ)} of {len(after)} learners differ")
        return
    wanted = [json.loads(spec) for spec in json.loads(given.specs.read_text())] if given.specs else specs()
    warnings.simplefilter("ignore")
    json.dump({json.dumps(spec, sort_keys=True): digest(spec) for spec in wanted}, sys.stdout, indent=1)


if __name__ == "__main__":
    main()
