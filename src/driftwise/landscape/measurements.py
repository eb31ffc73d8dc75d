"""A measurement of the landscape: the runs of one learner in one setting. Each finished measurement is saved to a file.

The file holds the specs of the run and a digest of the code. A measurement is repeated only if one of them changed.
"""

from __future__ import annotations

import functools
import hashlib
import json
import os
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor, as_completed
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from driftwise import __version__
from driftwise.adversaries import AdversarialEnvironment, Adversary
from driftwise.core.errors import BadFile
from driftwise.core.measures import Measures
from driftwise.core.tuning_caveats import collected
from driftwise.core.types import Vector
from driftwise.engine import simulate
from driftwise.engine.players import Entry, Player
from driftwise.environments import Environment
from driftwise.learners import Learner
from driftwise.registry import to_spec
from driftwise.results.parquet_columns import arrow, open_columns, write_columns

__all__ = ["Job", "Measurement", "MeasurementStore", "Setting", "digest_of", "run_jobs"]

_KEY = "driftwise measurement"
_COMPANION = "(companion)"
_COLUMNS = ("regrets", "companion_regrets", "segments", "drift", "variance")
_PLAYED_CODE = ("adversaries", "core", "detectors", "engine", "environments", "learners", "results", "theory")


class Setting(NamedTuple):
    """The environment or adversary, and the number of rounds."""

    source: Environment | Adversary
    n_rounds: int


class Measurement(NamedTuple):
    """The outcome of a job, one number per run."""

    regrets: Vector
    companion_regrets: Vector  # of the companion on the same losses, NaN without one
    segments: Vector
    drift: Vector
    variance: Vector
    n_actions: int
    n_rounds: int
    caveat: str = ""  # why its tuning rule is meaningless, and in how many runs; "" if there is no caveat

    @property
    def measures(self) -> Measures:
        """The measures, averaged over runs."""
        segments = max(1, min(self.n_rounds, round(float(self.segments.mean()))))
        return Measures(self.n_actions, self.n_rounds, segments, float(self.drift.mean()), float(self.variance.mean()))


@dataclass(frozen=True)
class Job:
    """One learner in one setting: the input of a measurement."""

    setting: Setting
    label: str
    player: Player
    n_runs: int
    seed: int
    companion: Learner | None = None

    @property
    def recipe(self) -> dict[str, Any]:
        """Everything the outcome depends on, as plain values; a rule is identified by two learners that it makes."""
        source, n_rounds = self.setting
        stationary = Measures(source.n_actions, n_rounds, 1, 0.0, 0.0, change_points=())
        changing = Measures(
            source.n_actions, n_rounds, min(2, n_rounds), 0.5, n_rounds / 10, change_points=(1,)[: n_rounds - 1]
        )
        with collected():  # caveats about these two measures do not matter
            specs = [to_spec(self.learner(measures)) for measures in (stationary, changing)]
        return {
            "version": __version__,
            "code": _code(),
            "source": source.to_spec(),
            "n_rounds": n_rounds,
            "label": self.label,
            "learner": specs,
            "companion": None if self.companion is None else to_spec(self.companion),
            "n_runs": self.n_runs,
            "seed": self.seed,
        }

    def learner(self, measures: Measures) -> Learner:
        """Return the learner for these measures."""
        return Entry(self.label, self.player).learner(measures)

    def play(self) -> Measurement:
        """Play all runs, in this thread."""
        with collected():  # `measure` reports the caveats of each learner once
            return self._play(self.source(), self.setting.n_rounds)

    def _play(self, source: Environment | AdversarialEnvironment, n_rounds: int) -> Measurement:
        players: dict[str, Player] = {self.label: lambda measures: self.learner(self.known(measures))}
        if self.companion is not None:
            players[_COMPANION] = self.companion
        results = simulate(source, players, n_rounds, self.n_runs, self.seed, n_threads=1)
        caveat = results.caveats.get(self.label)
        return Measurement(
            regrets=results.final(self.label),
            companion_regrets=(np.full(self.n_runs, np.nan) if self.companion is None else results.final(_COMPANION)),
            segments=np.array([m.segments for m in results.measures], np.float64),
            drift=np.array([m.drift for m in results.measures]),
            variance=np.array([m.variance for m in results.measures]),
            n_actions=source.n_actions,
            n_rounds=n_rounds,
            caveat="" if caveat is None else caveat.text(self.n_runs),
        )

    def source(self) -> Environment | AdversarialEnvironment:
        """Return the environment of the runs; an adversary makes one against the learner."""
        source, n_rounds = self.setting
        if isinstance(source, Environment):
            return source
        return source.against(self.learner(source.budget(n_rounds)), n_rounds, self.seed)

    def known(self, measures: Measures) -> Measures:
        """Return the measures for tuning: those of the environment, or the budget of the adversary."""
        source, n_rounds = self.setting
        return measures if isinstance(source, Environment) else source.budget(n_rounds)


