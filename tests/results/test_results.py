"""The results of a simulation as files, intervals, tables and figures."""

import dataclasses
import json
import math
import re
import tomllib

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from scipy import stats

from driftwise import (
    Environment,
    OptimisticAdaptMLProd,
    OptimisticGD,
    Player,
    Replay,
    RerunUCBV,
    RestartedAdaptiveGD,
    Results,
    Switching,
    TwoPoint,
    simulate,
)
from driftwise.core.errors import BadFile, InvalidInput
from driftwise.core.measures import Measures
from driftwise.environments.environment_factory import make_environment
from driftwise.regret.realised import Realised
from driftwise.regret.statistics import estimate, half_width
from driftwise.report.tables import number, text_table
from driftwise.results import read_cells, write_cells
from mutating import mutations
from outside_files import ROOT

EXAMPLES = [ROOT / "examples" / f"{name}.toml" for name in ("drifting", "switching")]
ENVIRONMENT = Environment(Switching(n_segments=3, n_actions=4), TwoPoint().with_variance(5.0))
NUMBERS = np.array([3.0, 1.0, 4.0, 1.0, 5.0, 9.0, 2.0, 6.0])


def results_of(regrets, bounds=None, **changes):
    """Return results with these final regrets, one row of runs per learner, and bounds at the end."""
    regrets = np.array(regrets, float)
    n_learners, n_runs = regrets.shape
    fields = {
        "labels": tuple(f"learner-{i}" for i in range(n_learners)),
        "learners": tuple({"name": f"learner-{i}"} for i in range(n_learners)),
        "played": tuple({"name": f"learner-{i}"} for i in range(n_learners)),
        "environment": {"path": {"name": "switching"}, "noise": {"name": "bernoulli"}},
        "comparator": "dynamic",
        "play": "weights",
        "kind": "pseudo",
        "n_actions": 4,
        "n_rounds": 1000,
        "n_runs": n_runs,
        "seed": 1,
        "rounds": np.array([1000]),
        "regrets": regrets[:, :, np.newaxis],
        "measures": tuple(Measures(4, 1000, 3, 1.0, 240.0) for _ in range(n_runs)),
        "realised": tuple(Realised(1.0, 1.0, 1.0, 1.0, math.nan) for _ in range(n_runs)),
        "bound_rounds": np.array([1000]),
        "bounds": np.full((n_learners, n_runs, 1), math.nan),
    }
    if bounds is not None:
        fields["bounds"] = np.tile(np.array(bounds, float)[:, np.newaxis, np.newaxis], (1, n_runs, 1))
    return Results(**{**fields, **changes})


def simulated():
    """Return results with and without bounds, with an infinite rate and with tuned learners."""
    players = [OptimisticGD(math.inf), OptimisticAdaptMLProd(), RestartedAdaptiveGD.tuned, RerunUCBV.tuned]
    return simulate(ENVIRONMENT, players, n_rounds=200, n_runs=3, seed=5)


def replayed():
    losses = np.random.default_rng(1).random((50, 3))
    return simulate(Replay(losses), [OptimisticGD(), RerunUCBV()], n_runs=2)


def agree(one, other):
    """Return whether two results agree in everything but the timings; NaN equals NaN."""
    for field in dataclasses.fields(Results):
        a, b = getattr(one, field.name), getattr(other, field.name)
        if isinstance(a, np.ndarray):
            same = a.dtype == b.dtype and np.array_equal(a, b, equal_nan=True)
        elif field.name == "realised":
            same = np.array_equal(np.array(a), np.array(b), equal_nan=True)
        else:
            same = a == b or field.name == "seconds"
        if not same:
            return False
    return True


# Files


@pytest.mark.parametrize("make", [simulated, replayed])
def test_a_file_gives_back_what_was_written(make, tmp_path):
    results = make()
    results.to_parquet(tmp_path / "a.parquet")
    again = Results.from_parquet(tmp_path / "a.parquet")
    assert agree(results, again)
    assert again.seconds == {}
    again.to_parquet(tmp_path / "b.parquet")
    assert (tmp_path / "a.parquet").read_bytes() == (tmp_path / "b.parquet").read_bytes()
    assert again.table() == results.table()


