"""The examples run, and no forecast of theirs knows the truth of its round."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from driftwise import Bernoulli, Environment, Hedge, Segments, Tracker, record
from outside_files import ROOT, module_of

EXAMPLES = ("pollsters", "electricity", "fertility")


@pytest.mark.parametrize("name", EXAMPLES)
def test_an_example_prints_its_report_and_writes_a_picture(name: str, tmp_path: Path) -> None:
    done = subprocess.run(
        [sys.executable, "-W", "error", ROOT / "examples" / f"{name}.py", tmp_path / "out"],
        cwd=tmp_path,
        env=os.environ | {"MPLBACKEND": "agg"},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    assert "best expert" in done.stdout
    assert (tmp_path / "out" / f"{name}.png").read_bytes().startswith(b"\x89PNG")


def test_the_picture_of_the_readme_is_made_and_shows_what_it_says(tmp_path: Path) -> None:
    example = module_of("examples/following.py")
    example.main(tmp_path)
    assert (tmp_path / "following.png").read_bytes().startswith(b"\x89PNG")
    environment = Environment(path=Segments(example.MEANS), noise=Bernoulli())
    shares = {}
    for learner in (Tracker(), Hedge()):
        history = record(learner, environment, n_rounds=example.N_ROUNDS, seed=1)
        shares[learner.name] = np.mean(history.weights[np.arange(len(history.starts)), history.best])
    assert shares["tracker"] > 0.95
    assert shares["hedge"] < 0.7


@pytest.mark.parametrize("name", EXAMPLES)
def test_an_example_is_short(name: str) -> None:
    assert len((ROOT / "examples" / f"{name}.py").read_text(encoding="utf-8").splitlines()) < 120


def test_the_service_learns_over_a_restart_and_ends(tmp_path: Path) -> None:
    file = ROOT / "examples" / "live_choice.py"
    assert len(file.read_text(encoding="utf-8").splitlines()) < 80
    for outcomes in (160, 320):
        done = subprocess.run(
            [sys.executable, "-W", "error", file],
            cwd=tmp_path,
            capture_output=True,
            text=True,
            check=False,
            timeout=120,
        )
        assert done.returncode == 0, done.stderr
        assert done.stdout == f"{outcomes} outcomes, 0 waiting; shown most often: grid\n"


def test_forecasts_of_electricity_know_the_hours_before_alone() -> None:
    example = module_of("examples/electricity.py")
    demand = example.demand()
    t = example.N_FIT + 500
    changed = demand.copy()
    changed.iloc[t:] = 2 * changed.iloc[t:] + 1000
    first, second = (example.forecasts(y).to_numpy()[t - example.N_FIT :] for y in (demand, changed))
    np.testing.assert_allclose(first[0], second[0], rtol=1e-12)
    assert not np.isnan(first).any()
    later = 200  # hours, in which the forecasts of all models have seen a changed hour
    assert (first[later] != second[later]).all()


def test_forecasts_of_fertility_know_the_years_before_alone() -> None:
    example = module_of("examples/fertility.py")
    births = example.births()
    t = 30
    changed = births.copy()
    changed.iloc[t:] += 1
    first, second = example.forecasts(births), example.forecasts(changed)
    for name, table in first.items():
        assert table.iloc[: t + 1].equals(second[name].iloc[: t + 1]), name
        assert not table.iloc[t + 1].equals(second[name].iloc[t + 1]), name
