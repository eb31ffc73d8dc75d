"""Every script outside of the package is run once, with tiny sizes: a script that no test runs breaks unnoticed."""

from __future__ import annotations

import json
import sys
from collections.abc import Iterator
from importlib import import_module
from pathlib import Path
from types import SimpleNamespace
from typing import Any, NamedTuple

import numba
import numpy as np
import pytest

from driftwise.cli.main import main as driftwise
from driftwise.learners import UCB1, Hedge
from driftwise.regret_study.study_design import kinds
from outside_files import ROOT, module_of

pytestmark = pytest.mark.skipif(numba.config.DISABLE_JIT, reason="scripts are run with the compiler")
FOLDERS = ("benchmarks", "tools", "docs", "docs/builder", "examples", "tests/helpers")


class Run(NamedTuple):
    """A short run of a script: its arguments, and other values for names in its modules."""

    words: tuple[str, ...] = ()
    changes: dict[str, Any] = {}  # noqa: RUF012 (never written)


def small_effort() -> Any:
    return sys.modules["common"].Effort(n_rounds=40, repetitions=1, long=0.0)


def few_learners() -> list[Any]:
    return [Hedge(), UCB1()]


def one_world() -> list[Any]:
    return [("one", "a world", lambda generator, n_rounds: (generator.random((n_rounds, 2)),) * 2, 50, True, [UCB1()])]


def run_in_process(words: list[str], **_: object) -> SimpleNamespace:
    """Run `python -m driftwise ...` in this process."""
    assert words[1:3] == ["-m", "driftwise"]
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(sys, "argv", [str(word) for word in words[2:]])
        with pytest.raises(SystemExit) as left:
            driftwise()
    assert left.value.code == 0
    return SimpleNamespace(returncode=0)


def one_series() -> Iterator[Any]:
    """Yield the days of one series."""
    days = import_module("day_ahead")
    truths = np.sin(np.arange(60.0) ** 1.1)
    yield days.DayAhead("sine", days.daily_models(truths, 4), truths[28:], 4)


def one_series_of_quantiles() -> Iterator[Any]:
    """Yield the quantiles of one series."""
    script = import_module("quantile_forecasts")
    yield script.Quantiles("sine", *script.model_quantiles(np.sin(np.arange(160.0) ** 1.1), 4), 4)


def one_set() -> list[Any]:
    """Write a file of forecasts, and return the sets of the folder in which it is."""
    data = import_module("forecast_data").load("pollsters")
    arrays = {"X": data.forecasts[:80], "y": data.truths[:80], "names": data.names, "about": "polls", "horizon": 3}
    np.savez("polls.npz", **arrays)
    return import_module("forecasts").folder_sources(Path())