def test_the_results_that_are_written_here_have_gaps():
    assert np.isnan(simulated().bounds[1]).any()
    assert np.isnan(replayed().bounds).all()
    assert math.isnan(replayed().realised[0].best_loss)


def test_a_file_is_an_ordinary_table_of_curves(tmp_path):
    results = simulated()
    results.to_parquet(tmp_path / "results.parquet")
    table = pq.read_table(tmp_path / "results.parquet")
    last = table.slice(len(table) - 1).to_pylist()[0]
    label = results.labels[-1]
    expected = {"learner": label, "run": 2, "round": 200, "final": True, "regret": results.final(label)[-1], "seed": 5}
    assert {name: last[name] for name in expected} == expected
    assert json.loads(last["learner_spec"]) == results.learners[-1]
    assert json.loads(last["environment_spec"]) == ENVIRONMENT.to_spec()


def test_a_file_appears_whole_in_a_folder_that_is_made_for_it(tmp_path):
    replayed().to_parquet(tmp_path / "new" / "deep" / "results.parquet")
    assert [file.name for file in (tmp_path / "new" / "deep").iterdir()] == ["results.parquet"]


def test_a_file_that_cannot_be_written_leaves_nothing_behind(tmp_path):
    (tmp_path / "file").write_text("not a folder")
    where = tmp_path / "file" / "results.parquet"
    with pytest.raises(BadFile, match=rf"^Cannot write {where}: .+\.$"):
        replayed().to_parquet(where)
    assert [file.name for file in tmp_path.iterdir()] == ["file"]


@pytest.mark.parametrize("kept", [0, 3, 100, -20, -1])
def test_a_truncated_file_is_refused(kept, tmp_path):
    whole, cut = tmp_path / "whole.parquet", tmp_path / "cut.parquet"
    replayed().to_parquet(whole)
    cut.write_bytes(whole.read_bytes()[:kept])
    with pytest.raises(BadFile, match=rf"^{cut} is not a complete Parquet file: "):
        Results.from_parquet(cut)


def tampered(path, extra=lambda e: e, cells=lambda t: t):
    """Write a results file with its header and its cells changed, under a checksum that fits."""
    replayed().to_parquet(path)
    table, header = read_cells(path)
    write_cells(path, cells(table), {"results": extra(header["results"])})


def without(key):
    return {"extra": lambda table: {name: value for name, value in table.items() if name != key}}


def other(**values):
    return {"extra": lambda header: {**header, **values}}


def cell(i, name, value):
    """Change one number of one cell."""

    def change(table):
        cells = table.cells.copy()
        cells[name][i] = value(cells[name][i]) if callable(value) else value
        return dataclasses.replace(table, cells=cells)

    return {"cells": change}


def other_rounds(table):
    """Leave out the first marked round of cell 0 and the second one of cell 1."""
    kept = np.ones(len(table.round), np.bool_)
    kept[[table.offsets[0], table.offsets[1] + 1]] = False
    lengths = table.lengths - np.isin(np.arange(len(table)), [0, 1])
    offsets = np.concatenate([[0], np.cumsum(lengths)])
    curves = {name: getattr(table, name)[kept] for name in ("round", "regret", "bound")}
    return dataclasses.replace(table, offsets=offsets, **curves).take(np.array([0, 1, 0, 1]))


