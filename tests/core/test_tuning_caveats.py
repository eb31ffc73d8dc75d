"""A learner whose tuning rule is meaningless is marked in warnings, results, tables and figures."""

import dataclasses
import functools
import inspect
import json
import warnings

import pytest

from driftwise import Bernoulli, Environment, Measures, Player, Results, Sinusoidal, Switching, TwoPoint, simulate
from driftwise.core.errors import TuningWarning
from driftwise.core.measures import collected
from driftwise.landscape.claims import claims
from driftwise.landscape.pages import table
from driftwise.learners import (
    AOMD,
    CUSUMUCB,
    FLH,
    GLRKLUCB,
    MUCB,
    DiscountedUCB,
    Exp3S,
    FixedShare,
    Learner,
    OnlineGD,
    OptimisticFixedShare,
    OptimisticGD,
    OracleRestarts,
    RerunUCBV,
    RestartedAdaptiveGD,
    Rexp3,
    SlidingWindowUCB,
    learners,
)
from driftwise.report.page import write_figures
from driftwise.report.page.write import page_text
from tiny_landscape import tiny_landscape

SINUSOID = Environment(Sinusoidal(n_actions=3, n_periods=2.0, amplitude=0.3), Bernoulli())
EIGHT = Environment(Switching(n_segments=8, n_actions=3), Bernoulli())
WITH_CAVEATS = {"glr": GLRKLUCB.tuned, "exp3-s": Exp3S.tuned, "share": FixedShare.tuned, "sw": SlidingWindowUCB.tuned}
WITH_CAVEATS["m-ucb"] = MUCB.tuned
MEANINGFUL = {"defaults": FixedShare(), "rexp3": Rexp3.tuned, "gd": OptimisticGD.tuned}
WORDS = "tuning says nothing here"


def reasons_of(rule, measures):
    with collected() as reasons:
        rule(measures)
    return reasons


@pytest.fixture(scope="module")
def with_caveats():
    with collected():
        return simulate(SINUSOID, WITH_CAVEATS | MEANINGFUL, n_rounds=3000, n_runs=2, seed=1)


# rules


def test_on_a_sinusoid_five_tuning_rules_give_a_caveat():
    """The numbers are those of the rules: an exploration rate of 1, a switch rate of 1/2, a window of 6."""
    known = SINUSOID.measures(3000)
    with collected() as reasons:
        glr, exp3_s, share, windowed, m_ucb = (rule(known) for rule in WITH_CAVEATS.values())
    assert (glr.exploration_rate, exp3_s.exploration_rate, share.switch_rate, windowed.window) == (1.0, 1.0, 0.5, 6)
    assert m_ucb.window > 3000
    assert reasons == [
        "2999 changes in 3000 rounds, its rule asks to explore in 100 % of them",
        "2999 changes in 3000 rounds, its rule asks to explore in 100 % of them",
        "2999 changes in 3000 rounds leave its bound no better than that of uniform play",
        "2999 changes in 3000 rounds, its window of 6 rounds is as long as a segment",
        "its window of 5140 losses of an action is as long as the run, 3000 rounds",
    ]


@pytest.mark.parametrize(("label", "n_rounds"), [*((label, 3000) for label in WITH_CAVEATS), ("m-ucb", 200_000)])
def test_with_eight_segments_they_give_no_caveat(label, n_rounds):
    """All but M-UCB in 3,000 rounds: there its window is longer than the run, with any changes."""
    marked = (label, n_rounds) == ("m-ucb", 3000)
    assert bool(reasons_of(WITH_CAVEATS[label], EIGHT.measures(n_rounds))) == marked


def moving(n_actions, n_rounds, changes, variance=0.0, drift=1.0):
    return Measures(n_actions, n_rounds, changes + 1, drift, variance)


