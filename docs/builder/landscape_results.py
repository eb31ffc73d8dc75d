"""The results behind the page `docs/landscape.md`: Table 1, measured once and kept in `docs/landscape-results.json`.

`make table` measures them again. A file and not a measurement at every build: the longest runs have three million
rounds, and a reader of the repository has the same numbers as a reader of the site.
"""

from __future__ import annotations

import json
import sys
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np

from driftwise import Environment, Sinusoidal, TwoPoint
from driftwise.landscape.outcomes import Measurement, Outcome, measure
from driftwise.landscape.scans import PARTICIPANTS, PRESETS, Scan, Setting, geometric, scans

__all__ = ["COMMAND", "RESULTS", "read_results", "table_scans"]

RESULTS = Path(__file__).parents[1] / "landscape-results.json"
COMMAND = "make table"
PRESET, SEED = "standard", 1
_STORE = Path("out/landscape/measurements")  # that of `make landscape`
_DIGITS = 7  # of a stored regret
_EVERY = 10.0  # seconds between lines of progress
# Up to 10^5 rounds Algorithm 1 spends most of a block on exploration. In these runs its exponent falls towards 1/2.
_LONG_KEY, _LONG_RUNS = "bandit-drifting-long", 8
_LONG = Scan(
    _LONG_KEY, "sinusoid, two actions, two-point noise; V = 2, Lambda = 50", "T", geometric(100_000, 3_000_000, 5),
    lambda t: Setting(
        Environment(Sinusoidal(n_actions=2, n_periods=1).with_drift(2.0), TwoPoint().with_variance(50.0)), int(t)
    ),
    participants=tuple(each for each in PARTICIPANTS["bandit-drifting"] if each.label in ("rerun-ucbv", "ucb1")),
)  # fmt: skip


def table_scans() -> list[Scan]:
    """Return the scans of the landscape, and the long one."""
    return [*scans(PRESETS[PRESET]), _LONG]


def measure_results(folder: Path) -> list[Outcome]:
    """Play what the folder of measurements does not have."""
    last = [time.monotonic()]

    def progress(done: int, total: int) -> None:
        if done == total or time.monotonic() - last[0] > _EVERY:
            print(f"measured {done} of {total} runs", flush=True)
            last[0] = time.monotonic()

    preset = PRESETS[PRESET]
    outcomes = measure(scans(preset), preset.n_runs, SEED, folder, progress=progress)
    return outcomes + measure([_LONG], _LONG_RUNS, SEED, folder, progress=progress)


def as_json(outcomes: Sequence[Outcome]) -> str:
    """Return outcomes as text, a line for each learner in each scan."""
    lines = [
        f"  {json.dumps([outcome.scan.key, outcome.participant.label, *map(_row, outcome.measurements)])}"
        for outcome in outcomes
    ]
    return "[\n" + ",\n".join(lines) + "\n]\n"


def _row(measurement: Measurement) -> dict[str, Any]:
    row: dict[str, Any] = {"n_actions": measurement.n_actions, "n_rounds": measurement.n_rounds}
    for name in ("segments", "drift", "variance"):  # only their means over runs are used
        row[name] = _rounded(getattr(measurement, name).mean())
    row["regrets"] = [*map(_rounded, measurement.regrets)]
    if not np.isnan(measurement.companion_regrets).any():
        row["companion_regrets"] = [*map(_rounded, measurement.companion_regrets)]
    return row | ({"caveat": measurement.caveat} if measurement.caveat else {})


def _rounded(value: float) -> float:
    return float(f"{value:.{_DIGITS}g}")


def read_results(path: Path = RESULTS) -> list[Outcome]:
    """Return the outcomes in a file of results; its scans must be those of the library."""
    stored = {(key, label): rows for key, label, *rows in json.loads(path.read_text(encoding="utf-8"))}
    expected = {(scan.key, each.label): (scan, each) for scan in table_scans() for each in scan.participants}
    if changed := sorted(stored.keys() ^ expected.keys()):
        raise SystemExit(f"{path.name} is not about the learners of the landscape, first {changed[0]}: `{COMMAND}`.")
    return [Outcome(*expected[names], tuple(map(_measurement, rows))) for names, rows in stored.items()]


def _measurement(row: dict[str, Any]) -> Measurement:
    regrets = np.array(row["regrets"])
    companion = np.array(row.get("companion_regrets", [np.nan] * len(regrets)))
    measures = [np.array([row[name]], np.float64) for name in ("segments", "drift", "variance")]
    return Measurement(regrets, companion, *measures, row["n_actions"], row["n_rounds"], row.get("caveat", ""))


if __name__ == "__main__":
    folder = Path(sys.argv[1]) if len(sys.argv) > 1 else _STORE
    RESULTS.write_text(as_json(measure_results(folder)), encoding="utf-8")
    print(f"wrote {RESULTS}; `make docs` shows it")
