"""Histories of one run: what is kept, the figure, and `driftwise history`."""

import json
import re

import numpy as np
import pytest

from command_line import runner
from driftwise import Bernoulli, Deterministic, Environment, RandomWalk, Replay, Segments, Switching, record
from driftwise.core.errors import InvalidInput, TuningWarning
from driftwise.engine import run_history as module
from driftwise.glossary import ROWS_NOTE
from driftwise.learners import CUSUMUCB, FLH, GLRKLUCB, SAOL, BanditOverBandit, FixedShare, Hedge, RestartedAdaptiveGD
from driftwise.report.figures import largest_and_rest

ENVIRONMENT = Environment(Switching(n_segments=4, n_actions=3), Bernoulli())
RARELY_WRONG = CUSUMUCB(warmup=20, threshold=3.0)


@pytest.fixture
def driftwise(monkeypatch, capsys, tmp_path):
    """Run a command line in this process, in an empty folder."""
    return runner(monkeypatch, capsys, tmp_path)


# What is kept


@pytest.mark.parametrize("learner", [FixedShare(), GLRKLUCB(), SAOL()], ids=str)
@pytest.mark.parametrize(("n_rounds", "points"), [(500, 7), (500, 500), (3, 500), (1, 1)])
def test_weights_are_means_over_the_stretches_of_an_uninterrupted_run(learner, n_rounds, points):
    losses = ENVIRONMENT.start(n_rounds, 5).draw(n_rounds).losses if n_rounds >= 4 else None
    source = ENVIRONMENT if losses is not None else Replay(np.eye(3)[:n_rounds])
    losses = np.eye(3)[:n_rounds] if losses is None else losses
    state = learner.start(3, 5)
    played = learner.run(state, losses)
    weights = played if played.ndim == 2 else np.eye(3)[played]
    history = record(learner, source, n_rounds, seed=5, points=points)
    assert history.starts[0] == 0
    assert history.ends[-1] == n_rounds
    assert len(history.starts) == min(points, n_rounds)
    assert np.diff([*history.starts, n_rounds]).max() - np.diff([*history.starts, n_rounds]).min() <= 1
    for i, (start, end) in enumerate(zip(history.starts, history.ends, strict=True)):
        np.testing.assert_allclose(history.weights[i], weights[start:end].mean(axis=0), rtol=1e-12, atol=1e-15)
        assert history.beliefs[i].rounds == end
    assert history.beliefs[-1] == learner.beliefs(state)


def test_stretches_longer_than_a_block_are_played_in_blocks(monkeypatch):
    whole = record(FixedShare(), ENVIRONMENT, 1000, points=3)
    monkeypatch.setattr(module, "default_block", lambda _: 37)
    parts = record(FixedShare(), ENVIRONMENT, 1000, points=3)
    np.testing.assert_allclose(parts.weights, whole.weights, rtol=1e-12)
    assert np.array_equal(parts.means, whole.means)
    assert parts.beliefs == whole.beliefs


