"""Specs that ask for too much, or are nested too deeply, are refused at once."""

import re

import pytest

import fuzz_specs
from driftwise import Bernoulli, Environment, Sweep, Switching, simulate
from driftwise.cli.specs import read_spec
from driftwise.core.errors import BadFile, InvalidInput
from driftwise.engine.simulation import labelled_players
from driftwise.learners import Hedge, Player, learners
from driftwise.sweeps import read_sweep

SWITCHING = Environment(Switching(1, 2), Bernoulli())
WORLD = 'environments = [{path = {name = "switching", n_segments = 3, n_actions = 3}, noise = "bernoulli"}]\n'


@pytest.fixture
def write(tmp_path):
    def write(text):
        (tmp_path / "large.toml").write_text(text)
        return tmp_path / "large.toml"

    return write


def test_the_tables_of_a_file_are_counted_before_a_member_is_made(write, monkeypatch):
    grid = f"each = {{learning_rate = {[i + 1 for i in range(300)]}, switch_rate = {[0.1] * 300}}}\n"
    text = f'n_rounds = 30\n{WORLD}[[learners]]\nname = "fixed-share"\n{grid}[[learners]]\nname = "hedge"\n{grid}'
    monkeypatch.setattr(Player, "from_spec", lambda *_: pytest.fail("a learner was made"))
    with pytest.raises(InvalidInput, match=r"`learners` must have at most 100000 members, with `each`, got 180000\.$"):
        read_sweep(write(text))


@pytest.mark.parametrize("read", [read_sweep, read_spec])
@pytest.mark.parametrize(
    "text",
    [
        ".".join(["a"] * 300_000) + " = 1\n",
        "[" + " . ".join(['"a b"'] * 100_000) + "]\n",
        'learners = [{name = "hedge", ' + ".".join(["a"] * 51) + " = 1}]\n",
        "learners = [" + "{a = [" * 26 + "]}" * 26 + "]\n",
    ],
    ids=["key", "heading", "inline", "nested"],
)
def test_tables_that_are_nested_too_deeply_are_refused(text, read, write):
    with pytest.raises(BadFile, match=r"large\.toml cannot be read: its TOML is nested too deeply\.$"):
        read(write(f"n_rounds = 30\n{text}"))


def test_text_with_dots_is_no_key_of_many_parts(write):
    label = "one.two." * 5 + "0.1, 0.2, " * 100
    text = f'n_rounds = 30\n{WORLD}learners = [{{label = "{label}", name = "hedge"}}]\n'
    assert [*read_sweep(write(text)).players] == [label]


def test_a_sweep_whose_cells_do_not_fit_into_memory_is_refused(write, monkeypatch):
    monkeypatch.setattr("driftwise.core.validation.memory_bytes", lambda: 10**9)
    rule = (
        "Sweep: `n_cells` must be small enough for the memory of this machine, 1 GB, got 1000000. It would take 1.2 GB."
    )
    with pytest.raises(InvalidInput, match=re.escape(rule)):
        Sweep(SWITCHING, Hedge(), 1, n_runs=10**6).check()
    Sweep(SWITCHING, Hedge(), 1, n_runs=10**5).check()


def test_very_many_short_runs_are_refused(monkeypatch):
    monkeypatch.setattr("driftwise.core.validation.memory_bytes", lambda: 10**9)
    rule = "simulate: `n_runs` must be small enough for the memory of this machine, 1 GB, got 300000."
    with pytest.raises(InvalidInput, match=re.escape(rule)):
        simulate(SWITCHING, Hedge(), n_rounds=1, n_runs=300_000)


def test_a_learner_without_tuning_is_checked_once_for_all_numbers_of_rounds(monkeypatch):
    checked = []
    monkeypatch.setattr("driftwise.sweeps.sweep._check_pair", lambda _, player, n, __: checked.append((player.name, n)))
    Sweep(SWITCHING, [Hedge(), Player("optimistic-gd", "rounds")], [10, 20, 30]).check()
    assert checked == [("hedge", 10), ("optimistic-gd", 10), ("optimistic-gd", 20), ("optimistic-gd", 30)]


def test_very_many_equal_learners_get_labels_in_linear_time(monkeypatch):
    player, compared = Player.of(Hedge()), []
    monkeypatch.setattr(Player, "__eq__", lambda *_: compared.append(1) or True)
    labelled = labelled_players([player] * 5000)
    assert (labelled[-1].label, labelled[-1].copy) == ("hedge #5000", 4999)
    assert len(compared) < 3 * 5000
    assert "hedge" in learners


def test_a_key_with_a_line_break_is_shown_on_one_line(write):
    with pytest.raises(InvalidInput, match=r"`each\.a\\nb` must be a list of at least one value, got 3\.$"):
        read_sweep(write(f'n_rounds = 30\n{WORLD}learners = [{{name = "hedge", each = {{"a\\nb" = 3}}}}]\n'))


def test_mutated_files_are_refused_or_valid():
    counts = fuzz_specs.fuzz(300, seed=3)
    assert counts["refused"] > 100
    assert counts["played"] > 0