DAMAGED = "holds damaged driftwise results: "
TAMPERED = {
    "no seed": (without("seed"), f"{DAMAGED}KeyError('seed')."),
    "another seed": (other(seed=1), f"{DAMAGED}ValueError("),
    "a seed below 0": (other(seed=-1), f"{DAMAGED}ValueError("),
    "a word for the seed": (other(seed="x"), f"{DAMAGED}ValueError("),
    "no labels": (other(labels=[]), f"{DAMAGED}ValueError("),
    "a label twice": (other(labels=["a", "a"]), f"{DAMAGED}ValueError("),
    "a label that is a number": (other(labels=["a", 1]), f"{DAMAGED}TypeError("),
    "a word for labels": (other(labels="ab"), f"{DAMAGED}TypeError("),
    "a label too many": (other(labels=["a", "b", "c"]), f"{DAMAGED}ValueError("),
    "a learner that was not played": (other(played=["{}"]), f"{DAMAGED}ValueError("),
    "a list for a learner": (other(played=["[]", "[]"]), f"{DAMAGED}ValueError("),
    "a spec that is not JSON": (other(played=["{", "{"]), f"{DAMAGED}JSONDecodeError("),
    "half a run": (other(n_runs=1.5), f"{DAMAGED}ValueError("),
    "no runs": (other(n_runs=0), f"{DAMAGED}ValueError("),
    "too many runs": (other(n_runs=10**400), f"{DAMAGED}ValueError("),
    "one run": (other(n_runs=1), f"{DAMAGED}ValueError("),
    "change points of one run": (other(change_points=[[1]]), f"{DAMAGED}ValueError("),
    "change points without measures": (other(change_points=[None, None]), f"{DAMAGED}InvalidInput("),
    "bound rounds between the rounds": (other(bound_rounds=[1000]), f"{DAMAGED}ValueError("),
    "bound rounds that fall": (other(bound_rounds=[50, 49]), f"{DAMAGED}ValueError("),
    "no bound rounds": (other(bound_rounds=[]), f"{DAMAGED}TypeError("),
    "words for bound rounds": (other(bound_rounds=["x"]), f"{DAMAGED}TypeError("),
    "a caveat of nobody": (other(caveats={"nobody": [1, "x"]}), f"{DAMAGED}ValueError("),
    "a caveat without a reason": (other(caveats={"optimistic-gd": [1]}), f"{DAMAGED}TypeError("),
    "a list for all": ({"extra": lambda e: [e]}, f"{DAMAGED}TypeError("),
    "runs in another order": (cell(0, "run", 1), f"{DAMAGED}ValueError("),
    "another learner in one run": (cell(0, "learner", lambda code: 1 - code), f"{DAMAGED}ValueError("),
    "another number of actions in one run": (cell(0, "n_actions", 4), f"{DAMAGED}ValueError("),
    "a cell lost": ({"cells": lambda t: t.take(np.arange(len(t) - 1))}, f"{DAMAGED}ValueError("),
    "other rounds in one run": ({"cells": other_rounds}, f"{DAMAGED}ValueError("),
}


@pytest.mark.parametrize(("change", "message"), TAMPERED.values(), ids=TAMPERED)
def test_a_foreign_or_damaged_file_is_refused(change, message, tmp_path):
    path = tmp_path / "results.parquet"
    tampered(path, **change)
    with pytest.raises(BadFile) as raised:
        Results.from_parquet(path)
    assert str(raised.value).startswith(f"{path} {message}")
    assert len(str(raised.value).splitlines()) == 1


def test_a_table_without_results_is_refused(tmp_path):
    path = tmp_path / "results.parquet"
    pq.write_table(pa.table({"regret": [1.0]}), path)
    with pytest.raises(BadFile, match=rf"^{path} holds no cells of driftwise\.$"):
        Results.from_parquet(path)
    replayed().to_parquet(path)
    table, _ = read_cells(path)
    write_cells(path, table)
    with pytest.raises(BadFile, match=rf"^{path} holds cells of a sweep, not the results of one simulation\.$"):
        Results.from_parquet(path)


def rewritten(path, change=lambda table: table, **options):
    """Rewrite a results file as another program would: with other options of the format, or another table."""
    replayed().to_parquet(path)
    schema = pq.read_table(path).schema
    loaded = ("round", "regret", "bound")
    loose = pa.schema([field.with_nullable(field.name not in loaded) for field in schema], metadata=schema.metadata)
    pq.write_table(change(pq.read_table(path).cast(loose)), path, **options)


def test_a_file_copied_by_another_program_as_it_is_loads(tmp_path):
    rewritten(tmp_path / "results.parquet", compression="none", use_dictionary=False, row_group_size=70)
    assert pq.ParquetFile(tmp_path / "results.parquet").num_row_groups > 2
    assert agree(Results.from_parquet(tmp_path / "results.parquet"), replayed())