def test_means_are_those_of_the_middle_rounds():
    environment = Environment(RandomWalk(n_actions=3), Bernoulli())
    history = record(Hedge(), environment, 1000, seed=2, points=9)
    means = environment.start(1000, 2).draw(1000).means
    np.testing.assert_array_equal(history.means, means[(history.starts + history.ends) // 2])
    np.testing.assert_array_equal(history.best, history.means.argmin(axis=1))
    assert history.change_points == environment.measures(1000, 2).change_points


def test_replayed_losses_have_no_means_and_may_be_played_completely():
    history = record(Hedge(), Replay(np.tile([0.0, 1.0], (40, 1))), points=4)
    assert (history.n_rounds, history.means, history.best, history.change_points) == (40, None, None, None)
    assert history.weights[-1, 0] > 0.9


def test_all_alarms_are_kept_though_beliefs_hold_the_latest():
    learner = CUSUMUCB(warmup=5, threshold=0.7)
    history = record(learner, ENVIRONMENT, 4000, seed=1)
    final = history.beliefs[-1]
    assert len(history.alarms) == final.n_alarms > 100
    assert history.alarms[-64:] == final.alarms
    np.testing.assert_array_equal(
        history.estimates("n_alarms"), [np.sum(np.array(history.alarms) < t) for t in history.ends]
    )
    np.testing.assert_array_equal(history.estimates("segments"), history.estimates("n_alarms") + 1)
    assert np.isnan(history.estimates("drift")).all()


def test_memories_and_bases_are_curves():
    history = record(RestartedAdaptiveGD(50), ENVIRONMENT, 200, points=8)
    assert history.memory.tolist() == [[25.0], [0.0]] * 4
    assert history.bases == {}
    assert record(GLRKLUCB(), ENVIRONMENT, 100, points=5).memory.shape == (5, 3)
    bases = record(FLH(), ENVIRONMENT, 200, points=10).bases
    np.testing.assert_allclose(sum(bases.values()), 1.0)
    assert bases["since round 7"][0] > 0.0
    assert bases["since round 7"][-1] == 0.0  # the interval has ended


def test_a_rule_is_given_the_measures_of_the_run():
    history = record(FixedShare.tuned, ENVIRONMENT, 400, seed=3)
    assert history.learner == FixedShare.tuned(ENVIRONMENT.measures(400, 3))
    assert (history.label, history.caveat) == ("fixed-share (tuned)", "")


def test_a_meaningless_rule_is_reported():
    many = Environment(Switching(n_segments=50, n_actions=3), Bernoulli())
    with pytest.warns(TuningWarning, match=r"^fixed-share \(tuned\): tuning says nothing here: "):
        history = record(FixedShare.tuned, many, 100)
    assert history.caveat
    assert history.figure().get_suptitle().splitlines()[1] == f"tuning says nothing here: {history.caveat}"


def test_progress_is_reported_in_rounds():
    seen = []
    record(Hedge(), ENVIRONMENT, 100, points=4, progress=lambda *numbers: seen.append(numbers))
    assert seen == [(25, 100), (50, 100), (75, 100), (100, 100)]


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ((Hedge(), 3, 10), "record: `source` must be an environment, got int."),
        ((Hedge(), ENVIRONMENT), "record: `n_rounds` must be given, unless recorded losses are replayed."),
        ((Hedge(), ENVIRONMENT, 0), "record: `n_rounds` must be a whole number >= 1, got 0."),
        ((Hedge(), ENVIRONMENT, 10, -1), "record: `seed` must be a whole number >= 0, got -1."),
        ((Hedge(), ENVIRONMENT, 10, 0, 0), "record: `points` must be a whole number >= 1, got 0."),
        ((Hedge, ENVIRONMENT, 10), "A player must be a learner, `X.tuned` of a learner X, or a Player, got "),
    ],
)
def test_invalid_arguments_are_refused(arguments, message):
    with pytest.raises(InvalidInput, match=f"^{re.escape(message)}"):
        record(*arguments)


def test_an_unknown_estimate_is_refused():
    history = record(Hedge(), ENVIRONMENT, 10)
    message = "History: `name` must be one of segments, drift, variance, n_alarms, got 'memory'."
    with pytest.raises(InvalidInput, match=f"^{re.escape(message)}$"):
        history.estimates("memory")


# The figure


def labels(axes):
    return [text.get_text() for text in axes.get_legend().get_texts()]


def test_the_figure_of_a_bandit_has_shares_alarms_change_points_and_memories():
    environment = Environment(Segments(means=[[0.1, 0.9], [0.9, 0.1]]), Bernoulli())
    history = record(RARELY_WRONG, environment, 2000, seed=1)
    top, memory = history.figure().axes
    assert top.get_ylabel() == "share of plays"
    assert labels(top) == ["action 2", "action 1", "change point", "alarm"]
    (marks,) = (line for line in top.lines if line.get_marker() == "v")
    assert tuple(marks.get_xdata()) == history.alarms != ()
    assert [line.get_xdata()[0] for line in top.lines if len(line.get_xdata()) == 2 and line is not marks] == [1000]
    assert memory.get_yscale() == "log"
    assert labels(memory) == ["action 1", "action 2", "segment so far"]
    first = memory.lines[0]
    np.testing.assert_array_equal(first.get_xdata(), history.ends)
    np.testing.assert_array_equal(first.get_ydata(), np.maximum(1.0, history.memory[:, 0]))


def test_the_figure_of_a_learner_on_intervals_has_the_largest_bases():
    history = record(FLH(), ENVIRONMENT, 400)
    *_, bases = history.figure().axes
    rest, *named = labels(bases)
    assert rest == f"{len(history.bases) - 8} other bases"
    largest = sorted(history.bases, key=lambda label: -history.bases[label].sum())[:8]
    assert set(named) == set(largest)
    heights = [area.get_paths()[0].get_extents().y1 for area in bases.collections]
    assert max(heights) == pytest.approx(1.0)


def test_the_largest_curves_keep_their_order():
    curves = {name: np.full(3, weight) for name, weight in (("a", 0.1), ("b", 0.5), ("c", 0.1), ("d", 0.3))}
    shown, rest = largest_and_rest(curves, 2)
    assert list(shown) == ["b", "d"]
    np.testing.assert_allclose(rest, 0.2)
    assert largest_and_rest(curves, 4)[1] is None


@pytest.mark.parametrize("form", ["png", "svg", "pdf"])
def test_equal_histories_give_equal_files(form, tmp_path):
    for name in ("one", "two"):
        record(BanditOverBandit(), ENVIRONMENT, 300, seed=1).plot(tmp_path / f"{name}.{form}")
    assert (tmp_path / f"one.{form}").read_bytes() == (tmp_path / f"two.{form}").read_bytes()


