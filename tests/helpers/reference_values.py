"""Reference values: numbers that summarise the plays of every registered class, to detect changed plays.

python tests/helpers/reference_values.py            # compare
python tests/helpers/reference_values.py --write    # write the values of new and changed classes

They are in `reference_values.json`, each with the versions of the classes that it was computed with. Values that
changed while all these versions stayed the same are not written: the class must raise its `version` first (the engine
its `VERSION`), because stored results are valid for one version. If not the plays but the numbers that summarise them
change, remove the file before writing.
"""

import argparse
import json
import sys
from pathlib import Path

import numpy as np

from driftwise.adversaries import adversaries
from driftwise.detectors import detectors
from driftwise.environments.noises import noises
from driftwise.environments.paths import paths
from driftwise.learners import learners
from fixed_environments import adversary_plays, engine_plays, noise_plays, path_plays
from fixed_plays import detector_plays, learner_plays

FILE = Path(__file__).with_suffix(".json")
COMMAND = "python tests/helpers/reference_values.py --write"
PLAYS = {
    "learner": learner_plays,
    "detector": detector_plays,
    "path": path_plays,
    "noise": noise_plays,
    "adversary": adversary_plays,
}
REGISTRIES = {registry.kind: registry for registry in (learners, detectors, paths, noises, adversaries)}
DIGITS = 9  # significant
RELATIVE, ABSOLUTE = 1e-6, 1e-9  # tolerances: another processor or C library rounds differently


def keys():
    """Return the classes of the package that are registered, as in "learner hedge", and the engine."""
    found = [
        f"{kind} {name}"
        for kind, registry in REGISTRIES.items()
        for name in registry
        if registry.get(name).__module__.startswith("driftwise.")  # other tests register classes of their own
    ]
    return [*sorted(found), "engine"]


def current_entries(key):
    """Play one class, or the engine, and return its entries by setting."""
    if key == "engine":
        plays = engine_plays()
    else:
        kind, name = key.split(" ")
        plays = PLAYS[kind](REGISTRIES[kind].get(name))
    return {setting: computed(play) for setting, play in plays.items()}


def computed(play):
    """Play, and return the entry of the file: versions and numbers, None for NaN and for no bound."""
    return {"versions": play.versions, "values": [rounded(x) for x in play.numbers()]}


def rounded(x):
    if x is None or np.isnan(x):
        return None
    return int(x) if float(x).is_integer() and abs(x) < 10**DIGITS else float(f"{x:.{DIGITS}g}")


def agree(one, other):
    """Return whether two lists of numbers are equal up to rounding."""
    return len(one) == len(other) and bool(
        np.allclose(np.array(one, float), np.array(other, float), RELATIVE, ABSOLUTE, equal_nan=True)
    )


def faults(key, stored, current):
    """Return what is wrong with the stored entries of one class, each with what to do about it."""
    old, new = stored.get(key, {}), current.get(key, {})
    if key in current and not new:
        return [f"{key}: there is nothing to play. Add an example to `tests/helpers/fixed_environments.py`."]
    found = []
    if missing := sorted(set(new) - set(old)):
        found.append(f"{key}: no reference values for {'; '.join(missing)}. Run `{COMMAND}`.")
    if left_over := sorted(set(old) - set(new)):
        found.append(f"{key}: reference values for {'; '.join(left_over)}, which no longer exist. Run `{COMMAND}`.")
    for setting in sorted(set(old) & set(new)):
        if reason := refusal(key, old[setting], new[setting]):
            found.append(f"{reason} (Setting: {setting}.)")
        elif old[setting]["versions"] != new[setting]["versions"]:
            found.append(f"{key}: the values for {setting} are of other versions. Run `{COMMAND}`.")
    return found


def refusal(key, old, new):
    """Return why an entry must not be replaced, '' if it may be."""
    lower = [name for name, version in new["versions"].items() if version < old["versions"].get(name, version)]
    if lower:
        return f"{lower[0]}: its version was {old['versions'][lower[0]]} and must not become lower."
    if old["versions"] != new["versions"] or agree(old["values"], new["values"]):
        return ""
    if key == "engine":
        return f"engine: its results changed; raise `VERSION` to {old['versions'][key] + 1}."
    kind, name = key.split(" ")
    return f"{REGISTRIES[kind].get(name).__name__}: its plays changed; raise `version` to {old['versions'][key] + 1}."


def replaced(stored, current):
    """Return the new entries of one class; values that agree stay as they are."""
    return {
        setting: {**new, "values": stored[setting]["values"]}
        if setting in stored and agree(stored[setting]["values"], new["values"])
        else new
        for setting, new in current.items()
    }


def read(file=FILE):
    return json.loads(file.read_text()) if file.exists() else {}


def write(entries, file=FILE):
    """Write entries, one per line."""
    classes = []
    for key in sorted(entries):
        lines = [
            f"  {json.dumps(setting)}: {json.dumps(entry, sort_keys=True, separators=(',', ':'), allow_nan=False)}"
            for setting, entry in sorted(entries[key].items())
        ]
        classes.append(f" {json.dumps(key)}: {{\n" + ",\n".join(lines) + "\n }")
    file.write_text("{\n" + ",\n".join(classes) + "\n}\n")


def update(stored, current):
    """Return the entries to write, and the reasons why some of them may not be written."""
    reasons = [
        refusal(key, old, current[key][setting])
        for key in sorted(set(stored) & set(current))
        for setting, old in stored[key].items()
        if setting in current[key]
    ]
    entries = {key: replaced(stored.get(key, {}), current[key]) for key in current}
    return entries, sorted({reason for reason in reasons if reason})


def main(arguments=None, file=FILE):
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--write", action="store_true", help="write the values of new and changed classes")
    given = parser.parse_args(arguments)
    stored = read(file)
    current = {key: current_entries(key) for key in keys()}
    if given.write:
        entries, problems = update(stored, current)
        if not problems:
            write(entries, file)
    else:
        problems = [fault for key in sorted(set(stored) | set(current)) for fault in faults(key, stored, current)]
    print("\n".join(problems), file=sys.stderr, end="\n" if problems else "")
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main())