IN_PROCESS = SimpleNamespace(run=run_in_process, DEVNULL=None)
SECTION = {"run.QUICK": small_effort}
RUNS = {
    "benchmarks/bandit_attacks.py": [Run(("--seeds", "1"), {"worlds": one_world})],
    "benchmarks/best_response.py": [Run(("--learner", "ucb1", "--rounds", "100"), {"N_RUNS": 2})],
    "benchmarks/combine_speed.py": [Run(("--rows", "50", "--series", "2", "--case", "0"), {"subprocess": IN_PROCESS})],
    "benchmarks/compare.py": [
        Run(
            ("--quick", "--setting", "random-walk", "--out", "out"),
            {"all_players": lambda *_, **__: {"hedge": Hedge()}},
        )
    ],
    "benchmarks/constants.py": [Run(("--runs", "1"), {"FULL": {"hedge": Hedge()}, "BANDIT": {"ucb1": UCB1()}})],
    "benchmarks/digests.py": [
        Run((), {"specs": lambda: [{"name": "hedge"}]}),
        Run(("--compare", "digests.json", "digests.json")),
    ],
    "benchmarks/forecast_data.py": [Run(("data", "--only", "pollsters"))],
    "benchmarks/forecast_frames.py": [Run((), {"N_SERIES": 2, "N_ROUNDS": 20})],
    "benchmarks/day_ahead.py": [Run((), {"package_days": one_series})],
    "benchmarks/forecasts.py": [
        Run(
            ("--delays", "natural,0", "--first", "30", "--json", "scores.json"),
            {"package_sources": one_set, "LEARNERS": {"hedge": Hedge()}},
        ),
    ],
    "benchmarks/hostile_forecasts.py": [Run((), {"package_sources": one_set})],
    "benchmarks/interruptions.py": [Run(("size", "--cells", "30")), Run(("overhead", "--cells", "3"))],
    "benchmarks/nights.py": [Run(("--series", "2", "--rows", "2", "--nights", "2", "--steps"))],
    "benchmarks/other_sizes.py": [Run((), {"N_ACTIONS": (2,), "N_ROUNDS": 60, "kinds": lambda: kinds()[:1]})],
    "benchmarks/paired.py": [
        Run(("--worker", "live"), {"best": lambda work, *_: work() or 1.0}),
        Run(("--worker", "engine"), {"best": lambda work, *_: work() and 1.0}),
        Run((".", "--only", "live", "--turns", "1"), {"timed": lambda *_: {"rounds": 1.0}}),
    ],
    "benchmarks/quantile_forecasts.py": [Run((), {"package_quantiles": one_series_of_quantiles})],
    "benchmarks/proofs.py": [
        Run(("--only", "combine", "--file", "proofs.json"), {"N_ROWS": 600, "subprocess": IN_PROCESS}),
        Run(("--only", "sweep", "--file", "proofs.json"), {"learners": {"hedge": Hedge, "ucb1": UCB1}, "N_ROUNDS": 60}),
    ],
    "benchmarks/run.py": [
        Run(("--quick", "--only", "kernels"), {**SECTION, "kernels.all_learners": few_learners}),
        Run(("--quick", "--only", "covers"), SECTION),
        Run(("--quick", "--only", "threads"), SECTION),
        Run(("--quick", "--only", "engine"), {**SECTION, "engine.FEWER": 10_000}),
        Run(("--quick", "--only", "live"), {**SECTION, "live.all_learners": few_learners}),
        Run(("--quick", "--only", "python"), SECTION),
        Run(("--quick", "--only", "help"), SECTION),
    ],
    "benchmarks/trace_calls.py": [Run(("list", "learners", "--returns"))],
    "benchmarks/tracker_attacks.py": [
        Run(("wide", "--seeds", "1"), {"regret_of_others": lambda *_: 1.0}),
        Run(("forced", "--rounds", "400"), {"SEGMENTS": (1, 3)}),
    ],
}
OTHERS = {
    "benchmarks/held_out_forecasts.py": "reads the data of packages that the tests do not install; it has --check",
    "benchmarks/opera_worker.py": "a process of run.py --only opera, with an R package",
    "benchmarks/rival_worker.py": "a process of run.py --only rivals, with packages that it installs",
    "docs/builder/browser_check.py": "opens the built site in Chromium (`make site`)",
    "docs/builder/landscape_results.py": "measures for minutes; tests/docs/test_landscape_table.py has its parts",
    "docs/builder/page_process.py": "a process of docs/builder/run_code.py, which builds a page in test_site.py",
    "docs/builder/reference_pages.py": "tests/docs/test_docs.py has its pages",
    "docs/builder/site_checks.py": "tests/docs/test_site.py has its checks",
    "benchmarks/poold_check.py": "needs the package poold, which is no dependency of the tests",
    "docs/generate.py": "writes files of the repository; tests/docs/test_docs.py compares their content",
    "examples/cluster.py": "tests/docs/test_docs.py",
    "examples/electricity.py": "tests/examples/test_examples.py",
    "examples/fertility.py": "tests/examples/test_examples.py",
    "examples/following.py": "tests/examples/test_examples.py",
    "examples/pollsters.py": "tests/examples/test_examples.py",
    "tests/helpers/fuzz_environments.py": "tests/environments/test_extreme_environments.py",
    "tests/helpers/fuzz_mixtures.py": "tests/forecasting/test_mixtures.py",
    "tests/helpers/fuzz_outputs.py": "tests/forecasting/test_combine_folders.py",
    "tests/helpers/fuzz_python_learners.py": "tests/learners/base/test_lying_learners.py",
    "tests/helpers/fuzz_results.py": "tests/results/test_hostile_results.py",
    "tests/helpers/fuzz_sessions.py": "tests/engine/test_fuzz.py",
    "tests/helpers/fuzz_specs.py": "tests/sweeps/test_large_specs.py",
    "tests/helpers/fuzz_sweeps.py": "tests/sweeps/test_faulty_workers.py",
    "tests/helpers/fuzz_tables.py": "tests/forecasting/test_combine_faults.py",
    "tests/helpers/public_signatures.py": "tests/package/test_public_names.py",
    "tests/helpers/reference_values.py": "writes values that other tests compare with",
    "tests/helpers/representative_plays.py": "prints plays that other tests compare with",
    "tests/helpers/store_processes.py": "tests/promises/test_stores_survive.py",
    "tools/dist.py": "tests/package/test_distribution.py",
    "tools/matrix.py": "installs releases from the internet; tests/package/test_distribution.py has its parts",
    "tools/smoke.py": "needs an installed wheel in an environment of its own (`make matrix`)",
}  # a script: the test that runs it, or why it is not run here
VERDICTS = {"benchmarks/combine_speed.py", "benchmarks/proofs.py"}  # exit codes: too slow, or bits that differ
SECTIONS_LEFT_OUT = {
    "damage": "damages 200 stores, half a minute; tests/results/test_store_damage.py damages others",
    "dask": "kills the workers of a cluster for an hour",
    "defaults": "a million rounds after which a round is timed",
    "first-run": "compiles into an empty cache",
    "full-disk": "mounts a file system, as root",
    "live-rivals": "installs packages from the internet",
    "local": "kills processes for an hour; tests/promises/test_sweeps_survive.py kills a few",
    "opera": "installs packages from the internet",
    "rivals": "installs packages from the internet",
    "together": "two processes, for minutes; tests/promises/test_sweeps_survive.py starts two",
}  # of benchmarks/run.py, and parts of benchmarks/interruptions.py


