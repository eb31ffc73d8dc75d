"""Read mutated TOML files of simulations and sweeps: `make fuzz`.

The examples are mutated: other types, ranges and names, huge numbers, NaN, deep nesting, keys that are missing, doubled
or misspelt, very many tables, odd characters, bytes. Each file must be refused with an error of driftwise, or be valid;
a small valid one is played. Nothing may take longer than some seconds or more memory than two gigabytes.
"""

from __future__ import annotations

import argparse
import copy
import json
import resource
import tempfile
import time
import tomllib
import warnings
from collections import Counter
from pathlib import Path

import numpy as np

from driftwise.cli.simulate import _DEFAULTS, _settings
from driftwise.cli.specs import read_spec
from driftwise.core.errors import DriftwiseError
from driftwise.engine import simulate
from driftwise.environments.environment_factory import make_environment
from driftwise.learners import Player
from driftwise.regret.comparators import make_comparator
from driftwise.sweeps import read_sweep

EXAMPLES = sorted((Path(__file__).parents[2] / "examples").glob("*.toml"))
FLAGS = dict.fromkeys(["replay", "path", "noise", "drift", "variance", "header", *_DEFAULTS])
FLAGS["learner"] = ()
NAMES = [
    "hedge", "fixed-share", "optimistic-gd", "ucb1", "saol", "sword", "tracker", "oracle-restarts",
    "detect-and-restart", "switching", "sinusoidal", "table", "random-walk", "constant", "bernoulli", "beta",
    "two-point", "none", "full-low", "full-v", "bandit-low", "dynamic", "static", "switching:2", "interval:1-3",
    "interval:3-1@9",
]  # fmt: skip
PLAYED = {"hedge", "optimistic-gd", "fixed-share"}  # so that few kernels are compiled
SMALL = {
    "simulation": """
        n_rounds = 40
        n_runs = 2
        comparator = "static"
        environment = {path = {name = "switching", n_segments = 3, n_actions = 3}, noise = "bernoulli", drift = 2.0}
        learners = [{name = "hedge", learning_rate = 0.3}, {name = "optimistic-gd", tuned = "rounds"}]
        """,
    "sweep": """
        n_rounds = [20, 40]
        n_runs = 1
        seed = [1, 2]
        curves = true
        environments = [{path = {name = "sinusoidal", n_periods = 2, amplitude = 0.3, n_actions = 3}, noise = "beta"}]
        learners = [{name = "fixed-share", switch_rate = 0.1, each = {learning_rate = [0.3, 1.0]}}]
        """,
}
MOST_SECONDS, MOST_BYTES = 5.0, 2e9


class TooSlow(Exception):
    """A play that was long enough."""


def scalars(rng):
    pool = [
        0, 1, 2, 3, -1, 10**3, 10**6, 10**9, 10**12, 10**18, 2**62, 2**63, 2**64, 10**30, 10**400, True, False, 0.0,
        -0.0, 0.5, 1.0, 1.5, -0.1, 1e-300, 5e-324, 1e300, 1e-9, np.inf, -np.inf, np.nan, "", "x",
        "\u00e9\u4e2d\U0001f600",
        "a\nb", "\x7f", "\u202e", "x" * 10**5, "../x.csv", "/dev/null", "no.csv", "no.npy", "no.parquet", "measures",
        "rounds", "budget", "random", "best-response", "proof", "equal", "sample", "weights", *NAMES,
    ]  # fmt: skip
    return pool[rng.integers(len(pool))]


def value(rng, before=None, depth=0):
    """Return a value to put in the place of another."""
    way = rng.random()
    if depth < 3 and way < 0.12:
        return [value(rng, before, depth + 1) for _ in range(int(rng.choice([0, 1, 2, 5])))]
    if depth < 3 and way < 0.22:
        return {str(scalars(rng)): value(rng, before, depth + 1) for _ in range(int(rng.integers(0, 3)))}
    if way < 0.27:
        return {"each": {str(scalars(rng)): value(rng, before, depth + 1)}} if depth < 3 else 0
    if way < 0.30:
        nested = 1
        for _ in range(int(rng.choice([10, 60, 150]))):
            nested = [nested] if rng.random() < 0.5 else {"a": nested}
        return nested
    if isinstance(before, (int, float)) and not isinstance(before, bool) and abs(before) < 1e300 and way < 0.6:
        change = float(rng.choice([0.1, 0.5, 0.9, 1.1, 2, 10, -1]))
        return int(before * change) if isinstance(before, int) and rng.random() < 0.7 else before * change
    return scalars(rng)


