"""Use an installed driftwise from end to end: `python smoke.py` in its environment, `--core` if it has no extras.

`make matrix` runs it in clean environments, in an empty folder. It needs nothing but the installed package.
"""

from __future__ import annotations

import argparse
import json
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

SCRIPT = Path(sys.executable).parent / "driftwise"
LEARNERS = ["--learner", "hedge", "--learner", "ucb1", "--rounds", "300", "--runs", "2"]
SWEEP = """
n_rounds = 300
n_runs = {n_runs}
seed = 1
learners = [{{name = "hedge"}}, {{name = "ucb1"}}]
[[environments]]
path = {{name = "switching", n_segments = 2, n_actions = 3}}
noise = "bernoulli"
"""


def run(*words: str, code: int = 0) -> subprocess.CompletedProcess[str]:
    """Run a command line of driftwise, which must end with this exit code."""
    done = subprocess.run([SCRIPT, *words], capture_output=True, text=True, check=False)
    if done.returncode != code:
        raise AssertionError(f"driftwise {' '.join(words)} gave {done.returncode}, not {code}:\n{done.stderr}")
    return done


def refused(extra: str, *words: str) -> None:
    """Run a command line that needs an extra which is not installed."""
    error = run(*words, code=1).stderr
    require(f"pip install 'driftwise[{extra}]'" in error and len(error.splitlines()) == 1, error)


def require(holds: bool, otherwise: object = "") -> None:
    """Raise `AssertionError` unless a condition holds, also under `python -O`."""
    if not holds:
        raise AssertionError(otherwise)


def help_list_and_show() -> None:
    """The commands that compute nothing."""
    import driftwise

    require(Path(driftwise.__file__).is_relative_to(sys.prefix), f"not the installed package: {driftwise.__file__}")
    require("simulate" in run("--help").stdout)
    require(run("--version").stdout == f"driftwise {driftwise.__version__}\n")
    require("fixed-share" in run("list").stdout)
    require("switch_rate" in run("show", "fixed-share").stdout)
    require("Did you mean 'hedge'?" in run("show", "hedg", code=2).stderr)


def examples_copied() -> None:
    """The examples are in the wheel."""
    require("switching.toml" in run("examples").stdout)
    run("examples", "--copy", "examples")
    require(Path("examples/forecasts.csv").is_file() and Path("examples/cluster.py").is_file())


def simulate_table() -> None:
    """A simulation of an example, with another learner."""
    out = json.loads(run("simulate", "examples/switching.toml", *LEARNERS, "--json").stdout)
    require(bool(out))
    require("hedge" in run("simulate", *LEARNERS, "--out", "table.csv").stdout)
    require(Path("table.csv").stat().st_size > 0)


def session_saved_and_loaded() -> None:
    """A live learner continues as without the interruption."""
    from driftwise import FixedShare, Session

    session = Session(FixedShare(), n_actions=3)
    session.update([0.2, 0.9, 0.5])
    session.save("session.npz")
    loaded = Session.load("session.npz")
    for each in (session, loaded):
        each.update([0.9, 0.1, 0.3])
    require(session.predict().tolist() == loaded.predict().tolist())


def learner_checked() -> None:
    """The checks that users run on learners of their own."""
    from driftwise import Hedge
    from driftwise.checks import check_learner

    check_learner(Hedge())


def mixture_of_forecasts() -> None:
    """Forecasts combined without files."""
    from driftwise import Mixture

    mixture = Mixture(["a", "b"])
    for truth in range(5):
        mixture.predict({"a": truth + 0.5, "b": truth + 2.0})
        mixture.update(truth)
    require(mixture.predict({"a": 1.0, "b": 2.0}) < 1.5)


def figure_and_parquet() -> None:
    """A figure and a file of a simulation, and the results in the file."""
    run("simulate", *LEARNERS, "--out", "runs.parquet", "--figure", "regret.png")
    require(Path("regret.png").read_bytes().startswith(b"\x89PNG"))
    require("hedge" in run("results", "runs.parquet", "--page", "results.html").stdout)


def forecasts_of_a_file() -> None:
    """A table of forecasts, combined."""
    run("combine", "examples/forecasts.csv", "--target", "y", "--time", "day", "--out", "combined")
    require(any(Path("combined").iterdir()))


def sweep_and_its_resume() -> None:
    """A sweep that is extended plays the missing cells only."""
    for n_runs, message in ((2, "= 4 cells, 4 to play"), (3, "= 6 cells, 2 to play")):
        Path("sweep.toml").write_text(SWEEP.format(n_runs=n_runs), encoding="utf-8")
        done = run("sweep", "sweep.toml", "--out", "sweep")
        require(message in done.stderr, done.stderr)


def dask_cluster() -> None:
    """A sweep on a Dask cluster of one thread."""
    from distributed import Client

    from driftwise import Bernoulli, Environment, Hedge, Sweep, Switching

    sweep = Sweep(Environment(Switching(2, n_actions=3), Bernoulli()), [Hedge()], n_rounds=300, n_runs=2, seed=1)
    with Client(processes=False, n_workers=1, threads_per_worker=1, dashboard_address=None) as client:
        require(len(sweep.run("dask", client=client).summaries()) == 1)


def frame_and_river() -> None:
    """A frame of Arrow, and a regressor of river."""
    import pyarrow

    from driftwise import combine
    from driftwise.forecasting.river_adapter import RiverMixture

    combine(pyarrow.table({"y": [1.0, 2.0, 3.0], "a": [1.1, 2.1, 3.1], "b": [2.0, 3.0, 4.0]}), target="y")
    model = RiverMixture()
    for truth in range(3):
        model.learn_one({"a": truth + 0.5, "b": truth + 1.0}, truth)
    require(model.predict_one({"a": 1.0, "b": 1.0}) == 1.0)


def extras_are_asked_for() -> None:
    """Without extras, the message says what to install."""
    refused("files", "simulate", *LEARNERS, "--out", "runs.parquet")
    refused("figures", "simulate", *LEARNERS, "--figure", "regret.png")
    refused("files", "combine", "examples/forecasts.csv", "--target", "y", "--out", "combined")
    refused("files", "sweep", "examples/sweep.toml", "--out", "sweep")
    refused("files", "regret")
    refused("files", "landscape")
    for extra, code in (
        ("river", "import driftwise.forecasting.river_adapter"),
        ("frames", "import driftwise; driftwise.combine(None)"),
    ):
        done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=False)
        require(f"pip install 'driftwise[{extra}]'" in done.stderr, done.stderr)


CORE = [
    help_list_and_show,
    examples_copied,
    simulate_table,
    session_saved_and_loaded,
    learner_checked,
    mixture_of_forecasts,
]
EXTRAS = [figure_and_parquet, forecasts_of_a_file, sweep_and_its_resume, dask_cluster, frame_and_river]


def main() -> None:
    """Take every step in the current folder; the first that fails ends the program."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--core", action="store_true", help="no extra is installed")
    steps: list[Callable[[], None]] = [*CORE, *([extras_are_asked_for] if parser.parse_args().core else EXTRAS)]
    for step in steps:
        began = time.perf_counter()
        step()
        print(f"{step.__name__.replace('_', ' ')}: {time.perf_counter() - began:.1f} s", flush=True)


if __name__ == "__main__":
    main()
