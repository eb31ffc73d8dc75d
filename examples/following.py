"""Which of four actions is best changes: `Tracker` follows it, `Hedge`, which counts all of the past, follows late.

Run: python examples/following.py [FOLDER]
"""

import sys
from pathlib import Path

from matplotlib.figure import Figure

from driftwise import Bernoulli, Environment, Hedge, Segments, Tracker, record
from driftwise.report.drawing import COLOURS

MEANS = [[0.2, 0.6, 0.5, 0.7], [0.7, 0.6, 0.2, 0.5], [0.6, 0.2, 0.7, 0.5], [0.5, 0.6, 0.2, 0.7], [0.7, 0.5, 0.6, 0.2]]
N_ROUNDS = 2000
NAMES = ["A", "B", "C", "D"]


def main(folder: Path) -> None:
    environment = Environment(path=Segments(MEANS), noise=Bernoulli())
    histories = [record(learner, environment, n_rounds=N_ROUNDS, seed=1) for learner in (Tracker(), Hedge())]
    figure = Figure(figsize=(8.0, 5.6), layout="constrained")
    means, *weights = figure.subplots(3, 1, sharex=True)
    first = histories[0]
    for k, name in enumerate(NAMES):
        means.hlines(first.means[:, k], first.starts, first.ends, color=COLOURS[k], linewidth=2.5, label=name)
    means.set(ylabel="mean loss", ylim=(0.0, 0.8), title="Four actions: which one has the least mean loss changes")
    means.legend(loc="center left", bbox_to_anchor=(1.0, 0.5), frameon=False)
    for axes, history in zip(weights, histories, strict=True):
        axes.stackplot(history.ends, history.weights.T, colors=COLOURS[:4], alpha=0.75, step="pre")
        axes.set(ylabel="weight", ylim=(0.0, 1.0), yticks=(0.0, 0.5, 1.0))
    weights[0].set_title("Weights of Tracker, the default: on the best action soon after each change")
    weights[1].set_title("Weights of Hedge, which does not forget: on the action with the least total loss")
    weights[1].set(xlabel="round", xlim=(0, N_ROUNDS))
    for axes in figure.axes:
        for t in first.change_points:
            axes.axvline(t, color="black", linewidth=1.0)
        axes.title.set_fontsize("medium")
        axes.spines[["top", "right"]].set_visible(False)
    folder.mkdir(parents=True, exist_ok=True)
    figure.savefig(folder / "following.png", dpi=120)
    print(f"The picture is in {folder / 'following.png'}.")


if __name__ == "__main__":
    main(Path(sys.argv[1] if len(sys.argv) > 1 else "out"))