@pytest.mark.parametrize(
    ("learner", "source", "n_rounds"),
    [
        (Hedge(), Replay([[0.5]]), 1),
        (GLRKLUCB(), Replay([[0.5]] * 20), 20),
        (GLRKLUCB(), Environment(RandomWalk(n_actions=30), Bernoulli()), 100),
        (FixedShare(), Environment(Switching(n_segments=90, n_actions=12), Deterministic()), 100),
        (SAOL(), Replay(np.ones((9, 2))), 9),
    ],
    ids=["one round", "one action", "many actions", "many changes", "nine rounds"],
)
def test_unusual_runs_have_a_figure(learner, source, n_rounds, tmp_path):
    history = record(learner, source, n_rounds)
    history.plot(tmp_path / "history.png")
    assert (tmp_path / "history.png").stat().st_size > 5000
    top = history.figure().axes[0]
    if source.n_actions > 10:
        assert labels(top)[0] == f"{source.n_actions - 10} other actions"


def test_an_unknown_format_is_refused(tmp_path):
    with pytest.raises(InvalidInput, match="must end in"):
        record(Hedge(), ENVIRONMENT, 10).plot(tmp_path / "history.gif")


# The command


def test_the_command_prints_the_beliefs_and_writes_the_figure(driftwise, tmp_path):
    words = ["--learner", "fixed-share", "--path", "switching:n_segments=5,n_actions=4", "--noise", "bernoulli"]
    code, out, err = driftwise("history", *words, "--rounds", 3000, "--figure", "weights.png")
    assert (code, err) == (0, "wrote weights.png\n")
    assert out == (
        "fixed-share\n\nrounds            3000\neffective memory  100 rounds\n\n"
        f"The means changed in rounds 600, 1200, 1800, 2400.\n\n{ROWS_NOTE}\n"
    )
    assert (tmp_path / "weights.png").read_bytes()[:4] == b"\x89PNG"


def test_the_command_plays_what_record_plays(driftwise):
    words = ["--learner", "cusum-ucb:warmup=20,threshold=3.0", "--rounds", 800, "--seed", 7, "--json"]
    code, out, _ = driftwise("history", *words)
    environment = Environment(Switching(n_segments=8, n_actions=10), Bernoulli())
    beliefs = record(RARELY_WRONG, environment, 800, seed=7).beliefs[-1]
    printed = json.loads(out)
    assert code == 0
    assert (printed["rounds"], printed["n_alarms"]) == (800, beliefs.n_alarms)
    assert printed["alarms"] == list(beliefs.alarms) != []
    assert printed["memory"] == list(beliefs.memory)
    assert len(printed["change_points"]) == 7


def test_replayed_losses_are_played_completely(driftwise, tmp_path):
    np.save(tmp_path / "losses.npy", np.tile([0.0, 1.0], (70, 1)))
    code, out, _ = driftwise("history", "--learner", "hedge", "--replay", "losses.npy")
    assert (code, out) == (0, f"hedge\n\nrounds            70\neffective memory  70 rounds\n\n{ROWS_NOTE}\n")


def test_a_run_without_change_says_so(driftwise):
    _, out, _ = driftwise("history", "--learner", "hedge", "--path", "constant:means=[0.1,0.9]", "--rounds", 50)
    assert out.splitlines()[-3] == "The means did not change."


def test_a_meaningless_tuning_is_a_note(driftwise):
    words = ["--learner", "fixed-share:tuned", "--path", "switching:n_segments=50,n_actions=3", "--rounds", 100]
    code, out, err = driftwise("history", *words)
    assert code == 0
    assert err.startswith("driftwise: fixed-share (tuned): tuning says nothing here: ")
    assert out.splitlines()[-3].endswith(" 22, 24 and 37 more.")
    assert driftwise("history", *words, "--quiet").err == ""


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["--learner", "hegde"], "driftwise: There is no learner 'hegde'. Did you mean 'hedge'?"),
        (["--learner", "hedge", "--figure", "x.gif"], "driftwise: figure: `path` must end in .png, .svg, .pdf, got"),
        (["--learner", "hedge", "--rounds", "0"], "driftwise: record: `n_rounds` must be a whole number >= 1, got 0."),
        (["--learner", "hedge", "--points", "0"], "driftwise: record: `points` must be a whole number >= 1, got 0."),
        ([], "Usage: driftwise history [OPTIONS]"),
    ],
)
def test_misuse_is_one_line_and_code_2(driftwise, words, message):
    code, out, err = driftwise("history", *words)
    assert (code, out) == (2, "")
    assert err.startswith(message)


def test_a_figure_must_not_replace_the_recording(driftwise, tmp_path):
    np.save(tmp_path / "losses.npy", np.zeros((3, 2)))
    (tmp_path / "losses.png").symlink_to(tmp_path / "losses.npy")
    outcome = driftwise("history", "--learner", "hedge", "--replay", "losses.npy", "--figure", "losses.png")
    assert outcome.code == 2
    assert "is read by the same command; write to another file." in outcome.err