def places(node, path=()):
    """Yield the places of all keys and items of nested tables and lists."""
    for key, inner in node.items() if isinstance(node, dict) else enumerate(node):
        yield (*path, key)
        if isinstance(inner, dict | list):
            yield from places(inner, (*path, key))


def holder(spec, path):
    for key in path[:-1]:
        spec = spec[key]
    return spec


def mutate(rng, spec):
    """Change one place of a spec."""
    path = [*places(spec)]
    path = path[rng.integers(len(path))]
    node, key, way = holder(spec, path), path[-1], int(rng.integers(10))
    if way <= 3:
        node[key] = value(rng, node[key])
    elif way == 4:
        del node[key]
    elif way == 5 and isinstance(node, dict):  # a misspelt or other key
        name = str(
            rng.choice([f"{key}x", "name", "each", "label", "tuned", "", "a b", "\u00e9", "n_actions", "against"])
        )
        node[name] = node.pop(key)
    elif way == 6 and isinstance(node, dict):
        node[str(rng.choice(["each", "label", "tuned", "replay", "drift", "variance", "seed", "n_runs", "header"]))] = (
            value(rng)
        )
    elif way == 7 and isinstance(node, list):
        node.extend(copy.deepcopy(node[key]) for _ in range(int(rng.choice([1, 3, 300]))))
    elif way == 8 and isinstance(node, dict) and isinstance(node[key], (int, float)):  # a grid
        n_values = int(rng.choice([1, 3, 1000, 20_000]))
        node.setdefault("each", {})
        if isinstance(node["each"], dict):
            node["each"][key] = [float(x) for x in rng.random(n_values).round(6)]
            del node[key]
    else:
        node[key] = scalars(rng)


def shrink(spec):
    """Make a spec small enough to be played, in place."""
    if isinstance(spec.get("n_rounds"), int):
        spec["n_rounds"] = min(spec["n_rounds"], 40)
    if isinstance(spec.get("n_runs"), int):
        spec["n_runs"] = min(spec["n_runs"], 2)


def toml(value):
    """Return a value as TOML."""
    if isinstance(value, dict):
        return "{" + ", ".join(f"{json.dumps(key)} = {toml(inner)}" for key, inner in value.items()) + "}"
    if isinstance(value, list):
        return "[" + ", ".join(map(toml, value)) + "]"
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, str):
        return json.dumps(value, ensure_ascii=False).replace("\x7f", "\\u007f")
    if isinstance(value, float):
        return repr(value)
    try:
        return str(value)
    except ValueError:  # more than 4,300 digits
        return "9" * 5000


def text_of(rng, spec):
    """Return a spec as a TOML file; sometimes its text is mutated too."""
    lines = [f"{json.dumps(key)} = {toml(value)}" for key, value in spec.items()]
    way = rng.random()
    if way < 0.02:
        lines.append(lines[rng.integers(len(lines))] if lines else "")  # a key twice
    elif way < 0.04:
        lines.append(".".join(["a"] * int(rng.choice([3, 60, 900, 100_000]))) + " = 1")
    elif way < 0.05:
        lines.append("x = " + "[" * int(rng.choice([20, 200, 5000])))
    content = "\n".join(lines).encode("utf-8", "surrogatepass")
    if way > 0.93 and content:
        damaged = bytearray(content)
        for _ in range(int(rng.integers(1, 5))):
            damaged[rng.integers(len(damaged))] = rng.integers(256)
        content = bytes(damaged)
    if way > 0.99:
        content = content[: rng.integers(len(content) + 1)] + b"\x00\xff\xfe"
    return content


