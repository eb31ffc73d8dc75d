"""Build the wheel and the sdist twice, and compare them byte for byte: `make dist`.

The first build is from this folder. The second is from the unpacked sdist of the first, in another folder, with other
times, modes, hashes and time zone. So equal bytes also show that the sdist has all that a build needs.
"""

from __future__ import annotations

import argparse
import email.parser
import hashlib
import os
import shutil
import subprocess
import sys
import tarfile
import tempfile
import zipfile
from pathlib import Path

from packaging.metadata import Metadata

ROOT = Path(__file__).resolve().parents[1]
_WITHOUT_GIT = 1577836800  # 2020-01-01, the time of all files where no commit is known
_OTHER_SURROUNDINGS = {"PYTHONHASHSEED": "1", "TZ": "Asia/Kathmandu", "LC_ALL": "C"}
_OTHER_UMASK = 0o077


class Fault(Exception):
    """The archives are not what they must be."""


def source_time(root: Path) -> int:
    """Return the time of the last commit, or a fixed time where there is no repository."""
    printed = _git(root, "log", "-1", "--format=%ct")
    return int(printed) if printed else _WITHOUT_GIT


def build(
    source: Path, target: Path, seconds: int, surroundings: dict[str, str] | None = None, umask: int = -1
) -> None:
    """Build both archives of a folder; every file in them has the given time."""
    env = os.environ | {"SOURCE_DATE_EPOCH": str(seconds)} | (surroundings or {})
    command = [sys.executable, "-m", "hatchling", "build", "--directory", str(target.resolve())]
    done = subprocess.run(command, cwd=source, env=env, umask=umask, capture_output=True, text=True, check=False)
    if done.returncode:
        raise Fault(f"hatchling failed in {source}:\n{done.stderr}")


def build_again(sdist: Path, target: Path, seconds: int) -> None:
    """Build both archives from an unpacked sdist, in other surroundings and with other times of the files."""
    with tempfile.TemporaryDirectory() as folder:
        with tarfile.open(sdist) as archive:
            archive.extractall(folder, filter="data")
        (source,) = Path(folder).iterdir()
        for path in source.rglob("*"):
            os.utime(path, (seconds + 1000, seconds + 1000))
        build(source, target, seconds, _OTHER_SURROUNDINGS, _OTHER_UMASK)


def digests(folder: Path) -> dict[str, str]:
    """Return the SHA-256 digests of the files of a folder, by name."""
    return {path.name: hashlib.sha256(path.read_bytes()).hexdigest() for path in sorted(folder.iterdir())}


def names_in_sdist(sdist: Path) -> set[str]:
    """Return the files of an sdist, without the folder that holds all of them."""
    with tarfile.open(sdist) as archive:
        return {member.name.partition("/")[2] for member in archive.getmembers() if member.isfile()}


def check_contents(wheel: Path, sdist: Path) -> None:
    """Raise `Fault` unless the wheel has the package and the examples, and the sdist all files of the repository."""
    from_sdist = names_in_sdist(sdist)
    with zipfile.ZipFile(wheel) as archive:
        in_wheel = {name for name in archive.namelist() if ".dist-info/" not in name}
        information = {name.partition(".dist-info/")[2] for name in archive.namelist()} - {""}
        metadata = next(archive.read(name) for name in archive.namelist() if name.endswith(".dist-info/METADATA"))
    package = {name.removeprefix("src/") for name in from_sdist if name.startswith("src/driftwise/")}
    examples = {f"driftwise/{name}" for name in from_sdist if name.startswith("examples/")}
    _require_equal("the wheel", in_wheel, package | examples)
    if not {"driftwise/py.typed", "driftwise/examples/switching.toml"} <= in_wheel:
        raise Fault("the wheel has no py.typed or no examples.")
    if "licenses/LICENSE" not in information:
        raise Fault("the wheel has no license.")
    Metadata.from_email(metadata, validate=True)
    if not email.parser.BytesParser().parsebytes(metadata)["Description-Content-Type"].startswith("text/markdown"):
        raise Fault("the description of the wheel is not Markdown.")


def check_tracked(sdist: Path, root: Path) -> None:
    """Raise `Fault` if the sdist lacks a file of the repository; say so if the folder has other files or changes."""
    tracked = {name for name in _git(root, "ls-files").splitlines() if (root / name).is_file()}
    if not tracked:
        return
    if missing := tracked - names_in_sdist(sdist):
        raise Fault(f"the sdist lacks {_some(missing)}.")
    if changed := _git(root, "status", "--porcelain").splitlines():
        print(f"dist: {len(changed)} changes are in no commit, {changed[0].strip()!r} first. Do not publish this.")


def make(root: Path, target: Path) -> dict[str, str]:
    """Build into an empty folder, check the archives, and return their digests."""
    seconds = source_time(root)
    build(root, target, seconds)
    (wheel,), (sdist,) = target.glob("*.whl"), target.glob("*.tar.gz")
    check_contents(wheel, sdist)
    first = digests(target)
    with tempfile.TemporaryDirectory() as folder:
        build_again(sdist, Path(folder), seconds)
        second = digests(Path(folder))
    if first != second:
        raise Fault(f"two builds differ:\n{first}\n{second}")
    check_tracked(sdist, root)
    return first


def _git(root: Path, *words: str) -> str:
    """Return what a command of git prints; nothing where `root` is no repository of its own."""
    if not (root / ".git").exists() or shutil.which("git") is None:
        return ""
    done = subprocess.run(["git", *words], cwd=root, capture_output=True, text=True, check=False)
    return done.stdout if done.returncode == 0 else ""


def _require_equal(what: str, found: set[str], expected: set[str]) -> None:
    if found != expected:
        raise Fault(f"{what} lacks {_some(expected - found)}, and has in addition {_some(found - expected)}.")


def _some(names: set[str]) -> str:
    shown = sorted(names)[:5]
    return ", ".join(shown) + (f" and {len(names) - len(shown)} more" if len(names) > len(shown) else "") or "nothing"


def main() -> None:
    """Build into a folder, which is emptied first."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--out", type=Path, default=ROOT / "dist", help="the folder of the archives")
    target = parser.parse_args().out
    shutil.rmtree(target, ignore_errors=True)
    try:
        made = make(ROOT, target)
    except Fault as fault:
        sys.exit(f"dist: {fault}")
    for name, digest in made.items():
        print(f"{digest}  {target.name}/{name}")
    print("dist: a second build, from the unpacked sdist in another folder, has the same bytes.")


if __name__ == "__main__":
    main()
