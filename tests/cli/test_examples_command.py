"""`driftwise examples`: what it lists and copies, and that it overwrites nothing."""

import os

import pytest

from command_line import runner
from outside_files import ROOT

EXAMPLES = sorted(path for path in (ROOT / "examples").iterdir() if path.is_file())


@pytest.fixture
def driftwise(monkeypatch, capsys, tmp_path):
    return runner(monkeypatch, capsys, tmp_path)


def test_every_example_is_listed_with_a_sentence(driftwise, monkeypatch):
    monkeypatch.setenv("COLUMNS", "300")
    code, out, err = driftwise("examples")
    assert (code, err) == (0, "")
    _, _, *rows, _, last = out.splitlines()
    listed = [row.split(maxsplit=1) for row in rows]
    assert [name for name, _ in listed] == [path.name for path in EXAMPLES]
    assert all(sentence[0].isupper() and len(sentence.split()) >= 5 for _, sentence in listed)
    assert last == f"{len(EXAMPLES)} examples. `driftwise examples --copy FOLDER` copies them."


def test_a_table_is_described_by_its_rows_and_columns(driftwise):
    header, *rows = (ROOT / "examples" / "forecasts.csv").read_text(encoding="utf-8").splitlines()
    out = " ".join(driftwise("examples", "forecasts.csv").out.split())
    assert f"A table of {len(rows)} rows, with the columns {', '.join(header.split(','))}." in out
    assert out.endswith("1 example. `driftwise examples --copy FOLDER` copies them.")


def test_all_are_copied_into_a_new_folder(driftwise, tmp_path):
    names = ", ".join(path.name for path in EXAMPLES)
    assert driftwise("examples", "--copy", "a/b") == (0, f"Copied to a/b: {names}.\n", "")
    assert {path.name: path.read_bytes() for path in (tmp_path / "a" / "b").iterdir()} == {
        path.name: path.read_bytes() for path in EXAMPLES
    }


def test_a_second_copy_says_what_is_there_and_copies_the_others(driftwise):
    driftwise("examples", "--copy", ".", "sweep.toml")
    assert driftwise("examples", "--copy", ".", "sweep.toml", "cluster.py", "cluster.py") == (
        0,
        "Copied to .: cluster.py.\nAlready in ., with the same content: sweep.toml.\n",
        "",
    )


def test_a_changed_file_is_not_overwritten_and_nothing_is_copied(driftwise, tmp_path):
    (tmp_path / "sweep.toml").write_text("mine")
    message = (
        "driftwise: examples: sweep.toml exists with another content and is not overwritten;"
        " delete it, or copy to another folder.\n"
    )
    assert driftwise("examples", "--copy", ".") == (2, "", message)
    assert [path.name for path in tmp_path.iterdir()] == ["sweep.toml"]
    assert (tmp_path / "sweep.toml").read_text() == "mine"


@pytest.mark.parametrize("target", ["../outside/file", "../outside/new", "../outside", "sweep.toml"])
def test_a_link_in_the_place_of_an_example_is_not_followed(driftwise, tmp_path, target):
    (tmp_path / "outside").mkdir()
    (tmp_path / "outside" / "file").write_text("precious")
    (tmp_path / "copies").mkdir()
    (tmp_path / "copies" / "sweep.toml").symlink_to(target)
    left = driftwise("examples", "--copy", "copies")
    assert left.code == 2
    assert left.err.startswith("driftwise: examples: copies/sweep.toml exists with another content")
    assert [path.name for path in (tmp_path / "copies").iterdir()] == ["sweep.toml"]
    assert [(path.name, path.read_text()) for path in (tmp_path / "outside").iterdir()] == [("file", "precious")]


