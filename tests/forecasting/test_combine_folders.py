"""`driftwise combine --out` changes no file outside of its folder, whatever is in the folder."""

import os
import re
import resource
import subprocess
import sys
from pathlib import Path

import pytest

import fuzz_outputs
from combine_examples import FIXED_SHARE, OUTPUTS, example, visible, write
from command_line import runner
from driftwise.core import files
from driftwise.forecasting import combining
from driftwise.report import tables
from driftwise.report.page import markup

PLANTED = ".driftwise-0123456789abcdef"  # the form of a temporary file's name


@pytest.fixture
def combine(monkeypatch, capsys, tmp_path):
    run = runner(monkeypatch, capsys, tmp_path)
    write(example(), tmp_path / "in.csv")
    assert run("combine", "in.csv", "--target", "y", "--out", "clean", *FIXED_SHARE).code == 0
    return lambda *words: run("combine", "in.csv", "--target", "y", *FIXED_SHARE, *words)


@pytest.fixture
def outside(tmp_path):
    """A folder with files that no command may change."""
    folder = tmp_path / "outside"
    (folder / "inner").mkdir(parents=True)
    for name in ("file", "inner/file", PLANTED, "forecasts.csv"):
        (folder / name).write_text(f"precious {name}")
    return folder


def content(folder):
    return {str(path.relative_to(folder)): path.read_bytes() for path in folder.rglob("*") if path.is_file()}


def test_the_page_has_the_command_that_wrote_it(combine, tmp_path):
    assert combine("--out", "out", "--threads", 1, "--add", "scaled", "--quiet").code == 0
    command = "driftwise combine in.csv --target y --learner fixed-share --add scaled"
    (shown,) = re.findall("<pre><code>(.*?)</code></pre>", (tmp_path / "out" / "report.html").read_text("utf-8"))
    assert shown == command  # the folder and threads do not change the files


@pytest.mark.parametrize("target", ["../outside", "../outside/file", "../outside/inner", "../outside/new", "."])
@pytest.mark.parametrize("name", ["forecasts.csv", "summary.json", "report.html"])
def test_a_link_in_the_place_of_a_file_is_replaced(combine, outside, tmp_path, name, target):
    (tmp_path / "out").mkdir()
    (tmp_path / "out" / name).symlink_to(target)
    before = content(outside)
    assert combine("--out", "out").code == 0
    assert content(outside) == before
    assert not (tmp_path / "out" / name).is_symlink()
    assert visible(tmp_path / "out") == visible(tmp_path / "clean")


@pytest.mark.parametrize("name", [PLANTED, f"{PLANTED}.csv", ".driftwise-partial", "lock", "other"])
@pytest.mark.parametrize("target", ["../outside", "../outside/file", "../outside/new"])
def test_any_other_link_stays_and_is_not_followed(combine, outside, tmp_path, name, target):
    (tmp_path / "out").mkdir()
    (tmp_path / "out" / name).symlink_to(target)
    before = content(outside)
    assert combine("--out", "out").code == 0
    assert content(outside) == before
    assert (tmp_path / "out" / name).readlink() == Path(target)


def test_a_folder_that_is_a_link_is_followed_and_only_the_files_of_the_command_are_written(combine, outside, tmp_path):
    (tmp_path / "out").symlink_to("outside")
    (outside / PLANTED).unlink()
    before = content(outside)
    assert combine("--out", "out").code == 0
    assert (tmp_path / "out").is_symlink()
    assert content(outside) == {**before, **visible(tmp_path / "clean")}


def test_a_file_in_the_place_of_the_folder_stays(combine, tmp_path):
    (tmp_path / "out").write_text("mine")
    left = combine("--out", "out")
    assert left == (1, "", "driftwise: Cannot write out/forecasts.csv: Not a directory.\n")
    assert (tmp_path / "out").read_text() == "mine"


@pytest.mark.parametrize("name", ["forecasts.csv", "summary.json", "report.html"])
def test_a_folder_in_the_place_of_a_file_is_named_before_anything_is_written(combine, tmp_path, name):
    (tmp_path / "out" / name).mkdir(parents=True)
    assert combine("--out", "out") == (1, "", f"driftwise: Cannot write out/{name}: Is a directory.\n")
    assert [path.name for path in (tmp_path / "out").iterdir()] == [name]