COARSE = functools.partial(MUCB.tuned, least_change=1.0)
GLOBAL = functools.partial(GLRKLUCB.tuned, restart="global")
# A rule, and two measures: no caveat for the first, a caveat for the second; c is the number of changes.
BORDERS = {
    "glr, local": (GLRKLUCB.tuned, moving(3, 3000, 31), moving(3, 3000, 32)),  # 3 c ln 3000 / 3000 reaches 1/4
    "glr, global": (GLOBAL, moving(3, 3000, 93), moving(3, 3000, 94)),  # c ln 3000 / 3000 reaches 1/4
    "exp3-s": (Exp3S.tuned, moving(3, 3000, 45), moving(3, 3000, 46)),  # 3 (46 ln 9000 + e) / (3000 (e - 1)), too
    "m-ucb": (COARSE, moving(2, 3000, 8), moving(2, 3000, 9)),  # c (43 + 3 sqrt 204) / 3000, too
    "m-ucb, in few rounds": (COARSE, moving(2, 1000, 1), moving(2, 100, 1)),  # a window of 126 losses
    "window": (SlidingWindowUCB.tuned, moving(3, 3000, 90), moving(3, 3000, 91)),  # 33 c reaches 3000
    "a window of one play each": (SlidingWindowUCB.tuned, moving(303, 10_000, 4), moving(304, 10_000, 4)),
    "discount": (DiscountedUCB.tuned, moving(3, 1600, 99), moving(3, 1600, 100)),  # 4 sqrt(1600 c) reaches 1600
    "online-gd": (OnlineGD.tuned, moving(2, 1608, 100), moving(2, 1608, 101)),  # 8 (2 c + 1/2) reaches 1608
    "fixed-share": (FixedShare.tuned, moving(3, 3000, 822), moving(3, 3000, 823)),
    "aomd": (AOMD.tuned, moving(3, 3000, 994, 500.0), moving(3, 3000, 995, 500.0)),  # 1004 (c + 2) reaches 10^6
    "optimistic-fixed-share": (OptimisticFixedShare.tuned, moving(3, 3000, 2999), moving(3, 3000, 2999, 1800.0)),
    "optimistic-gd": (OptimisticGD.tuned, moving(3, 3000, 2999, 1800.0), moving(3, 3000, 2999, 1800.0, drift=1000.0)),
    "flh": (FLH.tuned, moving(3, 3000, 332), moving(3, 3000, 333)),  # sqrt(3000 (c + 1) ln(3001) / 2) reaches 2000
    "rerun-ucbv": (RerunUCBV.tuned, moving(10, 100, 99, drift=12.3), moving(10, 100, 99, drift=12.4)),  # 81 = 1000 / V
    "rexp3": (Rexp3.tuned, moving(5, 3000, 2999, drift=111.0), moving(5, 3000, 2999, drift=112.0)),  # blocks of 18
    "oracle-restarts": (
        OracleRestarts.tuned,
        Measures(3, 9, 3, 2.0, 0.0, change_points=(3, 6)),
        Measures(3, 9, 4, 2.0, 0.0, change_points=(1, 3, 6)),
    ),
}


@pytest.mark.parametrize("name", BORDERS)
def test_every_rule_has_a_limit_beyond_which_it_gives_a_caveat(name):
    rule, within, beyond = BORDERS[name]
    assert reasons_of(rule, within) == []
    assert len(reasons_of(rule, beyond)) == 1


@pytest.mark.parametrize("learner", [CUSUMUCB, GLRKLUCB])
def test_half_of_the_rounds_is_too_much_to_explore(learner):
    found = set()
    for changes in (*range(1, 100, 7), 300, 500, 1000, 2999):
        with collected() as reasons:
            explore = learner.tuned(moving(3, 3000, changes)).exploration_rate
        assert bool(reasons) == (explore >= 0.5)
        found.add(bool(reasons))
    assert found == {False, True}


def test_the_limit_of_a_bound_is_the_regret_of_uniform_play():
    """sqrt(T C / 2) with C the code length; with 3 actions uniform play has a regret of at most 2/3 of the rounds."""
    for changes in range(600, 1000, 20):
        known = moving(3, 3000, changes)
        with collected() as reasons:
            bound = FixedShare.tuned(known).bound(known)
        assert bool(reasons) == (bound >= 2000)