def scripts() -> set[str]:
    files = [file for folder in FOLDERS for file in (ROOT / folder).glob("*.py")]
    return {
        file.relative_to(ROOT).as_posix() for file in files if "\nif __name__ ==" in file.read_text(encoding="utf-8")
    }


def test_every_script_is_run_or_has_a_reason() -> None:
    assert {*RUNS, *OTHERS} == scripts()
    assert not {*RUNS} & {*OTHERS}


def test_every_section_of_the_benchmarks_is_run_or_has_a_reason(benchmarks) -> None:
    named = {run.words[-1] for run in RUNS["benchmarks/run.py"]} | {"size", "overhead"}
    sections, parts = module_of("benchmarks/run.py").SECTIONS, module_of("benchmarks/interruptions.py").PARTS
    assert {*named, *SECTIONS_LEFT_OUT} == {*sections, *parts}


@pytest.mark.parametrize("script", OTHERS)
def test_the_test_of_a_script_names_it(script: str) -> None:
    for word in OTHERS[script].rstrip(".").split():
        if word.startswith("tests/"):
            assert Path(script).stem in (ROOT / word).read_text(encoding="utf-8")


@pytest.fixture
def benchmarks(monkeypatch, tmp_path):
    """Let scripts import their neighbours, and forget these afterwards."""
    before = {*sys.modules}
    for folder in ("benchmarks", "examples"):
        monkeypatch.syspath_prepend(ROOT / folder)
    monkeypatch.chdir(tmp_path)
    yield
    for name in {*sys.modules} - before:
        file = getattr(sys.modules[name], "__file__", None) or ""
        if Path(file).is_relative_to(ROOT / "benchmarks"):
            del sys.modules[name]


@pytest.mark.parametrize(
    ("script", "run"),
    [pytest.param(script, run, id=" ".join([script, *run.words])) for script, runs in RUNS.items() for run in runs],
)
def test_a_short_run_ends_well(script: str, run: Run, benchmarks, monkeypatch, tmp_path, capsys) -> None:
    for name in ("digests.json", "proofs.json"):
        (tmp_path / name).write_text(json.dumps({"a": "1"}))
    main = module_of(script)
    for name, value in run.changes.items():
        module, _, attribute = name.rpartition(".")
        owner = main if module in ("", Path(script).stem) else sys.modules[module]
        monkeypatch.setattr(owner, attribute, value() if value is small_effort else value)
    monkeypatch.setattr(sys, "argv", [script, *run.words])
    try:
        main.main()
    except SystemExit:
        assert script in VERDICTS
    assert capsys.readouterr().out