def is_long(spec):
    """Return whether a spec scales a path or a noise over very many rounds: they are walked before the first."""
    n_rounds = spec.get("n_rounds")
    longest = max((n for n in (n_rounds if isinstance(n_rounds, list) else [n_rounds]) if type(n) is int), default=0)
    keys = {key for path in places(spec) for key in path}
    return longest > 10**6 and not keys.isdisjoint({"drift", "variance"})


def stop_soon(end):
    def progress(*_):
        if time.monotonic() > end:
            raise TooSlow

    return progress


def use_simulation(path):
    """Do what `driftwise simulate` does with a file; return what was done."""
    settings = _settings(read_spec(path), FLAGS)
    environment = make_environment(settings.pop("environment"))
    players = [Player.from_spec(member) for member in settings.pop("learners")]
    settings["comparator"] = make_comparator(settings["comparator"])
    if not players or not {player.name for player in players} <= PLAYED or environment.n_actions > 100:
        return "valid"
    try:
        simulate(environment, players, n_threads=1, progress=stop_soon(time.monotonic() + 0.5), **settings)
    except TooSlow:
        return "started"
    return "played"


def use_sweep(path):
    """Do what `driftwise sweep` does with a file; return what was done."""
    sweep = read_sweep(path)
    small = sweep.n_cells <= 8 and max(sweep.n_rounds) <= 40
    actions = max(source.origin.n_actions for source in sweep.sources.values())
    if not small or actions > 100 or not {player.name for player in sweep.players.values()} <= PLAYED:
        return "valid"
    with tempfile.TemporaryDirectory() as folder:
        results = sweep.run(folder, n_threads=1)
    return "played" if not results.cells.failed.any() else "played, with failed cells"


def expect_line(message, where):
    assert "\n" not in message, f"{where}: {message[:300]}"
    assert len(message) < 2000, f"{where}: {len(message)} characters"


def fuzz(n_cases, seed, report=None):
    """Read mutated files; return how many were refused, valid and played."""
    counts, began = Counter(), time.monotonic()
    texts = {path.stem: path.read_text() for path in EXAMPLES} | SMALL
    specs = [(name, tomllib.loads(text)) for name, text in texts.items()]
    specs += 3 * specs[-len(SMALL) :]  # half of all
    with tempfile.TemporaryDirectory() as folder, warnings.catch_warnings():
        warnings.simplefilter("ignore")
        file = Path(folder) / "mutated.toml"
        for case in range(n_cases):
            rng = np.random.default_rng([seed, case])
            name, spec = specs[rng.integers(len(specs))]
            spec = copy.deepcopy(spec)
            if rng.random() < 0.7:
                shrink(spec)
            for _ in range(int(rng.choice([1, 1, 2, 4]))):
                if spec:
                    mutate(rng, spec)
            if is_long(spec):
                counts["left out, since it would take long"] += 1
                continue
            file.write_bytes(text_of(rng, spec))
            before, start = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss, time.monotonic()
            try:
                use = (
                    use_sweep
                    if "environments" in spec or name.startswith(("sweep", "full", "bandit"))
                    else use_simulation
                )
                counts[use(file)] += 1
            except DriftwiseError as error:
                expect_line(str(error), f"case {case} of seed {seed}")
                counts["refused"] += 1
            except Exception as error:
                raise AssertionError(f"case {case} of seed {seed}: {type(error).__name__}: {error}") from error
            seconds, memory = time.monotonic() - start, resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
            assert seconds < MOST_SECONDS, f"case {case} of seed {seed}: {seconds:.1f} s"
            assert memory * 1024 < MOST_BYTES or memory == before, f"case {case} of seed {seed}: {memory / 1e6:.1f} GB"
            if report and case % 1000 == 999:
                report(case + 1, time.monotonic() - began)
    return counts


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--cases", type=int, default=5000)
    parser.add_argument("--seed", type=int, default=0)
    settings = parser.parse_args()
    report = lambda done, seconds: print(f"{done} files, {seconds:.0f} s", flush=True)  # noqa: E731
    counts = fuzz(settings.cases, settings.seed, report)
    print(f"{settings.cases} files: {dict(sorted(counts.items()))}.")


if __name__ == "__main__":
    main()