def test_with_quiet_losses_a_switch_rate_of_one_half_still_has_a_bound():
    """At this switch rate the optimistic form has a bound of a quarter of the rounds, Fixed Share a vacuous one."""
    quiet = Environment(Sinusoidal(10, 3.0, 0.3), TwoPoint().with_variance(50.0)).measures(10_000)
    tuned = OptimisticFixedShare.tuned(quiet)  # no warning
    assert tuned.switch_rate == 0.5
    assert tuned.bound(quiet) < 3000
    assert reasons_of(FixedShare.tuned, quiet) != []
    assert reasons_of(OptimisticGD.tuned, quiet) == reasons_of(RestartedAdaptiveGD.tuned, quiet) == []


def test_m_ucb_explores_in_three_of_four_rounds_of_the_six_segments():
    """From docs/comparison.md: 6 segments, 12,000 rounds, 3 actions; no alarm comes before round 2,000."""
    with collected() as reasons:
        tuned = MUCB.tuned(moving(3, 12_000, 5))
    assert reasons == ["5 changes in 12000 rounds, its rule asks to explore in 96 % of them"]
    assert (round(tuned.exploration_rate, 2), tuned.window) == (0.96, 5948)
    played = tuned.run(tuned.start(n_actions=3), [[0.2, 0.5, 0.8]] * 2000)
    in_turn = played.reshape(-1, 4)
    assert (in_turn[:, :3] == [0, 1, 2]).all()
    assert not (in_turn[10:, 3] > 0).any()  # the fourth round is UCB1's


def test_rules_that_do_not_use_the_changes_do_not_depend_on_them():
    still, everything = Measures(3, 3000, 1, 0.0, 900.0), Measures(3, 3000, 3000, 1500.0, 900.0)
    for name in learners:
        kind = learners.get(name)
        if kind.tuned.__func__ is Learner.tuned.__func__ or kind is OracleRestarts:
            continue
        with collected() as reasons:
            same = kind.tuned(still) == kind.tuned(everything)
        assert not (same and reasons), name


def test_every_caveat_documents_its_condition_for_the_page_of_learners():
    for name in learners:
        method = learners.get(name).tuning_caveat
        if method is not Learner.tuning_caveat:
            assert inspect.getdoc(method).startswith("Return a reason where "), name


# warnings


def test_the_warning_points_to_the_line_that_calls_the_rule():
    with pytest.warns(TuningWarning) as caught:
        FixedShare.tuned(SINUSOID.measures(3000))
    (warning,) = caught
    assert str(warning.message).startswith(f"FixedShare.tuned: {WORDS}: 2999 changes in 3000 rounds ")
    assert warning.filename == __file__


def test_a_rule_that_calls_its_base_class_warns_once():
    class Child(FixedShare):
        @classmethod
        def tuned(cls, measures):
            return dataclasses.replace(super().tuned(measures), learning_rate=1.0)

    with pytest.warns(TuningWarning, match=r"^Child\.tuned: ") as caught:
        assert Child.tuned(SINUSOID.measures(3000)).learning_rate == 1.0
    assert len(caught) == 1


@pytest.mark.parametrize("n_threads", [1, 2])
def test_a_simulation_warns_once_for_each_learner(n_threads):
    players = {
        "plain": FixedShare.tuned,
        "replaced": Player("fixed-share", "measures", {"learning_rate": 1.0}),
        "fixed": FixedShare(),
    }
    with pytest.warns(TuningWarning) as caught:
        results = simulate(SINUSOID, players, 100, 3, n_threads=n_threads)
    messages = [str(warning.message) for warning in caught]
    assert [message.partition(": tuning")[0] for message in messages] == ["simulate: 'plain'", "simulate: 'replaced'"]
    assert all(message.endswith("uniform play (in all 3 runs).") for message in messages)
    assert {warning.filename for warning in caught} == {__file__}
    assert set(results.caveats) == {"plain", "replaced"}