@pytest.mark.parametrize(
    "options",
    [
        {"compression": "zstd", "use_dictionary": False},
        {"compression": "none", "use_dictionary": True},
        {"compression": "none", "use_dictionary": False, "data_page_version": "2.0"},
        {"compression": "none", "use_dictionary": False, "use_byte_stream_split": ["regret"]},
    ],
)
def test_a_file_that_another_program_encoded_is_read(options, tmp_path):
    path = tmp_path / "results.parquet"
    rewritten(path, **options)
    assert agree(Results.from_parquet(path), replayed())


def test_a_changed_header_or_value_is_refused(tmp_path):
    path = tmp_path / "results.parquet"

    def another_header(table):
        old = table.schema.metadata
        header = old[b"driftwise cells"]
        return table.replace_schema_metadata({**old, b"driftwise cells": header + b" "})

    def another_value(table):
        values = table.column("regret").to_numpy().copy()
        values[7] += 1e-9
        place = table.column_names.index("regret")
        return table.set_column(place, table.schema.field("regret"), pa.array(values))

    for change in (another_header, another_value):
        rewritten(path, change, compression="none", use_dictionary=False)
        with pytest.raises(BadFile, match=rf"^{path} is damaged: its checksum does not match its content\.$"):
            Results.from_parquet(path)


def loads_the_same(path, content, results):
    """Return whether a file with this content loads; if it does, it must give these results."""
    path.unlink(missing_ok=True)
    path.write_bytes(content)
    try:
        loaded = Results.from_parquet(path)
    except BadFile:
        return False
    assert agree(loaded, results)
    return True