class MeasurementStore:
    """A folder of finished measurements. An unusable folder is rejected before anything is played."""

    def __init__(self, folder: Path) -> None:
        arrow("Saving finished measurements")  # raises if the library is missing
        self.folder = folder
        try:
            folder.mkdir(parents=True, exist_ok=True)
        except OSError as error:
            raise BadFile(f"Cannot make the folder {folder}: {error.strerror}.") from None

    def get(self, job: Job) -> Measurement | None:
        """Return the saved measurement of a job, None if there is none with the same recipe."""
        path, recipe = self._path(job), json.loads(json.dumps(job.recipe))
        if not path.is_file():
            return None
        try:
            opened = open_columns(path, _KEY)
            header = {} if opened is None else json.loads(opened.header)
            if opened is None or header["recipe"] != recipe:
                return None
            caveat, columns = str(header["caveat"]), opened.load(*_COLUMNS)
        except (BadFile, ValueError, KeyError, TypeError, RecursionError) as error:
            raise BadFile(f"{path} is not a complete measurement: delete it to repeat it. ({error})") from None
        source, n_rounds = job.setting
        return Measurement(**columns, n_actions=source.n_actions, n_rounds=n_rounds, caveat=caveat)

    def put(self, job: Job, measurement: Measurement) -> None:
        """Save a finished measurement."""
        columns = {name: getattr(measurement, name) for name in _COLUMNS}
        header = json.dumps({"recipe": job.recipe, "caveat": measurement.caveat}, sort_keys=True)
        write_columns(self._path(job), _KEY, header.encode(), columns)

    def _path(self, job: Job) -> Path:
        digest = hashlib.sha256(json.dumps(job.recipe, sort_keys=True).encode()).hexdigest()[:16]
        return self.folder / f"{job.label.replace(' ', '-').replace('(', '').replace(')', '')}-{digest}.parquet"


def run_jobs(
    jobs: list[Job], store: MeasurementStore, n_threads: int | None, progress: Callable[[int, int], None] | None
) -> list[Measurement]:
    """Return the measurements of all jobs; play those that are not saved."""
    pool = ThreadPoolExecutor(n_threads or os.cpu_count())
    measurements = {pool.submit(_load_or_play, job, store): job.setting.n_rounds * job.n_runs for job in jobs}
    done, total = 0, sum(measurements.values())
    try:
        for measurement in as_completed(measurements):
            measurement.result()  # raises the error of a failed measurement
            done += measurements[measurement]
            if progress is not None:
                progress(done, total)
    finally:  # after an error or an interrupt, do not wait for the measurements that are being played
        pool.shutdown(wait=False, cancel_futures=True)
    return [measurement.result() for measurement in measurements]


def _load_or_play(job: Job, store: MeasurementStore) -> Measurement:
    measurement = store.get(job)
    if measurement is None:
        measurement = job.play()
        store.put(job, measurement)
    return measurement


@functools.cache
def _code() -> str:
    return digest_of(Path(__file__).parents[1])


def digest_of(package: Path) -> str:
    """Return a digest of all code that a measurement depends on, so that changed code is measured again."""
    files = [package / "registry.py", *(file for name in _PLAYED_CODE for file in (package / name).rglob("*.py"))]
    content = hashlib.sha256()
    for file in sorted(files):
        content.update(f"{file.relative_to(package)}\n".encode() + file.read_bytes())
    return content.hexdigest()[:16]