def test_the_caveat_of_a_rule_is_decided_in_each_run(monkeypatch):
    segments, tuned = iter([3000, 2, 3000, 2]), FixedShare.tuned

    def rule(_, measures):
        return tuned(Measures(3, 3000, next(segments), 1.0, 0.0))

    monkeypatch.setattr(FixedShare, "tuned", classmethod(rule))
    with pytest.warns(TuningWarning, match=r"\(in 2 of 4 runs\)\.$"):
        results = simulate(EIGHT, {"rule": FixedShare.tuned}, 50, 4, n_threads=1)
    assert results.caveats["rule"].n_runs == 2


def test_a_rule_without_a_caveat_gives_no_warning():
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        assert simulate(EIGHT, [FixedShare.tuned, GLRKLUCB.tuned], 3000, 2).caveats == {}


# results


def test_the_table_has_marks_and_reasons_within_the_width_of_a_terminal(with_caveats):
    rows, notes = parts(with_caveats.table())
    shown = {line[: line.index("  ")] for line in rows}
    assert shown == {f"{label} *" for label in WITH_CAVEATS} | set(MEANINGFUL)
    assert notes[0] == f"* {WORDS}:"
    text = " ".join(line.strip() for line in notes)
    assert "glr, exp3-s: 2999 changes in 3000 rounds, its rule asks to explore in 100 % of them (in all 2 runs)" in text
    assert all(label in text for label in WITH_CAVEATS)
    assert not any(label in text for label in MEANINGFUL)
    assert max(map(len, notes)) <= 80


def parts(text):
    """Return the rows of a table and the lines below them."""
    lines = text.splitlines()
    rule = next(i for i, line in enumerate(lines) if set(line) == {"-", " "})
    star = next((i for i, line in enumerate(lines) if line.startswith("* ")), len(lines))
    return lines[rule + 1 : star], lines[star:]


def test_the_figure_marks_them_in_its_legend(with_caveats):
    (legend,) = with_caveats.figure().legends
    texts = [text.get_text() for text in legend.get_texts()]
    assert {f"{label} *" for label in WITH_CAVEATS} <= set(texts)
    assert set(MEANINGFUL) <= set(texts)
    assert texts[-1] == f"* {WORDS}"


def test_rows_and_json_have_the_reason(with_caveats):
    record = json.loads(json.dumps(with_caveats.record()["learners"], default=str))
    for rows in (with_caveats.rows(), record):
        caveats = {row["learner"]: row["caveat"] for row in rows}
        assert all(caveats[label].startswith(f"{WORDS}: ") for label in WITH_CAVEATS)
        assert all(caveats[label] == "" for label in MEANINGFUL)


def test_a_file_keeps_the_marks(with_caveats, tmp_path):
    with_caveats.to_parquet(tmp_path / "results.parquet")
    again = Results.from_parquet(tmp_path / "results.parquet")
    assert again.caveats == with_caveats.caveats
    assert again.table() == with_caveats.table()


def test_marks_stay_when_results_are_combined():
    with collected():
        one, two = (simulate(SINUSOID, {label: WITH_CAVEATS[label]}, 100, 1) for label in ("glr", "share"))
    assert set(one.combine(two).caveats) == {"glr", "share"}


def test_the_command_warns_once_and_has_the_reason_in_its_json(monkeypatch, capsys):
    from driftwise.cli.main import main

    words = ["simulate", "--path", "sinusoidal:n_actions=3,n_periods=2", "--learner", "fixed-share:tuned"]
    monkeypatch.setattr("sys.argv", ["driftwise", *words, "--rounds", "100", "--runs", "2", "--json"])
    with pytest.raises(SystemExit):
        main()
    out, err = capsys.readouterr()
    assert err.count(WORDS) == len(err.splitlines()) == 1
    assert json.loads(out)["learners"][0]["caveat"].startswith(WORDS)


