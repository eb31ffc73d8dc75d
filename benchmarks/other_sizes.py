"""The regret study of the default learners in cells of other sizes, which no choice was based on.

`python benchmarks/other_sizes.py` takes a few minutes: all kinds of environments of the study with 3 and with 10
actions, 3,000 rounds. Finished runs are kept in the folder `out/other-sizes`.
"""

from __future__ import annotations

from pathlib import Path

import numpy as np

from driftwise.cli.progress import sweep_progress
from driftwise.regret_study.study import Effort, run_study
from driftwise.regret_study.study_design import kinds, make_cell, scored_learners

N_ACTIONS, N_ROUNDS, SEED = (3, 10), 3000, 1


def main() -> None:
    cells = [make_cell(*kind, n_actions, N_ROUNDS) for kind in kinds() for n_actions in N_ACTIONS]
    learners = {feedback: scored_learners(feedback)[:1] for feedback in ("full", "bandit")}
    folder, effort = Path("out/other-sizes"), Effort({N_ROUNDS: 16})
    scores = run_study(cells, learners, effort, SEED, folder, None, lambda title: sweep_progress(False, title, "runs"))
    for feedback, (learner,) in learners.items():
        found = sorted((one for one in scores if one.feedback == feedback), key=lambda one: -one.score.value)
        mean = np.exp(np.mean([np.log(one.score.value) for one in found]))
        print(f"\n{learner.label}: geometric mean {mean:.3f} in {len(found)} cells; the worst:")
        for one in found[:5]:
            print(f"  {one.score.value:.2f} +- {one.score.error:.2f}  {one.cell.name}")


if __name__ == "__main__":
    main()
