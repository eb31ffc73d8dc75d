"""Hostile command lines: each ends in an exit code, and an error takes one line."""

import contextlib
import io
import itertools
import random
import sys

import numpy as np
import pytest

from driftwise.cli.catalogue import registries
from driftwise.cli.main import main

N_LINES = 600
# Unusual values, tried where a word is expected.
WORDS = (
    "", " ", ",", ":", "=", "[", "]", "[[", "]]", "[[[[[[", "{", "}", "'", '"', "\\", "%", "$", "$$", "`", "~",
    "*", "..", "-", "--", "-1", "+1", "0", "00", "1", "1.5", "1e3", "1e308", "1e400", "-1e308", "5e-324", "nan",
    "inf", "-inf", "1j", "0x10", "1_000", "²", "１", "½", "é", "漢字", "🙂", "\u202e", "\u200b", "\n", "a\nb",
    "\t", "\x1b[31m", "\udcff", "true", "false", "none", "null", "None", "True", "no", "yes", "2020-01-01",
    "9" * 30, "9" * 5000, "x" * 5000, "[" * 3000, "[0.1,0.2]", "[[0.1,0.2],[0.3]]", "[0.1,nan]", "[2,3]",
    "[true]", "['a']", "[[]]", "{a=1}", '"a"', "4611686018427387904", "4611686018427387905",
    "18446744073709551616", "100000000000000", "a,b", "a:b", "a=b", "a=b=c",
)  # fmt: skip
VALID_AND_LONG = ("4611686018427387904", "100000000000000")  # valid numbers of rounds, but they would take years
FILES = (
    "", ".", "..", "folder", "none.toml", "good.toml", "deep.toml", "bytes.toml", "types.toml", "huge.toml",
    "table.toml", "losses.csv", "losses.npy", "labels.csv", "junk.csv", "nul.csv", "none.csv",
    "folder/none.csv", "good.toml/a.csv", "\udcff.csv", "x" * 300 + ".csv",
)  # fmt: skip
OUTPUTS = (
    "", ".", "folder", "a.parquet", "a.csv", "a.txt", "a", ".parquet", "new/a.csv", "losses.csv", "good.toml/a.csv",
    "\udcff.csv", "x" * 300 + ".csv", "a.png", "a.svg", "a.pdf", "a.bmp", "new/a.svg",
)  # fmt: skip
KINDS = ("learners", "detectors", "paths", "noises", "adversaries", "comparators", "theorems")
FLAGS = {
    "--path": "member", "--noise": "member", "--learner": "member", "--drift": "word", "--variance": "word",
    "--replay": "file", "--rounds": "count", "--runs": "count", "--seed": "word", "--comparator": "comparator",
    "--play": "word", "--threads": "word", "--block": "word", "--confidence": "word", "--out": "output",
    "--figure": "output", "--header": None, "--no-header": None, "--json": None, "--quiet": None,
}  # fmt: skip


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """Files of every kind, good and bad."""
    folder = tmp_path_factory.mktemp("borders")
    (folder / "folder").mkdir()
    texts = {
        "good.toml": 'n_rounds = 10\nn_runs = 1\n[[learners]]\nname = "hedge"\n',
        "deep.toml": "a = " + "[" * 5000,
        "huge.toml": "n_rounds = " + "9" * 5000,
        "types.toml": 'seed = 1.5\n[environment]\npath = 1\nnoise = []\nreplay = {}\n[[learners]]\nname = ["a"]\n',
        "table.toml": '[[learners]]\nname = "hedge"\ntuned = "no"\nlearning_rate = {a = 2020-01-01}\n',
        "losses.csv": "0.1,0.2\n0.3,0.4\n",
        "labels.csv": "0,1\n0.3,0.4\n",
        "junk.csv": "0.1,0_2\n\n,,,\n",
        "nul.csv": "a\0\n0\n",
    }
    for name, text in texts.items():
        (folder / name).write_text(text)
    (folder / "bytes.toml").write_bytes(b"\xff\xfe\x00")
    np.save(folder / "losses.npy", [[0.1, 0.2], [0.3, 0.4]])
    return folder


