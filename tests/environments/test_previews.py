"""Previews of environments: averages of losses and means, measures and the figure."""

import numpy as np
import pytest

from driftwise import Bernoulli, Environment, RandomWalk, Replay, Segments, preview
from driftwise.adversaries import BanditLow
from driftwise.core.errors import InvalidInput
from driftwise.engine import run_history as module

SEGMENTS = Environment(Segments([[0.1, 0.9, 0.5], [0.9, 0.1, 0.5]]), Bernoulli())
WALK = Environment(RandomWalk(n_actions=9), Bernoulli())


@pytest.mark.parametrize("environment", [SEGMENTS, WALK], ids=["segments", "walk"])
@pytest.mark.parametrize(("n_rounds", "points"), [(500, 7), (500, 500), (2, 500)])
def test_a_preview_has_the_averages_of_the_run_with_that_seed(environment, n_rounds, points, monkeypatch):
    monkeypatch.setattr(module, "default_block", lambda _: 37)
    seen = preview(environment, n_rounds, seed=5, points=points)
    block = environment.start(n_rounds, 5).draw(n_rounds)
    changes = [t for t in (seen.measures.change_points or ()) if environment is SEGMENTS]
    assert set(changes) <= set(seen.starts)
    assert min(points, n_rounds) <= len(seen.starts) <= min(points + len(changes), n_rounds)
    for values, whole in ((seen.losses, block.losses), (seen.means, block.means)):
        parts = np.split(whole, seen.starts[1:])
        np.testing.assert_allclose(values, [part.mean(axis=0) for part in parts], rtol=1e-12, atol=1e-15)
    assert seen.measures == environment.measures(n_rounds, 5)


def test_replayed_losses_have_no_means():
    losses = np.random.default_rng(1).random((30, 2))
    seen = preview(Replay(losses))
    assert np.array_equal(seen.losses, losses)
    assert seen.means is None
    assert seen.measures is None
    (axes,) = seen.figure().axes
    assert all(line.get_linestyle() == "None" for line in axes.lines)  # dots only


def test_a_figure_shows_means_averages_and_change_points():
    (axes,) = preview(SEGMENTS, 1000, seed=1).figure().axes
    lines = [line for line in axes.lines if line.get_linestyle() == "-"]
    steps = [line for line in lines if len(set(line.get_xdata())) > 1]
    assert [line.get_ydata()[0] for line in steps] == [0.1, 0.9, 0.9, 0.1, 0.5, 0.5]  # no line joins two segments
    assert [line.get_xdata()[0] for line in lines if line not in steps] == [500]
    assert "Γ = 2" in axes.get_title()
    texts = [text.get_text() for text in axes.get_legend().get_texts()]
    assert texts == ["action 1", "action 2", "action 3", "average of losses", "change point"]


def test_many_actions_share_a_key(tmp_path):
    seen = preview(WALK, 300)
    texts = [text.get_text() for text in seen.figure().axes[0].get_legend().get_texts()]
    assert texts == [*(f"action {k}" for k in range(1, 8)), "2 other actions", "average of losses"]
    seen.plot(tmp_path / "walk.png")
    assert (tmp_path / "walk.png").read_bytes().startswith(b"\x89PNG")


def test_the_environment_of_an_adversary_can_be_seen():
    seen = preview(BanditLow(segments=4).against(None, 200, seed=3), 200, seed=3)
    assert seen.measures.segments <= 4
    assert set(np.unique(seen.means)) <= {0.0, 0.5, 1.0}


def test_bad_input_is_rejected():
    for arguments, message in [
        (([[0.5]],), "preview: `source` must be an environment, got list."),
        ((SEGMENTS,), "preview: `n_rounds` must be given, unless recorded losses are replayed."),
        ((SEGMENTS, 0), "preview: `n_rounds` must be a whole number >= 1, got 0."),
        ((SEGMENTS, 10, 0, 0), "preview: `points` must be a whole number >= 1, got 0."),
    ]:
        with pytest.raises(InvalidInput) as raised:
            preview(*arguments)
        assert str(raised.value) == message