# the landscape


@pytest.fixture(scope="module")
def added_learner(tmp_path_factory):
    """Return the outcomes of Fixed Share (added) and Hedge in a drifting cell, the page, and the warnings."""
    with collected() as reasons:
        measured = tiny_landscape(tmp_path_factory.mktemp("measurements"), ["full-drifting"], ["fixed-share", "hedge"])
    return *measured, reasons


def test_a_sweep_warns_once_for_each_marked_learner(added_learner):
    outcomes, _, reasons = added_learner
    marked = [outcome for outcome in outcomes if outcome.caveat]
    assert {outcome.participant.label for outcome in marked} == {"fixed-share"}
    assert reasons == [outcome.caveat for outcome in marked]
    assert reasons[0].startswith("at every value of T, the first: 299 changes in 300 rounds ")


def test_a_finished_measurement_keeps_its_mark(added_learner, tmp_path):
    with collected():
        first, again = (tiny_landscape(tmp_path, ["full-drifting"], ["fixed-share"])[0] for _ in range(2))
    assert [outcome.caveat for outcome in again] == [outcome.caveat for outcome in first]
    assert first[0].caveat


def test_the_landscape_never_shows_an_exponent_of_a_marked_learner_without_the_mark(added_learner):
    outcomes, page, _ = added_learner
    text = table(outcomes)
    assert text.count("fixed-share *") == sum(bool(outcome.caveat) for outcome in outcomes)
    assert text.count(f"* {WORDS}:") == text.count("fixed-share *")
    places, names = page.table.column("environment"), page.table.column("learner")
    assert all(
        bool(name.caveat) == (name.text == "fixed-share")
        for place, name in zip(places, names, strict=True)
        if "Theorem" not in place.small
    )
    for panel in page.panels:
        for one in panel.series:
            (outcome,) = [o for o in outcomes if o.scan.key == panel.key and o.participant.label == one.label]
            assert bool(one.caveat) == bool(outcome.caveat)


def test_the_page_shows_the_mark_wherever_it_shows_the_learner(added_learner):
    _, page, _ = added_learner
    html = page_text(page)
    marked = [name for name in page.table.column("learner") if name.caveat]
    assert html.count(f'class="caveat" title="{WORDS}') == len(marked)  # lines of the table
    assert html.count(f'<p class="note">* fixed-share: {WORDS}') == len(marked)  # below the figures
    assert "<title>fixed-share *\n" in html  # what a pointer reads
    assert "</svg>fixed-share *</button>" in html  # the legend
    assert '<span class="learner-name">fixed-share *</span>' in html  # a history
    assert "hedge *" not in html


def test_exported_figures_have_the_mark(added_learner, tmp_path):
    _, page, _ = added_learner
    panel = page.panels[0]
    write_figures(tmp_path, dataclasses.replace(page, panels=[panel], histories=[]))
    svg = (tmp_path / f"{panel.key}.svg").read_text(encoding="utf-8")
    assert f">* {WORDS}</text>" in svg
    assert ">fixed-share *</text>" in svg


def test_a_claim_names_its_marked_learners(tmp_path):
    with collected():
        outcomes, _ = tiny_landscape(tmp_path, ["full-drifting"], ["restarted-adaptive-gd", "hedge", "fixed-share"])
    (claim,) = claims(outcomes)
    assert not any(WORDS in text for _, text in claim.figures)  # it is not about Fixed Share
    paper = next(outcome for outcome in outcomes if outcome.scan.key == "full-drifting-rounds")
    with_caveat = dataclasses.replace(
        paper, measurements=tuple(measurement._replace(caveat="why") for measurement in paper.measurements)
    )
    (claim,) = claims([with_caveat if outcome is paper else outcome for outcome in outcomes])
    text = f"{WORDS}: at every value of T, the first: why"
    assert ("* restarted-adaptive-gd in full-drifting-rounds", text) in claim.figures