def test_a_flipped_bit_is_detected_or_harmless(tmp_path):
    """Every thirty-seventh bit of a file, which meets each bit of a byte and all parts of the format."""
    results, path = replayed(), tmp_path / "results.parquet"
    results.to_parquet(path)
    content, rejected = path.read_bytes(), 0
    bits = range(0, 8 * len(content), 37)
    for bit in bits:
        copy = bytearray(content)
        copy[bit // 8] ^= 1 << bit % 8
        rejected += not loads_the_same(path, bytes(copy), results)
    assert len(bits) > 1000
    assert rejected > len(bits) / 3  # names and statistics are not read


def test_random_damage_is_detected_or_harmless(tmp_path):
    results, path = replayed(), tmp_path / "results.parquet"
    results.to_parquet(path)
    rejected = sum(not loads_the_same(path, damaged, results) for damaged in mutations(path.read_bytes(), 1500, seed=1))
    assert rejected > 1000


def test_a_missing_file_is_refused(tmp_path):
    with pytest.raises(BadFile, match=rf"^There is no file {tmp_path / 'none.parquet'}\.$"):
        Results.from_parquet(tmp_path / "none.parquet")
    with pytest.raises(BadFile, match=rf"^There is no file {tmp_path}\.$"):
        Results.from_parquet(tmp_path)


# Intervals


@pytest.mark.parametrize("confidence", [0.5, 0.9, 0.95, 0.999])
def test_intervals_are_student_s(confidence):
    found = estimate(NUMBERS, confidence)
    low, high = stats.t.interval(confidence, len(NUMBERS) - 1, NUMBERS.mean(), stats.sem(NUMBERS))
    assert found == pytest.approx((31 / 8, low, high), rel=1e-12)


def test_an_interval_of_two_runs_worked_by_hand():
    # With one degree of freedom Student's distribution is Cauchy's, whose quantile at 0.75 is 1.
    assert estimate(np.array([1.0, 4.0]), 0.5) == pytest.approx((2.5, 1.0, 4.0))


def test_intervals_along_a_curve_are_those_of_its_points():
    curves = np.random.default_rng(0).random((6, 5))
    expected = [estimate(column).high - estimate(column).mean for column in curves.T]
    assert half_width(curves) == pytest.approx(expected, rel=1e-12)


@pytest.mark.parametrize("values", [np.full(5, 2.0), np.zeros(3), 12.07 + 1e-13 * np.arange(4)])
def test_equal_runs_have_no_interval(values):
    mean, low, high = estimate(values)
    assert mean == pytest.approx(values[0], rel=1e-12)
    assert math.isnan(low)
    assert math.isnan(high)


def test_curves_that_agree_at_some_rounds_only_have_an_interval_at_all_of_them():
    curves = np.array([[0.0, 1.0], [0.0, 3.0]])
    assert half_width(curves)[0] == 0.0
    assert half_width(curves)[1] > 0.0
    assert np.isnan(half_width(curves[:, :1])).all()


def test_one_run_has_a_mean_and_no_interval():
    mean, low, high = results_of([[7.0]]).regret("learner-0")
    assert mean == 7.0
    assert math.isnan(low)
    assert math.isnan(high)


@pytest.mark.parametrize("confidence", [0.0, 1.0, -1.0, 95.0])
def test_a_level_of_confidence_is_between_0_and_1(confidence):
    with pytest.raises(InvalidInput, match=rf"^half_width: `confidence` must be in \(0, 1\), got {confidence}\.$"):
        results_of([NUMBERS]).regret("learner-0", confidence)


# Tables


def test_the_table_has_the_regrets_and_bounds():
    results = results_of([NUMBERS, 10 * NUMBERS, 0 * NUMBERS], bounds=[31.0, math.nan, 0.0])
    half = stats.t.ppf(0.975, 7) * stats.sem(NUMBERS)
    assert (f"{3.875 - half:.4g}", f"{3.875 + half:.4g}") == ("1.577", "6.173")
    expected = """\
switching x bernoulli: K = 4, T = 1000, 8 runs, seed 1
segments Gamma = 3, drift V = 1, variance Lambda = 240
realised: deviation D = 1, movement V~ = 1

dynamic pseudo-regret
learner    regret    95% interval  bound  ratio
---------  ------  --------------  -----  -----
learner-0   3.875  1.577 .. 6.173     31   0.12
learner-1   38.75  15.77 .. 61.73      -      -
learner-2       0               -      0      -
- no interval: all runs are equal"""
    assert results.table() == expected


def test_the_table_shows_the_best_loss_where_it_was_computed():
    known = tuple(Realised(1.0, 1.0, 1.0, 1.0, best) for best in (3.0, 4.0))
    results = results_of([[1.0, 2.0]])
    assert "L*" not in results.table()
    found = dataclasses.replace(results, realised=known)
    assert "\nrealised: deviation D = 1, movement V~ = 1, best loss L* = 3.5\n" in found.table()


def test_one_run_shows_dashes_for_its_interval():
    *_, row, note = results_of([[7.0]], bounds=[14.0]).table().splitlines()
    assert row.split() == ["learner-0", "7", "-", "14", "0.5"]
    assert note == "- no interval: there is one run"


@pytest.mark.parametrize(("confidence", "header"), [(0.5, "50%"), (0.95, "95%"), (0.995, "99.5%"), (0.9999, "99.99%")])
def test_the_table_names_its_level_of_confidence(confidence, header):
    assert f"  {header} interval  " in results_of([NUMBERS]).table(confidence)


def test_realised_regret_is_called_so():
    table = replayed().table()
    assert table.startswith("replay: K = 3, T = 50, 2 runs, seed 0\nrealised: deviation D = ")
    assert "\n\ndynamic realised regret\n" in table
    assert "Gamma" not in table


def test_the_table_names_what_a_budget_wraps():
    assert simulated().table().startswith("switching x two-point: K = 4, T = 200, 3 runs, seed 5\n")
    assert "variance Lambda = 5\n" in simulated().table()


@pytest.mark.parametrize("example", EXAMPLES, ids=lambda path: path.stem)
def test_the_table_of_an_example_fits_eighty_columns(example):
    spec = tomllib.loads(example.read_text())
    environment = make_environment(spec["environment"])
    players = [Player.from_spec(one) for one in spec["learners"]]
    results = simulate(environment, players, n_rounds=500, n_runs=3, seed=spec["seed"])
    assert len(results.labels) == 5
    large = 99_900.0 + np.arange(3.0)[np.newaxis, :, np.newaxis] + np.zeros((5, 1, 1))  # five digits everywhere
    for shown in (results, dataclasses.replace(results, rounds=np.array([500]), regrets=large)):
        assert max(map(len, shown.table().splitlines())) <= 80


def test_numbers_have_four_digits():
    written = [number(x) for x in (0.000123456, -8.75912, 999.96, 1000.4, -123456.7, math.inf, math.nan, 0.0)]
    assert written == ["0.0001235", "-8.759", "1000", "1000", "-123457", "inf", "-", "0"]


def test_text_in_the_last_column_is_wrapped():
    table = text_table(["name", "title"], [["x", "one two three four five six seven"]], left=2, width=30)
    assert table.splitlines() == [
        "name  title",
        "----  " + "-" * 23,
        "x     one two three four five",
        "      six seven",
    ]


def test_rows_are_plain_records():
    first, second = results_of([NUMBERS, NUMBERS[::-1]], bounds=[8.0, math.nan]).rows()
    mean, low, high = estimate(NUMBERS)
    expected = {"learner": "learner-0", "regret": mean, "low": low, "high": high}
    expected |= {"spec": {"name": "learner-0"}, "played": {"name": "learner-0"}}
    assert first == {**expected, "bound": 8.0, "caveat": "", "no_interval": ""}
    assert math.isnan(second["bound"])


# Figures


@pytest.mark.parametrize(
    ("suffix", "magic"), [(".png", b"\x89PNG"), (".svg", b"<?xml"), (".pdf", b"%PDF"), (".PNG", b"\x89PNG")]
)
def test_a_figure_is_written_in_the_format_of_its_name(suffix, magic, tmp_path):
    results_of([NUMBERS]).plot(tmp_path / f"regret{suffix}")
    assert (tmp_path / f"regret{suffix}").read_bytes().startswith(magic)


@pytest.mark.parametrize("suffix", [".png", ".svg", ".pdf"])
def test_equal_results_give_equal_figures(suffix, tmp_path):
    results = replayed()
    results.to_parquet(tmp_path / "results.parquet")
    results.plot(tmp_path / f"one{suffix}")
    Results.from_parquet(tmp_path / "results.parquet").plot(tmp_path / f"other{suffix}")
    assert (tmp_path / f"one{suffix}").read_bytes() == (tmp_path / f"other{suffix}").read_bytes()


@pytest.mark.parametrize("name", ["regret.bmp", "regret", ".png"])
def test_a_figure_of_another_format_is_rejected(name, tmp_path):
    path = tmp_path / name
    with pytest.raises(InvalidInput) as raised:
        results_of([NUMBERS]).plot(path)
    assert str(raised.value) == f"figure: `path` must end in .png, .svg, .pdf, got '{path}'."
    assert not path.exists()


def test_a_figure_shows_every_curve_its_band_and_its_bound():
    results = simulated()
    (axes,) = results.figure().axes
    solid = [line for line in axes.lines if line.get_linestyle() == "-"]
    dashed = [line for line in axes.lines if line.get_linestyle() == "--" and len(line.get_xdata())]
    assert tuple(line.get_label() for line in solid) == results.labels
    varied = [not (regrets == regrets[0]).all() for regrets in results.regrets]
    assert len(axes.collections) == sum(varied) > 0  # the bands; equal runs have none
    assert len(dashed) == (results.bounds.mean(axis=1) < results.bound_rounds).any(axis=1).sum() > 0
    assert solid[0].get_color() != solid[1].get_color()
    for line, curve in zip(solid, results.regrets.mean(axis=1), strict=True):
        high = curve > axes.get_ylim()[0]
        assert np.array_equal(line.get_ydata()[high], curve[high])


def test_the_key_of_bounds_is_there_if_a_bound_is_drawn():
    for bound, shown in [(1.0, True), (1e9, False), (np.nan, False)]:  # a bound of at least T is trivial
        (legend,) = results_of([NUMBERS], bounds=np.array([bound])).figure().legends
        assert ("bound (same colour)" in [text.get_text() for text in legend.get_texts()]) == shown


def test_one_run_is_drawn_without_a_band():
    (axes,) = results_of([[3.0], [4.0]]).figure().axes
    assert not axes.collections


def test_a_figure_has_the_axes_of_its_scale():
    results = simulated()
    for scale, xscale, yscale in [("log", "linear", "log"), ("linear", "linear", "linear"), ("log-log", "log", "log")]:
        (axes,) = results.figure(scale=scale).axes
        assert (axes.get_xscale(), axes.get_yscale()) == (xscale, yscale)
        assert axes.get_xlim()[1] == pytest.approx(results.n_rounds)
        assert (axes.get_ylim()[0] == 0) == (scale == "linear")
    with pytest.raises(InvalidInput) as raised:
        results.figure(scale="loglog")
    assert str(raised.value) == "Results: `scale` must be one of log, linear, log-log, got 'loglog'."


def test_further_lines_are_drawn_in_grey_with_their_labels():
    results = simulated()
    figure = results.figure(scale="linear", lines={"guarantee": 3, "$root": np.sqrt(results.rounds)})
    (axes,), (legend,) = figure.axes, figure.legends
    grey = [line for line in axes.lines if line.get_linestyle() in ("-.", ":")]
    assert np.array_equal(grey[0].get_ydata(), np.full(len(results.rounds), 3.0))
    assert np.array_equal(grey[1].get_ydata(), np.sqrt(results.rounds))
    assert {"guarantee", "\\$root"} <= {text.get_text() for text in legend.get_texts()}


@pytest.mark.parametrize("values", [[1.0, 2.0], "much", [[1.0, 1.0]] * 2, None, 1j], ids=str)
def test_a_line_that_does_not_fit_the_rounds_is_rejected(values):
    n = len(simulated().rounds)
    with pytest.raises(InvalidInput) as raised:
        simulated().figure(lines={"guarantee": values})
    rule = f"a number, or one for each of the {n} `rounds`"
    assert str(raised.value) == f"Results: `lines` must hold {rule}, for 'guarantee', got {values!r}."


@pytest.mark.parametrize("lines", [[3.0], "much", {1: 3.0}], ids=str)
def test_lines_without_labels_are_rejected(lines):
    message = f"Results: `lines` must be a dictionary of numbers by label, got {lines!r}."
    with pytest.raises(InvalidInput, match=f"^{re.escape(message)}$"):
        simulated().figure(lines=lines)


def test_many_learners_and_no_regret_at_all_can_be_drawn(tmp_path):
    results_of(np.zeros((9, 2)), bounds=np.zeros(9)).plot(tmp_path / "zero.png")


# Bounds


@pytest.mark.parametrize("rule", [OptimisticGD.tuned, RestartedAdaptiveGD.tuned], ids=["optimistic", "restarted"])
def test_the_bound_is_above_the_mean_regret_at_every_mark(rule):
    environment = Environment(Switching(n_segments=4, n_actions=5), TwoPoint().with_variance(10.0))
    results = simulate(environment, rule, n_rounds=1000, n_runs=50, seed=1)
    marks = np.searchsorted(results.rounds, results.bound_rounds)
    assert np.array_equal(results.rounds[marks], results.bound_rounds)
    assert len(marks) == 32
    assert (results.bounds[0].mean(axis=0) >= results.regrets[0].mean(axis=0)[marks]).all()
    assert (np.diff(results.bounds[0], axis=1) >= -1e-9).all()
    assert results.bound(rule) < 1000  # the bound is not trivial


def test_a_regret_below_zero_is_drawn_below_zero():
    """Against a weaker comparator regret can be negative; a logarithmic axis would hide it."""
    axes = results_of([NUMBERS, -NUMBERS], comparator="static").figure().axes[0]
    assert axes.get_yscale() == "linear"
    assert axes.lines[1].get_ydata().min() == -NUMBERS.mean()
    assert results_of([NUMBERS]).figure().axes[0].get_yscale() == "log"


def test_results_print_on_one_line():
    assert repr(results_of([[1.0, 2.0]])).startswith("Results(")
    assert "\n" not in repr(results_of([[1.0, 2.0]]))
    assert len(repr(results_of([[1.0, 2.0]]))) < 200