@pytest.mark.parametrize("place", ["file", "file/deeper", "pipe", "loop"])
def test_what_is_no_folder_is_refused_and_stays(driftwise, tmp_path, place):
    (tmp_path / "file").write_text("mine")
    os.mkfifo(tmp_path / "pipe")
    (tmp_path / "loop").symlink_to("loop")
    left = driftwise("examples", "--copy", place)
    assert (left.code, left.out) == (1, "")
    assert left.err.startswith(f"driftwise: Cannot write {place}/")
    assert left.err.count("\n") == 1
    assert (tmp_path / "file").read_text() == "mine"
    assert sorted(path.name for path in tmp_path.iterdir()) == ["file", "loop", "pipe"]


@pytest.mark.parametrize("name", ["../x", "/etc/x", "", ".", "a/../cluster.py", "a\nb", "\x1b[31mred", "x" * 300])
def test_a_name_that_is_no_example_is_refused_in_one_line(driftwise, tmp_path, name):
    left = driftwise("examples", "--copy", "copies", name)
    assert (left.code, left.out) == (2, "")
    assert left.err.startswith("driftwise: There is no example '")
    assert left.err[:-1].isprintable()
    assert not (tmp_path / "copies").exists()


def test_a_folder_of_the_name_of_a_file_is_not_replaced(driftwise, tmp_path):
    (tmp_path / "sweep.toml").mkdir()
    assert driftwise("examples", "--copy", ".", "sweep.toml").code == 2


@pytest.mark.parametrize(
    ("words", "code", "message"),
    [
        (["swiching.toml"], 2, "There is no example 'swiching.toml'. Did you mean 'switching.toml'?"),
        (["--copy", "new", "sweep.tml"], 2, "There is no example 'sweep.tml'. Did you mean 'sweep.toml'?"),
        (["--copy", "blocked", "sweep.toml"], 1, "Cannot write blocked/sweep.toml: Not a directory."),
    ],
)
def test_an_impossible_copy_is_refused(driftwise, tmp_path, words, code, message):
    (tmp_path / "blocked").write_text("a file where a folder should be")
    assert driftwise("examples", *words) == (code, "", f"driftwise: {message}\n")
    assert [path.name for path in tmp_path.iterdir()] == ["blocked"]


def test_the_examples_of_an_installed_package_are_in_it(driftwise, monkeypatch, tmp_path):
    package = tmp_path / "site-packages" / "driftwise"
    (package / "examples").mkdir(parents=True)
    (package / "examples" / "one.toml").write_text("# An example that is installed with the package.\n")
    monkeypatch.setattr("driftwise.cli.examples.__file__", str(package / "cli" / "examples.py"))
    assert "An example that is installed with the package." in driftwise("examples").out


def test_a_package_without_examples_says_so(driftwise, monkeypatch, tmp_path):
    monkeypatch.setattr("driftwise.cli.examples.__file__", str(tmp_path / "a" / "driftwise" / "cli" / "examples.py"))
    message = "driftwise: The examples are not installed: install driftwise again.\n"
    assert driftwise("examples") == (1, "", message)


@pytest.mark.parametrize(
    "line",
    [
        "sweep examples/sweep.toml",
        "simulate examples/switching.toml",
        "combine examples/forecasts.csv --target y",
        "history --learner hedge --replay examples/forecasts.csv",
        "results examples/sweep.toml",
    ],
)
def test_who_names_an_example_that_was_not_copied_is_told_how_to_copy_it(driftwise, line):
    advice = "`driftwise examples --copy examples` copies the examples.\n"
    assert driftwise(*line.split()).err.endswith(f". {advice}")
    other = driftwise(*line.replace("examples/", "examples/my-").split()).err
    assert "examples/my-" in other
    assert "--copy" not in other


def test_who_has_the_examples_is_not_told_to_copy_them(driftwise):
    assert driftwise("examples", "--copy", "examples").code == 0
    done = driftwise("results", "examples/forecasts.csv")
    assert done.code == 1
    assert "examples/forecasts.csv" in done.err
    assert "--copy" not in done.err