@pytest.mark.parametrize("kind", ["a page of someone else", "a link", "a folder", "a pipe"])
def test_without_a_page_only_a_page_of_an_earlier_run_is_deleted(combine, tmp_path, outside, kind):
    page = tmp_path / "out" / "report.html"
    page.parent.mkdir()
    if kind == "a link":
        page.symlink_to("../clean/report.html")
    elif kind == "a folder":
        page.mkdir()
    elif kind == "a pipe":
        os.mkfifo(page)
    else:
        page.write_text("<title>My thesis</title>")
    before = os.lstat(page)
    assert combine("--out", "out", "--no-page").code == 0
    assert os.path.samestat(os.lstat(page), before)
    assert combine("--out", "clean", "--no-page").code == 0
    assert not (tmp_path / "clean" / "report.html").exists()


def test_another_mode_of_an_earlier_file_is_kept(combine, tmp_path):
    (tmp_path / "clean" / "forecasts.csv").chmod(0o600)
    assert combine("--out", "clean").code == 0
    assert (tmp_path / "clean" / "forecasts.csv").stat().st_mode & 0o777 == 0o600


LIMITED = """
import resource, sys
resource.setrlimit(resource.RLIMIT_FSIZE, (int(sys.argv[1]), resource.RLIM_INFINITY))
sys.argv = ["driftwise", *sys.argv[2:]]
from driftwise.cli.main import main
main()
"""
LARGE = 600  # rows, whose forecasts have more bytes than the limit


def limited(n_bytes, folder, *words):
    """Run a command in a process that cannot write longer files: the same path as a full disk, with another reason."""
    command = [sys.executable, "-c", LIMITED, str(n_bytes), "combine", *words, "--target", "y", *FIXED_SHARE]
    left = subprocess.run(command, cwd=folder, capture_output=True, text=True, check=False)
    return left.returncode, left.stderr


@pytest.mark.skipif(not hasattr(resource, "RLIMIT_FSIZE"), reason="the system has no such limit")
@pytest.mark.parametrize("output", OUTPUTS)
def test_forecasts_that_do_not_fit_on_the_disk_are_named_and_the_earlier_files_stay(combine, tmp_path, output):
    assert combine("--out", "out", "--format", output).code == 0
    before = content(tmp_path / "out")
    write(example(LARGE, seed=2), tmp_path / "in.csv")
    left = limited(9000, tmp_path, "in.csv", "--out", "out", "--format", output)
    assert left == (1, f"driftwise: Cannot write out/forecasts.{output}: File too large.\n")
    assert content(tmp_path / "out") == before


@pytest.mark.skipif(not hasattr(resource, "RLIMIT_FSIZE"), reason="the system has no such limit")
def test_a_summary_that_does_not_fit_on_the_disk_is_named_and_no_part_of_it_is_left(combine, tmp_path):
    assert combine("--out", "out").code == 0
    write(example(3), tmp_path / "in.csv")
    code, message = limited(1000, tmp_path, "in.csv", "--out", "out", "--no-page")
    assert (code, message) == (1, "driftwise: Cannot write out/summary.json: File too large.\n")
    assert [path.name for path in (tmp_path / "out").iterdir()] == ["forecasts.csv"]


def test_a_summary_is_the_last_file_so_it_never_stands_beside_a_page_that_is_missing(combine, tmp_path, monkeypatch):
    def ended(*_, **__):
        raise MemoryError

    monkeypatch.setattr(combining, "write_page", ended)
    assert combine("--out", "clean").code != 0
    assert [path.name for path in (tmp_path / "clean").iterdir()] == ["forecasts.csv"]


def test_hostile_folders_and_names_change_nothing_else():
    """A few cases of the program that `make fuzz` runs."""
    counts = fuzz_outputs.fuzz(30, seed=7)
    assert sum(counts.values()) == 30


FAULTS = {
    "links are followed": (combining, "write_atomically", lambda path, write, **_: files.write_atomically(path, write)),
    "links are followed by every writer": (files, "destination", lambda path, _, real=files.destination: real(path)),
    "any page is deleted": (combining, "is_report_page", lambda _: True),
    "temporary files that are links are deleted": (files, "_delete_if_abandoned", lambda path: path.unlink()),
    "control characters are printed": (tables, "one_line", lambda text: text),
    "markup is not escaped": (markup, "_escaped", lambda text: text),
}


@pytest.mark.parametrize(("home", "name", "wrong"), FAULTS.values(), ids=FAULTS)
def test_the_hostile_cases_find_a_fault(monkeypatch, capsys, home, name, wrong):
    monkeypatch.setattr(home, name, wrong)
    with pytest.raises(AssertionError):
        fuzz_outputs.fuzz(150, seed=7)