def hostile_lines(n_lines, seed):
    """Make command lines from a seed: the good parts of one, and strange words in their places."""
    draw = random.Random(seed)
    members = [name for registry in registries().values() for name in registry]
    parameters = (
        "n_segments",
        "n_actions",
        "means",
        "learning_rate",
        "window",
        "n_rounds",
        "tuned",
        "base",
        "name",
        "",
    )

    def member():
        name = draw.choice(members) if draw.random() < 0.8 else draw.choice(WORDS)
        pairs = [f"{draw.choice(parameters)}={draw.choice(WORDS)}" for _ in range(draw.choice((0, 0, 1, 2)))]
        tail = draw.choice(("", "", ":tuned", ":" + draw.choice(WORDS), ":" + ",".join(pairs)))
        return name + tail

    def value(kind):
        if kind == "member":
            return member()
        if kind == "file":
            return draw.choice(FILES)
        if kind == "output":
            return draw.choice(OUTPUTS)
        if kind == "count":
            return draw.choice([word for word in WORDS if word not in VALID_AND_LONG])
        if kind == "comparator":
            name = draw.choice(("switching", "interval", "static", "dynamic", ""))
            return f"{name}:{draw.choice(WORDS)}{draw.choice(('', '-', '-9', '@'))}{draw.choice(('', *WORDS))}"
        return draw.choice(WORDS)

    def simulate():
        words = ["simulate", "--rounds", "8", "--runs", "1", "--threads", "1"]
        words += ["--learner", "hedge"] if draw.random() < 0.7 else []
        for flag in draw.choices(list(FLAGS), k=draw.choice((1, 1, 1, 2, 3))):
            words += [flag] if FLAGS[flag] is None else [flag, value(FLAGS[flag])]
        return words + ([draw.choice(FILES)] if draw.random() < 0.2 else [])

    def landscape():
        words = ["landscape", "--learners", draw.choice(("", ",", "hedge,", "x"))]
        return [*words, draw.choice(("--seed", "--threads", "--out", "--cell")), draw.choice(WORDS)]

    for _ in range(n_lines):
        shape = draw.random()
        if shape < 0.7:
            yield simulate()
        elif shape < 0.8:
            yield ["show", member(), *draw.choices(("--json", "--help", *WORDS), k=draw.randint(0, 1))]
        elif shape < 0.9:
            yield ["list", *draw.choices((*KINDS, "--json", "--feedback", "full", *WORDS), k=draw.randint(0, 3))]
        elif shape < 0.95:
            yield landscape()
        else:
            yield draw.choices(WORDS, k=draw.randint(0, 3))


def run(words):
    """Run the program in this process; return its exit code and what it wrote."""
    out, err = io.StringIO(), io.StringIO()
    with contextlib.redirect_stdout(out), contextlib.redirect_stderr(err), pytest.MonkeyPatch.context() as patch:
        patch.setattr(sys, "argv", ["driftwise", *words])
        with pytest.raises(SystemExit) as left:
            main()
    return left.value.code, out.getvalue(), err.getvalue()


@pytest.mark.parametrize("part", range(6))
def test_a_hostile_command_line_ends_in_an_exit_code_and_one_line(part, folder, monkeypatch):
    monkeypatch.chdir(folder)
    for words in itertools.islice(hostile_lines(N_LINES, seed=1), part, None, 6):
        code, out, err = run(words)
        assert code in (0, 1, 2), words
        assert "Traceback" not in out + err, words
        if code:
            assert "--help" in words or not out, words
            lines = err.splitlines()
            assert len(lines) == 1 or lines[0].startswith("Usage: "), (words, err)
        assert sum(not line.startswith(("driftwise: ", "wrote ")) for line in err.splitlines()) == 0 or code == 2, words
